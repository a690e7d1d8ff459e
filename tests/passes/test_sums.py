"""Which sums that begin with a number are computed out of place, and that what they raise is what Python raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import MutationError, code_primal, gradient
from microgradpy.testing import check_gradient

X = np.array([0.5, -1.5])


def in_a_loop(x):
    total = 0.0
    for i in range(3):
        total += np.sin(x) * i
    return np.sum(total * x)


def in_loops_and_branches(x):
    total = 0.0
    for i in range(4):
        if i == 1:
            continue
        for j in range(2):
            if j:
                total -= x * i
            else:
                total += x * x
        if i == 2:
            break
    return np.sum(total * total)


def product(x):
    total = 1.0
    k = 0
    while k < 3:
        total *= x + k
        k += 1
    return np.sum(total)


def read_where_it_is_returned(x):
    total = 0.0
    for i in range(4):
        if i == 2:
            return np.sum(total * x)
        total += x * x
    return np.sum(total)


def kept_under_another_name(x):
    total = 0.0
    old = 0.0
    for _ in range(3):
        old = total
        total += x
    return np.sum(old * total)


def kept_in_a_list(x):
    total = 0.0
    found = []
    for _ in range(3):
        total += x
        found.append(total)
    return np.sum(found[0] * x)


def one_array_under_two_names(x):
    first = second = 0.0
    for i in range(3):
        first += x
        if i == 1:
            second = first
    second += x
    return np.sum(first * second)


def made_outside_of_the_loop(x):
    total = 0.0
    total += x
    for _ in range(2):
        part = total
        part += x
    return np.sum(total * x)


def read_in_the_loop(x):
    total = 0.0
    for _ in range(3):
        total += x
        x = x * np.sum(total)
    return np.sum(total * x)


def calculated_with_before(x):
    total, state = 0.0, x * 2.0
    for i in range(3):
        total += (1.0 - state) ** 2
        state += 0.1 * (x - 0.5 * state) if i else 0.1 * x
    return np.sum(total * state)


def asked_by_a_condition(x):
    total = x * 1.0
    while np.sum(total) < 3.0 and len(total) < 3:
        total += np.abs(x)
    return np.sum(total * x)


def calculated_with_afterwards(x):
    total = x * 1.0
    for _ in range(3):
        old = total
        total += x
        x = x * old
    return np.sum(total * x)


class Kept:
    """Keeps what it is multiplied by, and computes when it is asked."""

    def __init__(self, factor, value=None):
        self.factor, self.value = factor, value

    def __mul__(self, value):
        return Kept(self.factor, value)

    def total(self):
        return np.sum(self.factor * self.value)


def kept_by_an_operator(x):
    kept, total = Kept(3.0), x * 1.0
    later = kept * total
    total += x
    return later.total() + np.sum(total)


UNSEEN = [in_a_loop, in_loops_and_branches, product, read_where_it_is_returned, calculated_with_before]
SEEN = [
    kept_under_another_name,
    kept_in_a_list,
    one_array_under_two_names,
    made_outside_of_the_loop,
    read_in_the_loop,
    asked_by_a_condition,
    calculated_with_afterwards,
    kept_by_an_operator,
]


@pytest.mark.parametrize("f", [*UNSEEN, *SEEN], ids=lambda f: f.__name__)
def test_a_sum_is_written_in_place_only_where_somebody_may_see_it(f: Callable[..., Any]) -> None:
    check_gradient(f, X.copy())
    assert ("check_sum" in code_primal(f, X.copy())) == (f in UNSEEN)


def grows(x):
    total = 0.0
    for i in range(2):
        total += x if i == 0 else np.stack([x, x])
    return np.sum(total)


def becomes_complex(x):
    total = 0.0
    for i in range(2):
        total += x if i == 0 else x * 1j
    return np.sum(np.abs(total))


@pytest.mark.parametrize("f", [grows, becomes_complex], ids=lambda f: f.__name__)
def test_an_array_that_cannot_hold_the_sum(f: Callable[..., Any]) -> None:
    with pytest.raises(Exception) as plain:
        f(X)
    with pytest.raises(type(plain.value)) as raised:
        gradient(f, X)
    assert str(plain.value) in str(raised.value)


def test_a_sum_that_is_rounded_is_refused() -> None:
    def rounded(x):
        total = 0.0
        for i in range(2):
            total += x.astype(np.float32) if i == 0 else x
        return np.sum(total)

    with pytest.raises(MutationError, match="rounded"):
        gradient(rounded, X)
