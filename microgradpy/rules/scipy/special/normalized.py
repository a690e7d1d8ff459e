"""scipy.special: logarithms of sums of exponentials, and exponentials that sum to one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import example, examples
from microgradpy.rules.scipy.special.operands import numbers
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.linear import with_reduced_axes
from microgradpy.tangents.types import NoTangent, is_structural_zero

_VECTOR = np.array([0.7, -1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_STACK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 - 1.5
_REAL = ((_VECTOR,), (_TABLE,), (_TABLE, 0), (_TABLE, -1), (_STACK, (0, 2)), (_STACK, 1), (_TABLE.astype(np.float32), 1),
         ([0.5, 1.5],), (0.6,))  # fmt: skip


@pullback(special.logsumexp)
def logsumexp_pullback(y_bar, a, axis=None, b=None, keepdims=False, return_sign=False, *, y):
    """y = log(sum(b exp(a))): a_bar = y_bar * b exp(a - y), b_bar = y_bar * exp(a - y). With `return_sign` y is the logarithm
    of the sum's absolute value, and these are times its sign."""
    return exponent_bar(y_bar, a, y, axis, b, keepdims), NoTangent(), factor_bar(y_bar, b, y, axis, a, keepdims)


def exponent_bar(y_bar: Any, a: Any, y: Any, axis: Any, b: Any, keepdims: bool) -> Any:
    """The cotangent of a."""
    weights = _weighted(y_bar, y, axis, a, b, keepdims)
    if weights is None:
        return None
    return unbroadcast(weights if b is None else weights * conj(numbers(b)), a)


def factor_bar(y_bar: Any, b: Any, y: Any, axis: Any, a: Any, keepdims: bool) -> Any:
    """The cotangent of b."""
    weights = None if b is None else _weighted(y_bar, y, axis, a, b, keepdims)
    return None if weights is None else unbroadcast(weights, b)


def _weighted(y_bar: Any, y: Any, axis: Any, a: Any, b: Any, keepdims: bool) -> Any:
    """y_bar * conj(sign * exp(a - y)), in the shape of b exp(a). A sum of zeros has no logarithm: there the weights are 0."""
    y, sign = y if isinstance(y, tuple) else (y, np.ones_like(y))  # SciPy returns the sign too if it is asked for
    y_bar = y_bar[0] if isinstance(y_bar, tuple) else y_bar
    if is_structural_zero(y_bar):
        return None
    whole = np.broadcast(a, 0.0 if b is None else b)
    y, y_bar, sign = (with_reduced_axes(part, whole, axis, keepdims) for part in (y, y_bar, sign))
    with np.errstate(all="ignore"):
        exponentials = np.where(np.equal(y, -np.inf), 0.0, np.exp(numbers(a) - np.where(np.equal(y, -np.inf), 0.0, y)))
        return y_bar * conj(np.conjugate(sign) * exponentials)


examples(special.logsumexp, *_REAL)
examples(special.logsumexp, *_REAL[:6], keepdims=True)
examples(special.logsumexp, (np.array([0.5 + 0.3j, -0.7 + 0.6j]),), (np.array([-np.inf, 0.3, -np.inf]),))
examples(special.logsumexp, (_TABLE, 1, np.abs(_VECTOR)), (_VECTOR, None, np.abs(_TABLE)))
examples(special.logsumexp, (_TABLE, 0, 2.5), (_TABLE, 1, [1, 2, 3]))
examples(special.logsumexp, (_TABLE, 1, _TABLE), (_TABLE, None, -np.abs(_VECTOR)), return_sign=True)
example(special.logsumexp, np.zeros((3, 0)), axis=0)


@pullback(special.softmax)
def softmax_pullback(y_bar, x, axis=None, *, y):
    """x_bar = y * (y_bar - sum(y_bar * y))."""
    return softmax_bar(y_bar, x, y, axis)


@cotangent_of(1)
def softmax_bar(y_bar: Any, x: Any, y: Any, axis: Any) -> Any:
    """The cotangent of x under its softmax y along `axis`."""
    weighted = y_bar * conj(y)
    return unbroadcast(weighted - conj(y) * np.sum(weighted, axis=axis, keepdims=True), x)


@pullback(special.log_softmax)
def log_softmax_pullback(y_bar, x, axis=None, *, y):
    """x_bar = y_bar - exp(y) * sum(y_bar)."""
    return log_softmax_bar(y_bar, x, y, axis)


@cotangent_of(1)
def log_softmax_bar(y_bar: Any, x: Any, y: Any, axis: Any) -> Any:
    """The cotangent of x under the logarithm y of its softmax along `axis`."""
    return unbroadcast(y_bar - np.exp(y) * np.sum(y_bar, axis=axis, keepdims=True), x)


examples(special.softmax, *_REAL, (np.zeros((0, 3)), 1))
examples(special.log_softmax, *_REAL, (np.zeros((0, 3)), 1))
