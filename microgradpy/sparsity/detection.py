"""Where a matrix has entries, from products with vectors that hold NaN.

What is computed of a NaN is a NaN, also what is multiplied by a zero. So the product with NaN in some columns says which rows
have entries there, and not only those whose entries are not zero by chance. All columns at once give the rows that have any;
then each interval of columns is halved, and halves of intervals that share no row are asked in one product:

    rows of an interval = rows of its left half | rows of its right half

So a band, or a grid, takes a number of products that grows with the logarithm of the number of columns.
"""

from __future__ import annotations

from typing import final

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.errors import DifferentiationError
from microgradpy.sparsity.colouring import colours_of_columns, count_of
from microgradpy.sparsity.maps import LinearMap, Product, Products
from microgradpy.sparsity.patterns import Array, Pattern, pattern_of, transposed


def detected(linear: LinearMap) -> Pattern:
    """A pattern that has all entries of a matrix, for the branches that the program has taken."""
    height, width = linear.shape
    push = linear.pushed() if width < height else None
    if push is not None:
        return _by_halves(_Asked(push, linear.push_all, width), linear.shape)
    return transposed(_by_halves(_Asked(linear.pull, linear.pull_all, height), (width, height)))


@final
@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked for products with vectors of `width` numbers: one by one, or all at once."""

    times: Product
    times_all: Products
    width: int

    def touched(self, groups: list[tuple[Array, Array]]) -> list[Array]:
        """For each group which numbers of the product are not determined if these parts of the vector are not: where they
        start, and where they end."""
        steps = np.zeros((len(groups) + 1, self.width + 1), np.int8)
        for step, (starts, ends) in zip(steps, groups, strict=False):
            step[starts] += 1
            step[ends] -= 1
        vectors = np.where(np.cumsum(steps, axis=1, dtype=np.int8)[:, :-1] > 0, np.nan, 0.0)
        try:
            with np.errstate(all="ignore"):
                found = self.times_all(vectors) if len(groups) > 1 else None
                # One by one, zeros stay zeros where a slope is infinite. The last product has such zeros only.
                if found is None or np.isnan(found[-1]).any():
                    return [np.isnan(self.times(vector)) for vector in vectors[:-1]]
                return [*np.isnan(found[:-1])]
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            raise DifferentiationError(
                f"where the derivative has entries cannot be detected: what computes it takes no NaN ({error})",
                None,
                "Give the pattern: sparsity=matrix.",
            ) from error


def _by_halves(asked: _Asked, shape: tuple[int, int]) -> Pattern:
    height, width = shape
    starts, ends = np.zeros(1, int), np.full(1, width)
    rows = np.nonzero(asked.touched([(starts, ends)])[0])[0] if width else np.zeros(0, int)
    intervals = np.zeros(rows.size, int)
    while (ends - starts).max() > 1:
        middles = (starts + ends + 1) // 2
        halves = ((starts, middles), (middles, ends))
        groups = colours_of_columns(pattern_of((height, starts.size), rows, intervals))
        found = _those_of(asked, groups, rows, intervals, halves)
        rows = np.concatenate([rows[flags] for flags in found])
        numbers = np.concatenate([intervals[flags] + number * starts.size for number, flags in enumerate(found)])
        kept, intervals = np.unique(numbers, return_inverse=True)
        starts, ends = np.concatenate([starts, middles])[kept], np.concatenate([middles, ends])[kept]
        if not kept.size:
            break
    return pattern_of(shape, rows, starts[intervals] if rows.size else rows)


def _those_of(
    asked: _Asked, groups: Array, rows: Array, intervals: Array, halves: tuple[tuple[Array, Array], ...]
) -> list[Array]:
    """For each half of the intervals, which of the places (a row and an interval each) have entries in it."""
    found = [np.zeros(rows.size, bool) for _ in halves]
    questions = []
    for number, (starts, ends) in enumerate(halves):
        for group in range(count_of(groups)):
            chosen = np.nonzero((groups == group) & (starts < ends))[0]
            if chosen.size:
                questions.append((number, chosen, (starts[chosen], ends[chosen])))
    answers = asked.touched([parts for _, _, parts in questions])
    for (number, chosen, _), touched in zip(questions, answers, strict=True):
        is_chosen = np.zeros(groups.size, bool)
        is_chosen[chosen] = True
        found[number] |= is_chosen[intervals] & touched[rows]
    return found
