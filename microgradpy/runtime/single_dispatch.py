"""Functions and methods of `functools.singledispatch`, which call the implementation for the class of their first argument.

A method's descriptor makes a function over the object for each reading of it, and gives it attributes; what it then calls looks
into a table that it fills. So neither is differentiated by its text: the implementation is found, and called on the object.
"""

from __future__ import annotations

import functools
import types
from typing import Any

from microgradpy.errors import MissingRuleError
from microgradpy.rules.registry import examples, rrule
from microgradpy.runtime.activity import may_be_active
from microgradpy.runtime.bars import Bars, Resolve, Resolved, given_to, nothing
from microgradpy.runtime.variables import value_in
from microgradpy.tangents.types import NoTangent, Tangent


def _first(self: Any, x: Any) -> Any:
    return x


class _Example:
    method = functools.singledispatchmethod(_first)


_READ: Any = functools.singledispatchmethod.__get__
_MADE: Any = functools.singledispatch(_first)
_FUNCTION: types.CodeType = _MADE.__code__
_REGISTER: types.CodeType = _MADE.register.__code__
_METHOD: types.CodeType | None = getattr(_Example().method, "__code__", None)


def by_single_dispatch(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved | None:
    """A call of a `functools.singledispatch` function, or of a method that was read from an object."""
    if f.__code__ is _FUNCTION and args:
        return resolve(f.dispatch(type(args[0])), args, kwargs)
    if f.__code__ is _REGISTER:
        return _made(f, *args, **kwargs), nothing(len(args))
    return _by_method(f, args, kwargs, resolve) if f.__code__ is _METHOD and args else None


def _made(f: Any, *args: Any, **kwargs: Any) -> Any:
    """The value of a call that makes a function which chooses, or registers one that it chooses from. Which one that is, is
    found when it is called, so that a cotangent of what they have captured would have no way back."""
    given = (*args, *kwargs.values())
    held = (cell for x in given if isinstance(x, types.FunctionType) for cell in x.__closure__ or ())
    if any(may_be_active(value_in(cell)) for cell in held):
        raise MissingRuleError(
            "an implementation of a functools.singledispatch function uses variables of the function around it",
            None,
            "Give it what it uses as an argument, or choose among functions with isinstance.",
        )
    return f(*args, **kwargs)


@rrule.register(functools.singledispatch)
def singledispatch_rrule(func: Any) -> Any:
    """It is made of functions that hold nothing that is differentiated."""

    def singledispatch_pullback(y_bar: Any) -> Any:
        return NoTangent(), NoTangent()

    return _made(functools.singledispatch, func), singledispatch_pullback


examples(functools.singledispatch, (_first,))


def _by_method(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved:
    cells = dict(zip(f.__code__.co_freevars, f.__closure__, strict=True))
    x = cells["obj"].cell_contents
    # Python 3.13 has the dispatcher's method in a cell, others the descriptor.
    found = cells["dispatch"].cell_contents if "dispatch" in cells else cells["self"].cell_contents.dispatcher.dispatch
    method = found(args[0].__class__)
    if x is None or not isinstance(method, types.FunctionType):
        y, back = resolve(method.__get__(x, cells["cls"].cell_contents), args, kwargs)
        return y, lambda y_bar, shadows=None: back(y_bar, shadows)._replace(function=None)
    y, back = resolve(method, (x, *args), kwargs)

    def dispatched_back(y_bar: Any, shadows: Any = None) -> Bars:
        bars = back(y_bar, shadows)
        own, *rest = bars.arguments
        own = given_to(x, own, shadows)
        return Bars(None if own is None else Tangent(type(f), {"obj": own}), tuple(rest), bars.keywords)

    return y, dispatched_back


@rrule.register(_READ)
def read_rrule(descriptor: Any, x: Any, cls: Any = None) -> Any:
    """The function that is made holds the object."""

    def read_pullback(y_bar: Any) -> Any:
        return NoTangent(), NoTangent(), y_bar.get("obj"), NoTangent()

    return _READ(descriptor, x, cls), read_pullback


examples(_READ, (_Example.__dict__["method"], None, _Example))
