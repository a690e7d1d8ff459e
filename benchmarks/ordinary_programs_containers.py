"""Lists that grow, dicts that collect, closures, generators, deques, linked nodes, recursion and plain loops."""

import functools
import heapq
import itertools
import math
from collections import defaultdict, deque

import numpy as np

from benchmarks.ordinary_programs import Program


def float_loop(x, y, a, b, steps):
    total = 0.0
    for i in range(steps):
        x = x + 0.01 * (a * x - b * x * y)
        y = y + 0.01 * (b * x * y - y)
        if i % 2 == 0:
            total += math.sin(x) * y
    return total


def array_loop(x, w, steps):
    for _ in range(steps):
        x = x + 0.1 * np.tanh(w @ x)
    return np.sum(x * x)


def trajectory(x, a, steps):
    xs = []
    for _ in range(steps):
        x = x + 0.01 * np.sin(a @ x)
        xs.append(x)
    xs = np.stack(xs)
    return np.mean(np.sum(xs**2, axis=1))


def decay(x, noise):
    out = [x]
    for e in noise:
        out.append(out[-1] * 0.99 + e)
    return sum(v * v for v in out)


def up_and_down(a, b, steps):
    acc = {"up": 0.0, "down": 0.0}
    for i in range(steps):
        if i % 3 == 0:
            acc["down"] += b * math.cos(b * i)
        else:
            acc["up"] += a * i
    return acc["up"] * acc["down"]


def alignment(costs, gap):
    n, m = costs.shape
    table = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        table[i][0] = i * gap
    for j in range(1, m + 1):
        table[0][j] = j * gap
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            table[i][j] = min(table[i - 1][j] + gap, table[i][j - 1] + gap, table[i - 1][j - 1] + costs[i - 1, j - 1])
    return table[n][m]


def make_counter(rate):
    total = 0.0

    def add(v):
        nonlocal total
        total = total * rate + v
        return total

    return add


def counting(rate, x, steps):
    add = make_counter(rate)
    result = 0.0
    for i in range(steps):
        result += add(x * i) * 0.01
    return result


def samples(rate, n):
    v = 1.0
    for _ in range(n):
        yield v
        v *= rate


def generated_sum(rate, n):
    return sum(v * v for v in samples(rate, n))


def fall(height, drag):
    velocity = 0.0
    while height > 0.0:
        yield height, velocity
        velocity += 0.01 * (9.81 - drag * velocity * velocity)
        height -= 0.01 * velocity


def generated_loop(height, drag):
    work = 0.0
    for h, v in fall(height, drag):
        work += drag * v * v * 0.01 + 1e-3 * h
    return work


def expenses(prices, rate, entries):
    totals = defaultdict(float)
    counts = defaultdict(int)
    for day, (item, amount) in enumerate(entries):
        totals[item] += amount * prices[item] * math.exp(-rate * day)
        counts[item] += 1
    return sum(totals[item] ** 2 / counts[item] for item in totals)


def echo(signal, gain, feedback):
    delay = deque([0.0] * 8, maxlen=8)
    out = []
    for s in signal:
        late = delay.popleft()
        delay.append(s + feedback * late)
        out.append(s + gain * late)
    return sum(v * v for v in out)


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


def linked_list(x, rate, n):
    head = None
    for i in range(n):
        head = Node(x * math.sin(i), head)
    node = head
    while node is not None and node.next is not None:
        node.next.value += rate * node.value
        node = node.next
    total = 0.0
    node = head
    while node is not None:
        total += node.value**2
        node = node.next
    return total


class Tree:
    def __init__(self, value, children):
        self.value = value
        self.children = children

    def total(self, discount):
        return self.value + discount * sum(child.total(discount) for child in self.children)


def grow(value, growth, depth):
    if depth == 0:
        return Tree(value, [])
    return Tree(value, [grow(value * growth, growth, depth - 1), grow(value / growth, growth, depth - 1)])


def tree(value, growth, discount, depth):
    return grow(value, growth, depth).total(discount)


class Welford:
    def __init__(self):
        self.n = 0
        self.mean = 0.0
        self.m2 = 0.0

    def push(self, x):
        self.n += 1
        delta = x - self.mean
        self.mean += delta / self.n
        self.m2 += delta * (x - self.mean)

    @property
    def variance(self):
        return self.m2 / (self.n - 1)


def running_statistics(data, scale):
    stats = Welford()
    for x in data:
        stats.push(math.tanh(scale * x))
    return stats.mean / math.sqrt(stats.variance)


def memoised(p, q, n):
    memo = {}

    def chance(i, j):
        if i == 0 or j == 0:
            return 1.0 if j else 0.5
        if (i, j) not in memo:
            memo[i, j] = p * chance(i - 1, j) + q * chance(i, j - 1) + (1 - p - q) * chance(i - 1, j - 1)
        return memo[i, j]

    return chance(n, n)


def shortest_path(lengths, detour, graph):
    best = {0: 0.0}
    queue = [(0.0, 0)]
    done = set()
    while queue:
        distance, node = heapq.heappop(queue)
        if node in done:
            continue
        done.add(node)
        for edge, other in graph[node]:
            candidate = distance + lengths[edge] * (1 + detour * node)
            if other not in best or candidate < best[other]:
                best[other] = candidate
                heapq.heappush(queue, (candidate, other))
    return sum(best.values())


def grid_graph(side):
    graph = {}
    edge = 0
    for i in range(side):
        for j in range(side):
            graph[i * side + j] = []
            for k, m in ((i + 1, j), (i, j + 1)):
                if k < side and m < side:
                    graph[i * side + j].append((edge, k * side + m))
                    edge += 1
    return list(np.random.default_rng(0).uniform(1.0, 2.0, edge).tolist()), 0.01, graph


def growth_index(rates, start):
    levels = list(itertools.accumulate(rates, lambda level, rate: level * (1 + rate), initial=start))
    changes = [math.log(b / a) for a, b in itertools.pairwise(levels)]
    return functools.reduce(lambda a, b: a + b * b, changes, 0.0) + levels[-1]


def ranking(scores, weights):
    names = [f"player {i}" for i in range(len(scores))]
    table = dict(zip(names, scores))
    best = sorted(table, key=lambda name: table[name], reverse=True)
    return sum(w * table[name] for w, name in zip(weights, best)) / sum(weights)


class Smoother:
    """Exponential smoothing with a trend (Holt)."""

    def __init__(self, alpha, beta):
        self.alpha = alpha
        self.beta = beta
        self.level = None
        self.trend = 0.0

    def update(self, value):
        if self.level is None:
            self.level = value
            return value
        before = self.level
        self.level = self.alpha * value + (1 - self.alpha) * (before + self.trend)
        self.trend = self.beta * (self.level - before) + (1 - self.beta) * self.trend
        return self.level

    def forecast(self, steps=1):
        return self.level + steps * self.trend


def smoothing(alpha, beta, values):
    smoother = Smoother(alpha, beta)
    error = 0.0
    for i, value in enumerate(values):
        if i > 0:
            error += (smoother.forecast() - value) ** 2
        smoother.update(value)
    return error / len(values)


def waiting_line(service, arrivals):
    """Customers wait in a line for one of two desks."""
    waiting = deque()
    free = [0.0, 0.0]
    total = 0.0
    for arrival in arrivals:
        waiting.append(arrival)
        while waiting:
            came = waiting.popleft()
            desk = 0 if free[0] <= free[1] else 1
            start = max(came, free[desk])
            free[desk] = start + service
            total += start - came
    return total / len(arrivals)


def uniform(n, low=0.0, high=1.0):
    return np.random.default_rng(n).uniform(low, high, n).tolist()


PROGRAMS = (
    Program("loop over floats", float_loop, lambda n: (1.0, 0.5, 1.1, 0.4, n), 1000, 10, "steps", (0, 1, 2, 3)),
    Program(
        "loop over arrays",
        array_loop,
        lambda n: (np.linspace(-1.0, 1.0, 10), np.random.default_rng(0).normal(0.0, 0.3, (10, 10)), n),
        100,
        3,
        "steps",
        (0, 1),
    ),
    Program(
        "states appended, then np.stack",
        trajectory,
        lambda n: (np.linspace(-1.0, 1.0, 10), np.random.default_rng(0).normal(0.0, 0.3, (10, 10)), n),
        100,
        3,
        "steps",
        (0, 1),
    ),
    Program("out.append(out[-1] ...)", decay, lambda n: (1.0, uniform(n)), 1000, 5, "items", (0, 1)),
    Program('acc["up"] += a * i', up_and_down, lambda n: (0.01, 0.7, n), 1000, 7, "steps", (0, 1)),
    Program(
        "dynamic programming, list of lists",
        alignment,
        lambda n: (np.random.default_rng(n).uniform(0.0, 2.0, (n, n)), 0.6),
        25,
        4,
        "letters",
        (0, 1),
    ),
    Program("closure with nonlocal", counting, lambda n: (0.98, 0.1, n), 1000, 5, "steps", (0, 1)),
    Program("sum over a generator", generated_sum, lambda n: (0.999, n), 1000, 5, "items"),
    Program("for over a generator", generated_loop, lambda n: (0.01 * n, 0.01), 6000, 8, "hundredths", (0, 1)),
    Program(
        "defaultdict of totals",
        expenses,
        lambda n: (
            {"bread": 2.0, "milk": 1.2, "tea": 4.0},
            0.01,
            [(("bread", "milk", "tea")[i % 3], 1.0 + i % 4) for i in range(n)],
        ),
        400,
        7,
        "entries",
        (0, 1),
    ),
    Program("echo with a deque", echo, lambda n: (uniform(n), 0.4, 0.5), 600, 12, "items", (0, 1, 2)),
    Program("linked list", linked_list, lambda n: (1.3, 0.4, n), 300, 5, "nodes", (0, 1)),
    Program("recursive tree of nodes", tree, lambda n: (1.0, 1.1, 0.6, n), 7, 2, "levels", (0, 1, 2)),
    Program("running statistics (Welford)", running_statistics, lambda n: (uniform(n), 1.5), 400, 6, "items", (0, 1)),
    Program("recursion with a memo", memoised, lambda n: (0.4, 0.35, n), 18, 3, "rows", (0, 1)),
    Program("shortest path, heap and dict", shortest_path, grid_graph, 12, 3, "rows", (0, 1)),
    Program("accumulate, pairwise, reduce", growth_index, lambda n: (uniform(n, -0.1, 0.1), 1.5), 500, 5, "items", (0, 1)),
    Program("sorted by key", ranking, lambda n: (uniform(n), np.linspace(1.0, 0.1, n).tolist()), 300, 6, "items", (0, 1)),
    Program("exponential smoothing", smoothing, lambda n: (0.3, 0.1, uniform(n)), 400, 6, "items", (0, 1, 2)),
    Program(
        "waiting line, deque", waiting_line, lambda n: (1.7, np.cumsum(uniform(n, 0.5, 1.2)).tolist()), 400, 6, "items", (0, 1)
    ),
)
