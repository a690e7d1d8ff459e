"""Variables that several functions share and that get new values: `nonlocal`, late binding, `global`, `del`."""

# ruff: noqa: B023, E731, PLW0602, PLW0603, F821, F841

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tests.programs.mutation.table import V3, K, program

VALUES = [0.5, -1.2, 0.8, 1.7]
level = 1.0
weights = [1.0, 2.0]
chosen = math.sin
last_seen = None


@program(0.8, K, features="cells, nonlocal, in a loop")
def counter_in_a_loop(x, k):
    n, total = 0, 0.0

    def add(v):
        nonlocal n, total
        n = n + 1
        total = total * k + v

    for i in range(4):
        add(x * i)
        if total > 1.0:
            add(total)
    return total * n


@program(0.8, K, features="cells, parameter rebound by a closure")
def parameter_rebound_by_a_closure(x, k):
    def scale():
        nonlocal x
        x *= k
        return x

    y = x
    a = scale()
    return y * a * scale() + x**3


@program(0.8, K, features="cells, reset to a constant")
def variable_reset_to_a_constant(x, k):
    value = x

    def reset():
        nonlocal value
        before, value = value, 2.0
        return before

    a = reset()
    b = value * k
    value = value * x
    return a + b * reset() + value


@program(0.8, K, features="cells, nested levels")
def nonlocal_through_two_levels(x, k):
    total = x

    def outer(a):
        own = a * k

        def inner(b):
            nonlocal total, own
            total = total * b + own
            own = own * own

        inner(a)
        inner(x)
        return own

    return outer(k) * total + outer(x)


@program(0.8, K, features="cells, the same name at two levels")
def same_name_at_two_levels(x, k):
    v = x

    def outer():
        v = k

        def inner():
            nonlocal v
            v = v * x + 1.0

        inner()
        return v

    a = outer()
    v = v * a
    return v + outer()


@program([0.4, 0.9, -1.1], features="cells, closures in a list, late binding")
def functions_made_in_a_loop(xs):
    functions = []
    for x in xs:
        functions.append(lambda v: v * x)
    x = x * 2.0
    return sum(f(1.0 + i) for i, f in enumerate(functions))


@program([0.4, 0.9, -1.1], features="cells, comprehension variable")
def functions_made_in_a_comprehension(xs):
    functions = [lambda v: v * x + i for i, x in enumerate(xs)]
    more = {i: [lambda: x * y for y in xs] for i, x in enumerate(xs)}
    return functions[0](xs[0]) * functions[1](xs[1]) + more[0][0]() * more[2][1]()


@program(0.8, K, features="cells, a comprehension's variable hides another")
def comprehension_variable_of_the_same_name(x, k):
    v = x
    f = lambda: v
    g = [lambda: v for v in (k, k * x)]
    v = v * k
    return f() * g[0]() + v


@program(0.8, K, features="cells, while, continue")
def rebound_while_looping(x, k):
    step = lambda: x * k
    n = 0
    while n < 3:
        n += 1
        if n == 2:
            continue
        x = step() + n
    return x * step()


@program(0.8, K, features="cells, walrus")
def walrus_rebinds_what_a_closure_holds(x, k):
    g = lambda a: a + x
    y = g(x := x * 3.0) * ((x := x * k) + g(k))
    z = g(1.0) if (x := x * x) > 0.5 else x
    return y + z * sum([(x := x * v) + g(v) for v in (k, 2.0)])


@program([0.8, 1.3], features="cells, match")
def pattern_rebinds_what_a_closure_holds(xs):
    y = 1.5
    g = lambda: y
    before = g()
    match xs:
        case [0.0, y]:
            return y
        case [first, y]:
            return g() * y * first * before


@program(0.8, K, features="cells, with conditions")
def rebound_on_one_path(x, k):
    scale = k

    def scaled(v):
        return scale * v

    a = scaled(x)
    if a > 0.0:
        scale = x
    else:
        scale = x * x
    for i in range(2):
        if i:
            scale = scale * k
    return a * scaled(x)


@program(0.8, 5, features="cells, mutual recursion")
def mutual_recursion_with_statements_between(x, n):
    def even(m):
        return 1.0 if m == 0 else x * odd(m - 1)

    factor = x * 0.5

    def odd(m):
        return 0.0 if m == 0 else factor * even(m - 1) + 0.1

    return even(n) + odd(n) * even(2)


@program(0.8, 4, features="cells, mutual recursion, decorator")
def recursion_through_a_decorator(x, n):
    def twice(f):
        return lambda m: 2.0 * f(m)

    @twice
    def descend(m):
        return x if m == 0 else x * descend(m - 1) + m

    return descend(n)


@program(0.8, K, features="cells, conditional definitions")
@program(-0.8, K, features="cells, conditional definitions")
def functions_defined_conditionally(x, k):
    def use(v):
        return helper(v) * k

    if x > 0.0:

        def helper(v):
            return v * x
    else:

        def helper(v):
            return v - x

    a = use(k)

    def helper(v):
        return v * a

    return a + use(x)


@program(0.8, K, features="cells, function rebound")
def nested_function_replaced(x, k):
    def f(n):
        return x if n == 0 else k * f(n - 1)

    g = f
    a = f(2)

    def f(n):
        return a * x

    return a + g(2)


@program(0.8, K, features="cells, closures in a tuple")
def accessors(x, k):
    def account(balance):
        def deposit(v):
            nonlocal balance
            balance = balance + v

        def interest():
            nonlocal balance
            balance *= 1.0 + k

        return deposit, interest, lambda: balance

    deposit, interest, balance = account(x)
    _, other_interest, other = account(k)
    for i in range(3):
        deposit(x * i)
        interest()
        other_interest()
    return balance() * other()


@program(0.8, K, features="cells, object holds closures")
def closures_in_an_object(x, k):
    @dataclass
    class Memory:
        put: object
        get: object

    kept = 0.0

    def put(v):
        nonlocal kept
        kept = kept * k + v

    memory = Memory(put, lambda: kept)
    memory.put(x)
    memory.put(k * x)
    return memory.get() * kept


@program(V3, K, features="cells, arrays")
def arrays_in_cells(x, k):
    best, u = x[0], x * 1.0

    def update():
        nonlocal best, u
        u[1] *= best
        best = np.sum(u * u)
        u = u * k

    v = u
    update()
    update()
    v[2] = best
    return np.sum(u * x) + np.sum(v**2)


@program(VALUES, features="cells, list rebound")
def list_in_a_cell(values):
    seen = []

    def note(v):
        nonlocal seen
        seen.append(v)
        if len(seen) == 2:
            seen = [seen[0] * seen[1]]

    old = seen
    for v in values:
        note(v * v)
    return sum(seen) * old[1]


@program(0.8, K, features="cells, del")
def deleted_shared_variables(x, k):
    y = x * k
    z = x

    def forget():
        nonlocal y
        a = y * x
        del y
        return a

    get = lambda: z
    a = forget()
    y = k
    b = get()
    del z
    z = a
    return a * forget() + b * get()


@program(0.8, K, features="cells, caught outside, passed on")
def passed_to_a_helper(x, k):
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v * total + v

    repeat(add, [x, k * x, k])
    return total


def repeat(function, values):
    for v in values:
        function(v)


@program(VALUES, features="cells, map, sorted")
def called_by_a_builtin(values):
    calls = 0.0

    def weighted(v):
        nonlocal calls
        calls += v * 0.5
        return v * calls

    ordered = sorted(values, key=lambda v: -v)
    return sum([weighted(v) for v in ordered]) * calls


@program(0.8, K, features="cells, fixpoint")
def residuals_recorded(x, k):
    """A solver that keeps the last residual for its caller."""
    residual = None

    def step(y):
        nonlocal residual
        new = y - (y * y - x) / (2.0 * y)
        residual = new - y
        return new

    y = 1.0
    for _ in range(4):
        y = step(y)
        if abs(residual) < 1e-3:
            break
    return y * k + residual


@program(0.8, K, features="cells, class captures")
def class_sees_the_last_value(x, k):
    n = 1

    class Scaled:
        def of(self, v):
            return n * v

    n = 3
    return Scaled().of(x) * k


@program(0.8, K, features="cells, default and capture")
def defaults_are_evaluated_early(x, k):
    factor = k
    f = lambda v, early=factor: v * early * factor
    factor = x
    return f(x) + f(2.0, k)


@program(0.8, K, features="cells, unbound at first")
def assigned_after_the_closure(x, k):
    def late():
        return scale * x

    if x > 0.0:
        scale = k * x
    return late() + scale


# Module variables


def raise_level(v):
    global level
    level = level * v


def read_level():
    return level


@program(0.8, K, features="global, read by another function")
def level_read_elsewhere(x, k):
    global level
    level = 1.0
    a = read_level()
    raise_level(x)
    b = read_level() * a
    raise_level(k * x)
    return b * read_level() + level


@program(0.8, K, features="global, reset")
def level_reset_to_a_constant(x, k):
    global level
    level = x
    a = level
    level = 1.0
    return a * k + read_level() * x


@program(0.8, K, features="global, nested function reads and writes")
def level_in_nested_functions(x, k):
    def put(v):
        global level
        level = v * k

    get = lambda: level
    put(x)
    a = get()
    put(a * x)
    return a * get()


@program(0.8, K, features="global, for target, walrus, chained and starred targets")
def all_kinds_of_targets(x, k):
    global level, weights
    for level in (x, k, x * k):
        raise_level(level)
    a = b = level
    level, *weights = a, b * x, k
    c = (level := level * x) + level
    return c * weights[0] * weights[1] * level


@program(0.8, K, features="global, list rebound and written")
def module_list_rebound(x, k):
    global weights
    own = [k, 2.0]
    weights = own
    weights.append(x)
    append_weight(x * k)
    old = weights
    weights = [w * w for w in weights]
    append_weight(k)
    return sum(own) * sum(weights) + old[2]


def append_weight(w):
    weights.append(w)


@program(0.8, K, features="global, del")
def module_variable_deleted(x, k):
    global last_seen
    last_seen = x * k
    a = last_seen
    del last_seen
    last_seen = k
    return a * last_seen


@program(0.8, K, features="global, function rebound")
def module_function_rebound(x, k):
    global chosen
    chosen = math.cos
    a = chosen(x)
    choose(lambda v: v * k)
    return a * chosen(x)


def choose(function):
    global chosen
    chosen = function


@program(0.8, K, features="global, called through a variable")
def called_with_nothing(x, k):
    global level
    level = x * k
    functions = [read_level, lambda: level * level]
    return sum(f() for f in functions)


@program(V3, K, features="global, arrays")
def module_array_rebound(x, k):
    global last_seen
    last_seen = x * k
    remember(x)
    last_seen[0] = k
    return np.sum(last_seen * x)


def remember(x):
    global last_seen
    last_seen = last_seen * x
    last_seen[1] *= 2.0


@program(VALUES, features="global, recursion")
def recursion_with_a_module_variable(values):
    global level
    level = 1.0

    def visit(rest):
        global level
        if rest:
            level = level * 0.5 + rest[0] * level
            visit(rest[1:])

    visit(values)
    return level


class Recorder:
    def __init__(self, start):
        self.value = start

    def __call__(self, v):
        global level
        level = level + v * self.value
        return level


@program(0.8, K, features="global, method")
def module_variable_written_by_a_method(x, k):
    global level
    level = 0.0
    record = Recorder(x)
    record(k)
    return record(x) * level
