"""The page in a real browser, where one is installed: mouse, keyboard, address, light and dark."""

from __future__ import annotations

import numpy as np
import pytest

from microgradpy import explain
from tests.explain import programs
from tests.explain.browser import Browser, find_browser

COMMAND = find_browser()
pytestmark = pytest.mark.skipif(COMMAND is None, reason="a browser is no Python package: install Chromium to run these")

LINE = programs.energy.__code__.co_firstlineno  # of `def energy`
LOOP, CALL = LINE + 1, LINE + 2
STATUS = "document.getElementById('status').innerText"
MARKED = "[...document.querySelectorAll('.{}')].map(e => e.closest('.pane').dataset.pane + ' ' + e.innerText.trim())"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(COMMAND, tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "energy.html"
    path.write_text(explain(programs.energy, np.array([1.0, 2.0, 3.0]), 0.1, 3), encoding="utf-8")
    return path.as_uri()


def marked(browser, kind):
    """The panes that have marked lines, with their numbers of them."""
    panes = [text.split(" ")[0] for text in browser.value(MARKED.format(kind))]
    return {pane: panes.count(pane) for pane in panes}


OF_CALL = {"Source": 1, "IR": 1, "Primal": 1, "Adjoint": 3}
OF_LOOP = {"Source": 1, "IR": 3, "Primal": 2, "Adjoint": 2}


def line(pane, number, sheet=1):
    return f'#sheet-{sheet} [data-pane="{pane}"] .line[data-line="{number}"]'


def test_the_line_under_the_mouse_is_marked_in_all_four(browser, address):
    browser.open(address)
    assert marked(browser, "lit") == {}
    for pane in ("Source", "IR", "Primal", "Adjoint"):
        browser.mouse(line(pane, CALL))
        assert marked(browser, "lit") == OF_CALL
    browser.mouse(line("IR", LOOP))
    assert marked(browser, "lit") == OF_LOOP
    assert f"From line {LOOP} come: IR: 3 lines, Primal: 2 lines, Adjoint: 2 lines." in browser.value(STATUS)
    browser.mouse("h1")
    assert marked(browser, "lit") == {}


def test_a_click_keeps_a_line_marked_and_is_in_the_address(browser, address):
    browser.open(address)
    browser.mouse(line("Adjoint", CALL), click=True)
    browser.mouse("h1")
    assert marked(browser, "kept") == OF_CALL
    assert browser.value("location.hash") == f"#line={CALL}"
    assert browser.value("document.querySelectorAll('[aria-selected=true].line').length") == sum(OF_CALL.values())
    browser.mouse(line("Source", LOOP))  # both can be seen
    assert (marked(browser, "kept"), marked(browser, "lit")) == (OF_CALL, OF_LOOP)
    browser.mouse(line("Source", CALL), click=True)
    assert marked(browser, "kept") == {} and browser.value("location.hash") == ""


def test_the_keyboard_does_what_the_mouse_does(browser, address):
    browser.open(address)
    browser.value("document.querySelector('.line').focus()")
    browser.key("ArrowDown")
    assert marked(browser, "lit") == OF_LOOP
    browser.key("Enter")
    assert marked(browser, "kept") == OF_LOOP
    browser.key("ArrowRight")
    assert browser.value("document.activeElement.closest('.pane').dataset.pane") == "IR"
    assert marked(browser, "lit") == OF_LOOP
    browser.key("End")
    assert "return" in browser.value("document.activeElement.innerText")
    browser.key("Escape")
    assert marked(browser, "kept") == {}


def test_each_text_can_be_reached_by_tab(browser, address):
    browser.open(address)
    reached = []
    for _ in range(5):
        browser.key("Tab")
        where = "(e => e.closest('.pane')?.dataset.pane || e.innerText)(document.activeElement)"
        reached.append(browser.value(where))
    assert reached == ["energy", "Source", "IR", "Primal", "Adjoint"]


def test_an_address_with_a_line_shows_it(browser, address):
    browser.open(f"{address}#line={CALL}")
    assert marked(browser, "kept") == OF_CALL
    browser.open(f"{address}#line={programs.step.__code__.co_firstlineno + 1}&sheet=2")
    assert browser.value("[...document.querySelectorAll('.sheet')].map(e => e.hidden)") == [True, False]
    assert marked(browser, "kept")["Adjoint"] >= 2
    browser.open(f"{address}#line=9999")
    assert marked(browser, "kept") == {}


def test_tabs_turn_to_the_other_functions(browser, address):
    browser.open(address)
    assert browser.value("[...document.querySelectorAll('.sheet')].map(e => e.hidden)") == [False, True]
    browser.mouse("[role=tab]:nth-child(2)", click=False)
    browser.value("document.querySelectorAll('[role=tab]')[1].click()")
    assert browser.value("[...document.querySelectorAll('.sheet')].map(e => e.hidden)") == [True, False]
    browser.mouse(line("Source", programs.step.__code__.co_firstlineno + 1, sheet=2))
    assert marked(browser, "lit")["Adjoint"] >= 2


def test_the_text_that_is_not_in_sight_is_scrolled_to(browser, tmp_path):
    lines = "".join(f"    x = x * {k}.5\n" for k in range(100))
    (tmp_path / "long_program.py").write_text(f"def f(x):\n{lines}    return x\n")
    namespace: dict = {}
    exec(compile((tmp_path / "long_program.py").read_text(), str(tmp_path / "long_program.py"), "exec"), namespace)
    path = tmp_path / "long.html"
    path.write_text(explain(namespace["f"], 2.0), encoding="utf-8")
    browser.open(f"{path.as_uri()}#line=95")
    for pane in ("Source", "IR", "Primal", "Adjoint"):
        seen = (
            f"(([l, e]) => e.top >= l.top && e.bottom <= l.bottom)([document.querySelector('[data-pane={pane}] .lines'),"
            f" document.querySelector('[data-pane={pane}] .kept')].map(e => e.getBoundingClientRect()))"
        )
        assert browser.value(seen) is True
    assert browser.value("document.scrollingElement.scrollTop") == 0


def luminance(colour):
    """How bright a colour is, as the guidelines for accessibility have it (WCAG 2)."""
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read_in_light_and_in_dark(browser, address, scheme):
    browser.prefer(scheme)
    browser.open(f"{address}#line={CALL}")
    paper = luminance(browser.value("getComputedStyle(document.body).backgroundColor"))
    assert (paper > 0.5) == (scheme == "light")
    browser.mouse(line("Source", LOOP))
    for where, behind in ((".line", ".pane"), (".kept", ".kept"), (".lit", ".lit"), (".place", "body"), (".call", "thead th")):
        background = luminance(browser.value(f"getComputedStyle(document.querySelector('{behind}')).backgroundColor"))
        shown = f"[...document.querySelectorAll('{where} code, {where} code span')]"
        for colour in browser.value(f"[...new Set({shown}.map(e => getComputedStyle(e).color))]"):
            bright, dim = sorted((luminance(colour), background), reverse=True)
            assert (bright + 0.05) / (dim + 0.05) >= 4.5, (colour, where)


@pytest.mark.parametrize("width, columns", [(1400, 4), (1000, 2), (500, 1)])
def test_the_texts_stand_beside_each_other_as_far_as_there_is_room(browser, address, width, columns):
    browser.open(address)
    browser.tell("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    panes = "[...document.querySelectorAll('#sheet-1 .pane')]"
    lefts = browser.value(f"{panes}.map(e => Math.round(e.getBoundingClientRect().left))")
    assert len(set(lefts)) == columns
    assert browser.value("document.scrollingElement.scrollWidth") <= width
    browser.tell("Emulation.setDeviceMetricsOverride", width=1400, height=900, deviceScaleFactor=1, mobile=False)


def test_a_program_with_tags_in_its_strings_does_no_harm(browser, tmp_path):
    path = tmp_path / "awkward.html"
    path.write_text(explain(programs.awkward, 2.0), encoding="utf-8")
    browser.open(path.as_uri())
    assert "</script><b onclick='f()'>&amp;" in browser.value("document.querySelector('[data-pane=Source]').innerText")
    assert browser.value("document.querySelectorAll('b, [onclick]').length") == 0
