"""Programs as people write them who do not think of derivatives, one for each reason why such a program was slow or refused."""

from __future__ import annotations

import functools
import math
import random
from collections import defaultdict, deque
from dataclasses import dataclass, field

import numpy as np

from tests.programs.mutation.table import program

X, N = 0.6, 5


class Controller:
    def __init__(self, gain, limits=(-5.0, 5.0)):
        self.gain, self.limits, self.last = gain, limits, None

    def __call__(self, error):
        low, high = self.limits
        change = 0.0 if self.last is None else error - self.last
        self.last = error
        return min(max(self.gain * error + 0.1 * change, low), high)


@program(X, N, features="object, default that is a tuple")
def controls(gain, steps):
    controller, level = Controller(gain), 1.0
    for _ in range(steps):
        level += 0.3 * controller(3.0 - level)
    return level


def clipped(x, limits=(-1.0, 1.0), rest=()):
    return min(max(x, limits[0]), limits[1]) + sum(rest)


@program(X, N, features="function, default that is a tuple")
def clips(x, steps):
    total = 0.0
    for k in range(steps):
        total += clipped(x * k)
    return total


@dataclass
class Point:
    x: float

    @classmethod
    def zero(cls):
        return cls(0.0)


def zeros():
    return np.zeros(3)


@dataclass
class Record:
    rate: float
    limits: tuple = (-1.0, 2.0)
    totals: dict = field(default_factory=dict)
    recent: deque = field(default_factory=deque)
    weights: list = field(default_factory=lambda: [0.0] * 3)
    sums: dict = field(default_factory=lambda: defaultdict(float))


@dataclass
class Place:
    point: Point = field(default_factory=Point.zero)
    force: np.ndarray = field(default_factory=zeros)


@program(X, N, features="dataclass, factories of fields")
def keeps_records(x, steps):
    record = Record(x)
    for k in range(steps):
        record.totals[k] = x * k
        record.recent.append(x * k)
        if len(record.recent) > 2:
            record.recent.popleft()
        record.weights[k % 3] += x * x
        record.sums[k % 2] += x**3
    return sum(record.totals.values()) * record.limits[1] + record.recent[0] + record.weights[1] + record.sums[0]


@program(X, N, features="dataclass, factories of fields")
def moves(x, steps):
    place = Place()
    for k in range(steps):
        place.point.x += x * k
        place.force[k % 3] += x
    return place.point.x * place.force[1]


@program(X, N, features="random numbers, dict")
def trades(x, steps):
    rng, prices, log = random.Random(3), {"a": 1.0, "b": 2.0}, []
    for _ in range(steps):
        market = rng.gauss(0.0, 0.1)
        for name in prices:
            prices[name] *= 1 + x * market
        log.append(prices["a"] * x + prices["b"])
    return sum(log)


@program(np.array([X, 1.0, 1.4]), features="masks")
def masks(x):
    high = x > 0.8
    y = np.zeros_like(x)
    y[high] = x[high] ** 2
    y[~high] += 1.0 + x[~high]
    return y.sum()


@program(X, N, features="array, in place as a whole")
def relaxes(x, steps):
    u, w = np.linspace(0.0, 1.0, 6), np.ones(6)
    for _ in range(steps):
        change = np.zeros_like(u)
        change[1:-1] = u[2:] + u[:-2] - 2 * u[1:-1]
        u += x * change
        u[0] = 0.5
        u[-1] = u[-2]
        w *= 1.0 + u
        w /= 1.5
    return np.sum(u**2) + w @ u


def residual(x, p):
    return np.array([x[0] ** 2 + x[1] - p, x[0] - x[1] ** 3 + 0.2 * p])


@program(X, N, features="array, in place as a whole, given to a function")
def converges(p, steps):
    x = np.array([1.0, 1.0])
    for _ in range(steps):
        r = residual(x, p)
        slopes = np.array([[2 * x[0], 1.0], [1.0, -3 * x[1] ** 2]])
        step = np.linalg.solve(slopes, -r)
        x += step
        if np.linalg.norm(step) < 1e-9:
            break
    return x[0] * x[1]


@program(X, features="array, in place as a whole, aliases")
def changes_by_another_name(x):
    u = np.zeros(3)
    for k in range(3):
        v = u
        u += x * k
        if k == 1:
            v *= 2.0
    part = u[1:]
    part += x
    u += u
    return (u * v).sum() + part.sum()


@program(X, features="array, in place as a whole, kept")
def changes_what_was_kept(x):
    u = np.zeros(3)
    kept = [u]
    u += x
    return kept[0].sum() * u[0]


@program(X, features="array, in place as a whole, of single precision")
def keeps_its_type(x):
    u = np.zeros(3, dtype=np.float32)
    u += np.float32(0.5)
    u *= np.ones(3)
    return x * float(u.sum()) if u.dtype == np.float32 else x


@program(X, features="array, in place as a whole, caught")
def does_not_fit(x):
    u = np.zeros(3)
    try:
        u += np.ones((2, 3)) * x
    except ValueError:
        u += 2 * x
    return u.sum()


V3 = np.array([0.5, 0.9, 0.3])


@program(V3, features="result of a function, saved, overwritten")
def overwrites_an_exponential(x):
    y = np.exp(x)
    second = y[1]
    y[1:] = 0.0
    return np.sum(y) + second * second


@program(V3, features="result of a function, saved, overwritten")
def overwrites_a_root(x):
    y = np.sqrt(x)
    total = np.sum(y)
    y[1] = y[2] * 3.0
    return np.sum(y) * total


@program(V3, features="result of an operator, saved, overwritten")
def overwrites_a_quotient(x):
    y = x / (1 + x)
    second = y[1]
    y[1] = 0.0
    z = x**x
    first = z[0]
    z[0] = 1.0
    return np.sum(y) * np.sum(z) + second * first


@program(V3, features="array, in place as a whole, saved, overwritten")
def overwrites_what_was_divided(x):
    y = np.zeros(3)
    y += x
    y /= x + 1
    second = y[1]
    y[1] = 0.0
    y **= x
    first = y[0]
    y[0] = 1.0
    return np.sum(y) + second * second + first


@program(X, features="array, asked for a number, overwritten")
def overwrites_what_had_a_norm(x):
    y = np.zeros(3)
    y[0] = x
    y[2] = 1.0
    norm = np.linalg.norm(y)
    y[0] = 5.0
    return norm * y[2]


@program(X, features="array, asked for a number, overwritten")
def overwrites_what_had_a_product(x):
    y = np.zeros(3)
    y[:] = x
    y[1] = 2 * x
    product = np.prod(y)
    y[1] = 5.0
    y[0] = -1.0
    return product * y[1] + np.prod(y)


RATES = {"grow": 1.5, "rest": 0.5}


def grown(x, rate):
    return x * rate + 0.1


def rested(x, rate):
    return x - 0.1 * rate * x


WAYS = {"grow": grown, "rest": rested}


@program(X, N, features="dict of functions")
def goes_by_all_ways(x, steps):
    totals = dict.fromkeys(WAYS, 0.0)
    for k in range(steps):
        for name, way in WAYS.items():
            totals[name] += way(x, k)
    return totals["grow"] * totals["rest"]


@program(X, N, features="dict of functions, key of the run")
def goes_by_a_way(x, steps):
    total = x
    for k in range(steps):
        total = WAYS["rest" if total > 1.0 else "grow"](total, x)
        total = WAYS["grow,rest".split(",")[k % 2]](total, 0.5)
    return total


class Ring:
    def __init__(self, size):
        self.data, self.count = [0.0] * size, 0

    def push(self, value):
        self.data[self.count % len(self.data)] = value
        self.count += 1

    def __len__(self):
        return min(self.count, len(self.data))

    def mean(self):
        return sum(self.data[: len(self)]) / max(len(self), 1)


@program(X, N, features="object with a length")
def fills_a_ring(x, steps):
    ring, error = Ring(3), 0.0
    for k in range(steps):
        ring.push(x * k)
        error += (x - ring.mean()) ** 2
    return error


@program({"a": {"x": X, "y": 2.0}, "b": {"x": 0.3, "y": 1.2}}, features="dict of dicts, values")
def adds_up_records(records):
    total = sum(record["x"] * record["y"] for record in records.values())
    for number, record in enumerate(records.values()):
        total += number * record["x"]
    return total * sum(sum(record.values()) for record in records.values())


@program([{"x": X, "y": 2.0}, {"x": 0.3, "y": 1.2}], features="list of dicts")
def adds_up_rows(rows):
    totals = dict.fromkeys(rows[0], 0.0)
    for row in rows:
        for key, value in row.items():
            totals[key] += value * value
    return totals["x"] * totals["y"] + max(rows, key=lambda row: row["x"])["y"]


@program({"x": X, "y": 2.0}, features="merged dicts")
def merges(options):
    every = {**options, "z": 3.0 * options["x"], "x": 2.0}
    other = every | {key: value * value for key, value in options.items()}
    return sum(every.values()) * sum(other.values())


@program({"a": 0.7, "b": 0.3}, "abba", features="text, keys of the run")
def reads_a_text(weights, text):
    states, total = list(weights), {state: 0.5 * weights[state] for state in weights}
    for letter in text[1:]:
        total = {state: weights[letter] * sum(total[each] for each in states) for state in states}
    return sum(total.values())


@program(X, N, features="cache of a function made inside")
def remembers(x, steps):
    @functools.lru_cache(maxsize=None)
    def paths(n, k):
        if k in (0, n):
            return 1.0
        return x * paths(n - 1, k - 1) + 0.5 * paths(n - 1, k)

    @functools.cache
    def wave(n):
        return math.sin(x * n)

    return sum(paths(steps, k) for k in range(steps + 1)) * sum(wave(k % 3) for k in range(7))


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)


def weighed(a, b):
    return a * b + a


@program(np.array([[X, 2.0], [0.5, 0.7], [0.3, 0.2]]), features="star")
def hands_on_rows(rows):
    total = Vector(0.0, 0.0)
    for row in rows:
        total = total + Vector(*row)
    return total.x * total.y + sum(weighed(*row) for row in rows)


@program(np.array([[X, 2.0], [0.5, 0.7], [0.3, 0.2]]), features="star, caught")
def hands_on_too_much(rows):
    try:
        return weighed(*rows[:, 0])
    except TypeError:
        return rows[0, 0] * 3.0


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@program(np.array([X, 0.2, 1.1]), features="axis that is given")
def mixes(means):
    points, shares = np.linspace(0.0, 1.0, 5), np.ones(3) / 3
    for _ in range(2):
        parts = np.stack([shares[k] - (points - means[k]) ** 2 for k in range(3)], axis=1)
        weights = softmax(parts, axis=1)
        counts = weights.sum(axis=0)
        shares = counts / len(points)
        means = (weights * points[:, None]).sum(axis=0) / counts
    return means @ shares


class Module:
    def __call__(self, *inputs):
        return self.forward(*inputs)


class Linear(Module):
    def __init__(self, weight):
        self.weight = weight

    def forward(self, x):
        return x @ self.weight


class Residual(Module):
    def __init__(self, inner):
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)


class Chain(Module):
    def __init__(self, *modules):
        self.modules = modules

    def forward(self, x):
        for module in self.modules:
            x = module(x)
        return x


NET = Chain(Linear(np.eye(2)), Residual(Chain(Residual(Chain(Linear(np.ones((2, 2))))), Linear(np.eye(2)))))


@program(np.array([X, 0.3]), features="modules in modules")
def goes_through_modules(x):
    y = NET(x)
    z = np.zeros(2)
    z += y
    return np.sum(z * z)
