"""Which functions may write into what they are given, or have captured, as far as their code tells."""

from __future__ import annotations

import bisect
import heapq
import operator
import types
from collections.abc import Callable

from microgradpy.ad.instrument import GETATTR
from microgradpy.frontend.closures import ClosureBody
from microgradpy.ir.nodes import Const, Function, Op, Opcode, Value, Var
from microgradpy.ir.traversal import walk
from microgradpy.runtime.bytecode import WRITERS, writes

_WRITE = frozenset({
    operator.setitem, operator.delitem, operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ior,
    heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop, bisect.insort_left, bisect.insort_right,
})  # fmt: skip


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
    sources: dict[Value, Value] = {}
    slices: set[Value] = set()
    for op in walk(function.body):
        match op:
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
                sources |= {} if index in slices else {result: items}  # a row, or a view
    for item, items in reversed(sources.items()):
        found |= {items} if item in found else set()
    return found
