"""Values and pullbacks of the activations: published numbers, finite differences, extreme inputs."""

from __future__ import annotations

import numpy as np
import pytest

from microgradpy.nn import logsoftmax, relu, sigmoid, softmax, tanh_act
from microgradpy.rules.registry import rrule
from tests import finite_differences as fd

ELEMENTWISE = [relu, sigmoid, tanh_act]
ALONG_AXIS = [softmax, logsoftmax]
COLUMNS = np.array([[2.0, 2.0], [-1.0, 0.4], [0.5, 9.0]])
COLUMN_SEEDS = np.array([[0.46, -0.95], [0.989, -8.6], [0.68, 6.3]])


def pull(f, x, seed, **keywords):
    y, back = rrule(f, x, **keywords)
    np.testing.assert_array_equal(y, f(x, **keywords))
    _, x_bar = back(seed)
    return x_bar


def check_against_differences(f, x, seed, **keywords):
    expected = fd.differences(lambda x: np.sum(seed * f(x, **keywords)), [x])
    np.testing.assert_allclose(pull(f, x, seed, **keywords), expected.reshape(x.shape), atol=1e-9)


@pytest.mark.parametrize(
    ("f", "value", "derivative"),
    [
        (sigmoid, 0.6224593312018546, 0.2350037122015945),
        (tanh_act, 0.46211715726000974, 0.7864477329659274),
        (relu, 0.5, 1.0),
    ],
)
def test_scalar_at_one_half(f, value, derivative):
    assert f(0.5) == pytest.approx(value, abs=1e-15)
    assert pull(f, 0.5, 1.0) == pytest.approx(derivative, abs=1e-15)


def test_matrix_derivatives():
    x, ones = np.array([[-1.2, 0.5], [2.1, -0.5]]), np.ones((2, 2))
    np.testing.assert_allclose(pull(sigmoid, x, ones), [[0.177894, 0.235004], [0.0971947, 0.235004]], atol=1e-6)
    np.testing.assert_allclose(pull(tanh_act, x, ones), [[0.30502, 0.786448], [0.058223, 0.786448]], atol=1e-6)
    np.testing.assert_array_equal(pull(relu, x, ones), [[0, 1], [1, 0]])


def test_relu_has_derivative_zero_at_zero_and_below():
    assert pull(relu, 0.0, 1.0) == 0
    assert pull(relu, -5.0, 1.0) == 0


def test_softmax_of_a_vector():
    x = np.array([2.0, -1.0, 0.5])
    np.testing.assert_allclose(softmax(x), [0.7855970345892759, 0.03911257327068745, 0.1752903921400367], rtol=1e-15)
    np.testing.assert_allclose(pull(softmax, x, np.ones(3)), 0, atol=1e-16)
    expected = [-0.04655011041061041, 0.01837295773064898, 0.028177152679961473]
    np.testing.assert_allclose(pull(softmax, x, np.array([0.46, 0.989, 0.68])), expected, rtol=1e-13)


def test_logsoftmax_of_a_vector():
    x = np.array([2.0, -1.0, 0.5])
    np.testing.assert_allclose(
        logsoftmax(x), [-0.24131129665715703, -3.241311296657157, -1.7413112966571571], rtol=1e-15
    )
    expected = [-1.3567911037678275, 0.8826622801879377, 0.4741288235798899]  # they sum to zero
    np.testing.assert_allclose(pull(logsoftmax, x, np.ones(3)), expected, rtol=1e-14)


def test_softmax_of_columns():
    expected = [[-0.0465501, -0.0065954], [0.018373, -0.00273845], [0.0281772, 0.00933385]]
    np.testing.assert_allclose(pull(softmax, COLUMNS, COLUMN_SEEDS, axis=0), expected, atol=5e-8)
    np.testing.assert_allclose(pull(softmax, COLUMNS.T, COLUMN_SEEDS.T), np.transpose(expected), atol=5e-8)


def test_logsoftmax_of_columns():
    second = [0.997267349055322, 0.9994482872893747, -1.996715636344697]
    np.testing.assert_allclose(pull(logsoftmax, COLUMNS, np.ones((3, 2)), axis=0)[:, 1], second, rtol=1e-14)


def test_softmax_of_large_numbers_does_not_overflow():
    x = np.array([1000.0, 1001.0, 1002.0])
    np.testing.assert_allclose(softmax(x), [0.09003057317038046, 0.24472847105479764, 0.6652409557748218], rtol=1e-15)
    expected = [-2.4076059644443806, -1.4076059644443804, -0.4076059644443804]
    np.testing.assert_allclose(logsoftmax(x), expected, rtol=1e-15)


def test_sigmoid_is_accurate_far_out():
    np.testing.assert_allclose(
        sigmoid(np.array([-700.0, -40.0, 0.0, 40.0, 1e300])), [np.exp(-700), np.exp(-40), 0.5, 1, 1]
    )


@pytest.mark.parametrize("f", ELEMENTWISE + ALONG_AXIS)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (3, 20), (2, 3, 4)], ids=str)
def test_pullback_against_differences(f, shape):
    draw = np.random.default_rng(7)
    # Clear of relu's kink, which a difference would straddle.
    x, seed = draw.uniform(0.1, 2.0, shape) * draw.choice([-1.0, 1.0], shape), draw.normal(size=shape)
    x = np.asarray(x)
    check_against_differences(f, x, seed)


@pytest.mark.parametrize("f", ALONG_AXIS)
@pytest.mark.parametrize("axis", [0, 1, 2, -2])
def test_any_axis(f, axis):
    draw = np.random.default_rng(8)
    check_against_differences(f, draw.normal(size=(2, 3, 4)), draw.normal(size=(2, 3, 4)), axis=axis)


@pytest.mark.parametrize("f", ELEMENTWISE + ALONG_AXIS)
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 20)], ids=str)
def test_float32_stays(f, shape):
    x = np.linspace(-2, 2, np.prod(shape)).reshape(shape).astype(np.float32)
    assert f(x).dtype == np.float32
    assert pull(f, x, np.ones_like(x)).dtype == np.float32


def test_sigmoid_refuses_complex():
    with pytest.raises(TypeError):
        sigmoid(1j)
