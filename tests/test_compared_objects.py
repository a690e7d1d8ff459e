"""Objects in containers are numbers there: whatever compares, orders or asks the objects themselves has to see the objects."""

from __future__ import annotations

import bisect
import collections
import functools
import heapq
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from microgradpy import grad


class Ordered:
    def __init__(self, a: Any) -> None:
        self.a = a

    def __lt__(self, other: Any) -> Any:
        return self.a < other.a

    def __eq__(self, other: object) -> Any:
        return self.a == other.a  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return 1


class Plain:
    def __init__(self, a: Any) -> None:
        self.a = a


def some(cls: Any, x: float) -> list[Any]:
    made = [cls(3 * x), cls(x), cls(2 * x)]
    made[0].a = made[0].a * 1.5
    return made


def in_dict(cls: Any, x: float) -> dict[str, Any]:
    made = dict(zip("cab", some(cls, x), strict=True))
    made["a"].a = made["a"].a * 2
    return made


def from_heap(x: float) -> Any:
    heap: list[Any] = []
    for each in some(Ordered, x):
        heapq.heappush(heap, (1.0, each))
    return heapq.heappop(heap)[1].a


def from_heap_of_ties(cls: Any, x: float) -> Any:
    heap: list[Any] = []
    for each in some(cls, x):
        heapq.heappush(heap, (1.0, each))
    return heapq.heappop(heap)[1].a


def from_heap_of_one_twice(x: float) -> Any:
    heap: list[Any] = []
    for number, each in enumerate((*some(Plain, x), Plain(x))):
        heapq.heappush(heap, (1.0 + number // 4, each, number))
        heapq.heappush(heap, (2.0, each, -number)) if number == 3 else None
    return heapq.heappop(heap)[1].a


def from_heap_by_counter(x: float) -> Any:
    heap: list[Any] = []
    for number, each in enumerate(some(Plain, x)):
        heapq.heappush(heap, (1.0, -number, each))
    first = heapq.heapreplace(heap, (0.5, 9, Plain(x)))[2]
    return first.a + heapq.heappushpop(heap, (0.7, 1, Plain(2 * x)))[2].a * len(heap)


def in_order(cls: Any, x: float) -> Any:
    made: list[Any] = []
    for each in some(cls, x):
        bisect.insort(made, each)
    return made[0].a


def sorted_in_place(cls: Any, x: float) -> Any:
    made = some(cls, x)
    made.insert(1, cls(0.5 * x))
    made.sort()
    return made[0].a


def sorted_pairs(cls: Any, x: float) -> Any:
    made: list[Any] = []
    for number, each in enumerate(some(cls, x)):
        made.insert(0, (number // 2, each))
    made.sort()
    return made[0][1].a


def sorted_by_themselves(cls: Any, x: float) -> Any:
    made = some(cls, x)
    made.reverse()
    made.sort(key=lambda each: each)
    return made[0].a


def taken_out(cls: Any, x: float) -> Any:
    made = [cls(x), cls(x), cls(2 * x)]
    made.insert(0, cls(3 * x))
    second = made[2]
    made.remove(second)
    second.a = 7 * x
    return made[1].a + made[2].a * x


def taken_out_of_pairs(cls: Any, x: float) -> Any:
    made = [(1, cls(x)), (1, cls(x)), (2, cls(2 * x))]
    second = made[1]
    made.remove(second)
    second[1].a = 7 * x
    return made[0][1].a + made[1][1].a * x


def asked(cls: Any, x: float) -> Any:
    made = some(cls, x)
    made.insert(0, made.pop())
    ring: Any = collections.deque(some(cls, x))
    ring.rotate(1)
    return made[0].a * (1 + made.count(cls(x)) + (cls(x) in made) + (ring[0] in ring))


def smallest_of(cls: Any, x: float) -> Any:
    made = some(cls, x)
    made.insert(0, made.pop())
    return heapq.nsmallest(1, made)[0].a


OF_LISTS = (
    from_heap_of_ties, in_order, sorted_in_place, sorted_pairs, sorted_by_themselves, taken_out, taken_out_of_pairs, asked,
    smallest_of,
)  # fmt: skip
PROGRAMS: list[Callable[[float], Any]] = [
    lambda x: sorted(some(Ordered, x))[0].a * x,
    lambda x: sorted(some(Plain, x))[0].a,
    lambda x: sorted(some(Ordered, x), key=None)[0].a,
    lambda x: sorted(some(Ordered, x), reverse=True)[0].a,
    lambda x: sorted([(p, 1) for p in some(Ordered, x)])[0][0].a,
    lambda x: sorted([(p.a > 2 * x, p) for p in some(Ordered, x)])[0][1].a,
    lambda x: sorted(in_dict(Ordered, x).values())[0].a,
    lambda x: sorted(in_dict(Ordered, x).items())[0][1].a,
    lambda x: sorted(collections.deque(some(Ordered, x)))[0].a,
    lambda x: sorted(tuple(some(Ordered, x)))[0].a,
    lambda x: next(reversed(sorted(some(Ordered, x)))).a,
    lambda x: min(some(Ordered, x)).a + max(some(Ordered, x)).a,
    lambda x: min(some(Plain, x)).a,
    lambda x: max(in_dict(Ordered, x).values()).a,
    lambda x: functools.reduce(lambda a, b: a if a < b else b, some(Ordered, x)).a,
    lambda x: list(itertools.accumulate(some(Ordered, x), max))[-1].a,
    lambda x: x * some(Ordered, x).index(Ordered(x)),
    lambda x: x * some(Ordered, x).count(Ordered(x)),
    lambda x: x * (Ordered(x) in some(Ordered, x)),
    lambda x: x * (some(Ordered, x) == some(Ordered, x)),
    lambda x: x * sum(p == q for p in some(Ordered, x) for q in some(Ordered, x)),
    lambda x: x * len(set(some(Plain, x))),
    lambda x: x * isinstance(some(Plain, x)[0], int) + x * x * isinstance(some(Plain, x)[0], Plain),
    lambda x: x * (1 if some(Plain, x)[0] else 0),
    lambda x: x * sum(map(bool, some(Plain, x))),
    lambda x: x * (some(Plain, x)[0] + 1),
    lambda x: x * [1.0, 2.0, 3.0][some(Plain, x)[1]],
    from_heap,
    from_heap_of_one_twice,
    from_heap_by_counter,
    *(functools.partial(each, cls) for cls in (Ordered, Plain) for each in OF_LISTS),
]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_the_objects_are_compared(number: int) -> None:
    function = PROGRAMS[number]
    try:
        expected = (function(1.3 + 1e-6) - function(1.3 - 1e-6)) / 2e-6
    except TypeError:
        with pytest.raises(TypeError):
            grad(function)(1.3)
        return
    assert grad(function)(1.3) == pytest.approx(expected, rel=1e-5, abs=1e-5)
