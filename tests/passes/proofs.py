"""Whether what is proven of a value holds of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.ir.kinds import UNASSIGNED, UNKNOWN, Array, Inert, Kind, Scalar, Sequence, TupleOf


def lengths_of(kind: Kind, value: Any) -> dict[Any, Any]:
    """The length that each symbol of a kind stands for."""
    match kind:
        case Array(shape=shape):
            return dict(zip(shape, value.shape, strict=True))
        case TupleOf(items=items):
            found = [lengths_of(item, each) for item, each in zip(items, value, strict=True)]
        case Sequence(entries=entries):
            found = [lengths_of(item, value[key]) for key, item in entries]
        case _:
            found = []
    return {symbol: length for lengths in found for symbol, length in lengths.items()}


def holds(kind: Kind, value: Any, lengths: dict[Any, Any]) -> bool:
    """Whether a value is what a kind proves."""
    match kind:
        case Scalar(name=name):
            return dtype_of_number(value) in ((name,) if name != "real" else ("float", "int", "bool"))
        case Array(ndim=None, dtype=dtype, shape=shape):
            # Of rank 0 it may be a NumPy scalar.
            whole = lengths[shape[0]] == np.shape(value) if shape else True
            array = type(value) is np.ndarray or isinstance(value, np.generic)
            return array and has_dtype(value, dtype) and whole
        case Array(ndim=ndim, dtype=dtype, shape=shape):
            if type(value) is not np.ndarray or value.ndim != ndim or not has_dtype(value, dtype):
                return False
            if shape and len(shape) != ndim:
                return False
            known = zip(shape, value.shape, strict=False)
            return all(length_of(axis, lengths) in (None, length) for axis, length in known)
        case TupleOf(items=items):
            return type(value) is tuple and len(items) == len(value) and all(map(holds, items, value, [lengths] * len(items)))
        case Sequence(name="dict", entries=(_, *_) as entries):
            return type(value) is dict and all(holds(item, value[key], lengths) for key, item in entries)
        case Sequence(name="list", item=item) if item not in (UNKNOWN, UNASSIGNED):
            return type(value) is list and all(holds(item, each, lengths) for each in value)
        case Inert(name="dtype"):  # each of which has a class of its own
            return isinstance(value, np.dtype)
        case Sequence(name=name) | Inert(name=name):
            return type(value).__name__ == name
    return kind is UNKNOWN or type(value) is np.ndarray or bool(dtype_of_number(value))


def length_of(axis: Any, lengths: dict[Any, Any]) -> int | None:
    """The length that a symbol means; None if that is unknown."""
    match axis:
        case "length", constant:
            return int(constant)
        case "part", of, cut:
            whole = length_of(of, lengths)
            if whole is None:
                return None
            if cut.isdecimal():
                return max(0, whole - int(cut))
            return len(range(whole)[slice(*(None if part == "None" else int(part) for part in cut.split(":")))])
        case "sum", *parts:
            found = [length_of(part, lengths) for part in parts]
            return None if None in found else sum(map(int, found))
    return 1 if axis == 1 else None if axis is None else lengths[axis]


def dtype_of_number(value: Any) -> str:
    """The name of the kind of a number; empty for anything else."""
    if isinstance(value, np.generic):
        return DTYPES.get(value.dtype.kind, "")
    return {float: "float", int: "int", bool: "bool", complex: "complex"}.get(type(value), "")


DTYPES = {"f": "float", "i": "int", "u": "int", "b": "bool", "c": "complex"}


def has_dtype(value: Any, dtype: str) -> bool:
    return not dtype or DTYPES.get(value.dtype.kind) == dtype
