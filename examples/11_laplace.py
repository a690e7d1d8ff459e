"""Approximate a posterior by a normal distribution at its peak, with the Hessian there for its precision, and draw both.

Five groups of patients got different doses; of each group it is known how many recovered. A logistic curve has a level and a
slope, whose posterior is known on a grid as well.

Usage: python 11_laplace.py [--output picture.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np
from scipy.optimize import minimize

from microgradpy import grad, hess, hessian

matplotlib.use("Agg")  # draws into files; needs no screen
from matplotlib import pyplot as plt

PICTURE = Path(__file__).parent / "images" / "laplace.png"
DOSES = np.array([-1.5, -0.7, 0.0, 0.6, 1.4])
PATIENTS, RECOVERED = np.array([12, 15, 14, 13, 11]), np.array([1, 4, 7, 9, 10])


def negative_log_posterior(p):
    """Up to a constant: a binomial likelihood, and normal priors of standard deviation 2.5."""
    logits = p[0] + p[1] * DOSES
    return np.sum(PATIENTS * np.log1p(np.exp(logits)) - RECOVERED * logits) + np.sum(p**2) / (2.0 * 2.5**2)


def main() -> None:
    parser = argparse.ArgumentParser(description="The Laplace approximation of a posterior.")
    parser.add_argument("--output", type=Path, default=PICTURE, help="where the picture goes (default: %(default)s)")
    output = parser.parse_args().output

    peak = minimize(
        negative_log_posterior, np.zeros(2), method="trust-exact", jac=grad(negative_log_posterior),
        hess=hess(negative_log_posterior),
    ).x  # fmt: skip
    covariance = np.linalg.inv(hessian(negative_log_posterior, peak))
    deviations = np.sqrt(np.diag(covariance))
    print(f"level {peak[0]:.3f} +- {deviations[0]:.3f}, slope {peak[1]:.3f} +- {deviations[1]:.3f}")

    level, slope = (np.linspace(m - 4.0 * s, m + 4.0 * s, 120) for m, s in zip(peak, deviations, strict=True))
    exact = np.exp(-np.array([[negative_log_posterior(np.array([a, b])) for a in level] for b in slope]))
    exact /= exact.max()
    away = np.stack(np.meshgrid(level - peak[0], slope - peak[1]), axis=-1)
    normal = np.exp(-0.5 * np.einsum("ijk,kl,ijl->ij", away, np.linalg.inv(covariance), away))
    weight = exact.sum(axis=0)
    mean = np.sum(level * weight) / weight.sum()
    spread = np.sqrt(np.sum((level - mean) ** 2 * weight) / weight.sum())
    print(f"on the grid the standard deviation of the level is {spread:.3f}")

    figure, axes = plt.subplots(figsize=(4.6, 3.8), layout="constrained")
    axes.contourf(level, slope, exact, levels=8, cmap="Blues")
    axes.contour(level, slope, normal, levels=8, colors="tab:orange", linewidths=1.0)
    axes.plot(*peak, "k+", markersize=10.0)
    axes.set(title="Posterior (blue) and approximation", xlabel="level", ylabel="slope")
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=110)
    print(f"picture: {output}")


if __name__ == "__main__":
    main()
