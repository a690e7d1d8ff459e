"""The common expressions with arrays in forward mode: against reverse mode, and which of them are left to run time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from microgradpy import MissingRuleError, code_pushforward, jvp, pullback
from tests import finite_differences as fd
from tests.forward.tangents import assert_transposed, drawn
from tests.passes.expressions import EXPRESSIONS, SIZES, Expression, given_to, value_of
from tests.ways import some

LEFT = {
    "np.multiply.outer(x, v)", "sum(x)", "sum(x * y)", "max(x)", "np.logaddexp.reduce(x)",
    "np.gradient(x)", "np.maximum.accumulate(x)", "np.add.reduce(x)", "np.fft.fft2(M)", "np.arange(n) * a",
}  # fmt: skip
"""Those whose tangents are found at run time."""
SINGLE = {np.dtype(float): np.float32, np.dtype(complex): np.complex64}


def arguments_of(expression: Expression, dtype: str) -> list[Any]:
    """The arguments, of single precision if so wanted; places of a table increase."""
    given = given_to(expression, SIZES[0], "float" if dtype == "single" else dtype)
    if "np.interp" in expression.text:
        given |= {name: np.sort(x) for name, x in given.items() if isinstance(x, np.ndarray)}
    values = list(given.values())
    if dtype != "single":
        return values
    return [x.astype(SINGLE.get(x.dtype, x.dtype)) if isinstance(x, np.ndarray) else x for x in values]


def is_differentiated(x: Any) -> bool:
    return np.result_type(x).kind in "fc"


def has_derivative(expression: Expression, dtype: str) -> bool:
    value = value_of(expression.function(), dict(enumerate(arguments_of(expression, dtype))))  # type: ignore[arg-type]
    return value is not None and is_differentiated(value)


ROWS = [(each, "float") for each in EXPRESSIONS]
ROWS += [(each, kind) for kind in ("complex", "single") for each in some(EXPRESSIONS)]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_is_compiled(expression: Expression) -> None:
    text = code_pushforward(expression.function(), *arguments_of(expression, "float"))
    assert ("pushed" in text) == (expression.text in LEFT), text


@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize(("expression", "dtype"), [row for row in ROWS if has_derivative(*row)], ids=str)
def test_both_modes_are_transposes(expression: Expression, dtype: str) -> None:
    f, args = expression.function(), arguments_of(expression, dtype)
    rng = np.random.default_rng(3)
    dots = tuple(drawn(x, rng) if is_differentiated(x) else None for x in args)
    dots = tuple(dot.astype(x.dtype) if isinstance(dot, np.ndarray) else dot for dot, x in zip(dots, args, strict=True))
    with np.errstate(all="ignore"):
        try:
            y, back = pullback(f, *args)
            bars = back(y_bar := fd.random_seed(y))[1:]
        except MissingRuleError:
            with pytest.raises(MissingRuleError):
                jvp(f, tuple(args), dots)
            return
        y_dot = jvp(f, tuple(args), dots)[1]
    assert np.shape(y_dot) == np.shape(y)
    assert np.asarray(y_dot).dtype == np.asarray(y).dtype
    assert_transposed(y_bar, y_dot, bars, dots, 1e-3 if dtype == "single" else 1e-9)


HERMITIAN = np.array([[2.0, 0.3 + 0.2j, 0.1], [0.3 - 0.2j, 1.0, 0.5j], [0.1, -0.5j, -1.0]])
CHOICES = {
    "phases of eigenvectors": lambda a: np.linalg.eigh(a)[1],
    "phases of singular vectors": lambda a: np.linalg.svd(a)[0],
    "a basis of a complement": lambda a: np.linalg.svd(a.real[:, :1])[0],
    "a basis beside orthogonal columns": lambda a: np.linalg.qr(a.real[:, :1], "complete")[0],
}


@pytest.mark.parametrize("name", CHOICES)
def test_what_is_a_choice_is_refused(name: str) -> None:
    with pytest.raises(MissingRuleError, match="which basis of a space was chosen"):
        jvp(CHOICES[name], (HERMITIAN,), (HERMITIAN,))


def test_beside_a_choice_there_are_tangents() -> None:
    w = np.linalg.eigvalsh(HERMITIAN)
    np.testing.assert_allclose(jvp(lambda a: np.linalg.eigh(a)[0], (HERMITIAN,), (HERMITIAN,))[1], w)
    np.testing.assert_allclose(jvp(lambda a: np.linalg.svd(a)[1], (HERMITIAN,), (HERMITIAN,))[1], np.sort(np.abs(w))[::-1])


def test_a_tangent_that_is_not_finite_stays_at_its_place() -> None:
    def left_out(x: Any, f: Any) -> Any:
        return np.delete(f(x), 1)

    y_dot = jvp(left_out, (np.array([0.0, 1.0, 4.0]), np.sqrt), (np.ones(3), None))[1]
    np.testing.assert_array_equal(y_dot, [np.inf, 0.25])
