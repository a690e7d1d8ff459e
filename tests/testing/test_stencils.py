"""Finite differences: exact coefficients, the step that is chosen, and derivatives of structured functions."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np
import pytest

from microgradpy import Tangent
from microgradpy.testing import backward_fdm, central_fdm, forward_fdm
from microgradpy.testing import differences as fd
from microgradpy.testing.degrees import EVERY, Outline

METHODS = [
    central_fdm(5, 1),
    central_fdm(4, 1),
    central_fdm(7, 1, adapt=2),
    central_fdm(5, 2),
    central_fdm(7, 3),
    forward_fdm(5, 1),
    forward_fdm(6, 2),
    backward_fdm(5, 1),
]
SINES = {1: math.cos, 2: lambda x: -math.sin(x), 3: lambda x: -math.cos(x)}


def test_known_coefficients():
    assert central_fdm(5, 1).coefficients == (Fraction(1, 12), Fraction(-2, 3), 0, Fraction(2, 3), Fraction(-1, 12))
    assert central_fdm(3, 2).coefficients == (1, -2, 1)
    assert central_fdm(2, 1).grid == (-1, 1)
    assert forward_fdm(3, 1).coefficients == (Fraction(-3, 2), 2, Fraction(-1, 2))
    assert backward_fdm(2, 1).coefficients == (-1, 1)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: f"{m.grid}-{m.q}")
def test_polynomials_below_the_number_of_points_are_exact(method):
    for degree in range(len(method.grid)):
        exact = math.factorial(method.q) if degree == method.q else 0
        assert sum(c * g**degree for c, g in zip(method.coefficients, method.grid, strict=True)) == exact


@pytest.mark.parametrize("method", METHODS, ids=lambda m: f"{m.grid}-{m.q}")
@pytest.mark.parametrize("x", [0.3, 1.0, 20.0])
def test_the_error_is_within_the_accuracy_that_is_promised(method, x):
    step, accuracy = method.estimate_step(math.sin, x)
    error = abs(method(math.sin, x) - SINES[method.q](x))
    assert error <= 10.0 * accuracy and 0.0 < step < 1.0
    assert accuracy < {1: 1e-11, 2: 1e-8, 3: 1e-6}[method.q]


def test_the_step_follows_the_function():
    slow, fast = (central_fdm(5, 1).estimate_step(lambda x, k=k: math.sin(k * x), 1.0)[0] for k in (0.1, 100.0))
    assert slow > 100.0 * fast
    assert abs(central_fdm(5, 1)(lambda x: math.sin(100.0 * x), 1.0) / (100.0 * math.cos(100.0)) - 1.0) < 1e-10


def test_the_step_follows_the_precision():
    error = abs(central_fdm(5, 1)(lambda x: np.sin(np.float32(x)), 1.0) - math.cos(1.0))
    fixed = abs(central_fdm(5, 1)(lambda x: np.sin(np.float32(x)), 1.0, step=1e-4) - math.cos(1.0))
    assert error < 1e-5 < fixed


def test_no_value_is_taken_out_of_range():
    seen = []
    central_fdm(5, 1, max_range=1e-3)(lambda x: seen.append(x) or 1.0, 2.0)
    assert len(seen) > 4 and max(abs(x - 2.0) for x in seen) <= 1e-3 * (1.0 + 1e-9)


def test_constants_and_arrays_and_complex_values():
    assert central_fdm(5, 1)(lambda x: 5.0, 3.0) == 0.0
    found = central_fdm(5, 1)(lambda x: np.array([x * x, x * 1j]), 3.0)
    np.testing.assert_allclose(found, [6.0, 1j], rtol=1e-11)


@pytest.mark.parametrize("p, q", [(1, 1), (3, 3), (2, 0)])
def test_too_few_points(p, q):
    with pytest.raises(ValueError, match="1 <= q < p"):
        central_fdm(p, q)


class Line:
    def __init__(self, slope, offset):
        self.slope = slope
        self.offset = offset

    def __call__(self, x):
        return self.slope * x + self.offset


def test_flattening_and_back():
    x = {"W": np.arange(4.0).reshape(2, 2), "n": 3, "z": [1.0 + 2.0j, "text", None, True], "line": Line(2.0, (1.5,))}
    outline = Outline(x, "x")
    assert outline.vector().tolist() == [0.0, 1.0, 2.0, 3.0, 1.0, 2.0, 2.0, 1.5]
    assert outline.path(2) == "x['W'][1, 0]"
    assert outline.path(5) == "x['z'][0].imag"
    assert outline.path(7) == "x['line'].offset[0]"
    twin = outline.rebuild(outline.vector() + 1.0)
    assert twin["W"].tolist() == [[1.0, 2.0], [3.0, 4.0]] and twin["n"] == 3 and twin["z"] == [2.0 + 3.0j, "text", None, True]
    assert twin["line"].slope == 3.0 and twin["line"].offset == (2.5,) and x["line"].slope == 2.0
    bar = {"z": [1j, None, None, None], "line": Tangent(Line, offset=(4.0,))}
    assert outline.along(bar).tolist() == [0.0] * 5 + [1.0, 0.0, 4.0]


def test_whole_numbers_move_where_they_have_a_cotangent():
    assert Outline([2, 3.0], "x").size == 1
    assert Outline([2, 3.0], "x", [1.0, 1.0]).size == 2
    assert Outline([2, True], "x", EVERY).rebuild(np.array([2.5])) == [2.5, True]


def test_what_is_at_two_places_moves_at_both():
    w = [1.0, 2.0]
    outline = Outline([w, w], "x")
    assert outline.size == 2
    twin = outline.rebuild(np.array([5.0, 6.0]))
    assert twin[0] is twin[1] and twin[0] == [5.0, 6.0]
    assert outline.along([[1.0, None], [10.0, 1.0]]).tolist() == [11.0, 1.0]
    loop = [1.0]
    loop.append(loop)
    twin = Outline(loop, "x").rebuild(np.array([3.0]))
    assert twin[1] is twin and twin[0] == 3.0


def test_memory_order_and_precision_are_kept():
    x = np.asfortranarray(np.ones((2, 3), np.float32))
    assert Outline(x).rebuild(np.arange(6.0)).flags.f_contiguous
    assert Outline(x).rebuild(np.arange(6.0)).dtype == np.float32
    assert Outline(x).rebuild(np.arange(6.0), wide=True).dtype == np.float64
    assert isinstance(Outline(np.float32(2.0)).rebuild(np.ones(1)), np.float32)


def test_callables_are_rebuilt():
    k, scale = 3.0, [2.0]

    def f(x):
        return k * scale[0] * x

    for callable_, place in [
        (f, "f.k"),
        (Line(1.0, 0.0).__call__, "f.__self__.slope"),
        (functools.partial(lambda a, b: a * b, 2.0), "f.args[0]"),
    ]:
        outline = Outline(callable_, "f")
        assert outline.path(0) == place
        assert outline.rebuild(outline.vector() * 2.0)(1.0) != callable_(1.0)


def test_derivatives_of_structured_functions():
    def f(p, z):
        return {"s": p["a"] @ p["b"] * z}

    p, z = {"a": np.array([1.0, 2.0]), "b": np.array([3.0, 4.0])}, 1.0 + 1.0j
    y_dot = fd.jvp(fd.DEFAULT_FDM, f, (p, z), ({"a": np.array([1.0, 0.0])}, 1j))
    assert y_dot["s"] == pytest.approx(3.0 * z + 11.0j, rel=1e-10)
    p_bar, z_bar = fd.vjp(fd.DEFAULT_FDM, f, {"s": 1.0 + 0.0j}, p, z)
    np.testing.assert_allclose(p_bar["a"], p["b"], rtol=1e-10)
    assert z_bar == pytest.approx(11.0, rel=1e-10)
    assert fd.jacobian(fd.DEFAULT_FDM, f, p, z).shape == (2, 6)
    (x_bar,) = fd.gradient(fd.DEFAULT_FDM, lambda x: abs(x) ** 2, 1.0 + 2.0j)
    assert x_bar == pytest.approx(2.0 + 4.0j, rel=1e-10)
