"""Tangents that are drawn, and the identity that holds the two modes against each other."""

from __future__ import annotations

import types
from collections import deque
from typing import Any

import numpy as np

from microgradpy import Tangent
from microgradpy.tangents.pairing import pairing
from tests import finite_differences as fd

_NONE = (bool, str, bytes, type(None), type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc)


def drawn(x: Any, rng: np.random.Generator) -> Any:
    """A tangent of a value: a number for every number in it, and None for what cannot be perturbed."""
    if isinstance(x, _NONE):
        return None
    if isinstance(x, complex):
        return complex(rng.normal(), rng.normal())
    if isinstance(x, int | float):
        return float(rng.normal())
    if isinstance(x, np.ndarray | np.generic):
        return _drawn_array(x, rng)
    if isinstance(x, list | tuple | deque):
        items = [drawn(item, rng) for item in x]
        return items if not isinstance(x, tuple) else tuple.__new__(type(x), items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, dict):
        return {key: drawn(value, rng) for key, value in x.items()}
    return Tangent(type(x), {name: drawn(value, rng) for name, value in fd.children(x)})


def _drawn_array(x: Any, rng: np.random.Generator) -> Any:
    if x.dtype.kind not in "fciu":
        return None
    dot = rng.normal(size=x.shape)
    if x.dtype.kind == "c":
        dot = dot + 1j * rng.normal(size=x.shape)
    dot = np.asarray(dot, dtype=x.dtype if x.dtype.kind in "fc" else float)
    return dot if isinstance(x, np.ndarray) else dot[()]


def assert_transposed(y_bar: Any, y_dot: Any, bars: tuple[Any, ...], dots: tuple[Any, ...], tolerance: float = 1e-10) -> None:
    """<y_bar, y_dot> = <x_bar, x_dot>: the pullback and the pushforward are transposes of each other."""
    forward, reverse = pairing(y_bar, y_dot), sum(map(pairing, bars, dots), 0.0)
    if not (np.isnan(forward) and np.isnan(reverse)):
        assert abs(forward - reverse) <= tolerance * (1.0 + abs(reverse)), f"{forward} forward, {reverse} reverse"
