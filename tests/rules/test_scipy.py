"""SciPy in programs as users write them, against central differences of the whole program."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import linalg

from microgradpy import gradient
from microgradpy.compiler import always_dispatch, always_track
from tests.finite_differences import differences, flatten_cotangent

MATRIX = np.array([[4.0, 0.3, -0.5], [0.7, 3.0, 0.2], [-0.1, 0.9, 5.0]])
VECTOR = np.array([0.3, -1.2, 2.1])


class Program(NamedTuple):
    f: Callable[..., Any]
    args: tuple[Any, ...]


def loss_of_a_solve(a, b):
    x = linalg.solve(a, b)
    return np.sum(x * x) + x[0]


def log_determinant(x):
    covariance = x @ x.T + np.eye(3)
    return 2.0 * np.sum(np.log(np.diag(linalg.cholesky(covariance, lower=True))))


def gaussian_log_likelihood(x, y, scale):
    covariance = np.exp(-0.5 * (x[:, None] - x) ** 2 / scale**2) + 0.1 * np.eye(3)
    factor = linalg.cho_factor(covariance)
    return -0.5 * y @ linalg.cho_solve(factor, y) - np.sum(np.log(np.diag(factor[0])))


def gaussian_log_likelihood_of_arrays_that_are_filled(x, y, scale):
    covariance = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            covariance[i, j] = np.exp(-0.5 * (x[i] - x[j]) ** 2 / scale**2)
    covariance += 0.1 * np.eye(3)
    lower = linalg.cholesky(covariance, lower=True)
    z = linalg.solve_triangular(lower, y, lower=True)
    return -0.5 * z @ z - np.sum(np.log(np.diag(lower)))


def one_factorisation_for_two_solves(a, b):
    factors = linalg.lu_factor(a)
    x = linalg.lu_solve(factors, b)
    return x @ linalg.lu_solve(factors, x, trans=1)


def state_after_a_time(generator, state, time):
    return np.sum(np.sin(linalg.expm(generator * time) @ state))


def energy_of_the_lowest_states(h):
    w, v = linalg.eigh(h + h.T)
    density = v[:, :2] @ v[:, :2].T
    return w[0] + 0.3 * w[1] + np.sum(density * VECTOR)


def heat_in_a_rod(conductivity, source):
    bands = np.zeros((3, 3))
    bands[0, 1:] = -conductivity[1:]
    bands[1] = 2.0 + conductivity
    bands[2, :-1] = -conductivity[:-1]
    return np.sum(linalg.solve_banded((1, 1), bands, source) ** 2)


def stationary_covariance(a, q):
    return np.trace(linalg.solve_continuous_lyapunov(a, q @ q.T))


def fitted_line(x, y):
    coefficients, residual, rank, s = linalg.lstsq(np.stack((x, np.ones(3)), axis=1), y)
    return coefficients[0] ** 2 + residual


LINALG = (
    Program(loss_of_a_solve, (MATRIX, VECTOR)),
    Program(log_determinant, (MATRIX,)),
    Program(gaussian_log_likelihood, (VECTOR, VECTOR[::-1].copy(), 0.9)),
    Program(gaussian_log_likelihood_of_arrays_that_are_filled, (VECTOR, VECTOR[::-1].copy(), 0.9)),
    Program(one_factorisation_for_two_solves, (MATRIX, VECTOR)),
    Program(state_after_a_time, (0.2 * MATRIX, VECTOR, 0.7)),
    Program(energy_of_the_lowest_states, (MATRIX,)),
    Program(heat_in_a_rod, (np.array([0.3, 0.8, 0.5]), VECTOR)),
    Program(stationary_covariance, (MATRIX, np.outer(VECTOR, VECTOR) + np.eye(3))),
    Program(fitted_line, (VECTOR, VECTOR**2)),
)
PROGRAMS = LINALG
MODES = {"as it is": nullcontext, "dispatched": always_dispatch, "tracked": always_track}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.f.__name__)
def test_gradients_are_those_of_central_differences(program: Program, mode: str) -> None:
    with MODES[mode]():
        found = gradient(program.f, *program.args)
    expected = differences(program.f, program.args)
    np.testing.assert_allclose(flatten_cotangent(program.args, found), expected, rtol=2e-6, atol=2e-7)
