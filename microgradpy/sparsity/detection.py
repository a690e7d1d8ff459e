"""Where a matrix has entries, from products with vectors that hold NaN.

What is computed of a NaN is a NaN, also what is multiplied by a zero. So the product with NaN in some columns says which rows
have entries there, and not only those whose entries are not zero by chance. All columns at once give the rows that have any;
then each interval of columns is halved, and halves of intervals that share no row are asked in one product:

    rows of an interval = rows of its left half | rows of its right half

So a band, or a grid, takes a number of products that grows with the logarithm of the number of columns.
"""

from __future__ import annotations

import numpy as np

from microgradpy.errors import DifferentiationError
from microgradpy.sparsity.colouring import colours_of_columns, count_of
from microgradpy.sparsity.maps import LinearMap, Product
from microgradpy.sparsity.patterns import Array, Pattern, pattern_of, transposed


def detected(linear: LinearMap) -> Pattern:
    """A pattern that has all entries of a matrix, for the branches that the program has taken."""
    height, width = linear.shape
    push = linear.pushed() if width < height else None
    if push is not None:
        return _by_halves(push, linear.shape)
    return transposed(_by_halves(linear.pull, (width, height)))


def _by_halves(times: Product, shape: tuple[int, int]) -> Pattern:
    height, width = shape
    starts, ends = np.zeros(1, int), np.full(1, width)
    rows = np.nonzero(_touched(times, [slice(0, width)], width))[0] if width else np.zeros(0, int)
    intervals = np.zeros(rows.size, int)
    while (ends - starts).max() > 1:
        middles = (starts + ends + 1) // 2
        halves = ((starts, middles), (middles, ends))
        groups = colours_of_columns(pattern_of((height, starts.size), rows, intervals))
        found = [_those_of(times, width, groups, rows, intervals, *half) for half in halves]
        rows = np.concatenate([rows[flags] for flags in found])
        numbers = np.concatenate([intervals[flags] + number * starts.size for number, flags in enumerate(found)])
        kept, intervals = np.unique(numbers, return_inverse=True)
        starts, ends = np.concatenate([starts, middles])[kept], np.concatenate([middles, ends])[kept]
        if not kept.size:
            break
    return pattern_of(shape, rows, starts[intervals] if rows.size else rows)


def _those_of(times: Product, width: int, groups: Array, rows: Array, intervals: Array, starts: Array, ends: Array) -> Array:
    """Which of the places (a row and an interval each) have entries in this half of the interval."""
    flags = np.zeros(rows.size, bool)
    for group in range(count_of(groups)):
        chosen = np.nonzero((groups == group) & (starts < ends))[0]
        if chosen.size:
            touched = _touched(times, [slice(starts[one], ends[one]) for one in chosen], width)
            flags |= np.isin(intervals, chosen) & touched[rows]
    return flags


def _touched(times: Product, parts: list[slice], width: int) -> Array:
    """Which numbers of the product are not determined if these parts of the vector are not."""
    vector = np.zeros(width)
    for part in parts:
        vector[part] = np.nan
    try:
        with np.errstate(all="ignore"):
            return np.isnan(times(vector))
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        raise DifferentiationError(
            f"where the derivative has entries cannot be detected: what computes it takes no NaN ({error})",
            None,
            "Give the pattern: sparsity=matrix.",
        ) from error
