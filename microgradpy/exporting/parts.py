"""What exported modules have of their own: their text is copied from here, those that a module needs.

They are the short forms of what the package does at the boundary, for numbers, arrays, lists, tuples and dicts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.projecting import Untouched


class DifferentiationError(Exception):
    """A derivative that would not be right."""


def is_nothing(x_bar: Any) -> bool:
    """Whether a cotangent is a zero that was not made."""
    return x_bar is None


class Unassigned:
    """What a saved variable holds before it is assigned."""


def is_number(x: Any, kind: str) -> bool:
    """Whether x is a Python or NumPy number of this kind: "float", "int", "bool" or "complex"."""
    letters = {"float": "f", "int": "iu", "bool": "b", "complex": "c"}[kind]
    return type(x).__name__ == kind or (isinstance(x, np.generic) and x.dtype.kind in letters)


def check_number(name: str, x: Any, kind: str) -> None:
    """Refuse an argument that is no number of this kind."""
    if not is_number(x, kind):
        raise TypeError(f"{name} is {described(x)}; this module was made for: {kind}")


def described(x: Any) -> str:
    """A value in a few words."""
    if isinstance(x, np.ndarray):
        return f"an array of shape {x.shape} and dtype {x.dtype}"
    return f"of type {type(x).__name__}"


def check_array(name: str, x: Any, kind: str, lengths: dict[str, int]) -> None:
    """Refuse an argument that is no array of this kind, such as "float array[n, 3]": the first axis of a length called n, the
    second of length 3; "any" stands for each length. The lengths that are found are noted in `lengths`."""
    dtype, _, rest = kind.partition(" array")
    axes = rest.strip("[]").split(", ") if rest != "[]" else []
    letters = {"float": "f", "int": "iu", "bool": "b", "complex": "c"}[dtype]
    fits = type(x) is np.ndarray and x.ndim == len(axes) and x.dtype.kind in letters
    for axis, length in zip(axes, x.shape if fits else (), strict=fits):
        if axis == "any":
            continue
        fits = fits and lengths.setdefault(axis, int(axis) if axis.isdigit() else length) == length
    if not fits:
        known = ", ".join(
            f"{axis} = {length}" for axis, length in lengths.items() if not axis.isdigit()
        )
        found = f" with {known}" if known else ""
        raise TypeError(f"{name} is {described(x)}; this module was made for: {kind}{found}")


def check_lengths(lengths: dict[str, int], known: tuple[int, ...]) -> None:
    """Refuse lengths that were different when this module was made and are the same now, or are one of those known."""
    named = {axis: length for axis, length in lengths.items() if not axis.isdigit()}
    for axis, length in named.items():
        same = [other for other, found in named.items() if found == length and other != axis]
        if same or length in known:
            other = same[0] if same else str(length)
            raise TypeError(
                f"the lengths {axis} and {other} are both {length}; this module was made for arrays in which they differ"
            )


def check_kind(name: str, x: Any, kind: Any, lengths: dict[str, int]) -> None:
    """Refuse an argument that is not of this kind: the name of a type or "float array[n, m]", or a
    tuple, list or dict of the kinds of items."""
    if isinstance(kind, str):
        check_leaf(name, x, kind, lengths)
    elif type(x) is not type(kind):
        raise TypeError(
            f"{name} is {described(x)}; this module was made for a {type(kind).__name__}"
        )
    elif isinstance(kind, list):
        for place, item in enumerate(x):
            check_kind(f"{name}[{place}]", item, kind[0], lengths)
    elif isinstance(kind, dict):
        if list(x) != list(kind):
            raise TypeError(f"{name} has the keys {list(x)}; this module was made for {list(kind)}")
        for key in kind:
            check_kind(f"{name}[{key!r}]", x[key], kind[key], lengths)
    else:
        if len(x) != len(kind):
            raise TypeError(f"{name} has {len(x)} items; this module was made for {len(kind)}")
        for place, item in enumerate(x):
            check_kind(f"{name}[{place}]", item, kind[place], lengths)


def check_leaf(name: str, x: Any, kind: str, lengths: dict[str, int]) -> None:
    """The same for what is no container."""
    if " array" in kind:
        check_array(name, x, kind, lengths)
    elif kind in ("float", "int", "bool", "complex"):
        check_number(name, x, kind)
    elif kind == "real":
        if not any(is_number(x, real) for real in ("float", "int", "bool")):
            raise TypeError(f"{name} is {described(x)}; this module was made for real numbers")
    elif kind == "data":
        check_data(name, x)
    elif kind == "empty list":
        if type(x) is not list or x:
            raise TypeError(f"{name} is {described(x)}; this module was made for an empty list")
    elif type(x).__name__ != kind:
        raise TypeError(f"{name} is {described(x)}; this module was made for: {kind}")


def check_data(name: str, x: Any) -> None:
    """Refuse an argument that is neither a number, an array or a text nor made of them by lists, tuples and dicts."""
    if type(x) in (list, tuple):
        for place, item in enumerate(x):
            check_data(f"{name}[{place}]", item)
    elif type(x) is dict:
        for key, item in x.items():
            check_data(f"{name}[{key!r}]", item)
    elif not is_plain(x):
        raise TypeError(
            f"{name} is {described(x)}; this module was made for numbers, arrays, lists, tuples and dicts"
        )


def is_plain(x: Any) -> bool:
    """Whether x is a number, an array of numbers, or something that has no derivative."""
    if type(x) is np.ndarray or isinstance(x, np.generic):
        return x.dtype.kind in "fciubSU"
    return type(x) in (float, int, complex, bool, str, bytes, range, slice, type(None), type(...))


def unit_seed(y: Any, name: str) -> Any:
    """The seed of a gradient: one, in the type of the value, which has to be a real number."""
    if type(y) is float:
        return 1.0
    is_real_array = isinstance(y, np.ndarray) and y.ndim == 0 and y.dtype.kind in "fiu"
    if not is_real_array and not is_number(y, "float") and not is_number(y, "int"):
        raise TypeError(f"the value of {name} is {described(y)}, no real number: use pullback")
    return number_seed(y, 1.0)


def number_seed(y: Any, dy: Any) -> Any:
    """The seed `dy` as a cotangent of the number or array `y`: of its shape, in its dtype. None is zero."""
    if dy is None:
        return zero_of(y)
    seed = np.asarray(dy)
    if seed.dtype.kind not in "fciub" or seed.shape != np.shape(y):
        raise ValueError(f"the seed is {described(dy)}, and the value is {described(y)}")
    if np.iscomplexobj(seed) and not np.iscomplexobj(y):
        raise ValueError(f"the seed is complex, and the value is real: {described(y)}")
    if isinstance(y, np.ndarray):
        return seed.astype(y.dtype if y.dtype.kind in "fc" else np.float64, copy=False)
    return number_gradient(y, seed)


def zero_of(x: Any) -> Any:
    """The zero cotangent of a number or array: 0.0 for a float."""
    if isinstance(x, np.ndarray):
        return (
            np.zeros(x.shape, x.dtype if x.dtype.kind in "fc" else np.float64)
            if x.dtype.kind in "fciu"
            else None
        )
    if isinstance(x, np.inexact) and not isinstance(x, np.float64):
        return type(x)(0)
    if isinstance(x, bool | np.bool):
        return None
    if isinstance(x, int | np.integer | float):
        return 0.0
    return 0j if isinstance(x, complex) else None


def container_seed(y: Any, dy: Any) -> Any:
    """The seed `dy` as a cotangent of `y`, which may be a list, tuple or dict: in its structure, None being zero."""
    if isinstance(y, tuple | list):
        if dy is None:
            dy = [None] * len(y) if isinstance(y, tuple) else None
        elif not isinstance(dy, tuple if isinstance(y, tuple) else list) or len(dy) != len(y):
            raise ValueError(
                f"the seed is {described(dy)}, and the value is a {type(y).__name__} of {len(y)} items"
            )
        if dy is None:
            return None
        if isinstance(y, tuple):
            return tuple(container_seed(*pair) for pair in zip(y, dy, strict=True))
        return [
            None if d is None else container_seed(item, d) for item, d in zip(y, dy, strict=True)
        ]
    if dy is None:
        return zero_of(y)
    if isinstance(y, dict):
        if not isinstance(dy, dict) or not dy.keys() <= y.keys():
            raise ValueError(
                f"the seed is {described(dy)}, and the value is a dict with the keys {list(y)}"
            )
        return {key: None if d is None else container_seed(y[key], d) for key, d in dy.items()}
    if not is_plain(y) or zero_of(y) is None:
        raise ValueError(
            f"the seed is {described(dy)}, and the value has no derivative: {described(y)}"
        )
    return number_seed(y, dy)


def number_gradient(x: Any, x_bar: Any) -> Any:
    """The gradient of a number in its type: a float for a float or an int, np.float32 for np.float32. None stays None."""
    if x_bar is None:
        return None
    value = x_bar.reshape(()) if isinstance(x_bar, np.ndarray) else x_bar
    if np.iscomplexobj(value) and not np.iscomplexobj(x):
        value = value.real
    if isinstance(x, np.generic):
        return x.dtype.type(value) if x.dtype.kind in "fc" else np.float64(value)
    return complex(value) if isinstance(x, complex) else float(value)


def array_gradient(x: Any, x_bar: Any) -> Any:
    """The gradient of an array, in its dtype (float64 for whole numbers) and in memory of its own. None stays None."""
    if x_bar is None:
        return None
    if isinstance(x_bar, list | tuple):
        x_bar = stacked(x, x_bar)
    if np.iscomplexobj(x_bar) and not np.iscomplexobj(x):
        x_bar = x_bar.real
    gradient = np.empty(x.shape, x.dtype if x.dtype.kind in "fc" else np.float64)
    gradient[...] = x_bar
    return gradient


def stacked(x: Any, items: Any) -> Any:
    """The cotangent of an array from those of its items along the first axis."""
    x_bar = np.zeros(x.shape, x.dtype if x.dtype.kind in "fc" else np.float64)
    for place, item in enumerate(items):
        if item is not None:
            x_bar[place] = stacked(x[place], item) if isinstance(item, list | tuple) else item
    return x_bar


def gradient_of(x: Any, x_bar: Any) -> Any:
    """The gradient of an argument in its own structure; None for what has no derivative and for items that were not used."""
    if x_bar is None or isinstance(x, bool | np.bool | str | bytes | range | slice | None):
        return None
    if isinstance(x, np.ndarray):
        return array_gradient(x, x_bar) if x.dtype.kind in "fciu" else None
    if isinstance(x, dict):
        found = {key: None if bar is Untouched.zero else bar for key, bar in x_bar.items()}
        return {key: gradient_of(item, found.get(key)) for key, item in x.items()}
    if isinstance(x, tuple | list):
        bars = [None if bar is Untouched.zero else bar for bar in x_bar]
        return type(x)([gradient_of(*pair) for pair in zip(x, bars, strict=True)])
    return number_gradient(x, x_bar)


def argument_gradient(x: Any, x_bar: Any) -> Any:
    """The gradient of an argument: None for containers in which there is no number, such as an empty list."""
    return None if carries_nothing(x) else gradient_of(x, x_bar)


def carries_nothing(x: Any, depth: int = 3) -> bool:
    """Whether x has no derivative, as far as a look into some levels of containers tells."""
    if isinstance(x, tuple):
        return all(carries_nothing(item, max(depth - 1, 0)) for item in x)
    if isinstance(x, list | dict):
        items = x.values() if isinstance(x, dict) else x
        return depth > 0 and all(carries_nothing(item, depth - 1) for item in items)
    if isinstance(x, np.ndarray):
        return x.dtype.kind not in "fciu"
    return isinstance(x, bool | np.bool | str | bytes | range | slice | None | type(...))


def with_zeros(x: Any, gradient: Any) -> Any:
    """A gradient with zeros in the place of what was not used."""
    if isinstance(x, tuple | list):
        items = [None] * len(x) if gradient is None else gradient
        return type(x)([with_zeros(*pair) for pair in zip(x, items, strict=True)])
    if isinstance(x, dict):
        return {
            key: with_zeros(item, None if gradient is None else gradient[key])
            for key, item in x.items()
        }
    if gradient is not None or isinstance(x, bool | np.bool | str | bytes | range | slice | None):
        return gradient
    if isinstance(x, np.ndarray):
        return zero_of(x)
    return number_gradient(x, 0.0)


def changing_in(values: Any) -> list[Any]:
    """The arrays, lists and dicts among some values and in those among them."""
    found, waiting = [], list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, np.ndarray | list | dict):
            found.append(value)
        if isinstance(value, list | tuple):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()
    return found


def is_unchanged(value: Any, copy: Any) -> bool:
    """Whether an array, list or dict holds what a copy of it does."""
    if isinstance(value, np.ndarray):
        return bool(value.shape == copy.shape and value.tobytes() == copy.tobytes())
    if isinstance(value, dict):
        value, copy = [*value.keys(), *value.values()], [*copy.keys(), *copy.values()]
    return len(value) == len(copy) and all(now is before for now, before in zip(value, copy, strict=True))


def check_unchanged(copies: list[tuple[Any, Any]]) -> None:
    """Refuse to go on from what has been written into since it was copied."""
    for value, copy in copies:
        if not is_unchanged(value, copy):
            raise ValueError(
                f"{described(value)} among the arguments, or of the value, was changed after the call of pullback"
            )


def frozen(x: Any) -> Any:
    """A number as it is, an array with the contents that it has now."""
    if isinstance(x, np.ndarray):
        return np.ndarray.copy(x, "K")
    if not is_plain(x):
        raise DifferentiationError(f"a value is {described(x)}, which is neither a number nor an array")
    return x


def check_apart(arguments: dict[str, Any]) -> None:
    """Refuse two arrays that share memory, of which one may be written."""
    owners: dict[int, str] = {}
    for name, x in arguments.items():
        owner = x
        while getattr(owner, "base", None) is not None:
            owner = owner.base
        other = owners.setdefault(id(owner), name)
        if other != name:
            raise ValueError(f"the arguments {other} and {name} share memory: give a copy of one")


def attribute_cotangent(x: Any, name: str, d: Any) -> Any:
    """The cotangent of a number or array from that of one of its attributes."""
    if d is None or name in ("shape", "ndim", "size", "dtype"):
        return None
    is_array = type(x) is np.ndarray or isinstance(x, np.generic)
    if name == "real" and is_plain(x):
        return d
    if name == "imag" and is_plain(x):
        return 1j * d if np.iscomplexobj(x) else zero_of(x)
    if name in ("T", "mT") and is_array:
        return np.transpose(d) if name == "T" else np.swapaxes(d, -1, -2)
    raise DifferentiationError(f"the attribute {name} was read of a value {described(x)}")


def dict_of(x: Any) -> Any:
    """The fields of an object."""
    return getattr(x, "__dict__", {})


def pullback_by_rule(
    rule: Callable[..., Any], *args: Any
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The value of a call and its pullback, which returns a cotangent of the function and one of each argument."""
    for x in args:
        check_operand(x)
    y, back = rule(*args)

    def pullback(y_bar: Any) -> tuple[Any, ...]:
        if y_bar is None:
            return (None,) * (1 + len(args))
        bars = back(y_bar)[: 1 + len(args)]
        return (*bars, *(None,) * (1 + len(args) - len(bars)))

    return y, pullback


def check_operand(x: Any) -> None:
    """Refuse an operand whose class may have operators of its own."""
    if type(x) in (list, tuple):
        for item in x:
            check_operand(item)
    elif type(x) is dict:
        for item in x.values():
            check_operand(item)
    elif not is_plain(x):
        raise DifferentiationError(
            f"an operand is {described(x)}, which was not known when this module was made"
        )
