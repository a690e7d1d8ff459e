"""Generators of the user's in runs that track writes: the adjoint of one is a coroutine that runs it backwards.

    next(g) gives v                  v_bar is sent into the coroutine, which goes back to the `yield` before
    next(g) raises StopIteration     the coroutine is started: it goes back to the last `yield`
    g = f(x) is made                 the coroutine has come to its end, and returns x_bar

What the coroutine yields is the cotangent of what was sent into the generator at that place. A generator that stays suspended
is made to return where it is when a pullback first needs what it recorded.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from types import GeneratorType
from typing import Any, Protocol, final
from weakref import WeakKeyDictionary

from microgradpy.errors import MissingRuleError, MutationError
from microgradpy.runtime.suspension import LEFT
from microgradpy.state.shadows import Shadows

_current: ContextVar[object | None] = ContextVar("run", default=None)
_REMEDY = "Use the generator up inside the differentiated function, by `for`, `next`, `list`, `sum` or `yield from`."


class Derivative(Protocol):
    """A compiled generator function, called with some arguments."""

    def start(self) -> Any:
        """A generator that returns the value and what was saved; or these, if it never yields."""

    def rewind(self, saved: Any, value: Any, value_bar: Any, shadows: Shadows) -> Any:
        """The coroutine; or the cotangents of the inputs, if it never yields."""


@final
class Run:
    """A generator of the user's. `given` are the values that it has yielded so far; `problem` is why it cannot be run
    backwards."""

    __slots__ = ("derivative", "name", "inner", "value", "saved", "given", "is_started", "is_finished", "is_left", "problem", "within")

    def __init__(self, derivative: Derivative, name: str) -> None:
        self.derivative, self.name = derivative, name
        self.inner: Any = None
        self.value: Any = None
        self.saved: Any = None
        self.given = 0
        self.is_started = self.is_finished = self.is_left = False
        self.problem = ""
        self.within = _current.get()

    def complete(self) -> None:
        """Let a suspended generator return where it is."""
        if self.is_finished or self.is_left:
            return
        self.is_left = True
        try:
            self.inner.send(LEFT)
        except StopIteration as stop:
            self.value, self.saved = stop.value


@final
class Rewind:
    """A generator that is run backwards in one sweep: `left` values are to be undone."""

    __slots__ = ("coroutine", "left", "bars", "is_done")

    def __init__(self, coroutine: Any, left: int) -> None:
        self.coroutine, self.left = coroutine, left
        self.bars: Any = None
        self.is_done = False

    def resume(self, bar: Any) -> Any:
        try:
            return self.coroutine.send(bar)
        except StopIteration as stop:
            self.bars, self.is_done = stop.value, True
            return None


def generator(derivative: Derivative, name: str, qualified_name: str) -> Generator[Any, Any, Any]:
    """The generator that the user's program gets."""
    run = Run(derivative, name)
    made = _drive(run)
    made.__name__, made.__qualname__ = name, qualified_name
    _runs[made] = run
    return made


_runs: WeakKeyDictionary[Any, Run] = WeakKeyDictionary()


def run_of(x: Any) -> Run | None:
    """The run of a generator that is differentiated."""
    return _runs.get(x) if type(x) is GeneratorType else None


@contextmanager
def inside_run() -> Generator[None, None, None]:
    """One run of the user's program: generators made in it are advanced in it only."""
    before = _current.set(object())
    try:
        yield
    finally:
        _current.reset(before)


@final
class Counted:
    """A generator in a `zip`, which counts what is asked of it there."""

    __slots__ = ("source", "taken")

    def __init__(self, source: Any) -> None:
        self.source, self.taken = source, 0

    def __iter__(self) -> Counted:
        return self

    def __next__(self) -> Any:
        item = next(self.source)
        self.taken += 1
        return item


def _drive(run: Run) -> Generator[Any, Any, Any]:
    run.is_started = True
    _check_place(run)
    run.inner = run.derivative.start()
    if not isinstance(run.inner, GeneratorType):
        run.value, run.saved = run.inner
        run.is_finished = True
        return run.value
    sent = None
    while True:
        try:
            item = run.inner.send(sent)
        except StopIteration as stop:
            run.value, run.saved = stop.value
            run.is_finished = True
            return run.value
        except BaseException:
            run.problem = "raised an exception that was caught"
            raise
        run.given += 1
        try:
            sent = yield item
        except GeneratorExit:
            raise
        except BaseException as error:
            run.problem = "was left by throw()"
            run.inner.throw(error)
        _check_place(run)


def _check_place(run: Run) -> None:
    if _current.get() is not run.within or run.is_left:
        raise MutationError(
            f"the generator {run.name!r}, made while a function was differentiated, is advanced outside of that call",
            None,
            "Make a list of its items inside.",
        )


# Backwards


def undo_next(run: Run, shadows: Shadows, bar: Any) -> Any:
    """Undo `next(g)`, which gave a value with this cotangent: returns that of what was sent into it."""
    rewind = shadows.rewinds.get(run)
    if rewind is None:
        if run.is_finished:
            raise _lost(run, "came to its end in a way that is not followed")
        _start(run, shadows, None)
        rewind = shadows.rewinds[run]
    if not rewind.left:
        raise _lost(run, "gave values in a way that is not followed")
    rewind.left -= 1
    return rewind.resume(bar)


def undo_end(run: Run, shadows: Shadows, value_bar: Any = None) -> Any:
    """Undo the `next(g)` that found the generator at its end, where it returned a value with this cotangent."""
    return _start(run, shadows, value_bar) if run.is_finished and run not in shadows.rewinds else None


def _start(run: Run, shadows: Shadows, value_bar: Any) -> Any:
    if run.problem:
        raise _lost(run, run.problem)
    run.complete()
    coroutine = run.derivative.rewind(run.saved, run.value, value_bar, shadows)
    rewind = shadows.rewinds[run] = Rewind(coroutine, run.given)
    if isinstance(coroutine, GeneratorType):
        return rewind.resume(None)
    rewind.bars, rewind.is_done = coroutine, True
    return None


def undo_making(run: Run, shadows: Shadows) -> Any:
    """The cotangents that the coroutine has returned; None if the generator has never been advanced."""
    if not run.is_started:
        return None
    rewind = shadows.rewinds.pop(run, None)
    if rewind is None or not rewind.is_done:
        raise _lost(run, run.problem or "gave values in a way that is not followed")
    return rewind.bars


def _lost(run: Run, what: str) -> MissingRuleError:
    return MissingRuleError(f"the generator {run.name!r} {what}", None, _REMEDY)
