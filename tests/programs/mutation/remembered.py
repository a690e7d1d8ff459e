"""Functions with an `lru_cache`: what a run computes once, and reads again."""

from __future__ import annotations

import functools

import numpy as np

from tests.programs.mutation.table import V3, K, program


@functools.lru_cache
def polynomial(n, x):
    return x if n < 2 else polynomial(n - 1, x) + polynomial(n - 2, x) * x


@program(K, features="lru_cache, recursion")
def recursion_with_a_cache(x):
    return polynomial(30, x) + polynomial(3, x)


@functools.lru_cache(maxsize=None, typed=True)
def power(x, *, k=2.0):
    return x**k


@program(K, features="lru_cache, keyword")
def keywords_and_types_are_keys(x):
    return power(x) + power(x, k=3.0) * power(x, k=3.0) + power(1) + power(1.0) * x


@functools.cache
def pair(x):
    return [x * x, x]


@program(K, features="cache, list append, list setitem")
def remembered_list_is_written(x):
    # The plain call would find what an earlier one has written: each call makes its own entry.
    pair.cache_clear()
    first, second = pair(x), pair(x)
    first.append(3.0 * x)
    second[0] = second[0] * 2.0
    return sum(pair(x)) * first[0]


class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    @functools.lru_cache  # noqa: B019 - what people write
    def force(self, length):
        return -self.stiffness * length


@program(K, features="lru_cache, method, attribute")
def method_with_a_cache(x):
    spring = Spring(x)
    total = spring.force(2.0) * spring.force(x)
    spring.stiffness = 5.0
    return total * spring.force(2.0)


@program(K, features="cache, closure, recursion")
def nested_function_with_a_cache(x):
    @functools.cache
    def term(n):
        return x if n == 0 else term(n - 1) * x + n

    return term(5) + term(3)


@functools.cache
def risky(x):
    if x > 0.5:
        raise ValueError(x)
    return x * x


@program(K, features="cache, try")
def nothing_is_remembered_of_an_exception(x):
    try:
        return risky(x)
    except ValueError:
        return risky(x / 4.0) * x + risky(x / 4.0)


@functools.lru_cache(maxsize=0)
def forgetful(x, log=[]):  # noqa: B006 - it is to be seen how often it runs
    log.append(x)
    return x * len(log)


@program(K, features="lru_cache without a place, list append")
def cache_without_a_place(x):
    forgetful.__wrapped__.__defaults__[0].clear()
    return forgetful(x) + forgetful(x) + forgetful(x)


@functools.cache
def nodes(n):
    return np.linspace(0.0, 1.0, n)


@program(V3, features="cache, constants")
def constants_with_a_cache(x):
    before = nodes.cache_info().hits + nodes.cache_info().misses
    y = np.sum(nodes(3) * x) * nodes(4)[1]
    return y * (nodes.cache_info().hits + nodes.cache_info().misses - before)


@program(K, features="lru_cache, functions in a list")
def functions_with_a_cache_in_a_list(x):
    total = 0.0
    for f in [power, pair, functools.partial(polynomial, 4)]:
        found = f(x)
        total += found if not isinstance(found, list) else found[1]
    return total
