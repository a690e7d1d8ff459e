"""Arguments in sight: objects, and lists, tuples and dicts of them, that the function only reads.

    model                       holder, an object of class Model
      .layers                   holder, a list of one item
        [0]                     holder, an object of class Dense
          .w                    leaf, an input of the compiled function
          .activation           static, the function np.tanh

What is read of an argument is noted as a tree, and nothing is looked at that is not read. Each part is found again in the next
call by the same steps.
"""

from __future__ import annotations

import enum
import operator
import types
from collections.abc import Iterable, Set
from typing import Any, Protocol

import numpy as np

from microgradpy.ir.nodes import Const, DictItems, Each, Enumerate, Items, Op, Range, Region, Reversed, Value, Var, Zip, fresh
from microgradpy.ir.traversal import walk
from microgradpy.promotion.classes import is_in_sight, is_record
from microgradpy.promotion.places import CONTAINERS, Frame, Known, Part
from microgradpy.runtime.bytecode import names_in, variables_in
from microgradpy.runtime.libraries import is_of_large_library, is_of_users

NUMBERS = frozenset((int, float, complex, np.float64, np.float32, np.int64, np.int32, np.complex128, np.complex64, np.bool))
LITERALS = frozenset((bool, str, bytes, type(None)))
IDENTICAL = (np.ufunc, type, types.BuiltinFunctionType, types.ModuleType, enum.Enum, np.dtype)
"""Of what is of these classes nothing is to be known but that it is the same one."""
CALLED = (types.FunctionType, types.BuiltinFunctionType, type, np.ufunc)
_LARGEST = 64
MOST_ROUNDS = 32
"""Loops over more items than that are not written out."""

_LIBRARIES = frozenset(
    ("numpy", "scipy", "fractions", "decimal", "datetime", "random", "functools", "itertools", "collections")
)
"""Modules with classes that are more than their fields."""
OF_RECORDS = frozenset(("__getitem__", "__iter__", "__len__"))
"""The methods that a namedtuple has of `tuple`, unless somebody writes others."""
STATIC = (*LITERALS, int)
_FOLDED = frozenset(
    getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge", "not_", "add", "sub", "mul", "mod", "contains")
) | {str, len, slice}
"""What is computed of literals and whole numbers when the function is compiled."""


def is_holder(value: Any) -> bool:
    """Whether a value has parts that can be in sight."""
    cls = type(value)
    if cls in CONTAINERS:
        return cls is not dict or all(type(key) in (str, int) for key in value)
    library = str(cls.__module__).partition(".")[0]
    if library in _LIBRARIES or is_of_large_library(cls):
        return False
    return is_in_sight(cls) or (is_record(cls) and OF_RECORDS.isdisjoint(vars(cls)))


def holds_objects(value: Any, depth: int = 4) -> bool:
    """Whether a value is an object that can be in sight, or a container of some, or of functions."""
    cls = type(value)
    if cls not in CONTAINERS:
        return cls not in NUMBERS and cls is not np.ndarray and is_holder(value)
    if len(value) > _LARGEST or not depth:
        return False
    return any(isinstance(item, CALLED) or holds_objects(item, depth - 1) for item in _items(value))


def holds_layers(value: Any, depth: int = 4, is_layer: bool = False) -> bool:
    """Whether a value is or holds a short list of containers with arrays, as `[(w, b), (w, b)]`: a list of known length, since
    nothing is proven of what containers in a list hold."""
    cls = type(value)
    if cls is np.ndarray:
        return is_layer
    if cls not in CONTAINERS or len(value) > MOST_ROUNDS or not depth:
        return False
    items = _items(value) if is_layer else [item for item in _items(value) if type(item) is not np.ndarray]
    return any(holds_layers(item, depth - 1, is_layer or cls is list) for item in items)


def _items(container: Any) -> Iterable[Any]:
    return container.values() if type(container) is dict else container


def objects_named(code: types.CodeType, namespace: dict[str, Any], seen: set[types.CodeType] | None = None) -> bool:
    """Whether the code of a function, or of one that it calls by name, names a variable of its module that is an object that
    can be in sight, or holds some."""
    seen = set() if seen is None else seen
    seen.add(code)
    for name in variables_in.__wrapped__(code):  # what remembers would keep the code alive
        found = namespace.get(name)
        if isinstance(found, types.FunctionType):
            is_new = found.__globals__ is namespace and found.__code__ not in seen
            if is_new and objects_named(found.__code__, namespace, seen):
                return True
        elif any(holds_objects(value) for value in _named_in(found, code)):
            return True
    return False


def _named_in(found: Any, code: types.CodeType) -> Iterable[Any]:
    """What code reads that names a variable: the variable itself, or what it reads of a module or class of the user's."""
    if not isinstance(found, types.ModuleType | type):
        return (found,)
    if not is_of_users(found):
        return ()
    namespace = vars(found)
    return [namespace[name] for name in names_in.__wrapped__(code) if name in namespace]


def is_plain_function(value: Any) -> bool:
    """Whether a function is nothing but its code."""
    return isinstance(value, types.FunctionType) and not (value.__closure__ or value.__defaults__ or value.__kwdefaults__)


def known_of(part: Part, wholes: Set[tuple[Any, ...]]) -> Known | None:
    """What a part is for who reads it; None if it cannot be in sight."""
    value, cls = part.value, part.cls
    if cls in NUMBERS or cls is np.ndarray or part.path in wholes:
        return fresh(part.hint, True)
    if cls in LITERALS:
        return Const(value)
    if isinstance(value, IDENTICAL):
        return _constant(value)
    if isinstance(value, types.FunctionType):
        return _constant(value) if is_plain_function(value) else None
    return part if is_holder(value) else None


def _constant(value: Any) -> Const:
    name = str(getattr(value, "__name__", ""))
    if isinstance(value, np.ufunc) and getattr(np, name, None) is value:
        return Const(value, f"np.{name}", np)
    return Const(value, name if name.isidentifier() else "", value)


Rounds = list[dict[Var, Known]]


class Reader(Protocol):
    """Who knows what the variables of a program are."""

    def known(self, value: Value, frame: Frame) -> Known: ...

    def items(self, known: Known) -> tuple[Known, ...] | None: ...

    def pairs(self, known: Known) -> list[tuple[Any, Known]] | None: ...


def rounds_of(reader: Reader, items: Items, body: Region, frame: Frame) -> Rounds | None:
    """What the variables of a loop are in each iteration, if it is written out: it runs over parts of arguments."""
    match items:
        case Each(source=source, item=item):
            known = reader.known(source, frame)
            if isinstance(known, Part) and known.is_container and all(type(each) in NUMBERS for each in known.value):
                return None
            found = reader.items(known)
            return None if found is None else [{item: each} for each in found]
        case DictItems(source=source, key=key, value=value):
            pairs = reader.pairs(reader.known(source, frame))
            return None if pairs is None else [{key: Const(name), value: each} for name, each in pairs]
        case Range(arguments=arguments, item=item):
            return _numbers([reader.known(value, frame) for value in arguments], item, body)
        case Reversed(inner=inner):
            inside = rounds_of(reader, inner, body, frame)
            return None if inside is None else inside[::-1]
        case Enumerate(inner=inner, start=start, index=index):
            first, inside = reader.known(start, frame), rounds_of(reader, inner, body, frame)
            if inside is None or not isinstance(first, Const) or type(first.value) is not int:
                return None
            return [{index: Const(first.value + number), **each} for number, each in enumerate(inside)]
        case Zip(inners=inners, strict=strict):
            return _together([rounds_of(reader, inner, body, frame) for inner in inners], strict)
    return None


def _together(inner: list[Rounds | None], strict: bool) -> Rounds | None:
    known = [each for each in inner if each is not None]
    if len(known) != len(inner) or (strict and len(set(map(len, known))) > 1):
        return None
    return [{var: found for each in together for var, found in each.items()} for together in zip(*known, strict=False)]


def _numbers(bounds: list[Known], item: Var, body: Region) -> Rounds | None:
    """Those of a range, if somebody asks for the items with these numbers, or computes names with them."""
    numbers = [each.value for each in bounds if isinstance(each, Const) and type(each.value) is int]
    if len(numbers) != len(bounds) or (len(numbers) == 3 and not numbers[2]):
        return None
    found = range(*numbers)
    return None if len(found) > MOST_ROUNDS or not _asks(body, item) else [{item: Const(number)} for number in found]


def _asks(body: Region, number: Var) -> bool:
    for statement in walk(body):
        if isinstance(statement, Op) and isinstance(statement.callee, Const) and number in statement.arguments[-1:]:
            if statement.callee.value in (operator.getitem, str):
                return True
    return False


def folded_call(function: Any, arguments: tuple[Known, ...], leaves: Set[Var]) -> Const | None:
    """What is known of a call of constants before it is made; of `leaves` that they are not None."""
    if not arguments or not all(isinstance(each, Const) for each in arguments[1:]):
        return None
    values = [each.value for each in arguments if isinstance(each, Const)]
    if function is operator.is_ or function is operator.is_not:
        if len(values) == 2:
            return Const((values[0] is values[1]) is (function is operator.is_))
        is_number = arguments[0] in leaves and values == [None]
        return Const(function is operator.is_not) if is_number else None
    if len(values) != len(arguments) or not all(type(value) in STATIC for value in values):
        return None
    if not isinstance(function, types.BuiltinFunctionType | type) or function not in _FOLDED:
        return None
    try:
        found = function(*values)
    except Exception:
        return None  # it raises that when it runs
    return Const(found) if type(found) in (*STATIC, slice) else None
