"""Optimisers: `optimizer.update(model, grads)` changes the parameters of a model in place.

A model is any tree of objects, lists, tuples and dicts; `grads` is what `gradient` returned for it: `Tangent`s for
objects, the same containers for containers, None for what was not touched. The parameters are the arrays and numbers
that have a gradient. Arrays are written in place and keep their dtype; numbers are replaced in the object, list or
dict that holds them.

All parameters are found and checked before the first is changed. An array that sits in several places of the model is
one parameter: its gradients are added and it is changed once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from microgradpy.errors import CotangentShapeError
from microgradpy.tangents.types import Tangent


@dataclass(slots=True)
class Parameter:
    """A number or array with a gradient. `owner[key]`, or the attribute `key` of `owner`, holds it; `where` is its
    place in the model, as text. `state` is the optimiser's own, kept from step to step."""

    owner: Any
    key: Any
    where: str
    value: Any
    gradient: Any
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def identity(self) -> tuple[Any, ...]:
        """What makes it the same parameter in the next step: arrays stay the same object, numbers do not."""
        return (id(self.value),) if isinstance(self.value, np.ndarray) else (id(self.owner), self.key)

    def subtract(self, change: Any) -> None:
        """Lower the value by `change`, in place if it is an array."""
        if isinstance(self.value, np.ndarray):
            np.subtract(self.value, change, out=self.value, casting="same_kind")
            return
        self.value = type(self.value)(self.value - change)
        if isinstance(self.owner, list | dict):
            self.owner[self.key] = self.value
        else:
            setattr(self.owner, self.key, self.value)


class Optimizer(ABC):
    """Finds the parameters and remembers their state; how far each moves is the subclass's."""

    def __init__(self, learning_rate: float) -> None:
        if not learning_rate > 0:
            raise ValueError(f"learning_rate is {learning_rate}; it must be positive")
        self.learning_rate = learning_rate
        # The last step's parameters hold their arrays and owners, so that an id cannot come to mean another object.
        self._parameters: dict[tuple[Any, ...], Parameter] = {}

    def update(self, model: Any, grads: Any) -> None:
        """One step downhill, in place.

        Raises CotangentShapeError if a gradient does not have its parameter's shape and TypeError if a parameter
        cannot be changed (an integer, an item of a tuple), both with its place in the model and before anything was
        changed."""
        found: dict[tuple[Any, ...], Parameter] = {}
        for parameter in find_parameters(model, grads):
            _check(parameter)
            first = found.setdefault(parameter.identity, parameter)
            if first is not parameter:
                first.gradient = first.gradient + parameter.gradient
        for identity, parameter in found.items():
            if identity in self._parameters:
                parameter.state = self._parameters[identity].state
            parameter.subtract(self._change(parameter.gradient, parameter.state))
        self._parameters |= found

    @abstractmethod
    def _change(self, gradient: Any, state: dict[str, Any]) -> Any:
        """What to subtract from a parameter; may keep anything in `state`, must not write into `gradient`."""


@final
class SGD(Optimizer):
    """Gradient descent: v = momentum * v + gradient; parameter -= learning_rate * v (Polyak's heavy ball)."""

    def __init__(self, learning_rate: float, momentum: float = 0.0) -> None:
        super().__init__(learning_rate)
        if not 0.0 <= momentum < 1.0:
            raise ValueError(f"momentum is {momentum}; it must be in [0, 1)")
        self.momentum = momentum

    def _change(self, gradient: Any, state: dict[str, Any]) -> Any:
        if not self.momentum:
            return self.learning_rate * gradient
        state["velocity"] = velocity = self.momentum * state.get("velocity", 0.0) + gradient
        return self.learning_rate * velocity


@final
class Adam(Optimizer):
    """Adam with bias correction (Kingma and Ba 2015, algorithm 1). Steps are counted per parameter."""

    def __init__(
        self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8
    ) -> None:
        super().__init__(learning_rate)
        if not (0.0 <= beta1 < 1.0 and 0.0 <= beta2 < 1.0):
            raise ValueError(f"beta1 and beta2 are {beta1} and {beta2}; both must be in [0, 1)")
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon

    def _change(self, gradient: Any, state: dict[str, Any]) -> Any:
        state["step"] = step = state.get("step", 0) + 1
        state["mean"] = mean = self.beta1 * state.get("mean", 0.0) + (1.0 - self.beta1) * gradient
        state["square"] = square = self.beta2 * state.get("square", 0.0) + (1.0 - self.beta2) * gradient * gradient
        scale = np.sqrt(square / (1.0 - self.beta2**step)) + self.epsilon
        return self.learning_rate / (1.0 - self.beta1**step) * mean / scale


def find_parameters(model: Any, grads: Any) -> Iterator[Parameter]:
    """Every number and array in `model` for which `grads` has a gradient, in the order of the gradients."""
    yield from _walk(None, None, "model", model, grads)


def _walk(owner: Any, key: Any, where: str, value: Any, gradient: Any) -> Iterator[Parameter]:
    if gradient is None:
        return
    if isinstance(gradient, Tangent):
        for name in gradient:
            yield from _walk(value, name, f"{where}.{name}", getattr(value, name), gradient[name])
    elif isinstance(gradient, Mapping):
        for name in gradient:
            yield from _walk(value, name, f"{where}[{name!r}]", value[name], gradient[name])
    elif isinstance(gradient, list | tuple):
        for index, (item, item_gradient) in enumerate(zip(value, gradient, strict=True)):
            yield from _walk(value, index, f"{where}[{index}]", item, item_gradient)
    else:
        yield Parameter(owner, key, where, value, gradient)


def _check(parameter: Parameter) -> None:
    value, gradient = parameter.value, parameter.gradient
    if np.shape(value) != np.shape(gradient):
        raise CotangentShapeError(
            f"{parameter.where} has shape {np.shape(value)} and its gradient {np.shape(gradient)}",
            remedy="pass the gradients with respect to this very model: grads = gradient(loss, model)[0]",
        )
    if not np.issubdtype(np.asarray(value).dtype, np.inexact):
        raise TypeError(
            f"{parameter.where} is an integer and has a gradient; make it floating-point to train it, "
            "or read it through stop_gradient to leave it as it is"
        )
    if not isinstance(value, np.ndarray) and (parameter.owner is None or isinstance(parameter.owner, tuple)):
        raise TypeError(f"{parameter.where} cannot be replaced where it is; hold it in a list, an object or an array")
