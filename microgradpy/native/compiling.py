"""Texts to machine code, by numba, which is imported when somebody asks for it."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import types
from collections.abc import Mapping, Sequence
from typing import Any

from microgradpy.codegen.loading import load
from microgradpy.native import helpers
from microgradpy.native.storage import file_for
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


def compiled(text: str, name: str, bindings: Mapping[str, Any], inputs: Sequence[Type]) -> tuple[Any, str]:
    """The compiled function of this name in a text, with these global names, for inputs of these types; and what its file is
    called. Unsupported if numba refuses it."""
    known = {id(function): _helpers()[each] for each, function in vars(helpers).items() if callable(function)}
    names = {each: known.get(id(value), value) for each, value in bindings.items()}
    path = file_for(text, bindings, repr((_OPTIONS, inputs)))
    if path is None:
        namespace = load(text, name, names)
    else:
        # What numba reads back imports the module that the function says it is of.
        namespace = {**names, "__name__": helpers.__name__, "__file__": path}
        exec(compile(text, path, "exec", dont_inherit=True), namespace)
    numba = _numba()
    try:
        run = numba.njit(signature(inputs), cache=path is not None, **_OPTIONS)(namespace[name])
    except (numba.core.errors.NumbaError, ImportError, TypeError, ValueError, NotImplementedError) as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise Unsupported(f"what numba refuses ({reason[0]})") from error
    return run, namespace["__file__"]
