"""Whose names are whose: what a function binds, where, and in which loops.

Only syntax is looked at. A binding takes effect where its statement ends (`x = f(lambda: x)` binds after the lambda is
made), except the target of a `for`, which is bound between its iterable and its body, a name in a pattern of `match`,
and `(x := ...)`. The text does not order the last one for certain (`a if (x := c) else b` evaluates `a` after it), so it
counts as bound twice: where its statement starts and where it ends itself.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from typing import Any, final

from microgradpy.dataclasses import nodeclass
from microgradpy.frontend.trees import blocks, children, walk, walk_statements

Position = tuple[int, int]
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@final
@nodeclass(frozen=True, slots=True)
class Binding:
    """`name` gets a new value at `position`, inside `loops` (each known by where it starts)."""

    name: str
    position: Position
    loops: tuple[Position, ...]


def start_of(node: ast.AST) -> Position:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def end_of(node: ast.AST) -> Position:
    return node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]


def bindings(statements: Iterable[ast.stmt]) -> list[Binding]:
    """Every binding of the scope that the statements belong to, in program order."""
    visitor = _Bindings()
    for statement in statements:
        visitor.visit(statement)
    return visitor.found


def bound_names(statements: Iterable[ast.stmt]) -> tuple[str, ...]:
    """The names that the statements bind in their own scope, in order of first appearance."""
    return tuple(dict.fromkeys(binding.name for binding in bindings(statements)))


def bound_in_target(target: ast.expr) -> list[str]:
    """The names that an assignment target binds, outer ones first."""
    return [node.id for node in walk(target) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]


def bound_in_expression(node: ast.expr) -> tuple[str, ...]:
    """The names that an expression binds in the scope it belongs to: those of its `:=`."""
    return bound_names([_as_statement(node)])


def body_of(tree: FunctionNode) -> list[ast.stmt]:
    """The statements of a function; of a lambda, its expression."""
    return [_as_statement(tree.body)] if isinstance(tree, ast.Lambda) else tree.body


def _as_statement(node: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Expr(node), node)


def parameter_names(arguments: ast.arguments) -> tuple[str, ...]:
    every = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    return tuple(argument.arg for argument in every if argument is not None)


def fragile_names(statements: Iterable[ast.stmt]) -> frozenset[str]:
    """The names that may be without value though they had one, or seem to have one: those that are deleted, and those in
    patterns of `match`. Names of functions inside are among them."""
    found: set[str] = set()
    parts: list[ast.AST] = []
    for statement in walk_statements(statements):
        if isinstance(statement, ast.Delete):
            parts += statement.targets
        elif isinstance(statement, ast.match_case):
            parts.append(statement.pattern)
    for node in (node for part in parts for node in walk(part)):
        match node:
            case ast.Name(id=name, ctx=ast.Del()):
                found.add(name)
            case ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name) | ast.MatchMapping(rest=str() as name):
                found.add(name)
    return frozenset(found)


def declared_elsewhere(statements: Iterable[ast.stmt]) -> frozenset[str]:
    """The names that a function declares `global` or `nonlocal`."""
    found: set[str] = set()
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Global | ast.Nonlocal):
            found.update(node.names)
        elif not isinstance(node, FunctionNode | ast.ClassDef):
            pending.extend(blocks(node))
    return frozenset(found)


def statements_in(statements: Iterable[ast.stmt]) -> list[ast.AST]:
    """The statements of these and of the blocks in them, those of nested functions aside."""
    found: list[ast.AST] = []
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            found.append(node)
            pending.extend(children(node))
    return found


class _Bindings(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: list[Binding] = []
        self.loops: list[Position] = []
        self.start: Position = (0, 0)  # of the statement
        self.position: Position = (0, 0)

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            self.start, self.position = start_of(node), end_of(node)
        super().visit(node)

    def bind(self, name: str | None) -> None:
        if name is not None:
            self.found.append(Binding(name, self.position, tuple(self.loops)))

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.bind(node.id)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self.loops.append(start_of(node))
        self.position = end_of(node.iter)
        self.visit(node.target)
        for statement in node.body:
            self.visit(statement)
        self.loops.pop()
        for statement in node.orelse:
            self.visit(statement)

    visit_AsyncFor = visit_For

    def visit_While(self, node: ast.While) -> None:
        self.loops.append(start_of(node))
        self.visit(node.test)
        for statement in node.body:
            self.visit(statement)
        self.loops.pop()
        for statement in node.orelse:
            self.visit(statement)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        # Decorators and defaults are evaluated in the scope around the function.
        for inner in (*node.decorator_list, *_defaults(node.args)):
            self.visit(inner)
        self.bind(node.name)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for inner in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(inner)
        self.bind(node.name)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for inner in _defaults(node.args):
            self.visit(inner)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        after = self.position
        for position in (self.start, end_of(node)):
            self.position = position
            self.bind(node.target.id)
        self.position = after

    def _visit_comprehension(self, node: Comprehension) -> None:
        # A comprehension's own variables are its own; a walrus inside binds in the function around it.
        known = len(self.loops)
        for generator in node.generators:
            self.visit(generator.iter)
            self.loops.append(start_of(generator.target))
            for condition in generator.ifs:
                self.visit(condition)
        for inner in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.visit(inner)
        del self.loops[known:]

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension

    def visit_TypeAlias(self, node: Any) -> None:
        self.bind(node.name.id)  # what it stands for is evaluated later, in a scope of its own

    def visit_alias(self, node: ast.alias) -> None:
        self.bind(node.asname or node.name.partition(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.bind(node.name)
        self.generic_visit(node)

    def visit_match_case(self, node: ast.match_case) -> None:
        self.position = end_of(node.pattern)
        self.visit(node.pattern)
        if node.guard is not None:
            self.visit(node.guard)
        for statement in node.body:
            self.visit(statement)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self.bind(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self.bind(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self.bind(node.rest)
        self.generic_visit(node)


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(default for default in arguments.kw_defaults if default is not None)]


_NAMES = ("id", "attr", "arg", "name", "rest")


class _Mangler(ast.NodeTransformer):
    def __init__(self, class_name: str) -> None:
        self.prefix = "_" + class_name.lstrip("_")

    def mangle(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and "." not in name and self.prefix != "_"
        return self.prefix + name if private else name

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.alias):
            node.asname = self.mangle(node.asname or node.name) if node.asname or "." not in node.name else None
            return node
        for attribute in _NAMES:
            name = getattr(node, attribute, None)
            if isinstance(name, str):
                setattr(node, attribute, self.mangle(name))
        if isinstance(node, ast.ClassDef):
            for outside in (*node.decorator_list, *node.bases, *node.keywords):
                self.visit(outside)  # names inside belong to that class
            return node
        if isinstance(node, ast.Global | ast.Nonlocal):
            node.names = [self.mangle(name) for name in node.names]
        return self.generic_visit(node)


def _has_private_names(node: ast.AST) -> bool:
    names = (getattr(node, attribute, None) for attribute in (*_NAMES, "asname"))
    every = [name for name in names if isinstance(name, str)]
    if isinstance(node, ast.Global | ast.Nonlocal):
        every += node.names
    return any(name.startswith("__") for name in every)


def mangle_private_names(tree: FunctionNode, class_name: str) -> FunctionNode:
    """The function with `__name` written as the compiler of a class body sees it, `_Class__name`; the tree itself is
    left as it is, because it is shared by all who ask for the file's text."""
    if not class_name or not any(map(_has_private_names, walk(tree))):
        return tree
    name = getattr(tree, "name", "")
    mangled = _Mangler(class_name).visit(copy.deepcopy(tree))
    if name:
        mangled.name = name  # type: ignore[attr-defined]  # a function's own name is mangled outside it only
    return mangled  # type: ignore[return-value]
