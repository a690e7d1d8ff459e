"""Numbers that the adjoint computes again from what the records of its loops have anyway, so that they need not be saved.

    for _ in range(n):                                  for x in reversed(tape):
        product = r * x                                     product = r * x
        difference = 1 - x                                  difference = 1 - x
        x = product * difference                            product_bar = x_bar * difference

What did not raise does not raise now, as the operands are the same to the last bit, and with numbers no code of the user's
runs. Numbers that no iteration changes are computed once, before the adjoint's loop. Which fields are left out is found by
trying: one number after the other, the last one first, if it takes few operations from what is left.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import final

from microgradpy.ad.exits import Frame
from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.ir.kinds import FLOAT, Array, Kind, Scalar
from microgradpy.ir.nodes import (
    Const,
    For,
    Function,
    If,
    Location,
    Op,
    Range,
    Records,
    Region,
    Statement,
    Terminator,
    Try,
    Value,
    Var,
    While,
    Yield,
    fresh,
)
from microgradpy.ir.rewrite import map_regions, substitute
from microgradpy.ir.traversal import flows, item_sources, item_variables, regions, terminator_values, uses, walk

_NEVER_RAISE = (operator.add, operator.sub, operator.mul, operator.neg, operator.pos)
"""For floats."""
_COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
_FUNCTIONS = tuple(value for value in vars(math).values() if type(value) is type(math.sin))
_COSTS = {id(each): 1 for each in (*_NEVER_RAISE, *_COMPARISONS, operator.truediv, operator.not_)}
_COSTS |= {id(each): 3 for each in (*_FUNCTIONS, operator.floordiv, operator.mod, abs, min, max)}
"""What it takes to compute something again, in sums of two floats."""
_WORTH, _LAST_WORTH = 2, 12
"""What it is worth that a tuple has one field less, and that a record is a number and no tuple: of a field little more than its
memory is saved, and to make and read a tuple of two takes as long as some operations."""
_MANY = 8
"""More fields than what several numbers are made of is likely to be fewer than."""
_EXACT = 2**53
"""Up to where whole numbers become floats, whatever they are added to."""


def compute_again(function: Function, adjoint: Region, frames: Mapping[Var, Frame]) -> tuple[Region, dict[Var, Kind]]:
    """The adjoint of a primal with such numbers computed in its loops, and what is proven of these."""
    again = _Again(_Primal.of(function, frames), frames)
    return again.region(adjoint), again.kinds


@final
@dataclass(frozen=True, slots=True)
class _Primal:
    """`operations` are the cheap ones, by the number that they make. `home` is the tape of the loop that makes a variable,
    `always` are those that every iteration makes, and `steady` those that are the same in all of them. `leaves` are what a
    number is made of in its iteration, unless this is much; `counters` count iterations all of which end alike."""

    kinds: Mapping[Var, Kind]
    operations: dict[Var, Op] = field(default_factory=dict)
    home: dict[Var, Var | None] = field(default_factory=dict)
    always: set[Var] = field(default_factory=set)
    steady: set[Var] = field(default_factory=set)
    leaves: dict[Var, frozenset[Var]] = field(default_factory=dict)
    counters: set[Var] = field(default_factory=set)

    @classmethod
    def of(cls, function: Function, frames: Mapping[Var, Frame]) -> _Primal:
        primal = cls(function.kinds)
        primal.put(function.inputs, None)
        of_arrays = _numbers_of_arrays(function)
        frame_of = {id(frame.loop): frame for frame in frames.values()}

        def visit(region: Region, frame: Frame | None, runs_always: bool) -> None:
            tape = None if frame is None else frame.tape
            for statement in region.statements:
                if isinstance(statement, While | For):
                    inner = frame_of.get(id(statement))
                    own = frame if inner is None else inner
                    if inner is not None:
                        primal.put((inner.tape,), tape)
                    bound = item_variables(statement.items) if isinstance(statement, For) else ()
                    primal.put((*bound, *statement.parameters), None if own is None else own.tape)
                    if inner is not None and len(inner.exits) == 1 and not inner.skipped and isinstance(statement, For):
                        primal.counters.update(bound if isinstance(statement.items, Range) else ())
                    for nested in regions(statement):
                        visit(nested, own, inner is not None and nested is statement.body)
                else:
                    primal.put(statement.parameters if isinstance(statement, Try) else (), tape)
                    for nested in regions(statement):
                        visit(nested, frame, False)
                primal.put(statement.results, tape)
                # What follows an exit may not have run.
                runs_always = runs_always and frame is not None and not frame.of_statement[id(statement)]
                if isinstance(statement, Op) and tape is not None and _is_cheap(statement, function.kinds):
                    if statement.result not in of_arrays and primal.is_placed(statement):
                        primal.know(statement, tape)
                        primal.always.update(statement.results if runs_always else ())

        visit(function.body, None, False)
        return primal

    def put(self, variables: Iterable[Var], home: Var | None) -> None:
        self.home.update(dict.fromkeys(variables, home))

    def is_placed(self, op: Op) -> bool:
        return all(value in self.home for value in op.arguments if isinstance(value, Var))

    def know(self, op: Op, tape: Var) -> None:
        var = op.result
        self.operations[var] = op
        operands = self.operands(var, tape)
        self.leaves[var] = frozenset().union(*(self.leaves.get(each, (each,)) for each in operands))
        if len(self.leaves[var]) > _MANY:
            self.leaves[var] = frozenset((var,))
        if _cannot_fail(op, self.kinds) and self.steady.issuperset(operands):
            self.steady.add(var)

    def operands(self, var: Var, tape: Var) -> list[Var]:
        """What the operation that makes a number reads of the same iteration."""
        arguments = self.operations[var].arguments
        return [value for value in arguments if isinstance(value, Var) and self.home.get(value) == tape]

    def cost(self, var: Var) -> int:
        callee = self.operations[var].callee
        assert isinstance(callee, Const)
        return 0 if var in self.steady else _COSTS[id(callee.value)]

    def needed(self, var: Var, tape: Var, known: set[Var], most: int = 2 * _LAST_WORTH) -> list[Var] | None:
        """What is computed for a number, operands first, if this is known of an iteration; None if that is not enough, or if it
        is more than so many operations."""
        if var not in self.operations:
            return None
        found: list[Var] = []
        for each in self.operands(var, tape):
            if each not in known and each not in found:
                more = self.needed(each, tape, known.union(found), most - len(found) - 1) if most > len(found) else None
                if more is None:
                    return None
                found += more
        return [*found, var]


def _is_cheap(op: Op, kinds: Mapping[Var, Kind]) -> bool:
    if not isinstance(op.callee, Const) or id(op.callee.value) not in _COSTS or op.keywords or not op.arguments:
        return False
    return all(
        isinstance(kinds.get(value), Scalar) if isinstance(value, Var) else _is_number(value)
        for value in (*op.arguments, op.result)
    )


def _is_number(value: Value) -> bool:
    return isinstance(value, Const) and type(value.value) in (float, int, bool)


def _cannot_fail(op: Op, kinds: Mapping[Var, Kind]) -> bool:
    """Whether an operation gives a number whatever its operands are."""
    assert isinstance(op.callee, Const)
    divisor = op.arguments[-1]
    is_share = op.callee.value is operator.truediv and isinstance(divisor, Const) and bool(divisor.value)
    return (is_share or op.callee.value in _NEVER_RAISE) and all(
        kinds.get(value) == FLOAT if isinstance(value, Var) else isinstance(value, Const) and abs(value.value) < _EXACT
        for value in op.arguments
    )


def _numbers_of_arrays(function: Function) -> set[Value]:
    """Numbers that come out of arrays: to compute with those of NumPy takes several times as long as with Python's."""
    statements = list(walk(function.body))
    onwards: dict[Value, list[Var]] = {}
    found: set[Value] = set()
    for source, target in flows(statements):
        onwards.setdefault(source, []).append(target)
    for statement in statements:
        match statement:
            case Op() if _is_cheap(statement, function.kinds):
                for value in statement.arguments:
                    onwards.setdefault(value, []).append(statement.result)
            case Op() if _has_arrays(uses(statement), function.kinds):
                found.update(statement.results)
            case For(items=items) if _has_arrays(item_sources(items), function.kinds):
                found.update(item_variables(items))
    waiting = list(found)
    while waiting:
        new = [var for var in onwards.get(waiting.pop(), ()) if var not in found]
        found.update(new)
        waiting += new
    return found


def _has_arrays(values: Iterable[Value], kinds: Mapping[Var, Kind]) -> bool:
    return any(isinstance(kinds.get(value), Array) for value in values if isinstance(value, Var))


@dataclass
class _Again:
    primal: _Primal
    frames: Mapping[Var, Frame]
    kinds: dict[Var, Kind] = field(default_factory=dict)

    def region(self, region: Region) -> Region:
        """A region with its loops over records, inner ones first: these may then ask for more of those around."""
        statements: list[Statement] = []
        for old in region.statements:
            statement = map_regions(old, self.region)
            if isinstance(statement, For) and isinstance(statement.items, Records):
                statements += self.loop(statement, statement.items.tape)
            else:
                statements.append(statement)
        return Region(tuple(statements), region.terminator)

    def loop(self, loop: For, tape: Value) -> tuple[Statement, ...]:
        if not isinstance(tape, Var) or tape not in self.frames:
            return (loop,)
        read = {value for value in _read_in(loop.body) if isinstance(value, Var)}
        asked = {var for var in read if self.primal.home.get(var) == tape}
        saved = self.saved(asked, self.spared(loop.body), tape)
        if asked <= saved:
            return (loop,)
        placing = _Placing(self.primal, tape, asked - saved, saved, loop.where, self.kinds)
        body = placing.region(loop.body, {})
        return (*placing.before, replace(loop, body=body))

    def spared(self, body: Region) -> set[Var]:
        """Numbers that only some iterations make, where it cannot be seen that these are the ones that read them."""
        read = {value for end in _ends(body) for value in terminator_values(end)}
        for statement in body.statements:
            read.update(() if isinstance(statement, Op) else uses(statement))
        for statement in walk(body):
            if isinstance(statement, While | For):
                read.update(_read_by(statement))
        return {value for value in read if isinstance(value, Var)} - self.primal.always

    def saved(self, asked: set[Var], spared: set[Var], tape: Var) -> set[Var]:
        """What is saved of an iteration of which this is asked. What it is computed from, or what the iteration began with, may
        be one field in the place of several."""
        numbers = [var for var in self.primal.operations if var in asked and var not in spared]
        near = asked.union(*(self.primal.operands(var, tape) for var in numbers))
        first = asked.union(*(self.primal.leaves[var] for var in numbers))
        best, least = asked, (self.fields(asked, tape), 0)
        for start, worth in itertools.product((asked, near, first), (_WORTH, _LAST_WORTH)) if numbers else ():
            left, cost = self.left(numbers, asked, set(start), tape, worth)
            fields = self.fields(left, tape)
            if (fields, cost) < least and (worth == _WORTH or fields <= 1):
                best, least = left, (fields, cost)
        return best

    def fields(self, saved: set[Var], tape: Var) -> int:
        """How many values are in a record; what counts is in none if no more than one is beside it."""
        others = saved - self.primal.counters
        can_count = not others or (len(others) == 1 and self.primal.home[tape] is None)
        return len(others if can_count else saved)

    def left(self, numbers: list[Var], asked: set[Var], saved: set[Var], tape: Var, worth: int) -> tuple[set[Var], int]:
        """What is left of the fields of a record, and what it costs to do without the others."""
        computed: set[Var] = set()
        total = 0
        for var in reversed(numbers):
            known = (saved | computed) - {var}
            needed = self.primal.needed(var, tape, known)
            cost = None if needed is None else sum(self.primal.cost(each) for each in needed if each not in computed)
            if needed is not None and cost is not None and cost <= worth:
                saved.discard(var)
                computed.update(needed)
                total += cost
        read = {each for var in computed for each in self.primal.operands(var, tape)}
        return saved & (asked | read), total


@dataclass
class _Placing:
    """Writes the operations for numbers that are not saved before what reads them first; `before` are those before the loop."""

    primal: _Primal
    tape: Var
    removed: set[Var]
    saved: set[Var]
    where: Location
    kinds: dict[Var, Kind]
    before: list[Op] = field(default_factory=list)
    steady: dict[object, Var] = field(default_factory=dict)

    def region(self, region: Region, known: dict[Var, Value]) -> Region:
        """`known` are the numbers that have been computed where this region is."""
        statements: list[Statement] = []
        readers = Counter(var for statement in region.statements for var in set(self.read_by(statement)))
        readers.update(set(self.among(terminator_values(region.terminator))))
        for statement in region.statements:
            for var in self.read_before(statement, readers):
                self.compute(var, known, statements, statement.where)
            if isinstance(statement, If):
                (condition,) = self.of(uses(statement), known)
                arms = [self.region(arm, dict(known)) for arm in (statement.then, statement.orelse)]
                statements.append(replace(statement, condition=condition, then=arms[0], orelse=arms[1]))
            else:
                statements += substitute(Region((statement,), Yield(())), known).statements
        for var in self.among(terminator_values(region.terminator)):
            self.compute(var, known, statements, self.where)
        return Region(tuple(statements), substitute(Region((), region.terminator), known).terminator)

    def among(self, values: Iterable[Value]) -> list[Var]:
        return [value for value in values if isinstance(value, Var) and value in self.removed]

    def read_by(self, statement: Statement) -> list[Var]:
        return self.among(_read_by(statement))

    def read_before(self, statement: Statement, readers: Counter[Var]) -> list[Var]:
        """What has to be there when a statement begins. Numbers that only an arm reads are computed in it."""
        if not isinstance(statement, If):
            return self.read_by(statement)
        shared = [var for var in self.read_by(statement) if readers[var] > 1 and var in self.primal.always]
        return [*self.among(uses(statement)), *shared]

    def compute(self, var: Var, known: dict[Var, Value], out: list[Statement], where: Location) -> Value:
        if var in known or var in self.saved or self.primal.home.get(var) != self.tape:
            return known.get(var, var)
        made = self.primal.operations[var]
        if var in self.primal.steady:
            known[var] = self.once(var)
            return known[var]
        arguments = [self.compute(each, known, out, where) if isinstance(each, Var) else each for each in made.arguments]
        known[var] = new = self.named_like(var)
        out.append(replace(made, arguments=tuple(arguments), results=(new,), from_user=False, where=where))
        return new

    def once(self, var: Var) -> Value:
        """A number that is the same in all iterations, computed before the first; two that are computed alike are one."""
        if self.primal.home.get(var) != self.tape:
            return var
        made = self.primal.operations[var]
        arguments = tuple(self.once(each) if isinstance(each, Var) else each for each in made.arguments)
        key = made.callee, arguments
        if key not in self.steady:
            self.steady[key] = new = self.named_like(var)
            self.before.append(replace(made, arguments=arguments, results=(new,), from_user=False, where=self.where))
        return self.steady[key]

    def named_like(self, var: Var) -> Var:
        new = fresh(var.hint, var.user_named)
        if var in self.primal.kinds:
            self.kinds[new] = self.primal.kinds[var]
        return new

    def of(self, values: Iterable[Value], known: Mapping[Var, Value]) -> tuple[Value, ...]:
        return tuple(known.get(value, value) if isinstance(value, Var) else value for value in values)


def _read_by(statement: Statement) -> Iterator[Value]:
    """What a statement reads, and its regions."""
    yield from uses(statement)
    for region in regions(statement):
        yield from _read_in(region)


def _read_in(region: Region) -> Iterator[Value]:
    for statement in region.statements:
        yield from _read_by(statement)
    yield from terminator_values(region.terminator)


def _ends(region: Region) -> Iterator[Terminator]:
    for nested in (inner for statement in region.statements for inner in regions(statement)):
        yield from _ends(nested)
    yield region.terminator
