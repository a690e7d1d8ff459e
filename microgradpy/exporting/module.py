"""The text of an exported module, from the function that is exported."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Callable
from typing import Any

from microgradpy.errors import CompilerBug
from microgradpy.exporting import parts
from microgradpy.exporting.collect import Collector
from microgradpy.exporting.definitions import copied_text, generated_text
from microgradpy.exporting.driver import Driver
from microgradpy.exporting.entries import Entry, Reference, definition_order, give_names
from microgradpy.exporting.head import head
from microgradpy.exporting.layout import joined
from microgradpy.exporting.target import Constant, Target

# What the driver and the head of a module say by themselves.
_OWN_NAMES = {"value_and_gradient", "pullback", "back", "Any", "Callable", "lengths", "array", *keyword.kwlist}


def module_text(target: Target, version: str) -> str:
    """The whole module. Raises a refusal if it needs what a stand-alone module cannot have."""
    collector = Collector(target)
    primal, adjoint = collector.half(target.unit, False), collector.half(target.unit, True)
    used = _references(collector, target)
    entries = list(collector.entries.values())
    arguments = {argument.name.partition("[")[0] for argument in target.arguments}
    give_names(entries, _OWN_NAMES | arguments)
    driver = _driver(target, lambda part: used[id(part)].text, primal, adjoint, {entry.name for entry in entries})
    before, definitions = texts_of(entries, target, primal)
    driver_text = joined(driver.lines())
    after = "".join(f"\n\n\n{text.strip()}" for text in [driver_text, *definitions])
    public = ["pullback", "value_and_gradient"] if "def value_and_gradient(" in driver_text else ["pullback"]
    return _checked(head(target, version, entries, public, before + after) + before + after + "\n")


def texts_of(entries: list[Entry], target: Target, primal: Entry) -> tuple[str, list[str]]:
    """The text of what has to come first, and the texts of the other definitions."""
    first = definition_order(entries)
    rest = [entry for entry in entries if entry.sort in ("half", "function", "class") and entry not in first]
    halves = [generated_text(entry, target, is_primal=entry is primal) for entry in rest if entry.sort == "half"]
    helpers = sorted(_callers_first([entry for entry in rest if entry.sort != "half"]), key=_is_part)
    return _definitions(first), [*halves, *map(copied_text, helpers)]


def _references(collector: Collector, target: Target) -> dict[int, Reference]:
    """What the driver needs, by the identities of parts and of constants."""
    constants = [each for each in target.inputs if isinstance(each, Constant)]
    namespace = {constant.name: constant.value for constant in constants}
    found = {id(each): collector.reference(each.value, each.name, namespace) for each in constants}

    def note(part: Any) -> str:
        found[id(part)] = collector.reference(part, part.__name__)
        return str(part.__name__)

    nothing = Entry("", "half")
    _driver(target, lambda part: "" if isinstance(part, Constant) else note(part), nothing, nothing, set()).lines()
    return found


def _driver(target: Target, use: Callable[[Any], str], primal: Entry, adjoint: Entry, taken: set[str]) -> Driver:
    return Driver(target, use, primal.name, adjoint.name, taken)


def _is_part(entry: Entry) -> bool:
    return hasattr(parts, entry.stem)


def _callers_first(helpers: list[Entry]) -> list[Entry]:
    """Helpers, each before those that it calls: the text is read from above."""
    ordered: list[Entry] = []
    waiting = list(helpers)
    while waiting:
        called = {id(needed) for entry in waiting for needed in entry.needs() if needed is not entry}
        free = [entry for entry in waiting if id(entry) not in called] or waiting[:1]
        ordered += free
        waiting = [entry for entry in waiting if entry not in free]
    return ordered


def _definitions(entries: list[Entry]) -> str:
    """The text of what has to be there when the module is imported: variables, and classes with what they need."""
    text, before = "", ""
    for entry in entries:
        gap = "\n" * (3 if entry.sort != "variable" else 1 if before == "variable" else 2 if not before else 3)
        text += gap + copied_text(entry).strip()
        before = entry.sort
    return text


def _checked(text: str) -> str:
    """The text, if it is valid Python 3.11 and imports nothing of the package."""
    try:
        tree = ast.parse(text, feature_version=(3, 11))
        compile(text, "<exported>", "exec", dont_inherit=True)
    except SyntaxError as error:
        raise CompilerBug(f"an exported module is no valid Python: {error}\n{text}") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and "microgradpy" in ast.unparse(node):
            raise CompilerBug(f"an exported module imports the package: {ast.unparse(node)}")
    return text
