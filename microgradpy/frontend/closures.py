"""Functions defined inside the function being lowered.

A closure is made by `CLOSURE(captured values..., default values..., keyword default values...)` with a `ClosureBody` as
payload. Python shares the captured *variable*, the IR hands over its *value*: the two are the same as long as the
variable gets no new value while the closure can still be called. That is checked here. A variable of which it cannot be
shown lives in a cell, as in Python, and the closure is given the cell (`lower_variables`).
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import final

from microgradpy.dataclasses import dataclass
from microgradpy.frontend.codes import comes_from, first_line, is_named, span
from microgradpy.frontend.scope import Binding, FunctionNode, Position
from microgradpy.frontend.sharing import functions_in, generator_expressions_in
from microgradpy.ir.nodes import Function, If, Op, Region, Try, Value, Var
from microgradpy.ir.traversal import regions, terminator_values, uses


@final
@dataclass(frozen=True, slots=True)
class ClosureBody:
    """The payload of a `CLOSURE` operation: a nested `def` or lambda.

    The operation's arguments are the values of `function.captured` (the order of `code.co_freevars`), then those of the
    `defaults` last positional parameters, then those of the keyword-only parameters named in `keyword_defaults`.
    `code` is the code object that Python itself would make the function from. The values of the variables in `shared` are
    their cells. `is_of_other_module` says that its module is not that of the function which it stands in.
    """

    function: Function
    code: types.CodeType
    defaults: int = 0
    keyword_defaults: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    is_of_other_module: bool = False


@final
@dataclass(frozen=True, slots=True)
class PendingClosure:
    """A closure over variables that are bound again, finished at `made`: their values may be handed over only if it is not
    called after one of `rebindings`."""

    result: Var
    rebindings: tuple[Binding, ...]
    made: Position


class Shared(Exception):
    """These variables have to live in cells."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__(names)
        self.names = names


def nested_code(code: types.CodeType, node: FunctionNode) -> types.CodeType | None:
    """The code object that a nested function is made from."""
    found = [
        inner
        for inner in (*functions_in(code), *generator_expressions_in(code))
        if inner.co_firstlineno == first_line(node) and is_named(node, inner) and comes_from(inner, node)
    ]
    # The first iterable of a generator expression may be another one, which lies inside of its text.
    return min(found, key=lambda inner: span(inner)[0], default=None) if len(found) > 1 else next(iter(found), None)


def rebindings(bindings: Sequence[Binding], made: Position, loops: Sequence[Position]) -> tuple[Binding, ...]:
    """The bindings that may happen after a closure is made at a place inside some loops: those that come later, and
    those of the next iterations. The binding of a nested function's own name is its making, not later."""
    return tuple(b for b in bindings if b.position > made or not set(b.loops).isdisjoint(loops))


def outdated_names(body: Region, pending: Sequence[PendingClosure]) -> frozenset[str]:
    """The variables that may have a new value when a closure over them is called."""
    outdated: dict[Var, PendingClosure] = {}
    waiting = {closure.result: closure for closure in pending}
    if waiting:
        _find_outdated(body, waiting, {}, (), outdated)
    return frozenset(binding.name for closure in outdated.values() for binding in closure.rebindings)


def _find_outdated(
    region: Region,
    waiting: Mapping[Var, PendingClosure],
    depths: dict[Var, int],
    loops: tuple[Position, ...],
    outdated: dict[Var, PendingClosure],
) -> None:
    """A closure whose every use is a call of it cannot outlive its iteration; each call has to precede the bindings."""

    def escapes(values: Sequence[Value]) -> None:
        outdated.update({value: waiting[value] for value in values if isinstance(value, Var) and value in waiting})

    for statement in region.statements:
        if isinstance(statement, Op) and isinstance(statement.callee, Var) and statement.callee in waiting:
            closure = waiting[statement.callee]
            # The loops entered since the closure was made: what they bind is bound again before the next call.
            entered = loops[depths[statement.callee] :]
            if any(_comes_before(binding, statement, entered, closure) for binding in closure.rebindings):
                outdated[statement.callee] = closure
            escapes(uses(statement)[1:])
        else:
            escapes(uses(statement))
        if isinstance(statement, Op):
            depths.update(dict.fromkeys(statement.results, len(loops)))
            continue
        inner = loops if isinstance(statement, If | Try) else (*loops, (statement.where.line, statement.where.column))
        for nested in regions(statement):
            _find_outdated(nested, waiting, depths, inner, outdated)
    escapes(terminator_values(region.terminator))


def _comes_before(binding: Binding, call: Op, entered: Sequence[Position], closure: PendingClosure) -> bool:
    if not set(binding.loops).isdisjoint(entered):
        return True
    # Arguments are evaluated before the call is made, so a `:=` among them comes first.
    return closure.made < binding.position < (call.where.end_line, call.where.end_column)

