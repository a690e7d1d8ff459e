"""Operators of deques. One of limited length drops items at its left end, which then have no cotangent."""

from __future__ import annotations

import operator
from collections import deque
from typing import Any

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.operators import sum_of_parts
from microgradpy.rules.registry import examples
from microgradpy.tangents.types import NoTangent


@pullback(operator.add, deque, deque)
def deque_concatenation_pullback(z_bar, x, y, *, z):
    """z = x + y: z_bar is cut where x ends."""
    bars = with_dropped(z_bar, len(x) + len(y))
    return bars[: len(x)], bars[len(x) :]


@pullback(operator.mul, deque, int)
def deque_repetition_pullback(z_bar, x, n, *, z):
    """z = x repeated n times: x_bar is the sum of the n parts of z_bar."""
    return sum_of_parts(with_dropped(z_bar, len(x) * n), len(x), n)


@pullback(operator.mul, int, deque)
def counted_deque_repetition_pullback(z_bar, n, x, *, z):
    """z = x repeated n times: x_bar is the sum of the n parts of z_bar."""
    return NoTangent(), sum_of_parts(with_dropped(z_bar, len(x) * n), len(x), n)


def with_dropped(z_bar: Any, length: int) -> list[Any]:
    """The cotangents of `length` items, of which the last ones are in a deque."""
    return [None] * (length - len(z_bar)) + list(z_bar)


_PAIR = deque([1.0, 2.0])
examples(operator.add, (_PAIR, deque([3.0])), (deque([1.0, 2.0], 3), deque([3.0, 4.0])))
examples(operator.mul, (_PAIR, 2), (3, _PAIR), (deque([1.0, 2.0], 3), 2), (_PAIR, 0))
