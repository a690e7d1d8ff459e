"""Strong zeros in an adjoint: zeros of what a selection left out stay zero where the local derivative is infinite or NaN.

    s_bar = np.where(x > 0, y_bar, 0)           s_bar may hold zeros of a selection
    x_bar = divide(0.5 * s_bar, s)              x_bar = kept(s_bar, divide(0.5 * s_bar, s))

That a cotangent may hold such zeros is known from the program: they come from functions that select, from indices and branches,
and stay in what is computed of them; a sum has them if all of its terms do. Elsewhere zeros multiply as in NumPy: at x = 0 the
derivative of `np.sqrt(x) ** 2` is NaN here, and would be a wrong 0 if the slope of the square counted as a zero of a selection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from microgradpy.ad.adjoint_builder import AdjointBuilder
from microgradpy.ad.calls import (
    Append,
    Attribute,
    Build,
    Call,
    Dispatched,
    Inlined,
    Item,
    Iterated,
    Replaced,
    Static,
    StaticClosure,
    UnitCall,
    Unpack,
)
from microgradpy.ad.inline import splice_pullback
from microgradpy.ad.selections import Known
from microgradpy.ir.kinds import Array, Scalar, Sequence, TupleOf, is_real_scalar
from microgradpy.ir.nodes import Const, If, Op, Region, Try, Value, Var
from microgradpy.ir.traversal import walk
from microgradpy.rules.linearity import linear_arguments
from microgradpy.rules.registry import rrule
from microgradpy.rules.selections import inserts, selects, works_by_entry
from microgradpy.tangents.strong_zeros import kept, kept_rows, kept_whole


def gives_selected(adjoint: AdjointBuilder, call: Call, cotangent: Value) -> Known:
    """Whether the zeros of the cotangents that a call gives for its arguments are those of a selection: one that `cotangent`
    comes from, or one that the call makes."""
    return makes_selection(adjoint, call) or adjoint.is_selected(cotangent)


def note_selection(adjoint: AdjointBuilder, call: Call, cotangent: Value) -> None:
    """Note, before a call is undone, what the zeros are of the cotangents that it gives."""
    is_made = makes_selection(adjoint, call)
    adjoint.selects |= is_made
    adjoint.passes = gives_selected(adjoint, call, cotangent)


def makes_selection(adjoint: AdjointBuilder, call: Call) -> bool:
    """Whether a call makes a selection."""
    match call:
        case Inlined(function=function, pullback=pullback):
            return selects(function) or _has_mask(pullback)
        case Dispatched(callee=Const(value=function), packed=False, named=names) if rrule.has(function):
            return selects(function) or "where" in names
        case Dispatched():
            return True  # it may select
        case Item(container=source) | Iterated(source=source) | Unpack(source=source):
            return not isinstance(adjoint.kind(source), TupleOf | Sequence)
        case Append(result=result) | Replaced(result=result):
            kind = adjoint.kind(result)
            # The items that nobody reads have zeros, and so has what is written over in an array.
            return isinstance(kind, Array) or (isinstance(kind, Sequence) and is_real_scalar(kind.item))
        case UnitCall(unit=unit):
            return unit.selects
        case Attribute(name="flat"):
            return True
    return False


def _has_mask(pullback: StaticClosure) -> bool:
    """Whether a reduction takes a part of the entries only: `where=`."""
    for var, value in zip(pullback.function.captured, pullback.captured, strict=True):
        if var.hint == "where":
            return not isinstance(value, Const) or not (value.value is None or value.value is True)
    return False


def undo_keeping_zeros(adjoint: AdjointBuilder, call: Inlined, cotangent: Value, zeros: Value) -> tuple[Static, ...]:
    """The cotangents that the rule of a call gives for its arguments if the zeros of the cotangent are strong, as they are in
    `zeros`."""
    if isinstance(adjoint.kind(call.result), Scalar):
        return _each(adjoint, call, cotangent, lambda part: adjoint.helper(kept_whole, zeros, part))
    if works_by_entry(call.function):
        return _each(adjoint, call, cotangent, lambda part: adjoint.helper(kept, zeros, part), zeros)
    if call.function is None or linear_arguments(call.function):
        return _each(adjoint, call, cotangent, lambda part: part)
    captured = dict(zip((var.hint for var in call.pullback.function.captured), call.pullback.captured, strict=True))
    axis = captured.get("axis")
    if isinstance(axis, Var | Const):
        return _each(adjoint, call, cotangent, lambda part: adjoint.helper(kept_rows, zeros, part, axis))
    return _each(adjoint, call, cotangent, lambda part: adjoint.helper(kept_whole, zeros, part))


def _each(
    adjoint: AdjointBuilder, call: Inlined, cotangent: Value, keep: Callable[[Value], Value], by_entry: Value | None = None
) -> tuple[Static, ...]:
    """The cotangents of a rule, with `keep` applied to each that is a number or an array."""
    found = splice_pullback(call.pullback, cotangent, adjoint, by_entry)
    return tuple(_kept(adjoint, part, keep) for part in found)


def _kept(adjoint: AdjointBuilder, part: Static, keep: Callable[[Value], Value]) -> Static:
    if not isinstance(part, Var):
        return part
    found = keep(part)
    if isinstance(found, Var) and found != part:
        adjoint.know(found, adjoint.kind(part))
    return found


def may_insert(region: Region, calls: Mapping[Var, Call]) -> bool:
    """Whether the tangents of what a region computes may have zeros of a selection that it makes."""
    for statement in walk(region):
        if isinstance(statement, If | Try) and statement.results:
            return True
        found = [calls[var] for var in statement.results if var in calls] if isinstance(statement, Op) else []
        if any(map(_inserts, found)):
            return True
    return False


def _inserts(call: Call) -> bool:
    match call:
        case Inlined(function=function):
            return inserts(function)
        case Dispatched(callee=Const(value=function)) if rrule.has(function):
            return inserts(function)
        case UnitCall(unit=unit):
            return unit.inserts
    return isinstance(call, Dispatched | Build)
