"""What generated generators call: how they are told to end where they are, and how they delegate to others."""

from __future__ import annotations

import enum
import inspect
import threading
import types
from collections.abc import Iterator
from typing import Any, final

from microgradpy.rules.registry import non_differentiable
from microgradpy.runtime.failures import Failure


def is_generator(code: types.CodeType) -> bool:
    """Whether calling a function with this code only makes a generator."""
    return bool(code.co_flags & inspect.CO_GENERATOR)


def is_over(x: Any) -> bool:
    """Whether x is a generator that has come to its end."""
    return type(x) is types.GeneratorType and x.gi_frame is None


def drop(items: Any, maker: Any) -> None:
    """What a loop that was left by `break` does with what it ran over, which the call of `maker` gave and nobody else has:
    Python closes a generator then."""
    if is_dropped(items, maker):
        items.close()


def is_dropped(items: Any, maker: Any) -> bool:
    """Whether items are a generator that the call itself has made, and no function that may have kept it."""
    function = maker.__func__ if isinstance(maker, types.MethodType) else maker
    makes = isinstance(function, types.FunctionType) and is_generator(function.__code__)
    return makes and type(items) is types.GeneratorType


class Suspension(enum.Enum):
    """`LEFT` is what a generator is resumed with to make it return where it is suspended, with what it has recorded.
    `UNFINISHED` is what it returns then from inside of a `try` or `with`."""

    LEFT = enum.auto()
    UNFINISHED = enum.auto()


LEFT, UNFINISHED = Suspension


class _Here(threading.local):
    runs_code = False


_here = _Here()


def note_code() -> None:
    """Note, right before a generator is suspended, that code of its own runs if nobody has it any more: it is inside of a
    `with`, or a `try` with a `finally`."""
    _here.runs_code = True


non_differentiable(note_code)


def noted_code() -> bool:
    """Whether that was noted of the generator that has just been suspended."""
    noted, _here.runs_code = _here.runs_code, False
    return noted


@final
class Delegate:
    """What a `yield from` runs over: the items of `source`, of which `taken` have been asked for."""

    __slots__ = ("items", "source", "taken")

    def __init__(self, source: Any, items: Iterator[Any]) -> None:
        self.source, self.items, self.taken = source, items, 0


def delegate_to(source: Any) -> Delegate:
    """What `yield from source` runs over."""
    return Delegate(source, iter(source))


def advance(steps: Delegate, sent: Any) -> tuple[bool, Any]:
    """Whether a `yield from` is done, and the item that it yields next or its own value. A `Failure` that is sent is thrown."""
    try:
        item = _given_to(steps, sent)
    except StopIteration as stop:
        if type(sent) is Failure and stop is sent.exception:
            raise
        return True, stop.value
    steps.taken += 1
    return False, item


def _given_to(steps: Delegate, sent: Any) -> Any:
    """What the items give next when this is sent or thrown to them."""
    if sent is None:
        return next(steps.items)
    items: Any = steps.items
    if type(sent) is not Failure:
        return items.send(sent)
    if isinstance(sent.exception, GeneratorExit):
        if hasattr(items, "close"):
            items.close()
    elif hasattr(items, "throw"):
        return items.throw(sent.exception)
    raise sent.exception
