"""The programs of `benchmarks.jacobians`, and what one would write by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# Systems with few entries


def bands(u: Any) -> Any:
    """Diffusion with a reaction: each unknown meets its neighbours."""
    inner = u[2:] - 2.0 * u[1:-1] + u[:-2] + np.exp(-u[1:-1])
    return np.concatenate([u[:1] - 1.0, inner, u[-1:]])


def bands_in_place(u: Any) -> Any:
    r = np.empty_like(u)
    r[1:-1] = u[2:] - 2.0 * u[1:-1] + u[:-2] + np.exp(-u[1:-1])
    r[0], r[-1] = u[0] - 1.0, u[-1]
    return r


def bands_by_items(u: Any) -> Any:
    r = [u[0] - 1.0]
    for k in range(1, len(u) - 1):
        r.append(u[k + 1] - 2.0 * u[k] + u[k - 1] + u[k] ** 2)
    r.append(u[-1])
    return np.array(r)


def grid(x: Any) -> Any:
    n = int(np.sqrt(x.size))
    u = np.pad(x.reshape(n, n), 1)
    inner = u[1:-1, 1:-1]
    return (u[1:-1, 2:] + u[1:-1, :-2] + u[2:, 1:-1] + u[:-2, 1:-1] - 4.0 * inner - inner**3).ravel()


# Functions of numbers


RATES = np.linspace(0.1, 1.0, 20)


def recurrence(p: Any) -> Any:
    y, states = 0.0, []
    for k in range(100):
        y = 0.5 * y + p[k % 20] * np.sin(y) + p[(k + 1) % 20]
        if k % 4 == 0:
            states.append(y)
    return np.array(states)


# Functions that return a number

START = np.linspace(-1.2, 1.0, 100)


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_jvp(x: Any, v: Any) -> Any:
    gap = x[1:] - x[:-1] ** 2
    return np.sum(200.0 * gap * (v[1:] - 2.0 * x[:-1] * v[:-1]) - 2.0 * (1.0 - x[:-1]) * v[:-1])


def rosenbrock_hvp(x: Any, v: Any) -> Any:
    """As SciPy's `rosen_hess_prod`."""
    found = np.zeros_like(x)
    found[:-1] += (1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0) * v[:-1] - 400.0 * x[:-1] * v[1:]
    found[1:] += 200.0 * v[1:] - 400.0 * x[:-1] * v[:-1]
    return found


_DRAW = np.random.default_rng(0)
INPUTS = _DRAW.normal(size=(64, 4))
TARGETS = np.sin(INPUTS.sum(1))
PARAMETERS = _DRAW.normal(size=97) * 0.5


def network(p: Any) -> Any:
    """The squared error of a network with sixteen hidden units."""
    hidden = np.tanh(INPUTS @ p[:64].reshape(4, 16) + p[64:80])
    return np.mean((hidden @ p[80:96] + p[96] - TARGETS) ** 2)


def _forward(p: Any, v: Any) -> tuple[Any, ...]:
    """The hidden values and the errors, each with its tangent."""
    hidden = np.tanh(INPUTS @ p[:64].reshape(4, 16) + p[64:80])
    inner_dot = INPUTS @ v[:64].reshape(4, 16) + v[64:80]
    hidden_dot = (1.0 - hidden**2) * inner_dot
    error = hidden @ p[80:96] + p[96] - TARGETS
    error_dot = hidden_dot @ p[80:96] + hidden @ v[80:96] + v[96]
    return hidden, hidden_dot, inner_dot, error, error_dot


def network_jvp(p: Any, v: Any) -> Any:
    *_, error, error_dot = _forward(p, v)
    return 2.0 * np.mean(error * error_dot)


def network_hvp(p: Any, v: Any) -> Any:
    hidden, hidden_dot, _, error, error_dot = _forward(p, v)
    scale = 2.0 / len(error)
    slope, slope_dot = 1.0 - hidden**2, -2.0 * hidden * hidden_dot
    inner_bar_dot = np.multiply.outer(error_dot, p[80:96]) * slope + np.multiply.outer(error, v[80:96]) * slope
    inner_bar_dot += np.multiply.outer(error, p[80:96]) * slope_dot
    parts = [INPUTS.T @ inner_bar_dot, inner_bar_dot.sum(0), hidden_dot.T @ error + hidden.T @ error_dot, error_dot.sum()]
    return scale * np.concatenate([np.ravel(part) for part in parts])


def logistic(w: Any) -> Any:
    """The loss of a logistic regression."""
    return np.mean(np.log1p(np.exp(-SIGNS * (INPUTS @ w))))


SIGNS, WEIGHTS = np.sign(TARGETS), np.array([0.5, -0.2, 0.1, 0.4])


def logistic_jvp(w: Any, v: Any) -> Any:
    return -np.mean(SIGNS * (INPUTS @ v) / (1.0 + np.exp(SIGNS * (INPUTS @ w))))


def logistic_hvp(w: Any, v: Any) -> Any:
    chance = 1.0 / (1.0 + np.exp(SIGNS * (INPUTS @ w)))
    return INPUTS.T @ (chance * (1.0 - chance) * (INPUTS @ v)) / len(SIGNS)


def sines(x: Any) -> Any:
    """A loop over numbers."""
    y = x
    for _ in range(100):
        y = math.sin(y) * x + 0.5
    return y


def sines_jvp(x: Any, v: Any) -> Any:
    y, y_dot = x, v
    for _ in range(100):
        s = math.sin(y)
        y, y_dot = s * x + 0.5, math.cos(y) * y_dot * x + s * v
    return y_dot


def sines_hvp(x: Any, v: Any) -> Any:
    y, y_dot, states = x, v, []
    for _ in range(100):
        s, c = math.sin(y), math.cos(y)
        states.append((y_dot, s, c))
        y, y_dot = s * x + 0.5, c * y_dot * x + s * v
    y_bar, y_bar_dot, x_bar_dot = 1.0, 0.0, 0.0
    for y_dot, s, c in reversed(states):
        x_bar_dot += y_bar_dot * s + y_bar * c * y_dot
        y_bar, y_bar_dot = y_bar * c * x, y_bar_dot * c * x - y_bar * s * y_dot * x + y_bar * c * v
    return x_bar_dot + y_bar_dot
