"""What the loops of the primal run over, and the items that they get.

for a in xs:                recorded: Iterated   the cotangent of a is that of the item of xs at the iteration's position
for a in walker:            an object whose class says how gives its items by a call, which is differentiated
for k, v in x.items():      of an object whose class has a method `items`: a loop over what a call of that gives
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import assert_never

from microgradpy.ad.calls import Dispatched, Inlined, Iterated
from microgradpy.ad.differentiated_calls import dispatch
from microgradpy.ad.given_code import asks_class, gives_items
from microgradpy.ad.primal_builder import PrimalBuilder
from microgradpy.dataclasses import replace
from microgradpy.frontend.exceptions import check_fixed, check_pairs, check_steady, new_row
from microgradpy.ir.kinds import (
    INT,
    UNKNOWN,
    Array,
    Sequence,
    TupleOf,
    Unknown,
    carries_nothing,
    entry_kinds,
    holds_numbers,
    is_proven,
    item_kind,
)
from microgradpy.ir.nodes import (
    Const,
    DictItems,
    Each,
    Enumerate,
    For,
    Items,
    Location,
    Op,
    Opcode,
    Range,
    Records,
    Reversed,
    Statement,
    Value,
    Var,
    Zip,
    fresh,
    function_constant,
    operator_constant,
)
from microgradpy.ir.traversal import item_sources
from microgradpy.runtime.iterators import walked
from microgradpy.runtime.protocols import ITERATION
from microgradpy.runtime.replacements import pairs_of
from microgradpy.runtime.suspension import drop
from microgradpy.state.iteration import walked_steadily

_DROP = function_constant(drop)
_WALKED = function_constant(walked)
_WALKED_STEADILY = function_constant(walked_steadily)
_ITER = function_constant(iter)
_REVERSED = function_constant(reversed)
_PAIRS_OF = function_constant(pairs_of)


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


def iterable(primal: PrimalBuilder, source: Value) -> Value:
    """One of the user's values as something that is iterated over: an object whose class may say how gives its items by a
    call, which is differentiated."""
    value = primal.of(source)
    kind = primal.kind(value)
    if gives_items(kind) and not primal.services.tracks:
        primal.services.calls_unknown()
    if _is_walked(primal, value):
        return _asked_for_items(primal, _WALKED, value)
    if not isinstance(kind, Unknown) or _is_asked(primal, value) or not primal.is_active(value):
        return source
    if not ITERATION.isdisjoint(kind.features.operators):
        return _asked_for_items(primal, _ITER, value)
    return _asked_for_items(primal, _WALKED, value) if primal.may_be_read_elsewhere(source) else source


def _asked_for_items(primal: PrimalBuilder, callee: Const, value: Value, hint: str = "items") -> Var:
    items = fresh(hint)
    dispatch(primal, Op(callee, (value,), (items,), where=primal.where), callee, (value,), ())
    return items


def drop_items(primal: PrimalBuilder, items: Items, where: Location) -> None:
    """Behind a loop that may be left by `break`: a generator that the call in its first line has made, and that has no name, is
    closed there. In a `try` that would be an effect that no mark tells of, so that it is refused when the run ends."""
    if not primal.services.tracks or primal.attempts:
        return
    for source in item_sources(items):
        made = primal.calls.get(value) if isinstance(value := primal.of(source), Var) else None
        if isinstance(made, Dispatched) and isinstance(primal.kind(value), Unknown) and _is_unnamed(source, made, where):
            arguments = value, made.callee
            dispatch(primal, Op(_DROP, arguments, (fresh("dropped"),), where=where), _DROP, arguments, ())


def _is_unnamed(source: Value, made: Dispatched, where: Location) -> bool:
    """Whether the call stands in the first line of the loop, so that nothing but the loop has what it gives."""
    place = made.where
    is_there = (place.file, place.line, place.called_at) == (where.file, where.line, where.called_at)
    return is_there and isinstance(source, Var) and not source.user_named


def lower_iterator(primal: PrimalBuilder, op: Op) -> None:
    """What a generator expression runs over: where it is differentiated, its text asks for the items."""
    source, function = map(primal.of, op.arguments)
    if primal.any_active((source, function)) and isinstance(source, Var):
        primal.bind(op.result, source)
    elif primal.services.is_differentiated:
        primal.plain(op, kind=UNKNOWN)  # in the order above it may be
    else:
        primal.plain(replace(op, callee=_ITER, arguments=op.arguments[:1]), kind=UNKNOWN)


def lower_steady(primal: PrimalBuilder, op: Op) -> None:
    """What a loop runs over that catches what its body raises: only where that is not proven it is looked at."""
    source, place = map(primal.of, op.arguments[:2])
    is_resized = _may_be_resized(primal, source)
    if is_proven(primal.kind(source)) and not is_resized:
        primal.stand_for(op.result, source)
    elif is_resized or not primal.is_active(source):
        given = (op.arguments[0], Const(""), *op.arguments[2:]) if _row(primal, op) else op.arguments[:1]
        made = primal.plain(replace(op, arguments=given), kind=UNKNOWN)
        if is_resized:
            primal.steady.add(made)
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


def _may_be_resized(primal: PrimalBuilder, source: Value) -> bool:
    """Whether this is a dict or set that may get more or fewer items while a loop runs over it."""
    kind = primal.kind(source)
    return primal.services.tracks and isinstance(kind, Sequence) and kind.name in ("dict", "set")


def check_iterated(primal: PrimalBuilder, op: Op) -> None:
    """A check of what a loop runs over, which is left out where kinds say that it passes."""
    assert isinstance(op.callee, Const)
    source, place = primal.inputs(op)[0]
    check_source(primal, source, place, op.callee.value)


def check_source(primal: PrimalBuilder, source: Value, place: Value, check: Callable[..., None] = check_steady) -> None:
    """Refuse, when it is reached, what may raise between two items."""
    kind = primal.kind(source)
    is_dict = isinstance(kind, Sequence) and kind.name == "dict"
    passes = {check_steady: True, check_fixed: not _may_be_resized(primal, source), check_pairs: is_dict}[check]
    if isinstance(source, Var) and not (is_proven(kind) and passes):
        primal.emit(function_constant(check), (source, place), (primal.variable(UNKNOWN),))
        if check is not check_pairs:
            primal.steady.add(source)


def with_pairs_asked(primal: PrimalBuilder, statement: For) -> For:
    """A loop over the keys and values of what may be an object with a method `items`, as one over the pairs that this gives, or
    over whatever it gives if the loop does not take that apart."""
    pairs: list[Op] = []
    body = list(statement.body.statements)
    items = _with_pairs_asked(primal, statement.items, pairs, body)
    if items is statement.items:
        return statement
    return replace(statement, items=items, body=replace(statement.body, statements=(*pairs, *body)))


def _with_pairs_asked(primal: PrimalBuilder, items: Items, pairs: list[Op], body: list[Statement]) -> Items:
    match items:
        case DictItems(source=source, key=key, value=value) if _has_items_method(primal, primal.of(source)):
            pair = _taken_whole(key, value, body)
            if pair is None:
                pair = fresh("pair")
                pairs.append(Op(Opcode.UNPACK, (pair,), (key, value), where=primal.where))
            found = _asked_for_items(primal, _PAIRS_OF, primal.of(source), "pairs")
            return Each(found if primal.services.tracks else _asked_for_items(primal, _ITER, primal.of(found)), pair)
        case Enumerate(inner=inner):
            asked = _with_pairs_asked(primal, inner, pairs, body)
            return items if asked is inner else replace(items, inner=asked)
        case Zip(inners=inners):
            all_asked = tuple(_with_pairs_asked(primal, inner, pairs, body) for inner in inners)
            return items if all(map(operator.is_, all_asked, inners)) else replace(items, inners=all_asked)
    return items


def _taken_whole(key: Var, value: Var, body: list[Statement]) -> Var | None:
    """The variable of a loop that does not take pairs apart, which is taken from the body; its parts have no names then."""
    if key.hint or value.hint:
        return None
    made = (each for each in body if isinstance(each, Op) and each.callee is Opcode.TUPLE and each.arguments == (key, value))
    found = next(made, None)
    if found is None:
        return None
    body.remove(found)
    return found.result


def _has_items_method(primal: PrimalBuilder, value: Value) -> bool:
    kind = primal.kind(value)
    return primal.is_active(value) and isinstance(kind, Unknown) and "items" in kind.features.operators


def ask_for_items(primal: PrimalBuilder, items: Items) -> Items:
    """What a loop runs over, after the objects in it have been asked for their items, once and before the loop."""
    match items:
        case Each(source=source, item=item):
            return Each(iterable(primal, source), item)
        case Enumerate(inner=inner, start=start, index=index):
            return Enumerate(ask_for_items(primal, inner), start, index)
        case Reversed(inner=Each(source=source, item=item)) if _is_walked(primal, primal.of(source)):
            backwards = _asked_for_items(primal, _REVERSED, primal.of(source))
            return Each(_asked_for_items(primal, _WALKED, primal.of(backwards)), item)
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
        length = lengths.get(source) if backwards else None  # others may run over the same list forwards
        primal.record(Iterated(item, source, position, backwards, False, where, length))
    return bound


def _bind(primal: PrimalBuilder, items: Items, where: Location, sources: list[tuple[Var, Value, bool]]) -> Items:
    """`sources` gets each active item with what it is an item of, and whether that is read from the end."""
    match items:
        case Each(source=source, item=item) if (mapping := _dict_of_values(primal, primal.of(source))) is not None:
            return _bind_pairs(primal, mapping, fresh("key"), item, where)
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
            return _bind_pairs(primal, primal.of(source), key, value, where)
        case Records():
            raise AssertionError("only adjoints read tapes")
    assert_never(items)


def _bind_pairs(primal: PrimalBuilder, source: Value, key: Var, value: Var, where: Location) -> DictItems:
    key_kind, value_kind = entry_kinds(primal.kind(source))
    holds_objects = primal.services.tracks and not carries_nothing(key_kind)
    new_key = primal.define(key, key_kind, holds_objects and primal.is_active(source))
    new_value = primal.define(value, value_kind, primal.is_active(source))
    if new_value in primal.active:
        primal.record(Iterated(new_value, source, new_key, False, True, where))
    return DictItems(source, new_key, new_value)


def _dict_of_values(primal: PrimalBuilder, source: Value) -> Value | None:
    """The dict whose values a loop runs over, if these are lists or dicts: the cotangents of such are in that of the dict."""
    made = primal.calls.get(source) if isinstance(source, Var) and not primal.services.tracks else None
    if not isinstance(made, Inlined) or made.function is not dict.values or not holds_numbers(item_kind(primal.kind(source))):
        return None
    return made.arguments[0]


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
