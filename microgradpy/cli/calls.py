"""The call that a command is about: the target, with the values of `--at`.

Keyword arguments are constants of a derivative, as defaults are. So a command is given the function with other defaults: the
same code under another identity, which has source, IR and generated code as any function.

    def scaled(x, *, scale=1.0):           scaled(1.0, scale=2.0)     ->     scaled_(1.0)
        return x * scale                                              where  scaled_.__kwdefaults__ = {"scale": 2.0}
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from microgradpy.cli.output import UsageError
from microgradpy.cli.targets import load_target
from microgradpy.cli.values import values_of
from microgradpy.rules.registry import is_non_differentiable, rrule


def load_call(
    target: str, texts: list[str], *, wants_text: bool = True
) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """The function to call with the values by position, which has the values by name; and these. With `wants_text` it has a
    source text."""
    f = load_target(target)
    args, kwargs = values_of(texts)
    if texts:
        _check_call(f, target, args, kwargs)
    if not kwargs:
        return f, args, kwargs
    made = with_keywords(f, args, kwargs)
    if wants_text and isinstance(made, functools.partial):
        names = ", ".join(kwargs)
        found = f"{target} has a rule, no source text, or takes {names} by `**`, so that no text can be made for {names}"
        raise UsageError(f"{found}: write a function that calls it.")
    return made, args, kwargs


def _check_call(f: Callable[..., Any], target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse values that Python would not call the function with."""
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):
        return  # of some of what is written in C it is not known
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        shown = [str(each.replace(annotation=inspect.Parameter.empty)) for each in signature.parameters.values()]
        takes = ", ".join(shown) or "no arguments"
        raise UsageError(f"--at does not fit {target}, which takes {takes}: {error}.") from None


def with_keywords(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A callable that gives `f(*args, **kwargs)` for `args`."""
    match f:
        case types.FunctionType() if not rrule.has(f) and not is_non_differentiable(f):
            code = f.__code__
            names = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
            if all(name in names for name in kwargs):
                return _with_defaults(f, len(args), kwargs)
        case types.MethodType(__func__=types.FunctionType()) if not rrule.has(f):
            inner = with_keywords(f.__func__, (f.__self__, *args), kwargs)
            if isinstance(inner, types.FunctionType):
                return types.MethodType(inner, f.__self__)
    return functools.partial(f, **kwargs)


def _with_defaults(f: types.FunctionType, given: int, kwargs: dict[str, Any]) -> types.FunctionType:
    """The function with these values for defaults, when the first arguments are given by position."""
    code = f.__code__
    positional = code.co_varnames[: code.co_argcount]
    known = dict(zip(reversed(positional), reversed(f.__defaults__ or ()), strict=False))
    defaults = tuple(kwargs.get(name, known.get(name)) for name in positional[given:])
    kept = tuple(known[name] for name in positional[:given] if name in known)  # if there are any, all that follow have one
    new = types.FunctionType(code, f.__globals__, f.__name__, (*kept, *defaults), f.__closure__)
    functools.update_wrapper(new, f)
    vars(new).pop("__wrapped__")
    vars(new).update(vars(f))
    named = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    new.__kwdefaults__ = (f.__kwdefaults__ or {}) | {name: value for name, value in kwargs.items() if name in named}
    return new
