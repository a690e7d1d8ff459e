"""NumPy's functions of polynomials that are given by their coefficients, the highest first.

What NumPy drops (leading zeros in products, and what is 0 but for rounding in remainders) has no part in the result and gets
a cotangent of 0. Objects of the class np.poly1d are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.linear_algebra.eigenvalues import eigvals_bar
from microgradpy.rules.numpy.linear_algebra.singular import column, lstsq_bars, singular_values_bar
from microgradpy.rules.registry import examples
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.casts import in_precision_of
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent, is_structural_zero


def coefficients(p: Any) -> np.ndarray:
    """The coefficients of a polynomial as an array of one axis."""
    if isinstance(p, np.poly1d):
        found = "an np.poly1d takes part in a differentiated computation"
        raise MissingRuleError(found, None, "Use its coefficients: p.coeffs.")
    return np.atleast_1d(p)


@pullback(np.polyadd)
def polyadd_pullback(y_bar, a1, a2):
    """Each summand gets y_bar from the end, as far as it reaches."""
    return summand_bar(y_bar, a1), summand_bar(y_bar, a2)


@pullback(np.polysub)
def polysub_pullback(y_bar, a1, a2):
    """As polyadd, with -y_bar for the second one."""
    return summand_bar(y_bar, a1), summand_bar(-y_bar, a2)


def summand_bar(y_bar: Any, p: Any) -> Any:
    """The cotangent of a polynomial that was added to another one."""
    return unbroadcast(y_bar[len(y_bar) - len(coefficients(p)) :], p)


@pullback(np.polymul)
def polymul_pullback(y_bar, a1, a2):
    """y_k = the sum of a1_i a2_(k-i): a1_bar_i = the sum of y_bar_(i+j) conj(a2_j), and the same of a2."""
    return factor_bar(y_bar, a1, a2), factor_bar(y_bar, a2, a1)


def factor_bar(y_bar: Any, p: Any, other: Any) -> Any:
    """The cotangent of a polynomial that was multiplied by another one."""
    used, by = np.trim_zeros(coefficients(p), "f"), np.trim_zeros(coefficients(other), "f")
    if not used.size or not by.size:
        return unbroadcast(np.zeros(np.size(p)), p)
    # np.correlate conjugates its second argument.
    p_bar = np.correlate(y_bar, by, "valid")
    return unbroadcast(np.concatenate((np.zeros(np.size(p) - used.size, p_bar.dtype), p_bar)), p)


@pullback(np.polydiv)
def polydiv_pullback(y_bar, u, v, *, y):
    """u = q v + r: the steps of the division, backwards."""
    bars = polydiv_bars(y_bar, u, v, y)
    return bars[0], bars[1]


def polydiv_bars(y_bar: Any, u: Any, v: Any, y: Any) -> tuple[Any, Any]:
    """The cotangents of dividend and divisor under quotient and remainder."""
    q_bar, r_bar = y_bar
    by, q = coefficients(v), y[0]
    dtype = np.result_type(q, *(bar for bar in y_bar if not is_structural_zero(bar)))
    u_bar, v_bar = np.zeros(coefficients(u).shape, dtype), np.zeros(by.shape, dtype)
    if not is_structural_zero(r_bar):
        u_bar[len(u_bar) - len(r_bar) :] = r_bar
    # A step is d = r[k] / v[0], and then r[k : k + len(v)] -= d * v.
    for k in reversed(range(len(u_bar) - len(by) + 1)):
        d_bar = -np.sum(conj(by) * u_bar[k : k + len(by)])
        if not is_structural_zero(q_bar):
            d_bar = d_bar + q_bar[k]
        v_bar -= conj(q[k]) * u_bar[k : k + len(by)]
        u_bar[k] += d_bar / conj(by[0])
        v_bar[0] -= conj(q[k]) * d_bar / conj(by[0])
    return unbroadcast(u_bar, u), unbroadcast(v_bar, v)


@pullback(np.polyder)
def polyder_pullback(y_bar, p, m=1):
    """The coefficient of x^n gets y_bar of x^(n-m) times n (n-1) ... (n-m+1), and 0 if n < m."""
    return polyder_bar(y_bar, p, m)


def polyder_bar(y_bar: Any, p: Any, m: int) -> Any:
    """The cotangent of a polynomial under its derivative of order m."""
    p_bar = np.zeros(len(coefficients(p)), np.result_type(y_bar))
    p_bar[: len(y_bar)] = y_bar
    for step in range(m):
        p_bar *= np.arange(len(p_bar) - 1, -1, -1) - step
    return unbroadcast(p_bar, p)


@pullback(np.polyint)
def polyint_pullback(y_bar, p, m=1, k=None):
    """m times, the coefficient of x^n gets y_bar of x^(n+1) over n + 1, and the constant gets the last y_bar."""
    bars = polyint_bars(y_bar, p, m, k)
    return bars[0], NoTangent(), bars[1]


def polyint_bars(y_bar: Any, p: Any, m: int, k: Any) -> tuple[Any, Any]:
    """The cotangents of a polynomial and of the constants under its integral of order m."""
    coefficients(p)
    constants = np.zeros(max(m, np.size(k)), np.result_type(y_bar))
    bar = y_bar
    for step in reversed(range(m)):
        constants[step] = bar[-1]
        bar = bar[:-1] / np.arange(len(bar) - 1, 0, -1, dtype=np.real(bar).dtype)
    if k is None:
        return unbroadcast(bar, p), None
    k_bar = constants if np.size(k) > 1 else np.sum(constants)
    return unbroadcast(bar, p), unbroadcast(k_bar, k)


@pullback(np.polyval)
def polyval_pullback(y_bar, p, x):
    """The coefficient of x^n gets the sum of y_bar * conj(x^n), and x_bar = y_bar * conj(p'(x))."""
    return polyval_bar(y_bar, p, x), evaluated_at_bar(y_bar, p, x)


@cotangent_of(1)
def polyval_bar(y_bar: Any, p: Any, x: Any) -> Any:
    """The cotangent of the coefficients under the values at x."""
    count, point = len(coefficients(p)), conj(np.asarray(coefficient_free(x)))
    bars, powered = [], np.asarray(y_bar)
    with np.errstate(all="ignore"):
        for _ in range(count):
            bars.append(np.sum(powered))
            powered = powered * point
    return unbroadcast(np.asarray(bars[::-1]), p)


@cotangent_of(2)
def evaluated_at_bar(y_bar: Any, p: Any, x: Any) -> Any:
    """The cotangent of the point x at which a polynomial was evaluated."""
    with np.errstate(all="ignore"):
        return unbroadcast(y_bar * conj(in_precision_of(y_bar, slope_of(p, x))), x)


def slope_of(p: Any, x: Any) -> Any:
    """The slope of a polynomial at x."""
    return np.polyval(np.polyder(coefficients(p)), coefficient_free(x))


def coefficient_free(x: Any) -> Any:
    """A point, which is no polynomial."""
    if isinstance(x, np.poly1d):
        coefficients(x)
    return x


@pullback(np.roots)
def roots_pullback(z_bar, p, *, z):
    """The coefficient of x^n gets the sum of -z_bar * conj(z^n / p'(z)) over the roots z: infinite or NaN of multiple ones
    that have a z_bar."""
    return roots_bar(z_bar, p, z)


def roots_bar(z_bar: Any, p: Any, z: Any) -> Any:
    """The cotangent of the coefficients under the roots."""
    array = coefficients(p)
    with np.errstate(all="ignore"):
        slopes = in_precision_of(z_bar, np.polyval(np.polyder(array), z))
        shares = np.where(np.equal(z_bar, 0.0), 0.0, -z_bar / conj(slopes))
        return unbroadcast(shares @ conj(in_precision_of(z_bar, np.vander(z, len(array)))), p)


@pullback(np.poly)
def poly_pullback(y_bar, seq_of_zeros):
    """The product of (x - z), whose factors are undone one after the other; of a matrix, z are its eigenvalues."""
    return poly_bar(y_bar, seq_of_zeros)


def poly_bar(y_bar: Any, roots: Any) -> Any:
    """The cotangent of the roots, or of the matrix, of a polynomial."""
    if np.ndim(roots) < 2:
        return unbroadcast(product_of_roots_bar(y_bar, coefficients(roots)), roots)
    z = np.linalg.eigvals(roots)
    return unbroadcast(eigvals_bar(product_of_roots_bar(y_bar, z), np.asarray(roots), z), roots)


def product_of_roots_bar(y_bar: Any, roots: np.ndarray) -> np.ndarray:
    """The cotangent of each root under the coefficients of the product."""
    products = [np.ones(1, np.result_type(roots, np.float32))]
    for root in roots[:-1]:
        products.append(np.convolve(products[-1], np.array([1.0, -root], products[-1].dtype)))
    bars, bar = [], y_bar
    for before, root in zip(reversed(products), reversed(roots), strict=False):
        bars.append(-np.sum(bar[1:] * conj(before)))
        bar = bar[:-1] - conj(root) * bar[1:]
    return np.asarray(bars[::-1] or np.zeros(0))


@pullback(np.polyfit)
def polyfit_pullback(fit_bar, x, y, deg, rcond=None, full=False, w=None, cov=False, *, fit):
    """Least squares (see np.linalg.lstsq) with the matrix of w * x^n and the right-hand side w * y."""
    bars = polyfit_bars(fit_bar, x, y, rcond, w, fit)
    return bars[0], bars[1], NoTangent(), NoTangent(), NoTangent(), bars[2]


def polyfit_bars(fit_bar: Any, x: Any, y: Any, rcond: Any, w: Any, fit: Any) -> tuple[Any, Any, Any]:
    """The cotangents of points, values and weights under a fit: the coefficients, or these and what else was asked for."""
    p, residuals, p_bar, residuals_bar, s_bar = parts_of_fit(fit, fit_bar)
    points, values, weights = np.asarray(x) + 0.0, np.asarray(y) + 0.0, np.ones(len(x)) if w is None else np.asarray(w)
    powers = np.vander(points, len(p))
    matrix = powers * weights[:, None]
    # NumPy scales the columns, which changes nothing but rounding errors and the singular values.
    scale = np.sqrt(np.sum(matrix * matrix, axis=0))
    scaled = matrix / scale
    s = singular_values_of_fit(scaled, rcond)
    p_bar = None if is_structural_zero(p_bar) else (p_bar.T / conj(scale)).T
    solved = (p.T * scale).T, residuals, len(s), s
    scaled_bar, right_bar = lstsq_bars((p_bar, residuals_bar, None, None), scaled, (values.T * weights).T, solved)
    if not is_structural_zero(s_bar):
        of_s = singular_values_bar(s_bar, scaled, False)
        scaled_bar = scaled_bar + of_s - conj(scaled) * np.sum(of_s * conj(scaled), axis=0)
    matrix_bar = scaled_bar / conj(scale)
    slopes = np.vander(points, len(p) - 1) * np.arange(len(p) - 1, 0, -1)
    x_bar = np.sum(matrix_bar[:, :-1] * conj(slopes), axis=1) * conj(weights)
    w_bar = np.sum(matrix_bar * conj(powers), axis=1) + np.sum(column(right_bar * conj(values)), axis=1)
    return unbroadcast(x_bar, x), unbroadcast((right_bar.T * conj(weights)).T, y), unbroadcast(w_bar, w)


def parts_of_fit(fit: Any, fit_bar: Any) -> tuple[Any, ...]:
    """Coefficients and residuals of a fit, and the cotangents of these and of the singular values."""
    if isinstance(fit, np.ndarray):
        return fit, (), fit_bar, None, None
    if len(fit) > 2:
        return fit[0], fit[1], fit_bar[0], fit_bar[1], fit_bar[3]
    if not is_structural_zero(fit_bar[1]) and np.any(fit_bar[1]):
        raise MissingRuleError("the covariance that np.polyfit returns", None, "Compute it from np.vander with np.linalg.inv.")
    return fit[0], (), fit_bar[0], None, None


def singular_values_of_fit(scaled: np.ndarray, rcond: Any) -> np.ndarray:
    """The singular values of the matrix of a fit. Where some count as 0, its rank depends on what is varied."""
    s = np.linalg.svd(scaled, compute_uv=False)
    limit = scaled.shape[0] * np.finfo(s.dtype).eps if rcond is None else rcond
    if len(s) < scaled.shape[1] or s[-1] <= limit * s[0]:
        raise MissingRuleError("np.polyfit with more coefficients than the points determine", None, "Use a lower degree.")
    return s


_P, _Q = np.array([2.0, -3.0, 0.5, 1.5]), np.array([0.7, 1.2])

_C = np.array([1.0 + 0.5j, -0.3, 0.8j])
_POINTS = np.array([[0.5, -1.2, 2.0], [0.1, 0.9, -0.4]])
for _sum in (np.polyadd, np.polysub):
    examples(_sum, (_P, _Q), (_Q, _P), (_Q, _Q), (_P, _C), (2.0, _Q), ([1.0, 2.0], _P))
examples(np.polymul, (_P, _Q), (_Q, _P), (_C, _P), (_C, _C), (2.0, _Q), ([1.0, 2.0], _P))
examples(np.polydiv, (_P, _Q), (_Q, _P), (_P, _POINTS[0]), (_P, _C), (_C, _Q), (_P, 2.0))
for _order in (0, 1, 2, 5):
    examples(np.polyder, (_P, _order), (_C, _order))
    examples(np.polyint, (_P, _order), (_C, _order))
examples(np.polyint, (_P, 2, _Q), (_P, 2, 0.3), (_P, 1, 0.3), (_P, 3, _C), (_P, 1, _Q), (_P, 2, [0.4]))
examples(np.polyval, (_P, 0.7), (_P, _POINTS), (_C, _POINTS), (_P, _C), ([1.0, 2.0, 3.0], 0.5), (_P[:0], _POINTS))
examples(np.polyval, (_P[:1], 2.0), (_P, 2))
examples(np.roots, (_P,), (_Q,), (_C,), ([1.0, -3.0, 2.0],), (np.array([1.0, 0.0, 0.5]),), (_P[:1],), (_P[:0],))
examples(np.poly, (_P,), (_C,), ([1.0, 2.0],), (_P[:0],), (np.array([[1.0, 0.5], [0.3, -2.0]]),))
_X, _Y = np.array([-1.3, -0.4, 0.3, 1.1, 1.9]), np.array([0.5, 1.7, -0.2, 0.9, 2.4])
examples(np.polyfit, (_X, _Y, 2), (_X, _Y, 1), (_X, _Y, 4), (_X, _Y, 0), (_X, np.stack((_Y, _X**2), 1), 2), (list(_X), _Y, 1))
examples(np.polyfit, (_X, _Y, 2, None, False, np.exp(_Y)), (_X, _Y + 0.3j * _X, 2), (_X, _Y, 2, None, True), (_X, _Y, 1, 1e-9))
examples(np.polyfit, (_X, np.stack((_Y, _X**2), 1), 1, None, True, np.exp(_X)))
