"""The native code of a function for inputs of given types: from its unit to a compiled function.

unit -> joint -> lowered -> printed -> compiled
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from microgradpy.cache import Unit
from microgradpy.compiler import compile_unit
from microgradpy.dataclasses import dataclass
from microgradpy.errors import PerformanceWarning
from microgradpy.ir.kinds import Kind
from microgradpy.ir.nodes import Location
from microgradpy.ir.reasons import MayWrite
from microgradpy.native.compiling import compiled
from microgradpy.native.helpers import EXACT
from microgradpy.native.joint import Joint, joint_of
from microgradpy.native.lowering import lowered
from microgradpy.native.printing import printed
from microgradpy.native.types import EXACT_BITS, FLOAT, FLOAT64, ArrayOf, Number, Type, Unsupported, whole
from microgradpy.quiet import without_warnings
from microgradpy.runtime.modes import changed_mode


@final
@dataclass(frozen=True, slots=True)
class Native:
    """A compiled function: of the inputs of a unit, and of the variables of modules that it reads, to (whether all went as it
    should, the value, the cotangents that are there). `entry` is the same without a look at the types, for who has looked.
    `variables` are where these are read, and their types."""

    text: str
    run: Any
    entry: Any
    inputs: tuple[Type, ...]
    variables: tuple[tuple[dict[str, Any], str, Type], ...]
    is_absent: tuple[bool, ...]
    value: Number
    uses_numpy: bool


def unit_for(function: types.FunctionType, kinds: tuple[Kind, ...], active: tuple[bool, ...]) -> Unit:
    """The unit that is made into native code. Unsupported for a function that writes into what others have."""
    with changed_mode(native=True, assumes_real=True):
        unit = compile_unit(function, kinds, active)
    if isinstance(unit, MayWrite):
        raise Unsupported("code that may write into what others have")
    return unit


def native_text(unit: Unit, values: Sequence[Any]) -> str:
    """The text of the native code for such inputs, which need not be compiled."""
    joint, inputs, variables = _typed(unit, values)
    return printed(lowered(joint, _types(joint, inputs, variables)), f"{unit.name}_native").text


def native_code(unit: Unit, values: Sequence[Any]) -> Native:
    """The native code for such inputs. Unsupported if there is none."""
    joint, inputs, variables = _typed(unit, values)
    key = (*inputs, *variables)
    known = unit.native.get(key)
    if known is None:
        try:
            known = _made(unit, joint, inputs, variables)
        except Unsupported as found:
            known = found
        unit.native[key] = known
    if isinstance(known, Unsupported):
        raise known
    assert isinstance(known, Native)
    return known


def _typed(unit: Unit, values: Sequence[Any]) -> tuple[Joint, tuple[Type, ...], tuple[Type, ...]]:
    if "joint" not in unit.native:
        with changed_mode(native=True, assumes_real=True):
            unit.native["joint"] = joint_of(unit)
    joint: Joint = unit.native["joint"]
    inputs = tuple(type_of_input(value, var.hint) for value, var in zip(values, joint.inputs, strict=True))
    variables = tuple(type_of_input(variable.namespace[variable.name], variable.name) for variable in joint.variables)
    return joint, inputs, variables


def _types(joint: Joint, inputs: Sequence[Type], variables: Sequence[Type]) -> dict[Any, Type]:
    every = (*joint.inputs, *(variable.var for variable in joint.variables))
    return dict(zip(every, (*inputs, *variables), strict=True))


def _made(unit: Unit, joint: Joint, inputs: tuple[Type, ...], variables: tuple[Type, ...]) -> Native:
    form = lowered(joint, _types(joint, inputs, variables))
    name = f"{unit.name}_native"
    emitted = printed(form, name)

    with without_warnings():
        run, file = compiled(emitted.text, name, emitted.bindings, (*inputs, *variables))
    unit.shows(file)
    read = tuple((each.namespace, each.name, kind) for each, kind in zip(joint.variables, variables, strict=True))
    (overload,) = run.overloads.values()
    entry = overload.entry_point
    return Native(emitted.text, run, entry, inputs, read, form.is_absent, form.value, form.uses_numpy)


def type_of_input(value: Any, name: str) -> Type:
    """The type of an input; Unsupported for what native code does not take."""
    match value:
        case float() if type(value) is float:
            return FLOAT
        case float() if type(value) is np.float64:
            return FLOAT64
        case int() if type(value) is int and abs(value) <= EXACT:
            return whole(EXACT_BITS)
        case np.ndarray() if type(value) is np.ndarray and value.dtype == np.float64 and value.ndim in (1, 2):
            if value.dtype.isnative and value.flags.carray:
                return ArrayOf(value.ndim)
            raise Unsupported(f"{name}, an array that is not contiguous, or cannot be written")
    raise Unsupported(f"{name}, which is {_described(value)}")


def _described(value: Any) -> str:
    if type(value) is np.ndarray:
        return f"an array of {value.ndim} axes and dtype {value.dtype}"
    return f"of type {type(value).__name__}"


def warning_of(function: types.FunctionType, found: Unsupported) -> PerformanceWarning:
    """What is said once where the source target takes over: the place, and what has no native form."""
    code, where = function.__code__, found.where
    if not where.line:
        where = Location(code.co_filename, code.co_firstlineno, function=code.co_name)
    return PerformanceWarning(
        f'{function.__name__} is not compiled to native code, since target="numba" does not have {found.what}\n  at {where}\n'
        "  It runs as generated Python."
    )
