"""Simulations that are objects: arguments whose methods write into their fields, lists and dicts, and into one another."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np

from tests.programs.mutation.table import M33, V3, K, program

Point = namedtuple("Point", "x y")


class Spring:
    def __init__(self, k=2.0, x=1.0):
        self.k = k
        self.x = x
        self.v = 0.25
        self.count = 0
        self.history = []
        self.last = None

    def reset(self):
        self.x = 1.0
        self.v = 0.0
        self.history = []

    def step(self, dt):
        self.v += -self.k * self.x * dt
        self.x += self.v * dt
        self.count += 1

    def recorded(self, dt):
        self.step(dt)
        self.history.append(self.x)
        return self

    def until(self, k, bound):
        for _ in range(6):
            self.x = self.x * (1.0 + k)
            if self.x > bound:
                break
            self.v += self.x
        return self.v

    def failing(self, k):
        self.x = k * self.x
        self.count += 1
        if self.count > 0:
            raise ValueError("stop")
        self.x = 0.0


class Tank:
    def __init__(self, level=1.0, next=None):
        self.level = level
        self.next = next
        self.totals = {"in": 0.0, "out": 0.0}

    def fill(self, flow):
        self.level += flow
        self.totals["in"] += flow

    def drain(self, share):
        out = self.level * share
        self.level -= out
        self.totals["out"] += out
        if self.next is not None:
            self.next.fill(out)


class Plant:
    def __init__(self):
        self.tanks = [Tank(1.0, Tank(0.75)), Tank(0.5), Tank(0.25)]
        self.active = Tank(2.0)
        self.time = 0.0

    def run(self, share, n):
        for _ in range(n):
            for tank in self.tanks:
                tank.drain(share)
            self.time += 1.0


@dataclass
class Filter:
    gain: float = 0.5
    state: float = 0.0
    seen: list = field(default_factory=list)

    def __call__(self, x):
        self.state = self.state + self.gain * (x - self.state)
        self.seen.append(self.state)
        return self.state


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a, self.b = 1.0, 2.0


@program(K, Spring(), 5, features="o.f += v method")
def stepped(k, spring, n):
    spring.reset()
    spring.k = k
    for _ in range(n):
        spring.step(0.1)
    return spring.x**2


@program(K, Spring(), features="o.f += v method")
def not_reset(k, spring):
    for _ in range(3):
        spring.step(0.1 * k)
    return spring.x * spring.v * spring.count


@program(K, Spring(), features="list.append method")
def recorded_and_read(k, spring):
    spring.reset()
    for _ in range(3):
        spring.recorded(0.1 * k).recorded(k)
    return sum(spring.history) * len(spring.history)


@program(K, Spring(), features="list.append method")
def recorded_and_not_read(k, spring):
    for _ in range(3):
        spring.recorded(0.1 * k)
    return spring.x


@program(K, Filter(seen=[0.5]), features="list.append call")
def list_goes_on(k, smooth):
    total = 0.0
    for i in range(4):
        total = total + smooth(k * i) * smooth.seen[-2]
    return total + smooth.seen[0]


@program(K, Filter(state=2.0, seen=[1.0]), features="o.f = v for the first time")
def smoothed(k, smooth):
    smooth.new = k
    smooth(k)
    smooth(k * k)
    return smooth.state * smooth.seen[0] + smooth.new


@program(K, Spring(), features="o.f = v branch break")
def left_early(k, spring):
    return spring.until(k, 3.0) * spring.x


@program(K, Spring(), 0, features="o.f = v loop")
def runs_zero_times(k, spring, n):
    for _ in range(n):
        spring.step(k)
    return spring.x * k


@program(K, Spring(), features="o.f = v None")
def first_time(k, spring):
    for i in range(3):
        if spring.last is None:
            spring.last = k
        else:
            spring.last = spring.last * (k + i)
    return spring.last


@program(K, Spring(), features="o.f = v order")
def order_of_evaluation(k, spring):
    def moved():
        spring.x = spring.x * k
        return spring.x

    spring.x += moved()
    return spring.x * moved() + spring.x


@program(K, Spring(), features="o.f = v old name")
def old_value_is_kept(k, spring):
    before = spring.x
    spring.x = before * k
    after = spring.x
    spring.x = 0.0
    return before * k + after * k


@program(K, Plant(), 3, features="objects in a list, in objects")
def plant(k, given, n):
    given.run(0.3 * k, n)
    return given.active.level + 2.0 * given.tanks[1].level + given.tanks[2].totals["out"]


@program(K, Plant(), features="an object takes the place of another one")
def active_changes(k, given):
    for number in (1, 2):
        given.active.level *= k
        given.active = given.tanks[number]
    given.active.level += k
    return sum(tank.level * tank.level for tank in given.tanks)


@program(K, Spring(), Spring(3.0), features="o.f = v two arguments")
def two_objects(k, a, b):
    for _ in range(3):
        a.step(k)
        b.k = a.x
        b.step(0.1)
    return a.x * b.v


@program(K, Slotted(), features="slots swap")
def slots_are_swapped(k, slots):
    for _ in range(3):
        slots.a, slots.b = slots.b * k, slots.a
    return slots.a + 2.0 * slots.b


@program(K, {"u": 1.0, "n": 0, "w": [1.0, 2.0]}, features="d[k] = v")
def state_in_a_dict(k, state):
    for _ in range(3):
        state["u"] = state["u"] * k
        state["n"] += 1
        state["w"].append(state["u"])
    return sum(state["w"]) * state["n"]


@program(K, Tank(), features="d[k] = v")
def totals_under_new_keys(k, tank):
    tank.totals["new"] = k
    for name in ("in", "new", "late"):
        tank.totals[name] = tank.totals.get(name, 0.5) * k + 1.0
    return tank.totals["new"] * tank.totals["late"]


@program(K, [1.0, 2.0], Spring(), features="list.append l[i] = v")
def list_is_the_argument(k, items, spring):
    items.append(k)
    items[0] = items[-1] * items[1]
    spring.x = items[0]
    return sum(items) * spring.x


@program(K, Spring(), features="o.f = list")
def list_in_two_fields(k, spring):
    items = [k]
    spring.history = items
    spring.last = items
    spring.history.append(k * k)
    spring.last.append(2.0)
    return sum(items) * len(spring.history)


@program(K, Spring(), features="o.f = tuple")
def tuples_and_records(k, spring):
    spring.last = (k, 2.0)
    a, b = spring.last
    spring.last = Point(a * b, k)
    return spring.last.x * spring.last.y


@program(M33, Spring(), features="o.f = array")
def arrays_take_places(w, spring):
    spring.x = np.ones(3)
    for _ in range(3):
        spring.last = spring.x
        spring.x = np.tanh(w @ spring.x)
        spring.history.append(spring.x)
    return np.sum(np.stack(spring.history) ** 2) + np.sum(spring.last * spring.x)


@program(V3, Spring(), features="o.f = array, written later")
def array_is_written_later(x, spring):
    y = x * 2.0
    spring.last = y
    y[0] = x[1] * x[2]
    spring.last[1] = y[0] * x[0]
    return np.sum(y * y)


@program(K, Spring(), features="o.f = v try")
def caught_half_way(k, spring):
    try:
        spring.failing(k)
    except ValueError:
        spring.v = spring.x * k
    return spring.x * spring.v


@program(K, Spring(), features="list.append try")
def appended_in_a_try(k, spring):
    try:
        spring.history.append(k)
        spring.failing(k)
    except ValueError:
        pass
    return sum(spring.history) * spring.x
