"""Random programs that write into what they hold, in ways that depend on their argument: for updates of traces."""

from __future__ import annotations

import linecache
import random
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_START = """\
import numpy as np
from collections import deque

class Box:
    def __init__(self, held):
        self.held, self.count = held, 0
    def step(self, by):
        self.count += by
        return self.count
    def __repr__(self):
        return f"Box({self.held!r}, {self.count})"

def push(target, item):
    target.append(item)
    return len(target)

def total(values, by=1):
    return sum(values) * by

def first(array):
    return array[:1]

"""
# New variables by their kind (l: list, n: list of lists, d: dict, s: set, a: array of numbers, b: object, q: deque, x: number).
# In braces is the kind of what is read; {new} is what is made.
_MAKERS = {
    "l": (
        "[1, 2]", "[{x}, 3]", "{l}", "{l}[:]", "{l}[1:] + [4]", "list({s})", "{n}[0]", "{n}[-1]", "{b}.held", "sorted({l})",
        "list({d}.values())", "[k * 2 for k in {l}]", "{l} + {l}", "list({q})", "{t}[0]",
    ),
    "n": ("[{l}, [5]]", "[{l}, {l}]", "list({n})", "[k for k in {n}]", "{n}[::-1]"),
    "t": ("({l}, 2)", "({l}, {x})", "{t}", "({b}.held, {l})"),
    "d": ("{{'a': {x}}}", "dict({d})", "{d}", "{{'a': 1, 'b': {x}}}", "{{**{d}, 'c': 3}}"),
    "s": ("{{1, {x}}}", "set({l})", "{s}", "{s} | {{9}}"),
    "a": (
        "np.array([1.0, 2.0, 3.0, 4.0])", "np.arange(4.0)", "{a}[::-1]", "{a}.T", "{a}.reshape(2, -1).T.reshape(-1)", "{a}[:]",
        "{a} * 2", "{a}.copy()", "{a}.reshape(2, -1).reshape(-1)", "np.asfortranarray({a})", "np.split({a}, 2)[0].repeat(2)",
        "{a}.ravel()", "np.add({a}, {x})", "np.roll({a}, 1)",
    ),
    "v": ("{a}[:2]", "{a}[1:3]", "first({a})", "{v}[:1]", "np.split({a}, 2)[1]", "{a}.reshape(2, -1)[0]", "{v}[::-1]"),
    "b": ("Box({l})", "{b}", "Box({n}[0])"),
    "q": ("deque({l})", "{q}", "deque([1], 4)"),
    "x": (
        "len({l})", "sum({l})", "max({l}, default=0)", "{l}[0] if {l} else 0", "len({s})", "{d}.get('a', 0)", "{b}.count",
        "total({l})", "total({l}, 2)", "sum(map(len, {n}))", "int({a}.sum())", "int({v}[0])", "{q}[-1] if {q} else 0",
        "int({a}[1])", "len({t}[0])", "c", "c * 2", "{x} + {x}", "7", "{f}()", "len(str({d}))", "min({s}, default=1)",
        "{b}.held[0] if {b}.held else 0", "int(np.dot({a}, {a}))", "abs({x})", "{l}.index({l}[-1]) if {l} else 0",
        "sum(sorted({l}, key=lambda k: -k)[:1])", "int({v}.max())", "len({b}.held)", "{l}.count({x})",
    ),
}  # fmt: skip
_WRITES = (
    "{l}.append({x})", "{l}[0:1] = [{x}]", "{l}.extend({l}[:1])", "{l}.reverse()", "{l}.sort()", "{l} += [{x}]",
    "push({l}, {x})", "{n}[0].append({x})", "{n}.append({l})", "{n}.reverse()",
    "{n}[-1] = {l}", "{t}[0].append({x})", "{l}.pop() if {l} else 0",
    "{d}['a'] = {x}", "{d}['b'] = {d}.get('b', 0) + 1", "{d}.update(a={x}, e=2)", "{d}.pop('a', None)", "{s}.add({x})",
    "{s}.discard({x})", "{s} |= {{{x}}}", "{a}[0] = {x}", "{a} += {x}", "{a}[1:] = {x}", "{a}[:2] *= {x}", "{v} += {x}",
    "{v}[0] = {x}", "{v}[:] = {x}", "np.add({a}, {x}, out={a})", "{a}.flat[0] = {x}", "{a}.fill({x})", "{a}.sort()",
    "{b}.step({x})", "{b}.held = {l}", "{b}.count = {x}", "{b}.held.append({x})", "{q}.append({x})", "{q}.appendleft({x})",
    "{q}.rotate(1)", "{g}({x})", "{g}({x})",
)  # fmt: skip
_WRITES_OF_CLOSURES = (
    *("{l}.append(k)", "{d}['a'] = k", "{a}[0] = k", "{v}[-1] += k"),
    *("{b}.step(k)", "{s}.add(k)", "{q}.append(k)"),
)
_HEADERS = ("if c > 1:", "if {x} > 3:", "for k in range(c):", "if not c:", "for k in range({x} % 3):")
_FIRST = (
    *(("l", "[7, 8]"), ("l", "[1]"), ("n", "[{l}, [3]]"), ("t", "({l}, 2)"), ("d", "{{'a': 1}}")),
    *(("s", "{{1, 2}}"), ("a", "np.arange(4.0)"), ("v", "{a}[1:3]"), ("b", "Box({l})"), ("q", "deque([1])")),
)


@dataclass(frozen=True)
class Updated:
    """A program of one argument, a small integer."""

    number: int
    source: str

    def load(self) -> Callable[[int], Any]:
        name = f"<update {self.number}>"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(keepends=True), name)
        module = types.ModuleType(f"update_{self.number}")
        exec(compile(self.source, name, "exec"), vars(module))
        function: Callable[[int], Any] = vars(module)["f"]
        return function


class _Writer:
    def __init__(self, number: int) -> None:
        self.random = random.Random(number)
        self.lines: list[str] = []
        self.names: dict[str, list[str]] = {kind: [] for kind in "lntdsavbqxfg"}
        self.count = 0

    def filled(self, pattern: str) -> str:
        names = {kind: self.random.choice(names) for kind, names in self.names.items() if names}
        return pattern.format_map(names)

    def line(self, text: str, depth: int) -> None:
        self.lines.append("    " * depth + text)

    def make(self, kind: str, pattern: str, depth: int, *, known: bool = True) -> None:
        self.count += 1
        text, name = self.filled(pattern), f"{kind}{self.count}"
        self.line(f"{name} = {text}", depth)
        if known:
            self.names[kind].append(name)

    def closures(self, depth: int) -> None:
        self.count += 1
        reads, writes = f"f{self.count}", f"g{self.count}"
        self.line(f"def {reads}():", depth)
        self.line(f"return {self.filled('len({l}) + {x} + sum({l}) + len({d}) + {b}.count')}", depth + 1)
        self.line(f"def {writes}(k):", depth)
        for _ in range(2):
            self.line(self.filled(self.random.choice(_WRITES_OF_CLOSURES)), depth + 1)
        self.names["f"].append(reads)
        self.names["g"].append(writes)

    def statement(self, depth: int) -> None:
        chosen = self.random.random()
        if chosen < 0.4 or depth > 3:
            kind = self.random.choice("lntdsavbqxxxx")
            self.make(kind, self.random.choice(_MAKERS[kind]), depth, known=depth == 1)
        elif chosen < 0.6:
            self.line(self.filled(self.random.choice(_WRITES)), depth)
        else:
            self.line(self.filled(self.random.choice(_HEADERS)), depth)
            for _ in range(self.random.randint(1, 2)):
                self.line(self.filled(self.random.choice(_WRITES)), depth + 1)
            if self.random.random() < 0.4:
                self.statement(depth + 1)

    def program(self) -> str:
        self.line("def f(c):", 0)
        self.make("x", "c", 1)
        for kind, pattern in _FIRST:
            self.make(kind, pattern, 1)
        self.closures(1)
        for _ in range(self.random.randint(4, 12)):
            self.statement(1)
        shown = [name for kind, names in self.names.items() if kind not in "fg" for name in names]
        self.line(f"return ({', '.join(shown)}, {self.names['f'][0]}())", 1)
        return _START + "\n".join(self.lines) + "\n"


def random_update(number: int) -> Updated:
    """The program of that number."""
    return Updated(number, _Writer(number).program())
