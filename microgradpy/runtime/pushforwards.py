"""The tangent of a call's value, at run time.

`pushed(f, f_dot, args, dots, kwargs)` computes `f(*args, **kwargs)` and the tangent of it for tangents of `f` itself and of the
positional arguments, None being zero. It takes a forward rule where there is one; goes through the source of a Python
function, for which the compiler installs its entry here; and otherwise transposes the pullback, which is a linear map: by
differentiating it, or by asking it for one seed after the other.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np

from microgradpy.errors import DifferentiationError, MissingRuleError
from microgradpy.rules.linearity import keeps_linear, linear_arguments
from microgradpy.rules.registry import ForwardRule, Rule, frule, is_non_differentiable, rrule
from microgradpy.rules.results import applied, cotangents
from microgradpy.runtime import dispatch
from microgradpy.runtime.bars import Back, Bars, Wanted
from microgradpy.runtime.cotangents import missing_cotangent
from microgradpy.runtime.frames import call_as_user
from microgradpy.runtime.modes import RUN
from microgradpy.runtime.opaque import check_spread
from microgradpy.runtime.protocols import has_protocol
from microgradpy.runtime.python_ufuncs import makes_or_is_loop, pushed_ufunc
from microgradpy.runtime.tangents import VIEWS
from microgradpy.tangents.arithmetic import has_real_objects
from microgradpy.tangents.pairing import is_transparent, pairing, tangent_by_pairing
from microgradpy.tangents.projected import Projected
from microgradpy.tangents.projection import fill_zeros, project, zeros_for
from microgradpy.tangents.thunks import computed
from microgradpy.tangents.types import NotImplementedTangent, Tangent, accumulate, is_structural_zero

Dots = tuple[Any, ...]


class ForwardEntry(Protocol):
    """The compiler's entry: push tangents through a Python function's own source; None if that cannot be done."""

    def __call__(
        self, function: types.FunctionType, f_dot: Any, args: tuple[Any, ...], dots: Dots, kwargs: dict[str, Any]
    ) -> tuple[Any, Any] | None: ...


class Resolve(Protocol):
    """The value of a call and its pullback, in a run of its own."""

    def __call__(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted = None
    ) -> tuple[Any, Back]: ...


_entry: list[ForwardEntry] = []
_resolve: list[Resolve] = []


def install(entry: ForwardEntry, resolve: Resolve) -> None:
    """Called once by the compiler."""
    _entry[:], _resolve[:] = [entry], [resolve]


def pushed(f: Any, f_dot: Any, args: tuple[Any, ...], dots: Dots, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The value of a call and its tangent, which is None where it is zero."""
    if is_structural_zero(f_dot) and all(map(is_structural_zero, dots)):
        return call_as_user(f, args, kwargs), None
    if isinstance(f, types.MethodType):
        own = None if is_structural_zero(f_dot) else f_dot.get("__self__")
        return pushed(f.__func__, None, (f.__self__, *args), (own, *dots), kwargs)
    if makes_or_is_loop(f, args, kwargs):
        return pushed_ufunc(f, f_dot, args, dots, pushed)
    call = getattr(type(f), "__call__", None)  # noqa: B004 - the function itself is wanted
    if isinstance(call, types.FunctionType) and not rrule.has(f) and not has_protocol(f):
        return pushed(call, None, (f, *args), (f_dot, *dots), kwargs)
    forward = frule.find_for(f, args, kwargs)
    if forward is not None:
        return _by_forward_rule(f, forward, f_dot, args, dots, kwargs, {})
    if isinstance(f, types.FunctionType) and not rrule.has(f) and not is_non_differentiable(f):
        found = _entry[0](f, f_dot, args, dots, kwargs)
        if found is not None:
            return found
        return _by_pullback(f, f_dot, args, dots, kwargs)
    if all(map(_is_plain, args)) and is_structural_zero(f_dot):
        # An operator or a builtin may call a method of an object's class, which is not what its rule is about.
        found = _by_reverse_rule(f, args, dots, kwargs)
        if found is not None:
            return found
    return _by_pullback(f, f_dot, args, dots, kwargs)


def _by_reverse_rule(f: Any, args: tuple[Any, ...], dots: Dots, kwargs: dict[str, Any]) -> tuple[Any, Any] | None:
    """By the transpose of the pullback, if there is a rule."""
    if is_non_differentiable(f):
        return call_as_user(f, args, kwargs), None
    reverse = rrule.find_for(f, args, kwargs)
    if reverse is None:
        return None
    y, push = derived(f, reverse, args, kwargs)
    return y, push(None, *dots)


def _by_pullback(f: Any, f_dot: Any, args: tuple[Any, ...], dots: Dots, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """By the pullback, which is asked one seed after the other."""
    y, back = dispatch.resolve(f, args, kwargs, keywords_wanted=False)
    return y, by_pairing(_checked_value(y, dispatch.name_of(f), rrule.has(f)), (f, *args), back, (f_dot, *dots))


def _is_plain(x: Any) -> bool:
    """Whether a value is one of Python's or NumPy's own, and all items are."""
    if type(x) in (list, tuple):
        return all(map(_is_plain, x))
    if type(x) is dict:
        return all(map(_is_plain, x.values()))
    return type(x) in _PLAIN or isinstance(x, np.generic) or is_structural_zero(x)


_PLAIN = frozenset((int, float, complex, bool, str, bytes, type(None), slice, range, type(...), np.ndarray, np.dtype, type))


def pushed_packed(f: Any, f_dot: Any, args: Any, kwargs: Any, dots: Any, keyword_dots: Any) -> tuple[Any, Any]:
    """The same for `f(*args, **kwargs)`, with the tangents of all arguments as one tuple and one dict."""
    check_spread(f, args, kwargs)
    args = tuple(args)
    positional = (None,) * len(args) if is_structural_zero(dots) else tuple(dots)
    named = {} if is_structural_zero(keyword_dots) else keyword_dots
    if all(is_structural_zero(dot) for dot in named.values()):
        return pushed(f, f_dot, args, positional, dict(kwargs))
    forward = frule.find_for(f, args, kwargs)
    if forward is not None:
        return _by_forward_rule(f, forward, f_dot, args, positional, dict(kwargs), named)
    y, back = dispatch.resolve(f, args, dict(kwargs))
    _checked_value(y, dispatch.name_of(f), rrule.has(f))

    def pair(y_bar: Any) -> float:
        bars = _asked(back, y_bar)
        found = map(_in_structure, (f, *args), (bars.function, *bars.arguments))
        return sum(map(pairing, found, (f_dot, *positional)), pairing(dict(bars.keywords), named))

    return y, tangent_by_pairing(y, pair)


def pushed_by_rule(
    rule: Rule, name: str, args: tuple[Any, ...], dots: Dots, kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """The value by a reverse rule, and its tangent by the transpose of the pullback."""
    y, pullback = applied(rule, args, kwargs, "pullback")

    if all(map(is_structural_zero, dots)):
        return y, None
    return y, _transposed(y, pullback, (None, *_filled(dots, args)), partial(_check_complete, rule, name, args))


def _check_complete(rule: Rule, name: str, args: tuple[Any, ...], bars: Any) -> None:
    """Refuse a rule that gives no cotangent for an argument that has one, or too many."""
    cotangents(rule, lambda _: bars, None)
    for index in range(len(bars) - 1, len(args)):
        missing_cotangent(args[index], rule, name, index)


def _by_forward_rule(
    f: Any, rule: ForwardRule, f_dot: Any, args: tuple[Any, ...], dots: Dots, kwargs: dict[str, Any], named: dict[str, Any]
) -> tuple[Any, Any]:
    """`named` has the tangents of the keyword arguments, which have to be among the rule's positional parameters."""
    if kwargs:
        wanted = {name for name, dot in named.items() if not _is_zero(dot)}
        args, kwargs, names = dispatch.positional(f, rule, args, kwargs, keywords_wanted=False)
        _refuse_keywords(f, wanted.difference(names))
        dots = (*dots, *(named.get(name) for name in names))
    y, push = applied(rule, args, kwargs, "pushforward")
    given = [_or_zero(dot, x) for dot, x in zip(dots, args, strict=True)]
    y_dot = computed(push(f_dot, *given))
    if isinstance(y_dot, NotImplementedTangent):
        y_dot.refuse()
    return y, None if is_structural_zero(y_dot) else y_dot


def _is_zero(dot: Any) -> bool:
    """Whether a tangent adds nothing. That of a constant is a number where the compiler packed the arguments."""
    return is_structural_zero(dot) or (isinstance(dot, float | complex | np.generic | np.ndarray) and not np.any(dot))


def _refuse_keywords(f: Any, names: set[str]) -> None:
    if names:
        found = f"a keyword argument of {dispatch.name_of(f)} has a tangent, which its forward rule does not take"
        raise MissingRuleError(found, None, "Give it by position.")


def _or_zero(dot: Any, x: Any) -> Any:
    return zeros_for(x) if is_structural_zero(dot) else dot


def _filled(dots: Dots, args: tuple[Any, ...]) -> Dots:
    """The tangents that are not zero, with zeros for what is missing inside of them: NumPy takes a list of numbers as an
    array."""
    return tuple(None if is_structural_zero(dot) else fill_zeros(x, dot) for dot, x in zip(dots, args, strict=True))


def derived(
    f: Any, rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Callable[..., Any]]:
    """The value of a call by its reverse rule, and the pushforward: the transpose of the pullback."""
    names: list[str] = []
    if kwargs or not dispatch.takes(rule, len(args)):
        args, kwargs, names = dispatch.positional(f, rule, args, kwargs, keywords_wanted=False)
    y, pullback = applied(rule, args, kwargs, "pullback")

    def derived_pushforward(f_dot: Any, *dots: Any) -> Any:
        given = _filled((*dots, *(None for _ in names)), args)
        total, rest = _applied_again(f, rule, args, kwargs, given)
        wanted = (f_dot, *rest)
        if all(map(is_structural_zero, wanted)):
            return None if total is None else _projected(y, total)
        return accumulate(total, _by_transpose(wanted))

    def _by_transpose(wanted: Dots) -> Any:
        return _transposed(y, pullback, wanted, partial(_check_complete, rule, dispatch.name_of(f), args))

    return y, derived_pushforward


def _applied_again(
    f: Any, rule: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dots: Dots
) -> tuple[Any, Dots]:
    """The part of a tangent that comes from arguments which the call is linear in, by the call with their tangents; and the
    tangents of the others."""
    places = linear_arguments(f)
    names = rule.__code__.co_varnames[: len(args)] if places and isinstance(rule, types.FunctionType) else ()
    if len(names) < len(args) or not keeps_linear((*names, *kwargs), (*args, *kwargs.values())):
        return None, dots
    total, rest = None, list(dots)
    for place in places:
        if place < len(args) and type(dots[place]) is type(args[place]):
            part = f(*args[:place], dots[place], *args[place + 1 :], **kwargs)
            total, rest[place] = (part if total is None else total + part), None
    return total, tuple(rest)


def _transposed(
    y: Any, pullback: Callable[[Any], tuple[Any, ...]], dots: Dots, check: Callable[[tuple[Any, ...]], None]
) -> Any:
    """y_dot = J x_dot for the pullback x_bar = J^T y_bar: the pullback of the pullback, if that makes nothing but numbers and
    arrays (of objects it may not be known what they hold). What it returns is given to `check`."""
    try:
        with np.errstate(all="ignore"):
            bars, back = _resolve[0](pullback, (_somewhere(y),), {}, (True,))
        check(bars)
        with np.errstate(all="ignore"):
            seeds = tuple(_seed(bar, dot) for bar, dot in zip(bars, dots, strict=False))
            seeds += (None,) * (len(bars) - len(seeds))
            if all(map(_is_plain, bars)):
                return None if all(seed is None for seed in seeds) else _projected(y, back(seeds).arguments[0])
    except DifferentiationError:
        pass

    def pair(y_bar: Any) -> float:
        bars = pullback(y_bar)
        check(bars)
        return sum(map(pairing, bars, dots), 0.0)

    return tangent_by_pairing(y, pair)


def _seed(bar: Any, dot: Any) -> Any:
    if is_structural_zero(bar) or is_structural_zero(dot):
        return None
    if isinstance(bar, NotImplementedTangent):
        bar.refuse()
    return dot


def _somewhere(y: Any) -> Any:
    """A cotangent of `y` that is zero nowhere. The pullback is linear, so that it does not matter where it is
    differentiated; but it may have a shorter way for what is zero."""
    return tangent_by_pairing(y, lambda seed: 1.0)


def by_pairing(y: Any, values: tuple[Any, ...], back: Back, dots: Dots) -> Any:
    """The tangent of `y`, by one call of the pullback for every number in it; `values` are the callee and the arguments."""

    def pair(y_bar: Any) -> float:
        bars = _asked(back, y_bar)
        return sum(map(pairing, map(_in_structure, values, (bars.function, *bars.arguments)), dots), 0.0)

    return tangent_by_pairing(y, pair)


def _asked(back: Back, y_bar: Any) -> Bars:
    """What a pullback gives for a seed that is none of the user's: hooks let it pass."""
    before, RUN.is_pushing = RUN.is_pushing, True
    try:
        return back(y_bar)
    finally:
        RUN.is_pushing = before


def _in_structure(x: Any, x_bar: Any) -> Any:
    """A cotangent in the structure of its value. That of a function has its defaults as well."""
    if isinstance(x_bar, Projected):
        return x_bar.gradient
    return x_bar if isinstance(x, (types.FunctionType, *VIEWS)) else _projected(x, x_bar)


def _checked_value(y: Any, name: str, has_rule: bool = False) -> Any:
    """The value of a call inside of a function, of which it is known what its tangent consists of. A rule that gives a dict of
    its own (the results of SciPy's solvers) takes its cotangent as a dict."""
    if not is_transparent(y) and not (has_rule and isinstance(y, dict)):
        raise MissingRuleError(
            f"the value of {name} is a {type(y).__name__}, whose tangent is not known",
            None,
            "Ask pushforward(f, x), which goes by the pullback, or give it a forward rule: @frule.register.",
        )
    return y


frule.derive = derived


def _projected(y: Any, y_dot: Any) -> Any:
    """As `project`, also of the arrays of numbers as objects that np.frompyfunc makes."""
    if isinstance(y, types.BuiltinMethodType) and isinstance(y_dot, Tangent):
        return Tangent(type(y), {"__self__": _projected(y.__self__, y_dot.get("__self__"))})
    return project(np.zeros(y.shape) if isinstance(y, np.ndarray) and has_real_objects(y) else y, y_dot)
