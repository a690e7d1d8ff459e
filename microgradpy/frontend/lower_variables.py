"""Variables that are not values of the function alone: local ones in cells, and those of the module that functions assign.

    def f(x):                               f(x):
        total = 0.0                             %1/total_cell = new_cell(); set_contents(%1, 0.0)
        def add(y):
            nonlocal total                      %2/add = closure add (%1)
            total = total + y
        add(x)                                  %3 = %2(x)
        return total                            %4 = read_local(%1, 'total'); return %4
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from microgradpy.frontend.lower_core import Lowering, cell_key
from microgradpy.ir.nodes import STATEMENT, Const, Value, function_constant
from microgradpy.runtime import variables


def open_cells(low: Lowering, names: Iterable[str], node: ast.AST) -> None:
    """Make the cells of variables where the scope that they belong to begins; a parameter has a value there."""
    for name in sorted(names):
        value = low.env.pop(name, None)
        contents = () if value is None else (value,)
        low.env[cell_key(name)] = _emit(low, variables.new_cell, *contents, node=node, name=f".{name}_cell.")


def read_shared(low: Lowering, name: str, node: ast.AST, hint: str = "") -> Value:
    """The value of a variable in a cell."""
    read = variables.read_captured if name in low.unit.code.co_freevars else variables.read_local
    return _emit(low, read, low.env[cell_key(name)], Const(name), node=node, name=hint)


def assign_shared(low: Lowering, name: str, value: Value, node: ast.AST) -> None:
    _emit(low, variables.set_contents, low.env[cell_key(name)], value, node=node, payload=STATEMENT)


def delete_shared(low: Lowering, name: str, node: ast.AST) -> None:
    delete = variables.delete_captured if name in low.unit.code.co_freevars else variables.delete_local
    _emit(low, delete, low.env[cell_key(name)], Const(name), node=node, payload=STATEMENT)


def assign_global(low: Lowering, name: str, value: Value, node: ast.AST) -> None:
    _emit(low, variables.set_variable, _module(low), Const(name), value, node=node, payload=STATEMENT)


def delete_global(low: Lowering, name: str, node: ast.AST) -> None:
    _emit(low, variables.delete_variable, _module(low), Const(name), node=node, payload=STATEMENT)


def _module(low: Lowering) -> Const:
    found = low.unit.resolver.variables()
    return Const(found, "module_variables", found)


def _emit(low: Lowering, function: Callable[..., Any], *arguments: Value, node: ast.AST, **options: Any) -> Value:
    return low.emit(function_constant(function), *arguments, node=node, **options)
