"""The loops of a traced function: what a `for` runs over, and each step of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_never, final

from microgradpy.ir.nodes import DictItems, Each, Enumerate, Items, Range, Records, Reversed, Zip
from microgradpy.ir.traversal import item_variables
from microgradpy.tracking.data_flow import PrimitiveCallNode
from microgradpy.tracking.recording import Frame, jump
from microgradpy.tracking.sites import LoopSite
from microgradpy.tracking.values import Constant


def iterate(trace: Frame, where: str, /, *sources: Any) -> Iterator[Any]:
    """What a `for` runs over: it records each step."""
    site = trace.sites[where]
    assert isinstance(site, LoopSite)
    inner = iter(_iterable(site.items, iter(sources)))
    arguments = trace.operands(site.iterator.arguments)
    assert isinstance(site.iterator.function, Constant)
    node = PrimitiveCallNode(site.iterator.location, site.iterator.function, arguments, (), inner, inner)
    if trace.run.writers:
        node.after = trace.writers_of(arguments, sources)
    trace.add(node)
    trace.define(site.iterator.results, node)
    trace.met(node)
    trace.hooks.tracked_primitive_node(node)
    return _Iteration(trace, site, inner)


@final
class _Iteration:
    """The items of a `for`, each recorded when it is asked for."""

    __slots__ = ("count", "inner", "site", "trace")

    def __init__(self, trace: Frame, site: LoopSite, inner: Iterator[Any]) -> None:
        self.trace, self.site, self.inner = trace, site, inner
        self.count = len(item_variables(site.items))

    def __iter__(self) -> _Iteration:
        return self

    def __next__(self) -> Any:
        trace, site = self.trace, self.site
        try:
            item = next(self.inner)
        except StopIteration:
            self.record((False,))
            if site.exhausted:
                jump(trace, site.exhausted)
            raise
        bound = (item,) if self.count == 1 else tuple(_leaves(site.items, item))
        self.record((True, *bound))
        if site.enter:
            jump(trace, site.enter)
        return item if self.count == 1 else bound

    def record(self, step: tuple[Any, ...]) -> None:
        trace, site = self.trace, self.site.step
        arguments = trace.operands(site.arguments)
        assert isinstance(site.function, Constant)
        node = PrimitiveCallNode(site.location, site.function, arguments)
        trace.run.keep(node, step)
        trace.add(node)
        trace.define(site.results, node)
        trace.met(node)
        trace.hooks.tracked_primitive_node(node)


def _iterable(items: Items, sources: Iterator[Any]) -> Any:
    match items:
        case Each():
            return next(sources)
        case Range(arguments=arguments):
            return range(*[next(sources) for _ in arguments])
        case Enumerate(inner=inner):
            source = _iterable(inner, sources)
            return enumerate(source, next(sources))
        case Zip(inners=inners, strict=strict):
            return zip(*[_iterable(inner, sources) for inner in inners], strict=strict)
        case Reversed(inner=inner):
            return reversed(_iterable(inner, sources))
        case DictItems():
            return next(sources).items()
        case Records():
            raise AssertionError("only adjoints read tapes")
    assert_never(items)


def _leaves(items: Items, item: Any) -> Iterator[Any]:
    """The parts of an item, one for each variable."""
    match items:
        case Enumerate(inner=inner):
            index, held = item
            yield index
            yield from _leaves(inner, held)
        case Zip(inners=inners):
            for inner, held in zip(inners, item, strict=True):
                yield from _leaves(inner, held)
        case Reversed(inner=inner):
            yield from _leaves(inner, item)
        case DictItems():
            yield from item
        case _:
            yield item


