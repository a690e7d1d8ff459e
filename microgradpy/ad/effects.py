"""What the body of a `try` may have changed before an exception came: for functions that write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from microgradpy.ad.calls import AddInPlace, Append, Call, Dispatched, StoreItem, UnitCall
from microgradpy.ir.nodes import Break, Const, Continue, Op, Region, Return, Statement, Var, Yield
from microgradpy.ir.traversal import regions, terminators
from microgradpy.state.events import has_event


def has_effect(call: Call) -> bool:
    """Whether a call may change what the adjoint has to change back."""
    if isinstance(call, UnitCall):
        return call.unit.writes
    return isinstance(call, Dispatched | AddInPlace | StoreItem | Append)


def goes_on(handler: Region) -> bool:
    """Whether the program may go on after a handler that does this."""
    ends = (isinstance(end, Return | Break | Continue) for end in terminators(handler, of_inner_loops=False))
    returns = (isinstance(end, Return) for end in terminators(handler))
    return isinstance(handler.terminator, Yield) or any(ends) or any(returns)


def later_effects(region: Region, calls: Mapping[Var, Call]) -> Iterator[Call]:
    """The calls in a region that may have had an effect when something later in it raises; the first one, if it raises
    itself, had none."""
    found = list(_effects(region.statements, calls))
    first = next((s for s in region.statements if any(True for _ in _effects((s,), calls))), None)
    return iter(found[1:] if isinstance(first, Op) and _is_atomic(found[0]) else found)


def _is_atomic(call: Call) -> bool:
    """Whether a call that raises has certainly had no effect."""
    return isinstance(call, Dispatched) and isinstance(call.callee, Const) and has_event(call.callee.value)


def _effects(statements: tuple[Statement, ...], calls: Mapping[Var, Call]) -> Iterator[Call]:
    for statement in statements:
        if isinstance(statement, Op):
            yield from (calls[result] for result in statement.results if result in calls and has_effect(calls[result]))
        for region in regions(statement):
            yield from _effects(region.statements, calls)
