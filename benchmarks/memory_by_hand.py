"""Loops over numbers and networks with their gradients as a person would write them, of which the memory is compared."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Pair(NamedTuple):
    """A function, its gradient by hand with respect to the arguments `argnums`, and the arguments for so many steps. Of a
    `loop` the memory of a step is compared, else all of it."""

    name: str
    function: Callable[..., Any]
    gradient: Callable[..., Any]
    argnums: tuple[int, ...]
    arguments: Callable[[int], tuple[Any, ...]]
    loop: bool = True


def ode(y: float, k: float, n: int) -> float:
    """Runge and Kutta's method for y' = -k y."""
    h = 0.001
    for _ in range(n):
        k1 = -k * y
        k2 = -k * (y + 0.5 * h * k1)
        k3 = -k * (y + 0.5 * h * k2)
        k4 = -k * (y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def ode_gradient(y: float, k: float, n: int) -> tuple[float, float]:
    h, ys = 0.001, []
    for _ in range(n):
        ys.append(y)
        k1 = -k * y
        k2 = -k * (y + 0.5 * h * k1)
        k3 = -k * (y + 0.5 * h * k2)
        k4 = -k * (y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    y_bar, k_bar = 1.0, 0.0
    for y in reversed(ys):
        y2 = y + 0.5 * h * -k * y
        y3 = y + 0.5 * h * -k * y2
        y4 = y + h * -k * y3
        k4_bar = h / 6 * y_bar
        y4_bar = -k * k4_bar
        k3_bar = 2 * k4_bar + h * y4_bar
        y3_bar = -k * k3_bar
        k2_bar = 2 * k4_bar + 0.5 * h * y3_bar
        y2_bar = -k * k2_bar
        k1_bar = k4_bar + 0.5 * h * y2_bar
        k_bar -= k4_bar * y4 + k3_bar * y3 + k2_bar * y2 + k1_bar * y
        y_bar += y4_bar + y3_bar + y2_bar - k * k1_bar
    return y_bar, k_bar


def logistic(x: float, r: float, n: int) -> float:
    for _ in range(n):
        x = r * x * (1 - x)
    return x


def logistic_gradient(x: float, r: float, n: int) -> tuple[float, float]:
    xs = []
    for _ in range(n):
        xs.append(x)
        x = r * x * (1 - x)
    x_bar, r_bar = 1.0, 0.0
    for x in reversed(xs):
        r_bar += x_bar * x * (1 - x)
        x_bar *= r * (1 - 2 * x)
    return x_bar, r_bar


def newton(x: float, w: float, n: int) -> float:
    y, k = x, 0
    while k < n:
        y, k = 0.5 * (y + w / y) + 1e-3 * y, k + 1
    return y


def newton_gradient(x: float, w: float, n: int) -> tuple[float, float]:
    y, ys = x, []
    while len(ys) < n:
        ys.append(y)
        y = 0.5 * (y + w / y) + 1e-3 * y
    y_bar, w_bar = 1.0, 0.0
    for y in reversed(ys):
        w_bar += 0.5 * y_bar / y
        y_bar *= 0.501 - 0.5 * w / (y * y)
    return y_bar, w_bar


def predators(u: float, rate: float, n: int) -> float:
    """Lotka and Volterra, by Euler's method."""
    h, v = 1e-3, 1.0
    for _ in range(n):
        du, dv = rate * u - 0.4 * u * v, 0.1 * u * v - 0.4 * v
        u, v = u + h * du, v + h * dv
    return u * v


def predators_gradient(u: float, rate: float, n: int) -> tuple[float, float]:
    h, v, states = 1e-3, 1.0, []
    for _ in range(n):
        states.append((u, v))
        du, dv = rate * u - 0.4 * u * v, 0.1 * u * v - 0.4 * v
        u, v = u + h * du, v + h * dv
    u_bar, v_bar, rate_bar = v, u, 0.0
    for u, v in reversed(states):
        du_bar, dv_bar = h * u_bar, h * v_bar
        rate_bar += du_bar * u
        u_bar += du_bar * (rate - 0.4 * v) + dv_bar * 0.1 * v
        v_bar += dv_bar * (0.1 * u - 0.4) - du_bar * 0.4 * u
    return u_bar, rate_bar


def losses(a: float, b: float, xs: list[float], ys: list[float]) -> float:
    loss = 0.0
    for x, y in zip(xs, ys, strict=True):
        error = a * x + b - y
        loss += error * error
    return loss / len(xs)


def losses_gradient(a: float, b: float, xs: list[float], ys: list[float]) -> tuple[float, float]:
    errors = []
    for x, y in zip(xs, ys, strict=True):
        errors.append(a * x + b - y)
    a_bar = b_bar = 0.0
    for x, error in zip(reversed(xs), reversed(errors), strict=True):
        error_bar = 2.0 * error / len(xs)
        a_bar += error_bar * x
        b_bar += error_bar
    return a_bar, b_bar


def branches(t: float, leak: float, n: int) -> float:
    for _ in range(n):
        if t > 0.3:
            t = t - 0.1 * leak * t
        else:
            t = t + 0.2
    return t * t


def branches_gradient(t: float, leak: float, n: int) -> tuple[float, float]:
    ts = []
    for _ in range(n):
        ts.append(t)
        t = t - 0.1 * leak * t if t > 0.3 else t + 0.2
    t_bar, leak_bar = 2.0 * t, 0.0
    for t in reversed(ts):
        if t > 0.3:
            leak_bar -= 0.1 * t_bar * t
            t_bar -= 0.1 * leak * t_bar
    return t_bar, leak_bar


def network(W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, b3: Any, x: Any, y: Any) -> Any:
    h1 = np.tanh(x @ W1 + b1)
    h2 = np.tanh(h1 @ W2 + b2)
    return np.mean((h2 @ W3 + b3 - y) ** 2)


def network_gradient(W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, b3: Any, x: Any, y: Any) -> tuple[Any, ...]:
    h1 = np.tanh(x @ W1 + b1)
    h2 = np.tanh(h1 @ W2 + b2)
    d = h2 @ W3 + b3 - y
    z_bar = 2.0 / d.size * d
    W3_bar, b3_bar = h2.T @ z_bar, z_bar.sum(axis=0)
    z_bar = (z_bar @ W3.T) * (1.0 - h2 * h2)
    W2_bar, b2_bar = h1.T @ z_bar, z_bar.sum(axis=0)
    z_bar = (z_bar @ W2.T) * (1.0 - h1 * h1)
    return x.T @ z_bar, z_bar.sum(axis=0), W2_bar, b2_bar, W3_bar, b3_bar


def rectified(W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, b3: Any, x: Any, y: Any) -> Any:
    h1 = np.maximum(x @ W1 + b1, 0.0)
    h2 = np.maximum(h1 @ W2 + b2, 0.0)
    return np.mean((h2 @ W3 + b3 - y) ** 2)


def rectified_gradient(W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, b3: Any, x: Any, y: Any) -> tuple[Any, ...]:
    h1 = np.maximum(x @ W1 + b1, 0.0)
    h2 = np.maximum(h1 @ W2 + b2, 0.0)
    d = h2 @ W3 + b3 - y
    z_bar = 2.0 / d.size * d
    W3_bar, b3_bar = h2.T @ z_bar, z_bar.sum(axis=0)
    z_bar = (z_bar @ W3.T) * (h2 > 0.0)
    W2_bar, b2_bar = h1.T @ z_bar, z_bar.sum(axis=0)
    z_bar = (z_bar @ W2.T) * (h1 > 0.0)
    return x.T @ z_bar, z_bar.sum(axis=0), W2_bar, b2_bar, W3_bar, b3_bar


def classes(W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, b3: Any, x: Any, y: Any) -> Any:
    """The cross entropy of classes `y`, one row of ones and zeros for each sample."""
    h1 = np.tanh(x @ W1 + b1)
    h2 = np.tanh(h1 @ W2 + b2)
    z = h2 @ W3 + b3
    z = z - np.max(z, axis=1, keepdims=True)
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.sum(log_p * y) / len(y)


def classes_gradient(W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, b3: Any, x: Any, y: Any) -> tuple[Any, ...]:
    h1 = np.tanh(x @ W1 + b1)
    h2 = np.tanh(h1 @ W2 + b2)
    z = h2 @ W3 + b3
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    z_bar = (e / np.sum(e, axis=1, keepdims=True) - y) / len(y)
    W3_bar, b3_bar = h2.T @ z_bar, z_bar.sum(axis=0)
    z_bar = (z_bar @ W3.T) * (1.0 - h2 * h2)
    W2_bar, b2_bar = h1.T @ z_bar, z_bar.sum(axis=0)
    z_bar = (z_bar @ W2.T) * (1.0 - h1 * h1)
    return x.T @ z_bar, z_bar.sum(axis=0), W2_bar, b2_bar, W3_bar, b3_bar


def _points(n: int) -> tuple[Any, ...]:
    xs = [math.sin(k) for k in range(n)]
    return 1.0, 0.5, xs, [2.0 * x + 1.0 for x in xs]


def _layers(n: int) -> tuple[Any, ...]:
    random = np.random.default_rng(0)
    sizes = (64, 128), (128, 128), (128, 10)
    weights = [each for size in sizes for each in (0.1 * random.standard_normal(size), np.zeros(size[1]))]
    return *weights, random.standard_normal((n, 64)), np.eye(10)[random.integers(0, 10, n)]


PAIRS = (
    Pair("RK4 of one number", ode, ode_gradient, (0, 1), lambda n: (1.0, 0.5, n)),
    Pair("logistic map", logistic, logistic_gradient, (0, 1), lambda n: (0.3, 3.2, n)),
    Pair("Newton, `while`", newton, newton_gradient, (0, 1), lambda n: (1.0, 1.1, n)),
    Pair("predators and prey", predators, predators_gradient, (0, 1), lambda n: (1.0, 1.1, n)),
    Pair("sum of losses", losses, losses_gradient, (0, 1), _points),
    Pair("two branches", branches, branches_gradient, (0, 1), lambda n: (1.0, 0.5, n)),
    Pair("network, mean squares", network, network_gradient, tuple(range(6)), _layers, loop=False),
    Pair("network, rectified", rectified, rectified_gradient, tuple(range(6)), _layers, loop=False),
    Pair("network, cross entropy", classes, classes_gradient, tuple(range(6)), _layers, loop=False),
)
