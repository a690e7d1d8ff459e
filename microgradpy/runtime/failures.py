"""Exceptions on their way out of a call whose caller may go on after them.

In a function that writes, such a call returns a `Failure` first. A mark follows, which says that the call was made, so that its
effects are undone like those of any other call; then `raise_failure` raises the exception.
"""

from __future__ import annotations

from typing import Any, final

from microgradpy.dataclasses import dataclass


@final
@dataclass(frozen=True, slots=True, eq=False)
class Failure:
    """What a call has for a value that raised an exception."""

    exception: BaseException


@final
class Row:
    """One iteration of a loop over a `zip`: when one of its items has raised, the others are not asked any more."""

    __slots__ = ("has_failed",)

    def __init__(self) -> None:
        self.has_failed = False


NO_ROW = Row()
"""For what a loop runs over alone. Nobody notes a failure in it."""
SKIPPED = object()
"""The item of what is not asked any more."""


def failed(exception: BaseException, row: Row) -> Failure:
    """The item of what has raised an exception."""
    if row is not NO_ROW:
        row.has_failed = True
    return Failure(exception)


def raise_failure(value: Any) -> None:
    """Raise what a call has raised, as it was."""
    if type(value) is not Failure:
        return
    exception = value.exception
    context = exception.__context__
    try:
        raise exception
    finally:
        exception.__context__ = context
