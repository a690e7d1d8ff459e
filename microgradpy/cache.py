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
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from itertools import count
from operator import itemgetter
from typing import Any, NamedTuple, final

from microgradpy.codegen.loading import unload_later, unload_unwanted
from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.frontend.resolve import Guard
from microgradpy.ir.kinds import Kind
from microgradpy.ir.nodes import Location
from microgradpy.ir.reasons import MayWrite, Reason
from microgradpy.rules.registry import rrule
from microgradpy.runtime.dispatch import value_kind
from microgradpy.runtime.modes import Mode
from microgradpy.runtime.real_powers import COMPLEX

CACHE_SIZE = 1024
lock = threading.RLock()


@final
@dataclass(frozen=True, slots=True)
class Adjoint:
    """`run(saved, seed)` returns the cotangents; `fresh` says of each whether it is nobody else's."""

    run: Callable[..., Any]
    fresh: tuple[bool, ...]
    text: str
    line_map: Mapping[int, Location]


@final
@dataclass(eq=False)
class Unit:
    """A compiled function. While it is being compiled its result is assumed, so that it can call itself."""

    name: str
    active: tuple[bool, ...]
    result_kind: Kind
    result_active: bool = True
    active_parts: tuple[bool, ...] | None = None
    passed: int = 0
    """How many of the last parts of its result are lists that it was given and has written into."""
    absent: tuple[bool, ...] = ()
    primal: Callable[..., Any] | None = None
    waiting: Any = None
    """What its texts are to be made of, until somebody reaches it."""
    is_complete: bool = False
    """Whether all that it may call has its texts, as far as there can be any."""
    primal_text: tuple[str, Mapping[int, Location]] | None = None
    """With where the lines come from."""
    source: Any = None
    """What its adjoints are made from, until there will be no more."""
    make_adjoint: Callable[[Unit], Adjoint] | None = None
    made: Adjoint | None = None
    """Its adjoint, made when it is first wanted: a gradient takes the one for the seed 1."""
    at_one: dict[tuple[bool, ...], Adjoint | None] = field(default_factory=dict)
    """Its adjoints for the seed 1, by which of its inputs are of double precision."""
    pushforward: Callable[..., Any] | None = None
    """From the inputs and the tangents of the active ones to the value and its tangent; made when it is first wanted."""
    pushing: Any = None
    """The IR of it, until it is reached."""
    pushforward_text: str = ""
    native: dict[Any, Any] = field(default_factory=dict)
    """Its native code, by the types of its inputs; or why there is none."""
    batches: dict[Any, Any] = field(default_factory=dict)
    """What goes through many directions at once, by which of its inputs have them."""
    is_pushable: bool = True
    own_guards: Guards = field(default_factory=lambda: Guards())
    guards: Guards = field(default_factory=lambda: Guards())
    callees: list[Unit] = field(default_factory=list)
    halves: dict[bool, Any] = field(default_factory=dict)
    kinds: tuple[Kind, ...] = ()
    mode: Mode = field(default_factory=Mode)
    catches: bool = False
    """The kinds of its inputs, how the thread compiled then, and whether it returns what it raises."""
    keeping: dict[bool, Any] = field(default_factory=dict)
    """Its adjoints that keep the zeros of selections, made when they are wanted: for seeds that have none, and have some."""
    files: tuple[str, ...] | None = ()
    """What its texts are called; None if nobody is to see them any more."""
    tracks: bool = False
    is_root: bool = False
    is_open: bool = False
    """Whether it calls what is known only at run time."""
    is_watched: bool = False
    is_looking: bool = False
    """Whether it has operations as they stand that may run code of the user's (a property, an operator, a function that gets
    constants only); and such that are searched for writes, as they are not just constructors."""
    sees_variables: bool = False
    """Whether it reads module variables that may be or hold objects; and containers."""
    sees_lists: bool = False
    keeps_containers: bool = False
    """Whether it lets an argument keep what may be or hold a list or dict."""
    throws: bool = False
    """Whether it raises exceptions that may hold what is differentiated."""
    is_promoted: bool = False
    """Whether what it writes into has become variables."""
    pattern: Any = None
    """How it is called with parts of its arguments for these."""
    followed: frozenset[weakref.ref[types.CodeType]] = frozenset()
    """The code that writes into nothing that others have, as it is called by name."""
    hands_on: frozenset[str] = frozenset()
    """The names of the functions that it stores or hands on, and of attributes that it reads when it runs: what has such a name
    may be called by others, and with anything."""
    takes_value: bool = True
    meets_writers: bool = True
    """Whether the code that it reaches may name classes with methods that write when operators and builtins ask for them."""
    has_powers: bool = False
    """Whether it has powers of real numbers that may be complex; they are assumed to be real in the mode for that."""
    is_repeatable: bool = False
    """Whether it only computes, so that nobody sees if a run is given up and made once more."""
    reads_module: bool = False
    """Whether it reads variables of modules when it runs."""
    assumes_repeatable: bool = False
    is_seen: bool = False
    """Whether it was assumed, where it calls itself, that nothing but its inputs decides on what it gives; and whether that has
    turned out to be wrong."""
    apart: Any = None
    """Its pushforward as IR to be differentiated."""
    apart_alone: Any = None
    """The same that returns the tangent only."""
    inserts: bool = False
    selects: bool = True
    """Whether its cotangents may have zeros of a selection that it makes."""
    writes: bool = False
    may_write: MayWrite | None = None
    """What it may write, so that there is nothing else of it."""
    reasons: tuple[Reason, ...] = ()
    """Why calls in it are left to run time."""
    in_progress: bool = True
    relies_on: set[Unit] = field(default_factory=set)
    """The units of which it was assumed what they will come to, until all of them are there."""
    was_assumed: bool = False
    version: int = 0

    @cached_property
    def places(self) -> tuple[int | None, ...]:
        """Per input, the position of its cotangent among those that its adjoint returns."""
        numbers = count()
        return tuple(next(numbers) if flag else None for flag in self.active)

    @cached_property
    def is_single(self) -> bool:
        """Whether its adjoint returns one cotangent bare."""
        return sum(self.active) == 1

    @cached_property
    def gives_all(self) -> bool:
        """Whether its adjoint returns a tuple of the cotangents of all inputs."""
        return all(self.active) and len(self.active) > 1

    def divided(self, bars: Any) -> list[Any]:
        """What its adjoint returns, by input."""
        bars = (bars,) if self.is_single else bars
        return [None if place is None else bars[place] for place in self.places]

    @property
    def reverse(self) -> Adjoint | None:
        """Its adjoint; None while it is compiled, and if it was given up."""
        if self.made is None and self.make_adjoint is not None:
            return self.make_adjoint(self)
        return self.made

    @property
    def adjoint(self) -> Callable[..., Any] | None:
        made = self.made or self.reverse
        return None if made is None else made.run

    @property
    def texts(self) -> tuple[str, str] | None:
        """Those of the primal and of the adjoint."""
        made, primal = self.reverse, self.primal_text
        return None if made is None or primal is None else (primal[0], made.text)

    @property
    def line_maps(self) -> tuple[Mapping[int, Location], Mapping[int, Location]]:
        """Where the lines of the two texts come from."""
        made, primal = self.reverse, self.primal_text
        return ({}, {}) if made is None or primal is None else (primal[1], made.line_map)

    def shows(self, file: str) -> None:
        """Note the name of a text of it, which is forgotten with it."""
        if self.files is None:
            unload_later(file)
        else:
            self.files = (*self.files, file)

    @property
    def calls_unknown(self) -> bool:
        """Whether it, or what it calls, calls what is known only at run time."""
        return any(unit.is_open for unit in reached_units(self))

    @property
    def assumes_real(self) -> bool:
        """Whether it, or what it calls, may end a run since a power is complex."""
        return self.mode.assumes_real and any(unit.has_powers for unit in reached_units(self))

    @property
    def runs_unseen(self) -> bool:
        """Whether code that is not compiled, and may write, may run in it or in what it calls."""
        return any(unit.is_open or unit.is_looking for unit in reached_units(self))

    @property
    def is_to_be_watched(self) -> bool:
        """Whether any code that is not compiled may run in it, or in what it calls."""
        return any(unit.is_open or unit.is_watched for unit in reached_units(self))


    @property
    def sees_objects(self) -> bool:
        """Whether it, or what it calls, may reach objects that it is not given, by variables or code that is not compiled."""
        return any(unit.is_open or unit.is_watched or unit.is_looking or unit.sees_variables for unit in reached_units(self))

    @property
    def sees_containers(self) -> bool:
        """Whether it, or what it calls, reads module variables that may be or hold containers, or lets arguments keep some."""
        return any(unit.sees_lists or unit.keeps_containers for unit in reached_units(self))


Check = tuple[Mapping[str, Any], str, Any]
"""A namespace, a name in it, and the object that the name has to mean (`UNDEFINED`: the name must not exist)."""


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
        found = inside.get(attribute, UNDEFINED)
        checks.append((inside, attribute, found))
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
_Present = tuple[Callable[[Mapping[str, Any]], Any], Mapping[str, Any], tuple[Any, ...]]


def _is_other(now: Any, then: Any) -> bool:
    try:
        return (now,) != (then,)
    except ValueError:  # arrays
        return True


@final
@dataclass(frozen=True, slots=True)
class Guards:
    """What was assumed about module variables and about the functions that are called."""

    checks: tuple[Check, ...] = ()
    kinds: tuple[KindGuard, ...] = ()
    functions: tuple[FunctionGuard, ...] = ()
    makes_text: bool = False
    """Not a guard: whether the code that they are for makes text of what may be differentiated."""
    present: tuple[_Present, ...] = field(init=False)
    absent: tuple[tuple[Any, frozenset[str]], ...] = field(init=False)

    def __post_init__(self) -> None:
        # The checks once more, by namespace, in the form in which they are made on every call.
        namespaces = {id(namespace): namespace for namespace, _, _ in self.checks}
        present, absent = [], []
        for identity, namespace in namespaces.items():
            own = [(name, value) for other, name, value in self.checks if id(other) == identity]
            missing = frozenset(name for name, value in own if value is UNDEFINED)
            if missing:
                absent.append((namespace.keys(), missing))
            found = tuple((name, value) for name, value in own if value is not UNDEFINED)
            if found:
                found *= 2 if len(found) == 1 else 1  # so that what is fetched is a tuple
                names, values = zip(*found, strict=True)
                present.append((itemgetter(*names), namespace, values))
        object.__setattr__(self, "present", tuple(present))
        object.__setattr__(self, "absent", tuple(absent))

    def together_with(self, others: Iterable[Guards]) -> Guards:
        """These and others, each thing that is looked at once."""
        every = (self, *others)
        checks = {(id(check[0]), check[1]): check for guards in every for check in guards.checks}
        kinds = {(id(guard.namespace), guard.name): guard for guards in every for guard in guards.kinds}
        functions = {id(guard.function): guard for guards in every for guard in guards.functions}
        return Guards(tuple(checks.values()), tuple(kinds.values()), tuple(functions.values()), self.makes_text)

    def replaced(self) -> str | None:
        """A name that meant something then, and means something else now; what is equal is as good, as when it is asked whether
        the assumptions hold."""
        meant = (check for check in self.checks if check[2] is not UNDEFINED)
        return next((name for namespace, name, value in meant if _is_other(namespace.get(name, UNDEFINED), value)), None)

    def hold(self) -> bool:
        """Whether what was assumed is so now. Functions, classes and modules are equal to themselves only, so that one
        comparison of tuples says it of a whole namespace; a call of ten operations has a dozen of them."""
        for fetch, namespace, values in self.present:
            try:
                if fetch(namespace) != values:
                    return False
            except KeyError:
                return False
        for names, missing in self.absent:
            if not names.isdisjoint(missing):
                return False
        for guard in self.kinds:
            if not guard.holds():
                return False
        for called in self.functions:
            if not called.holds():
                return False
        return True


def reached_units(unit: Unit) -> list[Unit]:
    """A unit and all the units that it may call."""
    reached, waiting = {id(unit): unit}, [unit]
    while waiting:
        new = [callee for callee in waiting.pop().callees if id(callee) not in reached]
        reached |= {id(callee): callee for callee in new}
        waiting += new
    return list(reached.values())


def followed_by(unit: Unit) -> frozenset[types.CodeType]:
    """The code of a unit, and of those that it may call, of which it is known that it writes into nothing of others."""
    reached = reached_units(unit)
    shown = frozenset().union(*(each.hands_on for each in reached))
    codes = (code for each in reached for part in each.followed if (code := part()) is not None)
    return frozenset(code for code in codes if code.co_name not in shown)


def combined_guards(unit: Unit) -> Guards:
    """The guards of a unit and of all the units that it may call: it is as valid as they are."""
    first, *others = [other.own_guards for other in reached_units(unit)]
    makes_text = any(guards.makes_text for guards in (first, *others))
    return replace(first, makes_text=makes_text).together_with(others)


def is_valid(unit: Unit) -> bool:
    """Whether what was assumed when a unit was compiled still holds."""
    if unit.version != rrule.version:
        return False
    return unit.guards.hold()


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
        self.units: dict[tuple[Any, ...], Unit] = {}
        self.watched: dict[int, weakref.ref[types.CodeType]] = {}
        self.plans: dict[tuple[Any, ...], Any] = {}
        """What `entry` has decided for signatures it met; depends on the units."""
        self.patterns: dict[tuple[int, int], Any] = {}
        """What was found of arguments in sight, by the code and the module of a function."""
        self._holders: weakref.WeakSet[Any] = weakref.WeakSet()
        self._holding = threading.RLock()  # not that of the compiler: who declares a rule may be a module that it waits for
        self.hits = 0
        self.batches = 0
        """How many runs were in many directions at once."""
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
        for other in [other for other in list(self.patterns) if other[0] == identity]:
            self.patterns.pop(other, None)

    def drop(self, key: tuple[Any, ...]) -> None:
        self.plans.clear()
        unit = self.units.pop(key, None)
        if unit is not None:
            files, unit.files = unit.files or (), None
            for file in files:
                unload_later(file)

    def hold(self, holder: Any) -> None:
        """Note that somebody holds units, who does not ask whether rules have changed or everything was forgotten."""
        with self._holding:
            self._holders.add(holder)

    def release(self) -> None:
        """Let them `forget` the units that they hold."""
        with self._holding:
            holders = list(self._holders)
        for holder in holders:
            holder.forget()

    def clear(self) -> None:
        for key in list(self.units):
            self.drop(key)
        self.patterns.clear()
        COMPLEX.clear()
        self.release()
        unload_unwanted()
        self.watched.clear()
        self.hits = self.misses = 0


CACHE = Cache()
rrule.watchers.append(CACHE.release)


def cache_info() -> CacheInfo:
    """The number of compiled functions kept, hits, misses and the bound of the cache."""
    return CacheInfo(len(CACHE.units), CACHE.hits, CACHE.misses, CACHE_SIZE)


def cache_clear() -> None:
    """Forget everything that was compiled."""
    with lock:
        CACHE.clear()
