"""What the primal keeps for the adjoint, and where.

A value that the adjoint reads is kept by the frame that computed it: by the function in its second result, by a loop
iteration in the one record it appends to the loop's tape. A tape is itself a value of the frame around its loop, so tapes
nest, and a replay (`for a, b in reversed(tape_i)`) needs no pops: the pullback can be called any number of times.

    while c:                     tape = []
        t = f(y)                 while c:
        y = g(y, t)                  t = f(y)
                                     tape.append((y, t))
                                     y = g(y, t)

A value computed in one arm of an `If` becomes a result of it, None on the other path; if many, as one (`saved_arms`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import final

from microgradpy.ad.counted_loops import Beside, Counted, counted, read_beside
from microgradpy.ad.exits import Frame, frame_of
from microgradpy.ad.filled_lists import built
from microgradpy.ad.primal import Primal
from microgradpy.ad.reverse import Reverse
from microgradpy.ad.saved_arms import Arm, save_arms_as_one
from microgradpy.ad.saved_attempts import AttemptRecorder, Available, Tape, Wanted, left_with, reached
from microgradpy.ad.saved_choices import asking_less
from microgradpy.ad.steady_lists import steady_lists
from microgradpy.dataclasses import dataclass, replace
from microgradpy.ir.kinds import INT, UNKNOWN, Kind
from microgradpy.ir.nodes import (
    Break,
    Const,
    Continue,
    For,
    Function,
    If,
    Location,
    Op,
    Opcode,
    Parameter,
    Records,
    Region,
    Return,
    Statement,
    Terminator,
    Try,
    Value,
    Var,
    While,
    Yield,
    fresh,
    function_constant,
)
from microgradpy.ir.rewrite import map_items
from microgradpy.ir.traversal import (
    count_reads,
    definitions,
    is_mark,
    item_sources,
    item_variables,
    regions,
    terminator_values,
    uses,
    walk,
)
from microgradpy.runtime.cotangents import zeros_for
from microgradpy.runtime.write_detection import keep, unchanged

_ZEROS = function_constant(zeros_for)


@final
@dataclass(frozen=True, slots=True)
class Pair:
    """The two halves of a differentiated function: `primal(*inputs)` returns `(y, saved)`, `adjoint(saved, y_bar)` the
    cotangents."""

    primal: Function
    adjoint: Function


def save(primal: Primal, reverse: Reverse) -> Pair:
    """Decide what is saved, write the records into the primal and read them in the adjoint."""
    homes = _Homes(primal.function, reverse)
    region, measures, masks = asking_less(primal, reverse.region)
    reverse = replace(reverse, region=region)
    for array, operations in measures.items():
        for op in operations:
            homes.put(op.result, homes.home[array])
    plan = _Plan(homes, reverse, primal)
    adjoint_body = plan.rebuild(reverse.region)
    fields = plan.fields(None)
    recorder = _Recorder(plan, primal, measures)
    body, _ = recorder.region(primal.function.body, reverse.function_frame, recorder.inputs(primal.function))
    kinds = dict(reverse.kinds) | recorder.kinds | masks
    # The halves are called with one positional argument per input, whatever the user's signature is.
    inputs = tuple(Parameter(parameter.var, parameter.name) for parameter in primal.function.parameters)
    name = f"{primal.function.name}_primal"
    primal_function = replace(primal.function, name=name, parameters=inputs, body=body, kinds=kinds)
    return Pair(primal_function, _adjoint_function(primal.function, adjoint_body, fields, reverse, kinds))


def _adjoint_function(
    function: Function, body: Region, fields: tuple[Var, ...], reverse: Reverse, kinds: Mapping[Var, Kind]
) -> Function:
    statements = body.statements
    if len(fields) == 1:
        saved = fields[0]
    else:
        saved = fresh("saved")
        if fields:
            statements = (Op(Opcode.UNPACK, (saved,), fields, from_user=False), *statements)
    name = saved.hint or "saved"
    parameters: tuple[Parameter, ...] = (Parameter(saved, name), Parameter(reverse.seed, reverse.seed.hint))
    if reverse.shadows is not None:
        parameters += (Parameter(reverse.shadows, reverse.shadows.hint),)
    return Function(
        f"{function.name}_adjoint", parameters, (), Region(statements, body.terminator), function.where, kinds
    )


class _Homes:
    """Which frame computes each variable of the primal, and in which order."""

    def __init__(self, function: Function, reverse: Reverse) -> None:
        self.frame_of_loop = {id(frame.loop): frame for frame in reverse.frames.values()}
        self.frames: dict[Tape | None, Frame] = {frame.tape: frame for frame in reverse.frames.values()}
        self.frames[None] = reverse.function_frame
        self.home: dict[Var, Tape | None] = {}
        self.order: dict[Var, int] = {}
        self.arms: list[Arm] = []
        self.is_tried = False
        for var in function.inputs:
            self.put(var, None)
        for tape, frame in self.frames.items():
            self.home[frame.path] = tape
        self.region(function.body, None, reverse.function_frame)

    def put(self, var: Var, home: Tape | None) -> None:
        self.home[var] = home
        self.order[var] = len(self.order)

    def region(self, region: Region, home: Tape | None, around: Frame | None) -> None:
        """`around` is the frame whose exits are in the region, if it is known."""
        for statement in region.statements:
            match statement:
                case While() | For():
                    self.loop(statement, home)
                case If():
                    self.branch(statement, home, around)
                case Try():
                    self.attempt(statement, home, around)
                case Op():
                    pass
            for var in definitions(statement):
                self.put(var, home)

    def branch(self, statement: If, home: Tape | None, around: Frame | None) -> None:
        arms = []
        for side, nested in enumerate(regions(statement)):
            start = len(self.order)
            self.region(nested, home, around)
            arms.append(Arm(statement, side, home, start, len(self.order)))
        # Where an exit or an exception leaves an arm, what it has computed so far is recorded.
        is_left = around is None or around.of_statement.get(id(statement)) != frozenset()
        if not (is_left or self.is_tried) and all(isinstance(arm.terminator, Yield) for arm in regions(statement)):
            self.arms += arms

    def loop(self, statement: While | For, home: Tape | None) -> None:
        frame = self.frame_of_loop.get(id(statement))
        # The values of a loop that is not replayed are never asked for.
        inner = frame.tape if frame is not None else home
        if frame is not None:
            self.put(frame.tape, home)
        inside = item_variables(statement.items) if isinstance(statement, For) else ()
        for var in (*inside, *statement.parameters):
            self.put(var, inner)
        for nested in regions(statement):
            self.region(nested, inner, frame)

    def attempt(self, statement: Try, home: Tape | None, around: Frame | None) -> None:
        frame = None if around is None else around.tries[id(statement)]
        if frame is not None:
            self.put(frame.path, home)
            self.put(frame.handled, home)
        outer, self.is_tried = self.is_tried, True
        self.region(statement.body, home, frame)
        for var in statement.parameters:
            self.put(var, home)
        for handler in statement.handlers:
            self.region(handler.body, home, around)
        self.is_tried = outer


class _Plan:
    """Which variables each frame saves."""

    def __init__(self, homes: _Homes, reverse: Reverse, primal: Primal) -> None:
        self.homes = homes
        self.function = primal.function
        self.wanted: Wanted = {}
        self.counted: dict[Tape, Counted] = {}
        self.beside: dict[Tape, Beside] = {}
        self.kinds = reverse.kinds
        self.counts = count_reads(reverse.region)
        self.collect(reverse.region)
        self.read_by_counting = set[Value]()
        self.count_instead_of_record()
        alone = primal.lent | self.read_by_counting
        self.arms = save_arms_as_one(homes.arms, self.wanted, homes.order, reverse.region, alone, self.counted, self.called)

    @cached_property
    def read_by_user(self) -> frozenset[Value]:
        return frozenset(value for statement in walk(self.function.body) for value in uses(statement))

    @cached_property
    def steady(self) -> frozenset[Var]:
        return steady_lists(self.function)

    def want(self, value: Value) -> None:
        if isinstance(value, Var) and value in self.homes.home:
            self.wanted.setdefault(self.homes.home[value], set()).add(value)

    def collect(self, region: Region) -> None:
        for statement in region.statements:
            for value in uses(statement):
                self.want(value)
            for nested in regions(statement):
                self.collect(nested)
        for value in terminator_values(region.terminator):
            self.want(value)

    def count_instead_of_record(self) -> None:
        """A loop of which only a counter is needed has no tape: the adjoint counts down. Inner loops first: their tapes are
        fields of the outer ones."""
        for tape, frame in reversed(list(self.homes.frames.items())):
            loop = frame.loop
            if tape is None or not isinstance(loop, For) or tape not in self.tapes_read():
                continue
            if len(frame.exits) != 1 or not isinstance(frame.exits[0], Continue) or frame.skipped:
                continue
            found = counted(loop, self.wanted.get(tape, ()), self.function.kinds, self.steady)
            if found is None:
                self.read_beside(tape, loop)
                continue
            self.counted[tape] = found
            home = self.homes.home[tape]
            self.wanted[home].discard(tape)
            if found.length is not None:
                self.homes.put(found.length, home)
            for value in (*item_sources(found.items), *found.read.values()):
                self.want(value)
                self.read_by_counting.add(value)

    def read_beside(self, tape: Var, loop: For) -> None:
        """Where one value is needed beside a counter and the items of lists, the adjoint counts down and reads these backwards
        along with it, and no record is a tuple. To set this up takes longer than it gains where a loop in another one has few
        iterations."""
        wanted = self.wanted.get(tape, set())
        found = None if self.homes.home[tape] is not None else read_beside(loop, wanted, self.function, tape)
        if found is None:
            return
        self.beside[tape] = found
        wanted.difference_update(found.items())
        for _, copy, _ in found.lists:
            self.homes.put(copy, None)
        for value in found.sources():
            self.want(value)
            self.read_by_counting.add(value)

    def tapes_read(self) -> set[Var]:
        return {var for wanted in self.wanted.values() for var in wanted if var in self.homes.frames}

    def fields(self, tape: Tape | None) -> tuple[Var, ...]:
        """The fields of a frame's record, the path first, then in the order they are computed."""
        fields = self.wanted.get(tape, set()) - self.arms.members
        return tuple(map(self.called, sorted(fields, key=lambda var: self.homes.order.get(var, -1))))

    def called(self, var: Var) -> Var:
        """What says that it is not used has another name where it is."""
        return Var(var.id, "k") if var.hint == "_" and var not in self.read_by_user else var

    def rebuild(self, region: Region) -> Region:
        """The adjoint with the fields of each record bound."""
        statements: list[Statement] = []
        zeros: dict[Value, Value] = {}
        for statement in region.statements:
            if isinstance(statement, Op) and statement.callee == _ZEROS:
                zeros[statement.result] = statement.arguments[0]
            statements += self.built(statement, zeros) or self.rebuilt(statement)
        return Region(tuple(statements), region.terminator)

    def built(self, statement: Statement, zeros: Mapping[Value, Value]) -> tuple[Statement, ...] | None:
        """A loop that builds the cotangents of a list."""
        if not isinstance(statement, For) or not isinstance(statement.items, Records):
            return None
        found = self.counted.get(statement.items.tape)  # type: ignore[arg-type]
        new = None if found is None else built(statement, found, zeros, self.counts, self.kinds)
        if found is None or new is None:
            return None
        made, loop = new
        body = replace(loop.body, statements=(*found.reads(), *loop.body.statements))
        items = map_items(found.items, lambda value: value, self.called)
        return made, replace(loop, items=items, body=body)

    def rebuilt(self, statement: Statement) -> tuple[Statement, ...]:
        match statement:
            case For(items=Records(tape=Var() as tape), body=body):
                body = self.rebuild(body)
                if tape not in self.counted:
                    beside = self.beside.get(tape, Beside())
                    return beside.around(replace(statement, body=body), Records(tape, self.fields(tape)), self.called)
                items = map_items(self.counted[tape].again, lambda value: value, self.called)
                again = tuple(self.counted[tape].reads())
                return (replace(statement, items=items, body=Region((*again, *body.statements), body.terminator)),)
            case If(then=then, orelse=orelse):
                arms = self.rebuild(then), self.rebuild(orelse)
                then, orelse = (self.arms.opened(statement, side, arm) for side, arm in enumerate(arms))
                return (replace(statement, then=then, orelse=orelse),)
        return (statement,)


@final
class _Recorder(AttemptRecorder):
    """Writes the tapes and records into the primal."""

    def __init__(self, plan: _Plan, primal: Primal, measures: Mapping[Var, list[Op]]) -> None:
        self.plan = plan
        self.homes = plan.homes
        self.lent = primal.lent
        self.kept_of: dict[Var, tuple[Var, Location]] = {}
        self.kinds: dict[Var, Kind] = {}
        self.enclosing: list[tuple[Frame, Available]] = []
        lengths = {tape: counted.length for tape, counted in plan.counted.items()}
        tapes = {loop: frame.tape for loop, frame in plan.homes.frame_of_loop.items()}
        super().__init__(tapes, lengths, plan.wanted, measures)

    def inputs(self, function: Function) -> Available:
        wanted = self.plan.wanted.get(None, set())
        return {var: var for var in function.inputs if var in wanted}

    def recorded_frame(self, statement: Statement) -> Frame | None:
        frame = self.homes.frame_of_loop.get(id(statement))
        if frame is None or frame.tape in self.plan.counted:
            return None
        return frame if frame.tape in self.plan.tapes_read() else None

    def region(self, region: Region, frame: Frame, available: Available) -> tuple[Region, Available]:
        """A region of a frame with its loops recording; also what of the wanted values is visible at its end. `frame` is
        the frame whose exits are in this region."""
        available = dict(available)
        statements: list[Statement] = []
        for statement in region.statements:
            self.statement(statement, frame, available, statements)
        number = frame.terminators.get(id(region))
        if number is not None and isinstance(region.terminator, Yield):
            available |= reached(frame, number)
            number = None
        terminator: Terminator = region.terminator
        if number is not None:
            terminator = self.close(statements, terminator, frame, number, available)
        return Region(tuple(statements), terminator), available

    def statement(self, statement: Statement, frame: Frame, available: Available, out: list[Statement]) -> None:
        match statement:
            case Op() if is_mark(statement):
                out.append(self.mark(statement, frame, available, out))
            case Op():
                out.append(statement)
            case Try():
                out.append(self.attempt(statement, frame, available))
            case If():
                out.append(self.branch(statement, frame, available))
            case While(body=body) | For(body=body):
                out.extend(self.loop(statement, body, frame, available))
        wanted = self.wanted_of(frame)
        for var in definitions(statement):
            if var in wanted:
                available[var] = self.kept(var, statement.where, out) if var in self.lent else var
            for op in self.measures.get(var, ()):
                out.append(replace(op, where=statement.where))
                available[op.result] = op.result

    def kept(self, var: Var, where: Location, out: list[Statement]) -> Var:
        """A copy of an array, made now."""
        new = self.copy(var)
        out.append(Op(function_constant(keep), (var,), (new,), from_user=False, where=where))
        self.kept_of[new] = var, where
        return new

    def settled(self, value: Value, out: list[Statement]) -> Value:
        """A value as it goes into a record: a copy only after a look at whether it still agrees."""
        if not isinstance(value, Var) or value not in self.kept_of:
            return value
        checked = self.copy(value)
        var, where = self.kept_of[value]
        out.append(Op(function_constant(unchanged), (var, value), (checked,), from_user=False, where=where))
        return checked

    def branch(self, statement: If, frame: Frame, available: Available) -> If:
        made = [
            self.plan.arms.closed(statement, side, *self.region(arm, frame, available))
            for side, arm in enumerate(regions(statement))
        ]
        arms, ends = [arm for arm, _ in made], [found for _, found in made]
        results, (then, orelse) = self.threaded(statement.results, arms, ends, available, self.wanted_of(frame))
        return replace(statement, then=then, orelse=orelse, results=results)

    def copy(self, var: Var) -> Var:
        new = fresh(var.hint, var.user_named)
        self.kinds[new] = UNKNOWN
        return new

    def loop(self, statement: While | For, body: Region, frame: Frame, available: Available) -> list[Statement]:
        inner = self.recorded_frame(statement)
        before: list[Op] = []
        if inner is not None:
            before.append(Op(Opcode.TAPE, (), (inner.tape,), from_user=False, where=statement.where))
            available[inner.tape] = inner.tape
        known = self.homes.frame_of_loop.get(id(statement))
        found = None if known is None else self.plan.counted.get(known.tape)
        if found is not None and found.length is not None:
            before += found.count(statement.where)
            available[found.length] = found.length
            self.kinds |= dict.fromkeys((var for op in before for var in op.results), INT)
        own = inner if inner is not None else self.unrecorded(statement)
        wanted = self.plan.wanted.get(own.tape, set()) if inner is not None else set()
        bound = item_variables(statement.items) if isinstance(statement, For) else ()
        visible: Available = {var: var for var in (*bound, *statement.parameters) if var in wanted}
        first: list[Statement] = []
        visible |= {var: self.kept(var, statement.where, first) for var in visible if var in self.lent}
        self.enclosing.append((frame, available))
        new_body, _ = self.region(body, own, visible)
        self.enclosing.pop()
        if isinstance(statement, For):
            called = {var: self.plan.called(var) for var in bound if var in wanted}
            items = map_items(statement.items, lambda value: value, lambda var: called.get(var, var))
            statement = replace(statement, items=items)
        after = () if inner is None else self.copied(inner.tape, statement, available)
        return [*before, replace(statement, body=Region((*first, *new_body.statements), new_body.terminator)), *after]

    def copied(self, tape: Var, loop: While | For, available: Available) -> tuple[Op, ...]:
        """The lists that the adjoint of a loop runs over."""
        beside = self.plan.beside.get(tape, Beside())
        for source, copy, _ in beside.lists:
            available[copy] = copy
            self.kinds[copy] = self.plan.function.kinds[source]
        return tuple(beside.copied(tape, loop.where))

    def unrecorded(self, statement: While | For) -> Frame:
        """A frame that keeps nothing, for a loop without a tape; its exits still close the frames around it."""
        known = self.homes.frame_of_loop.get(id(statement))
        return frame_of(statement.body, statement, "") if known is None else known

    def close(
        self, out: list[Statement], terminator: Terminator, frame: Frame, number: int, available: Available
    ) -> Terminator:
        """Write the records of the frames that end at an exit, inner to outer."""
        available = available | reached(frame, number)
        frame, number = left_with(frame, number)
        if isinstance(terminator, Continue | Break):
            self.record(out, frame, number, available)
            return terminator
        assert isinstance(terminator, Return)
        left = frame
        self.record(out, frame, number, available)
        for outer, outer_available in reversed(self.enclosing):
            assert left.loop is not None
            number = outer.exit_through(left.loop) or 0
            available = outer_available | reached(outer, number)
            left, number = left_with(outer, number)
            self.record(out, left, number, available)
        return self.finish(out, terminator, number, available)

    def record(self, out: list[Statement], frame: Frame, number: int, available: Available) -> None:
        if frame.loop is None or number in frame.skipped or self.recorded_frame(frame.loop) is None:
            return
        values = [self.settled(value, out) for value in self.values(frame, number, available)]
        out.append(Op(Opcode.RECORD, (frame.tape, *values), (), from_user=False))

    def values(self, frame: Frame, number: int, available: Available) -> tuple[Value, ...]:
        fields = self.plan.fields(self.tape(frame))
        return tuple(Const(number) if var == frame.path else available.get(var, Const(None)) for var in fields)

    def finish(self, out: list[Statement], terminator: Return, number: int, available: Available) -> Return:
        """Return the value and what the function's frame saved."""
        function_frame = self.homes.frames[None]
        values = tuple(self.settled(value, out) for value in self.values(function_frame, number, available))
        if len(values) == 1:
            saved: Value = values[0]
        else:
            saved = fresh("saved")
            out.append(Op(Opcode.TUPLE, values, (saved,), from_user=False, where=terminator.where))
        pair = fresh()
        out.append(Op(Opcode.TUPLE, (terminator.value, saved), (pair,), from_user=False, where=terminator.where))
        return Return(pair, terminator.where)
