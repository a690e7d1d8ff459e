"""Attribute writes: plain fields, dataclasses, slots, properties, `setattr`, methods that change their object."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.programs.mutation.table import M33, V3, W3, K, program


class Box:
    def __init__(self, value, other=2.0):
        self.value = value
        self.other = other


@dataclass
class Particle:
    position: Any
    velocity: Any
    mass: float = 1.5

    def kick(self, force, dt):
        self.velocity += force / self.mass * dt

    def drift(self, dt):
        self.position += self.velocity * dt

    def energy(self):
        return 0.5 * self.mass * self.velocity**2 + 0.5 * self.position**2


@dataclass
class World:
    particles: list
    time: float = 0.0
    log: list = field(default_factory=list)

    def step(self, dt, k):
        for p in self.particles:
            p.kick(-k * p.position, dt)
            p.drift(dt)
        self.time += dt
        self.log.append(sum(p.energy() for p in self.particles))


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a = a
        self.b = b

    def swap(self):
        self.a, self.b = self.b, self.a


class Clamped:
    """A property with a setter; the writes are counted."""

    def __init__(self, level):
        self._level = level
        self.writes = 0

    @property
    def level(self):
        return self._level * 2.0

    @level.setter
    def level(self, value):
        self.writes += 1
        self._level = math.tanh(value)

    @level.deleter
    def level(self):
        self._level = 0.25


class Accumulator:
    def __init__(self, start=0.0):
        self.total = start
        self.history = []

    def add(self, value):
        self.total += value
        self.history.append(value)
        return self

    def __call__(self, value):
        return self.add(value * value).total

    def __iadd__(self, value):
        self.total = self.total + 3.0 * value
        return self

    def __setitem__(self, index, value):
        self.history[index] = value * 2.0

    def __getitem__(self, index):
        return self.history[index]


class Cell:
    """An LSTM-like cell that keeps its state between calls."""

    def __init__(self, W, h):
        self.W = W
        self.h = h

    def __call__(self, x):
        self.h = np.tanh(self.W @ x + 0.5 * self.h)
        return self.h

    def reset(self):
        self.h[:] = 0.0


@program(Box(0.8), K, features="o.f = v")
def field_written(box, k):
    before = box.value
    box.value = k * before
    return box.value * before + box.other


@program(Box(0.8), K, features="o.f += v")
def field_in_place(box, k):
    box.value += k * box.other
    box.other *= box.value
    box.value **= 2
    box.value /= 1.0 + box.other
    return box.value * box.other


@program(0.8, K, features="o.f = v, local object")
def local_object_written(x, k):
    box = Box(x)
    box.value = box.value * k
    box.other += box.value
    box.fresh = box.other * x
    return box.value * box.other * box.fresh


@program(Box(Box(0.8), 1.1), K, features="nested fields")
def nested_field_written(outer, k):
    inner = outer.value
    outer.value.value = k * outer.other
    inner.other += outer.value.value
    outer.value, outer.other = inner.other, inner
    return outer.other.value * outer.value


@program(Box(0.8), K, features="setattr, getattr")
def fields_by_name(box, k):
    for name in ("value", "other"):
        setattr(box, name, getattr(box, name) * k)
    setattr(box, "third", box.value**2)
    return box.third * box.other


@program(Box(0.8), K, features="vars, __dict__")
def fields_by_dict(box, k):
    vars(box)["value"] = box.value * k
    box.__dict__.update(other=box.value**2)
    return box.value * box.other


@program(Box(0.8), features="del field")
def field_deleted(box):
    value = box.value
    del box.other
    box.other = value * 3.0
    del box.value
    delattr(box, "other") if not hasattr(box, "value") else None
    box.value = value**2
    return box.value * value + hasattr(box, "other")


@program(Slots(0.8, 1.3), K, features="slots")
def slots_written(pair, k):
    pair.a *= k
    pair.swap()
    pair.a += pair.b
    return pair.a * pair.b**2


@program(Clamped(0.4), K, features="property setter")
def property_written(valve, k):
    valve.level = valve.level * k
    valve.level += 0.5
    return valve.level * valve.writes


@program(Clamped(0.4), K, features="property deleter")
def property_deleted(valve, k):
    before = valve.level
    del valve.level
    return before * valve.level * k


@program(Particle(0.5, -0.3), 1.2, features="method writes its object")
def leapfrog_of_one_particle(p, k):
    for _ in range(5):
        p.kick(-k * p.position, 0.1)
        p.drift(0.2)
    return p.energy()


@program(Particle(V3, W3), 1.2, features="method writes its object, arrays")
def leapfrog_of_arrays(p, k):
    start = p.position
    for _ in range(3):
        p.kick(-k * p.position, 0.1)
        p.drift(0.2)
    return np.sum(p.energy()) + np.sum(start * p.velocity)


@program(World([Particle(0.5, -0.3), Particle(1.1, 0.4, 0.8)]), 1.2, features="objects in a list")
def simulated_world(world, k):
    for _ in range(3):
        world.step(0.1, k)
    return world.log[-1] * world.time + world.particles[0].position


@program(Accumulator(0.5), [0.8, -0.4, 1.1], features="method chaining")
def chained_methods(total, values):
    for v in values:
        total.add(v).add(v * v)
    return total.total * total.history[1]


@program(0.8, K, features="callable object with state")
def callable_with_state(x, k):
    running = Accumulator()
    a = running(x)
    b = running(k)
    return a * b * running.total


@program(0.8, K, features="__iadd__ of the user's")
def own_in_place_operator(x, k):
    total = Accumulator(x)
    same = total
    total += k
    same += x * k
    return total.total**2


@program([0.8, 1.3], K, features="__setitem__ of the user's")
def own_item_write(values, k):
    store = Accumulator()
    for v in values:
        store.add(v)
    store[0] = k * store[1]
    store[1] += store[0]
    return store[0] * store[1] * store.total


@program(M33, V3, W3, features="stateful layer")
def stateful_recurrent_cell(W, h, x):
    cell = Cell(W, h)
    y = cell(x)
    z = cell(y) * cell(x)
    return np.sum(y * z * cell.h)


@program(Cell(M33, V3), W3, features="stateful layer, argument written")
def stateful_cell_as_an_argument(cell, x):
    y = cell(x)
    y = cell(y) * y
    cell.reset()
    return np.sum(y) + np.sum(cell(x) ** 2)


@program(V3, K, features="field holds an array, array written")
def array_in_a_field_written(x, k):
    box = Box(x * 1.0)
    view = box.value[1:]
    box.value[1] = k
    box.value *= 2.0
    view[1] += box.value[0]
    return np.sum(box.value * x)


@program(Box(V3), K, features="field +=, array is shared")
def shared_array_in_a_field(box, k):
    x = box.value
    box.value += k
    box.value = box.value * x
    box.value += 1.0
    return np.sum(box.value * x)


@program(Box([0.8, 1.3]), K, features="field holds a list")
def list_in_a_field_written(box, k):
    values = box.value
    box.value.append(k * values[0])
    values[1] *= box.value[2]
    box.value = [values[1]] + values
    return sum((i + 1) * v for i, v in enumerate(box.value))


@program(0.8, K, features="object shared by two paths")
def object_shared_by_two_paths(x, k):
    inner = Box(x, k)
    left, right = Box(inner), Box(inner)
    left.value.value *= k
    right.value.other += left.value.value
    both = [left, right]
    both[0].value.value += both[1].value.other
    return inner.value * right.value.other


@program([Particle(0.5, -0.3)], K, features="same object twice in a list")
def same_object_twice_in_a_list(particles, k):
    pair = particles * 2
    for p in pair:
        p.position = p.position * k + p.velocity
        p.velocity -= 0.1 * p.position
    return pair[0].position * pair[1].velocity


@program(0.8, K, features="SimpleNamespace")
def namespace_written(x, k):
    state = SimpleNamespace(x=x, step=0)
    while state.step < 3:
        state.x = math.sin(state.x * k) + state.x
        state.step += 1
    return state.x * state.step


@program(0.8, K, features="class attribute shadowed")
def class_attribute_shadowed(x, k):
    class Defaults:
        rate = 2.0

    settings = Defaults()
    settings.rate *= x
    settings.rate += Defaults.rate * k
    return settings.rate**2


@program(Particle(0.5, -0.3), K, features="dataclasses.replace")
def replaced_not_written(p, k):
    q = replace(p, position=p.position * k)
    q.velocity = q.position**2
    return q.velocity * p.velocity + q.mass * p.position


@program(Box(0.8), K, features="object returned")
def object_written_and_returned(box, k):
    box.value *= k
    box.other = [box.value**2, k]
    return box


@program(V3, K, features="running statistics")
def running_mean_kept_in_an_object(x, k):
    stats = SimpleNamespace(mean=0.0, count=0)
    for v in x:
        stats.count += 1
        stats.mean += (v * k - stats.mean) / stats.count
    return stats.mean**2


@program({"w": V3}, W3, K, features="optimiser with state")
def momentum_steps(params, x, k):
    velocity = Box({name: np.zeros_like(p) for name, p in params.items()})
    for _ in range(3):
        for name, p in params.items():
            grad = 2.0 * (p - x)
            velocity.value[name] = 0.9 * velocity.value[name] - k * 0.1 * grad
            p += velocity.value[name]
    return np.sum((params["w"] - x) ** 2)


NUMBERS = itertools.count()


@dataclass(frozen=True)
class Frozen:
    a: float
    b: float

    def __post_init__(self):
        object.__setattr__(self, "product", self.a * self.b)


class Numbered:
    made = 0

    def __init__(self, value):
        Numbered.made += 1
        self.number, self.value = next(NUMBERS), value


@program(V3, features="object.__setattr__ in a frozen dataclass, counters of objects")
def frozen_and_numbered(x):
    frozen = Frozen(x[0], x[1])
    several = [Numbered(frozen.product), Numbered(x[2])]
    several.sort(key=lambda numbered: -numbered.number)
    return several[0].value ** 2 * several[1].value * frozen.a
