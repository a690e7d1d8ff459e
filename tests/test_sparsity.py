"""`sparsity=` of `jacobian`, `hessian` and their kind: patterns given, detected, and refused."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, sparse
from scipy.sparse import linalg

from microgradpy import DifferentiationError, gradient, hess, hessian, jac, jacobian, jacobians, value_and_jacobian
from microgradpy.cache import CACHE
from microgradpy.sparsity.colouring import colours_of_columns, count_of
from microgradpy.sparsity.detection import detected
from microgradpy.sparsity.maps import LinearMap
from microgradpy.sparsity.patterns import Pattern, pattern_of
from tests.program_numbers import batches
from tests.programs import PROGRAMS, Program
from tests.random_programs import random_program
from tests.ways import some

X = np.linspace(0.3, 1.7, 12)
T = np.linspace(0.0, 1.0, 50)


def band(x: Any) -> Any:
    """A program that writes its rows into an array."""
    y = np.zeros_like(x)
    y[1:-1] = x[2:] - 2.0 * x[1:-1] ** 2 + np.sin(x[:-2])
    y[0], y[-1] = x[0], x[-1] * x[-2]
    return y


def band_by_items(x: Any) -> Any:
    y = []
    for k in range(len(x)):
        left, right = x[k - 1] if k else 0.0, x[k + 1] if k + 1 < len(x) else 0.0
        y.append(left * right - x[k] ** 3)
    return np.array(y)


def grid(x: Any) -> Any:
    """Diffusion on a grid."""
    u = np.pad(x.reshape(3, 4), 1)
    return (u[1:-1, 2:] + u[1:-1, :-2] + u[2:, 1:-1] + u[:-2, 1:-1] - 4.0 * np.exp(u[1:-1, 1:-1])).ravel()


def arrow(x: Any) -> Any:
    """A dense row and a dense column."""
    return np.append(x[:-1] * x[-1], x @ x)


def tall(x: Any) -> Any:
    return np.concatenate([x**2, x[1:] * x[:-1], np.sin(x)])


def wide(x: Any) -> Any:
    return x[::3] * x[1::3] + x[2::3]


def sums(x: Any) -> Any:
    return np.cumsum(x)


def empty_columns(x: Any) -> Any:
    return np.tanh(x[::4])


def zeros_by_chance(x: Any) -> Any:
    return np.stack([x[0] * (x[1] - x[1]), x[2] * 0.0 + x[3]])


def ordered(x: Any) -> Any:
    return np.sort(x) * x


FUNCTIONS = [band, band_by_items, grid, arrow, tall, wide, sums, empty_columns, zeros_by_chance, ordered]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_the_matrix_is_the_dense_one(f: Callable[..., Any]) -> None:
    expected = jacobian(f, X)
    found = jacobian(f, X, sparsity="detect")
    assert type(found) is sparse.csc_array and found.dtype == float
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-14)
    for given in (found, sparse.csr_matrix(found), expected != 0.0, np.ones(expected.shape, int)):
        np.testing.assert_allclose(jacobian(f, X, sparsity=given).toarray(), expected, rtol=1e-14)


def test_what_is_detected() -> None:
    nonzeros = {f.__name__: (jacobian(f, X, sparsity="detect").nnz, np.count_nonzero(jacobian(f, X))) for f in FUNCTIONS}
    assert nonzeros.pop("zeros_by_chance") == (4, 1)
    assert nonzeros.pop("band_by_items") == (34, 32)  # at the ends there is a product with zero
    assert all(found == there for found, there in nonzeros.values()), nonzeros


def test_a_scalar_and_numbers() -> None:
    assert jacobian(lambda x: x @ x, X, sparsity="detect").shape == (1, 12)
    assert jacobian(lambda x: x * X, 2.0, sparsity="detect").shape == (12, 1)
    np.testing.assert_array_equal(jacobian(lambda x: x**3, 2.0, sparsity="detect").toarray(), [[12.0]])
    np.testing.assert_array_equal(jacobian(lambda x: x**3, 2.0, sparsity=[[True]]).toarray(), [[12.0]])


def test_arrays_of_any_shape_are_flattened() -> None:
    def f(x: Any) -> Any:
        return x**2 * 3.0

    x = np.arange(6.0).reshape(2, 3)
    whole = jacobian(f, x)
    for given in ("detect", np.eye(6), whole != 0.0):
        np.testing.assert_array_equal(jacobian(f, x, sparsity=given).toarray(), whole.reshape(6, 6))


def test_nothing_that_moves() -> None:
    for f in (lambda x: np.ones(4), lambda x: np.floor(x), lambda x: x[:0]):
        found = jacobian(f, X, sparsity="detect")
        assert found.shape == (len(f(X)), 12) and found.nnz == 0
    assert jacobian(lambda x: x, np.zeros(0), sparsity="detect").shape == (0, 0)
    assert jacobian(lambda x: np.ones(3) * x.sum(), np.zeros(0), sparsity="detect").shape == (3, 0)


def test_float32_is_kept() -> None:
    x = X.astype(np.float32)
    for found in (jacobian(band, x, sparsity="detect"), hessian(rosenbrock, x, sparsity="detect")):
        assert found.dtype == np.float32
    np.testing.assert_allclose(jacobian(band, x, sparsity="detect").toarray(), jacobian(band, x))


def test_whole_numbers() -> None:
    np.testing.assert_array_equal(jacobian(lambda x: x**2, np.arange(4), sparsity="detect").toarray(), np.diag([0.0, 2, 4, 6]))


def test_several_arguments() -> None:
    def f(a: Any, n: int, b: Any) -> Any:
        return n * a[1:] * a[:-1] + b * b

    a, b = X, 2.0
    y, (of_b, of_a, again) = value_and_jacobian(f, a, 3, b, argnums=(2, 0, -3), sparsity="detect")
    np.testing.assert_array_equal(y, f(a, 3, b))
    for found, expected in zip((of_b, of_a, again), jacobian(f, a, 3, b, argnums=(2, 0, 0)), strict=True):
        np.testing.assert_array_equal(found.toarray(), np.reshape(expected, (11, -1)))
    given = jacobian(f, a, 3, b, argnums=(2, 0), sparsity=(np.ones(11), of_a))
    np.testing.assert_array_equal(given[1].toarray(), of_a.toarray())
    with pytest.raises(TypeError, match="a tuple of 2 patterns"):
        jacobian(f, a, 3, b, argnums=(2, 0), sparsity=of_a)


# Patterns that are too small, or none


def without_one(f: Callable[..., Any]) -> list[Any]:
    """The pattern of a function without one of its places, for each of them."""
    whole = jacobian(f, X) != 0.0
    places = np.argwhere(whole)
    patterns = []
    for place in places:
        pattern = whole.copy()
        pattern[tuple(place)] = False
        patterns.append(pattern)
    return patterns


@pytest.mark.parametrize("f", [f for f in FUNCTIONS if f is not sums])
def test_a_pattern_that_is_too_small_is_refused(f: Callable[..., Any]) -> None:
    for pattern in without_one(f):
        with pytest.raises(DifferentiationError, match=rf"the Jacobian of {f.__name__} has entries where"):
            jacobian(f, X, sparsity=pattern)


def test_a_pattern_that_is_too_small_is_refused_for_float32() -> None:
    for pattern in without_one(band):
        with pytest.raises(DifferentiationError, match="has entries where its sparsity pattern has none"):
            jacobian(band, X.astype(np.float32), sparsity=pattern)


def test_a_place_in_a_row_with_infinities_is_missed_if_it_is_missing() -> None:
    def f(x: Any) -> Any:
        return np.sqrt(x[1:]) + x[:-1]

    x = np.array([1.0, 0.0, 4.0, 0.0])
    expected = jacobian(f, x)
    assert np.isinf(expected).sum() == 2
    np.testing.assert_array_equal(jacobian(f, x, sparsity="detect").toarray(), expected)
    np.testing.assert_array_equal(jacobian(f, x, sparsity=expected != 0.0).toarray(), expected)
    for place in np.argwhere(expected != 0.0):
        pattern = expected != 0.0
        pattern[tuple(place)] = False
        with pytest.raises(DifferentiationError, match="has entries where its sparsity pattern has none"):
            jacobian(f, x, sparsity=pattern)


def test_no_part_of_a_pattern_is_believed() -> None:
    """Entries of few different numbers, which may cancel."""
    draw = np.random.default_rng(1)
    outcomes = []
    for _ in range(200):
        shape = tuple(draw.integers(1, 12, 2))
        matrix = draw.choice([0.0, 0.0, 0.0, 1.0, -1.0, 2.0, 1e-5], shape)
        pattern = (matrix != 0.0) & (draw.random(shape) < draw.choice([0.5, 0.9, 0.97]))
        try:
            found = jacobian(lambda x, matrix: matrix @ x, X[: shape[1]], matrix, sparsity=pattern).toarray()
        except DifferentiationError:
            outcomes.append(False)
            continue
        np.testing.assert_array_equal(found, matrix)
        outcomes.append(True)
    assert 20 < sum(outcomes) < 180


def test_entries_that_are_nothing_but_rounding_are_no_defect() -> None:
    def f(x: Any) -> Any:
        centre = np.mean(x)
        return np.array([np.sum((x - centre) ** 2), np.sum(x - centre), x[0] ** 2])

    found = jacobian(f, X, sparsity="detect").toarray()
    assert np.abs(found[1]).max() < 1e-15
    np.testing.assert_allclose(found, jacobian(f, X), atol=1e-14)


def test_what_is_no_pattern() -> None:
    with pytest.raises(ValueError, match=r"the shape \(12, 11\), and the matrix \(12, 12\)"):
        jacobian(band, X, sparsity=np.ones((12, 11)))
    with pytest.raises(ValueError, match="and not 'find'"):
        jacobian(band, X, sparsity="find")
    with pytest.raises(TypeError, match="and not a object"):
        jacobian(band, X, sparsity=object())
    with pytest.raises(DifferentiationError, match="argument 0 of band"):
        jacobian(band, "text", sparsity="detect")
    with pytest.raises(DifferentiationError, match="the value of"):
        jacobian(lambda x: (x, x), X, sparsity="detect")


def test_without_scipy_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    runs: list[int] = []

    def f(x: Any) -> Any:
        runs.append(1)
        return x

    calls = (lambda: jacobian(f, X, sparsity="detect"), lambda: jac(f, sparsity=np.eye(12)), lambda: hess(f, sparsity="detect"))
    for call in calls:
        with pytest.raises(ImportError, match="pip install scipy"):
            call()
    assert not runs


def test_a_derivative_that_takes_no_nan_is_not_detected() -> None:
    from microgradpy import rrule

    def picky(x: Any) -> Any:
        return x**2

    @rrule.register(picky)
    def picky_rule(x: Any) -> Any:
        def picky_pullback(y_bar: Any) -> Any:
            if np.isnan(y_bar).any():
                raise ValueError("array must not contain infs or NaNs")
            return None, 2.0 * x * y_bar

        return picky(x), picky_pullback

    with pytest.raises(DifferentiationError, match="takes no NaN"):
        jacobian(picky, X, sparsity="detect")
    np.testing.assert_array_equal(jacobian(picky, X, sparsity=np.eye(12)).toarray(), np.diag(2.0 * X))


# What it costs


def counted(monkeypatch: pytest.MonkeyPatch, f: Callable[..., Any], x: Any, **options: Any) -> tuple[int, int]:
    """How many rows and columns, or sums of them, a Jacobian took; what goes at once in forward mode counts as one."""
    pulls: list[int] = []
    pushes: list[int] = []
    resolve, push, push_all = jacobians.resolve_outermost, jacobians.push_outermost, jacobians.many_outermost

    def resolved(*args: Any) -> Any:
        y, back = resolve(*args)
        return y, lambda y_bar: pulls.append(1) or back(y_bar)

    with monkeypatch.context() as patched:
        patched.setattr(jacobians, "resolve_outermost", resolved)
        patched.setattr(jacobians, "push_outermost", lambda *args: pushes.append(1) or push(*args))
        patched.setattr(jacobians, "many_outermost", lambda *args: pushes.append(1) or push_all(*args))
        jacobian(f, x, **options)
    return len(pulls), len(pushes)


def test_the_number_of_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.linspace(0.0, 1.0, 1000)
    three = sparse.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(1000, 1000))
    assert counted(monkeypatch, band, x, sparsity=three) == (4, 0)
    assert counted(monkeypatch, lambda t: np.concatenate([t, T * t[0] * t[1]]), X[:3], sparsity=np.ones((53, 3))) == (1, 1)
    pulls, pushes = counted(monkeypatch, band, x, sparsity="detect")
    assert pulls <= 4 + 2 * 3 * 10 and pushes == 0


@pytest.mark.parametrize("f", [*FUNCTIONS, lambda x: np.where(x > 0.5, np.sqrt(np.abs(x)), x) * x])
def test_what_goes_at_once_is_the_same_one_by_one(f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.where(np.arange(12) % 5, X, 0.0)  # where a square root has an infinite slope
    before = CACHE.batches
    found = jacobian(f, x, sparsity="detect")
    is_at_once = CACHE.batches > before
    monkeypatch.setattr(jacobians, "parts_at_once", lambda *args: [])
    before = CACHE.batches
    one_by_one = jacobian(f, x, sparsity="detect")
    assert CACHE.batches == before and (is_at_once or f.__name__ == "<lambda>")
    np.testing.assert_array_equal(found.indices, one_by_one.indices)
    np.testing.assert_allclose(found.data, one_by_one.data, rtol=1e-12)


def test_all_colours_go_at_once() -> None:
    three = sparse.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(12, 12))
    for differentiated, f in ((jacobian, band), (hessian, rosenbrock)):
        before = CACHE.batches
        differentiated(f, X, sparsity=three)
        assert CACHE.batches == before + 1


def test_colours() -> None:
    draw = np.random.default_rng(3)
    for shape in ((30, 20), (8, 40), (1, 5), (5, 1), (4, 0), (0, 4)):
        matrix = draw.random(shape) < 0.15
        pattern = pattern_of(shape, *np.nonzero(matrix))
        colours = colours_of_columns(pattern)
        np.testing.assert_array_equal(colours == -1, ~matrix.any(0))
        for colour in range(count_of(colours)):
            assert matrix[:, colours == colour].sum(1).max() == 1
    for width in (1, 2, 3):
        banded = sum(np.eye(40, k=k) for k in range(-width, width + 1))
        assert count_of(colours_of_columns(pattern_of((40, 40), *np.nonzero(banded)))) == 2 * width + 1


@pytest.mark.parametrize("shape", [(30, 20), (20, 30), (1, 7), (7, 1), (64, 64), (5, 0), (0, 5)])
def test_detection_finds_every_pattern(shape: tuple[int, int]) -> None:
    draw = np.random.default_rng(sum(shape))
    for share in (0.0, 0.05, 0.3, 1.0):
        matrix = np.where(draw.random(shape) < share, draw.normal(size=shape), 0.0)
        stored = sparse.csr_array(matrix)
        for pushed in (lambda: None, lambda stored=stored: lambda v: stored @ v):
            found: Pattern = detected(LinearMap(shape, lambda u, stored=stored: stored.T @ u, pushed, np.dtype(float)))
            np.testing.assert_array_equal([found.rows, found.columns], np.nonzero(matrix.T)[::-1])


# `jac` and `hess` keep what they have found


def test_a_pattern_that_changes_is_detected_again() -> None:
    def upwind(u: Any) -> Any:
        if u[0] > 0.0:
            return np.diff(u, prepend=0.0) * u
        return np.diff(u, append=0.0) * u

    of = jac(upwind, sparsity="detect")
    for u in (X, -X, X, -X):
        np.testing.assert_allclose(of(u).toarray(), jacobian(upwind, u), rtol=1e-14)
    assert of(X).nnz == 12 + 2 * 11
    np.testing.assert_allclose(of(X[:5]).toarray(), jacobian(upwind, X[:5]))


def test_arguments_of_other_sizes_have_other_patterns() -> None:
    def f(a: Any, b: Any) -> Any:
        return np.append(a[:2], b[-2:])

    of = jac(f, argnums=(0, 1), sparsity="detect")
    for a, b in ((X[:5], X[:4]), (X[:4], X[:5]), (X[:3], X[:6])):
        for found, expected in zip(of(a, b), jacobian(f, a, b, argnums=(0, 1)), strict=True):
            np.testing.assert_array_equal(found.toarray(), expected)


def test_a_function_may_have_a_keyword_of_that_name() -> None:
    def f(x: Any, sparsity: float) -> Any:
        return x * sparsity

    np.testing.assert_array_equal(jac(f)(X, sparsity=2.0), 2.0 * np.eye(12))


def test_a_program_that_prints_runs_once(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print("here")
        return np.multiply.outer(x, X).ravel()

    jacobian(f, X[:2], sparsity="detect")
    assert capsys.readouterr().out == "here\n"


# Hessians


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def chain(x: Any) -> Any:
    total = 0.0
    for k in range(1, len(x)):
        total = total + (x[k] - x[k - 1]) ** 4
    return total


def separable(x: Any) -> Any:
    return np.sum(np.exp(x) * x)


def linear(x: Any) -> Any:
    return 3.0 * x.sum()


def all_together(x: Any) -> Any:
    return (x @ x) ** 2


@pytest.mark.parametrize(
    ("f", "entries"), [(rosenbrock, 34), (chain, 34), (separable, 12), (linear, 0), (all_together, 144)]
)
def test_hessians(f: Callable[..., Any], entries: int) -> None:
    expected = hessian(f, X)
    found = hessian(f, X, sparsity="detect")
    assert type(found) is sparse.csc_array and found.nnz == entries
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-12)
    for given in (found, expected != 0.0, np.triu(expected) != 0.0):
        np.testing.assert_allclose(hessian(f, X, sparsity=given).toarray(), expected, rtol=1e-12)
    np.testing.assert_allclose(hess(f, sparsity="detect")(X).toarray(), expected, rtol=1e-12)


def test_hessians_of_numbers_and_of_arrays_of_any_shape() -> None:
    np.testing.assert_allclose(hessian(lambda x: x**3, 2.0, sparsity="detect").toarray(), [[12.0]])
    x = X.reshape(3, 4)
    whole = hessian(lambda x: np.sum(x**3), x)
    np.testing.assert_allclose(hessian(lambda x: np.sum(x**3), x, sparsity=whole != 0.0).toarray(), whole.reshape(12, 12))


def test_a_pattern_of_a_hessian_that_is_too_small_is_refused() -> None:
    with pytest.raises(DifferentiationError, match="the Hessian of rosenbrock has entries where"):
        hessian(rosenbrock, X, sparsity=np.eye(12))


def test_inside_of_what_is_differentiated_it_is_refused() -> None:
    of, second = jac(band, sparsity="detect"), hess(rosenbrock, sparsity="detect")
    inner = [
        lambda x: jacobian(band, x, sparsity="detect").sum(),
        lambda x: value_and_jacobian(band, x, sparsity=np.eye(12))[1].sum(),
        lambda x: hessian(rosenbrock, x, sparsity="detect").sum(),
        lambda x: jac(band, sparsity="detect")(x).sum(),
        lambda x: of(x).sum(),
        lambda x: second(x).sum(),
    ]
    for f in inner:
        with pytest.raises(DifferentiationError):
            gradient(f, X)


# As SciPy takes them


def test_scipy() -> None:
    found = optimize.least_squares(band, X, jac=jac(band, sparsity="detect"), method="trf", tr_solver="lsmr")
    assert found.cost < 1e-12
    step = linalg.spsolve(jacobian(grid, X, sparsity="detect"), -grid(X))
    np.testing.assert_allclose(step, np.linalg.solve(jacobian(grid, X), -grid(X)))
    best = optimize.minimize(
        rosenbrock, X, jac=lambda x: jacobian(rosenbrock, x), hess=hess(rosenbrock, sparsity="detect"), method="trust-constr"
    )
    np.testing.assert_allclose(best.x, np.ones(12), rtol=1e-3)

    def heat(t: float, u: Any) -> Any:
        return 100.0 * np.diff(u, n=2, prepend=0.0, append=0.0) - u**3

    with_jacobian = integrate.solve_ivp(heat, (0.0, 0.1), X, method="BDF", jac=jac(heat, argnums=1, sparsity="detect"))
    without = integrate.solve_ivp(heat, (0.0, 0.1), X, method="BDF")
    np.testing.assert_allclose(with_jacobian.y[:, -1], without.y[:, -1], rtol=1e-3)


# Programs of the tables, and random ones


def of_numbers(args: tuple[Any, ...]) -> tuple[int, ...]:
    """The places of the arguments that a Jacobian may be asked for."""
    return tuple(place for place, x in enumerate(args) if type(x) in (float, np.ndarray) and np.result_type(x).kind == "f")


TAKES_NO_NAN = {"arguments_of_a_solver_in_an_array"}
ROWS = [row for row in PROGRAMS if of_numbers(row.args) and row.id not in TAKES_NO_NAN]


@pytest.mark.parametrize("program", some(ROWS, "sparsity", one_in=8), ids=str)
def test_programs_of_the_tables(program: Program) -> None:
    function, argnums = program.function, of_numbers(program.args)
    try:
        with np.errstate(all="ignore"):
            expected = jacobian(function, *copy.deepcopy(program.args), argnums=argnums)
    except DifferentiationError:
        return
    with np.errstate(all="ignore"):
        found = jacobian(function, *copy.deepcopy(program.args), argnums=argnums, sparsity="detect")
    for matrix, dense in zip(found, expected, strict=True):
        np.testing.assert_allclose(matrix.toarray(), np.reshape(dense, matrix.shape), rtol=1e-8, atol=1e-10)
        assert matrix.nnz >= np.count_nonzero(dense)


@pytest.mark.parametrize("batch", batches(), ids=str)
def test_no_random_program_is_wrong(batch: range) -> None:
    for number in some(batch, "random sparsity"):
        program = random_program(number)
        function = program.load()
        for x, *rest in program.points:
            with np.errstate(all="ignore"):
                try:
                    expected = jacobian(function, x, *rest)
                except DifferentiationError:
                    continue
                found = jacobian(function, x, *rest, sparsity="detect").toarray()
            shape = np.shape(found)
            np.testing.assert_allclose(found, np.reshape(expected, shape), rtol=1e-9, atol=1e-12, err_msg=program.source)
