"""Operators and attribute reads that the user's classes answer: which methods Python asks, in which order.

    p + q         type(p).__add__(p, q), then type(q).__radd__(q, p); the other way round if q's class is a subclass
    p.norm        a property, another descriptor, `__getattribute__`, or `__getattr__` where there is no such field

Each of these methods is a function, and is differentiated like any other. What builtin types answer (`NotImplemented`,
as a rule) is asked of them, so that the order of the calls is Python's.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
import types
from collections.abc import Iterator
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.errors import MissingRuleError
from microgradpy.ir.objects import features_of, inherited_member, is_computed, is_function, static_member
from microgradpy.runtime.asking import OVERRIDES, TELLERS, converts_by
from microgradpy.runtime.bars import Bars, Resolve, Resolved, given_to, is_nothing, nothing
from microgradpy.tangents.fields import has_field
from microgradpy.tangents.types import is_structural_zero

_ARITHMETIC = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "** or pow()",
    "matmul": "@", "lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|", "xor": "^",
}  # fmt: skip
_COMPARISONS = {
    "lt": ("gt", "<"), "le": ("ge", "<="), "gt": ("lt", ">"), "ge": ("le", ">="), "eq": ("eq", "=="), "ne": ("ne", "!="),
}  # fmt: skip
_UNARY = {
    operator.neg: "__neg__", operator.pos: "__pos__", operator.invert: "__invert__", operator.inv: "__invert__",
    operator.abs: "__abs__", abs: "__abs__", float: "__float__", complex: "__complex__", round: "__round__",
    math.floor: "__floor__", math.ceil: "__ceil__", math.trunc: "__trunc__",
}  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class _Binary:
    """The methods of an operator; `sign` is how Python's own error shows it."""

    name: str
    reflected: str
    sign: str
    compares: bool = False


def _binary_methods() -> dict[Any, _Binary]:
    table: dict[Any, _Binary] = {
        getattr(operator, name): _Binary(f"__{name.rstrip('_')}__", f"__r{name.rstrip('_')}__", sign)
        for name, sign in _ARITHMETIC.items()
    }
    table[builtins.pow] = table[operator.pow]
    table[divmod] = _Binary("__divmod__", "__rdivmod__", "divmod()")
    for name, (reflected, sign) in _COMPARISONS.items():
        table[getattr(operator, name)] = _Binary(f"__{name}__", f"__{reflected}__", sign, True)
    return table


_BINARY = _binary_methods()
IN_PLACE = {
    getattr(operator, "i" + name.rstrip("_")): (f"__i{name.rstrip('_')}__", getattr(operator, name)) for name in _ARITHMETIC
}


def _methods_asked() -> dict[Any, frozenset[str]]:
    table = {f: frozenset({methods.name, methods.reflected}) for f, methods in _BINARY.items()}
    table |= {f: frozenset({name}) for f, name in _UNARY.items()}
    table = {f: names | {"__array_ufunc__"} for f, names in table.items()}
    table |= {f: table[binary] | {name} for f, (name, binary) in IN_PLACE.items()}
    return table | {operator.getitem: frozenset({"__getitem__", "__missing__"})}


METHODS_ASKED = _methods_asked()
"""The functions that ask a class for a method and give what it returns, with the methods."""
IMMUTABLE = (int, float, complex, str, bytes, tuple, frozenset, np.generic)


def overloaded(f: Any, args: tuple[Any, ...], resolve: Resolve) -> Resolved | None:
    """The value and the pullback of an operator that a class of the user's answers, None if none does."""
    if not any(features_of(type(value)).operators for value in args[:2]):
        return _in_place(f, args, resolve) if f in IN_PLACE and len(args) == 2 else None
    for value in args[:2]:
        if isinstance(value, np.ndarray):
            refuse_override(value, f, OF_UFUNCS)
    if f in _BINARY and len(args) == 2:
        return _binary(_BINARY[f], *args, resolve)
    if f in _UNARY and args:
        return _method(_UNARY[f], args, resolve)
    if f in IN_PLACE and len(args) == 2:
        return _in_place(f, args, resolve)
    if f is operator.getitem and len(args) == 2 and not isinstance(args[0], type):
        return _method("__missing__" if _misses(*args) else "__getitem__", args, resolve)
    return None


def is_read_by_keys(x: Any) -> bool:
    """Whether `dict(x)` and `**x` ask a class of the user's for the keys, and for the item of each. (Python looks into a dict
    directly, unless its class says how to iterate over it.)"""
    if not hasattr(type(x), "keys") or (isinstance(x, dict) and type(x).__iter__ is dict.__iter__):
        return False
    return any(is_function(static_member(type(x), name)) for name in ("keys", "__getitem__"))


def _misses(x: Any, key: Any) -> bool:
    """Whether `x[key]` asks a dict for what it does not have."""
    return isinstance(x, dict) and type(x).__getitem__ is dict.__getitem__ and key not in x


def _method(name: str, args: tuple[Any, ...], resolve: Resolve) -> Resolved | None:
    method = static_member(type(args[0]), name)
    if not is_function(method):
        return None
    y, back = resolve(method, args, {})
    return y, lambda y_bar, shadows=None: Bars(None, back(y_bar, shadows).arguments, {})


def told(f: Any, args: tuple[Any, ...], resolve: Resolve) -> Resolved | None:
    """What a builtin makes of what a method of the user's tells it; None if it asks none."""
    for name in TELLERS[f]:
        method = static_member(type(args[0]), name)
        if is_function(method):
            break
        if method is not None and method is not getattr(object, name, None):
            return None  # a builtin class answers
    else:
        return None
    if not resolve.may_write([method, args[0]]):
        return None
    takes_all = name == TELLERS[f][0]
    found, back = resolve(method, args if takes_all else args[:1], {})
    # Python itself says what becomes of it, or what is wrong with it.
    stand_in = type(type(args[0]).__name__, (), {name: lambda self, *rest: found})()

    def told_back(y_bar: Any, shadows: Any = None) -> Bars:
        x_bar = back(None, shadows).arguments[0]
        return Bars(None, (x_bar, *(None for _ in args[1:])), {})

    return f(stand_in, *args[1:]), told_back


def converted(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved | None:
    """A call of a function with a rule that makes numbers or arrays of objects of the user's, by `__float__` or `__array__`;
    None if it is given no such objects."""
    name = converts_by(f)
    if name is None:
        return None
    asked = OVERRIDES | {name}
    places = [k for k, x in enumerate(args) if not asked.isdisjoint(features_of(type(x)).operators)]
    if not places:
        return None
    if f in _TAKE_ARRAYS_AS_THEY_ARE and all(isinstance(args[k], np.ndarray) for k in places):
        return None
    for k in places:
        refuse_override(args[k], f)
    made = {k: resolve(static_member(type(args[k]), name), (args[k],), {}) for k in places}
    y, back = resolve(f, tuple(made[k][0] if k in made else x for k, x in enumerate(args)), kwargs)

    def converted_back(y_bar: Any, shadows: Any = None) -> Bars:
        bars = back(y_bar, shadows)
        arguments = list(bars.arguments)
        for k in reversed(places):
            if not is_nothing(arguments[k], shadows):
                arguments[k] = made[k][1](given_to(made[k][0], arguments[k], shadows), shadows).arguments[0]
        return Bars(bars.function, tuple(arguments), bars.keywords)

    return y, converted_back


_TAKE_ARRAYS_AS_THEY_ARE = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray)
OF_UFUNCS = frozenset({"__array_ufunc__"})


def refuse_override(x: Any, f: Any, methods: frozenset[str] = OVERRIDES) -> None:
    """Refuse what a class does in the place of a function of NumPy's."""
    if not features_of(type(x)).operators.isdisjoint(methods):
        raise MissingRuleError(
            f"a {type(x).__name__} says itself what {getattr(f, '__name__', f)} does with it",
            None,
            "Call its method by its name, or give the function an array: np.asarray(x).",
        )


def _in_place(f: Any, args: tuple[Any, ...], resolve: Resolve) -> Resolved | None:
    name, binary = IN_PLACE[f]
    method = static_member(type(args[0]), name)
    if is_function(method):
        y, back = resolve(method, args, {})
        if y is not NotImplemented:
            return y, lambda y_bar, shadows=None: Bars(None, back(y_bar, shadows).arguments, {})
    elif method is not None and not isinstance(args[0], IMMUTABLE):
        return None
    y, back = resolve(binary, args, {})
    return y, lambda y_bar, shadows=None: Bars(None, back(y_bar, shadows).arguments, {})


def _binary(methods: _Binary, x: Any, y: Any, resolve: Resolve) -> Resolved | None:
    attempts = list(_attempts(methods, x, y))
    if not any(is_function(method) for method, _, _ in attempts):
        return None
    asked = False
    for method, args, swapped in attempts:
        if is_function(method):
            z, back = resolve(method, args, {})
            asked = True
        elif not asked and all(isinstance(value, _NUMBERS) for value in args):
            return None  # a number of a class that inherits this operator
        else:
            _refuse_array(methods, args)
            z, back = method(*args), functools.partial(_refuse_builtin, methods, x, y)
        if z is not NotImplemented:
            return z, functools.partial(_in_order, back, swapped)
    if methods.sign in ("==", "!="):
        return (x is y) == (methods.sign == "=="), nothing(2)
    text = "'{}' not supported between instances of {} and {}" if methods.compares else _UNSUPPORTED
    raise TypeError(text.format(methods.sign, *(f"'{type(value).__name__}'" for value in (x, y))))


_UNSUPPORTED = "unsupported operand type(s) for {}: {} and {}"
_NUMBERS = (int, float, complex, np.generic, np.ndarray)


def _in_order(back: Any, swapped: bool, z_bar: Any, shadows: Any = None) -> Bars:
    first, second = back(z_bar, shadows).arguments
    return Bars(None, (second, first) if swapped else (first, second), {})


def _refuse_builtin(methods: _Binary, x: Any, y: Any, z_bar: Any, shadows: Any = None) -> Bars:
    """A builtin class answered: with a truth value, of which nothing depends on the operands, or not at all as expected."""
    if methods.compares or (is_structural_zero(z_bar) and shadows is None):
        return Bars(None, (None, None), {})
    names = f"a {type(x).__name__} and a {type(y).__name__}"
    raise MissingRuleError(
        f"the operator {methods.sign} of {names} is that of a builtin class", None, "Define it in the class of one of them."
    )


def _attempts(methods: _Binary, x: Any, y: Any) -> Iterator[tuple[Any, tuple[Any, Any], bool]]:
    """The methods that Python asks, in its order, with what they are given, and whether the operands are swapped."""
    own, other = static_member(type(x), methods.name), static_member(type(y), methods.reflected)
    if isinstance(x, list | tuple | str | bytes | bytearray) and not is_function(own) and not methods.compares:
        own = None  # a sequence puts end to end after the other operand was asked
    if isinstance(x, np.generic) and is_function(other) and not _defers(x, y):
        x = x.item()  # NumPy hands the number over as Python's
        own = static_member(type(x), methods.name)
    same = type(x) is type(y)
    inherits = not same and issubclass(type(y), type(x))
    first = inherits and (methods.compares or other is not static_member(type(x), methods.reflected))
    if first and other is not None:
        yield other, (y, x), True
    if own is not None and not (isinstance(x, np.ndarray | np.generic) and _defers(x, y)):
        yield own, (x, y), False
    if not first and other is not None and (not same or methods.compares):
        yield other, (y, x), True


def _defers(x: Any, y: Any) -> bool:
    """Whether an array leaves an operation to the other operand."""
    if isinstance(y, type(x)):
        return False
    if hasattr(type(y), "__array_ufunc__"):
        return type(y).__array_ufunc__ is None
    return bool(getattr(y, "__array_priority__", -1.0) > x.__array_priority__)


def _refuse_array(methods: _Binary, args: tuple[Any, ...]) -> None:
    """An array asks the other operand once for each of its items."""
    if isinstance(args[0], np.ndarray) and not isinstance(args[1], _NUMBERS):
        name = type(args[1]).__name__
        raise MissingRuleError(
            f"the operator {methods.sign} of an array and a {name}, which NumPy applies item by item",
            None,
            f"Put the {name} on the left, or give its class __array_ufunc__ = None, so that it is asked for the whole array.",
        )


# Attributes


def attribute(x: Any, name: str, resolve: Resolve, *, plain: bool = False) -> Resolved | None:
    """The value of an attribute that a function of the user's computes, and the pullback of `getattr(x, name)`; None if it
    is a field, a method or a constant of the class. With `plain`, as `object.__getattribute__` reads it."""
    if isinstance(x, type | types.ModuleType):
        return None
    if isinstance(x, super):
        return _inherited(x, name, resolve)
    getter = static_member(type(x), "__getattribute__")
    if is_function(getter) and not plain:
        try:
            return _asked(getter, (x, name), resolve)
        except AttributeError:
            found = _fallback(x, name, resolve)
            if found is None:
                raise
            return found
    static = static_member(type(x), name)
    if static is None:
        return None if plain or has_field(x, name) else _fallback(x, name, resolve)
    if is_computed(static) and (_is_data(static) or not has_field(x, name)):
        return _described(static, x, type(x), name, resolve)
    return None


def _described(static: Any, x: Any, cls: type, name: str, resolve: Resolve) -> Resolved:
    """What a descriptor gives."""
    if isinstance(static, functools.cached_property):
        raise MissingRuleError(
            f"attribute {name!r} of a {cls.__name__} is a cached_property, which writes its value into the object",
            None,
            "Make it a property, or a method.",
        )
    if isinstance(static, property):
        return _asked(static.fget, (x,), resolve)
    y, back = resolve(type(static).__get__, (static, x, cls), {})
    return y, lambda y_bar, shadows=None: Bars(None, (back(y_bar, shadows).arguments[1], None), {})


def _inherited(x: Any, name: str, resolve: Resolve) -> Resolved | None:
    """super(C, o).name: the cotangent of the super object is that of `o`."""
    static = inherited_member(x, name)
    if isinstance(x.__self__, type) or not is_computed(static):
        return None
    return _described(static, x.__self__, x.__self_class__, name, resolve)


def _asked(getter: Any, args: tuple[Any, ...], resolve: Resolve) -> Resolved:
    y, back = resolve(getter, args, {})
    return y, lambda y_bar, shadows=None: Bars(None, (back(y_bar, shadows).arguments[0], None), {})


def _fallback(x: Any, name: str, resolve: Resolve) -> Resolved | None:
    getter = static_member(type(x), "__getattr__")
    return _asked(getter, (x, name), resolve) if is_function(getter) else None


def _is_data(descriptor: Any) -> bool:
    return hasattr(type(descriptor), "__set__") or hasattr(type(descriptor), "__delete__")
