"""What the checks have in common: failures that say where, exact comparison, seeds, copies, and who shares memory with whom."""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Never

import numpy as np

from microgradpy.tangents.types import Tangent
from microgradpy.testing.degrees import EVERY, Outline, Vector, children, step_text
from microgradpy.testing.differences import readable
from microgradpy.testing.stencils import precision


def fail(
    test: str, f: Any, check: str, where: str, found: object, expected: object, note: str = "", cause: Exception | None = None
) -> Never:
    """Raise the failure of one check."""
    __tracebackhide__ = True
    lines = [f"{test}({name_of(f)}): {check}: {where}", f"    found     {found}", f"    expected  {expected}"]
    raise AssertionError("\n".join([*lines, f"    {note}"] if note else lines)) from cause


def name_of(f: Any) -> str:
    """What a callable is called, with its module."""
    if isinstance(f, functools.partial):
        return f"partial of {name_of(f.func)}"
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None) or type(f).__qualname__
    owner = getattr(f, "__module__", None) or type(f).__module__
    return str(name) if owner == "builtins" or owner.startswith("__") else f"{owner}.{name}"


def copied(x: Any) -> Any:
    """A copy that shares nothing with `x`, except for what cannot be copied."""
    try:
        return copy.deepcopy(x)
    except Exception:
        # What a class of the user's, or a module among the items, raises: then what can be copied is.
        return tuple(map(copied, x)) if isinstance(x, tuple) and x else x


Difference = tuple[str, Any, Any]


def difference(a: Any, b: Any, path: str) -> Difference | None:
    """The first place where two values are not of the same type or not equal to the last bit, with what is there."""
    if type(a) is not type(b):
        return path, f"{a!r} ({type(a).__name__})", f"{b!r} ({type(b).__name__})"
    if isinstance(a, np.ndarray | np.generic):
        same = a.dtype == b.dtype and a.shape == b.shape and _equal_arrays(a, b)
        return None if same else (path, _array_text(a), _array_text(b))
    parts_a, parts_b = parts_of(a), parts_of(b)
    if isinstance(a, list | tuple | dict | Tangent) or parts_a:
        # A dict has an order; fields have none, and what a class gives its copies may be in another one.
        if parts_a.keys() != parts_b.keys() or (isinstance(a, dict) and list(parts_a) != list(parts_b)):
            return path, list(parts_a), list(parts_b)
        return _first(difference(parts_a[key], parts_b[key], path + step_text(a, key)) for key in parts_a)
    same = a is b or a == b or (a != a and b != b)
    return None if same or _is_incomparable(a) else (path, repr(a), repr(b))


def parts_of(value: Any) -> dict[Any, Any]:
    """What is directly inside of a value or cotangent."""
    return dict(value) if isinstance(value, Tangent) else children(value)


def _is_incomparable(a: Any) -> bool:
    """Objects without a comparison of their own are never equal to their copies."""
    return getattr(type(a), "__eq__", None) is object.__eq__


def _first(found: Iterator[Difference | None]) -> Difference | None:
    return next((item for item in found if item is not None), None)


def _equal_arrays(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))


def _array_text(a: Any) -> str:
    text = np.array2string(np.asarray(a), threshold=20)
    return f"{text} ({a.dtype}, shape {a.shape})"


def random_seed(y: Any, number: int) -> tuple[Any, Vector]:
    """A cotangent with the structure of `y` and short decimals in it, the same for the same number; and its entries."""
    outline = Outline(y, "y", EVERY, shared=False)
    draw = np.random.default_rng(number)
    vector = np.round(draw.uniform(0.3, 1.7, outline.size), 2) * draw.choice([-1.0, 1.0], outline.size)
    y_bar = outline.cotangent(vector)
    return y_bar, outline.along(y_bar)


def rtol_for(*values: Any) -> float:
    """The relative tolerance that fits the least precise number in some values: 1e-9 for double precision."""
    eps = max((precision(array) for value in values for array in leaves_of(value)), default=2.0**-52)
    return 1e-9 if eps < 1e-12 else 2e-3


def leaves_of(value: Any) -> Iterator[Any]:
    """The numbers and arrays in a value or cotangent."""
    if isinstance(value, np.ndarray | np.number | float | complex):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves_of(item)
    elif isinstance(value, dict | Tangent):
        for item in value.values():
            yield from leaves_of(item)


def arrays_with_paths(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The arrays in a value or cotangent, with the places where they are."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif isinstance(value, list | tuple | dict | Tangent):
        for key, item in parts_of(value).items():
            yield from arrays_with_paths(item, path + step_text(value, key))


def call_noting_warnings(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, list[str]]:
    """What a call returns, and what it warns of."""
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        result = f(*args, **kwargs)
    return result, sorted({f"{warning.category.__name__}: {warning.message}" for warning in noted})


def plain_call(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return readable(f(*args, **kwargs))


def linear_tolerance(size: Vector, *values: Any) -> Vector:
    """How much sums of numbers of these sizes, in the least precise of the formats, may be rounded."""
    eps = max((precision(array) for value in values for array in leaves_of(value)), default=2.0**-52)
    # Not less than what the seeds' own size gives, of which all may have cancelled.
    largest = float(np.max(size[np.isfinite(size)], initial=1.0))
    return 1e4 * eps * np.maximum(size, largest)


def precisions(*values: Any) -> set[float]:
    """The precisions that occur in a call. Numbers of Python have that of what they meet; alone, double."""
    arrays = [leaf for value in values for leaf in leaves_of(value) if isinstance(leaf, np.ndarray | np.generic)]
    return {precision(array) for array in arrays} or {2.0**-52}
