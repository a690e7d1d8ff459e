"""Calls of known functions that run code which they are given: a key function, an iterator, an object with `__iter__`.

What such code does is not known from the function that runs it: it may write into all that it reaches.
"""

from __future__ import annotations

import collections
import functools
import itertools
import operator
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from microgradpy.ir.kinds import Inert, Kind, Sequence, TupleOf, Unknown, features_of_kind
from microgradpy.ir.nodes import Const, Value
from microgradpy.ir.objects import is_function, static_member
from microgradpy.ir.traversal import given_values
from microgradpy.passes.typed_builder import Keywords
from microgradpy.runtime.asking import (
    ANYTHING,
    MAY_WRITE,
    TAKE_NUMBERS,
    TEXTS,
    asks_within,
    may_ask_anything,
    that_write,
    told_by,
)
from microgradpy.runtime.iterators import STREAMS, walked
from microgradpy.runtime.protocols import CONSUMERS, asks_for
from microgradpy.runtime.special_methods import METHODS_ASKED

_CALLERS: Any = frozenset({
    functools.reduce, map, filter, iter, itertools.starmap, itertools.accumulate, itertools.takewhile, itertools.dropwhile,
    itertools.filterfalse, itertools.groupby, np.apply_along_axis, np.apply_over_axes, np.fromfunction, np.piecewise,
})  # fmt: skip
"""Functions that call some of their arguments."""
_READERS: Any = CONSUMERS | frozenset(STREAMS) | {
    set, frozenset, dict, any, all, next, collections.deque, list.extend, dict.update, collections.deque.extend, walked,
    str.join,
}  # fmt: skip
"""Functions that ask some of their arguments for items."""
_ITERATION = frozenset({"__iter__", "__next__", "__getitem__"})
_OF_KEYS: Any = frozenset({
    operator.getitem, operator.setitem, dict.get, dict.setdefault, dict.pop, list.pop, list.insert,
})  # fmt: skip
"""Functions that ask a key for its hash, or an index for its number."""
_ANYTHING = MAY_WRITE | frozenset(ANYTHING)
_SHOWN = that_write(TEXTS) | frozenset(TEXTS)
_CALLABLE = ("function", "method", "builtin_function_or_method", "partial", "method-wrapper")


def runs_given_code(function: Any, arguments: tuple[Value, ...], keywords: Keywords, kinds: tuple[Kind, ...]) -> bool:
    """Whether a call runs code that it is given; `kinds` are those of the arguments and keywords."""
    values = given_values(arguments, keywords)
    try:
        calls, reads = function in _CALLERS, function in _READERS
    except TypeError:
        return False
    if calls and any(_is_code(value, kind) for value, kind in zip(values, kinds, strict=True)):
        return True
    if (reads and any(map(gives_items, kinds))) or tells(function, kinds):
        return True
    keys = [(value, kind) for (name, value), kind in zip(keywords, kinds[len(arguments) :], strict=True) if name == "key"]
    return any(_is_code(value, kind) for value, kind in keys)


def tells(function: Any, kinds: Iterable[Kind]) -> bool:
    """Whether a builtin such as `len` or `str` may ask one of the user's classes; its method may write."""
    return answers(told_by(function), kinds)


def asks_class(function: Any, kinds: Iterable[Kind]) -> bool:
    """Whether an operator or a builtin may call a method of one of the user's classes, in a run that tracks writes: it may
    write, and keep what it is given. Of an object that was stored somewhere nothing is known."""
    kinds = list(kinds)
    if may_ask_anything(function):
        return answers(_ANYTHING, kinds) or any(map(_may_be_called, kinds))
    if isinstance(function, type) and issubclass(function, BaseException):
        return answers(_SHOWN, kinds) or any(is_function(static_member(function, name)) for name in TEXTS)
    told = told_by(function)
    if told and function not in _OF_KEYS:
        # Not so for operators, most of which are those of numbers, nor for what takes numbers: there the kind has what the
        # classes that the code names answer (`operators_met`).
        is_arithmetic, within = function in METHODS_ASKED or function in TAKE_NUMBERS, asks_within(function)
        if any((isinstance(kind, Unknown) and not is_arithmetic) or (within and _holds_unknown(kind)) for kind in kinds):
            return True
    return answers(asks_for(function) | told | that_write(told), kinds)


def _may_be_called(kind: Kind) -> bool:
    """Whether a value, or an item of a sequence, is a function."""
    match kind:
        case Inert(name=name):
            return name in _CALLABLE
        case TupleOf(items=items):
            return any(map(_may_be_called, items))
        case Sequence(item=item):
            return _may_be_called(item)
    return False


def answers(methods: frozenset[str], kinds: Iterable[Kind]) -> bool:
    return bool(methods) and any(not methods.isdisjoint(features_of_kind(kind).operators) for kind in kinds)


def _holds_unknown(kind: Kind) -> bool:
    return isinstance(kind, Sequence) and isinstance(kind.item, Unknown)


def gives_items(kind: Kind) -> bool:
    """Whether code may run when a value of this kind is asked for its items."""
    return not _ITERATION.isdisjoint(features_of_kind(kind).operators)


def may_run_generator(function: Any, kinds: Iterable[Kind]) -> bool:
    """Whether a call may advance a generator, or another iterator that runs the user's code: what is not known may be one."""
    try:
        return function in _READERS and any_unknown(kinds)
    except TypeError:
        return False


def any_unknown(kinds: Iterable[Kind]) -> bool:
    return any(isinstance(kind, Unknown) for kind in kinds)


def _is_code(value: Value, kind: Kind) -> bool:
    if isinstance(value, Const):
        bound = getattr(value.value, "__self__", None)
        return callable(value.value) and (
            isinstance(value.value, types.FunctionType | types.MethodType | functools.partial)
            or (bound is not None and not isinstance(bound, types.ModuleType))
        )
    return isinstance(kind, Unknown) or (isinstance(kind, Inert) and kind.name in _CALLABLE)
