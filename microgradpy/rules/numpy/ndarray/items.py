"""Item selection."""

from __future__ import annotations

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.indexing import choices_bar, compress_bar, diagonal_bar, take_bar
from microgradpy.rules.numpy.manipulation.rearranging import repeat_bar
from microgradpy.rules.registry import example, examples
from microgradpy.tangents.types import NoTangent

_VECTOR = np.array([0.7, -1.4, 2.2, 0.1])
_STACK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 - 1.5


@pullback(np.ndarray.compress)
def array_compress_pullback(y_bar, self, condition, axis=None):
    """self_bar = y_bar at the entries that were taken, zero elsewhere."""
    return compress_bar(y_bar, self, condition, axis)


examples(np.ndarray.compress, (_VECTOR, [True, False, True]), (_STACK, [False, True], -1))


@pullback(np.ndarray.choose)
def array_choose_pullback(y_bar, self, choices, *, mode="raise"):
    """Each entry of y_bar goes to the choice that it was taken from."""
    return NoTangent(), choices_bar(y_bar, self, choices, mode)


_NUMBERS = np.array([0, 1, 0, 1])
examples(np.ndarray.choose, (_NUMBERS, [_VECTOR, 1.5]))

_LINE = np.array([0.7, -1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_NUMBER = np.float64(1.3)


@pullback(np.ndarray.repeat)
@pullback(np.generic.repeat)
def array_repeat_pullback(y_bar, self, repeats, axis=None):
    """self_bar = for each entry the sum of y_bar over its repetitions."""
    return repeat_bar(y_bar, self, repeats, axis)


@pullback(np.ndarray.take)
@pullback(np.generic.take)
def array_take_pullback(y_bar, self, indices, axis=None):
    """self_bar = zeros to which each entry of y_bar is added where it was taken."""
    return take_bar(y_bar, self, indices, axis)


@pullback(np.ndarray.diagonal)
def array_diagonal_pullback(y_bar, self, offset=0, axis1=0, axis2=1):
    """y_bar on the diagonal, zero elsewhere."""
    return diagonal_bar(y_bar, self, offset, axis1, axis2)


example(np.generic.repeat, _NUMBER, 3)
example(np.generic.take, _NUMBER, [0, 0])
examples(np.ndarray.repeat, (_LINE, 2), (_TABLE, 3, 0), (_TABLE, [1, 0, 2], 1))
examples(np.ndarray.take, (_LINE, [0, 2, 2]), (_TABLE, [1, 1], 1), (_TABLE, 3))
examples(np.ndarray.diagonal, (_TABLE,), (_TABLE, 1), (_STACK, 0, 1, 2))
