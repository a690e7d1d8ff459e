"""NumPy's functions that call what they are given, and `np.r_`, written in Python: the compiler differentiates the text.

Each calls the same functions as often and in the same order, and gives arrays of the same shapes and dtypes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from microgradpy.rules.registry import non_differentiable

_Array = Any


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> _Array:
    """np.apply_along_axis: what the first call gives says what shape and dtype the others have."""
    arr = np.asanyarray(arr)
    axis = normalize_axis_index(axis, arr.ndim)
    rows = np.moveaxis(arr, axis, -1)
    places = places_of(rows.shape[:-1])
    results = [np.asanyarray(func1d(rows[place], *args, **kwargs)) for place in places]
    shape, dtype = results[0].shape, results[0].dtype
    alike = [np.broadcast_to(result, shape).astype(dtype) for result in results]
    stacked = np.reshape(np.stack(alike), rows.shape[:-1] + shape)
    return np.transpose(stacked, axes_of_results(stacked.ndim, len(shape), axis))


def places_of(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The places of the rows."""
    places = list(np.ndindex(shape))
    if not places:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    return places


def axes_of_results(count: int, own: int, axis: int) -> list[int]:
    """The order of the axes after which those of a result, the last `own`, stand where the axis was."""
    axes = list(range(count))
    return axes[:axis] + axes[count - own :] + axes[axis : count - own]


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> _Array:
    """np.apply_over_axes"""
    value = np.asarray(a)
    for axis in [axes] if np.ndim(axes) == 0 else axes:
        place = axis if axis >= 0 else a.ndim + axis
        value = with_as_many_axes(func(value, place), value.ndim, place)
    return value


def with_as_many_axes(result: _Array, count: int, axis: int) -> _Array:
    """A result with its axis put back, if that is gone."""
    if result.ndim == count:
        return result
    if result.ndim + 1 != count:
        raise ValueError("function is not returning an array of the correct shape")
    return np.expand_dims(result, axis)


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> _Array:
    """np.piecewise"""
    x = np.asanyarray(x)
    conditions = conditions_of(x, condlist, len(funclist))
    y = np.zeros_like(x)
    for condition, function in zip(conditions, funclist, strict=True):
        if not callable(function):
            y = placed(y, condition, function)
        elif np.any(condition):
            y = placed(y, condition, function(x[condition], *args, **kw))
    return y


def conditions_of(x: Any, condlist: Any, count: int) -> _Array:
    """The conditions of np.piecewise, as many as there are functions: the last may be that none of them holds."""
    if np.isscalar(condlist) or (not isinstance(condlist[0], list | np.ndarray) and np.ndim(x) != 0):
        condlist = [condlist]
    conditions = np.asarray(condlist, dtype=bool)
    found = len(conditions)
    if found == count - 1:
        return np.concatenate([conditions, ~np.any(conditions, axis=0, keepdims=True)], axis=0)
    if found != count:
        raise ValueError(f"with {found} condition(s), either {found} or {found + 1} functions are expected")
    return conditions


def placed(y: _Array, condition: Any, values: Any) -> _Array:
    """`y` after `y[condition] = values`, as a new array."""
    inserted = np.broadcast_to(np.asarray(values), y[condition].shape).astype(y.dtype)
    return np.concatenate([np.ravel(y), np.ravel(inserted)])[sources(y.shape, condition)]


def sources(shape: tuple[int, ...], condition: Any) -> _Array:
    """Where each entry is from: from the array itself, or from the values that are written after it."""
    places = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    places[condition] = places.size + np.arange(np.sum(np.ones(shape, bool)[condition])).reshape(places[condition].shape)
    return places


def fromfunction(function: Callable[..., Any], shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """np.fromfunction"""
    return function(*np.indices(shape, dtype=dtype), **kwargs)


def fromiter(iter: Any, dtype: Any, count: int = -1) -> _Array:
    """np.fromiter, of what gives its items one by one."""
    return np.fromiter(list(iter) if count < 0 else list(itertools.islice(iter, count)), dtype)


# np.vectorize


def elementwise(function: Any, otypes: Any, cache: bool, excluded: Any, /, *args: Any, **kwargs: Any) -> Any:
    """np.vectorize(function, otypes=otypes, cache=cache, excluded=excluded)(*args, **kwargs). Without `otypes`, the function is
    called once more than there are entries: what that gives says what dtypes the results have."""
    places = [k for k in range(len(args)) if k not in excluded]
    names = [name for name in kwargs if name not in excluded]
    if not places and not names:
        return function(*args, **kwargs)
    arrays = [np.asanyarray(x) for x in (*[args[k] for k in places], *[kwargs[name] for name in names])]

    def call(row: Any) -> Any:
        given = [row[places.index(k)] if k in places else args[k] for k in range(len(args))]
        named = {name: row[len(places) + names.index(name)] if name in names else kwargs[name] for name in kwargs}
        return function(*given, **named)

    first = None
    if otypes is None:
        check_sizes(arrays)
        first = call([np.ravel(x)[0] for x in arrays])
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    rows = list(zip(*[np.ravel(np.broadcast_to(x, shape)).tolist() for x in arrays], strict=True))
    results = [call(row) for row in rows] if otypes is not None or not cache else [first, *[call(row) for row in rows[1:]]]
    if otypes is not None:
        count, dtypes = len(otypes), otypes
    else:
        count, dtypes = dtypes_of(first)
    if count == 1:
        return as_array(results, dtypes[0], shape)
    check_counts(results, count)
    return tuple([as_array([result[k] for result in results], dtypes[k], shape) for k in range(count)])


def check_sizes(arrays: list[Any]) -> None:
    if any(x.size == 0 for x in arrays):
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")


def check_counts(results: list[Any], count: int) -> None:
    """Refuse what Python itself refuses: an unlike number of results."""
    for result in results:
        if not isinstance(result, tuple) or len(result) != count:
            raise ValueError(f"a function that returns {count} results was expected, and it returned {type(result).__name__}")


def dtypes_of(result: Any) -> tuple[int, list[Any]]:
    """How many results a function returns, and their dtypes."""
    results = result if isinstance(result, tuple) else (result,)
    return len(results), [np.asarray(part).dtype for part in results]


def as_array(results: list[Any], dtype: Any, shape: tuple[int, ...]) -> _Array:
    """Numbers as an array."""
    check_numbers(results, dtype)
    return np.reshape(np.array(results, dtype=dtype), shape)


def check_numbers(results: list[Any], dtype: Any) -> None:
    if np.dtype(dtype) != object and any(np.ndim(result) for result in results):
        raise ValueError("setting an array element with a sequence.")


# np.frompyfunc


def results_of_rows(function: Any, shape: tuple[int, ...], count: int, /, *args: Any) -> tuple[list[Any], ...]:
    """What np.frompyfunc(function, len(args), count)(*args) calls, in arrays that are broadcast to a shape: the results of all
    entries, for each of the results of one."""
    arrays = [x if isinstance(x, np.ndarray) else np.asarray(x) for x in args]
    columns = [np.ravel(np.broadcast_to(x, shape)).tolist() for x in arrays]
    results = [function(*row) for row in zip(*columns, strict=True)]
    if count == 1:
        return (results,)
    check_counts(results, count)
    return tuple([[result[k] for result in results] for k in range(count)])


# np.r_ and np.c_


def joined(axis: int, ndmin: int, trans1d: int, key: Any) -> _Array:
    """np.r_[key], np.c_[key], and what else differs from them only in these numbers."""
    items = key if isinstance(key, tuple) else (key,)
    if isinstance(items[0], str):
        axis, ndmin, trans1d = directive(items[0], axis, ndmin, trans1d)
        items = items[1:]
    arrays = [as_part(item, ndmin, trans1d) for item in items]
    dtype = np.result_type(*[type_of_part(item, x) for item, x in zip(items, arrays, strict=True)])
    return np.concatenate([with_axes(np.asarray(x, dtype), ndmin) for x in arrays], axis=axis)


def directive(text: str, axis: int, ndmin: int, trans1d: int) -> tuple[int, int, int]:
    """What a first item such as "0,2" says of the axis, the number of axes, and where those of a smaller array go."""
    if text in ("r", "c"):
        raise ValueError("np.r_ with 'r' or 'c' makes a matrix: use np.concatenate")
    numbers = [int(part) for part in text.split(",")]
    if len(numbers) == 1:
        return numbers[0], ndmin, trans1d
    return numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else trans1d


def is_number(item: Any) -> bool:
    """Whether an item is a scalar, whose type does not decide about that of the result if it is Python's."""
    return isinstance(item, int | float | complex | np.generic)


def type_of_part(item: Any, array: Any) -> Any:
    return item if is_number(item) else array.dtype


def as_part(item: Any, ndmin: int, trans1d: int) -> Any:
    """An item as an array of so many axes; a number as it is."""
    if isinstance(item, slice):
        spaced = with_axes(range_of(item), ndmin)
        return spaced if ndmin == 1 or trans1d == -1 else np.swapaxes(spaced, -1, trans1d)
    if is_number(item):
        return item
    array = np.asanyarray(item)
    if trans1d == -1 or array.ndim >= ndmin:
        return with_axes(array, ndmin)
    return np.transpose(with_axes(array, ndmin), axes_of_part(array.ndim, ndmin, trans1d))


def axes_of_part(own: int, ndmin: int, trans1d: int) -> list[int]:
    """The order of the axes after which those that an array has itself start at `trans1d`."""
    added = ndmin - own
    start = trans1d + added + 1 if trans1d < 0 else trans1d
    axes = list(range(ndmin))
    return axes[:start] + axes[added:] + axes[start:added]


def range_of(item: slice) -> _Array:
    """The numbers that a slice stands for: with an imaginary step so many, both ends among them."""
    bounds: Any = item
    start, step = 0 if bounds.start is None else bounds.start, 1 if bounds.step is None else bounds.step
    if np.iscomplexobj(step):
        return np.linspace(start, item.stop, num=int(abs(step)))
    return np.arange(start, item.stop, step)


def with_axes(x: _Array, ndmin: int) -> _Array:
    """An array with axes of length 1 before its own, if it has less."""
    return np.reshape(x, (1,) * (ndmin - np.ndim(x)) + np.shape(x)) if np.ndim(x) < ndmin else x


non_differentiable(normalize_axis_index, places_of, axes_of_results, conditions_of, sources, check_sizes, check_counts)
non_differentiable(dtypes_of, check_numbers, directive, is_number, axes_of_part, range_of)
REPLACEMENTS: dict[Any, Callable[..., Any]] = {
    np.apply_along_axis: apply_along_axis,
    np.apply_over_axes: apply_over_axes,
    np.fromfunction: fromfunction,
    np.piecewise: piecewise,
}
"""What is differentiated in the place of a function of NumPy's."""
