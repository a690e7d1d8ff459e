"""Sparse matrices that are made of differentiated numbers: assembled, changed, multiplied, solved with; and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from microgradpy import DifferentiationError, gradient, jvp, pullback
from microgradpy.compiler import always_dispatch, always_track
from tests.finite_differences import differences

X = np.array([0.5, 1.5, 2.5])
ROWS, COLUMNS = np.array([0, 1, 2]), np.array([1, 2, 0])
W = np.array([1.0, 2.0, -0.7])


def made(x):
    return sparse.csr_matrix((x, (ROWS, COLUMNS)), shape=(3, 3))


def assembled(x):
    rows, columns, values = [], [], []
    for k in range(3):
        rows += [k, k]
        columns += [k, (k + 1) % 3]
        values += [x[k] ** 2, -x[k]]
    a = sparse.csr_matrix((values, (rows, columns)), shape=(3, 3))
    return (a @ W) @ W + (a.T @ a).toarray()[0, 1]


def with_duplicates(x):
    a = sparse.coo_matrix((x, ([0, 0, 1], [1, 1, 0])), shape=(3, 3))
    return (a.tocsr() @ W).sum() + (a.tocsc() @ W)[1] * (a @ W)[0]


def poisson(x):
    a = sparse.diags([x + 3.0, -x[:2], -x[1:]], [0, 1, -1]).tocsc()
    return linalg.spsolve(a, W) @ W + linalg.spsolve(sparse.diags_array([x], offsets=[0], format="csr"), W).sum()


def steps(x):
    step = sparse.eye(3, format="csr") - 0.1 * made(x)
    y = W
    for _ in range(3):
        y = step @ y
    return y @ y


def combined(x):
    a, b = sparse.csr_array((x, (ROWS, COLUMNS)), shape=(3, 3)), sparse.csc_array((x * x, (ROWS, COLUMNS)), shape=(3, 3))
    total = (a + b - 2.0 * a) @ W + (a @ b / x[0]) @ W
    return total.sum() + (-a).sum() + a.diagonal(1).sum() + (a + np.ones((3, 3))).sum()


def stacked(x):
    a = made(x)
    both = sparse.vstack([a, sparse.eye(3)]) @ W
    beside = sparse.hstack([a, a.T]) @ np.arange(6.0)
    return both.sum() + beside.sum() + (sparse.kron(a, made(W), "csr") @ np.arange(9.0)).sum()


def items(x):
    a = sparse.csr_array((x, (ROWS, COLUMNS)), shape=(3, 3))
    return a[0, 1] * a[[1, 2]].sum() + (a[:2] @ W).sum() + a.power(3).sum() + a.multiply(x[1]).sum()


def converted(x):
    a = sparse.coo_array((x, (ROWS, COLUMNS)), shape=(3, 3))
    return (a.tocsr().tocsc().tocoo() @ W).sum() + a.toarray()[1, 2] * a.asformat("csr").T.sum(axis=0)[1]


def of_a_dense_matrix(x):
    return (sparse.csr_matrix(np.outer(x, x)) @ W).sum() + (W @ sparse.csc_array(np.diag(x)) @ W)


def numbers_that_are_written_afterwards(x):
    numbers = x.copy()
    a = sparse.coo_array((numbers, (ROWS, COLUMNS)), shape=(3, 3))
    b = sparse.csr_array((numbers, ROWS, [0, 1, 2, 3]), shape=(3, 3))
    numbers[0] = 5.0 * x[1]
    return (a @ W).sum() * (b @ W).sum()


def written_data(x):
    a = sparse.csr_array((x * 2.0, (ROWS, COLUMNS)), shape=(3, 3))
    a.data[0] = 5.0 * x[1]
    a.data *= x[2]
    out = np.zeros(3)
    out[:] = a @ W
    return out.sum()


PROGRAMS = [
    assembled, with_duplicates, poisson, steps, combined, stacked, items, converted, of_a_dense_matrix,
    numbers_that_are_written_afterwards, written_data,
]  # fmt: skip


@pytest.mark.parametrize("context", [nullcontext, always_track])
@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f: Callable[..., Any], context: Any) -> None:
    expected = differences(f, (X,))
    with context():
        y, back = pullback(f, X)
        np.testing.assert_allclose(back(1.0)[1], expected, rtol=1e-6)
        np.testing.assert_array_equal(back(1.0)[1], back(1.0)[1])
        found = jvp(f, (X,), (W,))
    assert y == f(X) == found[0]
    np.testing.assert_allclose(found[1], expected @ W, rtol=1e-6)


@pytest.mark.parametrize("f", PROGRAMS)
def test_dispatched_programs_are_right_or_refused(f: Callable[..., Any]) -> None:
    with always_dispatch():
        try:
            found = gradient(f, X)[0]
        except DifferentiationError:
            return
    np.testing.assert_allclose(found, differences(f, (X,)), rtol=1e-6)


def an_item_written(x):
    a = sparse.csr_array((x * 2.0, (ROWS, COLUMNS)), shape=(3, 3))
    a[0, 1] = 5.0 * x[1]
    return (a @ W).sum()


def by_entries(x):
    return made(x).multiply(made(x)).sum()


def lists_of_lists(x):
    a = sparse.lil_matrix((3, 3))
    a[0, 0] = x[0]
    return (a.tocsr() @ W).sum()


@pytest.mark.parametrize("f", [an_item_written, by_entries, lists_of_lists])
def test_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(DifferentiationError):
        gradient(f, X)
    with pytest.raises(DifferentiationError):
        jvp(f, (X,), (W,))
