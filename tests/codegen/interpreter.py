"""Runs structured SSA directly: what the emitted text is compared with."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from microgradpy.ir.nodes import (
    UNDEFINED,
    Break,
    Const,
    Continue,
    DictItems,
    Each,
    Enumerate,
    For,
    Function,
    If,
    Items,
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
    Undefined,
    Value,
    Var,
    While,
    Yield,
    Zip,
)
from microgradpy.ir.traversal import item_variables

_SIGNS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "<": operator.lt}


def run(function: Function, *arguments: Any, module_globals: Mapping[str, Any] | None = None) -> Any:
    """What the function returns for the values of its captured variables and its parameters."""
    variables = (*function.captured, *(parameter.var for parameter in function.parameters))
    machine = _Machine(dict(zip(variables, arguments, strict=True)), module_globals or {})
    end, values = machine.region(function.body)
    assert isinstance(end, Return), end
    return values[0]


class _Machine:
    def __init__(self, variables: dict[Var, Any], module_globals: Mapping[str, Any]) -> None:
        self.variables = variables
        self.module_globals = module_globals

    def value(self, value: Value) -> Any:
        match value:
            case Var():
                return self.variables[value]
            case Const(value=constant):
                return constant
            case Undefined():
                return UNDEFINED

    def values(self, values: Sequence[Value]) -> list[Any]:
        return [self.value(value) for value in values]

    def bind(self, variables: Sequence[Var], values: Sequence[Any]) -> None:
        self.variables.update(zip(variables, values, strict=True))

    def region(self, region: Region) -> tuple[Terminator, list[Any]]:
        """The terminator that ended the region, and its values."""
        for statement in region.statements:
            left = self.statement(statement)
            if left is not None:
                return left
        match region.terminator:
            case Yield(values=values) | Continue(values=values) | Break(values=values):
                return region.terminator, self.values(values)
            case Return(value=value):
                return region.terminator, [self.value(value)]
            case Raise(exception=exception) if exception is not None:
                raise self.value(exception)
        raise AssertionError("an unreachable place was reached")

    def statement(self, statement: Statement) -> tuple[Terminator, list[Any]] | None:
        match statement:
            case Op():
                self.bind(statement.results, self.operation(statement))
            case If(condition=condition, then=then, orelse=orelse, results=results):
                end, values = self.region(then if self.value(condition) else orelse)
                if not isinstance(end, Yield):
                    return end, values
                self.bind(results, values)
            case While() | For():
                return self.loop(statement)
        return None

    def loop(self, loop: While | For) -> tuple[Terminator, list[Any]] | None:
        turns = self.items(loop.items) if isinstance(loop, For) else None
        state = self.values(loop.initial)
        while True:
            self.bind(loop.parameters, state)
            if turns is None:
                assert isinstance(loop, While)
                _, (more,) = self.region(loop.condition)
                if not more:
                    break
            else:
                turn = next(turns, None)
                if turn is None:
                    break
                assert isinstance(loop, For)
                self.bind(item_variables(loop.items), turn)
            end, state = self.region(loop.body)
            if isinstance(end, Return):
                return end, state
            if isinstance(end, Break):
                break
        self.bind(loop.results, state)
        return None

    def items(self, items: Items) -> Iterator[list[Any]]:
        match items:
            case Each(source=source):
                return ([item] for item in self.value(source))
            case Range(arguments=arguments):
                return ([item] for item in range(*self.values(arguments)))
            case Enumerate(inner=inner, start=start):
                return ([i, *rest] for i, rest in enumerate(self.items(inner), self.value(start)))
            case Zip(inners=inners):
                turns = zip(*map(self.items, inners), strict=False)
                return (list(itertools.chain.from_iterable(parts)) for parts in turns)
            case Reversed(inner=inner):
                return iter(list(self.items(inner))[::-1])
            case DictItems(source=source):
                return ([key, value] for key, value in self.value(source).items())
            case Records(tape=tape, fields=fields):
                records = reversed(self.value(tape))
                return ([] if not fields else [record] if len(fields) == 1 else list(record) for record in records)

    def operation(self, op: Op) -> Sequence[Any]:
        values = self.values(op.arguments)
        match op.callee:
            case Opcode.TUPLE:
                return [tuple(values)]
            case Opcode.LIST:
                return [values]
            case Opcode.DICT:
                return [dict(zip(values[0::2], values[1::2], strict=True))]
            case Opcode.SET:
                return [set(values)]
            case Opcode.UNPACK:
                return list(values[0])
            case Opcode.JOIN:
                return ["".join(values)]
            case Opcode.APPEND:
                values[0].append(values[1])
                return [values[0]]
            case Opcode.APPLY:
                return [values[0](*values[1], **values[2])]
            case Opcode.GLOBAL:
                return [self.module_globals[op.payload]]
            case Opcode.INFIX:
                return [_SIGNS[op.payload](*values)]
            case Opcode.GETATTR:
                return [getattr(values[0], op.payload)]
            case Opcode.GETITEM:
                return [values[0][values[1]]]
            case Opcode.TAPE:
                return [[]]
            case Opcode.RECORD:
                tape, *fields = values
                tape.append(None if not fields else fields[0] if len(fields) == 1 else tuple(fields))
                return []
            case Opcode.CLOSURE:
                raise AssertionError("closures are tested by themselves")
        keywords = {name: self.value(value) for name, value in op.keywords}
        return [self.value(op.callee)(*values, **keywords)]
