"""Programs that make objects of differentiated values, and differentiate with respect to objects of every shape."""

from __future__ import annotations

import dataclasses
import enum
import math
import types
from collections import namedtuple
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tests.programs.objects import POINT, Affine, Point, Segment, Slotted
from tests.programs.table import program

Pair = namedtuple("Pair", "first second", defaults=[3.0])


class State(NamedTuple):
    position: float
    velocity: float = 0.5
    label: str = "state"

    @property
    def energy(self):
        return self.position**2 + self.velocity**2

    def moved(self, dt):
        return State(self.position + dt * self.velocity, self.velocity - dt * self.position)


class Marked(State):
    """A named tuple of which another class inherits."""

    __slots__ = ()


@dataclass(frozen=True)
class Normal:
    mean: float
    deviation: float = 1.0
    names: list = field(default_factory=list)
    count: int = field(default=0, init=False)
    kinds: ClassVar[int] = 2

    @property
    def variance(self):
        return self.deviation**2


@dataclass(frozen=True, slots=True)
class Scaled(Normal):
    _: KW_ONLY
    scale: float = 2.0


@dataclass(order=True)
class Box:
    content: Any
    other: Any = None


class Labelled(Point):
    """Inherits the constructor of a dataclass."""

    label = 2.0


class Mode(enum.Enum):
    FAST = 1.5
    SLOW = 0.5

    def scale(self, x):
        return x * self.value


class Problem(ValueError):
    """An exception of the user's."""


@program(0.7, 0.3, features="namedtuple made inside")
def makes_named_tuples(x, y):
    p, q = Pair(x), Pair(second=x * y, first=y)
    a, b = q
    r = Pair(*[x, y])
    total = p.first * p.second + q.second * q[0] + a / b + r.second + sum(Pair(y, x))
    return total * p._replace(first=y * y).first * Pair._make([x, y]).second


@program(0.7, 3, features="typing.NamedTuple in the state of a loop, property of a named tuple")
def moves_a_state(x, n):
    s = State(x, label="start")
    for _ in range(n):
        s = s.moved(0.1)
    m = Marked(x, x * x)
    return s.energy * s.position + m.velocity * len(s.label) + m.energy


@program(0.7, 0.3, features="dataclass made inside")
def makes_dataclasses(x, y):
    n, m = Normal(x, y), Normal(mean=y)
    s = Scaled(x * y, scale=y)
    t = Scaled(x, y, ["a"], scale=x * x)
    plain = n.mean * n.variance + m.mean * m.deviation + n.count
    changed = dataclasses.replace(n, mean=y * y)
    plain = plain + changed.mean * changed.deviation
    return plain + s.mean * s.scale + t.scale * t.variance * len(t.names) + s.deviation * x


@program(0.7, features="objects made inside, nested and shared")
def makes_nested_objects(x):
    p = Point(x, x * x)
    s = Segment(p, Point(p.y, 2.0), label="a")
    b = Box([p, s], {"p": p})
    pair = Box(p, p)
    return b.content[0].x * b.content[1].end.x + b.other["p"].norm() * pair.content.y + pair.other.x * len(s.label)


@program(0.7, 4, features="objects made in a loop")
def makes_objects_in_a_loop(x, n):
    points = [Point(x * k, x + k) for k in range(n)]
    total = Labelled(x, 1.0)
    for p in points:
        total = Labelled(total.x + p.x * p.norm(), total.y * p.y)
    return total.x * total.label + math.log(total.y)


@program(0.7, features="constructor as a value")
def constructors_as_values(x):
    points = list(map(Point, [x, 2.0], [x * x, x]))
    made = {"p": Point, "n": Normal}
    return points[0].dot(points[1]) * made["n"](x, x).variance + made["p"](*[x, 1.0]).norm()


@program(0.7, features="SimpleNamespace")
def makes_a_namespace(x):
    s = types.SimpleNamespace(a=x, b=[x * x, 2.0])
    return s.a * s.b[0] + s.b[1] * s.a


@program(0.7, "FAST", features="enum members")
@program(0.7, "SLOW", features="enum members")
def enum_members(x, name):
    mode = Mode[name]
    scale = Mode.FAST.value if mode is Mode.SLOW else mode.value
    return mode.scale(x) * scale + x * Mode(0.5).value * len(mode.name)


@program(0.7, features="exception made and not raised")
def makes_an_exception(x):
    error = Problem(x, x * x)
    if x > 5.0:
        raise Problem(f"{x} is too large", x)
    return error.args[0] * error.args[1] * x


SHARED = Point(0.6, 1.7)


@program(Segment(SHARED, SHARED), features="one object reached on two paths")
def reads_a_shared_object(s):
    return s.start.x * s.end.y + s.end.norm()


@program(Box(Slotted(np.array([1.0 - 2.0j, 2.0]), 3), (np.float64(0.5), 1 + 2j)), features="fields of every dtype")
def reads_fields_of_many_types(b):
    return np.sum(b.content.a).real * b.content.b + (b.other[1] * b.other[1].conjugate()).real + float(b.other[0]) ** 2


@program([POINT, Affine(0.6, 1.7)], {"p": Box(POINT, Affine(0.2, 0.3))}, features="objects in lists and dicts")
def reads_objects_in_containers(many, named):
    box = named["p"]
    return many[0].norm() * many[1](box.content.x) + box.other(many[0].y)
