"""Calls that are not meant so: what is said of them is the table in docs/errors.md."""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from typing import Any

import pytest

from microgradpy import DifferentiationError

PAGE = Path(__file__).parent.parent / "docs" / "errors.md"
_, _, SECTION = PAGE.read_text().partition("## Mistakes in calls\n")
SECTION = SECTION.partition("\n## ")[0]
ROWS = [tuple(row) for row in re.findall(r"^\| `(.+?)` \| (.+) \|$", SECTION, re.MULTILINE)]
BEGIN = "import numpy as np\nfrom microgradpy import gradient, rrule\n"
PROGRAM = BEGIN + SECTION.partition("```python\n")[2].partition("```")[0]


def told(error: Exception) -> str:
    """A message in one line, without the place."""
    found = f"{error.found}. {error.remedy}" if isinstance(error, DifferentiationError) else str(error)
    return f"{type(error).__name__}: " + re.sub(r" \([^()]*\.py:\d+\)", "", found)


def namespace_of(program: str) -> dict[str, Any]:
    """What a program defines; its functions have a text."""
    name = "mistakes_of_a_user.py"
    linecache.cache[name] = (len(program), None, program.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": "mistakes_of_a_user"}
    exec(compile(program, name, "exec"), namespace)
    return namespace


@pytest.fixture(scope="module")
def namespace() -> dict[str, Any]:
    return namespace_of(PROGRAM)


def test_there_are_rows() -> None:
    assert len(ROWS) > 25


@pytest.mark.parametrize("call, message", ROWS, ids=[row[0] for row in ROWS])
def test_what_is_said_of_a_call(call: str, message: str, namespace: dict[str, Any]) -> None:
    linecache.cache["a_call_of_a_user.py"] = (len(call), None, [f"{call}\n"], "a_call_of_a_user.py")
    with pytest.raises((DifferentiationError, TypeError, AttributeError)) as caught:
        eval(compile(call, "a_call_of_a_user.py", "eval"), namespace)
    assert told(caught.value) == message


def test_options_of_the_function_stay_its_own(namespace: dict[str, Any]) -> None:
    program = "from microgradpy import gradient, jacobian\ndef own(x, argnum=2.0, **more):\n    return argnum * x\n"
    own = namespace_of(program)
    assert eval("gradient(own, 3.0, argnum=4.0)", own) == (4.0,)
    assert eval("gradient(own, 3.0, argnums=4.0)", own) == (2.0,)
    assert eval("jacobian(own, 3.0, argnum=4.0)", own) == 4.0
