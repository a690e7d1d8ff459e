"""scipy.special: Airy's, Kelvin's and Struve's functions, spherical Bessel functions, and derivatives of Bessel functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import example, examples
from microgradpy.rules.scipy.special.bessel import IN_ORDER
from microgradpy.rules.scipy.special.operands import numbers, shifted
from microgradpy.tangents.arithmetic import conj, divide, unbroadcast
from microgradpy.tangents.casts import python_number
from microgradpy.tangents.helpers import cotangent_of, cotangent_of_call
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent, is_structural_zero

_TABLE = np.array([[0.3, 1.7, 0.6], [2.9, 0.8, 4.2]])
_STACK = np.linspace(0.4, 2.6, 12).reshape(2, 3, 2)
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 1.6j, 1.1 - 0.4j])
_EMPTY = np.zeros((0, 3))
_POSITIVE = ((0.7,), (2,), (_TABLE,), (_STACK,), (_EMPTY,), ([0.5, 1.5],))
_ORDERS = ((1, 0.7), (0, _TABLE), (np.array([0, 1, 3]), _TABLE), (np.array([[1], [2]]), 1.5), (2, _EMPTY),
           (1, [0.5, 1.5]), (3, 2))  # fmt: skip


@pullback(special.airy)
def airy_pullback(y_bar, z, *, y):
    """(Ai, Ai', Bi, Bi'): Ai'' = z Ai, and the same for Bi."""
    return airy_bar(y_bar, z, y)


@cotangent_of(1)
def airy_bar(y_bar: Any, z: Any, y: Any) -> Any:
    """The cotangent of z, from those of the four results that are used."""
    z = numbers(z)
    slopes = (y[1], z * y[0], y[3], z * y[2])
    parts = [bar * conj(slope) for bar, slope in zip(y_bar, slopes, strict=True) if not is_structural_zero(bar)]
    return sum(parts, 0.0 * conj(z))


examples(special.airy, *_POSITIVE, (-1.3,), (_COMPLEX,))


@derivative(special.ber)
def ber_derivative(x):
    """berp(x)."""
    return special.berp(x)


@derivative(special.bei)
def bei_derivative(x):
    """beip(x)."""
    return special.beip(x)


@derivative(special.ker)
def ker_derivative(x):
    """kerp(x)."""
    return special.kerp(x)


@derivative(special.kei)
def kei_derivative(x):
    """keip(x)."""
    return special.keip(x)


@derivative(special.berp)
def berp_derivative(x, *, y):
    """The functions w = ber + i bei satisfy x w'' + w' = i x w (DLMF 10.61): x_bar = -y_bar * (bei(x) + y / x)."""
    return -(special.bei(x) + divide(y, numbers(x)))


@derivative(special.beip)
def beip_derivative(x, *, y):
    """(ber(x) - y / x)."""
    return special.ber(x) - divide(y, numbers(x))


@derivative(special.kerp)
def kerp_derivative(x, *, y):
    """-(kei(x) + y / x)."""
    return -(special.kei(x) + divide(y, numbers(x)))


@derivative(special.keip)
def keip_derivative(x, *, y):
    """(ker(x) - y / x)."""
    return special.ker(x) - divide(y, numbers(x))


for _f in (special.ber, special.bei, special.ker, special.kei, special.berp, special.beip, special.kerp, special.keip):
    examples(_f, *_POSITIVE)


@pullback(special.struve)
def struve_pullback(y_bar, v, x):
    """x_bar = y_bar * (H_(v-1) - H_(v+1) + (x / 2)^v / (sqrt(pi) Gamma(v + 3/2))) / 2 (DLMF 11.4.24)."""
    difference = special.struve(shifted(v, -1.0), x) - special.struve(shifted(v, 1.0), x)
    return not_implemented(IN_ORDER), unbroadcast(y_bar * (0.5 * (difference + struve_term(v, x))), x)


@pullback(special.modstruve)
def modstruve_pullback(y_bar, v, x):
    """x_bar = y_bar * (L_(v-1) + L_(v+1) + (x / 2)^v / (sqrt(pi) Gamma(v + 3/2))) / 2 (DLMF 11.4.26)."""
    total = special.modstruve(shifted(v, -1.0), x) + special.modstruve(shifted(v, 1.0), x)
    return not_implemented(IN_ORDER), unbroadcast(y_bar * (0.5 * (total + struve_term(v, x))), x)


@cotangent_of_call(np.add, 0, 1)
def struve_term(v: Any, x: Any) -> Any:
    """(x / 2)^v / (sqrt(pi) Gamma(v + 3/2))."""
    with np.errstate(all="ignore"):
        return np.power(0.5 * numbers(x), numbers(v)) * python_number(special.rgamma(numbers(v) + 1.5)) / math.sqrt(math.pi)


for _f in (special.struve, special.modstruve):
    examples(_f, *_ORDERS)


@pullback(special.spherical_jn)
@pullback(special.spherical_yn)
def spherical_bessel_pullback(y_bar, n, z, derivative=False, *, y, f):
    """z_bar = y_bar * f'(z), of j_n and y_n; f'' by Bessel's equation."""
    return NoTangent(), spherical_bar(y_bar, z, y, n, derivative, f, -1.0)


@pullback(special.spherical_in)
@pullback(special.spherical_kn)
def modified_spherical_bessel_pullback(y_bar, n, z, derivative=False, *, y, f):
    """z_bar = y_bar * f'(z), of i_n and k_n; f'' by the modified Bessel's equation."""
    return NoTangent(), spherical_bar(y_bar, z, y, n, derivative, f, 1.0)


@cotangent_of(1)
def spherical_bar(y_bar: Any, z: Any, y: Any, n: Any, derivative: bool, f: Any, sign: float) -> Any:
    """The cotangent of z, with z^2 f'' + 2 z f' = (sign z^2 + n (n + 1)) f for the derivative (DLMF 10.47)."""
    with np.errstate(all="ignore"):
        if not derivative:
            return unbroadcast(y_bar * conj(f(n, z, True)), z)
        z, factor = numbers(z), numbers(n) * (numbers(n) + 1.0)
        return unbroadcast(y_bar * conj((sign + factor / (z * z)) * f(n, z) - 2.0 * y / z), z)


for _f in (special.spherical_jn, special.spherical_yn, special.spherical_in, special.spherical_kn):
    examples(_f, *_ORDERS, (2, _COMPLEX))
    example(_f, 2, 0.7, True)
    example(_f, np.array([0, 1, 3]), _TABLE, derivative=True)


@pullback(special.jvp)
@pullback(special.yvp)
@pullback(special.ivp)
@pullback(special.kvp)
@pullback(special.h1vp)
@pullback(special.h2vp)
def bessel_slope_pullback(y_bar, v, z, n=1, *, f):
    """The n-th derivative of a Bessel function: z_bar = y_bar * the next one."""
    slope = f(v, z, np.add(n, 1))
    return not_implemented(IN_ORDER), unbroadcast(y_bar * conj(slope), z)


for _f in (special.jvp, special.yvp, special.ivp, special.kvp, special.h1vp, special.h2vp):
    examples(_f, *_ORDERS, (2, _COMPLEX), (1, 0.7, 2), (1, _TABLE, 0))
