"""Where boxes and edges go: a layout in layers, from top to bottom (the method of Sugiyama, Tagawa and Toda, 1981).

1. Edges against the order of the nodes are turned round, so that no cycle is left.
2. A node is one layer below the lowest of those that it comes after.
3. An edge over several layers passes each of them by a point of its own, which takes part in what follows like a box.
4. In each layer, boxes are ordered by the mean place of their neighbours; of some sweeps the one with the fewest crossings.
5. Boxes move towards the mean of their neighbours as far as the order and the distances allow.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import final

from microgradpy.drawing.graph import Graph

Point = tuple[float, float]
GAP_X, GAP_Y, MARGIN = 36.0, 44.0, 16.0
_PASS = 10.0  # the width that an edge takes in a layer that it passes
_PORT = 14.0  # between the ends of edges at one box
_SWEEPS = 8


@final
@dataclass(frozen=True, slots=True)
class Placed:
    """A box: its left upper corner, and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height


@final
@dataclass(frozen=True, slots=True)
class Layout:
    """The boxes by name; for each edge between boxes, by its place among the edges of the graph, the points that it goes
    through, at each of them vertically; and the size of the whole."""

    boxes: Mapping[str, Placed]
    routes: Mapping[int, tuple[Point, ...]]
    width: float
    height: float


@dataclass(eq=False, slots=True)
class _Item:
    """A box, or the point at which an edge passes a layer."""

    layer: int
    width: float
    height: float
    name: str = ""
    x: float = 0.0  # of the middle
    above: list[_Item] = field(default_factory=list)
    below: list[_Item] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class _Chain:
    """The items of an edge, from where it starts; `is_back` if it goes upwards."""

    number: int
    items: list[_Item]
    is_back: bool


def lay_out(graph: Graph, sizes: Mapping[str, Point]) -> Layout:
    """Place the nodes of a graph, whose widths and heights are given, and route the edges between them."""
    order = {node.name: position for position, node in enumerate(graph.nodes)}
    pairs = [(k, edge.source, edge.target) for k, edge in enumerate(graph.edges) if edge.kind == "control"]
    layers_of = _layers(order, [(source, target) for _, source, target in pairs])
    items = {name: _Item(layers_of[name], *sizes[name], name) for name in order}
    layers: list[list[_Item]] = [[] for _ in range(1 + max(layers_of.values(), default=-1))]
    for item in items.values():
        layers[item.layer].append(item)
    chains = [_chain(number, items[source], items[target], layers, order) for number, source, target in pairs]
    layers = _ordered(layers)
    _spread(layers)
    return _finished(layers, items, chains)


def _layers(order: Mapping[str, int], pairs: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The layer of each node, counted from the top."""
    into: dict[str, list[str]] = {name: [] for name in order}
    for source, target in pairs:
        first, second = sorted((source, target), key=order.__getitem__)
        if first != second:
            into[second].append(first)
    layers: dict[str, int] = {}
    for name in order:
        layers[name] = 1 + max((layers[before] for before in into[name]), default=-1)
    return layers


def _chain(number: int, source: _Item, target: _Item, layers: list[list[_Item]], order: Mapping[str, int]) -> _Chain:
    is_back = order[source.name] >= order[target.name]
    upper, lower = (target, source) if is_back else (source, target)
    # What goes upwards passes beside both of its boxes: it starts below the one and ends above the other.
    passed = range(upper.layer, lower.layer + 1) if is_back else range(upper.layer + 1, lower.layer)
    points = [_Item(layer, _PASS, 0.0) for layer in passed]
    for point in points:
        layers[point.layer].append(point)
    joined = points if is_back else [upper, *points, lower]
    for above, below in pairwise(joined):
        above.below.append(below)
        below.above.append(above)
    return _Chain(number, [source, *reversed(points), target] if is_back else joined, is_back)


# Order and places


def _ordered(layers: list[list[_Item]]) -> list[list[_Item]]:
    best, fewest = layers, _crossings(layers)
    for sweep in range(_SWEEPS):
        layers = [list(layer) for layer in layers]
        downwards = sweep % 2 == 0
        places = {item: place for layer in layers for item, place in _places(layer)}
        for layer in layers if downwards else reversed(layers):
            layer.sort(key=lambda item: _mean(item, places, downwards))
            places.update(_places(layer))
        crossings = _crossings(layers)
        if crossings < fewest:
            best, fewest = layers, crossings
    return best


def _places(layer: list[_Item]) -> Iterator[tuple[_Item, float]]:
    """Where items are in their layer: 0 for the left end, 1 for the right one."""
    return ((item, (k + 0.5) / len(layer)) for k, item in enumerate(layer))


def _mean(item: _Item, places: Mapping[_Item, float], downwards: bool) -> float:
    neighbours = item.above if downwards else item.below
    return sum(places[other] for other in neighbours) / len(neighbours) if neighbours else places[item]


def _crossings(layers: list[list[_Item]]) -> int:
    places = {item: k for layer in layers for k, item in enumerate(layer)}
    total = 0
    for layer in layers:
        seen: list[int] = []
        for _, end in sorted((places[item], places[other]) for item in layer for other in item.below):
            total += len(seen) - bisect_right(seen, end)  # those that start further left and end further right
            insort(seen, end)
    return total


def _spread(layers: list[list[_Item]]) -> None:
    for layer in layers:
        _set(layer, [0.0] * len(layer))
    for sweep in range(2 * _SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wanted = []
            for item in layer:
                neighbours = [*item.above, *item.below]
                wanted.append(sum(other.x for other in neighbours) / len(neighbours) if neighbours else item.x)
            _set(layer, wanted)


def _set(layer: list[_Item], wanted: Sequence[float]) -> None:
    """Move the items of a layer as near as can be to where they are wanted, in their order, none over another. Least
    squares, by the algorithm that pools neighbours which would come too near."""
    offsets = [0.0]
    for left, right in pairwise(layer):
        offsets.append(offsets[-1] + (left.width + right.width) / 2 + GAP_X)
    pools: list[tuple[float, int]] = []
    for offset, place in zip(offsets, wanted, strict=False):
        mean, count = place - offset, 1
        while pools and pools[-1][0] >= mean:
            other, size = pools.pop()
            mean, count = (mean * count + other * size) / (count + size), count + size
        pools.append((mean, count))
    means = [mean for mean, count in pools for _ in range(count)]
    for item, offset, mean in zip(layer, offsets, means, strict=False):
        item.x = mean + offset


# Coordinates


def _finished(layers: list[list[_Item]], items: Mapping[str, _Item], chains: Sequence[_Chain]) -> Layout:
    left = min((item.x - item.width / 2 for layer in layers for item in layer), default=0.0) - MARGIN
    tops, bottoms, y = [], [], MARGIN + GAP_Y / 2
    for layer in layers:
        tops.append(y)
        bottoms.append(y + max((item.height for item in layer), default=0.0))
        y = bottoms[-1] + GAP_Y
    boxes = {
        name: Placed(item.x - item.width / 2 - left, tops[item.layer], item.width, item.height) for name, item in items.items()
    }
    ends = _ends(chains)
    routes = {}
    for chain in chains:
        start, *passed, end = chain.items
        points = [(boxes[start.name].middle + ends[chain.number][0], boxes[start.name].bottom)]
        for item in passed:
            upper, lower = tops[item.layer], bottoms[item.layer]
            points += [(item.x - left, lower), (item.x - left, upper)][:: 1 if chain.is_back else -1]
        points.append((boxes[end.name].middle + ends[chain.number][1], boxes[end.name].y))
        routes[chain.number] = tuple(points)
    width = max((item.x + item.width / 2 for layer in layers for item in layer), default=0.0) - left + MARGIN
    return Layout(boxes, routes, width, y - GAP_Y / 2 + MARGIN)


def _ends(chains: Sequence[_Chain]) -> dict[int, tuple[float, float]]:
    """How far from the middle of its boxes each edge starts and ends, so that several at one box stand apart."""
    starts: dict[_Item, list[tuple[float, int]]] = {}
    stops: dict[_Item, list[tuple[float, int]]] = {}
    for chain in chains:
        starts.setdefault(chain.items[0], []).append((chain.items[1].x, chain.number))
        stops.setdefault(chain.items[-1], []).append((chain.items[-2].x, chain.number))
    shifts: list[dict[int, float]] = []
    for ends in (starts, stops):
        shift = {}
        for item, found in ends.items():
            step = min(_PORT, item.width / (len(found) + 1))
            for k, (_, number) in enumerate(sorted(found)):
                shift[number] = (k - (len(found) - 1) / 2) * step
        shifts.append(shift)
    return {chain.number: (shifts[0][chain.number], shifts[1][chain.number]) for chain in chains}
