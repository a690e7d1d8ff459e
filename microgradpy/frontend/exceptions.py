"""What lowered programs call where they handle exceptions and enter or leave a `with`."""

from __future__ import annotations

import sys
from typing import Any, final

import numpy as np

from microgradpy.errors import CompilerBug, DifferentiationError, MutationError, UnsupportedSyntaxError
from microgradpy.runtime.failures import NO_ROW, SKIPPED, Row, failed, raise_failure
from microgradpy.runtime.opaque import check_assumed

_STEADY = (list, tuple, str, range, frozenset, np.ndarray)
_SIZED = (dict, set)
"""What raises between two items if it has got more or fewer of them."""


def caught(exception: BaseException, place: str) -> BaseException:
    """A caught exception that is used as a value: what it holds has its cotangent in the exception, as the fields of any other
    object have. So this is for runs that track writes; there it has a write handler. `place` is for the refusal of what others
    made."""
    return exception


def check_not_interrupted(exception: BaseException, place: str) -> None:
    """Refuse to go on after an interrupt, which may come between an assignment and the note that it was made."""
    if isinstance(exception, KeyboardInterrupt):
        raise UnsupportedSyntaxError(
            "a KeyboardInterrupt is caught in the middle of a computation that is differentiated",
            place,
            "Catch it outside the differentiated function.",
        )


def check_steady(source: object, place: str) -> None:
    """Refuse to loop over what may raise between two items that are differentiated, where no dict or set is written."""
    if not (_is_steady(source) or is_sized(source)):
        raise _unsteady(source, place)


def check_fixed(source: object, place: str) -> None:
    """The same where somebody may write into a dict or set."""
    if not _is_steady(source):
        raise _unsteady(source, place)


def check_pairs(source: Any, place: str) -> None:
    """The same of a loop over `source.items()`, of which the keys are asked for, and the values by them."""
    source.items  # noqa: B018 - Python's own error
    cls: Any = type(source)
    if not (is_sized(source) and cls.items is dict.items and cls.__getitem__ is dict.__getitem__):
        raise _unsteady(source, place)


def _unsteady(source: object, place: str) -> UnsupportedSyntaxError:
    return UnsupportedSyntaxError(
        f"a loop over a {type(source).__name__} in a `try` whose handler uses what the loop has computed so far",
        place,
        "Make a list of the items before the `try`.",
    )


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


@final
class Keys(Attempts):
    """The keys of a dict, or the items of a set, which have no cotangents there."""

    __slots__ = ()


def steady(source: Any, place: str = "", row: Row = NO_ROW) -> Any:
    """What a loop runs over that catches what its body raises, where no derivative flows through the items; `place` is for
    those that are refused."""
    return source if _is_steady(source) else (Keys if is_sized(source) else Attempts)(source, row)


def new_row() -> Row:
    """What the parts of a `zip` share that a loop runs over which catches what its body raises."""
    return Row()


def _is_steady(source: Any) -> bool:
    """Whether none of the user's code gives the items, and none of them can be missing."""
    return _is_iterated_as(source, _STEADY)


def is_sized(source: Any) -> bool:
    """Whether it is a dict or set of which none of the user's code gives the items."""
    return _is_iterated_as(source, _SIZED)


def _is_iterated_as(source: Any, classes: tuple[Any, ...]) -> bool:
    return any(isinstance(source, cls) and type(source).__iter__ is cls.__iter__ for cls in classes)


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
    entered = type(manager).__enter__(manager)
    try:
        check_assumed()
    except MutationError:
        type(manager).__exit__(manager, None, None, None)  # the `with` is not going to
        raise
    return entered


def leave_context(leave: Any, manager: Any) -> None:
    """The end of a `with` without an exception."""
    leave(manager, None, None, None)


def suppresses(leave: Any, manager: Any, exception: BaseException) -> bool:
    """The end of a `with` by an exception; whether the program goes on after it."""
    suppressed = leave(manager, type(exception), exception, exception.__traceback__)
    if isinstance(exception, DifferentiationError | CompilerBug):
        return False
    return bool(suppressed)


def goes_on(suppressed: Any, exception: BaseException, place: str) -> bool:
    """Whether the program goes on after the end of a `with` by an exception, of which `__exit__` has said whether it is
    suppressed."""
    if isinstance(exception, DifferentiationError | CompilerBug):
        return False
    if suppressed:
        check_not_interrupted(exception, place)
    return bool(suppressed)


def traceback_of(exception: BaseException) -> Any:
    """What `__exit__` gets as its third argument."""
    return exception.__traceback__


def suppressed_by_library(leave: Any, manager: Any, exception: BaseException) -> bool:
    """The same, of a context that is known to read nothing from an exception but its class."""
    for _, callback in getattr(manager, "_exit_callbacks", ()):  # of an ExitStack
        entered = getattr(callback, "__self__", None)
        if entered is not None and not is_of_libraries(getattr(entered, "func", type(entered))):
            raise UnsupportedSyntaxError(
                f"an exception leaves an ExitStack with a {type(entered).__name__}, which may read what it holds",
                None,
                "Enter it by a `with` of its own.",
            )
    return suppresses(leave, manager, exception)


def is_of_libraries(context: object) -> bool:
    """Whether what makes a context is one of Python's or NumPy's."""
    return str(getattr(context, "__module__", "")).partition(".")[0] in _LIBRARIES


_LIBRARIES = (sys.stdlib_module_names - {"__main__"}) | {"numpy"}


CHECKS = (
    check_not_interrupted,
    check_steady,
    find_exit,
    raise_failure,
    steady,
    asked,
    new_row,
    goes_on,
    traceback_of,
)
"""What carries no derivative, whatever it is called with."""
