"""Which functions select, and how the entries of their values depend on those of their arguments.

What a selection leaves out has a cotangent that is zero whatever the local derivatives further up are: a strong zero.
Where one may meet an infinite slope it has to be known which entries of a value an entry of an argument has to do with. That is
said here once, of functions and not in their rules: universal functions and operators work entry by entry, and what has a
parameter `axis` takes rows.
"""

from __future__ import annotations

import builtins
import cmath
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.tangents.arithmetic import conj, divide, real_like

_METHODS = ("clip", "max", "min", "take", "compress", "choose", "diagonal", "trace")
_SELECTING: set[Callable[..., Any]] = {
    operator.getitem, builtins.max, builtins.min, builtins.sorted,
    np.where, np.select, np.choose, np.clip, np.extract, np.compress, np.take, np.take_along_axis, np.delete, np.unstack,
    np.maximum, np.minimum, np.fmax, np.fmin, np.max, np.min, np.ptp, np.sort, np.partition, np.unique, np.unique_values,
    np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd, np.nanmax, np.nanmin, np.nancumsum, np.nancumprod,
    np.nan_to_num, np.median, np.quantile, np.percentile, np.nanmedian, np.nanquantile, np.nanpercentile, np.trim_zeros,
    np.diag, np.diagonal, np.trace, np.triu, np.tril, np.linalg.diagonal, np.linalg.trace, np.split, np.array_split,
    np.hsplit, np.vsplit, np.dsplit, np.interp, np.heaviside, np.copysign, np.piecewise,
    *(getattr(np.ndarray, name) for name in _METHODS),
}  # fmt: skip
_BY_ENTRY: set[Callable[..., Any]] = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.mod, operator.pow, operator.neg, operator.pos,
    operator.abs, builtins.abs, builtins.pow, np.real, np.imag, np.angle, np.nan_to_num, np.sinc, np.where, np.clip, np.i0,
    np.ndarray.clip, conj, divide, real_like,
}  # fmt: skip

_INSERTING: set[Callable[..., Any]] = {
    builtins.max, builtins.min, np.where, np.select, np.choose, np.clip, np.maximum, np.minimum, np.fmax, np.fmin,
    np.nan_to_num, np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack, np.append, np.insert,
    np.block, np.array, np.asarray, np.pad, np.triu, np.tril, np.diag, np.diagflat, np.ndarray.clip, np.interp, np.heaviside,
    np.piecewise, np.ndarray.choose,
}  # fmt: skip
_INFINITE: set[Callable[..., Any]] = {
    operator.truediv, operator.pow, builtins.pow, np.divide, np.power, np.float_power, np.reciprocal, np.sqrt, np.cbrt,
    np.log, np.log2, np.log10, np.log1p, np.tan, np.arcsin, np.arccos, np.arctanh, np.arccosh, np.arctan2, np.angle, np.hypot,
    math.sqrt, math.cbrt if hasattr(math, "cbrt") else math.sqrt, math.pow, math.asin, math.acos, math.acosh, math.atan2,
    cmath.sqrt, cmath.log,
}  # fmt: skip


def selecting(*functions: Callable[..., Any]) -> None:
    """Declare that functions choose among the entries of their arguments: what is not chosen has a strong zero."""
    _SELECTING.update(functions)


def by_entry(*functions: Callable[..., Any]) -> None:
    """Declare that functions work entry by entry, on arguments that broadcast."""
    _BY_ENTRY.update(functions)


def inserting(*functions: Callable[..., Any]) -> None:
    """Declare that the values of functions may have entries that none of the arguments given decides on: constants."""
    _INSERTING.update(functions)


def inserts(function: Any) -> bool:
    """Whether the tangent of a function's value may have zeros where its arguments' have none."""
    return _is_in(_INSERTING, function)


def may_be_infinite(function: Any) -> bool:
    """Whether the local derivative of a function that works by entries may be infinite where its arguments are finite."""
    if isinstance(function, np.ufunc) and getattr(np, function.__name__, None) is not function:
        return works_by_entry(function)  # one of SciPy's
    return _is_in(_INFINITE, function)


def selects(function: Any) -> bool:
    """Whether the cotangents that a function gives may hold zeros of a selection that it has made."""
    return _is_in(_SELECTING, function)


def works_by_entry(function: Any) -> bool:
    """Whether each entry of a function's value has to do with the entries at its place only, of arguments that broadcast."""
    if isinstance(function, np.ufunc):
        return function.signature is None and function.nout == 1
    return _is_in(_BY_ENTRY, function)


def _is_in(table: set[Callable[..., Any]], function: Any) -> bool:
    try:
        return function in table
    except TypeError:
        return False
