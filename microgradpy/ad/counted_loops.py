"""Loops of which the adjoint needs a counter, and items of lists that it can read again: they have no tape.

    for k, v in enumerate(out):            for k in reversed(range(len_out)):
        items.append(v * v)                    v = out[k]
                                               out_bar[k] += 2.0 * (y_bar * v)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import final

from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.ir.kinds import Kind, Sequence
from microgradpy.ir.nodes import (
    Const,
    Each,
    Enumerate,
    For,
    Items,
    Location,
    Op,
    Range,
    Records,
    Reversed,
    Statement,
    Var,
    Zip,
    fresh,
    function_constant,
    operator_constant,
)
from microgradpy.ir.traversal import item_variables


@final
@dataclass(frozen=True, slots=True)
class Counted:
    """What the adjoint of a loop runs over backwards. `read` are the items of lists that it reads again; `length`, if it is
    asked for, is the least length of `lists`, so as it was: who has a list may change it before the adjoint runs."""

    items: Range | Each
    length: Var | None = None
    lists: tuple[Var, ...] = ()
    read: Mapping[Var, Var] = field(default_factory=dict)

    @property
    def again(self) -> Reversed:
        return Reversed(self.items)

    def reads(self) -> Iterator[Op]:
        """Read the items again that an iteration had."""
        for item, source in self.read.items():
            yield Op(operator_constant("getitem"), (source, self.items.item), (item,), from_user=False)

    def count(self, where: Location) -> Iterator[Op]:
        """Count the iterations, before the loop runs."""
        if self.length is None:
            return
        lengths = [fresh() for _ in self.lists] if len(self.lists) > 1 else [self.length]
        for items, length in zip(self.lists, lengths, strict=True):
            yield Op(function_constant(len), (items,), (length,), from_user=False, where=where)
        if len(lengths) > 1:
            yield Op(function_constant(min), tuple(lengths), (self.length,), from_user=False, where=where)


def counted(loop: For, wanted: Collection[Var], kinds: Mapping[Var, Kind], steady: Collection[Var]) -> Counted | None:
    """How the adjoint runs over a loop of whose iterations this is wanted, if that needs no tape."""
    items, others = loop.items, set(wanted)
    if isinstance(items, Enumerate) and items.index not in others:
        items = items.inner
    if isinstance(items, Range):
        return None if others - {items.item} else Counted(items)
    if isinstance(items, Each) and others == {items.item}:
        return Counted(items) if items.source in steady else None
    if not isinstance(items, Enumerate) or items.start != Const(0):
        return None
    lists = _lists_of(items.inner, kinds)
    if lists is None or not set(loop.initial).isdisjoint(lists):
        return None
    read = {item: source for item, source in zip(item_variables(items.inner), lists, strict=True) if item in others}
    if others - {items.index, *read} or any(source not in steady for source in read.values()):
        return None
    length = fresh()
    return Counted(Range((length,), items.index), length, lists, read)


def _lists_of(items: Items, kinds: Mapping[Var, Kind]) -> tuple[Var, ...] | None:
    """The lists that are run over, one beside the other; None if there is anything else."""
    match items:
        case Each(source=Var() as source) if isinstance(kind := kinds.get(source), Sequence) and kind.name == "list":
            return (source,)
        case Zip(inners=inners, strict=False):
            found = [_lists_of(inner, kinds) for inner in inners]
            return None if None in found else tuple(var for lists in found for var in lists or ())
    return None


def counter_beside(items: Items, wanted: Collection[Var], tape: Var) -> Range | None:
    """The numbers that a counter among what is wanted counts, if that is what it does; up to how many records there are on the
    tape, if nothing says so before the loop."""
    match items:
        case Range(item=item) if item in wanted:
            return items
        case Enumerate(start=start, index=index) if index in wanted and start == Const(0):
            return Range((tape,), index)
    return None


def beside(loop: For, numbers: Items, records: Records) -> tuple[Statement, ...]:
    """The adjoint's loop over records, and the numbers of the iterations beside them."""
    assert isinstance(numbers, Range)
    before: tuple[Statement, ...] = ()
    if numbers.arguments == (records.tape,):
        length = fresh()
        before = (Op(function_constant(len), (records.tape,), (length,), from_user=False, where=loop.where),)
        numbers = Range((length,), numbers.item)
    return *before, replace(loop, items=Zip((Reversed(numbers), records)))
