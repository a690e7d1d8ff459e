"""Ways through a trace: the directions that a question about nodes may take, and all that steps in one direction lead to.

Each answer takes time that is proportional to its length.
"""

from __future__ import annotations

import enum
import heapq
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, TypeVar

Place = TypeVar("Place")


class Axis(enum.Flag):
    """Directions from a node, as those of XPath: to the call it is in, into the call that it is, to what was executed before
    or after it in the same call; ancestors are the parents of parents, descendants the children of children."""

    PARENT = enum.auto()
    CHILD = enum.auto()
    PRECEDING = enum.auto()
    FOLLOWING = enum.auto()
    ANCESTOR = enum.auto()
    DESCENDANT = enum.auto()


def closure(
    start: Place,
    step: Callable[[Place], list[Place]],
    visit: Callable[[Place], Any] | None,
    order: Callable[[Place], tuple[int, ...]],
) -> list[Place]:
    """What steps lead to, in an order."""
    seen = {start}
    waiting: list[tuple[tuple[int, ...], Place]] = []

    def reach(place: Place) -> None:
        for found in step(place):
            if found not in seen:
                seen.add(found)
                heapq.heappush(waiting, (order(found), found))

    reach(start)
    answer = []
    while waiting:
        place = heapq.heappop(waiting)[1]
        answer.append(place)
        if visit is not None:
            visit(place)
        reach(place)
    return answer


# Orders


class Placed(Protocol):
    """A node, as far as its place goes: its number in the call that it belongs to."""

    kind: ClassVar[str]
    position: int

    @property
    def parent(self) -> Placed | None: ...


def by_position(node: Placed) -> tuple[int, ...]:
    """The order of execution, for nodes of one call."""
    return (node.position,)


def against_position(node: Placed) -> tuple[int, ...]:
    return (-node.position,)


def by_execution(node: Placed) -> tuple[int, ...]:
    """The order of execution. A call has its value after the nodes in it, and takes it from there."""
    path = _path(node)
    return (*path, _END) if node.kind == "nested" else path


def against_execution(node: Placed) -> tuple[int, ...]:
    return tuple([-position for position in _path(node)])


def _path(node: Placed) -> tuple[int, ...]:
    """The positions of the calls that a node is in, the outermost first, and its own."""
    path = []
    at: Placed | None = node
    while at is not None and at.parent is not None:
        path.append(at.position)
        at = at.parent
    return tuple(reversed(path))


_END = 1 << 62
