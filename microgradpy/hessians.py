"""Second derivatives of functions that return a real number: the Hessian, and its products with vectors.

    y = f(x)                y_dot = gradient(f)(x) · v         (forward)
                            gradient of y_dot = H v            (reverse, of the text of forward mode)

So a product costs a few times a gradient, and a Hessian one product for each number of the argument.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from microgradpy.ad.tangent_calls import NotPushable
from microgradpy.ad.tangent_kinds import dot_kind
from microgradpy.binding import Binding, bind
from microgradpy.boundary import BOUNDARY
from microgradpy.cache import CACHE, Unit, followed_by, is_valid
from microgradpy.compiler import analysed, compile_unit
from microgradpy.entry import USUAL, run_half
from microgradpy.errors import CotangentShapeError, DifferentiationError, MutationError, NonScalarOutputError
from microgradpy.forward_compiler import pushforward_apart
from microgradpy.frontend.source import place_of
from microgradpy.gradient_functions import describe, is_real_scalar
from microgradpy.ir.input_kinds import kinds_of
from microgradpy.ir.reasons import MayWrite
from microgradpy.patterns import matched, renewed, unit_by_pattern
from microgradpy.plans import keep_plan, signature
from microgradpy.runtime.dispatch import value_kind
from microgradpy.runtime.markers import NESTED_DIFFERENTIATION
from microgradpy.runtime.modes import RUN
from microgradpy.state.reachable_writes import may_write
from microgradpy.tangents.projection import check_seed


def hvp(f: Callable[..., Any], x: Any, v: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The Hessian of `f(x, *args)` with respect to `x`, times `v`: of the shape of `x`, which is a real number or an array of
    real numbers, as `v` is. `f` returns a real number (NonScalarOutputError otherwise)."""
    with BOUNDARY:
        _check_real(x, f)
        return _Second(f, x, args, kwargs).times(_checked(x, v))


def hessian(f: Callable[..., Any], x: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The Hessian of `f(x, *args)` with respect to `x`: of shape `x.shape + x.shape`, a float for a number."""
    with BOUNDARY:
        _check_real(x, f)
        second = _Second(f, x, args, kwargs)
        if not isinstance(x, np.ndarray):
            return second.times(1.0)
        columns = [second.times(unit) for unit in _units(x)]
        return np.stack(columns, axis=-1).reshape(x.shape + x.shape) if columns else np.zeros(x.shape + x.shape)


def diaghessian(f: Callable[..., Any], x: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The diagonal of the Hessian of `f(x, *args)` with respect to `x`, in the shape of `x`."""
    with BOUNDARY:
        _check_real(x, f)
        second = _Second(f, x, args, kwargs)
        if not isinstance(x, np.ndarray):
            return second.times(1.0)
        return np.array([np.vdot(unit, second.times(unit)) for unit in _units(x)]).reshape(x.shape)


def hess(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the signature of `f` that returns its Hessian with respect to its first argument: what SciPy's
    `minimize` takes as `hess=`."""

    @functools.wraps(f, updated=())
    def hessian_of(x: Any, /, *args: Any, **kwargs: Any) -> Any:
        return hessian(f, x, *args, **kwargs)

    NESTED_DIFFERENTIATION.add(hessian_of)
    return hessian_of


def hessp(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function `(x, p, *args)` that returns the Hessian of `f(x, *args)` times `p`: what SciPy's `minimize` takes as
    `hessp=`."""

    @functools.wraps(f, updated=())
    def product_of(x: Any, p: Any, /, *args: Any, **kwargs: Any) -> Any:
        return hvp(f, x, p, *args, **kwargs)

    NESTED_DIFFERENTIATION.add(product_of)
    return product_of


class _Plan(NamedTuple):
    """The units of a function and of its pushforward."""

    first: Unit
    second: Unit
    watches: bool


class _Second:
    """The Hessian of a function at a place, to be multiplied."""

    def __init__(self, f: Any, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function, given = _plain(f, (x, *args))
        bound = bind(self.function, given, kwargs)
        self.place = bound.captured + len(given) - len(args) - 1
        self.values, self.x = bound.values, x
        self.plan = self._by_parts(bound) or _plan_for(self.function, bound, self.place)

    def _by_parts(self, bound: Binding) -> _Plan | None:
        """The plan by parts of the arguments, if these are in sight and only read."""
        read = matched(self.function, bound.values) if RUN.mode == USUAL else None
        read = None if read is None else renewed(self.function, read, bound.values)
        if read is None or read.pattern.objects or read.pattern.counts[self.place] is not None:
            return None
        place = sum(1 if count is None else count for count in read.pattern.counts[: self.place])
        flags = tuple(number == self.place for number in range(len(bound.values)))
        first = unit_by_pattern(self.function, read, bound.values, flags, compiled=analysed)
        if first is None:
            return None
        self.values, self.place = read.values, place
        return _second_of(self.function, first, place)

    def times(self, v: Any) -> Any:
        plan, values = self.plan, self.values
        inputs = (*values, v)
        (y, _), saved = run_half(self.function, plan.second, plan.second.primal, inputs, values if plan.watches else None)
        if not is_real_scalar(y):
            name = self.function.__qualname__
            found = f"a Hessian is that of a function that returns a real scalar, and {name} returned {describe(y)}"
            raise NonScalarOutputError(found, None, "Use jacobian(f, x) for its first derivative.")
        if not plan.second.result_active:
            return _zeros(self.x)
        assert plan.second.adjoint is not None
        with np.errstate(invalid="ignore"):
            found = plan.second.divided(plan.second.adjoint(saved, (0.0, 1.0)))[self.place]
        return _zeros(self.x) if found is None else check_seed(self.x, found)


def _plan_for(function: types.FunctionType, bound: Binding, place: int) -> _Plan:
    active = tuple(number == place for number in range(len(bound.values)))
    key = signature(function, bound, None, False, False, RUN.mode)
    of_key = None if key is None else ("hvp", place, key)
    known: _Plan | None = None if of_key is None else CACHE.plans.get(of_key)
    if known is not None and is_valid(known.first) and is_valid(known.second):
        return known
    plan = _new_plan(function, bound, place, active)
    if of_key is not None:
        keep_plan(of_key, plan)
    return plan


def _new_plan(function: types.FunctionType, bound: Binding, place: int, active: tuple[bool, ...]) -> _Plan:
    kinds = kinds_of(bound.values, value_kind)
    first = analysed(function, kinds, active)
    if isinstance(first, MayWrite) or (first.runs_unseen and may_write(function, bound.values, followed_by(first))):
        raise MutationError(
            f"{function.__qualname__} may write into what others have, too, and has no second derivative",
            place_of(function),
            "Let it make what it writes into: a Hessian is made from the text of forward mode, which such a function has not.",
        )
    return _second_of(function, first, place)


def _second_of(function: types.FunctionType, first: Unit, place: int) -> _Plan:
    """The plan for a unit in which the input at a place is differentiated."""
    kinds = first.kinds
    try:
        apart = pushforward_apart(function, first, kinds)
    except NotPushable as error:
        raise DifferentiationError(f"{function.__qualname__} has no text for forward mode: it makes {error}") from None
    second = compile_unit(function, (*kinds, dot_kind(kinds[place])), (*first.active, False), apart)
    if isinstance(second, MayWrite):
        raise DifferentiationError(
            f"{function.__qualname__} has no second derivative: what it calls is known at run time only",
            place_of(function),
            "Call functions by name.",
        )
    return _Plan(first, second, first.is_to_be_watched or second.is_to_be_watched)


def _plain(f: Any, args: tuple[Any, ...]) -> tuple[types.FunctionType, tuple[Any, ...]]:
    """The function that a call runs, and all its arguments."""
    if isinstance(f, types.FunctionType):
        return f, args
    if isinstance(f, types.MethodType) and isinstance(f.__func__, types.FunctionType):
        return f.__func__, (f.__self__, *args)
    call = getattr(type(f), "__call__", None)  # noqa: B004 - the function itself is wanted
    if isinstance(call, types.FunctionType):
        return call, (f, *args)
    raise DifferentiationError(
        f"a second derivative is that of a function with source, and {getattr(f, '__name__', type(f).__name__)} has none",
        None,
        "Let a function of Python call it.",
    )


def _checked(x: Any, v: Any) -> Any:
    try:
        return check_seed(x, v)
    except CotangentShapeError as error:
        found = error.found.replace("the seed of the value", "the vector").replace("the value", "the argument")
        raise CotangentShapeError(found, None, "It has the shape of the argument.") from None


def _zeros(x: Any) -> Any:
    return np.zeros(x.shape, x.dtype if x.dtype.kind == "f" else float) if isinstance(x, np.ndarray) else 0.0


def _units(x: np.ndarray[Any, Any]) -> Any:
    for place in range(x.size):
        unit = np.zeros(x.size, x.dtype if x.dtype.kind == "f" else float)
        unit[place] = 1.0
        yield unit.reshape(x.shape)


def _check_real(x: Any, f: Any) -> None:
    if is_real_scalar(x) or (isinstance(x, np.ndarray) and x.dtype.kind in "fiu"):
        return
    name = getattr(f, "__name__", type(f).__name__)
    raise DifferentiationError(
        f"a Hessian is one of real numbers and arrays of them, and the first argument of {name} is {describe(x)}",
        None,
        "Let a function of an array call it.",
    )


NESTED_DIFFERENTIATION.update((hvp, hessian, diaghessian, hess, hessp))
