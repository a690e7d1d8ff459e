"""The texts of higher orders: what they look like, and how long they are."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import code_adjoint, code_primal, grad

Example = tuple[Callable[..., Any], tuple[Any, ...]]


def smooth(x):
    y = x * math.sin(x)
    return y * y


def looped(x):
    r = 1.0
    for k in range(5):
        r = r * x + k
    return r


def layer(p, x):
    return np.sum(np.tanh(x @ p) ** 2)


def longer(x):
    y = x * math.sin(x)
    y = y * math.exp(-y)
    z = y / (1.0 + x * x)
    w = math.cos(z) * y
    return w * z + math.sqrt(1.0 + w * w)


def test_the_second_order_reads_as_if_written_by_hand() -> None:
    assert code_adjoint(grad(smooth), 1.0) == SECOND_ORDER
    assert code_primal(grad(smooth), 1.0) == PUSHFORWARD


PUSHFORWARD = """\
def smooth_primal(x, x_dot):
    sin_x = math.sin(x)
    y = x * sin_x
    sin_x_dot = x_dot * math.cos(x)
    y_dot = x_dot * sin_x + x * sin_x_dot
    return (y * y, 2.0 * (y_dot * y)), (x, x_dot, sin_x, y, sin_x_dot, y_dot)
"""
SECOND_ORDER = """\
def smooth_adjoint(saved, y_bar):
    x, x_dot, sin_x, y, sin_x_dot, y_dot = saved
    # return y * y
    product_bar, product_dot_bar = y_bar
    product_bar_1 = product_dot_bar * 2.0
    y_dot_bar = product_bar_1 * y
    y_bar = product_bar_1 * y_dot
    y_bar += 2.0 * (product_bar * y)
    # y = x * math.sin(x)
    x_bar = y_dot_bar * sin_x_dot
    x_bar -= y_dot_bar * x * x_dot * math.sin(x)
    x_bar += y_bar * sin_x
    x_bar += (y_dot_bar * x_dot + y_bar * x) * math.cos(x)
    return x_bar
"""


def statements(text: str) -> int:
    return sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(text)))


def lengths(f: Callable[..., Any], args: tuple[Any, ...]) -> list[int]:
    """The statements of the primal and the adjoint of each order up to the fourth."""
    found = []
    for _ in range(4):
        found.append(statements(code_primal(f, *args, argnums=0)) + statements(code_adjoint(f, *args, argnums=0)))
        f = grad(f)
    return found


@pytest.mark.parametrize(("f", "args", "recorded"), [
    (smooth, (1.0,), [10, 18, 40, 96]),
    (looped, (1.0,), [15, 22, 38, 77]),
    (layer, (np.ones((3, 2)), np.ones((4, 3))), [7, 15, 32, 80]),
    (longer, (1.0,), [27, 73, 202, 618]),
])  # fmt: skip
def test_each_order_is_at_most_four_times_the_one_before(f: Any, args: Any, recorded: list[int]) -> None:
    found = lengths(f, args)
    assert found == recorded
    assert all(higher <= 4 * lower for lower, higher in itertools.pairwise(found))
