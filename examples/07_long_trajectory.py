"""Steer a spacecraft to a wider orbit, through 10,000 steps of its flight, in the memory that 250 of them take.

The gradient of a long simulation needs what each of its steps has computed. In a loop over `checkpointed(range(n))` the
backward pass keeps the state at some of the iterations only, here at the beginning of each leg, and flies a leg again when it
gets there.

Usage: python 07_long_trajectory.py [--rounds 120] [--output long_trajectory.png]
"""

from __future__ import annotations

import argparse
import math
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from numpy.typing import NDArray

from microgradpy import checkpointed, value_and_grad

matplotlib.use("Agg")  # draws into files; needs no screen
from matplotlib import pyplot as plt

PICTURE = Path(__file__).parent / "images" / "long_trajectory.png"
LEGS, STEPS = 40, 250
STEP = 8.0 * math.pi / (LEGS * STEPS)
"""Four turns of the first orbit, whose radius and speed are 1."""
TARGET = 2.0
"""The radius of the orbit to reach."""

Thrust = NDArray[np.float64]
"""Forwards and to the side, for each leg of the flight."""
State = tuple[float, float, float, float]
"""The place and the velocity."""


def advance(state: State, forwards: float, sideways: float) -> State:
    x, y, u, v = state
    speed = math.sqrt(u * u + v * v)
    pull = (x * x + y * y) ** -1.5
    u = u + STEP * ((forwards * u - sideways * v) / speed - pull * x)
    v = v + STEP * ((forwards * v + sideways * u) / speed - pull * y)
    return x + STEP * u, y + STEP * v, u, v


def fly(state: State, forwards: float, sideways: float) -> State:
    """One leg, with a thrust that is constant."""
    for _ in range(STEPS):
        state = advance(state, forwards, sideways)
    return state


def missed(state: State, thrust: Thrust) -> Any:
    """How far that is from the circular orbit, and what the thrust costs."""
    x, y, u, v = state
    radius = math.sqrt(x * x + y * y)
    outwards, around = (x * u + y * v) / radius, (x * v - y * u) / radius
    return (radius - TARGET) ** 2 + outwards**2 + (around - TARGET**-0.5) ** 2 + np.mean(thrust * thrust)


def loss(thrust: Thrust) -> Any:
    state = (1.0, 0.0, 0.0, 1.0)
    for leg in checkpointed(range(LEGS), every=1):
        state = fly(state, float(thrust[leg, 0]), float(thrust[leg, 1]))
    return missed(state, thrust)


def loss_without_checkpoints(thrust: Thrust) -> Any:
    state = (1.0, 0.0, 0.0, 1.0)
    for leg in range(LEGS):
        state = fly(state, float(thrust[leg, 0]), float(thrust[leg, 1]))
    return missed(state, thrust)


def optimise(thrust: Thrust, rounds: int) -> Thrust:
    """Adam, with steps that become shorter."""
    value_and_gradient = value_and_grad(loss)
    mean, square = np.zeros_like(thrust), np.zeros_like(thrust)
    for count in range(1, rounds + 1):
        value, slope = value_and_gradient(thrust)
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope * slope
        direction = (mean / (1 - 0.9**count)) / (np.sqrt(square / (1 - 0.99**count)) + 1e-8)
        thrust = thrust - 2e-3 * (1.0 - count / (rounds + 1)) * direction
        if count % 50 == 0 or count == rounds:
            print(f"round {count:4}: {value:.6f}")
    return thrust


def peak(f: Callable[[Thrust], Any], thrust: Thrust) -> float:
    """The kilobytes that a gradient takes at most."""
    value_and_gradient = value_and_grad(f)
    value_and_gradient(thrust)
    tracemalloc.start()
    value_and_gradient(thrust)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found / 1e3


def draw(thrust: Thrust, output: Path) -> None:
    """The flight, and the thrust over time."""
    states = [(1.0, 0.0, 0.0, 1.0)]
    for forwards, sideways in thrust.tolist():
        for _ in range(STEPS):
            states.append(advance(states[-1], forwards, sideways))
    xs, ys, *_ = np.transpose(states)
    figure, (space, time) = plt.subplots(1, 2, figsize=(9.0, 4.2), layout="constrained", width_ratios=(1.0, 1.1))
    angles = np.linspace(0.0, 2.0 * np.pi, 200)
    for radius in (1.0, TARGET):
        space.plot(radius * np.cos(angles), radius * np.sin(angles), color="#999999", linestyle="--", linewidth=0.9)
    space.plot(xs, ys, color="#3b6fb6", linewidth=1.5)
    space.plot(0.0, 0.0, "o", color="#222222", markersize=8)
    space.plot(xs[-1], ys[-1], "o", color="#d9622b", markersize=6)
    space.set(aspect="equal", title=f"{LEGS * STEPS:,} steps to a wider orbit")
    for column, (name, colour) in enumerate((("forwards", "#3b6fb6"), ("to the side", "#d9622b"))):
        time.stairs(thrust[:, column], np.linspace(0.0, LEGS * STEPS * STEP, LEGS + 1), color=colour, label=name, linewidth=1.6)
    time.set(title="thrust", xlabel="time")
    time.legend()
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=120)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description="Steer a spacecraft to a wider orbit, through 10,000 steps.")
    parser.add_argument("--rounds", type=int, default=120)
    parser.add_argument("--output", type=Path, default=PICTURE, help="where the picture goes (default: %(default)s)")
    options = parser.parse_args()

    thrust = np.full((LEGS, 2), (0.005, 0.0))
    without = peak(loss_without_checkpoints, thrust)
    print(f"a gradient keeps {peak(loss, thrust):,.0f} KB, and {without:,.0f} without checkpoints")
    thrust = optimise(thrust, options.rounds)
    draw(thrust, options.output)
    print(f"flight: {options.output}")


if __name__ == "__main__":
    main()
