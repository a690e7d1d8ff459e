"""Sums that begin with a number, and that nobody else has: whether they are written in place cannot be seen.

    total = 0.0
    for x in xs:
        total += f(x)               becomes     total = total + f(x)        though `total` may be an array from here on

The first `+=` makes a new object, since a number cannot be written into; a later one may write into that. Nobody sees it if
nothing but further such statements has had the object before: it goes through loops and branches under its own name only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations
from typing import final

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
)
from microgradpy.ir.traversal import regions as regions_of
from microgradpy.ir.traversal import terminator_values, uses, walk

Step = tuple[int, int | str]
Place = tuple[Step, ...]
"""Where something is: the number of a statement in its region, and which of its regions, for each region inside another."""


@final
@dataclass
class _Flow:
    """What each variable may be, where it is handed on, and whether it is read otherwise. `loops` says in which loops it is
    defined."""

    sources: dict[Var, list[Value]] = field(default_factory=dict)
    handed_on: dict[Var, list[tuple[Place, bool]]] = field(default_factory=lambda: defaultdict(list))
    read: set[Value] = field(default_factory=set)
    loops: dict[Var, Place] = field(default_factory=dict)

    def hand_on(self, value: Value, place: Place, leaves: bool = False) -> None:
        if isinstance(value, Var):
            self.handed_on[value].append((place, leaves))

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
                self.read.update(rest)
            case Op() | Try():
                # What is handed on by a mark may be had by a handler.
                self.read.update(uses(statement))
                for inner in walk(Region((statement,), Yield(()))) if isinstance(statement, Try) else ():
                    self.read.update(uses(inner))
                    for region in regions_of(inner):
                        self.read.update(terminator_values(region.terminator))
            case If(then=then, orelse=orelse, results=results):
                self.read.update(uses(statement))
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
                self.read.update(uses(statement))
            self.read.update(terminator_values(loop.condition.terminator))
        self.region(loop.body, inside, (), loop)

    def is_own(self, var: Var) -> bool:
        """Whether nobody reads what a variable is, and it goes on along one way only, as often as it is made."""
        places = self.handed_on[var]
        once = all(_loops(place) == self.loops[var] for place, _ in places)
        return var not in self.read and once and all(_exclude(*pair) for pair in combinations(places, 2))


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


def own_sums(function: Function) -> frozenset[Var]:
    """The results of the `+=`, `-=` and `*=` whose targets are such sums."""
    flow = _Flow()
    flow.region(function.body, (), (), None)
    own = {var for var, sources in flow.sources.items() if sources}
    while True:
        wrong = {var for var in own if not all(_is_own_or_number(source, own, flow) for source in flow.sources[var])}
        if not wrong:
            break
        own -= wrong
    return frozenset(own & {s.result for s in walk(function.body) if isinstance(s, Op) and is_augmented(s)})


def _is_own_or_number(value: Value, own: set[Var], flow: _Flow) -> bool:
    if isinstance(value, Var):
        return value in own and flow.is_own(value)
    return isinstance(value, Const) and type(value.value) in (int, float, complex)
