"""A program of the table: a function, arguments to try it on, and the features it is there for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Program:
    """One row. `function(*args, **kwargs)` is smooth around `args`."""

    id: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    features: tuple[str, ...]

    def __str__(self) -> str:
        return self.id


PROGRAMS: list[Program] = []


def program(*args: Any, features: str) -> Callable[[F], F]:
    """Enter the decorated function into the table, once for these arguments; several decorators make several rows."""

    def enter(function: F) -> F:
        base = function.__name__.strip("<>")
        rows = sum(row.function.__name__.strip("<>") == base for row in PROGRAMS)
        name = base if rows == 0 else f"{base}_{rows + 1}"
        PROGRAMS.append(Program(name, function, args, tuple(features.split(", "))))
        return function

    return enter
