"""Optimisers change exactly the parameters that have a gradient, in place, by the published update rules."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from microgradpy.errors import CotangentShapeError
from microgradpy.nn import SGD, Adam, Chain, Dense, relu
from microgradpy.tangents.types import Tangent


def tangent(**fields):
    return Tangent(SimpleNamespace, fields)


def test_sgd_step_through_every_container():
    weight, scale, shift = np.array([1.0, 2.0]), np.array(3.0), np.ones(2)
    model = SimpleNamespace(items=[weight, {"scale": scale, "rate": 0.5}], pair=(shift, "name"), number=4.0, spare=7.0)
    grads = tangent(
        items=[np.array([1.0, -1.0]), {"scale": np.array(2.0), "rate": 1.0}],
        pair=(np.array([0.5, 0.0]), None),
        number=-2.0,
        spare=None,
    )
    SGD(0.1).update(model, grads)
    np.testing.assert_allclose(weight, [0.9, 2.1])
    np.testing.assert_allclose(scale, 2.8)
    np.testing.assert_allclose(shift, [0.95, 1.0])
    assert model.items[0] is weight and model.pair == (shift, "name")
    assert model.items[1]["rate"] == pytest.approx(0.4) and model.number == pytest.approx(4.2) and model.spare == 7.0


def test_momentum_is_the_heavy_ball():
    model, optimizer = [np.array([1.0])], SGD(0.1, momentum=0.5)
    for gradient in (1.0, 2.0, 0.0):
        optimizer.update(model, [np.array([gradient])])
    # velocities 1, 2.5, 1.25
    np.testing.assert_allclose(model[0], 1.0 - 0.1 * (1.0 + 2.5 + 1.25))


def test_adam_follows_its_definition():
    model, optimizer = SimpleNamespace(w=np.array([1.0, -2.0]), number=3.0), Adam(0.01)
    value, mean, square = np.array([1.0, -2.0, 3.0]), np.zeros(3), np.zeros(3)
    for step in range(1, 6):
        gradient = np.array([0.3, -4.0, 0.5]) * step
        optimizer.update(model, tangent(w=gradient[:2], number=gradient[2]))
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        value = value - 0.01 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    np.testing.assert_allclose([*model.w, model.number], value, rtol=1e-12)


def test_adam_first_step_has_the_length_of_the_learning_rate():
    model = [np.array([5.0, 5.0])]
    Adam(0.1).update(model, [np.array([1e-3, -1e3])])
    np.testing.assert_allclose(model[0], [4.9, 5.1], rtol=1e-5)


@pytest.mark.parametrize("optimizer", [SGD(0.1), SGD(0.1, momentum=0.9), Adam(0.1)], ids=["sgd", "momentum", "adam"])
def test_types_are_kept_and_gradients_not_written(optimizer):
    model = SimpleNamespace(array=np.ones(2, np.float32), scalar=np.float32(1.0), number=1.0)
    gradient = np.ones(2, np.float32)
    for _ in range(2):
        optimizer.update(model, tangent(array=gradient, scalar=np.float32(1.0), number=1.0))
    assert model.array.dtype == np.float32 and type(model.scalar) is np.float32 and type(model.number) is float
    np.testing.assert_array_equal(gradient, 1.0)


def test_shared_array_is_one_parameter():
    shared, separate = np.array([1.0]), np.array([1.0])
    optimizer = SGD(0.1, momentum=0.9)
    for _ in range(2):
        optimizer.update([shared, shared, separate], [np.array([1.0]), np.array([2.0]), np.array([3.0])])
    np.testing.assert_allclose(shared, separate, rtol=1e-15)


def test_one_optimizer_keeps_two_models_apart():
    optimizer, first, second = SGD(0.1, momentum=0.9), [np.ones(1)], [np.ones(1)]
    optimizer.update(first, [np.ones(1)])
    optimizer.update(second, [np.ones(1)])
    np.testing.assert_array_equal(first[0], second[0])


@pytest.mark.parametrize(
    ("model", "grads", "error", "words"),
    [
        (
            [np.ones(2), np.ones((2, 2))],
            [np.ones(2), np.ones(2)],
            CotangentShapeError,
            r"model\[1\] has shape \(2, 2\)",
        ),
        ([np.ones(2), 3], [np.ones(2), 1.0], TypeError, r"model\[1\] is an integer"),
        ([np.ones(2), np.arange(2)], [np.ones(2), np.ones(2)], TypeError, r"model\[1\] is an integer"),
        ([np.ones(2), (1.0,)], [np.ones(2), (1.0,)], TypeError, r"model\[1\]\[0\] cannot be replaced"),
    ],
    ids=["shape", "integer", "integer-array", "tuple"],
)
def test_a_refused_update_changes_nothing(model, grads, error, words):
    with pytest.raises(error, match=words):
        SGD(0.1).update(model, grads)
    np.testing.assert_array_equal(model[0], 1.0)


@pytest.mark.parametrize(
    "make", [lambda: SGD(0.0), lambda: SGD(0.1, momentum=1.0), lambda: Adam(-1.0), lambda: Adam(beta1=1.0)]
)
def test_impossible_settings_are_refused(make):
    with pytest.raises(ValueError, match="must be"):
        make()


def test_a_model_of_layers():
    model = Chain(Dense(2, 3, activation=relu, rng=0), Dense(3, 1, rng=1))
    before = [layer.weight.copy() for layer in model.layers]
    grads = Tangent(
        Chain,
        layers=[
            Tangent(Dense, weight=np.ones((2, 3)), bias=np.ones(3), activation=None),
            Tangent(Dense, weight=np.ones((3, 1)), bias=None),
        ],
    )
    SGD(0.5).update(model, grads)
    for layer, weight in zip(model.layers, before, strict=True):
        np.testing.assert_allclose(layer.weight, weight - 0.5)
    np.testing.assert_array_equal(model.layers[0].bias, -0.5)
    np.testing.assert_array_equal(model.layers[1].bias, 0.0)
