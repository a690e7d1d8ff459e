"""The operations of the primal that are not calls: values are put together, taken apart and iterated over.

t = (x, y)              recorded: Build      the items of the cotangent belong to x and y
a, b = t                recorded: Unpack     the cotangents of a and b are the items of one of t
for a in xs:            recorded: Iterated   the cotangent of a is that of the item of xs at the iteration's position
def g(): return x       recorded: Capture    x is a field of the function g
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from microgradpy.ad.calls import (
    DEFAULTS,
    KEYWORD_DEFAULTS,
    Append,
    Build,
    Capture,
    Dispatched,
    Field,
    Iterated,
    Suspend,
    Unpack,
)
from microgradpy.ad.differentiated_calls import dispatch
from microgradpy.ad.given_code import asks_class, gives_items
from microgradpy.ad.primal_builder import PrimalBuilder
from microgradpy.frontend.closures import ClosureBody
from microgradpy.frontend.exceptions import check_steady, new_row
from microgradpy.ir.kinds import (
    INT,
    UNKNOWN,
    Array,
    Inert,
    Kind,
    Sequence,
    TupleOf,
    Unknown,
    carries_nothing,
    dict_of,
    entry_kinds,
    item_kind,
    join,
    list_of,
)
from microgradpy.ir.nodes import (
    Const,
    DictItems,
    Each,
    Enumerate,
    Items,
    Location,
    Op,
    Opcode,
    Range,
    Records,
    Reversed,
    Value,
    Var,
    Zip,
    fresh,
    function_constant,
    operator_constant,
)
from microgradpy.runtime import opaque
from microgradpy.runtime.keys import check_bounds, check_index, constant_key
from microgradpy.runtime.protocols import ITERATION
from microgradpy.runtime.variables import read_variable
from microgradpy.state.iteration import walked, walked_steadily


def lower_structure(primal: PrimalBuilder, op: Op, opcode: Opcode) -> None:
    """Append what becomes of an operation on an `Opcode`."""
    match opcode:
        case Opcode.TUPLE | Opcode.LIST | Opcode.DICT | Opcode.SET:
            _build(primal, op, opcode)
        case Opcode.UNPACK:
            _unpack(primal, op)
        case Opcode.APPEND:
            _append(primal, op)
        case Opcode.CLOSURE:
            _closure(primal, op)
        case Opcode.GLOBAL:
            _read_global(primal, op)
        case Opcode.MARK:
            primal.marks[op.payload].append(values := primal.inputs(op)[0])
            primal.add(replace(op, arguments=values))
        case Opcode.SUSPEND:
            result = primal.plain(op, kind=UNKNOWN, active=True)
            primal.record(Suspend(result, primal.of(op.arguments[0]), op.where))
        case Opcode.JOIN:
            primal.plain(op, kind=Inert("str"))
        case Opcode.APPLY:
            _apply(primal, op)
        case _:
            raise AssertionError(f"{opcode} in an instrumented function")


def _build(primal: PrimalBuilder, op: Op, opcode: Opcode) -> None:
    parts, _ = primal.inputs(op)
    active = primal.any_active(parts)
    if opcode is Opcode.SET and active:
        primal.refuse(op, opaque.refuse_syntax, "a set of differentiated values", "Use a list or a tuple.")
        return
    if opcode is Opcode.DICT and active:
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
            kind = Sequence(opcode.value)
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
    key = key_in_dict(primal, primal.of(op.arguments[0]))
    primal.values[op.result] = key


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
    made = (primal.calls.get(key) or primal.producers.get(key)) if isinstance(key, Var) else None
    is_rounded = getattr(made, "callee", None) == function_constant(round)
    return primal.is_active(key) and not (is_rounded or carries_nothing(primal.kind(key)) or primal.kind(key) == INT)


def _kind_of_dict(keys: tuple[Value, ...], kinds: tuple[Kind, ...]) -> Kind:
    names = [key.value for key in keys if isinstance(key, Const) and type(key.value) is str]
    if len(set(names)) < len(keys):
        return Sequence("dict")
    return dict_of(zip(names, kinds, strict=True))


def _is_walked(primal: PrimalBuilder, source: Value) -> bool:
    """Whether it is seen at run time only where the items of a source have their cotangents: those of a view of a dict are
    in the shadow of the dict."""
    kind = primal.kind(source)
    is_list = isinstance(kind, Array | TupleOf) or (isinstance(kind, Sequence) and kind.name in ("list", "dict"))
    return primal.services.tracks and not (is_list or _is_asked(primal, source)) and primal.is_active(source)


def _is_asked(primal: PrimalBuilder, source: Value) -> bool:
    """Whether a source has been asked for its items already."""
    made = primal.calls.get(source) if isinstance(source, Var) else None
    return (isinstance(made, Dispatched) and made.callee == _WALKED_STEADILY) or source in primal.steady


def _iterable(primal: PrimalBuilder, source: Value) -> Value:
    """One of the user's values as something that is iterated over: an object whose class may say how gives its items by a
    call, which is differentiated."""
    value = primal.of(source)
    kind = primal.kind(value)
    if gives_items(kind) and not primal.services.tracks:
        primal.services.calls_unknown()
    if _is_walked(primal, value):
        return _asked_for_items(primal, _WALKED, value)
    is_users = isinstance(kind, Unknown) and not ITERATION.isdisjoint(kind.features.operators)
    if not is_users or _is_asked(primal, value) or not primal.is_active(value):
        return source
    return _asked_for_items(primal, _ITER, value)


def _asked_for_items(primal: PrimalBuilder, callee: Const, value: Value, hint: str = "items") -> Var:
    items = fresh(hint)
    dispatch(primal, Op(callee, (value,), (items,), where=primal.where), callee, (value,), ())
    return items


def lower_iterator(primal: PrimalBuilder, op: Op) -> None:
    """What a generator expression runs over: where it is differentiated, its text asks for the items."""
    source, function = map(primal.of, op.arguments)
    if primal.any_active((source, function)) and isinstance(source, Var):
        primal.bind(op.result, source)
    else:
        primal.plain(replace(op, callee=_ITER, arguments=op.arguments[:1]), kind=UNKNOWN)


def lower_steady(primal: PrimalBuilder, op: Op) -> None:
    """What a loop runs over that catches what its body raises: only where that is not proven it is looked at."""
    source, place = map(primal.of, op.arguments[:2])
    if is_proven(primal.kind(source)):
        primal.stand_for(op.result, source)
    elif not primal.is_active(source):
        given = (op.arguments[0], Const(""), *op.arguments[2:]) if _row(primal, op) else op.arguments[:1]
        primal.plain(replace(op, arguments=given), kind=UNKNOWN)
    elif _is_walked(primal, source):
        dispatch(primal, op, _WALKED_STEADILY, (source, place, *_row(primal, op)), ())
    else:
        check_source(primal, source, place)
        primal.stand_for(op.result, source)


def lower_row(primal: PrimalBuilder, op: Op) -> None:
    """What the parts of a `zip` share: made when the first of them asks for it."""
    primal.values.pop(op.result, None)


def _row(primal: PrimalBuilder, op: Op) -> tuple[Value, ...]:
    for row in op.arguments[2:]:
        if isinstance(row, Var) and row not in primal.values:
            primal.values[row] = primal.call(function_constant(new_row), (), hint="row", kind=UNKNOWN)
    return tuple(map(primal.of, op.arguments[2:]))


def check_source(primal: PrimalBuilder, source: Value, place: Value) -> None:
    """Refuse, when it is reached, what may raise between two items."""
    if isinstance(source, Var) and not is_proven(primal.kind(source)):
        primal.emit(function_constant(check_steady), (source, place), (primal.variable(UNKNOWN),))
        primal.steady.add(source)


def is_proven(kind: Kind) -> bool:
    """Whether a value is proven to be a number, an array or one of Python's containers."""
    return not isinstance(kind, Unknown)


_WALKED = function_constant(walked)
_WALKED_STEADILY = function_constant(walked_steadily)
_ITER = function_constant(iter)
_REVERSED = function_constant(reversed)


def ask_for_items(primal: PrimalBuilder, items: Items) -> Items:
    """What a loop runs over, after the objects in it have been asked for their items, once and before the loop."""
    match items:
        case Each(source=source, item=item):
            return Each(_iterable(primal, source), item)
        case Enumerate(inner=inner, start=start, index=index):
            return Enumerate(ask_for_items(primal, inner), start, index)
        case Reversed(inner=Each(source=source, item=item)) if _is_walked(primal, primal.of(source)):
            return Each(_asked_for_items(primal, _REVERSED, primal.of(source)), item)
        case Zip(inners=inners, strict=strict):
            return Zip(tuple(ask_for_items(primal, inner) for inner in inners), strict)
        case Range(arguments=arguments, item=item):
            return Range(tuple(_whole_number(primal, value) for value in arguments), item)
    return items


def _whole_number(primal: PrimalBuilder, bound: Value) -> Value:
    """A bound of a range: an object of a class that may write when it says which number it is, is asked by a call."""
    value = primal.of(bound)
    if not (primal.services.tracks and primal.is_active(value) and asks_class(range, (primal.kind(value),))):
        return bound
    return _asked_for_items(primal, operator_constant("index"), value, "n")


def _unpack(primal: PrimalBuilder, op: Op) -> None:
    source = primal.of(_iterable(primal, op.arguments[0]))
    kind, active = primal.kind(source), primal.is_active(source)
    if isinstance(kind, TupleOf) and len(kind.items) == len(op.results):
        kinds = kind.items
    else:
        kinds = (item_kind(kind),) * len(op.results)
    results = tuple(primal.define(old, kind, active) for old, kind in zip(op.results, kinds, strict=True))
    primal.emit(Opcode.UNPACK, (source,), results)
    for result in results:
        primal.lend_with(result, (source,))
    if any(result in primal.active for result in results):
        primal.record(Unpack(results[0], results, source, op.where))


def _append(primal: PrimalBuilder, op: Op) -> None:
    items, item = map(primal.of, op.arguments)
    active = primal.any_active((items, item))
    length = primal.call(function_constant(len), (items,), hint="n") if active else Const(0)
    result = primal.plain(op, kind=join(primal.kind(items), list_of((primal.kind(item),))), active=active)
    if active:
        primal.record(Append(result, items, item, length, op.where))


def _closure(primal: PrimalBuilder, op: Op) -> None:
    body = op.payload
    assert isinstance(body, ClosureBody)
    values, _ = primal.inputs(op)
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
    if primal.services.tracks and primal.services.is_rebound(op.payload):
        module = primal.services.variables()
        dispatch(primal, op, function_constant(read_variable), (module, Const(op.payload)), ())
        return
    kind = primal.services.global_kind(op.payload)
    if kind is not None:
        primal.plain(op, kind=kind, active=primal.services.tracks and primal.services.is_state(op.payload))
        return
    raising = function_constant(opaque.undefined_name)
    primal.plain(replace(op, callee=raising, arguments=(Const(op.payload),), payload=None), kind=UNKNOWN)


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


def bind_items(primal: PrimalBuilder, items: Items, where: Location) -> Items:
    """The items of a loop with new variables, of the kinds and activity that their sources give. Active items are recorded
    with the position of the iteration."""
    sources: list[tuple[Var, Value, bool]] = []
    bound = _bind(primal, items, where, sources)
    lengths = {
        source: primal.call(function_constant(len), (source,), hint="n")
        for _, source, backwards in sources
        if backwards and primal.services.tracks and not isinstance(primal.kind(source), Array)
    }
    if not sources:
        return bound
    if isinstance(bound, Enumerate) and bound.start == Const(0):
        position = bound.index
    else:
        position = primal.variable(INT, "k")
        bound = Enumerate(bound, Const(0), position)
    for item, source, backwards in sources:
        primal.record(Iterated(item, source, position, backwards, False, where, lengths.get(source)))
    return bound


def _bind(primal: PrimalBuilder, items: Items, where: Location, sources: list[tuple[Var, Value, bool]]) -> Items:
    """`sources` gets each active item with what it is an item of, and whether that is read from the end."""
    match items:
        case Each() | Range():
            return _bind_one(primal, items, False, sources)
        case Reversed(inner=inner):
            return Reversed(_bind_one(primal, inner, True, sources))
        case Enumerate(inner=inner, start=start, index=index):
            new_index = primal.define(index, INT, False)
            return Enumerate(_bind(primal, inner, where, sources), primal.of(start), new_index)
        case Zip(inners=inners, strict=strict):
            return Zip(tuple(_bind(primal, inner, where, sources) for inner in inners), strict)
        case DictItems(source=source, key=key, value=value):
            source = primal.of(source)
            key_kind, value_kind = entry_kinds(primal.kind(source))
            new_key = primal.define(key, key_kind, False)
            new_value = primal.define(value, value_kind, primal.is_active(source))
            if new_value in primal.active:
                primal.record(Iterated(new_value, source, new_key, False, True, where))
            return DictItems(source, new_key, new_value)
        case Records():
            raise AssertionError("only adjoints read tapes")
    assert_never(items)


def _bind_one(
    primal: PrimalBuilder, items: Each | Range, backwards: bool, sources: list[tuple[Var, Value, bool]]
) -> Each | Range:
    if isinstance(items, Range):
        return Range(tuple(map(primal.of, items.arguments)), primal.define(items.item, INT, False))
    source = primal.of(items.source)
    item = primal.define(items.item, item_kind(primal.kind(source)), primal.is_active(source))
    primal.lend(item, source)
    if item in primal.active:
        sources.append((item, source, backwards))
    return Each(source, item)
