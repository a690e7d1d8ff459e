"""Idioms that cost more than they might, with what to write instead: rows of the table in docs/performance.md."""

# ruff: noqa: B905

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from functools import cached_property

import pytest

from microgradpy.testing import check_gradient


def ones(x):
    while True:
        yield x
        x = x * 0.5


def multiples(x, n):
    for k in range(n):
        yield x * k


def by_turns(x):
    return sum(a * b for a, b in zip(ones(x), multiples(x, 3)))


def one_as_a_list(x):
    return sum(a * b for a, b in zip([x, x * 0.5, x * 0.25], list(multiples(x, 3))))


def totals(xs):
    total = 0.0
    for x in xs:
        total += x
        yield total
    return total


def with_last(xs):
    last = yield from totals(xs)
    yield last


def asks_returned(x):
    return sum(v * x for v in with_last([x, 2.0]))


def totals_and_last(xs):
    total = 0.0
    for x in xs:
        total += x
        yield total
    yield total


def yields_it(x):
    return sum(v * x for v in totals_and_last([x, 2.0]))


class Options:
    def __init__(self, **options):
        self.__dict__.update(options)


def by_dict(x):
    o = Options(a=x, b=2.0)
    return o.a * o.b


class Named:
    def __init__(self, a, b):
        self.a, self.b = a, b


def by_fields(x):
    o = Named(a=x, b=2.0)
    return o.a * o.b


class Tree:
    def __init__(self, v, kids=None):
        self.v, self.kids = v, kids

    def add(self, t):
        if self.kids is None:
            self.kids = []
        self.kids.append(t)

    def total(self):
        return self.v + (sum(k.total() for k in self.kids) if self.kids is not None else 0.0)


class FullTree:
    def __init__(self, v):
        self.v, self.kids = v, []

    def add(self, t):
        self.kids.append(t)

    def total(self):
        return self.v + sum(k.total() for k in self.kids)


def none_or_list(x):
    t = Tree(x)
    t.add(Tree(x * x))
    return t.total()


def always_list(x):
    t = FullTree(x)
    t.add(FullTree(x * x))
    return t.total()


class Cached:
    def __init__(self, t):
        self.t = t

    @cached_property
    def p(self):
        return self.t * self.t


class Plain:
    def __init__(self, t):
        self.t = t

    @property
    def p(self):
        return self.t * self.t


def cached(x):
    s, total = Cached(x), 0.0
    for _ in range(3):
        other = Cached(s.t * 1.1)
        total += s.p * other.p
        s = other
    return total


def by_property(x):
    s, total = Plain(x), 0.0
    for _ in range(3):
        other = Plain(s.t * 1.1)
        total += s.p * other.p
        s = other
    return total


def composed(x):
    f = functools.reduce(lambda f, g: lambda v: g(f(v)), [math.sin, math.tanh, math.exp])
    return f(x)


def in_a_loop(x):
    for f in [math.sin, math.tanh, math.exp]:
        x = f(x)
    return x


class Vec:
    def __init__(self, *c):
        self.c = c

    def __add__(self, o):
        return Vec(*(a + b for a, b in zip(self.c, o.c)))


class Vec2:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, o):
        return Vec2(self.x + o.x, self.y + o.y)


def any_length(x):
    v = Vec(x, 1.0)
    for _ in range(3):
        v = v + Vec(x, x)
    return v.c[0] * v.c[1]


def two(x):
    v = Vec2(x, 1.0)
    for _ in range(3):
        v = v + Vec2(x, x)
    return v.x * v.y


PAIRS = [
    (by_turns, one_as_a_list),
    (asks_returned, yields_it),
    (by_dict, by_fields),
    (none_or_list, always_list),
    (cached, by_property),
    (composed, in_a_loop),
    (any_length, two),
]


@pytest.mark.parametrize(("slow", "fast"), PAIRS, ids=lambda function: function.__name__)
def test_what_to_write_instead_costs_no_more_than_it_might(
    slow: Callable[[float], float], fast: Callable[[float], float]
) -> None:
    assert "What costs more" in str(check_gradient(slow, 0.7))
    assert "What costs more" not in str(check_gradient(fast, 0.7))
    assert slow(0.7) == pytest.approx(fast(0.7))
