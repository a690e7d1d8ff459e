"""Which calls of known functions write into what they are given.

Values are kept for the reverse pass as references, so a write into an array or container may change one that was saved.
What is written here is known from the function and the arguments it is given: an output array (`out`, wherever it
stands), or an argument that a function is there to change (`np.copyto`, `list.append`, `setattr`).
"""

from __future__ import annotations

import functools
import inspect
import operator
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from microgradpy.named import Named
from microgradpy.rules.containers import MUTATING_METHODS
from microgradpy.rules.entries import hashes_itself
from microgradpy.runtime.named_arguments import positional_names

REMEDY = "Use the value that the call returns, or build a new value instead of writing into this one."
"""What to do instead of any of these writes."""

_IN_PLACE = (
    np.copyto, np.put, np.put_along_axis, np.fill_diagonal, np.place, np.putmask, setattr, delattr,
    operator.setitem, operator.delitem,
    *(f for name, f in vars(operator).items() if name.startswith("i") and hasattr(operator, f"__{name}__")
      and name not in ("is_", "is_not", "index", "inv", "invert")),
)  # fmt: skip
_OF_OTHERS_IN_PLACE = Named(
    ("heapq", "heapify heappop heappush heappushpop heapreplace"),
    ("heapq", "heapify_max heappop_max heappush_max heappushpop_max heapreplace_max"),
    ("bisect", "insort insort_left insort_right"),
    ("random", "Random.shuffle"),
    ("numpy.random", "Generator.shuffle RandomState.shuffle"),
)
_WRITING_METHODS: dict[type, frozenset[str]] = {
    np.ufunc: frozenset({"at"}),
    object: frozenset({"__setattr__", "__delattr__", "__setitem__", "__delitem__"}),
    **MUTATING_METHODS,
}
# The place of the output array of methods, of which the object itself is number 0.
_METHODS_OF_ARRAYS = {
    "sum": 3, "prod": 3, "mean": 3, "std": 3, "var": 3, "cumsum": 3, "cumprod": 3, "clip": 3, "take": 3, "compress": 3,
    "max": 2, "min": 2, "argmax": 2, "argmin": 2, "all": 2, "any": 2, "dot": 2, "choose": 2, "round": 2, "trace": 5,
}  # fmt: skip
_OUTPUTS_OF_METHODS: dict[type, Mapping[str, int]] = {
    np.ndarray: _METHODS_OF_ARRAYS,
    np.generic: _METHODS_OF_ARRAYS,
    np.ufunc: {"reduce": 4, "accumulate": 4, "reduceat": 5},
}
_OUTPUTS = {np.dot: 2, np.concatenate: 2}
"""Of NumPy's functions without a signature."""
_SWITCHES = {"copy": True, "overwrite_input": False}
"""Parameters that make some functions write, and the value with which they do not."""


def written_argument(function: Any, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> str | None:
    """How a call of a known function writes into one of its arguments; None if it does not, as far as is known. An
    argument whose value is not known may be given as any object that is not None."""
    if isinstance(function, types.MethodType):
        function, arguments = function.__func__, (function.__self__, *arguments)
    if hashes_itself(function):
        return None
    try:
        if function in _functions_in_place() or function in _OF_OTHERS_IN_PLACE:
            return "writes in place"
    except TypeError:  # unhashable: none of those that are known
        return None
    if _is_readable(function) and not _is_of_numpy(function):
        return None  # what it writes is found in its text
    classes, arguments = _classes(function, arguments)
    if classes and any(function.__name__ in _WRITING_METHODS.get(cls, ()) for cls in classes):
        return "writes in place"
    if keywords.get("out") is not None or _is_given_output(function, classes, arguments):
        return "with out= writes in place"
    return _switched(function, arguments, keywords)


@functools.cache
def _functions_in_place() -> frozenset[Any]:
    return frozenset(_IN_PLACE)


def _is_readable(function: Any) -> bool:
    called = getattr(type(function), "__call__", None)  # noqa: B004 - the function itself is wanted
    return isinstance(function, types.FunctionType | type) or isinstance(called, types.FunctionType)


def _is_of_numpy(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).partition(".")[0] == "numpy"


def _classes(function: Any, arguments: tuple[Any, ...]) -> tuple[tuple[type, ...], tuple[Any, ...]]:
    """The classes in which a method may be found, none for functions, and its arguments with the object that it is of."""
    owner = getattr(function, "__self__", None)
    if isinstance(function, types.BuiltinMethodType | types.MethodWrapperType) and not isinstance(owner, types.ModuleType):
        return () if owner is None else type(owner).__mro__, (owner, *arguments)
    owner = getattr(function, "__objclass__", None)
    return () if owner is None else owner.__mro__, arguments


def _is_given_output(function: Any, classes: tuple[type, ...], arguments: tuple[Any, ...]) -> bool:
    if isinstance(function, np.ufunc):
        return any(argument is not None for argument in arguments[function.nin :])
    place = _output_place(function, classes)
    return place is not None and len(arguments) > place and arguments[place] is not None


def _switched(function: Any, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> str | None:
    """np.nan_to_num(x, copy=False), np.median(x, overwrite_input=True)"""
    if _is_of_numpy(function) and not isinstance(function, type | np.ufunc):
        for name, harmless in _SWITCHES.items():
            place = _places(function).get(name)
            if place is not None and (name == "overwrite_input" or function is np.nan_to_num):
                given = arguments[place] if len(arguments) > place else keywords.get(name, harmless)
                if given is not harmless:
                    return f"with {name}={not harmless} writes in place"
    return None


@functools.cache
def _places(function: Any) -> dict[str, int]:
    """Where the parameters of a function stand; of those that can be given by name only, beyond any."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {p.name: place if p.kind is not p.KEYWORD_ONLY else 1 << 30 for place, p in enumerate(parameters)}


def output_of(
    function: Any, arguments: tuple[Any, ...], keywords: Mapping[str, Any]
) -> tuple[Any, tuple[Any, ...], dict[str, Any]] | None:
    """The output array that a call is given, or a tuple of them, and the call's other arguments; None if it is given none."""
    named = dict(keywords)
    out = named.pop("out", None)
    if isinstance(function, np.ufunc) and function.nout > 1:
        return _outputs_of(function, arguments, out, named)
    classes, arguments = _classes(function, arguments)
    if out is None:
        place = function.nin if isinstance(function, np.ufunc) else _output_place(function, classes)
        if place is None or len(arguments) <= place:
            return None
        out, rest, arguments = arguments[place], arguments[place + 1 :], arguments[:place]
        # What comes after the array keeps its meaning by its name.
        names = positional_names(function)[place + 1 :]
        if len(names) < len(rest):
            return None
        named.update(zip(names, rest, strict=False))
    if isinstance(out, tuple):
        if len(out) != 1:
            return None
        (out,) = out
    return out, arguments, named


def _outputs_of(
    function: np.ufunc, arguments: tuple[Any, ...], out: Any, named: dict[str, Any]
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The same for a function with several results: a tuple of output arrays, None for those that are not given."""
    given = (*arguments[function.nin :], *(out or ()))
    missing = (None,) * (function.nout - len(given))
    return (*given, *missing), arguments[: function.nin], named


def _output_place(function: Any, classes: tuple[type, ...]) -> int | None:
    place = next((_OUTPUTS_OF_METHODS[cls].get(function.__name__) for cls in classes if cls in _OUTPUTS_OF_METHODS), None)
    if not classes and _is_of_numpy(function):
        place = _OUTPUTS.get(function, _places(function).get("out"))
    return place
