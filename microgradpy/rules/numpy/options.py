"""What rules for options that are rarely given share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.registry import examples, rrule
from microgradpy.rules.second_texts import bars_and_back, filled
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.foreign import as_array
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent, accumulate, is_structural_zero

_NOT_GIVEN: Any = np._NoValue


def given(**options: Any) -> dict[str, Any]:
    """The options that are not at their defaults."""
    if options.get("out") is not None:
        raise MissingRuleError("a reduction with `out` and other options", None, "Assign its value: y[...] = np.sum(x, ...).")
    return {name: value for name, value in options.items() if value is not _NOT_GIVEN and value is not None}


def taken(where: Any, a: Any, leaves_out_nan: bool) -> Any:
    """Which entries are taken."""
    mask = np.broadcast_to(as_array(where).astype(bool), np.shape(a))
    return mask & ~np.isnan(a) if leaves_out_nan else mask


@cotangent_of(1)
def fitted(bar: Any, x: Any) -> Any:
    """A cotangent in the shape and dtype of x, of which only a number may have been given."""
    bar = unbroadcast(bar, x)
    is_cast = isinstance(x, np.ndarray) and x.dtype.kind in "fc" and isinstance(bar, np.ndarray) and bar.dtype != x.dtype
    return bar.astype(x.dtype) if is_cast else bar


def rounds(a: Any, y: Any) -> bool:
    """Whether a reduction of numbers gave whole ones, by its dtype."""
    return as_array(y).dtype.kind in "biu" and as_array(a).dtype.kind in "fcO"


def is_set(keepdims: Any) -> bool:
    return keepdims is not _NOT_GIVEN and bool(keepdims)


def initial_bar(bar: Any, initial: Any) -> Any:
    return NoTangent() if initial is _NOT_GIVEN or initial is None else unbroadcast(bar, initial)


def plain_bars(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], y_bar: Any) -> list[Any]:
    """The cotangents of the positional arguments of a call that a plain rule takes."""
    made = rrule(f, *args, **kwargs)
    assert made is not None
    bars = made[1](y_bar)[1:]
    return [*bars, *(NoTangent(),) * (len(args) - len(bars))]


@rrule.register(plain_bars)
def plain_bars_rrule(f, args, kwargs, y_bar):
    """By the text of the rule."""
    rule = rrule.find_for(f, args, kwargs)
    y, pullback = rule(*args, **kwargs)
    bars, back = bars_and_back(rule, None, y_bar, y, args, kwargs)

    def plain_bars_pullback(seeds):
        y_dot, value_bar, args_bar = back(seeds)
        if not is_structural_zero(value_bar):
            args_bar = tuple(map(accumulate, args_bar, filled(pullback(value_bar)[1:], len(args))))
        return NoTangent(), NoTangent(), args_bar, NoTangent(), y_dot

    return list(bars), plain_bars_pullback


examples(plain_bars, (np.clip, (np.array([0.5, 2.0]), 0.0, 1.0), {}, np.array([0.5, 1.5])))
examples(plain_bars, (np.hypot, (2.0, np.array([0.5, 2.0])), {}, np.array([0.5, 1.5])))
