"""Sums that begin with a number or with the result of arithmetic, and that nobody else has: whether they are written in
place cannot be seen.

    total = 0.0
    for x in xs:
        total += f(x)               becomes     total = total + f(x)        though `total` may be an array from here on
        y = 2 * total

The first `+=` makes a new object, since a number cannot be written into; a later one may write into that. Nobody sees it if
the object goes through loops and branches under its own name only. Arithmetic may read it before it is written into: what
that gives is another object.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import final

import numpy as np

from microgradpy.ad.instrument import OUT_OF_PLACE
from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.nodes import (
    Break,
    Const,
    Continue,
    For,
    Function,
    If,
    Op,
    Region,
    Return,
    Statement,
    Try,
    Value,
    Var,
    While,
    Yield,
    function_constant,
    operator_constant,
)
from microgradpy.ir.traversal import regions as regions_of
from microgradpy.ir.traversal import terminator_values, uses, walk

Step = tuple[int, int | str]
Place = tuple[Step, ...]
"""Where something is: the number of a statement in its region, and which of its regions, for each region inside another."""


@final
@dataclass
class _Flow:
    """What each variable may be, where it is handed on, where it is `calculated` with, and whether it is read otherwise.
    `loops` says in which loops it is defined."""

    sources: dict[Var, list[Value]] = field(default_factory=dict)
    handed_on: dict[Var, list[tuple[Place, bool]]] = field(default_factory=lambda: defaultdict(list))
    read: set[Value] = field(default_factory=set)
    calculated: dict[Var, list[Place]] = field(default_factory=lambda: defaultdict(list))
    loops: dict[Var, Place] = field(default_factory=dict)

    def hand_on(self, value: Value, place: Place, leaves: bool = False) -> None:
        if isinstance(value, Var):
            self.handed_on[value].append((place, leaves))

    def calculate(self, values: Iterable[Value], place: Place) -> None:
        for value in values:
            if isinstance(value, Var):
                self.calculated[value].append(place)

    def define(self, var: Var, sources: Iterable[Value], place: Place) -> None:
        self.sources[var] = list(sources)
        self.loops[var] = _loops(place)

    def region(self, region: Region, place: Place, results: tuple[Var, ...], loop: For | While | None) -> None:
        for number, statement in enumerate(region.statements):
            self.statement(statement, (*place, (number, "")), loop)
        end = (*place, (len(region.statements), ""))
        match region.terminator:
            case Yield(values=values):
                self.join(results, values, end)
            case Continue(values=values) if loop is not None:
                self.join(loop.parameters, values, end, leaves=True)
            case Break(values=values) if loop is not None:
                self.join(loop.results, values, end, leaves=True)
            case Return(value=value):
                self.hand_on(value, end, leaves=True)
            case terminator:
                self.read.update(terminator_values(terminator))

    def join(self, variables: tuple[Var, ...], values: tuple[Value, ...], place: Place, leaves: bool = False) -> None:
        for var, value in zip(variables, values, strict=True):
            self.sources[var].append(value)
            self.hand_on(value, place, leaves)

    def statement(self, statement: Statement, place: Place, loop: For | While | None) -> None:
        match statement:
            case Op(arguments=(target, *rest)) if is_augmented(statement):
                self.define(statement.result, (target,), place)
                self.hand_on(target, place)
                self.calculate(rest, place)
            case Op() if is_arithmetic(statement):
                self.define(statement.result, (), place)
                self.calculate(statement.arguments, place)
            case Op() | Try():
                # What is handed on by a mark may be had by a handler.
                self.read.update(uses(statement))
                for inner in walk(Region((statement,), Yield(()))) if isinstance(statement, Try) else ():
                    self.read.update(uses(inner))
                    for region in regions_of(inner):
                        self.read.update(terminator_values(region.terminator))
            case If(then=then, orelse=orelse, results=results):
                self.calculate(uses(statement), place)
                for result in results:
                    self.define(result, (), place)
                for arm, region in enumerate((then, orelse)):
                    self.region(region, (*place[:-1], (place[-1][0], arm)), results, loop)
            case While() | For():
                self.loop(statement, place)

    def loop(self, loop: For | While, place: Place) -> None:
        self.read.update(set(uses(loop)) - set(loop.initial))
        inside = (*place[:-1], (place[-1][0], "loop"))
        for parameter, value in zip(loop.parameters, loop.initial, strict=True):
            self.define(parameter, (value,), inside)
            self.hand_on(value, place)
        for result, parameter in zip(loop.results, loop.parameters, strict=True):
            self.define(result, (parameter,), place)
        if isinstance(loop, While):
            for statement in walk(loop.condition):
                if isinstance(statement, Op) and is_arithmetic(statement):
                    self.calculate(statement.arguments, (*inside, (-1, "")))
                else:
                    self.read.update(uses(statement))
            self.calculate(terminator_values(loop.condition.terminator), (*inside, (-1, "")))
        self.region(loop.body, inside, (), loop)

    def is_own(self, var: Var) -> bool:
        """Whether nobody else has what a variable is, and it goes on along one way only, as often as it is made, after which
        it is not calculated with."""
        places = self.handed_on[var]
        once = all(_loops(place) == self.loops[var] for place, _ in places)
        if var in self.read or not once or not all(_exclude(*pair) for pair in combinations(places, 2)):
            return False
        return all(_is_before(read, place) for read in self.calculated[var] for place in places)


def is_arithmetic(op: Op) -> bool:
    """Whether an operation gives a new number or array."""
    if not isinstance(op.callee, Const) or op.keywords or len(op.results) != 1:
        return False
    function = op.callee.value
    is_of_numpy = isinstance(function, np.ufunc) and getattr(np, function.__name__, None) is function
    return (is_of_numpy and len(op.arguments) == function.nin) or op.callee in _NEW


_NEW = frozenset(
    operator_constant(name)
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "abs", "not_"),
        *("lt", "le", "gt", "ge", "eq", "ne", "is_", "is_not"),
    )
) | frozenset(function_constant(f) for f in (abs, len, float, *(f for f in vars(math).values() if callable(f))))


def is_augmented(op: Op) -> bool:
    return isinstance(op.callee, Const) and op.callee in _AUGMENTED and len(op.arguments) == 2


_AUGMENTED = frozenset(Const(function) for function in OUT_OF_PLACE if function.__name__ in ("iadd", "isub", "imul"))
"""Of these it can be told beforehand what they make of an array's shape and dtype."""


def _loops(place: Place) -> Place:
    """The loops around a place."""
    inner = max((depth for depth, (_, arm) in enumerate(place) if arm == "loop"), default=-1)
    return place[: inner + 1]


def _exclude(a: tuple[Place, bool], b: tuple[Place, bool]) -> bool:
    """Whether a run that comes by one of two places does not come by the other, before the variable is made again."""
    for (number, arm), (other, other_arm) in zip(a[0], b[0], strict=False):
        if number != other:
            return a[1] if number < other else b[1]
        if arm != other_arm:
            return isinstance(arm, int) and isinstance(other_arm, int)
    return False


def _is_before(read: Place, place: tuple[Place, bool]) -> bool:
    """Whether a run reads a variable at one place before it comes by another one, or does not come by both."""
    for (number, arm), (other, other_arm) in zip(read, place[0], strict=False):
        if number != other:
            return number < other or place[1]
        if arm != other_arm:
            return isinstance(arm, int) and isinstance(other_arm, int)
    return True


@final
@dataclass(frozen=True, slots=True)
class Sums:
    """The results of the `+=`, `-=` and `*=` whose targets are such sums: `begin` has the variables that each begins with, and
    what is said here holds if they are numbers. `parts` is what may be one of the sums before that."""

    begin: Mapping[Var, frozenset[Var]] = field(default_factory=dict)
    parts: frozenset[Var] = frozenset()


def own_sums(function: Function) -> Sums:
    """The sums of a function."""
    flow = _Flow()
    flow.region(function.body, (), (), None)
    begin, parts = dict[Var, frozenset[Var]](), set[Var]()
    for statement in walk(function.body):
        if isinstance(statement, Op) and is_augmented(statement) and statement.result in flow.sources:
            found = _begin(statement.result, flow)
            if found is not None:
                begin[statement.result], before = found
                parts |= before
    return Sums(begin, frozenset(parts))


def _begin(var: Var, flow: _Flow) -> tuple[frozenset[Var], set[Var]] | None:
    """The variables that a sum may begin with, and those in which it goes on; None if it may begin with a constant that is no
    number."""
    waiting, parts, found = [var], {var}, set[Var]()
    while waiting:
        for source in flow.sources[waiting.pop()]:
            if not isinstance(source, Var):
                if not isinstance(source, Const) or type(source.value) not in (int, float, complex):
                    return None
            elif source not in flow.sources or not flow.is_own(source):
                found.add(source)
            elif source not in parts:
                parts.add(source)
                waiting.append(source)
    return frozenset(found), parts
