"""A lowered function as text: records in arrays, for which `codegen` has lists.

tape = np.empty((n, 2))          the records of a loop over a range, so many as it has items
tape = np.empty((64, 2))         those of another loop; it grows
tape[tape_size, 0] = x
tape_size += 1
for k in range(tape_size - 1, -1, -1):
    x = tape[k, 0]
"""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar, final

import numpy as np

from microgradpy.codegen.emit import Emitted, emit
from microgradpy.codegen.expressions import Expressions
from microgradpy.codegen.statements import Flow, Statements
from microgradpy.dataclasses import dataclass, replace
from microgradpy.ir.kinds import BOOL, FLOAT, INT, UNKNOWN, Array, Kind
from microgradpy.ir.nodes import (
    Break,
    Const,
    Each,
    Enumerate,
    For,
    Function,
    Items,
    Op,
    Opcode,
    Parameter,
    Range,
    Region,
    Return,
    Statement,
    Terminator,
    Undefined,
    Value,
    Var,
    function_constant,
)
from microgradpy.ir.traversal import terminators, uses, walk
from microgradpy.native.calls import FAILED
from microgradpy.native.helpers import grown
from microgradpy.native.joint import READ_FIELD, SIZE_OF
from microgradpy.native.lowering import Lowered
from microgradpy.native.types import ArrayOf, Maybe, Number, Truth, Type, present, stand_in
from microgradpy.passes.dead_code import eliminate_dead_code

FIRST_ROOM = 64
_EMPTY = Const(np.empty, "np.empty", np)
_GROWN = function_constant(grown)


@final
@dataclass(frozen=True, slots=True)
class Layout:
    """Where the fields of the records of a stack are: `columns` of an array of numbers, and `lists`, by their number; and a
    loop over its items makes a record in each turn."""

    columns: Mapping[int, int]
    lists: Mapping[int, int]
    types: tuple[Type, ...]
    room: Items | None


def printed(lowered: Lowered, name: str) -> Emitted:
    """The text of a lowered function, with what its global names mean."""
    joint = lowered.joint
    kinds = {var: _kind(type_) for var, type_ in lowered.types.items()}
    inputs = (*joint.inputs, *(variable.var for variable in joint.variables))
    parameters = tuple(Parameter(var, var.hint) for var in inputs)
    function = Function(name, parameters, (), lowered.body, joint.where, MappingProxyType(kinds))
    function = eliminate_dead_code(function)
    function = replace(function, body=_with_stacks_before_loops(function.body))
    layouts = dict(_layouts(function.body, lowered))
    statements = type("Statements", (_Statements,), {"layouts": layouts, "result": _result_of(lowered), "types": lowered.types})
    expressions = type("Expressions", (_Expressions,), {"layouts": layouts})
    return emit(function, name=name, comments=True, writes=statements, spells=expressions)


def _kind(type_: Type) -> Kind:
    match type_:
        case Maybe(present=inner):
            return _kind(inner)
        case Number():
            return INT if type_.is_whole else FLOAT
        case Truth():
            return BOOL
        case ArrayOf(ndim=ndim, dtype=dtype):
            return Array(ndim, dtype)
    return UNKNOWN


def _result_of(lowered: Lowered) -> tuple[Type, ...]:
    returned = lowered.body.statements[-1]
    assert isinstance(returned, Op)
    known = (lowered.types.get(value) if isinstance(value, Var) else None for value in returned.arguments[1:])
    return tuple(found or lowered.value for found in known)


def _layouts(body: Region, lowered: Lowered) -> Iterator[tuple[Var, Layout]]:
    rooms = dict(_rooms(body))
    for statement in walk(body):
        match statement:
            case Op(callee=Opcode.TAPE, results=(stack,)):
                types = lowered.fields.get(stack, ())
                numbers = [number for number, each in enumerate(types) if not isinstance(each, ArrayOf)]
                lists = [number for number, each in enumerate(types) if isinstance(each, ArrayOf)]
                columns = {number: at for at, number in enumerate(numbers)}
                yield stack, Layout(columns, {number: at for at, number in enumerate(lists)}, types, rooms.get(stack))


def _rooms(region: Region) -> Iterator[tuple[Var, Items]]:
    """What the loops run over that make one record in each turn, and all turns, by the stack; where these stacks are made just
    before."""
    for loop in region.statements:
        if not isinstance(loop, For) or not isinstance(loop.items, Range | Each | Enumerate):
            continue
        if any(isinstance(end, Break) for end in terminators(loop.body, of_inner_loops=False)):
            continue
        for op in loop.body.statements:
            if isinstance(op, Op) and op.callee is Opcode.RECORD:
                stack = op.arguments[0]
                sites = sum(each.arguments[0] == stack for each in _records(region))
                if sites == 1 and isinstance(stack, Var):
                    yield stack, loop.items


def _with_stacks_before_loops(region: Region) -> Region:
    """Stacks are made just before the loops that fill them, where it is known how many turns these take."""
    rooms = dict(_rooms(region))
    made = {each.result: each for each in region.statements if isinstance(each, Op) and each.callee is Opcode.TAPE}
    statements: list[Statement] = []
    for statement in region.statements:
        if isinstance(statement, For):
            filled = {each.arguments[0] for each in _records(statement.body)}
            statements += [op for stack, op in made.items() if stack in filled and stack in rooms]
        if not (isinstance(statement, Op) and statement.callee is Opcode.TAPE and statement.result in rooms):
            statements.append(statement)
    return Region(tuple(statements), region.terminator)


def _records(region: Region) -> Iterator[Op]:
    return (each for each in walk(region) if isinstance(each, Op) and each.callee is Opcode.RECORD)


_ITEMS = "{}_items_{}"


@dataclass(slots=True)
class _Expressions(Expressions):
    layouts: ClassVar[dict[Var, Layout]]

    def size(self, stack: Value) -> str:
        """The name of how many records there are."""
        assert isinstance(stack, Var)
        name = f"{self.names[stack]}_size"
        while name in self.names.values():
            name += "_"
        return name

    def _operation(self, op: Op) -> ast.expr:
        if op.callee == SIZE_OF:
            return ast.Name(self.size(op.arguments[0]), ast.Load())
        if op.callee == READ_FIELD:
            return self._field(*op.arguments)
        match op:
            case Op(callee=Const(value=operator.getitem), arguments=(_, Var() as index)) if index in self.nesting.nested:
                return Expressions._operation(self, op)
            case Op(callee=Const(value=builtins.getattr), arguments=(operand, Const(value=str(name)))):
                return ast.Attribute(self.value(operand), name, ast.Load())
        return Expressions._operation(self, op)

    def _field(self, stack: Value, place: Value, number: Value) -> ast.expr:
        assert isinstance(stack, Var) and isinstance(number, Const)
        layout, name, at = self.layouts[stack], self.names[stack], self.value(place)
        if number.value in layout.lists:
            records = ast.Name(_ITEMS.format(name, layout.lists[number.value]), ast.Load())
            return ast.Subscript(records, at, ast.Load())
        if number.value not in layout.columns:
            return ast.Constant(0.0)  # of records that there are none of
        index = ast.Tuple([at, ast.Constant(layout.columns[number.value])], ast.Load())
        found = ast.Subscript(ast.Name(name, ast.Load()), index, ast.Load())
        match present(layout.types[number.value]):
            case Number(may=may) if may == {"int"}:
                return ast.Call(self.bindings.builtin("int"), [found], [])
            case Truth():
                return ast.Compare(found, [ast.NotEq()], [ast.Constant(0.0)])
        return found


@dataclass(slots=True)
class _Statements(Statements):
    layouts: ClassVar[dict[Var, Layout]]
    result: ClassVar[tuple[Type, ...]]
    types: ClassVar[Mapping[Var, Type]]

    def _operation(self, op: Op) -> list[ast.stmt]:
        for value in uses(op):
            self.check.read(value)
        if op.callee is Opcode.TAPE:
            return self._stack(op)
        if op.callee is Opcode.RECORD:
            return self._push(op)
        return Statements._operation(self, op)

    # Records

    def _stack(self, op: Op) -> list[ast.stmt]:
        layout, name = self.layouts[op.result], self._name(op.result)
        lists = [_ITEMS.format(name, at) for at in layout.lists.values()]
        made: list[ast.stmt] = [ast.Assign([ast.Name(each, ast.Store())], ast.List([], ast.Load())) for each in lists]
        if layout.columns:
            shape = ast.Tuple([self._room(layout), ast.Constant(len(layout.columns))], ast.Load())
            made.append(self._assign(op.result, ast.Call(self._global(_EMPTY), [shape], []), op.where))
        size = ast.Name(self.expressions.size(op.result), ast.Store())  # type: ignore[attr-defined]
        return [*made, ast.Assign([size], ast.Constant(0))]

    def _room(self, layout: Layout) -> ast.expr:
        match layout.room:
            case Range(arguments=(Const(value=int(stop)),)):
                return ast.Constant(max(stop, 0))
            case Range(arguments=(stop,)):
                return self._at_least(self._read(stop))
            case Range(arguments=(start, stop)):
                return self._at_least(ast.BinOp(self._read(stop), ast.Sub(), self._read(start)))
            case Each(source=source) | Enumerate(inner=Each(source=source)):
                return ast.Call(self.expressions.bindings.builtin("len"), [self._read(source)], [])
        return ast.Constant(FIRST_ROOM)

    def _at_least(self, count: ast.expr) -> ast.expr:
        return ast.Call(self.expressions.bindings.builtin("max"), [count, ast.Constant(0)], [])

    def _global(self, constant: Const) -> ast.expr:
        self.expressions.bindings.add(constant)
        return self.expressions.value(constant)

    def _push(self, op: Op) -> list[ast.stmt]:
        stack, *fields = op.arguments
        assert isinstance(stack, Var)
        layout, name = self.layouts[stack], self._name(stack)
        size = ast.Name(self.expressions.size(stack), ast.Load())  # type: ignore[attr-defined]
        pushed: list[ast.stmt] = []
        if layout.columns and not self._has_room(layout):
            full = ast.Compare(size, [ast.Eq()], [ast.Call(self.expressions.bindings.builtin("len"), [_load(name)], [])])
            more = ast.Assign([ast.Name(name, ast.Store())], ast.Call(self._global(_GROWN), [_load(name)], []))
            pushed.append(ast.If(full, [more], []))
        for number, value in enumerate(fields):
            is_missing = isinstance(value, Undefined) or value == Const(None)
            text = ast.Constant(0.0) if is_missing else self._read(value)
            if number in layout.lists:
                records = _load(_ITEMS.format(name, layout.lists[number]))
                pushed.append(ast.Expr(ast.Call(ast.Attribute(records, "append", ast.Load()), [text], [])))
            else:
                index = ast.Tuple([size, ast.Constant(layout.columns[number])], ast.Load())
                pushed.append(ast.Assign([ast.Subscript(_load(name), index, ast.Store())], text))
        pushed.append(ast.AugAssign(ast.Name(size.id, ast.Store()), ast.Add(), ast.Constant(1)))
        return [self._placed(each, op.where) for each in pushed]

    def _has_room(self, layout: Layout) -> bool:
        match layout.room:
            case Range(arguments=(_,) | (_, _)) | Each() | Enumerate(inner=Each()):
                return True
        return False

    # Ends, loops and copies

    def _end(self, terminator: Terminator, flow: Flow) -> list[ast.stmt]:
        if terminator == Return(FAILED):
            nothing = [self._nothing(each) for each in self.result]
            return [ast.Return(ast.Tuple([ast.Constant(False), *nothing], ast.Load()))]
        return Statements._end(self, terminator, flow)

    def _nothing(self, type_: Type) -> ast.expr:
        """A value of a type."""
        match type_:
            case ArrayOf(ndim=ndim):
                sizes: list[ast.expr] = [ast.Constant(0)] * ndim
                return ast.Call(self._global(_EMPTY), [ast.Tuple(sizes, ast.Load())], [])
            case Number(may=may) if may == {"int"}:
                return ast.Constant(0)
        return ast.Constant(0.0)

    def _for(self, loop: For) -> list[ast.stmt]:
        *start, made = Statements._for(self, loop)
        assert isinstance(made, ast.For)
        made.iter = _Downwards().visit(made.iter)
        return [*start, made]

    def _filled(self, target: Var, value: Value) -> Value:
        if not isinstance(value, Undefined) or target not in self.filled:
            return value
        return Const(stand_in(self.types.get(target)))


class _Downwards(ast.NodeTransformer):
    """`range(n - 1, -1, -1)` for `reversed(range(n))`."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="reversed"), args=[ast.Call(func=ast.Name(id="range")) as counted]):
                *before, end = counted.args
                last = _less(before[0]) if before else _whole(-1)
                return ast.Call(counted.func, [_less(end), last, _whole(-1)], [])
        return node


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _less(value: ast.expr) -> ast.expr:
    if isinstance(value, ast.Constant) and isinstance(value.value, int):
        return _whole(value.value - 1)
    return ast.BinOp(value, ast.Sub(), ast.Constant(1))


def _whole(value: int) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))
