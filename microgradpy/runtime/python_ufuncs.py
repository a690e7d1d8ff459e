"""Functions made by np.frompyfunc: NumPy calls a Python function for each entry, and its results stand in arrays of objects.

The compiler differentiates the loop (`array_replacements.results_of_rows`); what it returns is put into such arrays here. A
function that returns anything but real numbers is refused: of an array of other objects nobody knows what is done with them.
"""

from __future__ import annotations

import gc
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.runtime import array_replacements as texts
from microgradpy.runtime.bars import Bars, Resolve, Resolved, content, given_to
from microgradpy.runtime.special_methods import converted
from microgradpy.tangents.types import Tangent, is_structural_zero

Pushed = Callable[..., tuple[Any, Any]]
_NUMBERS = (int, float, complex, np.number, np.bool, np.ndarray, list, tuple)
_REAL = (int, float, np.integer, np.floating, np.bool)


def is_of_python(ufunc: np.ufunc) -> bool:
    """Whether `np.frompyfunc` made it."""
    return all(set(types) <= set("O->") for types in ufunc.types)


def function_of(ufunc: np.ufunc) -> Any:
    """The Python function that np.frompyfunc was given. A universal function has no attribute that shows it, but says to the
    garbage collector what it holds; None if that is not one function."""
    if ufunc.ntypes != 1 or not is_of_python(ufunc):
        return None
    held = [x for x in gc.get_referents(ufunc) if callable(x)]
    return held[0] if len(held) == 1 else None


def has_loop(f: np.ufunc, args: tuple[Any, ...]) -> bool:
    """Whether a universal function calls a Python function for each entry of its arguments, and has no rule."""
    if rrule.has(f) or is_non_differentiable(f) or function_of(f) is None:
        return False
    return len(args) == f.nin and all(isinstance(x, _NUMBERS) for x in args)


def makes_or_is_loop(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call is one of np.frompyfunc, or of what it made."""
    return not kwargs and (f is np.frompyfunc or (isinstance(f, np.ufunc) and has_loop(f, args)))


def by_ufunc(f: np.ufunc, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved | None:
    """A universal function: the loop over the entries, if np.frompyfunc made it."""
    if kwargs or not has_loop(f, args):
        return converted(f, args, kwargs, resolve)
    function = function_of(f)
    if resolve.tracks and not _captures_nothing(function):
        return None  # the shadows of what it captured are not found through a universal function
    shape = np.broadcast_shapes(*map(np.shape, args))
    results, back = resolve(texts.results_of_rows, (function, shape, f.nout, *args), {})
    _check_real(f, results)
    arrays = tuple(_array_of(column, shape) for column in results)

    def ufunc_back(y_bar: Any, shadows: Any = None) -> Bars:
        found = [content(y, bar, shadows) for y, bar in zip(arrays, _each(y_bar, f.nout), strict=True)]
        results_bar = tuple(None if is_structural_zero(bar) else np.ravel(bar).tolist() for bar in found)
        bars = back(given_to(results, results_bar, shadows), shadows)
        own = given_to(function, bars.arguments[0], shadows)
        return Bars(None if is_structural_zero(own) else Tangent(np.ufunc, {"function": own}), bars.arguments[3:], {})

    return arrays[0] if f.nout == 1 else arrays, ufunc_back


def made(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved:
    """np.frompyfunc(function, nin, nout)"""
    y = np.frompyfunc(*args, **kwargs)

    def frompyfunc_back(y_bar: Any, shadows: Any = None) -> Bars:
        own = y_bar.get("function") if isinstance(y_bar, Tangent) else None
        return Bars(None, (own, *(None for _ in args[1:])), {})

    return y, frompyfunc_back


def _captures_nothing(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and not function.__closure__


def pushed_ufunc(f: Any, f_dot: Any, args: tuple[Any, ...], dots: tuple[Any, ...], pushed: Pushed) -> tuple[Any, Any]:
    """The value and its tangent in forward mode, for which `pushed` gives those of any call; of np.frompyfunc itself the
    universal function and its tangent, which has that of the function."""
    if f is np.frompyfunc:
        return f(*args), Tangent(np.ufunc, {"function": dots[0]})
    shape = np.broadcast_shapes(*map(np.shape, args))
    own = f_dot.get("function") if isinstance(f_dot, Tangent) else None
    given, given_dots = (function_of(f), shape, f.nout, *args), (own, None, None, *dots)
    results, results_dot = pushed(texts.results_of_rows, None, given, given_dots, {})
    _check_real(f, results)
    y = tuple(_array_of(column, shape) for column in results)
    y_dot = tuple(_tangent_of(column_dot, shape) for column_dot in (results_dot or (None,) * f.nout))
    return (y[0], y_dot[0]) if f.nout == 1 else (y, y_dot)


def _tangent_of(results_dot: Any, shape: tuple[int, ...]) -> Any:
    if is_structural_zero(results_dot):
        return None
    y_dot = np.array([0.0 if is_structural_zero(dot) else float(dot) for dot in results_dot])
    return np.reshape(y_dot, shape) if shape else float(y_dot[0])


def _each(y_bar: Any, count: int) -> tuple[Any, ...]:
    """The cotangents of the results."""
    if count == 1:
        return (y_bar,)
    return (None,) * count if is_structural_zero(y_bar) else tuple(y_bar)


def _array_of(results: list[Any], shape: tuple[int, ...]) -> Any:
    """The results as NumPy gives them: objects in an array, and one by itself."""
    if shape == ():
        return results[0]
    y = np.empty(len(results), object)
    y[:] = results
    return y.reshape(shape)


def _check_real(f: np.ufunc, columns: tuple[list[Any], ...]) -> None:
    for result in (result for column in columns for result in column):
        if not isinstance(result, _REAL):
            raise MissingRuleError(
                f"{f.__name__}, which np.frompyfunc made, returned a {type(result).__name__}, and only real numbers have "
                "derivatives in an array of objects",
                None,
                "Use np.vectorize of the function.",
            )
