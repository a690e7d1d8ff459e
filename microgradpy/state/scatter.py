"""`ufunc.at(x, index, value)`: updates of entries one after the other, of which several may meet the same entry.

Of such a sequence of updates those that are the first at their entry meet nobody, nor do those that are the second there,
and so on. So the sequence is made in *rounds*, each of them an operation on arrays, and undone by the last round first:

    np.multiply.at(x, [0, 3, 3], v)   ->   x[[0, 3]] *= v[[0, 1]];  x[[3]] *= v[[2]]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.errors import MutationError
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.state.arrays import carries, check_writable, pulled_back, settle_broadcast
from microgradpy.state.shadows import Shadows, Undo
from microgradpy.state.snapshots import Structure, frozen, structure_of
from microgradpy.state.write_handlers import Made, no_cotangents, write_handler
from microgradpy.tangents.arithmetic import cotangent_dtype
from microgradpy.tangents.memory_order import copied

Array = np.ndarray[Any, Any]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """Updates that are made together: which of all they are, at which entries in C order, and of what operands."""

    chosen: Array
    places: Array
    operands: tuple[Array, ...]


@write_handler(np.ufunc.at, of=np.ufunc)
def apply_at(ufunc: np.ufunc, x: Array, index: Any, /, *value: Any) -> Made:
    """`value` is empty for functions of one argument."""
    check_writable(x)
    if not carries(x):
        ufunc.at(x, index, *value)
        return None, no_cotangents(3 + len(value))
    index, given = frozen(index), tuple(map(structure_of, value))
    operands = tuple(map(frozen, value))
    if ufunc in _SIGNS:
        ufunc.at(x, index, *value)
        return None, _undo_shift(x, index, given, operands, _SIGNS[ufunc])
    if rrule.find(ufunc, (np.ndarray,) * ufunc.nin) is None and not is_non_differentiable(ufunc):
        raise MutationError(f"np.{ufunc.__name__}.at has no rule", None, "Write a loop over the places.")
    before = copied(x)
    ufunc.at(x, index, *value)
    places = np.asarray(np.arange(x.size).reshape(x.shape)[index])
    rounds = list(_rounds(ufunc, before.reshape(-1), places, operands))

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        entries = shadows.of(x).flat
        bars = [np.zeros(places.size, cotangent_dtype(np.result_type(x, np.asarray(part)))) for part in operands]
        for each in reversed(rounds):
            own, *others = pulled_back(ufunc, each.operands, {}, entries[each.places])
            entries[each.places] = 0.0 if own is None else own
            for bar, other in zip(bars, others, strict=True):
                bar[each.chosen] = 0.0 if other is None else other
        return None, None, None, *_settled(given, operands, [bar.reshape(places.shape) for bar in bars], shadows)

    return None, undo


_SIGNS = {np.add: 1.0, np.subtract: -1.0}
"""The functions whose updates leave the cotangent of the entry as it is, and pass it on with a sign."""


def _undo_shift(x: Array, index: Any, given: tuple[Structure, ...], operands: tuple[Any, ...], sign: float) -> Undo:
    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        d = shadows.of(x)[index]
        return None, None, None, *_settled(given, operands, [np.array(d) if sign == 1.0 else -d], shadows)

    return undo


def _settled(given: tuple[Structure, ...], operands: tuple[Any, ...], bars: list[Any], shadows: Shadows) -> Iterator[Any]:
    for structure, operand, bar in zip(given, operands, bars, strict=True):
        yield settle_broadcast(structure, operand, bar, shadows)


def _rounds(ufunc: np.ufunc, entries: Array, places: Array, values: tuple[Any, ...]) -> Iterator[Round]:
    """The updates of these entries, which are overwritten, in rounds."""
    flat = places.reshape(-1)
    spread = tuple(np.broadcast_to(value, places.shape).reshape(-1) for value in values)
    turns = _turns(flat)
    order = np.argsort(turns, kind="stable")
    for chosen in np.split(order, np.cumsum(np.bincount(turns))[:-1]):
        operands = (entries[flat[chosen]], *(value[chosen] for value in spread))
        with np.errstate(all="ignore"):
            entries[flat[chosen]] = ufunc(*operands)
        yield Round(chosen, flat[chosen], operands)


def _turns(places: Array) -> Array:
    """How often each of these numbers has come before."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(ordered)])
    turns = np.empty(len(places), np.intp)
    turns[order] = np.arange(len(places)) - np.repeat(starts, np.diff(np.r_[starts, len(places)]))
    return turns
