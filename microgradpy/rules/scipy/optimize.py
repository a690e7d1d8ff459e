"""scipy.optimize: roots and fixed points, differentiated by what the given function closes over and by `args=`.

The solution does not depend on where the search started: the cotangents of the starting point and the bracket are 0. A result
of which the solver says, or the function shows, that it is no root is refused when its derivative is asked for.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from microgradpy.rules.registry import attribute_rule, examples, mark_inert_attribute, rrule
from microgradpy.rules.scipy import optimize_minima as optimize_minima
from microgradpy.rules.scipy.implicit import OPTIONS, Back, refuse_fields, refuse_unsolved, root_pullback
from microgradpy.rules.scipy.structures import as_tuple, given_to_args, unpacked_bars
from microgradpy.tangents.arithmetic import accumulate, zero_cotangent
from microgradpy.tangents.types import NoTangent, is_structural_zero

_RTOL = 4.0 * np.finfo(float).eps  # SciPy's default


@rrule.register(optimize.root)
def root_rrule(fun, x0, args=(), method="hybr", jac=None, tol=None, callback=None, options=None):
    """f(x, p) = 0: p_bar is the pullback of f, at the root, of -(df/dx)^-T x_bar."""
    result = optimize.root(fun, x0, args, method, jac, tol, callback, options)
    returns_both = jac is not None and not callable(jac) and bool(jac)
    back = root_pullback(fun, result.x, as_tuple(args), 1e-6, 0 if returns_both else None)

    def pullback(y_bar):
        refuse_fields(y_bar, ("x", "fun"))  # what f is at its root stays 0
        f_bar, args_bar = bars_of_root(back, y_bar.get("x"), args, result.success, result.message)
        return NoTangent(), f_bar, zero_cotangent(x0), args_bar, *OPTIONS

    return result, pullback


def bars_of_root(back: Back, x_bar: Any, args: Any, is_solved: Any, message: Any = "") -> tuple[Any, Any]:
    """The cotangents of a function and of `args=` from that of its root."""
    if is_structural_zero(x_bar):
        return None, None
    refuse_unsolved(is_solved, message)
    f_bar, *bars = back(x_bar)
    return f_bar, given_to_args(args, tuple(bars))


@rrule.register(optimize.fsolve)
def fsolve_rrule(
    func, x0, args=(), fprime=None, full_output=0, col_deriv=0, xtol=1.49012e-08, maxfev=0, band=None, epsfcn=None,
    factor=100, diag=None,
):  # fmt: skip
    """As root."""
    outcome = optimize.fsolve(func, x0, args, fprime, 1, col_deriv, xtol, maxfev, band, epsfcn, factor, diag)
    x, _, status, message = outcome
    if not full_output and status != 1:
        warnings.warn(message, RuntimeWarning, stacklevel=2)  # as SciPy does where nobody asked for the status
    back = root_pullback(func, x, as_tuple(args), 1e-6)

    def fsolve_pullback(y_bar):
        x_bar = y_bar[0] if full_output else y_bar
        f_bar, args_bar = bars_of_root(back, x_bar, args, status == 1, message)
        return NoTangent(), f_bar, zero_cotangent(x0), args_bar, *OPTIONS

    return outcome if full_output else x, fsolve_pullback


@rrule.register(optimize.fixed_point)
def fixed_point_rrule(func, x0, args=(), xtol=1e-8, maxiter=500, method="del2"):
    """x = f(x, p): p_bar is the pullback of f, at the fixed point, of (1 - df/dx)^-T x_bar."""
    x = optimize.fixed_point(func, x0, args, xtol, maxiter, method)
    back = root_pullback(func, x, as_tuple(args), 1e-6, is_fixed=True)

    def fixed_point_pullback(x_bar):
        f_bar, args_bar = bars_of_root(back, x_bar, args, True)
        return NoTangent(), f_bar, zero_cotangent(x0), args_bar, *OPTIONS

    return x, fixed_point_pullback


@rrule.register(optimize.newton)
def newton_rrule(
    func, x0, fprime=None, args=(), tol=1.48e-08, maxiter=50, fprime2=None, x1=None, rtol=0.0, full_output=False, disp=True
):
    """As root, for a number or for the entries of an array."""
    outcome = optimize.newton(func, x0, fprime, args, tol, maxiter, fprime2, x1, rtol, True, disp)
    is_solved = outcome[1].converged if np.size(x0) <= 1 else outcome[1]
    given = tuple(args)  # which need not be a tuple here
    back = root_pullback(func, outcome[0], given, 100.0 * tol)

    def newton_pullback(y_bar):
        x_bar = of_outcome(y_bar, full_output)
        f_bar, args_bar = bars_of_root(back, x_bar, given, is_solved)
        args_bar = None if args_bar is None else unpacked_bars(args, args_bar)
        return NoTangent(), f_bar, zero_cotangent(x0), NoTangent(), args_bar, *OPTIONS

    return outcome if full_output else outcome[0], newton_pullback


def of_outcome(y_bar: Any, full_output: bool) -> Any:
    """The cotangent of a root from that of what a solver returned: the root itself, or a tuple with further information."""
    if not full_output:
        return y_bar
    x_bar, report_bar, *_ = y_bar
    return accumulate(x_bar, report_bar.get("root")) if isinstance(report_bar, dict) else x_bar


@rrule.register(optimize.root_scalar)
def root_scalar_rrule(
    f, args=(), method=None, bracket=None, fprime=None, fprime2=None, x0=None, x1=None, xtol=None, rtol=None, maxiter=None,
    options=None,
):  # fmt: skip
    """As root, for a number."""
    result = optimize.root_scalar(f, args, method, bracket, fprime, fprime2, x0, x1, xtol, rtol, maxiter, options)
    returns_more = any(given is not None and not callable(given) and bool(given) for given in (fprime, fprime2))
    ends = None if bracket is None else bracket[:2]
    back = scalar_pullback(f, result.root, as_tuple(args), 100.0 * (xtol or 1e-8), ends, 0 if returns_more else None)

    def root_scalar_pullback(y_bar):
        refuse_fields(y_bar, ("root",))
        f_bar, args_bar = bars_of_root(back, y_bar.get("root"), args, result.converged, result.flag)
        none, starts = NoTangent(), (zero_cotangent(x0), zero_cotangent(x1))
        return none, f_bar, args_bar, none, zero_cotangent(bracket), none, none, *starts, *OPTIONS

    return result, root_scalar_pullback


def scalar_pullback(
    f: Callable[..., Any], x: Any, args: tuple[Any, ...], allowed: float, ends: Any, part: int | None = None
) -> Back:
    """As `root_pullback`. In a bracket the sign also changes where f has a pole: there it is larger than at the ends."""
    if ends is not None:
        values = [np.max(np.abs(f(end, *args) if part is None else f(end, *args)[part])) for end in (x, *ends)]
        refuse_unsolved(values[0] <= max(values[1:]), "the sign changes at a pole")
    return root_pullback(f, x, args, allowed, part)


@rrule.register(optimize.brentq)
def brentq_rrule(f, a, b, args=(), xtol=2e-12, rtol=_RTOL, maxiter=100, full_output=False, disp=True):
    """As root, for a number."""
    outcome = optimize.brentq(f, a, b, args, xtol, rtol, maxiter, True, disp)
    back = scalar_pullback(f, outcome[0], as_tuple(args), 100.0 * xtol, (a, b))

    def brentq_pullback(y_bar):
        f_bar, args_bar = bars_of_root(back, of_outcome(y_bar, full_output), args, outcome[1].converged)
        return NoTangent(), f_bar, zero_cotangent(a), zero_cotangent(b), args_bar, *OPTIONS

    return outcome if full_output else outcome[0], brentq_pullback


@rrule.register(optimize.brenth)
def brenth_rrule(f, a, b, args=(), xtol=2e-12, rtol=_RTOL, maxiter=100, full_output=False, disp=True):
    """As root, for a number."""
    outcome = optimize.brenth(f, a, b, args, xtol, rtol, maxiter, True, disp)
    back = scalar_pullback(f, outcome[0], as_tuple(args), 100.0 * xtol, (a, b))

    def brenth_pullback(y_bar):
        f_bar, args_bar = bars_of_root(back, of_outcome(y_bar, full_output), args, outcome[1].converged)
        return NoTangent(), f_bar, zero_cotangent(a), zero_cotangent(b), args_bar, *OPTIONS

    return outcome if full_output else outcome[0], brenth_pullback


@rrule.register(optimize.bisect)
def bisect_rrule(f, a, b, args=(), xtol=2e-12, rtol=_RTOL, maxiter=100, full_output=False, disp=True):
    """As root, for a number."""
    outcome = optimize.bisect(f, a, b, args, xtol, rtol, maxiter, True, disp)
    back = scalar_pullback(f, outcome[0], as_tuple(args), 100.0 * xtol, (a, b))

    def bisect_pullback(y_bar):
        f_bar, args_bar = bars_of_root(back, of_outcome(y_bar, full_output), args, outcome[1].converged)
        return NoTangent(), f_bar, zero_cotangent(a), zero_cotangent(b), args_bar, *OPTIONS

    return outcome if full_output else outcome[0], bisect_pullback


@rrule.register(optimize.ridder)
def ridder_rrule(f, a, b, args=(), xtol=2e-12, rtol=_RTOL, maxiter=100, full_output=False, disp=True):
    """As root, for a number."""
    outcome = optimize.ridder(f, a, b, args, xtol, rtol, maxiter, True, disp)
    back = scalar_pullback(f, outcome[0], as_tuple(args), 100.0 * xtol, (a, b))

    def ridder_pullback(y_bar):
        f_bar, args_bar = bars_of_root(back, of_outcome(y_bar, full_output), args, outcome[1].converged)
        return NoTangent(), f_bar, zero_cotangent(a), zero_cotangent(b), args_bar, *OPTIONS

    return outcome if full_output else outcome[0], ridder_pullback


@rrule.register(optimize.toms748)
def toms748_rrule(f, a, b, args=(), k=1, xtol=2e-12, rtol=_RTOL, maxiter=100, full_output=False, disp=True):
    """As root, for a number."""
    outcome = optimize.toms748(f, a, b, args, k, xtol, rtol, maxiter, True, disp)
    back = scalar_pullback(f, outcome[0], as_tuple(args), 100.0 * xtol, (a, b))

    def toms748_pullback(y_bar):
        f_bar, args_bar = bars_of_root(back, of_outcome(y_bar, full_output), args, outcome[1].converged)
        return NoTangent(), f_bar, zero_cotangent(a), zero_cotangent(b), args_bar, *OPTIONS

    return outcome if full_output else outcome[0], toms748_pullback


def _cubic(x, p, q):
    return x**3 + p * x - q


def _coupled(x, p):
    return [x[0] + 0.5 * np.sin(x[1]) - p[0], x[1] ** 3 + x[1] - x[0] * p[1]]


def _cooling(x, p):
    return p * np.exp(-x)


_PAIR = np.array([0.7, 1.3])
_TIGHT = {"xtol": 1e-13}
for _finder in (optimize.brentq, optimize.brenth, optimize.bisect, optimize.ridder, optimize.toms748):
    examples(_finder, (_cubic, 0.0, 3.0, (1.5, 2.5)), (_cubic, -1.0, 3.0, (0.7, 0.0)))
examples(optimize.newton, (_cubic, 1.0, None, (1.5, 2.5)), (_cubic, 1.0, None, (1.5, _PAIR[0])), tol=1e-13)
examples(optimize.newton, (_cubic, np.array([1.0, 1.2]), None, (1.5, _PAIR)), tol=1e-13)
examples(optimize.fsolve, (_coupled, np.array([1.0, 1.0]), _PAIR), (_coupled, [1.0, 1.0], (_PAIR,)), **_TIGHT)
examples(optimize.fixed_point, (_cooling, 0.5, (0.8,)), (_cooling, _PAIR, (_PAIR,)), **_TIGHT)
examples(optimize.root, (_coupled, np.array([1.0, 1.0]), _PAIR), (_coupled, np.array([1.0, 1.0]), (_PAIR,)), tol=1e-13)
examples(optimize.root_scalar, (_cubic, (1.5, 2.5), "brentq", (0.0, 3.0)))


@attribute_rule(optimize.OptimizeResult, "x")
def result_x_rrule(result):
    """The result is a dict, whose items can be read as attributes."""

    def result_x_pullback(x_bar):
        return NoTangent(), {"x": x_bar}

    return result.x, result_x_pullback


@attribute_rule(optimize.OptimizeResult, "fun")
def result_fun_rrule(result):
    """As x."""

    def result_fun_pullback(fun_bar):
        return NoTangent(), {"fun": fun_bar}

    return result.fun, result_fun_pullback


@attribute_rule(optimize.OptimizeResult, "root")
def result_root_rrule(result):
    """As x."""

    def result_root_pullback(root_bar):
        return NoTangent(), {"root": root_bar}

    return result.root, result_root_pullback


@attribute_rule(optimize.OptimizeResult, "y")
def result_y_rrule(result):
    """As x."""

    def result_y_pullback(y_bar):
        return NoTangent(), {"y": y_bar}

    return result.y, result_y_pullback


@attribute_rule(optimize.OptimizeResult, "t")
def result_t_rrule(result):
    """As x."""

    def result_t_pullback(t_bar):
        return NoTangent(), {"t": t_bar}

    return result.t, result_t_pullback


@attribute_rule(optimize.OptimizeResult, "cost")
def result_cost_rrule(result):
    """As x."""

    def result_cost_pullback(cost_bar):
        return NoTangent(), {"cost": cost_bar}

    return result.cost, result_cost_pullback


mark_inert_attribute(
    optimize.OptimizeResult, "success", "status", "message", "nfev", "njev", "nhev", "nit", "nlu", "converged", "flag",
    "iterations", "function_calls", "method", "active_mask",
)  # fmt: skip
_RESULT = optimize.OptimizeResult(x=_PAIR, fun=1.5, root=0.3, y=np.ones((2, 3)), t=np.arange(3.0), cost=2.5)
for _field in _RESULT:
    examples(getattr, (_RESULT, _field))
