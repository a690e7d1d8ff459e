"""Arguments that share memory with each other, with variables of the module and with captured variables, where something else
is written: each place has its share.

A program is a module: variables of which some show the same memory, `arguments` that are parts of these and of a vector, alone
and in containers, and `core`, which takes them. It is `core` that is differentiated, at arguments made anew for each call.
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy import jvp, pullback
from tests.families.family import Family, Point, numbers
from tests.places import children, difference, leaves, slope
from tests.program_writer import ProgramWriter

HEAD = """import collections
import functools

import numpy as np

V = np.array([0.5, -0.7])
W = np.array([0.4, 1.1, -0.6])
TABLE = [V, W[1:]]
CONFIG = {"v": V, "pair": (W[:2], 2.0)}
LOG = []
Pair = collections.namedtuple("Pair", "left right")


class Box:
    def __init__(self, a, b, c=0.5):
        self.a, self.b, self.c = a, b, c

    def both(self):
        return self.a * self.b


class Settings:
    v = V


P = Box(V, W[1:], 1.0)


def prior():
    return np.sin(V) + W[:2]


def keeping(held):
    def scaled(t):
        return t * held

    return scaled


SCALED = keeping(V)


def helper(s, t, *, u=V):
    made = np.zeros(2)
    made[0] = s[0] * t[1]
    made[1] = np.sum(s * u)
    return made


def spread(*things, **named):
    log = []
    log.append(np.sum(things[0] * things[-1]))
    return log[0] + sum([np.sum(t) for t in named.values()])


"""
SOURCES = ("V", "W[:2]", "W[1:]", "W[::2]", "z[:2]", "z[1:3]", "z[2:]", "z[::2]", "one", "one", "z[:2].copy()")
VARIABLES = (
    "V", "W[:2]", "W[1:]", "TABLE[0]", "TABLE[-1]", "CONFIG['v']", "CONFIG['pair'][0]", "P.a", "P.b", "P.both()", "Settings.v",
    "prior()", "SCALED(np.ones(2))", "CONFIG.get('v')", "TABLE[:1][0]", "held", "getattr(P, 'a')", "vars(P)['b']",
)  # fmt: skip
# What makes an argument of two arrays, and what gives these again.
HOLDERS = {
    "[{0}, {1}]": ("{n}[0]", "{n}[1]", "{n}[-1]", "{n}[:1][0]", "[*{n}][1]", "list({n})[0]"),
    "({0}, {1})": ("{n}[0]", "{n}[1]", "{n}[-2]"),
    "[({0}, 2.0), ({1}, 3.0)]": ("{n}[0][0]", "{n}[1][0]", "[t for t, _ in {n}][1]"),
    "{{'p': {0}, 'q': {1}}}": (
        "{n}['p']", "{n}['q']", "{n}.get('p')", "list({n}.values())[0]", "[v for _, v in {n}.items()][1]",
    ),
    "Box({0}, {1})": ("{n}.a", "{n}.b", "{n}.both()", "getattr({n}, 'a')", "vars({n})['b']"),
    "Pair({0}, {1})": ("{n}.left", "{n}[1]", "{n}.right"),
}
# How two arrays that a holder has come out of it together.
BOTH = {
    "[{0}, {1}]": (
        "{s}, {t} = {n}", "({s}, *{t}) = {n}; {t} = {t}[0]", "{s} = {t} = V\nfor {s}, {t} in zip({n}, reversed({n})): pass",
    ),
    "({0}, {1})": ("{s}, {t} = {n}",),
    "[({0}, 2.0), ({1}, 3.0)]": ("({s}, _), ({t}, _) = {n}",),
    "{{'p': {0}, 'q': {1}}}": ("{s}, {t} = {n}.values()", "{s}, {t} = [{n}[k] for k in {n}]"),
    "Box({0}, {1})": ("{s}, {t} = {n}.a, {n}.b",),
    "Pair({0}, {1})": ("{s}, {t} = {n}",),
}
WAYS = {
    "{n} = [1.0, {t}]": "{n}[1]",
    "{n} = {{'k': ({t}, 1.0)}}": "{n}['k'][0]",
    "{n} = Box({t}, 1.0)": "{n}.a",
    "{n} = Box(None, 1.0); {n}.a = {t}": "{n}.a",
    "{n} = []; {n}.append({t})": "{n}[-1]",
    "{n} = lambda: {t}": "{n}()",
    "def {n}(thing={t}): return thing": "{n}()",
    "{n} = functools.partial(helper, {t})": "{n}(V)",
    "{n} = keeping({t})": "{n}(V)",
    "LOG.append({t}); {n} = LOG.pop()": "{n}",
    "{n} = {t}[::-1]": "{n}",
    "{n} = {t}.reshape(1, 2)": "{n}[0]",
}


class Writer(ProgramWriter):
    """`arrays` are expressions for arrays of two, `arguments` the names of all arguments, `holders` those that hold two arrays,
    with how they are made."""

    def __init__(self, lines: ProgramWriter) -> None:
        super().__init__(0)
        self.random, self.lines = lines.random, lines.lines
        self.arrays: list[str] = []
        self.arguments: list[str] = []
        self.holders: list[tuple[str, str]] = []

    def pick(self) -> str:
        return self.random.choice(self.arrays if self.chance(0.75) else VARIABLES)

    def term(self) -> str:
        a, b = self.pick(), self.pick()
        forms = ("{a} * {b}", "np.sin({a}) + {b}", "{a} - {b} / 2", "helper({a}, {b})", "np.stack([{a}, {b}])[1] * {a}", "{a}")
        return self.random.choice(forms).format(a=a, b=b)

    def number(self) -> str:
        a, b = self.pick(), self.pick()
        forms = ("np.sum({t})", "np.dot({a}, {b})", "{a}[0] * {b}[1]", "spread({a}, {b})", "spread({a}, last={b})")
        return self.random.choice(forms).format(t=self.term(), a=a, b=b)

    # The parts of a module

    def module(self) -> None:
        packed = self.chance(0.3)
        self.make_arguments(packed)
        self.write("def make_core(held):")
        self.depth = 1
        with self.indented(f"def core({'*xs' if packed else ', '.join(self.arguments)}):"):
            if packed:
                self.write(f"{', '.join(self.arguments)}, = xs")
            self.write("out = np.zeros(2)")
            self.write("log = [0.0]")
            for _ in range(self.random.randrange(3, 8)):
                self.statement()
            self.write(f"out[0] += {self.number()}")
            self.write("return float(np.sum(np.tanh(out)) + 0.3 * sum(np.tanh(log)))")
        self.write("return core")
        self.depth = 0
        self.lines += ["", "", "core = make_core(V)", "", ""]
        with self.indented("def program(z):"):
            self.write("return core(*arguments(z))")

    def make_arguments(self, packed: bool) -> None:
        self.arguments = [self.fresh("a") for _ in range(self.random.randrange(1, 4))]
        with self.indented("def arguments(z):"):
            self.write("V[:], W[:], z, one = z[:2], z[2:5], z[5:].copy(), z[3:5].copy()")
            self.write("LOG.clear()")
            made = []
            for name in self.arguments:
                if self.chance(0.5):
                    made.append(self.random.choice(SOURCES))
                    self.arrays.append(name)
                else:
                    self.make_holder(name, made)
            if self.chance(0.25) and len(made) > 1 and self.holders:
                self.write(f"twice = {made[self.arguments.index(self.holders[0][0])]}")
                both = self.holders[0][0], self.arguments[-1]
                made = ["twice" if name in both else text for name, text in zip(self.arguments, made, strict=True)]
                self.forget_last()
            self.write(f"return {', '.join(made)},")
        self.lines += ["", ""]

    def forget_last(self) -> None:
        """The last argument is the first holder."""
        name, kind = self.holders[0]
        last = self.arguments[-1]
        self.arrays = [array for array in self.arrays if not re.search(rf"\b{last}\b", array)]
        self.holders = [(n, k) for n, k in self.holders if n != last] + [(last, kind)]
        self.arrays += [form.format(n=each) for each in (name, last) for form in HOLDERS[kind]]

    def make_holder(self, name: str, made: list[str]) -> None:
        kind = self.random.choice(list(HOLDERS))
        made.append(kind.format(self.random.choice(SOURCES), self.random.choice(SOURCES)))
        self.holders.append((name, kind))
        self.arrays += [form.format(n=name) for form in HOLDERS[kind]]

    # Statements

    def statement(self) -> None:
        kinds: list[Callable[[], None]] = [self.store, self.log, self.take, self.way, self.take_both, self.loop]
        kinds += [self.local_write, self.nested]
        rare: list[Callable[[], None]] = [self.write_shared, self.write_object, self.compare]
        self.random.choice(rare if self.chance(0.12) else kinds)()

    def store(self) -> None:
        self.write(f"out[{self.random.randrange(2)}] {self.random.choice(['=', '+='])} {self.number()}")

    def log(self) -> None:
        self.write(f"log.append({self.number()})")

    def take(self) -> None:
        name = self.fresh("t")
        self.write(f"{name} = {self.term()}")
        self.arrays.append(name)

    def way(self) -> None:
        store, read = self.random.choice(list(WAYS.items()))
        name = self.fresh("w")
        self.write(store.format(n=name, t=self.pick()))
        self.arrays.append(read.format(n=name))

    def take_both(self) -> None:
        if not self.holders:
            return self.take()
        argument, kind = self.random.choice(self.holders)
        s, t = self.fresh("s"), self.fresh("t")
        for line in self.random.choice(BOTH[kind]).format(n=argument, s=s, t=t).splitlines():
            self.write(line)
        self.arrays += [s, t]

    def loop(self) -> None:
        name = self.fresh("e")
        over = [n for n, kind in self.holders if kind in ("[{0}, {1}]", "({0}, {1})", "Pair({0}, {1})")]
        source = self.random.choice(over) if over and self.chance(0.6) else f"({self.pick()}, {self.pick()})"
        if self.chance(0.3):
            self.write(f"log += [np.sum({name} * {self.pick()}) for {name} in {source}]")
            return
        with self.indented(f"for {name} in {source}:"):
            self.write(f"log.append(np.sum({name} * {self.pick()}) * 0.5)")

    def nested(self) -> None:
        name = self.fresh("f")
        with self.indented(f"def {name}(s, *rest):"):
            self.write(f"made = s * {self.pick()}")
            self.write(f"made[1] *= {self.number()}")
            self.write("return made + rest[0]")
        self.write(f"out += {name}({self.pick()}, {self.pick()})")

    def local_write(self) -> None:
        name = self.fresh("c")
        self.write(f"{name} = {self.pick()} * 1.5")
        self.write(f"{name}[{self.random.randrange(2)}] {self.random.choice(['=', '*=', '+='])} {self.number()}")
        self.arrays.append(name)

    def write_shared(self) -> None:
        target = self.random.choice([a for a in self.arguments if a in self.arrays] or ["out"])
        self.write(f"{target}[{self.random.randrange(2)}] = {self.number()}")

    def write_object(self) -> None:
        boxes = [n for n, kind in self.holders if kind.startswith("Box")]
        self.write(f"{self.random.choice(boxes)}.c = {self.number()}" if boxes else f"P.c = {self.number()}")

    def compare(self) -> None:
        self.write(f"log.append(0.0 if {self.pick()} is None else {self.number()})")


def write(lines: ProgramWriter) -> None:
    Writer(lines).module()


def point(draw: random.Random) -> Point:
    return (np.array(numbers(draw, 9)),)


def is_as_before(held: Any, x: Any) -> bool:
    """Whether a container or object holds what its copy holds."""
    before, now = children(held), children(x)
    return before.keys() == now.keys() and all(now[key] is before[key] for key in now)


def judge(function: Callable[..., Any], at: Point) -> str | None:
    """What is wrong with the value, the effects, or the share of a place, in either mode."""
    core, made = function.__globals__["core"], function.__globals__["arguments"]

    def arguments() -> tuple[Any, ...]:
        given = made(*at)
        return given if is_one else (*given[:-1], copy.copy(given[-1]))

    is_one = True
    plain = arguments()
    held = copy.copy(plain[-1])
    y = core(*plain)
    after = repr([part for _, part in leaves(plain)])
    # What stands at two places and is not written has the shares of two copies.
    is_one = all(x is not plain[-1] for x in plain[:-1]) or not is_as_before(held, plain[-1])
    args = made(*at)
    found, back = pullback(core, *args)
    bars, again = back(1.0)[1:], back(2.0)[1:]
    if found != y:
        return f"value {found!r} for {y!r}"
    if repr([part for _, part in leaves(args)]) != after:
        return "effects on the arguments"
    draw = np.random.default_rng(0)
    total = 0.0
    ways = [(path, draw.standard_normal(np.shape(x)) if isinstance(x, np.ndarray) else 1.0) for path, x in leaves(arguments())]
    for path, by in ways:
        expected = difference(core, arguments, path, by)
        total += expected
        share = slope(bars, path, by)
        if not np.isclose(share, expected, rtol=3e-5, atol=3e-7):
            return f"share of the place {path} {share}, by differences {expected}"
        if not np.isclose(slope(again, path, by), 2.0 * share, rtol=1e-9, atol=1e-12):
            return "called again, back gives another cotangent"
    if all(len(path) == 1 for path, _ in ways):
        dot = jvp(core, arguments(), tuple(by for _, by in ways))[1]
        if not np.isclose(0.0 if dot is None else dot, total, rtol=3e-5, atol=3e-7):
            return f"forward derivative {dot}, by differences {total}"
    return None


FAMILY = Family("sharing", write, refused=0.08, point=point, judge=judge, head=HEAD)
