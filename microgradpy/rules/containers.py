"""Attributes and methods of Python's own types: reading containers, and the tables of methods that write in place or
that give nothing a derivative flows through."""

from __future__ import annotations

import collections
import functools
import types
import warnings
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import (
    attribute_rule,
    examples,
    find_attribute_rule,
    frule,
    is_inert_attribute,
    mark_inert_attribute,
    non_differentiable,
    rrule,
)
from microgradpy.tangents.arithmetic import conj, field_cotangent, item_cotangent, zero_cotangent
from microgradpy.tangents.types import NoTangent

MUTATING_METHODS: dict[type, frozenset[str]] = {
    list: frozenset({
        "append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort",
        "__setitem__", "__delitem__", "__iadd__", "__imul__",
    }),
    dict: frozenset({
        "clear", "pop", "popitem", "setdefault", "update", "__setitem__", "__delitem__", "__ior__",
    }),
    set: frozenset({
        "add", "clear", "difference_update", "discard", "intersection_update", "pop", "remove",
        "symmetric_difference_update", "update", "__ior__", "__iand__", "__ixor__", "__isub__",
    }),
    collections.deque: frozenset({
        "append", "appendleft", "clear", "extend", "extendleft", "insert", "pop", "popleft", "remove", "reverse",
        "rotate", "__setitem__", "__delitem__", "__iadd__", "__imul__",
    }),
    bytearray: frozenset({
        "append", "clear", "extend", "insert", "pop", "remove", "reverse", "__setitem__", "__delitem__", "__iadd__",
        "__imul__",
    }),
    np.ndarray: frozenset({
        "byteswap", "fill", "itemset", "partition", "put", "resize", "setfield", "setflags", "sort",
        "__setitem__", "__delitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__",
        "__ipow__", "__imatmul__", "__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__",
    }),
}  # fmt: skip
"""The methods that write into their object, by the type that has them."""


@rrule.register(getattr, arity=2)
def getattr_rrule(x, name, /):
    """y = x.name, by the attribute's own rule if it has one; else y is a field of x."""
    rule = find_attribute_rule(type(x), name)
    y, pullback = (getattr(x, name), None) if rule is None else rule(x)

    def getattr_pullback(y_bar):
        x_bar = attribute_bar(x, name, y, y_bar) if pullback is None else pullback(y_bar)[1]
        return NoTangent(), x_bar, NoTangent()

    return y, getattr_pullback


@rrule.register(getattr, arity=3)
def getattr_or_default_rrule(x, name, default, /):
    """y = x.name if there is such an attribute, else the default."""
    y = getattr(x, name, default)
    pullback = getattr_rrule(x, name)[1] if hasattr(x, name) else None

    def getattr_or_default_pullback(y_bar):
        if pullback is None:
            return NoTangent(), NoTangent(), NoTangent(), y_bar
        return *pullback(y_bar), zero_cotangent(default)

    return y, getattr_or_default_pullback


def attribute_bar(x: Any, name: str, y: Any, y_bar: Any) -> Any:
    """The cotangent of x under y = x.name for an attribute without rule."""
    if isinstance(x, type | types.ModuleType) or is_inert_attribute(type(x), name):
        return None
    bound = getattr(y, "__self__", None)
    if isinstance(x, super):
        # Its cotangent is that of the object; what is not a method is a constant of a class, as the dispatcher has seen.
        return y_bar.get("__self__") if bound is x.__self__ else None  # type: ignore[attr-defined]
    if bound is x:
        return y_bar.get("__self__")  # a method, whose field is the object it is bound to
    descriptor = next((vars(base)[name] for base in type(x).__mro__ if name in vars(base)), None)
    if isinstance(descriptor, property | functools.cached_property):
        raise MissingRuleError(
            f"{type(x).__qualname__}.{name} is computed when it is read",
            None,
            f"Read it as x.{name} in code that is differentiated, or declare an attribute rule for it.",
        )
    return field_cotangent(x, name, y_bar)


@attribute_rule(int, "real")
@attribute_rule(float, "real")
@attribute_rule(complex, "real")
def real_rrule(x):
    """y = Re x: x_bar = y_bar."""

    def real_pullback(y_bar):
        return NoTangent(), y_bar

    return x.real, real_pullback


@attribute_rule(complex, "imag")
def imag_rrule(x):
    """y = Im x: x_bar = i y_bar."""

    def imag_pullback(y_bar):
        return NoTangent(), 1j * y_bar

    return x.imag, imag_pullback


@attribute_rule(int, "imag")
@attribute_rule(float, "imag")
def imag_of_real_rrule(x):
    """y = 0, whatever the real number x."""

    def imag_of_real_pullback(y_bar):
        return NoTangent(), 0.0

    return x.imag, imag_of_real_pullback


@pullback(float.conjugate)
@pullback(complex.conjugate)
def conjugate_pullback(y_bar, self):
    """x_bar = conj(y_bar)."""
    return conj(y_bar)


_POINT = types.SimpleNamespace(x=1.5, y=2.0)
examples(getattr, (_POINT, "x"), (_POINT, "x", 3.0), (_POINT, "z", 3.0))
examples(getattr, (1.0 + 2.0j, "real"), (1.0 + 2.0j, "imag"), (2.5, "real"), (3, "real"), (2.5, "imag"))
examples(float.conjugate, (2.5,))
examples(complex.conjugate, (1.0 - 2.0j,))
mark_inert_attribute(int, "numerator", "denominator")


# Reading dicts and lists; the cotangent of a view is the list of the cotangents of what it shows ----------------------


@pullback(dict.get)
def dict_get_pullback(y_bar, mapping, key, default=None, /):
    """The value at the key, or the default: whichever is there gets y_bar. A class that overrides `get` may call this one,
    so it is named by its class; the other methods too."""
    return value_bar(y_bar, mapping, key), NoTangent(), default_bar(y_bar, mapping, key, default)


def value_bar(y_bar: Any, mapping: dict[Any, Any], key: Any) -> Any:
    """The cotangent of a dict of which the value at a key was asked for; None if there is none."""
    return item_cotangent(mapping, key, y_bar) if key in mapping else None


def default_bar(y_bar: Any, mapping: dict[Any, Any], key: Any, default: Any) -> Any:
    """The cotangent of the default for a key that may be missing."""
    return zero_cotangent(default) if key in mapping else y_bar


@pullback(dict.values)
def dict_values_pullback(y_bar, mapping):
    """y_bar has one item per value, in the dict's order."""
    return values_bar(y_bar, mapping)


def values_bar(y_bar: Any, mapping: dict[Any, Any]) -> Any:
    """The cotangent of a dict from those of its values, in its order; None if no value was read."""
    return None if y_bar is None else dict(zip(mapping, y_bar, strict=True))


@pullback(dict.items)
def dict_items_pullback(y_bar, mapping):
    """y_bar has one pair per item, in the dict's order, of which the second is the value's cotangent."""
    return {key: None if pair is None else pair[1] for key, pair in zip(mapping, y_bar, strict=True)}


@frule.register(dict.values)
def dict_values_frule(self):
    """One tangent per value, in the dict's order, as a list."""

    def dict_values_pushforward(f_dot, self_dot):
        return [self_dot.get(key) for key in self]

    return dict.values(self), dict_values_pushforward


@frule.register(dict.items)
def dict_items_frule(self):
    """One pair per item, in the dict's order, of which the second is the value's tangent, as a list."""

    def dict_items_pushforward(f_dot, self_dot):
        return [(None, self_dot.get(key)) for key in self]

    return dict.items(self), dict_items_pushforward


@rrule.register(dict.copy)
@rrule.register(list.copy)
@rrule.register(collections.deque.copy)
@rrule.register(collections.OrderedDict.copy)
def copy_rrule(self):
    """x_bar = y_bar."""

    def copy_pullback(y_bar):
        return NoTangent(), y_bar

    return shallow_copy(self), copy_pullback


def shallow_copy(container: Any) -> Any:
    """A copy by the method of the builtin class, whatever a class of the user's overrides."""
    base = next(cls for cls in (list, collections.deque, collections.OrderedDict, dict) if isinstance(container, cls))
    return base.copy(container)


examples(dict.get, ({"a": 1.0, "b": 2.0}, "a"), ({"a": 1.0}, "a", 5.0), ({"a": 1.0}, "z", 5.0))
examples(dict.values, ({"a": 1.0, "b": 2.0},))
examples(dict.items, ({"a": 1.0, "b": 2.0},))
examples(dict.copy, ({"a": 1.0, "b": 2.0},))
examples(list.copy, ([1.0, 2.0],))
examples(collections.deque.copy, (collections.deque([1.0, 2.0], 3),))
examples(collections.OrderedDict.copy, (collections.OrderedDict(a=1.0),))


# What carries nothing -------------------------------------------------------------------------------------------------

non_differentiable(dict.keys, list.index, list.count, tuple.index, tuple.count)
non_differentiable(collections.deque.index, collections.deque.count)


def public_methods(cls: type) -> list[Any]:
    """The functions in a class without those that Python calls."""
    return [getattr(cls, name) for name, value in vars(cls).items() if callable(value) and not name.startswith("_")]


for _text_type in (str, bytes):
    non_differentiable(*(method for method in vars(_text_type).values() if callable(method) and method is not None))
    non_differentiable(*public_methods(_text_type))
for _number_type in (int, float, bool):
    # The quotient of what `as_integer_ratio` returns depends on the number.
    _kept = {getattr(_number_type, "conjugate", None), getattr(_number_type, "as_integer_ratio", None)}
    non_differentiable(*(method for method in public_methods(_number_type) if method not in _kept))
non_differentiable(
    *(f for f in map(vars(warnings).get, warnings.__all__) if isinstance(f, types.FunctionType)),
    warnings.warn,
    warnings.warn_explicit,
)
