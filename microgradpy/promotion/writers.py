"""What functions do as far as their code tells: which may write into what they are given, or have captured; and which return
what they have made: an object, a container of some, a function."""

from __future__ import annotations

import bisect
import heapq
import operator
import types
from collections.abc import Callable, Iterator

from microgradpy.ad.instrument import GETATTR
from microgradpy.frontend.closures import ClosureBody
from microgradpy.ir.nodes import Const, For, Function, If, Op, Opcode, Return, Value, Var, While, Yield
from microgradpy.ir.traversal import terminator_values, walk
from microgradpy.promotion.classes import is_in_sight, is_record
from microgradpy.runtime.bytecode import WRITERS, writes

_WRITE = frozenset({
    operator.setitem, operator.delitem, operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ior,
    heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop, bisect.insort_left, bisect.insort_right,
})  # fmt: skip

_CONTAINERS = (Opcode.LIST, Opcode.TUPLE, Opcode.DICT, Opcode.APPEND)
_MOST_STEPS = 8


def may_write(function: types.FunctionType, seen: frozenset[types.CodeType] = frozenset()) -> bool:
    """Whether a function, or one of its module that it names, has anything in it that writes."""
    code = function.__code__
    if writes(code):
        return True
    named = (function.__globals__.get(name) for name in code.co_names)
    return any(
        isinstance(each, types.FunctionType) and each.__globals__ is function.__globals__ and may_write(each, seen | {code})
        for each in named
        if getattr(each, "__code__", code) not in seen | {code}
    )


Written = Callable[[types.FunctionType], frozenset[int]]
"""Which of its parameters a function may write into."""


def written_parameters(function: Function, of: Written) -> frozenset[int]:
    """Which of its parameters a function may write into; `of` says that of those that it calls."""
    written = _written(function, of)
    return frozenset(number for number, parameter in enumerate(function.parameters) if parameter.var in written)


def written_captures(body: ClosureBody, of: Written) -> frozenset[int]:
    """Which of the variables that a function made inside has captured it may write into."""
    written = _written(body.function, of)
    return frozenset(number for number, var in enumerate(body.function.captured) if var in written)


def _written(function: Function, of: Written) -> set[Value]:
    found: set[Value] = set()
    sources: list[tuple[Value, Value]] = []
    """What is a part of another value, or may be that: a row, a view, what a branch gives (`[] if log is None else log`)."""
    slices: set[Value] = set()
    for op in walk(function.body):
        match op:
            case If() | For() | While():
                sources += _sources(op)
            case Op(callee=Opcode.CLOSURE, payload=ClosureBody() as inner):
                found |= {op.arguments[number] for number in written_captures(inner, of)}
            case Op(callee=callee, arguments=(Var() as target, Const(value=str() as name), *_)) if callee == GETATTR:
                found |= {target} if name in WRITERS else set()
            case Op(callee=Const(value=types.FunctionType() as callee)):
                found |= {op.arguments[number] for number in of(callee) if number < len(op.arguments)}
            case Op(callee=Const(value=callee), arguments=(target, *_)) if callee in _WRITE:
                found.add(target)
            case Op(callee=Const(value=callee), results=(result,)) if callee is slice:
                slices.add(result)
            case Op(callee=Const(value=callee), arguments=(items, index), results=(result,)) if callee is operator.getitem:
                sources += [] if index in slices else [(result, items)]
    while more := {of for value, of in sources if value in found and isinstance(of, Var)} - found:
        found |= more
    return found


def _sources(statement: If | For | While) -> Iterator[tuple[Value, Value]]:
    """What the results of a branch may be, and what a loop carries."""
    if isinstance(statement, If):
        for arm in (statement.then, statement.orelse):
            if isinstance(arm.terminator, Yield):
                yield from zip(statement.results, arm.terminator.values, strict=True)
    else:
        yield from zip(statement.parameters, statement.initial, strict=True)
        yield from zip(statement.results, statement.initial, strict=True)


def returns_what_it_makes(function: Function) -> bool:
    """Whether a function returns memory that the caller may follow."""
    end = function.body.terminator
    return isinstance(end, Return) and _is_made(function, end.value, _MOST_STEPS)


def _is_made(function: Function, value: Value, steps: int) -> bool:
    made = _producer(function, value)
    match made:
        case Op(callee=Opcode.CLOSURE):
            return True
        case Op(callee=Opcode() as opcode) if opcode in _CONTAINERS:
            return any(isinstance(each, Op) and (_makes_object(each) or _makes_record(each)) for each in walk(function.body))
        case Op(callee=Const(value=cls)) if cls in (list, dict):
            return bool(steps) and any(_is_made(function, each, steps - 1) for each in made.arguments)
        case Op():
            return _makes_object(made)
        case For(results=results, initial=initial) | While(results=results, initial=initial):
            return bool(steps) and _is_made(function, initial[results.index(value)], steps - 1)
        case If(results=results):
            arms = [terminator_values(region.terminator) for region in (made.then, made.orelse)]
            number = results.index(value)
            return bool(steps) and any(
                len(values) == len(results) and _is_made(function, values[number], steps - 1) for values in arms
            )
    return False


def _producer(function: Function, value: Value) -> object:
    if not isinstance(value, Var):
        return None
    return next((each for each in walk(function.body) if value in getattr(each, "results", ())), None)


def _makes_object(op: Op) -> bool:
    cls = op.callee.value if isinstance(op.callee, Const) else None
    return isinstance(cls, type) and is_in_sight(cls)


def _makes_record(op: Op) -> bool:
    """Whether an operation makes a namedtuple: a list of such is one of tuples, whose kinds nobody knows who calls for it."""
    cls = op.callee.value if isinstance(op.callee, Const) else None
    return isinstance(cls, type) and is_record(cls)
