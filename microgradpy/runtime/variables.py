"""Variables that several functions share and that get new values: what generated code calls to read and write them.

    total_cell = new_cell(0.0)              a local variable that other functions rebind, or see being rebound, lives in a cell
    set_contents(total_cell, x)             total = x
    y = read_local(total_cell, 'total')     total, in the function that it belongs to
    y = read_captured(total_cell, 'total')  total, in a function inside

    y = read_variable(variables, 'W')       a module variable that functions assign (`global W`)
    set_variable(variables, 'W', x)
"""

from __future__ import annotations

import types
from collections.abc import MutableMapping
from typing import Any, final

from microgradpy.dataclasses import dataclass
from microgradpy.ir.nodes import UNASSIGNED


def new_cell(*contents: Any) -> types.CellType:
    """The cell of a variable, with its value if it has one."""
    return types.CellType(*contents)


def value_in(cell: types.CellType) -> Any:
    """What a cell holds; `UNASSIGNED` if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return UNASSIGNED


def check_captured(x: object, name: str) -> None:
    """Raise what Python raises for a captured variable that has no value."""
    if x is UNASSIGNED:
        raise _missing(name)


def _missing(name: str) -> NameError:
    what = f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
    return NameError(what, name=name)


def read_local(cell: types.CellType, name: str) -> Any:
    """The value of a function's own variable."""
    try:
        return cell.cell_contents
    except ValueError:
        raise UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value") from None


def read_captured(cell: types.CellType, name: str) -> Any:
    """The value of a variable of a function around."""
    try:
        return cell.cell_contents
    except ValueError:
        raise _missing(name) from None


def set_contents(cell: types.CellType, value: Any) -> None:
    """Give a variable its value."""
    cell.cell_contents = value


def delete_local(cell: types.CellType, name: str) -> None:
    """`del` of a function's own variable."""
    read_local(cell, name)
    del cell.cell_contents


def delete_captured(cell: types.CellType, name: str) -> None:
    """`del` of a variable of a function around."""
    read_captured(cell, name)
    del cell.cell_contents


@final
@dataclass(frozen=True, slots=True, eq=False)
class Variables:
    """The variables of a module as a constant of generated code."""

    namespace: MutableMapping[str, Any]
    builtins: Any


_known: dict[int, Variables] = {}


def variables_of(namespace: MutableMapping[str, Any], builtins: Any) -> Variables:
    """The variables of the module with this namespace: always the same object for the same module."""
    return _known.setdefault(id(namespace), Variables(namespace, builtins))


def read_variable(variables: Variables, name: str) -> Any:
    """The value of a module variable, or else of the builtin of that name."""
    if name in variables.namespace:
        return variables.namespace[name]
    try:
        return variables.builtins[name]
    except KeyError:
        raise NameError(f"name '{name}' is not defined", name=name) from None


def set_variable(variables: Variables, name: str, value: Any) -> None:
    """Give a module variable its value."""
    variables.namespace[name] = value


def delete_variable(variables: Variables, name: str) -> None:
    """`del` of a module variable."""
    if name not in variables.namespace:
        raise NameError(f"name '{name}' is not defined", name=name)
    del variables.namespace[name]


CELL_READS = (read_local, read_captured)
OF_CELLS: frozenset[Any] = frozenset((new_cell, set_contents, delete_local, delete_captured, *CELL_READS))
OF_MODULES: frozenset[Any] = frozenset((read_variable, set_variable, delete_variable))
