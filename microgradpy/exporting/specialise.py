"""A helper of the package as an exported module has it: without what cannot come up there.

    if is_structural_zero(d) or x is None: ...            if d is None or x is None: ...
    if isinstance(x, list | Stream): ...            ->    if isinstance(x, list): ...
    raise MissingRuleError("a set", None, "A list.")      raise DifferentiationError("a set. A list.")
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from microgradpy.errors import CompilerBug, DifferentiationError
from microgradpy.runtime.streams import Stream, Turn
from microgradpy.tangents.foreign import is_foreign_array
from microgradpy.tangents.thunks import InplaceableThunk, Thunk, computed, thunk, unthunk
from microgradpy.tangents.types import NoTangent, NotImplementedTangent, Projected, Tangent, ZeroTangent, is_structural_zero

Meaning = Callable[[ast.expr], Any]
"""What an expression of a helper's text stands for; `UNKNOWN` for what is only known when it runs."""
UNKNOWN = object()

# No value of these comes up in an exported module.
ABSENT: tuple[Any, ...] = (Stream, Turn, Projected, NotImplementedTangent, Thunk, InplaceableThunk, NoTangent, ZeroTangent)
_ZEROS = (NoTangent, ZeroTangent)
_UNPACKED = (computed, unthunk)


def is_refusal(value: Any) -> bool:
    """Whether a value is one of the classes of errors of the package."""
    return isinstance(value, type) and issubclass(value, DifferentiationError | CompilerBug)


@final
@dataclass
class Specialiser(ast.NodeTransformer):
    """Rewrites a function. `meaning` says what its names are; `absent` are classes without objects."""

    meaning: Meaning
    absent: tuple[Any, ...] = (*ABSENT, Tangent)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        callee = self.meaning(node.func)
        if callee is is_structural_zero and len(node.args) == 1:
            return ast.Compare(node.args[0], [ast.Is()], [ast.Constant(None)])
        if callee is is_foreign_array:
            return ast.Constant(False)
        if callee in _ZEROS and not node.args:
            return ast.Constant(None)
        if callee in _UNPACKED:
            return node.args[0]
        if callee is thunk and isinstance(node.args[0], ast.Lambda) and not ast.unparse(node.args[0].args):
            return node.args[0].body
        if callee is isinstance:
            return self._isinstance(node)
        if is_refusal(callee):
            return ast.Call(ast.Name("DifferentiationError", ast.Load()), [_message(node.args)], [])
        return node

    def _isinstance(self, node: ast.Call) -> ast.expr:
        classes = [cls for cls in _alternatives(node.args[1]) if self.meaning(cls) not in self.absent]
        if not classes:
            return ast.Constant(False)
        joined = classes[0]
        for cls in classes[1:]:
            joined = ast.BinOp(joined, ast.BitOr(), cls)
        return ast.Call(node.func, [node.args[0], joined], [])

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Compare(left=ast.Call(func=ast.Name(id="type")), ops=[ast.Is()], comparators=[cls]):
                return ast.Constant(False) if self.meaning(cls) in self.absent else node
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        neutral = isinstance(node.op, ast.And)
        parts = [part for part in node.values if not (isinstance(part, ast.Constant) and part.value is neutral)]
        for place, part in enumerate(parts):
            if isinstance(part, ast.Constant) and part.value is not neutral and isinstance(part.value, bool):
                parts = parts[: place + 1] if place else [part]
                break
        if not parts:
            return ast.Constant(neutral)
        return parts[0] if len(parts) == 1 else ast.BoolOp(node.op, parts)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=ast.Constant(value=bool(value))):
                return ast.Constant(not value)
            case ast.UnaryOp(op=ast.Not(), operand=ast.Compare(left=left, ops=[ast.Is()], comparators=right)):
                return ast.Compare(left, [ast.IsNot()], right)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node

    def visit_If(self, node: ast.If) -> ast.If | list[ast.stmt]:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        self.generic_visit(node)
        return without_twins(self.meaning, node)


def without_twins(meaning: Meaning, node: ast.ExceptHandler) -> ast.ExceptHandler:
    """A handler of the package's two kinds of errors, of which a module has one."""
    if isinstance(node.type, ast.Tuple) and all(is_refusal(meaning(cls)) for cls in node.type.elts):
        node.type = ast.Name("DifferentiationError", ast.Load())
    return node


def _alternatives(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return [*_alternatives(left), *_alternatives(right)]
        case ast.Tuple(elts=items):
            return [cls for item in items for cls in _alternatives(item)]
    return [node]


def _message(arguments: list[ast.expr]) -> ast.expr:
    """What was found, and what to do about it, as one text."""
    texts = [arguments[0], *arguments[2:3]] if arguments else []
    parts: list[ast.expr] = []
    for number, text in enumerate(texts):
        if number:
            parts.append(ast.Constant(". "))
        parts += text.values if isinstance(text, ast.JoinedStr) else _piece(text)
    merged: list[ast.expr] = []
    for part in parts:
        if merged and isinstance(part, ast.Constant) and isinstance(merged[-1], ast.Constant):
            merged[-1] = ast.Constant(str(merged[-1].value) + str(part.value))
        else:
            merged.append(part)
    if len(merged) == 1 and isinstance(merged[0], ast.Constant):
        return merged[0]
    return ast.JoinedStr(merged)


def _piece(text: ast.expr) -> list[ast.expr]:
    return [text] if isinstance(text, ast.Constant) else [ast.FormattedValue(text, -1)]
