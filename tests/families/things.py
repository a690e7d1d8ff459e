"""Lists of things: functions, namedtuples, rows and objects of several classes, put in the place of each other, kept by other
names, handed over from iteration to iteration; and generators that are left where the program says."""

from __future__ import annotations

import random

from tests.families.family import HEAD, Family, Point
from tests.program_writer import ProgramWriter

_HEAD = (
    "import itertools\nfrom collections import namedtuple\n"
    + HEAD
    + """Pair = namedtuple("Pair", "a b")


class Round:
    def __init__(self, r):
        self.r = r

    def size(self):
        return self.r * self.r

    def grow(self, k):
        self.r += k


class Box:
    def __init__(self, w, h):
        self.w, self.h = w, h

    def size(self):
        return self.w * self.h


def twice(v):
    return 2.0 * v


def scaled(k):
    return lambda v: k * v


def swap(xs, i, j):
    xs[i], xs[j] = xs[j], xs[i]


"""
)
_NUMBERS = ("x", "y", "s", "x * y", "0.5", "s + x")
_FUNCTIONS = ("math.sin", "twice", "scaled({0})", "lambda v: v * {0}", "lambda v, k={0}: v + k", "np.tanh", "add", "made({0})")
_WHERE = ("0", "1", "-1", "i % 3", "(i + 1) % 3")


def _number(draw: random.Random) -> str:
    return draw.choice(_NUMBERS)


def _function(draw: random.Random) -> str:
    return draw.choice(_FUNCTIONS).format(_number(draw))


def _pair(draw: random.Random) -> str:
    return f"Pair({_number(draw)}, {_number(draw)})"


def _row(draw: random.Random) -> str:
    return draw.choice((f"[{_number(draw)}, {_number(draw)}]", "[v * 0.5 for v in rows[0]]", "rows[1][:]"))


def _shape(draw: random.Random) -> str:
    one, other = f"Round({_number(draw)})", f"Box({_number(draw)}, {_number(draw)})"
    return draw.choice((one, other, f"{one} if s > 0.3 else {other}", f"{other} if i % 2 else {one}"))


def _statement(draw: random.Random) -> str:
    j, k = draw.choice(_WHERE), draw.choice(_WHERE)
    return draw.choice((
        f"s = math.tanh(s + fs[{j}](x))",
        "s = math.tanh(sum(f(0.3 * s) for f in fs))",
        f"fs[{j}] = {_function(draw)}",
        f"fs[{j}], fs[{k}] = fs[{k}], fs[{j}]",
        f"fs.append({_function(draw)})",
        f"ps[{j}] = {_pair(draw)}",
        f"ps[{j}] = ps[{k}]._replace(a={_number(draw)})",
        f"ps.append({_pair(draw)})",
        f"s = math.tanh(s + ps[{j}].a * ps[{k}].b)",
        "s = math.tanh(sum(p.a * q.b for p, q in zip(ps, ps[1:])))",
        f"p = ps[{j}] if s > 0.2 else {_pair(draw)}; s = 0.5 * s + 0.1 * p.b",
        "ps.sort(key=lambda p: p.a)",
        "s = math.tanh(s + max(ps, key=lambda p: p.b).a)",
        f"rows[{j}], rows[{k}] = rows[{k}], rows[{j}]",
        f"rows[{j}] = {_row(draw)}",
        f"rows[{j}] = rows[{k}]",
        f"rows[{j}][0] = math.tanh(rows[{k}][1] + x)",
        f"swap(rows, {j}, {k})",
        f"old = rows[{j}]; rows[{k}] = {_row(draw)}; old[1] += x",
        "s = math.tanh(s + sum(r[0] * r[1] for r in rows))",
        "kept = rows[1:]; kept[0][0] *= 0.5; s += 0.1 * kept[-1][1]",
        f"shapes[{j}] = {_shape(draw)}",
        f"shapes.append({_shape(draw)})",
        f"s = math.tanh(s + shapes[{j}].size())",
        "s = math.tanh(sum(t.size() * 0.1 for t in shapes))",
        f"t = shapes[{j}]; s = 0.5 * s + (0.1 * t.r if isinstance(t, Round) else t.w * 0.1)",
        "[t.grow(0.1 * x) for t in shapes if isinstance(t, Round)]",
        "best = shapes[0]\nfor t in shapes:\n    if t.size() > best.size():\n        best = t\ns = math.tanh(s + best.size())",
        f"s = math.tanh(sum(itertools.islice(terms({_number(draw)}), {draw.randint(0, 4)})))",
        f"s = math.tanh(s + sum(itertools.takewhile(lambda v: v > 0.05, terms({_number(draw)}))))",
        f"for v in terms({_number(draw)}):\n    s = 0.5 * s + 0.2 * v\n    if v < 0.1:\n        break",
        f"s = math.tanh(s + next((v for v in terms({_number(draw)}) if v < 0.2), y))",
        f"s = 0.5 * s + next((r[0] for r in rows if r[1] > {_number(draw)}), x)",
        "try:\n    s += 0.1 * fs[i](rows[i][0])\n    rows[9] = rows[0]\nexcept IndexError:\n    s = 0.9 * s + 0.1 * x",
    ))  # fmt: skip


def _write(writer: ProgramWriter, statement: str) -> None:
    for line in statement.split("\n"):
        writer.write(line)


def write(writer: ProgramWriter) -> None:
    draw = writer.random
    with writer.indented("def program(x, y):"):
        writer.write("s, i, calls = x, 0, [0.0]")
        with writer.indented("def add(v):"):
            writer.write("calls[0] += 0.1 * v")
            writer.write("return v + calls[0]")
        with writer.indented("def made(k):"):
            with writer.indented("def inner(v):"):
                writer.write("return v * k + x")
            writer.write("return inner")
        with writer.indented("def terms(v):"):
            writer.write("v = v * v")
            with writer.indented("while True:"):
                writer.write("v = 0.6 * v")
                writer.write("yield v")
        for name, one in (("fs", _function), ("ps", _pair), ("rows", _row), ("shapes", _shape)):
            items = [one(draw) if name != "rows" else f"[{_number(draw)}, {_number(draw)}]" for _ in range(3)]
            writer.write(f"{name} = [{', '.join(items)}]")
        with writer.indented(f"for i in range({draw.randint(1, 3)}):"):
            for _ in range(draw.randint(2, 5)):
                if writer.chance(0.2):
                    with writer.indented(f"if {draw.choice(('i % 2', 's > 0.4', 'x > y'))}:"):
                        _write(writer, _statement(draw))
                else:
                    _write(writer, _statement(draw))
        for _ in range(draw.randint(0, 2)):
            _write(writer, _statement(draw))
        writer.write("s = s + 0.1 * fs[0](0.2) + ps[0].a * ps[-1].b + rows[0][0] * rows[-1][1] + shapes[0].size()")
        writer.write("return math.tanh(0.2 * s) + 0.1 * calls[0]")


def point(draw: random.Random) -> Point:
    return draw.uniform(0.3, 0.9), draw.uniform(0.3, 0.9)


FAMILY = Family("things", write, refused=0.05, point=point, head=_HEAD)
