"""Lists that get shorter, or other items, while an iterator of the standard library reads them."""

from __future__ import annotations

import itertools

from tests.programs.mutation.table import program

X, N = 0.6, 5


@program(X, N, features="reversed list that gets shorter")
def reversed_while_it_gets_shorter(x, n):
    items, total = [x * k for k in range(1, n + 1)], 0.0
    backwards = reversed(items)
    for item in backwards:
        total = total * 1.1 + item * item
        del items[-2:]
    return total


@program(X, N, features="reversed list, an item inserted")
def reversed_while_items_come(x, n):
    items, total = [x * k for k in range(1, n + 1)], 0.0
    backwards = reversed(items)
    for item in backwards:
        total = total * 1.1 + item * item
        if len(items) < 9:
            items.insert(0, x)
    return total


@program(X, N, features="pairwise, pop")
def pairs_while_items_go(x, n):
    items, total = [x * k for k in range(1, n + 1)], 0.0
    for a, b in itertools.pairwise(items):
        total = total * 1.1 + a * b
        items.pop()
    return total


@program(X, N, features="accumulate, pop from the front")
def sums_while_items_go(x, n):
    items, total = [x * k for k in range(1, n + 1)], 0.0
    for item in itertools.accumulate(items):
        total = total * 1.1 + item * item
        items.pop(0)
    return total


@program(X, N, features="accumulate with a function, slice assignment")
def products_while_items_change(x, n):
    items, total = [x * k for k in range(1, n + 1)], 0.0
    for item in itertools.accumulate(items, lambda a, b: a * b):
        total = total * 1.1 + item
        items[:] = [x * 7.0, x]
    return total


@program(X, N, features="zip_longest, clear")
def longest_of_a_list_that_is_emptied(x, n):
    items, total = [x * k for k in range(1, n + 1)], 0.0
    for a, b in itertools.zip_longest(items, [1.0, 2.0], fillvalue=0.5):
        total = total * 1.1 + a * b
        items.clear()
    return total


@program(X, N, features="combinations of a list that changes")
def combinations_while_items_go(x, n):
    items, total = [x * k for k in range(1, n + 1)], 0.0
    for a, b in itertools.combinations(items, 2):
        total = total * 1.1 + a * b
        if len(items) > 1:
            items.pop()
    return total
