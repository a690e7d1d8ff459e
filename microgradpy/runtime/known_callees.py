"""What was called of the user's functions, methods and classes, and is known to be differentiated by nothing but its source.

It is noted by identity, with the version of the rules, so that a loop need not find it out again in each turn; both dispatchers
note it, and look here first.
"""

from __future__ import annotations

import sys
import types
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

from microgradpy.rules.registry import rrule
from microgradpy.tangents.types import Tangent

Table = dict[int, tuple[weakref.ref[Any], int]]
CALLED: Table = {}
"""Functions and classes that were called, of which there are no rules, by identity, with the version of the rules."""
OWNED: Table = {}
"""Functions that were called as methods, or for an object that was called, of which no single object has a rule."""
_of_rules: list[tuple[int, frozenset[int]]] = [(-1, frozenset())]


def note(table: Table, version: int, x: Any) -> None:
    """Note something while the rules have this version."""
    table[id(x)] = weakref.ref(x, partial(_forget, table, id(x), sys.is_finalizing)), version


def note_owned(version: int, function: Any) -> None:
    """Note what was called for an object, if no object has a rule for that."""
    if type(function) is types.FunctionType and id(function) not in _named():
        note(OWNED, version, function)


def is_known(table: Table, x: Any) -> bool:
    known = table.get(id(x))
    return known is not None and known[1] == rrule.version and known[0]() is x


def is_known_method(function: Any) -> bool:
    """Whether a function of a class is known, as one that is called for objects."""
    return type(function) is types.FunctionType and is_known(CALLED, function) and is_known(OWNED, function)


def of_method(own: Any) -> Tangent | None:
    """The cotangent of a bound method, from that of its object."""
    return None if own is None else Tangent(types.MethodType, {"__self__": own})


def _named() -> frozenset[int]:
    """The identities of the functions that have rules, or that calls of what has rules call; by the version of the rules."""
    version, found = _of_rules[0]
    if version != rrule.version:
        version, named = rrule.version, rrule.named()
        found = frozenset([*map(id, named), *(id(_called_by(f)) for f in named)])
        _of_rules[0] = version, found
    return found


def _called_by(f: Any) -> Any:
    """The function that a call of a method or of an object calls."""
    return f.__func__ if isinstance(f, types.MethodType) else getattr(type(f), "__call__", None)  # noqa: B004 - as it stands


def _forget(table: Table, identity: int, is_finalizing: Callable[[], bool], gone: object) -> None:
    known = None if is_finalizing() else table.get(identity)
    if known is not None and known[0] is gone:  # not of another that has the identity by now
        table.pop(identity, None)
