"""What was compiled, for whom it is valid, and how long it is kept.

A unit depends on what module-level names meant and on which rules there were when it was compiled; both are looked at
before it is used again. The cache is bounded, and keyed by identities that are watched, so that it keeps no object of the
user's alive.
"""

from __future__ import annotations

import sys
import threading
import types
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, final

from microgradpy.codegen.loading import unload_later, unload_unwanted
from microgradpy.frontend.resolve import Guard
from microgradpy.ir.kinds import Kind
from microgradpy.ir.nodes import Location
from microgradpy.rules.registry import rrule
from microgradpy.runtime.dispatch import value_kind

CACHE_SIZE = 1024
lock = threading.RLock()


@final
@dataclass(eq=False)
class Unit:
    """A compiled function. While it is being compiled its result is assumed, so that it can call itself."""

    name: str
    active: tuple[bool, ...]
    result_kind: Kind
    result_active: bool = True
    absent: tuple[bool, ...] = ()
    fresh: tuple[bool, ...] = ()
    primal: Callable[..., Any] | None = None
    adjoint: Callable[..., Any] | None = None
    texts: tuple[str, str] | None = None
    line_maps: tuple[Mapping[int, Location], Mapping[int, Location]] = ({}, {})
    """Where the lines of the two texts come from."""
    pushforward: Callable[..., Any] | None = None
    """From the inputs and the tangents of the active ones to the value and its tangent; made when it is first wanted."""
    pushforward_text: str = ""
    is_pushable: bool = True
    own_guards: Guards = field(default_factory=lambda: Guards())
    guards: Guards = field(default_factory=lambda: Guards())
    callees: list[Unit] = field(default_factory=list)
    halves: dict[bool, Any] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    tracks: bool = False
    is_root: bool = False
    is_open: bool = False
    """Whether it calls what is known only at run time."""
    takes_value: bool = True
    writes: bool = False
    needs_tracking: bool = False
    in_progress: bool = True
    was_assumed: bool = False
    version: int = 0

    @property
    def calls_unknown(self) -> bool:
        """Whether it, or what it calls, calls what is known only at run time."""
        return any(unit.is_open for unit in reached_units(self))


Check = tuple[Mapping[str, Any], str, Any]
"""A namespace, a name in it, and the object that the name has to mean (`UNDEFINED`: the name must not exist)."""

# What these modules contain does not change.
_FIXED_MODULES = ("numpy", "math", "cmath", "operator", "builtins", "functools", "itertools")


def checks_of(guard: Guard, namespace: Mapping[str, Any], builtins: Mapping[str, Any]) -> list[Check]:
    """What to look at before code in which a name was folded is used again."""
    if guard.is_module:
        checks: list[Check] = [(sys.modules, guard.name, sys.modules[guard.name])]
    elif guard.name in namespace:
        checks = [(namespace, guard.name, namespace[guard.name])]
    else:
        checks = [(namespace, guard.name, UNDEFINED), (builtins, guard.name, builtins[guard.name])]
    found = checks[-1][2]
    for attribute in guard.path:
        inside = vars(found)
        if found.__name__.partition(".")[0] not in _FIXED_MODULES:
            checks.append((inside, attribute, inside[attribute]))
        found = inside[attribute]
    return checks


@final
@dataclass(frozen=True, slots=True, eq=False)
class KindGuard:
    """A module variable whose kind was used; None if there was no such variable."""

    namespace: dict[str, Any]
    name: str
    kind: Kind | None
    cls: type | None = None

    def holds(self) -> bool:
        value = self.namespace.get(self.name, UNDEFINED)
        if self.cls is not None and type(value) is not self.cls:
            return False
        return (None if value is UNDEFINED else value_kind(value)) == self.kind


@final
@dataclass(frozen=True, slots=True, eq=False)
class FunctionGuard:
    """A function that is called directly, with its defaults as they were when the call was compiled."""

    function: types.FunctionType
    code: types.CodeType
    defaults: tuple[Any, ...] | None
    keyword_defaults: dict[str, Any] | None

    @classmethod
    def of(cls, function: types.FunctionType) -> FunctionGuard:
        keywords = function.__kwdefaults__
        return cls(function, function.__code__, function.__defaults__, None if keywords is None else dict(keywords))

    def holds(self) -> bool:
        function = self.function
        if function.__code__ is not self.code or function.__defaults__ is not self.defaults:
            return False
        before, now = self.keyword_defaults, function.__kwdefaults__
        if before is None or now is None:
            return before is now
        return before.keys() == now.keys() and all(now[name] is value for name, value in before.items())


UNDEFINED = object()


@final
@dataclass(frozen=True, slots=True)
class Guards:
    """What was assumed about module variables and about the functions that are called."""

    checks: tuple[Check, ...] = ()
    kinds: tuple[KindGuard, ...] = ()
    functions: tuple[FunctionGuard, ...] = ()


def reached_units(unit: Unit) -> list[Unit]:
    """A unit and all the units that it may call."""
    reached, waiting = {id(unit): unit}, [unit]
    while waiting:
        new = [callee for callee in waiting.pop().callees if id(callee) not in reached]
        reached |= {id(callee): callee for callee in new}
        waiting += new
    return list(reached.values())


def combined_guards(unit: Unit) -> Guards:
    """The guards of a unit and of all the units that it may call: it is as valid as they are."""
    own = [other.own_guards for other in reached_units(unit)]
    checks = {(id(check[0]), check[1]): check for guards in own for check in guards.checks}
    kinds = {(id(guard.namespace), guard.name): guard for guards in own for guard in guards.kinds}
    functions = {id(guard.function): guard for guards in own for guard in guards.functions}
    return Guards(tuple(checks.values()), tuple(kinds.values()), tuple(functions.values()))


def is_valid(unit: Unit) -> bool:
    """Whether what was assumed when a unit was compiled still holds."""
    if unit.version != rrule.version:
        return False
    guards = unit.guards
    for namespace, name, value in guards.checks:
        if namespace.get(name, UNDEFINED) is not value:
            return False
    for guard in guards.kinds:
        if not guard.holds():
            return False
    for called in guards.functions:
        if not called.holds():
            return False
    return True


class CacheInfo(NamedTuple):
    """What `cache_info()` returns: how many units are kept, calls that found one, calls that compiled, the bound."""

    size: int
    hits: int
    misses: int
    maximum: int


@final
class Cache:
    """The units, oldest first. Keyed by the identity of the code object and of the module, which are watched: a unit goes
    when its code goes."""

    def __init__(self) -> None:
        self.units: OrderedDict[tuple[Any, ...], Unit] = OrderedDict()
        self.watched: dict[int, weakref.ref[types.CodeType]] = {}
        self.plans: dict[tuple[Any, ...], Any] = {}
        """What `entry` has decided for signatures it met; depends on the units."""
        self.hits = 0
        self.misses = 0

    def find(self, key: tuple[Any, ...]) -> Unit | None:
        unit = self.units.get(key)
        if unit is None:
            return None
        if not is_valid(unit):
            self.drop(key)
            return None
        return unit

    def keep(self, key: tuple[Any, ...], unit: Unit, code: types.CodeType) -> None:
        identity = id(code)
        if identity not in self.watched:
            self.watched[identity] = weakref.ref(code, partial(self._gone, identity, sys.is_finalizing))
        self.units[key] = unit
        while len(self.units) > CACHE_SIZE:
            self.drop(next(iter(self.units)))

    def _gone(self, identity: int, is_finalizing: Callable[[], bool], _: object) -> None:
        # At the end of the interpreter the modules that are needed for it may be gone before.
        if not is_finalizing():
            self.forget(identity)

    def forget_kind(self, part: object) -> None:
        """Drop the units that were compiled for a kind of run which does not come again; `part` is in their keys."""
        for key in [key for key in list(self.units) if any(other is part for other in key)]:
            self.drop(key)

    def forget(self, identity: int) -> None:
        self.watched.pop(identity, None)
        for key in [key for key in list(self.units) if key[0] == identity]:
            self.drop(key)

    def drop(self, key: tuple[Any, ...]) -> None:
        self.plans.clear()
        unit = self.units.pop(key, None)
        if unit is not None:
            for file in unit.files:
                unload_later(file)

    def clear(self) -> None:
        for key in list(self.units):
            self.drop(key)
        unload_unwanted()
        self.watched.clear()
        self.hits = self.misses = 0


CACHE = Cache()


def cache_info() -> CacheInfo:
    """The number of compiled functions kept, hits, misses and the bound of the cache."""
    return CacheInfo(len(CACHE.units), CACHE.hits, CACHE.misses, CACHE_SIZE)


def cache_clear() -> None:
    """Forget everything that was compiled."""
    with lock:
        CACHE.clear()
