"""What an update knows of the values of both traces: which of them are still what they were.

What the former run wrote into is found before the function runs again. What only the new run writes into is found when it
is read: the copy that was taken when the value was made is compared with what the value is at that moment. So it does not
matter by which name, by what code or through which view it was written.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, final

import numpy as np

from microgradpy.tracking.data_flow import ArgumentNode, ConstantNode, SpecialCallNode
from microgradpy.tracking.nodes import CallNode, NestedCallNode, Node, Reference, TapeValue, descendants
from microgradpy.tracking.reaching import draws, hidden, leads_on, reached
from microgradpy.tracking.recording import Run
from microgradpy.tracking.snapshots import Snapshots, is_atom
from microgradpy.tracking.thawing import Thawing
from microgradpy.tracking.values import Constant, show


@final
class Change:
    """One update: `values` are the new ones; `entered` the calls in which there is one."""

    def __init__(self, before: Run, run: Run, values: Mapping[Node, Any]) -> None:
        self.before, self.run = before, run
        self.thawing = Thawing(before.snapshots.owners, run.snapshots)
        self.entered = {ancestor for node in values for ancestor in _ancestors(node)}
        self.written: set[int] = set()
        self.captured: dict[Node, list[tuple[Any, Any]]] = {}
        self.checked: dict[Node, int] = {}
        self.outside = Snapshots()
        self.shared: dict[int, tuple[Any, Any]] = {}  # what others see or nobody copies, with a copy of what it was
        self.constants: dict[int, Constant] = {}
        given = Snapshots()
        self.values = {node: self.thawing.thaw(value, given.take(value)) for node, value in values.items()}

    # The former run

    def look_for_writes(self, root: NestedCallNode) -> None:
        """Find the objects that were written into: any of their copies is not what they are now."""
        current: dict[int, Any] = {}
        for node in descendants(root):
            live = node._value_ref
            if _is_from_outside(node):
                self.share_hidden(live)
            elif isinstance(node, CallNode):
                self.share_constants(operand for _, operand in node.operands())
            if is_atom(live):
                continue
            if id(live) not in current:
                current[id(live)] = self.before.snapshots.take(live)
            if (node.note and not draws(live)) or current[id(live)] is not node.value:
                _check_kept(node)
                _check_place(node)
                self.written.add(id(live))
            if belongs_to_module(node):
                self.share(live)
        for value, _ in self.shared.values():
            if id(value) in self.written:
                raise ValueError(_refusal(value))

    def is_written(self, node: Node) -> bool:
        """Whether something in the former run writes into the value of a node, or into what it holds."""
        live = node._value_ref
        return leads_on(live) and any(id(value) in self.written for value in reached(live))

    # The new run

    def thaw(self, node: Node) -> Any:
        """The value of a node of the former trace, for the program to use."""
        return self.thawing.thaw(node._value_ref, node.value)

    def take_over(self, node: Node, old: Node) -> None:
        """Let a node be known as that of the former trace, as long as its value stays what it is."""
        node.origin = old
        if found := hidden(node._value_ref):
            self.captured[node] = [(value, self.run.snapshots.take(value)) for value in found]

    def is_unchanged(self, node: Node) -> bool:
        """Whether the value of a node of the new trace is now what it was when it was made."""
        if is_atom(node._value_ref) and node not in self.captured:
            return True
        if self.checked.get(node) == self.run.executed:
            return True
        take = self.run.snapshots.take
        same = take(node._value_ref) is node._value
        same = same and all(take(value) is earlier for value, earlier in self.captured.get(node, ()))
        if same:
            self.checked[node] = self.run.executed
        return same

    # What belongs to modules, or to functions that were made before

    def copy_shared(self, live: Any) -> Any:
        """The copy of what a module has, which stands for it in the new run."""
        self.share(live)
        self.share_hidden(live)
        return self.thawing.thaw(live, self.run.snapshots.take(live))

    def share(self, live: Any) -> None:
        if id(live) not in self.shared and not is_atom(live):
            self.shared[id(live)] = live, self.outside.take(live)

    def share_hidden(self, live: Any) -> None:
        for value in hidden(live):
            self.share(value)

    def share_constants(self, operands: Iterable[TapeValue]) -> None:
        """Take note of the functions and values that are known from the text of the program."""
        for operand in operands:
            if isinstance(operand, Constant) and id(operand) not in self.constants:
                self.constants[id(operand)] = operand
                self.share(operand.value)
                self.share_hidden(operand.value)

    def check_shared(self) -> None:
        """Refuse what the new run has written into that others see."""
        for live, earlier in self.shared.values():
            copy, first = self.thawing.made.get(id(live), (None, None, None))[1:]
            if self.outside.take(live) is not earlier or (copy is not None and self.run.snapshots.take(copy) is not first):
                raise ValueError(_refusal(live))


def _refusal(value: Any) -> str:
    return f"{show(value)} is written into, and belongs to a module, a class or an older function: run the function again"


def _ancestors(node: Node) -> Iterator[Node]:
    while node.parent is not None:
        node = node.parent
        yield node


def _is_from_outside(node: Node) -> bool:
    """Whether the value of a node was there before the function started."""
    is_argument = isinstance(node, ArgumentNode) and node.jump is None
    is_captured = isinstance(node, SpecialCallNode) and node.name == "captured"
    return belongs_to_module(node) or ((is_argument or is_captured) and node.depth == 1)


def belongs_to_module(node: Node) -> bool:
    """Whether a node reads what a module or a class has."""
    if not isinstance(node, CallNode):
        return isinstance(node, ConstantNode)
    if node.function.value is not getattr or not node.arguments:
        return False
    owner = node.arguments[0].value
    return is_atom(owner) or _is_of_class(owner, node._value_ref)


def _is_of_class(owner: Any, value: Any) -> bool:
    """Whether what was read through an object is an attribute of its class, which all objects of the class share."""
    if not leads_on(value):
        return False
    kind: type = getattr(owner, "__self_class__") if type(owner) is super else type(owner)  # noqa: B009 - unknown to mypy
    return any(held is value for base in kind.__mro__ for held in vars(base).values())


def starts_drawing(node: Node) -> bool:
    """Whether a node makes a generator of random numbers from a seed. It is made again, to draw what it has drawn."""
    if not isinstance(node, CallNode) or not draws(node._value_ref):
        return False
    f, given = node.function.value, [*node.arguments, *(value for _, value in node.keywords)]
    makers = (random.Random, np.random.default_rng, np.random.Generator, np.random.RandomState)
    return any(f is maker for maker in makers) and any(operand.value is not None for operand in given)


def _check_kept(node: Node) -> None:
    """Refuse what is not known as it was when the function started."""
    from_outside = node.kind == "constant" or (isinstance(node, ArgumentNode) and node.jump is None)
    if node.note and from_outside and node.depth == 1:
        raise ValueError(f"{node!r}: {node.note}, so that what it was before is not known: run the function again")


def _check_place(node: Node) -> None:
    """Refuse writes into what belongs to a module or a class: others see it too."""
    if belongs_to_module(node):
        raise ValueError(f"{node!r} is written into, and belongs to a module or class: run the function again")


def is_view_of_operand(node: CallNode) -> bool:
    """Whether the value of a call shares memory with something that the call has read, so that a copy would not do."""
    if not leads_on(node._value_ref):
        return False
    views = [value for value in reached(node._value_ref) if isinstance(value, np.ndarray) and value.base is not None]
    if not views or isinstance(node, NestedCallNode):
        return bool(views)
    known = {id(value) for _, operand in node.operands() for value in reached(_live(operand))}
    return any(id(value) in known for view in views for value in reached(view))


def _live(operand: TapeValue) -> Any:
    return operand.value_ref if isinstance(operand, Reference) else operand.value
