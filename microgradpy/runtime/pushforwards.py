"""The tangent of a call's value, at run time.

`pushed(f, f_dot, args, dots, kwargs)` computes `f(*args, **kwargs)` and the tangent of it for tangents of `f` itself and of the
positional arguments, None being zero. It takes a forward rule where there is one; goes through the source of a Python
function, for which the compiler installs its entry here; and otherwise transposes the pullback, which is a linear map: by
differentiating it, or by asking it for one seed after the other.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np

from microgradpy.errors import DifferentiationError, MissingRuleError
from microgradpy.rules.entries import Rule
from microgradpy.rules.linearity import keeps_linear, linear_arguments
from microgradpy.rules.loading import load_optional
from microgradpy.rules.nested import MAKERS, bars_of_call, definition, one_level_higher, values_of_call
from microgradpy.rules.registry import ForwardRule, frule, is_non_differentiable, rrule
from microgradpy.rules.results import applied, check_no_object, checked, cotangents, is_users_rule, seed_for
from microgradpy.rules.selections import may_be_infinite
from microgradpy.runtime import dispatch, tangents
from microgradpy.runtime.array_calls import unbound_method
from microgradpy.runtime.bars import Back, Bars, Wanted
from microgradpy.runtime.cotangents import missing_cotangent
from microgradpy.runtime.foreign import is_foreign
from microgradpy.runtime.frames import call_as_user
from microgradpy.runtime.known_callees import Table, is_known, note
from microgradpy.runtime.lookup_cache import takes
from microgradpy.runtime.markers import differentiates
from microgradpy.runtime.modes import RUN
from microgradpy.runtime.named_operators import named_operator
from microgradpy.runtime.opaque import check_spread
from microgradpy.runtime.protocols import has_protocol
from microgradpy.runtime.python_ufuncs import makes_or_is_loop, pushed_ufunc
from microgradpy.runtime.replacements import call_by_keys
from microgradpy.runtime.rule_calls import name_of, positional
from microgradpy.runtime.signatures import ANSWERED, pushed_answer
from microgradpy.runtime.special_methods import is_read_by_keys
from microgradpy.runtime.tangents import VIEWS
from microgradpy.runtime.texts import noted, read_from
from microgradpy.runtime.zeros import exact, makes_selection, pullback_keeping_zeros
from microgradpy.tangents.arithmetic import has_real_objects
from microgradpy.tangents.fields import named_like
from microgradpy.tangents.helpers import returns
from microgradpy.tangents.pairing import is_transparent, pairing, tangent_by_pairing
from microgradpy.tangents.projection import fields_of, fill_tangent, project, zeros_for
from microgradpy.tangents.strong_zeros import kept_tangent
from microgradpy.tangents.thunks import computed
from microgradpy.tangents.types import NotImplementedTangent, Projected, Tangent, accumulate, is_structural_zero

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


def install(resolve: Resolve) -> None:
    """Called once by the compiler."""
    _resolve[:] = [resolve]


def install_entry(entry: ForwardEntry) -> None:
    """The same when forward mode is first used."""
    _entry[:] = [entry]


@returns(tuple[Any, Any])
def pushed(f: Any, f_dot: Any, args: tuple[Any, ...], dots: Dots, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The value of a call and its tangent, which is None where it is zero."""
    if is_structural_zero(f_dot) and all(map(is_structural_zero, dots)):
        return read_from(args, call_as_user(f, args, kwargs), f), None
    found = _entry[0](f, f_dot, args, dots, kwargs) if has_text_only(f) else None
    if found is None:
        direct = _unbound(f, f_dot, args, dots, kwargs)
        if direct is not None:
            return pushed(*direct)
        found = _pushed(f, f_dot, args, dots, kwargs)
    y, y_dot = found
    return noted(y, args, f) if is_structural_zero(y_dot) else y, y_dot


def _pushed(f: Any, f_dot: Any, args: tuple[Any, ...], dots: Dots, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    if differentiates(f):
        return _by_definition(f, f_dot, args, dots, kwargs)
    if f is bars_of_call or f is values_of_call:
        return f(*args), one_level_higher(f, args, dots[-1])
    if makes_or_is_loop(f, args, kwargs):
        return pushed_ufunc(f, f_dot, args, dots, pushed)
    forward = frule.find_for(f, args, kwargs)
    if forward is not None:
        return _by_forward_rule(f, forward, f_dot, args, dots, kwargs, {})
    if f is operator.add and all(type(x) is tuple for x in args):
        return f(*args), tuple(dot for x, own in zip(args, dots, strict=True) for dot in _of_items(x, own))
    if isinstance(f, types.FunctionType) and not (rrule.has(f) or is_non_differentiable(f) or is_foreign(f)):
        return _by_text(f, f_dot, args, dots, kwargs)
    if all(map(is_plain_value, args)) and is_structural_zero(f_dot):
        # An operator or a builtin may call a method of an object's class, which is not what its rule is about.
        found = _by_reverse_rule(f, args, dots, kwargs)
        if found is not None:
            return found
    return _by_pullback(f, f_dot, args, dots, kwargs)


def _of_items(x: tuple[Any, ...], x_dot: Any) -> tuple[Any, ...]:
    """The tangents of the items of a tuple, whatever these are."""
    return (None,) * len(x) if is_structural_zero(x_dot) else tuple(x_dot)


def _by_definition(
    f: Any, f_dot: Any, args: tuple[Any, ...], dots: Dots, kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """A function that differentiates, by what stands for it."""
    if f in MAKERS:
        y, own = f(*args, **kwargs), dots[0] if dots else None
        return y, None if is_structural_zero(own) else Tangent(type(y), {"__wrapped__": own})
    found = definition(f)
    if found is None:
        raise dispatch.nested(f)
    function, leading = found
    own = (None if is_structural_zero(f_dot) else f_dot.get("__wrapped__"), *(None,) * (len(leading) - 1)) if leading else ()
    return pushed(function, None, (*leading, *args), (*own, *dots), kwargs)


def _by_text(
    f: types.FunctionType, f_dot: Any, args: tuple[Any, ...], dots: Dots, kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """By the function's own text, where that can be pushed."""
    if f.__code__ in ANSWERED:
        return pushed_answer(f, args, dots, kwargs, {})
    version = rrule.version
    found = _entry[0](f, f_dot, args, dots, kwargs)
    if found is None:
        return _by_pullback(f, f_dot, args, dots, kwargs)
    if not frule.has(f):  # for other types
        note(_TEXTS, version, f)
    return found


_TEXTS: Table = {}
"""Functions that were pushed by their text, of which there are no rules, by identity, with the version of the rules."""


def has_text_only(f: Any) -> bool:
    """Whether nothing but its text says how a function is pushed, whatever it is called with, as was found before."""
    load_optional()
    return is_known(_TEXTS, f)


def _unbound(
    f: Any, f_dot: Any, args: tuple[Any, ...], dots: Dots, kwargs: dict[str, Any]
) -> tuple[Any, None, tuple[Any, ...], Dots, dict[str, Any]] | None:
    """The call that one of a bound method, of a callable object or of an operator by the name of its method is; None for any
    other."""
    function = _function_of(f)
    if function is not None and isinstance(f, types.MethodType):
        return function, None, (f.__self__, *args), (_of_owner(f_dot), *dots), kwargs
    if function is not None:
        return function, None, (f, *args), (f_dot, *dots), kwargs
    named = named_operator(f, args, kwargs)
    if named is None:
        return _of_builtin(f, f_dot, args, dots, kwargs)
    given = (_of_owner(f_dot), *dots) if named.is_bound else dots
    return named.function, None, named.operands, named.given(given), {}


def _of_builtin(
    f: Any, f_dot: Any, args: tuple[Any, ...], dots: Dots, kwargs: dict[str, Any]
) -> tuple[Any, None, tuple[Any, ...], Dots, dict[str, Any]] | None:
    """A bound method of an array or `ufunc`, or of another builtin class whose function has a rule for forward mode, as that of
    `dict.values`."""
    if not isinstance(f, types.BuiltinMethodType) or isinstance(f.__self__, types.ModuleType | type | None) or frule.has(f):
        return None
    function = unbound_method(f)
    given = (f.__self__, *args)
    if function is None:
        return None
    is_of_numpy = isinstance(f.__self__, np.ndarray | np.ufunc) and rrule.find_for(function, given, kwargs) is not None
    if not is_of_numpy and frule.find_for(function, given, kwargs) is None:
        return None
    return function, None, given, (_of_owner(f_dot), *dots), kwargs


def _function_of(f: Any) -> Any:
    """The function that a bound method or a callable object calls with itself as the first argument; None for any other callee,
    and for one that has a rule."""
    if rrule.has(f) or frule.has(f):
        return None
    if isinstance(f, types.MethodType):
        return f.__func__
    call = getattr(type(f), "__call__", None)  # noqa: B004 - the function itself is wanted
    return call if isinstance(call, types.FunctionType) and not has_protocol(f) else None


def _of_owner(f_dot: Any) -> Any:
    """The tangent of what a bound method is bound to."""
    return None if is_structural_zero(f_dot) else f_dot.get("__self__")


def _by_reverse_rule(f: Any, args: tuple[Any, ...], dots: Dots, kwargs: dict[str, Any]) -> tuple[Any, Any] | None:
    """By the transpose of the pullback, if there is a rule."""
    if is_non_differentiable(f):
        y = call_as_user(f, args, kwargs)
        check_no_object(f, y)
        return y, None
    reverse = rrule.find_for(f, args, kwargs)
    if reverse is None:
        return None
    y, push = derived(f, reverse, args, kwargs)
    return y, push(None, *dots)


def _by_pullback(f: Any, f_dot: Any, args: tuple[Any, ...], dots: Dots, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """By the pullback, which is asked one seed after the other."""
    y, back = dispatch.resolve(f, args, kwargs, keywords_wanted=False)
    return y, by_pairing(_checked_value(y, name_of(f), rrule.has(f)), (f, *args), back, (f_dot, *dots))


def is_plain_value(x: Any) -> bool:
    """Whether a value is one of Python's or NumPy's own, and all items are."""
    if type(x) in (list, tuple):
        return all(map(is_plain_value, x))
    if type(x) is dict:
        return all(map(is_plain_value, x.values()))
    return type(x) in _PLAIN or isinstance(x, np.generic) or is_structural_zero(x)


_PLAIN = frozenset((
    int, float, complex, bool, str, bytes, type(None), slice, range, type(...), np.ndarray, np.ufunc, np.dtype, type,
))  # fmt: skip


@returns(tuple[Any, Any])
def pushed_packed(f: Any, f_dot: Any, args: Any, kwargs: Any, dots: Any, keyword_dots: Any) -> tuple[Any, Any]:
    """The same for `f(*args, **kwargs)`, with the tangents of all arguments as one tuple and one dict."""
    check_spread(f, args, kwargs)
    args = tuple(args)
    if is_read_by_keys(kwargs):
        return pushed(call_by_keys, None, (f, args, kwargs), (f_dot, dots, keyword_dots), {})
    positional = (None,) * len(args) if is_structural_zero(dots) else tuple(dots)
    named = {} if is_structural_zero(keyword_dots) else keyword_dots
    if all(is_structural_zero(dot) for dot in named.values()):
        return pushed(f, f_dot, args, positional, dict(kwargs))
    function = _function_of(f)
    if function is not None:
        owner, own_dot = (f.__self__, _of_owner(f_dot)) if isinstance(f, types.MethodType) else (f, f_dot)
        return pushed_packed(function, None, (owner, *args), kwargs, (own_dot, *positional), named)
    if isinstance(f, types.FunctionType) and f.__code__ in ANSWERED:
        return pushed_answer(f, args, positional, dict(kwargs), named)
    forward = frule.find_for(f, args, kwargs)
    if forward is not None:
        return _by_forward_rule(f, forward, f_dot, args, positional, dict(kwargs), named)
    y, back = dispatch.resolve(f, args, dict(kwargs))
    _checked_value(y, name_of(f), rrule.has(f))

    def pair(y_bar: Any) -> float:
        bars = _asked(back, y_bar)
        found = map(_in_structure, (f, *args), (bars.function, *bars.arguments))
        return sum(map(pairing, found, (f_dot, *positional)), pairing(dict(bars.keywords), named))

    return y, tangent_by_pairing(y, pair)


@returns(tuple[Any, Any])
def pushed_by_rule(
    f: Any, rule: Rule, name: str, args: tuple[Any, ...], dots: Dots, kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """The value by a reverse rule, and its tangent by the transpose of the pullback."""
    y, pullback = applied(rule, args, kwargs, "pullback")

    if all(map(is_structural_zero, dots)):
        return y, None
    wanted = (None, *_filled(dots, args))
    check = partial(_check_complete, rule, name, args, wanted)
    chosen = makes_selection(f, rule, args, kwargs)
    return y, _transposed(y, pullback, _exact(f, rule, args, kwargs, y, pullback), chosen, wanted, check)


def _exact(
    f: Any, rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any], y: Any, pullback: Callable[[Any], tuple[Any, ...]]
) -> Callable[[Any], tuple[Any, ...]]:
    """The pullback for unit vectors, whose zeros are strong."""

    def filled(y_bar: Any) -> Any:
        return cotangents(rule, pullback, seed_for(rule, y, y_bar))

    return partial(pullback_keeping_zeros, f, rule, args, kwargs, filled)


def _check_complete(rule: Rule, name: str, args: tuple[Any, ...], dots: Dots, bars: Any) -> None:
    """Refuse a rule that gives no cotangent for an argument that has one, or too many."""
    cotangents(rule, lambda _: bars, None)
    for index in range(len(bars) - 1, len(args)):
        missing_cotangent(args[index], rule, name, index)
    if is_users_rule(rule):
        wanted = (bar if not is_structural_zero(dot) else None for bar, dot in zip(bars, dots, strict=False))
        checked(rule, name, args, [computed(bar) for bar in wanted][1:])


def _by_forward_rule(
    f: Any, rule: ForwardRule, f_dot: Any, args: tuple[Any, ...], dots: Dots, kwargs: dict[str, Any], named: dict[str, Any]
) -> tuple[Any, Any]:
    """`named` has the tangents of the keyword arguments, which have to be among the rule's positional parameters."""
    if kwargs:
        wanted = {name for name, dot in named.items() if not _is_zero(dot)}
        args, kwargs, names = positional(f, rule, args, kwargs, keywords_wanted=False)
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
        found = f"a keyword argument of {name_of(f)} has a tangent, which its forward rule does not take"
        raise MissingRuleError(found, None, "Give it by position.")


def _or_zero(dot: Any, x: Any) -> Any:
    return zeros_for(x) if is_structural_zero(dot) else dot


def _filled(dots: Dots, args: tuple[Any, ...]) -> Dots:
    """The tangents that are not zero, with zeros for what is missing inside of them."""
    return tuple(None if is_structural_zero(dot) else fill_tangent(x, dot) for dot, x in zip(dots, args, strict=True))


def derived(
    f: Any, rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Callable[..., Any]]:
    """The value of a call by its reverse rule, and the pushforward: the transpose of the pullback."""
    names: list[str] = []
    if kwargs or not takes(rule, len(args)):
        args, kwargs, names = positional(f, rule, args, kwargs, keywords_wanted=False)
    y, pullback = applied(rule, args, kwargs, "pullback")

    def derived_pushforward(f_dot: Any, *dots: Any) -> Any:
        given = _filled((*dots, *(None for _ in names)), args)
        total, rest = _applied_again(f, rule, args, kwargs, given)
        wanted = (f_dot, *rest)
        if all(map(is_structural_zero, wanted)):
            return None if total is None else _projected(y, total)
        return accumulate(total, _by_transpose(wanted))

    def _by_transpose(wanted: Dots) -> Any:
        check = partial(_check_complete, rule, name_of(f), args, wanted)
        chosen = makes_selection(f, rule, args, kwargs)
        return _transposed(y, pullback, _exact(f, rule, args, kwargs, y, pullback), chosen, wanted, check)

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
            with np.errstate(all="ignore"):
                part = f(*args[:place], dots[place], *args[place + 1 :], **kwargs)
            if may_be_infinite(f):
                part = kept_tangent(dots[place], part)
            total, rest[place] = (part if total is None else total + part), None
    return total, tuple(rest)


def _transposed(
    y: Any,
    pullback: Callable[[Any], tuple[Any, ...]],
    exact_pullback: Callable[[Any], tuple[Any, ...]],
    chosen: bool,
    dots: Dots,
    check: Callable[[tuple[Any, ...]], None],
) -> Any:
    """y_dot = J x_dot for the pullback x_bar = J^T y_bar: the pullback of the pullback, if that makes nothing but numbers and
    arrays (of objects it may not be known what they hold), else the pairing of `exact_pullback`, with what was `chosen` if the
    function selects. What it returns is given to `check`."""
    if isinstance(y, np.ndarray) and y.dtype.kind == "O" and not has_real_objects(y):
        raise MissingRuleError("differentiated values become items of an array of objects", None, "Use a list.")

    def pair(y_bar: Any) -> float:
        bars = exact_pullback(y_bar)
        check(bars)
        return sum((pairing(bar, dot, chosen) for bar, dot in zip(bars, dots, strict=False)), 0.0)

    numbers = _few_numbers(y)
    if numbers == 1 or (numbers and all(map(_is_finite, dots))):
        return tangent_by_pairing(y, pair)
    try:
        with np.errstate(all="ignore"):
            bars, back = _resolve[0](pullback, (_somewhere(y),), {}, (True,))
        check(bars)
        with np.errstate(all="ignore"):
            seeds = tuple(seed_of(bar, dot) for bar, dot in zip(bars, dots, strict=False))
            seeds += (None,) * (len(bars) - len(seeds))
            if all(map(is_plain_value, bars)):
                return None if all(seed is None for seed in seeds) else _projected(y, _of_seed(y, back(seeds).arguments[0]))
    except DifferentiationError:
        pass
    return tangent_by_pairing(y, pair)


_FEW = 8


def _few_numbers(y: Any) -> int:
    """How many real numbers are in a value that has so few that the pullback is sooner asked for each than differentiated; 0
    for any other."""
    if type(y) is np.ndarray:
        count = y.size * {"f": 1, "c": 2}.get(y.dtype.kind, 0)
        return count if count <= _FEW else 0
    return 1 if isinstance(y, float | np.floating) else 2 if isinstance(y, complex | np.complexfloating) else 0


def _is_finite(dot: Any) -> bool:
    """Whether what a tangent adds to one number of a value is nothing to the others, which have zeros there."""
    if isinstance(dot, np.ndarray):
        return dot.dtype.kind in "fc" and bool(np.isfinite(dot).all())
    return is_structural_zero(dot) or (isinstance(dot, float | complex | np.inexact) and bool(np.isfinite(dot)))


def seed_of(bar: Any, dot: Any) -> Any:
    """The tangent of an argument as a cotangent of the one that a pullback gives for it."""
    if is_structural_zero(bar) or is_structural_zero(dot):
        return None
    if isinstance(bar, NotImplementedTangent):
        bar.refuse()
    return np.asarray(dot) if isinstance(bar, np.ndarray) and isinstance(dot, list | tuple) else dot


def _of_seed(y: Any, found: Any) -> Any:
    """What was found for a cotangent of `y` as a tangent of `y`: a cotangent has a Tangent where there is an object, and what
    is found for it is that of a Tangent, by the fields that one has."""
    if isinstance(found, Projected):
        found = found.gradient
    if isinstance(found, Tangent) and found.primal_type is Tangent:
        fields = fields_of(y)
        return Tangent(type(y), {name: _of_seed(fields.get(name), part) for name, part in found["_fields"].items()})
    if isinstance(found, list | tuple):
        items = list(map(_of_seed, y, found))
        return items if isinstance(found, list) else named_like(found, items) if hasattr(found, "_fields") else tuple(items)
    if isinstance(found, dict):
        return {key: _of_seed(y[key], part) for key, part in found.items()}
    return found


def _somewhere(y: Any) -> Any:
    """A cotangent of `y` that is zero nowhere. The pullback is linear, so that it does not matter where it is
    differentiated; but it may have a shorter way for what is zero."""
    if type(y) is np.ndarray and y.dtype.kind in "fc":
        return np.full_like(y, 1.0 + 1.0j if y.dtype.kind == "c" else 1.0)
    return tangent_by_pairing(y, lambda seed: 1.0)


def by_pairing(y: Any, values: tuple[Any, ...], back: Back, dots: Dots) -> Any:
    """The tangent of `y`, by one call of the pullback for every number in it; `values` are the callee and the arguments."""

    def pair(y_bar: Any) -> float:
        bars = _asked(back, y_bar)
        moving = map(_of_moving, (bars.function, *bars.arguments), dots)
        return sum(map(pairing, map(_in_structure, values, moving), dots), 0.0)

    return tangent_by_pairing(y, pair)


def _of_moving(bar: Any, dot: Any) -> Any:
    """A cotangent without the parts of what does not move, which a rule need not have worked out."""
    if _is_zero(dot):
        return None
    return tuple(map(_of_moving, bar, dot)) if type(bar) is type(dot) is tuple and len(bar) == len(dot) else bar


def _asked(back: Back, y_bar: Any) -> Bars:
    """What a pullback gives for a seed that is none of the user's: hooks let it pass."""
    before, RUN.is_pushing = RUN.is_pushing, True
    try:
        return exact(back, y_bar)
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
    if isinstance(y, types.BuiltinMethodType | types.MethodWrapperType) and isinstance(y_dot, Tangent):
        return Tangent(type(y), {"__self__": _projected(y.__self__, y_dot.get("__self__"))})
    return project(np.zeros(y.shape) if isinstance(y, np.ndarray) and has_real_objects(y) else y, y_dot)


AT_RUN_TIME: tuple[Callable[..., Any], ...] = (tangents.iterated_tangent,)
"""What generated pushforwards call where tangents are found when they run."""
