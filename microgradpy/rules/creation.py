"""NumPy's functions that make arrays, and those that only ask about them.

What an array is made of may be active: `np.array([x, y])` is differentiated with respect to x and y. An ndarray is the
cotangent of a list of numbers or arrays too. Shapes, counts and types carry nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import example, examples, non_differentiable, rrule
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.casts import cuts_off, in_precision_of, made_of_bar
from microgradpy.tangents.types import NoTangent

non_differentiable(np.zeros, np.ones, np.empty, np.eye, np.identity, np.tri)
non_differentiable(np.zeros_like, np.ones_like, np.empty_like)
non_differentiable(np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj, np.isscalar, np.result_type, np.can_cast)
non_differentiable(np.min_scalar_type, np.common_type, np.promote_types, np.dtype, np.finfo, np.iinfo, np.issubdtype)
non_differentiable(np.broadcast_shapes, np.shares_memory, np.may_share_memory, np.errstate, np.array2string, np.bool)
non_differentiable(np.isdtype, np.isfortran, np.iterable, np.typename, np.mintypecode, np.einsum_path)
non_differentiable(np.binary_repr, np.base_repr)
non_differentiable(np.bartlett, np.blackman, np.hamming, np.hanning)  # of a number of points
non_differentiable(np.array_repr, np.array_str, np.format_float_positional, np.format_float_scientific)
non_differentiable(np.isnan, np.isinf, np.isfinite, np.isposinf, np.isneginf, np.iscomplex, np.isreal)
non_differentiable(np.isclose, np.allclose, np.array_equal, np.array_equiv, np.logical_and, np.logical_or)
non_differentiable(np.logical_not, np.logical_xor, np.less, np.less_equal, np.greater, np.greater_equal, np.equal)
non_differentiable(np.not_equal)

# Draws that have no parameter but their number and range are constants. Those with a location or scale are in `draws`.
# `choice` and `permutation` may hold active values.
for _source in (np.random, np.random.Generator, np.random.RandomState):
    for _name in ("random", "random_sample", "rand", "randn", "standard_normal", "standard_exponential", "randint"):
        if hasattr(_source, _name):
            non_differentiable(getattr(_source, _name))
non_differentiable(np.random.Generator.integers, np.random.Generator.bytes, np.random.bytes)
non_differentiable(np.random.default_rng, np.random.seed, np.random.RandomState, np.random.SeedSequence)
non_differentiable(np.random.standard_cauchy, np.random.Generator.standard_cauchy)

_VECTOR = np.array([0.7, -1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])


@pullback(np.array)
def array_pullback(y_bar, object, dtype=None, *, copy=True, order="K", y):
    """object_bar = y_bar."""
    return made_of_bar(y_bar, object, y)


@pullback(np.asarray)
def asarray_pullback(y_bar, a, dtype=None, *, order=None, y):
    """a_bar = y_bar."""
    return made_of_bar(y_bar, a, y)


@pullback(np.asanyarray)
def asanyarray_pullback(y_bar, a, dtype=None, *, order=None, y):
    """a_bar = y_bar."""
    return made_of_bar(y_bar, a, y)


@pullback(np.ascontiguousarray)
def ascontiguousarray_pullback(y_bar, a, dtype=None, *, y):
    """a_bar = y_bar, in a's shape: a number has become an array of one."""
    return made_of_bar(np.reshape(y_bar, np.shape(a)), a, y)


@pullback(np.copy)
def copy_pullback(y_bar, a, *, y):
    """a_bar = y_bar."""
    return made_of_bar(y_bar, a, y)


_NESTED = [[1.5, 2.5], [0.5, -1.0]]
for _maker in (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.copy):
    examples(_maker, (2.5,), (_VECTOR,), ([1.5, 2.5],), (_NESTED,), ([_VECTOR, _VECTOR + 1.0],), ((1.5, 2.5 + 1.0j),))
examples(np.array, ([1.5, 2.5],), (_VECTOR,), dtype=complex)
example(np.array, [_VECTOR[0], 2], dtype=float)


@pullback(np.float64)
def float64_pullback(y_bar, x):
    """x_bar = y_bar."""
    return unbroadcast(y_bar, x)


@pullback(np.complex128)
def complex128_pullback(y_bar, x):
    """x_bar = y_bar, its real part if x is real."""
    return unbroadcast(y_bar, x)


@pullback(np.float32)
def float32_pullback(y_bar, x):
    """x_bar = y_bar."""
    return unbroadcast(y_bar, x)


@pullback(np.int64)
def int64_pullback(y_bar, x, *, y):
    """x_bar = y_bar if x is an integer; none if x was rounded."""
    return made_of_bar(y_bar, x, y)


examples(np.int64, (2.5,))
examples(np.float64, (2.5,), (np.float64(1.5),))
examples(np.complex128, (2.5,), (1.5 + 0.5j,))
# At 0 single precision resolves the steps of finite differences.
examples(np.float32, (0.0,))


@pullback(np.full)
def full_pullback(y_bar, shape, fill_value, dtype=None, *, y):
    """fill_value_bar = y_bar summed over what it fills."""
    return NoTangent(), filled_bar(y_bar, fill_value, y)


@pullback(np.full_like)
def full_like_pullback(y_bar, a, fill_value, dtype=None, *, y):
    """fill_value_bar = y_bar summed over what it fills, and none if it was rounded to the integers that a holds."""
    return NoTangent(), filled_bar(y_bar, fill_value, y)


def filled_bar(y_bar: Any, fill_value: Any, y: Any) -> Any:
    """The cotangent of what fills y."""
    return None if cuts_off(fill_value, y) else unbroadcast(y_bar, fill_value)


examples(np.full, (3, 2.5), ((2, 3), 0.5), ((2, 3), _VECTOR), ((), 2.5))
examples(np.full_like, (_TABLE, 0.5), (_TABLE, _VECTOR), (np.arange(3), 0.5))


@pullback(np.linspace)
def linspace_pullback(y_bar, start, stop, num=50, endpoint=True):
    """y_i = (1 - t_i) start + t_i stop, for t_i evenly spaced from 0 to 1."""
    return (
        unbroadcast(weighted_sum(y_bar, np.linspace(1.0, 0.0, num, endpoint)), start),
        unbroadcast(weighted_sum(y_bar, np.linspace(0.0, 1.0, num, endpoint)), stop),
    )


@rrule.register(np.arange, arity=1)
def arange_to_rrule(stop, *, dtype=None):
    """The end of a range decides how many entries there are, not which."""

    def arange_to_pullback(y_bar):
        return NoTangent(), NoTangent()

    return np.arange(stop, dtype=dtype), arange_to_pullback


@pullback(np.arange)
def arange_pullback(y_bar, start, stop, step=1):
    """y_i = start + i step: start_bar = sum(y_bar), step_bar = sum(i y_bar)."""
    return unbroadcast(np.sum(y_bar), start), NoTangent(), unbroadcast(weighted_sum(y_bar, np.arange(np.size(y_bar))), step)


@rrule.register(np.arange, arity=0)
def arange_by_name_rrule(stop, start=0, step=1):
    """As above, where all is given by name."""

    def arange_by_name_pullback(y_bar):
        return (
            NoTangent(),
            NoTangent(),
            unbroadcast(np.sum(y_bar), start),
            unbroadcast(weighted_sum(y_bar, np.arange(np.size(y_bar))), step),
        )

    return np.arange(start=start, stop=stop, step=step), arange_by_name_pullback


def weighted_sum(y_bar: Any, weights: Any) -> Any:
    """The sum of y_bar along its first axis, with weights."""
    return np.tensordot(in_precision_of(y_bar, weights), y_bar, 1)[()]


examples(
    np.linspace, (0.5, 2.0), (0.5, 2.0, 5), (0.5, 2.0, 4, False), (_VECTOR, 1.5, 3), (0.5, 2.0, 1), (_VECTOR, _TABLE, 4)
)
examples(np.arange, (3.5,), (0.5, 3.7), (0.5, 3.7, 0.6), (4,))
example(np.arange, stop=4)
example(np.arange, start=0.5, stop=3.7)


@pullback(np.meshgrid, arity=2)
def meshgrid_pullback(z_bar, x, y, *, indexing="xy"):
    """Each vector gets its grid's cotangent, summed over the axes along which it was repeated."""
    return grid_bar(z_bar, x, 0, indexing), grid_bar(z_bar, y, 1, indexing)


def grid_bar(z_bar: Any, x: Any, number: int, indexing: str) -> Any:
    """The cotangent of vector `number` of a grid of two; None if its grid was not used."""
    if z_bar[number] is None:
        return None
    own_axis = 1 - number if indexing == "xy" else number
    return unbroadcast(np.reshape(np.sum(z_bar[number], axis=1 - own_axis), np.shape(x)), x)


examples(np.meshgrid, (_VECTOR, _VECTOR[:2]), (2.5, _VECTOR))
examples(np.meshgrid, (_VECTOR, _VECTOR[:2]), indexing="ij")
