"""Programs with `match`, one for each kind of pattern."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from tests.programs.table import program


@dataclass
class Circle:
    radius: float
    name: str = "circle"


@dataclass
class Box:
    width: float
    height: float
    inner: Any = field(default=None)


class Plain:
    """No `__match_args__`."""

    def __init__(self, weight):
        self.weight = weight


class Limits:
    LOW = 1
    HIGH = 2


@program(1, 2.0, features="match, value pattern")
@program(2, 2.0, features="match")
@program(-3, 2.0, features="match")
@program(7, 2.0, features="match")
def values(n, x):
    match n:
        case 0 | Limits.LOW:
            return x * x
        case Limits.HIGH:
            y = x * 3.0
        case -3:
            y = math.sin(x)
        case _:
            y = x**3
    return y * x


@program(None, 2.0, features="match, singleton pattern")
@program(True, 2.0, features="match")
@program(1, 2.0, features="match")
def singletons(flag, x):
    match flag:
        case None:
            return x * x
        case True:
            return x * 2.0
        case False:
            return x
    return x**3


@program([2.0, 3.0], features="match, sequence pattern")
@program((2.0,), features="match")
@program((2.0, 3.0, 4.0, 5.0), features="match")
@program([], features="match")
def sequences(xs):
    match xs:
        case []:
            return 1.0
        case (x,):
            y = x * x
        case [x, z]:
            y = x * z * z
        case [x, *_, z]:
            y = x * z
    return y * x


@program([2.0, [3.0, 4.0], 5.0], features="match, sequence pattern")
@program([2.0, 3.0, 4.0, 5.0], features="match")
@program([2.0, 3.0, -4.0], features="match")
def nested_sequences_and_stars(xs):
    total = 1.0
    match xs:
        case [a, [b, c], d]:
            total = a * b * c * d
        case [a, *rest, b] if b > 0.0:
            total = a * b * sum([r * r for r in rest]) * len(rest)
        case [_, _, c] as whole:
            total = c * whole[0]
    return total * xs[0]


@program({"kind": "square", "side": 2.0}, features="match, mapping pattern")
@program({"kind": "ring", "outer": 3.0, "inner": 2.0}, features="match")
@program({"weight": 3.0, "a": 2.0, "b": 4.0}, features="match")
@program({"a": 2.0}, features="match")
def mappings(shape):
    match shape:
        case {"kind": "square", "side": side}:
            return side * side
        case {"kind": "ring", "outer": outer, "inner": inner}:
            area = outer**2 - inner**2
        case {"weight": w, **others}:
            area = w * sum([v * v for v in others.values()])
        case {**every}:
            area = every["a"] ** 3
    return area * 2.0


@program(Circle(2.0), features="match, class pattern")
@program(Box(2.0, 3.0), features="match")
@program(Box(2.0, 3.0, Circle(0.5)), features="match")
@program(Plain(2.0), features="match")
def classes(shape):
    match shape:
        case Circle(r, name="circle"):
            return r * r * math.pi
        case Box(w, h, None):
            return w * h
        case Box(width=w, inner=Circle(radius=r) as circle):
            return w * circle.radius * r
        case Plain(missing=_):
            return 0.0
        case Plain(weight=w):
            return w**3


@program(2.0, features="match, class pattern")
@program(3, features="match")
@program("abc", features="match")
@program(np.float64(2.0), features="match")
@program(np.array([1.0, 2.0]), features="match")
def builtin_classes(x):
    match x:
        case int(n) | np.ndarray(shape=(n,)):
            return 2.0 * n * np.sum(x)
        case float(y) if y > 1.0:
            return y * y
        case str() as text:
            return float(len(text))
    return x * 3.0


@program([1.0, 2.0], features="match, or pattern")
@program({"x": 3.0, "y": 2.0}, features="match")
@program((3.0, 2.0, 0), features="match")
@program((3.0, 2.0, 1), features="match")
def alternatives(point):
    match point:
        case [x, y] | {"x": x, "y": y} | (y, x, 0):
            return x * x * y
        case _:
            return point[0]


@program(2.0, 3.0, features="match, guard")
@program(3.0, 2.0, features="match")
@program(3.0, 2.9, features="match")
def guards(x, y):
    match x, y:
        case a, b if a < b:
            z = a * b
        case a, b if a > b + 0.5:
            z = a - b * b
        case same, _:
            z = same**3
    return z * a


@program([("push", 2.0), ("scale", 3.0), ("stop",), ("push", 9.0)], features="match, loop")
def commands_in_a_loop(commands):
    total = 1.0
    for command in commands:
        match command:
            case ("push", x):
                total = total + x
            case ("scale", x):
                total = total * x
                continue
            case ("stop",):
                break
        total = total * total
    return total


@program(2.0, features="match")
def what_is_no_sequence_or_mapping(x):
    total = x
    for subject in ("ab", b"ab", {1, 2}, range(2), deque([1, 2]), np.array([1, 2]), MappingProxyType({"a": 1}), iter([1])):
        match subject:
            case [_, _]:
                total = total * x
            case {"a": n}:
                total = total + x * n
            case {}:
                total = total - 1.0
            case object():
                total = total + 0.5 * x
    return total


@program(2.0, features="match")
def names_are_bound_before_the_guard(x):
    seen = []
    match [x, x * x]:
        case [a, b] if print("guard") or a > b:
            seen = [b]
        case [c, 3.0]:
            seen = [c]
        case other:
            seen = [a, other[1]]
    return seen[0] * seen[1] * b
