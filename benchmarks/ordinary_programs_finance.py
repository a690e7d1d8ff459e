"""Money, stocks of goods, pictures and robots."""

import math
from collections import namedtuple
from dataclasses import dataclass

import numpy as np

from benchmarks.ordinary_programs import Program


def binomial_tree(spot, strike, rate, volatility, steps):
    """An American put."""
    dt = 1.0 / steps
    up = math.exp(volatility * math.sqrt(dt))
    down = 1 / up
    p = (math.exp(rate * dt) - down) / (up - down)
    discount = math.exp(-rate * dt)
    values = [max(strike - spot * up**j * down ** (steps - j), 0.0) for j in range(steps + 1)]
    for i in range(steps - 1, -1, -1):
        for j in range(i + 1):
            hold = discount * (p * values[j + 1] + (1 - p) * values[j])
            values[j] = max(hold, strike - spot * up**j * down ** (i - j))
    return values[0]


class Asset:
    def __init__(self, price, volatility):
        self.price = price
        self.volatility = volatility
        self.history = [price]

    def move(self, rate, dt, z):
        growth = (rate - 0.5 * self.volatility**2) * dt + self.volatility * math.sqrt(dt) * z
        self.price *= math.exp(growth)
        self.history.append(self.price)

    @property
    def average(self):
        return sum(self.history) / len(self.history)


def asian_option(spot, strike, rate, volatility, draws):
    payoffs = []
    for path in draws:
        asset = Asset(spot, volatility)
        for z in path:
            asset.move(rate, 1.0 / len(path), z)
        payoffs.append(max(asset.average - strike, 0.0))
    return math.exp(-rate) * sum(payoffs) / len(payoffs)


@dataclass
class Mortgage:
    balance: float
    rate: float
    payment: float
    paid_interest: float = 0.0

    def month(self):
        interest = self.balance * self.rate / 12
        self.paid_interest += interest
        self.balance += interest - self.payment


def mortgage(loan, rate, payment, months):
    m = Mortgage(loan, rate, payment)
    for _ in range(months):
        m.month()
    return m.paid_interest + 0.1 * m.balance


class Account:
    def __init__(self, balance=0.0):
        self.balance = balance
        self.log = []

    def deposit(self, amount):
        self.balance += amount
        self.log.append(("deposit", amount))

    def withdraw(self, amount):
        if amount > self.balance:
            raise ValueError("not enough money")
        self.balance -= amount
        self.log.append(("withdraw", amount))


def bank(salary, rent, rate, months):
    accounts = {"checking": Account(1.0), "savings": Account()}
    missed = 0
    for month in range(months):
        accounts["checking"].deposit(salary)
        try:
            accounts["checking"].withdraw(rent * (1 + 0.01 * (month % 12)))
        except ValueError:
            missed += 1
        if accounts["checking"].balance > 3.0:
            rest = 0.5 * accounts["checking"].balance
            accounts["checking"].withdraw(rest)
            accounts["savings"].deposit(rest)
        accounts["savings"].deposit(accounts["savings"].balance * rate / 12)
    moved = sum(amount for kind, amount in accounts["checking"].log if kind == "withdraw")
    return accounts["savings"].balance + 0.01 * moved - missed


Bond = namedtuple("Bond", "coupon years price")


def yield_curve(levels, bonds):
    """Squared errors of prices from a curve by linear interpolation."""
    error = 0.0
    for bond in bonds:
        value = 0.0
        for half in range(1, 2 * bond.years + 1):
            t = half / 2
            i = min(int(t / 5), len(levels) - 2)
            rate = levels[i] + (levels[i + 1] - levels[i]) * (t / 5 - i)
            value += (bond.coupon / 2 + (1.0 if half == 2 * bond.years else 0.0)) * math.exp(-rate * t)
        error += (value - bond.price) ** 2
    return error


def tax(income, allowance, brackets):
    owed = 0.0
    left = max(income - allowance, 0.0)
    for width, rate in brackets:
        part = min(left, width)
        owed += part * rate
        left -= part
        if left <= 0.0:
            break
    return owed


def taxes(incomes, allowance, brackets):
    return sum(tax(income, allowance, brackets) for income in incomes)


class Warehouse:
    def __init__(self, stock, level, target):
        self.stock, self.level, self.target = stock, level, target
        self.orders = []
        self.cost = 0.0

    def day(self, today, demand):
        for order in [o for o in self.orders if o["due"] == today]:
            self.stock += order["amount"]
            self.orders.remove(order)
        sold = min(self.stock, demand)
        self.stock -= sold
        self.cost += 0.1 * self.stock + 2.0 * (demand - sold)
        if self.stock < self.level and not self.orders:
            self.orders.append({"due": today + 3, "amount": self.target - self.stock})
            self.cost += 0.5


def inventory(level, target, demands):
    warehouse = Warehouse(5.0, level, target)
    for today, demand in enumerate(demands):
        warehouse.day(today, demand)
    return warehouse.cost


@dataclass
class Sphere:
    center: np.ndarray
    radius: float
    colour: float

    def hit(self, origin, direction):
        to = origin - self.center
        b = to @ direction
        d = b * b - to @ to + self.radius**2
        if d < 0:
            return None
        t = -b - np.sqrt(d)
        return t if t > 1e-6 else None


def shade(spheres, origin, direction, light, depth):
    nearest, ball = None, None
    for sphere in spheres:
        t = sphere.hit(origin, direction)
        if t is not None and (nearest is None or t < nearest):
            nearest, ball = t, sphere
    if ball is None:
        return 0.1
    point = origin + nearest * direction
    normal = (point - ball.center) / ball.radius
    colour = ball.colour * max(normal @ light, 0.0)
    if depth > 0:
        mirrored = direction - 2 * (direction @ normal) * normal
        colour = colour + 0.3 * shade(spheres, point, mirrored, light, depth - 1)
    return colour


def ray_tracing(radius, colour, light, pixels):
    spheres = [Sphere(np.array([0.5 * i - 0.7, 0.2 * i, 3.0 + i]), radius, colour / (1 + i)) for i in range(3)]
    light = light / np.linalg.norm(light)
    total = 0.0
    for i in range(pixels):
        for j in range(pixels):
            direction = np.array([(i + 0.5) / pixels - 0.5, (j + 0.5) / pixels - 0.5, 1.0])
            direction = direction / np.linalg.norm(direction)
            total = total + shade(spheres, np.zeros(3), direction, light, 1)
    return total / pixels**2


def de_casteljau(points, t):
    while len(points) > 1:
        points = [((1 - t) * x0 + t * x1, (1 - t) * y0 + t * y1) for (x0, y0), (x1, y1) in zip(points, points[1:])]
    return points[0]


def curve_length(points, n):
    places = [de_casteljau(points, i / n) for i in range(n + 1)]
    return sum(math.hypot(c - a, d - b) for (a, b), (c, d) in zip(places, places[1:]))


class Joint:
    def __init__(self, angle, length):
        self.angle = angle
        self.length = length

    def matrix(self):
        c, s = np.cos(self.angle), np.sin(self.angle)
        return np.array([[c, -s, self.length * c], [s, c, self.length * s], [0.0, 0.0, 1.0]])


def robot_arm(angles, lengths, target):
    pose = np.eye(3)
    for joint in [Joint(a, length) for a, length in zip(angles, lengths)]:
        pose = pose @ joint.matrix()
    return np.sum((pose[:2, 2] - target) ** 2)


def page_rank(damping, strength, links, rounds):
    ranks = {page: 1.0 / len(links) for page in links}
    for _ in range(rounds):
        new = dict.fromkeys(links, (1 - damping) / len(links))
        for page, targets in links.items():
            total = sum(strength ** (i + 1) for i in range(len(targets)))
            for i, other in enumerate(targets):
                new[other] += damping * ranks[page] * strength ** (i + 1) / total
        ranks = new
    return sum(rank**2 for rank in ranks.values())


def numbers(n, low=0.0, high=1.0):
    return np.random.default_rng(n).uniform(low, high, n).tolist()


def draws(n):
    return np.random.default_rng(n).normal(size=(n, 12)).tolist()


BONDS = [Bond(0.02 + 0.001 * i, 2 + i, 0.95 + 0.005 * i) for i in range(14)]
PAGES = {i: sorted({(i + 1) % 12, (i * i + 1) % 12, (3 * i + 2) % 12}) for i in range(12)}
BRACKETS = [(1.0, 0.1), (2.0, 0.2), (3.0, 0.3), (float("inf"), 0.4)]

PROGRAMS = (
    Program("American put, binomial tree", binomial_tree, lambda n: (1.0, 1.05, 0.03, 0.2, n), 40, 4, "steps", (0, 1, 2, 3)),
    Program(
        "Asian option, assets as objects",
        asian_option,
        lambda n: (1.0, 0.98, 0.03, 0.2, draws(n)),
        50,
        4,
        "paths",
        (0, 1, 2, 3),
    ),
    Program("mortgage", mortgage, lambda n: (100.0, 0.04, 0.6, n), 540, 5, "months", (0, 1, 2)),
    Program("bank accounts", bank, lambda n: (2.0, 1.3, 0.03, n), 200, 5, "months", (0, 1, 2)),
    Program("yield curve", yield_curve, lambda n: (np.linspace(0.01, 0.03, 4).tolist(), BONDS[:n]), 14, 3, "bonds"),
    Program("tax brackets", taxes, lambda n: (numbers(n, 0.0, 9.0), 0.5, BRACKETS), 200, 5, "incomes", (0, 1)),
    Program("inventory, list of orders", inventory, lambda n: (2.0, 6.0, numbers(n)), 300, 8, "days", (0, 1)),
    Program("ray tracing", ray_tracing, lambda n: (0.6, 0.9, np.array([0.3, 0.5, -1.0]), n), 8, 3, "pixels wide", (0, 1, 2)),
    Program(
        "Bezier curve, list of tuples",
        curve_length,
        lambda n: ([(0.0, 0.0), (1.0, 2.0), (2.0, -1.0), (3.0, 0.5)], n),
        60,
        3,
        "places",
    ),
    Program(
        "robot arm, list of joints",
        robot_arm,
        lambda n: (np.linspace(0.1, 0.9, n), np.linspace(1.0, 0.3, n), np.array([1.5, 1.0])),
        20,
        3,
        "joints",
        (0, 1, 2),
    ),
    Program("page rank, dict of lists", page_rank, lambda n: (0.85, 0.8, PAGES, n), 20, 2, "rounds", (0, 1)),
)
