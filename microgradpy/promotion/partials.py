"""`functools.partial`: a call of one is a call of its function with what it was given before.

    cube = partial(power, exponent=3)
    cube(x + t)                            power(x + t, exponent=3)
"""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping
from typing import Any

from microgradpy.ad.binding import is_literal
from microgradpy.frontend.sharing import rebound_globals
from microgradpy.ir.nodes import Const, Op
from microgradpy.promotion.class_members import is_function
from microgradpy.promotion.places import ClassMethod, Closure, Frame, Known, Method, Partial
from microgradpy.rules.registry import rrule

_CALLED = (Closure, Method, ClassMethod, Partial)


def new_partial(
    walker: Any, op: Op, arguments: tuple[Known, ...], keywords: Mapping[str, Known], frame: Frame
) -> Partial | None:
    """What `partial(f, ...)` makes, if it is known what it calls."""
    origin = (*frame.path, op.results[0])
    if not arguments or origin in walker.facts.kept or rrule.has_others(functools.partial):
        return None
    walker.check_given(arguments[0])
    function = arguments[0]
    if not isinstance(function, _CALLED) and not (isinstance(function, Const) and is_function(function.value)):
        return None
    return Partial(origin, function, arguments[1:], dict(keywords))


def partial_of_module(walker: Any, op: Op, frame: Frame) -> Partial | None:
    """A variable of the module that is a `partial` of literals and functions; it has to be that when the code is used again."""
    namespace, name = walker.function.__globals__, str(op.payload)
    found = namespace.get(name)
    origin = (*frame.path, op.results[0])
    is_read = op.arguments or type(found) is not functools.partial or origin in walker.facts.kept
    if is_read or name in rebound_globals(namespace) or not isinstance(found.func, types.FunctionType):
        return None
    if not all(is_literal(value) or is_function(value) for value in (*found.args, *found.keywords.values())):
        return None
    walker.checks.append((namespace, name, found))
    walker.checks += [(found.keywords, key, value) for key, value in found.keywords.items()]
    keywords = {key: _constant(value) for key, value in found.keywords.items()}
    return Partial(origin, _constant(found.func), tuple(map(_constant, found.args)), keywords)


def _constant(value: Any) -> Const:
    return Const(value, value.__name__, value) if is_function(value) else Const(value)
