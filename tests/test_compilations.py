"""How often a function is lowered, and its primal made: one that writes is compiled once, and not in the mode for
those that do not and then again, wherever its text shows that it writes."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import cache_clear, gradient, pipeline

COUNTER = 0.0


def plain(x):
    return np.sum(x * x)


def writes_into_argument(x):
    x[0] = x[1] * x[2]
    return np.sum(x)


class Body:
    def __init__(self, v):
        self.v = v


BODY = Body(2.0)


def writes_attribute(x, body=BODY):
    body.v = np.sum(x)
    return body.v * x[0]


def deletes_item(x):
    rows = [x, 2.0 * x]
    kept = rows if x[0] > 0.0 else [x]
    del kept[0]
    return np.sum(rows[0])


def writes_after_call(x):
    y = plain(x)
    x[0] = y
    return np.sum(x)


def assigns_in_module(x):
    global COUNTER
    COUNTER = np.sum(x)
    return COUNTER * COUNTER


def reads_exception(x):
    try:
        raise ValueError(x[0])
    except ValueError as error:
        return error.args[0] * x[1]


def iterates_flat(x):
    total = 0.0
    for value in x.flat:
        total = total + value * value
    return total


def adds_in_place(x):
    x += x[0]
    return np.sum(x)


def calls_what_writes(x):
    writes_into_argument(x)
    return np.sum(x * x)


def made_again(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, int], dict[str, int]]:
    """How often functions of this module are lowered for a gradient, and how often their primals are made."""
    lowered, transformed = collections.Counter[str](), collections.Counter[str]()
    lower, transform = pipeline.lower_function, pipeline.primal_pass.transform

    def counted_lower(f: Any, **options: Any) -> Any:
        lowered[f.__name__] += f.__module__ == __name__
        return lower(f, **options)

    def counted_transform(ir: Any, *given: Any) -> Any:
        transformed[ir.name] += ir.where.file == __file__
        return transform(ir, *given)

    monkeypatch.setattr(pipeline, "lower_function", counted_lower)
    monkeypatch.setattr(pipeline.primal_pass, "transform", counted_transform)
    pipeline._lowered.clear()
    cache_clear()
    gradient(function, np.array([1.5, 2.0, 3.0]))
    return +lowered, +transformed


ONCE = [
    plain, writes_into_argument, writes_attribute, deletes_item, writes_after_call, assigns_in_module, reads_exception,
    iterates_flat,
]  # fmt: skip


@pytest.mark.parametrize("function", ONCE, ids=lambda f: f.__name__)
def test_primal_is_made_once(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    lowered, transformed = made_again(function, monkeypatch)
    assert set(transformed.values()) == {1}, transformed
    # With handlers there are marks after effects where writes are tracked.
    assert lowered == {**transformed, function.__name__: 2 if function is reads_exception else 1}


def test_what_kinds_decide_is_found_by_the_primal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert made_again(adds_in_place, monkeypatch) == ({"adds_in_place": 1}, {"adds_in_place": 2})


def test_caller_of_what_writes_is_found_by_its_primal(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered, transformed = made_again(calls_what_writes, monkeypatch)
    assert lowered == {"calls_what_writes": 1, "writes_into_argument": 1}
    assert transformed == {"calls_what_writes": 2, "writes_into_argument": 1}
