"""Which values may carry a derivative, as far as a look at them tells."""

from __future__ import annotations

import inspect
import itertools
import types
from typing import Any

from microgradpy.ir.input_kinds import kind_of
from microgradpy.ir.kinds import UNKNOWN, Inert, carries_nothing
from microgradpy.ir.nodes import UNASSIGNED
from microgradpy.tangents.overlap import is_written_twice


def may_be_active(value: Any, depth: int = 3) -> bool:
    """Whether a value may carry a derivative, as far as a look at it tells."""
    if type(value) in (list, tuple, dict):
        return not depth or any(may_be_active(item, depth - 1) for item in (value.values() if type(value) is dict else value))
    if carries_nothing(value_kind(value)):
        return False
    if isinstance(value, types.MappingProxyType) and value:  # the parameters of a signature
        return not all(type(item) is inspect.Parameter for item in value.values())
    return True


UNASSIGNED_KIND = Inert("unassigned")
"""The kind of a captured variable that has no value."""


def value_kind(value: Any) -> Any:
    """The kind of an argument. Functions without fields, modules and classes carry no derivative. Nothing is proven of an array
    that overlaps itself: what may be written into it has to be looked at."""
    if is_written_twice(value):
        return UNKNOWN
    kind = kind_of(value)
    if value is UNASSIGNED:
        return UNASSIGNED_KIND
    if isinstance(value, types.FunctionType):
        return Inert("function") if value.__closure__ is None else kind
    # A counter of numbers that are differentiated is a stream.
    if isinstance(value, type | types.ModuleType | itertools.count):
        return Inert(type(value).__name__)
    if isinstance(value, types.BuiltinFunctionType) and isinstance(value.__self__, types.ModuleType | types.NoneType):
        return Inert("function")
    return kind

