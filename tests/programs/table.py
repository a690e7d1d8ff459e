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


def entering(table: list[Program]) -> Callable[..., Callable[[F], F]]:
    """The decorator `@program(*args, features="...")`, which enters a function into `table`, once for these arguments;
    several decorators make several rows."""

    def program(*args: Any, features: str) -> Callable[[F], F]:
        def enter(function: F) -> F:
            base = function.__name__.strip("<>")
            rows = sum(row.function.__name__.strip("<>") == base for row in table)
            name = base if rows == 0 else f"{base}_{rows + 1}"
            table.append(Program(name, function, args, tuple(features.split(", "))))
            return function

        return enter

    return program


PROGRAMS: list[Program] = []
program = entering(PROGRAMS)
