"""Programs with the functions that have no rule: those that write, and those that call what they are given.

Also one whose rule has a derivative at a point only where no example can be: it would be a jump in the other argument."""

from __future__ import annotations

import operator
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgradpy import DifferentiationError, gradient, jvp
from tests import finite_differences as fd

X = np.array([[0.5, -1.2, 2.0], [1.5, 0.3, -0.7], [0.9, 1.1, 0.2]])


@dataclass(frozen=True)
class Program:
    """A function of one array with a real value."""

    f: Callable[[Any], Any]
    x: Any

    def is_right_backwards(self) -> bool:
        """Whether its gradient is that of finite differences, and not zero."""
        try:
            found = gradient(self.f, self.x.copy())[0]
        except DifferentiationError:
            return False
        expected = fd.differences(lambda x: self.f(x.copy()), (self.x,))
        return bool(np.any(expected) and np.allclose(np.ravel(found), expected, rtol=1e-6, atol=1e-7))

    def is_right_forwards(self) -> bool:
        """Whether its derivative along a tangent is the product of the gradient with it."""
        direction = np.cos(np.arange(self.x.size, dtype=float)).reshape(self.x.shape)
        try:
            _, found = jvp(self.f, (self.x.copy(),), (direction,))
            expected = np.sum(gradient(self.f, self.x.copy())[0] * direction)
        except DifferentiationError:
            return False
        return bool(np.isclose(found, expected, rtol=1e-10))


PROGRAMS: dict[str, Program] = {}


def _program(*names: str) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    def add(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        for name in names:
            PROGRAMS[name] = Program(f, X)
        return f

    return add


@_program("fill_diagonal")
def _fill_diagonal(x: Any) -> Any:
    y = x * x
    np.fill_diagonal(y, x[0] * x[1])
    return np.sum(y * x)


@_program("put")
def _put(x: Any) -> Any:
    y = x * x
    np.put(y, [0, 4], x[1, :2] ** 3)
    return np.sum(y * x)


@_program("put_along_axis")
def _put_along_axis(x: Any) -> Any:
    y = x * x
    np.put_along_axis(y, np.array([[0], [2], [1]]), x[:, :1] ** 3, 1)
    return np.sum(y * x)


@_program("putmask")
def _putmask(x: Any) -> Any:
    y = x * x
    np.putmask(y, x > 1.0, x**3)
    return np.sum(y * x)


@_program("place")
def _place(x: Any) -> Any:
    y = x * x
    np.place(y, x > 1.0, x[0] ** 3)
    return np.sum(y * x)


@_program("copyto")
def _copyto(x: Any) -> Any:
    y = x * x
    np.copyto(y, x**3, where=x > 0.0)
    return np.sum(y * x)


@_program("apply_along_axis")
def _apply_along_axis(x: Any) -> Any:
    return np.sum(np.apply_along_axis(lambda row: row * np.sum(row**2), 1, x) * x)


@_program("apply_over_axes")
def _apply_over_axes(x: Any) -> Any:
    return np.sum(np.apply_over_axes(np.sum, x**2, [0, 1]) * x)


@_program("piecewise")
def _piecewise(x: Any) -> Any:
    return np.sum(np.piecewise(x, [x < 0.0, x >= 0.0], [lambda v: v**2, lambda v: v**3]) * x)


@_program("frompyfunc")
def _frompyfunc(x: Any) -> Any:
    return np.sum(np.frompyfunc(lambda v, w: v * v * w, 2, 1)(x, x[0]).astype(float) * x)


@_program("fromfunction")
def _fromfunction(x: Any) -> Any:
    return np.sum(np.fromfunction(lambda i, j: x[0, 0] ** 2 * i + x[1, 1] * j, (3, 3)) * x)


@_program("fromiter")
def _fromiter(x: Any) -> Any:
    return np.sum(np.fromiter((v * v for v in x[0]), float) * x[1])


@_program("heaviside")
def _heaviside(x: Any) -> Any:
    return np.sum(np.heaviside([0.0, 1.0, 0.0], x) * x)  # differentiable in the value at the jump


@_program("ndarray.fill")
def _fill(x: Any) -> Any:
    y = x * x
    y[0].fill(x[1, 1] ** 2)
    return np.sum(y * x)


@_program("ndarray.put")
def _method_put(x: Any) -> Any:
    y = x * x
    y.put([0, 4], x[1, :2] ** 3)
    return np.sum(y * x)


@_program("ndarray.sort")
def _sort(x: Any) -> Any:
    y = x * x
    y.sort(axis=0)
    return np.sum(y * x)


@_program("ndarray.partition")
def _partition(x: Any) -> Any:
    y = x * x
    y.partition(1, axis=0)
    return np.sum(y * x)


@_program("operator.setitem")
def _setitem(x: Any) -> Any:
    y = x * x
    operator.setitem(y, 0, x[1] ** 3)
    return np.sum(y * x)


# The source of these is differentiated.


@_program("statistics.covariance")
def _covariance(x: Any) -> Any:
    return statistics.covariance(list(x[0]), list(x[1] ** 2))


@_program("statistics.geometric_mean")
def _geometric_mean(x: Any) -> Any:
    return statistics.geometric_mean(list(x[0] ** 2))


@_program("statistics.median", "statistics.median_high", "statistics.median_low")
def _median(x: Any) -> Any:
    row = list(x[0] ** 2)
    return statistics.median(row) + 2.0 * statistics.median_low(row) + 3.0 * statistics.median_high(row[:2])


@_program("statistics.quantiles")
def _quantiles(x: Any) -> Any:
    return sum(statistics.quantiles(list(x[0] ** 2), n=3))
