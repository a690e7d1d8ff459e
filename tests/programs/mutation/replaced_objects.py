"""Objects of the module that others take the place of, in loops and after branches."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

from tests.programs.mutation.table import K, program


class Vector:
    scale = 2.0

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def product(self):
        return self.x * self.y


class State(NamedTuple):
    x: float
    v: float = 0.5

    def energy(self):
        return self.x**2 + self.v**2


@dataclass(frozen=True)
class Parameters:
    k: float = 2.0
    where: Vector = Vector(0.5, 1.5)


class Counter:
    def __init__(self, count):
        self.count = count

    def up(self, step):
        self.count = self.count + step
        return self


ORIGIN = Vector(1.0, 2.0)
ODD = Vector(3.0, 4.0)
ODD.product = lambda: 10.0
SCALED = Vector(3.0, 4.0)
SCALED.scale = 7.0
START = State(1.0)
BASE = Parameters()
COUNTER = Counter(1.0)


@program(K, features="module variables, objects")
def object_of_the_module_is_replaced_in_a_loop(x):
    p = ORIGIN
    for i in range(4):
        p = p + Vector(x, i)
    return p.product() * p.scale


@program(K, features="module variables, objects")
def loop_without_iterations_leaves_the_object_of_the_module(x):
    p, q = ODD, SCALED
    for i in range(0 if x < 5.0 else 3):
        p = p + Vector(x, i)
        q = q + p
    return p.product() * x + q.scale * x * x


@program(K, features="module variables, objects")
def object_of_the_module_or_another_one(x):
    p = ORIGIN if x > 5.0 else Vector(x, x)
    q = Vector(x, 2.0) if x > 5.0 else ORIGIN
    return p.product() * q.product() * x * (2.0 if q is ORIGIN else 3.0)


@program(K, features="module variables, objects")
def objects_of_the_module_change_places(x):
    p, q = ORIGIN, SCALED
    for _ in range(3):
        p, q = q, p
    return p.x * q.y * x + p.scale * x * x


@program(K, features="module variables, namedtuples")
def state_of_the_module_is_replaced(x):
    state, other = START, START
    for i in range(4):
        state = State(state.x + 0.1 * state.v, state.v - x * state.x)
        other = other._replace(v=other.v * x + i)
    return state.energy() * other.energy() + START.energy() * x


@program(K, features="module variables, dataclasses")
def parameters_of_the_module_are_replaced(x):
    parameters = BASE
    for i in range(4):
        where = parameters.where + Vector(x, i) if i != 2 else ORIGIN
        parameters = replace(parameters, k=parameters.k * x, where=where)
    return parameters.k * parameters.where.product()


@program(K, features="module variables, objects")
def copy_of_an_object_of_the_module_is_written_into(x):
    counter = copy.copy(COUNTER)
    for _ in range(3):
        counter.up(x)
    return counter.count * COUNTER.count * x


@program(K, features="module variables, objects")
def object_of_the_module_is_an_attribute_that_is_replaced(x):
    class_less = {"at": ORIGIN}
    for i in range(3):
        class_less["at"] = class_less["at"] + Vector(x, i)
    return class_less["at"].product()


@program(K, features="module variables, objects, functions")
def object_of_the_module_is_given_and_replaced(x):
    return walked(ORIGIN, x, 3).product() + walked(ORIGIN, x, 0).product() * x


def walked(p, x, count):
    for i in range(count):
        p = p + Vector(x, i)
        if p.x > 100.0:
            return p
    return p
