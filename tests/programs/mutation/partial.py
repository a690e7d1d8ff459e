"""Generators, iterators and calls that raise when they have done a part of what they do, and are caught."""

from __future__ import annotations

import collections
import math

import numpy as np

from tests.programs.mutation.table import K, program
from tests.programs.mutation.thrown import failing


def writing(x, box, n, bad):
    """Writes over what it wrote before, between its items and before it raises."""
    for k in range(n):
        box[0] = box[0] * x + k
        if k == bad:
            raise ValueError
        yield box[0] * x
        box[1] = box[0] * box[1]


@program(K, features="generator, raise, list, set and dict comprehensions, sum, any, all")
def comprehensions_over_what_raises(x):
    log, total = [1.0], x
    try:
        log = [v * w for w in failing(x, log) for v in failing(w + total, log)]
    except ValueError:
        total = total * log[-1]
    try:
        total = sum({k: v * x for k, v in enumerate(failing(total, log))}.values())
    except ValueError:
        total = total * log[-1]
    try:
        total = sum({v * x for v in failing(total, log)})
    except ValueError:
        total = total * log[-1]
    for f in (sum, list, tuple, sorted, any, math.prod):
        try:
            total = f(value * x for value in failing(total, log) if value > -1.0)
        except ValueError:
            total = total + log[-1]
    return total * sum(log)


@program(K, features="generator, raise, any, all, loop without a body, in a try")
def items_that_nobody_uses(x):
    log, total = [1.0], x
    try:
        total = 1.0 * any(v > 100.0 for v in failing(x, log))
    except ValueError:
        total = total * log[-1]
    try:
        for _ in failing(total, log):
            pass
    except ValueError:
        total = total * log[-1]
    return total + sum(log)


@program(K, features="generator, raise, used up by builtins")
def builtins_use_up_what_raises(x):
    log, total = [1.0], x
    for f in (sum, list, tuple, sorted, min, math.fsum, collections.deque):
        try:
            total = f(failing(x, log))
        except ValueError:
            total = total * log[-1] * 0.5 + 1.0
    return total * sum(log)


@program(K, features="in, of a generator and of one that raises")
def looked_through_for_a_number(x):
    log, total = [1.0], x
    steps = failing(x, log)
    try:
        total = total * (2.0 if 0.0 in steps else 3.0) + next(steps)
        total = total * (2.0 if 99.0 in steps else 3.0)
    except ValueError:
        total = total * log[-1]
    return total * sum(log)


@program(K, features="generator made outside of a try, next, raise, end")
def advanced_until_it_raises(x):
    box, total = [x, 2.0], x
    steps = writing(x, box, 3, 2)
    for _ in range(5):
        try:
            total = total * x + next(steps)
            box[0] = box[0] * 0.5
        except ValueError:
            total = total * box[0] + box[1]
        except StopIteration:
            total = total * x
    return total * box[0] * box[1]


def consumed(steps, total):
    for value in steps:
        total = total * value + 1.0
    return total


@program(K, features="generator and generator expression made outside of a try, for, sum, a callee")
def made_outside_of_a_try(x):
    log, total = [1.0], x
    first, second, third = failing(x, log), failing(2.0 * x, log), failing(0.5 * x, log)
    roots = (math.sqrt(2.0 - v) * x for v in [x, 2.0 * x, 3.0 * x])
    total = next(first) + next(second) + total
    try:
        total = consumed(first, total)
    except ValueError:
        total = total + log[-1]
    try:
        total = sum(second, total)
    except ValueError:
        total = total * log[-1]
    for steps in (third, roots):
        try:
            for value in steps:
                total = total * x + value
                log.append(total)
        except ValueError:
            total = total * 0.5
    return total * sum(log)


@program(K, features="generator, send of a value into the step that ends it")
def sent_into_the_last_step(x):
    log = []

    def inner():
        w = yield x * x
        log.append(x * w)
        return x * 7.0

    def outer():
        r = 0.0
        for _ in range(2):
            r = r + (yield from inner())
            log.append(r * log[-1])
        return r * x

    steps = outer()
    total = next(steps)
    try:
        while True:
            total = total * steps.send(total)
    except StopIteration:
        total = total * log[-1]
    return total * sum(log)


@program(K, features="generator that writes into a list, raise, undone once")
def undone_only_once(x):
    box = [x, 2.0]
    total = x
    try:
        steps = writing(x, box, 3, 2)
        total = total * next(steps)
        box[0] = box[0] * 2.0
        total = total * next(steps)
        box[1] = box[1] * total
        total = total * next(steps)
    except ValueError:
        box[0] = box[0] * box[1]
    return total * box[0] * box[1]


# Several at once


@program(K, features="zip and enumerate of generators, each of which raises at each place")
def zipped_generators_raise(x):
    total, box = 1.0, [x, x]
    for a in range(4):
        for b in range(4):
            for n in (2, 3):
                try:
                    pairs = zip(writing(x, box, n, b), [1.0, 2.0, x])
                    for i, (u, (v, w)) in enumerate(zip(writing(x, box, 2, a), pairs)):
                        total = total * 0.5 + u * v * w + i
                        box[0] = box[0] * 0.1
                except ValueError:
                    total = total + box[0] * 0.01 + box[1]
                box[0] *= 0.1
                box[1] *= 0.1
    return total


@program(K, features="zip of a list, a generator and a map, comprehension, else, finally")
def zipped_in_comprehensions(x):
    total, box = 1.0, [x, x]
    for a in range(4):
        for b in range(4):
            try:
                scaled = map(lambda q: q * x + box[1], writing(x, box, 2, b))
                made = [u * v * w * box[0] for u, v, w in zip([1.0, x, 2.0], writing(x, box, 2, a), scaled)]
            except ValueError:
                total = total + box[0] * 0.01 + box[1]
            else:
                total = total * 0.1 + sum(made)
            finally:
                box[0] *= 0.1
                box[1] *= 0.1
    return total


@program(K, features="map and enumerate of what raises, loop and list")
def mapped_functions_raise(x):
    log, total = [1.0], x

    def scaled(v):
        log.append(v * log[-1])
        if v > 1.5:
            raise ValueError
        return v * x

    for make in (
        lambda: map(scaled, [x, 2.0 * x, 3.0 * x]),
        lambda: map(scaled, failing(x, log)),
        lambda: filter(scaled, [1.0, 2.0]),
        lambda: (value for _, value in enumerate(failing(x, log))),
    ):
        try:
            for value in make():
                total = total * x + value
                log.append(total)
        except ValueError:
            total = total * 0.5 + log[-1]
        try:
            total = total + sum(list(make()))
        except ValueError:
            total = total + log[-1]
    return total * sum(log)


@program(K, features="__next__ that raises, loop in a try")
def iterator_of_a_class_raises(x):
    total = x
    steps = Growing(x)
    try:
        for value in steps:
            total = total * value
    except ValueError:
        return total * steps.a
    return x


class Growing:
    def __init__(self, a):
        self.a = a

    def __iter__(self):
        return self

    def __next__(self):
        self.a = self.a * 2.0
        if self.a > 4.0:
            raise ValueError(self.a)
        return self.a


class Indexed:
    def __init__(self, x):
        self.seen = [x]
        self.x = x

    def __getitem__(self, place):
        self.seen.append(self.seen[-1] * self.x)
        if place > 2:
            raise IndexError
        return self.seen[-1]


@program(K, features="__getitem__ that writes before it raises IndexError")
def last_index_writes(x):
    items, total = Indexed(x), x
    for value in items:
        total = total * value
    return total * sum(items.seen)


# Containers that take in the items of iterators


@program(K, features="extend, +=, update, |=, of iterators that read the container")
def iterators_see_what_they_are_put_into(x):
    items, table, ends = [x, 2.0 * x], {}, collections.deque([x])

    def growing():
        for _ in range(3):
            yield items[-1] * len(items)

    items.extend(growing())
    items += (v * len(items) for v in [x, x])
    items.extend(map(lambda v: v * len(items), [x, x]))
    table.update((k, x * len(table) + items[k]) for k in range(3))
    table |= ((k + 3, x * len(table)) for k in range(2))
    ends.extend(v * ends[-1] for v in [x, 2.0])
    ends.extendleft(v * ends[0] for v in [x, 2.0])
    ends += (v * len(ends) for v in [x])
    return sum(items) * items[-1] * sum(table.values()) * ends[0] * ends[-1]


@program(K, features="extend, +=, update, of iterators that raise")
def containers_are_filled_in_part(x):
    items, table = [x, 2.0 * x], {0.0: x}
    for fill in (
        lambda: items.extend(v * math.sqrt(2.0 - v) for v in [1.0, 1.5, 3.0]),
        lambda: items.extend(map(lambda v: v * math.sqrt(2.0 - v) * x, [1.0, 1.5, 3.0])),
        lambda: items.extend(failing(x, items)),
        lambda: table.update(map(lambda v: (v, math.sqrt(2.0 - v) * x), [1.0, 1.5, 3.0])),
    ):
        try:
            fill()
        except ValueError:
            items[0] = items[0] * items[-1]
    return sum(items) * items[0] * sum(table.values())


# Exceptions and `yield from`


@program(K, features="yield from what raises, caught around it")
def raised_behind_a_yield_from(x):
    log = []

    def outer():
        try:
            yield from failing(x, log)
        except ValueError:
            log.append(log[-1] * x)
            yield log[-1]
        log.append(2.0 * x)

    total = 0.0
    for value in outer():
        total = total * x + value
        log.append(total)
    return total * sum(log)


def answering(x, log):
    try:
        log.append(x)
        yield x * x
        log.append(3.0)
    except ValueError:
        log.append(log[-1] * x)
        yield log[-1] * 5.0
    return x * 7.0


@program(K, features="throw, send, yield from that hands it on, its value")
def thrown_through_a_yield_from(x):
    log = []

    def outer():
        r = yield from answering(x, log)
        log.append(r * log[-1])
        yield r

    for is_thrown in (False, True):
        steps = outer()
        total = next(steps)
        if is_thrown:
            total = total * steps.throw(ValueError())
        total = total + next(steps) + next(steps, x)
        log.append(total)
    return total * sum(log)


@program(K, features="throw, that the generator behind does not catch, close")
def thrown_past_the_generator_behind(x):
    log = []

    def inner():
        try:
            log.append(x)
            yield x * x
        finally:
            log.append(log[-1] * x)

    def outer(source):
        r = x
        try:
            r = yield from source
        except ValueError:
            log.append(r * log[-1])
        finally:
            log.append(log[-1] * 2.0)
        yield r * x

    total = 1.0
    for source in (inner(), [x, x * x], map(math.sin, [x])):
        steps = outer(source)
        total = total * next(steps)
        total = total * steps.throw(ValueError())
    steps = outer(inner())
    total = total * next(steps)
    steps.close()
    return total * sum(log)


# Setters and partial writes


class Level:
    """A property whose setter writes, and then looks at what it wrote."""

    def __init__(self, x):
        self.value, self.seen = x, [x]

    @property
    def level(self):
        return self.value

    @level.setter
    def level(self, new):
        self.seen.append(new * self.value)
        self.value = new * 2.0
        if new > 1.0:
            raise ValueError
        self.value = new * 3.0

    def __setitem__(self, place, new):
        self.level = new
        self.seen[place] = new * 3.0


@program(K, features="property, setter that raises, __setitem__ that raises, in a loop")
def setters_raise(x):
    box, total = Level(x), x
    for k in range(4):
        try:
            box.level = x * k
            total = total * box.level
            box[0] = x * k * 0.5
            setattr(box, "level", total + k)
        except ValueError:
            total = total + box.value * box.seen[-1]
    return total * sum(box.seen)


@program(np.array([0.5, 0.7]), features="generator that writes into an array, sum, unpacking in a callee")
def arrays_change_while_items_are_taken(u):
    w = u * 1.0
    return summed(scaling(w), w) * unpacked(scaling(w), w)


def scaling(u):
    for _ in range(3):
        u *= 1.5
        yield u[0]


def summed(steps, u):
    v = u[:]
    total = np.sum(v * u * u) * sum(steps)
    return total * np.sum(v)


def unpacked(steps, u):
    total = np.sum(u * u * u)
    a, _, _ = steps
    return total * np.sum(u) * a
