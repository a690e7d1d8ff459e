"""What cannot be followed, by the module that it is from: other threads and processes, memory shared with C, bytes, and
the distributions and interpolators of SciPy but for those that have rules.

Most of it is written in Python, and refused for some `with` or `try` deep inside; here the refusal says what it is about.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from microgradpy.errors import MissingRuleError


class _NotFollowed(NamedTuple):
    what: str
    remedy: str


_ELSEWHERE = _NotFollowed(
    "hands differentiated data to another thread, process or task, where it is not followed",
    "Call the function directly. Threads are fine outside: each may call gradient on its own.",
)
_MEMORY = _NotFollowed(
    "lets code in C see differentiated data, and what that does is not followed",
    "Use arrays, or give the function that needs it a rule (`rrule.register`).",
)
_BYTES = _NotFollowed(
    "turns differentiated data into bytes, through which no derivative flows",
    "Keep the numbers as numbers, or pass stop_gradient(x) if none should flow.",
)
_DROPPED = _NotFollowed(
    "depends on when a differentiated object is dropped, and what is kept for the reverse pass may keep it alive",
    "Hold the object itself, and call what is to be done by name.",
)
_ONE_BY_ONE = _NotFollowed(
    "was reached with differentiated data, and it takes or gives items one by one", "Write it as a comprehension or a loop."
)
_ITERATION = _NotFollowed(
    "was reached with differentiated data, and it gives views of buffers",
    "Loop over the places: for place in np.ndindex(x.shape): x[place].",
)
_RAW_ARRAYS = _NotFollowed(
    "was reached with differentiated data, and it makes an array of memory as it is found",
    "Make it by a function: np.empty(shape), for a class of arrays np.empty(shape).view(cls).",
)
_DECIMALS = _NotFollowed(
    "was reached with differentiated data, and decimal numbers carry no derivative",
    "Compute with floats, or give it stop_gradient(x) if no derivative should flow through it.",
)
_MASKED = _NotFollowed(
    "was reached with differentiated data, and masked arrays, whose operators are not those of arrays, are not followed",
    "Use arrays and a mask: x[~mask], np.where(mask, 0.0, x), np.sum(x, where=~mask), np.nanmean(np.where(mask, np.nan, x)).",
)
_TESTS = _NotFollowed(
    "was reached with differentiated data, and of SciPy's statistics those functions are differentiated that have rules",
    "Write its formula: a correlation is np.corrcoef(x, y)[0, 1], the t of a sample t = (np.mean(x) - m) / stats.sem(x), its"
    " p-value 2 * special.stdtr(len(x) - 1, -abs(t)); what describe gives, np.mean(x), np.var(x, ddof=1), stats.skew(x) and"
    " stats.kurtosis(x). Ranks have no derivative. Or give it a rule (`@rrule.register`).",
)
_DISTRIBUTIONS = _NotFollowed(
    "was reached with differentiated data, and of SciPy's distributions those methods are differentiated that have rules",
    "Densities, distribution functions and quantiles, mean, var, std, median, entropy and interval are differentiated, as"
    " norm.logpdf(x, loc, scale) or norm(loc, scale).logpdf(x); of others write the formula, or declare a rule"
    " (`@rrule.register(stats.norm.expect)`).",
)
_MODULES: Mapping[str, _NotFollowed] = {
    **dict.fromkeys(("threading", "_thread", "queue", "_queue", "concurrent", "multiprocessing", "asyncio"), _ELSEWHERE),
    **dict.fromkeys(("contextvars", "_contextvars"), _ELSEWHERE),
    **dict.fromkeys(("ctypes", "_ctypes", "cffi", "_cffi_backend", "array", "mmap"), _MEMORY),
    **dict.fromkeys(("pickle", "_pickle", "struct", "_struct", "marshal"), _BYTES),
    **dict.fromkeys(("weakref", "_weakref", "_weakrefset"), _DROPPED),
    "itertools": _ONE_BY_ONE,
    **dict.fromkeys(("decimal", "_decimal"), _DECIMALS),
}
_INTERPOLATION = _NotFollowed(
    "was reached with differentiated data, and of SciPy's interpolation those classes are differentiated that have rules",
    "Use CubicSpline, PchipInterpolator, Akima1DInterpolator, CubicHermiteSpline, make_interp_spline, BSpline, PPoly, interp1d"
    " or RegularGridInterpolator, and call what they make; or declare a rule (`@rrule.register`).",
)
_STATS = ("_distn_infrastructure", "_continuous_distns", "_discrete_distns", "_multivariate", "_covariance")
_INTERPOLATE = ("_cubic", "_interpolate", "_polyint", "_bsplines", "_rgi", "_rbfinterp", "_ndgriddata", "_fitpack2")
_STAND_IN = _NotFollowed(
    "was reached with differentiated data, and nothing is known of the derivative of a stand-in that unittest.mock makes",
    "Replace the function by one that is written in Python: mock.patch(target, new=my_function).",
)
_SUBMODULES: Mapping[str, _NotFollowed] = {
    "unittest.mock": _STAND_IN,
    **dict.fromkeys(("numpy.ma", "numpy.ma.core", "numpy.ma.extras"), _MASKED),
    **{f"scipy.stats.{name}": _DISTRIBUTIONS for name in _STATS},
    **{f"scipy.interpolate.{name}": _INTERPOLATION for name in _INTERPOLATE},
}
_SINGLE: Mapping[Any, _NotFollowed] = {
    memoryview: _MEMORY,
    bytes: _BYTES,
    bytearray: _BYTES,
    map: _ONE_BY_ONE,
    filter: _ONE_BY_ONE,
    functools.reduce: _ONE_BY_ONE,
    np.nditer: _ITERATION,
    np.nested_iters: _ITERATION,
    np.ndarray.__new__: _RAW_ARRAYS,
}
_STATISTICS = frozenset((
    "pearsonr", "spearmanr", "kendalltau", "weightedtau", "pointbiserialr", "ttest_1samp", "ttest_ind", "ttest_rel",
    "describe", "f_oneway", "ks_1samp", "ks_2samp", "kstest", "kruskal", "friedmanchisquare",
    "chisquare", "power_divergence", "skewtest", "kurtosistest", "normaltest", "jarque_bera", "ranksums", "mannwhitneyu",
    "wilcoxon", "shapiro", "anderson", "bartlett", "levene", "fligner", "siegelslopes", "theilslopes", "rankdata", "mode",
    "percentileofscore",
))  # fmt: skip
"""Tests of hypotheses and the like, in the modules of `scipy.stats`."""


def is_foreign(f: types.FunctionType) -> bool:
    """Whether a function is known to do what cannot be followed, though it is written in Python."""
    return _of_module(f) is not None


def _of_module(f: Any) -> _NotFollowed | None:
    module = str(getattr(f, "__module__", ""))
    name = getattr(f, "__name__", "")
    if module.startswith("scipy.stats.") and name in _STATISTICS:
        return _TESTS
    found = _MODULES.get(module.partition(".")[0]) or _SUBMODULES.get(module)
    is_followed = (found is _DISTRIBUTIONS and _is_formula(f)) or name in _FOLLOWED
    return None if is_followed else found


_FOLLOWED = ("pchip_interpolate",)
"""Functions in the modules above that only call what has rules."""


def _is_formula(f: Any) -> bool:
    """Whether a function of SciPy's distributions is one of the formulas that their methods call, or is made in one."""
    name = str(getattr(f, "__qualname__", "")).partition(".<locals>")[0].rpartition(".")[2]
    return isinstance(f, types.FunctionType | types.MethodType) and name.startswith("_") and not name.startswith("__")


def refusal_of_foreign(f: Any, name: str) -> MissingRuleError | None:
    """The refusal of such a callee, reached with differentiated data; None if it is another one."""
    found = _found(f)
    return None if found is None else MissingRuleError(f"{name} {found.what}", None, found.remedy)


def _found(f: Any) -> _NotFollowed | None:
    if isinstance(f, type | types.BuiltinFunctionType) and f in _SINGLE:
        return _SINGLE[f]
    owner = getattr(f, "__self__", None)
    if isinstance(owner, np.ndarray | np.generic) and f.__name__ in ("tobytes", "dumps"):
        return _BYTES
    places = (f, type(f), owner, *(() if isinstance(owner, types.ModuleType) else (type(owner),)))
    return next((found for found in map(_of_module, places) if found is not None), None)
