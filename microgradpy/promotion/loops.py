"""Loops as they are walked, and what they run over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import INT, entry_kinds, item_kind
from microgradpy.ir.nodes import (
    DictItems,
    Each,
    Enumerate,
    For,
    Items,
    Op,
    Range,
    Region,
    Reversed,
    Value,
    Var,
    While,
    Yield,
    Zip,
    fresh,
    function_constant,
)
from microgradpy.ir.rewrite import map_items
from microgradpy.ir.traversal import item_sources
from microgradpy.promotion.base import Walk, field_hint
from microgradpy.promotion.carried import Loop, Merges, Others
from microgradpy.promotion.conditions import present_where
from microgradpy.promotion.findings import Escapes, Numbers
from microgradpy.promotion.places import (
    Element,
    Family,
    Field,
    Frame,
    Known,
    ListOf,
    Object,
    Picked,
    Place,
    Row,
    Table,
    Values,
    form_of_items,
    origin_of,
)

Holder = Table | Picked | ListOf | Row
"""What is run over by number: the objects or lists in it are in sight."""


def repeat(walker: Walk, statement: While | For, frame: Frame) -> None:
    """Append a loop. It is walked until nothing more turns out to be changed in it."""
    initial = tuple(walker.known(value, frame) for value in statement.initial)
    if len(walker.loops) == 1:
        walker.before_loops = {place for place, _ in walker.fields}
    entry, out, shown, handed = walker.fields, walker.out, set(walker.shown), frozenset(walker.handed)
    # What an earlier walk over a loop around this one has found out is so in this one.
    _, wanted, others = walker.carried_before.setdefault((id(statement), frame.path), (statement, [], {}))
    wanted[:] = [key for key in wanted if key in entry]
    merging: set[Any] = set()
    pools: dict[Any, Table | Family] = {}
    undecided = dict(walker.undecided)
    while True:
        walker.undecided = dict(undecided)
        walker.fields, walker.out, walker.handed = dict(entry), list(out), set(handed)
        loop = Loop(walker, wanted, merging, others, pools)
        try:
            _walk(walker, statement, frame, initial, loop, shown)
            _check_handed(walker, loop, handed)
        except Merges as other:
            merging.add(other.key)
            continue
        except Numbers as other:
            if other.loop is not loop:
                raise
            pools[other.key] = other.table
            continue
        except Others as some:
            others[some.key] = some.kind
            continue
        if not loop.changed:
            out[:] = walker.out
            walker.out, walker.undecided = out, undecided
            return
        wanted += loop.changed


def _walk(
    walker: Walk, statement: While | For, frame: Frame, initial: tuple[Known, ...], loop: Loop, shown: set[Place]
) -> None:
    read: list[Known] = []
    items: Items | None = None
    tables: dict[Var, Holder] = {}
    if isinstance(statement, For):
        keys = {source for _, source in _each(statement.items)}
        over = [(value, walker.known(value, frame)) for value in item_sources(statement.items)]
        # The keys of a dict stay what they are when other values are put under them.
        read = [known for value, known in over if not (value in keys and getattr(known, "sort", "") == "dict")]
        items = _items(walker, statement.items, frame, tables)
    after = _carry_parameters(walker, statement, frame, initial, loop)
    _carry_fields(walker, loop)
    loop.start = dict(walker.fields)
    outer, walker.loop = walker.loop, loop
    present = walker.present
    lengthened = len(walker.lengthened)
    try:
        condition = _condition(walker, statement, frame, loop) if isinstance(statement, While) else None
        if items is not None:
            items = map_items(items, lambda value: value, lambda var: var if var in tables else walker.define(var, frame))
            _bind_elements(walker, statement, frame, tables)
            _note_items(walker, items)
            _note_sources(walker, statement, frame)
        if condition is not None and isinstance(condition.terminator, Yield):
            walker.present |= present_where(walker.tests, condition.terminator.values[0], True)
        statements, end = walker.region(statement.body, frame)
    finally:
        walker.loop, walker.present = outer, present
    if loop.changed:
        return
    _check_changes(walker, loop, read, tables, walker.lengthened[lengthened:], shown)
    walker.fields = {key: known for key, known in loop.start.items() if key[0] not in loop.inside} | loop.after
    for result, known in after:
        if known is not result:
            walker.bind(result, known, frame)
    made: Mapping[str, Any] = {
        "body": Region(tuple(statements), end),
        "parameters": tuple(slot.parameter for slot in loop.slots),
        "initial": tuple(slot.initial for slot in loop.slots),
        "results": tuple(slot.result for slot in loop.slots),
    }
    if isinstance(statement, While):
        assert condition is not None
        walker.add(replace(statement, condition=condition, **made))
    else:
        assert items is not None
        walker.add(replace(statement, items=items, **made))


def _check_changes(
    walker: Walk, loop: Loop, read: list[Known], tables: Mapping[Var, Holder], lengthened: list[Place], shown: set[Place]
) -> None:
    """Let what the loop changes escape if it runs over that, or has shown it."""
    for table in tables.values():
        if not set(_columns(table)).isdisjoint(lengthened):
            raise Escapes(origin_of(table))  # Python goes on to what is added meanwhile
    over = {list_of(each) for each in read if each not in tables.values()}
    for place, _ in loop.wanted:
        if (place in walker.shown and place not in shown) or place in over:
            raise Escapes(place.origin)
    for place, thing in loop.replaced.items():
        if place in over or thing in over:
            raise Escapes(place.origin)


def _columns(table: Holder) -> Iterable[ListOf]:
    """The lists that are as long as what holds objects or lists; those in lists get no longer."""
    return table.columns.values() if isinstance(table, Table) else (table,) if isinstance(table, ListOf) else ()


def list_of(known: Known) -> Known:
    """The list that something is, or is a part of."""
    return known.place if isinstance(known, Row | Values) else known


def _check_handed(walker: Walk, loop: Loop, before: frozenset[Place]) -> None:
    """Let what each iteration hands out again escape: it is one and the same."""
    for place, _ in loop.start if not loop.changed else ():
        if place in walker.handed and place not in before and place not in loop.inside:
            raise Escapes(place.origin)


def _carry_parameters(
    walker: Walk, statement: While | For, frame: Frame, initial: tuple[Known, ...], loop: Loop
) -> list[tuple[Var, Known]]:
    """Carry what the program says; what the results of the loop are after it."""
    after: list[tuple[Var, Known]] = []
    for number, (parameter, result, known) in enumerate(zip(statement.parameters, statement.results, initial, strict=True)):
        inside, outside = loop.carry(
            (number,),
            known,
            lambda values, number=number: values[number],  # type: ignore[misc]
            lambda parameter=parameter, result=result: (walker.define(parameter, frame), walker.define(result, frame)),  # type: ignore[misc]
            parameter.hint,
        )
        if inside is not parameter:
            walker.bind(parameter, inside, frame)
        after.append((result, outside))
    return after


def _carry_fields(walker: Walk, loop: Loop) -> None:
    for place, name in sorted(loop.wanted, key=lambda field: field not in loop.merging):  # these first, which replace others
        if place in loop.replaced:
            continue
        hint = field_hint(place, name)
        walker.fields[place, name], loop.after[place, name] = loop.carry(
            (place, name),
            walker.fields[place, name],
            lambda _, key=(place, name): _field(walker, key),  # type: ignore[misc]
            lambda hint=hint: (fresh(hint), fresh(hint)),  # type: ignore[misc]
            hint,
        )


def _field(walker: Walk, key: Field) -> Known:
    if key not in walker.fields:
        raise Escapes(key[0].origin)
    return walker.fields[key]


def _condition(walker: Walk, statement: While, frame: Frame, loop: Loop) -> Region:
    statements, end = walker.region(statement.condition, frame)
    assert isinstance(end, Yield)
    outer, walker.out = walker.out, statements
    asked = [walker.truth(walker.known(value, frame), statement.where, frame) for value in end.values]
    values = tuple(walker.plain(known, hands=False) for known in asked)
    walker.out = outer
    for (place, name), known in loop.start.items():
        if walker.fields.get((place, name)) is not known:
            raise Escapes(place.origin)  # what a condition writes is not carried out of the loop
    return Region(tuple(statements), Yield(values))


def _items(walker: Walk, items: Items, frame: Frame, tables: dict[Var, Holder]) -> Items:
    """What a loop runs over. Places from the end are those of the list as it is then. Over the objects of a table it runs by
    their numbers, which get the table."""
    items = _by_number(walker, items, frame, tables)
    shows = _runs_backwards(items)

    def of(value: Value) -> Value:
        known = walker.known(value, frame)
        if isinstance(known, Picked) and known.numbers is value:
            return value  # the numbers, which have the program's variable for the objects
        if isinstance(known, Object):
            raise Escapes(known.origin)
        if isinstance(known, ListOf) and known.of is not None:
            return walker.plain(walker.now(known))  # nobody has a number's derivative, so that it may change later
        if isinstance(known, Row) and known.place.of is not None:
            return walker.row_now(known)
        if isinstance(known, Values):
            return walker.values_now(known)
        is_list = (isinstance(known, ListOf) and known.sort != "array") or isinstance(known, Row)
        return walker.plain(known, shows=shows or not is_list, hands=False)

    return map_items(items, of)


def _runs_backwards(items: Items) -> bool:
    match items:
        case Reversed():
            return True
        case Enumerate(inner=inner):
            return _runs_backwards(inner)
        case Zip(inners=inners):
            return any(map(_runs_backwards, inners))
    return False


def _by_number(walker: Walk, items: Items, frame: Frame, tables: dict[Var, Holder]) -> Items:
    match items:
        case Each(source=source):
            table = walker.known(source, frame)
            if not isinstance(table, Table | Picked) and not (isinstance(table, ListOf | Row) and table.depth):
                return items
            number = fresh("k")
            tables[number] = table
            walker.counters.add(number)
            if isinstance(table, Picked):
                return Each(table.numbers, number)
            return Range((length_of(walker, table),), number)
        case Enumerate(inner=inner):
            return replace(items, inner=_by_number(walker, inner, frame, tables))
        case Zip(inners=inners):
            return replace(items, inners=tuple(_by_number(walker, inner, frame, tables) for inner in inners))
        case Reversed(inner=inner):
            found = _by_number(walker, inner, frame, tables)
            assert isinstance(found, Each | Range)
            return Reversed(found)
    return items


def length_of(walker: Walk, table: Holder) -> Var:
    """How many objects or lists there are now."""
    if isinstance(table, Row):
        items: Known = walker.row_now(table)
    else:
        items = walker.now(next(iter(_columns(table))))
    length = fresh("n")
    walker.add(Op(function_constant(len), (walker.plain(items),), (length,), from_user=False))
    walker.lengths.add(length)
    return length


def _bind_elements(walker: Walk, statement: While | For, frame: Frame, tables: Mapping[Var, Holder]) -> None:
    """Let what the loop calls its items stand for the objects."""
    assert isinstance(statement, For)
    sources = dict(_each(statement.items))
    if isinstance(statement.items, DictItems):
        entries = walker.known(statement.items.source, frame)
        if isinstance(entries, ListOf) and entries.of is not None:
            item = statement.items.value
            walker.bind(item, walker.as_item(entries, walker.variable_of(item, frame)), frame)
    for item, source in sources.items():
        table = walker.known(source, frame)
        if form_of_items(table) is not None:
            holder = table.place if isinstance(table, Row | Values) else table
            walker.bind(item, walker.as_item(holder, walker.variable_of(item, frame)), frame)  # type: ignore[arg-type]
        if table not in tables.values():
            continue
        number = next(number for number, other in tables.items() if other is table and number not in walker.taken)
        walker.taken.add(number)
        if isinstance(table, Table | Picked):
            walker.bind(item, Element(table if isinstance(table, Table) else table.table, number), frame)
        elif isinstance(table, ListOf):
            walker.bind(item, Row(table, (number,), None, item), frame)
        elif isinstance(table, Row):
            walker.bind(item, Row(table.place, (*table.indices, number), None, item), frame)


def _each(items: Items) -> Iterator[tuple[Var, Value]]:
    match items:
        case Each(source=source, item=item):
            yield item, source
        case Enumerate(inner=inner) | Reversed(inner=inner):
            yield from _each(inner)
        case Zip(inners=inners):
            for inner in inners:
                yield from _each(inner)


def _note_sources(walker: Walk, statement: While | For, frame: Frame) -> None:
    """Note which variables of an iteration are items of lists in sight."""
    assert isinstance(statement, For)
    for item, source in _each(statement.items):
        over, read = walker.known(source, frame), walker.known(item, frame)
        if isinstance(over, ListOf | Row) and isinstance(read, Var):
            depth = len(over.indices) if isinstance(over, Row) else 0
            walker.read_from[read] = (over if isinstance(over, ListOf) else over.place), depth + 1


def _note_items(walker: Walk, items: Items) -> None:
    """Note what is proven of the variables of an iteration."""
    match items:
        case Range(item=item):
            walker.kinds.set(item, lambda: INT)
        case Each(source=source, item=item):
            walker.kinds.set(item, lambda: item_kind(walker.kinds.of(source)))
        case DictItems(source=source, key=key, value=value):
            walker.kinds.set(key, lambda: entry_kinds(walker.kinds.of(source))[0])
            walker.kinds.set(value, lambda: entry_kinds(walker.kinds.of(source))[1])
        case Enumerate(inner=inner, index=index):
            walker.kinds.set(index, lambda: INT)
            _note_items(walker, inner)
        case Reversed(inner=inner):
            _note_items(walker, inner)
        case Zip(inners=inners):
            for inner in inners:
                _note_items(walker, inner)
