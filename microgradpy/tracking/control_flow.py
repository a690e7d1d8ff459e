"""The nodes of control flow: branches, `return` and `raise`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

from microgradpy.ir.locations import BlockLocation
from microgradpy.tracking.nodes import ControlFlowNode, TapeValue
from microgradpy.tracking.values import show


@final
class JumpNode(ControlFlowNode):
    """Control goes to the block number `target`, whose arguments are `arguments`. With a `condition`, because that was
    false; with `classes`, because of the exception `error`."""

    __slots__ = ("arguments", "classes", "condition", "error", "target")
    kind = "jump"

    def __init__(
        self, location: BlockLocation, target: int, arguments: tuple[TapeValue | None, ...], condition: TapeValue | None = None
    ) -> None:
        super().__init__(location)
        self.target, self.arguments, self.condition = target, arguments, condition
        self.classes: tuple[str, ...] = ()
        self.error: BaseException | None = None

    def operands(self) -> Iterator[tuple[Any, TapeValue]]:
        if self.condition is not None:
            yield 1, self.condition
        for position, argument in enumerate(self.arguments, 2):
            if argument is not None:
                yield position, argument

    def text(self) -> str:
        given = ["undefined" if argument is None else str(argument) for argument in self.arguments]
        with_arguments = f" ({', '.join(given)})" if given else ""
        if self.error is not None:
            return f"goto §{self.target}{with_arguments} on {show(self.error)}"
        since = "" if self.condition is None else f" since {self.condition} == {self.condition.value}"
        return f"goto §{self.target}{with_arguments}{since}"


class LeavingNode(ControlFlowNode):
    """Control leaves the function, with a value or an exception."""

    __slots__ = ("argument",)

    def __init__(self, location: BlockLocation, argument: TapeValue | None, value: Any, live: Any) -> None:
        super().__init__(location, value, live)
        self.argument = argument

    def operands(self) -> Iterator[tuple[Any, TapeValue]]:
        if self.argument is not None:
            yield 1, self.argument


@final
class ReturnNode(LeavingNode):
    """`return`"""

    __slots__ = ()
    kind = "return"

    def text(self) -> str:
        return f"return {self.argument} → {show(self.value)}"


@final
class RaiseNode(LeavingNode):
    """`raise`"""

    __slots__ = ()
    kind = "raise"

    def text(self) -> str:
        return "raise" if self.argument is None else f"raise {self.argument} → {show(self.value)}"
