"""scipy.spatial.distance: distances between the rows of tables. The distance of equal points has the derivative 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import distance

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent


@rrule.register(distance.cdist)
def cdist_rrule(XA, XB, metric="euclidean", **kwargs):
    """y_ij = the distance of row i and row j: the cotangents of the rows are sums over the pairs."""
    y = distance.cdist(XA, XB, metric, **kwargs)

    def cdist_pullback(y_bar):
        bars = pair_bars(y_bar, np.asarray(XA), np.asarray(XB), y, metric, kwargs)
        return NoTangent(), unbroadcast(bars[0], XA), unbroadcast(bars[1], XB), NoTangent()

    return y, cdist_pullback


@rrule.register(distance.pdist)
def pdist_rrule(X, metric="euclidean", **kwargs):
    """As cdist, of each pair of rows once."""
    y = distance.pdist(X, metric, **kwargs)

    def pdist_pullback(y_bar):
        pairs = np.triu(distance.squareform(y_bar, checks=False))
        rows = np.asarray(X)
        bars = pair_bars(pairs, rows, rows, distance.squareform(y, checks=False), metric, kwargs)
        return NoTangent(), unbroadcast(bars[0] + bars[1], X), NoTangent()

    return y, pdist_pullback


def pair_bars(y_bar: Any, a: np.ndarray, b: np.ndarray, y: np.ndarray, metric: Any, kwargs: Any) -> tuple[Any, Any]:
    """The cotangents of two tables from those of the distances y of their rows."""
    if any(kwargs.get(name) is not None for name in ("w", "out")) or metric not in _METRICS:
        raise MissingRuleError(
            f"distances by the metric {metric!r}, or with weights or out=",
            None,
            f"Use one of {', '.join(_METRICS)} without either, or write the distance with NumPy.",
        )
    if metric == "cosine":
        return cosine_bars(y_bar, a, b, y)
    if metric in ("euclidean", "sqeuclidean"):
        weight = 2.0 * y_bar if metric == "sqeuclidean" else y_bar / np.where(y == 0.0, np.inf, y)
        sums_a, sums_b = np.sum(weight, axis=1)[:, None], np.sum(weight, axis=0)[:, None]
        return sums_a * a - weight @ b, sums_b * b - weight.T @ a
    apart = a[:, None, :].astype(float) - b
    steps = y_bar[..., None] * slopes(apart, y[..., None], metric, kwargs.get("p", 2))
    return np.sum(steps, axis=1), -np.sum(steps, axis=0)


_METRICS = ("euclidean", "sqeuclidean", "cityblock", "minkowski", "chebyshev", "cosine")


def slopes(apart: np.ndarray, y: np.ndarray, metric: str, p: float) -> np.ndarray:
    """The derivatives of distances for the differences of the coordinates."""
    signs = np.sign(apart)
    if metric == "cityblock":
        return signs
    if metric == "chebyshev":
        largest = (np.abs(apart) == y) & (y > 0.0)
        return np.where(largest, signs, 0.0) / np.maximum(np.sum(largest, axis=-1, keepdims=True), 1)
    ratio = np.abs(apart) / np.where(y == 0.0, 1.0, y)
    return np.where(apart == 0.0, 0.0, signs * np.where(apart == 0.0, 1.0, ratio) ** (p - 1.0))


def cosine_bars(y_bar: Any, a: np.ndarray, b: np.ndarray, y: np.ndarray) -> tuple[Any, Any]:
    """y = 1 - a.b / (|a| |b|)."""
    with np.errstate(all="ignore"):
        norms_a, norms_b = np.linalg.norm(a, axis=1)[:, None], np.linalg.norm(b, axis=1)[:, None]
        weight = y_bar / (norms_a * norms_b.T)
        cosines = (1.0 - y) * y_bar
        a_bar = a * np.sum(cosines, axis=1)[:, None] / norms_a**2 - weight @ b
        return a_bar, b * np.sum(cosines, axis=0)[:, None] / norms_b**2 - weight.T @ a


@pullback(distance.squareform)
def squareform_pullback(y_bar, X, force="no", checks=True):
    """A table with each number at (i, j) and (j, i), or the other way round, what stands above the diagonal."""
    return squareform_bar(y_bar, X)


@cotangent_of(1)
def squareform_bar(y_bar: Any, x: Any) -> Any:
    """The cotangent of distances in the other form."""
    if np.ndim(x) == 2:
        return unbroadcast(np.triu(distance.squareform(y_bar, checks=False), 1), x)
    table = y_bar + np.transpose(y_bar)
    return unbroadcast(table[np.triu_indices(table.shape[0], 1)], x)


_A = np.sin(np.arange(12.0) * 1.7).reshape(4, 3)
_B = np.cos(np.arange(6.0) * 1.3).reshape(2, 3)
for _metric in _METRICS:
    examples(distance.cdist, (_A, _B), (_B, _A), (_A.astype(np.float32), _B), metric=_metric)
    examples(distance.pdist, (_A,), (_B,), metric=_metric)
examples(distance.cdist, (_A, _B, "minkowski"), p=3.0)
examples(distance.pdist, (_A, "minkowski"), p=1.5)
examples(distance.squareform, (_A[0],), (np.array([1.5]),))
examples(distance.squareform, (_A[:3],), checks=False)
