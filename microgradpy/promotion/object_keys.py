"""Objects as keys of dicts and items of sets: their numbers, if their class leaves it to Python which of them are equal.

    if node not in seen:            if node not in seen:
        seen.add(node)                  seen.add(node)            with the number of the node

What keys are is found out where one is put or asked for first (`Refers`): objects of a class, or tuples with such. Keys of one
dict are of one sort, as a number would be equal to that of an object.
"""

from __future__ import annotations

import operator
from typing import Any

from microgradpy.ir.kinds import TupleOf
from microgradpy.ir.nodes import Const, Op, Value, Var
from microgradpy.passes.typed_builder import is_getattr
from microgradpy.promotion.findings import Escapes, Keys, Origin, Refers, Writes
from microgradpy.promotion.forms import encoded, form_of, form_of_item, joined_classes
from microgradpy.promotion.places import (
    AnyOf,
    Display,
    Element,
    Family,
    Frame,
    Known,
    ListOf,
    Object,
    OfCell,
    OfFunction,
    Packed,
    Picked,
    Table,
    form_of_items,
    is_thing,
    tables_of,
)
from microgradpy.runtime.dict_objects import is_class_of_dicts
from microgradpy.runtime.keyed import (
    CLASSES,
    PUT_KEYS,
    Members,
    first_key,
    forget,
    group_of,
    last_key,
    move_key,
    place_under,
    take_member,
    taken_group,
    taken_under,
)

_KEYS = "keys"
_MAY_RAISE = frozenset({place_under, taken_under, forget, move_key, group_of, taken_group, take_member})
_ASK = (operator.getitem, operator.contains, operator.setitem, operator.delitem)
_METHODS = ("get", "pop", "setdefault")


def key_of_keys(keys: Origin) -> Origin:
    """What it is known by what the keys of a dict refer to."""
    return (*keys, _KEYS)


def has_objects(walker: Any, keys: Origin) -> bool:
    """Whether the keys of a dict are objects."""
    return key_of_keys(keys) in walker.facts.refers


def number_of_key(walker: Any, function: Any, keys: Origin, known: Known, owner: Origin) -> Value:
    """What a function of a dict gets for a key; the keys of the dict are known by `keys`."""
    form = walker.form_of(key_of_keys(keys))
    if form is None and not is_thing(known) and not has_objects(walker, keys):
        return known  # type: ignore[return-value]
    _check_key(walker, form, known, keys, owner)
    if walker.trying and function in _MAY_RAISE:
        raise Escapes(owner, is_tried=True)  # who catches the error would see the number in it
    if isinstance(known, Element) and not walker.is_there(known):
        if function in PUT_KEYS:
            raise Escapes(owner)
        return known.index  # None, which has the number -1, is no key
    found = walker.code_of(form, known) if isinstance(form, Family) else encoded(form, known)
    if found is None:
        raise Escapes(_other_table(known) or owner)
    return found


def _check_key(walker: Any, form: Any, known: Known, keys: Origin, owner: Origin) -> None:
    """Let what keys of a dict refer to be known from one of them, and let the dict escape if they are not alike."""
    _check_decided(walker, form, known)
    asked = form_of_item(known)
    if asked is None or not all(is_by_identity(walker, table) for table in _tables(walker.made_of(asked))):
        raise Escapes(owner)
    if form is None:
        if keys in walker.facts.keys or has_objects(walker, keys):
            raise Escapes(owner)  # there are keys of another sort, or objects that are made later
        raise Refers(key_of_keys(keys), asked)
    wider = joined_classes(form, known) if isinstance(known, Element | AnyOf) else None
    if wider is not None and wider != form_of(form):
        raise Refers(key_of_keys(keys), wider)


def _check_decided(walker: Any, form: Any, known: Known) -> None:
    """Let objects be in a pool, where they may be None: those that are asked for, and those among which one is that is None so
    far."""
    if isinstance(known, Object) and known.cls not in CLASSES and walker.facts.may_be_pooled(known.origin):
        raise Escapes(known.origin)
    for table in _tables(form) if isinstance(known, Var) else ():
        if known in walker.undecided and not table.is_pool:
            raise Escapes(table.origin)
        walker.check_decided(known, table)


def is_by_identity(walker: Any, table: Table) -> bool:
    """Whether an object of a class is equal to itself only, and has a number of its own: functions made of one text may share
    one."""
    if issubclass(table.cls, OfFunction | OfCell) or is_class_of_dicts(table.cls):
        return False
    return all(walker.member(table.cls, name) is getattr(object, name) for name in ("__eq__", "__hash__"))


def may_be_key(walker: Any, known: Known) -> bool:
    """Whether something in sight may be a key of a dict that is an object of the library's classes."""
    return isinstance(known, Element | AnyOf | Packed) or (
        isinstance(known, Object) and known.cls not in CLASSES and walker.facts.may_be_pooled(known.origin)
    )


def are_objects(walker: Any, items: Known) -> bool:
    """Whether something gives objects that go by numbers, or nothing."""
    return _is_empty(walker, items) or isinstance(items, Packed | Display | Table | Picked) or form_of_items(items) is not None


def _is_empty(walker: Any, items: Known) -> bool:
    is_known = isinstance(items, ListOf) and items.sort == "list" and walker.contents_known(items) == ()
    return is_known or walker.kinds.of(items) == TupleOf(()) or (isinstance(items, Const) and items.value == ())


def set_of(walker: Any, op: Op, origin: Origin, items: Known, frame: Frame) -> Object:
    """`set(objects)`"""
    place: Object = walker.new_keyed(op, origin, Members, (), frame)
    if isinstance(items, Packed | Display):
        for each in items.items if isinstance(items, Display) else walker.items_of_packed(op, items):
            walker.of_text(op, place, "add", (each,), frame)
    elif not _is_empty(walker, items):
        walker.of_text(op, place, "update", (items,), frame)
    return place


def objects_of_keys(walker: Any, op: Op, function: Any, keys: Origin, owner: Origin, read: Known, frame: Frame) -> Known:
    """What has been read of the keys of a dict: a list of them, or the first or last one."""
    form = walker.form_of(key_of_keys(keys))
    if form is None:
        return read
    if function in (first_key, last_key):
        return walker.meant_by(form, read)  # type: ignore[no-any-return]
    if op.results[0] not in frame.values:
        walker.bind(op.results[0], read, frame)
    return walker.new_numbers(op, form, owner, frame, holds_none=False)  # type: ignore[no-any-return]


def join_keys(walker: Any, a: Origin, b: Origin) -> None:
    """Let the keys of one set be known among those of others, with which it is from here on."""
    kinds = walker.facts.keys
    if a in kinds and kinds.setdefault(b, kinds[a]) not in (None, kinds[a]):
        kinds[b] = None
    if walker.keys_given.get(b, kinds.get(b)) != kinds.get(b):
        raise Keys(b)
    check_same_keys(walker, a, b)


def check_same_keys(walker: Any, a: Origin, b: Origin) -> None:
    """Refuse to let something stand for two dicts of which the keys are not alike."""
    refers = walker.facts.refers
    ours, theirs = refers.get(key_of_keys(a)), refers.get(key_of_keys(b))
    if ours == theirs:
        return
    if ours is None or theirs is None:
        raise Refers(key_of_keys(b if theirs is None else a), ours or theirs)
    raise Escapes(a)


def _tables(form: Any) -> tuple[Table, ...]:
    found: tuple[Any, ...] = tuple(tables_of(form))
    return tuple(each for each in found if isinstance(each, Table))


def _other_table(known: Known) -> Origin | None:
    """The list that an object is in, if that is no pool: all objects of its class may be in one."""
    return known.table.origin if isinstance(known, Element) and not known.table.is_pool else None


def check_dict_asked(walker: Any, callee: Known, given: tuple[Known, ...]) -> None:
    """Let a dict be in sight that is asked for an object, or gets one as a key."""
    if isinstance(callee, Const) and callee.value in _ASK and len(given) > 1:
        target, key = given[:2]
    elif isinstance(callee, Var) and given:
        read = walker.kinds.builder.producers.get(callee)
        if read is None or not is_getattr(read.callee) or read.arguments[1] not in map(Const, _METHODS):
            return
        target, key = read.arguments[0], given[0]
    else:
        return
    if may_be_key(walker, key) and walker.is_dict_made(target):
        raise Writes(walker.fresh[target])
