"""Calls of functions that have a rule, or write in a known way, in a run that tracks writes."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.builtins import max_of_many_rrule, max_rrule, min_of_many_rrule, min_rrule
from microgradpy.rules.results import applied
from microgradpy.runtime.bars import Bars, Resolved, with_bars
from microgradpy.runtime.cotangents import any_or_zero
from microgradpy.runtime.lookup_cache import NUMBERS, Entry, known_cotangents, takes
from microgradpy.runtime.markers import RETURN_ARGUMENTS
from microgradpy.runtime.rule_calls import ByValue, back_of_rule, check_text, name_of, positional
from microgradpy.runtime.zeros import is_repeated
from microgradpy.state.detached import apart_from
from microgradpy.state.object_graph import is_users_class
from microgradpy.state.shadows import Shadows, Undo, is_value
from microgradpy.state.snapshots import Known, frozen, seal, seal_arrays, structure_of
from microgradpy.state.write_handlers import Made, WriteHandler, looked_up
from microgradpy.tangents.types import NotImplementedTangent, accumulate, is_structural_zero


def from_undo(y: Any, undo: Undo) -> Resolved:
    """What a write gives: its undo returns the cotangents of the positional arguments."""
    return y, lambda y_bar, shadows: Bars(None, undo(y_bar, shadows), {})


def by_write_handler(found: WriteHandler, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved:
    """A call of a known function that writes."""
    if kwargs:
        return _by_write_handler_with_keywords(found, args, kwargs)
    (y, undo), count = found(*args), len(args)
    return y, lambda y_bar, shadows: Bars(None, undo(y_bar, shadows)[:count], {})  # without those of defaults


_signature_of = functools.lru_cache(maxsize=1024)(inspect.signature)  # of write handlers, which are there all the time


def _by_write_handler_with_keywords(found: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved:
    """A write some arguments of which are given by name: they have their cotangents as if they were given by position.
    The names that `dict.update` collects come to a second update."""
    signature = _signature_of(found)
    parameters = signature.parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        y, first = found(*args)
        _, second = found(args[0], kwargs)

        def merged_back(y_bar: Any, shadows: Shadows) -> Bars:
            second(None, shadows)
            taken = shadows.take(kwargs)
            named = {} if taken is None else dict(taken.fields)
            return Bars(None, first(y_bar, shadows), named)

        return y, merged_back
    by_place = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD or p.kind is p.POSITIONAL_ONLY]
    bound = signature.bind(*args, **kwargs)
    y, undo = found(*bound.args, **bound.kwargs)

    def named_back(y_bar: Any, shadows: Shadows) -> Bars:
        bars = undo(y_bar, shadows)
        named = {name: bars[by_place.index(name)] for name in kwargs if name in by_place[: len(bars)]}
        return Bars(None, bars[: len(args)], named)

    return y, named_back


def _is_hook(f: Any) -> bool:
    return isinstance(f, types.FunctionType) and f in RETURN_ARGUMENTS


def _for_rule(f: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments for the rule of a function: as they are now, where it may have to be asked once more."""
    found: tuple[Any, ...] = frozen(args) if is_repeated(f, args) else args
    return found


def by_rule(f: Any, rule: Any, args: tuple[Any, ...], kwargs: dict[str, Any], keywords_wanted: bool) -> Resolved:
    names: list[str] = []
    asked = frozenset(kwargs)
    if kwargs or not takes(rule, len(args)):
        args, kwargs, names = positional(f, rule, args, kwargs, keywords_wanted)
    if any(isinstance(x, tuple) for x in args):
        rule = looked_up(_COMPARE_ONCE, rule) or rule
    known = Known(args)
    args = _for_rule(f, args)
    y, pullback = applied(rule, args, kwargs, "pullback")
    return of_rule(f, rule, args, kwargs, y, pullback, known, names, asked)


_COMPARE_ONCE = {max_rrule: max_of_many_rrule, min_rrule: min_of_many_rrule}
"""For rules whose pullbacks compare the arguments once more, those that do not: what is in tuples may be written into."""


def by_known_entry(f: Any, entry: Entry, args: tuple[Any, ...], settles: bool) -> Made:
    """A call of which it is known what it goes by, and that is not of numbers only; what undoes it `settles` the cotangents of
    arrays, or returns them."""
    if entry.of_list and type(args[0]) is list:
        return _of_list(f, entry.rule, *args)
    if _NUMBERS_AND_ARRAYS.issuperset(map(type, args)):
        y, back = _of_arrays(f, entry.rule, args)
    else:
        y, back = with_bars(by_rule(f, entry.rule, args, {}, False), len(args))
    if not settles:
        return y, back

    def settled_back(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        _, *bars = back(y_bar, shadows)
        for place, x in enumerate(args):
            bar = bars[place]
            if bar is not None and type(x) is not float:
                bars[place] = shadows.settle(x, bar)
        return (None, *bars)

    return y, settled_back


_NUMBERS_AND_ARRAYS = NUMBERS | {np.ndarray}


def _of_arrays(f: Any, rule: Any, args: tuple[Any, ...]) -> Made:
    """The same of arrays and numbers, which makes a new array or a number: no part of it is part of an argument."""
    given, count = args, len(args)
    if count > 1 and is_repeated(f, args):
        given = tuple([frozen(x) if type(x) is np.ndarray else x for x in args])
    y, pullback = rule(*given)
    is_array = type(y) is np.ndarray and y.base is None and y.dtype.kind in "fc" and not any(y is x for x in given)
    if not is_array and type(y) not in NUMBERS:
        return with_bars(of_rule(f, rule, given, {}, y, pullback, Known(args)), count)
    seal_arrays(pullback, args, y)

    def back(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        d = accumulate(shadows.take(y), y_bar) if is_array else y_bar
        if d is None:
            return (None,) * (1 + count)
        found = known_cotangents(pullback, d, given)
        if found is not None and NotImplementedTangent not in map(type, found):
            return found
        return with_bars(of_rule(f, rule, given, {}, y, pullback, Known(args)), count)[1](d, shadows)

    return y, back


def in_shadows(f: Any, rule: Any, args: tuple[Any, ...], y: Any, pullback: Any) -> Resolved:
    return of_rule(f, rule, args, {}, y, pullback, Known(args))


def _of_list(f: Any, rule: Any, items: list[Any]) -> Made:
    """The same of a list of numbers, of which the rule is given a copy: the list may be written into."""
    given = items.copy()
    y, pullback = rule(given)
    if type(y) not in NUMBERS:
        return with_bars(of_rule(f, rule, (items,), {}, y, pullback, Known((items,))), 1)

    def back(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        found = None if y_bar is None else known_cotangents(pullback, y_bar, (given,))
        if found is not None:
            bars = found[1]
        else:
            with_bars(of_rule(f, rule, (given,), {}, y, pullback, Known((given,))), 1)[1](y_bar, shadows)
            taken = shadows.take(given)
            bars = None if taken is None else taken.slots
        if bars is not None:
            shadows.of(items).add_each(bars if type(bars) is list else list(bars))
        return None, None

    return y, back


def of_rule(
    f: Any,
    rule: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    y: Any,
    pullback: Any,
    known: Known,
    names: Sequence[str] = (),
    asked: frozenset[str] = frozenset(),
) -> Resolved:
    """What a rule has given for a call with these arguments, of which the last ones are those of `names`, as far as they were
    `asked` for."""
    check_text(y, args)
    # A rule of the package that returns an argument is that of a view, but for hooks. An object holds what it is made of.
    if (is_users_class(rule) or _is_hook(f)) and not isinstance(f, type):
        y = apart_from(y, known, f)
    if not isinstance(pullback, types.FunctionType):
        raise MissingRuleError(
            f"the pullback of the rule of {name_of(f)} is a {type(pullback).__name__}",
            None,
            "Return a nested function, so that what it keeps can be told.",
        )
    seal(pullback, known, y)
    return y, back_of_rule(f, rule, args, kwargs, y, pullback, InShadows(known, args, y), 0, names, asked)


@final
class InShadows(ByValue):
    """The same, where the cotangents of what can be written into are in shadows."""

    def __init__(self, known: Known, args: tuple[Any, ...], y: Any) -> None:
        self.known, self.args, self.made = known, args, structure_of(y)

    def born(self, shadows: Shadows, y_bar: Any) -> Any:
        d = self.known.born(shadows, self.made, y_bar)
        return None if is_structural_zero(d) else any_or_zero(d, self.made.x)

    def divided(self, shadows: Shadows, own: Any, bars: list[Any]) -> list[Any]:
        if isinstance(own, NotImplementedTangent):
            own.refuse()
        for bar, x in zip(bars, self.args, strict=True):
            if isinstance(bar, NotImplementedTangent) and not is_value(x):
                bar.refuse()
        return [structure.divided(shadows, bar) for structure, bar in zip(self.known.structures, bars, strict=True)]
