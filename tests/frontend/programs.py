# ruff: noqa: B007, B905, E731, F821, F842 - programs are written the way users write them
"""Small programs, one language feature each, for the front end alone: (function, argument tuples)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

OFFSET = 2.5
CASES: list[Any] = []


def case(*arguments: tuple[Any, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter the decorated function into the table with the argument tuples it is called with."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((function, arguments))
        return function

    return enter


@case((3,), (0,))
def loop_variable_after_the_loop(n):
    for i in range(n):
        pass
    return i


@case((1,), (-1,))
def bound_on_one_path(x):
    if x > 0:
        y = 1
    return y


@case((1,))
def never_bound(x):
    if x < 0:
        z = 1
        return z
    return x + z


@case((1,))
def missing_module_name(x):
    return x + no_such_name


@case(([1.0, 2.0],))
def module_data_are_read_live(xs):
    return sum(xs) + OFFSET + math.pi + np.pi


@case(([0.5, 0],), ([2, 4],), ([2, 0],))
def any_stops_at_the_first_true_item(xs):
    return any(1 / x > 1 for x in xs)


@case(([0.5, 0],), ([2, 4],), ([2, 0],))
def all_stops_at_the_first_false_item(xs):
    return all(1 / x > 1 for x in xs)


@case(([1, 2, 3],), ([1, 1],), ([0],), ([],))
def nested_quantifiers(xs):
    return any(a * b > 3 for a in xs for b in range(a)), all(b < 3 for a in xs if a for b in range(a))


def collect(*args, k=1, **kw):
    def inner(*a, **k):
        return a, k

    return inner(*args, 1, *args, **kw), inner(*args, **kw), inner(**kw, z=3), inner(k=k, **kw, **{"p": 1})


@case((1, 2))
def star_calls(x, y):
    return collect(x, *[y], u=5), collect(*(), **{"k": 3})


CASES.append((collect, ((1, 2), ())))


@case(({"b": 2},), ({"a": 2},))
def keyword_given_twice(kw):
    return dict(a=1, **kw)


@case((3,))
def while_true_with_else(x):
    i = 0
    while True:
        i += 1
        if i > x:
            break
    else:
        return "never"
    return i


@case((2,), (5,))
def for_else(x):
    for i in range(x):
        if i == 3:
            break
    else:
        return "no break"
    return i


@case((3,), (4,))
def break_out_of_two_loops(n):
    out = 0
    for i in range(n):
        for j in range(n):
            if i * j == 6:
                out = (i, j)
                break
        else:
            continue
        break
    return out


@case((1,), (2,), (5,), (2.5,))
def loops_in_loops(x):
    while x > 0:
        x -= 1
        for i in range(3):
            if i == x:
                continue
            if i > x:
                return i, x
        else:
            x -= 0.5
    else:
        x = 100
    return x


@case(([1, 2, 5],))
def comprehensions(x):
    flat = [y for z in x for y in range(z) if y % 2 if y > 0]
    return [x for x in x], x, {k: v for k, v in zip("abc", x, strict=False)}, {z for z in x}, flat


@case(([1, 2],))
def generators_consumed_on_the_spot(x):
    pairs = dict((v, v) for v in x)
    largest = max((v * v for v in x), default=3)
    return (
        sum(v for v in x) / len(x),
        largest,
        sorted((v for v in x), key=lambda q: -q),
        pairs,
        ",".join(str(v) for v in x),
    )


@case(({"a": 1, "b": 3},))
def dict_items(d):
    total = 0
    for k, v in d.items():
        total += v
    for pair in d.items():
        total += pair[1]
    return total, k, [pair for pair in d.items()]


@case(([1, 2],))
def iteration_patterns(xs):
    for i, p in enumerate(zip(xs, xs, strict=True), start=1):
        pass
    for j, (q, r) in enumerate(zip(xs, reversed(xs)), 5):
        pass
    for k, [u, v] in zip(range(3), ((1, 2), (3, 4))):
        pass
    for n in reversed(range(2, 9, 3)):
        pass
    return i, p, j, q, r, k, u, v, n


@case((1.23456,))
def f_strings(x):
    return f"{x!r:>10} {x:.3f} {x} {x!s} {{}} {'ab'}" + f"{x:{10}.{2}f}" + f"{x=}"


@case((1, 2, 3), (0, 2, 1), (2, 1, 0))
def boolean_operators(a, b, c):
    return a < b < c, a < b > c != a, a and b and c, a or b or c, not a, (a if b else c)


@case((1, []), (0, [1]))
def operands_are_evaluated_once_and_in_order(x, log):
    def seen(v):
        return v

    return (seen(x) and seen(x + 1)) or seen(3)


@case((-1,), (1,))
def assertion(x):
    assert x > 0, f"bad {x}"
    return x


@case(([1, 2, 3],), ([],), ([1],))
def starred_targets(x):
    y, *z = x
    a, (b, *c, d), e = 1, (*x, 9), 3
    return y, z, a, b, c, d, e


@case((9,))
def parallel_assignment(x):
    a, b = 1, 2
    a, b = b, a + b
    (a, b), c = (b, a), x
    d = e = a
    [f, g] = d, e
    return a, b, c, d, e, f, g


@case(((1, 2, 3),))
def wrong_number_of_values(x):
    a, b = x
    return a, b


@case((1,), (0,))
def raised_with_a_cause(x):
    if x:
        raise ValueError("hi") from KeyError(1)
    return x


@case((5,))
def decorated_inner_functions(x):
    def scaled(k):
        return lambda f: lambda *a: f(*a) * k

    @scaled(3)
    @scaled(2)
    def g(y, *, z=x):
        return y + z

    return g(x)


@case((5,))
def literals(x):
    return -(x**2), -2, -2.5, -1j, -np.inf, +x, ~x, (), [], {}, {1}, {"a": 1, **{"b": x}}, [*(1, x), 2], (*[x],), ...


@case((np.arange(12).reshape(3, 4),))
def subscripts(x):
    return [v.tolist() for v in (x[1:, None], x[..., ::2], x[-1], x[1:3, (0, 1)][0])]


@case((3,), (3, "a"), (3, "b"))
def chain_of_branches(x, flag=None):
    if flag is None:
        y = x * 2
    elif flag == "a":
        return x
    else:
        raise KeyError(flag)
    return y


@case((1,), (20,))
def falls_off_the_end(x):
    while x < 10:
        x = x * 2
        if x > 7:
            return [i for i in range(x) if i % 2]


@case((2.0,))
def closure_called_in_its_iteration(x):
    t = 0
    for i in range(3):
        g = lambda y: y * i + t
        t += g(x)
    return t


@case((1,))
def closure_called_before_its_variable_changes(x):
    g = lambda: x
    y = g()
    x = x + 1
    return y + x


@case((1,))
def annotated(x):
    a: int
    b: float = x
    return b


@case((1,))
def several_lambdas_in_a_line(x):
    fs = [lambda v: v + 1, lambda v: v * 2, lambda v: 7, lambda v: 8, lambda v, f=lambda v: v - x: f(v) * 3]
    return [f(5) for f in fs]


class Private:
    def __init__(self):
        self.__value = 3

    def names(self, __factor=2):
        __local = self.__value
        return [__local * __factor for __unused in range(2)], (lambda __x: __x + self.__value)(1), __class__.__name__


CASES.append((Private.names, ((Private(),), (Private(), 5))))
