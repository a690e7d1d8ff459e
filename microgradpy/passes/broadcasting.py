"""Kinds of broadcast operations: the widest dtype, and the axes of the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from microgradpy.ir.kinds import NUMERIC, UNKNOWN, Array, Kind, Numeric, Scalar, either_numeric, is_numeric

Arguments = tuple[Kind, ...]
Known = Mapping[Any, Any]
KindRule = Callable[[Arguments, Known], Kind]
MISSING = object()
"""What is known of an argument that is given and no constant."""

_WIDTH = {"bool": 0, "int": 1, "real": 2, "float": 3, "complex": 4}


def dtype_of(kind: Kind) -> str:
    match kind:
        case Scalar(name=name) | Array(dtype=name) | Numeric(dtype=name):
            return name
    return ""


def widest(*dtypes: str) -> str:
    return max(dtypes, key=_WIDTH.__getitem__) if all(dtype in _WIDTH for dtype in dtypes) else ""


def scalar(dtype: str) -> Kind:
    return Scalar(dtype) if dtype else NUMERIC


def ranked(ndim: int | None, dtype: str, shape: tuple[Any, ...] = ()) -> Kind:
    """The result of a NumPy operation: a scalar where the rank is 0, a number or an array where it is not known."""
    if ndim is None:
        return NUMERIC
    return scalar(dtype) if ndim == 0 else Array(ndim, "" if dtype == "real" else dtype, shape)


def broadcast(arguments: Arguments, dtype: str | None = None) -> Kind:
    """The kind of an elementwise operation, whose dtype is the widest operand's unless given."""
    if not all(map(is_numeric, arguments)):
        return UNKNOWN
    result = widest(*map(dtype_of, arguments)) if dtype is None else dtype
    arrays = [kind for kind in arguments if isinstance(kind, Array)]
    if any(isinstance(kind, Numeric) for kind in arguments):
        return _broadcast_numeric(arguments, arrays, result)
    if not arrays:
        return scalar(result)
    ranks = [kind.ndim for kind in arrays if kind.ndim is not None]
    if len(ranks) == len(arrays):
        return ranked(max(ranks), result, broadcast_axes(arrays, max(ranks)))
    shape = arrays[0].shape
    same = shape and all(kind.shape == shape for kind in arrays)
    return Array(None, "" if result == "real" else result, shape) if same else NUMERIC


def _broadcast_numeric(arguments: Arguments, arrays: list[Array], dtype: str) -> Kind:
    """The same where operands may be numbers or arrays: an array if one has as many axes as any other may have."""
    whole = either_numeric(arguments)
    rank = max((kind.ndim for kind in arrays if kind.ndim is not None), default=0)
    if rank and whole.ndim == rank:
        return Array(rank, "" if dtype == "real" else dtype)
    return Numeric("real" if dtype in ("real", "float", "int", "bool") else "", whole.ndim)


def broadcast_axes(arrays: list[Array], rank: int) -> tuple[Any, ...]:
    """The axes of a broadcast result, aligned from the last; None where it cannot be said whose they are. Any but the symbol 1
    may stand for another length than one, but need not."""
    axes = []
    for position in range(-rank, 0):
        reaching = [kind for kind in arrays if (kind.ndim or 0) >= -position]
        longer = {kind.shape[position] if kind.shape else None for kind in reaching} - {1}
        axes.append(1 if not longer else longer.pop() if len(longer) == 1 else None)
    return tuple(axes)
