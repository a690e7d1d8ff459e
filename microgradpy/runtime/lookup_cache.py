"""What was resolved for a call, remembered for calls like it: a method lookup cache, which all call sites share.

    operator.mul of (float, float)     the rule of mul: nobody asks again whether a class has `__mul__`, which rule is the
                                       most specific one, or what is written

A dispatcher notes what it has come to, and looks here before it resolves a call the long way. The key is all that this
depends on: the callee, and the types of the arguments, if all are numbers, which have no parts, no shadow and no methods of
the user's; with the version of the rules. Only callees that the interpreter compares by identity are in the table, and
only rules of this package, whose cotangents nobody has to check.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any, final

import numpy as np

from microgradpy.rules.registry import rrule
from microgradpy.rules.results import is_users_rule
from microgradpy.runtime.modes import RUN, SPECIAL
from microgradpy.runtime.special_methods import IN_PLACE
from microgradpy.tangents.thunks import computed
from microgradpy.tangents.types import NotImplementedTangent, is_structural_zero

NUMBERS = frozenset({float, int, bool, complex, types.NoneType, np.float64, np.float32, np.int64, np.int32, np.bool})
"""Types of which a value cannot be written into, and which cannot be patched."""
_CALLEES = frozenset({types.BuiltinFunctionType, np.ufunc})
_LARGEST = 4096
Rule = Callable[..., Any]


@final
class LookupCache:
    """The rules that one dispatcher has found for calls on numbers; None for a callee without derivative."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[Any, tuple[int, Rule | None]] = {}

    def find(self, f: Any, args: tuple[Any, ...]) -> tuple[int, Rule | None] | None:
        """The entry for a call: the version of the rules, and the rule."""
        if type(f) not in _CALLEES:
            return None
        found = self._found.get((f, *map(type, args)))
        return found if found is not None and found[0] == rrule.version else None

    def note(self, version: int, f: Any, args: tuple[Any, ...], kwargs: Any, rule: Rule | None) -> None:
        """Remember what was found while the rules had this version, if it holds for all such calls."""
        cls = type(f)
        if kwargs or cls not in _CALLEES or not NUMBERS.issuperset(map(type, args)):
            return
        if rule is not None and (is_users_rule(rule) or not takes(rule, len(args))):
            return
        if cls is types.BuiltinFunctionType and not isinstance(f.__self__, types.ModuleType | types.NoneType):
            return  # a method: nobody keeps its object alive here
        if len(self._found) > _LARGEST:
            self._found.clear()
        self._found[(f, *map(type, args))] = version, rule

    def note_in_place(self, f: Any, args: tuple[Any, ...]) -> None:
        """Remember of an operator that would write in place what is known of the one that makes a new number."""
        binary = _BINARY.get(f) if type(f) is types.BuiltinFunctionType else None
        found = None if binary is None else self.find(binary, args)
        if found is not None:
            self._found[(f, *map(type, args))] = found


_BINARY = {f: binary for f, (_, binary) in IN_PLACE.items()}


def takes(rule: Callable[..., Any], count: int) -> bool:
    """Whether a rule can be called with this many positional arguments, as far as its code tells."""
    code = getattr(rule, "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARARGS:
        return True
    needed = code.co_argcount - len(getattr(rule, "__defaults__", None) or ())
    return bool(needed <= count <= code.co_argcount)


def cotangents_of_numbers(pullback: Callable[[Any], Any], y_bar: Any, count: int) -> tuple[Any, ...] | None:
    """What the pullback of a rule gives for the callee and `count` numbers; None if somebody has to look after it."""
    if type(y_bar) not in NUMBERS or (SPECIAL.blocks and RUN.zeros is not None):
        return None
    bars = pullback(y_bar)
    if type(bars) is not tuple or len(bars) != 1 + count or type(bars[0]) is NotImplementedTangent:
        return None
    return tuple([bar if type(bar) is float else None if is_structural_zero(bar) else computed(bar) for bar in bars])
