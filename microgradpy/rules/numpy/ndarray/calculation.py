"""Calculation: the functions of the same names, as methods."""

from __future__ import annotations

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.indexing import diagonal_bar
from microgradpy.rules.numpy.mathematics.extrema import ceiling_bar, clip_bar, extremum_bar, floor_bar
from microgradpy.rules.numpy.mathematics.sums import cumprod_bar, cumsum_bar, prod_bar
from microgradpy.rules.numpy.statistics.averages import std_bar, var_bar
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.tangents.arithmetic import conj, real_like
from microgradpy.tangents.linear import dot_left_bar, dot_right_bar, expand_reduced, mean_count
from microgradpy.tangents.types import NoTangent


@pullback(np.ndarray.conj)
@pullback(np.generic.conj)
@pullback(np.ndarray.conjugate)
@pullback(np.generic.conjugate)
def array_conjugate_pullback(y_bar, self):
    """self_bar = conj(y_bar)."""
    return conj(y_bar)


_VECTOR = np.array([0.7, -1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_STACK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 - 1.5
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j, 0.4 - 1.2j])
_NUMBER = np.float64(1.3)
_REDUCED = ((_VECTOR,), (_TABLE,), (_TABLE, 0), (_STACK, -1), (_STACK, (0, 2)))


@pullback(np.ndarray.sum)
@pullback(np.generic.sum)
def array_sum_pullback(y_bar, self, axis=None, *, keepdims=False):
    """self_bar = y_bar, repeated."""
    return expand_reduced(y_bar, self, axis, keepdims)


@pullback(np.ndarray.mean)
@pullback(np.generic.mean)
def array_mean_pullback(y_bar, self, axis=None, *, keepdims=False):
    """self_bar = y_bar / n, repeated."""
    return expand_reduced(y_bar / mean_count(self, axis), self, axis, keepdims)


@pullback(np.ndarray.prod)
@pullback(np.generic.prod)
def array_prod_pullback(y_bar, self, axis=None, *, keepdims=False):
    """self_bar = y_bar * (the product of the other entries)."""
    return prod_bar(y_bar, self, axis, keepdims)


@pullback(np.ndarray.max)
@pullback(np.generic.max)
@pullback(np.ndarray.min)
@pullback(np.generic.min)
def array_extremum_pullback(y_bar, self, axis=None, *, keepdims=False, y):
    """The entries that are the largest, or the smallest, share y_bar evenly."""
    return extremum_bar(y_bar, self, y, axis, keepdims)


@pullback(np.ndarray.var)
@pullback(np.generic.var)
def array_var_pullback(y_bar, self, axis=None, *, ddof=0, keepdims=False):
    """self_bar = y_bar * 2 (self - mean) / (n - ddof)."""
    return var_bar(y_bar, self, axis, ddof, keepdims)


@pullback(np.ndarray.std)
@pullback(np.generic.std)
def array_std_pullback(y_bar, self, axis=None, *, ddof=0, keepdims=False, y):
    """self_bar = y_bar * (self - mean) / ((n - ddof) y), 0 where y = 0."""
    return std_bar(y_bar, self, y, axis, ddof, keepdims)


for _class in (np.ndarray, np.generic):
    for _name in ("sum", "mean", "prod", "max", "min", "var", "std"):
        _method = getattr(_class, _name)
        examples(_method, *(_REDUCED if _class is np.ndarray else ((_NUMBER,),)))
        if _class is np.ndarray:
            examples(_method, *_REDUCED, keepdims=True)
examples(np.ndarray.var, (_TABLE,), (_TABLE, 1), ddof=1)


@pullback(np.ndarray.cumsum)
@pullback(np.generic.cumsum)
def array_cumsum_pullback(y_bar, self, axis=None):
    """self_bar_i = the sum of y_bar_k for k >= i."""
    return cumsum_bar(y_bar, self, axis)


@pullback(np.ndarray.cumprod)
@pullback(np.generic.cumprod)
def array_cumprod_pullback(y_bar, self, axis=None):
    """self_bar as for np.cumprod, exact with zeros."""
    return cumprod_bar(y_bar, self, axis)


examples(np.ndarray.prod, (_TABLE[:0], 1), (np.array(2.5), 0))
examples(np.generic.cumsum, (_NUMBER,))
examples(np.generic.cumprod, (_NUMBER,))
for _run in (np.ndarray.cumsum, np.ndarray.cumprod):
    example(_run, np.array(2.5), 0)
    examples(_run, (_VECTOR,), (_TABLE,), (_TABLE, 1))


@rrule.register(np.ndarray.dot)
def array_dot_rrule(self, b):
    """As np.dot."""
    y = self.dot(b)
    if np.ndim(self) == 2:
        if np.ndim(b) == 2:

            def matrix_product_pullback(y_bar):
                return NoTangent(), real_like(y_bar @ conj(b).T, self), real_like(conj(self).T @ y_bar, b)

            return y, matrix_product_pullback

    def array_dot_pullback(y_bar):
        return NoTangent(), dot_left_bar(y_bar, self, b), dot_right_bar(y_bar, self, b)

    return y, array_dot_pullback


examples(np.ndarray.dot, (_TABLE, _VECTOR), (_TABLE, _TABLE.T), (_VECTOR, _VECTOR), (_TABLE, 2.0), (_COMPLEX, _VECTOR))


@rrule.register(np.ndarray.clip)
@rrule.register(np.generic.clip)
def array_clip_rrule(self, min=None, max=None):
    """As np.clip: half the cotangent passes at an edge."""

    def array_clip_pullback(y_bar):
        return (
            NoTangent(),
            clip_bar(y_bar, self, min, max),
            floor_bar(y_bar, self, min, max),
            ceiling_bar(y_bar, self, min, max),
        )

    return self.clip(min, max), array_clip_pullback


examples(np.ndarray.clip, (_TABLE, -0.5, 1.0), (_TABLE, None, 0.8), (_TABLE, _VECTOR - 1.0), (_TABLE, 0.5, None))
example(np.generic.clip, _NUMBER, -0.5, 1.0)


@pullback(np.ndarray.trace)
def array_trace_pullback(y_bar, self, offset=0, axis1=0, axis2=1):
    """y_bar on the diagonal, zero elsewhere."""
    return diagonal_bar(np.expand_dims(y_bar, -1), self, offset, axis1, axis2)


examples(np.ndarray.trace, (_TABLE,), (_TABLE, 1), (_STACK, 0, 1, 2))
