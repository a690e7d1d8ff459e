"""Copies: the cotangent of a copy is that of the original, field by field and item by item."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Collection
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.fields import dict_of
from microgradpy.tangents.types import NoTangent, accumulate

_HOOKS = ("__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__getnewargs_ex__")
_OWN_COPIES: Any = (
    np.ndarray, np.generic, list, tuple, deque, dict, set, frozenset, int, float, complex, str, bytes, type, type(None),
)  # fmt: skip


@rrule.register(copy.copy)
def copy_rrule(x):
    """x_bar = y_bar."""

    def copy_pullback(y_bar):
        return NoTangent(), y_bar

    return copy.copy(copied_as_it_is(x)), copy_pullback


@rrule.register(copy.deepcopy)
def deepcopy_rrule(x, memo=None):
    """x_bar = y_bar."""

    def deepcopy_pullback(y_bar):
        return NoTangent(), y_bar

    return copy.deepcopy(copied_as_it_is(x), memo), deepcopy_pullback


def copied_as_it_is(x: Any) -> Any:
    """A value whose copy has what it has; what says itself how it is copied, at any depth, is refused."""
    waiting, seen = [x], set[int]()
    while waiting:
        value = waiting.pop()
        if id(value) in seen or callable(value):
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list | tuple | deque):
            waiting += value
        elif not isinstance(value, _OWN_COPIES):
            _refuse_hooks(value)
            waiting += dict_of(value).values()
    return x


def _refuse_hooks(value: Any) -> None:
    cls = type(value)
    found = [name for name in _HOOKS if getattr(cls, name, None) is not getattr(object, name, None)]
    written = all(getattr(getattr(cls, name), "__module__", "") == "dataclasses" for name in found)
    if hasattr(cls, "__next__") or not written:
        raise MissingRuleError(
            f"a copy of a {cls.__name__}, which says itself how it is copied", None, "Make the new object from its fields."
        )


_FROMKEYS = dict.fromkeys  # a new object each time it is read


@rrule.register(_FROMKEYS)
def fromkeys_rrule(iterable, value=None, /):
    """Every key has the same value, which gets the sum of their cotangents."""
    y = dict.fromkeys(iterable, value)

    def fromkeys_pullback(y_bar):
        return NoTangent(), NoTangent(), sum_of_bars(y_bar.values())

    return y, fromkeys_pullback


def sum_of_bars(bars: Collection[Any]) -> Any:
    """The sum of cotangents of one value."""
    total: Any = None
    for bar in bars:
        total = accumulate(total, bar)
    return total


examples(copy.copy, ([1.0, 2.0],), ({"a": 1.0},), (1.5,), (np.array([1.0, 2.0]),))
examples(copy.deepcopy, ([1.0, [2.0, 3.0]],), ((1.0, {"a": 2.0}),))
examples(_FROMKEYS, (("a", "b"), 1.5), (["a"],))
