"""Loops of which the adjoint needs a counter, and items of lists that it can read again: they have no tape.

    for k, v in enumerate(out):            for k in reversed(range(len_out)):
        items.append(v * v)                    v = out[k]
                                               out_bar[k] += 2.0 * (y_bar * v)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import final

from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.ir.kinds import Kind, Scalar, Sequence
from microgradpy.ir.nodes import (
    Const,
    Each,
    Enumerate,
    For,
    Function,
    If,
    Items,
    Location,
    Op,
    Range,
    Records,
    Region,
    Reversed,
    Statement,
    Value,
    Var,
    Zip,
    fresh,
    function_constant,
    operator_constant,
)
from microgradpy.ir.traversal import item_variables, uses, walk


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


@final
@dataclass(frozen=True, slots=True)
class Beside:
    """What the adjoint of a loop runs over beside its records: the numbers of a counter, and lists as far as the loop has run
    over them, each with what is called so and the variable that its items are assigned to."""

    numbers: Range | None = None
    lists: tuple[tuple[Var, Var, Var], ...] = ()

    def items(self) -> Iterator[Var]:
        if self.numbers is not None:
            yield self.numbers.item
        yield from (item for _, _, item in self.lists)

    def sources(self) -> Iterator[Value]:
        """What it reads."""
        if self.numbers is not None:
            yield from self.numbers.arguments
        yield from (copy for _, copy, _ in self.lists)

    def copied(self, tape: Var, where: Location) -> Iterator[Op]:
        """The lists as they are now, after the loop: who has them may change them before the adjoint runs."""
        for source, copy, _ in self.lists:
            length, so_many = fresh(), fresh()
            yield Op(function_constant(len), (tape,), (length,), from_user=False, where=where)
            yield Op(function_constant(slice), (Const(None), length, Const(None)), (so_many,), from_user=False, where=where)
            yield Op(operator_constant("getitem"), (source, so_many), (copy,), from_user=False, where=where)

    def around(self, loop: For, records: Records, called: Callable[[Var], Var]) -> tuple[Statement, ...]:
        """The adjoint's loop over these and the records."""
        before: tuple[Statement, ...] = ()
        inners: list[Items] = [Reversed(Each(copy, item)) for _, copy, item in self.lists]
        if self.numbers is not None:
            arguments = self.numbers.arguments
            if arguments == (records.tape,):
                length = fresh()
                before = (Op(function_constant(len), arguments, (length,), from_user=False, where=loop.where),)
                arguments = (length,)
            inners.insert(0, Reversed(Range(arguments, called(self.numbers.item))))
        return *before, replace(loop, items=Zip((*inners, records)) if inners else records)


def read_beside(loop: For, wanted: Collection[Var], function: Function, tape: Var) -> Beside | None:
    """What the adjoint can read beside the one value that is left for the records then."""
    numbers = _counter_in(loop.items, wanted, tape)
    left = set(wanted) - ({numbers.item} if numbers is not None else set())
    lists = _lists_in(loop.items, function) if len(left) > 1 and _writes_nothing(loop.body, function.kinds) else ()
    lists = tuple((source, item) for source, item in lists if item in left)
    if left == {item for _, item in lists}:
        lists = lists[1:]  # there is a record for each iteration
    found = Beside(numbers, tuple((source, fresh(source.hint), item) for source, item in lists))
    return found if len(left) < len(wanted) + len(lists) and len(left) - len(lists) == 1 else None


def _counter_in(items: Items, wanted: Collection[Var], tape: Var) -> Range | None:
    """The numbers that a counter among what is wanted counts, up to how many records there are on the tape if nothing says so
    before the loop."""
    match items:
        case Range(item=item) if item in wanted:
            return items
        case Enumerate(start=start, index=index) if index in wanted and start == Const(0):
            return Range((tape,), index)
    return None


def _lists_in(items: Items, function: Function) -> tuple[tuple[Var, Var], ...]:
    """The arguments that are lists of numbers and that are run over, each with its item."""
    match items:
        case Each(source=Var() as source, item=item) if source in function.inputs:
            kind = function.kinds.get(source)
            is_list = isinstance(kind, Sequence) and kind.name == "list" and isinstance(kind.item, Scalar)
            return ((source, item),) if is_list else ()
        case Enumerate(inner=inner):
            return _lists_in(inner, function)
        case Zip(inners=inners):
            return tuple(found for inner in inners for found in _lists_in(inner, function))
    return ()


def _writes_nothing(body: Region, kinds: Mapping[Var, Kind]) -> bool:
    """Whether the iterations of a loop compute with numbers only."""

    def is_number(value: Value) -> bool:
        return isinstance(value, Const) or (isinstance(value, Var) and isinstance(kinds.get(value), Scalar))

    return all(
        isinstance(each, If)
        or (isinstance(each, Op) and isinstance(each.callee, Const) and all(map(is_number, (*uses(each), *each.results))))
        for each in walk(body)
    )
