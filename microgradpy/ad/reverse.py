"""`reverse_differentiate`: the adjoint of a primal, as IR whose free variables are the primal's.

Walk the statements backwards with a map from primal variables to their cotangents (`adjoint_builder`); what each recorded
call adds to it is in `adjoint_calls`.

    z = x * y              x_bar += z_bar * y;  y_bar += z_bar * x               (the rule's pullback)
    r = if c: a else: b    if c: a_bar += r_bar  else: b_bar += r_bar
    loop over state s      for record in reversed(tape): s_bar = <adjoint of the body>(s_bar)

For the exits of a frame see `exits`: what follows a statement that may have left ran only if the path says so. All edges
of a loop carry the same state, so the adjoint of `break` is that of `continue`: add the state's cotangent to what the
edge carries. An edge that carries the state unchanged has nothing to undo and is not recorded.

The adjoint of a loop is found by walking its body until the set of cotangents it carries no longer grows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import assert_never, final

from microgradpy.ad.adjoint_builder import AdjointBuilder
from microgradpy.ad.adjoint_calls import undo_call
from microgradpy.ad.adjoint_setup import Halves, builder_for, seed_of
from microgradpy.ad.calls import Call
from microgradpy.ad.exits import Frame, frame_of, path_is_in, was_handled_by
from microgradpy.ad.loop_parts import Carrier, LoopBody, has_effects, is_zip, loop_name, unchanged
from microgradpy.ad.primal import Primal
from microgradpy.ad.selections import as_value
from microgradpy.ad.tracked_adjoint import TrackedAdjointBuilder
from microgradpy.ad.tracked_undo import undo_end, undo_tracked
from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.ir.kinds import (
    BOOL,
    Kind,
    Sequence,
    holds_arrays,
    holds_numbers,
    is_items,
    is_numeric,
    join,
)
from microgradpy.ir.nodes import (
    Break,
    Const,
    Continue,
    For,
    If,
    Op,
    Opcode,
    Raise,
    Records,
    Region,
    Return,
    Statement,
    Try,
    Unreachable,
    Value,
    Var,
    While,
    Yield,
)
from microgradpy.ir.traversal import is_mark, item_variables


@final
@dataclass(frozen=True, slots=True)
class Reverse:
    """The adjoint before it is decided what is saved. `absent` says of each differentiated input whether its cotangent is
    None because the result cannot depend on it. `frames` are the frames whose tapes the region reads, by tape."""

    region: Region
    seed: Var
    absent: tuple[bool, ...]
    function_frame: Frame
    frames: Mapping[Var, Frame]
    kinds: Mapping[Var, Kind]
    shadows: Var | None = None
    selected: tuple[bool, ...] = ()
    """Of which cotangents the zeros are those of a selection."""
    selects: bool = True
    """Whether any cotangent in it may have such zeros, whatever the seed has."""


def transform(primal: Primal, differentiated: tuple[Var, ...], services: Halves) -> Reverse:
    """The adjoint of a primal with respect to some of its inputs."""
    body = primal.function.body
    builder = builder_for(primal, services)
    seed = seed_of(builder, primal, services)
    builder.select(seed, services.seed_is_selected)
    reverse = _Walk(builder, primal.calls, seed, frame_of(body, None, ""))
    with builder.region() as statements:
        reverse.sequence(body, 0, reverse.frame.recorded)
        found = tuple(builder.cotangents.get(var) for var in differentiated)
        if services.passed:
            found = tuple(
                builder.as_list(bar, var) if bar is not None and is_items(builder.kind(var)) else bar
                for var, bar in zip(differentiated, found, strict=True)
            )
        # Callers rely on it that the cotangent of a number or an array is no structural zero.
        results = tuple(
            Const(None) if bar is None else builder.dense(bar, var) if is_numeric(builder.kind(var)) else bar
            for var, bar in zip(differentiated, found, strict=True)
        )
        if len(results) == 1:
            returned = results[0]
        else:
            (returned,) = builder.operation(Opcode.TUPLE, results)
    first = builder.prelude if isinstance(builder, TrackedAdjointBuilder) else []
    return Reverse(
        Region((*first, *statements), Return(returned)),
        seed,
        tuple(map(builder.is_absent, differentiated)),
        reverse.frame,
        reverse.frames,
        builder.kinds,
        builder.shadows if isinstance(builder, TrackedAdjointBuilder) else None,
        tuple(bar is None or builder.is_surely_selected(bar) for bar in found),
        primal.memory is not None or builder.selects,
    )


Bars = tuple[Value | None, ...]


@dataclass
class _Walk:
    """`state` are the cotangents of the loop state that an edge of this frame carries, `yielded` those of the results of
    the innermost `If` or `Try`, `seen` those of what handlers saw, by scope. An inner loop is walked again with each walk of
    the outer one, and starts from what was found the last time: `frame_of_loop` has its frame, `carried_by` the indices of
    its state and the variables from before it whose cotangents its adjoint carries. Both are keyed by identity, since equal
    loops at two places are two loops."""

    builder: AdjointBuilder
    calls: Mapping[Var, Call]
    seed: Var
    frame: Frame
    state: Bars = ()
    yielded: Bars = ()
    seen: dict[Var, Bars] = field(default_factory=dict)
    frames: dict[Var, Frame] = field(default_factory=dict)
    frame_of_loop: dict[int, Frame] = field(default_factory=dict)
    carried_by: dict[int, tuple[frozenset[int], frozenset[Var]]] = field(default_factory=dict)

    # Sequences and exits

    def sequence(self, region: Region, start: int, paths: frozenset[int]) -> None:
        """Undo the statements of a region from `start` on, knowing that the path is one of `paths`."""
        statements = region.statements
        leaving = (i for i in range(start, len(statements)) if self.frame.of_statement[id(statements[i])])
        first = next(leaving, len(statements))
        if first == len(statements):
            self.terminator(region, paths)
        else:
            staying = paths - self.frame.of_statement[id(statements[first])]
            if staying or is_mark(statements[first]):
                condition = path_is_in(self.builder, self.frame, staying, paths)
                stopped = partial(self.stopped_after, statements[first])
                self.builder.branch(condition, lambda: self.sequence(region, first + 1, staying), stopped)
            self.statement(statements[first], paths)
        for statement in reversed(statements[start:first]):
            self.statement(statement, paths)

    def stopped_after(self, statement: Statement) -> None:
        """An exception came after a mark: its values are what the handlers saw."""
        if isinstance(statement, Op) and is_mark(statement):
            self.distribute(statement.arguments, self.seen[statement.payload])

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
                    self.builder.pass_on(value, self.builder.returned(value, self.seed))
            case Raise() | Unreachable():
                pass
            case _:
                assert_never(terminator)

    def distribute(self, values: tuple[Value, ...], cotangents: Bars) -> None:
        for value, cotangent in zip(values, cotangents, strict=True):
            if cotangent is not None:
                self.builder.pass_on(value, cotangent)

    def statement(self, statement: Statement, paths: frozenset[int]) -> None:
        match statement:
            case Op(results=results):
                self.undo_calls(results)
            case If():
                self.branch(statement, paths)
            case While() | For():
                self.loop(statement)
            case Try():
                self.attempt(statement, paths)
            case _:
                assert_never(statement)

    def undo_calls(self, results: tuple[Var, ...]) -> None:
        """Undo what was recorded of these results, the last one first."""
        for result in reversed(results):
            if result not in self.calls:
                continue
            if isinstance(self.builder, TrackedAdjointBuilder):
                undo_tracked(self.builder, self.calls[result])
            else:
                undo_call(self.builder, self.calls[result])

    # If

    def branch(self, statement: If, paths: frozenset[int]) -> None:
        lists = self.owned_lists(statement.results)
        outer, yielded = self.yielded, tuple(map(self.builder.take, statement.results))
        self.builder.where = statement.where
        leaving = self.frame.of_statement[id(statement)]
        then_paths, else_paths = (self.paths_through(arm, leaving, paths) for arm in (statement.then, statement.orelse))
        condition = statement.condition
        if leaving and then_paths.isdisjoint(else_paths):
            # The path says which arm was taken; the condition need not be saved.
            condition = path_is_in(self.builder, self.frame, then_paths, paths)

        def undo(arm: Region, arm_paths: frozenset[int]) -> None:
            self.yielded = yielded
            self.builder.owned |= lists
            if not leaving:
                self.sequence(arm, 0, paths)
            elif arm_paths:
                self.sequence(arm, 0, arm_paths)

        self.builder.branch(condition, lambda: undo(statement.then, then_paths), lambda: undo(statement.orelse, else_paths))
        self.yielded = outer

    def owned_lists(self, results: tuple[Var, ...]) -> set[Var]:
        """The cotangents of lists and arrays that nobody else names: what gives these may write into them."""
        bars = (self.builder.cotangents.get(result) for result in results)
        return {bar for bar in bars if isinstance(bar, Var) and bar in self.builder.owned and self.builder.is_handed_on(bar)}

    def paths_through(self, arm: Region, leaving: frozenset[int], paths: frozenset[int]) -> frozenset[int]:
        """Those of the paths that go through an arm of an `If` in which the exits `leaving` are."""
        after = paths - leaving if isinstance(arm.terminator, Yield) else frozenset()
        return (self.frame.of_region[id(arm)] & paths) | after

    # Try

    def attempt(self, statement: Try, paths: frozenset[int]) -> None:
        """Undo the handler that ran, then the body up to the mark after which it stopped, or all of it."""
        inner = self.frame.tries[id(statement)]
        lists = self.owned_lists(statement.results)
        outer, yielded = self.yielded, tuple(map(self.builder.take, statement.results))
        leaving = self.frame.of_statement[id(statement)]
        seen: dict[Var, Kind] = {}
        arms = [(number, handler.body) for number, handler in enumerate(statement.handlers, 1)]

        def undo(remaining: list[tuple[int, Region]]) -> None:
            if remaining:
                number, body = remaining[0]
                condition = was_handled_by(self.builder, inner, number)
                self.builder.branch(condition, lambda: undo_handler(body), lambda: undo(remaining[1:]))
            elif not isinstance(self.builder, TrackedAdjointBuilder):
                self.without_lists(seen)

        def undo_handler(body: Region) -> None:
            self.builder.where, self.yielded = statement.where, yielded
            through = self.paths_through(body, leaving, paths)
            if through:
                self.builder.owned |= lists
                self.sequence(body, 0, through)
                bars = {var: self.builder.cotangents[var] for var in statement.parameters if var in self.builder.cotangents}
                seen.update((var, self.builder.kind(bar)) for var, bar in bars.items() if bar in self.builder.owned)

        possible = [arm for arm in arms if self.paths_through(arm[1], leaving, paths)]
        undo(possible)
        # Either a handler ran or the body came to its end, so that one of these is passed on.
        lists |= self.owned_lists(statement.parameters)
        self.seen[statement.scope] = tuple(map(self.builder.take, statement.parameters))
        self.builder.owned |= lists
        self.yielded = yielded
        around, self.frame = self.frame, inner
        stopping = inner.marks if possible else frozenset()
        self.sequence(statement.body, 0, self.body_paths(inner, around, statement, paths, stopping))
        self.frame, self.yielded = around, outer

    def without_lists(self, seen: Mapping[Var, Kind]) -> None:
        """Where no handler ran, nobody asks for the cotangents of what it would have seen, which are of these kinds: no list of
        zeros has to be made."""
        for var, kind in seen.items():
            if isinstance(kind, Sequence) and is_items(kind) and var not in self.builder.cotangents:
                opcode = Opcode.DICT if kind.name == "dict" else Opcode.LIST
                (nothing,) = self.builder.operation(opcode, (), kinds=(kind,))
                self.builder.cotangents[var] = nothing
                self.builder.owned.add(nothing)

    def body_paths(
        self, inner: Frame, around: Frame, statement: Try, paths: frozenset[int], stopping: frozenset[int]
    ) -> frozenset[int]:
        """The exits of the body of a `Try` that are possible on one of the paths of the frame around."""
        escapes = frozenset(n for n in inner.escapes if around.exit_through(statement, inner.leads[n]) in paths)
        if not paths - {number for number, site in enumerate(around.exits) if site is statement}:
            return escapes
        return (inner.recorded - inner.marks - inner.escapes) | stopping | escapes

    # Loops

    def loop(self, statement: While | For) -> None:
        lists = self.owned_lists(statement.results)
        arriving = list(map(self.builder.take, statement.results))
        self.builder.owned |= lists
        after = self.builder.cotangents
        frame = self.frame_of_loop.get(id(statement))
        if frame is None:
            frame = self.frame_of_loop[id(statement)] = frame_of(statement.body, statement, loop_name(statement))
        demanded, known = self.carried_by.get(id(statement), (frozenset(), frozenset()))
        demanded |= {index for index, value in enumerate(arriving) if value is not None}
        tracks = isinstance(self.builder, TrackedAdjointBuilder)
        if not demanded and not known and not self.frame.of_statement[id(statement)] and not tracks:
            return
        gathered = [var for var in after if var in known]
        gathered += sorted(known.difference(gathered), key=lambda var: var.id)
        kinds: dict[Var, Kind] = {}
        while True:
            frame.skipped = frozenset() if tracks else unchanged(statement, frame, demanded)
            indices = sorted(demanded)
            for index in indices if not tracks else ():
                arriving[index] = self.list_bars(statement.results[index], arriving[index])
            carriers = [Carrier(statement.parameters[i], statement.results[i], arriving[i]) for i in indices]
            carriers += [Carrier(var, var, self.gathered_bar(var, after.get(var))) for var in gathered]
            made = self.loop_body(statement, frame, carriers, kinds)
            grown = {index for index, parameter in enumerate(statement.parameters) if parameter in made.found}
            found = [var for var in made.found if var not in statement.parameters and var not in gathered]
            if grown <= demanded and not found and not made.widened:
                break
            demanded |= grown
            gathered += found
            kinds |= made.widened
        self.carried_by[id(statement)] = (demanded, frozenset(gathered))
        self.builder.cotangents = after
        if not carriers and not has_effects(made.statements):
            return
        self.frames[frame.tape] = frame
        if isinstance(statement, For) and isinstance(builder := self.builder, TrackedAdjointBuilder):
            calls = [self.calls[var] for var in item_variables(statement.items) if var in self.calls]
            undo_end(builder, calls, frame.tape if is_zip(statement.items) else None)
        results = self.close_loop(statement, frame, carriers, made)
        self.builder.cotangents.update(zip(gathered, results[len(indices) :], strict=True))
        self.builder.where = replace(statement.where, text="")
        for index, result in zip(indices, results[: len(indices)], strict=True):
            self.builder.pass_on(statement.initial[index], result)

    def list_bars(self, result: Var, cotangent: Value | None) -> Value | None:
        """The cotangent of a list that a loop carries, as a list."""
        kind = self.builder.kind(result)
        if not (is_items(kind) or holds_numbers(kind)) or not self.builder.is_active(result):
            return cotangent
        return self.builder.as_list(Const(None) if cotangent is None else cotangent, result)

    def gathered_bar(self, var: Var, cotangent: Value | None) -> Value | None:
        """The cotangent of a variable from before a loop, to which its iterations add: of a list of arrays, as a list."""
        kind = self.builder.kind(var)
        if not holds_arrays(kind) or isinstance(self.builder, TrackedAdjointBuilder):
            return cotangent
        return self.builder.as_list(Const(None) if cotangent is None else cotangent, var)

    def loop_body(self, statement: While | For, frame: Frame, carriers: list[Carrier], kinds: Mapping[Var, Kind]) -> LoopBody:
        """One walk backwards over a loop's body, with `kinds` for the cotangents that are wider than they start."""
        builder = self.builder
        outer = (self.frame, self.state, self.yielded)
        assumed = {carrier.inside: self.assumed_kind(carrier, kinds) for carrier in carriers}
        bars = {var: builder.variable(kind, builder.bar_name(var), var.user_named) for var, kind in assumed.items()}
        builder.owned.update(bars.values())
        flags = tuple(builder.variable(BOOL, "is_selected") for _ in bars) if builder.keeps_zeros else ()
        builder.selected.update(zip(bars.values(), flags, strict=False))
        self.frame, self.state, self.yielded = frame, tuple(map(bars.get, statement.parameters)), ()
        builder.cotangents = {var: bar for var, bar in bars.items() if var not in statement.parameters}
        with builder.region() as statements:
            self.sequence(statement.body, 0, frame.recorded)
            if isinstance(statement, For):
                self.undo_calls(item_variables(statement.items))
            found = dict(builder.cotangents)
            carried = tuple(found[var] if var in found else builder.zero(var) for var in bars)
        self.frame, self.state, self.yielded = outer
        widened = {}
        for (var, before), value in zip(assumed.items(), carried, strict=True):
            kind = join(before, builder.kind(value))
            if kind != before:
                widened[var] = kind
        return LoopBody(statements, tuple(bars.values()), tuple(assumed.values()), carried, found, widened, flags)

    def assumed_kind(self, carrier: Carrier, kinds: Mapping[Var, Kind]) -> Kind:
        """What is proven of a carried cotangent in every iteration, as far as is known: to begin with, what is proven of
        where it starts."""
        if carrier.inside in kinds:
            return kinds[carrier.inside]
        return self.builder.bar_kind(carrier.outside) if carrier.start is None else self.builder.kind(carrier.start)

    def close_loop(self, statement: While | For, frame: Frame, carriers: list[Carrier], made: LoopBody) -> list[Var]:
        """Append the loop over the records; returns the carried cotangents after it."""
        builder = self.builder
        builder.where = statement.where
        starts = [builder.zero(carrier.outside) if carrier.start is None else carrier.start for carrier in carriers]
        carried = list(made.carried)
        results = []
        for position, (parameter, kind) in enumerate(zip(made.parameters, made.kinds, strict=True)):
            result = builder.variable(kind, parameter.hint, parameter.user_named)
            if parameter in builder.written:
                # The body writes into it: nothing else may name what the first or a later iteration gets.
                starts[position] = start = builder.own(starts[position])
                if isinstance(start, Var):
                    builder.write(start)
                with builder.region(made.statements):
                    carried[position] = builder.own(carried[position])
                builder.owned.add(result)
            elif builder.is_alone(starts[position], starts) and builder.is_alone(carried[position], carried):
                builder.hand_on((starts[position], carried[position]), result)  # who writes into it then is the first to do so
            results.append(result)
        parameters, every = made.parameters, list(results)
        if builder.keeps_zeros:
            # Of a loop without iterations nothing is used.
            parameters += made.flags
            starts += [as_value(c.start is None or builder.is_selected(c.start)) for c in carriers]
            carried += [as_value(builder.is_selected(value)) for value in made.carried]
            every += [builder.variable(BOOL, "is_selected") for _ in results]
            builder.selected.update(zip(results, every[len(results) :], strict=True))
        body = Region(tuple(made.statements), Continue(tuple(carried)))
        items = Records(frame.tape, ())
        builder.add(For(items, body, parameters, tuple(starts), tuple(every), statement.where))
        return results
