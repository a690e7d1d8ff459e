"""What becomes of each call in a function that may write: as `primal_calls`, for runs in which cotangents of mutable objects
are in shadows.

Arithmetic on numbers and arrays is inlined as elsewhere; what its pullback reads of arrays is copied, unless nobody can write
into them. All that reads or changes structure is left to run time, where an object says what it is.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from functools import _lru_cache_wrapper
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType, MethodWrapperType, ModuleType
from typing import Any

import numpy as np

from microgradpy.ad.atomic import is_numeric_call, is_write
from microgradpy.ad.calls import AddInPlace, Append, Item, StoreItem
from microgradpy.ad.differentiated_calls import (
    asks_a_class,
    call_closure,
    call_function,
    dispatch,
    inline_rule,
)
from microgradpy.ad.found_rules import find_rule
from microgradpy.ad.instrument import GETATTR, OUT_OF_PLACE
from microgradpy.ad.known_functions import is_asked_of_objects, is_view, makes_texts
from microgradpy.ad.primal_builder import Method, PrimalBuilder
from microgradpy.ad.primal_structure import check_slice, check_stored
from microgradpy.dataclasses import replace
from microgradpy.frontend.closures import ClosureBody
from microgradpy.frontend.codes import receives
from microgradpy.frontend.exceptions import caught, suppresses
from microgradpy.ir.kinds import (
    CELL,
    INT,
    UNKNOWN,
    Array,
    Inert,
    Kind,
    Scalar,
    Sequence,
    TupleOf,
    Unknown,
    carries_nothing,
    is_immutable,
    is_numeric,
    is_real,
    object_with,
    python_type,
)
from microgradpy.ir.nodes import Const, Op, Opcode, Value, Var, function_constant, operator_constant
from microgradpy.ir.objects import features_of
from microgradpy.ir.traversal import given_values
from microgradpy.passes.result_kinds import result_kind
from microgradpy.passes.typed_builder import Keywords
from microgradpy.rules.registry import find_attribute_rule, is_inert_attribute, is_non_differentiable, rrule
from microgradpy.runtime.making import IMPORTERS
from microgradpy.runtime.opaque import check_assumed
from microgradpy.runtime.variables import OF_CELLS, OF_MODULES, new_cell
from microgradpy.runtime.write_detection import may_write
from microgradpy.state.apart_access import COMPARISONS, IDENTITIES
from microgradpy.state.arrays import check_store
from microgradpy.state.detached import detached, may_return_arguments
from microgradpy.state.generators import makes_manager
from microgradpy.state.object_graph import is_users_class


def lower_tracked_constant(primal: PrimalBuilder, op: Op, callee: Const) -> None:
    """A call of something that is known now."""
    if primal.services.tells_apart and callee.value in IDENTITIES:
        callee = function_constant(IDENTITIES[callee.value])
        op = replace(op, callee=callee)
    function = callee.value
    arguments, keywords = primal.inputs(op)
    if function is slice:
        check_slice(primal, arguments)
    if (
        function in OF_CELLS
        or function in OF_MODULES
        or function in IMPORTERS
        or function in _OF_EXCEPTIONS
        or holds_values(primal, function, arguments, keywords)
    ):
        # Whatever is stored there, something active may be before or afterwards.
        dispatch(primal, op, callee, arguments, keywords)
        result = primal.of(op.result)
        if function is new_cell and isinstance(result, Var):
            primal.know(result, CELL)
    elif function in OUT_OF_PLACE and is_immutable(primal.kind(arguments[0])):
        binary = OUT_OF_PLACE[function]
        lower_tracked_constant(primal, replace(op, callee=binary), binary)
    elif function is getattr and len(arguments) == 2 and isinstance(arguments[1], Const) and not keywords:
        _attribute(primal, op, arguments[1].value)
    elif _may_return_arguments(primal, function, arguments):
        _detached(primal, op, callee)
    elif (
        asks_a_class(primal, function, arguments, keywords)
        or _holds_code(primal, function, arguments)
        or _compares_what_stands_in(primal, function, arguments)
    ):
        dispatch(primal, op, callee, arguments, keywords)
    elif not primal.any_active(arguments, keywords) and not _reads_state(primal, function):
        _inactive(primal, op, callee, arguments, keywords)
    else:
        _active(primal, op, callee, arguments, keywords)


def _gives_class(function: Any, kinds: tuple[Kind, ...]) -> bool:
    """Whether a call gives the class of an object, whose attributes may be something active."""
    return function is type and len(kinds) == 1 and not is_numeric(kinds[0])


def holds_values(primal: PrimalBuilder, function: Any, arguments: tuple[Value, ...], keywords: Keywords) -> bool:
    """Whether a call makes an exception with something in it that a handler may read, and that has a cotangent then."""
    if not primal.services.tracks or not isinstance(function, type) or not issubclass(function, BaseException):
        return False
    is_own = isinstance(function.__init__, FunctionType) or isinstance(function.__new__, FunctionType)
    return is_own or not all(carries_nothing(primal.kind(value)) for value in given_values(arguments, keywords))


def _inactive(primal: PrimalBuilder, op: Op, callee: Const, arguments: tuple[Value, ...], keywords: Keywords) -> None:
    """A call that no derivative flows through; one of the user's may replace functions that others rely on."""
    function = callee.value
    primal.plain(op, kind=_inactive_kind(primal, callee, arguments, keywords), callee=callee)
    if is_users_class(function) and isinstance(function, FunctionType) and may_write(function):
        primal.emit(function_constant(check_assumed), (), (primal.variable(Inert("NoneType")),))


def _may_return_arguments(primal: PrimalBuilder, function: Any, arguments: tuple[Value, ...]) -> bool:
    """Whether a call has no derivative and gives what it is given, which may be written into, or a part of it."""
    is_passing = is_non_differentiable(function) and may_return_arguments(function)
    return is_passing and not all(is_immutable(primal.kind(value)) for value in arguments)


def _detached(primal: PrimalBuilder, op: Op, callee: Const) -> None:
    arguments, keywords = primal.inputs(op)
    kind = primal.kind_of_call(callee, arguments, keywords)
    result = primal.define(op.result, kind, False)
    primal.emit(function_constant(detached), (callee, *arguments), (result,), keywords)


def _compares_what_stands_in(primal: PrimalBuilder, function: Any, arguments: tuple[Value, ...]) -> bool:
    """Whether a call compares what may stand in for something else."""
    compares = primal.services.tells_apart and function in COMPARISONS
    return compares and not all(is_immutable(primal.kind(value)) for value in arguments)


def _holds_code(primal: PrimalBuilder, function: Any, arguments: tuple[Value, ...]) -> bool:
    """Whether a call makes something that will call a function of the user's, which may read something active then; or, by an
    operator that has no derivative, a set of objects that are in others."""
    if function in (operator.and_, operator.xor):
        return any(isinstance(primal.kind(value), Unknown) and primal.is_active(value) for value in arguments)
    if function is not defaultdict or not arguments:
        return False
    factory = arguments[0]
    return not (isinstance(factory, Const) and isinstance(factory.value, type | BuiltinFunctionType | None))


_OF_EXCEPTIONS = frozenset({caught, suppresses})
"""They hand an exception on, which may hold something active."""
_READERS = (FunctionType, type, _lru_cache_wrapper, BuiltinMethodType, MethodWrapperType, np.vectorize, np.ufunc)


def _reads_state(primal: PrimalBuilder, function: Any) -> bool:
    """Whether a function or class that gets constants may still read something active, or be sent it."""
    if not isinstance(function, _READERS) or rrule.covers(function):
        return False
    is_manager = is_users_class(function) and makes_manager(function)
    is_sent = isinstance(function, FunctionType) and (is_manager or receives(function.__code__))
    return is_sent or primal.services.reads_state(function)


def _inactive_kind(primal: PrimalBuilder, callee: Const, arguments: tuple[Value, ...], keywords: Keywords) -> Kind:
    if callee.value in OUT_OF_PLACE:
        kind = primal.kind(arguments[0])
        return kind if isinstance(kind, Array) and kind.ndim else UNKNOWN
    kind = primal.kind_of_call(callee, arguments, keywords)
    # An object that is made of constants may still be given, by its operators, what is differentiated.
    is_made = kind == UNKNOWN and isinstance(callee.value, type) and is_users_class(callee.value)
    return object_with(features_of(callee.value)) if is_made else kind


def _active(primal: PrimalBuilder, op: Op, callee: Const, arguments: tuple[Value, ...], keywords: Keywords) -> None:
    function = callee.value
    is_asked = is_asked_of_objects(function, tuple(map(primal.kind, given_values(arguments, keywords))))
    kinds = tuple(map(primal.kind, arguments))
    kind = primal.kind_of_call(callee, arguments, keywords)
    if is_write(function, arguments, keywords):
        if function is operator.setitem:
            check_stored(primal, arguments)
        if function is operator.getitem and isinstance(kinds[0], Array | TupleOf):
            _item(primal, op, callee, arguments, kind)
            return
        by_position = primal.services.inlines and bool(arguments) and not keywords
        if by_position and _read_in_sight(primal, op, function, arguments, kind):
            return
        if by_position and _written_in_sight(primal, op, function, arguments):
            return
        dispatch(primal, op, callee, arguments, keywords)
        if function in OUT_OF_PLACE and isinstance(kinds[0], Array) and kinds[0].ndim:
            result = primal.of(op.result)
            assert isinstance(result, Var)
            primal.know(result, kinds[0])
    elif carries_nothing(kind) or (is_non_differentiable(function) and not (rrule.is_typed(function) or is_asked)):
        gives_class = primal.services.is_users and _gives_class(function, kinds)
        primal.plain(op, kind=UNKNOWN if gives_class else kind, active=gives_class)
    elif not (rrule.has(function) or is_asked):
        call_function(primal, op, callee, arguments, keywords)
    elif not (is_numeric_call(primal, given_values(arguments, keywords)) and _inlined(primal, op, callee)):
        dispatch(primal, op, callee, arguments, keywords)


def _read_in_sight(
    primal: PrimalBuilder, op: Op, function: Any, arguments: tuple[Value, ...], kind: Kind
) -> bool:
    """Read an item of a list as it stands: an array has its cotangent itself, that of a number goes to its place."""
    container = primal.kind(arguments[0])
    if function is not operator.getitem or not isinstance(container, Sequence) or container.name != "list":
        return False
    if primal.kind(arguments[1]) != INT or not isinstance(kind, Array | Scalar) or (isinstance(kind, Array) and not kind.ndim):
        return False
    result = primal.plain(op, kind=kind, active=True)
    if isinstance(kind, Scalar) and result in primal.active:
        length = primal.call(function_constant(len), (arguments[0],), hint="n")
        place = primal.call(operator_constant("mod"), (arguments[1], length), hint="place")
        primal.record(Item(result, arguments[0], place, op.where))
    return True


def _written_in_sight(primal: PrimalBuilder, op: Op, function: Any, arguments: tuple[Value, ...]) -> bool:
    """Make a write into an array as it stands, and record it; whether it is one of those for which that is known to be
    right."""
    target = primal.kind(arguments[0])
    if not isinstance(target, Array) or not target.ndim or target.dtype != "float" or not is_real(primal.kind(arguments[-1])):
        return False
    if function in (operator.iadd, operator.isub):
        if primal.catches:
            return False  # under `np.errstate` it may raise after it has written
        result = primal.plain(op, kind=target, active=True)
        primal.record(AddInPlace(result, arguments[0], arguments[1], function is operator.isub, op.where))
        return True
    if function is not operator.setitem or not is_basic(primal, arguments[1]):
        return False
    if _may_overlap(primal, arguments[2]):
        checked = primal.variable(Inert("NoneType"), "checked")
        primal.emit(function_constant(check_store), arguments, (checked,))
    result = primal.plain(op, kind=Inert("NoneType"))
    if not _stores_back(primal, arguments):
        primal.record(StoreItem(result, arguments[0], arguments[1], arguments[2], op.where))
    return True


def _may_overlap(primal: PrimalBuilder, value: Value) -> bool:
    """Whether what is stored may be a view of what it is stored into: an item of an array that is one itself."""
    made = primal.calls.get(value) if isinstance(value, Var) else None
    kind = primal.kind(value)
    return isinstance(made, Item) and isinstance(kind, Array) and kind.ndim != 0


def _stores_back(primal: PrimalBuilder, arguments: tuple[Value, ...]) -> bool:
    """Whether `x[i] = v` stores a view of `x[i]` that was written in place: the end of `x[i] += y`, which changes nothing."""
    container, index, value = arguments
    written = primal.calls.get(value) if isinstance(value, Var) else None
    if not isinstance(written, AddInPlace) or not isinstance(written.target, Var):
        return False
    read = primal.calls.get(written.target)
    return isinstance(read, Item) and read.container == container and read.index == index


def _inlined(primal: PrimalBuilder, op: Op, callee: Const) -> bool:
    arguments, keywords = primal.inputs(op)
    kind = primal.kind_of_call(callee, arguments, keywords)
    if not primal.services.inlines or not is_numeric(kind):
        return False
    rule = find_rule(callee.value, tuple(map(primal.kind, arguments)))
    if is_users_class(rule) and not isinstance(kind, Scalar):
        return False  # its value may be an argument, and its derivative another one
    name = callee.path or callee.value.__name__
    function, given = callee.value, dict(keywords)
    return rule is not None and inline_rule(primal, op, rule, name, arguments, given, is_view(function), function)


def _item(primal: PrimalBuilder, op: Op, callee: Const, arguments: tuple[Value, ...], kind: Kind) -> None:
    """An item of an array: a number, a view, or a copy of entries, as the kind of the index says."""
    container, index = arguments
    if not primal.is_active(container) or carries_nothing(kind):
        primal.plain(op, kind=kind)
    elif isinstance(primal.kind(container), Array) and primal.services.inlines and is_basic(primal, index):
        result = primal.plain(op, kind=kind, active=True)
        if result in primal.active:
            primal.record(Item(result, container, index, op.where))
    else:
        dispatch(primal, op, callee, arguments, ())
        found = primal.of(op.result)
        if isinstance(found, Var) and isinstance(primal.kind(container), TupleOf):
            primal.know(found, kind)


def is_basic(primal: PrimalBuilder, index: Value) -> bool:
    """Whether an index is proven to be whole numbers and slices: it selects one entry or a view."""
    if isinstance(index, Const):
        return _is_basic_constant(index.value)
    kind = primal.kind(index)
    made = primal.producers.get(index) if isinstance(index, Var) else None
    if made is not None and made.callee is Opcode.TUPLE:
        return all(is_basic(primal, part) for part in made.arguments)
    return kind == Scalar("int") or (isinstance(kind, Inert) and kind.name in ("slice", "ellipsis", "NoneType"))


def _is_basic_constant(index: Any) -> bool:
    if isinstance(index, tuple):
        return all(map(_is_basic_constant, index))
    return index is None or index is Ellipsis or (isinstance(index, slice | int) and not isinstance(index, bool))


def _attribute(primal: PrimalBuilder, op: Op, name: str) -> None:
    target = primal.of(op.arguments[0])
    if primal.bind_method(op, target, name):
        return
    kind, active = primal.kind(target), primal.is_active(target)
    cls = python_type(kind)
    proven = result_kind(getattr, (kind, Inert("str")), (target, Const(name)), {})
    owner = target.value if isinstance(target, Const) else None
    if owner is not None and primal.services.holds_state(owner, name):
        dispatch(primal, op, GETATTR, (target, Const(name)), ())
        return
    if not active or isinstance(owner, ModuleType) or (cls is not None and is_inert_attribute(cls, name)):
        primal.plain(op, kind=proven)
        return
    rule = find_attribute_rule(cls, name) if isinstance(kind, Array) and cls is not None and primal.services.inlines else None
    if rule is None or not inline_rule(primal, op, rule, name, (target,), {}, shares=True):
        arguments, keywords = primal.inputs(op)
        dispatch(primal, op, GETATTR, arguments, keywords)


def _append(primal: PrimalBuilder, op: Op, items: Value, item: Value) -> None:
    """`items.append(item)`: of an array, nothing is recorded, since its cotangent is its own affair."""
    kind = primal.kind(item)
    carries_itself = isinstance(kind, Array) and kind.ndim
    length = Const(0) if carries_itself else primal.call(function_constant(len), (items,), hint="n")
    result = primal.plain(op, kind=Inert("NoneType"))
    if (primal.is_active(item) or primal.is_active(items)) and not carries_itself:
        primal.record(Append(result, items, item, length, op.where))


def lower_tracked_value(primal: PrimalBuilder, op: Op, callee: Value) -> None:
    """A call of something that is known at run time only."""
    arguments, keywords = primal.inputs(op)
    if not primal.any_active((callee, *arguments), keywords) and not _is_sent_to(primal, callee):
        primal.plain(op, kind=UNKNOWN, callee=callee)
    elif not call_closure(primal, op, callee, arguments, keywords):
        dispatch(primal, op, callee, arguments, keywords)


def _is_sent_to(primal: PrimalBuilder, callee: Value) -> bool:
    """Whether a nested function makes generators that something active may be sent into."""
    made = primal.producers.get(callee) if isinstance(callee, Var) else None
    return made is not None and isinstance(made.payload, ClosureBody) and receives(made.payload.code)


def lower_tracked_method(primal: PrimalBuilder, op: Op, method: Method) -> None:
    """A method of an array or container: the function that it is in the class."""
    function = getattr(method.cls, method.name)
    path = f"{method.cls.__name__}.{method.name}"
    if makes_texts(method.cls, method.name, op):
        primal.plain(op, kind=UNKNOWN)
        return
    arguments, keywords = primal.inputs(op)
    with_target = (method.target, *arguments)
    kind = primal.kind_of_result(function, with_target, keywords)
    if not primal.any_active(with_target, keywords):
        primal.plain(op, kind=kind)
        return
    if function is list.append and len(arguments) == 1 and primal.services.inlines:
        _append(primal, op, method.target, arguments[0])
        return
    callee = Const(function, path, method.cls)
    is_event = is_write(function, with_target, keywords) or asks_a_class(primal, function, with_target, keywords)
    if not is_event and (is_non_differentiable(function) or carries_nothing(kind)):
        primal.plain(op, kind=kind)
    elif not is_event and rrule.has(function) and is_numeric_call(primal, with_target):
        can_be = primal.services.inlines and is_numeric(kind)
        rule = find_rule(function, tuple(map(primal.kind, with_target))) if can_be else None
        given, shares = dict(keywords), is_view(function)
        if rule is None or not inline_rule(primal, op, rule, path, with_target, given, shares, function):
            dispatch(primal, op, callee, with_target, keywords)
    else:
        dispatch(primal, op, callee, with_target, keywords)

