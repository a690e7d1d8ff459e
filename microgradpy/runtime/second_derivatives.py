"""Second derivatives of what a pushforward leaves to run time: the rules of `pushed` and its kin.

    y, y_dot = pushed(f, None, (x,), (x_dot,), {})        y_dot = J(x) x_dot

The cotangent of x_dot is J^T y_dot_bar, which the pullback of f's rule gives; and that of x is the gradient of what that
pullback gives, times x_dot: so the text of the rule is differentiated (`rules.second_texts`).
"""

from __future__ import annotations

import functools
import operator
import types
from typing import Any

import numpy as np

from microgradpy.errors import DifferentiationError, MissingRuleError
from microgradpy.rules.entries import Rule
from microgradpy.rules.nested import SECOND_BY_CALLS, as_it_is, bars_of_values
from microgradpy.rules.registry import example, examples, is_non_differentiable, rrule
from microgradpy.rules.results import applied, cotangents, seed_for
from microgradpy.rules.second_texts import bars_and_back, filled
from microgradpy.runtime.dispatch import NESTED
from microgradpy.runtime.foreign import is_foreign
from microgradpy.runtime.pushforwards import Dots, is_plain_value, pushed, pushed_by_rule, pushed_packed, seed_of
from microgradpy.runtime.rule_calls import name_of
from microgradpy.runtime.special_methods import IMMUTABLE, IN_PLACE
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.projection import zeros_for
from microgradpy.tangents.types import NoTangent, NotImplementedTangent, accumulate, is_structural_zero

Parts = tuple[Any, ...]


@rrule.register(pushed_by_rule)
def pushed_by_rule_rrule(f: Any, rule: Rule, name: str, args: Parts, dots: Dots, kwargs: dict[str, Any]) -> Any:
    """By the text of the rule."""
    y, y_dot = pushed_by_rule(f, rule, name, args, dots, kwargs)

    def pushed_by_rule_pullback(bars: Any) -> Parts:
        x_bars, dot_bars = second_bars(f, rule, name, args, dots, kwargs, y, bars)
        return NoTangent(), NoTangent(), NoTangent(), NoTangent(), x_bars, dot_bars, NoTangent()

    return (y, y_dot), pushed_by_rule_pullback


@rrule.register(pushed)
def pushed_rrule(f: Any, f_dot: Any, args: Parts, dots: Dots, kwargs: dict[str, Any]) -> Any:
    """By the text of the rule of what is called; of a function that has none by its own text, which is run once more."""
    if isinstance(f, types.FunctionType) and f in SECOND_BY_CALLS and not kwargs:
        return SECOND_BY_CALLS[f](pushed_rrule, args, dots)
    before = as_it_is(1, ((f, None, args, kwargs), (f_dot, None, dots, None))) if has_text(f) else None
    y, y_dot = pushed(f, f_dot, args, dots, kwargs)
    if zeros_for(y) is None:  # of a comparison
        return (y, y_dot), lambda _: (NoTangent(),) * 6
    rule = rule_of(f, f_dot, args, kwargs)

    def pushed_pullback(bars: Any) -> Parts:
        if rule is None:
            (f_bar, _, x_bars, named), (f_dot_bar, _, dot_bars, _) = bars_of_values(1, None, before, bars) or _NOTHING
            return NoTangent(), f_bar, f_dot_bar, x_bars, dot_bars, named
        x_bars, dot_bars = second_bars(f, rule, name_of(f), args, dots, kwargs, y, bars)
        return NoTangent(), NoTangent(), NoTangent(), x_bars, dot_bars, NoTangent()

    return (y, y_dot), pushed_pullback


_NOTHING = (None,) * 4, (None,) * 4


@rrule.register(pushed_packed)
def pushed_packed_rrule(f: Any, f_dot: Any, args: Any, kwargs: Any, dots: Any, keyword_dots: Any) -> Any:
    """The same of `f(*args, **kwargs)`."""
    given, named_dots = tuple(args), None if is_structural_zero(keyword_dots) else keyword_dots
    moved = (None,) * len(given) if is_structural_zero(dots) else tuple(dots)
    rule = rule_of(f, f_dot, given, kwargs)
    before = as_it_is(1, ((f, None, given, kwargs), (f_dot, None, moved, named_dots))) if rule is None else None
    y, y_dot = pushed_packed(f, f_dot, args, kwargs, dots, keyword_dots)

    def pushed_packed_pullback(bars: Any) -> Parts:
        if rule is None:
            (f_bar, _, x_bars, named), (f_dot_bar, _, dot_bars, own) = bars_of_values(1, None, before, bars) or _NOTHING
            return NoTangent(), f_bar, f_dot_bar, x_bars, named, dot_bars, own
        if named_dots is not None:
            raise _without_second(f)
        x_bars, dot_bars = second_bars(f, rule, name_of(f), given, moved, dict(kwargs), y, bars)
        return NoTangent(), NoTangent(), NoTangent(), x_bars, NoTangent(), dot_bars, NoTangent()

    return (y, y_dot), pushed_packed_pullback


_X, _DOT = np.array([0.5, 1.5]), np.array([1.0, -0.5])
example(pushed, operator.itruediv, None, (2.0, 0.5), (1.0, 0.3), {})
examples(pushed, (np.sin, None, (_X,), (_DOT,), {}), (np.prod, None, (_X,), (_DOT,), {}))
example(pushed, np.maximum, None, (_X, 1.2), (_DOT, 0.5), {})
example(pushed_packed, np.maximum, None, (_X, 1.2), {}, (_DOT, 0.5), None)


def _product_rrule(x: Any, y: Any) -> Any:
    return x * y, lambda z_bar: (NoTangent(), unbroadcast(z_bar * y, x), unbroadcast(z_bar * x, y))


example(pushed_by_rule, None, _product_rrule, "product", (_X, 2.0), (_DOT, 0.5), {})


def rule_of(f: Any, f_dot: Any, args: Parts, kwargs: dict[str, Any]) -> Rule | None:
    """The rule of what is called at run time, None of a function that has a text of its own; refused if there is neither, or a
    callee or an argument may have methods of its own that are meant."""
    if has_text(f):
        return None
    if args and isinstance(f, types.BuiltinFunctionType) and f in IN_PLACE and isinstance(args[0], IMMUTABLE):
        f = IN_PLACE[f][1]
    rule: Rule | None = rrule.find_for(f, args, kwargs)
    is_of_scipy = isinstance(f, types.FunctionType) and str(f.__module__).partition(".")[0] == "scipy"
    is_meant = is_of_scipy or all(map(is_plain_value, args))
    if rule is None or not is_structural_zero(f_dot) or not is_meant:
        raise _without_second(f)
    return rule


def _without_second(f: Any) -> MissingRuleError:
    found = f"{name_of(f)} has no second derivative: it is called where it is known at run time only, and has no rule"
    return MissingRuleError(found, None, "Call it by its name.")


def has_text(f: Any) -> bool:
    """Whether a callable runs a function with source that has no rule."""
    while isinstance(f, functools.partial):
        f = f.func
    own: Any = f.__func__ if isinstance(f, types.MethodType) else f
    own = own if isinstance(own, types.FunctionType | type) else getattr(type(own), "__call__", None)  # noqa: B004
    return isinstance(own, types.FunctionType) and not (rrule.has(own) or is_non_differentiable(own) or is_foreign(own))


def second_bars(
    f: Any, rule: Rule, name: str, args: Parts, dots: Dots, kwargs: dict[str, Any], y: Any, bars: Any
) -> tuple[Parts | None, Parts | None]:
    """The cotangents of the arguments of a call and of their tangents, from those of its value `y` and of its tangent."""
    y_bar, y_dot_bar = (None, None) if is_structural_zero(bars) else bars
    x_bars: Parts = (None,) * len(args)
    dot_bars: Parts = (None,) * len(args)
    if not is_structural_zero(y_dot_bar) and not all(map(is_structural_zero, dots)):
        y_part, x_bars, dot_bars = _of_tangent(rule, name, args, dots, kwargs, y, y_dot_bar)
        y_bar = accumulate(y_bar, y_part)
    if not is_structural_zero(y_bar):
        _, pullback = applied(rule, args, kwargs, "pullback")
        found = filled(cotangents(rule, pullback, seed_for(rule, y, y_bar))[1:], len(args))
        _refuse_missing(found, dots)
        x_bars = tuple(map(accumulate, x_bars, found))
    return x_bars, dot_bars


def _of_tangent(
    rule: Rule, name: str, args: Parts, dots: Dots, kwargs: dict[str, Any], y: Any, y_dot_bar: Any
) -> tuple[Any, Parts, Parts]:
    """The cotangents of the value, the arguments and their tangents, from that of the value's tangent."""
    wanted = tuple(not is_structural_zero(dot) for dot in dots)
    try:
        dot_bars, back = bars_and_back(rule, wanted, y_dot_bar, y, args, kwargs)
        _, y_bar, x_bars = back(tuple(map(seed_of, dot_bars, dots)))
        _refuse_missing(x_bars, dots)
        return y_bar, x_bars, dot_bars
    except DifferentiationError as error:
        found = "its rule differentiates a function itself" if error.found.startswith(NESTED) else error.found
        raise MissingRuleError(
            f"{name} has no second derivative: {found}",
            None,
            "Write it by operations that have one, or give the argument stop_gradient(x).",
        ) from error


def _refuse_missing(bars: Parts, dots: Dots) -> None:
    """Refuse what is not implemented of an argument that moves."""
    for bar, dot in zip(bars, dots, strict=True):
        if isinstance(bar, NotImplementedTangent) and not is_structural_zero(dot):
            bar.refuse()
