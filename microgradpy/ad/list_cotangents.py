"""The cotangent of a list that a loop fills: a list of the cotangents of its items, which is written into.

    hs.append(h)         h_bar += hs_bar[n]
    hs[i] = h            h_bar += hs_bar[i];  hs_bar[i] = 0.0
    h = hs[i]            hs_bar[i] += h_bar

Every version of the list has the one cotangent, as every version has the one list: what comes later in a list is behind what an
earlier version has, and nobody reads it there.
"""

from __future__ import annotations

from microgradpy.ad.adjoint_builder import AdjointBuilder
from microgradpy.ad.calls import Append, Replaced
from microgradpy.ir.kinds import FLOAT, UNKNOWN, Kind, Sequence, is_real_scalar
from microgradpy.ir.nodes import Augmented, Const, Opcode, Value, Var, function_constant, operator_constant
from microgradpy.rules.sums import for_each
from microgradpy.runtime import cotangents as run_time

NUMBERS = Sequence("list", FLOAT)
"""The cotangents of a list of numbers."""
_ADDED = Augmented("+")
_FOR_EACH = function_constant(for_each)


def is_list(kind: Kind) -> bool:
    return isinstance(kind, Sequence) and kind.name == "list"


def bars_kind(kind: Kind) -> Sequence:
    """The kind of the cotangents of a list: numbers for numbers, and None for what nobody reads of anything else."""
    assert isinstance(kind, Sequence)
    return Sequence("list", FLOAT if is_real_scalar(kind.item) else UNKNOWN)


def as_bars(adjoint: AdjointBuilder, cotangent: Value, items: Var) -> Value:
    """The cotangent of a list as a list that may be written into."""
    wanted = bars_kind(adjoint.kind(items))
    if adjoint.kind(cotangent) == wanted:
        return cotangent
    if isinstance(cotangent, Var) and wanted == NUMBERS and _is_for_each(adjoint, cotangent):
        adjoint.know(cotangent, wanted)
        adjoint.owned.add(cotangent)
        return cotangent
    function = run_time.number_bars if wanted == NUMBERS else run_time.item_bars
    made = adjoint.helper(function, cotangent, items, hint=adjoint.bar_name(items), kind=wanted)
    assert isinstance(made, Var)
    adjoint.owned.add(made)
    adjoint.selects = True
    adjoint.select(made, True)  # as of an array that was read at an index
    return made


def _is_for_each(adjoint: AdjointBuilder, cotangent: Var) -> bool:
    """Whether a cotangent is a list of numbers that has just been made for this list."""
    made = adjoint.producers.get(cotangent)
    return made is not None and made.callee == _FOR_EACH


def undo_append(adjoint: AdjointBuilder, call: Append, cotangent: Value) -> None:
    bars = as_bars(adjoint, cotangent, call.result)
    adjoint.accumulate(call.item, _part(adjoint, bars, call.length))
    adjoint.pass_on(call.items, bars)


def undo_replaced(adjoint: AdjointBuilder, call: Replaced, cotangent: Value) -> None:
    bars = adjoint.buffer(as_bars(adjoint, cotangent, call.result))
    part = _part(adjoint, bars, call.index)
    zero = Const(0.0) if bars_kind(adjoint.kind(call.result)).item == FLOAT else Const(None)
    emptied = _stored(adjoint, bars, call.index, zero, None)
    adjoint.accumulate(call.item, part)
    adjoint.pass_on(call.items, emptied)


def add_to_item(adjoint: AdjointBuilder, items: Var, bars: Value, index: Value, part: Value) -> None:
    """hs_bar[i] += h_bar, of a list of numbers."""
    adjoint.cotangents[items] = _stored(adjoint, adjoint.buffer(bars), index, part, _ADDED)


def _part(adjoint: AdjointBuilder, bars: Value, index: Value) -> Value:
    kind = adjoint.kind(bars)
    assert isinstance(kind, Sequence)
    return adjoint.call(operator_constant("getitem"), (bars, index), kind=kind.item)


def _stored(adjoint: AdjointBuilder, bars: Value, index: Value, part: Value, payload: Augmented | None) -> Var:
    hint = bars if isinstance(bars, Var) else ""
    (after,) = adjoint.operation(Opcode.STORE, (bars, index, part), kinds=(adjoint.kind(bars),), hints=(hint,), payload=payload)
    if isinstance(bars, Var):
        adjoint.owned.discard(bars)
    adjoint.owned.add(after)
    adjoint.select(after, adjoint.is_selected(bars))
    return after
