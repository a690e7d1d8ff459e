"""Central differences of functions of structured arguments: numbers, arrays, lists, tuples, dicts and objects.

An argument is flattened to the vector of its real degrees of freedom and built again from a changed vector. The same
walk flattens a cotangent along its primal value (`None` is zero), so that both sides are vectors of equal length.
Integers, booleans, strings and functions have no degrees of freedom here.
"""

from __future__ import annotations

import copy
import types
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from microgradpy import Tangent
from microgradpy.tangents.fields import named_like

Vector = np.ndarray


def field_names(x: object) -> list[str]:
    """The fields that hold an object's state: its `__dict__`, then its slots; empty for functions, classes and modules."""
    if isinstance(x, type | types.ModuleType) or (callable(x) and hasattr(x, "__code__")):
        return []
    names = list(getattr(x, "__dict__", ()))
    for cls in type(x).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        names.extend(name for name in ([slots] if isinstance(slots, str) else slots) if hasattr(x, name))
    return names


def children(x: object) -> list[tuple[Any, Any]]:
    """The (key, value) pairs directly inside a container or object."""
    if isinstance(x, list | tuple | deque):
        return list(enumerate(x))
    if isinstance(x, dict):
        return list(x.items())
    return [(name, getattr(x, name)) for name in field_names(x)]


def is_leaf(x: object) -> bool:
    """A value with degrees of freedom of its own."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fc"
    return isinstance(x, float | complex | np.floating | np.complexfloating)


def leaf_vector(x: Any, like: Any) -> Vector:
    """The real degrees of freedom of `x`, which may be a cotangent of `like`: complex counts as (real, imaginary)."""
    wide = np.broadcast_to(np.asarray(x), np.shape(like)).ravel()
    if np.asarray(like).dtype.kind == "c":
        return np.stack([wide.real, wide.imag], axis=-1).ravel().astype(float)
    assert not np.iscomplexobj(wide), f"a complex cotangent {x!r} of the real value {like!r}"
    return wide.astype(float)


def flatten(x: object) -> Vector:
    """The vector of all degrees of freedom of a structured value."""
    return flatten_cotangent(x, x)


def flatten_cotangent(x: object, x_bar: Any) -> Vector:
    """A cotangent of `x` as a vector as long as `flatten(x)`; what is missing or None is zero."""
    if is_leaf(x):
        return leaf_vector(0.0 if x_bar is None else x_bar, x)
    parts = [flatten_cotangent(child, cotangent_item(x, x_bar, key)) for key, child in children(x)]
    return np.concatenate(parts) if parts else np.zeros(0)


def gathered(x: object, vector: Vector) -> Vector:
    """A vector along `flatten(x)` in which what an object has at all of its places stands at the first of them."""
    result, places, start = vector.copy(), dict[int, int](), 0

    def walk(part: object) -> None:
        nonlocal start
        size = flatten(part).size
        if isinstance(part, list | dict | np.ndarray) or field_names(part):
            first = places.setdefault(id(part), start)
            if first != start:
                result[first : first + size] += result[start : start + size]
                result[start : start + size] = 0.0
                start += size
                return
        inside = children(part)
        if inside and not is_leaf(part):
            for _, child in inside:
                walk(child)
        else:
            start += size

    walk(x)
    return result


def cotangent_item(x: object, x_bar: Any, key: Any) -> Any:
    """The part of a cotangent that belongs to the child of `x` at `key`."""
    if x_bar is None:
        return None
    if isinstance(x, list | tuple | deque):
        assert len(x_bar) == len(x), f"a cotangent of length {len(x_bar)} for a {type(x).__name__} of {len(x)}"
        return x_bar[key]
    if isinstance(x_bar, Mapping):
        return x_bar.get(key)
    return getattr(x_bar, key)


def rebuild(x: Any, vector: Vector) -> Any:
    """The value with the structure of `x` whose degrees of freedom are `vector`."""
    value, rest = take(x, np.asarray(vector, dtype=float))
    assert rest.size == 0
    return value


def take(x: Any, vector: Vector) -> tuple[Any, Vector]:
    """`x` rebuilt from the first degrees of freedom of `vector`, and the rest of the vector."""
    if is_leaf(x):
        return take_leaf(x, vector)
    new: dict[Any, Any] = {}
    for key, child in children(x):
        new[key], vector = take(child, vector)
    if not new:
        return x, vector
    if isinstance(x, list | dict):
        return type(x)(new.values() if isinstance(x, list) else new), vector
    if isinstance(x, deque):
        return deque(new.values(), x.maxlen), vector
    if isinstance(x, tuple):
        return (named_like(x, new.values()) if hasattr(x, "_fields") else tuple(new.values())), vector
    twin = copy.copy(x)
    for name, value in new.items():
        object.__setattr__(twin, name, value)
    return twin, vector


def take_leaf(x: Any, vector: Vector) -> tuple[Any, Vector]:
    count = np.size(x) * (2 if np.iscomplexobj(x) else 1)
    mine, rest = vector[:count], vector[count:]
    if np.iscomplexobj(x):
        mine = mine[0::2] + 1j * mine[1::2]
    if isinstance(x, np.ndarray):
        return mine.reshape(x.shape).astype(x.dtype), rest
    return type(x)(mine[0]), rest


def random_seed(y: Any, number: int = 0) -> Any:
    """A cotangent with the structure of `y`, the same for the same `number`."""
    vector = np.random.default_rng(1000 + number).uniform(0.3, 1.7, flatten(y).size)
    return as_cotangent(rebuild(y, vector))


def as_cotangent(x: Any) -> Any:
    """A value as a cotangent: objects with fields become a Tangent."""
    if isinstance(x, list | tuple | deque):
        items = [as_cotangent(item) for item in x]
        return items if not isinstance(x, tuple) else named_like(x, items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, dict):
        return {key: as_cotangent(value) for key, value in x.items()}
    if is_leaf(x) or isinstance(x, np.ndarray) or not field_names(x):
        return x
    return Tangent(type(x), {name: as_cotangent(value) for name, value in children(x)})


def dot(y_bar: Any, y: Any) -> float:
    """The inner product of a value with a cotangent of it."""
    return float(np.dot(flatten_cotangent(y, y_bar), flatten(y)))


def differences(function: Callable[..., float], args: Sequence[Any], step: float = 1e-3) -> Vector:
    """The derivative of a scalar function with respect to `flatten(args)`, by central differences of order four.

    Source: the five-point stencil; its error is of order step**4 next to a rounding error of order 1e-16/step.
    """
    args = tuple(args)
    start = flatten(args)
    result = np.zeros_like(start)
    for i in range(start.size):
        width = step * (1.0 + abs(start[i]))

        def along(distance: float, i: int = i, width: float = width) -> float:
            moved = start.copy()
            moved[i] += distance * width
            return function(*rebuild(args, moved))

        result[i] = (8.0 * (along(1.0) - along(-1.0)) - (along(2.0) - along(-2.0))) / (12.0 * width)
    return result
