"""Tangents in the structure of the values they belong to, with zeros where there is None."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.projecting import are_floats
from microgradpy.tangents.arithmetic import own, zero_cotangent
from microgradpy.tangents.fields import named_like
from microgradpy.tangents.helpers import cotangent_of, tangents_like
from microgradpy.tangents.types import is_structural_zero


@cotangent_of(1)
def dense_tangent(x_dot: Any, x: Any) -> Any:
    """`x_dot`, or zeros for a number or array whose tangent is None. Truth values have zeros here: what was not known to be one
    may be computed with."""
    if not is_structural_zero(x_dot):
        return x_dot
    is_truth = isinstance(x, bool | np.bool) or (isinstance(x, np.ndarray) and x.dtype.kind == "b")
    return np.zeros(np.shape(x))[()] if is_truth else zero_cotangent(x)


@tangents_like(1)
def mirrored_tangent(x_dot: Any, x: Any) -> Any:
    """The tangent of a container in its structure, of new lists, dicts and arrays: zeros where there is None. What is in two
    places of `x` is in two places of it."""
    if type(x) is list and (x_dot is None or type(x_dot) is list) and are_floats(x):
        return [0.0] * len(x) if x_dot is None else list(map(_or_zero, x_dot))
    return _mirrored(x_dot, x, {})


def tangent_to_write(x_dot: Any, x: Any) -> Any:
    """The tangent of something that is going to be written into, which is not to be None."""
    return mirrored_tangent(None, x) if is_structural_zero(x_dot) else x_dot


def _mirrored(x_dot: Any, x: Any, known: dict[tuple[int, int], Any]) -> Any:
    cls = type(x)
    if cls is float:
        return 0.0 if x_dot is None else x_dot
    if not isinstance(x, list | dict | tuple | np.ndarray):
        return (0.0 if isinstance(x, bool | np.bool) and known else zero_cotangent(x)) if is_structural_zero(x_dot) else x_dot
    dots = None if is_structural_zero(x_dot) else x_dot
    key = id(x), id(dots)
    if key in known:
        return known[key]
    if isinstance(x, np.ndarray):
        known[key] = found = zero_cotangent(x) if dots is None else own(dots)
        return found
    made: Any = {} if isinstance(x, dict) else []
    known[key] = made
    if isinstance(x, dict):
        get = {}.get if dots is None else dots.get
        made |= {name: _mirrored(get(name), item, known) for name, item in x.items()}
        return made
    made += [_mirrored(dot, item, known) for dot, item in zip((None,) * len(x) if dots is None else dots, x, strict=True)]
    if isinstance(x, tuple):
        known[key] = made = tuple(made) if cls is tuple else named_like(x, made) if hasattr(x, "_fields") else made
    return made


def _or_zero(dot: Any) -> Any:
    return 0.0 if dot is None else dot


def values_tangent(x_dot: dict[Any, Any]) -> list[Any]:
    """The tangent of `x.values()`."""
    return list(x_dot.values())


def pairs_tangent(pairs: list[Any], pairs_dot: list[Any]) -> dict[Any, Any]:
    """The tangent of `dict(pairs)`."""
    return {key: dot for (key, _), (_, dot) in zip(pairs, pairs_dot, strict=True)}
