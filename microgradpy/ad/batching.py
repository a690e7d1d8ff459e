"""`batched`: a function in SSA, for many directions at once.

    x_dot = p_dot[1:]                     x_dot = p_dot[:, 1:]
    y_dot = np.sum(x_dot * x)    becomes  y_dot = np.sum(x_dot * x, axis=1)
    t_dot = y_dot * x                     t_dot = y_dot[:, None] * x

Some inputs have a leading axis for the directions, those of a pushforward its tangents; so has, then, what is computed of
them, the numbers and arrays in tuples, lists and dicts alike. First it is found out which variables `carry` the axis
(`ad.batch_marks`); then each operation that reads one is written anew, by a table (`ad.batched_operations`,
`ad.batched_calls`). That needs to know of how many axes a value is, where it meets one of another number of axes. What the
table does not have is `NotBatched`: then the directions go one by one. Nothing is tried out.

The function gets one more parameter, the number of directions. There is at least one.
"""

from __future__ import annotations

import itertools
from typing import Protocol, final

from microgradpy.ad.batch_marks import Marks, with_sums
from microgradpy.ad.batched_calls import METHODS, RULES, per_direction
from microgradpy.ad.batched_operations import ROWS, Mark, NotBatched, Rules, rank_of, result_marks
from microgradpy.dataclasses import dataclass, replace
from microgradpy.ir.builder import Builder
from microgradpy.ir.kinds import INT, UNKNOWN, Array, Kind, Scalar, Sequence, TupleOf, is_numeric
from microgradpy.ir.nodes import (
    CHANGING,
    UNDEFINED,
    Break,
    Const,
    Continue,
    For,
    Function,
    If,
    Op,
    Opcode,
    Parameter,
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
from microgradpy.ir.traversal import terminator_values, terminators, uses, walk
from microgradpy.tangents.batches import spread
from microgradpy.tangents.strong_zeros import kept_tangent


class BatchServices(Protocol):
    """What the pass asks of the compiler."""

    def batched_call(self, callee: Const, marks: tuple[Mark, ...]) -> tuple[Const, Mark]:
        """The function that stands for a generated one, of arguments with these marks, and the mark of its result. Raises
        NotBatched."""

    def call_by_rows(self, callee: Const, marks: tuple[Mark, ...], reason: NotBatched) -> tuple[Const, Mark]:
        """What calls such a function for one direction after the other, and the mark of its result. Raises the reason why there
        is no function for many, where that would not be the same."""


@final
@dataclass(frozen=True, slots=True)
class Batched:
    """A function for many directions, and the mark of what it returns. It `is_of_numbers` if most of what carries the axis are
    numbers in one direction."""

    function: Function
    mark: Mark
    is_of_numbers: bool


def batched(function: Function, given: tuple[Mark, ...], services: BatchServices) -> Batched:
    """The function for inputs that carry the axis as `given` says. Raises NotBatched."""
    function = replace(function, kinds=with_sums(function))
    marks = Marks(function, services)
    for var, mark in zip(function.inputs, given, strict=True):
        marks.add(var, mark)
    marks.find()
    kinds = {var: carried_kind(kind, marks.of(var)) for var, kind in function.kinds.items()}
    directions = fresh("directions")
    taken = {parameter.name for parameter in function.parameters} | {var.hint for var in function.captured}
    name = "directions"
    while name in taken:
        name += "_"
    writer = _Writer(function.kinds, marks, services, directions, Builder(kinds=kinds), RULES, per_direction, METHODS)
    writer.builder.kinds[directions] = INT
    body = writer.region(function.body)
    read = itertools.chain(*map(uses, walk(body)), *map(terminator_values, terminators(body)))
    if not writer.methods.keys().isdisjoint(read):
        raise NotBatched("a method as a value")
    parameters = (*function.parameters, Parameter(directions, name))
    made = replace(function, parameters=parameters, body=body, kinds=writer.builder.kinds)
    made_ops = (op for op in walk(function.body) if isinstance(op, Op) and op.callee not in CHANGING)
    computed = itertools.chain.from_iterable(op.results for op in made_ops)
    ranks = [rank_of(function.kinds.get(var, UNKNOWN)) for var in computed if marks.of(var) is True]
    return Batched(made, marks.result, 2 * ranks.count(0) > len(ranks))


def carried_kind(kind: Kind, mark: Mark) -> Kind:
    """What is proven of a value that carries the axis, from what is proven of it in one direction."""
    match kind, mark:
        case _, False:
            return kind
        case _, str():
            return UNKNOWN
        case Scalar(), _:
            return Array(1, "float")
        case Array(ndim=int(rank)), _:
            return Array(rank + 1, "float")
        case TupleOf(items=items), tuple() if len(items) == len(mark):
            return TupleOf(tuple(map(carried_kind, items, mark)))
        case TupleOf(items=items), True:
            return TupleOf(tuple(carried_kind(item, is_numeric(item) or not isinstance(item, Scalar)) for item in items))
        case Sequence(name="list" | "dict" | "tuple" as name, item=item, keys=keys), _:
            return Sequence(name, carried_kind(item, True), (), keys)
    return UNKNOWN


@dataclass
class _Writer(Rules):
    """Writes the function anew. `wanted` are the marks of what the innermost statements hand on."""

    yielded: tuple[Mark, ...] = ()
    carried: tuple[Mark, ...] = ()
    left: tuple[Mark, ...] = ()

    def mark(self, value: Value) -> Mark:
        found: Mark = self.marks.of(value)
        return found

    def as_marked(self, value: Value, mark: Mark) -> Value:
        """A value as one of another mark, which says more."""
        if value is UNDEFINED:
            return value
        return self.converted(value, self.kind(value), self.mark(value), mark)

    def converted(self, value: Value, kind: Kind, own: Mark, mark: Mark) -> Value:
        if own == mark or mark is False or (isinstance(value, Const) and value.value is None):
            return value
        if ROWS in (own, mark):
            raise NotBatched("what calls have saved in different ways")
        if isinstance(kind, TupleOf) and (isinstance(own, tuple) or isinstance(mark, tuple)):
            count = len(kind.items)
            before = own if isinstance(own, tuple) else (own,) * count
            after = mark if isinstance(mark, tuple) else (mark,) * count
            if len(before) == count == len(after):
                kinds = tuple(map(carried_kind, kind.items, before))
                parts = self.builder.operation(Opcode.UNPACK, (value,), kinds=kinds)
                return self.tuple_of(*map(self.converted, parts, kind.items, before, after))
        if own is not False or mark is not True:
            raise NotBatched("a tuple of which some items depend on the direction")
        hints = (value.hint if isinstance(value, Var) else "",)
        spreading = function_constant(spread)
        return self.builder.operation(spreading, (value, self.directions), kinds=(carried_kind(kind, True),), hints=hints)[0]

    def all_marked(self, values: tuple[Value, ...], marks: tuple[Mark, ...]) -> tuple[Value, ...]:
        return tuple(map(self.as_marked, values, marks))

    def region(self, region: Region) -> Region:
        with self.builder.region() as statements:
            for statement in region.statements:
                self.builder.where = statement.where
                self.statement(statement)
            end = self.terminator(region.terminator)
        return self.builder.seal(statements, end)

    def terminator(self, end: Terminator) -> Terminator:
        match end:
            case Yield(values=values):
                return Yield(self.all_marked(values, self.yielded))
            case Continue(values=values):
                return Continue(self.all_marked(values, self.carried))
            case Break(values=values):
                return Break(self.all_marked(values, self.left))
            case Return(value=value, where=where):
                return Return(self.as_marked(value, self.marks.result), where)
        return end

    def of(self, variables: tuple[Var, ...]) -> tuple[Mark, ...]:
        return tuple(map(self.mark, variables))

    def statement(self, statement: Statement) -> None:
        match statement:
            case Op():
                self.operation(statement)
                return
            case If():
                self.branch(statement)
                return
            case Try():
                self.builder.add(statement)
                return
        outer = self.yielded, self.carried, self.left
        initial = self.all_marked(statement.initial, self.of(statement.parameters))
        self.carried, self.left = self.of(statement.parameters), self.of(statement.results)
        if self.carried != self.left:
            raise NotBatched("a loop", statement.where)
        if isinstance(statement, While):
            self.yielded = (False,)
            condition = self.region(statement.condition)
            end = condition.terminator
            if isinstance(end, Yield) and self.mark(end.values[0]) is not False:
                raise NotBatched("a condition", statement.where)
            made: While | For = replace(statement, condition=condition, body=self.region(statement.body), initial=initial)
        else:
            items = map_items(statement.items, self.source)
            made = replace(statement, items=items, body=self.region(statement.body), initial=initial)
        self.yielded, self.carried, self.left = outer
        self.builder.add(made)

    def source(self, value: Value) -> Value:
        """What a loop runs over."""
        if self.mark(value) is True and self.is_array(value):
            return self.by_items(value)
        return value

    def branch(self, statement: If) -> None:
        outer, self.yielded = self.yielded, self.of(statement.results)
        if self.mark(statement.condition) is not False:
            self.kept_part(statement)
        else:
            then, orelse = self.region(statement.then), self.region(statement.orelse)
            self.builder.add(replace(statement, then=then, orelse=orelse))
        self.yielded = outer

    def kept_part(self, statement: If) -> None:
        """`y_dot if x_dot else 0.0`: a part of a tangent, which is zero where another one is."""
        x_dot, then, orelse = statement.condition, statement.then.terminator, statement.orelse.terminator
        is_part = isinstance(then, Yield) and isinstance(orelse, Yield) and not statement.orelse.statements
        if not is_part or len(statement.results) != 1 or orelse.values != (Const(0.0),) or self.rank(x_dot) != 0:  # type: ignore[union-attr]
            raise NotBatched("a branch on a tangent", statement.where)
        if rank_of(self.of_one.get(statement.results[0], UNKNOWN)) != 0:
            raise NotBatched("a branch on a tangent", statement.where)
        kind = carried_kind(Scalar("float"), True)
        (any_dot,) = self.builder.operation(Const(getattr, "getattr", getattr), (x_dot, Const("any")))
        moves = self.builder.operation(any_dot, (), kinds=(Scalar("bool"),))[0]
        with self.builder.region() as statements:
            for inner in statement.then.statements:
                self.builder.where = inner.where
                self.statement(inner)
            (y_dot,) = self.all_marked(then.values, (True,))  # type: ignore[union-attr]
            part = self.builder.operation(function_constant(kept_tangent), (x_dot, y_dot), kinds=(kind,))[0]
        arms = self.builder.seal(statements, Yield((part,))), self.builder.seal([], Yield((x_dot,)))
        self.builder.add(If(moves, *arms, statement.results, statement.where))

    def operation(self, op: Op) -> None:
        if all(self.mark(value) is False for value in uses(op)):
            self.plain(op)
            return
        made = self.rewritten(op)
        if made is None:
            return
        if result_marks(op, self.marks) == (False,) and self.of(op.results) == (True,):
            self.plain(made)
        else:
            self.builder.add(made)

    def plain(self, op: Op) -> None:
        """An operation that does not depend on the direction, whose result may have to be written into by what does."""
        marks = self.of(op.results)
        if all(mark is False for mark in marks) or op.callee is Opcode.TAPE:
            self.builder.add(op)
            return
        if len(op.results) != 1 or marks != (True,):
            raise NotBatched("what is written into", op.where)
        if op.callee is Opcode.LIST:
            self.builder.add(replace(op, arguments=tuple(self.as_marked(value, True) for value in op.arguments)))
            return
        (result,) = op.results
        before = self.builder.variable(self.of_one.get(result, UNKNOWN))
        self.builder.add(replace(op, results=(before,)))
        self.builder.add(Op(function_constant(spread), (before, self.directions), (result,), from_user=False, where=op.where))
