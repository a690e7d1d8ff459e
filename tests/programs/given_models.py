"""Programs that are given a model: objects that are only read, which are taken apart before the program is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tests.programs.table import program

X = np.array([[0.5, -0.2], [0.1, 0.9], [-0.7, 0.3]])


def array(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def identity(x):
    return x


class Module:
    scale = 0.75

    def __call__(self, x):
        return self.forward(x) * self.scale


class Dense(Module):
    def __init__(self, inputs, outputs, activation=np.tanh, bias=True, seed=0):
        self.w = array(inputs, outputs, seed=seed)
        self.b = array(outputs, seed=seed) if bias else None
        self.activation = activation
        self.kind = "dense"
        self.power = 2

    @property
    def decay(self):
        return np.sum(self.w**self.power) / self.power

    def forward(self, x):
        y = x @ self.w
        if self.b is not None:
            y = y + self.b
        return self.activation(y)


class Gated(Dense):
    def __init__(self, inputs, outputs, gate, is_open, seed=0):
        super().__init__(inputs, outputs, seed=seed)
        self.gate = gate
        self.is_open = is_open
        self.kind = "gated"

    def forward(self, x):
        y = Dense.forward(self, x)
        return y * self.gate if self.is_open else y


class Chain(Module):
    def __init__(self, *layers):
        self.layers = list(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@program(Chain(Dense(2, 3), Dense(3, 2, identity, seed=1)), X, features="layers in a list")
@program(Chain(Dense(2, 3, bias=False), Gated(3, 2, 0.5, True)), X, features="layers of two classes")
@program(Chain(Dense(2, 2), Chain(Gated(2, 2, 0.5, False), Dense(2, 2, seed=3))), X, features="a module in a module")
def output_of_model(model, x):
    return np.sum(model(x) ** 2)


SHARED = Dense(2, 2)


@program(Chain(SHARED, Dense(2, 2, seed=1), SHARED), X, features="one object twice")
def output_of_shared_layer(model, x):
    return np.sum(model(x) ** 2)


def tied() -> Chain:
    first, second = Dense(2, 2), Dense(2, 2, seed=1)
    second.w = first.w
    return Chain(first, second)


@program(tied(), X, features="tied weights")
def output_of_tied_weights(model, x):
    return np.sum(model(x) ** 2)


@program(Chain(Dense(2, 3), Dense(3, 2, seed=1)), X, features="properties, sums over layers")
def decayed(model, x):
    return np.sum(model(x)) + 0.1 * sum(layer.decay for layer in model.layers)


@program(Chain(Dense(2, 2), Dense(2, 2, seed=1)), X, features="loops by number, slices")
def by_number(model, x):
    for k in range(len(model.layers)):
        x = model.layers[k](x) + k
    for k, layer in enumerate(reversed(model.layers[1:]), 1):
        x = layer(x) * k
    return x


class Parameters(Module):
    def __init__(self):
        self.params = {f"W{k}": array(2, 2, seed=k) for k in range(3)} | {"b": array(2), "unused": 1.0}

    def forward(self, x):
        for k in range(3):
            x = np.tanh(x @ self.params[f"W{k}"] + self.params["b"])
        return x


@program(Parameters(), X, features="a dict of parameters")
def output_of_parameters(model, x):
    return model(x)


class Blocks(Module):
    def __init__(self):
        self.blocks = {"first": Dense(2, 2), "second": Dense(2, 2, seed=1)}

    def forward(self, x):
        for name, block in self.blocks.items():
            x = x + block(x) if name == "second" else block(x)
        return sum(block(x) for block in self.blocks.values())


@program(Blocks(), X, features="a dict of modules")
def output_of_blocks(model, x):
    return model(x)


class Weights(NamedTuple):
    w: Any
    b: Any

    def apply(self, x):
        return np.tanh(x @ self.w + self.b)


@dataclass(frozen=True, slots=True)
class Head:
    weights: Weights
    temperature: float

    def __call__(self, x):
        w, b = self.weights
        return self.weights.apply(x) @ w / self.temperature + b


@program(Head(Weights(array(2, 2), array(2)), 1.5), X, features="namedtuple in a frozen dataclass")
@program(Head(Weights(array(2, 2), 0.5), 2.0), X, features="namedtuple in a frozen dataclass")
def output_of_head(head, x):
    return head(x)


@dataclass(slots=True)
class Vector:
    x: float
    y: float

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y


@program(Vector(1.0, 2.0), Vector(3.0, -1.0), 0.5, features="operators of arguments")
def moved(a, b, k):
    return (a + b * k) @ (b * 2.0 + a)


@program({"cell": Dense(2, 2), "start": array(2)}, X, features="a cell in a dict")
def run_over_steps(state, steps):
    h, kept = state["start"], []
    for step in steps:
        h = np.tanh(h @ state["cell"].w + step)
        kept.append(h)
    return np.sum(np.stack(kept) ** 2)


@program([Dense(2, 2), Dense(2, 2, seed=1), Dense(2, 2)], X, features="a list of layers")
def two_of_three(layers, x):
    first, *_ = layers
    return layers[1](first(x))


@program(Chain(Dense(2, 2), Dense(2, 2, seed=1)), X, features="a layer chosen at run time")
def chosen_layer(model, x):
    layer = model.layers[0] if np.sum(x) > 0.0 else model.layers[1]
    return layer(x)


@program(Chain(Dense(2, 2), Dense(2, 2, seed=1)), X, features="a layer chosen by a number")
def numbered_layer(model, x):
    return model.layers[int(np.sum(x) > 0.0)](x)


@program(Chain(Dense(2, 2)), X, features="an array of a model is returned")
def model_and_output(model, x):
    return model.layers[0].w, model(x)


class Optional(Module):
    def __init__(self, **given):
        self.w = array(2, 2)
        for name, value in given.items():
            setattr(self, name, value)

    def forward(self, x):
        if hasattr(self, "b"):
            x = x + self.b
        return x @ self.w * getattr(self, "gain", 2.0)


@program(Optional(), X, features="fields that are not there")
@program(Optional(b=0.5), X, features="fields that are not there")
@program(Optional(b=0.5, gain=1.5), X, features="fields that are not there")
def output_of_optional(model, x):
    return model(x)


@program(Optional(b=0.5), Dense(2, 2), X, features="two models, one without a way out")
def two_models(model, other, x):
    return model(x) * len(other.kind)
