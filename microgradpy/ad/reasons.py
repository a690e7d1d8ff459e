"""Why a call is left to run time, or makes a function track what it writes: what the primal knows when it decides so, said of
the user's program.

    s += e          line 12: `s += e` is tracked: it may write in place, as the kind of `s` is not proven
    y = f(x)        line 13: `f(x)` is dispatched: `f` is an argument
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator, Mapping
from types import FunctionType
from typing import Any, TypeGuard

import numpy as np

from microgradpy.ad.calls import Call, Dispatched
from microgradpy.ad.primal_builder import NeedsTracking, PrimalBuilder
from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import Kind, Numeric, Optional, Sequence, TupleOf, Unknown, python_type
from microgradpy.ir.nodes import STATEMENT, Augmented, Const, For, Function, Op, Opcode, Value, Var, While, function_constant
from microgradpy.ir.reasons import DISPATCHED, TRACKED, MayWrite, Reason, expression_at, reason_at
from microgradpy.ir.traversal import walk
from microgradpy.passes.typed_builder import is_getattr
from microgradpy.rules.registry import rrule
from microgradpy.runtime.making import Maker
from microgradpy.runtime.variables import new_cell

# What writes


def needs_tracking(op: Op, found: str, why: str, remedy: str = "") -> NeedsTracking:
    """What is raised at an operation that may write."""
    reason = reason_at(TRACKED, op.where, why, remedy)
    if isinstance(op.payload, Augmented) or op.payload == STATEMENT or op.callee is Opcode.STORE:
        reason = replace(reason, text=op.where.text)  # what is assigned to is a part of it
    return NeedsTracking(MayWrite(f"{found} in line {op.where.line}", (reason,)))


def needs_variable(op: Op, is_cell: bool) -> NeedsTracking:
    """What is raised at a read or write of a variable that is kept in a cell, or in its module."""
    why = _ASSIGNED_LATER if is_cell else "functions of the module assign it"
    found = needs_tracking(op, "a shared variable", why).found
    reasons = tuple(replace(reason, text=variable_of(op) or reason.text) for reason in found.reasons)
    return NeedsTracking(replace(found, reasons=reasons))


def needs_class(op: Op) -> NeedsTracking:
    """What is raised at a class inside."""
    why = "its methods may read what is differentiated, which then has its cotangent in cells"
    return needs_tracking(op, "a class that may hold what is differentiated", why, "define it outside")


def whatever_came_first(function: Function, assigned: frozenset[str], reasons: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """The same reasons if the function has been compiled before, when a variable that no function inside assigns was found to
    need a cell: then a class reads it."""
    first = reasons[0] if reasons else None
    if first is None or first.why != _ASSIGNED_LATER or first.text in assigned:
        return reasons
    made = (op for op in walk(function.body) if isinstance(op, Op) and isinstance(op.callee, Const))
    of_class = next((op for op in made if isinstance(op.callee.value, Maker) and op.callee.value.makes_class), None)  # type: ignore[union-attr]
    return reasons if of_class is None else (*needs_class(of_class).found.reasons, *reasons[1:])


_ASSIGNED_LATER = "a function assigns it that may be called later"


def variable_of(op: Op) -> str:
    """The name of the variable whose cell an operation makes."""
    return op.result.hint.removesuffix("_cell") if op.callee == _NEW_CELL else ""


_NEW_CELL = function_constant(new_cell)


def why_written(primal: PrimalBuilder, arguments: tuple[Value, ...]) -> tuple[str, str]:
    """Why a call that writes into one of its arguments is not the function's own affair; and what to do."""
    target = next((value for value in arguments if isinstance(value, Var)), None)
    name = _described(target, primal.producers, "a value")
    if target is None:
        return "it writes into a value that others have", ""
    if primal.origin.get(target) != target:
        made = primal.producers.get(target)
        return f"it writes into {name}, which {'stays memory' if made is not None and made.callee in _MAKE else _WHOSE}", ""
    if isinstance(primal.kind(target), Unknown):
        return f"it writes into {name}, which it was given, and of which nothing is proven", ""
    cls = python_type(primal.kind(target))
    remedy = f"write into a copy: {target.hint} = {_COPIES[cls].format(target.hint)}" if cls in _COPIES else ""
    return f"it writes into {name}, which it was given", remedy


_WHOSE = "others may have"
_COPIES: dict[type | None, str] = {np.ndarray: "{}.copy()", list: "[x for x in {}]", dict: "dict({})"}
_MAKE = (Opcode.LIST, Opcode.DICT, Opcode.SET)


def why_in_place(primal: PrimalBuilder, op: Op, target: Value, binary: Const) -> tuple[str, str]:
    """Why `target += given` may not be written as `target = target + given`; and what to do."""
    name = _name(target) or expression_at(op.where).partition("=")[0].rstrip("+-*/%@&|^<> ")
    is_given = isinstance(target, Var) and primal.origin.get(target) == target
    if python_type(primal.kind(target)) is not None:
        why = f"it writes into `{name}`, which {'it was given' if is_given else _WHOSE}"
    else:
        added = primal.of(op.arguments[1])
        makes_it_so = not is_given and isinstance(primal.kind(added), Unknown)  # the sum of before is of unknown kind, too
        unproven = _described(added, primal.producers) if makes_it_so else f"`{name}`"
        why = f"it may write in place, as the kind of {unproven} is not proven"
    return why, f"write {name} = {name} {_SIGNS.get(binary.value.__name__, '+')} ..."


_SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@"}
_SIGNS |= {"and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>"}


def why_kept(function: Any) -> str:
    """Why what a call returns is known to others, or may be written into."""
    if isinstance(function, functools._lru_cache_wrapper):
        return f"`{function.__name__}` keeps what it returns for later calls"
    return f"it makes a `{function.__name__}`, which may be written into"


# What is left to run time


def reasons_of_calls(function: Function, calls: Mapping[Var, Call]) -> tuple[Reason, ...]:
    """Why calls in a primal are dispatched."""
    if not any(isinstance(call, Dispatched) for call in calls.values()):
        return ()
    made = dict(_definitions(function))
    dispatched = [call for call in calls.values() if isinstance(call, Dispatched) and call.result in made]
    return tuple(_reason_of_call(call, function, made) for call in dispatched)


def _reason_of_call(call: Dispatched, function: Function, made: Mapping[Var, Op | None]) -> Reason:
    why, remedy = _why_dispatched(call, function, made)
    if call.where.line:
        return reason_at(DISPATCHED, call.where, why, remedy)
    # An object in sight that others get is made for them, where no line says so.
    return Reason(DISPATCHED, function.where, _called_name(call.callee), why, remedy)


def _called_name(callee: Value) -> str:
    called = callee.value if isinstance(callee, Const) else None
    return str(getattr(called, "__name__", type(called).__name__))


def _definitions(function: Function) -> Iterator[tuple[Var, Op | None]]:
    """The variables of a function, with the operations that they are the results of."""
    for statement in walk(function.body):
        for result in statement.results:
            yield result, statement if isinstance(statement, Op) else None
        if isinstance(statement, While | For):
            yield from ((parameter, None) for parameter in statement.parameters)


def _why_dispatched(call: Dispatched, function: Function, made: Mapping[Var, Op | None]) -> tuple[str, str]:
    if isinstance(call.callee, Var):
        return _why_unknown_callee(call.callee, function, made)
    called = call.callee.value if isinstance(call.callee, Const) else None
    name, has_rule = _called_name(call.callee), isinstance(called, Hashable) and rrule.has(called)
    if called is getattr:
        return f"the class of {_described(call.arguments[0], made)} is not proven, and may compute it", ""
    if call.packed or call.named:
        return _how_given(call, made), "write the arguments out by position"
    if isinstance(called, FunctionType) and not has_rule and not _is_of_package(called):
        return f"`{name}` cannot be compiled in", ""
    unproven = next((value for value in call.arguments if _is_unproven(value, function.kinds)), None)
    if unproven is not None:
        op = made.get(unproven)
        if op is not None and op.callee is Opcode.CLOSURE:
            return f"`{name}` calls a function that it is given", ""
        return f"the kind of {_described(unproven, made)} is not proven", ""
    if has_rule:
        kinds = [function.kinds.get(value) for value in call.arguments if isinstance(value, Var)]
        name = _SIGNS.get(name, name)
        if rrule.is_typed(called) or any(isinstance(kind, Sequence | TupleOf) for kind in kinds):
            return f"which rule of `{name}` applies is decided when it is called", ""
        loose = next((value for value in call.arguments if _is_numeric(value, function.kinds)), None)
        if loose is not None:
            return f"whether {_described(loose, made)} is a number or an array is not proven", ""
        return f"the rule of `{name}` cannot be compiled in", ""
    return _why_without_rule(called, name, function.kinds.get(call.result)), ""


def _why_without_rule(called: Any, name: str, result: Kind | None) -> str:
    if isinstance(called, FunctionType):
        return "it is done at run time"
    if isinstance(result, Unknown) and result.is_iterator:
        return f"`{name}` makes an iterator"
    return f"it makes a `{name}`" if isinstance(called, type) else f"`{name}` has no rule that could be compiled in"


def _is_of_package(function: FunctionType) -> bool:
    """Whether it is what the compiler puts into programs."""
    return str(function.__module__).partition(".")[0] == "microgradpy"


def _how_given(call: Dispatched, made: Mapping[Var, Op | None]) -> str:
    """How arguments are given that have no cotangents of their own."""
    packed = made.get(call.arguments[1]) if call.packed and isinstance(call.arguments[1], Var) else None
    keys = () if packed is None or packed.callee is not Opcode.DICT else packed.arguments[::2]
    names = call.named or tuple(str(key.value) for key in keys if isinstance(key, Const))
    shown = " and ".join(f"`{name}`" for name in names)
    return f"{shown} {'is' if len(names) == 1 else 'are'} given by name" if names else "its arguments are unpacked"


def _why_unknown_callee(callee: Var, function: Function, made: Mapping[Var, Op | None]) -> tuple[str, str]:
    read = made.get(callee)
    if callee in function.inputs:
        return f"`{callee.hint}` is an argument", ""
    if read is not None and is_getattr(read.callee) and isinstance(read.arguments[0], Var):
        owner = _described(read.arguments[0], made)
        return f"the method is looked up when it is called, as the kind of {owner} is not proven", ""
    named = _described(callee, made, "")
    return f"which function {f'{named} is,' if named else 'is called'} is known at run time only", ""


def _is_unproven(value: Value, kinds: Mapping[Var, Kind]) -> TypeGuard[Var]:
    return isinstance(value, Var) and isinstance(kinds.get(value), Unknown)


def _is_numeric(value: Value, kinds: Mapping[Var, Kind]) -> bool:
    """Whether a value is a number or an array, and not known which."""
    return isinstance(value, Var) and isinstance(kinds.get(value), Numeric | Optional)


def _described(value: Value | None, made: Mapping[Var, Any], otherwise: str = "an operand") -> str:
    """A value as the user knows it: by its name, or the expression that it is the value of."""
    name = _name(value)
    op = made.get(value) if isinstance(value, Var) else None
    if not name and op is not None and op.where.line:
        name = expression_at(op.where)
    return f"`{name}`" if name else otherwise


def _name(value: Value | None) -> str:
    """What the user calls a value, if it has a name."""
    match value:
        case Var(hint=hint, user_named=True) if hint.isidentifier():
            return hint
        case Const(path=path) if path:
            return path
    return ""
