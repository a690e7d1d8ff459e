"""Zeros of selections stay zero where the local derivative is infinite or NaN: in both modes and in all ways of computing."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import special

from microgradpy import gradient, jvp, pullback, pushforward
from tests.ways import WAYS

NAN, INF = np.nan, np.inf


def quiet() -> AbstractContextManager[None]:
    """The values of these programs warn where what is not chosen is computed."""
    return np.errstate(all="ignore")


class Case(NamedTuple):
    f: Callable[..., Any]
    args: tuple[Any, ...]
    expected: tuple[Any, ...]


CASES: list[Case] = []


def case(*args: Any, gives: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A program with arguments and its gradients there."""

    def declare(f: Callable[..., Any]) -> Callable[..., Any]:
        bars = gives if isinstance(gives, tuple) else (gives,)
        CASES.append(Case(f, tuple(map(_argument, args)), tuple(map(_argument, bars))))
        return f

    return declare


def _argument(x: Any) -> Any:
    return np.array(x) if isinstance(x, list) else x


# Choosing by conditions


@case([4.0, -1.0], gives=[0.25, 1.0])
@case([0.0, 1.0], gives=[1.0, 0.5])
def root_in_the_dead_branch(x):
    with quiet():
        return np.sum(np.where(x > 0, np.sqrt(x), x))


@case([1.0, 2.0], [0.0, 0.0], gives=([1.0, 1.0], [0.0, 0.0]))
def root_of_another_argument(x, s):
    return np.sum(np.where(x > 0, x, np.sqrt(s)))


@case([0.0, 1.0], gives=[0.0, -1.0])
@case([0.0, 0.0], gives=[0.0, 0.0])
def entropy(p):
    with quiet():
        return -np.sum(np.where(p > 0, p * np.log(p), 0.0))


def surprise(p):
    with quiet():
        return p * np.log(p)


@case([0.0, 1.0], gives=[0.0, 1.0])
def entropy_by_a_helper(p):
    return np.sum(np.where(p > 0, surprise(p), 0.0))


@case([1.0, 2.0], [0.0, 4.0], gives=([1.0, 0.25], [0.0, -0.125]))
def guarded_quotient(a, b):
    with quiet():
        return np.where(b != 0, a / b, a).sum()


@case([0.0, 2.0], 3.0, gives=([0.0, 3.0 * 2.0**2.0], 2.0**3.0 * math.log(2.0)))
def guarded_power(x, p):
    with quiet():
        return np.sum(np.where(x > 0, x**p, 0.0))


@case([0.0, 2.0], [1.0, 1.0], gives=([0.0, 1.0], [2.0 * math.log(2.0), 0.0]))
def column_of_roots(x, y):
    """What is repeated is summed after zeros were kept."""
    with quiet():
        return np.sum(np.where(x > 0, x ** y[:1], 0.0)) + 0.0 * np.sum(y[1:])


@case([[0.0, 4.0]], [0.0, 9.0], gives=([[0.0, 1.125]], [0.0, 0.5]))
def broadcast_masks(x, y):
    with quiet():
        product = np.sqrt(x) * np.sqrt(y)[:, None]
        return 1.5 * np.sum(np.where(product > 0, product, 0.0))[()]


@case([0.5, 2.0], gives=[1.0 / math.sqrt(0.75), 0.0])
def arcsine_inside_its_domain(x):
    with quiet():
        return np.select([np.abs(x) < 1, x > 1], [np.arcsin(x), 1.0], 0.0).sum()


@case([NAN, 2.0], gives=[0.0, 12.0])
@case([INF, 2.0], gives=[0.0, 12.0])
def cube_of_what_is_finite(x):
    with quiet():
        return np.sum((x * x * x)[np.isfinite(x)])


@case([INF, 0.5], gives=[0.0, math.exp(0.5)])
def infinite_exponential(x):
    with quiet():
        return np.sum(np.where(np.isinf(x), 0.0, np.exp(x)))


@case([0.0, 4.0], gives=[0.0, 0.25])
def stored_by_a_mask(x):
    out = np.zeros(2)
    root = np.sqrt(x)
    out[x > 0] = root[x > 0]
    return np.sum(out)


@case([0.0, 4.0], gives=[0.0, 0.25])
def overwritten(x):
    root = np.sqrt(x)
    root[0] = 5.0
    return np.sum(root)


@case([0.0, 0.5], gives=[1.0, 2.0])
def scipy_logarithm_in_the_dead_branch(x):
    with quiet():
        return np.sum(np.where(x > 0, special.xlogy(1.0, x), x))


@case([0.0, 2.0], gives=[0.0, 1.0 - special.digamma(2.0)])
def scipy_gammaln(x):
    with quiet():
        return np.sum(np.where(x > 0, x - special.gammaln(x), 0.0))


@case([0.0, 4.0], 3.0, gives=([1.0, 0.75], 2.0))
def chosen_by_number(x, s):
    with quiet():
        return np.sum(np.choose(x > 0, (x, np.sqrt(x) * s)))


FLAGS = np.array([0, 1])


@case([0.0, 4.0], gives=[1.0, 0.25])
def chosen_by_a_method(x):
    with quiet():
        return np.sum(np.array(FLAGS).choose((x, np.sqrt(x))))


@case([0.0, 4.0], gives=[0.0, -0.0625])
def chosen_by_a_method_of_an_unknown_array(x):
    """A method of a module's array, of which nothing is known beforehand."""
    with quiet():
        return np.sum(FLAGS.choose((5.0, 1.0 / x)))


@case([[0.0, 4.0], [INF, 9.0]], [1.0, 2.0], 0.5, gives=([[0.0, 2.0], [0.0, 2.0]], [0.0, 13.0], 2.0))
def selected_and_sorted(m, w, v):
    """What is repeated is summed after zeros were kept, also where it is not known before the run how."""
    with quiet():
        return np.sum(np.sort(np.select([(m > 0.0) & (m < INF)], [m * w], v), axis=1) + 0.0)


# Indices, iteration, sorting


@case([0.0, 4.0], gives=[0.0, 0.25])
def slice_of_a_root(x):
    return np.sum(np.sqrt(x)[1:])


@case([0.0, 4.0], gives=[0.0, 0.25])
def item_of_a_root(x):
    return np.sqrt(x)[-1]


@case([0.0, 4.0], gives=[0.0, 0.25])
def largest_root(x):
    return np.sort(np.sqrt(x))[-1]


@case([0.0, 4.0], gives=[0.0, 0.25])
def maximum_of_roots(x):
    return np.max(np.sqrt(x))


@case([0.0, 4.0], gives=[0.0, 0.25])
def taken_root(x):
    return np.take(np.sqrt(x), 1)


@case([0.0, 4.0], gives=[0.0, 0.25])
def unpacked_roots(x):
    _, b = np.sqrt(x)
    return b


@case([0.0, 4.0], gives=[0.0, 0.25])
def last_root_of_a_loop(x):
    last = 0.0
    for root in np.sqrt(x):
        last = root
    return last


@case([0.0, 4.0], gives=[0.0, 0.25])
def appended_roots(x):
    roots = []
    for root in np.sqrt(x):
        roots.append(root)
    return roots[1]


@case([0.0, 4.0], gives=[0.0, 0.25])
def reshaped_and_transposed(x):
    return np.sum(np.sqrt(x).reshape(2, 1).T[0, 1:])


@case([[0.0, 4.0], [9.0, 16.0]], gives=[[0.0, 0.25], [0.0, 0.125]])
def column_of_a_matrix_of_roots(x):
    return np.sum(np.sqrt(x) @ np.array([[0.0], [1.0]])[:, :]) if x.ndim == 1 else np.sum(np.sqrt(x)[:, 1])


@case([0.0, 4.0], gives=[0.0, 0.25])
def root_of_the_upper_triangle(x):
    return np.sum(np.triu(np.sqrt(np.stack([x, x])))[1])


# Reductions that leave out


@case([1.0, NAN], gives=[2.0, 0.0])
def sum_of_squares_without_nan(x):
    return np.nansum(x * x)


@case([NAN, 2.0], gives=[0.0, 0.5])
def mean_of_logarithms_without_nan(x):
    return np.nanmean(np.log(x))


@case([1.0, 2.0], [NAN, 3.0], gives=([0.0, 3.0], [0.0, 2.0]))
def weighted_sum_without_nan(x, w):
    return np.nansum(x * w)


@case([1.0, 2.0, NAN], gives=[0.0, math.cos(2.0), 0.0])
def largest_without_nan(x):
    return np.sin(np.nanmax(x)) + 0.0 * np.nanmin(x)


@case([[NAN, 1.0], [3.0, 4.0]], gives=[[0.0, 0.0], [0.6, 0.8]])
def norms_of_some_rows(x):
    return np.linalg.norm(x, axis=1)[1:].sum()


@case([[NAN, 1.0], [3.0, 4.0]], gives=[[0.0, 0.0], [4.0, 3.0]])
def products_of_some_rows(x):
    return np.prod(x, axis=1)[1:].sum()


@case([[NAN, 3.0], [1.0, 4.0]], gives=[[0.0, -0.5], [0.0, 0.5]])
def deviations_of_some_columns(x):
    return np.std(x, axis=0, keepdims=True)[0, 1]


MASK = np.array([False, True])


@case([0.0, 4.0], 3.0, gives=([0.0, 0.25], 1.0))
def partial_sum_from_a_start(x, s):
    return np.sum(np.sqrt(x), where=MASK, initial=s)


@case([0.0, 4.0], gives=[0.0, 0.25])
def reduction_of_a_part(x):
    return np.add.reduce(np.sqrt(x), where=MASK, initial=1.0)


@case([0.0, 4.0], gives=[0.0, -0.125])
def product_of_a_part(x):
    with quiet():
        return np.multiply.reduce(1.0 / x, axis=0, where=MASK, initial=2.0)


@case([0.0, 4.0], gives=[0.0, -0.0625])
def largest_of_a_part(x):
    with quiet():
        return np.maximum.reduce(np.reciprocal(x), where=MASK, initial=-1.0)


@case([0.0, 4.0], gives=[0.0, 0.25])
def reduction_of_a_part_where_something_is_written(x):
    seen = np.zeros(1)
    seen[0] = np.add.reduce(np.sqrt(x), axis=0, where=MASK, initial=1.0)
    return seen[0]


# Clips and branches


@case([2.0, 0.5], gives=[0.0, -0.5 / math.sqrt(0.5)])
def root_behind_minimum(x):
    return np.sum(np.sqrt(1.0 - np.minimum(x, 1.0)))


@case([-1.0, 0.25], gives=[0.0, 1.0])
def root_behind_clip(x):
    return np.sum(np.sqrt(np.clip(x, 0.0, 1.0)))


@case(2.0, gives=0.0)
@case(0.75, gives=-1.0)
def root_behind_a_branch(t):
    if t > 1:
        t = 1.0
    return 2 + math.sqrt(1.0 - t)


@case(2.0, gives=0.0)
def root_behind_min(t):
    return 2 + math.sqrt(1.0 - min(t, 1.0))


def limited(t):
    return min(t, 1.0)


@case(2.0, gives=0.0)
def root_behind_a_helper(t):
    return 2 + math.sqrt(1.0 - limited(t))


def complement_root(t):
    return math.sqrt(1.0 - t)


@case(2.0, gives=0.0)
def root_in_a_helper(t):
    return 2 + complement_root(min(t, 1.0))


@case(0.0, 0.0, gives=(0.0, 1.0))
def root_that_a_branch_does_not_use(s, t):
    root = math.sqrt(s)
    if t > 1:
        y = root * t
    else:
        y = t
    return y


@case(0.0, 3.0, gives=(0.0, 1.0))
def root_used_in_no_iteration(s, t):
    root, y = math.sqrt(s), t
    for k in range(3):
        if k > 5:
            y = y + root
    return y


# What is no selection


@case(0.0, gives=NAN)
def square_of_a_root(x):
    return math.sqrt(x) ** 2


@case([0.0, 4.0], gives=[NAN, 1.0])
def squares_of_roots(x):
    with quiet():
        return np.sum(np.sqrt(x) ** 2)


def squared(x):
    return x * x


@case([0.0, 4.0], gives=[NAN, 1.0])
def squares_by_a_helper(x):
    with quiet():
        return np.sum(squared(np.sqrt(x)))


@case(0.0, gives=NAN)
def nothing_of_a_root(x):
    return math.sqrt(x) * 0.0


@case([0.0, 4.0], gives=[INF, 0.5])
def used_twice(x):
    """That the root is also used elsewhere counts."""
    root = np.sqrt(x)
    return np.sum(root[1:]) + np.sum(root)


@case([[0.0, 1.0], [0.0, 0.0]], gives=[[NAN, 0.0], [NAN, 0.0]])
def maxima_that_a_loop_drops(a):
    b = a[0]
    for _ in range(2):
        b = a.max(-2)
    with quiet():
        return np.sum(np.sqrt(b) * 0.0)


IDS = [f"{number}-{case.f.__name__}" for number, case in enumerate(CASES)]


@pytest.fixture(autouse=True)
def _warnings_are_errors() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("number", range(len(CASES)), ids=IDS)
def test_gradient(number: int, way: str) -> None:
    f, args, expected = CASES[number]
    with WAYS[way]():
        _, back = pullback(f, *args)
        for found in (gradient(f, *args), back(1.0)[1:], back(1.0)[1:]):
            for bar, wanted in zip(found, expected, strict=True):
                np.testing.assert_allclose(bar, wanted, rtol=1e-12)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("number", range(len(CASES)), ids=IDS)
def test_unit_tangents(number: int, way: str) -> None:
    """Each partial derivative by the unit vector of its place."""
    f, args, expected = CASES[number]
    with WAYS[way]():
        for which, x in enumerate(args):
            for place in np.ndindex(np.shape(x)):
                unit = np.zeros(np.shape(x))
                unit[place] = 1.0
                dots = [np.zeros_like(arg) if isinstance(arg, np.ndarray) else 0.0 for arg in args]
                dots[which] = unit if isinstance(x, np.ndarray) else 1.0
                y_dot = jvp(f, args, tuple(dots))[1]
                np.testing.assert_allclose(y_dot, np.asarray(expected[which])[place], rtol=1e-12)
                np.testing.assert_allclose(pushforward(f, *args)[1](None, *dots), y_dot, rtol=1e-12)


def test_unit_seeds_have_strong_zeros() -> None:
    _, back = pullback(np.sqrt, np.array([0.0, 4.0]))
    np.testing.assert_array_equal(back(np.array([0.0, 1.0]))[1], [0.0, 0.25])
    _, back = pullback(lambda x: np.log(np.sqrt(x)), np.array([4.0, 1.0]))
    np.testing.assert_array_equal(back(np.array([0.0, 1.0]))[1], [0.0, 0.5])


def test_no_tangent_at_all() -> None:
    assert jvp(math.sqrt, (0.0,), (0.0,))[1] == 0.0
    assert jvp(lambda x, y: np.sqrt(x) * y, (0.0, 2.0), (0.0, 1.0))[1] == 0.0


def test_what_is_not_differentiated_may_have_any_slope() -> None:
    def f(x, y):
        return np.sum(np.sqrt(x)[1:] * y)

    x, y = np.array([0.0, 4.0]), np.array([3.0])
    for _ in range(4):  # the adjoint for the seed 1 too
        np.testing.assert_array_equal(gradient(f, x, y)[0], [0.0, 0.75])
