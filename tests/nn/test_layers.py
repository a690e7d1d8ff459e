"""Layers are plain callables whose fields are their parameters."""

from __future__ import annotations

import numpy as np
import pytest

from microgradpy import gradient
from microgradpy.nn import Chain, Dense, logit_cross_entropy, mse, relu, tanh_act
from microgradpy.rules.registry import rrule
from tests import finite_differences as fd


def test_dense_is_an_affine_map_and_its_activation():
    layer = Dense(3, 2, activation=relu, rng=0)
    layer.bias[:] = [0.5, -0.5]
    x = np.arange(12.0).reshape(4, 3)
    np.testing.assert_array_equal(layer(x), np.maximum(x @ layer.weight + layer.bias, 0))
    assert layer.weight.shape == (3, 2) and layer.bias.shape == (2,)


def test_weights_are_reproducible_from_a_seed_and_independent_without():
    np.testing.assert_array_equal(Dense(3, 2, rng=5).weight, Dense(3, 2, rng=np.random.default_rng(5)).weight)
    assert not np.array_equal(Dense(3, 2).weight, Dense(3, 2).weight)


@pytest.mark.parametrize(("activation", "variance"), [(relu, 2 / 400), (tanh_act, 2 / 1000)])
def test_initial_variance(activation, variance):
    assert Dense(400, 600, activation=activation, rng=1).weight.var() == pytest.approx(variance, rel=0.02)


def test_chain_applies_its_layers_in_order_and_prints_them():
    model = Chain(Dense(2, 4, activation=relu, rng=0), np.sin, Dense(4, 1, rng=1))
    x = np.ones((5, 2))
    np.testing.assert_array_equal(model(x), model.layers[2](np.sin(model.layers[0](x))))
    assert repr(model) == "Chain(Dense(2, 4, activation=relu), sin, Dense(4, 1, activation=identity))"


def test_cos_then_sin_by_rules():
    y1, back1 = rrule(np.cos, 0.6)
    y2, back2 = rrule(np.sin, y1)
    y1_bar = back2(1.0)[1]
    assert (y1, y2, y1_bar, back1(y1_bar)[1]) == pytest.approx((0.82533, 0.73477, 0.67831, -0.38300), abs=1e-5)


def test_gradient_of_a_chain_of_functions():
    assert gradient(Chain(np.cos, np.sin), 0.6) == (pytest.approx(-0.38300286324215372),)


@pytest.mark.parametrize("loss", [mse, logit_cross_entropy])
def test_gradient_of_a_model_has_its_structure_and_agrees_with_differences(loss):
    model = Chain(Dense(2, 3, activation=relu, rng=0), Dense(3, 2, rng=1))
    x, y = np.random.default_rng(2).normal(size=(5, 2)), np.eye(2)[[0, 1, 1, 0, 1]]
    (grads,) = gradient(lambda model: loss(model(x), y), model)
    assert grads.primal_type is Chain and grads.layers[0].primal_type is Dense
    expected = fd.differences(lambda model: loss(model(x), y), [model])
    np.testing.assert_allclose(fd.flatten_cotangent(model, grads), expected, atol=1e-8)
