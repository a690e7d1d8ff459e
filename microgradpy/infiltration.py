"""Opening a debugger in a pullback that microgradpy derived, where there is no text to put a `breakpoint()` into.

What `infiltrate` returns is the function once more: the same code under another identity, for which another pullback is
compiled. The function itself knows nothing of it, no rule is declared, and nothing is left when the decorator is taken away.
`infiltrating` is for functions that others call: inside of the block, pullbacks are compiled in another mode.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from contextlib import AbstractContextManager, ContextDecorator
from typing import Any, TypeVar, final, overload

from microgradpy.cache import CACHE, lock
from microgradpy.errors import DifferentiationError, SourceNotFoundError
from microgradpy.frontend.source import place_of
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.runtime.markers import FOR_WHOLE_RUNS
from microgradpy.runtime.modes import RUN, enter_mode, leave_mode
from microgradpy.runtime.suspension import is_generator
from microgradpy.state.stops import Stop as Stop
from microgradpy.state.stops import Stopping, stop_in
from microgradpy.tangents.types import NoTangent

F = TypeVar("F")
When = Callable[..., Any] | None
Callback = Callable[[Stop], Any] | None


def infiltrate(f: F, when: When = None, callback: Callback = None) -> F:
    """`f` with the same values and gradients. Each time that its derived pullback runs, a debugger opens by `breakpoint()`: in
    scope are the seed `dy` (also as `Δ`), the arguments, the `result` and the local variables that `f` had when it returned.

    With `when`, only if `when(dy, **variables)` is true. With a `callback`, that is called with a `Stop` instead. Without a
    terminal, and without a callback, DifferentiationError is raised where the debugger was to open."""
    made: Any = _once_more(f, when, callback)
    return made  # type: ignore[no-any-return]


def _once_more(f: Any, when: When, callback: Callback) -> Any:
    match f:
        case types.FunctionType():
            return _infiltrated(f, when, callback)
        case types.MethodType():
            return types.MethodType(_once_more(f.__func__, when, callback), f.__self__)
        case staticmethod() | classmethod():
            return type(f)(_once_more(f.__func__, when, callback))
        case functools.partial():
            return functools.partial(_once_more(f.func, when, callback), *f.args, **f.keywords)
    return types.MethodType(_infiltrated(_function_of(f), when, callback), f)


def _function_of(f: Any) -> types.FunctionType:
    """The function behind a callable."""
    match f:
        case types.FunctionType():
            return f
        case types.MethodType() | staticmethod() | classmethod():
            return _function_of(f.__func__)
        case functools.partial():
            return _function_of(f.func)
    call = getattr(type(f), "__call__", None)  # noqa: B004 - the function itself is wanted
    if isinstance(call, types.FunctionType) and not rrule.has(f):
        return call
    name = getattr(f, "__name__", type(f).__name__)
    raise SourceNotFoundError(
        f"{name} has no Python source, so no pullback is derived for it",
        None,
        "Use hook(fn, x) on what it returns, or infiltrate the function that calls it.",
    )


def _checked(f: types.FunctionType) -> types.FunctionType:
    """A function, which has to have a derived pullback."""
    has_rule = rrule.has(f) or is_non_differentiable(f)
    if has_rule or is_generator(f.__code__):
        found = f"{f.__qualname__} has a rule" if has_rule else f"{f.__qualname__} is a generator function"
        remedy = "Put `breakpoint()` into the rule." if has_rule else "Infiltrate the function that uses it up."
        raise DifferentiationError(f"{found}, so that it has no derived pullback to stop in", place_of(f), remedy)
    return f


def _infiltrated(f: types.FunctionType, when: When, callback: Callback) -> types.FunctionType:
    code = _checked(f).__code__.replace()
    new = types.FunctionType(code, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    new.__kwdefaults__ = None if f.__kwdefaults__ is None else dict(f.__kwdefaults__)
    functools.update_wrapper(new, f)
    stop_in(code, Stopping(f.__name__, f.__globals__, when, callback))
    return new


def infiltrating(f: Callable[..., Any], when: When = None, callback: Callback = None) -> AbstractContextManager[None]:
    """Inside of `with infiltrating(f):`, as if `f` were infiltrated wherever it is called: for a function that others call,
    without a change to the program. It applies to the runs that are made inside, in this thread."""
    function = _checked(_function_of(f))
    return _Infiltrating(function.__code__, Stopping(function.__name__, function.__globals__, when, callback))


@final
class _Infiltrating(ContextDecorator):
    def __init__(self, *stop: Any) -> None:
        self.stop = stop

    def __enter__(self) -> None:
        enter_mode(stops=(*RUN.mode.stops, self.stop))

    def __exit__(self, *error: object) -> None:
        stops = RUN.mode.stops
        leave_mode()
        with lock:
            CACHE.forget_kind(stops)


@overload
def infiltrate_rrule(f: F, /) -> F: ...
@overload
def infiltrate_rrule(*, when: When = None, callback: Callback = None) -> Callable[[F], F]: ...
def infiltrate_rrule(f: Any = None, /, *, when: When = None, callback: Callback = None) -> Any:
    """The decorator form of `infiltrate`: `@infiltrate_rrule`, or with options `@infiltrate_rrule(when=..., callback=...)`. The
    gradient does not change, and nothing is left when the decorator is removed."""
    if f is None:
        return functools.partial(infiltrate, when=when, callback=callback)
    return infiltrate(f, when, callback)


@rrule.register(infiltrate)
def infiltrate_in_differentiated_code(
    f: Any, when: When = None, callback: Callback = None
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """What is made of a function holds what that holds, and has its cotangent."""
    made = infiltrate(f, when, callback)
    is_bound = isinstance(made, types.MethodType) and not isinstance(f, types.MethodType)

    def infiltrate_pullback(made_bar: Any) -> tuple[Any, ...]:
        return NoTangent(), made_bar["__self__"] if is_bound else made_bar

    return made, infiltrate_pullback


FOR_WHOLE_RUNS.add(infiltrating)
