"""Writes across calls: functions that write their argument, give back a view of it or keep it; closures, globals,
generators."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np

from tests.programs.mutation.table import M23, M33, V3, V4, V5, W3, K, program

VALUES = [0.5, -1.2, 0.8, 1.7]
total = 0.0
table = np.zeros(3)
known = {}


def smooth(u, k):
    """Write the argument, return nothing."""
    u[1:-1] += 0.25 * k * (u[2:] - 2.0 * u[1:-1] + u[:-2])


def scaled(u, k):
    """Write the argument and return it."""
    u *= k
    return u


def interior(u):
    return u[1:-1]


def either(a, b, first):
    return a if first else b


def push(values, value):
    values.append(value)
    return len(values)


def clear_first(values):
    values[0] = 0.0


class Keeper:
    def __init__(self, u):
        self.u = u

    def bump(self, k):
        self.u[0] += k

    def __call__(self):
        return np.sum(self.u**2)

    @property
    def first(self):
        return self.u[0]


class Solver:
    def __init__(self, k):
        self.k = k
        self.u = None

    def start(self, u):
        self.u = u.copy()
        return self

    def advance(self):
        smooth(self.u, self.k)
        self.relax(self.u[1:])
        return self

    def relax(self, part):
        part *= 0.9


def apply_to(function, u, *args):
    function(u, *args)
    return u


@program(V5, K, features="function writes its argument")
def helper_that_writes(x, k):
    u = x.copy()
    smooth(u, k)
    v = u * u
    smooth(u, 2.0 * k)
    return np.sum(u * v)


@program(V5, K, features="function writes its argument, argument written")
def helper_that_writes_the_users_argument(x, k):
    before = np.sum(x * x)
    smooth(x, k)
    return np.sum(x**3) * before


@program(V5, K, features="function writes its argument, view given")
def helper_that_writes_a_view(x, k):
    u = np.concatenate([x, x])
    smooth(u[2:8], k)
    smooth(u[::-2], 0.5)
    return np.sum(u * np.arange(10.0) ** 2 * u)


@program(V3, K, features="function returns its argument")
def helper_that_returns_its_argument(x, k):
    u = x * 1.0
    v = scaled(u, k)
    v[0] += u[1]
    w = scaled(scaled(u, 2.0), k)
    return np.sum(u * v) + w[0]


@program(V5, K, features="function returns a view")
def helper_that_returns_a_view(x, k):
    u = x * 1.0
    v = interior(u)
    v *= k
    interior(v)[0] = u[0] ** 2
    return np.sum(u * x)


@program(V3, W3, True, features="function returns one of its arguments")
def helper_that_returns_one_of_two(x, w, first):
    a, b = x * 1.0, w * 1.0
    c = either(a, b, first)
    c[1] = 2.0 * b[1]
    either(a, b, not first)[:] *= c
    return np.sum(a * a * b)


@program(VALUES, K, features="function writes a list")
def helper_that_appends(values, k):
    n = push(values, k * values[0])
    n += push(values, values[-1] ** 2)
    clear_first(values)
    return sum((i + 1) * v for i, v in enumerate(values)) * n


@program(V3, K, features="object keeps its argument")
def object_that_keeps_its_argument(x, k):
    u = x * 1.0
    keeper = Keeper(u)
    u[1] = k
    keeper.bump(k)
    return keeper() * u[0] * keeper.first


@program(V5, K, features="methods write a field")
def solver_object(x, k):
    solver = Solver(k).start(x)
    for _ in range(3):
        solver.advance()
    return np.sum(solver.u**2) + np.sum(x)


@program(V5, K, features="callback writes")
def callback_that_writes(x, k):
    u = apply_to(smooth, x * 1.0, k)
    apply_to(lambda v, f: v.__setitem__(0, f * v[1]), u, k)
    apply_to(np.tanh, u, u)
    return np.sum(u * x)


@program(V5, K, features="nested function writes")
def nested_function_that_writes(x, k):
    u = x * 1.0

    def step(i):
        u[i] = u[i - 1] * k + math.sin(u[i])

    for i in range(1, 5):
        step(i)
    return np.sum(u * u)


@program(VALUES, K, features="nested function appends")
def nested_function_that_appends(values, k):
    out = []

    def emit(v):
        out.append(v * k)
        return out

    for v in values:
        emit(v)
    emit(out[0] * out[1])[0] += 1.0
    return math.prod(out)


@program(0.8, 6, features="recursion, list filled")
def recursive_traversal(x, n):
    visited = []

    def visit(value, depth):
        if depth == 0:
            visited.append(value)
            return
        visit(math.sin(value), depth - 2 if depth > 1 else 0)
        visit(value * x, depth - 1 if depth < 3 else 0)

    visit(x, n)
    return sum((i + 1) * v for i, v in enumerate(visited))


def halve(a, k):
    if len(a) > 1:
        middle = len(a) // 2
        halve(a[:middle], k)
        halve(a[middle:], 2.0 * k)
        a[0] += k * a[-1]


@program(V5, K, features="recursion, views written")
def recursive_writes_into_views(x, k):
    a = x * 1.0
    halve(a, k)
    return np.sum(a**2)


def merge_sort(a):
    if len(a) > 1:
        left, right = a[: len(a) // 2], a[len(a) // 2 :]
        merge_sort(left)
        merge_sort(right)
        i = j = 0
        for k in range(len(a)):
            if j >= len(right) or (i < len(left) and left[i] < right[j]):
                a[k] = left[i]
                i += 1
            else:
                a[k] = right[j]
                j += 1


@program([0.5, -1.2, 0.8, 1.7, 0.1], features="recursion, sorting")
def merge_sorted(values):
    merge_sort(values)
    return sum((i + 1) * v**2 for i, v in enumerate(values))


@program(0.8, K, features="cells, nonlocal")
def nonlocal_counter(x, k):
    count, value = 0, x

    def tick(factor):
        nonlocal count, value
        count += 1
        value = value * factor + k

    tick(0.5)
    tick(x)
    return value * count


@program(0.8, K, features="cells, nonlocal, two closures")
def two_closures_share_a_cell(x, k):
    balance = x

    def deposit(amount):
        nonlocal balance
        balance += amount

    def report():
        return balance * balance

    before = report()
    deposit(k * x)
    deposit(k)
    return before * report()


def make_counter(start):
    value = start

    def add(x):
        nonlocal value
        value = value * 0.5 + x
        return value

    return add


@program(0.8, K, features="cells, nonlocal, closure escapes")
def counters_from_a_factory(x, k):
    first, second = make_counter(x), make_counter(k)
    a = first(k) * second(x)
    return a * first(1.0) + second(a)


@program(0.8, K, features="cells, variable bound after the closure")
def closure_sees_the_last_value(x, k):
    scale = 1.0

    def scaled_by(v):
        return scale * v

    a = scaled_by(x)
    scale = k * x
    return a * scaled_by(x)


@program(0.8, K, features="cells, closures in a loop")
def late_binding_in_a_loop(x, k):
    functions = []
    for i in range(3):
        factor = k ** (i + 1)
        functions.append(lambda v: v * factor + i)
    return sum(f(x) for f in functions)


@program(0.8, K, features="closures in a list, default binding")
def early_binding_in_a_loop(x, k):
    functions = []
    for i in range(3):
        functions.append(lambda v, factor=k ** (i + 1): v * factor + i)
    return functions[0](x) * functions[2](x)


@program(VALUES, features="global, rebinding")
def module_variable_as_accumulator(values):
    global total
    total = 0.0
    for v in values:
        total += v * v
    return total**2


def add_to_total(value):
    global total
    total = total * 0.5 + value


@program(0.8, K, features="global, written by a function")
def module_variable_written_by_a_helper(x, k):
    global total
    total = x
    add_to_total(k)
    add_to_total(x * k)
    return total * x


@program(V3, K, features="global, array written")
def module_array_written(x, k):
    table[:] = x
    table[1] *= k
    return np.sum(table**3)


@program(0.8, 5, features="global, memo dict")
def module_dict_as_memo(x, n):
    known.clear()
    known[0] = x
    for i in range(1, n):
        known[i] = math.sin(known[i - 1]) + x
    return known[n - 1] * known[1]


@program(V5, features="argument given twice to a helper")
def helper_gets_one_array_twice(x):
    def blend(a, b):
        a *= 2.0
        a += b
        return b

    u = x * 1.0
    v = blend(u, u)
    blend(u[1:], u[:-1])
    return np.sum(u * v)


@program(V3, K, features="default argument is a fresh list")
def list_made_by_default(x, k):
    def collect(v, into=None):
        into = [] if into is None else into
        into.append(v * k)
        return into

    a = collect(x[0])
    b = collect(x[1], a)
    c = collect(x[2])
    return a[0] * b[1] * c[0] + len(a)


@program(V3, K, features="star arguments")
def star_arguments_written(x, k):
    def first_doubled(*arrays, **named):
        arrays[0][:] *= 2.0
        named["w"][0] = arrays[0][1]
        named["w"] = 3.0
        return named

    u, w = x * 1.0, x * k
    named = first_doubled(u, w, w=w)
    return np.sum(u * w) * named["w"]


@program(VALUES, K, features="functools.reduce")
def folded_into_a_list(values, k):
    def put(into, v):
        into.append(v * k + (into[-1] if into else 0.0))
        return into

    sums = functools.reduce(put, values, [])
    return math.prod(sums)


@program(V3, K, features="partial application writes")
def partial_that_writes(x, k):
    u = x * 1.0
    put = functools.partial(operator.setitem, u)
    put(0, k)
    put(1, u[0] * u[2])
    return np.sum(u * u)


@program(M33, features="map writes")
def rows_normalised_by_map(m):
    a = m.copy()

    def normalise(row):
        row /= np.sqrt(row @ row)
        return row[0]

    firsts = list(map(normalise, a))
    return np.sum(a @ a) + sum(firsts)


@program(M23, K, features="comprehension writes")
def comprehension_with_effects(m, k):
    rows = [row.copy() for row in m]
    lengths = [rows[i].__imul__(k).sum() for i in range(2)]
    return np.sum(rows[0] * rows[1]) * lengths[0]


def decorated(function):
    calls = []

    @functools.wraps(function)
    def wrapper(*args):
        calls.append(len(args))
        result = function(*args)
        calls.pop()
        return result

    return wrapper


@decorated
def squared(x):
    return x * x


@program(0.8, features="decorator with state")
def decorator_that_keeps_a_list(x):
    return squared(x) * squared(squared(x))


# Generators


def powers(x, n):
    value = 1.0
    for _ in range(n):
        yield value
        value *= x


def running_total():
    total = 0.0
    while True:
        value = yield total
        if value is None:
            return
        total += value * value


def windows(values, size):
    window = []
    for v in values:
        window.append(v)
        if len(window) > size:
            window.pop(0)
        if len(window) == size:
            yield window


@program(0.8, 4, features="generator, for")
def generator_in_a_for_loop(x, n):
    out = 0.0
    for i, p in enumerate(powers(x, n)):
        out += p * (i + 1)
    return out


@program(0.8, 1.3, features="generator, next")
def generator_by_next(x, y):
    steps = powers(x, 10)
    a = next(steps)
    b = next(steps)
    return a * y + b * next(steps)


@program(0.8, features="generator, list")
def generator_into_a_list(x):
    values = list(powers(x, 4))
    values[0] = x
    return sum(values) * values[3]


@program(VALUES, features="generator, mutable state shared")
def generator_gives_the_same_list_again(values):
    out = 0.0
    for window in windows(values, 2):
        window[0] *= 2.0
        out += window[0] * window[1]
    return out


@program(0.8, 1.3, features="generator, send")
def generator_that_is_sent_numbers(x, y):
    total = running_total()
    next(total)
    a = total.send(x)
    b = total.send(y * a)
    total.close()
    return a * b


@program(V3, features="generator, yield from")
def delegating_generator(x):
    def squares(values):
        for v in values:
            yield v * v

    def both(values):
        yield from squares(values)
        yield sum(values)

    return math.prod(both(x))


@program(V5, features="generator writes an array")
def generator_that_writes(x):
    u = x * 1.0

    def sweep(u):
        for i in range(1, len(u)):
            u[i] += 0.5 * u[i - 1]
            yield u[i]

    seen = 0.0
    for v in sweep(u):
        seen += v * v
        if seen > 2.0:
            break
        u[-1] *= 2.0
    return seen * np.sum(u)


@program(V5, features="generator expression, lazy")
def generator_expression_sees_later_writes(x):
    u = x * 1.0
    squares = (v * v for v in u)
    u[2] = u[0] * 3.0
    return sum(squares)


def made_or_given(x, k):
    if k > 0.5:
        return k * x
    return x


@program(V3, K, features="helper that returns a new array or its argument")
def new_array_or_the_argument(x, k):
    u = x.copy()
    u[0] = k
    v = made_or_given(u, k)
    w = made_or_given(u, k - 0.5)
    u[1] *= k
    return np.sum(v * w * u)


# A function is given the same memory by two names. It cannot see so from its own text.


def _doubles_the_second(u, w):
    w *= 2.0
    return np.sum(u * u)


@program(V4, features="one array given twice")
def one_array_given_twice(x):
    w = x * 1.0
    return _doubles_the_second(w, w)


@program(V4, features="array given with a view of it")
def array_given_with_a_view(x):
    w = x * 1.0
    return _doubles_the_second(w[1:], w)


class _Bag:
    def __init__(self, v, a):
        self.v = v
        self.a = a

    def take_in(self):
        self.v += self.a


def _doubles_in_object(u, o):
    o.v *= 2.0
    return np.sum(u * u)


def _adds_in_object(u, o):
    o.take_in()
    return np.mean(u * u)


@program(V4, features="array given with an object that holds it")
def array_given_with_its_holder(x):
    w = x * 1.0
    return _doubles_in_object(w[1:], _Bag(w, 0.0))


@program(V4, K, features="array given with an object whose method writes into it")
def array_given_with_its_writer(x, k):
    o = _Bag(x, k)
    return _adds_in_object(x, o)


def _doubles_first_item(u, items):
    items[0] *= 2.0
    return np.sum(u * u)


def _passes_on(u, items):
    _doubles_the_second(u, items[0])
    return np.sum(u * u)


@program(V4, features="array given with a list that holds it")
def array_given_with_its_list(x):
    w = x * 1.0
    return _doubles_first_item(w[1:], [w])


@program(V4, features="array given with its list, passed on")
def array_given_with_its_list_passed_on(x):
    w = x * 1.0
    return _passes_on(w[1:], [w])


_KEPT = {}


def _kept():
    return _KEPT["w"]


def _doubles_what_is_kept(u):
    kept = _kept()
    kept *= 2.0
    return np.sum(u * u)


@program(V4, features="memory that a call returns")
def memory_that_a_call_returns(x):
    w = x * 1.0
    _KEPT["w"] = w
    return _doubles_what_is_kept(w[1:])


def _uses_before_it_changes(u):
    kept = _kept()
    y = kept * kept
    u *= 2.0
    return np.sum(y) + np.sum(kept)


@program(V4, features="memory that a call returned, written by another name")
def memory_of_a_call_written_by_another_name(x):
    w = x * 1.0
    _KEPT["w"] = w
    return _uses_before_it_changes(w[1:])
