"""A joint function with the type of each variable, and with tests where Python would raise, warn, or need larger numbers:

ratio = x / y           if y == 0.0:
                            return FAILED
                        ratio = x / y
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.ir.nodes import (
    NOWHERE,
    Break,
    Const,
    Continue,
    For,
    If,
    Items,
    Location,
    Op,
    Opcode,
    Raise,
    Region,
    Return,
    Statement,
    Terminator,
    Undefined,
    Value,
    Var,
    While,
    Yield,
    fresh,
)
from microgradpy.ir.rewrite import map_items
from microgradpy.ir.traversal import terminator_values
from microgradpy.native import operations
from microgradpy.native.calls import COPY, FAILED, IS_FINITE, IS_FINITE_NUMBER, MAKING
from microgradpy.native.iteration import MOST_ITEMS_BITS, condition_before, item_types, test_of_items
from microgradpy.native.joint import READ_FIELD, SIZE_OF, Joint
from microgradpy.native.sinks import with_fewer_tests
from microgradpy.native.types import (
    EXACT_BITS,
    FLOAT,
    NONE,
    ArrayOf,
    Known,
    Maybe,
    Number,
    Tape,
    Truth,
    Type,
    Unsupported,
    join,
    stand_in,
    type_of,
    whole,
    words,
)


@final
@dataclass(frozen=True, slots=True)
class Lowered:
    """`body` returns (True, value, *cotangents) without those that are absent, or `FAILED`. `fields` are the types of what the
    records of a stack hold."""

    joint: Joint
    body: Region
    types: dict[Var, Type]
    fields: dict[Var, tuple[Type, ...]]
    value: Number
    is_absent: tuple[bool, ...]
    uses_numpy: bool


def lowered(joint: Joint, types: dict[Var, Type]) -> Lowered:
    """The lowered form for inputs, and variables of modules, of these types."""
    lowering = Lowering(dict(types))
    for stack in joint.stacks:
        lowering.types[stack] = Tape(stack)
    statements, end = lowering.block(joint.statements)
    if end is not None:
        raise Unsupported("a function that always raises", joint.where)
    value = lowering.value(joint.value)
    kind = lowering.type(value)
    if not isinstance(kind, Number):
        raise Unsupported(f"a function that returns {words(kind)}", joint.where)
    bars = [lowering.value(bar) for bar in joint.bars]
    absent = tuple(lowering.type(bar) == NONE for bar in bars)
    made = tuple(lowering.finish(bars, statements))
    if len(kind.may) != 1:
        raise Unsupported("a function of which the type of the value is not known: whole, a float, NumPy's", joint.where)
    result = fresh("found")
    statements.append(Op(Opcode.TUPLE, (Const(True), value, *made), (result,), from_user=False))
    stacks = (Op(Opcode.TAPE, (), (stack,), from_user=False) for stack in joint.stacks)
    body = with_fewer_tests(Region((*stacks, *statements), Return(result)))
    fields = {stack: tuple(each or FLOAT for each in found) for stack, found in lowering.fields.items()}
    return Lowered(joint, body, lowering.types, fields, kind, absent, lowering.uses_numpy)


@dataclass
class Lowering:
    """`same` are the variables that are another value; `ends` what the edges of the loops around carry; `tested` what holds in
    the regions around, and `last_tested` in the last one; `own` are arrays that are nobody else's."""

    types: dict[Var, Type]
    same: dict[Var, Value] = field(default_factory=dict)
    fields: dict[Var, list[Type | None]] = field(default_factory=dict)
    ends: list[tuple[list[tuple[Type | None, ...]], list[tuple[Type | None, ...]]]] = field(default_factory=list)
    open: list[list[Statement]] = field(default_factory=list)
    tested: list[set[Any]] = field(default_factory=list)
    last_tested: set[Any] = field(default_factory=set)
    own: set[Var] = field(default_factory=set)
    uses_numpy: bool = False

    # Values

    def value(self, value: Value) -> Value:
        while isinstance(value, Var) and value in self.same:
            value = self.same[value]
        return value

    def type(self, value: Value) -> Type | None:
        """The type of a value; None of one that is not assigned."""
        if isinstance(value, Undefined):
            return None
        if isinstance(value, Var):
            return self.types.get(value)
        found = None if value.path else type_of(value.value)
        return Known(value.value) if found is None else found

    def is_number(self, value: Value) -> bool:
        return isinstance(self.type(value), Number)

    # Statements

    def block(self, statements: Sequence[Statement]) -> tuple[list[Statement], Terminator | None]:
        """The statements, lowered; with a terminator if what comes after them is never reached."""
        self.open.append([])
        self.tested.append(set())
        end = None
        for statement in statements:
            try:
                end = self.statement(statement)
            except Unsupported as found:
                if not found.where.line:
                    found.where = statement.where
                raise
            if end is not None:
                break
        self.last_tested = self.tested.pop()
        return self.open.pop(), end

    def region(self, region: Region) -> Region:
        if isinstance(region.terminator, Raise) and all(isinstance(each, Op) for each in region.statements):
            return Region((), Return(FAILED))  # all that goes before is only for the exception
        statements, end = self.block(region.statements)
        self.open.append(statements)
        terminator = self.terminator(region.terminator) if end is None else end
        return Region(tuple(self.open.pop()), terminator)

    def terminator(self, terminator: Terminator) -> Terminator:
        match terminator:
            case Yield(values=values):
                return Yield(tuple(map(self.value, values)))
            case Continue(values=values) | Break(values=values):
                given = tuple(map(self.value, values))
                self.ends[-1][isinstance(terminator, Break)].append(tuple(map(self.type, given)))
                if any(self.type(value) == NONE for value in given):
                    raise Unsupported("a variable that is None after a turn of a loop")
                return replace(terminator, values=given)
            case Raise():
                return Return(FAILED)
        return terminator

    def statement(self, statement: Statement) -> Terminator | None:
        match statement:
            case Op():
                self.operation(statement)
            case If():
                return self.branch(statement)
            case While() | For():
                self.loop(statement)
            case _:
                raise Unsupported("a try")
        return None

    def add(self, statement: Statement) -> None:
        self.open[-1].append(statement)

    # Operations

    def operation(self, op: Op) -> None:
        arguments = tuple(map(self.value, op.arguments))
        match op.callee:
            case Opcode.TAPE:
                self.types[op.result] = Tape(op.result)
                self.add(op)
            case Opcode.RECORD:
                self.record(op, arguments)
            case callee if callee == READ_FIELD:
                self.read_field(op, arguments)
            case callee if callee == SIZE_OF:
                self.types[op.result] = whole(MOST_ITEMS_BITS)
                self.add(op)
            case _:
                operations.lower(self, op, arguments)

    def record(self, op: Op, arguments: tuple[Value, ...]) -> None:
        stack, *fields = arguments
        assert isinstance(stack, Var)
        types = [self.type(each) for each in fields]
        known = self.fields.setdefault(stack, [None] * len(fields))
        self.fields[stack] = [_recorded(join(before, now)) for before, now in zip(known, types, strict=True)]
        for found, now in zip(self.fields[stack], types, strict=True):
            _check_assigned(found, [now])
        self.add(replace(op, arguments=arguments))

    def read_field(self, op: Op, arguments: tuple[Value, ...]) -> None:
        stack, _, number = arguments
        assert isinstance(stack, Var) and isinstance(number, Const)
        known = self.fields.get(stack)
        found = None if known is None else known[number.value]
        self.types[op.result] = found or FLOAT
        if found == NONE:
            self.same[op.result] = Const(None)
        else:
            self.add(replace(op, arguments=arguments))

    def emit(
        self, callee: Opcode | Value, arguments: tuple[Value, ...], type_: Type, like: Op, result: Var | None = None
    ) -> Var:
        """Add an operation, whose result is new unless one is given."""
        var = fresh() if result is None else result
        self.types[var] = type_
        if isinstance(type_, ArrayOf) and any(callee == each for each in MAKING):
            self.own.add(var)
        self.uses_numpy |= isinstance(type_, ArrayOf) or (isinstance(type_, Number) and type_.may_be_numpy)
        self.add(Op(callee, arguments, (var,), (), like.payload if callee is like.callee else None, False, like.where))
        return var

    def test(self, callee: Const, arguments: tuple[Value, ...], where: Location = NOWHERE, *, gives_up: bool = False) -> None:
        """Give up unless this is true, or if it is."""
        if any((callee, arguments) in known for known in self.tested):
            return
        self.tested[-1].add((callee, arguments))
        holds = fresh()
        self.types[holds] = Truth()
        self.add(Op(callee, arguments, (holds,), from_user=False, where=where))
        on, out = Region((), Yield(())), Region((), Return(FAILED))
        self.add(If(holds, out, on, ()) if gives_up else If(holds, on, out, ()))

    def finish(self, bars: Sequence[Value], statements: list[Statement]) -> list[Value]:
        """The cotangents as what is returned: finite, and arrays that are nobody else's."""
        self.open.append(statements)
        self.tested.append(self.last_tested)
        made = list[Value]()
        for bar in bars:
            match self.type(bar):
                case Known(value=None):
                    continue
                case Number(may=may):
                    if "int" in may:
                        bar = self.made(Const(float, "float"), bar, FLOAT)
                    self.test(IS_FINITE_NUMBER, (bar,))
                case ArrayOf(dtype="float") as kind:
                    self.test(IS_FINITE, (bar,))
                    if bar not in self.own or bar in made:
                        bar = self.made(COPY, bar, kind)
                case other:
                    raise Unsupported(f"a cotangent that is {words(other)}")
            made.append(bar)
        self.tested.pop()
        self.open.pop()
        return made

    def made(self, callee: Const, value: Value, type_: Type) -> Var:
        """What a function makes of a value."""
        result = fresh(value.hint if isinstance(value, Var) else "")
        self.types[result] = type_
        self.add(Op(callee, (value,), (result,), from_user=False))
        return result

    # Branches

    def branch(self, statement: If) -> Terminator | None:
        condition = self.value(statement.condition)
        match self.type(condition):
            case Known(value=bool() as holds):
                return self.chosen(statement.then if holds else statement.orelse, statement.results)
            case Truth() | Number():
                pass
            case other:
                raise Unsupported(f"a test of {words(other)}")
        arms = [self.region(arm) for arm in (statement.then, statement.orelse)]
        given = [arm.terminator.values for arm in arms if isinstance(arm.terminator, Yield)]
        for result, column in zip(statement.results, zip(*given, strict=True), strict=False):
            found: Type | None = None
            for value in column:
                found = join(found, self.type(value))
            _check_assigned(found, [self.type(value) for value in column])
            self.types[result] = found or FLOAT
        then, orelse = (self.with_stand_ins(arm, statement.results) for arm in arms)
        self.add(If(condition, then, orelse, statement.results, statement.where))
        return None

    def with_stand_ins(self, arm: Region, targets: tuple[Var, ...]) -> Region:
        end = arm.terminator
        return replace(arm, terminator=Yield(self.stood_in(end.values, targets))) if isinstance(end, Yield) else arm

    def stood_in(self, values: tuple[Value, ...], targets: tuple[Var, ...]) -> tuple[Value, ...]:
        """The values with numbers for None where that is one."""
        kinds = [self.types.get(target) for target in targets]
        return tuple(
            Const(stand_in(kind)) if isinstance(kind, Maybe) and self.type(value) == NONE else value
            for value, kind in zip(values, kinds, strict=True)
        )

    def chosen(self, arm: Region, results: tuple[Var, ...]) -> Terminator | None:
        """The only arm that may be taken."""
        statements, end = self.block(arm.statements)
        for statement in statements:
            self.add(statement)
        if end is not None:
            return end
        if isinstance(arm.terminator, Yield):
            self.same.update(zip(results, map(self.value, arm.terminator.values), strict=True))
            return None
        return self.terminator(arm.terminator)

    # Loops

    def loop(self, loop: While | For) -> None:
        initial = tuple(map(self.value, loop.initial))
        given = tuple(map(self.type, initial))
        types = given
        items = self.items(loop.items) if isinstance(loop, For) else None
        while True:
            self.types.update((var, found) for var, found in zip(loop.parameters, types, strict=True) if found is not None)
            self.ends.append(([], []))
            condition = self.region(loop.condition) if isinstance(loop, While) else None
            body = self.region(loop.body)
            again, left = self.ends.pop()
            joined = tuple(map(_widened, types, _joined((types, *again))))
            if joined == types:
                for row in (given, *again, *left):
                    for each, found in zip(row, types, strict=True):
                        _check_assigned(found, [each])
                break
            types = joined
        after = types
        if again and _change(given, types) and self.has_a_turn(loop, items, initial):
            after = _joined(tuple(again))
        for var, found in zip(loop.results, _joined((after, *left)), strict=True):
            self.types[var] = found or FLOAT
        initial = self.stood_in(initial, loop.parameters)
        if isinstance(loop, While):
            assert condition is not None
            self.check_condition(condition)
            self.add(replace(loop, condition=condition, body=body, initial=initial))
        else:
            assert items is not None
            self.add(replace(loop, items=items, body=body, initial=initial))

    def has_a_turn(self, loop: While | For, items: Items | None, initial: tuple[Value, ...]) -> bool:
        """Give up if the loop has no turn; whether that can be tested."""
        if isinstance(loop, For):
            return items is not None and test_of_items(self, items, loop.where)
        copied = condition_before(loop, initial)
        if copied is None:
            return False
        for statement in copied.statements:
            self.statement(statement)
        (value,) = map(self.value, terminator_values(copied.terminator))
        if not isinstance(self.type(value), Truth | Number):
            return False
        self.add(If(value, Region((), Yield(())), Region((), Return(FAILED)), (), loop.where))
        return True

    def check_condition(self, condition: Region) -> None:
        assert isinstance(condition.terminator, Yield)
        kind = self.type(condition.terminator.values[0])
        if not isinstance(kind, Truth | Number) and not (isinstance(kind, Known) and isinstance(kind.value, bool)):
            raise Unsupported(f"a test of {words(kind)}")

    def items(self, items: Items) -> Items:
        found = map_items(items, self.value)
        self.types.update(item_types(found, self.type))
        return found


def _recorded(found: Type | None) -> Type | None:
    match found:
        case None | Known(value=None) | Maybe() | Number() | Truth() | ArrayOf():
            return found
        case Known(value=bool()):
            return Truth()
    raise Unsupported(f"a record of {words(found)}")


def _check_assigned(found: Type | None, each: Sequence[Type | None]) -> None:
    """A number that is not assigned is 0.0, which is never looked at; for an array there is nothing like that."""
    if not isinstance(found, Number | Truth | Maybe | None) and None in each:
        raise Unsupported(f"a variable that is {words(found)} on one path, and not assigned on another")


def _joined(rows: Sequence[tuple[Type | None, ...]]) -> tuple[Type | None, ...]:
    found: Any = [None] * len(rows[0])
    for row in rows:
        found = list(map(join, found, row))
    return tuple(found)


def _change(given: Sequence[Type | None], types: Sequence[Type | None]) -> bool:
    """Whether variables are of another type after the first turn of a loop than before."""
    pairs = zip(given, types, strict=True)
    return any(isinstance(a, Number) and isinstance(b, Number) and a.may != b.may for a, b in pairs)


def _widened(before: Type | None, now: Type | None) -> Type | None:
    """Whole numbers that grow in a loop may become as large as any."""
    if isinstance(before, Number) and isinstance(now, Number) and now.bits > before.bits:
        return Number(now.may, EXACT_BITS)
    return now
