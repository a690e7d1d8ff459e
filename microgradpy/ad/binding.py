"""Positions, keywords and defaults of a call that is compiled, bound to the parameters of the function as Python binds them."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType

from microgradpy.ir.nodes import Const, Value


def bind_arguments(
    function: FunctionType, arguments: tuple[Value, ...], keywords: Mapping[str, Value], defaults: Mapping[str, Value]
) -> dict[str, Value] | None:
    """The value of each parameter, in their order, or its default; None if only Python can bind them: to variadic
    parameters, or not at all."""
    code = function.__code__
    if code.co_flags & (CO_VARARGS | CO_VARKEYWORDS) or len(arguments) > code.co_argcount:
        return None
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    given = dict(zip(names, arguments, strict=False))
    if any(name in given or name not in names[code.co_posonlyargcount :] for name in keywords):
        return None
    values = {**defaults, **given, **keywords}
    return {name: values[name] for name in names} if values.keys() >= set(names) else None


def literal_defaults(function: FunctionType) -> dict[str, Value]:
    """The parameters whose defaults are literals. Other defaults have no name in generated code."""
    positional = function.__code__.co_varnames[: function.__code__.co_argcount]
    defaults = dict(zip(reversed(positional), reversed(function.__defaults__ or ()), strict=False))
    defaults |= function.__kwdefaults__ or {}
    return {name: Const(value) for name, value in defaults.items() if is_literal(value)}


def is_literal(value: object) -> bool:
    """Whether generated code can contain the value itself."""
    return value is None or isinstance(value, bool | int | float | str)
