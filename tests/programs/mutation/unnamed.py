"""Writes by code that nobody calls by name: key functions, mapped methods, iterators, generators."""

from __future__ import annotations

import functools
import operator

import numpy as np

from tests.programs.mutation.table import V3, K, program


def first_cleared(buffer):
    buffer[0] = 9.0
    yield 1.0


class Refilling:
    def __init__(self, buffer):
        self.buffer = buffer

    def __iter__(self):
        for i in range(2):
            self.buffer[i] = 9.0
            yield i


@program(V3, features="constant buffer, key function")
def key_function_writes_a_buffer(x):
    buffer = np.array([1.0, 2.0, 3.0])
    y = x * buffer
    max([1.0, 2.0], key=lambda v: buffer.fill(v) or v)
    return np.sum(y * x * buffer)


@program(V3, features="constant buffer, functools.reduce")
def folding_function_writes_a_buffer(x):
    buffer = np.array([1.0, 2.0, 3.0])
    y = x * buffer
    functools.reduce(lambda a, b: buffer.fill(b) or b, [1.0, 2.0])
    return np.sum(y * x * buffer)


@program(V3, features="constant buffer, map")
def mapped_method_writes_a_buffer(x):
    buffer = np.array([1.0, 2.0, 3.0])
    y = x * buffer
    list(map(buffer.fill, [2.0]))
    return np.sum(y * x * buffer)


@program(V3, features="constant buffer, generator")
def summed_generator_writes_a_buffer(x):
    buffer = np.array([1.0, 2.0, 3.0])
    y = x * buffer
    s = sum(first_cleared(buffer))
    return np.sum(y * x * buffer) * s


@program(V3, features="constant buffer, generator, next")
def next_of_a_generator_writes_a_buffer(x):
    buffer = np.array([1.0, 2.0, 3.0])
    y = x * buffer
    s = next(first_cleared(buffer))
    return np.sum(y * x * buffer) * s


@program(V3, features="constant buffer, iterator")
def iterator_writes_a_buffer(x):
    buffer = np.array([1.0, 2.0, 3.0])
    y = x * buffer
    for _ in Refilling(buffer):
        pass
    return np.sum(y * x * buffer)


# Methods that builtins and statements ask for


class Teller:
    """Each answer changes what the object holds."""

    def __init__(self, a, left=2):
        self.a = a
        self.left = left

    def _told(self, answer):
        self.a = self.a * 3.0
        self.left = self.left - 1
        return answer

    def __len__(self):
        return self._told(2)

    def __bool__(self):
        return self._told(self.left > 0)

    def __str__(self):
        return self._told("text")

    def __repr__(self):
        return self._told("form")

    def __format__(self, form):
        return self._told(form)

    def __hash__(self):
        return self._told(7)

    def __index__(self):
        return self._told(1)

    def __contains__(self, value):
        self.a = self.a * value
        return value > 2.0


@program(K, features="__len__")
def length_writes(x):
    o = Teller(x)
    return len(o) * o.a


@program(K, features="__str__, __repr__, __format__, f-string")
def text_writes(x):
    o = Teller(x)
    text = str(o) + repr(o) + format(o, ">9") + f"{o} {o!r:>10} {o!s}"
    return o.a * len(text)


@program(K, features="__bool__, if, while, not")
def truth_writes(x):
    o, p, q = Teller(x), Teller(x * x), Teller(x)
    total = 0.0
    if o:
        total += o.a
    while p:
        total += p.a
    return total + (not q) + q.a + (2.0 * x if Teller(x) else 0.0)


@program(K, features="__bool__, and, or, comprehension, assert")
def truth_writes_in_an_expression(x):
    o = Teller(x, 9)
    kept = [v for v in (x, 2.0 * x) if o]
    assert o
    return sum(kept) * (o and o.a) * (x or 1.0)


@program(K, features="__hash__, __index__, __contains__")
def asked_for_a_number_or_an_item(x):
    o = Teller(x)
    h = hash(o) + operator.index(o) + int(3.0 in o) + int(1.5 not in o)
    return o.a * h


class Log:
    def __len__(self):
        heard[0] = heard[0] * 3.0
        return 2


heard = [0.0]


@program(K, features="__len__, module list")
def length_of_an_object_without_numbers_writes(x):
    heard[0] = x
    return len(Log()) * heard[0]


@program(V3, features="reflected operator, constant buffer")
def operator_is_given_an_array(x):
    return (x * 2.0 + Shift(np.sum(x))).a[0] * (x + Shift(x[1])).a[1]


class Shift:
    __array_ufunc__ = None

    def __init__(self, a):
        self.a = a

    def __radd__(self, other):
        return Shift(other + self.a)

    def __lt__(self, other):
        self.a = self.a * np.sum(other)
        return True

    def __eq__(self, other):
        self.a = self.a * np.sum(other)
        return True

    __hash__ = None

    def __getitem__(self, index):
        return self.a * np.sum(index)


@program(V3, features="comparison, __getitem__")
def comparisons_are_given_arrays(x):
    o, y = Shift(x[0]), x * 2.0
    found = o[y]
    if o < y and o == y:
        found += o.a
    return found * y[2]


@program(V3, features="getattr with a default")
def default_of_getattr_is_an_array(x):
    y = x * 2.0
    z = getattr(Shift(x), "missing", y)
    z[0] = 4.0
    return np.sum(y) * np.sum(getattr(None, "missing", y))


# Key functions and conditions


@program(K, features="list.sort, key function")
def key_of_sort_writes(x):
    log = []
    items = [3.0 * x, x, 2.0 * x]
    items.sort(key=lambda v: log.append(v * v) or v)
    items.sort(key=lambda v: log.append(items[:] == [] and v) or -v, reverse=True)
    return items[0] * items[1] + sum(log)


@program(K, features="list.sort, key function, try")
def key_of_sort_raises(x):
    items = [3.0 * x, x, 2.0 * x]
    try:
        items.sort(key=lambda v: [v][0 if v > x else 1])
    except IndexError:
        items.append(x * x)
    return items[0] + 2.0 * items[1] + 3.0 * items[3]


def grown(items):
    items.append(items[-1] * 1.5)
    return items[-1]


@program(K, features="while, condition that writes")
def condition_of_a_loop_writes(x):
    items = [x]
    total = 0.0
    while grown(items) < 3.0:
        total += items[-1]
    return total + items[-1]


@program(K, features="while, condition that writes, else, continue, pop")
def condition_of_a_loop_takes_from_a_list(x):
    left, total = [x, 2.0 * x, 3.0 * x, -x], 0.0
    while (v := left.pop(0)) > 0.0 and len(left) > 0:
        if v > 2.5 * x:
            continue
        total += v * v
    else:
        total *= x
    return total * left[0] if left else total


@program(K, features="while, condition that writes, attribute")
def condition_of_a_loop_calls_a_method(x):
    o = Teller(x)
    while len(o) > 1 and o.a < 50.0:
        o.a = o.a + x
    return o.a
