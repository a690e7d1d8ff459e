"""The adjoint for the seed 1, which gradients take: the same bits as the general one."""

from __future__ import annotations

import contextlib
import copy
import io
import re
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import MutationError, code_adjoint, gradient, plans, pullback, value_and_grad
from microgradpy.cache import CACHE
from microgradpy.codegen.loading import DUMP_VARIABLE
from tests.programs import PROGRAMS, Program
from tests.test_programs import same, same_cotangents
from tests.ways import chosen, some

VECTOR, OTHER = np.array([0.5, -1.25, 2.0]), np.array([1.5, 0.75, -0.5])
SINGLE = np.array([0.1, 0.2, 0.3], np.float32)


def product(x: Any, c: Any) -> Any:
    return np.sum(np.sin(x) * c)


def halved(x: Any, c: Any) -> Any:
    return 0.5 * np.sum(x * x * c) / 3


def added(x: Any, c: Any) -> Any:
    return np.sum((x + c) * c)


def squared_dot(x: Any, c: Any) -> Any:
    return np.dot(x, c) * 2.0


def in_a_loop(x: Any, c: Any) -> Any:
    total = 0.0
    for _ in range(3):
        total = total + np.sum(x * c)
        x = np.sin(x)
    return total


def masked(x: Any, c: Any) -> Any:
    return np.sum(np.where(x > 0, x * x, 0.0) * c) + np.sum((x > 0) * x * c)


def with_single_precision(x: Any, c: Any) -> Any:
    return np.sum(x * (SINGLE * SINGLE)) + np.sum(x * SINGLE * c)


def narrowed(x: Any, c: Any) -> Any:
    return np.sum((x.astype(np.float32) * SINGLE).astype(np.float64) * c)


LOSSES = [product, halved, added, squared_dot, in_a_loop, masked, with_single_precision, narrowed]
FOLDED = [product, halved, added, squared_dot, masked]
"""Those in whose adjoint the seed is multiplied into an array of double precision."""


def gradients(f: Callable[..., Any], args: tuple[Any, ...], count: int = 5) -> list[Any]:
    """What the general adjoint gives for the seed 1, and then `gradient` when it is asked several times; copies, so that none
    can be changed by the next."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "unit_seed_adjoint", lambda *_: None)
        general = copy.deepcopy(gradient(f, *args))
    CACHE.plans.clear()
    return [general, *(copy.deepcopy(gradient(f, *args)) for _ in range(count - 1))]


def is_made(f: Any) -> bool:
    """Whether some signature of this function has an adjoint for the seed 1."""
    return any(plan.at_one is not None for key, plan in CACHE.plans.items() if key[0] == id(f.__code__))


@pytest.mark.parametrize("dtypes", [(np.float64, np.float64), (np.float32, np.float64), (np.float32, np.float32)], ids=str)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda f: f.__name__)
def test_the_gradient_is_the_same_to_the_last_bit(loss: Callable[..., Any], dtypes: tuple[Any, Any]) -> None:
    args = VECTOR.astype(dtypes[0]), OTHER.astype(dtypes[1])
    first, *others = gradients(loss, args)
    for other in others:
        assert same(first, other)
    assert is_made(loss) or loss not in FOLDED or dtypes != (np.float64, np.float64)


@pytest.mark.parametrize("loss", FOLDED, ids=lambda f: f.__name__)
def test_no_gradient_is_an_argument_or_another_gradient(loss: Callable[..., Any]) -> None:
    args = VECTOR.copy(), OTHER.copy()
    differentiated = value_and_grad(loss, argnums=(0, 1))
    for _ in range(5):
        _, found = differentiated(*args)
        assert not any(np.shares_memory(bar, other) for bar in found for other in args)
        assert not np.shares_memory(*found)
        for bar in found:
            bar[:] = np.nan  # nor does the next one depend on it
    assert is_made(loss)
    fresh = [np.array(bar) for bar in differentiated(*args)[1]]
    assert all(np.isfinite(bar).all() for bar in fresh)
    assert same(args, (VECTOR, OTHER))


@pytest.mark.parametrize("program", some(PROGRAMS, "seed"), ids=str)
def test_programs(program: Program) -> None:
    """The gradient of a weighted sum of whatever numbers a program returns, or of the one number that it returns."""
    f = program.function

    def total(*args: Any) -> Any:
        y = f(*args)
        return np.sum(np.real(y * np.cos(y))) if isinstance(y, float | np.ndarray) else 0.0

    with contextlib.redirect_stdout(io.StringIO()):
        returns_a_number = isinstance(f(*copy.deepcopy(program.args)), float)
        for loss in chosen(program.id, (total, f)) if returns_a_number else (total,):
            try:
                first, *others = gradients(loss, program.args, count=4)
            except MutationError:  # a program that writes has to be called by its name
                assert loss is total
                continue
            for other in others:
                assert same_cotangents(first, other)


def test_another_seed_takes_the_general_adjoint() -> None:
    first = gradient(product, VECTOR, OTHER)
    _, back = pullback(product, VECTOR, OTHER)
    for seed in (2.0, -0.5, 1.0, np.float32(1.0)):
        for found, once in zip(back(seed)[-2:], first, strict=True):
            np.testing.assert_allclose(found, float(seed) * once, rtol=1e-12)
    assert same(first, gradient(product, VECTOR, OTHER))


def test_only_the_adjoint_that_is_wanted_is_made() -> None:
    def loss(x: Any, c: Any) -> Any:
        return np.sum(np.exp(x) * c)

    def unit() -> Any:
        return next(plan.unit for key, plan in CACHE.plans.items() if key[0] == id(loss.__code__))

    expected = gradient(loss, VECTOR, OTHER)
    assert unit().made is None and len(unit().at_one) == 1
    gradient(loss, VECTOR[:2], OTHER[:2])  # another signature, of the same kinds
    assert unit().made is None and len(unit().at_one) == 1
    gradient(loss, SINGLE, OTHER)
    assert unit().made is None and len(unit().at_one) == 2
    _, back = pullback(loss, VECTOR, OTHER)
    assert unit().made is None
    assert same(expected, back(1.0)[-2:])
    assert unit().made is not None


def test_threads_that_want_an_adjoint_get_the_same() -> None:
    def loss(x: Any, c: Any) -> Any:
        return np.sum(np.exp(x) * c)

    y, back = pullback(loss, VECTOR, OTHER)
    expected = np.exp(VECTOR) * OTHER
    start = threading.Barrier(8)
    found: list[Any] = []

    def ask() -> None:
        start.wait()
        found.append((back(2.0)[-2] / 2.0, gradient(loss, VECTOR, OTHER)[0]))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    for bars in found:
        for bar in bars:
            np.testing.assert_allclose(bar, expected, rtol=1e-12)
    assert y == loss(VECTOR, OTHER)


def test_a_debugger_and_a_folder_of_texts_are_shown_the_general_adjoint(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    def loss(x: Any, c: Any) -> Any:
        return np.sum(np.exp(x) * c)

    monkeypatch.setenv(DUMP_VARIABLE, str(tmp_path))
    gradients(loss, (VECTOR, OTHER))
    assert not is_made(loss)
    kinds = [re.sub(r"_\d+$", "", path.stem) for path in tmp_path.iterdir()]  # numbered, if there was one before
    assert sorted(kinds) == ["loss_adjoint", "loss_primal"]

    monkeypatch.delenv(DUMP_VARIABLE)
    gradients(product, (VECTOR, OTHER))
    called: list[str] = []

    def trace(frame: Any, event: str, argument: Any) -> Any:
        called.append(frame.f_code.co_name)
        return None

    sys.settrace(trace)
    try:
        gradient(product, VECTOR, OTHER)
    finally:
        sys.settrace(None)
    assert "product_adjoint" in called and "product_gradient" not in called
    assert "y_bar * c" in code_adjoint(product, VECTOR, OTHER)
