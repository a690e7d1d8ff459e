"""Where the nodes of a trace are in a picture: calls as boxes in one another, statements as rows below one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, final

from microgradpy.ir.locations import BlockLocation
from microgradpy.tracking.queries import Axis

ROW, CHARACTER, MARGIN, INDENT = 22, 7.0, 10, 18
_LONGEST = 72


class Shown(Protocol):
    """What is asked of a node to show it."""

    kind: ClassVar[str]
    position: int
    location: BlockLocation | None

    @property
    def label(self) -> str: ...

    @property
    def parent(self) -> Shown | None: ...

    @property
    def children(self) -> Sequence[Shown]: ...

    def referenced(self, axis: Axis) -> Sequence[Shown]: ...

    def text(self) -> str: ...

    def shown_metadata(self) -> str: ...


@final
@dataclass(slots=True)
class Row:
    """A statement: its text, and the top left corner of its line. A call that is looked into is the heading of a box."""

    node: Shown
    text: str
    x: float
    y: float
    width: float = 0.0
    box: tuple[float, float] | None = None  # the width and height of the box below the heading


@final
@dataclass(slots=True)
class Picture:
    """The rows in the order of execution; `data` are edges from what made a value to what reads it, `control` those from a
    branch to what is executed next. `omitted` rows were left out."""

    rows: list[Row] = field(default_factory=list)
    data: list[tuple[Row, Row]] = field(default_factory=list)
    control: list[tuple[Row, Row]] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0
    omitted: int = 0


def lay_out(node: Shown, levels: int | None = None, limit: int = 400) -> Picture:
    """The picture of a node and of `levels` levels inside of it, of `limit` statements at most."""
    picture = Picture()
    placed: dict[Shown, Row] = {}
    _place(picture, placed, node, MARGIN, MARGIN, 1, levels, limit)
    picture.height = max((row.y + ROW + (row.box[1] if row.box else 0) for row in picture.rows), default=0.0) + MARGIN
    lanes = max((_width(row) for row in picture.rows), default=0.0)
    picture.width = lanes + MARGIN
    for reader, row in placed.items():
        for source in reader.referenced(Axis.PRECEDING | Axis.PARENT):
            if source in placed:
                picture.data.append((placed[source], row))
        following = _following(reader)
        if following is not None and following in placed:
            picture.control.append((row, placed[following]))
    return picture


def _place(
    picture: Picture, placed: dict[Shown, Row], node: Shown, x: float, y: float, level: int, levels: int | None, limit: int
) -> float:
    """Place a node and what is inside of it; returns where the next one goes."""
    row = placed[node] = Row(node, _text(node), x, y)
    row.width = CHARACTER * len(row.text) + 6
    picture.rows.append(row)
    y += ROW
    if node.kind != "nested" or (levels is not None and level >= levels):
        return y
    top, right = y, row.width
    for child in node.children:
        if len(picture.rows) >= limit:
            picture.omitted += 1
            continue
        first = len(picture.rows)
        y = _place(picture, placed, child, x + INDENT, y, level + 1, levels, limit)
        right = max(right, max(_width(each) for each in picture.rows[first:]) - x)
    row.box = (right + MARGIN, y - top + MARGIN / 2)
    return y + MARGIN


def _width(row: Row) -> float:
    return row.x + max(row.width, row.box[0] if row.box else 0.0)


def _text(node: Shown) -> str:
    head = f"@{node.position} " if node.position else ""
    text = head + node.text() + node.shown_metadata()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _following(node: Shown) -> Shown | None:
    """What is executed after a branch."""
    if node.kind != "jump" or node.parent is None:
        return None
    siblings = node.parent.children
    return siblings[node.position] if node.position < len(siblings) else None


def identifiers(picture: Picture) -> dict[int, str]:
    """A name for each row, by its identity."""
    return {id(row): f"n{index}" for index, row in enumerate(picture.rows)}


def children_of(picture: Picture) -> dict[int, list[Row]]:
    """The rows directly inside of each row, by its identity; those of the picture itself at 0."""
    by_node = {row.node: row for row in picture.rows}
    found: dict[int, list[Row]] = {}
    for row in picture.rows:
        outer = None if row.node.parent is None else by_node.get(row.node.parent)
        found.setdefault(0 if outer is None else id(outer), []).append(row)
    return found
