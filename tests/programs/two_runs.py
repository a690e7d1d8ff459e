"""Programs with functions and loops that the backward pass runs again."""

from __future__ import annotations

import math
import random

import numpy as np

from microgradpy import checkpointed
from tests.programs.table import program

DAMPING = 0.9


def turned(x, w):
    return math.sin(x * w) + 0.5 * x


def damped(x):
    return math.tanh(DAMPING * x) + x


twice = checkpointed(turned)
by_module = checkpointed(damped)


@checkpointed
def scaled(x, *rest, power=1.0, **named):
    return x**power * rest[0] + named["shift"]


@checkpointed
def of_arrays(x, w):
    return np.tanh(w @ x), np.sum(x * x)


@checkpointed
def below(x, n):
    return x if n == 0 else math.sin(below(x, n - 1)) + x


@checkpointed
def drawn(x, draw):
    return x * draw.random() + x * x * draw.gauss(0.0, 1.0)


@program(1.2, 0.7, features="checkpointed function")
def checkpointed_in_a_row(x, w):
    return twice(twice(x, w), x) * w


@program(1.2, features="checkpointed function, module variable")
def checkpointed_with_a_module_variable(x):
    return by_module(by_module(x)) * x


@program(1.3, 0.4, features="checkpointed function, keyword, variadic")
def checkpointed_with_keywords(x, y):
    return scaled(x, y, power=2.5, shift=x * y) + scaled(y, x, shift=1.0)


@program(np.array([0.3, -0.2]), np.array([[0.5, 0.1], [-0.2, 0.4]]), features="checkpointed function, tuple, array")
def checkpointed_that_returns_a_tuple(x, w):
    y, energy = of_arrays(x, w)
    z, more = of_arrays(y * 2.0, w)
    return np.sum(z) * energy + more


@program(1.1, 0.6, features="checkpointed closure")
def checkpointed_closure(x, w):
    def inner(y):
        return math.cos(y * w) * x

    return checkpointed(inner)(w) + checkpointed(lambda y: y * y * w)(x)


@program(0.4, features="checkpointed function, recursion")
def checkpointed_recursion(x):
    return below(x, 5) * x


@program(0.7, features="checkpointed function, random numbers")
def checkpointed_draws(x):
    draw = random.Random(3)
    y = drawn(x, draw)
    return drawn(y, draw) + draw.random() * x


@program(0.7, features="checkpointed function, exception")
@program(2.0, features="checkpointed function, exception")
def checkpointed_that_raises(x):
    @checkpointed
    def checked(y):
        if y > 1.0:
            raise ValueError
        return y * y

    try:
        return checked(x) + x
    except ValueError:
        return x * 3.0


@program(0.8, 1.1, features="checkpointed loop")
def checkpointed_range(x, w):
    y = x
    for i in checkpointed(range(10)):
        y = math.sin(y) * w + 0.1 * i
    return y


@program(0.8, 1.1, 0, features="checkpointed loop, zero trips")
@program(0.8, 1.1, 7, features="checkpointed loop, every")
def checkpointed_every_third(x, w, n):
    y, z = x, w
    for i in checkpointed(range(1, n, 2), every=2):
        y, z = y * w + 0.1 * i, z + y
    return y * z


@program(0.8, 1.1, 12, features="checkpointed loop, break, unassigned variable")
@program(3.8, 1.1, 12, features="checkpointed loop, break, else")
def checkpointed_loop_with_break(x, w, n):
    y = x
    for i in checkpointed(range(n), every=3):
        if y > 6.0:
            y = y * i
            break
        a = math.cos(y) * w + 0.5
        y = y + a * a
    else:
        y = y * 2.0
    return y + w


@program(0.8, 1.1, 12, features="checkpointed loop, return, continue")
@program(0.8, 1.1, 3, features="checkpointed loop, return not taken")
def checkpointed_loop_with_return(x, w, n):
    y = x
    for i in checkpointed(range(n)):
        if i == 2:
            continue
        if y > 4.0:
            return y * i + w
        y = y * w + 0.3
    return y


@program(np.array([0.3, -0.2, 0.8]), 0.7, features="checkpointed loop, array, enumerate")
def checkpointed_items(xs, w):
    y = 0.2
    for k, x in checkpointed(enumerate(xs, 1)):
        y = math.tanh(y * w + x * k)
    return y


@program([0.3, -0.2, 0.8], (1.0, 2.0, 3.0), 0.7, features="checkpointed loop, list, zip")
def checkpointed_pairs(xs, ys, w):
    y = 0.2
    for x, z in checkpointed(zip(xs, reversed(ys), strict=False)):
        y = math.tanh(y * w + x) * z
    return y


@program(np.array([0.3, -0.2]), np.array([[0.5, 0.1], [-0.2, 0.4]]), features="checkpointed loop, carried arrays")
def checkpointed_arrays(x, w):
    before, now = x, x * 2.0
    for _ in checkpointed(range(6)):
        before, now = now, np.tanh(w @ now) - 0.1 * before
    return np.sum(now * before)


@program(0.9, 0.97, features="checkpointed loop, nested loops")
def checkpointed_loops_in_loops(x, w):
    y = x
    for i in checkpointed(range(5)):
        for j in checkpointed(range(4), every=2):
            if j == 2:
                continue
            y = math.sin(y) * w + 0.1 * j * i
        k = 0
        while k < 3:
            y, k = y * 0.9 + w, k + 1
    return y


@program(0.9, 0.97, features="checkpointed loop, checkpointed function, exception")
def checkpointed_call_in_a_loop(x, w):
    y = x
    for _ in checkpointed(range(6)):
        try:
            y = math.sqrt(y - w) + twice(y, w)
        except ValueError:
            y = y + by_module(x)
    return y
