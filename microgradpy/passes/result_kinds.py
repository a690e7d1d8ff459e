"""What is proven of a call's result from what is proven of its arguments.

`result_kind(np.sum, (Array(2),), {"axis": 0}, ...)` is `Array(1)`. A callee that is not in the tables gives `UNKNOWN`,
which is always right. A NumPy operation on arrays of rank 0 returns a NumPy scalar, not an array: hence `Scalar`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from microgradpy.ir.kinds import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NUMERIC,
    UNKNOWN,
    Array,
    Inert,
    Kind,
    Numeric,
    Scalar,
    Sequence,
    TupleOf,
    cotangent_kind,
    is_numeric,
    is_real_scalar,
    join,
)
from microgradpy.ir.nodes import Const, Value
from microgradpy.tangents.helpers import COTANGENT_OF, COTANGENT_OF_CALL, LIKE, NUMERIC_RESULT, RETURNS

Arguments = tuple[Kind, ...]
Known = Mapping[Any, Any]
KindRule = Callable[[Arguments, Known], Kind]
MISSING = object()


def result_kind(callee: object, arguments: Arguments, values: tuple[Value, ...], keywords: Mapping[str, Value]) -> Kind:
    """The kind of `callee(*arguments, **keywords)`; `values` are the arguments themselves, for those that are constants."""
    try:
        rule = _RULES.get(callee) or _helper_rule(callee)
    except TypeError:
        return UNKNOWN
    if rule is None:
        return NUMERIC if isinstance(callee, np.ufunc) and callee.nout == 1 and not keywords else UNKNOWN
    known: dict[Any, Any] = {index: value.value for index, value in enumerate(values) if isinstance(value, Const)}
    known |= {name: value.value if isinstance(value, Const) else MISSING for name, value in keywords.items()}
    if {"out", "where", "dtype"} & keywords.keys():
        return UNKNOWN
    try:
        return rule(arguments, known)
    except (IndexError, ValueError):  # wrong number of arguments: Python will say so when it runs
        return UNKNOWN


def _dtype(kind: Kind) -> str:
    match kind:
        case Scalar(name=name) | Array(dtype=name):
            return name
    return ""


_WIDTH = {"bool": 0, "int": 1, "real": 2, "float": 3, "complex": 4}


def _wider(*dtypes: str) -> str:
    return max(dtypes, key=_WIDTH.__getitem__) if all(dtype in _WIDTH for dtype in dtypes) else ""


def _scalar(dtype: str) -> Kind:
    return Scalar(dtype) if dtype else NUMERIC


def _ranked(ndim: int | None, dtype: str, shape: tuple[Any, ...] = ()) -> Kind:
    """The result of a NumPy operation: a scalar where the rank is 0, a number or an array where it is not known."""
    if ndim is None:
        return NUMERIC
    return _scalar(dtype) if ndim == 0 else Array(ndim, "" if dtype == "real" else dtype, shape)


def broadcast(arguments: Arguments, dtype: str | None = None) -> Kind:
    """The kind of an elementwise operation, whose dtype is the widest operand's unless given."""
    if not all(map(is_numeric, arguments)):
        return UNKNOWN
    result = _wider(*map(_dtype, arguments)) if dtype is None else dtype
    arrays = [kind for kind in arguments if isinstance(kind, Array)]
    if any(isinstance(kind, Numeric) for kind in arguments):
        return NUMERIC
    if not arrays:
        return _scalar(result)
    ranks = [kind.ndim for kind in arrays]
    shape = _broadcast_axes([kind.shape for kind in arrays]) if None not in ranks else ()
    if None in ranks and len({kind.shape for kind in arrays}) == 1:
        shape = arrays[0].shape
        return Array(None, "" if result == "real" else result, shape) if shape else NUMERIC
    return _ranked(None if None in ranks else max(rank for rank in ranks if rank is not None), result, shape)


def _broadcast_axes(shapes: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The axes of a broadcast result, aligned from the last; None where it cannot be said which operand's it is."""
    length = max(map(len, shapes))
    axes = []
    for position in range(-length, 0):
        symbols = {shape[position] for shape in shapes if len(shape) >= -position}
        symbols.discard(1)
        axes.append(symbols.pop() if len(symbols) == 1 else None if symbols else 1)
    return tuple(axes)


def _floating(arguments: Arguments, known: Known) -> Kind:
    kind = broadcast(arguments)
    if kind is UNKNOWN:
        return UNKNOWN
    match kind:
        case Scalar(name="int" | "bool" | "real"):
            return FLOAT
        case Array(ndim=ndim, dtype="int" | "bool", shape=shape):
            return Array(ndim, "float", shape)
    return kind


def _numpy_floating(arguments: Arguments, known: Known) -> Kind:
    kind = _floating(arguments, known)
    return NUMERIC if kind is UNKNOWN else kind


def _arithmetic(arguments: Arguments, known: Known) -> Kind:
    match arguments:
        case (TupleOf(items=left), TupleOf(items=right)):
            return TupleOf(left + right)
        case (TupleOf() | Sequence(name="tuple"), TupleOf() | Sequence(name="tuple")):
            return Sequence("tuple")
        case (Sequence(name="list"), Sequence(name="list")):
            return Sequence("list")
        case (Inert(name="str"), Inert(name="str")):
            return Inert("str")
    kind = broadcast(arguments)
    return INT if kind == BOOL else kind


def _power(arguments: Arguments, known: Known) -> Kind:
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
            return _floating(arguments, known) if "float" in (_dtype(base), _dtype(exponent)) else broadcast(arguments, "")
    return broadcast(arguments, "")


def _matmul(arguments: Arguments, known: Known) -> Kind:
    left, right = arguments
    dtype = _wider(_dtype(left), _dtype(right))
    match left, right:
        case Array(ndim=1), Array(ndim=1):
            return _scalar(dtype)
        case Array(ndim=2), Array(ndim=2):
            return Array(2, dtype, (*left.shape[:1], *right.shape[1:]) if left.shape and right.shape else ())
        case Array(ndim=1), Array(ndim=2):
            return Array(1, dtype, right.shape[1:])
        case Array(ndim=2), Array(ndim=1):
            return Array(1, dtype, left.shape[:1])
    return NUMERIC if is_numeric(left) and is_numeric(right) else UNKNOWN


def _dot(arguments: Arguments, known: Known) -> Kind:
    if any(isinstance(kind, Scalar) for kind in arguments):
        return broadcast(arguments)
    return _matmul(arguments, known)


def _comparison(arguments: Arguments, known: Known) -> Kind:
    if all(isinstance(kind, Scalar | Inert) for kind in arguments):
        return BOOL
    kind = broadcast(arguments, "bool")
    return kind if isinstance(kind, Array) else UNKNOWN


def _reduction(mean: bool) -> KindRule:
    def kind(arguments: Arguments, known: Known) -> Kind:
        array = arguments[0]
        if not isinstance(array, Array):
            return NUMERIC if is_numeric(array) else UNKNOWN
        dtype = array.dtype
        if dtype in ("int", "bool"):
            dtype = "float" if mean else "int"
        axis, keepdims = known.get("axis", known.get(1)), known.get("keepdims", False)
        if len(arguments) > 1 and 1 not in known and "axis" not in known:
            axis = MISSING
        if len(arguments) > 2 or keepdims not in (True, False) or array.ndim is None:
            return NUMERIC
        if keepdims:
            return Array(array.ndim, dtype)
        if axis is None:
            return _scalar(dtype)
        if type(axis) is not int or not -array.ndim <= axis < array.ndim:
            return NUMERIC
        rest = tuple(symbol for number, symbol in enumerate(array.shape) if number != axis % array.ndim)
        return _ranked(array.ndim - 1, dtype, rest)

    return kind


def _same_rank(arguments: Arguments, known: Known) -> Kind:
    array = arguments[0]
    return Array(array.ndim, array.dtype) if isinstance(array, Array) else UNKNOWN


def _same(arguments: Arguments, known: Known) -> Kind:
    return arguments[0] if is_numeric(arguments[0]) else UNKNOWN


def _like_cotangent_of(index: int) -> KindRule:
    """For helpers whose result is the cotangent of one of their arguments."""

    def kind(arguments: Arguments, known: Known) -> Kind:
        return cotangent_kind(arguments[index]) if is_numeric(arguments[index]) else UNKNOWN

    return kind


def _helper_rule(callee: Any) -> KindRule | None:
    """What a helper that rules call is declared to return."""
    if callee in COTANGENT_OF:
        return _like_cotangent_of(COTANGENT_OF[callee])
    if callee in COTANGENT_OF_CALL:
        function, indices = COTANGENT_OF_CALL[callee]
        return lambda arguments, known: _cotangent_of_call(function, indices, arguments, known)
    if callee in LIKE:
        index = LIKE[callee]
        return lambda arguments, known: _floating(arguments[index : index + 1], known)
    if callee in RETURNS:
        return _always(INT if RETURNS[callee] is int else FLOAT)
    return _always(NUMERIC) if callee in NUMERIC_RESULT else None


def _cotangent_of_call(function: Any, indices: tuple[int, ...], arguments: Arguments, known: Known) -> Kind:
    constants = {place: known[index] for place, index in enumerate(indices) if index in known}
    kind = _RULES[function](tuple(arguments[index] for index in indices), constants)
    return cotangent_kind(kind) if is_numeric(kind) else UNKNOWN


def _item(arguments: Arguments, known: Known) -> Kind:
    container, index = arguments
    match container:
        case TupleOf(items=items):
            whole = known.get(1)
            if type(whole) is int and -len(items) <= whole < len(items):
                return items[whole]
            return UNKNOWN
        case Array(ndim=ndim, dtype=dtype):
            if ndim is None:
                return NUMERIC
            if index == INT:
                return _ranked(ndim - 1, dtype) if ndim > 0 else UNKNOWN
            if isinstance(index, Inert) and index.name == "slice":
                return Array(ndim, dtype)
            if isinstance(index, TupleOf) and len(index.items) <= ndim:
                whole = [item == INT for item in index.items]
                slices = [isinstance(item, Inert) and item.name == "slice" for item in index.items]
                if all(a or b for a, b in zip(whole, slices, strict=True)):
                    return _ranked(ndim - sum(whole), dtype)
            return NUMERIC
    return UNKNOWN


def _attribute(arguments: Arguments, known: Known) -> Kind:
    target, name = arguments[0], known.get(1)
    if not isinstance(target, Array):
        return UNKNOWN
    match name:
        case "T":
            return Array(target.ndim, target.dtype, target.shape[::-1] if target.ndim is not None else ())
        case "shape":
            return Sequence("tuple") if target.ndim is None else TupleOf((INT,) * target.ndim)
        case "ndim" | "size":
            return INT
        case "real" | "imag":
            return Array(target.ndim, "float" if target.dtype == "complex" else target.dtype, target.shape)
    return UNKNOWN


def _created(arguments: Arguments, known: Known) -> Kind:
    match arguments[0]:
        case Scalar(name="int"):
            return Array(1)
        case TupleOf(items=items):
            return Array(len(items))
    return Array(None)


def _tuple_of(arguments: Arguments, known: Known) -> Kind:
    return arguments[0] if isinstance(arguments[0], TupleOf) else Sequence("tuple")


def _numpy_unary(arguments: Arguments, known: Known) -> Kind:
    """An elementwise function that keeps the shape and maybe not the dtype."""
    match arguments[0]:
        case Array(ndim=ndim, dtype="float", shape=shape):
            return Array(ndim, "float", shape)
        case Scalar(name="float"):
            return FLOAT
    return NUMERIC


def _always(kind: Kind) -> KindRule:
    return lambda arguments, known: kind


def _absolute(arguments: Arguments, known: Known) -> Kind:
    match arguments[0]:
        case Scalar(name="complex"):
            return FLOAT
        case Scalar(name="bool"):
            return INT
        case Array(ndim=ndim, dtype="complex", shape=shape):
            return Array(ndim, "float", shape)
    return _same(arguments, known)


def _extreme(arguments: Arguments, known: Known) -> Kind:
    if len(arguments) < 2 or not all(map(is_real_scalar, arguments)):
        return UNKNOWN
    result = arguments[0]
    for kind in arguments[1:]:
        result = join(result, kind)
    return result


def _where(arguments: Arguments, known: Known) -> Kind:
    condition, *branches = arguments
    if not is_numeric(condition) or not all(map(is_numeric, branches)) or not branches:
        return UNKNOWN
    kind = broadcast(arguments, _wider(*map(_dtype, branches)))
    return NUMERIC if isinstance(kind, Scalar) else kind


def _table() -> dict[Any, KindRule]:
    table: dict[Any, KindRule] = {}

    def put(rule: KindRule, *callees: object) -> None:
        table.update(dict.fromkeys(callees, rule))

    put(_arithmetic, operator.add, operator.sub, operator.mul, operator.mod, operator.floordiv)
    put(_floating, operator.truediv)
    put(_power, operator.pow, pow, np.power)
    put(_matmul, operator.matmul, np.matmul)
    put(_dot, np.dot)
    put(_same, operator.neg, operator.pos, np.negative, np.positive, np.conj, np.square)
    put(_absolute, abs, operator.abs, np.abs, np.fabs)
    put(_comparison, *(getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")))
    put(_comparison, np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
    put(_always(BOOL), operator.is_, operator.is_not, operator.not_, operator.contains, isinstance, issubclass, bool)
    put(_always(BOOL), callable, hasattr, math.isnan, math.isinf, math.isfinite, math.isclose, any, all)
    put(_always(INT), len, int, math.floor, math.ceil, math.trunc, hash, id, np.ndim, np.size)
    put(_always(FLOAT), float)
    put(_always(COMPLEX), complex)
    put(_always(Inert("str")), str, repr, format)
    put(_always(Inert("NoneType")), print)
    put(_always(Inert("slice")), slice)
    put(_always(Sequence("range")), range)
    put(_always(Sequence("list")), list, sorted)
    put(_tuple_of, tuple)
    put(_numpy_unary, np.sign, np.floor, np.ceil, np.trunc, np.rint, np.sinc, np.heaviside, np.angle, np.real, np.imag)
    put(_always(Sequence("dict")), dict)
    put(_extreme, max, min)
    for name in _MATH_FLOAT:
        if hasattr(math, name):
            put(_always(FLOAT), getattr(math, name))
    for name in _UFUNC_FLOAT:
        put(_numpy_floating, getattr(np, name))
    for name in ("add", "subtract", "multiply", "maximum", "minimum", "fmax", "fmin", "mod", "remainder", "clip"):
        put(lambda arguments, known: broadcast(arguments), getattr(np, name))
    put(_where, np.where)
    for name in ("sum", "prod", "max", "min", "amax", "amin"):
        put(_reduction(mean=False), getattr(np, name), getattr(np.ndarray, name, None))
    for name in ("mean", "var", "std"):
        put(_reduction(mean=True), getattr(np, name), getattr(np.ndarray, name))
    put(_same_rank, np.transpose, np.ndarray.transpose, np.flip, np.roll, np.copy, np.ndarray.copy)
    put(_created, np.zeros, np.ones, np.empty)
    put(_always(Array(2)), np.eye)
    put(_item, operator.getitem)
    put(_attribute, getattr)
    table.pop(None, None)
    return table


_MATH_FLOAT = (
    "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt "
    "pow hypot fabs copysign fmod erf erfc gamma lgamma degrees radians fsum dist ldexp"
).split()
_UFUNC_FLOAT = (
    "sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh exp exp2 expm1 log log2 log10 "
    "log1p sqrt cbrt divide true_divide hypot logaddexp logaddexp2 degrees radians deg2rad rad2deg reciprocal"
).split()
_RULES: dict[Any, KindRule] = _table()
