"""`test_rrule`: a rule, or the derivative of a function's source, against the plain call and against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from microgradpy.api import rrule_via_ad
from microgradpy.errors import DifferentiationError
from microgradpy.rules.registry import OnePerArgument, frule, rrule
from microgradpy.tangents.projection import project
from microgradpy.tangents.thunks import Thunk, accumulate, accumulate_in_place, computed
from microgradpy.tangents.types import NoTangent, NotImplementedTangent, is_structural_zero
from microgradpy.testing import comparison
from microgradpy.testing.comparison import arrays_with_paths, call_noting_warnings, copied, difference, plain_call, random_seed
from microgradpy.testing.degrees import EVERY, Outline, Part, Vector, is_whole
from microgradpy.testing.differences import DEFAULT_FDM, readable
from microgradpy.testing.forward_rules import dot_product_mismatch
from microgradpy.testing.quotients import Quotients
from microgradpy.testing.stencils import FiniteDifference, precision

Pullback = Callable[[Any], tuple[Any, ...]]
Rule = Callable[..., Any]


@final
class ReverseCase:
    """One call of a function, what the plain call gives, and what its rule does."""

    def __init__(self, f: Any, rule: Rule | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.f = f
        self.args = args
        self.kwargs = kwargs
        # What the plain call has and what the rule has, each its own.
        self.args_after, self.kwargs_after = copied((args, kwargs))
        self.y, self.warned = call_noting_warnings(plain_call, f, self.args_after, self.kwargs_after)
        self.writes = difference((self.args_after, self.kwargs_after), (args, kwargs), "args") is not None
        self.own_args, self.own_kwargs = copied((args, kwargs))
        self.rule_y, self.pullback = self._apply(rule)
        self.outputs = Outline(self.y, "y", EVERY, shared=False)
        self.precisions = comparison.precisions(self.y, args)

    def fail(self, check: str, where: str, found: object, expected: object, note: str = "", cause: Any = None) -> Any:
        """Raise the failure of a check of this call."""
        __tracebackhide__ = True
        comparison.fail("test_rrule", self.f, check, where, found, expected, note, cause)

    def run(self, check: str, where: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, list[str]]:
        """What the rule or pullback returns, and its warnings; what it raises is a failure."""
        __tracebackhide__ = True
        try:
            return call_noting_warnings(function, *args, **kwargs)
        except Exception as error:
            return self.fail(check, where, f"{type(error).__name__}: {error}", "no exception", cause=error)  # type: ignore[no-any-return]

    def _apply(self, rule: Rule | None) -> tuple[Any, Pullback]:
        __tracebackhide__ = True
        outcome, warned = self.run(
            "the rule applies", "the call", rule or _found_rule(self.f), *self.own_args, **self.own_kwargs
        )
        if outcome is None:
            self.fail("there is a rule", "rrule(f, *args)", None, "(y, pullback)", "Declare one: @rrule.register(f).")
        if not isinstance(outcome, tuple) or len(outcome) != 2 or not callable(outcome[1]):
            self.fail("the rule returns a value and a pullback", "its result", repr(outcome), "(y, pullback)")
        if warned != self.warned:
            self.fail("the rule warns of what the plain call warns of", "warnings", warned, self.warned)
        return outcome[0], outcome[1]

    def name(self, k: int) -> str:
        """The name of argument number k, of which number 0 is the function itself."""
        return f"args[{k - 1}]" if k else "f"

    def values(self) -> tuple[Any, ...]:
        """The function and the arguments."""
        return self.f, *self.args

    def call_with(self, k: int) -> Callable[[Any], Any]:
        """The plain call as a function of argument number k."""

        def call(x: Any) -> Any:
            others, kwargs = (self.values(), self.kwargs) if not self.writes else copied((self.values(), self.kwargs))
            f, args = others[0], list(others[1:])
            if not k:
                return x(*args, **kwargs)
            args[k - 1] = x
            return f(*args, **kwargs)

        return call


def _found_rule(f: Any) -> Rule:
    """The registered rule of `f`, or else its derivative from its source."""

    def registered_or_derived(*args: Any, **kwargs: Any) -> Any:
        outcome = rrule(f, *args, **kwargs)
        if outcome is not None:
            return outcome
        try:
            return rrule_via_ad(f, *args, **kwargs)
        except DifferentiationError as error:
            raise DifferentiationError("there is no rule, and no way to derive one from the source") from error

    return registered_or_derived


def test_rrule(
    f: Any,
    /,
    *args: Any,
    output_tangent: Any = None,
    fdm: FiniteDifference = DEFAULT_FDM,
    rtol: float | None = None,
    atol: float | None = None,
    rule: Rule | None = None,
    frule: Callable[..., Any] | None = frule,
    may_share_seed: bool = False,
    same_precision: bool = False,
    differences: bool = True,
    fkwargs: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Check the reverse rule of `f` at the call `f(*args, **kwargs)`; raise an AssertionError that says which check failed,
    where, what was found and what was expected. Without a registered rule (or one given as `rule`), what is derived from
    the source of `f` is checked. `fkwargs` are keyword arguments of `f` that have the names of parameters here.

    The value is that of the plain call, to the last bit, with its effects and warnings; the pullback changes nothing, can be
    called again, takes thunks, is linear, and returns a tuple; what cannot be perturbed has `NoTangent()`; every cotangent has
    the shape and precision of its argument, is real where that is real, can be accumulated, is what finite differences (by
    `fdm`) of the plain call say, within `rtol` and `atol`, and shares no memory with an argument, the seed or another
    cotangent. All of that is checked for seeds that are drawn, and for `output_tangent` if it is given; single precision is
    tried as well. With a forward rule (or `frule`, a function that finds one) both have the same inner products.

    `may_share_seed` declares that the rule hands on its seed, as those of sums and reshapes do. `same_precision` refuses
    cotangents of more precision than the call has, which is lost again when they are projected. `differences=False` leaves out
    the finite differences, for a rule that is no derivative on purpose."""
    __tracebackhide__ = True
    case = ReverseCase(f, rule, args, {**(fkwargs or {}), **kwargs})
    _check_value(case)
    seeds = _seeds(case.y, output_tangent)
    if seeds[0][0] is None:  # no part of the value has a derivative: nobody calls the pullback
        return
    found = [_pulled_back(case, y_bar, may_share_seed) for y_bar, _ in seeds]
    for k in range(1 + len(args)):
        _check_cotangent(case, k, found[0][k], same_precision)
    tolerance = comparison.rtol_for(case.y, args, found) if rtol is None else rtol
    tolerances = tolerance, (max(1e-9, tolerance / 10.0) if atol is None else atol)
    if differences:
        for k in range(1 + len(args)):
            _check_differences(case, k, [bars[k] for bars in found], [vector for _, vector in seeds], fdm, tolerances)
    _check_linear(case, seeds, found, rtol or 0.0)
    _check_single_precision(case, rule, same_precision)
    _check_dot_product(case, seeds, found, frule)


test_rrule.__test__ = False  # type: ignore[attr-defined]  # pytest takes functions of such names for tests


def _check_value(case: ReverseCase) -> None:
    __tracebackhide__ = True
    different = difference(readable(case.rule_y), case.y, "y")
    if different is not None:
        case.fail("the value is that of the plain call", *different)
    for name, own, plain in (("args", case.own_args, case.args_after), ("kwargs", case.own_kwargs, case.kwargs_after)):
        different = difference(own, plain, name)
        if different is not None:
            case.fail("the rule does to the arguments what the plain call does", *different)


def _seeds(y: Any, output_tangent: Any) -> list[tuple[Any, Vector]]:
    """Cotangents of the value, with their entries."""
    drawn = [random_seed(y, number) for number in range(2)]
    if output_tangent is None:
        return drawn
    return [(output_tangent, Outline(y, "y", EVERY, shared=False).along(computed(output_tangent))), *drawn]


def _pulled_back(case: ReverseCase, y_bar: Any, may_share_seed: bool) -> tuple[Any, ...]:
    """The cotangents for a seed, after the checks of how they are made."""
    __tracebackhide__ = True
    before = copied((case.own_args, case.own_kwargs, y_bar, case.rule_y))
    bars = _call_pullback(case, "the pullback applies", y_bar)
    after = (case.own_args, case.own_kwargs, y_bar, case.rule_y)
    for name, now, then in zip(("args", "kwargs", "the seed", "y"), after, before, strict=True):
        different = difference(readable(now), readable(then), name)
        if different is not None:
            case.fail("the pullback changes nothing", *different)
    again = _call_pullback(case, "the pullback can be called again", y_bar)
    lazily = _call_pullback(case, "the pullback takes a thunk", Thunk(lambda: y_bar))
    for check, others in (("the pullback called again gives the same", again), ("a thunk gives the same", lazily)):
        different = difference(others, bars, "cotangents")
        if different is not None:
            case.fail(check, *different)
    _check_memory(case, bars, y_bar, may_share_seed)
    return bars


def _call_pullback(case: ReverseCase, check: str, y_bar: Any) -> tuple[Any, ...]:
    """The cotangents for a seed, computed, one per argument: trailing ones may be left out by a rule."""
    __tracebackhide__ = True
    pullback = case.pullback.__wrapped__ if isinstance(case.pullback, OnePerArgument) else case.pullback
    seed = y_bar.compute() if isinstance(y_bar, Thunk) and isinstance(case.pullback, OnePerArgument) else y_bar
    bars, warned = case.run(check, "pullback(y_bar)", pullback, seed)
    if not isinstance(bars, tuple):
        case.fail("the pullback returns a tuple", "its result", repr(bars), "(f_bar, x_bar, ...)")
    if warned:
        case.fail("the pullback does not warn", "pullback(y_bar)", warned, [])
    count = 1 + len(case.args)
    if len(bars) > count and not isinstance(case.pullback, OnePerArgument):
        case.fail("there is one cotangent for the function and one per argument", "the pullback's result", len(bars), count)
    bars = (*bars[:count], *[NoTangent()] * (count - len(bars)))
    return tuple(bar if isinstance(bar, NotImplementedTangent) else computed(bar) for bar in bars)


def _check_memory(case: ReverseCase, bars: tuple[Any, ...], y_bar: Any, may_share_seed: bool) -> None:
    __tracebackhide__ = True
    own = [pair for k, bar in enumerate(bars) for pair in arrays_with_paths(bar, f"cotangent of {case.name(k)}")]
    others = list(arrays_with_paths(case.own_args, "args"))
    if not may_share_seed:
        others += arrays_with_paths(y_bar, "the seed")
    for number, (path, array) in enumerate(own):
        for other_path, other in [*others, *([] if may_share_seed else own[:number])]:
            if np.shares_memory(array, other):
                note = "Copy it, or declare that the rule hands on its seed: test_rrule(..., may_share_seed=True)."
                case.fail("cotangents share no memory", path, f"memory of {other_path}", "memory of its own", note)


def _check_linear(case: ReverseCase, seeds: list[tuple[Any, Vector]], found: list[tuple[Any, ...]], rtol: float) -> None:
    """The pullback of 2 a - 3 b is twice that of a less three times that of b."""
    __tracebackhide__ = True
    (_, a), (_, b) = seeds[:2]
    y_bar = case.outputs.cotangent(2.0 * a - 3.0 * b)
    bars = _call_pullback(case, "the pullback applies", y_bar)
    for k, x in enumerate(case.values()):
        parts = [bars[k], found[0][k], found[1][k]]
        if any(isinstance(part, NotImplementedTangent) for part in parts):
            continue
        outline = Outline(x, case.name(k), parts[1])
        with np.errstate(all="ignore"):
            total, of_a, of_b = map(outline.along, parts)
            size = np.abs(of_a) * 2.0 + np.abs(of_b) * 3.0
            allowed = np.maximum(comparison.linear_tolerance(size, parts, case.y), rtol * size)
            wrong = np.abs(total - (2.0 * of_a - 3.0 * of_b)) > allowed
        if np.any(wrong):
            index = int(np.argmax(wrong))
            expected = (2.0 * of_a - 3.0 * of_b)[index]
            case.fail("the pullback is linear", f"cotangent of {outline.path(index)}", total[index], expected)


def _check_cotangent(case: ReverseCase, k: int, bar: Any, same_precision: bool) -> None:
    """Shape, precision, kind, and that it can be added to others."""
    __tracebackhide__ = True
    x, name = case.values()[k], case.name(k)
    if isinstance(bar, NotImplementedTangent):
        return
    if not Outline(x, name, EVERY).size and not isinstance(x, np.ndarray):
        if not (bar is None or isinstance(bar, NoTangent)) and _has_entries(bar):
            case.fail("what cannot be perturbed has NoTangent()", f"cotangent of {name}", repr(bar), "NoTangent()")
        return
    case.run("the cotangent fits", f"cotangent of {name}", project, x, bar)
    outline = Outline(x, name, bar)
    for leaf, part in outline.leaves_along(bar):
        _check_leaf(case, leaf, part, same_precision)
    _check_accumulation(case, outline, bar)


def _has_entries(bar: Any) -> bool:
    if isinstance(bar, list | tuple):
        return any(map(_has_entries, bar))
    return not isinstance(bar, NoTangent) and bar is not None


def _check_leaf(case: ReverseCase, leaf: Part, bar: Any, same_precision: bool) -> None:
    __tracebackhide__ = True
    where, x = f"cotangent of {leaf.path}", leaf.value
    if is_structural_zero(bar):
        return
    if np.shape(bar) != np.shape(x):
        case.fail("a cotangent has the shape of its argument", where, np.shape(bar), np.shape(x))
    if np.iscomplexobj(bar) and not np.iscomplexobj(x):
        case.fail("the cotangent of what is real is real", where, repr(bar), "a real cotangent")
    if isinstance(bar, np.ndarray | np.generic) and not is_whole(x):
        lost, gained = precision(bar) > max(case.precisions), precision(bar) < min(case.precisions)
        if lost or (gained and same_precision):
            case.fail("a cotangent has the precision of the call", where, bar.dtype, f"that of {np.asarray(x).dtype}")


def _check_accumulation(case: ReverseCase, outline: Outline, bar: Any) -> None:
    __tracebackhide__ = True
    start = np.round(np.random.default_rng(7).uniform(-1.0, 1.0, outline.size), 2)
    total = outline.cotangent(start)
    expected = outline.along(total) + outline.along(bar)
    in_place = copied(total)
    sums = [accumulate(total, bar)]
    if isinstance(total, np.ndarray):
        sums.append(accumulate_in_place(in_place, bar))
    for found in map(outline.along, sums):
        if not np.allclose(found, expected, rtol=1e-3, atol=1e-3, equal_nan=True):
            index = int(np.argmax(~np.isclose(found, expected, rtol=1e-3, atol=1e-3, equal_nan=True)))
            where = f"cotangent of {outline.path(index)}"
            case.fail("the cotangent can be accumulated", where, found[index], expected[index])


def _check_differences(
    case: ReverseCase,
    k: int,
    bars: list[Any],
    seeds: list[Vector],
    fdm: FiniteDifference,
    tolerances: tuple[float, float],
) -> None:
    __tracebackhide__ = True
    if any(isinstance(bar, NotImplementedTangent) for bar in bars):
        return
    outline = Outline(case.values()[k], case.name(k), bars[0])
    if not outline.size:
        return
    check = "the cotangent is that of finite differences"
    found = list(map(outline.along, bars))
    try:
        quotients = Quotients(case.call_with(k), outline, case.outputs, seeds, fdm, *tolerances)
        wrong = quotients.disagreement(found)
    except (TypeError, LookupError, AttributeError) as error:
        note = f"The call with other numbers in this place: {type(error).__name__}: {error}"
        case.fail(check, f"cotangent of {case.name(k)}", repr(bars[0]), "NoTangent(): it cannot be perturbed", note, error)
    else:
        if wrong is not None:
            note = f"(tolerance {wrong.tolerance:.1g}, seed number {wrong.seed})"
            case.fail(check, f"cotangent of {outline.path(wrong.component)}", wrong.found, wrong.expected, note)


def _single(x: Any) -> Any:
    is_double = isinstance(x, np.ndarray | np.generic) and x.dtype == np.float64
    return x.astype(np.float32) if is_double else x


def _check_single_precision(case: ReverseCase, rule: Rule | None, same_precision: bool) -> None:
    """The rule at arguments of single precision: finite, and about what it is in double precision."""
    __tracebackhide__ = True
    args = tuple(map(_single, case.args))
    if all(a is b for a, b in zip(args, case.args, strict=True)):
        return
    single = ReverseCase(case.f, rule, args, case.kwargs)
    y_bar, _ = random_seed(single.y, 0)
    if y_bar is None:
        return
    bars = _call_pullback(single, "the pullback applies in single precision", y_bar)
    for k, x in enumerate(single.values()):
        if isinstance(bars[k], NotImplementedTangent):
            continue
        outline = Outline(x, single.name(k), bars[k])
        for leaf, part in outline.leaves_along(bars[k]):
            _check_leaf(single, leaf, part, same_precision)
        found = outline.along(bars[k])
        if not np.all(np.isfinite(found)):
            index = int(np.argmin(np.isfinite(found)))
            single.fail("single precision stays finite", f"cotangent of {outline.path(index)}", found[index], "a number")


def _check_dot_product(
    case: ReverseCase, seeds: list[tuple[Any, Vector]], found: list[tuple[Any, ...]], frule: Callable[..., Any] | None
) -> None:
    """<y_bar, J x_dot> is <x_bar, x_dot>, without any differences, where there is a forward rule."""
    __tracebackhide__ = True
    for (_, y_bar), bars in zip(seeds, found, strict=True):
        mismatch = dot_product_mismatch(frule, case, y_bar, bars) if frule is not None else None
        if mismatch is not None:
            case.fail("the forward and the reverse rule are transposed", "<y_bar, y_dot> and <x_bar, x_dot>", *mismatch)
