"""Derivatives of derivatives of a call: the pushforwards of a function, one of the other, each to be differentiated in reverse.

    level 0     y                                       inputs: those of the function
    level 1     (y, y_dot)                              and a tangent for each that moves
    level 2     ((y, y_dot), (y_dot2, y_dot3))          and a tangent for each of these that moves

The text of a pushforward has no tape, so it is a function like any other, with the IR of a pushforward of its own.
"""

from __future__ import annotations

import functools
import itertools
import types
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, final

import numpy as np

from microgradpy.ad.calls import Apart
from microgradpy.ad.refused_calls import is_hashable
from microgradpy.ad.tangent_calls import NotPushable
from microgradpy.ad.tangent_kinds import dot_kind
from microgradpy.binding import Binding, active_inputs, bars_of, bind, self_cells
from microgradpy.cache import CACHE, Unit, followed_by, is_valid
from microgradpy.codegen.loading import load, unload_later
from microgradpy.compiler import analysed, compile_unit
from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.entry import USUAL, run_half
from microgradpy.errors import DifferentiationError, MutationError
from microgradpy.forward_compiler import check_differentiable, pushforward_apart, tangent_apart
from microgradpy.forward_entry import filling, input_tangents
from microgradpy.frontend.source import place_of
from microgradpy.given_functions import Given, given, known, known_held
from microgradpy.gradient_functions import held_by
from microgradpy.ir.input_kinds import kinds_of
from microgradpy.ir.kinds import FLOAT, Kind, carries_nothing
from microgradpy.ir.reasons import MayWrite
from microgradpy.patterns import Match, check_unchanged_parts, matched, renewed, unit_by_pattern
from microgradpy.plans import UNIT_SEEDS, Plan, keep_plan, signature
from microgradpy.rules.nested import definition
from microgradpy.rules.registry import rrule
from microgradpy.runtime.activity import may_be_active
from microgradpy.runtime.cotangents import seed_or_zero
from microgradpy.runtime.dispatch import value_kind
from microgradpy.runtime.modes import RUN
from microgradpy.state.reachable_writes import may_write
from microgradpy.state.visible_effects import what_holds_one, what_is_seen
from microgradpy.tangents.types import Tangent, is_structural_zero


class NotByParts(Exception):
    """The function cannot be called with the parts of its arguments that a pattern reads."""


# Callables


@final
@dataclass(frozen=True, slots=True, eq=False)
class Callee:
    """What a callable runs: a function with source, and what that gets besides the arguments of the call. `holder` is the field
    of the callable that the first of these is in, empty if it is the callable itself, None if there is none. What a partial
    runs is that of the callable that it is `of`."""

    function: types.FunctionType
    leading: tuple[Any, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict)
    holder: str | None = None
    of: Callee | None = None

    def own_bar(self, f: Any, own: Any, leading: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The cotangent of the callable from that of the function and of what this gets first, or by name."""
        if self.of is not None:
            count = len(self.of.leading)
            bars = {"func": self.of.own_bar(f.func, own, leading[:count], {})}
            if _has_any(leading[count:]):
                bars["args"] = leading[count:]
            if _has_any(named.values()):
                bars["keywords"] = named
            return Tangent(type(f), bars) if len(bars) > 1 or bars["func"] is not None else None
        if self.holder is None:
            return own
        bar = leading[0]
        if not self.holder or is_structural_zero(bar):
            return None if is_structural_zero(bar) else bar
        return Tangent(type(f), {self.holder: bar})

    def own_dots(self, f_dot: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """The tangent of the function and of what it gets first, or by name, from that of the callable."""
        if is_structural_zero(f_dot):
            return None, (None,) * len(self.leading), {}
        if self.of is not None:
            own, first, _ = self.of.own_dots(f_dot.get("func"))
            held = f_dot.get("args") or (None,) * (len(self.leading) - len(first))
            return own, (*first, *held), dict(f_dot.get("keywords") or {})
        if self.holder is None:
            return f_dot, (), {}
        return None, (f_dot.get(self.holder) if self.holder else f_dot, *(None,) * (len(self.leading) - 1)), {}

    def called_with(self, kwargs: dict[str, Any]) -> Callee:
        """The same for a call that gives these arguments by name, in whose place a partial may hold others."""
        if self.keywords.keys().isdisjoint(kwargs):
            return self
        held = {key: value for key, value in self.keywords.items() if key not in kwargs}
        return Callee(self.function, self.leading, held, self.holder, self.of)


def _has_any(bars: Iterable[Any]) -> bool:
    return not all(map(is_structural_zero, bars))


def callee_of(f: Any, count: int, names: tuple[str, ...]) -> Callee:
    """What a callable runs that is called with so many arguments by position, and with those of these names."""
    found = definition(f)
    if found is not None:
        return Callee(found[0], found[1], {}, "__wrapped__" if found[1] else None)  # type: ignore[arg-type]
    if is_hashable(f) and rrule.has(f):
        return Callee(_calling(f, count, names))
    match f:
        case types.FunctionType():
            return Callee(f)
        case types.MethodType(__func__=types.FunctionType() as function):
            return Callee(function, (f.__self__,), {}, "__self__")
        case functools.partial():
            of = callee_of(f.func, len(f.args) + count, (*f.keywords, *(name for name in names if name not in f.keywords)))
            return Callee(of.function, (*of.leading, *f.args), {**of.keywords, **f.keywords}, None, of)
    call = getattr(type(f), "__call__", None)  # noqa: B004 - the function itself is wanted
    if isinstance(call, types.FunctionType):
        return Callee(call, (f,), {}, "")
    raise DifferentiationError(
        f"a second derivative is that of a function with source, and {getattr(f, '__name__', type(f).__name__)} has none",
        None,
        "Let a function of Python call it.",
    )


@functools.lru_cache(maxsize=256)
def _calling(f: Any, count: int, names: tuple[str, ...]) -> types.FunctionType:
    """A function with source that calls one of which a rule says how it is differentiated, and no source, or another than that
    says."""
    args = ["x"] if count == 1 else [f"x_{number}" for number in range(count)]
    given = ", ".join((*args, *(f"{name}={name}" for name in names)))
    text = f"def calling({', '.join((*args, *names))}):\n    return function({given})\n"
    namespace = load(text, "calling", {"function": f})
    made: types.FunctionType = namespace["calling"]
    weakref.finalize(made, unload_later, namespace["__file__"])
    return made


# Places


@final
@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A call of a callable. Its inputs are those of its function, but for what is taken apart: objects, if there are parts of
    the arguments that a pattern has `read`, and functions that are `given`, for which there is the function's IR `apart`."""

    f: Any
    callee: Callee
    bound: Binding
    count: int
    read: Match | None = None
    given: tuple[Given, ...] | None = None
    apart: Apart | None = None

    @classmethod
    def of(cls, f: Any, args: tuple[Any, ...], by_parts: bool, kwargs: dict[str, Any] | None = None) -> Place:
        inner = innermost(f) if by_parts and not kwargs and held_by(f) is not None else None
        held = given(f, inner.__globals__) if isinstance(inner, types.FunctionType) else None
        if held is not None and held.is_function:
            return cls._of_held(f, held, args)
        callee = callee_of(f, len(args), tuple(kwargs or ())).called_with(kwargs or {})
        whole = (*callee.leading, *args)
        function = callee.function
        bound = bind(function, whole, {**callee.keywords, **(kwargs or {})})
        read = matched(function, bound.values) if by_parts and RUN.mode == USUAL else None
        read = None if read is None else renewed(function, read, bound.values)
        if read is not None and not (read.pattern.objects or read.pattern.has_aliases):
            return cls(f, callee, bound, len(whole), read)
        inputs = tuple(given(value, function.__globals__) for value in bound.values) if by_parts else ()
        if not any(each.is_function for each in inputs):
            return cls(f, callee, bound, len(whole))
        apart = known(function, inputs, kinds_of(bound.values, value_kind))
        return cls(f, callee, bound, len(whole), None, inputs, apart)

    @classmethod
    def _of_held(cls, f: Any, held: Given, args: tuple[Any, ...]) -> Place:
        """A call of a function that `grad` has made: of one that is given that of which it is."""
        function = innermost(f)
        inputs = tuple(given(value, function.__globals__) for value in args)
        callee = Callee(function, (f,), {}, "")
        bound = Binding([f, *args], 0, 1 + len(args))
        return cls(f, callee, bound, 1 + len(args), None, (held, *inputs), known_held(function, held, inputs))

    @property
    def pattern(self) -> Any:
        """What stands for the function, where its inputs are taken apart."""
        return self.apart if self.read is None else self.read.pattern

    @property
    def values(self) -> list[Any]:
        if self.read is not None:
            return self.read.values
        if self.given is None:
            return self.bound.values
        return [leaf for each in self.given for leaf in each.leaves()]

    def wanted(self, numbers: tuple[int, ...] | None, own: bool) -> tuple[bool, ...]:
        """Which of the inputs are differentiated, if these arguments are, and the callable itself."""
        first = len(self.callee.leading)
        chosen = range(self.count - first) if numbers is None else {number % (self.count - first) for number in numbers}
        of_arguments = tuple([own] * first + [number in chosen for number in range(self.count - first)])
        found = list(active_inputs(self.bound, of_arguments, own))
        if own:  # and what the callable has captured, or holds as defaults
            for number in (*range(self.bound.captured), *self.bound.defaults.values()):
                found[number] = may_be_active(self.bound.values[number])
        if self.read is not None:
            found = list(self.read.pattern.spread(tuple(found)))
        elif self.given is not None:
            found = [flag for flag, each in zip(found, self.given, strict=True) for _ in each.leaves()]
        return tuple(flag and may_be_active(value) for flag, value in zip(found, self.values, strict=True))

    def bars(self, inputs: list[Any]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """The cotangents of the callable, of the arguments, and of those that were given by name."""
        if self.read is not None:
            inputs = self.read.pattern.gathered(list(inputs), (False,) * len(inputs), self.read)[0]
        elif self.given is not None:
            leaves = iter(inputs)
            inputs = [each.bar(leaves) for each in self.given]
        first = len(self.callee.leading)
        if self.bound.is_plain and self.bound.captured == 0:
            own, arguments, named = None, tuple(inputs), {}
        else:
            bars = bars_of(self.callee.function, self.bound, self.count, list(inputs))
            own, arguments, named = bars.function, bars.arguments, dict(bars.keywords)
        held = {key: named.pop(key, None) for key in self.callee.keywords}
        return self.callee.own_bar(self.f, own, arguments[:first], held), arguments[first:], named

    def dots(self, f_dot: Any, arg_dots: Any, named: Any) -> list[Any]:
        """The tangents of the inputs."""
        own_dot, leading, held = self.callee.own_dots(f_dot)
        rest = () if is_structural_zero(arg_dots) else tuple(arg_dots)
        rest += (None,) * (self.count - len(leading) - len(rest))
        function = self.callee.function
        fields = {} if is_structural_zero(own_dot) else dict(own_dot)
        itself = self_cells(function) if self.bound.captured else []
        names = function.__code__.co_freevars if self.bound.captured else ()
        captured = [own_dot if name in itself else fields.pop(name, None) for name in names]
        found = input_tangents(self.bound, captured, (*leading, *rest))
        of_defaults = {**dict(enumerate(fields.get("__defaults__") or ())), **(fields.get("__kwdefaults__") or {})}
        for key, number in self.bound.defaults.items():
            found[number] = of_defaults.get(key)
        named = held if is_structural_zero(named) else {**held, **named}
        for name, place in self.bound.names.items():
            found[place] = named.get(name)
        if self.bound.keywords is not None:
            others = {name: named.get(name) for name in self.bound.values[self.bound.keywords]}
            found[self.bound.keywords] = others if _has_any(others.values()) else None
        if self.given is not None:
            return [leaf for each, dot in zip(self.given, found, strict=True) for leaf in each.dots(dot)]
        return found if self.read is None else list(self.read.pattern.dots(*found))


def innermost(f: Any) -> Any:
    """The function that `grad` was called with, or what this has made first."""
    held = held_by(f)
    return f if held is None else innermost(held[1])


# Towers


@final
@dataclass(frozen=True, slots=True, eq=False)
class Tower:
    """A pushforward of a pushforward ... of a call. `masks` say, for each level, which of the inputs of the one below have a
    tangent among those of this one, at the end."""

    place: Place
    values: list[Any]
    kinds: tuple[Kind, ...]
    masks: tuple[tuple[bool, ...], ...] = ()
    below: Tower | None = None
    runs_again: bool = False
    """Whether the function has run before for the same call, so that it may do nothing but compute."""
    is_alone: bool = False
    """Whether it gives the last tangent only."""

    @classmethod
    def at(cls, place: Place, runs_again: bool = False) -> Tower:
        return cls(place, place.values, kinds_of(place.values, value_kind), runs_again=runs_again)

    def along(self, dots: list[Any]) -> Tower:
        """The pushforward in the direction of the tangents of its inputs."""
        mask = tuple(not (is_structural_zero(dot) or carries_nothing(kind)) for dot, kind in zip(dots, self.kinds, strict=True))
        moving = list(itertools.compress(zip(dots, self.values, self.kinds, strict=True), mask))
        filled = [dot if (fill := filling(kind)) is None else fill(dot, x) for dot, x, kind in moving]
        kinds = (*self.kinds, *(dot_kind(kind) for _, _, kind in moving))
        return Tower(self.place, [*self.values, *filled], kinds, (*self.masks, mask), self, self.runs_again)

    def alone(self) -> Tower | None:
        """The first pushforward of a function that is proven to return a float, of which it gives the tangent only; None if
        there is none."""
        first = self._first(self.masks[0])
        if first.result_kind != FLOAT or not first.result_active:
            return None
        try:
            apart = tangent_apart(self.place.callee.function, first, first.kinds)
        except NotPushable:
            return None
        return None if apart is None else replace(self, is_alone=True)

    def value(self) -> Any:
        """What it computes."""
        return self._run(self.unit((False,) * len(self.values)))[0]

    def value_and_bars(self, wanted: tuple[bool, ...], seed_for: Any) -> tuple[Any, list[Any]]:
        """What it computes, and the cotangents of the inputs that are wanted, for the seed that `seed_for` makes of this."""
        unit = self.unit(wanted)
        value, saved = self._run(unit)
        if self.is_alone and type(value) in UNIT_SEEDS and unit.result_active and any(unit.active):
            return value, bars_at_one(Plan.of(unit, self.values), self.values, value, saved)
        seed = 1.0 if self.is_alone else seed_for(value)
        if not unit.result_active or not any(unit.active):
            return value, [None] * len(self.values)
        assert unit.adjoint is not None
        with np.errstate(invalid="ignore"):
            return value, list(unit.divided(unit.adjoint(saved, filled_seed(seed, value))))

    def _run(self, unit: Unit) -> tuple[Any, Any]:
        place = self.place
        with outermost(place.f):
            watched = self.values if unit.is_to_be_watched else None
            found = run_half(place.callee.function, unit, unit.primal, self.values, watched)
        if place.read is not None:
            check_unchanged_parts(place.callee.function, place.read, place.bound.values)
        return found

    def unit(self, wanted: tuple[bool, ...]) -> Unit:
        """What is compiled for it, if these inputs are differentiated."""
        return self.units(wanted)[0]

    def units(self, wanted: tuple[bool, ...]) -> tuple[Unit, Unit]:
        """The same, and what is compiled of the function itself."""
        given = self.place.bound.values
        if self.runs_again and not _SIMPLE.issuperset(map(type, given)) and (held := what_holds_one(given)):
            raise self._refusal(held)  # what objects hold is not among what a plan depends on
        key = self._key(wanted)
        known: tuple[Unit, Unit] | None = None if key is None else CACHE.plans.get(key)
        if known is not None and all(map(is_valid, known)):
            return known
        first = self._first(self.masks[0] if self.masks else wanted)
        if self.runs_again:
            self._check_repeatable()
        unit = self._compiled(first, wanted)
        if key is not None:
            keep_plan(key, (unit, first))
        return unit, first

    def _key(self, wanted: tuple[bool, ...]) -> tuple[Any, ...] | None:
        place = self.place
        if place.pattern is None:
            parts = place.bound
        else:
            leaves = place.values if place.read is None else place.read.leaves
            parts = Binding(leaves, 0, place.bound.positions, place.bound.names)
        own = signature(place.callee.function, parts, None, False, False, RUN.mode)
        return None if own is None else ("tower", place.pattern, self.masks, self.runs_again, self.is_alone, wanted, own)

    def _first(self, active: tuple[bool, ...]) -> Unit:
        """The unit of the function itself."""
        place, function = self.place, self.place.callee.function
        if place.read is not None:
            flags = (True,) * len(place.bound.values)
            unit = unit_by_pattern(function, place.read, place.bound.values, flags, active, analysed)
            if unit is None:
                raise NotByParts
            return unit
        found = analysed(function, self.kinds[: len(active)], active, pattern=place.apart)
        # What it hands on to be differentiated is looked at when it is.
        known = frozenset() if place.apart is None else place.apart.followed
        if isinstance(found, MayWrite) or (
            found.runs_unseen and may_write(function, place.values, followed_by(found) | known)
        ):
            if place.apart is not None:
                raise NotByParts
            raise MutationError(
                f"{function.__qualname__} may write into what others have, too, and has no second derivative",
                place_of(function),
                "Let it make what it writes into: a second derivative is made from the text of forward mode, which such a "
                "function has not.",
            )
        return found

    def _compiled(self, unit: Unit, wanted: tuple[bool, ...]) -> Unit:
        function, kinds = self.place.callee.function, unit.kinds
        found: Unit | MayWrite = unit
        if not self.masks:
            found = compile_unit(function, kinds, wanted, self.place.pattern)
        for mask, active in zip(self.masks, (*self.masks[1:], wanted), strict=True) if self.masks else ():
            try:
                apart = pushforward_apart(function, unit, kinds)
            except NotPushable as error:
                raise DifferentiationError(f"{function.__qualname__} has no text for forward mode: it makes {error}") from None
            if any(active):
                check_differentiable(apart)
            if self.is_alone:  # asked again, as rules may have come since
                alone = tangent_apart(function, unit, kinds)
                assert alone is not None
                apart = alone
            kinds = (*kinds, *map(dot_kind, itertools.compress(kinds, mask)))
            found = (compile_unit if active is wanted else analysed)(function, kinds, active, pattern=apart)
            if isinstance(found, MayWrite):
                break
            unit = found
        if isinstance(found, MayWrite):
            raise DifferentiationError(
                f"{function.__qualname__} has no second derivative: what it calls is known at run time only",
                place_of(function),
                "Call functions by name.",
            )
        return found

    def _check_repeatable(self) -> None:
        seen = what_is_seen(self.place.callee.function, [*self.place.bound.values, *self.values])
        if seen:
            raise self._refusal(seen)

    def _refusal(self, seen: str) -> DifferentiationError:
        function = self.place.callee.function
        return DifferentiationError(
            f"{function.__qualname__} is run once more when its derivative is differentiated, and `{seen}`, which it "
            "reaches, may do more than compute",
            place_of(function),
            "Let what is differentiated inside of differentiated code compute its result only: draw, print and read files "
            "before that.",
        )


_SIMPLE = frozenset((float, int, complex, bool, str, type(None), np.ndarray, np.float64))


def bars_at_one(plan: Plan, values: list[Any], value: Any, saved: Any) -> list[Any]:
    """The cotangents of the inputs for the seed 1, which are nobody else's."""
    run, fresh = plan.adjoint_for(UNIT_SEEDS[type(value)], values)
    with np.errstate(invalid="ignore"):
        bars = plan.unit.divided(run(saved, UNIT_SEEDS[type(value)]))
    return [bar.copy() if type(bar) is np.ndarray and not own else bar for bar, own in zip(bars, fresh, strict=True)]


def filled_seed(seed: Any, value: Any) -> Any:
    """A seed with zeros where there is None; nothing where the value has no tangent."""
    if value is None:
        return None
    if type(value) is tuple:
        parts = (None,) * len(value) if is_structural_zero(seed) else seed
        return tuple(map(filled_seed, parts, value))
    return seed_or_zero(seed, value)


@contextmanager
def outermost(f: Any) -> Iterator[None]:
    """Run what is in the block as a run of its own."""
    before, outer = RUN.is_inside, (RUN.callee, RUN.given)
    RUN.is_inside, RUN.callee, RUN.given = False, f, ()
    try:
        yield
    finally:
        RUN.is_inside = before
        RUN.callee, RUN.given = outer
