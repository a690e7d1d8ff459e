"""Classes of data as the standard library has them, for what this package uses of them.

    @dataclass(frozen=True, slots=True)
    class Location:
        file: str
        line: int = 0

The standard library compiles five functions for each class: that would be a third of what the first import of this package
costs. Functions of classes whose fields differ only in name are written once here, and given the names of each.

What a compile makes by the ten thousand is declared by `nodeclass` instead: that its objects do not change is for the type
checker to see, as it takes three times as long to make one that refuses it at run time.
"""

from __future__ import annotations

import functools
import operator
import reprlib
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, TypeVar, final

from microgradpy.data_functions import ASSIGNMENTS, COMPARISONS, INITS

__all__ = ["dataclass", "field", "nodeclass", "replace"]

_Data = TypeVar("_Data")
_MISSING = object()
_FIELDS = "__data_fields__"


@final
class _Field:
    """What was said of one field of a class."""

    __slots__ = ("compare", "default", "default_factory", "init", "kw_only", "name", "repr")

    def __init__(self, default: Any, default_factory: Any, init: bool, repr: bool, compare: bool, kw_only: bool) -> None:
        self.name = ""
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.compare = compare
        self.kw_only = kw_only

    @property
    def is_optional(self) -> bool:
        """Whether `__init__` has a default for it."""
        return self.default is not _MISSING or self.default_factory is not None

    @property
    def given(self) -> Any:
        """What `__init__` gets if there is no argument."""
        return _MISSING if self.default_factory is not None else self.default


def _field(
    *,
    default: Any = _MISSING,
    default_factory: Callable[[], Any] | None = None,
    init: bool = True,
    repr: bool = True,
    compare: bool = True,
    kw_only: bool = False,
) -> _Field:
    """Says more of a field than that it is there."""
    return _Field(default, default_factory, init, repr, compare, kw_only)


def _dataclass(cls: Any = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True, refuses: bool = True) -> Any:
    """Give a class `__init__`, `__repr__` and, unless its objects are equal to themselves only, `__eq__` over its fields; if it
    is frozen, which one without slots cannot be, `__hash__` as well, and what `refuses` changes."""
    assert slots or not frozen

    def decorate(cls: Any) -> Any:
        own = list(_own_fields(cls))
        inherited = {known.name: known for base in reversed(cls.__mro__[1:]) for known in vars(base).get(_FIELDS, ())}
        fields = tuple((inherited | {each.name: each for each in own}).values())
        if slots:
            cls = _with_slots(cls, [each.name for each in own if each.name not in inherited])
        setattr(cls, _FIELDS, fields)
        cls.__match_args__ = tuple(each.name for each in fields if each.init and not each.kw_only)  # type: ignore[misc]
        for function in _functions(cls, fields, frozen, eq, frozen and refuses):
            if function.__name__ not in vars(cls):
                function.__qualname__ = f"{cls.__qualname__}.{function.__name__}"
                setattr(cls, function.__name__, function)
        if frozen and refuses:
            cls.__setattr__ = cls.__delattr__ = _refuse_change
        if frozen:
            cls.__getstate__, cls.__setstate__ = _state, _set_state
        elif eq:
            cls.__hash__ = None
        return cls

    return decorate if cls is None else decorate(cls)


def _replace(data: _Data, /, **changes: Any) -> _Data:
    """A copy with other values of some fields."""
    cls = type(data)
    positions, values_of = _REPLACED.get(cls) or _positions(cls)
    if values_of is None or not changes.keys() <= positions.keys():
        names = (name for name in positions if name not in changes)
        return cls(**{name: getattr(data, name) for name in names}, **changes)
    values = [*values_of(data)]
    for name, value in changes.items():
        values[positions[name]] = value
    return cls(*values)


_REPLACED: dict[type, tuple[dict[str, int], Callable[[Any], tuple[Any, ...]] | None]] = {}


def _positions(cls: type) -> tuple[dict[str, int], Callable[[Any], tuple[Any, ...]] | None]:
    """The place of each argument of a class of data, and what reads all of them; None if some are given by name only."""
    arguments = [each for each in getattr(cls, _FIELDS) if each.init]
    names = [each.name for each in arguments]
    is_plain = len(names) > 1 and not any(each.kw_only for each in arguments)
    found = {name: place for place, name in enumerate(names)}, operator.attrgetter(*names) if is_plain else None
    _REPLACED[cls] = found
    return found


if TYPE_CHECKING:  # the same to whoever checks types, who knows those of the standard library
    from dataclasses import dataclass as dataclass
    from dataclasses import dataclass as nodeclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    dataclass, field, replace = _dataclass, _field, _replace
    nodeclass = functools.partial(_dataclass, refuses=False)


def _own_fields(cls: type) -> Iterator[_Field]:
    """The fields that a class declares; their defaults leave its namespace."""
    for name, annotation in vars(cls).get("__annotations__", {}).items():
        if annotation.startswith("ClassVar"):
            continue
        given = vars(cls).get(name, _MISSING)
        declared = given if isinstance(given, _Field) else _field(default=given)
        declared.name = name
        if given is not _MISSING:
            delattr(cls, name)
        yield declared


def _with_slots(cls: Any, names: list[str]) -> Any:
    """The class made once more: slots cannot be added to one."""
    contents = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
    made = type(cls)(cls.__name__, cls.__bases__, {**contents, "__slots__": tuple(names)})
    made.__qualname__ = cls.__qualname__
    return made


def _functions(cls: type, fields: tuple[_Field, ...], frozen: bool, eq: bool, refuses: bool) -> Iterator[Any]:
    yield _init(cls, fields, refuses)
    yield _representation()
    if eq:
        names = [each.name for each in fields if each.compare]
        equal, hashed = COMPARISONS[len(names)]() if len(names) < len(COMPARISONS) else _comparisons(names)
        yield _renamed(equal, names)
        if frozen:
            yield _renamed(hashed, names)


def _init(cls: Any, fields: tuple[_Field, ...], refuses: bool) -> Any:
    """`__init__` for these fields, of an object that may refuse changes."""
    arguments = sorted((each for each in fields if each.init), key=lambda each: each.kw_only)
    puts = {each.name: _put(cls, each) for each in fields}
    if len(arguments) >= len(INITS) or len(arguments) < len(fields) or hasattr(cls, "__post_init__"):
        return _general_init(fields, arguments, puts)
    if refuses or any(each.default_factory is not None for each in arguments):
        made = INITS[len(arguments)](*(puts[each.name] for each in arguments))
    else:
        made = ASSIGNMENTS[len(arguments)]()
    made = _renamed(made, [each.name for each in arguments], sum(each.kw_only for each in arguments))
    made.__defaults__ = tuple(each.given for each in arguments if each.is_optional and not each.kw_only)
    made.__kwdefaults__ = {each.name: each.given for each in arguments if each.is_optional and each.kw_only}
    return made


def _put(cls: Any, each: _Field) -> Callable[[Any, Any], None]:
    """What sets a field, also of a frozen object, to what it is given or what is made for it."""
    name, make, slot = each.name, each.default_factory, vars(cls).get(each.name) or getattr(cls, each.name, None)
    put = slot.__set__ if isinstance(slot, MemberDescriptorType) else functools.partial(_put_by_name, name)
    if make is None:
        return put
    return lambda self, value: put(self, make() if value is _MISSING else value)


def _put_by_name(name: str, self: Any, value: Any) -> None:
    setattr(self, name, value)


def _general_init(fields: tuple[_Field, ...], arguments: list[_Field], puts: dict[str, Callable[[Any, Any], None]]) -> Any:
    """`__init__` of a class with many fields, or with some that are not arguments."""
    positional = [each.name for each in arguments if not each.kw_only]
    known, needed = {each.name for each in arguments}, {each.name for each in arguments if not each.is_optional}
    defaults = {each.name: each.given for each in fields if each.is_optional}

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        given = dict(zip(positional, args, strict=False))
        twice, missing = given.keys() & kwargs.keys(), needed - given.keys() - kwargs.keys()
        if len(args) > len(positional) or twice or missing or not kwargs.keys() <= known:
            raise TypeError(f"{type(self).__qualname__}({', '.join(known)}) called with {len(args)} arguments and {[*kwargs]}")
        for name, value in (defaults | given | kwargs).items():
            puts[name](self, value)
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    return __init__


def _comparisons(names: list[str]) -> tuple[Any, Any]:
    """`__eq__` and `__hash__` over many fields."""
    values = operator.attrgetter(*names)

    def __eq__(self: Any, other: Any) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __eq__, __hash__


def _renamed(function: Any, names: list[str], by_keyword: int = 0) -> Any:
    """A function of `data_functions` with these names in the place of a0, a1 ..., of which the last may be by keyword only."""
    code = function.__code__
    meant = {f"a{index}": name for index, name in enumerate(names)}
    function.__code__ = code.replace(
        co_names=tuple(meant.get(name, name) for name in code.co_names),
        co_varnames=tuple(meant.get(name, name) for name in code.co_varnames),
        co_argcount=code.co_argcount - by_keyword,
        co_kwonlyargcount=by_keyword,
        co_filename="<string>",  # as those of the standard library, which are no code of a user's
    )
    return function


def _representation() -> Any:
    """`__repr__`; each class has a function of its own, because it is called by the name of its class."""

    @reprlib.recursive_repr()
    def __repr__(self: Any) -> str:
        shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in getattr(self, _FIELDS) if each.repr)
        return f"{type(self).__qualname__}({shown})"

    return __repr__


def _refuse_change(self: Any, name: str, *value: Any) -> None:
    raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in getattr(self, _FIELDS)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(getattr(self, _FIELDS), state, strict=True):
        object.__setattr__(self, each.name, value)
