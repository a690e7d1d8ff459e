"""Programs that write in place: a heat equation, and a recurrent network that appends its states to a list."""

from __future__ import annotations

from typing import Any

import numpy as np

HEAT_STEPS = 50


def heat(k, u0):
    """The energy left after 50 explicit steps of the heat equation, in place on one array."""
    u = u0.copy()
    for _ in range(HEAT_STEPS):
        u[1:-1] += 0.1 * k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def heat_value_and_gradient_by_hand(k: float, u0: Any) -> tuple[Any, tuple[float, Any]]:
    """The value of `heat` and its gradient in both arguments. A step keeps its second differences; its adjoint is the step
    with the same stencil, in place on one array."""
    u = u0.copy()
    c = 0.1 * k
    differences = np.empty((HEAT_STEPS, u.size - 2))
    step = np.empty(u.size - 2)
    for d in differences:
        np.multiply(u[1:-1], -2.0, out=d)
        d += u[2:]
        d += u[:-2]
        np.multiply(d, c, out=step)
        u[1:-1] += step
    value = np.dot(u, u)

    u *= 2.0
    u_bar, c_bar = u, 0.0
    for d in differences[::-1]:
        inner = u_bar[1:-1]
        c_bar += np.dot(inner, d)
        np.multiply(inner, c, out=step)
        u_bar[2:] += step
        u_bar[:-2] += step
        step *= 2.0
        inner -= step
    return value, (0.1 * c_bar, u_bar)


def recurrent(W, U, b, xs):
    """The mean energy of the states of a recurrent network, which are kept in a list."""
    h = np.zeros(len(b))
    states = []
    for x in xs:
        h = np.tanh(W @ h + U @ x + b)
        states.append(h)
    total = 0.0
    for h in states:
        total += np.sum(h * h)
    return total / len(states)


def recurrent_gradient_by_hand(W: Any, U: Any, b: Any, xs: Any) -> tuple[Any, Any, Any]:
    """The gradient of `recurrent` in its weights, step by step. The value is not computed."""
    h = np.zeros(len(b))
    states = [h]
    for x in xs:
        h = W @ h
        h += U @ x
        h += b
        np.tanh(h, out=h)
        states.append(h)

    W_bar, U_bar, b_bar = np.zeros_like(W), np.zeros_like(U), np.zeros_like(b)
    scale = 2.0 / len(xs)
    h_bar = np.zeros_like(b)
    for t in range(len(xs) - 1, -1, -1):
        h = states[t + 1]
        h_bar += scale * h
        h_bar *= 1.0 - h * h
        W_bar += np.multiply.outer(h_bar, states[t])
        U_bar += np.multiply.outer(h_bar, xs[t])
        b_bar += h_bar
        h_bar = h_bar @ W
    return W_bar, U_bar, b_bar


def recurrent_gradient_batched(W: Any, U: Any, b: Any, xs: Any) -> tuple[Any, Any, Any]:
    """The same with one product of matrices for what does not depend on the step before: all inputs, and all weights."""
    states = np.zeros((len(xs) + 1, len(b)))
    inputs = xs @ U.T
    inputs += b
    for t, a in enumerate(inputs):
        h = states[t + 1]
        np.dot(W, states[t], out=h)
        h += a
        np.tanh(h, out=h)

    scale = 2.0 / len(xs)
    slopes = states[1:] * states[1:]
    np.subtract(1.0, slopes, out=slopes)
    a_bar = states[1:] * scale
    last = np.zeros_like(b)
    for t in range(len(xs) - 1, -1, -1):
        row = a_bar[t]
        row += last
        row *= slopes[t]
        last = row @ W
    return a_bar.T @ states[:-1], a_bar.T @ xs, a_bar.sum(axis=0)


def heat_by_hand_plainly(k: float, u0: Any) -> tuple[Any, tuple[float, Any]]:
    """The value and gradient of `heat` as one writes them down first: the program's own statements, and a list of what the
    steps need."""
    u = u0.copy()
    differences = []
    for _ in range(HEAT_STEPS):
        d = u[2:] - 2.0 * u[1:-1] + u[:-2]
        u[1:-1] += 0.1 * k * d
        differences.append(d)
    value = np.sum(u * u)
    u_bar, k_bar = 2.0 * u, 0.0
    for d in reversed(differences):
        inner = u_bar[1:-1]
        k_bar += 0.1 * np.sum(inner * d)
        step = 0.1 * k * inner
        u_bar[2:] += step
        u_bar[:-2] += step
        u_bar[1:-1] -= 2.0 * step
    return value, (k_bar, u_bar)


def recurrent_by_hand_plainly(W: Any, U: Any, b: Any, xs: Any) -> tuple[Any, Any, Any]:
    """The gradient of `recurrent` after its value, with the program's own statements."""
    h = np.zeros(len(b))
    states = []
    for x in xs:
        h = np.tanh(W @ h + U @ x + b)
        states.append(h)
    total = 0.0
    for h in states:
        total += np.sum(h * h)
    W_bar, U_bar, b_bar = np.zeros_like(W), np.zeros_like(U), np.zeros_like(b)
    h_bar = np.zeros_like(b)
    for t in range(len(xs) - 1, -1, -1):
        h = states[t]
        before = states[t - 1] if t else np.zeros(len(b))
        a_bar = (h_bar + 2.0 / len(xs) * h) * (1.0 - h * h)
        W_bar += np.outer(a_bar, before)
        U_bar += np.outer(a_bar, xs[t])
        b_bar += a_bar
        h_bar = W.T @ a_bar
    return W_bar, U_bar, b_bar
