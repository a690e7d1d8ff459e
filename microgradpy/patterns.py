"""Arguments in sight, from call to call: which parts of them a function reads, and how its gradients are put together again.

A function that takes objects is compiled for what it read of them when it was first called (`microgradpy.promotion.arguments`).
`read` gives these parts of the arguments of another call, if all that was relied on is so there; nothing else of them matters.
`gather` makes their gradients (`pattern_texts`).
"""

from __future__ import annotations

import operator
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, final

import numpy as np

from microgradpy.cache import CACHE, Check, FunctionGuard, Guards, Unit, followed_by, lock
from microgradpy.compiler import compile_outermost, compile_unit
from microgradpy.dataclasses import dataclass, field
from microgradpy.errors import DifferentiationError, MutationError
from microgradpy.ir.input_kinds import kinds_of
from microgradpy.ir.kinds import UNKNOWN, Kind, Sequence, holds_no_lists, holds_no_objects
from microgradpy.ir.nodes import Function
from microgradpy.ir.reasons import MayWrite, Reason
from microgradpy.linking import errors_of_compiler
from microgradpy.pattern_texts import Texts, has_fields
from microgradpy.pipeline import instrumented, instrumented_here
from microgradpy.projecting import PARTS, WHOLE, is_projected
from microgradpy.promotion.driver import Promoted, Promotion, promote
from microgradpy.promotion.given import IDENTICAL, holds_layers, holds_objects, is_holder, objects_named
from microgradpy.promotion.places import Part
from microgradpy.rules.registry import rrule
from microgradpy.runtime.bytecode import writes
from microgradpy.runtime.collector import resting
from microgradpy.runtime.dispatch import value_kind
from microgradpy.runtime.room import with_room
from microgradpy.runtime.suspension import is_generator
from microgradpy.runtime.write_detection import functions_called_by
from microgradpy.state.reachable_writes import may_write
from microgradpy.state.stops import stopping_in
from microgradpy.tangents.projection import project

_SIMPLE = frozenset((np.ndarray, float, int, complex, bool, str, type(None), np.float64, np.float32, np.int64))
_FUNCTIONS = (types.FunctionType, *IDENTICAL)
_MOST_PATTERNS, _COST, _MOST_CREDIT = 4, 8, 96
"""How many are kept for a function; and that one has to have been of use in so many calls before another one is made, twelve in
advance, or else the arguments of the function differ too much."""


class Match(NamedTuple):
    """The inputs that a call has by a pattern, and the holders among the parts of its arguments."""

    pattern: Pattern
    values: list[Any]
    held: tuple[Any, ...]

    @property
    def leaves(self) -> list[Any]:
        """The inputs without the objects at their end that are written into."""
        count = self.pattern.objects
        return self.values[:-count] if count else self.values


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """What a function reads of its arguments. `function` is its IR for the parts, `counts` how many inputs it has for each of
    its own (None: that one, as it stands), `leaves` which of them are parts; behind these there are so many `objects`, which
    are written into."""

    function: Function
    checks: tuple[Check, ...]
    functions: tuple[types.FunctionType, ...]
    guards: Guards
    followed: frozenset[types.CodeType]
    counts: tuple[int | None, ...]
    leaves: tuple[int, ...]
    objects: int
    changes_containers: bool
    has_aliases: bool
    """Whether a part of the arguments is reached in two ways."""
    whole: tuple[bool, ...]
    """Which gradients are in the form that users get."""
    read: Callable[..., tuple[list[Any], tuple[Any, ...]] | None]
    gather: Callable[[list[Any], tuple[Any, ...]], list[Any]]
    dots: Callable[..., list[Any]]
    of_modules: int
    """How many inputs, the last ones, are read of variables of modules."""
    version: int
    """Of the rules: a function that has one is not written where it is called."""
    flags: dict[tuple[bool, ...], tuple[Any, ...]] = field(default_factory=dict)
    """Which gradients of inputs are nobody else's, by which cotangents of parts are."""

    def spread(self, flags: tuple[bool, ...]) -> tuple[bool, ...]:
        """Which parts are differentiated if these inputs of the function are: nothing that is read of a module is, and no
        object."""
        pairs = zip(flags, self.counts, strict=True)
        own = (flag for flag, count in pairs for _ in range(1 if count is None else count))
        return (*own, *(False,) * (self.of_modules + self.objects))

    def is_changed(self, active: tuple[bool, ...]) -> bool:
        """Whether the function writes into arguments, and an argument of which there are parts is differentiated, so that its
        gradient is in the structure that it had."""
        return self.objects > 0 and any(active[number] for number in self.leaves)

    def gathered(self, bars: list[Any], fresh: tuple[bool, ...], matched: Match) -> tuple[list[Any], tuple[Any, ...]]:
        """The cotangents of the inputs of the function from those of the parts, and what is `fresh` of them."""
        fresh = fresh or (False,) * len(bars)
        for number in self.leaves:
            bar, x = bars[number], matched.values[number]
            if bar is not None and not is_projected(x, bar, fresh[number]):
                bars[number] = project(x, bar)
        flags = self.flags.get(fresh)
        if flags is None:
            own = iter(fresh)
            of_inputs = [[next(own) for _ in range(1 if count is None else count)] for count in self.counts]
            pairs = zip(self.counts, self.whole, of_inputs, strict=True)
            flags = tuple(parts[0] if count is None else WHOLE if is_whole else PARTS for count, is_whole, parts in pairs)
            self.flags[fresh] = flags
        return self.gather(bars, matched.held), flags


@final
@dataclass(slots=True)
class Patterns:
    """Those of one function, the last one first; `declined` are the types of arguments of which nothing can be in sight."""

    code: weakref.ref[types.CodeType]
    of_modules: bool
    """Whether the function names objects of its module."""
    found: list[Pattern] = field(default_factory=list)
    declined: set[tuple[type, ...]] = field(default_factory=set)
    credit: int = _MOST_CREDIT

    def forget(self, pattern: Pattern) -> None:
        self.found = [other for other in self.found if other is not pattern]

    def decline(self, pattern: Pattern, values: list[Any]) -> None:
        """Forget a pattern by which the function cannot be compiled."""
        self.forget(pattern)
        self.declined.add(tuple(map(type, values)))

    def matched(self, function: types.FunctionType, values: list[Any]) -> Match | None:
        for number, pattern in enumerate(self.found):
            read = pattern.read(*values)
            if read is not None:
                if self.credit < _MOST_CREDIT:
                    self.credit += 1
                if number:
                    self.found = [pattern, *(other for other in self.found if other is not pattern)]
                return Match(pattern, *read)
        if self.credit < _COST or tuple(map(type, values)) in self.declined:
            return None
        made = _made(function, values)
        read = None if made is None else made.read(*values)
        if made is None or read is None:
            self.declined.add(tuple(map(type, values)))
            return None
        self.credit -= _COST
        self.found = [made, *self.found[: _MOST_PATTERNS - 1]]
        return Match(made, *read)


def patterns_of(function: types.FunctionType) -> Patterns:
    key = id(function.__code__), id(function.__globals__)
    known: Patterns | None = CACHE.patterns.get(key)
    if known is None or known.code() is not function.__code__:
        if len(CACHE.patterns) > 1024:
            CACHE.patterns.clear()
        sees = objects_named(function.__code__, function.__globals__)
        known = CACHE.patterns[key] = Patterns(weakref.ref(function.__code__), sees)
    return known


def matched(function: types.FunctionType, values: list[Any]) -> Match | None:
    """What a call with these inputs looks like if its arguments, or variables of its module, are in sight; None if none of them
    is."""
    patterns = patterns_of(function)
    if not patterns.of_modules and _SIMPLE.issuperset(map(type, values)):
        return None
    return patterns.matched(function, values)


def renewed(function: types.FunctionType, read: Match, values: list[Any]) -> Match | None:
    """The same match, or that by another pattern if its own was made when names or rules meant something else."""
    if read.pattern.version == rrule.version and read.pattern.guards.hold():
        return read
    patterns_of(function).forget(read.pattern)
    return matched(function, values)


def unit_by_pattern(
    function: types.FunctionType,
    read: Match,
    values: list[Any],
    flags: tuple[bool, ...],
    active: tuple[bool, ...] | None = None,
    compiled: Callable[..., Any] | None = None,
) -> Unit | None:
    """The unit of a function for the parts of its arguments that a pattern has given, if these arguments are differentiated, or
    of the parts those that are `active`; None if it cannot be called by them: it writes, or calls what is not known before."""
    patterns = patterns_of(function)
    of_parts = (flag for flag, count in zip(flags, read.pattern.counts, strict=True) if count is not None)
    if read.pattern.has_aliases and any(of_parts):
        return None  # a gradient stands in two places
    active = read.pattern.spread(flags) if active is None else active
    kinds = kinds_of(read.leaves, value_kind)
    unit = _unit_of_parts(function, read, kinds, active, compiled)
    if unit is None:
        patterns.decline(read.pattern, values)
        return None
    writes = unit.runs_unseen and may_write(function, values, followed_by(unit))
    if read.pattern.objects:
        is_alone = holds_no_objects if not read.pattern.changes_containers else _is_flat
        writes = not all(map(is_alone, kinds)) or unit.sees_objects
        if read.pattern.changes_containers:
            writes |= unit.sees_containers or not holds_no_lists(unit.result_kind)
    if writes or unit.calls_unknown or any(stopping_in(each.__code__) is not None for each in read.pattern.functions):
        patterns.decline(read.pattern, values)
        return None
    return unit


def _unit_of_parts(
    function: types.FunctionType,
    read: Match,
    kinds: tuple[Kind, ...],
    active: tuple[bool, ...],
    compiled: Callable[..., Any] | None,
) -> Unit | None:
    try:
        writes = bool(read.pattern.objects)  # into the user's own, so that it runs once
        compiled = compiled or (compile_unit if writes else compile_outermost)
        unit = compiled(function, (*kinds, *(UNKNOWN,) * read.pattern.objects), active, pattern=read.pattern)
    except DifferentiationError:
        return None
    return None if isinstance(unit, MayWrite) else unit


def check_unchanged_parts(function: types.FunctionType, read: Match, values: list[Any]) -> None:
    """Refuse a value of which parts of arguments have become others while it was computed: a property or an operator of an
    object that the program only looks at may write into what it is not given."""
    if read.pattern.objects:
        return  # nobody but the function itself can have written (`Unit.sees_objects`)
    again = read.pattern.read(*values)
    if again is None or any(map(operator.is_not, again[0], read.values)):
        raise changed_while_it_ran(function)


def changed_while_it_ran(function: types.FunctionType) -> MutationError:
    return MutationError(
        f"what {function.__qualname__} uses was changed while it ran, by code in which nobody could foresee it",
        None,
        "Let a function write into it that is called by name, and no property or operator of an object of the module.",
    )


def why_not_in_sight(function: types.FunctionType, values: list[Any]) -> tuple[Reason, ...]:
    """Why arguments are not taken apart, found out once more for who asks."""
    read = _promotion(function, values)
    return () if read is None else read[0].kept


@with_room
def _made(function: types.FunctionType, values: list[Any]) -> Pattern | None:
    found, made = None, None
    if any(type(value) in (list, dict) for value in values) and any(_writes(function)):
        found = _promotion(function, values, takes_containers=True)
        made = None if found is None else found[0].made
    if made is None or not any(True for part in made.parts.values() for _ in part.objects()):
        found = _promotion(function, values)
        made = None if found is None else found[0].made
    if found is None or made is None:
        return None
    _, checks, objects = found
    if not made.variables and not any(number in objects for number in made.parts):
        return None
    return _pattern(len(values), made, (*checks, *made.checks))


def _writes(function: types.FunctionType) -> Iterator[bool]:
    """Of the functions that may run, by name, whether they write into something."""
    return (writes(each.__code__) for each in functions_called_by(function))


def _promotion(
    function: types.FunctionType, values: list[Any], takes_containers: bool = False
) -> tuple[Promotion, tuple[Check, ...], dict[int, Any]] | None:
    """What comes of a function with the arguments in sight that hold objects, and what its IR relies on; with these."""
    objects = {number: value for number, value in enumerate(values) if holds_objects(value) or holds_layers(value)}
    if takes_containers:  # which the function may write into
        objects |= {number: value for number, value in enumerate(values) if type(value) in (list, dict) and is_holder(value)}
    is_cell = any(isinstance(value, types.CellType) for value in values)
    if is_cell or is_generator(function.__code__) or stopping_in(function.__code__) is not None:
        return None
    if not objects and not objects_named(function.__code__, function.__globals__):
        return None
    functions = {number: value for number, value in enumerate(values) if isinstance(value, _FUNCTIONS)}
    kinds = kinds_of(values, value_kind)
    try:
        with lock, resting(), errors_of_compiler(function.__code__, function.__globals__):
            ir, checks = instrumented(function, kinds)
            return promote(function, ir, instrumented_here, kinds, objects | functions), checks, objects
    except DifferentiationError:
        return None


def _pattern(count: int, found: Promoted, checks: tuple[Check, ...]) -> Pattern:
    parts = found.parts
    counts = tuple(len(list(parts[number].leaves())) if number in parts else None for number in range(count))
    leaves: list[int] = []
    at = 0
    for own in counts:
        leaves += range(at, at + (own or 0))
        at += 1 if own is None else own
    whole = tuple(number in parts and has_fields(parts[number]) for number in range(count))
    guards = Guards(checks, (), tuple(map(FunctionGuard.of, found.functions)))
    texts = Texts()
    read, gather, dots = texts.functions(count, parts, found.variables, found.members)
    roots = [*parts.values(), *(variable.part for variable in found.variables)]
    of_modules = sum(len(list(variable.part.leaves())) for variable in found.variables)
    return Pattern(
        found.function,
        checks,
        found.functions,
        guards,
        found.followed,
        counts,
        tuple(leaves),
        sum(1 for part in roots for _ in part.objects()),
        found.changes_containers or any(each.is_container for part in roots for each in part.objects()),
        any(map(_has_aliases, roots)),
        whole,
        read,
        gather,
        dots,
        of_modules,
        rrule.version,
    )


def _has_aliases(part: Part) -> bool:
    return part.first is not None or any(map(_has_aliases, part.children.values()))


def _is_flat(kind: Kind) -> bool:
    """Whether a value holds no containers that may be reached in another way."""
    return holds_no_lists(kind.item if isinstance(kind, Sequence) else kind)
