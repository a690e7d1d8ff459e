"""scipy.sparse: making sparse matrices of numbers, changing their format, and what is computed entry by entry.

In the formats CSR, CSC, COO and DIA there is one number in `data` for each entry: the cotangent of a matrix is that of `data`.
Where an entry goes is told by its row and column; of diagonals some numbers are at no place, which is a row outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from microgradpy.errors import MissingRuleError
from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.types import NoTangent, NotImplementedTangent, Tangent, is_structural_zero

FORMATS = ("csr", "csc", "coo", "dia")
"""Those with one number for each entry."""
CLASSES = tuple(getattr(sparse, f"{name}_{kind}") for name in FORMATS for kind in ("array", "matrix"))


def check_format(*matrices: Any) -> None:
    """Refuse formats in which the numbers are not kept entry by entry, and arrays that are not matrices."""
    for matrix in matrices:
        if matrix.format not in FORMATS or matrix.ndim > 2:
            raise MissingRuleError(
                f"the entries of a sparse matrix in the format {matrix.format}, of {matrix.ndim} axes",
                None,
                "Make it in the format CSR: sparse.kron(a, b, format='csr').",
            )


def places(matrix: Any) -> tuple[Any, Any]:
    """The rows and columns of the numbers in `data`. (What SciPy's own methods find out they note on the matrix.)"""
    check_format(matrix)
    if matrix.format == "coo":
        columns = matrix.coords[-1].astype(np.int64)
        return (matrix.coords[0].astype(np.int64) if matrix.ndim == 2 else np.zeros_like(columns)), columns
    if matrix.format == "dia":
        columns = np.broadcast_to(np.arange(matrix.data.shape[1]), matrix.data.shape)
        rows = columns - np.reshape(matrix.offsets, (-1, 1))
        return np.where(columns < matrix.shape[1], rows, -1).ravel(), np.where(columns < matrix.shape[1], columns, -1).ravel()
    major = np.repeat(np.arange(len(matrix.indptr) - 1), np.diff(matrix.indptr))
    minor = matrix.indices.astype(np.int64)
    return (major, minor) if matrix.format == "csr" else (minor, major)


def are_inside(matrix: Any, rows: Any) -> Any:
    """Which numbers are at a place of the matrix."""
    return (rows >= 0) & (rows < matrix.shape[0]) if matrix.format == "dia" else np.ones(len(rows), bool)


def data_bar(matrix_bar: Any) -> Any:
    """What the cotangent of a sparse matrix has for its numbers; None if that is nothing."""
    if isinstance(matrix_bar, NotImplementedTangent):
        matrix_bar.refuse()
    found: Any = None if is_structural_zero(matrix_bar) else matrix_bar.get("data")
    return None if is_structural_zero(found) else np.ravel(found)


def bar_at(matrix: Any, bar: Any, rows: Any, columns: Any) -> Any:
    """The cotangents of the places of a matrix at some rows and columns; zeros where it has no entry."""
    own_rows, own_columns = places(matrix)
    width = matrix.shape[-1]
    keys = own_rows * width + own_columns
    wanted = np.asarray(rows).astype(np.int64) * width + columns
    if np.array_equal(keys, wanted):
        return bar  # the same order, also of places that are there twice
    order = np.argsort(keys, kind="stable")
    found = np.minimum(np.searchsorted(keys[order], wanted), max(len(keys) - 1, 0))
    if not len(keys):
        return np.zeros(wanted.shape, np.result_type(bar))
    chosen = order[found]
    return np.where(keys[chosen] == wanted, bar[chosen], 0.0)


def of_entries(matrix: Any, bar: Any) -> Any:
    """The cotangent of a sparse matrix from those of its numbers."""
    return Tangent(type(matrix), data=unbroadcast(np.reshape(bar, matrix.data.shape), matrix.data))


def with_numbers(matrix: Any, numbers: Any) -> Any:
    """A matrix with other numbers where one has its entries."""
    rows, columns = places(matrix)
    inside = are_inside(matrix, rows)
    return sparse.csr_array((numbers[inside], (rows[inside], columns[inside])), shape=matrix.shape)


def at_entries(matrix: Any, found: Any) -> Any:
    """The numbers of a matrix, dense or sparse, where another one has its entries."""
    rows, columns = places(matrix)
    if not sparse.issparse(found):
        inside = are_inside(matrix, rows)
        return np.where(inside, np.asarray(found)[np.where(inside, rows, 0), columns], 0.0)
    entries = sparse.csr_array(found, copy=True)
    entries.sum_duplicates()
    return bar_at(entries, entries.data, rows, columns)


# Constructors


def _declare_constructor(cls: Any) -> None:
    @rrule.register(cls)
    def constructor_rrule(arg1, shape=None, dtype=None, copy=False, *, maxprint=None):
        """Every number of the matrix is one that it is made of, or the sum of those for its place."""
        y = cls(arg1, shape, dtype, copy, maxprint=maxprint)

        def constructor_pullback(y_bar):
            return NoTangent(), made_of_bar(y_bar, y, arg1)

        return y, constructor_pullback


def made_of_bar(y_bar: Any, y: Any, given: Any) -> Any:
    """The cotangent of what a sparse matrix is made of: numbers with their places, or a matrix."""
    bar = data_bar(y_bar)
    if bar is None:
        return NoTangent()
    if sparse.issparse(given):
        return of_entries(given, bar_at(y, bar, *places(given)))
    if not isinstance(given, tuple):
        dense = np.zeros(y.shape, np.result_type(bar))
        rows, columns = places(y)
        inside = are_inside(y, rows)
        np.add.at(dense, (rows[inside], columns[inside]), bar[inside])
        return unbroadcast(np.reshape(dense, np.shape(given)), given)
    if len(given) == 3:  # numbers, indices, and where each row or column begins
        return unbroadcast(bar, given[0]), NoTangent(), NoTangent()
    if y.format == "dia":
        return unbroadcast(np.reshape(bar, y.data.shape), np.atleast_2d(given[0])).reshape(np.shape(given[0])), NoTangent()
    if np.ndim(given[1]) == 0:  # a shape
        return NoTangent()
    rows, columns = given[1]
    return unbroadcast(bar_at(y, bar, np.asarray(rows), np.asarray(columns)), given[0]), NoTangent()


for _cls in CLASSES:
    _declare_constructor(_cls)


# Methods


def _functions(name: str) -> Iterator[Any]:
    """The different functions that the classes have as a method of some name."""
    yield from dict.fromkeys(getattr(cls, name) for cls in CLASSES)


def _declare_conversion(convert: Any) -> None:
    @rrule.register(convert)
    def conversion_rrule(self, copy=False):
        """The same entries in another order."""
        y = convert(self, copy)

        def conversion_pullback(y_bar):
            return NoTangent(), made_of_bar(y_bar, y, self)

        return y, conversion_pullback


def _declare_copy(duplicate: Any) -> None:
    @rrule.register(duplicate)
    def copy_rrule(self):
        """The same entries."""
        y = duplicate(self)

        def copy_pullback(y_bar):
            return NoTangent(), made_of_bar(y_bar, y, self)

        return y, copy_pullback


def _declare_dense(densify: Any) -> None:
    @rrule.register(densify)
    def dense_rrule(self, order=None, out=None):
        """The cotangents at the places of the entries."""
        y = densify(self, order, out)

        def dense_pullback(y_bar):
            return NoTangent(), of_entries(self, at_entries(self, y_bar))

        return y, dense_pullback


def _declare_diagonal(diagonal: Any) -> None:
    @rrule.register(diagonal)
    def diagonal_rrule(self, k=0):
        """The entries whose column is k behind the row."""
        y = diagonal(self, k)

        def diagonal_pullback(y_bar):
            return NoTangent(), of_entries(self, on_diagonal(y_bar, self, k)), NoTangent()

        return y, diagonal_pullback


def on_diagonal(y_bar: Any, matrix: Any, k: int) -> Any:
    """The cotangents of the entries of a matrix, of which a diagonal is read."""
    rows, columns = places(matrix)
    inside = (columns - rows == k) & are_inside(matrix, rows)
    bar = np.zeros(len(rows), np.result_type(y_bar))
    bar[inside] = np.asarray(y_bar)[np.minimum(rows, columns)[inside]]
    return bar


def _declare_sum(total: Any) -> None:
    @rrule.register(total)
    def sum_rrule(self, axis=None, dtype=None, out=None):
        """The cotangent of the sum of its row, of its column, or of all."""
        y = total(self, axis, dtype, out)

        def sum_pullback(y_bar):
            return NoTangent(), of_entries(self, in_sums(y_bar, self, axis))

        return y, sum_pullback


def in_sums(y_bar: Any, matrix: Any, axis: Any) -> Any:
    """The cotangents of the entries of a matrix that is summed along an axis."""
    rows, columns = places(matrix)
    along = np.ravel(np.asarray(y_bar))
    inside = are_inside(matrix, rows)
    if axis is None:
        return np.where(inside, along[0], 0.0)
    return np.where(inside, along[columns if axis in (0, -2) else np.where(inside, rows, 0)], 0.0)


def _declare_negation(negate: Any) -> None:
    @rrule.register(negate)
    def negation_rrule(self):
        """Minus the cotangents."""
        y = negate(self)

        def negation_pullback(y_bar):
            return NoTangent(), scaled_bars(y_bar, y, self, -1.0)[0]

        return y, negation_pullback


def _declare_quotient(divide: Any) -> None:
    @rrule.register(divide)
    def quotient_rrule(self, other):
        """By a number: y = a / x, a_bar = y_bar / x, x_bar = -sum(y_bar * a) / x^2."""
        y = divide(self, other)

        def quotient_pullback(y_bar):
            refuse_operand(other)
            self_bar, factor_bar = scaled_bars(y_bar, y, self, 1.0 / other)
            return NoTangent(), self_bar, unbroadcast(-factor_bar / conj(other) ** 2, other)

        return y, quotient_pullback


def refuse_operand(x: Any) -> None:
    """Refuse other factors than numbers."""
    if sparse.issparse(x) or np.ndim(x) > 0:
        raise MissingRuleError(
            "the product or quotient, entry by entry, of a sparse matrix and something else than a number",
            None,
            "Compute with its numbers: sparse.csr_array((A.data * b, A.indices, A.indptr), shape=A.shape).",
        )


def scaled_bars(y_bar: Any, y: Any, matrix: Any, factor: Any) -> tuple[Any, Any]:
    """The cotangents of a matrix and of a number under their product y."""
    bar = data_bar(y_bar)
    if bar is None:
        return NoTangent(), 0.0
    bar = bar_at(y, bar, *places(matrix))
    return of_entries(matrix, bar * conj(factor)), np.sum(bar * conj(np.ravel(matrix.data)))


def _declare_sum_of_two(add: Any, sign: float) -> None:
    @rrule.register(add)
    def sum_of_two_rrule(self, other):
        """Of sparse matrices: each entry has the cotangent of its place."""
        y = add(self, other)

        def sum_of_two_pullback(y_bar):
            return NoTangent(), summand_bar(y_bar, y, self, 1.0), summand_bar(y_bar, y, other, sign)

        return y, sum_of_two_pullback


def summand_bar(y_bar: Any, y: Any, summand: Any, sign: float) -> Any:
    """The cotangent of a matrix under the sum with another one."""
    if sparse.issparse(summand):
        if not sparse.issparse(y):
            return of_entries(summand, sign * at_entries(summand, y_bar))
        bar = data_bar(y_bar)
        return NoTangent() if bar is None else of_entries(summand, sign * bar_at(y, bar, *places(summand)))
    if sparse.issparse(y):
        return NoTangent()  # the number 0
    return unbroadcast(sign * np.asarray(y_bar), summand)


def _declare_item(read: Any) -> None:
    @rrule.register(read)
    def item_rrule(self, key):
        """An entry, or the entries of some rows and columns."""
        y = read(self, key)

        def item_pullback(y_bar):
            return NoTangent(), of_entries(self, read_bar(y_bar, y, self, key))

        return y, item_pullback


def read_bar(y_bar: Any, y: Any, matrix: Any, key: Any) -> Any:
    """The cotangents of the numbers of a matrix, of which a part is read: which ones, tells a matrix of their positions."""
    count = np.size(matrix.data)
    positions = with_numbers(matrix, np.arange(1, count + 1))
    if positions.nnz != len(np.unique(positions.data)) or np.max(positions.data, initial=0) > count:
        raise MissingRuleError("an item of a sparse matrix with entries for one place", None, "Call A.sum_duplicates() before.")
    bar = np.zeros(count, np.result_type(y.data if sparse.issparse(y) else y_bar))
    found = positions[key]
    if sparse.issparse(found):
        seed = data_bar(y_bar)
        if seed is not None:
            np.add.at(bar, found.data - 1, bar_at(y, seed, *places(found)))
    else:
        where = np.asarray(found)
        np.add.at(bar, where[where > 0] - 1, np.reshape(y_bar, where.shape)[where > 0])
    return bar


def _declare_multiple(multiply: Any) -> None:
    @rrule.register(multiply)
    def multiple_rrule(self, other):
        """By a number."""
        y = multiply(self, other)

        def multiple_pullback(y_bar):
            refuse_operand(other)
            self_bar, factor_bar = scaled_bars(y_bar, y, self, other)
            return NoTangent(), self_bar, unbroadcast(factor_bar, other)

        return y, multiple_pullback


def _declare_power(power: Any) -> None:
    @rrule.register(power)
    def power_rrule(self, n, dtype=None):
        """Entry by entry: n a^(n - 1)."""
        y = power(self, n, dtype)

        def power_pullback(y_bar):
            return NoTangent(), scaled_bars(y_bar, y, self, n * self.data.ravel() ** (n - 1))[0], NoTangent()

        return y, power_pullback


_BY_NAME: dict[str, Callable[[Any], None]] = {
    **dict.fromkeys(("tocsr", "tocsc", "tocoo"), _declare_conversion), "copy": _declare_copy,
    **dict.fromkeys(("toarray", "todense"), _declare_dense), "diagonal": _declare_diagonal, "sum": _declare_sum,
    "__neg__": _declare_negation, "__truediv__": _declare_quotient,
    "multiply": _declare_multiple, "power": _declare_power,
    "__add__": lambda f: _declare_sum_of_two(f, 1.0), "__sub__": lambda f: _declare_sum_of_two(f, -1.0),
}  # fmt: skip
for _name, _declare in _BY_NAME.items():
    for _function in _functions(_name):
        _declare(_function)
for _function in dict.fromkeys(getattr(cls, "__getitem__") for cls in CLASSES if cls(np.eye(2)).format in ("csr", "csc")):  # noqa: B009
    _declare_item(_function)


# Products of sparse matrices


def sparse_product_bars(y_bar: Any, y: Any, left: Any, right: Any) -> tuple[Any, Any]:
    """Of y = a b, all of them sparse: a_bar = y_bar b^H where a has entries, b_bar = a^H y_bar where b has."""
    bar = data_bar(y_bar)
    if bar is None:
        return NoTangent(), NoTangent()
    check_format(y, left, right)
    seed = with_numbers(y, bar)
    left_bar = at_entries(left, seed @ with_numbers(right, conj(right.data.ravel())).T)
    right_bar = at_entries(right, with_numbers(left, conj(left.data.ravel())).T @ seed)
    return of_entries(left, left_bar), of_entries(right, right_bar)


_NUMBERS = np.array([0.7, -1.4, 2.2, 0.3])
_ROWS, _COLUMNS = np.array([0, 2, 1, 0]), np.array([1, 0, 1, 1])
_DENSE = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]])
for _cls in CLASSES:
    _matrix = _cls(_DENSE)
    if _matrix.format == "dia":
        examples(_cls, ((_NUMBERS, 1), (4, 4)), ((_DENSE, np.array([0, -1])), (3, 4)))
    else:
        examples(_cls, ((_NUMBERS, (_ROWS, _COLUMNS)),), ((_NUMBERS[:3], (_ROWS[:3], _COLUMNS[:3])), (3, 4)), (_DENSE,))
    examples(_cls, (sparse.coo_array(_DENSE),), (sparse.csc_matrix(_DENSE * 1j),))
    for _name in ("tocsr", "tocsc", "tocoo", "copy", "toarray", "todense", "sum", "diagonal", "__neg__"):
        examples(getattr(_cls, _name), (_matrix,))
    examples(_cls.sum, (_matrix, 0), (_matrix, 1))
    examples(_cls.diagonal, (_matrix, 1), (_cls(_DENSE.T), -1))
    examples(_cls.__truediv__, (_matrix, 2.5))
    examples(_cls.multiply, (_matrix, 2.5))
    examples(_cls.power, (_matrix, 3))
    examples(_cls.__add__, (_matrix, _cls(_DENSE + 0.5)), (_matrix, _DENSE), (_matrix, sparse.csc_array(_DENSE[::-1])))
    examples(_cls.__sub__, (_matrix, _cls(_DENSE + 0.5)), (_matrix, _DENSE))
for _cls in (sparse.csr_array, sparse.csc_matrix):
    examples(_cls.__getitem__, (_cls(_DENSE), (0, 2)), (_cls(_DENSE), (slice(None), [2, 0])), (_cls(_DENSE), (slice(0, 2), 1)))
    examples(_cls, ((_NUMBERS[:3], np.array([0, 2, 1]), np.array([0, 2, 2, 3])), (3, 3)))
