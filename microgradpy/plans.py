"""How calls of one signature run: what that is, and what was compiled for it.

A plan is kept under the signature of the call that it was made for: what decides on its unit, and is cheap to look at.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, final

import numpy as np

from microgradpy.binding import Binding
from microgradpy.cache import CACHE, CACHE_SIZE, Adjoint, Unit, is_valid
from microgradpy.dataclasses import dataclass
from microgradpy.gradient_compiler import unit_seed_adjoint
from microgradpy.ir.kinds import REAL, UNASSIGNED, Inert, Kind, Scalar, Sequence, TupleOf
from microgradpy.ir.objects import LEAVES, NO_FEATURES, features_of_value
from microgradpy.patterns import Match, matched
from microgradpy.projecting import FLOATS, are_floats, are_tuples
from microgradpy.runtime.activity import value_kind
from microgradpy.runtime.bars import Wanted
from microgradpy.runtime.modes import RUN, Mode

EXOTIC = frozenset((Decimal, Fraction))
"""The types of numbers that have no cotangent of their own kind."""


UNIT_SEEDS: dict[type, Any] = {float: 1.0, np.float64: np.float64(1.0)}
"""The seeds that `gradient` gives, by the type of the value; known by their identity."""
_ONE, _ONE_DOUBLE = UNIT_SEEDS.values()
_WIDE = (np.ndarray, np.float64)
_Run = tuple[Callable[..., Any], tuple[Any, ...]]
"""`run(saved, seed)`, and of which inputs it makes a cotangent that is nobody else's, or which are lists of floats."""


@final
@dataclass(slots=True, eq=False)
class Plan:
    """How calls of one signature run. `leading`: the differentiated inputs are the first ones, and several. `shared`: the
    variables that the function shares with others, if its unit tracks writes, which depends on them."""

    unit: Unit
    exotic: bool
    leading: bool
    shared: tuple[frozenset[str], ...] = ()
    watches: bool = False
    """Whether code may run in it that is not compiled, so that it is looked whether the arguments are still the same."""
    is_asked: bool = False
    """Whether it is known if there is an adjoint for the seed 1, which a gradient takes if there is one."""
    at_one: _Run | None = None
    for_any: _Run | None = None
    of_floats: tuple[bool, ...] = ()
    """Which inputs are lists of floats, as the signature says."""

    @classmethod
    def of(cls, unit: Unit, values: list[Any], shared: tuple[frozenset[str], ...] = ()) -> Plan:
        count = sum(unit.active)
        leading = count > 1 and all(unit.active[:count])
        watches = not unit.tracks and unit.is_to_be_watched
        return cls(unit, not EXOTIC.isdisjoint(map(type, values)), leading, shared, watches)

    def adjoint_for(self, y_bar: Any, values: list[Any]) -> _Run:
        """The adjoint for a seed, of a call with such inputs; each is made when it is first wanted."""
        if (y_bar is _ONE_DOUBLE or y_bar is _ONE) and sys.gettrace() is None:  # a debugger is shown the general one
            if not self.is_asked:
                are_double = tuple(type(value) in _WIDE and value.dtype.char == "d" for value in values)
                self.at_one, self.is_asked = self._run_of(unit_seed_adjoint(self.unit, are_double)), True
            if self.at_one is not None:
                return self.at_one
        if self.for_any is None:
            self.for_any = self._run_of(self.unit.reverse)
            assert self.for_any is not None
        return self.for_any

    def _run_of(self, made: Adjoint | None) -> _Run | None:
        if made is None:
            return None
        fresh = tuple(place is not None and made.fresh[place] for place in self.unit.places)
        return made.run, tuple(map(_flag, fresh, self.of_floats)) if any(self.of_floats) else fresh

    def adjoint_of_gradient(self) -> tuple[Callable[..., Any], tuple[Any, ...], bool] | None:
        """The adjoint that a gradient takes, of which inputs it makes a cotangent that is nobody else's, and whether it is for
        the seed 1 only; None until that is decided, and where nothing is differentiated."""
        if not self.is_asked or not any(self.unit.active):
            return None
        return (*(self.at_one or self.adjoint_for(None, [])), self.at_one is not None)


def _flag(is_fresh: bool, is_of_floats: bool) -> Any:
    return FLOATS if is_of_floats else is_fresh


_CONTAINERS = frozenset((list, tuple, dict, set, types.FunctionType, type, types.ModuleType, types.BuiltinFunctionType))


def signature(
    function: types.FunctionType, bound: Binding, wanted: Wanted, keywords_wanted: bool, is_inner: bool, mode: Mode
) -> tuple[Any, ...] | None:
    """What the plan of a call depends on; None if it depends on more than types and shapes."""
    key: list[Any] = [id(function.__code__), id(function.__globals__), wanted, keywords_wanted, mode, is_inner]
    key.append(bound.positions)
    key += bound.names
    for value in bound.values:
        cls = type(value)
        if cls is np.ndarray:
            key += value.dtype.char, value.shape
        elif cls in _HOLDING:
            part = _signature_of_items(value, _DEEPEST)
            if part is None:
                return None
            key.append(part)
        elif cls in _CONTAINERS:
            return None
        else:
            key.append(cls)
            if cls not in LEAVES:
                features = features_of_value(value)
                key.append(None if features is NO_FEATURES else features)
    return tuple(key)


_DEEPEST = 4
_HOLDING = frozenset((list, tuple, dict))
_ONLY_FLOATS, _ONLY_TUPLES = frozenset((float,)), frozenset((tuple,))
_IN_CONTAINERS = frozenset((int, float, complex, bool, str, type(None), np.float64, np.float32))


def _signature_of_items(value: Any, depth: int) -> tuple[Any, ...] | None:
    """The same for a container of numbers, texts, arrays and such containers; None for others. Of what is in a list it only
    counts what there is, since nothing is proven of an item but what holds of all, without the axes."""
    cls = type(value)
    if cls is list:
        kinds = _ONLY_FLOATS if value and are_floats(value) else frozenset(map(type, value))
        if kinds <= _IN_CONTAINERS:
            return cls, kinds
        if kinds == _ONLY_TUPLES and are_tuples(value):
            columns = tuple(frozenset(map(type, column)) for column in zip(*value, strict=True))
            if all(column <= _IN_CONTAINERS for column in columns):
                return cls, tuple, columns  # records of numbers and texts, of which there may be many
    if not depth or len(value) > _MOST_ITEMS or (cls is dict and not all(type(key) is str for key in value)):
        kind = value_kind(value)
        return (cls, kind) if _says_all_types(kind) else None
    parts = [_signature_of_item(item, cls is list, depth) for item in (value.values() if cls is dict else value)]
    if None in parts:
        return None
    return (cls, frozenset(parts)) if cls is list else (cls, *parts, *(value if cls is dict else ()))


def _says_all_types(kind: Kind) -> bool:
    """Whether a kind is that of numbers and texts of one type at each place, in whatever containers."""
    match kind:
        case Sequence(name="list" | "dict", item=item, entries=(), keys=keys):
            return _says_all_types(item) and (kind.name == "list" or _says_all_types(keys))
        case TupleOf(items=items):
            return all(map(_says_all_types, items))
        case Inert(name=name):
            return name in _TEXTS or kind == UNASSIGNED
    return isinstance(kind, Scalar) and kind != REAL


_TEXTS = frozenset(("str", "bytes"))


def _signature_of_item(item: Any, is_in_list: bool, depth: int) -> Any:
    cls = type(item)
    if cls is np.ndarray:
        return (item.dtype.char, item.ndim) if is_in_list else (item.dtype.char, item.shape)
    if cls in _HOLDING:
        return _signature_of_items(item, depth - 1)
    return cls if cls in _IN_CONTAINERS else None


_MOST_ITEMS = 64


def known_plan(function: types.FunctionType, bound: Binding, wanted: Wanted) -> Plan | None:
    """The plan by which such a call has run as the outermost one, if it is valid and nothing but its unit is needed for it."""
    key = signature(function, bound, wanted, False, False, RUN.mode)
    plan: Plan | None = None if key is None else CACHE.plans.get(key)
    return plan if plan is not None and not plan.unit.tracks and is_valid(plan.unit) else None


def known_parts(function: types.FunctionType, bound: Binding, wanted: Wanted) -> tuple[Plan, Match] | None:
    """The same for a call by parts of its arguments, with these parts."""
    read = matched(function, bound.values)
    if read is None:
        return None
    key = signature(function, Binding(read.leaves, 0, bound.positions, bound.names), wanted, False, False, RUN.mode)
    plan: Plan | None = CACHE.plans.get((read.pattern, key))
    return (plan, read) if plan is not None and is_valid(plan.unit) else None


def keep_plan(key: tuple[Any, ...], plan: Any) -> None:
    if len(CACHE.plans) >= CACHE_SIZE:
        CACHE.plans.clear()
    CACHE.plans[key] = plan
