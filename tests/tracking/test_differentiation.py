"""Derivatives over traces: those of `gradient` and `pullback`, or a refusal."""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import math
import sys
from typing import Any

import numpy as np
import pytest

from microgradpy import DifferentiationError, MissingRuleError, gradient, pullback
from microgradpy.tracking import DifferentiationContext, NestedCallNode, differentiate, track
from tests import finite_differences as fd
from tests.programs import PROGRAMS, Program
from tests.ways import some

RATE = 2.0
WEIGHTS = np.arange(9.0).reshape(3, 3)
TABLE = {"a": 1.5, "b": [2.0]}
KEPT: list[Any] = []
MATRIX = np.arange(9.0).reshape(3, 3) + 1.0


class Settings:
    rate = 3.0


def of_a_dict(x):
    d = {"a": x * 2, "b": 2.0, "c": x}
    return d["a"] * d["b"] + d["c"]


def of_merged_dicts(x):
    return {**{"a": x}, "b": 2.0}["a"] * 2.0


def of_twice_the_key(x):
    return {"a": x, "a": 3.0 * x}["a"]  # noqa: F601


def over_nothing(x):
    return sum([x * i for i in range(0)], x)


def captured_here(x):
    a = x * 2

    def g(y):
        return [y * a * k * x for k in range(3)]

    return sum(g(x)) + (lambda z: z * a)(x)


def made_outside():
    rate = 3.0
    return lambda x: x * rate


def starred(x):
    a = (x, 2.0)
    return math.hypot(*a) + np.sum(*[x], **{"axis": None})


def with_default(x, k=2.0):
    return x * k


def calls_with_default(x):
    return with_default(x * 2)


DERIVATIVES: dict[str, tuple[Any, Any]] = {
    "module number": (lambda x: x * RATE, 1.5),
    "module array": (lambda x: np.sum(WEIGHTS @ x), np.ones(3)),
    "module dict": (lambda x: x * TABLE["a"] * TABLE["b"][0], 1.5),
    "class attribute": (lambda x: x * Settings.rate, 1.5),
    "captured outside": (made_outside(), 1.5),
    "captured inside": (captured_here, 1.5),
    "T": (lambda x: np.sum(x.T * x), MATRIX),
    "real": (lambda x: np.sum(x.real * 2), MATRIX),
    "shape": (lambda x: np.sum(x) * x.shape[0], MATRIX),
    "astype": (lambda x: np.sum(x.astype(np.float32) * 2), MATRIX),
    "item": (lambda x: x.sum().item() * 2, MATRIX),
    "methods": (lambda x: x.dot(x).sum(axis=0).max() + x.reshape(-1)[2], MATRIX),
    "slice": (lambda x: x[1:].sum() * x[:, 0].sum(), MATRIX),
    "dict": (of_a_dict, 1.5),
    "merged dicts": (of_merged_dicts, 1.5),
    "a key twice": (of_twice_the_key, 1.5),
    "dict comprehension": (lambda x: sum({i: x * i for i in range(3)}.values()), 1.5),
    "list": (lambda x: [x, 2.0 * x][1], 1.5),
    "tuple of one": (lambda x: (x * 3.0,)[0], 1.5),
    "list comprehension": (lambda xs: sum([a * a for a in xs]), [1.0, 2.0]),
    "empty comprehension": (over_nothing, 1.5),
    "array of a comprehension": (lambda x: np.sum(np.array([x * i for i in range(3)])), 1.5),
    "stars": (starred, 1.5),
    "named argument": (lambda x: np.sum(a=x * x), MATRIX),
    "named arguments": (lambda x: np.sum(np.clip(a=x, a_min=0.0, a_max=5.0)), MATRIX),
    "default": (calls_with_default, 1.5),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_the_derivative_is_the_gradient(name: str) -> None:
    function, x = DERIVATIVES[name]
    context = DifferentiationContext()
    (found,) = differentiate(traced(function, x, context=context), context)
    np.testing.assert_allclose(found, gradient(function, x)[0], rtol=1e-14)


def traced(function: Any, *args: Any, context: DifferentiationContext) -> NestedCallNode:
    trace = track(function, *args, context=context)
    assert isinstance(trace, NestedCallNode)
    return trace


def keeps(x):
    KEPT.append(x)
    return KEPT[-1] * 2.0


def keeps_by_map(x):
    list(map(KEPT.append, [x]))
    return KEPT[-1] * 2.0


def assigns(x):
    global RATE
    RATE = x * 2.0
    return RATE * 3.0


def sets_a_class(x):
    Settings.rate = x
    return Settings.rate * 2.0


def default_of_the_run(x):
    def g(y, k=x):
        return y * k

    return g(x)


def forwards(*args):
    return args[0] * args[1]


class Box:
    def __init__(self, value):
        self.value = value


REFUSED: dict[str, tuple[Any, str]] = {
    "a list of the module": (keeps, "KEPT|may write"),
    "hidden in a map": (keeps_by_map, "may write"),
    "a module variable": (assigns, "may write"),
    "a class attribute": (sets_a_class, "may write"),
    "a default that is active": (default_of_the_run, "by stars, or by defaults"),
    "stars": (lambda x: forwards(*(x, x)), "by stars, or by defaults"),
    "rest": (lambda x: forwards(x, x), "by stars, or by defaults"),
    "a field": (lambda x: Box(x).value * 2, "reads a field of an object"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_way_back_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "rate", 3.0)
    monkeypatch.setitem(globals(), "RATE", 2.0)
    monkeypatch.setitem(globals(), "KEPT", [])
    function, message = REFUSED[name]
    context = DifferentiationContext()
    trace = traced(function, 1.5, context=context)
    with pytest.raises(MissingRuleError, match=message):
        differentiate(trace, context)


def test_a_number_may_be_a_key_unless_the_trace_is_differentiated() -> None:
    def by_number(x: float) -> float:
        return sum(key * value for key, value in {x: x * 2}.items()) + sum({y: y * 3 for y in [x]})

    assert track(by_number, 1.5).value_ref == by_number(1.5)
    with pytest.raises(DifferentiationError, match="becomes a key of a dict"):
        track(by_number, 1.5, context=DifferentiationContext())


@pytest.mark.parametrize("row", some(PROGRAMS, "traced"), ids=str)
def test_no_derivative_of_the_programs_is_wrong(row: Program) -> None:
    np.random.seed(5)  # noqa: NPY002 - the programs draw from it
    context = DifferentiationContext()
    with contextlib.redirect_stdout(io.StringIO()):
        y, back = pullback(row.function, *copy.deepcopy(row.args))
        seed = fd.random_seed(y)
        np.random.seed(5)  # noqa: NPY002
        trace = traced(row.function, *copy.deepcopy(row.args), context=context)
        try:
            found = differentiate(trace, context, seed)
        except DifferentiationError:
            return
    wanted = back(seed)[1:]
    assert len(found) == len(wanted)
    flat = fd.flatten_cotangent(row.args, found)
    assert flat == pytest.approx(fd.flatten_cotangent(row.args, wanted), rel=1e-9, abs=1e-12)


class Scale:
    def __init__(self):
        self.k = 1.0

    def of(self, x, by=2.0):
        return x * by * 2.0

    def __call__(self, x, *rest):
        return x * 3.0 + sum(rest)


def with_the_rest(x, *rest, k=2.0):
    return x * rest[0] + sum(rest) * k


def alone(x, *rest):
    return x * 2.0


SCALE = Scale()
CALLS: list[tuple[Any, tuple[float, ...], tuple[Any, ...]]] = [
    (SCALE.of, (3.0,), (4.0,)),
    (SCALE.of, (3.0, 4.0), (8.0, 6.0)),
    (SCALE, (2.0, 1.0), (3.0, 1.0)),
    (with_the_rest, (1.0, 2.0, 3.0), (2.0, 3.0, 2.0)),
    (functools.partial(with_the_rest, 1.0), (2.0, 3.0), (3.0, 2.0)),
    (functools.partial(with_the_rest, 1.0, 2.0, k=5.0), (3.0,), (5.0,)),
    (alone, (1.0, 2.0), (2.0, None)),
]


@pytest.mark.parametrize(("f", "args", "expected"), CALLS)
def test_there_is_a_cotangent_for_each_argument_by_position(f: Any, args: tuple[float, ...], expected: tuple[Any, ...]) -> None:
    context = DifferentiationContext()
    trace = track(f, *args, context=context)
    assert isinstance(trace, NestedCallNode)
    assert differentiate(trace, context) == expected == pullback(f, *args)[1](1.0)[1:]


def repeated(x: float, n: int) -> float:
    return x if n == 0 else repeated(x * 1.5, n - 1)


def test_deep_recursion() -> None:
    context = DifferentiationContext()
    depth = sys.getrecursionlimit() - 200
    trace = track(repeated, 1.0, depth, context=context)
    assert isinstance(trace, NestedCallNode)
    assert differentiate(trace, context)[0] == pytest.approx(1.5**depth)


def of_a_list_that_holds_itself(x: float, given: list[Any]) -> float:
    return x * given[0]


def makes_a_list_that_holds_itself(x: float) -> Any:
    made: list[Any] = [x]
    made.append(made)
    return made[0] * 2.0


def of_what_holds_itself(x: float, given: dict[str, Any]) -> Any:
    return x * given["own"]["own"]["a"]


def test_what_holds_itself() -> None:
    """It is shown as Python shows it."""
    items: list[Any] = [2.0]
    items.append(items)
    fields: dict[str, Any] = {"a": 3.0}
    fields["own"] = fields
    context = DifferentiationContext()
    trace = track(of_a_list_that_holds_itself, 3.0, items, context=context)
    assert isinstance(trace, NestedCallNode) and "[2.0, [...]]" in repr(trace)
    assert differentiate(trace, context)[0] == 2.0
    trace = track(of_what_holds_itself, 3.0, fields, context=context)
    assert isinstance(trace, NestedCallNode) and "{...}" in repr(trace)
    assert differentiate(trace, context)[0] == 3.0
    trace = track(makes_a_list_that_holds_itself, 3.0, context=context)
    assert isinstance(trace, NestedCallNode)
    with pytest.raises(MissingRuleError, match="reads what was written into"):
        differentiate(trace, context)
