"""What a rule does for numbers, as a text of its own: no axes are summed over, and there are no conjugates.

    def mul_rrule(x, y):                                def mul_of_numbers(x, y):
        def mul_pullback(z_bar):                            if type(x) not in PYTHONS or type(y) not in PYTHONS:
            return (NoTangent(),                                return of_others(x, y)
                    unbroadcast(z_bar * conj(y), x),        z = x * y
                    unbroadcast(z_bar * conj(x), y))        if type(z) not in REAL:
        return x * y, mul_pullback                              return None
                                                            def mul_pullback(z_bar, shadows=None):
                                                                if type(z_bar) not in FLOATS or KEEPING.blocks:
                                                                    return otherwise((x, y), z_bar)
                                                                return None, z_bar * y, z_bar * x
                                                            return z, mul_pullback

Rules that are declared by their derivative or pullback have such a text. `of_others` is a second one, for arguments among which
there are some of NumPy's; what is no number is None there. `otherwise` is asked for cotangents that are not as simple.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np

from microgradpy.codegen.loading import load
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.thunks import computed
from microgradpy.tangents.types import NoTangent, ZeroTangent, is_structural_zero

_TEXT = """\
def {name}_of_numbers({parameters}):
    if {are_others}:
        return of_others({parameters})
    {before}{value} = {call}
    if type({value}) not in REAL:
        return None

    def {name}_pullback({seed}, shadows=None):
        if type({seed}) is not float:
            if type({seed}) is not float64:
                return otherwise(({parameters},), {seed})
            {seed} = float({seed})
        if KEEPING.blocks:
            return otherwise(({parameters},), {seed})
        {steps}return None, {bars}

    return {value}, {name}_pullback
"""
_PYTHONS, _REAL = frozenset({float, int}), frozenset({float, int, np.float64})


def of_numbers(rule: Callable[..., Any], count: int, bindings: Mapping[str, Any]) -> Callable[..., Any] | None:
    """The function that makes such a call of so many numbers: it returns the value and its pullback, or None if the arguments
    or the value are others. `bindings` has `otherwise` and `KEEPING`. None if the rule is not declared by a formula."""
    if not hasattr(rule, "declaration") or rule.__code__.co_argcount != count or rule.__code__.co_kwonlyargcount:
        return None
    of_others = _written(rule, count, _REAL, {**bindings, "of_others": lambda *args: None})
    return None if of_others is None else _written(rule, count, _PYTHONS, {**bindings, "of_others": of_others})


def _written(
    rule: Callable[..., Any], count: int, types: frozenset[type], bindings: Mapping[str, Any]
) -> Callable[..., Any] | None:
    (tree,) = ast.parse(rule.text).body  # type: ignore[attr-defined]
    assert isinstance(tree, ast.FunctionDef)
    *before, pullback, last = tree.body
    assert isinstance(pullback, ast.FunctionDef) and isinstance(last, ast.Return) and isinstance(last.value, ast.Tuple)
    *steps, returned = map(_Simpler(rule.__globals__).visit, pullback.body)
    bars = returned.value.elts[1:] if isinstance(returned.value, ast.Tuple) else []
    if len(bars) != count:
        return None
    seed, names = pullback.args.args[0].arg, [x.arg for x in tree.args.args]
    known = {seed} if types is _PYTHONS else None
    text = _TEXT.format(
        name=tree.name.removesuffix("_rrule"),
        parameters=", ".join(names),
        are_others=" or ".join(f"type({name}) not in NUMBERS" for name in names),
        before="".join(line + "\n    " for line in _lines(before)),
        value=f"{seed}_of",
        call=ast.unparse(last.value.elts[0]),
        seed=seed,
        steps="".join(line + "\n        " for line in _lines(steps)),
        bars="".join(f"{_as_number(bar, x, known)}, " for bar, x in zip(bars, names, strict=True)),
    )
    meanings = {"NUMBERS": types, "REAL": _REAL, "float64": np.float64, "number": _number, **bindings}
    namespace = load(text, f"{tree.name}_of_numbers", {**rule.__globals__, **meanings})
    namespace["__name__"] = rule.__module__
    made: Callable[..., Any] = namespace[f"{tree.name.removesuffix('_rrule')}_of_numbers"]
    return made


def _as_number(bar: ast.expr, x: str, known: Collection[str] | None) -> str:
    """The text of the cotangent of an argument; `known` are the names of Python's numbers if all arguments are such."""
    text = ast.unparse(bar)
    return text if text == "None" or (known is not None and _is_number(bar, known)) else f"number({text}, {x})"


def _lines(statements: list[Any]) -> Iterator[str]:
    for statement in statements:
        yield from ast.unparse(statement).splitlines()


class _Simpler(ast.NodeTransformer):
    """Leaves out what is nothing to real numbers."""

    def __init__(self, meanings: Mapping[str, Any]) -> None:
        self.meanings = meanings

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        function = self.meanings.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if function is NoTangent or function is ZeroTangent:
            return ast.Constant(None)
        if function is conj or (function is unbroadcast and _is_number(node.args[0])):
            return node.args[0]
        return node


def _is_number(bar: ast.expr, names: Collection[str] | None = None) -> bool:
    """Whether a formula gives a number for real numbers, or nothing; if it is a name, it has to be one of these."""
    match bar:
        case ast.Name(id=name):
            return names is None or name in names
        case ast.Constant(value=None) | ast.Constant(value=float()):
            return True
        case ast.UnaryOp(operand=operand):
            return _is_number(operand)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
            return _is_number(left) and _is_number(right)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=math.__name__))):
            return True
    return False


def _number(bar: Any, x: Any) -> Any:
    """What a rule gives for a number: None for zero, and for one of Python's another one, so that what follows is Python's
    arithmetic."""
    if type(bar) is float and type(x) is not np.float64:
        return bar
    if is_structural_zero(bar):
        return None
    found = computed(bar)
    return (np.float64 if type(x) is np.float64 else float)(found) if type(found) in _REAL else found
