"""Calls that raise when they have done a part of what they do, for a caller that goes on after that.

A call that is attempted has an undo log: when it raises, what undoes it is what undoes the steps in the undo log, the last one
first. Cotangents that travel by value find the arguments that they belong to by identity: the dispatcher hands objects on as
they are. Where two places hold the same object, nothing tells them apart, and the pullback refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from microgradpy.errors import CompilerBug, DifferentiationError, MutationError
from microgradpy.runtime.bars import Back, Bars, Resolved
from microgradpy.runtime.failures import Failure
from microgradpy.runtime.rule_calls import name_of
from microgradpy.runtime.writes import REMEDY
from microgradpy.state.undo_log import Step, UndoLog, current, writing
from microgradpy.tangents.types import accumulate, is_structural_zero


def attempted(resolve: Callable[..., Resolved], f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *more: Any) -> Resolved:
    """The value of a call and what undoes it; the value is a `Failure` if the call raises. `resolve` makes the call."""
    undo_log: UndoLog = []
    try:
        with writing(undo_log):
            return resolve(f, args, kwargs, *more)
    except (DifferentiationError, CompilerBug):
        raise
    except BaseException as exception:
        made = Failure(exception)

    def back(y_bar: Any, shadows: Any) -> Bars:
        return _undone(undo_log, f, args, kwargs, made, shadows)

    return made, back


def _undone(undo_log: UndoLog, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], made: Failure, shadows: Any) -> Bars:
    """Undo the steps of a call that raised; what came of it for the function and the arguments of the call."""
    bars: dict[int, Any] = {}
    by_place: dict[int | str, Any] = {}
    given = (f, *args, *kwargs.values())
    for step in reversed(undo_log):
        found = step.back(bars.pop(id(step.y), None), shadows)
        added = _added(step, args)
        named = [
            (name if step.kwargs[name] is kwargs.get(name) else None, step.kwargs[name], bar)
            for name, bar in found.keywords.items()
        ]
        parts = [(None, step.f, found.function), *zip(added, step.args, found.arguments, strict=False), *named]
        for place, x, bar in parts:
            value = shadows.settle(x, bar)
            if is_structural_zero(value):
                continue
            if place is not None and all(other.y is not x for other in undo_log):
                by_place[place] = accumulate(by_place.get(place), value)
            elif _is_handed_on(x, given, undo_log):
                bars[id(x)] = accumulate(bars.get(id(x)), value)
            else:
                raised = type(made.exception).__name__
                raise MutationError(f"{name_of(f)} raised a {raised}, which is caught, after it had written", None, REMEDY)
    arguments = tuple(accumulate(by_place.get(place), bars.get(id(x))) for place, x in enumerate(args))
    keywords = {name: accumulate(by_place.get(name), bars.get(id(x))) for name, x in kwargs.items()}
    return Bars(bars.get(id(f)), arguments, keywords)


def _added(step: Step, args: tuple[Any, ...]) -> list[int | None]:
    """Which argument of the call each argument of a step is, if the step got them all, after what a method adds; None for
    others."""
    before = len(step.args) - len(args)
    if before < 0 or any(a is not b for a, b in zip(step.args[before:], args, strict=True)):
        return [None] * len(step.args)
    return [*(None for _ in range(before)), *range(len(args))]


def _is_handed_on(x: Any, given: tuple[Any, ...], undo_log: UndoLog) -> bool:
    """Whether a cotangent of `x` belongs to the one thing that was given to a call, or made by one of its steps."""
    places = sum(part is x for part in given) + sum(step.y is x for step in undo_log)
    return places == 1 and type(x) not in (int, bool)


def attempted_if_caught(resolve: Callable[..., Resolved], f: Any, args: tuple[Any, ...]) -> Resolved:
    """The same, if somebody may go on after what the call raises; else it is made as it is."""
    return resolve(f, args, {}) if current() is None else attempted(resolve, f, args, {})


@contextmanager
def undone_by(back: Back, f: Any, *args: Any) -> Generator[None, None, None]:
    """A call `f(*args)` that `back` undoes if it raises, with all the steps that it consists of."""
    undo_log = current()
    before = 0 if undo_log is None else len(undo_log)
    try:
        yield
    except BaseException:
        if undo_log is not None:
            undo_log[before:] = [Step(f, args, {}, back)]
        raise
