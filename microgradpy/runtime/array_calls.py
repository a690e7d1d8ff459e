"""Calls of NumPy's functions that call what they are given, of what np.vectorize makes, and np.r_[...]: each is resolved as a
call of the text that stands for it (`array_replacements`)."""

from __future__ import annotations

import operator
import types
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.ir.objects import builtin_method, is_function, static_member
from microgradpy.runtime import array_replacements as texts
from microgradpy.runtime.activity import may_be_active
from microgradpy.runtime.bars import Bars, Resolve, Resolved, given_to
from microgradpy.runtime.python_ufuncs import function_of
from microgradpy.runtime.replacements import REPLACEMENTS
from microgradpy.runtime.special_methods import converted
from microgradpy.tangents.memory_order import copied
from microgradpy.tangents.types import Tangent, is_structural_zero


def by_function_of_numpy(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved | None:
    """A function of NumPy's: as the text that stands for it, if it calls what it is given."""
    check_own_method(f, args)
    text = texts.REPLACEMENTS.get(f)
    return converted(f, args, kwargs, resolve) if text is None else resolve(text, args, kwargs)


def by_method_of_array(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved | None:
    """A method of NumPy's or Python's own that is called by its class."""
    if f is np.ndarray.copy:
        own = args and type(args[0]) is not np.ndarray and isinstance(args[0], np.ndarray)
        return resolve(copied, args, kwargs) if own else None
    check_own_method(f, args)
    return None


def unbound_method(f: Any) -> Any:
    """What stands for a builtin method when it gets its object as the first argument. One that is called by `super()` has the
    name of the function that calls it; that of arrays which copies is known by itself."""
    x = f.__self__
    found = getattr(type(x), f.__name__, None)
    is_copy = isinstance(found, types.FunctionType) and isinstance(x, np.ndarray) and f == np.ndarray.copy.__get__(x)
    return copied if is_copy else builtin_method(f)


def check_own_method(f: Any, args: tuple[Any, ...]) -> None:
    """Refuse a function of NumPy's, or a method of arrays, that is given an array of a class with a method of its own under
    that name: rules, as NumPy itself, may call that one."""
    if not args or type(args[0]) is np.ndarray or not isinstance(args[0], np.ndarray):
        return
    name = f.__name__
    if name != "copy" and is_function(static_member(type(args[0]), name)):
        cls = type(args[0]).__name__
        raise MissingRuleError(
            f"{name} of arrays is called on a {cls}, which has a method {name!r} of its own",
            None,
            f"Call it on np.asarray(x), or give {cls}.{name} a rule (`rrule.register`).",
        )


def stands_for_text(f: Any) -> bool:
    """Whether a text in Python is differentiated in the place of a function, which says what it writes and keeps."""
    if isinstance(f, np.ufunc):
        return function_of(f) is not None
    return isinstance(f, np.vectorize) or any(f is known for known in (np.fromiter, *texts.REPLACEMENTS, *REPLACEMENTS))


def by_vectorized(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved | None:
    """A function made by np.vectorize: the loop over the entries that it stands for."""
    if f.signature is not None and any(map(may_be_active, args)):
        found = f"np.vectorize with a signature ({f.signature!r}) was reached with differentiated data, and is not followed"
        remedy = "Write a loop over the rows: np.array([f(row) for row in x]); or np.apply_along_axis(f, -1, x)."
        raise MissingRuleError(found, None, remedy)
    if f.signature is not None or not callable(f.pyfunc):
        return None
    options = (f.pyfunc, f.otypes, f.cache, f.excluded)
    y, back = resolve(texts.elementwise, (*options, *args), kwargs)

    def vectorized_back(y_bar: Any, shadows: Any = None) -> Bars:
        bars = back(y_bar, shadows)
        own = given_to(f.pyfunc, bars.arguments[0], shadows)
        own = None if is_structural_zero(own) else Tangent(np.vectorize, {"pyfunc": own})
        return Bars(own, bars.arguments[len(options) :], bars.keywords)

    return y, vectorized_back


def items_as_array(args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved | None:
    """np.fromiter of an iterator; None for what is a list already."""
    if not args or isinstance(args[0], list | tuple | np.ndarray):
        return None
    return resolve(texts.fromiter, args, kwargs)


_JOINING: Any = type(np.r_).__mro__[1]
"""The class of np.r_ and np.c_."""


def joined(f: Any, args: tuple[Any, ...], resolve: Resolve) -> Resolved | None:
    """np.r_[...], np.c_[...]"""
    if f is not operator.getitem or not isinstance(args[0], _JOINING) or isinstance(args[1], str) or args[0].matrix:
        return None
    joining, key = args
    y, back = resolve(texts.joined, (joining.axis, joining.ndmin, joining.trans1d, key), {})
    return y, lambda y_bar, shadows=None: Bars(None, (None, back(y_bar, shadows).arguments[3]), {})
