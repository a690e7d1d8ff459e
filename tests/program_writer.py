"""What all writers of random programs do: lines, blocks, fresh names, and choices from one generator of random numbers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

INDENT = "    "


class ProgramWriter:
    """Writes the lines of one program."""

    def __init__(self, number: int, depth: int = 0) -> None:
        self.random = random.Random(number)
        self.lines: list[str] = []
        self.depth = depth
        self.count = 0

    def write(self, text: str) -> None:
        self.lines.append(INDENT * self.depth + text)

    @contextmanager
    def indented(self, head: str) -> Iterator[None]:
        self.write(head)
        self.depth += 1
        yield
        self.depth -= 1

    def fresh(self, letter: str = "v") -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability
