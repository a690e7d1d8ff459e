"""Functions of `itertools` over lists, and calls with `*items` and `**options`."""

from __future__ import annotations

import functools
import itertools
import math

from tests.programs.mutation.table import K, program


@program(K, features="itertools")
def products_of_lists_and_ranges(x):
    values = [x, 2.0 * x, x * x]
    total = sum(a * b for a, b in itertools.product(values, [1.0, x]))
    for i, j, k in itertools.product(range(2), repeat=3):
        total = total + math.exp(-x * (i + j) ** 2) * k
    return total


@program(K, features="itertools")
def pairs_and_triples(x):
    values = [x, x * x, 2.0, 0.5 * x]
    total = sum(a * b * b for a, b in itertools.combinations(values, 2))
    total = total + sum(a * b * c for a, b, c in itertools.combinations(values, 3))
    total = total + sum(a * a * b for a, b in itertools.permutations(values, 2))
    return total * sum(a * b for a, b in itertools.combinations_with_replacement(values, 2))


@program(K, features="itertools")
def list_is_written_into_while_pairs_are_made_of_it(x):
    values = [x, 2.0 * x, x * x]
    total = 0.0
    for a, b in itertools.combinations(values, 2):
        values[2] = 3.0 * a
        total = total + a * b
    for a, b in itertools.product(values, values):
        values[0] = 1.1 * values[0]
        total = total + a * b
    return total + values[0]


@program(K, features="itertools")
def lists_one_after_the_other(x):
    values = [x, 2.0 * x]
    total = 0.0
    for value in itertools.chain(values, [x * x], (1.0, x)):
        total = total + value * value
    for value in itertools.chain(values, [3.0 * x]):
        if len(values) < 4:
            values.append(value * x)
        total = total * value
    return total


@program(K, features="itertools")
def lists_of_different_lengths(x):
    first, second = [x, x * x, 3.0 * x], [2.0, x]
    total = sum(a * b for a, b in itertools.zip_longest(first, second, fillvalue=0.5))
    for a, b in itertools.zip_longest(second, first):
        total = total + (x if a is None else a) * b
    return total


@program(K, features="itertools")
def parts_of_lists(x):
    values = [x, x * x, 3.0, x]
    total = sum(itertools.islice(values, 2)) + sum(itertools.islice(values, 0)) * x
    total = total * sum(itertools.takewhile(lambda value: value < 1.0, values))
    return total + sum(a * b for a, b in zip(values, itertools.repeat(x, 3))) + sum(a * k for k, a in enumerate(values, 2))


@program(K, features="itertools, break")
def product_is_left_early(x):
    total = 0.0
    for a, b in itertools.product([x, 2.0 * x], [1.0, x]):
        if a * b > 0.95:
            break
        total = total + a * b
    return total


def weighted(a, b=2.0, c=3.0):
    return a * b**2 * c**3


class Scaled:
    def __init__(self, a, b=1.0):
        self.a = a
        self.b = b

    def of(self, u, v=2.0):
        return self.a * u + self.b * v


@program(K, features="keywords")
def options_in_a_dict(x):
    options = {"b": x, "c": 1.5}
    total = 0.0
    for k in range(3):
        options["b"] = options["b"] * x
        total = total + weighted(x * k, **options) + weighted(x, c=x, **{"b": 2.0})
    return total * options["b"]


@program(K, features="keywords, methods")
def options_of_constructors_methods_and_closures(x):
    def inner(a, b):
        return a * b * x

    scaled = Scaled(**{"a": x, "b": x * x})
    return scaled.of(**{"u": x, "v": 3.0}) * scaled.of(*(x, x)) + inner(*(x, 2.0)) * inner(**{"a": x, "b": x})


@program(K, features="keywords")
def options_that_are_not_known(x):
    options = {"b": x} if x > 0.5 else {"b": x, "c": x}
    merged = {**options, "c": 2.0}
    more = {"b": x}
    more.update(c=x)
    return weighted(x, **options) + weighted(x, **merged) * weighted(x, **more)


@program(K, features="keywords, try")
def option_that_a_function_does_not_have(x):
    options = {"b": x, "d": 1.0}
    try:
        return weighted(x, **options)
    except TypeError:
        return 7.0 * x


@program(K, features="positions")
def items_that_are_handed_on(x):
    pairs = [(x, 1.0), (2.0, x * x)]
    values = [x, x * x]
    values.append(2.0)
    first, *rest = values
    return sum(weighted(*pair) for pair in pairs) + weighted(*values) * weighted(first, *rest)


def raised(base, exponent, offset=0.0):
    return base**exponent + offset


CUBE = functools.partial(raised, exponent=3)
OF_SINE = functools.partial(weighted, 1.5, c=2.0)


@program(K, features="functools.partial, module variables")
def partials_of_the_module(x):
    total = 0.0
    for k in range(3):
        total = total + CUBE(x + k) * OF_SINE(x) + CUBE(x, offset=x * k)
    return total + OF_SINE(b=x, c=3.0)


@program(K, features="functools.partial, closures")
def partials_made_inside(x):
    def inner(a, b, c=1.0):
        return a * b**2 + c * x

    scaled = Scaled(x, 2.0)
    first, second = functools.partial(inner, x), functools.partial(scaled.of, v=x)
    both = functools.partial(first, c=3.0)
    return first(2.0) * second(x) + both(x) + sum(map(functools.partial(raised, exponent=2), [x, 2.0 * x])) * both(1.0, c=x)


@program(K, features="functools.partial")
def partial_sees_what_its_list_becomes(x):
    values = [x, 2.0]
    total = functools.partial(sum, values)
    values.append(x * x)
    kept = [functools.partial(raised, x)]
    return total() * kept[0](3)


LEVEL = [0.0]


@program(K, features="functools.partial, global")
def fields_of_a_partial_where_writes_are_tracked(x):
    LEVEL[0] = x
    first, second = functools.partial(raised, LEVEL[0]), functools.partial(weighted, b=x * x)
    both = functools.partial(functools.partial(raised, x), offset=x * x)
    total = first.args[0] * first(3) + sum(second.keywords.values()) * second(1.0) + first.func(x, 2)
    return total * both.keywords["offset"] * both.args[0] * both(2) + LEVEL[0]
