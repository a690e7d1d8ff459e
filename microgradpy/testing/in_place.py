"""The arguments of a call with one number or array moved, and all else as it is: the very objects, with the memory they share.

A copy of what is at one place is moved, and put into the object, list or dict that holds it. When the call is over, all is as
it was, whatever the function has written."""

from __future__ import annotations

import collections
import functools
import random
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, final

import numpy as np

from microgradpy.testing.comparison import copied
from microgradpy.testing.degrees import Outline, Part, Vector, leaf_value, like_sequence
from microgradpy.testing.differences import readable

Restore = Callable[[], object]


@final
class InPlace:
    """`f(*args)` as a function of the degrees of freedom of its arguments, as `outline` has them."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], outline: Outline) -> None:
        self.f = f
        self.args = args
        self.outline = outline
        self.start = outline.vector()

    def __call__(self, vector: Vector, wide: bool = False) -> Any:
        """The value. If `wide`, what is moved becomes double if it has less precision; all that has, if nothing is moved."""
        with unchanged(self.args):
            everything = wide and np.array_equal(vector, self.start)
            return copied(readable(self.f(*self._built(self.outline.root, vector, wide, everything))))

    def _built(self, part: Part, vector: Vector, wide: bool, everything: bool) -> Any:
        if part.same_as is not None:
            return part.value
        if part.is_leaf:
            chosen = slice(part.start, part.start + part.size)
            is_moved = everything or not np.array_equal(vector[chosen], self.start[chosen], equal_nan=True)
            return leaf_value(vector[chosen], part.value, wide) if is_moved else part.value
        items = {key: self._built(inner, vector, wide, everything) for key, inner in part.children.items()}
        changed = {key: value for key, value in items.items() if value is not part.children[key].value}
        if not changed:
            return copied(part.value) if isinstance(part.value, Iterator) else part.value
        if isinstance(part.value, tuple):
            return like_sequence(part.value, list(items.values()))
        return _with(part.value, items, changed)


def _with(x: Any, items: dict[Any, Any], changed: dict[Any, Any]) -> Any:
    """Something with other things in it, which are put into it if that can be done."""
    if isinstance(x, functools.partial):
        return functools.partial(items["func"], *items["args"], **items["keywords"])
    if isinstance(x, types.MethodType | types.BuiltinMethodType):
        return getattr(items["__self__"], x.__name__)
    cells = dict(zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)) if isinstance(x, types.FunctionType) else {}
    for key, value in changed.items():
        if isinstance(x, list | dict):
            x[key] = value
        elif key in cells:
            cells[key].cell_contents = value
        else:
            object.__setattr__(x, key, value)
    return x


@contextmanager
def unchanged(x: Any) -> Iterator[None]:
    """Inside the block anything may be written into a value and what it holds; afterwards it is as it was."""
    restores: list[Restore] = []
    waiting, met = [x], dict[int, Any]()
    while waiting:
        value = waiting.pop()
        if id(value) not in met and not isinstance(value, type | types.ModuleType):
            met[id(value)] = value
            restore, held = _state(value)
            restores += restore
            waiting += held
    try:
        yield
    finally:
        for restore_one in restores:
            restore_one()


def _state(x: Any) -> tuple[list[Restore], list[Any]]:
    """What puts something back into the state that it is in, and what it holds."""
    match x:
        case np.ndarray():
            return [functools.partial(_restore_array, x, x.copy())] if x.flags.writeable else [], []
        case list() | collections.deque() | set():
            items = list(x)
            return [functools.partial(_restore_items, x, items)], items
        case dict():
            return [functools.partial(_restore_dict, x, dict(x))], list(x.values())
        case tuple() | frozenset():
            return [], list(x)
        case types.FunctionType():
            return [], [*(x.__closure__ or ()), x.__defaults__, x.__kwdefaults__]
        case types.CellType():
            return _state_of_cell(x)
        case types.MethodType() | types.BuiltinMethodType():
            return [], [x.__self__]
        case functools.partial():
            return [], [x.func, x.args, x.keywords]
    return _state_of_object(x)


def _state_of_cell(cell: types.CellType) -> tuple[list[Restore], list[Any]]:
    if cell == types.CellType():
        return [], []
    contents = cell.cell_contents
    return [functools.partial(setattr, cell, "cell_contents", contents)], [contents]


def _state_of_object(x: Any) -> tuple[list[Restore], list[Any]]:
    if isinstance(x, np.random.Generator):
        return [functools.partial(setattr, x.bit_generator, "state", x.bit_generator.state)], []
    if isinstance(x, np.random.RandomState):
        return [functools.partial(x.set_state, x.get_state())], []
    restores: list[Restore] = [functools.partial(x.setstate, x.getstate())] if isinstance(x, random.Random) else []
    slots = {name: getattr(x, name) for name in _slots(type(x)) if hasattr(x, name)}
    own = getattr(x, "__dict__", None)
    held = [*slots.values(), *([own] if type(own) is dict else [])]
    if slots:
        restores.append(functools.partial(_restore_slots, x, slots))
    return restores, held


def _slots(cls: type) -> list[str]:
    """The names of the fields of objects of a class that are not in their `__dict__`."""
    bases = [vars(base) for base in cls.__mro__ if "__slots__" in vars(base)]
    return [name for base in bases for name, value in base.items() if isinstance(value, types.MemberDescriptorType)]


def _restore_array(x: Any, before: Any) -> None:
    if x.tobytes() != before.tobytes():
        x[...] = before


def _restore_items(x: Any, items: list[Any]) -> None:
    if len(x) != len(items) or any(a is not b for a, b in zip(x, items, strict=True)):
        x.clear()
        (x.update if isinstance(x, set) else x.extend)(items)


def _restore_dict(x: Any, before: dict[Any, Any]) -> None:
    if list(x) != list(before) or any(x[key] is not value for key, value in before.items()):
        x.clear()
        x.update(before)


def _restore_slots(x: Any, slots: dict[str, Any]) -> None:
    for name, value in slots.items():
        object.__setattr__(x, name, value)
