"""English words for values that the user has not named, from the operations that make them."""

from __future__ import annotations

from collections.abc import Mapping

from microgradpy.ir.nodes import Const, Op, Value, Var

OPERATORS: Mapping[str, str] = {
    "add": "total",
    "sub": "difference",
    "mul": "product",
    "matmul": "product",
    "truediv": "ratio",
    "floordiv": "quotient",
    "mod": "remainder",
    "pow": "power",
    "neg": "negated",
    "pos": "value",
    "not_": "negation",
    "contains": "is_member",
    "not_contains": "is_missing",
    "is_": "is_same",
    "is_not": "is_other",
    "eq": "is_equal",
    "ne": "is_different",
    "lt": "is_less",
    "le": "is_less",
    "gt": "is_greater",
    "ge": "is_greater",
}
"""By the name of the function in `operator` (`not_contains` stands for `not in`, which has none)."""


def subject(op: Op) -> str:
    """What the result of an operation may be called as the subject of a longer name: `total`, `sin_x`, `sum`. Empty if
    there is nothing to call it after."""
    if not isinstance(op.callee, Const):
        return ""
    name = op.callee.path.rpartition(".")[2] or getattr(op.callee.value, "__name__", "")
    match name, op.arguments:
        case "getattr", (_, Const(value=str() as attribute)):
            return attribute if attribute.isidentifier() else ""
        case "getitem", (_, Const(value=str() as key)) if key.isidentifier():
            return key
        case "getitem", (operand, _):
            return f"{short(operand)}_item".lstrip("_")
    if name in OPERATORS:
        return OPERATORS[name]
    if not name.isidentifier():
        return ""
    first = short(op.arguments[0]) if len(op.arguments) == 1 else ""
    return f"{name}_{first}" if first and len(name) <= 8 else name


def short(value: Value, longest: int = 8) -> str:
    """The name of an operand, if it is short enough to be part of another."""
    return value.hint if isinstance(value, Var) and len(value.hint) <= longest else ""
