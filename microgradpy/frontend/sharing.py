"""Which variables are shared by functions and rebound while they are: those live in cells, all others are plain values.

A local variable is shared if a function inside assigns it (`nonlocal`), or if it gets a new value while a function that
captured it may still be called. The first can be read off the code objects of the file; the second is found when the function
that owns the variable is lowered, which is before any function that it makes can be called. A module variable counts as
rebound if a function of the module assigns it (`global`).
"""

from __future__ import annotations

import dis
import functools
import types
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

INLINE_SCOPES = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_STORES = ("STORE_DEREF", "DELETE_DEREF")
_GLOBAL_STORES = ("STORE_GLOBAL", "DELETE_GLOBAL")


def functions_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code objects of the functions and classes that a function makes, in its comprehensions as well."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            if is_inline(constant):
                yield from functions_in(constant)
            else:
                yield constant


def generator_expressions_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code objects of the generator expressions of a function, which are functions too if they are kept; also of those
    inside of one that is a part of the function, because a builtin consumes it on the spot."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType) and is_inline(constant):
            if constant.co_name == "<genexpr>":
                yield constant
            yield from generator_expressions_in(constant)


def is_inline(code: types.CodeType) -> bool:
    """Whether code is part of the function around: a comprehension, or type parameters."""
    return code.co_name in INLINE_SCOPES or code.co_name.startswith("<generic parameters")


def rebound_inside(code: types.CodeType) -> frozenset[str]:
    """The variables of a function, its own and those that it captured, that functions inside assign or delete."""
    return frozenset().union(*map(rebound_captures, functions_in(code)))


@functools.lru_cache(maxsize=4096)
def _stored(code: types.CodeType) -> frozenset[str]:
    found = _arguments(code, _STORES)
    inner = (_stored(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
    return found.union(*inner)


def _arguments(code: types.CodeType, names: tuple[str, ...]) -> frozenset[str]:
    """The names that instructions of these kinds have."""
    if not any(dis.opmap[name] in code.co_code[::2] for name in names):
        return frozenset()
    return frozenset(instruction.argval for instruction in dis.get_instructions(code) if instruction.opname in names)


def rebound_captures(code: types.CodeType) -> frozenset[str]:
    """The captured variables that a function, or a function inside it, assigns or deletes."""
    return _stored(code) & frozenset(code.co_freevars)


@functools.lru_cache(maxsize=4096)
def assigned_globals(code: types.CodeType) -> frozenset[str]:
    """The module variables that a function, or a function inside it, assigns or deletes."""
    found = _arguments(code, _GLOBAL_STORES)
    inner = (assigned_globals(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
    return found.union(*inner)


def shared_in(code: types.CodeType, known: frozenset[str]) -> Iterator[tuple[types.CodeType, frozenset[str]]]:
    """Each function inside with those of its captured variables that are shared, given those of this function's."""
    shared = known | rebound_inside(code)
    for inner in (*functions_in(code), *generator_expressions_in(code)):
        captured = shared & frozenset(inner.co_freevars)
        yield inner, captured
        yield from shared_in(inner, captured)


def shared_by_inner(code: types.CodeType) -> frozenset[str]:
    """The variables of a function that are known to be shared, as a function inside captured them. A generator expression has
    variables of its own where it is kept, and those of the function around where it is not; which, its code does not tell."""
    inner = (*functions_in(code), *generator_expressions_in(code))
    known = frozenset[str]().union(*(known_shared(each) or () for each in inner))
    return known & frozenset(code.co_cellvars)


# What is known of the code objects that run

CHANGES = [0]
"""Counts what is noted here, for who keeps what depends on it."""
_Known = dict[int, tuple[weakref.ref[types.CodeType], frozenset[str]]]
_shared: _Known = {}
_own: _Known = {}


def known_shared(code: types.CodeType) -> frozenset[str] | None:
    """The shared ones among the variables that a function captured; None if nobody has asked yet."""
    return _found(_shared, code)


def note_shared(code: types.CodeType, names: frozenset[str]) -> None:
    """Note that captured variables of a function are shared."""
    _note(_shared, code, names)


def known_cells(code: types.CodeType) -> frozenset[str]:
    """The variables of a function that were found to need cells when it was lowered before, maybe in another mode: functions
    inside rely on that."""
    return _found(_own, code) or frozenset()


def note_cells(code: types.CodeType, names: frozenset[str]) -> None:
    """Note that variables of a function need cells."""
    _note(_own, code, names)


def _found(table: _Known, code: types.CodeType) -> frozenset[str] | None:
    known = table.get(id(code))
    return known[1] if known is not None and known[0]() is code else None


def _note(table: _Known, code: types.CodeType, names: frozenset[str]) -> None:
    names |= _found(table, code) or frozenset()
    CHANGES[0] += 1
    if len(table) > 4096:
        for key in [key for key, (reference, _) in table.items() if reference() is None]:
            del table[key]
    table[id(code)] = weakref.ref(code), names


_rebound: dict[int, tuple[Mapping[str, Any], set[str]]] = {}


def rebound_globals(namespace: Mapping[str, Any]) -> frozenset[str]:
    """The module variables that functions of the module are known to assign."""
    known = _rebound.get(id(namespace))
    return frozenset(known[1]) if known is not None else frozenset()


_looked: dict[int, tuple[int, ...]] = {}


def note_globals(namespace: Mapping[str, Any], codes: Iterable[types.CodeType] = ()) -> None:
    """Note the module variables that these functions, and those that are in the module now, assign."""
    content = tuple(map(id, list(namespace.values())))
    is_new = _looked.get(id(namespace)) != content
    if is_new:
        if len(_looked) > 1024:
            _looked.clear()
        _looked[id(namespace)] = content
    found = set().union(*map(assigned_globals, (*codes, *(_functions_of(namespace) if is_new else ()))))
    if found:
        CHANGES[0] += 1
        _rebound.setdefault(id(namespace), (namespace, set()))[1].update(found)


def _functions_of(namespace: Mapping[str, Any]) -> Iterator[types.CodeType]:
    for value in list(namespace.values()):
        for held in vars(value).values() if isinstance(value, type) else (value,):
            function = getattr(held, "__func__", held) if isinstance(held, staticmethod | classmethod) else held
            if isinstance(function, types.FunctionType) and function.__globals__ is namespace:
                yield function.__code__
