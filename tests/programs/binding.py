"""Names bound in unusual places: `:=`, `del`, stars, imports and patterns."""

# ruff: noqa: B018, PLC0415, E731

from __future__ import annotations

import importlib
from dataclasses import dataclass

import numpy as np

from tests.programs.table import program

importlib.import_module("xml.dom")  # so that no text depends on whether another program has imported it


@program(2.0, features=":=, if, else")
@program(0.5, features=":=")
def walrus_in_a_condition(x):
    if (y := x * x) > 1.0 and (z := y * x) > 2.0:
        return z * y
    return y


@program(7.0, 0.5, features=":=, while, data-dependent condition, while-else")
@program(7.0, 0.9, features=":=, while-else")
def walrus_in_a_while_condition(x, k):
    n = 0
    while (x := x * k) > 1.0:
        n += 1
        if n > 10:
            break
    else:
        x = x * 3.0
    return x * n


@program(7.0, features=":=, continue")
def walrus_in_a_while_condition_with_continue(x):
    total = 0.0
    while x > 0.2 and (half := x / 2.0):
        x = half
        if x > 2.0:
            continue
        total = total + half * half
    return total


@program([1.0, 2.0, -3.0, 4.0], features=":=, list comprehension")
def walrus_in_a_comprehension(xs):
    ys = [(square := x * x) + square for x in xs if (last := x) > 0.0]
    return sum(ys) * square * last


@program([1.0, 2.0, 3.0], features=":=")
def walrus_in_a_nested_comprehension(xs):
    rows = [[(last := x * y) for y in xs] for x in xs]
    return rows[1][2] * last


@program([1.0, 2.0, 3.0], features=":=")
def walrus_in_any(xs):
    return big * xs[0] if any((big := x) > 1.5 for x in xs) else 0.0


@program(2.0, features=":=, default, lambda")
def walrus_in_a_default_and_in_a_lambda(x):
    f = lambda a, b=(k := x * 3.0): (s := a * b) * s
    return f(x) * k


@program(np.arange(5.0), features=":=, slicing")
def walrus_in_a_slice_and_a_call(x):
    return np.sum(x[(n := 2) :] * n) + np.sum((y := x * x), axis=0) * y[n]


@program(2.0, features=":=")
def walrus_after_a_read_of_the_same_name(x):
    return x + (x := x * x) * x


@program(2.0, features="del")
def deleted_names(x):
    y = x * x
    z = y * x
    del y, (x,)
    for i in range(3):
        t = z * i
        z = z + t
        del t
    return z


@program(2.0, features="annotated assignment, chained assignment, unpacking")
def assignments_of_all_forms(x):
    total: float
    a = b, c = [x, x * x]
    total: float = a[1] * b + c
    (scale): float = 3.0
    [d, (e, *f)] = total, (a[0], b, c)
    return d * e * f[1] * scale


@program([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], features="star in a for target")
def stars_in_for_targets(rows):
    total = 0.0
    for first, *rest in rows:
        total = total + first * rest[-1]
    for k, (*init, last) in enumerate(rows):
        total = total + k * init[0] * last
    return total


@program(2.0, features="star in a display, star-call")
def stars_in_displays(x):
    parts = (x, *[x * x, 3.0], *(x,))
    numbers = [*parts, *range(2)]
    options = {"a": x, **{"b": x * x}}
    for y in *parts, x * 5.0:
        numbers = [*numbers, y]
    return sum(numbers) * options["b"] + max(*parts, options["a"])


@program({"a": 2.0, "b": 3.0}, features="dict.values, dict.keys")
def loops_over_values_and_keys(d):
    total = 1.0
    for value in d.values():
        total = total * value
    for key in d.keys():  # noqa: SIM118
        total = total + d[key] ** 2
    first, second = d.values()
    for k, value in enumerate(reversed(d.values())):
        total = total + value * k
    return total + sum(d.values()) + max(d.values()) * first * second


@program(2.0, features="set comprehension, nested comprehension")
def comprehensions_in_comprehensions(x):
    sizes = {n % 3 for n in range(10)}
    return sum([sum([x**n * m for m in range(n)]) for n in sorted(sizes)])


@program(1.5, features="f-string")
def nested_format_specifications(x):
    width, places = 10, 3
    text = f"{x * 2.0:{width}.{places}f}|{x!r:>{width}}|{{}}"
    return x * len(text) * len(f"{width=}")


@program(2.0, features="lambda, conditional expression")
def several_lambdas(x):
    f, g = (lambda a: a * a), (lambda a: a * 3.0)
    table = [
        lambda a: a + x, lambda a: a - x * x,
        lambda a, n=2: a**n,
    ]  # fmt: skip
    h = (lambda a: a * x) if x > 1.0 else (lambda a: a)
    return f(x) + g(x) + table[0](x) * table[1](x) + table[2](h(x))


@program(0.7, features="import in a function")
def imports(x):
    import math
    import os.path as paths
    import xml.dom
    from math import pi
    from math import sin as sine

    from tests.programs import table

    from . import table as same_table

    assert table is same_table and xml.dom and paths.join("a", "b")
    return sine(x) * math.cos(x) * pi * len(table.__name__)


@program(np.array([0.5, 0.7]), features="import in a function")
def import_in_a_branch_and_in_a_nested_function(x):
    if x[0] > 0.0:
        import numpy as xp

    def scaled(y):
        from numpy import linalg

        return linalg.norm(y) * xp.sum(y)

    return scaled(x)


RATE = 3.0


@program(2.0, features="import in a function")
def import_of_data(x):
    from tests.programs.binding import RATE as rate

    return x * x * rate


@program(2.0, features="class in a function")
def class_in_a_function(x):
    scale = 3.0

    @dataclass
    class Pair:
        first: float
        second: float = 2.0

        def area(self, factor):
            return Pair.unit() * self.first * self.second * factor * scale

        @staticmethod
        def unit():
            return 1.0

    class Labelled(Pair, metaclass=type):
        label = "pair"

    pair = Labelled(5.0)
    assert Labelled.__qualname__ == "class_in_a_function.<locals>.Labelled"
    return pair.area(x) * len(pair.label) * x
