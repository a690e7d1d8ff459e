"""Whole numbers that follow from the counter of a loop: the adjoint computes them, so that they need not be saved.

    out = [x]
    for k, e in enumerate(es):        one item is added to `out` in each iteration
        n = len(out)                  k + 1
        out.append(out[-1] * e)
        i = k - 1                     the user's own counting as well

Of numbers, nothing but a constant is added to the counter or taken from it; of lists, every version has a variable.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping

from microgradpy.ad.exits import Frame
from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.ir.kinds import INT, Kind
from microgradpy.ir.nodes import (
    Const,
    Continue,
    Enumerate,
    For,
    Function,
    If,
    Items,
    Op,
    Opcode,
    Range,
    Records,
    Region,
    Reversed,
    Statement,
    Value,
    Var,
    While,
    Yield,
    Zip,
    fresh,
    operator_constant,
)
from microgradpy.ir.rewrite import map_regions, substitute
from microgradpy.ir.traversal import regions, terminator_values, terminators, uses, walk
from microgradpy.runtime.keys import from_front

Linear = tuple[Var | None, int]
"""A counter, or none, and what is added to it."""
_SIGNS = {operator.add: 1, operator.sub: -1}


def count_again(function: Function, adjoint: Region, frames: Mapping[Var, Frame]) -> Region:
    """The adjoint of a primal with such numbers computed from the counters of its loops."""
    numbers = _Numbers(function.kinds)
    numbers.region(function.body, None)
    found = numbers.found()
    plain: dict[Var, Value] = {var: base for var, (base, offset) in found.items() if base is not None and not offset}
    plain |= {var: Const(offset) for var, (base, offset) in found.items() if base is None}
    tape_of = {id(frame.loop): tape for tape, frame in frames.items()}
    inside: dict[Var, list[Var]] = {}
    asked = {value for statement in walk(adjoint) for value in (*uses(statement), *_ends(statement))}
    for var in found:
        if var in asked and var not in plain and (home := tape_of.get(numbers.loop_of[var] or 0)) is not None:
            inside.setdefault(home, []).append(var)

    def rewritten(region: Region) -> Region:
        return Region(tuple(map(counted, region.statements)), region.terminator)

    def counted(statement: Statement) -> Statement:
        statement = map_regions(statement, rewritten)
        if not isinstance(statement, For) or not isinstance(statement.items, Records):
            return statement
        here = {var: fresh(var.hint, var.user_named) for var in inside.get(statement.items.tape, ())}  # type: ignore[arg-type]
        first = (_sum(*found[var], new) for var, new in here.items())
        body = substitute(statement.body, here)
        return replace(statement, body=Region((*first, *body.statements), body.terminator)) if here else statement

    return rewritten(substitute(adjoint, plain))


def _ends(statement: Statement) -> tuple[Value, ...]:
    """What the regions of a statement hand over."""
    return tuple(value for region in regions(statement) for value in terminator_values(region.terminator))


def _sum(base: Var | None, offset: int, result: Var) -> Op:
    assert base is not None
    sign = operator_constant("add" if offset > 0 else "sub")
    return Op(sign, (base, Const(abs(offset))), (result,), from_user=False)


def counter_of(items: Items) -> Linear | None:
    """The variable that counts the iterations, and what it starts with."""
    match items:
        case Enumerate(start=Const(value=int(start)), index=index):
            return index, start
        case Enumerate(inner=inner):
            return counter_of(inner)
        case Range(arguments=(_,), item=item):
            return item, 0
        case Range(arguments=(Const(value=int(start)), _), item=item):
            return item, start
        case Zip(inners=inners):
            return next((found for inner in inners if (found := counter_of(inner)) is not None), None)
    return None


def counters_of(items: Items) -> Iterator[Var]:
    """The variables that count upwards or downwards."""
    match items:
        case Enumerate(inner=inner, index=index):
            yield index
            yield from counters_of(inner)
        case Range(item=item) | Reversed(inner=Range(item=item)):
            yield item
        case Zip(inners=inners):
            for inner in inners:
                yield from counters_of(inner)


@dataclass
class _Numbers:
    """`numbers` and `lengths` are those of variables in terms of counters, and of the length that the state of a loop has when
    an iteration begins; `lengths_of_state` is what becomes of the latter. `loop_of` has the loop that makes each number, and
    `least` what a counter begins with."""

    kinds: Mapping[Var, Kind]
    numbers: dict[Var, Linear] = field(default_factory=dict)
    lengths: dict[Var, Linear] = field(default_factory=dict)
    lengths_of_state: dict[Var, Linear | None] = field(default_factory=dict)
    loop_of: dict[Var, int | None] = field(default_factory=dict)
    counters: set[Var] = field(default_factory=set)
    least: dict[Var, int] = field(default_factory=dict)

    def found(self) -> dict[Var, Linear]:
        """The numbers that are counters with something added."""
        found = {}
        for var, number in self.numbers.items():
            known = self.resolved(number)
            if known is not None and var not in self.counters:
                found[var] = known
        return found

    def resolved(self, number: Linear) -> Linear | None:
        base, offset = number
        while base in self.lengths_of_state:
            known = self.lengths_of_state[base]
            if known is None:
                return None
            base, offset = known[0], known[1] + offset
        return base, offset

    def region(self, region: Region, loop: int | None) -> None:
        for statement in region.statements:
            match statement:
                case Op():
                    self.operation(statement, loop)
                case While() | For():
                    self.loop(statement)
                case If(then=then, orelse=orelse, results=results):
                    self.region(then, loop)
                    self.region(orelse, loop)
                    if isinstance(then.terminator, Yield) and isinstance(orelse.terminator, Yield):
                        for result, *values in zip(results, then.terminator.values, orelse.terminator.values, strict=True):
                            left, right = map(self.length, values)
                            if left is not None and left == right:
                                self.lengths[result] = left
                case _:
                    for nested in regions(statement):
                        self.region(nested, loop)

    def operation(self, op: Op, loop: int | None) -> None:
        match op:
            case Op(callee=Opcode.LIST, arguments=items, results=(result,)):
                self.lengths[result] = (None, len(items))
            case Op(callee=Opcode.APPEND, arguments=(items, _), results=(result,)):
                length = self.length(items)
                if length is not None:
                    self.lengths[result] = length[0], length[1] + 1
            case Op(callee=Opcode.STORE, arguments=(items, place, *_), results=(result,)):
                length = self.length(items)
                if length is not None and self.is_number(place):
                    self.lengths[result] = length
            case Op(callee=Const(value=function), arguments=(items,), results=(result,)) if function is len:
                self.know(result, self.length(items), loop)
            case Op(callee=Const(value=function), arguments=(_, Var() as place), results=(result,)) if (
                function is from_front and self.is_never_negative(place)
            ):
                self.know(result, self.numbers[place], loop)
            case Op(callee=Const(value=function), arguments=(Var() as left, Const(value=value)), results=(result,)) if (
                function in (operator.add, operator.sub) and type(value) is int and left in self.numbers
            ):
                base, offset = self.numbers[left]
                self.know(result, (base, offset + _SIGNS[function] * value), loop)

    def is_number(self, place: Value) -> bool:
        return self.kinds.get(place) == INT if isinstance(place, Var) else isinstance(place, Const) and type(place.value) is int

    def is_never_negative(self, place: Var) -> bool:
        """Whether a place that counts upwards is one from the front."""
        base, offset = self.numbers.get(place, (None, 0))
        return base is not None and self.least.get(base, -1) + offset >= 0 and self.kinds.get(place) == INT

    def know(self, var: Var, number: Linear | None, loop: int | None) -> None:
        if number is not None:
            self.numbers[var] = number
            self.loop_of[var] = loop

    def length(self, value: Value) -> Linear | None:
        return self.lengths.get(value) if isinstance(value, Var) else None

    def counter(self, statement: For) -> Linear | None:
        """What counts the iterations of a loop, with what it begins with."""
        for var in counters_of(statement.items):
            self.counters.add(var)
            self.know(var, (var, 0), id(statement))
        counter = counter_of(statement.items)
        if counter is not None and counter[0] is not None:
            self.least[counter[0]] = counter[1]
        return counter

    def loop(self, statement: While | For) -> None:
        counter = self.counter(statement) if isinstance(statement, For) else None
        before = tuple(map(self.length, statement.initial))
        for parameter, length in zip(statement.parameters, before, strict=True):
            if length is not None:
                self.lengths[parameter] = parameter, 0
                self.lengths_of_state[parameter] = None
        for nested in regions(statement):
            self.region(nested, id(statement))
        edges = [edge for edge in terminators(statement.body, of_inner_loops=False) if isinstance(edge, Continue)]
        for place, (parameter, length) in enumerate(zip(statement.parameters, before, strict=True)):
            if length is None:
                continue
            after = {self.length(edge.values[place]) for edge in edges}
            if after <= {(parameter, 0)}:
                self.lengths_of_state[parameter] = length
            elif after == {(parameter, 1)} and counter is not None:
                known = self.resolved(length)
                if known is not None and known[0] is None:
                    self.lengths_of_state[parameter] = counter[0], known[1] - counter[1]
