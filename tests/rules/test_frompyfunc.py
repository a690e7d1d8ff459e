"""What np.frompyfunc makes: the arrays of objects that it gives carry derivatives, as far as they hold real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from microgradpy import DifferentiationError, gradient, jvp, opt_out, rrule, rrule_via_ad
from microgradpy.compiler import always_dispatch
from microgradpy.rules.registry import Example
from microgradpy.tangents.thunks import computed
from microgradpy.tangents.types import NotImplementedTangent
from microgradpy.testing.comparison import copied
from tests import finite_differences as fd
from tests.examples import EXAMPLES


def cubed(v):
    return v * v * v if v > 0.0 else -v


cube = np.frompyfunc(cubed, 1, 1)
both = np.frompyfunc(lambda v, w: (v * w, v + w * w), 2, 2)
sine = np.frompyfunc(np.sin, 1, 1)
whole = np.frompyfunc(lambda v: int(v + 0.25), 1, 1)
X = np.array([[0.5, -1.2, 2.0], [1.5, 0.3, -0.7]])


def with_astype(x):
    return np.sum(cube(x).astype(float) * x)


def with_asarray(x):
    return np.sum(np.asarray(cube(x), float) * np.array(cube(x), dtype=float))


def as_objects(x):
    return np.sum(cube(x) * x) + cube(x).sum() + np.mean(cube(x), axis=0)[1] + (cube(x) @ x.T)[0, 1]


def items(x):
    y = cube(x)
    total = float(y[0, 1]) * y[1, 2]
    for row in y:
        for item in row:
            total = total + item * item
    return total + y[1].sum() + y.T[0].astype(float)[1]


def several_results(x):
    a, b = both(x, x[0])
    return np.sum(a.astype(float) * np.sin(b.astype(float)))


def one_of_several_results(x):
    return np.sum(both(x, 2.0)[1].astype(float) ** 2)


def of_a_number(x):
    return cube(x[0, 0]) * x[0, 1] + both(x[0, 2], 3)[0]


def of_a_list(x):
    return np.sum(cube([x[0, 0], 2.0, x[1, 1]]).astype(float) * x[0])


def of_an_array_of_objects(x):
    return np.sum(cube(cube(x)).astype(float))


def captured(x):
    k = x[0, 0]
    scaled = np.frompyfunc(lambda v: v * k, 1, 1)
    return np.sum(scaled(x).astype(float) ** 2) + np.sum(scaled(np.arange(3.0)).astype(float))


def called(f, x):
    return np.sum(f(x).astype(float) ** 2)


def given_as_argument(x):
    return called(cube, x) + called({"f": sine}["f"], x)


def with_whole_numbers(x):
    return np.sum(whole(x).astype(float) * x)


def of_no_entries(x):
    return np.sum(cube(x[:0]).astype(float)) + x[0, 0] ** 2


def chosen(x):
    return np.sum(np.where(x > 0.0, cube(x), x).astype(float)) + np.sum(np.concatenate([cube(x[0]), x[1]]) * x[0, 0])


def into_complex_numbers(x):
    return np.sum(np.asarray(cube(x), complex) * (1j * x)).imag


PROGRAMS = [
    with_astype, with_asarray, as_objects, items, several_results, one_of_several_results, of_a_number, of_a_list,
    of_an_array_of_objects, captured, given_as_argument, with_whole_numbers, of_no_entries, chosen, into_complex_numbers,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f: Any) -> None:
    expected = fd.differences(lambda x: float(f(x.copy())), (X,))
    found = gradient(f, X.copy())[0]
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-6, atol=1e-7)
    with always_dispatch():
        np.testing.assert_allclose(gradient(f, X.copy())[0], found, rtol=1e-12)
    direction = np.cos(np.arange(6.0)).reshape(2, 3)
    y, y_dot = jvp(f, (X.copy(),), (direction,))
    assert y == f(X) and type(y) is type(f(X))
    np.testing.assert_allclose(y_dot, np.sum(found * direction), rtol=1e-10)


def test_the_value_is_that_of_numpy() -> None:
    for f, args in ((cube, (X,)), (cube, (2.0,)), (whole, (X.astype(np.float32),)), (both, (X, X[0])), (cube, (X[:0],))):
        found, expected = rrule_via_ad(f, *args)[0], f(*args)
        for y, z in zip(found, expected, strict=True) if f is both else ((found, expected),):
            assert type(y) is type(z) and np.shape(y) == np.shape(z)
            assert list(map(type, np.ravel(y).tolist())) == list(map(type, np.ravel(z).tolist()))
            np.testing.assert_array_equal(y, z)


def test_a_rule_for_it_is_taken() -> None:
    halved = np.frompyfunc(lambda v: v / 2.0, 1, 1)

    @rrule.register(halved)
    def halved_rrule(x: Any) -> Any:
        return x / 2.0, lambda y_bar: (None, 7.0 * y_bar)

    assert gradient(lambda x: halved(x) * 1.0, 3.0) == (7.0,)
    opt_out(halved)
    assert gradient(lambda x: halved(x) * 1.0, 3.0) == (0.5,)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_bmat_is_refused_and_block_named() -> None:
    with pytest.raises(DifferentiationError, match=r"a matrix is made(.|\n)*np\.block"):
        gradient(lambda x: np.asarray(np.bmat([[x, x], [x, x]])).sum(), X)


def objects_in_the_place_of(example: Example, place: int | None) -> Any:
    """The value of an example and the cotangents of its arguments, for seeds that are drawn, if one argument is made an array
    of objects."""
    args = list(copied(example.args))
    if place is not None:
        args[place] = args[place].astype(object)
    outcome = rrule(example.f, *args, **copied(example.kwargs))
    assert outcome is not None
    draw = np.random.default_rng(0)

    def seed(y: Any) -> Any:
        if isinstance(y, tuple | list):
            return (tuple if isinstance(y, tuple) else list)(map(seed, y))
        return draw.uniform(0.5, 1.5, np.shape(y)) if isinstance(y, np.ndarray) else draw.uniform(0.5, 1.5)

    return outcome[0], [computed(bar) for bar in outcome[1](seed(outcome[0]))[1:]]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, NotImplementedTangent) or isinstance(b, NotImplementedTangent):
        return type(a) is type(b)
    if a is None:  # a cotangent that is zero
        return b is None or not np.any(b)
    try:
        return bool(np.allclose(np.asarray(a, complex), np.asarray(b, complex), equal_nan=True))
    except (TypeError, ValueError):
        return type(a) is type(b)


@pytest.mark.filterwarnings("ignore")
def test_rules_of_arrays_of_objects_are_right_or_refuse() -> None:
    """Each rule, with each array as one of objects: what it does not refuse is what it gives for the numbers."""
    wrong, right = [], 0
    for example in EXAMPLES:
        places = [k for k, x in enumerate(example.args) if isinstance(x, np.ndarray) and x.dtype == np.float64 and x.ndim]
        if "scipy" in str(example) or not places:
            continue
        try:
            value, expected = objects_in_the_place_of(example, None)
        except Exception:  # a seed that this test cannot draw
            continue
        for place in places:
            try:
                y, found = objects_in_the_place_of(example, place)
            except (DifferentiationError, TypeError, ValueError, AttributeError, IndexError, NotImplementedError):
                continue  # by NumPy itself, or by the rule
            right += 1
            # Among objects NaN has no place in an order: what is sorted may stand in another one.
            if same(y, value) and not all(map(same, found, expected)):
                wrong.append((str(example), place))
    assert not wrong
    assert right > 1000
