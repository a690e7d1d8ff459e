"""`instrument`: operators, attribute and item access become calls, so that rules can catch them.

    %4 = %3 < %2        becomes     %4 = operator.lt(%3, %2)
    %5 = %1.weight                  %5 = getattr(%1, 'weight')
    %6 = %5[0]                      %6 = operator.getitem(%5, 0)
    x += y                          %7 = operator.iadd(%1, %2)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import Const, Function, Op, Opcode, Statement, fresh, function_constant, operator_constant
from microgradpy.ir.rewrite import map_statements

_ARITHMETIC = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "@": "matmul",
    "<<": "lshift",
    ">>": "rshift",
    "&": "and_",
    "|": "or_",
    "^": "xor",
}
_COMPARISONS = {
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "==": "eq",
    "!=": "ne",
    "is": "is_",
    "is not": "is_not",
}
_UNARY = {"not": "not_", "-": "neg", "+": "pos", "~": "invert"}
_IN_PLACE = {f"{symbol}=": "i" + name.rstrip("_") for symbol, name in _ARITHMETIC.items()}
_NAMES = _ARITHMETIC | _COMPARISONS | _IN_PLACE


GETATTR = function_constant(getattr)
# What `x += y` does where `x` cannot be written into: `operator.iadd` to `operator.add`, and so on.
OUT_OF_PLACE: dict[Callable[..., Any], Const] = {
    getattr(operator, "i" + name.rstrip("_")): operator_constant(name) for name in _ARITHMETIC.values()
}


def instrument_function(function: Function) -> Function:
    """The same function with every operator, attribute and item access as a call. Nested functions too."""
    return replace(function, body=map_statements(function.body, _instrument))


def _instrument(statement: Statement) -> tuple[Statement, ...]:
    if not isinstance(statement, Op) or not isinstance(statement.callee, Opcode):
        return (statement,)
    match statement:
        case Op(callee=Opcode.INFIX, payload="in"):
            container_last = statement.arguments[::-1]
            return (replace(statement, callee=operator_constant("contains"), arguments=container_last, payload=None),)
        case Op(callee=Opcode.INFIX, payload="not in"):
            found = fresh()
            contains = operator_constant("contains")
            inner = replace(statement, callee=contains, arguments=statement.arguments[::-1], results=(found,), payload=None)
            return (inner, replace(statement, callee=operator_constant("not_"), arguments=(found,), payload=None))
        case Op(callee=Opcode.INFIX, payload=symbol, arguments=arguments):
            return (replace(statement, callee=_operator(symbol, len(arguments)), payload=None),)
        case Op(callee=Opcode.GETATTR, payload=name, arguments=(target,)):
            return (replace(statement, callee=GETATTR, arguments=(target, Const(name)), payload=None),)
        case Op(callee=Opcode.GETITEM):
            return (replace(statement, callee=operator_constant("getitem")),)
    return (statement,)


def _operator(symbol: Any, arity: int) -> Const:
    if arity == 1:
        return operator_constant(_UNARY[symbol])
    return operator_constant(_NAMES[symbol])
