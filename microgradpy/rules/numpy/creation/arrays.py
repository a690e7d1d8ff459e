"""Array creation from data, and from one number."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import example, examples, non_differentiable, rrule
from microgradpy.rules.sums import items_of, spread_over_items
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.casts import cuts_off, made_of_bar
from microgradpy.tangents.types import NoTangent

non_differentiable(np.zeros, np.ones, np.empty)
non_differentiable(np.zeros_like, np.ones_like, np.empty_like)

_VECTOR = np.array([0.7, -1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])


@pullback(np.array)
def array_pullback(y_bar, object, dtype=None, *, copy=True, order="K", y):
    """object_bar = y_bar."""
    return made_of_bar(y_bar, object, y)


@pullback(np.asarray)
@pullback(np.asanyarray)
def asarray_pullback(y_bar, a, dtype=None, *, order=None, y):
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

_LINE = np.array([0.5, -1.5, 2.5])


@rrule.register(np.fromiter)
def fromiter_rrule(iter, dtype):
    """Each item gets its entry of y_bar."""
    items = items_of(iter)
    y = np.fromiter(items, dtype)

    def fromiter_pullback(y_bar):
        return NoTangent(), fromiter_bar(y_bar, items, y), NoTangent()

    return y, fromiter_pullback


def fromiter_bar(y_bar: Any, items: Any, y: Any) -> Any:
    """The cotangent of a collection of numbers of which the array y was made."""
    return spread_over_items([made_of_bar(bar, item, y) for bar, item in zip(y_bar, items, strict=True)], items)


examples(np.fromiter, ([0.5, 1.5], float), ((0.5, 2.0j), complex), ([0.5, 1.5], int), (_LINE, float), ([], float))


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


@rrule.register(np.full_like, options=True)
def full_like_with_options_rrule(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """fill_value_bar = y_bar summed over the axes along which it was repeated."""
    y = np.full_like(a, fill_value, dtype, order, subok, shape, device=device)

    def full_like_with_options_pullback(y_bar):
        is_cut = np.asarray(y).dtype.kind not in "fcO"
        return NoTangent(), NoTangent(), NoTangent() if is_cut else unbroadcast(y_bar, fill_value), *(NoTangent(),) * 4

    return y, full_like_with_options_pullback


examples(np.full_like, (_TABLE, 1.5, None, "K", True, (4, 3)), (_TABLE, _VECTOR, complex, "F"), (_TABLE, 1.5, int, "C"))
