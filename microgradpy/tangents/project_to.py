"""`ProjectTo(x)`: what a rule's cotangents of `x` are brought to before they are handed on."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from microgradpy.errors import CotangentShapeError
from microgradpy.tangents.fields import named_like
from microgradpy.tangents.projection import fields_of, project
from microgradpy.tangents.thunks import Thunk
from microgradpy.tangents.types import NoTangent, NotImplementedTangent, Tangent, is_structural_zero


@final
class ProjectTo:
    """A function from cotangents of `x` to cotangents in the structure of `x`: real where it is real, of its shape and dtype
    (`float32` stays `float32`, whole numbers have floats), in its kind of container. Zeros pass, and thunks stay thunks. What
    cannot be perturbed (texts, booleans, None) has `NoTangent()`. It keeps shapes and dtypes of `x`, not `x`.

    `ProjectTo(np.float32(2.0))(1.0 + 2.0j)` is `np.float32(1.0)`. Raises CotangentShapeError where shapes differ by more than
    axes of length one."""

    __slots__ = ("like",)

    def __init__(self, x: Any) -> None:
        self.like = _outline(x)

    def __repr__(self) -> str:
        return f"ProjectTo({_described(self.like)})"

    def __call__(self, x_bar: Any) -> Any:
        if isinstance(x_bar, NotImplementedTangent):
            return x_bar
        if is_structural_zero(x_bar):
            return NoTangent() if self.like is None or x_bar is None else x_bar
        if self.like is None:
            return NoTangent()
        if isinstance(x_bar, Thunk):
            return Thunk(lambda: self(x_bar.compute()))
        return _with_zeros(_projected(self.like, x_bar))


def _outline(x: Any) -> Any:
    """A value of the same structure that holds no memory of `x`; None for what cannot be perturbed."""
    if isinstance(x, bool | np.bool | str | bytes | type(None)):
        return None
    if isinstance(x, np.ndarray):
        return np.broadcast_to(np.zeros((), x.dtype), x.shape) if x.dtype.kind in "fciu" else None
    if isinstance(x, int | float | complex | np.number):
        return type(x)(0)
    if isinstance(x, tuple):
        items = list(map(_outline, x))
        return None if all(item is None for item in items) else _like_tuple(x, items)
    if isinstance(x, list):
        return list(map(_outline, x))
    if isinstance(x, dict):
        return {key: _outline(value) for key, value in x.items()}
    fields = {name: _outline(value) for name, value in fields_of(x).items()}
    return None if all(field is None for field in fields.values()) else Tangent(type(x), fields)


def _like_tuple(x: tuple[Any, ...], items: list[Any]) -> Any:
    return named_like(x, items) if hasattr(x, "_fields") else tuple(items)


def _projected(like: Any, x_bar: Any) -> Any:
    if isinstance(like, np.ndarray):
        return project(like, _without_axes_of_one(like, x_bar))
    if isinstance(like, Tangent):
        if not isinstance(x_bar, Tangent) or x_bar.keys() - like.keys():
            raise CotangentShapeError(f"the cotangent of a {like.primal_type.__name__} is {x_bar!r}")
        return Tangent(like.primal_type, {name: ProjectTo.__call__(_to(part), x_bar.get(name)) for name, part in like.items()})
    return project(like, x_bar)


def _to(like: Any) -> ProjectTo:
    made = ProjectTo.__new__(ProjectTo)
    made.like = like
    return made


def _without_axes_of_one(like: np.ndarray[Any, Any], x_bar: Any) -> Any:
    """An array of another number of axes that has the same entries: axes of length one do not count."""
    if not isinstance(x_bar, np.ndarray) or x_bar.shape == like.shape:
        return x_bar
    if [length for length in x_bar.shape if length != 1] != [length for length in like.shape if length != 1]:
        raise CotangentShapeError(f"the cotangent of an array of shape {like.shape} is an array of shape {x_bar.shape}")
    return x_bar.reshape(like.shape)


def _with_zeros(x_bar: Any) -> Any:
    return NoTangent() if x_bar is None else x_bar


def _described(like: Any) -> str:
    if isinstance(like, np.ndarray):
        return f"{like.dtype} array of shape {like.shape}"
    return "nothing" if like is None else type(like).__name__
