"""Choosing the derivative of a call at run time, by what the callee is, and refusing one that has none.

`resolve(f, args, kwargs)` computes `f(*args, **kwargs)` and returns it with its pullback. A function with source goes to
the compiler, which installs its entry here, so that recursion runs by value and not by import.
"""

from __future__ import annotations

import functools
import operator
import types
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.errors import DifferentiationError, MissingRuleError, MutationError, UnsupportedSyntaxError
from microgradpy.rules.entries import Rule
from microgradpy.rules.loading import load_optional
from microgradpy.rules.nested import definition
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.rules.results import applied, check_no_object
from microgradpy.runtime.activity import may_be_active as may_be_active
from microgradpy.runtime.activity import value_kind as value_kind
from microgradpy.runtime.array_calls import unbound_method
from microgradpy.runtime.bars import Back as Back
from microgradpy.runtime.bars import Bars as Bars
from microgradpy.runtime.bars import Entry, Pullback, Resolve, Resolved, given_to, is_nothing, nothing, with_bars
from microgradpy.runtime.bars import Wanted as Wanted
from microgradpy.runtime.checkpoints import by_checkpoint
from microgradpy.runtime.foreign import is_foreign, refusal_of_foreign
from microgradpy.runtime.frames import call_as_user
from microgradpy.runtime.known_callees import CALLED, is_known, note, note_owned
from microgradpy.runtime.known_calls import by_what_is_known
from microgradpy.runtime.libraries import is_of_large_library, refusal_of_library
from microgradpy.runtime.lookup_cache import LookupCache, takes
from microgradpy.runtime.markers import CHECKPOINTED, NESTED_DIFFERENTIATION
from microgradpy.runtime.opaque import call_unchanged, check_spread
from microgradpy.runtime.protocols import by_protocol
from microgradpy.runtime.replacements import call_by_keys
from microgradpy.runtime.rule_calls import (
    BY_VALUE,
    back_of_rule,
    by_known_rule,
    by_value,
    check_text,
    is_continuous,
    name_of,
    of_python_numbers,
    positional,
)
from microgradpy.runtime.rule_texts import rule_to_fill_in
from microgradpy.runtime.special_methods import OF_UFUNCS, is_read_by_keys, refuse_override
from microgradpy.runtime.streams import Stream, Turn
from microgradpy.runtime.texts import noted, read_from
from microgradpy.runtime.writes import REMEDY, written_argument
from microgradpy.tangents.types import Tangent, is_structural_zero


class Dispatcher(Resolve):
    """What a call means: a call of other code (`runtime.protocols`), one of a function with a rule, or of one with a source.
    A run that tracks writes has one that knows more kinds of calls, and keeps cotangents in shadows (`state.dispatch`)."""

    entry: Entry
    """The compiler's, which installs it here, so that recursion runs by value and not by import."""
    rules = LookupCache(of_python_numbers)
    """The rules that were found for calls on numbers and arrays."""

    def __call__(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted = None, keywords_wanted: bool = True
    ) -> Resolved:
        if type(f) is types.FunctionType and has_source_only(f):
            return self.entry(f, args, kwargs, wanted, keywords_wanted)
        found = by_protocol(f, args, kwargs, self)
        if found is not None:
            return found
        how = written_argument(f, args, kwargs)
        if how is not None:
            raise MutationError(f"{name_of(f)} {how}", None, REMEDY)
        return self.by_rule_or_kind(f, args, kwargs, wanted, keywords_wanted)

    def by_rule_or_kind(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
    ) -> Resolved:
        """A call that stands for itself."""
        check_index_of(f, args)
        version = rrule.version
        rule = rrule.find_for(f, args, kwargs) if rrule.has(f) else None
        if rule is not None:
            self.rules.note(version, f, args, kwargs, rule)
            return self.by_rule(f, rule, args, kwargs, wanted, keywords_wanted)
        if is_non_differentiable(f):
            return self.without_derivative(version, f, args, kwargs)
        self.note(version, f)
        return self.by_kind(f, args, kwargs, wanted, keywords_wanted)

    def by_kind(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
    ) -> Resolved:
        """By what a callable is that nothing else is known of."""
        match f:
            case types.FunctionType():
                if f in NESTED_DIFFERENTIATION:
                    return self.by_definition(f, args, kwargs, wanted, keywords_wanted)
                if f in CHECKPOINTED and not self.tracks:
                    return by_checkpoint(f, args, kwargs, self, wanted, keywords_wanted)
                if is_foreign(f):
                    return self.opaque(f, args, kwargs)
                return self.entry(f, args, kwargs, wanted, keywords_wanted)
            case types.MethodType():
                inner = None if wanted is None else (True, *wanted)
                function = next if f.__func__ is Stream.__next__ else f.__func__
                y, back = self(function, (f.__self__, *args), kwargs, inner, keywords_wanted)
                return y, bound_back(f, back)
            case functools._lru_cache_wrapper():
                return self.by_cached(f, args, kwargs, wanted, keywords_wanted)
            case types.BuiltinFunctionType() if not isinstance(f.__self__, types.ModuleType | types.NoneType):
                return self.by_builtin_method(f, args, kwargs, keywords_wanted)
        return self.by_object(f, args, kwargs, wanted, keywords_wanted)

    def by_definition(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
    ) -> Resolved:
        """A function that differentiates, by what stands for it."""
        found = definition(f)
        if found is None:
            raise nested(f)
        function, leading = found
        inner = None if wanted is None else (*(False,) * len(leading), *wanted)
        y, back = self(function, (*leading, *args), kwargs, inner, keywords_wanted)
        if not leading:
            return y, back

        def defined_back(y_bar: Any, shadows: Any = None) -> Bars:
            bars = back(y_bar, shadows)
            own = given_to(leading[0], bars.arguments[0], shadows)
            return Bars(_field(f, "__wrapped__", own), bars.arguments[len(leading) :], bars.keywords)

        return y, defined_back

    def by_rule(
        self, f: Any, rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
    ) -> Resolved:
        """By its rule, which gives iterators a cotangent for each item that it has read of them."""
        if Stream not in map(type, args):
            return _by_rule(f, rule, args, kwargs, keywords_wanted, wanted)
        given = tuple(Turn(x) if isinstance(x, Stream) else x for x in args)
        y, back = _by_rule(f, rule, given, kwargs, keywords_wanted)

        def turns_back(y_bar: Any, shadows: Any = None) -> Bars:
            bars = back(y_bar, shadows)
            pairs = zip(given, bars.arguments, strict=True)
            own = (x.among_all(bar) if isinstance(x, Turn) and bar is not None else bar for x, bar in pairs)
            return bars._replace(arguments=tuple(own))

        return y, turns_back

    def without_derivative(self, version: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved:
        """A call of a function that is declared to have no derivative."""
        y = call_as_user(f, args, kwargs)
        check_no_object(f, y)
        self.rules.note(version, f, args, kwargs, None)
        return noted(y, (*args, *kwargs.values())), nothing(len(args))

    def note(self, version: int, f: Any) -> None:
        """Note of a callee what is known while the rules have this version: that it has none."""
        if type(f) is types.MethodType:
            note_owned(version, f.__func__)
        if type(f) is not types.FunctionType or f in NESTED_DIFFERENTIATION or f in CHECKPOINTED or is_foreign(f):
            return
        if not rrule.has(f) and not str(f.__module__).startswith("numpy"):
            note(CALLED, version, f)

    def by_cached(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
    ) -> Resolved:
        """A function with an `lru_cache`, whose entries do not know how they were computed: it is called itself, unless no
        derivative flows through the call."""
        if not any(map(may_be_active, (*args, *kwargs.values()))):
            return call_unchanged(f, *args, **kwargs), nothing(len(args))
        y, back = self(f.__wrapped__, args, kwargs, wanted, keywords_wanted)

        def cached_back(y_bar: Any, shadows: Any = None) -> Bars:
            bars = back(y_bar, shadows)
            return bars._replace(function=_field(f, "__wrapped__", bars.function))

        return y, cached_back

    def by_builtin_method(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], keywords_wanted: bool) -> Resolved:
        owner = f.__self__
        if isinstance(owner, np.ndarray):
            refuse_override(owner, f, OF_UFUNCS)
        unbound = unbound_method(f)
        if is_non_differentiable(unbound) or is_non_differentiable(f):
            return noted(f(*args, **kwargs), args, f), nothing(len(args))
        rule = rrule.find_for(unbound, (owner, *args), kwargs) if unbound is not None else None
        if rule is None:
            return self.opaque(f, args, kwargs)
        y, back = _by_rule(unbound, rule, (owner, *args), kwargs, keywords_wanted)
        return y, bound_back(f, back)

    def by_object(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
    ) -> Resolved:
        """An object of a class with `__call__`."""
        call = getattr(type(f), "__call__", None)  # noqa: B004 - the function itself is wanted
        if not isinstance(call, types.FunctionType):
            return self.opaque(f, args, kwargs)
        inner = None if wanted is None else (True, *wanted)
        y, back = self(call, (f, *args), kwargs, inner, keywords_wanted)

        def object_back(y_bar: Any, shadows: Any = None) -> Bars:
            bars = back(y_bar, shadows)
            own, *rest = bars.arguments
            return Bars(given_to(f, own, shadows), tuple(rest), bars.keywords)

        return y, object_back

    def opaque(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved:
        """A callee that is neither known nor readable: called if it gets nothing that may be differentiated."""
        refuse_active(f, args, kwargs, types.ModuleType)
        return read_from(args, call_unchanged(f, *args, **kwargs)), nothing(len(args))

    def packed(self, resolve: Callable[..., Resolved], f: Any, args: tuple[Any, ...], kwargs: Any) -> tuple[Any, Pullback]:
        """f(*args, **kwargs), as `resolve` makes it: `back(y_bar, shadows=None)` returns the cotangents of `f`, of `args` and
        of `kwargs`."""
        check_spread(f, args, kwargs)
        if is_read_by_keys(kwargs):
            y, back = with_bars(resolve(call_by_keys, (f, args, kwargs), {}), 3)
            return y, lambda y_bar, shadows=None: back(y_bar, shadows)[1:]
        held = self.keywords(kwargs)
        y, bars_of = resolve(f, args, dict(held))

        def pullback(y_bar: Any, shadows: Any = None) -> tuple[Any, ...]:
            if is_nothing(y_bar, shadows):
                return None, None, None
            bars = bars_of(y_bar, shadows)
            given = (*bars.arguments, *(None,) * (len(args) - len(bars.arguments)))
            arguments = tuple(given_to(x, bar, shadows) for x, bar in zip(args, given, strict=False))
            named = {name: given_to(held[name], bar, shadows) for name, bar in bars.keywords.items()}
            return bars.function, arguments, {name: bar for name, bar in named.items() if bar is not None} or None

        return y, pullback

    def keywords(self, kwargs: Any) -> dict[str, Any]:
        """Arguments by name."""
        return dict(kwargs)


resolve = Dispatcher()
"""The dispatcher of runs in which nothing is written that others have."""


def install(entry: Entry) -> None:
    """Called once by the compiler."""
    resolve.entry = entry


def pullback_of(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Pullback]:
    """`(y, back)`; `back(y_bar)` returns the cotangents of `f` and of each positional argument, None where zero."""
    quick = _QUICK.get(id(f))
    if quick is not None and quick[0] == len(args) and not kwargs:
        made: tuple[Any, Pullback] | None = quick[1](*args)
        if made is not None:
            return made
    if not kwargs:
        known = resolve.rules.find(f, args)
        if known is not None:
            return by_known_rule(f, known.rule, args, by_value)
        found = by_what_is_known(pullback_of, f, args)
        if found is not None:
            return found
    made = with_bars(resolve(f, args, kwargs, None, False), len(args))
    resolve.rules.note_in_place(f, args)
    return made


_QUICK = resolve.rules.quick


def pullback_of_packed(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Pullback]:
    """The same for `f(*args, **kwargs)`: `back(y_bar)` returns the cotangents of `f`, of `args` and of `kwargs`."""
    return resolve.packed(resolve, f, tuple(args), kwargs)


def _by_rule(
    f: Any, rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any], keywords_wanted: bool, wanted: Wanted = None
) -> Resolved:
    given = len(args)
    names: list[str] = []
    asked = frozenset(kwargs)
    if kwargs or not takes(rule, len(args)):
        args, kwargs, names = positional(f, rule, args, kwargs, keywords_wanted)
    y, pullback = applied(rule, args, kwargs, "pullback")
    check_text(y, args)
    return y, back_of_rule(f, rule, args, kwargs, y, pullback, BY_VALUE, given, names, asked, wanted)


def bound_back(f: Any, back: Back) -> Back:
    """The pullback of a bound method from that of its function, whose first argument is the instance."""

    def method_back(y_bar: Any, shadows: Any = None) -> Bars:
        bars = back(y_bar, shadows)
        own, *rest = bars.arguments
        return Bars(_field(f, "__self__", given_to(f.__self__, own, shadows)), tuple(rest), bars.keywords)

    return method_back


def _field(f: Any, name: str, bar: Any) -> Tangent | None:
    return None if is_structural_zero(bar) else Tangent(type(f), {name: bar})


def has_source_only(f: types.FunctionType) -> bool:
    """Whether nothing but its source says how a function is differentiated, whatever it is called with, as was found before."""
    load_optional()
    return is_known(CALLED, f)


CONTAINERS: Any = (list, tuple, dict, str, bytes, range, np.ndarray, np.generic, deque, types.MappingProxyType, memoryview)
"""What an index does nothing to but say which item is read."""


def check_index_of(f: Any, args: tuple[Any, ...]) -> None:
    """Refuse to read an item of what may make it of the index, if there are numbers in that which may be differentiated."""
    if f is operator.getitem and len(args) == 2 and not isinstance(args[0], CONTAINERS) and is_continuous(args[1]):
        raise MissingRuleError(
            f"what a {type(args[0]).__name__} gives for a differentiated index is not known",
            None,
            "Call a function instead: np.concatenate, np.stack, np.linspace.",
        )


def refuse_active(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], without_numbers: Any) -> None:
    """Refuse a callee that is neither known nor readable if it gets what may be differentiated; methods of objects of some
    classes are called nevertheless."""
    if not callable(f):
        f(*args, **kwargs)  # Python's own error
    owner = getattr(f, "__self__", None)
    owners = () if isinstance(owner, without_numbers) else (owner,)
    if any(map(may_be_active, (*owners, *args, *kwargs.values()))):
        raise without_rule(f, name_of(f), args, kwargs)


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


NESTED = "differentiation inside differentiated code"
DIFFERENTIATE_BY = "Call gradient, grad(f), pullback or jvp there, which have derivatives themselves; or stop_gradient(x)."


def nested(f: Any) -> DifferentiationError:
    return UnsupportedSyntaxError(
        f"{NESTED} ({getattr(f, '__qualname__', f)})",
        None,
        DIFFERENTIATE_BY,
    )
