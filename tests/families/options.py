"""Formulas of NumPy's functions with their options, and with selections before and after infinite slopes.

A part of an array is chosen by a mask, an index or a reduction that leaves NaN out; where it is not chosen the numbers are such
that the slopes are infinite or NaN. What is not chosen has derivative 0, and what is chosen that of central differences.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy import gradient, jvp, pullback
from tests.families.family import Family, Point
from tests.program_writer import ProgramWriter

MASK = np.array([[True, False, True], [True, True, False]])
"""The entries of the matrix that programs choose; the others are singular."""
_STEP = 1e-6
_SINGULAR = (0.0, -0.0, np.nan, np.inf, -1.0, 1.0)
_MAPS = (
    "np.sqrt({})", "np.log({})", "1.0 / {}", "{} ** 0.5", "{} ** -1.5", "np.arcsin({} - 1.0)", "np.arctanh({} - 1.0)",
    "np.log1p({} - 1.0)", "np.cbrt({})", "np.reciprocal({})", "{} * np.log({})", "np.power({}, v)", "v / {}", "np.hypot({}, v)",
    "np.square({})", "np.exp({})", "np.tanh({})", "{} * w", "special.xlogy({}, {})", "special.gammaln({})",
    "np.arccos({} - 1.0)",
)  # fmt: skip
_CHOICES = (
    "np.where(MASK, {}, 0.5)", "np.where(~MASK, v, {})", "np.select([MASK], [{}], default=v)",
    "np.clip(np.where(MASK, {}, 2.0), -3.0, 3.0)", "np.choose(MASK, [v, {}])", "np.choose(MASK.astype(int), (w, {}))",
    "np.select([~MASK, MASK], [w, {}])", "np.select([MASK, ~MASK], [{}, v * w], 0.0)",
)  # fmt: skip
_REDUCTIONS = (
    "np.sum({0}{1})", "np.mean({0}{1})", "np.var({0}{1}, ddof={2})", "np.std({0}{1}, ddof={2})", "np.max({0}{1})",
    "np.min({0}{1})", "np.prod({0}{1})", "np.linalg.norm({0}{1})", "np.median({0}{1})", "np.ptp({0}{1})",
    "np.cumsum({0}, axis={3})", "np.cumprod({0}, axis={3})", "np.sort({0}, axis={3})", "np.diff({0}, axis={3})",
    "np.flip({0}, axis={3})", "np.roll({0}, {2}, axis={3})", "{0}.T", "{0}.reshape(3, 2)", "np.nansum({0}{1})",
    "np.nanmean({0}{1})", "np.average({0}, axis={3})", "np.quantile({0}, 0.3, axis={3})",
)  # fmt: skip
_PARTIAL = (
    "np.sum({}, where=MASK)", "np.mean({}, where=MASK)", "np.sum({}[MASK])",
    "np.sum({}[0, [0, 2]])", "np.prod({}[MASK])", "np.max({}, where=MASK, initial=-9.0)", "np.linalg.norm({}[MASK])",
    "np.sum(np.compress([True, True], {}, axis=0)[MASK])", "np.sum(np.take({}, [0, 3, 4]))", "np.std({}[MASK], ddof=1)",
    "np.sum(np.extract(MASK, {}))", "np.sum({}.T[MASK.T])", "np.sum(np.delete({}, [1, 5]))", "np.median({}[MASK])",
    "np.sum({}, where=MASK, initial=1.5)", "np.add.reduce({}, axis=0, where=MASK, initial=0.5)", "{}.sum(axis=1, where=MASK)",
    "np.multiply.reduce({}, axis=1, where=MASK, initial=2.0)", "np.maximum.reduce({}, axis=None, where=MASK, initial=-9.0)",
    "np.prod({}, where=MASK, initial=1.5)", "np.min({}, axis=1, where=MASK, initial=9.0)", "np.var({}, where=MASK)",
    "np.sum({} * 2.0, where=MASK)", "np.sum(np.where(MASK, {}, 0.0), axis=1)[0]",
)  # fmt: skip


def write(writer: ProgramWriter) -> None:
    """A program `(m, v, w)` of a matrix, a number and a row."""
    draw = writer.random
    with writer.indented("def program(m, v, w):"), writer.indented("with np.errstate(all='ignore'):"):
        name = writer.fresh("a")
        writer.write(f"{name} = {_map(draw, 'm')}")
        if writer.chance(0.3):
            other = writer.fresh("a")
            writer.write(f"{other} = {_map(draw, 'm')} + {name}")
            name = other
        if writer.chance(0.5):
            writer.write(f"return np.sum(np.sin({draw.choice(_PARTIAL).format(name)}))")
            return
        chosen, result = writer.fresh("b"), writer.fresh("c")
        writer.write(f"{chosen} = {draw.choice(_CHOICES).format(name)}")
        number, axis = draw.choice((0, 1)), draw.choice((0, 1))
        writer.write(f"{result} = {draw.choice(_REDUCTIONS).format(chosen, _options(draw), number, axis)}")
        writer.write(f"return np.sum(np.cos({result}) * 0.7)")


def _map(draw: random.Random, name: str) -> str:
    form = draw.choice(_MAPS)
    return form.format(*[name] * form.count("{}"))


def _options(draw: random.Random) -> str:
    return draw.choice(("", ", axis=0", ", axis=1", ", axis=-1", ", axis=0, keepdims=True", ", axis=1, keepdims=True"))


def point(draw: random.Random) -> Point:
    m = np.where(MASK, [[draw.uniform(0.2, 1.8) for _ in range(3)] for _ in range(2)], 0.0)
    for place in np.argwhere(~MASK):
        m[tuple(place)] = draw.choice(_SINGULAR)
    return m, draw.uniform(0.4, 1.6), np.array([draw.uniform(0.4, 1.6) for _ in range(3)])


def judge(function: Callable[..., Any], given: Point) -> str | None:
    """What is wrong with the derivatives: each entry against differences, in both modes, and `back` twice."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = [_differences(function, given, which) for which in range(len(given))]
    found = gradient(function, *given)
    _, back = pullback(function, *given)
    for bars in (found, back(1.0)[1:], back(1.0)[1:]):
        for which, (bar, wanted) in enumerate(zip(bars, expected, strict=True)):
            got = np.zeros(np.shape(wanted)) if bar is None else bar
            if not np.allclose(got, wanted, rtol=2e-5, atol=2e-6):
                return f"gradient of argument {which}: {got}, by differences {wanted}"
    return _tangent_defect(function, given, expected)


def _tangent_defect(function: Callable[..., Any], given: Point, expected: list[Any]) -> str | None:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place in ((0, 0), (0, 1), (1, 2)):
            unit = np.zeros((2, 3))
            unit[place] = 1.0
            found = jvp(function, given, (unit, 0.0, np.zeros(3)))[1]
            if not np.isclose(found, expected[0][place], rtol=2e-5, atol=2e-6):
                return f"forward derivative by entry {place}: {found}, by differences {expected[0][place]}"
    return None


def _differences(function: Callable[..., Any], given: Point, which: int) -> Any:
    x = np.asarray(given[which], float)
    wanted = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        values = []
        for step in (_STEP, -_STEP):
            moved = x.copy()
            moved[place] += step
            values.append(function(*given[:which], moved if x.ndim else float(moved), *given[which + 1 :]))
        wanted[place] = (values[0] - values[1]) / (2 * _STEP)
    return wanted


HEAD = """import numpy as np
from scipy import special

MASK = np.array([[True, False, True], [True, True, False]])


"""
FAMILY = Family("options", write, refused=0.0, point=point, judge=judge, head=HEAD)
