"""Numbers that come back out of text: `float(repr(x))`. Text carries no derivative, so the one of the number would be lost.

Text may be made of differentiated numbers: they are printed, logged and put into names of files. In a run that does so, what is
read from text that may be made of them is refused where it is a number again.
"""

from __future__ import annotations

import decimal
import fractions
import operator
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.registry import non_differentiable
from microgradpy.runtime.activity import may_be_active
from microgradpy.runtime.modes import RUN

_NUMBERS = (float, complex, np.inexact, decimal.Decimal, fractions.Fraction)
_DEEPEST = 4
LOOKS: frozenset[Any] = frozenset(
    {operator.getitem, getattr, iter, next, len, hash, id, isinstance, ord, print, type, zip, enumerate, map, filter, reversed}
)
"""What hands on what is there, or looks at it. The items of a `map` are looked at where they are used."""


def check_read(value: Any, *given: Any) -> None:
    """Refuse what a function that reads numbers gave for a text that may be made of differentiated numbers."""
    if RUN.texts and any(map(_may_hold_text, given)) and _holds_numbers(value, (*_NUMBERS, int, np.integer)):
        raise _refusal(value)


def check_made(value: Any, *given: Any) -> None:
    """The same for a function of which it is not known that it reads numbers; whole ones it may have counted."""
    if RUN.texts and any(map(_may_hold_text, given)) and _holds_numbers(value, _NUMBERS):
        raise _refusal(value)


non_differentiable(check_read, check_made)


def noted(value: Any, given: Iterable[Any] = (), f: Any = None) -> Any:
    """What a call gave that carries nothing; if it is text that was made of what may be differentiated, that is noted."""
    if _is_text(value) and any(map(may_be_active, (*given, getattr(f, "__self__", None)))):
        RUN.texts = True
    return value if _looks(f) else read_from(given, value)


def read_from(given: Iterable[Any], value: Any, f: Any = None) -> Any:
    """What a call of `f`, of which nothing is known, gave for constants; refused if it read a number from text among them."""
    owner = getattr(f, "__self__", None)
    if isinstance(value, str) and isinstance(owner, (*_NUMBERS, np.ndarray, list, tuple, dict)):
        RUN.texts = True
    if RUN.texts and any(map(_is_text, (*given, owner))) and not _looks(f):
        check_made(value, *given, owner)
    return value


def _looks(f: Any) -> bool:
    """Whether a callee, which need have no hash, hands on what is there: the text that it gets may be the name of a field."""
    return any(f is each for each in LOOKS)


def _is_text(value: Any) -> bool:
    return isinstance(value, str | bytes) or (isinstance(value, np.ndarray) and value.dtype.kind in "US")


def _may_hold_text(value: Any, depth: int = 0) -> bool:
    """Whether a value may be, or hold, text that is made of a number. Of objects nothing is known."""
    match value:
        case str():
            return not _DIGITS.isdisjoint(value) or "nan" in value.lower() or "inf" in value.lower()
        case np.ndarray():
            return value.dtype.kind not in "fciub"
        case dict():
            return _may_hold_text([*value.keys(), *value.values()], depth)
        case list() | tuple() | set() | frozenset():
            return depth >= _DEEPEST or any(_may_hold_text(item, depth + 1) for item in value)
        case types.BuiltinFunctionType(__self__=(np.ndarray() | np.generic()) as owner):
            return _may_hold_text(owner)
        case bool() | int() | np.generic() | None | type() | types.ModuleType() | np.dtype():
            return False
        case types.FunctionType():
            captured = [cell.cell_contents for cell in value.__closure__ or () if cell != types.CellType()]
            return depth >= _DEEPEST or any(_may_hold_text(found, depth + 1) for found in captured)
    return not isinstance(value, _NUMBERS)


_DIGITS = frozenset("0123456789")


def _refusal(value: Any) -> MissingRuleError:
    return MissingRuleError(
        f"text that may be made of differentiated numbers becomes a {type(value).__name__}, and text carries no derivative",
        None,
        "Hand on the number itself; where none should be differentiated, make the text of stop_gradient(x).",
    )


def _holds_numbers(value: Any, types: tuple[type, ...], depth: int = 0) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fciuO"
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return depth < _DEEPEST and any(_holds_numbers(item, types, depth + 1) for item in value)
    return isinstance(value, types) and not isinstance(value, bool)
