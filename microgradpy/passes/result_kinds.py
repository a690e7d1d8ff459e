"""What is proven of a call's result from what is proven of its arguments.

`result_kind(np.sum, (Array(2),), {"axis": 0}, ...)` is `Array(1)`. A callee that is not in the tables gives `UNKNOWN`,
which is always right, and so does a call with more arguments or other keywords than its entry names: `dtype`, `out` or
`order` may stand there. A NumPy operation on arrays of rank 0 returns a NumPy scalar, not an array: hence `Scalar`.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from microgradpy.ir.kinds import (
    BOOL,
    COMPLEX,
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
    carries_nothing,
    cotangent_kind,
    is_numeric,
    is_real_scalar,
    item_kind,
    join,
    list_of,
)
from microgradpy.ir.nodes import Const, Value
from microgradpy.passes import array_kinds
from microgradpy.passes.broadcasting import MISSING, Arguments, Known, broadcast, dtype_of, ranked, scalar, widest
from microgradpy.tangents.arithmetic import divide
from microgradpy.tangents.helpers import (
    COTANGENT_OF,
    COTANGENT_OF_CALL,
    COTANGENTS_OF_ITEMS,
    LIKE,
    NUMERIC_RESULT,
    RETURNS,
)

KindRule = Callable[[Arguments, Known], Kind]


@final
@dataclass(frozen=True, slots=True)
class _Entry:
    """The rule of a callee, and the calls that it understands: `most` positional arguments, and these keywords. None
    stands for any."""

    rule: KindRule
    most: int | None = None
    keywords: frozenset[str] | None = None

    def understands(self, count: int, keywords: Mapping[str, Value]) -> bool:
        return (self.most is None or count <= self.most) and (self.keywords is None or keywords.keys() <= self.keywords)


def result_kind(callee: object, arguments: Arguments, values: tuple[Value, ...], keywords: Mapping[str, Value]) -> Kind:
    """The kind of `callee(*arguments, **keywords)`; `values` are the arguments themselves, for those that are constants."""
    try:
        entry = _RULES.get(callee) or _helper_entry(callee) or _ufunc_entry(callee)
    except TypeError:
        return UNKNOWN
    if entry is None or not entry.understands(len(arguments), keywords):
        return UNKNOWN
    known: dict[Any, Any] = {index: value.value for index, value in enumerate(values) if isinstance(value, Const)}
    known |= {name: value.value if isinstance(value, Const) else MISSING for name, value in keywords.items()}
    try:
        return entry.rule(arguments, known)
    except (IndexError, ValueError):  # wrong number of arguments: Python will say so when it runs
        return UNKNOWN


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


def _counting(arguments: Arguments, known: Known) -> Kind:
    """As `broadcast`, for operations that make integers of truth values."""
    return _counted(broadcast(arguments))


def _counted(kind: Kind) -> Kind:
    if isinstance(kind, Array) and kind.dtype == "bool":
        return Array(kind.ndim, "int", kind.shape)
    return INT if kind == BOOL else kind


def _division(arguments: Arguments, known: Known) -> Kind:
    """Remainders and whole quotients; `%` of a text is a text."""
    return arguments[0] if arguments[0] == Inert("str") else _counting(arguments, known)


def _arithmetic(arguments: Arguments, known: Known) -> Kind:
    match arguments:
        case (TupleOf(items=left), TupleOf(items=right)):
            return TupleOf(left + right)
        case (TupleOf() | Sequence(name="tuple"), TupleOf() | Sequence(name="tuple")):
            return Sequence("tuple")
        case (Sequence(name="list"), Sequence(name="list")):
            return join(*arguments)
        case (Inert(name="str"), Inert(name="str")):
            return Inert("str")
    kind = broadcast(arguments)
    return REAL if kind == BOOL else kind  # an int of Python's truth values, a truth value of NumPy's


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
            return _floating(arguments, known) if "float" in (dtype_of(base), dtype_of(exponent)) else broadcast(arguments, "")
    return broadcast(arguments, "")


def _matmul(arguments: Arguments, known: Known) -> Kind:
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


def _dot(arguments: Arguments, known: Known) -> Kind:
    if any(isinstance(kind, Scalar) for kind in arguments):
        return broadcast(arguments)
    return _matmul(arguments, known)


def _comparison(arguments: Arguments, known: Known) -> Kind:
    if all(isinstance(kind, Scalar | Inert) for kind in arguments):
        return BOOL
    kind = broadcast(arguments, "bool")
    return kind if isinstance(kind, Array) else UNKNOWN


def _reduction(dtypes: Mapping[str, str]) -> KindRule:
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
    axes = array_kinds.axes_of(array)
    if axis is None:
        return (1,) * len(axes)
    if type(axis) is not int or not -len(axes) <= axis < len(axes):
        return ()
    return tuple(1 if number == axis % len(axes) else symbol for number, symbol in enumerate(axes))


def _same_rank(arguments: Arguments, known: Known) -> Kind:
    array = arguments[0]
    return Array(array.ndim, array.dtype) if isinstance(array, Array) else UNKNOWN


def _flipped(arguments: Arguments, known: Known) -> Kind:
    kind = _same_rank(arguments, known)
    return NUMERIC if kind != UNKNOWN and getattr(kind, "ndim", None) == 0 else kind


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


def _changing(**dtypes: str) -> KindRule:
    return lambda arguments, known: _elementwise(arguments[0], dtypes)


def _like_cotangent_of(index: int) -> KindRule:
    """For helpers whose result is the cotangent of one of their arguments, which is None for truth values."""

    def kind(arguments: Arguments, known: Known) -> Kind:
        operand = arguments[index]
        return cotangent_kind(operand) if is_numeric(operand) and not carries_nothing(operand) else UNKNOWN

    return kind


def _helper_entry(callee: Any) -> _Entry | None:
    """What a helper that rules call is declared to return."""
    if callee in COTANGENT_OF:
        return _Entry(_like_cotangent_of(COTANGENT_OF[callee]))
    if callee in COTANGENT_OF_CALL:
        function, indices = COTANGENT_OF_CALL[callee]
        return _Entry(lambda arguments, known: _cotangent_of_call(function, indices, arguments, known))
    if callee in COTANGENTS_OF_ITEMS:
        index = COTANGENTS_OF_ITEMS[callee]
        return _Entry(lambda arguments, known: _cotangents_of_items(arguments[index]))
    if callee in LIKE:
        index = LIKE[callee]
        return _Entry(lambda arguments, known: _floating(arguments[index : index + 1], known))
    if callee in RETURNS:
        return _Entry(_always(INT if RETURNS[callee] is int else FLOAT))
    return _Entry(_always(NUMERIC)) if callee in NUMERIC_RESULT else None


def _cotangents_of_items(container: Kind) -> Kind:
    match container:
        case TupleOf(items=items) if all(map(is_numeric, items)):
            return cotangent_kind(container)
        case Sequence(name="list", item=item) if dtype_of(item) in ("float", "int", "complex"):
            return Sequence("list", cotangent_kind(item))
    return UNKNOWN


def _cotangent_of_call(function: Any, indices: tuple[int, ...], arguments: Arguments, known: Known) -> Kind:
    constants = {place: known[index] for place, index in enumerate(indices) if index in known}
    entry = _RULES.get(function) or _ufunc_entry(function)
    assert entry is not None, f"nothing is known of what {function} returns"
    kind = entry.rule(tuple(arguments[index] for index in indices), constants)
    return cotangent_kind(kind) if is_numeric(kind) else UNKNOWN


def _ufunc_entry(callee: object) -> _Entry | None:
    """Of numbers and arrays any ufunc makes numbers or arrays; of other things it may be a method that they have."""
    if not isinstance(callee, np.ufunc) or callee.nout != 1:
        return None
    return _Entry(_floating if _makes_floats(callee) else _numeric_of_numeric, callee.nin, frozenset())


@functools.cache
def _makes_floats(ufunc: np.ufunc) -> bool:
    """Whether a ufunc makes real numbers of floating point of real ones, and complex ones of complex ones only: of whatever
    types of numbers it can be given ("dd->d"), but of no objects."""
    signatures = [types.split("->") for types in ufunc.types]
    are_complex = [not _COMPLEX_TYPES.isdisjoint(inputs) for inputs, _ in signatures]
    kept = all(y in (_COMPLEX_TYPES if z else _FLOAT_TYPES) for (_, y), z in zip(signatures, are_complex, strict=True))
    return kept and not all(are_complex)


_COMPLEX_TYPES, _FLOAT_TYPES = frozenset("FDG"), frozenset("efdg")


def _numeric_of_numeric(arguments: Arguments, known: Known) -> Kind:
    return NUMERIC if all(map(is_numeric, arguments)) else UNKNOWN


def _tuple_of(arguments: Arguments, known: Known) -> Kind:
    return arguments[0] if isinstance(arguments[0], TupleOf) else Sequence("tuple")


def _list_of_items(arguments: Arguments, known: Known) -> Kind:
    return list_of(map(item_kind, arguments[:1]))


def _sum_of_items(arguments: Arguments, known: Known) -> Kind:
    """sum(items), which is the whole number 0 of no items"""
    item = item_kind(arguments[0])
    if is_real_scalar(item):
        return INT if item in (INT, BOOL) else REAL
    return NUMERIC if is_numeric(item) else UNKNOWN


def _part(arguments: Arguments, known: Known) -> Kind:
    """np.real and np.imag read an attribute: that of an array is an array, of whatever rank."""
    match arguments[0]:
        case Array(ndim=ndim, dtype=dtype, shape=shape):
            return Array(ndim, "float" if dtype == "complex" else dtype, shape)
        case Scalar(name="complex"):
            return FLOAT
        case Scalar(name="bool"):
            return REAL
    return arguments[0] if is_numeric(arguments[0]) else UNKNOWN


def _numpy_unary(arguments: Arguments, known: Known) -> Kind:
    """An elementwise function that keeps the shape and maybe not the dtype."""
    kind = arguments[0]
    if dtype_of(kind) == "float":
        return _elementwise(kind, {})
    return NUMERIC if is_numeric(kind) else UNKNOWN


def _always(kind: Kind) -> KindRule:
    return lambda arguments, known: kind


def _whole(arguments: Arguments, known: Known) -> Kind:
    """Whole numbers of numbers and arrays. An object may answer with anything."""
    return INT if all(map(is_numeric, arguments)) else UNKNOWN


def _absolute(arguments: Arguments, known: Known) -> Kind:
    # Of a truth value it is a whole number, or a truth value if it is NumPy's.
    return REAL if arguments[0] == BOOL else _elementwise(arguments[0], {"complex": "float"})


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
    kind = broadcast(arguments, widest(*map(dtype_of, branches)))
    return NUMERIC if isinstance(kind, Scalar) else kind


_COUNTED = {"bool": "int"}
_AVERAGED = {"bool": "float", "int": "float"}
_SPREAD = {**_AVERAGED, "complex": "float"}
_ANY = None


def _table() -> dict[Any, _Entry]:
    table: dict[Any, _Entry] = {}

    def put(rule: KindRule, most: int | None, *callees: object, keywords: str | None = "") -> None:
        names = None if keywords is None else frozenset(keywords.split())
        table.update(dict.fromkeys(callees, _Entry(rule, most, names)))

    def methods_too(name: str) -> tuple[Any, ...]:
        return tuple(getattr(owner, name) for owner in (np, np.ndarray) if hasattr(owner, name))

    put(_arithmetic, 2, operator.add, operator.sub, operator.mul)
    put(_division, 2, operator.mod, operator.floordiv)
    put(_floating, 2, operator.truediv, divide)
    put(_power, 2, operator.pow, pow, np.power)
    put(_matmul, 2, operator.matmul, np.matmul)
    put(_dot, 2, np.dot)
    put(_changing(bool="int"), 1, operator.neg, operator.pos, np.negative, np.positive, np.conj, np.square, np.reciprocal)
    put(_absolute, 1, abs, operator.abs, np.abs)
    put(_comparison, 2, *(getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")))
    put(_comparison, 2, np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
    put(_always(BOOL), _ANY, operator.is_, operator.is_not, operator.not_, operator.contains, isinstance, issubclass, bool)
    put(_always(BOOL), _ANY, callable, hasattr, math.isnan, math.isinf, math.isfinite, math.isclose, any, all, keywords=_ANY)
    put(_always(INT), _ANY, len, int, hash, id, keywords=_ANY)
    put(_whole, 1, math.floor, math.ceil, math.trunc, np.ndim, np.size)
    put(_always(FLOAT), _ANY, float)
    put(_always(COMPLEX), _ANY, complex, keywords=_ANY)
    put(_always(Inert("str")), _ANY, str, repr, format, keywords=_ANY)
    put(_always(Inert("NoneType")), _ANY, print, keywords=_ANY)
    put(array_kinds.slice_kind, _ANY, slice)
    put(_always(Sequence("range")), _ANY, range)
    put(_list_of_items, _ANY, list, sorted, keywords=_ANY)
    put(_always(Sequence("dict")), _ANY, dict, keywords=_ANY)
    put(_tuple_of, 1, tuple)
    put(_sum_of_items, 1, sum)
    put(_numpy_unary, 1, np.sign, np.floor, np.ceil, np.trunc, np.rint, np.sinc, np.angle)
    put(_part, 1, np.real, np.imag)
    put(_extreme, _ANY, max, min, keywords="key")
    put(_always(FLOAT), _ANY, *(getattr(math, name) for name in _MATH_FLOAT if hasattr(math, name)))
    for ufunc in (getattr(np, name) for name in _UFUNC_FLOAT):
        put(_floating, ufunc.nin, ufunc)
    put(lambda arguments, known: broadcast(arguments), 2, *(getattr(np, name) for name in _UFUNC_WIDEST))
    put(lambda arguments, known: broadcast(arguments), 3, np.clip)
    put(_counting, 2, np.remainder)
    put(_where, 3, np.where)
    for name in ("sum", "prod"):
        put(_reduction(_COUNTED), 2, *methods_too(name), keywords="axis keepdims")
    for name in ("max", "min", "amax", "amin"):
        put(_reduction({}), 2, *methods_too(name), keywords="axis keepdims")
    put(_reduction(_AVERAGED), 2, *methods_too("mean"), keywords="axis keepdims")
    for name in ("var", "std"):
        put(_reduction(_SPREAD), 2, *methods_too(name), keywords="axis keepdims ddof")
    put(_same_rank, 2, np.transpose, np.ndarray.copy, keywords="axes")
    put(_same_rank, _ANY, np.ndarray.transpose)
    put(_same_rank, 1, np.copy)
    put(_same_rank, 3, np.roll, keywords="axis")
    put(_flipped, 2, np.flip, keywords="axis")
    put(array_kinds.created, 3, np.zeros, np.ones, np.empty, keywords="dtype order")
    put(array_kinds.eye, 5, np.eye, keywords="M k dtype order")
    put(array_kinds.item, 2, operator.getitem)
    put(array_kinds.attribute, 2, getattr)
    put(array_kinds.concatenated, 2, np.concatenate, keywords="axis")
    put(array_kinds.stacked, 2, np.stack, keywords="axis")
    put(array_kinds.array_of, 1, np.array, np.asarray)
    put(array_kinds.reshaped, 2, np.reshape, keywords="order")
    put(array_kinds.accumulated, 2, *methods_too("cumsum"), *methods_too("cumprod"), keywords="axis")
    put(array_kinds.solution, 2, np.linalg.solve)
    put(array_kinds.reshaped, _ANY, np.ndarray.reshape)
    put(array_kinds.flattened, 1, np.ravel, np.ndarray.ravel, np.ndarray.flatten)
    put(array_kinds.expanded, 2, np.expand_dims, keywords="axis")
    put(array_kinds.like, 1, np.zeros_like, np.ones_like, np.empty_like)
    put(array_kinds.outer, 2, np.outer)
    put(array_kinds.einsum, _ANY, np.einsum)
    put(array_kinds.evenly_spaced, 3, np.linspace)
    put(array_kinds.counted, 3, np.arange)
    return table


_MATH_FLOAT = (
    "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt "
    "pow hypot fabs copysign fmod erf erfc gamma lgamma degrees radians fsum dist ldexp"
).split()
_UFUNC_FLOAT = (
    "sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh exp exp2 expm1 log log2 log10 "
    "log1p sqrt cbrt fabs divide hypot logaddexp logaddexp2 heaviside degrees radians deg2rad rad2deg"
).split()
_UFUNC_WIDEST = "add subtract multiply maximum minimum fmax fmin".split()
_RULES: dict[Any, _Entry] = _table()
