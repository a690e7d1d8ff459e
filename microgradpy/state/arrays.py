"""Writes into arrays.

What is stored over has its cotangent taken and set to zero first, and then given to what was stored: the two may be the same
memory.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.errors import MutationError
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.runtime.lookup_cache import takes
from microgradpy.state.array_memory import other_view, owner_of
from microgradpy.state.shadows import Shadows, Undo
from microgradpy.state.snapshots import Structure, frozen, structure_of
from microgradpy.state.write_handlers import Made, write_handler
from microgradpy.tangents.arithmetic import real_like, unbroadcast
from microgradpy.tangents.memory_order import copied
from microgradpy.tangents.overlap import has_repeats, is_written_twice, offsets, winners
from microgradpy.tangents.types import is_structural_zero

Array = np.ndarray[Any, Any]


def carries(x: Any) -> bool:
    """Whether an array can pass a derivative on: one of whole numbers cuts off what is stored into it. Refuses one that shows
    the bits of other numbers, which a write would change."""
    if not isinstance(x, np.ndarray) or x.dtype.kind in "fc":
        return isinstance(x, np.ndarray)
    if x.dtype.names is not None:
        raise _written_as_a_whole(x)
    owner = owner_of(x)
    if not isinstance(owner, np.ndarray):
        found = f"an array of {x.dtype} in the memory of a {type(owner).__name__}, which other arrays may show, is written into"
        raise MutationError(found, None, "Make a copy of it: x.copy().")
    if owner.dtype.kind in "fc":
        raise other_view(x, owner.dtype)
    return False


def check_writable(x: Any) -> None:
    """Refuse to write all of an array of which two entries are one place."""
    if isinstance(x, np.ndarray) and is_written_twice(x):
        raise _written_twice()


def _check_entries(x: Array, index: Any) -> None:
    """Refuse to write entries of an array that are one place."""
    if is_written_twice(x):
        shown = np.asarray(offsets(x)[index])
        if len(np.unique(shown)) != shown.size:
            raise _written_twice()


def _written_twice() -> MutationError:
    found = "a write into a view whose entries overlap (as_strided, a sliding window)"
    return MutationError(found, None, "Write into a copy: x.copy().")


# Items


@write_handler(operator.setitem, np.ndarray.__setitem__, of=np.ndarray)
def set_array_item(x: Array, index: Any, value: Any, /) -> Made:
    if x.dtype.names is not None:
        return _set_field(x, index, value)
    _check_entries(x, index)
    index = frozen(index)
    check_store(x, index, value)
    given = structure_of(value)
    shape_of = shape_given(value)
    x[index] = value

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        d = taken_item(shadows.of(x), index) if carries(x) else None
        return None, None, None if d is None else settle_broadcast(given, shape_of, d, shadows)

    return None, undo


def _written_as_a_whole(x: Array) -> MutationError:
    found = f"entries of a structured array ({x.dtype}) are assigned as a whole"
    return MutationError(found, None, f"Assign its fields: x[{x.dtype.names[0]!r}][i] = ...")


def _set_field(x: Array, index: Any, value: Any) -> Made:
    """x["name"] = value of a structured array: what is written is the view that x["name"] is."""
    if not isinstance(index, str):
        raise _written_as_a_whole(x)
    return set_array_item(x[index], ..., value)


def check_store(x: Any, index: Any, value: Any) -> None:
    """Refuse x[index] = value for a vector that is written from a part of itself with another step in the same direction: NumPy
    reads entries there that it has written just before."""
    if not isinstance(value, np.ndarray) or not value.ndim or not isinstance(x, np.ndarray):
        return
    place = x[index]
    if not isinstance(place, np.ndarray):  # in an array of objects
        return
    if place.ndim == 1 and place.strides[0] != value.strides[-1] and place.strides[0] * value.strides[-1] > 0:
        if np.shares_memory(place, value):
            found = "a part of a vector is written from a part of it with another step, which NumPy changes while it reads"
            raise MutationError(found, None, "Write a copy of what is read: x[...] = y.copy().")


def taken_item(x_bar: Array, index: Any) -> Any:
    """The cotangent of what was stored at `x[index]`, which is zero there afterwards. Of a place that was stored to more
    than once it belongs to the last one."""
    d = x_bar[index]
    if isinstance(d, np.ndarray):
        d = d.copy()
        if has_repeats(index):
            d = d * winners(x_bar.shape, index)
    x_bar[index] = 0.0
    return d


def shape_given(value: Any) -> Any:
    """A value of the shape of what is stored, for `unbroadcast`."""
    return frozen(value) if isinstance(value, list | tuple | np.flatiter) else value


def settle_broadcast(given: Structure, value: Any, d: Any, shadows: Shadows) -> Any:
    """Settle the cotangent of what was stored, which may have been repeated to fill its place."""
    return given.divided(shadows, unbroadcast(d, value))


# Operators in place


def _in_place(in_place: Callable[..., Any], out_of_place: Callable[..., Any]) -> None:
    @write_handler(in_place, of=np.ndarray)
    def made(x: Array, value: Any, /) -> Made:
        check_writable(x)
        given, before, operand = structure_of(value), frozen(x), frozen(value)
        y = in_place(x, value)
        if y is not x:
            raise MutationError(f"{in_place.__name__} gave a new array", None, "Write it as `x = x + y`.")

        def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
            if not carries(x):
                return None, None
            d = taken_item(shadows.of(x), ...)
            x_bar, value_bar = pulled_back(out_of_place, (before, operand), {}, d)
            shadows.add(x, x_bar)
            return None, given.divided(shadows, value_bar)

        return y, undo


for _name in ("mul", "truediv", "pow", "matmul", "floordiv", "mod"):
    _in_place(getattr(operator, f"i{_name}"), getattr(operator, _name))


@write_handler(operator.iadd, of=np.ndarray)
def add_in_place(x: Array, value: Any, /) -> Made:
    return _shift_in_place(operator.iadd, x, value, 1.0)


@write_handler(operator.isub, of=np.ndarray)
def subtract_in_place(x: Array, value: Any, /) -> Made:
    return _shift_in_place(operator.isub, x, value, -1.0)


def _shift_in_place(in_place: Callable[..., Any], x: Array, value: Any, sign: float) -> Made:
    """x += value: x_bar stays as it is, and value_bar += x_bar."""
    check_writable(x)
    given = structure_of(value)
    shape_of = shape_given(value)
    in_place(x, value)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if not carries(x):
            return None, None
        d = shadows.of(x)
        return None, settle_broadcast(given, shape_of, d.copy() if sign == 1.0 else -d, shadows)

    return x, undo


def pulled_back(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], d: Any) -> tuple[Any, ...]:
    """The cotangents of the positional arguments of a call that was made before, by its rule."""
    rule = rrule.find_for(f, args, kwargs)
    if rule is not None and args[-1] is None and not takes(rule, len(args)):
        return (*pulled_back(f, args[:-1], kwargs, d), None)
    if rule is None and is_non_differentiable(f):
        return (None,) * len(args)
    if rule is None:
        raise MutationError(f"{f.__name__} in place has no rule", None, "Write it out of place.")
    with np.errstate(all="ignore"):
        _, pullback = rule(*args, **kwargs)
        bars = pullback(d)[1:]
    bars = tuple(None if is_structural_zero(bar) else bar for bar in bars[: len(args)])
    return bars + (None,) * (len(args) - len(bars))


# Methods and functions that write


@write_handler(np.ndarray.fill, of=np.ndarray)
def fill(x: Array, value: Any, /) -> Made:
    given = structure_of(value)
    x.fill(value)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        d = taken_item(shadows.of(x), ...) if carries(x) else None
        return None, None if d is None else settle_broadcast(given, value, d, shadows)

    return None, undo


@write_handler(np.ndarray.sort, of=np.ndarray)
def sort(x: Array, /, axis: int = -1, kind: Any = None, order: Any = None, *, stable: bool | None = None) -> Made:
    places = np.argsort(x, axis=axis, kind="stable")
    x.sort(axis, kind, order, stable=stable)
    return None, _undo_permutation(x, places, axis)


@write_handler(np.ndarray.partition, of=np.ndarray)
def partition(x: Array, kth: Any, /, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Made:
    before = copied(x)
    x.partition(kth, axis, kind, order)
    # Equal entries are exchanged among themselves, so any order that agrees with the values is one of the orders.
    places = np.empty(x.shape, np.intp)
    ranks = np.argsort(np.argsort(x, axis=axis, kind="stable"), axis=axis, kind="stable")
    places[...] = np.take_along_axis(np.argsort(before, axis=axis, kind="stable"), ranks, axis)
    undo = _undo_permutation(x, places, axis)
    return None, lambda y_bar, shadows: (*undo(y_bar, shadows), None)


def _undo_permutation(x: Array, places: Array, axis: int) -> Undo:
    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        x_bar = shadows.of(x)
        np.put_along_axis(x_bar, places, x_bar.copy(), axis)
        return (None,)

    return undo


def _refuse(name: str, why: str, instead: str) -> Callable[..., Made]:
    def refuse(*args: Any, **kwargs: Any) -> Made:
        raise MutationError(f"{name} {why}", None, instead)

    return refuse


for _name in ("resize", "setfield", "byteswap", "setflags"):
    write_handler(getattr(np.ndarray, _name), of=np.ndarray)(
        _refuse(f"x.{_name}", "changes what the views of an array mean", "Make a new array.")
    )


@write_handler(np.copyto, of=np.ndarray)
def copyto(x: Array, value: Any, /, casting: Any = "same_kind", where: Any = True) -> Made:
    mask = frozen(where)
    given = structure_of(value)
    shape_of = shape_given(value)
    check_store(x, ..., value)
    np.copyto(x, value, casting, where)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        d = taken_where(shadows.of(x), mask) if carries(x) else None
        return None, None if d is None else settle_broadcast(given, shape_of, d, shadows)

    return None, undo


def taken_where(x_bar: Array, mask: Any) -> Array:
    """The cotangent where a mask is true, which is zero there afterwards."""
    d = np.where(mask, x_bar, 0.0)
    x_bar[...] = np.where(mask, 0.0, x_bar)
    return d


@write_handler(np.fill_diagonal, of=np.ndarray)
def fill_diagonal(x: Array, value: Any, /, wrap: bool = False) -> Made:
    given = structure_of(value)
    shape_of = frozen(value)
    np.fill_diagonal(x, value, wrap)
    step = x.shape[1] + 1 if x.ndim == 2 else 1 + int(np.cumprod(x.shape[:-1]).sum())
    end = None if x.ndim != 2 or wrap else x.shape[1] * x.shape[1]

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if not carries(x):
            return None, None
        x_bar = shadows.of(x)
        places = np.unravel_index(np.arange(x_bar.size)[:end:step], x_bar.shape)
        d = taken_item(x_bar, places)
        return None, settle_repeated(given, shape_of, d, shadows)

    return None, undo


def settle_repeated(given: Structure, value: Any, d: Array, shadows: Shadows) -> Any:
    """Settle the cotangent of values that were taken again from the first on when they had run out."""
    if np.ndim(value) == 0:
        return settle_broadcast(given, value, d, shadows)
    total = np.zeros(np.size(value), d.dtype)
    np.add.at(total, np.arange(d.size) % max(np.size(value), 1), d.reshape(-1))
    return given.divided(shadows, real_like(total.reshape(np.shape(value)), value))


@write_handler(np.put, np.ndarray.put, of=np.ndarray)
def put(x: Array, places: Any, values: Any, /, mode: Any = "raise") -> Made:
    given, shape_of, taken = structure_of(values), frozen(values), np.array(places).reshape(-1)
    np.put(x, places, values, mode)
    if mode != "raise":
        taken = np.clip(taken, 0, x.size - 1) if mode == "clip" else taken % x.size

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if not carries(x) or not taken.size:
            return None, None, None
        x_bar = shadows.of(x)
        d = taken_item(x_bar, np.unravel_index(taken % x.size, x.shape))
        return None, None, settle_repeated(given, shape_of, d, shadows)

    return None, undo


@write_handler(np.put_along_axis, of=np.ndarray)
def put_along_axis(x: Array, indices: Any, values: Any, /, axis: int | None = -1) -> Made:
    given, shape_of, taken = structure_of(values), frozen(values), np.array(indices)
    np.put_along_axis(x, indices, values, axis)
    if axis is None:
        places: Any = np.unravel_index(taken % x.size, x.shape)
    else:
        grid = list(np.ogrid[tuple(map(slice, taken.shape))])
        grid[axis] = taken
        places = tuple(grid)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        d = taken_item(shadows.of(x), places) if carries(x) else None
        return None, None, None if d is None else settle_broadcast(given, shape_of, d, shadows)

    return None, undo


@write_handler(np.putmask, of=np.ndarray)
def putmask(x: Array, mask: Any, values: Any, /) -> Made:
    given, shape_of, chosen = structure_of(values), frozen(values), np.array(mask, bool)
    np.putmask(x, mask, values)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if not carries(x):
            return None, None, None
        d = taken_where(shadows.of(x), np.broadcast_to(chosen, x.shape))
        return None, None, settle_repeated(given, shape_of, d, shadows)

    return None, undo


@write_handler(np.place, of=np.ndarray)
def place(x: Array, mask: Any, values: Any, /) -> Made:
    given, shape_of, chosen = structure_of(values), frozen(values), np.array(mask, bool)
    np.place(x, mask, values)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if not carries(x):
            return None, None, None
        x_bar = shadows.of(x)
        d = taken_item(x_bar, np.broadcast_to(chosen, x.shape) if chosen.shape == x.shape else chosen.reshape(x.shape))
        return None, None, settle_repeated(given, shape_of, d, shadows)

    return None, undo


@write_handler(np.nan_to_num)
def nan_to_num(x: Any, /, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Made:
    """Of a copy it is a function like others; in place it stores over what is not finite."""
    finite = np.isfinite(x)
    # Of complex numbers each part is looked at by itself.
    ways: list[Callable[[Any], Any]] = [np.real, np.imag] if np.iscomplexobj(x) else [np.real]
    parts = [(part, _not_finite(part(x))) for part in ways]
    values = [(number, structure_of(value), frozen(value)) for number, value in enumerate((nan, posinf, neginf))]
    y = np.nan_to_num(x, copy, nan, posinf, neginf)

    def settled(d: Any, shadows: Shadows) -> list[Any]:
        bars: list[Any] = []
        for number, given, value in values:
            bar: Any = sum([np.where(places[number], part(d), 0.0) for part, places in parts], start=np.zeros(()))
            bars.append(None if value is None else settle_broadcast(given, value, bar, shadows))
        return bars

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if isinstance(y, np.ndarray) and y is x:
            stored = shadows.of(x).copy()
            shadows.of(x)[~finite] = 0.0
            return None, None, *settled(stored, shadows)
        d = shadows.born(y, y_bar)
        if d is None:
            return (None,) * 5
        return unbroadcast(np.where(finite, d, 0.0), x), None, *settled(d, shadows)

    return y, undo


def _not_finite(x: Any) -> tuple[Any, Any, Any]:
    """Where real numbers are NaN and the two infinities."""
    return np.isnan(x), np.isposinf(x), np.isneginf(x)
