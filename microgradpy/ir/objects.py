"""Which objects run the user's code where operators and attribute reads stand, as far as a look at them tells.

An object of a plain class gives its fields and nothing else. One whose class has `__add__`, `__getitem__` or a property
answers by calling a function, and that function has to be differentiated. A value is looked at with what it holds, so
that it is known of what is read from it too. Nobody's code runs here, and what is missed is refused later: the answer
decides how a program is compiled, not whether its derivative is right.
"""

from __future__ import annotations

import functools
import gc
import types
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass

ANY_NAME = "*"
"""Among the computed attributes of a class with `__getattr__` or a `__getattribute__` of its own."""


@final
@dataclass(frozen=True, slots=True)
class Features:
    """`computed`: the attributes that a function of the user's gives; `operators`: the methods of his that operators, item
    access and iteration call."""

    computed: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()

    def __or__(self, other: Features) -> Features:
        if not other or self == other:
            return self
        return Features(self.computed | other.computed, self.operators | other.operators) if self else other

    def __bool__(self) -> bool:
        return bool(self.operators or self.computed)


NO_FEATURES = Features()

_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul", "lshift", "rshift", "and", "or", "xor")
_OPERATORS = frozenset(
    f"__{name}__"
    for name in (
        *(prefix + name for prefix in ("", "r", "i") for name in _BINARY),
        *("neg", "pos", "abs", "invert", "float", "complex", "int", "round", "floor", "ceil", "trunc"),
        *("lt", "le", "gt", "ge", "eq", "ne", "getitem", "missing", "iter", "next", "reversed"),
        *("len", "length_hint", "bool", "str", "repr", "format", "fspath", "hash", "index", "contains"),
        *("array", "array_ufunc", "array_function"),
    )
) | {"items"}  # which loops ask, `for k, v in x.items()`
ANY_FEATURES = Features(frozenset({ANY_NAME}), _OPERATORS)
PLAIN_MEMBERS = (
    types.FunctionType,
    staticmethod,
    classmethod,
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.BuiltinFunctionType,
    type,
)
"""What stands in classes and computes nothing when it is read from an object."""
LEAVES = frozenset({
    int, float, complex, bool, str, bytes, range, slice, type(None), type(Ellipsis), np.ndarray, np.ufunc, np.dtype,
    np.float64, np.float32, np.int64, np.bool, type, types.ModuleType, types.BuiltinFunctionType,
})  # fmt: skip
_NUMBERS = frozenset({"numpy", "fractions", "decimal", "datetime"})  # modules whose operators are not looked into
_LARGEST_WALK = 256  # values; what is deeper or wider is not looked at


def features_in(values: Iterable[Any]) -> Features:
    """The features of some values and of what they hold."""
    found = NO_FEATURES
    seen: set[int] = set()
    waiting = _with_parts(values)
    # One level after the other, so that the limit cuts off what is deep.
    while waiting and len(seen) < _LARGEST_WALK:
        new = {id(value): value for value in waiting if id(value) not in seen}
        level = list(new.values())[: _LARGEST_WALK - len(seen)]
        seen.update(new)
        classes = {id(cls): cls for cls in map(type, level)}  # nobody's code says how a class is hashed
        known = {key: _known(cls) for key, cls in classes.items()}
        for each in known.values():
            if each.features is not NO_FEATURES:
                found = found | each.features
        if all(each.held is gc.get_referents for each in known.values()):
            waiting = _with_parts(gc.get_referents(*level))
        else:
            waiting = _with_parts(part for value in level for part in known[id(type(value))].held(value))
    return found


def _with_parts(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if type(value) not in LEAVES]


def features_of_value(value: Any) -> Features:
    """The same for one value."""
    found = features_of_leaves(value)
    return features_in((value,)) if found is None else found


def features_of_leaves(value: Any) -> Features | None:
    """The same for one value that holds nothing but numbers, as most do; None for others."""
    known = _classes.get(id(type(value)))
    if known is None or known.cls() is not type(value) or not LEAVES.issuperset(map(type, known.held(value))):
        return None
    return known.features


def outline_of(value: Any) -> tuple[int, ...] | None:
    """The class of an object of the user's or of a function, those of what is in its fields or was captured, and of the items
    at the ends of lists and the like among these; None for anything else. What has one outline mostly has the same features."""
    known = _classes.get(id(type(value)))
    if known is None or known.held not in _OUTLINED or known.cls() is not type(value):
        return None
    parts: list[Any] = list(known.held(value))
    classes = list(map(type, parts))
    if not _ENDED.isdisjoint(classes):
        # One of the dicts may be its own.
        parts += [item for part in parts if type(part) is dict for item in list(part.values())[:_LARGEST_OUTLINE]]
        for part in parts:
            classes += _ends(part)
    return (id(type(value)), *map(id, classes))


def _ends(part: Any) -> list[type]:
    """The classes among the items of a container, of many those at the ends, and the same for the last of them."""
    classes: list[type] = []
    for _ in range(_DEEPEST_OUTLINE):
        if type(part) not in _ENDED or not part:
            break
        items = list(part.values()) if type(part) is dict else part
        classes += dict.fromkeys(map(type, items if len(items) <= _LARGEST_OUTLINE else (items[0], items[-1])))
        part = items[-1]
    return classes


_ENDED = frozenset({list, tuple, dict})
_LARGEST_OUTLINE, _DEEPEST_OUTLINE = 16, 4


def _items_of_list(value: list[Any]) -> Iterable[Any]:
    return list.__getitem__(value, slice(_LARGEST_WALK))  # not the method of a subclass


def _items_of_tuple(value: tuple[Any, ...]) -> Iterable[Any]:
    return tuple.__getitem__(value, slice(_LARGEST_WALK))


def _captured(value: types.FunctionType) -> Iterable[Any]:
    return [_content(cell) for cell in value.__closure__ or ()]


_OUTLINED: tuple[Any, ...] = (gc.get_referents, _captured)


def _of_partial(value: functools.partial[Any]) -> Iterable[Any]:
    return (value.func, *value.args, *value.keywords.values())


def _nothing(value: Any) -> Iterable[Any]:
    return ()


_HELD: tuple[tuple[type, Callable[[Any], Iterable[Any]]], ...] = (
    (list, _items_of_list),
    (tuple, _items_of_tuple),
    (dict, dict.values),
    (types.FunctionType, _captured),
    (types.MethodType, lambda value: (value.__self__,)),
    (functools.partial, _of_partial),
    (type, _nothing),
    (types.ModuleType, _nothing),
    (np.generic, _nothing),
)


def _holder(cls: type) -> Callable[[Any], Iterable[Any]]:
    """What the values of a class hold: their items or their fields."""
    for known, held in _HELD:
        if issubclass(cls, known):
            return held
    members = [member for base in cls.__mro__ for member in vars(base).values() if _is_slot(member)]
    fields = next((vars(base)["__dict__"] for base in cls.__mro__ if "__dict__" in vars(base)), None)
    if not isinstance(fields, types.GetSetDescriptorType):
        return (lambda value: [_slot(member, value) for member in members]) if members else _nothing
    return gc.get_referents  # not its `__dict__`, which would make it slower


def _is_slot(member: Any) -> bool:
    return isinstance(member, types.MemberDescriptorType) and not member.__name__.startswith("__")


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def _slot(member: types.MemberDescriptorType, value: Any) -> Any:
    try:
        return member.__get__(value)
    except AttributeError:
        return None


@final
@dataclass(frozen=True, slots=True)
class _Class:
    cls: weakref.ref[type]
    features: Features
    held: Callable[[Any], Iterable[Any]]


_classes: dict[int, _Class] = {}
_DEQUE = _Class(weakref.ref(deque), Features(operators=frozenset({"__add__", "__mul__", "__rmul__"})), _nothing)
"""Its operators have rules of their own, which are not those of numbers."""


def features_of(cls: type) -> Features:
    """The features of the instances of a class themselves."""
    return _known(cls).features


def _known(cls: type) -> _Class:
    known = _classes.get(id(cls))
    if known is None or known.cls() is not cls:
        if len(_classes) > 4096:
            _classes.clear()
        known = _classes[id(cls)] = _DEQUE if cls is deque else _examined(cls)
    return known


def _examined(cls: type) -> _Class:
    # The operators of polynomials are written in Python, and are differentiated like those of the user's classes.
    module = str(cls.__module__)  # a class may have a descriptor under that name
    is_polynomial = module.startswith("numpy.polynomial.")
    if module.partition(".")[0] in _NUMBERS and not is_polynomial:
        asks = issubclass(cls, np.ndarray) and has_own_methods(cls)  # masked arrays
        return _Class(weakref.ref(cls), _ASKED if asks else NO_FEATURES, _nothing)
    computed: set[str] = set()
    operators: set[str] = set()
    attributes: dict[str, Any] = {}
    for base in reversed(cls.__mro__[:-1]):
        attributes |= vars(base)
    for name, value in attributes.items():
        if name in _OPERATORS:
            if is_function(value):
                operators.add(name)
        elif name in ("__getattr__", "__getattribute__"):
            if is_function(value):
                computed.add(ANY_NAME)
        elif is_computed(value):
            computed.add(name)
    held = _nothing if issubclass(cls, np.ndarray) else _holder(cls)
    if issubclass(cls, np.ndarray) and has_own_methods(cls):
        operators.add("__array_function__")  # np.sum(x) calls x.sum()
    features = Features(frozenset(computed), frozenset(operators)) if computed or operators else NO_FEATURES
    return _Class(weakref.ref(cls), features, held)


_ASKED = Features(operators=frozenset({"__array_function__"}))
_ARRAY_METHODS = frozenset(name for name in vars(np.ndarray) if not name.startswith("_")) - {"copy"}


def has_own_methods(cls: type) -> bool:
    """Whether a class of arrays has methods of its own under names that NumPy's functions call (they do not call `copy`)."""
    bases = cls.__mro__[: cls.__mro__.index(np.ndarray)]
    return any(is_function(vars(base)[name]) for base in bases for name in _ARRAY_METHODS.intersection(vars(base)))


def inherited_member(x: Any, name: str) -> Any:
    """What `super(C, o)` finds in the classes after C, as it stands there."""
    classes = x.__self_class__.__mro__ if x.__self_class__ is not None else ()
    after = classes[classes.index(x.__thisclass__) + 1 :] if classes else ()
    return next((vars(base)[name] for base in after if name in vars(base)), None)


def static_member(cls: type, name: str, default: Any = None) -> Any:
    """A member of a class or of one that it inherits from, as it stands there."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), default)


_CONTAINERS: Any = (list, tuple, dict, OrderedDict, deque, set, frozenset)


def base_of(x: Any) -> Any:
    """The builtin class that a container is of, or inherits from: whose methods are called where those of the user's class have
    been called already, or are not asked."""
    cls = type(x)
    return cls if cls in _CONTAINERS else next(base for base in cls.__mro__ if base in _CONTAINERS)


def builtin_method(f: Any) -> Any:
    """The method of a builtin class that a bound one is of, such as `list.append` for `super().append`; None if none is."""
    for base in type(f.__self__).__mro__:
        found = vars(base).get(f.__name__)
        if isinstance(found, types.MethodDescriptorType | types.WrapperDescriptorType) and found.__get__(f.__self__) == f:
            return found
    return getattr(type(f.__self__), f.__name__, None)


def is_function(value: Any) -> bool:
    """Whether a member of a class is a function with a text; what `dataclass` writes compares field by field, and needs
    no derivative."""
    return isinstance(value, types.FunctionType) and value.__code__.co_filename != "<string>"


def is_computed(value: Any) -> bool:
    """Whether a member of a class is a descriptor that calls a function of Python's when it is read."""
    if isinstance(value, PLAIN_MEMBERS):
        return False
    if isinstance(value, property):
        return isinstance(value.fget, types.FunctionType | functools.partial) or value.fget is None
    return isinstance(value, functools.cached_property) or isinstance(
        getattr(type(value), "__get__", None), types.FunctionType
    )
