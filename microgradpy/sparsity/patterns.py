"""Where a matrix may have entries, as users give it and as SciPy takes it."""

from __future__ import annotations

import importlib
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass

Array = np.ndarray[Any, Any]


@final
@dataclass(frozen=True, slots=True)
class Pattern:
    """The places of a matrix that may have entries, column by column, and in a column from above: each once."""

    shape: tuple[int, int]
    rows: Array
    columns: Array


def pattern_of(shape: tuple[int, int], rows: Array, columns: Array) -> Pattern:
    """The pattern with these places, which may be in any order and more than once."""
    height = max(shape[0], 1)
    places = np.sort(columns.astype(np.int64) * height + rows)
    places = places[np.diff(places, prepend=-1) > 0]  # `np.unique` takes many times as long
    return Pattern(shape, places % height, places // height)


def joined(first: Pattern, second: Pattern) -> Pattern:
    """The places of both."""
    rows, columns = (np.concatenate(pair) for pair in ((first.rows, second.rows), (first.columns, second.columns)))
    return pattern_of(first.shape, rows, columns)


def transposed(pattern: Pattern) -> Pattern:
    return pattern_of(pattern.shape[::-1], pattern.columns, pattern.rows)


def given_pattern(given: Any, shape: tuple[int, int], whole: tuple[int, ...]) -> Pattern:
    """What a user gave for a matrix of this shape: a SciPy sparse matrix or array, whose stored entries count whatever they
    are, or an array, of this shape or the `whole` one that the matrix has without being flattened, that is true where there may
    be entries."""
    if scipy_sparse().issparse(given):
        _check_shape(given.shape, shape, whole)
        stored = given.tocoo()
        return pattern_of(shape, stored.row, stored.col)
    array = np.asarray(given)
    if array.dtype.kind not in "bfiu":
        raise TypeError(f"sparsity is a sparse matrix, an array of truth values or 'detect', and not a {type(given).__name__}")
    _check_shape(array.shape, shape, whole)
    return pattern_of(shape, *np.nonzero(array.reshape(shape)))


def _check_shape(found: tuple[int, ...], shape: tuple[int, int], whole: tuple[int, ...]) -> None:
    if found not in (shape, whole):
        expected = f"{shape}" if whole == shape else f"{shape} or {whole}"
        raise ValueError(f"sparsity has the shape {found}, and the matrix {expected}")


def beside(patterns: list[Pattern]) -> Pattern:
    """The pattern of matrices side by side."""
    starts = np.cumsum([0, *(pattern.shape[1] for pattern in patterns)])
    rows = np.concatenate([pattern.rows for pattern in patterns])
    columns = np.concatenate([pattern.columns + start for pattern, start in zip(patterns, starts, strict=False)])
    return Pattern((patterns[0].shape[0], int(starts[-1])), rows, columns)


def scipy_sparse() -> Any:
    try:
        return importlib.import_module("scipy.sparse")
    except ImportError as error:
        raise ImportError(
            "A sparse matrix is one of SciPy, which is not installed (pip install scipy); without sparsity= it is an array."
        ) from error
