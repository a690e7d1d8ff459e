"""Namedtuples and tuples with objects in lists that are compared."""

from __future__ import annotations

from collections import namedtuple
from typing import NamedTuple

from tests.programs.mutation.table import program

P = namedtuple("P", "x y")


class V(NamedTuple):
    a: float
    b: float

    def __eq__(self, o):
        return abs(self[0] - o[0]) < 1

    __hash__ = None


class N:
    def __init__(self, v):
        self.v = v


class Eqs:
    def __init__(self, v):
        self.v = v

    def __eq__(self, o):
        return True

    __hash__ = object.__hash__


@program(0.7, 0.3, features="tuples compared, listed namedtuples compared")
def listed_namedtuples_compared(x, y):
    ps = [P(x * (i % 3), y) for i in range(6)]
    t = 0.0
    for i, p in enumerate(ps):
        for q in ps[i + 1 :]:
            if p == q:
                t += p.x * q.y
            if p != q:
                t += p.y
            if p < q:
                t += q.x * q.x
    return t


@program(0.7, 0.3, features="tuples compared, namedtuple compared with listed")
def namedtuple_compared_with_listed(x, y):
    ps = [P(x * (i % 3), y) for i in range(6)]
    z = P(x * 2, y)
    return sum(p.x * p.y for p in ps if p == z) + sum(p.x for p in ps if p == (0.0, y) or p == (x, y))


@program(0.7, 0.3, features="tuples compared, namedtuple with an eq")
def namedtuple_with_an_eq(x, y):
    ps = [V(x * i, y) for i in range(6)]
    t = 0.0
    for p in ps:
        if p == ps[1]:
            t += p.a * p.b
    return t


@program(0.7, 0.3, features="tuples compared, namedtuple in a list")
def namedtuple_in_a_list(x, y):
    ps = [P(x * i, y) for i in range(3)]
    more = [P(x * i, y) for i in (1, 7, 2, 0)]
    t = 0.0
    for p in more:
        if p in ps:
            t += p.x * p.y
    return t + ps.index(more[0]) * x


@program(0.7, 0.3, features="tuples compared, tuples of objects compared")
def tuples_of_objects_compared(x, y):
    ns = [N(x), N(y)]
    ps = [(ns[i % 2], i % 3) for i in range(8)]
    t = 0.0
    for i, p in enumerate(ps):
        for q in ps[:i]:
            if p == q:
                t += p[0].v * i
    return t


@program(0.7, 0.3, features="tuples compared, tuples of objects with an eq")
def tuples_of_objects_with_an_eq(x, y):
    ns = [Eqs(x), Eqs(y)]
    ps = [(ns[i % 2], i % 3) for i in range(8)]
    t = 0.0
    for i, p in enumerate(ps):
        for q in ps[:i]:
            if p == q:
                t += p[0].v * i
    return t


@program(0.7, 0.3, features="tuples compared, namedtuples with a nan")
def namedtuples_with_a_nan(x, y):
    bad = float("nan")
    ps = [P(bad, x), P(bad, y)]
    return (x if ps[0] == ps[0] else y) * 2 + (x if ps[0] == ps[1] else y * y)
