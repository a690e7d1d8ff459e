"""What is done with generators: each step forward is an event, which one step of the generator's coroutine undoes."""

from __future__ import annotations

import collections
import math
import operator
import types
from collections.abc import Callable
from types import GeneratorType
from typing import Any

from microgradpy.errors import MissingRuleError
from microgradpy.runtime.dispatch import Bars, may_be_active
from microgradpy.runtime.suspension import Delegate, advance
from microgradpy.state.coroutines import Counted, Run, run_of, undo_end, undo_next
from microgradpy.state.events import event
from microgradpy.state.shadows import Shadows, Undo, is_value
from microgradpy.state.undo import iterated
from microgradpy.tangents.types import is_structural_zero

Made = tuple[Any, Undo]
Resolve = Callable[..., tuple[Any, Callable[[Any, Shadows], Bars]]]
_MISSING = object()


def _constant(y: Any, count: int, g: Any) -> Undo:
    """What undoes a step of a generator that is not followed: its values are constants."""

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if not is_structural_zero(y_bar) or (not is_value(y) and id(y) in shadows.entries):
            raise MissingRuleError(
                f"a value of the generator {g.__name__!r}, which was made outside, is differentiated",
                None,
                "Make the generator inside the differentiated function.",
            )
        return (None,) * count

    return undo


def _advanced(g: Any, run: Run | None, step: Callable[[], Any], default: Any, count: int, place_of_sent: int | None) -> Made:
    try:
        y = step()
    except StopIteration:
        if default is _MISSING:
            if run is not None:
                run.problem = "came to its end by a StopIteration that was caught"
            raise

        def undo_last(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
            if run is not None:
                undo_end(run, shadows)
            return (*(None,) * (count - 1), y_bar)

        return default, undo_last
    if run is None:
        return y, _constant(y, count, g)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        bars: list[Any] = [None] * count
        sent_bar = undo_next(run, shadows, y_bar)
        if place_of_sent is not None:
            bars[place_of_sent] = sent_bar
        return tuple(bars)

    return y, undo


@event(next, of=GeneratorType)
def next_item(g: Any, default: Any = _MISSING, /) -> Made:
    return _advanced(g, run_of(g), lambda: next(g), default, 1 if default is _MISSING else 2, None)


@event(GeneratorType.__next__, of=GeneratorType)
def next_method(g: Any, /) -> Made:
    return _advanced(g, run_of(g), lambda: next(g), _MISSING, 1, None)


@event(GeneratorType.send, of=GeneratorType)
def send(g: Any, value: Any, /) -> Made:
    run = run_of(g)
    if run is None and may_be_active(value):
        raise MissingRuleError(
            f"a value that is differentiated is sent into the generator {g.__name__!r}, which was made outside",
            None,
            "Make the generator inside the differentiated function.",
        )
    return _advanced(g, run, lambda: g.send(value), _MISSING, 2, 1)


@event(GeneratorType.close, of=GeneratorType)
def close(g: Any, /) -> Made:
    return g.close(), lambda y_bar, shadows: (None,)


@event(GeneratorType.throw, of=GeneratorType)
def throw(g: Any, /, *exception: Any) -> Made:
    return g.throw(*exception), lambda y_bar, shadows: (None,) * (1 + len(exception))


# yield from


def delegated(resolve: Resolve, source: Any) -> Made:
    """What a `yield from` runs over, and what gives the cotangent of that to it."""
    method = getattr(type(source), "__iter__", None)
    if isinstance(method, types.FunctionType):
        items, back = resolve(method, (source,), {})
        steps = Delegate(items, iter(items))
    else:
        back = None
        steps = Delegate(source, iter(source))

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        bar = shadows.of(steps).take("source")
        shadows.take(steps)
        if back is not None:
            (bar,) = back(bar, shadows).arguments
        return (bar,)

    return steps, undo


@event(advance)
def advanced(steps: Delegate, sent: Any, /) -> Made:
    place, run = steps.taken, run_of(steps.items)
    y = advance(steps, sent)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        bar = None if y_bar is None else y_bar[1]
        if run is not None:
            return None, undo_end(run, shadows, bar) if y[0] else undo_next(run, shadows, bar)
        if not y[0]:
            shadows.of(steps).add("source", iterated(shadows, steps.source, place, y[1], bar))
        return None, None

    return y, undo


# zip


def counting(source: Any) -> Any:
    """What a loop over a `zip` runs over: a generator counts what is asked of it."""
    return source if run_of(source) is None else Counted(source)


@event(counting)
def counted(source: Any, /) -> Made:
    return counting(source), lambda y_bar, shadows: (y_bar,)


# What takes all items at once

_COLLECTORS: dict[Any, int] = {
    sum: 0, list: 0, tuple: 0, sorted: 0, dict: 0, set: 0, frozenset: 0, min: 0, max: 0, collections.deque: 0,
    math.fsum: 0, math.prod: 0, list.extend: 1, collections.deque.extend: 1, operator.iadd: 1, str.join: 1,
    dict.update: 1,
}  # fmt: skip
"""Functions that use a generator up before they do anything else, and the place of that among their arguments."""


def collected(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Any:
    """A call that uses a generator up, as a call with the list of its items; None if this is none."""
    try:
        place = _COLLECTORS.get(f)
    except TypeError:
        return None
    if place is None or place >= len(args) or (run := run_of(args[place])) is None:
        return None
    before = run.given
    items = list(args[place])
    count = run.given - before
    y, back = resolve(f, (*args[:place], items, *args[place + 1 :]), kwargs)

    def collected_back(y_bar: Any, shadows: Shadows) -> Bars:
        bars = back(y_bar, shadows)
        given = bars.arguments[place]
        shadows.settle(items, given)
        taken = shadows.take(items)
        undo_end(run, shadows)
        for number in reversed(range(count)):
            undo_next(run, shadows, None if taken is None else taken.get(number))
        arguments = (*bars.arguments[:place], None, *bars.arguments[place + 1 :])
        return Bars(bars.function, arguments, bars.keywords)

    return y, collected_back
