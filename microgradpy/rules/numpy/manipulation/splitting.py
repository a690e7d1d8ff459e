"""Splitting arrays: the cotangents of the parts are joined."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import example, examples
from microgradpy.tangents.types import is_structural_zero

_VECTOR = np.array([0.5, -1.5, 2.5])
_TABLE = np.arange(1.0, 7.0).reshape(2, 3)
_STACK = np.arange(1.0, 13.0).reshape(2, 3, 2)


@pullback(np.split)
def split_pullback(y_bar, ary, indices_or_sections, axis=0):
    """ary_bar = the parts of y_bar, put together again."""
    return split_bar(y_bar, ary, indices_or_sections, axis)


@pullback(np.array_split)
def array_split_pullback(y_bar, ary, indices_or_sections, axis=0):
    """ary_bar = the parts of y_bar, put together again."""
    return split_bar(y_bar, ary, indices_or_sections, axis)


@pullback(np.hsplit)
def hsplit_pullback(y_bar, ary, indices_or_sections):
    """ary_bar = the parts of y_bar, put together again."""
    return split_bar(y_bar, ary, indices_or_sections, min(np.ndim(ary) - 1, 1))


@pullback(np.vsplit)
def vsplit_pullback(y_bar, ary, indices_or_sections):
    """ary_bar = the parts of y_bar, put together again."""
    return split_bar(y_bar, ary, indices_or_sections, 0)


def split_bar(y_bar: Any, ary: Any, indices_or_sections: Any, axis: int) -> Any:
    """The cotangent of an array that was split along `axis`; of parts that nobody used, zero. Indices that are not in
    order give parts that overlap, which add up."""
    used = [part for part in y_bar if not is_structural_zero(part)]
    if not used:
        return None
    ary_bar = np.zeros(np.shape(ary), np.result_type(*used))
    along = np.moveaxis(ary_bar, axis, 0)
    places = np.array_split(np.arange(len(along)), indices_or_sections)
    for place, part in zip(places, y_bar, strict=True):
        if not is_structural_zero(part):
            along[place] += np.moveaxis(part, axis, 0)
    return ary_bar


for _split in (np.split, np.array_split):
    examples(_split, (_VECTOR, 3), (_VECTOR, [1, 2]), (_TABLE, 2), (_TABLE, [1], 1), (_STACK, [2, 1], 1))
example(np.array_split, _VECTOR, 2)
examples(np.hsplit, (_VECTOR, 3), (_TABLE, [1]))
examples(np.vsplit, (_TABLE, 2), (_STACK, [1]))

_COMPLEX = _TABLE + 0.5j


@pullback(np.dsplit)
def dsplit_pullback(y_bar, ary, indices_or_sections):
    """ary_bar = the parts of y_bar, put together again."""
    return split_bar(y_bar, ary, indices_or_sections, 2)


@pullback(np.unstack)
def unstack_pullback(y_bar, x, /, *, axis=0):
    """x_bar = the parts of y_bar, put together again."""
    return unstacked_bar(y_bar, x, axis)


def unstacked_bar(y_bar: Any, x: Any, axis: int) -> Any:
    """The cotangent of an array that was taken apart along `axis`; of parts that nobody used, zero."""
    used = [part for part in y_bar if not is_structural_zero(part)]
    if not used:
        return None
    x_bar = np.zeros(np.shape(x), np.result_type(*used))
    along = np.moveaxis(x_bar, axis, 0)
    for place, part in enumerate(y_bar):
        if not is_structural_zero(part):
            along[place] = part
    return x_bar


examples(np.dsplit, (_STACK, 2), (_STACK, [1]))
examples(np.unstack, (_VECTOR,), (_TABLE,), (_STACK,), (_COMPLEX,))
example(np.unstack, _STACK, axis=-1)
