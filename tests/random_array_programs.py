"""Random programs on arrays of mixed shapes as source text, each with several sets of arguments of different shapes.

The axes of a program's arrays have letters: axes with one letter have one length, and an argument marked `?` there may
have length one instead. So a program is valid for every choice of lengths, and the sets differ in which axes coincide,
which are broadcast and which are empty. A variable that a loop or a branch may give another shape is `loose`: it is known
only to broadcast to its axes, and is used only where that is enough.

Programs mix elementwise operations, reductions with an axis, keepdims, reshapes, transposes, products of matrices and
vectors, slices, joins, constant powers, loops whose variables change shape or swap places, branches, recursion, nested
functions that capture arrays, and helpers called with many shapes, some of which return transposes or pairs.
Values stay bounded and expressions are smooth but for a few kinks. The same number gives the same text everywhere.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.program_writer import ProgramWriter

Axes = tuple[str, ...]  # a letter per axis, with "?" if its length may be one instead; "1" is one


@dataclass(frozen=True)
class Held:
    """What is known of a variable: its axes; if `loose`, only that it broadcasts to them. `()` is a number."""

    axes: Axes
    loose: bool = False


@dataclass(frozen=True)
class RandomArrayProgram:
    """The text of a module whose function `program` is differentiated at each of `points`, in that order."""

    number: int
    source: str
    points: tuple[tuple[Any, ...], ...]

    def load(self) -> Callable[..., Any]:
        """The function, its text findable by `inspect`."""
        name = f"<random array program {self.number}>"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(keepends=True), name)
        namespace: dict[str, Any] = {"np": np, "math": math, "__name__": f"random_array_program_{self.number}"}
        exec(compile(self.source, name, "exec"), namespace)
        return namespace["program"]


def letter(axis: str) -> str:
    return axis.rstrip("?")


def broadcast(a: Axes, b: Axes) -> Axes | None:
    """The axes of an elementwise operation, or None if they do not fit for every choice of lengths."""
    length = max(len(a), len(b))
    axes = []
    for x, y in zip(("1",) * (length - len(a)) + a, ("1",) * (length - len(b)) + b, strict=True):
        if x == "1" or y == "1":
            axes.append(y if x == "1" else x)
        elif letter(x) != letter(y):
            return None
        else:
            axes.append(x if y.endswith("?") else y)
    return tuple(axes)


HELPERS = {
    "mix": ["def mix(x, y):", "    return np.sin(x) * y + x / (1.0 + y * y)"],
    "shrink": ["def shrink(x, y, k=0.5):", "    if np.sum(x) > np.sum(y):", "        return x * k", "    return x * k + y"],
    "total": ["def total(x):", "    return np.sum(np.tanh(x))"],
    "spread": ["def spread(x):", "    centred = x - np.mean(x, axis=-1, keepdims=True)", "    return np.tanh(centred) * x"],
    "again": [
        "def again(x, w, k):",
        "    if k <= 0:",
        "        return np.cos(x)",
        "    return again(0.5 * x * w + w, w, k - 1)",
    ],
    "collapse": [
        "def collapse(x):",
        "    if np.ndim(x) == 0:",
        "        return x * x",
        "    return collapse(np.sin(x).sum(axis=0)) + 0.1 * np.sum(x)",
    ],
    "eat": [
        "def eat(x):",
        "    if len(x) <= 1:",
        "        return np.sum(x)",
        "    return eat(x[1:] * x[:1]) + np.sum(x[0])",
    ],
    "twice": ["def twice(x, y):", "    return mix(x, y) + mix(y, np.sum(x))"],
    "turn": ["def turn(x):", "    return np.cos(x).T"],
    "turns": [
        "def turns(x, k):",
        "    for i in range(k):",
        "        x = np.sin(x).T",
        "    return x",
    ],
    "flip": ["def flip(x, k):", "    return x if k == 0 else flip(x.T * 0.9, k - 1)"],
    "both": ["def both(x, y):", "    return x * y, np.tanh(x).T"],
}
ELEMENTWISE_HELPERS = ("mix", "shrink", "again", "twice")
TURNING_HELPERS = ("turn", "turns", "flip", "both")


class Writer(ProgramWriter):
    """Writes one program; every choice is drawn from one generator of random numbers."""

    def __init__(self, number: int) -> None:
        super().__init__(number, depth=1)
        self.number = number
        self.letters = 0
        self.helpers = {name for name in HELPERS if self.chance(0.6)}
        self.helpers |= {"mix"} if "twice" in self.helpers else set()
        self.may_be_empty = self.chance(0.15)
        if self.may_be_empty:
            self.helpers -= {"spread"}

    def new_letter(self) -> str:
        """The letter of an axis whose length nothing else has for certain; it may be 0."""
        self.letters += 1
        return f"z{self.letters}"

    def constant(self) -> str:
        value = self.random.uniform(-1.5, 1.5)
        return f"{value:.2f}" if value >= 0 else f"({value:.2f})"

    # Expressions: text and what it holds

    def pick(self, scope: dict[str, Held], accept: Callable[[Held], bool] = lambda held: True) -> tuple[str, Held] | None:
        found = [(name, held) for name, held in scope.items() if accept(held)]
        return self.random.choice(found) if found else None

    def never_empty(self, held: Held) -> bool:
        return not self.may_be_empty and not any(axis.startswith("z") for axis in held.axes)

    def expression(self, scope: dict[str, Held]) -> tuple[str, Held]:
        """A random expression over the variables of the scope."""
        forms = [self.elementwise] * 5 + [self.unary] * 2 + [self.reduction] * 3 + [self.move] * 2 + [self.product] * 2
        forms += [self.call] * 3 + [self.turn] + [self.slice, self.join, self.choose, self.power]
        while True:
            made = self.random.choice(forms)(scope)
            if made is not None and len(made[1].axes) <= 3:
                return made

    def pair(self, scope: dict[str, Held]) -> tuple[str, str, Held] | None:
        """Two variables that broadcast against each other, and what an elementwise operation of them holds."""
        (a, x), (b, y) = self.pick(scope), self.pick(scope)
        axes = broadcast(x.axes, y.axes)
        return None if axes is None else (a, b, Held(axes, (x.loose or y.loose) and bool(axes)))

    def elementwise(self, scope: dict[str, Held]) -> tuple[str, Held] | None:
        made = self.pair(scope)
        if made is None:
            return None
        a, b, held = made
        c = self.constant()
        forms = [
            f"0.6 * {a} + 0.4 * {b}",
            f"{a} * {b}",
            f"{a} - {b} * {c}",
            f"{a} / (1.0 + {b} * {b})",
            f"np.sin({a} * {b} + {c})",
            f"np.tanh(np.multiply({a}, {b}))",
            f"np.hypot({a}, {b} + 2.0)",
            f"np.logaddexp({a}, {b})",
            f"np.maximum({a}, {b})",
            f"np.minimum({a}, {c}) * {b}",
            f"np.where({a} > {c}, {a}, 0.5 * {b})",
            f"np.arctan2({a}, 2.0 + {b} ** 2)",
        ]
        return self.random.choice(forms), held

    def power(self, scope: dict[str, Held]) -> tuple[str, Held] | None:
        made = self.pair(scope)
        if made is None:
            return None
        a, b, held = made
        return self.random.choice(
            [
                f"(1.5 + np.sin({a})) ** np.tanh({b})",
                f"np.power(1.2 + np.cos({a}) ** 2, {b} * 0.3)",
                f"np.sin({a}) ** {self.random.choice(['0', '1', '2', '3', '4.0'])} * {b}",
                f"(2.0 + np.cos({a})) ** {self.random.choice(['-1', '-2.0', '0.5'])} + {b}",
            ]
        ), held

    def unary(self, scope: dict[str, Held]) -> tuple[str, Held] | None:
        a, held = self.pick(scope)
        return self.random.choice(
            [f"np.sin({a})", f"-{a}", f"np.exp(-({a} ** 2))", f"abs({a}) * 0.7", f"{a} + {self.constant()}"]
        ), held

    def reduction(self, scope: dict[str, Held]) -> tuple[str, Held] | None:
        a, held = self.pick(scope, lambda held: bool(held.axes))  # numbers have no axes to reduce
        names = ["sum", "sum", "mean", "max", "prod"] if self.never_empty(held) else ["sum", "sum", "prod"]
        name = self.random.choice(names)
        if held.loose:
            return f"np.tanh(np.{name if name != 'prod' else 'sum'}({a}))", Held(())
        rank = len(held.axes)
        axis = self.random.randrange(-rank, rank)
        rest = held.axes[: axis % rank] + held.axes[axis % rank + 1 :]
        kept = (*held.axes[: axis % rank], "1", *held.axes[axis % rank + 1 :])
        forms = [
            (f"np.{name}({a}, axis={axis})", rest),
            (f"{a}.{name}({axis})", rest),
            (f"np.{name}({a}, axis={axis}, keepdims=True)", kept),
            (f"{a}.{name}(axis={axis}, keepdims=True)", kept),
            (f"np.{name}({a})", ()),
            (f"{a}.{name}(keepdims=True)", ("1",) * rank),
        ]
        if rank > 1:
            forms.append((f"np.{name}({a}, axis=(0, -1))", held.axes[1:-1]))
        text, axes = self.random.choice(forms)
        return f"np.tanh({text})", Held(axes)

    def move(self, scope: dict[str, Held]) -> tuple[str, Held] | None:
        a, held = self.pick(scope, lambda held: bool(held.axes))
        if held.loose:
            return None
        forms = [
            (f"{a}.T", held.axes[::-1]),
            (f"np.transpose({a})", held.axes[::-1]),
            (f"{a}[None]", ("1", *held.axes)),
            (f"{a}[..., None]", (*held.axes, "1")),
            (f"np.expand_dims({a}, 0)", ("1", *held.axes)),
            (f"{a}.reshape({a}.shape)", held.axes),
            (f"np.reshape({a}, {a}.shape[::-1]).T", None),
            (f"{a}[::-1]", held.axes),
            (f"np.flip({a}, -1)", held.axes),
            (f"np.swapaxes({a}, 0, -1)", held.axes if len(held.axes) == 1 else (held.axes[-1], *held.axes[1:-1], held.axes[0])),
            (f"np.ravel({a})", (self.new_letter(),)),
        ]
        if not self.may_be_empty:
            forms.append((f"{a}.reshape(-1)", (self.new_letter(),)))
        text, axes = self.random.choice(forms)
        return text, Held(held.axes if axes is None else axes)

    def product(self, scope: dict[str, Held]) -> tuple[str, Held] | None:
        (a, x), (b, y) = self.pick(scope), self.pick(scope)
        if x.loose or y.loose or not 1 <= len(x.axes) <= 2 or not 1 <= len(y.axes) <= 2:
            return None
        if x.axes[-1] != y.axes[-2:][0] or x.axes[-1].endswith("?"):
            return None
        text = self.random.choice([f"{a} @ {b}", f"np.matmul({a}, {b})", f"np.dot({a}, {b})"])
        return f"np.sin({text})", Held((*x.axes[:-1], *y.axes[-1:]) if len(y.axes) == 2 else x.axes[:-1])

    def slice(self, scope: dict[str, Held]) -> tuple[str, Held] | None:
        a, held = self.pick(scope, lambda held: bool(held.axes))
        if held.loose:
            return None
        forms = [(f"{a}[1:]", (self.new_letter(), *held.axes[1:])), (f"{a}[..., :]", held.axes)]
        if self.never_empty(held):
            forms += [
                (f"{a}[0]", held.axes[1:]),
                (f"{a}[-1:]", ("1", *held.axes[1:])),
                (f"{a}[..., 0]", held.axes[:-1]),
                (f"{a}[..., :1]", (*held.axes[:-1], "1")),
                (f"{a}[[0, -1, 0]]", (self.new_letter(), *held.axes[1:])),
            ]
        text, axes = self.random.choice(forms)
        return text, Held(axes)

    def join(self, scope: dict[str, Held]) -> tuple[str, Held] | None:
        a, held = self.pick(scope, lambda held: bool(held.axes))
        if held.loose:
            return None
        axis = self.random.choice([0, -1])
        joined = (self.new_letter(), *held.axes[1:]) if axis == 0 else (*held.axes[:-1], self.new_letter())
        stacked = ("2", *held.axes) if axis == 0 else (*held.axes, "2")
        return self.random.choice(
            [
                (f"np.concatenate([{a}, {a} * 0.5], axis={axis})", Held(joined)),
                (f"np.stack([{a}, np.cos({a})], axis={axis})", Held(stacked)),
            ]
        )

    def choose(self, scope: dict[str, Held]) -> tuple[str, Held] | None:
        (a, x), (b, y) = self.pick(scope), self.pick(scope)
        axes = broadcast(x.axes, y.axes)
        if axes is None or bool(x.axes) != bool(y.axes):
            return None
        held = x if x == y else Held(axes, True)
        return f"({a} if {self.condition(scope)} else {b})", held

    def call(self, scope: dict[str, Held]) -> tuple[str, Held] | None:
        name = self.random.choice(sorted(HELPERS.keys() - set(TURNING_HELPERS)))
        if name not in self.helpers:
            return None
        if name in ELEMENTWISE_HELPERS:
            made = self.pair(scope)
            if made is None:
                return None
            a, b, held = made
            count = f", {self.random.randint(0, 3)}" if name == "again" else ""
            # Which of the operands' shapes the result has depends on the branch that was taken.
            return f"{name}({a}, {b}{count})", Held(held.axes, bool(held.axes))
        a, held = self.pick(scope)
        if name in ("spread", "eat", "collapse") and (held.loose or not held.axes):
            return None
        if name == "spread" and not self.never_empty(held):
            return None
        return f"np.tanh({name}({a}))", held if name == "spread" else Held(())

    def turn(self, scope: dict[str, Held]) -> tuple[str, Held] | None:
        """A call of a helper that transposes its argument, or some times over."""
        name = self.random.choice(TURNING_HELPERS)
        a, held = self.pick(scope, lambda held: bool(held.axes))
        if name not in self.helpers or held.loose:
            return None
        if name == "turn":
            return f"turn({a})", Held(held.axes[::-1])
        if name == "both":
            place = self.random.randint(0, 1)
            return f"both({a}, {a})[{place}]", Held(held.axes[::-1] if place else held.axes)
        count = self.random.randint(0, 3)
        return f"{name}({a}, {count})", Held(held.axes[::-1] if count % 2 else held.axes)

    def condition(self, scope: dict[str, Held]) -> str:
        a, _ = self.pick(scope)
        return self.random.choice([f"np.sum({a}) > {self.constant()}", f"np.size({a}) > {self.random.randint(1, 4)}"])

    # Statements

    def block(self, scope: dict[str, Held], size: int, depth: int, targets: tuple[str, ...] = (), own: bool = False) -> None:
        """Some statements. They may rebind what they bind themselves, `targets`, and everything if all is their `own`."""
        outer = {} if own else dict(scope)
        for _ in range(size):
            if depth and self.chance(0.3):
                inner = self.loosened(scope, outer, targets)
                self.random.choice([self.branch, self.loop, self.loop])(scope, depth, inner)
            elif self.chance(0.1) and self.nested(scope):
                pass
            elif targets and self.chance(0.15):
                self.swap(scope, targets)
            else:
                self.assign(scope, targets)

    def assign(self, scope: dict[str, Held], targets: tuple[str, ...]) -> None:
        """Bind a new name, or one of `targets` to something that broadcasts to its axes."""
        if targets and self.chance(0.5):
            target = self.random.choice(targets)
            for _ in range(20):
                text, held = self.expression(scope)
                if (
                    bool(held.axes) == bool(scope[target].axes)
                    and broadcast(held.axes, scope[target].axes) == scope[target].axes
                ):
                    self.write(f"{target} = {text}")
                    return
        text, held = self.expression(scope)
        name = self.fresh()
        self.write(f"{name} = {text}")
        scope[name] = held

    def nested(self, scope: dict[str, Held]) -> bool:
        """Define a function that captures one variable and has another as a default, and call it with some arrays; whether
        the two fit."""
        (a, captured), (b, default) = self.pick(scope), self.pick(scope)
        axes = broadcast(captured.axes, default.axes)
        if axes is None:
            return False
        own, name = self.fresh(), f"f{self.count}"
        self.write(f"{own} = {a} * {self.constant()}")
        with self.indented(f"def {name}(z, w={b}):"):
            if self.chance(0.4):
                with self.indented(f"if np.sum(z) > {self.constant()}:"):
                    self.write(f"return np.tanh(z * {own}) * w")
            self.write(f"return np.sin(z * w) + {own}")
        for _ in range(self.random.randint(1, 3)):
            c, held = self.pick(scope)
            result = broadcast(held.axes, axes)
            if result is not None and len(result) <= 3:
                given = self.random.choice(["", f", {b}", f", w={b} * 0.5"])
                self.write(f"{self.fresh()} = {name}({c}{given})")
                scope[f"v{self.count}"] = Held(result, bool(result) and (held.loose or captured.loose or default.loose))
        return True

    def swap(self, scope: dict[str, Held], targets: tuple[str, ...]) -> None:
        """Exchange two variables of the same axes, or add to one of them."""
        first, second = self.random.choice(targets), self.random.choice(targets)
        if first != second and scope[first].axes == scope[second].axes:
            self.write(f"{first}, {second} = {second}, 0.5 * {first}")
        else:
            self.write(f"{first} = 0.7 * {first} + np.tanh(np.sum({self.pick(scope)[0]}))")

    def loosened(self, scope: dict[str, Held], outer: dict[str, Held], targets: tuple[str, ...]) -> tuple[str, ...]:
        """Some variables that the next statement may rebind, and that are loose from now on. Those of enclosing blocks keep
        their axes."""
        found = []
        for _ in range(self.random.randint(1, 2)):
            name, held = self.pick(scope)
            if name in outer:
                found += [name] * (name in targets)
                continue
            other = broadcast(held.axes, self.pick(scope)[1].axes) if held.axes else ()
            scope[name] = Held(held.axes if other is None or len(other) > 3 else other, bool(held.axes))
            found.append(name)
        return tuple(dict.fromkeys(found))

    def branch(self, scope: dict[str, Held], depth: int, targets: tuple[str, ...]) -> None:
        condition = self.condition(scope)
        for head in self.random.choice([(f"if {condition}:",), (f"if {condition}:", "else:")]):
            with self.indented(head):
                self.block(dict(scope), self.random.randint(1, 3), depth - 1, targets)

    def loop(self, scope: dict[str, Held], depth: int, targets: tuple[str, ...]) -> None:
        count = self.random.randint(0, 3)
        with self.indented(f"for i{self.depth} in range({count}):"):
            inner = dict(scope)
            self.block(inner, self.random.randint(1, 3), depth - 1, targets)
            if self.chance(0.25):
                with self.indented(f"if {self.condition(inner)}:"):
                    self.write(self.random.choice(["break", "continue"]))
            self.assign(inner, targets)

    # Whole programs

    def program(self) -> RandomArrayProgram:
        shapes: list[Axes] = [("m", "n"), ("n",)]
        shapes += [
            self.random.choice(
                [("m?", "n?"), ("n?",), ("m", "1"), ("n", "m"), ("m",), ("n", "n"), ("m?", "n"), ("n?", "n"), ("1",)]
            )
            for _ in range(self.random.randint(1, 2))
        ]
        names = "abcd"[: len(shapes)]
        scope = {name: Held(axes) for name, axes in zip(names, shapes, strict=True)} | {"s": Held(())}
        self.block(scope, self.random.randint(4, 8), 2, own=True)
        read = self.random.sample(sorted(scope), min(len(scope), 4))
        terms = [f"np.sum(np.sin({name}) * {self.constant()})" for name in read]
        self.write(f"return {' + '.join(terms)}")
        helpers = [line for name, text in HELPERS.items() if name in self.helpers for line in (*text, "", "")]
        head = f"def program({', '.join(names)}, s):"
        source = "\n".join([*helpers, head, *self.lines]) + "\n"
        sets = [self.point(shapes) for _ in range(3)]
        return RandomArrayProgram(self.number, source, (*sets, sets[0]))

    def point(self, shapes: list[Axes]) -> tuple[Any, ...]:
        sizes = (0, 1, 2, 3) if self.may_be_empty else (1, 2, 3)
        lengths = {"m": self.random.choice(sizes), "n": self.random.choice(sizes), "1": 1}
        shift = self.random.randint(0, 1000)
        arrays = []
        for axes in shapes:
            shape = [1 if axis.endswith("?") and self.chance(0.5) else lengths[letter(axis)] for axis in axes]
            values = [math.sin(shift + 1.7 * len(arrays) + 0.9 * k) for k in range(math.prod(shape))]
            arrays.append(np.array(values).reshape(shape))
        return (*arrays, math.cos(shift))


def random_array_program(number: int) -> RandomArrayProgram:
    """The program of a number."""
    return Writer(number).program()
