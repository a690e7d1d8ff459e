"""Whether a function is compiled with its writes tracked, as far as that shows before anything is proven of its values.

    x[0] = y            x is not a variable of memory in sight any more (`promotion`): others have it, whatever it is
    self.v = y          the same of what the function was given; a module is refused that
    total_cell          a variable that functions share, in a cell or in a module
    except E as e       what is read from `e` has its cotangent in the exception's shadow
    x.flat              the array may be written into by way of it

What depends on kinds, on activity or on what is called (`s += e`, `xs.append(y)`, `helper(x)`) is found by the primal.
"""

from __future__ import annotations

import operator
from types import BuiltinFunctionType, FunctionType
from typing import Any

from microgradpy.frontend import exceptions
from microgradpy.ir.nodes import Const, Function, Op, Var
from microgradpy.ir.traversal import walk
from microgradpy.runtime.variables import OF_CELLS, OF_MODULES

_WRITERS: frozenset[Any] = frozenset({operator.setitem, operator.delitem, exceptions.caught, *OF_CELLS, *OF_MODULES})


def writes_for_certain(function: Function) -> bool:
    """Whether a function without the memory that was in sight writes into what others may have, whatever its inputs are."""
    inputs = frozenset(function.inputs)
    return any(isinstance(op, Op) and _writes(op, inputs) for op in walk(function.body))


def _writes(op: Op, inputs: frozenset[Var]) -> bool:
    callee = op.callee.value if isinstance(op.callee, Const) else None
    if not isinstance(callee, FunctionType | BuiltinFunctionType):
        return False
    if callee is setattr or callee is delattr:
        return bool(op.arguments) and op.arguments[0] in inputs
    return callee in _WRITERS or is_flat(op)


def is_flat(op: Op) -> bool:
    """Whether an operation makes an iterator through which an array may be written, and which notes where it is."""
    if not isinstance(op.callee, Const) or op.callee.value is not getattr or len(op.arguments) < 2:
        return False
    name = op.arguments[1]
    return isinstance(name, Const) and name.value == "flat"
