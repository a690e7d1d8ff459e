"""The text of a statement, quickly: of the syntax that the compiler makes, as astor writes it, in one pass and with no check.

    x_bar = y_bar * (2.0 * x)

Each expression is told the precedence of what it stands in, and has parentheses if its own is lower. What is not known here is
`NotQuick`, and so is what astor gets wrong. Whoever asks compares the text with the tree.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable
from typing import Any


def quoted(text: str) -> str:
    """A text in double quotes, if there are none in it."""
    single = repr(text)
    return single if '"' in single or "\\" in single else f'"{single[1:-1]}"'


class NotQuick(Exception):
    """A statement that is left to `printing.print_statement`."""


_LEVELS = """
    Assign AugAssign Expr
    Yield
    If For While
    Return
    Slice Subscript
    Tuple
    Comma
    OneArgument
    IfExp
    Or
    And
    Not
    Eq Gt GtE In Is NotEq Lt LtE NotIn IsNot
    BitOr
    BitXor
    BitAnd
    LShift RShift
    Add Sub
    Mult Div Mod FloorDiv MatMult
    PowRHS
    Invert UAdd USub
    Pow
    Constant
    Operand
"""
_LEVEL = {name: 2 * number for number, line in enumerate(_LEVELS.strip().splitlines()) for name in line.split()}
_TUPLE, _COMMA, _ONE, _CONSTANT = (_LEVEL[name] for name in ("Tuple", "Comma", "OneArgument", "Constant"))
_OPERAND = _LEVEL["Operand"]  # of what a dot or brackets follow
_SIGNS: dict[type[ast.AST], tuple[int, str]] = {
    getattr(ast, name): (_LEVEL[name], sign)
    for name, sign in {
        **{"Or": " or ", "And": " and ", "Eq": " == ", "Gt": " > ", "GtE": " >= ", "In": " in ", "Is": " is ", "NotEq": " != "},
        **{"Lt": " < ", "LtE": " <= ", "NotIn": " not in ", "IsNot": " is not ", "BitOr": " | ", "BitXor": " ^ "},
        **{"BitAnd": " & ", "LShift": " << ", "RShift": " >> ", "Add": " + ", "Sub": " - ", "Mult": " * ", "Div": " / "},
        **{"Mod": " % ", "FloorDiv": " // ", "MatMult": " @ ", "Pow": " ** "},
        **{"Not": "not ", "Invert": "~", "UAdd": "+", "USub": "-"},
    }.items()
}


def quick_text(statement: ast.stmt) -> str:
    """The text of a simple statement, or of the first line of a compound one."""
    return _STATEMENTS.get(type(statement), _unknown)(statement)


def _unknown(node: Any, _: int = 0) -> str:
    raise NotQuick(type(node).__name__)


def _text(node: ast.expr, outer: int) -> str:
    return _EXPRESSIONS.get(type(node), _unknown)(node, outer)


def _listed(items: Iterable[ast.expr]) -> str:
    return ", ".join([_text(item, _COMMA) for item in items])


# Statements


def _assignment(node: ast.Assign) -> str:
    if type(node.value) is ast.Tuple and len(node.value.elts) == 1:
        raise NotQuick  # `a = b,` is easily read as `a = b`
    return " = ".join([_text(part, _LEVEL["Assign"]) for part in (*node.targets, node.value)])


def _augmented(node: ast.AugAssign) -> str:
    level = _LEVEL["AugAssign"]
    return f"{_text(node.target, level)}{_SIGNS[type(node.op)][1].rstrip()}= {_text(node.value, level)}"


def _return(node: ast.Return) -> str:
    if node.value is None:
        return "return"
    if type(node.value) is ast.Tuple and len(node.value.elts) == 1:
        raise NotQuick
    return f"return {_text(node.value, _LEVEL['Return'])}"


def _raise(node: ast.Raise) -> str:
    if node.exc is None:
        return "raise"
    cause = "" if node.cause is None else f" from {_text(node.cause, _OPERAND)}"
    return f"raise {_text(node.exc, _OPERAND)}{cause}"


def _deletion(node: ast.Delete) -> str:
    return f"del {_listed(node.targets)}"


def _loop(node: ast.For) -> str:
    return f"for {_text(node.target, _LEVEL['For'])} in {_text(node.iter, _OPERAND)}:"


def _function(function: ast.FunctionDef) -> str:
    """The first line of a function without decorators, defaults and annotations."""
    given = function.args
    if given.posonlyargs or given.defaults or any(given.kw_defaults) or function.decorator_list or function.returns:
        raise NotQuick
    names = [argument.arg for argument in given.args]
    names += [f"*{given.vararg.arg}"] if given.vararg else ["*"] if given.kwonlyargs else []
    names += [argument.arg for argument in given.kwonlyargs]
    names += [f"**{given.kwarg.arg}"] if given.kwarg else []
    return f"def {function.name}({', '.join(names)}):"


_STATEMENTS: dict[type[ast.stmt], Callable[[Any], str]] = {
    ast.Assign: _assignment,
    ast.AugAssign: _augmented,
    ast.Expr: lambda node: _text(node.value, _LEVEL["Expr"]),
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Delete: _deletion,
    ast.For: _loop,
    ast.If: lambda node: f"if {_text(node.test, _LEVEL['If'])}:",
    ast.While: lambda node: f"while {_text(node.test, _LEVEL['While'])}:",
    ast.FunctionDef: _function,
    ast.Pass: lambda _: "pass",
    ast.Break: lambda _: "break",
    ast.Continue: lambda _: "continue",
}

# Expressions


def _enclosed(text: str, own: int, outer: int) -> str:
    return text if own >= outer else f"({text})"


def _constant(node: ast.Constant, outer: int) -> str:
    value = node.value
    if type(value) is str:
        return quoted(value)
    if isinstance(value, int | float):
        if not 0 <= value < math.inf:
            raise NotQuick
        return _enclosed(repr(value), _CONSTANT, outer)
    if value is None or type(value) is bytes:
        return repr(value)
    if value is Ellipsis:
        return "..."
    raise NotQuick


def _attribute(node: ast.Attribute, _: int) -> str:
    return f"{_text(node.value, _OPERAND)}.{node.attr}"


def _subscript(node: ast.Subscript, _: int) -> str:
    return f"{_text(node.value, _OPERAND)}[{_text(node.slice, _LEVEL['Subscript'])}]"


def _slice(node: ast.Slice, _: int) -> str:
    level = _LEVEL["Slice"]
    lower, upper = ("" if part is None else _text(part, level) for part in (node.lower, node.upper))
    if node.step is None:
        return f"{lower}:{upper}"
    step = "" if type(node.step) is ast.Name and node.step.id == "None" else _text(node.step, level)
    return f"{lower}:{upper}:{step}"


def _call(node: ast.Call, _: int) -> str:
    level = _COMMA if len(node.args) + len(node.keywords) > 1 else _ONE
    given = [_text(argument, level) for argument in node.args]
    for keyword in node.keywords:
        given.append(("**" if keyword.arg is None else f"{keyword.arg}=") + _text(keyword.value, _COMMA))
    return f"{_text(node.func, _OPERAND)}({', '.join(given)})"


def _tuple(node: ast.Tuple, outer: int) -> str:
    text = _listed(node.elts) + ("," if len(node.elts) == 1 else "")
    return text if _TUPLE >= outer and text else f"({text})"


def _dict(node: ast.Dict, _: int) -> str:
    pairs = zip(node.keys, node.values, strict=True)
    items = [("**" if key is None else f"{_text(key, _OPERAND)}: ") + _text(value, _COMMA) for key, value in pairs]
    return f"{{{', '.join(items)}}}"


def _set(node: ast.Set, _: int) -> str:
    if not node.elts:
        raise NotQuick
    return f"{{{_listed(node.elts)}}}"


def _binary(node: ast.BinOp, outer: int) -> str:
    own, sign = _SIGNS[type(node.op)]
    left, right = (own + 1, _LEVEL["PowRHS"]) if type(node.op) is ast.Pow else (own, own + 1)
    return _enclosed(_text(node.left, left) + sign + _text(node.right, right), own, outer)


def _unary(node: ast.UnaryOp, outer: int) -> str:
    own, sign = _SIGNS[type(node.op)]
    return _enclosed(sign + _text(node.operand, own), own, outer)


def _boolean(node: ast.BoolOp, outer: int) -> str:
    own, sign = _SIGNS[type(node.op)]
    return _enclosed(sign.join([_text(value, own + 1) for value in node.values]), own, outer)


def _comparison(node: ast.Compare, outer: int) -> str:
    own = _SIGNS[type(node.ops[0])][0]
    text = _text(node.left, own + 1)
    for sign, right in zip(node.ops, node.comparators, strict=True):
        text += _SIGNS[type(sign)][1] + _text(right, own + 1)
    return _enclosed(text, own, outer)


def _choice(node: ast.IfExp, outer: int) -> str:
    own = _LEVEL["IfExp"]
    text = f"{_text(node.body, own + 1)} if {_text(node.test, own + 1)} else {_text(node.orelse, own)}"
    return _enclosed(text, own, outer)


def _yield(node: ast.Yield, outer: int) -> str:
    own = _LEVEL["Yield"]
    return _enclosed("yield" if node.value is None else f"yield {_text(node.value, own + 1)}", own, outer)


_EXPRESSIONS: dict[type[ast.expr], Callable[[Any, int], str]] = {
    ast.Name: lambda node, _: str(node.id),
    ast.Constant: _constant,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Call: _call,
    ast.Tuple: _tuple,
    ast.List: lambda node, _: f"[{_listed(node.elts)}]",
    ast.Dict: _dict,
    ast.Set: _set,
    ast.Starred: lambda node, _: f"*{_text(node.value, _OPERAND)}",
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _comparison,
    ast.IfExp: _choice,
    ast.Yield: _yield,
}
