"""Which variables of a function have a leading axis for the directions, if some of its inputs have: the least that
operations, and the ways through branches, loops and writes, make necessary.
"""

from __future__ import annotations

import operator
from typing import Any

from microgradpy.ad.batched_callees import callee_of, is_elementwise
from microgradpy.ad.batched_operations import (
    Mark,
    NotBatched,
    item_mark,
    merged,
    rank_of,
    result_marks,
)
from microgradpy.ir.input_kinds import kind_of
from microgradpy.ir.kinds import FLOAT, INT, UNKNOWN, Array, Kind, Sequence
from microgradpy.ir.nodes import (
    CHANGING,
    Each,
    Enumerate,
    For,
    Function,
    If,
    Items,
    Op,
    Opcode,
    Records,
    Region,
    Return,
    Reversed,
    Statement,
    Try,
    Value,
    Var,
    While,
    Zip,
)
from microgradpy.ir.traversal import flows, item_sources, regions, uses, walk


def with_sums(function: Function) -> dict[Var, Kind]:
    """The kinds with those of sums and products, which are not known where an adjoint computes them again, for example."""
    kinds = dict(function.kinds)
    for op in walk(function.body):
        if not isinstance(op, Op) or len(op.results) != 1 or rank_of(kinds.get(op.results[0], UNKNOWN)) is not None:
            continue
        if not is_elementwise(op) or callee_of(op) is operator.pow:
            continue
        values = [kinds.get(value, UNKNOWN) if isinstance(value, Var) else kind_of(value.value) for value in op.arguments]
        ranks = [rank for kind in values if (rank := rank_of(kind)) is not None]
        if len(ranks) == len(values):
            is_whole = callee_of(op) in (operator.add, operator.sub, operator.mul) and all(kind == INT for kind in values)
            kinds[op.results[0]] = INT if is_whole else Array(max(ranks), "float") if any(ranks) else FLOAT
    return kinds


class Marks:
    """Which variables carry the axis: the least that inputs, operations, and the ways between them make necessary."""

    def __init__(self, function: Function, services: Any) -> None:
        self.function, self.services = function, services
        self.known: dict[Var, Mark] = {}
        self.result: Mark = False
        self.changed = False
        self.made = {op.results[0]: op for op in walk(function.body) if isinstance(op, Op) and len(op.results) == 1}
        self.together = written_together(function)
        stores = [op for op in walk(function.body) if isinstance(op, Op) and op.callee is Opcode.STORE]
        self._stores = [op.arguments[0] for op in stores if not isinstance(function.kinds.get(op.results[0]), Sequence)]

    @property
    def writes_arrays(self) -> bool:
        """Whether something that carries the axis is written into what may be an array."""
        return any(self.of(value) is not False for value in self._stores)

    def of(self, value: Value) -> Mark:
        return self.known.get(value, False) if isinstance(value, Var) else False

    def add(self, var: Var, mark: Mark) -> None:
        known = self.known.get(var, False)
        found = merged(known, mark)
        if found != known:
            self.known[var], self.changed = found, True

    def find(self) -> None:
        self.changed = True
        while self.changed:
            self.changed = False
            self.region(self.function.body)
            for group in self.together:
                mark: Mark = False
                for var in group:
                    mark = merged(mark, self.of(var))
                if mark is not False:
                    for var in group:
                        self.add(var, mark)

    def region(self, region: Region) -> None:
        for statement in region.statements:
            self.statement(statement)
        if isinstance(end := region.terminator, Return):
            self.result = merged(self.result, self.of(end.value))

    def statement(self, statement: Statement) -> None:
        match statement:
            case Op():
                self.operation(statement)
                return
            case For(items=items):
                self.items(items)
            case Try() if any(self.of(value) is not False for inner in walk(statement.body) for value in uses(inner)):
                raise NotBatched("an attempt", statement.where)
        for inner in regions(statement):
            self.region(inner)
        if isinstance(statement, If) and self.of(statement.condition) is not False:
            for var in statement.results:
                self.add(var, True)
        for value, var in flows((statement,)):
            self.add(var, self.of(value))
        if isinstance(statement, While | For):  # a loop that is not left by `break` gives its state
            for result, parameter in zip(statement.results, statement.parameters, strict=True):
                self.add(parameter, self.of(result))

    def operation(self, op: Op) -> None:
        match op:
            case Op(callee=Opcode.RECORD, arguments=(Var() as tape, *fields)):
                marks = tuple(map(self.of, fields))
                self.add(tape, marks if any(mark is not False for mark in marks) else False)
                return
        for var, mark in zip(op.results, result_marks(op, self), strict=True):
            self.add(var, mark)

    def items(self, items: Items) -> None:
        match items:
            case Each(source=source, item=item):
                self.add(item, item_mark(self.of(source)))
            case Enumerate(inner=inner) | Reversed(inner=inner):
                self.items(inner)
            case Zip(inners=inners):
                for inner in inners:
                    self.items(inner)
            case Records(tape=tape, fields=fields):
                mark = self.of(tape)
                for number, var in enumerate(fields):
                    self.add(var, mark[number] if isinstance(mark, tuple) else mark)
            case _ if any(self.of(value) is not False for value in item_sources(items)):
                raise NotBatched("an iteration")


def written_together(function: Function) -> list[set[Var]]:
    """The variables that are names of one list, dict or array, which somebody writes into."""
    changed = [(op.arguments[0], op.results[0]) for op in walk(function.body) if isinstance(op, Op) and op.callee in CHANGING]
    names: dict[Var, set[Var]] = {}
    for value, var in (*flows(walk(function.body)), *changed):
        if isinstance(value, Var):
            names.setdefault(value, set()).add(var)
            names.setdefault(var, set()).add(value)
    groups: list[set[Var]] = []
    for _, first in changed:
        if any(first in group for group in groups):
            continue
        group, waiting = set[Var](), [first]
        while waiting:
            var = waiting.pop()
            if var not in group:
                group.add(var)
                waiting += names.get(var, ())
        groups.append(group)
    return groups
