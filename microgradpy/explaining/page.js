"use strict";
(() => {
  const sheets = [...document.querySelectorAll(".sheet")];
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const status = document.getElementById("status");
  let sheet = sheets[0];
  let kept = 0; // the line of the source that stays marked; 0 for none

  const panesOf = (where) => [...where.querySelectorAll(".pane")];
  const linesOf = (line, where = sheet) => (line ? [...where.querySelectorAll(`.line[data-line="${line}"]`)] : []);
  const lineOf = (element) => Number(element.dataset.line || 0);

  function mark(line, kind) {
    sheet.querySelectorAll(`.${kind}`).forEach((element) => element.classList.remove(kind));
    linesOf(line).forEach((element) => element.classList.add(kind));
  }

  // Scrolls the texts, never the page, and not the one that the reader looks at.
  function reveal(line, except) {
    for (const pane of panesOf(sheet)) {
      const found = pane.querySelector(`.line[data-line="${line}"]`);
      const lines = pane.querySelector(".lines");
      if (!found || pane === except) continue;
      const top = found.offsetTop - lines.offsetTop;
      if (top < lines.scrollTop || top + found.offsetHeight > lines.scrollTop + lines.clientHeight) {
        lines.scrollTop = Math.max(0, top - lines.clientHeight / 3);
      }
    }
  }

  function describe(line) {
    if (!line) {
      status.textContent = "\u00a0";
      return;
    }
    const counts = panesOf(sheet).slice(1).map((pane) => {
      const count = pane.querySelectorAll(`.line[data-line="${line}"]`).length;
      return `${pane.dataset.pane}: ${count || "no"} ${count === 1 ? "line" : "lines"}`;
    });
    status.textContent = `From line ${line} come: ${counts.join(", ")}.${line === kept ? " It stays marked; Esc lets go." : ""}`;
  }

  function look(element) {
    const line = element ? lineOf(element) : 0;
    mark(line, "lit");
    if (line) reveal(line, element.closest(".pane"));
    describe(line || kept);
  }

  function keep(line) {
    kept = line;
    sheet.querySelectorAll(".line").forEach((element) => {
      element.setAttribute("aria-selected", String(line !== 0 && lineOf(element) === line));
    });
    mark(line, "kept");
    describe(line);
    const number = sheets.indexOf(sheet) + 1;
    const hash = line ? `#line=${line}${number > 1 ? `&sheet=${number}` : ""}` : "";
    try {
      history.replaceState(null, "", hash || location.pathname + location.search);
    } catch (error) { /* pages from some places may not change their address */ }
  }

  function turnTo(next) {
    keep(0);
    mark(0, "lit");
    sheet = next;
    sheets.forEach((each) => { each.hidden = each !== next; });
    tabs.forEach((tab, k) => {
      tab.setAttribute("aria-selected", String(sheets[k] === next));
      tab.tabIndex = sheets[k] === next ? 0 : -1;
    });
  }

  function focusOn(element) {
    if (!element) return;
    element.parentElement.querySelectorAll('.line[tabindex="0"]').forEach((other) => { other.tabIndex = -1; });
    element.tabIndex = 0;
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  // The nearest text to that side which has something of the line, or its first line.
  function beside(element, step) {
    const panes = panesOf(sheet);
    const next = panes[panes.indexOf(element.closest(".pane")) + step];
    if (!next) return null;
    const line = lineOf(element);
    return (line && next.querySelector(`.line[data-line="${line}"]`)) || next.querySelector(".line");
  }

  const KEYS = {
    ArrowDown: (element) => focusOn(element.nextElementSibling),
    ArrowUp: (element) => focusOn(element.previousElementSibling),
    ArrowRight: (element) => focusOn(beside(element, 1)),
    ArrowLeft: (element) => focusOn(beside(element, -1)),
    Home: (element) => focusOn(element.parentElement.firstElementChild),
    End: (element) => focusOn(element.parentElement.lastElementChild),
    Enter: (element) => keep(lineOf(element) === kept ? 0 : lineOf(element)),
    " ": (element) => keep(lineOf(element) === kept ? 0 : lineOf(element)),
  };

  document.addEventListener("mouseover", (event) => look(event.target.closest(".line")));
  document.addEventListener("mouseleave", () => look(null));
  document.addEventListener("focusin", (event) => look(event.target.closest(".line")));
  document.addEventListener("focusout", () => look(null));
  document.addEventListener("click", (event) => {
    const element = event.target.closest(".line");
    if (!element || !getSelection().isCollapsed) return; // a text that is being selected is not clicked
    const line = lineOf(element);
    keep(line === kept ? 0 : line);
    if (line) reveal(line, element.closest(".pane"));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      keep(0);
      return;
    }
    const element = event.target.closest(".line");
    const action = element && !event.ctrlKey && !event.metaKey && !event.altKey && KEYS[event.key];
    if (action) {
      event.preventDefault();
      action(element);
    }
  });
  tabs.forEach((tab, k) => {
    tab.addEventListener("click", () => turnTo(sheets[k]));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) {
        const next = (k + step + tabs.length) % tabs.length;
        turnTo(sheets[next]);
        tabs[next].focus();
      }
    });
  });

  function followAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const line = Number(wanted.get("line") || 0);
    const next = sheets[Number(wanted.get("sheet") || 1) - 1] || sheets[0];
    if (next !== sheet) turnTo(next);
    keep(linesOf(line).length ? line : 0);
    if (kept) reveal(kept, null);
  }

  document.querySelectorAll(".lines").forEach((lines) => { lines.firstElementChild.tabIndex = 0; });
  const address = location.hash;
  turnTo(sheet);
  if (address) {
    history.replaceState(null, "", address);
    followAddress();
  }
  window.addEventListener("hashchange", followAddress);
})();
