"""What is exported: a function, the arguments that it is exported for, and its unit."""

from __future__ import annotations

import inspect
import itertools
import types
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from microgradpy.argnums import Argnums, numbered
from microgradpy.binding import bind
from microgradpy.cache import Unit, followed_by
from microgradpy.compiler import compile_tracked, compile_unit, why_tracked
from microgradpy.errors import MissingRuleError, MutationError, SourceNotFoundError
from microgradpy.exporting.kinds import Axes, Spec, is_data, spec
from microgradpy.frontend.source import place_of
from microgradpy.ir.input_kinds import kinds_of
from microgradpy.ir.kinds import UNKNOWN, Array, Kind, Scalar, TupleOf, carries_nothing
from microgradpy.ir.nodes import Location
from microgradpy.runtime.dispatch import value_kind
from microgradpy.runtime.markers import checkpointed_by
from microgradpy.runtime.suspension import is_generator
from microgradpy.state.object_graph import PLAIN
from microgradpy.state.reachable_writes import may_write


@final
@dataclass(frozen=True, slots=True)
class Argument:
    """A positional argument of the exported function: its name, what it has to be, and whether it is differentiated.
    `bar` is its place among the cotangents that the adjoint returns, None if there is none."""

    name: str
    spec: Spec
    is_wanted: bool
    bar: int | None
    is_absent: bool


@final
@dataclass(frozen=True, slots=True)
class Target:
    """`inputs` are what the primal is given: the name of an argument, or a value that belongs to the module. With a `variadic`,
    that input is the tuple of all arguments from there on."""

    function: types.FunctionType
    unit: Unit
    arguments: tuple[Argument, ...]
    inputs: tuple[Any, ...]
    variadic: int | None
    """The first of the arguments that `*args` takes."""
    known_lengths: tuple[int, ...]
    argnums: int | tuple[int, ...] | None
    has_examples: bool


@final
@dataclass(frozen=True, slots=True)
class Constant:
    """An input that belongs to the module: what the function captured, or a default."""

    name: str
    value: Any


def target_of(f: Any, args: tuple[Any, ...], argnums: Argnums | None) -> Target:
    """The function to export, compiled for the kinds of `args`; without any, each parameter that has no default is taken for
    a number, an array or a container of them."""
    function = _function(f)
    if not args and function.__code__.co_flags & inspect.CO_VARARGS:
        raise MissingRuleError(
            f"{function.__qualname__} cannot be exported without example arguments: it takes any number of them",
            place_of(function),
            "Give as many example arguments as the module is to take.",
        )
    if args or not _required(function):
        values, known = args, True
    else:
        values, known = (None,) * len(_required(function)), False
    bound = bind(function, values, {})
    kinds = list(kinds_of(bound.values, value_kind))
    first, count = bound.captured, bound.positions
    if not known:
        kinds[first : first + count] = [UNKNOWN] * count
    _check_arguments(function, args, bound.values[first : first + count] if known else [])
    numbers = None if argnums is None else numbered(function, argnums)
    wanted = _wanted(numbers, len(values))
    active = [False] * len(kinds)
    active[first : first + count] = wanted[:count]
    if bound.variadic is not None:
        active[bound.variadic] = any(wanted[count:])
    unit = _unit(function, tuple(kinds), tuple(active), bound.values if known else None)
    fixed, lengths = _fixed_axes(bound.values, kinds, first, count, bound.variadic)
    axes = Axes(fixed)
    arguments = _arguments(function, unit, kinds, axes, bound, wanted)
    inputs: list[Any] = []
    names = _names(function)
    for index, value in enumerate(bound.values):
        if first <= index < first + count or index == bound.variadic:
            inputs.append(names[index - first])
        else:
            inputs.append(Constant([*function.__code__.co_freevars, *names][index], value))
    return Target(function, unit, arguments, tuple(inputs), None if bound.variadic is None else count, lengths, numbers, known)


def _function(f: Any) -> types.FunctionType:
    if isinstance(f, types.FunctionType):
        inner = checkpointed_by(f)
        return f if inner is None else _function(inner)
    name = getattr(f, "__name__", type(f).__name__)
    if isinstance(f, types.MethodType) or isinstance(getattr(type(f), "__call__", None), types.FunctionType):  # noqa: B004
        raise MissingRuleError(
            f"{name} cannot be exported: it belongs to an object, which a stand-alone module has not got",
            None,
            "Export a function that takes what it needs of the object as arguments.",
        )
    raise SourceNotFoundError(f"{name} has no Python source to export", None, f"Export a function that calls {name}.")


def _names(function: types.FunctionType) -> list[str]:
    """The parameters in the order of a unit's inputs."""
    code = function.__code__
    names, count = code.co_varnames, code.co_argcount
    last = count + code.co_kwonlyargcount
    variadic = [names[last]] if code.co_flags & inspect.CO_VARARGS else []
    rest = [names[last + len(variadic)]] if code.co_flags & inspect.CO_VARKEYWORDS else []
    return [*names[:count], *variadic, *names[count:last], *rest]


def _required(function: types.FunctionType) -> list[str]:
    count = function.__code__.co_argcount - len(function.__defaults__ or ())
    return list(function.__code__.co_varnames[:count])


def _wanted(argnums: int | tuple[int, ...] | None, count: int) -> list[bool]:
    if argnums is None:
        return [True] * count
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    for number in numbers:
        if not -count <= number < count:
            raise TypeError(f"argnums contains {number}, and there are {count} positional arguments")
    chosen = {number % count for number in numbers}
    return [index in chosen for index in range(count)]


def _check_arguments(function: types.FunctionType, args: tuple[Any, ...], values: list[Any]) -> None:
    for name, value in itertools.zip_longest(_names(function)[: len(values)], args, fillvalue="*args"):
        if not is_data(value) and not _is_inert(value):
            raise MissingRuleError(
                f"{function.__name__} cannot be exported for its argument {name}, an object of type {type(value).__qualname__}",
                place_of(function),
                "A stand-alone module takes numbers, arrays, and lists, tuples and dicts of them: give it the fields.",
            )


def _is_inert(value: Any) -> bool:
    return type(value) in (set, frozenset) and carries_nothing(value_kind(value))


def _unit(function: types.FunctionType, kinds: tuple[Kind, ...], active: tuple[bool, ...], values: Any) -> Unit:
    unit = compile_unit(function, kinds, active)
    if isinstance(unit, Unit):
        if unit.calls_unknown and values is not None and may_write(function, values, followed_by(unit)):
            raise writes_refusal(function, place_of(function), "makes a call of which it is not known whether it writes into")
        return unit
    unit = why_tracked(function, kinds, active)
    if values is None and unit.what.startswith("`"):
        raise MutationError(
            f"{function.__qualname__} cannot be exported without example arguments: {unit.what} may write into an array, "
            "if it is one",
            place_of(function),
            "Give example arguments, so that their kinds are known; or write x = x + y for x += y.",
        )
    seen = "" if unit.what == function.__name__ else f" ({unit.what})"
    if values is None or not PLAIN.issuperset(map(type, values)) or is_generator(function.__code__):
        raise writes_refusal(function, place_of(function), seen=seen)
    unit = compile_tracked(function, kinds, active, is_root=True)
    if not _is_of_arrays(unit.result_kind):
        raise writes_refusal(function, place_of(function), seen=seen, call="return")
    return unit


def _is_of_arrays(kind: Kind) -> bool:
    """Whether a value is a number, an array or a tuple of these."""
    return isinstance(kind, Scalar | Array) or (isinstance(kind, TupleOf) and all(map(_is_of_arrays, kind.items)))


def writes_refusal(
    function: types.FunctionType, where: Location | None, writes: str = "writes into", *, seen: str = "", call: str = ""
) -> MutationError:
    """What is said of a function that writes; `seen` is where, `call` the part of it that needs more than shadows of arrays."""
    needs = f"`{call}` in it" if call else "undoing that"
    return MutationError(
        f"{function.__qualname__} cannot be exported: it, or what it calls{seen}, {writes} arrays, containers or variables, "
        f"and {needs} needs what the package keeps of them in a run",
        where,
        "Write into arrays of known kinds only, by x[i] = ... and x[i] += ..., with functions of NumPy called by their names; "
        "or make new values: x = x + y for x += y, np.where for assignments by a mask, comprehensions for lists that are "
        "appended to, lists for generators: sum([...]).",
    )


def _fixed_axes(
    values: list[Any], kinds: list[Kind], first: int, count: int, variadic: int | None
) -> tuple[dict[Any, int], tuple[int, ...]]:
    """The lengths of the axes of arrays that belong to the module, by their symbols; and these lengths."""
    fixed: dict[Any, int] = {}
    for index, (value, kind) in enumerate(zip(values, kinds, strict=True)):
        if not first <= index < first + count and index != variadic:
            fixed |= _lengths(value, kind)
    return fixed, tuple(sorted({1, *fixed.values()}))


def _lengths(value: Any, kind: Kind) -> dict[Any, int]:
    found: dict[Any, int] = {}
    if isinstance(kind, Array) and isinstance(value, np.ndarray):
        found = dict(zip(kind.shape, value.shape, strict=False))
    elif hasattr(kind, "items") and isinstance(value, tuple):
        for item, item_kind in zip(value, kind.items, strict=True):
            found |= _lengths(item, item_kind)
    elif getattr(kind, "entries", ()) and isinstance(value, dict):
        for key, item_kind in kind.entries:  # type: ignore[union-attr]
            found |= _lengths(value[key], item_kind)
    found.pop(1, None)
    return found


def _arguments(
    function: types.FunctionType, unit: Unit, kinds: list[Kind], axes: Axes, bound: Any, wanted: list[bool]
) -> tuple[Argument, ...]:
    names = _names(function)
    bars = list(itertools.accumulate(unit.active, initial=0))
    made = []
    for position in range(bound.positions):
        index = bound.captured + position
        bar = bars[index] if unit.active[index] else None
        is_absent = bar is None or unit.absent[bar]
        made.append(Argument(names[position], spec(kinds[index], axes), wanted[position], bar, is_absent))
    if bound.variadic is not None:
        rest = spec(kinds[bound.variadic], axes)
        bar = bars[bound.variadic] if unit.active[bound.variadic] else None
        items = rest if isinstance(rest, tuple) else ()
        for number, item in enumerate(items):
            name = f"{names[bound.positions]}[{number}]"
            made.append(Argument(name, item, wanted[bound.positions + number], bar, bar is None or unit.absent[bar]))
    return tuple(made)
