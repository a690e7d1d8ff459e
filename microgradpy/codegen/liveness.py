"""Which variables must not share a name.

Two variables interfere if one is assigned while the other's value is still wanted. A nested operation is part of the
statement it is written in: it reads its operands there. A copy `r <- v` at the end of an arm or of a loop's body does
not by itself make `r` and `v` interfere, which is what lets the copies vanish.

Live sets go backwards through the regions:

    live before statement = (live after - what it assigns) + what it reads
    loop head             = condition + body + what is live on leaving, until nothing is added
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple, assert_never, final

from microgradpy.codegen.nesting import Nesting
from microgradpy.dataclasses import dataclass, field, nodeclass, replace
from microgradpy.ir.nodes import (
    CHANGING,
    UNDEFINED,
    Break,
    Const,
    Continue,
    For,
    Function,
    Handler,
    If,
    Op,
    Opcode,
    Raise,
    Region,
    Return,
    Statement,
    Terminator,
    Try,
    Unreachable,
    Value,
    Var,
    While,
    Yield,
)
from microgradpy.ir.traversal import is_mark, item_sources, item_variables, regions, terminator_values

_NOTHING: frozenset[Var] = frozenset()
Vars = int
"""A set of variables as the bits of a number: in long functions most of the work is on sets of many."""


@dataclass(slots=True)
class Interference:
    """For each variable those that it interferes with, written down at one of the two. `numbers` says which bit is whose."""

    numbers: dict[Var, int] = field(default_factory=dict)
    rows: dict[Var, Vars] = field(default_factory=dict)

    def bit(self, var: Var) -> Vars:
        return 1 << self.numbers.setdefault(var, len(self.numbers))

    def vars(self, variables: Iterable[Var]) -> Vars:
        numbers, found = self.numbers, 0
        for var in variables:
            found |= 1 << numbers.setdefault(var, len(numbers))
        return found

    def add(self, var: Var, others: Vars) -> None:
        self.rows[var] = self.rows.get(var, 0) | (others & ~self.bit(var))


@final
@nodeclass(frozen=True, slots=True)
class Liveness:
    """`live` holds every variable whose value somebody reads after it is assigned; `marked` the parameters that a mark, known
    by identity, has to set: after the last operation that may raise, nobody reads them."""

    interference: Interference
    live: Set[Var]
    marked: Mapping[int, Set[Var]] = field(default_factory=dict)


@final
@nodeclass(frozen=True, slots=True)
class _Targets:
    """Where a region's terminators lead: variables that receive the values, and what is live there."""

    results: tuple[Var, ...] = ()
    after: Vars = 0
    parameters: tuple[Var, ...] = ()
    head: Vars = 0
    loop_results: tuple[Var, ...] = ()
    loop_after: Vars = 0


def analyse_liveness(function: Function, nesting: Nesting, entry: Sequence[Var]) -> Liveness:
    """Interference of the variables of a function; `entry` are those assigned together when it starts."""
    # An operation nested in a copy runs even if nobody reads the target.
    forced = {copy.target for copy in copies(function, nesting) if copy.value in nesting.nested}
    analysis = _Analysis(nesting, forced)
    live = analysis.region(function.body, _Targets())
    analysis.define(entry, live)
    return Liveness(analysis.interference, analysis.live, analysis.marked)


@dataclass(slots=True)
class _Analysis:
    nesting: Nesting
    forced: Set[Var]
    interference: Interference = field(default_factory=Interference)
    live: set[Var] = field(default_factory=set)
    # What the handlers around may read: an exception may come at any statement.
    raising: Vars = 0
    seen: dict[Var, tuple[Var, ...]] = field(default_factory=dict)
    marked: dict[int, set[Var]] = field(default_factory=dict)
    # What was found live at the head of a loop in an earlier visit: it can only grow, so the next visit starts there.
    heads: dict[int, Vars] = field(default_factory=dict)
    # What was looked at in an earlier visit: the statements of regions, and what operations read.
    visited: dict[int, tuple[Region, Sequence[Statement]]] = field(default_factory=dict)
    read: dict[int, Vars] = field(default_factory=dict)
    said: dict[tuple[int, bool], tuple[Op, list[tuple[Var, Value, Vars]]]] = field(default_factory=dict)

    def vars(self, variables: Iterable[Var]) -> Vars:
        return self.interference.vars(variables)

    def roots(self, region: Region) -> Sequence[Statement]:
        """The statements of a region that are not written inside of others, the last one first."""
        known = self.visited.get(id(region))
        if known is None:
            known = self.visited[id(region)] = region, tuple(self.nesting.roots(region))[::-1]
        return known[1]

    def among(self, variables: Iterable[Var], live: Vars) -> list[Var]:
        return [var for var in variables if live & self.interference.bit(var)]

    def define(self, variables: Sequence[Var], live: Vars) -> None:
        """Variables are assigned together, and `live` is wanted after that."""
        together = self.vars(variables)
        for variable in variables:
            if live & self.interference.bit(variable):
                self.live.add(variable)
                self.interference.add(variable, live | together)
            else:
                self.interference.add(variable, live)

    def region(self, region: Region, targets: _Targets) -> Vars:
        return self.statements(region, self._terminator(region.terminator, targets) | self.raising, targets)

    def statements(self, region: Region, live: Vars, targets: _Targets) -> Vars:
        for statement in self.roots(region):
            if isinstance(statement, Op) and statement.callee is Opcode.MARK:
                live = self._mark(statement, live)
            else:
                live = self._statement(statement, live, targets) | self.raising
        return live

    def _terminator(self, terminator: Terminator, targets: _Targets) -> Vars:
        match terminator:
            case Yield(values=values):
                return self._copied(values, targets.results, targets.after)
            case Continue(values=values):
                return self._copied(values, targets.parameters, targets.head)
            case Break(values=values):
                return self._copied(values, targets.loop_results, targets.loop_after)
            case Return() | Raise() | Unreachable():
                return self._leaves(terminator_values(terminator))
        assert_never(terminator)

    def _copied(self, values: Sequence[Value], targets: Sequence[Var], after: Vars) -> Vars:
        """What is live before values are copied to those of the targets that are live after it."""
        bit = self.interference.bit
        wanted = [value for target, value in zip(targets, values, strict=True) if after & bit(target)]
        return (after & ~self.vars(targets)) | self._leaves(wanted)

    def _leaves(self, values: Iterable[Value]) -> Vars:
        return self.vars(leaf for value in values for leaf in self.nesting.leaves(value))

    def _statement(self, statement: Statement, after: Vars, targets: _Targets) -> Vars:
        match statement:
            case Op():
                return self._operation(statement, after)
            case If() if self.nesting.is_choice(statement):
                self.define(statement.results, after)
                return (after & ~self.vars(statement.results)) | self.vars(self.nesting.reads(statement))
            case If(condition=condition, then=then, orelse=orelse, results=results):
                after = self._with_forced(results, after)
                self.define(self.among(results, after), after)
                inner = replace(targets, results=results, after=after)
                arms = self.region(then, inner) | self.region(orelse, inner)
                return arms | self._leaves([condition])
            case While():
                return self._while(statement, after)
            case For():
                return self._for(statement, after)
            case Try():
                return self._attempt(statement, after, targets)
        assert_never(statement)

    def _attempt(self, statement: Try, after: Vars, targets: _Targets) -> Vars:
        after = self._with_forced(statement.results, after)
        self.define(self.among(statement.results, after), after)
        inner = replace(targets, results=statement.results, after=after)
        entered: Vars = 0
        for handler in statement.handlers:
            entered |= self._leaves(handler.types or ()) | self._handler(handler, inner)
        self.seen[statement.scope] = statement.parameters
        outer, self.raising = self.raising, self.raising | entered
        # At the end of the body nothing can raise any more.
        ending = self._terminator(statement.body.terminator, inner)
        if not isinstance(statement.body.terminator, Yield):
            ending |= self.raising
        first, *others = statement.body.statements
        live = self.statements(Region(tuple(others), statement.body.terminator), ending | outer, inner)
        self.raising = outer
        assert isinstance(first, Op)
        return self._mark(first, live, is_first=True) | outer

    def _handler(self, handler: Handler, targets: _Targets) -> Vars:
        """What a handler reads. Python unbinds the name of the exception where the handler ends, so nothing that is assigned
        in it or wanted after it may have that name."""
        caught = handler.exception
        if caught is None:
            return self.region(handler.body, targets)
        self.interference.add(caught, self.vars((*targets.results, *targets.parameters, *targets.loop_results)))
        more = self.interference.bit(caught)
        inner = replace(
            targets, after=targets.after | more, head=targets.head | more, loop_after=targets.loop_after | more
        )
        live = self.region(handler.body, inner) | more
        self.define([caught], live)
        return live & ~more

    def _mark(self, mark: Op, after: Vars, is_first: bool = False) -> Vars:
        """The copies of a mark; a copy does not make the two interfere. After the first mark, what is undefined leaves a
        parameter as it is."""
        bit = self.interference.bit
        made = [(p, value) for p, value, number in self._said(mark, is_first) if after & number]
        for target, value in made:
            self.define([target], after & ~bit(value) if isinstance(value, Var) else after)
        targets = {target for target, _ in made}
        self.marked.setdefault(id(mark), set()).update(targets)
        return (after & ~self.vars(targets)) | self._leaves([value for _, value in made])

    def _said(self, mark: Op, is_first: bool) -> list[tuple[Var, Value, Vars]]:
        """What a mark says, with the bit of each parameter. Of the many that one has it says something of a few."""
        key = id(mark), is_first
        if key not in self.said:
            pairs = zip(self.seen[mark.payload], mark.arguments, strict=True)
            news = [pair for pair in pairs if is_first or pair[1] is not UNDEFINED]
            self.said[key] = mark, [(p, value, self.interference.bit(p)) for p, value in news]
        return self.said[key][1]

    def _with_forced(self, variables: Sequence[Var], live: Vars) -> Vars:
        return live | self.vars(self.forced & set(variables))

    def _operation(self, op: Op, after: Vars) -> Vars:
        reads = self.read.get(id(op))
        if reads is None:
            reads = self.read[id(op)] = self.vars(self.nesting.reads(op))
        if op.callee in CHANGING and isinstance(op.arguments[0], Var):
            # The result is the list itself: two names for it are never needed.
            self.define(op.results, after & ~self.interference.bit(op.arguments[0]))
        else:
            self.define(op.results, after)
        return (after & ~self.vars(op.results)) | reads

    def _while(self, loop: While, after: Vars) -> Vars:
        after = self._with_forced(loop.results, after)
        leaving = 0 if is_endless(loop) else self._leaving(loop, after)
        head = self._with_forced(loop.parameters, self.heads.get(id(loop), 0)) | self.raising
        while True:
            body = self.region(loop.body, _loop_targets(loop, head, after))
            condition = self._leaves(terminator_values(loop.condition.terminator))
            found = self.statements(loop.condition, body | leaving | condition, _Targets())
            if not found & ~head:
                break
            head = head | found
        return self._enter(loop, head, head, after)

    def _for(self, loop: For, after: Vars) -> Vars:
        items = item_variables(loop.items)
        after = self._with_forced(loop.results, after)
        leaving = self._leaving(loop, after)
        head = self._with_forced(loop.parameters, self.heads.get(id(loop), leaving)) | self.raising
        while True:
            body = self.region(loop.body, _loop_targets(loop, head, after))
            self.define(items, body)
            found = (body & ~self.vars(items)) | leaving
            if not found & ~head:
                break
            head = head | found
        # The parameters get their first values before the `for` line reads what it runs over.
        return self._enter(loop, head, head | self._leaves(item_sources(loop.items)), after)

    def _leaving(self, loop: While | For, after: Vars) -> Vars:
        bit = self.interference.bit
        kept = (p for p, result in zip(loop.parameters, loop.results, strict=True) if after & bit(result))
        return (after & ~self.vars(loop.results)) | self.vars(kept)

    def _enter(self, loop: While | For, head: Vars, start: Vars, after: Vars) -> Vars:
        self.heads[id(loop)] = head
        self.define(self.among(loop.results, after), after)
        self.define(self.among(loop.parameters, head), start)
        return self._copied(loop.initial, loop.parameters, start)


def _loop_targets(loop: While | For, head: Vars, after: Vars) -> _Targets:
    return _Targets(parameters=loop.parameters, head=head, loop_results=loop.results, loop_after=after)


def is_endless(loop: While) -> bool:
    """`while True`: the loop is only left by `break` and `return`."""
    match loop.condition:
        case Region(statements=(), terminator=Yield(values=(Const(value=value),))):
            return isinstance(value, bool | int) and bool(value)
    return False


@final
class Copy(NamedTuple):
    """`target <- value`, made at the end of `region` or at a loop in it."""

    target: Var
    value: Value
    region: Region


def copies(function: Function, nesting: Nesting, live: Liveness | None = None) -> list[Copy]:
    """The copies of a function in program order: with `live`, those that somebody reads, else those of a value."""
    found: list[Copy] = []
    _add_copies(function.body, nesting, live, _Targets(), {}, found)
    return found


def _add_copies(
    region: Region,
    nesting: Nesting,
    live: Liveness | None,
    targets: _Targets,
    seen: dict[Var, tuple[Var, ...]],
    found: list[Copy],
) -> None:
    """`seen` are the parameters of the scopes around."""
    for statement in region.statements:
        match statement:
            case Op(payload=scope, arguments=values) if is_mark(statement):
                wanted = None if live is None else live.marked.get(id(statement), _NOTHING)
                found += _received(seen[scope], values, region, wanted)
            case If() | Try() if not nesting.is_choice(statement):
                if isinstance(statement, Try):
                    seen[statement.scope] = statement.parameters
                for arm in regions(statement):
                    _add_copies(arm, nesting, live, replace(targets, results=statement.results), seen, found)
            case While(body=body) | For(body=body):
                found += _received(statement.parameters, statement.initial, region, live and live.live)
                if isinstance(statement, While):
                    _add_copies(statement.condition, nesting, live, _Targets(), seen, found)
                _add_copies(body, nesting, live, _loop_targets(statement, 0, 0), seen, found)
    found += _copies_at_end(region, targets, live and live.live)


def _copies_at_end(region: Region, targets: _Targets, live: Set[Var] | None) -> list[Copy]:
    match region.terminator:
        case Yield(values=values) if targets.results:
            return _received(targets.results, values, region, live)
        case Continue(values=values):
            return _received(targets.parameters, values, region, live)
        case Break(values=values):
            return _received(targets.loop_results, values, region, live)
    return []


def _received(variables: Sequence[Var], values: Sequence[Value], region: Region, live: Set[Var] | None) -> list[Copy]:
    return [
        Copy(variable, value, region)
        for variable, value in zip(variables, values, strict=True)
        if (value is not UNDEFINED if live is None else variable in live)
    ]
