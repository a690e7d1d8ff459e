"""Which columns of a matrix are found from one product: those that share no row (Curtis, Powell and Reid).

The groups are the colours of a graph in which columns that share a row are neighbours, by the greedy algorithm: each column
has the first colour that no neighbour has. That is optimal for bands in their own order; in other matrices columns with many
entries are better coloured first. Both are tried.
"""

from __future__ import annotations

import numpy as np

from microgradpy.sparsity.patterns import Array, Pattern


def colours_of_columns(pattern: Pattern) -> Array:
    """The colour of each column: 0, 1, ..., and -1 for a column that has no entries."""
    counts = np.bincount(pattern.columns, minlength=pattern.shape[1])
    if not counts.any():
        return np.full(pattern.shape[1], -1)
    ends = np.cumsum(counts)
    rows = pattern.rows.tolist()
    of_column = [rows[end - count : end] for count, end in zip(counts.tolist(), ends.tolist(), strict=True)]
    filled = np.nonzero(counts)[0]
    in_order = _greedy(of_column, filled, pattern.shape[0])
    if count_of(in_order) == most_in_a_row(pattern):
        return in_order
    largest_first = _greedy(of_column, filled[np.argsort(-counts[filled], kind="stable")], pattern.shape[0])
    return min(in_order, largest_first, key=count_of)


def _greedy(of_column: list[list[int]], order: Array, height: int) -> Array:
    colours = np.full(len(of_column), -1)
    taken = [0] * height  # of each row the colours that it has, as the bits of a number
    for column in order.tolist():
        there = 0
        for row in of_column[column]:
            there |= taken[row]
        free = ~there & (there + 1)
        for row in of_column[column]:
            taken[row] |= free
        colours[column] = free.bit_length() - 1
    return colours


def count_of(colours: Array) -> int:
    return int(colours.max(initial=-1)) + 1


def most_in_a_row(pattern: Pattern) -> int:
    """The entries of the fullest row: there are no fewer colours than that."""
    return int(np.bincount(pattern.rows).max(initial=0))
