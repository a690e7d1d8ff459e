"""Class methods and static methods, by the names of classes and by objects; and functions that are given to others of the
module, which call them."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod

import numpy as np

from tests.programs.mutation.table import V3, K, program


class Vector:
    scale = 2.0

    def __init__(self, x, y):
        self.x = x
        self.y = y

    @classmethod
    def origin(cls):
        return cls(0.0, 0.0)

    @classmethod
    def polar(cls, r, angle):
        return cls(r * math.cos(angle), cls.scale * r * math.sin(angle))

    @staticmethod
    def dot(a, b):
        return a.x * b.x + a.y * b.y

    def __add__(self, other):
        return type(self)(self.x + other.x, self.y + other.y)

    def turned(self):
        return self.__class__.polar(self.x, self.y)

    def square(self):
        return self.dot(self, self)


class Stretched(Vector):
    scale = 3.0

    def __init__(self, x, y):
        super().__init__(1.5 * x, y)


class Solid(ABC):
    @abstractmethod
    def volume(self):
        """How large it is."""

    @staticmethod
    def half(value):
        return 0.5 * value

    def upper(self):
        return self.half(self.volume())


class Cube(Solid):
    def __init__(self, a):
        self.a = a

    def volume(self):
        return self.a**3


@program(K, features="class methods")
def constructors_by_class_methods(x):
    p = Vector.origin()
    for i in range(5):
        p = p + Vector.polar(x, 0.3 * i)
    return p.x * p.y + Vector.dot(p, p)


@program(K, features="class methods")
def class_methods_are_inherited(x):
    v = Stretched.polar(x, 2.0 * x).turned()
    return v.x * v.y + v.square() + Stretched.dot(v, v)


@program(K, features="class methods")
def object_has_its_own_function_under_the_name_of_a_static_method(x):
    v = Vector(x, 2.0)
    v.dot = lambda a, b: a.x * b.y * x
    return v.square()


@program(K, features="class methods, abstract classes")
def static_method_of_an_abstract_class(x):
    return Cube(x).upper() * Solid.half(x)


@program(K, features="class methods")
def class_method_as_a_value(x):
    make = Vector.polar
    makers = [Vector.polar, Stretched.polar]
    return make(x, x).y + makers[1](x, 2.0).x


@program(K, features="class methods, numbered objects")
def class_method_makes_items(x):
    vectors = [Vector.polar(x * i, x) for i in range(4)]
    vectors[1].x = vectors[2].y * x
    return sum(v.x * v.y for v in vectors)


@program(K, features="class methods")
def class_of_an_object_is_asked(x):
    v = Stretched(x, 1.0)
    found = x if type(v) is Vector else x * x
    return found * (v + Vector(x, x)).x * (2.0 if v.__class__ is Stretched else x)


def newton(function, derivative, x, steps=12):
    for _ in range(steps):
        x = x - function(x) / derivative(x)
    return x


def newton_until(function, derivative, x, tolerance=1e-9):
    for _ in range(50):
        step = function(x) / derivative(x)
        x = x - step
        if abs(step) < tolerance:
            return x
    return x


def cubic(t):
    return t**3 - 2.0 + 0.1 * t


def cubic_slope(t):
    return 3.0 * t**2 + 0.1


def adaptive(function, a, b, tolerance):
    m = 0.5 * (a + b)
    whole = (b - a) * function(m)
    parts = 0.5 * (b - a) * (function(0.5 * (a + m)) + function(0.5 * (m + b)))
    if abs(parts - whole) < tolerance:
        return parts
    return adaptive(function, a, m, 0.5 * tolerance) + adaptive(function, m, b, 0.5 * tolerance)


def activated(x, function=math.tanh, *, outer=abs):
    return outer(function(x))


def twice(function, x):
    return function(function(x)) + function(x)


@program(K, features="functions as arguments")
def functions_of_the_module_are_given(x):
    return newton(cubic, cubic_slope, x, 2) * twice(math.sin, x) + twice(np.tanh, x)


@program(K, features="functions as arguments, closures")
def lambdas_are_given_one_of_which_captures_nothing(x):
    return newton(lambda t: t**3 - x, lambda t: 3.0 * t * t, 1.0)


@program(K, features="functions as arguments, closures")
def given_functions_where_the_loop_is_left_early(x):
    return newton_until(cubic, cubic_slope, x) * x + newton_until(lambda t: t**3 - x, lambda t: 3.0 * t * t, 1.0)


@program(K, features="functions as arguments, recursion")
def function_is_handed_on_to_a_call_of_itself(x):
    return adaptive(cubic, 0.0, x, 1e-3) + adaptive(lambda t: math.exp(-t * x), 0.0, 1.0, 1e-3)


@program(K, features="functions as arguments")
def functions_are_defaults(x):
    return activated(x) + activated(x, math.sin) * activated(-x, outer=cubic)


@program(K, features="functions as arguments, class methods")
def class_methods_and_classes_are_given(x):
    return twice(abs, x) + newton(Cube, lambda t: Cube(t).a, x, 0) + adaptive(Solid.half, 0.0, x, 1e-3)


class Root:
    def __init__(self, a):
        self.a = a
        self.calls = 0

    def residual(self, t):
        self.calls += 1
        self.a = self.a + 0.01 * t
        return t**3 - self.a

    def slope(self, t):
        return 3.0 * t * t

    def solve(self):
        return newton(self.residual, self.slope, 1.0, 4)


@program(K, features="functions as arguments, methods")
def methods_of_an_object_are_given_that_write(x):
    root = Root(x)
    return root.solve() * root.a * root.calls + twice(root.residual, x)


@program(V3, features="functions as arguments, arrays")
def right_hand_side_is_given(x):
    def rate(t, y):
        return -x * y + t

    y = np.ones(3)
    for i in range(4):
        y = heun(rate, 0.1 * i, y, 0.1)
    return np.sum(heun(decay, 0.0, y, 0.1) ** 2)


def decay(t, y):
    return -y * y + t


def heun(rate, t, y, h):
    first = rate(t, y)
    return y + 0.5 * h * (first + rate(t + h, y + h * first))


def attempted(function, x):
    try:
        return function(x)
    except (ValueError, ZeroDivisionError):
        return 5.0 * x


@program(K, features="functions as arguments, try")
def given_function_raises(x):
    return attempted(math.log, x - 1.0) + attempted(lambda t: 1.0 / (t - x), x) * attempted(math.log, x)


class Account:
    fees = {"monthly": 0.5}
    tiers = [0.0, 0.3]
    note = None

    def __init__(self, balance):
        self.balance = balance

    def month(self):
        self.balance = self.balance * 1.1 - self.fees["monthly"] * self.balance**2
        return self

    def bonus(self):
        return 0.0 if self.note is not None else sum(self.balance for tier in self.tiers if self.balance > tier)

    def own_fees(self, fee):
        self.fees = {"monthly": fee}
        return self

    @functools.cached_property
    def start(self):
        return self.balance**2


@program(K, features="class attributes")
def containers_of_a_class_are_read_by_objects(x):
    account, other = Account(x), Account(x * x).own_fees(x)
    for _ in range(3):
        account.month()
        other.month()
    return account.balance * other.balance + account.bonus()


@program(K, features="class attributes, global")
def list_of_a_class_is_written_into(x):
    account = Account(x)
    account.tiers.append(0.4)
    total = account.bonus()
    account.tiers.pop()
    return total * x


@program(K, features="cached properties")
def cached_properties_are_computed_once(x):
    account, other = Account(x), Account(2.0 * x)
    first = account.start
    account.balance = 5.0 * x
    if x < 5.0:
        other.balance = x**3
    return first * account.start + other.start * other.balance


class Total:
    def __enter__(self):
        self.value = 0.0
        return self

    def __exit__(self, *exception):
        self.value = self.value * 2.0 + len(exception)
        return exception[0] is KeyError


@program(K, features="with")
def exit_takes_what_it_gets_with_a_star(x):
    with Total() as total:
        for i in range(3):
            total.value += x * i
    with Total() as other:
        other.value = x * x
        if x > 0.5:
            raise KeyError
    return total.value * other.value
