"""`test_frule`: a forward rule against the plain call and against finite differences along tangents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from microgradpy.rules.registry import frule
from microgradpy.tangents.projection import project
from microgradpy.tangents.thunks import computed
from microgradpy.tangents.types import NoTangent, NotImplementedTangent, is_structural_zero
from microgradpy.testing import comparison
from microgradpy.testing.comparison import arrays_with_paths, call_noting_warnings, copied, difference, plain_call
from microgradpy.testing.degrees import EVERY, Outline, Vector, is_whole
from microgradpy.testing.differences import DEFAULT_FDM, readable
from microgradpy.testing.quotients import Quotients
from microgradpy.testing.stencils import FiniteDifference, precision

ForwardRule = Callable[..., Any]


@final
class ForwardCase:
    """One call of a function, what the plain call gives, and what its forward rule does."""

    def __init__(self, f: Any, frule: ForwardRule, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.f = f
        self.args = args
        self.kwargs = kwargs
        self.args_after = copied(args)
        self.y, self.warned = call_noting_warnings(plain_call, f, self.args_after, kwargs)
        self.own_args = copied(args)
        outcome, warned = self.run("the rule applies", frule, f, *self.own_args, **kwargs)
        if outcome is None:
            self.fail("there is a rule", "frule(f, *args)", None, "(y, pushforward)", "Declare one: @frule.register(f).")
        if not isinstance(outcome, tuple) or len(outcome) != 2 or not callable(outcome[1]):
            self.fail("the rule returns a value and a pushforward", "its result", repr(outcome), "(y, pushforward)")
        if warned != self.warned:
            self.fail("the rule warns of what the plain call warns of", "warnings", warned, self.warned)
        self.rule_y, self.pushforward = outcome
        self.outputs = Outline(self.y, "y", EVERY, shared=False)

    def fail(self, check: str, where: str, found: object, expected: object, note: str = "", cause: Any = None) -> Any:
        """Raise the failure of a check of this call."""
        __tracebackhide__ = True
        comparison.fail("test_frule", self.f, check, where, found, expected, note, cause)

    def run(self, check: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, list[str]]:
        """What the rule or pushforward returns, and its warnings; what it raises is a failure."""
        __tracebackhide__ = True
        try:
            return call_noting_warnings(function, *args, **kwargs)
        except Exception as error:
            return self.fail(check, "the call", f"{type(error).__name__}: {error}", "no exception", cause=error)  # type: ignore[no-any-return]

    def push(self, tangents: tuple[Any, ...]) -> Any:
        """The tangent of the value for tangents of the function and the arguments."""
        __tracebackhide__ = True
        before = copied((self.own_args, tangents, self.rule_y))
        y_dot, warned = self.run("the pushforward applies", self.pushforward, *tangents)
        if warned:
            self.fail("the pushforward does not warn", "pushforward(f_dot, x_dot, ...)", warned, [])
        after = (self.own_args, tangents, self.rule_y)
        for name, now, then in zip(("args", "tangents", "y"), after, before, strict=True):
            different = difference(readable(now), readable(then), name)
            if different is not None:
                self.fail("the pushforward changes nothing", *different)
        return computed(y_dot) if not isinstance(y_dot, NotImplementedTangent) else y_dot


def test_frule(
    f: Any,
    /,
    *args: Any,
    tangents: tuple[Any, ...] | None = None,
    fdm: FiniteDifference = DEFAULT_FDM,
    rtol: float | None = None,
    atol: float | None = None,
    frule: ForwardRule = frule,
    fkwargs: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Check the forward rule of `f` at the call `f(*args, **kwargs)`; raise an AssertionError that says which check failed,
    where, what was found and what was expected. `frule` is the function that finds rules, if not `microgradpy.frule`;
    `fkwargs` are keyword arguments of `f` that have the names of parameters here.

    The value is that of the plain call, to the last bit, with its effects and warnings; the pushforward changes nothing,
    gives the same when it is called again, is additive in its tangents, and takes `NoTangent()` for what does not move; the
    tangent of the value has its shape and precision, is real where it is real, shares no memory with the arguments, and is
    the derivative by finite differences (by `fdm`) of the plain call, within `rtol` and `atol`; all of that for tangents that
    are drawn, and for `tangents` (one for the function itself and one per argument) if they are given."""
    __tracebackhide__ = True
    case = ForwardCase(f, frule, args, {**(fkwargs or {}), **kwargs})
    _check_value(case)
    values = (f, *args)
    outlines = [Outline(x, f"args[{k - 1}]" if k else "f", shared=False) for k, x in enumerate(values)]
    tolerance = comparison.rtol_for(case.y, args) if rtol is None else rtol
    tolerances = tolerance, (max(1e-9, tolerance / 10.0) if atol is None else atol)
    given = [tuple(tangents)] if tangents is not None else []
    for moved in [*given, *(_drawn(outlines, number) for number in range(2))]:
        if len(moved) != len(values):
            raise ValueError(f"tangents has one item for the function and one per argument: {len(values)}, not {len(moved)}")
        total = case.push(moved)
        if isinstance(total, NotImplementedTangent):
            continue
        different = difference(case.push(moved), total, "y_dot")
        if different is not None:
            case.fail("the pushforward called again gives the same", *different)
        _check_tangent(case, total)
        _check_differences(case, outlines, moved, total, fdm, tolerances)
        _check_additive(case, moved, total)


test_frule.__test__ = False  # type: ignore[attr-defined]  # pytest takes functions of such names for tests


def _check_value(case: ForwardCase) -> None:
    __tracebackhide__ = True
    different = difference(readable(case.rule_y), case.y, "y")
    if different is not None:
        case.fail("the value is that of the plain call", *different)
    different = difference(case.own_args, case.args_after, "args")
    if different is not None:
        case.fail("the rule does to the arguments what the plain call does", *different)


def _drawn(outlines: list[Outline], number: int) -> tuple[Any, ...]:
    """Tangents of short decimals; NoTangent() for what cannot move."""
    draw = np.random.default_rng(number)
    vectors = [np.round(draw.uniform(-1.7, 1.7, outline.size), 2) for outline in outlines]
    pairs = zip(outlines, vectors, strict=True)
    return tuple(outline.cotangent(vector) if outline.size else NoTangent() for outline, vector in pairs)


def _check_tangent(case: ForwardCase, y_dot: Any) -> None:
    __tracebackhide__ = True
    case.run("the tangent fits", project, case.y, y_dot)
    for leaf, part in case.outputs.leaves_along(y_dot):
        where = f"tangent of {leaf.path}"
        if is_structural_zero(part):
            continue
        if np.shape(part) != np.shape(leaf.value):
            case.fail("a tangent has the shape of its value", where, np.shape(part), np.shape(leaf.value))
        if np.iscomplexobj(part) and not np.iscomplexobj(leaf.value):
            case.fail("the tangent of what is real is real", where, repr(part), "a real tangent")
        is_numpy = isinstance(part, np.ndarray | np.generic)
        if is_numpy and not is_whole(leaf.value) and precision(part) not in comparison.precisions(case.y, case.args):
            case.fail("a tangent has the precision of the call", where, part.dtype, np.asarray(leaf.value).dtype)
    for path, array in arrays_with_paths(y_dot, "tangent of y"):
        for other_path, other in arrays_with_paths(case.own_args, "args"):
            if np.shares_memory(array, other):
                case.fail("the tangent shares no memory with the arguments", path, f"memory of {other_path}", "its own")


def _check_differences(
    case: ForwardCase,
    outlines: list[Outline],
    tangents: tuple[Any, ...],
    y_dot: Any,
    fdm: FiniteDifference,
    tolerances: tuple[float, float],
) -> None:
    """The derivative along all tangents at once: the distance moved is the one argument of a function of its own."""
    __tracebackhide__ = True
    starts = [outline.vector() for outline in outlines]
    directions = [outline.along(x_dot) for outline, x_dot in zip(outlines, tangents, strict=True)]

    def at(distance: Any) -> Any:
        parts = zip(outlines, starts, directions, strict=True)
        f, *args = (o.rebuild(start + distance * d, wide=True) if o.size else copied(o.root.value) for o, start, d in parts)
        return f(*args, **case.kwargs)

    units = np.eye(case.outputs.size)
    quotients = Quotients(at, Outline(0.0, "distance"), case.outputs, list(units), fdm, *tolerances)
    wrong = quotients.disagreement([np.array([entry]) for entry in case.outputs.along(y_dot)])
    if wrong is not None:
        where = f"tangent of {case.outputs.path(wrong.seed)}"
        note = f"(tolerance {wrong.tolerance:.1g})"
        case.fail("the tangent is that of finite differences", where, wrong.found, wrong.expected, note)


def _check_additive(case: ForwardCase, tangents: tuple[Any, ...], total: Any) -> None:
    """The tangent of the value is the sum of those for one argument moving at a time."""
    __tracebackhide__ = True
    nothing = (NoTangent(),) * len(tangents)
    moving = [k for k, x_dot in enumerate(tangents) if not isinstance(x_dot, NoTangent)]
    alone = [case.push((*nothing[:k], tangents[k], *nothing[k + 1 :])) for k in moving]
    if any(isinstance(y_dot, NotImplementedTangent) for y_dot in alone):
        return
    parts: list[Vector] = [case.outputs.along(y_dot) for y_dot in alone]
    together = case.outputs.along(total)
    with np.errstate(all="ignore"):
        apart = np.sum(parts, axis=0) if parts else np.zeros_like(together)
        size = np.sum(np.abs(parts), axis=0) if parts else np.zeros_like(together)
        wrong = np.abs(together - apart) > comparison.linear_tolerance(size, total, case.y)
    if np.any(wrong):
        index = int(np.argmax(wrong))
        where = f"tangent of {case.outputs.path(index)}"
        case.fail("the pushforward is additive in its tangents", where, together[index], apart[index])


def dot_product_mismatch(frule: ForwardRule, case: Any, y_bar: Vector, bars: tuple[Any, ...]) -> tuple[float, float] | None:
    """`<y_bar, y_dot>` and `<x_bar, x_dot>` for drawn tangents, if they differ: those of transposed maps are equal, without any
    error but rounding. `case` has the call, and `bars` are its cotangents for the seed `y_bar`."""
    outcome = frule(case.f, *copied(case.args), **case.kwargs)
    if outcome is None or any(isinstance(bar, NotImplementedTangent) for bar in bars):
        return None
    outlines = [Outline(x, "x", shared=False) for x in case.values()]
    tangents = _drawn(outlines, 3)
    y_dot = outcome[1](*tangents)
    if isinstance(y_dot, NotImplementedTangent):
        return None
    terms = y_bar * case.outputs.along(computed(y_dot))
    others = [o.along(bar) * o.along(x_dot) for o, bar, x_dot in zip(outlines, bars, tangents, strict=True)]
    forward, reverse = float(np.sum(terms)), float(sum(map(np.sum, others)))
    size = float(np.sum(np.abs(terms))) + float(sum(np.sum(np.abs(part)) for part in others))
    eps = 1e-12 if comparison.rtol_for(case.y, case.args) < 1e-6 else 1e-3
    return None if abs(forward - reverse) <= eps * max(size, 1.0) or not np.isfinite(size) else (forward, reverse)
