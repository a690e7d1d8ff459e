"""When something in sight may stand for either of two others, after a branch or from one iteration to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from microgradpy.dataclasses import replace
from microgradpy.promotion.base import Walk
from microgradpy.promotion.findings import RANKS, Escapes, Nests, Shrinks
from microgradpy.promotion.object_keys import check_same_keys
from microgradpy.promotion.places import Known, ListOf, Object, Part, Table, lists_of, tables_of_object
from microgradpy.runtime.heaps import LISTS
from microgradpy.runtime.keyed import CLASSES, KEYED


def check_alike(walker: Walk, a: Object | Part, b: Object | Part) -> None:
    """Refuse to take two objects for one value where that can be told."""
    is_being_made = a in walker.constructed or b in walker.constructed
    if a.cls is not b.cls or a.cls in walker.facts.mutable or is_being_made:
        raise Escapes(a.origin if a.origin not in walker.facts.kept else b.origin)


def check_pooled(known: Sequence[Known]) -> None:
    """Let an object be in a pool that is there in the place of others which are."""
    objects = [each for each in known if isinstance(each, Object) and each.cls not in CLASSES]
    if objects and any(table.is_pool for each in known for table in tables_of_object(each)):
        raise Escapes(objects[0].origin)


def check_own(walker: Walk, *objects: Object) -> None:
    """Refuse to let something stand for objects of the library's classes which somebody may have by another name, or from
    which on writes are followed."""
    for each in objects:
        is_known = each in walker.shown or each in walker.handed or each in walker.standing or each in walker.constructed
        if is_known or each in walker.owners or each in walker.running or each in walker.fixed:
            raise Escapes(each.origin)


def check_keys(walker: Walk, a: Object, b: Object) -> None:
    """Refuse to let something stand for two dicts of which the keys are not alike."""
    keys = walker.facts.keys
    if a.cls not in KEYED or a.origin == b.origin:
        return
    check_same_keys(walker, a.origin, b.origin)
    if a.origin in keys or b.origin in keys:
        kind = keys.setdefault(a.origin, keys.get(b.origin))
        if keys.setdefault(b.origin, kind) != kind:
            raise Escapes(a.origin)


def check_same_class(a: Known, b: Known) -> None:
    """Let what takes the place of a list or dict of one of the library's classes be of that class."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Object) and one.cls in RANKS and isinstance(other, ListOf) and is_like(other, one.cls):
            raise Shrinks(other.origin, one.cls)
        if isinstance(one, Object) and isinstance(other, Object) and {one.cls, other.cls} <= set(LISTS):
            if LISTS.index(one.cls) > LISTS.index(other.cls):
                raise Shrinks(other.origin, one.cls)


def is_like(container: ListOf, cls: type) -> bool:
    """Whether a container may be made of a class of the library's instead."""
    return container.sort == ("list" if cls in LISTS else "dict") and container.default is None and not container.depth


def are_alike(a: Known, b: Known) -> bool:
    """Whether two containers are made of the same, so that something may stand for either."""
    match a, b:
        case ListOf(), ListOf():
            return _sort_of(a) == _sort_of(b)
        case Table(), Table():
            return a.cls is b.cls and a.columns.keys() == b.columns.keys() and all(map(are_alike, lists_of(a), lists_of(b)))
    return False


def check_depths(a: Known, b: Known) -> None:
    """Let the lists in two lists be in sight alike, if something is to stand for either."""
    if isinstance(a, ListOf) and isinstance(b, ListOf) and a.depth != b.depth:
        lower = min(a, b, key=lambda place: place.depth)
        raise Nests(lower.origin, max(a.depth, b.depth))


def _sort_of(place: ListOf) -> tuple[Any, ...]:
    return place.sort, place.depth, place.of, place.default, place.holds_none


def other_of(thing: ListOf | Table) -> ListOf | Table:
    """Something that stands for a container and for others like it."""
    if isinstance(thing, ListOf):
        return replace(thing)
    return replace(thing, columns={name: replace(column) for name, column in thing.columns.items()})
