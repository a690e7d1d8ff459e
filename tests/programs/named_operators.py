"""Programs that call the special methods of builtin classes by their names."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np

from tests.programs.table import program

V = np.array([0.5, 1.5, 2.5])
W = np.array([1.1, 0.6, -0.5])
M = np.array([[0.3, -0.7, 1.2], [0.8, 0.5, -0.4], [-1.1, 0.6, 0.9]])


@program(1.5, 0.7, features="float.__add__")
def operators_of_float(x, y):
    product = float.__mul__(x, y)
    quotient = float.__truediv__(1.0, float.__radd__(x, y))
    return float.__sub__(product, float.__pow__(quotient, 2)) + float.__neg__(x) + float.__rsub__(y, 2.0)


@program(1.5, features="x.__mul__")
def bound_operators_of_a_number(x):
    return x.__mul__(2.0) + x.__rtruediv__(3.0) * x.__abs__() + x.__float__() + getattr(x, "__pow__")(3)


@program(V, W, features="x.__add__")
def bound_operators_of_an_array(x, w):
    total = x.__add__(w).__mul__(x).__neg__().sum() + x.__rsub__(1.0).__abs__().sum()
    return total + x.__matmul__(w) * x.__rmatmul__(w) + x.__pow__(2).__getitem__(1)


@program(V, M, features="np.ndarray.__add__")
def operators_of_ndarray(x, m):
    y = np.ndarray.__add__(np.ndarray.__matmul__(m, x), np.ndarray.__truediv__(x, 2.0))
    return np.ndarray.__getitem__(y, 1) * np.ndarray.__getitem__(m, (0, slice(1, None))).sum()


@program(V, features="a method bound to an array that is kept")
def kept_operators(x):
    steps = [x.__mul__, x.__add__, np.sin(x).__sub__]
    pick = x.__getitem__
    return sum(step(W).sum() for step in steps) * pick(0) + sum(map(pick, range(3)))


@program(1.5, features="a captured bound method")
def captured_operator(x):
    times = x.__mul__

    def twice(t):
        return times(times(t))

    return twice(2.0) + twice(x)


@program(1.5, 0.4, features="operators as arguments")
def operators_as_arguments(x, y):
    def apply(operation, a, b):
        return operation(a, b)

    total = apply(float.__mul__, x, y) + apply(operator.sub, x, y) + apply(x.__class__.__add__, x, x)
    return total + functools.reduce(float.__mul__, [x, y, 2.0]) + functools.partial(x.__mul__)(y)


@program(1.5, features="a loop")
def horner_by_name(x):
    total = 0.0
    for k in range(4):
        total = float.__add__(total.__mul__(x), float(k))
    return total


@program(1.5, 0.7, features="list.__getitem__")
def items_by_name(x, y):
    items, pair, table = [x, x * y], (y, x), {"a": x, "b": y * y}
    total = list.__getitem__(items, 0) * items.__getitem__(1) + pair.__getitem__(0) * tuple.__getitem__(pair, 1)
    return total + dict.__getitem__(table, "b") + sum(map(table.__getitem__, "ab")) + [x].__add__([y])[1]


@program(1.53, features="what has no derivative")
def rounded_and_compared_by_name(x):
    digits = x.__round__() + x.__int__() + x.__trunc__() + math.floor(x) + x.__ceil__()
    return x * digits + float.__round__(x, 1) * 0 + (x if x.__lt__(3.0) else 0.0) + x.__mod__(0.7) + x.__divmod__(0.4)[1]


@program(1.5, features="NotImplemented")
def operators_that_decline(x):
    answer = (2).__add__(x)
    return x * 2 if answer is NotImplemented else answer


@program(V, features="x.__array__")
def arrays_by_name(x):
    return (x.__array__() * x.__array__(np.float64)).sum() + x[1].__mul__(x).sum() + np.float64.__mul__(x[0], x[2])


@program(V, W, features="np.broadcast, ufunc.reduce with options")
def shapes_and_reductions(x, w):
    both = np.broadcast(x, w)
    total = np.add.reduce(x * w, initial=x[0], where=w > 0.0) * np.multiply.reduce(x, initial=2.0)
    return np.ones(both.shape) @ x * both.size + total + np.maximum.reduce(x, initial=0.0)
