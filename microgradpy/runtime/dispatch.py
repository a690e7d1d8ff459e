"""Choosing the derivative of a call at run time, by what the callee is.

`resolve(f, args, kwargs)` computes `f(*args, **kwargs)` and returns it with its pullback. A function with source goes to
the compiler, which installs its entry here, so that recursion runs by value and not by import.
"""

from __future__ import annotations

import functools
import inspect
import operator
import types
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from microgradpy.errors import DifferentiationError, MissingRuleError, MutationError, UnsupportedSyntaxError
from microgradpy.rules.entries import Rule
from microgradpy.rules.loading import load_optional
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.rules.results import applied, checked, cotangents, seed_for
from microgradpy.runtime.activity import may_be_active as may_be_active
from microgradpy.runtime.activity import value_kind as value_kind
from microgradpy.runtime.array_calls import unbound_method
from microgradpy.runtime.bars import Back as Back
from microgradpy.runtime.bars import Bars as Bars
from microgradpy.runtime.bars import Entry, Resolve
from microgradpy.runtime.bars import Wanted as Wanted
from microgradpy.runtime.bars import nothing as _nothing
from microgradpy.runtime.cotangents import missing_cotangent
from microgradpy.runtime.foreign import is_foreign, refusal_of_foreign
from microgradpy.runtime.frames import call_as_user
from microgradpy.runtime.libraries import is_of_large_library, refusal_of_library
from microgradpy.runtime.lookup_cache import NUMBERS, LookupCache, known_cotangents, takes
from microgradpy.runtime.markers import NESTED_DIFFERENTIATION
from microgradpy.runtime.modes import RUN
from microgradpy.runtime.named_arguments import next_by_name
from microgradpy.runtime.opaque import call_unchanged, check_spread
from microgradpy.runtime.protocols import by_protocol
from microgradpy.runtime.replacements import call_by_keys
from microgradpy.runtime.rule_texts import rule_to_fill_in
from microgradpy.runtime.special_methods import OF_UFUNCS, is_read_by_keys, refuse_override
from microgradpy.runtime.streams import Stream, Turn
from microgradpy.runtime.texts import check_read, noted, read_from
from microgradpy.runtime.writes import REMEDY, written_argument
from microgradpy.runtime.zeros import without_zeros
from microgradpy.tangents.thunks import computed
from microgradpy.tangents.types import Tangent, is_structural_zero

_entry: list[Entry] = []


def install(entry: Entry) -> None:
    """Called once by the compiler."""
    _entry[:] = [entry]


def pullback_of(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """`(y, back)`; `back(y_bar)` returns the cotangents of `f` and of each positional argument, None where zero."""
    if not kwargs:
        known = _known.find(f, args)
        if known is not None:
            return _by_known_rule(f, known.rule, args)
    y, back = resolve(f, args, kwargs, keywords_wanted=False)
    _known.note_in_place(f, args)

    def pullback(y_bar: Any) -> tuple[Any, ...]:
        if is_structural_zero(y_bar):
            return (None,) * (1 + len(args))
        bars = back(y_bar)
        return (bars.function, *bars.arguments)

    return y, pullback


_known = LookupCache()


def _by_known_rule(f: Any, rule: Rule | None, args: tuple[Any, ...]) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """A call of which it is known that it goes by this rule, or (None) has no derivative."""
    count = len(args)
    if rule is None:
        y = f(*args)
        return y if type(y) in NUMBERS else noted(y, args), lambda y_bar: (None,) * (1 + count)
    y, pullback = rule(*args)

    def back(y_bar: Any) -> tuple[Any, ...]:
        if y_bar is None:
            return (None,) * (1 + count)
        found = known_cotangents(pullback, y_bar, args)
        if found is not None:
            return found
        if is_structural_zero(y_bar):
            return (None,) * (1 + count)
        bars = _back_of_rule(f, rule, args, {}, y, pullback)(y_bar)
        return (bars.function, *bars.arguments)

    return y, back


def pullback_of_packed(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Callable[[Any], tuple[Any, Any, Any]]]:
    """The same for `f(*args, **kwargs)`: `back(y_bar)` returns the cotangents of `f`, of `args` and of `kwargs`."""
    check_spread(f, args, kwargs)
    if is_read_by_keys(kwargs):
        y, back = pullback_of(call_by_keys, f, tuple(args), kwargs)
        return y, lambda y_bar: back(y_bar)[1:]
    y, back = resolve(f, tuple(args), dict(kwargs))

    def pullback(y_bar: Any) -> tuple[Any, Any, Any]:
        if is_structural_zero(y_bar):
            return (None, None, None)
        bars = back(y_bar)
        return bars.function, bars.arguments, dict(bars.keywords)

    return y, pullback


def resolve(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted = None, *, keywords_wanted: bool = True
) -> tuple[Any, Back]:
    """The value of a call and its pullback. `wanted` says which positional arguments are differentiated (all unless
    given)."""
    if type(f) is types.FunctionType and has_source_only(f):
        return _entry[0](f, args, kwargs, wanted, keywords_wanted)
    found = by_protocol(f, args, kwargs, _RESOLVE)
    if found is not None:
        return found
    _refuse_write(f, args, kwargs)
    check_index_of(f, args)
    version = rrule.version
    rule = rrule.find_for(f, args, kwargs) if rrule.has(f) else None
    if rule is not None:
        _known.note(version, f, args, kwargs, rule)
        return _by_turns(f, rule, args, kwargs, wanted, keywords_wanted)
    if is_non_differentiable(f):
        _known.note(version, f, args, kwargs, None)
        return noted(call_as_user(f, args, kwargs), (*args, *kwargs.values())), _nothing(len(args))
    match f:
        case types.FunctionType():
            return _by_source(f, args, kwargs, wanted, keywords_wanted)
        case types.MethodType():
            return _by_method(f, args, kwargs, wanted, keywords_wanted)
        case functools._lru_cache_wrapper():
            return _by_cached(f, args, kwargs, wanted, keywords_wanted)
        case types.BuiltinFunctionType() if not isinstance(f.__self__, types.ModuleType | types.NoneType):
            return _by_builtin_method(f, args, kwargs, keywords_wanted)
    call = getattr(type(f), "__call__", None)  # noqa: B004 - the function itself is wanted
    if isinstance(call, types.FunctionType):
        return _by_callable_object(f, call, args, kwargs, wanted, keywords_wanted)
    return _opaque(f, args, kwargs)


_RESOLVE = Resolve(resolve)


def _by_source(
    f: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
) -> tuple[Any, Back]:
    if f in NESTED_DIFFERENTIATION:
        raise nested(f)
    if is_foreign(f):
        return _opaque(f, args, kwargs)
    if not rrule.has(f) and not str(f.__module__).startswith("numpy"):
        _source_only[id(f)] = weakref.ref(f, functools.partial(_forget, _source_only, id(f))), rrule.version
    return _entry[0](f, args, kwargs, wanted, keywords_wanted)


_source_only: dict[int, tuple[weakref.ref[types.FunctionType], int]] = {}
"""Functions of which nothing but their source says how they are differentiated, whatever they are called with, and the version
of the rules for which this was found: a loop that asks for a gradient need not find it out again each time."""


def has_source_only(f: types.FunctionType) -> bool:
    load_optional()
    known = _source_only.get(id(f))
    return known is not None and known[0]() is f and known[1] == rrule.version


def _forget(table: dict[int, Any], identity: int, _: object) -> None:
    table.pop(identity, None)  # given as an argument: at the end of the interpreter there are no globals


def _refuse_write(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    how = written_argument(f, args, kwargs)
    if how is not None:
        raise MutationError(f"{name_of(f)} {how}", None, REMEDY)


CONTAINERS: Any = (list, tuple, dict, str, bytes, range, np.ndarray, np.generic, deque, types.MappingProxyType, memoryview)
"""What an index does nothing to but say which item is read."""


def check_index_of(f: Any, args: tuple[Any, ...]) -> None:
    """Refuse to read an item of what may make it of the index, if there are numbers in that which may be differentiated."""
    if f is operator.getitem and len(args) == 2 and not isinstance(args[0], CONTAINERS) and _is_continuous(args[1]):
        raise MissingRuleError(
            f"what a {type(args[0]).__name__} gives for a differentiated index is not known",
            None,
            "Call a function instead: np.concatenate, np.stack, np.linspace.",
        )


def name_of(f: Any) -> str:
    return str(getattr(f, "__qualname__", None) or getattr(f, "__name__", None) or type(f).__name__)


def _by_turns(
    f: Any, rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
) -> tuple[Any, Back]:
    """By its rule, which gives iterators a cotangent for each item that it has read of them."""
    if Stream not in map(type, args):
        return _by_rule(f, rule, args, kwargs, keywords_wanted, wanted)
    given = tuple(Turn(x) if isinstance(x, Stream) else x for x in args)
    y, back = _by_rule(f, rule, given, kwargs, keywords_wanted)

    def turns_back(y_bar: Any) -> Bars:
        bars = back(y_bar)
        pairs = zip(given, bars.arguments, strict=True)
        own = (x.among_all(bar) if isinstance(x, Turn) and bar is not None else bar for x, bar in pairs)
        return bars._replace(arguments=tuple(own))

    return y, turns_back


def _by_rule(
    f: Any, rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any], keywords_wanted: bool, wanted: Wanted = None
) -> tuple[Any, Back]:
    given = len(args)
    names: list[str] = []
    asked = frozenset(kwargs)
    if kwargs or not takes(rule, len(args)):
        args, kwargs, names = positional(f, rule, args, kwargs, keywords_wanted)
    y, pullback = applied(rule, args, kwargs, "pullback")
    if RUN.texts and args and isinstance(args[0], str | bytes):
        check_read(y, args[0])
    return y, _back_of_rule(f, rule, args, kwargs, y, pullback, given, names, asked, wanted)


def _back_of_rule(
    f: Any,
    rule: Rule,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    y: Any,
    pullback: Any,
    given: int = 0,
    names: Sequence[str] = (),
    asked: frozenset[str] = frozenset(),
    wanted: Wanted = None,
) -> Back:
    """The pullback of a call from that of its rule, which has been applied to these arguments: `given` were given by position,
    the last ones are those of `names`, as far as they were `asked` for."""
    count = len(args)

    def back(y_bar: Any) -> Bars:
        if is_structural_zero(y_bar):
            return Bars(None, (None,) * (count - len(names)), {})
        found = cotangents(rule, pullback, seed_for(rule, y, y_bar))
        own, *bars = without_zeros(f, rule, args, kwargs, y_bar, found)
        for index in range(len(bars), count):
            missing_cotangent(args[index], rule, getattr(f, "__name__", repr(f)), index)
        if wanted is not None:  # what nobody wants is not computed
            bars = [bar if place >= given or wanted[place] else None for place, bar in enumerate(bars)]
        own, *bars = (None if is_structural_zero(bar) else computed(bar) for bar in (own, *bars))
        bars = checked(rule, name_of(f), args, [*bars, *[None] * (count - len(bars))])
        split = count - len(names)
        keywords = {name: bar for name, bar in zip(names, bars[split:], strict=False) if name in asked}
        return Bars(own, tuple(bars[:split]), keywords)

    return back


def positional(
    f: Any, rule: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], keywords_wanted: bool
) -> tuple[tuple[Any, ...], dict[str, Any], list[str]]:
    """Keyword arguments that the rule takes by position become positional, so that they have a cotangent."""
    refused = ""
    by_name = next_by_name(f, len(args), kwargs) if _takes_anything(rule) else []
    while by_name and not may_be_active(kwargs[by_name[-1]]):
        by_name.pop()
    args, kwargs = (*args, *(kwargs[name] for name in by_name)), {k: x for k, x in kwargs.items() if k not in by_name}
    try:
        signature = inspect.signature(rule)
        signature.bind(*args, **kwargs)
    except TypeError as error:
        refused = str(error)
    if refused:
        f(*args, **kwargs)  # if the call itself is wrong, the user sees its own error
        name = getattr(f, "__name__", repr(f))
        raise MissingRuleError(
            f"the rule of {name} does not take these arguments ({refused})", None, "Write the call without them."
        )
    after = list(signature.parameters.values())[len(args) :]
    given = [place for place, p in enumerate(after) if p.kind is p.POSITIONAL_OR_KEYWORD and p.name in kwargs]
    # Those before the last one that is given have their defaults.
    positional = after[: given[-1] + 1] if given else []
    extended = (*args, *(kwargs.get(parameter.name, parameter.default) for parameter in positional))
    names = [*by_name, *(parameter.name for parameter in positional)]
    rest = {name: value for name, value in kwargs.items() if name not in names}
    if keywords_wanted and any(map(_is_continuous, rest.values())):
        raise MissingRuleError(
            f"a keyword argument of {getattr(f, '__name__', f)} may be differentiated", None, "Give it by position."
        )
    return extended, rest, names


def _takes_anything(rule: Callable[..., Any]) -> bool:
    """Whether a rule has its arguments as one tuple, so that its signature does not tell their places."""
    code = getattr(rule, "__code__", None)
    return code is not None and not code.co_argcount and bool(code.co_flags & inspect.CO_VARARGS)


def _is_continuous(value: Any) -> bool:
    """Whether a value is made of numbers other than whole ones."""
    if isinstance(value, list | tuple):
        return any(map(_is_continuous, value))
    if isinstance(value, slice):
        return any(map(_is_continuous, (value.start, value.stop, value.step)))
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fcO"
    return isinstance(value, float | complex | np.inexact)


def _by_method(
    f: types.MethodType, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
) -> tuple[Any, Back]:
    inner = None if wanted is None else (True, *wanted)
    y, back = resolve(f.__func__, (f.__self__, *args), kwargs, inner, keywords_wanted=keywords_wanted)

    return y, _bound_back(f, back)


def _by_builtin_method(
    f: types.BuiltinFunctionType, args: tuple[Any, ...], kwargs: dict[str, Any], keywords_wanted: bool
) -> tuple[Any, Back]:
    owner = f.__self__
    if isinstance(owner, np.ndarray):
        refuse_override(owner, f, OF_UFUNCS)
    unbound = unbound_method(f)
    if is_non_differentiable(unbound) or is_non_differentiable(f):
        return noted(f(*args, **kwargs), args, f), _nothing(len(args))
    rule = rrule.find_for(unbound, (owner, *args), kwargs) if unbound is not None else None
    if rule is None:
        return _opaque(f, args, kwargs)
    y, back = _by_rule(unbound, rule, (owner, *args), kwargs, keywords_wanted)

    return y, _bound_back(f, back)


def _bound_back(f: Any, back: Back) -> Back:
    """The pullback of a bound method from that of its function, whose first argument is the instance."""

    def method_back(y_bar: Any) -> Bars:
        bars = back(y_bar)
        own, *rest = bars.arguments
        return Bars(_field(f, "__self__", own), tuple(rest), bars.keywords)

    return method_back


def _field(f: Any, name: str, bar: Any) -> Tangent | None:
    return None if is_structural_zero(bar) else Tangent(type(f), {name: bar})


def _by_cached(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
) -> tuple[Any, Back]:
    """A function with an `lru_cache`, whose entries do not know how they were computed: it is called itself, unless no
    derivative flows through the call."""
    if not any(map(may_be_active, (*args, *kwargs.values()))):
        return call_unchanged(f, *args, **kwargs), _nothing(len(args))
    y, back = resolve(f.__wrapped__, args, kwargs, wanted, keywords_wanted=keywords_wanted)

    def cached_back(y_bar: Any) -> Bars:
        bars = back(y_bar)
        return Bars(_field(f, "__wrapped__", bars.function), bars.arguments, bars.keywords)

    return y, cached_back


def _by_callable_object(
    f: Any,
    call: types.FunctionType,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    wanted: Wanted,
    keywords_wanted: bool,
) -> tuple[Any, Back]:
    inner = None if wanted is None else (True, *wanted)
    y, back = resolve(call, (f, *args), kwargs, inner, keywords_wanted=keywords_wanted)

    def object_back(y_bar: Any) -> Bars:
        bars = back(y_bar)
        own, *rest = bars.arguments
        return Bars(own, tuple(rest), bars.keywords)

    return y, object_back


def _opaque(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Back]:
    """A callee that is neither known nor readable: called if it gets nothing that may be differentiated."""
    if not callable(f):
        f(*args, **kwargs)  # Python's own error
    owner = getattr(f, "__self__", None)
    owners = () if isinstance(owner, types.ModuleType) else (owner,)
    if any(map(may_be_active, (*owners, *args, *kwargs.values()))):
        raise without_rule(f, name_of(f), args, kwargs)
    return read_from(args, call_unchanged(f, *args, **kwargs)), _nothing(len(args))


def without_rule(f: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> DifferentiationError:
    """The refusal of a callee that was reached with differentiated data."""
    module = str(getattr(f, "__module__", None) or "").lstrip("_")
    path = f"{module}.{name}" if module not in ("", "builtins", "__main__") and "." not in name else name
    foreign = refusal_of_foreign(f, path)
    if foreign is not None:
        return foreign
    for place in (f, type(getattr(f, "__self__", None))):
        if is_of_large_library(place):
            return refusal_of_library(f if place is f else getattr(place, name, place))
    modules = [getattr(place, "__module__", "") for place in (f, getattr(f, "__self__", None))]
    if f is map or f is filter or "itertools" in modules:
        return MissingRuleError(
            f"{name} was reached with differentiated data, and it gives its items one by one, to be read once",
            None,
            "Write it as a comprehension or a loop.",
        )
    if isinstance(f, type):
        return MissingRuleError(
            f"the constructor {name} was reached with differentiated data",
            None,
            f"Give it a rule with @rrule.register({f.__name__}), or pass its fields as a tuple or dict.",
        )
    found = f"{path} has neither a rule nor a source to differentiate, and it was reached with differentiated data"
    other = "Use np.vectorize of the function, or declare" if isinstance(f, np.ufunc) and " " in name else "Declare"
    remedy = f"{other} a rule, or give it stop_gradient(x) if no derivative should flow through it:"
    return MissingRuleError(found, None, f"{remedy}\n{rule_to_fill_in(f, name, args, kwargs)}")


def nested(f: Any) -> DifferentiationError:
    return UnsupportedSyntaxError(
        f"differentiation inside differentiated code ({getattr(f, '__qualname__', f)})",
        None,
        "Differentiate the outer function only, or pass what the inner gradient needs through stop_gradient.",
    )
