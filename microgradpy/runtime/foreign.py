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
_ONE_BY_ONE = _NotFollowed(
    "was reached with differentiated data, and it takes or gives items one by one", "Write it as a comprehension or a loop."
)
_DISTRIBUTIONS = _NotFollowed(
    "was reached with differentiated data, and of SciPy's distributions those methods are differentiated that have rules",
    "Write norm.logpdf(x, loc, scale) instead of norm(loc, scale).logpdf(x); for another distribution or method write the"
    " formula, or declare a rule (`@rrule.register(stats.cosine.logpdf)`).",
)
_MODULES: Mapping[str, _NotFollowed] = {
    **dict.fromkeys(("threading", "_thread", "queue", "_queue", "concurrent", "multiprocessing", "asyncio"), _ELSEWHERE),
    **dict.fromkeys(("contextvars", "_contextvars"), _ELSEWHERE),
    **dict.fromkeys(("ctypes", "_ctypes", "cffi", "_cffi_backend", "array", "mmap"), _MEMORY),
    **dict.fromkeys(("pickle", "_pickle", "struct", "_struct", "marshal"), _BYTES),
    "itertools": _ONE_BY_ONE,
}
_INTERPOLATION = _NotFollowed(
    "was reached with differentiated data, and of SciPy's interpolation those classes are differentiated that have rules",
    "Use CubicSpline, PchipInterpolator, Akima1DInterpolator, CubicHermiteSpline, make_interp_spline, BSpline, PPoly, interp1d"
    " or RegularGridInterpolator, and call what they make; or declare a rule (`@rrule.register`).",
)
_STATS = ("_distn_infrastructure", "_continuous_distns", "_discrete_distns", "_multivariate", "_covariance")
_INTERPOLATE = ("_cubic", "_interpolate", "_polyint", "_bsplines", "_rgi", "_rbfinterp", "_ndgriddata", "_fitpack2")
_SUBMODULES: Mapping[str, _NotFollowed] = {
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
}


def is_foreign(f: types.FunctionType) -> bool:
    """Whether a function is known to do what cannot be followed, though it is written in Python."""
    return _of_module(f) is not None


def _of_module(f: Any) -> _NotFollowed | None:
    module = str(getattr(f, "__module__", ""))
    return _MODULES.get(module.partition(".")[0]) or _SUBMODULES.get(module)


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
