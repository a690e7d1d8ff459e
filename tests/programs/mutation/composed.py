"""Functions that are composed of others, and containers or None as defaults."""

from __future__ import annotations

import functools
import math

from tests.programs.mutation.table import program

A, B, N = 0.9, 0.3, 4


def in_turn(*functions):
    def composed(x):
        for f in functions:
            x = f(x)
        return x

    return composed


def reduced(*functions):
    return functools.reduce(lambda f, g: lambda x: g(f(x)), functions)


def reduced_from(*functions):
    return functools.reduce(lambda f, g: lambda x: f(g(x)), functions, lambda x: x)


def scaling(a):
    return lambda x: a * x


def shifting(b):
    def shifted(x):
        return x + b

    return shifted


def twice(f):
    return lambda x: f(f(x))


@program(A, B, N, features="functions given by a star, loop over them")
def functions_in_turn(a, b, n):
    h, x = in_turn(lambda x: x * a, math.sin, shifting(b)), 0.5
    for _ in range(n):
        x = h(x)
    return x


@program(A, B, N, features="functools.reduce over functions")
def functions_reduced(a, b, n):
    h, g, x = reduced(scaling(a), math.sin, lambda x: x + b), reduced_from(scaling(b), math.tanh, shifting(a)), 0.5
    for _ in range(n):
        x = g(h(x))
    return x


@program(A, B, N, features="function of a function of a function")
def functions_twice(a, b, n):
    h, x = twice(twice(lambda x: a * math.sin(x) + b)), 0.5
    for _ in range(n):
        x = h(x)
    return x


@program(A, B, N, features="functions that count their calls, composed twice")
def functions_that_count(a, b, n):
    count = 0

    def counting(x):
        nonlocal count
        count += 1
        return a * x + count * b

    h, x = reduced(counting, counting, twice(counting)), 0.5
    for _ in range(n):
        x = h(x)
    return x * count


def first_or(default, *functions):
    if not functions:
        return default
    f, *_ = functions
    return f if len(functions) > 1 else functions[-1]


@program(A, B, features="functions given by a star, asked how many there are")
def functions_counted(a, b):
    return first_or(scaling(a))(b) * first_or(scaling(a), scaling(b))(a) + first_or(None, scaling(b), shifting(a))(b)


def fixed_point(f):
    def again(x, depth):
        return x if depth == 0 else f(lambda y: again(y, depth - 1))(x)

    return again


@program(A, B, 3, features="function that makes itself anew in each call")
def function_of_itself(a, b, n):
    return fixed_point(lambda rest: lambda x: a * rest(math.sin(x) + b))(0.5, n)


def noted(x, log=None):
    if log is None:
        log = []
    log.append(x * x)
    return log


@program(A, N, features="list or None as a default, list given back")
def list_or_none(a, n):
    log = noted(a)
    for i in range(n):
        log = noted(a * i, log)
    return sum(log) + len(noted(a))


def steps(x, n, history=None):
    history = history if history is not None else []
    for _ in range(n):
        x = 0.9 * x + 0.1 * math.sin(x)
        history.append(x)
    return history


@program(A, N, features="list or None as a default, one list twice")
def list_and_its_end(a, n):
    first = steps(a, n)
    second = steps(first[-1], n, first)
    second[0] = a * a
    return sum(v * v for v in first) + second[-1] * len(first)


def smoothed(xs, weights=None, scale=None):
    weights = weights or [0.5, 0.3, 0.2]
    found = []
    for i in range(len(xs) - len(weights) + 1):
        total = sum(w * x for w, x in zip(weights, xs[i:]))
        found.append(total if scale is None else total * scale)
    return found


@program(A, B, 6, features="list, None or a number as a default, None that is given")
def weights_or_none(a, b, n):
    xs = [a * math.sin(0.5 * i) for i in range(n)]
    ys = smoothed(smoothed(xs), [a, b], scale=b)
    return sum(y * y for y in ys) + sum(smoothed(xs, None, None)) + sum(smoothed(xs, weights=[]))


class Split:
    def __init__(self, w, b, left, right):
        self.w, self.b, self.left, self.right = w, b, left, right

    def predict(self, x):
        g = 1.0 / (1.0 + math.exp(-(self.w * x + self.b)))
        return g * self.left.predict(x) + (1.0 - g) * self.right.predict(x)


class Leaf:
    def __init__(self, value):
        self.value = value

    def predict(self, x):
        return self.value


def grown(depth, w, b):
    if depth == 0:
        return Leaf(w + b)
    return Split(w, b, grown(depth - 1, w * 0.5, b + 0.1), grown(depth - 1, w * 1.5, b - 0.1))


@program(A, B, N, features="tree of two classes that a function makes by calling itself")
def soft_tree(w, b, n):
    tree = grown(3, w, b)
    return sum((tree.predict(0.3 * i) - math.sin(0.3 * i)) ** 2 for i in range(n))


def sum_of(tree):
    if isinstance(tree, Leaf):
        return tree.value
    return tree.w * sum_of(tree.left) + sum_of(tree.right)


def grow(tree, by):
    if isinstance(tree, Leaf):
        tree.value += by
    else:
        tree.w *= by
        grow(tree.left, by * 0.5)
        grow(tree.right, by * tree.w)


@program(A, B, features="tree of two classes that functions go down and write into")
def soft_tree_that_grows(w, b):
    tree = grown(2, w, b)
    grow(tree, b)
    twig = tree.left
    grow(twig, w)
    return sum_of(tree) * sum_of(twig)
