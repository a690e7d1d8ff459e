"""Results that are written into arrays which a call is given: `out=`.

The pullback is that of the same call without `out`, on the contents that there were before it.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from microgradpy.errors import MutationError
from microgradpy.rules.registry import rrule
from microgradpy.runtime.bars import Bars, Resolved
from microgradpy.runtime.rule_calls import positional
from microgradpy.state.arrays import carries, check_writable, pulled_back, taken_item, taken_where
from microgradpy.state.shadows import Shadows
from microgradpy.state.snapshots import frozen, structure_of
from microgradpy.tangents.arithmetic import floating, unbroadcast

Array = np.ndarray[Any, Any]

_COUNTS: Any = {
    np.take: 1, np.ndarray.take: 1, np.choose: 0, np.ndarray.choose: 0, np.compress: 0, np.ndarray.compress: 1,
    np.ufunc.reduceat: 2,
}  # fmt: skip
"""Which argument says which entries to take."""


def _numbers(f: Any, before: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a call; whole numbers among them as floats, as they would be if the result were not rounded."""
    kept = _COUNTS.get(f)
    return tuple(x if place == kept else floating(x) for place, x in enumerate(before))


def call_into(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Resolved:
    """f(*args, out=out, **kwargs); `out` is a tuple if the function has several results, with None for those that are new."""
    where = kwargs.pop("where", True)
    inputs, options, names = _by_position(f, args, kwargs)
    given, before = tuple(map(structure_of, inputs)), tuple(map(frozen, inputs))
    _check_outputs(f, out if isinstance(out, tuple) else (out,), where)
    mask = frozen(where)
    y = f(*args, out=out, **kwargs, **({} if where is True else {"where": where}))

    def back(y_bar: Any, shadows: Shadows) -> Bars:
        bars: tuple[Any, ...] = (None,) * len(inputs)
        if isinstance(out, tuple):
            d = tuple(_taken(shadows, *each) for each in zip(out, y, y_bar or (None,) * len(out), strict=True))
            if any(part is not None for part in d):
                bars = pulled_back(f, _numbers(f, before), options, d)
        elif carries(out) and where is True:
            bars = pulled_back(f, _numbers(f, before), options, taken_item(shadows.of(out), ...))
        elif carries(out):
            chosen = np.broadcast_to(mask, out.shape)
            bars = _pulled_back_where(f, before, options, taken_where(shadows.of(out), chosen), chosen)
        bars = tuple(s.divided(shadows, bar) for s, bar in zip(given, bars, strict=True))
        named = zip(names, bars[len(bars) - len(names) :], strict=True)
        return Bars(None, bars[: len(args)], {name: bar for name, bar in named if name in kwargs})

    return y, back


def _by_position(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any], list[str]]:
    """The arguments with those given by name that the rule takes by position, so that they have a cotangent."""
    rule = rrule.find_for(f, args, kwargs)
    return (args, kwargs, []) if rule is None or not kwargs else positional(f, rule, args, kwargs, True)


def _check_outputs(f: Any, outs: tuple[Any, ...], where: Any) -> None:
    arrays = [out for out in outs if out is not None]
    for out in arrays:
        check_writable(out)
    if any(np.may_share_memory(x, y) for x, y in itertools.combinations(arrays, 2)):
        raise MutationError(f"{f.__name__} writes two results into the same memory", None, "Give it two arrays.")
    if where is not True and (len(outs) > 1 or not isinstance(f, np.ufunc)):
        raise MutationError(f"{f.__name__} with where= writes in place", None, "Write its value into the array: y[...] = f(x)")


def _pulled_back_where(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], d: Array, chosen: Array) -> tuple[Any, ...]:
    """The same for a ufunc that was applied only where a mask is true: elsewhere it may have no derivative."""
    # The exponents of ldexp have to be whole numbers.
    as_operand = np.asarray if f is np.ldexp else lambda x: floating(np.asarray(x))
    inside = tuple(np.broadcast_to(as_operand(x), chosen.shape)[chosen] for x in args)
    found = []
    for x, bar in zip(args, pulled_back(f, inside, kwargs, d[chosen]), strict=True):
        whole = np.zeros(chosen.shape, d.dtype)
        if bar is not None:
            whole[chosen] = bar
        found.append(None if bar is None else unbroadcast(whole, x))
    return tuple(found)


def _taken(shadows: Shadows, out: Any, y: Any, y_bar: Any) -> Any:
    """The cotangent of a result that was written into `out`, or is new."""
    if out is None:
        return shadows.born(y, y_bar)
    return taken_item(shadows.of(out), ...) if carries(out) else None
