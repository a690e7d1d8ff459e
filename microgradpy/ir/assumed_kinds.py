"""Kinds that are assumed where paths meet and proven later: of loop state, and of what a function that calls itself gives."""

from __future__ import annotations

from microgradpy.ir.kinds import (
    NOTHING,
    UNASSIGNED,
    Array,
    Kind,
    Optional,
    Sequence,
    TupleOf,
    Unknown,
    carries_nothing,
    dict_of,
    is_numeric,
    join,
    join_items,
    present,
)


def likely_join(a: Kind, b: Kind) -> Kind:
    """As `join`, where what is proven of one of them only is expected of the other, in containers as well: a guess."""
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return b if isinstance(a, Unknown) else a
    match a, b:
        case TupleOf(items=left), TupleOf(items=right) if len(left) == len(right):
            return TupleOf(tuple(map(likely_join, left, right)))
        case Sequence(name="list", item=x), Sequence(name="list", item=y):
            return Sequence("list", likely_join(x, y))
    return join_items(a, b)


def join_or_none(a: Kind, b: Kind) -> Kind:
    """As `join`, where None may stand for a number or an array that is not there yet."""
    if UNASSIGNED in (a, b):
        return join(a, b)
    items = [present(kind) for kind in (a, b) if kind != NOTHING]
    if len(items) == 2 and a == present(a) and b == present(b):
        return join(a, b)
    item: Kind = UNASSIGNED
    for kind in items:
        item = join(item, kind)
    if item == UNASSIGNED:
        return NOTHING
    return Optional(item) if is_numeric(item) and not carries_nothing(item) else join(a, b)


def with_axes_of(kind: Kind, other: Kind) -> Kind:
    """A kind with the symbols of another one for those of its axes that have any."""
    match kind, other:
        case Array(ndim=ndim, dtype=dtype, shape=shape), Array(shape=axes) if len(shape) == len(axes):
            return Array(ndim, dtype, tuple(None if old is None else new for old, new in zip(shape, axes, strict=True)))
        case TupleOf(items=items), TupleOf(items=others) if len(items) == len(others):
            return TupleOf(tuple(map(with_axes_of, items, others)))
        case Sequence(name="dict", entries=left), Sequence(name="dict", entries=right) if len(left) == len(right):
            return dict_of((key, with_axes_of(x, y)) for (key, x), (_, y) in zip(left, right, strict=True))
    return kind
