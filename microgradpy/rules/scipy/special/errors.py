"""scipy.special: the error function and its kin, the normal distribution, and Fresnel's integrals.

The derivatives of erfcx, dawsn and wofz are differences that lose all digits far out; there the first terms of their
asymptotic series are summed (DLMF 7.12): with t = 1 / (2 x^2), series(t) = t - 3 t^2 + 15 t^3 - 105 t^4 + ...
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import examples
from microgradpy.rules.scipy.special.operands import numbers
from microgradpy.tangents.arithmetic import conj, divide, unbroadcast
from microgradpy.tangents.helpers import cotangent_of, like
from microgradpy.tangents.types import is_structural_zero

SLOPE = 2.0 / math.sqrt(math.pi)
HALF_ROOT_PI = math.sqrt(math.pi) / 2.0
ROOT_2_PI = math.sqrt(2.0 * math.pi)
ROOT_HALF = math.sqrt(0.5)
ROOT_2_OVER_PI = math.sqrt(2.0 / math.pi)

_FAR = 50.0
_TABLE = np.array([[0.3, -1.7, 0.6], [1.9, 0.8, -1.2]])
_STACK = np.linspace(-1.2, 1.4, 12).reshape(2, 3, 2)
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j, 1.1 - 0.4j])
_SINGLE = np.array([0.3, -0.9], np.float32)
_EMPTY = np.zeros((0, 3))
_REAL = ((0.3,), (-0.8,), (2,), (_TABLE,), (_STACK,), (_SINGLE,), (np.float32(0.3),), (_EMPTY,), ([0.5, 1.5],))
_ANYWHERE = (*_REAL, (_COMPLEX,), (0.4 - 0.7j,))
_SHARES = ((0.3,), (0.8,), (np.array([[0.1, 0.35], [0.6, 0.85]]),), (_SINGLE * _SINGLE + 0.1,), (_EMPTY,), ([0.5, 0.2],))


@like(0)
def bell(x: Any) -> Any:
    """exp(-x^2)."""
    with np.errstate(all="ignore"):
        x = numbers(x)
        return np.exp(-x * x)


@like(0)
def reversed_bell(x: Any) -> Any:
    """exp(x^2)."""
    with np.errstate(all="ignore"):
        x = numbers(x)
        return np.exp(x * x)


@derivative(special.erf)
def erf_derivative(x):
    """2 / sqrt(pi) * exp(-x^2)."""
    return SLOPE * bell(x)


@derivative(special.erfc)
def erfc_derivative(x):
    """-2 / sqrt(pi) * exp(-x^2)."""
    return -SLOPE * bell(x)


@derivative(special.erfi)
def erfi_derivative(x):
    """2 / sqrt(pi) * exp(x^2)."""
    return SLOPE * reversed_bell(x)


@derivative(special.erfcx)
def erfcx_derivative(x, *, y):
    """y = exp(x^2) erfc(x): x_bar = y_bar * (2 x y - 2 / sqrt(pi))."""
    return erfcx_slope(x, y)


@like(0)
def erfcx_slope(x: Any, y: Any) -> Any:
    """2 x y - 2 / sqrt(pi), of which the series takes the place far out on the right."""
    with np.errstate(all="ignore"):
        x = numbers(x)
        return np.where(np.real(x) > _FAR, -SLOPE * series(0.5 / (x * x)), 2.0 * x * y - SLOPE)[()]


def series(t: Any) -> Any:
    """t - 3 t^2 + 15 t^3 - 105 t^4 + 945 t^5, to all digits for t < 1 / 5000."""
    return t * (1.0 - 3.0 * t * (1.0 - 5.0 * t * (1.0 - 7.0 * t * (1.0 - 9.0 * t))))


@derivative(special.dawsn)
def dawsn_derivative(x, *, y):
    """1 - 2 x y."""
    return dawsn_slope(x, y)


@like(0)
def dawsn_slope(x: Any, y: Any) -> Any:
    """1 - 2 x y, of which the series takes the place far out."""
    with np.errstate(all="ignore"):
        x = numbers(x)
        is_far = np.absolute(np.real(x)) > _FAR + 2.0 * np.absolute(np.imag(x))
        return np.where(is_far, series(-0.5 / (x * x)), 1.0 - 2.0 * x * y)[()]


@pullback(special.wofz)
def wofz_pullback(y_bar, x, *, y):
    """y = exp(-x^2) erfc(-i x): x_bar = y_bar * conj(2 i / sqrt(pi) - 2 x y), of which the real part if x is real."""
    return unbroadcast(y_bar * conj(wofz_slope(x, y)), x)


def wofz_slope(x: Any, y: Any) -> Any:
    """2 i / sqrt(pi) - 2 x y, of which the series takes the place far out in the upper half plane."""
    with np.errstate(all="ignore"):
        x = numbers(x)
        is_far = (np.imag(x) >= 0.0) & (np.absolute(x) > _FAR)
        return np.where(is_far, 1j * SLOPE * series(-0.5 / (x * x)), 1j * SLOPE - 2.0 * x * y)[()]


for _f in (special.erf, special.erfc, special.erfi, special.erfcx, special.dawsn):
    examples(_f, *_ANYWHERE)
examples(special.wofz, (0.3,), (2,), (_TABLE,), (_STACK,), (_EMPTY,), ([0.5, 1.5],), (_COMPLEX,), (0.4 - 0.7j,))
examples(special.erfcx, (70.0,), (np.array([49.0, 200.0]),))
examples(special.dawsn, (70.0,), (np.array([49.0, -200.0]),))
examples(special.wofz, (70.0 + 30.0j,), (-3.0 + 90.0j,), (-80.0,))


@derivative(special.erfinv)
def erfinv_derivative(y, *, x):
    """x = erfinv(y): y_bar = x_bar * sqrt(pi) / 2 * exp(x^2)."""
    return HALF_ROOT_PI * reversed_bell(x)


@derivative(special.erfcinv)
def erfcinv_derivative(y, *, x):
    """x = erfcinv(y): y_bar = -x_bar * sqrt(pi) / 2 * exp(x^2)."""
    return -HALF_ROOT_PI * reversed_bell(x)


examples(special.erfinv, *_SHARES, (-0.4,))
examples(special.erfcinv, *_SHARES, (1.4,))


@derivative(special.ndtr)
def ndtr_derivative(x):
    """exp(-x^2 / 2) / sqrt(2 pi)."""
    return bell(numbers(x) * ROOT_HALF) / ROOT_2_PI


@derivative(special.log_ndtr)
def log_ndtr_derivative(x):
    """sqrt(2 / pi) / erfcx(-x / sqrt(2)), the density over the distribution without their exponentials."""
    return divide(ROOT_2_OVER_PI, special.erfcx(numbers(x) * -ROOT_HALF))


@derivative(special.ndtri)
def ndtri_derivative(y, *, x):
    """x = ndtri(y): y_bar = x_bar * sqrt(2 pi) exp(x^2 / 2)."""
    return ROOT_2_PI * reversed_bell(x * ROOT_HALF)


@derivative(special.ndtri_exp)
def ndtri_exp_derivative(y, *, x):
    """x = ndtri(exp(y)): y_bar = x_bar * sqrt(pi / 2) erfcx(-x / sqrt(2))."""
    return special.erfcx(x * -ROOT_HALF) / ROOT_2_OVER_PI


examples(special.ndtr, *_REAL, (_COMPLEX,))
examples(special.log_ndtr, *_REAL, (_COMPLEX,), (-40.0,), (np.array([-300.0, 6.0]),))
examples(special.ndtri, *_SHARES)
examples(special.ndtri_exp, *((-np.asarray(y, np.asarray(y).dtype),) for (y,) in _SHARES), (-30.0,))


@pullback(special.owens_t)
def owens_t_pullback(y_bar, h, a):
    """h_bar = -y_bar * exp(-h^2 / 2) erf(a h / sqrt(2)) / sqrt(8 pi) and
    a_bar = y_bar * exp(-h^2 (1 + a^2) / 2) / (2 pi (1 + a^2))."""
    slopes = owens_t_slopes(h, a)
    return unbroadcast(y_bar * slopes[0], h), unbroadcast(y_bar * slopes[1], a)


def owens_t_slopes(h: Any, a: Any) -> tuple[Any, Any]:
    """The derivatives in h and a."""
    with np.errstate(all="ignore"):
        h, a = numbers(h), numbers(a)
        in_h = bell(h * ROOT_HALF) * special.erf(a * h * ROOT_HALF) / (-2.0 * ROOT_2_PI)
        return in_h, bell(h * np.hypot(1.0, a) * ROOT_HALF) / (2.0 * math.pi * (1.0 + a * a))


@pullback(special.voigt_profile)
def voigt_profile_pullback(y_bar, x, sigma, gamma):
    """y = Re w(z) / (sigma sqrt(2 pi)) with z = (x + i gamma) / (sigma sqrt(2)), w = wofz, w' = 2 i / sqrt(pi) - 2 z w."""
    slopes = voigt_slopes(x, sigma, gamma)
    return unbroadcast(y_bar * slopes[0], x), unbroadcast(y_bar * slopes[1], sigma), unbroadcast(y_bar * slopes[2], gamma)


def voigt_slopes(x: Any, sigma: Any, gamma: Any) -> tuple[Any, Any, Any]:
    """The derivatives in x, sigma and gamma."""
    with np.errstate(all="ignore"):
        sigma = numbers(sigma)
        z = (numbers(x) + 1j * numbers(gamma)) * (ROOT_HALF / sigma)
        w = special.wofz(z)
        slope = wofz_slope(z, w)
        height = 1.0 / (sigma * ROOT_2_PI)
        in_x = slope * (height * ROOT_HALF / sigma)
        return np.real(in_x), -np.real(w + slope * z) * (height / sigma), -np.imag(in_x)


_BROADCAST = ((0.7, 1.4), (_TABLE, 0.6), (1.3, _TABLE), (_TABLE[:, :1], _TABLE[0]), (2, _STACK), (_EMPTY, 1.5))
examples(special.owens_t, *_BROADCAST, (_SINGLE, _SINGLE))
examples(special.voigt_profile, *((x, np.absolute(y), 0.8) for x, y in _BROADCAST), (90.0, 1, 2.0))
examples(special.voigt_profile, (0.3, 0.7, np.array([0.4, 1.5])))


@pullback(special.fresnel)
def fresnel_pullback(y_bar, x):
    """(s, c), the integrals of sin(pi x^2 / 2) and cos(pi x^2 / 2): x_bar = s_bar * sin(...) + c_bar * cos(...)."""
    return fresnel_bar(y_bar, x)


@cotangent_of(1)
def fresnel_bar(y_bar: Any, x: Any) -> Any:
    """The cotangent of x, of whose two results one may be unused."""
    x = numbers(x)
    angle = conj(0.5 * math.pi * x * x)
    s_bar, c_bar = (0.0 * conj(x) if is_structural_zero(bar) else bar for bar in y_bar)
    return s_bar * np.sin(angle) + c_bar * np.cos(angle)


examples(special.fresnel, *_ANYWHERE)
