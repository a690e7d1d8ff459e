"""Kinds of what computes with numbers and arrays: operators, elementwise functions, comparisons, products, reductions.

    x ** 2, np.power(x, 0.5)        a base of integers may become one of floating point
    np.sum(x, axis=0)               the other axes keep their symbols
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from microgradpy.ir.kinds import (
    BOOL,
    FLOAT,
    INT,
    NUMERIC,
    REAL,
    UNKNOWN,
    Array,
    Inert,
    Kind,
    Scalar,
    Sequence,
    TupleOf,
    is_numeric,
    is_real_scalar,
    item_kind,
    join,
)
from microgradpy.passes.array_kinds import axes_of
from microgradpy.passes.broadcasting import MISSING, Arguments, KindRule, Known, broadcast, dtype_of, ranked, scalar, widest
from microgradpy.passes.given import Given
from microgradpy.passes.shape_kinds import numeric, resized_along


def floating(arguments: Arguments, known: Known) -> Kind:
    kind = broadcast(arguments)
    if kind is UNKNOWN:
        return UNKNOWN
    match kind:
        case Scalar(name="int" | "bool" | "real"):
            return FLOAT
        case Array(ndim=ndim, dtype="int" | "bool", shape=shape):
            return Array(ndim, "float", shape)
    return kind


def counting(arguments: Arguments, known: Known) -> Kind:
    """As `broadcast`, for operations that make integers of truth values."""
    return _counted(broadcast(arguments))


def _counted(kind: Kind) -> Kind:
    if isinstance(kind, Array) and kind.dtype == "bool":
        return Array(kind.ndim, "int", kind.shape)
    return INT if kind == BOOL else kind


def bits(arguments: Arguments, known: Known) -> Kind:
    """~x, x & y: of truth values and whole numbers."""
    kind = broadcast(arguments) if all(isinstance(each, Array | Scalar) for each in arguments) else UNKNOWN
    if kind == BOOL and len(arguments) == 1:
        return UNKNOWN  # of Python's truth value an integer, of NumPy's a truth value
    return kind if isinstance(kind, Array | Scalar) and dtype_of(kind) in ("bool", "int") else UNKNOWN


def division(arguments: Arguments, known: Known) -> Kind:
    """Remainders and whole quotients; `%` of a text is a text."""
    return arguments[0] if arguments[0] == Inert("str") else counting(arguments, known)


def arithmetic(arguments: Arguments, known: Known) -> Kind:
    match arguments:
        case (TupleOf(items=left), TupleOf(items=right)):
            return TupleOf(left + right)
        case (Sequence(name="tuple"), Sequence(name="tuple")):
            return join(*arguments)
        case (TupleOf() | Sequence(name="tuple"), TupleOf() | Sequence(name="tuple")):
            return Sequence("tuple")
        case (Sequence(name="list"), Sequence(name="list")):
            return join(*arguments)
        case (Inert(name="str"), Inert(name="str")):
            return Inert("str")
    kind = broadcast(arguments)
    return REAL if kind == BOOL else kind  # an int of Python's truth values, a truth value of NumPy's


def product(arguments: Arguments, known: Known) -> Kind:
    match arguments:
        case (Sequence(name="list" | "tuple") as items, Scalar(name="int")) | (Inert(name="str") as items, Scalar(name="int")):
            return items
    return arithmetic(arguments, known)


def power(arguments: Arguments, known: Known) -> Kind:
    base, exponent = arguments
    match base, exponent:
        case Scalar(name="int"), Scalar(name="int" | "bool"):
            whole = known.get(1)
            return INT if isinstance(whole, int) and whole >= 0 else REAL
        case Scalar(name="float" | "real"), Scalar(name="int" | "bool"):
            return base
        case Scalar(name="int" | "float"), Scalar(name="float" | "real") if _is_positive(known.get(0)):
            return FLOAT if FLOAT in arguments else REAL
        case Scalar(), Scalar():  # a negative base with a fractional exponent is complex in Python
            return NUMERIC
    dtype = widest(dtype_of(base), dtype_of(exponent))
    if exponent == INT and dtype == "real":
        return broadcast(arguments, dtype)
    return broadcast(arguments, dtype if dtype in ("float", "complex") else "")  # of whole numbers not below zero


def _is_positive(number: object) -> bool:
    return type(number) in (int, float) and number > 0  # type: ignore[operator]


def comparison(arguments: Arguments, known: Known) -> Kind:
    if all(isinstance(kind, Scalar | Inert) for kind in arguments):
        return BOOL
    kind = broadcast(arguments, "bool")
    return kind if isinstance(kind, Array) else UNKNOWN


def reduction(dtypes: Mapping[str, str], ranked: Callable[..., Kind] = ranked) -> Callable[[Given], Kind]:
    """For reductions that change some dtypes: over one axis, several or all, which may be kept. `ranked` makes the result, of
    which some reductions make an array without axes where others make a number."""

    def kind(call: Given) -> Kind:
        array, axis, keepdims = call.kind("a"), call.constant("axis"), call.constant("keepdims")
        if not isinstance(array, Array):
            return NUMERIC if is_numeric(array) else UNKNOWN
        dtype = dtypes.get(array.dtype, array.dtype)
        kept = False if keepdims is np._NoValue else keepdims
        if axis is None and kept is False:
            return ranked(0, dtype) if array.ndim is not None else NUMERIC
        if kept not in (True, False) or not array.ndim or axis is MISSING:
            is_over_one = kept in (True, False) and bool(array.ndim) and call.kind("axis") == INT
            return _over_one(array, dtype, bool(kept), ranked) if is_over_one else NUMERIC
        numbers = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        if not all(type(number) is int and -array.ndim <= number < array.ndim for number in numbers):
            return NUMERIC
        reduced = {number % array.ndim for number in numbers}
        axes = [
            1 if number in reduced else symbol for number, symbol in enumerate(axes_of(array)) if kept or number not in reduced
        ]
        return ranked(len(axes), dtype, tuple(axes))

    return kind


def _over_one(array: Array, dtype: str, kept: bool, ranked: Callable[..., Kind]) -> Kind:
    """A reduction over one axis, of which it is not known which one it is."""
    assert array.ndim is not None
    count = array.ndim if kept else array.ndim - 1
    return ranked(count, dtype, (None,) * count)


def truth(arguments: Arguments, known: Known) -> Kind:
    """np.isfinite(x), np.logical_and(x, y)"""
    return comparison(arguments, known) if all(map(is_numeric, arguments)) else UNKNOWN


def _elementwise(kind: Kind, dtypes: Mapping[str, str]) -> Kind:
    """An elementwise operation on one operand, which changes some dtypes."""
    match kind:
        case Scalar(name=name):
            return Scalar(dtypes.get(name, name))
        case Array(ndim=0, dtype=dtype):
            return scalar(dtypes.get(dtype, dtype))
        case Array(ndim=ndim, dtype=dtype, shape=shape):
            return Array(ndim, dtypes.get(dtype, dtype), shape)
    return kind if is_numeric(kind) else UNKNOWN


def changing(**dtypes: str) -> KindRule:
    return lambda arguments, known: _elementwise(arguments[0], dtypes)


def numeric_of_numeric(arguments: Arguments, known: Known) -> Kind:
    return NUMERIC if all(map(is_numeric, arguments)) else UNKNOWN


def part(arguments: Arguments, known: Known) -> Kind:
    """np.real and np.imag read an attribute: that of an array is an array, of whatever rank."""
    match arguments[0]:
        case Array(ndim=ndim, dtype=dtype, shape=shape):
            return Array(ndim, "float" if dtype == "complex" else dtype, shape)
        case Scalar(name="complex"):
            return FLOAT
        case Scalar(name="bool"):
            return REAL
    return arguments[0] if is_numeric(arguments[0]) else UNKNOWN


def numpy_unary(arguments: Arguments, known: Known) -> Kind:
    """An elementwise function that keeps the shape and maybe not the dtype."""
    kind = arguments[0]
    if dtype_of(kind) == "float":
        return _elementwise(kind, {})
    return NUMERIC if is_numeric(kind) else UNKNOWN


def whole(arguments: Arguments, known: Known) -> Kind:
    """Whole numbers of numbers and arrays. An object may answer with anything."""
    return INT if all(map(is_numeric, arguments)) else UNKNOWN


def absolute(arguments: Arguments, known: Known) -> Kind:
    # Of a truth value it is a whole number, or a truth value if it is NumPy's.
    return REAL if arguments[0] == BOOL else _elementwise(arguments[0], {"complex": "float"})


def extreme(arguments: Arguments, known: Known) -> Kind:
    if len(arguments) < 2 or not all(map(is_real_scalar, arguments)):
        return UNKNOWN
    result = arguments[0]
    for kind in arguments[1:]:
        result = join(result, kind)
    return result


def where(arguments: Arguments, known: Known) -> Kind:
    condition, *branches = arguments
    if not is_numeric(condition) or not all(map(is_numeric, branches)) or not branches:
        return UNKNOWN
    kind = broadcast(arguments, widest(*map(dtype_of, branches)))
    return NUMERIC if isinstance(kind, Scalar) else kind


def any_of(call: Given) -> Kind:
    """max(x) and min(x) of the entries of an array or list: one of them."""
    if call.rest:
        return extreme((call.kind("a"), *call.rest), {})
    item = item_kind(call.kind("a"))
    return item if is_real_scalar(item) else UNKNOWN


def accumulated(call: Given) -> Kind:
    """np.cumsum(x, axis): of all entries, in a row, without an axis."""
    array, axis = call.array("a"), call.constant("axis")
    if array is None or axis is MISSING:
        return numeric(call.kind("a"))
    dtype = "int" if array.dtype == "bool" else array.dtype
    if axis is None:
        return Array(1, dtype, array.shape if array.ndim == 1 else ())
    return Array(array.ndim, dtype, array.shape)


def ordered(call: Given) -> Kind:
    """np.sort(x, axis): without an axis, of all entries in a row."""
    array, axis = call.array("a"), call.constant("axis")
    if array is None or axis is MISSING:
        return numeric(call.kind("a"))
    return Array(1, array.dtype, array.shape if array.ndim == 1 else ()) if axis is None else array


def places(call: Given) -> Kind:
    """np.argsort(x, axis)"""
    kind = ordered(call)
    return Array(kind.ndim, "int", kind.shape) if isinstance(kind, Array) else kind


def average(call: Given) -> Kind:
    """np.average(x, axis, weights)"""
    weights = call.kind("weights")
    kinds = [call.kind("a")] if weights == Inert("NoneType") else [call.kind("a"), weights]
    dtype = widest(*map(dtype_of, kinds))
    return reduction({dtype_of(call.kind("a")): _AVERAGED.get(dtype, dtype)})(call) if all(map(is_numeric, kinds)) else UNKNOWN


_AVERAGED = {"bool": "float", "int": "float"}


def quantile(call: Given) -> Kind:
    """np.quantile(x, q, axis) of floating point, for one q or several"""
    q, of = call.kind("q"), reduction({"int": "", "bool": ""})(call)
    if isinstance(q, Array) and q.ndim:
        match of:
            case Scalar(name=dtype):
                return Array(q.ndim, dtype, q.shape)
            case Array(ndim=int(ndim), dtype=dtype):
                return Array(q.ndim + ndim, dtype, (*axes_of(q), *axes_of(of)))
    return of if isinstance(q, Scalar) else numeric(of)


def slopes(call: Given) -> Kind:
    """np.gradient(x) of a vector"""
    array = call.array("a")
    if array is None or array.ndim != 1:
        return UNKNOWN
    return Array(1, _AVERAGED.get(array.dtype, array.dtype), array.shape)


def integral(call: Given) -> Kind:
    """np.trapezoid(y, x) along the last axis"""
    array, x = call.array("y"), call.kind("x")
    if array is None or array.ndim is None or call.constant("axis") != -1:
        return numeric(call.kind("y"))
    given = [kind for kind in (x, call.kind("dx")) if kind != Inert("NoneType")]
    dtype = widest(array.dtype, *map(dtype_of, given))
    if not all(isinstance(kind, Scalar) or (isinstance(kind, Array) and kind.ndim in (0, 1)) for kind in given):
        return numeric(array, *given)
    return ranked(array.ndim - 1, _AVERAGED.get(dtype, dtype), axes_of(array)[:-1])


def looked_up(call: Given) -> Kind:
    """np.interp(x, xp, fp)"""
    x, values = call.kind("x"), dtype_of(call.kind("fp"))
    dtype = "complex" if values == "complex" else "float" if values else ""
    if isinstance(x, Array) and x.ndim:
        return Array(x.ndim, dtype, x.shape)
    return scalar(dtype) if isinstance(x, Scalar) else numeric(x)


def clipped(call: Given) -> Kind:
    """np.clip(x, low, high), either of which may be None"""
    bounds = [call.kind(name) for name in ("a_min", "a_max") if call.kind(name) != Inert("NoneType")]
    return broadcast((call.kind("a"), *bounds))


def polynomial(call: Given) -> Kind:
    """np.polyval(p, x): zeros of the type of x, if there are no coefficients."""
    coefficients, x = call.kind("p"), call.array("x")
    if x is None or not isinstance(coefficients, Array) or coefficients.ndim != 1:
        return numeric(coefficients, call.kind("x"))
    return Array(x.ndim, x.dtype if widest(coefficients.dtype, x.dtype) == x.dtype else "", x.shape)


def entrywise(**dtypes: str) -> Callable[[Given], Kind]:
    """Of arrays only, entry by entry."""

    def kind(call: Given) -> Kind:
        array = call.array("a")
        return (
            numeric(call.kind("a")) if array is None else Array(array.ndim, dtypes.get(array.dtype, array.dtype), array.shape)
        )

    return kind


def spectrum(dtype: str, *, resizes: bool = False) -> Callable[[Given], Kind]:
    """Fourier transforms along one axis, of which some change its length."""

    def kind(call: Given) -> Kind:
        array = call.array("a")
        if array is None or array.ndim is None:
            return numeric(call.kind("a"))
        if not resizes and call.constant("n") is None:
            return Array(array.ndim, dtype, array.shape)
        return resized_along(Array(array.ndim, dtype, array.shape), call.axis("axis", array.ndim), None)

    return kind


# Methods of ufuncs


def outer_of(call: Given) -> Kind:
    """np.multiply.outer(x, y)"""
    left, right = call.kind("a"), call.kind("b")
    ranks = [0 if isinstance(kind, Scalar) else kind.ndim if isinstance(kind, Array) else None for kind in (left, right)]
    if None in ranks:
        return numeric(left, right)
    axes = tuple(axis for kind in (left, right) if isinstance(kind, Array) for axis in axes_of(kind))
    dtype = widest(dtype_of(left), dtype_of(right))
    return ranked(len(axes), dtype if call.constant("ufunc") in _KEEPING and dtype in ("float", "complex") else "", axes)


def reduced_by(call: Given) -> Kind:
    """np.add.reduce(x, axis)"""
    return reduction(
        {name: "" for name in ("int", "bool") + (() if call.constant("ufunc") in _KEEPING else ("float", "complex"))}
    )(call)


def accumulated_by(call: Given) -> Kind:
    """np.maximum.accumulate(x, axis)"""
    array = call.array("a")
    if array is None:
        return numeric(call.kind("a"))
    keeps = call.constant("ufunc") in _KEEPING and array.dtype in ("float", "complex")
    return Array(array.ndim, array.dtype if keeps else "", array.shape)


_KEEPING = (np.add, np.subtract, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin, np.logaddexp, np.logaddexp2)
"""Ufuncs of two operands which make floating point of floating point, and complex numbers of complex ones."""
