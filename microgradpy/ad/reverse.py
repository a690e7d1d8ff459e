"""`reverse_differentiate`: the adjoint of a primal, as IR whose free variables are the primal's.

Walk the statements backwards with a map from primal variables to their cotangents; a variable that is not in the map has
cotangent zero, so zeros exist only where branches merge or loops begin.

    z = x * y              x_bar += z_bar * y;  y_bar += z_bar * x               (the rule's pullback)
    r = if c: a else: b    if c: a_bar += r_bar  else: b_bar += r_bar
    loop over state s      for record in reversed(tape): s_bar = <adjoint of the body>(s_bar)

For the exits of a frame see `exits`: what follows a statement that may have left ran only if the path says so. All edges
of a loop carry the same state, so the adjoint of `break` is that of `continue`: add the state's cotangent to what the
edge carries. An edge that carries the state unchanged has nothing to undo and is not recorded.

The adjoint of a loop is found by walking its body until the set of cotangents it carries no longer grows.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, assert_never, final

from microgradpy.ad.calls import (
    Append,
    Attribute,
    Build,
    Call,
    Capture,
    Dispatched,
    Inlined,
    Item,
    Iterated,
    Unit,
    UnitCall,
    Unpack,
)
from microgradpy.ad.exits import Frame, frame_of
from microgradpy.ad.inline import Static, StaticTuple, splice_pullback
from microgradpy.ad.primal import Primal
from microgradpy.errors import MissingRuleError
from microgradpy.ir.kinds import (
    FLOAT,
    UNKNOWN,
    Array,
    Inert,
    Kind,
    TupleOf,
    carries_nothing,
    cotangent_kind,
    is_numeric,
    is_real_scalar,
    join,
)
from microgradpy.ir.nodes import (
    Break,
    Const,
    Continue,
    For,
    If,
    Items,
    Op,
    Opcode,
    Raise,
    Records,
    Region,
    Return,
    Statement,
    Undefined,
    Unreachable,
    Value,
    Var,
    While,
    Yield,
    item_variables,
)
from microgradpy.ir.rewrite import is_none
from microgradpy.passes.typed_builder import TypedBuilder
from microgradpy.runtime import cotangents as run_time
from microgradpy.tangents import arithmetic


class Halves(Protocol):
    def adjoint_half(self, unit: Unit) -> Const:
        """The constant that stands for the unit's adjoint."""


@final
@dataclass(frozen=True, slots=True)
class Reverse:
    """The adjoint before it is decided what is saved. `cotangents` has one value per differentiated input, None where the
    result cannot depend on it. `frames` are the frames whose tapes the region reads, by tape, and the function's own."""

    region: Region
    seed: Var
    inputs: tuple[Var, ...]
    absent: tuple[bool, ...]
    function_frame: Frame
    frames: Mapping[Var, Frame]
    kinds: Mapping[Var, Kind]


def transform(primal: Primal, differentiated: tuple[Var, ...], services: Halves) -> Reverse:
    """The adjoint of a primal with respect to some of its inputs."""
    builder = TypedBuilder(kinds=dict(primal.function.kinds), active=set(primal.active))
    seed = builder.variable(cotangent_kind(primal.result_kind), _seed_hint(primal.function.body))
    frame = frame_of(primal.function.body, None, "")
    walker = _Walker(builder, primal.calls, services, seed, frame)
    with builder.region() as statements:
        walker.sequence(primal.function.body, 0, frame.recorded)
        found = tuple(walker.cotangents.get(var) for var in differentiated)
        results = tuple(Const(None) if value is None else value for value in found)
        if len(results) == 1:
            returned = results[0]
        else:
            (returned,) = builder.operation(Opcode.TUPLE, results)
    return Reverse(
        Region(tuple(statements), Return(returned)),
        seed,
        differentiated,
        tuple(value is None for value in found),
        frame,
        walker.frames,
        builder.kinds,
    )


def _seed_hint(body: Region) -> str:
    hints = {value.hint for value in _returned(body) if isinstance(value, Var)}
    return f"{hints.pop() or 'y'}_bar" if len(hints) == 1 else "y_bar"


def _returned(region: Region) -> list[Value]:
    values: list[Value] = [region.terminator.value] if isinstance(region.terminator, Return) else []
    for statement in region.statements:
        match statement:
            case If(then=then, orelse=orelse):
                values += _returned(then) + _returned(orelse)
            case While(body=body) | For(body=body):
                values += _returned(body)
    return values


def _constant(function: Callable[..., object]) -> Const:
    return Const(function, function.__name__, function)


ADD = Const(operator.add, "operator.add", operator)
Cotangents = dict[Var, Value]


@dataclass
class _Walker:
    builder: TypedBuilder
    calls: Mapping[Var, Call]
    services: Halves
    seed: Var
    frame: Frame
    cotangents: Cotangents = field(default_factory=dict)
    frames: dict[Var, Frame] = field(default_factory=dict)
    owned: set[Var] = field(default_factory=set)  # buffers that nothing else names: they may be added to in place
    written: set[Var] = field(default_factory=set)
    state: tuple[Value | None, ...] = ()  # the cotangents of the loop state that an edge of this frame carries
    yielded: tuple[Value | None, ...] = ()  # the cotangents of the results of the innermost If
    frame_memo: dict[int, Frame] = field(default_factory=dict)
    known_state: dict[int, tuple[frozenset[int], frozenset[Var]]] = field(default_factory=dict)

    # Cotangents -------------------------------------------------------------------------------------------------

    def call(self, function: Callable[..., object], *arguments: Value, hint: str = "", kind: Kind | None = None) -> Value:
        return self.builder.call(_constant(function), arguments, hint=hint, kind=kind)

    def take(self, var: Var) -> Value | None:
        """The cotangent of a variable whose definition has been reached."""
        value = self.cotangents.pop(var, None)
        if isinstance(value, Var):
            self.owned.discard(value)
        return value

    def add(self, target: Value, contribution: Value) -> None:
        """target_bar += contribution"""
        if not self.builder.is_active(target) or is_none(contribution):
            return
        assert isinstance(target, Var)
        if carries_nothing(self.builder.kind(target)):
            return
        current = self.cotangents.get(target)
        if isinstance(contribution, Var):
            self.owned.discard(contribution)
        if current is None:
            self.cotangents[target] = self.name(contribution, target)
            return
        proven = is_numeric(self.builder.kind(current)) and is_numeric(self.builder.kind(contribution))
        if proven:
            kind = self.sum_kind(current, contribution)
            total = self.builder.call(ADD, (current, contribution), hint=_bar(target), kind=kind)
        else:
            total = self.call(arithmetic.accumulate, current, contribution, hint=_bar(target))
        self.cotangents[target] = self.name(total, target)

    def sum_kind(self, a: Value, b: Value) -> Kind | None:
        left, right = self.builder.kind(a), self.builder.kind(b)
        return left if left == right else None

    def name(self, value: Value, target: Var) -> Value:
        """Call a cotangent after the variable it belongs to, unless it has a name already."""
        if not isinstance(value, Var) or value.hint not in ("", _bar(target)) or not target.hint:
            return value
        producer = self.builder.producers.get(value)
        if producer is None:
            return value
        named = Var(value.id, _bar(target), target.user_named)
        statements = self.builder.open_regions[-1]
        for index in range(len(statements) - 1, -1, -1):
            if statements[index] is producer:
                results = tuple(named if result == value else result for result in producer.results)
                renamed = replace(producer, results=results)
                statements[index] = renamed
                for result in results:
                    self.builder.producers[result] = renamed
                return named
        return value

    def zero(self, var: Var) -> Value:
        """A cotangent that says zero, where one is needed."""
        kind = self.builder.kind(var)
        if is_real_scalar(kind):
            return Const(0.0)
        if isinstance(kind, TupleOf):
            return Const(None)
        value = self.call(
            arithmetic.zero_cotangent, var, hint=_bar(var), kind=cotangent_kind(kind) if is_numeric(kind) else UNKNOWN
        )
        if isinstance(value, Var):
            self.owned.add(value)
        return value

    def dense(self, cotangent: Value, var: Var) -> Value:
        """The cotangent with None replaced by zeros, for code that computes with it."""
        if not isinstance(self.builder.kind(cotangent), Inert) and self.builder.kind(cotangent) != UNKNOWN:
            return cotangent
        kind = self.builder.kind(var)
        proven = cotangent_kind(kind) if is_numeric(kind) or isinstance(kind, TupleOf) else UNKNOWN
        return self.call(run_time.or_zero, cotangent, var, hint=_bar(var), kind=proven)

    # Sequences and exits ----------------------------------------------------------------------------------------

    def sequence(self, region: Region, start: int, paths: frozenset[int]) -> None:
        """Undo the statements of a region from `start` on, knowing that the path is one of `paths`."""
        statements = region.statements
        first = next(
            (i for i in range(start, len(statements)) if self.frame.of_statement[id(statements[i])]), len(statements)
        )
        if first == len(statements):
            self.terminator(region, paths)
        else:
            left = self.frame.of_statement[id(statements[first])]
            self.guarded(paths - left, paths, lambda: self.sequence(region, first + 1, paths - left))
            self.statement(statements[first], paths)
        for statement in reversed(statements[start:first]):
            self.statement(statement, paths)

    def guarded(self, wanted: frozenset[int], paths: frozenset[int], undo: Callable[[], None]) -> None:
        """Do something only if the path is one of `wanted`."""
        if wanted:
            self.branch(self.is_path_in(wanted, paths), undo, lambda: None)

    def is_path_in(self, wanted: frozenset[int], paths: frozenset[int]) -> Value:
        wanted &= paths
        if not wanted or wanted == paths:
            return Const(bool(wanted))
        if len(wanted) == 1:
            return self.compare("eq", min(wanted))
        if len(paths - wanted) == 1:
            return self.compare("ne", min(paths - wanted))
        if min(wanted) > max(paths - wanted):
            return self.compare("ge", min(wanted))
        if max(wanted) < min(paths - wanted):
            return self.compare("le", max(wanted))
        (options,) = self.builder.operation(Opcode.TUPLE, tuple(map(Const, sorted(wanted))))
        contains = Const(operator.contains, "operator.contains", operator)
        return self.builder.call(contains, (options, self.frame.path))

    def compare(self, name: str, exit_number: int) -> Value:
        comparison = Const(getattr(operator, name), f"operator.{name}", operator)
        return self.builder.call(comparison, (self.frame.path, Const(exit_number)))

    def terminator(self, region: Region, paths: frozenset[int]) -> None:
        terminator = region.terminator
        match terminator:
            case Yield(values=values):
                self.distribute(values, self.yielded)
            case Continue(values=values) | Break(values=values):
                if self.frame.terminators[id(region)] in paths:
                    self.distribute(values, self.state)
            case Return(value=value, where=where):
                if self.builder.is_active(value) and self.frame.terminators[id(region)] in paths:
                    self.builder.where = where
                    self.add(value, self.seed)
            case Raise() | Unreachable():
                pass
            case _:
                assert_never(terminator)

    def distribute(self, values: tuple[Value, ...], cotangents: tuple[Value | None, ...]) -> None:
        for value, cotangent in zip(values, cotangents, strict=True):
            if cotangent is not None:
                self.add(value, cotangent)

    def statement(self, statement: Statement, paths: frozenset[int]) -> None:
        match statement:
            case Op():
                self.operation(statement)
            case If():
                self.undo_branch(statement, paths)
            case While() | For():
                self.undo_loop(statement, paths)
            case _:
                assert_never(statement)

    # If ---------------------------------------------------------------------------------------------------------

    def undo_branch(self, statement: If, paths: frozenset[int]) -> None:
        outer = self.yielded
        cotangents = tuple(map(self.take, statement.results))
        inside = self.frame.of_statement[id(statement)]
        arms = (statement.then, statement.orelse)
        possible = [
            (self.frame.of_region[id(arm)] & paths) | (paths - inside if isinstance(arm.terminator, Yield) else frozenset())
            for arm in arms
        ]
        self.builder.where = statement.where
        if inside and not (possible[0] & possible[1]):
            condition = self.is_path_in(possible[0], paths) if paths else Const(False)
        else:
            condition = statement.condition

        def undo(index: int) -> Callable[[], None]:
            def run() -> None:
                self.yielded = cotangents
                if possible[index] or not inside:
                    self.sequence(arms[index], 0, possible[index] if inside else paths)

            return run

        self.branch(condition, undo(0), undo(1))
        self.yielded = outer

    def branch(self, condition: Value, then: Callable[[], None], orelse: Callable[[], None]) -> None:
        """Emit both arms, each from the cotangents known here; what differs after them becomes a result."""
        if isinstance(condition, Const):
            (then if condition.value else orelse)()
            return
        where = self.builder.where
        before, owned = dict(self.cotangents), set(self.owned)
        arms: list[tuple[list[Statement], Cotangents, set[Var]]] = []
        for arm in (then, orelse):
            self.cotangents, self.owned = dict(before), set(owned)
            with self.builder.region() as statements:
                arm()
            arms.append((statements, self.cotangents, self.owned))
        (left, left_cotangents, left_owned), (right, right_cotangents, right_owned) = arms
        keys = [
            var
            for var in dict.fromkeys((*left_cotangents, *right_cotangents))
            if left_cotangents.get(var) != right_cotangents.get(var)
        ]
        self.owned = left_owned
        left_values = self.fill(left, left_cotangents, keys)
        self.owned = right_owned
        right_values = self.fill(right, right_cotangents, keys)
        self.owned = left_owned & right_owned
        self.builder.where = where
        results = []
        merged = {var: value for var, value in left_cotangents.items() if right_cotangents.get(var) == value}
        for var, a, b in zip(keys, left_values, right_values, strict=True):
            kind = join(self.builder.kind(a), self.builder.kind(b))
            result = self.builder.variable(kind, _bar(var), var.user_named)
            results.append(result)
            merged[var] = result
            if a in left_owned and b in right_owned:
                self.owned.add(result)
        self.cotangents = merged
        if left or right or keys:
            self.builder.add(
                If(
                    condition,
                    Region(tuple(left), Yield(left_values)),
                    Region(tuple(right), Yield(right_values)),
                    tuple(results),
                    where,
                )
            )

    def fill(self, statements: list[Statement], cotangents: Cotangents, keys: list[Var]) -> tuple[Value, ...]:
        """The cotangents of `keys` at the end of an arm, zeros included."""
        values: list[Value] = []
        self.builder.open_regions.append(statements)
        for var in keys:
            values.append(cotangents[var] if var in cotangents else self.zero(var))
        self.builder.open_regions.pop()
        return tuple(values)

    # Loops ------------------------------------------------------------------------------------------------------

    def undo_loop(self, statement: While | For, paths: frozenset[int]) -> None:
        arriving = tuple(map(self.take, statement.results))
        outer = (self.frame, self.state, self.yielded, self.cotangents)
        frame = self.frame_memo.get(id(statement))
        if frame is None:
            frame = self.frame_memo[id(statement)] = frame_of(statement.body, statement, _loop_name(statement))
        demanded, gathered = self.known_state.get(id(statement), (frozenset(), frozenset()))
        demanded |= {index for index, value in enumerate(arriving) if value is not None}
        leaves = bool(self.frame.of_statement[id(statement)])
        ordered: list[Var] = list(dict.fromkeys(var for var in outer[3] if var in gathered))
        ordered += [var for var in sorted(gathered, key=lambda var: var.id) if var not in ordered]
        kinds: dict[Var, Kind] = {}
        if not demanded and not gathered and not leaves:
            return
        while True:
            frame.skipped = _unchanged(statement, frame, demanded)
            made = self.loop_body(statement, frame, demanded, ordered, kinds, arriving, outer[3])
            grown = {index for index, parameter in enumerate(statement.parameters) if parameter in made.after}
            found = [var for var in made.after if var not in statement.parameters and var not in ordered]
            widened = made.widened
            if grown <= demanded and not found and not widened:
                break
            demanded |= grown
            ordered += found
            kinds |= widened
        self.known_state[id(statement)] = (demanded, frozenset(ordered))
        self.frame, self.state, self.yielded, self.cotangents = outer
        if not ordered and not demanded:
            return
        self.frames[frame.tape] = frame
        self.close_loop(statement, frame, made, sorted(demanded), ordered, arriving)

    def loop_body(
        self,
        statement: While | For,
        frame: Frame,
        demanded: frozenset[int],
        ordered: list[Var],
        kinds: Mapping[Var, Kind],
        arriving: tuple[Value | None, ...],
        before: Cotangents,
    ) -> _Body:
        """One symbolic pass backwards over a loop's body."""
        carriers = [statement.parameters[index] for index in sorted(demanded)] + ordered
        starts = [arriving[index] for index in sorted(demanded)] + [before.get(var) for var in ordered]
        parameters = []
        for var, start in zip(carriers, starts, strict=True):
            kind = kinds.get(var)
            if kind is None:
                kind = self.start_kind(var, start)
            parameters.append(self.builder.variable(_shapeless(kind), _bar(var), var.user_named))
        self.owned |= set(parameters)
        count = len(demanded)
        state: list[Value | None] = [None] * len(statement.parameters)
        for index, parameter in zip(sorted(demanded), parameters[:count], strict=True):
            state[index] = parameter
        self.frame, self.state, self.yielded = frame, tuple(state), ()
        self.cotangents = dict(zip(ordered, parameters[count:], strict=True))
        with self.builder.region() as statements:
            self.sequence(statement.body, 0, frame.recorded)
            if isinstance(statement, For):
                self.undo_items(statement.items)
            after = dict(self.cotangents)
            carried = tuple(after[var] if var in after else self.zero(var) for var in carriers)
        widened = {}
        for var, parameter, value in zip(carriers, parameters, carried, strict=True):
            kind = join(_shapeless(self.builder.kind(parameter)), _shapeless(self.builder.kind(value)))
            if kind != _shapeless(self.builder.kind(parameter)):
                widened[var] = kind
        return _Body(statements, tuple(parameters), carried, after, widened)

    def start_kind(self, var: Var, start: Value | None) -> Kind:
        if start is not None:
            return self.builder.kind(start)
        kind = self.builder.kind(var)
        return FLOAT if is_real_scalar(kind) else cotangent_kind(kind) if is_numeric(kind) else UNKNOWN

    def close_loop(
        self,
        statement: While | For,
        frame: Frame,
        made: _Body,
        demanded: list[int],
        ordered: list[Var],
        arriving: tuple[Value | None, ...],
    ) -> None:
        """Emit the loop over the records, with where its cotangents start and where they go."""
        self.builder.where = statement.where
        starts: list[Value] = []
        for index in demanded:
            value = arriving[index]
            starts.append(self.zero(statement.results[index]) if value is None else value)
        for var in ordered:
            starts.append(self.cotangents[var] if var in self.cotangents else self.zero(var))
        carried = list(made.carried)
        results = []
        for position, parameter in enumerate(made.parameters):
            if parameter in self.written:
                starts[position] = self.owning(starts[position])
                self.builder.open_regions.append(made.statements)
                carried[position] = self.owning(carried[position])
                self.builder.open_regions.pop()
            kind = self.builder.kind(parameter)
            result = self.builder.variable(_shapeless(kind), parameter.hint, parameter.user_named)
            if parameter in self.written:
                self.owned.add(result)
            results.append(result)
        body = Region(tuple(made.statements), Continue(tuple(carried)))
        loop = For(
            Records(frame.tape, ()), body, made.parameters, tuple(starts), tuple(results), self.builder.where
        )
        self.builder.add(loop)
        self.cotangents.update(zip(ordered, results[len(demanded) :], strict=True))
        self.builder.where = replace(statement.where, text="")
        for index, result in zip(demanded, results[: len(demanded)], strict=True):
            self.add(statement.initial[index], result)

    def owning(self, value: Value) -> Value:
        """The value if nothing else names it, or a copy."""
        if not isinstance(value, Var) or value in self.owned:
            return value
        copy = self.call(arithmetic.own, value, kind=self.builder.kind(value))
        if isinstance(copy, Var):
            self.owned.add(copy)
        return copy

    def undo_items(self, items: Items) -> None:
        for var in reversed(item_variables(items)):
            call = self.calls.get(var)
            if call is not None:
                self.undo(call)

    # Operations -------------------------------------------------------------------------------------------------

    def operation(self, op: Op) -> None:
        call = self.calls.get(op.results[0]) if op.results else None
        if call is not None:
            self.undo(call)

    def undo(self, call: Call) -> None:
        self.builder.where = call.where
        if isinstance(call, Unpack):
            self.undo_unpack(call)
            return
        cotangent = self.take(call.result)
        if cotangent is None:
            return
        match call:
            case Inlined():
                self.undo_inlined(call, cotangent)
            case Dispatched():
                self.undo_dispatched(call, cotangent)
            case UnitCall():
                self.undo_unit(call, cotangent)
            case _:
                self.undo_structure(call, cotangent)

    def undo_structure(
        self, call: Build | Append | Attribute | Item | Capture | Iterated, cotangent: Value
    ) -> None:
        match call:
            case Build():
                self.undo_build(call, cotangent)
            case Append(items=items, item=item, length=length):
                self.add(item, self.call(run_time.cotangent_item, cotangent, length))
                self.add(items, cotangent)
            case Attribute(target=target, name=name):
                self.add(target, self.call(run_time.attribute_cotangent, target, Const(name), cotangent))
            case Item(container=container, index=index):
                self.add_item(arithmetic.add_item, container, index, cotangent)
            case Iterated():
                self.undo_iterated(call, cotangent)
            case Capture(fields=fields, values=values):
                for place, value in zip(fields, values, strict=True):
                    self.add(value, self.field_of(cotangent, place))
            case _:
                assert_never(call)

    def field_of(self, cotangent: Value, name: str | tuple[str, int | str]) -> Value:
        if isinstance(name, str):
            return self.call(run_time.cotangent_field, cotangent, Const(name))
        container, key = name
        return self.call(
            run_time.cotangent_item, self.call(run_time.cotangent_field, cotangent, Const(container)), Const(key)
        )

    def undo_inlined(self, call: Inlined, cotangent: Value) -> None:
        dense = self.dense(cotangent, call.result)
        _, *contributions = splice_pullback(call.pullback, dense, self.builder)
        for index, argument in enumerate(call.arguments):
            if not self.builder.is_active(argument):
                continue
            if index >= len(contributions):
                raise MissingRuleError(
                    f"the rule of {call.callee} has no cotangent for its argument {index}",
                    call.where,
                    "Return one cotangent per differentiable argument from its pullback.",
                )
            self.contribute(argument, contributions[index])

    def contribute(self, argument: Value, contribution: Static) -> None:
        """Add what a rule gives for an argument. A rule's cotangent of a number or array is one."""
        match contribution:
            case StaticTuple(items=items):
                values = tuple(item for item in items if isinstance(item, Var | Const))
                (contribution,) = self.builder.operation(Opcode.TUPLE, values)
            case Var() if self.builder.kind(contribution) == UNKNOWN and is_numeric(self.builder.kind(argument)):
                self.builder.know(contribution, cotangent_kind(self.builder.kind(argument)))
        assert isinstance(contribution, Var | Const | Undefined)
        self.add(argument, contribution)

    def undo_dispatched(self, call: Dispatched, cotangent: Value) -> None:
        targets = (call.callee, *call.arguments)
        self.spread(call.pullback, (cotangent,), targets, tuple(UNKNOWN for _ in targets))

    def spread(
        self, pullback: Value, arguments: tuple[Value, ...], targets: tuple[Value, ...], kinds: tuple[Kind, ...]
    ) -> None:
        """Call a pullback and add each of its results to the target it belongs to."""
        if len(targets) == 1 and isinstance(pullback, Const):
            (result,) = self.builder.operation(pullback, arguments, kinds=kinds)
            self.add(targets[0], result)
            return
        (bars,) = self.builder.operation(pullback, arguments)
        hints = tuple(
            self.hint(target) if self.builder.is_active(target) else "_" for target in targets
        )
        results = self.builder.operation(Opcode.UNPACK, (bars,), kinds=kinds, hints=hints)
        for target, result in zip(targets, results, strict=True):
            self.add(target, result)

    @staticmethod
    def hint(value: Value) -> str:
        return _bar(value) if isinstance(value, Var) else ""

    def undo_unit(self, call: UnitCall, cotangent: Value) -> None:
        unit = call.unit
        dense = cotangent
        if is_numeric(self.builder.kind(call.result)) or isinstance(self.builder.kind(call.result), TupleOf):
            dense = self.dense(cotangent, call.result)
        targets = tuple(
            value for value, is_active in zip(call.arguments, unit.active, strict=True) if is_active
        )
        absent = unit.absent
        kinds = tuple(
            cotangent_kind(self.builder.kind(target)) if is_numeric(self.builder.kind(target)) and not missing
            else Inert("NoneType") if missing else UNKNOWN
            for target, missing in zip(targets, absent or (False,) * len(targets), strict=True)
        )
        if absent and all(absent):
            return
        targets = tuple(
            Const(None) if missing else target
            for target, missing in zip(targets, absent or (False,) * len(targets), strict=True)
        )
        self.spread(self.services.adjoint_half(unit), (call.saved, dense), targets, kinds)

    def undo_build(self, call: Build, cotangent: Value) -> None:
        kind = self.builder.kind(cotangent)
        if isinstance(kind, TupleOf) and len(kind.items) == len(call.items):
            hints = tuple(self.hint(item) if self.builder.is_active(item) else "_" for item in call.items)
            results = self.builder.operation(Opcode.UNPACK, (cotangent,), kinds=kind.items, hints=hints)
            for item, result in zip(call.items, results, strict=True):
                self.add(item, result)
            return
        known_keys = all(isinstance(key, Const) for key in call.keys)
        for index, (key, item) in enumerate(zip(call.keys, call.items, strict=True)):
            if not self.builder.is_active(item):
                continue
            later = call.keys[index + 1 :]
            if known_keys and key in later:
                continue
            if known_keys or not later:
                part = self.call(run_time.cotangent_item, cotangent, key)
            else:
                (others,) = self.builder.operation(Opcode.TUPLE, later)
                part = self.call(run_time.cotangent_item_unless, cotangent, key, others)
            self.add(item, part)

    def undo_unpack(self, call: Unpack) -> None:
        cotangents = tuple(map(self.take, call.results))
        if all(value is None for value in cotangents):
            return
        kind = self.builder.kind(call.source)
        if isinstance(kind, TupleOf):
            items = tuple(
                value if value is not None else self.zero(result) if is_numeric(self.builder.kind(result)) else Const(None)
                for value, result in zip(cotangents, call.results, strict=True)
            )
            kinds = TupleOf(tuple(map(self.builder.kind, items)))
            (whole,) = self.builder.operation(Opcode.TUPLE, items, kinds=(kinds,), hints=(self.hint(call.source),))
            self.add(call.source, whole)
            return
        items = tuple(Const(None) if value is None else value for value in cotangents)
        (whole,) = self.builder.operation(Opcode.TUPLE, items)
        proven = cotangent_kind(kind) if is_numeric(kind) else UNKNOWN
        self.add(call.source, self.call(run_time.from_items, call.source, whole, kind=proven))

    def undo_iterated(self, call: Iterated, cotangent: Value) -> None:
        position = call.position
        if call.backwards:
            position = self.builder.call(Const(operator.sub, "operator.sub", operator), (Const(-1), position))
        function = arithmetic.add_item if call.is_key else run_time.add_iterated
        self.add_item(function, call.source, position, cotangent)

    def add_item(self, function: Callable[..., object], container: Value, index: Value, part: Value) -> None:
        """container_bar[index] += part, in place where nothing else names the buffer."""
        if not self.builder.is_active(container):
            return
        assert isinstance(container, Var)
        kind = self.builder.kind(container)
        proven = cotangent_kind(kind) if isinstance(kind, Array) else UNKNOWN
        current = self.cotangents.get(container)
        if current is None and function is arithmetic.add_item:
            total = self.call(arithmetic.item_cotangent, container, index, part, hint=_bar(container), kind=proven)
        else:
            if current is None:
                current = Const(None)
            elif current not in self.owned:
                current = self.call(arithmetic.own, current, kind=self.builder.kind(current))
            elif isinstance(current, Var):
                self.written.add(current)
            total = self.call(function, current, container, index, part, hint=_bar(container), kind=proven)
        assert isinstance(total, Var)
        self.owned.add(total)
        self.cotangents[container] = total


@final
@dataclass(frozen=True, slots=True)
class _Body:
    statements: list[Statement]
    parameters: tuple[Var, ...]
    carried: tuple[Value, ...]
    after: Cotangents
    widened: dict[Var, Kind]


def _unchanged(statement: While | For, frame: Frame, demanded: frozenset[int]) -> frozenset[int]:
    """The exits that carry all of the demanded state as it came: there is nothing to undo."""
    return frozenset(
        number
        for number, site in enumerate(frame.exits)
        if isinstance(site, Continue | Break)
        and all(site.values[index] == statement.parameters[index] for index in demanded)
    )


def _loop_name(statement: While | For) -> str:
    if isinstance(statement, For):
        for var in item_variables(statement.items):
            if var.hint:
                return var.hint
    return next((parameter.hint for parameter in statement.parameters if parameter.hint), "")


def _shapeless(kind: Kind) -> Kind:
    return Array(kind.ndim, kind.dtype) if isinstance(kind, Array) else kind


def _bar(var: Var) -> str:
    return f"{var.hint}_bar" if var.hint else ""

