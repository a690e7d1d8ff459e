"""The nodes of a trace: an extended Wengert list, in which calls are nested and control flow is recorded.

    data flow       ArgumentNode, ConstantNode, PrimitiveCallNode, NestedCallNode, SpecialCallNode
    control flow    JumpNode, ReturnNode, RaiseNode

The nodes of a call are its `children`, in the order in which their statements were executed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, final, overload

from microgradpy.introspect import IR
from microgradpy.ir.locations import BlockLocation
from microgradpy.tracking.drawing import Drawn
from microgradpy.tracking.queries import Queried
from microgradpy.tracking.values import Constant, Reference, TapeValue, show

if TYPE_CHECKING:
    from microgradpy.tracking.control import JumpNode
    from microgradpy.tracking.recording import Frame, Run

_NOTHING: Any = object()


@final
class Prefix:
    """The first items of a list to which items are only added: what a comprehension has made so far."""

    __slots__ = ("length", "shared")

    def __init__(self, shared: list[Any]) -> None:
        self.shared, self.length = shared, len(shared)

    def items(self) -> list[Any]:
        return self.shared[: self.length]


class Node(Queried, Drawn):
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


class DataFlowNode(Node):
    """A node that makes a value."""

    __slots__ = ()


class ControlFlowNode(Node):
    """A node that says where control goes."""

    __slots__ = ()


@final
class ArgumentNode(DataFlowNode):
    """An argument of the function, or of a block: then it was set by `jump`, whose argument number `number` it is."""

    __slots__ = ("given", "jump", "number")
    kind = "argument"

    def __init__(
        self,
        location: BlockLocation,
        value: Any,
        live: Any,
        number: int,
        jump: JumpNode | None = None,
        given: TapeValue | None = None,
    ) -> None:
        super().__init__(location, value, live)
        self.number, self.jump = number, jump
        self.given = given  # what the jump has handed on

    @property
    def label(self) -> str:
        return f"[Arg:{self.location}] "

    def operands(self) -> Iterator[tuple[Any, TapeValue]]:
        if self.given is not None:
            yield 1, self.given

    def text(self) -> str:
        return show(self.value) if self.jump is None else f"@{self.jump.position}#{self.number} → {show(self.value)}"


@final
class ConstantNode(DataFlowNode):
    """A value that the statement only names: a module variable."""

    __slots__ = ("expression",)
    kind = "constant"

    def __init__(self, location: BlockLocation, expression: Constant, value: Any, live: Any) -> None:
        super().__init__(location, value, live)
        self.expression = expression

    def text(self) -> str:
        return f"{self.expression} → {show(self.value)}"


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
class PrimitiveCallNode(CallNode):
    """A call that was not looked into."""

    __slots__ = ()
    kind = "primitive"


@final
class SpecialCallNode(CallNode):
    """A statement that calls nothing, such as making a tuple; prints as `$(tuple)(...)`."""

    __slots__ = ("name",)
    kind = "special"

    def __init__(self, location: BlockLocation, name: str, arguments: tuple[TapeValue, ...], value: Any, live: Any) -> None:
        super().__init__(location, Constant(None, name), arguments, (), value, live)
        self.name = name

    def text(self) -> str:
        return f"$({self.name})({', '.join(map(str, self.arguments))}){self.outcome()}"


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
        run: Run,
        inner_ir: IR,
    ) -> None:
        super().__init__(location, function, arguments, keywords)
        self.run, self.inner_ir = run, inner_ir
        self._children: list[Node] | None = []
        self._readers: list[list[Node]] | None = None
        self._taken_from: NestedCallNode | None = None
        self.frame: Frame | None = None
        self.given: tuple[TapeValue | None, ...] = ()  # what its arguments were given, the function itself first

    @property
    def ir(self) -> IR | None:
        return self.inner_ir if self.parent is None else self.parent.inner_ir

    @property
    def children(self) -> Sequence[Node]:
        """The nodes of this call, in the order in which they were executed."""
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
