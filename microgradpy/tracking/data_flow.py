"""The nodes that make values, besides the calls that were looked into: arguments, constants, and other calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

from microgradpy.ir.locations import BlockLocation
from microgradpy.tracking.control_flow import JumpNode
from microgradpy.tracking.nodes import CallNode, DataFlowNode, Reference, TapeValue
from microgradpy.tracking.values import Constant, show


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

    def given_outside(self) -> Reference | None:
        call = self.parent
        if call is None or self.jump is not None or call.parent is None:
            return None
        given = call.given[self.number - 1]
        return given if isinstance(given, Reference) else None


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
