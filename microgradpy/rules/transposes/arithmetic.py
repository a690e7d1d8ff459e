"""Transposes of what all pullbacks call, of powers, and of what chooses among operands."""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np

from microgradpy.rules.builtins import chosen_bar
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.number_lists import for_each, for_one
from microgradpy.rules.numpy.mathematics.miscellaneous import sign_bar
from microgradpy.rules.operators import modulus_bar
from microgradpy.rules.registry import examples, non_differentiable
from microgradpy.tangents.arithmetic import accumulate, conj, divide, item_cotangent, own, real_like, unbroadcast
from microgradpy.tangents.casts import in_precision_of, precise_as
from microgradpy.tangents.choices import maximum_bar, minimum_bar, share
from microgradpy.tangents.decompositions import largest, refuse_choice
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.powers import power_base_bar, power_exponent_bar
from microgradpy.tangents.reading import item_tangent
from microgradpy.tangents.types import NoTangent

# They look at constants, to refuse or to choose.
non_differentiable(largest, refuse_choice)

_X = np.array([[0.3, -1.2, 2.0], [0.7, 0.1, -0.4]])
_V = np.array([1.5, -0.5, 0.25])
_Z = _X + 1j * _X[::-1]


@pullback(in_precision_of)
def in_precision_of_pullback(y_bar, d, constant):
    """Of `d` only the dtype is looked at; what is a constant to a pullback moves in a second derivative."""
    return NoTangent(), y_bar


examples(in_precision_of, (_X, _V))


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


@pullback(precise_as)
def precise_as_pullback(y_bar, d, y):
    """In the precision of the other again."""
    return precise_as(y_bar, d)


examples(precise_as, (_X, _V), (2.0, 1.5))


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


@pullback(power_base_bar)
def power_base_bar_pullback(x_bar, z_bar, x, p):
    """A product with the slope, which is p x^(p - 1)."""
    slope_bar = conj(x_bar) * z_bar
    second = unbroadcast(conj(p) * power_base_bar(slope_bar, x, p - 1), x)
    return conj(power_base_bar(conj(x_bar), x, p)), second, ...


examples(power_base_bar, (0.5, 2.0, 3), (_X, _X + 2.0, 1.5), (_Z, _Z + 3.0, 2), (1.5 - 0.5j, -2.0, 0.5))


@pullback(power_exponent_bar)
def power_exponent_bar_pullback(p_bar, z_bar, x, p, z):
    """A product with the slope."""
    return power_exponent_dot(p_bar, x, p, z), ..., ..., ...


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


@pullback(share)
def share_pullback(d_dot, z_bar, wins, ties):
    """The same share."""
    return unbroadcast(share(d_dot, wins, ties), z_bar)


@pullback(maximum_bar)
def maximum_bar_pullback(x_dot, z_bar, x, y):
    """The tangent of the larger one, half of it where they are equal."""
    return precise_as(unbroadcast(share(x_dot, np.greater(x, y), np.equal(x, y)), z_bar), z_bar)


@pullback(minimum_bar)
def minimum_bar_pullback(x_dot, z_bar, x, y):
    """The tangent of the smaller one, half of it where they are equal."""
    return precise_as(unbroadcast(share(x_dot, np.less(x, y), np.equal(x, y)), z_bar), z_bar)


examples(share, (_X, _X > 0.0, _X == 0.7))
examples(maximum_bar, (_X, _X, _V), (_X, _V, _X), (_X, 0.5, _X), (0.5, 2.0, 1.0))
examples(minimum_bar, (_X, _X, _V), (_X, _V, _X), (_X, 0.5, _X), (0.5, 2.0, 1.0))


@pullback(modulus_bar)
def modulus_bar_pullback(y_dot, z_bar, x, y):
    """A product with the slope, which is constant between its jumps."""
    return unbroadcast(modulus_bar(y_dot, x, y), z_bar)


@pullback(sign_bar)
def sign_bar_pullback(x_dot, z_bar, x):
    """The part across z, over |x|."""
    return sign_bar(x_dot, x), ...


examples(modulus_bar, (_X, _X + 0.05, _V), (0.5, 5.5, 2.0))
examples(sign_bar, (_X, _X), (_Z, _Z))
