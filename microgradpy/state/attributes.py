"""Reading and assigning attributes in a run that tracks writes, by what the class of the object has under the name."""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError, MutationError
from microgradpy.ir.objects import static_member
from microgradpy.rules.registry import find_attribute_rule, is_inert_attribute
from microgradpy.runtime.bars import Back, Bars, Resolve, Resolved, nothing
from microgradpy.runtime.failures import Failure, raise_failure
from microgradpy.runtime.matching import names_in_pattern
from microgradpy.runtime.special_methods import attribute
from microgradpy.state import arrays, flat, objects, variables
from microgradpy.state.apart_access import check_stored
from microgradpy.state.known_rules import by_rule, from_undo
from microgradpy.state.partial_calls import attempted, undone_by
from microgradpy.state.reachable_writes import any_may_write
from microgradpy.state.shadows import Shadows
from microgradpy.tangents.fields import has_field
from microgradpy.tangents.types import Tangent, accumulate, is_structural_zero


def get_attribute(resolve: Resolve, args: tuple[Any, ...]) -> Resolved:
    """getattr(x, name), or with a default."""
    x, name, *default = args
    if default:
        try:
            y, back = read_attribute(resolve, x, name)
        except AttributeError:
            _refuse_write_before(x, name)
            return default[0], lambda y_bar, shadows: Bars(None, (None, None, y_bar), {})
        return y, lambda y_bar, shadows: Bars(None, (*back(y_bar, shadows).arguments, None), {})
    return read_attribute(resolve, x, name)


def parts_of_subject(resolve: Resolve, subject: Any, cls: Any, count: int, *names: str) -> Resolved:
    """The parts that a class pattern of `match` names, each read as any attribute is."""
    every = names_in_pattern(subject, cls, count, names)
    if every is None:
        return None, nothing(3 + len(names))
    parts: list[Resolved] = []

    def back(bars: Any, shadows: Shadows) -> Bars:
        own: Any = None
        given = bars or (None,) * len(parts)
        for (_, read), bar in zip(reversed(parts), reversed(given), strict=True):
            own = accumulate(own, shadows.settle(subject, read(bar, shadows).arguments[0]))
        return Bars(None, (own, None, None, *(None for _ in names)), {})

    with undone_by(back, getattr, subject):
        for name in every:
            if name is None:
                parts.append((subject, lambda bar, shadows: Bars(None, (bar,), {})))
                continue
            parts.append(attempted(resolve, getattr, (subject, name), {}))
            part = parts[-1][0]
            if type(part) is Failure and isinstance(part.exception, AttributeError):
                return None, lambda bars, shadows: back(None, shadows)
            raise_failure(part)
    return tuple(part for part, _ in parts), back


def _refuse_write_before(x: Any, name: str) -> None:
    """Refuse if what computes an attribute may have written before it raised: nothing would undo that."""
    found = static_member(type(x), name)
    getters = [getattr(type(x), "__getattr__", None), getattr(found, "fget", None), getattr(type(found), "__get__", None)]
    if any_may_write(getter for getter in getters if isinstance(getter, types.FunctionType)):
        raise MutationError(
            f"reading the attribute {name!r} of a {type(x).__name__} raises AttributeError, and it may write before",
            None,
            "Let it return a value, and test for that.",
        )


def read_attribute(resolve: Resolve, x: Any, name: str) -> Resolved:
    """x.name, by what its class has under that name."""
    rule = find_attribute_rule(type(x), name)
    if rule is not None:
        y, back = by_rule(getattr, rule, (x,), {}, False)
        return y, lambda y_bar, shadows: Bars(None, (*back(y_bar, shadows).arguments, None), {})
    if isinstance(x, types.ModuleType):
        return from_undo(*variables.read_attribute(x, name))
    of_class = _of_class(resolve, x, name)
    if of_class is not None:
        return of_class
    if isinstance(x, type) or is_inert_attribute(type(x), name) or name == "__dict__":
        return getattr(x, name), nothing(2)
    if type(x) is functools.partial and name in ("func", "args", "keywords"):
        return getattr(x, name), _part_of_partial(x, name)
    if objects.is_plain_field(x, name):
        return from_undo(*objects.load(x, name))
    asked = _computed(resolve, x, name)
    if asked is not None:
        return asked
    found = static_member(type(x), name)
    y = getattr(x, name)
    if name == "args" and isinstance(x, BaseException):
        return y, lambda y_bar, shadows: (shadows.of(x).add(name, y_bar), Bars(None, (None, None), {}))[1]
    if isinstance(x, tuple) and name in getattr(x, "_fields", ()):
        return y, _field_of_tuple(x, x._fields.index(name))  # type: ignore[attr-defined]
    return y, back_to_owner(x, name, y, found)


def _of_class(resolve: Resolve, x: Any, name: str) -> Resolved | None:
    """An attribute that is a value in a class: of the class itself, or of an object that has no field of that name. Or what a
    property of the metaclass gives."""
    if not isinstance(x, type):
        is_plain = isinstance(type(x).__getattribute__, types.WrapperDescriptorType)
        made = variables.read_class_variable(type(x), name) if is_plain and not has_field(x, name) else None
        return None if made is None else from_undo(*made)
    of_metaclass = static_member(type(x), name)
    if isinstance(of_metaclass, property) and isinstance(of_metaclass.fget, types.FunctionType):
        y, back = resolve(of_metaclass.fget, (x,), {})
        return y, lambda y_bar, shadows: Bars(None, (*back(y_bar, shadows).arguments, None), {})
    is_own = static_member(x, name, objects.MISSING) is not objects.MISSING and not hasattr(type(of_metaclass), "__set__")
    made = variables.read_class_variable(x if is_own else type(x), name)
    return None if made is None else from_undo(*made)


def back_to_owner(x: Any, name: str, y: Any, found: Any) -> Back:
    """Of a bound method, the cotangent of its object; a constant of the class has none."""

    def owner_back(y_bar: Any, shadows: Shadows) -> Bars:
        if y_bar is None or found is y:  # a constant of the class
            return Bars(None, (None, None), {})
        if getattr(y, "__self__", None) is not x or not isinstance(y_bar, Tangent):
            raise MissingRuleError(
                f"attribute {name!r} of a {type(x).__name__} is computed by code that cannot be read",
                None,
                f"Declare its derivative with @attribute_rule({type(x).__name__}, {name!r}).",
            )
        return Bars(None, (shadows.settle(x, y_bar.get("__self__")), None), {})

    return owner_back


def _computed(resolve: Resolve, x: Any, name: str) -> Resolved | None:
    """An attribute that a function of the user's computes."""
    found = static_member(type(x), name)
    if isinstance(found, functools.cached_property) and not isinstance(x, super):
        return _cached(resolve, x, name, found)
    return attribute(x, name, resolve)


def _part_of_partial(x: functools.partial[Any], name: str) -> Back:
    """A `functools.partial` has a cotangent by value, as a function has; what its dict holds has one in the shadow of that."""

    def back(y_bar: Any, shadows: Shadows) -> Bars:
        if name == "keywords":
            shadow = shadows.of(x.keywords)
            y_bar, shadow.fields = shadow.fields or None, {}
        if is_structural_zero(y_bar):
            return Bars(None, (None, None), {})
        return Bars(None, (shadows.settle(x, Tangent(functools.partial, {name: y_bar})), None), {})

    return back


def _field_of_tuple(x: tuple[Any, ...], index: int) -> Back:
    def back(y_bar: Any, shadows: Shadows) -> Bars:
        if y_bar is None:
            return Bars(None, (None, None), {})
        items = [None] * len(x)
        items[index] = y_bar
        return Bars(None, (tuple(items), None), {})

    return back


def _cached(resolve: Resolve, x: Any, name: str, found: functools.cached_property[Any]) -> Resolved:
    """The first reading of a cached property: computed, and stored in the object."""
    y, back = resolve(found.func, (x,), {})
    check_stored(x)
    x.__dict__[name] = y

    def cached_back(y_bar: Any, shadows: Shadows) -> Bars:
        shadow = shadows.of(x)
        shadow.add(name, y_bar)
        return Bars(None, (back(shadow.take(name), shadows).arguments[0], None), {})

    return y, cached_back


def set_attribute(resolve: Resolve, x: Any, name: str, value: Any) -> Resolved:
    """x.name = value, by what its class has under that name."""
    if isinstance(x, np.ndarray):
        check_stored(x)
    if isinstance(x, np.ndarray) and name in ("real", "imag"):
        y, part_undo = arrays.set_array_item(getattr(x, name), ..., value)
        return y, lambda y_bar, shadows: Bars(None, (None, None, part_undo(y_bar, shadows)[2]), {})
    if isinstance(x, np.ndarray) and name == "flat":
        y, entries_undo = flat.assign(x, value)
        return y, lambda y_bar, shadows: Bars(None, (None, None, entries_undo(y_bar, shadows)[2]), {})
    setter: Any = objects.setter_of(x, name)
    if setter is None:
        return from_undo(*objects.store(x, name, value))
    y, back = resolve(setter.func, (*setter.args, value), {})

    def setter_back(y_bar: Any, shadows: Shadows) -> Bars:
        bars = back(y_bar, shadows)
        *before, own = bars.arguments
        for held, bar in zip(setter.args, before, strict=True):
            shadows.settle(held, bar)
        return Bars(None, (None, None, own), {})

    return None, setter_back
