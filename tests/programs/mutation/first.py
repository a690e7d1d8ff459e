"""Small programs that write, which were once refused."""

from __future__ import annotations

import functools
import heapq
import operator
from contextlib import suppress

import numpy as np

from tests.programs.mutation.table import program


class Box:
    def __init__(self, value):
        self.value = value
        self.name = "box"


SEEN = np.ones(3)


def bump():
    SEEN[0] += 1.0


class Stateful:
    def __init__(self):
        self.h = np.ones(3)

    def step(self):
        self.h *= 2.0


STATEFUL = Stateful()


class RunningMean:
    def __init__(self):
        self.mean = np.array([1.0, 2.0, 3.0])

    def __call__(self):
        self.mean *= 0.5


RUNNING = RunningMean()


def write_into(target, value):
    target[0] = value


class Cached:
    def __init__(self, a):
        self.a = a

    @functools.cached_property
    def square(self):
        return self.a * self.a


@program(np.ones(3), features="helper writes into a module array")
def helper_writes_into_a_module_array(x):
    SEEN[:] = 1.0
    y = x * SEEN
    bump()
    return np.sum(y * x)


@program(np.ones(3), features="method writes into its object")
def method_writes_into_its_object(x):
    STATEFUL.h[:] = 1.0
    y = x * STATEFUL.h
    STATEFUL.step()
    return np.sum(y * x)


@program(np.ones(3), features="callable object writes into itself")
def callable_object_writes_into_itself(x):
    RUNNING.mean[:] = [1.0, 2.0, 3.0]
    y = np.sum(x * RUNNING.mean)
    RUNNING()
    return y


@program(np.array([1.0, 2.0]), features="writes to an array argument")
def writes_to_an_array_argument(x):
    x[0] = x[1] * 2.0
    return np.sum(x)


@program(2.0, features="writes to a fresh array")
def writes_to_a_fresh_array(x):
    y = np.zeros(3)
    y[1] = x * x
    return np.sum(y)


@program(np.array([1.0, 2.0]), features="writes to a slice")
def writes_to_a_slice(x):
    y = x * 1.0
    y[:] = x * x
    return np.sum(y)


@program(np.array([1.0, 2.0]), features="augmented assignment to an item")
def augmented_assignment_to_an_item(x):
    y = x * 2.0
    y[0] += x[1]
    return np.sum(y)


@program(np.array([1.0, 2.0]), features="augmented assignment to an array argument")
def augmented_assignment_to_an_array_argument(x):
    x *= 2.0
    return np.sum(x * x)


@program(2.0, features="writes to a list")
def writes_to_a_list(x):
    values = [x, 1.0]
    values[1] = x * x
    return values[0] * values[1]


@program([1.0, 2.0], features="writes to a list argument")
def writes_to_a_list_argument(values):
    values[0] = values[1] * 3.0
    return values[0] * values[1]


@program(2.0, features="appends to a list")
def appends_to_a_list(x):
    values = []
    values.append(x)
    return values[0] * x


@program(2.0, features="extends a list")
def extends_a_list(x):
    values = [1.0]
    values.extend([x, x])
    return values[0] * values[1]


@program(2.0, features="extends a list by augmented assignment")
def extends_a_list_by_augmented_assignment(x):
    values = [1.0]
    other = values
    values += [x * x]
    return other[1] * x


@program([1.0, 2.0], features="pops from a list")
def pops_from_a_list(values):
    last = values.pop()
    return last * values[0]


@program([2.0, 1.0], features="sorts a list")
def sorts_a_list(values):
    values.sort()
    return values[0] * 2.0 + values[1]


@program(2.0, features="writes to a dict")
def writes_to_a_dict(x):
    d = {}
    d["a"] = x
    return d["a"] * x


@program(2.0, features="updates a dict")
def updates_a_dict(x):
    d = {"a": 1.0}
    d.update(a=x)
    return d["a"] * x


@program(2.0, features="deletes an item")
def deletes_an_item(x):
    values = [1.0, x]
    del values[0]
    return values[0] * x


@program(Box(2.0), features="writes to an attribute")
def writes_to_an_attribute(box):
    box.value = box.value * 3.0
    return box.value


@program(Box(2.0), features="augmented assignment to an attribute")
def augmented_assignment_to_an_attribute(box):
    box.value += 1.0
    return box.value * 2.0


@program(Box(2.0), 3.0, features="uses setattr")
def uses_setattr(box, x):
    box.value = x
    return box.value * x


@program(np.array([1.0, 2.0]), features="writes with out")
def writes_with_out(x):
    y = np.zeros(2)
    np.multiply(x, x, out=y)
    return np.sum(y)


@program(np.array([2.0, 1.0]), features="sorts an array in place")
def sorts_an_array_in_place(x):
    y = x * 1.0
    y.sort()
    return y[0] * 2.0


@program(np.array([1.0, 2.0]), features="fills an array")
def fills_an_array(x):
    y = np.zeros(2)
    y.fill(x[0])
    return np.sum(y)


@program(2.0, features="writes in a loop")
def writes_in_a_loop(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = x * i
    return np.sum(y)


@program(2.0, features="callee writes")
def callee_writes(x):
    y = np.zeros(3)
    write_into(y, x)
    return np.sum(y)


@program(2.0, features="swaps items")
def swaps_items(x):
    values = [x, 3.0]
    values[0], values[1] = values[1], values[0]
    return values[0] * 2.0 + values[1]


@program(2.0, features="loop target is an item")
def loop_target_is_an_item(x):
    values = [0.0]
    for values[0] in (x, x * x):
        pass
    return values[0]


@program(2.0, features="catches every exception")
def catches_every_exception(x):
    table = {}
    try:
        table["x"] = x
    except Exception:
        return x
    return table["x"]


@program(2.0, features="overrides every exception")
def overrides_every_exception(x):
    table = {}
    try:
        table["x"] = x
    finally:
        return x  # noqa: B012


@program(2.0, features="suppresses every exception")
def suppresses_every_exception(x):
    table = {}
    with suppress(Exception):
        table["x"] = x
    return x


@program(np.array([1.0, 2.0]), features="ufunc with an output by position")
def ufunc_with_an_output_by_position(x):
    y = x * 1.0
    np.multiply(y, 3.0, y)
    return np.sum(y * x)


@program(np.array([1.0, 2.0]), np.array([1.5, 2.5]), features="inactive ufunc with an output by position")
def inactive_ufunc_with_an_output_by_position(x, b):
    c = np.sign(b) * 2.5
    y = x * c
    np.floor(c, c)
    return np.sum(y)


@program(np.array([1.0, 2.0]), features="method with an output by position")
def method_with_an_output_by_position(x):
    c = np.zeros(())
    x.sum(0, None, c)
    return x[0] * c


@program(np.array([1.0, 2.0]), features="inactive method with an output by position")
def inactive_method_with_an_output_by_position(x):
    b, c = np.ones(2), np.full(2, 3.0)
    y = x * c
    b.cumsum(0, None, c)
    return np.sum(y)


@program(np.array([1.0, 2.0]), features="sum with an output by position")
def sum_with_an_output_by_position(x):
    out = np.zeros(())
    np.sum(x, 0, None, out)
    return out * x[0]


@program(np.array([1.0, 2.0]), features="clip with an output by position")
def clip_with_an_output_by_position(x):
    y = x * 1.0
    np.clip(y, 0.0, 1.5, y)
    return np.sum(y)


@program(np.array([1.0, 2.0]), features="cumsum with an output by position")
def cumsum_with_an_output_by_position(x):
    out = np.zeros(2)
    np.cumsum(x, 0, None, out)
    return np.sum(out)


@program(np.array([1.0, 2.0]), features="dot with an output by position")
def dot_with_an_output_by_position(x):
    out = np.zeros(2)
    np.dot(np.eye(2), x, out)
    return np.sum(out)


@program(np.array([1.0, 2.0]), features="take with an output by position")
def take_with_an_output_by_position(x):
    out = np.zeros(2)
    np.take(x, [1, 0], 0, out)
    return np.sum(out)


@program(np.array([1.0, 2.0]), features="reduce of a ufunc with an output")
def reduce_of_a_ufunc_with_an_output(x):
    out = np.array(3.0)
    y = x * out
    np.add.reduce(np.ones(2), 0, None, out)
    return np.sum(y)


@program(np.array([1.0, 2.0]), features="unbound method of an array")
def unbound_method_of_an_array(x):
    b = np.array([2.0, 1.0])
    y = x * b
    np.ndarray.sort(b)
    return np.sum(y)


@program(2.0, features="unbound method of a list")
def unbound_method_of_a_list(x):
    values = []
    list.append(values, x)
    return values[0] * x


@program(np.array([1.0, 2.0]), features="copyto")
def copyto(x):
    c = np.ones(2)
    y = x * c
    np.copyto(c, 5.0)
    return np.sum(y)


@program(np.array([1.0, 2.0]), features="put")
def put(x):
    y = np.zeros(2)
    np.put(y, [0], x[:1])
    return np.sum(y)


@program(np.array([1.0, 2.0]), features="put along axis")
def put_along_axis(x):
    y = np.zeros(2)
    np.put_along_axis(y, np.array([0]), x[:1], 0)
    return np.sum(y)


@program(np.array([1.0, 2.0]), features="at of a ufunc")
def at_of_a_ufunc(x):
    y = np.zeros(2)
    np.add.at(y, [0, 0], x)
    return np.sum(y)


@program(np.array([1.0, 2.0]), features="inactive at of a ufunc")
def inactive_at_of_a_ufunc(x):
    b = np.ones(2)
    y = x * b
    np.multiply.at(b, [0, 0], 2.0)
    return np.sum(y)


@program(np.array([1.0, 2.0]), features="fill diagonal")
def fill_diagonal(x):
    y = np.zeros((2, 2))
    np.fill_diagonal(y, x)
    return np.sum(y)


@program(np.array([1.0, 2.0]), features="place")
def place(x):
    y = np.zeros(2)
    np.place(y, np.array([True, False]), x)
    return np.sum(y)


@program(np.array([1.0, 2.0]), features="putmask")
def putmask(x):
    y = np.zeros(2)
    np.putmask(y, np.array([True, False]), x)
    return np.sum(y)


@program(np.array([1.0, 2.0]), features="shuffles an array")
def shuffles_an_array(x):
    order = np.array([0, 1])
    y = x[order]
    np.random.default_rng(0).shuffle(order)
    return np.sum(y * x)


@program(2.0, features="setitem as a function")
def setitem_as_a_function(x):
    values = [x, 1.0]
    operator.setitem(values, 1, x * x)
    return values[0] * values[1]


@program(2.0, features="delitem as a function")
def delitem_as_a_function(x):
    values = [x, 1.0]
    operator.delitem(values, 1)
    return values[0] * x


@program(np.array([1.0, 2.0]), features="augmented addition as a function")
def augmented_addition_as_a_function(x):
    y = x * 1.0
    operator.iadd(y, x)
    return np.sum(y)


@program(Box(2.0), features="setattr as a function")
def setattr_as_a_function(box):
    box.value = box.value * 3.0
    return box.value


@program(Box(2.0), features="delattr as a function")
def delattr_as_a_function(box):
    y = box.value * 2.0
    delattr(box, "value")
    return y


@program(2.0, features="inactive heapify")
def inactive_heapify(x):
    values = [3, 1]
    heapq.heapify(values)
    return values[0] * x


@program(np.array([1.0, 2.0]), features="nan to num in place")
def nan_to_num_in_place(x):
    b = x * 3.0
    y = x * b
    b[0] = np.nan
    np.nan_to_num(b, copy=False)
    return y[1] + b[1]


@program(Cached(2.0), features="reads a cached property")
def reads_a_cached_property(c):
    return c.square * c.a
