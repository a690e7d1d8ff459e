"""What a family of random programs is, and one program of it."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.program_writer import ProgramWriter

Point = tuple[Any, ...]
Judge = Callable[[Callable[..., Any], Point], str | None]
HEAD = "import math\n\nimport numpy as np\n\n\n"


@dataclass(frozen=True)
class Family:
    """`write` makes the lines of a module with a function `program`, differentiated at as many `points` as asked for.

    `program` returns a number, runs at every point, stays bounded, and is smooth but for few kinks. `judge` is used
    instead of the common one: it returns what is wrong with the function at a point, in a sentence that starts with the kind of
    mistake, and lets refusals pass. At most the share `refused` of the programs may be refused in any way of computing."""

    name: str
    write: Callable[[ProgramWriter], None]
    refused: float
    point: Callable[[random.Random], Point]
    judge: Judge | None = None
    head: str = HEAD
    points: int = 2

    def program(self, number: int) -> FamilyProgram:
        """The program of that number."""
        writer = ProgramWriter(number)
        self.write(writer)
        source = self.head + "\n".join(writer.lines) + "\n"
        return FamilyProgram(self, number, source, tuple(self.point(writer.random) for _ in range(self.points)))


@dataclass(frozen=True)
class FamilyProgram:
    """The text of a module whose function `program` is differentiated at each of `points`."""

    family: Family
    number: int
    source: str
    points: tuple[Point, ...]

    def load(self, source: str | None = None) -> Callable[..., Any]:
        """The function, its text findable by `inspect`."""
        text = self.source if source is None else source
        name = f"<{self.family.name} {self.number}{'' if source is None else ' changed'}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        namespace: dict[str, Any] = {"__name__": f"random_{self.family.name}_{self.number}"}
        exec(compile(text, name, "exec", dont_inherit=True), namespace)
        return namespace["program"]


def numbers(draw: random.Random, count: int) -> list[float]:
    """No two are equal, none is near zero: neither kinks nor ties."""
    return [draw.choice([-1.0, 1.0]) * draw.uniform(0.3, 1.2) for _ in range(count)]


def usual_point(draw: random.Random) -> Point:
    """Numbers `x`, `y`, a vector `u` of four, 2 by 3 `m`, a list `items` of three numbers, a dict `d` of `p` and `q`."""
    d = dict(zip("pq", numbers(draw, 2), strict=True))
    return (*numbers(draw, 2), np.array(numbers(draw, 4)), np.array(numbers(draw, 6)).reshape(2, 3), numbers(draw, 3), d)


USUAL_PARAMETERS = "x, y, u, m, items, d"
