"""Making objects in a run that tracks writes: what their constructors store is stored as any assignment stores it."""

from __future__ import annotations

import collections
import dataclasses
import inspect
import types
from typing import Any

from microgradpy.errors import CompilerBug
from microgradpy.runtime.bars import Back, Bars, Resolve, Resolved, nothing
from microgradpy.runtime.constructors import check_finaliser
from microgradpy.runtime.keys import check_key
from microgradpy.state import objects
from microgradpy.state.attributes import set_attribute
from microgradpy.state.exceptions import new_exception
from microgradpy.state.known_rules import from_undo
from microgradpy.state.shadows import Shadows
from microgradpy.state.write_handlers import has_write_handler
from microgradpy.tangents.types import accumulate


def construct(resolve: Resolve, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved | None:
    """cls(*args, **kwargs): `__new__`, then `__init__`, of classes that are written in Python; None for others."""
    check_finaliser(cls)
    if cls in (set, frozenset):
        return _set(resolve, cls, args, kwargs)
    if cls in _CONTAINERS:
        return _container(resolve, cls, args, kwargs)
    if cls is collections.Counter and len(args) == 1 and not kwargs and not isinstance(args[0], dict):
        return _counter(resolve, args)
    init: Any = cls.__init__  # type: ignore[misc]
    made = None if type(cls).__call__ is not type.__call__ else _new(resolve, cls, args, kwargs)
    if made is None:
        return None
    y, new_back = made
    if not isinstance(y, cls) or not (isinstance(init, types.FunctionType) or _fills(cls) or issubclass(cls, BaseException)):
        return y, lambda y_bar, shadows: _without_first(new_back(y_bar, shadows))
    if dataclasses.is_dataclass(cls) and init.__code__.co_filename == "<string>":
        y, init_back = _fill_dataclass(resolve, cls, y, args, kwargs)
    else:
        result, init_back = resolve(init, (y, *args), kwargs)
        if result is not None:
            cls(*args, **kwargs)  # raises Python's error

    def construct_back(y_bar: Any, shadows: Shadows) -> Bars:
        bars = _without_first(init_back(None, shadows))
        made = _without_first(new_back(None, shadows))
        arguments = tuple(map(accumulate, made.arguments, bars.arguments))
        keywords = {name: accumulate(made.keywords.get(name), bars.keywords.get(name)) for name in kwargs}
        return Bars(None, arguments, keywords)

    return y, construct_back


def _new(resolve: Resolve, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved | None:
    """cls.__new__(cls, *args, **kwargs); None if neither it nor `__init__` is written in Python."""
    new: Any = cls.__new__
    init: Any = cls.__init__  # type: ignore[misc]
    if isinstance(new, types.FunctionType):
        return resolve(new, (cls, *args), kwargs)
    if issubclass(cls, BaseException):
        return from_undo(*new_exception(cls, *args, **kwargs))
    if new is object.__new__ and init is not object.__init__:
        return object.__new__(cls), nothing(1 + len(args))
    if isinstance(init, types.FunctionType) or _fills(cls):
        return new(cls), nothing(1 + len(args))
    return None


def _fills(cls: type) -> bool:
    """Whether a class of the user's is made as the list, dict or deque is that it inherits from."""
    init: Any = cls.__init__  # type: ignore[misc]
    return issubclass(cls, list | dict | collections.deque) and has_write_handler(init)


_CONTAINERS = (collections.deque, collections.OrderedDict, collections.defaultdict)


def _container(resolve: Resolve, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved:
    """A container made by way of a list or dict: `deque(items, maxlen)`, `defaultdict(factory, items)`."""
    is_list, skipped = cls is collections.deque, int(cls is collections.defaultdict)
    before, given = args[:skipped], args[skipped : skipped + 1]
    if len(args) > skipped + 1 + is_list:
        cls(*args, **kwargs)  # raises Python's error
    items, items_back = resolve(list if is_list else dict, given, {} if is_list else kwargs)
    y: Any = cls(*before, items, *args[skipped + 1 :], **(kwargs if is_list else {}))
    dropped = len(items) - len(y)

    def back(y_bar: Any, shadows: Shadows) -> Bars:
        bars = shadows.content(y, y_bar)
        if bars is not None and is_list:
            bars = [*(None for _ in range(dropped)), *bars]
        found = items_back(shadows.settle(items, bars), shadows)
        factory = shadows.take_factory(y)
        rest = (None,) * (len(args) - len(before) - len(given))
        return Bars(None, (*(factory for _ in before), *found.arguments[: len(given)], *rest), found.keywords)

    return y, back


def _set(resolve: Resolve, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved:
    """set(items), frozenset(items): of objects, which have their cotangents themselves, and of what has none."""
    items, items_back = resolve(list, args, kwargs)
    for item in items:
        check_key(item)
    y = cls(items)
    return y, lambda y_bar, shadows: items_back(None, shadows)


def _counter(resolve: Resolve, args: tuple[Any, ...]) -> Resolved:
    """How often each item comes, which has no derivative."""
    items, items_back = resolve(list, args, {})
    for item in items:
        check_key(item)
    return collections.Counter(items), lambda y_bar, shadows: items_back(None, shadows)


def _without_first(bars: Bars) -> Bars:
    return Bars(None, bars.arguments[1:], bars.keywords)


def _fill_dataclass(resolve: Resolve, cls: type, y: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved:
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
    frozen = cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    for field in cls.__dataclass_fields__.values():  # type: ignore[attr-defined]
        is_initial = _is_initial(field)
        value = _value_of_field(field, given, is_initial)
        if value is dataclasses.MISSING:
            continue
        if is_initial:
            initial.append(field.name)
            given.setdefault(field.name, value)
            continue
        made = from_undo(*objects.store(y, field.name, value)) if frozen else set_attribute(resolve, y, field.name, value)
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


def _is_initial(field: Any) -> bool:
    """Whether a field is an `InitVar`: given to `__post_init__`, not stored."""
    return getattr(field._field_type, "name", "") == "_FIELD_INITVAR"


def _value_of_field(field: Any, given: dict[str, Any], is_initial: bool) -> Any:
    """What the generated `__init__` has for a field; MISSING if it leaves the field alone."""
    if getattr(field._field_type, "name", "") == "_FIELD_CLASSVAR":
        return dataclasses.MISSING
    if field.name in given:
        return given[field.name]
    if field.default_factory is not dataclasses.MISSING and not is_initial:
        return field.default_factory()
    return field.default if field.init or is_initial else dataclasses.MISSING
