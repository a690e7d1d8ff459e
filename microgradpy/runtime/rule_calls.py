"""Calls of functions that have a rule: what undoes them, from the pullback of the rule."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.entries import Rule
from microgradpy.rules.number_texts import of_numbers
from microgradpy.rules.results import checked, cotangents, is_for_numbers, seed_for
from microgradpy.runtime.activity import may_be_active
from microgradpy.runtime.bars import Back, Bars, Pullback, Resolved, Wanted, with_bars
from microgradpy.runtime.cotangents import missing_cotangent
from microgradpy.runtime.lookup_cache import NUMBERS, PYTHONS, known_cotangents
from microgradpy.runtime.modes import KEEPING, RUN
from microgradpy.runtime.named_arguments import next_by_name
from microgradpy.runtime.texts import check_read, noted
from microgradpy.runtime.zeros import without_zeros
from microgradpy.tangents.thunks import computed
from microgradpy.tangents.types import Tangent, is_structural_zero, refuse_arithmetic


def name_of(f: Any) -> str:
    return str(getattr(f, "__qualname__", None) or getattr(f, "__name__", None) or type(f).__name__)


def check_text(y: Any, args: tuple[Any, ...]) -> None:
    """Refuse what a rule has given for text if that may be made of differentiated numbers."""
    if RUN.texts and args and isinstance(args[0], str | bytes):
        check_read(y, args[0])


class ByValue:
    """How cotangents come to the pullback of a rule and leave it where they all travel by value."""

    def born(self, shadows: Any, y_bar: Any) -> Any:
        """The cotangent of what the rule has given, None if it is zero."""
        return None if is_structural_zero(y_bar) else y_bar

    def divided(self, shadows: Any, own: Any, bars: list[Any]) -> list[Any]:
        """The cotangents of the arguments, as far as they travel by value."""
        return bars


BY_VALUE = ByValue()


def back_of_rule(
    f: Any,
    rule: Rule,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    y: Any,
    pullback: Any,
    memory: ByValue = BY_VALUE,
    given: int = 0,
    names: Sequence[str] = (),
    asked: frozenset[str] = frozenset(),
    wanted: Wanted = None,
) -> Back:
    """The pullback of a call from that of its rule, which has been applied to these arguments: `given` were given by position,
    the last ones are those of `names`, as far as they were `asked` for."""
    count = len(args)
    split = count - len(names)

    def back(y_bar: Any, shadows: Any = None) -> Bars:
        d = memory.born(shadows, y_bar)
        if d is None:
            return Bars(None, (None,) * split, {})
        if type(d) is Tangent and is_for_numbers(f, rule):
            refuse_arithmetic(d)
        found = cotangents(rule, pullback, seed_for(rule, y, d))
        own, *bars = without_zeros(f, rule, args, kwargs, d, found)
        for index in range(len(bars), count):
            missing_cotangent(args[index], rule, getattr(f, "__name__", repr(f)), index)
        if wanted is not None:  # what nobody wants is not computed
            bars = [bar if place >= given or wanted[place] else None for place, bar in enumerate(bars)]
        own, *bars = (None if is_structural_zero(bar) else computed(bar) for bar in (own, *bars[:count]))
        bars = checked(rule, name_of(f), args, [*bars, *[None] * (count - len(bars))])
        bars = memory.divided(shadows, own, bars)
        keywords = {name: bar for name, bar in zip(names, bars[split:], strict=False) if name in asked}
        return Bars(own, tuple(bars[:split]), keywords)

    return back


def by_known_rule(
    f: Any, rule: Rule | None, args: tuple[Any, ...], way: Callable[..., Resolved], tracks: bool = False
) -> tuple[Any, Pullback]:
    """A call of which it is known that it goes by this rule, or (None) has no derivative. `way` says what undoes it where that
    is not simple."""
    count = len(args)
    if rule is None:
        y = f(*args)
        return y if type(y) in NUMBERS else noted(y, args), lambda y_bar, shadows=None: (None,) * (1 + count)
    y, pullback = rule(*args)
    if tracks and type(y) not in NUMBERS:
        return with_bars(way(f, rule, args, y, pullback), count)

    def back(y_bar: Any, shadows: Any = None) -> tuple[Any, ...]:
        if y_bar is None:
            return (None,) * (1 + count)
        found = known_cotangents(pullback, y_bar, args)
        return with_bars(way(f, rule, args, y, pullback), count)[1](y_bar, shadows) if found is None else found

    return y, back


# On numbers of which nothing is proven: they are tested where they stand, and the call is made as a person would write it


def by_value(f: Any, rule: Rule, args: tuple[Any, ...], y: Any, pullback: Any) -> Resolved:
    """What undoes a call of a rule where all cotangents travel by value."""
    return y, back_of_rule(f, rule, args, {}, y, pullback)


def of_python_numbers(
    f: Any, rule: Rule | None, count: int, way: Callable[..., Resolved] = by_value, tracks: bool = False
) -> Callable[..., Any] | None:
    """What makes calls of a function of so many numbers that goes by this rule, or (None) has no derivative; `way` is that of
    `by_known_rule`."""
    if rule is None:
        return _without_derivative(f, count) if count in _NOTHINGS else None
    made = _by_text(f, rule, count)
    if made is not None:
        return made

    def as_it_stands(*args: Any) -> Any:
        return by_known_rule(f, rule, args, way, tracks) if _REAL.issuperset(map(type, args)) else None

    return as_it_stands


_REAL = PYTHONS | {np.float64}


def _without_derivative(f: Any, count: int) -> Callable[..., Any]:
    """Makes such a call of a function that has no derivative."""
    back = _NOTHINGS[count]

    def of_one(x: Any) -> Any:
        if type(x) not in PYTHONS:
            return None
        y = f(x)
        return y if type(y) in NUMBERS else noted(y, (x,)), back

    def of_two(x: Any, y: Any) -> Any:
        if type(x) not in PYTHONS or type(y) not in PYTHONS:
            return None
        z = f(x, y)
        return z if type(z) in NUMBERS else noted(z, (x, y)), back

    return of_one if count == 1 else of_two


_NOTHINGS: dict[int, Callable[..., Any]] = {
    1: lambda y_bar, shadows=None: (None, None),
    2: lambda y_bar, shadows=None: (None, None, None),
}


def _by_text(f: Any, rule: Rule, count: int) -> Callable[..., Any] | None:
    """Makes such a call by what the text of the rule is for numbers."""

    def otherwise(args: tuple[Any, ...], y_bar: Any) -> tuple[Any, ...]:
        if y_bar is None:
            return (None,) * (1 + count)
        with np.errstate(all="ignore"):  # what there was to be said was said in the primal
            y, pullback = rule(*args)
        found = known_cotangents(pullback, y_bar, args)
        return found or with_bars(by_value(f, rule, args, y, pullback), count)[1](y_bar)

    return of_numbers(rule, count, {"otherwise": otherwise, "KEEPING": KEEPING})


# Arguments by name


def positional(
    f: Any, rule: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], keywords_wanted: bool
) -> tuple[tuple[Any, ...], dict[str, Any], list[str]]:
    """Keyword arguments that the rule takes by position become positional, so that they have a cotangent."""
    refused = ""
    by_name = next_by_name(f, len(args), kwargs) if _takes_anything(rule) else []
    while by_name and not may_be_active(kwargs[by_name[-1]]):
        by_name.pop()
    args, kwargs = (*args, *(kwargs[name] for name in by_name)), {k: x for k, x in kwargs.items() if k not in by_name}
    try:
        signature = inspect.signature(rule)
        signature.bind(*args, **kwargs)
    except TypeError as error:
        refused = str(error)
    if refused:
        f(*args, **kwargs)  # if the call itself is wrong, the user sees its own error
        name = getattr(f, "__name__", repr(f))
        raise MissingRuleError(
            f"the rule of {name} does not take these arguments ({refused})", None, "Write the call without them."
        )
    after = list(signature.parameters.values())[len(args) :]
    given = [place for place, p in enumerate(after) if p.kind is p.POSITIONAL_OR_KEYWORD and p.name in kwargs]
    # Those before the last one that is given have their defaults.
    positional = after[: given[-1] + 1] if given else []
    extended = (*args, *(kwargs.get(parameter.name, parameter.default) for parameter in positional))
    names = [*by_name, *(parameter.name for parameter in positional)]
    rest = {name: value for name, value in kwargs.items() if name not in names}
    if keywords_wanted and any(map(is_continuous, rest.values())):
        raise MissingRuleError(
            f"a keyword argument of {getattr(f, '__name__', f)} may be differentiated", None, "Give it by position."
        )
    return extended, rest, names


def _takes_anything(rule: Callable[..., Any]) -> bool:
    """Whether a rule has its arguments as one tuple, so that its signature does not tell their places."""
    code = getattr(rule, "__code__", None)
    return code is not None and not code.co_argcount and bool(code.co_flags & inspect.CO_VARARGS)


def is_continuous(value: Any) -> bool:
    """Whether a value is made of numbers other than whole ones."""
    if isinstance(value, list | tuple):
        return any(map(is_continuous, value))
    if isinstance(value, slice):
        return any(map(is_continuous, (value.start, value.stop, value.step)))
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fcO"
    return isinstance(value, float | complex | np.inexact)
