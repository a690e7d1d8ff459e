"""scipy.optimize: minima, differentiated by what the given function closes over and by `args=`.

The minimum x of f(x, p) has the gradient 0, and moves by dx = -(d2f/dx2)^-1 (d2f/dx dp) dp. A gradient that was given (`jac`)
is differentiated; else differences of order four are taken of the gradient of f. The derivative is as accurate as the minimum:
the error of x is that of p_bar too, so ask for a small `tol`. A minimum on a bound or under constraints is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from microgradpy.errors import MissingRuleError
from microgradpy.rules.nested import differentiated
from microgradpy.rules.registry import examples, rrule
from microgradpy.rules.scipy.implicit import (
    OPTIONS,
    Back,
    gradient_of,
    gradient_of_squares,
    refuse_fields,
    refuse_unsolved,
    root_pullback,
    stationary_pullback,
)
from microgradpy.rules.scipy.structures import as_tuple, combined, given_to_args, scaled
from microgradpy.tangents.arithmetic import accumulate, zero_cotangent
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent, is_structural_zero


@rrule.register(optimize.minimize)
def minimize_rrule(
    fun, x0, args=(), method=None, jac=None, hess=None, hessp=None, bounds=None, constraints=(), tol=None, callback=None,
    options=None,
):  # fmt: skip
    """x: p_bar is the pullback of the gradient of f, at the minimum, of -(d2f/dx2)^-1 x_bar. What f is there: that of f."""
    result = optimize.minimize(
        fun, x0, args, method, jac, hess, hessp, bounds, constraints, tol, callback, options
    )
    extra = as_tuple(args)
    of_value = differentiated(fun, result.x, *extra)[1]
    if jac is True:  # fun returns the gradient beside the value
        of_both = of_value
        of_value = lambda value_bar: of_both((value_bar, None))  # noqa: E731
    back = root_pullback(jac, result.x, extra, 1e-3) if callable(jac) else None
    if jac is True:
        back = root_pullback(fun, result.x, extra, 1e-3, 1)
    elif back is None:
        back = stationary_pullback(gradient_of(fun, extra, {}), result.x)

    def minimize_pullback(y_bar):
        refuse_fields(y_bar, ("x", "fun"))
        refuse_unsolved(result.success, result.message)
        refuse_constraints(result.x, bounds, constraints)
        x_only = {"x": y_bar.get("x")} if callable(jac) else y_bar
        fun_bar, bars = minimum_bars(back, of_value, x_only, len(extra))
        jac_bar = NoTangent()
        if callable(jac):
            value_bar, others = minimum_bars(back, of_value, {"fun": y_bar.get("fun")}, len(extra))
            jac_bar, fun_bar, bars = fun_bar, value_bar, tuple(map(accumulate, bars, others))
        bounds_bar = NoTangent() if bounds is None else not_implemented("the bounds of a minimum")
        none = NoTangent()
        return none, fun_bar, zero_cotangent(x0), given_to_args(args, bars), none, jac_bar, none, none, bounds_bar, *OPTIONS

    return result, minimize_pullback


def refuse_constraints(x: np.ndarray, bounds: Any, constraints: Any) -> None:
    """Refuse a minimum that may be held where it is by something else than the function."""
    if constraints != () and constraints != []:
        raise _held("constraints")
    if bounds is None:
        return
    low, high = (bounds.lb, bounds.ub) if isinstance(bounds, optimize.Bounds) else np.array(bounds, dtype=float).T
    refuse_bound(x, low, high)


def refuse_bound(x: Any, low: Any, high: Any) -> None:
    """Refuse a minimum on a bound. (None, which stands for no bound, is NaN as a number.)"""
    nearest = np.fmin(np.abs(x - low), np.abs(x - high))
    if np.any(nearest <= 1e-8 * (1.0 + np.abs(x))):
        raise _held("a bound")


def _held(what: str) -> MissingRuleError:
    return MissingRuleError(
        f"the derivative of a minimum under {what}", None, "Write the bound or constraint into the function, as by x = exp(u)."
    )


@rrule.register(optimize.minimize_scalar)
def minimize_scalar_rrule(fun, bracket=None, bounds=None, args=(), method=None, tol=None, options=None):
    """As minimize, of one number."""
    result = optimize.minimize_scalar(fun, bracket, bounds, args, method, tol, options)
    extra = as_tuple(args)
    of_value = differentiated(fun, result.x, *extra)[1]
    gradient = gradient_of(fun, extra, {})
    back = stationary_pullback(lambda x: gradient(float(x)), np.asarray(result.x))

    def minimize_scalar_pullback(y_bar):
        refuse_fields(y_bar, ("x", "fun"))
        refuse_unsolved(result.success, result.message)
        if bounds is not None:
            refuse_bound(result.x, *bounds)
        fun_bar, bars = minimum_bars(back, of_value, y_bar, len(extra))
        bounds_bar = NoTangent() if bounds is None else not_implemented("the bounds of a minimum")
        return NoTangent(), fun_bar, zero_cotangent(bracket), bounds_bar, given_to_args(args, bars), *OPTIONS

    return result, minimize_scalar_pullback


def minimum_bars(back: Back, of_value: Back, y_bar: Any, count: int) -> tuple[Any, tuple[Any, ...]]:
    """The cotangents of a function and its arguments from those of its minimum and of what it is there."""
    total: tuple[Any, ...] = (None,) * (1 + count)
    if not is_structural_zero(y_bar.get("x")):
        total = back(y_bar["x"])
    if not is_structural_zero(y_bar.get("fun")):
        # Nothing comes by way of x: at the minimum, the gradient is 0.
        function_bar, _, *others = of_value(y_bar["fun"])
        total = tuple(map(accumulate, total, (function_bar, *others)))
    return total[0], tuple(total[1:])


@rrule.register(optimize.least_squares)
def least_squares_rrule(
    fun, x0, jac="2-point", bounds=(-np.inf, np.inf), method="trf", ftol=1e-8, xtol=1e-8, gtol=1e-8, x_scale=None,
    loss="linear", f_scale=1.0, diff_step=None, tr_solver=None, tr_options=None, jac_sparsity=None, max_nfev=None, verbose=0,
    args=(), kwargs=None, **newer,
):  # fmt: skip
    """As minimize, of half of the sum of squares."""
    options = {"x_scale": x_scale} if x_scale is not None else {}
    result = optimize.least_squares(
        fun, x0, jac, bounds, method, ftol, xtol, gtol, loss=loss, f_scale=f_scale, diff_step=diff_step, tr_solver=tr_solver,
        tr_options=tr_options, jac_sparsity=jac_sparsity, max_nfev=max_nfev, verbose=verbose, args=args, kwargs=kwargs,
        **options, **newer,
    )  # fmt: skip
    extra, named = as_tuple(args), kwargs or {}
    residuals, of_residuals = differentiated(fun, result.x, *extra, **named)
    back = stationary_pullback(gradient_of_squares(fun, extra, named), result.x)

    def least_squares_pullback(y_bar):
        refuse_fields(y_bar, ("x", "cost", "fun"))
        refuse_unsolved(result.success, result.message)
        if not (isinstance(loss, str) and loss == "linear"):
            raise MissingRuleError("least_squares with another loss than the linear one", None, "Use scipy.optimize.minimize.")
        refuse_bound(result.x, *((bounds.lb, bounds.ub) if isinstance(bounds, optimize.Bounds) else bounds))
        of_both = least_squares_value(of_residuals, residuals, y_bar)
        x_bar = accumulate(y_bar.get("x"), None if of_both is None else of_both[1])
        bars = combined([(1.0, back(x_bar))]) if not is_structural_zero(x_bar) else (None,) * (1 + len(extra))
        if of_both is not None:
            bars = tuple(map(accumulate, bars, (of_both[0], *of_both[2:])))
        none, args_bar = NoTangent(), given_to_args(args, tuple(bars[1:]))
        named_bar = not_implemented("keyword arguments of the function of least_squares") if kwargs else none
        return none, bars[0], zero_cotangent(x0), *(none,) * 15, args_bar, named_bar

    return result, least_squares_pullback


def least_squares_value(of_residuals: Back, residuals: Any, y_bar: Any) -> Any:
    """The cotangents from those of the residuals and of half of the sum of their squares; None without."""
    cost_bar = y_bar.get("cost")
    squares_bar = None if is_structural_zero(cost_bar) else scaled(residuals, float(cost_bar))
    bar = accumulate(y_bar.get("fun"), squares_bar)
    return None if is_structural_zero(bar) else of_residuals(bar)


def _valley(x, p):
    return np.sum((x - p) ** 2) + 0.3 * np.sum(np.cos(x)) + 0.1 * x[0] * x[1] ** 2


def _slope(x, p):
    return 2.0 * (x - p) - 0.3 * np.sin(x) + np.array([0.1 * x[1] ** 2, 0.2 * x[0] * x[1]])


def _both(x, p):
    return _valley(x, p), _slope(x, p)


def _bowl(x, p, q):
    return (np.exp(x) - p * q) ** 2


def _residuals(x, p):
    return np.array([x[0] - p[0], np.exp(x[1]) - p[1] * x[0], x[0] * x[1] - 0.3])


def _slopes(x, p):
    return np.array([[1.0, 0.0], [-p[1], np.exp(x[1])], [x[1], x[0]]])


_PAIR = np.array([0.7, 1.3])
_TIGHT = {"gtol": 1e-9}
examples(optimize.minimize, (_valley, [1, 1], (_PAIR,), "BFGS", _slope), options=_TIGHT)
examples(optimize.minimize, (_both, [1, 1], _PAIR, None, True), options=_TIGHT)
examples(optimize.minimize_scalar, (_bowl, None, None, (1.4, 1.3)), tol=1e-12)
_EXACT = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-14, "method": "lm"}
examples(optimize.least_squares, (_residuals, [1, 0], _slopes), (_residuals, [1, 1], _slopes), args=(_PAIR,), **_EXACT)
