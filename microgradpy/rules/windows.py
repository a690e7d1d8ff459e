"""NumPy's views whose entries overlap: sliding windows, and any view by strides. Each entry of the array gets the sum of what
the entries that show it got."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from microgradpy.errors import MissingRuleError
from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.overlap import offsets
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
