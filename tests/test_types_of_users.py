"""What type checkers make of a user's code: signatures survive `grad`, values keep their types, rules can be annotated."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CODE = ROOT / "tests" / "code_of_a_user.py"
WRONG = [number for number, line in enumerate(CODE.read_text().splitlines(), 1) if line.endswith("# error")]


def test_there_are_mistakes_to_find() -> None:
    assert len(WRONG) > 8


def test_mypy_finds_the_mistakes_and_no_others() -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports", "silent", str(CODE.relative_to(ROOT))]
    report = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    found = re.findall(rf"{CODE.name}:(\d+): error", report)
    assert list(map(int, found)) == WRONG, report


def test_pyright_finds_the_mistakes_and_no_others() -> None:
    pyright = shutil.which("pyright")
    if pyright is None:
        pytest.skip("pyright brings a runtime of JavaScript along: `pip install pyright` to check what it finds, too")
    command = [pyright, "--outputjson", "--pythonpath", sys.executable, str(CODE.relative_to(ROOT))]
    report = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout)["generalDiagnostics"]
    errors = [each for each in report if each["severity"] == "error"]
    assert [each["range"]["start"]["line"] + 1 for each in errors] == WRONG, errors
