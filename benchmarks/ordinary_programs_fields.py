"""One program for each of many fields, as somebody writes it who has classes, generators and decorators at hand."""

import enum
import itertools
import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from benchmarks.ordinary_programs import Program


class Resistor:
    def __init__(self, ohms):
        self.ohms = ohms

    def drop(self, current):
        return self.ohms * current


class RC:
    def __init__(self, r, c):
        self.r, self.c = r, c
        self.voltage = 0.0

    def step(self, current, dt):
        tau = self.r * self.c
        self.voltage += dt * (current / self.c - self.voltage / tau)
        return self.voltage


class Cell:
    capacity = 2.5

    def __init__(self, r0, pairs, soc=1.0):
        self.series = Resistor(r0)
        self.pairs = [RC(r, c) for r, c in pairs]
        self.soc = soc
        self.log = []

    @property
    def ocv(self):
        return 3.0 + 1.2 * self.soc - 0.4 * self.soc**2

    def terminal(self, current, dt):
        self.soc = max(0.0, self.soc - current * dt / (3600 * self.capacity))
        v = self.ocv - self.series.drop(current) - sum(p.step(current, dt) for p in self.pairs)
        self.log.append(v)
        return v


def battery(r0, r1, c1, n):
    cell = Cell(r0, [(r1, c1), (r1 * 2, c1 * 5)])
    loss = 0.0
    for k in range(n):
        current = 2.0 if (k // 10) % 2 == 0 else -0.5
        v = cell.terminal(current, 10.0)
        loss += (v - 3.6) ** 2
    return loss / len(cell.log)


FLOWS = [("gut", "plasma", "ka"), ("plasma", "tissue", "k12"), ("tissue", "plasma", "k21"), ("plasma", None, "ke")]


def derivatives(amounts, rates):
    change = dict.fromkeys(amounts, 0.0)
    for source, target, name in FLOWS:
        flow = rates[name] * amounts[source]
        change[source] -= flow
        if target is not None:
            change[target] += flow
    return change


def pharmacokinetics(ka, k12, k21, ke, n):
    rates = {"ka": ka, "k12": k12, "k21": k21, "ke": ke}
    amounts = {"gut": 100.0, "plasma": 0.0, "tissue": 0.0}
    dt, auc = 0.1, 0.0
    for _ in range(n):
        d1 = derivatives(amounts, rates)
        middle = {name: a + 0.5 * dt * d1[name] for name, a in amounts.items()}
        d2 = derivatives(middle, rates)
        amounts = {name: a + dt * d2[name] for name, a in amounts.items()}
        auc += amounts["plasma"] * dt
    return auc


class State(enum.Enum):
    SUSCEPTIBLE = 0
    INFECTED = 1
    RECOVERED = 2


@dataclass
class Agent:
    name: int
    state: State = State.SUSCEPTIBLE
    load: float = 0.0
    contacts: list = field(default_factory=list)


def epidemic_agents(beta, gamma, n, days):
    agents = [Agent(k) for k in range(n)]
    for k, a in enumerate(agents):
        a.contacts = [agents[(k + 1) % n], agents[(k + 5) % n]]
    agents[0].state, agents[0].load = State.INFECTED, 1.0
    total = 0.0
    for day in range(days):
        for a in agents:
            if a.state is State.INFECTED:
                for other in a.contacts:
                    if other.state is State.SUSCEPTIBLE:
                        other.load += beta * a.load
        for a in agents:
            if a.state is State.SUSCEPTIBLE and a.load > 0.2:
                a.state = State.INFECTED
            elif a.state is State.INFECTED:
                a.load *= 1.0 - gamma
                if a.load < 0.1:
                    a.state = State.RECOVERED
        total += sum(a.load for a in agents)
    return total


class Vector:
    __slots__ = ("_c",)

    def __init__(self, *components):
        self._c = components

    def __iter__(self):
        return iter(self._c)

    def __getitem__(self, k):
        return self._c[k]

    def __len__(self):
        return len(self._c)

    def __add__(self, other):
        return Vector(*(a + b for a, b in zip(self, other)))

    def __sub__(self, other):
        return Vector(*(a - b for a, b in zip(self, other)))

    def __mul__(self, s):
        return Vector(*(s * a for a in self))

    __rmul__ = __mul__

    def __abs__(self):
        return math.sqrt(self.dot(self))

    def dot(self, other):
        return sum(a * b for a, b in zip(self, other))


@dataclass
class Body:
    mass: float
    position: Vector
    velocity: Vector


def nbody_vector(m0, m1, n):
    bodies = [
        Body(m0, Vector(0.0, 0.0, 0.0), Vector(0.0, 0.0, 0.0)),
        Body(m1, Vector(1.0, 0.0, 0.1), Vector(0.0, 1.0, 0.0)),
        Body(0.02, Vector(0.0, 2.0, 0.0), Vector(-0.7, 0.0, 0.1)),
    ]
    dt = 0.02
    for _ in range(n):
        forces = []
        for a in bodies:
            total = Vector(0.0, 0.0, 0.0)
            for b in bodies:
                if b is not a:
                    d = b.position - a.position
                    total = total + d * (b.mass / (abs(d) ** 3 + 1e-3))
            forces.append(total)
        for body, f in zip(bodies, forces):
            body.velocity = body.velocity + dt * f
            body.position = body.position + body.velocity * dt
    return sum(abs(b.position) for b in bodies)


def spring_network(k, rest, n):
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c")]
    position = {"a": (0.0, 0.0), "b": (1.0, 0.1), "c": (1.1, 1.0), "d": (0.0, 1.2)}
    for _ in range(n):
        force = {name: [0.0, 0.0] for name in position}
        for i, j in edges:
            (xi, yi), (xj, yj) = position[i], position[j]
            dx, dy = xj - xi, yj - yi
            length = math.hypot(dx, dy)
            f = k * (length - rest) / length
            force[i][0] += f * dx
            force[i][1] += f * dy
            force[j][0] -= f * dx
            force[j][1] -= f * dy
        for name, (fx, fy) in force.items():
            x, y = position[name]
            position[name] = (x + 0.05 * fx, y + 0.05 * fy)
    return sum(x * x + y * y for x, y in position.values())


def sigmoid(v):
    return 1.0 / (1.0 + math.exp(-v))


class LSTMCell:
    GATES = ("i", "f", "o", "g")

    def __init__(self, weights, size):
        self.size = size
        self.W = {}
        it = iter(weights)
        for gate in self.GATES:
            self.W[gate] = [[next(it) for _ in range(size + 2)] for _ in range(size)]

    def __call__(self, x, state):
        h, c = state
        z = {}
        for gate in self.GATES:
            act = math.tanh if gate == "g" else sigmoid
            inputs = [x] + h + [1.0]
            z[gate] = [act(sum(w * v for w, v in zip(row, inputs))) for row in self.W[gate]]
        c = [f * cc + i * g for f, cc, i, g in zip(z["f"], c, z["i"], z["g"])]
        h = [o * math.tanh(cc) for o, cc in zip(z["o"], c)]
        return h, c


def lstm_lists(weights, xs):
    cell = LSTMCell(weights, 3)
    state = [0.0] * 3, [0.0] * 3
    loss = 0.0
    for x, target in zip(xs, xs[1:]):
        state = cell(x, state)
        loss += (sum(state[0]) - target) ** 2
    return loss


def american_put(spot, vol, rate, n):
    dt = 1.0 / n
    up = math.exp(vol * math.sqrt(dt))
    down = 1 / up
    p = (math.exp(rate * dt) - down) / (up - down)
    discount = math.exp(-rate * dt)
    values = [max(0.0, 100.0 - spot * up**j * down ** (n - j)) for j in range(n + 1)]
    for i in reversed(range(n)):
        for j in range(i + 1):
            hold = discount * (p * values[j + 1] + (1 - p) * values[j])
            exercise = 100.0 - spot * up**j * down ** (i - j)
            values[j] = hold if hold > exercise else exercise
        del values[-1]
    return values[0]


class Curve:
    def __init__(self):
        self.times, self.rates = [0.0], [0.0]

    def add(self, t, r):
        self.times.append(t)
        self.rates.append(r)

    def rate(self, t):
        for (t0, r0), (t1, r1) in itertools.pairwise(zip(self.times, self.rates)):
            if t0 <= t <= t1:
                return r0 + (r1 - r0) * (t - t0) / (t1 - t0)
        return self.rates[-1]

    def discount(self, t):
        return math.exp(-self.rate(t) * t)


def bootstrap_curve(par_rates):
    curve = Curve()
    for maturity, par in enumerate(par_rates, start=1):
        annuity = sum(curve.discount(t) for t in range(1, maturity))
        df = (1 - par * annuity) / (1 + par)
        curve.add(float(maturity), -math.log(df) / maturity)
    return sum(curve.discount(0.5 * k) * 3.0 for k in range(1, 11))


class Flow(NamedTuple):
    time: float
    amount: float
    kind: str = "coupon"


def schedule(face, coupon, years):
    flows = [Flow(t / 2, face * coupon / 2) for t in range(1, 2 * years + 1)]
    flows.append(Flow(float(years), face, "principal"))
    return flows


def bond_yield(price, coupon, years):
    flows = schedule(100.0, coupon, years)
    y = 0.04
    for _ in range(20):
        pv = sum(f.amount * math.exp(-y * f.time) for f in flows)
        dpv = sum(-f.time * f.amount * math.exp(-y * f.time) for f in flows)
        step = (pv - price) / dpv
        y -= step
        if abs(step) < 1e-12:
            break
    duration = sum(f.time * f.amount * math.exp(-y * f.time) for f in flows if f.kind == "coupon") / price
    return y + 0.1 * duration


def hmm_forward(p, text):
    states = ("hot", "cold")
    trans = {(a, b): p["stay"] if a == b else 1 - p["stay"] for a in states for b in states}
    emission = {"hot": {"x": p["emit"], "y": 1 - p["emit"]}, "cold": {"x": 0.2, "y": 0.8}}
    alpha = {s: 0.5 * emission[s][text[0]] for s in states}
    loglik = 0.0
    for symbol in text[1:]:
        alpha = {s: emission[s][symbol] * sum(alpha[q] * trans[q, s] for q in states) for s in states}
        norm = sum(alpha.values())
        alpha = {s: a / norm for s, a in alpha.items()}
        loglik += math.log(norm)
    return loglik


def rotation_z(theta):
    c, s = np.cos(theta), np.sin(theta)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def translation(x=0.0, y=0.0, z=0.0):
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def robot_arm(angles, lengths):
    T = np.eye(4)
    joints = []
    for theta, length in zip(angles, lengths):
        T = T @ rotation_z(theta) @ translation(x=length)
        joints.append(T[:3, 3])
    target = np.array([1.5, 1.0, 0.0])
    return np.sum((joints[-1] - target) ** 2) + 0.01 * sum(np.linalg.norm(j) for j in joints)


def waves(n, scale):
    return [scale * math.sin(1.3 * k) for k in range(n)]


PROGRAMS = (
    Program("battery of cells with resistors", battery, lambda n: (0.05, 0.02, 800.0, n), 120, 5, "steps", (0, 1, 2)),
    Program("compartments in dicts", pharmacokinetics, lambda n: (1.2, 0.4, 0.25, 0.15, n), 60, 4, "steps", (0, 1, 2, 3)),
    Program("epidemic of agents", epidemic_agents, lambda n: (0.3, 0.15, 12, n), 15, 4, "days", (0, 1)),
    Program("bodies with a Vector of any length", nbody_vector, lambda n: (1.0, 0.01, n), 12, 2, "steps", (0, 1)),
    Program("springs between names", spring_network, lambda n: (3.0, 0.9, n), 40, 3, "steps", (0, 1)),
    Program("LSTM of lists", lstm_lists, lambda n: (waves(60, 0.1), waves(n, 0.8)), 6, 3, "inputs"),
    Program("American put in a tree", american_put, lambda n: (101.3, 0.2, 0.05, n), 30, 5, "steps", (0, 1, 2)),
    Program("bootstrap of a yield curve", bootstrap_curve, lambda n: ([0.02 + 0.001 * k for k in range(n)],), 14, 4, "bonds"),
    Program("yield of cash flows", bond_yield, lambda n: (95.0, 0.05, n), 30, 3, "years", (0, 1)),
    Program("hidden Markov model in dicts", hmm_forward, lambda n: ({"stay": 0.7, "emit": 0.6}, "xyxxyxy" * n), 4, 1, "words"),
    Program("robot arm", robot_arm, lambda n: (np.linspace(0.1, 0.4, n), np.linspace(1.0, 0.3, n)), 4, 3, "joints", (0, 1)),
)
