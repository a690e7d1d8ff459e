"""Questions about the nodes of a trace: what a value came from, and what became of it.

`referenced` and `dependents` are single steps along the flow of data, `backward` and `forward` whole ways. An `Axis` says where
they may lead: by default they stay in the call. Each answer takes time that is proportional to its length: who reads a node
is found in an index that each call makes of its nodes once.
"""

from __future__ import annotations

import enum
import heapq
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from microgradpy.tracking.values import Reference

if TYPE_CHECKING:
    from microgradpy.tracking.nodes import ArgumentNode, NestedCallNode, Node


class Axis(enum.Flag):
    """Directions from a node, as those of XPath: to the call it is in, into the call that it is, to what was executed before
    or after it in the same call; ancestors are the parents of parents, descendants the children of children."""

    PARENT = enum.auto()
    CHILD = enum.auto()
    PRECEDING = enum.auto()
    FOLLOWING = enum.auto()
    ANCESTOR = enum.auto()
    DESCENDANT = enum.auto()


class Queried:
    """The questions, as methods of nodes."""

    __slots__ = ()

    def query(self, axis: Axis) -> list[Node]:
        """The nodes on an axis, or on several (`Axis.PRECEDING | Axis.PARENT`), in the order of execution; a call comes before
        the nodes in it."""
        return list(_on_axes(_node(self), axis))

    @overload
    def referenced(self, axis: Axis = Axis.PRECEDING, *, numbered: Literal[False] = False) -> list[Node]: ...

    @overload
    def referenced(self, axis: Axis = Axis.PRECEDING, *, numbered: Literal[True]) -> list[tuple[Any, Node]]: ...

    def referenced(self, axis: Axis = Axis.PRECEDING, *, numbered: bool = False) -> list[Any]:
        """The nodes whose values this one reads. `numbered` gives pairs with the position in the call, where 1 is the function
        and None something that has written into a value meanwhile. Constants are left out.

        With `Axis.PARENT` an argument of a call leads to the node of the caller that gave it; with `Axis.CHILD` a call leads to
        the `return` in it."""
        found = list(_referenced(_node(self), axis))
        return found if numbered else list(dict.fromkeys(node for _, node in found))

    def dependents(self, axis: Axis = Axis.FOLLOWING) -> list[Node]:
        """The nodes that read the value of this one: the other way round. With `Axis.CHILD` also the arguments of the calls
        that it is given to, with `Axis.PARENT` the call that it is returned from."""
        return list(dict.fromkeys(_dependents(_node(self), axis)))

    def backward(self, axis: Axis = Axis.PRECEDING, visit: Callable[[Node], Any] | None = None) -> list[Node]:
        """All that the value of this node depends on, the last one first: every node comes before those that it reads.
        `visit` is called for each, and need not be there."""
        return _closure(
            _node(self),
            lambda node: [found for _, found in _referenced(node, axis)],
            visit,
            last_first=True,
            stays=axis is Axis.PRECEDING,
        )

    def forward(self, axis: Axis = Axis.FOLLOWING, visit: Callable[[Node], Any] | None = None) -> list[Node]:
        """All that depends on the value of this node, the first one first."""
        return _closure(
            _node(self), lambda node: list(_dependents(node, axis)), visit, last_first=False, stays=axis is Axis.FOLLOWING
        )


def query(node: Node, axis: Axis) -> list[Node]:
    """`node.query(axis)`"""
    return node.query(axis)


def backward(visit: Callable[[Node], Any], node: Node, axis: Axis = Axis.PRECEDING) -> list[Node]:
    """`node.backward(axis, visit)`: the form of a visitor."""
    return node.backward(axis, visit)


def forward(visit: Callable[[Node], Any], node: Node, axis: Axis = Axis.FOLLOWING) -> list[Node]:
    """`node.forward(axis, visit)`: the form of a visitor."""
    return node.forward(axis, visit)


def _node(queried: Queried) -> Node:
    return cast("Node", queried)


def _on_axes(node: Node, axis: Axis) -> Iterator[Node]:
    parent = node.parent
    if Axis.ANCESTOR in axis or Axis.PARENT in axis:
        ancestors = list(_ancestors(node))
        yield from ancestors if Axis.ANCESTOR in axis else ancestors[-1:]
    if parent is not None and Axis.PRECEDING in axis:
        yield from parent.children[: node.position - 1]
    if Axis.DESCENDANT in axis:
        yield from descendants(node)
    elif Axis.CHILD in axis and _is_nested(node):
        yield from _nested(node).children
    if parent is not None and Axis.FOLLOWING in axis:
        yield from parent.children[node.position :]


def _ancestors(node: Node) -> Iterator[Node]:
    if node.parent is not None:
        yield from _ancestors(node.parent)
        yield node.parent


def descendants(node: Node) -> Iterator[Node]:
    """The nodes inside a call, and those inside them, in the order of execution; without recursion, as calls may be deep."""
    waiting = [iter(_nested(node).children)] if _is_nested(node) else []
    while waiting:
        inner = next(waiting[-1], None)
        if inner is None:
            waiting.pop()
            continue
        yield inner
        if _is_nested(inner):
            waiting.append(iter(_nested(inner).children))


def _is_nested(node: Node) -> bool:
    return node.kind == "nested"


def _nested(node: Node) -> NestedCallNode:
    return cast("NestedCallNode", node)


def _referenced(node: Node, axis: Axis) -> Iterator[tuple[Any, Node]]:
    if Axis.PRECEDING in axis:
        for position, read in node.operands():
            if isinstance(read, Reference):
                yield position, read.node
        yield from ((None, writer) for writer in node.after)
    if Axis.CHILD in axis and _is_nested(node) and len(_nested(node)):
        last = _nested(node).children[-1]
        if last.kind == "return":
            yield 0, last
    if Axis.PARENT in axis and node.kind == "argument":
        operand = outer_argument(cast("ArgumentNode", node))
        if operand is not None:
            yield 1, operand.node


def outer_argument(node: ArgumentNode) -> Reference | None:
    """What a call was given for one of its arguments, if a node of the caller made it; the function itself is argument 1."""
    call = node.parent
    if call is None or node.jump is not None or call.parent is None:
        return None
    given = call.given[node.number - 1]
    return given if isinstance(given, Reference) else None


def _dependents(node: Node, axis: Axis) -> Iterator[Node]:
    parent = node.parent
    if parent is None:
        return
    readers = parent.readers(node)
    if Axis.FOLLOWING in axis:
        yield from readers
    if Axis.CHILD in axis:
        for call in readers:
            if _is_nested(call):
                yield from (inner for inner in _arguments(_nested(call)) if _is_given(inner, node))
    if Axis.PARENT in axis and node.kind == "return" and parent.parent is not None:
        yield parent


def _arguments(call: NestedCallNode) -> Iterator[ArgumentNode]:
    for inner in call.children:
        if inner.kind != "argument":
            return
        yield cast("ArgumentNode", inner)


def _is_given(inner: ArgumentNode, node: Node) -> bool:
    given = outer_argument(inner)
    return given is not None and given.node is node


def _closure(
    start: Node, step: Callable[[Node], list[Node]], visit: Callable[[Node], Any] | None, *, last_first: bool, stays: bool
) -> list[Node]:
    """What steps lead to, in the order of execution or against it; if it `stays` in the call, the position is the order."""
    sign = -1 if last_first else 1
    seen = {start}
    waiting: list[tuple[tuple[int, ...], Node]] = []

    def reach(node: Node) -> None:
        for found in step(node):
            if found not in seen:
                seen.add(found)
                order = (sign * found.position,) if stays else _order(found, sign, last_first)
                heapq.heappush(waiting, (order, found))

    reach(start)
    answer = []
    while waiting:
        node = heapq.heappop(waiting)[1]
        answer.append(node)
        if visit is not None:
            visit(node)
        reach(node)
    return answer


def _order(node: Node, sign: int, last_first: bool) -> tuple[int, ...]:
    """Where a node is in the order of execution. A call has its value after the nodes in it, and takes it from there."""
    path = []
    at: Node | None = node
    while at is not None and at.parent is not None:
        path.append(sign * at.position)
        at = at.parent
    path.reverse()
    return (*path, _END) if node.kind == "nested" and not last_first else tuple(path)


_END = 1 << 62
