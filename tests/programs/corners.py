"""Corners of the language and of its library that once crashed."""

from __future__ import annotations

import functools

import numpy as np
from scipy import integrate, optimize

from tests.programs.table import program


@program(1.5, features="__debug__")
def debug_is_a_constant(x):
    if __debug__:
        x = x * 2
    return x * x if __debug__ else x


class Area:
    """Methods that choose by the class of their argument."""

    def __init__(self, factor):
        self.factor = factor

    @functools.singledispatchmethod
    def of(self, v):
        return v * self.factor

    @of.register
    def _(self, v: float):
        return v * v * self.factor

    @of.register(list)
    def _(self, v):
        return v[0] * 3.0

    @functools.singledispatchmethod
    @classmethod
    def made(cls, v):
        return cls(v)

    @made.register
    @classmethod
    def _(cls, v: list):
        return cls(v[0] * 2.0)

    @functools.singledispatchmethod
    @staticmethod
    def free(v):
        return v * 1.0

    @free.register
    @staticmethod
    def _(v: float):
        return v**3


AREA = Area(3.0)


@program(0.7, 1.3, features="functools.singledispatchmethod")
def dispatched_method(x, y):
    return Area(x).of(y) + Area(2.0).of(x) * Area(y).of([x]) + Area(x).of(3)


@program(0.7, features="functools.singledispatchmethod, class and static methods")
def dispatched_class_and_static_methods(x):
    return Area.made([x]).factor * Area.made(x).of(x) + Area.free(x) + AREA.free(x * x)


@program(0.7, features="functools.singledispatchmethod, of a constant")
def dispatched_method_of_a_constant(x):
    read = AREA.of
    return AREA.of(x) * AREA.of([x]) + read(x) + sum(map(AREA.of, [x, 2 * x]))


@program(Area(1.1), 0.7, features="functools.singledispatchmethod, of an argument")
def dispatched_method_of_an_argument(area, x):
    read = area.of
    return area.of(x) * read([x]) + read(x) * area.of(2)


@program(1.5, features="functools.singledispatch in a function")
def dispatched_inside(x):
    @functools.singledispatch
    def f(v):
        return v * 3.0

    @f.register
    def _(v: float):
        return v * v

    @f.register(list)
    def _(v):
        return v[0] * 2.0

    return f(x) * f([x]) + f(2)


@program(1.5, features="annotations of a function inside")
def annotations_read(x):
    def checked(f):
        assert f.__annotations__ == {"v": "float", "return": "float"}
        return f

    @checked
    def cube(v: float) -> float:
        return v**3

    return cube(x)


@program((True, 2.5), features="truth values in a tuple that becomes an array")
@program([True, 2.5], features="truth values in a list that becomes an array")
def truth_values_in_an_array(t):
    return np.sum(np.sin(t)) + np.dot(t, t) + np.prod(t) + np.linalg.norm(t)


@program((1.5, 2.5), features="a container at two places of a call")
@program([1.5, 2.5], features="a container at two places of a call")
def container_joined_with_itself(t):
    return np.sum(np.concatenate([t, t]) * np.arange(4.0)) + np.sum(np.stack((t, t)) ** 2)


@program(1.5, features="closure in the condition of a while")
def closures_in_a_condition(a):
    while (lambda t: a + t)(-1.1) < 10.0 and (lambda: sum(a for _ in range(2)))() < 50:
        a = a * 2
    return a * (lambda: a)()


@program(1.5, features="closure over a variable that the path does not assign")
@program(-1.5, features="closure over a variable that the path does not assign")
def captured_but_not_assigned(x):
    if x > 0:
        y = x * x
    else:
        y, z = x, 3.0

    def scaled(t):
        return y * t if x > 0 else z * x * t

    return scaled(2.0) + sum(map(scaled, [1.0, 2.0]))


@program(1.5, features="closure over a variable of a loop that does not run")
@program(-1.5, features="closure over a variable of a loop that may not run")
def captured_from_a_loop(x):
    for k in range(0 if x > 0 else 3):
        z = x * k
    return (lambda t: t * z if x < 0 else x * t)(2.0)


@program(1.5, features="closure over a variable that the path does not assign, which is read")
def captured_and_missing(x):
    try:
        if x > 0:
            raise ValueError
        z = x
    except ValueError:
        y = x * 2
    try:
        return (lambda: z)()
    except NameError:
        return (lambda: y if x > 0 else z)() * x


def functions_over_nothing(assigned):
    if assigned:
        z = 1.0

    def without(t):
        return t * 3.0 if t > 0 else z

    def with_it(t):
        return [t * t, z][0]

    return without, with_it


WITHOUT, WITH_IT = functions_over_nothing(False)


@program(1.5, features="function over an empty cell")
def reads_an_empty_cell(x):
    try:
        return WITH_IT(x)
    except NameError:
        return WITHOUT(x) * x


@program(1.5, features="args= of a solver as a list")
def arguments_of_a_solver_in_a_list(p):
    root = optimize.newton(lambda x, p, c: x * x - p * c, 1.0, args=[p, 2.0])
    given = [2.0, p]
    roots = optimize.newton(lambda x, c, p: x * x - p * c, np.array([1.0, 2.0]), args=given)
    return root + np.sum(roots) * given[1]


@program(1.5, features="args= of a solver as an array")
def arguments_of_a_solver_in_an_array(p):
    given = np.array([p, 2.0])
    exact = {"rtol": 1e-12, "atol": 1e-12}
    y = integrate.solve_ivp(lambda t, y, p, c: -p * c * y, (0.0, 1.0), [1.0], t_eval=[0.5], args=given, **exact).y
    return optimize.newton(lambda x, p, c: x * x - p * c, 1.0, args=given) + y[0, 0]


class OwnCopy(np.ndarray):
    """An array that copies itself in another way."""

    def copy(self):
        return super().copy() * 2.0


class PlainCopy(np.ndarray):
    def copy(self):
        return np.ndarray.copy(self)


SCALED, COPIED = np.array([1.0, 2.0]).view(OwnCopy), np.array([1.0, 2.0]).view(PlainCopy)


@program(1.5, features="a subclass of ndarray with its own copy")
def constant_arrays_with_their_own_copy(x):
    return x * SCALED.copy()[1] + x * x * COPIED.copy()[0] + float(np.sum(SCALED * x))
