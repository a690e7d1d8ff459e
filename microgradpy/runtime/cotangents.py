"""What generated adjoints call where the structure of a value is known only at run time."""

from __future__ import annotations

import functools
import types
from collections import namedtuple
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.ir.objects import PLAIN_MEMBERS, inherited_member, is_computed, static_member
from microgradpy.projecting import Untouched, are_floats, are_tuples
from microgradpy.rules.registry import find_attribute_rule, is_inert_attribute
from microgradpy.rules.results import place_of
from microgradpy.runtime.members import Role, member_and_role
from microgradpy.runtime.streams import Stream, Turn
from microgradpy.tangents.arithmetic import accumulate, add_item, check_reading, is_deque, stack_items, zero_cotangent
from microgradpy.tangents.fields import has_field
from microgradpy.tangents.helpers import returns
from microgradpy.tangents.types import Tangent, is_structural_zero, of_field, refuse_arithmetic


def or_zero(x_bar: Any, x: Any) -> Any:
    """`x_bar`, or a zero cotangent of `x` if it is None. Missing items of a tuple are filled too; those of a list are not:
    they say that nobody reads the item. Truth values have zeros here: what was not known to be one may be computed with.
    It is what a formula for numbers computes with, so that the cotangent of an object is refused."""
    if type(x_bar) is float:
        return x_bar
    return refuse_arithmetic(x_bar) if type(x_bar) is Tangent else any_or_zero(x_bar, x)


def any_or_zero(x_bar: Any, x: Any) -> Any:
    """The same for the rule of a function that may return an object."""
    if not isinstance(x, tuple | list):
        if not is_structural_zero(x_bar):
            return x_bar
        is_truth = isinstance(x, bool | np.bool) or (isinstance(x, np.ndarray) and x.dtype.kind == "b")
        return np.zeros(np.shape(x))[()] if is_truth else zero_cotangent(x)
    if is_structural_zero(x_bar):
        return _rebuilt(x, map(_item_or_zero, [None] * len(x), x))
    if isinstance(x_bar, tuple) and len(x_bar) == len(x) and _has_gaps(x_bar):
        return _rebuilt(x, map(_item_or_zero, x_bar, x))
    return x_bar


def seed_or_zero(y_bar: Any, y: Any) -> Any:
    """The same for the value of a function that is differentiated through its source, whose adjoint takes a list with missing
    items as it is: what nobody wants of it has no cotangent."""
    if isinstance(y, list) or hasattr(y, "_fields"):
        return y_bar
    if not isinstance(y, tuple):
        return any_or_zero(y_bar, y)
    if is_structural_zero(y_bar):
        return tuple(map(seed_or_zero, [None] * len(y), y))
    if type(y_bar) is tuple and _has_gaps(y_bar):
        return tuple(map(seed_or_zero, y_bar, y))
    return y_bar


def _has_gaps(x_bar: tuple[Any, ...]) -> bool:
    """Whether an item is missing, in tuples inside of it too."""
    return any(is_structural_zero(bar) or (isinstance(bar, tuple) and _has_gaps(bar)) for bar in x_bar)


def _item_or_zero(x_bar: Any, x: Any) -> Any:
    """A list may contain itself, so that one inside of another container is left alone."""
    return x_bar if isinstance(x, list) else any_or_zero(x_bar, x)


def _rebuilt(x: Any, bars: Iterable[Any]) -> Any:
    if isinstance(x, list):
        return list(bars)
    # Classes that SciPy makes for its results have an `__init__` of their own, with fields beside the items.
    return type(x)(*bars) if type(x).__init__ is object.__init__ and hasattr(x, "_fields") else tuple(bars)


def missing_cotangent(x: Any, rule: Any, callee: str, index: int) -> None:
    """The pullback of a rule returned nothing for argument number `index` of `callee`: that means zero for what has no
    derivative (an axis, a flag), and is an error in the rule for anything else."""
    if isinstance(x, float | complex | np.inexact) or (isinstance(x, np.ndarray) and x.dtype.kind in "fc"):
        raise MissingRuleError(
            f"{place_of(rule)} has no cotangent for argument {index} of {callee}",
            None,
            "Return one cotangent per positional argument from its pullback, NoTangent() where there is none.",
        )


def cotangent_item(x_bar: Any, key: Any) -> Any:
    """The cotangent of item `key` of a container with cotangent `x_bar`; None if it has none."""
    if is_structural_zero(x_bar):
        return None
    if isinstance(x_bar, dict | Tangent):
        return x_bar.get(key)
    return x_bar[key]


def bars_of_numbers(x_bar: Any, count: int) -> Any:
    """The cotangents of the items of a tuple of `count` real numbers, with zeros for what nobody reads."""
    if is_structural_zero(x_bar):
        return (0.0,) * count
    if {float}.issuperset(map(type, x_bar)):
        return x_bar
    return [0.0 if is_structural_zero(bar) else bar for bar in x_bar]


def item_bars(x_bar: Any, x: Any) -> Any:
    """The cotangent of a list or dict as one with an item for each of its items, which the caller owns: None for what nobody
    reads."""
    if isinstance(x, dict):
        return dict.fromkeys(x) | ({} if is_structural_zero(x_bar) else x_bar)
    if not isinstance(x, list):
        return []  # of a variable that is not assigned on this path
    if is_structural_zero(x_bar):
        return [None] * len(x)
    return [None if is_structural_zero(bar) else bar for bar in x_bar]


def added(d: Any, bar: Any) -> Any:
    """The cotangent `d` of an item of a list or dict added to what is there, which is None if there is nothing yet."""
    return d if bar is None else bar + d


@returns(list)
def number_bars(x_bar: Any, x: Any) -> Any:
    """The same of real numbers, whatever their classes, and of lists and dicts of such: zeros for what nobody reads."""
    if isinstance(x_bar, np.ndarray) and x_bar.dtype.kind == "f":
        return x_bar.tolist()
    if type(x) is list and type(x_bar) is list and _are_numbers(x_bar):
        return x_bar.copy()
    bars = item_bars(x_bar, x)
    if isinstance(x, dict):
        return {key: _number_bar(bars[key], item) for key, item in x.items()}
    return list(map(_number_bar, bars, x))


def _are_numbers(bars: list[Any]) -> bool:
    """Whether all are numbers, or tuples of these."""
    if bars and type(bars[0]) is tuple:
        return list(map(type, bars)).count(tuple) == len(bars) and are_floats(list(chain.from_iterable(bars)))
    return are_floats(bars)


def _number_bar(bar: Any, item: Any) -> Any:
    if isinstance(item, list | dict):
        return number_bars(bar, item)
    if isinstance(item, tuple):
        bar = (None,) * len(item) if is_structural_zero(bar) else bar
        return tuple(Untouched.zero if is_structural_zero(each) else each for each in bar)
    return Untouched.zero if is_structural_zero(bar) else bar


@returns(list)
def zeros_for(x: Any) -> Any:
    """The cotangent zero of a list or dict of real numbers, or of such lists and dicts."""
    zero = Untouched.zero
    if isinstance(x, dict):
        return {key: zeros_for(item) if isinstance(item, _HOLDERS) else zero for key, item in x.items()}
    if isinstance(x, tuple):
        return (zero,) * len(x)
    if not isinstance(x, list):
        return []  # of a variable that is not assigned on this path
    first: Any = x[0] if x else 0.0
    if not (first is None or isinstance(first, _HOLDERS)):  # None stands for what is not there yet
        return [zero] * len(x)
    if are_tuples(x):
        return [(zero,) * len(x[0])] * len(x)
    return [zeros_for(item) if isinstance(item, _HOLDERS) else zero for item in x]


@returns(list)
def zeros_for_tuples(x: Any, count: int) -> list[Any]:
    """The same of a list of tuples, each of so many real numbers."""
    return [(Untouched.zero,) * count] * len(x) if type(x) is list else []  # not assigned on this path


@returns(list)
def zeros_in_lists(x: Any) -> Any:
    """The same where the cotangents of tuples are lists, too."""
    if isinstance(x, dict):
        return {key: zeros_in_lists(item) for key, item in x.items()}
    if not isinstance(x, list | tuple):
        return []
    if x and isinstance(x[0], _HOLDERS):
        return list(map(zeros_in_lists, x))
    return [Untouched.zero] * len(x)


@returns(list)
def bars_in_lists(x_bar: Any, x: Any) -> Any:
    """`number_bars` where the cotangents of tuples are lists, too."""
    if isinstance(x, dict):
        return {key: bars_in_lists(None if is_structural_zero(x_bar) else x_bar.get(key), item) for key, item in x.items()}
    if not isinstance(x, list | tuple):
        return Untouched.zero if is_structural_zero(x_bar) else x_bar
    if is_structural_zero(x_bar):
        return zeros_in_lists(x)
    return list(map(bars_in_lists, x_bar, x))


@returns(list)
def zeros_by_item(x: Any) -> Any:
    """The cotangent zero of a tuple of real numbers, as a list."""
    return [Untouched.zero] * len(x) if isinstance(x, tuple) else []  # of a variable that is not assigned on this path


_HOLDERS = (list, dict, tuple)


@returns(list)
def copy_of_lists(x_bar: Any) -> Any:
    """A cotangent of numbers in lists and dicts that the caller may write into."""
    if isinstance(x_bar, dict):
        return {key: copy_of_lists(bar) if isinstance(bar, list | dict) else bar for key, bar in x_bar.items()}
    return list(map(copy_of_lists, x_bar)) if x_bar and isinstance(x_bar[0], list | dict) else x_bar.copy()


@returns(list)
def sum_of_lists(x_bar: Any, d: Any) -> Any:
    """The sum of two cotangents of numbers in lists and dicts, the second of which may lack keys that nobody has read."""
    if isinstance(x_bar, dict):
        return {key: _sum_of_parts(bar, d.get(key)) for key, bar in x_bar.items()}
    return list(_sums(x_bar, d))


def added_to_part(x_bar: Any, d: Any, *indices: Any) -> Any:
    """`x_bar`, the cotangents of a list of real numbers or of such lists, with `d` added to what is at an index or a slice."""
    if is_structural_zero(d):
        return x_bar
    *outer, last = indices
    within = x_bar
    for index in outer:
        within = within[index]
    if isinstance(last, slice):
        within[last] = _sums(within[last], d)
    else:
        within[last] = _sum_of_parts(within[last], d)
    return x_bar


def _sums(left: Any, right: Any) -> Any:
    """The sums of two lists of cotangents, item by item."""
    zero = Untouched.zero
    if are_floats(right):
        if left.count(0.0) == len(left) == len(right):
            return right  # nothing was added to these so far
        return [a if b is zero else a + b for a, b in zip(left, right, strict=False)]
    if are_tuples(right) and len(right[0]) == 2 and are_floats(list(chain.from_iterable(right))):
        pairs = zip(left, right, strict=False)
        return [(a if c is zero else a + c, b if d is zero else b + d) for (a, b), (c, d) in pairs]
    return map(_sum_of_parts, left, right)


def _sum_of_parts(left: Any, right: Any) -> Any:
    if right is None or right is Untouched.zero:
        return left
    if isinstance(left, tuple):
        return tuple(map(_sum_of_parts, left, right))
    return sum_of_lists(left, right) if isinstance(left, list | dict) else left + right


def cotangent_item_unless(x_bar: Any, key: Any, later: tuple[Any, ...]) -> Any:
    """The same for a dict display, where a later equal key has taken the place."""
    return None if key in later else cotangent_item(x_bar, key)


def cotangent_field(x_bar: Any, name: str) -> Any:
    """The cotangent of field `name` of an object, closure or method."""
    if is_structural_zero(x_bar):
        return None
    if not isinstance(x_bar, Tangent):
        raise MissingRuleError(
            f"a pullback gave a {type(x_bar).__name__} as cotangent of a function", None, "Return a Tangent or NoTangent()."
        )
    return x_bar.get(name)


def from_items(x: Any, items: tuple[Any, ...]) -> Any:
    """The cotangent of `x`, which was unpacked, from those of its items."""
    if all(map(is_structural_zero, items)):
        return None
    check_reading(x)
    if isinstance(x, np.ndarray):
        return stack_items(x, items)
    if isinstance(x, list | Stream | Turn) or is_deque(x):
        return list(items)
    if isinstance(x, tuple):
        return items
    if isinstance(x, dict | str | range | set):
        return None
    if isinstance(x, _VIEWS):
        return list(items)
    raise MissingRuleError(
        f"a {type(x).__name__} of differentiated values was unpacked", None, "Make a tuple or list of it first."
    )


_VIEWS: Any = type({}.values()) | type({}.items())  # their cotangents are lists, as those of iterators are


def add_iterated(x_bar: Any, x: Any, position: int, d: Any) -> Any:
    """`x_bar` (owned by the caller) with the cotangent `d` of the item that an iteration over `x` gave at `position`."""
    if type(x) is list or type(x) is tuple:
        return add_item(x_bar, x, position, d)
    if is_structural_zero(d) or isinstance(x, dict | str | bytes | range | set | frozenset):
        return x_bar  # keys, characters and integers carry no derivative
    if isinstance(x, np.ndarray | list | tuple):
        return add_item(x_bar, x, position, d)
    if isinstance(x, Stream | Turn | _VIEWS):
        count = len(x.given if isinstance(x, Stream) else x.places if isinstance(x, Turn) else x)
        bars = [None] * count if x_bar is None else x_bar
        bars[position] = d if bars[position] is None else accumulate(bars[position], d)
        return bars
    raise MissingRuleError(
        f"a loop ran over a {type(x).__name__} of differentiated values", None, "Loop over a list, tuple or array."
    )


def attribute_cotangent(x: Any, name: str, d: Any) -> Any:
    """The cotangent of `x` from that of its attribute `name`."""
    if is_structural_zero(d):
        return None
    if _is_field(x, name):
        return Tangent(type(x), {name: d})
    if isinstance(x, super):
        return _method_cotangent(x, name, d)
    if is_inert_attribute(type(x), name):
        return None
    rule = find_attribute_rule(type(x), name)
    if rule is not None:
        return rule(x)[1](d)[-1]
    return _field_cotangent(x, name, d)


def _is_field(x: Any, name: str) -> bool:
    """Whether it is a field of an ordinary object, as far as that is quickly found out."""
    cls = type(x)
    getter: Any = cls.__getattribute__
    if getter is not _GET or member_and_role(cls, name)[1] != Role.FIELD:
        return False
    try:
        return not _is_own_method(_GET(x, name), x)
    except AttributeError:
        return False


def _is_own_method(value: Any, x: Any) -> bool:
    """Whether a field holds a method of the very object: its cotangent is that of the object."""
    return type(value) is types.MethodType and value.__self__ is x


_GET: Callable[[Any, str], Any] = object.__getattribute__


def is_computed_since(x: Any, name: str) -> bool:
    """Whether a function that its class got after the class was looked at gives `x.name`. One that was known of has been
    differentiated instead of this attribute."""
    is_replaced = isinstance(type(x).__getattribute__, types.FunctionType)
    return is_replaced or isinstance(static_member(type(x), name), property)


def _field_cotangent(x: Any, name: str, d: Any) -> Any:
    static = static_member(type(x), name, _MISSING)
    if (
        is_computed_since(x, name)
        or isinstance(static, functools.cached_property)
        or (hasattr(type(static), "__get__") and not isinstance(static, _PLAIN_DESCRIPTORS))
    ):
        raise MissingRuleError(
            f"attribute {name!r} of a {type(x).__name__} is computed (a property or other descriptor)",
            None,
            "Call a method instead, or read the fields it is computed from.",
        )
    if isinstance(x, int | float | complex | np.generic | np.ndarray | list | tuple | dict) and not _has_field(x, name):
        return _method_cotangent(x, name, d)
    if isinstance(x, types.ModuleType | type):
        return None
    if isinstance(x, super) and not is_computed(inherited_member(x, name)):
        # The cotangent of the object that a method is bound to stands for that of `x`; other members are constants.
        return d.get("__self__") if isinstance(d, Tangent) else None
    if _has_field(x, name):
        return cotangent_field(d, "__self__") if _is_own_method(getattr(x, name), x) else Tangent(type(x), {name: d})
    if isinstance(static, types.FunctionType):
        return cotangent_field(d, "__self__")
    if isinstance(static, staticmethod | classmethod):
        return None
    if static is _MISSING and isinstance(x, Tangent):
        return of_field(name, d)
    if static is _MISSING:
        raise MissingRuleError(
            f"attribute {name!r} of a {type(x).__name__} is computed by __getattr__",
            None,
            "Call a method instead, or read the fields it is computed from.",
        )
    return Tangent(type(x), {name: d})


_PLAIN_DESCRIPTORS = (*PLAIN_MEMBERS, type(namedtuple("_Example", "field").field))  # type: ignore[attr-defined]


def _method_cotangent(x: Any, name: str, d: Any) -> Any:
    fields: tuple[str, ...] = getattr(x, "_fields", ())
    if name in fields:
        items: list[Any] = [None] * len(x)
        items[fields.index(name)] = d
        return tuple(items)
    if isinstance(x, int | float) and name in ("real",):
        return d
    if isinstance(d, Tangent):
        return d.get("__self__")
    raise MissingRuleError(
        f"no rule for attribute {name!r} of a {type(x).__name__}",
        None,
        f"Declare one with @attribute_rule({type(x).__name__}, {name!r}).",
    )


def _has_field(x: Any, name: str) -> bool:
    if has_field(x, name):
        return True
    return any(name == slot or name in slot for slot in (getattr(c, "__slots__", ()) for c in type(x).__mro__) if slot)


_MISSING = object()
