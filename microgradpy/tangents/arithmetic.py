"""Arithmetic on cotangents: what rules and generated code call.

`None` (and `NoTangent()`, `ZeroTangent()`) is the structural zero. Nothing here changes an argument, except `add_item`,
whose first argument belongs to the caller.
"""

from __future__ import annotations

import math
import numbers
import types
from types import EllipsisType
from typing import Any

import numpy as np

from microgradpy.errors import CotangentShapeError, MissingRuleError
from microgradpy.tangents import foreign
from microgradpy.tangents.foreign import is_foreign_array
from microgradpy.tangents.helpers import cotangent_of, like
from microgradpy.tangents.types import Tangent, accumulate, add_sequences, is_structural_zero, of_field, refuse_arithmetic

__all__ = [
    "accumulate",
    "add_item",
    "conj",
    "divide",
    "field_cotangent",
    "floating",
    "item_cotangent",
    "own",
    "real_like",
    "reciprocal_or_zero",
    "sign",
    "unbroadcast",
    "zero_cotangent",
]

_BASIC_INDICES = (int, slice, EllipsisType, type(None), np.integer)


def refuse_unlike_arrays(x: Any) -> None:
    """Refuse the subclasses of ndarray whose operators are not those of arrays."""
    # What is asked first spares the import of `np.ma`.
    if isinstance(x, np.ndarray) and type(x) is not np.ndarray and isinstance(x, np.matrix | np.ma.MaskedArray):
        raise MissingRuleError(
            f"a {type(x).__name__} takes part in a differentiated computation, and its operators are not those of arrays",
            None,
            "Convert it before the differentiated call: np.asarray(x), of a masked array x.filled(0.0) or x.compressed().",
        )


@cotangent_of(0)
def conj(x: Any) -> Any:
    """The complex conjugate: `x` itself if it is real. A list, tuple or range of numbers counts as an array."""
    if type(x) is float or type(x) is np.float64 or (type(x) is np.ndarray and x.dtype.kind == "f"):
        return x
    if isinstance(x, complex | np.complexfloating):
        return x.conjugate()
    if isinstance(x, list | tuple | range):
        x = np.asarray(x)
    if isinstance(x, np.ndarray):
        refuse_unlike_arrays(x)
        _refuse_complex_objects(x)
        return np.conjugate(x) if x.dtype.kind == "c" else x
    if is_foreign_array(x):
        return np.conjugate(x) if np.iscomplexobj(x) else x
    _refuse_objects(x)
    return x


def _refuse_complex_objects(x: Any) -> None:
    """Refuse arrays of objects that NumPy does not take as complex, and whose items are."""
    if isinstance(x, np.ndarray) and x.dtype.kind == "O" and _has_complex_items(x):
        found = "an array of objects that are complex numbers takes part in a differentiated computation"
        raise MissingRuleError(found, None, "Convert it to an array of complex numbers where it is made: x.astype(complex).")


def _has_complex_items(x: np.ndarray[Any, Any]) -> bool:
    return any(isinstance(item, complex | np.complexfloating) for item in x.flat)


def _refuse_objects(x: Any) -> None:
    """Refuse operands to which a formula for numbers does not apply."""
    if not isinstance(x, int | float | complex | np.generic | np.ndarray | list | tuple | numbers.Number):
        name = type(x).__name__
        raise MissingRuleError(
            f"an operator is applied to a {name}, of which that was not known when the program was compiled",
            None,
            f"Call {name} by its name where the object is made, or pass the object as an argument.",
        )


@like(0)
def floating(x: Any) -> Any:
    """`x`, or as float64 if it has NumPy's whole numbers, whose products and differences wrap around. A list, tuple or range
    of numbers counts as an array."""
    if isinstance(x, list | tuple | range):
        x = np.asarray(x)
    if isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "biu":
        return x.astype(np.float64)
    return x


def divide(a: Any, b: Any) -> Any:
    """a / b as IEEE 754 has it (1/0 = inf, 0/0 = nan), for numbers and arrays: neither raises nor warns."""
    if type(a) is float and (type(b) is float or type(b) is int):
        if b:
            return a / b
        return math.copysign(math.inf, a) * math.copysign(1.0, b) if a and a == a else math.nan
    return _divide_silently(a, b)


def _divide_silently(a: Any, b: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.divide(a, b)


@like(0)
def reciprocal_or_zero(x: Any) -> Any:
    """1 / x, and 0 where x is 0: the factor of a slope that is taken to be 0 at a point where there is none. (A factor, so
    that what it is multiplied with may be anything there, also in the transposed product.)"""
    if isinstance(x, float):
        x = float(x)
        return np.float64(1.0 / x if x else 0.0)
    with np.errstate(all="ignore"):
        return np.where(np.equal(x, 0.0), 0.0, np.divide(1.0, x))[()]


@cotangent_of(0)
def sign(x: Any) -> Any:
    """-1, 0 or 1 for real numbers and arrays, the direction x / |x| for complex ones; 0 at 0, and NaN for NaN."""
    if type(x) is float:
        return 1.0 if x > 0.0 else -1.0 if x < 0.0 else x
    is_truth = isinstance(x, bool) or (isinstance(x, np.ndarray | np.generic) and x.dtype.kind == "b")
    return np.sign(x * 1.0 if is_truth else x)


@cotangent_of(0)
def zero_cotangent(x: Any) -> Any:
    """The zero to start a sum of cotangents of `x` with: 0.0 for a real number (0j for a complex one, `np.float32(0)`
    for a float32), zeros for an array (float64 for integers), and None for everything else."""
    if type(x) is float:
        return 0.0
    if type(x) is np.ndarray and x.dtype.kind == "f":
        return np.zeros(x.shape, x.dtype)
    if isinstance(x, np.ndarray):
        return np.zeros(x.shape, cotangent_dtype(x.dtype)) if x.dtype.kind in "fciu" or has_real_objects(x) else None
    if isinstance(x, bool):
        return None
    if isinstance(x, int | np.integer | np.float64):
        return 0.0
    if isinstance(x, np.inexact):
        return type(x)(0)
    if isinstance(x, float):
        return 0.0
    return 0j if isinstance(x, complex) else None


def has_real_objects(x: np.ndarray[Any, Any]) -> bool:
    """Whether an array of objects holds real numbers, as what np.frompyfunc makes does: cotangents of it are float arrays."""
    return x.dtype.kind == "O" and all(isinstance(item, int | float | np.integer | np.floating) for item in x.flat)


def cotangent_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the cotangent of an array of numbers: its own, or float64 for integers."""
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


@cotangent_of(1)
def unbroadcast(d: Any, x: Any) -> Any:
    """The cotangent of the operand `x` of a broadcasting operation whose result has the cotangent `d`: `d` summed over
    the axes along which `x` was repeated, in `x`'s shape; real if `x` is. A scalar `d` is spread over an array `x`.
    None if `x` carries no derivative."""
    if type(x) is float or type(x) is np.float64 or type(x) is int:
        total = np.add.reduce(d, axis=None) if type(d) is np.ndarray and d.dtype.kind == "f" else d
        if type(total) is float or type(total) is np.float64:
            return total if type(x) is np.float64 else float(total)
    elif type(x) is np.ndarray and type(d) is np.ndarray and d.shape == x.shape and d.dtype.kind == "f":
        return d if x.dtype.kind != "b" else None
    if _is_zero(d) or x is None or isinstance(x, bool | np.bool | str | bytes | range):
        return None
    refuse_unlike_arrays(d)
    refuse_unlike_arrays(x)
    if is_foreign_array(x) or is_foreign_array(d):
        return real_like(foreign.sum_to_shape(d, np.shape(x)), x)
    _refuse_objects(x)
    if isinstance(d, Tangent):
        refuse_arithmetic(d)
    if isinstance(x, list | tuple):
        x = _operand_array(d, x)
    if isinstance(x, np.ndarray):
        if x.dtype.kind == "b":
            return None
        return real_like(_sum_to_shape(np.asarray(d), x.shape), x)
    total = real_like(np.asarray(d).sum() if isinstance(d, np.ndarray) else d, x)
    # A Python number again, so that the arithmetic that follows is Python's and not NumPy's, which is slower. An np.float64 is
    # a float by its class only: float32 times it is float64, and float32 times a float is float32.
    is_python = isinstance(x, float | int) and not isinstance(x, np.float64)
    return total.item() if is_python and isinstance(total, np.generic) else total


def _is_zero(d: Any) -> bool:
    """Whether a cotangent is a structural zero, or a list of zeros, as that of `shape + shape` is."""
    if isinstance(d, list | tuple):
        return all(is_structural_zero(item) or (isinstance(item, float) and item == 0.0) for item in d)
    return is_structural_zero(d)


def _operand_array(d: Any, x: list[Any] | tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """A list of numbers that NumPy took as an array."""
    array = np.asarray(x)
    if isinstance(d, list | tuple) or (np.ndim(d) == array.ndim and len(d) != len(array)):
        # This might be the cotangent of `x + other_list`, of which x has a slice.
        raise CotangentShapeError(
            f"a {type(x).__name__} is an operand where an array or number was expected",
            None,
            "Convert it first: np.asarray(x).",
        )
    return array


def _sum_to_shape(d: np.ndarray[Any, Any], shape: tuple[int, ...]) -> Any:
    if d.shape == shape:
        return d
    if d.ndim < len(shape):
        return np.broadcast_to(d, shape)
    extra = d.ndim - len(shape)
    axes = (
        *range(extra),
        *(extra + axis for axis, size in enumerate(shape) if size == 1 and d.shape[extra + axis] != 1),
    )
    summed = np.asarray(d.sum(axis=axes, keepdims=True)).reshape(d.shape[extra:] if not axes[extra:] else shape)
    return summed if summed.shape == shape else np.broadcast_to(summed, shape)


def real_like(d: Any, x: Any) -> Any:
    """The cotangent `d` without its imaginary part if the value `x` is real."""
    if type(d) is float or (type(d) is np.ndarray and d.dtype.kind == "f"):
        return d
    _refuse_complex_objects(x)
    if isinstance(d, np.ndarray) and d.dtype.kind == "O":
        d = d.astype(complex if _has_complex_items(d) else float)
    if np.iscomplexobj(d) and not np.iscomplexobj(x):
        return d.real
    return d


def item_cotangent(x: Any, index: Any, d: Any) -> Any:
    """The cotangent of a container of which only `x[index]` was read: a new array, list, tuple or dict that is `d` at
    `index` (summed where an index array repeats) and zero elsewhere. None if `d` is."""
    if type(x) is np.ndarray and type(index) is int and x.dtype.kind == "f" and _is_real(d):
        row_bars = np.zeros(x.shape, x.dtype)
        row_bars[index] = d
        return row_bars
    if is_structural_zero(d):
        return None
    if type(x) in (list, tuple) and type(index) is int:
        bars = [None] * len(x)
        bars[index] = d
        return bars if type(x) is list else tuple(bars)
    check_reading(x)
    if isinstance(x, np.ndarray):
        zeros = zero_cotangent(x)
        if zeros is not None:
            return _add_to_array(zeros, x, index, d)
        if x.dtype.kind in "bSU":
            return None
    if isinstance(x, dict):
        return {index: d}
    if isinstance(x, list | tuple) or is_deque(x):
        items = _add_to_sequence([None] * len(x), index, d)
        return tuple(items) if isinstance(x, tuple) else items
    if isinstance(x, np.generic):
        return real_like(np.asarray(d).sum(), x)
    return _item_of_other_cotangent(x, index, d)


def _is_real(d: Any) -> bool:
    return type(d) is float or (type(d) is np.ndarray and d.dtype.kind == "f")


def _item_of_other_cotangent(x: Any, index: Any, d: Any) -> Any:
    if isinstance(x, str | bytes | range):
        return None
    if isinstance(x, Tangent):
        return of_field(index, d)
    if is_foreign_array(x):
        return foreign.item_bar(x, index, real_like(d, x))
    if isinstance(x, np.ndarray):
        raise MissingRuleError(f"an item of an array of dtype {x.dtype} was read", None, "Use an array of numbers, or a list.")
    raise MissingRuleError(f"an item of a {type(x).__name__} was read", None, _ITEM_REMEDY)


def is_deque(x: Any) -> bool:
    """Whether something is a deque: by what only these have, as texts of the cache on disk name classes of builtins only."""
    return hasattr(type(x), "appendleft")


_READING = ("__getitem__", "__iter__", "__reversed__", "__len__", "get", "items", "values", "keys")


def check_reading(x: Any) -> None:
    """What is read of a container has to be what it holds: a list, tuple, dict or deque of a class that reads in its own
    way is refused."""
    if type(x) in (list, tuple, dict) or not (isinstance(x, list | tuple | dict) or is_deque(x)):
        return
    for name in _READING:
        if isinstance(getattr(type(x), name, None), types.FunctionType):
            found = f"an item of a {type(x).__name__} was read, whose class has a {name} of its own"
            raise MissingRuleError(found, None, _ITEM_REMEDY)


_ITEM_REMEDY = "Copy it to a list or dict first, or give its __getitem__ a rule with @rrule.register."


def add_item(x_bar: Any, x: Any, index: Any, d: Any) -> Any:
    """`accumulate(x_bar, item_cotangent(x, index, d))` in time that does not depend on the size of `x`: writes into
    `x_bar`, which the caller owns (a tuple becomes a list). Returns the sum."""
    if type(d) in (float, tuple) and type(x_bar) is list and type(index) is int and type(x) in (list, tuple):
        before = x_bar[index]
        add = add_sequences if type(before) is tuple is type(d) else accumulate
        x_bar[index] = d if before is None else add(before, d)
        return x_bar
    if is_structural_zero(d):
        return x_bar
    if is_structural_zero(x_bar):
        return item_cotangent(x, index, d)
    if isinstance(x, np.ndarray) and isinstance(x_bar, np.ndarray):
        return _add_to_array(x_bar, x, index, d)
    if isinstance(x_bar, dict):
        x_bar[index] = accumulate(x_bar.get(index), d)
        return x_bar
    if isinstance(x, list | tuple) or is_deque(x):
        # An array stands for the cotangents of a list of numbers only until one item is written by itself.
        return _add_to_sequence(x_bar if isinstance(x_bar, list) else list(x_bar), index, d)
    return accumulate(x_bar, item_cotangent(x, index, d))


def _add_to_array(x_bar: np.ndarray[Any, Any], x: np.ndarray[Any, Any], index: Any, d: Any) -> np.ndarray[Any, Any]:
    if isinstance(d, list | tuple):
        d = stack_items(x[index], d)
    if x.dtype.kind != "c":
        d = real_like(d, x)
    elif x_bar.dtype.kind != "c":
        x_bar = x_bar.astype(x.dtype)
    if _is_basic(index):
        x_bar[index] += d
    else:
        # `x_bar[index] += d` would count an index that is repeated only once.
        np.add.at(x_bar, index, d)
    return x_bar


def _is_basic(index: Any) -> bool:
    if isinstance(index, tuple):
        return all(isinstance(part, _BASIC_INDICES) for part in index)
    return isinstance(index, _BASIC_INDICES)


def _add_to_sequence(items: list[Any], index: Any, d: Any) -> list[Any]:
    if not isinstance(index, slice):
        items[index] = accumulate(items[index], d)
        return items
    positions = range(*index.indices(len(items)))
    if len(positions) != len(d):
        raise CotangentShapeError(f"the cotangent of a slice of {len(positions)} items has {len(d)} items")
    for position, item in zip(positions, d, strict=True):
        items[position] = accumulate(items[position], item)
    return items


def stack_items(x: np.ndarray[Any, Any], items: list[Any] | tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """The cotangent of an array from those of its items along the first axis, a sequence that may hold None."""
    if len(items) != len(x):
        raise CotangentShapeError(f"the cotangent of an array of shape {x.shape} has {len(items)} items")
    zeros: np.ndarray[Any, Any] | None = zero_cotangent(x)
    if zeros is None:
        raise CotangentShapeError(f"an array of {x.dtype} has no cotangent")
    for index, item in enumerate(items):
        if not is_structural_zero(item):
            zeros[index] = stack_items(x[index], item) if isinstance(item, list | tuple) else item
    return zeros


def field_cotangent(x: Any, name: str, d: Any) -> Any:
    """The cotangent of a value of which only the field `name` was read; None if `d` is. A namedtuple counts as a
    tuple."""
    if is_structural_zero(d):
        return None
    names = getattr(x, "_fields", None)
    if isinstance(x, tuple) and isinstance(names, tuple) and name in names:
        return item_cotangent(x, names.index(name), d)
    return Tangent(type(x), {name: d})


def own(x_bar: Any) -> Any:
    """A cotangent with the same value that the caller may write into: arrays, lists and dicts are copied."""
    if isinstance(x_bar, np.ndarray):
        return x_bar.astype(cotangent_dtype(x_bar.dtype))
    if isinstance(x_bar, list | dict):
        return x_bar.copy()
    return x_bar
