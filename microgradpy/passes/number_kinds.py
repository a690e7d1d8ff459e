"""Kinds of what computes with numbers and arrays: operators, elementwise functions, comparisons, products, reductions.

    x ** 2, np.power(x, 0.5)        a base of integers may become one of floating point
    x @ y                           the axes that are left
    np.sum(x, axis=0)               the other axes keep their symbols
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    join,
)
from microgradpy.passes.array_kinds import axes_of
from microgradpy.passes.broadcasting import MISSING, Arguments, KindRule, Known, broadcast, dtype_of, ranked, scalar, widest


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


def division(arguments: Arguments, known: Known) -> Kind:
    """Remainders and whole quotients; `%` of a text is a text."""
    return arguments[0] if arguments[0] == Inert("str") else counting(arguments, known)


def arithmetic(arguments: Arguments, known: Known) -> Kind:
    match arguments:
        case (TupleOf(items=left), TupleOf(items=right)):
            return TupleOf(left + right)
        case (TupleOf() | Sequence(name="tuple"), TupleOf() | Sequence(name="tuple")):
            return Sequence("tuple")
        case (Sequence(name="list"), Sequence(name="list")):
            return join(*arguments)
        case (Sequence(name="list") as items, Scalar(name="int")) | (Scalar(name="int"), Sequence(name="list") as items):
            return items
        case (Inert(name="str"), Inert(name="str")):
            return Inert("str")
    kind = broadcast(arguments)
    return REAL if kind == BOOL else kind  # an int of Python's truth values, a truth value of NumPy's


def power(arguments: Arguments, known: Known) -> Kind:
    base, exponent = arguments
    match base, exponent:
        case Scalar(name="int"), Scalar(name="int" | "bool"):
            whole = known.get(1)
            return INT if isinstance(whole, int) and whole >= 0 else NUMERIC
        case Scalar(name="float" | "real"), Scalar(name="int" | "bool"):
            return base
        case Scalar(), Scalar():  # a negative base with a fractional exponent is complex in Python
            return NUMERIC
        case Array(), Scalar():
            return floating(arguments, known) if "float" in (dtype_of(base), dtype_of(exponent)) else broadcast(arguments, "")
    return broadcast(arguments, "")


def matmul(arguments: Arguments, known: Known) -> Kind:
    left, right = arguments
    dtype = widest(dtype_of(left), dtype_of(right))
    match left, right:
        case Array(ndim=1), Array(ndim=1):
            return scalar(dtype)
        case Array(ndim=2), Array(ndim=2):
            return Array(2, dtype, (*left.shape[:1], *right.shape[1:]) if left.shape and right.shape else ())
        case Array(ndim=1), Array(ndim=2):
            return Array(1, dtype, right.shape[1:])
        case Array(ndim=2), Array(ndim=1):
            return Array(1, dtype, left.shape[:1])
    return NUMERIC if is_numeric(left) and is_numeric(right) else UNKNOWN


def dot(arguments: Arguments, known: Known) -> Kind:
    if any(isinstance(kind, Scalar) for kind in arguments):
        return broadcast(arguments)
    return matmul(arguments, known)


def comparison(arguments: Arguments, known: Known) -> Kind:
    if all(isinstance(kind, Scalar | Inert) for kind in arguments):
        return BOOL
    kind = broadcast(arguments, "bool")
    return kind if isinstance(kind, Array) else UNKNOWN


def reduction(dtypes: Mapping[str, str]) -> KindRule:
    """For reductions that change some dtypes: over one axis or all, which may be kept."""

    def kind(arguments: Arguments, known: Known) -> Kind:
        array = arguments[0]
        if not isinstance(array, Array):
            return NUMERIC if is_numeric(array) else UNKNOWN
        dtype = dtypes.get(array.dtype, array.dtype)
        axis, keepdims = known.get("axis", known.get(1)), known.get("keepdims", False)
        if len(arguments) > 1 and 1 not in known and "axis" not in known:
            axis = MISSING
        if keepdims not in (True, False) or not array.ndim:
            return scalar(dtype) if array.ndim == 0 and axis is None and keepdims is False else NUMERIC
        if keepdims:
            return Array(array.ndim, dtype, _kept(array, axis))
        if axis is None:
            return scalar(dtype)
        if type(axis) is not int or not -array.ndim <= axis < array.ndim:
            return NUMERIC
        rest = tuple(symbol for number, symbol in enumerate(array.shape) if number != axis % array.ndim)
        return ranked(array.ndim - 1, dtype, rest)

    return kind


def _kept(array: Array, axis: Any) -> tuple[Any, ...]:
    """The axes of a reduction that keeps those it reduces, with length one."""
    axes = axes_of(array)
    if axis is None:
        return (1,) * len(axes)
    if type(axis) is not int or not -len(axes) <= axis < len(axes):
        return ()
    return tuple(1 if number == axis % len(axes) else symbol for number, symbol in enumerate(axes))


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
