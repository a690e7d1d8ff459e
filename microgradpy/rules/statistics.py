"""NumPy's variance, standard deviation and weighted average."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import example, examples
from microgradpy.tangents.arithmetic import divide, reciprocal_or_zero, unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.linear import expand_reduced, mean_count, reduced_count, with_reduced_axes
from microgradpy.tangents.types import NoTangent

_VECTOR = np.array([0.7, -1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, -0.6, 1.3], [1.8, -1.1, 0.3, -0.4]])
_STACK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 - 1.5
_COMPLEX = np.array([[0.5 + 0.3j, -0.7 + 0.6j], [0.2 - 0.9j, 1.1 + 0.1j]])
_SHAPES = ((_VECTOR,), (_TABLE,), (_TABLE, 0), (_TABLE, -1), (_STACK, (0, 2)), (_COMPLEX, 0))


@pullback(np.var)
def var_pullback(y_bar, a, axis=None, *, ddof=0, keepdims=False):
    """a_bar = y_bar * 2 (a - mean) / (n - ddof), for n entries in a mean."""
    return var_bar(y_bar, a, axis, ddof, keepdims)


@cotangent_of(1)
def var_bar(y_bar: Any, a: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    """The cotangent of a under its variance."""
    deviation = a - np.mean(a, axis=axis, keepdims=True)
    with np.errstate(all="ignore"):
        scale = divide(2.0 * y_bar, reduced_count(a, axis) - ddof)
        return with_reduced_axes(scale, a, axis, keepdims) * deviation


@pullback(np.std)
def std_pullback(y_bar, a, axis=None, *, ddof=0, keepdims=False, y):
    """a_bar = y_bar * (a - mean) / ((n - ddof) y), and 0 where y = 0."""
    return std_bar(y_bar, a, y, axis, ddof, keepdims)


@cotangent_of(1)
def std_bar(y_bar: Any, a: Any, y: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    """The cotangent of a under its standard deviation y."""
    return var_bar(0.5 * y_bar * reciprocal_or_zero(y), a, axis, ddof, keepdims)


for _spread in (np.var, np.std):
    examples(_spread, *_SHAPES)
    examples(_spread, *_SHAPES, keepdims=True)
    examples(_spread, (_TABLE,), (_TABLE, 1), ddof=1)


@pullback(np.average)
def average_pullback(y_bar, a, axis=None, weights=None, *, keepdims=False, y):
    """y = sum(w a) / sum(w): a_bar = y_bar * w / sum(w), w_bar = y_bar * (a - y) / sum(w)."""
    return (
        average_bar(y_bar, a, axis, weights, keepdims),
        NoTangent(),
        average_weights_bar(y_bar, a, y, axis, weights, keepdims),
    )


@cotangent_of(1)
def average_bar(y_bar: Any, a: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    """The cotangent of a under its weighted average."""
    if weights is None:
        return expand_reduced(y_bar / mean_count(a, axis), a, axis, keepdims)
    w = _spread_weights(a, axis, weights)
    return unbroadcast(with_reduced_axes(y_bar, a, axis, keepdims) * np.conj(w / np.sum(w, axis=axis, keepdims=True)), a)


@cotangent_of(4)
def average_weights_bar(y_bar: Any, a: Any, y: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    """The cotangent of the weights of a weighted average y."""
    if weights is None:
        return None
    w = _spread_weights(a, axis, weights)
    deviation = np.conj((a - with_reduced_axes(y, a, axis, keepdims)) / np.sum(w, axis=axis, keepdims=True))
    w_bar = with_reduced_axes(y_bar, a, axis, keepdims) * deviation
    if np.shape(weights) != np.shape(a):
        w_bar = np.sum(w_bar, axis=tuple(i for i in range(np.ndim(a)) if i not in _axes(a, axis)))
        w_bar = np.transpose(w_bar, np.argsort(np.argsort(_axes(a, axis))))
    return unbroadcast(w_bar, weights)


def _axes(a: Any, axis: Any) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(np.ndim(a)))
    return tuple(one % np.ndim(a) for one in (axis if isinstance(axis, tuple) else (axis,)))


def _spread_weights(a: Any, axis: Any, weights: Any) -> np.ndarray:
    """The weights in a's shape: they may be given along the averaged axes only, in the order of `axis`."""
    w = np.asarray(weights)
    if w.shape != np.shape(a):
        axes = _axes(a, axis)
        w = np.expand_dims(np.transpose(w, np.argsort(axes)), tuple(i for i in range(np.ndim(a)) if i not in axes))
    return np.broadcast_to(w, np.shape(a))


_WEIGHTS = np.array([0.3, 1.1, 0.6])
examples(np.average, *_SHAPES, (_VECTOR, None, _WEIGHTS), (_TABLE, None, np.abs(_TABLE)), (_STACK, 1, _WEIGHTS))
_COMPLEX_WEIGHTS = _WEIGHTS + np.array([0.2j, -0.5j, 0.7j])
examples(np.average, (_COMPLEX_WEIGHTS, None, _COMPLEX_WEIGHTS**2), (_VECTOR, None, _COMPLEX_WEIGHTS))
example(np.average, _STACK, (2, 1), np.outer([0.4, 1.5], _WEIGHTS), keepdims=True)
