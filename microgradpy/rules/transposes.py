"""Rules for what pullbacks call: by these, pullbacks are differentiated with respect to their seed, which gives forward mode.

Each is linear in the cotangent it is given, and its own pullback is the transposed map. Arguments of which only the shape
matters have none; of those that a pullback depends on besides, it would be a second derivative, which nobody asks for.
"""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np

from microgradpy.rules.builtins import chosen_bar
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.number_lists import for_each, for_one
from microgradpy.rules.numpy.creation.matrices import diag_bar
from microgradpy.rules.numpy.indexing import diagonal_bar
from microgradpy.rules.numpy.linear_algebra.products import inner_left_bar, inner_right_bar, kron_left_bar, kron_right_bar
from microgradpy.rules.numpy.mathematics.differences import cross_bar
from microgradpy.rules.registry import examples, non_differentiable
from microgradpy.tangents.arithmetic import accumulate, conj, divide, item_cotangent, own, real_like, unbroadcast
from microgradpy.tangents.casts import in_precision_of
from microgradpy.tangents.decompositions import largest, refuse_choice
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.linear import (
    dot_left_bar,
    dot_right_bar,
    expand_reduced,
    matmul_left_bar,
    matmul_right_bar,
    tensordot_left_bar,
    tensordot_right_bar,
)
from microgradpy.tangents.powers import power_base_bar, power_exponent_bar
from microgradpy.tangents.reading import item_tangent
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent

# They look at constants, to refuse or to choose, or at the dtype of a cotangent.
non_differentiable(largest, refuse_choice, in_precision_of)

_SECOND = "it would be a second derivative, by what the pullback of a rule reads"
_X = np.array([[0.3, -1.2, 2.0], [0.7, 0.1, -0.4]])
_V = np.array([1.5, -0.5, 0.25])
_Z = _X + 1j * _X[::-1]


@pullback(conj)
def conj_pullback(y_bar, x):
    """x_bar = conj(y_bar)."""
    return conj(y_bar)


examples(conj, (_X,), (_Z,), (1 + 2j,), (0.5,))


@pullback(unbroadcast)
def unbroadcast_pullback(y_bar, d, x, *, y):
    """What was summed is repeated, and what was repeated is summed. The value is None if x has truth values."""
    return unbroadcast(0.0 if y is None else y_bar, d)


examples(unbroadcast, (_X, _V), (_V, _X), (_X, 2.0), (2.0, _X), (_X, _X), (_Z, _V), (_Z, _Z), (1.5, 2.0))


@pullback(real_like)
def real_like_pullback(y_bar, d, x):
    """The imaginary part that was dropped has no cotangent."""
    return y_bar


examples(real_like, (_X, _X), (_Z, _X), (_Z, _Z), (1 + 2j, 0.5))


@pullback(divide)
def divide_pullback(y_bar, a, b, *, y):
    """a_bar = y_bar / conj(b), b_bar = -y_bar * conj(y / b)."""
    return unbroadcast(divide(y_bar, conj(b)), a), unbroadcast(-y_bar * conj(divide(y, b)), b)


examples(divide, (2.0, 0.5), (_X, _V), (_Z, _V), (_V, _Z), (1.5, _X))


@pullback(own)
def own_pullback(y_bar, x_bar):
    """Of a copy."""
    return y_bar


examples(own, (_X,), (2.0,))


@pullback(accumulate)
def accumulate_pullback(y_bar, a, b):
    """Of a sum."""
    return y_bar, y_bar


examples(accumulate, (_X, _X + 1.0), (2.0, 0.5))


@pullback(item_cotangent)
def item_cotangent_pullback(y_bar, x, index, d):
    """d_bar = the item of y_bar."""
    return NoTangent(), NoTangent(), item_tangent(x, index, y_bar)


examples(item_cotangent, (_X, 1, _V), (_X, (0, 2), 1.5), (_V, np.array([0, 2, 0]), _V), ([1.0, 2.0], 1, 0.5))


@pullback(expand_reduced)
def expand_reduced_pullback(x_bar, y_bar, x, axis, keepdims):
    """Repeating along the axes becomes the sum along them."""
    return np.sum(x_bar, axis=axis, keepdims=keepdims)


examples(expand_reduced, (2.0, _X, None, False), (_V, _X, 0, False), (_X[:, :1], _X, 1, True), (_Z[:, 0], _Z, -1, False))


@pullback(power_base_bar)
def power_base_bar_pullback(x_bar, z_bar, x, p):
    """A product with the slope."""
    return conj(power_base_bar(conj(x_bar), x, p)), not_implemented(_SECOND), not_implemented(_SECOND)


examples(power_base_bar, (0.5, 2.0, 3), (_X, _X + 2.0, 1.5), (_Z, _Z + 3.0, 2), (1.5 - 0.5j, -2.0, 0.5))


@pullback(power_exponent_bar)
def power_exponent_bar_pullback(p_bar, z_bar, x, p, z):
    """A product with the slope."""
    second = not_implemented(_SECOND)
    return power_exponent_dot(p_bar, x, p, z), second, second, second


examples(power_exponent_bar, (0.5, 2.0, 3.0, 8.0), (_X, _X + 2.0, 1.5, (_X + 2.0) ** 1.5), (0.5j, -2.0, 0.5, (-2.0) ** 0.5))


@cotangent_of(3)
def power_exponent_dot(p_dot: Any, x: Any, p: Any, z: Any) -> Any:
    """The tangent of z = x ** p for that of p."""
    if isinstance(z, complex) and not any(map(np.iscomplexobj, (x, p))):
        return p_dot * (z * cmath.log(x))
    return conj(power_exponent_bar(conj(p_dot), x, p, z))


@pullback(chosen_bar)
def chosen_bar_pullback(x_bar, z_bar, is_chosen, x):
    """Of what was chosen, and zero of what was not."""
    return chosen_bar(x_bar, is_chosen, z_bar)


examples(chosen_bar, (2.0, True, 0.5), (2.0, False, 0.5))


@pullback(for_each)
def for_each_pullback(bars, items, y_bar):
    """The sum."""
    return NoTangent(), sum(bars)


@pullback(for_one)
def for_one_pullback(bars, items, place, y_bar):
    """The one at the place."""
    return NoTangent(), NoTangent(), bars[place]


examples(for_each, ([1.0, 2.0], 0.5))
examples(for_one, ([1.0, 2.0], 1, 0.5))


# Products: the cotangent of one operand is linear in z_bar, and its transpose is the product with that operand


@pullback(matmul_left_bar)
def matmul_left_bar_pullback(x_dot, z_bar, x, y):
    """z_dot = x_dot @ y."""
    return np.matmul(x_dot, y), NoTangent(), not_implemented(_SECOND)


@pullback(matmul_right_bar)
def matmul_right_bar_pullback(y_dot, z_bar, x, y):
    """z_dot = x @ y_dot."""
    return np.matmul(x, y_dot), not_implemented(_SECOND)


@pullback(dot_left_bar)
def dot_left_bar_pullback(x_dot, z_bar, x, y):
    """z_dot = np.dot(x_dot, y)."""
    return np.dot(x_dot, y), NoTangent(), not_implemented(_SECOND)


@pullback(dot_right_bar)
def dot_right_bar_pullback(y_dot, z_bar, x, y):
    """z_dot = np.dot(x, y_dot)."""
    return np.dot(x, y_dot), not_implemented(_SECOND)


@pullback(tensordot_left_bar)
def tensordot_left_bar_pullback(a_dot, z_bar, a, b, axes):
    """z_dot = np.tensordot(a_dot, b, axes)."""
    return np.tensordot(a_dot, b, axes), NoTangent(), not_implemented(_SECOND)


@pullback(tensordot_right_bar)
def tensordot_right_bar_pullback(b_dot, z_bar, a, b, axes):
    """z_dot = np.tensordot(a, b_dot, axes)."""
    return np.tensordot(a, b_dot, axes), not_implemented(_SECOND)


@pullback(inner_left_bar)
def inner_left_bar_pullback(a_dot, z_bar, a, b):
    """z_dot = np.inner(a_dot, b)."""
    return np.inner(a_dot, b), NoTangent(), not_implemented(_SECOND)


@pullback(inner_right_bar)
def inner_right_bar_pullback(b_dot, z_bar, a, b):
    """z_dot = np.inner(a, b_dot)."""
    return np.inner(a, b_dot), not_implemented(_SECOND)


@pullback(kron_left_bar)
def kron_left_bar_pullback(a_dot, z_bar, a, b):
    """z_dot = np.kron(a_dot, b)."""
    return np.kron(a_dot, b), NoTangent(), not_implemented(_SECOND)


@pullback(kron_right_bar)
def kron_right_bar_pullback(b_dot, z_bar, a, b):
    """z_dot = np.kron(a, b_dot)."""
    return np.kron(a, b_dot), not_implemented(_SECOND)


# Diagonals


@pullback(diagonal_bar)
def diagonal_bar_pullback(a_dot, y_bar, a, offset, axis1, axis2):
    """The diagonal; its sum where y_bar was repeated along it."""
    return unbroadcast(np.diagonal(a_dot, offset, axis1, axis2), y_bar)


@pullback(diag_bar)
def diag_bar_pullback(v_dot, y_bar, v, k):
    """The matrix with this diagonal, or the diagonal."""
    return np.diag(v_dot, k)


@pullback(cross_bar)
def cross_bar_pullback(y_bar, left, right, x, axis):
    """Of a cross product in three dimensions."""
    return (
        unbroadcast(np.cross(conj(right), y_bar, axis=axis), left),
        unbroadcast(np.cross(y_bar, conj(left), axis=axis), right),
    )


examples(cross_bar, (_X, _X[::-1], _X, -1), (_X, _X[::-1], _V, -1))
_P, _Q = _X, _X.T
examples(matmul_left_bar, (_P @ _Q, _P, _Q), (_V[:2], _P, _V), (_Z @ _Q, _Z, _Q))
examples(matmul_right_bar, (_P @ _Q, _P, _Q), (_V[:2], _P, _V), (_Z @ _Q, _Z, _Q))
examples(dot_left_bar, (_P @ _Q, _P, _Q), (_V, _V, 2.0))
examples(dot_right_bar, (_P @ _Q, _P, _Q), (_V, 2.0, _V))
examples(tensordot_left_bar, (_P @ _Q, _P, _Q, 1))
examples(tensordot_right_bar, (_P @ _Q, _P, _Q, 1))
examples(inner_left_bar, (_P @ _Q, _P, _P), (2.0 * _V, 2.0, _V))
examples(inner_right_bar, (_P @ _Q, _P, _P), (2.0 * _V, 2.0, _V))
examples(kron_left_bar, (np.kron(_P, _Q), _P, _Q))
examples(kron_right_bar, (np.kron(_P, _Q), _P, _Q))
examples(diagonal_bar, (_V[:2], _X, 0, 0, 1), (_V[:1], _X, 0, 0, 1), (_V[:1], _X.T, 1, 0, 1))
examples(diag_bar, (np.diag(_V, 1), _V, 1), (_V[:2], _X, 0))
