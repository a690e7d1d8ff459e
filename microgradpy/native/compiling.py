"""Texts to machine code, by numba, which is imported when somebody asks for it."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from microgradpy.native import helpers
from microgradpy.native.types import ArrayOf, Number, Type, Unsupported

_OPTIONS = {"error_model": "numpy", "fastmath": False, "boundscheck": False}
"""Divisors and indices are looked at in the text."""


def check_installed() -> None:
    """ImportError if there is no numba."""
    if importlib.util.find_spec("numba") is None:
        raise ImportError('target="numba" needs numba, which is not installed: pip install numba')


@functools.cache
def _numba() -> Any:
    return importlib.import_module("numba")


@functools.cache
def _helpers() -> dict[str, Any]:
    """The functions of `helpers`, compiled when they are used."""
    namespace = dict(vars(helpers))
    for name, function in vars(helpers).items():
        if isinstance(function, types.FunctionType):
            own = types.FunctionType(function.__code__, namespace, name)
            namespace[name] = _numba().njit(**_OPTIONS)(own)
    return namespace


def signature(types_: Sequence[Type]) -> tuple[Any, ...]:
    """The types of inputs, as numba has them."""
    return tuple(map(_numba_type, types_))


def _numba_type(type_: Type) -> Any:
    numba = _numba()
    match type_:
        case Number():
            return numba.int64 if type_.is_whole else numba.float64
        case ArrayOf(ndim=ndim):
            return numba.types.Array(numba.float64, ndim, "C")
    raise Unsupported("an input of another type")


def compiled(load: Callable[[Mapping[str, Any]], Any], bindings: Mapping[str, Any], inputs: Sequence[Type]) -> Any:
    """The compiled function that a text defines, with these global names, for inputs of these types; `load` executes it.
    Unsupported if numba refuses it."""
    numba = _numba()
    known = {id(function): _helpers()[name] for name, function in vars(helpers).items() if callable(function)}
    function = load({name: known.get(id(value), value) for name, value in bindings.items()})
    try:
        return numba.njit(signature(inputs), **_OPTIONS)(function)
    except (numba.core.errors.NumbaError, ImportError, TypeError, ValueError, NotImplementedError) as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise Unsupported(f"what numba refuses ({reason[0]})") from error
