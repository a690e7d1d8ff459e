"""What an exported module defines or imports, and what each piece of text in it means by its names."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Reference:
    """What a name stands for: an entry or something in it (`np` and "linalg.norm"), or a builtin, or another text."""

    entry: Entry | None
    path: str = ""

    @property
    def text(self) -> str:
        if self.entry is None:
            return self.path
        return f"{self.entry.name}.{self.path}" if self.path else self.entry.name


@final
@dataclass(eq=False)
class Entry:
    """One definition or import of the module. `meanings` are those of the names that its text has from outside; `own` are
    the names that it binds itself."""

    stem: str
    sort: str
    """"half", "function", "class", "variable" or "import"."""
    name: str = ""
    tree: ast.stmt | None = None
    text: str = ""
    edits: list[tuple[ast.AST, str]] = field(default_factory=list)
    meanings: dict[str, Reference] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)

    def needs(self) -> Iterable[Entry]:
        """The entries that its text names."""
        return [meaning.entry for meaning in self.meanings.values() if meaning.entry is not None]


def give_names(entries: list[Entry], taken: set[str]) -> None:
    """Give each entry a name that no other has and that no text binds to something of its own."""
    used = taken | {name for entry in entries for name in entry.own}
    for entry in entries:
        # A function may have the name of a variable in its own text only: nothing else reads it there.
        entry.name = _first_free(entry.stem, used)
        used.add(entry.name)


def _first_free(stem: str, used: set[str]) -> str:
    name, number = stem, 1
    while name in used:
        name, number = f"{stem}_{number}", number + 1
    return name


def definition_order(entries: list[Entry]) -> list[Entry]:
    """Variables, classes that need nothing else, and what these are made by, each after what it needs when the module is
    imported. A class whose methods call functions stands among these."""
    ordered: list[Entry] = []

    def place(entry: Entry) -> None:
        if entry in ordered or entry.sort in ("import", "half"):
            return
        if entry.sort != "class" or entry not in being_placed:
            being_placed.append(entry)
            for needed in entry.needs():
                if needed not in being_placed:
                    place(needed)
        if entry not in ordered:
            ordered.append(entry)

    being_placed: list[Entry] = []
    for entry in entries:
        if entry.sort == "variable" or (entry.sort == "class" and not any(each is not entry for each in entry.needs())):
            place(entry)
    return ordered
