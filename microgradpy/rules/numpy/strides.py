"""NumPy's other ways to look at memory: sliding windows and any view by strides, whose entries overlap, so that each entry of
the array gets the sum of what the entries that show it got; and complex numbers as pairs of real ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from microgradpy.errors import MissingRuleError
from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.overlap import are_parts, offsets
from microgradpy.tangents.types import NoTangent

_VECTOR = np.array([0.7, -1.4, 2.2, 0.1, 1.6])
_TABLE = np.arange(12.0).reshape(3, 4) * 0.7 % 3.1 - 1.5


@rrule.register(sliding_window_view)
def sliding_window_view_rrule(x, window_shape, axis=None, *, writeable=False):
    """x_bar = zeros to which each entry of y_bar is added where it is seen."""
    check_array(x, "sliding_window_view")

    def sliding_window_view_pullback(y_bar):
        return NoTangent(), windows_bar(y_bar, x, window_shape, axis), NoTangent(), NoTangent()

    return sliding_window_view(x, window_shape, axis, writeable=writeable), sliding_window_view_pullback


@rrule.register(as_strided)
def as_strided_rrule(x, shape=None, strides=None, *, writeable=True):
    """x_bar = zeros to which each entry of y_bar is added where it is seen."""
    check_array(x, "as_strided")
    y = as_strided(x, shape, strides, writeable=writeable)

    def as_strided_pullback(y_bar):
        return NoTangent(), strided_bar(y_bar, x, y), NoTangent(), NoTangent()

    return y, as_strided_pullback


@rrule.register(np.ndarray.view)
def view_rrule(self, dtype=None):
    """self_bar = y_bar, looked at in the other way: the cotangent of a complex number is the pair of those of its parts."""
    check_view(self, dtype)
    y = self.view() if dtype is None else self.view(dtype)

    def view_pullback(y_bar):
        return NoTangent(), viewed_bar(y_bar, self, y), NoTangent()

    return y, view_pullback


def check_view(x: np.ndarray, dtype: Any) -> None:
    """Refuse views in which bits mean something else."""
    if dtype is None or dtype is np.ndarray:
        return
    is_class = isinstance(dtype, type) and issubclass(dtype, np.ndarray)
    if isinstance(dtype, type) and issubclass(dtype, np.matrix):
        found = "a matrix is made of a differentiated array, and its operators are not those of arrays"
        raise MissingRuleError(found, None, "Use arrays and `@`; what np.bmat joins, np.block joins to an array.")
    if is_class:
        return
    if not (np.dtype(dtype) == x.dtype or are_parts(np.dtype(dtype), x.dtype)):
        raise MissingRuleError(f"an array of {x.dtype} is looked at as {dtype}", None, "Convert it with astype, or copy it.")


@cotangent_of(1)
def viewed_bar(y_bar: Any, x: Any, y: Any) -> Any:
    """The cotangent of x from that of its view y as real or complex numbers."""
    return np.ascontiguousarray(y_bar, y.dtype).view(x.dtype).reshape(x.shape)


def check_array(x: Any, name: str) -> None:
    """Refuse a list, of which a hidden array would be made."""
    if not isinstance(x, np.ndarray):
        raise MissingRuleError(f"{name} of a {type(x).__name__}", None, "Make an array of it first.")


@cotangent_of(1)
def windows_bar(y_bar: Any, x: Any, window_shape: Any, axis: Any) -> np.ndarray:
    """The cotangent of x under sliding_window_view(x, window_shape, axis)."""
    numbers = np.arange(x.size).reshape(x.shape)
    return _collected(y_bar, x, sliding_window_view(numbers, window_shape, axis))


@cotangent_of(1)
def strided_bar(y_bar: Any, x: Any, y: Any) -> np.ndarray:
    """The cotangent of x, of whose memory y shows a part."""
    here, shown = offsets(x).reshape(-1), offsets(y)
    order = np.argsort(here, kind="stable")
    places = order[np.searchsorted(here[order], shown).clip(0, max(x.size - 1, 0))]
    if not np.array_equal(here[places], shown):
        raise MissingRuleError("as_strided shows memory that is not part of the array", None, "Give it the whole array.")
    return _collected(y_bar, x, places)


def _collected(y_bar: Any, x: Any, numbers: np.ndarray) -> np.ndarray:
    """For each entry of x the sum of the cotangents of those that show the entry of this number."""
    x_bar = np.zeros(x.size, np.result_type(y_bar))
    np.add.at(x_bar, numbers, y_bar)
    return x_bar.reshape(x.shape)


examples(sliding_window_view, (_VECTOR, 3), (_TABLE, (2, 3)), (_TABLE, 2, 1), (_TABLE.T, (2,), (0,)), (_VECTOR + 1j, 5))
# These strides stay inside in single precision too.
examples(as_strided, (_VECTOR, (2, 2), (8, 8)), (_VECTOR, (3, 2), (0, 8)), (_TABLE, (2, 2, 3), (16, 8, 8)))
examples(as_strided, (_TABLE, (3,), (16,)), (_VECTOR,), (_TABLE, (0, 2), (8, 8)))
# That real numbers are looked at as complex ones depends on the precision: a program that writes does it.
examples(np.ndarray.view, (_VECTOR + 2j, float), (_TABLE,), (_TABLE, np.ndarray), (_TABLE[:, :3] * 1j, np.float64))
examples(np.ndarray.view, ((_TABLE * 1j)[::2, 1:3], "f8"))
