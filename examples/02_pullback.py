"""`pullback` and `gradient` of plain Python: control flow, containers, closures."""

from __future__ import annotations

import math

import numpy as np

from microgradpy import gradient, pullback, value_and_gradient


def foo(x):
    return math.sin(math.cos(x))


def smallest_power_above(x, limit):
    """A loop whose length depends on the data."""
    y = x
    while y < limit:
        y = y * x
    return y


def squared_error(parameters, x, y):
    prediction = x @ parameters["weight"] + parameters["bias"]
    return np.mean((prediction - y) ** 2)


def main() -> None:
    y, back = pullback(foo, 0.6)
    print(f"foo(0.6) = {y:.5f}; back(1.0) = {back(1.0)}; back(2.0) = {back(2.0)}")

    y, (x_bar, _) = value_and_gradient(smallest_power_above, 1.5, 10.0)
    print(f"1.5 ** 6 = {y}; its derivative is {x_bar} = 6 * 1.5 ** 5")

    parameters = {"weight": np.array([0.5, -0.3]), "bias": 0.1}
    x, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 0.0])
    parameters_bar, _, _ = gradient(squared_error, parameters, x, y)
    print(f"the gradient has the structure of the argument: {parameters_bar}")

    scale = 3.0
    _, back = pullback(lambda x: scale * x, 2.0)
    print(f"a closure's captured variables have a gradient too: {back(1.0)}")


if __name__ == "__main__":
    main()
