"""What becomes of each call of the user's program, attribute and item access included.

A call is refused if it cannot be differentiated whatever its arguments are; made as it stands if no derivative flows
through it; and otherwise made in one of the ways of `differentiated_calls`.
"""

from __future__ import annotations

import functools
import inspect
import operator
import warnings
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from microgradpy.ad.calls import Apart, Attribute, Item
from microgradpy.ad.checkpoints import CHECKPOINT, lower_checkpointed
from microgradpy.ad.differentiated_calls import (
    active_by_position,
    asks_a_class,
    call_apart,
    call_closure,
    call_function,
    call_rule,
    dispatch,
    inline_rule,
    kind_returned,
    name_of,
)
from microgradpy.ad.given_code import answers, runs_given_code
from microgradpy.ad.hidden_calls import lower_asked, lower_items
from microgradpy.ad.instrument import GETATTR, OUT_OF_PLACE
from microgradpy.ad.keys import check_keys_of, dict_with_keys
from microgradpy.ad.known_functions import is_asked_of_objects, makes_texts
from microgradpy.ad.memory_mode import is_flat
from microgradpy.ad.nested_calls import defined
from microgradpy.ad.own_signs import with_own_sign
from microgradpy.ad.primal_builder import Method, PrimalBuilder
from microgradpy.ad.primal_items import check_iterated, lower_iterator, lower_row, lower_steady
from microgradpy.ad.primal_structure import check_slice, lower_key, lower_structure, place_from_front
from microgradpy.ad.real_powers import is_real_power
from microgradpy.ad.reasons import needs_class, needs_tracking, needs_variable, why_in_place, why_kept
from microgradpy.ad.refused_calls import is_hashable, refuse_call, refuse_write
from microgradpy.ad.tracked_calls import lower_tracked_constant, lower_tracked_method, lower_tracked_value
from microgradpy.dataclasses import replace
from microgradpy.frontend import exceptions
from microgradpy.frontend.generators import iterator_of
from microgradpy.ir.kinds import (
    NOTHING_YET,
    UNASSIGNED,
    UNKNOWN,
    Array,
    Inert,
    Kind,
    Scalar,
    Sequence,
    TupleOf,
    Unknown,
    carries_nothing,
    holds_no_lists,
    holds_numbers,
    is_immutable,
    is_proven,
    object_with,
    python_type,
)
from microgradpy.ir.nodes import RAISED, STATEMENT, Const, Op, Opcode, Value, Var, fresh, function_constant, operator_constant
from microgradpy.ir.objects import ANY_FEATURES, ANY_NAME, Features, features_of
from microgradpy.ir.traversal import given_values
from microgradpy.passes.result_kinds import result_kind
from microgradpy.passes.typed_builder import Keywords, is_getattr
from microgradpy.rules.registry import find_attribute_rule, is_inert_attribute, is_non_differentiable, non_differentiable, rrule
from microgradpy.runtime import fields, opaque
from microgradpy.runtime.constructors import writes_fields
from microgradpy.runtime.dispatch import CONTAINERS
from microgradpy.runtime.failures import raise_failure
from microgradpy.runtime.frames import warn
from microgradpy.runtime.iterators import STREAMS
from microgradpy.runtime.keys import constant_key, item_of_growing
from microgradpy.runtime.making import Maker, assign_again, check_made, given_to_body
from microgradpy.runtime.opaque import check_sum
from microgradpy.runtime.protocols import asks_for
from microgradpy.runtime.signatures import check_signature
from microgradpy.runtime.streams import check_class_asked
from microgradpy.runtime.variables import OF_CELLS, OF_MODULES
from microgradpy.runtime.write_detection import may_write
from microgradpy.tangents.columns import columns_of, list_of_columns

# They look at a value and do nothing with it, whatever it is.
non_differentiable(*exceptions.CHECKS)
_SIGNATURE = function_constant(inspect.signature)
_NEARBY = 4
"""Among how many statements before a call its keywords are looked for."""


def lower_call(primal: PrimalBuilder, op: Op) -> None:
    """Append what becomes of a call."""
    keyed = dict_with_keys(primal, op)
    _lower_call(primal, op)
    if keyed is not None:
        check_keys_of(primal, keyed)


def lower_applied(primal: PrimalBuilder, op: Op) -> bool:
    """Append what becomes of `f(*items)` where it is proven how many items there are: a call with these. Whether it is one."""
    callee, items, named = op.arguments
    kind, keywords = primal.kind(primal.of(items)), primal.producers.get(primal.of(named))  # type: ignore[arg-type]
    is_plain = keywords is not None and keywords.callee is Opcode.DICT and not keywords.arguments  # no keywords
    if not isinstance(kind, TupleOf) or keywords is None or not is_plain:
        return False
    given = tuple(fresh() for _ in kind.items)
    statements = primal.open_regions[-1]
    if keywords in statements[-_NEARBY:]:  # which nobody needs to make, if nobody else reads it
        statements[statements.index(keywords)] = replace(keywords, from_user=False)
    if given:
        lower_structure(primal, Op(Opcode.UNPACK, (items,), given, from_user=False, where=op.where), Opcode.UNPACK)
    lower_call(primal, replace(op, callee=callee, arguments=given))
    return True


def _lower_call(primal: PrimalBuilder, op: Op) -> None:
    assert not isinstance(op.callee, Opcode)
    tracks = primal.services.tracks
    if isinstance(op.callee, Var) and op.callee in primal.methods:
        (lower_tracked_method if tracks else _call_method)(primal, op, primal.methods[op.callee])
        return
    callee = primal.of(op.callee)
    if callee == _SIGNATURE and op.arguments and primal.is_active(primal.of(op.arguments[0])):
        check = (primal.of(op.arguments[0]),)
        primal.emit(function_constant(check_signature), check, (primal.variable(UNKNOWN),))
    if _asks_for_class(primal, op, callee):
        primal.emit(function_constant(check_class_asked), (primal.of(op.arguments[0]),), (primal.variable(UNKNOWN),))
    op, callee = defined(primal, op, with_own_sign(primal, op, callee))
    op = active_by_position(primal, op, callee)
    own = _OF_THE_FRONT_END.get(callee.value) if isinstance(callee, Const) and isinstance(callee.value, FunctionType) else None
    if own is not None:
        own(primal, op)
    elif isinstance(callee, Const) and isinstance(callee.value, Maker | Apart):
        _call_made(primal, op, callee.value)
    elif tracks and not isinstance(callee, Const):
        lower_tracked_value(primal, op, callee)
    elif tracks and isinstance(callee, Const) and is_hashable(callee.value):
        if not refuse_call(primal, op, callee):
            lower_tracked_constant(primal, op, callee)
    elif isinstance(callee, Const):
        _call_constant(primal, op, callee)
    else:
        _call_value(primal, op, callee)


_ASKING = {type: 1, isinstance: 2, getattr: 2}


def _asks_for_class(primal: PrimalBuilder, op: Op, callee: Value) -> bool:
    """Whether a call asks for the class of what may be an iterator, for which another object stands."""
    asked = _ASKING.get(callee.value) if isinstance(callee, Const) and is_hashable(callee.value) else None
    if asked is None or len(op.arguments) != asked or op.keywords:
        return False
    if callee.value is getattr and op.arguments[1] != Const("__class__"):  # type: ignore[union-attr]
        return False
    value = primal.of(op.arguments[0])
    return isinstance(primal.kind(value), Unknown) and primal.is_active(value)


def _call_made(primal: PrimalBuilder, op: Op, made: Maker | Apart) -> None:
    """What the compiler has put into the program for a statement or a call."""
    if isinstance(made, Apart):
        call_apart(primal, op, made)
    elif made.makes_class:
        _make_class(primal, op)
    else:
        _make(primal, op, primal.inputs(op)[0])


def _write(callee: Const, kind: Kind, primal: PrimalBuilder, op: Op) -> None:
    """Write into an argument: for the derivative it is a variable that has the value."""
    arguments, _ = primal.inputs(op)
    _note_kept(primal, op, arguments[-1])
    primal.emit(callee, arguments, (primal.define(op.result, kind, False),), payload=op.payload)


_COPIES = function_constant(fields.list_of), function_constant(fields.dict_of)


def _note_kept(primal: PrimalBuilder, op: Op, value: Value) -> None:
    if op.callee not in _COPIES and not op.keywords and not holds_no_lists(primal.kind(value)):
        primal.services.keeps_containers()


def _append(primal: PrimalBuilder, op: Op) -> None:
    (items, item), _ = primal.inputs(op)
    _note_kept(primal, op, item)
    method = primal.variable(UNKNOWN)
    primal.emit(GETATTR, (items, Const("append")), (method,))
    primal.emit(method, (item,), (primal.define(op.result, Inert("NoneType"), False),))


def _columns(primal: PrimalBuilder, op: Op) -> None:
    """The columns of rows: a list where they are proven to be numbers, and else what `zip(*rows)` gives."""
    rows = primal.of(op.arguments[0])
    callee = function_constant(list_of_columns)
    kind = primal.kind_of_call(callee, (rows,), ())
    is_own = not any(map(rrule.has_others, (zip, list, tuple)))
    if holds_numbers(kind) and is_own and primal.services.inlines and not primal.services.tracks:
        if primal.is_active(rows):
            call_rule(primal, op, callee, (rows,), ())
        else:
            primal.plain(replace(op, callee=callee), kind=kind)
        return
    packed, named, found = fresh(), fresh(), fresh()
    lower_call(primal, Op(function_constant(tuple), op.arguments, (packed,), where=op.where))
    primal.plain(Op(Opcode.DICT, (), (named,), where=op.where), kind=Sequence("dict"))
    arguments = (function_constant(zip), packed, named)
    if op.callee == callee:
        lower_structure(primal, Op(Opcode.APPLY, arguments, (found,), where=op.where), Opcode.APPLY)
        lower_call(primal, replace(op, callee=function_constant(list), arguments=(found,)))
    else:
        lower_structure(primal, replace(op, callee=Opcode.APPLY, arguments=arguments), Opcode.APPLY)


def _raise_failure(primal: PrimalBuilder, op: Op) -> None:
    """Raise what a call has returned for its value, where it may be a `Failure`."""
    if not is_proven(primal.kind(primal.of(op.arguments[0]))):
        primal.plain(op, kind=Inert("NoneType"))


_OF_THE_FRONT_END: dict[Any, Callable[[PrimalBuilder, Op], None]] = {
    exceptions.steady: lower_steady,
    **dict.fromkeys((exceptions.check_steady, exceptions.check_fixed, exceptions.check_pairs), check_iterated),
    raise_failure: _raise_failure,
    given_to_body: lambda primal, op: _given_to_body(primal, op),
    assign_again: lambda primal, op: _assign_again(primal, op),
    exceptions.new_row: lower_row,
    exceptions.asked: lower_asked,
    constant_key: lower_key,
    exceptions.items_of: lower_items,
    iterator_of: lower_iterator,
    item_of_growing: lambda primal, op: _read_growing(primal, op),
    opaque.call_unchanged: lambda primal, op: _call_once_more(primal, op),
    opaque.apply_unchanged: lambda primal, op: lower_structure(primal, replace(op, callee=Opcode.APPLY), Opcode.APPLY),
    fields.assign: partial(_write, function_constant(setattr), Inert("NoneType")),
    fields.put: partial(_write, operator_constant("setitem"), Inert("NoneType")),
    fields.list_of: partial(_write, function_constant(list), UNKNOWN),
    fields.dict_of: partial(_write, function_constant(dict), UNKNOWN),
    fields.append: _append,
    columns_of: _columns,
    list_of_columns: _columns,
}
"""What the front end, or a primal that is differentiated once more, puts into programs, with what becomes of a call."""


def _call_once_more(primal: PrimalBuilder, op: Op) -> None:
    """A call that no derivative flowed through at the level below: by its callee, as in this one some may."""
    callee, *arguments = op.arguments
    _lower_call(primal, replace(op, callee=callee, arguments=tuple(arguments)))


def _call_constant(primal: PrimalBuilder, op: Op, callee: Const) -> None:
    """Call something that is known now."""
    function = callee.value
    if is_hashable(function) and (function in OF_CELLS or function in OF_MODULES):
        raise needs_variable(op, function in OF_CELLS)
    if function is exceptions.caught:
        why = "what is read from a caught exception has its cotangent in the exception's shadow"
        raise needs_tracking(op, "a caught exception", why)
    if op.payload == RAISED:
        primal.plain(op, kind=UNKNOWN)
    elif callee == CHECKPOINT and lower_checkpointed(primal, op):
        pass
    elif is_hashable(function) and function in OUT_OF_PLACE:
        _augmented(primal, op, OUT_OF_PLACE[function])
    elif is_flat(op):
        raise needs_tracking(op, "x.flat", "the array may be written into by way of it", "write x.ravel()")
    elif function is getattr and len(op.arguments) == 2 and isinstance(op.arguments[1], Const):
        _attribute(primal, op, op.arguments[1].value)
    elif not refuse_call(primal, op, callee):
        _call_known(primal, op, function_constant(warn) if function is warnings.warn and _counts_frames(op) else callee)


def _call_known(primal: PrimalBuilder, op: Op, callee: Const) -> None:
    function = callee.value
    arguments, keywords = primal.inputs(op)
    kinds = tuple(map(primal.kind, arguments))
    given_kinds = tuple(map(primal.kind, given_values(arguments, keywords)))
    kind = primal.kind_of_call(callee, arguments, keywords)
    _note_given_code(primal, op, callee, arguments, keywords, given_kinds)
    if is_real_power(primal, op, callee, arguments, keywords):
        return
    if kind == UNASSIGNED or (function is sum and kinds == (NOTHING_YET,)):
        primal.plain(op, kind=kind)  # never reached, or of nothing, as far as is known
    elif asks_a_class(primal, function, arguments, keywords) or (
        primal.any_active(arguments, keywords) and is_asked_of_objects(function, given_kinds)
    ):
        dispatch(primal, op, callee, arguments, keywords)
    elif not primal.any_active(arguments, keywords):
        _call_inactive(primal, op, callee, kind, given_kinds)
        if function is operator.getitem:
            result = primal.of(op.result)
            assert isinstance(result, Var)
            primal.lend(result, arguments[0])
    elif carries_nothing(kind) or (is_non_differentiable(function) and not _may_have_rule(function, kinds)):
        primal.plain(op, kind=kind)
    elif function is operator.getitem:
        _read_item(primal, op, arguments, kind)
    elif rrule.has(function):
        call_rule(primal, op, callee, arguments, keywords)
    elif isinstance(function, functools._lru_cache_wrapper) or (isinstance(function, type) and writes_fields(function)):
        raise needs_tracking(op, function.__name__, why_kept(function))
    else:
        call_function(primal, op, callee, arguments, keywords)


def _note_given_code(
    primal: PrimalBuilder, op: Op, callee: Const, arguments: tuple[Value, ...], keywords: Keywords, kinds: tuple[Kind, ...]
) -> None:
    """Note what a call may do by running code of the user's."""
    if callee.value is slice:
        check_slice(primal, arguments)
    if runs_given_code(callee.value, arguments, keywords, kinds):
        primal.services.calls_unknown()
    if not primal.sums.parts.isdisjoint(op.arguments) and answers(asks_for(callee.value), kinds):
        name = name_of(callee)
        why = "a method that it calls may keep what it is given, and a line that comes later writes into that"
        raise needs_tracking(op, f"what a method called by {name} may keep", why)


def _make(primal: PrimalBuilder, op: Op, checked: tuple[Value, ...]) -> None:
    """A statement that Python itself runs; no cotangent is kept for the `checked` values that it gets."""
    if primal.any_active(checked):
        what = f"`{op.where.text.rstrip(':')}` with differentiated values in it"
        primal.refuse(op, opaque.refuse_syntax, what, "Define it outside, and pass what it needs as arguments.")
    else:
        primal.plain(op, kind=UNKNOWN, active=primal.services.tracks)


def _make_class(primal: PrimalBuilder, op: Op) -> None:
    """A class. What its methods find in cells has its cotangent there; for what its body reads, none is kept."""
    (captured, decorators, bases, named, *cells), _ = primal.inputs(op)
    if not primal.services.tracks and primal.any_active((captured, decorators, bases, named)):
        raise needs_class(op)
    # A base class may be in the same memory as an object that holds something active.
    _make(primal, op, (captured, decorators, named, *cells[1:]))


def _given_to_body(primal: PrimalBuilder, op: Op) -> None:
    """What the body of a class is given without a cotangent, if it has one."""
    (x, _), _ = primal.inputs(op)
    if primal.is_active(x):
        primal.plain(op, kind=primal.kind(x))
    else:
        primal.stand_for(op.result, x)


def _assign_again(primal: PrimalBuilder, op: Op) -> None:
    """An attribute of a class that has just been made, which has a cotangent by this."""
    (cls, _, value), _ = primal.inputs(op)
    if not primal.is_active(value):
        primal.stand_for(op.result, Const(None))
        return
    primal.emit(function_constant(check_made), (cls,), (primal.variable(Inert("NoneType")),))
    _lower_call(primal, replace(op, callee=function_constant(setattr), payload=STATEMENT))


def _counts_frames(op: Op) -> bool:
    """Whether a call of `warnings.warn` means another line than its own."""
    return len(op.arguments) > 2 or bool(op.keywords)


def _may_have_rule(function: object, kinds: tuple[Kind, ...]) -> bool:
    """Whether arguments of these kinds may have a rule though others have none (`|` merges dicts)."""
    return rrule.is_typed(function) and not all(isinstance(kind, Scalar | Array | Inert) for kind in kinds)


def _augmented(primal: PrimalBuilder, op: Op, binary: Const) -> None:
    """`x += y` on a name: on immutable values it is `x = x + y`, and so it is on what nobody else
    has; on others it writes in place."""
    target = primal.of(op.arguments[0])
    kind = primal.kind(target)
    callee = primal.of(op.callee)  # type: ignore[arg-type]
    if isinstance(callee, Const) and asks_a_class(primal, callee.value, primal.inputs(op)[0]):
        dispatch(primal, op, callee, primal.inputs(op)[0], ())
        return
    if not is_immutable(kind):
        given = primal.of(op.arguments[1])
        begin = primal.sums.begin.get(op.result)
        if begin is None or not all(each in primal.values and is_immutable(primal.kind(primal.of(each))) for each in begin):
            raise needs_tracking(op, f"`{op.where.text}`", *why_in_place(primal, op, target, binary))
        primal.emit(function_constant(check_sum), (callee, target, given), (primal.variable(Inert("NoneType")),))
    _call_known(primal, replace(op, callee=binary), binary)


# Calls that no derivative flows through


def _call_inactive(primal: PrimalBuilder, op: Op, callee: Value, kind: Kind, kinds: tuple[Kind, ...]) -> None:
    """A call that no derivative flows through is made as it stands; one that might write into an array that was saved is
    watched."""
    known = isinstance(callee, Const) and (
        is_non_differentiable(callee.value) or rrule.has(callee.value) or isinstance(callee.value, type)
    )
    writes_nothing = all(map(is_immutable, kinds)) and not (isinstance(callee, Const) and may_write(callee.value))
    arguments, keywords = primal.inputs(op)
    if kind == UNKNOWN:
        kind = kind_returned(primal, callee, arguments, keywords)
    if kind == UNKNOWN:
        kind = _given_by(callee)
    if known or writes_nothing or (primal.services.trusts and isinstance(callee, Const)):
        primal.plain(op, kind=kind, callee=callee)
    else:
        primal.services.calls_unknown()
        result = primal.define(op.result, kind, False)
        watch = function_constant(opaque.call_unchanged)
        primal.emit(watch, (callee, *arguments), (result,), keywords)
        primal.lend_with(result, arguments)


def _given_by(callee: Value) -> Kind:
    """What the user's code returns may be an object that answers for the number on the other side of an operator."""
    match callee:
        case Const(value=made) if is_hashable(made) and made in STREAMS:
            return object_with(Features(operators=ANY_FEATURES.operators))
        case Const(value=type() as cls):
            return object_with(features_of(cls))
        case Const(value=FunctionType(__module__=str() as module)) if module.partition(".")[0] == "numpy":
            return UNKNOWN
        case Const(value=function) if not isinstance(function, FunctionType):
            return UNKNOWN
    return object_with(Features(operators=ANY_FEATURES.operators))


# Callees that are known only at run time, and methods


def _call_value(primal: PrimalBuilder, op: Op, callee: Value) -> None:
    """Call something that is known at run time only."""
    arguments, keywords = primal.inputs(op)
    if primal.any_active((callee, *arguments), keywords):
        if not call_closure(primal, op, callee, arguments, keywords):
            dispatch(primal, op, callee, arguments, keywords)
    elif _is_method_of_immutable(primal, callee):
        primal.plain(op, kind=UNKNOWN, callee=callee)
    else:
        if not primal.services.tracks and any(_is_text_of_active(primal, value) for value in arguments):
            why = "it gets a text of differentiated numbers, which may be read back from where it is kept"
            raise needs_tracking(op, "a text of differentiated numbers is handed on", why)
        kinds = (UNKNOWN, *map(primal.kind, given_values(arguments, keywords)))
        _call_inactive(primal, op, callee, UNKNOWN, kinds)


def _is_text_of_active(primal: PrimalBuilder, value: Value, depth: int = 4) -> bool:
    """Whether a text is made of what is differentiated: what is read back from where it is written to has a derivative."""
    made = primal.producers.get(value) if isinstance(value, Var) and primal.kind(value) == Inert("str") else None
    if made is None or not depth:
        return False
    return any(primal.is_active(part) or _is_text_of_active(primal, part, depth - 1) for part in made.arguments)


def _is_method_of_immutable(primal: PrimalBuilder, callee: Value) -> bool:
    """Whether a callee was read from a number or string."""
    read = primal.producers.get(callee) if isinstance(callee, Var) else None
    if read is None or not is_getattr(read.callee):
        return False
    kind = primal.kind(read.arguments[0])
    return isinstance(kind, Scalar) or kind in (Inert("str"), Inert("bytes"))


def _call_method(primal: PrimalBuilder, op: Op, method: Method) -> None:
    """Call a method of an array or container: as the function that it is in the class, `np.ndarray.sum(x)`."""
    path = f"{method.cls.__name__}.{method.name}"
    if makes_texts(method.cls, method.name, op):
        primal.plain(op, kind=UNKNOWN)
        return
    assert not isinstance(op.callee, Opcode)
    function = getattr(method.cls, method.name)
    arguments, keywords = primal.inputs(op)
    with_target = (method.target, *arguments)
    if refuse_write(primal, op, function, path, with_target):
        return
    kind = primal.kind_of_result(function, with_target, keywords)
    active = primal.any_active(with_target, keywords)
    if not active or is_non_differentiable(function) or carries_nothing(kind):
        primal.plain(op, kind=kind)
    elif rrule.has(function):
        call_rule(primal, op, Const(function, path, method.cls), with_target, keywords)
    else:
        dispatch(primal, op, primal.of(op.callee), arguments, keywords)


# Attributes and items


def _attribute(primal: PrimalBuilder, op: Op, name: str) -> None:
    target = primal.of(op.arguments[0])
    if primal.bind_method(op, target, name):
        return
    kind, active = primal.kind(target), primal.is_active(target)
    cls = python_type(kind)
    proven = result_kind(getattr, (kind, Inert("str")), (target, Const(name)), {})
    if not active or (cls is not None and is_inert_attribute(cls, name)):
        primal.plain(op, kind=proven)
        return
    if cls is np.ndarray and primal.services.inlines:
        rule = find_attribute_rule(cls, name)
        if rule is not None and inline_rule(primal, op, rule, name, (target,), {}):
            return
    if isinstance(kind, Unknown) and not kind.features.computed.isdisjoint((name, ANY_NAME)):
        dispatch(primal, op, GETATTR, (target, Const(name)), ())
        return
    result = primal.plain(op, kind=proven, active=True)
    if result in primal.active:
        primal.record(Attribute(result, target, name, op.where))


def _is_container(primal: PrimalBuilder, value: Value) -> bool:
    """Whether it is proven that an index says only which item is read."""
    kind = primal.kind(value)
    given = value.value if isinstance(value, Const) else None
    return isinstance(kind, Array | TupleOf | Sequence) or isinstance(given, CONTAINERS) or kind == Inert("str")


def _read_item(primal: PrimalBuilder, op: Op, arguments: tuple[Value, ...], kind: Kind) -> None:
    container, index = arguments
    if not primal.is_active(container):
        if primal.is_active(index) and not _is_container(primal, container):
            dispatch(primal, op, operator_constant("getitem"), arguments, ())
            return
        primal.plain(op, kind=kind)
        return
    result = primal.plain(op, kind=kind, active=True)
    if result in primal.active:
        primal.record(Item(result, container, index, op.where))


def _read_growing(primal: PrimalBuilder, op: Op) -> None:
    """An item of a list that may be longer when the adjoint runs. If nothing in it is differentiated, something may be in
    the order above."""
    (items, index), _ = primal.inputs(op)
    kind = result_kind(operator.getitem, (primal.kind(items), primal.kind(index)), (items, index), {})
    is_active = primal.is_active(items) and not carries_nothing(kind)
    place = place_from_front(primal, items, index) if is_active else index
    is_read_again = primal.services.is_differentiated and not is_active
    callee = function_constant(item_of_growing) if is_read_again else operator_constant("getitem")
    result = primal.plain(op, kind=kind, active=is_active, callee=callee)
    if is_active:
        primal.record(Item(result, items, place, op.where))
