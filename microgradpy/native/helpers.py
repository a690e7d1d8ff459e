"""What native code calls besides NumPy and `math`: tests of what Python would raise or warn at, and formulas of the package.

Plain functions, compiled by numba together with the code that calls them. A test is true where all is as usual; where it is
not, the whole call goes the general road, which raises, warns or grows whole numbers as Python does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

LARGEST = 1.7976931348623157e308
EXACT = 9007199254740992


def is_finite(x: Any) -> bool:
    """Whether all entries of an array are finite."""
    found = True
    for entry in x.flat:
        found &= abs(entry) <= LARGEST
    return found


def is_exact(n: Any) -> Any:
    """Whether a whole number is one that a float can be."""
    return -EXACT <= n <= EXACT


def has_exact_product(n: Any, k: Any) -> Any:
    """The same of a product, which might have wrapped around."""
    return abs(float(n) * float(k)) <= EXACT


def is_index(place: Any, x: Any) -> Any:
    """Whether an array has an entry, or a row, there."""
    return -len(x) <= place < len(x)


def are_indices(places: Any, x: Any) -> Any:
    """Whether a matrix has an entry there."""
    row, column = places
    rows, columns = x.shape
    return -rows <= row < rows and -columns <= column < columns


def is_plain_power(x: Any, z: Any) -> bool:
    """Whether z = x ** p is far from where its derivative needs care."""
    return bool(x != 0.0 and 1e-200 < z < 1e200)


def larger(x: Any, y: Any) -> Any:
    """`max(x, y)`"""
    return y if y > x else x


def smaller(x: Any, y: Any) -> Any:
    """`min(x, y)`"""
    return y if y < x else x


def sign(x: Any) -> Any:
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else x * 1.0


def chosen_bar(z_bar: Any, is_chosen: Any) -> Any:
    """The cotangent of a number that may have been chosen among others."""
    return z_bar if is_chosen else 0.0


def total(x: Any) -> Any:
    """The sum of the entries of an array: with eight sums side by side, in halves, as NumPy does it."""
    return _total_of(x.ravel(), 0, x.size)


def _total_of(x: Any, start: Any, end: Any) -> Any:
    if end - start > 128:
        middle = start + (end - start) // 2 // 8 * 8
        return _total_of(x, start, middle) + _total_of(x, middle, end)
    whole = start + (end - start) // 8 * 8
    a = b = c = d = e = f = g = h = 0.0
    for at in range(start, whole, 8):
        a += x[at]
        b += x[at + 1]
        c += x[at + 2]
        d += x[at + 3]
        e += x[at + 4]
        f += x[at + 5]
        g += x[at + 6]
        h += x[at + 7]
    found = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for at in range(whole, end):
        found += x[at]
    return found


def total_of_rows(x: Any) -> Any:
    """The sum of the rows of a matrix."""
    found = np.zeros(x.shape[1])
    for row in range(x.shape[0]):
        for column in range(x.shape[1]):
            found[column] += x[row, column]
    return found


def total_of_columns(x: Any) -> Any:
    """The sum of the columns of a matrix."""
    found = np.empty(x.shape[0])
    for row in range(x.shape[0]):
        found[row] = total(x[row])
    return found


def spread_over_rows(d: Any, x: Any) -> Any:
    """A vector as each of the rows of a matrix like `x`."""
    found = np.empty(x.shape)
    for row in range(x.shape[0]):
        for column in range(x.shape[1]):
            found[row, column] = d[column]
    return found


def spread_over_columns(d: Any, x: Any) -> Any:
    """A vector as each of the columns of a matrix like `x`."""
    found = np.empty(x.shape)
    for row in range(x.shape[0]):
        for column in range(x.shape[1]):
            found[row, column] = d[row]
    return found


def item_cotangent(x: Any, place: Any, d: Any) -> Any:
    """Zeros like `x`, but for `d` at one place."""
    found = np.zeros(x.shape)
    found[place] = d
    return found


def share(d: Any, x: Any, y: Any) -> Any:
    """What of `d` goes to `x` in the larger of `x` and `y`, entry by entry: half of it where they are equal."""
    return d * ((x > y) + 0.5 * (x == y))


def power_base_bar(z_bar: Any, x: Any, p: Any) -> Any:
    """The cotangent of x under z = x ** p, where x is positive, or p whole and x not zero."""
    return z_bar * (p * x ** (p - 1))


def power_exponent_bar(z_bar: Any, x: Any, z: Any) -> Any:
    """The cotangent of p under z = x ** p, where x is not zero."""
    return z_bar * (z * math.log(abs(x)))


def real_base_bar(z_bar: Any, x: Any, p: Any, z: Any) -> Any:
    """The cotangent of x under z = x ** p, from z."""
    return z_bar * (p * z / x)


def grown(records: Any) -> Any:
    """A stack of records with room for as many more."""
    count, width = records.shape
    found = np.empty((2 * count, width))
    for row in range(count):  # a slice takes numba seconds to compile
        for column in range(width):
            found[row, column] = records[row, column]
    return found
