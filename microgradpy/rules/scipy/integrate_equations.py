"""scipy.integrate: ordinary differential equations, by the adjoint equation.

Of y' = f(t, y, p) with the cotangents of y(t_i), u' = -(df/dy)^T u runs back from the last time to the first, growing by each
cotangent on its way. Then y0_bar = u(t0), p_bar is the integral of (df/dp)^T u, and the cotangent of t_i is that of y(t_i)
times f. For that the equation is solved once more, with a relative tolerance of 1e-10, and by the solver that was asked for if
that is one for stiff equations. So the derivative is that of the solution, to some seven digits, however large the steps of the
program were.

The times at which a solver chooses to stop are not differentiated: with `t_eval`, or at the last time, it does not matter.
Source: L. Pontryagin et al., "The mathematical theory of optimal processes" (1962).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import integrate

from microgradpy.errors import MissingRuleError, MutationError
from microgradpy.rules.nested import differentiated
from microgradpy.rules.registry import examples, rrule
from microgradpy.rules.scipy.implicit import OPTIONS, refuse_fields, refuse_unsolved, vector_of
from microgradpy.rules.scipy.quadrature import integral
from microgradpy.rules.scipy.structures import given_to_args, refuse_complex, seed_of, unpacked_bars
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.thunks import accumulate
from microgradpy.tangents.types import NoTangent, is_structural_zero

_PRECISE = {"rtol": 1e-10, "dense_output": True}
_STIFF = ("Radau", "BDF", "LSODA")


class Equation(NamedTuple):
    """y' = f(t, y, *args); `swapped`: f takes y before t. `expected` has values of f at the first and last time, to notice that
    what it depends on is another one by now."""

    f: Callable[..., Any]
    args: tuple[Any, ...]
    swapped: bool
    method: Any
    expected: tuple[tuple[float, np.ndarray, np.ndarray], ...] = ()

    def slope(self, t: float, y: np.ndarray) -> np.ndarray:
        """What f gives."""
        return np.ravel(np.asarray(self.f(*((y, t) if self.swapped else (t, y)), *self.args), dtype=float))

    def bars(self, t: float, y: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, tuple[Any, ...]]:
        """The cotangent of y, and those of f and args, from one of f's result."""
        y_dot, back = differentiated(self.f, *((y, t) if self.swapped else (t, y)), *self.args)
        f_bar, first, second, *others = back(seed_of(y_dot, u))
        return vector_of(first if self.swapped else second, y), (f_bar, *others)

    def noted(self, *points: tuple[float, np.ndarray]) -> Equation:
        """This equation with values of f that are expected later."""
        return self._replace(expected=tuple((t, np.array(y), self.slope(t, np.array(y))) for t, y in points))

    def check(self) -> None:
        """Refuse a function that has become another one."""
        for t, y, slope in self.expected:
            if not np.array_equal(self.slope(t, y.copy()), slope, equal_nan=True):
                raise MutationError(
                    "what the function of a differential equation uses has been written into since it was solved",
                    None,
                    "Give the function a copy, or write into a copy.",
                )


class Adjoint(NamedTuple):
    """The cotangents of y0, of the first time and the others, of the function and of its further arguments."""

    y0: np.ndarray
    t0: float
    times: np.ndarray
    others: tuple[Any, ...]


def adjoint_of(equation: Equation, t0: float, times: np.ndarray, states: np.ndarray, states_bar: np.ndarray) -> Adjoint:
    """The cotangents under the states (in rows) of a solution at some times, that begins with y0 at t0."""
    equation.check()
    y0 = equation.expected[0][1]
    path = _path(equation.slope, t0, times, y0, equation.method)
    exact = np.array([path(t) for t in times]).reshape(states.shape)
    scale = np.max(np.abs(exact), initial=0.0)
    refuse_unsolved(np.allclose(exact, states, rtol=0.05, atol=0.05 * scale), "the solution is off by more than 5 %")
    u, others = np.zeros(y0.size), (None,) * (1 + len(equation.args))
    times_bar = np.array([bar @ equation.slope(t, path(t)) for t, bar in zip(times, states_bar, strict=True)])
    for place in range(len(times) - 1, -1, -1):
        u = u + states_bar[place]
        before = times[place - 1] if place else t0
        if before != times[place] and np.any(u):
            u, part = _one_interval(equation, path, times[place], before, u)
            others = tuple(map(accumulate, others, part))
    return Adjoint(u, -float(u @ equation.slope(t0, y0)), times_bar, others)


def _one_interval(
    equation: Equation, path: Callable[[float], np.ndarray], end: float, start: float, u_end: np.ndarray
) -> tuple[np.ndarray, tuple[Any, ...]]:
    """The adjoint equation from the end of an interval to its start, and the integral of the other cotangents."""
    size = np.max(np.abs(u_end))
    adjoint_path = _path(lambda t, u: -equation.bars(t, path(t), u)[0], end, np.array([start]), u_end, equation.method, size)
    others = integral(lambda t: equation.bars(t, path(t), adjoint_path(t))[1], start, end)
    return adjoint_path(start), others


def _path(
    slope: Callable[..., np.ndarray], t0: float, times: np.ndarray, y0: np.ndarray, method: Any, size: float = 1.0
) -> Callable[[float], np.ndarray]:
    """The solution of an equation from t0 to the last of some times, as a function of time."""
    if len(times) == 0 or times[-1] == t0:
        return lambda t: y0
    precise = method if method in _STIFF else "DOP853"
    solution = integrate.solve_ivp(slope, (t0, times[-1]), y0, precise, atol=1e-12 * size, **_PRECISE)
    refuse_unsolved(solution.success, solution.message)
    path: Callable[[float], np.ndarray] = solution.sol
    return path


@rrule.register(integrate.solve_ivp)
def solve_ivp_rrule(
    fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None, vectorized=False, args=None, rtol=1e-3,
    atol=1e-6, first_step=None, max_step=np.inf, **options,
):  # fmt: skip
    """See above. Without `t_eval`, the first and last time are differentiated."""
    options = {**options, "rtol": rtol, "atol": atol, "first_step": first_step, "max_step": max_step}
    result = integrate.solve_ivp(fun, t_span, y0, method, t_eval, dense_output, events, vectorized, args, **options)
    refuse_complex(result.y, y0)
    extra = () if args is None else tuple(args)
    equation = Equation(fun, extra, False, method)
    t0, end = map(float, t_span)
    if result.success:
        equation = equation.noted((t0, np.asarray(y0, dtype=float)), (float(result.t[-1]), result.y[:, -1]))
    y = result.y

    def solve_ivp_pullback(y_bar):
        refuse_fields(y_bar, ("y", "t"))
        refuse_unsolved(result.status == 0, result.message)
        states_bar = _columns_of(y_bar.get("y"), y)
        t_bar = vector_of(y_bar.get("t"), result.t)
        if t_eval is None:
            refuse_chosen(states_bar[1:-1], t_bar[1:-1])
            found = adjoint_of(equation, t0, np.array([t0, end]), y.T[[0, -1]], states_bar[[0, -1]])
            span_bar = (found.t0 + found.times[0] + t_bar[0], found.times[1] + t_bar[-1])
        else:
            found = adjoint_of(equation, t0, np.asarray(t_eval, dtype=float), y.T, states_bar)
            span_bar = (found.t0, 0.0)
        t_eval_bar = NoTangent() if t_eval is None else unbroadcast(found.times + t_bar, t_eval)
        none, f_bar = NoTangent(), found.others[0]
        y0_bar = unbroadcast(np.reshape(found.y0, np.shape(y0)), y0)
        args_bar = none if args is None else unpacked_bars(args, found.others[1:])
        return none, f_bar, _like(t_span, span_bar), y0_bar, none, t_eval_bar, none, none, none, args_bar, *OPTIONS

    return result, solve_ivp_pullback


def _columns_of(y_bar: Any, y: np.ndarray) -> np.ndarray:
    """The cotangents of the states of a solution, in rows."""
    return np.zeros(y.T.shape) if is_structural_zero(y_bar) else np.asarray(y_bar, dtype=float).T


def _like(t_span: Any, span_bar: tuple[float, float]) -> Any:
    return np.array(span_bar) if isinstance(t_span, np.ndarray) else type(t_span)(span_bar)


def refuse_chosen(states_bar: np.ndarray, t_bar: np.ndarray) -> None:
    """Refuse the states in between if the solver has chosen where."""
    if np.any(states_bar) or np.any(t_bar):
        raise MissingRuleError(
            "the states of a differential equation at times that the solver has chosen",
            None,
            "Say at which times they are wanted, by t_eval=, or use the last one, y[:, -1].",
        )


@rrule.register(integrate.odeint)
def odeint_rrule(
    func, y0, t, args=(), Dfun=None, col_deriv=0, full_output=0, ml=None, mu=None, rtol=None, atol=None, tcrit=None, h0=0.0,
    hmax=0.0, hmin=0.0, ixpr=0, mxstep=0, mxhnil=0, mxordn=12, mxords=5, printmessg=0, tfirst=False,
):  # fmt: skip
    """See above."""
    outcome = integrate.odeint(
        func, y0, t, args, Dfun, col_deriv, full_output, ml, mu, rtol, atol, tcrit, h0, hmax, hmin, ixpr, mxstep, mxhnil,
        mxordn, mxords, printmessg, tfirst,
    )  # fmt: skip
    y = outcome[0] if full_output else outcome
    times = np.asarray(t, dtype=float)
    extra = args if isinstance(args, tuple) else (args,)
    start = np.atleast_1d(np.asarray(y0, dtype=float))
    equation = Equation(func, extra, not tfirst, "LSODA").noted((times[0], start), (times[-1], y[-1]))

    def odeint_pullback(y_bar):
        bar = y_bar[0] if full_output else y_bar
        if is_structural_zero(bar):
            return NoTangent(), NoTangent()
        found = adjoint_of(equation, times[0], times, y, np.asarray(bar, dtype=float))
        t_bar = found.times.copy()
        t_bar[0] += found.t0
        y0_bar = unbroadcast(np.reshape(found.y0, np.shape(y0)), y0)
        args_bar = given_to_args(args, found.others[1:])
        return NoTangent(), found.others[0], y0_bar, unbroadcast(t_bar, t), args_bar, *OPTIONS, *OPTIONS

    return outcome, odeint_pullback


def _preys(t, y, p):
    return [p[0] * y[0] - y[0] * y[1], y[0] * y[1] - p[1] * y[1] + 0.1 * t]


def _cooling(y, t, rate):
    return -rate * (y - np.sin(t))


_START, _RATES = np.array([0.7, 1.3]), np.array([0.9, 1.1])
_TIMES = np.array([0.0, 0.3, 1.1, 1.5])
_TIGHT = {"rtol": 1e-11, "atol": 1e-12}
for _method in ("DOP853", "LSODA"):
    examples(
        integrate.solve_ivp, (_preys, (0.1, 1.7), _START, _method, np.array([0.3, 1.1])), args=(_RATES,), **_TIGHT
    )
examples(integrate.odeint, (_cooling, _START, _TIMES, (0.8,)), (_cooling, 0.7, _TIMES, (_RATES[:1],)), **_TIGHT)
