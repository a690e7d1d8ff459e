"""Simulations with vectors of a class of one's own: bodies in lists and dicts whose fields get another vector in each step."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

from tests.programs.mutation.table import program

M, V, N = 1.4, 0.7, 3


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    def __or__(self, other):
        return self.x * other.x + self.y * other.y

    def __iter__(self):
        return iter((self.x, self.y))

    @property
    def square(self):
        return self.x**2 + self.y**2

    def norm(self):
        return self.square**0.5


class Body:
    __slots__ = ("m", "p", "v")

    def __init__(self, m, p, v):
        self.m, self.p, self.v = m, p, v

    def kick(self, force, dt):
        self.v = self.v + force * (dt / self.m)
        self.p = self.p + self.v * dt


class Probe(Body):
    def kick(self, force, dt):
        super().kick(force * 0.9, dt)


def force(b, c):
    d = c.p - b.p
    return d * (b.m * c.m / (d.norm() + 0.5) ** 3)


def bodies_of(m, v):
    sun, earth = Body(m, Vector(0.0, 0.1), Vector(0.0, 0.0)), Body(1.0, Vector(1.0, 0.0), Vector(0.0, v))
    return [sun, earth, Probe(0.5, Vector(0.0, 2.0), Vector(-v, 0.1))]


@program([1.0, 2.0, 0.5], V, N, features="bodies made in a loop, itertools.combinations")
def pairs_of_bodies(ms, v, n):
    bodies = []
    for i, m in enumerate(ms):
        bodies.append(Body(m, Vector(float(i), 0.3 * i * i), Vector(0.0, v * i)))
    for _ in range(n):
        for b, c in itertools.combinations(bodies, 2):
            f = force(b, c)
            b.v = b.v + f * (0.1 / b.m)
            c.v = c.v - f * (0.1 / c.m)
        for b in bodies:
            b.p = b.p + b.v * 0.1
    return sum(b.p.norm() for b in bodies)


@program(M, V, N, features="sum of vectors that begins with one, bodies of two classes")
def forces_summed(m, v, n):
    bodies = bodies_of(m, v)
    for _ in range(n):
        forces = [sum((force(b, c) for c in bodies if c is not b), Vector(0.0, 0.0)) for b in bodies]
        for b, f in zip(bodies, forces):
            b.kick(f, 0.1)
    return sum(b.m * b.v.square for b in bodies) + sum([b.p for b in bodies], start=Vector(1.0, 0.0)).norm()


@program(M, V, N, features="bodies in a dict, vector taken apart")
def bodies_by_name(m, v, n):
    sun, earth = [Body(m, Vector(0.0, 0.1), Vector(0.0, 0.0)), Body(1.0, Vector(1.0, 0.0), Vector(0.0, v))]
    bodies = {"sun": sun, "earth": earth, "moon": Body(0.2, Vector(1.0, 0.2), Vector(v, 0.0))}
    for _ in range(n):
        for b in bodies.values():
            for c in bodies.values():
                if b is not c:
                    b.kick(force(b, c), 0.1)
    x, y = bodies["moon"].p
    return x * y + sun.p.norm() + (bodies["earth"].v | bodies["sun"].v)


@program(M, V, N, features="other bodies collected, position kept in a path")
def path_of_a_body(m, v, n):
    bodies, path = bodies_of(m, v), []
    for _ in range(n):
        for b in bodies:
            others = [c for c in bodies if c is not b]
            total = Vector(0.0, 0.0)
            for c in others:
                total += force(b, c)
            b.kick(total, 0.1)
        path.append(bodies[1].p)
    return sum(p.norm() * k for k, p in enumerate(path))


@program(M, V, N, features="two bodies with one vector, which is written into")
def one_vector_for_two_bodies(m, v, n):
    start = Vector(0.2, v)
    a, b = Body(m, start, Vector(v, 0.0)), Body(1.0, start, Vector(0.0, v))
    bodies = [a, b]
    for _ in range(n):
        for body in bodies:
            body.p.x = body.p.x + body.v.x * 0.1
            body.p.y *= 1.1
        a.v = a.v + b.p * 0.1
    b.p = b.p + a.v
    return a.p.norm() + b.p.norm() * start.x


@program(M, V, N, features="vectors told apart by identity")
def vectors_that_are_one(m, v, n):
    bodies = bodies_of(m, v)
    bodies[0].p = bodies[1].p
    total = 0.0
    for k in range(n):
        for b in bodies:
            for c in bodies:
                if b.p is c.p and b is not c:
                    total += b.p.norm()
            if k == 1:
                b.p = b.p + b.v
    return total * bodies[0].m + bodies[0].p.norm()


@program(M, V, N, features="try, step that raises half way")
def step_that_fails(m, v, n):
    bodies = bodies_of(m, v)
    for k in range(n):
        try:
            for b in bodies:
                b.p = b.p + b.v * 0.1
                if k == 1 and b is bodies[1]:
                    raise ValueError("half way")
                b.v = b.v * 0.9
        except ValueError:
            bodies[0].v = bodies[0].v + Vector(m, 0.0)
    return sum(b.p.norm() + b.v.square for b in bodies)


class Pair(NamedTuple):
    x: float
    y: float

    def __add__(self, other):
        return Pair(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Pair(self.x - other.x, self.y - other.y)

    def __mul__(self, k):
        return Pair(self.x * k, self.y * k)

    def norm(self):
        return math.hypot(self.x, self.y)


@dataclass
class Mass:
    m: float
    p: Pair
    v: Pair = Pair(0.0, 0.1)


@program(M, V, N, features="namedtuples with operators, in fields of bodies in a list")
def pairs_as_vectors(m, v, n):
    sun, earth = Mass(m, Pair(0.0, 0.0), Pair(0.1, 0.0)), Mass(1.0, Pair(1.0, 0.0), Pair(0.0, v))
    bodies = [sun, earth, Mass(0.5, Pair(0.0, 2.0), Pair(-v, 0.1))]
    for _ in range(n):
        for b in bodies:
            for c in bodies:
                if b is not c:
                    d = c.p - b.p
                    b.v = b.v + d * (c.m / (d.norm() + 0.5) ** 3 * 0.1)
        for b in bodies:
            b.p = b.p + b.v * 0.1
    x, y = bodies[0].p
    return x * y + sum(b.p.norm() + b.v[1] for b in bodies)


@program(M, V, N, features="namedtuples with operators in a list")
def pairs_in_a_list(m, v, n):
    pos, vel, ms = [Pair(0.0, 0.0), Pair(1.0, 0.0)], [Pair(0.0, 0.0), Pair(0.0, v)], [m, 1.0]
    for _ in range(n):
        for i in range(2):
            a = Pair(0.0, 0.0)
            for j in range(2):
                if i != j:
                    r = pos[j] - pos[i]
                    a = a + r * (ms[j] / (r.norm() + 0.5) ** 3)
            vel[i] = vel[i] + a * 0.1
        pos = [p + u * 0.1 for p, u in zip(pos, vel)]
    return pos[1].norm() + (pos[0] == pos[1]) + len(pos[0]) + max(pos[0])


@program(M, V, N, features="namedtuples that are compared, replaced and given away, in fields")
def pairs_given_away(m, v, n):
    bodies = [Mass(m, Pair(v, 0.0)), Mass(1.0, Pair(1.0, m))]
    for _ in range(n):
        for b in bodies:
            b.p = b.p._replace(x=b.p.x * v) + b.v
    seen = [tuple(b.p) for b in bodies]
    return seen[0][0] * seen[1][1] + (v if bodies[0].p < bodies[1].p else m) + sum(bodies[1].p)


@dataclass(frozen=True)
class Frozen:
    x: float
    y: float

    def __add__(self, other):
        return Frozen(self.x + other.x, self.y + other.y)


@dataclass
class Point:
    p: Frozen
    v: Frozen = Frozen(0.0, 0.1)


@program(M, V, N, features="frozen dataclass as a default")
def points_with_a_default(m, v, n):
    points, total = [Point(Frozen(m, 0.0)), Point(Frozen(1.0, v), Frozen(v, m)), Point(Frozen(v, m))], 0.0
    for _ in range(n):
        for each in points:
            each.p = each.p + each.v
            each.v = each.v + Frozen(v, 0.0)
    for each in points:
        total = total * 1.1 + each.p.x * each.p.y * (3.0 if not each else 1.0) * (1.0 if bool(each.p) else 2.0)
    return total


@program(M, V, features="one frozen dataclass as the default of two, told apart by identity")
def one_default_for_two(m, v):
    points = [Point(Frozen(m, 0.0)), Point(Frozen(1.0, v)), Point(Frozen(v, m), Frozen(0.0, 0.1))]
    total = 0.0
    for k, a in enumerate(points):
        for b in points:
            if a.v is b.v:
                total += a.p.x * b.p.y * (k + 1)
    return total
