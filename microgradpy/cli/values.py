"""From what was typed after `--at` to Python objects. No text is ever evaluated."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from microgradpy.cli.output import UsageError

_NAMED = re.compile(r"([^\W\d]\w*)=(?!=)(.*)", re.DOTALL)


def values_of(texts: list[str]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The values that are given by `--at`: by position, and by name as in `scale=2.0`."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for text in map(str.strip, texts):
        named = _NAMED.fullmatch(text)
        if named is None:
            if kwargs:
                raise UsageError(f"{text!r} comes after {', '.join(kwargs)}: values by position come first.")
            args.append(_value(text))
        elif named[1] in kwargs:
            raise UsageError(f"{named[1]} is given twice.")
        else:
            kwargs[named[1]] = _value(named[2].strip())
    return tuple(args), kwargs


def _value(text: str) -> Any:
    if text.endswith(".npy"):
        return _array_in(Path(text))
    try:
        return _literal(ast.parse(text, mode="eval").body)
    except KeyError as error:
        raise UsageError(f"{text!r}: {error.args[0]!r} is none of {', '.join(_MAKERS)}.") from None
    except _NotMade as error:
        raise UsageError(f"{text!r} cannot be made: {error}.") from None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        shown = repr(text) if len(text) < _LONGEST else f"{text[:_LONGEST]!r}..."
        raise UsageError(f"{shown} is neither a Python literal nor a .npy file.") from None


_LONGEST = 200


class _NotMade(Exception):
    """An array that NumPy does not make."""


def _literal(node: ast.expr) -> Any:
    """What a literal stands for; arrays may be among the items of containers."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return _made(_MAKERS[name], list(map(_literal, args)))
        case ast.List(elts=items):
            return list(map(_literal, items))
        case ast.Tuple(elts=items):
            return tuple(map(_literal, items))
        case ast.Dict(keys=keys, values=values):
            return {_key(key): _literal(value) for key, value in zip(keys, values, strict=True)}
        case ast.Name(id="inf" | "nan" as name):
            return float(name)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Name(id="inf")):
            return -float("inf")
    return ast.literal_eval(node)


def _made(maker: Callable[..., Any], arguments: list[Any]) -> Any:
    try:
        return maker(*arguments)
    except (ValueError, TypeError, MemoryError) as error:
        raise _NotMade(str(error).rstrip(".") or "it is too large") from None


def _key(node: ast.expr | None) -> Any:
    if node is None:
        raise ValueError("a dict that is unpacked")
    return ast.literal_eval(node)


def _array_in(path: Path) -> Any:
    try:
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        raise UsageError(f"{path} cannot be read as an array: {error.strerror or error}.") from None
    except (ValueError, EOFError):
        array = None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "biufc":
        raise UsageError(f"{path} cannot be read as an array: it is no file of `np.save` with an array of numbers in it.")
    return array


def _normal(*shape: int) -> Any:
    return np.random.default_rng(0).normal(size=shape)


_MAKERS: dict[str, Callable[..., Any]] = {
    "array": np.array,
    "ones": lambda *shape: np.ones(shape),
    "zeros": lambda *shape: np.zeros(shape),
    "arange": lambda *bounds: np.arange(*map(float, bounds)),
    "linspace": np.linspace,
    "normal": _normal,
}
