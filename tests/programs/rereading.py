"""Iterators that are read at several places: by a loop and by `next` in its body, in part, by two names."""

# The programs are written the way users write them, good style or not.
# ruff: noqa: B007, B905, C416, RUF005, SIM113

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

from tests.programs.table import program

X = np.array([0.7, -1.4, 2.2, 0.5, 1.1, 0.3])
VALUES = [0.7, -1.4, 2.2, 0.5, 1.1, 0.3]
ROWS = np.array([[0.7, -1.4], [2.2, 0.5], [1.1, 0.3]])
NAMED = dict(zip("abcdef", VALUES, strict=True))


@program(X, features="loop and next, comprehension")
@program(VALUES, features="loop and next, comprehension, list")
def products_with_the_next(x):
    items = iter(x)
    return [a * next(items) ** 2 for a in items]


@program(VALUES, features="loop and next, map")
def next_of_a_map(x):
    squares = map(lambda v: v * v, x)
    total = 0.0
    for a in squares:
        total = 0.5 * total + a * next(squares) ** 2
    return total


@program(VALUES, features="loop and next, filter")
def next_of_a_filter(x):
    positive = filter(lambda v: v > 0.0, x)
    total = 0.0
    for a in positive:
        total = 0.5 * total + a * next(positive, 2.0) ** 2
    return total


@program(VALUES, features="loop and next, zip")
def next_of_a_zip(x):
    pairs = zip(x, x[1:])
    total = 0.0
    for a, b in pairs:
        c, d = next(pairs, (1.0, 2.0))
        total = 0.5 * total + a * b * b * c * d
    return total


@program(X, features="loop and next, chain")
def next_of_a_chain(x):
    items = itertools.chain(x[:2], x[2:])
    total = 0.0
    for a in items:
        total = 0.5 * total + a * next(items) ** 2
    return total


@program(X, features="loop and next, enumerate")
def next_of_an_enumeration(x):
    items = enumerate(x)
    total = 0.0
    for i, a in items:
        j, b = next(items)
        total = 0.5 * total + a * b * b * (i + 2 * j)
    return total


@program(X, features="loop and next, reversed")
@program(VALUES, features="loop and next, reversed, list")
def next_of_what_is_reversed(x):
    items = reversed(x)
    total = 0.0
    for a in items:
        total = 0.5 * total + a * next(items) ** 2
    return total


@program(ROWS, features="loop and next, flat")
def next_of_the_flat_entries(x):
    entries, others = x.flat, iter(x.flat)
    total = next(others)
    for a in entries:
        total = 0.5 * total + a * next(entries) ** 2 * next(others, 1.5)
    return total


@program(NAMED, features="loop and next, views of a dict")
def next_of_the_views_of_a_dict(named):
    values, items = iter(named.values()), iter(named.items())
    total = next(iter(named.values())) ** 2
    for a in values:
        _, b = next(items)
        total = 0.5 * total + a * next(values) * b**2
    return total


@program(NAMED, features="first value of a dict")
def first_value_of_a_dict(named):
    return next(iter(named.values())) ** 2


@program(X, features="loop and next, accumulate, pairwise, cycle")
def next_of_itertools(x):
    sums, pairs, rounds = itertools.accumulate(x), itertools.pairwise(x), itertools.cycle(x)
    total = next(rounds)
    for a in sums:
        b, c = next(pairs)
        total = 0.5 * total + a * next(sums) * b * c**2 * next(rounds)
    for a in rounds:
        if a > 2.0:
            break
        total = total + a * next(rounds)
    return total


@program(VALUES, features="zip of one iterator with itself")
def zipped_with_itself(x):
    items = iter(x)
    return [a * b * b for a, b in zip(items, items)] + [a * c for a, b, c in zip(*[iter(x)] * 3)]


@program(X, features="first item and the rest, loop")
def first_and_rest_in_a_loop(x):
    items = iter(x)
    total = next(items)
    for a in items:
        total = 0.5 * total + a * a
    return total


def rest_of(items):
    return [a * a for a in items]


@program(VALUES, features="first item and the rest, callee, closure")
def first_and_rest_elsewhere(x):
    items, others = iter(x), map(math.sin, x)
    first, second = next(items), next(others)

    def rest():
        total = 0.0
        for b in others:
            total = 0.5 * total + b * b
        return total

    return first * sum(rest_of(items)) + second * rest()


@program(VALUES, features="first item and the rest, builtins")
def first_and_rest_in_builtins(x):
    total = 0.0
    for read in (
        sum, max, min, math.fsum, math.prod,
        lambda rest: list(rest)[1], lambda rest: tuple(rest)[-1], lambda rest: sorted(rest)[0],
        lambda rest: max(rest, key=lambda v: v * v), lambda rest: min(rest, default=1.0),
        lambda rest: functools.reduce(lambda s, v: 0.5 * s + v * v, rest, 1.5),
        lambda rest: [*rest][2], lambda rest: dict(zip("abc", rest))["b"],
    ):  # fmt: skip
        items = iter(x)
        total = 0.7 * total + next(items) * read(items)
    return total


@program(X, features="first item and the rest, inlined builtins")
def first_and_rest_in_known_builtins(x):
    items, others, again, more = iter(x), iter(x), iter(x), iter(x)
    a, b, c, d = next(items), next(others), next(again), next(more)
    rest, pair = list(items), tuple(others)
    p, q, *_ = again
    e, f, g, h, i = more
    return a * rest[0] * rest[-1] + b * pair[1] ** 2 + c * p * q * q + d * e * f * f * i + g * h


@program(VALUES, features="two loops over one iterator")
def two_loops(x):
    items = iter(x)
    total = 0.0
    for a in items:
        total = 0.5 * total + a * a
        if a > 2.0:
            break
    for a in items:
        total = 0.3 * total + a * a * a
        if a > 1.0:
            break
    return total * sum(items)


def two_loops_over(items):
    total = 0.0
    for a in items:
        total = 0.5 * total + a * a
        if a > 2.0:
            break
    for a in items:
        total = 0.2 * total + a
    return total


@program(X, features="two loops over one iterator, callee")
def two_loops_in_a_callee(x):
    return two_loops_over(iter(x)) * two_loops_over(map(math.sin, x))


@program(X, features="nested loops over one iterator")
def nested_loops(x):
    items = iter(x)
    total = 0.0
    for a in items:
        for b in items:
            total = 0.5 * total + a * b * b
            if b > 2.0:
                break
    return total


@program(VALUES, features="blocks by islice")
def blocks(x):
    items, others = iter(x), iter(x)
    out = []
    while block := list(itertools.islice(items, 2)):
        out = out + [block[0] * block[1] ** 2]
    for a in others:
        for b in itertools.islice(others, 2):
            out = out + [a * b * b]
    return out


@program(X, features="takewhile, then next")
def after_takewhile(x):
    items = iter(x)
    head = list(itertools.takewhile(lambda v: v < 2.0, items))
    any(v > 0.4 for v in items)
    return head[0] * head[1] ** 2 * next(items) ** 2


@program(VALUES, features="iterators in containers")
def iterators_in_a_list(x):
    readers = [iter(x), iter(x), reversed(x)]
    total = next(readers[0])
    for a in readers[0]:
        total = 0.5 * total + a * next(readers[1]) ** 2 + next(readers[2])
    return total


@program(VALUES, features="iterator over an iterator")
def chained_with_a_first_item(x):
    items = iter(x)
    first = next(items)
    again = iter(items)
    total = 0.0
    for a in itertools.chain([2.0 * first], items):
        total = 0.5 * total + a * next(again) ** 2
    return total


@program(X, features="map that reads what it is given")
def map_that_reads(x):
    items = iter(x)
    return list(map(lambda a: a * next(items) ** 2, items))


@program(VALUES, ROWS[0], features="zip and map asked again after their end, which take one more item")
def asked_again_after_the_end(x, y):
    items, others, last = iter(x), iter(x), iter(x)
    pairs, products, sums = zip(items, y), map(lambda a, b: a * b, others, y), itertools.accumulate(last)
    total = 0.0
    for a, b in pairs:
        c, d = next(pairs, (1.5, 2.5))
        total = 0.5 * total + a * b * c * d
    for a in products:
        total = 0.5 * total + a * next(products, 1.5)
    total = total + next(pairs, (0.0, 0.0))[0] + next(products, 0.0) + sum(sums)
    return total * next(items) * next(others) * sum(items) * sum(others)
