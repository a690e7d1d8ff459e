"""A rule that is compiled into a function against the same rule called at run time.

`MICROGRADPY_ALL_INLINED=1` takes every example of every rule; without it, one of each rule, if its function is not in the tests
of forward mode (`tests/ways.py`).
"""

from __future__ import annotations

import copy
import linecache
import os
from typing import Any

import numpy as np
import pytest

from microgradpy import pullback
from microgradpy.compiler import always_dispatch
from microgradpy.rules.registry import Example, rrule
from microgradpy.tangents.types import NotImplementedTangent, is_structural_zero
from tests import finite_differences as fd
from tests.examples import EXAMPLES, way_of_computing
from tests.forward.tangents import drawn
from tests.ways import some

pytestmark = pytest.mark.filterwarnings("ignore:`lagrange` is deprecated")  # since SciPy 1.18
# What they return is read once, or they are given functions; the tables of programs have those.
OF_PYTHON = ("builtins.", "dict.", "copy.", "microgradpy.", "functools.", "itertools.")
ELSEWHERE = (*OF_PYTHON, "scipy.optimize", "scipy.integrate", "scipy.sparse")


def chosen() -> list[Example]:
    found: dict[Any, Example] = {}
    for number, example in enumerate(e for e in EXAMPLES if not str(e).startswith(ELSEWHERE)):
        rule = rrule.find_for(example.f, example.args, example.kwargs)
        found.setdefault(number if os.environ.get("MICROGRADPY_ALL_INLINED") else rule, example)
    return [example for example in found.values() if "compiled in" in way_of_computing(example)]


def differentiated(example: Example) -> list[int]:
    """The arguments for which the rule has a cotangent."""
    made = rrule(example.f, *copy.deepcopy(example.args), **copy.deepcopy(example.kwargs))
    assert made is not None
    bars = made[1](drawn(made[0], np.random.default_rng(2)))[1:]
    return [k for k, bar in enumerate(bars) if not (is_structural_zero(bar) or isinstance(bar, NotImplementedTangent))]


def calling(example: Example, wanted: list[int]) -> Any:
    """A function with a text, which makes the call of an example; the arguments that are not `wanted` are its constants."""
    values = [f"x{k}" if k in wanted else f"constants[{k}]" for k in range(len(example.args))]
    keywords = [f"{name}=options[{name!r}]" for name in example.kwargs]
    parameters = ", ".join(f"x{k}" for k in wanted)
    text = f"def call({parameters}):\n    return f({', '.join([*values, *keywords])})\n"
    file = f"example {example}"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace: dict[str, Any] = {"f": example.f, "options": example.kwargs, "constants": example.args, "__name__": "example"}
    exec(compile(text, file, "exec"), namespace)
    return namespace["call"]


@pytest.mark.parametrize("example", some(chosen()), ids=str)
def test_the_inlined_and_the_dispatched_form_agree(example: Example) -> None:
    wanted = differentiated(example)
    call, args = calling(example, wanted), tuple(example.args[k] for k in wanted)
    y, back = pullback(call, *copy.deepcopy(args))
    with always_dispatch():
        y_again, back_again = pullback(call, *copy.deepcopy(args))
        y_bar = drawn(y, np.random.default_rng(2))
        dispatched = back_again(y_bar)[1:]
    assert type(y) is type(y_again)
    inlined = back(y_bar)[1:]
    for x, a, b in zip(args, inlined, dispatched, strict=True):
        assert (a is None) == (b is None)
        found, expected = fd.flatten_cotangent(x, a), fd.flatten_cotangent(x, b)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
