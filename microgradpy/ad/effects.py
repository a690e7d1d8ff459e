"""Effects in the body of a `try`, and the marks that say that they were had: for functions that write."""

from __future__ import annotations

from microgradpy.ad.atomic import is_harmless
from microgradpy.ad.calls import AddInPlace, Append, Call, Dispatched, Iterated, StoreItem, Suspend, UnitCall
from microgradpy.ad.primal_builder import PrimalBuilder
from microgradpy.ir.kinds import is_proven
from microgradpy.ir.nodes import Break, Const, For, If, Op, Opcode, Region, Statement, Try, Var, While
from microgradpy.ir.traversal import is_mark, item_variables, walk
from microgradpy.runtime.keys import check_keys
from microgradpy.runtime.opaque import check_assumed
from microgradpy.state.snapshots import frozen


def has_effect(primal: PrimalBuilder, statement: Statement) -> bool:
    """Whether an operation, or the items of a loop, may change what the adjoint has to change back."""
    if isinstance(statement, For):
        return iteration_effect(primal, statement) is not None
    return isinstance(statement, Op) and effect_of(primal, statement) is not None


def iteration_effect(primal: PrimalBuilder, loop: While | For) -> Call | None:
    """The items of a loop that the user's code may give."""
    items = item_variables(loop.items) if isinstance(loop, For) else ()
    found = (primal.calls.get(item) for item in items)
    return next((call for call in found if isinstance(call, Iterated) and not is_proven(primal.kind(call.source))), None)


def effect_of(primal: PrimalBuilder, op: Op) -> Call | None:
    if op.callee is Opcode.APPEND:
        return None  # nobody sees the list of a comprehension before it is complete
    return next((primal.calls[result] for result in op.results if _changes(primal, primal.calls.get(result))), None)


def _changes(primal: PrimalBuilder, call: Call | None) -> bool:
    match call:
        case UnitCall():
            return call.unit.writes
        case Dispatched(callee=callee, arguments=arguments, packed=False):
            return not is_harmless(primal, callee, arguments)
    return isinstance(call, Dispatched | AddInPlace | StoreItem | Append | Suspend)


def unmarked_effect(primal: PrimalBuilder, attempt: Try) -> Call | None:
    """A call in the body of a `Try` that is not followed by a mark before something may raise."""
    try:
        _Search(primal, attempt.scope).region(attempt.body, None)
    except _Found as found:
        return found.call
    return None


class _Found(Exception):
    def __init__(self, call: Call) -> None:
        self.call = call


class _Search:
    """`pending` is a call that no mark has followed so far."""

    def __init__(self, primal: PrimalBuilder, scope: Var) -> None:
        self.primal = primal
        self.scope = scope

    def region(self, region: Region, pending: Call | None) -> Call | None:
        for statement in region.statements:
            match statement:
                case Op():
                    pending = self.operation(statement, pending)
                case If(then=then, orelse=orelse):
                    ends = [self.region(arm, pending) for arm in (then, orelse)]
                    pending = next((call for call in ends if call is not None), None)
                case Try(body=body, handlers=handlers):
                    ends = [self.region(inner, pending) for inner in (body, *(handler.body for handler in handlers))]
                    pending = next((call for call in ends if call is not None), None)
                case While() | For():
                    self.fail(pending)
                    pending = self.loop(statement)
        return pending

    def operation(self, op: Op, pending: Call | None) -> Call | None:
        if is_mark(op):
            return None if op.payload == self.scope else pending
        found = effect_of(self.primal, op)
        if op.callee is not Opcode.UNPACK and not _is_never_caught(op):
            self.fail(pending)
        return pending if found is None else found

    def loop(self, loop: While | For) -> Call | None:
        """A loop with effects catches what its body raises, and a mark follows it."""
        effects = [op for op in walk(loop.body) if isinstance(op, Op) and has_effect(self.primal, op)]
        if isinstance(loop, While):
            effects += [op for op in walk(loop.condition) if isinstance(op, Op) and has_effect(self.primal, op)]
        own = iteration_effect(self.primal, loop)
        if not effects:
            return own
        last = effect_of(self.primal, effects[-1])
        guarded = [op for s in loop.body.statements if isinstance(s, Try) and _catches_all(s) for op in walk(s.body)]
        if any(all(op is not known for known in guarded) for op in effects):
            self.fail(last)
        return last

    def fail(self, pending: Call | None) -> None:
        if pending is not None:
            raise _Found(pending)


def _is_never_caught(op: Op) -> bool:
    """Whether an operation that the compiler puts after a call raises refusals only, which all handlers let pass."""
    return isinstance(op.callee, Const) and any(op.callee.value is known for known in (frozen, check_keys, check_assumed))


def _catches_all(attempt: Try) -> bool:
    """Whether a `Try` is that of a guarded loop, which no exception leaves."""
    last = attempt.handlers[-1].body
    return isinstance(last.terminator, Break) and not last.statements
