"""Differences, the integrals that undo them, and the cross product."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.manipulation.joining import concatenate_bar
from microgradpy.rules.numpy.options import plain_bars
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.tangents.arithmetic import conj, cotangent_dtype, unbroadcast
from microgradpy.tangents.casts import in_precision_of
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent, is_structural_zero


def _table(*shape: int) -> np.ndarray:
    """An array of irregular numbers, of both signs and the given shape."""
    return np.sin(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)) * 1.7 + len(shape)).reshape(shape)


_COMPLEX = _table(3, 2) + 1j * _table(2, 3).T


@pullback(np.cross)
def cross_pullback(z_bar, a, b, *, axis=-1):
    """z = a x b in three dimensions: a_bar = b x z_bar, b_bar = z_bar x a."""
    return cross_bar(conj(b), z_bar, a, axis), cross_bar(z_bar, conj(a), b, axis)


@cotangent_of(2)
def cross_bar(left: Any, right: Any, x: Any, axis: int) -> Any:
    """The cotangent left x right of the operand x of a cross product."""
    if np.shape(left)[axis] != 3 or np.shape(right)[axis] != 3:
        raise MissingRuleError("np.cross of vectors with two components", None, "Write x0 * y1 - x1 * y0 instead.")
    return unbroadcast(np.cross(left, right, axis=axis), x)


examples(
    np.cross,
    (_table(3), _table(3)),
    (_table(2, 3), _table(3)),
    (_table(4, 1, 3), _table(2, 3)),
    (_COMPLEX.T, _table(3)),
)
example(np.cross, _table(3, 2), _table(3, 2) + 0.5, axis=0)

_VECTOR = np.array([0.7, -1.4, 2.2, 0.1])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_STACK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 - 1.5


@pullback(np.diff)
def diff_pullback(z_bar, a, n=1, axis=-1):
    """z_i = a_(i+1) - a_i, n times: a_bar_i = z_bar_(i-1) - z_bar_i, n times."""
    return diff_bar(z_bar, a, n, axis)


@cotangent_of(1)
def diff_bar(z_bar: Any, a: Any, n: int, axis: int) -> Any:
    """The cotangent of a under np.diff(a, n, axis); zeros if a is too short for a difference."""
    if n == 0:
        return z_bar
    if np.size(z_bar) == 0:
        return np.zeros(np.shape(a), np.result_type(z_bar))
    border = [(1, 1) if i == axis % np.ndim(z_bar) else (0, 0) for i in range(np.ndim(z_bar))]
    for _ in range(n):
        z_bar = -np.diff(np.pad(z_bar, border), axis=axis)
    return z_bar


examples(np.diff, (_VECTOR[:1],), (_TABLE, 3), (_TABLE[:0], 1, 0))
examples(np.diff, (_VECTOR,), (_VECTOR, 2), (_TABLE,), (_TABLE, 1, 0), (_STACK, 2, 1), (_VECTOR, 0))


@pullback(np.trapezoid)
def trapezoid_pullback(z_bar, y, x=None, dx=1.0, axis=-1):
    """z = the sum of (x_(i+1) - x_i) * (y_i + y_(i+1)) / 2, or with dx for all the steps."""
    return (
        trapezoid_height_bar(z_bar, y, x, dx, axis),
        trapezoid_place_bar(z_bar, y, x, axis),
        trapezoid_step_bar(z_bar, y, x, dx, axis),
    )


@cotangent_of(1)
def trapezoid_height_bar(z_bar: Any, y: Any, x: Any, dx: Any, axis: int) -> Any:
    """The cotangent of the heights: each gets half of the steps on its two sides."""
    if np.shape(y)[axis] == 0:
        return np.zeros(np.shape(y), cotangent_dtype(np.asarray(y).dtype))
    steps = dx if x is None else np.diff(_along(x, y, axis), axis=axis)
    half = 0.5 * np.broadcast_to(np.expand_dims(z_bar, axis) * conj(steps), _fewer(y, axis))
    return unbroadcast(_at_ends(half, axis, 1.0), y)


@cotangent_of(2)
def trapezoid_place_bar(z_bar: Any, y: Any, x: Any, axis: int) -> Any:
    """The cotangent of the places x of the heights."""
    if x is None:
        return None
    if np.shape(y)[axis] == 0:
        return np.zeros(np.shape(x), cotangent_dtype(np.asarray(x).dtype))
    x_bar = _at_ends(np.expand_dims(z_bar, axis) * conj(_means(y, axis)), axis, -1.0)
    return unbroadcast(np.moveaxis(x_bar, axis, -1) if np.ndim(x) == 1 else x_bar, x)


def trapezoid_step_bar(z_bar: Any, y: Any, x: Any, dx: Any, axis: int) -> Any:
    """The cotangent of the one step of all intervals, or of an array of steps."""
    return None if x is not None else unbroadcast(np.expand_dims(z_bar, axis) * conj(_means(y, axis)), dx)


def _along(x: Any, y: Any, axis: int) -> Any:
    """The places of the heights, which may be given as a vector, along the axis of y that they belong to."""
    if np.ndim(x) > np.ndim(y):
        raise MissingRuleError("np.trapezoid of places with more axes than the heights", None, "Repeat the heights first.")
    return np.moveaxis(np.reshape(x, (1,) * (np.ndim(y) - 1) + (-1,)), -1, axis) if np.ndim(x) == 1 else x


def _means(y: Any, axis: int) -> np.ndarray:
    along = np.moveaxis(np.asarray(y), axis, 0)
    return np.moveaxis(0.5 * (along[1:] + along[:-1]), 0, axis)


def _fewer(y: Any, axis: int) -> tuple[int, ...]:
    """The shape of y with one entry less along the axis."""
    sizes = list(np.shape(y))
    sizes[axis] -= 1
    return tuple(sizes)


def _at_ends(parts: np.ndarray, axis: int, start: float) -> np.ndarray:
    """For each point the part of the interval that it ends, plus `start` times that of the interval it starts."""
    border = [(1, 1) if i == axis % parts.ndim else (0, 0) for i in range(parts.ndim)]
    along = np.moveaxis(np.pad(parts, border), axis, 0)
    return np.moveaxis(along[:-1] + start * along[1:], 0, axis)


examples(np.trapezoid, (_VECTOR, None, _VECTOR[1:]), (_TABLE, None, _TABLE[:, 1:]), (_TABLE[:, :0],))
examples(np.trapezoid, (_VECTOR,), (_TABLE, np.array([0.0, 0.4, 1.5])), (_VECTOR, None, 0.3), (_TABLE, _TABLE**2))
example(np.trapezoid, _STACK, np.array([0.1, 0.9, 1.5]), axis=1)
example(np.trapezoid, _STACK, None, 0.3, axis=0)

_PLANE = np.array([0.2 + 0.7j, 1.1 - 0.4j, -0.6 + 0.3j, 0.9 - 1.2j])
examples(np.trapezoid, (_PLANE,), (_PLANE, _PLANE**2), (_VECTOR, _PLANE), (_PLANE, _VECTOR))
example(np.trapezoid, _PLANE, None, 0.3 - 0.2j)

_SHORT = np.array([1.3, 0.4, -0.8])
_GRID = np.sin(np.arange(12.0) * 1.7).reshape(3, 4)
_TURNED = _GRID + 1j * _GRID[::-1] ** 2


@pullback(np.ediff1d)
def ediff1d_pullback(y_bar, ary, to_end=None, to_begin=None):
    """The differences of neighbours, between what is put before and after them."""
    return neighbours_bar(y_bar, ary, to_begin), end_bar(y_bar, to_end), beginning_bar(y_bar, to_begin)


@cotangent_of(1)
def neighbours_bar(y_bar: Any, ary: Any, to_begin: Any) -> Any:
    """The cotangent of the array under np.ediff1d."""
    start = 0 if to_begin is None else np.size(to_begin)
    differences = y_bar[start : start + max(np.size(ary) - 1, 0)]
    return unbroadcast(np.reshape(diff_bar(differences, np.ravel(ary), 1, -1), np.shape(ary)), ary)


@cotangent_of(1)
def end_bar(y_bar: Any, to_end: Any) -> Any:
    """The cotangent of what is put behind."""
    return None if to_end is None else unbroadcast(np.reshape(y_bar[len(y_bar) - np.size(to_end) :], np.shape(to_end)), to_end)


@cotangent_of(1)
def beginning_bar(y_bar: Any, to_begin: Any) -> Any:
    """The cotangent of what is put before."""
    return None if to_begin is None else unbroadcast(np.reshape(y_bar[: np.size(to_begin)], np.shape(to_begin)), to_begin)


examples(np.ediff1d, (_VECTOR,), (_GRID,), (_TURNED,), (_VECTOR[:1],), (_VECTOR[:0],), ([0.5, 1.5, 4.0],))
examples(np.ediff1d, (_VECTOR, 0.5), (_VECTOR, _SHORT, 1.5), (_VECTOR, None, _GRID), (_VECTOR[:0], 0.5, [1.0, 2.0]))


@rrule.register(np.gradient)
def gradient_rrule(f, *varargs, axis=None, edge_order=1):
    """Every entry is (1 - w) of one slope between neighbours and w of the next one, as they are apart."""

    def gradient_pullback(y_bar):
        return NoTangent(), *gradient_bars(y_bar, f, varargs, axis, edge_order)

    return np.gradient(f, *varargs, axis=axis, edge_order=edge_order), gradient_pullback


def gradient_bars(y_bar: Any, f: Any, spacings: tuple[Any, ...], axis: Any, edge_order: int) -> tuple[Any, ...]:
    """The cotangents of f and of the distances or places that were given."""
    axes = range(np.ndim(f)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    parts = (y_bar,) if len(axes) == 1 else y_bar
    given = spacings if len(spacings) == len(axes) else (spacings or (1.0,)) * len(axes)
    f_bar: Any = 0.0
    bars: list[Any] = [0.0] * len(given)
    for number, (part, along) in enumerate(zip(parts, axes, strict=True)):
        if not is_structural_zero(part):
            with np.errstate(all="ignore"):
                moved, bars[number] = _gradient_along(part, f, given[number], along, edge_order)
            f_bar = f_bar + moved
    if len(spacings) < len(bars):
        bars = [sum(bars)] * len(spacings)
    return unbroadcast(f_bar, f), *map(unbroadcast, bars, spacings)


def _gradient_along(part: Any, f: Any, spacing: Any, axis: int, edge_order: int) -> tuple[Any, Any]:
    """The cotangents of f and of the spacing from the derivative along one axis."""
    y_bar, along = np.moveaxis(np.asarray(part), axis, 0), np.moveaxis(np.asarray(f), axis, 0)
    along = along if along.dtype.kind in "fc" else along.astype(float)
    steps = np.diff(np.asarray(spacing, float)) if np.ndim(spacing) else np.full(len(along) - 1, spacing, float)
    steps = in_precision_of(y_bar, steps)
    column = (-1,) + (1,) * (along.ndim - 1)
    slopes = np.diff(along, axis=0) / steps.reshape(column)
    near = _Neighbours.of(steps, edge_order)
    first = near.weight.reshape(column) * y_bar
    slopes_bar = np.zeros(slopes.shape, np.result_type(first))
    np.add.at(slopes_bar, near.before, first)
    np.add.at(slopes_bar, near.after, y_bar - first)
    f_bar = diff_bar(slopes_bar / steps.reshape(column), along, 1, 0).astype(y_bar.dtype, copy=False)
    rest = tuple(range(1, along.ndim))
    steps_bar = -np.sum(np.real(slopes_bar * conj(slopes)), axis=rest) / steps
    weight_bar = np.sum(np.real(y_bar * conj(slopes[near.before] - slopes[near.after])), axis=rest)
    near.add_weights_bar(steps_bar, weight_bar, steps)
    spacing_bar = diff_bar(steps_bar, spacing, 1, 0) if np.ndim(spacing) else np.sum(steps_bar)
    return np.moveaxis(f_bar, 0, axis), spacing_bar


class _Neighbours(NamedTuple):
    """The two slopes, by number, whose weighted mean the derivative at each sample is; at the ends they are continued along
    a line if the order is 2, and else it is the one slope there."""

    before: np.ndarray
    after: np.ndarray
    weight: np.ndarray  # of the one before
    sense: np.ndarray  # the derivative of the weight in the step before is sense * (step after) / (both steps)^2

    @classmethod
    def of(cls, steps: np.ndarray, edge_order: int) -> _Neighbours:
        count = len(steps)
        before = np.clip(np.arange(count + 1) - 1, 0, max(count - 2, 0))
        after = np.minimum(before + 1, count - 1)
        both = steps[before] + steps[after]
        weight, sense = steps[after] / both, np.full(count + 1, -1.0, steps.dtype)
        sense[[0, -1]] = 0.0 if edge_order == 1 else 1.0
        weight[0] = 1.0 if edge_order == 1 else 1.0 + steps[0] / both[0]
        weight[-1] = 0.0 if edge_order == 1 else -steps[-1] / both[-1]
        return cls(before, after, weight, sense)

    def add_weights_bar(self, steps_bar: np.ndarray, weight_bar: np.ndarray, steps: np.ndarray) -> None:
        """Add to steps_bar what comes from the weights."""
        both = steps[self.before] + steps[self.after]
        scaled = weight_bar * self.sense / both**2
        np.add.at(steps_bar, self.before, scaled * steps[self.after])
        np.add.at(steps_bar, self.after, -scaled * steps[self.before])


_SAMPLES = np.sin(np.arange(20.0) * 1.7).reshape(4, 5)
_ROWS, _COLUMNS = np.array([0.0, 0.4, 1.5, 1.9]), np.array([-1.0, 0.5, 0.9, 2.5, 2.8])
for _order in (1, 2):
    examples(np.gradient, (_SAMPLES[0],), (_SAMPLES,), (_SAMPLES, 0.3), (_SAMPLES, 0.3, 1.5), edge_order=_order)
    examples(np.gradient, (_SAMPLES, _ROWS, 0.7), (_SAMPLES, _ROWS, _COLUMNS), edge_order=_order)
    examples(np.gradient, (_SAMPLES,), (_SAMPLES, _COLUMNS), (_SAMPLES * (1.0 + 0.5j), _COLUMNS), axis=-1, edge_order=_order)
    example(np.gradient, _SAMPLES, _COLUMNS, _ROWS, axis=(1, 0), edge_order=_order)
examples(np.gradient, (_SAMPLES[:2, 0], 0.5), ([0.5, 1.5, 4.0], [0.0, 1.0, 3.0]), (np.arange(4) ** 2,))
example(np.gradient, _SAMPLES[:, :0], axis=0)

_NOT_GIVEN: Any = np._NoValue
_LINE = np.array([0.7, -1.4, 2.2])


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


examples(np.diff, (_LINE, 1, -1, 0.5), (_TABLE, 2, 0, 0.5, _TABLE[:1]), (_TABLE, 1, 1, _TABLE[:, :2], 2.5))
examples(np.diff, (_LINE, 1, -1, [0.5, 1.5]), (_TABLE, 0, 1, 1.5))


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


examples(np.cross, (_TABLE.T, _LINE, 0), (_TABLE.T, 2.0 - _TABLE, 0, 1, 0), (_LINE, _LINE[::-1], -1, -1, 0))
