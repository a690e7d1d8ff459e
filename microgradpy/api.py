"""What a user calls: thin, with all checks of arguments and seeds.

Gradients follow ChainRules: the gradient of a real function at a complex `z` is df/dx + i df/dy.
"""

from __future__ import annotations

import dis
import functools
import importlib
import types
from collections.abc import Callable
from typing import Any, Literal, final

import numpy as np

from microgradpy.argnums import Argnums, names_in, numbered
from microgradpy.boundary import BOUNDARY
from microgradpy.entry import resolve_outermost
from microgradpy.errors import (
    CotangentShapeError,
    MissingRuleError,
    MutationError,
)
from microgradpy.gradient_functions import describe, held_gradient, is_real_scalar, unit_seed
from microgradpy.heads import Form
from microgradpy.ir.nodes import Const
from microgradpy.projecting import PARTS, is_projected
from microgradpy.rules import nested
from microgradpy.rules.registry import examples, non_differentiable
from microgradpy.runtime.checkpoints import Schedule, with_schedule
from microgradpy.runtime.dispatch import Back, Bars
from microgradpy.runtime.markers import NESTED_DIFFERENTIATION, PARTS_OF, RETURN_ARGUMENTS
from microgradpy.runtime.modes import RUN, changed_mode
from microgradpy.runtime.streams import Stream
from microgradpy.runtime.write_detection import Snapshot, all_seen_by, arrays_in, made_since, read_by
from microgradpy.state.outside import called_by_rule, writes_stay_inside
from microgradpy.state.reachable_writes import any_may_write
from microgradpy.state.shadows import is_filled, is_value
from microgradpy.tangents.fields import dict_of
from microgradpy.tangents.helpers import itself
from microgradpy.tangents.projection import check_seed, project, zeros_for
from microgradpy.tangents.stacks import length_of_stack, stacked, taken
from microgradpy.tangents.thunks import unthunk
from microgradpy.tangents.types import NoTangent, Tangent, is_structural_zero
from microgradpy.usage import P, R, check_options, refuse_no_function, told

_DEFAULT = object()


@final
class Pullback:
    """The linear map from a cotangent of `y` to the cotangents of `f` and its arguments. `back(dy)` may be called any
    number of times, from any thread, and changes nothing."""

    __slots__ = ("_args", "_back", "_before", "_f", "_y", "seen")
    seen: Snapshot | None
    """All that the function can see, if it is run once more for what is asked (in differentiated code)."""

    def __init__(self, f: Any, args: tuple[Any, ...], y: Any, back: Back, before: list[Any], seen: Snapshot) -> None:
        self.seen = None
        self._f = f
        self._args = args
        self._y = y
        self._back = back
        # What was saved are the caller's own arrays, those that were there `before` as well, those of y, and of the module's
        # arrays and of all lists and dicts those that f has `seen` and not written: of others there are copies.
        self._before = Snapshot.of([*before, *arrays_in((f, *args, y))]) + seen.unchanged() + made_since(seen, y)

    def __call__(self, dy: Any = _DEFAULT) -> tuple[Any, ...]:
        """`(df, dx1, ..., dxn)` for the seed `dy`, which must have the structure and shape of `y`; without a seed, 1.0
        for a real scalar `y`. Raises CotangentShapeError for a seed that does not fit."""
        with BOUNDARY:
            if dy is _DEFAULT:
                dy = self._default_seed()
            check_unchanged(self._before, "pullback")
            return gradients_of(self._f, self._args, self._back(check_seed(self._y, dy)))

    def batched(self, seeds: Any) -> tuple[Any, ...]:
        """The same for many seeds: the arrays in `seeds` have a leading axis for them, as those in what is returned do."""
        with BOUNDARY:
            count = length_of_stack(seeds, self._y, "the seeds")
            check_unchanged(self._before, "pullback")
            at_once = self._at_once(seeds, count)
            if at_once is not None:
                return at_once
            many = [taken(seeds, number, self._y) for number in range(count)] or [zeros_for(self._y)]
            found = [gradients_of(self._f, self._args, self._back(check_seed(self._y, seed))) for seed in many]
            whole: tuple[Any, ...] = stacked(found, count)
            return whole

    def _at_once(self, seeds: Any, count: int) -> tuple[Any, ...] | None:
        """The same by a text for many seeds; None if there is none."""
        many = _many()
        step = many.directions_at_once([*self._args, self._y])
        found: list[Any] = []
        for rows in many.parts_of(count, step) if count > 1 < step else ():
            bars = many.seeds_at_once(self._back, self._y, taken(seeds, rows, self._y), rows.stop - rows.start, self._args)
            if bars is None:
                return None
            for number in range(rows.stop - rows.start):
                each = (None if bar is None else taken(bar, number, x) for bar, x in zip(bars, self._args, strict=True))
                found.append(gradients_of(self._f, self._args, Bars(None, tuple(each), {})))
        return stacked(found, count) if found else None

    def _default_seed(self) -> float:
        if not is_real_scalar(self._y):
            raise CotangentShapeError(
                f"back() without a seed needs a real scalar output, and this one is {describe(self._y)}",
                None,
                "Give a seed of the output's shape: back(dy).",
            )
        return 1.0

    @property
    def source(self) -> str:
        """The source text of the adjoint of `f` for arguments of these kinds: what `code_adjoint(back)` returns."""
        text: str = importlib.import_module("microgradpy.introspect").code_adjoint(self)
        return text

    def __repr__(self) -> str:
        return f"<pullback of {getattr(self._f, '__name__', type(self._f).__name__)}>"


def check_unchanged(before: Snapshot, called: str) -> None:
    """Refuse to go on with what was saved by reference if it has been written into since."""
    changed = before.changed()
    if changed is not None:
        raise MutationError(
            f"{describe(changed)} among the arguments, of the value or of the module was changed after the call of {called}",
            None,
            f"Ask for the derivative before that, or give {called} a copy.",
        )


def own_gradient(f: Any, bar: Any) -> Any:
    """The gradient with respect to what `f` holds: None for a plain function, otherwise a Tangent over its fields."""
    match f:
        case None:
            return None
        case types.FunctionType():
            if f.__closure__ is None:
                return None
            names = set(f.__code__.co_freevars)
            fields = {name: d for name, d in dict(bar or {}).items() if name in names}
            return project(f, Tangent(type(f), fields))
        case types.MethodType():
            own = bar.get("__self__") if bar is not None else None
            return Tangent(type(f), {"__self__": project(f.__self__, own)})
        case types.BuiltinFunctionType() | np.ufunc() | type():
            return None
        case functools.partial():
            return project_partial(f, bar)
    if is_structural_zero(bar):
        return Tangent(type(f), {}) if dict_of(f) and not _is_plain_callable(f) else None
    return project(f, bar)


def _is_plain_callable(f: Any) -> bool:
    return type(f).__module__.partition(".")[0] == "numpy"


def project_partial(f: functools.partial[Any], bar: Any) -> Tangent:
    """The gradient of a `functools.partial`: its fields `func`, `args` and `keywords`."""
    fields = dict(bar or {})
    projected: dict[str, Any] = {}
    if "func" in fields:
        projected["func"] = own_gradient(f.func, fields["func"])
    if "args" in fields:
        projected["args"] = project(f.args, fields["args"])
    if "keywords" in fields:
        projected["keywords"] = project(f.keywords, fields["keywords"])
    return Tangent(type(f), projected)


def gradient_of(x: Any, bar: Any, is_fresh: Any) -> Any:
    """The gradient with respect to an argument `x`: its cotangent projected, and copied unless nobody else holds it."""
    return bar if is_fresh is PARTS or is_projected(x, bar, is_fresh) else project(x, bar)


def gradients_of(f: Any, args: tuple[Any, ...], bars: Bars) -> tuple[Any, ...]:
    """The gradient of `f` itself and one per argument."""
    fresh = bars.fresh or (False,) * len(args)
    return (own_gradient(f, bars.function), *map(gradient_of, args, bars.arguments, fresh))


def pullback(f: Callable[..., R], /, *args: Any, **kwargs: Any) -> tuple[R, Pullback]:
    """`(y, back)`: `y` is what `f(*args, **kwargs)` gives, and `back(dy)` returns `(df, dx1, ..., dxn)`, the cotangent of
    `f`'s own fields (None for a plain function) and one per positional argument. Keyword arguments are constants.
    MutationError from `back` if an array, list or dict among the arguments, in `y` or of the module was written into since."""
    if not callable(f):
        refuse_no_function(f, "pullback(f, x)", *args)
    with BOUNDARY:
        if kwargs:
            check_options(f, kwargs, (), "pullback")
        given = (*args, *kwargs.values())
        before, seen = arrays_in((f, *given)), read_by(f, given)
        RUN.repeats = False
        y, back = resolve_outermost(f, args, kwargs)
        if RUN.repeats:
            seen += Snapshot.of(x for x in all_seen_by(f, given) if not isinstance(x, np.ndarray))
        if isinstance(y, Stream):
            raise MissingRuleError(f"an iterator ({y.name}) is returned", None, "Return a list or tuple of its items.")
        return y, Pullback(f, args, y, back, before, seen)


def vjp(f: Callable[..., R], /, *args: Any, **kwargs: Any) -> tuple[R, Callable[..., tuple[Any, ...]]]:
    """`(y, back)` as JAX has it: `back(dy)` returns one cotangent per positional argument. `pullback` also has that of what `f`
    holds, and many seeds at once."""
    y, back = pullback(f, *args, **kwargs)

    def back_to_arguments(*dy: Any) -> tuple[Any, ...]:
        return back(*dy)[1:]

    vars(back_to_arguments)["pullback"] = back  # for `code_adjoint`
    return y, back_to_arguments


@told
def elementwise_grad(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, Any]:
    """A function that returns the derivative of `f` at each entry of its argument, in the shape of that, if `f` works entry by
    entry (`y[i]` depends on `x[i]` only, which is not looked at). It is the gradient of the sum of what `f` returns, as
    autograd has it; `argnums` as for `grad`."""
    if not callable(f):
        refuse_no_function(f, "elementwise_grad(f)(x)")

    @functools.wraps(f, updated=())
    def summed(*args: P.args, **kwargs: P.kwargs) -> Any:
        return np.sum(f(*args, **kwargs))

    return grad(summed, argnums)


def gradient(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """One gradient per positional argument of `f`, which must return a real scalar (NonScalarOutputError otherwise).
    None where the result cannot depend on an argument, or the argument cannot be differentiated."""
    with BOUNDARY:
        return _value_and_gradient(f, args, kwargs, has_aux=False, called="gradient")[1]


def value_and_gradient(
    f: Callable[..., R], /, *args: Any, has_aux: bool = False, **kwargs: Any
) -> tuple[R, tuple[Any, ...]]:
    """`(y, gradients)`. With `has_aux`, `f` returns `(y, aux)` and the result is `((y, aux), gradients)`."""
    with BOUNDARY:
        return _value_and_gradient(f, args, kwargs, has_aux, "value_and_gradient")


def _value_and_gradient(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], has_aux: bool, called: str
) -> tuple[Any, tuple[Any, ...]]:
    if not callable(f):
        refuse_no_function(f, f"{called}(f, x)", *args)
    if kwargs:
        check_options(f, kwargs, ("has_aux",) if called == "value_and_gradient" else (), called)
    # What a function has captured is not asked for.
    has_captured = type(f) is types.FunctionType and f.__closure__ is not None
    y, back = resolve_outermost(f, args, kwargs, (True,) * len(args) if has_captured else None)
    seed = unit_seed(f, y, has_aux)
    bars = back(check_seed(y, seed) if has_aux else seed)
    return y, gradients_of(None if has_captured else f, args, bars)[1:]


@told
def value_and_grad(
    f: Callable[P, R],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    checkpoint: Literal["sqrt", "log"] | int | None = None,
    target: Literal["source", "numba"] = "source",
) -> Callable[P, tuple[R, Any]]:
    """A function that returns `(y, gradients)` of `f`: one gradient for an int `argnums`, a tuple for a tuple. Parameters may
    be named instead: `argnums="rate"`, `argnums=("rate", "level")`, and are given by position or by name then. Only these
    arguments are differentiated; what `f` does not depend on has zeros of the argument's structure.

    With `checkpoint`, the outermost loops of `f` keep what they carry at some steps only, and the backward pass runs the steps
    between these again: at about the square root of their number ("sqrt"), at this many, or at a number that grows with the
    logarithm ("log").

    With `target="numba"` it is compiled to native code, for programs of numbers and arrays of float64, in the first call with
    arguments of some types. What has no native form, or would raise or warn, runs as generated Python; a `PerformanceWarning`
    says so of the former. ImportError if numba is not installed."""
    if not callable(f):
        refuse_no_function(f, "value_and_grad(f)(x)")
    form = _form(f, argnums, has_value=True)
    return held_gradient(_scheduled(f, checkpoint), form, has_aux, names_in(argnums), _native_heads(target))


@told
def grad(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    checkpoint: Literal["sqrt", "log"] | int | None = None,
    target: Literal["source", "numba"] = "source",
) -> Callable[P, Any]:
    """A function that returns the gradients of `f` as `value_and_grad` does, without the value; with `has_aux`,
    `(gradients, aux)`."""
    if not callable(f):
        refuse_no_function(f, "grad(f)(x)")
    form = _form(f, argnums, has_value=False)
    return held_gradient(_scheduled(f, checkpoint), form, has_aux, names_in(argnums), _native_heads(target))


def _native_heads(target: str) -> Callable[[], Any] | None:
    """What makes the heads for native code, which not everybody wants."""
    if target == "source":
        return None
    if target != "numba":
        raise ValueError(f'target={target!r}: "source" or "numba"')
    importlib.import_module("microgradpy.native.compiling").check_installed()
    made: Callable[[], Any] = importlib.import_module("microgradpy.native.entry").NativeHeads
    return made


def _scheduled(f: Callable[..., Any], checkpoint: str | int | None) -> Callable[..., Any]:
    """The function with its loops checkpointed."""
    if checkpoint is None:
        return f
    if checkpoint in ("sqrt", "log"):
        return with_schedule(f, Schedule(str(checkpoint)))  # type: ignore[no-any-return]
    if not isinstance(checkpoint, int) or isinstance(checkpoint, bool) or checkpoint < 1:
        raise ValueError(f'checkpoint={checkpoint!r}: "sqrt", "log" or how many steps are kept, from 1 on')
    return with_schedule(f, Schedule("parts", Const(checkpoint)))  # type: ignore[no-any-return]


def _form(f: Callable[..., Any], argnums: Argnums, has_value: bool) -> Form:
    numbers = numbered(f, argnums)
    return Form(numbers, False, has_value) if isinstance(numbers, tuple) else Form((numbers,), True, has_value)


def rrule_via_ad(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """`(y, pullback)` of `f`, by its rule or by differentiating it: what a rule calls that gets a function as an argument.
    `pullback(y_bar)` returns the cotangent of `f` itself and one per positional argument, as a rule's does. In a
    differentiated call, MutationError if `f` writes into what was there before."""
    with called_by_rule(f, (*args, *kwargs.values())):
        y, back = resolve_outermost(f, args, kwargs)

    def via_ad_pullback(y_bar: Any) -> tuple[Any, ...]:
        bars = back(unthunk(y_bar))
        found = map(project, (f, *args), (bars.function, *bars.arguments))
        return tuple(NoTangent() if is_structural_zero(bar) else bar for bar in found)

    NESTED_DIFFERENTIATION.add(via_ad_pullback)  # or else the derivative of a rule would lead through the compiler
    return y, via_ad_pullback


@itself(0)
def stop_gradient(x: R) -> R:
    """`x`; its derivative is zero."""
    return x


def ignore_derivatives(x: R) -> R:
    """`x`; its derivative is zero. A plain function or lambda is returned wrapped, so that its results carry none (any
    other callable object is a value)."""
    if not isinstance(x, types.FunctionType):
        return x

    @functools.wraps(x)
    def ignoring(*args: Any, **kwargs: Any) -> Any:
        return x(*args, **kwargs)

    non_differentiable(ignoring)
    wrapped: Any = ignoring
    return wrapped  # type: ignore[no-any-return]


non_differentiable(stop_gradient, ignore_derivatives)
RETURN_ARGUMENTS.update((stop_gradient, ignore_derivatives))
examples(stop_gradient, (2.0,))
examples(ignore_derivatives, (2.0,))


def _given_to_library(f: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """As `rrule_via_ad`, of a function that a library calls many times: refused if it may write into what outlives a call."""
    inner = f.__func__ if isinstance(f, types.MethodType) else f
    if isinstance(inner, types.FunctionType) and any_may_write([f]):
        held = [cell.cell_contents for cell in inner.__closure__ or () if is_filled(cell)]
        free = inner.__code__.co_freevars
        stores = [step for step in dis.get_instructions(inner) if step.opname in ("STORE_GLOBAL", "STORE_DEREF")]
        rebinds = any(step.opname == "STORE_GLOBAL" or step.argval in free for step in stores)
        if rebinds or inner is not f or not all(map(is_value, held)):
            raise MutationError(
                f"{inner.__qualname__}, which is given to a solver, may write, and uses arrays or objects of outside",
                None,
                "Let it compute its result only, or pass it what it reads by args=.",
            )
    with writes_stay_inside(f, (*args, *kwargs.values())):
        return rrule_via_ad(f, *args, **kwargs)


def _of_text(
    f: Callable[..., Any], wanted: tuple[bool, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """As `rrule_via_ad`, for some of the arguments of a function that only computes, and without a cotangent of it."""
    with called_by_rule(f, (*args, *kwargs.values())):
        try:
            y, back = resolve_outermost(f, args, kwargs, wanted)
        except MutationError:  # by a callee that it was given, which makes what it writes into
            with changed_mode(tracks=True):
                y, back = resolve_outermost(f, args, kwargs, wanted)

    def of_text_pullback(y_bar: Any) -> tuple[Any, ...]:
        bars = back(y_bar).arguments
        return tuple(project(x, bar) if flag else None for x, bar, flag in zip(args, bars, wanted, strict=True))

    NESTED_DIFFERENTIATION.add(of_text_pullback)
    return y, of_text_pullback


nested.install_differentiate(_given_to_library, _of_text)
@functools.cache
def _many() -> Any:
    """What goes in many directions at once, with forward mode, which not everybody wants."""
    return importlib.import_module("microgradpy.batch_entry")


nested.install(lambda: importlib.import_module("microgradpy.nested"))  # with forward mode, which not everybody wants
NESTED_DIFFERENTIATION.update((rrule_via_ad, _given_to_library, _of_text, pullback))
NESTED_DIFFERENTIATION.update((gradient, value_and_gradient, grad, value_and_grad, vjp, elementwise_grad))
NESTED_DIFFERENTIATION.update((Pullback.__call__, Pullback.batched))
PARTS_OF[Pullback] = ("_args", "_f")
for maker in (grad, value_and_grad):
    nested.holds(maker)
