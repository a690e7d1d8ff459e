"""Which methods of the user's classes Python's and NumPy's own code asks for where no operator stands.

Such a method may write, and nobody sees it called. A builtin that makes something of one answer (`len`, `str`) is done by
hand in a run that tracks writes; one that asks deep inside is refused there if the method may write. Of a function that is
in no table here nothing is known: it may ask its arguments for anything, and call those that are functions.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import math
import operator
import types
from collections import deque
from collections.abc import Iterable
from typing import Any

from microgradpy.rules.entries import hashes_itself
from microgradpy.rules.registry import is_non_differentiable, rrule

_OF_TRUTH = ("__bool__", "__len__")
TELLERS: dict[Any, tuple[str, ...]] = {
    len: ("__len__",), bool: _OF_TRUTH, operator.not_: _OF_TRUTH, operator.truth: _OF_TRUTH, hash: ("__hash__",),
    repr: ("__repr__",), str: ("__str__", "__repr__"), format: ("__format__", "__str__", "__repr__"),
    int: ("__int__", "__index__", "__trunc__"), operator.index: ("__index__",), operator.contains: ("__contains__",),
}  # fmt: skip
"""Builtins whose result has no derivative, with the methods one of which each asks."""
TEXTS = ("__str__", "__repr__", "__format__")
_ORDER = ("__lt__", "__gt__")
_EQUALITY = ("__eq__", "__ne__")
_NUMBERS = ("__float__", "__index__", "__int__", "__complex__", "__trunc__")
_ITEMS = ("__iter__", "__next__", "__getitem__")
TAKE_NUMBERS: Any = frozenset({
    range, slice, enumerate, itertools.islice, itertools.repeat, itertools.count, itertools.combinations,
    itertools.permutations, itertools.product, deque, bytes, round, chr, hex, oct, bin, divmod, pow, float, complex,
})  # fmt: skip
"""Builtins that make numbers of some of their arguments."""
ASKED_WITHIN: dict[Any, tuple[str, ...]] = {
    **dict.fromkeys((str, repr, format, print, str.format, str.format_map), TEXTS),
    operator.mod: (*TEXTS, *_NUMBERS), operator.mul: ("__index__",), operator.imul: ("__index__",),
    **dict.fromkeys((sorted, list.sort, min, max, operator.lt, operator.le, operator.gt, operator.ge), (*_ORDER, *_EQUALITY)),
    **dict.fromkeys((bisect.bisect_left, bisect.bisect_right), _ORDER),
    **dict.fromkeys((operator.eq, operator.ne, operator.contains, list.index, list.remove, list.count), _EQUALITY),
    **dict.fromkeys((tuple.index, tuple.count, deque.index, deque.remove, deque.count), _EQUALITY),
    **dict.fromkeys((hash, set, frozenset, set.add, dict.get, dict.setdefault, dict.pop), ("__hash__",)),
    **dict.fromkeys((operator.getitem, operator.setitem, list.pop, list.insert), ("__hash__", "__index__")),
    **dict.fromkeys((operator.countOf, operator.indexOf), (*_EQUALITY, *_ITEMS)),
    **dict.fromkeys(TAKE_NUMBERS, _NUMBERS),
}
"""Builtins that ask what they are given, or what that holds, for methods: too deep inside to be differentiated."""
MAY_ASK: dict[Any, tuple[str, ...]] = {
    **dict.fromkeys((any, all), (*_ITEMS, *_OF_TRUTH)), **dict.fromkeys((operator.contains, math.fsum, math.prod), _ITEMS),
    hasattr: ("__getattr__", "__getattribute__"),
}  # fmt: skip
"""Builtins in whose place a text is differentiated if they ask the user's code, with the methods that they ask."""
_LENGTH = ("__len__", "__length_hint__")
HINTED: dict[Any, tuple[str, ...]] = dict.fromkeys((list, tuple, list.extend, deque.extend, operator.iadd), _LENGTH)
"""Builtins that ask what they read for its length before they do."""
ANYTHING = (
    "__array__", "__array_ufunc__", "__array_function__", "__contains__", "__hash__", "__le__", "__ge__", "__fspath__",
    *_NUMBERS, *TEXTS, *_ORDER, *_EQUALITY, *_ITEMS, *_OF_TRUTH, *_LENGTH,
)  # fmt: skip
"""What a function of which nothing else is known may ask for. (Arithmetic on objects within arrays is refused.)"""


def that_write(names: Iterable[str]) -> frozenset[str]:
    """What stands, among the operators that a value may have, for methods of these names that may write."""
    return frozenset(f"<{name}>" for name in names)


MAY_WRITE = that_write(name for name in ANYTHING if name not in ("__iter__", "__next__"))
"""That stands for what a function of NumPy's may ask for. (It does not iterate over what it is given.)"""
OVERRIDES = frozenset({"__array_ufunc__", "__array_function__"})
"""By these a class says itself what a function of NumPy's does with its objects."""
_TEXTS_AND_NUMBERS = (str, bytes, int, float, complex)
_KNOWN_MODULES = frozenset({"builtins", "_operator", "_functools"})


def told_by(f: Any) -> frozenset[str]:
    """The methods that a builtin asks for what has no derivative."""
    if hashes_itself(f):
        return frozenset()
    try:
        return frozenset((*TELLERS.get(f, ()), *ASKED_WITHIN.get(f, ()), *MAY_ASK.get(f, ())))
    except TypeError:  # unhashable
        return frozenset()


def asks_within(f: Any) -> bool:
    """Whether a builtin asks what is in the containers that it is given."""
    try:
        return not hashes_itself(f) and (f in ASKED_WITHIN or f in MAY_ASK)
    except TypeError:  # unhashable
        return False


def may_ask_anything(f: Any) -> bool:
    """Whether it is a function of NumPy's, or of another module that is not known here, that is not in Python's text: it may
    run any code of its arguments."""
    match f:
        case types.FunctionType():
            return _is_of_numpy(f) and (rrule.has(f) or is_non_differentiable(f))  # otherwise its own text is differentiated
        case type():
            return _is_of_numpy(f)
        case types.MethodDescriptorType():
            is_known = f in ASKED_WITHIN or f == str.join
            return _is_of_numpy(f.__objclass__) or (f.__objclass__ in _TEXTS_AND_NUMBERS and not is_known)
        case types.MethodType():
            return not isinstance(f.__func__, types.FunctionType) and _is_of_numpy(f)
        case functools.partial() | types.MethodWrapperType() | types.WrapperDescriptorType():
            return False
    owner = getattr(f, "__self__", None)
    if isinstance(owner, types.ModuleType):
        return owner.__name__ not in _KNOWN_MODULES and f not in MAY_ASK
    return any(map(_is_of_numpy, (f, type(f), type(owner)))) or type(owner) in _TEXTS_AND_NUMBERS


def _is_of_numpy(f: Any) -> bool:
    return str(getattr(f, "__module__", "")).partition(".")[0] == "numpy"


def converts_by(f: Any) -> str | None:
    """The method by which a function with a rule makes a number or an array of an object that it is given."""
    if not may_ask_anything(f) or not rrule.has(f):
        return None
    return "__float__" if str(getattr(f, "__module__", "")) == "math" else "__array__"
