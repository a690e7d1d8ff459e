"""What is done with generators: each step forward is a write, which one step of the generator's coroutine undoes."""

from __future__ import annotations

import collections
import contextlib
import inspect
import math
import operator
from collections.abc import Callable
from types import FunctionType, GeneratorType
from typing import Any

import numpy as np

from microgradpy.errors import DifferentiationError, MissingRuleError
from microgradpy.runtime.bars import Bars, Resolve, Resolved
from microgradpy.runtime.dispatch import may_be_active
from microgradpy.runtime.failures import Failure
from microgradpy.runtime.iterators import STREAMS
from microgradpy.runtime.streams import Turn, check_unchanged
from microgradpy.runtime.suspension import Delegate, advance, drop, is_dropped, is_generator, is_over
from microgradpy.state.coroutines import Steps, run_of
from microgradpy.state.exceptions import note_made, take_first
from microgradpy.state.iteration import walk
from microgradpy.state.lists import with_fixed_slice
from microgradpy.state.partial_calls import undone_by
from microgradpy.state.shadows import Shadows
from microgradpy.state.undo import exhausted, iterated, step_back, undo_end
from microgradpy.state.undo_log import Step, current
from microgradpy.state.write_handlers import Made, write_handler
from microgradpy.tangents.memory_order import copied

_ADDS_UP = (sum, min, max, math.fsum, math.prod)
_MISSING = object()


def _advanced(g: Any, step: Callable[[], Any], default: Any, count: int, sent: tuple[Any, ...] = ()) -> Made:
    """A step of a generator, into which a value may be `sent`; `count` is the number of arguments of the call."""
    was_over = is_over(g)
    try:
        y = step()
    except StopIteration as stop:

        def undo_last(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
            if not was_over:
                undo_end(shadows, g)
            return (*(None,) * (count - 1), y_bar)

        if default is _MISSING:
            if not was_over:
                _note_end(g, *sent, stop=stop)
            raise
        return default, undo_last
    except BaseException:
        if not was_over:
            _note_end(g, *sent)
        raise

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        bars: list[Any] = [None] * count
        sent_bar = step_back(shadows, g, y, y_bar)
        if sent:
            bars[1] = sent_bar
        return tuple(bars)

    return y, undo


def _note_end(g: Any, *sent: Any, stop: StopIteration | None = None) -> None:
    """Note, for a caller that goes on, that a step that raised an exception has brought a generator to its end. What was sent
    into it has its cotangent from there; what it returned is in `stop`."""
    undo_log = current()
    if undo_log is not None:
        note_made(stop)

        def back(y_bar: Any, shadows: Shadows) -> Bars:
            sent_bar = undo_end(shadows, g, None if stop is None else take_first(stop, shadows))
            return Bars(None, (None, *(sent_bar for _ in sent)), {})

        undo_log.append(Step(GeneratorType.send if sent else next, (g, *sent), {}, back))


@write_handler(next, of=GeneratorType)
def next_item(g: Any, default: Any = _MISSING, /) -> Made:
    return _advanced(g, lambda: next(g), default, 1 if default is _MISSING else 2)


@write_handler(GeneratorType.__next__, of=GeneratorType)
def next_method(g: Any, /) -> Made:
    return _advanced(g, lambda: next(g), _MISSING, 1)


@write_handler(GeneratorType.send, of=GeneratorType)
def send(g: Any, value: Any, /) -> Made:
    if run_of(g) is None and may_be_active(value):
        raise MissingRuleError(
            f"a value that is differentiated is sent into the generator {g.__name__!r}, which was made outside",
            None,
            "Make the generator inside the differentiated function.",
        )
    return _advanced(g, lambda: g.send(value), _MISSING, 2, (value,))


@write_handler(GeneratorType.close, of=GeneratorType)
def close(g: Any, /) -> Made:
    was_over = is_over(g)
    _note_closed(g)
    try:
        g.close()
    except BaseException:
        _note_end(g)
        raise

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if not was_over:
            undo_end(shadows, g)
        return (None,)

    return None, undo


@write_handler(drop)
def dropped(items: Any, maker: Any, /) -> Made:
    if not is_dropped(items, maker) or is_over(items):
        return None, lambda y_bar, shadows: (None, None)
    try:
        _, undo = close(items)
    except DifferentiationError:
        raise
    except Exception as error:  # which Python prints, and the program goes on
        found = f"the generator {items.__name__!r} raises {type(error).__name__} when a `break` has left it"
        raise MissingRuleError(found, None, "Let it raise nothing there.") from error
    return None, lambda y_bar, shadows: (*undo(y_bar, shadows), None)


def _note_closed(g: Any) -> None:
    """Note that the program itself closes a generator, which is not just dropped."""
    run = run_of(g)
    if run is not None:
        run.is_closed = True


@write_handler(GeneratorType.throw, of=GeneratorType)
def throw(g: Any, /, *exception: Any) -> Made:
    return _advanced(g, lambda: g.throw(*exception), _MISSING, 1 + len(exception))


# yield from


def delegated(resolve: Resolve, source: Any) -> Made:
    """What a `yield from` runs over, and what gives the cotangent of that to it."""
    walked, back = walk(resolve, source)
    steps = Delegate(walked, walked.source if isinstance(walked, Steps) else iter(walked))

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        bar = shadows.of(steps).take("source")
        shadows.take(steps)
        return (back(bar, shadows).arguments[0],)

    return steps, undo


def _check_not_thrown_on(source: Any) -> None:
    """Refuse to throw an exception to items that may take it: those of an object of the user's."""
    if isinstance(source, Turn) and source.stream.name not in _OF_PYTHON:
        raise MissingRuleError(
            "an exception was thrown to a `yield from` over an object", None, "Write the `yield from` as a loop."
        )


_OF_PYTHON = frozenset(f.__name__ for f in STREAMS)


@write_handler(advance)
def advanced(steps: Delegate, sent: Any, /) -> Made:
    place, was_over, source = steps.taken, is_over(steps.items), steps.source
    if type(sent) is Failure and not isinstance(source, Steps):
        _check_not_thrown_on(source)
    if type(sent) is Failure and isinstance(sent.exception, GeneratorExit) and isinstance(source, Steps):
        _note_closed(source.source)

    def left_back(y_bar: Any, shadows: Shadows) -> Bars:
        sent_bar = undo_end(shadows, source.source) if isinstance(source, Steps) and not was_over else None
        if isinstance(source, Turn):
            exhausted(shadows, source)
        return Bars(None, (None, sent_bar), {})

    with undone_by(left_back, advance, steps, sent):
        y = done, item = advance(steps, sent)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        bar = None if y_bar is None else y_bar[1]
        if isinstance(source, Steps):
            if done:
                return None, None if was_over else undo_end(shadows, source.source, bar)
            return None, step_back(shadows, source.source, item, bar)
        if done:
            exhausted(shadows, source)
        else:
            shadows.of(steps).add("source", iterated(shadows, source, place, item, bar))
        return None, None

    return y, undo


# contextlib.contextmanager

_MANAGER = contextlib._GeneratorContextManager
_ENTER, _EXIT = _MANAGER.__enter__, _MANAGER.__exit__
_HELPER = contextlib.contextmanager(iter).__code__


def makes_manager(f: Any) -> bool:
    """Whether a function is decorated with `contextmanager`: its generator is sent what its `with` raises."""
    return type(f) is FunctionType and f.__code__ is _HELPER


def made_manager(resolve: Resolve, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved | None:
    """A call of a function decorated with `contextmanager`; None for any other call."""
    if not makes_manager(f):
        return None
    function = inspect.getclosurevars(f).nonlocals["func"]
    if type(function) is not FunctionType or not is_generator(function.__code__):
        return None
    manager = f(*args, **kwargs)  # which makes a generator, and does not begin with it
    manager.gen, back = resolve(function, args, kwargs)
    return manager, back


@write_handler(_ENTER)
def enter(manager: Any, /) -> Made:
    source, y = manager.gen, _ENTER(manager)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        step_back(shadows, source, y, y_bar)
        return (None,)

    return y, undo


@write_handler(_EXIT)
def leave(manager: Any, /, *exception: Any) -> Made:
    source = manager.gen
    try:
        y = _EXIT(manager, *exception)
    except BaseException:
        _note_end(source)
        raise

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        undo_end(shadows, source)
        return (None,) * (1 + len(exception))

    return y, undo


# What takes all items at once

_COLLECTORS: dict[Any, int] = {
    sum: 0, list: 0, tuple: 0, sorted: 0, dict: 0, set: 0, frozenset: 0, min: 0, max: 0, collections.deque: 0,
    math.fsum: 0, math.prod: 0, str.join: 1, operator.setitem: 2, list.__setitem__: 2,
}  # fmt: skip
"""Functions that use a generator up before they do anything else, and the place of that among their arguments."""


def collected(resolve: Resolve, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved | None:
    """A call that uses a generator up, as a call with the list of its items; None if this is none."""
    try:
        place = _COLLECTORS.get(f)
    except TypeError:
        return None
    if place is None or place >= len(args) or run_of(args[place]) is None:
        return None
    if place == 2 and isinstance(args[0], list) and isinstance(args[1], slice):
        args = with_fixed_slice(*args)
    source = args[place]
    items, undo_reading = _items_of(source, f)
    y, back = resolve(f, (*args[:place], items, *args[place + 1 :]), kwargs)

    def collected_back(y_bar: Any, shadows: Shadows) -> Bars:
        bars = back(y_bar, shadows)
        shadows.settle(items, bars.arguments[place])
        undo_reading(shadows.take(items), shadows)
        arguments = (*bars.arguments[:place], None, *bars.arguments[place + 1 :])
        return Bars(bars.function, arguments, bars.keywords)

    return y, collected_back


def _items_of(source: Any, f: Any) -> tuple[list[Any], Callable[[Any, Shadows], Bars]]:
    """All items that a generator gives to `f`, and what undoes their reading."""
    was_over, items = is_over(source), list[Any]()
    given: list[tuple[Any, Any]] = []

    def undo_reading(taken: Any, shadows: Shadows) -> Bars:
        rewind = shadows.of_generator(source)
        assert rewind is not None
        if not was_over:
            rewind.undo_end()
        for number in reversed(range(len(items))):
            rewind.undo(None if taken is None else taken.get(number))
        return Bars(None, (None,), {})

    with undone_by(undo_reading, f, source):
        for item in source:
            items.append(item)
            if isinstance(item, np.ndarray):
                given.append((item, copied(item)))
    if f in _ADDS_UP:
        check_unchanged("generator", given)
    return items, undo_reading
