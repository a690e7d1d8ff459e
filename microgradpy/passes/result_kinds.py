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
import sys
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import nodeclass
from microgradpy.ir.axes import Axes, constant_length
from microgradpy.ir.input_kinds import kind_of
from microgradpy.ir.kinds import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NOTHING_YET,
    NUMBERS,
    NUMERIC,
    REAL,
    UNASSIGNED,
    UNKNOWN,
    Inert,
    Kind,
    Numeric,
    Optional,
    Scalar,
    Sequence,
    TupleOf,
    carries_nothing,
    cotangent_kind,
    cotangents_of,
    dict_of,
    entry_kinds,
    has_open_tuples,
    holds_numbers,
    is_collection,
    is_numeric,
    is_real_scalar,
    is_tuple_of_numbers,
    item_kind,
    join,
    list_of,
    present,
)
from microgradpy.ir.nodes import Const, Value, fresh
from microgradpy.passes import array_kinds, linear_kinds, number_kinds, random_kinds
from microgradpy.passes.broadcasting import MISSING, Arguments, KindRule, Known, broadcast, dtype_of
from microgradpy.passes.given import Given, LengthsOf, Parameters, bind
from microgradpy.passes.kind_table import FOURIER, ITEMS, rows
from microgradpy.tangents.arithmetic import divide
from microgradpy.tangents.columns import columns_of, list_of_columns
from microgradpy.tangents.decompositions import adjoint
from microgradpy.tangents.helpers import (
    COTANGENT_OF,
    COTANGENT_OF_CALL,
    COTANGENT_OF_ITEM,
    COTANGENTS_IN_BASE,
    COTANGENTS_LIKE,
    COTANGENTS_OF_ITEMS,
    ITSELF,
    LIKE,
    NUMERIC_RESULT,
    PAIRS_OF_KIND,
    RETURNS,
    TANGENTS_LIKE,
)


@final
@nodeclass(frozen=True, slots=True)
class _Entry:
    """The rule of a callee, and the calls that it understands: `most` positional arguments, and these keywords. None
    stands for any."""

    rule: KindRule
    most: int | None = None
    keywords: frozenset[str] | None = None

    def kind(self, call: _Call) -> Kind:
        if (self.most is not None and len(call.kinds) > self.most) or not (
            self.keywords is None or call.keywords.keys() <= self.keywords
        ):
            return UNKNOWN
        known: dict[Any, Any] = {index: value.value for index, value in enumerate(call.values) if isinstance(value, Const)}
        known |= {name: value.value if isinstance(value, Const) else MISSING for name, value in call.keywords.items()}
        return self.rule(call.kinds, known)


@final
@nodeclass(frozen=True, slots=True)
class _Declared:
    """The same for a rule that reads the arguments by the names of the parameters."""

    rule: Callable[[Given], Kind]
    parameters: Parameters

    def kind(self, call: _Call) -> Kind:
        given = bind(self.parameters, call.kinds, call.values, call.keywords, call.kind_of_value, call.lengths_of)
        return UNKNOWN if given is None else self.rule(given)


@final
@nodeclass(frozen=True, slots=True)
class _Call:
    kinds: Arguments
    values: tuple[Value, ...]
    keywords: Mapping[str, Value]
    kind_of_value: Callable[[Value], Kind]
    lengths_of: LengthsOf


def _kind_of_constant(value: Value) -> Kind:
    return kind_of(value.value) if isinstance(value, Const) else UNKNOWN


def _constant_lengths(shape: Value, sure: bool) -> Axes | None:
    """The lengths in a shape that is a constant."""
    match shape:
        case Const(value=bool()):
            return None
        case Const(value=int(length)):
            return (constant_length(length),)
        case Const(value=tuple() as lengths) if all(type(length) is int for length in lengths):
            return tuple(map(constant_length, lengths))
    return None


def result_kind(
    callee: object,
    arguments: Arguments,
    values: tuple[Value, ...],
    keywords: Mapping[str, Value],
    kind_of_value: Callable[[Value], Kind] = _kind_of_constant,
    lengths_of: LengthsOf = _constant_lengths,
) -> Kind:
    """The kind of `callee(*arguments, **keywords)`; `values` are the arguments themselves, for those that are constants. What
    is not assigned, or is an item of a list in which nothing has been found yet, never gets there."""
    if UNASSIGNED in arguments or _fails_for_none(callee, arguments):
        return UNASSIGNED
    arguments = known_by(callee, arguments)
    return _kind_by(_entry_of(callee), _Call(arguments, values, keywords, kind_of_value, lengths_of))


def known_by(callee: object, arguments: Arguments) -> Arguments:
    """What is proven of arguments where a callee has returned: arithmetic with None raises, and so does asking it for items."""
    if not any(isinstance(kind, Optional) for kind in arguments):
        return arguments
    if callee is operator.getitem and isinstance(present(arguments[0]), TupleOf):
        arguments = (present(arguments[0]), *arguments[1:])
    takes_none = not _is_arithmetic(callee)
    return tuple((UNKNOWN if takes_none else kind.item) if isinstance(kind, Optional) else kind for kind in arguments)


def _fails_for_none(callee: object, arguments: Arguments) -> bool:
    """Whether this is arithmetic with None and numbers, which Python refuses."""
    if _NOTHING not in arguments or not _is_arithmetic(callee):
        return False
    return all(kind == _NOTHING or isinstance(present(kind), Scalar) for kind in arguments)  # not of empty arrays


def _is_arithmetic(callee: object) -> bool:
    try:
        return callee in _WITHOUT_NONE
    except TypeError:
        return False


def kinds_of_items(
    callee: object,
    arguments: Arguments,
    values: tuple[Value, ...],
    keywords: Mapping[str, Value],
    kind_of_value: Callable[[Value], Kind] = _kind_of_constant,
    lengths_of: LengthsOf = _constant_lengths,
) -> Kind:
    """The same of the items of what a function returns that is a tuple of a class of its own: the kind of a plain tuple."""
    try:
        entry = _OF_ITEMS.get(callee)
    except TypeError:
        return UNKNOWN
    return _kind_by(entry, _Call(arguments, values, keywords, kind_of_value, lengths_of))


_NOTHING = Inert("NoneType")
_WITHOUT_NONE = frozenset((
    *(getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "pos")),
    *(getattr(operator, name) for name in ("lt", "le", "gt", "ge", "abs")),
    *(function for function in vars(math).values() if callable(function)),
))  # fmt: skip


def _entry_of(callee: object) -> _Entry | _Declared | None:
    try:
        return _RULES.get(callee) or _helper_entry(callee) or _ufunc_entry(callee) or _late_entry(callee)
    except TypeError:
        return None


def _late_entry(callee: object) -> _Declared | None:
    """What is known of functions of modules that are imported only if a program does."""
    if (row := random_kinds.found(callee)) is not None:
        return _Declared(row[0], Parameters.of(row[1]))
    name = str(getattr(callee, "__name__", ""))
    if name not in _OF_FOURIER or getattr(sys.modules.get("numpy.fft"), name, None) is not callee:
        return None
    return _OF_FOURIER[name]


def _kind_by(entry: _Entry | _Declared | None, call: _Call) -> Kind:
    try:
        return UNKNOWN if entry is None else entry.kind(call)
    except (IndexError, ValueError):  # wrong number of arguments: Python will say so when it runs
        return UNKNOWN


def _like_cotangent_of(index: int) -> KindRule:
    """For helpers whose result is the cotangent of one of their arguments, which is None for truth values."""

    def kind(arguments: Arguments, known: Known) -> Kind:
        operand = arguments[index]
        return cotangent_kind(operand) if is_numeric(operand) and not carries_nothing(operand) else UNKNOWN

    return kind


def is_declared(callee: Any) -> bool:
    """Whether it is a helper of which it is declared what it returns."""
    return _helper_entry(callee) is not None


def _helper_entry(callee: Any) -> _Entry | None:
    """What a helper that rules call is declared to return."""
    if callee in COTANGENT_OF:
        return _Entry(_like_cotangent_of(COTANGENT_OF[callee]))
    if callee in COTANGENT_OF_CALL:
        function, indices = COTANGENT_OF_CALL[callee]
        return _Entry(lambda arguments, known: _cotangent_of_call(function, indices, arguments, known))
    if callee in COTANGENT_OF_ITEM:
        container, place = COTANGENT_OF_ITEM[callee]
        return _Entry(lambda arguments, known: _cotangent_of_item(arguments[container], known.get(place)))
    if callee in COTANGENTS_OF_ITEMS:
        index = COTANGENTS_OF_ITEMS[callee]
        return _Entry(lambda arguments, known: _cotangents_of_items(arguments[index]))
    if callee in COTANGENTS_LIKE:
        index = COTANGENTS_LIKE[callee]
        return _Entry(lambda arguments, known: cotangents_of(arguments[index]) if holds_numbers(arguments[index]) else UNKNOWN)
    if callee in LIKE:
        index = LIKE[callee]
        return _Entry(lambda arguments, known: number_kinds.floating(arguments[index : index + 1], known))
    if callee in ITSELF:
        index = ITSELF[callee]
        return _Entry(lambda arguments, known: _itself(arguments[index]))
    if callee in RETURNS:
        return _Entry(_always(_RETURNED[RETURNS[callee]]))
    return _Entry(_always(NUMERIC)) if callee in NUMERIC_RESULT else _nested_entry(callee)


def _tangents_like(kind: Kind) -> Kind:
    """The tangent of a tuple of many numbers is a tuple, where its cotangent is a list."""
    if isinstance(kind, Sequence) and has_open_tuples(kind):
        return Sequence(kind.name, FLOAT if kind.name == "tuple" else _tangents_like(kind.item), (), kind.keys)
    return cotangents_of(kind) if holds_numbers(kind) else UNKNOWN


def _itself(kind: Kind) -> Kind:
    return kind if is_collection(kind) or is_numeric(kind) else UNKNOWN


def _nested_entry(callee: Any) -> _Entry | None:
    """The same of what differentiates inside of differentiated code, and of tangents."""
    if callee in TANGENTS_LIKE:
        of = TANGENTS_LIKE[callee]
        return _Entry(lambda arguments, known: _tangents_like(arguments[of]))
    if callee in COTANGENTS_IN_BASE:
        place, index = COTANGENTS_IN_BASE[callee]
        return _Entry(lambda arguments, known: _cotangents_in_base(known.get(place), arguments[index]))
    if callee in PAIRS_OF_KIND:
        number = PAIRS_OF_KIND[callee]
        return _Entry(lambda arguments, known: _with_tangent(known.get(number)))
    return None


_RETURNED: dict[Any, Kind] = {
    int: INT,
    float: FLOAT,
    list: NUMBERS,
    list[int]: list_of((INT,)),
    dict: Sequence("dict", UNASSIGNED, (), UNASSIGNED),
    list[str]: list_of((Inert("str"),)),
    bool: BOOL,
    str: Inert("str"),
    object: Inert("object"),
    tuple[Any, Any]: TupleOf((UNKNOWN, UNKNOWN)),
    list[object]: list_of((Inert("object"),)),
    Real: Numeric("real"),
}


def _cotangent_of_item(container: Kind, place: Any) -> Kind:
    item = container.items[place] if isinstance(container, TupleOf) and type(place) is int else UNKNOWN
    return cotangent_kind(item) if is_numeric(item) and not carries_nothing(item) else UNKNOWN


def _cotangents_of_items(container: Kind) -> Kind:
    match container:
        case TupleOf(items=items) if all(map(is_numeric, items)):
            return cotangent_kind(container)
        case Sequence(name="list", item=item) if dtype_of(item) in ("float", "int", "complex") or item == Numeric("real"):
            return Sequence("list", cotangent_kind(item))
        case Sequence() if holds_numbers(container):
            return cotangents_of(container)
    return UNKNOWN


def _cotangents_in_base(asked: Any, inputs: Kind) -> Kind:
    """Of the arguments that are asked for these are numbers and arrays, or None if the value does not depend on them."""
    match inputs:
        case TupleOf(items=(below, _)):
            return _cotangents_in_base(asked, below)
        case TupleOf(items=(_, _, TupleOf(items=args), _)) if asked is not None:
            numbers = range(len(args)) if asked.numbers is None else {number % len(args) for number in asked.numbers}
            y, present = asked.known or (UNKNOWN, ())
            sure = (asked.is_filled or any(present[number : number + 1]) for number in range(len(args)))
            found = (_gradient_kind(kind, each) for kind, each in zip(args, sure, strict=True))
            wanted = (kind if number in numbers else _NOTHING for number, kind in enumerate(found))
            return TupleOf((y, UNKNOWN, TupleOf(tuple(wanted))))
    return UNKNOWN


def _with_tangent(proven: Any) -> Kind:
    """A value of a kind that is proven with its tangent, if it is nothing but numbers and arrays."""
    kind = None if proven is None else proven.kind
    return UNKNOWN if kind is None or not _is_numbers(kind) else TupleOf((kind, cotangent_kind(kind)))


def _is_numbers(kind: Kind) -> bool:
    if isinstance(kind, TupleOf):
        return all(map(_is_numbers, kind.items))
    return is_numeric(kind) and not carries_nothing(kind)


def _gradient_kind(kind: Kind, is_sure: bool) -> Kind:
    if not is_numeric(kind) or carries_nothing(kind):
        return UNKNOWN
    return cotangent_kind(kind) if is_sure else Optional(cotangent_kind(kind))


def _values_of(arguments: Arguments, known: Known) -> Kind:
    match arguments:
        case (Sequence(name="dict") as mapping,):
            return Sequence("dict_values", entry_kinds(mapping)[1])
    return UNKNOWN


def _cotangent_of_call(function: Any, indices: tuple[int, ...], arguments: Arguments, known: Known) -> Kind:
    values: tuple[Value, ...] = tuple(Const(known[index]) if index in known else _SOME for index in indices)
    kind = result_kind(function, tuple(arguments[index] for index in indices), values, {})
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
    kind = arguments[0]
    return kind if isinstance(kind, TupleOf) else Sequence("tuple", list_of(map(item_kind, (kind,))).item)


def _list_of_columns(arguments: Arguments, known: Known) -> Kind:
    kind = _columns_of(arguments, known)
    return Sequence("list") if kind == UNKNOWN else kind


def _columns_of(arguments: Arguments, known: Known) -> Kind:
    """zip(*rows) of rows of numbers, as a list; else it is an iterator, of which nothing is proven."""
    match arguments[0]:
        case Sequence(name="list" | "tuple", item=Sequence(name="list" | "tuple", item=item)) if is_real_scalar(item):
            return list_of((Sequence("tuple", item),))
        case Sequence(name="list" | "tuple", item=TupleOf() as row) if is_tuple_of_numbers(row):
            return list_of((Sequence("tuple", item_kind(row)),))
    return UNKNOWN


def _dict_of_pairs(arguments: Arguments, known: Known) -> Kind:
    match arguments:
        case (Sequence(name="dict") as kind,):
            return kind
        case (Sequence(name="list", item=TupleOf(items=(key, value))),):
            return Sequence("dict", value, (), key)
        case (Sequence(name="list", item=item),) if item == UNASSIGNED:
            return Sequence("dict", UNASSIGNED, (), UNASSIGNED)
    return Sequence("dict")


def _merged(arguments: Arguments, known: Known) -> Kind:
    """x | y of dicts, or of whole numbers and truth values."""
    match arguments:
        case (Sequence(name="dict", entries=(_, *_) as ours), Sequence(name="dict", entries=(_, *_) as theirs)):
            return dict_of({**dict(ours), **dict(theirs)}.items())
        case (Sequence(name="dict") as one, Sequence(name="dict") as other):
            return Sequence("dict", join(one.item, other.item), (), join(one.keys, other.keys))
    return number_kinds.bits(arguments, known)


def _list_of_items(arguments: Arguments, known: Known) -> Kind:
    return list_of(map(item_kind, arguments[:1]))


def _sum_of_items(arguments: Arguments, known: Known) -> Kind:
    """sum(items), which is the whole number 0 of no items"""
    item = item_kind(arguments[0])
    if is_real_scalar(item):
        return INT if item in (INT, BOOL) else REAL
    if arguments[0] == NOTHING_YET:
        return INT
    return join(INT, item) if is_numeric(item) and not carries_nothing(item) else NUMERIC if is_numeric(item) else UNKNOWN


def _always(kind: Kind) -> KindRule:
    return lambda arguments, known: kind


_ANY = None
_SOME = fresh()


def _table() -> dict[Any, _Entry | _Declared]:
    table: dict[Any, _Entry | _Declared] = {}

    def put(rule: KindRule, most: int | None, *callees: object, keywords: str | None = "") -> None:
        names = None if keywords is None else frozenset(keywords.split())
        table.update(dict.fromkeys(callees, _Entry(rule, most, names)))

    put(number_kinds.arithmetic, 2, operator.add, operator.sub)
    put(number_kinds.product, 2, operator.mul)
    put(number_kinds.division, 2, operator.mod, operator.floordiv)
    put(number_kinds.floating, 2, operator.truediv, divide)
    put(number_kinds.power, 2, operator.pow, pow, np.power)
    put(number_kinds.changing(bool="int"), 1, operator.neg, operator.pos, np.negative, np.positive)
    put(number_kinds.changing(bool="int"), 1, np.conj, np.square, np.reciprocal)
    put(number_kinds.bits, 1, operator.invert, np.invert)
    put(number_kinds.bits, 2, operator.and_, operator.xor)
    put(_merged, 2, operator.or_)
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
    put(_always(Inert("str")), _ANY, *(getattr(str, name) for name in _TEXTS_OF_TEXTS), keywords=_ANY)
    put(_always(list_of((Inert("str"),))), _ANY, str.split, str.rsplit, str.splitlines, keywords=_ANY)
    put(_always(BOOL), _ANY, *(getattr(str, name) for name in _ASKED_OF_TEXTS), keywords=_ANY)
    put(_always(INT), _ANY, str.find, str.rfind, str.index, str.rindex, str.count, keywords=_ANY)
    put(_always(Inert("NoneType")), _ANY, print, keywords=_ANY)
    put(_always(Inert("Signature")), _ANY, inspect.signature, keywords=_ANY)
    put(array_kinds.slice_kind, _ANY, slice)
    put(_always(Sequence("range")), _ANY, range)
    put(_list_of_items, _ANY, list, sorted, keywords=_ANY)
    put(_dict_of_pairs, _ANY, dict)
    put(_always(Sequence("dict")), _ANY, dict.fromkeys, keywords=_ANY)
    put(_values_of, 1, dict.values)
    put(_tuple_of, 1, tuple)
    put(_columns_of, 1, columns_of)
    put(_list_of_columns, 1, list_of_columns)
    put(_sum_of_items, 1, sum)
    put(number_kinds.numpy_unary, 1, np.sign, np.floor, np.ceil, np.trunc, np.rint)
    put(number_kinds.truth, 1, np.isfinite, np.isnan, np.isinf, np.logical_not)
    put(number_kinds.truth, 2, np.logical_and, np.logical_or, np.logical_xor)
    put(number_kinds.part, 1, np.real, np.imag)
    put(_always(FLOAT), _ANY, *(getattr(math, name) for name in _MATH_FLOAT if hasattr(math, name)))
    for ufunc in (getattr(np, name) for name in _UFUNC_FLOAT):
        put(number_kinds.floating, ufunc.nin, ufunc)
    put(lambda arguments, known: broadcast(arguments), 2, *(getattr(np, name) for name in _UFUNC_WIDEST))
    put(number_kinds.counting, 2, np.remainder)
    put(number_kinds.where, 3, np.where)
    put(array_kinds.item, 2, operator.getitem)
    put(array_kinds.attribute, 2, getattr)
    put(array_kinds.mesh, _ANY, np.ix_)
    put(array_kinds.places_in, 1, np.nonzero)
    put(array_kinds.places_of_diagonals, _ANY, np.tril_indices, np.triu_indices, np.tril_indices_from, np.triu_indices_from)
    put(array_kinds.adjoint, 1, adjoint)
    for rule, parameters, callees in rows():
        table.update(dict.fromkeys(callees, _Declared(rule, parameters)))
    for function in (operator.matmul, np.matmul):
        table[function] = _Declared(linear_kinds.matmul, Parameters.of("a b"))
    return table


_TEXTS_OF_TEXTS = (
    "strip lstrip rstrip lower upper title capitalize casefold swapcase replace join format center ljust rjust zfill "
    "removeprefix removesuffix expandtabs"
).split()
_ASKED_OF_TEXTS = "startswith endswith isdigit isalpha isalnum isnumeric isdecimal isspace islower isupper isidentifier".split()
_MATH_FLOAT = (
    "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt "
    "pow hypot fabs copysign fmod erf erfc gamma lgamma degrees radians fsum dist ldexp"
).split()
_UFUNC_FLOAT = (
    "sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh exp exp2 expm1 log log2 log10 "
    "log1p sqrt cbrt fabs divide hypot logaddexp logaddexp2 heaviside degrees radians deg2rad rad2deg"
).split()
_UFUNC_WIDEST = "add subtract multiply maximum minimum fmax fmin".split()
_RULES: dict[Any, _Entry | _Declared] = _table()
_OF_ITEMS = {callee: _Declared(rule, Parameters.of(parameters)) for callee, (rule, parameters) in ITEMS.items()}
_OF_FOURIER = {name: _Declared(rule, Parameters.of(parameters)) for name, (rule, parameters) in FOURIER.items()}
