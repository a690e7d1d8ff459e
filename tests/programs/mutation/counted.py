"""Loops of which the adjoint knows the counter, or the items: lists that grow by one in each iteration, or not quite; lists
that are read again, or changed before; slices beside what they are slices of; items that are taken and put back; arrays under
several names."""

from __future__ import annotations

import math

import numpy as np

from tests.programs.mutation.table import M33, V3, K, program

FLOATS = [0.5, 0.2, -0.4]
PAIRS = [(0.5, 0.2), (0.1, 0.4), (1.0, 2.0)]


@program(K, FLOATS, features="append, loop")
def grown_by_one_each_time(x, xs):
    out = [x]
    for e in xs:
        out.append(out[-1] * e + x)
    return sum(v * v for v in out)


@program(K, FLOATS, features="append, continue")
def grown_but_for_some(x, xs):
    out = [x]
    for e in xs:
        if e < 0.3:
            continue
        out.append(out[-1] * e + x)
    return sum(v * v for v in out)


@program(K, FLOATS, features="append, break")
def grown_until_it_is_long_enough(x, xs):
    out = [x]
    for e in xs:
        out.append(out[-1] * e + x)
        if len(out) > 2:
            break
    return sum(v * v for v in out) + out[-2]


@program(K, FLOATS, features="append, loop")
def grown_by_two_each_time(x, xs):
    out = [x]
    for e in xs:
        out.append(e)
        out.append(out[-2] * e)
    return sum(v * v for v in out)


@program(K, FLOATS, features="append, enumerate from two")
def grown_while_another_number_counts(x, xs):
    out = []
    for i, e in enumerate(xs, 2):
        out.append(e * i * x)
    return out[0] * out[-1] + sum(out)


@program(K, FLOATS, features="append to what is run over")
def grown_while_it_is_run_over(x, xs):
    out = [x, xs[0]]
    for v in out:
        if len(out) < 6:
            out.append(v * x)
    return sum(v * v for v in out)


@program(K, FLOATS, features="append, nested loops")
def grown_in_turns(x, xs):
    total = 0.0
    for i in range(3):
        parts = []
        for j in range(i):
            parts.append(x * xs[j] * len(parts))
        total += sum(parts)
        for _ in range(i):
            parts.append(total)
        total += sum(q * q for q in parts)
    return total


@program(K, FLOATS, features="append, return from a loop")
def grown_until_the_function_returns(x, xs):
    out = []
    for _ in range(3):
        x = x * xs[0]
        out.append(x)
        if len(out) > 1:
            return sum(h * h for h in out)
    return out[-1]


@program(K, FLOATS, features="a name that says unused")
def counter_that_is_read(x, xs):
    total = 0.0
    for _ in range(3):
        total = total + _ * x
    out = []
    for _ in range(3):
        out.append(total * xs[_])
    return sum(v * v for v in out) * _


@program(K, FLOATS, features="item written")
def changed_while_it_is_run_over(x, xs):
    out = [x * e for e in xs]
    total = 0.0
    for i, v in enumerate(out):
        out[i] = v * v
        total = total + v
    return total + sum(v * v for v in out)


@program(K, FLOATS, features="item written between two sums")
def changed_after_it_was_run_over(x, xs):
    out = [x * e for e in xs]
    total = sum(v * v for v in out)
    out[0] = out[1] * x
    return total + sum(v * v * v for v in out)


@program(K, FLOATS, features="append and item written by another name")
def changed_by_another_name(x, xs):
    out = [x * e for e in xs]
    other = out
    total = sum(v * v for v in out)
    other.append(total)
    later = sum(v * v for v in out)
    other[1] = later
    return total + sum(v * v * v for v in other)


@program(K, FLOATS, features="returned list")
def read_again_and_returned(x, xs):
    out = [x * e for e in xs]
    out.append(sum(v * v for v in out))
    return out


@program(K, FLOATS, features="lists made anew")
def neighbours_in_lists_made_anew(x, xs):
    t = [x, *xs]
    for _ in range(3):
        t = [x, *[b + x * (a - 2 * b + c) for a, b, c in zip(t, t[1:], t[2:], strict=False)], t[-1]]
    return sum(v * v for v in t)


@program(K, FLOATS, features="item written, slice kept")
def slice_beside_a_list_that_is_written(x, xs):
    t = [x, *xs]
    part = t[1:]
    total = 0.0
    for k, (a, b) in enumerate(zip(t, part, strict=False)):
        t[k] = a * b
        total = total + a * b * x
    return total + sum(t) + sum(part)


@program(K, FLOATS, features="item of a slice written")
def slice_that_is_written(x, xs):
    t = [x, *xs]
    part = t[1:]
    part[0] = x * x
    return sum(a * b for a, b in zip(t, part, strict=False)) + sum(t) + part[-1]


@program(K, FLOATS, features="slices of every kind")
def slices_that_loops_run_over(x, xs):
    t = [x, *xs]
    total = 0.0
    for a, b in zip(t, t[-2:], strict=False):
        total = total + a * b * b
    for a in t[9:]:
        total = total + a
    for a in t[:-1]:
        total = total + a * a
    for a in t[::2]:
        total = total + a * a * a
    for a in t[1:3][1:]:
        total = total + a * x
    return total


@program(K, FLOATS, features="list of lists written")
def neighbours_in_rows(x, xs):
    rows = [[x * e for e in xs] for _ in range(3)]
    total = 0.0
    for row in rows:
        for a, b in zip(row, row[1:], strict=False):
            total = total + a * b * b
    rows[1][0] = total
    for row in rows:
        for a, b in zip(row, row[1:], strict=False):
            total = total + a * b * b
    return total


@program(K, PAIRS, features="tuples in a list")
def pairs_replaced_by_neighbours(x, pairs):
    out = [(a * x, b) for a, b in pairs]
    for k in range(2):
        out[k] = (out[k + 1][0], out[k][1] * x)
    return sum(a * b for a, b in out) + sum(
        math.hypot(c - a, d - b) for (a, b), (c, d) in zip(pairs, pairs[1:], strict=False)
    )


@program(K, FLOATS, features="x[i] += e")
def added_to_where_it_is_read(x, xs):
    ys = list(xs)
    for i in range(len(ys)):
        ys[i] += x * ys[i - 1]
    for i in range(len(ys)):
        ys[i] -= x * ys[i]
    return sum(v * v for v in ys)


@program(K, {"a": 0.5, "b": 0.2}, features="d[k] += e")
def added_to_under_keys(x, d):
    c = {k: v * x for k, v in d.items()}
    for k in c:
        c[k] += x * c[k]
    for k in c:
        c[k] -= 0.1 * c["a"]
    return sum(v * v for v in c.values())


@program(K, FLOATS, features="rows[i][j] -= e")
def taken_from_in_rows(x, xs):
    rows = [[e * x for e in xs] for _ in range(2)]
    for row in rows:
        for i in range(3):
            row[i] -= row[0] * x
    return sum(sum(v * v for v in row) for row in rows)


@program(K, V3, features="one of two arrays written")
def array_that_is_one_of_two(x, v):
    a, b = v.copy(), v.copy()
    for i in range(3):
        c = a if i % 2 else b
        a[i] = x * np.sum(c)
    return np.sum(a * a) + np.sum(b)


@program(K, V3, features="array made anew in an arm")
def array_made_anew_or_written(x, v):
    a = v.copy()
    for i in range(3):
        if x > 1.0:
            a = a * x
        else:
            a = a + x
        for j in range(i):
            a[j] = a[i] * x
    return np.sum(a * a)


@program(K, V3, features="array handed through an arm, result is an array")
def array_handed_through_an_arm(x, v):
    a = v * x
    for i in range(2):
        r = a if i else a * 2.0
        r = r.copy()
        r[0] = x * r[1]
        a = r
    return a


@program(K, V3, features="two arrays exchanged")
def arrays_exchanged(x, v):
    a = v * x
    b = a
    for i in range(2):
        a, b = b, a
        a = a.copy()
        a[i] = b[i] * x
    return np.sum(a * b)


@program(K, M33, features="rows and entries written, result is an array")
def rows_and_entries_written(x, m):
    a = m.copy()
    for i in range(3):
        for j in range(3):
            if i != j:
                a[i] = a[i] * x + a[j]
            else:
                a[i, j] = a[i, j] ** 2
    return a
