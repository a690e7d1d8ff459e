"""Iterators of `itertools` that read ahead of who uses them, or are read by several: `groupby`, `tee`, `count`."""

from __future__ import annotations

import bisect
import heapq
import itertools
import operator

from tests.programs.mutation.table import program

L = [1.5, 2.1, -1.0, -3.0, 4.2]


def products(xs, log):
    for v in xs:
        log[0] += v * v
        yield v * xs[0]


@program(L, features="iterator")
def counted_by_numbers(xs):
    return sum(v * c for v, c in zip(xs, itertools.count(1))) + sum(v * c for v, c in zip(xs, itertools.count(xs[0], 0.5)))


@program(L, features="iterator")
def neighbours_by_tee(xs):
    a, b = itertools.tee(xs)
    next(b)
    return sum(u * v for u, v in zip(a, b))


@program(L, features="iterator")
def three_readers(xs):
    a, b, c = itertools.tee((v * v for v in xs), 3)
    return sum(a) * max(b) + list(c)[2]


@program(L, features="iterator")
def keys_of_equal_items(xs):
    return sum(k * len(list(g)) for k, g in itertools.groupby(xs))


@program(L, features="iterator")
def keys_that_are_computed(xs):
    return sum(k * sum(g) for k, g in itertools.groupby(xs, key=lambda v: v * v))


@program(L, features="iterator")
def signs_of_groups(xs):
    out = []
    for sign, group in itertools.groupby(xs, lambda v: v > 0):
        group = list(group)
        out.append((sign, len(group), sum(group)))
    return sum(s * n if p else -s for p, n, s in out)


@program(L, features="iterator")
def first_of_each_group(xs):
    first = [next(g) for _, g in itertools.groupby(xs, key=lambda v: v > 0)]
    return sum(v**2 for v in first)


@program(L, features="iterator")
def next_of_a_counter(xs):
    c = itertools.count(xs[0], xs[1])
    a = next(c)
    b = next(c)
    d = next(c)
    return a * b * d


@program(L, features="iterator")
def tee_of_a_generator(xs):
    log = [0.0]
    a, b = itertools.tee(products(xs, log))
    next(b)
    t = 0.0
    for u, v in zip(a, b):
        t += u * v * log[0]
    return t + log[0]


@program(L, features="iterator")
def one_reader_after_the_other(xs):
    log = [0.0]
    a, b = itertools.tee(products(xs, log))
    s = sum(a) * log[0]
    log[0] = xs[1]
    return s * sum(v * v for v in b) + log[0]


@program(L, features="iterator")
def readers_in_turn(xs):
    log = [0.0]
    a, b = itertools.tee(products(xs, log))
    t = next(a) * next(a) * log[0]
    t += next(b)
    for v in a:
        if v > 3:
            break
        t += v * log[0]
    return t * next(b) * next(b)


@program(L, features="iterator")
def tee_of_a_map(xs):
    calls = [0]

    def f(v):
        calls[0] += 1
        return v * v

    a, b = itertools.tee(map(f, xs))
    m = sum(a) / len(xs)
    return sum((v - m) ** 2 for v in b) * calls[0]


@program(L, features="iterator")
def groups_of_a_generator_that_writes(xs):
    log = [0.0]
    t = 0.0
    for k, g in itertools.groupby(products(xs, log), key=lambda v: v > 0):
        t += sum(g) * log[0] * (1 + k)
    return t


@program(L, features="iterator")
def key_that_writes(xs):
    n = [xs[0]]

    def key(v):
        n[0] += v * v
        return v * n[0]

    t = 0.0
    for k, g in itertools.groupby(xs, key):
        t += k * sum(g) + n[0]
    return t


@program(L, features="iterator")
def groups_by_next(xs):
    log = [0.0]
    gs = itertools.groupby(products(xs, log), key=lambda v: v > 0)
    k, g = next(gs)
    a = next(g) * log[0]
    k2, g2 = next(gs)
    b = list(g2)
    return a * sum(b) * (k + 2) + log[0]


@program(L, features="iterator")
def groups_of_equal_items_by_next(xs):
    log = [0.0]
    gs = itertools.groupby(products(xs, log))
    k, g = next(gs)
    a = sum(g)
    k2, g2 = next(gs)
    return a * k + k2 * log[0]


@program(L, features="iterator")
def one_group_to_the_end(xs):
    log = [0.0]
    gs = itertools.groupby(products(xs, log), key=lambda v: 1)
    k, g = next(gs)
    return sum(v * v for v in g) * log[0] * k


@program(L, 3.0, features="iterator")
def key_over_an_argument(xs, c):
    return sum(k * len(list(g)) for k, g in itertools.groupby(xs, key=lambda v: v * c))


@program(L, features="iterator")
def keys_that_are_pairs(xs):
    recs = [("a", xs[0], xs[1]), ("a", xs[0], xs[2]), ("b", xs[3], xs[4])]
    t = 0.0
    for (name, w), g in itertools.groupby(recs, key=lambda r: (r[0], r[1])):
        t += w * sum(r[2] for r in g)
    return t


@program(L, features="iterator")
def keys_by_itemgetter(xs):
    recs = [(xs[0], xs[1]), (xs[0], xs[2]), (xs[3], xs[4])]
    t = 0.0
    for w, g in itertools.groupby(recs, key=operator.itemgetter(0)):
        t += w * w * sum(r[1] for r in g)
    return t


@program(L, 0.5, features="iterator")
def counter_beside_items(xs, h):
    ts = itertools.count(xs[0], h)
    return sum(v * t**2 for v, t in zip(xs, ts)) * next(ts)


@program(L, 0.5, features="iterator")
def counter_by_names(xs, h):
    return sum(v * t for v, t in zip(xs, itertools.count(start=xs[1], step=h))) + sum(
        itertools.takewhile(lambda t: t < 8.1, itertools.count(h, h))
    )


@program(L, 0.5, features="iterator")
def counter_left(xs, h):
    acc = [0.0]
    for t in itertools.count(xs[0], h):
        acc[0] += t * t
        if t > 4.1:
            break
    return acc[0]


@program(L, 0.5, features="iterator")
def counter_that_is_numbered(xs, h):
    return sum(i * t for i, t in enumerate(itertools.islice(itertools.count(h, xs[0]), 4)))


@program(L, features="iterator")
def groups_that_are_left(xs):
    log = [0.0]
    t = 0.0
    for k, g in itertools.groupby(products(xs, log), key=lambda v: v > 0):
        t += next(g) * log[0]
    return t * log[0]


def retried(x):
    for i in range(10):
        try:
            if i == 2:
                raise ValueError
            yield x**i
        except ValueError:
            yield 7.0 * x


@program(1.5, features="iterator")
def left_in_a_try_with_handlers_only(x):
    t = 0.0
    for v in retried(x):
        t += v * x
        if t > 8:
            break
    return t


@program(1.5, features="iterator")
def left_in_a_try_by_next(x):
    g = retried(x)
    return next(g) * next(g) + next(g) * x


class Dice:
    def __init__(self, x):
        self.x, self.k = x, 0

    def __call__(self):
        self.k += 1
        return self.x * self.k if self.k < 4 else None


@program(L, features="iterator")
def called_until_none(xs):
    box, n = list(xs), [0.0]

    def taken():
        n[0] += box[0]
        return box.pop(0) if len(box) > 1 else None

    return sum(v * v for v in iter(taken, None)) * n[0] + box[0]


@program(1.5, features="iterator")
def called_until_the_object_says_so(x):
    dice = Dice(x)
    return sum(iter(dice, None)) * dice.k


@program([1.0, 2.0, 4.0], 2.7, features="iterator")
def place_by_a_key_that_writes(v, q):
    n = [0.0]

    def key(t):
        n[0] += t * q
        return t

    i = bisect.bisect_left(v, q, key=key)
    return v[i] * q + n[0]


@program([1.0, 2.0, 4.0], 2.7, features="iterator")
def place_by_a_key(v, q):
    records = [(x, x * q) for x in v]
    records[0] = (q * 0.1, q)
    i = bisect.bisect(records, q, key=operator.itemgetter(0))
    return records[i - 1][1] * records[i][0]


@program(1.5, features="iterator")
def numbers_of_a_set(x):
    t = [x, x * x, 3 * x]
    seen = {0, 2}
    seen.add(1)
    t[0] = t[1] * 2
    return sum(a * b for a, b in zip(t, sorted(seen))) + sum(t[k] * k for k in seen) + max(seen) * x


@program(1.5, features="iterator")
def next_as_a_method(x):
    items = map(lambda v: v * x, [1.0, 2.0, 3.0])
    following = items.__next__
    a, b = following(), next(items)
    return a * b + following()


@program(1.5, features="iterator")
def merged_in_order(x):
    return sum(v * i for i, v in enumerate(heapq.merge([x, 3 * x], [2 * x, 5.0])))


@program(1.5, features="iterator")
def merged_generators_that_write(x):
    log = [x]

    def rising(k):
        for i in range(3):
            log[0] += x
            yield k * x + i * log[0]

    return sum(v * log[0] for v in heapq.merge(rising(1.0), rising(2.5)))
