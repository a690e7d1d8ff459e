"""The operations of the primal that are not calls: values are put together and taken apart.

t = (x, y)              recorded: Build      the items of the cotangent belong to x and y
a, b = t                recorded: Unpack     the cotangents of a and b are the items of one of t
def g(): return x       recorded: Capture    x is a field of the function g
"""

from __future__ import annotations

from typing import Any

from microgradpy.ad.calls import (
    DEFAULTS,
    KEYWORD_DEFAULTS,
    Append,
    Build,
    Capture,
    Field,
    Iterated,
    Replaced,
    Suspend,
    UnitCall,
    Unpack,
)
from microgradpy.ad.differentiated_calls import dispatch
from microgradpy.ad.instrument import GETATTR
from microgradpy.ad.primal_builder import PrimalBuilder
from microgradpy.ad.primal_items import iterable
from microgradpy.ad.reasons import needs_tracking
from microgradpy.dataclasses import replace
from microgradpy.frontend.closures import ClosureBody
from microgradpy.ir.kinds import (
    INT,
    UNKNOWN,
    Array,
    Inert,
    Kind,
    Numeric,
    Sequence,
    TupleOf,
    Unknown,
    carries_nothing,
    dict_of,
    holds_numbers,
    is_list,
    is_numeric,
    item_kind,
    join,
    list_of,
    present,
    with_item,
)
from microgradpy.ir.nodes import (
    FROM_FRONT,
    Const,
    Op,
    Opcode,
    Value,
    Var,
    fresh,
    function_constant,
    operator_constant,
)
from microgradpy.runtime import opaque
from microgradpy.runtime.in_place import real_entries
from microgradpy.runtime.keys import check_bounds, check_index, check_key, constant_key, from_front
from microgradpy.runtime.signatures import note_active_defaults
from microgradpy.runtime.suspension import note_code
from microgradpy.runtime.variables import read_variable

_NEARBY = 4
"""Among how many statements it is looked whether the length of a list is known."""

def lower_structure(primal: PrimalBuilder, op: Op, opcode: Opcode) -> None:
    """Append what becomes of an operation on an `Opcode`."""
    match opcode:
        case Opcode.TUPLE | Opcode.LIST | Opcode.DICT | Opcode.SET:
            _build(primal, op, opcode)
        case Opcode.UNPACK:
            _unpack(primal, op)
        case Opcode.APPEND | Opcode.STORE:
            (_append if opcode is Opcode.APPEND else _store)(primal, op)
        case Opcode.CLOSURE:
            _closure(primal, op)
        case Opcode.GLOBAL:
            _read_global(primal, op)
        case Opcode.MARK:
            primal.marks[op.payload].append(values := primal.inputs(op)[0])
            primal.add(replace(op, arguments=values))
        case Opcode.SUSPEND:
            _suspend(primal, op)
        case Opcode.JOIN:
            primal.plain(op, kind=Inert("str"))
        case Opcode.APPLY:
            _apply(primal, op)
        case _:
            raise AssertionError(f"{opcode} in an instrumented function")


def _suspend(primal: PrimalBuilder, op: Op) -> None:
    if op.payload:
        primal.emit(function_constant(note_code), (), (primal.variable(Inert("NoneType")),))
    result = primal.plain(op, kind=UNKNOWN, active=True)
    primal.record(Suspend(result, primal.of(op.arguments[0]), op.where))


_NO_SET = "A set finds items by their values, through which no derivative flows: write a tuple or list: min((x, y))."


def _build(primal: PrimalBuilder, op: Op, opcode: Opcode) -> None:
    parts, _ = primal.inputs(op)
    active = primal.any_active(parts)
    if opcode is Opcode.SET and active:
        if any(is_numeric(primal.kind(part)) and may_be_differentiated_key(primal, part) for part in parts):
            primal.refuse(op, opaque.refuse_syntax, "a set of differentiated numbers", _NO_SET)
            return
        _hold_as_keys(primal, op, parts)
    if opcode is Opcode.DICT and active:
        if any(_may_be_object(primal, key) for key in parts[::2]):
            _hold_as_keys(primal, op, parts[::2])
        else:
            parts = tuple(part if place % 2 else key_in_dict(primal, part) for place, part in enumerate(parts))
        active = primal.any_active(parts)
    kinds = tuple(map(primal.kind, parts))
    match opcode:
        case Opcode.TUPLE:
            kind: Kind = TupleOf(kinds)
        case Opcode.LIST:
            kind = list_of(kinds)
        case Opcode.DICT:
            kind = _kind_of_dict(parts[::2], kinds[1::2])
        case _:
            kind = UNKNOWN if active else Sequence("set")
    result = primal.define(op.result, kind, active)
    primal.emit(opcode, parts, (result,))
    primal.lend_with(result, parts)
    if result in primal.active:
        if opcode is Opcode.DICT:
            keys, items = parts[::2], parts[1::2]
        else:
            keys, items = tuple(map(Const, range(len(parts)))), parts
        primal.record(Build(result, keys, items, op.where))


def lower_key(primal: PrimalBuilder, op: Op) -> None:
    """What becomes of the mark that the front end puts on the keys of a dict comprehension."""
    key = primal.of(op.arguments[0])
    if _may_be_object(primal, key):
        _hold_as_keys(primal, op, (key,))
        primal.stand_for(op.result, key)
    else:
        primal.values[op.result] = key_in_dict(primal, key)


def _may_be_object(primal: PrimalBuilder, key: Value) -> bool:
    """Whether a key is taken for an object that may be differentiated. Where writes are not tracked, that is what was given
    to the function as one, or is in a list that was; others, texts as a rule, are looked at when they are there."""
    if not isinstance(primal.kind(key), Unknown) or not primal.is_active(key):
        return False
    made = _origin_of(primal, key)
    return primal.services.tracks or made is None or (isinstance(made, Iterated) and _origin_of(primal, made.source) is None)


def _origin_of(primal: PrimalBuilder, value: Value) -> Any:
    return (primal.calls.get(value) or primal.producers.get(value)) if isinstance(value, Var) else value


def _hold_as_keys(primal: PrimalBuilder, op: Op, keys: tuple[Value, ...]) -> None:
    """Let objects be keys, or items of a set: there are no cotangents for those but the ones that the objects themselves have
    where writes are tracked. Numbers are refused."""
    if not primal.services.tracks:
        raise needs_tracking(op, "an object as a key", "objects that may be differentiated are keys")
    for key in keys:
        if may_be_differentiated_key(primal, key):
            primal.emit(function_constant(check_key), (key,), (primal.variable(Inert("NoneType"), "checked"),))


def key_in_dict(primal: PrimalBuilder, key: Value) -> Value:
    """A value as the key of a dict, where a number that may be differentiated is refused."""
    if not may_be_differentiated_key(primal, key):
        return key
    checked = primal.variable(primal.kind(key), "key")
    primal.emit(function_constant(constant_key), (key,), (checked,))
    return checked


def check_stored(primal: PrimalBuilder, arguments: tuple[Value, ...]) -> None:
    """Let `container[index] = value` refuse a number that may be differentiated as a key."""
    is_array = isinstance(primal.kind(arguments[0]), Array)
    if len(arguments) == 3 and not is_array and may_be_differentiated_key(primal, arguments[1]):
        primal.emit(function_constant(check_index), arguments[:2], (primal.variable(Inert("NoneType"), "checked"),))


def check_slice(primal: PrimalBuilder, bounds: tuple[Value, ...]) -> None:
    """Let the making of a slice refuse bounds that may be differentiated."""
    doubtful = tuple(bound for bound in bounds if may_be_differentiated_key(primal, bound))
    if doubtful:
        primal.emit(function_constant(check_bounds), doubtful, (primal.variable(Inert("NoneType"), "checked"),))


def may_be_differentiated_key(primal: PrimalBuilder, key: Value) -> bool:
    made = _origin_of(primal, key)
    is_rounded = getattr(made, "callee", None) == function_constant(round)
    return primal.is_active(key) and not (is_rounded or carries_nothing(primal.kind(key)) or primal.kind(key) == INT)


def _kind_of_dict(keys: tuple[Value, ...], kinds: tuple[Kind, ...]) -> Kind:
    names = [key.value for key in keys if isinstance(key, Const) and type(key.value) in (str, int)]
    if len(set(names)) < len(keys):
        return Sequence("dict")
    return dict_of(zip(names, kinds, strict=True))


def _unpack(primal: PrimalBuilder, op: Op) -> None:
    source = primal.of(iterable(primal, op.arguments[0]))
    kind, active = present(primal.kind_of_items(source)), primal.is_active(source)
    if isinstance(kind, TupleOf) and len(kind.items) == len(op.results):
        kinds = kind.items
    else:
        kinds = (item_kind(kind),) * len(op.results)
    made = primal.calls.get(source) if isinstance(source, Var) else None
    flags, passed = (active,) * len(kinds), 0
    if isinstance(made, UnitCall) and made.unit.active_parts is not None and len(made.unit.active_parts) == len(kinds):
        flags, passed = made.unit.active_parts, len(made.passed)
    results = tuple(primal.define(old, kind, flag) for old, kind, flag in zip(op.results, kinds, flags, strict=True))
    primal.emit(Opcode.UNPACK, (source,), results)
    for result in results:
        primal.lend_with(result, (source,))
    if any(result in primal.active for result in results):
        primal.record(Unpack(results[0], results, source, op.where, passed))


def _append(primal: PrimalBuilder, op: Op) -> None:
    items, item = map(primal.of, op.arguments)
    active = primal.any_active((items, item))
    length = length_now(primal, items) if active else Const(0)
    result = primal.plain(op, kind=join(primal.kind(items), list_of((primal.kind(item),))), active=active)
    if active:
        primal.record(Append(result, items, item, length, op.where))


def _store(primal: PrimalBuilder, op: Op) -> None:
    """Another item of a list, whose kind and the index's are proven: `x[i] = y` may be anything else."""
    op = _with_tested_entries(primal, op)
    (items, *indices, item), _ = primal.inputs(op)
    kind = with_item(primal.kind(items), tuple(map(primal.kind, indices)), primal.kind(item))
    if kind is None or (len(indices) > 1 and not holds_numbers(kind)):
        why = "the kind of the container, or of what is put into it, is not proven"
        raise needs_tracking(op, "an item of a container", why)
    active = primal.any_active((items, item))
    if active and op.payload != FROM_FRONT and is_list(kind):
        indices[0] = place_from_front(primal, items, indices[0])
    result = primal.plain(replace(op, payload=None), kind=kind, active=active)
    if active:
        primal.record(Replaced(result, items, tuple(indices), item, op.where))


def _with_tested_entries(primal: PrimalBuilder, op: Op) -> Op:
    """The same store into an array of floats of entries that are tested if nothing is proven of them."""
    (items, *indices, item), _ = primal.inputs(op)
    array = primal.kind(items)
    is_array = isinstance(array, Array) and array.ndim is not None and array.dtype == "float" and len(indices) == 1
    if primal.services.tracks or not is_array or not isinstance(primal.kind(item), Unknown):
        return op
    tested = Op(function_constant(real_entries), op.arguments[-1:], (fresh(),), from_user=False, where=op.where)
    if primal.is_active(item):
        dispatch(primal, tested, function_constant(real_entries), (item,), ())
    else:
        primal.plain(tested, kind=Numeric("real"))
    return replace(op, arguments=(*op.arguments[:-1], tested.result))


def length_now(primal: PrimalBuilder, items: Value) -> Value:
    """How many items a list has, as the program has just asked or as is asked now."""
    length = function_constant(len)
    for statement in reversed(primal.open_regions[-1][-_NEARBY:]):
        if isinstance(statement, Op) and statement.callee == length and statement.arguments == (items,):
            return statement.result
    return primal.call(length, (items,), hint="n")


def place_from_front(primal: PrimalBuilder, items: Value, index: Value) -> Value:
    """The place of an item of a list that may be longer when the adjoint runs."""
    if isinstance(index, Const) and type(index.value) is int:
        if index.value >= 0:
            return index
        length = length_now(primal, items)
        return primal.call(operator_constant("sub"), (length, Const(-index.value)), kind=INT)
    kind = INT if primal.kind(index) == INT else None
    return primal.call(function_constant(from_front), (items, index), hint="place", kind=kind)


def _closure(primal: PrimalBuilder, op: Op) -> None:
    body = op.payload
    assert isinstance(body, ClosureBody)
    values, _ = primal.inputs(op)
    if primal.any_active(values[len(body.code.co_freevars) :]):
        note_active_defaults(body.code)
    active = primal.any_active(values) or (primal.services.tracks and _reads_state(primal, body))
    result = primal.plain(op, kind=UNKNOWN, active=active)
    if result in primal.active:
        fields: tuple[Field, ...] = (
            *body.code.co_freevars,
            *((DEFAULTS, index) for index in range(body.defaults)),
            *((KEYWORD_DEFAULTS, name) for name in body.keyword_defaults),
        )
        # What is in a cell has its cotangent there.
        pairs = [pair for pair in zip(fields, values, strict=True) if pair[0] not in body.shared]
        primal.record(Capture(result, tuple(f for f, _ in pairs), tuple(v for _, v in pairs), op.where))


def _reads_state(primal: PrimalBuilder, body: ClosureBody) -> bool:
    """Whether a function may read something active that it is not given."""
    return primal.services.reads_state(primal.services.nested(body.code, body.function.name))


def _read_global(primal: PrimalBuilder, op: Op) -> None:
    services = primal.services
    if services.tracks and (services.is_rebound(op.payload) or (services.tells_apart and services.is_state(op.payload))):
        module = primal.services.variables()
        dispatch(primal, op, function_constant(read_variable), (module, Const(op.payload)), ())
        return
    if op.arguments:
        _read_of_module(primal, op, *op.arguments)
        return
    kind = services.global_kind(op.payload)
    if kind is not None:
        primal.plain(op, kind=kind, active=services.tracks and services.is_state(op.payload))
        return
    _raise_undefined(primal, op)


def _raise_undefined(primal: PrimalBuilder, op: Op) -> None:
    raising = function_constant(opaque.undefined_name)
    primal.plain(replace(op, callee=raising, arguments=(Const(op.payload),), payload=None), kind=UNKNOWN)


def _read_of_module(primal: PrimalBuilder, op: Op, module: Value) -> None:
    """A variable of another module, which a function of that reads where it was written into this one."""
    assert isinstance(module, Const)
    services = primal.services
    kind = services.global_kind(op.payload, module.value)
    read = replace(op, callee=GETATTR, arguments=(module, Const(op.payload)), payload=None)
    if kind is None and not services.tracks:
        raise needs_tracking(op, op.payload, "there is no variable of that name in its module")
    if kind is None:
        _raise_undefined(primal, op)
    elif services.tracks and services.holds_state(module.value, op.payload):
        dispatch(primal, read, GETATTR, read.arguments, ())
    else:
        primal.plain(read, kind=kind, active=False)


def _apply(primal: PrimalBuilder, op: Op) -> None:
    (callee, *packed), _ = primal.inputs(op)
    if primal.any_active((callee, *packed)):
        dispatch(primal, op, callee, tuple(packed), (), packed=True)
    else:
        if primal.services.tracks:
            primal.plain(op, kind=UNKNOWN)
            return
        primal.services.calls_unknown()
        result = primal.define(op.result, UNKNOWN, False)
        watch = function_constant(opaque.apply_unchanged)
        primal.emit(watch, (callee, *packed), (result,))
