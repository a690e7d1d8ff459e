"""The inner product of a cotangent with a tangent, and the tangent of a value found by such products.

Both live in the structure of one value, as real vectors: <a, b> is the sum over all numbers in it of Re(conj(a) b). A pullback
x_bar = J^T y_bar and the pushforward y_dot = J x_dot belong together by <y_bar, y_dot> = <x_bar, x_dot>.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from microgradpy.errors import DifferentiationError, MissingRuleError
from microgradpy.tangents.arithmetic import cotangent_dtype
from microgradpy.tangents.fields import named_like
from microgradpy.tangents.projection import fields_of, zeros_for
from microgradpy.tangents.thunks import computed
from microgradpy.tangents.types import NotImplementedTangent, Tangent, is_structural_zero


def pairing(bar: Any, dot: Any, chosen: bool = False) -> float:
    """<bar, dot> for a cotangent and a tangent of the same value; whatever is missing in either is zero. Zeros of the tangent
    are strong: what does not move adds nothing, whatever the slope. So are those of the cotangent if they say what was
    `chosen`."""
    bar, dot = computed(bar), computed(dot)
    if is_structural_zero(bar) or is_structural_zero(dot):
        return 0.0
    for part in (bar, dot):
        if isinstance(part, NotImplementedTangent):
            part.refuse()
    if isinstance(bar, Mapping) and isinstance(dot, Mapping):
        bar, dot = _of_what_it_is(bar), _of_what_it_is(dot)
        return sum((pairing(bar[key], dot[key], chosen) for key in bar.keys() & dot.keys()), 0.0)
    if isinstance(bar, list | tuple) or isinstance(dot, list | tuple):
        return sum((pairing(part, moved, chosen) for part, moved in zip(bar, dot, strict=False)), 0.0)
    with np.errstate(all="ignore"):
        products = np.real(np.multiply(np.conj(bar), dot))  # not `*`, which is another product of a matrix
        zeros = np.equal(dot, 0.0) | np.equal(bar, 0.0) if chosen else np.equal(dot, 0.0)
        return float(np.sum(np.where(zeros, 0.0, products)))


def _of_what_it_is(part: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The tangent of a tangent, which may be that of an object with fields, as what it is the tangent of has it."""
    while isinstance(part, Tangent) and part.primal_type is Tangent and "_fields" in part:
        part = part["_fields"]
    return part


Seed = Callable[[Any], float]


def tangent_by_pairing(y: Any, pair: Seed, around: tuple[int, ...] = ()) -> Any:
    """The tangent y_dot of `y` for which `pair(seed)` is <seed, y_dot>, by one seed for every real number in `y`. None for
    what has no derivative. `around` are the containers that `y` is in."""
    if zeros_for(y) is None:
        return None
    if isinstance(y, np.ndarray):
        return _of_array(y, pair)
    if isinstance(y, int | float | complex | np.number):
        return _of_number(y, pair)
    around = _inside(y, around)
    if isinstance(y, list | tuple | deque):
        items = [_of_part(item, _at_item(pair, y, index), around) for index, item in enumerate(y)]
        return items if not isinstance(y, tuple) else named_like(y, items) if hasattr(y, "_fields") else tuple(items)
    if isinstance(y, dict):
        return {key: _of_part(value, _at_key(pair, dict, key), around) for key, value in y.items()}
    named = partial(Tangent, type(y))
    fields = fields_of(y).items()
    return named({name: tangent_by_pairing(value, _at_key(pair, named, name), around) for name, value in fields})


def _of_part(value: Any, pair: Seed, around: tuple[int, ...]) -> Any:
    """The tangent of one of several results. Of some a rule may have no derivative, which is refused if it is used."""
    try:
        return tangent_by_pairing(value, pair, around)
    except MissingRuleError as error:
        return NotImplementedTangent(error.found)


def _inside(y: Any, around: tuple[int, ...]) -> tuple[int, ...]:
    """The containers that the parts of `y` are in."""
    if id(y) in around:
        raise DifferentiationError(
            f"the value has a {type(y).__name__} that holds itself, which has no tangent",
            None,
            "Return its parts, or ask pullback(f, x).",
        )
    return *around, id(y)


def _at_key(pair: Seed, make: Callable[[dict[Any, Any]], Any], key: Any) -> Seed:
    return lambda seed: pair(make({key: seed}))


def _at_item(pair: Seed, y: Any, index: int) -> Seed:
    def at_item(seed: Any) -> float:
        items = [None] * index + [seed] + [None] * (len(y) - index - 1)
        return pair(tuple(items) if isinstance(y, tuple) else items)

    return at_item


def _of_number(y: Any, pair: Seed) -> Any:
    # A NumPy number divides by zero where one of Python's raises.
    typed = cotangent_dtype(y.dtype).type if isinstance(y, np.number) else None
    found: Any = pair(typed(1.0) if typed else 1.0)
    if np.iscomplexobj(y):
        found = complex(found, pair(typed(1j) if typed else 1j))
    return typed(found) if typed else found


def _of_array(y: np.ndarray[Any, Any], pair: Seed) -> np.ndarray[Any, Any]:
    y_dot = np.zeros(y.shape, cotangent_dtype(y.dtype))
    seed = np.zeros_like(y_dot)
    for index in np.ndindex(y.shape):
        seed[index] = 1.0
        y_dot[index] = pair(seed.copy())
        if np.iscomplexobj(y):
            seed[index] = 1j
            y_dot[index] += 1j * pair(seed.copy())
        seed[index] = 0.0
    return y_dot


def is_transparent(y: Any, around: tuple[int, ...] = ()) -> bool:
    """Whether a value is made of numbers, arrays and plain containers, and of objects that hold nothing but their fields."""
    if isinstance(y, _LEAVES) or type(y) is type:
        return True
    around = _inside(y, around)
    if type(y) in (list, tuple, deque) or (isinstance(y, tuple) and hasattr(y, "_fields")):
        return all(is_transparent(item, around) for item in y)
    if type(y) is dict:
        return all(is_transparent(item, around) for item in y.values())
    if isinstance(y, types.FunctionType):
        return y.__defaults__ is None is y.__kwdefaults__ and _has_transparent_fields(y, around)
    if isinstance(y, types.MethodType):
        return is_transparent(y.__self__, around)
    return has_only_fields(type(y)) and _has_transparent_fields(y, around)


def _has_transparent_fields(y: Any, around: tuple[int, ...]) -> bool:
    return all(is_transparent(field, around) for field in fields_of(y).values())


def has_only_fields(cls: type) -> bool:
    """Whether the objects of a class hold nothing but their fields: it was made by a statement `class`, with all its bases."""
    return all(base is object or base.__flags__ & _HEAP_TYPE for base in cls.__mro__) and not hasattr(cls, "__next__")


_LEAVES = (
    int, float, complex, str, bytes, slice, range, type(None), type(NotImplemented), np.generic, np.ndarray, np.dtype,
    types.ModuleType,
)  # fmt: skip
_HEAP_TYPE = 1 << 9
"""Of the flags of a class: it was made by a statement `class`, or in the way of one."""
