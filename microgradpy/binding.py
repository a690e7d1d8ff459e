"""Positions, keywords and defaults of a call at run time as the inputs of a unit, and the cotangents of these the other way.

A unit's inputs are what the function captured, then its parameters in their order. A call gives arguments by position and
by name; the rest are defaults or is collected by `*args` and `**kwargs`.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, final

from microgradpy.errors import CompilerBug
from microgradpy.frontend.source import captured_values
from microgradpy.runtime.dispatch import Bars, Wanted, may_be_active
from microgradpy.runtime.making import without
from microgradpy.runtime.variables import value_in
from microgradpy.tangents.types import Tangent, accumulate, is_structural_zero


@final
class Binding(NamedTuple):
    """The inputs of a call in the order of a unit, and where the cotangents of the call's own arguments are in it.
    `positions` and `names` map positional and keyword arguments to inputs; `variadic` and `keywords` are the inputs that
    collect the rest."""

    values: list[Any]
    captured: int
    positions: int
    names: Mapping[str, int] = MappingProxyType({})
    variadic: int | None = None
    keywords: int | None = None
    defaults: Mapping[int | str, int] = MappingProxyType({})

    @property
    def is_plain(self) -> bool:
        """Whether the inputs are the positional arguments, one for one."""
        return self.positions == len(self.values)


_ANY_MORE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def bind(function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Binding:
    """Python's binding of a call. A call that Python would refuse is made, so that its own error comes out."""
    code = function.__code__
    captured = [] if function.__closure__ is None else captured_values(function)
    count, flags = code.co_argcount, code.co_flags
    if not kwargs and len(args) == count and not flags & _ANY_MORE and not code.co_kwonlyargcount:
        return Binding([*captured, *args], len(captured), count)
    names = code.co_varnames
    values = dict(zip(names[:count], args, strict=False))
    extra = args[count:]
    rest: dict[str, Any] = {}
    keyword_names = names[: count + code.co_kwonlyargcount]
    for name, value in kwargs.items():
        if name in keyword_names[code.co_posonlyargcount :] and name not in values:
            values[name] = value
        else:
            rest[name] = value
    defaults = dict(zip(names[:count][::-1], (function.__defaults__ or ())[::-1], strict=False))
    defaults |= function.__kwdefaults__ or {}
    missing = [name for name in keyword_names if name not in values and name not in defaults]
    twice = not rest.keys().isdisjoint(keyword_names[code.co_posonlyargcount :])
    if missing or twice or (extra and not flags & inspect.CO_VARARGS) or (rest and not flags & inspect.CO_VARKEYWORDS):
        function(*args, **kwargs)
        raise CompilerBug(f"{function.__qualname__} accepted arguments that could not be bound")
    ordered = [values[name] if name in values else defaults[name] for name in names[:count]]
    at = len(captured) + count
    variadic = keywords = None
    if flags & inspect.CO_VARARGS:
        ordered.append(extra)
        variadic, at = at, at + 1
    ordered += [values[name] if name in values else defaults[name] for name in names[count : count + code.co_kwonlyargcount]]
    index = {name: len(captured) + position for position, name in enumerate(names[:count])}
    index |= {name: at + position for position, name in enumerate(keyword_names[count:])}
    at += code.co_kwonlyargcount
    if flags & inspect.CO_VARKEYWORDS:
        ordered.append(rest)
        keywords = at
    own = {name: index[name] for name in kwargs if name in index and name not in rest}
    by_default: dict[int | str, int] = {}
    if code.co_flags & inspect.CO_NESTED:
        first = count - len(function.__defaults__ or ())
        by_default = {position - first: index[name] for position, name in enumerate(names[:count]) if name not in values}
        by_default |= {name: index[name] for name in keyword_names[count:] if name not in values}
    return Binding([*captured, *ordered], len(captured), min(len(args), count), own, variadic, keywords, by_default)


def input_names(function: types.FunctionType) -> tuple[str, ...]:
    """The names of the inputs, in their order."""
    code = function.__code__
    named, every = code.co_varnames[: code.co_argcount], code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    rest = iter(code.co_varnames[len(every) :])
    variadic = [next(rest)] if code.co_flags & inspect.CO_VARARGS else []
    keywords = [next(rest)] if code.co_flags & inspect.CO_VARKEYWORDS else []
    return (*code.co_freevars, *named, *variadic, *every[len(named) :], *keywords)


def active_inputs(bound: Binding, wanted: Wanted, keywords_wanted: bool) -> tuple[bool, ...]:
    # Something active may be stored in a cell at any time, by whoever shares it.
    active = [wanted is None or isinstance(value, types.CellType) for value in bound.values[: bound.captured]]
    active += [False] * (len(bound.values) - bound.captured)
    for position in range(bound.positions):
        active[bound.captured + position] = wanted is None or wanted[position]
    if bound.variadic is not None:
        active[bound.variadic] = wanted is None or any(wanted[bound.positions :])
    if wanted is None:
        for index in bound.defaults.values():
            active[index] = True
    if keywords_wanted:
        for index in bound.names.values():
            active[index] = True
        if bound.keywords is not None:
            active[bound.keywords] = True
    return tuple(flag and may_be_active(value) for flag, value in zip(active, bound.values, strict=True))


def bars_of(function: types.FunctionType, bound: Binding, count: int, inputs: list[Any]) -> Bars:
    captured = {
        name: bar
        for name, bar in zip(function.__code__.co_freevars, inputs[: bound.captured], strict=True)
        if not is_structural_zero(bar)
    }
    captured |= _default_bars(function, bound, inputs)
    # A function that refers to itself holds itself: what flows to that cell is a cotangent of the same function.
    itself = [captured.pop(name) for name in self_cells(function) if name in captured]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name in captured:
            captured[name], found = without(captured[name], value_in(cell), function)
            itself.append(found)
    own = Tangent(type(function), captured) if captured else None
    for bar in itself:
        own = accumulate(own, bar)
    arguments = inputs[bound.captured : bound.captured + bound.positions]
    if bound.variadic is not None:
        rest = inputs[bound.variadic]
        missing = count - bound.positions
        arguments = [*arguments, *((None,) * missing if is_structural_zero(rest) else rest)]
    keywords = {name: inputs[index] for name, index in bound.names.items()}
    if bound.keywords is not None and not is_structural_zero(inputs[bound.keywords]):
        keywords |= dict(inputs[bound.keywords])
    return Bars(own, tuple(arguments), keywords)


def self_cells(function: types.FunctionType) -> list[str]:
    """The variables that a function captured and which are the function itself."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return [name for name, cell in cells if value_in(cell) is function]


def _default_bars(function: types.FunctionType, bound: Binding, inputs: list[Any]) -> dict[str, Any]:
    """The cotangents of the defaults that a nested function was made with."""
    found = {key: inputs[index] for key, index in bound.defaults.items() if not is_structural_zero(inputs[index])}
    bars: dict[str, Any] = {}
    if any(isinstance(key, int) for key in found):
        bars["__defaults__"] = tuple(found.get(index) for index in range(len(function.__defaults__ or ())))
    named = {key: bar for key, bar in found.items() if isinstance(key, str)}
    return bars | ({"__kwdefaults__": named} if named else {})
