"""What SciPy's own functions are written with: the choice of an array library, which is NumPy here, and formulas by cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy._lib import _array_api

from microgradpy.rules.nested import differentiated
from microgradpy.rules.registry import example, non_differentiable, rrule
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.types import NoTangent, is_structural_zero

apply_where = _array_api.xpx.apply_where
non_differentiable(
    _array_api.array_namespace,
    _array_api.is_numpy,
    _array_api.is_lazy_array,
    _array_api.xp_size,
    _array_api.xp_device,
)


@rrule.register(apply_where)
def apply_where_rrule(cond, args, f1, f2=None, fill_value=None, xp=None):
    """f1 of the entries where the condition holds, f2 (or a constant) of the others."""
    y = apply_where(cond, args, f1, f2, fill_value=fill_value, xp=xp)

    def apply_where_pullback(y_bar):
        given = args if isinstance(args, tuple) else (args,)
        bars, own = cases_bars(y_bar, cond, given, (f1, f2))
        filled = NoTangent() if fill_value is None else unbroadcast(np.where(cond, 0.0, y_bar), fill_value)
        return NoTangent(), NoTangent(), bars if isinstance(args, tuple) else bars[0], *own, filled, NoTangent()

    return y, apply_where_pullback


def cases_bars(
    y_bar: Any, condition: Any, args: tuple[Any, ...], cases: tuple[Callable[..., Any] | None, ...]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The cotangents of the arguments and of the two functions."""
    where, seed, *arrays = (np.broadcast_to(x, np.shape(y_bar)) for x in (condition, y_bar, *args))
    bars = [np.zeros(where.shape, np.result_type(seed, 1.0)) for _ in arrays]
    own: list[Any] = []
    for f, chosen in zip(cases, (where, ~where), strict=True):
        own.append(NoTangent())
        if f is None or not np.any(chosen):
            continue
        with np.errstate(all="ignore"):
            _, back = differentiated(f, *(array[chosen] for array in arrays))
            own[-1], *parts = back(seed[chosen])
        for bar, part in zip(bars, parts, strict=True):
            if not is_structural_zero(part):
                bar[chosen] = part
    return tuple(unbroadcast(bar, x) for bar, x in zip(bars, args, strict=True)), tuple(own)


_PLACES = np.array([0.4, -1.3, 2.2, -0.7])
_ROWS = np.array([[0.9], [1.7]])
example(apply_where, _PLACES > 0.0, (_PLACES, _ROWS), lambda a, b: np.log(a) * b, lambda a, b: a * a - b)
example(apply_where, _PLACES > 0.0, _PLACES, np.sqrt, fill_value=2.0)
example(apply_where, _PLACES > 5.0, (_PLACES,), np.sqrt, np.cos)
