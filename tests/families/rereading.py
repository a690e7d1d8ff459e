"""Iterators that are read in two places: by a loop and `next` in its body, in part, by several names, by generators."""

from __future__ import annotations

from tests.families.family import HEAD, USUAL_PARAMETERS, Family, usual_point
from tests.program_writer import ProgramWriter

_SOURCES = (
    "iter(u)", "iter(items)", "iter([x, y, *items])", "map(math.sin, u)", "map(lambda t: t * x, items + items)", "iter(m[0])",
    "filter(lambda t: t > -999.0, u)", "itertools.chain(u, items)", "reversed(u)", "reversed(items)", "iter(d.values())",
    "(t * y for t in u)", "numbers(u, x)", "numbers(items, y)", "iter(m.flat)", "itertools.accumulate(u)", "iter(tuple(items))",
    "itertools.chain.from_iterable(m)", "itertools.islice(m.flat, 1, 6)", "itertools.starmap(math.hypot, zip(u, items))",
)  # fmt: skip
"""Iterators over numbers."""
_WRITING = ("noting(u, out)", "noting(items, out)", "map(noted(out), u)", "filter(seen(out), items + [x])")
"""The same in a run that writes, which write when they are read."""
_PAIRS = (
    "enumerate({0})", "zip(u, items)", "zip({0}, {0})", "iter(d.items())", "itertools.pairwise(u)", "zip({0}, m[1])",
    "itertools.zip_longest({0}, items, fillvalue=y)", "enumerate(zip(u, items))",
)  # fmt: skip
_WHOLE = (
    "sum({0})", "sum(list({0}))", "max({0}, default=y)", "math.fsum({0})", "sum([t * t for t in {0}])",
    "sum(t * t for t in {0})",
    "sum(a * b for a, b in zip({0}, {0}))", "sum(tuple({0}))", "sum(sorted({0})[:2])", "last(deque({0}, maxlen=2))",
    "sum([a * b for a, b in zip({0}, u)])", "functools.reduce(lambda s, t: 0.5 * s + t * t, {0}, x)", "sum([*{0}])",
    "total({0})", "sum(dict(zip('abcdef', {0})).values())", "sum([t * next({0}, y) for t in {0}])", "sum(paired({0}))",
    "sum(map(lambda t: t * next({0}, 0.5), {0}))", "sum(list(itertools.chain({0}, [next({0}, y)])))",
)  # fmt: skip
"""What reads all that is left."""
_DERIVED = ("iter({0})", "itertools.chain([x], {0})", "map(math.sin, {0})", "itertools.islice({0}, 3)")
_WRITES = ("out.append(s * y)", "out[0] = out[0] * s", "w[1] = w[1] * s + w[0]", "w[0] += s")
_PART = (
    "next({0}, y)", "next({0}, y) * next({0}, 0.5)", "sum(itertools.islice({0}, 2))", "sum(list(itertools.islice({0}, 1)))",
    "sum([t for t, _ in zip({0}, 'ab')])", "sum([t for _, t in zip('ab', {0})])", "two({0})", "first({0}, y)",
    "float(any(t > 0.2 for t in {0}))", "sum(itertools.takewhile(lambda t: t > 0.0, {0}))",
)  # fmt: skip
_HELPERS = '''

def numbers(row, factor):
    for t in row:
        yield t * factor


def noting(row, out):
    for t in row:
        out[0] = 0.5 * out[0] + t
        yield t * out[0]
    out[0] = out[0] * 0.7


def noted(out):
    def note(t):
        out.append(t * out[-1] * 0.5)
        return t + out[-1]

    return note


def seen(out):
    def see(t):
        out[0] = 0.5 * out[0] * t + 0.1
        return t > -999.0

    return see


def paired(stream):
    for t in stream:
        yield t * next(stream, 0.7)


def two(stream):
    return next(stream, 0.3) * next(stream, 0.4)


def first(stream, default):
    for t in stream:
        return t
    return default


def last(row):
    return row[-1] if row else 0.2


def total(stream):
    s = 0.0
    for t in stream:
        s = 0.5 * s + t * t
        if t > 0.9:
            break
    for t in stream:
        s = 0.4 * s + t
    return s


'''


class _Writer:
    def __init__(self, writer: ProgramWriter, *, writes: bool) -> None:
        self.writer = writer
        self.draw = writer.random
        self.writes = writes
        self.names: list[str] = []

    def stream(self) -> str:
        return self.draw.choice(_SOURCES + _WRITING * 2 if self.writes else _SOURCES)

    def make(self) -> str:
        name = self.writer.fresh("it")
        match self.draw.randrange(8):
            case 0 if self.names:
                self.writer.write(f"{name} = {self.draw.choice(self.names)}")
            case 1 if self.names:
                self.writer.write(f"{name} = {self.draw.choice(_DERIVED).format(self.draw.choice(self.names))}")
            case _:
                self.writer.write(f"{name} = {self.stream()}")
        self.names.append(name)
        return name

    def any_stream(self) -> str:
        return self.draw.choice(self.names)

    def step(self, text: str) -> None:
        self.writer.write(f"s = 0.5 * s + math.sin({text})")
        if self.writes and self.draw.random() < 0.4:
            self.writer.write(self.draw.choice(_WRITES))

    def statement(self, depth: int) -> None:
        draw = self.draw
        match draw.randrange(9):
            case 0 | 1:
                self.step(draw.choice(_PART).format(self.any_stream()))
            case 2:
                self.step(draw.choice(_WHOLE).format(self.any_stream()))
            case 3 if depth:
                self.make()
            case 4:
                pairs = draw.choice(_PAIRS).format(self.any_stream())
                with self.writer.indented(f"for p, q in {pairs}:"):
                    part = draw.choice(_PART).format(self.any_stream())
                    self.step(f"number(p) * number(q) * {part}")
            case 5:
                name = self.writer.fresh("ps")
                self.writer.write(f"{name} = {draw.choice(_PAIRS).format(self.any_stream())}")
                with self.writer.indented(f"for p, q in {name}:"):
                    self.writer.write(f"v = next({name}, (x, y))")
                    self.step("number(p) * number(q) + number(v[0]) * number(v[1])")
            case 6:
                with self.writer.indented("try:"):
                    self.writer.write(f"v = next({self.any_stream()}) * next({self.any_stream()})")
                with self.writer.indented("except StopIteration:"):
                    self.writer.write("v = x * y")
                self.step("v")
            case _:
                a = self.writer.fresh("a")
                with self.writer.indented(f"for {a} in {self.any_stream()}:"):
                    self.step(f"{a} * {draw.choice(_PART).format(self.any_stream())}")
                    if depth and draw.random() < 0.4:
                        self.statement(0)
                    if draw.random() < 0.4:
                        with self.writer.indented(f"if {a} > {draw.uniform(-0.5, 0.8):.2f}:"):
                            self.writer.write("break")


def write(writer: ProgramWriter) -> None:
    text = _Writer(writer, writes=writer.chance(0.4))
    with writer.indented(f"def program({USUAL_PARAMETERS}):"):
        writer.write("s = x * u[0]")
        if text.writes:
            writer.write("out, w = [y, x], np.array([x, y])")
        for _ in range(writer.random.randint(1, 2)):
            text.make()
        for _ in range(writer.random.randint(2, 4)):
            text.statement(1)
        rest = " + sum(out) * 0.3 + w[0] * w[1]" if text.writes else ""
        writer.write(f"return s + x * y + u[1] * items[1] + m[0, 1] * d['p']{rest}")


_NUMBER = '''def number(value):
    if isinstance(value, str):
        return 0.5
    return value[0] * value[1] if isinstance(value, tuple) else value
'''
_IMPORTS = "import functools\nimport itertools\nfrom collections import deque\n"

FAMILY = Family("rereading", write, refused=0.01, point=usual_point, head=_IMPORTS + HEAD + _NUMBER + _HELPERS)
