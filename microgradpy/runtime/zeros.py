"""Strong zeros where a pullback is found at run time (see `microgradpy.tangents.strong_zeros`).

A pullback runs as it stands. Where NaN comes out of it, it runs once more with `RUN.zeros` set, and then the adjoints of
functions are those that keep the zeros of selections, and the cotangents of rules are looked after here.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from microgradpy.rules.entries import Rule
from microgradpy.rules.linearity import linear_arguments
from microgradpy.rules.selections import selects, works_by_entry
from microgradpy.runtime.bars import Back, Bars
from microgradpy.runtime.modes import KEEPING, RUN, SPECIAL
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.strong_zeros import has_nan, is_plain, kept, kept_rows, kept_whole
from microgradpy.tangents.types import is_structural_zero

T = TypeVar("T")


def keeping_zeros(is_selected: bool, back: Callable[..., T], *arguments: Any) -> T:
    """What a pullback gives if zeros of selections are kept, in its seed too if that may have some."""
    before, RUN.zeros = RUN.zeros, is_selected
    SPECIAL.add(1)
    KEEPING.add(1)
    try:
        with np.errstate(all="ignore"):
            return back(*arguments)
    finally:
        KEEPING.add(-1)
        SPECIAL.add(-1)
        RUN.zeros = before


def exact(back: Back, y_bar: Any) -> Bars:
    """What a pullback gives; where there is NaN in it, what it gives if zeros of selections are kept. A seed that is an array
    has such zeros where it is a unit vector."""
    bars = back(y_bar)
    if RUN.zeros is not None or (not bars.selects and isinstance(y_bar, float)):
        return bars
    if has_nan(bars.arguments) or has_nan(bars.function) or (bars.keywords and has_nan(bars.keywords)):
        return keeping_zeros(not isinstance(y_bar, float), back, y_bar)
    return bars


def bars_keeping_zeros(back: Callable[..., T], is_selected: bool, *arguments: Any) -> T:
    """The same, as generated adjoints say it."""
    return keeping_zeros(is_selected, back, *arguments)


def run_keeping_zeros(back: Callable[..., T], is_selected: bool, y_bar: Any) -> tuple[bool, T]:
    """The same, and whether the zeros of what comes out are those of a selection. Of what says nothing it counts as if."""
    RUN.gives_selected = True
    bars = keeping_zeros(is_selected, back, y_bar)
    return RUN.gives_selected, bars


def is_repeated(f: Any, args: tuple[Any, ...]) -> bool:
    """Whether `without_zeros` may have to ask a rule once more: of a function that works entry by entry, if arguments are
    repeated along axes over which their cotangents are summed."""
    if len(args) < 2 or not works_by_entry(f) or f in _SUMS:
        return False
    return len({() if type(arg) is float else np.shape(arg) for arg in args if type(arg) is float or is_plain(arg)}) > 1


_SUMS = (operator.add, operator.sub, np.add, np.subtract)  # their slopes are finite, whatever their arguments are


def without_zeros(f: Any, rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any], y_bar: Any, bars: Any) -> Any:
    """The cotangents that the pullback of a rule has given for the function itself and each argument, without the NaN that
    strong zeros of `y_bar` have become in them. Where `is_repeated`, the arguments are those that the rule was called with."""
    if RUN.zeros is not None:
        RUN.gives_selected = RUN.zeros or makes_selection(f, rule, args, kwargs)
    if not RUN.zeros or not any(map(has_nan, bars)):
        return bars
    if not is_plain(y_bar) or np.ndim(y_bar) == 0:
        return tuple(kept_whole(y_bar, bar) for bar in bars)
    if works_by_entry(f):
        return _by_entry(rule, args, kwargs, y_bar, bars)
    if linear_arguments(f):
        return bars
    axis = _argument(rule, args, kwargs, "axis")
    return tuple(kept_rows(y_bar, bar, axis) for bar in bars)


def makes_selection(f: Any, rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call leaves out entries of its arguments, by what it does or by a mask."""
    return selects(f) or not isinstance(_argument(rule, args, kwargs, "where"), bool | None)


def pullback_keeping_zeros(
    f: Any, rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any], pullback: Callable[[Any], Any], y_bar: Any
) -> Any:
    """What the pullback of a rule gives for a unit vector, whose zeros are strong."""
    return keeping_zeros(True, lambda: without_zeros(f, rule, args, kwargs, y_bar, pullback(y_bar)))


def _by_entry(rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any], y_bar: Any, bars: Any) -> Any:
    """Before they are summed over the axes along which an argument was repeated: by the rule for repeated arguments."""
    shape = np.shape(y_bar)
    if not all(is_plain(arg) for arg in args) or all(np.shape(arg) == shape for arg in args):
        return tuple(kept(y_bar, bar) for bar in bars)
    repeated = tuple(np.array(np.broadcast_to(arg, shape)) for arg in args)
    own, *found = rule(*repeated, **kwargs)[1](y_bar)
    pairs = zip(found, args, strict=False)
    return (own, *(None if is_structural_zero(bar) else unbroadcast(kept(y_bar, bar), x) for bar, x in pairs))


def _argument(rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> Any:
    """What a parameter of a rule is in a call; None if there is no such parameter."""
    if isinstance(rule, FunctionType) and name not in rule.__code__.co_varnames and name not in kwargs:
        return None  # it takes fifty times as long to look at the signature
    try:
        bound = inspect.signature(rule).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return None
    bound.apply_defaults()
    return bound.arguments.get(name)
