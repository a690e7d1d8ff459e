"""Methods in lists and dicts that are called back; groups of neighbours; items that are drawn."""

from __future__ import annotations

import itertools
import math
import random
from collections import defaultdict
from itertools import groupby

from tests.programs.mutation.table import program

A, G, N = 0.9, 0.7, 5


class Signal:
    def __init__(self):
        self.slots = []

    def connect(self, slot):
        self.slots.append(slot)
        return slot

    def emit(self, *values):
        for slot in self.slots:
            slot(*values)


class Meter:
    def __init__(self, gain):
        self.gain, self.total = gain, 0.0

    def on(self, value, weight=1.0):
        self.total += self.gain * value * weight

    def squared(self, value):
        self.total *= 1.0 + 0.1 * value * value


class Peak:
    def __init__(self):
        self.best = -9.0

    def on(self, value):
        if value > self.best:
            self.best = value


@program(A, G, N, features="methods of objects of two classes in a list")
def methods_connected(a, g, n):
    signal, meter, peak = Signal(), Meter(a), Peak()
    signal.connect(meter.on)
    signal.connect(peak.on)
    for i in range(n):
        signal.emit(g * math.sin(0.3 + i))
    return meter.total * peak.best


@program(A, G, N, features="one method of several objects in a list")
def method_of_each_meter(a, g, n):
    meters = [Meter(a), Meter(g), Meter(a * g)]
    slots = [meter.on for meter in meters]
    slots.append(meters[0].squared)
    for i in range(n):
        for slot in slots:
            slot(g * math.sin(0.3 + i))
    return sum(meter.total * (k + 1) for k, meter in enumerate(meters))


@program(A, G, N, features="methods in a dict of lists, method of an object made in a loop")
def methods_by_name(a, g, n):
    handlers, meter, found = defaultdict(list), Meter(a), []
    handlers["tick"].append(meter.on)
    handlers["tick"].append(meter.squared)
    handlers["end"].append(meter.on)
    for i in range(n):
        for handler in handlers["tick"]:
            handler(g * math.sin(0.3 + i))
        other = Meter(g)
        handlers["end"].append(other.on)
        found.append(other)
    for handler in handlers["end"]:
        handler(g)
    return meter.total + sum(each.total for each in found)


@program(A, G, features="methods that are compared, asked for their object, or taken out again")
def methods_told_apart(a, g):
    first, second = Meter(a), Meter(g)
    slots = [first.on, second.on]
    if slots[0] == first.on:
        slots.remove(second.on)
    for slot in slots:
        slot(g)
    slots[0].__self__.total *= g
    return first.total + second.total


@program(A, G, features="method of an object whose field hides it afterwards")
def method_that_is_hidden(a, g):
    meter = Meter(a)
    slots = [meter.on]
    meter.on = meter.squared
    slots.append(meter.on)
    for slot in slots:
        slot(g)
    return meter.total


@program(A, G, 7, features="groupby, sorted rows")
def groups_of_rows(a, g, n):
    rows = sorted([(("x", "y", "z")[i % 3], a * i + g) for i in range(n)], key=lambda row: row[0])
    total = 0.0
    for key, group in groupby(rows, key=lambda row: row[0]):
        values = [value for _, value in group]
        total += math.sqrt(sum(v * v for v in values)) * (2.0 if key == "y" else 1.0)
    return total


@program(A, G, 9, features="groupby without a key, groups that are summed or not asked")
def runs_of_signs(a, g, n):
    values = [a * math.sin(0.9 * i) + g for i in range(n)]
    total = 0.0
    for positive, run in itertools.groupby(values, lambda v: v > 0.5):
        if positive:
            total = total * 0.9 + sum(run) ** 2
    return total + sum(len(list(group)) * key * a for key, group in groupby([1, 1, 2, 2, 2, 3]))


@program(A, G, 6, features="groupby, group that is asked later or twice, list that changes meanwhile")
def groups_that_are_kept(a, g, n):
    values, kept, total = [a * i for i in range(n)], [], 0.0
    for key, group in groupby(values, key=lambda v: v > 2.0):
        kept.append(group)
        total += next(group) * (2.0 if key else 1.0)
        total += sum(group) * 0.5 + sum(group)
        values.append(g * len(values)) if len(values) < n + 2 else None
    return total + sum(sum(group) for group in kept)


@program(A, G, 6, features="groupby by what the loop changes")
def groups_by_a_bound_that_moves(a, g, n):
    bound, total = 0.5, 0.0

    def is_large(value):
        return value > bound

    for large, group in groupby([a * i for i in range(n)], key=is_large):
        total = total * 0.7 + sum(v * v for v in group) * (2.0 if large else 1.0)
        bound += 2.0 * g
    return total


@program(A, G, 6, features="groupby, list that gets longer while the groups are read")
def groups_of_a_list_that_grows(a, g, n):
    values, total = [a * i for i in range(n)], 0.0
    for large, group in groupby(values, key=lambda v: v > 2.0):
        for v in group:
            total = total * 0.9 + v * (2.0 if large else 1.0)
            if len(values) < n + 3:
                values.append(g * v)
    return total


class Reading:
    def __init__(self, kind, value):
        self.kind, self.value = kind, value


@program(A, G, 6, features="groupby of objects, whose keys the loop changes or does not")
def groups_of_objects(a, g, n):
    readings, total = [Reading("xy"[i % 3 > 0], a * i + g) for i in range(n)], 0.0
    for kind, group in groupby(readings, key=lambda r: r.kind):
        for number, reading in enumerate(group):
            total = total * 0.9 + reading.value * (number + 1)
            if kind == "x":
                readings[-1].kind = "z"
                reading.value *= g
    return total + sum(sum(r.value for r in group) ** 2 for _, group in groupby(readings, key=lambda r: r.kind))


@program(A, G, 7, features="groupby of objects that nobody writes into")
def groups_of_steady_objects(a, g, n):
    readings = sorted((Reading("xyz"[i % 3], a * i + g) for i in range(n)), key=lambda r: r.kind)
    return sum(sum(r.value for r in group) ** 2 * (k == "x") for k, group in groupby(readings, key=lambda r: r.kind))


@program(A, G, 4, features="random.choice and sums of what was drawn")
def means_of_samples(a, g, n):
    rng, data = random.Random(3), [a * x * x + g for x in (0.1, 0.5, 0.9, 1.4)]
    means = []
    for _ in range(n):
        sample = [rng.choice(data) for _ in data]
        means.append(sum(sample) / len(sample))
    means.sort()
    return means[0] * means[-1] + sum((m - g) ** 2 for m in means)


@program(A, G, 4, features="random.choices and random.sample")
def several_drawn(a, g, n):
    rng, data, total = random.Random(5), [a * x + g for x in (0.1, 0.5, 0.9, 1.4)], 0.0
    for k in range(n):
        for number, value in enumerate(rng.choices(data, k=3) + rng.sample(data, 2) + rng.choices(data)):
            total = total * 0.9 + value * value * number
        total += rng.choice([total, a])
    return total * rng.random() + rng.sample(data, k=1)[0] + rng.choices(data, [1.0, 0.0, 0.0, 0.0], k=2)[1]
