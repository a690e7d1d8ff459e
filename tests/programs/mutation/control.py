"""Writes in branches, loops with exits, `try` and `with`; numbers that arrays hold in another type."""

from __future__ import annotations

import contextlib
import math

import numpy as np

from tests.programs.mutation.table import M33, V3, V4, V5, K, program

VALUES = [0.5, -1.2, 0.8, 1.7]


class Recorder:
    """A context manager that keeps and changes what it sees."""

    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append(1.0)
        return self.log

    def __exit__(self, kind, error, trace):
        self.log[0] *= 2.0
        return kind is KeyError


@program(V5, K, features="branch")
def writes_in_both_arms(x, k):
    u = x.copy()
    if k > 0.5:
        u[0] = k * u[1]
    else:
        u[1] = 3.0
    if u[0] > 100.0:
        u[:] = 0.0
    return np.sum(u * u)


@program(V5, K, features="branch, one arm")
def written_in_a_branch_not_taken(x, k):
    u = x.copy()
    v = u[1:]
    if k < 0.0:
        u[2] = 0.0
    elif k > 10.0:
        v *= 2.0
    return np.sum(u[:-1] * v)


@program(V5, K, features="branch, conditional expression")
def conditional_expression_chooses_the_target(x, k):
    u, w = x.copy(), x * x
    (u if k > 0.0 else w)[1] = k
    (w if u[1] > 0.0 else u)[0] *= u[1]
    return np.sum(u * w)


@program(V5, features="branch on each item")
def clipped_by_a_loop(x):
    u = x.copy()
    for i in range(len(u)):
        if u[i] < 0.0:
            u[i] *= 0.1
        elif u[i] > 1.0:
            u[i] = 1.0 + math.log(u[i])
    return np.sum(u * x)


@program(V5, K, features="while, break")
def iterated_until_small(x, k):
    u = x.copy()
    steps = 0
    while True:
        u *= 0.6
        u[0] += 0.01 * k
        steps += 1
        if np.max(np.abs(u)) < 0.4:
            break
        if steps > 50:
            raise RuntimeError("no convergence")
    return np.sum(u * x) * steps


@program(V5, K, features="for, continue")
def some_items_skipped(x, k):
    u = np.zeros(5)
    for i, v in enumerate(x):
        if v < 0.0:
            continue
        u[i] = v * k
        if i > 2:
            continue
        u[i] += u[i - 1]
    return np.sum(u * u * x)


@program(V5, K, features="for, break, else")
def search_that_records(x, k):
    tried = []
    for v in x:
        tried.append(v * k)
        if v > 0.7:
            found = tried[-1] ** 2
            break
    else:
        found = 0.0
    return found * sum(tried)


@program(V5, K, features="return from a loop")
def returned_while_writing(x, k):
    u = x.copy()
    for i in range(5):
        for j in range(i):
            u[i] += k * u[j]
            if u[i] > 0.9:
                u[j] *= 2.0
                return np.sum(u * u)
    return np.sum(u)


@program(V3, 0, features="zero trips")
def loop_that_does_not_run(x, n):
    u = x.copy()
    for _ in range(n):
        u *= 2.0
    return np.sum(u * x)


@program(M33, V3, 6, features="Gauss-Seidel")
def gauss_seidel(m, b, sweeps):
    a = m + 4.0 * np.eye(3)
    u = np.zeros(3)
    for _ in range(sweeps):
        for i in range(3):
            u[i] += (b[i] - a[i] @ u) / a[i, i]
    return np.sum(u * u)


@program(V4, K, features="Runge-Kutta with buffers")
def runge_kutta_with_buffers(x, k):
    y, stage, slope = x.copy(), np.empty(4), np.empty((4, 4))
    h = 0.1
    for _ in range(3):
        stage[:] = y
        for i, c in enumerate((0.5, 0.5, 1.0, 0.0)):
            slope[i] = -k * stage + np.sin(stage[::-1])
            stage[:] = y + c * h * slope[i]
        y += h / 6.0 * (slope[0] + 2.0 * slope[1] + 2.0 * slope[2] + slope[3])
    return np.sum(y * y)


@program(V5, K, features="trajectory matrix")
def trajectory_in_the_rows_of_a_matrix(x, k):
    path = np.zeros((5, 5))
    path[0] = x
    for t in range(4):
        path[t + 1] = path[t] + 0.1 * np.sin(k * np.roll(path[t], 1))
    return np.sum(path[-1] * path[2])


@program(np.linspace(0.1, 0.9, 12).reshape(3, 4), K, features="stencil in two dimensions")
def two_dimensional_diffusion(u, k):
    u = u.copy()
    for _ in range(3):
        u[1:-1, 1:-1] += 0.2 * k * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
        u[0], u[:, 0] = u[1], u[:, 1]
    return np.sum(u * u)


# try and with


@program(V3, K, features="try, write before the exception")
def write_before_an_exception_stays(x, k):
    u = x.copy()
    try:
        u[0] = k * u[1]
        u[7] = 1.0
        u[1] = 0.0
    except IndexError:
        u[2] *= u[0]
    return np.sum(u * u)


@program(VALUES, K, features="try, finally")
def undone_by_finally(values, k):
    total = 0.0
    for v in values:
        values.append(v * k)
        try:
            if len(values) == 6:
                break
            total += values[-1] * v
        finally:
            total += 0.5 * values.pop()
    return total


@program(VALUES, features="try, else")
def list_emptied_by_exception(values):
    total = 1.0
    while True:
        try:
            v = values.pop()
        except IndexError:
            break
        else:
            total = total * v + 1.0
    return total


@program({"a": 0.5}, K, features="try, KeyError")
def entry_made_on_demand(d, k):
    for name in ["a", "b", "b", "a"]:
        try:
            d[name] *= k
        except KeyError:
            d[name] = k * d["a"]
    return d["a"] * d["b"]


def risky(u, k, i):
    u[i] = k * u[i - 1]
    if i == 2:
        raise ValueError("stop")
    return u[i]


@program(V5, K, features="try, write in a callee that raises")
def callee_writes_and_raises(x, k):
    u = x.copy()
    total = 0.0
    for i in range(5):
        try:
            total += risky(u, k, i)
        except ValueError:
            total += 10.0 * u[i]
    return total * np.sum(u)


@program(VALUES, K, features="try, with")
def context_manager_that_writes(values, k):
    with Recorder(values) as log:
        log[1] *= k
        log[-1] += log[0]
    with Recorder(values):
        values[2] = values[0] * k
        raise KeyError("swallowed")
    return math.prod(values)


@program(V3, K, features="try, contextlib.suppress")
def suppressed_exception(x, k):
    u = x.copy()
    with contextlib.suppress(IndexError):
        u[0] = k
        u[5] = 1.0
        u[1] = k
    return np.sum(u * x * u)


@program(V3, K, features="try, return in finally order")
def return_value_taken_before_finally_writes(x, k):
    u = x.copy()

    def first():
        try:
            return u[0] * k
        finally:
            u[0] = 5.0 * u[1]

    return first() * u[0]


# Types that do not keep all of what is written


@program(V4, features="int array, truncation")
def floats_into_an_int_array(x):
    n = np.zeros(4, dtype=int)
    n[:] = x * 10.0 + 0.5
    n[0] = x[1] * 10.0 + 0.3
    return np.sum(n * x)


@program(V4, K, features="int array, unaffected")
def counters_in_an_int_array(x, k):
    n = np.zeros(3, dtype=int)
    for v in x:
        n[int(v > 0.0)] += 1
        n[-1] += 2
    return np.sum(n * k) * x[0] ** n[1]


@program(V4, features="bool array")
def flags_in_an_array(x):
    seen = np.zeros(4, dtype=bool)
    seen[1:] = x[1:] > 0.0
    seen |= x > 1.0
    seen[0] = x[0]
    return np.sum(x[seen] ** 2)


@program(V4, K, features="float32")
def doubles_into_a_float32_array(x, k):
    u = np.zeros(4, dtype=np.float32)
    u[:] = x
    u[1] = k
    u *= 2.0
    return float(np.sum(u * u))


@program(V4.astype(np.float32), K, features="float32")
def float32_argument_written(x, k):
    y = x.astype(np.float64)
    x[1:] *= np.float32(2.0)
    x[0] = k
    return np.sum(x * y)


@program(V4, features="object array")
def lists_in_an_object_array(x):
    rows = np.empty(2, dtype=object)
    rows[0] = [x[0], x[1]]
    rows[1] = [x[2] * x[3]]
    rows[0].append(x[2])
    return rows[0][0] * rows[0][2] + rows[1][0] ** 2


@program(V4, features="structured array")
def fields_of_a_structured_array(x):
    points = np.zeros(2, dtype=[("at", float), ("speed", float)])
    points["at"] = x[:2]
    points["speed"][1] = x[2] * x[3]
    points["at"] += 0.1 * points["speed"]
    return np.sum(points["at"] ** 2) + points[1]["speed"]


@program(V4, features="constants only")
def buffer_of_constants(x):
    window = np.ones(4)
    window[1:3] = 2.0
    window *= 0.5
    weights = [1.0]
    weights.append(weights[0] * 3.0)
    return np.sum(x * window) * weights[1]


@program(V4, K, features="written after the last use")
def value_overwritten_at_the_end(x, k):
    y = np.sin(x)
    result = np.sum(y * y) * k
    y[:] = 0.0
    x[:] = 1.0
    return result


@program(0.8, K, features="immutable +=, swapped")
def plain_numbers(x, k):
    a, b = x, k
    a += b
    b *= a
    a, b = b, a
    s = "n"
    s += "m"
    t = (a,)
    t *= 2
    return a * b + t[1] * len(s)
