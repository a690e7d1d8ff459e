"""Powers of numbers of unknown sign: assumed to be real where a run may be made once more, and complex where they are."""

from __future__ import annotations

import cmath
import math

import numpy as np

from tests.programs.table import program


@program(1.3, 0.7, features="fractional power, loop")
def growth(k, alpha):
    total = 0.0
    for i in range(4):
        k = 0.9 * k + 0.2 * k**alpha
        total += k**-0.5 * (1.0 + i) ** alpha
    return total


@program((1.5, 0.6, 2.0), features="fractional power, list")
def power_law(xs):
    out = [xs[0] ** 1.5]
    for x in xs[1:]:
        out.append(out[-1] ** 0.8 + (x * x) ** 0.3)
    return sum(v**0.5 for v in out)


@program(1.3, 0.7, features="fractional power, complex")
@program(-1.3, 0.7, features="fractional power, complex")
def size_of_power(x, p):
    return abs(x**p)


@program(0.45, 0.7, features="fractional power, complex half way")
def complex_half_way(x, p):
    total = 0.0
    for i in range(4):
        z = (x - 0.3 * i) ** p
        total += abs(z) * p
    return total


@program(-1.2, 0.7, features="fractional power, isinstance")
@program(1.2, 0.7, features="fractional power, isinstance")
def asked_for_its_type(x, p):
    z = x**p
    if isinstance(z, complex):
        return z.real + 2.0 * z.imag
    return 3.0 * z


@program(-1.2, 0.7, features="fractional power, holomorphic")
def power_of_a_power(x, p):
    z = x**p
    w = z * z + z / 2.0 - 1.0
    return (w * w.conjugate()).real + abs(cmath.exp(z))


def root(x, p):
    return x**p


@program(1.2, 0.7, features="fractional power, callee")
@program(-1.2, 0.7, features="fractional power, callee")
def power_in_a_callee(x, p):
    return abs(root(x, p)) + root(x * x, p)


def nested_roots(x, p, n):
    return abs(x**p) if n == 0 else nested_roots(x - 0.35, p, n - 1) * 0.5 + abs(x**p)


@program(2.2, 0.7, features="fractional power, recursion")
@program(0.5, 0.7, features="fractional power, recursion")
def power_in_a_recursion(x, p):
    return nested_roots(x, p, 3)


@program(-1.2, 0.7, 0, features="fractional power, try")
@program(1.2, 0.7, 1, features="fractional power, try")
def power_in_a_try(x, p, n):
    try:
        y = abs(x**p) / n
    except Exception:
        y = abs(x**p) * p
    return y


@program(-1.2, 0.7, features="fractional power, closure")
def power_in_a_closure(x, p):
    def size(y):
        return abs(y**p)

    return size(x) + size(-x)


class Soil:
    def __init__(self, depth):
        self.depth = depth

    def __pow__(self, other):
        return Soil(self.depth * other)


@program(1.2, 0.7, features="fractional power, operator of one's own")
def power_of_an_object(x, p):
    soil = Soil(x)
    soil.depth **= p
    return (soil**p).depth + soil.depth**0.5


@program(1.2, 0.7, features="fractional power, augmented")
@program(-1.2, 0.7, features="fractional power, augmented")
def power_in_place(x, p):
    table = {"a": x}
    table["a"] **= p
    x **= p
    return abs(table["a"]) + abs(x) ** 1.5


@program(0.8, 0.7, features="power of a constant")
def powers_of_constants(x, p):
    return 2**x + 3.0**p + 10 ** (x * p) + sum(2**-i * x for i in range(3)) + pow(1.5, x)


@program(1.2, 3, features="power, whole number")
def whole_powers(x, n):
    total = 0.0
    for i in range(-2, n):
        total += x**i + n**i * x + math.pow(x, i) + np.power(x, 2.0 * i)
    return total


@program(np.array([0.5, 1.5]), 0.7, features="fractional power, items of an array")
def powers_of_items(x, p):
    total = 0.0
    for i in range(2):
        total += x[i] ** p + float(x[i]) ** 1.5
    return total


@program(1.4, 0.5, features="fractional power, while")
def power_until(x, p):
    steps = 0
    while x**p < 3.0:
        x = x**1.2 + p
        steps += 1
    return x * steps
