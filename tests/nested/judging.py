"""Random programs to second order: in the four combinations of modes, by `hvp`, and by differences of first gradients.

`hvp` is held against the differences and each combination against `hvp`, or against the differences where that is refused. A
point is not judged where no two step sizes agree, as next to a branch; the combinations are held against `hvp` there, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from microgradpy import DifferentiationError, gradient, hvp, jvp
from tests.pending import reason
from tests.random_programs import RandomProgram

Point = tuple[Any, ...]
STEPS = ((1e-3, 3e-4), (1e-4, 3e-5))
"""Pairs of step sizes whose differences have to agree; the second is for points that are near a branch."""


def zero_if_none(x: Any, bar: Any) -> Any:
    return np.zeros(np.shape(x)) if bar is None else bar


def reverse_over_reverse(f: Callable[..., Any], x: Any, v: Any, rest: tuple[Any, ...]) -> Any:
    return gradient(lambda t: np.sum(v * zero_if_none(t, gradient(f, t, *rest)[0])), x)[0]


def reverse_over_forward(f: Callable[..., Any], x: Any, v: Any, rest: tuple[Any, ...]) -> Any:
    still = (None,) * len(rest)
    return gradient(lambda t: jvp(f, (t, *rest), (v, *still))[1], x)[0]


def forward_over_reverse(f: Callable[..., Any], x: Any, v: Any, rest: tuple[Any, ...]) -> Any:
    return jvp(lambda t: zero_if_none(t, gradient(f, t, *rest)[0]), (x,), (v,))[1]


def forward_over_forward(f: Callable[..., Any], x: Any, v: Any, rest: tuple[Any, ...]) -> Any:
    """The number <v, H v>."""
    still = (None,) * len(rest)
    return jvp(lambda t: jvp(f, (t, *rest), (v, *still))[1], (x,), (v,))[1]


COMBINATIONS = (reverse_over_reverse, reverse_over_forward, forward_over_reverse, forward_over_forward)
ALL = ("hvp", *(combination.__name__ for combination in COMBINATIONS))


@dataclass
class SecondOrder:
    """What became of the points of a program: how many were `right`, `refused` or `unjudged`, for `hvp` and each combination;
    what is wrong, if anything is; and why some were refused."""

    number: int
    fates: Counter[tuple[str, str]] = field(default_factory=Counter)
    defect: str | None = None
    refusals: Counter[str] = field(default_factory=Counter)


def by_differences(f: Callable[..., Any], point: Point, v: Any) -> Any:
    """The derivative of the first gradient along `v`, by central differences of order four; None where no two steps agree."""
    x, *rest = point

    def at(distance: float) -> Any:
        moved = x + distance * v
        return np.asarray(zero_if_none(moved, gradient(f, moved, *rest)[0]), dtype=float)

    def quotient(h: float) -> Any:
        return (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)

    for wide, narrow in STEPS:
        first, second = quotient(wide), quotient(narrow)
        if np.allclose(first, second, rtol=1e-6, atol=1e-7 * (1.0 + np.max(np.abs(second)))):
            return second
    return None


def direction(number: int, x: Any) -> Any:
    v = np.random.default_rng(number).normal(size=np.shape(x))
    return float(v) if isinstance(x, float) else v


def difference(found: Any, wanted: Any, tolerance: float) -> str | None:
    """What is wrong with a derivative."""
    found = zero_if_none(wanted, found)
    if np.shape(found) == np.shape(wanted) and np.allclose(
        found, wanted, rtol=tolerance, atol=tolerance * (1.0 + np.max(np.abs(wanted), initial=0.0)), equal_nan=True
    ):
        return None
    return f"{found} for {wanted}"


Outcome = tuple[str, str, str]


def outcomes(f: Callable[..., Any], point: Point, number: int) -> Iterator[Outcome]:
    """For `hvp` and each combination: its name, one of `command.FATES`, and what is wrong or why it is refused."""
    x, *rest = point
    v = direction(number, x)
    try:
        expected = by_differences(f, point, v)
    except DifferentiationError:
        expected = None
    try:
        wanted, tolerance = hvp(f, x, v, *rest), 1e-9
    except DifferentiationError as refusal:
        yield "hvp", "refused", reason(refusal)
        wanted, tolerance = expected, 1e-5
    else:
        defect = expected is not None and difference(wanted, expected, 1e-5)
        yield "hvp", "unjudged" if expected is None else "wrong" if defect else "right", defect or ""
    for combination in COMBINATIONS:
        name = combination.__name__
        try:
            found = combination(f, x, v, tuple(rest))
        except DifferentiationError as refusal:
            yield name, "refused", reason(refusal)
            continue
        if wanted is None:
            yield name, "unjudged", ""
            continue
        defect = difference(found, np.sum(v * wanted) if combination is forward_over_forward else wanted, tolerance)
        yield name, "wrong" if defect else "right", defect or ""


def defect_at(f: Callable[..., Any], point: Point, number: int = 0) -> str | None:
    """What is wrong at a point, in a form that the minimiser tells apart."""
    with np.errstate(all="ignore"):
        for name, fate, why in outcomes(f, point, number):
            if fate == "wrong":
                return f"{name} {why}"
    return None


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
