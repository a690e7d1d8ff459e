"""Which memory an array shows: its owner, its place there, and the same view of another memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MutationError
from microgradpy.tangents.arithmetic import cotangent_dtype, real_like
from microgradpy.tangents.overlap import are_parts, offsets, overlaps_itself


def same_view(x: np.ndarray[Any, Any], owner: Any, memory: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What `x` is of its owner's memory, of the memory of the owner's shadow."""
    dtype = cotangent_dtype(x.dtype)
    of = memory_dtype(owner, x)
    offset = address(x) - extent(owner)[0]
    if x.dtype.kind in "iu":
        if x.dtype.itemsize != of.itemsize or of.kind not in "iu":
            raise other_view(x, of)
        # Whole numbers have cotangents of eight bytes each.
        strides = tuple(stride // of.itemsize * dtype.itemsize for stride in x.strides)
        return np.ndarray(x.shape, dtype, memory, offset // of.itemsize * dtype.itemsize, strides)
    if of != x.dtype and not are_parts(of, dtype):
        raise other_view(x, of)
    return np.ndarray(x.shape, dtype, memory, offset, x.strides)


def memory_dtype(owner: Any, x: np.ndarray[Any, Any]) -> np.dtype[Any]:
    """Of what the memory of x's owner is. Records of numbers of one dtype, as np.unique makes them along an axis, are such
    numbers."""
    own: np.dtype[Any] = x.dtype
    if not isinstance(owner, np.ndarray):
        return own
    dtype: np.dtype[Any] = owner.dtype
    fields = [field[0] for field in (dtype.fields or {}).values()]
    return own if set(fields) == {own} and len(fields) * own.itemsize == dtype.itemsize else dtype


def other_view(x: np.ndarray[Any, Any], of: np.dtype[Any]) -> MutationError:
    return MutationError(
        f"an array of {x.dtype} is a view of the memory of an array of {of}", None, "Make a copy of it: x.copy()."
    )


def owner_of(x: np.ndarray[Any, Any]) -> Any:
    """The object that holds the memory of an array: an array, or what it was made from (bytes, a file that is mapped)."""
    owner: Any = x
    while (base := owner.base) is not None:
        inner: Any = base if isinstance(base, np.ndarray) else getattr(base, "base", None)  # as_strided puts one between
        if not isinstance(inner, np.ndarray):
            return base.obj if isinstance(base, memoryview) else base
        owner = inner
    return owner


def address(x: np.ndarray[Any, Any]) -> int:
    return int(x.__array_interface__["data"][0])


def extent(owner: Any) -> tuple[int, int]:
    """Where the memory of an owner starts, and its size in bytes."""
    if isinstance(owner, np.ndarray):
        low, high = np.lib.array_utils.byte_bounds(owner)
        return low, high - low
    try:
        whole = np.frombuffer(owner, np.uint8)
    except (TypeError, ValueError):
        raise MutationError(
            f"an array is a view of the memory of a {type(owner).__name__}", None, "Make a copy of it: x.copy()."
        ) from None
    return address(whole), whole.nbytes


def shares_memory(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> bool:
    """Whether two arrays have the same owner."""
    return owner_of(x) is owner_of(y)


def add_to_array(shadow: np.ndarray[Any, Any], d: Any) -> None:
    """shadow += d, also where the shadow is a view that overlaps itself."""
    if not isinstance(d, np.ndarray):
        d = np.asarray(d)
    d = real_like(d, shadow)
    if shadow.base is None or not overlaps_itself(shadow):
        shadow += d
        return
    flat, places = _places(shadow)
    np.add.at(flat, places, np.broadcast_to(d, shadow.shape))


def told_apart(shadow: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What a shadow holds; of one that overlaps itself as an array of its own, in which each place stands at the first entry
    that shows it and nowhere else: who adds up the entries must not count a place twice."""
    if shadow.base is None or not overlaps_itself(shadow):
        return shadow
    flat, places = _places(shadow)
    shown, first = np.unique(places, return_index=True)
    result = np.zeros(shadow.size, shadow.dtype)
    result[first] = flat[shown]
    return result.reshape(shadow.shape)


def _places(shadow: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The memory that a view shows, as a vector, and the number in it of each entry."""
    flat = owner_of(shadow).reshape(-1)
    shown = address(shadow) - address(flat) + offsets(shadow)
    if flat.nbytes % shadow.itemsize or np.any(shown % shadow.itemsize):
        raise other_view(shadow, flat.dtype)
    return flat.view(shadow.dtype), shown // shadow.itemsize
