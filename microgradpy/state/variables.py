"""What undoes the reads and writes of variables that several functions share: a cell is an object with one field, the variables
of a module are a dict, and a class is an object with fields, as far as code assigns any. All else that a class has under a name
decides what code means, and stays what it was when that was compiled."""

from __future__ import annotations

import types
from enum import Enum
from typing import Any

from microgradpy.errors import MutationError
from microgradpy.frontend.resolve import variables_of_class
from microgradpy.frontend.sharing import NAMES_OF_CLASSES
from microgradpy.ir.objects import static_member
from microgradpy.runtime import variables
from microgradpy.runtime.variables import Variables
from microgradpy.state.apart_access import check_stored
from microgradpy.state.object_graph import is_users_class
from microgradpy.state.shadows import CONTENTS, Shadows
from microgradpy.state.write_handlers import Made, write_handler


@write_handler(variables.new_cell)
def new_cell(*contents: Any) -> Made:
    cell = types.CellType(*contents)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        taken = shadows.take(cell)
        return tuple(None if taken is None else taken.get(CONTENTS) for _ in contents)

    return cell, undo


@write_handler(variables.read_local)
def read_local(cell: types.CellType, name: str) -> Made:
    return _read(cell, variables.read_local(cell, name))


@write_handler(variables.read_captured)
def read_captured(cell: types.CellType, name: str) -> Made:
    return _read(cell, variables.read_captured(cell, name))


def _read(cell: types.CellType, y: Any) -> Made:
    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is not None:
            shadows.of(cell).add(CONTENTS, y_bar)
        return None, None

    return y, undo


@write_handler(variables.set_contents)
def set_contents(cell: types.CellType, value: Any) -> Made:
    cell.cell_contents = value
    return None, lambda y_bar, shadows: (None, shadows.of(cell).take(CONTENTS))


@write_handler(variables.delete_local)
def delete_local(cell: types.CellType, name: str) -> Made:
    variables.delete_local(cell, name)
    return None, lambda y_bar, shadows: (None, None)


@write_handler(variables.delete_captured)
def delete_captured(cell: types.CellType, name: str) -> Made:
    variables.delete_captured(cell, name)
    return None, lambda y_bar, shadows: (None, None)


@write_handler(variables.read_variable)
def read_variable(module: Variables, name: str) -> Made:
    y = variables.read_variable(module, name)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is not None:
            shadows.of(module.namespace).add(name, y_bar)
        return None, None

    return y, undo


def read_attribute(module: types.ModuleType, name: str) -> Made:
    """`module.name`, read from elsewhere."""
    y = getattr(module, name)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is not None:
            shadows.of(vars(module)).add(name, y_bar)
        return None, None

    return y, undo


@write_handler(variables.set_variable)
def set_variable(module: Variables, name: str, value: Any) -> Made:
    module.namespace[name] = value
    return None, lambda y_bar, shadows: (None, None, shadows.of(module.namespace).take(name))


@write_handler(variables.delete_variable)
def delete_variable(module: Variables, name: str) -> Made:
    variables.delete_variable(module, name)
    return None, lambda y_bar, shadows: (None, None)


# Attributes of classes


_REPLACE = "Replace it outside, around the call that differentiates."


def set_class_variable(cls: type, name: str, value: Any) -> Made:
    """cls.name = value, where that just stores."""
    _check_variable(cls, name, value)
    check_stored(cls, value)
    setattr(cls, name, value)
    return None, lambda y_bar, shadows: (None, None, shadows.of(cls).take(name))


def delete_class_variable(cls: type, name: str) -> Made:
    """del cls.name, where that just deletes."""
    _check_variable(cls, name, None)
    check_stored(cls)
    delattr(cls, name)
    return None, lambda y_bar, shadows: (None, None)


def read_class_variable(cls: type, name: str) -> Made | None:
    """The value that a class has under a name, itself or by one that it inherits from; None if there is more to it."""
    owner = _owner_of(cls, name)
    return None if owner is None else (getattr(cls, name), _of_owner(owner, name))


def _of_owner(owner: type, name: str) -> Any:
    """What undoes the reading of an attribute that a class has."""

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is not None:
            shadows.of(owner).add(name, y_bar)
        return None, None

    return undo


def _owner_of(cls: type, name: str) -> type | None:
    """The class that has a value under a name which nothing but that name stands for; None if there is none."""
    if not is_users_class(cls) or name.startswith("__"):
        return None
    owner = next((base for base in cls.__mro__ if name in vars(base)), None)
    if owner is None or not is_users_class(owner) or hasattr(type(vars(owner)[name]), "__get__"):
        return None
    return owner


def _check_variable(cls: type, name: str, value: Any) -> None:
    """Refuse what is more than a value in a class, or was not foreseen when it was compiled what reads it."""
    what = f"attribute {name!r} of the class {cls.__name__} is assigned"
    if not is_users_class(cls) or issubclass(cls, Enum | tuple) or (name.startswith("__") and name.endswith("__")):
        raise MutationError(what, None, "Store it in an object that is an argument, or return it.")
    if any(isinstance(each, type) or hasattr(type(each), "__get__") for each in (static_member(cls, name), value)):
        raise MutationError(f"{what}, which is a function, a class or a descriptor", None, _REPLACE)
    if isinstance(value, types.ModuleType):
        raise MutationError(f"{what}, which is a module", None, _REPLACE)
    if name not in variables_of_class(cls):
        raise MutationError(
            f"{what} by code in which that is not seen to be a class",
            None,
            f"Assign it by the name of the class, in the module that it is written in, or by a variable called"
            f" {', '.join(sorted(NAMES_OF_CLASSES))}.",
        )
