"""The checks that every function in the IR passes, before and after each pass. docs/ir.md lists them.

A defect is a place and a sentence. The place is the way from the function down the regions, and the user's line where
there is one: `root: body[2].do[0] (root.py:6)`. Variables have the numbers that `print_structured` gives them.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import assert_never

from microgradpy.errors import CompilerBug
from microgradpy.ir.closures import closure_arity, nested_function
from microgradpy.ir.nodes import (
    NOWHERE,
    UNDEFINED,
    Break,
    Continue,
    For,
    Function,
    If,
    Items,
    Location,
    Op,
    Opcode,
    Raise,
    Records,
    Region,
    Return,
    Statement,
    Terminator,
    Try,
    Unreachable,
    Value,
    Var,
    While,
    Yield,
)
from microgradpy.ir.printer import numbering, print_structured
from microgradpy.ir.traversal import definitions, is_always_true, is_mark, item_variables, terminator_values, terminators, uses

_ARITHMETIC = ["+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"]
_IN_PLACE = [f"{symbol}=" for symbol in _ARITHMETIC]
_COMPARISONS = ["==", "!=", "<", "<=", ">", ">=", "in", "is", "not in", "is not"]
_BINARY = frozenset([*_ARITHMETIC, *_IN_PLACE, *_COMPARISONS])
_UNARY = frozenset({"not", "-", "+", "~", "-x", "+x", "~x"})

# The number of arguments of each opcode: the smallest and the largest, None for no bound. INFIX depends on its payload.
_ARGUMENTS: dict[Opcode, tuple[int, int | None]] = {
    Opcode.TUPLE: (0, None),
    Opcode.LIST: (0, None),
    Opcode.DICT: (0, None),
    Opcode.SET: (0, None),
    Opcode.UNPACK: (1, 1),
    Opcode.JOIN: (0, None),
    Opcode.APPEND: (2, 2),
    Opcode.STORE: (3, None),
    Opcode.APPLY: (3, 3),
    Opcode.CLOSURE: (0, None),
    Opcode.SUSPEND: (1, 1),
    Opcode.GLOBAL: (0, 1),
    Opcode.INFIX: (1, 2),
    Opcode.GETATTR: (1, 1),
    Opcode.GETITEM: (2, 2),
    Opcode.TAPE: (0, 0),
    Opcode.MARK: (0, None),
    Opcode.RECORD: (1, None),
}


class _Role(enum.Enum):
    """What a region is, which decides how it may end."""

    FUNCTION = "the body of a function"
    LOOP = "the body of a loop"
    ARM = "an arm of an if"
    BODY = "the body of a try"
    HANDLER = "a handler"
    CONDITION = "the condition of a while"


def defects(function: Function, free: AbstractSet[Var] = frozenset()) -> list[tuple[str, str]]:
    """Every defect as (place, sentence), in program order; empty for a well-formed function. The variables in `free`
    are visible everywhere, as those of the primal are in an adjoint whose saved values are not chosen yet."""
    checker = _Checker(function, free)
    checker.function_body()
    return checker.found


def verify(function: Function, free: AbstractSet[Var] = frozenset()) -> Function:
    """The function itself, if it is well-formed. Raises CompilerBug with every defect and the printed IR if not."""
    found = defects(function, free)
    if found:
        sentences = "\n".join(f"- {place}: {sentence}" for place, sentence in found)
        raise CompilerBug(
            f"the IR of {function.name} is broken:\n{sentences}\n\n{print_structured(function, names=True)}"
        )
    return function


class _Checker:
    """Walks one function in program order. `defined` holds every variable met so far, visible or not."""

    def __init__(self, function: Function, free: AbstractSet[Var], path: str = "") -> None:
        self.function = function
        self.free = free
        self.name = path + function.name
        self.defined: set[Var] = set()
        self.widths: dict[Var, int] = {}
        self.scopes: dict[Var, int] = {}
        self.found: list[tuple[str, str]] = []

    @cached_property
    def numbers(self) -> dict[Var, int]:
        return numbering(self.function)

    @cached_property
    def bound_somewhere(self) -> frozenset[Var]:
        return frozenset(self.numbers)

    def spell(self, var: Var) -> str:
        number = self.numbers.get(var)
        name = "a variable" if number is None else f"%{number}"
        return f"{name}/{var.hint}" if var.hint else name

    def report(self, place: str, sentence: str, where: Location = NOWHERE) -> None:
        line = f" ({where.file}:{where.line})" if where.line else ""
        self.found.append((f"{self.name}: {place}{line}", sentence))

    def define(self, variables: Iterable[Var], place: str, where: Location = NOWHERE) -> None:
        for var in variables:
            if var in self.defined:
                self.report(place, f"{self.spell(var)} is defined a second time", where)
            self.defined.add(var)

    def use(self, value: Value, visible: AbstractSet[Var], place: str, where: Location = NOWHERE) -> None:
        if not isinstance(value, Var) or value in visible or value in self.free:
            return
        if value in self.bound_somewhere:
            self.report(place, f"{self.spell(value)} is used where it is not visible", where)
        else:
            self.report(place, f"{self.spell(value)} is used, but never defined", where)

    def read(self, values: Sequence[Value], visible: AbstractSet[Var], place: str, where: Location = NOWHERE) -> None:
        """Uses that need a value; `undefined` can only be carried on to where nobody reads it."""
        for value in values:
            if value is UNDEFINED:
                self.report(place, "undefined is read", where)
            self.use(value, visible, place, where)

    def carry(self, values: Sequence[Value], visible: AbstractSet[Var], place: str, where: Location = NOWHERE) -> None:
        """Uses that pass a value on, which may be `undefined`."""
        for value in values:
            self.use(value, visible, place, where)

    def same_length(self, what: str, number: int, expected: int | None, place: str, where: Location = NOWHERE) -> None:
        if number != expected:
            self.report(place, f"{_count(number, what)}, where {expected} are due", where)

    # Regions

    def function_body(self) -> None:
        function = self.function
        self.define((parameter.var for parameter in function.parameters), "parameters", function.where)
        self.define(function.captured, "captured", function.where)
        for var in function.captured:
            if not var.hint:
                self.report("captured", f"{self.spell(var)} has no name", function.where)
        self.region(function.body, set(self.defined), "body", _Role.FUNCTION, None, None)

    def region(
        self, region: Region, outer: AbstractSet[Var], place: str, role: _Role, yields: int | None, state: int | None
    ) -> None:
        """`yields`: how many values a yield gives, None where none may stand; `state`: how many the innermost loop
        carries, None outside of loops."""
        visible = set(outer)
        for index, statement in enumerate(region.statements):
            self.statement(statement, visible, f"{place}[{index}]", state)
        self.terminator(region, visible, place, role, yields, state)

    def terminator(
        self, region: Region, visible: AbstractSet[Var], place: str, role: _Role, yields: int | None, state: int | None
    ) -> None:
        terminator = region.terminator
        place = f"{place}.end"
        where = terminator.where if isinstance(terminator, Return | Raise) else NOWHERE
        values = terminator_values(terminator)
        if isinstance(terminator, Return | Raise) or role is _Role.CONDITION:
            self.read(values, visible, place, where)
        else:
            self.carry(values, visible, place)
        match terminator:
            case _ if role is _Role.CONDITION and not isinstance(terminator, Yield):
                self.report(place, f"{role.value} ends in {_word(terminator)}", where)
            case Yield() if yields is None or role in (_Role.FUNCTION, _Role.LOOP):
                self.report(place, f"{role.value} ends in yield")
            case Yield():
                self.same_length("yielded value", len(values), yields, place)
            case Continue() | Break() if state is None:
                self.report(place, f"{_word(terminator)} outside of a loop")
            case Continue() | Break():
                self.same_length(f"value of {_word(terminator)}", len(values), state, place)
            case Raise(exception=None, cause=cause) if cause is not None:
                self.report(place, "a raise with a cause has no exception", where)
            case Unreachable() if not region.statements or _falls_through(region.statements[-1]):
                self.report(place, "unreachable, but what stands before it can fall through")

    # Statements

    def statement(self, statement: Statement, visible: set[Var], place: str, state: int | None) -> None:
        self.read_operands(statement, visible, place)
        match statement:
            case Op():
                self.operation(statement, place)
            case If(then=then, orelse=orelse, results=results):
                for arm, name in ((then, "then"), (orelse, "else")):
                    self.region(arm, visible, f"{place}.{name}", _Role.ARM, len(results), state)
            case While(condition=condition, body=body, parameters=parameters):
                self.loop_state(statement, place)
                inside = visible | set(parameters)
                # Leaving the loop from within its condition would bypass the state, so no break may stand there.
                self.region(condition, inside, f"{place}.while", _Role.CONDITION, 1, None)
                self.loop_body(body, inside, place, len(parameters))
            case For(items=items, body=body, parameters=parameters):
                self.loop_state(statement, place)
                self.items(items, place, statement.where)
                inside = visible | set(parameters) | set(item_variables(items))
                self.loop_body(body, inside, place, len(parameters))
            case Try():
                self.attempt(statement, visible, place, state)
            case _:
                assert_never(statement)
        self.define(definitions(statement), place, statement.where)
        visible.update(definitions(statement))

    def loop_body(self, body: Region, visible: AbstractSet[Var], place: str, state: int) -> None:
        """A mark says what has happened up to it, which in a loop would be that of all iterations so far."""
        outer, self.scopes = self.scopes, {}
        self.region(body, visible, f"{place}.do", _Role.LOOP, None, state)
        self.scopes = outer

    def attempt(self, statement: Try, visible: set[Var], place: str, state: int | None) -> None:
        where, number = statement.where, len(statement.results)
        first = statement.body.statements[:1]
        if not any(isinstance(mark, Op) and is_mark(mark) and mark.payload == statement.scope for mark in first):
            self.report(place, "the body of a try does not start with its mark", where)
        outer = self.scopes
        self.define((statement.scope,), place, where)
        self.scopes = outer | {statement.scope: len(statement.parameters)}
        self.region(statement.body, visible, f"{place}.try", _Role.BODY, number, state)
        self.scopes = outer
        self.define(statement.parameters, place, where)
        for index, handler in enumerate(statement.handlers):
            bound = {*statement.parameters, *((handler.exception,) if handler.exception is not None else ())}
            self.define(bound.difference(statement.parameters), place, where)
            self.region(handler.body, visible | bound, f"{place}.except[{index}]", _Role.HANDLER, number, state)
        if not statement.handlers:
            self.report(place, "a try has no handler", where)

    def read_operands(self, statement: Statement, visible: AbstractSet[Var], place: str) -> None:
        carried = statement.initial if isinstance(statement, While | For) else ()
        operands = uses(statement)
        if is_mark(statement):
            carried = operands
        # `uses` gives the initial loop state last; unlike the other operands it may be undefined.
        self.read(operands[: len(operands) - len(carried)], visible, place, statement.where)
        self.carry(carried, visible, place, statement.where)

    def loop_state(self, loop: While | For, place: str) -> None:
        self.same_length("initial value", len(loop.initial), len(loop.parameters), place, loop.where)
        self.same_length("result", len(loop.results), len(loop.parameters), place, loop.where)
        self.define(loop.parameters, place, loop.where)

    def items(self, items: Items, place: str, where: Location) -> None:
        self.define(item_variables(items), place, where)
        if isinstance(items, Records) and isinstance(items.tape, Var):
            self.record_width(items.tape, len(items.fields), place, where)

    def record_width(self, tape: Var, width: int, place: str, where: Location) -> None:
        expected = self.widths.setdefault(tape, width)
        self.same_length(f"field of {self.spell(tape)}", width, expected, place, where)

    # Operations

    def operation(self, op: Op, place: str) -> None:
        if isinstance(op.callee, Opcode):
            self.arity(op.callee, op, place)
            self.payload(op.callee, op, place)
        else:
            self.same_length("result of a call", len(op.results), 1, place, op.where)
            names = [name for name, _ in op.keywords]
            for name in sorted({name for name in names if names.count(name) > 1}):
                self.report(place, f"the keyword {name} is given more than once", op.where)

    def arity(self, opcode: Opcode, op: Op, place: str) -> None:
        least, most = _ARGUMENTS[opcode]
        number = len(op.arguments)
        if number < least or (most is not None and number > most):
            self.report(place, f"{opcode.value} has {_count(number, 'argument')}", op.where)
        if op.keywords:
            self.report(place, f"{opcode.value} has keywords", op.where)
        if opcode is not Opcode.UNPACK:
            expected = 0 if opcode in (Opcode.RECORD, Opcode.MARK) else 1
            self.same_length(f"result of {opcode.value}", len(op.results), expected, place, op.where)

    def payload(self, opcode: Opcode, op: Op, place: str) -> None:
        number = len(op.arguments)
        match opcode:
            case Opcode.DICT if number % 2:
                self.report(place, "dict has a key without a value", op.where)
            case Opcode.INFIX if op.payload not in (_UNARY if number == 1 else _BINARY):
                operands = _count(number, "operand")
                self.report(place, f"infix has the operator {op.payload!r} with {operands}", op.where)
            case Opcode.GETATTR | Opcode.GLOBAL if not isinstance(op.payload, str):
                self.report(place, f"{opcode.value} has no name", op.where)
            case Opcode.CLOSURE:
                self.closure(op, place)
            case Opcode.MARK:
                if op.payload not in self.scopes:
                    self.report(place, "a mark stands outside of its try, or in a loop inside of it", op.where)
                else:
                    self.same_length("marked value", number, self.scopes[op.payload], place, op.where)
            case Opcode.RECORD if number:
                if isinstance(op.arguments[0], Var):
                    self.record_width(op.arguments[0], number - 1, place, op.where)
                else:
                    self.report(place, "record has no tape", op.where)

    def closure(self, op: Op, place: str) -> None:
        function = nested_function(op)
        if function is None:
            self.report(place, "closure has no function", op.where)
            return
        due = closure_arity(op, function)
        self.same_length("captured or default value", len(op.arguments), due, place, op.where)
        inner = _Checker(function, frozenset(), f"{self.name}/")
        inner.function_body()
        self.found += inner.found


def _falls_through(statement: Statement) -> bool:
    """Whether what stands after a statement can be reached: not after an `If` neither of whose arms yields, nor after a
    `while True` without a `Break`."""
    match statement:
        case Op() | For():
            return True
        case If(then=then, orelse=orelse):
            return isinstance(then.terminator, Yield) or isinstance(orelse.terminator, Yield)
        case Try(body=body, handlers=handlers):
            arms = (body, *(handler.body for handler in handlers))
            return any(isinstance(arm.terminator, Yield) for arm in arms)
        case While(condition=condition, body=body):
            tested = terminator_values(condition.terminator)
            return not all(map(is_always_true, tested)) or _breaks(body)
    assert_never(statement)


def _breaks(body: Region) -> bool:
    """Whether a loop with this body can be left by a `Break`, loops nested in it aside."""
    return any(isinstance(terminator, Break) for terminator in terminators(body, of_inner_loops=False))


def _word(terminator: Terminator) -> str:
    return type(terminator).__name__.lower()


def _count(number: int, noun: str) -> str:
    head, of, rest = noun.partition(" of ")
    return f"{number} {head}{'' if number == 1 else 's'}{of}{rest}"
