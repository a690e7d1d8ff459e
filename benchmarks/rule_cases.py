"""Twenty common functions: a loss of each, and its value and gradients as one would write them by hand.

The losses are `np.sum(f(x) * c)` for a constant `c`, so that no cotangent is a constant array. Every function takes `x`, `y`
and `c`, and differentiates the first `count` of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class RuleCase:
    """One function: `by_hand` returns the value and the gradients of `loss` in its first `count` arguments. `is_matrix`: the
    arguments are square matrices."""

    name: str
    loss: Callable[..., Any]
    by_hand: Callable[..., tuple[Any, ...]]
    count: int
    is_matrix: bool

    def __str__(self) -> str:
        return self.name

    def arguments(self, size: int) -> tuple[Any, Any, Any]:
        draw = np.random.default_rng(size)
        side = max(2, round(size**0.5))
        shape = (side, side) if self.is_matrix else (size,)
        x, y, c = (draw.uniform(0.5, 1.5, shape) for _ in range(3))
        return (x + side * np.eye(side) if self.name == "linalg.solve" else x), y, c


CASES: list[RuleCase] = []


def _case(name: str, loss: Callable[..., Any], count: int = 1, is_matrix: bool = False) -> Callable[..., Any]:
    def add(by_hand: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
        CASES.append(RuleCase(name, loss, by_hand, count, is_matrix))
        return by_hand

    return add


@_case("exp", lambda x, y, c: np.sum(np.exp(x) * c))
def _exp(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    product = np.exp(x) * c
    return np.sum(product), product


@_case("log", lambda x, y, c: np.sum(np.log(x) * c))
def _log(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    return np.sum(np.log(x) * c), c / x


@_case("sin", lambda x, y, c: np.sum(np.sin(x) * c))
def _sin(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    return np.sum(np.sin(x) * c), c * np.cos(x)


@_case("tanh", lambda x, y, c: np.sum(np.tanh(x) * c))
def _tanh(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    t = np.tanh(x)
    return np.sum(t * c), c * (1.0 - t * t)


@_case("sqrt", lambda x, y, c: np.sum(np.sqrt(x) * c))
def _sqrt(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    root = np.sqrt(x)
    return np.sum(root * c), 0.5 * c / root


@_case("+", lambda x, y, c: np.sum((x + y) * c), count=2)
def _add(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    return np.sum((x + y) * c), c.copy(), c.copy()


@_case("*", lambda x, y, c: np.sum(x * y * c), count=2)
def _multiply(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    return np.sum(x * y * c), y * c, x * c


@_case("/", lambda x, y, c: np.sum(x / y * c), count=2)
def _divide(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    quotient = x / y
    x_bar = c / y
    return np.sum(quotient * c), x_bar, -x_bar * quotient


@_case("** 2", lambda x, y, c: np.sum(x**2 * c))
def _square(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    return np.sum(x**2 * c), 2.0 * x * c


@_case("sum", lambda x, y, c: np.sum(np.sum(x, axis=0) * c[0]), is_matrix=True)
def _sum(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    return np.sum(np.sum(x, axis=0) * c[0]), np.broadcast_to(c[0], x.shape).copy()


@_case("mean", lambda x, y, c: np.sum(np.mean(x, axis=0) * c[0]), is_matrix=True)
def _mean(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    return np.sum(np.mean(x, axis=0) * c[0]), np.broadcast_to(c[0] / len(x), x.shape).copy()


@_case("max", lambda x, y, c: np.sum(np.max(x, axis=0) * c[0]), is_matrix=True)
def _max(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    largest = np.max(x, axis=0)
    is_largest = x == largest
    return np.sum(largest * c[0]), is_largest * (c[0] / np.sum(is_largest, axis=0))


@_case("@", lambda x, y, c: np.sum(x @ y * c), count=2, is_matrix=True)
def _matmul(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    return np.sum(x @ y * c), c @ y.T, x.T @ c


@_case("dot", lambda x, y, c: np.dot(x, y) * 2.0, count=2)
def _dot(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    return np.dot(x, y) * 2.0, 2.0 * y, 2.0 * x


@_case("reshape, transpose", lambda x, y, c: np.sum(np.transpose(np.reshape(x, (len(x), -1))) * c), is_matrix=True)
def _transpose(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    return np.sum(x.reshape(len(x), -1).T * c), c.T.reshape(x.shape).copy()


@_case("concatenate", lambda x, y, c: np.sum(np.concatenate((x * c, y * c)) ** 2), count=2)
def _concatenate(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    joined = np.concatenate((x * c, y * c))
    joined_bar = 2.0 * joined
    return np.sum(joined**2), joined_bar[: len(x)] * c, joined_bar[len(x) :] * c


@_case("where", lambda x, y, c: np.sum(np.where(c > 1.0, x, y) * c), count=2)
def _where(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    condition = c > 1.0
    return np.sum(np.where(condition, x, y) * c), np.where(condition, c, 0.0), np.where(condition, 0.0, c)


@_case("maximum", lambda x, y, c: np.sum(np.maximum(x, y) * c), count=2)
def _maximum(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    share = ((x > y) + 0.5 * (x == y)) * c
    return np.sum(np.maximum(x, y) * c), share, c - share


@_case("cumsum", lambda x, y, c: np.sum(np.cumsum(x) * c))
def _cumsum(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    return np.sum(np.cumsum(x) * c), np.cumsum(c[::-1])[::-1]


@_case("linalg.solve", lambda x, y, c: np.sum(np.linalg.solve(x, y) * c), count=2, is_matrix=True)
def _solve(x: Any, y: Any, c: Any) -> tuple[Any, ...]:
    z = np.linalg.solve(x, y)
    y_bar = np.linalg.solve(x.T, c)
    return np.sum(z * c), -y_bar @ z.T, y_bar
