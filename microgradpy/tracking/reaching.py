"""What a value leads to: what it holds, what functions have captured, what methods belong to, what arrays are views of."""

from __future__ import annotations

import functools
import random
import types
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from microgradpy.tracking.snapshots import is_atom, is_plain_object, parts_of

_CODE = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType, functools.partial)
_CONTAINERS = (list, dict, set, deque, bytearray, np.ndarray)


def leads_on(value: Any) -> bool:
    """Whether there is something that can change in a value, or behind it: numbers and texts are asked about most."""
    return type(value) not in _NUMBERS_AND_TEXTS and (isinstance(value, _CODE) or not is_atom(value))


_NUMBERS_AND_TEXTS = frozenset((float, int, bool, str, type(None)))


def reached(value: Any) -> Iterator[Any]:
    """A value and everything in it that can change, each object once."""
    seen: dict[int, Any] = {}
    pending = [value]
    while pending:
        one = pending.pop()
        if id(one) in seen or not leads_on(one):
            continue
        seen[id(one)] = one
        yield one
        pending += _inside(one)


def hidden(value: Any) -> list[Any]:
    """What a value leads to by ways on which it is not copied: through functions, arrays of objects and frozen sets."""
    found: dict[int, Any] = {}
    for one in reached(value) if leads_on(value) else ():
        if isinstance(one, (*_CODE, frozenset)) or (isinstance(one, np.ndarray) and one.dtype.hasobject):
            found |= {id(part): part for held in _inside(one) for part in reached(held) if not is_atom(part)}
    return list(found.values())


def has_hidden_state(value: Any) -> bool:
    """Whether something holds what may change without being among the values of the trace: it is made anew."""
    return leads_on(value) and any(map(_is_hidden, reached(value)))


def draws(value: Any) -> bool:
    """Whether something gives random numbers, which are asked again only where they are wanted anew."""
    return isinstance(value, random.Random | np.random.Generator | np.random.RandomState)


def _is_hidden(value: Any) -> bool:
    match value:
        case types.FunctionType():
            return value.__closure__ is not None
        case types.MethodType() | types.BuiltinFunctionType() | types.MethodWrapperType():
            owner = value.__self__
            return isinstance(owner, _CONTAINERS) or (not is_atom(owner) and is_plain_object(type(owner)))
        case frozenset():
            return not all(map(is_atom, value))
        case np.ndarray():
            return value.dtype.hasobject and not all(map(is_atom, value.ravel().tolist()))
    return isinstance(value, Iterator)


def _inside(value: Any) -> list[Any]:
    match value:
        case types.FunctionType():
            named = (*(value.__kwdefaults__ or {}).values(), *vars(value).values())
            return [*(value.__closure__ or ()), *(value.__defaults__ or ()), *named]
        case types.MethodType():
            return [value.__self__, value.__func__]
        case types.BuiltinFunctionType() | types.MethodWrapperType():
            return [value.__self__]
        case functools.partial():
            return [value.func, *value.args, *value.keywords.values()]
        case np.ndarray():
            return [value.base, *(value.ravel().tolist() if value.dtype.hasobject else ())]
        case tuple() | frozenset():
            return list(value)
    return parts_of(value) or _of_subclass(value)


def _of_subclass(value: Any) -> list[Any]:
    """The items of what inherits from a container of Python: asked without any code of the class."""
    if isinstance(value, dict):
        return [part for pair in dict.items(value) for part in pair]
    if isinstance(value, list):
        return list(list.__iter__(value))
    if isinstance(value, set):
        return list(set.__iter__(value))
    return list(deque.__iter__(value)) if isinstance(value, deque) else []
