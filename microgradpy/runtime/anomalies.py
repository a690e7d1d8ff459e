"""Whether an operation has made a NaN or an infinity.

Code that is compiled inside of `detect_anomaly` asks after each operation. An operation is to blame if what it was given is in
order: that is the first one, since it is looked at in the order in which the program runs.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from microgradpy.dataclasses import replace
from microgradpy.errors import AnomalyError
from microgradpy.rules.registry import is_non_differentiable, non_differentiable, rrule
from microgradpy.runtime.anomaly_reports import BACKWARD, INFINITE, NAN_STATE, WORDS, Site, report, short_form
from microgradpy.runtime.bars import Back, Bars
from microgradpy.runtime.modes import NAN
from microgradpy.runtime.streams import Stream
from microgradpy.tangents.types import Projected, Tangent


def state_of(value: Any) -> int:
    """Whether there is a NaN in a number, an array, or a container of them, and whether an infinity."""
    match value:
        case float():
            return 0 if math.isfinite(value) else NAN_STATE if math.isnan(value) else INFINITE
        case np.ndarray() | np.generic():
            return _state_of_array(value)
        case complex():
            return state_of(value.real) | state_of(value.imag)
        case list() | tuple():
            return reduce(or_, map(state_of, value), 0)
        case dict() | Tangent():
            return reduce(or_, map(state_of, dict(value).values()), 0)
    return 0


def _state_of_array(value: np.ndarray[Any, Any] | np.generic) -> int:
    if value.dtype.kind not in "fc" or np.isfinite(value).all():
        return 0
    return NAN_STATE * bool(np.isnan(value).any()) | INFINITE * bool(np.isinf(value).any())


def check_value(site: Site, value: Any, /, *given: Any) -> None:
    """Raise AnomalyError if an operation made a NaN or an infinity."""
    if isinstance(value, float) and math.isfinite(value):
        return  # the quickest way for the most calls
    state = state_of(value)
    if not state:
        return
    read = given[: site.count]
    excused = reduce(or_, (state_of(x) for x, counts in zip(read, site.excuses, strict=True) if counts), 0)
    made = site.blames(state, excused)
    # What is made of nothing (`float("inf")`, a file that was read) is what the user wants it to be.
    if made and any(map(_has_numbers, read)):
        report(site, made, value, read, given[site.count :])


def excuse(value: Any) -> float:
    """A number that is in as bad a state as a value is now, for an operation that is about to write into that."""
    return {0: 0.0, INFINITE: math.inf}.get(state_of(value), math.nan)


def _has_numbers(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_has_numbers, value))
    return isinstance(value, _MAY_HOLD_NUMBERS) and not isinstance(value, bool)


_MAY_HOLD_NUMBERS = (int, float, complex, np.ndarray, np.generic, dict, Tangent, Stream)


Pullback = Callable[..., tuple[Any, ...]]


def checked_call(
    site: Site, entry: Callable[..., tuple[Any, Pullback]], f: Any, /, *args: Any, **kwargs: Any
) -> tuple[Any, Pullback]:
    """What a dispatcher gives for a call, looked at here unless the callee is looked into by itself."""
    if _has_text(f):
        return entry(f, *args, **kwargs)
    read = _given(site, args, kwargs)
    before = reduce(or_, map(state_of, read), 0)
    y, pullback = entry(f, *args, **kwargs)
    _check_call(site, y, before, read)

    def checked_pullback(y_bar: Any, shadows: Any = None) -> tuple[Any, ...]:
        before = reduce(or_, map(state_of, (y_bar, *(_shadow(x, shadows) for x in read))), 0)
        bars = pullback(y_bar, shadows)
        backwards = replace(site, during=BACKWARD)
        for found in (bars[1:], *(_shadow(x, shadows) for x in read)):
            _check_call(backwards, found, before, read)
        return bars

    return y, checked_pullback


def _given(site: Site, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """What a call is computed from, one by one."""
    if site.is_packed:
        args, kwargs = args
    return (*args, *(value for name, value in kwargs.items() if name != "out"))


def _check_call(site: Site, value: Any, before: int, read: tuple[Any, ...]) -> None:
    """The same for what a call that was resolved at run time gives, or its pullback; `before` is the state of what it got."""
    made = site.blames(state_of(value), before)
    if made and any(map(_has_numbers, read)):
        report(site, made, value, (), read)


def _has_text(f: Any) -> bool:
    """Whether a callable is differentiated through its own source, which is looked into."""
    inner = f.__func__ if isinstance(f, types.MethodType) else f
    if not isinstance(inner, types.FunctionType):
        inner = getattr(type(inner), "__call__", None)  # noqa: B004 - the function itself is wanted
    return isinstance(inner, types.FunctionType) and not (rrule.has(inner) or rrule.has(f) or is_non_differentiable(inner))


def _shadow(x: Any, shadows: Any) -> Any:
    """What the shadow of an array holds so far, in a run that tracks what is written."""
    if shadows is None or not isinstance(x, np.ndarray) or not shadows.knows(x):
        return None
    return shadows.of(x)


def check_outcome(value: Any, what: str, given: dict[str, Any], checks: str) -> None:
    """Raise AnomalyError if a NaN or an infinity has come out of a whole run in which no operation made it."""
    state = state_of(value)
    made = state & NAN_STATE if checks == NAN else state
    if made:
        lines = [f"{name} = {short_form(x)}" for name, x in given.items()]
        found = f"the {what} is {WORDS[made]}, which no operation in a differentiated function made of finite numbers"
        raise AnomalyError(found, None, "\n  ".join(lines))


def numbered(args: tuple[Any, ...]) -> dict[str, Any]:
    """Arguments under names for messages."""
    return {f"argument {number}": x for number, x in enumerate(args, 1)}


def checked_run(y: Any, back: Back, args: tuple[Any, ...], checks: str) -> tuple[Any, Back]:
    """A whole run, the value and cotangents of which are looked at as well."""
    check_outcome(y, "value", numbered(args), checks)

    def checked_back(y_bar: Any) -> Bars:
        bars = back(y_bar)
        for number, bar in enumerate(bars.arguments, 1):
            found = bar.gradient if isinstance(bar, Projected) else bar
            given = numbered(args) | {"the seed": y_bar}
            check_outcome(found, f"gradient with respect to argument {number}", given, checks)
        return bars

    return y, checked_back


non_differentiable(check_value, excuse)
