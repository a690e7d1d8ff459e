"""The types of cotangents that are not numbers, arrays or containers, and the sum of any two cotangents.

Inside generated code a structural zero is `None`; `NoTangent()` and `ZeroTangent()` are what rules write for it.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable, Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, ClassVar, Self, final

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.errors import CotangentShapeError, MissingRuleError
from microgradpy.tangents.fields import rebuilt


class _StructuralZero:
    """The zero of every cotangent space; one instance per class."""

    __slots__ = ()
    __array_ufunc__ = None  # an array lets the zero say what `array + zero` is
    __iter__ = None  # there is no end to the items of a zero
    _instances: ClassVar[dict[type, _StructuralZero]] = {}

    def __new__(cls) -> Self:
        known: Any = cls._instances.get(cls)
        if known is None:
            known = cls._instances.setdefault(cls, super().__new__(cls))
        return known  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return type(self), ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __bool__(self) -> bool:
        return False

    def __add__(self, other: Any) -> Any:
        # The sum of the two zeros is NoTangent: what cannot be perturbed stays so.
        return self if other is None or isinstance(other, ZeroTangent) else other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other if other is not None else self

    def __rsub__(self, other: Any) -> Any:
        return self + other

    def __mul__(self, other: object) -> _StructuralZero:
        # Of the two zeros it is ZeroTangent; nothing is asked of a thunk.
        return other if isinstance(other, ZeroTangent) else self

    __rmul__ = __matmul__ = __rmatmul__ = __mul__

    def __truediv__(self, other: object) -> _StructuralZero:
        return self

    def __neg__(self) -> _StructuralZero:
        return self

    conjugate = __pos__ = __neg__

    def __getitem__(self, index: object) -> _StructuralZero:
        return self

    def __getattr__(self, name: str) -> _StructuralZero:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return self  # the field of a zero

    def __float__(self) -> float:
        return 0.0

    def __complex__(self) -> complex:
        return 0j


@final
class NoTangent(_StructuralZero):
    """There is no derivative: the value cannot be perturbed (an index, a string, a function without fields)."""

    __slots__ = ()


@final
class ZeroTangent(_StructuralZero):
    """The value can be perturbed, and the derivative is zero."""

    __slots__ = ()


@final
class NotImplementedTangent:
    """A cotangent that nobody has worked out. It may be added and multiplied by zero; if it is really used, it is refused with
    what `not_implemented` was told."""

    __slots__ = ("info", "where")

    def __init__(self, info: str = "", where: str = "") -> None:
        self.info = info
        self.where = where

    def __repr__(self) -> str:
        return f"NotImplementedTangent({self.info!r})"

    def __add__(self, other: Any) -> NotImplementedTangent:
        return self

    __radd__ = __sub__ = __rsub__ = __add__

    def __mul__(self, other: Any) -> Any:
        return other if is_structural_zero(other) else self.refuse()

    __rmul__ = __mul__

    def __neg__(self) -> NotImplementedTangent:
        return self

    def __array_ufunc__(self, ufunc: Any, *_: Any, **__: Any) -> Any:
        """NumPy's arithmetic is that of Python: a TypeError might be caught by the program."""
        return self if ufunc.__name__ in ("add", "subtract", "negative", "positive", "conjugate") else self.refuse()

    def refuse(self, *_: Any, **__: Any) -> Any:
        """Raise the refusal."""
        told = f": {self.info}" if self.info else ""
        declared = f" ({self.where})" if self.where else ""
        raise MissingRuleError(
            f"a derivative is used that a rule declares not implemented{told}{declared}",
            None,
            "Work it out in that rule, or give the argument stop_gradient(x).",
        )

    __matmul__ = __rmatmul__ = __truediv__ = __rtruediv__ = __pow__ = __float__ = __complex__ = __array__ = refuse
    __getitem__ = __iter__ = __len__ = refuse


def is_structural_zero(x_bar: object) -> bool:
    """Whether a cotangent is one of the three spellings of "nothing": None, `NoTangent()`, `ZeroTangent()`."""
    return x_bar is None or isinstance(x_bar, _StructuralZero)


@final
class Tangent(Mapping[str, Any]):
    """The cotangent of a value with fields: an immutable mapping from field name to the field's cotangent, which can
    also be read as attributes. `primal_type` is the type it is a cotangent of. A field that is missing is zero.

    `Tangent(Point, x=1.0) + Tangent(Point, y=2.0) == Tangent(Point, x=1.0, y=2.0)`

    Tangents are multiplied and divided by numbers, and tangents of one type added and subtracted, leaf by leaf; `None` stays.
    `model - 0.1 * g` is a copy of the object `model` that has moved: `model` is not changed, its class is not called, and
    the leaves keep their dtypes. Other arithmetic is refused with a MissingRuleError; an object of another class, or a leaf
    of another shape, with a TypeError or a CotangentShapeError.
    """

    __slots__ = ("_fields", "primal_type")
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # a number or array of NumPy's lets the tangent say what the product is
    _fields: dict[str, Any]
    primal_type: type

    def __init__(self, primal_type: type, mapping: Mapping[str, Any] | None = None, /, **fields: Any) -> None:
        object.__setattr__(self, "primal_type", primal_type)
        object.__setattr__(self, "_fields", {**(mapping or {}), **fields})

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    # Of the dict, whose derivatives are known: a gradient may be read in differentiated code.

    def get(self, name: str, default: Any = None) -> Any:
        return self._fields.get(name, default)

    def keys(self) -> Any:
        return self._fields.keys()

    def values(self) -> Any:
        return self._fields.values()

    def items(self) -> Any:
        return self._fields.items()

    def __getattr__(self, name: str) -> Any:
        # Reached only for names that are no attribute of the class; "_fields" itself is missing while unpickling.
        if name != "_fields" and name in self._fields:
            return self._fields[name]
        raise AttributeError(f"the Tangent of a {_type_name(self)} has no field {name!r}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Tangent is immutable; build a new one, or add two")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a Tangent is immutable")

    def __reduce__(self) -> tuple[type, tuple[type, dict[str, Any]]]:
        return Tangent, (self.primal_type, dict(self._fields))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self._fields.items())
        return f"Tangent({_type_name(self)}, {fields})" if fields else f"Tangent({_type_name(self)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tangent) or other.primal_type is not self.primal_type:
            return NotImplemented if not isinstance(other, Tangent) else False
        names = {*self._fields, *other._fields}
        return all(are_equal(self._fields.get(name), other._fields.get(name)) for name in names)

    # With numbers and with tangents of its type it calculates as a vector does, and moves the object that it is added to.
    # Formulas for numbers have to refuse cotangents of objects by what they call (`conj`, `unbroadcast`): these operators
    # do not know who calls them.

    def __add__(self, other: Any) -> Tangent:
        if is_structural_zero(other) or isinstance(other, Tangent):
            total: Tangent = accumulate(self, other)
            return total
        return NotImplemented

    def __radd__(self, other: Any) -> Any:
        if type(other) is int and other == 0:
            return self  # what `sum` begins with
        return self if is_structural_zero(other) else _moved_object(other, self)

    def __sub__(self, other: Any) -> Any:
        if is_structural_zero(other) or isinstance(other, Tangent):
            return accumulate(self, -other if isinstance(other, Tangent) else other)
        return NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self if is_structural_zero(other) else _moved_object(other, -self)

    def __mul__(self, other: Any) -> Any:
        if is_structural_zero(other):
            return other
        return _by_leaves(lambda leaf: leaf * other, self) if _is_number(other) else self._refuse(other)

    def __rmul__(self, other: Any) -> Any:
        if is_structural_zero(other):
            return other
        return _by_leaves(lambda leaf: other * leaf, self) if _is_number(other) else self._refuse(other)

    def __truediv__(self, other: Any) -> Any:
        return _by_leaves(lambda leaf: leaf / other, self) if _is_number(other) else self._refuse(other)

    def __neg__(self) -> Tangent:
        negative: Tangent = _by_leaves(operator.neg, self)
        return negative

    def __pos__(self) -> Tangent:
        return self

    def _refuse(self, *others: Any) -> Any:
        return refuse_arithmetic(self, *others)

    __rtruediv__ = __matmul__ = __rmatmul__ = __pow__ = __rpow__ = __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = _refuse


def refuse_arithmetic(tangent: Tangent, *others: Any) -> Any:
    """Raise the refusal. In generated code it is that of a formula for numbers that is applied to an object whose class has
    operators of its own."""
    name = _type_name(tangent)
    other = "".join(f" with {'another one' if isinstance(each, Tangent) else f'a {type(each).__name__}'}" for each in others)
    raise MissingRuleError(
        f"the Tangent of a {name} takes part in arithmetic{other}, which has no meaning that could be guessed",
        None,
        "Tangents are multiplied and divided by numbers, and added to and subtracted from tangents of their type and objects."
        " Anything else, and all arithmetic on gradients in differentiated code, goes leaf by leaf: tree_map(fn, t, other)."
        f" If there is no Tangent in your program, {name} has operators of its own, and comes out of a call of which that was"
        f" not known: call {name} by its name where the object is made, or pass it as an argument.",
    )


def of_field(name: str, d: Any) -> Tangent:
    """The cotangent of a Tangent, which is an object with one field, from that of what it has under a name."""
    return Tangent(Tangent, {"_fields": {name: d}})


def field_of(dot: Any, name: str) -> Any:
    """The tangent of what a Tangent has under a name."""
    return dot["_fields"].get(name)


def _type_name(tangent: Tangent) -> str:
    return getattr(tangent.primal_type, "__qualname__", repr(tangent.primal_type))


def _is_number(x: Any) -> bool:
    """Whether something is a number: an array of no axes is one, whosoever it is."""
    return isinstance(x, numbers.Number | np.number) or getattr(x, "ndim", None) == 0


def _by_leaves(function: Callable[[Any], Any], x_bar: Any) -> Any:
    """A cotangent of the same structure, of other numbers."""
    if is_structural_zero(x_bar):
        return x_bar
    if isinstance(x_bar, Tangent):
        return Tangent(x_bar.primal_type, {name: _by_leaves(function, part) for name, part in x_bar.items()})
    if isinstance(x_bar, dict):
        return rebuilt(x_bar, {key: _by_leaves(function, part) for key, part in x_bar.items()})
    if isinstance(x_bar, list | tuple):
        return rebuilt(x_bar, {place: _by_leaves(function, part) for place, part in enumerate(x_bar)})
    return function(x_bar)


_CODE = (FunctionType, BuiltinFunctionType, MethodType, type)


def _moved_object(x: Any, x_bar: Tangent) -> Any:
    """A copy of an object, moved by a tangent. NotImplemented for what is no object of that type."""
    return NotImplemented if type(x) is not x_bar.primal_type or isinstance(x, _CODE) else _moved(x, x_bar, _type_name(x_bar))


def _moved(x: Any, x_bar: Any, where: str) -> Any:
    if is_structural_zero(x_bar):
        return x
    if isinstance(x_bar, Tangent):
        if type(x) is not x_bar.primal_type or isinstance(x, _CODE):
            found = f"{where} is a {type(x).__name__}, and what is added to it the Tangent of a {_type_name(x_bar)}"
            raise CotangentShapeError(found)
        return rebuilt(x, {name: _moved(getattr(x, name), part, f"{where}.{name}") for name, part in x_bar.items()})
    if isinstance(x, dict) and isinstance(x_bar, Mapping):
        return rebuilt(x, {key: _moved(x[key], part, f"{where}[{key!r}]") for key, part in x_bar.items()})
    if isinstance(x, list | tuple) and isinstance(x_bar, list | tuple | np.ndarray) and len(x) == len(x_bar):
        pairs = enumerate(zip(x, x_bar, strict=True))
        return rebuilt(x, {place: _moved(part, bar, f"{where}[{place}]") for place, (part, bar) in pairs})
    if isinstance(x_bar, list | tuple | Mapping) or np.shape(x) != np.shape(x_bar):
        found = f"{where} has the shape {np.shape(x)}" if isinstance(x, np.ndarray) else f"{where} is a {type(x).__name__}"
        raise CotangentShapeError(f"{found}, and what is added to it {_shown(x_bar)}")
    return _moved_number(x, x + x_bar)


def _moved_number(x: Any, y: Any) -> Any:
    """y in the type of x, if that is a floating-point number, or array of such, and y of the same kind."""
    if isinstance(x, np.ndarray | np.inexact) and x.dtype.kind in "fc":
        return y.astype(x.dtype, copy=False) if y.dtype.kind == x.dtype.kind else y
    return type(x)(y) if type(x) is float and isinstance(y, float) else y


def _shown(x_bar: Any) -> str:
    return f"the shape {np.shape(x_bar)}" if isinstance(x_bar, np.ndarray) else f"is a {type(x_bar).__name__}"


def are_equal(a: Any, b: Any) -> bool:
    """Whether two cotangents are the same, a structural zero being equal to any zero of any structure."""
    if is_structural_zero(a) or is_structural_zero(b):
        return _is_zero(a) and _is_zero(b)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if isinstance(a, Tangent) or isinstance(b, Tangent):
            return bool(a == b)
        return all(are_equal(a.get(key), b.get(key)) for key in {*a, *b})
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(are_equal, a, b))
    return np.array_equal(a, b)


def _is_zero(x_bar: Any) -> bool:
    if is_structural_zero(x_bar):
        return True
    if isinstance(x_bar, Mapping):
        return all(map(_is_zero, x_bar.values()))
    if isinstance(x_bar, list | tuple):
        return all(map(_is_zero, x_bar))
    return not np.any(x_bar)


def accumulate(a: Any, b: Any) -> Any:
    """The sum of two cotangents of one value: element by element in containers, structural zeros being neutral.
    Changes neither; the result may be, or share, one of them."""
    if a is None:
        return b
    if b is None:
        return a
    return a + b if type(a) is float and type(b) is float else _sum_of_others(a, b)


def _sum_of_others(a: Any, b: Any) -> Any:
    if is_structural_zero(a):
        return b
    if is_structural_zero(b):
        return a
    if type(a) is NotImplementedTangent or type(b) is NotImplementedTangent:
        return a if type(a) is NotImplementedTangent else b
    if isinstance(a, Tangent) and isinstance(b, Tangent):
        return _add_tangents(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return {**a, **{key: accumulate(a.get(key), value) for key, value in b.items()}}
    if isinstance(a, list | tuple) or isinstance(b, list | tuple):
        return add_sequences(a, b)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape != b.shape:
        # NumPy would broadcast, which is never what a sum of cotangents of one array means.
        raise CotangentShapeError(f"two cotangents of one array have the shapes {a.shape} and {b.shape}")
    if isinstance(a, Mapping) or isinstance(b, Mapping):
        raise _different_structures(a, b)
    return a + b


def _add_tangents(a: Tangent, b: Tangent) -> Tangent:
    if a.primal_type is not b.primal_type:
        raise CotangentShapeError(f"cotangents of a {_type_name(a)} and of a {_type_name(b)} cannot be added")
    return Tangent(a.primal_type, {**a, **{name: accumulate(a.get(name), value) for name, value in b.items()}})


def add_sequences(a: Any, b: Any) -> list[Any] | tuple[Any, ...]:
    """The cotangents of a list or tuple: lists, tuples, and arrays whose first axis runs over the items."""
    if type(a) is tuple and type(b) is tuple and len(a) == len(b):
        pairs = zip(a, b, strict=True)
        return tuple([right if left is None else left if right is None else accumulate(left, right) for left, right in pairs])
    if not (_has_items(a) and _has_items(b)):
        raise _different_structures(a, b)
    if len(a) != len(b):
        raise CotangentShapeError(f"two cotangents of one sequence have {len(a)} and {len(b)} items")
    items = map(accumulate, a, b)
    return tuple(items) if isinstance(a, tuple) or isinstance(b, tuple) else list(items)


def _has_items(x_bar: object) -> bool:
    return x_bar.ndim > 0 if isinstance(x_bar, np.ndarray) else isinstance(x_bar, list | tuple)


def _different_structures(a: object, b: object) -> CotangentShapeError:
    return CotangentShapeError(
        f"two cotangents of one value have different structures: {type(a).__name__} and {type(b).__name__}"
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Projected:
    """A gradient that is in the structure of its argument already, as that was when the call began, which may have changed it;
    `filled` makes the one with zeros for unused leaves."""

    gradient: Any
    filled: Callable[[], Any]
