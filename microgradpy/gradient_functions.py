"""Gradient functions that somebody holds: what `grad(f)` and `value_and_grad(f)` return.

Each call goes the general road: resolve, seed, pull back, fill with zeros. When that has been gone some times, a function gets
a head (`microgradpy.heads`), which takes calls like the last one straight through.
"""

from __future__ import annotations

import functools
import importlib
import types
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, final

import numpy as np

from microgradpy.argnums import by_position
from microgradpy.binding import Binding, bind
from microgradpy.boundary import BOUNDARY
from microgradpy.cache import CACHE
from microgradpy.entry import bars_by_plan, bars_of_parts, resolve_outermost
from microgradpy.errors import NonScalarOutputError
from microgradpy.heads import Form, Head, NotGiven, head_of
from microgradpy.patterns import Match
from microgradpy.plans import UNIT_SEEDS, Plan
from microgradpy.projecting import FLOATS, PARTS, Untouched, are_floats, is_projected
from microgradpy.rules.nested import Asked
from microgradpy.rules.registry import rrule
from microgradpy.runtime.bars import Back
from microgradpy.runtime.markers import NESTED_DIFFERENTIATION
from microgradpy.runtime.zeros import exact
from microgradpy.tangents.projection import check_seed, fill_zeros, project
from microgradpy.tangents.types import Projected

PATIENCE, MOST_PATIENCE = 64, 4096
"""After how many calls of the general road there is a head: at first as many as cost about what the head does, then twice as
many each time."""


def held_gradient(
    f: Callable[..., Any], form: Form, has_aux: bool, names: tuple[str, ...] = (), native: Any = None
) -> Callable[..., Any]:
    """A function of the arguments of `f` that returns gradients of it in this form; parameters with these names may be given by
    name. `native` makes what knows its heads for native code, if it is to have any."""
    held = GradientFunction(f, form, has_aux, names, native)

    @functools.wraps(f, updated=())
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        with BOUNDARY:
            return held.call(args, kwargs)

    held.function = weakref.ref(differentiated)
    asked = Asked(form.numbers, is_filled=True, has_aux=has_aux, names=names)
    note_held(differentiated, "grad", f, asked, form.is_single, form.has_value)
    return differentiated


def note_held(function: Callable[..., Any], kind: str, *of: Any) -> None:
    """Note of a function that differentiates what it was made by, and of what."""
    vars(function)[_MADE_OF] = (kind, *of)
    NESTED_DIFFERENTIATION.add(function)


def held_by(function: Any) -> tuple[Any, ...] | None:
    """By what a function that differentiates was made, and of what; None for any other."""
    if not isinstance(function, types.FunctionType):
        return None
    found: tuple[Any, ...] | None = vars(function).get(_MADE_OF)
    return held_by(vars(function)[_LIVE]()) if found is None and _LIVE in vars(function) else found


_MADE_OF, _LIVE = "__made_of__", "__live__"
"""The attributes of functions that were made here, and of those of the cache on disk, which make one when it is wanted."""


def filled(x: Any, bar: Any, is_fresh: Any) -> Any:
    """The gradient with respect to an argument `x`, with zeros for None: see `is_projected`."""
    if is_projected(x, bar, is_fresh):
        return bar
    if is_fresh is PARTS:
        return fill_zeros(x, bar)
    if type(bar) is list and type(x) is list and len(x) == len(bar) and (is_fresh is FLOATS or are_floats(x)):
        if not are_floats(bar):
            return fill_zeros(x, project(x, bar))
        return [0.0 if each is Untouched.zero else each for each in bar] if 0.0 in bar else bar.copy()
    return bar.filled() if isinstance(bar, Projected) else fill_zeros(x, project(x, bar))


@final
class GradientFunction:
    """What a gradient function refers to. Copies of it, which come of pickling one, have no head."""

    unusual = (AttributeError, KeyError, ValueError)
    """What the tests of a head raise: there is no such head any more, a name was deleted, a cell is empty."""
    explained = staticmethod(BOUNDARY.explained)
    fill = staticmethod(filled)

    def __init__(
        self, f: Callable[..., Any], form: Form, has_aux: bool, names: tuple[str, ...] = (), makes_native: Any = None
    ) -> None:
        self.f = f
        self.form = form
        self.has_aux = has_aux
        self.names = names
        self.makes_native = makes_native
        self.native = None if makes_native is None else makes_native()
        self.function: Callable[[], Any] = lambda: None
        self.place = ""
        # A module, as nobody looks for what may be differentiated in one that this refers to.
        self.heads = types.ModuleType("heads")
        self.calls, self.patience = 0, PATIENCE
        self.chosen: dict[int, tuple[bool, ...]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        pickled: tuple[Any, ...] = importlib.import_module("microgradpy.pickling").sent(self)
        return pickled

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The general road."""
        if self.names and kwargs:
            args, kwargs = by_position(self.f, self.names, args, kwargs)
        wanted = self.chosen.get(len(args)) or self.chosen.setdefault(len(args), wanted_by(self.form.numbers, len(args)))
        is_native = self._begins_native(args, kwargs, wanted, False)
        if not is_native:
            y, back = resolve_outermost(self.f, args, kwargs, wanted)
            result = self._result(args, y, back)
            is_native = self._begins_native(args, kwargs, wanted, True)
        if is_native:
            function = self.function()
            assert function is not None
            return function(*args)
        self.calls += 1
        if self.calls >= self.patience and not kwargs and not self.has_aux:
            self.calls, self.patience = 0, min(2 * self.patience, MOST_PATIENCE)
            self._begin(head_of(self.f, args, y, wanted, self.form))
        return result

    def _begins_native(self, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: tuple[bool, ...], has_run: bool) -> bool:
        """Whether there is a head for native code now that has not been asked; what is differentiated through its source is
        known when it `has_run`."""
        if self.native is None or kwargs or self.function() is None:
            return False
        head = self.native.head_for(self.f, args, wanted, self.form, self.has_aux, self.place, has_run)
        if head is not None:
            self._begin(head)
        return head is not None and self.place == head.place

    @staticmethod
    def given(*arguments: Any) -> tuple[Any, ...]:
        """Those arguments of a head that it was called with."""
        return tuple(x for x in arguments if x is not NotGiven)

    def _result(self, args: tuple[Any, ...], y: Any, back: Back) -> Any:
        seed = unit_seed(self.f, y, self.has_aux)
        bars = back(check_seed(y, seed) if self.has_aux else seed)
        fresh = bars.fresh or (False,) * len(args)
        numbers = self.form.numbers
        found: Any = tuple([filled(args[number], bars.arguments[number], fresh[number]) for number in numbers])
        found = found[0] if self.form.is_single else found
        return (y, found) if self.form.has_value else (found, y[1]) if self.has_aux else found

    def finish(self, f: types.FunctionType, plan: Plan, args: tuple[Any, ...], y: Any, saved: Any) -> Any:
        """The rest of the general road, for a head that has run the primal of a plan."""
        return self._result(args, y, partial(exact, partial(bars_by_plan, f, plan, bind(f, args, {}), len(args), y, saved)))

    def finish_parts(self, f: types.FunctionType, plan: Plan, args: tuple[Any, ...], read: Match, y: Any, saved: Any) -> Any:
        """The same for one that was called by parts of its arguments."""
        parts = Binding(read.values, 0, len(read.values))
        back = partial(bars_of_parts, f, plan, bind(f, args, {}), len(args), read, parts, y, saved, ())
        return self._result(args, y, partial(exact, back))

    def forget(self) -> None:
        """Have no head any more, as if there had been no call."""
        place, self.place = self.place, ""
        self.calls, self.patience = 0, PATIENCE
        vars(self.heads).pop(place, None)

    def _begin(self, head: Head | None) -> None:
        function = self.function()
        if head is None or function is None:
            return
        CACHE.hold(self)
        before, self.place = self.place, head.place
        setattr(self.heads, head.place, head.constants)
        # Of both codes: another thread may be about to begin with the one before.
        function.__defaults__ = max(function.__defaults__ or (), (NotGiven,) * head.count, key=len)
        function.__code__ = head.code(function.__code__)
        if before != head.place:
            vars(self.heads).pop(before, None)
        if head.version != rrule.version:  # another thread declared one meanwhile
            self.forget()


def wanted_by(numbers: tuple[int, ...], count: int) -> tuple[bool, ...]:
    """Which of `count` positional arguments are differentiated."""
    for number in numbers:
        if not -count <= number < count:
            many = "argument" if count == 1 else "arguments"
            found = f"argnums contains {number}, and the call has {count} positional {many}"
            raise TypeError(f'{found}; what is differentiated is given by position, or named: argnums="x"')
    chosen = {number % count for number in numbers}
    return tuple(index in chosen for index in range(count))


def is_real_scalar(y: object) -> bool:
    """Whether `y` is a Python or NumPy real number or a real 0-d array."""
    if isinstance(y, bool | np.bool):
        return False
    if isinstance(y, int | float | np.integer | np.floating):
        return True
    return isinstance(y, np.ndarray) and y.ndim == 0 and y.dtype.kind in "fiu"


def describe(y: object) -> str:
    """A value in a few words, for messages."""
    if y is None:
        return "None"
    if isinstance(y, np.ndarray):
        return f"an array of shape {y.shape} and dtype {y.dtype}"
    return f"a {type(y).__name__}"


def unit_seed(f: Any, y: Any, has_aux: bool) -> Any:
    seed = UNIT_SEEDS.get(type(y))
    if seed is not None and not has_aux:
        return seed
    value = y
    if has_aux:
        if not isinstance(y, tuple) or len(y) != 2:
            raise NonScalarOutputError(
                f"with has_aux=True the function returns (value, aux), and {_name(f)} returned {describe(y)}",
                None,
                remedy_for(y) if y is None else "Return a pair.",
            )
        value = y[0]
    if not is_real_scalar(value):
        raise NonScalarOutputError(
            f"gradient needs a function that returns a real scalar, and {_name(f)} returned {describe(value)}",
            None,
            remedy_for(value),
        )
    return (1.0, None) if has_aux else check_seed(value, 1.0)


def remedy_for(y: object) -> str:
    """What to do about a function that returns this where a real scalar is needed."""
    match y:
        case None:
            return "Is a `return` missing? Arrays are for pullback(f, x) with a seed, or jacobian(f, x)."
        case bool() | np.bool():
            return "A truth value has no derivative: return the number that it tells something of."
        case str() | bytes():
            return "Return the number, not a text of it; arrays are for pullback(f, x) with a seed, or jacobian(f, x)."
        case tuple() if len(y) == 2 and is_real_scalar(y[0]):
            value = "Of a pair (value, aux) the value is differentiated with has_aux: grad(f, has_aux=True)(x)"
            return f"{value}; or use pullback(f, x) with a seed of this structure."
        case tuple() | list() | dict():
            return "Return one number, such as a sum of what is in it; or use pullback(f, x) with a seed of this structure."
        case complex() | np.complexfloating():
            return "Return a real number, such as y.real or abs(y) ** 2; or use pullback(f, x) with a seed."
        case np.ndarray(size=1):
            return "Return the number in it, such as y[0] or np.sum(y); or use jacobian(f, x)."
    return "Use pullback(f, x) with a seed, or jacobian(f, x)."


def _name(f: Any) -> str:
    """What a function is called, and where it is, for messages."""
    code = getattr(f, "__code__", None)
    place = f" ({code.co_filename}:{code.co_firstlineno})" if isinstance(code, types.CodeType) else ""
    return f"{getattr(f, '__name__', type(f).__name__)}{place}"
