"""Window functions, of a number of points: only Kaiser's has a parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.mathematics.special import bessel_i1
from microgradpy.rules.registry import examples, non_differentiable
from microgradpy.tangents.arithmetic import divide, unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent

non_differentiable(np.bartlett, np.blackman, np.hamming, np.hanning)  # of a number of points
non_differentiable(np.bartlett, np.blackman, np.hamming, np.hanning)


@pullback(np.kaiser)
def kaiser_pullback(y_bar, M, beta, *, y):
    """y = I0(beta r) / I0(beta) with half a circle r: beta_bar = sum(y_bar * (r I1(beta r) - y I1(beta)) / I0(beta))."""
    return NoTangent(), kaiser_bar(y_bar, beta, y, M)


@cotangent_of(1)
def kaiser_bar(y_bar: Any, beta: Any, y: np.ndarray, M: Any) -> Any:
    """The cotangent of beta under the window y."""
    if len(y) < 2:
        return unbroadcast(0.0, beta)
    middle = 0.5 * (M - 1)
    r = np.sqrt(np.maximum(1.0 - ((np.arange(len(y)) - middle) / middle) ** 2, 0.0))
    with np.errstate(all="ignore"):
        slope = divide(r * bessel_i1(beta * r) - y * bessel_i1(beta), np.i0(beta))
        return unbroadcast(np.sum(y_bar * slope), beta)


examples(np.kaiser, (5, 2.5), (6, 0.0), (12, 14.0), (9, 45.0), (1, 2.0), (0, 2.0), (4, -1.5), (5, 3))
