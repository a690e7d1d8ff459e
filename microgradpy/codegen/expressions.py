"""Values and operations -> Python expressions, with everything that is nested written inside."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import assert_never

from microgradpy.codegen.bindings import Bindings, closure_constants, is_literal, literal
from microgradpy.codegen.nesting import Nesting, boolean_shape
from microgradpy.codegen.notation import (
    Attribute,
    Binary,
    Comparison,
    InPlace,
    Item,
    SliceOf,
    Unary,
    in_place_function,
    is_plain_name,
    notation,
)
from microgradpy.dataclasses import dataclass, field
from microgradpy.errors import CompilerBug
from microgradpy.ir.kinds import UNKNOWN, Array, Kind, Scalar, is_real_scalar
from microgradpy.ir.nodes import Const, If, Location, Op, Opcode, Undefined, Value, Var
from microgradpy.ir.traversal import terminator_values

GLOBALS_NAME = "module_globals"
_NEGATED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {ast.In: ast.NotIn, ast.Is: ast.IsNot}


def load(name: str) -> ast.expr:
    """A dotted name as an expression."""
    head, *rest = name.split(".")
    expression: ast.expr = ast.Name(head, ast.Load())
    for part in rest:
        expression = ast.Attribute(expression, part, ast.Load())
    return expression


@dataclass(slots=True)
class Expressions:
    """Builds expressions from `names` for variables and `bindings` for objects; `places` says where in the user's source
    those of operations are from."""

    nesting: Nesting
    names: Mapping[Var, str]
    bindings: Bindings
    kinds: Mapping[Var, Kind]
    needs_globals: bool = False
    places: dict[ast.AST, Location] = field(default_factory=dict)

    def value(self, value: Value) -> ast.expr:
        """A value as an expression; a nested one with its operation."""
        match value:
            case Var():
                statement = self.nesting.nested.get(value)
                if statement is None:
                    return ast.Name(self.names[value], ast.Load())
                return self.operation(statement) if isinstance(statement, Op) else self.choice(statement)
            case Const():
                if is_literal(value):
                    return literal(value.value, self.bindings.builtin)
                return load(self.bindings.text(value))
            case Undefined():
                raise CompilerBug("a value that is not assigned on this path is read in an expression")
        assert_never(value)

    def choice(self, statement: If) -> ast.expr:
        """An `If` as `c and b`, `c or b` or `b if c else a`."""
        condition = self.value(statement.condition)
        (then,) = terminator_values(statement.then.terminator)
        (orelse,) = terminator_values(statement.orelse.terminator)
        match boolean_shape(statement):
            case "and":
                return _boolean(ast.And(), condition, self.value(then))
            case "or":
                return _boolean(ast.Or(), condition, self.value(orelse))
        return ast.IfExp(condition, self.value(then), self.value(orelse))

    def operation(self, op: Op) -> ast.expr:
        """An operation with its operands as one expression."""
        expression = self._operation(op)
        self.places[expression] = op.where
        return expression

    def _operation(self, op: Op) -> ast.expr:
        match notation(op):
            case None:
                return self._display(op) if isinstance(op.callee, Opcode) else self._call(op, op.callee)
            case Binary(sign=sign, left=left, right=right):
                return self._binary(op, sign, self.value(left), self.value(right))
            case Comparison(sign=compare, left=left, right=right):
                return ast.Compare(self.value(left), [compare()], [self.value(right)])
            case Unary(sign=unary, operand=operand):
                return negation(self.value(operand)) if unary is ast.Not else ast.UnaryOp(unary(), self.value(operand))
            case InPlace(sign=sign, target=target, right=right):
                function = self.value(in_place_function(sign))
                return ast.Call(function, [self.value(target), self.value(right)], [])
            case Attribute(operand=operand, name=name):
                return ast.Attribute(self.value(operand), name, ast.Load())
            case Item(operand=operand, index=index):
                return ast.Subscript(self.value(operand), self.index(index), ast.Load())
            case SliceOf(parts=parts):
                return ast.Call(self.bindings.builtin("slice"), [self.value(part) for part in parts], [])

    def _binary(self, op: Op, sign: type[ast.operator], left: ast.expr, right: ast.expr) -> ast.expr:
        if sign is ast.Add:
            sign, right = self.added(op, op.arguments[1], right)
        return ast.BinOp(left, sign(), right)

    def added(self, op: Op, value: Value, text: ast.expr) -> tuple[type[ast.operator], ast.expr]:
        """How a value is added in a sum: `x + -y` is `x - y` if the compiler made it."""
        sign: type[ast.operator] = ast.Add
        if not op.from_user and not self._is_users(value) and self._is_numeric(value):
            while (positive := without_minus(text)) is not None:
                sign, text = (ast.Sub if sign is ast.Add else ast.Add), positive
        return sign, text

    def _is_users(self, value: Value) -> bool:
        statement = self.nesting.nested.get(value) if isinstance(value, Var) else None
        return isinstance(statement, Op) and statement.from_user

    def _is_numeric(self, value: Value) -> bool:
        """Numbers for which `x + -y` is `x - y` in every bit: all but arrays of bools and of unsigned integers."""
        if isinstance(value, Const):
            return isinstance(value.value, int | float)
        kind = self.kinds.get(value, UNKNOWN) if isinstance(value, Var) else UNKNOWN
        return isinstance(kind, Scalar) or (isinstance(kind, Array) and kind.dtype in ("float", "complex"))

    def is_real_scalar(self, value: Value) -> bool:
        if isinstance(value, Const):
            return type(value.value) in (int, float)
        return isinstance(value, Var) and is_real_scalar(self.kinds.get(value, UNKNOWN))

    def index(self, index: Value) -> ast.expr:
        """What stands in brackets: there, slices have colons and a tuple needs no parentheses."""
        statement = self.nesting.nested.get(index) if isinstance(index, Var) else None
        if isinstance(statement, Op):
            sign = notation(statement)
            if isinstance(sign, SliceOf):
                return self._slice(sign.parts)
            if statement.callee is Opcode.TUPLE and statement.arguments:
                return ast.Tuple([self.index(item) for item in statement.arguments], ast.Load())
        if isinstance(index, Const) and is_literal(index):
            if type(index.value) is slice:
                value = index.value
                return self._slice((Const(value.start), Const(value.stop), Const(value.step)))
            if type(index.value) is tuple and index.value:
                return ast.Tuple([self.index(Const(item)) for item in index.value], ast.Load())
        return self.value(index)

    def _slice(self, parts: tuple[Value, ...]) -> ast.Slice:
        given = [None if isinstance(part, Const) and part.value is None else self.value(part) for part in parts]
        match given:
            case [stop]:
                return ast.Slice(None, stop, None)
            case [start, stop]:
                return ast.Slice(start, stop, None)
        start, stop, step = given
        return ast.Slice(start, stop, step)

    def _call(self, op: Op, callee: Value) -> ast.expr:
        arguments = [self.value(argument) for argument in op.arguments]
        keywords = [ast.keyword(name, self.value(value)) for name, value in op.keywords]
        return ast.Call(self.value(callee), arguments, keywords)

    def _display(self, op: Op) -> ast.expr:
        match op.callee:
            case Opcode.TUPLE:
                return ast.Tuple(self._values(op), ast.Load())
            case Opcode.LIST | Opcode.TAPE:
                return ast.List(self._values(op), ast.Load())
            case Opcode.SET:
                items = self._values(op)
                return ast.Set(items) if items else ast.Call(self.bindings.builtin("set"), [], [])
            case Opcode.DICT:
                return ast.Dict(list(self._values(op)[0::2]), self._values(op)[1::2])
            case Opcode.JOIN:
                return _joined(self._values(op))
            case Opcode.GLOBAL:
                self.needs_globals = True
                return ast.Subscript(ast.Name(GLOBALS_NAME, ast.Load()), ast.Constant(op.payload), ast.Load())
            case Opcode.SUSPEND:
                return self._yield(*op.arguments)
            case Opcode.APPLY:
                return self._apply(op)
            case Opcode.CLOSURE:
                return self._closure(op)
        raise CompilerBug(f"the operation {op.callee} is not an expression")

    def _yield(self, value: Value) -> ast.expr:
        return ast.Yield(None if isinstance(value, Const) and value.value is None else self.value(value))

    def _values(self, op: Op) -> list[ast.expr]:
        return [self.stored(argument) for argument in op.arguments]

    def stored(self, value: Value) -> ast.expr:
        """A value that is put into a tuple or a record: None where it is not assigned, since nobody will look at it."""
        return ast.Constant(None) if isinstance(value, Undefined) else self.value(value)

    def _apply(self, op: Op) -> ast.expr:
        callee, args, kwargs = op.arguments
        return ast.Call(self.value(callee), self._positional(args), self._keywords(kwargs))

    def _positional(self, args: Value) -> list[ast.expr]:
        statement = self.nesting.nested.get(args) if isinstance(args, Var) else None
        if isinstance(statement, Op) and statement.callee is Opcode.TUPLE:
            return self._values(statement)
        if isinstance(args, Const) and (args.value is None or args.value == ()):
            return []
        return [ast.Starred(self.value(args), ast.Load())]

    def _keywords(self, kwargs: Value) -> list[ast.keyword]:
        statement = self.nesting.nested.get(kwargs) if isinstance(kwargs, Var) else None
        if isinstance(statement, Op) and statement.callee is Opcode.DICT:
            names = statement.arguments[0::2]
            if all(_is_keyword_name(name) for name in names) and len(set(names)) == len(names):
                pairs = zip(names, statement.arguments[1::2], strict=True)
                return [ast.keyword(name.value, self.value(value)) for name, value in pairs]  # type: ignore[union-attr]
        if isinstance(kwargs, Const) and (kwargs.value is None or kwargs.value == {}):
            return []
        return [ast.keyword(None, self.value(kwargs))]

    def _closure(self, op: Op) -> ast.expr:
        """`make_function(g_code, module_globals, (a, b))`, with the defaults behind it if there are any."""
        self.needs_globals = True
        maker, code = (load(self.bindings.text(constant)) for constant in closure_constants(op))
        values, keywords = self._values(op), op.payload.keyword_defaults
        last = len(values) - len(keywords)
        first = last - op.payload.defaults
        parts: list[ast.expr] = [code, ast.Name(GLOBALS_NAME, ast.Load())]
        if values:
            parts.append(ast.Tuple(values[:first], ast.Load()))
        if first < len(values):
            parts.append(ast.Tuple(values[first:last], ast.Load()))
        if keywords:
            parts.append(ast.Dict([ast.Constant(name) for name in keywords], values[last:]))
        shared = op.payload.shared
        names = ast.Tuple([ast.Constant(name) for name in shared], ast.Load())
        return ast.Call(maker, parts, [ast.keyword("shared", names)] if shared else [])


def _is_keyword_name(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str) and is_plain_name(value.value)


def _boolean(sign: ast.boolop, left: ast.expr, right: ast.expr) -> ast.expr:
    """`left and right`; `a and (b and c)` without parentheses, and `a < b and b < c` as `a < b < c`."""
    values = []
    for part in (left, right):
        values += part.values if isinstance(part, ast.BoolOp) and isinstance(part.op, type(sign)) else [part]
    if isinstance(sign, ast.And):
        values = _chain(values)
    return values[0] if len(values) == 1 else ast.BoolOp(sign, values)


def _chain(values: list[ast.expr]) -> list[ast.expr]:
    chained = values[:1]
    for value in values[1:]:
        last = chained[-1]
        if isinstance(last, ast.Compare) and isinstance(value, ast.Compare) and _is_same_name(last, value):
            chained[-1] = ast.Compare(last.left, last.ops + value.ops, last.comparators + value.comparators)
        else:
            chained.append(value)
    return chained


def _is_same_name(first: ast.Compare, second: ast.Compare) -> bool:
    middle, left = first.comparators[-1], second.left
    return isinstance(middle, ast.Name) and isinstance(left, ast.Name) and middle.id == left.id


def negation(expression: ast.expr, of_numbers: bool = False) -> ast.expr:
    """`not expression`, as `x not in y` and `x is not y` where that is the same; of numbers, `x != 1` too."""
    match expression:
        case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in _NEGATED:
            return ast.Compare(left, [_NEGATED[type(sign)]()], [right])
        case ast.Compare(left=ast.Name() as left, ops=[ast.Eq()], comparators=[right]) if of_numbers:
            return ast.Compare(left, [ast.NotEq()], [right])
    return ast.UnaryOp(ast.Not(), expression)


def without_minus(expression: ast.expr) -> ast.expr | None:
    """y for an expression that is -y in every bit: a minus before it or before its first factor."""
    match expression:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return operand
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as sign, right=right):
            positive = without_minus(left)
            return None if positive is None else ast.BinOp(positive, sign, right)
    return None


def _joined(parts: list[ast.expr]) -> ast.expr:
    join = ast.Attribute(ast.Constant(""), "join", ast.Load())
    return parts[0] if len(parts) == 1 else ast.Call(join, [ast.Tuple(parts, ast.Load())], [])
