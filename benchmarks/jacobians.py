"""Print what matrices of derivatives cost: `python -m benchmarks.jacobians [--rounds 15]`.

The first table has Jacobians with few entries, the second Hessians, their products with vectors, and derivatives in one
direction, the third dense Jacobians. All times are those of whole calls; versions are timed in turn, the ratios taken within a
round; medians. *By hand* is what one would write without a library: for Jacobians differences of the same groups of columns,
for the others the formulas, *gradient* is `grad(f)`. Everything is held against the other versions before it is timed.
"""

from __future__ import annotations

from benchmarks.ordinary import timed  # first: it sets the number of threads before NumPy is loaded

# isort: split

import argparse
import importlib
import importlib.util
import statistics
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from benchmarks import jacobian_programs as programs
from microgradpy import grad, hessian, hvp, jac, jacobian, jvp
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
    x: Any
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
    Second("logistic regression", programs.logistic, programs.WEIGHTS, programs.logistic_hvp, programs.logistic_jvp),
    Second("a loop over numbers", programs.sines, 1.1, programs.sines_hvp, programs.sines_jvp),
]
DENSE = [("a loop over numbers, 20 parameters", programs.recurrence, programs.RATES)]
DENSE_UP_TO = 2000


def by_autograd(f: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """The same of autograd, on the same text with its NumPy; nothing where it is not installed."""
    if importlib.util.find_spec("autograd") is None:
        return {}
    assert isinstance(f, types.FunctionType)
    autograd = importlib.import_module("autograd")
    theirs = types.FunctionType(f.__code__, {**f.__globals__, "np": importlib.import_module("autograd.numpy")}, f.__name__)
    pushed = autograd.differential_operators.make_jvp(theirs)
    return {
        "jvp": lambda x, v: pushed(x)(v)[1],
        "hvp": autograd.hessian_vector_product(theirs),
        "hessian": autograd.hessian(theirs),
        "jacobian": autograd.jacobian(theirs),
    }


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
    versions: list[Any] = [(f, (x,)), (jac(f, sparsity="detect"), (x,)), (by_differences, (f, x, pattern, groups))]
    versions.append((lambda x: jacobian(f, x, sparsity="detect"), (x,)))
    if case.size <= DENSE_UP_TO:
        np.testing.assert_array_equal(found.toarray(), jacobian(f, x))
        versions += [(jacobian, (f, x)), (optimize.approx_fprime, (x, f))]
    plain, sparse, by_hand, detected, *dense = ratios(versions, rounds)
    cells = [f"{sparse:.1f}", f"{by_hand:.1f}", f"{detected:,.0f}", *(f"{one:,.0f}" for one in dense)]
    return f"| {case.id} | {case.size:,} | {count_of(groups)} | {plain:.0f} | {' | '.join([*cells, '-', '-'][:5])} |"


def hessian_by_hand(case: Second, x: Any) -> Any:
    return np.stack([case.hvp_by_hand(x, unit) for unit in np.eye(x.size)])


def second_row(case: Second, rounds: int) -> list[str]:
    f, x, gradient = case.function, case.x, grad(case.function)
    v = np.cos(np.arange(np.size(x))) if isinstance(x, np.ndarray) else 1.0
    kinds: dict[str, tuple[tuple[Any, ...], list[Callable[..., Any]]]] = {
        "jvp": ((x, v), [lambda x, v: jvp(f, (x,), (v,))[1], case.jvp_by_hand]),
        "hvp": ((x, v), [lambda x, v: hvp(f, x, v), case.hvp_by_hand]),
    }
    if isinstance(x, np.ndarray):
        kinds["hessian"] = (x,), [lambda x: hessian(f, x), lambda x: hessian_by_hand(case, x)]
    theirs = by_autograd(f) if isinstance(x, np.ndarray) else {}
    rows = []
    for name, (args, versions) in kinds.items():
        versions = versions + ([theirs[name]] if theirs else [])
        for version in versions[1:]:
            np.testing.assert_allclose(versions[0](*args), version(*args), rtol=1e-8, atol=1e-10)
        for _ in range(HELD):
            gradient(x)
            versions[0](*args)
        times = timed([(f, (x,)), (gradient, (x,)), *((version, args) for version in versions)], rounds)
        pairs = [(2, 0), (2, 3), (2, 1), (4, 0)][: len(versions) + 1]
        found = [statistics.median(row[one] / row[other] for row in times) for one, other in pairs]
        cells = [f"{one:,.1f}" if one < 100 else f"{one:,.0f}" for one in found]
        plain = statistics.median(row[0] for row in times) * 1e6
        rows.append(f"| {case.id} | {name} | {plain:.0f} | {' | '.join([*cells, '-'][:4])} |")
    return rows


HELD = 70
"""After so many calls those that are alike go straight through."""


def dense_row(name: str, f: Callable[..., Any], x: Any, rounds: int) -> str:
    """A Jacobian, of columns that go at once."""
    theirs = by_autograd(f)
    versions = [lambda x: jacobian(f, x), lambda x: optimize.approx_fprime(x, f), *([theirs["jacobian"]] if theirs else [])]
    for version in versions[1:]:
        np.testing.assert_allclose(versions[0](x), version(x), rtol=1e-5, atol=1e-5)
    plain, *others = ratios([(f, (x,)), *((version, (x,)) for version in versions)], rounds)
    return f"| {name} | {plain:.0f} | {' | '.join([*(f'{one:,.1f}' for one in others), '-'][:3])} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Jacobians, Hessians and products: times by those of the functions.")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print("| program | unknowns | colours | function us | sparse | by hand | detected | dense | approx_fprime |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for sparse_case in SPARSE:
        print(sparse_row(sparse_case, options.rounds), flush=True)
    print("\n| program | what | function us | / function | / by hand | / gradient | autograd / function |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for second_case in SECOND:
        print(*second_row(second_case, options.rounds), sep="\n", flush=True)
    print("\n| program | function us | microgradpy | approx_fprime | autograd |\n|---|---:|---:|---:|---:|")
    for dense_case in DENSE:
        print(dense_row(*dense_case, options.rounds), flush=True)


if __name__ == "__main__":
    main()
