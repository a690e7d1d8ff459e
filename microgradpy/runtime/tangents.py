"""What generated pushforwards call where the structure of a value is known only at run time. A tangent of None is zero."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from microgradpy.ir.objects import static_member
from microgradpy.projecting import are_floats
from microgradpy.rules.registry import find_attribute_rule
from microgradpy.runtime.cotangents import attribute_cotangent, is_computed_since
from microgradpy.tangents.arithmetic import own, zero_cotangent
from microgradpy.tangents.fields import named_like
from microgradpy.tangents.helpers import cotangent_of, cotangents_like
from microgradpy.tangents.pairing import is_transparent, pairing, tangent_by_pairing
from microgradpy.tangents.projection import fields_of
from microgradpy.tangents.reading import ITEMS, unknown
from microgradpy.tangents.types import NotImplementedTangent, Tangent, is_structural_zero

VIEWS: tuple[type, ...] = (type({}.values()), type({}.items()))
"""Views of dicts, whose tangents are lists."""


def item_tangents(x: Any, count: int, x_dot: Any) -> tuple[Any, ...]:
    """The tangents of the items that `x` was unpacked into."""
    if is_structural_zero(x_dot) or isinstance(x, dict | str | range | set):
        return (None,) * count
    if isinstance(x, (*ITEMS, *VIEWS)):
        return tuple(x_dot)
    raise unknown(f"a {type(x).__name__} of differentiated values was unpacked")


def iterated_tangent(x: Any, position: int, x_dot: Any) -> Any:
    """The tangent of the item that an iteration over `x` gives at `position`."""
    if is_structural_zero(x_dot) or isinstance(x, dict | str | bytes | range | set | frozenset):
        return None
    if isinstance(x, ITEMS):
        return x_dot[position]
    if isinstance(x, VIEWS):
        return x_dot[position]
    raise unknown(f"a loop ran over a {type(x).__name__} of differentiated values")


@cotangents_like(1)
def mirrored_tangent(x_dot: Any, x: Any) -> Any:
    """The tangent of a container in its structure, of new lists, dicts and arrays: zeros where there is None. What is in two
    places of `x` is in two places of it."""
    if type(x) is list and (x_dot is None or type(x_dot) is list) and are_floats(x):
        return [0.0] * len(x) if x_dot is None else list(map(_or_zero, x_dot))
    return _mirrored(x_dot, x, {})


def tangent_to_write(x_dot: Any, x: Any) -> Any:
    """The tangent of something that is going to be written into, which is not to be None."""
    return mirrored_tangent(None, x) if is_structural_zero(x_dot) else x_dot


def _mirrored(x_dot: Any, x: Any, known: dict[int, Any]) -> Any:
    cls = type(x)
    if cls is float:
        return 0.0 if x_dot is None else x_dot
    if not isinstance(x, list | dict | tuple | np.ndarray):
        return (0.0 if isinstance(x, bool | np.bool) and known else zero_cotangent(x)) if is_structural_zero(x_dot) else x_dot
    if id(x) in known:
        return known[id(x)]
    dots = None if is_structural_zero(x_dot) else x_dot
    if isinstance(x, np.ndarray):
        known[id(x)] = found = zero_cotangent(x) if dots is None else own(dots)
        return found
    made: Any = {} if isinstance(x, dict) else []
    known[id(x)] = made
    if isinstance(x, dict):
        get = {}.get if dots is None else dots.get
        made |= {key: _mirrored(get(key), item, known) for key, item in x.items()}
        return made
    made += [_mirrored(dot, item, known) for dot, item in zip((None,) * len(x) if dots is None else dots, x, strict=True)]
    if isinstance(x, tuple):
        known[id(x)] = made = tuple(made) if cls is tuple else named_like(x, made) if hasattr(x, "_fields") else made
    return made


def _or_zero(dot: Any) -> Any:
    return 0.0 if dot is None else dot


def values_tangent(x_dot: dict[Any, Any]) -> list[Any]:
    """The tangent of `x.values()`."""
    return list(x_dot.values())


def pairs_tangent(pairs: list[Any], pairs_dot: list[Any]) -> dict[Any, Any]:
    """The tangent of `dict(pairs)`."""
    return {key: dot for (key, _), (_, dot) in zip(pairs, pairs_dot, strict=True)}


def function_tangent(function: Any, names: tuple[str, ...], keys: tuple[Any, ...], dots: tuple[Any, ...]) -> Tangent | None:
    """The tangent of a function that was made over differentiated values: one for each captured variable, or with a key for
    one of its defaults."""
    fields = {name: dot for name, key, dot in zip(names, keys, dots, strict=True) if key is None and dot is not None}
    defaults = {key: dot for key, dot in zip(keys, dots, strict=True) if key is not None and dot is not None}
    positional = tuple(defaults.get(place) for place in range(len(function.__defaults__ or ())))
    named = {key: dot for key, dot in defaults.items() if isinstance(key, str)}
    if any(dot is not None for dot in positional):
        fields["__defaults__"] = positional
    if named:
        fields["__kwdefaults__"] = named
    return Tangent(type(function), fields) if fields else None


def attribute_tangent(x: Any, name: str, y: Any, x_dot: Any) -> Any:
    """The tangent of `y`, which is `x.name`: that of the field, or else by the cotangents that the attribute gives `x`."""
    if is_structural_zero(x_dot):
        return None
    cls = type(x)
    rule = find_attribute_rule(cls, name)
    if rule is not None and not is_transparent(y):
        rule(x)  # it may refuse to be read, and there may be no number in `y` to ask it for
    if rule is None and isinstance(x_dot, Tangent):
        if isinstance(y, types.MethodType) and isinstance(static_member(cls, name, None), types.FunctionType):
            return Tangent(type(y), {"__self__": x_dot})
        if name in fields_of(x) and not isinstance(x, super) and not is_computed_since(x, name):
            return x_dot.get(name)
    if isinstance(y, types.BuiltinMethodType | types.MethodWrapperType):
        return Tangent(type(y), {"__self__": x_dot})
    if isinstance(x, dict) and name in x and isinstance(x_dot, dict):
        return x_dot.get(name)  # a result of a solver of SciPy, whose items are its attributes
    return tangent_by_pairing(y, lambda seed: pairing(attribute_cotangent(x, name, seed), x_dot, True))


@cotangent_of(1)
def dense_tangent(x_dot: Any, x: Any) -> Any:
    """`x_dot`, or zeros for a number or array whose tangent is None."""
    return zero_cotangent(x) if is_structural_zero(x_dot) else x_dot


def check_implemented(x_bar: Any, x_dot: Any) -> None:
    """Refuse what a rule gives for an argument that has a tangent, if it declares the derivative not implemented."""
    if isinstance(x_bar, NotImplementedTangent) and not is_structural_zero(x_dot):
        x_bar.refuse()
