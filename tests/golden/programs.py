"""The programs of the golden texts, in reading order, each with an example call."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from benchmarks.network import loss


@final
@dataclass(frozen=True, slots=True)
class Program:
    """A function, what its text is there to show, and a call `function(*args)` differentiated in its `argnums`."""

    name: str
    shows: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    argnums: tuple[int, ...]

    def __str__(self) -> str:
        return self.name


def wave(a, b):
    phase = a * b
    return math.sin(phase) + phase / b


def bent(x, threshold):
    if x > threshold:
        y = x * x
    else:
        y = -3.0 * x
    return y + threshold


def root(x, tol):
    y = x
    k = 0
    while k < 50:
        r = y * y - x
        if r < tol:
            break
        y = y - r / (2.0 * y)
        k = k + 1
    return y


def first_above(rows, limit, weight):
    total = 0.0
    for row in rows:
        for x in row:
            total = total + weight * x * x
            if total > limit:
                return total * x
    return total


def geometric(x, n):
    total = 0.0
    for i in range(n):
        total = total + x**i
    return total


def dot(xs, ys):
    total = 0.0
    for i in range(len(xs)):
        total = total + xs[i] * ys[i]
    return total


def relax(state, rate, n):
    for _ in range(n):
        state = state - rate * np.tanh(state)
    return np.sum(state)


def scaled_lengths(points, scale):
    lengths = [math.hypot(x, y) * scale for x, y in points]
    return sum(lengths)


def line(parameters, x):
    slope, offset = parameters["line"]
    return slope * x + offset + parameters["bend"] * x**2


def square(x):
    return x * x


def sum_of_squares(a, b):
    return square(a) + square(b)


def twice(f, x):
    return f(f(x))


def decay(rate, times):
    def at(t):
        return math.exp(-rate * t)

    return at(times[0]) + at(times[1])


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    if n % 2 == 0:
        return half * half
    return half * half * x


def rooted(x, y):
    a = x * 2.0
    try:
        a = a * x
        b = math.sqrt(y)
        a = a * b + x
    except ValueError:
        a = a * 3.0
    return a * y


def until_it_fails(x, k):
    total = k
    try:
        for i in range(4):
            total = total * math.sqrt(x - i)
        return total
    except ValueError:
        total = total * k
    finally:
        print(total)
    return total


def balance_of(x, rate):
    balance = x

    def deposit(amount):
        nonlocal balance
        balance = balance * rate + amount

    deposit(1.0)
    deposit(x)
    return balance * rate


def growth(x, n):
    level = x
    for _ in range(n):
        yield level * x
        level = level * x + 1.0


def network_arguments() -> tuple[Any, ...]:
    """Weights of layers of 3, 4 and 2 neurons, five samples of two features, and their classes."""
    draw = np.random.default_rng(0)
    sizes = (2, 3, 4, 2)
    weights = [draw.uniform(-1.0, 1.0, shape) for n, m in itertools.pairwise(sizes) for shape in ((n, m), (m,))]
    return *weights, draw.uniform(-1.0, 1.0, (5, 2)), np.eye(2)[draw.integers(0, 2, 5)]


class Oscillator:
    def __init__(self, stiffness):
        self.x, self.v = 1.0, 0.0
        self.stiffness = stiffness

    def acceleration(self):
        return -self.stiffness * self.x

    def step(self, dt):
        self.v += self.acceleration() * dt
        self.x += self.v * dt


def place_after(stiffness, steps):
    spring = Oscillator(stiffness)
    for _ in range(steps):
        spring.step(0.1)
    return spring.x


@dataclass
class Tank:
    level: float
    rate: float = 0.1

    def flow(self):
        return self.rate * math.sqrt(self.level)


def drained(level, steps):
    tanks = [Tank(level), Tank(1.0, 0.2)]
    for _ in range(steps):
        for tank in tanks:
            tank.level -= tank.flow()
    return tanks[0].level * tanks[1].level


class Disc:
    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return 3.14 * self.radius**2


class Square:
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side**2


def area_of_squares(size, count):
    shapes = {}
    for i in range(count):
        shapes[i, count - i] = Square(size + i)
    shapes[0, count].side = size * size
    return sum(shape.area() for shape in shapes.values())


def area_of_two_sorts(size, count):
    shapes = []
    for i in range(count):
        if i % 2 == 0:
            shapes.append(Disc(size * i))
        else:
            shapes.append(Square(size + i))
    return sum(shape.area() for shape in shapes)


def last_states(W, steps):
    h, states = np.ones(2), []
    for _ in range(steps):
        h = np.tanh(W @ h)
        states.append(h)
    return np.sum(np.stack(states))


def squared_trace(rows):
    columns = list(zip(*rows, strict=False))
    products = [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in rows]
    return sum(tuple(products[i][i] for i in range(len(rows))))


def smoothed(values, rate):
    inner = [b + rate * (a - 2 * b + c) for a, b, c in zip(values, values[1:], values[2:], strict=False)]
    return sum(v * v for v in inner)


def substituted(L, b):
    x = b.copy()
    for i in range(len(b)):
        for j in range(i):
            x[i] -= L[i, j] * x[j]
    return np.sum(x**2)


def series(x, count):
    values = [x]
    for _ in range(count):
        values.append(math.sin(values[-1]) * x)
    return sum(values)


def merged_by_twos(x, n):
    waiting = [x * k for k in range(n)]
    heapq.heapify(waiting)
    cost = 0.0
    while len(waiting) > 1:
        total = heapq.heappop(waiting) + heapq.heappop(waiting)
        cost += total
        heapq.heappush(waiting, total)
    return cost


def handed_on(x, n):
    shares = {}
    for k in range(n):
        shares[k] = x + shares.pop(k - 1, 0.0) * x
    return shares[n - 1]


class Simulation:
    def __init__(self):
        self.x, self.v, self.rate, self.steps, self.history = 1.0, 0.0, 2.0, 0, []

    def __repr__(self):
        return f"Simulation(x={self.x}, v={self.v}, rate={self.rate})"

    def reset(self):
        self.x, self.v = 1.0, 0.0

    def step(self, dt):
        self.v -= self.rate * self.x * dt
        self.x += self.v * dt
        self.steps += 1
        self.history.append(self.x)


def fitted(rate, simulation, steps):
    simulation.reset()
    simulation.rate = rate
    for _ in range(steps):
        simulation.step(0.1)
    return simulation.x**2


def balance(x, steps):
    totals = {"in": 0.0, "out": 0.0}
    for k in range(steps):
        totals["in"] += x * k
        totals["out"] += x * x
    return totals["in"] - totals["out"]


def powers(rate, count):
    value = 1.0
    for _ in range(count):
        value *= rate
        yield value


def squares(rate, count):
    return sum(value * value for value in powers(rate, count))


def first_to_win(p, games):
    chances = {}

    def wins(ours, theirs):
        if ours == 0 or theirs == 0:
            return 1.0 if ours == 0 else 0.0
        if (ours, theirs) not in chances:
            chances[ours, theirs] = p * wins(ours - 1, theirs) + (1 - p) * wins(ours, theirs - 1)
        return chances[ours, theirs]

    return wins(games, games)


class Dense:
    def __init__(self, weights, bias, activation):
        self.weights = weights
        self.bias = bias
        self.activation = activation

    def __call__(self, x):
        return self.activation(x @ self.weights + self.bias)


class Model:
    """Two layers; the shapes are what is printed of one."""

    def __init__(self, draw, decay):
        self.layers = [
            Dense(draw(size=(2, 3)), draw(size=3), np.tanh),
            Dense(draw(size=(3, 2)), draw(size=2), np.sin),
        ]
        self.decay = decay

    def __repr__(self):
        return f"Model({' -> '.join(str(layer.weights.shape) for layer in self.layers)}, decay={self.decay})"

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    @property
    def penalty(self):
        return self.decay * sum(np.sum(layer.weights**2) for layer in self.layers)


class Account:
    def __init__(self, balance):
        self.balance = balance

    def withdraw(self, amount):
        if amount > self.balance:
            raise ValueError("not enough money")
        self.balance -= amount


def saved_up(salary, rent, months):
    account = Account(0.0)
    for _ in range(months):
        account.balance += salary
        try:
            account.withdraw(rent)
        except ValueError:
            account.balance *= 0.9
    return account.balance


def wind_energy(speed, exponent, heights):
    total = 0.0
    for height in heights:
        total += (speed * (height / 10.0) ** exponent) ** 3
    return total


def model_loss(model, x, y):
    return np.mean((model(x) - y) ** 2) + model.penalty


def model_arguments() -> tuple[Any, ...]:
    draw = np.random.default_rng(0).normal
    return Model(draw, 0.5), draw(size=(5, 2)), draw(size=(5, 2))


PROGRAMS = [
    Program("straight_line", "a value that is used twice", wave, (1.2, 0.7), (0, 1)),
    Program("branch", "both arms of an if assign a variable", bent, (2.0, 0.5), (0, 1)),
    Program("while_with_break", "Newton's method, which stops by itself", root, (2.0, 0.05), (0, 1)),
    Program(
        "nested_loops_with_early_return",
        "a return from inside two loops",
        first_above,
        (np.array([[1.0, 2.0], [3.0, 4.0]]), 20.0, 1.5),
        (0, 2),
    ),
    Program("counted_loop", "a loop over a range that keeps nothing", geometric, (0.5, 4), (0,)),
    Program("loop_over_arrays", "items read by number", dot, (np.array([1.0, 2.0]), np.array([3.0, 4.0])), (0, 1)),
    Program("array_state", "a loop whose state is an array", relax, (np.array([1.0, 2.0]), 0.1, 3), (0, 1)),
    Program("comprehension", "a list that is built and summed", scaled_lengths, ([(1.0, 2.0), (3.0, 5.0)], 2.0), (0, 1)),
    Program("containers", "a dict with a tuple in it", line, ({"line": (2.0, 1.0), "bend": 0.5}, 3.0), (0, 1)),
    Program("helper", "a function that is differentiated through its source", sum_of_squares, (1.5, 2.5), (0, 1)),
    Program("unknown_callee", "a callee that is known only when it is called", twice, (math.sin, 0.5), (0, 1)),
    Program("closure", "an inner function that captures a differentiated variable", decay, (0.5, (1.0, 2.0)), (0, 1)),
    Program("recursion", "a function that calls itself", power, (1.5, 5), (0,)),
    Program("exception", "what a body had computed when an exception came", rooted, (1.5, -2.0), (0, 1)),
    Program("cleanup", "a return that a finally puts off, and a loop in a try", until_it_fails, (2.5, 0.5), (0, 1)),
    Program("shared_variable", "a variable that an inner function assigns", balance_of, (2.0, 1.5), (0, 1)),
    Program("generator", "a generator, whose adjoint is suspended where it was", growth, (1.5, 4), (0,)),
    Program("object", "an object with methods that write into it", place_after, (2.0, 4), (0,)),
    Program("objects_in_a_list", "dataclasses in a list, written in a loop over it", drained, (2.0, 3), (0,)),
    Program("objects_in_a_dict", "objects under computed keys, which are numbers there", area_of_squares, (2.0, 3), (0,)),
    Program("objects_of_two_classes", "objects of two classes in one list", area_of_two_sorts, (2.0, 4), (0,)),
    Program("states_in_a_list", "arrays that a loop collects", last_states, (np.eye(2), 3), (0,)),
    Program("growing_list", "a list that is read while it grows", series, (0.5, 4), (0,)),
    Program("object_in_a_try", "a method that raises, and a caller that goes on", saved_up, (1.0, 1.5, 4), (0, 1)),
    Program("neighbours", "a list beside slices of itself", smoothed, ([1.0, 3.0, 2.0, 5.0], 0.25), (0, 1)),
    Program("matrices_of_lists", "columns of rows, as a list", squared_trace, ([[1.0, 2.0], [0.5, 3.0]],), (0,)),
    Program("entries_of_an_array", "an array that is written entry by entry", substituted, (np.eye(2), np.ones(2)), (0, 1)),
    Program("powers", "a power of a number of unknown sign", wind_energy, (5.0, 0.2, [20.0, 50.0]), (0, 1)),
    Program("totals", "numbers in a dict", balance, (2.0, 4), (0,)),
    Program("heap", "a heap: values in a list that grows, and the order of their places", merged_by_twos, (1.5, 4), (0,)),
    Program("taken_keys", "a dict of which keys are taken away", handed_on, (1.5, 4), (0,)),
    Program("used_up_generator", "a generator that is used up where it is made", squares, (1.5, 4), (0,)),
    Program("memo", "a function that calls itself and fills a dict around it", first_to_win, (0.6, 4), (0,)),
    Program("model_as_argument", "objects that are only read are given as their fields", model_loss, model_arguments(), (0,)),
    Program("simulation", "an argument that is written into is variables as well", fitted, (2.0, Simulation(), 4), (0,)),
    Program("network", "the loss of a network of three layers", loss, network_arguments(), (0, 1, 2, 3, 4, 5)),
]
