"""Print what matrices of derivatives cost: `python -m benchmarks.jacobians [--rounds 15]`.

The first table has Jacobians with few entries, the second Hessians, their products with vectors, and derivatives in one
direction. All times are those of whole calls, by that of the function called as it is; versions are timed in turn, the ratios
taken within a round; medians. *By hand* is what one would write without a library: for Jacobians differences of the same groups
of columns, for the others the formulas. Everything is held against the other versions before it is timed.
"""

from __future__ import annotations

from benchmarks.ordinary import timed  # first: it sets the number of threads before NumPy is loaded

# isort: split

import argparse
import statistics
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import autograd
import autograd.numpy
import numpy as np
from scipy import optimize

from benchmarks import jacobian_programs as programs
from microgradpy import hessian, hvp, jac, jacobian, jvp
from microgradpy.sparsity.colouring import colours_of_columns, count_of
from microgradpy.sparsity.patterns import Pattern, pattern_of


@dataclass(frozen=True)
class Sparse:
    """A function of `size` unknowns with few entries in its Jacobian."""

    id: str
    function: Callable[..., Any]
    size: int


@dataclass(frozen=True)
class Second:
    """A function that returns a number, with its derivatives by hand."""

    id: str
    function: Callable[..., Any]
    x: np.ndarray[Any, Any]
    hvp_by_hand: Callable[..., Any]
    jvp_by_hand: Callable[..., Any]


SPARSE = [
    Sparse("three bands, arrays", programs.bands, 1000),
    Sparse("three bands, arrays", programs.bands, 100_000),
    Sparse("three bands, written in place", programs.bands_in_place, 1000),
    Sparse("three bands, item by item", programs.bands_by_items, 1000),
    Sparse("a grid of 40 x 40", programs.grid, 1600),
]
SECOND = [
    Second("Rosenbrock", programs.rosenbrock, programs.START, programs.rosenbrock_hvp, programs.rosenbrock_jvp),
    Second("MLP of 97 parameters", programs.network, programs.PARAMETERS, programs.network_hvp, programs.network_jvp),
]
DENSE_UP_TO = 2000


def with_autograd(f: Callable[..., Any]) -> Any:
    """The same text, with the NumPy of autograd."""
    assert isinstance(f, types.FunctionType)
    return types.FunctionType(f.__code__, {**f.__globals__, "np": autograd.numpy}, f.__name__)


def by_differences(f: Callable[..., Any], x: Any, pattern: Pattern, groups: Any) -> Any:
    """The entries of a Jacobian by differences, one for each group of columns."""
    y = f(x)
    h = 1.5e-8 * np.maximum(1.0, np.abs(x))
    slopes = np.stack([f(np.where(groups == group, x + h, x)) - y for group in range(count_of(groups))])
    return slopes[groups[pattern.columns], pattern.rows] / h[pattern.columns]


def ratios(versions: list[tuple[Callable[..., Any], tuple[Any, ...]]], rounds: int) -> list[float]:
    """The time of the first version in us, and those of the others by it."""
    times = timed(versions, rounds)
    medians = [statistics.median(row[number] / row[0] for row in times) for number in range(1, len(versions))]
    return [statistics.median(row[0] for row in times) * 1e6, *medians]


def sparse_row(case: Sparse, rounds: int) -> str:
    f, x = case.function, np.linspace(0.5, 1.5, case.size)
    found = jacobian(f, x, sparsity="detect")
    pattern = pattern_of(found.shape, found.tocoo().row, found.tocoo().col)
    groups = colours_of_columns(pattern)
    np.testing.assert_allclose(found.data, by_differences(f, x, pattern, groups), rtol=1e-4, atol=1e-5)
    detecting, given = jac(f, sparsity="detect"), jac(f, sparsity=found)
    versions: list[Any] = [(f, (x,)), (given, (x,)), (by_differences, (f, x, pattern, groups))]
    versions += [(detecting, (x,)), (lambda x: jacobian(f, x, sparsity="detect"), (x,))]
    if case.size <= DENSE_UP_TO:
        np.testing.assert_array_equal(found.toarray(), jacobian(f, x))
        versions += [(jacobian, (f, x)), (optimize.approx_fprime, (x, f))]
    plain, given_time, by_hand, known, detected, *dense = ratios(versions, rounds)
    cells = [f"{given_time:.1f}", f"{known:.1f}", f"{by_hand:.1f}", f"{detected:,.0f}", *(f"{one:,.0f}" for one in dense)]
    return f"| {case.id} | {case.size:,} | {count_of(groups)} | {plain:.0f} | {' | '.join([*cells, '-', '-'][:6])} |"


def hessian_by_hand(case: Second, x: Any) -> Any:
    return np.stack([case.hvp_by_hand(x, unit) for unit in np.eye(x.size)])


def second_row(case: Second, rounds: int) -> list[str]:
    f, x = case.function, case.x
    v, theirs = np.cos(np.arange(x.size)), with_autograd(f)
    their_hvp, their_hessian = autograd.hessian_vector_product(theirs), autograd.hessian(theirs)
    their_jvp = autograd.differential_operators.make_jvp(theirs)
    by_hand = [case.hvp_by_hand(x, unit) for unit in np.eye(x.size)]
    np.testing.assert_allclose(hessian(f, x), by_hand, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(their_hessian(x), by_hand, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(hvp(f, x, v), case.hvp_by_hand(x, v), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(jvp(f, (x,), (v,))[1], case.jvp_by_hand(x, v), rtol=1e-8)
    kinds: list[tuple[str, list[Any]]] = [
        ("jvp", [(jvp, (f, (x,), (v,))), (case.jvp_by_hand, (x, v)), (lambda x, v: their_jvp(x)(v), (x, v))]),
        ("hvp", [(hvp, (f, x, v)), (case.hvp_by_hand, (x, v)), (their_hvp, (x, v))]),
        ("hessian", [(hessian, (f, x)), (hessian_by_hand, (case, x)), (their_hessian, (x,))]),
    ]
    rows = []
    for name, versions in kinds:
        plain, *others = ratios([(f, (x,)), *versions], rounds)
        cells = " | ".join(f"{one:,.1f}" if one < 100 else f"{one:,.0f}" for one in others)
        rows.append(f"| {case.id} | {name} | {plain:.0f} | {cells} |")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Jacobians, Hessians and products: times by those of the functions.")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print("| program | unknowns | colours | function us | given | kept | by hand | detected | dense | approx_fprime |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for sparse_case in SPARSE:
        print(sparse_row(sparse_case, options.rounds), flush=True)
    print("\n| program | what | function us | microgradpy | by hand | autograd |\n|---|---|---:|---:|---:|---:|")
    for second_case in SECOND:
        print(*second_row(second_case, options.rounds), sep="\n", flush=True)


if __name__ == "__main__":
    main()
