"""Which variables are shared by functions and rebound while they are: those live in cells, all others are plain values.

A local variable is shared if a function inside assigns it (`nonlocal`), or if it gets a new value while a function that
captured it may still be called. The first can be read off the code objects of the file; the second is found when the function
that owns the variable is lowered, which is before any function that it makes can be called. A module variable counts as
rebound if a function of the module assigns it (`global`), and so does an attribute of a class, as far as the text shows that it
is one:

    Meter.total += x              a variable that means a class
    cls.count = 0                 what is called as the first argument of class methods is
    type(self).total = x          the class of an object; also `self.__class__.total`
    setattr(Meter, "total", x)    any name among the texts of a function that has `setattr` in it

What is assigned to a class in another way is refused when it is reached (`microgradpy.state.variables`): it is constant.
"""

from __future__ import annotations

import dis
import functools
import threading
import types
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, final

from microgradpy.runtime.bytecode import texts_in

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


def with_own_cells(code: types.CodeType) -> types.CodeType:
    """The same code for a function that has captured its variables for itself: of these only those are shared that it
    assigns."""
    known = _copies.get(id(code))
    if known is None or known[0]() is not code:
        if len(_copies) > 1024:
            _copies.clear()
        copy = _copied(code)
        own = rebound_captures(copy)
        note_shared(copy, own)
        for inner, names in shared_in(copy, own):
            note_shared(inner, names)
        known = _copies[id(code)] = weakref.ref(code), copy
    return known[1]


def _copied(code: types.CodeType) -> types.CodeType:
    constants = (_copied(each) if isinstance(each, types.CodeType) else each for each in code.co_consts)
    return code.replace(co_consts=tuple(constants))


_copies: dict[int, tuple[weakref.ref[types.CodeType], types.CodeType]] = {}


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


@final
class _Compile(threading.local):
    """The modules that a compile of this thread, in which no code of the user's runs, has looked at."""

    modules: set[int] | None = None


_COMPILE = _Compile()


@contextmanager
def looking_once() -> Iterator[None]:
    """Inside the block each module is looked at once: what its variables are does not change."""
    outer = _COMPILE.modules
    _COMPILE.modules = set() if outer is None else outer
    try:
        yield
    finally:
        _COMPILE.modules = outer


def note_globals(namespace: Mapping[str, Any], codes: Iterable[types.CodeType] = ()) -> None:
    """Note the module variables, and the attributes of classes, that these functions and those that are in the module now
    assign."""
    is_new = not _is_looked_at(namespace)
    codes = (*codes, *(_functions_of(namespace) if is_new else ()))
    found = set().union(*map(assigned_globals, codes))
    assigned = set[tuple[str, str]]().union(*map(assigned_attributes, codes))
    if assigned:
        _assigned.setdefault(id(namespace), (namespace, set()))[1].update(assigned)
    if found:
        CHANGES[0] += 1
        _rebound.setdefault(id(namespace), (namespace, set()))[1].update(found)


def _is_looked_at(namespace: Mapping[str, Any]) -> bool:
    """Whether what the variables of a module are has been looked at; it counts as that from now on."""
    modules = _COMPILE.modules
    if modules is not None and id(namespace) in modules:
        return True
    content = tuple(map(id, list(namespace.values())))
    is_known = _looked.get(id(namespace)) == content
    if not is_known:
        if len(_looked) > 1024:
            _looked.clear()
        _looked[id(namespace)] = content
    if modules is not None:
        modules.add(id(namespace))
    return is_known


def _functions_of(namespace: Mapping[str, Any]) -> Iterator[types.CodeType]:
    for value in list(namespace.values()):
        for held in vars(value).values() if isinstance(value, type) else (value,):
            function = getattr(held, "__func__", held) if isinstance(held, staticmethod | classmethod) else held
            if isinstance(function, types.FunctionType) and function.__globals__ is namespace:
                yield function.__code__


# Attributes of classes


_ATTRIBUTE_STORES = ("STORE_ATTR", "DELETE_ATTR")
_STORES_BY_NAME = frozenset({"setattr", "delattr", "__setattr__", "__delattr__"})
NAMES_OF_CLASSES = frozenset({"cls", "klass", "mcs", "mcls", "metacls"})
"""What variables are called that hold a class."""
_ANY = ""
"""Stands for any class."""


@functools.lru_cache(maxsize=4096)
def assigned_attributes(code: types.CodeType) -> frozenset[tuple[str, str]]:
    """The attributes that a function, or one inside of it, assigns to what may be a class: pairs of the name of the class, if
    it is one, and the attribute."""
    inner = [assigned_attributes(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return frozenset(_assigned_by(code)).union(*inner)


def _assigned_by(code: types.CodeType) -> Iterator[tuple[str, str]]:
    by_name = not _STORES_BY_NAME.isdisjoint(code.co_names)
    stores = by_name or any(dis.opmap[name] in code.co_code[::2] for name in _ATTRIBUTE_STORES)
    if not stores or code.co_filename == "<string>":
        return  # what `dataclasses` has written assigns to objects
    steps = [step for step in dis.get_instructions(code) if step.opname not in _NO_STEPS]
    for number, step in enumerate(steps):
        owner: str | None = None
        names: tuple[str, ...] = (step.argval,)
        if step.opname in _ATTRIBUTE_STORES:
            owner = _owner(code, steps, number)
        elif by_name and step.opname in _LOADS_OF_FUNCTIONS and step.argval in _STORES_BY_NAME:
            owner, names = _arguments_of(code, steps[number + 1 :])
        if owner is not None:
            yield from ((owner, name) for name in names)


_NO_STEPS = ("CACHE", "EXTENDED_ARG", "PUSH_NULL")
_LOADS_OF_FUNCTIONS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR", "LOAD_METHOD")


def _arguments_of(code: types.CodeType, steps: list[dis.Instruction]) -> tuple[str | None, tuple[str, ...]]:
    """What `setattr` gets: the class, if it may be one, and the name; any text in the function, if that is computed."""
    first, second = steps[0], steps[1]
    is_text = second.opname == "LOAD_CONST" and isinstance(second.argval, str)
    if first.opname == "LOAD_GLOBAL" and first.argval == "type":
        return _class_around(code), texts_in(code)
    loaded = first.argval[0] if isinstance(first.argval, tuple) else first.argval
    return _named_owner(code, first.opname, loaded), (second.argval,) if is_text else texts_in(code)


def _owner(code: types.CodeType, steps: list[dis.Instruction], number: int) -> str | None:
    """The name of the class that an attribute is assigned to; None if it is none, as far as the text shows."""
    before = number - 1
    if steps[before].opname == "SWAP":  # x.a += y: the object was copied to read the attribute
        name = steps[number].argval
        reads = (at for at in range(before, 0, -1) if steps[at].opname == "LOAD_ATTR" and steps[at].argval == name)
        before = next((at - 2 for at in reads if steps[at - 1].opname == "COPY"), before)
    made = steps[before]
    if made.opname in ("CALL", "CALL_FUNCTION_EX"):
        return _class_around(code) if "type" in code.co_names else None
    return _named_owner(code, made.opname, made.argval[-1] if isinstance(made.argval, tuple) else made.argval)


def _named_owner(code: types.CodeType, how: str, name: object) -> str | None:
    if not isinstance(name, str) or not how.startswith(("LOAD", "STORE_FAST_LOAD")):
        return None
    return _class_around(code) if name in NAMES_OF_CLASSES or name == "__class__" else name


def _class_around(code: types.CodeType) -> str:
    """The name of the class that a function is a method of, or is made in one; of any other, it may be any."""
    for part in reversed(code.co_qualname.split(".<locals>.")):
        if "." in part:
            return part.split(".")[-2]
    return _ANY


_assigned: dict[int, tuple[Mapping[str, Any], set[tuple[str, str]]]] = {}
"""By the identity of a module's variables: what its code assigns to classes."""


_by_makers: dict[tuple[object, str], set[str]] = {}
"""By the name of a module and that of a class in it: the attributes that the code which makes the class assigns."""


def note_class_variable(namespace: Mapping[str, Any], cls: str, name: str) -> None:
    """Note that the code that makes a class assigns an attribute of it."""
    _by_makers.setdefault((namespace.get("__name__"), cls), set()).add(name)


def assigned_by_makers(cls: type) -> frozenset[str]:
    """The attributes of a class that the code which makes it assigns, or that of a class which it inherits from."""
    return frozenset[str]().union(*(_by_makers.get((base.__module__, base.__name__), ()) for base in cls.__mro__))


def count_assigned(namespace: Mapping[str, Any]) -> int:
    """How many attributes a module is known to assign."""
    known = _assigned.get(id(namespace))
    return 0 if known is None else len(known[1])


def class_variables(namespace: Mapping[str, Any], cls: type) -> frozenset[str]:
    """The attributes of a class that code of a module is known to assign."""
    known = _assigned.get(id(namespace))
    if known is None:
        return frozenset()
    metaclass: type = type(cls)
    bases = (*cls.__mro__, *metaclass.__mro__)
    names = {_ANY, *(base.__name__ for base in bases if base.__module__ != "builtins")}
    found = (
        name for owner, name in known[1] if owner in names or any(namespace.get(owner) is base for base in bases)
    )
    return frozenset(name for name in found if not (name.startswith("__") and name.endswith("__")))
