"""What a `CLOSURE` makes a function of: a bare `Function`, or one with more to it, such as the values of its defaults."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from microgradpy.ir.nodes import Function, Op, Opcode


@runtime_checkable
class ClosurePayload(Protocol):
    """What a `CLOSURE` may have as payload instead of a bare `Function`: its arguments are then the captured values,
    the values of the `defaults` last positional parameters, and those of the parameters in `keyword_defaults`."""

    @property
    def function(self) -> Function: ...

    @property
    def defaults(self) -> int: ...

    @property
    def keyword_defaults(self) -> tuple[str, ...]: ...


def nested_function(operation: Op) -> Function | None:
    """The function that a closure is made of; None for an operation that makes no closure."""
    payload = operation.payload
    if operation.callee is not Opcode.CLOSURE:
        return None
    if isinstance(payload, ClosurePayload):
        return payload.function
    return payload if isinstance(payload, Function) else None


def closure_arity(operation: Op, function: Function) -> int:
    """How many arguments a `CLOSURE` over this function has."""
    payload = operation.payload
    defaults = payload.defaults + len(payload.keyword_defaults) if isinstance(payload, ClosurePayload) else 0
    return len(function.captured) + defaults
