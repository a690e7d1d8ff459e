"""Writes to the attributes of objects, and reads of attributes, computed ones included."""

from __future__ import annotations

import functools
import inspect
import types
from collections import deque
from enum import Enum
from typing import Any

from microgradpy.errors import MutationError
from microgradpy.ir.objects import static_member
from microgradpy.runtime.activity import may_be_active
from microgradpy.state.events import Made
from microgradpy.state.shadows import Shadows

_PLAIN: tuple[type, ...] = (types.MemberDescriptorType,)


MISSING = object()
_CONSTANTS = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
"""What programs name rather than hold: a derivative that was stored in one of these would not be found again."""


def is_plain_field(x: Any, name: str) -> bool:
    """Whether reading `x.name` gives what is stored in the object under that name, and runs nothing."""
    if not isinstance(type(x).__getattribute__, types.WrapperDescriptorType):
        return False
    found = static_member(type(x), name, MISSING)
    if found is MISSING:
        return name in getattr(x, "__dict__", ())
    if isinstance(found, _PLAIN):
        return True
    return not hasattr(type(found), "__set__") and name in getattr(x, "__dict__", ())


def setter_of(x: Any, name: str) -> types.FunctionType | None:
    """The function that an assignment to `x.name` calls; None if it just stores."""
    override: Any = type(x).__setattr__
    if override is not object.__setattr__ and not isinstance(x, types.SimpleNamespace):
        if isinstance(override, types.FunctionType):
            return functools.partial(override, x, name)  # type: ignore[return-value]
        raise MutationError(
            f"an attribute of a {type(x).__name__} is assigned", None, "Assign to objects of classes written in Python."
        )
    found = static_member(type(x), name, MISSING)
    if isinstance(found, property):
        if isinstance(found.fset, types.FunctionType):
            return functools.partial(found.fset, x)  # type: ignore[return-value]
    elif found is not MISSING and not isinstance(found, _PLAIN):
        store = inspect.getattr_static(type(found), "__set__", None)
        if isinstance(store, types.FunctionType):
            return functools.partial(store, found, x)  # type: ignore[return-value]
        if store is not None:
            raise MutationError(f"attribute {name!r} is a {type(found).__name__}", None, "Use a property or a plain field.")
    return None


def store(x: Any, name: str, value: Any) -> Made:
    """x.name = value, where that just stores."""
    if isinstance(x, _CONSTANTS) or name in ("__dict__", "__class__", "__slots__"):
        raise MutationError(
            f"attribute {name!r} of the {type(x).__name__} {getattr(x, '__name__', '')} is assigned",
            None,
            "Store it in an object that is an argument, or return it.",
        )
    if isinstance(x, Enum) and not name.startswith("_"):
        raise MutationError(f"an attribute of the enum {type(x).__name__} is assigned", None, "Store it in another object.")
    refuse_two_natured(x, name, value)
    (setattr if isinstance(x, types.SimpleNamespace) else object.__setattr__)(x, name, value)
    return None, lambda y_bar, shadows: (None, None, shadows.of(x).take(name))


def store_past_class(x: Any, name: str, value: Any) -> Made:
    """object.__setattr__(x, name, value), which does not ask the class, as constructors of frozen classes write."""
    found = static_member(type(x), name, MISSING)
    if found is not MISSING and not isinstance(found, _PLAIN) and hasattr(type(found), "__set__"):
        raise MutationError(f"attribute {name!r} is a {type(found).__name__}", None, f"Assign it: `x.{name} = ...`.")
    return store(x, name, value)


def refuse_two_natured(x: Any, name: str, value: Any) -> None:
    """The shadow of a container has its items; there is none for attributes of its own."""
    if isinstance(x, dict | list | deque) and may_be_active(value):
        raise MutationError(
            f"attribute {name!r} of a {type(x).__name__}, which is a {_container(x)}, may be differentiated",
            None,
            "Keep the container in an attribute of an object instead.",
        )


def _container(x: Any) -> str:
    return next(cls.__name__ for cls in (dict, list, deque) if isinstance(x, cls))


def deleter_of(x: Any, name: str) -> Any:
    """The function that `del x.name` calls; None if it just deletes."""
    override = type(x).__delattr__
    if isinstance(override, types.FunctionType):
        return functools.partial(override, x, name)
    found = static_member(type(x), name, MISSING)
    if isinstance(found, property) and isinstance(found.fdel, types.FunctionType):
        return functools.partial(found.fdel, x)
    return None


def delete(x: Any, name: str) -> Made:
    """del x.name, where that just deletes what is stored."""
    delattr(x, name)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        return None, None

    return None, undo


def load(x: Any, name: str) -> Made:
    """x.name of an object that just stores it."""
    y = getattr(x, name)
    refuse_two_natured(x, name, y)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is not None:
            shadows.of(x).add(name, y_bar)
        return None, None

    return y, undo
