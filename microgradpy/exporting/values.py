"""Data of the user's module as an expression: numbers, texts, arrays, and lists, tuples and dicts of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

MOST_ENTRIES = 10_000
"""A larger array is no text that anybody reads."""


class NotWritable(Exception):
    """The value has no expression; the message says what it is."""


def expression(value: Any) -> str:
    """The text of an expression that gives an equal value, in which `np` is NumPy."""
    if value is None or value is Ellipsis or type(value) in (bool, int, str, bytes):
        return repr(value)
    if type(value) is float:
        return _real(value)
    if type(value) is complex:
        return f"complex({_real(value.real)}, {_real(value.imag)})"
    if isinstance(value, np.generic) and value.dtype.kind in "fciub":
        return f"np.{value.dtype.name}({_exactly(value)})"
    if type(value) is np.ndarray:
        return _array(value)
    return _container(value)


def _container(value: Any) -> str:
    if type(value) is list:
        return f"[{', '.join(map(expression, value))}]"
    if type(value) is tuple:
        inside = ", ".join(map(expression, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if type(value) is dict:
        return "{" + ", ".join(f"{expression(key)}: {expression(item)}" for key, item in value.items()) + "}"
    if type(value) in (set, frozenset) and value:
        inside = "{" + ", ".join(sorted(map(expression, value))) + "}"
        return inside if type(value) is set else f"frozenset({inside})"
    if type(value) is range:
        return repr(value)
    raise NotWritable(f"of type {type(value).__qualname__}")


def _real(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return f'float("{value}")'


def _exactly(value: Any) -> str:
    if value.dtype.itemsize > 16 or value.dtype.name in ("longdouble", "float128"):
        raise NotWritable(f"of dtype {value.dtype}")
    return expression(value.item())


def _array(value: np.ndarray[Any, Any]) -> str:
    if value.dtype.kind not in "fciub" or value.dtype.name in ("longdouble", "float128", "clongdouble", "complex256"):
        raise NotWritable(f"an array of dtype {value.dtype}")
    if value.size > MOST_ENTRIES:
        raise NotWritable(f"an array of {value.size} entries: pass it as an argument")
    if not (value.flags.c_contiguous or value.flags.f_contiguous):
        raise NotWritable("a view that skips entries: copy it")
    if 0 in value.shape:
        return f"np.zeros({value.shape}, np.{value.dtype.name})"
    order = "" if value.flags.c_contiguous else ', order="F"'
    return f"np.array({expression(value.tolist())}, np.{value.dtype.name}{order})"
