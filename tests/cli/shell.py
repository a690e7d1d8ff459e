"""Commands, as they are typed, run in this process."""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path
from typing import Any, NamedTuple

from microgradpy.cli.main import main


class Run(NamedTuple):
    """What came of a command."""

    status: int
    out: str
    err: str


class Terminal(io.TextIOWrapper):
    """A standard output that says that it is a terminal, or not."""

    def __init__(self, is_terminal: bool, encoding: str) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, write_through=True)
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal

    def text(self) -> str:
        buffer: Any = self.buffer
        return str(buffer.getvalue().decode(self.encoding))


class Shell:
    """`shell("check model.py:f --at 2.0")` runs a command in a folder. What it imports is forgotten after the test."""

    def __init__(self, folder: Path, monkeypatch: Any, capsys: Any) -> None:
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.capsys = capsys
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "path", list(sys.path))
        for path in folder.glob("*.py"):
            monkeypatch.delitem(sys.modules, path.stem, raising=False)

    def __call__(self, typed: str, *, terminal: bool = False, encoding: str = "utf-8") -> Run:
        out = Terminal(terminal, encoding)
        with self.monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            self.capsys.readouterr()
            status = main(shlex.split(typed))
            err = self.capsys.readouterr().err
        return Run(status, out.text(), err)
