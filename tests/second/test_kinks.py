"""Second derivatives where first ones follow a convention: right, or NaN, or what the convention says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from microgradpy import gradient, hessian, hvp, jvp

_E = np.array([[1.0, 0.5, 0.2], [0.5, -1.0, 0.3], [0.2, 0.3, 0.7]])
_REPEATED = {
    "the identity": np.eye(3),
    "two equal values": np.diag([1.0, 1.0, 2.0]),
    "zeros": np.zeros((3, 3)),
    "rank one": np.ones((3, 3)),
    "distinct values": _E + 3.0 * np.eye(3),
}
OF_VALUES = {
    "eigvalsh": lambda a: np.sum(np.linalg.eigvalsh(a) ** 2),
    "eigh": lambda a: np.sum(np.linalg.eigh(a)[0] ** 2),
    "svd": lambda a: np.sum(np.linalg.svd(a)[1] ** 2),
    "svd without vectors": lambda a: np.sum(np.linalg.svd(a, compute_uv=False) ** 2),
    "svdvals": lambda a: np.sum(np.linalg.svdvals(a) ** 2),
}


def of_vectors(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return np.sum((v * np.exp(w)) @ v.T * _E)


@pytest.mark.parametrize("place", _REPEATED)
@pytest.mark.parametrize("name", [*OF_VALUES, "of vectors"])
def test_of_equal_values_they_are_nan(name: str, place: str) -> None:
    """`np.sum(w**2)` has second derivatives there. They are not found by how each value changes, and no others are given."""
    f, a = OF_VALUES.get(name, of_vectors), _REPEATED[place]
    found = hvp(f, a, _E)
    if place == "distinct values":
        after, before = (gradient(f, a + h * _E)[0] for h in (1e-5, -1e-5))
        expected = (after - before) / 2e-5
        np.testing.assert_allclose(found + found.T, expected + expected.T, atol=1e-5)
    else:
        assert np.isnan(found).any()


@pytest.mark.parametrize("a", [*_REPEATED.values(), np.ones((2, 2)), np.array([[2.0]])], ids=str)
def test_determinants_are_polynomials(a: Any) -> None:
    v = _E[: len(a), : len(a)]
    after, before = (gradient(np.linalg.det, a + h * v)[0] for h in (1e-4, -1e-4))
    np.testing.assert_allclose(hvp(lambda a: np.linalg.det(a), a, v), (after - before) / 2e-4, atol=1e-6)


WEIGHTS = np.array([0.5, 1.5, -1.0, 2.0])
SMOOTH = {
    "prod with a zero": (lambda x: np.prod(x), [2.0, 0.0, 3.0, 1.5]),
    "prod with two zeros": (lambda x: np.prod(x), [2.0, 0.0, 0.0, 1.5]),
    "cumprod with a zero": (lambda x: np.sum(WEIGHTS * np.cumprod(x)), [2.0, 0.0, 3.0, 1.5]),
    "sinc at 0": (lambda x: np.sum(np.sinc(x)), [0.0, 0.05, 1e-9, 0.7]),
    "squares at 0": (lambda x: np.sum(x**2 * np.abs(x) ** 3), [0.0, 1.0, -0.5, 0.2]),
    "var of equal numbers": (lambda x: np.var(x), [1.0, 1.0, 1.0, 1.0]),
    "solve": (lambda x: np.sum(np.linalg.solve(np.outer(x, x) + np.eye(4), x)), [0.0, 1.0, -0.5, 0.2]),
    "quantile": (lambda x: np.quantile(x, 0.3) ** 2, [0.4, 1.0, -0.5, 0.2]),
    "clip": (lambda x: np.sum(np.clip(x, -0.3, 0.5) ** 3), [0.4, 1.0, -0.5, 0.2]),
    "sort": (lambda x: np.sum(WEIGHTS * np.sort(x) ** 2), [0.4, 1.0, -0.5, 0.2]),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_where_there_is_one_it_is_right(name: str) -> None:
    f, point = SMOOTH[name]
    x, v = np.array(point), np.array([1.0, -0.5, 0.3, 0.8])
    after, before = (gradient(f, x + h * v)[0] for h in (1e-5, -1e-5))
    np.testing.assert_allclose(hvp(f, x, v), (after - before) / 2e-5, rtol=1e-4, atol=1e-5)


CONVENTIONS = {
    "max with ties": (lambda x: np.max(x) ** 2, [1.0, 3.0, 3.0]),
    "clip at the edges": (lambda x: np.sum(np.clip(x, 0.0, 1.0) ** 2), [0.0, 0.5, 1.0]),
    "abs at 0": (lambda x: np.sum(np.abs(x) * x), [0.0, -1.0, 2.0]),
    "norm at 0": (lambda x: np.linalg.norm(x) ** 2, [0.0, 0.0, 0.0]),
    "std of equal numbers": (lambda x: np.std(x) ** 2, [2.0, 2.0, 2.0]),
}


@pytest.mark.parametrize("name", CONVENTIONS)
def test_elsewhere_it_is_that_of_the_slope_by_convention(name: str) -> None:
    """Symmetric, and the same along all directions: the derivative of the one slope that forward and reverse mode agree on."""
    f, point = CONVENTIONS[name]
    x, v = np.array(point), np.array([1.0, -0.5, 0.3])
    with np.errstate(all="ignore"):
        found = hessian(f, x)
        np.testing.assert_allclose(found, found.T, atol=1e-12)
        np.testing.assert_allclose(found @ v, hvp(f, x, v), atol=1e-12)
        np.testing.assert_allclose(jvp(f, (x,), (v,))[1], gradient(f, x)[0] @ v, atol=1e-12)
