"""Random programs that write, as source text: into arrays and views of them, lists, dicts, objects and cells.

Everything that can be read or written is a *place*: a name, `l[0]`, `d["p"]`, `o.v`, `rows[-1]`. A scope knows the names
and what they hold; the places follow. Arrays keep their shape, lists keep two items at least, dicts the keys that they
are made with, so every program runs; loops are short and values pass through `sin`, `tanh` and small factors, so they
stay bounded. Which things alias which is up to the program: names, items, fields and arguments are bound to arrays,
lists and objects that have other names too, in branches and loops as elsewhere.

What a program uses is drawn from `FEATURES`, or from those of them that are asked for; writes into arrays are always there.
The same number and features give the same text everywhere.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.mutating_expressions import ARRAY, BOX_TYPE, COUNT, DICT, FEATURES, FLOAT, LIST, SIZE, Helper, Scope, Type
from tests.mutating_statements import Statements

HEAD = "import math\n\nimport numpy as np\n\n\n"
BOX = """class Box:
    def __init__(self, a, v, items):
        self.a = a
        self.v = v
        self.items = items

    def bump(self, x):
        self.a = math.tanh(self.a + x)
        self.v[1] += 0.1 * self.a
        return self.a

    def keep(self, v):
        self.v = v

    def give(self):
        return self.v

    def part(self):
        return self.v[1:3]

    def push(self, x):
        self.items.append(x)
        return self.items


"""
HALVE = """def halve(u, x):
    if len(u) > 1:
        left, right = u[: len(u) // 2], u[len(u) // 2 :]
        halve(left, x)
        halve(right, 0.5 * x)
        left[0] += 0.2 * math.sin(right[-1] + x)


"""


@dataclass(frozen=True)
class MutatingProgram:
    """The text of a module whose function `program` is differentiated at each of `points`."""

    number: int
    features: tuple[str, ...]
    source: str
    points: tuple[tuple[Any, ...], ...]

    def load(self, source: str | None = None) -> Callable[..., Any]:
        """The function, its text findable by `inspect`."""
        text = self.source if source is None else source
        name = f"<random writes {self.number}{'' if source is None else ' changed'}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        namespace: dict[str, Any] = {"__name__": f"random_writes_{self.number}"}
        exec(compile(text, name, "exec"), namespace)
        return namespace["program"]


class Writer(Statements):
    """Writes one program and its functions."""

    def parameters(self) -> dict[str, Type]:
        kinds = [FLOAT, ARRAY]
        kinds += [ARRAY] if self.chance(0.4) else []
        kinds += [
            kind
            for kind, name in ((LIST, "lists"), (DICT, "dicts"), (BOX_TYPE, "objects"))
            if self.has(name) and self.chance(0.6)
        ]
        return {self.fresh("p"): kind for kind in kinds}

    def helper(self) -> None:
        name, parameters = self.fresh("helper"), self.parameters()
        scope = Scope(dict(parameters))
        with self.indented(f"def {name}({', '.join(parameters)}):"):
            raises = self.has("try") and self.chance(0.3)
            if raises:
                with self.indented(f"if {self.condition(scope)}:"):
                    self.write("raise ValueError")
            self.block(scope, self.random.randint(1, 3), 1)
            result = self.random.choice([FLOAT, ARRAY, ARRAY, None])
            if result is not None:
                place = self.pick(scope, ARRAY)
                text = self.expression(scope) if result == FLOAT else self.random.choice([place, f"{place}[::-1]"])
                self.write(f"return {text}")
        self.write("\n")
        self.helpers.append(Helper(name, tuple(parameters.values()), result, raises))

    def generator(self) -> None:
        name, parameters = self.fresh("stream"), self.parameters()
        scope = Scope(dict(parameters))
        result = self.random.choice([FLOAT, ARRAY])
        with self.indented(f"def {name}({', '.join(parameters)}):"):
            i = self.fresh("i")
            with self.indented(f"for {i} in range({self.random.randint(1, 3)}):"):
                inner = scope.inner(**{i: COUNT})
                self.block(inner, 1, 1)
                self.write(f"yield {self.expression(inner, 1) if result == FLOAT else self.pick(inner, ARRAY)}")
                self.block(inner, 1, 0)
        self.write("\n")
        self.generators.append(Helper(name, tuple(parameters.values()), result))

    def program(self) -> str:
        parameters = {"x": FLOAT, "y": FLOAT, "u": ARRAY, "m": Type("array", (2, 3)), "items": LIST, "d": DICT}
        scope = Scope(dict(parameters))
        with self.indented(f"def program({', '.join(parameters)}):"):
            if self.has("objects"):
                self.write(f"o = Box({self.expression(scope, 1)}, {self.value(scope, ARRAY)}, {self.value(scope, LIST)})")
                scope.names["o"] = BOX_TYPE
            self.block(scope, self.random.randint(2, 7), 2)
            self.total(scope)
        return HEAD + (BOX if self.has("objects") else "") + (HALVE if self.has("calls") else "") + "\n".join(self.lines) + "\n"

    def total(self, scope: Scope) -> None:
        """Return a number that everything has a share in."""
        terms = []
        for i, (name, held) in enumerate(scope.names.items()):
            weight = f"{0.5 + 0.17 * i:.2f}"
            match held.kind:
                case "float":
                    terms.append(f"{weight} * {name}")
                case "array":
                    terms.append(f"{weight} * np.sum({name} * {name}[::-1] + {name})")
                case "list":
                    terms.append(f"{weight} * sum(t * t for t in {name})")
                case "dict":
                    terms.append(f"{weight} * sum({name}.values())")
                case "rows":
                    terms.append(f"{weight} * np.sum({name}[0] * {name}[-1])")
                case "box":
                    terms.append(f"{weight} * ({name}.a + np.sum({name}.v ** 2) + {name}.items[0])")
        self.write("total = 0.0")
        for term in terms:
            self.write(f"total += {term}")
        self.write("return total")


def mutating_program(number: int, features: tuple[str, ...] = FEATURES) -> MutatingProgram:
    """The program of that number."""
    writer = Writer(number, features)
    if writer.has("calls"):
        for _ in range(writer.random.randint(1, 2)):
            writer.helper()
    if writer.has("generators"):
        writer.generator()
    source = writer.program()
    return MutatingProgram(number, writer.features, source, tuple(point(writer.random) for _ in range(2)))


def point(draw: random.Random) -> tuple[Any, ...]:
    """Arguments of a program."""

    def numbers(count: int) -> list[float]:
        return [draw.uniform(-1.2, 1.2) for _ in range(count)]

    d = dict(zip("pq", numbers(2), strict=True))
    return (*numbers(2), np.array(numbers(SIZE)), np.array(numbers(6)).reshape(2, 3), numbers(3), d)
