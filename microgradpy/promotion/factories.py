"""Functions that return what they have made: an object, a container of some, a function with variables of its own."""

from __future__ import annotations

from microgradpy.ir.nodes import Const, For, Function, If, Op, Opcode, Return, Value, Var, While
from microgradpy.ir.traversal import terminator_values, walk
from microgradpy.promotion.classes import is_in_sight

_CONTAINERS = (Opcode.LIST, Opcode.TUPLE, Opcode.DICT, Opcode.APPEND)
_MOST_STEPS = 8


def returns_what_it_makes(function: Function) -> bool:
    """Whether a function returns memory that the caller may follow."""
    end = function.body.terminator
    return isinstance(end, Return) and _is_made(function, end.value, _MOST_STEPS)


def _is_made(function: Function, value: Value, steps: int) -> bool:
    made = _producer(function, value)
    match made:
        case Op(callee=Opcode.CLOSURE, payload=payload):
            return bool(getattr(payload, "shared", ()))
        case Op(callee=Opcode() as opcode) if opcode in _CONTAINERS:
            return any(isinstance(each, Op) and _makes_object(each) for each in walk(function.body))
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
