"""Array conversion: copies, casts, and numbers of Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.rules.results import check_unstructured
from microgradpy.tangents.arithmetic import stack_items, zero_cotangent
from microgradpy.tangents.casts import made_of_bar
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.linear import expand_reduced
from microgradpy.tangents.memory_order import copied
from microgradpy.tangents.types import NoTangent

_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_NUMBER = np.float64(1.3)


@pullback(np.ndarray.copy, arity=1)
@pullback(np.generic.copy, arity=1)
def array_copy_pullback(y_bar, self):
    """self_bar = y_bar."""
    return y_bar


@pullback(copied)
def copied_pullback(y_bar, x, order="C"):
    """x_bar = y_bar."""
    return y_bar


examples(copied, (_TABLE,))


@pullback(np.ndarray.astype)
@pullback(np.generic.astype)
def array_astype_pullback(y_bar, self, dtype, *, y):
    """self_bar = y_bar; none if self was rounded to integers."""
    return made_of_bar(y_bar, self, y)


@pullback(np.ndarray.item, arity=1)
@pullback(np.generic.item, arity=1)
def array_item_pullback(y_bar, self):
    """The only entry: self_bar = y_bar in the shape of self."""
    return expand_reduced(y_bar, self, None, False)


@rrule.register(np.ndarray.item)
def array_item_at_rrule(self, *index):
    """One entry, by its number or by one index per axis."""

    def array_item_at_pullback(y_bar):
        return NoTangent(), item_bar(y_bar, self, index), *(NoTangent() for _ in index)

    return self.item(*index), array_item_at_pullback


@cotangent_of(1)
def item_bar(y_bar: Any, x: Any, index: tuple[Any, ...]) -> np.ndarray:
    """Zeros with y_bar at the index of `x.item(*index)`."""
    check_unstructured(x)
    if np.ndim(x) == 0:
        return np.asarray(y_bar)
    x_bar = np.zeros(np.shape(x), np.result_type(y_bar))
    place = index[0] if len(index) == 1 else index
    place = place[0] if np.shape(place) == (1,) else place
    np.put(x_bar, place if np.ndim(place) == 0 else np.ravel_multi_index(place, np.shape(x), mode="wrap"), y_bar)
    return x_bar


@pullback(np.ndarray.tolist)
@pullback(np.generic.tolist)
def array_tolist_pullback(y_bar, self):
    """The nested list of the entries: self_bar = the array of their cotangents."""
    return tolist_bar(y_bar, self)


@cotangent_of(1)
def tolist_bar(y_bar: Any, x: Any) -> Any:
    """The cotangent of an array from a nested list of cotangents, with None for zeros."""
    x_bar = stack_items(x, y_bar) if isinstance(y_bar, list | tuple) else y_bar
    return zero_cotangent(x) if x_bar is None else x_bar


examples(np.ndarray.astype, (_TABLE, float), (_TABLE, complex), (_TABLE, int))
examples(np.generic.astype, (_NUMBER, float), (_NUMBER, int))
examples(
    np.ndarray.item, (_TABLE[:1, :1],), (np.array(2.5),), (_TABLE, 4), (_TABLE, -1), (_TABLE, 1, -1), (_TABLE, (0, 2))
)
example(np.generic.item, _NUMBER)

_GRID = np.arange(1.0, 7.0).reshape(2, 3)


@pullback(np.ndarray.to_device)
@pullback(np.generic.to_device)
def array_to_device_pullback(y_bar, self, device, /):
    """self_bar = y_bar."""
    return y_bar


example(np.ndarray.to_device, _GRID, "cpu")
example(np.generic.to_device, np.float64(1.5), "cpu")
