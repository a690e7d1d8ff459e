"""Objects of classes that store what they are given, made without calling what makes them.

    class Node:
        def __init__(self, value, next):
            self.value = value          an `__init__` that does nothing but this, for fields of an ordinary object
            self.next = next

So is it with the `__init__` that `dataclass` writes. Everything else is called (`microgradpy.state.known_calls`).
"""

from __future__ import annotations

import ast
import sys
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from microgradpy.errors import DifferentiationError
from microgradpy.frontend.source import find_source
from microgradpy.runtime.lookup_cache import NUMBERS
from microgradpy.runtime.modes import RUN
from microgradpy.state.known_access import is_ordinary, stores
from microgradpy.state.shadows import Shadows
from microgradpy.state.write_handlers import Made

Fields = tuple[tuple[str, int], ...]
"""The fields that a constructor stores, in its order, with the numbers of its arguments."""
_TOLD_BY_TYPE = NUMBERS | {str}
_SET: Callable[[Any, str, Any], None] = object.__setattr__


def is_plainly_made(cls: Any) -> bool:
    """Whether making an object is calling its `__init__`, and nothing is done when it is dropped."""
    return cls.__new__ is object.__new__ and is_ordinary(cls) and not hasattr(cls, "__del__")


def _stored(cls: Any, fields: Iterable[tuple[str, int]], values: list[Any], count: int) -> Made | None:
    """The object, with what undoes its making for `count` arguments; the rest of the values are defaults."""
    fields = tuple(fields)
    for name, _ in fields:
        if not stores(cls, name):
            return None
    y = object.__new__(cls)
    for name, number in fields:
        _SET(y, name, values[number])

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadow, bars = shadows.of(y), [None] * (1 + len(values))
        for name, number in reversed(fields):
            bars[1 + number] = shadow.take(name)
        return tuple(bars[: 1 + count])

    return y, undo


def filled_dataclass(cls: Any, args: tuple[Any, ...]) -> Made | None:
    """cls(*args) of a dataclass, with numbers and texts that are defaults."""
    fields = getattr(cls, "__dataclass_fields__", None)
    if fields is None or hasattr(cls, "__post_init__") or len(args) > len(fields):
        return None
    if not cls.__dataclass_params__.frozen and cls.__setattr__ is not object.__setattr__:
        return None
    if not all(field._field_type.name == "_FIELD" and field.init and not field.kw_only for field in fields.values()):
        return None
    defaults = [field.default for field in fields.values()][len(args) :]
    if not _TOLD_BY_TYPE.issuperset(map(type, defaults)):
        return None
    return _stored(cls, zip(fields, range(len(fields)), strict=True), [*args, *defaults], len(args))


_known: dict[int, tuple[weakref.ref[types.CodeType], Fields | None]] = {}
_LARGEST = 4096


def stored(cls: Any, init: types.FunctionType, args: tuple[Any, ...]) -> Made | None:
    """cls(*args), if `init` does nothing but store its arguments, each in one field; None where it does more, or somebody is to
    see it run."""
    code = init.__code__
    known = _known.get(id(code))
    if known is None or known[0]() is not code:
        if len(_known) > _LARGEST:
            _known.clear()
        known = _known[id(code)] = weakref.ref(code), _fields_of(init)
    missing = code.co_argcount - 1 - len(args)
    defaults = (init.__defaults__ or ())[-missing:] if missing else ()
    if known[1] is None or len(defaults) != missing or not _TOLD_BY_TYPE.issuperset(map(type, defaults)):
        return None
    if cls.__setattr__ is not object.__setattr__ or RUN.mode.stops or sys.gettrace() is not None:
        return None
    return _stored(cls, known[1], [*args, *defaults], len(args))


def _fields_of(init: types.FunctionType) -> Fields | None:
    code = init.__code__
    count = code.co_argcount
    if code.co_kwonlyargcount or code.co_nlocals != count or code.co_freevars or code.co_cellvars:
        return None
    try:
        tree = find_source(init).tree
    except DifferentiationError:
        return None
    if not isinstance(tree, ast.FunctionDef):
        return None
    numbers = {name: number for number, name in enumerate(code.co_varnames[1:count])}
    found: dict[str, int] = {}
    for statement in tree.body:
        match statement:
            case ast.Expr(value=ast.Constant()):
                continue
            case (
                ast.Assign(targets=[ast.Attribute(value=ast.Name(id=owner), attr=name)], value=ast.Name(id=given))
                | ast.AnnAssign(target=ast.Attribute(value=ast.Name(id=owner), attr=name), value=ast.Name(id=given))
            ) if owner == code.co_varnames[0] and given in numbers and name not in found and not name.startswith("__"):
                found[name] = numbers[given]
            case _:
                return None
    return tuple(found.items()) if len(set(found.values())) == len(found) else None
