"""What each operation becomes in native code: the type of its result, the tests before and after, and what is called.

A rule is given a `Call` and returns nothing: it adds operations to the lowering, or says that the result is a value that is
there already. What has no rule has no native form.
"""

from __future__ import annotations

import operator
from typing import Any

from microgradpy.ir.nodes import Const, Op, Opcode, Value
from microgradpy.native.adjoints import OF_PACKAGE
from microgradpy.native.arrays import OF_METHODS, OF_OPCODES, REDUCING
from microgradpy.native.calls import (
    RULES,
    Call,
    Lowering,
    Rule,
    name_of,
)
from microgradpy.native.types import (
    NONE,
    Maybe,
    Method,
    Type,
    Unsupported,
)


def lower(lowering: Lowering, op: Op, arguments: tuple[Value, ...]) -> None:
    """Add the lowered form of an operation. Unsupported if it has none."""
    keywords = tuple((name, lowering.value(value)) for name, value in op.keywords)
    if isinstance(op.callee, Opcode):
        rule = OF_OPCODES.get(op.callee)
    else:
        callee = lowering.value(op.callee)
        method = lowering.type(callee)
        if isinstance(method, Method):
            rule, arguments = OF_METHODS.get(method.name), (method.owner, *arguments)
        else:
            rule = _rule_of(callee.value) if isinstance(callee, Const) else None
    if len(keywords) == 1 == len(arguments) and keywords[0][0] == "axis" and rule in REDUCING:
        arguments, keywords = (*arguments, keywords[0][1]), ()
    call = Call(lowering, op, arguments, tuple(_given(op, lowering.type(value)) for value in arguments))
    if rule is None or keywords:
        raise call.refuse()
    rule(call)


def _given(op: Op, type_: Type | None) -> Type:
    """The type of an operand. What the compiler has kept of a branch is there where the compiler uses it."""
    if isinstance(type_, Maybe):
        if op.from_user or not isinstance(op.callee, Const) or op.callee.value in _ASKING:
            raise Unsupported(f"{name_of(op)} of a number or None", op.where)
        return type_.present
    return NONE if type_ is None else type_


_ASKING = (operator.is_, operator.is_not, type)
"""What tells None from a number."""


_OF_ADJOINTS = ("microgradpy.tangents.", "microgradpy.rules.", "microgradpy.runtime.cotangents")


def _rule_of(function: Any) -> Rule | None:
    """The rule of a function; those of this package are known by name, as there are copies of them."""
    found = RULES.get(id(function))
    if found is not None and found[0] is function:
        return found[1]
    if str(getattr(function, "__module__", "")).startswith(_OF_ADJOINTS):
        return OF_PACKAGE.get(getattr(function, "__name__", ""))
    return None
