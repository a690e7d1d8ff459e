"""Code as a user types it: lines marked `# error` are mistakes that type checkers have to find, and no others
(`test_types_of_users.py`). It is not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_type

import numpy as np

from microgradpy import (
    NoTangent,
    Tangent,
    checkpointed,
    elementwise_grad,
    grad,
    gradient,
    hess,
    hvp,
    ignore_derivatives,
    jac,
    jacobian,
    jvp,
    pullback,
    rrule,
    stop_gradient,
    value_and_grad,
    value_and_gradient,
    vjp,
)

Vector = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


class Model:
    weight: float = 1.0

    def __call__(self, x: float) -> float:
        return self.weight * x

    def scaled(self, x: float, by: float = 2.0) -> float:
        return by * self(x)


def loss(x: float, rate: float = 0.5) -> float:
    return x * rate


def energy(u: Vector, *, stiffness: float) -> np.float64:
    return np.float64(stiffness * np.sum(u * u))


def with_aux(x: float) -> tuple[float, str]:
    return x * x, "aux"


# Signatures stay what they are

slope = grad(loss)
slope(2.0)
slope(2.0, rate=1.0)
slope("2.0")  # error
slope(2.0, speed=1.0)  # error
slope()  # error
grad(energy)(np.ones(3), stiffness=2.0)
grad(energy)(np.ones(3))  # error
grad(loss, argnum=1)  # error
grad(2.0)  # error
jac(loss)(2.0, rate=1.0)
jac(loss)("2.0")  # error
hess(loss)(2.0, rate=1.0)
hess(loss)(2.0, speed=1.0)  # error
elementwise_grad(loss)(2.0, 1.0)
elementwise_grad(loss)(2.0, 1.0, 3.0)  # error
grad(Model())(2.0)
grad(Model())(2.0, 3.0)  # error
grad(Model().scaled)(2.0, by=1.0)
grad(Model().scaled)(2.0, times=1.0)  # error
grad(grad(loss))(2.0)
grad(np.sum)(np.ones(3))
grad(np.sin)(2.0)
grad(lambda x: x * x)(2.0)
grad(loss, argnums="rate")(2.0, rate=1.0)

# Values have the type of the function's

assert_type(value_and_grad(loss)(2.0), tuple[float, Any])
assert_type(value_and_grad(with_aux, has_aux=True)(2.0), tuple[tuple[float, str], Any])
assert_type(value_and_gradient(loss, 2.0), tuple[float, tuple[Any, ...]])
assert_type(gradient(loss, 2.0), tuple[Any, ...])
assert_type(pullback(energy, np.ones(3), stiffness=1.0)[0], np.float64)
assert_type(pullback(loss, 2.0)[1].source, str)
assert_type(vjp(loss, 2.0)[0], float)
assert_type(jvp(loss, (2.0,), (1.0,))[0], float)
assert_type(stop_gradient(2.0), float)
assert_type(checkpointed(loss)(2.0), float)
assert_type(ignore_derivatives(loss)(2.0), float)
jacobian(loss, 2.0, argnums="rate")
hvp(loss, 2.0, 1.0, rate=0.5)
gradient(np.sum, np.ones(3))
gradient(np.dot, np.ones(3), np.ones(3))

# Gradients calculate

tangent = Tangent(Model, weight=1.0)
assert_type(-tangent + tangent, Tangent)
0.1 * tangent
np.float64(0.1) * tangent
Model() - 0.1 * tangent
sum([tangent, tangent])


# Rules


@rrule.register(loss)
def loss_rrule(x: float, rate: float = 0.5) -> tuple[float, Callable[[float], tuple[NoTangent, float, float]]]:
    def loss_pullback(y_bar: float) -> tuple[NoTangent, float, float]:
        return NoTangent(), y_bar * rate, y_bar * x

    return x * rate, loss_pullback


assert_type(loss_rrule(2.0)[0], float)
