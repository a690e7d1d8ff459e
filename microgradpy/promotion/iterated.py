"""Iterators of what is in sight: those that `__iter__` of an object gives, and what `iter` gives of a list.

    class Path:                                   def __iter__(self):
        def __iter__(self):                           return iter(self.points)
            return self
        def __next__(self): ...                   for p in path:        for p in path_points:

An object with `__next__` is read by a generator (`written_out.given_by`), and that is written into the loop. An iterator of a
list is the list for the one loop that runs over it.
"""

from __future__ import annotations

import types
from typing import Any

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import (
    Break,
    Const,
    Each,
    Enumerate,
    For,
    If,
    Location,
    Op,
    Opcode,
    Region,
    Var,
    While,
    Yield,
    fresh,
    function_constant,
)
from microgradpy.ir.rewrite import map_items
from microgradpy.ir.traversal import item_sources, item_variables
from microgradpy.promotion import library
from microgradpy.promotion.classes import is_record
from microgradpy.promotion.findings import Escapes, Origin
from microgradpy.promotion.places import Element, Frame, Generator, Iterated, Known, Object, Part, origin_of
from microgradpy.runtime import written_out
from microgradpy.runtime.keyed import CLASSES
from microgradpy.runtime.queues import Steps
from microgradpy.runtime.suspension import advance, is_generator

_ITER = function_constant(iter)


def iterated(walker: Any, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
    """What `iter(items)` gives, if it is in sight."""
    origin = (*frame.path, op.results[0])
    if len(arguments) != 1:
        return None
    (source,) = arguments
    if origin in walker.facts.kept:
        return by_steps(walker, op, source, origin, frame)
    if isinstance(source, Generator | Iterated):
        return source
    if is_own(source):
        return walker.iterator_of(source, op.results[0], op.where, frame)  # type: ignore[no-any-return]
    return Iterated(origin, source, walker.loop, len(walker.trying)) if walker.is_run_over(source) else None


def by_steps(walker: Any, op: Op, source: Known, origin: Origin, frame: Frame) -> Known | None:
    """The iterator of what has places as an object, where it is asked in another way than by one loop."""
    made_at = (*origin, Steps.__name__)
    if walker.facts.beside_writes or made_at in walker.facts.kept or not walker.has_places(source):
        return None
    return walker.construct(op, Const(Steps, Steps.__name__, Steps), Steps, (source,), {}, frame, made_at)  # type: ignore[no-any-return]


def is_own(known: Known) -> bool:
    """Whether something is an object of a class of the user's, which may say what iterating over it means."""
    is_object = isinstance(known, Object | Element) or (isinstance(known, Part) and not known.is_container)
    return is_object and not is_record(known.cls)  # type: ignore[union-attr, arg-type]


def iterator_of(walker: Any, thing: Any, item: Var, where: Location, frame: Frame) -> Generator | Iterated | None:
    """The iterator that `__iter__` of an object gives, for a loop that calls its items `item`."""
    function = walker.member(thing.cls, "__iter__")
    if not isinstance(function, types.FunctionType):
        return None
    walker.check_there(thing)
    op = Op(_ITER, (), (item,), where=where)
    if is_generator(function.__code__):
        return walker.generator(op, function, (thing,), {}, frame)  # type: ignore[no-any-return]
    found = walker.inline(op, function, (thing,), {}, frame, origin_of(thing))
    if isinstance(found, Generator | Iterated):
        return found
    if not is_own(found) or not isinstance(walker.member(found.cls, "__next__"), types.FunctionType):
        raise Escapes(origin_of(thing))
    origin = (*frame.path, item, "items")
    ir, _ = walker.lowered(written_out.given_by, origin)
    ir = replace(ir, body=library.placed(ir.body, where))
    return Generator(origin, ir.body, Frame(origin, {ir.parameters[0].var: found}), walker.loop, len(walker.trying))


def used_up(walker: Any, iterator: Iterated) -> Known:
    """What an iterator runs over, for the one loop that does."""
    is_elsewhere = iterator.loop is not walker.loop or iterator.attempts != len(walker.trying)
    if iterator in walker.consumed or is_elsewhere:
        raise Escapes(iterator.origin)
    walker.consumed.add(iterator)
    walker.helped = True
    return iterator.source  # type: ignore[no-any-return]


def taken_apart(walker: Any, op: Op, known: Known, frame: Frame) -> bool:
    """Take an object apart by its `__iter__`, as in `x, y = vector`; whether that is in sight."""
    found: Known | None = walker.iterator_of(known, op.results[0], op.where, frame) if op.results else None
    if isinstance(found, Iterated):
        found = used_up(walker, found)
    elif found is not None:
        found = walker.collected(replace(op, results=(fresh("items"),)), (found,), frame)
    if found is None:
        return False
    if not walker.takes_apart(op, found, frame):
        results = tuple(walker.define(result, frame) for result in op.results)
        walker.add(replace(op, arguments=(walker.plain(found, shows=False),), results=results))
    return True


def with_iterators(walker: Any, statement: For, frame: Frame) -> For | None:
    """A loop over objects and iterators in sight as one over the iterators of the objects, and over what the iterators of lists
    run over; None if there are none."""
    changed: dict[Any, Var] = {}
    items = statement.items.inner if isinstance(statement.items, Enumerate) else statement.items
    is_fused = isinstance(items, Each)
    first, *_ = item_variables(items)  # which is the same in each walk
    for source in item_sources(statement.items):
        known = found = walker.known(source, frame)
        if is_own(known) and (is_fused or known.cls not in CLASSES):
            item = first if is_fused else fresh(getattr(source, "hint", ""))
            found = walker.iterator_of(known, item, statement.where, frame) or known
        if isinstance(found, Iterated):
            found = used_up(walker, found)
        if found is not known:
            changed[source] = fresh(getattr(source, "hint", ""))
            walker.bind(changed[source], found, frame)
    if not changed:
        return None
    return replace(statement, items=map_items(statement.items, lambda value: changed.get(value, value)))


# `yield from readings(n)` is `for item in readings(n): yield item`: nobody sends anything to a generator that a loop runs over.


def delegate(walker: Any, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
    """What a generator delegates to, if that is in sight."""
    return None if frame.step is None else iterated(walker, op, arguments, frame)


def delegated(walker: Any, statement: While, frame: Frame) -> For | None:
    """The loop of a `yield from` as one over what it delegates to; None if that is not in sight, or if somebody asks what it
    has returned."""
    match statement.body.statements:
        case (
            Op(callee=Const(value=callee), arguments=(steps, _)),
            Op(callee=Opcode.UNPACK, results=(done, item)),
            If(condition=asked, then=Region((), Break(values)), orelse=Region((), Yield(()))),
            *rest,
        ) if callee is advance and asked == done and item not in values:
            if not isinstance(walker.known(steps, frame), Generator | Iterated):
                return None
            body = Region(tuple(rest), statement.body.terminator)
            items = Each(steps, item)
            return For(items, body, statement.parameters, statement.initial, statement.results, statement.where)
    return None
