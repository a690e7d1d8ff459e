"""Generators of the user's in runs that track writes: the adjoint of one is a coroutine that runs it backwards.

    next(g) gives v                  v_bar is sent into the coroutine, which goes back to the `yield` before
    next(g) raises StopIteration     the coroutine is started: it goes back to the last `yield`
    g = f(x) is made                 the coroutine has come to its end, and returns x_bar

What the coroutine yields is the cotangent of what was sent into the generator at that place. A generator that stays suspended
is made to return where it is when a pullback first needs what it recorded.
"""

from __future__ import annotations

from collections.abc import Generator
from threading import Lock
from types import GeneratorType
from typing import Any, Protocol, final
from weakref import WeakKeyDictionary

from microgradpy.errors import CompilerBug, DifferentiationError, MissingRuleError, MutationError
from microgradpy.runtime.failures import NO_ROW, SKIPPED, Failure, failed, raise_failure
from microgradpy.runtime.suspension import LEFT, UNFINISHED, is_over, noted_code
from microgradpy.state.undo_log import apart, current, expected
from microgradpy.state.whole import Whole, lose, whole_run

_completing = Lock()
_UNFINISHED = "is left at a `yield` inside of `try` or `with`, and was not run to its end"
_REMEDY = "Use the generator up inside the differentiated function, by `for`, `next`, `list`, `sum` or `yield from`."


class Derivative(Protocol):
    """A compiled generator function, called with some arguments. One that `catches` returns a `Failure` instead of raising,
    and raises one that is sent to it."""

    @property
    def catches(self) -> bool: ...

    def start(self) -> Any:
        """A generator that returns the value and what was saved; or these, if it never yields."""

    def rewind(self, saved: Any, value: Any, value_bar: Any, shadows: Any) -> Any:
        """The coroutine; or the cotangents of the inputs, if it never yields."""


@final
class Run:
    """A generator of the user's. `given` are the values that it has yielded so far; `problem` is why it cannot be run
    backwards."""

    __slots__ = (
        "derivative", "given", "inner", "is_closed", "is_finished", "is_inside", "is_left", "is_started", "name", "problem",
        "saved", "value", "within",
    )  # fmt: skip

    def __init__(self, derivative: Derivative, name: str) -> None:
        self.derivative, self.name = derivative, name
        self.inner: Any = None
        self.value: Any = None
        self.saved: Any = None
        self.given = 0
        self.is_started = self.is_finished = self.is_left = self.is_closed = self.is_inside = False
        self.problem = ""
        self.within = whole_run()

    def complete(self) -> None:
        """Let a suspended generator return where it is; pullbacks in several threads may ask for it."""
        with _completing:
            self._complete()

    def _complete(self) -> None:
        if self.is_finished or self.is_left or self.problem:
            return
        self.is_left = True
        try:
            apart(self.inner.send, LEFT)
        except StopIteration as stop:
            value, self.saved = stop.value
            if value is UNFINISHED:
                self.problem = _UNFINISHED


def generator(derivative: Derivative, name: str, qualified_name: str) -> Any:
    """The generator that the user's program gets."""
    run = Run(derivative, name)
    made: Any = _drive(run)
    made.__name__, made.__qualname__ = name, qualified_name
    _runs[made] = run
    return made


_runs: WeakKeyDictionary[Any, Run] = WeakKeyDictionary()


def run_of(x: Any) -> Run | None:
    """The run of a generator that is differentiated."""
    return _runs.get(x) if type(x) is GeneratorType else None


def check_finished(whole: Whole) -> None:
    """Refuse, at the end of a run, if a generator is left where code of its own would have run by now, in the program itself:
    in a `with`, or a `try` with a `finally`."""
    for run, where in whole.generators:
        if run.is_inside and not run.is_finished:
            remedy = "Run it to its end, by `for`, `list`, `sum` or `yield from`, or close it: `g.close()`."
            raise MissingRuleError(f"the generator {run.name!r} {_UNFINISHED}", where, remedy)
    whole.generators.clear()


@final
class Steps:
    """A loop over a generator: how many items it has taken, and whether it has brought the generator to its end. One that
    `catches` takes a `Failure` for an item that the generator raises."""

    __slots__ = ("catches", "is_ended", "row", "source", "taken")

    def __init__(self, source: Generator[Any, Any, Any]) -> None:
        self.source, self.taken, self.is_ended, self.catches, self.row = source, 0, False, False, NO_ROW

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> Any:
        if self.row.has_failed:
            return SKIPPED
        was_over = is_over(self.source)
        try:
            item = expected(next, self.source) if self.catches else next(self.source)
        except StopIteration:
            self.is_ended = not was_over
            raise
        except (DifferentiationError, CompilerBug):
            raise
        except BaseException as error:
            if not self.catches:
                raise
            return failed(error, self.row)
        self.taken += 1
        return item


def _drive(run: Run) -> Generator[Any, Any, Any]:
    run.is_started = True
    _check_place(run)
    run.inner = run.derivative.start()
    if not isinstance(run.inner, GeneratorType):
        return _ended(run, run.inner)
    sent = None
    while True:
        try:
            item = apart(run.inner.send, sent)
        except StopIteration as stop:
            return _ended(run, stop.value)
        except BaseException as error:
            run.problem = "raised an exception that was caught"
            lose(run.name, error)
            raise
        run.given += 1
        run.is_inside = noted_code()
        try:
            sent = yield item
        except BaseException as error:
            if isinstance(error, GeneratorExit) and not run.is_closed:
                raise  # nobody has it any more
            if not run.derivative.catches:
                run.complete()
                run.is_finished = True
                raise
            sent = Failure(error)
        _check_place(run)


def _ended(run: Run, returned: Any) -> Any:
    """What a generator returns, or raises. Somebody has to know of it."""
    run.value, run.saved = returned
    run.is_finished = True
    if type(run.value) is Failure and current() is None and not run.is_closed:
        lose(run.name, run.value.exception)
    raise_failure(run.value)
    return run.value


def _check_place(run: Run) -> None:
    if whole_run() is not run.within or run.is_left:
        raise MutationError(
            f"the generator {run.name!r}, made while a function was differentiated, is advanced outside of that call",
            None,
            "Make a list of its items inside.",
        )


@final
class Rewind:
    """The shadow of a generator: it is run backwards, one step for each step forward. `left` values are to be undone."""

    __slots__ = ("bars", "coroutine", "is_done", "left", "run", "shadows")

    def __init__(self, run: Run, shadows: Any) -> None:
        self.run, self.shadows = run, shadows
        self.coroutine: Any = None
        self.left = run.given
        self.bars: Any = None
        self.is_done = False

    def undo(self, bar: Any) -> Any:
        """Undo the step that gave a value with this cotangent; returns that of what was sent into it."""
        if self.coroutine is None:
            if self.run.is_finished:
                raise self.lost(self.run.problem or "came to its end in a way that is not followed")
            self._start(None)
        if not self.left:
            raise self.lost("gave values in a way that is not followed")
        self.left -= 1
        return self._resume(bar)

    def undo_end(self, value_bar: Any = None) -> Any:
        """Undo the step that found the generator at its end, where it returned a value with this cotangent."""
        return self._start(value_bar) if self.coroutine is None and self.run.is_finished else None

    def undo_making(self) -> Any:
        """The cotangents of what the generator was made of; None if it has never been advanced."""
        if self.run.is_started and not self.is_done:
            raise self.lost(self.run.problem or "gave values in a way that is not followed")
        return self.bars

    def _start(self, value_bar: Any) -> Any:
        run = self.run
        run.complete()
        if run.problem:
            raise self.lost(run.problem)
        self.coroutine = run.derivative.rewind(run.saved, run.value, value_bar, self.shadows)
        if isinstance(self.coroutine, GeneratorType):
            return self._resume(None)
        self.bars, self.is_done = self.coroutine, True
        return None

    def _resume(self, bar: Any) -> Any:
        try:
            return self.coroutine.send(bar)
        except StopIteration as stop:
            self.bars, self.is_done = stop.value, True
            return None

    def lost(self, what: str) -> MissingRuleError:
        return MissingRuleError(f"the generator {self.run.name!r} {what}", None, _REMEDY)
