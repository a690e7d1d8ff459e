"""What the text of many directions calls: tangents and cotangents with a leading axis for the directions.

x_dot[j] is the tangent of x in direction j, for numbers as for arrays
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.projecting import Untouched
from microgradpy.tangents.arithmetic import item_cotangent, real_like
from microgradpy.tangents.batched_rows import NotAStack, at, check_stack, lengths, stacked
from microgradpy.tangents.filled import dense_tangent
from microgradpy.tangents.linear import with_reduced_axes
from microgradpy.tangents.strong_zeros import has_nan, kept_call, kept_tangent


def spread(dot: Any, directions: int) -> Any:
    """A tangent that is the same in all directions, as one for each: new lists, tuples, dicts and arrays. None stays None, as
    do what stands for the value of a variable that has none, and the zero of an item that nobody has read."""
    if isinstance(dot, dict):
        return {key: spread(item, directions) for key, item in dot.items()}
    if isinstance(dot, list | tuple):
        items = [spread(item, directions) for item in dot]
        return items if isinstance(dot, list) else tuple(items)
    if dot is Untouched.zero or not isinstance(dot, np.ndarray | np.number | float | int | complex):
        return dot
    found = np.empty((directions, *np.shape(dot)), np.result_type(dot, np.float64))
    found[...] = dot
    return found


def dense_each(x_dot: Any, x: Any, directions: int) -> Any:
    """`dense_tangent(x_dot[j], x)` for each direction j, of a number or an array `x`."""
    return spread(dense_tangent(None, x), directions) if x_dot is None else x_dot


def full_each(shape: Any, fill: Any) -> Any:
    """`np.full(shape, fill[j])` for each direction j."""
    found = np.empty((len(fill), *((shape,) if isinstance(shape, int | np.integer) else shape)), fill.dtype)
    found[...] = fill.reshape(len(fill), *(1,) * (found.ndim - 1))
    return found


def unbroadcast_each(d: Any, x: Any) -> Any:
    """`unbroadcast(d[j], x)` for each direction j: summed over the axes along which `x` was repeated, and repeated along those
    that `d` has not; real if `x` is."""
    check_stack(d)
    if type(x) is not np.ndarray and not isinstance(x, int | float | complex | np.number):
        raise NotAStack
    if isinstance(x, bool) or (type(x) is np.ndarray and x.dtype.kind not in "fciu"):
        raise NotAStack  # it has no cotangent
    return real_like(_summed_to(d, np.shape(x)), x)


def _summed_to(d: Any, shape: tuple[int, ...]) -> Any:
    if d.shape[1:] == shape:
        return d
    count = d.ndim - 1 - len(shape)
    if count > 0:
        d = np.add.reduce(d, axis=tuple(range(1, count + 1)))
    elif count < 0:
        d = d.reshape(len(d), *(1,) * -count, *d.shape[1:])
    repeated = tuple(place for place, length in enumerate(shape, 1) if length == 1 and d.shape[place] != 1)
    if repeated:
        d = np.add.reduce(d, axis=repeated, keepdims=True)
    return d if d.shape[1:] == shape else np.broadcast_to(d, (len(d), *shape)).copy()


def expand_each(y_bar: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """`expand_reduced(y_bar[j], x, axis, keepdims)` for each direction j."""
    shape = np.shape(x)
    check_stack(y_bar)
    if not shape:
        return y_bar
    found = np.empty((len(y_bar), *shape), y_bar.dtype)
    if axis is None or (y_bar.ndim == 1):
        found[...] = y_bar.reshape(len(y_bar), *(1,) * len(shape))
    else:
        like = with_reduced_axes(y_bar[0], x, axis, keepdims)
        found[...] = y_bar.reshape(len(y_bar), *np.shape(like))
    return found


def kept_each(x_dot: Any, y_dot: Any) -> Any:
    """`kept_tangent(x_dot[j], y_dot)` for each direction j. Nobody writes into what may be `y_dot`."""
    found = np.broadcast_to(y_dot, (len(x_dot), *np.shape(y_dot)))
    return kept_tangent(x_dot, found) if has_nan(y_dot) else found


def kept_call_each(many: tuple[bool, ...], dots: tuple[Any, ...], y_dot: Any) -> Any:
    """`kept_call(dots[j], y_dot[j])` for each direction j; `many` are the tangents that have these."""
    if not has_nan(y_dot):
        return y_dot
    directions = next(lengths(dot) for dot, flag in zip(dots, many, strict=True) if flag)
    rows = [tuple(at(dot, j) if flag else dot for dot, flag in zip(dots, many, strict=True)) for j in range(directions)]
    return stacked([kept_call(row, at(y_dot, j)) for j, row in enumerate(rows)])


def numbers_each(bars: Any) -> list[Any]:
    """The numbers in a vector, each for many directions."""
    return list(np.array(bars.T))


def item_cotangent_each(x: Any, index: Any, d: Any) -> Any:
    """`item_cotangent(x, index, d[j])` for each direction j, of an array `x`."""
    found = np.zeros((len(d), *x.shape), np.result_type(item_cotangent(x, index, d[0])))
    place = (slice(None), *index) if isinstance(index, tuple) else (slice(None), index)
    np.add.at(found, place, d.reshape(len(d), *(1,) * (found[place].ndim - d.ndim), *d.shape[1:]))
    return found


# At the entry


def are_double(value: Any) -> bool:
    """Whether what is computed with such numbers and arrays is the same with arrays in the place of numbers: in double
    precision, and real."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype == np.float64 or value.dtype.kind in "biu" or value.dtype.kind not in "fc"
    if isinstance(value, list | tuple):
        return all(map(are_double, value))
    if isinstance(value, dict):
        return all(map(are_double, value.values()))
    return not isinstance(value, complex)


def like_argument(bar: Any, x: Any, directions: int) -> Any:
    """The cotangents of an argument, a tree of numbers, with the leading axis everywhere. Raises NotAStack if they are not of
    its structure and shapes."""
    if bar is None or bar is Untouched.zero:
        return bar
    if isinstance(x, list | tuple) and type(bar) in (list, tuple) and len(bar) == len(x):
        return type(bar)([like_argument(part, item, directions) for part, item in zip(bar, x, strict=True)])
    if isinstance(x, dict) and type(bar) is dict and bar.keys() <= x.keys():
        return {key: like_argument(part, x[key], directions) for key, part in bar.items()}
    if isinstance(x, np.ndarray | np.number | float | int):
        if isinstance(bar, np.ndarray) and bar.shape == (directions, *np.shape(x)):
            return bar
        if isinstance(bar, float) and not np.ndim(x):
            return spread(bar, directions)
    raise NotAStack


def result_stack(y_dot: Any, mark: Any, directions: int) -> Any:
    """What a text returned as the tangent of its value, of which `mark` says what has the axis: as tangents that have it
    everywhere. Raises NotAStack for what is no tree of numbers."""
    if isinstance(mark, tuple):
        return tuple(result_stack(item, each, directions) for item, each in zip(y_dot, mark, strict=True))
    _check_tree(y_dot)
    return y_dot if mark else spread(y_dot, directions)


def _check_tree(dot: Any) -> None:
    if isinstance(dot, list | tuple | dict):
        for item in dot.values() if isinstance(dot, dict) else dot:
            _check_tree(item)
    elif not (dot is None or isinstance(dot, np.ndarray | np.number | float | int)):
        raise NotAStack


def filled_stack(stack: Any, x: Any, directions: int, met: set[int] | None = None) -> Any:
    """The tangents of an input in its structure, with zeros for None. Raises NotAStack for what is no tree of numbers, or has
    something in two places."""
    met = set() if met is None else met
    if isinstance(x, list | tuple | dict | np.ndarray):
        if id(x) in met:
            raise NotAStack
        met.add(id(x))
    if isinstance(x, bool | np.bool | str | bytes) or x is None:
        if stack is not None:
            raise NotAStack
        return None
    if isinstance(x, list | tuple | dict):
        return _filled_items(stack, x, directions, met)
    if not isinstance(x, np.ndarray | int | float | np.integer | np.floating) or np.result_type(x).kind not in "fiu":
        raise NotAStack
    if stack is None:
        return np.zeros((directions, *np.shape(x)))
    if not isinstance(stack, np.ndarray) or stack.dtype.kind not in "fiu" or stack.shape != (directions, *np.shape(x)):
        raise NotAStack
    return stack.astype(float)


def _filled_items(stack: Any, x: Any, directions: int, met: set[int]) -> Any:
    if type(x) is dict:
        if not (stack is None or isinstance(stack, dict)):
            raise NotAStack
        given = {} if stack is None else stack
        return {key: filled_stack(given.get(key), item, directions, met) for key, item in x.items()}
    if type(x) not in (list, tuple) or not (stack is None or isinstance(stack, list | tuple)):
        raise NotAStack
    rows = [None] * len(x) if stack is None else stack
    if len(rows) != len(x):
        raise NotAStack
    items = [filled_stack(row, item, directions, met) for row, item in zip(rows, x, strict=True)]
    return items if type(x) is list else tuple(items)
