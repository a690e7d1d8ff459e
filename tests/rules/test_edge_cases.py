"""Points at which derivatives are rarely right by accident: zeros of powers, norms and products, ties, entries that repeat."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import CotangentShapeError, ProjectTo, gradient, pullback
from microgradpy.tangents.types import is_structural_zero

INF, NAN = math.inf, math.nan
F = np.float64


def power(x, p):
    return x**p


POWERS: list[tuple[float, float, float, float]] = [
    # x, p, x_bar, p_bar
    (1.0, 2.0, 2.0, 0.0),
    (2.0, 2.0, 4.0, 2.772588722239781),
    (0.0, 2.0, 0.0, 0.0),
    (-0.0, 2.0, 0.0, 0.0),
    (0.0, 1.0, 1.0, 0.0),
    (-0.0, 1.0, 1.0, 0.0),
    (0.0, 0.0, 0.0, NAN),
    (-0.0, 0.0, 0.0, NAN),
    (0.0, -1.0, -INF, NAN),
    (-0.0, -1.0, -INF, NAN),
    (0.0, -2.0, -INF, NAN),
    (-0.0, -2.0, INF, NAN),
    (0.0, 0.5, INF, 0.0),
    (0.0, 3.5, 0.0, 0.0),
    (0.0, -1.5, -INF, NAN),
]


@pytest.mark.parametrize(("x", "p", "x_bar", "p_bar"), POWERS)
def test_powers(x: float, p: float, x_bar: float, p_bar: float) -> None:
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(gradient(power, F(x), F(p)), (x_bar, p_bar))
        np.testing.assert_array_equal(gradient(np.power, F(x), F(p)), (x_bar, p_bar))
        arrays = pullback(power, np.array([x]), np.array([p]))[1](np.ones(1))[1:]
        np.testing.assert_array_equal(arrays, ([x_bar], [p_bar]))
        if p >= 0.0:  # Python's own numbers raise otherwise
            np.testing.assert_array_equal(gradient(power, x, p), (x_bar, p_bar))


def test_powers_of_whole_numbers() -> None:
    for x, p in ((1, 2), (2, 2), (0, 2), (0, 1)):
        bars = gradient(power, x, p)
        assert bars == gradient(power, float(x), float(p))
        assert all(type(bar) is float for bar in bars)
    with pytest.raises(ZeroDivisionError):
        gradient(power, 0, -1)


def running(f: Any, xs: Any, initial: Any) -> Any:
    return list(itertools.accumulate(xs, f, initial=initial))[1:]


def kept(xs: Any) -> Any:
    return sum([x for x in xs if x > 100.0], 0.0)


V0 = np.zeros(3)
SYMMETRIC = np.array([[1.0, 2.0], [-333.0, 4.0]])
Case = tuple[Callable[..., Any], tuple[Any, ...], Any, tuple[Any, ...]]
CASES: list[Case] = [
    # function, arguments, seed, cotangents
    (np.sign, (0.0,), 1.0, (0.0,)),
    (abs, (0.0,), 1.0, (0.0,)),
    (np.abs, (V0,), np.ones(3), (V0,)),
    *[(lambda x, p=p: np.linalg.norm(x, p), (V0,), 1.0, (V0,)) for p in (1, 2, INF, -INF, 2.5)],
    (np.linalg.norm, (np.zeros(0),), 1.0, (np.zeros(0),)),
    (np.linalg.norm, (np.zeros((2, 2)),), 1.0, (np.zeros((2, 2)),)),
    (np.std, (np.ones(3),), 1.0, (V0,)),
    (np.hypot, (0.0, 0.0), 1.0, (0.0, 0.0)),
    (math.hypot, (0.0, 0.0), 1.0, (0.0, 0.0)),
    (np.sinc, (0.0,), 1.0, (0.0,)),
    (np.angle, (0.5,), 1.0, (None,)),
    (np.prod, (np.array([2.0, 0.0, 3.0]),), 1.0, ([0.0, 6.0, 0.0],)),
    (np.prod, (np.array([2.0, 0.0, 0.0]),), 1.0, ([0.0, 0.0, 0.0],)),
    (lambda a: np.linalg.det(np.triu(a) + np.triu(a, 1).T), (SYMMETRIC,), 2.0, ([[8.0, -8.0], [0.0, 2.0]],)),
    (np.cumprod, (np.array([1.0, 2.0, 3.0]),), np.full(3, 0.5), ([4.5, 2.0, 1.0],)),
    (np.cumprod, (np.array([2.0, 0.0, 3.0, 0.0]),), np.ones(4), ([1.0, 8.0, 0.0, 0.0],)),
    (functools.partial(functools.reduce, operator.mul), ([1.0, 2.0, 3.0], 1.0), 7.0, ([42.0, 21.0, 14.0], 42.0)),
    (functools.partial(functools.reduce, operator.mul), ([1.0, 0.0, 2.0, 4.0],), 8.0, ([0.0, 64.0, 0.0, 0.0],)),
    (lambda w, xs: functools.reduce(lambda a, b: a * b * w, xs), (3.0, [5.0, 7.0, 11.0]), 1.0, (2310.0, [693.0, 495.0, 315.0])),
    (lambda xs: running(operator.mul, xs, 1.0), ([1.0, 2.0, 3.0, 4.0],), [1.0] * 4, ([33.0, 16.0, 10.0, 6.0],)),
    (lambda xs: np.array(running(operator.truediv, xs[1:], xs[0])), (np.array([1.0, 3.0, 2.0, 4.0]),), np.ones(3),
     ([0.5416666666666666, -0.18055555555555555, -0.10416666666666667, -0.010416666666666666],)),
    (np.unique, (np.array([1.0, 1.0, 2.0, 3.0]),), np.array([10.0, 20.0, 30.0]), ([10.0, 0.0, 20.0, 30.0],)),
    (lambda x: np.repeat(x, 4), (np.array([1.0, 2.0, 3.0]),), np.ones(12), ([4.0, 4.0, 4.0],)),
    (kept, ([1.0, 2.0],), 1.0, (None,)),
    (lambda x: x[0, [0, 0, 1]], (np.ones((2, 3)),), np.ones(3), ([[2.0, 1.0, 0.0], [0.0, 0.0, 0.0]],)),
    (lambda x: 1j * x, (np.array([1.0, 2.0, 3.0]),), np.array([4.0, 5.0j, 6.0 + 7.0j]), ([0.0, 5.0, 7.0],)),
    (lambda x: x * True, (np.array([1.0, 2.0]),), np.ones(2), ([1.0, 1.0],)),
    (operator.mul, (np.arange(1.0, 4.0)[:, None], np.arange(1.0, 3.0)[None, :]), np.ones((3, 2)), ([[3.0]] * 3, [[6.0, 6.0]])),
    (np.round, (1.5,), 1.0, (0.0,)),
    (np.floor, (2.0,), 1.0, (0.0,)),
    (np.ceil, (2.0,), 1.0, (0.0,)),
    (lambda x: 3 * x**2, (2,), 1.0, (12.0,)),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CASES)))
def test_edge_cases(number: int) -> None:
    function, arguments, seed, expected = CASES[number]
    with np.errstate(all="ignore"):
        bars = pullback(function, *arguments)[1](seed)[1:]
    for bar, wanted in zip(bars, expected, strict=True):
        if wanted is None or is_structural_zero(bar):
            assert not np.any(0.0 if is_structural_zero(bar) else bar) and not np.any(0.0 if wanted is None else wanted)
        else:
            np.testing.assert_allclose(bar, wanted, rtol=1e-9)


SIX = np.array([1.0, 2.0, 1.0, 2.0, 1.0, 2.0])
THIRD = 1.0 / 3.0
TIES: list[Case] = [
    # NumPy's split evenly, Python's and those that move entries take one.
    (np.max, (SIX,), 1.0, ([0.0, THIRD] * 3,)),
    (np.min, (SIX,), 1.0, ([THIRD, 0.0] * 3,)),
    (np.maximum, (1.0, 1.0), 1.0, (0.5, 0.5)),
    (np.minimum, (1.0, 1.0), 1.0, (0.5, 0.5)),
    (np.fmax, (1.0, 1.0), 1.0, (0.5, 0.5)),
    (np.fmin, (1.0, 1.0), 1.0, (0.5, 0.5)),
    (max, (1.0, 1.0), 1.0, (1.0, 0.0)),
    (min, (1.0, 1.0), 1.0, (1.0, 0.0)),
    (max, ([1.0, 2.0, 2.0],), 1.0, ([0.0, 1.0, 0.0],)),
    (lambda x: np.sort(x)[-1], (np.array([2.0, 2.0]),), 1.0, ([0.0, 1.0],)),
    (lambda x: np.clip(x, 0.0, 1.0), (0.0,), 1.0, (0.5,)),
    (lambda x: np.clip(x, 0.0, 1.0), (1.0,), 1.0, (0.5,)),
    (lambda x: np.max(x, axis=0), (np.array([[1.0, 2.0], [3.0, 4.0]]),), np.array([5.0, 6.0]), ([[0.0, 0.0], [5.0, 6.0]],)),
    (lambda x: np.min(x, axis=1), (np.array([[1.0, 2.0], [3.0, 4.0]]),), np.array([5.0, 6.0]), ([[5.0, 0.0], [6.0, 0.0]],)),
]


@pytest.mark.parametrize("number", range(len(TIES)))
def test_ties(number: int) -> None:
    function, arguments, seed, expected = TIES[number]
    bars = pullback(function, *arguments)[1](seed)[1:]
    for bar, wanted in zip(bars, expected, strict=True):
        np.testing.assert_allclose(0.0 if bar is None else bar, wanted, rtol=1e-12)


def test_comparisons_carry_nothing() -> None:
    assert gradient(lambda x: 1.0 * (x > 0.0), 2.0) in ((None,), (0.0,))


def test_products_that_underflow_are_small_and_not_nan() -> None:
    (bar,) = gradient(np.prod, np.array([1e-5, 1e-10, 1e-15, 1e-20], np.float32))
    assert bar.dtype == np.float32
    assert np.all(bar >= 0.0) and np.all(bar < 1e-29)


def test_projections() -> None:
    assert ProjectTo(1.0)(2.0 + 3.0j) == 2.0
    assert ProjectTo(1.0 + 2.0j)(3.0) == 3.0 + 0.0j
    assert type(ProjectTo(np.float32(1.0))(0.5)) is np.float32
    assert ProjectTo(1)(math.pi) == math.pi
    assert ProjectTo((1.0,))((1.0 + 1.0j,)) == (1.0,)
    with pytest.raises(CotangentShapeError, match="shape"):
        ProjectTo(np.zeros(3))(np.zeros(4))
