"""scipy.special: logistic functions, logarithms, powers and other functions made of elementary ones.

With y = f(x): x_bar = y_bar * conj(f'(x)). Where a difference would lose digits, f' is written as a function that does not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import examples, non_differentiable
from microgradpy.rules.scipy.special.operands import exponential, logarithm, numbers
from microgradpy.tangents.arithmetic import divide, unbroadcast
from microgradpy.tangents.casts import python_number
from microgradpy.tangents.helpers import cotangent_of_call

LOG_2 = math.log(2.0)
LOG_10 = math.log(10.0)
DEGREE = math.pi / 180.0

_VECTOR = np.array([-1.1, 0.2, 3.0])
_TABLE = np.array([[0.3, 1.7, 0.6], [2.9, 0.8, 1.2]])
_STACK = np.linspace(0.2, 2.4, 12).reshape(2, 3, 2)
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j])
_SINGLE = np.array([0.3, 0.9], np.float32)
_EMPTY = np.zeros((0, 3))
_REAL = ((0.3,), (-0.8,), (2,), (_VECTOR,), (_TABLE,), (_STACK,), (_SINGLE,), (np.float32(0.3),), (_EMPTY,), ([0.5, 1.5],))
_PAIRS = ((0.7, 1.4), (_TABLE, 0.6), (1.3, _TABLE), (_TABLE, _TABLE[0]), (_TABLE[:, :1], _TABLE[0]), (_SINGLE, _SINGLE),
          (_STACK, _TABLE[:, :2].sum()), (2, _TABLE), (_EMPTY, 1.5), ([0.5, 1.5], 0.4))  # fmt: skip

non_differentiable(special.round, special.gammasgn)


@derivative(special.expit)
def expit_derivative(x, *, y):
    """y (1 - y), where 1 - y = expit(-x) has all its digits."""
    return y * special.expit(-numbers(x))


@derivative(special.log_expit)
def log_expit_derivative(x):
    """expit(-x)."""
    return special.expit(-numbers(x))


@derivative(special.expm1)
def expm1_derivative(x):
    """exp(x)."""
    return exponential(x)


@derivative(special.exp2)
def exp2_derivative(x, *, y):
    """y * log(2)."""
    return y * LOG_2


@derivative(special.exp10)
def exp10_derivative(x, *, y):
    """y * log(10)."""
    return y * LOG_10


@derivative(special.exprel)
def exprel_derivative(x):
    """y = (exp(x) - 1) / x = M(1, 2, x): x_bar = y_bar * M(2, 3, x) / 2, with Kummer's function M (DLMF 13.3.15)."""
    return 0.5 * special.hyp1f1(2.0, 3.0, x)


@derivative(special.cosm1)
def cosm1_derivative(x):
    """-sin(x)."""
    return -np.sin(numbers(x))


@derivative(special.cbrt)
def cbrt_derivative(x, *, y):
    """1 / (3 y^2), infinite at 0."""
    return divide(1.0, 3.0 * y * y)


for _f in (special.expit, special.log_expit, special.exp2, special.exp10, special.exprel, special.cosm1, special.cbrt):
    examples(_f, *_REAL)
examples(special.exprel, (0.0,), (np.array([1e-9, -30.0, 4.0]),))
examples(special.expm1, *_REAL, (_COMPLEX,))


@derivative(special.sindg)
def sindg_derivative(x):
    """cosdg(x) * pi / 180."""
    return special.cosdg(x) * DEGREE


@derivative(special.cosdg)
def cosdg_derivative(x):
    """-sindg(x) * pi / 180."""
    return special.sindg(x) * -DEGREE


@derivative(special.tandg)
def tandg_derivative(x, *, y):
    """(1 + y^2) * pi / 180."""
    return (1.0 + y * y) * DEGREE


@derivative(special.cotdg)
def cotdg_derivative(x, *, y):
    """-(1 + y^2) * pi / 180."""
    return (1.0 + y * y) * -DEGREE


for _f in (special.sindg, special.cosdg, special.tandg, special.cotdg):
    examples(_f, (33.0,), (-70,), (_TABLE * 40.0,), (_STACK * 20.0 + 1.0,), (_EMPTY,), (_SINGLE * 20,))


@pullback(special.radian)
def radian_pullback(y_bar, d, m, s):
    """d_bar = y_bar * pi / 180, and a 60th and a 3600th of it for minutes and seconds."""
    d_bar = y_bar * DEGREE
    return unbroadcast(d_bar, d), unbroadcast(d_bar / 60.0, m), unbroadcast(d_bar / 3600.0, s)


examples(special.radian, (33.0, 1.5, 2.5), (_TABLE, 1.5, _TABLE[0]), (_EMPTY, 1.0, 2.0))


@derivative(special.log1p)
def log1p_derivative(x):
    """1 / (1 + x)."""
    return divide(1.0, 1.0 + numbers(x))


@derivative(special.logit)
def logit_derivative(x):
    """1 / (x (1 - x)), infinite at 0 and 1."""
    return divide(1.0, numbers(x) * (1.0 - numbers(x)))


@derivative(special.entr)
def entr_derivative(x):
    """y = -x log(x): x_bar = -y_bar * (log(x) + 1), infinite at 0."""
    return -(logarithm(x) + 1.0)


examples(special.log1p, *((x,) for (x,) in _REAL if np.all(np.greater(x, -1.0))), (_COMPLEX,))
examples(special.logit, (0.3,), (_TABLE / 4.0,), (_STACK / 4.0 + 0.1,), (_SINGLE / 2,), (_EMPTY,), ([0.5, 0.2],))
examples(special.entr, (0.3,), (2,), (_TABLE,), (_STACK,), (_SINGLE,), (_EMPTY,), ([0.5, 1.5],))


@derivative(special.xlogy)
def xlogy_derivative(x, y):
    """z = x log(y): x_bar = z_bar * log(y), y_bar = z_bar * x / y, which is 0 where x is."""
    return logarithm(y), quotient_or_zero(x, y)


@derivative(special.xlog1py)
def xlog1py_derivative(x, y):
    """z = x log(1 + y): x_bar = z_bar * log(1 + y), y_bar = z_bar * x / (1 + y), which is 0 where x is."""
    return python_number(special.log1p(y)), quotient_or_zero(x, 1.0 + numbers(y))


@derivative(special.rel_entr)
def rel_entr_derivative(x, y):
    """z = x log(x / y): x_bar = z_bar * (log(x / y) + 1), y_bar = -z_bar * x / y."""
    return logarithm(divide(numbers(x), numbers(y))) + 1.0, -quotient_or_zero(x, y)


@derivative(special.kl_div)
def kl_div_derivative(x, y):
    """z = x log(x / y) - x + y: x_bar = z_bar * log(x / y), y_bar = z_bar * (1 - x / y)."""
    return logarithm(divide(numbers(x), numbers(y))), 1.0 - quotient_or_zero(x, y)


@cotangent_of_call(np.add, 0, 1)
def quotient_or_zero(x: Any, y: Any) -> Any:
    """x / y, and 0 where x is 0, whatever y is."""
    with np.errstate(all="ignore"):
        x, y = numbers(x), numbers(y)
        quotient = np.divide(x, y)
        return np.where(np.equal(x, 0.0) & ~np.isfinite(quotient), 0.0 * x, quotient)[()]


for _f in (special.xlogy, special.xlog1py):
    examples(_f, *_PAIRS, (_COMPLEX, 0.4), (_TABLE[0, :2], _COMPLEX), (0.0, 0.5), (-1.5, 2.0))
for _f in (special.rel_entr, special.kl_div):
    examples(_f, *_PAIRS)


@derivative(special.huber)
def huber_derivative(delta, r):
    """y = r^2 / 2 where |r| <= delta, else delta (|r| - delta / 2): delta_bar = y_bar * max(|r| - delta, 0), and
    r_bar = y_bar * r, cut to the interval from -delta to delta."""
    return np.maximum(abs(numbers(r)) - numbers(delta), 0.0), np.clip(numbers(r), -numbers(delta), numbers(delta))


@derivative(special.pseudo_huber)
def pseudo_huber_derivative(delta, r):
    """y = delta^2 (s - 1) with s = sqrt(1 + (r / delta)^2): delta_bar = y_bar * delta (s - 1)^2 / s, r_bar = y_bar * r / s."""
    return pseudo_huber_delta_slope(delta, r), pseudo_huber_slope(delta, r)


@cotangent_of_call(np.add, 0, 1)
def pseudo_huber_slope(delta: Any, r: Any) -> Any:
    """r / sqrt(1 + (r / delta)^2), and 0 for delta = 0, where y is 0."""
    return divide(numbers(r), np.hypot(1.0, divide(numbers(r), numbers(delta))))


@cotangent_of_call(np.add, 0, 1)
def pseudo_huber_delta_slope(delta: Any, r: Any) -> Any:
    """delta (s - 1)^2 / s, where s - 1 = (r / delta)^2 / (1 + s) has all its digits; |r| for delta = 0."""
    with np.errstate(all="ignore"):
        delta, r = numbers(delta), numbers(r)
        ratio = np.divide(r, delta)
        s = np.hypot(1.0, ratio)
        rise = ratio * (ratio / (1.0 + s))
        return np.where(np.equal(delta, 0.0), abs(r), delta * rise * (rise / s))[()]


_RESIDUALS = ((0.7, 1.4), (1.5, -0.3), (1.5, -2.5), (0.7, _VECTOR), (_TABLE, 1.3), (_TABLE[:, :1], _VECTOR), (2, _TABLE),
              (np.float32(0.5), _SINGLE), (_STACK, 1.1), (_EMPTY, 1.5), ([0.5, 1.5], 0.4))  # fmt: skip
for _f in (special.huber, special.pseudo_huber):
    examples(_f, *_RESIDUALS)
examples(special.pseudo_huber, (30.0, 0.2), (0.1, 3.0))
