"""Print what is spent around the generated code of a call: `python -m benchmarks.entry [--rounds 30]`.

CPU time of a call, in microseconds and as a ratio: to the generated primal and adjoint called one after the other, which is all
that a gradient needs, and to a gradient by hand where that is short enough to be written. *around* is what is left when the
generated code is taken off. The versions of a row are timed in turn, the ratios taken within a round; medians. The unit at the
end is the time of compiling a text of the standard library, by which machines can be compared.
"""

from __future__ import annotations

from benchmarks.run import SECONDS_PER_TIMING  # first: it sets the number of threads before NumPy is loaded

# isort: split

import argparse
import gc
import inspect
import math
import statistics
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from time import process_time
from typing import Any

import numpy as np

from microgradpy import grad, gradient, jvp, pullback, value_and_grad
from microgradpy.compiler import compile_for_call
from microgradpy.gradient_compiler import unit_seed_adjoint
from microgradpy.gradient_functions import PATIENCE
from microgradpy.introspect import signature_of

Call = Callable[..., Any]


# The functions


def ten_operations(x: Any, y: Any, z: Any) -> Any:
    a = x * y + z
    b = math.sin(a) * x
    c = b + y / z
    d = c * c - a
    return d * z + x


def ten_operations_by_hand(x: float, y: float, z: float) -> tuple[float, float, float]:
    a = x * y + z
    sine = math.sin(a)
    c = sine * x + y / z
    d = c * c - a
    c_bar = 2.0 * z * c
    a_bar = c_bar * x * math.cos(a) - z
    ratio_bar = c_bar / z
    return 1.0 + c_bar * sine + a_bar * y, ratio_bar + a_bar * x, d - ratio_bar * y / z + a_bar


def square(x: Any) -> Any:
    return x * x


def square_by_hand(x: float) -> float:
    return 2.0 * x


def reprojection(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, u: Any, v: Any, w: Any, p: Any, q: Any, r: Any) -> Any:
    """Twelve numbers, each used once or twice."""
    x, y = a * u + b * v + c * w, d * u + e * v + f * w
    n = math.sqrt(x * x + y * y + 1.0)
    return (x / n - p) * (y / n - q) * r


def eight_arrays(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Any:
    return np.sum(a * b * c * d) + np.sum(e * f * g * h)


def network(x: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, y: Any) -> Any:
    """Where something is chosen, so that gradients are looked through for NaN."""
    h = np.maximum(x @ w1 + b1, 0.0)
    h = np.maximum(h @ w2 + b2, 0.0)
    return np.sum((h @ w3 + b3 - y) ** 2)


def of_list(parameters: Any, x: Any) -> Any:
    w, b = parameters
    return np.sum(np.tanh(x @ w + b))


def of_dict(parameters: Any, x: Any) -> Any:
    return np.sum(np.tanh(x @ parameters["w"] + parameters["b"]))


class Layer:
    """An object with two arrays."""

    def __init__(self, w: Any, b: Any) -> None:
        self.w, self.b = w, b


class Settings:
    """An object with a number."""

    def __init__(self, rate: Any) -> None:
        self.rate = rate


def of_object(layer: Any, x: Any) -> Any:
    return np.sum(np.tanh(x @ layer.w + layer.b))


def writing(x: Any) -> Any:
    """Writes into an array of its own."""
    y = np.zeros(4)
    y[0] = x[0] * x[1]
    y[1] = y[0] * x[2]
    return np.sum(y)


def writing_to_arguments(layers: Any, x: Any) -> Any:
    """Writes into what it is given."""
    for layer in layers:
        layer.b = x * layer.w
    return sum([np.sum(layer.b) for layer in layers])


def writing_to_one(layers: Any, others: Any, x: Any) -> Any:
    """Writes into one object; another one is reached in two ways, and read."""
    layers[0].b = x * layers[0].w
    return np.sum(layers[0].b * layers[1].rate) * len(others)


# The rows


@dataclass(frozen=True)
class Row:
    """A call of something that differentiates `f` at `args`, in the arguments `wanted` (all if None)."""

    id: str
    f: Call
    args: tuple[Any, ...]
    transform: Callable[[Call], Call]
    by_hand: Call | None = None
    wanted: tuple[int, ...] | None = None
    has_bare: bool = field(default=True)

    def __str__(self) -> str:
        return self.id


def _all(transform: Any, count: int) -> Callable[[Call], Call]:
    return lambda f: transform(f, tuple(range(count)))


def _pulled(f: Call) -> Call:
    def pulled(*args: Any) -> Any:
        return pullback(f, *args)[1](1.0)

    return pulled


def _pushed(f: Call) -> Call:
    return lambda *args: jvp(f, args, (1.0,) * len(args))


def _arrays(count: int) -> tuple[Any, ...]:
    return tuple(np.linspace(0.5, 1.5, 4) + number for number in range(count))


def _network() -> tuple[Any, ...]:
    draw = np.random.default_rng(0).normal
    shapes = ((8, 4), (4, 5), (5,), (5, 5), (5,), (5, 2), (2,), (8, 2))
    return tuple(draw(size=shape) for shape in shapes)


_W, _B, _X = np.ones((4, 4)), np.ones(4), np.ones((3, 4))


def _tied_layers() -> list[Layer]:
    return [Layer(_B, np.zeros(4)), Layer(_B, np.zeros(4))]


def _with_shared_object() -> tuple[list[Any], list[Any]]:
    shared = Settings(np.full(4, 0.5))
    return [Layer(np.ones(4), np.zeros(4)), shared], [shared]


def _layers(count: int) -> list[Layer]:
    return [Layer(np.ones(4), np.zeros(4)) for _ in range(count)]


ROWS = (
    Row("grad, one operation", square, (1.5,), grad, square_by_hand),
    Row("grad, ten operations", ten_operations, (1.0, 2.0, 3.0), _all(grad, 3), ten_operations_by_hand),
    Row("value_and_grad, ten operations", ten_operations, (1.0, 2.0, 3.0), _all(value_and_grad, 3), ten_operations_by_hand),
    Row("grad, twelve numbers", reprojection, tuple(map(float, range(1, 13))), _all(grad, 12)),
    Row("grad, eight arrays", eight_arrays, _arrays(8), _all(grad, 8)),
    Row("grad, network of eight arrays", network, _network(), _all(grad, 8)),
    Row("gradient(f, ...), ten operations", ten_operations, (1.0, 2.0, 3.0), lambda f: lambda *x: gradient(f, *x)),
    Row("pullback(f, ...), ten operations", ten_operations, (1.0, 2.0, 3.0), _pulled),
    Row("jvp(f, ...), ten operations", ten_operations, (1.0, 2.0, 3.0), _pushed, has_bare=False),
    Row("grad, list of two arrays", of_list, ([_W, _B], _X), grad, wanted=(0,)),
    Row("grad, dict of two arrays", of_dict, ({"w": _W, "b": _B}, _X), grad, wanted=(0,)),
    Row("grad, object with two arrays", of_object, (Layer(_W, _B), _X), grad, wanted=(0,), has_bare=False),
    Row("grad, writes into its own array", writing, (np.ones(3),), grad, has_bare=False),
    Row("grad, writes into an object", writing_to_arguments, (_layers(1), _B), grad, has_bare=False),
    Row("grad, writes into 20 objects", writing_to_arguments, (_layers(20), _B), grad, has_bare=False),
    Row("grad, writes into an object, an array shared", writing_to_arguments, (_tied_layers(), _B), grad, has_bare=False),
    Row("grad, writes into an object, an object shared", writing_to_one, (*_with_shared_object(), _B), grad, has_bare=False),
)


def generated_directly(row: Row) -> Call:
    """The generated primal and adjoint one after the other, as a gradient that is asked for again and again runs them."""
    args = row.args
    function, kinds, active = signature_of(row.f, args, tuple(range(len(args))) if row.wanted is None else row.wanted)
    unit = compile_for_call(function, kinds, active)
    at_one = unit_seed_adjoint(unit, tuple(type(x) is np.ndarray for x in args)) or unit.reverse
    primal = unit.primal
    assert primal is not None and at_one is not None
    adjoint = at_one.run

    def directly(*args: Any) -> Any:
        _, saved = primal(*args)
        return adjoint(saved, 1.0)

    return directly


def _seconds(function: Call, args: tuple[Any, ...], calls: int) -> float:
    """CPU seconds per call."""
    start = process_time()
    for _ in range(calls):
        function(*args)
    return (process_time() - start) / calls


def unit_of_time() -> float:
    """CPU seconds of compiling a text of the standard library."""
    text = inspect.getsource(textwrap)
    return statistics.median(_seconds(compile, (text, "textwrap", "exec"), 1) for _ in range(21))


def measured(row: Row, rounds: int) -> list[float]:
    """Microseconds of the call; its ratio to the bare generated code and what it takes beyond that; its ratio to the gradient
    by hand. NaN for what there is not."""
    versions = [row.transform(row.f), generated_directly(row) if row.has_bare else None, row.by_hand]
    for version in versions:
        for _ in range(2 * PATIENCE):
            if version is not None:
                version(*row.args)
    calls = [0 if v is None else max(1, round(SECONDS_PER_TIMING / _seconds(v, row.args, 20))) for v in versions]
    gc.collect()
    gc.disable()
    try:
        times = [
            [math.nan if v is None else _seconds(v, row.args, n) for v, n in zip(versions, calls, strict=True)]
            for _ in range(rounds)
        ]
    finally:
        gc.enable()
    median = statistics.median
    found = [median(call for call, *_ in times) * 1e6, median(call / bare for call, bare, _ in times)]
    return [*found, median(call - bare for call, bare, _ in times) * 1e6, median(call / hand for call, _, hand in times)]


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU time around the generated code of a call.")
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    print("| call | us | / generated | around, us | / by hand |\n|---|---:|---:|---:|---:|")
    for row in ROWS:
        us, *rest = (f"{value:.2f}" if value == value else "" for value in measured(row, rounds))
        print(f"| {row.id} | {us} | {' | '.join(rest)} |", flush=True)
    print(f"\nunit: compiling the text of `textwrap` takes {unit_of_time() * 1e3:.2f} ms")


if __name__ == "__main__":
    main()
