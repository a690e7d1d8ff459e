"""Random programs to second order: in the four combinations of modes, by `hvp`, and by differences of first gradients.

All are held against the differences, and each against those before it, in the cotangents of all arguments (`hvp` has that of
the first one only). Where no two step sizes agree, as next to a branch, they are held against each other only.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from microgradpy import DifferentiationError, gradient, hvp, jvp
from tests.pending import reason
from tests.random_programs import RandomProgram, random_program

Point = tuple[Any, ...]
ROUGH, EXACT = 1e-5, 1e-9
"""How far what was found may be from differences, and from another derivative."""
STEPS = ((1e-3, 3e-4), (1e-4, 3e-5))
"""Pairs of step sizes whose differences have to agree; the second is for points that are near a branch."""


def zero_if_none(x: Any, bar: Any) -> Any:
    return np.zeros(np.shape(x)) if bar is None else bar


# Programs have three arguments, or five. Those that are not spelled out (`*rest`) would be known at run time only.


def reverse_over_reverse(f: Callable[..., Any], point: Point, v: Any) -> Any:
    if len(point) == 3:
        return gradient(lambda x, y, z: np.sum(v * zero_if_none(x, gradient(f, x, y, z)[0])), *point)
    return gradient(lambda x, y, z, a, b: np.sum(v * zero_if_none(x, gradient(f, x, y, z, a, b)[0])), *point)


def reverse_over_forward(f: Callable[..., Any], point: Point, v: Any) -> Any:
    if len(point) == 3:
        return gradient(lambda x, y, z: jvp(f, (x, y, z), (v, None, None))[1], *point)
    return gradient(lambda x, y, z, a, b: jvp(f, (x, y, z, a, b), (v, None, None, None, None))[1], *point)


def forward_over_reverse(f: Callable[..., Any], point: Point, v: Any) -> Any:
    if len(point) == 3:
        return jvp(lambda x, y, z: gradient(f, x, y, z), point, (v, None, None))[1]
    return jvp(lambda x, y, z, a, b: gradient(f, x, y, z, a, b), point, (v, None, None, None, None))[1]


def forward_over_forward(f: Callable[..., Any], point: Point, v: Any) -> Any:
    """The number <v, H v>."""
    if len(point) == 3:
        return jvp(lambda x, y, z: jvp(f, (x, y, z), (v, None, None))[1], point, (v, None, None))[1]
    dots = v, None, None, None, None
    return jvp(lambda x, y, z, a, b: jvp(f, (x, y, z, a, b), (v, None, None, None, None))[1], point, dots)[1]


WAYS: dict[str, Callable[[Callable[..., Any], Point, Any], Any]] = {
    "hvp": lambda f, point, v: (hvp(f, point[0], v, *point[1:]),),
    "reverse_over_reverse": reverse_over_reverse,
    "reverse_over_forward": reverse_over_forward,
    "forward_over_reverse": forward_over_reverse,
    "forward_over_forward": forward_over_forward,
}
"""What gives the cotangents of the first arguments, or a number."""
ALL = tuple(WAYS)


@dataclass
class SecondOrder:
    """What became of the points of a program: how many were `right`, `refused` or `unjudged`, for `hvp` and each combination;
    what is wrong, if anything is; and why some were refused."""

    number: int
    fates: Counter[tuple[str, str]] = field(default_factory=Counter)
    defect: str | None = None
    refusals: Counter[str] = field(default_factory=Counter)


def by_differences(f: Callable[..., Any], point: Point, v: Any) -> Any:
    """The derivatives of the first gradients along `v`, by central differences of order four; None where no two steps agree."""
    x, *rest = point

    def at(distance: float) -> Any:
        args = (x + distance * v, *rest)
        return flat(args, gradient(f, *args))

    def quotient(h: float) -> Any:
        return (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)

    for wide, narrow in STEPS:
        first, second = quotient(wide), quotient(narrow)
        if np.allclose(first, second, rtol=1e-6, atol=1e-7 * (1.0 + np.max(np.abs(second)))):
            return second
    return None


def flat(args: tuple[Any, ...], bars: tuple[Any, ...]) -> Any:
    """The cotangents of some arguments, the first ones, as one vector."""
    return np.concatenate([np.ravel(zero_if_none(*each)).astype(float) for each in zip(args, bars, strict=False)])


def direction(number: int, x: Any) -> Any:
    v = np.random.default_rng(number).normal(size=np.shape(x))
    return float(v) if isinstance(x, float) else v


def difference(found: Any, wanted: Any, tolerance: float) -> str | None:
    """What is wrong with a derivative, as far as both go."""
    if np.ndim(found):
        found, wanted = found[: len(wanted)], wanted[: len(found)]
    if np.allclose(found, wanted, rtol=tolerance, atol=tolerance * (1.0 + np.max(np.abs(wanted))), equal_nan=True):
        return None
    return f"{found} for {wanted}"


Outcome = tuple[str, str, str]
Reference = tuple[Any, float]
"""The first numbers of all cotangents, as they were found in another way, and how far from these others may be."""


def outcomes(f: Callable[..., Any], point: Point, number: int) -> Iterator[Outcome]:
    """For `hvp` and each combination: its name, one of `command.FATES`, and what is wrong or why it is refused."""
    x = point[0]
    v = direction(number, x)
    references: list[Reference] = []
    with contextlib.suppress(DifferentiationError):
        expected = by_differences(f, point, v)
        references += [] if expected is None else [(expected, ROUGH)]
    for name, way in WAYS.items():
        try:
            found = way(f, point, v)
        except DifferentiationError as refusal:
            yield name, "refused", reason(refusal)
            continue
        wanted = references
        if isinstance(found, tuple):
            found = flat(point, found)
        else:
            wanted = [(np.ravel(v) @ values[: np.size(x)], tolerance) for values, tolerance in references]
        defect = next(filter(None, (difference(found, values, tolerance) for values, tolerance in wanted)), None)
        yield name, "wrong" if defect else "right" if wanted else "unjudged", defect or ""
        if defect is None and np.ndim(found):
            references.append((found, EXACT))


def defect_at(f: Callable[..., Any], point: Point, number: int = 0) -> str | None:
    """What is wrong at a point, in a form that the minimiser tells apart."""
    with np.errstate(all="ignore"):
        for name, fate, why in outcomes(f, point, number):
            if fate == "wrong":
                return f"{name} {why}"
    return None


def program_of(number: int) -> RandomProgram:
    """The program of that number: short, but for one in eight. Long ones take several times as long to judge; a few, which have
    `finally` inside of `finally`, a hundred times."""
    found = random_program(number, is_short=number % 8 != 0)
    return found if len(found.source.splitlines()) <= _MOST_LINES else random_program(number, is_short=True)


_MOST_LINES = 120


def judge(program: RandomProgram) -> SecondOrder:
    """What becomes of a random program at its points."""
    found, function = SecondOrder(program.number), program.load()
    for point in program.points:
        try:
            with np.errstate(all="ignore"):
                for name, fate, why in outcomes(function, point, program.number):
                    found.fates[name, fate] += 1
                    if fate == "wrong":
                        found.defect = found.defect or f"{name} at {point}: {why}"
                    elif fate == "refused":
                        found.refusals[f"{name}: {why}"] += 1
        except Exception as error:  # the plain call does not raise: whatever this is, it is ours
            found.defect = found.defect or f"{type(error).__name__} at {point}: {error}"
    return found
