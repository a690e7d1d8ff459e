"""What lowered programs call where they handle exceptions and enter or leave a `with`."""

from __future__ import annotations

import types
from typing import Any, final

import numpy as np

from microgradpy.errors import CompilerBug, DifferentiationError, UnsupportedSyntaxError
from microgradpy.runtime.failures import NO_ROW, SKIPPED, Row, failed, raise_failure

_CARRIES_NOTHING = (str, bytes, bool, type(None), type, types.TracebackType, types.ModuleType)
_STEADY = (list, tuple, dict, str, range, set, frozenset, np.ndarray)


def is_inert(value: object) -> bool:
    """Whether a value certainly carries no derivative. A number may: it may have been computed from an argument."""
    if type(value) is tuple or type(value) is list:
        return all(map(is_inert, value))
    if isinstance(value, BaseException):
        return is_inert(value.args) and all(map(is_inert, vars(value).values()))
    return isinstance(value, _CARRIES_NOTHING)


def check_caught(exception: BaseException, place: str) -> None:
    """Refuse an exception that holds what may depend on an argument where it is used as a value."""
    if not is_inert(exception):
        _refuse(f"the {type(exception).__name__} caught here holds values that may be differentiated", place)


def check_part_of_caught(exception: BaseException, part: object, place: str) -> None:
    """The same for what is read from an exception."""
    if getattr(part, "__self__", None) is exception:
        part = exception
    if not is_inert(part):
        _refuse(f"what is read from the {type(exception).__name__} caught here may be differentiated", place)


def _refuse(found: str, place: str) -> None:
    raise UnsupportedSyntaxError(found, place, "Assign the value to a variable before the exception is raised.")


def check_not_interrupted(exception: BaseException, place: str) -> None:
    """Refuse to go on after an interrupt, which may come between an assignment and the note that it was made."""
    if isinstance(exception, KeyboardInterrupt):
        raise UnsupportedSyntaxError(
            "a KeyboardInterrupt is caught in the middle of a computation that is differentiated",
            place,
            "Catch it outside the differentiated function.",
        )


def check_steady(source: object, place: str) -> None:
    """Refuse to loop over what may raise between two items that are differentiated."""
    if not _is_steady(source):
        raise UnsupportedSyntaxError(
            f"a loop over a {type(source).__name__} in a `try` whose handler uses what the loop has computed so far",
            place,
            "Make a list of the items before the `try`.",
        )


@final
class Attempts:
    """The items of something else; what that raises between two of them is an item too, a `Failure`."""

    __slots__ = ("items", "row")

    def __init__(self, source: Any, row: Row) -> None:
        self.items, self.row = iter(source), row

    def __iter__(self) -> Attempts:
        return self

    def __next__(self) -> Any:
        if self.row.has_failed:
            return SKIPPED
        try:
            return next(self.items)
        except (StopIteration, DifferentiationError, CompilerBug):
            raise
        except BaseException as exception:
            return failed(exception, self.row)


def steady(source: Any, place: str = "", row: Row = NO_ROW) -> Any:
    """What a loop runs over that catches what its body raises, where no derivative flows through the items; `place` is for
    those that are refused."""
    return source if _is_steady(source) else Attempts(source, row)


def new_row() -> Row:
    """What the parts of a `zip` share that a loop runs over which catches what its body raises."""
    return Row()


def _is_steady(source: Any) -> bool:
    """Whether none of the user's code gives the items."""
    return any(isinstance(source, cls) and type(source).__iter__ is cls.__iter__ for cls in _STEADY)


def asked(condition: Any) -> bool:
    """The truth value of a condition in the body of a `try`: the user's code may say it."""
    return bool(condition)


def items_of(source: Any, count: int) -> Any:
    """What is taken apart into so many parts in the body of a `try`: the user's code may give the items."""
    return source


def find_exit(manager: Any) -> Any:
    """The method that leaves a `with`; raises what Python raises for what is no context manager."""
    cls = type(manager)
    for name, missed in (("__enter__", ""), ("__exit__", " (missed __exit__ method)")):
        if not hasattr(cls, name):
            found = f"{cls.__module__}.{cls.__qualname__}" if cls.__module__ != "builtins" else cls.__qualname__
            raise TypeError(f"{found!r} object does not support the context manager protocol{missed}")
    return cls.__exit__


def enter_context(manager: Any) -> Any:
    """What `with manager as value` binds."""
    return type(manager).__enter__(manager)


def leave_context(leave: Any, manager: Any) -> None:
    """The end of a `with` without an exception."""
    leave(manager, None, None, None)


def suppresses(leave: Any, manager: Any, exception: BaseException) -> bool:
    """The end of a `with` by an exception; whether the program goes on after it."""
    suppressed = leave(manager, type(exception), exception, exception.__traceback__)
    if isinstance(exception, DifferentiationError | CompilerBug):
        return False
    return bool(suppressed)


CHECKS = (
    check_caught,
    check_part_of_caught,
    check_not_interrupted,
    check_steady,
    find_exit,
    raise_failure,
    steady,
    asked,
    new_row,
)
"""What carries no derivative, whatever it is called with."""
