"""Things that move: bodies, springs, tanks and controllers, as objects, dataclasses, named tuples and lists."""

import math
from collections import namedtuple
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.ordinary_programs import Program


class Spring:
    def __init__(self, position, stiffness, damping):
        self.position = position
        self.velocity = np.zeros(3)
        self.stiffness = stiffness
        self.damping = damping

    def force(self):
        return -self.stiffness * self.position - self.damping * self.velocity

    def step(self, dt):
        self.velocity = self.velocity + dt * self.force()
        self.position = self.position + dt * self.velocity


def spring(position, stiffness, damping, steps):
    s = Spring(position, stiffness, damping)
    for _ in range(steps):
        s.step(0.01)
    return np.sum(s.position**2)


class Oscillator:
    def __init__(self, x, v, k):
        self.x = x
        self.v = v
        self.k = k

    @property
    def energy(self):
        return 0.5 * self.v * self.v + 0.5 * self.k * self.x * self.x

    def acceleration(self):
        return -self.k * self.x

    def step(self, dt):
        self.v += self.acceleration() * dt
        self.x += self.v * dt


def oscillator(x, v, k, steps):
    o = Oscillator(x, v, k)
    total = 0.0
    for _ in range(steps):
        o.step(0.01)
        total += o.energy
    return total / steps


Point = namedtuple("Point", "x y z")


def lorenz(p, sigma, rho, beta):
    return Point(sigma * (p.y - p.x), p.x * (rho - p.z) - p.y, p.x * p.y - beta * p.z)


def moved(p, k, h):
    return Point(p.x + h * k.x, p.y + h * k.y, p.z + h * k.z)


def runge_kutta(x, sigma, rho, beta, steps):
    h = 0.01
    p = Point(x, 1.0, 1.0)
    for _ in range(steps):
        k1 = lorenz(p, sigma, rho, beta)
        k2 = lorenz(moved(p, k1, h / 2), sigma, rho, beta)
        k3 = lorenz(moved(p, k2, h / 2), sigma, rho, beta)
        k4 = lorenz(moved(p, k3, h), sigma, rho, beta)
        p = Point(*(a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(p, k1, k2, k3, k4)))
    return p.x + p.y + p.z


@dataclass
class Tank:
    level: float
    area: float
    outlet: float

    def outflow(self):
        return self.outlet * math.sqrt(2 * 9.81 * self.level)


def tanks(inflow, outlet, steps):
    row = [Tank(level=1.0 + 0.1 * i, area=2.0, outlet=outlet) for i in range(4)]
    for _ in range(steps):
        q = inflow
        for tank in row:
            out = tank.outflow()
            tank.level += 0.05 * (q - out) / tank.area
            q = out
    return sum(tank.level for tank in row)


@dataclass(frozen=True)
class Pendulum:
    a: float
    b: float
    wa: float
    wb: float


def pendulum_rates(s, length, g=9.81):
    d = s.a - s.b
    below = 3 - math.cos(2 * d)
    wa = (
        -3 * g * math.sin(s.a)
        - g * math.sin(s.a - 2 * s.b)
        - 2 * math.sin(d) * (s.wb**2 * length + s.wa**2 * length * math.cos(d))
    ) / (length * below)
    wb = (2 * math.sin(d) * (2 * s.wa**2 * length + 2 * g * math.cos(s.a) + s.wb**2 * length * math.cos(d))) / (length * below)
    return wa, wb


def double_pendulum(a, b, length, steps):
    state = Pendulum(a, b, 0.0, 0.0)
    dt = 0.005
    for _ in range(steps):
        wa, wb = pendulum_rates(state, length)
        state = replace(state, wa=state.wa + dt * wa, wb=state.wb + dt * wb)
        state = replace(state, a=state.a + dt * state.wa, b=state.b + dt * state.wb)
    return math.sin(state.a) + math.cos(state.b)


def n_body(mass, speed, steps):
    masses = [mass, 1.0, 0.5, 0.2]
    positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.1], [0.0, 2.0, 0.0], [-3.0, 0.0, 0.2]]
    velocities = [[0.0, 0.0, 0.0], [0.0, speed, 0.0], [-speed, 0.0, 0.1], [0.0, -speed, 0.0]]
    dt = 0.01
    for _ in range(steps):
        for i in range(4):
            for j in range(4):
                if i != j:
                    d = [positions[j][k] - positions[i][k] for k in range(3)]
                    r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01
                    for k in range(3):
                        velocities[i][k] += dt * masses[j] * d[k] / (r2 * math.sqrt(r2))
        for x, v in zip(positions, velocities):
            for k in range(3):
                x[k] += dt * v[k]
    return sum(m * sum(c * c for c in v) for m, v in zip(masses, velocities))


def kinetics(k1, k2, k3, steps):
    species = {"A": 1.0, "B": 0.5, "C": 0.0, "D": 0.0}
    reactions = [
        (k1, ["A", "B"], ["C"]),
        (k2, ["C"], ["A", "B"]),
        (k3, ["C", "B"], ["D"]),
    ]
    for _ in range(steps):
        change = {name: 0.0 for name in species}
        for rate, inputs, outputs in reactions:
            flow = rate
            for name in inputs:
                flow *= species[name]
            for name in inputs:
                change[name] -= flow
            for name in outputs:
                change[name] += flow
        for name in species:
            species[name] += 0.01 * change[name]
    return species["D"]


SIR = namedtuple("SIR", ["susceptible", "infected", "recovered"])


def epidemic(beta, gamma, steps):
    state = SIR(0.99, 0.01, 0.0)
    peak = []
    for _ in range(steps):
        new = beta * state.susceptible * state.infected * 0.1
        healed = gamma * state.infected * 0.1
        state = state._replace(
            susceptible=state.susceptible - new,
            infected=state.infected + new - healed,
            recovered=state.recovered + healed,
        )
        peak.append(state.infected)
    return max(peak) + state.recovered


class PID:
    def __init__(self, kp, ki, kd, target):
        self.kp, self.ki, self.kd = kp, ki, kd
        self.target = target
        self.integral = 0.0
        self.previous = None

    def __call__(self, measured, dt):
        error = self.target - measured
        self.integral += error * dt
        slope = 0.0 if self.previous is None else (error - self.previous) / dt
        self.previous = error
        return self.kp * error + self.ki * self.integral + self.kd * slope


def control(kp, ki, kd, steps):
    controller = PID(kp, ki, kd, target=1.0)
    temperature = 0.0
    cost = 0.0
    for _ in range(steps):
        heating = controller(temperature, 0.05)
        temperature += 0.05 * (heating - 0.5 * temperature)
        cost += (1.0 - temperature) ** 2
    return cost


class Bird:
    def __init__(self, position, velocity):
        self.position = position
        self.velocity = velocity

    def steer(self, flock, cohesion, alignment):
        others = [b for b in flock if b is not self]
        center = sum(b.position for b in others) / len(others)
        heading = sum(b.velocity for b in others) / len(others)
        return cohesion * (center - self.position) + alignment * (heading - self.velocity)


def flock(cohesion, alignment, starts, steps):
    birds = [Bird(start, np.array([1.0, 0.1 * i])) for i, start in enumerate(starts)]
    for _ in range(steps):
        pulls = [bird.steer(birds, cohesion, alignment) for bird in birds]
        for bird, pull in zip(birds, pulls):
            bird.velocity = bird.velocity + 0.1 * pull
            bird.position = bird.position + 0.1 * bird.velocity
    return sum(np.sum(bird.position**2) for bird in birds)


@dataclass(slots=True)
class Particle:
    x: float
    y: float
    old_x: float
    old_y: float


@dataclass(slots=True)
class Link:
    a: Particle
    b: Particle
    length: float

    def pull(self):
        dx, dy = self.b.x - self.a.x, self.b.y - self.a.y
        d = math.hypot(dx, dy)
        shift = 0.5 * (d - self.length) / d
        self.a.x += shift * dx
        self.a.y += shift * dy
        self.b.x -= shift * dx
        self.b.y -= shift * dy


def rope(gravity, length, steps):
    points = [Particle(0.3 * i, 0.0, 0.3 * i, 0.0) for i in range(6)]
    links = [Link(a, b, length) for a, b in zip(points, points[1:])]
    for _ in range(steps):
        for p in points[1:]:
            vx, vy = p.x - p.old_x, p.y - p.old_y
            p.old_x, p.old_y = p.x, p.y
            p.x += 0.99 * vx
            p.y += 0.99 * vy - gravity * 0.0004
        for link in links:
            link.pull()
        points[0].x = points[0].y = 0.0
    return points[-1].x ** 2 + points[-1].y


@dataclass(frozen=True)
class Stage:
    fuel: float
    thrust: float
    burn: float


def rocket(fuel, thrust, drag, steps):
    stages = [Stage(fuel, thrust, 1.5), Stage(0.4 * fuel, 0.5 * thrust, 0.8), Stage(0.1 * fuel, 0.2 * thrust, 0.3)]
    height, speed = 0.0, 0.0
    dry = 2.0
    for number, stage in enumerate(stages):
        left = stage.fuel
        above = sum(s.fuel for s in stages[number + 1 :])
        for _ in range(steps):
            mass = dry + left + above
            force = stage.thrust - mass * 9.81 - drag * speed * abs(speed)
            speed += 0.02 * force / mass
            height += 0.02 * speed
            left -= 0.02 * stage.burn
    return height


def rod(conductivity, hot, steps):
    temperatures = [hot] + [0.0] * 20
    for _ in range(steps):
        inner = [b + conductivity * (a - 2 * b + c) for a, b, c in zip(temperatures, temperatures[1:], temperatures[2:])]
        temperatures = [hot, *inner, temperatures[-1]]
    return sum(t * t for t in temperatures)


class Adaptive:
    """Heun's method with a step that follows the error."""

    def __init__(self, rates, tolerance):
        self.rates = rates
        self.tolerance = tolerance
        self.h = 0.01
        self.rejected = 0

    def run(self, y, end):
        t = 0.0
        while t < end:
            h = min(self.h, end - t)
            k1 = self.rates(t, y)
            k2 = self.rates(t + h, [a + h * b for a, b in zip(y, k1)])
            error = max(abs(0.5 * h * (b - a)) for a, b in zip(k1, k2))
            if error > self.tolerance:
                self.h = 0.5 * h
                self.rejected += 1
                continue
            y = [a + 0.5 * h * (b + c) for a, b, c in zip(y, k1, k2)]
            t += h
            if error < 0.1 * self.tolerance:
                self.h = 1.5 * h
        return y


def van_der_pol(mu, start, end):
    def rates(t, y):
        x, v = y
        return [v, mu * (1 - x * x) * v - x]

    x, v = Adaptive(rates, 1e-3).run([start, 0.0], end)
    return x * x + v * v


PROGRAMS = (
    Program("spring object, arrays", spring, lambda n: (np.array([1.0, 0.5, -0.3]), 2.0, 0.1, n), 100, 5, "steps", (0, 1, 2)),
    Program("spring object, floats, property", oscillator, lambda n: (1.0, 0.2, 3.0, n), 400, 5, "steps", (0, 1, 2)),
    Program("RK4 of a namedtuple", runge_kutta, lambda n: (1.0, 10.0, 28.0, 8.0 / 3.0, n), 60, 3, "steps", (0, 1, 2, 3)),
    Program("tanks, dataclasses in a list", tanks, lambda n: (1.5, 0.3, n), 200, 4, "steps", (0, 1)),
    Program("double pendulum, frozen dataclass", double_pendulum, lambda n: (1.2, 0.8, 1.0, n), 60, 4, "steps", (0, 1, 2)),
    Program("N-body, lists of lists", n_body, lambda n: (5.0, 1.4, n), 40, 3, "steps", (0, 1)),
    Program("chemical kinetics, dict of species", kinetics, lambda n: (0.8, 0.1, 0.5, n), 200, 4, "steps", (0, 1, 2)),
    Program("SIR as a namedtuple", epidemic, lambda n: (0.9, 0.3, n), 200, 5, "steps", (0, 1)),
    Program("PID controller", control, lambda n: (1.2, 0.4, 0.05, n), 400, 5, "steps", (0, 1, 2)),
    Program(
        "flock of agents",
        flock,
        lambda n: (0.05, 0.1, np.random.default_rng(0).normal(size=(8, 2)), n),
        10,
        2,
        "steps",
        (0, 1, 2),
    ),
    Program("rope, slots dataclasses", rope, lambda n: (9.81, 0.32, n), 60, 3, "steps", (0, 1)),
    Program("rocket, frozen stages", rocket, lambda n: (20.0, 500.0, 0.01, n), 150, 4, "steps", (0, 1, 2)),
    Program("heat in a rod, lists made anew", rod, lambda n: (0.2, 1.5, n), 150, 4, "steps", (0, 1)),
    Program("adaptive step, callback", van_der_pol, lambda n: (1.5, 1.2, 0.1 * n), 60, 5, "tenths", (0, 1)),
)
