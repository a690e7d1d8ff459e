"""Programs that pass functions around and read iterators: map and its kin, functools, itertools, operator."""

from __future__ import annotations

import copy
import functools
import itertools
import math
import operator

import numpy as np

from tests.programs.objects import POINT, SEGMENT, Point
from tests.programs.table import program

VALUES = [0.5, 1.5, 2.5]


def square(v):
    print("square", v)
    return v * v


def is_large(v):
    print("is_large", v)
    return v > 1.0


@program(VALUES, 0.7, features="map, filter")
def maps_and_filters(values, x):
    total = sum(map(square, values)) + sum(filter(is_large, values), x)
    total = total + sum(filter(None, [x, 0.0, x * x])) * max(map(lambda v: v * x, values))
    for v, w in map(lambda a, b: (a * b, a + x), values, (x, x * x)):
        print("body")
        total = total + v * w
    return total + list(map(math.sin, values))[-1] * sorted(map(square, values), key=operator.neg)[0]


@program(VALUES, features="map of several sources, read in order")
def maps_in_order(values):
    def noted(name):
        def f(v):
            print(name, v)
            return v * len(name)

        return f

    total = 0.0
    for a, b in zip(map(noted("a"), values), map(noted("bb"), reversed(values))):
        print("body")
        total = total + a * b
    pairs = enumerate(map(noted("ccc"), values), 1)
    chosen = max(map(noted("dd"), values), key=noted("e"))
    return total + sum([k * v for k, v in pairs]) * chosen * min(map(noted("f"), values), default=0.0)


@program(VALUES, 0.7, features="an iterator that is left early")
def leaves_an_iterator(values, x):
    items = map(square, itertools.chain(values, [x, x]))
    total = x
    for v in items:
        if v > 2.0:
            break
        total = total + v * x
    any_large = any(map(is_large, values))
    return total * (2.0 if any_large and all(map(is_large, [x + 1.0])) else 1.0)


@program(VALUES, features="iter and next")
def takes_items_by_hand(values):
    items = iter(values)
    first = next(items)
    second = next(items)
    third, fourth = next(items, first), next(items, second * 2.0)
    return first * second + third * fourth


@program(VALUES, features="functools.reduce")
def reduces(values):
    product = functools.reduce(operator.mul, values)
    chained = functools.reduce(lambda a, b: a * b + values[0], values, product)
    return product * chained + functools.reduce(operator.add, [], product)


@program(VALUES, 0.7, features="zip, enumerate, reversed as values")
def iterators_as_values(values, x):
    pairs = zip(values, [x, x * x, 1.0])
    numbered = list(enumerate(reversed(values)))
    total = sum([a * b for a, b in pairs]) + numbered[0][1] * numbered[2][1]
    d = dict(zip(["a", "b", "c"], values))
    first, *rest = reversed(values)
    return total * d["a"] + d["c"] * first + rest[0] * sum(reversed((x, d["b"])))


@program(VALUES, 0.7, features="itertools.chain, islice, accumulate")
def itertools_in_a_row(values, x):
    total = 0.0
    for k, v in enumerate(itertools.chain(values, (x,), [])):
        total = total + v * k
    total = total + sum(itertools.islice(values, 1, None)) * sum(itertools.chain.from_iterable([values, (x, 2.0)]))
    for v in itertools.accumulate(values):
        total = total * 0.5 + v * v
    products = list(itertools.accumulate(values, operator.mul))
    mixed = list(itertools.accumulate(values, lambda a, b: a * x + b, initial=x))
    return total + products[-1] * products[1] + mixed[-1] * mixed[0]


@program(VALUES, 0.7, features="itertools.product, permutations, combinations, pairwise")
def itertools_that_combine(values, x):
    total = 0.0
    for a, b in itertools.product(values, (x, 2.0)):
        total = total + a * b * b
    for a, b in itertools.combinations(values, 2):
        total = total + a**2 * b
    for a, b in itertools.permutations([x, 2.0 * x, 1.0], 2):
        total = total + a / b
    total = total + sum([a * b for a, b in itertools.pairwise(values)])
    total = total + sum([a * b * c for a, b, c in itertools.product([x, 3.0], repeat=3)])
    return total + sum([a - b * b for a, b in itertools.combinations_with_replacement(values, 2)])


@program(VALUES, 0.7, features="itertools.takewhile, dropwhile, compress, starmap, repeat, zip_longest, groupby")
def itertools_that_choose(values, x):
    total = sum(itertools.takewhile(lambda v: v < 2.0, values)) * x
    total = total + sum(itertools.dropwhile(is_large, values[::-1])) * sum(itertools.filterfalse(is_large, values))
    total = total + sum(itertools.compress(values, [1, 0, 1])) ** 2
    total = total + sum(itertools.starmap(lambda a, b: a * b * x, [(x, 2.0), [values[0], x]]))
    total = total + sum([a * b for a, b in zip(values, itertools.repeat(x))])
    total = total + sum([a * b for a, b in itertools.zip_longest(values, [x, 2.0], fillvalue=x * x)])
    total = total + sum([a * b for a, b in zip(itertools.cycle([x, 1.0]), values)])
    for is_big, group in itertools.groupby(values, lambda v: v > 1.0):
        total = total + sum([v * x for v in group]) * (2.0 if is_big else 1.0)
    return total


@program(np.array(VALUES), features="iterators over arrays")
def iterators_over_arrays(x):
    total = sum(map(lambda v: v**2, x)) + sum([a * b for a, b in itertools.pairwise(x)])
    return total + sum([a * b for a, b in zip(iter(x), reversed(x))])


@program({"a": 0.5, "b": 1.5}, features="dict.values in a loop, map over a dict")
def loops_over_the_values_of_a_dict(d):
    total = 0.0
    for v in d.values():
        total = total + v * v
    for pair in d.items():
        total = total + pair[1] ** 3
    for key in map(str, d):
        total = total + d[key]
    return total * sum(map(lambda v: v * 2.0, d.values()))


@program(VALUES, {"a": 0.5, "b": 1.5}, features="itertools.zip_longest of a dict")
def values_of_a_dict_that_are_only_compared(values, d):
    kept = [v for _ in d.values() for v, limit in itertools.zip_longest(list(values), d.values(), fillvalue=0.7) if limit < 1.0]
    return sum(kept)


@program(VALUES, {"a": 0.5, "b": 1.5}, features="dict.values in a loop that is not entered")
def values_of_a_dict_that_nobody_reads(values, d):
    views = d.values()
    items = iter(list(values))
    total = sum([v * v for v in items])
    for v in items:
        total = total + v * sum([value * v for value in views])
    return total


@program(0.7, 1.3, features="functools.partial")
def partial_inside(x, y):
    power = functools.partial(pow, x)
    line = functools.partial(lambda a, b, *, c: a * b + c, y, c=x)
    nested = functools.partial(line, x * y, c=2.0 * y)
    return power(3.0) * line(x) + nested() * line(2.0, c=x) + sum(map(functools.partial(operator.mul, x), [y, 2.0]))


@program({"a": 0.5, "b": 1.5}, [2.0, 3.0], POINT, SEGMENT, features="operator.itemgetter, attrgetter, methodcaller")
def getters(d, values, p, s):
    both = operator.itemgetter("a", "b", "a")(d)
    corners = operator.attrgetter("start.x", "end.y")(s)
    total = both[0] * both[1] + both[2] ** 2 + corners[0] * corners[1] + operator.itemgetter(1)(values)
    norms = operator.methodcaller("norm")(p) * operator.methodcaller("shifted_norm", 2.0, scale=3.0)(p)
    return total + norms * operator.attrgetter("y")(p) + sum(map(operator.attrgetter("x"), [p, s.end]))


@program(VALUES, 0.7, features="key of sorted, max and min; default")
def keys_and_defaults(values, x):
    total = sorted(values, key=lambda v: -v * x)[0] * x + max(values, key=lambda v: v * (2.2 - v))
    total = total + max([], default=x) * min([x, x * x], default=5.0, key=abs) + min(x, 2.0 * x, values[0], key=abs)
    return total + sum([values, [x]], [2.0])[3] * sum(values, start=x * x) + max(values, default=x)


@program(0.7, features="dict with keywords, dict.fromkeys")
def dicts_by_keyword(x):
    d = dict(a=x, b=x * x)
    e = dict({"a": 2.0 * x, "c": x}, a=3.0 * x, **d) if "c" in d else dict({"a": 2.0 * x, "c": x}, b=3.0 * x)
    f = dict.fromkeys(("p", "q"), x * x)
    return d["a"] * d["b"] + e["a"] * e["b"] * e["c"] + f["p"] * f["q"] * x


@program([0.5, [1.5, 2.5]], {"w": np.array(VALUES)}, features="copy.copy, copy.deepcopy")
def copies(nested, d):
    shallow, deep = copy.copy(nested), copy.deepcopy(nested)
    arrays = copy.deepcopy(d)
    return shallow[0] * deep[1][0] + deep[1][1] * shallow[1][0] + np.sum(arrays["w"] * d["w"]) * copy.copy(nested[0])


@program(POINT, features="copy of an object")
def copies_an_object(p):
    q, r = copy.copy(p), copy.deepcopy(p)
    return q.x * r.y + r.norm() * p.x


@functools.singledispatch
def area(shape):
    return shape * shape


@area.register
def _(shape: Point):
    return shape.x * shape.y


@area.register(list)
def _(shape):
    return sum(map(area, shape))


@program(POINT, 0.7, features="functools.singledispatch")
def dispatches_on_the_class(p, x):
    return area(p) * area(x) + area([p, x])


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        print(function.__name__)
        return 2.0 * function(*args, **kwargs)

    return wrapper


@doubled
@doubled
def decorated(x, *, y=1.0):
    return x * x * y


@program(0.7, features="decorators with functools.wraps")
def calls_decorated_functions(x):
    return decorated(x) * x + decorated(x, y=x)


@program(0.7, features="functions passed and returned")
def composes_functions(x):
    def compose(*functions):
        def composed(t):
            for f in functions:
                t = f(t)
            return t

        return composed

    twice = compose(math.sin, lambda t: t * x, square)
    table = {"f": compose(twice, twice), "g": [square, compose()]}
    return table["f"](x) * table["g"][0](x) + table["g"][1](x)


@program(0.7, features="text methods on numbers")
def formats_numbers(x):
    text = "{:.2f} {}".format(x, x > 0.5) + f"{x:.1f}" + "%.3f" % x + str(x)  # noqa: UP032, UP031
    print(text, repr(x), format(x, ".2f"))
    return x * len("{}".format("ab")) * x  # noqa: UP032


class Growing:
    """An iterator that changes with every item."""

    def __init__(self, x, length):
        self.x = x
        self.left = length

    def __iter__(self):
        return self

    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        self.x *= 1.1
        return self.x * (1 + self.left)


@program(1.3, features="unpacking of an iterator that writes")
def takes_an_iterator_apart(x):
    steps = Growing(x, 3)
    first, second, third = steps
    (a, b), (c, _) = zip(Growing(x, 2), Growing(x * x, 3))
    return first * third * steps.x + second * a * b * c


@program(1.3, features="unpacking of an iterator that writes")
def takes_a_map_that_writes_apart(x):
    product = [x]

    def scaled(factor):
        product[0] *= factor
        return product[0] * factor

    _, b, c = map(scaled, [x, x * x, 2.0])
    return b * c * product[0]
