"""Which arguments are differentiated: `argnums` are positions, as in autograd and JAX, or names of parameters."""

from __future__ import annotations

import difflib
import inspect
import operator
import types
from collections.abc import Callable
from typing import Any

Argnums = int | str | tuple[int | str, ...]


def numbered(f: Callable[..., Any], argnums: Any) -> Any:
    """`argnums` with the positions of the parameters of `f` that it names. TypeError for a name that is no parameter of `f`, or
    one that is given by name only."""
    if isinstance(argnums, tuple | list):
        return tuple(_number(f, each) for each in argnums)
    return _number(f, argnums)


def _number(f: Callable[..., Any], argnum: Any) -> int:
    if not isinstance(argnum, str):
        return operator.index(argnum)
    names = positional(f)
    if argnum in names:
        return names.index(argnum)
    name = getattr(f, "__name__", type(f).__name__)
    near = difflib.get_close_matches(argnum, names, 1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; it takes {', '.join(names)}" if names else ""
    raise TypeError(f"argnums names {argnum!r}, which is no argument of {name} that can be given by position{hint}")


def positional(f: Callable[..., Any]) -> list[str]:
    """The parameters that may be given by position."""
    if isinstance(f, types.FunctionType) and not hasattr(f, "__wrapped__"):
        return list(f.__code__.co_varnames[: f.__code__.co_argcount])
    try:
        parameters = inspect.signature(f).parameters.values()
    except ValueError:
        return []
    return [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]


def names_in(argnums: Any) -> tuple[str, ...]:
    """The names in `argnums`."""
    return tuple(each for each in (argnums if isinstance(argnums, tuple | list) else (argnums,)) if isinstance(each, str))


def by_position(
    f: Callable[..., Any], names: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with those at these parameters, and all before them, given by position."""
    if kwargs.keys().isdisjoint(names):
        return args, kwargs
    bound = inspect.signature(f).bind(*args, **kwargs)
    bound.apply_defaults()
    given = bound.args  # which has everything that can be given by position
    return given, {name: value for name, value in bound.kwargs.items() if name in kwargs}
