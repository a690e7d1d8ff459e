"""Jacobians: the derivative of every number in a value with respect to every number in arguments, as arrays.

A row is what the pullback gives for one number of the value, and takes no other run of the function; a column is the tangent
for one number of the arguments, and takes one. So there are columns where they are fewer, and nobody sees how often the
function is run.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from microgradpy.argnums import Argnums, by_position, names_in, numbered
from microgradpy.batch_entry import many_outermost, parts_at_once, seeds_at_once
from microgradpy.boundary import BOUNDARY
from microgradpy.entry import resolve_outermost
from microgradpy.errors import DifferentiationError
from microgradpy.forward_entry import only_computes, push_outermost
from microgradpy.gradient_functions import describe, filled, note_held, wanted_by
from microgradpy.rules.nested import holds
from microgradpy.runtime.markers import NESTED_DIFFERENTIATION
from microgradpy.sparsity.chosen import Sparsity
from microgradpy.sparsity.maps import LinearMap, Product
from microgradpy.sparsity.patterns import Array, Pattern, beside, given_pattern, joined
from microgradpy.tangents.projection import check_seed
from microgradpy.tangents.strong_zeros import has_nan
from microgradpy.tangents.types import is_structural_zero
from microgradpy.usage import P, R, check_options, refuse_no_function, told

Numbers = tuple[int, ...]


def jacobian(
    f: Callable[..., Any], /, *args: Any, argnums: Argnums = 0, sparsity: Any = None, **kwargs: Any
) -> Any:
    """The Jacobian of `f` with respect to the argument `argnums`: an array of shape `y.shape + x.shape`, a float if both are
    numbers; for a tuple `argnums` a tuple of them. `y` and `x` are real numbers or arrays of real numbers:
    DifferentiationError for any other.

    With `sparsity`, a `scipy.sparse.csc_array` of shape `(y.size, x.size)`, from one run for each group of columns (or rows)
    that share no row (or column), and one that tests the pattern: DifferentiationError if that is too small. It is a sparse
    matrix or an array of truth values, for a tuple `argnums` a tuple of them; or "detect"."""
    return value_and_jacobian(f, *args, argnums=argnums, sparsity=sparsity, **kwargs)[1]


def value_and_jacobian(
    f: Callable[..., R], /, *args: Any, argnums: Argnums = 0, sparsity: Any = None, **kwargs: Any
) -> tuple[R, Any]:
    """`(y, jacobian)`: what `f` returns, and what `jacobian` does, from the same runs."""
    return _value_and_jacobian(f, args, kwargs, argnums, None if sparsity is None else Sparsity(sparsity))


def _value_and_jacobian(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Argnums, sparsity: Sparsity | None
) -> tuple[Any, Any]:
    if not callable(f):
        refuse_no_function(f, "jacobian(f, x)", *args)
    with BOUNDARY:
        if kwargs:
            check_options(f, kwargs, ("argnums", "sparsity"), "jacobian")
        args, kwargs = by_position(f, names_in(argnums), args, kwargs)
        positions = numbered(f, argnums)
        is_single = not isinstance(positions, tuple)
        numbers = (positions,) if is_single else positions
        wanted = wanted_by(numbers, len(args))
        for number, is_wanted in enumerate(wanted):
            if is_wanted:
                _check_real(args[number], f"argument {number}", f)
        if sparsity is not None and numbers:
            y, matrices = _sparse(f, args, kwargs, wanted, sparsity, None if is_single else numbers)
            jacobians = tuple(matrices[number % len(args)] for number in numbers)
            return y, jacobians[0] if is_single else jacobians
        y, found = _by_columns(f, args, kwargs, wanted) or _by_rows(f, args, kwargs, wanted)
        jacobians = tuple(_shaped(found[number % len(args)], y, args[number]) for number in numbers)
        return y, jacobians[0] if is_single else jacobians


@told
def jac(f: Callable[P, Any], argnums: Argnums = 0, sparsity: Any = None) -> Callable[P, Any]:
    """A function with the signature of `f` that returns its Jacobian: what SciPy takes as `jac=`. With `sparsity`, columns are
    grouped in the first call; where there are entries is detected in the first one, and again when that has changed."""
    if not callable(f):
        refuse_no_function(f, "jac(f)(x)")
    chosen = None if sparsity is None else Sparsity(sparsity)

    @functools.wraps(f, updated=())
    def jacobian_of(*args: P.args, **kwargs: P.kwargs) -> Any:
        return _value_and_jacobian(f, args, kwargs, argnums, chosen)[1]

    if chosen is None:
        note_held(jacobian_of, "jac", f, argnums)
    NESTED_DIFFERENTIATION.add(jacobian_of)
    return jacobian_of


Found = tuple[Any, dict[int, "np.ndarray[Any, Any]"]]
"""A value, and a matrix for each differentiated argument: a row for each number of the value, a column for each of its own."""


def _by_rows(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: tuple[bool, ...]) -> Found:
    """By the pullback."""
    y, back = resolve_outermost(f, args, kwargs, wanted)
    _check_real(y, "the value", f)
    found = {number: np.zeros((np.size(y), np.size(x)), _dtype(y, x)) for number, x in _chosen(args, wanted)}
    if _rows_at_once(found, args, y, back):
        return y, found
    for row, seed in enumerate(_units(y)):
        bars = back(check_seed(y, seed))
        for number, matrix in found.items():
            matrix[row] = np.ravel(filled(args[number], bars.arguments[number], False))
    return y, found


def _rows_at_once(found: dict[int, np.ndarray[Any, Any]], args: tuple[Any, ...], y: Any, back: Any) -> bool:
    """Fill the matrices by all rows at once; whether there is a text for that."""
    count = np.size(y)
    parts = parts_at_once(count, [*args, y])
    for rows in parts:
        seeds = np.eye(rows.stop - rows.start, count, rows.start).reshape(-1, *np.shape(y))
        bars = seeds_at_once(back, y, seeds, len(seeds), args)
        if bars is None:
            return False
        if not all(_is_stack(bars[number], rows, args[number]) for number in found):
            return False
        for number, matrix in found.items():
            matrix[rows] = _flat(bars[number], rows, args[number])
    return bool(parts)


def _by_columns(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: tuple[bool, ...]) -> Found | None:
    """By tangents; None if rows are to be preferred."""
    count = sum(np.size(x) for _, x in _chosen(args, wanted))
    found_at_once = _in_one_pass(f, args, kwargs, dict(_chosen(args, wanted)), count)
    if found_at_once is not None:
        return None if found_at_once is ROWS else found_at_once  # type: ignore[return-value]
    known: Any = None
    found: dict[int, np.ndarray[Any, Any]] = {}
    for number, x in _chosen(args, wanted):
        for column, unit in enumerate(_units(x)):
            dots = tuple(unit if place == number else None for place in range(len(args)))
            if known is None and not only_computes(f, args, dots, kwargs):
                return None
            y, y_dot = push_outermost(f, args, dots, kwargs)
            if known is None:
                _check_real(y, "the value", f)
                known = y
            if np.size(known) <= count:
                return None
            matrix = found.setdefault(number, np.zeros((np.size(known), np.size(x)), _dtype(known, x)))
            matrix[:, column] = 0.0 if is_structural_zero(y_dot) else np.ravel(check_seed(known, y_dot))
    return None if known is None else (known, found)


def _in_one_pass(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], chosen: dict[int, Any], count: int
) -> Found | str | None:
    """By tangents for all columns at once: None if they go one by one, `ROWS` if there are so few rows that these take less."""
    parts = parts_at_once(count, [*args, *kwargs.values()])
    if not parts:
        return None
    y: Any = None
    rows: list[np.ndarray[Any, Any]] = []
    for part in parts:
        start, stop = part.start, part.stop
        found = many_outermost(f, args, _columns(args, chosen, start, stop), kwargs)
        if found is None or count < found.batch.least:
            return None
        if not _is_worth_columns(found.batch.size, count):
            return ROWS
        pair = found.pushed(stop - start)
        if pair is None:
            return None
        if not rows:
            y = pair[0]
            _check_real(y, "the value", f)
            found.batch.size = np.size(y)
            if not _is_worth_columns(np.size(y), count):
                return ROWS
        if type(pair[1]) is not np.ndarray or not _is_stack(pair[1], part, y):
            return None
        rows.append(_flat(pair[1], part, y))
    columns = np.concatenate(rows).T
    ends = np.cumsum([np.size(x) for x in chosen.values()])
    beside_each_other = zip(chosen.items(), np.split(columns, ends[:-1], axis=1), strict=True)
    return y, {number: np.ascontiguousarray(part, _dtype(y, x)) for (number, x), part in beside_each_other}


ROWS = "rows"


def _is_worth_columns(rows: int | None, columns: int) -> bool:
    """Whether all columns at once take less than rows do: a row may be a call of the adjoint, a column is none."""
    return rows is None or rows > columns or (rows > 2 and rows * _COLUMNS_OF_A_ROW >= columns)


_COLUMNS_OF_A_ROW = 8


def _columns(args: tuple[Any, ...], chosen: dict[int, Any], start: int, stop: int) -> tuple[Any, ...]:
    """Units of all numbers of the chosen arguments, one after the other, from `start` to `stop`, as tangents of each."""
    stacks: list[Any] = [None] * len(args)
    before = 0
    for number, x in chosen.items():
        size = np.size(x)
        stacks[number] = np.eye(stop - start, size, start - before).reshape(stop - start, *np.shape(x))
        before += size
    return tuple(stacks)


# With few entries


def _sparse(
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    wanted: tuple[bool, ...],
    sparsity: Sparsity,
    numbers: Numbers | None,
) -> tuple[Any, dict[int, Any]]:
    """The value, and a sparse matrix for each differentiated argument, from those of all of them side by side."""
    chosen = dict(_chosen(args, wanted))
    y, linear = _by_products(f, args, kwargs, chosen)

    def read(given: Any) -> Pattern:
        if numbers is None:
            (x,) = chosen.values()
            return given_pattern(given, linear.shape, np.shape(y) + np.shape(x))
        if not isinstance(given, tuple | list) or len(given) != len(numbers):
            raise TypeError(f"for {len(numbers)} argnums sparsity is a tuple of {len(numbers)} patterns, or 'detect'")
        by_number: dict[int, Pattern] = {}
        for number, one in zip((number % len(args) for number in numbers), given, strict=True):
            x = args[number]
            pattern = given_pattern(one, (np.size(y), np.size(x)), np.shape(y) + np.shape(x))
            by_number[number] = joined(by_number[number], pattern) if number in by_number else pattern
        return beside([by_number[number] for number in chosen])

    sizes = tuple(np.size(x) for x in chosen.values())
    whole = sparsity.matrix(linear, sizes, read, f"the Jacobian of {getattr(f, '__name__', type(f).__name__)}")
    if len(chosen) == 1:
        return y, {number: whole.astype(_dtype(y, x), copy=False) for number, x in chosen.items()}
    ends = zip(chosen.items(), np.cumsum(sizes), strict=True)
    return y, {number: whole[:, end - np.size(x) : end].astype(_dtype(y, x)) for (number, x), end in ends}


def _by_products(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], chosen: dict[int, Any]) -> tuple[Any, LinearMap]:
    """The value, and the Jacobian by what it is multiplied with."""
    ends = np.cumsum([np.size(x) for x in chosen.values()])
    width = int(ends[-1])

    def dots(vector: Array) -> tuple[Any, ...]:
        parts = dict(zip(chosen, np.split(vector, ends[:-1]), strict=True))
        return tuple(check_seed(x, parts[n].reshape(np.shape(x))) if n in parts else None for n, x in enumerate(args))

    y, back = resolve_outermost(f, args, kwargs, tuple(n in chosen for n in range(len(args))))
    _check_real(y, "the value", f)

    def pull(vector: Array) -> Array:
        bars = back(check_seed(y, vector.reshape(np.shape(y))))
        fresh = bars.fresh or (False,) * len(args)
        found = [np.ravel(filled(x, bars.arguments[number], fresh[number])) for number, x in chosen.items()]
        return found[0].astype(float, copy=False) if len(found) == 1 else np.concatenate(found, dtype=float)

    def push(vector: Array) -> Array:
        y_dot = push_outermost(f, args, dots(vector), kwargs)[1]
        return np.zeros(np.size(y)) if is_structural_zero(y_dot) else np.ravel(check_seed(y, y_dot)).astype(float)

    def pushed() -> Product | None:
        return push if only_computes(f, args, dots(np.ones(width)), kwargs) else None

    pull_all = functools.partial(_all_pulled, back, y, args, chosen)
    push_all = functools.partial(_all_pushed, f, y, args, kwargs, chosen)
    return y, LinearMap((np.size(y), width), pull, pushed, _least_exact([y, *chosen.values()]), pull_all, push_all)


def _all_pulled(back: Any, y: Any, args: tuple[Any, ...], chosen: dict[int, Any], vectors: Array) -> Array | None:
    """The products of a Jacobian with many vectors on its left, if they go at once."""
    seeds, products = vectors.reshape(-1, *np.shape(y)), []
    for rows in parts_at_once(len(vectors), [*args, y]):
        bars = seeds_at_once(back, y, seeds[rows], rows.stop - rows.start, args, takes_nan=has_nan(vectors))
        if bars is None or not all(_is_stack(bars[number], rows, x) for number, x in chosen.items()):
            return None
        products.append(np.concatenate([_flat(bars[number], rows, x) for number, x in chosen.items()], axis=1))
    return np.concatenate(products) if products else None


def _all_pushed(
    f: Any, y: Any, args: tuple[Any, ...], kwargs: dict[str, Any], chosen: dict[int, Any], vectors: Array
) -> Array | None:
    """The products with many vectors on its right, if they go at once."""
    ends, products = np.cumsum([np.size(x) for x in chosen.values()]), []
    for rows in parts_at_once(len(vectors), [*args, *kwargs.values()]):
        parts = dict(zip(chosen, np.split(vectors[rows], ends[:-1], axis=1), strict=True))
        stacks = [parts[n].reshape(-1, *np.shape(x)) if n in parts else None for n, x in enumerate(args)]
        many = many_outermost(f, args, tuple(stacks), kwargs)
        pair = None if many is None else many.pushed(rows.stop - rows.start)
        if pair is None or not _is_stack(pair[1], rows, y):
            return None
        products.append(_flat(pair[1], rows, y))
    return np.concatenate(products) if products else None


def _is_stack(bar: Any, rows: slice, x: Any) -> bool:
    """Whether it is a stack of cotangents or tangents of a number or an array `x`; None is one of zeros."""
    return bar is None or (type(bar) is np.ndarray and bar.shape == (rows.stop - rows.start, *np.shape(x)))


def _flat(stack: Any, rows: slice, x: Any) -> Array:
    count = rows.stop - rows.start
    flat: Array = np.zeros((count, np.size(x))) if stack is None else stack.reshape(count, -1)
    return flat


def _least_exact(values: Iterable[Any]) -> Any:
    kinds = [np.result_type(x) for x in values]
    return min((kind for kind in kinds if kind.kind == "f"), key=lambda kind: np.finfo(kind).precision, default=np.dtype(float))


def _chosen(args: tuple[Any, ...], wanted: tuple[bool, ...]) -> list[tuple[int, Any]]:
    return [(number, x) for number, (x, is_wanted) in enumerate(zip(args, wanted, strict=True)) if is_wanted]


def _units(x: Any) -> Any:
    """A one for each number of `x`, with zeros for the others, in its structure."""
    if not isinstance(x, np.ndarray):
        yield 1.0
        return
    for place in range(x.size):
        unit = np.zeros(x.size)
        unit[place] = 1.0
        yield unit.reshape(x.shape)


def _dtype(y: Any, x: Any) -> Any:
    """float32 where both have it, float64 otherwise."""
    kinds = [np.result_type(value) for value in (y, x)]
    return np.result_type(*(kind if kind.kind == "f" else np.dtype(float) for kind in kinds))


def _shaped(matrix: np.ndarray[Any, Any], y: Any, x: Any) -> Any:
    shaped = matrix.reshape(np.shape(y) + np.shape(x))
    return shaped if shaped.ndim else shaped.item()


def _check_real(x: Any, place: str, f: Any) -> None:
    is_real = isinstance(x, np.ndarray) and x.dtype.kind in "fiu"
    if is_real or (isinstance(x, int | float | np.integer | np.floating) and not isinstance(x, bool)):
        return
    name = getattr(f, "__name__", type(f).__name__)
    raise DifferentiationError(
        f"a Jacobian is one of real numbers and arrays of them, and {place} of {name} is {describe(x)}",
        None,
        "Let a function of arrays call it: one that takes its inputs from an array, and puts its outputs into one.",
    )


NESTED_DIFFERENTIATION.update((jacobian, value_and_jacobian, jac))
holds(jac)
