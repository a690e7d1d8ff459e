"""What of the result of a generated function depends on the direction, if it is called for one direction after the other.

    (y, y_dot), saved = f_primal(x, x_dot)        y does not depend on x_dot, whatever is in between

This is only an upper bound, for texts that `ad.batching` refuses: what is computed of something that depends is taken to
depend, and so is what a branch or a loop chooses by it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

from microgradpy.ad.batch_marks import written_together
from microgradpy.ad.batched_callees import callee_of
from microgradpy.ad.batched_operations import Mark, NotBatched, merged, result_marks
from microgradpy.dataclasses import dataclass
from microgradpy.ir.nodes import CHANGING, Const, For, Function, If, Op, Return, Statement, Try, Value, Var, While
from microgradpy.ir.traversal import flows, item_sources, item_variables, terminator_values, terminators, uses, walk
from microgradpy.tangents.arithmetic import add_item, item_cotangent


class Texts(Protocol):
    """The functions that are called."""

    def key(self, callee: Const) -> Hashable:
        """What is the same for all constants that stand for one function."""

    def function(self, key: Any) -> Function | None:
        """The function; None if it is not to be looked at."""


def writes_inputs(function: Function) -> bool:
    """Whether a function may write into a list, a dict or an array that it is given."""
    if not any(isinstance(op, Op) and op.callee in CHANGING for op in walk(function.body)):
        return False
    return any(not group.isdisjoint(function.inputs) for group in written_together(function))


def dependence(callee: Const, given: tuple[Mark, ...], texts: Texts) -> Mark:
    """What of its result depends on the direction if arguments do as `given` says."""
    called = _Called(texts, {})
    called.batched_call(callee, given)
    known = called.known
    (asked,) = known
    while True:  # functions that call themselves are looked at until nothing changes
        before = dict(known)
        for key, marks in before:
            function = texts.function(key)
            known[key, marks] = True if function is None else _Dependence(function, marks, called).result()
        if known == before:
            return known[asked]


@dataclass
class _Called:
    """What is known of functions that are called; of those that nobody has asked about, that nothing depends."""

    texts: Texts
    known: dict[tuple[Hashable, tuple[Mark, ...]], Mark]

    def batched_call(self, callee: Const, marks: tuple[Mark, ...]) -> tuple[Const, Mark]:
        return callee, self.known.setdefault((self.texts.key(callee), tuple(map(_shallow, marks))), False)


class _Dependence:
    """Which variables of a function depend on the direction."""

    def __init__(self, function: Function, given: tuple[Mark, ...], services: _Called) -> None:
        self.function, self.services = function, services
        self.found: dict[Value, Mark] = dict(zip(function.inputs, given, strict=True))
        self.statements = list(walk(function.body))

    def of(self, value: Value) -> Mark:
        return self.found.get(value, False)

    def add(self, var: Var, mark: Mark) -> None:
        self.found[var] = merged(self.of(var), mark)

    def depends(self, values: Sequence[Value]) -> bool:
        return any(self.of(value) is not False for value in values)

    def result(self) -> Mark:
        groups = written_together(self.function)
        before = None
        while self.found != before:
            before = dict(self.found)
            for statement in self.statements:
                if self.chooses(statement):
                    return True
                self.statement(statement)
            for value, var in flows(self.statements):
                self.add(var, self.of(value))
            for group in groups:
                if self.depends(tuple(group)):
                    self.found.update(dict.fromkeys(group, True))
        found: Mark = False
        for end in terminators(self.function.body):
            if isinstance(end, Return):
                found = merged(found, self.of(end.value))
        return _shallow(found)

    def chooses(self, statement: Statement) -> bool:
        """Whether what is run depends on the direction."""
        match statement:
            case If(condition=condition):
                return self.depends((condition,))
            case While(condition=condition):
                return self.depends(terminator_values(condition.terminator))
            case Try(body=body):
                return any(self.depends(uses(inner)) for inner in walk(body))
        return False

    def statement(self, statement: Statement) -> None:
        match statement:
            case Op() if statement.results and self.depends(uses(statement)):
                for var, mark in zip(statement.results, self.of_operation(statement), strict=True):
                    self.add(var, mark)
            case Op(arguments=(Var() as tape, *fields)) if self.depends(fields):  # a record
                self.add(tape, True)
            case For(items=items) if self.depends(item_sources(items)):
                for var in item_variables(items):
                    self.add(var, True)

    def of_operation(self, op: Op) -> tuple[Mark, ...]:
        if any(callee_of(op) is each for each in (item_cotangent, add_item)):  # whose place may depend, too
            return (True,) * len(op.results)
        try:
            return result_marks(op, self)
        except NotBatched:
            return (True,) * len(op.results)


def _shallow(mark: Mark, depth: int = 2) -> Mark:
    """A mark that says nothing of tuples in tuples in tuples: what functions that call themselves have saved has no end."""
    if not isinstance(mark, tuple):
        return mark
    if not depth:
        return any(_shallow(item, 0) for item in mark)
    return tuple(_shallow(item, depth - 1) for item in mark)


def in_every_part(mark: Mark) -> Mark:
    """A mark as one of values: what was saved row by row depends on the direction."""
    return tuple(map(in_every_part, mark)) if isinstance(mark, tuple) else mark is not False
