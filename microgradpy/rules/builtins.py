"""Python's builtin functions on numbers and containers. As in `sums`, what takes any iterable reads its items once."""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import example, examples, non_differentiable, rrule
from microgradpy.rules.sums import items_of, spread_over_items
from microgradpy.tangents.arithmetic import item_cotangent, unbroadcast, zero_cotangent
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.powers import power_base_bar, power_exponent_bar
from microgradpy.tangents.types import NoTangent

_ROW = np.array([1.5, -0.5, 4.0])


# Choosing among values ------------------------------------------------------------------------------------------------


@rrule.register(max)
def max_of_many_rrule(*values, key=None):
    """The chosen value gets z_bar, the others zero; a tie goes to the first, as max does it."""
    z = max(*values, key=key)

    def max_of_many_pullback(z_bar):
        return NoTangent(), *chosen_bars(z_bar, values, z)

    return z, max_of_many_pullback


@rrule.register(min)
def min_of_many_rrule(*values, key=None):
    """The chosen value gets z_bar, the others zero; a tie goes to the first, as min does it."""
    z = min(*values, key=key)

    def min_of_many_pullback(z_bar):
        return NoTangent(), *chosen_bars(z_bar, values, z)

    return z, min_of_many_pullback


@rrule.register(max, arity=2)
def max_rrule(x, y, *, key=None):
    """z = y if y > x, else x: the chosen value gets z_bar, the other zero."""
    if key is not None:
        return max_of_many_rrule(x, y, key=key)

    def max_pullback(z_bar):
        return NoTangent(), chosen_bar(z_bar, not y > x, x), chosen_bar(z_bar, y > x, y)

    return max(x, y), max_pullback


@rrule.register(min, arity=2)
def min_rrule(x, y, *, key=None):
    """z = y if y < x, else x: the chosen value gets z_bar, the other zero."""
    if key is not None:
        return min_of_many_rrule(x, y, key=key)

    def min_pullback(z_bar):
        return NoTangent(), chosen_bar(z_bar, not y < x, x), chosen_bar(z_bar, y < x, y)

    return min(x, y), min_pullback


@cotangent_of(2)
def chosen_bar(z_bar: Any, is_chosen: Any, x: Any) -> Any:
    """z_bar for the value that was chosen, zero for one that was not."""
    return z_bar if is_chosen else zero_cotangent(x)


def chosen_bars(z_bar: Any, values: Sequence[Any], z: Any) -> list[Any]:
    """The cotangents of values of which z is one. Of equal values max and min return the first, so the first that is
    the same object is the right one."""
    chosen = next((k for k, value in enumerate(values) if value is z), None)
    return [chosen_bar(z_bar, k == chosen, value) for k, value in enumerate(values)]


@rrule.register(max, arity=1)
def max_of_items_rrule(iterable, **options):
    """The chosen item gets z_bar; a tie goes to the first, as max does it. `options` are `key` and `default`."""
    items, z = chosen_of(max, iterable, options)

    def max_of_items_pullback(z_bar):
        return NoTangent(), chosen_item_bar(z_bar, items, z)

    return z, max_of_items_pullback


@rrule.register(min, arity=1)
def min_of_items_rrule(iterable, **options):
    """The chosen item gets z_bar; a tie goes to the first, as min does it. `options` are `key` and `default`."""
    items, z = chosen_of(min, iterable, options)

    def min_of_items_pullback(z_bar):
        return NoTangent(), chosen_item_bar(z_bar, items, z)

    return z, min_of_items_pullback


def chosen_of(choose: Any, iterable: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """The items of an iterable, and the one that max or min chooses. What an iterator computes item by item is computed
    between the calls of the key, as in the plain call."""
    if isinstance(iterable, Collection | np.ndarray):
        return iterable, choose(iterable, **options)
    items: list[Any] = []

    def noted() -> Any:
        for item in iterable:
            items.append(item)
            yield item

    return items, choose(noted(), **options)


def chosen_item_bar(z_bar: Any, items: Any, z: Any) -> Any:
    """The cotangent of a collection of which the item z was chosen."""
    if isinstance(items, np.ndarray):
        # The items of an array are made when they are read, so they are compared by value; NaN only to NaN.
        (found,) = np.nonzero((items == z) | ((items != items) & (z != z)))
        return item_cotangent(items, int(found[0]), z_bar) if len(found) else None
    if isinstance(items, list | tuple) and not any(item is z for item in items):
        return None  # the default was returned
    return spread_over_items(chosen_bars(z_bar, list(items), z), items)


for _f in (max, min):
    examples(_f, (1.5, 2.5), (2.5, 1.5), (3, 2.5, -1.0), (1.5, 0))
    examples(_f, ([1.5, 2.5, -1.0],), ((1.5, 3),), (_ROW,))
    example(_f, 1.5, -2.5, key=abs)
    example(_f, [1.5, -2.5], key=abs)
    example(_f, [], default=1.0)


# Ordering the items of a collection -----------------------------------------------------------------------------------


@rrule.register(sorted)
def sorted_rrule(iterable, /, *, key=None, reverse=False):
    """y holds the items in another order, which y_bar is taken back to."""
    items = items_of(iterable)
    # The items of an array are made anew each time they are read; the order is found by identity.
    objects = list(items)
    y = sorted(objects, key=key, reverse=reverse)
    order = permutation(objects, y)

    def sorted_pullback(y_bar):
        return NoTangent(), spread_over_items([y_bar[place] for place in order], items)

    return y, sorted_pullback


def permutation(items: list[Any], ordered: list[Any]) -> list[int]:
    """Where each item is in the reordered list. An object that is there several times keeps its order, as in a stable
    sort."""
    places: dict[int, list[int]] = {}
    for place in range(len(ordered) - 1, -1, -1):
        places.setdefault(id(ordered[place]), []).append(place)
    return [places[id(item)].pop() for item in items]


examples(sorted, ([3.0, 1.0, 2.0],), ((3.0, 1.0, 2.0),), (_ROW,))
example(sorted, [3.0, -4.0, 1.0], key=abs, reverse=True)


# Numbers --------------------------------------------------------------------------------------------------------------


@rrule.register(pow)
def pow_rrule(base, exp, mod=None):
    """z = base ** exp, see `powers`; with a modulus they are integers, and there is no derivative."""
    z = pow(base, exp) if mod is None else pow(base, exp, mod)

    def pow_pullback(z_bar):
        if mod is not None:
            return NoTangent(), NoTangent(), NoTangent(), NoTangent()
        return (
            NoTangent(),
            unbroadcast(power_base_bar(z_bar, base, exp), base),
            unbroadcast(power_exponent_bar(z_bar, base, exp, z), exp),
        )

    return z, pow_pullback


examples(pow, (2.0, 3.0), (3, 2), (2.0, -0.5), (_ROW, 2), (7, 3, 5))


@pullback(divmod)
def divmod_pullback(z_bar, x, y, *, z):
    """(q, r) with x = q y + r and a whole q: x_bar = r_bar, y_bar = -q * r_bar."""
    return remainder_bar(z_bar, 1.0, x), remainder_bar(z_bar, -z[0], y)


@cotangent_of(2)
def remainder_bar(z_bar: Any, factor: Any, x: Any) -> Any:
    """The cotangent of x from that of the pair (quotient, remainder), of which only the remainder varies."""
    return zero_cotangent(x) if z_bar[1] is None else unbroadcast(z_bar[1] * factor, x)


examples(divmod, (5.5, 2.0), (-7, 2.5), (_ROW, 0.7))


@pullback(float)
def float_pullback(y_bar, x=0.0, /):
    """x_bar = y_bar, in x's shape; none for text."""
    return unbroadcast(y_bar, x)


@pullback(float, str)
def parsed_float_pullback(y_bar, x):
    """Text carries no derivative."""
    return NoTangent()


examples(float, (2.5,), (3,), (np.float64(1.5),), (np.array(2.5),), ("1.5",))


@pullback(complex)
def complex_pullback(y_bar, real=0.0, imag=0.0):
    """y = real + i imag: real_bar = y_bar, imag_bar = -i y_bar, of which real arguments get the real part."""
    return unbroadcast(y_bar, real), unbroadcast(-1j * y_bar, imag)


@pullback(complex, str)
def parsed_complex_pullback(y_bar, real):
    """Text carries no derivative."""
    return NoTangent()


examples(complex, (2.5, -1.0), (3,), (1.0 + 2.0j,), (1.5, 2.0j), ("1+2j",))


# Copies ---------------------------------------------------------------------------------------------------------


@rrule.register(list)
def list_rrule(iterable=(), /):
    """y holds the items of x: x_bar has those of y_bar."""
    items = items_of(iterable)

    def list_pullback(y_bar):
        return NoTangent(), spread_over_items(y_bar, items)

    return list(items), list_pullback


@rrule.register(tuple)
def tuple_rrule(iterable=(), /):
    """y holds the items of x: x_bar has those of y_bar."""
    items = items_of(iterable)

    def tuple_pullback(y_bar):
        return NoTangent(), spread_over_items(y_bar, items)

    return tuple(items), tuple_pullback


examples(list, ([1.0, 2.0],), ((1.0, 2.0),), (_ROW,), ({"a": 1.0},), ("ab",), (np.outer(_ROW, _ROW),))
examples(tuple, ([1.0, 2.0],), ((1.0, 2.0),), (_ROW,), (range(2),))


@rrule.register(dict)
def dict_rrule(iterable=(), /):
    """A copy of a dict, or one made of pairs of a key and a value, of which the last with a key counts."""
    items = iterable if isinstance(iterable, Mapping) else items_of(iterable)

    def dict_pullback(y_bar):
        return NoTangent(), pairs_bar(y_bar, items)

    return dict(items), dict_pullback


@rrule.register(dict, dict)
def dict_of_dict_rrule(iterable, /):
    """A copy: x_bar = y_bar."""

    def dict_of_dict_pullback(y_bar):
        return NoTangent(), y_bar

    return dict(iterable), dict_of_dict_pullback


def pairs_bar(y_bar: Mapping[Any, Any], items: Any) -> Any:
    """The cotangent of what a dict of cotangent y_bar was made of."""
    if isinstance(items, Mapping):
        return y_bar
    last = {pair[0]: place for place, pair in enumerate(items)}
    return spread_over_items(
        [(None, y_bar.get(key) if last[key] == place else None) for place, (key, _) in enumerate(items)], items
    )


examples(dict, ({"a": 1.0, "b": 2.0},), ([("a", 1.0), ("b", 2.0), ("a", 3.0)],), ((["a", 1.0],),))


@pullback(super, arity=2)
def super_pullback(y_bar, cls, instance, /, *, y):
    """The cotangent of what `super` gives is that of the object it is about."""
    return NoTangent(), y_bar


class _Number(float):
    """A number that has a base class."""


examples(super, (_Number, _Number(2.5)))


non_differentiable(
    int, round, len, bool, str, repr, ascii, format, print, isinstance, issubclass, callable, hasattr, type, id, hash,
    range, slice, any, all, chr, ord, bin, oct, hex, bytes, dir, operator.itemgetter, operator.attrgetter,
)  # fmt: skip

# How NumPy warns is nothing of the values that are computed.
non_differentiable(np.errstate.__enter__, np.errstate.__exit__)
