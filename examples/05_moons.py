"""Train a small network on the moons data and draw its decision boundary.

Usage: python 05_moons.py [--epochs 500] [--seed 0] [--output moons.png]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import matplotlib
import numpy as np
from moons import make_moons
from numpy.typing import NDArray

from microgradpy import value_and_gradient
from microgradpy.nn import SGD, Chain, Dense, logit_cross_entropy, relu, softmax

matplotlib.use("Agg")  # draws into files; needs no screen
from matplotlib import pyplot as plt
from matplotlib.colors import LinearSegmentedColormap

PICTURE = Path(__file__).parent / "images" / "moons_decision_boundary.png"
COLOURS = ("#3b6fb6", "#d9622b")


def make_model(seed: int) -> Chain:
    draw = np.random.default_rng(seed)
    return Chain(
        Dense(2, 16, activation=relu, rng=draw),
        Dense(16, 16, activation=relu, rng=draw),
        Dense(16, 2, rng=draw),
    )


def train(model: Chain, x: NDArray[np.float64], labels: NDArray[np.int64], epochs: int) -> None:
    """Full-batch gradient descent, in place."""
    one_hot = np.eye(2)[labels]
    optimizer = SGD(learning_rate=0.5)
    bar = progress(range(epochs))
    for epoch in bar:
        loss, (model_bar,) = value_and_gradient(lambda model: logit_cross_entropy(model(x), one_hot), model)
        optimizer.update(model, model_bar)
        if epoch % 10 == 0 and hasattr(bar, "set_postfix"):
            bar.set_postfix(loss=f"{loss:.4f}")


def progress(steps: Iterable[int]) -> Iterable[int]:
    """The same steps behind a progress bar, if tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return steps
    return tqdm(steps, desc="training", unit="epoch")


def accuracy(model: Chain, x: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    return float(np.mean(model(x).argmax(axis=1) == labels))


def draw_decision_boundary(
    model: Chain, x: NDArray[np.float64], labels: NDArray[np.int64], title: str, output: Path
) -> None:
    """The probability of class 1 as filled contours, its 50 % line, and the points."""
    (left, bottom), (right, top) = x.min(axis=0) - 0.4, x.max(axis=0) + 0.4
    horizontal, vertical = np.meshgrid(np.linspace(left, right, 300), np.linspace(bottom, top, 300))
    grid = np.stack([horizontal.ravel(), vertical.ravel()], axis=1)
    probability = softmax(model(grid))[:, 1].reshape(horizontal.shape)

    figure, axes = plt.subplots(figsize=(7.0, 4.1), layout="constrained")
    blend = LinearSegmentedColormap.from_list("classes", ["#86a8d6", "#f7f5f0", "#e8a07c"])
    filled = axes.contourf(horizontal, vertical, probability, levels=np.linspace(0, 1, 21), cmap=blend)
    axes.contour(horizontal, vertical, probability, levels=[0.5], colors="#222222", linewidths=1.6)
    for label, (colour, marker) in enumerate(zip(COLOURS, "os", strict=True)):
        mine = x[labels == label]
        axes.scatter(
            mine[:, 0], mine[:, 1], s=28, c=colour, marker=marker, edgecolors="white", linewidths=0.7,
            label=f"class {label}",
        )  # fmt: skip
    axes.set(title=title, xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    axes.legend(loc="lower left", framealpha=0.9)
    figure.colorbar(filled, ax=axes, label="probability of class 1", ticks=[0, 0.25, 0.5, 0.75, 1], shrink=0.85)
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=120)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Train a small network on the moons data and draw its decision boundary."
    )
    parser.add_argument("--epochs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0, help="of the data and of the initial weights")
    parser.add_argument("--output", type=Path, default=PICTURE, help="where the picture goes (default: %(default)s)")
    options = parser.parse_args()

    x, labels = make_moons(seed=options.seed)
    model = make_model(options.seed)
    print(model)
    train(model, x, labels, options.epochs)

    reached = accuracy(model, x, labels)
    print(f"accuracy: {reached:.1%}")
    title = f"Moons, MLP 2-16-16-2, training accuracy {reached:.1%}"
    draw_decision_boundary(model, x, labels, title, options.output)
    print(f"decision boundary: {options.output}")


if __name__ == "__main__":
    main()
