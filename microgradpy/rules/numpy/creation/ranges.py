"""Array creation from numerical ranges: each end has its share of every number."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.options import fitted, plain_bars
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.tangents.arithmetic import conj, divide, unbroadcast
from microgradpy.tangents.casts import in_precision_of
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent, accumulate, is_structural_zero

_VECTOR = np.array([0.7, -1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])


@pullback(np.linspace)
def linspace_pullback(y_bar, start, stop, num=50, endpoint=True):
    """y_i = (1 - t_i) start + t_i stop, for t_i evenly spaced from 0 to 1."""
    return (
        unbroadcast(weighted_sum(y_bar, np.linspace(1.0, 0.0, num, endpoint)), start),
        unbroadcast(weighted_sum(y_bar, np.linspace(0.0, 1.0, num, endpoint)), stop),
    )


@pullback(np.arange, arity=1)
def arange_to_pullback(y_bar, stop, *, dtype=None):
    """The end of a range decides how many entries there are, not which."""
    return NoTangent()


@pullback(np.arange)
def arange_pullback(y_bar, start, stop, step=1):
    """y_i = start + i step: start_bar = sum(y_bar), step_bar = sum(i y_bar)."""
    return unbroadcast(np.sum(y_bar), start), NoTangent(), unbroadcast(weighted_sum(y_bar, np.arange(np.size(y_bar))), step)


@rrule.register(np.arange, arity=0)
def arange_by_name_rrule(stop, start=0, step=1):
    """As above, where all is given by name."""

    def arange_by_name_pullback(y_bar):
        return (
            NoTangent(),
            NoTangent(),
            unbroadcast(np.sum(y_bar), start),
            unbroadcast(weighted_sum(y_bar, np.arange(np.size(y_bar))), step),
        )

    return np.arange(start=start, stop=stop, step=step), arange_by_name_pullback


def weighted_sum(y_bar: Any, weights: Any) -> Any:
    """The sum of y_bar along its first axis, with weights."""
    return np.tensordot(in_precision_of(y_bar, weights), y_bar, 1)[()]


examples(
    np.linspace, (0.5, 2.0), (0.5, 2.0, 5), (0.5, 2.0, 4, False), (_VECTOR, 1.5, 3), (0.5, 2.0, 1), (_VECTOR, _TABLE, 4)
)
examples(np.arange, (3.5,), (0.5, 3.7), (0.5, 3.7, 0.6), (4,))
example(np.arange, stop=4)
example(np.arange, start=0.5, stop=3.7)


@pullback(np.meshgrid, arity=2)
def meshgrid_pullback(z_bar, x, y, *, indexing="xy"):
    """Each vector gets its grid's cotangent, summed over the axes along which it was repeated."""
    return grid_bar(z_bar, x, 0, indexing), grid_bar(z_bar, y, 1, indexing)


def grid_bar(z_bar: Any, x: Any, number: int, indexing: str) -> Any:
    """The cotangent of vector `number` of a grid of two; None if its grid was not used."""
    if z_bar[number] is None:
        return None
    own_axis = 1 - number if indexing == "xy" else number
    return unbroadcast(np.reshape(np.sum(z_bar[number], axis=1 - own_axis), np.shape(x)), x)


examples(np.meshgrid, (_VECTOR, _VECTOR[:2]), (2.5, _VECTOR))
examples(np.meshgrid, (_VECTOR, _VECTOR[:2]), indexing="ij")

_LINE = np.array([0.7, 1.4, 2.2])
_GRID = np.array([[0.9, 2.1, 0.6], [1.8, 1.1, 0.3]])


@pullback(np.logspace)
def logspace_pullback(y_bar, start, stop, num=50, endpoint=True, base=10.0, *, axis=0, y):
    """y = base^e for evenly spaced e from start to stop: e_bar = y_bar * y log(base), base_bar = y_bar * y e / base."""
    return (
        exponent_bar(y_bar, start, y, num, endpoint, base, axis, 1.0),
        exponent_bar(y_bar, stop, y, num, endpoint, base, axis, 0.0),
        NoTangent(),
        NoTangent(),
        base_bar(y_bar, base, y, start, stop, num, endpoint, axis),
    )


@cotangent_of(1)
def exponent_bar(y_bar: Any, x: Any, y: Any, num: Any, endpoint: Any, base: Any, axis: int, weight: float) -> Any:
    """The cotangent of the first exponent (weight 1) or of the last (weight 0)."""
    with np.errstate(all="ignore"):
        e_bar = np.moveaxis(y_bar, axis, 0) * conj(np.moveaxis(y, axis, 0) * np.log(base, dtype=y.dtype))
        return unbroadcast(_weighted(e_bar, num, endpoint, weight), x)


def _weighted(bars: np.ndarray, num: Any, endpoint: Any, weight: float) -> Any:
    """The sum along the first axis with evenly spaced weights, of which this is the first."""
    return weighted_sum(bars, np.linspace(weight, 1.0 - weight, num, endpoint, dtype=bars.real.dtype))


@cotangent_of(1)
def base_bar(y_bar: Any, base: Any, y: Any, start: Any, stop: Any, num: Any, endpoint: Any, axis: int) -> Any:
    """The cotangent of the base of powers, whose exponents may have fewer axes than it."""
    first, exponents = np.moveaxis(y, axis, 0), np.linspace(start, stop, num, endpoint)
    exponents = exponents.reshape(exponents.shape[:1] + (1,) * (first.ndim - exponents.ndim) + exponents.shape[1:])
    with np.errstate(all="ignore"):
        return unbroadcast(np.sum(np.moveaxis(y_bar, axis, 0) * conj(divide(first * exponents, base)), axis=0), base)


@pullback(np.geomspace)
def geomspace_pullback(y_bar, start, stop, num=50, endpoint=True, *, axis=0, y):
    """y = start^(1-t) stop^t for t evenly spaced from 0 to 1: start_bar = (1 - t) y_bar * y / start."""
    return (
        end_of_progression_bar(y_bar, start, y, num, endpoint, axis, 1.0),
        end_of_progression_bar(y_bar, stop, y, num, endpoint, axis, 0.0),
    )


@cotangent_of(1)
def end_of_progression_bar(y_bar: Any, x: Any, y: Any, num: Any, endpoint: Any, axis: int, weight: float) -> Any:
    """The cotangent of the first point x of a geometric progression (weight 1) or of the last (weight 0)."""
    with np.errstate(all="ignore"):
        log_bar = np.moveaxis(y_bar, axis, 0) * conj(np.moveaxis(y, axis, 0))
        return unbroadcast(_weighted(log_bar, num, endpoint, weight) / conj(x), x)


examples(np.logspace, (0.5, 1.5, 5), (0.5, 1.5, 4, False), (_LINE, 1.5, 3), (0.5, 1.5, 3, True, 2.5), (_GRID, _LINE, 4))
examples(np.logspace, (0.5, 1.5, 4, True, _LINE), (_GRID, 0.3, 2, True, _LINE), (0.5, 1.5, 1), (0.5, 1.5, 0))
examples(np.logspace, (0, 1, 3, True, 2))
examples(np.logspace, (_LINE, 1.5, 4), (_LINE, 1.5, 4, True, _GRID), axis=-1)
examples(np.geomspace, (0.5, 4.0, 5), (0.5, 4.0, 4, False), (-3.0, -0.5, 3), (_LINE, 1.5, 3), (_GRID, _LINE, 4), (2, 8, 3))
examples(np.geomspace, (0.5 + 0.3j, 2.0, 4), (1.0, -2.0 + 0.5j, 3), (0.5, 1.5, 1), (0.5, 1.5, 0))
examples(np.geomspace, (_LINE, 1.5, 4), axis=-1)


@rrule.register(np.linspace, options=True)
def linspace_with_options_rrule(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """As the plain rule; the step is (stop - start) / n, for n gaps."""
    made = np.linspace(start, stop, num, endpoint, retstep, dtype, axis, device=device)
    y = made[0] if retstep else made
    gaps = num - 1 if endpoint else num

    def linspace_with_options_pullback(made_bar):
        y_bar, step_bar = made_bar if retstep else (made_bar, None)
        bars: list[Any] = [None, None]
        if not is_structural_zero(y_bar) and y.dtype.kind in "fcO":
            bars = plain_bars(np.linspace, (start, stop, num, endpoint), {}, np.moveaxis(y_bar, axis, 0))[:2]
        if not is_structural_zero(step_bar) and gaps > 0:
            share = step_bar / gaps
            bars = [accumulate(bars[0], unbroadcast(-share, start)), accumulate(bars[1], unbroadcast(share, stop))]
        fit = (bar if is_structural_zero(bar) else fitted(bar, x) for bar, x in zip(bars, (start, stop), strict=True))
        return NoTangent(), *fit, *(NoTangent(),) * 5

    return made, linspace_with_options_pullback


examples(np.linspace, (0.5, 2.0, 4, True, True), (0.5, _VECTOR, 3, False, True), (0.5, _VECTOR, 4, True, False, None, -1))
examples(np.linspace, (_VECTOR, 2.0, 3, True, True, complex, 1), (0.5, 7.5, 4, True, False, int))


@rrule.register(np.meshgrid, options=True)
def meshgrid_with_options_rrule(*xi, copy=True, sparse=False, indexing="xy"):
    """Each vector gets the cotangent of its grid, summed over the axes along which it was repeated."""
    y = np.meshgrid(*xi, copy=copy, sparse=sparse, indexing=indexing)

    def meshgrid_with_options_pullback(y_bar):
        return NoTangent(), *(axis_of_grid_bar(bar, x, k, indexing) for k, (bar, x) in enumerate(zip(y_bar, xi, strict=True)))

    return y, meshgrid_with_options_pullback


def axis_of_grid_bar(bar: Any, x: Any, number: int, indexing: str) -> Any:
    """The cotangent of vector `number` of a grid; None if its part was not used."""
    if is_structural_zero(bar):
        return None
    own = 1 - number if indexing == "xy" and number < 2 and np.ndim(bar) > 1 else number
    return unbroadcast(np.reshape(np.sum(bar, axis=tuple(k for k in range(np.ndim(bar)) if k != own)), np.shape(x)), x)


examples(np.meshgrid, (_VECTOR,), (_VECTOR, _VECTOR[:2]), (_VECTOR, _VECTOR[:2], 1.5), sparse=True)
examples(np.meshgrid, (_VECTOR,), (_VECTOR, _VECTOR[:2], _VECTOR), indexing="ij", copy=False)
