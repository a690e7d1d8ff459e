"""Generators: how far they are run, by whom, and what they and their consumers write."""

from __future__ import annotations

import contextlib
import itertools
import math
import types

import numpy as np

from tests.programs.mutation.table import V3, K, program


def powers(x, n):
    s = x
    for _ in range(n):
        s = s * x
        yield s
    s = s + 1


def doubling(items, x, n):
    for _ in range(n):
        items[0] = items[0] * x
        yield items[0]
        items[0] = items[0] * x + 1.0


@program(1.7, features="generator, code after the last yield")
def trailing_code(x):
    out = []

    def gen():
        y = x
        while y < 9.0:
            out.append(y)
            yield y * y
            out.append(y * 3.0)
            y = y * x
        out.append(y * 5.0)
        yield y
        out.append(y * 7.0)

    t = 0.0
    for v in gen():
        out.append(v)
        t += v * out[-2]
    return t + sum(out)


@program(1.7, features="generator, break after each number of items")
def break_each(x):
    out = []

    def gen(y):
        for i in range(4):
            out.append(y)
            y = y * x
            yield y * y
            out.append(y * 3.0 * out[0])
        out.append(y)

    t = 0.0
    for n in range(1, 7):
        k = 0
        for v in gen(x):
            out[0] = out[0] * 0.5 + v * 0.01
            t += v
            k += 1
            if k == n:
                break
    return t + sum(out)


@program(1.7, features="generator, generator expression over another")
def nested_expression(x):
    xs = [x, x * x, 2.0 * x]
    g = (v * w for v in (u + 1.0 for u in xs) for w in xs if v > w)
    return sum(g)


@program(1.7, features="generator, generator expression over a generator, unpacking with a star")
def expression_over_generator(x):
    def gen():
        a = x
        for _ in range(4):
            a = a * x
            yield a

    g = (v * x for v in gen() if v > 1.0)
    a, b, *c = g
    return a * b + sum(c)


@program(1.7, features="generator, two generators by turns, send")
def interleaved(x):
    def gen(s):
        while True:
            s = s * x
            w = yield s
            if w is not None:
                s = s + w * x

    a, b = gen(x), gen(2.0)
    t = next(a) * next(b)
    t += a.send(t) * next(b)
    t += b.send(next(a))
    return t * next(a)


class Holder:
    def __init__(self, g):
        self.g = g
        self.last = 0.0

    def step(self):
        self.last = next(self.g)
        return self.last


@program(1.7, features="generator, generator in an object")
def stored_in_object(x):
    def gen():
        yield x
        yield x * x
        yield x**3

    h = Holder(gen())
    return h.step() * h.step() + h.last


@program(1.7, features="generator, generator as an argument of a generator")
def generator_argument(x):
    def twice(g):
        for v in g:
            yield v
            yield v * x

    def gen():
        yield x
        yield x * x

    return sum(twice(twice(gen())))


@program(1.7, features="generator, yield from with a value, send through it")
def return_value(x):
    def inner():
        w = yield x
        yield w * x
        return x * x * 3.0

    def outer():
        z = yield from inner()
        yield z * x

    g = outer()
    t = next(g)
    t = t * g.send(t * 2.0)
    return t + next(g)


@program(1.7, features="generator, yield from over everything, stopped at each point")
def stopped_in_yield_from(x):
    def inner(items):
        for i in range(3):
            items.append(x * i)
            yield items[-1] * x
            items.append(items[-1] * 2.0)

    def outer(items):
        yield from [x, x * x]
        yield from inner(items)
        yield from (x, 2.0 * x)
        yield from np.array([1.0, 2.0]) * x
        items.append(x**3)

    t = 0.0
    for n in range(10):
        items = []
        for k, v in enumerate(outer(items)):
            t += v * v
            items.append(v)
            if k == n:
                break
        t += sum(items)
    return t


@program(1.7, features="generator, generator without end, islice")
def islice_of_infinite(x):
    def gen():
        a = x
        while True:
            yield a
            a = a * x

    return sum(itertools.islice(gen(), 3))


@program(1.7, features="generator, next with a default")
def next_default(x):
    def gen():
        yield x

    g = gen()
    return next(g, 0.0) * next(g, x * 3.0) + next(g, x)


@program(1.7, features="generator, generator that yields views")
def yields_views(x):
    u = np.ones(4) * x

    def gen():
        for i in range(3):
            u[i + 1] += u[i] * x
            yield u[i : i + 2]

    t = 0.0
    for v in gen():
        t = t + np.sum(v * v)
        v *= x
    return t + np.sum(u)


class Tree:
    def __init__(self, v, *c):
        self.v = v
        self.c = c

    def __iter__(self):
        yield self.v
        for c in self.c:
            yield from c


@program(1.7, features="generator, __iter__ that yields, recursive")
def tree(x):
    t = Tree(x, Tree(x * x), Tree(x**3, Tree(2.0 * x)))
    return sum(v * v for v in t) + sum(t)


@program(1.7, features="generator, generator that yields nothing")
def empty(x):
    def gen():
        return x
        yield

    def outer():
        z = yield from gen()
        yield z * x

    return sum(outer()) + sum(gen(), 0.0)


@program(1.7, features="generator, generator that is never advanced")
def never_advanced(x):
    def gen():
        yield x

    g = gen()
    return x * x


@program(1.7, features="generator, list, tuple, sorted, max, star of a generator")
def list_tuple_sorted(x):
    def gen(n):
        for i in range(n):
            yield x * (i - 2) ** 2

    a, b, c = list(gen(4)), tuple(gen(3)), sorted(gen(5))
    d = max(gen(5))
    e = [*gen(2), x]
    return sum(a) * b[0] + c[3] + d * e[0]


@program(1.7, features="generator, list.extend, +=, stars of a call")
def extend_by(x):
    items = [x]

    def gen():
        for i in range(3):
            yield x * i

    items.extend(gen())
    items += gen()

    def f(*a):
        return a[1] * a[2]

    return sum(items) * items[2] + f(*gen())


@program(1.7, features="generator, yield in the condition of while")
def while_condition(x):
    def gen():
        t = x
        while (w := (yield t)) is not None and w > 0.0:
            t = t * w
        yield t * 5.0

    g = gen()
    a = next(g)
    b = g.send(a)
    c = g.send(b * x)
    return a + b + c + next(g)


@program(1.7, features="generator, enumerate and zip over generators in a comprehension")
def enumerate_zip_comprehension(x):
    def gen(n):
        a = x
        for i in range(n):
            yield a
            a = a * x

    return sum([a * i + b for i, (a, b) in enumerate(zip(gen(4), gen(3)))]) + sum({k: v for k, v in zip("ab", gen(9))}.values())


@program(1.7, features="generator, generator that yields tuples")
def tuples_from_generator(x):
    def gen():
        a, b = x, 1.0
        for _ in range(5):
            yield a, b
            a, b = b, a + b * x

    t = 0.0
    for a, b in gen():
        t += a * b
    return t


@program(1.7, features="generator, generator and its consumer write into one list")
def generator_mutating_argument_list(x):
    def drain(items):
        while items:
            yield items.pop()

    items = [x, x * x, 3.0 * x]
    t = 0.0
    for v in drain(items):
        if v > 4 and len(items) < 5:
            items.append(v * 0.3)
        t += v * v
    return t


@program(1.7, features="generator, generator with stars among its parameters")
def keyword_arguments(x):
    def gen(*a, **k):
        yield from a
        for v in k.values():
            yield v * x

    return sum(gen(x, x * x, p=x, q=2.0))


@program(1.7, features="generator, captured variable with a new value while the generator lives")
def rebound_after_call(x):
    a = x

    def gen():
        yield a
        yield a * a

    g = gen()
    s = next(g)
    a = x * 3.0
    return s + next(g)


@program(1.7, features="generator, the same for a generator expression")
def rebound_expression(x):
    a = x
    g = (v * a for v in [x, 2.0, x * x])
    s = next(g)
    a = x * 3.0
    return s + sum(g)


@program(1.7, features="generator, generator that assigns a nonlocal")
def nonlocal_generator(x):
    total = x

    def gen():
        nonlocal total
        for i in range(3):
            total = total * x
            yield total
            total += 1.0

    s = 0.0
    for v in gen():
        total = total + v * 0.1
        s += v * total
    return s * total


@program(1.7, features="generator, generator of functions")
def expression_of_lambdas(x):
    fs = (lambda u: u * x + k for k in range(3))
    t = 0.0
    for f in fs:
        t += f(x) * t + x
    return t


@program(1.7, features="generator, map, pairwise, zip, islice over generators that write")
def mapped(x):
    out = [x]

    def gen():
        for i in range(3):
            out.append(out[-1] * x)
            yield out[-1]
        out.append(x)

    t = 0.0
    for v in map(lambda u: u * x, gen()):
        out[-1] = out[-1] * 0.5
        t += v
    for a, b in itertools.pairwise(gen()):
        t += a * b
    for i, (a, b) in enumerate(zip(map(abs, gen()), itertools.islice(gen(), 2))):
        out[-1] = out[-1] * 0.5
        t += a * b * i
    return t + sum(out)


@program(1.7, features="generator, filter, chain, map over generators")
def filtered_chain(x):
    def gen(n):
        for i in range(n):
            yield x * i

    return sum(filter(lambda v: v > 2.0, itertools.chain(gen(4), gen(3), [x]))) + sum(map(lambda a, b: a * b, gen(3), gen(5)))


@program(1.7, 0, features="generator, zip of unequal lengths, the first one longer")
def zip_drops_an_item(x, n):
    t = 0.0
    for longer in range(4):
        items = [x]
        g = doubling(items, x, longer)
        for i, (a, b) in enumerate(zip(powers(x, n + 2), g)):
            items[0] = items[0] * 0.5 + a
            t += a * b * i
        for a, b, c in zip(doubling(items, x, longer), powers(x, 2), range(3)):
            items[0] = items[0] * 0.5 + a
            t += a * b + c
        t += items[0]
    return t


@program(1.7, features="generator, zip of one with itself")
def zip_with_itself(x):
    t = 0.0
    for n in range(5):
        items = [x]
        g = doubling(items, x, n)
        for a, b in zip(g, g):
            items[0] = items[0] * 0.5 + a
            t += a * b
        t += items[0]
    return t


@contextlib.contextmanager
def scaled(holder, k):
    before = holder.scale
    holder.scale = holder.scale * k
    yield holder.scale
    holder.scale = holder.scale * before


@contextlib.contextmanager
def scaled_for_now(holder, k):
    before = holder.scale
    holder.scale = holder.scale * k
    try:
        yield holder.scale
    finally:
        holder.scale = before


@program(1.7, features="generator, contextmanager")
def context_manager_that_yields(x):
    holder = types.SimpleNamespace(scale=x)
    with scaled(holder, x) as k:
        holder.scale = holder.scale * 2.0
        t = holder.scale * k
    return t + holder.scale


@program(1.7, features="generator, contextmanager with finally, nested")
def context_managers_with_finally(x):
    holder = types.SimpleNamespace(scale=x)
    with scaled_for_now(holder, x) as k:
        t = holder.scale * k
        with scaled_for_now(holder, t):
            t += holder.scale
        holder.scale = holder.scale + 1.0
    return t * holder.scale


@program(1.7, features="generator, yield in try, run to its end")
def yield_in_try(x):
    out = []

    def gen():
        for k in range(3):
            try:
                yield x * k
                out.append(x)
            finally:
                out.append(k * x)

    return sum(gen()) * sum(out)


@program(1.7, features="generator, close, next afterwards")
def closed_generator(x):
    def gen():
        yield x
        yield x * x

    g = gen()
    t = next(g)
    g.close()
    return t * next(g, 3.0 * x)


@program(1.7, features="generator method with defaults")
def generator_method(x):
    t = sum(Walk(x).steps()) + sum(Walk(2.0).steps(3, k=x * x))
    w = Walk(x)
    for v in w.steps(k=x):
        w.position = w.position + v
        t += v
    return t * w.position


class Walk:
    def __init__(self, position):
        self.position = position

    def steps(self, n=2, *, k=0.5):
        for _ in range(n):
            self.position = self.position * k
            yield self.position


@program(K, features="generator expressions over constants")
def expressions_over_constants_are_kept(x):
    items, total = [x], x
    inverse = (1.0 / k for k in [1.0, 0.0])
    try:
        for v in inverse:
            total = total * v * x
            items.append(total)
    except ZeroDivisionError:
        total = total * 2.0
    steps, names, entries = (k for k in range(3)), (c for c in "ab"), (v * 2.0 for v in np.array([1.0, 2.0]))
    items.append(next(steps) + len(list(names)) + sum(entries))
    return total * sum(items) * sum(k * 0.5 for k in steps)


@program(V3, features="generator expression over what cannot be iterated over, caught")
def an_expression_asks_for_an_iterator_when_it_is_made(x):
    items = [x[0]]
    try:
        made = (v for v in 5)
        items.append(x[2])
        items.append(sum(made))
    except TypeError:
        items.append(x[1] * x[0])
    return math.prod(items)


def closing(log, x, n=5):
    try:
        for i in range(n):
            yield x * (i + 1)
    finally:
        log.append(x * x)


@program(0.7, features="generator, finally, break")
def left_by_break(x):
    log = []
    for v in closing(log, x):
        if v > 1.0:
            break
    return log[0] * v


@program(0.7, features="generator, finally, break, else, nested")
def left_by_break_in_loops(x):
    log, total = [0.5], 0.0
    for i in range(3):
        for v in closing(log, x * (i + 1)):
            for w in closing(log, v):
                if w > 1.0:
                    break
            total = total + w * log[-1]
            if v > 1.2:
                break
        else:
            total = total * 2.0
    return total * log[-1] * log[-2] * len(log)


@program(0.7, features="generator, with, enumerate, zip, break")
def left_by_break_among_others(x):
    log = [0.5]

    def managed():
        with contextlib.closing(Appending(log, x)) as appending:
            while True:
                yield appending.x * log[0]

    for i, v in enumerate(managed()):
        if i == 2:
            break
    for w, u in zip(closing(log, x), closing(log, x * 2.0)):
        if u > 2.0:
            break
    return v * w * u * log[1] * log[2] * log[3]


class Appending:
    def __init__(self, log, x):
        self.log, self.x = log, x

    def close(self):
        self.log.append(self.x**3)


@program(0.7, features="generator, finally, break, somebody else has it")
def left_by_break_and_kept(x):
    log, kept = [], []

    def keeping():
        kept.append(closing(log, x))
        return kept[0]

    for v in keeping():
        break
    for w in (again := closing(log, x * 2.0)):
        break
    n = len(log)
    return v * w * (n + 1) * (next(kept[0]) + next(again)) * sum(kept[0]) * sum(again) * log[0] * log[1]


class Numbers:
    def __init__(self, x):
        self.x = x

    def items(self):
        for i in range(4):
            yield self.x * i


@program(0.7, features="method called items, of what are no pairs")
def items_that_are_no_pairs(x):
    numbers, total = Numbers(x), 0.0
    for v in numbers.items():
        total = total + v * v
    for i, v in enumerate(numbers.items()):
        numbers.x = numbers.x * 1.1
        total = total + v * i
    return total
