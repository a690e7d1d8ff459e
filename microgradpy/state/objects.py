"""Attributes that are just stored in their objects: writing, deleting and reading them in a run that tracks writes."""

from __future__ import annotations

import functools
import inspect
import types
from collections import deque
from enum import Enum
from typing import Any

import numpy as np

from microgradpy.errors import MutationError
from microgradpy.ir.objects import static_member
from microgradpy.ir.random_sources import is_source_class
from microgradpy.runtime.activity import may_be_active
from microgradpy.state import variables
from microgradpy.state.apart_access import check_stored
from microgradpy.state.shadows import Shadows
from microgradpy.state.write_handlers import Made, no_cotangents
from microgradpy.tangents.fields import has_field

_PLAIN: tuple[type, ...] = (types.MemberDescriptorType,)
_STORES_AS_OBJECTS = (types.SimpleNamespace, BaseException)
_SETTERS: tuple[Any, ...] = (object.__setattr__, type.__setattr__, *(cls.__setattr__ for cls in _STORES_AS_OBJECTS))
"""What stores, and does nothing else."""


MISSING = object()
_CONSTANTS = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
"""What programs name rather than hold: a derivative that was stored in one of these would not be found again."""


def is_plain_field(x: Any, name: str) -> bool:
    """Whether reading `x.name` gives what is stored in the object under that name, and runs nothing."""
    if not isinstance(type(x).__getattribute__, types.WrapperDescriptorType):
        return False
    found = static_member(type(x), name, MISSING)
    if found is MISSING:
        return has_field(x, name)
    if isinstance(found, _PLAIN):
        return True
    return not hasattr(type(found), "__set__") and has_field(x, name)


def setter_of(x: Any, name: str) -> types.FunctionType | None:
    """The function that an assignment to `x.name` calls; None if it just stores."""
    override: Any = type(x).__setattr__
    if override not in _SETTERS:
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
            other = f"Make a new array: y = x.reshape({name})." if name == "shape" else "Use a property or a plain field."
            how = f"attribute {name!r} of a {type(x).__name__} is assigned, which is a {type(found).__name__}"
            raise MutationError(how, None, other)
    return None


_ELSEWHERE = "Store it in an object that is an argument, or return it."
_OF_WRAPPERS = (*functools.WRAPPER_ASSIGNMENTS, "__wrapped__")


def store(x: Any, name: str, value: Any) -> Made:
    """x.name = value, where that just stores."""
    if isinstance(x, type):
        return variables.set_class_variable(x, name, value)
    if isinstance(x, _CONSTANTS) or name in ("__dict__", "__class__", "__slots__"):
        found, remedy = f"attribute {name!r} of the {type(x).__name__} {getattr(x, '__name__', '')} is assigned", _ELSEWHERE
        if isinstance(x, types.FunctionType) and name in _OF_WRAPPERS:
            found += ", by functools.wraps or a decorator that uses it (contextmanager)"
            remedy = "Define the decorated function outside of the differentiated one."
        raise MutationError(found, None, remedy)
    if isinstance(x, Enum) and not name.startswith("_"):
        raise MutationError(f"an attribute of the enum {type(x).__name__} is assigned", None, "Store it in another object.")
    if is_source_class(type(x)):
        found = f"attribute {name!r} of a generator of random numbers is assigned"
        raise MutationError(found, None, "Store it in another object: a generator is taken to hold nothing but its state.")
    refuse_two_natured(x, name, value)
    check_stored(x, value)
    (setattr if isinstance(x, _STORES_AS_OBJECTS) else object.__setattr__)(x, name, value)
    if isinstance(x, np.ndarray):
        return None, no_cotangents(3)
    return None, lambda y_bar, shadows: (None, None, shadows.of(x).take(name))


def store_past_class(x: Any, name: str, value: Any) -> Made:
    """object.__setattr__(x, name, value), which does not ask the class, as constructors of frozen classes write."""
    found = static_member(type(x), name, MISSING)
    if found is not MISSING and not isinstance(found, _PLAIN) and hasattr(type(found), "__set__"):
        raise MutationError(f"attribute {name!r} is a {type(found).__name__}", None, f"Assign it: `x.{name} = ...`.")
    return store(x, name, value)


def refuse_two_natured(x: Any, name: str, value: Any) -> None:
    """The shadow of a container has its items; there is none for attributes of its own."""
    if isinstance(x, dict | list | deque | np.ndarray) and may_be_active(value):
        raise MutationError(
            f"attribute {name!r} of a {type(x).__name__}, which is a {_container(x)}, may be differentiated",
            None,
            "Keep the container in an attribute of an object instead.",
        )


def _container(x: Any) -> str:
    return next(cls.__name__ for cls in (dict, list, deque, np.ndarray) if isinstance(x, cls))


def deleter_of(x: Any, name: str) -> Any:
    """The function that `del x.name` calls; None if it just deletes."""
    override = type(x).__delattr__
    if isinstance(override, types.FunctionType):
        return functools.partial(override, x, name)
    found = static_member(type(x), name, MISSING)
    if isinstance(found, property) and isinstance(found.fdel, types.FunctionType):
        return functools.partial(found.fdel, x)
    return None


def delete(x: Any, name: str, *, past_class: bool = False) -> Made:
    """del x.name, where that just deletes what is stored; or object.__delattr__(x, name), which does not ask the class."""
    if isinstance(x, type):
        return variables.delete_class_variable(x, name)
    check_stored(x)
    (object.__delattr__ if past_class else delattr)(x, name)

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
