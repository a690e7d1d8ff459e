"""Blocks under generators that `contextlib.contextmanager` has made contexts of."""

from __future__ import annotations

import contextlib
import math

from tests.programs.mutation.table import program

X, B, N = 0.8, 0.4, 4


@contextlib.contextmanager
def scaled(state, factor):
    before = state["k"]
    state["k"] = before * factor
    try:
        yield state
    finally:
        state["k"] = before


@program(X, B, N, features="contextmanager that restores an entry, in a loop")
def entry_for_a_block(a, b, n):
    state, total = {"k": a}, 0.0
    for i in range(n):
        with scaled(state, b) as s:
            total += s["k"] * i
        total += math.sin(state["k"])
    return total


@program(X, B, features="try, contextmanager that restores, block that raises")
def entry_restored_by_an_exception(a, b):
    state = {"k": a}
    try:
        with scaled(state, b) as s:
            total = s["k"] * a
            s["k"] = total
            if total < 9.0:
                raise ValueError("small")
    except ValueError:
        return state["k"] * b
    return total


class Model:
    def __init__(self, k):
        self.k = k

    @contextlib.contextmanager
    def boosted(self, factor):
        before = self.k
        self.k = self.k * factor
        try:
            yield self
        finally:
            self.k = before


@program(X, B, N, features="method under contextmanager")
def field_for_a_block(a, b, n):
    model, total = Model(a), 0.0
    for i in range(n):
        with model.boosted(b):
            total += model.k * (i + 1)
        total += math.sin(model.k)
    return total


@contextlib.contextmanager
def without_finally(state, factor):
    before = state["k"]
    state["k"] = before * factor
    yield factor * factor
    state["k"] = before + 1.0


@program(X, B, features="contextmanager without try")
def block_that_ends(a, b):
    state = {"k": a}
    with without_finally(state, b) as square:
        total = state["k"] * square
    return total * state["k"]


@program(X, B, features="try, contextmanager without try, block that raises")
def block_that_raises_leaves_it_as_it_is(a, b):
    state = {"k": a}
    try:
        with without_finally(state, b) as square:
            state["k"] *= square
            raise KeyError("k")
    except KeyError:
        pass
    return state["k"] * a


@contextlib.contextmanager
def swallowing(state):
    try:
        yield state
    except ValueError:
        state["k"] = state["k"] * 3.0


@program(X, B, features="try, contextmanager that goes on after an exception")
def exception_that_ends_in_a_generator(a, b):
    state = {"k": a}
    with swallowing(state) as s:
        s["k"] = s["k"] * b
        raise ValueError("k")
    return state["k"] * a


@contextlib.contextmanager
def collecting(start):
    found = [start]
    yield found


@program(X, B, N, features="contextmanager that gives a list, two at once")
def lists_for_blocks(a, b, n):
    total = 0.0
    for i in range(n):
        with collecting(a) as xs, collecting(b) as ys:
            xs.append(a * i)
            ys.append(xs[-1] * b)
        total += sum(xs) * ys[-1]
    return total


@program(X, B, N, features="contextmanager, break and continue in the block")
def blocks_that_are_left(a, b, n):
    state, total = {"k": a}, 0.0
    for i in range(n):
        with scaled(state, b) as s:
            if i == 1:
                continue
            total += s["k"] * (i + 1)
            if i == 2:
                break
        total += state["k"]
    return total * state["k"]


@program(X, B, features="contextmanager, return in the block")
def block_that_returns(a, b):
    state = {"k": a}

    def inner():
        with scaled(state, b) as s:
            return s["k"] * b

    return inner() * state["k"]


@contextlib.contextmanager
def in_a_branch(state, factor):
    if factor > 0.0:
        yield state["k"] * factor
    else:
        yield state["k"]


@program(X, B, features="contextmanager with two yields")
def one_of_two_yields(a, b):
    state = {"k": a}
    with in_a_branch(state, b) as k:
        total = k * a
    return total


@program(X, B, features="contextmanager that is made before it is entered, and nested")
def contexts_in_each_other(a, b):
    state = {"k": a}
    outer = scaled(state, b)
    state["k"] = state["k"] * 2.0
    with outer as s, scaled(s, a) as t:
        total = t["k"]
    return total * state["k"]


@contextlib.contextmanager
def returning_early(state):
    if state["k"] > 5.0:
        state["k"] = 1.0
    before = state["k"]
    yield before
    if before > 2.0:
        return
    state["k"] = before * before


@program(X, B, features="contextmanager that returns early")
def generator_that_returns_early(a, b):
    state = {"k": a}
    with returning_early(state) as k:
        total = k * b
    return total * state["k"]
