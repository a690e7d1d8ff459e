"""What native code knows of a value: more than kinds say, since whole numbers must not wrap around, and Python's floats raise
where those of NumPy warn.

    x = 1.5       Number({"float"})                   n = 3       Number({"int"}, bits=2)
    x[i]          Number({"float64"})                 x > y       Truth()
    total         Number({"int", "float64"})          of `total = 0` before a loop that adds entries of an array
"""

from __future__ import annotations

from typing import Any, final

from microgradpy.dataclasses import field, nodeclass
from microgradpy.ir.nodes import NOWHERE, Location, Var

EXACT_BITS = 53
"""Whole numbers of so many bits are the same as a float."""


@final
class Unsupported(Exception):
    """What has no native form, and where it is in the user's program."""

    def __init__(self, what: str, where: Location = NOWHERE) -> None:
        super().__init__(what)
        self.what, self.where = what, where


@final
@nodeclass(frozen=True, slots=True)
class Number:
    """A real number, which is of one of these Python types: "int", "float", "float64" (NumPy's). A whole number has at most so
    many `bits`. If it may be of several types it is a float here, which whole numbers of few bits are equal to."""

    may: frozenset[str]
    bits: int = 0

    @property
    def is_whole(self) -> bool:
        return self.may == {"int"}

    @property
    def may_be_whole(self) -> bool:
        return "int" in self.may

    @property
    def may_be_numpy(self) -> bool:
        return "float64" in self.may


@final
@nodeclass(frozen=True, slots=True)
class Truth:
    """A truth value; one of NumPy's adds up in another way."""

    is_numpy: bool = False


@final
@nodeclass(frozen=True, slots=True)
class ArrayOf:
    """An array of float64, or of truth values."""

    ndim: int
    dtype: str = "float"


@final
@nodeclass(frozen=True, slots=True)
class Items:
    """A tuple."""

    items: tuple[Any, ...]


@final
@nodeclass(frozen=True, slots=True)
class Tape:
    """What records are kept in."""

    origin: Var


@final
@nodeclass(frozen=True, slots=True)
class TypeOf:
    """The class of a number, as `type(x)` gives it."""

    number: Number


@final
@nodeclass(frozen=True, slots=True, eq=False)
class Known:
    """A value that is known, so that nothing is computed: None, a class, an outcome of a test."""

    value: Any = field(default=None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and (self.value is other.value)

    def __hash__(self) -> int:
        return id(self.value)


@final
@nodeclass(frozen=True, slots=True)
class Maybe:
    """A number or truth value, or None, for which a zero stands here: what the compiler keeps of a branch that was not taken,
    and looks at only if it was."""

    present: Number | Truth


@final
@nodeclass(frozen=True, slots=True)
class Method:
    """A method of an array."""

    name: str
    owner: Var


Type = Number | Truth | ArrayOf | Items | Tape | TypeOf | Maybe | Method | Known
FLOAT, FLOAT64 = Number(frozenset({"float"})), Number(frozenset({"float64"}))
TRUTH = Truth()
NONE = Known(None)


def whole(bits: int) -> Number:
    return Number(frozenset({"int"}), bits)


def type_of(value: Any) -> Type | None:
    """The type of a constant number; None for what has none."""
    match value:
        case bool() | None:
            return Known(value)
        case int() if type(value) is int and abs(value) < 1 << EXACT_BITS:
            return whole(value.bit_length())
        case float() if type(value) is float:
            return FLOAT
        case tuple() if type(value) is tuple:
            items = tuple(map(type_of, value))
            return None if None in items else Items(items)
    return None


def join(a: Type | None, b: Type | None) -> Type | None:
    """The type of what is one or the other; None stands for what is not assigned, and may be anything. Unsupported if there is
    no type for both."""
    if a is None or b is None or a == b:
        return b if a is None else a
    match a, b:
        case Number(), Number():
            return Number(a.may | b.may, max(a.bits, b.bits))
        case (Truth() | Known(value=bool()), Truth() | Known(value=bool())):
            return Truth(any(isinstance(each, Truth) and each.is_numpy for each in (a, b)))
        case Items(items=left), Items(items=right) if len(left) == len(right):
            return Items(tuple(map(join, left, right)))
        case (Known(value=None), (Number() | Truth() | Known(value=bool())) as other) | (
            (Number() | Truth() | Known(value=bool())) as other,
            Known(value=None),
        ):
            return Maybe(TRUTH if isinstance(other, Known) else other)
        case (Maybe(), _) | (_, Maybe()):
            inner = join(present(a), present(b))
            if isinstance(inner, Number | Truth):
                return Maybe(inner)
    raise Unsupported(f"a variable that is {words(a)} on one path and {words(b)} on another")


def present(type_: Type | None) -> Type | None:
    """The type of a value that is not None; nothing of None."""
    return type_.present if isinstance(type_, Maybe) else None if type_ == NONE else type_


def stand_in(type_: Type | None) -> Any:
    """What stands for None or for what is not assigned: a zero that nobody looks at."""
    match type_:
        case Maybe(present=inner):
            return stand_in(inner)
        case Truth():
            return False
        case Number():
            return 0 if type_.is_whole else 0.0
    return 0.0


def words(type_: Type | None) -> str:
    """A type in a few words."""
    match type_:
        case Number(may=may):
            return "a whole number" if type_.is_whole else "a number" if len(may) > 1 else "a float"
        case Truth() | Known(value=bool()):
            return "a truth value"
        case ArrayOf(ndim=ndim):
            return f"an array of {ndim} axes"
        case Items():
            return "a tuple"
        case Known(value=None):
            return "None"
        case Maybe():
            return "a number or None"
        case Tape():
            return "a record"
    return "something else"
