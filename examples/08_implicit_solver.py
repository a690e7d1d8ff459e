"""Solve a reaction-diffusion equation by implicit steps, with sparse Jacobians, and draw it.

    du/dt = D d2u/dx2 + u (1 - u) (u - 0.3)

Each step is a system of 1,000 equations in which an unknown meets its neighbours only. Newton's method takes its Jacobian from
four passes through the adjoint, however many unknowns there are. SciPy's solver for stiff equations is given one, too.

Usage: python 08_implicit_solver.py [--output picture.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter

import matplotlib
import numpy as np
from scipy.integrate import solve_ivp
from scipy.sparse.linalg import spsolve

from microgradpy import jac

matplotlib.use("Agg")  # draws into files; needs no screen
from matplotlib import pyplot as plt

PICTURE = Path(__file__).parent / "images" / "implicit_solver.png"
POINTS, LENGTH, DIFFUSION = 1000, 100.0, 1.0
END, STEPS = 120.0, 240


def rate(t, u):
    """The right-hand side; nothing flows through the ends."""
    flux = DIFFUSION * np.diff(u) / (LENGTH / POINTS) ** 2
    return np.diff(flux, prepend=0.0, append=0.0) + u * (1.0 - u) * (u - 0.3)


def residual(u, before, step):
    """Zero for the `u` that an implicit Euler step leads to."""
    return u - before - step * rate(0.0, u)


def newton(derivative, before, step):
    u, steps = before.copy(), 0
    while np.max(np.abs(r := residual(u, before, step))) > 1e-9:
        u, steps = u - spsolve(derivative(u, before, step), r), steps + 1
    return u, steps


def main() -> None:
    parser = argparse.ArgumentParser(description="Implicit time steps with sparse Jacobians.")
    parser.add_argument("--output", type=Path, default=PICTURE, help="where the picture goes (default: %(default)s)")
    output = parser.parse_args().output

    x = np.linspace(0.0, LENGTH, POINTS)
    states, solves = [np.exp(-((x - 30.0) ** 2) / 20.0) + 0.6 * np.exp(-((x - 75.0) ** 2) / 4.0)], 0
    derivative = jac(residual, sparsity="detect")
    start = perf_counter()
    for _ in range(STEPS):
        u, count = newton(derivative, states[-1], END / STEPS)
        states.append(u)
        solves += count
    matrix = derivative(states[-1], states[-2], END / STEPS)
    print(f"implicit Euler: {STEPS} steps, {solves} Newton steps, {perf_counter() - start:.2f} s")
    print(f"its Jacobian: {matrix.shape[0]} x {matrix.shape[1]} with {matrix.nnz} entries")

    start = perf_counter()
    found = solve_ivp(rate, (0.0, END), states[0], method="BDF", jac=jac(rate, argnums=1, sparsity="detect"), rtol=1e-5)
    print(f"SciPy's BDF: {found.t.size} steps, {found.njev} Jacobians, {perf_counter() - start:.2f} s")
    print(f"largest difference at the end: {np.max(np.abs(found.y[:, -1] - states[-1])):.3f}")

    figure, axes = plt.subplots(figsize=(7.0, 3.6), layout="constrained")
    image = axes.imshow(states, origin="lower", aspect="auto", extent=(0.0, LENGTH, 0.0, END), cmap="cividis")
    axes.set(title="One spot spreads, the other is too small", xlabel="$x$", ylabel="$t$")
    figure.colorbar(image, ax=axes, label="$u$")
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=110)
    print(f"picture: {output}")


if __name__ == "__main__":
    main()
