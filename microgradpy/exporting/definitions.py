"""The text of each definition of an exported module."""

from __future__ import annotations

import ast
import re
from typing import Any

from microgradpy.exporting.entries import Entry
from microgradpy.exporting.kinds import hint
from microgradpy.exporting.layout import joined, laid_out
from microgradpy.exporting.scopes import Renamer, edited
from microgradpy.exporting.target import Target

WIDTH = 120


def copied_text(entry: Entry) -> str:
    """The text of a copied definition, with the names that it has here."""
    assert entry.tree is not None
    texts = {name: meaning.text for name, meaning in entry.meanings.items()}
    own = getattr(entry.tree, "name", None)
    if entry.text:
        names = [node for node in ast.walk(ast.parse(entry.text)) if isinstance(node, ast.Name)]
        text = edited(entry.text, [(node, texts[node.id]) for node in names if texts.get(node.id, node.id) != node.id])
        return text.replace(f"def {own}(", f"def {entry.name}(", 1)
    if own is not None:
        texts[own] = entry.name
    copied: Any = Renamer(texts).visit(entry.tree)
    if own is not None:
        copied.name = entry.name
    else:
        copied.targets = [ast.Name(entry.name, ast.Store())]
    return laid_out(ast.fix_missing_locations(copied))


def generated_text(entry: Entry, target: Target, *, is_primal: bool) -> str:
    """The text of a generated function, with comments, annotations and a docstring; `is_primal`: it has the arguments of the
    exported function."""
    assert isinstance(entry.tree, ast.FunctionDef)
    lines = edited(entry.text, _edits(entry, entry.tree)).splitlines()
    end = next(number for number, line in enumerate(lines) if line.endswith("):"))
    specs = {argument.name: hint(argument.spec) for argument in target.arguments} if is_primal else {}
    header = _signature(entry.name, entry.tree.args, specs, "tuple[Any, Any]" if is_primal else "Any")
    return "\n".join([header, f'    """{_about(entry)}"""', *map(_plain_comment, lines[end + 1 :])])


def _edits(entry: Entry, tree: ast.FunctionDef) -> list[tuple[ast.AST, str]]:
    """The edits of a generated text that give its names the meanings that they have in the module."""
    texts = {name: meaning.text for name, meaning in entry.meanings.items()}
    texts.setdefault(tree.name, entry.name)
    edits = [(node, texts.get(text, text)) for node, text in entry.edits]
    inside = {id(node) for edit, _ in entry.edits for node in ast.walk(edit)}
    covered = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_cut(node.func, entry.edits)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and id(node) not in inside | covered and node.id not in entry.own:
            if texts.get(node.id, node.id) != node.id:
                edits.append((node, texts[node.id]))
    return edits


def _is_cut(node: ast.expr, edits: list[tuple[ast.AST, str]]) -> bool:
    """Whether an edit takes an expression away."""
    start = node.lineno, node.col_offset
    return any((edit.lineno, edit.col_offset) == start and not text for edit, text in edits)  # type: ignore[attr-defined]


def _signature(name: str, arguments: ast.arguments, hints: dict[str, str], returned: str) -> str:
    def parameter(argument: ast.arg) -> str:
        return f"{argument.arg}: {hints.get(argument.arg, 'Any')}"

    parameters = [parameter(argument) for argument in arguments.args]
    if arguments.vararg:
        parameters.append(f"*{parameter(arguments.vararg)}")
    elif arguments.kwonlyargs:
        parameters.append("*")
    parameters += map(parameter, arguments.kwonlyargs)
    if arguments.kwarg:
        parameters.append(f"**{parameter(arguments.kwarg)}")
    return joined([f"def {name}({', '.join(parameters)}) -> {returned}:"])


def _about(entry: Entry) -> str:
    name = entry.stem.removesuffix("_adjoint").removesuffix("_primal")
    if entry.stem.endswith("_primal"):
        return f"The value of `{name}`, and what its adjoint needs."
    return f"The cotangents of the arguments of `{name}`, from what was saved and the cotangent of the value."


def _plain_comment(line: str) -> str:
    """A comment with the user's line, without what tools would read in it."""
    bare = line.lstrip()
    if not bare.startswith("# "):
        return line
    shortened = re.split(r"\s*#\s*(?:noqa|type:|ruff:|fmt:|pragma|pylint|isort)", line[len(line) - len(bare) + 2 :])[0]
    text = line[: len(line) - len(bare)] + "# " + shortened
    return text if len(text) <= WIDTH else text[: WIDTH - 4].rstrip() + " ..."
