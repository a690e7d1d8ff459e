"""A nested function that calls itself.

The IR hands over values, and a function cannot be its own captured value. So it gets itself as first argument:

    def power(n):                              def power(power, n):
        return power(n - 1) * x if n else 1.0      return power(power, n - 1) * x if n else 1.0
    return power(3)                            return power(power, 3)

That is the same program as long as the function is only called, never stored or passed on, and has its name for itself.
Otherwise it is refused.
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Iterable

from microgradpy.frontend.codes import compile_nested
from microgradpy.frontend.scope import FunctionNode, bound_names, parameter_names


def is_only_called(around: Iterable[ast.AST], tree: FunctionNode) -> bool:
    """Whether a nested function is bound once in the statements around it and every use of its name is a call, there and
    in the function itself, but not in other functions inside."""
    if isinstance(tree, ast.Lambda) or tree.decorator_list or tree.name.startswith("__"):
        return False
    if tree.name in (*parameter_names(tree.args), *bound_names(tree.body)):
        return False
    return _has_only_calls(around, tree.name, tree) and _has_only_calls(tree.body, tree.name, tree)


def _has_only_calls(nodes: Iterable[ast.AST], name: str, tree: FunctionNode) -> bool:
    pending = list(nodes)
    while pending:
        node = pending.pop()
        match node:
            case _ if node is tree:
                pending += [*tree.args.defaults, *filter(None, tree.args.kw_defaults)]
            case ast.Name(id=other) if other == name:
                return False
            case ast.Global(names=names) | ast.Nonlocal(names=names) if name in names:
                return False
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef() if _mentions(node, name):
                return False
            case ast.Call(func=ast.Name(id=other), args=arguments, keywords=keywords) if other == name:
                pending += [*arguments, *keywords]
            case _:
                pending += ast.iter_child_nodes(node)
    return True


def _mentions(tree: ast.AST, name: str) -> bool:
    return any(name in (getattr(node, "id", ""), getattr(node, "name", "")) for node in ast.walk(tree))


class _Passing(ast.NodeTransformer):
    def __init__(self, name: str) -> None:
        self.name = name

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return passing_itself(node) if isinstance(node.func, ast.Name) and node.func.id == self.name else node


def passing_itself(call: ast.Call) -> ast.Call:
    """The call `f(x)` as `f(f, x)`."""
    return ast.copy_location(ast.Call(call.func, [call.func, *call.args], call.keywords), call)


def with_itself(tree: ast.FunctionDef, code: types.CodeType) -> tuple[ast.FunctionDef, types.CodeType]:
    """The function that takes itself as first argument, as a tree and compiled; every place in it stays the user's."""
    changed = _Passing(tree.name).visit(copy.deepcopy(tree))
    assert isinstance(changed, ast.FunctionDef)
    # Positional-only parameters come first.
    (changed.args.posonlyargs or changed.args.args).insert(0, ast.copy_location(ast.arg(tree.name), tree))
    captured = [name for name in code.co_freevars if name != tree.name]
    compiled = compile_nested(changed, captured, code.co_filename, code.co_flags)
    return changed, compiled.replace(co_qualname=code.co_qualname)
