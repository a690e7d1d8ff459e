"""scipy.special: exponential, sine and elliptic integrals, the dilogarithm, and Lambert's W."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import examples
from microgradpy.rules.scipy.special.operands import exponential, numbers, rounded_like
from microgradpy.tangents.arithmetic import conj, divide, unbroadcast
from microgradpy.tangents.casts import python_number
from microgradpy.tangents.helpers import cotangent_of, like
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import is_structural_zero

_TABLE = np.array([[0.3, 1.7, 0.6], [2.9, 0.8, 4.2]])
_STACK = np.linspace(0.4, 2.6, 12).reshape(2, 3, 2)
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 1.6j, 1.1 - 0.4j])
_SINGLE = np.array([0.3, 0.9], np.float32)
_EMPTY = np.zeros((0, 3))
_POSITIVE = ((0.7,), (2,), (_TABLE,), (_STACK,), (_SINGLE,), (_EMPTY,), ([0.5, 1.5],))
_ORDERS = ((1, 0.7), (0, _TABLE), (np.array([0, 1, 3]), _TABLE), (np.array([[1], [2]]), 1.5), (2, _EMPTY),
           (1, [0.5, 1.5]), (3, 2))  # fmt: skip


@derivative(special.exp1)
def exp1_derivative(x):
    """-exp(-x) / x."""
    return divide(-exponential(-numbers(x)), numbers(x))


@derivative(special.expi)
def expi_derivative(x):
    """exp(x) / x."""
    return divide(exponential(x), numbers(x))


@pullback(special.expn)
def expn_pullback(y_bar, n, x):
    """x_bar = -y_bar * E_(n-1)(x) (DLMF 8.19.13), where E_0(x) = exp(-x) / x and E_(-1)(x) = exp(-x) (1 + 1/x) / x."""
    return not_implemented("of an exponential integral in its order"), expn_bar(y_bar, x, n)


@cotangent_of(1)
def expn_bar(y_bar: Any, x: Any, n: Any) -> Any:
    """The cotangent of x."""
    with np.errstate(all="ignore"):
        z = numbers(x)
        before = special.expn(np.maximum(np.subtract(n, 1), 0), z)
        return unbroadcast(-y_bar * np.where(np.equal(n, 0), np.exp(-z) * (1.0 + 1.0 / z) / z, before), x)


examples(special.exp1, *_POSITIVE, (_COMPLEX,))
examples(special.expi, *_POSITIVE, (-0.8,), (_COMPLEX,))
examples(special.expn, *_ORDERS)


@derivative(special.spence)
def spence_derivative(z):
    """log(z) / (1 - z), which is -1 at z = 1."""
    return spence_slope(z)


@like(0)
def spence_slope(z: Any) -> Any:
    """log(z) / (1 - z)."""
    with np.errstate(all="ignore"):
        z = numbers(z)
        return np.where(np.equal(z, 1.0), -1.0, np.log(z) / (1.0 - z)).astype(z.dtype if hasattr(z, "dtype") else float)[()]


examples(special.spence, *_POSITIVE, (1.0,), (_COMPLEX,))


@pullback(special.sici)
def sici_pullback(y_bar, x):
    """(Si, Ci): x_bar = s_bar * sin(x) / x + c_bar * cos(x) / x."""
    return pair_bar(y_bar, x, np.sin, np.cos)


@pullback(special.shichi)
def shichi_pullback(y_bar, x):
    """(Shi, Chi): x_bar = s_bar * sinh(x) / x + c_bar * cosh(x) / x."""
    return pair_bar(y_bar, x, np.sinh, np.cosh)


@cotangent_of(1)
def pair_bar(y_bar: Any, x: Any, odd: Any, even: Any) -> Any:
    """The cotangent of x under the integrals of odd(x) / x, which is 1 at 0, and of even(x) / x."""
    with np.errstate(all="ignore"):
        x = numbers(x)
        slopes = (np.where(np.equal(x, 0.0), 1.0, odd(x) / x), even(x) / x)
        parts = [bar * conj(slope) for bar, slope in zip(y_bar, slopes, strict=True) if not is_structural_zero(bar)]
        return sum(parts, 0.0 * conj(x))


for _f in (special.sici, special.shichi):
    examples(_f, *_POSITIVE, (_COMPLEX,))


@pullback(special.lambertw)
def lambertw_pullback(w_bar, z, k=0, tol=1e-08, *, w):
    """w exp(w) = z: z_bar = w_bar / conj(exp(w) (1 + w)), of which the real part if z is real."""
    return unbroadcast(divide(w_bar, conj(np.exp(w) * (1.0 + w))), z)


@derivative(special.wrightomega)
def wrightomega_derivative(z, *, w):
    """w + log(w) = z: z_bar = w_bar * w / (1 + w)."""
    return divide(w, 1.0 + w)


examples(special.lambertw, (0.7,), (2,), (_TABLE,), (_EMPTY,), ([0.5, 1.5],), (_COMPLEX,), (0.0,), (0.7, 1), (_COMPLEX, -1))
examples(special.wrightomega, *_POSITIVE, (-0.8,), (_COMPLEX,))


@pullback(special.ellipk)
def ellipk_pullback(y_bar, m, *, y):
    """m_bar = y_bar * (y - D) / (2 (1 - m)) with D = (K - E) / m = R_D(0, 1 - m, 1) / 3 (DLMF 19.4.1 and 19.25.1)."""
    rest = 1.0 - numbers(m)
    return y_bar * divide(y - special.elliprd(0.0, rest, 1.0) / 3.0, 2.0 * rest)


@derivative(special.ellipkm1)
def ellipkm1_derivative(p, *, y):
    """K(1 - p): p_bar = -y_bar * (y - R_D(0, p, 1) / 3) / (2 p)."""
    return divide(special.elliprd(0.0, p, 1.0) / 3.0 - y, 2.0 * numbers(p))


@derivative(special.ellipe)
def ellipe_derivative(m):
    """-R_D(0, 1 - m, 1) / 6."""
    return special.elliprd(0.0, 1.0 - numbers(m), 1.0) / -6.0


_MODULI = ((0.7,), (-0.8,), (0.0,), (_TABLE / 5.0,), (-_STACK,), (_SINGLE / 2.0,), (_EMPTY,), ([0.5, 0.2],))
examples(special.ellipk, *_MODULI)
examples(special.ellipkm1, *_POSITIVE)
examples(special.ellipe, *_MODULI)


@derivative(special.ellipkinc)
def ellipkinc_derivative(phi, m, *, y):
    """phi_bar = y_bar / d with d = sqrt(1 - m sin(phi)^2), m_bar = y_bar * (y - D - sin(phi) cos(phi) / d) / (2 (1 - m)) with
    D = (F - E) / m (DLMF 19.4.5)."""
    return (
        divide(1.0, delta(phi, m)),
        divide(y - elliptic_d(phi, m) - half_sine(phi) / delta(phi, m), 2.0 * (1.0 - numbers(m))),
    )


@derivative(special.ellipeinc)
def ellipeinc_derivative(phi, m):
    """phi_bar = y_bar * sqrt(1 - m sin(phi)^2), m_bar = -y_bar * D / 2 with D = (F - E) / m (DLMF 19.4.6)."""
    return delta(phi, m), -0.5 * elliptic_d(phi, m)


def delta(phi: Any, m: Any) -> Any:
    """sqrt(1 - m sin(phi)^2)."""
    with np.errstate(all="ignore"):
        return np.sqrt(1.0 - numbers(m) * python_number(np.sin(numbers(phi))) ** 2)


@like(0)
def half_sine(phi: Any) -> Any:
    """sin(phi) cos(phi)."""
    return python_number(0.5 * np.sin(2.0 * numbers(phi)))


def elliptic_d(phi: Any, m: Any) -> Any:
    """The integral of sin(t)^2 / sqrt(1 - m sin(t)^2) from 0 to phi: that of the rest of phi by whole multiples of pi, and two
    complete ones for each of these (DLMF 19.25.13)."""
    with np.errstate(all="ignore"):
        phi, m = numbers(phi), numbers(m)
        turns = np.rint(phi / math.pi)
        sine = np.sin(phi - turns * math.pi)
        squared = sine * sine
        part = sine * squared * special.elliprd(1.0 - squared, 1.0 - m * squared, 1.0)
        whole = np.where(turns, special.elliprd(0.0, 1.0 - m, 1.0), 0.0)
        return rounded_like((part + 2.0 * turns * whole) / 3.0, phi, m)


_INCOMPLETE = ((0.7, 0.4), (0.7, 0.0), (_TABLE, 0.6), (1.3, -_TABLE), (_TABLE[:, :1], _TABLE[0] / 5.0), (2, 0.3), (_EMPTY, 0.5),
               (-7.5, 0.6), ([0.5, 1.5], 0.4))  # fmt: skip
for _f in (special.ellipkinc, special.ellipeinc):
    examples(_f, *_INCOMPLETE)


@pullback(special.ellipj)
def ellipj_pullback(y_bar, u, m, *, y):
    """(sn, cn, dn, ph): their derivatives in u are cn dn, -sn dn, -m sn cn and dn (DLMF 22.13)."""
    return ellipj_bar(y_bar, u, y, m), not_implemented("of Jacobi's elliptic functions in m")


@cotangent_of(1)
def ellipj_bar(y_bar: Any, u: Any, y: Any, m: Any) -> Any:
    """The cotangent of u, from those of the four results that are used."""
    sn, cn, dn, _ = y
    slopes = (cn * dn, -sn * dn, -numbers(m) * sn * cn, dn)
    parts = [bar * slope for bar, slope in zip(y_bar, slopes, strict=True) if not is_structural_zero(bar)]
    return unbroadcast(sum(parts, 0.0 * dn), u)


examples(special.ellipj, (0.7, 0), (_TABLE, 1), (_TABLE, np.array([0, 1, 0])), (0.4, np.array([1, 0])))
