"""Mistakes in calls of this package's functions, told with what to write instead."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def refuse_no_function(f: Any, form: str, *others: Any) -> NoReturn:
    """Refuse a first argument that is no function; `form` is how a call is written, `others` are the arguments that follow."""
    called = form.partition("(")[0]
    if any(map(callable, others)):
        instead = "the function comes first"
    elif form.endswith(")(x)"):
        instead = f"{called} gets the function itself, and what it returns gets the arguments"
    else:
        instead = "give the function itself, without calling it"
    raise TypeError(f"{called} takes a function first, and this is {shown(f)}: {instead}, {form}")


def check_tuples(f: Any, primals: Any, tangents: Any) -> None:
    """Refuse arguments and tangents of `jvp` that are in no tuple; an array of numbers is one argument."""
    for name, given in (("arguments", primals), ("tangents", tangents)):
        if not isinstance(given, tuple | list):
            written = f"jvp({getattr(f, '__name__', 'f')}, (x,), (x_dot,))"
            raise TypeError(f"jvp takes the {name} in a tuple, and this is {shown(given)}: {written}")


def check_options(f: Any, kwargs: Mapping[str, Any], own: Iterable[str], called: str) -> None:
    """Refuse a keyword of `f` that `f` does not take, if it is, or is nearly, an option of this package's."""
    near = {name: found for name in kwargs if (found := _option(name, (*own, *_OF_GRAD)))}
    if not near:
        return
    try:
        parameters = inspect.signature(f).parameters
    except (TypeError, ValueError):
        return
    if any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return
    for name, option in near.items():
        if name not in parameters:
            instead = f"did you mean {option}?" if option in own else f"{option} is given to grad: grad(f, {option}=...)(x)"
            raise TypeError(f"{called} got the keyword {name}, which the function does not take; {instead}")


_OF_GRAD = ("argnums", "has_aux", "checkpoint")
_ALSO = {"wrt": "argnums", "argnum": "argnums", "aux": "has_aux"}


def _option(name: str, known: Iterable[str]) -> str | None:
    known = list(known)
    if name in _ALSO and _ALSO[name] in known:
        return _ALSO[name]
    return next(iter(difflib.get_close_matches(name, known, 1, 0.75)), None)


def told(function: Callable[P, R]) -> Callable[P, R]:
    """The function, whose unknown keywords are refused with the one that may be meant."""
    known = [each.name for each in inspect.signature(function).parameters.values() if each.kind is not each.POSITIONAL_ONLY]
    names = frozenset(known)

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        if kwargs and not names.issuperset(kwargs):
            wrong = next(name for name in kwargs if name not in names)
            near = _option(wrong, known[1:])
            others = f"it has {', '.join(known[1:])}" if known[1:] else "it has no options"
            options = f"did you mean {near}?" if near else others
            raise TypeError(f"{function.__name__} has no option {wrong}; {options}")
        return function(*args, **kwargs)

    return checked


def asks_in_vain(f: Any) -> bool:
    """Whether a function cannot be called without arguments, as far as its signature tells."""
    try:
        inspect.signature(f).bind()
    except TypeError:
        return True
    except ValueError:
        return hasattr(f, "nin")  # a universal function
    return False


def attribute_message(module: str, name: str, known: Iterable[str]) -> str:
    """What is said of a name that a module does not have."""
    near = _ELSEWHERE.get(name) or next(iter(difflib.get_close_matches(name, list(known), 1)), None)
    lower = {each.lower(): each for each in known}
    near = near or lower.get(name.lower())
    return f"module {module!r} has no attribute {name!r}" + (f"; did you mean {near!r}?" if near else "")


_ELSEWHERE = {
    "check_grads": "check_gradient",
    "custom_jvp": "frule",
    "custom_vjp": "rrule",
    "defvjp": "rrule",
    "derivative": "grad",
    "hessian_vector_product": "hvp",
    "jacfwd": "jac",
    "jacrev": "jac",
    "linearize": "pushforward",
    "make_hvp": "hvp",
    "make_jvp": "jvp",
    "make_vjp": "vjp",
    "primitive": "rrule",
}
"""What other packages call what is here."""


def shown(x: Any) -> str:
    """A value in a few words."""
    if x is None:
        return "None"
    shape = getattr(x, "shape", None)
    name = type(x).__name__
    article = "an" if name[:1].lower() in "aeio" else "a"
    if isinstance(shape, tuple) and shape:
        return f"an array of shape {shape}"
    is_short = isinstance(x, int | float | complex | str) and len(repr(x)) < 40
    return f"{article} {name} ({x!r})" if is_short else f"{article} {name}"
