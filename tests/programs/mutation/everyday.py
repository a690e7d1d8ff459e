"""Programs as people write them, one for each reason why such a program was tracked."""

from __future__ import annotations

import enum
import functools
import itertools
import math
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tests.programs.mutation.table import program

X, N = 0.6, 5
V4 = np.array([0.5, -1.2, 0.8, 0.3])
M3 = np.array([[1.5, 0.2, -0.4], [0.7, 2.1, 0.3], [-0.2, 0.9, 1.8]])


# Entries that a list, an array or a mask picks


@program(V4, X, features="entries stored by a list of places, one of them twice")
def stored_at_places(x, k):
    u = np.zeros(5)
    u[0] = k
    u[[3, 0, 3, 1]] = x
    u[1] = u[3] * k
    return np.sum(u * u)


@program(V4, X, features="entries added by an array of places, one of them twice")
def added_at_places(x, k):
    u = x.copy()
    places = np.array([1, 2, 1])
    u[places] += k * x[:3]
    u[places[0]] *= 2.0
    return np.sum(u * u * u)


@program(V4, X, features="list of places that is written into later")
def places_change_later(x, k):
    u, places = x * 2.0, [0, 1]
    y = u[places] * k
    places[0] = 3
    u[places] = y
    return np.sum(u * u)


@program(V4, X, features="array of places that is written into later")
def array_of_places_changes_later(x, k):
    u, places = x * 2.0, np.array([0, 1])
    y = u[places] * k
    places[0] = 3
    u[places] = y
    return np.sum(u * u)


@program(V4, X, features="mask")
def clipped_by_a_mask(x, k):
    u = x * k
    u[u > 0.2] = k
    u[u < 0.0] *= 0.1
    above = u[u > 0.1]
    u[0] = above[0] * above[-1]
    return np.sum(u * x)


@program(M3, X, features="mesh of places")
def part_of_a_matrix(a, k):
    free, m = [0, 2], np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            m[i, j] += a[i, j] * k
    u = np.zeros(3)
    u[free] = np.linalg.solve(m[np.ix_(free, free)], a[free, 1])
    m[np.ix_(free, [1])] = 0.5
    return np.sum(u * u) + np.sum(m)


@program(M3, X, features="rows exchanged by lists")
def rows_exchanged_by_lists(a, k):
    u = a.copy()
    for i in range(2):
        p = i + int(np.argmax(np.abs(u[i:, i])))
        u[[i, p]] = u[[p, i]]
        u[i + 1 :] -= np.outer(u[i + 1 :, i], u[i]) * k
    return np.sum(u * u)


@program(M3, X, features="places of what is not zero")
def upper_triangle(a, k):
    u = np.zeros((3, 3))
    places = np.triu_indices(3)
    u[places] = a[places] * k
    u[np.nonzero(u > 0.5)] = 0.25 * k
    return np.sum(u * a)


@program(X, N, features="tuple and list put into an array")
def column_of_a_matrix(x, n):
    m, total = np.eye(4), 0.0
    for k in range(n):
        m[:3, 3] = x, 2, x * k
        m[0] = [1.0, m[1, 3], m[2, 3], m[0, 3]]
        total += np.sum(m @ m)
    return total


@program(M3, X, features="matrix of blocks")
def blocks(a, k):
    whole = np.block([[a, -a], [k * a, np.eye(3)]])
    u = np.zeros((6, 6))
    for i in range(6):
        u[i, 5 - i] += whole[i, i] * k
    return np.sum(u * u)


# Lists of records that another function has made


class Flow(NamedTuple):
    time: float
    amount: float
    kind: str = "coupon"


def schedule(face, coupon, years):
    flows = [Flow(t / 2, face * coupon / 2) for t in range(1, 2 * years + 1)]
    flows.append(Flow(float(years), face, "principal"))
    return flows


@program(X, 0.05, features="list of namedtuples, made by a function")
def present_value(rate, coupon):
    flows = schedule(100.0, coupon, 3)
    value = sum(f.amount * math.exp(-rate * f.time) for f in flows)
    duration = sum(f.time * f.amount for f in flows if f.kind == "coupon")
    for time, amount, _ in flows:
        value += 0.1 * amount / (1.0 + rate * time)
    return value * duration


@program([1.5, 2.5, 3.5], X, features="pairs of numbers and texts, one of them read in a branch")
def priced(prices, rate):
    goods = list(zip("abc", prices)) + [("d", rate)]
    listed = [(name, price * rate) for name, price in goods]
    total = 0.0
    for item in listed:
        if item[0] != "b":
            total += item[1] * item[1]
    return total


# Functions made inside, given to another function beside a list


def stepped(f, y, h):
    slope = f(y)
    new = [a + h * b for a, b in zip(y, slope)]
    return new, max(abs(h * (a - b)) for a, b in zip(f(new), slope))


def integrated(f, start, end):
    t, h, ts, ys = 0.0, 0.1, [0.0], [list(start)]
    while t < end:
        h = min(h, end - t)
        new, error = stepped(f, ys[-1], h)
        if error < 0.02:
            t += h
            ts.append(t)
            ys.append(new)
        h *= min(2.0, max(0.3, 0.9 * (0.01 / (error + 1e-9)) ** (1 / 3)))
    return ts, ys


@program(1.5, 0.9, features="closure given beside a list, power of a quotient")
def adaptive_steps(mu, x):
    def slopes(y):
        position, speed = y
        return [speed, mu * (1 - position * position) * speed - position]

    ts, ys = integrated(slopes, [x, 0.0], 1.5)
    return sum(y[0] ** 2 * (b - a) for y, a, b in zip(ys, ts, ts[1:]))


# Generators that get others, and give way to them


def readings(gain, n):
    for k in range(n):
        yield gain * math.sin(0.2 * k)


def smoothed(values, rate):
    state = None
    for v in values:
        state = v if state is None else rate * v + (1 - rate) * state
        yield state


def clipped(values, limit):
    yield from (max(-limit, min(limit, v)) for v in values)
    yield limit * 0.5


@program(1.5, 7, features="generators one after the other, yield from a generator expression")
def pipeline(gain, n):
    return sum(v * v for v in clipped(smoothed(readings(gain, n), 0.3), gain * 0.6))


@program(1.5, 7, features="yield from, left early")
def left_early(gain, n):
    total = 0.0
    for v in clipped(readings(gain, n), 1.0):
        if v > 0.9:
            break
        total += v * gain
    return total


def subtotals(items):
    total = 0.0
    for item in items:
        total += item
        yield total
    return total * 2.0


def with_value(items):
    last = yield from subtotals(items)
    yield last


@program(X, N, features="value of a yield from")
def totals_and_value(x, n):
    return sum(v * x for v in with_value([x * k for k in range(n)]))


class Polynomial:
    def __init__(self, coefficients):
        self.c = list(coefficients)

    def __call__(self, x):
        return functools.reduce(lambda total, c: total * x + c, reversed(self.c), 0.0)

    def derivative(self):
        return Polynomial(k * c for k, c in enumerate(self.c) if k)

    def __add__(self, other):
        return Polynomial(a + b for a, b in itertools.zip_longest(self.c, other.c, fillvalue=0.0))


@program([1.0, -0.5, 0.3], X, features="generator expression given to a constructor")
def polynomials(c, x):
    p = Polynomial(c)
    q = p + p.derivative()
    return q(x) * p(2.0 * x)


@program(X, N, features="reversed, of a list that gets longer before it is read")
def backwards_as_it_was(x, n):
    xs = [x * k for k in range(n)]
    back = reversed(xs)
    xs.append(10.0)
    return sum(v * k for k, v in enumerate(back)) + sum(a * b for a, b in zip(xs, list(reversed(xs))))


# Decorated functions


def not_negative(f):
    @functools.wraps(f)
    def checked(*args, **kwargs):
        result = f(*args, **kwargs)
        if result < 0:
            raise ValueError(f.__name__)
        return result

    return checked


def logged(label):
    def decorate(f):
        def wrapper(x, *rest, scale=1.0):
            print(label, end="")
            return f(x, *rest) * scale

        return wrapper

    return decorate


@not_negative
def rate_at(a, e, temperature=300.0):
    return a * math.exp(-e / (8.3 * temperature))


@logged("")
@not_negative
def squared_sum(x, y):
    return x * x + y * y


class Tank:
    def __init__(self, level):
        self.level = level

    @not_negative
    def drained(self, share):
        self.level *= 1.0 - share
        return self.level


@program(X, 900.0, 4, features="decorated functions and methods")
def decorated(a, e, n):
    tank, total = Tank(a), 0.0
    for k in range(n):
        total += rate_at(a, e, temperature=300.0 + 10.0 * k) + squared_sum(a, total, scale=0.5)
        total += tank.drained(0.1 * a)
    return total * rate_at(e=e, a=a)


def recursive(f):
    def wrapper(x, n):
        return x if n == 0 else f(x, n)

    return wrapper


@recursive
def descended(x, n):
    return 0.5 * x * descended(x * 1.1, n - 1)


@program(X, 3, features="decorated function that calls itself")
def calls_itself(x, n):
    return descended(x, n) * descended(x * 2.0, n)


def counted_calls(f):
    count = 0

    def wrapper(x):
        nonlocal count
        count += 1
        return f(x) * (1.0 if count < 10**6 else 2.0)

    return wrapper


@counted_calls
def cubed(x):
    return x**3


@program(X, features="decorator that counts")
def counts_calls(x):
    return cubed(x) + cubed(x * x)


# Agents with others as neighbours, and what stands for their states


class State(enum.Enum):
    WELL = 0
    ILL = 1


@dataclass
class Agent:
    number: int
    state: State = State.WELL
    load: float = 0.0
    contacts: list = field(default_factory=list)


@program(0.3, 0.15, 5, features="dataclass with an enumeration as default, lists of others in a field")
def agents(beta, gamma, n):
    everyone = [Agent(k) for k in range(n)]
    for k, a in enumerate(everyone):
        a.contacts = [everyone[(k + 1) % n], everyone[(k + 3) % n]]
    everyone[0].state, everyone[0].load = State.ILL, 1.0
    for _ in range(4):
        for a in everyone:
            if a.state is State.ILL:
                for other in a.contacts:
                    if other.state is State.WELL:
                        other.load += beta * a.load
        for a in everyone:
            if a.load > 0.2:
                a.state = State.ILL
            a.load *= 1.0 - gamma
    return sum(a.load * a.number for a in everyone)


@program(V4, M3, features="key that is an item of a list")
def best_path(scores, weights):
    best, total = list(scores[:3]), 0.0
    for t in range(3):
        new = []
        for j in range(3):
            candidates = [best[i] * 0.9 + weights[i, j] for i in range(3)]
            k = max(range(3), key=candidates.__getitem__)
            new.append(candidates[k] + scores[t])
        best = new
        total += best[min(range(3), key=best.__getitem__)]
    return total + sum(best[k] * (k + 1) for k in sorted(range(3), key=best.__getitem__))


# Iterators that are asked for one item after the other


@program([0.3, -0.2, 0.5, 0.1, 0.4, -0.3, 0.2], X, features="next of an iterator of a list, and a loop over what is left")
def weights_in_turn(weights, x):
    numbers = iter(weights)
    first = [[next(numbers) for _ in range(2)] for _ in range(2)]
    total = next(numbers) * x
    for row in first:
        total += math.tanh(row[0] * x + row[1])
    for k, rest in enumerate(numbers):
        total += rest * rest * k
    return total


def taken(numbers, count):
    return [next(numbers) for _ in range(count)]


def descent(numbers, depth):
    if depth == 0:
        return next(numbers)
    left = descent(numbers, depth - 1)
    return left * descent(numbers, depth - 1) + left


@program([0.3, -0.2, 0.5, 0.1, 0.4, -0.3, 0.2], features="iterator that is handed to functions, one of them calls itself")
def handed_iterator(weights):
    numbers = iter(weights)
    a, b = taken(numbers, 2)
    return a * b + descent(numbers, 2) + sum(numbers)


@program(X, N, features="iterator that comes to its end, of a list that gets longer")
def iterator_at_its_end(x, n):
    xs = [x * k for k in range(1, n)]
    numbers, total = iter(xs), 0.0
    while True:
        try:
            total = total * 0.5 + next(numbers)
        except StopIteration:
            break
    xs.append(100.0 * x)
    try:
        total += next(numbers)
    except StopIteration:
        total *= x
    return total + sum(xs)


@program([0.3, -0.2, 0.5, 0.1], X, features="iterator asked in a generator expression, and twice at once")
def iterator_in_a_generator(weights, x):
    numbers = iter(weights)
    total = sum(next(numbers) * k for k in range(2))
    pairs = iter([x, x * x, 2.0 * x, 3.0])
    return total + sum(a * b for a, b in zip(pairs, pairs)) + next(numbers)


# Queues in conditions, and dicts of lists that a comprehension has made


@dataclass
class Lot:
    quantity: float
    price: float


class Inventory:
    def __init__(self):
        self.lots = deque()

    def buy(self, quantity, price):
        self.lots.append(Lot(quantity, price))

    def sell(self, quantity):
        cost = 0.0
        while quantity > 1e-9 and self.lots:
            lot = self.lots[0]
            used = min(quantity, lot.quantity)
            cost += used * lot.price
            lot.quantity -= used
            quantity -= used
            if lot.quantity <= 1e-9:
                self.lots.popleft()
        return cost


@program(10.0, 1.02, 8, features="deque of objects, asked in a condition")
def first_in_first_out(price, inflation, n):
    book, profit = Inventory(), 0.0
    for k in range(n):
        book.buy(5.0 + k % 3, price)
        if k > 2 and not (k == 5 or not book.lots):
            profit += 4.5 * price * 1.1 - book.sell(12.5)
        price = price * inflation
    return profit


@program(3.0, 0.9, 3, features="dict of lists that a comprehension has made, tuples in a dict")
def springs(stiffness, rest, n):
    edges = [("a", "b"), ("b", "c"), ("a", "c")]
    position = {"a": (0.0, 0.0), "b": (1.0, 0.1), "c": (1.1, 1.0)}
    for _ in range(n):
        force = {name: [0.0, 0.0] for name in position}
        for i, j in edges:
            (xi, yi), (xj, yj) = position[i], position[j]
            length = math.hypot(xj - xi, yj - yi)
            f = stiffness * (length - rest) / length
            force[i][0] += f * (xj - xi)
            force[i][1] += f * (yj - yi)
            force[j][0] -= f * (xj - xi)
            force[j][1] -= f * (yj - yi)
        for name, (fx, fy) in force.items():
            x, y = position[name]
            position[name] = (x + 0.05 * fx, y + 0.05 * fy)
    return sum(x * x + y * y for x, y in position.values())


@program(X, N, features="dict of one list under all keys")
def one_list_under_all_keys(x, n):
    shared = [x, x * x]
    rows = {k: shared for k in range(n)}
    inner = {(k, j): row for k in range(2) for row in [[x, 1.0]] for j in range(2)}
    for k in range(n):
        rows[k][0] += x
    inner[0, 0][1] *= x
    return rows[0][0] * rows[1][1] + inner[0, 1][1] + inner[1, 1][1]
