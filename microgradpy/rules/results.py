"""What a rule has to return, looked at where it is called: a mistake there is one of the rule's author, who is told which rule
it is and what is expected of it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from microgradpy.errors import CotangentShapeError, DifferentiationError, MissingRuleError
from microgradpy.tangents.fields import named_like
from microgradpy.tangents.types import NotImplementedTangent, ZeroTangent, is_structural_zero

Pullback = Callable[[Any], Any]


def applied(rule: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], second: str) -> tuple[Any, Any]:
    """The value and what belongs to it, the `second`: a pullback or a pushforward."""
    outcome = rule(*args, **kwargs)
    if not isinstance(outcome, tuple) or len(outcome) != 2:
        found = f"{place_of(rule)} returns {_described(outcome)}"
    elif not callable(outcome[1]):
        found = f"{place_of(rule)} returns {_described(outcome[1])} in the place of the {second}"
    else:
        check_unstructured(outcome[0])
        return outcome
    raise DifferentiationError(found, None, f"Return a tuple of the function's value and the {second}: y, {second}.")


def check_unstructured(y: Any) -> None:
    """Refuse to make a structured array, or an entry of one, of differentiated numbers: cotangents are those of numbers."""
    if isinstance(y, np.ndarray | np.void) and y.dtype.names is not None:
        raise MissingRuleError(
            f"differentiated numbers become a structured array ({y.dtype})",
            None,
            f"Make it of zeros and assign its fields: s[{y.dtype.names[0]!r}] = ...; or use an array for each.",
        )


def cotangents(rule: Callable[..., Any], pullback: Pullback, y_bar: Any) -> tuple[Any, ...]:
    """What a pullback returns for a seed: the cotangent of the function itself, then one for each positional parameter of the
    rule, of which the last ones may be left out. More of them do no harm if they are zeros."""
    bars = pullback(y_bar)
    most = _most_arguments(rule)
    if isinstance(bars, tuple | list) and bars and (most is None or all(map(is_structural_zero, bars[1 + most :]))):
        return tuple(bars)
    returned = f"{len(bars)} cotangents" if isinstance(bars, tuple | list) else _described(bars)
    wanted = "one per positional argument" if most is None else f"{most} for the positional parameters of the rule"
    raise CotangentShapeError(
        f"the pullback of {place_of(rule)} returns {returned}",
        None,
        f"Return a tuple: NoTangent() for the function itself, then {wanted}, NoTangent() where there is none.",
    )


def is_users_rule(rule: Any) -> bool:
    """Whether a rule is none of the package's: then nobody has looked at what it gives."""
    return str(getattr(rule, "__module__", "")).partition(".")[0] != "microgradpy"


def is_for_numbers(f: Any, rule: Any) -> bool:
    """Whether a rule is a formula for numbers and arrays, which does not hold where the class of an object says what an
    operator or a function of NumPy's makes of it."""
    if is_users_rule(rule) or isinstance(f, type):
        return False
    module, _, _ = str(getattr(f, "__module__", "")).partition(".")
    return isinstance(f, np.ufunc) or module in _OF_NUMBERS or (module == "_operator" and f.__name__ != "getitem") or f is abs


_OF_NUMBERS = ("numpy", "math", "cmath")


@functools.cache
def asks_objects(f: Any) -> bool:
    """Whether a function of NumPy's without derivative gives what objects make of themselves: `np.floor_divide(x, 2)` of an
    object with `__floordiv__`."""
    return (isinstance(f, np.ufunc) and any(types.endswith("O") for types in f.types)) or f in (np.round, np.around, np.fix)


def check_no_object(f: Any, y: Any) -> None:
    """Refuse an object as the value of a function without derivative: what is in it may have one."""
    if isinstance(y, float | int | np.generic) or not asks_objects(f):
        return
    items = y.ravel().tolist() if type(y) is np.ndarray and y.dtype == object else [y]
    for item in items:
        if not isinstance(item, _INERT) and not hasattr(type(item), "__array_ufunc__"):
            name = getattr(f, "__name__", f)
            found = f"np.{name} of an object, of which its class {type(item).__name__} says what it is"
            raise MissingRuleError(found, None, "Call the method or operator of the object instead.")


_INERT = (int, float, complex, np.generic, np.ndarray, str, tuple, type(None))


def seed_for(rule: Any, y: Any, y_bar: Any) -> Any:
    """The seed of a user's rule: in the structure of the value, with `ZeroTangent()` for what nothing depends on."""
    return _filled(y, y_bar) if is_users_rule(rule) and isinstance(y, tuple | list | dict) else y_bar


def _filled(y: Any, y_bar: Any) -> Any:
    if isinstance(y, dict):
        given = {} if is_structural_zero(y_bar) else y_bar
        return {key: _filled(value, given.get(key)) for key, value in y.items()}
    if isinstance(y, tuple | list):
        bars = [None] * len(y) if is_structural_zero(y_bar) else y_bar
        items = [_filled(value, bar) for value, bar in zip(y, bars, strict=True)]
        return items if isinstance(y, list) else named_like(y, items) if hasattr(y, "_fields") else tuple(items)
    return ZeroTangent() if y_bar is None else y_bar


def checked(rule: Any, callee: str, args: tuple[Any, ...], bars: list[Any]) -> list[Any]:
    """The cotangents that a rule gives for some arguments, if they have their shapes. Those of the package's have."""
    if is_users_rule(rule):
        for index, (bar, x) in enumerate(zip(bars, args, strict=False)):
            fitting(bar, x, rule, callee, index)
    return bars


def fitting(bar: Any, x: Any, rule: Any, callee: str, index: int) -> Any:
    """The cotangent that a rule gives for argument number `index` of `callee`, if it has the shape of that."""
    if is_structural_zero(bar) or isinstance(bar, NotImplementedTangent):
        return bar
    if isinstance(x, np.ndarray | np.number | int | float | complex):
        fits = isinstance(bar, np.ndarray | np.number | int | float | complex) and np.shape(bar) in ((), np.shape(x))
    elif isinstance(x, list | tuple):
        fits = np.ndim(bar) > 0 if isinstance(bar, np.ndarray) else isinstance(bar, list | tuple)
        fits = fits and len(bar) == len(x)
    elif isinstance(x, dict):
        fits = isinstance(bar, Mapping) and bar.keys() <= x.keys()
    else:
        return bar
    if fits:
        return bar
    raise CotangentShapeError(
        f"{place_of(rule)} gives {_shape(bar)} as the cotangent of argument {index} of {callee}, which is {_shape(x)}",
        None,
        "A cotangent has the shape of its argument: sum over what was broadcast (`unbroadcast`, `ProjectTo`).",
    )


def _shape(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, list | tuple | dict):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"


def place_of(rule: Callable[..., Any]) -> str:
    """A rule in a message: its name, file and line."""
    code = getattr(rule, "__code__", None)
    name = getattr(rule, "__name__", repr(rule))
    return f"the rule {name}" if code is None else f"the rule {name} ({code.co_filename}:{code.co_firstlineno})"


def _most_arguments(rule: Callable[..., Any]) -> int | None:
    """How many positional arguments a rule takes; None if that has no limit, or is not known."""
    code = getattr(rule, "__code__", None)
    return None if code is None or code.co_flags & inspect.CO_VARARGS else int(code.co_argcount)


def _described(value: Any) -> str:
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return "None" if value is None else f"a {type(value).__name__}"
