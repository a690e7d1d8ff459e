"""Programs on columns of rows (`zip(*rows)`) and on tuples of as many numbers as there are: made of generators, sliced, joined,
carried by loops, in objects."""

from __future__ import annotations

import math

import numpy as np

from tests.programs.table import program

ROWS = [[1.0, 2.0, 3.0], [0.5, 0.2, 0.1]]
SQUARE = [[0.5, -0.2], [0.3, 0.8]]
POINTS = [(1.0, 2.0), (0.5, 0.3), (0.2, 0.7)]
XS = [0.3, 1.2, -0.7, 0.9]


@program(ROWS, features="columns, list")
@program([[1.0, 2.0, 3.0], [0.5, 0.2]], features="columns, rows of several lengths")
def list_of_columns(rows):
    columns = list(zip(*rows))
    return sum(a * b for a, b in columns) * columns[0][1] * len(list(zip(*rows, strict=False)))


@program(ROWS, features="columns, strict")
def columns_of_equal_rows(rows):
    return sum(a * b for a, b in zip(*rows, strict=True))


@program([], 2.0, features="columns, no rows")
@program([[1.0, 2.0], []], 2.0, features="columns, an empty row")
def no_columns(rows, k):
    return k * k + len(list(zip(*rows)))


@program(ROWS, features="columns, loop")
def loops_over_columns(rows):
    total = 0.0
    for column in zip(*rows):
        total += column[0] * column[1] ** 2
    for i, (a, b) in enumerate(zip(*rows)):
        total += i * a * b
    for column, x in zip(zip(*rows), rows[0]):
        total += sum(column) * x
    return total


@program(POINTS, features="columns, unpacking, tuples")
def coordinates(points):
    xs, ys = zip(*points)
    center, height = [sum(column) / len(column) for column in zip(*points)]
    return sum(x * y for x, y in zip(xs, ys)) * center * height**2 + np.dot(np.array(xs), np.array(ys) ** 2)


@program(ROWS, features="columns, one row twice")
def one_row_twice(rows):
    columns = list(zip(*[rows[0], rows[0], rows[1]]))
    return sum(a * b * c for a, b, c in columns)


@program(ROWS, features="columns, read twice")
def columns_read_twice(rows):
    columns = zip(*rows)
    total = 0.0
    for a, b in columns:
        total += a * b
        break
    for a, b in columns:
        total += 10.0 * a * b
    return total + len(list(columns))


@program(ROWS, features="columns, next")
def first_column(rows):
    columns = zip(*rows)
    first = next(columns)
    return first[0] * first[1] + sum(a * b for a, b in columns)


@program(ROWS, features="columns, rows written")
def rows_written_after(rows):
    rows = [list(row) for row in rows]
    columns = list(zip(*rows))
    rows[0][0] = 5.0 * rows[0][1]
    return columns[0][0] * rows[0][0]


@program(ROWS, features="columns, rows written in the loop")
def rows_written_in_the_loop(rows):
    rows = [list(row) for row in rows]
    total = 0.0
    for column in zip(*rows):
        total += column[0] * column[1]
        rows[1][2] = column[0] * 3.0
    return total


@program(ROWS, features="columns, of columns")
def columns_of_columns(rows):
    columns = list(zip(*rows))
    again = list(zip(*columns))
    return sum(a * b for a, b in zip(again[0], rows[1])) + again[1][2] ** 2


@program(SQUARE, 3, features="columns, matrices")
def power_of_a_list(rows, n):
    result = rows
    for _ in range(n):
        columns = list(zip(*rows))
        result = [[sum(a * b for a, b in zip(row, column)) for column in columns] for row in result]
    return result[0][0] + result[1][1] * result[0][1]


class Matrix:
    def __init__(self, rows):
        self.rows = tuple(tuple(row) for row in rows)

    @property
    def T(self):
        return Matrix(zip(*self.rows))

    def __matmul__(self, other):
        return Matrix([[sum(a * b for a, b in zip(row, column)) for column in zip(*other.rows)] for row in self.rows])

    def __add__(self, other):
        return Matrix([a + b for a, b in zip(row, twin)] for row, twin in zip(self.rows, other.rows))


@program(SQUARE, features="columns, matrices, objects")
def matrices_of_tuples(rows):
    m = Matrix(rows)
    result = (m @ m.T + m) @ m
    return sum(result.rows[i][i] for i in range(len(result.rows)))


class Polynomial:
    def __init__(self, coefficients):
        self.coefficients = tuple(coefficients)

    def __mul__(self, other):
        product = [0.0] * (len(self.coefficients) + len(other.coefficients) - 1)
        for i, a in enumerate(self.coefficients):
            for j, b in enumerate(other.coefficients):
                product[i + j] += a * b
        return Polynomial(product)

    def __call__(self, x):
        total = 0.0
        for a in reversed(self.coefficients):
            total = total * x + a
        return total


@program(XS, 0.7, features="tuples of numbers, objects")
def product_of_polynomials(xs, x):
    p = Polynomial(xs)
    return (p * p * p)(x)


class Vector:
    def __init__(self, xs):
        self.xs = tuple(xs)

    def __add__(self, other):
        return Vector(a + b for a, b in zip(self.xs, other.xs))

    def __mul__(self, k):
        return Vector(a * k for a in self.xs)


@program(XS, 2.0, features="tuples of numbers, objects, loop")
def vectors_of_tuples(xs, k):
    v = Vector(xs)
    w = v * k + v
    for _ in range(3):
        w = w * 0.5 + v * k
    return sum(a * b for a, b in zip(w.xs, v.xs))


@program(XS, features="tuples of numbers, indexing, slices")
def parts_of_a_tuple(xs):
    t = tuple(x * x for x in xs)
    return sum(t[1:]) * t[0] + t[-1] * sum(t[::-1][:2]) + max(t) * min(t)


@program(XS, features="tuples of numbers, joined")
def tuples_joined(xs):
    t = tuple(xs)
    u = t + tuple(x * x for x in xs) * 2 + (1.0, xs[1])
    return sum(a * i for i, a in enumerate(u)) * u[5]


@program(XS, 3, features="tuples of numbers, loop")
@program(XS, 0, features="tuples of numbers, loop without iterations")
def state_as_a_tuple(xs, n):
    state = tuple(xs)
    for _ in range(n):
        state = tuple(a + 0.1 * b for a, b in zip(state, state[1:] + state[:1]))
    return state[0] * state[3] + sum(state)


@program(XS, True, features="tuples of numbers, branch")
@program(XS, False, features="tuples of numbers, branch")
def tuple_or_display(xs, is_short):
    t = (xs[0], xs[1]) if is_short else tuple(xs)
    return t[0] * t[-1] + len(t)


@program(XS, features="tuples of numbers, None")
def tuple_that_is_none_first(xs):
    t = None
    for _ in range(3):
        t = tuple(x * x for x in xs) if t is None else tuple(a * b for a, b in zip(t, xs))
    return sum(t)


@program(XS, features="tuples of numbers, in containers")
def tuples_in_containers(xs):
    named = {"a": tuple(xs), "b": tuple(x * x for x in xs)}
    listed = [tuple(x * i for x in xs) for i in range(3)]
    pair = tuple(xs), 2.0 * xs[0]
    total = sum(a * b for a, b in zip(named["a"], named["b"])) + pair[0][1] * pair[1]
    return total + sum(a * b for row in listed for a, b in zip(row, xs)) + listed[2][1] ** 2


def scaled(xs, k):
    return tuple(x * k for x in xs)


def folded(t, k):
    if len(t) < 2:
        return t[0] * k if t else 0.0
    return folded(t[1:], k) * t[0] + folded(t[:-1], k)


@program(XS, 1.5, features="tuples of numbers, calls, recursion")
def tuples_given_and_returned(xs, k):
    t = scaled(xs, k)
    return sum(a * b for a, b in zip(t, scaled(t, k))) + folded(t, k)


@program(XS, 1.5, features="tuples of numbers, returned")
def tuple_returned(xs, k):
    return tuple(x * k for x in xs)


def product_of_four(a, b, c, d):
    return a * b + c * d


@program(XS, features="tuples of numbers, unpacking")
def tuple_unpacked(xs):
    t = tuple(x * x for x in xs)
    a, *others = t
    b, c, d, e = t
    return a * sum(others) + math.hypot(*t) + product_of_four(*t) + b * c - d * e


@program(XS, features="tuples of numbers, NumPy")
def tuple_as_array(xs):
    t = tuple(x * x for x in xs)
    return np.sum(np.array(t) * np.asarray(t)) + np.dot(t, xs) + np.mean(t) * np.linalg.norm(t)


@program(XS, features="tuples of numbers, keys")
def tuple_as_key(xs):
    places = {key: i for i, key in enumerate(zip(*[[1, 2], [3, 4]]))}
    return xs[places[1, 3]] ** 2 + xs[places[tuple(i for i in (2, 4))]]


@program(XS, features="tuples of numbers, try")
def tuple_too_short(xs):
    t = tuple(x * x for x in xs)
    try:
        return t[9] * 1.0
    except IndexError:
        return t[-1] * t[0]


@program(XS, features="tuples of numbers, while")
def tuple_used_up(xs):
    t, total = tuple(xs), 0.0
    while len(t) > 0:
        total += t[0] * len(t)
        t = t[1:]
    return total * total


@program(np.array(XS), features="tuples of numbers, of an array")
def tuple_of_an_array(x):
    t = tuple(x * 2.0)
    return t[0] * t[1] + sum(t) ** 2


@program([np.array([1.0, 2.0]), np.array([0.3, 0.4])], features="tuples of arrays")
def tuple_of_arrays(xs):
    t = tuple(x * 2 for x in xs)
    return np.sum(t[0] * t[1]) + np.sum(np.stack(t) ** 2)
