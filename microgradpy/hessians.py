"""Second derivatives of functions that return a real number: the Hessian, and its products with vectors.

    y = f(x)                y_dot = gradient(f)(x) · v         (forward)
                            gradient of y_dot = H v            (reverse, of the text of forward mode)

So a product costs a few times a gradient, and a Hessian one product for each number of the argument.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from microgradpy.batch_entry import parts_at_once
from microgradpy.batch_hessians import bars_in_many
from microgradpy.binding import bind
from microgradpy.boundary import BOUNDARY
from microgradpy.cache import CACHE, Unit, is_valid
from microgradpy.call_heads import CallHeads, Head, straight, unpacked
from microgradpy.entry import run_half
from microgradpy.errors import CotangentShapeError, DifferentiationError, NonScalarOutputError
from microgradpy.gradient_functions import describe, is_real_scalar, note_held, remedy_for
from microgradpy.heads import test_of_array
from microgradpy.plans import UNIT_SEEDS, Plan, keep_plan, signature
from microgradpy.rules.nested import holds
from microgradpy.runtime.markers import NESTED_DIFFERENTIATION
from microgradpy.runtime.modes import RUN
from microgradpy.sparsity.chosen import Sparsity
from microgradpy.sparsity.maps import LinearMap
from microgradpy.sparsity.patterns import Array, Pattern, given_pattern, joined, transposed
from microgradpy.tangents.projection import check_seed
from microgradpy.tangents.strong_zeros import has_nan
from microgradpy.tangents.types import is_structural_zero
from microgradpy.towers import NotByParts, Place, Tower, bars_at_one, filled_seed, outermost
from microgradpy.usage import P, check_options, refuse_no_function, told


def hvp(f: Callable[..., Any], x: Any, v: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The Hessian of `f(x, *args)` with respect to `x`, times `v`: of the shape of `x`, which is a real number or an array of
    real numbers, as `v` is. `f` returns a real number (NonScalarOutputError otherwise)."""
    if not callable(f):
        refuse_no_function(f, "hvp(f, x, v)", x)
    with BOUNDARY:
        head = None if kwargs else HEADS.heads.get(id(f))
        found = None if head is None else head(f, x, v, args)
        if found is not None:
            return found
        _check_real(x, f)
        seed = _checked(x, v)
        found = _by_known_plan(f, x, seed, args, kwargs)
        if found is None:
            return _Second(f, x, args, kwargs).times(seed)
        if seed is v and not kwargs:
            HEADS.went(_head, f, x, v, args)
        return found


def hessian(f: Callable[..., Any], x: Any, /, *args: Any, sparsity: Any = None, **kwargs: Any) -> Any:
    """The Hessian of `f(x, *args)` with respect to `x`: of shape `x.shape + x.shape`, a float for a number. With `sparsity`, as
    of `jacobian`, a `scipy.sparse.csc_array` of shape `(x.size, x.size)`; of a pattern one triangle is enough."""
    return _hessian(f, x, args, kwargs, None if sparsity is None else Sparsity(sparsity))


def _hessian(f: Any, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any], sparsity: Sparsity | None) -> Any:
    if not callable(f):
        refuse_no_function(f, "hessian(f, x)", x)
    with BOUNDARY:
        if kwargs:
            check_options(f, kwargs, ("sparsity",), "hessian")
        _check_real(x, f)
        second = _Second(f, x, args, kwargs)
        if sparsity is not None:
            return _sparse(f, x, second, sparsity)
        if not isinstance(x, np.ndarray):
            return second.times(1.0)
        columns = second.times_all(_units(x)) or [second.times(unit) for unit in _units(x)]
        return np.stack(columns, axis=-1).reshape(x.shape + x.shape) if columns else np.zeros(x.shape + x.shape)


def diaghessian(f: Callable[..., Any], x: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The diagonal of the Hessian of `f(x, *args)` with respect to `x`, in the shape of `x`."""
    if not callable(f):
        refuse_no_function(f, "diaghessian(f, x)", x)
    with BOUNDARY:
        _check_real(x, f)
        second = _Second(f, x, args, kwargs)
        if not isinstance(x, np.ndarray):
            return second.times(1.0)
        columns = second.times_all(_units(x)) or [second.times(unit) for unit in _units(x)]
        return np.array([np.vdot(unit, column) for unit, column in zip(_units(x), columns, strict=True)]).reshape(x.shape)


def _sparse(f: Any, x: Any, second: _Second, sparsity: Sparsity) -> Any:
    """The Hessian by products with sums of unit vectors."""
    dtype = x.dtype if isinstance(x, np.ndarray) and x.dtype.kind == "f" else np.dtype(float)
    size = np.size(x)

    def times(vector: Array) -> Array:
        v = vector.reshape(x.shape).astype(dtype) if isinstance(x, np.ndarray) else float(vector[0])
        return np.ravel(second.times(v)).astype(float, copy=False)

    def times_all(vectors: Array) -> Array | None:
        stack = vectors.reshape(-1, *x.shape).astype(dtype) if isinstance(x, np.ndarray) else vectors[:, 0]
        columns = second.times_all(stack, takes_nan=has_nan(vectors))
        return None if columns is None else np.stack(columns).reshape(len(vectors), size)

    def read(given: Any) -> Pattern:
        half = given_pattern(given, (size, size), np.shape(x) * 2)
        return joined(half, transposed(half))

    linear = LinearMap((size, size), times, lambda: None, dtype, times_all)  # from the left and from the right it is the same
    name = f"the Hessian of {getattr(f, '__name__', type(f).__name__)}"
    return sparsity.matrix(linear, (size,), read, name).astype(dtype, copy=False)


@told
def hess(f: Callable[P, Any], sparsity: Any = None) -> Callable[P, Any]:
    """A function with the signature of `f` that returns its Hessian with respect to its first argument: what SciPy's
    `minimize` takes as `hess=`. With `sparsity`, a sparse one, as of `jac`."""
    if not callable(f):
        refuse_no_function(f, "hess(f)(x)")
    chosen = None if sparsity is None else Sparsity(sparsity)

    def hessian_of(x: Any, /, *args: Any, **kwargs: Any) -> Any:
        return _hessian(f, x, args, kwargs, chosen)

    wrapped: Any = functools.update_wrapper(hessian_of, f, updated=())
    if chosen is None:
        note_held(hessian_of, "hess", f)
    NESTED_DIFFERENTIATION.add(hessian_of)
    return wrapped  # type: ignore[no-any-return]


@told
def hessp(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function `(x, p, *args)` that returns the Hessian of `f(x, *args)` times `p`: what SciPy's `minimize` takes as
    `hessp=`."""
    if not callable(f):
        refuse_no_function(f, "hessp(f)(x)")

    @functools.wraps(f, updated=())
    def product_of(x: Any, p: Any, /, *args: Any, **kwargs: Any) -> Any:
        return hvp(f, x, p, *args, **kwargs)

    note_held(product_of, "hessp", f)
    return product_of


class _Plan(NamedTuple):
    """How a product is made for arguments of these types and shapes: by the pushforward of the unit of a function, which is
    `second`, and gives the tangent only if it `is_alone`."""

    second: Plan
    first: Unit
    is_alone: bool


def _by_known_plan(f: Any, x: Any, v: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The product, if there is a plan for such arguments; None if there is none."""
    if not isinstance(f, types.FunctionType):
        return None
    bound = bind(f, (x, *args), kwargs)
    key = signature(f, bound, None, False, False, RUN.mode)
    plan: _Plan | None = None if key is None else CACHE.plans.get(("hvp", key))
    if plan is None or not (is_valid(plan.first) and is_valid(plan.second.unit)):
        return None
    unit, values = plan.second.unit, [*bound.values, v]
    with outermost(f):
        value, saved = run_half(f, unit, unit.primal, values, values if plan.second.watches else None)
    return _of_value(f, x, bound.captured, plan, values, value, saved)


def _of_value(f: Any, x: Any, at: int, plan: _Plan, values: list[Any], value: Any, saved: Any) -> Any:
    """The product from what the primal of a plan has given, if `x` is its input number `at`."""
    unit = plan.second.unit
    if plan.is_alone and type(value) in UNIT_SEEDS:
        return _shaped(x, bars_at_one(plan.second, values, value, saved)[at])
    seed = 1.0 if plan.is_alone else seed_of(f, value)
    assert unit.adjoint is not None
    with np.errstate(invalid="ignore"):
        bars = unit.divided(unit.adjoint(saved, filled_seed(seed, value)))
    return _shaped(x, bars[at])


HEADS = CallHeads()


def _head(f: types.FunctionType, x: Any, v: Any, args: tuple[Any, ...]) -> Head | None:
    """The head for calls of `hvp` like this one."""
    bound = bind(f, (x, *args), {})
    key = signature(f, bound, None, False, False, RUN.mode)
    plan: _Plan | None = None if key is None else CACHE.plans.get(("hvp", key))
    taken = None if plan is None else plan.second.adjoint_of_gradient()
    if plan is None or taken is None or not plan.is_alone or plan.second.watches or not plan.second.unit.is_single:
        return None
    adjoint, fresh, _ = taken
    unit = plan.second.unit
    made = straight(f, bound, 1 + len(args), unit, unit.primal, adjoint, first=plan.first)
    if made is None or type(x) not in (float, np.ndarray):
        return None
    k = made.k
    made.reads[:0] = [f"{unpacked([f'x{1 + index}' for index in range(len(args))])} = args"]
    made.tests.append(f"type(v) is {k(float)}" if type(x) is float else test_of_array("v", x, k))
    inputs = ", ".join([*made.inputs, "v"])
    ready, own = (f"type(b) is {k(float)}", "b") if type(x) is float else (test_of_array("b", x, k), "b.copy()")
    body = [
        f"y, saved = {k(unit.primal)}({inputs})",
        f"one = {k(UNIT_SEEDS)}.get(type(y))",
        "if one is not None:",
        f"    with {k(np.errstate)}(invalid='ignore'):",
        f"        b = {k(adjoint)}(saved, one)",
        f"    if {ready}: return {'b' if fresh[bound.captured] else own}",
        f"return {k(_of_value)}(f, x0, {bound.captured}, {k(plan)}, [{inputs}], y, saved)",
    ]
    return made.head("f, x0, v, args", body)


def _shaped(x: Any, found: Any) -> Any:
    return _zeros(x) if is_structural_zero(found) else check_seed(x, found)


def seed_of(f: Any, value: Any) -> tuple[None, float]:
    """The seed for a value with its tangent, of which the gradient is the product."""
    y = value[0]
    if type(y) is not float and not is_real_scalar(y):
        name = getattr(f, "__qualname__", type(f).__name__)
        found = f"a Hessian is that of a function that returns a real scalar, and {name} returned {describe(y)}"
        remedy = "Use jacobian(f, x) for its first derivative." if isinstance(y, np.ndarray) and y.size > 1 else remedy_for(y)
        raise NonScalarOutputError(found, None, remedy)
    return None, 1.0


class _OneByOne(Exception):
    """There is no text for many directions."""


class _Second:
    """The Hessian of a function at a place, to be multiplied."""

    def __init__(self, f: Any, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.f, self.x = f, x
        self.given = (x, *args), kwargs
        self.tower = self._at(by_parts=True)

    def _at(self, by_parts: bool) -> Tower:
        args, kwargs = self.given
        return Tower.at(Place.of(self.f, args, by_parts, kwargs))

    def times(self, v: Any) -> Any:
        try:
            found = self._times(v)
        except NotByParts:
            self.tower = self._at(by_parts=False)
            found = self._times(v)
        return _shaped(self.x, found)

    def times_all(self, units: Iterable[Any], takes_nan: bool = False) -> list[Any] | None:
        """The products with some vectors, all at once; None if they have to be made one by one, as where NaN comes out, unless
        it `takes_nan` as it is."""
        vectors = list(units)
        try:
            parts = parts_at_once(len(vectors), self.tower.values)
            found = [self._times_some(np.stack(vectors[part]), takes_nan) for part in parts]
        except (NotByParts, _OneByOne):
            return None
        return [column for columns in found for column in columns] or None

    def _times_some(self, stack: np.ndarray[Any, Any], takes_nan: bool) -> Any:
        place = self.tower.place
        wanted = place.wanted((0,), own=False)
        higher = self.tower.along(place.dots(None, (stack[0],), None))
        flags = (*wanted, *(False,) * (len(higher.values) - len(wanted)))
        stacks = place.dots(None, (stack,), None)
        bars = bars_in_many(higher, stacks, flags, len(stack), functools.partial(seed_of, self.f), takes_nan)
        found = None if bars is None else place.bars(bars[: len(wanted)])[1][0]
        if not isinstance(found, np.ndarray) or found.shape != stack.shape:
            raise _OneByOne
        return found

    def _times(self, v: Any) -> Any:
        place = self.tower.place
        wanted = place.wanted((0,), own=False)
        higher = self.tower.along(place.dots(None, (v,), None))
        flags = (*wanted, *(False,) * (len(higher.values) - len(wanted)))
        higher = higher.alone() or higher
        _, bars = higher.value_and_bars(flags, functools.partial(seed_of, self.f))
        self._note(higher, flags)
        return place.bars(bars[: len(wanted)])[1][0]

    def _note(self, higher: Tower, wanted: tuple[bool, ...]) -> None:
        """Keep how it was made, where the inputs are those of the function."""
        place = higher.place
        key = signature(self.f, place.bound, None, False, False, RUN.mode) if isinstance(self.f, types.FunctionType) else None
        if key is None or place.pattern is not None or place.callee.function is not self.f or not any(higher.masks[-1]):
            return
        second, first = higher.units(wanted)
        if second.result_active and any(second.active):
            keep_plan(("hvp", key), _Plan(Plan.of(second, higher.values), first, higher.is_alone))


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
holds(hess)
holds(hessp)
