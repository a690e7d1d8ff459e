"""Layers: plain callable objects whose fields are their parameters.

There is nothing to register and no base class: `gradient(lambda model: loss(model(x), y), model)` returns a `Tangent`
with the model's own structure, because layers are objects whose fields are read.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from microgradpy.nn.activations import Numbers, relu

Layer = Callable[[Numbers], Numbers]


def identity(x: Numbers) -> Numbers:
    """x itself: the activation of a linear layer."""
    return x


class Dense:
    """activation(x @ weight + bias).

    `weight` has shape (inputs, outputs) and `bias` (outputs,); x has shape (..., inputs), one sample a row, and the
    result (..., outputs). `rng` is a `numpy.random.Generator` or a seed; without it every call draws anew.

    Before `relu` the weights are normal with variance 2 / inputs (He et al. 2015, "Delving deep into rectifiers"),
    otherwise uniform in +-sqrt(6 / (inputs + outputs)) (Glorot and Bengio 2010). Biases start at zero."""

    weight: NDArray[np.floating]
    bias: NDArray[np.floating]
    activation: Layer

    def __init__(
        self,
        inputs: int,
        outputs: int,
        activation: Layer = identity,
        *,
        rng: np.random.Generator | int | None = None,
    ) -> None:
        draw = np.random.default_rng(rng)
        if activation is relu:
            self.weight = draw.normal(0.0, math.sqrt(2.0 / inputs), (inputs, outputs))
        else:
            limit = math.sqrt(6.0 / (inputs + outputs))
            self.weight = draw.uniform(-limit, limit, (inputs, outputs))
        self.bias = np.zeros(outputs)
        self.activation = activation

    def __call__(self, x: Numbers) -> Numbers:
        return self.activation(x @ self.weight + self.bias)

    def __repr__(self) -> str:
        inputs, outputs = self.weight.shape
        name = getattr(self.activation, "__name__", repr(self.activation))
        return f"Dense({inputs}, {outputs}, activation={name})"


class Chain:
    """Its layers, applied one after the other. A layer is any callable of one argument; `layers` is the list of
    them."""

    layers: list[Layer]

    def __init__(self, *layers: Layer) -> None:
        self.layers = list(layers)

    def __call__(self, x: Numbers) -> Numbers:
        for layer in self.layers:
            x = layer(x)
        return x

    def __repr__(self) -> str:
        return f"Chain({', '.join(map(_name, self.layers))})"


def _name(layer: Layer) -> str:
    return getattr(layer, "__name__", None) or repr(layer)
