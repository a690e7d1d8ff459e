"""Numbers that MicroGrad.jl's own tests state, recomputed with 30 digits, and its defects done right."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from microgradpy import (
    CotangentShapeError,
    DifferentiationError,
    Tangent,
    gradient,
    pullback,
    rrule,
    value_and_gradient,
)
from microgradpy.compiler import always_dispatch
from tests.programs.expressions import confuse
from tests.programs.loops import power_loop

A = np.array([[4.4, 6.9, 6.2, 8.4], [9.2, 7.4, 8.0, 0.3], [0.6, 0.4, 0.5, 0.7]])
X = np.array([[1.1, 6.5], [3.7, 8.5], [9.8, 6.6], [6.1, 2.4]])
SEED = np.array([[5.6, 5.3], [2.8, 6.9], [8.9, 1.0]])
WEIGHTS = np.array([3.0, 2.0, -3.0, 1.0])


@pytest.fixture(autouse=True, params=["inlined", "dispatched"])
def dispatch_path(request):
    """Every number holds on both paths."""
    if request.param == "inlined":
        yield
    else:
        with always_dispatch():
            yield


def close(actual, expected, rtol=1e-13):
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=1e-15)


def evalpoly(x, weights):
    """Horner's rule; nothing divides by x."""
    y = 0.0
    for w in reversed(weights):
        y = y * x + w
    return y


class Polynomial:
    """A callable object with an array of weights."""

    def __init__(self, weights):
        self.weights = weights

    def __call__(self, x):
        return evalpoly(x, self.weights)


class Record:
    def __init__(self, x, name, items):
        self.x = x
        self.name = name
        self.items = items


def relu(x):
    return x if x > 0 else 0.0


# Section 2.1


def test_sine():
    y, back = pullback(math.sin, 0.6)
    assert y == 0.5646424733950354
    close(back(1.0)[1], math.cos(0.6))
    assert len(back(1.0)) == 2 and back(1.0)[0] is None


def test_sine_of_cosine():
    y, (x_bar,) = value_and_gradient(lambda x: math.sin(math.cos(x)), 0.6)
    assert y == 0.7347754747082689
    close(x_bar, -0.38300286324215372)


def test_pullbacks_of_the_first_example_by_hand():
    z, back_cos = pullback(math.cos, 0.6)
    y, back_sin = pullback(math.sin, z)
    (_, z_bar) = back_sin(1.0)
    (_, x_bar) = back_cos(z_bar)
    close([z, y, z_bar, x_bar], [0.82533, 0.73477, 0.67831, -0.38300], rtol=1e-4)


@pytest.mark.parametrize(
    ("point", "value", "grads"),
    [
        ((2.1, 3.2), 0.17017828200972446, (0.06724649254378245, -0.08826102146371445)),
        ((4.0, 5.0), 4.0 / 29.0, (0.029726516052318668, -0.047562425683709865)),
    ],
)
def test_ratio(point, value, grads):
    y, actual = value_and_gradient(lambda a, b: a / (a + b**2), *point)
    close(y, value)
    close(actual, grads)


def test_ratio_elementwise():
    def f(a, b):
        return a / (a + b**2)

    _, back = pullback(f, np.array([2.1, 4.0]), np.array([3.2, 5.0]))
    _, a_bar, b_bar = back(np.ones(2))
    close(a_bar, [0.06724649254378245, 0.029726516052318668])
    close(b_bar, [-0.08826102146371445, -0.047562425683709865])


def test_matrix_product():
    y, back = pullback(lambda a, x: a @ x, A, X)
    close(y, [[142.37, 148.33], [117.73, 176.22], [11.31, 12.28]])
    _, a_bar, x_bar = back(SEED)
    assert np.array_equal(a_bar, SEED @ X.T)
    assert np.array_equal(x_bar, A.T @ SEED)


def test_adding_a_column():
    column = np.array([[10.0], [20.0], [30.0]])
    seed = np.array([[10.0, 11.0, 12.0, 13.0], [20.0, 21.0, 22.0, 23.0], [30.0, 31.0, 32.0, 33.0]])
    y, back = pullback(lambda a, b: a + b, A, column)
    assert np.array_equal(y, A + column)
    _, a_bar, b_bar = back(seed)
    assert np.array_equal(a_bar, seed)
    assert np.array_equal(b_bar, [[46.0], [86.0], [126.0]])


def test_dense_layer():
    column, seed = np.array([[10.0], [20.0], [30.0]]), np.array([[10.0, 11.0], [20.0, 21.0], [30.0, 31.0]])
    _, back = pullback(lambda w, x, b: w @ x + b, A, X, column)
    _, w_bar, x_bar, b_bar = back(seed)
    assert np.array_equal(x_bar, A.T @ seed)
    assert np.array_equal(w_bar, seed @ X.T)
    assert np.array_equal(b_bar, [[21.0], [41.0], [61.0]])


def test_mapping_the_sine():
    def each(values):
        return [math.sin(v) for v in values]

    _, back = pullback(each, [0.1, 0.2, 0.5])
    df, bar = back([1.0, 1.0, 1.0])
    assert df is None
    close(bar, [0.9950041652780258, 0.9800665778412416, 0.8775825618903728])
    _, back = pullback(np.sin, np.array([0.1, 0.2, 0.5]))
    close(back(np.ones(3))[1], [0.9950041652780258, 0.9800665778412416, 0.8775825618903728])


def test_reading_a_field():
    record = Record(1.0, "aaa", [1, 2, 3])
    y, back = pullback(lambda r: r.x, record)
    (_, bar) = back(1.0)
    assert y == 1.0
    assert isinstance(bar, Tangent) and bar.primal_type is Record
    assert bar.x == 1.0 and bar.name is None and bar["items"] is None


def test_closure():
    def make(a, b):
        return lambda x: a * x + b

    y, back = pullback(make(2.0, 3.5), 4.0)
    df, x_bar = back(1.0)
    assert y == 11.5
    assert (df.a, df.b, x_bar) == (4.0, 1.0, 2.0)


def test_polynomial():
    y, back = pullback(Polynomial(WEIGHTS), 2.5)
    df, x_bar = back(1.0)
    assert y == 4.875
    close(df.weights, [1.0, 2.5, 6.25, 15.625])
    close(x_bar, 5.75)


def test_polynomial_over_several_points():
    y, back = pullback(Polynomial(WEIGHTS), np.array([1.0, 2.0, 3.0, 4.0]))
    df, x_bar = back(np.ones(4))
    close(y, [3.0, 3.0, 9.0, 27.0])
    close(df.weights, [4.0, 10.0, 30.0, 100.0])
    close(x_bar, [-1.0, 2.0, 11.0, 26.0])


def test_mean_squared_error_of_a_model():
    def mse(predicted, y):
        return np.mean((predicted - y) ** 2)

    x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 1.0, 3.0, 15.0])
    value, (model_bar, x_bar, y_bar) = value_and_gradient(lambda m, x, y: mse(m(x), y), Polynomial(WEIGHTS), x, y)
    assert value == 46.25
    close(model_bar.weights, [10.5, 35.5, 127.5, 473.5])
    close(x_bar, [-0.5, 2.0, 33.0, 156.0])
    close(y_bar, [-0.5, -1.0, -3.0, -6.0])


def test_looped_chain():
    def chain(functions, x):
        for f in functions:
            x = f(x)
        return x

    y, (functions_bar, x_bar) = value_and_gradient(chain, (math.cos, math.sin), 0.6)
    close(y, 0.7347754747082689)
    close(x_bar, -0.38300286324215372)
    assert functions_bar is None or functions_bar == (None, None)


def test_what_microgradjl_must_refuse_works():
    assert gradient(relu, -5.0) == (0.0,)
    close(gradient(power_loop, 3.2)[0], 5 * 3.2**4)
    assert value_and_gradient(confuse, 3.0) == (9.0, (3.0,))


# Section 2.2, as far as it does not need the tracker


def test_values_of_the_tracking_examples():
    close(gradient(lambda x: math.sin(x) + 1.0, 42.0)[0], -0.39998531498835129)
    y, grads = value_and_gradient(lambda x, y: math.sin(x + math.cos(y)) + x * y, 2.0, 3.0)
    close(y, 6.8468358353576762)
    close(grads, (3.5318543672416977, 1.924944707408176))


def power_sum(x, n):
    total, i = 0.0, 0
    while i < n:
        total = total + x**i
        i = i + 1
    return total


def test_power_sum():
    y, (x_bar, n_bar) = value_and_gradient(power_sum, 2.4, 4)
    close([y, x_bar], [22.984, 23.08])
    assert n_bar is None
    assert gradient(power_sum, 11.11, 1) == (0.0, None)


def test_composition_of_the_tracking_examples():
    def f(x):
        return math.sin(x) + 1.0

    def g(x, y):
        return math.sin(x + math.cos(y)) + x * y

    def phi(x):
        return power_sum(f(g(2.0 * x, x / 2.0)), 4)

    y, (x_bar,) = value_and_gradient(phi, 1.1)
    close([y, x_bar], [14.385097738558158, 2.0732109225323626])


def test_order_of_the_reverse_sweep():
    def f(x):
        t = math.sin(x)
        return t * math.cos(t)

    close(gradient(f, 1.0)[0], 0.021042432391821277)


def test_worked_example_of_chainrules():
    y, (x_bar,) = value_and_gradient(lambda x: math.asin(2.0 * math.sin(x)), 3.0)
    close([y, x_bar], [0.28612825598736198, -2.0638950738662625])


# Other systems


def test_critical_edges_and_averages():
    def average(z):
        x, y = 1.0, 1.0 + z
        while abs(y - x) > 1e-12:
            x, y = y, (x + y) / 2.0
        return x

    close(gradient(average, 1024.0)[0], 2.0 / 3.0)


def test_division_is_not_commutative():
    assert gradient(lambda a, b: a / b, 1.0, 2.0) == (0.5, -0.25)


def test_repeated_index_in_two_dimensions():
    _, back = pullback(lambda x: x[0, [0, 0, 1]], np.arange(6.0).reshape(2, 3))
    assert np.array_equal(back(np.ones(3))[1], [[2.0, 1.0, 0.0], [0.0, 0.0, 0.0]])


def test_dictionary_counted_twice():
    def f(d):
        total = 0.0
        for name, value in d.items():
            total = total + value * (2.0 if name == "b" else 1.0)
        return total

    assert gradient(f, {"a": 1.0, "b": 2.0, "c": 3.0}) == ({"a": 1.0, "b": 2.0, "c": 1.0},)


def test_comprehension_with_products():
    assert np.array_equal(
        gradient(lambda x: sum([a * b for a, b in zip(x, x)]), np.arange(1.0, 5.0))[0],  # noqa: B905
        [2.0, 4.0, 6.0, 8.0],
    )


def test_distance_of_points():
    def distance(p, q):
        return math.sqrt((p.x + q.x) ** 2 + (p.y + q.y) ** 2)

    y, (bar, _) = value_and_gradient(distance, SimpleNamespace(x=1.0, y=2.0), SimpleNamespace(x=3.0, y=4.0))
    close(y, 7.2111025509279786)
    close([bar.x, bar.y], [0.55470019622522912, 0.83205029433784368])


@pytest.mark.parametrize("spelling", range(4))
def test_scalars_broadcast_against_arrays(spelling):
    t = np.array([1.0, 0.2])
    spellings = [
        lambda k, a: np.sum(np.array([1.0, -5.0]) * 0.0 + np.exp(-k * a)),
        lambda k, a: np.exp(-k * a).sum(),
        lambda k, a: np.sum(1.0 / np.exp(a * k)),
        lambda k, a: np.exp(-k * a[0]) + np.exp(-k * a[1]),
    ]
    (a_bar,) = gradient(lambda a: spellings[spelling](5.0, a), t)
    close(a_bar, [-0.03368973499542734, -1.8393972058572117])


def test_stop_gradient_example():
    def second_order(x):
        return abs(x) * x

    assert gradient(second_order, -3.0) == (6.0,)


# Corners of powers, products and ties


@pytest.mark.parametrize(
    ("x", "p", "x_bar"),
    [
        (1.0, 2.0, 2.0),
        (2.0, 2.0, 4.0),
        (0.0, 2.0, 0.0),
        (0.0, 1.0, 1.0),
        (0.0, 0.0, 0.0),
        (0.0, 0.5, math.inf),
        (0.0, 3.5, 0.0),
        (-0.0, 2.0, 0.0),
        (-0.0, 1.0, 1.0),
        (-1.0, 10.0, -10.0),
    ],
)
def test_power_corners(x, p, x_bar):
    assert gradient(lambda t: t**p, x) == (x_bar,)
    (array_bar,) = gradient(lambda t: np.sum(np.power(t, p)), np.array([x]))
    assert array_bar[0] == x_bar


def test_power_with_respect_to_the_exponent():
    close(gradient(lambda p: 2.0**p, 2.0)[0], 4.0 * math.log(2.0))
    assert gradient(lambda x, p: x**p, 0.0, 2.0) == (0.0, 0.0)
    close(gradient(lambda x, p: x**p, 2.0, 2.0), (4.0, 2.772588722239781))


def test_square_root_at_zero_is_infinite_and_does_not_raise():
    assert gradient(math.sqrt, 0.0) == (math.inf,)
    assert gradient(np.sqrt, np.float64(0.0)) == (math.inf,)
    assert gradient(lambda x: math.sqrt(x * x), 0.0)[0] != math.inf
    assert gradient(math.hypot, 0.0, 0.0) == (0.0, 0.0)


@pytest.mark.parametrize(
    "f", [abs, np.abs, np.sign, lambda x: max(x, 0.0) * 0.0, relu], ids=["abs", "np.abs", "sign", "max", "relu"]
)
def test_kinks_at_zero(f):
    assert gradient(f, 0.0) == (0.0,)


def test_ties_are_split_evenly_by_numpy():
    assert np.array_equal(gradient(lambda x: np.max(x), np.array([1.0, 2.0, 1.0, 2.0]))[0], [0.0, 0.5, 0.0, 0.5])
    assert np.array_equal(gradient(lambda x: np.min(x), np.array([1.0, 2.0, 1.0, 2.0]))[0], [0.5, 0.0, 0.5, 0.0])
    assert gradient(np.maximum, 2.0, 2.0) == (0.5, 0.5)
    assert gradient(np.minimum, 2.0, 2.0) == (0.5, 0.5)


def test_ties_choose_one_element_for_the_builtins():
    assert sorted(gradient(max, 2.0, 2.0)) == [0.0, 1.0]
    assert sorted(gradient(min, 2.0, 2.0)) == [0.0, 1.0]


# Defects of MicroGrad.jl, of the language


def test_d1_exponential():
    _, back = pullback(math.exp, 1.0)
    assert back(1.0) == (None, 2.718281828459045)
    assert rrule(math.exp, 1.0)[1](1.0)[1] == 2.718281828459045
    assert gradient(np.exp, np.float64(1.0)) == (2.718281828459045,)


def test_d2_polynomial_at_zero():
    _, back = pullback(Polynomial(WEIGHTS), 0.0)
    df, x_bar = back(1.0)
    assert x_bar == 2.0
    assert np.array_equal(df.weights, [1.0, 0.0, 0.0, 0.0])


def test_d3_cross_entropy_by_hand():
    P = np.array([[0.7, 0.2, 0.1], [0.3, 0.8, 0.9]])
    Y = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])

    def cross_entropy(p, y):
        return -np.sum(y * np.log(p + 1e-6)) / p.shape[1]

    value, (p_bar, y_bar) = value_and_gradient(cross_entropy, P, Y)
    close(value, 0.9607969699091202)
    close(p_bar, [[-0.47618979591933913, 0.0, -3.3333000003333297], [0.0, -0.41666614583398437, 0.0]])
    close(y_bar[0], [0.11889117178944142, 0.5364776374822001, 0.7675250310146818])
    close(y_bar[1], [0.4013231569993861, 0.07438076710499697, 0.03511980151577748])


def test_d5_repeated_indices_are_counted():
    x = np.array([0.3, 0.6, 0.9])
    _, back = pullback(lambda x: x[[0, 1, 2, 2]], x)
    assert np.array_equal(back(np.ones(4))[1], [1.0, 1.0, 2.0])
    assert np.array_equal(gradient(lambda x: np.sum(x[np.array([0, 1, 2, 2])]), x)[0], [1.0, 1.0, 2.0])


def test_d6_scalar_relu():
    assert value_and_gradient(relu, 0.5) == (0.5, (1.0,))


def test_d8_a_scalar_seed_for_an_array_is_refused():
    _, back = pullback(lambda x: x * np.ones(3), 2.0)
    with pytest.raises(CotangentShapeError):
        back(1.0)


def test_rrule_is_none_without_a_rule():
    assert rrule(evalpoly, 2.0, [1.0, 2.0]) is None
    y, sin_pullback = rrule(math.sin, 0.6)
    assert y == math.sin(0.6)
    assert len(sin_pullback(1.0)) == 2
    assert sin_pullback.__name__ == "sin_pullback"
    assert DifferentiationError is not None


@pytest.mark.parametrize(
    "f, x, expected",
    [
        (lambda x: np.sum(x**6 * 1.0), np.array([2, 1], np.int8), [192.0, 6.0]),
        (lambda x: np.sum(np.arctan(x)), np.array([100], np.int8), [1.0 / 10001.0]),
        (lambda x: np.sum(np.arcsinh(x)), np.array([100], np.int8), [1.0 / math.sqrt(10001.0)]),
        (lambda x: np.sum(np.logaddexp(x, np.uint8(2))), np.array([200], np.uint8), [1.0]),
        (lambda x: math.erf(x[0] / 1), np.array([200], np.uint8), [0.0]),
        (lambda x: math.atan(x[0]), np.array([100], np.int8), [1.0 / 10001.0]),
    ],
)
def test_derivatives_at_small_whole_numbers_do_not_wrap_around(f, x, expected):
    np.testing.assert_allclose(gradient(f, x)[0], expected, rtol=1e-12)
