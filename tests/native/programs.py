"""Programs for native code: what it has, with arguments where Python raises or warns; and what it does not have."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

RATE: Any = 0.25
STEPS: Any = 3


def expression(a, b, c):
    total = a * b + math.sin(c)
    return total**3 / (1.0 + a * a) + math.exp(-b) * c


def domains(x, y):
    return math.sqrt(x) + math.log(y) / x


def powers(x, p):
    return x**p + x**-2


def entry(x, i):
    return x[i] * x[i] + x[-1] * RATE


def newton(x):
    y, k = x, 0
    while k < 50:
        r = y * y - x
        if abs(r) < 1e-9:
            break
        y = y - r / (2.0 * y)
        k = k + 1
    return y


def factorial(x, n):
    """Whole numbers that soon need more than 64 bits."""
    whole, total = 1, 0.0
    for k in range(1, n):
        whole = whole * k
        total = total + x / whole
    return total


def branches(x, xs):
    total = 0
    for t in xs:
        if t > x:
            total += (t - x) ** 2
        else:
            total += RATE * abs(t)
    return total


def cubed(x):
    y = x
    for _ in range(STEPS):
        y = y * x + RATE
    return y


def nested(x, n):
    total = 0.0
    for i in range(n):
        total = total + cubed(x + i) / (i + 1)
    return total


def early(x):
    if x < 0.0:
        return x * 2.0
    elif x > 10.0:
        raise ValueError(f"{x} is too large")
    return x * x


def whole_or_float(x, n):
    total = 0
    for _ in range(n):
        total = total + x
    return total


def layer(w, b, x):
    return np.sum(np.maximum(x @ w + b, 0.0)) / w[0, 1]


def neighbours(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2
    return total


def steps_of_vectors(x, n):
    y = x
    for _ in range(n):
        y = y - RATE * y * y
    return np.sum(y)


def while_above(x, least):
    """NumPy's float if there is a turn, else Python's."""
    total, k = 0.0, 0
    while k < len(x) and x[k] > least:
        total = total + x[k] * x[k]
        k += 1
    return total


def leaves_before_it_is_looked_at(x, n):
    total = x[0]
    for i in range(len(x)):
        product = x[i] * x[i]
        if i == n:
            break
        total = total + product
    return total


def conversions(x, n):
    return math.floor(x * 3.0) * x + n // 2 * x + n % 3 + float(n) / max(x, 0.5) + int(x) + (x > 1.0) * x


VECTOR = np.array([0.5, -1.5, 2.0])
MATRIX = np.array([[0.5, -0.2], [0.3, 0.9], [-0.7, 0.4]])
ROWS = np.linspace(-1.0, 2.0, 12).reshape(4, 3)
INFINITE = np.array([0.5, math.inf, 2.0])
NAN = math.nan

CASES = (
    (expression, [(1.0, 2.0, 3.0), (0.0, 0.0, 0.0), (1e200, 1e200, 1.0), (1.0, -800.0, 1.0), (1.0, 1.0, math.inf)]),
    (domains, [(2.0, 3.0), (-1.0, 3.0), (2.0, 0.0), (2.0, -1.0), (0.0, 2.0), (math.inf, 1.0)]),
    (powers, [(2.0, 0.5), (-2.0, 0.5), (-2.0, 3.0), (0.0, 2.0), (0.0, -1.0), (1e200, 2.0), (1e-120, 1.5)]),
    (entry, [(VECTOR, place) for place in (1, -3, 3, -4, 10, 2**70)] + [(VECTOR[:0], 0), (INFINITE, 0)]),
    (newton, [(2.0,), (0.0,), (-1.0,), (1e-300,), (1e300,)]),
    (factorial, [(1.5, 12), (1.5, 1), (1.5, 30), (1.5, 200)]),
    (branches, [(0.6, VECTOR), (5.0, VECTOR), (0.6, VECTOR[:0]), (NAN, VECTOR), (0.5, INFINITE), (0.6, np.array([1e300]))]),
    (nested, [(0.5, 4), (0.5, 0), (0.5, -2), (1e300, 3)]),
    (early, [(3.0,), (-3.0,), (11.0,), (0.0,), (NAN,)]),
    (whole_or_float, [(0.5, 3), (0.5, 0), (-0.0, 1), (2.0, 3)]),
    (layer, [(MATRIX, np.array([0.1, -0.3]), ROWS), (MATRIX, np.zeros(2), np.zeros((4, 3))), (MATRIX, np.zeros(3), ROWS)]),
    (neighbours, [(VECTOR,), (VECTOR[:1],), (VECTOR[:0],), (VECTOR * 1e100,), (INFINITE,)]),
    (steps_of_vectors, [(VECTOR, 3), (VECTOR, 0), (VECTOR * 1e10, 9), (VECTOR[::2], 2), (VECTOR.astype(np.float32), 2)]),
    (while_above, [(VECTOR, 0.0), (VECTOR, 1.0), (VECTOR, -2.0), (VECTOR[:0], 0.0), (VECTOR * 1e200, 0.0)]),
    (leaves_before_it_is_looked_at, [(VECTOR, 2), (VECTOR * 1e200, 0), (VECTOR * 1e200, 1), (VECTOR, 9)]),
    (conversions, [(1.7, 5), (0.1, -5), (-3.5, 0), (1e300, 2), (math.inf, 2), (NAN, 2), (1.7, 2**60)]),
)


def grows_a_list(x):
    found = []
    for k in range(3):
        found.append(x * k)
    return sum(found)


def prints(x):
    print(x)
    return x * x


def catches(x):
    try:
        return math.log(x)
    except ValueError:
        return x


def calls_itself(x, n):
    return x if n == 0 else calls_itself(x * x, n - 1)


def leaves_a_loop(x):
    for k in range(5):
        x = x * x + k
        if x > 2.0:
            return x * k
    return x


def number_or_none(x):
    y = None
    if x > 1.0:
        y = x * x
    return x if y is None else y


def takes_a_list(xs):
    return xs[0] * xs[1]


def two_types(x, n):
    total = 0 if n > 2 else 1
    for k in range(n):
        total = total * k
    return x * total + (x if n > 1 else 2) * (2 if n > 1 else x)


UNSUPPORTED = (
    (grows_a_list, (2.0,), "a list", "found = []"),
    (prints, (2.0,), "print", "print(x)"),
    (catches, (2.0,), "a try", "try:"),
    (calls_itself, (1.1, 2), "calls itself", ""),
    (leaves_a_loop, (1.1,), "a return out of a loop", "for k in range(5):"),
    (number_or_none, (2.0,), "None", ""),
    (takes_a_list, ([2.0, 3.0],), "xs, which is of type list", ""),
    (two_types, (2.0, 3), "operator.mul of a number, a number", "return"),
)
