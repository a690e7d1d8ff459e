"""Functions whose intermediates the backward pass computes again, instead of keeping them.

    y, _ = f_primal(x)                         the first run: nothing of it is kept but what the function was given
    y_saved = run_again(f_primal, x)           in the adjoint: the second run
    x_bar = f_adjoint(y_saved, y_bar)

Where more than the arguments decides on what a function gives, a `Repeat` holds what is needed to run it again, and looks at
whether that gives the same:

    y, y_repeat = first_run(f_primal, reads, x)
    y_saved = second_run(y_repeat)
"""

from __future__ import annotations

import functools
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, final
from weakref import WeakKeyDictionary

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.errors import MissingRuleError, MutationError, UnsupportedSyntaxError
from microgradpy.ir.nodes import Const, Value
from microgradpy.ir.random_sources import is_source, is_source_function
from microgradpy.rules.registry import examples, frule, non_differentiable, rrule
from microgradpy.runtime.bars import Bars, Resolve, Resolved, Wanted
from microgradpy.runtime.bytecode import names_in
from microgradpy.runtime.markers import CHECKPOINTED, RETURN_ARGUMENTS, checkpointed_by
from microgradpy.runtime.modes import RUN
from microgradpy.runtime.streams import Stream
from microgradpy.runtime.write_detection import functions_called_by, reached
from microgradpy.tangents.projection import fields_of
from microgradpy.tangents.types import NoTangent, Tangent, is_structural_zero

X = TypeVar("X")


def checkpointed(f: X, /, *, every: int | None = None) -> X:
    """Of a function: one with the same value and the same gradient, of which the backward pass keeps the arguments only, and
    computes the function again for the rest. Of what a loop runs over, `for x in checkpointed(xs)`: the same items; the
    backward pass keeps what the loop carries at every `every`-th of them, about the square root of their number unless that is
    given, and runs the iterations between these again."""
    if every is None and callable(f):
        return _checkpointed_function(f)  # type: ignore[return-value]
    if every is not None and (type(every) is not int or every < 1):
        raise ValueError(f"checkpointed(..., every={every!r}): a whole number of iterations from 1 on")
    if not hasattr(f, "__iter__") and not hasattr(f, "__getitem__"):
        raise TypeError(f"checkpointed takes a function, or what a loop runs over, and was given a {type(f).__name__}")
    return f


def _checkpointed_function(f: Callable[..., Any]) -> Callable[..., Any]:
    if checkpointed_by(f) is not None:
        return f

    @functools.wraps(f)
    def repeatable(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    CHECKPOINTED.add(repeatable)
    return repeatable


HELD = "f"
"""The name under which what `checkpointed` makes holds the function."""
RETURN_ARGUMENTS.add(checkpointed)


@rrule.register(checkpointed)
def checkpointed_rrule(f: Any, *, every: Any = None) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The cotangent of what holds a function has that of the function as its field; what a loop runs over is itself."""
    y = checkpointed(f, every=every)

    def checkpointed_pullback(y_bar: Any) -> tuple[Any, ...]:
        return NoTangent(), y_bar if y is f else y_bar.get(HELD)

    return y, checkpointed_pullback


@frule.register(checkpointed)
def checkpointed_frule(f: Any, *, every: Any = None) -> tuple[Any, Callable[..., Any]]:
    """The tangent of what holds a function has that of the function as its field."""
    y = checkpointed(f, every=every)

    def checkpointed_pushforward(own_dot: Any, f_dot: Any) -> Any:
        return f_dot if y is f or is_structural_zero(f_dot) else Tangent(type(y), {HELD: f_dot})

    return y, checkpointed_pushforward


examples(checkpointed, (np.array([1.0, 2.0]),))


@final
@dataclass(frozen=True, slots=True)
class Schedule:
    """When the state of a loop is kept: "sqrt", "log", "every" so many steps, or in so many "parts"; `count` is a constant or
    variable of the program."""

    name: str
    count: Value = Const(1)


_SCHEDULES: dict[int, tuple[weakref.ref[types.CodeType], Schedule]] = {}


def schedule_of(code: types.CodeType) -> Schedule | None:
    """How the outermost loops of a function with this code are checkpointed."""
    known = _SCHEDULES.get(id(code))
    return known[1] if known is not None and known[0]() is code else None


_CODES: dict[int, tuple[weakref.ref[types.CodeType], dict[Schedule, types.CodeType]]] = {}
"""The codes of functions, by their identities, with those that were made of them."""


def _code_for(code: types.CodeType, schedule: Schedule) -> types.CodeType:
    """A code for the function with this schedule, the same one each time."""
    known = _CODES.get(id(code))
    if known is None or known[0]() is not code:
        known = _CODES[id(code)] = weakref.ref(code, functools.partial(_forget, _CODES, id(code))), {}
    made = known[1].get(schedule)
    if made is None:
        made = known[1][schedule] = code.replace()
        _SCHEDULES[id(made)] = weakref.ref(made, functools.partial(_forget, _SCHEDULES, id(made))), schedule
    return made


def _forget(table: dict[int, Any], identity: int, gone: object) -> None:
    known = table.get(identity)
    if known is not None and known[0] is gone:
        table.pop(identity, None)


def with_schedule(f: Any, schedule: Schedule) -> Any:
    """The same callable with a code of its own, for which this is the schedule. TypeError if it is no function or method."""
    if isinstance(f, types.MethodType):
        return types.MethodType(with_schedule(f.__func__, schedule), f.__self__)
    if isinstance(f, functools.partial):
        return functools.partial(with_schedule(f.func, schedule), *f.args, **f.keywords)
    if not isinstance(f, types.FunctionType):
        raise TypeError(f"checkpoint= is for the loops of functions and methods, and was given a {type(f).__name__}")
    made = types.FunctionType(_code_for(f.__code__, schedule), f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    made.__kwdefaults__ = f.__kwdefaults__
    return functools.update_wrapper(made, f)


def check_items(xs: Any) -> None:
    """Refuse what a checkpointed loop cannot run over again, from the middle on."""
    if type(xs) not in (list, tuple, range, str, np.ndarray):
        raise UnsupportedSyntaxError(
            f"a checkpointed loop runs over a {type(xs).__name__}, whose items are not read by their places",
            None,
            "Make a list of the items before the loop.",
        )


non_differentiable(check_items)


@final
@dataclass(frozen=True, slots=True)
class Reads:
    """Which variables of modules a function may read, and whether the generators of random numbers that all share."""

    name: str
    places: tuple[tuple[dict[str, Any], str], ...]
    draws: bool

    def values(self) -> tuple[Any, ...]:
        return tuple(namespace.get(name, Reads) for namespace, name in self.places)

    def sources(self, inputs: tuple[Any, ...], read: tuple[Any, ...]) -> tuple[tuple[Any, Any], ...]:
        """The generators of random numbers that the function can reach, with their states."""
        found = [value for value in reached((*inputs, *read)) if is_source(value)]
        if self.draws:
            places = ("random", "_inst"), ("numpy.random.mtrand", "_rand")
            shared = [getattr(sys.modules.get(module), name, None) for module, name in places]
            found += [source for source in shared if source is not None]
        return tuple((source, _state_of(source)) for source in found)


@final
@dataclass(frozen=True, slots=True)
class Repeat:
    """A call that can be made once more: `run` with `inputs`, as they were, which gave `y`. `read` are the variables of modules
    as they were, `sources` generators of random numbers with the states from which the call drew, `errors` what NumPy did about
    divisions by zero and the like."""

    run: Callable[..., Any]
    inputs: tuple[Any, ...]
    y: Any
    reads: Reads
    read: tuple[Any, ...]
    sources: tuple[tuple[Any, Any], ...]
    assumed: Any
    errors: dict[str, Any]

    def again(self) -> Any:
        """What is saved of the call, made once more. MutationError if it does not give the same."""
        if any(now is not before for now, before in zip(self.reads.values(), self.read, strict=True)):
            raise self._refusal("a variable of its module has been assigned since")
        quiet: Any = {kind: how if how in ("raise", "call") else "ignore" for kind, how in self.errors.items()}
        with self._as_it_was(), np.errstate(**quiet):
            y, saved = self.run(*self.inputs)
        if not _is_same(self.y, y):
            raise self._refusal("it gave another value")
        return saved

    @contextmanager
    def _as_it_was(self) -> Iterator[None]:
        now = [(source, _state_of(source)) for source, _ in self.sources]
        before = RUN.is_inside, RUN.assumed, RUN.zeros
        RUN.is_inside, RUN.assumed, RUN.zeros = True, self.assumed, None
        try:
            for source, state in self.sources:
                _set_state(source, state)
            yield
        finally:
            RUN.is_inside, RUN.assumed, RUN.zeros = before
            for source, state in now:
                _set_state(source, state)

    def _refusal(self, why: str) -> MutationError:
        return MutationError(
            f"the backward pass ran {self.reads.name}, which is checkpointed, again, and {why}",
            None,
            "Let it depend on its arguments only, and draw random numbers from a generator that it is given.",
        )


@final
@dataclass(frozen=True, slots=True)
class Once:
    """A call that is not made again, as it has read items of an iterator, which are not there any more."""

    saved: Any

    def again(self) -> Any:
        return self.saved


def _run(run: Callable[..., Any], reads: Reads, inputs: tuple[Any, ...]) -> tuple[Any, Repeat | Once]:
    """What a call gives, and how to make it again."""
    if any(hasattr(type(x), "__next__") for x in reached(inputs)):
        y, saved = run(*inputs)
        return y, Once(saved)
    read = reads.values()
    sources = reads.sources(inputs, read)
    y, _ = run(*inputs)
    RUN.repeats = True
    return y, Repeat(run, inputs, y, reads, read, sources, RUN.assumed, dict(np.geterr()))


_READS: WeakKeyDictionary[Any, Reads] = WeakKeyDictionary()


def reads_of(f: Any) -> Reads:
    """What a callee may read besides what it is given, as far as its code and that of what it calls by name show."""
    places: dict[tuple[int, str], tuple[dict[str, Any], str]] = {}
    draws = False
    for function in functions_called_by(f):
        namespace, names = function.__globals__, names_in(function.__code__)
        known = [name for name in names if name in namespace]
        for name in known:
            if not isinstance(namespace[name], types.ModuleType | types.FunctionType | types.BuiltinFunctionType | type):
                places[id(namespace), name] = namespace, name
        draws = draws or any(_draws(namespace[name], names) for name in known)
    return Reads(getattr(f, "__name__", type(f).__name__), tuple(places.values()), draws)


def _draws(value: Any, names: tuple[str, ...]) -> bool:
    """Whether a variable of a module leads to the generators of random numbers that all share, with one of these attributes."""
    if not isinstance(value, types.ModuleType):
        return is_source_function(value)
    return value.__name__ in ("random", "numpy.random") or (value.__name__ == "numpy" and "random" in names)


def run_again(primal: Callable[..., Any], /, *inputs: Any) -> Any:
    """What a primal saves. It has warned in its first run."""
    with np.errstate(all="ignore"):
        return primal(*inputs)[1]


def run_numbers_again(primal: Callable[..., Any], /, *inputs: Any) -> Any:
    """The same of a primal that has operators and functions of `math` only: of Python's numbers NumPy has nothing to say."""
    return primal(*inputs)[1] if _NUMBERS.issuperset(map(type, inputs)) else run_again(primal, *inputs)


_NUMBERS = frozenset((float, int, bool))


def first_run(primal: Callable[..., Any], reads: Reads, /, *inputs: Any) -> tuple[Any, Repeat | Once]:
    """What a primal gives, and how to run it again."""
    return _run(primal, reads, inputs)


def second_run(repeat: Repeat | Once) -> Any:
    """What the primal saves."""
    return repeat.again()


def by_checkpoint(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve, wanted: Wanted, keywords_wanted: bool
) -> Resolved:
    """A call of what `checkpointed` has made, for the dispatcher of runs in which nothing is written."""
    inner = checkpointed_by(f)
    reads = _READS.get(f) or _READS.setdefault(f, reads_of(inner))

    def run(*given: Any) -> Resolved:
        return resolve(inner, given, kwargs, wanted, keywords_wanted)

    if not RUN.is_inside:
        y, back = run(*args)  # of what is differentiated itself there would be nothing to gain
        return y, lambda y_bar, shadows=None: _of_function(f, back(y_bar, shadows))
    y, repeat = _run(run, reads, args)
    if isinstance(y, Stream):
        found = f"an iterator ({y.name}) is returned by a checkpointed function"
        raise MissingRuleError(found, None, "Return a list of its items.")

    def repeating_back(y_bar: Any, shadows: Any = None) -> Bars:
        return _of_function(f, repeat.again()(y_bar, shadows))

    return y, repeating_back


def _of_function(f: Any, bars: Bars) -> Bars:
    """The cotangents for the function that holds the one which these are for."""
    own = None if is_structural_zero(bars.function) else Tangent(type(f), {HELD: bars.function})
    return bars._replace(function=own)


def _state_of(source: Any) -> Any:
    """The state of a generator of random numbers: NumPy's, Python's, or NumPy's of old."""
    if hasattr(source, "bit_generator"):
        return source.bit_generator.state
    return source.getstate() if hasattr(source, "getstate") else source.get_state()


def _set_state(source: Any, state: Any) -> None:
    if hasattr(source, "bit_generator"):
        source.bit_generator.state = state
    elif hasattr(source, "setstate"):
        source.setstate(state)
    else:
        source.set_state(state)


def _is_same(x: Any, y: Any) -> bool:
    """Whether two runs gave the same, to the last bit."""
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    match x:
        case float():
            return bool(x == y) or (x != x and y != y)
        case np.ndarray():
            is_alike = x.shape == y.shape and x.dtype == y.dtype
            return is_alike and (x.dtype.hasobject or bool(x.tobytes() == y.tobytes()))
        case np.generic():
            return bool(x.tobytes() == y.tobytes())
        case tuple() | list():
            return len(x) == len(y) and all(map(_is_same, x, y))
        case dict():
            return x.keys() == y.keys() and all(_is_same(x[key], y[key]) for key in x)
        case int() | complex() | str() | bytes():
            return bool(x == y) or x != x
    parts, others = fields_of(x), fields_of(y)
    return parts.keys() == others.keys() and all(_is_same(parts[name], others[name]) for name in parts)
