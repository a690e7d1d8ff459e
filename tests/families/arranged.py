"""Lists, deques, heaps and dicts of the program's own, by all of their methods, in loops, branches and over each other."""

from __future__ import annotations

import random

from tests.families.family import HEAD, USUAL_PARAMETERS, Family, usual_point
from tests.program_writer import ProgramWriter

_HEAD = """import bisect
import heapq
from collections import Counter, OrderedDict, defaultdict, deque


class Item:
    def __init__(self, v):
        self.v = v


"""
_VALUES = ("x * k", "0.3 * t", "math.sin(y * k)", "2.5", "x + y", "u[0] * k")
_MADE = {
    "list": ("[]", "[x, 2.0, x * y]", "[y * k for k in range(4)]", "list(items)", "[x] * 3"),
    "deque": ("deque()", "deque([x, y], maxlen=4)", "deque([x * k for k in range(4)])"),
    "heap": ("[]", "[x, x * x + 1.0, x + 5.0]"),
    "dict": ("{}", "{1: x, 2: y}", "{k: x * k for k in range(4)}", "OrderedDict()", "Counter()", "defaultdict(float)"),
    "lists": ("defaultdict(list)",),
    "objects": ("[]", "[Item(x), Item(y)]", "[Item(y * k) for k in range(3)]"),
    "records": ("[]", "[{'v': x, 'k': 1}, {'v': y, 'k': 2}]"),
}
_STATEMENTS = {
    "list": (
        "xs.append({})", "xs.insert(k, {})", "xs.insert(-1, {})", "if len(xs) > 2: t = 0.5 * t + xs.pop(1)", "xs.reverse()",
        "if len(xs) > 3: del xs[-2]", "xs.sort()", "xs.sort(key=lambda v: -v)", "xs[0:1] = [{}, {}]", "xs += xs[:2]",
        "if len(xs) > 8: del xs[2:]", "if len(xs) > 1: xs.remove(xs[1])", "xs = xs[:5]", "xs = [0.9 * v for v in xs]",
        "bisect.insort(xs, {})", "ys = xs.copy(); ys.append({}); t = 0.5 * t + sum(ys)", "t = 0.3 * t + sum(xs)",
        "if len(xs) > 1: xs[0], xs[1] = xs[1], xs[0]", "if xs: xs[0] = {}", "if xs: t = 0.5 * t + xs[-1] * xs[0]",
    ),
    "deque": (
        "xs.append({})", "xs.appendleft({})", "xs.rotate(k)", "if len(xs) > 2: t = 0.5 * t + xs.pop()",
        "xs.extendleft([{}, {}])",
        "if len(xs) > 2: t = 0.5 * t + xs.popleft()", "xs.reverse()", "if xs: xs[0] = {}", "t = 0.3 * t + sum(xs)",
        "if len(xs) > 8: xs.clear()",
    ),
    "heap": (
        "heapq.heappush(xs, {})", "heapq.heappush(xs, {})", "if len(xs) > 1: t = 0.5 * t + heapq.heappop(xs)",
        "if xs: t = 0.5 * t + heapq.heapreplace(xs, {})", "xs.append({}); heapq.heapify(xs)",
        "t = 0.5 * t + heapq.heappushpop(xs, {})", "if xs: t = 0.5 * t + xs[0]",
    ),
    "dict": (
        "xs[k % 5] = {}", "xs[(2 * k) % 5] = {}", "if k % 3 in xs: del xs[k % 3]", "t = 0.5 * t + xs.pop(k % 4, {})",
        "t = 0.5 * t + xs.setdefault(k % 4, {})", "if xs: t = 0.5 * t + xs.popitem()[1]", "t = 0.3 * t + sum(xs.values())",
        "if k % 5 in xs: xs[k % 5] += {}", "t = 0.5 * t + xs.get(k, {})",
    ),
    "lists": (
        "xs[k % 3].append({})", "xs[k % 2].insert(0, {})", "if xs[k % 3]: t = 0.5 * t + xs[k % 3].pop()", "xs[k % 2].sort()",
        "t = 0.3 * t + sum(xs[k % 3])", "if len(xs[0]) > 4: xs.pop(0)",
    ),
    "objects": (
        "xs.insert(k, Item({}))", "xs.append(Item({}))", "if len(xs) > 1: p = xs.pop(0); p.v *= 0.5; xs.append(p)",
        "if len(xs) > 2: xs.remove(xs[1])", "xs.sort(key=lambda p: -p.v)", "xs.reverse()", "if xs: xs[-1].v += {}",
        "t = 0.3 * t + sum(p.v for p in xs)", "if len(xs) > 3: del xs[0]", "if xs: xs.insert(0, xs.pop())",
    ),
    "records": (
        "xs.insert(k, {'v': {}, 'k': k})", "xs.append({'v': {}, 'k': k})", "if len(xs) > 1: t = 0.5 * t + xs.pop(0)['v']",
        "if len(xs) > 2: xs.remove(xs[1])", "xs.sort(key=lambda p: -p['v'])", "xs.reverse()",
        "for p in [p for p in xs if p['k'] == k]: t = 0.5 * t + p['v']; xs.remove(p)",
        "t = 0.3 * t + sum(p['v'] for p in xs)", "if len(xs) > 3: del xs[0]",
    ),
}  # fmt: skip
_LOOPS = {
    "list": ("for j, v in enumerate(xs):", "for j, v in enumerate(reversed(xs)):"),
    "deque": ("for j, v in enumerate(xs):",),
    "heap": ("for j, v in enumerate(xs):",),
    "dict": ("for j, v in xs.items():", "for j, v in enumerate(xs.values()):"),
    "lists": ("for j, v in [(j, v) for j in xs for v in xs[j]]:",),
    "objects": ("for j, v in enumerate(p.v for p in xs):", "for j, v in enumerate([p.v for p in xs]):"),
    "records": ("for j, v in enumerate([p['v'] for p in xs]):",),
}
_FAILS = {
    "list": ("xs.remove(99.0)", "t = t * xs[7]", "xs.pop(9)", "xs.insert(0, {}); t = t + 1 // (k - 2)"),
    "deque": ("xs.remove(99.0)", "xs.append({}); t = t + 1 // (k - 2)", "xs.popleft(); xs.popleft()"),
    "heap": ("t = t + heapq.heappop(xs) + heapq.heappop(xs)", "heapq.heappush(xs, {}); t = t + 1 // (k - 2)"),
    "dict": ("t = t + xs.pop(k)", "del xs[k]", "xs[k] = {}; t = t + xs[k + 1]"),
    "lists": ("xs[0].insert(0, {}); t = t + xs[0][3]", "xs.pop(7)"),
    "objects": ("xs.insert(0, Item({})); t = t + 1 // (k - 2)", "xs.pop().v += xs[3].v"),
    "records": ("xs.remove({'v': 9.0, 'k': 9})", "xs.append({'v': {}, 'k': 5}); t = t + xs[3]['v']"),
}
"""What fails at times, in a `try`."""


def write(writer: ProgramWriter) -> None:
    draw = writer.random
    sort = draw.choice(list(_MADE))
    with writer.indented(f"def program({USUAL_PARAMETERS}):"):
        writer.write(f"xs = {draw.choice(_MADE[sort])}")
        writer.write("t, k = x, 1")
        for _ in range(draw.randint(0, 2)):
            _statement(writer, sort)
        with writer.indented("for k in range(4):"):
            for _ in range(draw.randint(1, 4)):
                if writer.chance(0.25):
                    with writer.indented(f"if k % 2 == {draw.randint(0, 1)}:"):
                        _statement(writer, sort)
                else:
                    _statement(writer, sort)
        with writer.indented(draw.choice(_LOOPS[sort])):
            writer.write("t = 0.7 * t + v * (j + 1)")
        writer.write("return t * x + len(xs) * y")


def _statement(writer: ProgramWriter, sort: str) -> None:
    draw: random.Random = writer.random
    if writer.chance(0.15):
        with writer.indented(draw.choice(_LOOPS[sort])):
            if sort == "list" and writer.chance(0.5):
                writer.write(draw.choice(("if j == 2: break", "if len(xs) > 4: xs.pop()")))
            writer.write("t = 0.5 * t + 0.1 * v")
        return
    if writer.chance(0.15):
        with writer.indented("try:"):
            if writer.chance(0.5):
                _write_one(writer, draw.choice(_STATEMENTS[sort]))
            _write_one(writer, draw.choice(_FAILS[sort]))
        with writer.indented("except (IndexError, KeyError, ValueError, ZeroDivisionError):"):
            _write_one(writer, draw.choice((*_STATEMENTS[sort], "t = 0.5 * t + y")))
        return
    _write_one(writer, draw.choice(_STATEMENTS[sort]))


def _write_one(writer: ProgramWriter, text: str) -> None:
    for _ in range(text.count("{}")):
        text = text.replace("{}", writer.random.choice(_VALUES), 1)
    writer.write(text)


FAMILY = Family("arranged", write, refused=0.0, point=usual_point, head=HEAD + _HEAD)
