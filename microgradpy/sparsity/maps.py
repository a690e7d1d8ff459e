"""A matrix that is known by its products with vectors, and the tests of what is said of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.sparsity.patterns import Array

Product = Callable[[Array], Array]
Products = Callable[[Array], Array | None]
"""The products with the rows of a matrix, as rows; None if they have to be made one by one."""


def _one_by_one(vectors: Array) -> None:
    return None


@final
@dataclass(frozen=True, slots=True)
class LinearMap:
    """A matrix of this shape: `pull` gives its product with a vector on its left, and what `pushed` returns, if it returns
    anything, that with a vector on its right; `pull_all` and `push_all` do so for many vectors. `dtype` is the least exact that
    is computed with."""

    shape: tuple[int, int]
    pull: Product
    pushed: Callable[[], Product | None]
    dtype: np.dtype[Any]
    pull_all: Products = _one_by_one
    push_all: Products = _one_by_one


def products(times: Product, times_all: Products, vectors: Array, width: int) -> Array:
    """The products with the rows of `vectors`, of `width` numbers each, by either way."""
    at_once = times_all(vectors) if len(vectors) > 1 else None
    if at_once is not None:
        return at_once
    found: Array = np.zeros((len(vectors), width))
    for number, vector in enumerate(vectors):
        found[number] = times(vector)
    return found


def any_direction(size: int, dtype: np.dtype[Any]) -> Array:
    """A vector as good as any, and always the same. It has no zeros, and what is exact in `dtype`."""
    draw = np.random.default_rng(size)
    vector = draw.uniform(1.0, 2.0, size) * draw.choice([-1.0, 1.0], size)
    rounded: Array = vector.astype(dtype).astype(float)
    return rounded


def are_zero(products: Array, others: Array, dtype: np.dtype[Any]) -> bool:
    """Whether products are zero at these `others` of their places, but for rounding."""
    with np.errstate(all="ignore"):
        rounding = 8.0 * np.finfo(dtype).eps * np.fmax.reduce(np.abs(products), axis=0, initial=0.0)
        return bool(np.all((np.abs(products) <= rounding) | ~others))


def is_of(linear: LinearMap, matrix: Any, vector: Array, product: Array) -> bool:
    """Whether a sparse matrix is that of a linear map, by the products of both with a vector; that of the map is `product`.

    What is missing in the pattern was added to another entry, and is in the wrong place. It is not seen if it is smaller than
    the rounding of what else is in the column, or in the rows of that."""
    if not _agrees(linear, matrix, vector, product):
        return False
    is_finite = np.isfinite(matrix.data)
    if is_finite.all():
        return True
    vector = vector.copy()  # what else is in a column with an infinity is seen without that
    vector[matrix.indices[~is_finite]] = 0.0
    finite = matrix.copy()
    finite.data[~is_finite] = 0.0
    return _agrees(linear, finite, vector, linear.pull(vector))


def _agrees(linear: LinearMap, matrix: Any, vector: Array, product: Array) -> bool:
    """Whether the products with a vector are the same, but for rounding: infinite or NaN in the same places."""
    eps = np.finfo(linear.dtype).eps
    with np.errstate(all="ignore"):
        total = vector @ matrix
        difference = np.abs(total - product)
        if np.all(difference <= np.sqrt(eps) * np.abs(total)):
            return True
        scale = np.abs(vector) @ abs(matrix)
        rounding = np.sqrt(eps) * scale + 4.0 * eps * _cancelled(matrix, vector)
    return bool(np.all((difference <= rounding) | ~(np.isfinite(scale) | np.isfinite(product))))


def _cancelled(matrix: Any, vector: Array) -> Array:
    """For each column how large the numbers may have been that its entries are differences of: as large as others in the same
    rows."""
    found = abs(matrix)
    found.data[~np.isfinite(found.data)] = 0.0
    largest = found.max(axis=1).toarray().ravel()
    found.data[:] = 1.0
    sums: Array = (np.abs(vector) * largest) @ found
    return sums
