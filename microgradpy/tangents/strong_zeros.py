"""Strong zeros: what nothing was chosen from stays zero, also through a local derivative that is infinite or NaN.

    y = np.where(x > 0.0, np.sqrt(x), x)        s_bar = [1, 0] at x = [4, -1];  s_bar / (2 s) = [1/4, 0 / NaN]

Only such products can make a NaN of a zero. So an adjoint is run as it stands, and where NaN comes out of it, once more with
these repairs behind each rule whose cotangent may hold such zeros.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from microgradpy.projecting import are_floats
from microgradpy.tangents.helpers import cotangent_of, itself
from microgradpy.tangents.types import Projected, is_structural_zero


def has_nan(bar: Any) -> bool:
    """Whether there is a NaN in a cotangent or tangent."""
    if bar is None:
        return False
    if type(bar) is float:
        return bar != bar
    if type(bar) is np.ndarray:
        return _is_nan_in(bar)
    if type(bar) is list and are_floats(bar):
        total = sum(bar)  # NaN if there is one, or infinities of both signs
        return total != total and any(map(operator.ne, bar, bar))
    if type(bar) is tuple:
        return any(map(has_nan, bar))
    if isinstance(bar, complex | np.inexact):
        return bool(bar != bar)
    if isinstance(bar, Projected):
        return has_nan(bar.gradient)
    if isinstance(bar, list | tuple):
        return any(map(has_nan, bar))
    if isinstance(bar, Mapping):
        return any(map(has_nan, bar.values()))
    return isinstance(bar, np.ndarray) and _is_nan_in(bar)


def is_nan_in_any(*bars: Any) -> bool:
    """The same for several cotangents, which takes less time than asking for each."""
    for bar in bars:
        if type(bar) is np.ndarray and bar.size <= _SMALL and bar.dtype.char in "df":
            squares = _vdot(bar, bar)  # NaN if there is one
            if squares != squares:
                return True
        elif has_nan(bar):
            return True
    return False


_SMALL = 1024  # of larger arrays a reduction takes no longer, whatever their order in memory is
_vdot: Any = getattr(np.vdot, "_implementation", np.vdot)  # without looking for another kind of array


def _is_nan_in(bar: np.ndarray[Any, Any]) -> bool:
    if bar.size <= _SMALL and bar.dtype.char in "df":
        squares = _vdot(bar, bar)
        return bool(squares != squares)
    if bar.dtype.kind == "f" and bar.size:
        least = np.minimum.reduce(bar, axis=None)  # NaN if there is one, in one pass that makes no array
        return bool(least != least)
    return bar.dtype.kind == "c" and bool(np.isnan(bar).any())


@cotangent_of(1)
def cotangent_if(is_selected: bool, y_bar: Any) -> Any:
    """A cotangent for `kept`, which keeps nothing where its zeros are not those of a selection."""
    return y_bar if is_selected else _NONE


_NONE = np.array(1.0)


@cotangent_of(1)
def kept(y_bar: Any, x_bar: Any) -> Any:
    """`x_bar` without the NaN that zeros of `y_bar` have become in it, for a function that works entry by entry."""
    if is_structural_zero(x_bar) or not has_nan(x_bar):
        return x_bar
    if np.shape(x_bar) == np.shape(y_bar) and is_plain(x_bar):
        return _cleared(x_bar, np.equal(y_bar, 0.0))
    return kept_whole(y_bar, x_bar)


@cotangent_of(1)
def kept_tangent(x_dot: Any, y_dot: Any) -> Any:
    """`y_dot`, the part of a tangent that comes of `x_dot` entry by entry, without the NaN that zeros have become in it."""
    if is_structural_zero(y_dot) or not has_nan(y_dot) or not (is_plain(x_dot) and is_plain(y_dot)):
        return y_dot
    return _cleared(y_dot, np.broadcast_to(np.equal(x_dot, 0.0), np.shape(y_dot)))


@itself(1)
def kept_call(dots: tuple[Any, ...], y_dot: Any) -> Any:
    """The tangent of a call's value: zero if all that moves is nothing."""
    if has_nan(y_dot) and all(is_structural_zero(dot) or (is_plain(dot) and not np.any(dot)) for dot in dots):
        return _cleared_parts(y_dot)
    return y_dot


@cotangent_of(1)
def kept_whole(y_bar: Any, x_bar: Any) -> Any:
    """As `kept`, for any function: what comes of nothing but zeros is zero."""
    if is_structural_zero(x_bar) or not has_nan(x_bar) or not is_plain(y_bar) or np.any(y_bar):
        return x_bar
    return _cleared_parts(x_bar)


def _cleared_parts(x_bar: Any) -> Any:
    if type(x_bar) in (list, tuple):
        return type(x_bar)(map(_cleared_parts, x_bar))
    return _cleared(x_bar, True) if is_plain(x_bar) else x_bar


@cotangent_of(1)
def kept_rows(y_bar: Any, x_bar: Any, axis: Any) -> Any:
    """As `kept`, for a function that takes the rows of an array along `axis` by themselves: `y_bar` may have lost the axis."""
    if is_structural_zero(x_bar) or not has_nan(x_bar):
        return x_bar
    zeros = np.equal(y_bar, 0.0)
    if axis is None or np.ndim(x_bar) < np.ndim(zeros):
        return kept_whole(y_bar, x_bar)
    if not np.ndim(zeros):  # a number stands for all rows
        return kept_whole(y_bar, x_bar)
    if np.ndim(zeros) < np.ndim(x_bar):
        zeros = np.expand_dims(zeros, axis)
    zeros = np.all(zeros, axis=axis, keepdims=True)
    try:
        return _cleared(x_bar, np.broadcast_to(zeros, np.shape(x_bar)))
    except ValueError:  # these are other rows
        return kept_whole(y_bar, x_bar)


def _cleared(x_bar: Any, zeros: Any) -> Any:
    """A cotangent with 0 where it is NaN and `zeros` holds."""
    found = np.where(zeros & np.isnan(x_bar), np.zeros((), np.result_type(x_bar)), x_bar)
    if isinstance(x_bar, np.ndarray):
        return found
    return found.item() if isinstance(x_bar, float | complex) and not isinstance(x_bar, np.generic) else found[()]


_NUMBERS = (int, float, complex, np.generic)


def is_plain(x: Any) -> bool:
    """Whether it is a number or an array of numbers."""
    return isinstance(x, _NUMBERS) or (isinstance(x, np.ndarray) and x.dtype.kind in "fciu")
