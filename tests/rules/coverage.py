"""What has rules: counts for docs/coverage.md, taken from the registry by applying each rule to one of its examples.

`python -m tests.rules.coverage` writes the page; tests/rules/test_coverage.py fails if it is out of date. A function counts
as differentiated backwards if its rule gives a cotangent that is not zero, and forwards if the tangent of its value is the
transpose of that: <y_bar, y_dot> = <x_bar, x_dot>. What has no rule of its own (writers, and functions that call what they
are given) is run as a program, and counts if its gradient is that of finite differences.
"""

from __future__ import annotations

import cmath
import math
import operator
import platform
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MethodType
from typing import Any, NamedTuple

import numpy as np
import scipy
import scipy.special
import scipy.stats

from microgradpy import DifferentiationError
from microgradpy.rules.classified import WITHOUT_RULE
from microgradpy.rules.registry import Example, frule, is_non_differentiable, rrule
from microgradpy.rules.scipy import MODULES
from microgradpy.tangents.pairing import pairing
from microgradpy.tangents.thunks import computed
from microgradpy.tangents.types import NoTangent, NotImplementedTangent
from microgradpy.testing.comparison import copied
from microgradpy.testing.degrees import EVERY, Outline
from tests.examples import EXAMPLES
from tests.rules.coverage_lists import GROUPS, SCIPY, Group
from tests.rules.coverage_programs import PROGRAMS

COMMAND = "python -m tests.rules.coverage"
PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"


class Modes(NamedTuple):
    """Whether a function is differentiated backwards and forwards."""

    backward: bool = False
    forward: bool = False


@dataclass(frozen=True)
class Row:
    """One line of a table: how many functions there are, and which of them are differentiated."""

    title: str
    modes: dict[str, Modes]
    peer: tuple[int, int] = (0, 0)

    def counts(self) -> tuple[int, ...]:
        backward, forward = (sum(modes[k] for modes in self.modes.values()) for k in range(2))
        return len(self.modes), *self.peer, backward, forward


_examples: dict[Any, list[Example]] = {}


def examples_of(f: Any) -> list[Example]:
    """The examples of a function, the smallest first."""
    if not _examples:
        for example in EXAMPLES:
            _examples.setdefault(example.f, []).append(example)
        for found in _examples.values():
            found.sort(key=lambda example: sum(np.size(x) for x in example.args if isinstance(x, np.ndarray)))
    return _examples.get(f, [])


def modes_of(f: Any) -> Modes:
    """By the first example with a cotangent that is not zero; forwards by the first whose tangent is the transpose of it."""
    best = Modes()
    for example in examples_of(f):
        best = max(best, modes_in(example))
        if best.forward:
            break
    return best


def modes_in(example: Example) -> Modes:
    """What the rules do in one call."""
    outcome = rrule(example.f, *copied(example.args), **copied(example.kwargs))
    if outcome is None:
        return Modes()
    y, pullback = outcome
    value = Outline(y, "y", EVERY, shared=False)
    draw = np.random.default_rng(0)
    seed = draw.uniform(0.5, 1.5, value.size)
    if not value.size:
        return Modes()
    outlines = [Outline(x, "x") for x in example.args]
    y_bar = solved_part(example, y, value.cotangent(seed))
    bars = [_known(bar) for bar in pullback(y_bar)[1:]]
    vectors = [outline.along(bar) for outline, bar in zip(outlines, bars, strict=True)]
    if not any(np.any(vector) for vector in vectors):
        return Modes()
    dots = [
        NoTangent() if bar is None or not outline.size else outline.cotangent(draw.uniform(0.5, 1.5, outline.size))
        for outline, bar in zip(outlines, bars, strict=True)
    ]
    reverse = sum(float(vector @ outline.along(dot)) for vector, outline, dot in zip(vectors, outlines, dots, strict=True))
    return Modes(True, _has_transpose(example, dots, y_bar, reverse))


def solved_part(example: Example, y: Any, y_bar: Any) -> Any:
    """Of the results of SciPy's solvers, some fields have a derivative."""
    if not str(example).startswith("scipy."):
        return y_bar
    if example.f.__name__ == "quad":
        return (y_bar[0], *[None] * (len(y) - 1))
    if isinstance(y, dict):
        return {name: y_bar[name] for name in ("x", "root", "y", "fun", "cost") if name in y}
    return y_bar


def _known(bar: Any) -> Any:
    """A cotangent, or None for one that is not implemented."""
    return None if isinstance(bar, NotImplementedTangent) else computed(bar)


def _has_transpose(example: Example, dots: list[Any], y_bar: Any, reverse: float) -> bool:
    """Whether the tangent of the value for these tangents has the same product with the seed."""
    try:
        outcome = frule(example.f, *copied(example.args), **copied(example.kwargs))
        if outcome is None:
            return False
        y_dot = outcome[1](NoTangent(), *dots)
    except DifferentiationError:
        return False
    if isinstance(y_dot, NotImplementedTangent):
        return False
    return bool(np.isclose(pairing(y_bar, y_dot), reverse, rtol=1e-5, atol=1e-7))


def modes_of_name(name: str) -> Modes:
    """Of a function of NumPy, by its rule or its program."""
    program = PROGRAMS.get(name)
    return Modes(program.is_right_backwards(), program.is_right_forwards()) if program else modes_of(attribute(np, name))


def attribute(place: Any, name: str) -> Any:
    """What a name with dots means in a module."""
    for part in name.split("."):
        place = getattr(place, part)
    return place


def row_of_group(group: Group) -> Row:
    names = [name.removesuffix("°") for name in (*group.has, *group.lacks)]
    one_mode = sum(name.endswith("°") for name in group.has)
    return Row(group.title, {name: modes_of_name(name) for name in names}, (len(group.has), len(group.has) - one_mode))


def numpy_rows() -> list[Row]:
    return [row_of_group(group) for group in GROUPS]


def callables_of(place: Any) -> Iterator[tuple[str, Any]]:
    """The public functions of a module or methods of a class, without what a module has imported."""
    for name in dir(place):
        value = getattr(place, name)
        own = getattr(value, "__module__", None) in (None, place.__name__, "_" + place.__name__)
        if callable(value) and own and not isinstance(value, type) and not name.startswith("_"):
            yield name, value


def is_inert(f: Any) -> bool:
    """Whether the results of a function have no derivative, as is declared or as its rule says."""
    return is_non_differentiable(f) or bool(examples_of(f))


NAMESPACES: tuple[tuple[str, Any, str], ...] = (
    ("methods of `numpy.ndarray`", np.ndarray, "ndarray."),
    ("`math`", math, "math."),
    ("`cmath`", cmath, "cmath."),
    ("`operator`", operator, "operator."),
    ("`statistics`", statistics, "statistics."),
)


@dataclass(frozen=True)
class Census:
    """All public callables of a module: with derivatives, without any, and refused."""

    title: str
    row: Row
    inert: tuple[str, ...]
    rest: tuple[str, ...]


def census(title: str, place: Any, prefix: str) -> Census:
    modes, inert, rest = {}, [], []
    for name, f in callables_of(place):
        program = PROGRAMS.get(prefix + name)
        found = Modes(program.is_right_backwards(), program.is_right_forwards()) if program else modes_of(f)
        if found.backward:
            modes[name] = found
        else:
            (inert if is_inert(f) else rest).append(name)
    return Census(title, Row(title, modes), tuple(inert), tuple(rest))


def family_of(module: str) -> str:
    """The module of SciPy that a module of rules is about: several share the rules of one."""
    return next((name for name in sorted(MODULES, key=len, reverse=True) if module.startswith(name.replace(".", "_"))), module)


def scipy_functions() -> dict[str, dict[str, Modes]]:
    """The functions of SciPy with examples, by module."""
    modules: dict[str, dict[str, Modes]] = {}
    for f in list(_examples or (examples_of(None), _examples)[1]):
        families = {family_of(rule.__module__.partition(".rules.scipy.")[2]) for rule in rrule.rules_of(f)} - {""}
        for family in families:
            owner = type(f.__self__).__name__.removesuffix("_gen") + "." if isinstance(f, MethodType) else ""
            modules.setdefault(family, {})[owner + f.__name__] = modes_of(f)
    return modules


def table(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> list[str]:
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    return [*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)]


def wrapped(names: tuple[str, ...]) -> str:
    return " ".join(f"`{name}`" for name in names)


def missing(rows: list[Row], mode: int) -> Iterator[str]:
    """The functions without one of the modes, each with its reason."""
    for row in rows:
        for name, modes in row.modes.items():
            if not modes[mode]:
                reason = WITHOUT_RULE.get(name, "no example has a derivative")
                yield f"- `np.{name}`: {reason}."


HEADER = ("group", "functions", "autograd backward", "autograd forward", "microgradpy backward", "microgradpy forward")


def numpy_section() -> list[str]:
    rows = numpy_rows()
    counts = [row.counts() for row in rows]
    total = tuple(map(sum, zip(*counts, strict=True)))
    body = [(row.title, *count) for row, count in zip(rows, counts, strict=True)]
    without = [*missing(rows, 0)]
    forward_only = [line for line in missing(rows, 1) if line not in without]
    return [
        "## NumPy",
        "",
        *table(HEADER, [*body, ("**all**", *total)]),
        "",
        "Without a derivative backwards:" if without else "None is without a derivative backwards.",
        "",
        *without,
        *(["", "Backwards only:", "", *forward_only] if forward_only else []),
    ]


def census_section() -> list[str]:
    found = [census(*entry) for entry in NAMESPACES]
    rows = [
        (c.title, len(c.row.modes) + len(c.inert) + len(c.rest), *c.row.counts()[3:], len(c.inert), len(c.rest)) for c in found
    ]
    header = ("of", "functions", "backward", "forward", "results without derivative", "not differentiated")
    lines = ["", "## Methods of arrays and the standard library", "", *table(header, rows), ""]
    others = [f"- Not differentiated, {c.title}: {wrapped(c.rest)}." for c in found if c.rest]
    return [*lines, *others]


def scipy_section() -> list[str]:
    found = scipy_functions()
    rows = []
    for module in sorted({*SCIPY, *found}):
        functions, has = found.get(module, {}), SCIPY.get(module, ())
        ours = Row(module, functions).counts()
        rows.append((f"`scipy.{module}`", len(has), sum(not name.endswith("°") for name in has), *ours[3:]))
    header = ("module", *HEADER[2:])
    lacking = [
        f"- `scipy.{module}.{name}`: no example has a derivative forwards that is the transpose."
        for module, functions in sorted(found.items())
        for name, modes in functions.items()
        if not modes.forward
    ]
    return ["", "## SciPy", "", *table(header, rows), "", *lacking]


def versions() -> str:
    """What the counts depend on: other versions have other functions."""
    numbers = (".".join(version.split(".")[:2]) for version in (platform.python_version(), np.__version__, scipy.__version__))
    return "Python {}, NumPy {} and SciPy {}".format(*numbers)


INTRODUCTION = """\
# Coverage

Written by `python -m tests.rules.coverage` for {versions}, from the rules themselves: each is
applied to one of its examples. *Backward* counts the functions whose pullback gives a cotangent that is not zero, *forward*
those whose tangent `y_dot` has `<y_bar, y_dot> = <x_bar, x_dot>`, be it by a rule of its own, because the function is linear,
or derived from the pullback. Functions that write, and those that call what they are given, have no rule: they count if the
gradient of a program with them is that of finite differences. The examples of every rule are held against finite differences
by the tests.

The lists of NumPy's functions that can be differentiated, and of what autograd 1.9.1 has of them, are data in
`tests/rules/coverage_lists.py`.
"""


def page() -> str:
    lines = [INTRODUCTION.format(versions=versions()), *numpy_section(), *census_section(), *scipy_section()]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
