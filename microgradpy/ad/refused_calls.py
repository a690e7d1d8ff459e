"""Calls that are refused by what is called, whatever is differentiated: the primal raises where it reaches one.

    eval("x * y")          the variables of the frame are not what they were
    np.sin = math.sin      code was compiled for what it replaces
    np.copyto(x, y)        writes into an argument: the function is compiled again, tracked
"""

from __future__ import annotations

import operator
from types import ModuleType
from typing import Any

from microgradpy.ad.differentiated_calls import name_of
from microgradpy.ad.primal_builder import PrimalBuilder
from microgradpy.ad.reasons import needs_tracking, why_written
from microgradpy.frontend.resolve import FUNCTION_TYPES
from microgradpy.ir.kinds import Inert
from microgradpy.ir.nodes import Const, Op, Value
from microgradpy.originals import is_library
from microgradpy.rules.registry import rrule
from microgradpy.runtime import opaque
from microgradpy.runtime.constructors import CALL_FINALISER, finalised, has_finaliser
from microgradpy.runtime.dispatch import DIFFERENTIATE_BY, NESTED
from microgradpy.runtime.markers import FOR_WHOLE_RUNS, NESTED_DIFFERENTIATION
from microgradpy.runtime.opaque import REPLACE_OUTSIDE
from microgradpy.runtime.writes import written_argument
from microgradpy.state.object_graph import is_users_class
from microgradpy.state.reachable_writes import own_method_that_writes

_SEES_THE_FRAME: Any = frozenset({eval, exec, locals, vars, dir})


def is_hashable(function: object) -> bool:
    """Whether a callee can be looked up in tables at all."""
    try:
        hash(function)
    except TypeError:
        return False
    return True


def refuse_call(primal: PrimalBuilder, op: Op, callee: Const) -> bool:
    """Refuse, when reached, the calls that cannot be differentiated by what they are; whether this is one."""
    function = callee.value
    if not is_hashable(function):
        return False
    arguments, keywords = primal.inputs(op)
    if primal.any_active(arguments, keywords) and function in NESTED_DIFFERENTIATION and not rrule.has(function):
        primal.refuse(
            op,
            opaque.refuse_syntax,
            f"{NESTED} ({name_of(callee)})",
            DIFFERENTIATE_BY,
        )
    elif function in FOR_WHOLE_RUNS:
        primal.refuse(
            op,
            opaque.refuse_syntax,
            f"`with {name_of(callee)}(...)` inside differentiated code, on which it has no effect",
            "Put the `with` around the call that differentiates.",
        )
    elif function in _SEES_THE_FRAME and not arguments[function in (eval, exec) :]:
        primal.refuse(
            op,
            opaque.refuse_syntax,
            f"{function.__name__}() reads the variables of the frame it is called in",
            "Write the expression out, or name the variables.",
        )
    elif isinstance(function, type) and has_finaliser(function):
        primal.refuse(op, opaque.refuse_mutation, finalised(function), CALL_FINALISER)
    elif primal.services.tracks and (asked := _writing_metaclass(function, arguments)) is not None:
        remedy = "Let it compute its answer only, or do what it does in a function that is called by name."
        primal.refuse(op, opaque.refuse_mutation, f"{asked}, of a metaclass, may write", remedy)
    elif (replaced := _replaced(function, arguments)) is not None:
        primal.refuse(op, opaque.refuse_mutation, f"{replaced} is replaced inside differentiated code", REPLACE_OUTSIDE)
    else:
        return refuse_write(primal, op, function, name_of(callee), arguments)
    return True


_OF_METACLASSES: Any = {
    isinstance: ("__instancecheck__",), issubclass: ("__subclasscheck__",),
    operator.eq: ("__eq__", "__ne__"), operator.ne: ("__eq__", "__ne__"),
}  # fmt: skip


def _writing_metaclass(function: Any, arguments: tuple[Value, ...]) -> str | None:
    """The method of a metaclass that a call asks without anybody seeing it, if it may write: by which an object is made, or a
    class compared."""
    asked = [(function, ("__call__",))] if isinstance(function, type) else []
    names = _OF_METACLASSES.get(function, ())
    given = [value.value for value in arguments if isinstance(value, Const)]
    asked += [(value, names) for value in given if names and isinstance(value, type)]
    for cls, methods in asked:
        found = own_method_that_writes(type(cls), methods) if is_users_class(type(cls)) else None
        if found is not None:
            return found.__qualname__
    return None


def _replaced(function: object, arguments: tuple[Value, ...]) -> str | None:
    """The name of what an assignment to an attribute of a module replaces, if code is compiled for what it was."""
    if function not in (setattr, delattr) or len(arguments) < 2:
        return None
    match arguments[:2]:
        case Const(value=ModuleType() as module), Const(value=str() as name):
            is_folded = is_library(module.__name__) or isinstance(vars(module).get(name), FUNCTION_TYPES)
            return f"{module.__name__}.{name}" if is_folded else None
        case Const(value=ModuleType() as module), _:
            return f"an attribute of {module.__name__}"
    return None


def refuse_write(primal: PrimalBuilder, op: Op, function: object, name: str, arguments: tuple[Value, ...]) -> bool:
    """Refuse a call that writes into one of its arguments; whether this is one."""

    def given(value: Value) -> object:
        if isinstance(value, Const):
            return value.value
        return None if primal.kind(value) == Inert("NoneType") else value

    if primal.services.tracks:
        return False
    keywords = {keyword: given(value) for keyword, value in primal.inputs(op)[1]}
    if written_argument(function, tuple(map(given, arguments)), keywords) is not None:
        raise needs_tracking(op, name, *why_written(primal, arguments))
    return False
