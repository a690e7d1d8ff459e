"""Python's operators, as functions of the module `operator`, on numbers, arrays and sequences.

Formulas hold for complex numbers too: a factor of a holomorphic function enters conjugated, and `unbroadcast` takes the
real part for a real operand.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples, non_differentiable, rrule
from microgradpy.tangents.arithmetic import conj, item_cotangent, real_like, sign, unbroadcast
from microgradpy.tangents.helpers import cotangent_of_call
from microgradpy.tangents.linear import matmul_left_bar, matmul_right_bar
from microgradpy.tangents.powers import power_base_bar, power_exponent_bar
from microgradpy.tangents.types import NoTangent, accumulate

_MATRIX = np.array([[0.5, -1.5, 2.0], [1.0, 3.0, -0.25]])
_COLUMN = np.array([[2.0], [-3.0]])
_ROW = np.array([1.5, -0.5, 4.0])
_COMPLEX = np.array([1.0 + 2.0j, -0.5 + 0.25j, 3.0 - 1.0j])
_PAIRS = (
    (2.5, -1.5),
    (3, 2.0),
    (_MATRIX, _ROW),
    (_COLUMN, _ROW),
    (2.0, _MATRIX),
    (_ROW, np.float64(1.5)),
    (_ROW, _COMPLEX),
)


@pullback(operator.add)
def add_pullback(z_bar, x, y):
    """z = x + y: both get z_bar, summed over the axes they were repeated along."""
    return unbroadcast(z_bar, x), unbroadcast(z_bar, y)


examples(operator.add, *_PAIRS, (1.0 + 2.0j, 3.0))


@pullback(operator.add, list, list)
@pullback(operator.add, tuple, tuple)
def concatenation_pullback(z_bar, x, y):
    """z = x + y of two sequences: z_bar is cut where x ends."""
    return z_bar[: len(x)], z_bar[len(x) :]


examples(operator.add, ([1.0, 2.0], [3.0]), ((1.0, 2.0), (3.0,)), ([], [1.0]))


@pullback(operator.add, str, str)
@pullback(operator.add, bytes, bytes)
def text_concatenation_pullback(z_bar, x, y):
    """Text carries no derivative."""
    return NoTangent()


examples(operator.add, ("a", "b"), (b"a", b"b"))


@pullback(operator.sub)
def sub_pullback(z_bar, x, y):
    """z = x - y: x_bar = z_bar, y_bar = -z_bar."""
    return unbroadcast(z_bar, x), unbroadcast(-z_bar, y)


examples(operator.sub, *_PAIRS)


@pullback(operator.mul)
def mul_pullback(z_bar, x, y):
    """z = x * y: x_bar = z_bar * conj(y), y_bar = z_bar * conj(x)."""
    return unbroadcast(z_bar * conj(y), x), unbroadcast(z_bar * conj(x), y)


examples(operator.mul, *_PAIRS, (1.0 + 2.0j, 3.0), (2.0j, 1.0 - 1.0j))


@pullback(operator.mul, list, int)
@pullback(operator.mul, tuple, int)
def repetition_pullback(z_bar, x, n):
    """z = x repeated n times: x_bar is the sum of the n parts of z_bar."""
    return sum_of_parts(z_bar, len(x), n)


@pullback(operator.mul, int, list)
@pullback(operator.mul, int, tuple)
def counted_repetition_pullback(z_bar, n, x):
    """z = x repeated n times: x_bar is the sum of the n parts of z_bar."""
    return NoTangent(), sum_of_parts(z_bar, len(x), n)


def sum_of_parts(z_bar: Any, length: int, count: int) -> Any:
    """The sum of `count` consecutive parts, of `length` items each, of the cotangent of a sequence."""
    total = [None] * length
    for part in range(count):
        total = accumulate(total, z_bar[part * length : (part + 1) * length])
    return total


examples(operator.mul, ([1.0, 2.0], 3), ((1.0,), 2), (2, [1.0, 2.0]), (2, (1.0, 2.0)), ([1.0], 0), ([1.0], -1))


@pullback(operator.mul, str, int)
@pullback(operator.mul, bytes, int)
@pullback(operator.mul, int, str)
@pullback(operator.mul, int, bytes)
def text_repetition_pullback(z_bar, x, y):
    """Text carries no derivative."""
    return NoTangent()


examples(operator.mul, ("ab", 2), (2, "ab"), (b"ab", 2), (2, b"ab"))


@pullback(operator.truediv)
def truediv_pullback(z_bar, x, y, *, z):
    """z = x / y: x_bar = z_bar / conj(y), y_bar = -z_bar * conj(z) / conj(y). Where y is 0 Python has raised, or NumPy
    has warned, in the primal already, so the division here is the plain one."""
    quotient = z_bar / conj(y)
    return unbroadcast(quotient, x), unbroadcast(-quotient * conj(z), y)


examples(operator.truediv, *_PAIRS, (1.0 + 2.0j, 3.0), (2.0, 1.0 - 1.0j), (_ROW, 2))


@pullback(operator.mod)
def mod_pullback(z_bar, x, y):
    """z = x - floor(x / y) * y: x_bar = z_bar, y_bar = -z_bar * floor(x / y)."""
    return unbroadcast(z_bar, x), unbroadcast(modulus_bar(z_bar, x, y), y)


@cotangent_of_call(operator.mod, 1, 2)
def modulus_bar(z_bar: Any, x: Any, y: Any) -> Any:
    """-z_bar * floor(x / y)."""
    with np.errstate(all="ignore"):
        return -z_bar * (x // y)


examples(
    operator.mod, (5.5, 2.0), (-5.5, 2.0), (5.5, -2.0), (7, 2.5), (_MATRIX, np.array([0.7, 0.4, 1.1])), (_ROW, 0.6)
)


@pullback(operator.mod, str)
@pullback(operator.mod, bytes)
def formatting_pullback(z_bar, x, y):
    """Text carries no derivative."""
    return NoTangent()


examples(operator.mod, ("%.3f", 0.5), (b"%d", 3))


@pullback(operator.pow)
def pow_pullback(z_bar, x, p, *, z):
    """z = x ** p: x_bar = z_bar * conj(p * x ** (p - 1)), p_bar = z_bar * conj(z * log(x)), exact at the corners."""
    return unbroadcast(power_base_bar(z_bar, x, p), x), unbroadcast(power_exponent_bar(z_bar, x, p, z), p)


examples(operator.pow, (2.0, 2.0), (2.0, 3), (2, 0.5), (-2.0, 3), (0.0, 2), (0.0, 1), (1.5, -0.5), (-2.0, 0.5))
examples(
    operator.pow, (_MATRIX, 2), (np.abs(_MATRIX), _ROW), (_COLUMN, 3), (2.0, _ROW), (_COMPLEX, 2), (1.0 + 2.0j, 1.5)
)


@rrule.register(operator.matmul)
def matmul_rrule(x, y):
    """z = x @ y: x_bar = z_bar @ conj(y).T, y_bar = conj(x).T @ z_bar for matrices. A vector stands for a row on the
    left and for a column on the right; leading axes broadcast."""
    z = x @ y
    if np.ndim(x) == 2:
        if np.ndim(y) == 2:

            def matrix_product_pullback(z_bar):
                return NoTangent(), real_like(z_bar @ conj(y).T, x), real_like(conj(x).T @ z_bar, y)

            return z, matrix_product_pullback

    def matmul_pullback(z_bar):
        return NoTangent(), matmul_left_bar(z_bar, x, y), matmul_right_bar(z_bar, x, y)

    return z, matmul_pullback


def matmul_of_any_ranks_rrule(x, y):
    """The same where it is not known how many axes they have."""

    def matmul_pullback(z_bar):
        return NoTangent(), matmul_left_bar(z_bar, x, y), matmul_right_bar(z_bar, x, y)

    return x @ y, matmul_pullback


_BATCH = np.linspace(-1.0, 1.0, 12).reshape(2, 2, 3)
examples(
    operator.matmul, (_MATRIX, _MATRIX.T), (_MATRIX, _ROW), (_COLUMN[:, 0], _MATRIX), (_ROW, _ROW), (_ROW, _COMPLEX)
)
examples(
    operator.matmul, (_BATCH, _MATRIX.T), (_MATRIX, _BATCH.transpose(0, 2, 1)), (_BATCH, _ROW), (_COLUMN[:, 0], _BATCH)
)
examples(operator.matmul, (_MATRIX, np.outer(_COMPLEX, _ROW)))


@pullback(operator.neg)
def neg_pullback(z_bar, x):
    """x_bar = -z_bar."""
    return -z_bar


@pullback(operator.pos)
def pos_pullback(z_bar, x):
    """x_bar = z_bar."""
    return unbroadcast(z_bar, x)


@rrule.register(abs)
@rrule.register(operator.abs)
def abs_rrule(x):
    """z = |x|: x_bar = z_bar * sign(x), which for complex x is the direction x / |x|; 0 at 0."""

    def abs_pullback(z_bar):
        return NoTangent(), z_bar * sign(x)

    return abs(x), abs_pullback


for _unary in (operator.neg, operator.pos, operator.abs, abs):
    examples(_unary, (2.5,), (-2.5,), (3,), (1.0 - 2.0j,), (_MATRIX,), (_COMPLEX,))


@pullback(operator.or_)
def or_pullback(z_bar, x, y):
    """Of integers, booleans and sets: no derivative."""
    return NoTangent()


@pullback(operator.or_, dict, dict)
def merge_pullback(z_bar, x, y):
    """z = x | y of two dicts: y's items win."""
    return items_not_in(z_bar, y), items_in(z_bar, y)


def items_in(z_bar: Any, keys: Any) -> Any:
    """The items of the cotangent of a dict that are at `keys`."""
    return {key: item for key, item in z_bar.items() if key in keys}


def items_not_in(z_bar: Any, keys: Any) -> Any:
    """The items of the cotangent of a dict that are not at `keys`."""
    return {key: item for key, item in z_bar.items() if key not in keys}


examples(operator.or_, (True, False), (5, 2), ({"a": 1.0, "b": 2.0}, {"b": 3.0, "c": 4.0}))


@pullback(operator.getitem)
def getitem_pullback(z_bar, x, index):
    """z = x[index]: x_bar is z_bar at index and zero elsewhere; an index that repeats counts as often as it does."""
    return item_cotangent(x, index, z_bar)


examples(
    operator.getitem, ([1.0, 2.0], -1), ([1.0, 2.0, 3.0], slice(1, None)), ((1.0, [2.0, 3.0]), 1), ({"a": 1.0}, "a")
)
examples(operator.getitem, (_ROW, 1), (_MATRIX, (slice(None), 0)), (_MATRIX, ([0, 0, 1],)), (_ROW, _ROW > 0.0))
examples(operator.getitem, (_ROW, np.array([[0, 1], [1, 1]])), (_MATRIX, (1, [0, 0, 2])), (_ROW, (None, Ellipsis)))

non_differentiable(
    operator.floordiv, operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge,
    operator.not_, operator.truth, operator.is_, operator.is_not, operator.contains, operator.and_, operator.xor,
    operator.invert, operator.inv, operator.lshift, operator.rshift, operator.index, operator.countOf, operator.indexOf,
    operator.length_hint,
)  # fmt: skip
