"""The texts of programs in another process: whatever depends on the order of a set of strings, or on what was compiled before,
is another one there.

One process answers for all programs, since it takes seconds to start: the fixture `elsewhere`, and `tests/texts.py` on the
other side.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.programs import Program


def name_of(program: Program) -> str:
    """A name that no other program of the tables has."""
    return f"{program.function.__module__}.{program}"


class OtherProcess:
    """A Python whose strings have other hashes; it is started by the first question."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def answer(self, question: str, program: Program) -> Any:
        """What one of the functions in `tests.texts.QUESTIONS` returns there for this program."""
        process = self._process = self._process or self._started()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps([question, name_of(program)]) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    def _started(self) -> subprocess.Popen[str]:
        seed = "1" if os.environ.get("PYTHONHASHSEED") == "0" else "0"
        return subprocess.Popen(
            [sys.executable, "-m", "tests.texts"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[1],
            env={**os.environ, "PYTHONHASHSEED": seed},
        )

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate()
