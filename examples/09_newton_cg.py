"""Find a soap film by Newton's method with conjugate gradients, which asks for products with the Hessian only, and draw it.

A film over a square that hangs in a bent frame has the least area. Its heights at 30 x 30 points are 900 unknowns: the Hessian
would have 810,000 entries, and a product with it costs a few times a gradient.

Usage: python 09_newton_cg.py [--output picture.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np
from scipy.optimize import minimize

from microgradpy import grad, hessian, hessp

matplotlib.use("Agg")  # draws into files; needs no screen
from matplotlib import pyplot as plt

PICTURE = Path(__file__).parent / "images" / "newton_cg.png"
POINTS = 30


def frame():
    """The heights at the frame, with zeros inside."""
    turn = np.linspace(0.0, 2.0 * np.pi, POINTS + 2)
    heights = np.zeros((POINTS + 2, POINTS + 2))
    heights[0], heights[-1] = 0.5 * np.sin(turn), -0.5 * np.sin(turn)
    heights[:, 0], heights[:, -1] = 0.3 * np.sin(turn), 0.3 * np.sin(turn)
    return heights


def area(inside, heights):
    """The area of the film, from the slopes in each cell."""
    z = heights.copy()
    z[1:-1, 1:-1] = inside.reshape(POINTS, POINTS)
    down, right = np.diff(z, axis=0)[:, :-1], np.diff(z, axis=1)[:-1]
    return np.sum(np.sqrt(1.0 + (down**2 + right**2) * (POINTS + 1) ** 2)) / (POINTS + 1) ** 2


def main() -> None:
    parser = argparse.ArgumentParser(description="Newton-CG with products of the Hessian and vectors.")
    parser.add_argument("--output", type=Path, default=PICTURE, help="where the picture goes (default: %(default)s)")
    output = parser.parse_args().output

    heights, start = frame(), np.zeros(POINTS * POINTS)
    curves = {}
    for method, options in (("Newton-CG", {"hessp": hessp(area)}), ("CG", {})):
        areas = [area(start, heights)]
        found = minimize(
            area, start, (heights,), method, grad(area), callback=lambda x, areas=areas: areas.append(area(x, heights)),
            options={"maxiter": 60}, **options,
        )  # fmt: skip
        curves[method] = areas
        slope = np.max(np.abs(grad(area)(found.x, heights)))
        print(f"{method}: area {found.fun:.8f}, largest slope {slope:.1e}, {len(areas) - 1} iterations")
        if method == "Newton-CG":
            heights[1:-1, 1:-1] = found.x.reshape(POINTS, POINTS)
    matrix = hessian(area, heights[1:-1, 1:-1].ravel(), heights, sparsity="detect")
    print(f"the Hessian, detected: {matrix.nnz:,} of {POINTS**4:,} entries")

    figure = plt.figure(figsize=(8.0, 3.6), layout="constrained")
    film = figure.add_subplot(1, 2, 1, projection="3d")
    corner = np.linspace(0.0, 1.0, POINTS + 2)
    film.plot_surface(*np.meshgrid(corner, corner), heights, cmap="cividis")
    film.set(title="The film")
    axes = figure.add_subplot(1, 2, 2)
    least = min(min(areas) for areas in curves.values())
    for method, areas in curves.items():
        axes.semilogy(np.maximum(np.array(areas) - least, 1e-12), label=method)
    axes.set(title="Area above the least", xlabel="iteration", ylim=(1e-11, None))
    axes.legend()
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=110)
    print(f"picture: {output}")


if __name__ == "__main__":
    main()
