"""What becomes of a helper of an adjoint whose arguments have a leading axis for the directions. Of `x` in these it is mostly
the shape that matters, which is that in the first direction.

    unbroadcast(d, x)               unbroadcast_each(d, x)
    item_cotangent(x, i, d)         item_cotangent_each(x, i, d)
"""

from __future__ import annotations

from microgradpy.ad.batched_callees import callee_of
from microgradpy.ad.batched_operations import NotBatched, Rules, np_constant, rank_of
from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import Array, Kind, Sequence, TupleOf, is_numeric
from microgradpy.ir.nodes import Const, Op, Value, Var, function_constant, operator_constant
from microgradpy.tangents import batched_rows, batches
from microgradpy.tangents.arithmetic import item_cotangent
from microgradpy.tangents.casts import made_of_bar


def spread_up(rules: Rules, op: Op) -> Op:
    """`unbroadcast(d, x)`"""
    d, like = op.arguments
    if not rules.carries(d):
        return replace(op, arguments=(d, rules.one(like)))
    if rank_of(rules.kind(d)) == 0 == rank_of(rules.kind(like)):
        return rules.fold(op, operator_constant("pos"), d)
    return rules.fold(op, function_constant(batches.unbroadcast_each), d, rules.one(like))


def expand(rules: Rules, op: Op) -> Op:
    y_bar, like, *rest = op.arguments
    if any(map(rules.carries, rest)):
        raise NotBatched("an axis that depends on the direction")
    if not rules.carries(y_bar):
        return replace(op, arguments=(y_bar, rules.one(like), *rest))
    return rules.fold(op, function_constant(batches.expand_each), y_bar, rules.one(like), *rest)


def reshaped_back(rules: Rules, op: Op) -> Op:
    """`reshape_bar(y_bar, a, order)`"""
    y_bar, like, order = op.arguments
    if order != Const("C"):
        raise NotBatched("another order than that of C")
    if not rules.carries(y_bar):
        return replace(op, arguments=(y_bar, rules.one(like), order))
    shape = rules.call(np_constant("shape"), rules.one(like))
    whole = rules.call(operator_constant("add"), rules.tuple_of(rules.directions), shape)
    return rules.fold(op, np_constant("reshape"), y_bar, whole)


def item_bar(rules: Rules, op: Op) -> Op:
    """`item_cotangent(x, index, d)`, of an array `x`."""
    x, index, d = op.arguments
    if rules.carries(index) or not rules.is_array(x):
        raise NotBatched("the cotangent of an item")
    if not rules.carries(d):
        return replace(op, arguments=(rules.one(x), index, d))
    rules.rank(d)
    rules.behind(index, rules.rank(x))
    return rules.fold(op, function_constant(batches.item_cotangent_each), rules.one(x), index, d)


def added_item(rules: Rules, op: Op) -> Op:
    """`add_item(x_bar, x, index, d)`, of an array `x`: here nothing is written into."""
    x_bar, x, index, d = op.arguments
    if rules.carries(index) or not rules.is_array(x):
        raise NotBatched("the cotangent of an item")
    if not (rules.carries(x_bar) or rules.carries(d)):
        return replace(op, arguments=(x_bar, rules.one(x), index, d))
    rank = rules.rank(x)
    rules.behind(index, rank)
    if rules.rank(x_bar) != rank:
        raise NotBatched("a cotangent of unknown axes")
    rules.rank(d)
    item = item_cotangent_of(rules.carries(d))
    part = rules.call(item, rules.one(x), index, d, kind=Array(rank + rules.carries(d), "float"))
    return rules.fold(op, operator_constant("add"), x_bar, part)


def item_cotangent_of(many: bool) -> Const:
    return function_constant(batches.item_cotangent_each if many else item_cotangent)


def made_of(rules: Rules, op: Op) -> Op:
    """`made_of_bar(y_bar, x, y)`, where `x` is a list of numbers and `y` the array of them: the cotangent itself."""
    y_bar, x, y = op.arguments
    if not rules.carries(y_bar):
        return replace(op, arguments=(y_bar, rules.one(x), rules.one(y)))
    if not _are_numbers(rules.kind(x)) or rules.rank(y) != 1 or not rules.carries(y_bar) or rules.rank(y_bar) != 1:
        raise NotBatched("the cotangent of an array that was made of something else than numbers")
    return rules.fold(op, operator_constant("pos"), y_bar)


def numbers(rules: Rules, op: Op) -> Op:
    """`number_bars(bars, x)`, of such a cotangent."""
    bars, x = op.arguments
    if not rules.carries(bars):
        return replace(op, arguments=(bars, rules.one(x)))
    made = rules.marks.made.get(bars) if isinstance(bars, Var) else None
    if made is None or callee_of(made) is not made_of_bar or not rules.carries(bars) or not _are_numbers(rules.kind(x)):
        raise NotBatched("the cotangents of numbers")
    return rules.fold(op, function_constant(batches.numbers_each), bars)


def _are_numbers(kind: Kind) -> bool:
    items = kind.items if isinstance(kind, TupleOf) else (kind.item,) if isinstance(kind, Sequence) else ()
    return holds_numbers(kind) and all(rank_of(item) == 0 for item in items)


def holds_numbers(kind: Kind) -> bool:
    """Proven to be a list or tuple of numbers, or of arrays."""
    items = kind.items if isinstance(kind, TupleOf) else (kind.item,) if isinstance(kind, Sequence) else ()
    is_sequence = isinstance(kind, TupleOf) or (isinstance(kind, Sequence) and kind.name in ("list", "tuple"))
    return is_sequence and bool(items) and all(rank_of(item) is not None for item in items)


def summed(rules: Rules, op: Op) -> Op:
    """`accumulate(a, b)`: of numbers and arrays it is the sum."""
    a, b = op.arguments
    if rules.rank(a) != rules.rank(b):
        raise NotBatched("cotangents of different axes")
    return rules.fold(op, operator_constant("add"), a, b)


def zeros_of_lists(rules: Rules, op: Op) -> Op:
    """`zeros_for(x)`"""
    (x,) = op.arguments
    zeros = rules.call(op.callee, x)  # type: ignore[arg-type]
    return rules.fold(op, function_constant(batches.spread), zeros, rules.directions)


def added_to(rules: Rules, op: Op) -> Op:
    """`added(d, bar)`, of a number or an array; there may be nothing yet."""
    d, bar = op.arguments
    if not is_numeric(rules.kind(d)) or not rules.carries(bar):
        raise NotBatched("what is added to an item")
    return replace(op, arguments=(rules.as_marked(d, True), bar))


def or_zero_of(rules: Rules, op: Op) -> Op:
    """`or_zero(x_bar, x)`: of `x` it is the shape that matters."""
    x_bar, x = op.arguments
    if rules.carries(x_bar):
        return rules.fold(op, function_constant(batched_rows.by_rows), op.callee, *_how(rules, op), x_bar, x)  # type: ignore
    return replace(op, arguments=(x_bar, rules.one(x)))


def item_of_cotangent(rules: Rules, op: Op) -> Op:
    """`cotangent_item(x_bar, key)`"""
    x_bar, key = op.arguments
    if rules.carries(key):
        raise NotBatched("a key that depends on the direction")
    if isinstance(rules.kind(x_bar), Sequence | TupleOf):
        return op
    return rules.fold(op, function_constant(batched_rows.by_rows), op.callee, *_how(rules, op), x_bar, key)  # type: ignore


def _how(rules: Rules, op: Op) -> tuple[Value, Value]:
    return Const(tuple(map(rules.mark, op.arguments))), rules.directions
