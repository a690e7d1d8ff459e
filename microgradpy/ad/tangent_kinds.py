"""What tangents look like, by what is proven of the values; and which are written into.

The tangent of a number or an array is one; that of a list, a dict or a tuple is a list, a dict or a tuple of the tangents of
its items. Any other is of unknown kind, and may be None, which is zero. What is written into in place, and only that, has a
tangent that is: the same statement on the list of tangents, so that what is two names of one list is two names of one list of
tangents, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from microgradpy.ad.calls import Call, UnitCall
from microgradpy.ir.kinds import (
    NOTHING,
    UNASSIGNED,
    UNKNOWN,
    Inert,
    Kind,
    Sequence,
    TupleOf,
    carries_nothing,
    cotangent_kind,
    is_numeric,
)
from microgradpy.ir.nodes import CHANGING, Const, Function, Op, Try, Value, Var, Yield
from microgradpy.ir.traversal import flows, is_mark, regions, walk


def dot_kind(kind: Kind) -> Kind:
    """What is proven of the tangent of a value of this kind."""
    match kind:
        case TupleOf(items=items):
            return TupleOf(tuple(NOTHING if carries_nothing(item) else dot_kind(item) for item in items))
        case Sequence(name="dict_values", item=item):
            return Sequence("list", dot_kind(item))
        case Sequence(name="list" | "dict" | "tuple" as name, item=item, keys=keys):
            of_items = item if item == UNASSIGNED else NOTHING if carries_nothing(item) else dot_kind(item)
            return Sequence(name, of_items, (), keys)
    return cotangent_kind(kind) if is_numeric(kind) else UNKNOWN


def dot_kind_of_result(kind: Kind, active: tuple[bool, ...] | None) -> Kind:
    """The same of what a function returns, of which only these parts are active where it is a tuple with lists that the
    function was given."""
    if active is None or not isinstance(kind, TupleOf) or len(kind.items) != len(active):
        return dot_kind(kind)
    return TupleOf(tuple(dot_kind(item) if is_active else NOTHING for item, is_active in zip(kind.items, active, strict=True)))


def is_structured(kind: Kind) -> bool:
    """Whether a tangent of this kind is a list, a dict or a tuple."""
    return isinstance(kind, TupleOf) or (isinstance(kind, Sequence) and kind.name in ("list", "dict", "tuple"))


def holds_only_numbers(kind: Kind) -> bool:
    """Whether a tangent of this kind is a number or an array, or a list or tuple of such."""
    match kind:
        case TupleOf(items=items):
            return all(map(holds_only_numbers, items))
        case Sequence(name="list" | "tuple", item=item):
            return holds_only_numbers(item)
    return is_numeric(kind)


def fits(found: Kind, wanted: Kind) -> bool:
    """Whether a tangent of one kind can stand where one of another is expected."""
    match wanted, found:
        case TupleOf(items=inner), TupleOf(items=items):
            return len(inner) == len(items) and all(map(fits, items, inner))
        case Sequence(name="tuple", item=inner), TupleOf(items=items):
            return all(fits(item, inner) for item in items)
        case Sequence(name=name, item=inner), Sequence(name=other, item=item):
            return name == other and (item == UNASSIGNED or fits(item, inner))
        case (TupleOf() | Sequence(), _):
            return False
        case Inert(), _:
            return isinstance(found, Inert)
    return not is_numeric(wanted) or is_numeric(found)


def item_dot_kind(container: Kind, index: Value, item: Kind) -> Kind:
    """What is proven of the item of a tangent of this kind, at the place of an item whose tangent is to be of kind `item`."""
    match container:
        case TupleOf(items=items) if isinstance(index, Const) and type(index.value) is int:
            return items[index.value] if -len(items) <= index.value < len(items) else UNKNOWN
        case Sequence(item=inner) if not is_structured(item) or fits(inner, item):
            return inner
    return item if is_structured(item) else UNKNOWN


def written_in_place(function: Function, calls: Iterable[Call]) -> frozenset[Value]:
    """The variables of what is written into, before and after; arguments that are handed over to be written into are."""
    names: dict[Value, list[Value]] = {}
    for value, var in (*flows(walk(function.body)), *_flows_of_attempts(function), *_changed(function)):
        names.setdefault(value, []).append(var)
        names.setdefault(var, []).append(value)
    waiting: list[Value] = [var for _, var in _changed(function)]
    waiting += [call.arguments[place] for call in calls if isinstance(call, UnitCall) for place in call.passed]
    found = set[Value]()
    while waiting:
        value = waiting.pop()
        if isinstance(value, Var) and value not in found:
            found.add(value)
            waiting += names.get(value, ())
    return frozenset(found)


def _changed(function: Function) -> list[tuple[Value, Var]]:
    return [(op.arguments[0], op.results[0]) for op in walk(function.body) if isinstance(op, Op) and op.callee in CHANGING]


def _flows_of_attempts(function: Function) -> Iterator[tuple[Value, Var]]:
    """The edges of `Try` statements, to what their handlers see and to what is behind them."""
    attempts = {each.scope: each for each in walk(function.body) if isinstance(each, Try)}
    for attempt in attempts.values():
        for region in regions(attempt):
            if isinstance(end := region.terminator, Yield):
                yield from zip(end.values, attempt.results, strict=True)
    for statement in walk(function.body):
        if isinstance(statement, Op) and is_mark(statement):
            yield from zip(statement.arguments, attempts[statement.payload].parameters, strict=True)
