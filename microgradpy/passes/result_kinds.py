"""What is proven of a call's result from what is proven of its arguments.

`result_kind(np.sum, (Array(2),), {"axis": 0}, ...)` is `Array(1)`. A callee that is not in the tables gives `UNKNOWN`,
which is always right, and so does a call with more arguments or other keywords than its entry names: `dtype`, `out` or
`order` may stand there. A NumPy operation on arrays of rank 0 returns a NumPy scalar, not an array: hence `Scalar`.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections.abc import Mapping
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.ir.kinds import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NUMERIC,
    REAL,
    UNKNOWN,
    Inert,
    Kind,
    Sequence,
    TupleOf,
    carries_nothing,
    cotangent_kind,
    is_numeric,
    is_real_scalar,
    item_kind,
    list_of,
)
from microgradpy.ir.nodes import Const, Value
from microgradpy.passes import array_kinds, number_kinds
from microgradpy.passes.broadcasting import MISSING, Arguments, KindRule, Known, broadcast, dtype_of
from microgradpy.tangents.arithmetic import divide
from microgradpy.tangents.helpers import (
    COTANGENT_OF,
    COTANGENT_OF_CALL,
    COTANGENTS_OF_ITEMS,
    LIKE,
    NUMERIC_RESULT,
    RETURNS,
)


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
        return _Entry(lambda arguments, known: number_kinds.floating(arguments[index : index + 1], known))
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
    return _Entry(number_kinds.floating if _makes_floats(callee) else number_kinds.numeric_of_numeric, callee.nin, frozenset())


@functools.cache
def _makes_floats(ufunc: np.ufunc) -> bool:
    """Whether a ufunc makes real numbers of floating point of real ones, and complex ones of complex ones only: of whatever
    types of numbers it can be given ("dd->d"), but of no objects."""
    signatures = [types.split("->") for types in ufunc.types]
    are_complex = [not _COMPLEX_TYPES.isdisjoint(inputs) for inputs, _ in signatures]
    kept = all(y in (_COMPLEX_TYPES if z else _FLOAT_TYPES) for (_, y), z in zip(signatures, are_complex, strict=True))
    return kept and not all(are_complex)


_COMPLEX_TYPES, _FLOAT_TYPES = frozenset("FDG"), frozenset("efdg")


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


def _always(kind: Kind) -> KindRule:
    return lambda arguments, known: kind


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

    put(number_kinds.arithmetic, 2, operator.add, operator.sub, operator.mul)
    put(number_kinds.division, 2, operator.mod, operator.floordiv)
    put(number_kinds.floating, 2, operator.truediv, divide)
    put(number_kinds.power, 2, operator.pow, pow, np.power)
    put(number_kinds.matmul, 2, operator.matmul, np.matmul)
    put(number_kinds.dot, 2, np.dot)
    put(number_kinds.changing(bool="int"), 1, operator.neg, operator.pos, np.negative, np.positive)
    put(number_kinds.changing(bool="int"), 1, np.conj, np.square, np.reciprocal)
    put(number_kinds.absolute, 1, abs, operator.abs, np.abs)
    put(number_kinds.comparison, 2, *(getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")))
    put(number_kinds.comparison, 2, np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
    put(_always(BOOL), _ANY, operator.is_, operator.is_not, operator.not_, operator.contains, isinstance, issubclass, bool)
    put(_always(BOOL), _ANY, callable, hasattr, math.isnan, math.isinf, math.isfinite, math.isclose, any, all, keywords=_ANY)
    put(_always(INT), _ANY, len, int, hash, id, operator.index, keywords=_ANY)
    put(number_kinds.whole, 1, math.floor, math.ceil, math.trunc, np.ndim, np.size)
    put(_always(FLOAT), _ANY, float)
    put(_always(COMPLEX), _ANY, complex, keywords=_ANY)
    put(_always(Inert("str")), _ANY, str, repr, format, keywords=_ANY)
    put(_always(Inert("NoneType")), _ANY, print, keywords=_ANY)
    put(_always(Inert("Signature")), _ANY, inspect.signature, keywords=_ANY)
    put(array_kinds.slice_kind, _ANY, slice)
    put(_always(Sequence("range")), _ANY, range)
    put(_list_of_items, _ANY, list, sorted, keywords=_ANY)
    put(_always(Sequence("dict")), _ANY, dict, keywords=_ANY)
    put(_tuple_of, 1, tuple)
    put(_sum_of_items, 1, sum)
    put(number_kinds.numpy_unary, 1, np.sign, np.floor, np.ceil, np.trunc, np.rint, np.sinc, np.angle)
    put(number_kinds.part, 1, np.real, np.imag)
    put(number_kinds.extreme, _ANY, max, min, keywords="key")
    put(_always(FLOAT), _ANY, *(getattr(math, name) for name in _MATH_FLOAT if hasattr(math, name)))
    for ufunc in (getattr(np, name) for name in _UFUNC_FLOAT):
        put(number_kinds.floating, ufunc.nin, ufunc)
    put(lambda arguments, known: broadcast(arguments), 2, *(getattr(np, name) for name in _UFUNC_WIDEST))
    put(lambda arguments, known: broadcast(arguments), 3, np.clip)
    put(number_kinds.counting, 2, np.remainder)
    put(number_kinds.where, 3, np.where)
    for name in ("sum", "prod"):
        put(number_kinds.reduction(_COUNTED), 2, *methods_too(name), keywords="axis keepdims")
    for name in ("max", "min", "amax", "amin"):
        put(number_kinds.reduction({}), 2, *methods_too(name), keywords="axis keepdims")
    put(number_kinds.reduction(_AVERAGED), 2, *methods_too("mean"), keywords="axis keepdims")
    for name in ("var", "std"):
        put(number_kinds.reduction(_SPREAD), 2, *methods_too(name), keywords="axis keepdims ddof")
    put(array_kinds.same_rank, 2, np.transpose, np.ndarray.copy, keywords="axes")
    put(array_kinds.same_rank, _ANY, np.ndarray.transpose)
    put(array_kinds.same_rank, 1, np.copy)
    put(array_kinds.same_rank, 3, np.roll, keywords="axis")
    put(array_kinds.flipped, 2, np.flip, keywords="axis")
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
