"""Values as a trace shows them, and the constants that are written in the program: `⟨+⟩` and `⟨1⟩` in `⟨+⟩(@3, ⟨1⟩) → 3`."""

from __future__ import annotations

import operator
import reprlib
import types
from collections.abc import Callable
from typing import Any, final

import numpy as np

from microgradpy.ir.nodes import Const
from microgradpy.ir.notation import describe_constant
from microgradpy.tracking.snapshots import is_plain_object


@final
class Constant:
    """A value that is written in the program; prints as it is written there, in angle brackets."""

    __slots__ = ("text", "value")

    def __init__(self, value: Any, text: str) -> None:
        self.value, self.text = value, text

    def __str__(self) -> str:
        return f"⟨{self.text}⟩"

    __repr__ = __str__


def contained(item: Any, container: Any) -> bool:
    """`item in container`."""
    return item in container


def not_contained(item: Any, container: Any) -> bool:
    """`item not in container`."""
    return item not in container


BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "<<": operator.lshift, ">>": operator.rshift,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv, "//=": operator.ifloordiv,
    "%=": operator.imod, "**=": operator.ipow, "@=": operator.imatmul, "<<=": operator.ilshift, ">>=": operator.irshift,
    "&=": operator.iand, "|=": operator.ior, "^=": operator.ixor,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "is": operator.is_, "is not": operator.is_not, "in": contained, "not in": not_contained,
}  # fmt: skip
UNARY = {"not": operator.not_, "-": operator.neg, "+": operator.pos, "~": operator.invert}
UNARY |= {f"{sign}x": function for sign, function in UNARY.items() if sign != "not"}
OF_OPERATORS = frozenset(map(id, (*BINARY.values(), *UNARY.values(), operator.getitem, operator.setitem, operator.delitem)))
# By identity: what is looked up may be an object of the user's, whose code says how it is hashed and compared.
_SIGNS: dict[int, str] = {id(function): sign for sign, function in BINARY.items()}
_SIGNS |= {id(function): sign.removesuffix("x") for sign, function in UNARY.items()}
_SIGNS |= {id(getattr(operator, name)): name for name in ("getitem", "setitem", "delitem")}


def as_key(key: Any) -> Any:
    """The key of a dict comprehension: any will do, unless the trace is differentiated."""
    return key


def describe(value: Any, path: str = "") -> str:
    """A value of the program, as it is written there if that is known."""
    if path and not path.startswith("operator."):
        return path
    return _SIGNS.get(id(value)) or path or show(value)


_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60


def show(value: Any) -> str:
    """A value in one line, shortened if it is long; never an address."""
    for classes, shower in _SHOWERS:
        if isinstance(value, classes):
            return shower(value)
    owner = owner_of(value)
    if owner is not None and not isinstance(owner, type | types.ModuleType):
        return f"{type(owner).__name__}.{value.__name__}"
    if is_plain_object(type(value)):
        return f"<{type(value).__name__}>"  # to ask it for its name could run code of its class
    return describe_constant(Const(value))


def owner_of(f: Any) -> Any:
    """The object that a bound method belongs to; None for what is none."""
    return f.__self__ if isinstance(f, types.MethodType | types.BuiltinFunctionType | types.MethodWrapperType) else None


def _array(value: Any) -> str:
    if value.size > 6 or value.ndim > 1:
        return f"{value.dtype}{list(value.shape)}"
    return f"array({value.tolist()!r})"


@reprlib.recursive_repr("[...]")
def _sequence(value: Any) -> str:
    if len(value) > 6 or type(value) not in (list, tuple):
        return f"{type(value).__name__} of {len(value)}"
    inner = ", ".join(map(show, value))
    return f"[{inner}]" if type(value) is list else f"({inner},)" if len(value) == 1 else f"({inner})"


@reprlib.recursive_repr("{...}")
def _dict(value: Any) -> str:
    if len(value) > 4 or type(value) is not dict:
        return f"{type(value).__name__} of {len(value)}"
    return "{" + ", ".join(f"{show(key)}: {show(item)}" for key, item in value.items()) + "}"


_SHOWERS: tuple[tuple[tuple[type, ...], Callable[[Any], str]], ...] = (
    ((np.ndarray,), _array),
    ((np.generic,), lambda value: repr(value.item())),
    ((list, tuple, set, frozenset), _sequence),
    ((dict,), _dict),
    ((str, bytes, int, float, complex, bool, type(None)), _short.repr),
    ((BaseException,), lambda value: f"{type(value).__name__}({', '.join(map(show, value.args))})"),
    ((types.GeneratorType, types.CoroutineType), lambda value: f"<{type(value).__name__} {value.__name__}>"),
    ((types.FunctionType, type), lambda value: value.__qualname__.rpartition("<locals>.")[2]),
)
