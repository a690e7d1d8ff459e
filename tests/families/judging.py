"""Whether a program of a family is right, refused or wrong: value, effects, `back` twice, both modes, the ways of computing.

Every program is judged as it is compiled by itself; one in three besides with all calls left to run time, and one in three with
all cotangents in shadows, so that a wrong decision of the compiler shows as a difference between programs that read alike.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgradpy import DifferentiationError, jvp
from tests import finite_differences as fd
from tests import random_mutation
from tests.families.family import FamilyProgram, Point
from tests.pending import reason
from tests.random_mutation import expected_derivative, random_direction
from tests.ways import WAYS


@dataclass(frozen=True)
class Judged:
    """A program's fate: `defect` says what is wrong with it, else `refusal` why it is refused; neither if it is right."""

    number: int
    defect: str | None = None
    refusal: str | None = None

    @property
    def fate(self) -> str:
        return "wrong" if self.defect is not None else "refused" if self.refusal is not None else "right"


def forward_defect(function: Callable[..., Any], point: Point) -> str | None:
    """What is wrong with the value or the derivative along a direction in forward mode."""
    y = function(*copy.deepcopy(point))
    direction = random_direction(fd.flatten(point).size)
    tangents = tuple(tangent(x) for x in fd.rebuild(point, direction))
    y_forward, y_dot = jvp(function, copy.deepcopy(point), tangents)
    if repr(y_forward) != repr(y):
        return f"forward value {y_forward!r} for {y!r}"
    found = 0.0 if y_dot is None else float(y_dot)
    expected = expected_derivative(function, point, direction)
    if expected is not None and not np.isclose(found, expected, rtol=3e-5, atol=3e-6):
        return f"forward derivative {found}, by differences {expected}"
    return None


def tangent(x: Any) -> Any:
    """A value as a tangent; what has no degrees of freedom has none."""
    return fd.as_cotangent(x) if fd.flatten(x).size else None


def defect_at(function: Callable[..., Any], point: Point) -> str | None:
    """What is wrong in either mode. A refusal comes out as it is, but only if nothing is wrong in the other mode."""
    refused = None
    for mode in (random_mutation.defect_at, forward_defect):
        try:
            defect = mode(function, point)
        except DifferentiationError as refusal:
            refused = refusal
        else:
            if defect is not None:
                return defect
    if refused is not None:
        raise refused
    return None


def ways(number: int) -> tuple[str, ...]:
    """How a program is computed: by itself, and a third each besides in one of the forced ways."""
    return (("inlined",), ("inlined", "dispatched"), ("inlined", "tracked"))[number % 3]


def judge(program: FamilyProgram, in_ways: tuple[str, ...] = ()) -> Judged:
    """The first thing that is wrong at one of the points in one of the ways, else a reason for a refusal, else nothing."""
    function, refused = program.load(), None
    for way in in_ways or ways(program.number):
        for point in program.points:
            found = attempt(program, function, point, way)
            if isinstance(found, DifferentiationError):
                refused = refused or f"{way}: {reason(found)}"
            elif found is not None:
                return Judged(program.number, defect=f"{way}: {found}")
    return Judged(program.number, refusal=refused)


def attempt(program: FamilyProgram, function: Callable[..., Any], point: Point, way: str) -> str | DifferentiationError | None:
    """What is wrong at a point in a way of computing, or the refusal."""
    with WAYS[way](), np.errstate(all="ignore"):
        try:
            return (program.family.judge or defect_at)(function, point)
        except DifferentiationError as refusal:
            return refusal
        except Exception as error:  # the plain call does not raise: whatever this is, it is ours
            return f"{type(error).__name__}: {error}"


def judge_numbers(program: Callable[[int], FamilyProgram], numbers: range) -> Iterator[Judged]:
    """Judge the programs of these numbers, in order."""
    return (judge(program(number)) for number in numbers)
