"""The nodes of a trace: an extended Wengert list, in which calls are nested and control flow is recorded.

    data flow       ArgumentNode, ConstantNode, PrimitiveCallNode, NestedCallNode, SpecialCallNode
    control flow    JumpNode, ReturnNode, RaiseNode

Here is what all of them are, and the call whose nodes are its `children`, in the order in which their statements were executed:
both refer to each other. The others are in `data_flow` and `control_flow`.

    @4: [§1:%4] ⟨+⟩(@3, ⟨1⟩) → 3     `⟨+⟩` and `⟨1⟩` are constants of the program, `@3` is the node that made the value
    @9: [§2:&2] goto §3 since @8#1   part 1 of what node 8 has defined
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, final, overload

from microgradpy.introspect import IR
from microgradpy.ir.locations import BlockLocation
from microgradpy.tracking.drawing import dot, mermaid, svg
from microgradpy.tracking.queries import Axis, against_execution, against_position, by_execution, by_position, closure
from microgradpy.tracking.values import Constant, show

_NOTHING: Any = object()


@final
class Reference:
    """The value that a node has made, or a `part` of it, counted from 1, if it has defined several variables."""

    __slots__ = ("node", "part")

    def __init__(self, node: Node, part: int | None = None) -> None:
        self.node, self.part = node, part

    @property
    def value(self) -> Any:
        """The value as it was when the node was recorded."""
        value = self.node.value
        return value if self.part is None else value[self.part - 1]

    @property
    def value_ref(self) -> Any:
        """The object itself, as it is now."""
        value = self.node.value_ref
        return value if self.part is None else value[self.part - 1]

    def __str__(self) -> str:
        return f"@{self.node.position}" if self.part is None else f"@{self.node.position}#{self.part}"

    __repr__ = __str__


TapeValue = Constant | Reference


@final
class Prefix:
    """The first items of a list to which items are only added: what a comprehension has made so far."""

    __slots__ = ("length", "shared")

    def __init__(self, shared: list[Any]) -> None:
        self.shared, self.length = shared, len(shared)

    def items(self) -> list[Any]:
        return self.shared[: self.length]


class Replaying(Protocol):
    """Makes a trace anew, with other values for some of its nodes."""

    def update(self, root: NestedCallNode, values: Mapping[Node, Any]) -> NestedCallNode: ...

    def copies(self, former: NestedCallNode, new: NestedCallNode) -> list[Node]: ...


class Recorded(Protocol):
    """The run that a trace is of."""

    @property
    def replayer(self) -> Replaying: ...


class Node:
    """One executed statement. `value` is what it gave, as it was then; `value_ref` the object itself, as it is now.
    `parent` is the call that it belongs to, `position` its number there, counted from 1, as it is printed."""

    __slots__ = ("_metadata", "_value", "_value_ref", "after", "location", "note", "origin", "parent", "position")
    kind: ClassVar[str] = "Node"

    def __init__(self, location: BlockLocation | None, value: Any = None, live: Any = _NOTHING) -> None:
        self.location = location
        self._value = value
        self._value_ref = value if live is _NOTHING else live
        self._metadata: dict[Any, Any] | None = None
        self.parent: NestedCallNode | None = None
        self.position = 0
        self.after: tuple[Node, ...] = ()  # what has written, since they were made, into the values that this one reads
        self.note = ""
        self.origin: Node | None = None  # of the former trace, if this one was taken over when that was updated

    @property
    def value(self) -> Any:
        return self._value.items() if type(self._value) is Prefix else self._value

    @property
    def value_ref(self) -> Any:
        return self._value_ref

    @property
    def metadata(self) -> dict[Any, Any]:
        """Whatever contexts and users want to remember of the node; printed after it."""
        if self._metadata is None:
            self._metadata = {}
        return self._metadata

    @property
    def ir(self) -> IR | None:
        """The IR of the function that the statement is from; `ir[location]` is the statement."""
        return None if self.parent is None else self.parent.inner_ir

    @property
    def root(self) -> Node:
        """The call that was tracked."""
        node: Node = self
        while node.parent is not None:
            node = node.parent
        return node

    @property
    def depth(self) -> int:
        """How many calls this node is inside of."""
        depth, node = 0, self.parent
        while node is not None:
            depth, node = depth + 1, node.parent
        return depth

    @property
    def children(self) -> Sequence[Node]:
        """The nodes of a call that was looked into, in the order in which they were executed; all others have none."""
        return ()

    @property
    def is_data_flow(self) -> bool:
        return isinstance(self, DataFlowNode)

    def operands(self) -> Iterator[tuple[Any, TapeValue]]:
        """The values that the statement reads, with their positions."""
        return iter(())

    def text(self) -> str:
        """The statement, without its place."""
        return show(self.value)

    @property
    def label(self) -> str:
        """What the place is printed as."""
        return f"[{self.location}] "

    def __repr__(self) -> str:
        head = f"@{self.position}: " if self.position else ""
        return head + self.text() + self.shown_metadata()

    def shown_metadata(self) -> str:
        if not self._metadata:
            return ""
        shown = ", ".join(f"{key}: {show(value)}" for key, value in self._metadata.items())
        return f"  {{{shown}}}"

    def update(self, value: Any) -> NestedCallNode:
        """The trace as it would have been, had this node given another value. Only what depends on it is computed again, and
        where a branch goes another way the new way is taken; everything else keeps its value, draws of random numbers among
        it. This trace, and the values it has recorded, stay as they are."""
        root = self.root
        assert isinstance(root, NestedCallNode), "a trace of one call has nothing to update"
        return root.run.replayer.update(root, {self: value})

    # Questions

    def query(self, axis: Axis) -> list[Node]:
        """The nodes on an axis, or on several (`Axis.PRECEDING | Axis.PARENT`), in the order of execution; a call comes before
        the nodes in it."""
        return list(_on_axes(self, axis))

    @overload
    def referenced(self, axis: Axis = Axis.PRECEDING, *, numbered: Literal[False] = False) -> list[Node]: ...

    @overload
    def referenced(self, axis: Axis = Axis.PRECEDING, *, numbered: Literal[True]) -> list[tuple[Any, Node]]: ...

    def referenced(self, axis: Axis = Axis.PRECEDING, *, numbered: bool = False) -> list[Any]:
        """The nodes whose values this one reads. `numbered` gives pairs with the position in the call, where 1 is the function
        and None something that has written into a value meanwhile. Constants are left out.

        With `Axis.PARENT` an argument of a call leads to the node of the caller that gave it; with `Axis.CHILD` a call leads to
        the `return` in it."""
        found = list(self.steps_back(axis))
        return found if numbered else list(dict.fromkeys(node for _, node in found))

    def dependents(self, axis: Axis = Axis.FOLLOWING) -> list[Node]:
        """The nodes that read the value of this one: the other way round. With `Axis.CHILD` also the arguments of the calls
        that it is given to, with `Axis.PARENT` the call that it is returned from."""
        return list(dict.fromkeys(_dependents(self, axis)))

    def backward(self, axis: Axis = Axis.PRECEDING, visit: Callable[[Node], Any] | None = None) -> list[Node]:
        """All that the value of this node depends on, the last one first: every node comes before those that it reads.
        `visit` is called for each, and need not be there."""
        order = against_position if axis is Axis.PRECEDING else against_execution
        return closure(self, lambda node: [found for _, found in node.steps_back(axis)], visit, order)

    def forward(self, axis: Axis = Axis.FOLLOWING, visit: Callable[[Node], Any] | None = None) -> list[Node]:
        """All that depends on the value of this node, the first one first."""
        order = by_position if axis is Axis.FOLLOWING else by_execution
        return closure(self, lambda node: list(_dependents(node, axis)), visit, order)

    def steps_back(self, axis: Axis) -> Iterator[tuple[Any, Node]]:
        """What `referenced` leads to, with the positions."""
        if Axis.PRECEDING in axis:
            for position, read in self.operands():
                if isinstance(read, Reference):
                    yield position, read.node
            yield from ((None, writer) for writer in self.after)
        if Axis.PARENT in axis and (given := self.given_outside()) is not None:
            yield 1, given.node

    def given_outside(self) -> Reference | None:
        """What a call was given for this argument of it, if a node of the caller made it."""
        return None

    # Pictures

    def to_svg(self, levels: int | None = None) -> str:
        """A picture of the trace as SVG: of `levels` levels, or all of them. Needs no other program."""
        return svg(self, levels)

    def to_dot(self, levels: int | None = None) -> str:
        """The trace in the language of Graphviz, calls as clusters."""
        return dot(self, levels)

    def to_mermaid(self, levels: int | None = None) -> str:
        """The trace as a Mermaid flow chart, which Markdown pages show, calls as subgraphs."""
        return mermaid(self, levels)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        return f'<div style="overflow:auto; max-height:40em">{self.to_svg()}</div>'


class DataFlowNode(Node):
    """A node that makes a value."""

    __slots__ = ()


class ControlFlowNode(Node):
    """A node that says where control goes."""

    __slots__ = ()


class CallNode(DataFlowNode):
    """A call: `function` and `arguments` are constants or references to the nodes that made them; `keywords` are those given by
    name. `error` is the exception that it was left by. `changes` are the values that it wrote into: each with the position of
    the argument (0 for the function), and the value afterwards."""

    __slots__ = ("arguments", "changes", "error", "function", "keywords")

    def __init__(
        self,
        location: BlockLocation | None,
        function: TapeValue,
        arguments: tuple[TapeValue, ...],
        keywords: tuple[tuple[str, TapeValue], ...] = (),
        value: Any = None,
        live: Any = _NOTHING,
    ) -> None:
        super().__init__(location, value, live)
        self.function, self.arguments, self.keywords = function, arguments, keywords
        self.error: BaseException | None = None
        self.changes: tuple[tuple[int, Any], ...] = ()

    def argument(self, index: int) -> TapeValue:
        """One of the positional arguments."""
        return self.arguments[index]

    def operands(self) -> Iterator[tuple[Any, TapeValue]]:
        """1 is the function, then come the arguments; those given by name are at their names."""
        yield 1, self.function
        yield from enumerate(self.arguments, 2)
        yield from self.keywords

    def text(self) -> str:
        given = [*map(str, self.arguments), *(f"{name}={value}" for name, value in self.keywords)]
        return f"{self.function}({', '.join(given)}){self.outcome()}"

    def outcome(self) -> str:
        if self.error is not None:
            return f" raised {show(self.error)}"
        result = "" if self.changes and self.value is None else f" → {show(self.value)}"
        operands = ("its " + type(self.changes[0][1]).__name__ if self.changes else "", *self.arguments)
        written = [f"{operands[position]} is now {show(value)}" for position, value in self.changes]
        return ", ".join([result, *written]) if result else f" → {', '.join(written)}"


@final
class NestedCallNode(CallNode, Sequence[Node]):
    """A call with the nodes of what was executed in it. As a sequence it has its children: `node[0]` is the first, printed as
    `@1`, and `node['@1']` the same."""

    __slots__ = ("_children", "_readers", "_taken_from", "frame", "given", "inner_ir", "run")
    kind = "nested"

    def __init__(
        self,
        location: BlockLocation | None,
        function: TapeValue,
        arguments: tuple[TapeValue, ...],
        keywords: tuple[tuple[str, TapeValue], ...],
        run: Recorded,
        inner_ir: IR,
    ) -> None:
        super().__init__(location, function, arguments, keywords)
        self.run, self.inner_ir = run, inner_ir
        self._children: list[Node] | None = []
        self._readers: list[list[Node]] | None = None
        self._taken_from: NestedCallNode | None = None
        self.frame: object = None  # what records it: `recording.frame_of`
        self.given: tuple[TapeValue | None, ...] = ()  # what its arguments were given, the function itself first

    @property
    def ir(self) -> IR | None:
        return self.inner_ir if self.parent is None else self.parent.inner_ir

    @property
    def children(self) -> Sequence[Node]:
        if self._children is None:
            assert self._taken_from is not None
            self._children = self.run.replayer.copies(self._taken_from, self)
        return self._children

    def add(self, node: Node) -> None:
        """Record a child."""
        assert self._children is not None
        self._children.append(node)
        node.parent, node.position = self, len(self._children)

    def share(self, former: NestedCallNode) -> None:
        """Have the children of another node, which are copied when they are asked for."""
        self._children, self._taken_from = None, former

    def finish(self, value: Any, live: Any) -> None:
        self._value, self._value_ref = value, live

    def steps_back(self, axis: Axis) -> Iterator[tuple[Any, Node]]:
        yield from super().steps_back(axis)
        if Axis.CHILD in axis and self.children and self.children[-1].kind == "return":
            yield 0, self.children[-1]

    def readers(self, node: Node) -> list[Node]:
        """The children that read the value of a child. The list for all of them is made once."""
        if self._readers is None or len(self._readers) <= len(self.children):
            self._readers = [[] for _ in range(len(self.children) + 1)]
            for reader in self.children:
                for found in dict.fromkeys(_read_by(reader)):
                    self._readers[found.position].append(reader)
        return self._readers[node.position]

    def __len__(self) -> int:
        return len(self.children)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.children)

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    @overload
    def __getitem__(self, index: int | str) -> Node: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Node]: ...

    def __getitem__(self, index: int | str | slice) -> Node | Sequence[Node]:
        if isinstance(index, str):
            return self.children[int(index.removeprefix("@")) - 1]
        return self.children[index]


def _read_by(node: Node) -> Iterator[Node]:
    for _, operand in node.operands():
        if isinstance(operand, Reference):
            yield operand.node
    yield from node.after


def descendants(node: Node) -> Iterator[Node]:
    """The nodes inside a call, and those inside them, in the order of execution; without recursion, as calls may be deep."""
    waiting = [iter(node.children)]
    while waiting:
        inner = next(waiting[-1], None)
        if inner is None:
            waiting.pop()
            continue
        yield inner
        waiting.append(iter(inner.children))


def _on_axes(node: Node, axis: Axis) -> Iterator[Node]:
    parent = node.parent
    if Axis.ANCESTOR in axis or Axis.PARENT in axis:
        ancestors = list(_ancestors(node))
        yield from ancestors if Axis.ANCESTOR in axis else ancestors[-1:]
    if parent is not None and Axis.PRECEDING in axis:
        yield from parent.children[: node.position - 1]
    if Axis.DESCENDANT in axis:
        yield from descendants(node)
    elif Axis.CHILD in axis:
        yield from node.children
    if parent is not None and Axis.FOLLOWING in axis:
        yield from parent.children[node.position :]


def _ancestors(node: Node) -> Iterator[Node]:
    if node.parent is not None:
        yield from _ancestors(node.parent)
        yield node.parent


def _dependents(node: Node, axis: Axis) -> Iterator[Node]:
    parent = node.parent
    if parent is None:
        return
    readers = parent.readers(node)
    if Axis.FOLLOWING in axis:
        yield from readers
    if Axis.CHILD in axis:
        for call in readers:
            for inner in itertools.takewhile(lambda inner: inner.kind == "argument", call.children):
                given = inner.given_outside()
                if given is not None and given.node is node:
                    yield inner
    if Axis.PARENT in axis and node.kind == "return" and parent.parent is not None:
        yield parent


def query(node: Node, axis: Axis) -> list[Node]:
    """`node.query(axis)`"""
    return node.query(axis)


def backward(visit: Callable[[Node], Any], node: Node, axis: Axis = Axis.PRECEDING) -> list[Node]:
    """`node.backward(axis, visit)`: the form of a visitor."""
    return node.backward(axis, visit)


def forward(visit: Callable[[Node], Any], node: Node, axis: Axis = Axis.FOLLOWING) -> list[Node]:
    """`node.forward(axis, visit)`: the form of a visitor."""
    return node.forward(axis, visit)
