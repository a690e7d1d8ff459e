"""An array class that is no ndarray and refuses to become one: what a rule may ask of any array, through NumPy's protocols."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


class Foreign(NDArrayOperatorsMixin):
    """An array that computes by an inner one; NumPy's functions of it give others of its class."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("this array does not become a NumPy array")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return wrapped(getattr(ufunc, method)(*map(unwrapped, inputs), **unwrapped(kwargs)))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return wrapped(function(*unwrapped(args), **unwrapped(kwargs)))

    def __getitem__(self, index: Any) -> Any:
        return wrapped(self.inner[unwrapped(index)])

    def __len__(self) -> int:
        return len(self.inner)

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "ndim", "dtype", "size"):
            return getattr(self.inner, name)
        if name in ("T", "mT", "real", "imag"):
            return wrapped(getattr(self.inner, name))
        if name in ("reshape", "sum", "mean", "transpose", "astype", "conj", "conjugate", "max", "min", "prod", "swapaxes"):
            return lambda *args, **kwargs: wrapped(getattr(self.inner, name)(*unwrapped(args), **unwrapped(kwargs)))
        raise AttributeError(name)


def wrapped(x: Any) -> Any:
    """Arrays as foreign ones, in lists and tuples too; numbers as they are."""
    if isinstance(x, np.ndarray):
        return Foreign(x)
    if isinstance(x, list | tuple) and not hasattr(x, "_fields"):
        return type(x)(map(wrapped, x))
    return x


def unwrapped(x: Any) -> Any:
    """Foreign arrays as NumPy's, at any depth."""
    if isinstance(x, Foreign):
        return x.inner
    if isinstance(x, list | tuple) and not hasattr(x, "_fields"):
        return type(x)(map(unwrapped, x))
    return {key: unwrapped(value) for key, value in x.items()} if isinstance(x, dict) else x
