"""Memory that stays memory, and beside it what a function makes for itself and nobody else gets: one object that escapes says
nothing about the others."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tests.programs import another_module
from tests.programs.another_module import Ball
from tests.programs.mutation.table import V3, K, program

N = 4


class Box:
    def __init__(self, v):
        self.v = v


class Spring:
    def __init__(self, x, stiffness):
        self.x = x
        self.v = 0.0
        self.stiffness = stiffness

    @property
    def force(self):
        return -self.stiffness * self.x

    def step(self, dt):
        self.v += self.force * dt
        self.x += self.v * dt
        return self


class State(NamedTuple):
    x: float
    v: float


@dataclass
class Pair:
    a: object
    b: object


def kept(v):
    """An object that somebody has, and how to write into it."""
    box, keep = Box(v), set()
    keep.add(box)
    return box, keep


@program(K, features="object beside one that escapes")
def spring_beside_a_set(x):
    box, keep = kept(x)
    spring = Spring(x, 1.3)
    for _ in range(4):
        spring.step(0.1).step(0.2)
        box.v = box.v * spring.x
    return spring.x * spring.v + sum(b.v for b in keep)


@program(K, features="object beside one that escapes, object in an object")
def field_is_what_escapes(x):
    box, keep = kept(x)
    pair = Pair(box, x * x)
    pair.a.v = pair.a.v * pair.b
    pair.b = pair.a.v + x
    pair.a, old = Box(pair.b), pair.a
    old.v += pair.a.v * x
    return pair.b * box.v + len(keep)


@program(K, features="dict of totals beside one that escapes")
def totals_beside_a_set(x):
    box, keep = kept(x)
    totals = {"up": 0.0, "down": x}
    for i in range(4):
        totals["up"] += box.v * i
        box.v = box.v * x + totals["down"]
        totals["down"] *= x
    return totals["up"] * totals["down"] + box.v + len(keep)


@program(K, features="nonlocal beside an object that escapes")
def counter_beside_a_set(x):
    box, keep = kept(x)
    total = 0.0

    def add(v):
        nonlocal total
        total += v * box.v
        box.v = box.v * 0.9 + total

    for i in range(3):
        add(x * i)
    return total * box.v + len(keep)


@program(K, features="generator beside an object that escapes")
def generator_beside_a_set(x):
    box, keep = kept(x)

    def samples(rate, n):
        v = 1.0
        for _ in range(n):
            v = v * rate
            yield v * box.v

    total = 0.0
    for v in samples(x, 4):
        box.v = box.v + v
        total += v * v
    return total * box.v + len(keep)


@program(V3, features="array in a field beside one that is written")
def fields_hold_an_array_that_is_written(v):
    box, keep = kept(v * 1.0)
    pair = Pair(box.v, 2.0 * v)
    pair.a[0] = v[1] * v[2]
    pair.b += pair.a
    other = Pair(pair.b, pair.a)
    other.a[1] = 3.0 * other.b[0]
    box.v = other.a * pair.b
    return np.sum(box.v * pair.a) + np.sum(pair.b) + len(keep)


@program(V3, features="list beside an object")
def object_over_a_list_that_is_written(v):
    items = [v[0], v[1], v[2]]
    spring = Spring(v[0], v[1])
    for i in range(3):
        spring.step(0.3)
        items[i] = items[i] * spring.x
        items.append(spring.v)
    pair = Pair(items, spring.x)
    pair.a[0] = pair.a[0] * pair.b
    for k, item in enumerate(items):
        pair.b = pair.b + item * k
    return pair.b * items[0] + len(kept(spring.x)[1])


@program(K, features="options of a dict that is written")
def options_that_are_written(x):
    box, keep = kept(x)

    def weighted(a, b=1.0, c=2.0):
        return a * b + c * box.v

    options = {"b": x}
    first = weighted(x, **options)
    options.update(c=x * x)
    options["b"] = 3.0 * x
    box.v = weighted(x, **options)
    return first * box.v + weighted(x, **options) + len(keep)


@program(K, features="list read by the library beside writes")
def list_grows_while_it_is_read(x):
    box, keep = kept(x)
    values = [x, x * x]
    spring = Spring(x, 0.5)

    def longer(a, b):
        if len(values) < 5:
            values.append(spring.step(0.1).x)
        box.v = box.v * 0.9
        return a + b * box.v

    total = 0.0
    for a, b in zip(values, values[1:]):
        total = longer(total, a * b)
    return total + sum(values) * spring.v + len(keep)


@program(K, features="exception beside an object in sight")
def caught_beside_a_set(x):
    box, keep = kept(x)
    spring = Spring(x, 1.1)
    try:
        spring.step(0.2)
        box.v = box.v * spring.x
        math.sqrt(-spring.x * spring.x - 1.0)
        box.v = 0.0
    except ValueError:
        spring.v = spring.v * box.v
    return spring.x * spring.v * box.v + len(keep)


@program(K, features="exception in a method beside an object in sight")
def caught_in_a_function_beside_a_set(x):
    box, keep = kept(x)
    spring = Spring(x, 1.1)

    def tries(k):
        try:
            box.v = box.v * spring.step(0.2).x
            if k == 1:
                raise KeyError(k)
            box.v += 1.0
        except KeyError:
            spring.v = spring.v * box.v
            return k * x
        return spring.x

    total = tries(0) + tries(1) * tries(2)
    return total * spring.v * box.v + len(keep)


@program(K, features="context manager beside an object in sight")
def in_a_context_beside_a_set(x):
    box, keep = kept(x)
    spring = Spring(x, 1.1)
    with contextlib.nullcontext(spring) as same:
        same.step(0.3)
        box.v = box.v * same.x
    return spring.x * box.v + len(keep)


@program(K, 5, features="namedtuple beside an object that escapes")
def states_beside_a_set(x, n):
    box, keep = kept(x)
    state = State(x, 0.0)
    for _ in range(n):
        state = State(state.x + 0.1 * state.v, state.v - 0.1 * box.v * state.x)
        state = state._replace(v=state.v * 0.9)
        box.v = box.v + state.v
    return state.x * state.v * box.v + len(keep)


@program(K, features="two names of an object in a branch")
def either_object_beside_a_set(x):
    box, keep = kept(x)
    a, b = Spring(x, 1.0), Spring(2.0 * x, 0.5)
    for i in range(4):
        c = a if box.v > 0.4 and i % 2 else b
        c.step(0.2)
        box.v = box.v * 0.9 + c.v
    return a.x * b.x * a.v * b.v + box.v + len(keep)


@program(K, features="object returned beside one that escapes")
def an_object_that_holds_the_other(x):
    box, keep = kept(x)
    spring = Spring(x, 1.2)
    pair = Pair(spring, box)
    keep.add(box)
    pair.a.step(0.1)
    pair.b.v *= pair.a.x
    spring = pair.a
    spring.x = spring.x * box.v
    return pair.a.x * pair.b.v + pair.a.v + len(keep)


@program(K, V3, features="argument is written beside an object in sight")
def argument_is_written(x, v):
    out = np.zeros(3)
    spring = Spring(x, 1.0)
    view = v[1:]
    for i in range(2):
        spring.step(0.2)
        out[i] = view[i] * spring.x
        view = out[i:]
    keep = {id(out): out}
    keep[id(out)][2] = spring.v
    return np.sum(out * v) * spring.x


@program(K, features="recursion beside an object that escapes")
def recursion_beside_a_set(x):
    box, keep = kept(x)

    def down(n, spring):
        if n == 0:
            return spring.x
        box.v = box.v * spring.step(0.1).x
        return down(n - 1, Spring(spring.x * x, spring.v)) + spring.v

    return down(3, Spring(x, 1.0)) * box.v + len(keep)


WEIGHTS = [1.0, 2.0]


def smoothed(a, b):
    items, totals = [a, b], {"s": 0.0}
    for _ in range(3):
        items.append(0.5 * items[-1] + items[-2])
    for item in items:
        totals["s"] += item * item
    return math.sqrt(totals["s"])


def weighted_sum(a, b):
    items = [a, b]
    items[0] += b
    return items[0] * WEIGHTS[0] + items[1] * WEIGHTS[1]


def both_of(a, b):
    spring = Spring(a, b)
    spring.step(0.1)
    return spring.x, (spring.v, 2)


def row_of(a, b):
    row = np.zeros(2)
    row[0], row[1] = a, a * b
    return row


def fails_at(a, k):
    spring = Spring(a, 1.0)
    spring.step(0.1)
    if k == 2:
        raise ValueError(k)
    return spring.x


def times(n, a):
    return a if n == 0 else smoothed(a, 1.0) * times(n - 1, a)


def seen_so_far(a, seen=[]):
    seen.append(a)
    return sum(seen[-2:])


@program(K, features="functions of numbers beside an object that escapes")
def functions_of_numbers(x):
    box, keep = kept(x)
    for i in range(3):
        box.v = box.v * 0.9 + smoothed(x * i, x)
        a, (b, n) = both_of(x, 1.0 + i)
        box.v += a * b * n
    return box.v * times(3, x) + len(keep)


@program(K, features="functions of numbers that are arguments, beside an object that escapes")
def functions_of_numbers_from_a_table(x):
    box, keep = kept(x)
    table = {"smoothed": smoothed, "fails": fails_at}
    for name in ("smoothed", "fails", "smoothed"):
        box.v = box.v * 0.9 + table[name](x, 1.5)
    return box.v * smoothed(box.v, x) + len(keep)


@program(K, features="a function reads a list of the module that is written")
def function_reads_what_is_written(x):
    box, keep = kept(x)
    before = WEIGHTS[:]
    try:
        first = weighted_sum(x, 2.0)
        WEIGHTS[0] = x * x
        second = weighted_sum(x, 2.0)
        box.v = first * second
    finally:
        WEIGHTS[:] = before
    return box.v + len(keep)


@program(K, features="an array that a function of numbers makes is written")
def array_of_a_function_is_written(x):
    box, keep = kept(x)
    row = row_of(x, 2.0)
    box.v = row[0] * row[1]
    view = row[1:]
    row[1] = row[1] * box.v
    view *= x
    return np.sum(row * row) * box.v + len(keep)


@program(K, features="a function of numbers raises beside an object that escapes")
def function_of_numbers_raises(x):
    box, keep = kept(x)
    for k in range(4):
        try:
            box.v = box.v + x
            box.v = box.v * fails_at(x, k)
        except ValueError as error:
            box.v = box.v * (1.0 + error.args[0])
    return box.v + len(keep)


@program(K, features="a default that is written")
def default_is_written(x):
    box, keep = kept(x)
    box.v = seen_so_far(x, []) + box.v
    return box.v * seen_so_far(2.0 * x, [box.v]) + len(keep)


@program(K, features="a function of numbers that captures what is written")
def captures_what_is_written(x):
    box, keep = kept(x)
    rate = [x]

    def scaled(a):
        items = [a, rate[0]]
        items.append(items[0] * items[1])
        return items[2]

    first = scaled(2.0)
    rate[0] = 3.0 * x
    box.v = first * scaled(x)
    return box.v + len(keep)


@program(K, features="a dict of which others get to know, and which is written by them")
def dict_in_a_tuple_of_a_list(x):
    table = {"a": 0.5, "b": 1.5}
    holders = [table]
    again = (*holders,)
    again[0]["a"] = 0.5 * x
    kept({"table": table})[0].v["table"]["b"] = x * x
    return table["a"] * 2.0 + again[0]["a"] * table["b"]


SEEN: list[float] = []
RATES = [0.1, 0.2]


@program(K, N, features="class of another module, list of the module")
def ball_beside_a_list_of_the_module(x, n):
    ball = Ball(x)
    SEEN.append(x)
    for _ in range(n):
        ball.step(0.1)
    ball.v = ball.v * RATES[1]
    return ball.shrunk() * ball.energy * SEEN.pop()


@program(K, features="class of another module, missing variable, list of the module")
def missing_beside_a_list_of_the_module(x):
    ball = Ball(x)
    SEEN.append(x)
    ball.v = ball.v + SEEN.pop() * ball.x
    return ball.missing() if x < 0.0 else ball.v


class Holder:
    def __init__(self, module):
        self.module = module


HOLDER = Holder(another_module)


@program(K, N, features="module that an object holds")
def function_of_a_module_that_an_object_holds(x, n):
    return HOLDER.module.filled(x, n)


def _capturing(module):
    def function_of_a_captured_module(x, n):
        return module.filled(x, n) * module.GRAVITY

    return function_of_a_captured_module


program(K, N, features="module that is captured")(_capturing(another_module))
