"""A matrix that is known by its products with vectors, and the tests of what is said of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.sparsity.patterns import Array, Pattern

Product = Callable[[Array], Array]


@final
@dataclass(frozen=True, slots=True)
class LinearMap:
    """A matrix of this shape: `pull` gives its product with a vector on its left, and what `pushed` returns, if it returns
    anything, that with a vector on its right. `dtype` is the least exact that is computed with."""

    shape: tuple[int, int]
    pull: Product
    pushed: Callable[[], Product | None]
    dtype: np.dtype[Any]


def any_direction(size: int, dtype: np.dtype[Any]) -> Array:
    """A vector as good as any, and always the same. It has no zeros, and what is exact in `dtype`."""
    draw = np.random.default_rng(size)
    vector = draw.uniform(1.0, 2.0, size) * draw.choice([-1.0, 1.0], size)
    rounded: Array = vector.astype(dtype).astype(float)
    return rounded


def is_of(linear: LinearMap, pattern: Pattern, values: Array) -> bool:
    """Whether the matrix with these values at the places of a pattern is that of a linear map.

    What is missing in the pattern is missing in the product with any vector, or stands in the wrong place. It is not seen if it
    is smaller than the rounding of what else is in the column."""
    vector = any_direction(linear.shape[0], linear.dtype)
    is_finite = np.isfinite(values)
    if not _agrees(linear, pattern, values, vector):
        return False
    if is_finite.all():
        return True
    vector[pattern.rows[~is_finite]] = 0.0  # what else is in a column with an infinity is seen without that
    finite = Pattern(pattern.shape, pattern.rows[is_finite], pattern.columns[is_finite])
    return _agrees(linear, finite, values[is_finite], vector)


def _agrees(linear: LinearMap, pattern: Pattern, values: Array, vector: Array) -> bool:
    """Whether the products with a vector are the same, but for rounding: infinite or NaN in the same places."""
    product = linear.pull(vector)
    with np.errstate(all="ignore"):
        terms = values * vector[pattern.rows]
        total, scale = (np.bincount(pattern.columns, each, pattern.shape[1]) for each in (terms, np.abs(terms)))
        is_near = np.abs(total - product) <= np.sqrt(np.finfo(linear.dtype).eps) * scale
    return bool(np.all(is_near | ~(np.isfinite(scale) | np.isfinite(product))))
