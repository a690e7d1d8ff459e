"""Positions, keywords and defaults of a call that is compiled, bound to the parameters of the function as Python binds them."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType
from typing import Any, NamedTuple

from microgradpy.ir.nodes import Const, Value


class Packed(NamedTuple):
    """What a variadic parameter gets: a tuple of items, or a dict with these keys."""

    items: tuple[Value, ...]
    keys: tuple[str, ...] | None = None


def bind_arguments(
    function: FunctionType, arguments: tuple[Value, ...], keywords: Mapping[str, Value], defaults: Mapping[str, Value]
) -> dict[str, Value] | None:
    """The value of each parameter by its name, in their order; None if one is variadic, or Python cannot bind them either."""
    if function.__code__.co_flags & (CO_VARARGS | CO_VARKEYWORDS):
        return None
    bound = bind_inputs(function, arguments, keywords, defaults)
    return None if bound is None else dict(zip(function.__code__.co_varnames, bound, strict=False))  # type: ignore[arg-type]


def bind_inputs(
    function: FunctionType,
    arguments: tuple[Value, ...],
    keywords: Mapping[str, Value],
    defaults: Mapping[str, Value] | Mapping[str, Value | Packed],
) -> list[Value | Packed] | None:
    """The value of each parameter, in their order, or its default; None if Python cannot bind them either."""
    code = function.__code__
    count = code.co_argcount
    names = code.co_varnames[: count + code.co_kwonlyargcount]
    given = dict(zip(names[:count], arguments, strict=False))
    more = {name: value for name, value in keywords.items() if name not in names[code.co_posonlyargcount :]}
    named = {name: value for name, value in keywords.items() if name not in more}
    has_rest, has_more = code.co_flags & CO_VARARGS, code.co_flags & CO_VARKEYWORDS
    if not named.keys().isdisjoint(given) or (more and not has_more) or (len(arguments) > count and not has_rest):
        return None
    values: dict[str, Value | Packed] = {**defaults, **given, **named}
    if not values.keys() >= set(names):
        return None
    bound: list[Value | Packed] = [values[name] for name in names[:count]]
    bound += [Packed(arguments[count:])] if has_rest else []
    bound += [values[name] for name in names[count:]]
    return bound + ([Packed(tuple(more.values()), tuple(more))] if has_more else [])


def literal_defaults(function: FunctionType) -> dict[str, Value]:
    """The parameters whose defaults are literals. Other defaults have no name in generated code."""
    return {name: Const(value) for name, value in _defaults(function).items() if is_literal(value)}


def written_defaults(function: FunctionType) -> dict[str, Value | Packed]:
    """The same, and the parameters whose defaults are tuples of literals, which can be made where the call stands."""
    tuples = {name: value for name, value in _defaults(function).items() if is_tuple_of_literals(value)}
    packed = {name: Packed(tuple(map(Const, value))) for name, value in tuples.items()}
    return {**literal_defaults(function), **packed}


def _defaults(function: FunctionType) -> dict[str, Any]:
    positional = function.__code__.co_varnames[: function.__code__.co_argcount]
    defaults = dict(zip(reversed(positional), reversed(function.__defaults__ or ()), strict=False))
    return defaults | (function.__kwdefaults__ or {})


def is_literal(value: object) -> bool:
    """Whether generated code can contain the value itself."""
    return value is None or isinstance(value, bool | int | float | str)


def is_tuple_of_literals(value: object) -> bool:
    return type(value) is tuple and all(map(is_literal, value))
