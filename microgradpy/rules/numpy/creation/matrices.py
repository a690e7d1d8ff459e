"""Building matrices: diagonals, triangles, powers."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.indexing import diagonal_bar
from microgradpy.rules.registry import examples, non_differentiable
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.helpers import cotangent_of


def _table(*shape: int) -> np.ndarray:
    """An array of irregular numbers, of both signs and the given shape."""
    return np.sin(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)) * 1.7 + len(shape)).reshape(shape)


@pullback(np.diag)
def diag_pullback(y_bar, v, k=0):
    """The diagonal of a matrix, or the matrix with a diagonal."""
    return diag_bar(y_bar, v, k)


@cotangent_of(1)
def diag_bar(y_bar: Any, v: Any, k: int) -> Any:
    """The cotangent of v under np.diag(v, k)."""
    return np.diag(y_bar, k) if np.ndim(v) == 1 else diagonal_bar(y_bar, v, k, 0, 1)


examples(np.diag, (_table(3),), (_table(2, 3),), (_table(3, 3), 1), (_table(2), -1))


@pullback(np.triu)
@pullback(np.tril)
def triangle_pullback(y_bar, m, k=0, *, f):
    """m_bar = the same triangle of y_bar."""
    return unbroadcast(f(y_bar, k), m)


for _triangle in (np.triu, np.tril):
    examples(_triangle, (_table(3, 3),), (_table(2, 3), 1), (_table(2, 3, 2), -1), (_table(3),))
non_differentiable(np.eye, np.identity, np.tri)

_VECTOR = np.array([0.5, -1.5, 2.5])
_TABLE = np.arange(1.0, 7.0).reshape(2, 3)
_COMPLEX = _TABLE + 0.5j


@pullback(np.diagflat)
def diagflat_pullback(y_bar, v, k=0):
    """v_bar = the diagonal of y_bar, in v's shape."""
    return unbroadcast(np.reshape(np.diagonal(y_bar, k), np.shape(v)), v)


examples(np.diagflat, (_VECTOR,), (_TABLE, 1), (2.5, -2), (_COMPLEX,), ([0.5, 1.5],))

_LINE = np.array([0.7, -1.4, 2.2, 0.1])
_GRID = np.sin(np.arange(12.0) * 1.7).reshape(3, 4)
_PLANE = _GRID + 1j * _GRID[::-1] ** 2


@pullback(np.vander)
def vander_pullback(y_bar, x, N=None, increasing=False, *, y):
    """Columns of powers p of x, of which each has the derivative p x^(p-1), p times the next lower column."""
    return vander_bar(y_bar, x, y, increasing)


@cotangent_of(1)
def vander_bar(y_bar: Any, x: Any, y: Any, increasing: bool) -> Any:
    """The cotangent of x under its matrix of powers y."""
    if not increasing:
        y_bar, y = y_bar[:, ::-1], y[:, ::-1]
    powers = np.arange(1, max(y.shape[1], 1), dtype=np.result_type(np.real(y_bar)))
    with np.errstate(all="ignore"):
        return unbroadcast(np.sum(y_bar[:, 1:] * powers * conj(y[:, :-1]), axis=1), x)


examples(np.vander, (_LINE,), (_LINE, 3), (_LINE, 6, True), (_PLANE[0], 3), (_LINE, 1), (_LINE, 0), ([0.5, 0.0],))
