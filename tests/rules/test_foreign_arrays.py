"""Rules on arrays that are none of NumPy's: which of them work by its protocols alone, and those have to go on working.

The list is in tests/foreign_arrays.txt; `python -m tests.rules.test_foreign_arrays` writes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgradpy import DifferentiationError, gradient
from microgradpy.rules import all_examples, rrule
from microgradpy.rules.registry import Example
from microgradpy.tangents.types import is_structural_zero
from tests.finite_differences import random_seed
from tests.foreign_arrays import Foreign, unwrapped, wrapped

LIST = Path(__file__).parents[1] / "foreign_arrays.txt"
COMMON = """
np.add np.subtract np.multiply np.divide np.power np.negative np.absolute np.square np.sqrt np.exp np.log np.sin np.cos
np.tanh np.maximum np.minimum np.arctan2 np.sum np.mean np.prod np.var np.std np.max np.min np.matmul np.dot np.inner
np.outer np.tensordot np.reshape np.ravel np.transpose np.swapaxes np.moveaxis np.squeeze np.expand_dims np.broadcast_to
np.flip np.concatenate np.stack np.where np.clip operator.getitem operator.add operator.sub operator.mul
operator.truediv operator.pow operator.matmul operator.neg
""".split()


def name_of(f: Any) -> str:
    module = "np" if isinstance(f, np.ufunc) else str(f.__module__).replace("numpy", "np").replace("_operator", "operator")
    return f"{module}.{f.__name__}"


def has_array(x: Any) -> bool:
    return isinstance(x, np.ndarray) or (isinstance(x, list | tuple) and any(map(has_array, x)))


def is_tried(example: Example) -> bool:
    """Whether it is an example of a function of NumPy's, or of an operator, that is given an array."""
    module = str(getattr(example.f, "__module__", ""))
    is_function = isinstance(example.f, np.ufunc) or module.startswith(("numpy", "_operator"))
    is_of_numpy = is_function and not str(example).startswith("scipy.") and not hasattr(example.f, "__objclass__")
    return is_of_numpy and any(map(has_array, example.args))


def goes_by_memory(example: Example) -> bool:
    """Whether the order of the result is that of the array in memory, of which nothing is known."""
    return example.f in (np.ravel, np.reshape) and any(
        isinstance(option, str) and option in "AK" for option in (*example.args, *example.kwargs.values())
    )


EXAMPLES: dict[str, list[Example]] = {}
for _example in filter(is_tried, all_examples()):
    if goes_by_memory(_example):
        continue
    EXAMPLES.setdefault(name_of(_example.f), []).append(_example)


def the_same(a: Any, b: Any) -> bool:
    if is_structural_zero(a) or is_structural_zero(b):
        return is_structural_zero(a) and is_structural_zero(b)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(the_same, a, b))
    return bool(np.allclose(unwrapped(a), unwrapped(b), rtol=1e-12, atol=0.0, equal_nan=True))


def called(example: Example, change: Callable[[Any], Any]) -> tuple[Any, Any]:
    """The value and the cotangents, of arguments that were changed."""
    y = example.f(*example.args, **example.kwargs)
    made = rrule(example.f, *change(example.args), **example.kwargs)
    assert made is not None
    return made[0], made[1](change(random_seed(y)))[1:]


def works(example: Example) -> bool:
    with np.errstate(all="ignore"):
        y, bars = called(example, lambda x: x)
        foreign_y, foreign_bars = called(example, wrapped)
    if isinstance(y, np.ndarray) and not isinstance(foreign_y, Foreign):
        return False
    return the_same(foreign_y, y) and all(map(the_same, foreign_bars, bars))


@pytest.mark.parametrize("name", LIST.read_text().split())
def test_the_rule_works_with_foreign_arrays(name: str) -> None:
    assert all(map(works, EXAMPLES[name]))


def test_orders_that_go_by_memory_are_refused() -> None:
    examples = list(filter(goes_by_memory, filter(is_tried, all_examples())))
    assert examples
    for example in examples:
        with pytest.raises(DifferentiationError):
            called(example, wrapped)


def test_the_common_functions_are_in_the_list() -> None:
    assert not set(COMMON) - set(LIST.read_text().split())


def test_arguments_of_such_classes_are_refused() -> None:
    with pytest.raises(DifferentiationError):
        gradient(lambda x: np.sum(x * x), Foreign(np.ones(3)))


CALLS: list[Callable[..., Any]] = [
    lambda f, x, w: f(np.multiply, x, w),
    lambda f, x, w: f(np.add, x, 2.0),
    lambda f, x, w: f(np.divide, x, w),
    lambda f, x, w: f(np.exp, x),
    lambda f, x, w: f(np.tanh, x),
    lambda f, x, w: f(np.sum, x, 0),
    lambda f, x, w: f(np.mean, x, 1),
    lambda f, x, w: f(np.sum, x),
    lambda f, x, w: f(np.max, x, 1),
    lambda f, x, w: f(np.maximum, x, w),
    lambda f, x, w: f(np.matmul, x, w.T),
    lambda f, x, w: f(np.dot, x, w.T),
    lambda f, x, w: f(np.transpose, x),
    lambda f, x, w: f(np.swapaxes, x, 0, 1),
    lambda f, x, w: f(np.concatenate, [x, w], 1),
    lambda f, x, w: f(np.where, x > 0.0, x, w),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_dask_arrays(number: int) -> None:
    array = pytest.importorskip("dask.array")
    x, w = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]]), np.array([[0.35, -0.4, 1.2], [-0.8, 0.65, 0.15]])

    def value_and_bars(convert: Callable[[Any], Any]) -> tuple[Any, Any]:
        y, back = CALLS[number](lambda f, *args: rrule(f, *args), convert(x), convert(w))
        seed = np.cos(np.arange(math.prod(y.shape)) + 1.0).reshape(y.shape)
        return y, back(convert(seed) if seed.ndim else float(seed))[1:]

    plain, lazy = value_and_bars(lambda a: a), value_and_bars(lambda a: array.from_array(a, chunks=(1, 2)[: a.ndim]))

    def computed(bar: Any) -> Any:
        if isinstance(bar, list):
            return [computed(part) for part in bar]
        return bar if is_structural_zero(bar) else np.asarray(bar)

    assert isinstance(lazy[0], array.Array)
    np.testing.assert_allclose(np.asarray(lazy[0]), plain[0], rtol=1e-12)
    for found, expected in zip(map(computed, lazy[1]), map(computed, plain[1]), strict=True):
        if not is_structural_zero(expected):
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def working() -> list[str]:
    """The functions all of whose examples work."""
    found = []
    for name, examples in sorted(EXAMPLES.items()):
        try:
            if all(map(works, examples)):
                found.append(name)
        except Exception:  # whatever it is that such an array cannot do
            continue
    return found


if __name__ == "__main__":
    LIST.write_text("\n".join(working()) + "\n")
