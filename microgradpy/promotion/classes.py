"""What the classes of objects in sight make of constructors, attributes and operators, and what that relies on."""

from __future__ import annotations

import abc
import dataclasses
import enum
import types
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from microgradpy.ir.objects import static_member

ABSENT = object()
VARIABLE = object()
"""Stands for what is relied on of an attribute that code assigns to a class: that it is a value."""
_PLAIN = (int, float, bool, complex, str, type(None))
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
OWN_WAYS = ("__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__new__", "__del__")
"""The methods by which objects are more than their fields."""


def is_in_sight(cls: type) -> bool:
    """Whether the objects of a class consist of their fields, which are read and written as they stand."""
    if type(cls) not in (type, abc.ABCMeta) or cls.__module__ in ("builtins", "typing"):
        return False
    if getattr(cls, "__abstractmethods__", None):
        return False
    if not all(base is object or _is_written_in_python(base) for base in cls.__mro__):
        return False
    ways = {name for name in OWN_WAYS if static_member(cls, name) is not vars(object).get(name)}
    return not ways or (is_frozen(cls) and ways <= {"__setattr__", "__delattr__"})


def is_of_users(cls: Any) -> bool:
    """Whether something is a class that is written in Python, with nothing but its members under its names."""
    return type(cls) in (type, abc.ABCMeta) and _is_written_in_python(cls) and cls.__module__ != "typing"


def is_exception(cls: Any) -> bool:
    """Whether a class is one of exceptions, written in Python."""
    return type(cls) is type and issubclass(cls, BaseException) and _is_written_in_python(cls)


def _is_written_in_python(cls: type) -> bool:
    return bool(cls.__flags__ & _HEAP_TYPE)


def is_record(cls: type) -> bool:
    """Whether a class is a namedtuple: its objects are their fields, and nobody writes into them."""
    fields = vars(cls).get("_fields")
    if cls.__bases__ != (tuple,) or type(cls) is not type or not isinstance(fields, tuple):
        return False
    own = [name for name in ("__new__", "__getattribute__", "__init__") if _has_text(vars(cls).get(name))]
    return not own and all(type(vars(cls).get(name)).__name__ == "_tuplegetter" for name in fields)


def _has_text(function: Any) -> bool:
    """Whether a function is one of the user's, and not made by `namedtuple`."""
    return isinstance(function, types.FunctionType) and not function.__code__.co_filename.startswith("<")


def is_frozen(cls: type) -> bool:
    """Whether a class is a dataclass whose objects refuse to be written into."""
    parameters = getattr(cls, "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)


def generated_fields(cls: type, constructor: types.FunctionType) -> tuple[dataclasses.Field[Any], ...] | None:
    """The fields that a constructor sets which `dataclasses` has written; None for one of the user's."""
    if constructor.__code__.co_filename != "<string>" or "__dataclass_fields__" not in _owner(cls, "__init__"):
        return None
    fields = _owner(cls, "__init__")["__dataclass_fields__"].values()
    return tuple(each for each in fields if each._field_type is not dataclasses._FIELD_CLASSVAR)  # type: ignore[attr-defined]


def is_plain_field(each: dataclasses.Field[Any]) -> bool:
    return each._field_type is dataclasses._FIELD  # type: ignore[attr-defined]


def _owner(cls: type, name: str) -> Mapping[str, Any]:
    return next((vars(base) for base in cls.__mro__ if name in vars(base)), {})


def member(cls: type, name: str, after: type | None = None) -> Any:
    """What a class has under a name, or those behind `after` in its order; `ABSENT` if nothing."""
    order = cls.__mro__
    order = order if after is None else order[order.index(after) + 1 :]
    return next((vars(base)[name] for base in order if name in vars(base)), ABSENT)


def has_slots(cls: type) -> bool:
    """Whether objects of a class have fields besides those in their dict."""
    return any("__slots__" in vars(base) for base in cls.__mro__)


def is_constant(found: Any) -> bool:
    """Whether what a class has under a name is a literal."""
    return type(found) in _PLAIN


def is_field(found: Any) -> bool:
    """Whether reading and writing an attribute means the object's own, for what its class has under that name."""
    is_own = found is ABSENT or isinstance(found, types.MemberDescriptorType)
    return is_own or is_constant(found) or type(found) is tuple or isinstance(found, enum.Enum)


def takes(cls: type, found: Any) -> bool:
    """Whether objects of a class can be given an attribute, for what the class has under that name."""
    if isinstance(found, types.MemberDescriptorType):
        return True
    has_dict = cls.__dictoffset__ != 0  # or there are the slots only
    is_value = not any(hasattr(type(found), name) for name in ("__get__", "__set__", "__delete__"))
    return has_dict and (is_field(found) or is_value or isinstance(found, types.FunctionType))


def is_own_class(cls: type) -> bool:
    """Whether it is one of the package's, in the place of a builtin class, whose members nobody replaces."""
    return all(base is object or base.__module__.startswith(_RUN_TIME) for base in cls.__mro__)


_RUN_TIME = f"{__name__.partition('.')[0]}.runtime."
_lineages: weakref.WeakKeyDictionary[type, Lineage] = weakref.WeakKeyDictionary()
_lineages_of_variables: weakref.WeakKeyDictionary[type, Lineage] = weakref.WeakKeyDictionary()


def lineage(cls: type, found: Any = None) -> Lineage:
    """The namespace of a class, in which to look for what has been `found`: the same one each time."""
    known, kind = (_lineages, Lineage) if found is not VARIABLE else (_lineages_of_variables, Variables)
    return known.setdefault(cls, kind(cls))


class Lineage(Mapping[str, Any]):
    """The members of a class and of those that it inherits from, as a namespace to be looked at before code is used again."""

    def __init__(self, cls: type) -> None:
        self._cls = weakref.ref(cls)

    @property
    def cls(self) -> type:
        found = self._cls()
        assert found is not None
        return found

    def __getitem__(self, name: str) -> Any:
        if name == "__mro__":
            return self.cls.__mro__
        found = member(self.cls, name)
        if found is ABSENT:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter({name for base in self.cls.__mro__ for name in vars(base)})

    def __len__(self) -> int:
        return len(set(iter(self)))


class Variables(Lineage):
    """The same, in which all values are alike, and it does not matter whether there is one."""

    def __getitem__(self, name: str) -> Any:
        found = member(self.cls, name)
        return found if hasattr(type(found), "__get__") else VARIABLE
