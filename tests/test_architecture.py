"""The shape of the code itself: which module may import which, and what every rule and public name has."""

from __future__ import annotations

import ast
import inspect
import re
from functools import partial
from pathlib import Path

import pytest

import microgradpy
from microgradpy.rules import nested
from microgradpy.rules.registry import rrule
from microgradpy.runtime.tangents import function_tangent
from tests.checks import check_all
from tests.examples import EXAMPLES

ROOT = Path(microgradpy.__file__).parent
PROJECT = ROOT.parent
MODULES = sorted(ROOT.rglob("*.py"))
UNFINISHED = re.compile(r"\b(to-?do|fixme|xxx|hack)\b", re.IGNORECASE)

# What each part of the package may import, besides itself. Folders and top-level modules alike.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "quiet": set(),
    "named": {"originals"},
    "data_functions": set(),
    "dataclasses": {"data_functions"},
    "ir": {"errors", "dataclasses"},
    "tangents": {"errors", "dataclasses", "projecting"},
    "originals": {"errors"},
    "projecting": set(),
    "usage": set(),
    "frontend": {"errors", "originals", "quiet", "dataclasses", "ir", "runtime"},
    "passes": {"errors", "dataclasses", "ir", "tangents"},
    "state": {"errors", "named", "dataclasses", "ir", "tangents", "rules", "runtime", "frontend"},
    "ad": {"errors", "named", "dataclasses", "ir", "tangents", "rules", "runtime", "state", "frontend", "passes", "originals"},
    "promotion": {"errors", "dataclasses", "ir", "rules", "runtime", "tangents", "frontend", "ad", "passes"},
    "codegen": {"errors", "originals", "quiet", "dataclasses", "ir"},
    "rules": {"errors", "originals", "named", "dataclasses", "tangents", "projecting", "codegen", "usage"},
    "runtime": {"errors", "named", "dataclasses", "ir", "tangents", "rules", "projecting"},
}
BELOW = {"errors", "originals", "quiet", "dataclasses", "ir", "tangents", "frontend", "passes", "ad", "codegen"}
BELOW |= {"promotion", "rules", "runtime", "state", "named", "data_functions", "argnums", "usage"}
ROADS = {"forward_compiler", "gradient_compiler", "zeros_compiler"}
COMPILER = BELOW | ROADS | {"boundary", "linking", "compiler", "pipeline", "cache", "patterns", "plans", "entry"}
COMPILER |= {"forward_entry"}
STOPS = {"anomalies", "hooks", "infiltration"}
GRADIENT_FUNCTIONS = {"isolation", "heads", "call_heads", "gradient_functions", "projecting"}
SURFACE = COMPILER | STOPS | GRADIENT_FUNCTIONS | {"api", "forward", "introspect", "forward_introspect"}
SURFACE |= {"batch_compiler", "batch_entry", "batch_hessians"}
SURFACE |= {"jacobians", "hessians", "sparsity", "tracking", "exporting", "explaining"}
MAY_IMPORT |= {"boundary": {"errors", "dataclasses", "ir", "runtime"}, "cache": BELOW, "binding": BELOW}
MAY_IMPORT |= {"pipeline": BELOW | {"cache"}, "linking": BELOW | {"boundary", "cache", "pipeline"}}
MAY_IMPORT |= {"compiler": BELOW | {"cache", "linking", "pipeline"}}
MAY_IMPORT |= dict.fromkeys(ROADS, BELOW | {"cache", "linking", "compiler", "pipeline"})
MAY_IMPORT |= {"tracked_entry": BELOW | {"boundary", "cache", "compiler", "zeros_compiler", "binding"}}
MAY_IMPORT |= {"pattern_texts": BELOW | {"originals"}}
MAY_IMPORT |= {"patterns": BELOW | {"cache", "compiler", "linking", "pattern_texts", "pipeline", "projecting"}}
ENTRY = {"cache", "linking", "compiler", "pipeline", "binding", "tracked_entry", "patterns", "plans", "projecting"}
MAY_IMPORT |= {"entry": BELOW | ROADS | ENTRY}
MAY_IMPORT |= {"forward_entry": BELOW | ROADS | ENTRY | {"entry"}}
MAY_IMPORT |= {"batch_compiler": BELOW | {"cache", "linking", "pipeline", "forward_compiler"}}
MAY_IMPORT |= {"batch_entry": BELOW | ENTRY | {"entry", "forward_entry", "batch_compiler"}}
MAY_IMPORT |= {"batch_hessians": BELOW | ENTRY | {"entry", "batch_compiler", "batch_entry", "towers"}}
MAY_IMPORT |= {"plans": BELOW | {"cache", "binding", "gradient_compiler", "patterns", "projecting"}}
MAY_IMPORT |= {"isolation": BELOW | {"boundary", "cache"}}
MAY_IMPORT |= {"heads": BELOW | {"binding", "cache", "isolation", "linking", "patterns", "plans"}}
MAY_IMPORT |= {"native": BELOW | {"binding", "cache", "compiler", "disk", "heads", "linking"}}
MAY_IMPORT |= {"gradient_functions": COMPILER | {"binding", "heads", "projecting"}}
MAY_IMPORT |= {"call_heads": BELOW | {"binding", "cache", "isolation", "heads", "linking", "gradient_functions"}}
MAY_IMPORT |= dict.fromkeys(STOPS, SURFACE)
VIEWS = ["introspect", "forward_introspect", "explaining"]
GIVEN = BELOW | {"cache", "gradient_functions", "pipeline"}
MAY_IMPORT |= {"given_functions": GIVEN, "towers": COMPILER | {"binding", "given_functions", "gradient_functions"}}
MAY_IMPORT |= {"hessians": SURFACE | {"binding", "towers"}, "nested": SURFACE | {"towers", "stand_ins"}, "stand_ins": SURFACE}
MAY_IMPORT |= {"sparsity": {"errors", "dataclasses"}}
MAY_IMPORT |= dict.fromkeys(["api", "forward", "jacobians", *VIEWS, "tracking", "exporting"], SURFACE)
MAY_IMPORT |= {"pickling": {"api", "gradient_functions", "runtime"}}
MAY_IMPORT |= {"drawing": set(), "explaining": SURFACE}
MAY_IMPORT |= dict.fromkeys(["nn", "testing"], SURFACE | {"testing"})
MAY_IMPORT |= {"argnums": set(), "trees": BELOW}
MAY_IMPORT |= {"cli": SURFACE | {"testing", "drawing", "__version__"}, "__main__": {"cli"}}
MAY_IMPORT |= dict.fromkeys(["tracking", "exporting"], SURFACE | {"binding", "__version__"})
MAY_IMPORT |= {"disk": SURFACE | {"binding"}}
MAY_IMPORT |= {"public": SURFACE, "__init__": SURFACE | {"public", "nn", "testing", "disk", "trees"}}


def part_of(path: Path) -> str:
    """The folder or top-level module that a file belongs to."""
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imports_of(path: Path) -> list[tuple[int, str]]:
    """(line, module) of every import of this package, imports under TYPE_CHECKING included."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = path.relative_to(PROJECT).parts[: -node.level]
                base = ".".join([*parents, base]).rstrip(".")
            found += [(node.lineno, f"{base}.{alias.name}" if base == "microgradpy" else base) for alias in node.names]
    return [(line, name) for line, name in found if name.split(".")[0] == "microgradpy"]


def test_imports_point_one_way() -> None:
    check_all((str(path), partial(check_imports, path)) for path in MODULES)


def check_imports(path: Path) -> None:
    part = part_of(path)
    assert part in MAY_IMPORT, f"{part} has no place in the order of imports"
    for line, name in imports_of(path):
        target = name.split(".")[1]
        assert target == part or target in MAY_IMPORT[part], f"{path}:{line}: {part} imports {name}"


def test_nothing_imports_the_package_inside_a_function() -> None:
    check_all((str(path), partial(check_functions, path)) for path in MODULES)


def check_functions(path: Path) -> None:
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    names = [alias.name for alias in node.names] + [getattr(node, "module", "") or ""]
                    relative = bool(getattr(node, "level", 0))
                    assert not relative and not any(name.startswith("microgradpy") for name in names), (
                        f"{path}:{node.lineno}"
                    )


def test_no_import_cycle() -> None:
    graph: dict[str, set[str]] = {}
    names = {module_name(path): path for path in MODULES}
    for name, path in names.items():
        graph[name] = {nearest(target, names) for _, target in named_modules(path)} - {name}
    seen: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join([*trail[trail.index(name) :], name])
        if name not in seen:
            for target in sorted(graph.get(name, ())):
                visit(target, (*trail, name))
            seen.add(name)

    for name in sorted(graph):
        visit(name, ())


def test_what_is_imported_for_types_is_imported() -> None:
    """But for what is not to be imported when a program starts: the public names, and the classes of data of Python."""
    guarded = [path.relative_to(ROOT).as_posix() for path in MODULES if "TYPE_CHECKING" in path.read_text()]
    assert guarded == ["__init__.py", "dataclasses.py"]


def named_modules(path: Path) -> list[tuple[int, str]]:
    """As `imports_of`, with the submodules that `from package import submodule` reads. What is imported for types only counts:
    a module that cannot be understood without another one is above it."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("microgradpy"):
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names if alias.name.startswith("microgradpy")]
    return found


def module_name(path: Path) -> str:
    parts = path.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def nearest(name: str, names: dict[str, Path]) -> str:
    """The module that an imported dotted name is, or is in."""
    while name not in names:
        name = name.rpartition(".")[0]
    return name


def test_modules_are_documented_and_not_empty_shells() -> None:
    check_all((str(path), partial(check_docstring, path)) for path in MODULES)


def check_docstring(path: Path) -> None:
    tree = ast.parse(path.read_text())
    if path.name != "__init__.py":
        assert tree.body, f"{path} is empty"
    if tree.body:
        assert ast.get_docstring(tree), f"{path} has no docstring"
    # What is unfinished is said to the users, in docs/limits.md, and not only to those who read the code.
    assert not UNFINISHED.search(path.read_text()), f"{path} has a note of unfinished work: say it in docs/limits.md"


def test_only_one_module_imports_astor() -> None:
    importing = [path for path in MODULES if re.search(r"^\s*(import|from) astor", path.read_text(), re.MULTILINE)]
    assert [str(path.relative_to(ROOT)) for path in importing] == ["codegen/printing.py"]


def test_every_rule_has_an_example() -> None:
    shown = {example.f for example in EXAMPLES}
    # An example is called again and again, and draws other numbers each time: tests/rules/test_draws.py has those. One of
    # `infiltrate` would have a function for its value: tests/test_infiltration.py; so have `grad` and the like, and what calls
    # that differentiate are inside of differentiated code: tests/nested.
    elsewhere = {microgradpy.infiltrate, function_tangent, *nested.MAKERS}
    elsewhere |= {value for value in vars(nested).values() if callable(value)}
    missing = [str(f) for f in rrule.registered() if f not in shown | elsewhere and of_the_package(f) and not is_draw(f)]
    assert not missing, f"rules without examples: {missing[:10]}"


def is_draw(f: object) -> bool:
    modules = ("microgradpy.rules.numpy.random", "microgradpy.rules.random_numbers")
    return all(rule.__module__ in modules for rule in rrule.rules_of(f))


def of_the_package(f: object) -> bool:
    """Rules that tests and documents register for their own functions have no examples."""
    is_a_programs = str(getattr(f, "__module__", "")).startswith(("tests", "test_", "random_program", "__document__"))
    return not is_a_programs and any(rule.__module__.startswith("microgradpy.") for rule in rrule.rules_of(f))


def test_every_rule_is_named_after_its_function() -> None:
    for path in sorted((ROOT / "rules").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            decorators = [ast.unparse(each) for each in getattr(node, "decorator_list", ())]
            for kind in ("derivative", "pullback"):
                if any(each.startswith(f"{kind}(") for each in decorators):
                    assert node.name.endswith(f"_{kind}"), f"{path}:{node.lineno}"
            declares = "scipy" not in path.parts and any("rrule.register(" in each for each in decorators)
            if isinstance(node, ast.FunctionDef) and declares:
                assert node.name.endswith("_rrule"), f"{path}:{node.lineno}"
                pullbacks = [inner.name for inner in node.body if isinstance(inner, ast.FunctionDef)]
                assert pullbacks == [node.name.removesuffix("_rrule") + "_pullback"], f"{path}:{node.lineno}"


@pytest.mark.parametrize("name", microgradpy.__all__)
def test_every_public_name_has_a_docstring_and_is_in_the_docs(name: str) -> None:
    value = getattr(microgradpy, name)
    assert inspect.getdoc(value), f"{name} has no docstring"
    docs = "\n".join(path.read_text() for path in sorted((PROJECT / "docs").rglob("*.md")))
    assert re.search(rf"`[^`\n]*\b{re.escape(name)}\b", docs), f"{name} is not in the docs"
