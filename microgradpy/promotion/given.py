"""Arguments in sight: objects, and lists, tuples and dicts of them, that the function only reads.

    model                       holder, an object of class Model
      .layers                   holder, a list of one item
        [0]                     holder, an object of class Dense
          .w                    leaf, an input of the compiled function
          .activation           static, the function np.tanh

What is read of an argument is noted as a tree, and nothing is looked at that is not read. Each part is found again in the next
call by the same steps.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Iterator
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.nodes import Const, Var, fresh
from microgradpy.promotion.classes import is_in_sight, is_record
from microgradpy.promotion.places import Known, Origin

NUMBERS = frozenset((int, float, complex, np.float64, np.float32, np.int64, np.int32, np.complex128, np.complex64))
LITERALS = frozenset((bool, str, bytes, type(None)))
CONTAINERS = frozenset((list, tuple, dict))
IDENTICAL = (np.ufunc, type, types.BuiltinFunctionType, types.ModuleType, enum.Enum, np.dtype)
"""Of what is of these classes nothing is to be known but that it is the same one."""
_LARGEST = 64

Step = tuple[str, Any]
"""How a part is reached: `(".", name)`, or `("[]", index or key)`."""


class Whole(Exception):
    """A container is used as a whole: it is to be one input, as it stands."""

    def __init__(self, path: tuple[Any, ...]) -> None:
        super().__init__(path)
        self.path = path


@final
@dataclass(eq=False, slots=True)
class Part:
    """An argument, or what is reached from one: `value` is an example of it, `known` what it is for who reads it, which is the
    part itself if that has parts of its own (`children`). `methods` were read from it, and `missing` are names that it has not."""

    origin: Origin
    path: tuple[Any, ...]
    hint: str
    value: Any
    children: dict[Step, Part] = field(default_factory=dict)
    methods: dict[str, types.FunctionType] = field(default_factory=dict)
    missing: dict[str, None] = field(default_factory=dict)
    known: Known | None = None

    @property
    def cls(self) -> type:
        return type(self.value)

    @property
    def is_container(self) -> bool:
        return self.cls in CONTAINERS

    @property
    def is_leaf(self) -> bool:
        return isinstance(self.known, Var)

    def leaves(self) -> Iterator[Part]:
        """The inputs that this part becomes."""
        if self.is_leaf:
            yield self
        for child in self.children.values():
            yield from child.leaves()


@final
@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """Items that were read from arguments, as a list or tuple that nobody writes into."""

    origin: Origin
    items: tuple[Any, ...]


def is_holder(value: Any) -> bool:
    """Whether a value has parts that can be in sight."""
    cls = type(value)
    if cls in CONTAINERS:
        return cls is not dict or all(type(key) in (str, int) for key in value)
    return is_record(cls) or is_in_sight(cls)


def holds_objects(value: Any, depth: int = 4) -> bool:
    """Whether a value is an object that can be in sight, or a container of some."""
    cls = type(value)
    if cls not in CONTAINERS:
        return cls not in NUMBERS and cls is not np.ndarray and is_holder(value)
    if not depth or len(value) > _LARGEST:
        return False
    return any(holds_objects(item, depth - 1) for item in (value.values() if cls is dict else value))


def is_plain_function(value: Any) -> bool:
    """Whether a function is nothing but its code."""
    return isinstance(value, types.FunctionType) and not (value.__closure__ or value.__defaults__ or value.__kwdefaults__)


def known_of(part: Part, wholes: frozenset[tuple[Any, ...]]) -> Known | None:
    """What a part is for who reads it; None if it cannot be in sight."""
    value, cls = part.value, part.cls
    if cls in NUMBERS or cls is np.ndarray or part.path in wholes:
        return fresh(part.hint, True)
    if cls in LITERALS:
        return Const(value)
    if isinstance(value, IDENTICAL):
        return _constant(value)
    if isinstance(value, types.FunctionType):
        return _constant(value) if is_plain_function(value) else None
    return part if is_holder(value) else None  # type: ignore[return-value]


def _constant(value: Any) -> Const:
    name = str(getattr(value, "__name__", ""))
    if isinstance(value, np.ufunc) and getattr(np, name, None) is value:
        return Const(value, f"np.{name}", np)
    return Const(value, name if name.isidentifier() else "", value)
