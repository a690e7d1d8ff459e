"""Models of objects that have lists, dicts and sets of their own, as they are written every day."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from dataclasses import dataclass, field

from tests.programs.mutation.table import program


class Value:
    def __init__(self, data, _children=(), _op=""):
        self.data = data
        self.grad = 0
        self._backward = lambda: None
        self._prev = set(_children)
        self._op = _op

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), "+")

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other), "*")

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def __pow__(self, other):
        out = Value(self.data**other, (self,), f"**{other}")

        def _backward():
            self.grad += (other * self.data ** (other - 1)) * out.grad

        out._backward = _backward
        return out

    def relu(self):
        out = Value(0 if self.data < 0 else self.data, (self,), "ReLU")

        def _backward():
            self.grad += (out.data > 0) * out.grad

        out._backward = _backward
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,), "tanh")

        def _backward():
            self.grad += (1 - t * t) * out.grad

        out._backward = _backward
        return out

    def backward(self):
        topo = []
        visited = set()

        def build_topo(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build_topo(child)
                topo.append(v)

        build_topo(self)
        self.grad = 1
        for v in reversed(topo):
            v._backward()

    def __neg__(self):
        return self * -1

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        return self + (-other)

    def __rmul__(self, other):
        return self * other


@program(0.7, 0.3, features="what objects have of their own, graph of scalars")
def graph_of_scalars(x, y):
    a = Value(x)
    b = Value(y)
    c = a + b
    d = a * b + b**3
    c = c + c + 1
    c = c + 1 + c + (-a)
    d = d + d * 2 + (b + a).relu()
    d = d + 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    f.backward()
    return a.grad * 0.1 + b.grad * 0.2


@program(0.7, 0.3, features="what objects have of their own, neuron of scalars")
def neuron_of_scalars(x, y):
    ws = [Value(x * (i + 1)) for i in range(3)]
    xs = [Value(y), Value(0.5), Value(-0.3)]
    act = Value(0.1)
    for w, v in zip(ws, xs):
        act = act + w * v
    out = act.tanh()
    out.backward()
    return sum(w.grad * w.grad for w in ws)


@dataclass
class Account:
    name: str
    balance: float
    history: list = field(default_factory=list)

    def deposit(self, v):
        self.balance += v
        self.history.append(("deposit", v))

    def fee(self, r):
        f = self.balance * r
        self.balance -= f
        self.history.append(("fee", f))


@program(0.7, 0.3, features="what objects have of their own, accounts with histories")
def accounts_with_histories(x, y):
    accounts = {n: Account(n, x * (i + 1)) for i, n in enumerate(("a", "b", "c"))}
    for k in range(4):
        for name, acc in accounts.items():
            acc.deposit(y * k)
            acc.fee(0.01 * x)
    return sum(v for acc in accounts.values() for kind, v in acc.history if kind == "fee") + accounts["b"].balance


class Node:
    def __init__(self, name, cost):
        self.name, self.cost = name, cost
        self.edges = []

    def connect(self, other, w):
        self.edges.append((other, w))


@program(0.7, 0.3, features="what objects have of their own, shortest paths of nodes")
def shortest_paths_of_nodes(x, y):
    nodes = [Node(str(i), x * i) for i in range(5)]
    for i in range(5):
        nodes[i].connect(nodes[(i + 1) % 5], x + i)
        nodes[i].connect(nodes[(i + 2) % 5], y * 3 + i)
    dist = {n: math.inf for n in nodes}
    dist[nodes[0]] = 0.0
    todo = set(nodes)
    while todo:
        best = None
        for n in todo:
            if best is None or dist[n] < dist[best]:
                best = n
        todo.remove(best)
        for other, w in best.edges:
            d = dist[best] + w
            if d < dist[other]:
                dist[other] = d
    return sum(dist.values())


@program(0.7, 0.3, features="what objects have of their own, shortest paths by a heap")
def shortest_paths_by_a_heap(x, y):
    graph = defaultdict(list)
    for i in range(5):
        graph[i].append(((i + 1) % 5, x + i))
        graph[i].append(((i + 2) % 5, y * 3 + i))
    dist = {0: 0.0}
    heap = [(0.0, 0)]
    done = set()
    while heap:
        d, u = heapq.heappop(heap)
        if u in done:
            continue
        done.add(u)
        for v, w in graph[u]:
            nd = d + w
            if v not in dist or nd < dist[v]:
                dist[v] = nd
                heapq.heappush(heap, (nd, v))
    return sum(dist.values())


class Layer:
    def __init__(self, w, b):
        self.w, self.b = w, b
        self.outputs = []
        self.grads = {}

    def forward(self, v):
        out = math.tanh(self.w * v + self.b)
        self.outputs.append(out)
        return out


class Net:
    def __init__(self):
        self.layers = []
        self.losses = []

    def add(self, layer):
        self.layers.append(layer)
        return self

    def run(self, v):
        for layer in self.layers:
            v = layer.forward(v)
        return v


@program(0.7, 0.3, features="what objects have of their own, layers that note outputs")
def layers_that_note_outputs(x, y):
    n = Net()
    for i in range(3):
        n.add(Layer(x * (i + 1), y))
    for k in range(4):
        n.losses.append((n.run(0.1 * k) - 0.5) ** 2)
    return sum(n.losses) + sum(sum(layer.outputs) for layer in n.layers)


class Observer:
    def __init__(self):
        self.total = 0.0

    def notify(self, v):
        self.total += v


class Subject:
    def __init__(self):
        self.observers = []
        self.callbacks = []

    def attach(self, o):
        self.observers.append(o)

    def fire(self, v):
        for o in self.observers:
            o.notify(v)
        for c in self.callbacks:
            c(v)


@program(0.7, 0.3, features="what objects have of their own, observers and callbacks")
def observers_and_callbacks(x, y):
    s = Subject()
    os = [Observer() for _ in range(3)]
    for o in os:
        s.attach(o)
    total = 0.0

    def cb(v):
        nonlocal total
        total += v * y

    s.callbacks.append(cb)
    for k in range(4):
        s.fire(x * k)
    return sum(o.total for o in os) * y + total


class Graph:
    def __init__(self):
        self.adj = {}

    def add_edge(self, a, b, w):
        self.adj.setdefault(a, []).append((b, w))
        self.adj.setdefault(b, []).append((a, w))

    def dfs(self, start, visited=None):
        if visited is None:
            visited = set()
        visited.add(start)
        t = 0.0
        for b, w in self.adj[start]:
            if b not in visited:
                t += w + self.dfs(b, visited) * 0.5
        return t


@program(0.7, 0.3, features="what objects have of their own, depth first with visited none")
def depth_first_with_visited_none(x, y):
    g = Graph()
    for i in range(6):
        g.add_edge(i, (i * 2 + 1) % 6, x * i + y)
    return g.dfs(1)


class Cell:
    def __init__(self, v):
        self.v = v
        self.neighbours = []


@program(0.7, 0.3, features="what objects have of their own, cells with neighbours")
def cells_with_neighbours(x, y):
    cells = [[Cell(x * i + y * j) for j in range(3)] for i in range(3)]
    for i in range(3):
        for j in range(3):
            for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                if 0 <= i + di < 3 and 0 <= j + dj < 3:
                    cells[i][j].neighbours.append(cells[i + di][j + dj])
    for _ in range(3):
        new = [[sum(n.v for n in c.neighbours) / len(c.neighbours) for c in row] for row in cells]
        for i in range(3):
            for j in range(3):
                cells[i][j].v = new[i][j]
    return cells[1][1].v * cells[0][0].v


class Sim:
    def __init__(self, rate):
        self.now = 0.0
        self.rate = rate
        self.queue = []
        self.log = []
        self.stats = {}

    def schedule(self, dt, kind):
        heapq.heappush(self.queue, (self.now + dt, kind))

    def run(self, n):
        while self.queue and n > 0:
            t, kind = heapq.heappop(self.queue)
            self.now = t
            self.log.append((t, kind))
            self.stats[kind] = self.stats.get(kind, 0.0) + t
            self.schedule(self.rate * kind, kind)
            n -= 1


@program(0.7, 0.3, features="what objects have of their own, events of one simulation")
def events_of_one_simulation(x, y):
    s = Sim(x)
    s.schedule(y, 1)
    s.schedule(x, 2)
    s.run(9)
    return sum(t * k for t, k in s.log) + s.stats[1]


@program(0.7, 0.3, features="what objects have of their own, events of two simulations")
def events_of_two_simulations(x, y):
    sims = [Sim(x), Sim(y)]
    for k, s in enumerate(sims):
        s.schedule(x + k, 1)
        s.schedule(y, 2)
    for s in sims:
        s.run(5)
    return sum(t * k for s in sims for t, k in s.log)
