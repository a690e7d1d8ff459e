"""How an exported module begins: what it was made from and is valid for, what it imports and offers."""

from __future__ import annotations

import ast
import hashlib
import re
import textwrap
from pathlib import Path
from typing import Any

from microgradpy.exporting.driver import listed
from microgradpy.exporting.entries import Entry
from microgradpy.exporting.kinds import shown
from microgradpy.exporting.target import Target
from microgradpy.frontend.source import find_source

MARK = "Made by microgradpy"
WIDTH = 100


def head(target: Target, version: str, entries: list[Entry], public: list[str], body: str) -> str:
    """The text down to `__all__`, the names in `public`; `body` is what follows."""
    names = ", ".join(f'"{name}"' for name in public)
    imports = "\n".join(_import_lines(entries, body))
    top = f"{_docstring(target, version, len(public) > 1)}\n\n# ruff: noqa\n\nfrom __future__ import annotations\n\n"
    return f"{top}{imports}\n__all__ = [{names}]"


def _docstring(target: Target, version: str, has_gradient: bool) -> str:
    function = target.function
    name, file = function.__name__, Path(function.__code__.co_filename).name
    digest = hashlib.sha256(source_text(function).encode()).hexdigest()[:16]
    what = "value and gradient" if has_gradient else "pullback"
    place = f"{file}, line {function.__code__.co_firstlineno}"
    made = f"{MARK} {version} from `{name}` in {place} (sha256 of its text: {digest}...). It needs NumPy only."
    paragraphs = ["\n".join(textwrap.wrap(made, WIDTH))]
    if target.arguments:
        kinds = [piece for argument in target.arguments for piece in _wrapped(f"{argument.name}: {shown(argument.spec)}")]
        paragraphs += ["It is for arguments of these kinds, and refuses others:", "\n".join(kinds)]
        paragraphs += _about_lengths(target)
    if target.argnums is not None:
        wanted = listed(argument.name for argument in target.arguments if argument.is_wanted)
        paragraphs.append(f"It differentiates with respect to {wanted}.")
    text = "\n\n".join([f"The {what} of `{name}`, as plain Python.", *paragraphs])
    return 'r' * ("\\" in text) + f'"""{text}\n"""'


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, WIDTH, subsequent_indent="        ", initial_indent="    ")


def _about_lengths(target: Target) -> list[str]:
    """What has to be known of the lengths of axes."""
    specs = " ".join(shown(argument.spec) for argument in target.arguments)
    axes = ", ".join(re.findall(r"array\[([^\]]*)\]", specs)).split(", ")
    names = sorted({name for name in axes if name.isidentifier()})
    others = listed(map(str, target.known_lengths))
    if not names:
        return []
    if len(names) == 1:
        return [f"The length {names[0]} is not {others}."]
    return [f"The lengths {listed(names)} differ from one another and from {others}."]


def _import_lines(entries: list[Entry], body: str) -> list[str]:
    imports = {entry.name: entry.text for entry in entries if entry.sort == "import"}
    if _reads_numpy(body):
        imports.setdefault("np", "numpy")
    lines = [_import_line(module, name) for name, module in imports.items() if module.partition(".")[0] != "numpy"]
    if re.search(r"\bCallable\b", body):
        lines.append("from collections.abc import Callable")
    if re.search(r"\bAny\b", body):
        lines.append("from typing import Any")
    lines.sort(key=lambda line: (line.startswith("from"), line.split()[1]))
    third = sorted(_import_line(module, name) for name, module in imports.items() if module.partition(".")[0] == "numpy")
    return [*lines, *([""] if lines else []), *third, *([""] if third else [])]


def _reads_numpy(body: str) -> bool:
    """Whether something of `np` is read, in hints as well."""
    nodes = ast.walk(ast.parse(body))
    return any(isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np" for node in nodes)


def _import_line(module: str, name: str) -> str:
    package, _, last = module.rpartition(".")
    start = f"from {package} import {last}" if package else f"import {module}"
    return start if last == name else f"{start} as {name}"


def source_text(function: Any) -> str:
    """The lines of a function in its file."""
    found = find_source(function)
    tree = found.tree
    first = min([tree.lineno, *(node.lineno for node in getattr(tree, "decorator_list", ()))])
    return "".join(found.lines[first - 1 : tree.end_lineno])
