"""The methods of NumPy's universal functions: `np.add.reduce`, `np.maximum.accumulate`, `np.add.reduceat`, `np.multiply.outer`.

Sums, products and extremes have the pullbacks of `np.sum`, `np.cumprod` and so on. Of any other function a reduction is the
sequence of its calls, which is gone through backwards with the rule of the function.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.numpy.mathematics.extrema import extremum_bar
from microgradpy.rules.numpy.mathematics.sums import cumprod_bar, cumsum_bar, prod_bar
from microgradpy.rules.registry import example, examples, is_non_differentiable, rrule
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.linear import expand_reduced
from microgradpy.tangents.types import NoTangent

_VECTOR = np.array([0.7, -1.4, 2.2, 0.4])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_STACK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 + 0.3
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j, 1.1 - 0.4j])
_NOT_GIVEN: Any = np._NoValue
_REDUCED: Any = {np.add: expand_reduced, np.multiply: prod_bar}
_EXTREMES = (np.maximum, np.minimum)
_ACCUMULATED: Any = {np.add: cumsum_bar, np.multiply: cumprod_bar}


@rrule.register(np.ufunc.reduce)
def reduce_rrule(ufunc, array, axis=0, *, keepdims=False):
    """y = ufunc(... ufunc(ufunc(a_0, a_1), a_2) ..., a_n) along the axes."""
    y = ufunc.reduce(array, axis, keepdims=keepdims)
    check_rule(ufunc, y)

    def reduce_pullback(y_bar):
        return NoTangent(), NoTangent(), reduced_bar(y_bar, ufunc, array, y, axis, keepdims), NoTangent()

    return y, reduce_pullback


@rrule.register(np.ufunc.reduce, options=True)
def reduce_with_options_rrule(ufunc, array, axis=0, dtype=None, out=None, keepdims=False, initial=_NOT_GIVEN, where=True):
    """As np.sum, np.prod, np.max and np.min with these options."""
    if ufunc not in _WITH_OPTIONS:
        raise MissingRuleError(f"{ufunc.__name__}.reduce with `dtype`, `initial` or `where`", None, "Write a loop.")
    options = {"keepdims": keepdims, "initial": initial, "where": where} | ({} if dtype is None else {"dtype": dtype})
    function = _WITH_OPTIONS[ufunc]
    made = rrule.find_for(function, (array, axis), {"initial": 0.0, "where": where})(array, axis, **options, out=out)
    pullback, place = made[1], _INITIAL[ufunc]

    def reduce_with_options_pullback(y_bar):
        bars = pullback(y_bar)
        array_bar, initial_bar = bars[1], bars[place]
        return NoTangent(), NoTangent(), array_bar, NoTangent(), NoTangent(), NoTangent(), NoTangent(), initial_bar, NoTangent()

    return ufunc.reduce(array, axis, dtype, out, keepdims, initial, where), reduce_with_options_pullback


_WITH_OPTIONS: Any = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}
_INITIAL: Any = {np.add: 6, np.multiply: 6, np.maximum: 5, np.minimum: 5}
"""Where the initial value stands among the cotangents of the function that says the same."""


@rrule.register(np.ufunc.accumulate)
def accumulate_rrule(ufunc, array, axis=0):
    """y_0 = a_0, y_i = ufunc(y_(i-1), a_i) along the axis."""
    y = ufunc.accumulate(array, axis)
    check_rule(ufunc, y)

    def accumulate_pullback(y_bar):
        return NoTangent(), NoTangent(), accumulated_bar(y_bar, ufunc, array, y, axis), NoTangent()

    return y, accumulate_pullback


@rrule.register(np.ufunc.reduceat)
def reduceat_rrule(ufunc, array, indices, axis=0):
    """A reduction of each part from one index to the next; where that is not behind it, of the one entry."""
    y = ufunc.reduceat(array, indices, axis)
    check_rule(ufunc, y)

    def reduceat_pullback(y_bar):
        return NoTangent(), NoTangent(), reduced_parts_bar(y_bar, ufunc, array, y, indices, axis), NoTangent(), NoTangent()

    return y, reduceat_pullback


@rrule.register(np.ufunc.outer)
def outer_rrule(ufunc, A, B):
    """ufunc of every entry of A with every entry of B."""
    y = ufunc.outer(A, B)
    check_rule(ufunc, y)

    def outer_pullback(y_bar):
        return NoTangent(), NoTangent(), *outer_bars(y_bar, ufunc, A, B, y)

    return y, outer_pullback


def outer_bars(y_bar: Any, ufunc: Any, left: Any, right: Any, y: Any) -> tuple[Any, Any]:
    """The cotangents of the two arguments of ufunc.outer."""
    if is_constant(ufunc, y):
        return NoTangent(), NoTangent()
    spread = np.reshape(left, np.shape(left) + (1,) * np.ndim(right))
    with np.errstate(all="ignore"):
        _, left_bar, right_bar = rule_of(ufunc)(spread, np.asarray(right))[1](y_bar)
    return unbroadcast(np.reshape(left_bar, np.shape(left)), left), unbroadcast(right_bar, right)


def is_constant(ufunc: Any, y: Any) -> bool:
    """Whether the result of a function carries no derivative."""
    return is_non_differentiable(ufunc) or np.asarray(y).dtype.kind == "b"


def check_rule(ufunc: Any, y: Any) -> None:
    """Refuse a function whose derivative is not known."""
    if not is_constant(ufunc, y):
        rule_of(ufunc)


def rule_of(ufunc: Any) -> Any:
    """The rule of a function of two arrays."""
    rule = rrule.find(ufunc, (np.ndarray, np.ndarray))
    if rule is None:
        raise MissingRuleError(f"{ufunc.__name__} has no rule, so neither have its methods", None, "Write a loop.")
    return rule


def reduced_bar(y_bar: Any, ufunc: Any, array: Any, y: Any, axis: Any, keepdims: bool) -> Any:
    """The cotangent of an array under ufunc.reduce(array, axis, keepdims=keepdims) = y."""
    if is_constant(ufunc, y):
        return NoTangent()
    a = np.asarray(array)
    if not a.size:
        return np.zeros(a.shape, np.result_type(y_bar))
    if ufunc in _REDUCED:
        return unbroadcast(_REDUCED[ufunc](y_bar, a, axis, keepdims), array)
    if ufunc in _EXTREMES:
        return unbroadcast(extremum_bar(y_bar, a, y, axis, keepdims), array)
    axes = range(a.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    last = range(a.ndim - len(axes), a.ndim)
    moved = np.moveaxis(a, axes, last)
    rows = moved.reshape(*moved.shape[: last.start], -1)
    steps_bar = np.zeros(rows.shape, np.result_type(y_bar))
    steps_bar[..., -1] = np.reshape(y_bar, rows.shape[:-1])
    bar = accumulated_bar(steps_bar, ufunc, rows, ufunc.accumulate(rows, -1), -1)
    return unbroadcast(np.moveaxis(bar.reshape(moved.shape), last, axes), array)


def accumulated_bar(y_bar: Any, ufunc: Any, array: Any, y: Any, axis: int) -> Any:
    """The cotangent of an array under ufunc.accumulate(array, axis) = y."""
    if is_constant(ufunc, y):
        return NoTangent()
    if ufunc in _ACCUMULATED:
        return unbroadcast(_ACCUMULATED[ufunc](y_bar, np.asarray(array), axis), array)
    entries, results, wanted = (np.moveaxis(np.asarray(x), axis, 0) for x in (array, y, y_bar))
    bar = np.zeros(entries.shape, np.result_type(y_bar, results, np.float32))
    rest = np.zeros(entries.shape[1:], bar.dtype)
    for place in range(len(entries) - 1, 0, -1):
        with np.errstate(all="ignore"):
            _, before, own = rule_of(ufunc)(results[place - 1], entries[place])[1](wanted[place] + rest)
        bar[place], rest = own, before
    bar[:1] = wanted[:1] + rest
    return unbroadcast(np.moveaxis(bar, 0, axis), array)


def reduced_parts_bar(y_bar: Any, ufunc: Any, array: Any, y: Any, indices: Any, axis: int) -> Any:
    """The cotangent of an array under ufunc.reduceat(array, indices, axis) = y."""
    if is_constant(ufunc, y):
        return NoTangent()
    entries, results, wanted = (np.moveaxis(np.asarray(x), axis, 0) for x in (array, y, y_bar))
    bar = np.zeros(entries.shape, np.result_type(y_bar, np.float32))
    starts = np.asarray(indices)
    for number, (start, stop) in enumerate(zip(starts, (*starts[1:], len(entries)), strict=True)):
        part = slice(start, max(stop, start + 1))
        bar[part] += reduced_bar(wanted[number], ufunc, entries[part], results[number], 0, False)
    return unbroadcast(np.moveaxis(bar, 0, axis), array)


for _ufunc in (np.add, np.multiply, np.maximum, np.logaddexp, np.subtract, np.hypot):
    examples(np.ufunc.reduce, (_ufunc, _VECTOR), (_ufunc, _TABLE), (_ufunc, _TABLE, 1))
    examples(np.ufunc.accumulate, (_ufunc, _VECTOR), (_ufunc, _TABLE, 1))
    examples(np.ufunc.outer, (_ufunc, _VECTOR, _TABLE), (_ufunc, 1.5, _VECTOR))
for _ufunc in (np.add, np.multiply, np.maximum, np.logaddexp):
    examples(np.ufunc.reduceat, (_ufunc, _VECTOR, [0, 2, 1]), (_ufunc, _TABLE, np.array([0, 1]), 1))
examples(np.ufunc.reduce, (np.add, _STACK, None), (np.minimum, _STACK, (0, 2)), (np.logaddexp, _STACK, (2, 0)))
examples(np.ufunc.reduce, (np.add, _COMPLEX), (np.multiply, _COMPLEX), (np.add, [1.5, 0.5]), (np.add, 1.5, None))
examples(np.ufunc.reduce, (np.logical_or, _VECTOR), (np.logaddexp, _VECTOR[:0]), (np.multiply, _TABLE[:0]))
example(np.ufunc.reduce, np.add, _STACK, 1, keepdims=True)
for _reducing in _WITH_OPTIONS:
    example(np.ufunc.reduce, _reducing, _TABLE, 1, initial=1.0)
    example(np.ufunc.reduce, _reducing, _TABLE, None, initial=1.9, where=_TABLE > 0.0, keepdims=True)
example(np.ufunc.reduce, np.logaddexp, _STACK, (0, 1), keepdims=True)
examples(np.ufunc.accumulate, (np.multiply, _COMPLEX), (np.logical_and, _VECTOR), (np.power, np.abs(_VECTOR)))
examples(np.ufunc.outer, (np.multiply, _COMPLEX, _VECTOR), (np.greater, _VECTOR, _VECTOR))
