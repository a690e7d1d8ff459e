"""`check_gradient`: the gradient of a function of the user's beside its difference quotients, in a table."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO, final

import numpy as np

from microgradpy.api import gradient, pullback
from microgradpy.argnums import Argnums, numbered
from microgradpy.errors import DifferentiationError
from microgradpy.gradient_functions import is_real_scalar
from microgradpy.introspect import reasons_of
from microgradpy.testing.comparison import copied, difference, name_of, random_seed, rtol_for
from microgradpy.testing.degrees import EVERY, Outline, Part, Vector, index_text
from microgradpy.testing.differences import DEFAULT_FDM, Moved, careful_columns, column
from microgradpy.testing.in_place import InPlace, unchanged
from microgradpy.testing.stencils import backward_fdm, forward_fdm

_ALL_COMPONENTS = 24  # of an array that are compared one by one; of a larger one some, and directions
_LONGEST_TABLE = 20
_NOISE = 1e-8  # relative errors below this are those of the differences
_VERDICTS = ("WRONG", "kink", "undefined", "agrees")  # in the order of the table


@final
@dataclass(frozen=True)
class GradientRow:
    """One number or array among the arguments, and the component of it where gradient and difference quotient differ most."""

    argument: str
    shape: tuple[int, ...]
    place: str
    gradient: float
    quotient: float
    error: float
    verdict: str

    def rank(self) -> tuple[int, float]:
        """The smaller, the worse; the noise of difference quotients makes nothing worse."""
        return _VERDICTS.index(self.verdict), -self.error if self.error > _NOISE else 0.0

    def cells(self) -> tuple[str, ...]:
        """The row as text."""
        error = f"{self.error:.1e}" if self.error > _NOISE else f"< {_NOISE:.0e}"
        numbers = (f"{self.gradient:.7g}", f"{self.quotient:.7g}", error)
        return (self.argument, str(self.shape), self.place, *numbers, self.verdict)


@final
@dataclass(frozen=True)
class GradientReport:
    """What `check_gradient` found. `ok` (and `bool(report)`) is whether no component is wrong; `rows` has one row per number or
    array among the arguments, the worst first; `str(report)` is the table."""

    name: str
    rows: tuple[GradientRow, ...]
    notes: tuple[str, ...] = ()
    is_determined: bool = True
    reasons: tuple[str, ...] = ()
    """What costs more than it might, line by line, and why."""

    @property
    def ok(self) -> bool:
        return self.is_determined and all(row.verdict != "WRONG" for row in self.rows)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        header = ("argument", "shape", "worst at", "gradient", "difference", "rel. error", "verdict")
        table = [header, *(row.cells() for row in self.rows[:_LONGEST_TABLE])]
        widths = [max(map(len, entries)) for entries in zip(*table, strict=True)]
        lines = ["  ".join(map(str.ljust, entries, widths)).rstrip() for entries in table]
        left_out = len(self.rows) - _LONGEST_TABLE
        more = [f"and {left_out} more, in which the errors are smaller"] if left_out > 0 else []
        slow = ["What costs more than it might:", *(f"  {reason}" for reason in self.reasons)] if self.reasons else []
        return "\n".join([self._summary(), *self.notes, *(lines if self.rows else []), *more, *slow])

    def _summary(self) -> str:
        wrong = sum(row.verdict == "WRONG" for row in self.rows)
        if wrong:
            return f"The gradient of {self.name} is WRONG in {wrong} of {len(self.rows)} arguments or parts of them."
        if not self.is_determined:
            return f"The gradient of {self.name} cannot be checked."
        if not self.rows:
            return f"There is nothing to differentiate {self.name} by."
        return f"The gradient of {self.name} agrees with finite differences."


def check_gradient(
    f: Callable[..., Any],
    /,
    *args: Any,
    argnums: Argnums | None = None,
    directions: int = 3,
    seed: int = 0,
    rtol: float | None = None,
    file: TextIO | None = None,
) -> GradientReport:
    """Compare the gradient of `f` at `args` with finite differences, print a table (to `file`, or the standard output), and
    return a report that is true if nothing is wrong. One row per number or array in the arguments, the worst first, with the
    component that differs most. All components are compared one by one; of large arrays some, and `directions` at random.

    If `f` does not return one real number, what is compared is its pullback of two random seeds. Where the differences to the
    left and to the right are not the same there is a `kink`, where there are none the derivative is `undefined`; both are no
    error, if the gradient at a kink is between the two. `rtol` is the relative error that is accepted: 1e-6, or 2e-3 in single
    precision. `argnums` are the arguments to be compared, if not all. Below the table are the lines that make the gradient
    cost more than it might, and why.

    Compared are places: a copy of the number or array that is at one of them is moved, with all else as it is, so that `f` sees
    what its arguments share with each other and with other variables. An object, list or dict that stands at several places is
    moved itself, and compared with the sum of its gradients. The arguments stay as they are, whatever `f` does."""
    report = _report(f, args, argnums, directions, seed, rtol)
    print(report, file=file or sys.stdout)
    return report


def _report(
    f: Any, args: tuple[Any, ...], argnums: Argnums | None, directions: int, seed: int, rtol: float | None
) -> GradientReport:
    call = InPlace(f, args, Outline(args, ""))
    y, again = call(call.start), call(call.start)
    if difference(again, y, "the value") is not None:
        note = "It does not return the same when it is called again: give it random numbers that are fixed."
        return GradientReport(name_of(f), (), (note,), is_determined=False)
    seeds, notes = _seeds(y, seed)
    bars = _gradients(f, args, seeds)
    tolerance = max(1e-6, rtol_for(y, args)) if rtol is None else rtol
    numbers = range(len(args)) if argnums is None else sorted(_numbers(numbered(f, argnums), len(args)))
    compared = _Compared(f, args, bars, y, [vector for _, vector in seeds], tolerance)
    rows = [row for k in numbers for row in compared.rows(k, directions, np.random.default_rng(seed))]
    rows.sort(key=GradientRow.rank)
    return GradientReport(name_of(f), tuple(rows), notes, reasons=_reasons(f, args))


def _reasons(f: Any, args: tuple[Any, ...]) -> tuple[str, ...]:
    """What costs more than it might; nothing is known of what has no text."""
    try:
        return reasons_of(f, args)
    except DifferentiationError:
        return ()


def _seeds(y: Any, seed: int) -> tuple[list[tuple[Any, Vector]], tuple[str, ...]]:
    if is_real_scalar(y):
        return [(None, np.ones(1))], ()
    drawn = [random_seed(y, 2 * seed + number) for number in range(2)]
    return drawn, ("Its value is not one real number: its pullback of two random seeds is compared.",)


def _gradients(f: Any, args: tuple[Any, ...], seeds: list[tuple[Any, Vector]]) -> list[tuple[Any, ...]]:
    with unchanged(args):
        given = [copied(x) if isinstance(x, Iterator) else x for x in args]
        if seeds[0][0] is None:
            return [gradient(f, *given)]
        _, back = pullback(f, *given)
        return [back(y_bar)[1:] for y_bar, _ in seeds]


def _numbers(argnums: int | tuple[int, ...], count: int) -> set[int]:
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    if not all(-count <= number < count for number in numbers):
        raise TypeError(f"argnums is {argnums}, and the call has {count} positional arguments")
    return {number % count for number in numbers}


def _names(f: Any, args: tuple[Any, ...]) -> list[str]:
    """What the parameters are called that take the arguments."""
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):  # some functions in C have none
        parameters = []
    names: list[str] = []
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}[{k}]" for k in range(len(args) - len(names))]
        elif parameter.kind is not parameter.KEYWORD_ONLY:
            names.append(parameter.name)
    return names[: len(args)] if len(names) >= len(args) else [f"args[{k}]" for k in range(len(args))]


@final
class _Compared:
    """The arguments, their gradients for some seeds, and the differences to compare them with."""

    def __init__(
        self, f: Any, args: tuple[Any, ...], bars: Sequence[Any], y: Any, seeds: Sequence[Vector], rtol: float
    ) -> None:
        self.outline = Outline(args, "", bars[0], arrays_apart=True, names=_names(f, args))
        self.outputs = Outline(y, "y", EVERY, shared=False)
        self.bars = np.array([self.outline.along(bar) for bar in bars])
        self.seeds = np.array(seeds)
        self.rtol = rtol
        self.moved = Moved(InPlace(f, args, self.outline), self.outline, self.outputs)
        self.met: set[int] = set()

    def rows(self, k: int, directions: int, draw: np.random.Generator) -> Iterator[GradientRow]:
        """The worst of what is compared, for each number or array in an argument that no other has."""
        leaves = [leaf for leaf in self.outline.leaves_in([k]) if leaf.start not in self.met]
        self.met.update(leaf.start for leaf in leaves)
        for leaf in leaves:
            found = [self._at(leaf, index) for index in self._components(leaf, draw)]
            if leaf.size > _ALL_COMPONENTS:
                along = [self._along(leaf, draw) for _ in range(directions)]
                if any(row.verdict == "WRONG" for row in along) and all(row.verdict != "WRONG" for row in found):
                    found += [self._at(leaf, index) for index in draw.permutation(leaf.size)[:400] + leaf.start]
                found += along
            yield min(found, key=lambda row: (*row.rank(), -abs(row.gradient)))

    def _components(self, leaf: Part, draw: np.random.Generator) -> Sequence[int]:
        if leaf.size <= _ALL_COMPONENTS:
            return range(leaf.start, leaf.start + leaf.size)
        sizes = np.max(np.abs(self.bars[:, leaf.start : leaf.start + leaf.size]), axis=0)
        largest = np.argsort(sizes)[-_ALL_COMPONENTS // 2 :]
        others = draw.permutation(leaf.size)[: _ALL_COMPONENTS // 2]
        return sorted({int(index) + leaf.start for index in (*largest, *others)})

    def _at(self, leaf: Part, index: int) -> GradientRow:
        direction = np.zeros(self.outline.size)
        direction[index] = 1.0
        return self._row(leaf, direction, index_text(leaf, index), abs(self.moved.start[index]))

    def _along(self, leaf: Part, draw: np.random.Generator) -> GradientRow:
        direction = np.zeros(self.outline.size)
        direction[leaf.start : leaf.start + leaf.size] = draw.standard_normal(leaf.size) / np.sqrt(leaf.size)
        return self._row(leaf, direction, "a direction", 1.0)

    def _row(self, leaf: Part, direction: Vector, place: str, scale: float) -> GradientRow:
        found = self.bars @ direction
        with np.errstate(all="ignore"):
            quotients = self.seeds @ column(self.moved, direction, DEFAULT_FDM)
        allowed = 0.0
        if not self._agree(found, quotients, 0.0):
            quotients, allowed = self._careful(direction, scale, quotients)
        with np.errstate(all="ignore"):
            errors = np.abs(found - quotients) / np.maximum(np.maximum(np.abs(found), np.abs(quotients)), sys.float_info.min)
        worst = int(np.argmax(np.where(np.isnan(errors), np.inf, errors)))
        verdict = "agrees" if self._agree(found, quotients, allowed) else self._why_different(direction, found)
        shape = np.shape(leaf.value)
        numbers = float(found[worst]), float(quotients[worst]), float(errors[worst])
        return GradientRow(leaf.path, shape, place, *numbers, verdict)

    def _careful(self, direction: Vector, scale: float, otherwise: Vector) -> tuple[Vector, float]:
        """The quotients with the best step, and how exact they are."""
        weight = float(np.max(np.sum(np.abs(self.seeds), axis=1)))
        best = otherwise, np.inf
        for values, accuracy in careful_columns(self.moved, direction, scale, DEFAULT_FDM):
            if accuracy * weight < best[1] and np.all(np.isfinite(values)):
                best = self.seeds @ values, accuracy * weight
        return best[0], best[1] if np.isfinite(best[1]) else 0.0

    def _agree(self, found: Vector, quotients: Vector, allowed: float) -> bool:
        # Next to the largest component of the gradient, small ones are as inexact as its rounding.
        floor = 1e-3 * self.rtol * float(np.max(np.abs(self.bars), initial=0.0))
        with np.errstate(all="ignore"):
            return bool(np.all(np.abs(found - quotients) <= self.rtol * np.abs(quotients) + floor + allowed))

    def _why_different(self, direction: Vector, found: Vector) -> str:
        """Whether it is because the function has a kink here, or no derivative to one side."""
        sides = [self._sides(direction, step) for step in (1e-5, 1e-7)]
        if not all(np.all(np.isfinite(side)) for pair in sides for side in pair):
            return "undefined"
        (left, right), (near_left, near_right) = sides
        gap, near_gap = np.abs(right - left), np.abs(near_right - near_left)
        size = np.maximum(np.abs(near_left), np.abs(near_right))
        # At a kink they stay apart however near one looks; where the function only bends, they do not.
        if not np.any((near_gap > 1e-2 * size) & (near_gap > 0.3 * gap)):
            return "WRONG"
        low, high = np.minimum(near_left, near_right), np.maximum(near_left, near_right)
        slack = 1e-3 * size + 1e-6
        return "kink" if np.all((low - slack <= found) & (found <= high + slack)) else "WRONG"

    def _sides(self, direction: Vector, step: float) -> tuple[Vector, Vector]:
        line = self.moved.along(direction)
        with np.errstate(all="ignore"):
            methods = backward_fdm(3, 1), forward_fdm(3, 1)
            left, right = (self.seeds @ method(line, 0.0, step) for method in methods)
        return left, right
