"""Functions of eigenvectors and singular vectors that do not depend on the choice of these, and those that do; equal
eigenvalues; ranks; and what NumPy's polynomials drop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import MissingRuleError, gradient
from tests.finite_differences import differences, flatten_cotangent


def table(*shape: int) -> np.ndarray:
    return np.sin(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)) ** 2 * 1.7 + len(shape)).reshape(shape)


SQUARE, OTHER = table(3, 3), np.cos(table(3, 3) * 5.0)
COMPLEX = SQUARE + 1j * OTHER
TALL = table(5, 2) + 1j * np.cos(table(5, 2) * 5.0)
SYMMETRIC_EQUAL = np.diag([2.0, 2.0, 5.0])


def assert_right(f: Callable[..., Any], *args: Any) -> None:
    found = gradient(f, *args)
    np.testing.assert_allclose(flatten_cotangent(args, found), differences(f, args), rtol=1e-6, atol=1e-7)


def matrix_function(a):
    w, v = np.linalg.eigh(a)
    return np.sum(np.abs((v * np.exp(w)) @ np.conj(v).T) ** 2)


def weighted_projections(a):
    w, v = np.linalg.eigh(a, "U")
    first = np.outer(v[:, 0], np.conj(v[:, 0]))
    return np.real(np.sum(first * OTHER)) + w[1]


def sizes_of_eigenvectors(a):
    w, v = np.linalg.eig(a)
    return np.sum(np.abs(v) ** 2 * OTHER) + np.sum(np.abs(w) ** 3)


def phases_of_eigenvectors(a):
    return np.sum(np.real(np.linalg.eig(a)[1][0] * np.array([0.4, 0.9, -1.1])))


def symmetric_sum_of_eigenvalues(a):
    return np.real(np.sum(np.linalg.eigvals(a) ** 3))


def polar_factor(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(np.abs(u @ vh + 0.3) ** 2) + np.sum(s**3)


def projections_of_svd(a):
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(np.abs(u[:, 0]) ** 2 * np.arange(len(u))) + np.abs(np.conj(vh[0]) @ vh[0, ::-1]) ** 2


def projection(basis):
    return np.real(np.sum((basis @ np.conj(basis).T) * np.sin(np.arange(len(basis) ** 2.0)).reshape(len(basis), -1)))


def complement(a):
    return projection(np.linalg.svd(a)[0][:, a.shape[1] :])


def complement_of_qr(a):
    q, r = np.linalg.qr(a, "complete")
    return projection(q[:, a.shape[1] :]) + np.abs(r[0, 1])


def low_rank(b):
    return np.sum(np.abs(np.linalg.pinv(b @ np.conj(b).T)) ** 2)


def low_rank_solution(b):
    return np.sum(np.abs(np.linalg.lstsq(b @ np.conj(b).T, np.arange(5.0))[0]) ** 2)


def hermitian_pseudoinverse(a):
    return np.sum(np.abs(np.linalg.pinv(a, hermitian=True)) ** 2 * OTHER)


def hermitian_svd(a):
    u, s, vh = np.linalg.svd(a, hermitian=True)
    return np.sum(np.abs((u * np.sin(s)) @ vh) ** 2 * OTHER)


def triangle_and_values(a):
    return np.sum(np.abs(np.linalg.qr(a)[1]) ** 3) + np.sum(np.linalg.svd(a, compute_uv=False) ** 3)


@pytest.mark.parametrize(
    "f, a",
    [
        (hermitian_pseudoinverse, SQUARE),
        (hermitian_pseudoinverse, COMPLEX),
        (hermitian_svd, SQUARE),
        (hermitian_svd, COMPLEX),
        (triangle_and_values, TALL),
        (triangle_and_values, TALL.T),
        (matrix_function, SQUARE),
        (matrix_function, COMPLEX),
        (weighted_projections, COMPLEX),
        (sizes_of_eigenvectors, SQUARE),
        (sizes_of_eigenvectors, COMPLEX),
        (phases_of_eigenvectors, COMPLEX),
        (symmetric_sum_of_eigenvalues, SQUARE),
        (symmetric_sum_of_eigenvalues, table(6, 6)),
        (polar_factor, SQUARE),
        (polar_factor, COMPLEX),
        (polar_factor, TALL),
        (polar_factor, TALL.T),
        (projections_of_svd, TALL),
        (complement, TALL),
        (complement, TALL.real),
        (complement_of_qr, TALL),
        (complement_of_qr, TALL.real),
        (low_rank, TALL),
        (low_rank_solution, TALL),
    ],
)
def test_what_does_not_depend_on_the_choice(f: Callable[..., Any], a: Any) -> None:
    assert_right(f, a)


@pytest.mark.parametrize(
    "f, a",
    [
        (lambda a: np.sum(np.imag(np.linalg.eigh(a)[1])), COMPLEX + COMPLEX.conj().T),
        (lambda a: np.sum(np.imag(np.linalg.svd(a)[0])), COMPLEX),
        (lambda a: np.sum(np.linalg.svd(a)[0] * table(5, 5)), TALL.real),
        (lambda a: np.sum(np.linalg.qr(a, "complete")[0] * table(5, 5)), TALL.real),
    ],
)
def test_what_depends_on_the_choice_is_refused(f: Callable[..., Any], a: Any) -> None:
    with pytest.raises(MissingRuleError, match="phase"):
        gradient(f, a)


def test_equal_eigenvalues_that_nobody_tells_apart() -> None:
    (a_bar,) = gradient(lambda a: np.sum(np.linalg.eigh(a)[0]), SYMMETRIC_EQUAL)
    np.testing.assert_allclose(a_bar, np.eye(3), atol=1e-12)
    (a_bar,) = gradient(lambda a: np.linalg.eigh(a)[1][0, 2] / np.linalg.eigh(a)[1][2, 2], SYMMETRIC_EQUAL)
    expected = np.zeros((3, 3))
    expected[2, 0] = 1.0 / 3.0
    np.testing.assert_allclose(a_bar, expected, atol=1e-12)
    (a_bar,) = gradient(lambda a: np.sum(np.linalg.eigh(a)[1] ** 2), np.eye(3))
    np.testing.assert_allclose(a_bar, np.zeros((3, 3)), atol=1e-12)


def test_equal_singular_values_and_zeros() -> None:
    (a_bar,) = gradient(lambda a: np.sum(np.linalg.svd(a)[1]), np.eye(3))
    np.testing.assert_allclose(a_bar, np.eye(3), atol=1e-12)
    low = np.outer([1.0, 2.0, 2.0], [3.0, 4.0])
    (a_bar,) = gradient(lambda a: np.linalg.svd(a, full_matrices=False)[0][0, 0] ** 2, low)
    assert np.all(np.isfinite(a_bar))


def test_equal_values_that_are_told_apart_have_no_derivative() -> None:
    (a_bar,) = gradient(lambda a: np.linalg.eigh(a)[1][1, 0], SYMMETRIC_EQUAL)
    assert np.any(np.isnan(a_bar))
    (a_bar,) = gradient(lambda a: np.sum(np.linalg.svd(a)[0] * SQUARE), np.eye(3))
    assert np.any(np.isnan(a_bar))
    for a in (np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[1.0, 1.0], [0.0, 1.0]])):
        (a_bar,) = gradient(lambda a: np.sum(np.linalg.eigvals(a) ** 2).real, a)
        assert np.all(np.isnan(a_bar))


def test_norms_at_ties_share_evenly() -> None:
    (a_bar,) = gradient(lambda a: np.linalg.norm(a, 2), np.eye(4))
    np.testing.assert_allclose(a_bar, np.eye(4) / 4.0, atol=1e-12)
    (a_bar,) = gradient(lambda a: np.linalg.norm(a, 1), np.eye(2))
    np.testing.assert_allclose(a_bar, np.eye(2) / 2.0, atol=1e-12)
    for order in ("fro", "nuc", 1, 2, -2, np.inf):
        (a_bar,) = gradient(lambda a, order=order: np.linalg.norm(a, order), np.zeros((2, 3)))
        np.testing.assert_allclose(a_bar, np.zeros((2, 3)))


def test_a_pseudoinverse_that_leaves_out_what_is_not_zero_is_refused() -> None:
    a = np.diag([1.0, 0.5, 0.01])
    with pytest.raises(MissingRuleError, match="leaves out"):
        gradient(lambda a: np.sum(np.linalg.pinv(a, 0.1)), a)
    with pytest.raises(MissingRuleError, match="leaves out"):
        gradient(lambda a: np.sum(np.linalg.lstsq(a, np.ones(3), 0.1)[0]), a)


def test_singular_factors_give_nan_and_no_error() -> None:
    (a_bar,) = gradient(lambda a: np.sum(np.linalg.qr(a)[0]), np.zeros((3, 2)))
    assert np.all(np.isnan(a_bar))
    (a_bar,) = gradient(lambda a: np.linalg.cond(a, 1), np.diag([1.0, 0.0]))
    assert not np.any(np.isfinite(a_bar))


@pytest.mark.parametrize("name", ["eigh", "svd", "qr", "eig"])
def test_single_precision_is_kept(name: str) -> None:
    function = getattr(np.linalg, name)
    (a_bar,) = gradient(lambda a: np.sum(np.abs(function(a)[0])), SQUARE.astype(np.float32))
    assert a_bar.dtype == np.float32


def sum_of_squared_roots(p):
    return np.sum(np.roots(p) ** 2)


def test_polynomials_with_zeros_in_front() -> None:
    p, q = np.array([0.0, 2.0, 1.0]), np.array([0.0, 0.0, 3.0, -1.0])
    p_bar, q_bar = gradient(lambda p, q: np.sum(np.polymul(p, q) * np.array([1.0, 2.0, 4.0])), p, q)
    np.testing.assert_allclose(p_bar, [0.0, 3.0 - 2.0, 6.0 - 4.0])
    np.testing.assert_allclose(q_bar, [0.0, 0.0, 2.0 + 2.0, 4.0 + 4.0])
    p_bar, q_bar = gradient(lambda p, q: np.sum(np.polymul(p, q)), np.zeros(2), np.array([1.0, 2.0]))
    np.testing.assert_allclose(p_bar, np.zeros(2))
    np.testing.assert_allclose(q_bar, np.zeros(2))
    (p_bar,) = gradient(sum_of_squared_roots, np.array([0.0, 1.0, -3.0, 2.0]))
    expected = differences(sum_of_squared_roots, (np.array([1.0, -3.0, 2.0]),))
    np.testing.assert_allclose(p_bar[1:], expected, rtol=1e-6)


def test_conjugate_roots_give_real_coefficients() -> None:
    def from_real_parts(x):
        return np.sum(np.poly(np.array([x[0] + 1j * x[1], x[0] - 1j * x[1]])) * np.array([1.0, 2.0, 3.0]))

    assert_right(from_real_parts, np.array([0.7, 1.3]))


def test_polynomials_refuse_what_they_do_not_handle() -> None:
    x, y = np.arange(4.0), np.array([1.0, 0.5, 2.0, 1.5])
    with pytest.raises(MissingRuleError, match="poly1d"):
        gradient(lambda y: np.sum(np.polyval(np.poly1d([1.0, 2.0]), y)), y)
    with pytest.raises(MissingRuleError, match="covariance"):
        gradient(lambda y: np.sum(np.polyfit(x, y, 1, cov=True)[1]), y)
    found = gradient(lambda y: np.sum(np.polyfit(x, y, 1, cov=True)[0]), y)
    np.testing.assert_allclose(found, gradient(lambda y: np.sum(np.polyfit(x, y, 1)), y))
