"""Options of NumPy's functions by which they do more: several results, other axes, entries that are put in front.

As in `reduction_options`, the value is that of the user's call, and these rules are called.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.joining import concatenate_bar
from microgradpy.rules.reduction_options import fitted
from microgradpy.rules.registry import Rule, example, examples, rrule
from microgradpy.rules.singular import pinv_bar
from microgradpy.tangents.arithmetic import real_like, unbroadcast
from microgradpy.tangents.casts import made_of_bar
from microgradpy.tangents.types import NoTangent, accumulate, is_structural_zero

_NOT_GIVEN: Any = np._NoValue
_VECTOR = np.array([0.7, -1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])


def plain_bars(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], y_bar: Any) -> list[Any]:
    """The cotangents of the positional arguments of a call that a plain rule takes."""
    made = rrule(f, *args, **kwargs)
    assert made is not None
    bars = made[1](y_bar)[1:]
    return [*bars, *(NoTangent(),) * (len(args) - len(bars))]


@rrule.register(np.array, options=True)
def array_with_options_rrule(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, like=None):
    """object_bar = y_bar without the axes that were added."""
    if like is not None:
        raise MissingRuleError("np.array with `like`", None, "Convert the result.")
    y = np.array(object, dtype=dtype, copy=copy, order=order, subok=subok, ndmin=ndmin)
    shape = np.shape(object)

    def array_with_options_pullback(y_bar):
        return NoTangent(), made_of_bar(np.reshape(y_bar, shape), object, y), NoTangent()

    return y, array_with_options_pullback


examples(np.array, (_VECTOR,), ([0.5, 1.5],), (2.5,), (_TABLE, complex), (_TABLE, int), ndmin=2)
example(np.array, _VECTOR, subok=True, ndmin=3, copy=None)


@rrule.register(np.linalg.pinv, options=True)
def pinv_with_options_rrule(a, rcond=None, hermitian=False, *, rtol=_NOT_GIVEN):
    """As the plain rule, with `rtol` for `rcond`."""
    z = np.linalg.pinv(a, hermitian=hermitian, rtol=rtol)

    def pinv_with_options_pullback(z_bar):
        cut = None if rtol is _NOT_GIVEN else rtol
        return NoTangent(), pinv_bar(z_bar, a, z, cut, hermitian), NoTangent(), NoTangent()

    return z, pinv_with_options_pullback


examples(np.linalg.pinv, (_TABLE,), (np.stack([_TABLE, 2.0 * _TABLE]),), rtol=1e-10)


@rrule.register(np.linspace, options=True)
def linspace_with_options_rrule(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """As the plain rule; the step is (stop - start) / n, for n gaps."""
    made = np.linspace(start, stop, num, endpoint, retstep, dtype, axis, device=device)
    y = made[0] if retstep else made
    gaps = num - 1 if endpoint else num

    def linspace_with_options_pullback(made_bar):
        y_bar, step_bar = made_bar if retstep else (made_bar, None)
        bars: list[Any] = [None, None]
        if not is_structural_zero(y_bar) and y.dtype.kind in "fcO":
            bars = plain_bars(np.linspace, (start, stop, num, endpoint), {}, np.moveaxis(y_bar, axis, 0))[:2]
        if not is_structural_zero(step_bar) and gaps > 0:
            share = step_bar / gaps
            bars = [accumulate(bars[0], unbroadcast(-share, start)), accumulate(bars[1], unbroadcast(share, stop))]
        fit = (bar if is_structural_zero(bar) else fitted(bar, x) for bar, x in zip(bars, (start, stop), strict=True))
        return NoTangent(), *fit, *(NoTangent(),) * 5

    return made, linspace_with_options_pullback


examples(np.linspace, (0.5, 2.0, 4, True, True), (0.5, _VECTOR, 3, False, True), (0.5, _VECTOR, 4, True, False, None, -1))
examples(np.linspace, (_VECTOR, 2.0, 3, True, True, complex, 1), (0.5, 7.5, 4, True, False, int))


@rrule.register(np.clip, options=True)
def clip_with_options_rrule(a, a_min=_NOT_GIVEN, a_max=_NOT_GIVEN, out=None, min=_NOT_GIVEN, max=_NOT_GIVEN, **options):
    """As the plain rule, with other names for the bounds."""
    if out is not None:
        raise MissingRuleError("np.clip with `out` and other options", None, "Assign its value: y[...] = np.clip(x, ...).")
    bounds = {"a_min": a_min, "a_max": a_max, "min": min, "max": max}
    y = np.clip(a, **{name: bound for name, bound in bounds.items() if bound is not _NOT_GIVEN}, **options)
    low, high = (next((x for x in pair if x is not _NOT_GIVEN), None) for pair in ((a_min, min), (a_max, max)))
    by_old_names = a_min is not _NOT_GIVEN or a_max is not _NOT_GIVEN

    def clip_with_options_pullback(y_bar):
        a_bar, low_bar, high_bar = plain_bars(np.clip, (a, low, high), {}, y_bar)
        unused = NoTangent()
        if by_old_names:
            return NoTangent(), a_bar, low_bar, high_bar, unused, unused, unused
        return NoTangent(), a_bar, unused, unused, unused, low_bar, high_bar

    return y, clip_with_options_pullback


examples(np.clip, (_VECTOR, 0.0, 1.5), (_TABLE, _VECTOR - 2.0, _VECTOR + 2.0), dtype=float)
examples(np.clip, (_VECTOR,), (_TABLE,), min=0.0)
example(np.clip, _TABLE, min=-1.0, max=1.5)


def _take(f: Callable[..., Any]) -> Rule:
    def take_with_options_rrule(a, indices, axis=None, out=None, mode="raise"):
        """As the plain rule, with the indices brought into the range of the axis."""
        if out is not None:
            raise MissingRuleError("np.take with `out` and `mode`", None, "Assign its value: y[...] = np.take(x, ...).")
        size = np.size(a) if axis is None else np.shape(a)[axis]
        places = np.asarray(indices)
        places = places % size if mode == "wrap" else np.clip(places, 0, size - 1) if mode == "clip" else places

        def take_with_options_pullback(y_bar):
            return NoTangent(), plain_bars(np.take, (a, places, axis), {}, y_bar)[0], *(NoTangent(),) * 4

        return f(a, indices, axis=axis, mode=mode), take_with_options_pullback

    return take_with_options_rrule


_f: Any
for _f in (np.take, np.ndarray.take):
    rrule.register(_f, options=True)(_take(_f))
    examples(_f, (_VECTOR, [0, 5, -4]), (_TABLE, [[0, 3], [-1, 1]], 1), mode="wrap")
    examples(_f, (_VECTOR, [0, 5, -4]), (_TABLE, 7, 0), mode="clip")
    example(_f, _TABLE, [0, 1], axis=1, mode="raise")


@rrule.register(np.diff, options=True)
def diff_with_options_rrule(a, n=1, axis=-1, prepend=_NOT_GIVEN, append=_NOT_GIVEN):
    """As the plain rule, of the array with what is put in front of it and behind it."""
    shape = list(np.shape(a))
    shape[axis] = 1
    given = [(0, prepend), (1, a), (2, append)]
    parts = [(place, x) for place, x in given if x is not _NOT_GIVEN]
    arrays = [np.broadcast_to(x, shape) if np.ndim(x) == 0 else np.asarray(x) for _, x in parts]
    y = np.diff(a, n, axis, prepend=prepend, append=append)

    def diff_with_options_pullback(y_bar):
        if n == 0:
            return NoTangent(), y_bar, *(NoTangent(),) * 4
        whole_bar = plain_bars(np.diff, (np.concatenate(arrays, axis), n, axis), {}, y_bar)[0]
        bars: list[Any] = [NoTangent()] * 3
        for (place, x), bar in zip(parts, concatenate_bar(whole_bar, arrays, axis), strict=True):
            bars[place] = unbroadcast(bar, x)
        return NoTangent(), bars[1], NoTangent(), NoTangent(), bars[0], bars[2]

    return y, diff_with_options_pullback


examples(np.diff, (_VECTOR, 1, -1, 0.5), (_TABLE, 2, 0, 0.5, _TABLE[:1]), (_TABLE, 1, 1, _TABLE[:, :2], 2.5))
examples(np.diff, (_VECTOR, 1, -1, [0.5, 1.5]), (_TABLE, 0, 1, 1.5))


@rrule.register(np.average, options=True)
def average_with_options_rrule(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """As the plain rule; the second result is the sum of the weights."""
    y = np.average(a, axis=axis, weights=weights, returned=returned, keepdims=keepdims)

    def average_with_options_pullback(y_bar):
        mean_bar, sum_bar = y_bar if returned else (y_bar, None)
        a_bar = weights_bar = None
        if not is_structural_zero(mean_bar):
            a_bar, _, weights_bar = plain_bars(np.average, (a, axis, weights), {"keepdims": keepdims}, mean_bar)
        if weights is not None and not is_structural_zero(sum_bar):
            weights_bar = accumulate(weights_bar, weights_of_sum_bar(sum_bar, a, axis, weights, keepdims))
        return NoTangent(), a_bar, NoTangent(), weights_bar, NoTangent()

    return y, average_with_options_pullback


def weights_of_sum_bar(sum_bar: Any, a: Any, axis: Any, weights: Any, keepdims: bool) -> Any:
    """The cotangent of the weights of which the sum, for each row of a, is a result."""
    sum_bar = real_like(sum_bar, weights)
    if np.shape(weights) == np.shape(a):
        return plain_bars(np.sum, (weights, axis), {"keepdims": keepdims}, sum_bar)[0]
    return np.full(np.shape(weights), np.sum(sum_bar))


examples(np.average, (_TABLE, 1, np.abs(_VECTOR), True), (_TABLE, 0, np.abs(_TABLE), True), (_VECTOR, None, None, True))
example(np.average, _TABLE, 1, np.abs(_TABLE), True, keepdims=True)


@rrule.register(np.nan_to_num, options=True)
def nan_to_num_with_options_rrule(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """x_bar = y_bar where x is finite; what stands for NaN gets the sum of y_bar at its places."""
    if not copy or np.iscomplexobj(x):
        what = "np.nan_to_num in place, or with values for complex numbers"
        raise MissingRuleError(what, None, "Use np.where(np.isnan(x), ...).")
    y = np.nan_to_num(x, copy, nan, posinf, neginf)

    def nan_to_num_with_options_pullback(y_bar):
        places = (np.isnan(x), np.isposinf(x), np.isneginf(x))
        bars = (
            NoTangent() if value is None else unbroadcast(np.where(place, y_bar, 0.0), value)
            for value, place in zip((nan, posinf, neginf), places, strict=True)
        )
        return NoTangent(), np.where(np.isfinite(x), y_bar, 0.0), NoTangent(), *bars

    return y, nan_to_num_with_options_pullback


examples(np.nan_to_num, (_VECTOR, True, 1.0), (np.array([np.nan, 1.5, np.inf, -np.inf]), True, 1.0, 2.0, 3.0))


@rrule.register(np.angle, options=True)
def angle_with_options_rrule(z, deg=False):
    """As the plain rule, in degrees."""
    y = np.angle(z, deg)

    def angle_with_options_pullback(y_bar):
        return NoTangent(), plain_bars(np.angle, (z,), {}, y_bar * (180.0 / np.pi) if deg else y_bar)[0], NoTangent()

    return y, angle_with_options_pullback


examples(np.angle, (_VECTOR + 0.5j, True), (0.5 - 0.7j, True), (_VECTOR + 0.5j, False), (_VECTOR, True))


@rrule.register(np.cross, options=True)
def cross_with_options_rrule(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """As the plain rule, with the axes moved to the end and back."""
    first, second, last = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    y = np.cross(a, b, axisa, axisb, axisc, axis)

    def cross_with_options_pullback(y_bar):
        arrays = (np.moveaxis(np.asarray(a), first, -1), np.moveaxis(np.asarray(b), second, -1))
        is_flat = arrays[0].shape[-1] == arrays[1].shape[-1] == 2  # whose product has no axis of its own
        bars = plain_bars(np.cross, arrays, {}, y_bar if is_flat else np.moveaxis(y_bar, last, -1))
        return NoTangent(), np.moveaxis(bars[0], -1, first), np.moveaxis(bars[1], -1, second), *(NoTangent(),) * 4

    return y, cross_with_options_pullback


examples(np.cross, (_TABLE.T, _VECTOR, 0), (_TABLE.T, 2.0 - _TABLE, 0, 1, 0), (_VECTOR, _VECTOR[::-1], -1, -1, 0))


@rrule.register(np.meshgrid, options=True)
def meshgrid_with_options_rrule(*xi, copy=True, sparse=False, indexing="xy"):
    """Each vector gets the cotangent of its grid, summed over the axes along which it was repeated."""
    y = np.meshgrid(*xi, copy=copy, sparse=sparse, indexing=indexing)

    def meshgrid_with_options_pullback(y_bar):
        return NoTangent(), *(axis_of_grid_bar(bar, x, k, indexing) for k, (bar, x) in enumerate(zip(y_bar, xi, strict=True)))

    return y, meshgrid_with_options_pullback


def axis_of_grid_bar(bar: Any, x: Any, number: int, indexing: str) -> Any:
    """The cotangent of vector `number` of a grid; None if its part was not used."""
    if is_structural_zero(bar):
        return None
    own = 1 - number if indexing == "xy" and number < 2 and np.ndim(bar) > 1 else number
    return unbroadcast(np.reshape(np.sum(bar, axis=tuple(k for k in range(np.ndim(bar)) if k != own)), np.shape(x)), x)


examples(np.meshgrid, (_VECTOR,), (_VECTOR, _VECTOR[:2]), (_VECTOR, _VECTOR[:2], 1.5), sparse=True)
examples(np.meshgrid, (_VECTOR,), (_VECTOR, _VECTOR[:2], _VECTOR), indexing="ij", copy=False)


def _several(f: Callable[..., Any]) -> Rule:
    def promoted_rrule(*arys):
        """Each array gets its cotangent in its own shape."""

        def promoted_pullback(y_bar):
            pairs = zip(y_bar, arys, strict=True)
            return NoTangent(), *(None if is_structural_zero(bar) else np.reshape(bar, np.shape(x)) for bar, x in pairs)

        return f(*arys), promoted_pullback

    return promoted_rrule


for _f in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    rrule.register(_f, options=True)(_several(_f))
    examples(_f, (_VECTOR, 2.5), (_TABLE, _VECTOR, 1.5))


@rrule.register(np.full_like, options=True)
def full_like_with_options_rrule(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """fill_value_bar = y_bar summed over the axes along which it was repeated."""
    y = np.full_like(a, fill_value, dtype, order, subok, shape, device=device)

    def full_like_with_options_pullback(y_bar):
        is_cut = np.asarray(y).dtype.kind not in "fcO"
        return NoTangent(), NoTangent(), NoTangent() if is_cut else unbroadcast(y_bar, fill_value), *(NoTangent(),) * 4

    return y, full_like_with_options_pullback


examples(np.full_like, (_TABLE, 1.5, None, "K", True, (4, 3)), (_TABLE, _VECTOR, complex, "F"), (_TABLE, 1.5, int, "C"))


@rrule.register(np.einsum, options=True)
def einsum_with_options_rrule(*operands, **options):
    """The rule of the plain call, with the axes as letters: np.einsum(x, [0, 1], y, [1], [0]) is "ab,b->a"."""
    y = np.einsum(*operands, **options)
    is_text = isinstance(operands[0], str)
    plain, places = (operands, range(len(operands))) if is_text else _with_letters(operands)

    def einsum_with_options_pullback(y_bar):
        bars: list[Any] = [NoTangent()] * len(operands)
        named = {name: value for name, value in options.items() if name == "optimize"}
        for place, bar in zip(places, plain_bars(np.einsum, plain, named, y_bar), strict=True):
            bars[place] = bar if is_structural_zero(bar) else fitted(bar, operands[place])
        return NoTangent(), *bars

    return y, einsum_with_options_pullback


def _with_letters(operands: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[int]]:
    """The operands after a text of subscripts, and which operand each is; the text stands for the first list."""
    count = len(operands) // 2
    text = ",".join(map(_letters, operands[1 : 2 * count : 2]))
    arrow = "->" + _letters(operands[-1]) if len(operands) % 2 else ""
    return (text + arrow, *operands[: 2 * count : 2]), [1, *range(0, 2 * count, 2)]


def _letters(axes: Any) -> str:
    return "".join("..." if axis is Ellipsis else string.ascii_letters[axis] for axis in axes)


examples(np.einsum, (_TABLE, [0, 1], _VECTOR, [1], [0]), (_TABLE, [0, 1]), (_TABLE, [0, 1], _VECTOR, [1]))
examples(np.einsum, (_TABLE, [..., 0], [0, ...]), (_VECTOR, [0], _VECTOR, [1], _TABLE, [2, 0], [1, 2]))
example(np.einsum, "ij,j->i", _TABLE, _VECTOR, dtype=complex)
