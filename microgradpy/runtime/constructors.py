"""Objects made of differentiated values: classes whose constructor stores its arguments and does nothing else.

    p = Point(x, y)        x_bar = p_bar["x"], y_bar = p_bar["y"]

That is so for named tuples, for dataclasses without `__init__` or `__post_init__` of their own, for `SimpleNamespace`,
`functools.partial`, and for exceptions, whose arguments are their field `args`.
"""

from __future__ import annotations

import collections
import dataclasses
import dis
import functools
import inspect
import types
from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import Any

from microgradpy.errors import MissingRuleError, MutationError
from microgradpy.ir.objects import static_member
from microgradpy.runtime.bars import Back, Bars, Resolved, content, given_to
from microgradpy.runtime.cotangents import cotangent_item
from microgradpy.tangents.fields import dict_of
from microgradpy.tangents.types import Tangent, is_structural_zero


def constructed(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved | None:
    """The object and the pullback of its constructor; None for a class that is not one of these."""
    if not isinstance(cls, type):
        return None
    check_finaliser(cls)
    if issubclass(cls, tuple) and _is_named_tuple(cls):
        return cls(*args, **kwargs), _named_tuple_back(cls, len(args), tuple(kwargs))
    if cls is functools.partial:
        return _partial(args, kwargs)
    if cls is functools._lru_cache_wrapper:
        wrapper: Any = cls(*args, **kwargs)
        back = functools.partial(_fields_back, wrapper, ("__wrapped__", *("" for _ in args[1:])), tuple(kwargs))
        return wrapper, back
    if cls is types.SimpleNamespace and not args:
        namespace = cls(**kwargs)
        return namespace, functools.partial(_fields_back, namespace, (), tuple(kwargs))
    if issubclass(cls, BaseException):
        exception = cls(*args, **kwargs)
        return exception, functools.partial(_exception_back, exception, len(args), tuple(kwargs))
    if dataclasses.is_dataclass(cls) and _is_plain(cls):
        return _dataclass(cls, args, kwargs)
    return None


def check_finaliser(cls: type) -> None:
    """Refuse to make an object whose `__del__` does something: a record may keep the object, so that it would run later."""
    if has_finaliser(cls):
        raise MutationError(finalised(cls), None, CALL_FINALISER)


def finalised(cls: type) -> str:
    """What was found."""
    return f"an object of the class {cls.__name__} is made, whose `__del__` may write when it is dropped"


CALL_FINALISER = "What is kept for the reverse pass may keep it alive. Call what `__del__` does by name, or use `with`."


def has_finaliser(cls: type) -> bool:
    """Whether a class has a `__del__` that may have an effect."""
    found = static_member(cls, "__del__")
    return isinstance(found, types.FunctionType) and _has_effect(found.__code__)


@functools.lru_cache(maxsize=1024)
def _has_effect(code: types.CodeType) -> bool:
    return any(step.opname.startswith(("CALL", "STORE", "DELETE")) for step in dis.get_instructions(code))


def writes_fields(cls: type) -> bool:
    """Whether making an object of a class runs code of the user's, which writes the fields, or reading from it writes; or
    whether it has no cotangent, as a set, and that of what it holds is in the shadows."""
    if has_finaliser(cls) or _is_own_container(cls):
        return True
    if issubclass(cls, collections.defaultdict | collections.deque | collections.OrderedDict | set | frozenset):
        return True
    if issubclass(cls, BaseException | tuple) or (dataclasses.is_dataclass(cls) and _is_plain(cls)):
        return False
    return isinstance(cls.__init__, types.FunctionType) or isinstance(cls.__new__, types.FunctionType)


def _is_own_container(cls: type) -> bool:
    """Whether a class of the user's inherits from a list, dict or deque."""
    return issubclass(cls, list | dict | collections.deque) and cls.__module__ not in ("builtins", "collections")


def _is_named_tuple(cls: type) -> bool:
    """Whether a class is a named tuple, made as `namedtuple` makes it."""
    own = [base for base in cls.__mro__ if "__new__" in vars(base) or "__init__" in vars(base)]
    return hasattr(cls, "_fields") and "_fields" in vars(own[0])


def _named_tuple_back(cls: Any, count: int, names: tuple[str, ...]) -> Back:
    fields = cls._fields

    def back(y_bar: Any, shadows: Any = None) -> Bars:
        arguments = tuple(cotangent_item(y_bar, index) for index in range(count))
        return Bars(None, arguments, {name: cotangent_item(y_bar, fields.index(name)) for name in names})

    return back


def _is_plain(cls: Any) -> bool:
    """Whether nothing but the `__init__` that `dataclass` wrote runs when an object is made."""
    if hasattr(cls, "__post_init__") or cls.__new__ is not object.__new__ or type(cls).__call__ is not type.__call__:
        return False
    return _is_written(cls.__init__) and (cls.__setattr__ is object.__setattr__ or _is_written(cls.__setattr__))


def _is_written(method: Any) -> bool:
    """Whether a method is one that `dataclass` wrote."""
    return isinstance(method, types.FunctionType) and method.__code__.co_filename == "<string>"


def _dataclass(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved | None:
    y = cls(*args, **kwargs)
    names = cls.__init__.__code__.co_varnames[1 : 1 + len(args)]
    given = {**dict(zip(names, args, strict=True)), **kwargs}
    stored = {name for name, value in given.items() if _is_stored(y, name, value)}
    # Fields that were not given have their defaults, and what is not in the object is a constant of the class.
    constants = {field.name for field in dataclasses.fields(cls)} - given.keys()
    others = (given.keys() | dict_of(y).keys()) - stored - constants

    def back(y_bar: Any, shadows: Any = None) -> Bars:
        for name in () if is_structural_zero(y_bar) else others:
            if not is_structural_zero(y_bar.get(name)):
                raise MissingRuleError(
                    f"the field {name!r} of a {cls.__name__} is not the argument of that name as it was given",
                    None,
                    "Let the class store it as it is.",
                )
        return _fields_back(y, names, tuple(kwargs), y_bar)

    return y, back


def _is_stored(y: Any, name: str, value: Any) -> bool:
    static = inspect.getattr_static(type(y), name, None)
    if isinstance(static, types.MemberDescriptorType):
        return static.__get__(y) is value
    return dict_of(y).get(name) is value and not hasattr(type(static), "__set__")


def _fields_back(y: Any, places: tuple[str, ...], names: tuple[str, ...], y_bar: Any, shadows: Any = None) -> Bars:
    fields: Mapping[str, Any] = content(y, y_bar, shadows) or {}
    return Bars(None, tuple(map(fields.get, places)), {name: fields.get(name) for name in names})


def _exception_back(y: Any, count: int, names: tuple[str, ...], y_bar: Any, shadows: Any = None) -> Bars:
    """An exception usually leaves the function, and nothing depends on what is in it."""
    fields: Mapping[str, Any] = content(y, y_bar, shadows) or {}
    if is_structural_zero(y_bar) and not any(bar is not None for bar in fields.values()):
        return Bars(None, (None,) * count, {})
    if names or fields.keys() - {"args"} or isinstance(type(y).__init__, types.FunctionType):
        raise MissingRuleError(f"the fields of a {type(y).__name__} are differentiated", None, "Return the values instead.")
    return Bars(None, tuple(cotangent_item(fields.get("args"), place) for place in range(count)), {})


# Objects made from others

_REPLACE: Any = vars(namedtuple("_Example", ()))["_replace"]
REPLACES = frozenset({dataclasses.replace.__code__, _REPLACE.__code__})
"""The code of the functions that make an object like another but for some fields."""


def replaced(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved | None:
    """dataclasses.replace(x, name=value), x._replace(name=value)"""
    if f is not dataclasses.replace:
        return f(*args, **kwargs), functools.partial(_named_replace_back, args[0], tuple(kwargs))
    x = args[0]
    names = [field.name for field in dataclasses.fields(x) if field.init]
    if not _is_plain(type(x)) or not kwargs.keys() <= set(names):
        return None
    y = f(*args, **kwargs)
    kept = [name for name in names if name not in kwargs]

    def back(y_bar: Any, shadows: Any = None) -> Bars:
        given = content(y, y_bar, shadows) or {}
        fields = {name: given[name] for name in kept if given.get(name) is not None}
        x_bar = Tangent(type(x), fields) if fields else None
        return Bars(None, (given_to(x, x_bar, shadows),), {name: given.get(name) for name in kwargs})

    return y, back


def _named_replace_back(x: Any, names: tuple[str, ...], y_bar: Any, shadows: Any = None) -> Bars:
    bars = dict(zip(x._fields, (None,) * len(x) if is_structural_zero(y_bar) else y_bar, strict=True))
    own = tuple(None if name in names else bar for name, bar in bars.items())
    return Bars(None, (own,), {name: bars[name] for name in names})


# functools.partial


def _partial(args: Any, kwargs: dict[str, Any]) -> Resolved:
    y: functools.partial[Any] = functools.partial(*args, **kwargs)
    function = args[0]
    inner = function if type(function) is functools.partial else None  # its fields become those of the new one
    known = 0 if inner is None else len(inner.args)

    def back(y_bar: Any, shadows: Any = None) -> Bars:
        if is_structural_zero(y_bar):
            return Bars(None, (None,) * len(args), {})
        fixed: tuple[Any, ...] = y_bar.get("args") or (None,) * len(y.args)
        named = y_bar.get("keywords") or {}
        own = y_bar.get("func")
        if inner is not None:
            rest = {name: bar for name, bar in named.items() if name not in kwargs}
            own = _partial_tangent(own, fixed[:known], rest)
        return Bars(None, (own, *fixed[known:]), {name: named.get(name) for name in kwargs})

    return y, back


def _partial_tangent(function: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Tangent | None:
    fields: dict[str, Any] = {}
    if function is not None:
        fields["func"] = function
    if any(bar is not None for bar in args):
        fields["args"] = tuple(args)
    named = {name: bar for name, bar in keywords.items() if bar is not None}
    if named:
        fields["keywords"] = named
    return Tangent(functools.partial, fields) if fields else None


def call_partial(
    f: functools.partial[Any], args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Callable[..., Resolved]
) -> Resolved:
    """Call a `functools.partial`, whose fields have cotangents too."""
    fixed = len(f.args)
    y, back = resolve(f.func, (*f.args, *args), {**f.keywords, **kwargs})

    def partial_back(y_bar: Any, shadows: Any = None) -> Bars:
        bars = back(y_bar, shadows)
        own = {k: bar for k, bar in bars.keywords.items() if k in f.keywords and k not in kwargs}
        rest = {k: bar for k, bar in bars.keywords.items() if k in kwargs}
        return Bars(_partial_tangent(bars.function, bars.arguments[:fixed], own), tuple(bars.arguments[fixed:]), rest)

    return y, partial_back
