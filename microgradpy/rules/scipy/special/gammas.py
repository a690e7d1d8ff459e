"""scipy.special: the gamma function, its logarithm and derivatives, and what is made of it.

    log Gamma(x)' = psi(x), the digamma function;   psi^(n)(x)' = psi^(n+1)(x), the polygamma functions

Formulas from DLMF, chapter 5.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import example, examples
from microgradpy.rules.scipy.special.operands import numbers
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.helpers import cotangent_of, cotangent_of_call, like
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent

_TABLE = np.array([[0.3, 1.7, 0.6], [2.9, 0.8, 4.2]])
_STACK = np.linspace(0.4, 2.6, 12).reshape(2, 3, 2)
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j, 1.1 - 0.4j, -4.3 - 0.2j])
_SINGLE = np.array([0.7, 1.9], np.float32)
_EMPTY = np.zeros((0, 3))
_POSITIVE = ((0.7,), (2,), (_TABLE,), (_STACK,), (_SINGLE,), (np.float32(0.7),), (_EMPTY,), ([0.5, 1.5],))
_REAL = (*_POSITIVE, (-0.4,), (np.array([-2.3, -1.6]),))
_PAIRS = ((0.7, 1.4), (_TABLE, 0.6), (1.3, _TABLE), (_TABLE[:, :1], _TABLE[0]), (_SINGLE, _SINGLE), (_STACK, 1.5),
          (2, _TABLE), (_EMPTY, 1.5), ([0.5, 1.5], 0.4))  # fmt: skip


@derivative(special.gamma)
def gamma_derivative(x, *, y):
    """y * psi(x)."""
    return y * special.psi(x)


@derivative(special.gammaln)
@derivative(special.loggamma)
def gammaln_derivative(x):
    """psi(x)."""
    return special.psi(x)


@derivative(special.rgamma)
def rgamma_derivative(x, *, y):
    """-y * psi(x), and y_bar * (-1)^n n! at the poles x = -n of the gamma function."""
    return rgamma_slope(x, y)


@like(0)
def rgamma_slope(x: Any, y: Any) -> Any:
    """The derivative of 1 / Gamma(x) = y."""
    with np.errstate(all="ignore"):
        x = numbers(x)
        is_pole = np.equal(x, np.floor(np.real(x))) & (np.real(x) <= 0.0)
        return np.where(is_pole, np.cos(math.pi * x) * special.gamma(1.0 - x), -y * special.psi(x))[()]


@derivative(special.psi)
def psi_derivative(x):
    """psi'(x)."""
    return trigamma(x)


@like(0)
def trigamma(x: Any) -> Any:
    """psi'(x) (DLMF 5.15)."""
    with np.errstate(all="ignore"):
        x = numbers(x)
        is_left = np.real(x) < 0.5
        if not np.iscomplexobj(x):
            right = _real_trigamma(np.where(is_left, 1.0 - x, x))
        else:
            right = _complex_trigamma(np.where(is_left, 1.0 - x, x))
        # psi'(x) + psi'(1 - x) = (pi / sin(pi x))^2
        return np.where(is_left, (math.pi / np.sin(math.pi * x)) ** 2 - right, right)[()]


def _real_trigamma(x: Any) -> Any:
    return special.zeta(2.0, x).astype(x.dtype)


def _complex_trigamma(x: Any) -> Any:
    """For numbers to the right of 1/2: raised by psi'(x) = psi'(x + 1) + 1 / x^2, then the asymptotic series."""
    total = sum(1.0 / (x + k) ** 2 for k in range(15))
    x = x + 15.0
    square = 1.0 / (x * x)
    series = np.zeros_like(x)
    for coefficient in (7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6):  # Bernoulli's numbers
        series = square * (coefficient + series)
    return total + (1.0 + 0.5 / x + series) / x


for _f in (special.gamma, special.gammaln, special.rgamma, special.psi):
    examples(_f, *_REAL)
for _f in (special.gamma, special.loggamma, special.rgamma, special.psi):
    examples(_f, (_COMPLEX,), (0.3 - 1.5j,))
examples(special.loggamma, *_POSITIVE)
examples(special.rgamma, (0.0,), (np.array([-1.0, -2.0, -3.0, 1.0]),), (-2,))


@pullback(special.polygamma)
def polygamma_pullback(y_bar, n, x):
    """x_bar = y_bar * psi^(n+1)(x)."""
    return NoTangent(), unbroadcast(y_bar * special.polygamma(np.add(n, 1), x), x)


examples(special.polygamma, (0, 0.7), (1, 2.5), (2, _TABLE), (np.array([0, 1, 3]), _TABLE), (np.array([[1], [2]]), 1.5))
examples(special.polygamma, (1, _EMPTY), (1, [0.5, 1.5]), (1, 2))


@pullback(special.multigammaln)
def multigammaln_pullback(y_bar, a, d):
    """a_bar = y_bar * (the sum of psi(a - j / 2) for j < d)."""
    return unbroadcast(y_bar * digammas(a, d), a)


@like(0)
def digammas(a: Any, d: int) -> Any:
    """The sum of psi(a - j / 2) for j < d."""
    return np.sum([special.psi(numbers(a) - 0.5 * j) for j in range(int(d))], axis=0)


examples(special.multigammaln, (2.7, 3), (_TABLE + 1.5, 4), (3, 1), (_EMPTY, 2))


@derivative(special.beta)
def beta_derivative(a, b, *, y):
    """a_bar = y_bar * y * (psi(a) - psi(a + b)), and the same in b."""
    return y * betaln_slope(a, b), y * betaln_slope(b, a)


@derivative(special.betaln)
def betaln_derivative(a, b):
    """a_bar = y_bar * (psi(a) - psi(a + b)), and the same in b."""
    return betaln_slope(a, b), betaln_slope(b, a)


@cotangent_of_call(np.add, 0, 1)
def betaln_slope(a: Any, b: Any) -> Any:
    """The derivative of log B(a, b) in a."""
    with np.errstate(all="ignore"):
        return special.psi(a) - special.psi(numbers(a) + numbers(b))


@derivative(special.poch)
def poch_derivative(z, m, *, y):
    """y = Gamma(z + m) / Gamma(z): z_bar = y_bar * y * (psi(z + m) - psi(z)), m_bar = y_bar * y * psi(z + m)."""
    return y * -betaln_slope(z, m), y * special.psi(numbers(z) + numbers(m))


for _f in (special.beta, special.betaln, special.poch):
    examples(_f, *_PAIRS)


@derivative(special.binom)
def binom_derivative(x, y, *, z):
    """z = Gamma(x + 1) / (Gamma(y + 1) Gamma(x - y + 1)): x_bar = z_bar * z * (psi(x + 1) - psi(x - y + 1)) and
    y_bar = z_bar * z * (psi(x - y + 1) - psi(y + 1))."""
    return z * digamma_difference(x, numbers(x) - numbers(y)), z * digamma_difference(numbers(x) - numbers(y), y)


@cotangent_of_call(np.add, 0, 1)
def digamma_difference(a: Any, b: Any) -> Any:
    """psi(a + 1) - psi(b + 1)."""
    with np.errstate(all="ignore"):
        return special.psi(numbers(a) + 1.0) - special.psi(numbers(b) + 1.0)


@pullback(special.comb)
def comb_pullback(z_bar, N, k, *, exact=False, repetition=False, z):
    """As `binom`, and 0 where k < 0 or k > N; an exact number is a whole one, without derivative."""
    return (
        comb_bar(z_bar, N, z, N, numbers(N) - numbers(k), exact, repetition),
        comb_bar(z_bar, k, z, numbers(N) - numbers(k), k, exact, repetition),
    )


def comb_bar(z_bar: Any, x: Any, z: Any, a: Any, b: Any, exact: bool, repetition: bool) -> Any:
    """The cotangent of N or k, named x here."""
    if exact:
        return NoTangent()
    if repetition:
        return not_implemented("of a number of combinations with repetition: write special.binom(N + k - 1, k)")
    return unbroadcast(np.where(np.equal(z, 0.0), 0.0, z_bar * z * digamma_difference(a, b)), x)


_CHOICES = ((5.5, 2.3), (_TABLE + 4.0, 1.6), (_TABLE + 4.0, _TABLE[0]), (7, 3), (_EMPTY, 1.5))
examples(special.binom, *_CHOICES, ([4.5, 5.5], 0.4), (_SINGLE, np.float32(0.5)))
examples(special.comb, *_CHOICES, (2.5, 4.5), ([4.5, 5.5], 0.4))
example(special.comb, 7, 3, exact=True)


@pullback(special.factorial)
def factorial_pullback(y_bar, n, exact=False, *, y):
    """y = Gamma(n + 1), and 0 for negative n: n_bar = y_bar * y * psi(n + 1). An exact number is a whole one."""
    return factorial_bar(y_bar, n, y, exact)


def factorial_bar(y_bar: Any, n: Any, y: Any, exact: bool) -> Any:
    """The cotangent of n."""
    if exact:
        return NoTangent()
    return unbroadcast(np.where(np.equal(y, 0.0), 0.0, y_bar * y * special.psi(numbers(n) + 1.0)), n)


examples(special.factorial, (2.5,), (_TABLE,), (-1.5,), (_EMPTY,), (4,))
example(special.factorial, 5, exact=True)


@pullback(special.zeta)
def zeta_pullback(y_bar, x, q=None):
    """Hurwitz's zeta function: q_bar = -y_bar * x * zeta(x + 1, q)."""
    return not_implemented("of the zeta function in its exponent x"), zeta_bar(y_bar, q, x)


@cotangent_of(1)
def zeta_bar(y_bar: Any, q: Any, x: Any) -> Any:
    """The cotangent of q."""
    return None if q is None else unbroadcast(y_bar * (-numbers(x) * special.zeta(numbers(x) + 1.0, q)), q)


examples(special.zeta, (2, 1.5), (3, _TABLE), (np.array([2, 3, 5]), _TABLE), (4, _EMPTY), (2, [0.5, 1.5]), (3,))
