"""Runs that may write: the pullback of such a call makes shadows, runs the adjoint, and reads the gradients out of them.

The structure of the arguments and of the value is noted when the call begins and ends, so that it does not matter what the
function, or its caller afterwards, makes of them. Nothing of the user's is changed by a pullback.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, final

from microgradpy.binding import Binding, active_inputs, bars_of, bind
from microgradpy.cache import Unit
from microgradpy.compiler import compile_unit
from microgradpy.errors import MutationError, UnsupportedSyntaxError
from microgradpy.frontend.codes import has_handlers, takes_exceptions
from microgradpy.frontend.source import place_of
from microgradpy.ir.kinds import kinds_of, unknown_from
from microgradpy.runtime.bars import Resolved
from microgradpy.runtime.cotangents import seed_or_zero
from microgradpy.runtime.dispatch import Back, Bars, Wanted, value_kind
from microgradpy.runtime.failures import Failure, raise_failure
from microgradpy.runtime.frames import is_own
from microgradpy.runtime.suspension import is_generator
from microgradpy.runtime.writes import REMEDY
from microgradpy.state import dispatch
from microgradpy.state.array_memory import owner_of
from microgradpy.state.coroutines import generator, run_of
from microgradpy.state.detached import check_copies
from microgradpy.state.journal import Step, current, writing
from microgradpy.state.kept import is_kept_in_default, reads_state
from microgradpy.state.reach import any_may_write
from microgradpy.state.shadows import Shadows
from microgradpy.state.snapshots import Structure, arrays_of, filled, gradient, structure_of
from microgradpy.state.whole import inside_run, lose
from microgradpy.tangents.projected import Projected


def tracked_unit(
    function: types.FunctionType,
    bound: Binding,
    wanted: Wanted,
    keywords_wanted: bool,
    *,
    is_root: bool,
    catches: bool = False,
) -> Unit:
    """The unit for a call, with writes tracked."""
    kinds = kinds_of(bound.values, value_kind)
    active = active_inputs(bound, wanted, keywords_wanted)
    # Something active may come out of an argument that holds none itself: a function that reads a module variable.
    readers = [
        (not flag or isinstance(value, tuple)) and (reads_state(value) or is_kept_in_default(function, value))
        for flag, value in zip(active, bound.values, strict=True)
    ]
    if any(readers):
        kinds = tuple(unknown_from((kind,)) if reads else kind for kind, reads in zip(kinds, readers, strict=True))
        active = tuple(flag or reads for flag, reads in zip(active, readers, strict=True))
    return compile_unit(function, kinds, active, tracks=True, is_root=is_root, catches=catches)


def differentiate_inner(
    function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
) -> Resolved:
    """A call inside of a run that tracks. If a caller goes on after an exception, what was done by then is noted."""
    bound = bind(function, args, kwargs)
    journal, suspends = current(), is_generator(function.__code__)
    # What a generator raises, or what is thrown to it, may arrive later where it is caught.
    catches = journal is not None or (suspends and (takes_exceptions(function.__code__) or _are_there_handlers()))
    unit = tracked_unit(function, bound, wanted, keywords_wanted, is_root=False, catches=catches)
    if suspends:
        return _generator(function, bound, _Suspendable(unit, bound.values, catches), len(args))
    assert unit.primal is not None
    if journal is None:
        try:
            y, saved = unit.primal(*bound.values)
        except BaseException as error:
            if unit.writes and any_may_write([function, *bound.values]):
                lose(function.__qualname__, error)
            raise
    else:
        with writing(None):
            y, saved = unit.primal(*bound.values)

    def back(y_bar: Any, shadows: Shadows) -> Bars:
        return _arguments(function, bound, len(args), _bars(unit, saved, y, y_bar, shadows), shadows)

    if journal is not None and type(y) is Failure:
        journal.append(Step(function, args, kwargs, back))
        raise_failure(y)
    return y, back


def _are_there_handlers() -> bool:
    """Whether a function that runs now, as a part of the run, has a `try` or a `with`."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not differentiate_tracked.__code__:
        if not is_own(frame) and has_handlers(frame.f_code):
            return True
        frame = frame.f_back
    return False


def _arguments(function: types.FunctionType, bound: Binding, count: int, inputs: list[Any], shadows: Shadows) -> Bars:
    if bound.keywords is not None:
        # The dict of further keywords was made for this call.
        taken = shadows.take(bound.values[bound.keywords])
        inputs[bound.keywords] = None if taken is None else taken.fields
    return bars_of(function, bound, count, inputs)


@final
@dataclass(frozen=True, slots=True)
class _Suspendable:
    """A unit of a generator function, with the inputs of one call."""

    unit: Unit
    values: list[Any]
    catches: bool

    def start(self) -> Any:
        assert self.unit.primal is not None
        return self.unit.primal(*self.values)

    def rewind(self, saved: Any, value: Any, value_bar: Any, shadows: Shadows) -> Any:
        assert self.unit.adjoint is not None
        return self.unit.adjoint(saved, _seed(self.unit, value, value_bar, shadows), shadows)


def _generator(function: types.FunctionType, bound: Binding, suspendable: _Suspendable, count: int) -> Resolved:
    """A call of a generator function makes a generator; undone, that has been run backwards to its start."""
    made = generator(suspendable, function.__name__, function.__qualname__)
    run = run_of(made)
    assert run is not None

    def back(y_bar: Any, shadows: Shadows) -> Bars:
        found = shadows.of(run).undo_making()
        inputs = [None] * len(bound.values) if found is None else _divided(suspendable.unit, found)
        return _arguments(function, bound, count, inputs, shadows)

    return made, back


def _bars(unit: Unit, saved: Any, y: Any, y_bar: Any, shadows: Shadows) -> list[Any]:
    """Run an adjoint: the cotangent of each input as far as it travels by value."""
    assert unit.adjoint is not None
    return _divided(unit, unit.adjoint(saved, _seed(unit, y, y_bar, shadows), shadows))


def _seed(unit: Unit, y: Any, y_bar: Any, shadows: Shadows) -> Any:
    """The cotangent of a function's value as its adjoint takes it."""
    return seed_or_zero(shadows.born(y, y_bar), y) if unit.takes_value else shadows.settle(y, y_bar)


def _divided(unit: Unit, found: Any) -> list[Any]:
    """What an adjoint returns, by input."""
    bars: Iterator[Any] = iter((found,) if sum(unit.active) == 1 else found)
    return [next(bars) if flag else None for flag in unit.active]


def root_unit(function: types.FunctionType, bound: Binding, wanted: Wanted, keywords_wanted: bool) -> Unit:
    """The unit of the function that a run begins with."""
    if is_generator(function.__code__):
        raise UnsupportedSyntaxError(
            "A generator function cannot be differentiated by itself",
            place_of(function),
            "Differentiate a function that uses the generator up, or return a list instead of yielding its items.",
        )
    return tracked_unit(function, bound, wanted, keywords_wanted, is_root=True)


def differentiate_tracked(function: types.FunctionType, bound: Binding, count: int, unit: Unit) -> tuple[Any, Back]:
    """A whole run that tracks what is written, with `count` positional arguments."""
    structures = tuple(map(structure_of, bound.values))
    _refuse_shared_memory(function, structures)
    assert unit.primal is not None
    with inside_run() as whole:
        y, saved = unit.primal(*bound.values)
    whole.lost = whole.lost or check_copies(whole.copies)
    made = structure_of(y)

    def back(y_bar: Any) -> Bars:
        if whole.lost:
            raise MutationError(whole.lost, None, REMEDY)
        shadows = Shadows()
        if unit.takes_value and not isinstance(y, tuple):
            seed = y_bar
        else:
            seed = made.settle(shadows, y_bar)
        inputs = _bars(unit, saved, y, seed, shadows)
        shadows.check_taken()
        absent, met = iter(unit.absent), set[int]()
        read = [
            structure.read(shadows, bar, met) if flag and not next(absent) else None
            for structure, bar, flag in zip(structures, inputs, unit.active, strict=True)
        ]
        return bars_of(function, bound, count, _projected(bound, structures, read))

    return y, back


def _projected(bound: Binding, structures: tuple[Structure, ...], read: list[Any]) -> list[Any]:
    """The gradients in the structure that the arguments had when the call began."""
    found: list[Any] = []
    for number, (structure, bar) in enumerate(zip(structures, read, strict=True)):
        if number == bound.variadic and bar is not None:
            found.append(tuple(_final(part, bar[index]) for index, part in structure.parts))
        elif number < bound.captured or number in (bound.variadic, bound.keywords):
            found.append(None if bar is None else _final(structure, bar))
        else:
            found.append(_final(structure, bar))
    return found


def _final(structure: Structure, bar: Any) -> Projected:
    found = gradient(structure, bar)
    return Projected(found, partial(filled, structure, found))


def _refuse_shared_memory(function: types.FunctionType, structures: tuple[Structure, ...]) -> None:
    """Two arguments that share memory have no derivatives of their own if one of them is written."""
    owners: dict[int, int] = {}
    for number, structure in enumerate(structures):
        for array in arrays_of([structure]):
            first = owners.setdefault(id(owner_of(array)), number)
            if first != number:
                names = (*function.__code__.co_freevars, *function.__code__.co_varnames)
                raise MutationError(
                    f"the arguments {names[first]!r} and {names[number]!r} share memory, and the function may write into it",
                    f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}, in {function.__name__}",
                    f"Pass a copy of one of them: {names[number]}.copy().",
                )


dispatch.install(differentiate_inner)
