"""The table of cases: one program each, with its gradient generated and written by hand.

A hand-written version is what a good engineer would write for speed in plain Python and NumPy: one pass forward that
keeps what is needed, one pass back, in place where it is safe. Both versions are called with the same arguments, and
a test holds them against each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.loops import lotka_volterra, lotka_volterra_gradient_by_hand, newton, newton_gradient_by_hand
from benchmarks.mutation import (
    heat,
    heat_by_hand_plainly,
    heat_value_and_gradient_by_hand,
    recurrent,
    recurrent_by_hand_plainly,
    recurrent_gradient_batched,
    recurrent_gradient_by_hand,
)
from benchmarks.network import loss, loss_gradient_by_hand, loss_gradient_tuned
from microgradpy import grad, value_and_grad


@dataclass(frozen=True)
class Case:
    """One program. `generated` and `by_hand` take `args` and return a tuple of gradients, one per entry of `argnums`, or
    the value and this tuple. `limit` is the ratio generated / by hand that the project promises."""

    id: str
    program: Callable[..., Any]
    generated: Callable[..., tuple[Any, ...]]
    by_hand: Callable[..., tuple[Any, ...]]
    args: tuple[Any, ...]
    limit: float

    def __str__(self) -> str:
        return self.id


def _network_arguments(batch: int) -> tuple[Any, ...]:
    draw = np.random.default_rng(batch)
    shapes = [(2, 16), (16,), (16, 16), (16,), (16, 2), (2,)]
    weights = [draw.normal(0.0, 0.5, shape) for shape in shapes]
    return *weights, draw.normal(size=(batch, 2)), np.eye(2)[draw.integers(0, 2, batch)]


def _recurrent_arguments(hidden: int) -> tuple[Any, ...]:
    draw = np.random.default_rng(hidden)
    W, U = draw.normal(0.0, 0.9 / np.sqrt(hidden), (hidden, hidden)), draw.normal(0.0, 0.5, (hidden, 4))
    return W, U, draw.normal(0.0, 0.1, hidden), draw.normal(size=(100, 4))


_recurrent_gradient = grad(recurrent, argnums=(0, 1, 2))
_network_gradient = grad(loss, argnums=(0, 1, 2, 3, 4, 5))

CASES = [
    *(
        Case(
            f"moons MLP, batch {batch}{remark}",
            loss,
            _network_gradient,
            by_hand,
            _network_arguments(batch),
            limit=1.3,
        )
        for remark, by_hand in (("", loss_gradient_by_hand), (", two-class code", loss_gradient_tuned))
        for batch in (100, 1000)
    ),
    Case(
        "Lotka-Volterra, 1000 RK4 steps",
        lotka_volterra,
        grad(lotka_volterra, argnums=(0, 1, 2, 3, 4, 5)),
        lotka_volterra_gradient_by_hand,
        (1.0, 0.5, 1.1, 0.4, 0.4, 0.1),
        limit=1.5,
    ),
    Case(
        "damped Newton `while`, 1000 steps",
        newton,
        grad(newton, argnums=(0, 1)),
        newton_gradient_by_hand,
        (2.0, 0.0212),
        limit=1.5,
    ),
    *(
        Case(
            f"heat equation in place, 50 x 1000{remark}",
            heat,
            value_and_grad(heat, argnums=(0, 1)),
            by_hand,
            (0.8, np.sin(np.linspace(0.0, 7.0, 1000))),
            limit=1.5,
        )
        for remark, by_hand in (("", heat_by_hand_plainly), (", buffers", heat_value_and_gradient_by_hand))
    ),
    *(
        Case(
            f"appended RNN, 100 x {hidden}{remark}",
            recurrent,
            _recurrent_gradient,
            by_hand,
            _recurrent_arguments(hidden),
            limit=limit,
        )
        for remark, by_hand, limit in (
            ("", recurrent_by_hand_plainly, 1.3),
            (", in place", recurrent_gradient_by_hand, 1.3),
            (", batched", recurrent_gradient_batched, 4.0),
        )
        for hidden in (8, 32)
    ),
]
