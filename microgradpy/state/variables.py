"""What undoes the reads and writes of variables that several functions share: a cell is an object with one field, the variables
of a module are a dict."""

from __future__ import annotations

import types
from typing import Any

from microgradpy.runtime import variables
from microgradpy.runtime.variables import Variables
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
