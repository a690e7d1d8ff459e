"""Values and both cotangents of the losses: published numbers and finite differences. Their columns are samples, so
axis=0."""

from __future__ import annotations

import warnings
from contextlib import nullcontext

import numpy as np
import pytest

from microgradpy import pullback
from microgradpy.compiler import always_dispatch
from microgradpy.nn import cross_entropy, hinge_loss, logit_cross_entropy, mse, softmax
from microgradpy.rules.registry import rrule
from tests import finite_differences as fd

Y_HAT, Y = np.array([4.0, 2.0, -3.0, 1.5]), np.array([6.0, -2.0, -1.0, 1.5])


def pull(loss, y_hat, y, **keywords):
    value, back = rrule(loss, y_hat, y, **keywords)
    assert value == loss(y_hat, y, **keywords)
    _, y_hat_bar, y_bar = back(1.0)
    return value, y_hat_bar, y_bar


def check_against_differences(loss, y_hat, y):
    _, back = rrule(loss, y_hat, y)
    actual = fd.flatten_cotangent([y_hat, y], back(0.7)[1:])
    np.testing.assert_allclose(actual, fd.differences(lambda y_hat, y: 0.7 * loss(y_hat, y), [y_hat, y]), atol=1e-8)


def test_mse():
    value, y_hat_bar, y_bar = pull(mse, Y_HAT, Y)
    assert value == 6.0
    np.testing.assert_array_equal(y_hat_bar, [-1, 2, -1, 0])
    np.testing.assert_array_equal(y_bar, [1, -2, 1, 0])


def test_mse_of_floats():
    assert pull(mse, 4.0, 1.0) == (9.0, 6.0, -6.0)


def test_logit_cross_entropy_of_a_vector():
    value, y_hat_bar, y_bar = pull(logit_cross_entropy, Y_HAT, Y)
    assert value == pytest.approx(-6.3613271992582145, rel=1e-15)
    expected = [-2.306426003013708, 2.4998708830375276, 1.003368103516293, -1.1968129835401118]
    np.testing.assert_allclose(y_hat_bar, expected, rtol=1e-14)
    expected = [0.1974828446092856, 2.1974828446092856, 7.197482844609286, 2.6974828446092856]
    np.testing.assert_allclose(y_bar, expected, rtol=1e-14)


def test_logit_cross_entropy_of_columns():
    y_hat, y = np.array([[-0.5, 0.6, -1.0], [1.0, 0.3, 0.4]]), np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    value, y_hat_bar, y_bar = pull(logit_cross_entropy, y_hat, y, axis=0)
    assert value == pytest.approx(1.3920619774565768, rel=1e-15)
    row = [-0.2725248253978812, 0.19148083893721968, -0.2673946295195272]
    np.testing.assert_allclose(y_hat_bar, [row, np.negative(row)], rtol=1e-14)
    expected = [
        [0.5671377593275841, 0.184785081489509, 0.5401391366394835],
        [0.06713775932758415, 0.284785081489509, 0.07347246997281694],
    ]
    np.testing.assert_allclose(y_bar, expected, rtol=1e-13)
    rows_value, rows_bar, _ = pull(logit_cross_entropy, y_hat.T, y.T)
    assert rows_value == pytest.approx(value, rel=1e-15)
    np.testing.assert_allclose(rows_bar, y_hat_bar.T, rtol=1e-14)


def test_logit_cross_entropy_of_one_hot_columns():
    y_hat = np.array([[-0.5, 0.6, -1.0, 0.2], [1.0, 0.3, 0.4, 0.3], [0.3, 0.4, -0.8, 0.9]])
    y = np.eye(3)[[0, 1, 0, 2]].T
    assert logit_cross_entropy(y_hat, y, axis=0) == pytest.approx(1.4586026625211166, rel=1e-15)


def test_cross_entropy_counts_the_samples_and_keeps_its_epsilon():
    p, y = np.array([[0.7, 0.2, 0.1], [0.3, 0.8, 0.9]]), np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    value, p_bar, y_bar = pull(cross_entropy, p, y, axis=0)
    assert value == pytest.approx(0.9607969699091202, rel=1e-15)
    expected = [[-0.47618979591933913, 0, -3.3333000003333297], [0, -0.41666614583398437, 0]]
    np.testing.assert_allclose(p_bar, expected, rtol=1e-14)
    expected = [
        [0.11889117178944142, 0.5364776374822001, 0.7675250310146818],
        [0.4013231569993861, 0.07438076710499697, 0.03511980151577748],
    ]
    np.testing.assert_allclose(y_bar, expected, rtol=1e-13)


def test_hinge_loss():
    value, y_hat_bar, y_bar = pull(hinge_loss, np.array([0.5, -2.0, 1.5, 0.2]), np.array([1.0, -1.0, 1.0, -1.0]))
    assert value == pytest.approx(0.425, rel=1e-15)
    np.testing.assert_allclose(y_hat_bar, [-0.25, 0, 0, 0.25])
    np.testing.assert_allclose(y_bar, [-0.125, 0, 0, -0.05])


@pytest.mark.parametrize("loss", [mse, cross_entropy, logit_cross_entropy, hinge_loss])
@pytest.mark.parametrize("shape", [(), (3,), (4, 3), (2, 3, 4)], ids=str)
def test_both_cotangents_against_differences(loss, shape):
    draw = np.random.default_rng(9)
    check_against_differences(loss, np.array(draw.uniform(0.1, 0.9, shape)), np.array(draw.uniform(0.1, 0.9, shape)))


@pytest.mark.parametrize("loss", [mse, hinge_loss])
def test_broadcast_operands_are_summed_back(loss):
    check_against_differences(loss, np.array([[0.3, -0.2, 0.9]]), np.array([[0.5], [-0.4]]))


def test_logit_cross_entropy_agrees_with_its_parts():
    y_hat, y = np.array([[2.0, -1.0, 0.5], [0.1, 0.2, 0.3]]), np.eye(3)[[0, 2]]
    assert logit_cross_entropy(y_hat, y) == pytest.approx(cross_entropy(softmax(y_hat), y), abs=1e-5)


def test_logit_cross_entropy_of_sure_and_wrong_is_finite():
    value, y_hat_bar, _ = pull(logit_cross_entropy, np.array([[1000.0, -1000.0]]), np.array([[0.0, 1.0]]))
    assert value == 2000.0
    np.testing.assert_array_equal(y_hat_bar, [[1.0, -1.0]])


@pytest.mark.parametrize("loss", [cross_entropy, logit_cross_entropy])
def test_targets_of_another_shape_are_refused(loss):
    with pytest.raises(ValueError, match=r"\(3, 2\).*\(3,\).*one-hot"):
        loss(np.full((3, 2), 0.5), np.array([0, 1, 1]))


@pytest.mark.parametrize("loss", [mse, cross_entropy, logit_cross_entropy, hinge_loss])
def test_float32_stays(loss):
    y_hat = np.full((2, 3), 0.4, np.float32)
    value, back = rrule(loss, y_hat, np.ones((2, 3), np.float32))
    assert value.dtype == np.float32
    assert all(bar.dtype == np.float32 for bar in back(np.float32(1.0))[1:])


@pytest.mark.parametrize("loss", [mse, cross_entropy, logit_cross_entropy, hinge_loss])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (0, 0), (2, 0, 3)], ids=str)
@pytest.mark.parametrize("compiled", [True, False])
def test_of_nothing_there_is_an_empty_gradient_without_further_warnings(loss, shape, compiled):
    y_hat, y = np.zeros(shape), np.zeros(shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy warns of the mean of nothing
        with nullcontext() if compiled else always_dispatch():
            value, back = pullback(lambda y_hat, y: loss(y_hat, y) * 2.0, y_hat, y)
    assert value == 0.0 or np.isnan(value)
    for bar in back(1.0)[1:]:
        assert bar.shape == shape


def test_of_no_samples_the_mean_is_nan():
    assert np.isnan(cross_entropy(np.zeros((0, 3)), np.zeros((0, 3))))
    assert cross_entropy(np.zeros((3, 0)), np.zeros((3, 0))) == 0.0
