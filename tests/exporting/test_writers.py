"""Exported modules of functions that write into arrays: as the package in whatever form the arrays come."""

from __future__ import annotations

import copy
import importlib.util
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgradpy import MutationError, export, pullback
from microgradpy import value_and_gradient as value_and_gradient_here
from tests.test_programs import same, same_cotangents

N = 6
LINE = np.linspace(-1.0, 2.0, N)


@pytest.fixture
def exported(tmp_path: Path) -> Callable[..., types.ModuleType]:
    def made(f: Any, *args: Any) -> types.ModuleType:
        path = export(f, tmp_path / "made.py", *args)
        spec = importlib.util.spec_from_file_location("made", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return made


def diffuses(rate, start, steps):
    u = start.copy()
    for _ in range(steps):
        u[1:-1] += rate * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def writes_its_argument(u, v):
    for i in range(1, len(u)):
        u[i] = u[i - 1] * v[i] + u[i]
    return np.sum(u * v)


def smooth(u, k):
    u[1:-1] = (1.0 - k) * u[1:-1] + 0.5 * k * (u[:-2] + u[2:])


def through_views(u, k):
    w = u * 2.0
    smooth(w[::2], k)
    smooth(w[1::2], k)
    w[::-1][:2] += w[:2]
    return np.sum(w**3)


def fills_and_returns(x):
    out = np.zeros((len(x), 2))
    for i in range(len(x)):
        out[i, 0] = x[i] ** 2
        out[i, 1] = out[i, 0] * x[i]
    return out


def on_one_path(u, k):
    w = u.copy()
    if k > 0.0:
        w[0] = k * w[1]
    else:
        w[-1] += w[0] * w[1]
    return np.sum(w * w)


def forms() -> list[np.ndarray]:
    """The same numbers as an array, as views of larger ones, and read backwards."""
    wide = np.stack([LINE, LINE + 1.0], axis=1)
    return [LINE.copy(), wide[:, 0], np.concatenate([LINE, LINE])[:N], LINE[::-1].copy()[::-1], np.repeat(LINE, 2)[::2]]


CALLS = [
    (diffuses, (0.1, LINE, 4)),
    (writes_its_argument, (LINE, LINE + 0.5)),
    (through_views, (LINE, 0.3)),
    (fills_and_returns, (LINE,)),
    (on_one_path, (LINE, 0.7)),
    (on_one_path, (LINE, -0.7)),
]


@pytest.mark.parametrize("form", range(5))
@pytest.mark.parametrize("f, args", CALLS, ids=lambda each: getattr(each, "__name__", ""))
def test_results_are_those_of_the_package(exported: Any, f: Any, args: tuple[Any, ...], form: int) -> None:
    made = exported(f, *copy.deepcopy(args))

    def given() -> tuple[Any, ...]:
        return tuple(forms()[form] + (each[0] - LINE[0]) if each is not LINE and np.ndim(each) else
                     forms()[form] if np.ndim(each) else each for each in args)  # fmt: skip

    here, there = given(), given()
    y, back = pullback(f, *here)
    z, back_there = made.pullback(*there)
    assert same(y, z)
    assert all(same(a, b) for a, b in zip(here, there, strict=True))
    for seed in (np.ones(np.shape(y)), np.full(np.shape(y), -0.3)):
        assert same_cotangents(back_there(seed)[1:], back(seed)[1:])
    if np.ndim(y) == 0:
        assert same_cotangents(made.value_and_gradient(*given()), value_and_gradient_here(f, *given()))


@pytest.mark.parametrize("dtype", [np.float32, np.longdouble])
def test_other_dtypes(exported: Any, dtype: Any) -> None:
    u = (LINE * 3).astype(dtype)
    made = exported(on_one_path, u, 0.7)
    y, back = pullback(on_one_path, u, 0.7)
    z, back_there = made.pullback(u, 0.7)
    assert same(y, z) and same_cotangents(back_there(1.0)[1:], back(1.0)[1:])


def test_arguments_that_share_memory_are_refused(exported: Any) -> None:
    made = exported(writes_its_argument, LINE.copy(), LINE + 0.5)
    both = np.concatenate([LINE, LINE])
    for u, v in [(both[:N], both[N:]), (LINE, LINE)]:
        with pytest.raises(ValueError, match="the arguments u and v share memory"):
            made.value_and_gradient(u, v)


def test_arrays_that_were_changed_since_are_noticed(exported: Any) -> None:
    made = exported(writes_its_argument, LINE.copy(), LINE + 0.5)
    u, v = LINE.copy(), LINE + 0.5
    _, back = made.pullback(u, v)
    assert not np.array_equal(u, LINE)
    u[2] += 1.0
    with pytest.raises(ValueError, match="was changed after the call"):
        back(1.0)


def appended(u, k):
    items = [[u[0]], [u[1]]]
    chosen = items[0] if k > 0.1 else items[1]
    chosen.append(u[1] * k)
    return items[0][0] * items[0][1]


def written_by_places(u):
    w = u * 2.0
    np.put(w, [0], 0.0)
    return np.sum(w)


@pytest.mark.parametrize("f, args, call", [
    (appended, (LINE, 0.5), "list.append"),
    (written_by_places, (LINE,), "np.put(w, [0], 0.0)"),
])  # fmt: skip
def test_what_is_found_out_at_run_time_only_is_refused(exported: Any, f: Any, args: tuple[Any, ...], call: str) -> None:
    with pytest.raises(MutationError, match="cannot be exported: it, or what it calls") as caught:
        exported(f, *args)
    assert call in str(caught.value)
