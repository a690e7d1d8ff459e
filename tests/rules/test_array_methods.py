"""Every public attribute of an array is differentiated, or carries no derivative, or is refused: a new one makes this fail."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from microgradpy import DifferentiationError, gradient, pullback
from microgradpy.compiler import always_track
from microgradpy.rules.classified import WITHOUT_RULE
from microgradpy.rules.registry import is_inert_attribute, is_non_differentiable
from tests.finite_differences import differences, dot, flatten_cotangent, random_seed

TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])


def written(x, write):
    """A copy of x after a write, as a part of a larger result."""
    y = x * 1.0
    write(y, x)
    return y * x


DIFFERENTIATED: dict[str, Callable[[Any], Any]] = {
    "T": lambda x: x.T,
    "all": lambda x: x * x.all(),
    "astype": lambda x: x.astype(complex).real,
    "choose": lambda x: np.array([[0, 1, 0]]).choose(x),
    "clip": lambda x: x.clip(-1.0, 1.5),
    "compress": lambda x: x.compress([True, False, True], axis=1),
    "conj": lambda x: (x * (1.0 + 2.0j)).conj(),
    "conjugate": lambda x: (x * (1.0 + 2.0j)).conjugate(),
    "copy": lambda x: x.copy(),
    "cumprod": lambda x: x.cumprod(axis=1),
    "cumsum": lambda x: x.cumsum(),
    "diagonal": lambda x: x.diagonal(1),
    "dot": lambda x: x.dot(x[0]),
    "fill": lambda x: written(x, lambda y, x: y[0].fill(x[1, 1])),
    "flat": lambda x: x.flat[2] * x.flat[4],
    "flatten": lambda x: x.flatten("F"),
    "imag": lambda x: (x * (1.0 + 2.0j)).imag,
    "item": lambda x: x.item(1, 2),
    "mT": lambda x: x.mT,
    "max": lambda x: x.max(axis=1),
    "mean": lambda x: x.mean(axis=0),
    "min": lambda x: x.min(axis=1),
    "partition": lambda x: written(x, lambda y, x: y.partition(1)),
    "prod": lambda x: x.prod(axis=1),
    "put": lambda x: written(x, lambda y, x: y.put([0, 4], x[1, :2])),
    "ravel": lambda x: x.ravel(),
    "real": lambda x: (x * (1.0 + 2.0j)).real,
    "repeat": lambda x: x.repeat(2, axis=0),
    "reshape": lambda x: x.reshape(3, 2),
    "sort": lambda x: written(x, lambda y, x: y.sort(axis=1)),
    "squeeze": lambda x: x[:1].squeeze(),
    "std": lambda x: x.std(axis=1),
    "sum": lambda x: x.sum(axis=0),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "take": lambda x: x.take([0, 2, 2], axis=1),
    "to_device": lambda x: x.to_device("cpu"),
    "tolist": lambda x: x.tolist(),
    "trace": lambda x: x.trace(),
    "transpose": lambda x: x.transpose(1, 0),
    "var": lambda x: x.var(axis=1),
    "view": lambda x: x.view(),
}
REFUSED: dict[str, Callable[[Any], Any]] = {
    "base": lambda x: np.sum(x[0].base),
    "byteswap": lambda x: np.sum((x * 1.0).byteswap(True)),
    "ctypes": lambda x: x.ctypes.data * np.sum(x),
    "data": lambda x: x.data[0, 0] * np.sum(x),
    "dump": lambda x: x.dump("/dev/null"),
    "dumps": lambda x: np.frombuffer(x.dumps())[0],
    "getfield": lambda x: np.sum((x * 1.0).getfield(np.float32)),
    "resize": lambda x: np.sum(written(x, lambda y, x: y.resize((1, 2)))),
    "setflags": lambda x: np.sum(written(x, lambda y, x: y.setflags(write=False))),
    "setfield": lambda x: np.sum(written(x, lambda y, x: y.setfield(x, np.float32))),
    "tobytes": lambda x: np.frombuffer((x * 1.0).tobytes())[0],
    "tofile": lambda x: (x * 1.0).tofile("/dev/null"),
}


def is_inert(name: str) -> bool:
    return is_inert_attribute(np.ndarray, name) or is_non_differentiable(getattr(np.ndarray, name))


PUBLIC = [name for name in dir(np.ndarray) if not name.startswith("_") and hasattr(np.zeros((1, 1)), name)]
"""Those that NumPy 2 took away are still listed by NumPy 2.2, and raise."""


def test_every_public_attribute_is_classified() -> None:
    known = {name.removeprefix("ndarray.") for name in WITHOUT_RULE if name.startswith("ndarray.")}
    unknown = [name for name in PUBLIC if name not in {*DIFFERENTIATED, *REFUSED, *known} and not is_inert(name)]
    assert not unknown, f"give it a case here, a rule, or say why there is none: {unknown}"


@pytest.mark.parametrize("mode", [nullcontext, always_track], ids=["pure", "tracked"])
@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_differentiated(name: str, mode: Any) -> None:
    call = DIFFERENTIATED[name]
    with mode():
        y, back = pullback(call, TABLE.copy())
        seed = random_seed(y)
        bars = back(seed)[1:]
    np.testing.assert_array_equal(y, call(TABLE))
    expected = differences(lambda x: dot(seed, call(x)), (TABLE,))
    np.testing.assert_allclose(flatten_cotangent((TABLE,), bars), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    with pytest.raises(DifferentiationError):
        gradient(REFUSED[name], TABLE.copy())


@pytest.mark.parametrize("name", [name for name in PUBLIC if is_inert(name)])
def test_what_carries_no_derivative_may_be_read(name: str) -> None:
    def reads(x):
        return len(repr(getattr(x, name))) * np.sum(x) / len(repr(getattr(x, name)))

    np.testing.assert_allclose(gradient(reads, TABLE)[0], np.ones_like(TABLE))
