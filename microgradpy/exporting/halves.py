"""What the names in a generated function mean, and which of its calls become other ones in an exported module."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from microgradpy.errors import DifferentiationError
from microgradpy.exporting import parts
from microgradpy.exporting.calls import CLOSURE_REMEDY, Choice, check_is_everywhere, is_direct, rules_of_call
from microgradpy.exporting.entries import Entry, Reference
from microgradpy.exporting.kinds import is_data
from microgradpy.exporting.scopes import MISSING, lookup, meaning_of
from microgradpy.exporting.specialise import without_twins
from microgradpy.runtime.making import import_from, import_module

ReferenceTo = Callable[..., Reference]
Refusal = Callable[[str, str], DifferentiationError]


@final
@dataclass
class HalfReader:
    """Reads one generated function: fills in the meanings and edits of its entry."""

    entry: Entry
    tree: ast.FunctionDef
    namespace: dict[str, Any]
    reference: ReferenceTo
    chosen: Callable[[list[Choice], str], Reference]
    refusal: Refusal

    def read(self) -> None:
        self.skipped: set[ast.AST] = set()
        for node in ast.walk(self.tree):
            match node:
                case ast.Call(func=ast.Name(id=name), args=[callee, *_]):
                    self._call(node, self.namespace.get(name), callee)
                case ast.Subscript(value=ast.Name(id="module_globals"), slice=ast.Constant(value=str(name))):
                    self._module_variable(node, name)
                case ast.ExceptHandler(type=ast.Tuple() as caught):
                    self._handler(node, caught)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and node not in self.skipped and node.id not in self.entry.own:
                self._name(node.id)

    def _name(self, name: str) -> None:
        if name in self.entry.meanings or (name == self.tree.name and name not in self.namespace):
            return
        value = lookup(name, self.namespace)
        if isinstance(value, types.CodeType):
            raise self.refusal(f"the function {value.co_qualname}, which is made when it runs", CLOSURE_REMEDY)
        if name == "module_globals" or isinstance(value, dict):
            raise self.refusal("a function that is made when it runs", CLOSURE_REMEDY)
        self.entry.meanings[name] = self.reference(value, name)

    def _module_variable(self, node: ast.Subscript, name: str) -> None:
        module = self.namespace["module_globals"]
        value = lookup(name, module)
        if value is MISSING:
            raise self.refusal(f"the module variable {name}, which is not there", "Assign it before.")
        self._edit(node, f"module_globals[{name!r}]", self.reference(value, name, module))
        self.skipped.update(ast.walk(node))

    def _handler(self, node: ast.ExceptHandler, caught: ast.Tuple) -> None:
        """`except (DifferentiationError, CompilerBug)`: a module has one of them."""
        if without_twins(lambda name: meaning_of(name, self.namespace), node).type is caught:
            return
        name = parts.DifferentiationError.__name__
        self._edit(caught, name, self.reference(parts.DifferentiationError, name))
        self.skipped.update(ast.walk(node.type or caught))

    def _call(self, node: ast.Call, function: Any, callee: ast.expr) -> None:
        if function in (import_module, import_from) and isinstance(callee, ast.Constant):
            check_is_everywhere(str(callee.value), self.refusal)
        target = meaning_of(callee, self.namespace)
        if is_direct(function, target, node):
            # call_unchanged(f, x) -> f(x)
            self.entry.edits.append((_span(node.func, callee), ""))
            self.entry.edits.append((_between(node), "("))
            self.skipped.add(node.func)
            return
        rules = rules_of_call(function, target, node)
        given = [meaning_of(argument, self.namespace) for argument in node.args[1:]]
        if rules and all(value is MISSING or is_data(value) for value in given):
            name = parts.pullback_by_rule.__name__
            self._edit(node.func, name, self.reference(parts.pullback_by_rule, name))
            rule = rules[-1][1].__name__ if len(rules) == 1 else f"{target.__name__.strip('_')}_by_type"
            self._edit(callee, rule, self.chosen(rules, rule))
            self.skipped.update((node.func, *ast.walk(callee)))

    def _edit(self, node: ast.AST, text: str, reference: Reference) -> None:
        self.entry.meanings[text] = reference
        self.entry.edits.append((node, text))


def _span(start: ast.expr, end: ast.expr) -> ast.AST:
    """What stands from the start of one expression to the start of another one, for an edit."""
    return ast.Pass(lineno=start.lineno, col_offset=start.col_offset, end_lineno=end.lineno, end_col_offset=end.col_offset)


def _between(node: ast.Call) -> ast.AST:
    """What stands between the callee and the next argument of `call_unchanged(f, x)`, for an edit."""
    callee = node.args[0]
    following: list[Any] = [*node.args[1:2], *node.keywords[:1]]
    line, column = callee.end_lineno or 0, callee.end_col_offset or 0
    end = following[0].col_offset if following else column
    return ast.Pass(lineno=line, col_offset=column, end_lineno=line, end_col_offset=end)
