"""The two halves of a unit, and those of all units that it calls, as one function without tuples of saved values.

    y, helper_saved = helper_primal(x)           product = x * x                 <- the text of the callee
    return y, (x, helper_saved)                  y = product * 3.0
    ...                                          x_bar = 1.0 * 3.0 * x ...       <- and that of its adjoint, after all of the
    x_bar = helper_adjoint(helper_saved, y_bar)                                     primals

Each tape becomes a stack that outlives its loop: `Opcode.TAPE` makes one, once in a run; a list of records in the program is a
part of it, from `start` to `end`, two whole numbers that are recorded where the list would be. A loop over records reads their
fields by place.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any, final

from microgradpy.cache import Unit
from microgradpy.dataclasses import dataclass, field, nodeclass
from microgradpy.ir.nodes import (
    UNDEFINED,
    Break,
    Const,
    Continue,
    Enumerate,
    For,
    Function,
    If,
    Items,
    Location,
    Op,
    Opcode,
    Raise,
    Range,
    Records,
    Region,
    Return,
    Reversed,
    Statement,
    Terminator,
    Try,
    Undefined,
    Value,
    Var,
    While,
    Yield,
    Zip,
    fresh,
)
from microgradpy.ir.rewrite import map_items
from microgradpy.ir.traversal import item_sources, item_variables
from microgradpy.linking import Half, Source, finish
from microgradpy.native.exits import with_one_exit
from microgradpy.native.types import Unsupported

MOST_STATEMENTS = 2000
"""Longer functions take minutes to compile."""


def read_field() -> None:
    """The callee of reads of records: (stack, place, number of the field)."""


def size_of() -> None:
    """The callee of (stack,) -> how many records it has now."""


READ_FIELD, SIZE_OF = Const(read_field, "read_field", read_field), Const(size_of, "size_of", size_of)


@final
@nodeclass(frozen=True, slots=True)
class Parts:
    """A tuple, as its items."""

    items: tuple[Any, ...]


@final
@nodeclass(frozen=True, slots=True)
class Stretch:
    """Records of a stack; those to its end if that is None."""

    stack: Var
    start: Value
    end: Value | None = None


Mapped = Value | Parts | Stretch
Structure = Any
"""None of a value, a tuple of structures of `Parts`, the stack of a `Stretch`."""


@final
@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a module that the function reads: an input."""

    namespace: dict[str, Any]
    name: str
    var: Var


@final
@dataclass(frozen=True, slots=True)
class Joint:
    """`body` computes the `value` and the cotangents `bars` of `inputs`, and of the `variables` of modules that it reads."""

    name: str
    inputs: tuple[Var, ...]
    variables: tuple[Variable, ...]
    stacks: tuple[Var, ...]
    """Those that are made before anything else."""
    statements: tuple[Statement, ...]
    value: Value
    bars: tuple[Value, ...]
    where: Location


def joint_of(unit: Unit) -> Joint:
    """The halves of a unit, for the seed 1, as one function. Unsupported if there is no such function."""
    joining = _Joining()
    source = source_of(unit)
    inputs = tuple(fresh(var.hint, True) for var in source.primal.inputs)
    result = joining.inlined(unit, source.primal, inputs)
    if not isinstance(result, Parts):
        raise Unsupported("a primal that returns no pair", source.primal.where)
    value, saved = result.items
    if isinstance(value, Parts | Stretch | Undefined):
        raise Unsupported("a function that returns no number", source.primal.where)
    found = joining.inlined(unit, source.adjoint, (saved, Const(1.0)))
    bars = (found,) if unit.is_single else found.items if isinstance(found, Parts) else ()
    if len(bars) != sum(unit.active) or any(isinstance(bar, Parts | Stretch) for bar in bars):
        raise Unsupported("a cotangent that is neither a number nor an array", source.primal.where)
    where = source.primal.where
    variables = tuple(joining.variables.values())
    statements = tuple(joining.statements)
    return Joint(unit.name, inputs, variables, tuple(joining.hoisted), statements, value, tuple(bars), where)


def source_of(unit: Unit) -> Source:
    """What the halves of a unit are printed from."""
    finish(unit)
    if unit.tracks or unit.source is None:
        raise Unsupported(f"{unit.name} writes into what others have")
    source: Source = unit.source
    return source


@dataclass
class _Joining:
    """`inside`: the units whose halves are being written; `loops`: how many loops and branches are around."""

    statements: list[Statement] = field(default_factory=list)
    variables: dict[tuple[int, str], Variable] = field(default_factory=dict)
    hoisted: list[Var] = field(default_factory=list)
    structures: dict[Var, tuple[Structure, ...]] = field(default_factory=dict)
    inside: list[Any] = field(default_factory=list)
    namespaces: list[dict[str, Any]] = field(default_factory=list)
    depth: int = 0
    count: int = 0

    def inlined(self, unit: Unit, function: Function, arguments: Sequence[Mapped]) -> Mapped:
        """Write the body of a half here; what it returns."""
        if any(function is each for each in self.inside):
            raise Unsupported(f"{unit.name} calls itself", function.where)
        if len(arguments) != len(function.inputs):
            raise Unsupported(f"{unit.name} is called with other arguments", function.where)
        values: dict[Var, Mapped] = dict(zip(function.inputs, arguments, strict=True))
        body = with_one_exit(function.body)
        self.inside.append(function)
        self.namespaces.append(source_of(unit).namespace)
        self._block(body.statements, values)
        self.inside.pop()
        self.namespaces.pop()
        if not isinstance(body.terminator, Return):
            raise Unsupported("a function that always raises", function.where)
        return self._value(body.terminator.value, values)

    def _block(self, statements: Sequence[Statement], values: dict[Var, Mapped]) -> None:
        for statement in statements:
            self.count += 1
            if self.count > MOST_STATEMENTS:
                raise Unsupported(f"more than {MOST_STATEMENTS} operations", statement.where)
            try:
                self._statement(statement, values)
            except Unsupported as found:
                if not found.where.line:
                    found.where = statement.where
                raise

    def _statement(self, statement: Statement, values: dict[Var, Mapped]) -> None:
        match statement:
            case Op():
                self._operation(statement, values)
            case If():
                self._if(statement, values)
            case While() | For():
                self._loop(statement, values)
            case Try():
                raise Unsupported("a try")

    # Values

    def _value(self, value: Value, values: dict[Var, Mapped]) -> Mapped:
        if isinstance(value, Var):
            return values[value]
        if isinstance(value, Const) and type(value.value) is tuple and not value.path:
            return Parts(tuple(map(Const, value.value)))
        return value

    def _leaf(self, value: Value, values: dict[Var, Mapped]) -> Value:
        """A value as one variable or constant."""
        found = self._value(value, values)
        if isinstance(found, Parts):
            items = tuple(self._made(item) for item in found.items)
            return self._add(Opcode.TUPLE, items)
        return self._made(found)

    def _made(self, found: Mapped) -> Value:
        if isinstance(found, Stretch):
            raise Unsupported("records that are handed on")
        if isinstance(found, Parts):
            return self._add(Opcode.TUPLE, tuple(map(self._made, found.items)))
        return found

    def _add(self, callee: Opcode | Value, arguments: tuple[Value, ...]) -> Var:
        result = fresh()
        self.statements.append(Op(callee, arguments, (result,), from_user=False))
        return result

    def _leaves(self, found: Mapped) -> Iterator[Value]:
        """The values that something consists of."""
        match found:
            case Parts(items=items):
                for item in items:
                    yield from self._leaves(item)
            case Stretch(stack=stack, start=start, end=end):
                yield start
                yield self._add(SIZE_OF, (stack,)) if end is None else end
            case _:
                yield found

    def _spread(self, found: Mapped, structure: Structure) -> Iterator[Value]:
        """The same of something that has this structure or is not assigned."""
        if isinstance(found, Undefined) and structure is not None:
            yield from (UNDEFINED for _ in _vars(structure))
        elif _structure(found) != structure:
            raise Unsupported("a tuple on one path and something else on another")
        else:
            yield from self._leaves(found)

    # Operations

    def _operation(self, op: Op, values: dict[Var, Mapped]) -> None:
        match op:
            case Op(callee=Opcode.TUPLE, results=(result,)):
                values[result] = Parts(tuple(self._value(item, values) for item in op.arguments))
            case Op(callee=Opcode.UNPACK):
                self._unpack(op, values)
            case Op(callee=Opcode.TAPE, results=(result,)):
                values[result] = self._stretch(result)
            case Op(callee=Opcode.RECORD):
                self._record(op, values)
            case Op(callee=Opcode.GLOBAL, results=(result,)):
                values[result] = self._variable(op)
            case Op(callee=Const(value=Half() as half), results=(result,), keywords=()):
                source = source_of(half.unit)
                given = [self._value(argument, values) for argument in op.arguments]
                function = source.adjoint if half.is_adjoint else source.primal
                values[result] = self.inlined(half.unit, function, given)
            case Op(callee=Const(value=operator.getitem), arguments=(whole, Const(value=int(place)))) if isinstance(
                parts := self._value(whole, values), Parts
            ) and -len(parts.items) <= place < len(parts.items):
                values[op.result] = parts.items[place]
            case _:
                self._plain(op, values)

    def _plain(self, op: Op, values: dict[Var, Mapped]) -> None:
        arguments = tuple(self._leaf(argument, values) for argument in op.arguments)
        keywords = tuple((name, self._leaf(value, values)) for name, value in op.keywords)
        callee = op.callee if isinstance(op.callee, Opcode) else self._leaf(op.callee, values)
        results = tuple(_like(var) for var in op.results)
        values.update(zip(op.results, results, strict=True))
        self.statements.append(Op(callee, arguments, results, keywords, op.payload, op.from_user, op.where))

    def _unpack(self, op: Op, values: dict[Var, Mapped]) -> None:
        found = self._value(op.arguments[0], values)
        if not isinstance(found, Parts):
            self._plain(op, values)
        elif len(found.items) != len(op.results):
            raise Unsupported("a tuple is taken apart that has other items")
        else:
            values.update(zip(op.results, found.items, strict=True))

    def _variable(self, op: Op) -> Var:
        if op.arguments or not self.namespaces[-1]:
            raise Unsupported(f"the variable {op.payload} of another module")
        namespace, name = self.namespaces[-1], str(op.payload)
        key = id(namespace), name
        if key not in self.variables:
            self.variables[key] = Variable(namespace, name, fresh(name, True))
        return self.variables[key].var

    # Records

    def _stretch(self, tape: Var) -> Stretch:
        """A list of records begins: the stack is made here, or before anything else if this is in a loop or branch."""
        stack = fresh(tape.hint or "tape")
        if not self.depth:
            self.statements.append(Op(Opcode.TAPE, (), (stack,), from_user=False))
            return Stretch(stack, Const(0))
        self.hoisted.append(stack)
        return Stretch(stack, self._add(SIZE_OF, (stack,)))

    def _record(self, op: Op, values: dict[Var, Mapped]) -> None:
        tape, *fields = (self._value(argument, values) for argument in op.arguments)
        if not isinstance(tape, Stretch):
            raise Unsupported("records in a list that is none of the compiler's")
        structures = tuple(map(_structure, fields))
        known = self.structures.setdefault(tape.stack, structures)
        if len(known) != len(structures):
            raise Unsupported("records of two lengths")
        leaves = tuple(leaf for each, like in zip(fields, known, strict=True) for leaf in self._spread(each, like))
        self.statements.append(Op(Opcode.RECORD, (tape.stack, *leaves), (), from_user=False, where=op.where))

    def _items(self, items: Items, values: dict[Var, Mapped], inner: dict[Var, Mapped], reads: list[Statement]) -> Items:
        """What a loop runs over, with `inner` for what its variables are and `reads` that go before its body."""
        match items:
            case Records():
                return self._records(items, values, inner, reads)
            case Zip(inners=inners, strict=strict):
                return Zip(tuple(self._items(each, values, inner, reads) for each in inners), strict)
            case Enumerate(inner=counted, start=start, index=index):
                found = self._items(counted, values, inner, reads)
                inner[index] = bound = _like(index)
                return Enumerate(found, self._leaf(start, values), bound)
        for source in item_sources(items):
            if not isinstance(self._value(source, values), Var | Const):
                raise Unsupported("a loop over a tuple")
        new = {var: _like(var) for var in item_variables(items)}
        inner.update(new)
        return map_items(items, lambda value: self._leaf(value, values), new.__getitem__)

    def _records(
        self, items: Records, values: dict[Var, Mapped], inner: dict[Var, Mapped], reads: list[Statement]
    ) -> Items:
        """A loop over records, backwards, as one over their places; and what reads them."""
        tape = self._value(items.tape, values)
        if not isinstance(tape, Stretch):
            raise Unsupported("a loop over records that are none of the compiler's")
        place = fresh("k")
        end = self._add(SIZE_OF, (tape.stack,)) if tape.end is None else tape.end
        number = 0
        # Without records nobody knows their fields, and nothing is read.
        known = self.structures.get(tape.stack, (None,) * len(items.fields))
        for var, structure in zip(items.fields, known, strict=True):
            parts = [_like(var) if structure is None else fresh() for _ in _vars(structure)]
            for part in parts:
                reads.append(Op(READ_FIELD, (tape.stack, place, Const(number)), (part,), from_user=False))
                number += 1
            inner[var] = _rebuilt(structure, iter(parts))
        arguments = (end,) if tape.start == Const(0) else (tape.start, end)
        return Reversed(Range(arguments, place))

    # Branches and loops

    def _arm(self, statements: Sequence[Statement], values: dict[Var, Mapped]) -> tuple[list[Statement], dict[Var, Mapped]]:
        """Statements of a branch or loop."""
        before, self.statements, inner = self.statements, [], dict(values)
        self.depth += 1
        self._block(statements, inner)
        self.depth -= 1
        made, self.statements = self.statements, before
        return made, inner

    def _if(self, statement: If, values: dict[Var, Mapped]) -> None:
        condition = self._leaf(statement.condition, values)
        arms = []
        for arm in (statement.then, statement.orelse):
            made, inner = self._arm(arm.statements, values)
            arms.append((arm.terminator, made, inner))
        found: list[list[Mapped]] = [
            [self._value(value, inner) for value in end.values] for end, _, inner in arms if isinstance(end, Yield)
        ]
        structures = [_common(column) for column in zip(*found, strict=True)] or [None] * len(statement.results)
        then, orelse = (self._ended(end, made, inner, structures) for end, made, inner in arms)
        results = self._bound(statement.results, structures, values)
        self.statements.append(If(condition, then, orelse, results, statement.where))

    def _ended(
        self, end: Terminator, made: list[Statement], values: dict[Var, Mapped], structures: Sequence[Structure]
    ) -> Region:
        """A region with its terminator, whose values have these structures if it yields or goes to a loop."""
        before, self.statements = self.statements, made
        match end:
            case Yield(values=given):
                end = Yield(self._given(given, values, structures))
            case Continue(values=given):
                end = Continue(self._given(given, values, self._state))
            case Break(values=given):
                end = Break(self._given(given, values, self._state))
            case Raise():
                end = Raise(None, None, end.where)
            case Return():
                raise Unsupported("a return out of a loop")
        region = Region(tuple(self.statements), end)
        self.statements = before
        return region

    _state: Sequence[Structure] = ()
    """The structures of what the innermost loop carries."""

    def _given(self, given: tuple[Value, ...], values: dict[Var, Mapped], structures: Sequence[Structure]) -> tuple[Value, ...]:
        pairs = zip(given, structures, strict=True)
        return tuple(leaf for value, like in pairs for leaf in self._spread(self._value(value, values), like))

    def _bound(self, variables: tuple[Var, ...], structures: Sequence[Structure], values: dict[Var, Mapped]) -> tuple[Var, ...]:
        """New variables for these, of such structures."""
        bound = []
        for var, structure in zip(variables, structures, strict=True):
            parts = [_like(var)] if structure is None else [fresh() for _ in _vars(structure)]
            values[var] = _rebuilt(structure, iter(parts))
            bound += parts
        return tuple(bound)

    def _loop(self, loop: While | For, values: dict[Var, Mapped]) -> None:
        initial = [self._value(value, values) for value in loop.initial]
        state = list(map(_structure, initial))
        started = tuple(leaf for each in initial for leaf in self._leaves(each))
        inner = dict(values)
        reads = list[Statement]()
        items = self._items(loop.items, values, inner, reads) if isinstance(loop, For) else None
        parameters = self._bound(loop.parameters, state, inner)
        outer, self._state = self._state, state
        body, ended = self._arm(loop.body.statements, inner)
        self._state = state
        region = self._ended(loop.body.terminator, [*reads, *body], ended, state)
        if isinstance(loop, While):
            made, tested = self._arm(loop.condition.statements, inner)
            condition = self._ended(loop.condition.terminator, made, tested, [None])
        self._state = outer
        results = self._bound(loop.results, state, values)
        if items is None:
            self.statements.append(While(condition, region, parameters, started, results, loop.where))
        else:
            self.statements.append(For(items, region, parameters, started, results, loop.where))


def _like(var: Var) -> Var:
    return fresh(var.hint, var.user_named)


def _structure(found: Mapped) -> Structure:
    match found:
        case Parts(items=items):
            return tuple(map(_structure, items))
        case Stretch(stack=stack):
            return stack
    return None


def _vars(structure: Structure) -> Iterator[None]:
    """As many items as there are values in something of this structure."""
    if isinstance(structure, tuple):
        for each in structure:
            yield from _vars(each)
    else:
        yield from (None,) if structure is None else (None, None)


def _rebuilt(structure: Structure, leaves: Iterator[Var]) -> Mapped:
    if isinstance(structure, tuple):
        return Parts(tuple(_rebuilt(each, leaves) for each in structure))
    return next(leaves) if structure is None else Stretch(structure, next(leaves), next(leaves))


def _common(column: Sequence[Mapped]) -> Structure:
    """The structure of what is one of these, of which some may not be assigned."""
    known = [_structure(each) for each in column if not isinstance(each, Undefined)]
    return known[0] if known else None
