"""Iterators that are read at several places in runs that write: what they write is undone in the order of the reads."""

from __future__ import annotations

import itertools
import math
from collections import Counter, OrderedDict, deque

import numpy as np

from tests.programs.mutation.table import V4, V5, K, program

V6 = np.array([0.7, -1.4, 2.2, 0.5, 1.1, 0.3])
LIST6 = [0.7, -1.4, 2.2, 0.5, 1.1, 0.3]
ROWS = V6.reshape(3, 2)
NAMED = {"a": 0.7, "b": -1.4, "c": 2.2, "d": 0.5}


@program(V6, features="loop and next")
@program(LIST6, features="loop and next, list")
def next_appended(x):
    out = [1.0]
    items = iter(x)
    for a in items:
        out.append(a * next(items) ** 2 * out[-1] + a)
    return out


@program(V6, features="loop and next, map that writes")
def map_that_writes_read_twice(x):
    out = [1.0]

    def noted(v):
        out.append(v * out[-1] + v)
        return v * out[-1]

    items = map(noted, x)
    total = next(items)
    for a in items:
        out[0] = out[0] * a
        total = 0.5 * total + a * next(items, out[-1]) * out[0]
        out[-1] *= a
    return total + sum(out)


@program(LIST6, features="two names of an iterator, filter that writes")
def filter_that_writes_read_twice(x):
    seen = [0.5]

    def is_kept(v):
        seen[0] = seen[0] * v + 1.0
        return v > 0.0

    items = filter(is_kept, x)
    again = items
    total = 0.0
    for a in items:
        seen[0] *= a
        total += a * next(again, 1.5) * seen[0]
    return total * seen[0]


def writing(x, box):
    for a in x:
        box[0] = box[0] * a + 0.3
        yield a * box[0]
    box[0] *= 2.0


@program(V6, features="generator read by two zips")
def zipped_generator(x):
    box = [1.0]
    items = writing(x, box)
    total = 0.0
    for a, b in zip(items, itertools.islice(items, 2), strict=False):
        total = 0.5 * total + a * b * b * box[0]
        box[0] += a
    for a, b in zip(map(np.sin, items), items, strict=False):
        total = 0.5 * total + a * b * box[0]
    return total * box[0]


@program(V6, features="chain over a generator, read to its end by another")
def end_met_by_another(x):
    box = [1.0]
    items = itertools.chain(writing(x[:3], box), x[3:])
    total = 0.0
    for a in items:
        box[0] *= a
        total = 0.5 * total + a
        if a > 1.0:
            break
    rest = list(items)
    for a in items:
        total = total * a
    box[0] *= 1.5
    total = total + next(items, box[0])
    return total * rest[-1] * rest[0] * box[0]


@program(V6, features="blocks of an array into an array")
def blocks_stored(x):
    out = np.zeros((3, 2))
    items = iter(x)
    for i, pair in enumerate(zip(items, items, strict=True)):
        out[i] = pair
        out[i, 0] *= out[i, 1]
    for row, i in zip(out, itertools.count(), strict=False):
        out[i, 1] *= row[0]
    return out


@program(V4, V5, features="rows in two loops over an iterator")
def rows_from_where_it_stopped(v, w):
    rows = iter(np.outer(v, w))
    out = {}
    for i, row in enumerate(rows):
        for j, a in enumerate(row):
            out[i, j] = a * a
        if i == 1:
            break
    for row in rows:
        entries = iter(row)
        first = next(entries)
        for a in entries:
            out[0, 0] += first * a * next(entries)
    return sum(out.values())


@program(NAMED, features="items of a dict that is written")
def items_while_values_change(named):
    items, values = iter(named.items()), iter(named.values())
    total = next(values)
    for key, a in items:
        named[key] = a * a
        other, b = next(items)
        named[other] = a * b + named[key]
        total = 0.5 * total + next(values, 1.0) * b
    return total + sum(named.values())


@program(V6, features="flat, loop and next, written between")
def flat_read_and_written(x):
    y = x.reshape(3, 2) * 1.0
    entries = y.flat
    total = 0.0
    for a in entries:
        b = next(entries)
        y[0, 1] = y[0, 1] * a
        total = 0.5 * total + a * b * b * y[0, 1] + next(y.flat) * next(entries, a)
    return total + np.sum(y)


@program(V6, features="loop in a try, next raises")
def next_raises_in_a_loop(x):
    out, items = [], iter(x)
    try:
        for a in items:
            out.append(a * next(items) * next(items) * next(items))
    except StopIteration:
        out.append(a * a)
    return out


@program(V6, features="unpacking what is left")
def what_is_left_unpacked(x):
    out, items = [1.0], map(lambda v: out.append(v * out[-1]) or v * out[-1], x)
    a = next(items)
    b, c = itertools.islice(items, 2)
    out[0] *= b
    d, e, f = items
    return a * b * c**2 * d * e + f * sum(out)


class Tokens:
    def __init__(self, items):
        self.items = iter(items)
        self.count = 0.0

    def pull(self):
        self.count += 0.5
        return next(self.items) * self.count


@program(LIST6, features="iterator that an object holds")
def iterator_of_an_object(x):
    tokens = Tokens(x)
    total = 0.0
    for a in tokens.items:
        total = 0.5 * total + a * tokens.pull() ** 2
    return total * tokens.count


@program(V6, K, features="deque as a window over an iterator")
def moving_window(x, k):
    items = iter(x)
    window = deque(itertools.islice(items, 3), maxlen=3)
    out = [sum(window) * k]
    for a in items:
        window.append(a * k)
        out.append(window[0] * window[1] + window[2])
    return out


@program(V6, features="StopIteration of what writes, caught")
def ends_that_are_caught(x):
    out = [1.0]

    def noted(v):
        out.append(0.5 * v * out[-1] + v)
        return v * out[-1]

    items, others = map(noted, x), itertools.chain(writing(x[:2], out), [x[0]], writing(x[2:], out))
    total = 0.0
    while True:
        try:
            total = 0.5 * total + next(items) * next(items)
            out[0] *= total
            total = total + next(others) * next(items)
        except StopIteration:
            out[0] *= x[1]
            break
    for a in others:
        try:
            b = next(others)
        except StopIteration:
            b = out[0]
            out[0] = b * x[2]
        total = 0.5 * total + a * b * out[0]
    return total * sum(out)


@program(V6, features="map that raises, caught by who calls next")
def raised_by_the_next(x):
    box, total = [1.0], 0.0

    def scaled(v):
        box[0] *= v
        if v > 2.0:
            raise ValueError
        return v * box[0]

    for items in (map(scaled, x), map(scaled, writing(x, box))):
        try:
            for a in items:
                total = total + a * next(items)
        except ValueError:
            total = total * box[0]
            box[0] = 0.7
    return total


@program(LIST6, features="generator that yields pairs")
def generator_of_pairs(x):
    def pairs(items):
        for a in items:
            yield a, next(items)

    return sum([a * b * b for a, b in pairs(iter(x))])


@program(LIST6, features="deque of a generator, map, part of an iterator")
def deques_of_iterators(x):
    items = iter(x)
    first = next(items)
    rest = deque(items)
    last = deque(map(math.sin, x), maxlen=2)
    squares = deque(a * a for a in x)
    named = OrderedDict(zip("abcdef", x))
    return first * rest[0] * rest[-1] + last[0] * last[1] + squares[2] + named["d"] * named["e"]


@program(V6, features="Counter of what is computed from active values")
def counted_signs(x):
    signs = Counter("+" if a > 0.0 else "-" for a in x)
    sizes = Counter(map(lambda a: int(abs(a)), x))
    return signs["+"] * x[0] ** 2 + sizes[1] * x[1] ** 2 + sizes.most_common(1)[0][1] * x[2] ** 2 + signs["?"] * x[3]


@program(LIST6, ROWS, features="generator expressions kept inside of one that is consumed")
def generators_inside_of_generators(x, y):
    total = sum(sum(b * x[0] for b in (a * c for c in row)) for a, row in zip(x, y))
    return total + max(min(t for t in (v * a for v in x)) for a in (b * b for b in y[1]))
