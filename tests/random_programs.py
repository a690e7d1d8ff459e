"""Random programs as source text: what no table of hand-written programs thinks of.

A program is a nest of branches, loops, exits, helper calls, closures, tuples and lists over float variables (some also
over small arrays). It always terminates, its values stay bounded, and its expressions are smooth, so that central
differences are good away from the branches. The same number gives the same text everywhere.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.program_writer import ProgramWriter


@dataclass(frozen=True)
class RandomProgram:
    """The text of a module whose function `program` is differentiated at each of `points`."""

    number: int
    source: str
    points: tuple[tuple[Any, ...], ...]

    def load(self, source: str | None = None) -> Callable[..., Any]:
        """The function, its text findable by `inspect`."""
        text = self.source if source is None else source
        name = f"<random program {self.number}{'' if source is None else ' changed'}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        namespace: dict[str, Any] = {"np": np, "math": math, "suppress": suppress, "nullcontext": nullcontext}
        namespace["__name__"] = f"random_program_{self.number}"
        exec(compile(text, name, "exec"), namespace)
        return namespace["program"]


@dataclass
class Scope:
    """What a statement may read: names that are certainly bound, by what they hold."""

    floats: list[str]
    fixed: list[str] = field(default_factory=list)  # floats of the enclosing function, which are not bound here
    counters: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    pairs: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)  # of one float, defined in this function
    arrays: list[str] = field(default_factory=list)
    maybe: list[tuple[str, str]] = field(default_factory=list)  # (flag, name bound only if the flag is true)
    loops: int = 0
    catching: bool = False  # whatever is raised here is caught in the same function

    def copy(self) -> Scope:
        return Scope(*(value.copy() if isinstance(value, list) else value for value in vars(self).values()))

    def bind(self, name: str) -> str:
        if name not in self.floats:
            self.floats.append(name)
        return name


class Writer(ProgramWriter):
    """Writes one program; every choice is drawn from one generator of random numbers."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.helpers: list[str] = []  # of two floats
        self.recursive: list[str] = []  # of two floats and a depth
        self.with_arrays = number % 4 == 3

    # Expressions: every one is bounded by about 2 if its parts are

    def number(self) -> str:
        value = self.random.uniform(-1.5, 1.5)
        return f"{value:.2f}" if value >= 0 else f"({value:.2f})"

    def expression(self, scope: Scope, depth: int = 2) -> str:
        if depth == 0 or self.chance(0.15):
            return self.atom(scope)
        a, b = self.expression(scope, depth - 1), self.expression(scope, depth - 1)
        forms = [
            f"(0.6 * {a} + 0.4 * {b})",
            f"(0.5 * {a} - {b} / 2.0)",
            f"math.sin({a})",
            f"math.cos({a} + {b})",
            f"math.tanh({a} * {b})",
            f"(math.sin({a}) * {b})",
            f"({a} / (1.0 + {b} * {b}))",
            f"(-{a} * math.exp(-({b} ** 2)))",
            f"(math.sqrt(1.0 + {a} ** 2) * 0.5)",
            f"({a} if {self.condition(scope)} else {b})",
        ]
        rare = [
            f"max({a}, {b})",
            f"min({a}, {b}, {self.number()})",
            f"(0.7 * abs({a}))",
            f"({a} and {b})",
            f"(sum([{a}, {b}]) / 2)",
        ]
        if scope.counters:
            k = self.random.choice(scope.counters)
            rare += [f"({a} * ({k} % 3 - 1))", f"math.sin({a} + {k})", f"({a} * ({k} > 1))"]
        if self.helpers:
            rare += [f"{self.random.choice(self.helpers)}({a}, {b})"] * 2
            rare += [f"{self.random.choice(self.helpers)}(y={a}, x={b})"]
        if self.recursive:
            rare += [f"{self.random.choice(self.recursive)}({a}, {b}, {self.random.randint(0, 3)})"]
        if scope.functions:
            rare += [f"{self.random.choice(scope.functions)}({a})"] * 3
        return self.random.choice(rare if self.chance(0.35) else forms)

    def atom(self, scope: Scope) -> str:
        forms = [self.number()] + [self.random.choice(scope.floats + scope.fixed)] * 5
        if scope.pairs:
            forms += [f"{self.random.choice(scope.pairs)}[{self.random.randint(-2, 1)}]"] * 2
        if scope.lists:
            items = self.random.choice(scope.lists)
            index = f"{self.random.choice(scope.counters)} % 3" if scope.counters else str(self.random.randint(0, 2))
            forms += [f"{items}[{index}]"] * 2
        if scope.arrays:
            a, b = self.random.choice(scope.arrays), self.random.choice(scope.arrays)
            forms += [f"{a}[{self.random.randint(-3, 2)}]", f"math.tanh(np.sum({a} * {b}))", f"math.sin({a} @ {b})"]
        return self.random.choice(forms)

    def condition(self, scope: Scope, depth: int = 1) -> str:
        a, b = self.atom(scope), self.number()
        forms = [f"{a} > {b}", f"{a} < {self.atom(scope)}", f"math.sin({a}) <= {b}", f"{b} < {a} < {self.number()}"]
        if scope.counters:
            forms += [f"{self.random.choice(scope.counters)} % 2 == {self.random.randint(0, 1)}"] * 2
        forms += scope.flags[-2:]
        if depth and self.chance(0.3):
            left, right = self.condition(scope, 0), self.condition(scope, 0)
            return self.random.choice([f"({left} and {right})", f"({left} or {right})", f"(not ({left}))"])
        return self.random.choice(forms)

    def array(self, scope: Scope) -> str:
        a, b = self.random.choice(scope.arrays), self.random.choice(scope.arrays)
        x = self.expression(scope, 1)
        return self.random.choice(
            [
                f"np.tanh({a} * {b} + {x})",
                f"0.6 * {a} - 0.4 * {b}",
                f"np.sin(matrix @ {a})",
                f"{a} / (1.0 + {b} ** 2)",
                f"np.cos({a}) * {x}",
                f"np.tanh({a} @ matrix.T) * {b}",
                f"{a}[::-1] * 0.5 + {b}[[0, 0, 2]] * 0.5",
                f"np.concatenate([{a}[1:], {b}[:1]])",
                f"({a} if {self.condition(scope)} else {b})",
                f"np.where({a} > {self.number()}, {a}, 0.5 * {b})",
                f"np.array([{x}, {self.atom(scope)}, 0.3])",
                f"{a} - np.mean({b}, keepdims=True)",
            ]
        )

    # Statements

    def block(self, scope: Scope, size: int, depth: int) -> None:
        """Some statements; `scope` learns what they certainly bind."""
        for _ in range(size):
            self.statement(scope, depth)

    def statement(self, scope: Scope, depth: int) -> None:
        simple = [self.assign] * 5 + [self.augmented, self.swap, self.rotate, self.pair, self.unpack, self.build_list]
        simple += [self.unused, self.read_maybe, self.alias] + ([self.trouble] * 4 if scope.catching else [])
        if scope.arrays:
            simple += [self.assign_array] * 4
        compound = [self.branch] * 4 + [self.for_range, self.for_list, self.while_loop] * 2 + [self.bind_maybe]
        compound += [self.attempt] * 3 + [self.with_statement]
        compound += [self.early_return] + ([self.leave_loop] * 3 if scope.loops else [self.closure] * 2)
        self.random.choice(compound if depth > 0 and self.chance(0.45) else simple)(scope, depth)

    def target(self, scope: Scope) -> str:
        return self.fresh("v") if self.chance(0.3) else self.random.choice(scope.floats)

    def assign(self, scope: Scope, depth: int) -> None:
        value = self.expression(scope)
        self.write(f"{scope.bind(self.target(scope))} = {value}")

    def alias(self, scope: Scope, depth: int) -> None:
        value = self.random.choice(scope.floats)
        self.write(f"{scope.bind(self.target(scope))} = {value}")

    def augmented(self, scope: Scope, depth: int) -> None:
        name, value = self.random.choice(scope.floats), self.expression(scope, 1)
        self.write(self.random.choice([f"{name} *= math.cos({value})", f"{name} -= {name} * 0.3", f"{name} /= 1.1"]))

    def unused(self, scope: Scope, depth: int) -> None:
        self.write(self.random.choice([self.expression(scope), f"unused = {self.expression(scope)}", "pass"]))

    def swap(self, scope: Scope, depth: int) -> None:
        a, b = self.random.choice(scope.floats), self.random.choice(scope.floats)
        self.write(f"{a}, {b} = {b}, {self.random.choice([a, self.expression(scope, 1)])}")

    def rotate(self, scope: Scope, depth: int) -> None:
        a, b, c = (self.random.choice(scope.floats) for _ in range(3))
        self.write(f"{a}, {b}, {c} = {b}, {c}, {a}")

    def pair(self, scope: Scope, depth: int) -> None:
        name = self.fresh("p")
        self.write(f"{name} = ({self.expression(scope, 1)}, {self.expression(scope, 1)})")
        scope.pairs.append(name)

    def unpack(self, scope: Scope, depth: int) -> None:
        source = self.random.choice(scope.pairs) if scope.pairs else f"({self.atom(scope)}, {self.expression(scope)})"
        a, b = self.target(scope), self.fresh("v")
        self.write(f"{a}, {b} = {source}")
        scope.bind(a), scope.bind(b)

    def build_list(self, scope: Scope, depth: int) -> None:
        name, k = self.fresh("l"), self.fresh("k")
        inner = scope.copy()
        if self.chance(0.5):
            inner.counters.append(k)
            self.write(f"{name} = [{self.expression(inner, 1)} for {k} in range(3)]")
        else:
            inner.floats.append(k)
            values = ", ".join(self.atom(scope) for _ in range(3))
            source = self.random.choice(scope.lists) if scope.lists else f"[{values}]"
            self.write(f"{name} = [{self.expression(inner, 1)} for {k} in {source}]")
        scope.lists.append(name)

    def assign_array(self, scope: Scope, depth: int) -> None:
        value = self.array(scope)
        name = self.fresh("a") if self.chance(0.3) else self.random.choice(scope.arrays)
        self.write(f"{name} = {value}")
        if name not in scope.arrays:
            scope.arrays.append(name)

    def bind_maybe(self, scope: Scope, depth: int) -> None:
        """A name bound in one branch only, and a flag that says whether it is."""
        flag, name = self.fresh("b"), self.fresh("m")
        self.write(f"{flag} = {self.condition(scope)}")
        with self.indented(f"if {flag}:"):
            self.write(f"{name} = {self.expression(scope)}")
        scope.flags.append(flag)
        scope.maybe.append((flag, name))

    def read_maybe(self, scope: Scope, depth: int) -> None:
        if not scope.maybe:
            return self.assign(scope, depth)
        flag, name = self.random.choice(scope.maybe)
        with self.indented(f"if {flag}:"):
            self.write(f"{self.random.choice(scope.floats)} = math.sin({name}) * {self.atom(scope)}")

    def branch(self, scope: Scope, depth: int) -> None:
        arms = self.random.choice([["if"], ["if", "else"], ["if", "else"], ["if", "elif", "else"]])
        ends = []
        for arm in arms:
            inner = scope.copy()
            with self.indented("else:" if arm == "else" else f"{arm} {self.condition(scope)}:"):
                self.block(inner, self.random.randint(1, 3), depth - 1)
            ends.append(inner)
        if arms[-1] == "else":  # bound in every arm
            for name in ends[0].floats:
                if all(name in end.floats for end in ends):
                    scope.bind(name)

    def loop_body(self, head: str, scope: Scope, depth: int, bump: str = "", **bound: list[str]) -> None:
        inner = scope.copy()
        inner.loops += 1
        for kind, names in bound.items():
            getattr(inner, kind).extend(names)
        with self.indented(head):
            if bump:
                self.write(bump)
            self.block(inner, self.random.randint(1, 4), depth - 1)
        if self.chance(0.25):
            with self.indented("else:"):
                self.block(scope.copy(), self.random.randint(1, 2), depth - 1)

    def for_range(self, scope: Scope, depth: int) -> None:
        i = self.fresh("i")
        bounds = self.random.choice(["0", "1", "2", "3", "4", "1, 4", "3, 0, -1"])
        items = self.random.choice([f"range({bounds})"] * 3 + [f"reversed(range({bounds}))"])
        self.loop_body(f"for {i} in {items}:", scope, depth, counters=[i])

    def for_list(self, scope: Scope, depth: int) -> None:
        i, v, w = self.fresh("i"), self.fresh("e"), self.fresh("e")
        items = [
            self.random.choice(scope.lists) if scope.lists and self.chance(0.7) else self.literal(scope) for _ in "ab"
        ]
        if scope.arrays:
            items += [self.random.choice(scope.arrays)]
        self.random.shuffle(items)
        match self.random.randint(0, 3):
            case 0:
                self.loop_body(f"for {v} in {items[0]}:", scope, depth, floats=[v])
            case 1:
                self.loop_body(f"for {i}, {v} in enumerate({items[0]}):", scope, depth, floats=[v], counters=[i])
            case 2:
                self.loop_body(f"for {v}, {w} in zip({items[0]}, {items[1]}):", scope, depth, floats=[v, w])
            case 3:
                self.loop_body(f"for {v} in reversed({items[0]}):", scope, depth, floats=[v])

    def literal(self, scope: Scope) -> str:
        items = [self.expression(scope, 1) for _ in range(self.random.randint(1, 3))]
        return f"[{', '.join(items)}]" if self.chance(0.6) else f"({', '.join(items)},)"

    def while_loop(self, scope: Scope, depth: int) -> None:
        n = self.fresh("n")
        self.write(f"{n} = 0")
        condition = f"{n} < {self.random.randint(0, 4)}"
        if self.chance(0.5):
            condition += f" and {self.condition(scope)}"
        self.loop_body(f"while {condition}:", scope, depth, bump=f"{n} += 1", counters=[n])
        scope.counters.append(n)

    def leave_loop(self, scope: Scope, depth: int) -> None:
        with self.indented(f"if {self.condition(scope)}:"):
            self.block(scope.copy(), self.random.randint(0, 2), 0)
            self.write(self.random.choice(["break", "continue"]))

    def early_return(self, scope: Scope, depth: int) -> None:
        with self.indented(f"if {self.condition(scope)}:"):
            self.block(scope.copy(), self.random.randint(0, 1), 0)
            self.write(f"return {self.expression(scope)}")

    # Exceptions. Raising statements stand only where something in the same function catches what they raise.

    def trouble(self, scope: Scope, depth: int) -> None:
        """A statement that raises at some points."""
        name, value = self.random.choice(scope.floats), self.expression(scope, 1)
        error = self.random.choice(["ValueError('low')", "KeyError", "ZeroDivisionError()"])
        forms = [
            f"{name} = 0.7 * {name} + math.sqrt(0.4 - {value}) * 0.3",
            f"{name} = checked({value}, {self.number()}) + 0.1 * {name}",
            f"{name}, unused = checked({name}, {self.number()}) * 0.5, checked({value}, {self.number()})",
            f"{name} = math.sin({name}) + (0.2 if {self.condition(scope)} else {{}}['none'])",
        ]
        if self.chance(0.5):
            return self.write(self.random.choice(forms))
        with self.indented(f"if {self.condition(scope)}:"):
            self.write(f"raise {error}{self.random.choice(['', '', ' from None', ' from OSError(1)'])}")

    def attempt(self, scope: Scope, depth: int) -> None:
        """`try`, with handlers, `else` and `finally` as they come. What it binds is not known to be bound after it."""
        clauses = self.random.choice(
            [
                ["except ValueError:", "except (KeyError, ZeroDivisionError) as error:"],
                ["except Exception:"],
                ["except Exception as error:"],
                ["except:"],
                ["except ValueError:", "except LookupError:", "except ArithmeticError:"],
                ["except KeyError:"],
                [],
            ]
        )
        complete = len(clauses) > 1 or clauses[:1] in (["except Exception:"], ["except Exception as error:"], ["except:"])
        body = scope.copy()
        body.catching |= complete
        with self.indented("try:"):
            self.block(body, self.random.randint(1, 4), depth - 1)
            if body.catching:
                self.trouble(body, 0)
                self.block(body, self.random.randint(0, 2), depth - 1)
        for clause in clauses:
            with self.indented(clause):
                self.handler(scope.copy())
        if clauses and self.chance(0.3):
            body.catching = scope.catching
            with self.indented("else:"):
                self.block(body, self.random.randint(1, 2), depth - 1)
        if not clauses or self.chance(0.3):
            with self.indented("finally:"):
                self.block(scope.copy(), self.random.randint(1, 2), depth - 1)

    def handler(self, scope: Scope) -> None:
        self.block(scope, self.random.randint(0, 2), 0)
        last = ["pass", f"return {self.expression(scope)}"] + ["raise", "raise ValueError"] * scope.catching
        last += ["break", "continue"] * (scope.loops > 0)
        name = self.random.choice(scope.floats)
        self.write(self.random.choice([*last, *[f"{name} = {self.expression(scope)}"] * 5]))

    def with_statement(self, scope: Scope, depth: int) -> None:
        inner = scope.copy()
        managers = ["suppress(Exception)", "suppress(ValueError, LookupError, ArithmeticError)", "nullcontext(0.5) as w"]
        manager = self.random.choice(managers)
        inner.catching |= manager.startswith("suppress")
        if manager.endswith("w"):
            inner.floats.append("w")
            manager += self.random.choice(["", ", nullcontext(0.25) as w"])
        with self.indented(f"with {manager}:"):
            self.block(inner, self.random.randint(1, 3), depth - 1)
            if inner.catching and self.chance(0.7):
                self.trouble(inner, 0)
                self.block(inner, self.random.randint(0, 2), depth - 1)

    def closure(self, scope: Scope, depth: int) -> None:
        """An inner function over a local that is not bound again."""
        name, captured, t = self.fresh("f"), self.fresh("c"), self.fresh("t")
        self.write(f"{captured} = {self.expression(scope, 1)}")
        inner = Scope(floats=[t], fixed=[captured], functions=scope.functions.copy())
        if self.chance(0.4):
            self.write(f"{name} = lambda {t}: {self.expression(inner)}")
        else:
            with self.indented(f"def {name}({t}):"):
                self.block(inner, self.random.randint(0, 2), min(depth, 1))
                self.write(f"return {self.expression(inner)}")
        scope.functions.append(name)

    # Functions

    def helper(self) -> None:
        name = self.fresh("helper")
        with self.indented(f"def {name}(x, y=0.5):"):
            scope = Scope(floats=["x", "y"])
            self.block(scope, self.random.randint(1, 3), 1)
            self.write(f"return {self.expression(scope)}")
        self.write("")
        self.helpers.append(name)

    def raising_helper(self) -> None:
        with self.indented("def checked(x, limit):"):
            with self.indented("if x < limit:"):
                self.write("raise ValueError('below the limit')")
            self.write("return math.sin(x) + 0.1 * limit")
        self.write("")

    def recursion(self) -> None:
        name = self.fresh("recursive")
        with self.indented(f"def {name}(x, y, depth):"):
            scope = Scope(floats=["x", "y"], counters=["depth"])
            with self.indented("if depth <= 0:"):
                self.write(f"return {self.expression(scope)}")
            self.block(scope, self.random.randint(1, 2), 1)
            again = f"{name}({self.atom(scope)}, {self.expression(scope, 1)}, depth - 1)"
            self.write(f"return 0.5 * {again} + {self.expression(scope, 1)}")
        self.write("")
        self.recursive.append(name)

    def entry(self, most: int, depth: int) -> None:
        parameters = ["x", "y", "z"]
        scope = Scope(floats=parameters.copy())
        if self.with_arrays:
            parameters += ["a", "matrix"]
            scope.arrays.append("a")
        with self.indented(f"def program({', '.join(parameters)}):"):
            self.block(scope, self.random.randint(3, most), depth)
            total = " + ".join(f"{i + 1} * {name}" for i, name in enumerate(scope.floats[-6:]))
            if scope.arrays:
                total += f" + np.sum({scope.arrays[-1]} * {scope.arrays[0]})"
            self.write(f"return {total}")


def random_program(number: int, *, is_short: bool = False) -> RandomProgram:
    """The program of that number. One that `is_short` has about a third of the statements: those of the entry are not more than
    four, and nested less."""
    writer = Writer(number)
    writer.raising_helper()
    if writer.chance(0.5):
        writer.helper()
    if writer.chance(0.25):
        writer.recursion()
    if writer.chance(0.2):
        writer.helper()
    writer.entry(*((4, 2) if is_short else (7, 3)))
    return RandomProgram(number, "\n".join(writer.lines) + "\n", tuple(points(writer)))


def points(writer: Writer) -> list[tuple[Any, ...]]:
    """Two points at which to differentiate the program."""
    result = []
    for _ in range(2):
        point: list[Any] = [writer.random.uniform(-1.5, 1.5) for _ in range(3)]
        if writer.with_arrays:
            point.append(np.array([writer.random.uniform(-1.0, 1.0) for _ in range(3)]))
            point.append(np.array([[writer.random.uniform(-0.5, 0.5) for _ in range(3)] for _ in range(3)]))
        result.append(tuple(point))
    return result
