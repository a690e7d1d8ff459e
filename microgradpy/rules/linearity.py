"""Which functions are linear in which of their arguments: their tangent is the function itself, of the tangent.

    y = np.sum(x, axis=0)      y_dot = np.sum(x_dot, axis=0)
    z = a @ b                  z_dot = a_dot @ b + a @ b_dot

Nothing else is said of them for forward mode, and the tests hold what is said here against their reverse rules. Arguments
that add a constant (`initial=` of a sum) take a function out of the table.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

LINEAR_ATTRIBUTES = frozenset({"T", "mT", "real", "imag"})
"""The attributes of arrays that are linear in the array."""

_ADDING = frozenset({"initial", "out", "where", "prepend", "append", "dtype", "order"})
"""Parameters that make another function of it when they are given: some orders depend on how an array is in memory, and a
tangent may be there in another way."""


@functools.cache
def _linear() -> dict[Any, tuple[int, ...]]:
    """The positions of the arguments in which functions are linear. (Naming those of a module of NumPy imports it.)"""
    return {**dict.fromkeys(_first(), (0,)), **dict.fromkeys(_both(), (0, 1))}


def _first() -> tuple[Callable[..., Any], ...]:
    return (
        operator.neg,
        operator.pos,
        operator.truediv,
        operator.getitem,
        np.negative,
        np.positive,
        np.true_divide,
        np.conjugate,
        np.real,
        np.imag,
        np.sum,
        np.mean,
        np.cumsum,
        np.reshape,
        np.ravel,
        np.transpose,
        np.swapaxes,
        np.moveaxis,
        np.rollaxis,
        np.squeeze,
        np.expand_dims,
        np.broadcast_to,
        np.concatenate,
        np.stack,
        np.vstack,
        np.hstack,
        np.dstack,
        np.column_stack,
        np.split,
        np.array_split,
        np.vsplit,
        np.hsplit,
        np.dsplit,
        np.tile,
        np.repeat,
        np.roll,
        np.flip,
        np.flipud,
        np.fliplr,
        np.rot90,
        np.diag,
        np.diagonal,
        np.diagflat,
        np.trace,
        np.tril,
        np.triu,
        np.diff,
        np.take,
        np.resize,
        np.lib.stride_tricks.sliding_window_view,
        np.array,
        np.asarray,
        np.trapezoid,
        np.matrix_transpose,
        np.fft.fft,
        np.fft.ifft,
        np.fft.fft2,
        np.fft.ifft2,
        np.fft.fftn,
        np.fft.ifftn,
        np.fft.rfft,
        np.fft.irfft,
        np.fft.rfft2,
        np.fft.irfft2,
        np.fft.rfftn,
        np.fft.irfftn,
        np.fft.hfft,
        np.fft.ihfft,
        np.fft.fftshift,
        np.fft.ifftshift,
        np.ndarray.sum,
        np.ndarray.mean,
        np.ndarray.cumsum,
        np.ndarray.reshape,
        np.ndarray.ravel,
        np.ndarray.flatten,
        np.ndarray.transpose,
        np.ndarray.swapaxes,
        np.ndarray.squeeze,
        np.ndarray.repeat,
        np.ndarray.take,
        np.ndarray.diagonal,
        np.ndarray.trace,
        np.ndarray.copy,
        np.ndarray.conj,
        np.ndarray.conjugate,
    )


def _both() -> tuple[Callable[..., Any], ...]:
    return (
        operator.mul,
        operator.matmul,
        np.multiply,
        np.matmul,
        np.dot,
        np.vdot,
        np.inner,
        np.outer,
        np.tensordot,
        np.kron,
        np.cross,
        np.convolve,
        np.correlate,
        np.vecdot,
        np.matvec,
        np.vecmat,
        np.ndarray.dot,
    )


def linear_arguments(f: object) -> tuple[int, ...]:
    """The positions of the arguments that a function is linear in, each with the others fixed."""
    try:
        return _linear().get(f, ())
    except TypeError:  # unhashable
        return ()


def keeps_linear(names: tuple[str, ...], values: tuple[Any, ...]) -> bool:
    """Whether a function in the table is linear in a call which gives these parameters these values, None for none."""
    return not any(name in _ADDING and not _adds_nothing(name, value) for name, value in zip(names, values, strict=True))


def _adds_nothing(name: str, value: Any) -> bool:
    return value is None or (name == "order" and isinstance(value, str) and value in "CF")
