"""Special methods of builtin classes that are called by their names: `x.__mul__(2.0)`, `float.__add__(x, y)`,
`np.ndarray.__getitem__(x, 0)`. They are what the operator is, for operands of builtin classes."""

from __future__ import annotations

import builtins
import copy
import math
import operator
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from microgradpy.ir.objects import static_member
from microgradpy.runtime.bars import Bars, Resolve, Resolved, given_to, nothing
from microgradpy.tangents.types import Tangent, is_structural_zero

_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift", "and", "or", "xor")
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f"__{name}__": getattr(operator, f"{name}_" if name in ("and", "or") else name) for name in _BINARY},
    **{f"__{name}__": getattr(operator, name) for name in (*_COMPARISONS, "neg", "pos", "invert", "getitem", "contains")},
    **{f"__{name}__": getattr(builtins, name) for name in ("abs", "float", "int", "complex", "bool", "round", "divmod", "len")},
    **{f"__{name}__": getattr(math, name) for name in ("floor", "ceil", "trunc")},
    "__array__": np.asarray,
    "__copy__": copy.copy,
}
_REFLECTED: dict[str, Callable[..., Any]] = {
    **{f"__r{name}__": _FUNCTIONS[f"__{name}__"] for name in _BINARY},
    "__rdivmod__": divmod,
}
_NUMBERS = (int, float, complex, bool)
_SEQUENCES = (list, tuple, dict)
_METHODS = (
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.MethodDescriptorType,
    types.BuiltinFunctionType,
)
_BOUND = (types.MethodWrapperType, types.BuiltinFunctionType)


class Named(NamedTuple):
    """The function that a special method is, with its operands, which are the arguments with what the method is bound to."""

    function: Callable[..., Any]
    operands: tuple[Any, ...]
    is_bound: bool
    is_reflected: bool

    def given(self, bars: tuple[Any, ...]) -> tuple[Any, ...]:
        """What belongs to the operands, in the order of the method's own arguments."""
        return bars[::-1] if self.is_reflected else bars


def is_special(name: str) -> bool:
    """Whether a method of this name stands for an operator or a conversion."""
    return name in _FUNCTIONS or name in _REFLECTED


def named_operator(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Named | None:
    """What a call of a special method of a builtin class by its name is; None for any other call, and where the method gives
    something else than the operator."""
    if kwargs or not isinstance(f, _METHODS) or not is_special(f.__name__):
        return None
    is_bound = isinstance(f, _BOUND)
    given = with_owner(f, args)
    if len(given) not in (1, 2) or not _is_own(f, given[0]) or not _answers(f.__name__, given):
        return None
    is_reflected = f.__name__ in _REFLECTED
    function = _REFLECTED[f.__name__] if is_reflected else _FUNCTIONS[f.__name__]
    return Named(function, given[::-1] if is_reflected else given, is_bound, is_reflected)


def with_owner(f: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a method, with what it is bound to."""
    return (f.__self__, *args) if isinstance(f, _BOUND) else args


def _is_own(f: Any, owner: Any) -> bool:
    """Whether it is the method of the very class of its first operand, which is builtin: `float.__add__` of a number of NumPy's
    gives one of Python's."""
    cls = type(owner)
    if not (cls in _NUMBERS or cls in _SEQUENCES or cls is np.ndarray or isinstance(owner, np.generic)):
        return False
    return isinstance(f, _BOUND) or static_member(cls, f.__name__) is f


def _answers(name: str, given: tuple[Any, ...]) -> bool:
    """Whether the operator gives what the method gives, which does not ask the class of the other operand."""
    owner, *others = given
    if isinstance(owner, _SEQUENCES):
        if name in ("__getitem__", "__contains__", "__len__"):
            return True
        return all(type(other) is (int if name in ("__mul__", "__rmul__") else type(owner)) for other in others)
    if not all(type(other) in (*_NUMBERS, np.ndarray) or isinstance(other, np.generic) for other in others):
        return name in ("__getitem__", "__array__", "__round__")
    if isinstance(owner, np.ndarray | np.generic):
        return True
    return getattr(owner, name)(*others) is not NotImplemented


def by_name(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved | None:
    """The value and the pullback of a call of a special method by its name; None for any other call."""
    named = named_operator(f, args, kwargs)
    if named is None:
        is_known = isinstance(f, _METHODS) and is_special(f.__name__) and not kwargs
        return _declined(f, args) if is_known else None
    y, back = resolve(named.function, named.operands, {})

    def named_back(y_bar: Any, shadows: Any = None) -> Bars:
        bars = named.given(back(y_bar, shadows).arguments)
        if not named.is_bound:
            return Bars(None, bars, {})
        own = given_to(f.__self__, bars[0], shadows)
        return Bars(None if is_structural_zero(own) else Tangent(type(f), {"__self__": own}), bars[1:], {})

    return y, named_back


def _declined(f: Any, args: tuple[Any, ...]) -> Resolved | None:
    """A method of a number that leaves the operation to the other operand: `(2).__add__(1.5)`."""
    given = with_owner(f, args)
    if len(given) == 2 and all(type(x) in (*_NUMBERS, np.ndarray) for x in given) and f(*args) is NotImplemented:
        return NotImplemented, nothing(len(args))
    return None
