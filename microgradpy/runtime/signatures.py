"""Which argument is whose, as `inspect` tells it: what decorators that look at the arguments of a call ask.

    bound = inspect.signature(f).bind(x, y=y)       x_bar = bound_bar["arguments"]["a"], y_bar = bound_bar["arguments"]["y"]
    f(*bound.args, **bound.kwargs)                  bound_bar["arguments"]["a"] = args_bar[0]

`inspect` is asked twice: for the values, and for marks in their places, which show where each value went. A signature itself
carries nothing, so those are refused that hold, as defaults, what is differentiated.
"""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections.abc import Callable, Iterator
from inspect import BoundArguments, Signature
from typing import Any, final

from microgradpy.dataclasses import dataclass
from microgradpy.errors import MissingRuleError
from microgradpy.ir.objects import static_member
from microgradpy.rules.registry import non_differentiable
from microgradpy.runtime.activity import may_be_active
from microgradpy.runtime.bars import Bars, Resolved, content, given_to, nothing
from microgradpy.tangents.types import Tangent

_WITH_ACTIVE_DEFAULTS: weakref.WeakSet[types.CodeType] = weakref.WeakSet()


def note_active_defaults(code: types.CodeType) -> None:
    """Note that functions of this code are made with defaults that are differentiated."""
    _WITH_ACTIVE_DEFAULTS.add(code)


def check_signature(obj: Any) -> None:
    """Refuse a signature in which there is something differentiated."""
    for f in _behind(obj):
        if isinstance(f, functools.partial):
            is_active = any(map(may_be_active, f.keywords.values()))
        else:
            is_active = isinstance(f, types.FunctionType) and f.__code__ in _WITH_ACTIVE_DEFAULTS
        if is_active:
            raise MissingRuleError(
                f"the signature of {getattr(obj, '__name__', type(obj).__name__)} has defaults that are differentiated",
                None,
                "Pass these values as arguments.",
            )


non_differentiable(check_signature)


def _behind(obj: Any) -> Iterator[Any]:
    """What a signature may be that of."""
    waiting, seen = [obj], set()
    while waiting:
        f = waiting.pop()
        if id(f) in seen:
            continue
        seen.add(id(f))
        yield f
        waiting += [getattr(f, name) for name in ("__wrapped__", "__func__", "func") if hasattr(f, name)]
        if isinstance(f, type):
            waiting += [f.__init__, f.__new__]  # type: ignore[misc]
        elif not isinstance(f, types.FunctionType | types.MethodType):
            waiting.append(static_member(type(f), "__call__"))


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Mark:
    """What stands for a value: it says where that is."""

    place: Any


def _bound(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved:
    """Signature.bind, Signature.bind_partial and inspect.getcallargs"""
    y = f(*args, **kwargs)
    marked = f(args[0], *map(_Mark, range(1, len(args))), **{name: _Mark(name) for name in kwargs})
    held, marks = (y.arguments, marked.arguments) if isinstance(y, BoundArguments) else (y, marked)
    packed = {name: held[name] for name, mark in marks.items() if isinstance(mark, dict)}

    def bound_back(y_bar: Any, shadows: Any = None) -> Bars:
        whole = content(y, y_bar, shadows) or {}
        if held is not y:
            whole = content(held, whole.get("arguments"), shadows) or {}
        found: dict[int | str, Any] = {}
        for name, mark in marks.items():
            bar = content(packed[name], whole.get(name), shadows) if name in packed else whole.get(name)
            for each, part in _pairs(mark, bar):
                found[each.place] = part
        return Bars(None, (None, *map(found.get, range(1, len(args)))), {name: found.get(name) for name in kwargs})

    return y, bound_back


def _pairs(mark: Any, bar: Any) -> Iterator[tuple[_Mark, Any]]:
    """The marks at a parameter with their cotangents."""
    match mark:
        case _Mark():
            yield mark, bar
        case tuple():
            yield from zip(mark, bar or (), strict=False)
        case dict():
            yield from ((each, (bar or {}).get(name)) for name, each in mark.items())


def _unpacked(read: Callable[[BoundArguments], Any], bound: BoundArguments) -> Resolved:
    """bound.args, a tuple, and bound.kwargs, a dict"""
    held = dict(bound.arguments)
    shown = bound.arguments  # by the time of the reverse pass the object may have other ones
    y = read(bound)
    marks = read(BoundArguments(bound.signature, {name: _marks_of(bound, name, held[name]) for name in held}))
    places = list(marks) if isinstance(marks, dict) else range(len(marks))
    read_by_place = [(place, marks[place].place, y[place]) for place in places]

    def unpacked_back(y_bar: Any, shadows: Any = None) -> Bars:
        bars = content(y, y_bar, shadows)
        if bars is None:
            return Bars(None, (None,), {})
        arguments: dict[str, Any] = {}
        for place, (name, key), value in read_by_place:
            bar = given_to(value, bars.get(place) if isinstance(bars, dict) else bars[place], shadows)
            if key is None:
                arguments[name] = bar
            else:
                arguments.setdefault(name, {})[key] = bar
        for name, value in held.items():
            if isinstance(value, tuple) and isinstance(arguments.get(name), dict):
                arguments[name] = tuple(arguments[name].values())
        if shadows is None:
            return Bars(None, (Tangent(BoundArguments, {"arguments": arguments}),), {})
        for name, bar in arguments.items():
            _add(shadows, shown, name, held[name], bar)
        return Bars(None, (None,), {})

    return y, unpacked_back


def _marks_of(bound: BoundArguments, name: str, value: Any) -> Any:
    """What stands for a parameter's value: marks that say which parameter it is, and which of its values."""
    match bound.signature.parameters[name].kind:
        case inspect.Parameter.VAR_POSITIONAL:
            return tuple(_Mark((name, place)) for place in range(len(value)))
        case inspect.Parameter.VAR_KEYWORD:
            return {key: _Mark((name, key)) for key in value}
    return _Mark((name, None))


def _add(shadows: Any, arguments: dict[str, Any], name: str, value: Any, bar: Any) -> None:
    """Add to the shadow of a dict of arguments; what several were collected in may be written into itself."""
    if isinstance(value, dict | list) and isinstance(bar, dict):
        for key, part in bar.items():
            shadows.of(value).add(key, part)
    else:
        shadows.of(arguments).add(name, bar)


def pushed_answer(f: Any, args: tuple[Any, ...], dots: tuple[Any, ...], kwargs: dict[str, Any], named: Any) -> tuple[Any, Any]:
    """The value of such a call and its tangent: the tangents go where the values go."""
    if f is inspect.signature:
        return answered(f, args, kwargs)[0], None
    if f in (_ARGS, _KWARGS):
        (bound,) = args
        given = {} if dots[0] is None else dots[0].get("arguments") or {}
        marks = f(BoundArguments(bound.signature, {name: _marks_of(bound, name, x) for name, x in bound.arguments.items()}))
        return f(bound), _placed(marks, lambda place: _part(given.get(place[0]), place[1]))
    y = f(*args, **kwargs)
    marks = f(args[0], *map(_Mark, range(1, len(args))), **{name: _Mark(name) for name in kwargs})
    is_bound = isinstance(y, BoundArguments)
    placed = _placed(marks.arguments if is_bound else marks, lambda place: named.get(place) if place in kwargs else dots[place])
    return y, Tangent(BoundArguments, {"arguments": placed}) if is_bound else placed


def _part(dot: Any, key: Any) -> Any:
    if key is None or dot is None:
        return dot
    return dot.get(key) if isinstance(dot, dict) else dot[key]


def _placed(marks: Any, dot_at: Callable[[Any], Any]) -> Any:
    """What stands in a structure of marks, None in the place of anything else, which is a constant."""
    match marks:
        case _Mark(place=place):
            return dot_at(place)
        case tuple():
            return tuple(_placed(mark, dot_at) for mark in marks)
        case dict():
            return {name: _placed(mark, dot_at) for name, mark in marks.items()}
    return None


_ARGS: Any = vars(BoundArguments)["args"].fget
_KWARGS: Any = vars(BoundArguments)["kwargs"].fget
_BINDERS: Any = (Signature.bind, Signature.bind_partial, inspect.getcallargs)
ANSWERED = frozenset(f.__code__ for f in (inspect.signature, _ARGS, _KWARGS, *_BINDERS))
"""The code of the functions whose calls are answered here."""


def answered(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved:
    """A call of one of these."""
    if f is inspect.signature:
        check_signature(args[0] if args else kwargs.get("obj"))
        return inspect.signature(*args, **kwargs), nothing(len(args))
    return _unpacked(f, *args) if f in (_ARGS, _KWARGS) else _bound(f, args, kwargs)
