"""Programs whose gradients were wrong once, as somebody found who looked for such."""

from __future__ import annotations

import bisect
import collections
import functools
import heapq
import math
import random
import statistics
import types

import numpy as np

from tests.programs.mutation.table import M33, V3, K, program

# Constants among what is appended


@program(K, features="append of a constant, math.prod, pop")
def constants_are_appended(x):
    items, total = [], 0.0
    items.append(x)
    items.append(2.0)
    product = math.prod(items)
    for i in range(3):
        items.append(x * i)
        total += sum(items)
        items.append(1.0)
    items.append(len(items))
    last = sum(items)
    items.pop()
    return product + total * last * sum(items)


@program(K, features="append of a constant, repetition, extend")
def constants_after_repetition_and_extension(x):
    items, more = [x], [x, x * x]
    items *= 2
    items.append(3.0)
    items.extend(more)
    items.append(4.0)
    more.append(5.0)
    return sum(i * v for i, v in enumerate(items)) * sum(items) * sum(more) * more[0]


@program(V3, features="append of an array between numbers")
def arrays_are_appended_between_numbers(x):
    items = []
    items.append(x[0])
    items.append(x * 2.0)
    items.append(x[1])
    return items[0] * np.sum(items[1]) * items[2] + items[0]


# Iterators on the right of what grows in place


@program(K, features="list +=, slice assignment, map, reversed, enumerate, zip, dict |=, deque +=")
def iterators_are_taken_in(x):
    items = [1.0, 2.0, 3.0, 4.0]
    items += map(math.sin, [x])
    items[:2] = reversed([x, x * x])
    items[1:4:2] = map(lambda v: v * x, [1.0, x])
    table = {}
    table |= zip("ab", [x, 2.0 * x], strict=True)
    ends = collections.deque([1.0])
    ends += enumerate([x])
    return sum(i * v for i, v in enumerate(items)) * table["a"] * table["b"] * ends[1][1]


# Objects that are not given to the function that writes into them


class Registry:
    log = [1.0]


NESTED = ([1.0],)
PLACES = [0.5]
FIRST = functools.partial(lambda items: items[0], PLACES)
SPACE = types.SimpleNamespace(value=0.5)
TABLE = {"a": 1.0}
LOOK_UP, ITEM = TABLE.get, PLACES.__getitem__


def read_nested():
    return NESTED[0][0]


def read_space():
    return SPACE.value


def remembering(y=None, kept={}):  # noqa: B006 - what people write
    if y is not None:
        kept["y"] = y
    return kept["y"]


@program(K, features="class attribute, tuple of a module, partial, SimpleNamespace, default, bound method")
def state_is_found_wherever_it_is(x):
    Registry.log[0] = x
    total = Registry.log[0]
    NESTED[0][0] = x * x
    total += read_nested()
    PLACES[0] = x * 3.0
    total *= FIRST() + ITEM(0)
    SPACE.value = x * total
    total += read_space()
    TABLE["a"] = x
    total *= LOOK_UP("a")
    remembering(total)
    return total * remembering()


# Objects made of constants, and objects that are read from somewhere


class Giving:
    def __matmul__(self, other):
        return other

    def __lt__(self, other):
        other[0] = 2.0
        return True


@program(V3, features="operator of an object of constants, aliasing")
def operator_of_a_constant_object_gives_its_operand(x):
    one, y = Giving(), x * 1.0
    z = one @ y
    z *= 3.0
    return np.sum(y * y) if one < y else np.sum(y)


class Asked:
    def __init__(self, x):
        self.x = x

    def __bool__(self):
        self.x = self.x * 3.0
        return True

    def __len__(self):
        self.x = self.x * 3.0
        return 1


class Holder:
    pass


@program(K, features="__bool__, __len__, of items and attributes")
def objects_in_containers_are_asked(x):
    items, holder = [Asked(x)], Holder()
    holder.asked = Asked(x)
    if items[0]:
        pass
    n = len(items[0]) + len(holder.asked)
    items.append(Asked(x))
    items.sort(key=len)
    return items[0].x * holder.asked.x * n * (items[1].x if any(items) and all(items) else x)


class Doubling:
    def __init__(self, x, left):
        self.x = x
        self.left = left

    def __iter__(self):
        return self

    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        self.x = self.x * 2.0
        return self.x


@program(K, features="__next__, in, any, all, math.fsum, math.prod, statistics.mean")
def builtins_read_an_iterator(x):
    steps, more, others = Doubling(x, 2), Doubling(x, 3), Doubling(x, 2)
    found = int(99.0 in steps) + int(all(others)) + int(any(v > 2.0 for v in more))
    total = (found + steps.x) * more.x * others.x + math.fsum(Doubling(x, 2)) * math.prod(Doubling(x, 3))
    return total + statistics.mean(Doubling(x, 2)) * statistics.fmean(Doubling(x, 3))


# Functions that may give back what they are given


@program(M33, features="einsum, diff, conj, meshgrid, views")
def views_by_other_names(m):
    y = m * 1.0
    v = np.einsum("ii->i", y)
    v *= 3.0
    u = np.diff(y, 0)
    u *= m
    w = y.conj()
    w += 1.0
    t = np.einsum("ij->ji", y)
    t[0] = t[0] * m[0]
    return np.sum(y * y)


# A cache with few places


@program(K, features="lru_cache with one place, list append")
def entries_leave_a_small_cache(x):
    calls = [0.0]

    @functools.lru_cache(maxsize=1)
    def counted(k):
        calls[0] = calls[0] + x
        return calls[0] * k

    return counted(1) * counted(2) * counted(2) * counted(1)


class Cell:
    """Gives what it is asked about, and keeps it."""

    def __init__(self, kept=None):
        self.kept = kept

    def __matmul__(self, other):
        return other

    def __invert__(self):
        return self.kept


SOME = [Cell(), {"a": Cell()}]


def some_cell():
    return Cell()


@program(V3, features="operators of objects in containers, attributes, defaults, results")
def objects_in_containers_give_their_operands(x, one=Cell()):  # noqa: B008
    holder, total = Holder(), 0.0
    holder.cell = Cell()
    for cell in (SOME[0], SOME[1]["a"], holder.cell, [Cell()][0], some_cell(), one):
        y = x * 1.0
        z = cell @ y
        z *= 3.0
        total += np.sum(y * y)
    holder.cell.kept = x * 2.0
    w = ~holder.cell
    w += 1.0
    return total * np.sum(holder.cell.kept)


def given_an_operand(cells, y):
    z = cells[0] @ y
    z *= 2.0
    return np.sum(y * y)


@program(V3, features="operators of objects in a list that is an argument")
def objects_in_an_argument_give_their_operands(x):
    return given_an_operand([Cell()], x * 1.0)


# Views that functions return of what they made


def view_of_copy(number, other, values):
    other = values.copy()
    return other[::1]


def view_of_view(number, other, values):
    part = view_of_copy(math.tanh(np.sum(other)), other, values)
    return part[::1]


@program(0.6, V3, features="view of a local array, returned twice")
def a_view_is_returned_of_what_was_made(x, u):
    shifted, last = u + x, x

    def rebind(value):
        nonlocal last
        last = value

    part = view_of_view(math.sin(np.mean(u * u)), shifted, shifted)
    rebind(x * x)
    return np.sum(part + part) * last


@program(V3, features="views of what sort, diff and meshgrid made")
def views_of_what_numpy_made_are_written(x):
    ends = np.sort(x)[::-1]
    part = ends[::1]
    part[0] = x[1] * 2.0
    steps = np.diff(x)[::1]
    steps[1:] *= x[0]
    grid, _ = np.meshgrid(x, x)
    rows = grid[1:]
    rows[0, 0] = x[2]
    return (part * ends).sum() * steps.sum() + (grid * grid).sum()


def filled(values):
    values = values * 0.5
    return np.full((4,), values[2] if 3 else 0.92)


@program(V3, {"a": 1.2}, features="a call of which nothing is used")
def an_item_of_what_nobody_uses(u, table):
    filled(u[::1])
    total = sum(table.values())
    table["b"] = total * u[0]
    return total * table["b"]


def passes_on(first, second, third, fourth, fifth, sixth):
    yield third


@program(K, V3, features="a long line in a try")
def a_long_call_in_a_try(x, u):
    items, table, last = [x], {}, 0.0
    try:
        for last in passes_on(math, u, u, items, table, dict):
            items.append(last[0] * x)
    except ValueError:
        pass
    return last[1] * sum(items)


# One object at several places of a list


@program(V3, features="shuffle of equal objects, one of them without derivative")
def one_number_stands_at_several_places(x):
    a = x[0] * 1.0
    items = [a, 2.0, x[1], a, x[2], a]
    random.Random(3).shuffle(items)
    np.random.default_rng(1).shuffle(items)
    return sum(10.0**k * v for k, v in enumerate(items)) * items[0]


@program(V3, features="heaps and sorted insertion of equal objects, key")
def heaps_hold_one_number_twice(x):
    a, heap = x[0] * 1.0, []
    for v in (x[2], a, x[1], a):
        heapq.heappush(heap, v)
    least, next_one = heapq.heappop(heap), heapq.heappushpop(heap, x[1] * 2.0)
    ends = [a, a]
    bisect.insort(ends, x[2], key=lambda v: -v)
    bisect.insort(ends, a, 0, 2)
    return least * next_one**2 * heap[0] ** 3 + heap[1] * heap[2] + ends[0] + 10.0 * ends[1] + 100.0 * ends[2] * ends[3]


# What is read by its keys, or grows while it is read


class ByKeys:
    def __init__(self, x):
        self.table = {"a": x, "b": x * x}

    def keys(self):
        return list(self.table)

    def __getitem__(self, key):
        return self.table[key]

    def __iter__(self):
        return iter(list(self.table))


@program(K, features="dict of an object with keys, ** in a dict, update, |=")
def mappings_of_the_user_are_merged(x):
    source, table = ByKeys(x), {"c": 1.0}
    table["c"] = x * 3.0
    table.update(source)
    table |= ByKeys(x * 2.0)
    return dict(source)["a"] * {**source}["b"] * table["a"] * table["b"] * table["c"]


class Adding:
    def __init__(self, items, x):
        self.items, self.x = items, x

    def __iter__(self):
        self.items.append(self.x * 3.0)
        yield self.x
        self.items.append(self.x * 5.0)


@program(V3, features="slice assignment from what changes the list")
def a_list_grows_while_items_are_taken_in(x):
    items, others, total = [x[0], x[1]], [x[0], x[1], x[2]], 1.0

    def adding():
        others.append(x[2])
        yield x[0] * x[1]
        yield x[1]
        others.append(x[1])

    items[1:] = Adding(items, x[1])
    others[0:3:2] = adding()
    for v in items + others:
        total = total * v + x[2]
    return total


# What a call has put into a list that it made


@program(K, features="array written, list of arrays that a call makes")
def beside_halves_of_an_array(k):
    halves = np.split(np.ones(4), 2)
    y = np.array([0.5, 1.5])
    y.fill(k)
    return y[0] + halves[1][0]


@program(K, [1.1, 0.4], features="list argument written, list of what it held")
def beside_products_of_an_argument(k, items):
    halves = [0.5 * item for item in items]
    items[0] = k
    return k + halves[-1]


@program(K, [1.1, 0.4, 0.9], features="slice of an argument assigned, list of what it held")
def beside_products_of_an_argument_before(k, items):
    halves = [0.5 * item for item in items]
    items[1:] = [k]
    return k + halves[-1]


@program([0.5, 1.2, 0.7], 2, features="try, loop of which the length is needed")
def products_in_a_try(items, k):
    out = []
    try:
        products = [item * k for item in items]
        out.extend(products)
        out.append(items[9])
    except IndexError:
        out.append(items[0])
    return sum(item * item for item in out)
