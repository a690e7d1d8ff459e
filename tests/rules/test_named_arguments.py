"""Arguments that are given by the names that NumPy documents have the gradients that they have by position."""

from __future__ import annotations

import copy
import inspect
import linecache
from typing import Any

import numpy as np
import pytest

from microgradpy import MissingRuleError, gradient, pullback
from microgradpy.compiler import always_dispatch
from microgradpy.rules.registry import Example
from tests.forward.tangents import drawn
from tests.names import NUMPY
from tests.rules.test_inlined import chosen, differentiated


def names_of(example: Example) -> list[str | None]:
    """The name by which each argument of an example can be given; None where it has none."""
    try:
        parameters = list(inspect.signature(example.f).parameters.values())[: len(example.args)]
    except (ValueError, TypeError):
        return [None] * len(example.args)
    return [p.name if p.kind is p.POSITIONAL_OR_KEYWORD else None for p in parameters]


def is_named(example: Example) -> bool:
    """Whether an example is of a function of NumPy's and ends with arguments that can be named."""
    names = names_of(example)
    return str(example).startswith("numpy.") and bool(names) and names[-1] is not None and len(names) == len(example.args)


def call_by_name(example: Example, wanted: list[int], count: int) -> Any:
    """A function with a text that makes the call of an example, with names for all but the first `count` arguments."""
    values = [f"x{k}" if k in wanted else f"constants[{k}]" for k in range(len(example.args))]
    named = [f"{name}={value}" for name, value in list(zip(names_of(example), values, strict=True))[count:]]
    options = [f"{name}=options[{name!r}]" for name in example.kwargs]
    parameters = ", ".join(f"x{k}" for k in wanted)
    text = f"def call({parameters}):\n    return f({', '.join([*values[:count], *named, *options])})\n"
    file = f"example {example} by name after {count}"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace: dict[str, Any] = {"f": example.f, "options": example.kwargs, "constants": example.args, "__name__": "example"}
    exec(compile(text, file, "exec"), namespace)
    return namespace["call"]


@pytest.mark.parametrize("example", list(filter(is_named, chosen())), ids=str)
def test_names_and_positions_are_the_same(example: Example) -> None:
    wanted, count = differentiated(example), len(example.args)
    first = max((k for k, name in enumerate(names_of(example)) if name is None), default=-1) + 1
    args = tuple(example.args[k] for k in wanted)
    y, back = pullback(call_by_name(example, wanted, count), *copy.deepcopy(args))
    y_bar = drawn(y, np.random.default_rng(3))
    expected = back(y_bar)
    call = call_by_name(example, wanted, first)
    np.testing.assert_equal(pullback(call, *copy.deepcopy(args))[1](y_bar), expected)
    with always_dispatch():
        np.testing.assert_equal(pullback(call, *copy.deepcopy(args))[1](y_bar), expected)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda s: np.sum(np.arange(start=s, stop=3)), 2.0),
        (lambda s: np.sum(np.arange(start=s, step=s, stop=3.5 * s)), 6.0),
        (lambda s: np.sum(s * np.arange(stop=3)), 3.0),
        (lambda s: np.trace(a=s * np.eye(3), dtype=complex).real, 3.0),
    ],
)
def test_ranges_by_name(call: Any, expected: float) -> None:
    assert gradient(call, 1.0) == (expected,)


@pytest.mark.parametrize(
    "call",
    [
        lambda s: np.sum(np.arange(0, stop=3.0 * s, step=s)),
        lambda s: np.sum(np.arange(0, 3.0 * s, dtype=float, step=s)),
    ],
)
def test_ranges_that_begin_by_position(call: Any) -> None:
    """Older versions of NumPy do not say at which positions np.arange has its parameters."""
    if NUMPY < (2, 4):
        with pytest.raises(MissingRuleError, match="Give it by position"):
            gradient(call, 1.0)
    else:
        assert gradient(call, 1.0) == (3.0,)


def test_a_number_that_has_no_position_is_refused() -> None:
    assert np.isfinite(gradient(lambda x: np.linalg.vector_norm(x, ord=2.5), np.ones(3))[0]).all()
    with pytest.raises(MissingRuleError, match="Give it by position"):
        gradient(lambda x, p: np.linalg.vector_norm(x, ord=p), np.ones(3), 2.5)
