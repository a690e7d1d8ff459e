"""Variables of which each function in a container has one of its own: they are numbers, too.

    counters.append(make(start))            total_contents.append(start);  add_total.append(len(total_contents) - 1)
    ... nonlocal total; total += x          total_contents[add_total[k]] += x

A variable that functions inside assign is a cell. Where functions of one text have captured another one each (`Gathers`), all
that are made at one place of the program are objects of a pool as soon as a function in a pool captures them.
"""

from __future__ import annotations

from typing import Any

from microgradpy.ir.nodes import Const
from microgradpy.promotion.findings import Escapes, Gathers, Origin
from microgradpy.promotion.places import CONTENTS, Cell, Element, Known, Object, OfCell, origin_of_pool

_CONTENTS = "contents"


def of_pool(walker: Any, cell: Cell, origin: Origin, *, is_shared: bool) -> Element | None:
    """One of the variables in a pool, for the cell that a function has captured; None if it need not be one, as it `is_shared`
    by all functions of that text. `origin` is that of the functions."""
    cls = walker.facts.cells.get(cell.origin[-1])
    if cls in walker.facts.pools:
        return _put(walker, cell, cls)
    if is_shared:
        return None
    if cls is not None or not cell.hint.isidentifier():
        raise Escapes(origin)
    walker.facts.cells[cell.origin[-1]] = cls = type(cell.hint, (OfCell,), {})
    raise Gathers(cls, (_CONTENTS,))


def _put(walker: Any, cell: Cell, cls: type) -> Element:
    if (cell, CONTENTS) not in walker.fields:
        raise Escapes(origin_of_pool(cls))  # it is assigned later
    place = Object(cell.origin, cls, Const(None), cell.hint)
    walker.fields[place, _CONTENTS] = walker.fields[cell, CONTENTS]
    op = walker.at.statement
    element: Element = walker.pooled(op, place)
    walker.stands(cell, element)
    return element


def is_variable(known: Known) -> bool:
    """Whether something is one of the variables in a pool."""
    return isinstance(known, Element) and issubclass(known.cls, OfCell)


def column_of(element: Element) -> Any:
    return element.table.columns[_CONTENTS]
