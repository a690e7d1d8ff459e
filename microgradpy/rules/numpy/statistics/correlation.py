"""NumPy's covariance and correlation matrices.

The variables are the rows of a matrix X, from which their means have been taken. The mean itself needs no attention: what X
gets sums to zero along each row, since the deviations do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.mathematics.miscellaneous import whole_convolution
from microgradpy.rules.registry import example, examples
from microgradpy.tangents.arithmetic import conj, divide, unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent

_VECTOR = np.array([0.7, -1.4, 2.2, 0.4])
_TABLE = np.array([[0.9, 2.1, -0.6, 1.3], [1.8, -1.1, 0.3, -0.4], [0.2, 0.7, -1.9, 1.1]])
_COMPLEX = _TABLE + 1j * _TABLE[::-1] ** 2


@pullback(np.cov)
def cov_pullback(c_bar, m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, c):
    """C = X W X^H / f: X_bar = (C_bar + C_bar^H) X W / f, and the k-th weight gets Re(x_k^H C_bar x_k) / f, x_k being the
    k-th column of X, less Re<C_bar, C> / f times the derivative of f."""
    return (
        cov_bar(c_bar, m, y, rowvar, bias, ddof, fweights, aweights, 0),
        cov_bar(c_bar, m, y, rowvar, bias, ddof, fweights, aweights, 1),
        NoTangent(),
        NoTangent(),
        NoTangent(),
        NoTangent(),
        cov_weights_bar(c_bar, m, y, rowvar, bias, ddof, fweights, aweights),
    )


def cov_bar(c_bar: Any, m: Any, y: Any, rowvar: Any, bias: Any, ddof: Any, fweights: Any, aweights: Any, number: int) -> Any:
    """The cotangent of m (number 0) or y (number 1) under their covariance."""
    x = _variables(m, y, rowvar)
    w, f, _ = _weights(x, bias, ddof, fweights, aweights)
    with np.errstate(all="ignore"):
        x_bar = _both(c_bar, x) @ (_deviations(x, w) * w) * divide(1.0, f)
    return _part(x_bar, m, y, rowvar, number)


@cotangent_of(7)
def cov_weights_bar(c_bar: Any, m: Any, y: Any, rowvar: Any, bias: Any, ddof: Any, fweights: Any, aweights: Any) -> Any:
    """The cotangent of the weights `aweights` of a covariance."""
    if aweights is None:
        return None
    x = _variables(m, y, rowvar)
    w, f, f_by_weight = _weights(x, bias, ddof, fweights, aweights)
    deviations = _deviations(x, w)
    counts = 1.0 if fweights is None else np.asarray(fweights)
    c_bar = np.reshape(c_bar, (len(x), len(x)))
    with np.errstate(all="ignore"):
        shares = np.real(np.sum(conj(deviations) * (c_bar @ deviations), axis=0)) * counts * divide(1.0, f)
        return unbroadcast(shares - np.sum(shares * np.asarray(aweights)) * divide(1.0, f) * f_by_weight, aweights)


def _variables(m: Any, y: Any, rowvar: Any) -> np.ndarray:
    """The matrix whose rows are the variables, those of m before those of y."""
    first = np.array(m, ndmin=2)
    first = first.T if not rowvar and np.ndim(m) != 1 else first
    return first if y is None else np.concatenate((first, _second(y, rowvar)), axis=0)


def _second(y: Any, rowvar: Any) -> np.ndarray:
    second = np.array(y, ndmin=2)
    return second.T if not rowvar and len(second) != 1 else second


def _deviations(x: np.ndarray, w: Any) -> np.ndarray:
    return x - np.sum(x * w, axis=1, keepdims=True) / np.sum(w)


def _weights(x: np.ndarray, bias: Any, ddof: Any, fweights: Any, aweights: Any) -> tuple[Any, Any, Any]:
    """The weight of each observation, the number f by which sums are divided, and its derivative by `aweights`."""
    ddof = (0 if bias else 1) if ddof is None else ddof
    counts = np.ones(x.shape[1]) if fweights is None else np.asarray(fweights, dtype=float)
    if aweights is None:
        return counts, max(np.sum(counts) - ddof, 0.0), None
    a = np.asarray(aweights)
    w = counts * a
    total, doubled = np.sum(w), np.sum(w * a)
    f = total - ddof * doubled / total
    return w, max(f, 0.0), counts * (1.0 - ddof * (2.0 * a / total - doubled / total**2))


def _both(c_bar: Any, x: np.ndarray) -> np.ndarray:
    """c_bar + c_bar^H, of a matrix that may have been given as a number."""
    c_bar = np.reshape(c_bar, (len(x), len(x)))
    return c_bar + conj(c_bar).T


def _part(x_bar: np.ndarray, m: Any, y: Any, rowvar: Any, number: int) -> Any:
    """What m (number 0) or y (number 1) has of the cotangent of all variables, in its shape."""
    if number and y is None:
        return None
    count = len(x_bar) if y is None else len(x_bar) - len(_second(y, rowvar))
    x, part = (y, x_bar[count:]) if number else (m, x_bar[:count])
    is_turned = not rowvar and (np.ndim(m) != 1 if number == 0 else len(np.array(y, ndmin=2)) != 1)
    return unbroadcast(np.reshape(part.T if is_turned else part, np.shape(x)), x)


@pullback(np.corrcoef)
def corrcoef_pullback(r_bar, x, y=None, rowvar=True):
    """R = U U^H for the rows u of X, divided by their lengths l: U_bar = (R_bar + R_bar^H) U, and a row of X gets what is
    orthogonal to u of u_bar, over l."""
    return corrcoef_bar(r_bar, x, y, rowvar, 0), corrcoef_bar(r_bar, x, y, rowvar, 1)


def corrcoef_bar(r_bar: Any, x: Any, y: Any, rowvar: Any, number: int) -> Any:
    """The cotangent of x (number 0) or y (number 1) under their correlation."""
    rows = _variables(x, y, rowvar)
    deviations = _deviations(rows, np.ones(rows.shape[1]))
    lengths = np.sqrt(np.sum(np.abs(deviations) ** 2, axis=1, keepdims=True))
    with np.errstate(all="ignore"):
        u = divide(deviations, lengths)
        u_bar = _both(r_bar, rows) @ u
        rows_bar = divide(u_bar - u * np.real(np.sum(conj(u) * u_bar, axis=1, keepdims=True)), lengths)
    return _part(rows_bar, x, y, rowvar, number)


_MATRICES = ((_TABLE,), (_VECTOR,), (_TABLE, _VECTOR), (_TABLE, _TABLE[:2] ** 2), (_COMPLEX,), (_VECTOR, _COMPLEX))
for _function in (np.cov, np.corrcoef):
    examples(_function, *_MATRICES, (_TABLE, None, False), (_TABLE.T, _VECTOR, False), (_VECTOR, _VECTOR**2, False))
    examples(_function, (_TABLE, _TABLE**2, False), ([[0.5, 1.5, -1.0], [1.0, 0.0, 0.5]],), (_TABLE.T, _TABLE.T[:, :1], False))
examples(np.cov, (_TABLE, None, True, True), (_TABLE, None, True, False, 0), (_TABLE, _VECTOR, True, False, 2))
_COUNTS, _WEIGHTS = np.array([1, 3, 2, 1]), np.array([0.5, 1.5, 0.9, 0.3])
examples(np.cov, (_TABLE, None, True, False, None, _COUNTS), (_TABLE, _VECTOR, True, True, None, _COUNTS))
for _matrix in (_TABLE, _VECTOR, _COMPLEX):
    example(np.cov, _matrix, None, True, False, None, _COUNTS, _WEIGHTS)
    example(np.cov, _matrix, None, True, False, None, None, _WEIGHTS)
    example(np.cov, _matrix, _matrix**2, True, True, None, None, _WEIGHTS)

_LINE = np.array([0.7, -1.4, 2.2, 0.1])
_SHORT = np.array([1.3, 0.4, -0.8])
_GRID = np.sin(np.arange(12.0) * 1.7).reshape(3, 4)
_PLANE = _GRID + 1j * _GRID[::-1] ** 2


@pullback(np.correlate)
def correlate_pullback(z_bar, a, v, mode="valid"):
    """z_k = sum(a_(n+k) conj(v_n)): a_bar_i = sum(z_bar_k v_(i-k)), v_bar_n = sum(conj(z_bar_k) a_(n+k))."""
    return correlated_bar(z_bar, a, v), correlated_with_bar(z_bar, v, a)


@cotangent_of(1)
def correlated_bar(z_bar: Any, a: Any, v: Any) -> Any:
    """The cotangent of a under np.correlate(a, v)."""
    whole = whole_convolution(z_bar, np.size(a) + np.size(v) - 1, np.size(a) < np.size(v))
    return unbroadcast(np.reshape(np.convolve(whole, np.ravel(v), "valid"), np.shape(a)), a)


@cotangent_of(1)
def correlated_with_bar(z_bar: Any, v: Any, a: Any) -> Any:
    """The cotangent of v under np.correlate(a, v)."""
    whole = whole_convolution(z_bar, np.size(a) + np.size(v) - 1, np.size(a) < np.size(v))
    v_bar = conj(np.correlate(whole, np.ravel(a), "valid"))[::-1]
    return unbroadcast(np.reshape(v_bar, np.shape(v)), v)


_LINES = (
    (_LINE, _SHORT),
    (_SHORT, _LINE),
    (_LINE, _SHORT[:2]),
    (_SHORT[:2], np.tile(_LINE, 2)),
    (_LINE, _LINE + 0.5),
    (_PLANE[0], _SHORT),
    (_SHORT, _PLANE[1]),
    (_PLANE[0], _PLANE[1, :2]),
    (_PLANE[0, :2], _PLANE[1]),
    (_LINE, _SHORT[:1]),
    ([0.5, 1.5], [2.0, 3.0, 4.0]),
)
examples(np.correlate, _LINES[0], _LINES[1])
