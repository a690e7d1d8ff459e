"""`primal`: the forward pass, which computes what the function does and keeps what the reverse pass needs of each call.

    z = x * sin(y)      becomes     t = np.sin(y)         recorded: Inlined(np.sin), closes over y
                                    z = x * t             recorded: Inlined(operator.mul), closes over x and t
    z = helper(x)       becomes     z, saved = helper_primal(x)
    z = callback(x)     becomes     z, callback_pullback = pullback_of(callback, x)

This module walks over regions, branches and loops; `primal_calls` decides what becomes of each call, `primal_structure` of
what is not a call, `primal_items` of what a loop runs over. The same walk proves kinds and activity. A loop is walked until
what is assumed of its state is what comes out; since assumptions only widen, this ends. Unknown is active.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial, reduce
from itertools import zip_longest
from types import MappingProxyType
from typing import TypeGuard, assert_never, final

from microgradpy.ad.accumulators import Sums, own_sums
from microgradpy.ad.calls import Call, Inlined, Item
from microgradpy.ad.effects import has_effect, unmarked_effect
from microgradpy.ad.given_code import asks_class, tells
from microgradpy.ad.hidden_calls import BOOL, asks_for_truth, condition_inside, steady_condition
from microgradpy.ad.memory import Memory, analyse
from microgradpy.ad.primal_builder import NeedsTracking, PrimalBuilder, Services
from microgradpy.ad.primal_calls import lower_applied, lower_call
from microgradpy.ad.primal_items import ask_for_items, bind_items, drop_items, with_pairs_asked
from microgradpy.ad.primal_structure import lower_structure
from microgradpy.ad.shared_iterators import iterators_in
from microgradpy.ad.tracked_calls import holds_values
from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.frontend.marks import goes_on, tidy_marks
from microgradpy.ir.assumed_kinds import join_or_none, likely_join, with_axes_of
from microgradpy.ir.kinds import (
    UNASSIGNED,
    UNKNOWN,
    Inert,
    Kind,
    Scalar,
    Unknown,
    is_immutable,
    is_proven,
    join,
)
from microgradpy.ir.nodes import (
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
    Value,
    Var,
    While,
    Yield,
    function_constant,
)
from microgradpy.ir.reasons import MayWrite
from microgradpy.ir.rewrite import map_terminator
from microgradpy.ir.traversal import is_mark, terminators
from microgradpy.runtime.failures import raise_failure
from microgradpy.runtime.opaque import refuse_mutation
from microgradpy.runtime.writes import REMEDY
from microgradpy.state.asking import check_shown


@final
@dataclass(frozen=True, slots=True)
class Primal:
    """The forward pass before it is decided what it saves. `calls` are in program order, by result."""

    function: Function
    calls: Mapping[Var, Call]
    active: frozenset[Var]
    lent: frozenset[Var]
    returned: tuple[Kind, ...]
    result_active: bool
    returned_parts: tuple[tuple[bool, ...], ...] = ()
    memory: Memory | None = None
    makes_text: bool = False
    """Whether it makes text of active values."""

    @property
    def result_kind(self) -> Kind:
        return reduce(join, self.returned) if self.returned else Inert("NoneType")

    def active_parts(self, assumed: tuple[bool, ...]) -> tuple[bool, ...]:
        """Which parts of the tuple that is returned are active, besides those that were assumed to be."""
        if any(len(parts) != len(assumed) for parts in self.returned_parts):
            return (True,) * len(assumed)
        return tuple(map(any, zip(assumed, *self.returned_parts, strict=True)))

    @property
    def likely_kind(self) -> Kind:
        """What may be assumed next of the result of a function that calls itself, to be proven: if nothing is proven of it,
        what is proven where it returns something else than what it made of its own results."""
        known = [kind for kind in self.returned if is_proven(kind)]
        return self.result_kind if is_proven(self.result_kind) or not known else reduce(join, known)

    @property
    def guessed_kind(self) -> Kind:
        """The same of its parts: what is worth one trial."""
        return reduce(likely_join, self.returned) if self.returned else self.result_kind

    @property
    def takes_value(self) -> bool:
        """Whether the cotangent of the result is a value where writes are tracked: it is immutable, or an array that was
        made here and is in nobody else's hands."""
        if self.memory is None or is_immutable(self.result_kind):
            return True
        returned = [t.value for t in terminators(self.function.body) if isinstance(t, Return)]
        inputs = self.function.inputs
        return all(isinstance(v, Var) and v in self.memory.by_value and v not in inputs for v in returned)


def transform(
    function: Function, kinds: tuple[Kind, ...], active: tuple[bool, ...], services: Services
) -> Primal | MayWrite:
    """The primal of an instrumented function whose captured variables and parameters have these kinds, and of which those
    marked `active` are differentiated. One that may write has none, unless writes are tracked."""
    try:
        return _walked_until_steady(function, kinds, active, services)
    except NeedsTracking as needed:
        return needed.found


def _walked_until_steady(
    function: Function, kinds: tuple[Kind, ...], active: tuple[bool, ...], services: Services
) -> Primal:
    """The primal. Where writes are tracked it is walked again if something active is stored in what was taken for constant."""
    forced: frozenset[Var] = frozenset()
    items: dict[Var, Kind] = {}
    iterators = iterators_in(function)
    sums = Sums() if services.tracks else own_sums(function)
    while True:
        builder = PrimalBuilder(services=services, forced=forced, items=items, iterators=iterators, sums=sums)
        primal = _transformed(function, kinds, active, builder)
        if not services.tracks:
            return primal
        memory = analyse(primal.function, primal.active, builder.origin, services.is_root, not items)
        wider = _checked(items, memory.items)
        is_as_assumed = wider == items or not (items or any(map(_tells, wider.values())))
        if memory.activated <= forced and is_as_assumed:
            body = tidy_marks(primal.function.body, has_effect=partial(has_effect, builder))
            calls = _without_copies(primal.calls, builder.frozen, memory)
            return replace(primal, function=replace(primal.function, body=body), calls=calls, memory=memory)
        forced, items = forced | memory.activated, wider


def _tells(kind: Kind) -> bool:
    return not isinstance(kind, Unknown) and kind != UNASSIGNED


def _checked(assumed: Mapping[Var, Kind], found: Mapping[Var, Kind]) -> dict[Var, Kind]:
    """What to assume of the items of lists in the next walk: what was found in the first, and nothing where a later one
    finds another thing."""
    if not assumed:
        return dict(found)
    return {var: kind if found.get(var) == kind else UNKNOWN for var, kind in assumed.items()}


def _without_copies(calls: Mapping[Var, Call], copies: Mapping[Var, Var], memory: Memory) -> Mapping[Var, Call]:
    """The calls with pullbacks that read arrays themselves where nobody writes into them."""
    needless = {copy: array for copy, array in copies.items() if array in memory.own}
    found: dict[Var, Call] = {}
    for result, call in calls.items():
        if isinstance(call, Inlined):
            captured = tuple(needless.get(part, part) if isinstance(part, Var) else part for part in call.pullback.captured)
            call = replace(call, pullback=replace(call.pullback, captured=captured))
        found[result] = call
    return MappingProxyType(found)


def walked(builder: PrimalBuilder, statements: Iterable[Statement]) -> None:
    """Append the primal of statements whose free variables the builder knows."""
    walk = _Walk(builder)
    for statement in statements:
        walk.statement(statement)


def _transformed(function: Function, kinds: tuple[Kind, ...], active: tuple[bool, ...], builder: PrimalBuilder) -> Primal:
    for var, kind, is_active in zip(function.inputs, kinds, active, strict=True):
        builder.know(var, kind)
        builder.values[var] = var
        builder.origin[var] = var
        builder.activate(var, is_active or var in builder.forced)
    walk = _Walk(builder)
    body = walk.region(function.body)
    return Primal(
        replace(function, body=body, kinds=MappingProxyType(dict(builder.kinds))),
        MappingProxyType(dict(builder.calls)),
        frozenset(builder.active),
        frozenset(builder.lent),
        tuple(walk.returned),
        walk.returned_active,
        tuple(walk.returned_parts),
    )


def _makes(statement: Statement, exception: Value | None) -> TypeGuard[Op]:
    """Whether a statement calls the class of an exception to make this one."""
    if not isinstance(statement, Op) or not isinstance(statement.callee, Const) or statement.results != (exception,):
        return False
    return isinstance(statement.callee.value, type) and issubclass(statement.callee.value, BaseException)


@dataclass
class _Walk:
    """`assumptions` are the kind and activity of each loop's state, `lent` the state that may be lent; `returned` has the kind
    of each returned value."""

    builder: PrimalBuilder
    assumptions: dict[Var, tuple[Kind, bool]] = field(default_factory=dict)
    lent: set[Var] = field(default_factory=set)
    returned: list[Kind] = field(default_factory=list)
    returned_active: bool = False
    returned_parts: list[tuple[bool, ...]] = field(default_factory=list)

    def region(self, region: Region) -> Region:
        with self.builder.region() as statements:
            marked: set[object] = set()
            for statement, following in zip_longest(region.statements, region.statements[1:]):
                if isinstance(region.terminator, Raise) and _makes(statement, region.terminator.exception):
                    assert isinstance(statement.callee, Const)
                    if not holds_values(self.builder, statement.callee.value, *self.builder.inputs(statement)):
                        self.make_exception(statement)
                        continue
                if not isinstance(statement, Op) or not is_mark(statement) or self.is_of_assignment(statement, marked):
                    self.check_failures()
                    marked.clear()
                if isinstance(statement, Op) and is_mark(statement):
                    marked.add(statement.payload)
                is_call = isinstance(statement, Op) and not (
                    isinstance(statement.callee, Opcode) and statement.callee is not Opcode.APPLY
                )
                self.builder.catches = bool(self.builder.attempts) and is_call and following is not None and is_mark(following)
                self.statement(statement)
            self.check_failures()
            terminator = self.terminator(region.terminator)
        return self.builder.seal(statements, terminator)

    def is_of_assignment(self, mark: Op, marked: Collection[object]) -> bool:
        """Whether a mark does not say that the last call was made, but that its value was assigned, which is so only if it has
        not raised; in the scopes in `marked` it has been said that it was made."""
        return mark.payload in marked or any(self.builder.of(value) in self.builder.unchecked for value in mark.arguments)

    def check_failures(self) -> None:
        """Raise what the last call raised, now that a mark says that it was made."""
        for result in self.builder.unchecked:
            self.builder.emit(function_constant(raise_failure), (result,), (self.builder.variable(UNKNOWN),))
        self.builder.unchecked.clear()

    def make_exception(self, op: Op) -> None:
        """Make the exception that is raised at once. It may have differentiated data in it (a message, a value that is out
        of range): the function does not return, so no derivative flows through that."""
        self.builder.where = op.where
        arguments = self.builder.inputs(op)[0]
        cls = op.callee
        if isinstance(cls, Const) and asks_class(cls.value, map(self.builder.kind, arguments)):
            if not self.builder.services.tracks:
                self.builder.services.calls_unknown()
            elif self.builder.attempts:
                self.builder.emit(function_constant(check_shown), (cls, *arguments), (self.builder.variable(UNKNOWN),))
        self.builder.plain(op, kind=UNKNOWN)

    def terminator(self, terminator: Terminator) -> Terminator:
        new = map_terminator(terminator, self.builder.of)
        if isinstance(new, Return):
            self.returned.append(self.builder.kind(new.value))
            self.returned_active |= self.builder.is_active(new.value)
            self.returned_parts.append(self.active_parts(new.value))
        return new

    def active_parts(self, value: Value) -> tuple[bool, ...]:
        """Which parts of a tuple that is made here are active."""
        made = self.builder.producers.get(value) if isinstance(value, Var) else None
        return tuple(map(self.builder.is_active, made.arguments)) if made is not None and made.callee is Opcode.TUPLE else ()

    def statement(self, statement: Statement) -> None:
        self.builder.where = statement.where
        match statement:
            case Op(callee=Opcode() as opcode):
                if opcode is not Opcode.APPLY or not lower_applied(self.builder, statement):
                    lower_structure(self.builder, statement, opcode)
            case Op():
                lower_call(self.builder, statement)
            case If():
                self.branch(statement)
            case While() | For():
                self.loop(statement)
            case Try():
                self.attempt(statement)
            case _:
                assert_never(statement)

    def attempt(self, statement: Try) -> None:
        """The handlers see what any of the marks says; an exception itself counts as a constant, and the front end has put
        checks where something is read from it."""
        marks: list[tuple[Value, ...]] = []
        self.builder.marks[statement.scope] = marks
        goes = self.builder.services.tracks and any(goes_on(handler.body) for handler in statement.handlers)
        self.builder.attempts += goes
        body = self.region(statement.body)
        self.builder.attempts -= goes
        parameters = []
        for index, parameter in enumerate(statement.parameters):
            values = [mark[index] for mark in marks]
            parameters.append(self.builder.define(parameter, *self.merged(values)))
            self.builder.lend_with(parameters[-1], values)
        handlers = []
        for handler in statement.handlers:
            caught = None if handler.exception is None else self.builder.define(handler.exception, UNKNOWN, False)
            if caught is not None:
                self.builder.active.discard(caught)
            types = None if handler.types is None else tuple(map(self.builder.of, handler.types))
            handlers.append(Handler(types, caught, self.handler(replace(statement, body=body), handler.body)))
        regions = (body, *(handler.body for handler in handlers))
        yields = [region.terminator.values for region in regions if isinstance(region.terminator, Yield)]
        results = self.joined(statement.results, yields)
        self.builder.where = statement.where
        self.builder.add(Try(body, tuple(handlers), statement.scope, tuple(parameters), results, statement.where))

    def handler(self, attempt: Try, handler: Region) -> Region:
        """A handler of a `Try`; it is refused if it goes on after effects of which no mark says whether they were had."""
        effect = unmarked_effect(self.builder, attempt) if self.builder.services.tracks and goes_on(handler) else None
        if effect is None:
            return self.region(handler)
        found = f"an exception is caught after what may have been written in line {effect.where.line}"
        with self.builder.region() as statements:
            refusal = function_constant(refuse_mutation)
            self.builder.emit(refusal, (Const(found), Const(REMEDY)), (self.builder.variable(UNKNOWN),))
        region = self.region(handler)
        return replace(region, statements=(*statements, *region.statements))

    def joined(self, variables: tuple[Var, ...], yields: list[tuple[Value, ...]]) -> tuple[Var, ...]:
        """The results of a statement, which are what one of its regions yields."""
        results = []
        for index, result in enumerate(variables):
            values = [yielded[index] for yielded in yields]
            results.append(self.builder.define(result, *self.merged(values)))
            self.builder.lend_with(results[-1], values)
        return tuple(results)

    def branch(self, statement: If) -> None:
        condition = self.builder.of(statement.condition)
        if not self.builder.attempts and asks_for_truth(self.builder, condition):
            holds = self.builder.variable(Scalar("bool"), "holds")
            lower_call(self.builder, Op(BOOL, (statement.condition,), (holds,), where=statement.where))
            condition = self.builder.of(holds)
        else:
            condition = steady_condition(self.builder, condition)
        then, orelse = self.region(statement.then), self.region(statement.orelse)
        yields = [arm.terminator.values for arm in (then, orelse) if isinstance(arm.terminator, Yield)]
        results = self.joined(statement.results, yields)
        self.builder.add(If(condition, then, orelse, results, statement.where))

    def join(self, a: Kind, b: Kind) -> Kind:
        return join(a, b) if self.builder.services.tracks else join_or_none(a, b)

    def merged(self, values: Iterable[Value]) -> tuple[Kind, bool]:
        """What is proven of a variable that is one of these values (a value that is not assigned proves nothing false)."""
        kind: Kind = UNASSIGNED
        active = False
        for value in values:
            kind = self.join(kind, self.builder.kind(value))
            active |= self.builder.is_active(value)
        return kind, active

    def loop(self, statement: While | For) -> None:
        if isinstance(statement, For):
            statement = with_pairs_asked(self.builder, statement)
            asked = statement.items
            statement = replace(statement, items=ask_for_items(self.builder, statement.items))
        initial = tuple(map(self.builder.of, statement.initial))
        for parameter, value in zip(statement.parameters, initial, strict=True):
            if parameter in self.assumptions:  # of an earlier walk over the loop around this one, by its symbols
                known, active = self.assumptions[parameter]
                self.assumptions[parameter] = with_axes_of(known, self.builder.kind(value)), active
        self.widen(statement.parameters, [initial])
        returned, returned_active = len(self.returned), self.returned_active
        while True:
            parameters = tuple(self.builder.define(var, *self.assumptions[var]) for var in statement.parameters)
            for parameter, carried in zip(parameters, statement.parameters, strict=True):
                if carried in self.lent:
                    self.builder.lent.add(parameter)
            made = self.loop_body(statement)
            edges = list(terminators(made.body, of_inner_loops=False))
            if not self.widen(statement.parameters, [edge.values for edge in edges if isinstance(edge, Continue)]):
                break
            # What the body returned was proven from assumptions that do not hold.
            del self.returned[returned:]
            del self.returned_parts[returned:]
            self.returned_active = returned_active
        results = self.results(statement, [edge.values for edge in edges if isinstance(edge, Break)])
        self.builder.add(replace(made, parameters=parameters, initial=initial, results=results))
        if isinstance(statement, For) and any(isinstance(edge, Break) for edge in edges):
            drop_items(self.builder, asked, statement.where)

    def results(self, statement: While | For, broken: list[tuple[Value, ...]]) -> tuple[Var, ...]:
        """The variables after a loop: what was assumed of its state in every iteration, or what a `break` carries. A symbol
        that the state has within an iteration means nothing outside."""
        found = []
        for index, (parameter, result) in enumerate(zip(statement.parameters, statement.results, strict=True)):
            kind, active = self.assumptions[parameter]
            broken_kind, broken_active = self.merged(values[index] for values in broken)
            found.append(self.builder.define(result, self.join(kind, broken_kind), active or broken_active))
            self.builder.lend_with(found[-1], (self.builder.of(parameter), *(values[index] for values in broken)))
        return tuple(found)

    def loop_body(self, statement: While | For) -> While | For:
        """The loop with what it repeats walked once; its state is that of the user's loop."""
        if isinstance(statement, While):
            known = set(self.builder.calls)
            condition = self.region(statement.condition)
            assert isinstance(condition.terminator, Yield)
            if tells(bool, map(self.builder.kind, condition.terminator.values)):
                self.builder.services.calls_unknown()
            made = [call for result, call in self.builder.calls.items() if result not in known]
            if self.builder.services.tracks and not all(isinstance(call, Inlined | Item) for call in made):
                # It may write, which is undone with the body.
                return self.loop_body(condition_inside(statement))
            return replace(statement, condition=condition, body=self.region(statement.body))
        items = bind_items(self.builder, statement.items, statement.where)
        return replace(statement, items=items, body=self.region(statement.body))

    def widen(self, parameters: tuple[Var, ...], states: list[tuple[Value, ...]]) -> bool:
        """Join the states that iterations start with into the assumptions; whether that changed them."""
        changed = False
        for index, parameter in enumerate(parameters):
            known, known_active = self.assumptions.get(parameter, (UNASSIGNED, False))
            kind, active = self.merged(values[index] for values in states)
            after = (self.join(known, kind), known_active or active)
            lent = not self.builder.lent.isdisjoint(values[index] for values in states)
            changed |= after != (known, known_active) or (lent and parameter not in self.lent)
            self.assumptions[parameter] = after
            if lent:
                self.lent.add(parameter)
        return changed
