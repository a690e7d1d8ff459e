"""The moons data: two interleaved half circles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def make_moons(samples: int = 200, noise: float = 0.1, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points of shape (samples, 2), shuffled, and their classes of shape (samples,): 0 for the upper half circle around
    (0, 0), 1 for the lower one around (1, 0.5). Both have radius one; `noise` is the standard deviation added."""
    draw = np.random.default_rng(seed)
    labels = draw.permutation(np.arange(samples) % 2)
    angle = draw.uniform(0.0, np.pi, samples)
    upper = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    lower = np.stack([1.0 - np.cos(angle), 0.5 - np.sin(angle)], axis=1)
    points = np.where(labels[:, np.newaxis] == 0, upper, lower)
    return points + draw.normal(0.0, noise, points.shape), labels
