"""Re-evaluation: a trace as it would have been with other values for some of its nodes.

The function runs again, and records a new trace. A statement that reads nothing but values which are what they were gives the
value that it gave before, and is not executed; a call of this kind is taken over with everything in it. So the draws of random
numbers that do not depend on the change stay. What depends on it is computed, branches included: where one goes another way,
the statements on that way are new, and those after the place where the ways meet again are found again by their places.

Values that the program writes into are made anew from the copies that the former trace has, and the writes are done again on
them. So neither the former trace nor the arguments that the user gave change.
"""

from __future__ import annotations

import types
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, final

from microgradpy.boundary import BOUNDARY
from microgradpy.frontend.source import captured_values
from microgradpy.ir.locations import BlockLocation
from microgradpy.tracking.changes import Change, belongs_to_module, is_view_of_operand, starts_drawing
from microgradpy.tracking.contexts import Call, Hooks, hooks_of
from microgradpy.tracking.data_flow import ArgumentNode, ConstantNode, SpecialCallNode
from microgradpy.tracking.nodes import CallNode, NestedCallNode, Node, Reference, TapeValue, descendants
from microgradpy.tracking.partial_traces import keep_trace
from microgradpy.tracking.reaching import draws, has_hidden_state
from microgradpy.tracking.recording import Frame, Run, frame_of, run_of
from microgradpy.tracking.recursion import deep_recursion
from microgradpy.tracking.sites import TracedCode
from microgradpy.tracking.snapshots import is_atom

_MISSING: Any = object()


@final
class Replayer:
    """What traces are updated by."""

    def update(self, root: NestedCallNode, values: Mapping[Node, Any]) -> NestedCallNode:
        """A new trace, in which these nodes of the trace of `root` have these values."""
        before = run_of(root)
        if before.assigns is not None:
            raise ValueError(f"{before.assigns}, so that what it was before is not known: run the function again")
        for node in values:
            _check(root, node)
        former_frame = frame_of(root)
        assert former_frame is not None
        run = Run(self)
        run.is_update = True
        change = Change(before, run, values)
        change.look_for_writes(root)
        hooks = Hooks(hooks_of(former_frame).contexts, run)
        new = NestedCallNode(None, root.function, root.arguments, root.keywords, run, root.inner_ir)
        new.given = root.given
        frame = Frame(new, former_frame.code, run, hooks, Former(change, root))
        function: types.FunctionType = root.inner_ir.source
        unknown = [None] * len(root.inner_ir.function.parameters)
        with BOUNDARY, deep_recursion():
            try:
                values_at_entry = frame.begin(function, [*captured_values(function), *unknown])
                live = former_frame.code.run(frame, *values_at_entry)
            except BaseException as error:
                new.error = error
                keep_trace(error, new)
                raise
        run.keep(new, live)
        if run.assigns is not None:
            raise ValueError(f"{run.assigns}: run the function again")
        change.check_shared()
        return new

    def copies(self, former: NestedCallNode, new: NestedCallNode) -> list[Node]:
        """The children of a call that was taken over, as its own."""
        made: dict[Node, Node] = {}
        for position, child in enumerate(former.children, 1):
            copy = made[child] = _copy(child, made)
            copy.parent, copy.position = new, position
            if isinstance(copy, NestedCallNode) and isinstance(child, NestedCallNode):
                copy.run = new.run
                copy.share(child)
        return list(made.values())


REPLAYER = Replayer()


def update(trace: NestedCallNode, values: Mapping[Node, Any]) -> NestedCallNode:
    """As `node.update(value)`, for several nodes of a trace at once."""
    return REPLAYER.update(trace, values)


def _check(root: NestedCallNode, node: Node) -> None:
    if node.root is not root or node is root:
        raise ValueError(f"{node!r} is no node inside of this trace: update one of the nodes that `trace.query` finds")
    if isinstance(node, ArgumentNode) and node.jump is not None:
        raise ValueError(f"{node!r} only hands on what another node has made: update that one, {node.given}")
    is_function = isinstance(node, ArgumentNode) and node.number == 1
    if not node.is_data_flow or node.location is None or _is_step(node) or is_function:
        raise ValueError(f"{node!r} has no value of its own that could be replaced: update an argument or a call")


def _is_step(node: Node) -> bool:
    """Whether a node defines several variables, or is a part of a loop."""
    parent = node.parent
    assert parent is not None and node.location is not None
    name = getattr(getattr(node, "function", None), "text", "")
    return ((name == "next" or name.startswith("iter")) and type(node.value_ref) is tuple) or name in ("unpack", "append")


@final
class Former:
    """A call of the former trace, while it is made anew. Its nodes are found by their places, and by how often the place was
    reached before."""

    def __init__(self, change: Change, node: NestedCallNode | None) -> None:
        self.change, self.node = change, node
        self.repeated: Node | None = None  # what is executed again although it reads what it has read
        self.by_place: dict[tuple[BlockLocation | None, int], Node] = {}
        self.reached: defaultdict[BlockLocation | None, int] = defaultdict(int)
        self.new_of: dict[Node, Node] = {}
        counts: defaultdict[BlockLocation | None, int] = defaultdict(int)
        for child in () if node is None else node.children:
            self.by_place[child.location, counts[child.location]] = child
            counts[child.location] += 1
        self.current: Node | None = None

    def match(self, location: BlockLocation | None) -> Node | None:
        """What was recorded when a place was reached for the same time."""
        count = self.reached[location]
        self.reached[location] = count + 1
        self.current = self.by_place.get((location, count))
        return self.current

    def arguments(self, frame: Frame, values: Sequence[Any]) -> list[Any]:
        """The values of the inputs: what was captured, then the parameters."""
        ir = frame.code.ir.function
        is_root = frame.node.location is None
        if self.node is None:
            return list(values)
        given = [child for child in self.node.children if isinstance(child, ArgumentNode) and child.jump is None][1:]
        captured = [child for child in self.node.children if isinstance(child, SpecialCallNode) and child.name == "captured"]
        found = []
        for child, value in zip([*captured[: len(ir.captured)], *given], values, strict=False):
            if child in self.change.values:
                found.append(self.change.values[child])
            else:
                found.append(self.change.thaw(child) if is_root else value)
        self.change.thawing.has_started = True
        return found

    def meet(self, frame: Frame, node: Node) -> None:
        """A node was recorded whose statement has been executed anyway, as it costs nothing: say whether it is as it was."""
        old = self.match(node.location)
        if old is None or type(old) is not type(node):
            if isinstance(node, ConstantNode):
                frame.run.keep(node, self.change.copy_shared(node._value_ref))
            return
        self.new_of[old] = node
        values = self.change.values
        if old in values:
            if not isinstance(node, ArgumentNode):
                frame.run.keep(node, values[old])
            return
        if isinstance(node, ConstantNode):
            node._value, node._value_ref = old._value, self.change.thaw(old)
        if self.is_clean(node, old) and self.given_is_clean(frame, node, old):
            self.take_over(node, old)

    def take_over(self, node: Node, old: Node) -> None:
        """Let a node whose statement was executed be known as that of the former trace, if its value is what it was."""
        if self.change.thawing.pair(old._value_ref, node._value_ref, old.value):
            self.change.take_over(node, old)
            if old._metadata:
                node.metadata.update(old._metadata)

    def is_clean(self, node: Node, old: Node) -> bool:
        """Whether a statement reads what it has read in the former trace."""
        pairs = zip(node.operands(), old.operands(), strict=False)
        count = sum(1 for _ in node.operands())
        return count == sum(1 for _ in old.operands()) and all(self.is_same(a, b) for (_, a), (_, b) in pairs)

    def is_same(self, new: TapeValue, old: TapeValue) -> bool:
        if isinstance(new, Reference) and isinstance(old, Reference):
            is_known = new.node.origin is old.node and new.part == old.part
            return is_known and not self.change.is_written(old.node) and self.change.is_unchanged(new.node)
        return type(new) is type(old)  # the same place has the same constants

    def given_is_clean(self, frame: Frame, node: Node, old: Node) -> bool:
        """For an argument: whether the call was given what it was given then."""
        if not isinstance(node, ArgumentNode) or node.jump is not None:
            return not isinstance(node, ArgumentNode) or node.given is not None
        if frame.node.location is None:
            return True
        parent, before = frame.node.parent, self.node
        outer_frame = None if parent is None else frame_of(parent)
        assert outer_frame is not None and before is not None
        outer = outer_frame.former
        if any(name == "*" for name, _ in frame.node.keywords):  # which parameter got what is not noted
            pairs = zip(frame.node.given, before.given, strict=False)
            return outer is not None and all(a is not None is not b and outer.is_same(a, b) for a, b in pairs)
        new_given, old_given = frame.node.given[node.number - 1], before.given[node.number - 1]
        if new_given is None or old_given is None or outer is None:
            return new_given is old_given and is_atom(node._value_ref) and node._value is old._value
        return outer.is_same(new_given, old_given)

    def reuse(self, frame: Frame, call: Call) -> Node | None:
        """The node of a call that need not be made again; None if it has to be."""
        old = self.match(call.location)
        self.repeated = None
        self.change.share_constants(call.operands())
        if old is None or not hasattr(old, "arguments"):
            return None
        values = self.change.values
        if old in values:
            node = self.copy(frame, old)
            node.origin = None
            frame.run.keep(node, values[old])
            return node
        if old in self.change.entered or not self.may_reuse(old) or not self.reads_the_same(call, old):
            return None
        assert isinstance(old, CallNode)
        if is_view_of_operand(old):
            self.repeated = old
            return None
        node = self.copy(frame, old)
        node._value_ref = self.change.thaw(old)
        self.change.take_over(node, old)
        return node

    def made(self, frame: Frame, node: CallNode) -> None:
        """A call was made, as it could not be taken over."""
        old, self.repeated = self.repeated, None
        if belongs_to_module(node):
            frame.run.keep(node, self.change.copy_shared(node._value_ref))
        elif old is not None and type(old) is type(node):
            self.new_of[old] = node
            self.take_over(node, old)

    def may_reuse(self, old: Any) -> bool:
        if old.error is not None or old.changes or starts_drawing(old):
            return False
        if isinstance(old, NestedCallNode) and (self.writes(old) or any(map(starts_drawing, descendants(old)))):
            return False
        kept_by_reference = bool(old.note) and not draws(old._value_ref)
        return not kept_by_reference and not has_hidden_state(old._value_ref)

    def writes(self, old: NestedCallNode) -> bool:
        """Whether a call has written into what it was given or reads elsewhere, or reads what others write."""
        return any(self.change.is_written(node) for node in descendants(old))

    def reads_the_same(self, call: Call, old: Any) -> bool:
        new = tuple(call.operands())
        before = (old.function, *old.arguments, *(value for _, value in old.keywords))
        return len(new) == len(before) and all(map(self.is_same, new, before))

    def copy(self, frame: Frame, old: Node) -> Node:
        """A node of the former trace as a node of this one."""
        node = self.new_of[old] = _copy(old, self.new_of)
        if isinstance(node, NestedCallNode) and isinstance(old, NestedCallNode):
            node.run = frame.run
            node.share(old)
        frame.node.add(node)
        return node

    def inner(self, code: TracedCode) -> Former:
        """What was executed in a call before, if the same function was called there."""
        old = self.current
        if not isinstance(old, NestedCallNode) or old.inner_ir.function is not code.ir.function:
            return Former(self.change, None)
        return Former(self.change, old)


def _copy(old: Node, new_of: Mapping[Node, Node]) -> Node:
    """A copy of a node that refers to other nodes."""
    new = object.__new__(type(old))
    for base in type(old).__mro__:
        for name in getattr(base, "__slots__", ()):
            if (held := getattr(old, name, _MISSING)) is not _MISSING:
                object.__setattr__(new, name, _referring(held, new_of))
    new.origin, new.parent = old, None
    new._metadata = None if old._metadata is None else dict(old._metadata)
    return new


def _referring(held: Any, new_of: Mapping[Node, Node]) -> Any:
    match held:
        case Reference(node=node, part=part) if node in new_of:
            return Reference(new_of[node], part)
        case Node() if held in new_of:
            return new_of[held]
        case tuple() if type(held) is tuple and held and isinstance(held[0], Reference | Node | tuple) | (len(held) > 1):
            return tuple([_referring(item, new_of) for item in held])
    return held
