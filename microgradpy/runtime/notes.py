"""What a function was given, and what its variables were when it returned: for whoever stops in its pullback.

    notes = open_notes(("x", "y"), False, x, y)          where the function begins
    note_return(notes, ("x", "y", "t"), ..., z, x, y, t) where it returns `z`

The variables are noted, not computed again. In a run that writes they are copied, since they may be written into later.
"""

from __future__ import annotations

import types
from typing import Any, final

import numpy as np

from microgradpy.ir.nodes import UNASSIGNED, Location
from microgradpy.rules.registry import non_differentiable


@final
class Notes:
    """The notes of one call. `result` itself is what the function returned, `shown` what it was then."""

    __slots__ = ("arguments", "copies", "result", "shown", "variables", "where")

    def __init__(self, arguments: dict[str, Any], copies: bool) -> None:
        self.arguments = arguments
        self.copies = copies
        self.variables: dict[str, Any] = {}
        self.result: Any = None
        self.shown: Any = None
        self.where: Location | None = None


def open_notes(names: tuple[str, ...], copies: bool, /, *values: Any) -> Notes:
    """Notes with the arguments of a call."""
    return Notes(_named(names, values, copies), copies)


def note_return(notes: Notes, where: Location, names: tuple[str, ...], result: Any, /, *values: Any) -> None:
    """Note what the variables of a function are at a `return`; those without a value are left out."""
    notes.variables = _named(names, values, notes.copies)
    notes.result, notes.where = result, where
    notes.shown = as_it_is(result, {}) if notes.copies else result


def _named(names: tuple[str, ...], values: tuple[Any, ...], copies: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    known: dict[int, Any] = {}
    for name, value in zip(names, values, strict=True):
        if isinstance(value, types.CellType):  # a variable that is shared with other functions
            try:
                value = value.cell_contents
            except ValueError:
                continue
        if value is not UNASSIGNED:
            found[name] = as_it_is(value, known) if copies else value
    return found


def as_it_is(value: Any, known: dict[int, Any]) -> Any:
    """A copy of the arrays and containers in a value; `known` has what was copied, since one may hold another twice."""
    if id(value) in known:
        return known[id(value)][1]
    copied: Any
    match value:
        case np.ndarray():
            copied = np.ndarray.copy(value)
        case list() if type(value) is list:
            copied = []
            known[id(value)] = (value, copied)
            copied += [as_it_is(item, known) for item in value]
        case dict() if type(value) is dict:
            copied = {}
            known[id(value)] = (value, copied)
            copied.update((key, as_it_is(item, known)) for key, item in value.items())
        case tuple() if type(value) is tuple:
            copied = tuple(as_it_is(item, known) for item in value)
        case _:
            return value
    known[id(value)] = (value, copied)
    return copied


non_differentiable(open_notes, note_return)
