"""What generated text calls to make a function that the user's function defines."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Any

from microgradpy.ir.nodes import SELF, UNASSIGNED


def make_function(
    code: types.CodeType,
    module_globals: dict[str, Any],
    captured: Sequence[Any] = (),
    defaults: Sequence[Any] = (),
    keyword_defaults: Mapping[str, Any] | None = None,
    shared: Sequence[str] = (),
) -> types.FunctionType:
    """The function that a nested `def` or a lambda makes, with a cell for each of the captured values; those of the variables
    in `shared` are cells already."""
    named = zip(code.co_freevars, captured, strict=True)
    cells = tuple([value if name in shared else _cell(value) for name, value in named])
    function = types.FunctionType(code, module_globals, code.co_name, tuple(defaults) or None, cells)
    for name, cell in zip(code.co_freevars, cells, strict=True):
        if name not in shared and cell != types.CellType() and cell.cell_contents is SELF:
            cell.cell_contents = function
    if keyword_defaults:
        function.__kwdefaults__ = dict(keyword_defaults)
    return function


def _cell(value: Any) -> types.CellType:
    return types.CellType() if value is UNASSIGNED else types.CellType(value)
