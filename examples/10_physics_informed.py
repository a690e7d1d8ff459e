"""Find how strongly a pendulum is damped from a few noisy readings, by a small network that has to obey the law of its motion.

The loss takes the network's own velocity and acceleration, by forward mode inside of what is differentiated in reverse:

    theta'' + damping * theta' + 9.81 / length * sin(theta) = 0

Usage: python 10_physics_informed.py [--steps 400] [--output picture.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from microgradpy import jvp, value_and_grad

matplotlib.use("Agg")  # draws into files; needs no screen
from matplotlib import pyplot as plt

PICTURE = Path(__file__).parent / "images" / "physics_informed.png"
LENGTH, DAMPING, END = 1.2, 0.45, 4.0
SIZES = ((1, 12), (12,), (12, 12), (12,), (12, 1))


def motion(times):
    """The true angles, for comparison."""

    def law(t, state):
        return [state[1], -DAMPING * state[1] - 9.81 / LENGTH * np.sin(state[0])]

    return solve_ivp(law, (0.0, END), [1.2, 0.0], t_eval=times, rtol=1e-9, atol=1e-9).y[0]


def unpacked(vector):
    """The damping, and the weights of the network."""
    parts, start = [], 1
    for shape in SIZES:
        size = int(np.prod(shape))
        parts.append(vector[start : start + size].reshape(shape))
        start += size
    return vector[0], parts


def angle(parts, t):
    w1, b1, w2, b2, w3 = parts
    hidden = np.tanh((t[:, None] / END * 2.0 - 1.0) * 3.0 @ w1 + b1)
    return (np.tanh(hidden @ w2 + b2) @ w3)[:, 0]


def velocity(parts, t):
    return jvp(lambda s: angle(parts, s), (t,), (np.ones(len(t)),))[1]


def acceleration(parts, t):
    return jvp(lambda s: velocity(parts, s), (t,), (np.ones(len(t)),))[1]


def loss(vector, times, readings, inside):
    damping, parts = unpacked(vector)
    force = acceleration(parts, inside) + damping * velocity(parts, inside) + 9.81 / LENGTH * np.sin(angle(parts, inside))
    return np.mean((angle(parts, times) - readings) ** 2) + 1e-3 * np.mean(force**2)


def main() -> None:
    parser = argparse.ArgumentParser(description="A network that obeys a law of motion.")
    parser.add_argument("--steps", type=int, default=400, help="steps of the optimiser (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=PICTURE, help="where the picture goes (default: %(default)s)")
    arguments = parser.parse_args()

    rng = np.random.default_rng(1)
    times, inside, fine = np.linspace(0.1, 2.4, 9), np.linspace(0.0, END, 40), np.linspace(0.0, END, 200)
    readings = motion(times) + rng.normal(scale=0.03, size=len(times))
    start = np.concatenate([[0.0], *(rng.normal(size=shape).ravel() / np.sqrt(shape[0]) for shape in SIZES)])
    steps = []
    found = minimize(
        value_and_grad(loss), start, (times, readings, inside), "L-BFGS-B", jac=True,
        callback=lambda x: steps.append(x[0]), options={"maxiter": arguments.steps, "maxfun": 10 * arguments.steps},
    )  # fmt: skip
    damping, parts = unpacked(found.x)
    print(f"loss {found.fun:.2e} after {found.nit} steps; damping {damping:.3f}, the true one is {DAMPING}")

    figure, (curves, course) = plt.subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")
    curves.plot(fine, motion(fine), color="0.7", linewidth=4.0, label="true")
    curves.plot(fine, angle(parts, fine), label="network")
    curves.plot(times, readings, "k.", label="readings")
    curves.set(title="Angle", xlabel="time in s", ylabel="rad")
    curves.legend()
    course.axhline(DAMPING, color="0.7", linewidth=4.0)
    course.plot(steps)
    course.set(title="Damping", xlabel="step", ylabel="1/s")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(arguments.output, dpi=110)
    print(f"picture: {arguments.output}")


if __name__ == "__main__":
    main()
