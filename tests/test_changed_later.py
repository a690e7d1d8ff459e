"""What the caller changes between a call and its pullback: refused where the adjoint may read it, and else without effect."""

from __future__ import annotations

import copy
import logging
import math

import numpy as np
import pytest

from microgradpy import MutationError, pullback, pushforward
from tests.ways import ALL

ARRAY = np.array([1.0, 2.0, 3.0])


def appended_copy(xs):
    ys = [x * 2.0 for x in xs]
    ys.append(1.0)
    return sum(ys) * xs[-1]


def product_of(xs):
    return math.prod(xs)


def of_a_table(table):
    return sum(table["y"]) * table["x"]


def of_weights(weights):
    total = weights.a
    for b in weights.b:
        total = total + b * total
    return total


def powers(x):
    return [x * x, x**3]


class Weights:
    def __init__(self):
        self.a, self.b = 2.0, [3.0, 1.0]


CHANGED = [
    (appended_copy, lambda: [1.0, 2.0], lambda xs, _: xs.append(4.0)),
    (appended_copy, lambda: [1.0, 2.0], lambda xs, _: xs.clear()),
    (product_of, lambda: [2.0, 3.0], lambda xs, _: xs.__setitem__(0, 50.0)),
    (of_a_table, lambda: {"x": 2.0, "y": [1.0, 2.0]}, lambda table, _: table["y"].append(5.0)),
    (of_a_table, lambda: {"x": 2.0, "y": [1.0, 2.0]}, lambda table, _: table.pop("x")),
    (of_weights, Weights, lambda weights, _: weights.b.pop()),
    (powers, lambda: 2.0, lambda _, y: y.reverse()),
]


@pytest.mark.parametrize("way", ALL.values(), ids=ALL)
@pytest.mark.parametrize(("f", "made", "change"), CHANGED)
def test_a_container_that_is_changed_before_the_pullback_is_refused(f, made, change, way):
    x = made()
    with way():
        y, back = pullback(f, x)
        seed = copy.deepcopy(y)
        before = repr(back(seed))
        change(x, y)
        with pytest.raises(MutationError, match="changed after the call of pullback"):
            back(seed)
        assert repr(pullback(f, made())[1](seed)) == before


COEFFICIENTS = [1.0, 2.0, 3.0]


def by_module(x):
    return np.polyval(COEFFICIENTS, x)


def by_default(x, coefficients=[1.0, 2.0, 3.0]):  # noqa: B006
    return np.polyval(coefficients, x)


def by_name(x, *, coefficients=None):
    return np.polyval(coefficients, x)


def captures(coefficients):
    return lambda x: np.polyval(coefficients, x)


LISTED = [1.0, 2.0, 3.0]
UNGIVEN = [
    (by_module, {}, COEFFICIENTS),
    (by_default, {}, by_default.__defaults__[0]),
    (by_name, {"coefficients": LISTED}, LISTED),
    (by_name, {"coefficients": ARRAY}, ARRAY),
    (captures(LISTED), {}, LISTED),
    (captures(ARRAY), {}, ARRAY),
]


@pytest.mark.parametrize("differentiate", [pullback, pushforward])
@pytest.mark.parametrize(("f", "named", "constants"), UNGIVEN)
def test_constants_that_are_changed_before_the_pullback_are_refused(f, named, constants, differentiate):
    _, back = differentiate(f, 2.0, **named)
    before = constants[0]
    constants[0] = 9.0
    try:
        with pytest.raises(MutationError, match="changed after the call of"):
            back(*(1.0,) if differentiate is pullback else (None, 1.0))
    finally:
        constants[0] = before


def test_a_list_that_the_function_itself_changes_may_be_changed_later():
    def longer(xs):
        xs.append(xs[0] * 2.0)
        return sum(xs)

    xs = [1.0, 2.0]
    _, back = pullback(longer, xs)
    xs.append(5.0)
    assert back(1.0) == (None, [3.0, 1.0])


LOGGER = logging.getLogger(__name__)


def test_a_logger_that_is_used_in_between_changes_nothing():
    def logged(x, *, unused=LOGGER):
        if x < 0.0:
            LOGGER.debug("negative")
        return x * x

    _, back = pullback(logged, 3.0, unused=LOGGER)
    LOGGER._cache[-1] = False  # as the first message of a level does
    logging.getLogger(f"{__name__}.child")
    assert back(1.0) == (None, 6.0)
