"""Choosing the derivative of a call at run time, in a run that may write into objects.

`resolve(f, args, kwargs)` makes the call and returns its value with what undoes it. The cotangents of mutable arguments are
in the shadows; `Bars` has those that travel by value, and those of arrays that a callee found to be written by nobody.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import types
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from microgradpy.errors import CompilerBug, MissingRuleError, MutationError
from microgradpy.rules.registry import find_attribute_rule, is_inert_attribute, is_non_differentiable, rrule
from microgradpy.runtime import dispatch as pure
from microgradpy.runtime.cotangents import missing_cotangent, or_zero
from microgradpy.runtime.dispatch import Bars, Wanted
from microgradpy.runtime.markers import NESTED_DIFFERENTIATION
from microgradpy.runtime.special_methods import METHODS_ASKED, overloaded
from microgradpy.runtime.suspension import delegate_to
from microgradpy.runtime.writes import REMEDY, output_of, written_argument
from microgradpy.state import arrays, containers, generators, objects  # noqa: F401 - containers registers its events
from microgradpy.state.events import event, find_event
from microgradpy.state.shadows import Shadows, Undo, is_value
from microgradpy.state.snapshots import Known, seal, structure_of
from microgradpy.tangents.types import Tangent, is_structural_zero

Back = Callable[[Any, Shadows], Bars]
Made = tuple[Any, Back]


class Entry(Protocol):
    """The compiler's entry for functions with source."""

    def __call__(
        self,
        function: types.FunctionType,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        wanted: Wanted,
        keywords_wanted: bool,
    ) -> Made: ...


_entry: list[Entry] = []


def install(entry: Entry) -> None:
    """Called once by the compiler."""
    _entry[:] = [entry]


def tracked_pullback_of(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Undo]:
    """`(y, pullback)`; `pullback(y_bar, shadows)` returns the cotangents of `f` and of each positional argument, None for
    those that are in the shadows or zero."""
    y, back = resolve(f, args, kwargs, None, False)

    def pullback(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        bars = back(y_bar, shadows)
        given = bars.arguments[: len(args)]
        return (bars.function, *given, *(None,) * (len(args) - len(given)))

    return y, pullback


def tracked_pullback_of_packed(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Undo]:
    """The same for `f(*args, **kwargs)`: cotangents of `f`, of `args` and of `kwargs`."""
    y, back = resolve(f, tuple(args), dict(kwargs))
    held = dict(kwargs)

    def pullback(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        bars = back(y_bar, shadows)
        given = (*bars.arguments, *(None,) * (len(args) - len(bars.arguments)))
        arguments = tuple(shadows.settle(x, bar) for x, bar in zip(args, given, strict=False))
        keywords = {name: shadows.settle(held[name], bar) for name, bar in bars.keywords.items()}
        keywords = {name: bar for name, bar in keywords.items() if bar is not None}
        return bars.function, arguments, keywords or None

    return y, pullback


def resolve(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted = None, keywords_wanted: bool = True
) -> Made:
    """The value of a call, and what undoes it."""
    if isinstance(f, types.BuiltinMethodType | types.MethodWrapperType) and not isinstance(
        f.__self__, types.ModuleType | type | None
    ):
        return _by_builtin_method(f, args, kwargs, wanted, keywords_wanted)
    if not kwargs and _looked_up(METHODS_ASKED, f) is not None:
        asked = overloaded(f, args, resolve)
        if asked is not None:
            return asked
    if any(type(x) is types.GeneratorType for x in args):
        using_up = generators.collected(f, args, kwargs, resolve)
        if using_up is not None:
            return using_up
    made = _by_write(f, args, kwargs)
    if made is not None:
        return made
    if f is getattr:
        return _attribute(args, kwargs)
    if f is setattr:
        return set_attribute(*args)
    if f is vars and len(args) == 1 and not isinstance(args[0], type | types.ModuleType):
        # Its shadow is that of the object.
        return vars(args[0]), _nothing(1)
    if f is delattr:
        deleter = objects.deleter_of(*args)
        if deleter is None:
            return _from_undo(*objects.delete(*args))
        y, back = resolve(deleter.func, deleter.args, {})
        return y, lambda y_bar, shadows: (back(None, shadows), Bars(None, (None, None), {}))[1]
    special = _special_method(f, args)
    if special is not None:
        return resolve(special, args, kwargs, wanted, keywords_wanted)
    binary = _looked_up(_AUGMENTED, f)
    if binary is not None and args:
        return resolve(binary, args, kwargs, wanted, keywords_wanted)
    if rrule.has(f):
        rule = rrule.find(f, tuple(map(type, args)))
        return _opaque(f, args, kwargs) if rule is None else _by_rule(f, rule, args, kwargs, keywords_wanted)
    if is_non_differentiable(f):
        return f(*args, **kwargs), _nothing(len(args))
    match f:
        case types.FunctionType():
            if f in NESTED_DIFFERENTIATION:
                raise pure.nested(f)
            return _entry[0](f, args, kwargs, wanted, keywords_wanted)
        case types.MethodType():
            return _by_method(f, args, kwargs, wanted, keywords_wanted)
        case functools.partial():
            return _by_partial(f, args, kwargs)
        case type():
            return _construct(f, args, kwargs, keywords_wanted)
    call = getattr(type(f), "__call__", None)  # noqa: B004 - the function itself is wanted
    if isinstance(call, types.FunctionType):
        return _by_callable_object(f, call, args, kwargs, wanted, keywords_wanted)
    return _opaque(f, args, kwargs)


event(delegate_to)(functools.partial(generators.delegated, resolve))


_AUGMENTED = {
    getattr(operator, f"i{name.rstrip('_')}"): getattr(operator, name)
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift", "and_", "or_", "xor")
}
"""What `x += y` is where `x` has no operator in place."""
_METHODS = {getattr(np.ndarray, f"__{f.__name__}__"): f for f in _AUGMENTED}
_SPECIAL = {
    operator.setitem: "__setitem__",
    operator.delitem: "__delitem__",
    **{f: f"__{f.__name__}__" for f in _AUGMENTED},
}


def _looked_up(table: dict[Any, Any], f: Any) -> Any:
    """What a table has for a callable, which need not be hashable."""
    try:
        return table.get(f)
    except TypeError:
        return None


def _special_method(f: Any, args: tuple[Any, ...]) -> Any:
    """The method of the user's class that writing with an operator calls."""
    name = _looked_up(_SPECIAL, f)
    if name is None or not args:
        return None
    found = objects.static_attribute(args[0], name)
    return found if isinstance(found, types.FunctionType) else None


def _nothing(count: int) -> Back:
    return lambda y_bar, shadows: Bars(None, (None,) * count, {})


def _from_undo(y: Any, undo: Undo) -> Made:
    return y, lambda y_bar, shadows: Bars(None, undo(y_bar, shadows), {})


# Writes


def _by_write(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made | None:
    """A call of a known function that writes into one of its arguments."""
    f = _METHODS.get(f, f) if isinstance(f, types.WrapperDescriptorType) else f
    found = find_event(f, args)
    if found is not None:
        return _from_undo(*found(*args, **kwargs))
    if args and is_value(args[0]) and _looked_up(_AUGMENTED, f) is not None:
        return None
    how = written_argument(f, args, kwargs)
    if how is None:
        return None
    given = output_of(f, args, kwargs)
    if given is None or not isinstance(given[0], np.ndarray):
        if _is_users(args):
            return None
        raise MutationError(f"{pure.name_of(f)} {how}", None, REMEDY)
    out, inputs, named = given
    where = named.pop("where", True)
    y, undo = arrays.call_into(f, inputs, named, out, where)

    def back(y_bar: Any, shadows: Shadows) -> Bars:
        bars = undo(y_bar, shadows)
        return Bars(None, bars + (None,) * (len(args) - len(bars)), {})

    return y, back


def _is_users(args: tuple[Any, ...]) -> bool:
    """Whether the object written into is of a class of the user's, whose methods say what happens."""
    return bool(args) and not isinstance(args[0], list | dict | set | deque | bytearray | np.ndarray)


# Rules


def _by_rule(f: Any, rule: Any, args: tuple[Any, ...], kwargs: dict[str, Any], keywords_wanted: bool) -> Made:
    names: list[str] = []
    asked = frozenset(kwargs)
    if kwargs or not pure.takes(rule, len(args)):
        args, kwargs, names = pure.positional(f, rule, args, kwargs, keywords_wanted)
    count = len(args)
    known = Known(args)
    y, pullback = rule(*args, **kwargs)
    if not isinstance(pullback, types.FunctionType):
        raise MissingRuleError(
            f"the pullback of the rule of {pure.name_of(f)} is a {type(pullback).__name__}",
            None,
            "Return a nested function, so that what it keeps can be told.",
        )
    made = structure_of(y)
    seal(pullback, known, y)

    def back(y_bar: Any, shadows: Shadows) -> Bars:
        split = count - len(names)
        d = known.born(shadows, made, y_bar)
        if is_structural_zero(d):
            return Bars(None, (None,) * split, {})
        own, *bars = pullback(or_zero(d, y))
        for index in range(len(bars), count):
            missing_cotangent(args[index], getattr(f, "__name__", repr(f)), index)
        bars = [None if is_structural_zero(bar) else bar for bar in bars[:count]] + [None] * (count - len(bars))
        bars = [structure.divided(shadows, bar) for structure, bar in zip(known.structures, bars, strict=True)]
        own = None if is_structural_zero(own) else own
        keywords = {name: bar for name, bar in zip(names, bars[split:], strict=False) if name in asked}
        return Bars(own, tuple(bars[:split]), keywords)

    return y, back


# Callables that hold others


def _settled_field(x: Any, f: Any, name: str, bar: Any, shadows: Shadows) -> Tangent | None:
    value = shadows.settle(x, bar)
    return None if value is None else Tangent(type(f), {name: value})


def _by_method(
    f: types.MethodType, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
) -> Made:
    inner = None if wanted is None else (True, *wanted)
    y, back = resolve(f.__func__, (f.__self__, *args), kwargs, inner, keywords_wanted)

    def method_back(y_bar: Any, shadows: Shadows) -> Bars:
        bars = back(y_bar, shadows)
        own, *rest = bars.arguments
        return Bars(_settled_field(f.__self__, f, "__self__", own, shadows), tuple(rest), bars.keywords)

    return y, method_back


def _by_builtin_method(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool) -> Made:
    owner = f.__self__
    unbound = getattr(type(owner), f.__name__, None)
    if unbound is None or is_non_differentiable(f):
        return (f(*args, **kwargs), _nothing(len(args))) if unbound is not None else _opaque(f, args, kwargs)
    if find_event(unbound, (owner, *args)) is None and not rrule.has(unbound) and not is_non_differentiable(unbound):
        if written_argument(unbound, (owner, *args), kwargs) is None:
            return _opaque(f, args, kwargs)
    y, back = resolve(unbound, (owner, *args), kwargs, None, keywords_wanted)

    def method_back(y_bar: Any, shadows: Shadows) -> Bars:
        bars = back(y_bar, shadows)
        own, *rest = bars.arguments
        return Bars(_settled_field(owner, f, "__self__", own, shadows), tuple(rest), bars.keywords)

    return y, method_back


def _by_partial(f: functools.partial[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    fixed = len(f.args)
    y, back = resolve(f.func, (*f.args, *args), {**f.keywords, **kwargs})

    def partial_back(y_bar: Any, shadows: Shadows) -> Bars:
        bars = back(y_bar, shadows)
        fields: dict[str, Any] = {}
        if bars.function is not None:
            fields["func"] = bars.function
        if any(bar is not None for bar in bars.arguments[:fixed]):
            fields["args"] = tuple(bars.arguments[:fixed])
        own = {k: bar for k, bar in bars.keywords.items() if k in f.keywords and k not in kwargs and bar is not None}
        if own:
            fields["keywords"] = own
        rest = {k: bar for k, bar in bars.keywords.items() if k in kwargs}
        return Bars(Tangent(type(f), fields) if fields else None, tuple(bars.arguments[fixed:]), rest)

    return y, partial_back


def _by_callable_object(
    f: Any,
    call: types.FunctionType,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    wanted: Wanted,
    keywords_wanted: bool,
) -> Made:
    inner = None if wanted is None else (True, *wanted)
    y, back = resolve(call, (f, *args), kwargs, inner, keywords_wanted)

    def object_back(y_bar: Any, shadows: Shadows) -> Bars:
        bars = back(y_bar, shadows)
        own, *rest = bars.arguments
        return Bars(shadows.settle(f, own), tuple(rest), bars.keywords)

    return y, object_back


# Attributes


def _attribute(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """getattr(x, name), or with a default."""
    x, name, *default = args
    if default:
        try:
            y, back = read_attribute(x, name)
        except AttributeError:
            return default[0], lambda y_bar, shadows: Bars(None, (None, None, y_bar), {})
        return y, lambda y_bar, shadows: Bars(None, (*back(y_bar, shadows).arguments, None), {})
    return read_attribute(x, name)


def read_attribute(x: Any, name: str) -> Made:
    """x.name, by what its class has under that name."""
    rule = find_attribute_rule(type(x), name)
    if rule is not None:
        y, back = _by_rule(getattr, rule, (x,), {}, False)
        return y, lambda y_bar, shadows: Bars(None, (*back(y_bar, shadows).arguments, None), {})
    if isinstance(x, type | types.ModuleType) or is_inert_attribute(type(x), name) or name == "__dict__":
        return getattr(x, name), _nothing(2)
    if objects.is_plain_field(x, name):
        return _from_undo(*objects.load(x, name))
    found = objects.static_attribute(x, name)
    call: Any = None
    given: tuple[Any, ...] = (x,)
    if isinstance(type(x).__getattribute__, types.FunctionType):
        call, given = type(x).__getattribute__, (x, name)
    elif isinstance(found, property) and isinstance(found.fget, types.FunctionType):
        call = found.fget
    elif isinstance(found, functools.cached_property):
        return _cached(x, name, found)
    elif found is objects.MISSING:
        fallback = getattr(type(x), "__getattr__", None)
        if isinstance(fallback, types.FunctionType):
            call, given = fallback, (x, name)
    elif isinstance(get := inspect.getattr_static(type(found), "__get__", None), types.FunctionType):
        call, given = get, (found, x, type(x))
    if call is not None:
        y, back = resolve(call, given, {})
        place = 1 if call is not None and len(given) == 3 else 0
        return y, lambda y_bar, shadows: Bars(None, (back(y_bar, shadows).arguments[place], None), {})
    y = getattr(x, name)
    if isinstance(x, tuple) and name in getattr(x, "_fields", ()):
        return y, _field_of_tuple(x, x._fields.index(name))  # type: ignore[attr-defined]

    def back_to_owner(y_bar: Any, shadows: Shadows) -> Bars:
        if y_bar is None or found is y:  # a constant of the class
            return Bars(None, (None, None), {})
        if getattr(y, "__self__", None) is not x or not isinstance(y_bar, Tangent):
            raise MissingRuleError(
                f"attribute {name!r} of a {type(x).__name__} is computed by code that cannot be read",
                None,
                f"Declare its derivative with @attribute_rule({type(x).__name__}, {name!r}).",
            )
        return Bars(None, (shadows.settle(x, y_bar.get("__self__")), None), {})

    return y, back_to_owner


def _field_of_tuple(x: tuple[Any, ...], index: int) -> Back:
    def back(y_bar: Any, shadows: Shadows) -> Bars:
        if y_bar is None:
            return Bars(None, (None, None), {})
        items = [None] * len(x)
        items[index] = y_bar
        return Bars(None, (tuple(items), None), {})

    return back


def _cached(x: Any, name: str, found: functools.cached_property[Any]) -> Made:
    """The first reading of a cached property: computed, and stored in the object."""
    y, back = resolve(found.func, (x,), {})
    x.__dict__[name] = y

    def cached_back(y_bar: Any, shadows: Shadows) -> Bars:
        shadow = shadows.of(x)
        shadow.add(name, y_bar)
        return Bars(None, (back(shadow.take(name), shadows).arguments[0], None), {})

    return y, cached_back


def set_attribute(x: Any, name: str, value: Any) -> Made:
    """x.name = value, by what its class has under that name."""
    if isinstance(x, np.ndarray) and name in ("real", "imag"):
        y, part_undo = arrays.set_array_item(getattr(x, name), ..., value)
        return y, lambda y_bar, shadows: Bars(None, (None, None, part_undo(y_bar, shadows)[2]), {})
    setter: Any = objects.setter_of(x, name)
    if setter is None:
        return _from_undo(*objects.store(x, name, value))
    y, back = resolve(setter.func, (*setter.args, value), {})

    def setter_back(y_bar: Any, shadows: Shadows) -> Bars:
        bars = back(y_bar, shadows)
        *before, own = bars.arguments
        for held, bar in zip(setter.args, before, strict=True):
            shadows.settle(held, bar)
        return Bars(None, (None, None, own), {})

    return None, setter_back


# Constructors


def _construct(cls: type, args: tuple[Any, ...], kwargs: dict[str, Any], keywords_wanted: bool) -> Made:
    """cls(*args, **kwargs): `__new__`, then `__init__`, of classes that are written in Python."""
    if issubclass(cls, tuple) and hasattr(cls, "_fields") and cls.__new__.__module__ != object.__module__:
        y = cls(*args, **kwargs)
        fields: tuple[str, ...] = cls._fields

        def tuple_back(y_bar: Any, shadows: Shadows) -> Bars:
            bars = (None,) * len(fields) if y_bar is None else tuple(y_bar)
            return Bars(None, bars[: len(args)], {name: bars[fields.index(name)] for name in kwargs})

        return y, tuple_back
    new, init = cls.__new__, cls.__init__  # type: ignore[misc]
    if type(cls).__call__ is not type.__call__:
        return _opaque(cls, args, kwargs)
    if isinstance(new, types.FunctionType):
        y, new_back = resolve(new, (cls, *args), kwargs, None, keywords_wanted)
    elif new is object.__new__ and init is not object.__init__:
        y, new_back = object.__new__(cls), _nothing(1 + len(args))
    elif isinstance(init, types.FunctionType):
        if issubclass(cls, BaseException):
            return _opaque(cls, args, kwargs)
        y, new_back = new(cls), _nothing(1 + len(args))
    else:
        return _opaque(cls, args, kwargs)
    if not isinstance(y, cls) or not isinstance(init, types.FunctionType):
        return y, lambda y_bar, shadows: _without_first(new_back(y_bar, shadows))
    if dataclasses.is_dataclass(cls) and init.__code__.co_filename == "<string>":
        y, init_back = _fill_dataclass(cls, y, args, kwargs)
    else:
        result, init_back = resolve(init, (y, *args), kwargs, None, keywords_wanted)
        if result is not None:
            cls(*args, **kwargs)  # raises Python's error

    def construct_back(y_bar: Any, shadows: Shadows) -> Bars:
        bars = _without_first(init_back(None, shadows))
        made = _without_first(new_back(None, shadows))
        arguments = tuple(a if b is None else b for a, b in zip(made.arguments, bars.arguments, strict=True))
        return Bars(None, arguments, {**made.keywords, **bars.keywords})

    return y, construct_back


def _without_first(bars: Bars) -> Bars:
    return Bars(None, bars.arguments[1:], bars.keywords)


def _fill_dataclass(cls: type, y: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """What the `__init__` of a dataclass does, which is generated and has no source."""
    try:
        bound = inspect.signature(cls.__init__).bind(y, *args, **kwargs)  # type: ignore[misc]
    except TypeError:
        cls(*args, **kwargs)
        raise CompilerBug(f"{cls.__qualname__} accepted arguments that could not be bound") from None
    names = list(bound.arguments)[1:]
    given = dict(list(bound.arguments.items())[1:])
    undone: list[tuple[str, Back]] = []
    initial: list[str] = []
    for field in cls.__dataclass_fields__.values():  # type: ignore[attr-defined]
        kind = getattr(field._field_type, "name", "")
        if kind == "_FIELD_CLASSVAR":
            continue
        if field.name in given:
            value = given[field.name]
        elif field.default_factory is not dataclasses.MISSING and kind != "_FIELD_INITVAR":
            value = field.default_factory()
        elif field.default is not dataclasses.MISSING:
            value = field.default
            if not field.init and kind != "_FIELD_INITVAR":
                continue
        else:
            continue
        if kind == "_FIELD_INITVAR":
            initial.append(field.name)
            given.setdefault(field.name, value)
            continue
        frozen = cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
        made = _from_undo(*objects.store(y, field.name, value)) if frozen else set_attribute(y, field.name, value)
        undone.append((field.name, made[1]))
    post: Back | None = None
    if hasattr(cls, "__post_init__"):
        post = resolve(cls.__post_init__, (y, *(given[name] for name in initial)), {})[1]

    def back(y_bar: Any, shadows: Shadows) -> Bars:
        bars: dict[str, Any] = {}
        if post is not None:
            bars = dict(zip(initial, post(None, shadows).arguments[1:], strict=True))
        for name, undo in reversed(undone):
            bars[name] = undo(None, shadows).arguments[-1]
        positional = tuple(bars.get(name) for name in names[: len(args)])
        return Bars(None, (None, *positional), {name: bars.get(name) for name in kwargs})

    return y, back


# What nothing is known of


def _opaque(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    if not callable(f):
        f(*args, **kwargs)  # Python's own error
    if f in NESTED_DIFFERENTIATION:
        raise pure.nested(f)
    owner = getattr(f, "__self__", None)
    owners = () if isinstance(owner, types.ModuleType) else (owner,)
    if any(map(pure.may_be_active, (*owners, *args, *kwargs.values()))):
        raise pure.without_rule(f, pure.name_of(f))
    return f(*args, **kwargs), _nothing(len(args))
