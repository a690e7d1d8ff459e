"""The table of rules: which callable is differentiated how.

A rule in ChainRules form computes the value and returns the pullback beside it:

    @rrule.register(np.sin)
    def sin_rrule(x):
        def sin_pullback(y_bar):
            return NoTangent(), y_bar * conj(np.cos(x))
        return np.sin(x), sin_pullback

The compiler inlines rules from their text where the callee is known, and calls them where it is not.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, MethodType
from typing import Any, TypeVar, final

from microgradpy.dataclasses import dataclass, field
from microgradpy.originals import importing
from microgradpy.rules.entries import ArgumentTypes, Entry, Rule, accepts, check_hashable, hashes_itself
from microgradpy.rules.loading import MODULES, load_all, load_before, load_for, load_for_attributes, load_optional
from microgradpy.rules.results import applied, cotangents
from microgradpy.tangents.thunks import unthunk
from microgradpy.tangents.types import NoTangent
from microgradpy.usage import asks_in_vain

_OF_LIBRARIES = f"{__name__.rpartition('.')[0]}.scipy."
_AnyRule = TypeVar("_AnyRule", bound=Callable[..., Any])


class _RuleTable:
    """Rules by what they are rules of; of several for one callable, which one applies."""

    def __init__(self) -> None:
        self._rules: dict[Any, list[Entry]] = {}
        self._of_methods: dict[FunctionType, Callable[[Any], Rule]] = {}
        self.version = 0
        """Counts the registrations, so that whoever keeps the outcome of a lookup sees that it may be out of date."""
        self.declared = 0
        """How many of them were not this package's own."""
        self.watchers: list[Callable[[], None]] = []
        """Who is told of each."""

    def changed(self) -> None:
        """Note that a lookup may have another outcome from now on. (What modules of this package declare when they are
        imported was there for every lookup before, unless they wait for a library.)"""
        module = importing()
        if module is None or module.startswith(_OF_LIBRARIES):
            self.version += 1
            self.declared += module is None
            for watcher in self.watchers:
                watcher()

    def register(
        self, f: Any, /, *types: type, arity: int | None = None, options: bool = False
    ) -> Callable[[_AnyRule], _AnyRule]:
        """Declare the decorated function as the rule of `f`: for calls whose first positional arguments are of `types`,
        if any are given, and which have exactly `arity` positional arguments, if that is given. Of several rules that
        apply the most specific is taken, and of equals the latest. A rule with `options` is for calls whose arguments the
        others do not take: it is never compiled in, and may do what it likes."""
        check_hashable(f)
        load_before(f)

        def declare(rule: _AnyRule) -> _AnyRule:
            key = (types, arity, options)
            known = self._rules.get(f, [])
            others = [entry for entry in known if (entry.types, entry.arity, entry.options) != key]
            if not types and not options and len(others) < len(known):
                others = [entry for entry in others if not entry.options]  # they were for the rule that is replaced
            self._rules[f] = [Entry(types, arity, rule, options), *others]
            self.changed()
            return rule

        return declare

    def register_methods(self, function: Any) -> Callable[[Callable[[Any], Rule]], Callable[[Any], Rule]]:
        """Declare that the decorated function makes the rule of `function` as a method of an object, or of the object itself if
        `function` is its `__call__`: for rules whose parameters depend on the object. Rules of the bound method come first."""

        load_before(function)

        def declare(make: Callable[[Any], Rule]) -> Callable[[Any], Rule]:
            self._of_methods[function] = make
            self.changed()
            return make

        return declare

    def _made_for(self, f: Any) -> list[Entry]:
        """The rule that is made for a bound method or a callable object."""
        function: Any = getattr(type(f), "__call__", None)  # noqa: B004 - the function itself is wanted
        owner = f
        if isinstance(f, MethodType):
            function, owner = f.__func__, f.__self__
        make = self._of_methods.get(function) if isinstance(function, FunctionType) else None
        return [] if make is None else [Entry((), None, make(owner))]

    def opt_out(self, f: Any, *types: type) -> None:
        """Differentiate the body of `f` again in calls whose first positional arguments are of `types` (all calls without
        them), although it has a rule, or was declared non-differentiable."""
        check_hashable(f)
        load_before(f)
        if types:
            others = [entry for entry in self._rules.get(f, []) if entry.types != types]
            self._rules[f] = [Entry(types, None, None), *others]
        else:
            self._rules.pop(f, None)
        self.changed()

    def find(self, f: Any, argument_types: ArgumentTypes = ()) -> Any:
        """The rule for a call of `f` with positional arguments of these types. For a type of None, which stands for
        "not known", only rules that ask for no type at that place apply."""
        entries = [entry for entry in self._entries(f) if not entry.options]
        ranked = [(rank, entry) for entry in entries if (rank := entry.rank(argument_types)) is not None]
        return min(ranked, key=lambda pair: pair[0])[1].rule if ranked else None

    def find_for(self, f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The rule for a call with these arguments: the one that was declared for options, if another does not take them."""
        rule = self.find(f, tuple(map(type, args)))
        others = [entry.rule for entry in self._entries(f) if entry.options]
        if not others or (rule is not None and accepts(rule, args, kwargs)):
            return rule
        return others[0]

    def has(self, f: Any) -> bool:
        """Whether `f` has any rule."""
        return bool(self._entries(f))

    def registered(self) -> list[Any]:
        """The callables that have a rule."""
        load_all()
        known = list(self._rules)  # a lookup may bring rules of what has just been imported
        return [f for f in known if any(entry.declared for entry in self._entries(f))]

    def rules_of(self, f: Any) -> list[Any]:
        """The rules of `f`, for whatever types and numbers of arguments."""
        return [entry.rule for entry in self._entries(f) if entry.rule is not None]

    def typed_rules(self, f: Any) -> list[tuple[tuple[type, ...], Any]]:
        """The rules of `f` that are for some types only, with these; None in the place of a rule that was opted out of."""
        return [(entry.types, entry.rule) for entry in self._entries(f) if entry.types]

    def is_typed(self, f: Any) -> bool:
        """Whether the choice among the rules of `f` depends on the types of the arguments."""
        return any(entry.types for entry in self._entries(f))

    def _entries(self, f: Any) -> list[Entry]:
        load_optional()
        if hashes_itself(f):
            return next((entries for other, entries in list(self._rules.items()) if other is f), [])
        load_for(f)
        try:
            return self._rules.get(f) or (self._made_for(f) if self._of_methods else [])
        except TypeError:  # unhashable callables cannot have been registered
            return []


@final
class ReverseRules(_RuleTable):
    """The reverse rules. `rrule(f, *args, **kwargs)` applies the rule of `f`; `@rrule.register(f)` declares one."""

    def __init__(self) -> None:
        super().__init__()
        self._non_differentiable: set[Any] = set()

    def __call__(self, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]] | None:
        """`(y, pullback)` from the rule of `f`, or None if `f` has none. `pullback(y_bar)` returns the cotangent of `f`
        itself and one per positional argument."""
        _check_asked("rrule", f, args or kwargs)
        rule = self.find_for(f, args, kwargs)
        if rule is not None:
            y, pullback = applied(rule, args, kwargs, "pullback")
            return y, OnePerArgument(pullback, 1 + len(args), rule)
        if not self.is_non_differentiable(f):
            return None
        return f(*args, **kwargs), OnePerArgument(_no_derivative, 1 + len(args))

    def register(
        self, f: Any, /, *types: type, arity: int | None = None, options: bool = False
    ) -> Callable[[_AnyRule], _AnyRule]:
        """As for any table of rules: see there. A rule for all types takes the place of `non_differentiable`."""
        declare = super().register(f, *types, arity=arity, options=options)
        if not types:
            self._non_differentiable.discard(f)
        return declare

    def opt_out(self, f: Any, *types: type) -> None:
        """As for any table of rules: see there."""
        super().opt_out(f, *types)
        if not types:
            self._non_differentiable.discard(f)

    def non_differentiable(self, *callables: Any) -> None:
        """Declare that the results of these callables carry no derivative."""
        for f in callables:
            check_hashable(f)
            load_before(f)
        self._non_differentiable.update(callables)
        for f in callables:
            self._rules.pop(f, None)
        self.changed()

    def covers(self, f: Any) -> bool:
        """Whether every call of `f` goes by a rule, so that its body does not matter."""
        entries = self._entries(f)
        plain = any(not entry.types and entry.arity is None and not entry.options for entry in entries)
        return plain and all(entry.declared for entry in entries)

    def has_others(self, f: Any) -> bool:
        """Whether `f` has a rule, or a declaration that it has no derivative, that is not one of this package."""
        own = __name__.partition(".")[0] + "."
        rules = (entry.rule for entry in self._entries(f) if entry.rule is not None)
        return any(not str(rule.__module__).startswith(own) for rule in rules) or self.is_non_differentiable(f)

    def names(self, function: FunctionType) -> bool:
        """Whether a function was named to this table."""
        return function in self._rules or function in self._non_differentiable

    def named(self) -> list[Any]:
        """The callables that were named to this table so far, and the functions that were named for their objects."""
        return [*self._rules, *self._of_methods, *self._non_differentiable]

    def is_non_differentiable(self, f: Any) -> bool:
        """Whether `f` was declared to give results without derivative."""
        load_optional()
        if hashes_itself(f):
            return any(other is f for other in self._non_differentiable)
        load_for(f)
        try:
            return f in self._non_differentiable
        except TypeError:
            return False


ForwardRule = Callable[..., tuple[Any, Callable[..., Any]]]
Derive = Callable[[Any, Rule, tuple[Any, ...], dict[str, Any]], tuple[Any, Callable[..., Any]]]


@final
class ForwardRules(_RuleTable):
    """The forward rules. `frule(f, *args, **kwargs)` applies the rule of `f`; `@frule.register(f)` declares one. Where there
    is only a reverse rule, the forward one is derived from it: the pullback is a linear map, and what takes the tangents of
    the arguments to that of the value is its transpose."""

    def __init__(self) -> None:
        super().__init__()
        self.derive: Derive | None = None
        """Installed by who can differentiate pullbacks."""

    def changed(self) -> None:
        """Code that was compiled is valid for one version of all rules."""
        super().changed()
        rrule.changed()

    def __call__(self, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Callable[..., Any]] | None:
        """`(y, pushforward)` from the rule of `f`, or from its reverse rule; None if `f` has neither.
        `pushforward(f_dot, x1_dot, ..., xn_dot)` returns the tangent of `y` for those of `f` itself and of the positional
        arguments."""
        _check_asked("frule", f, args or kwargs)
        rule = self.find_for(f, args, kwargs)
        if rule is not None:
            return applied(rule, args, kwargs, "pushforward")
        reverse = rrule.find_for(f, args, kwargs)
        if reverse is not None and self.derive is not None:
            return self.derive(f, reverse, args, kwargs)
        if not rrule.is_non_differentiable(f):
            return None
        return f(*args, **kwargs), _no_tangent


def _check_asked(name: str, f: Any, given: Any) -> None:
    """Refuse a call without the arguments that the function has to have: that was meant to declare a rule."""
    if not given and asks_in_vain(f):
        called = getattr(f, "__name__", type(f).__name__)
        found = f"{name}({called}, *args) asks the rule of {called} for a value, and no argument is given"
        raise TypeError(f"{found}; a rule is declared by @{name}.register({called})")


@final
class OnePerArgument:
    """A pullback whose result is cut, or filled up with `NoTangent()`, to one cotangent per positional argument of the
    call: rules leave out trailing parameters like `axis`, and mention optional ones that may not have been given. The seed
    may be a thunk."""

    def __init__(self, pullback: Callable[[Any], tuple[Any, ...]], count: int, rule: Any = None) -> None:
        self.rule = rule
        self.__wrapped__ = pullback
        self.__name__ = getattr(pullback, "__name__", "pullback")
        self.count = count

    def __call__(self, y_bar: object) -> tuple[Any, ...]:
        seed = unthunk(y_bar)
        bars = self.__wrapped__(seed) if self.rule is None else cotangents(self.rule, self.__wrapped__, seed)
        return bars[: self.count] + (NoTangent(),) * (self.count - len(bars))


def _no_derivative(y_bar: object) -> tuple[Any, ...]:
    return ()


def _no_tangent(*dots: object) -> NoTangent:
    return NoTangent()


rrule = ReverseRules()
frule = ForwardRules()


def non_differentiable(*callables: Any) -> None:
    """Declare that the results of these callables carry no derivative, whatever they are called with."""
    rrule.non_differentiable(*callables)
    for f in callables:
        frule.opt_out(f)


def opt_out(f: Any, *types: type) -> None:
    """Differentiate the body of `f` again, in spite of its rules, in calls whose first positional arguments are of `types` (in
    all calls without them)."""
    rrule.opt_out(f, *types)
    frule.opt_out(f, *types)


def is_non_differentiable(f: Any) -> bool:
    """Whether `f` was declared `non_differentiable`."""
    return rrule.is_non_differentiable(f)


def method_rule(cls: type, name: str) -> Rule | None:
    """The rule for calling the method `name` of instances of `cls`: that of the unbound method `cls.name`, whose first
    argument is the instance."""
    return rrule.find(getattr(cls, name, None), (cls,))


_attribute_rules: dict[tuple[type, str], Rule] = {}
_inert_attributes: set[tuple[type, str]] = set()


def attribute_rule(cls: type, name: str) -> Callable[[_AnyRule], _AnyRule]:
    """Declare the decorated function, of one argument, as the rule for reading the attribute `name` of a `cls`."""

    if not importing():
        load_for_attributes(cls)

    def declare(rule: _AnyRule) -> _AnyRule:
        _attribute_rules[cls, name] = rule
        _inert_attributes.discard((cls, name))
        rrule.changed()
        return rule

    return declare


def find_attribute_rule(cls: type, name: str) -> Rule | None:
    """The rule for reading the attribute `name` of a `cls`, own or inherited."""
    load_for_attributes(cls)
    for base in cls.__mro__:
        if (base, name) in _attribute_rules:
            return _attribute_rules[base, name]
    return None


def registered_attributes() -> list[tuple[type, str]]:
    """The attributes, as class and name, that have a rule."""
    load_all()
    return list(_attribute_rules)


def mark_inert_attribute(cls: type, *names: str) -> None:
    """Declare that these attributes of a `cls` carry no derivative."""
    if not importing():
        load_for_attributes(cls)
    _inert_attributes.update((cls, name) for name in names)
    rrule.changed()


def is_inert_attribute(cls: type, name: str) -> bool:
    """Whether the attribute `name` of a `cls` was declared, here or on a base class, to carry no derivative."""
    load_for_attributes(cls)
    return any((base, name) in _inert_attributes for base in cls.__mro__)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """One call of a callable that has a rule: a case of the tests."""

    f: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    id: str = ""

    def __str__(self) -> str:
        return self.id


_Recorded = tuple[Any, tuple[Any, ...], dict[str, Any]]
_recorded: dict[str, list[_Recorded]] = {}
"""The test cases by the module that records them."""


def example(f: Any, /, *args: Any, **kwargs: Any) -> None:
    """Record the call `f(*args, **kwargs)` as a test case of the rule of `f`."""
    _recorded.setdefault(importing() or "", []).append((f, args, kwargs))


def examples(f: Any, /, *argument_tuples: tuple[Any, ...], **common_kwargs: Any) -> None:
    """Record one test case of the rule of `f` per tuple of positional arguments."""
    for args in argument_tuples:
        example(f, *args, **common_kwargs)


def all_examples() -> list[Example]:
    """Every recorded test case, numbered for each callable: those of this package in the order of its modules."""
    load_all()
    modules = sorted(_recorded, key=lambda module: MODULES.index(module) if module in MODULES else len(MODULES))
    numbers: dict[str, Iterator[int]] = {}
    found = []
    for f, args, kwargs in itertools.chain.from_iterable(_recorded[module] for module in modules):
        name = _full_name(f)
        found.append(Example(f, args, kwargs, f"{name}-{next(numbers.setdefault(name, itertools.count()))}"))
    return found


def _full_name(f: Any) -> str:
    """The name of a callable after that of its class or module. SciPy's ufuncs do not know their module; the rule does."""
    name = getattr(f, "__name__", str(f))
    rule = rrule.find(f)
    family = rule.__module__.partition(".rules.")[2] if rule is not None else ""
    if family.startswith("scipy."):
        distribution = type(f.__self__).__name__ + "." if isinstance(f, MethodType) else ""
        return f"{family}.{distribution}{name}"
    owner = getattr(f, "__objclass__", None)
    module = owner.__name__ if owner is not None else getattr(f, "__module__", None) or type(f).__module__
    return f"{module}.{name}"
