"""What the generated text calls to record a statement, and the frame that it records into.

A frame belongs to one execution of one function. `refs` has, by the number of a variable, a reference to the node that defined
it last: in a loop, that of the last iteration.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from microgradpy.ir.locations import BlockLocation
from microgradpy.tracking.control_flow import JumpNode, RaiseNode, ReturnNode
from microgradpy.tracking.data_flow import ArgumentNode, ConstantNode, SpecialCallNode
from microgradpy.tracking.nodes import CallNode, NestedCallNode, Node, Prefix, Reference, Replaying, TapeValue
from microgradpy.tracking.sites import CallSite, JumpSite, MarkSite, Operand, Site, TracedCode
from microgradpy.tracking.snapshots import Snapshots, is_atom
from microgradpy.tracking.values import Constant, show


class Observing(Protocol):
    """Is told of each node that is recorded, and makes calls."""

    def call(self, frame: Frame, site: CallSite, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    def tracked_primitive_node(self, node: CallNode) -> None: ...

    @property
    def tracked_call(self) -> Callable[[Any], CallNode]: ...

    @property
    def tracked_argument(self) -> Callable[[ArgumentNode], None]: ...

    @property
    def tracked_constant(self) -> Callable[[ConstantNode], None]: ...

    @property
    def tracked_special(self) -> Callable[[CallNode], None]: ...

    @property
    def tracked_jump(self) -> Callable[[JumpNode], None]: ...

    @property
    def tracked_return(self) -> Callable[[ReturnNode], None]: ...


class Reusing(Protocol):
    """A call of a former trace, while that is updated: it knows what need not be executed again."""

    def arguments(self, frame: Frame, values: Sequence[Any]) -> list[Any]: ...

    def meet(self, frame: Frame, node: Node) -> None: ...

    def reuse(self, frame: Frame, call: Any) -> Node | None: ...

    def made(self, frame: Frame, node: CallNode) -> None: ...

    def is_same(self, new: TapeValue, old: TapeValue) -> bool: ...

    def inner(self, code: TracedCode) -> Reusing: ...


class Run:
    """What all frames of one trace share. `writers` has the last node that was seen to write into an object, by its identity;
    `growing` the items of the lists that comprehensions are making."""

    def __init__(self, replayer: Replaying) -> None:
        self.snapshots = Snapshots()
        self.writers: dict[int, Node] = {}
        self.growing: dict[int, tuple[Any, list[Any]]] = {}
        self.replayer = replayer
        self.assigns: str | None = None  # what is assigned that belongs to no value of the trace
        self.is_update = False
        self.executed = 0  # how many nodes were made by executing something

    def assign(self, what: str) -> None:
        """Remember what is about to be assigned, which an update could not do without others seeing it."""
        self.assigns = what
        if self.is_update:
            raise ValueError(f"{what}: run the function again")

    def keep(self, node: Node, live: Any) -> None:
        """Give a node its value."""
        node._value, node._value_ref = self.snapshots.take(live), live
        if not is_atom(live) and self.snapshots.by_reference is not None:
            node.note = f"{show(self.snapshots.by_reference)} is kept by reference: it cannot be copied"
            self.snapshots.by_reference = None


class Frame:
    """One execution of a function that records."""

    def __init__(
        self, node: NestedCallNode, code: TracedCode, run: Run, hooks: Observing, former: Reusing | None = None
    ) -> None:
        self.node, self.code, self.run, self.hooks, self.former = node, code, run, hooks, former
        self.sites: Mapping[str, Site] = code.sites.by_name
        self.refs: dict[int, Reference] = {}
        self.marks: dict[int, list[TapeValue | None]] = {}
        node.frame = self

    @property
    def level(self) -> int:
        """How many calls this one is inside of, and itself."""
        return self.node.depth + 1

    # Values

    def operand(self, operand: Operand) -> TapeValue | None:
        """What an operand refers to; None where it has no value on this path."""
        return self.refs.get(operand) if isinstance(operand, int) else operand

    def value(self, operand: Operand) -> TapeValue:
        return self.refs[operand] if type(operand) is int else operand  # type: ignore[return-value]

    def operands(self, operands: tuple[Operand, ...]) -> tuple[TapeValue, ...]:
        refs = self.refs
        return tuple([refs[one] if type(one) is int else one for one in operands])  # type: ignore[misc]

    def writers_of(self, operands: Sequence[TapeValue], values: Sequence[Any]) -> tuple[Node, ...]:
        """The nodes of this call that have written into the values of operands since these were made."""
        found: dict[Node, None] = {}
        for operand, value in zip(operands, values, strict=False):
            writer = self.run.writers.get(id(value))
            if writer is None:
                continue
            sibling = self.sibling(writer)
            if sibling is not None and isinstance(operand, Reference) and sibling.position > operand.node.position:
                found[sibling] = None
        return tuple(found)

    def sibling(self, node: Node) -> Node | None:
        """The node of this call that another one is, or is inside of."""
        at: Node | None = node
        while at is not None and at.parent is not self.node:
            at = at.parent
        return at

    # Recording

    def add(self, node: Node) -> None:
        self.run.executed += 1
        self.node.add(node)

    def met(self, node: Node) -> None:
        """Tell a former trace, if there is one, of a node whose statement was executed."""
        if self.former is not None:
            self.former.meet(self, node)

    def define(self, results: tuple[int, ...], node: Node) -> None:
        if len(results) == 1:
            self.refs[results[0]] = Reference(node)
        else:
            for part, result in enumerate(results, 1):
                self.refs[result] = Reference(node, part)

    def begin(self, function: Any, values: Sequence[Any]) -> Sequence[Any]:
        """Record the arguments, the function itself and the parameters; then what was captured. Returns the values to run
        with, which are others where a former trace is updated."""
        if self.former is not None:
            values = self.former.arguments(self, values)
        locations = self.code.sites.locations
        entry = locations.blocks[0]
        captured = len(self.code.ir.function.captured)
        for number, (var, live) in enumerate(zip(entry.parameters, (function, *values[captured:]), strict=True), 1):
            variable = locations.numbers[var]
            node = ArgumentNode(BlockLocation(1, variable), None, live, number)
            self.argument(node, variable, live)
        for index, live in enumerate(values[:captured]):
            site = self.code.sites.instruction((1, index))
            name = entry.instructions[index].payload  # type: ignore[union-attr]
            arguments = (self.refs[1], Constant(name, repr(name)))
            self.special(SpecialCallNode(site.location, "captured", arguments, None, live), site.results, live)
        return values

    def argument(self, node: ArgumentNode, variable: int, live: Any) -> None:
        given = node.given
        if isinstance(given, Reference) and given.part is None and id(live) not in self.run.writers:
            node._value, node._value_ref = given.node._value, live
        else:
            self.run.keep(node, live)
        self.add(node)
        self.refs[variable] = Reference(node)
        self.met(node)
        self.hooks.tracked_argument(node)

    def special(self, node: Node, results: tuple[int, ...], live: Any) -> None:
        self.run.keep(node, live)
        self.add(node)
        self.define(results, node)
        self.met(node)
        if isinstance(node, ConstantNode):
            self.hooks.tracked_constant(node)
        else:
            assert isinstance(node, CallNode)
            self.hooks.tracked_special(node)

    def jump(self, site: JumpSite, arguments: tuple[TapeValue | None, ...], error: BaseException | None = None) -> None:
        condition = self.operand(site.condition)
        node = JumpNode(site.location, site.target, arguments, condition)
        node.error = error
        self.add(node)
        self.met(node)
        self.hooks.tracked_jump(node)
        for number, ((location, variable), given) in enumerate(zip(site.parameters, arguments, strict=False), 1):
            if given is not None:
                live = given.value_ref if isinstance(given, Reference) else given.value
                self.argument(ArgumentNode(location, None, live, number, node, given), variable, live)
            else:
                self.refs.pop(variable, None)
        if error is not None and len(site.parameters) > len(arguments):
            location, variable = site.parameters[-1]
            self.argument(ArgumentNode(location, None, error, len(site.parameters), node), variable, error)

    def call(self, where: str, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        site = self.sites[where]
        assert type(site) is CallSite
        pending = self.hooks.call(self, site, f, args, kwargs)
        if self.former is not None:
            known = self.former.reuse(self, pending)
            if known is not None:
                self.define(site.results, known)
                return known._value_ref
        node = checked_node(self.hooks.tracked_call(pending))
        if node.parent is None:
            self.add(node)
        if self.former is not None:
            self.former.made(self, node)
        self.refs[site.results[0]] = Reference(node)
        return node._value_ref


def frame_of(node: NestedCallNode) -> Frame | None:
    """What a call was recorded by; None if it was taken over from a former trace."""
    frame = node.frame
    assert frame is None or isinstance(frame, Frame)
    return frame


def run_of(node: NestedCallNode) -> Run:
    """The run that a call belongs to."""
    assert isinstance(node.run, Run)
    return node.run


def checked_node(node: Any) -> CallNode:
    """What a context has returned as the node of a call."""
    if not isinstance(node, CallNode):
        raise TypeError(f"a context returned {node!r} as the node of a call: return what super() gives, or another node")
    return node


# What the text calls. The place comes first, so that names of arguments cannot be in the way.


def call(trace: Frame, where: str, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`f(*args, **kwargs)`, recorded."""
    return trace.call(where, f, args, kwargs)


def apply(trace: Frame, where: str, f: Any, args: Any, kwargs: Any, /) -> Any:
    """`f(*args, **kwargs)` where the program has stars."""
    return _spread(trace, where, f, *(args or ()), **(kwargs or {}))


def _spread(trace: Frame, where: str, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    return trace.call(where, f, args, kwargs)


def special(trace: Frame, where: str, /, *values: Any) -> Any:
    """The value of a statement that calls nothing."""
    site = trace.sites[where]
    assert isinstance(site, CallSite)
    live = values[0] if len(site.results) == 1 else values
    node: Node
    if site.special == "global":
        expression = site.arguments[0]
        assert isinstance(expression, Constant)
        node = ConstantNode(site.location, expression, None, live)
    else:
        arguments = trace.operands(site.arguments)
        node = SpecialCallNode(site.location, site.special, arguments, None, live)
        if trace.run.writers:
            node.after = trace.writers_of(arguments, [_live(argument) for argument in arguments])
    trace.special(node, site.results, live)
    return node._value_ref if trace.former is not None else live


def append(trace: Frame, where: str, items: list[Any], item: Any, /) -> None:
    """A comprehension has added an item to its list."""
    site = trace.sites[where]
    assert isinstance(site, CallSite)
    growing = trace.run.growing.setdefault(id(items), (items, []))[1]
    if len(growing) >= len(items):
        growing.clear()
    growing.append(trace.run.snapshots.take(item))
    node = SpecialCallNode(site.location, "append", trace.operands(site.arguments), Prefix(growing), items)
    trace.add(node)
    trace.define(site.results, node)
    trace.met(node)
    trace.hooks.tracked_special(node)


def _live(value: TapeValue) -> Any:
    return value.value_ref if isinstance(value, Reference) else value.value


def jump(trace: Frame, where: str, /) -> None:
    """A branch is taken."""
    site = trace.sites[where]
    assert isinstance(site, JumpSite)
    trace.jump(site, tuple([trace.operand(argument) for argument in site.arguments]))


def decide(trace: Frame, when_false: str, when_true: str, condition: Any, /) -> bool:
    """The condition of a `while`, and the branch that it leads to."""
    holds = bool(condition)
    where = when_true if holds else when_false
    if where:
        jump(trace, where)
    return holds


def mark(trace: Frame, where: str, /) -> None:
    """What the handlers of a `try` see from here on."""
    site = trace.sites[where]
    assert isinstance(site, MarkSite)
    seen = trace.marks.setdefault(site.scope, [None] * len(site.values))
    for index, value in enumerate(site.values):
        if value is not None:
            seen[index] = trace.operand(value)


def caught(trace: Frame, where: str, /) -> None:
    """An exception has come to a handler."""
    site = trace.sites[where]
    assert isinstance(site, JumpSite)
    trace.jump(site, tuple(trace.marks.get(site.scope, ())), sys.exc_info()[1])


def give(trace: Frame, where: str, value: Any, /) -> Any:
    """`return value`"""
    site = trace.sites[where]
    assert isinstance(site, CallSite)
    node = ReturnNode(site.location, trace.value(site.arguments[0]), None, value)
    trace.run.keep(node, value)
    if trace.run.writers and node.argument is not None:
        node.after = trace.writers_of((node.argument,), (value,))
    trace.add(node)
    trace.met(node)
    trace.hooks.tracked_return(node)
    return value


def fail(trace: Frame, where: str, /, *exception: Any) -> None:
    """`raise exception`"""
    site = trace.sites[where]
    assert isinstance(site, CallSite)
    argument = trace.value(site.arguments[0]) if site.arguments else None
    value = exception[0] if exception else None
    trace.add(RaiseNode(site.location, argument, value, value))
