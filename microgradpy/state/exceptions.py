"""Exceptions in a run that tracks writes: objects whose fields have cotangents, as those of any other object. `args` is one of
these, a tuple; so is what some of Python's own classes make of it (`StopIteration.value`).

    e = ValueError(x * x)       the cotangents of `args`, and of `value`, go back to the arguments
    raise e ... except ... as e     `caught`: from here on it is used as a value; who made it takes its cotangent
"""

from __future__ import annotations

import builtins
from typing import Any

from microgradpy.errors import MissingRuleError
from microgradpy.frontend.exceptions import caught
from microgradpy.runtime.activity import may_be_active
from microgradpy.state.shadows import Shadows, is_value
from microgradpy.state.whole import Whole, whole_run
from microgradpy.state.write_handlers import Made, no_cotangents, write_handler
from microgradpy.tangents.types import accumulate

_FIRST = {StopIteration: "value", SystemExit: "code"}
"""The field in which a class keeps its first argument."""
_CLASSES = [cls for cls in vars(builtins).values() if isinstance(cls, type) and issubclass(cls, BaseException)]


@write_handler(*{cls.__new__ for cls in _CLASSES})
def new_exception(cls: Any, *args: Any, **kwargs: Any) -> Made:
    """super().__new__(cls, *args), or what a class without a `__new__` of its own does: the arguments are its `args`."""
    new: Any = next(base.__new__ for base in cls.__mro__ if base in _CLASSES)
    y = note_made(new(cls, *args, **kwargs))
    return y, _undo(y, (cls, *args))


def note_made(y: Any) -> Any:
    """Note an exception of which what it holds gives its cotangent to what it is from."""
    whole = whole_run()
    if whole is not None:
        whole.made[id(y)] = y
    return y


@write_handler(*{cls.__init__ for cls in _CLASSES})
def initialised(y: Any, *args: Any, **kwargs: Any) -> Made:
    """What `super().__init__(*args)` does: the arguments are its `args`."""
    _own_init(type(y))(y, *args, **kwargs)
    return None, _undo(y, (y, *args))


def _own_init(cls: type) -> Any:
    return next(base.__init__ for base in cls.__mro__ if base in _CLASSES)


def _undo(y: Any, args: tuple[Any, ...]) -> Any:
    stored: tuple[Any, ...] = y.args

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadow = shadows.of(y)
        found = shadow.take("args")
        bars = list(found) if found is not None else [None] * len(stored)
        if stored:
            bars[0] = accumulate(bars[0], _take_copy(y, shadows))
        if any(bar is not None for bar in bars) and not _is_given(stored, args[1:]):
            refuse(y)
        return (None, *bars)

    return undo


def take_first(y: Any, shadows: Shadows) -> Any:
    """The cotangent of the one argument that Python itself gave an exception: what a generator returned."""
    found = shadows.of(y).take("args")
    return accumulate(None if found is None else found[0], _take_copy(y, shadows))


def _take_copy(y: Any, shadows: Shadows) -> Any:
    """The cotangent of the first argument as far as it was read by the name that the class has for it."""
    name = next((name for cls, name in _FIRST.items() if isinstance(y, cls)), None)
    return None if name is None else shadows.of(y).take(name)


def _is_given(stored: tuple[Any, ...], args: tuple[Any, ...]) -> bool:
    """Whether an exception has the arguments that were given to it."""
    return len(stored) == len(args) and all(a is b for a, b in zip(stored, args, strict=True))


@write_handler(caught)
def caught_write_handler(exception: BaseException, place: str) -> Made:
    """What its fields hold is taken by who stored it."""
    whole = whole_run()
    if whole is not None:
        whole.caught.append((exception, place))
        if id(exception) not in whole.made and any(map(_is_held, (*exception.args, *vars(exception).values()))):
            refuse(exception, place)
    return exception, no_cotangents(2)


@write_handler(BaseException.with_traceback)
def with_traceback(exception: Any, traceback: Any) -> Made:
    return exception.with_traceback(traceback), no_cotangents(2)


@write_handler(BaseException.add_note)
def add_note(exception: Any, note: Any) -> Made:
    return exception.add_note(note), no_cotangents(2)


def _is_held(part: Any) -> bool:
    """Whether an exception holds something with a cotangent of its own, which would not show that nobody takes it."""
    return not (is_value(part) and not isinstance(part, tuple)) and may_be_active(part)


def check_made(shadows: Shadows, inputs: set[int], whole: Whole) -> None:
    """Refuse, at the end, if there are cotangents in exceptions that nobody took: they were not made in this run by code that
    is followed. `inputs` are the identities of what the arguments hold."""
    for x, shadow in list(shadows.entries.values()):
        left = {name for name, bar in shadow.fields.items() if bar is not None} if isinstance(x, BaseException) else ()
        if left and (id(x) not in inputs or not left <= vars(x).keys()):
            refuse(x, next((place for known, place in whole.caught if known is x), None))


def refuse(x: BaseException, place: str | None = None) -> None:
    raise MissingRuleError(
        f"the {type(x).__name__} that was caught holds numbers of which it is not known what they were computed from",
        place,
        "Raise an exception of your own in the differentiated function, or assign the value to a variable before.",
    )
