"""Programs on lists and dicts of arrays, and on sums of these, which may have no terms."""

from __future__ import annotations

import numpy as np

from tests.programs.table import program

SQUARE = np.array([[1.0, 0.2], [0.1, 2.0]])
XS = [np.array([0.3, -0.5, 0.8]), np.array([1.1, 0.2, -0.4]), np.array([0.7, 0.9, 0.1])]
M = np.array([[0.5, -0.2, 0.1], [0.3, 0.8, -0.6], [0.2, 0.1, 0.4]])
OTHERS = {"a": ["b", "c"], "b": ["a"], "c": []}


@program(XS, M, features="sum of arrays, product of matrices")
def mean_of_arrays(xs, m):
    s = sum(x for x in xs) / len(xs)
    return np.sum(np.tanh(m @ s) ** 2) + s @ (s @ m)


@program(XS, features="sum of arrays, no terms")
def sums_of_some(xs):
    total = 0.0
    for x in xs:
        s = sum([y for y in xs if y[0] > x[0]])
        total = total + np.sum((s - x) ** 3)
    return total


@program(XS, 2.0, features="sum of arrays")
@program([], 2.0, features="sum of arrays, no terms")
def summed_from_zero(xs, k):
    total = 0
    for x in xs:
        total = total + k * x * x
    return np.sum(total * k + k)


@program([np.array([1.0 + 2j, 0.5]), np.array([0.3, 1j])], SQUARE, features="sum of arrays, complex")
def complex_terms(xs, m):
    s = sum(x for x in xs)
    return np.abs(np.sum((m @ s) * np.conj(xs[0])))


@program([np.array([1.0, 2.0]), np.array([1, 2])], SQUARE, features="sum of arrays, integers")
@program([np.array([1.0, 2.0]), np.array([True, False])], SQUARE, features="sum of arrays, truth values")
def terms_of_several_dtypes(xs, m):
    total = 0.0
    for x in xs:
        total = total + m @ x * 2
    return np.sum(total * total)


@program([np.array([True, False]), np.array([True, True])], np.array([1.0, 0.2]), features="sum of arrays, truth values")
def sum_of_truth_values(xs, v):
    s = sum(xs)
    return np.sum((s * v) ** 2)


@program([np.array([1.0, 2.0]), np.array([[1.0], [2.0]])], 1.5, features="sum of arrays, ranks")
@program([np.array([1.0, 2.0]), 2.0], 1.5, features="sum of arrays, numbers")
@program([np.array(1.5), np.array(0.5)], 1.5, features="sum of arrays, no axes")
def terms_of_several_ranks(xs, k):
    total = 0
    for x in xs:
        total = total + x * k
    return np.sum(total**2)


@program(XS, M, features="sum of arrays, ranks")
def sum_of_products(xs, m):
    s = sum(np.outer(x, x) for x in xs)
    return np.sum(s @ m @ xs[0])


@program(XS, 3, features="sum of arrays, power")
def power_of_a_sum(xs, n):
    s = sum(x for x in xs)
    return np.sum(s**n + s**2)


@program(XS, 0, features="list of arrays, loop without iterations")
@program(XS, 2, features="list of arrays")
def read_in_a_loop(xs, n):
    total = 0.5
    for i in range(n):
        total = total + np.sum(xs[i] ** 2)
    return total * total


@program(XS, features="list of arrays, negative index")
def read_from_both_ends(xs):
    total = 0.0
    for i in range(1, 4):
        total = total + np.sum(xs[-i] * xs[i - 1]) * i
    return total


@program(XS, 1.5, features="list of arrays, item assignment")
def items_replaced(xs, k):
    ys = [x * k for x in xs]
    for i in range(3):
        for j in range(3):
            ys[i] = ys[i] + 0.1 * ys[j] * k
    return np.sum(ys[0] * ys[1] + ys[2])


@program(XS, M, features="list of arrays, one array twice")
def one_array_twice(xs, m):
    ys = [xs[0], xs[0], xs[1]]
    total = 0
    for y in ys:
        total = total + np.tanh(m @ y)
    return np.sum(total * xs[0])


@program(XS, 1.5, features="list of arrays, append")
def appended_arrays(xs, k):
    ys = []
    for x in xs:
        ys.append(k * x)
        if len(ys) > 1:
            ys.append(ys[-1] * ys[-2])
    return np.sum(np.stack(ys) ** 2) + np.sum(sum(ys) * ys[1]) + np.sum(np.concatenate(ys) ** 3)


@program(XS, M, features="list of arrays, branches")
def read_in_one_arm(xs, m):
    total = np.sum(m)
    if total > 0.0:
        for i in range(2):
            total = total + (np.sum(xs[i] * xs[0]) if i else xs[i][0] * xs[i][1])
    return total * total


@program(XS, 2.0, features="list of arrays, try")
def read_past_the_end(xs, k):
    total = 0
    for i in range(5):
        try:
            total = total + xs[i] * k
        except IndexError:
            total = total * 1.5
    return np.sum(total * total)


@program([XS, []], 2.0, features="lists of lists of arrays")
def sums_of_rows(rows, k):
    total = 0
    for row in rows:
        total = total + sum(row) * k
    return np.sum(total * total)


@program({"a": XS[0], "b": XS[1], "c": XS[2]}, 1.5, features="dict of arrays")
def read_under_keys(d, k):
    total = 0
    for value in d.values():
        total = total + k * value * value
    for name in ("a", "b", "a"):
        total = total + d[name]
    return np.sum(total * d["a"])


@program({0: XS[0], 1: XS[1]}, features="dict of arrays, equal keys")
def equal_keys(d):
    return np.sum(d[True] * d[1] + d[False])


@program(OTHERS, XS, M, features="dict of arrays, rounds, no terms")
def messages(graph, xs, m):
    states = {name: xs[i] for i, name in enumerate(graph)}
    for _ in range(2):
        new = {}
        for name, others in graph.items():
            s = sum(states[other] for other in others)
            new[name] = np.tanh(states[name] + m @ states[name] + s)
        states = new
    return sum(np.sum(value**2) for value in states.values())


def branch(xs, i, m):
    if 2 * i + 2 >= 7:
        return xs[i % 3]
    return np.tanh(m @ np.concatenate([branch(xs, 2 * i + 1, m)[:2], branch(xs, 2 * i + 2, m)[:1]]))


@program(XS, M, features="list of arrays, recursion")
def tree_of_arrays(xs, m):
    return np.sum(branch(xs, 0, m) ** 2)


@program(XS, M, "T", features="unknown index")
def unknown_index(xs, m, name):
    row = m[{"T": 1}[name]]
    return np.sum(m @ row * xs[0])


@program({"a": 1.5, "b": 0.5, "c": 2.0}, features="values of a dict, sum, max, min")
def values_of_a_dict(table):
    values = table.values()
    return sum(values) * max(values) + table["a"] * min(table.values()) + sum(list(table.values())[:2]) ** 2


@program(0.7, 4, features="values of a dict that is filled, sum in a loop")
def values_while_it_is_filled(x, n):
    table, total = {}, 0.0
    for k in range(n):
        table[k] = x * k + total
        total += sum(table.values()) * x
    return total + max(table.values()) * len(table)


@program({"a": 1.5, "b": 0.5}, features="values of a dict, in part by an unknown function")
def values_given_on(table):
    values = table.values()
    return sum(values) * sorted(values)[0] + sum(v * k for k, v in enumerate(values))


@program(0.7, 4, features="comprehension of a dict, one key twice, text as key")
def dicts_of_pairs(x, n):
    squares = {k: x * k * k for k in range(n)}
    last = {k % 2: x * k + 1.0 for k in range(n)}
    by_name = {name: x * len(name) for name in ("a", "bb", "a")}
    none = {k: x for k in range(0)}
    total = sum(squares.values()) * last[0] + last[1] ** 2 + by_name["bb"] * by_name["a"] + sum(none.values())
    return total + sum(v * v for v in {k: v * x for k, v in squares.items() if v > 1.0}.values())
