"""What was resolved for a call, remembered for calls like it: a method lookup cache, which all call sites share.

    operator.mul of (float, float)     the rule of mul: nobody asks again whether a class has `__mul__`, which rule is the
                                       most specific one, or what is written

A dispatcher notes what it has come to, and looks here before it resolves a call the long way. The key is all that this
depends on: the callee, and the types of the arguments, if all are numbers, which have no parts, no shadow and no methods of
the user's; with the version of the rules. Only callees that the interpreter compares by identity are in the table, and
only rules of this package, whose cotangents nobody has to check. For Python's own numbers there is a function for each callee,
in `quick`, which tests the types itself: it makes the call by a text of its own (`microgradpy.rules.number_texts`).
"""

from __future__ import annotations

import inspect
import itertools
import operator
import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, final

import numpy as np

from microgradpy.rules.registry import rrule
from microgradpy.rules.results import is_users_rule
from microgradpy.runtime.modes import KEEPING, RUN
from microgradpy.runtime.special_methods import IN_PLACE
from microgradpy.tangents.thunks import computed
from microgradpy.tangents.types import NoTangent, NotImplementedTangent, is_structural_zero

NUMBERS: frozenset[type] = frozenset(
    {float, int, bool, complex, types.NoneType, np.float64, np.float32, np.int64, np.int32, np.bool}
)
"""Types of which a value cannot be written into, and which cannot be patched."""
_WITHOUT_METHODS = NUMBERS | {np.ndarray, slice}
"""Types that cannot be patched. Of arrays, an operator or universal function writes into those that are at certain places;
what other functions do may be said by a flag."""
_CONTAINERS, _KEYS = frozenset({list, tuple, dict}), frozenset({int, str, slice})
_INERT = frozenset({int, bool, types.NoneType, np.int64, np.int32, np.bool, slice})
_CALLEES = frozenset({types.BuiltinFunctionType, np.ufunc})
_LARGEST = 4096
Rule = Callable[..., Any]
Quick = tuple[int, Callable[..., Any], Any]
"""How many arguments a call has; what makes it and returns its value and pullback, or None if it is none of those that it
makes; and the callee, which lives as long."""
MakeQuick = Callable[[Any, Rule | None, int], Callable[..., Any] | None]
PYTHONS: frozenset[type] = frozenset({float, int})
_REAL = PYTHONS | {np.float64}
_NOTHING: Mapping[int, Quick] = types.MappingProxyType({})


class Entry(NamedTuple):
    """What is remembered of calls: the version of the rules, the rule (None: there is no derivative), and whether all arguments
    are numbers, or one list or tuple of them."""

    version: int
    rule: Rule | None
    of_numbers: bool
    of_list: bool


@final
class LookupCache:
    """What one dispatcher has found for calls on numbers and arrays."""

    __slots__ = ("_found", "_given", "_make", "quick")

    def __init__(self, make: MakeQuick, given: Mapping[int, Quick] = _NOTHING) -> None:
        """`make` finds the quick way of calls of numbers; `given` are those that do not go by rules."""
        self._found: dict[Any, Entry] = {}
        self._make, self._given = make, given
        self.quick: dict[int, Quick] = dict(given)
        rrule.watchers.append(self._forget)

    def _forget(self) -> None:
        """The rules have changed."""
        for key in set(self.quick) - set(self._given):
            self.quick.pop(key, None)

    def find(self, f: Any, args: tuple[Any, ...]) -> Entry | None:
        """The entry for a call."""
        if type(f) not in _CALLEES:
            return None
        found = self._found.get((f, *map(type, args)))
        if found is None or found.version != rrule.version:
            return None
        return None if found.of_list and not NUMBERS.issuperset(map(type, args[0])) else found

    def note(self, version: int, f: Any, args: tuple[Any, ...], kwargs: Any, rule: Rule | None) -> None:
        """Remember what was found while the rules had this version, if it holds for all such calls."""
        cls = type(f)
        if kwargs or cls not in _CALLEES:
            return
        classes = tuple(map(type, args))
        of_list = classes in ((list,), (tuple,)) and NUMBERS.issuperset(map(type, args[0]))
        is_item = f is operator.getitem and len(args) == 2 and classes[0] in _CONTAINERS and classes[1] in _KEYS
        if not (of_list or is_item or _WITHOUT_METHODS.issuperset(classes)):
            return
        if np.ndarray in classes and cls is not np.ufunc and f.__module__ != operator.add.__module__:
            return
        if rule is not None and (is_users_rule(rule) or not takes(rule, len(args))):
            return
        if cls is types.BuiltinFunctionType and not isinstance(f.__self__, types.ModuleType | types.NoneType):
            return  # a method: nobody keeps its object alive here
        if len(self._found) > _LARGEST:
            self._found.clear()
        self._found[(f, *classes)] = Entry(version, rule, NUMBERS.issuperset(classes), of_list)
        if of_list or _REAL.issuperset(classes):
            self._note_quick(version, f, rule, len(args))

    def _note_quick(self, version: int, f: Any, rule: Rule | None, count: int) -> None:
        if id(f) in self.quick or count > _MOST or not _is_of_all_numbers(f, rule, count):
            return
        made = self._make(f, rule, count)
        if made is not None:
            self._keep(version, f, (count, made, f))

    def _keep(self, version: int, f: Any, quick: Quick) -> None:
        self.quick[id(f)] = quick
        if version != rrule.version:
            self._forget()

    def note_in_place(self, f: Any, args: tuple[Any, ...]) -> None:
        """Remember of an operator that would write in place what is known of the one that makes a new number."""
        binary = _BINARY.get(f) if type(f) is types.BuiltinFunctionType else None
        found = None if binary is None else self.find(binary, args)
        if found is not None and found.of_numbers:
            self._found[(f, *map(type, args))] = found
            quick = self.quick.get(id(binary))
            if quick is not None and id(f) not in self.quick:
                self._keep(found.version, f, (quick[0], quick[1], f))


def _is_of_all_numbers(f: Any, rule: Rule | None, count: int) -> bool:
    """Whether calls of so many numbers go by the same rule, whatever types of numbers they are."""
    return all(rrule.find(f, types) is rule for types in itertools.product(_REAL, repeat=count))


_MOST = 3
_BINARY = {f: binary for f, (_, binary) in IN_PLACE.items()}


def takes(rule: Callable[..., Any], count: int) -> bool:
    """Whether a rule can be called with this many positional arguments, as far as its code tells."""
    code = getattr(rule, "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARARGS:
        return True
    needed = code.co_argcount - len(getattr(rule, "__defaults__", None) or ())
    return bool(needed <= count <= code.co_argcount)


def known_cotangents(pullback: Callable[[Any], Any], y_bar: Any, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """What the pullback of a rule of this package gives for the callee and for arguments without parts; None if somebody has to
    look after it."""
    if type(y_bar) not in _SEEDS or (KEEPING.blocks and RUN.zeros is not None):
        return None
    bars = pullback(y_bar)
    if type(bars) is not tuple or not bars or type(bars[0]) is NotImplementedTangent:
        return None
    missing = 1 + len(args) - len(bars)
    if missing < 0:
        bars = bars[:missing]  # of parameters that were not given
    elif missing:
        if not _INERT.issuperset(map(type, args[-missing:])):
            return None
        bars += (None,) * missing
    return tuple([bar if type(bar) is float else None if bar is _NONE else _plain(bar) for bar in bars])


_NONE = NoTangent()


def _plain(bar: Any) -> Any:
    return None if is_structural_zero(bar) else computed(bar)


_SEEDS = NUMBERS | {np.ndarray}
