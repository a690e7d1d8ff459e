"""The table of writes: what a call that writes into an argument does, and how it is undone.

    @write_handler(list.append)
    def append(items, x):
        length = len(items)
        items.append(x)

        def undo(y_bar, shadows):
            return None, shadows.of(items).undo_append(length)

        return None, undo

A write handler makes the call, and returns its value with what undoes it: from the cotangent of the value, if that travels by
value, to one cotangent per positional argument, None for those whose cotangent is in the shadows.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from microgradpy.named import Row, is_there, meant
from microgradpy.state.shadows import Undo

Made = tuple[Any, Undo]
"""The value of a call, and what undoes it."""
WriteHandler = Callable[..., Made]
F = TypeVar("F", bound=WriteHandler)
_WRITE_HANDLERS: dict[Any, list[tuple[type, WriteHandler]]] = {}
_WAITING: list[tuple[Row, WriteHandler]] = []
"""Those of libraries that need not have been imported."""


def write_handler(*functions: Any, of: type = object) -> Callable[[F], F]:
    """Declare what undoes calls of these functions, of those whose first argument is an `of`."""

    def declare(made: F) -> F:
        for function in functions:
            _WRITE_HANDLERS.setdefault(function, []).insert(0, (of, made))
        return made

    return declare


def named_write_handler(*rows: Row) -> Callable[[F], F]:
    """Declare what undoes calls of functions by their names, for a library that need not have been imported."""

    def declare(made: F) -> F:
        _WAITING.extend((row, made) for row in rows)
        return made

    return declare


def find_write_handler(function: Any, args: tuple[Any, ...]) -> WriteHandler | None:
    """The write handler of a call; None if it writes into nothing that is known here."""
    found = _write_handlers_of(function)
    if found is None:
        return None
    first = type(args[0]) if args else object
    return next((made for cls, made in found if issubclass(first, cls)), None)


def has_write_handler(function: Any) -> bool:
    """Whether calls of a function may have write handlers."""
    return _write_handlers_of(function) is not None


def _write_handlers_of(function: Any) -> Any:
    for waiting in _WAITING.copy():
        row, made = waiting
        if is_there(row[0]):
            write_handler(*meant(*row))(made)
            with suppress(ValueError):  # another thread was first
                _WAITING.remove(waiting)
    return looked_up(_WRITE_HANDLERS, function)


def looked_up(table: dict[Any, Any], f: Any) -> Any:
    """What a table has for a callable, which need not be hashable."""
    try:
        return table.get(f)
    except TypeError:
        return None


def no_cotangents(count: int) -> Undo:
    """What undoes a call that has nothing to undo."""
    return lambda y_bar, shadows: (None,) * count
