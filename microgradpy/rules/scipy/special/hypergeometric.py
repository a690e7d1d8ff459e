"""scipy.special: hypergeometric functions and orthogonal polynomials.

Their derivatives in the last argument are of the same kind with other parameters (DLMF 13.3, 15.5, 16.3 and 18.9); in their
parameters they are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples
from microgradpy.rules.scipy.special.operands import numbers, shifted
from microgradpy.tangents.arithmetic import conj, divide, unbroadcast
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent

IN_PARAMETER = "of a hypergeometric function in a parameter"
IN_DEGREE = "of a polynomial in its degree or in a parameter"

_TABLE = np.array([[0.3, 1.7, 0.6], [2.9, 0.8, 4.2]])
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j, 0.1 - 0.4j])
_EMPTY = np.zeros((0, 3))
_WHOLE = np.array([1, 2, 3])


@pullback(special.hyp0f1)
def hyp0f1_pullback(y_bar, v, z):
    """z_bar = y_bar * F(v + 1, z) / v."""
    slope = divide(special.hyp0f1(shifted(v, 1.0), z), numbers(v))
    return not_implemented(IN_PARAMETER), unbroadcast(y_bar * conj(slope), z)


@pullback(special.hyp1f1)
def hyp1f1_pullback(y_bar, a, b, x):
    """x_bar = y_bar * a / b * M(a + 1, b + 1, x)."""
    slope = divide(numbers(a), numbers(b)) * special.hyp1f1(shifted(a, 1.0), shifted(b, 1.0), x)
    return not_implemented(IN_PARAMETER), not_implemented(IN_PARAMETER), unbroadcast(y_bar * conj(slope), x)


@pullback(special.hyperu)
def hyperu_pullback(y_bar, a, b, x):
    """x_bar = -y_bar * a * U(a + 1, b + 1, x)."""
    slope = -numbers(a) * special.hyperu(shifted(a, 1.0), shifted(b, 1.0), x)
    return not_implemented(IN_PARAMETER), not_implemented(IN_PARAMETER), unbroadcast(y_bar * slope, x)


@pullback(special.hyp2f1)
def hyp2f1_pullback(y_bar, a, b, c, z):
    """z_bar = y_bar * a b / c * F(a + 1, b + 1; c + 1; z)."""
    next_one = special.hyp2f1(shifted(a, 1.0), shifted(b, 1.0), shifted(c, 1.0), z)
    slope = divide(numbers(a) * numbers(b), numbers(c)) * next_one
    return (
        not_implemented(IN_PARAMETER),
        not_implemented(IN_PARAMETER),
        not_implemented(IN_PARAMETER),
        unbroadcast(y_bar * conj(slope), z),
    )


examples(
    special.hyp0f1,
    (2, 0.7),
    (2, _TABLE),
    (_WHOLE, -_TABLE),
    (_WHOLE[:, None], 1.5),
    (1, _COMPLEX),
    (2, _EMPTY),
    (1, [0.5, 1.5]),
)
examples(special.hyp1f1, (2, 3, 0.7), (1, 2, _TABLE), (_WHOLE, 4, -_TABLE), (1, _WHOLE, 1.5), (1, 2, _COMPLEX), (1, 2, _EMPTY))
examples(special.hyperu, (2, 3, 0.7), (1, 2, _TABLE), (_WHOLE, 4, _TABLE), (1, 2, _EMPTY), (1, 2, [0.5, 1.5]))
examples(
    special.hyp2f1,
    (1, 2, 3, 0.7),
    (1, 2, 3, _TABLE / -2.0),
    (_WHOLE, 4, 2, _TABLE / 9.0),
    (1, 2, 3, _COMPLEX),
    (1, 2, 3, _EMPTY),
)


@pullback(special.eval_legendre)
def eval_legendre_pullback(y_bar, n, x):
    """x_bar = y_bar * C_(n-1)^(3/2)(x), a polynomial of Gegenbauer's."""
    slope = special.eval_gegenbauer(np.subtract(n, 1), 1.5, x)
    return not_implemented(IN_DEGREE), unbroadcast(y_bar * conj(slope), x)


@pullback(special.eval_chebyt)
def eval_chebyt_pullback(y_bar, n, x):
    """x_bar = y_bar * n U_(n-1)(x)."""
    slope = numbers(n) * special.eval_chebyu(np.subtract(n, 1), x)
    return not_implemented(IN_DEGREE), unbroadcast(y_bar * conj(slope), x)


@pullback(special.eval_chebyu)
def eval_chebyu_pullback(y_bar, n, x):
    """x_bar = y_bar * 2 C_(n-1)^2(x)."""
    slope = 2.0 * special.eval_gegenbauer(np.subtract(n, 1), 2.0, x)
    return not_implemented(IN_DEGREE), unbroadcast(y_bar * conj(slope), x)


@pullback(special.eval_gegenbauer)
def eval_gegenbauer_pullback(y_bar, n, alpha, x):
    """x_bar = y_bar * 2 a C_(n-1)^(a+1)(x)."""
    slope = 2.0 * numbers(alpha) * special.eval_gegenbauer(np.subtract(n, 1), np.add(alpha, 1.0), x)
    return not_implemented(IN_DEGREE), not_implemented(IN_DEGREE), unbroadcast(y_bar * conj(slope), x)


@pullback(special.eval_hermite)
def eval_hermite_pullback(y_bar, n, x):
    """x_bar = y_bar * 2 n H_(n-1)(x)."""
    slope = 2.0 * numbers(n) * special.eval_hermite(np.maximum(np.subtract(n, 1), 0), x)
    return NoTangent(), unbroadcast(y_bar * slope, x)


@pullback(special.eval_hermitenorm)
def eval_hermitenorm_pullback(y_bar, n, x):
    """x_bar = y_bar * n He_(n-1)(x)."""
    slope = numbers(n) * special.eval_hermitenorm(np.maximum(np.subtract(n, 1), 0), x)
    return NoTangent(), unbroadcast(y_bar * slope, x)


@pullback(special.eval_laguerre)
def eval_laguerre_pullback(y_bar, n, x):
    """x_bar = -y_bar * L_(n-1)^1(x)."""
    return not_implemented(IN_DEGREE), unbroadcast(y_bar * conj(laguerre_slope(n, 0.0, x)), x)


@pullback(special.eval_genlaguerre)
def eval_genlaguerre_pullback(y_bar, n, alpha, x):
    """x_bar = -y_bar * L_(n-1)^(a+1)(x)."""
    slope = laguerre_slope(n, alpha, x)
    return not_implemented(IN_DEGREE), not_implemented(IN_DEGREE), unbroadcast(y_bar * conj(slope), x)


def laguerre_slope(n: Any, alpha: Any, x: Any) -> Any:
    """-L_(n-1)^(a+1)(x), and 0 for n = 0."""
    slope = -special.eval_genlaguerre(np.subtract(n, 1), np.add(alpha, 1.0), x)
    return np.where(np.equal(n, 0), 0.0, slope)[()]


@pullback(special.eval_jacobi)
def eval_jacobi_pullback(y_bar, n, alpha, beta, x):
    """x_bar = y_bar * (n + a + b + 1) / 2 * P_(n-1)^(a+1, b+1)(x)."""
    factor = 0.5 * (numbers(n) + numbers(alpha) + numbers(beta) + 1.0)
    slope = factor * special.eval_jacobi(np.subtract(n, 1), np.add(alpha, 1.0), np.add(beta, 1.0), x)
    return (
        not_implemented(IN_DEGREE),
        not_implemented(IN_DEGREE),
        not_implemented(IN_DEGREE),
        unbroadcast(y_bar * conj(np.where(np.equal(n, 0), 0.0, slope)), x),
    )


_DEGREES = ((2, 0.7), (0, _TABLE), (np.array([0, 1, 4]), _TABLE / 5.0), (np.array([[1], [2]]), 0.5), (2, _EMPTY),
            (3, [0.5, 1.5]), (1, -0.4))  # fmt: skip
for _f in (special.eval_legendre, special.eval_chebyt, special.eval_chebyu, special.eval_laguerre):
    examples(_f, *_DEGREES, (3, _COMPLEX))
for _f in (special.eval_hermite, special.eval_hermitenorm):
    examples(_f, *_DEGREES)
for _f in (special.eval_gegenbauer, special.eval_genlaguerre):
    examples(_f, *((n, 2, x) for n, x in _DEGREES), (3, 1, _COMPLEX))
examples(special.eval_jacobi, *((n, 2, 1, x) for n, x in _DEGREES), (3, 1, 2, _COMPLEX))
