"""The moons network's loss, and its gradient written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.nn import logit_cross_entropy, relu


def loss(W1, b1, W2, b2, W3, b3, x, y):
    """The logit cross entropy of a network of three layers; samples are rows."""
    h1 = relu(x @ W1 + b1)
    h2 = relu(h1 @ W2 + b2)
    return logit_cross_entropy(h2 @ W3 + b3, y)


def loss_gradient_by_hand(
    W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, b3: Any, x: Any, y: Any
) -> tuple[Any, Any, Any, Any, Any, Any]:
    """The gradient of `loss` in its six weight arrays, for one-hot targets of any number of classes. The value of the loss
    is not computed."""
    h1, h2, z = _forward(W1, b1, W2, b2, W3, b3, x)
    z -= z.max(axis=1, keepdims=True)
    p = np.exp(z)
    p /= p.sum(axis=1, keepdims=True)
    return _back(W2, W3, x, y, h1, h2, p)


def loss_gradient_tuned(
    W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, b3: Any, x: Any, y: Any
) -> tuple[Any, Any, Any, Any, Any, Any]:
    """The same for two classes only, where the maximum and the sum of two columns need no reduction."""
    h1, h2, z = _forward(W1, b1, W2, b2, W3, b3, x)
    z -= np.maximum(z[:, :1], z[:, 1:])
    p = np.exp(z)
    p /= p[:, :1] + p[:, 1:]
    return _back(W2, W3, x, y, h1, h2, p)


def _forward(W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, b3: Any, x: Any) -> tuple[Any, Any, Any]:
    h1 = x @ W1
    h1 += b1
    np.maximum(h1, 0.0, out=h1)
    h2 = h1 @ W2
    h2 += b2
    np.maximum(h2, 0.0, out=h2)
    z = h2 @ W3
    z += b3
    return h1, h2, z


def _back(W2: Any, W3: Any, x: Any, y: Any, h1: Any, h2: Any, p: Any) -> tuple[Any, Any, Any, Any, Any, Any]:
    """From the probabilities `p`, which are overwritten. That the targets of a sample sum to one is used."""
    p -= y
    p /= len(x)
    W3_bar, b3_bar = h2.T @ p, np.add.reduce(p, 0)
    h2_bar = p @ W3.T
    h2_bar *= h2 > 0.0
    W2_bar, b2_bar = h1.T @ h2_bar, np.add.reduce(h2_bar, 0)
    h1_bar = h2_bar @ W2.T
    h1_bar *= h1 > 0.0
    return x.T @ h1_bar, np.add.reduce(h1_bar, 0), W2_bar, b2_bar, W3_bar, b3_bar
