"""What containers refer to (`findings.Form`, as the walks know it; tables, families and packings, as one of them does)."""

from __future__ import annotations

from typing import Any

from microgradpy.ir.nodes import Const, Value
from microgradpy.promotion.findings import HELD, ROWS, Form, Origin
from microgradpy.promotion.places import (
    NO_OBJECT,
    AnyOf,
    Element,
    Family,
    Held,
    Known,
    Maybe,
    Packed,
    Packing,
    Row,
    Rows,
    Table,
    tables_of_object,
)


def joined_classes(form: Any, item: Element | AnyOf) -> Form | None:
    """What a container refers to that holds objects of the classes it is known to hold, and others."""
    tables = form.tables if isinstance(form, Family) else (form,) if isinstance(form, Table) else ()
    joined = dict.fromkeys((*tables, *tables_of_object(item)))
    if not tables or len(joined) == len(tables) or not all(each.is_pool for each in joined):
        return None
    return "any", tuple(each.origin for each in joined)


def form_of(form: Any) -> Form | None:
    """What a container refers to, as earlier walks know it."""
    if isinstance(form, Family):
        return "any", tuple(each.origin for each in form.tables)
    if isinstance(form, Packing):
        return "tuple", tuple(map(form_of, form.items)), *(() if form.cls is None else (form.cls,))
    if isinstance(form, Maybe):
        return "maybe", form.table.origin
    if isinstance(form, Rows):
        return ROWS, form.origin[:-1]
    if isinstance(form, Held):
        return HELD, form.origin[:-1], form.owner.cls
    return None if form is None else form.origin


def form_of_item(item: Known) -> Form | None:
    """What an object or a tuple of some is, as an item of a container; None for a value."""
    match item:
        case Element():
            return item.table.origin
        case AnyOf():
            return form_of(item.family)
        case Packed():
            return form_of(item.form)
        case Row(place=place, indices=(_,)) if place.origin[-1:] == (ROWS,):
            return ROWS, place.origin[:-1]
    return None


def number_of(item: Known) -> Value:
    """What stands for an object, or a tuple of some."""
    assert isinstance(item, Element | AnyOf | Packed)
    return item.index if isinstance(item, Element) else item.code if isinstance(item, AnyOf) else item.value


def encoded(form: Table | Packing | None, item: Known) -> Value | None:
    """What stands for an item in a container that refers to this; None if it is not of that sort."""
    match form, item:
        case Table(), Element() if item.table is form:
            return item.index
        case Table(is_pool=True), Const() if item == Const(None):
            return NO_OBJECT
        case Packing(), Packed() if holds(form_of(form), form_of(item.form)):
            return item.value
    return None


def wider_form(a: Form | None, b: Form | None) -> Form | None:
    """What tuples are of which some are of the one form and some of the other: there may be None in the place of an object.
    None if they are not alike."""
    if a == b:
        return a
    if a is None or b is None or a[0] != "tuple" or b[0] != "tuple" or len(a[1]) != len(b[1]) or a[2:] != b[2:]:
        return None
    items = tuple(map(_wider_item, a[1], b[1]))
    return None if _UNLIKE in items else ("tuple", items, *a[2:])


_UNLIKE: Form = ("unlike",)


def _wider_item(a: Form | None, b: Form | None) -> Form | None:
    if a == b:
        return a
    if a is None or b is None:  # None so far, perhaps: what else it may be is found out when it is put there again
        other = b if a is None else a
        if other is None or other[0] == "maybe":
            return other
        return _UNLIKE if other[0] in ("tuple", "any", ROWS) else ("maybe", other)
    if a in (("maybe", b), b) or b == ("maybe", a):
        return a if a[0] == "maybe" else b
    pools = dict.fromkeys((*_pools_in(a), *_pools_in(b)))
    if _pools_in(a) and _pools_in(b):
        return a if len(pools) == len(_pools_in(a)) else ("any", tuple(pools))
    return wider_form(a, b) or _UNLIKE


def _pools_in(form: Form) -> tuple[Origin, ...]:
    """The pools in one of which an object is."""
    return (form,) if form[0] == "pool" else form[1] if form[0] == "any" else ()


def holds(a: Form | None, b: Form | None) -> bool:
    """Whether a container of the one form may hold a tuple of the other: numbers are where it has numbers."""
    if a is None or b is None or a == b:
        return a == b
    if a[0] == b[0] == "tuple" and len(a[1]) == len(b[1]) and a[2:] == b[2:]:
        return all(map(holds, a[1], b[1]))
    return a == ("maybe", b)
