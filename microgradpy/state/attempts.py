"""Calls in the body of a `try` whose handlers go on, in a run that tracks writes: what they raise is caught first, and
returned with what undoes what they had done by then."""

from __future__ import annotations

from typing import Any

from microgradpy.errors import CompilerBug, DifferentiationError, MutationError
from microgradpy.runtime.bars import Bars, Resolved
from microgradpy.runtime.dispatch import name_of
from microgradpy.runtime.failures import Failure
from microgradpy.runtime.writes import REMEDY
from microgradpy.state.dispatch import resolve, with_bars, with_packed_bars
from microgradpy.state.journal import Journal, Step, writing
from microgradpy.state.shadows import Shadows, Undo
from microgradpy.tangents.types import is_structural_zero


def attempted_pullback_of(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Undo]:
    """As `tracked_pullback_of`; the value is a `Failure` if the call raises."""
    return with_bars(_attempted(f, args, kwargs, keywords_wanted=False), len(args))


def attempted_pullback_of_packed(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Undo]:
    """As `tracked_pullback_of_packed`; the value is a `Failure` if the call raises."""
    args, kwargs = tuple(args), dict(kwargs)
    return with_packed_bars(_attempted(f, args, kwargs, keywords_wanted=True), args, kwargs)


def _attempted(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, keywords_wanted: bool) -> Resolved:
    journal: Journal = []
    try:
        with writing(journal):
            return resolve(f, args, kwargs, None, keywords_wanted)
    except (DifferentiationError, CompilerBug):
        raise
    except BaseException as exception:
        made = Failure(exception)

    def back(y_bar: Any, shadows: Shadows) -> Bars:
        total = Bars(None, (None,) * len(args), {})
        for step in reversed(journal):
            bars = step.back(None, shadows)
            if not _carries(bars):
                continue
            added = len(step.args) - len(args)
            settled = [shadows.settle(x, bar) for x, bar in zip(step.args, bars.arguments, strict=False)]
            own = shadows.settle(step.f, bars.function)
            others = (*settled[: max(added, 0)], None if step.f is f else own)
            if len(journal) > 1 or not _passes_on(step, args, kwargs) or any(bar is not None for bar in others):
                raised = type(made.exception).__name__
                raise MutationError(f"{name_of(f)} raised a {raised}, which is caught, after it had written", None, REMEDY)
            total = Bars(own, tuple(settled[added:]), bars.keywords)
        return total

    return made, back


def _carries(bars: Bars) -> bool:
    """Whether there are cotangents that travel by value."""
    return not all(map(is_structural_zero, (bars.function, *bars.arguments, *bars.keywords.values())))


def _passes_on(step: Step, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call got what the attempted one got, after what a method or partial application adds."""
    before = len(step.args) - len(args)
    same = before >= 0 and all(a is b for a, b in zip(step.args[before:], args, strict=True))
    return same and step.kwargs.keys() == kwargs.keys() and all(step.kwargs[name] is kwargs[name] for name in kwargs)
