"""Programs in which the user's classes answer: operators, items, iteration, calls, properties and other descriptors."""

from __future__ import annotations

import functools
import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.programs.objects import Affine, Point
from tests.programs.table import program


@dataclass(eq=False)
class Vec:
    """A vector of two numbers, with operators of all kinds, some of which print."""

    x: float
    y: float

    def __add__(self, other):
        if not isinstance(other, Vec):
            return NotImplemented
        return Vec(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vec(self.x - other.x, self.y - other.y)

    def __mul__(self, factor):
        if isinstance(factor, Vec):
            return self.x * factor.x + self.y * factor.y
        print("__mul__")
        return Vec(self.x * factor, self.y * factor)

    def __rmul__(self, factor):
        print("__rmul__")
        return Vec(factor * self.x, 3.0 * factor * self.y)

    def __truediv__(self, factor):
        return Vec(self.x / factor, self.y / factor)

    def __pow__(self, power):
        return Vec(self.x**power, self.y**power)

    def __mod__(self, other):
        return self.x % other

    def __floordiv__(self, other):
        return self.y * other

    def __divmod__(self, other):
        return self.x * other, self.y / other

    def __matmul__(self, other):
        return self.x * other.y - self.y * other.x

    def __and__(self, other):
        return self.x * other.x

    def __or__(self, other):
        return self.x + other.y

    def __xor__(self, other):
        return self.y - other.y

    def __lshift__(self, other):
        return self.x * other

    def __rshift__(self, other):
        return self.x / other

    def __neg__(self):
        return Vec(-self.x, -self.y)

    def __pos__(self):
        return self

    def __invert__(self):
        return Vec(self.y, self.x)

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def __float__(self):
        return self.x * self.y

    def __round__(self, digits=None):
        return self.x * self.x

    def __bool__(self):
        print("__bool__")
        return self.x > 0.0

    def __len__(self):
        return 2

    def __lt__(self, other):
        print("__lt__")
        return self.x < other.x

    def __contains__(self, value):
        return value in (self.x, self.y)

    def __getitem__(self, index):
        if index not in (0, 1, "x", "y"):
            raise IndexError(index)
        print("item", index)
        return self.x if index in (0, "x") else self.y * self.y

    def __call__(self, t):
        return self.x * t + self.y


class Tree:
    def __init__(self, *leaves):
        self.leaves = list(leaves)

    def __iter__(self):
        return iter(self.leaves)


class Soft:
    """Comparisons that are differentiable."""

    def __init__(self, a):
        self.a = a

    def __lt__(self, other):
        return 1.0 / (1.0 + math.exp(self.a - other.a))

    def __ge__(self, other):
        return self.a * other.a

    def __eq__(self, other):
        return math.exp(-((self.a - other.a) ** 2))

    __hash__ = None  # type: ignore[assignment]


class Left:
    def __init__(self, a):
        self.a = a

    def __add__(self, other):
        print("Left.__add__")
        return self.a + 2.0 * other.a

    def __radd__(self, other):
        print("Left.__radd__")
        return self.a * other


class Sub(Left):
    def __radd__(self, other):
        print("Sub.__radd__")
        return NotImplemented if self.a > 10.0 else self.a * 5.0 - other.a


class SameSub(Left):
    """Inherits both methods, so the left operand is asked first."""


class Declines:
    def __init__(self, a):
        self.a = a

    def __add__(self, other):
        print("Declines.__add__")
        return NotImplemented


class Measured(float):
    """A number that adds up in its own way."""

    def __add__(self, other):
        return float(self) * 2.0 + other

    def __radd__(self, other):
        return float(self) * 3.0 + other


class NumpyAware:
    __array_ufunc__ = None

    def __init__(self, a):
        self.a = a

    def __rmul__(self, array):
        return array * self.a + self.a

    def __radd__(self, array):
        return array - self.a


class Grown:
    """In-place operators that make a new value."""

    def __init__(self, a):
        self.a = a

    def __iadd__(self, other):
        return self.a * other

    def __mul__(self, other):
        return self.a * other * 2.0


V, W = Vec(0.6, 1.7), Vec(2.0, -0.5)


@program(V, W, features="operators of a class")
def arithmetic_of_a_class(v, w):
    total = (v + w) * 2.0 - 3.0 * v / 4.0
    return total.x * total.y + (v @ w) * (v * w) + abs(-v) * float(~w)


@program(V, W, features="operators of a class")
def rare_operators_of_a_class(v, w):
    q, r = divmod(v, 2.0)
    bits = (v & w) + (v | w) * (v ^ w) + (v << 2.0) * (w >> 3.0)
    return v % 3.0 + w // 2.0 * q + r + bits + (v**2).x + pow(w, 3).y + round(v) + (+v).x


@program(V, W, features="functions of the module operator on objects")
def operators_as_functions(v, w):
    f = operator.add
    g = functools.reduce(f, [v, w, v])
    return g.x * operator.mul(v, w) + operator.getitem(v, "y") + operator.neg(w).x


@program(V, features="items of a class, truth and order of a class")
def items_and_truth_of_a_class(v):
    if v and v < Vec(3.0, v.y) and v.x in v:
        return v["y"] * v[0] * len(v)
    return v.x


@program(V, features="calls an object, operators on what it returns")
def calls_an_object_with_operators(v):
    return v(2.0) * v(v.x) + (v * 2.0)(v.y)


@program(V, 3, features="objects with operators in the state of a loop")
def objects_with_operators_in_a_loop(v, n):
    total = v
    for k in range(n):
        total = total * 0.5 + v * float(k)
        total += v
    return total.x * total.y


@program([V, W], {"a": V}, (W, 2.0), features="objects with operators in containers")
def objects_with_operators_in_containers(many, named, pair):
    first, factor = pair
    total = many[0] + named["a"]
    for v in many:
        total = total + v * factor
    return (sum(many, first) + total).x * sum([u * 2.0 for u in many], Vec(0.0, 0.0)).y


@program(Point(V, W), features="objects with operators in fields")
def objects_with_operators_in_fields(p):
    return (p.x + p.y * 2.0).x * (p.x @ p.y)


@program(V, features="iteration by __getitem__")
def iterates_by_item(v):
    total = 0.0
    for k, a in enumerate(v):
        print("body", k)
        total = total + a * (k + 1)
        if total > 100.0:
            break
    a, b = v
    return total * a + b + sum(v) * max(v) + list(v)[1] * tuple(v)[0]


@program(Tree(0.5, 1.5, 2.5), features="iteration by __iter__")
def iterates_by_iter(tree):
    total = 0.0
    for a in tree:
        total = total + a * a
    first, *rest = tree
    return total * first + sum(tree) * rest[0] + sum([a * b for a, b in zip(tree, rest)]) + sorted(tree)[1]


@program(Soft(0.3), Soft(0.8), features="comparisons that are differentiable")
def differentiable_comparisons(a, b):
    return (a < b) * 2.0 + (a >= b) * (a == b) + (b > a)


@program(Left(0.3), Sub(0.8), Sub(11.0), features="reflected methods, subclass first")
def subclass_is_asked_first(a, b, c):
    return (a + b) * 2.0 + (a + c) + (b + a) + (2.5 + a) * (b.a + a)


@program(Left(0.3), SameSub(0.8), Declines(0.4), features="reflected methods, NotImplemented")
def left_operand_is_asked_first(a, b, c):
    return (a + b) * 2.0 + (a + a) + (c.a + a) + (a + c)


@program(Point(Measured(0.5), 2.0), features="a number with operators of its own")
def number_with_its_own_operators(p):
    m, x = p.x, p.y
    return (m + x) * (x + m) + (m * x) + (x - m)


@program(np.array([0.5, 1.5]), NumpyAware(2.0), np.float64(0.7), features="an array on the left of an object")
def array_on_the_left(x, n, s):
    return np.sum(x * n) + np.sum(x + n) + (s * n)


@program(np.float64(0.7), Left(0.3), features="a NumPy number on the left of an object")
def numpy_number_on_the_left(s, a):
    return (s + a) * s


@program(Grown(0.7), 2.0, features="in-place operators that make a new value")
def in_place_operators_of_a_class(g, x):
    h = g
    g += x
    h *= x
    return g * h * x


class Cell:
    """Fields behind properties and other descriptors."""

    unit = 3.0

    def __init__(self, a, b):
        self.a = a
        self._b = b

    @property
    def b(self):
        print("reads b")
        return self._b * self.unit

    @property
    def product(self):
        return self.a * self.b

    def scaled(self, t):
        return self.product * t


class Warmer(Cell):
    @property
    def product(self):
        return super().product + self.a

    def scaled(self, t):
        return super().scaled(t) * 2.0 + super(Warmer, self).scaled(self.a)


class Twice:
    """A descriptor."""

    def __init__(self, name):
        self.name = name

    def __get__(self, instance, owner):
        return self if instance is None else 2.0 * getattr(instance, self.name)


class Checked(Twice):
    """A data descriptor, which goes before a field of the same name."""

    def __set__(self, instance, value):
        vars(instance)["checked"] = value


class Described:
    twice = Twice("a")
    checked = Checked("a")

    def __init__(self, a):
        self.a = a
        vars(self)["twice"] = 7.0
        vars(self)["checked"] = 5.0


class Virtual:
    def __init__(self, a):
        self.a = a

    def __getattr__(self, name: str) -> Any:
        if name.startswith("a_times_"):
            return self.a * float(name.removeprefix("a_times_"))
        raise AttributeError(name)


class Watched:
    def __init__(self, a):
        self.a = a

    def __getattribute__(self, name: str) -> Any:
        if name == "double":
            return 2.0 * object.__getattribute__(self, "a")
        return object.__getattribute__(self, name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return super().__getattribute__("a") * 3.0


@program(Cell(0.6, 1.7), features="property")
def reads_properties(c):
    return c.product * c.b + c.scaled(c.a)


@program([Cell(0.6, 1.7), Warmer(2.0, -0.5)], features="property, super without arguments")
def reads_inherited_properties(cells):
    total = 0.0
    for c in cells:
        total = total + c.product * c.scaled(2.0)
    return total


@program({"cell": (Cell(0.6, 1.7), 2.0)}, features="property of an object in a container")
def reads_a_property_of_what_is_held(d):
    cell, factor = d["cell"]
    return cell.product * factor + getattr(cell, "b") + getattr(cell, "missing", cell.a)  # noqa: B009


@program(Described(0.6), features="descriptors")
def reads_descriptors(d):
    return d.twice * d.a + d.checked**2


@program(Virtual(0.6), features="__getattr__")
def reads_virtual_attributes(v):
    return v.a_times_3 * v.a + getattr(v, "b", v.a) * (1.0 if hasattr(v, "c") else 2.0)


@program(Watched(0.6), features="__getattribute__")
def reads_watched_attributes(w):
    return w.a * w.double + w.other


@program(Affine(0.6, 1.7), Point(0.3, 0.4), features="bound method as a value, callables in fields and containers")
def callables_in_fields(f, p):
    functions = {"f": f, "norm": p.norm, "dot": p.dot}
    return functions["f"](0.5) * functions["norm"]() + functions["dot"](Point(f.a, f.b))


class Above:
    def __init__(self, low):
        self.low = low

    def __contains__(self, value):
        return self.low <= value

    def __iter__(self):
        return iter([self.low])


class Leaves:
    def __init__(self):
        self.found = {}

    def __getitem__(self, key):
        return self.found[key]

    def __setitem__(self, key, value):
        self.found[key] = value

    def __contains__(self, key):
        return key in self.found


@program(1.3, 0.7, features="__contains__ beside __iter__ and __getitem__")
def membership_is_what_the_class_says(x, y):
    leaves = Leaves()
    leaves["a"] = x * y
    total = y if 5.0 in Above(x) else x
    total += x if "b" in leaves else y * y
    return total * (leaves["a"] if "a" in leaves else 0.0) + (3.0 if 0.1 not in Above(y) else y)


class Steps:
    def __init__(self, value):
        self.value = value

    def __floor__(self):
        return Steps(self.value * 3.0)

    def __ceil__(self):
        return self.value * 5.0

    def __trunc__(self):
        return [self.value]


@program(1.3, 0.7, features="__floor__, __ceil__, __trunc__")
def rounding_is_what_the_class_says(x, y):
    return math.floor(Steps(x)).value * math.ceil(Steps(y)) + math.trunc(Steps(x * y))[0] + math.floor(x)
