"""A headless browser, driven over the pipe that Chromium has for it: real mouse and keys, with the standard library only."""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import select
import shutil
import time
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE = 60.0


def find_browser() -> str | None:
    """The command of a browser that is installed."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """A page in a browser, of 1400 by 900 points."""

    def __init__(self, command: str, profile: Path) -> None:
        self.numbers = itertools.count(1)
        self.received = b""
        to_child, self.to = os.pipe()
        self.of, of_child = os.pipe()
        # The browser reads from 3 and writes to 4, which may be taken in this process.
        spare = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in (to_child, of_child)]
        files = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
        pipes = [(os.POSIX_SPAWN_DUP2, end, number) for number, end in enumerate(spare, 3)]
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}"]
        arguments = [command, *options, "--remote-debugging-pipe", "about:blank"]
        self.process = os.posix_spawn(command, arguments, os.environ, file_actions=[*files, *pipes])
        for end in (to_child, of_child, *spare):
            os.close(end)
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        self.tell("Emulation.setDeviceMetricsOverride", width=1400, height=900, deviceScaleFactor=1, mobile=False)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self.ask("Browser.close")
        finally:
            os.close(self.to)
            os.close(self.of)
            os.waitpid(self.process, 0)

    def ask(self, method: str, session: str | None = None, **parameters: Any) -> Any:
        """The result of a command to the browser."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]

    def tell(self, method: str, **parameters: Any) -> Any:
        """The result of a command to the page."""
        return self.ask(method, self.session, **parameters)

    def _next(self) -> Any:
        until = time.monotonic() + PATIENCE
        while b"\0" not in self.received:
            ready, _, _ = select.select([self.of], [], [], max(0.0, until - time.monotonic()))
            part = os.read(self.of, 1 << 16) if ready else b""
            assert part, "the browser does not answer"
            self.received += part
        message, _, self.received = self.received.partition(b"\0")
        return json.loads(message)

    def open(self, address: str) -> None:
        """Load a page from the start, and wait until it is there."""
        self.tell("Page.navigate", url="about:blank")
        self.tell("Page.navigate", url=address)
        until = time.monotonic() + PATIENCE
        while self.value("document.readyState + location.href.slice(0, 5)") != "completefile:":
            assert time.monotonic() < until, address
            time.sleep(0.02)

    def value(self, expression: str) -> Any:
        """What an expression of JavaScript comes to in the page."""
        answer = self.tell("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def mouse(self, selector: str, *, click: bool = False) -> None:
        """Move the mouse to the left part of an element, which has to be in sight."""
        place = f"(r => [r.left + 60, r.top + r.height / 2])(document.querySelector({selector!r}).getBoundingClientRect())"
        x, y = self.value(place)
        self.tell("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased") if click else ():
            self.tell("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, key: str) -> None:
        """Press a key."""
        code = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40, "ArrowRight": 39, "End": 35}[key]
        for kind in ("rawKeyDown", "keyUp"):
            self.tell("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def prefer(self, scheme: str) -> None:
        """Ask for the light or the dark form of pages."""
        self.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
