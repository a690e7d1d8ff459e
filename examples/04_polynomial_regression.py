"""Fit a cubic to noisy points by gradient descent on an object of one's own."""

from __future__ import annotations

import numpy as np

from microgradpy import value_and_gradient
from microgradpy.nn import Adam, mse

TRUE_COEFFICIENTS = np.array([3.0, 2.0, -3.0, 1.0])


class Polynomial:
    """coefficients[0] + coefficients[1] * x + ..., evaluated by Horner's method."""

    def __init__(self, degree: int) -> None:
        self.coefficients = np.zeros(degree + 1)

    def __call__(self, x):
        y = 0.0
        for coefficient in reversed(self.coefficients):
            y = y * x + coefficient
        return y


def main() -> None:
    draw = np.random.default_rng(1)
    x = draw.uniform(-1.0, 3.0, 100)
    y = np.polynomial.polynomial.polyval(x, TRUE_COEFFICIENTS) + draw.normal(0.0, 0.1, x.shape)

    model, optimizer = Polynomial(degree=3), Adam(learning_rate=0.05)
    for step in range(1001):
        loss, (model_bar,) = value_and_gradient(lambda model: mse(model(x), y), model)
        if step % 200 == 0:
            print(f"step {step:4}: loss {loss:8.4f}, coefficients {model.coefficients.round(3)}")
        optimizer.update(model, model_bar)
    print(f"the points were made with {TRUE_COEFFICIENTS}")


if __name__ == "__main__":
    main()
