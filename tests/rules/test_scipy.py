"""SciPy in programs as users write them, against central differences of the whole program."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy
from scipy import fft, integrate, interpolate, linalg, ndimage, optimize, signal, sparse
from scipy.sparse import linalg as sparse_linalg
from scipy.spatial import distance

from microgradpy import MissingRuleError, MutationError, gradient
from microgradpy.compiler import always_dispatch, always_track
from microgradpy.testing import check_gradient
from tests.finite_differences import differences, flatten_cotangent
from tests.ways import WAYS

MATRIX = np.array([[4.0, 0.3, -0.5], [0.7, 3.0, 0.2], [-0.1, 0.9, 5.0]])
VECTOR = np.array([0.3, -1.2, 2.1])


class Program(NamedTuple):
    f: Callable[..., Any]
    args: tuple[Any, ...]


def loss_of_a_solve(a, b):
    x = linalg.solve(a, b)
    return np.sum(x * x) + x[0]


def log_determinant(x):
    covariance = x @ x.T + np.eye(3)
    return 2.0 * np.sum(np.log(np.diag(linalg.cholesky(covariance, lower=True))))


def gaussian_log_likelihood(x, y, scale):
    covariance = np.exp(-0.5 * (x[:, None] - x) ** 2 / scale**2) + 0.1 * np.eye(3)
    factor = linalg.cho_factor(covariance)
    return -0.5 * y @ linalg.cho_solve(factor, y) - np.sum(np.log(np.diag(factor[0])))


def gaussian_log_likelihood_of_arrays_that_are_filled(x, y, scale):
    covariance = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            covariance[i, j] = np.exp(-0.5 * (x[i] - x[j]) ** 2 / scale**2)
    covariance += 0.1 * np.eye(3)
    lower = linalg.cholesky(covariance, lower=True)
    z = linalg.solve_triangular(lower, y, lower=True)
    return -0.5 * z @ z - np.sum(np.log(np.diag(lower)))


def one_factorisation_for_two_solves(a, b):
    factors = linalg.lu_factor(a)
    x = linalg.lu_solve(factors, b)
    return x @ linalg.lu_solve(factors, x, trans=1)


def state_after_a_time(generator, state, time):
    return np.sum(np.sin(linalg.expm(generator * time) @ state))


def energy_of_the_lowest_states(h):
    w, v = linalg.eigh(h + h.T)
    density = v[:, :2] @ v[:, :2].T
    return w[0] + 0.3 * w[1] + np.sum(density * VECTOR)


def heat_in_a_rod(conductivity, source):
    bands = np.zeros((3, 3))
    bands[0, 1:] = -conductivity[1:]
    bands[1] = 2.0 + conductivity
    bands[2, :-1] = -conductivity[:-1]
    return np.sum(linalg.solve_banded((1, 1), bands, source) ** 2)


def stationary_covariance(a, q):
    return np.trace(linalg.solve_continuous_lyapunov(a, q @ q.T))


def fitted_line(x, y):
    coefficients, residual, _rank, _s = linalg.lstsq(np.stack((x, np.ones(3)), axis=1), y)
    return coefficients[0] ** 2 + residual


LINALG = (
    Program(loss_of_a_solve, (MATRIX, VECTOR)),
    Program(log_determinant, (MATRIX,)),
    Program(gaussian_log_likelihood, (VECTOR, VECTOR[::-1].copy(), 0.9)),
    Program(gaussian_log_likelihood_of_arrays_that_are_filled, (VECTOR, VECTOR[::-1].copy(), 0.9)),
    Program(one_factorisation_for_two_solves, (MATRIX, VECTOR)),
    Program(state_after_a_time, (0.2 * MATRIX, VECTOR, 0.7)),
    Program(energy_of_the_lowest_states, (MATRIX,)),
    Program(heat_in_a_rod, (np.array([0.3, 0.8, 0.5]), VECTOR)),
    Program(stationary_covariance, (MATRIX, np.outer(VECTOR, VECTOR) + np.eye(3))),
    Program(fitted_line, (VECTOR, VECTOR**2)),
)

def root_of_a_closure(p, q):
    return optimize.brentq(lambda x: x**3 + p * x - np.sum(q), 0.0, 5.0) ** 2


def root_that_is_filled_in(p, q):
    rates = np.zeros(2)
    rates[0] = p
    rates[1] = q[0] * p

    def balance(x):
        return [x[0] + rates[0] * x[1] - 1.0, rates[1] * x[0] - x[1] ** 3 - 0.2]

    result = optimize.root(balance, np.array([0.5, 0.5]), tol=1e-13)
    if not result.success:
        raise ValueError(result.message)
    return result.x[0] + 2.0 * result["x"][1] + np.sum(result.fun)


def root_for_a_table_that_is_written_afterwards(p, q):
    table = q * p
    x = optimize.newton(lambda x: x**3 + table[0] * x - np.sum(table), 1.0, tol=1e-13)
    table[:] = x * q
    return np.sum(np.sin(table))


def implied_volatility(price, rate):
    def excess(sigma):
        return sigma * np.exp(-0.5 * sigma**2 - rate) - price

    return optimize.root_scalar(excess, bracket=(0.0, 0.9), method="brentq").root


def roots_of_several_equations(p):
    return np.sum(optimize.newton(lambda x, q: x**3 + x - q, np.ones(3), args=(p**2,), tol=1e-13))


def root_with_a_jacobian(p):
    result = optimize.root(lambda x, q: (x**3 - q, np.diag(3.0 * x**2)), np.ones(3), args=(p**2,), jac=True, tol=1e-13)
    return np.sum(result.x * p)


def steady_state(weights, u):
    x = optimize.fixed_point(lambda x: 0.5 * np.tanh(weights @ x + u), np.zeros(3), xtol=1e-13)
    return np.sum(x**2)


def steady_state_by_fsolve(weights, u):
    x, _, status, _ = optimize.fsolve(lambda x, u: 0.5 * np.tanh(weights @ x + u) - x, np.zeros(3), u, None, True, xtol=1e-13)
    return np.sum(x**2) if status == 1 else np.nan


def fitted_rate(times, data):
    def residuals(p):
        return p[0] * np.exp(-p[1] * times) - data

    result = optimize.least_squares(residuals, [1.0, 1.0], "3-point", ftol=1e-15, xtol=1e-15, gtol=1e-15, method="lm")
    return result.x[1] + result.cost


def response(p, a):
    slope = lambda x: 2.0 * (x - p) + 2.0 * a * x**3 - np.cos(x)  # noqa: E731
    result = optimize.minimize(
        lambda x: np.sum((x - p) ** 2 + 0.5 * a * x**4 - np.sin(x)), np.zeros(3), jac=slope, options={"gtol": 1e-8}
    )
    return np.sum(result.x**2) + result.fun


OPTIMIZE = (
    Program(root_of_a_closure, (1.4, VECTOR**2)),
    Program(root_that_is_filled_in, (0.7, VECTOR + 1.0)),
    Program(root_for_a_table_that_is_written_afterwards, (0.7, VECTOR + 2.0)),
    Program(implied_volatility, (0.2, 0.1)),
    Program(roots_of_several_equations, (VECTOR,)),
    Program(root_with_a_jacobian, (VECTOR,)),
    Program(steady_state, (0.2 * MATRIX, VECTOR)),
    Program(steady_state_by_fsolve, (0.2 * MATRIX, VECTOR)),
    Program(fitted_rate, (np.array([0.0, 0.5, 1.2, 2.0]), np.array([1.5, 1.1, 0.6, 0.4]))),
    Program(response, (VECTOR, 0.8)),
)

TIGHT = {"rtol": 1e-11, "atol": 1e-12}


def fitted_dynamics(rates, start):
    def slope(t, y):
        return np.array([rates[0] * y[0] - rates[1] * y[0] * y[1], rates[1] * y[0] * y[1] - rates[2] * y[1]])

    times = np.linspace(0.2, 2.0, 4)
    solution = integrate.solve_ivp(slope, (0.0, 2.0), start, "DOP853", times, **TIGHT)
    return np.mean((solution.y - np.sin(times)) ** 2)


def neural_dynamics(weights, bias):
    start = np.array([0.3, -0.2, 0.5])
    solution = integrate.solve_ivp(lambda t, y: np.tanh(weights @ y + bias * t), (0.0, 1.3), start, "DOP853", **TIGHT)
    if not solution.success:
        raise ValueError(solution.message)
    return np.sum(solution.y[:, -1] ** 2)


def stiff_reaction(rates, end):
    def slope(t, y):
        return [-rates[0] * y[0] + rates[1] * y[1], 100.0 * rates[0] * (y[0] - y[1])]

    solution = integrate.solve_ivp(slope, (0.0, end), [1.0, 0.2], method="Radau", rtol=1e-9, atol=1e-10)
    return solution.y[0, -1] * solution.t[-1]


def falling_body(speed, drag, times):
    states = integrate.odeint(lambda y, t, k: [y[1], -9.8 - k * y[1] * abs(y[1])], [0.0, speed], times, args=(drag,), **TIGHT)
    return np.sum(states[:, 0] ** 2)


def arc_length(p, a, b):
    length, _ = integrate.quad(lambda x: np.sqrt(1.0 + np.polyval(p, x) ** 2), a, b, epsabs=1e-12, epsrel=1e-12)
    return length


def integral_of_a_function_with_a_branch(p, q):
    return integrate.quad(lambda x: p * x if x < 0.5 else q[0] * x**2, 0.0, 1.2, points=[0.5])[0]


def moment_of_a_bell(p, q):
    return integrate.quad(lambda x: x**2 * np.exp(-p * (x - q) ** 2), -np.inf, np.inf, epsabs=1e-12)[0]


def simpson_of_a_curve(x, p):
    grid = np.cumsum(x**2)
    return integrate.simpson(np.sin(p * grid), x=grid) + integrate.cumulative_trapezoid(grid * p, grid, initial=0)[-1]


INTEGRATE = (
    Program(fitted_dynamics, (np.array([1.1, 0.8, 0.6]), np.array([0.8, 1.2]))),
    Program(neural_dynamics, (0.3 * MATRIX, VECTOR)),
    Program(stiff_reaction, (np.array([0.8, 0.5]), 1.2)),
    Program(falling_body, (3.0, 0.05, np.array([0.0, 0.2, 0.5]))),
    Program(arc_length, (VECTOR, 0.2, 1.4)),
    Program(integral_of_a_function_with_a_branch, (0.7, VECTOR)),
    Program(moment_of_a_bell, (0.8, 0.3)),
    Program(simpson_of_a_curve, (VECTOR, 1.3)),
)

LAPLACIAN = sparse.diags_array([-np.ones(3), 2.5 * np.ones(4), -np.ones(3)], offsets=(-1, 0, 1), format="csc")
FACTORS = sparse_linalg.splu(sparse.csc_matrix(LAPLACIAN))


def poisson(source, scale):
    potential = sparse_linalg.spsolve(LAPLACIAN, scale * np.exp(source))
    return np.sum(potential**2) + potential @ (LAPLACIAN @ potential)


def heat_steps(start, source):
    state = start
    for _ in range(3):
        state = FACTORS.solve(state + 0.1 * source * np.tanh(state))
    return np.sum(state**2)


def heat_steps_in_place(start, source):
    states = np.zeros((4, 4))
    states[0] = start
    for step in range(3):
        states[step + 1] = states[step] - 0.1 * (LAPLACIAN.T @ states[step]) + source
    return np.sum(states[-1] ** 2) + np.sum((states @ LAPLACIAN)[1])


def solved_by_iteration(source):
    x, info = sparse_linalg.cg(LAPLACIAN, np.sin(source), rtol=1e-13)
    y, status = sparse_linalg.gmres(LAPLACIAN, x, rtol=1e-13)
    return np.sum(y * x) if info == status == 0 else np.nan


def spectrum(x, gain):
    power = np.abs(fft.rfft(x * gain)) ** 2
    return np.sum(power * np.arange(len(power))) + np.sum(fft.dct(x, norm="ortho")[2:] ** 2)


def filtered(x, kernel, feedback):
    y = signal.lfilter(kernel, np.concatenate((np.ones(1), feedback)), signal.fftconvolve(x, kernel, "same"))
    return np.sum(y**2) + signal.correlate(x, kernel, "valid")[0]


def sharpened(image, kernel):
    smooth = ndimage.gaussian_filter(image, sigma=0.8)
    return np.sum((ndimage.convolve(image - smooth, np.outer(kernel, kernel), mode="nearest") + smooth[0, 0]) ** 2)


def kernel_regression(points, centres, weights):
    near = np.exp(-distance.cdist(points, centres, "sqeuclidean")) @ weights
    return np.sum(near**2) + np.sum(distance.pdist(points)) + np.sum(distance.squareform(distance.pdist(centres))[0])


LONG = np.array([0.3, -0.7, 1.1, 0.4])
OTHERS = (
    Program(poisson, (LONG, 1.3)),
    Program(heat_steps, (LONG, LONG**2)),
    Program(heat_steps_in_place, (LONG, LONG**2)),
    Program(solved_by_iteration, (LONG,)),
    Program(spectrum, (LONG, 0.7)),
    Program(sharpened, (MATRIX, VECTOR)),
    Program(kernel_regression, (MATRIX, MATRIX[:2] ** 2 - 1.0, LONG[:2])),
    Program(filtered, (LONG, VECTOR, np.array([0.2, -0.1]))),
)

WHOLE = np.array([0.0, 1.0, 2.0, 4.0])


def path_through_points(values, where):
    spline = interpolate.CubicSpline(WHOLE, values**2)
    other = interpolate.make_interp_spline(WHOLE, values, k=2)
    return np.sum(spline(where) ** 2) + spline(where[0], 1) * np.sum(other(where)) + other(0.3)


def table_lookup(values, where):
    line = interpolate.interp1d(WHOLE, np.exp(values), bounds_error=False, fill_value=(0.0, 1.0))
    beyond = interpolate.interp1d(np.cumsum(values**2), values, fill_value="extrapolate")
    return np.sum(line(where)) + line(-1.0) + line(9.0) + beyond(where[0] + 2.0)


def shape_preserving_curve(where):
    curve = interpolate.PchipInterpolator(WHOLE, np.array([0.0, 2.0, 2.5, 2.4]))
    nearest = interpolate.interp1d(WHOLE, WHOLE**2, kind="nearest")
    cubic = interpolate.interp1d(WHOLE, WHOLE**2 - WHOLE, kind="cubic")
    return np.sum(curve(where) * where + nearest(where) + cubic(where))


def curves_of_any_points(places, values, where):
    """Each of the slopes in them is chosen by another case."""
    curve = interpolate.PchipInterpolator(places, values, extrapolate=True)
    other = interpolate.Akima1DInterpolator(places, values)
    modified = interpolate.Akima1DInterpolator(places, values * where[0], method="makima")
    given = interpolate.CubicHermiteSpline(places, values, np.cos(values))
    return np.sum(curve(where) * other(where)) + curve(where[0], 1) * modified(where[1]) + given(where[2]) + curve(9.0)


def map_on_a_grid(heights, where):
    surface = interpolate.RegularGridInterpolator((WHOLE, np.array([0.0, 1.0, 2.0])), np.outer(heights, VECTOR))
    return np.sum(surface(where) ** 2) + surface((where[0, 0], 1.3)) + surface(np.array([1.7, where[1, 1]]))[0]


def points_beyond_a_grid(heights, where):
    surface = interpolate.RegularGridInterpolator((WHOLE,), heights, bounds_error=False, fill_value=None)
    other = interpolate.RegularGridInterpolator((WHOLE,), heights, bounds_error=False, fill_value=0.5)
    return np.sum(surface(where[:, None]) + other(where[:, None]))


WHERE = np.array([0.4, 1.7, 3.2])
PLACES = np.array([0.0, 0.6, 1.9, 2.3, 3.0, 4.1])
GRIDS = (
    Program(table_lookup, (LONG, WHERE)),
    Program(curves_of_any_points, (PLACES, np.array([0.1, 0.9, 1.1, -0.4, -0.3, 2.0]), WHERE)),
    Program(map_on_a_grid, (LONG, np.array([[0.4, 0.3], [3.2, 1.6]]))),
    Program(points_beyond_a_grid, (LONG, np.array([0.4, 1.7, 5.1]))),
)
INTERPOLATE = (
    Program(path_through_points, (LONG, WHERE)),
    Program(shape_preserving_curve, (WHERE,)),
)
PROGRAMS = (*LINALG, *OPTIMIZE, *INTEGRATE, *OTHERS, *GRIDS)
GIVES_MEMORY_OF_C = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 18)  # what linalg.expm returns


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.f.__name__)
def test_gradients_are_those_of_central_differences(program: Program, way: str) -> None:
    if way == "tracked" and program.f is state_after_a_time and GIVES_MEMORY_OF_C:
        with always_track(), pytest.raises(MutationError, match="PyCapsule"):
            gradient(program.f, *program.args)
        return
    with WAYS[way]():
        found = gradient(program.f, *program.args)
    expected = differences(program.f, program.args)
    np.testing.assert_allclose(flatten_cotangent(program.args, found), expected, rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize("way", ("inlined", "dispatched"))
@pytest.mark.parametrize("program", INTERPOLATE, ids=lambda program: program.f.__name__)
def test_splines_through_points_are_differentiated_in_runs_that_do_not_write(program: Program, way: str) -> None:
    test_gradients_are_those_of_central_differences(program, way)


@pytest.mark.parametrize("program", INTERPOLATE, ids=lambda program: program.f.__name__)
def test_interpolations_are_refused_in_runs_that_write_for_their_knots(program: Program) -> None:
    with always_track(), pytest.raises(MissingRuleError):
        gradient(program.f, *program.args)


def lowest_point(p, a):
    """Of a function without a gradient of its own, near which a minimum is found to half of the digits only."""
    result = optimize.minimize(lambda x: np.sum((x - p) ** 2 + 0.5 * a * x**4 - np.sin(x)), np.zeros(3))
    return np.sum(result.x**2) + result.fun


@pytest.mark.parametrize("way", WAYS)
def test_a_minimum_without_a_gradient_of_the_users(way: str) -> None:
    with WAYS[way]():
        found = gradient(lowest_point, VECTOR, 0.8)
    np.testing.assert_allclose(found[0], gradient(response, VECTOR, 0.8)[0], rtol=1e-5)
    np.testing.assert_allclose(found[1], gradient(response, VECTOR, 0.8)[1], rtol=1e-5)


def sign_at_a_jump(p):
    return optimize.brentq(lambda x: p * (x + np.sign(x - 0.3)), -1.0, 3.0)


def sign_at_a_pole(p):
    return optimize.brentq(lambda x: p / (x - 0.3), -1.0, 3.0)


def the_same_equation_twice(p):
    return optimize.root(lambda x: [x[0] + x[1] - p, x[0] + x[1] - p], [0.3, 0.4], method="lm").x[0]


def root_that_is_none(p):
    return optimize.root(lambda x: x**2 + p, 1.0).x[0]


def root_after_two_steps(p):
    return optimize.brentq(lambda x: x**3 - p, 0.0, 5.0, maxiter=2, disp=False)


def minimum_after_two_steps(p):
    return optimize.minimize(lambda x: np.sum((x - p) ** 4), np.zeros(2), options={"maxiter": 2}).x[0]


def minimum_on_a_bound(p):
    return optimize.minimize(lambda x: np.sum((x - p) ** 2), np.zeros(2), bounds=[(None, 1.0), (0.0, None)]).x[0]


def minimum_under_a_constraint(p):
    return optimize.minimize(
        lambda x: np.sum((x - p) ** 2), np.zeros(2), constraints={"type": "eq", "fun": lambda x: x[0] - 1.0}
    ).x[1]


def minimum_at_a_kink(p):
    return optimize.minimize_scalar(lambda x: abs(x) + 0.1 * (x - p) ** 2, bracket=(-1.0, 0.5)).x


def inverse_hessian(p):
    return optimize.minimize(lambda x: np.sum((x - p) ** 2), np.zeros(2)).hess_inv[0, 0]


def robust_fit(p):
    return optimize.least_squares(lambda x: x - np.array([p, 2.0 * p]), 1.0, loss="soft_l1").x[0]


def states_where_the_solver_stopped(p):
    return np.sum(integrate.solve_ivp(lambda t, y: -p * y, (0.0, 1.0), [1.0]).y)


def time_of_an_event(p):
    event = lambda t, y: y[0] - 0.5  # noqa: E731
    event.terminal = True
    return integrate.solve_ivp(lambda t, y: -p * y, (0.0, 9.0), [1.0], events=event).t[-1]


def error_of_an_integral(p):
    return integrate.quad(lambda x: np.sqrt(p * x), 0.0, 1.0)[1]


def slope_that_is_written_afterwards(p):
    rate = np.array([p])
    y = integrate.odeint(lambda y, t: -rate * y, [1.0], [0.0, 1.0])[-1, 0]
    rate[0] = y
    return y * rate[0]


def curve_that_is_filled_in(p):
    heights = np.zeros(4)
    heights[2] = p
    return interpolate.CubicSpline(WHOLE, heights, bc_type="natural")(0.4)


def function_that_leaves_something_behind(p):
    seen = np.zeros(1)

    def excess(x):
        seen[0] = x * x
        return p * x - 1.0

    return optimize.brentq(excess, 0.0, 5.0) + seen[0]


def width_of_a_filter(p):
    return np.sum(ndimage.gaussian_filter(WHOLE, p) ** 2)


def distance_of_another_kind(p):
    return distance.cdist([[p, 1.0]], [[2.0, 0.3]], "canberra")[0, 0]


def knots_that_move(p):
    return interpolate.CubicSpline(np.array([0.0, 1.0, p, 4.0]), WHOLE**2)(0.4)


def values_of_a_spline_by_its_kind(p):
    return interpolate.interp1d(WHOLE, p * WHOLE**2, kind="cubic")(0.4)


def fill_value(p):
    return interpolate.interp1d(WHOLE, WHOLE**2, bounds_error=False, fill_value=p)(9.0)


def cubic_grid(p):
    grid = (np.arange(5.0), np.arange(5.0))
    return interpolate.RegularGridInterpolator(grid, np.eye(5), "cubic")(np.array([p, 1.3]))[0]


REFUSED = (
    function_that_leaves_something_behind, width_of_a_filter, distance_of_another_kind, knots_that_move,
    values_of_a_spline_by_its_kind, fill_value, cubic_grid,
    states_where_the_solver_stopped, time_of_an_event, error_of_an_integral, slope_that_is_written_afterwards,
    sign_at_a_jump, sign_at_a_pole, the_same_equation_twice, root_that_is_none, root_after_two_steps, minimum_after_two_steps,
    minimum_on_a_bound, minimum_under_a_constraint, minimum_at_a_kink, inverse_hessian, robust_fit,
)  # fmt: skip


def test_a_curve_that_is_filled_in() -> None:
    check_gradient(curve_that_is_filled_in, 1.7)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_what_is_no_solution_has_no_gradient(f: Callable[..., Any]) -> None:
    assert np.isfinite(f(1.7))
    with pytest.raises((MissingRuleError, MutationError)):
        gradient(f, 1.7)


def modified(x, y):
    return interpolate.Akima1DInterpolator(x, y, method="makima")


KINKS = {
    "a chord without a slope": (interpolate.PchipInterpolator, [0.0, 1.0, 1.0, 2.0]),
    "chords that turn around": (interpolate.PchipInterpolator, [0.0, 1.0, 0.5, 0.5]),
    "a slope at the end that turns": (interpolate.PchipInterpolator, [0.0, 1.0, 4.0, 2.0]),
    "points on a line, weighted by both": (modified, [0.0, 1.0, 2.0, 4.0]),
}


@pytest.mark.parametrize("kink", KINKS)
def test_where_two_cases_meet_the_derivative_is_between_those_of_both_sides(kink: str) -> None:
    make, values = KINKS[kink]
    (found,) = gradient(lambda y: np.sum(make(WHOLE, y)(WHERE) * WHERE), np.array(values))
    for k, step in enumerate(np.eye(4) * 1e-7):
        before, at, after = (make(WHOLE, np.array(values) + by)(WHERE) @ WHERE for by in (-step, 0.0, step))
        sides = sorted([(at - before) / 1e-7, (after - at) / 1e-7])
        assert sides[0] - 1e-6 <= found[k] <= sides[1] + 1e-6


ON_A_LINE = {
    "points on a line": (interpolate.Akima1DInterpolator, [0.0, 1.0, 2.0, 4.0]),
    "points on a line but for rounding": (interpolate.Akima1DInterpolator, 0.1 + 0.3 * WHOLE),
    "values that are all the same": (modified, [3.0, 3.0, 3.0, 3.0]),
    "values that begin with a constant": (interpolate.PchipInterpolator, [3.0, 3.0, 3.0, 4.0]),
}


@pytest.mark.parametrize("line", ON_A_LINE)
def test_where_the_slopes_have_no_derivative_it_is_refused_if_it_is_needed(line: str) -> None:
    make, values = ON_A_LINE[line]
    with pytest.raises(MissingRuleError, match="on a line"):
        gradient(lambda y: make(WHOLE, y)(0.4), np.array(values))
    assert np.isfinite(gradient(lambda x: ON_A_LINE[line][0](WHOLE, ON_A_LINE[line][1])(x), 0.4)[0])
    beyond = np.append(WHOLE, [5.0, 7.0, 8.0, 9.5, 11.0])
    further = np.append(values, [9.0, 7.3, 8.0, 4.0, 6.1])
    (found,) = gradient(lambda y: make(beyond, y)(8.4), further)
    expected = differences(lambda y: make(beyond, y)(8.4), (further,))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_the_coefficients_of_polynomials_in_another_basis_are_refused() -> None:
    curve = interpolate.BPoly(np.array([[0.1, 0.4], [0.7, -0.3], [1.0, 2.0]]), np.array([0.0, 1.0, 2.5]))
    with pytest.raises(MissingRuleError):
        gradient(lambda curve, x: curve(x), curve, 0.3)


def test_an_equation_whose_function_depends_on_nothing() -> None:
    def last(y0):
        return np.sum(integrate.solve_ivp(lambda t, y: -y * t, (0.0, 1.0), y0, rtol=1e-10, atol=1e-12).y[:, -1])

    (y0_bar,) = gradient(last, np.array([0.3, 0.4]))
    assert np.allclose(y0_bar, np.exp(-0.5), rtol=1e-7)


def roots_of_what_was_written(a):
    b = a.copy()
    b[0, 0] = a[1, 1] * 2.0
    root = linalg.sqrtm(b)
    root[0, 1] *= 3.0
    return root.sum() + linalg.expm(b)[0, 1]


@pytest.mark.parametrize("context", [nullcontext, always_dispatch, always_track])
def test_functions_in_c_in_a_run_that_writes(context: Any) -> None:
    a = np.array([[0.4, 0.1], [0.2, 0.3]])
    with context():
        (bar,) = gradient(roots_of_what_was_written, a)
    np.testing.assert_allclose(bar.ravel(), differences(roots_of_what_was_written, (a,)), rtol=1e-7)
