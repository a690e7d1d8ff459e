"""What generated pushforwards call where the structure of a value is known only at run time. A tangent of None is zero."""

from __future__ import annotations

import types
from typing import Any

from microgradpy.errors import MissingRuleError
from microgradpy.ir.objects import static_member
from microgradpy.rules.registry import example, find_attribute_rule, rrule
from microgradpy.rules.results import is_users_rule
from microgradpy.runtime.cotangents import attribute_cotangent, is_computed_since
from microgradpy.tangents.pairing import is_transparent, pairing, tangent_by_pairing
from microgradpy.tangents.projection import fields_of
from microgradpy.tangents.reading import ITEMS, unknown
from microgradpy.tangents.types import NoTangent, NotImplementedTangent, Tangent, field_of, is_structural_zero, of_field

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


def function_tangent(function: Any, names: tuple[str, ...], keys: tuple[Any, ...], dots: tuple[Any, ...]) -> Tangent | None:
    """The tangent of a function that was made over differentiated values: one for each captured variable, or with a key for
    one of its defaults."""
    if is_structural_zero(dots):
        return None
    fields = {name: dot for name, key, dot in zip(names, keys, dots, strict=True) if key is None and dot is not None}
    defaults = {key: dot for key, dot in zip(keys, dots, strict=True) if key is not None and dot is not None}
    positional = tuple(defaults.get(place) for place in range(len(function.__defaults__ or ())))
    named = {key: dot for key, dot in defaults.items() if isinstance(key, str)}
    if any(dot is not None for dot in positional):
        fields["__defaults__"] = positional
    if named:
        fields["__kwdefaults__"] = named
    return Tangent(type(function), fields) if fields else None


def parts_of_function(names: tuple[str, ...], keys: tuple[Any, ...], bar: Any) -> tuple[Any, ...]:
    """The cotangents of the parts of a function's tangent, which may be that of an object with one field."""
    own = {} if is_structural_zero(bar) else dict(bar)
    while "_fields" in own:
        own = dict(own["_fields"])
    of_defaults = {**dict(enumerate(own.get("__defaults__") or ())), **(own.get("__kwdefaults__") or {})}
    return tuple(own.get(name) if key is None else of_defaults.get(key) for name, key in zip(names, keys, strict=True))


@rrule.register(function_tangent)
def function_tangent_rrule(function: Any, names: tuple[str, ...], keys: tuple[Any, ...], dots: tuple[Any, ...]) -> Any:
    def function_tangent_pullback(bar: Any) -> tuple[Any, ...]:
        return NoTangent(), NoTangent(), NoTangent(), NoTangent(), parts_of_function(names, keys, bar)

    return function_tangent(function, names, keys, dots), function_tangent_pullback


def attribute_tangent(x: Any, name: str, y: Any, x_dot: Any) -> Any:
    """The tangent of `y`, which is `x.name`: that of the field, or else by the cotangents that the attribute gives `x`."""
    if is_structural_zero(x_dot):
        return None
    cls = type(x)
    if cls is Tangent and name in x.keys():
        return field_of(x_dot, name)
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


_REMEDY = "Compute it by a method, from what the object holds."


@rrule.register(attribute_tangent)
def attribute_tangent_rrule(x: Any, name: str, y: Any, x_dot: Any) -> Any:
    """Attributes are linear in what they are of, but for those of which the user says what they are."""
    rule = None if is_structural_zero(x_dot) else find_attribute_rule(type(x), name)
    if rule is not None and is_users_rule(rule):
        found = f"attribute {name!r} of a {type(x).__name__} has a rule of its own, which is not differentiated once more"
        raise MissingRuleError(found, None, _REMEDY)

    def attribute_tangent_pullback(bar: Any) -> tuple[Any, ...]:
        found = None if is_structural_zero(bar) or is_structural_zero(x_dot) else _of_attribute(x, name, y, x_dot, bar)
        return NoTangent(), NoTangent(), NoTangent(), NoTangent(), found

    return attribute_tangent(x, name, y, x_dot), attribute_tangent_pullback


example(attribute_tangent, 1.0 + 2.0j, "imag", 2.0, 0.5 - 1.0j)


def _of_attribute(x: Any, name: str, y: Any, x_dot: Any, bar: Any) -> Any:
    """The cotangent of the tangent of `x` from that of the tangent of `x.name`."""
    if isinstance(x_dot, dict):
        return {name: bar}
    if isinstance(y, types.MethodType | types.BuiltinMethodType | types.MethodWrapperType):
        return field_of(bar, "__self__")
    return of_field(name, bar) if isinstance(x_dot, Tangent) else attribute_cotangent(x, name, bar)


def check_implemented(x_bar: Any, x_dot: Any) -> None:
    """Refuse what a rule gives for an argument that has a tangent, if it declares the derivative not implemented."""
    if isinstance(x_bar, NotImplementedTangent) and not is_structural_zero(x_dot):
        x_bar.refuse()
