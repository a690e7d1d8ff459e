"""Calls of known functions that run code which they are given: a key function, an iterator, an object with `__iter__`.

What such code does is not known from the function that runs it: it may write into all that it reaches.
"""

from __future__ import annotations

import collections
import functools
import itertools
import types
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from microgradpy.ir.kinds import Inert, Kind, Unknown, features_of_kind
from microgradpy.ir.nodes import Const, Value
from microgradpy.passes.typed_builder import Keywords
from microgradpy.runtime.iterators import STREAMS
from microgradpy.runtime.protocols import CONSUMERS
from microgradpy.state.iteration import walked

_CALLERS: Any = frozenset({
    functools.reduce, map, filter, itertools.starmap, itertools.accumulate, itertools.takewhile, itertools.dropwhile,
    itertools.filterfalse, itertools.groupby, np.apply_along_axis, np.apply_over_axes, np.fromfunction, np.piecewise,
})  # fmt: skip
"""Functions that call some of their arguments."""
_READERS: Any = CONSUMERS | frozenset(STREAMS) | {
    set, frozenset, dict, any, all, next, collections.deque, list.extend, dict.update, collections.deque.extend, walked,
    str.join,
}  # fmt: skip
"""Functions that ask some of their arguments for items."""
_ITERATION = frozenset({"__iter__", "__next__", "__getitem__"})
_CALLABLE = ("function", "method", "builtin_function_or_method", "partial", "method-wrapper")


def runs_given_code(function: Any, arguments: Sequence[Value], keywords: Keywords, kinds: Sequence[Kind]) -> bool:
    """Whether a call runs code that it is given; `kinds` are those of the arguments and keywords."""
    values = (*arguments, *(value for _, value in keywords))
    try:
        calls, reads = function in _CALLERS, function in _READERS
    except TypeError:
        return False
    if calls and any(_is_code(value, kind) for value, kind in zip(values, kinds, strict=True)):
        return True
    if reads and any(map(gives_items, kinds)):
        return True
    keys = [(value, kind) for (name, value), kind in zip(keywords, kinds[len(arguments) :], strict=True) if name == "key"]
    return any(_is_code(value, kind) for value, kind in keys)


def gives_items(kind: Kind) -> bool:
    """Whether code may run when a value of this kind is asked for its items."""
    return not _ITERATION.isdisjoint(features_of_kind(kind).operators)


def any_gives_items(kinds: Iterable[Kind]) -> bool:
    return any(map(gives_items, kinds))


def _is_code(value: Value, kind: Kind) -> bool:
    if isinstance(value, Const):
        bound = getattr(value.value, "__self__", None)
        return callable(value.value) and (
            isinstance(value.value, types.FunctionType | types.MethodType | functools.partial)
            or (bound is not None and not isinstance(bound, types.ModuleType))
        )
    return isinstance(kind, Unknown) or (isinstance(kind, Inert) and kind.name in _CALLABLE)
