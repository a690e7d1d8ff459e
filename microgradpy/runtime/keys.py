"""Keys of dicts, items of sets and bounds of slices carry no derivative: a number that may have one is refused there. And the
places of items in lists that grow."""

from __future__ import annotations

import collections
import enum
import functools
import operator
import types
from typing import Any

import numpy as np

from microgradpy.errors import MutationError
from microgradpy.rules.registry import non_differentiable
from microgradpy.tangents.helpers import returns
from microgradpy.tangents.projection import fields_of


def check_key(key: Any) -> None:
    """Refuse a differentiated number as a key, or in a tuple or function that is one."""
    match key:
        case tuple() | frozenset():
            parts = tuple(key)
        case types.FunctionType(__closure__=tuple() as cells):
            parts = tuple(map(_content, cells))
        case types.MethodType() | types.BuiltinMethodType():
            parts = (key.__self__,)
        case functools.partial():
            parts = (key.func, *key.args, *key.keywords.values())
        case _:
            parts = ()
    for part in parts:
        if part is not key:
            check_key(part)
    if isinstance(key, float | complex | np.inexact):
        raise MutationError(
            f"a differentiated {type(key).__name__} becomes a key of a dict or an item of a set",
            None,
            "Keys and items of sets carry no derivative: keep values in a list or tuple; as a key use a whole number, a text,"
            " round(key, 12) or stop_gradient(key).",
        )


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def check_keys(container: Any) -> None:
    """The same for all keys of a dict."""
    if isinstance(container, dict):
        for key in container:
            check_key(key)


def constant_key(key: Any) -> Any:
    """A key that is going to be in a dict, and may be differentiated as far as is known, where writes are not tracked."""
    if type(key) is str:
        return key
    check_key(key)
    if not isinstance(key, enum.Enum | type | types.ModuleType) and any(map(_holds_numbers, fields_of(key).values())):
        raise MutationError(
            f"a {type(key).__name__}, which holds numbers, becomes a key of a dict in a function that writes nothing",
            None,
            "Use its name or its place in a list as the key.",
        )
    return key


def _holds_numbers(value: Any, depth: int = 3) -> bool:
    if isinstance(value, float | complex | np.inexact | np.ndarray):
        return True
    if not depth or isinstance(value, enum.Enum | type | types.ModuleType):
        return False
    inside = value if isinstance(value, list | tuple) else fields_of(value).values()
    return any(_holds_numbers(part, depth - 1) for part in inside)


def check_index(container: Any, index: Any) -> None:
    """The same for an index under which something is stored, if the container turns out to be a dict."""
    if isinstance(container, dict):
        check_key(index)


def check_bounds(*bounds: Any) -> None:
    """Refuse differentiated numbers as the bounds of a slice, of which nobody could tell what becomes of them."""
    for bound in bounds:
        if isinstance(bound, float | complex | np.inexact):
            raise MutationError(
                f"a differentiated {type(bound).__name__} becomes a bound of a slice",
                None,
                "Write what the slice stands for: np.linspace(a, b, n), a + step * np.arange(n).",
            )


def check_object(number: int, name: str) -> None:
    """Python's error for an attribute of None, which has the number -1 among objects that go by numbers."""
    if number < 0:
        getattr(None, name)
        raise AttributeError(f"'NoneType' object has no attribute {name!r}")


non_differentiable(check_key, check_keys, constant_key, check_index, check_bounds, check_object)


# Lists that grow while they are read: where an item stands for good


@returns(dict)
def new_defaultdict(factory: Any) -> Any:
    """A `defaultdict` that only its keys are asked of which it has."""
    return collections.defaultdict(factory)


def item_of_growing(items: list[Any], index: Any) -> Any:
    """`items[index]` of a list that may be longer later: the primal notes the place from the front."""
    return items[index]


def from_front(items: list[Any], index: Any) -> Any:
    """The place of an item, or of a slice, counted from the front of a list as long as this one is now."""
    if isinstance(index, slice):
        start, stop, step = index.indices(len(items))
        return slice(start, None if stop < 0 else stop, step)
    if not hasattr(index, "__index__"):
        return index  # the list says what is wrong with it
    place = operator.index(index)
    return place if place >= 0 else place + len(items)
