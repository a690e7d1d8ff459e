"""More of the same: machines, reactions, and things that are made of functions."""

import itertools
import math
from collections import Counter, deque
from dataclasses import dataclass
from functools import cached_property, reduce, wraps

import numpy as np

from benchmarks.ordinary_programs import Program


def truss(areas, modulus):
    nodes = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    bars = [(0, 1), (1, 2), (2, 3), (0, 2), (1, 3)]
    K = np.zeros((8, 8))
    for (i, j), area in zip(bars, areas):
        d = nodes[j] - nodes[i]
        L = np.linalg.norm(d)
        c = d / L
        k = modulus * area / L * np.outer(c, c)
        dofs = [2 * i, 2 * i + 1, 2 * j, 2 * j + 1]
        ke = np.block([[k, -k], [-k, k]])
        for a, p in enumerate(dofs):
            for b, q in enumerate(dofs):
                K[p, q] += ke[a, b]
    free = [2, 3, 4, 5]
    f = np.zeros(8)
    f[5] = -1.0
    u = np.zeros(8)
    u[free] = np.linalg.solve(K[np.ix_(free, free)], f[free])
    return f @ u


def rk_step(f, t, y, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, [yi + h / 2 * ki for yi, ki in zip(y, k1)])
    k3 = f(t + 3 * h / 4, [yi + 3 * h / 4 * ki for yi, ki in zip(y, k2)])
    new = [yi + h * (2 * a + 3 * b + 4 * c) / 9 for yi, a, b, c in zip(y, k1, k2, k3)]
    k4 = f(t + h, new)
    error = [h * (-5 * a + 6 * b + 8 * c - 9 * d) / 72 for a, b, c, d in zip(k1, k2, k3, k4)]
    return new, max(abs(e) for e in error)


def solve_ivp(f, span, y0, tol=1e-3):
    t, end = span
    y, h = list(y0), 0.1
    ts, ys = [t], [y]
    while t < end:
        h = min(h, end - t)
        new, err = rk_step(f, t, y, h)
        if err <= tol:
            t, y = t + h, new
            ts.append(t)
            ys.append(y)
        h *= min(2.0, max(0.3, 0.9 * (tol / (err + 1e-15)) ** (1 / 3)))
    return ts, ys


def adaptive_rk(mu, x0, end):
    def van_der_pol(t, y):
        x, v = y
        return [v, mu * (1 - x * x) * v - x]

    ts, ys = solve_ivp(van_der_pol, (0.0, end), [x0, 0.0])
    return sum(y[0] ** 2 * (b - a) for y, a, b in zip(ys, ts, ts[1:]))


def parse_side(text):
    counts = Counter()
    for term in text.split("+"):
        counts[term.strip()] += 1
    return counts


def parse(reactions):
    parsed = []
    for line in reactions:
        left, right = line.split("->")
        parsed.append((parse_side(left), parse_side(right)))
    return parsed


def kinetics(ks, n):
    reactions = parse(["A + B -> C", "C -> A + B", "C + C -> D"])
    conc = {"A": 1.0, "B": 0.8, "C": 0.0, "D": 0.0}
    for _ in range(n):
        delta = {s: 0.0 for s in conc}
        for k, (left, right) in zip(ks, reactions):
            rate = k
            for species, order in left.items():
                rate *= conc[species] ** order
            for species, order in left.items():
                delta[species] -= order * rate
            for species, order in right.items():
                delta[species] += order * rate
        for s in conc:
            conc[s] += 0.05 * delta[s]
    return conc["D"] + 0.5 * conc["C"]


class GasState:
    R = 8.314

    def __init__(self, T, V, n=1.0, a=0.36, b=4e-5):
        self.T, self.V, self.n, self.a, self.b = T, V, n, a, b

    @cached_property
    def molar_volume(self):
        return self.V / self.n

    @cached_property
    def pressure(self):
        return self.R * self.T / (self.molar_volume - self.b) - self.a / self.molar_volume**2

    @cached_property
    def energy(self):
        return self.n * (1.5 * self.R * self.T - self.a / self.molar_volume)

    @property
    def enthalpy(self):
        return self.energy + self.pressure * self.V

    def expanded(self, factor):
        return GasState(self.T, self.V * factor, self.n, self.a, self.b)

    def heated(self, dT):
        return GasState(self.T + dT, self.V, self.n, self.a, self.b)


def gas_cycle(T, V, n):
    state = GasState(T, V)
    work = 0.0
    for k in range(n):
        new = state.expanded(1.02) if k % 2 else state.heated(2.0)
        work += 0.5 * (state.pressure + new.pressure) * (new.V - state.V)
        state = new
    return work + 1e-3 * state.enthalpy


def readings(gain, n):
    for k in range(n):
        yield gain * math.sin(0.2 * k)


def smoothed(values, alpha):
    state = None
    for v in values:
        state = v if state is None else alpha * v + (1 - alpha) * state
        yield state


def clipped(values, limit):
    yield from (max(-limit, min(limit, v)) for v in values)


def generator_pipeline(gain, alpha, n):
    raw = readings(gain, n)
    out = clipped(smoothed(raw, alpha), 1.2)
    return sum(v * v for v in out)


def non_negative(f):
    @wraps(f)
    def wrapper(*args, **kwargs):
        result = f(*args, **kwargs)
        if result < 0:
            raise ValueError(f.__name__)
        return result

    return wrapper


@non_negative
def arrhenius(A, E, T):
    return A * math.exp(-E / (8.314 * T))


def arrhenius_sweep(A, E, n):
    c = 1.0
    for k in range(n):
        c -= 0.01 * c * arrhenius(A, E, T=300.0 + k)
    return c


class Polynomial:
    def __init__(self, coefficients):
        self.c = list(coefficients)

    def __call__(self, x):
        return reduce(lambda acc, c: acc * x + c, reversed(self.c), 0.0)

    def __add__(self, o):
        return Polynomial([a + b for a, b in itertools.zip_longest(self.c, o.c, fillvalue=0.0)])

    def __mul__(self, o):
        out = [0.0] * (len(self.c) + len(o.c) - 1)
        for i, a in enumerate(self.c):
            for j, b in enumerate(o.c):
                out[i + j] += a * b
        return Polynomial(out)

    def derivative(self):
        return Polynomial(k * c for k, c in enumerate(self.c) if k)


def polynomial_ops(a, b, n):
    p, q = Polynomial(a), Polynomial(b)
    r = (p * q + p) * q
    for _ in range(2):
        r = r * q
    d = r.derivative()
    return sum(r(0.1 * k) * d(0.1 * k) for k in range(n))


@dataclass
class Lot:
    quantity: float
    price: float


class Inventory:
    def __init__(self):
        self.lots = deque()

    def buy(self, q, p):
        self.lots.append(Lot(q, p))

    def sell(self, q):
        cost = 0.0
        while q > 1e-9 and self.lots:
            lot = self.lots[0]
            used = min(q, lot.quantity)
            cost += used * lot.price
            lot.quantity -= used
            q -= used
            if lot.quantity <= 1e-9:
                self.lots.popleft()
        return cost


def fifo_inventory(price, inflation, n):
    book, profit = Inventory(), 0.0
    p = price
    for k in range(n):
        book.buy(5.0 + k % 3, p)
        if k > 2:
            profit += 4.5 * p * 1.1 - book.sell(4.5)
        p = p * inflation
    return profit


class Signal:
    def __init__(self):
        self.handlers = []

    def connect(self, handler):
        self.handlers.append(handler)
        return handler

    def emit(self, *args):
        for h in self.handlers:
            h(*args)


class Meter:
    def __init__(self, gain):
        self.gain, self.total, self.peak = gain, 0.0, float("-inf")

    def on_sample(self, v):
        self.total += self.gain * v
        self.peak = max(self.peak, v)


def observers(amplitude, gain, n):
    signal = Signal()
    meters = [Meter(gain), Meter(gain**2)]
    for m in meters:
        signal.connect(m.on_sample)
    for k in range(n):
        signal.emit(amplitude * math.sin(0.1 * k))
    return sum(m.total + m.peak for m in meters)


PROGRAMS = (
    Program("truss, assembled in place", truss, lambda n: (np.linspace(1.0, 2.0, 5), 10.0), 5, 5, "bars", (0, 1)),
    Program("adaptive Runge-Kutta of a closure", adaptive_rk, lambda n: (1.5, 1.0, float(n)), 3, 1, "seconds", (0, 1)),
    Program("reactions given as texts", kinetics, lambda n: ([0.8, 0.3, 0.1], n), 60, 4, "steps"),
    Program("gas with cached properties", gas_cycle, lambda n: (300.0, 0.025, n), 40, 4, "strokes", (0, 1)),
    Program("generators one after the other", generator_pipeline, lambda n: (1.5, 0.3, n), 200, 6, "readings", (0, 1)),
    Program("decorated function in a loop", arrhenius_sweep, lambda n: (1e3, 2e4, n), 250, 5, "steps", (0, 1)),
    Program("polynomials with operators", polynomial_ops, lambda n: ([1.0, -0.5, 0.3], [0.2, 0.7], n), 40, 3, "values", (0, 1)),
    Program("inventory, first in first out", fifo_inventory, lambda n: (10.0, 1.02, n), 120, 6, "purchases", (0, 1)),
    Program("observers of a signal", observers, lambda n: (1.5, 0.7, n), 80, 5, "samples", (0, 1)),
)
