"""scipy.interpolate: polynomials through points, and splines as a tuple of knots, coefficients and degree.

The value is SciPy's; the derivative is that of a text that says the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.nested import differentiated
from microgradpy.rules.registry import attribute_rule, examples, rrule
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.types import NoTangent, Tangent, is_structural_zero


def through_points(xi: Any, yi: Any, x: Any) -> Any:
    """sum_j y_j prod_(k != j) (x - x_k) / (x_j - x_k)"""
    total = 0.0
    for j in range(len(xi)):
        weight = np.ones_like(x)
        for k in range(len(xi)):
            if k != j:
                weight = weight * (x - xi[k]) / (xi[j] - xi[k])
        total = total + np.multiply.outer(weight, yi[j])
    return total


@rrule.register(interpolate.krogh_interpolate)
def krogh_interpolate_rrule(xi, yi, x, der=0, axis=0):
    """As `through_points`."""
    y = interpolate.krogh_interpolate(xi, yi, x, der, axis)
    check_points(xi, der, axis)
    back = differentiated(through_points, *map(np.array, (xi, yi, x)))[1]

    def krogh_interpolate_pullback(y_bar):
        return NoTangent(), *points_bars(back(y_bar), xi, yi, x), NoTangent(), NoTangent()

    return y, krogh_interpolate_pullback


@rrule.register(interpolate.barycentric_interpolate)
def barycentric_interpolate_rrule(xi, yi, x, axis=0, *, der=0, rng=None):
    """As `through_points`."""
    y = interpolate.barycentric_interpolate(xi, yi, x, axis, der=der, rng=rng)
    check_points(xi, der, axis)
    back = differentiated(through_points, *map(np.array, (xi, yi, x)))[1]

    def barycentric_interpolate_pullback(y_bar):
        return NoTangent(), *points_bars(back(y_bar), xi, yi, x), NoTangent()

    return y, barycentric_interpolate_pullback


def points_bars(bars: tuple[Any, ...], *arguments: Any) -> list[Any]:
    """The cotangents of the points and places, each like its argument."""
    return [
        NoTangent() if is_structural_zero(bar) else unbroadcast(bar, x) for bar, x in zip(bars[1:], arguments, strict=True)
    ]


def check_points(xi: Any, der: Any, axis: int) -> None:
    """Refuse what is more than values through different points."""
    if np.ndim(der) or der or axis or len(np.unique(xi)) < len(xi):
        raise MissingRuleError(
            "polynomial interpolation with derivatives, with points that are there twice, or along another axis than the first",
            None,
            "Use values at different points: np.moveaxis(y, axis, 0).",
        )


@rrule.register(interpolate.lagrange)
def lagrange_rrule(x, w):
    """The coefficients of the polynomial through points."""
    y = interpolate.lagrange(x, w)
    check_points(x, 0, 0)
    check_degree(y, x)
    back = differentiated(coefficients_through_points, np.array(x), np.array(w))[1]

    def lagrange_pullback(y_bar):
        return NoTangent(), *points_bars(back(coefficients_bar(y_bar, len(x))), x, w)

    return y, lagrange_pullback


def check_degree(polynomial: Any, x: Any) -> None:
    """Refuse a polynomial of a lower degree than the points could have: the object does not have the highest powers, on which a
    change of the points has an effect."""
    if len(polynomial.coeffs) < len(x):
        raise MissingRuleError(
            "lagrange of points on a polynomial of a lower degree, of which the highest coefficients are left out",
            None,
            "Use barycentric_interpolate, or stop_gradient.",
        )


def coefficients_through_points(x: Any, w: Any) -> Any:
    """The coefficients of `through_points`, that of the highest power first."""
    total = np.zeros(len(x))
    for j in range(len(x)):
        factor = np.ones(1)
        for k in range(len(x)):
            if k != j:
                factor = np.convolve(factor, np.stack([1.0, -x[k]])) / (x[j] - x[k])
        total = total + w[j] * factor
    return total


# Polynomials as NumPy's older objects: their operators are not differentiated.


def coefficients_bar(polynomial_bar: Any, count: int) -> Any:
    """The cotangents of the coefficients."""
    found = None if is_structural_zero(polynomial_bar) else polynomial_bar.get("coeffs")
    return np.zeros(count) if is_structural_zero(found) else np.asarray(found)


@pullback(np.poly1d.__call__)
def poly1d_call_pullback(y_bar, self, val, *, y):
    """y = sum_k c_k x^k: c_bar_k = sum(y_bar * x^k), x_bar = y_bar * y'."""
    powers = np.vander(np.ravel(val), len(self.coeffs))
    value_bar = unbroadcast(y_bar * np.polyval(np.polyder(self.coeffs), val), val)
    return Tangent(np.poly1d, coeffs=unbroadcast(np.ravel(y_bar) @ powers, self.coeffs)), value_bar


def _declare_coefficients(name: str) -> None:
    @attribute_rule(np.poly1d, name)
    def coefficients_rrule(polynomial):
        """The coefficients themselves."""

        def coefficients_pullback(y_bar):
            return NoTangent(), Tangent(np.poly1d, coeffs=y_bar)

        return getattr(polynomial, name), coefficients_pullback


for _name in ("coeffs", "coef", "c", "coefficients"):
    _declare_coefficients(_name)


@rrule.register(interpolate.splev)
def splev_rrule(x, tck, der=0, ext=0):
    """The value of the spline with knots t, coefficients c and degree k."""
    y = interpolate.splev(x, tck, der, ext)
    check_spline(x, tck, ext)
    t, c, k = tck
    back = differentiated(spline_value, np.array(x, float), np.array(t), np.array(c), k, der)[1]

    def splev_pullback(y_bar):
        x_bar, t_bar, c_bar = points_bars(back(np.reshape(y_bar, np.shape(x)))[:4], x, t, c)
        return NoTangent(), x_bar, (t_bar, c_bar, NoTangent()), NoTangent(), NoTangent()

    return y, splev_pullback


def spline_value(x: Any, t: Any, c: Any, k: int, der: int) -> Any:
    """The spline as an object, at some places."""
    return interpolate.BSpline(t, c[: len(t) - k - 1], k)(x, der)


def check_spline(x: Any, tck: Any, ext: int) -> None:
    """Refuse curves in several coordinates, and what SciPy puts beyond the ends."""
    is_curve = not isinstance(tck, tuple | list) or np.ndim(tck[1]) != 1
    if is_curve or (ext and np.any((np.asarray(x) < tck[0][0]) | (np.asarray(x) > tck[0][-1]))):
        raise MissingRuleError(
            "splev of several coordinates, or beyond the ends with ext", None, "Call interpolate.BSpline(t, c, k)(x)."
        )


_PLACES = np.array([0.4, 1.9, 3.2])
_POINTS = np.array([0.0, 1.0, 2.5, 4.0])
_VALUES = np.array([1.0, 0.3, 2.0, 0.7])
_KNOTS = np.array([0.0, 0.0, 0.0, 0.0, 1.5, 2.5, 4.0, 4.0, 4.0, 4.0])
_COEFFICIENTS = np.array([0.7, -1.4, 2.2, 0.3, 1.2, -0.6, 0.0, 0.0, 0.0, 0.0])
for _f in (interpolate.krogh_interpolate, interpolate.barycentric_interpolate):
    examples(_f, (_POINTS, _VALUES, _PLACES), (_POINTS, _VALUES, 1.7), (_POINTS, np.stack([_VALUES, _POINTS], 1), _PLACES))
examples(np.poly1d.__call__, (np.poly1d(_VALUES), 1.3), (np.poly1d(_VALUES), _PLACES))
examples(interpolate.splev, (_PLACES, (_KNOTS, _COEFFICIENTS, 3)), (1.7, (_KNOTS, _COEFFICIENTS, 3), 1))
for _name in ("coeffs", "coef", "c", "coefficients"):
    examples(getattr, (np.poly1d(_VALUES), _name))
examples(interpolate.lagrange, (_POINTS, _VALUES))
