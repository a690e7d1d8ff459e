"""Cotangents that are computed when they are used, or not at all.

    @rrule.register(matmul)
    def matmul_rrule(a, b):
        def matmul_pullback(y_bar):
            return NoTangent(), thunk(lambda: y_bar @ b.T), thunk(lambda: a.T @ y_bar)
        return a @ b, matmul_pullback

Where a rule is compiled in, a thunk is what it computes: nobody computes what nobody wants there. Where a rule
is called, whoever calls it asks for what is wanted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, final

import numpy as np

from microgradpy.errors import MissingRuleError, MutationError
from microgradpy.tangents import types
from microgradpy.tangents.types import NotImplementedTangent, Tangent, is_structural_zero


class Thunk:
    """A cotangent that is computed, anew each time, by `unthunk`, and by whatever calculates with it. `compute` takes no
    arguments."""

    __slots__ = ("compute",)

    def __init__(self, compute: Callable[[], Any]) -> None:
        self.compute = compute

    def __repr__(self) -> str:
        return f"{type(self).__name__}({getattr(self.compute, '__name__', self.compute)})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(unthunk(self), dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*map(unthunk, inputs), **kwargs)

    def __add__(self, other: Any) -> Any:
        return self if is_structural_zero(other) else unthunk(self) + unthunk(other)

    def __radd__(self, other: Any) -> Any:
        return self if is_structural_zero(other) else unthunk(other) + unthunk(self)

    def __mul__(self, other: Any) -> Any:
        return other if is_structural_zero(other) else unthunk(self) * unthunk(other)

    def __rmul__(self, other: Any) -> Any:
        return other if is_structural_zero(other) else unthunk(other) * unthunk(self)

    def __sub__(self, other: Any) -> Any:
        return self if is_structural_zero(other) else unthunk(self) - unthunk(other)

    def __rsub__(self, other: Any) -> Any:
        return -unthunk(self) if is_structural_zero(other) else unthunk(other) - unthunk(self)

    def __matmul__(self, other: Any) -> Any:
        return unthunk(self) @ unthunk(other)

    def __rmatmul__(self, other: Any) -> Any:
        return unthunk(other) @ unthunk(self)

    def __truediv__(self, other: Any) -> Any:
        return unthunk(self) / other

    def __neg__(self) -> Any:
        return -unthunk(self)

    def __getitem__(self, index: Any) -> Any:
        return unthunk(self)[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        found = "an item of a thunk is assigned, which would be lost: a thunk is computed anew each time"
        raise MutationError(found, None, "Write into a copy: `x_bar = unthunk(x_bar).copy()`.")

    def __float__(self) -> float:
        return float(unthunk(self))

    def __complex__(self) -> complex:
        return complex(unthunk(self))

    def conjugate(self) -> Any:
        return np.conjugate(unthunk(self))


@final
class InplaceableThunk(Thunk):
    """A thunk that can also be added to an array in place: `add(x_bar)` adds what `compute()` gives to the array `x_bar`, and
    returns it."""

    __slots__ = ("add",)

    def __init__(self, add: Callable[[Any], Any], compute: Callable[[], Any]) -> None:
        super().__init__(compute)
        self.add = add


def thunk(compute: Callable[[], Any]) -> Thunk:
    """A cotangent that is computed when it is used."""
    return Thunk(compute)


def unthunk(x_bar: Any) -> Any:
    """What a thunk computes; anything else as it is."""
    return x_bar.compute() if isinstance(x_bar, Thunk) else x_bar


extern = unthunk


def computed(x_bar: Any) -> Any:
    """A cotangent without thunks, at any depth."""
    cls = type(x_bar)
    if cls is np.ndarray or cls is float or cls is np.float64 or is_structural_zero(x_bar):
        return x_bar
    if cls is list and _FLOAT.issuperset(map(type, x_bar)):
        return x_bar.copy()
    if isinstance(x_bar, Thunk):
        return computed(x_bar.compute())
    if isinstance(x_bar, Tangent):
        return Tangent(x_bar.primal_type, {name: computed(part) for name, part in x_bar.items()})
    if cls is dict:
        return {key: computed(part) for key, part in x_bar.items()}
    return cls(map(computed, x_bar)) if cls in (list, tuple) else x_bar


_FLOAT = frozenset({float})


def accumulate(a: Any, b: Any) -> Any:
    """The sum of two cotangents of one value, element by element in containers. Changes neither. Nothing is computed of a thunk
    that is added to a structural zero."""
    if is_structural_zero(a) or is_structural_zero(b):
        return types.accumulate(a, b)
    return types.accumulate(computed(a), computed(b))


def accumulate_in_place(x_bar: Any, d: Any) -> Any:
    """`x_bar + d`, in the array `x_bar` itself if that is an array of floating-point numbers that can be written into."""
    is_place = isinstance(x_bar, np.ndarray) and x_bar.dtype.kind in "fc" and x_bar.flags.writeable
    if not is_place or is_structural_zero(d):
        return x_bar if is_structural_zero(d) else unthunk(d) if is_structural_zero(x_bar) else x_bar + unthunk(d)
    if not isinstance(d, InplaceableThunk):
        d = unthunk(d)
        if np.shape(d) != x_bar.shape or not np.can_cast(np.asarray(d).dtype, x_bar.dtype, "same_kind"):
            return x_bar + d
        x_bar += d
        return x_bar
    added = d.add(x_bar)
    if added is not x_bar:
        raise MissingRuleError("`add` of an InplaceableThunk returned something else than its argument", None, "Return it.")
    return added


def not_implemented(info: str = "") -> NotImplementedTangent:
    """The cotangent of an argument whose derivative a rule does not know; `info` says why, to whoever needs it."""
    caller = sys._getframe(1)
    return NotImplementedTangent(info, f"{caller.f_code.co_name}, line {caller.f_lineno} of {caller.f_code.co_filename}")

