"""scipy.special: Bessel functions and their kin. They have derivatives in their argument; in their order they are refused.

    J_v' = (J_(v-1) - J_(v+1)) / 2, the same for Y and for Hankel's functions    I_v' = (I_(v-1) + I_(v+1)) / 2
    K_v' = -(K_(v-1) + K_(v+1)) / 2                                              (DLMF 10.6.1, 10.29.1)

The scaled ones (`ive`) are these times an exponential, of the real or imaginary part for some: with such a factor they have no
complex derivative, and the cotangent is that of both parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import examples
from microgradpy.rules.scipy.special.operands import shifted
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent

_TABLE = np.array([[0.3, 1.7, 0.6], [2.9, 0.8, 4.2]])
_STACK = np.linspace(0.4, 2.6, 12).reshape(2, 3, 2)
_COMPLEX = np.array([0.5 + 0.3j, 0.7 + 1.6j, 1.1 - 0.4j])
_EMPTY = np.zeros((0, 3))
_POSITIVE = ((0.7,), (2,), (_TABLE,), (_STACK,), (_EMPTY,), ([0.5, 1.5],))
_REAL = (*_POSITIVE, (-0.8,), (-_TABLE,))
_ORDERS = ((1, 0.7), (0, _TABLE), (np.array([0, 1, 3]), _TABLE), (np.array([[1], [2]]), 1.5), (2, _EMPTY),
           (1, [0.5, 1.5]), (3, 2))  # fmt: skip
_COMPLEX_TOO = (*_ORDERS, (1, _COMPLEX), (np.array([0, 1, 3]), -_COMPLEX), (2, 0.4 - 0.3j))


@derivative(special.j0)
def j0_derivative(x):
    """-J_1(x)."""
    return -special.j1(x)


@derivative(special.j1)
def j1_derivative(x):
    """(J_0(x) - J_2(x)) / 2."""
    return 0.5 * (special.j0(x) - special.jv(2, x))


@derivative(special.y0)
def y0_derivative(x):
    """-Y_1(x)."""
    return -special.y1(x)


@derivative(special.y1)
def y1_derivative(x):
    """(Y_0(x) - Y_2(x)) / 2."""
    return 0.5 * (special.y0(x) - special.yn(2.0, x))


@derivative(special.i0)
def i0_derivative(x):
    """I_1(x)."""
    return special.i1(x)


@derivative(special.i1)
def i1_derivative(x):
    """(I_0(x) + I_2(x)) / 2."""
    return 0.5 * (special.i0(x) + special.iv(2, x))


@derivative(special.i0e)
def i0e_derivative(x, *, y):
    """y = exp(-|x|) I_0(x): x_bar = y_bar * (exp(-|x|) I_1(x) - sign(x) y)."""
    return special.i1e(x) - np.sign(x) * y


@derivative(special.i1e)
def i1e_derivative(x, *, y):
    """y = exp(-|x|) I_1(x): x_bar = y_bar * (exp(-|x|) (I_0(x) + I_2(x)) / 2 - sign(x) y)."""
    return 0.5 * (special.i0e(x) + special.ive(2, x)) - np.sign(x) * y


@derivative(special.k0)
def k0_derivative(x):
    """-K_1(x)."""
    return -special.k1(x)


@derivative(special.k1)
def k1_derivative(x):
    """-(K_0(x) + K_2(x)) / 2."""
    return -0.5 * (special.k0(x) + special.kn(2.0, x))


@derivative(special.k0e)
def k0e_derivative(x, *, y):
    """y = exp(x) K_0(x): x_bar = y_bar * (y - exp(x) K_1(x))."""
    return y - special.k1e(x)


@derivative(special.k1e)
def k1e_derivative(x, *, y):
    """y = exp(x) K_1(x): x_bar = y_bar * (y - exp(x) (K_0(x) + K_2(x)) / 2)."""
    return y - 0.5 * (special.k0e(x) + special.kve(2, x))


for _f in (special.j0, special.j1, special.i0, special.i1, special.i0e, special.i1e):
    examples(_f, *_REAL)
for _f in (special.y0, special.y1, special.k0, special.k1, special.k0e, special.k1e):
    examples(_f, *_POSITIVE)


@pullback(special.jv)
@pullback(special.yv)
@pullback(special.hankel1)
@pullback(special.hankel2)
def bessel_pullback(y_bar, v, z, *, f):
    """z_bar = y_bar * conj(f_(v-1) - f_(v+1)) / 2, of which the real part if z is real: J, Y and the functions of Hankel."""
    slope = 0.5 * (f(shifted(v, -1.0), z) - f(shifted(v, 1.0), z))
    return not_implemented(IN_ORDER), unbroadcast(y_bar * conj(slope), z)


IN_ORDER = "of a Bessel function in its order"


@pullback(special.yn)
def yn_pullback(y_bar, n, x):
    """x_bar = y_bar * (Y_(n-1) - Y_(n+1)) / 2."""
    slope = 0.5 * (special.yn(np.subtract(n, 1), x) - special.yn(np.add(n, 1), x))
    return NoTangent(), unbroadcast(y_bar * slope, x)


@pullback(special.iv)
def iv_pullback(y_bar, v, z):
    """z_bar = y_bar * (I_(v-1) + I_(v+1)) / 2."""
    slope = 0.5 * (special.iv(shifted(v, -1.0), z) + special.iv(shifted(v, 1.0), z))
    return not_implemented(IN_ORDER), unbroadcast(y_bar * conj(slope), z)


@pullback(special.kv)
def kv_pullback(y_bar, v, z):
    """z_bar = -y_bar * (K_(v-1) + K_(v+1)) / 2."""
    slope = -0.5 * (special.kv(shifted(v, -1.0), z) + special.kv(shifted(v, 1.0), z))
    return not_implemented(IN_ORDER), unbroadcast(y_bar * conj(slope), z)


@pullback(special.kn)
def kn_pullback(y_bar, n, x):
    """x_bar = -y_bar * (K_(n-1) + K_(n+1)) / 2."""
    slope = -0.5 * (special.kn(np.absolute(np.subtract(n, 1)), x) + special.kn(np.add(n, 1), x))
    return NoTangent(), unbroadcast(y_bar * slope, x)


for _f in (special.jv, special.yv, special.iv, special.kv, special.hankel1, special.hankel2):
    examples(_f, *_COMPLEX_TOO)
for _f in (special.yn, special.kn):
    examples(_f, *_ORDERS)


@pullback(special.jve)
@pullback(special.yve)
def scaled_bessel_pullback(y_bar, v, z, *, y, f):
    """y = exp(-|Im z|) f_v(z), of J and Y: the part of the exponential is i sign(Im z) Re(conj(y_bar) y)."""
    slope = 0.5 * (f(shifted(v, -1.0), z) - f(shifted(v, 1.0), z))
    return not_implemented(IN_ORDER), unbroadcast(y_bar * conj(slope) - 1j * faded(y_bar, y, np.imag(z)), z)


@pullback(special.ive)
def ive_pullback(y_bar, v, z, *, y):
    """y = exp(-|Re z|) I_v(z): the part of the exponential is sign(Re z) Re(conj(y_bar) y)."""
    slope = 0.5 * (special.ive(shifted(v, -1.0), z) + special.ive(shifted(v, 1.0), z))
    return not_implemented(IN_ORDER), unbroadcast(y_bar * conj(slope) - faded(y_bar, y, np.real(z)), z)


def faded(y_bar: Any, y: Any, part: Any) -> Any:
    """What the factor exp(-|part|) takes from the cotangent of the part."""
    return np.sign(part) * np.real(conj(y) * y_bar)


@pullback(special.kve)
def kve_pullback(y_bar, v, z, *, y):
    """y = exp(z) K_v(z): z_bar = y_bar * (y - exp(z) (K_(v-1) + K_(v+1)) / 2)."""
    slope = y - 0.5 * (special.kve(shifted(v, -1.0), z) + special.kve(shifted(v, 1.0), z))
    return not_implemented(IN_ORDER), unbroadcast(y_bar * conj(slope), z)


@pullback(special.hankel1e)
def hankel1e_pullback(y_bar, v, z, *, y):
    """y = exp(-i z) H_v(z): z_bar = y_bar * conj(exp(-i z) (H_(v-1) - H_(v+1)) / 2 - i y)."""
    slope = 0.5 * (special.hankel1e(shifted(v, -1.0), z) - special.hankel1e(shifted(v, 1.0), z)) - 1j * y
    return not_implemented(IN_ORDER), unbroadcast(y_bar * conj(slope), z)


@pullback(special.hankel2e)
def hankel2e_pullback(y_bar, v, z, *, y):
    """y = exp(i z) H_v(z): z_bar = y_bar * conj(exp(i z) (H_(v-1) - H_(v+1)) / 2 + i y)."""
    slope = 0.5 * (special.hankel2e(shifted(v, -1.0), z) - special.hankel2e(shifted(v, 1.0), z)) + 1j * y
    return not_implemented(IN_ORDER), unbroadcast(y_bar * conj(slope), z)


for _f in (special.jve, special.yve, special.ive, special.kve, special.hankel1e, special.hankel2e):
    examples(_f, *_COMPLEX_TOO)
