"""Differences that move what is at one place: a copy of a number or array, with all else as it is; of an object, list or dict
that stands at several places the object itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from microgradpy import Tangent

Path = tuple[Any, ...]


def children(x: Any) -> dict[Any, Any]:
    """What is directly inside of a container or object."""
    if isinstance(x, list | tuple):
        return dict(enumerate(x))
    if isinstance(x, dict):
        return x
    names = getattr(type(x), "__slots__", None) or list(getattr(x, "__dict__", {}))
    return {name: getattr(x, name) for name in names}


def leaves(x: Any, path: Path = (), met: set[int] | None = None) -> Iterator[tuple[Path, Any]]:
    """The numbers and arrays, with the first way to each place."""
    met = set() if met is None else met
    if isinstance(x, float | np.ndarray):
        yield path, x
    elif isinstance(x, tuple) or id(x) not in met:
        met.add(id(x))
        for key, part in children(x).items():
            yield from leaves(part, (*path, key), met)


def moved(x: Any, path: Path, by: Any) -> Any:
    """The value with another number or array at one place, which is put into the very object that holds it."""
    if not path:
        return x + by
    key, *rest = path
    part = moved(children(x)[key], tuple(rest), by)
    if isinstance(x, tuple):
        items = [part if k == key else item for k, item in enumerate(x)]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, list | dict):
        x[key] = part
    elif part is not children(x)[key]:
        object.__setattr__(x, key, part)  # also where the class is frozen
    return x


def difference(
    function: Callable[..., Any], arguments: Callable[[], tuple[Any, ...]], path: Path, by: Any, step: float = 1e-3
) -> float:
    """The derivative along a change of what is at one place of arguments that are made anew for each call."""

    def value(distance: float) -> float:
        return float(function(*moved(arguments(), path, distance * by)))

    near, far = (value(step * k) - value(-step * k) for k in (1, 2))
    return (8.0 * near - far) / (12.0 * step)


def at(bar: Any, path: Path) -> Any:
    """What a gradient has at a place; None if it has nothing there."""
    for key in path:
        if bar is None:
            return None
        bar = bar.get(key) if isinstance(bar, dict | Tangent) else bar[key]
    return bar


def slope(bar: Any, path: Path, by: Any) -> float:
    """What a gradient says of a change of what is at a place."""
    found = at(bar, path)
    return 0.0 if found is None else float(np.sum(found * by))
