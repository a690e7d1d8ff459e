"""What becomes of a call whose arguments have a leading axis for the directions: the table of `ad.batching`.

    reductions      np.sum(x_dot, 0)    the axes are those behind the first: np.sum(x_dot, axis=1)
    shapes          x_dot.reshape(2, n) np.reshape(x_dot, (directions, 2, n))
    products        a @ x_dot           by the number of axes of both
    shapes only     unbroadcast(d, x)   `x` as it is in the first direction
    per direction   norm_dot(x_dot, x)  each(norm_dot, (True, False), x_dot, x), for what only computes

Calls that are not here make a function one that is not batched, as do those that have options which nobody has thought of.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from microgradpy.ad.batched_callees import callee_of
from microgradpy.ad.batched_helpers import (
    added_item,
    added_to,
    expand,
    item_bar,
    item_of_cotangent,
    made_of,
    numbers,
    or_zero_of,
    reshaped_back,
    spread_up,
    summed,
    zeros_of_lists,
)
from microgradpy.ad.batched_operations import (
    GETITEM,
    NEW_AXIS,
    Mark,
    NotBatched,
    Rule,
    Rules,
    first,
    np_constant,
    only,
    rank_of,
)
from microgradpy.ad.batched_products import dot, matmul, outer
from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import INT, Array, Kind, Sequence, TupleOf, is_numeric
from microgradpy.ir.nodes import Const, Op, Opcode, Value, function_constant, operator_constant
from microgradpy.rules.numpy.manipulation.shape import reshape_bar
from microgradpy.runtime.cotangents import added, any_or_zero, cotangent_item, number_bars, or_zero, zeros_for
from microgradpy.runtime.keys import from_front
from microgradpy.tangents import batches
from microgradpy.tangents.arithmetic import add_item, item_cotangent, own, unbroadcast, zero_cotangent
from microgradpy.tangents.casts import made_of_bar
from microgradpy.tangents.filled import dense_tangent
from microgradpy.tangents.linear import expand_reduced, mean_count
from microgradpy.tangents.memory_order import order_of_reading
from microgradpy.tangents.strong_zeros import kept_call, kept_tangent
from microgradpy.tangents.types import accumulate

# Rules


def getitem(rules: Rules, op: Op) -> Op:
    container, index = op.arguments
    if rules.carries(index):
        raise NotBatched("an index that depends on the direction")
    if not is_numeric(rules.kind(container)):
        if not isinstance(rules.kind(container), Sequence | TupleOf):
            raise NotBatched("an item of something of unknown kind")
        return op
    behind, rank = rules.behind(index, rules.rank(container))
    known = rank_of(rules.kind(op.results[0]))
    if rank is not None and known is not None and rank != known:
        raise NotBatched("an item of unknown axes")
    if not rules.writes_arrays or (rank is not None and rank > 0):
        return replace(op, arguments=(container, behind))
    # A number stays what it was when the array is written into; in many directions it would be a part of that.
    item = rules.call(GETITEM, container, behind, kind=Array(1, "float"))
    return rules.fold(op, np_constant("array"), item)


def reduction(rules: Rules, op: Op) -> Op:
    """Sums and means: over all axes but the first, or over those behind it."""
    given = only(op, "axis", "keepdims", at_most=2)
    value = first(op, rules)
    axis = op.arguments[1] if len(op.arguments) == 2 else given.get("axis", NEW_AXIS)
    if isinstance(axis, Const) and axis.value is None:
        rank = rules.rank(value)
        axis = Const(1) if rank == 1 else rules.tuple_of(*map(Const, range(1, rank + 1)))
    else:
        axis = rules.axis(axis)
    keeps = [("keepdims", given["keepdims"])] if "keepdims" in given else []
    return replace(op, arguments=(value,), keywords=(("axis", axis), *keeps))


def cumulative(rules: Rules, op: Op) -> Op:
    given = only(op, "axis", at_most=2)
    value = first(op, rules)
    axis = op.arguments[1] if len(op.arguments) == 2 else given.get("axis", NEW_AXIS)
    if isinstance(axis, Const) and axis.value is None:
        if rules.rank(value) != 1:
            raise NotBatched("a sum along all axes")
        axis = Const(0)
    return replace(op, arguments=(value,), keywords=(("axis", rules.axis(axis)),))


def reshape(rules: Rules, op: Op) -> Op:
    given = only(op, "order", "shape", at_most=2)
    if "order" in given and given["order"] != Const("C"):
        raise NotBatched("another order than that of C")
    value = first(op, rules)
    shape = op.arguments[1] if len(op.arguments) == 2 else given["shape"]
    kind = rules.kind(shape)
    rules.rank(value)
    items = rules.items_of(shape)
    if rules.writes_arrays and rules.rank(op.results[0]) == 0:
        raise NotBatched("a number of an array, where arrays are written into")
    if items is None and isinstance(kind, TupleOf):
        items = rules.builder.operation(Opcode.UNPACK, (shape,), kinds=kind.items)
    if items is None and kind == INT:
        items = (shape,)
    if items is None:
        whole = rules.tuple_of(rules.directions)
        return rules.fold(op, np_constant("reshape"), value, rules.call(operator_constant("add"), whole, shape))
    return rules.fold(op, np_constant("reshape"), value, rules.tuple_of(rules.directions, *items))


def ravel(rules: Rules, op: Op) -> Op:
    given = only(op, "order", at_most=2)
    order = op.arguments[1] if len(op.arguments) == 2 else given.get("order", Const("C"))
    value = first(op, rules)
    if order != Const("C"):
        raise NotBatched("another order than that of C")
    # A flat array is a view of another one, or is not: what is written into has a copy of its own.
    return rules.fold(op, np_constant("reshape"), value, rules.tuple_of(rules.directions, Const(-1)))


def flattened(rules: Rules, op: Op) -> Op:
    """`x.flatten()`, which is a copy."""
    (flat,) = [ravel(rules, op)]
    assert not isinstance(flat.callee, Opcode)
    return rules.fold(op, np_constant("array"), rules.call(flat.callee, *flat.arguments, kind=Array(2, "float")))


def transpose(rules: Rules, op: Op) -> Op:
    given = only(op, "axes", at_most=2)
    value = first(op, rules)
    axes = op.arguments[1] if len(op.arguments) == 2 else given.get("axes", NEW_AXIS)
    rank = rules.rank(value)
    if axes == NEW_AXIS:
        return rules.fold(op, op.callee, value, rules.axes_of(range(rank)[::-1]))  # type: ignore[arg-type]
    items = rules.items_of(axes)
    if items is None or any(not isinstance(item, Const) or type(item.value) is not int for item in items):
        raise NotBatched("axes that are not known")
    return rules.fold(op, op.callee, value, rules.axes_of([item.value % rank for item in items]))  # type: ignore


def swapaxes(rules: Rules, op: Op) -> Op:
    only(op, at_most=3)
    value = first(op, rules)
    rules.rank(value)
    return replace(op, arguments=(value, *map(rules.axis, op.arguments[1:])))


def along(rules: Rules, op: Op) -> Op:
    """`np.stack`, `np.concatenate`: of a list or tuple."""
    given = only(op, "axis", at_most=2)
    items = op.arguments[0]
    axis = op.arguments[1] if len(op.arguments) == 2 else given.get("axis", Const(0))
    if not isinstance(rules.kind(items), Sequence | TupleOf):
        raise NotBatched("what is put together is not known")
    if axis == NEW_AXIS:
        raise NotBatched("what is put together flat")
    return replace(op, arguments=(all_carrying(rules, items),), keywords=(("axis", rules.axis(axis)),))


def all_carrying(rules: Rules, items: Value) -> Value:
    """A list or tuple of numbers or arrays all of which carry the axis."""
    kind, mark = rules.kind(items), rules.mark(items)
    if isinstance(kind, TupleOf):
        each = list(map(rank_of, kind.items))
    else:
        each = [rank_of(kind.item)] if isinstance(kind, Sequence) and kind.name in ("list", "tuple") else [None]
    if None in each and not _are_arrays(kind):
        raise NotBatched("what is put together is not known")
    if mark is True or (isinstance(mark, tuple) and all(item is True for item in mark)):
        return items
    return rules.as_marked(items, True)


def _are_arrays(kind: Kind) -> bool:
    item = kind.item if isinstance(kind, Sequence) else None
    return isinstance(item, Array) and item.dtype == "float"


def array(rules: Rules, op: Op) -> Op:
    """`np.array(items)`, of an array or of a list of numbers or of arrays of one shape."""
    only(op, at_most=1)
    value = op.arguments[0]
    kind = rules.kind(value)
    if is_numeric(kind):
        rules.rank(value)
        return rules.fold(op, np_constant("array"), value)
    items = kind.items if isinstance(kind, TupleOf) else (kind.item,) if isinstance(kind, Sequence) else ()
    if not items or not all(map(is_numeric, items)):
        raise NotBatched("an array of nested lists")
    return rules.fold(op, np_constant("stack"), all_carrying(rules, value), keywords=(("axis", Const(1)),))


def full(rules: Rules, op: Op) -> Op:
    shape, fill = op.arguments
    only(op, at_most=2)
    if rules.carries(shape) or rules.rank(fill):
        raise NotBatched("an array that is filled with another one")
    return rules.fold(op, function_constant(batches.full_each), shape, fill)


def dense(rules: Rules, op: Op) -> Op:
    """`dense_tangent(x_dot, x)`"""
    x_dot, x = op.arguments
    rules.rank(op.results[0])
    if rules.carries(x):
        raise NotBatched("a tangent of a tangent")
    return rules.fold(op, function_constant(batches.dense_each), x_dot, x, rules.directions)


def copied(rules: Rules, op: Op) -> Op:
    (value,) = op.arguments
    rules.rank(value)
    return rules.fold(op, np_constant("array"), value)


def by_one(rules: Rules, op: Op) -> Op:
    """What asks for a shape."""
    if any(isinstance(rules.kind(value), Sequence | TupleOf) for value in op.arguments if rules.carries(value)):
        return op  # the length of a list
    return replace(op, arguments=tuple(map(rules.one, op.arguments)))


def number(rules: Rules, op: Op) -> Op:
    """`float(x)`"""
    (value,) = op.arguments
    if rules.rank(value):
        raise NotBatched("a number made of an array")
    return rules.fold(op, operator_constant("pos"), value)


def where(rules: Rules, op: Op) -> Op:
    only(op, at_most=3)
    if len(op.arguments) != 3:
        raise NotBatched("places")
    condition, x, y = op.arguments
    ranks = [rank_of(rules.kind(condition)), rules.rank(x), rules.rank(y)]
    if ranks[0] is None:
        raise NotBatched("a condition of unknown axes")
    return rules.elementwise(op)


def kept_part(rules: Rules, op: Op) -> Op:
    """`kept_tangent(x_dot, y_dot)`, of which either may be the same in all directions."""
    x_dot, y_dot = op.arguments
    rank = rules.rank(y_dot)
    if rules.rank(x_dot) > rank:
        raise NotBatched("a part with fewer axes")
    x_dot = rules.aligned(x_dot, rank)
    if not rules.carries(y_dot):
        return rules.fold(op, function_constant(batches.kept_each), x_dot, y_dot)
    return replace(op, arguments=(x_dot, y_dot))


def sequence(rules: Rules, op: Op) -> Op:
    """`list(items)`, `tuple(items)`"""
    only(op, at_most=1)
    (items,) = op.arguments
    if rules.is_array(items):
        return replace(op, arguments=(rules.by_items(items),))
    if not isinstance(rules.kind(items), Sequence | TupleOf) or rules.mark(items) is not True:
        raise NotBatched("a list of what is not known")
    return op


def total(rules: Rules, op: Op) -> Op:
    """`sum(items)`, of numbers or arrays of one shape."""
    only(op, at_most=2)
    items, *start = op.arguments
    kind = rules.kind(items)
    known = kind.items if isinstance(kind, TupleOf) else (kind.item,) if isinstance(kind, Sequence) else ()
    ranks = set(map(rank_of, known)) | set(map(rules.rank, start) if start else ())
    if start == [Const(0.0)] or start == [Const(0)]:
        ranks.discard(0) if len(ranks) > 1 else None
    if len(ranks) != 1 or None in ranks:
        raise NotBatched("a sum of what is not known")
    if isinstance(kind, TupleOf) or start:
        return replace(op, arguments=(all_carrying(rules, items), *start))
    return op


def pad(rules: Rules, op: Op) -> Op:
    """With zeros, by widths that are known."""
    only(op, at_most=2)
    value, width = op.arguments
    items = rules.items_of(width) or (width,)
    if not rules.carries(value) or not all(isinstance(item, Const) for item in items):
        raise NotBatched("a width that is not known")
    found = width.value if isinstance(width, Const) else tuple(item.value for item in items)  # type: ignore[union-attr]
    widths = np.broadcast_to(found, (rules.rank(value), 2)).tolist()
    return replace(op, arguments=(value, Const(((0, 0), *map(tuple, widths)))))


def kept_of_call(rules: Rules, op: Op) -> Op:
    """`kept_call(dots, y_dot)`"""
    dots, y_dot = op.arguments
    items = rules.items_of(dots)
    if items is None or not all(is_uniform(rules.mark(value)) for value in (*items, y_dot)) or not rules.carries(y_dot):
        raise NotBatched("a call of which some tangents depend on the direction")
    flags = rules.tuple_of(*(Const(rules.carries(item)) for item in items))
    return rules.fold(op, function_constant(batches.kept_call_each), flags, dots, y_dot)


def is_uniform(mark: Mark) -> bool:
    """Whether all numbers and arrays in a value carry the axis, or none does."""
    return not isinstance(mark, tuple) or all(item is True or (isinstance(item, tuple) and is_uniform(item)) for item in mark)


def per_direction(rules: Rules, op: Op) -> Op:
    """A function that only computes, of numbers and arrays, for one direction after the other."""
    made = rules.by_rows(op)
    if made is None:
        raise NotBatched(f"a call of {getattr(callee_of(op), '__name__', callee_of(op))}")
    return made


RULES: dict[Any, Rule] = {
    operator.getitem: getitem,
    operator.matmul: matmul,
    np.matmul: matmul,
    np.dot: dot,
    np.outer: outer,
    np.multiply.outer: outer,
    np.sum: reduction,
    np.mean: reduction,
    np.cumsum: cumulative,
    np.reshape: reshape,
    np.ravel: ravel,
    np.ndarray.flatten: flattened,
    np.transpose: transpose,
    np.swapaxes: swapaxes,
    np.stack: along,
    np.concatenate: along,
    np.array: array,
    np.asarray: array,
    np.copy: copied,
    np.full: full,
    np.pad: pad,
    np.where: where,
    unbroadcast: spread_up,
    expand_reduced: expand,
    reshape_bar: reshaped_back,
    dense_tangent: dense,
    kept_tangent: kept_part,
    kept_call: kept_of_call,
    own: copied,
    accumulate: summed,
    made_of_bar: made_of,
    number_bars: numbers,
    item_cotangent: item_bar,
    add_item: added_item,
    zeros_for: zeros_of_lists,
    added: added_to,
    or_zero: or_zero_of,
    any_or_zero: or_zero_of,
    cotangent_item: item_of_cotangent,
    float: number,
    list: sequence,
    tuple: sequence,
    sum: total,
    **dict.fromkeys((len, np.shape, np.ndim, np.size, mean_count, zero_cotangent, from_front, order_of_reading), by_one),
}

METHODS: dict[str, Any] = {
    "sum": np.sum,
    "mean": np.mean,
    "cumsum": np.cumsum,
    "reshape": np.reshape,
    "ravel": np.ravel,
    "flatten": np.ndarray.flatten,
    "transpose": np.transpose,
    "swapaxes": np.swapaxes,
    "copy": np.copy,
    "dot": np.dot,
}
