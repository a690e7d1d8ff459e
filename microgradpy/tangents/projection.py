"""From the cotangents of generated code to what the user gets and gives: `project` onto an argument, zeros of an
argument's structure, and the check of a seed against the value it belongs to."""

from __future__ import annotations

import datetime
import decimal
import fractions
import functools
import inspect
import types
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Never

import numpy as np

from microgradpy.errors import CotangentShapeError, DifferentiationError
from microgradpy.projecting import Untouched, are_floats
from microgradpy.tangents.arithmetic import cotangent_dtype, has_real_objects, real_like, refuse_unlike_arrays, stack_items
from microgradpy.tangents.fields import dict_of, named_like
from microgradpy.tangents.thunks import computed
from microgradpy.tangents.types import NotImplementedTangent, Projected, Tangent, is_structural_zero

_WITHOUT_DERIVATIVE = (bool, np.bool, str, bytes, bytearray, type(None), type, types.ModuleType, slice, range)
_REFUSED = (fractions.Fraction, decimal.Decimal, datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)


def project(x: Any, x_bar: Any) -> Any:
    """The gradient with respect to an argument `x` whose cotangent is `x_bar`, in `x`'s own structure: the same type
    for floats, complex numbers, NumPy scalars and 0-d arrays, the same dtype for arrays, floats for integers; real for
    real; the same container; a `Tangent` for what has fields. None for what has no derivative and for leaves that were
    not used. Arrays are always new. Raises DifferentiationError for numbers of types that cannot be differentiated."""
    if isinstance(x_bar, Projected):
        return x_bar.gradient
    if isinstance(x_bar, NotImplementedTangent):
        x_bar.refuse()
    if is_structural_zero(x_bar) or isinstance(x, _WITHOUT_DERIVATIVE):
        return None
    if isinstance(x, np.ndarray):
        return _project_array(x, x_bar)
    if isinstance(x, int | float | complex | np.number):
        return _project_number(x, x_bar)
    if isinstance(x, tuple | list | deque):
        return None if type(x_bar) is float and not x_bar else _project_sequence(x, x_bar)  # of texts beside numbers
    if isinstance(x, dict):
        return _project_dict(x, x_bar)
    if isinstance(x, _REFUSED):
        _refuse(type(x).__name__)
    return _project_fields(x, x_bar)


def _refuse(what: str) -> Never:
    raise DifferentiationError(
        f"an argument of type {what} is used in the computation, which cannot be differentiated by",
        None,
        "Convert it to float or to a float array before the call.",
    )


def _project_number(x: Any, x_bar: Any) -> Any:
    if np.size(x_bar) != 1 or isinstance(x_bar, list | tuple | dict):
        raise CotangentShapeError(f"the cotangent of a {type(x).__name__} is {_describe(x_bar)}")
    value = real_like(x_bar.reshape(()) if isinstance(x_bar, np.ndarray) else x_bar, x)
    if isinstance(x, np.number):
        return cotangent_dtype(x.dtype).type(value)
    return complex(value) if isinstance(x, complex) else float(value)


def _project_array(x: np.ndarray[Any, Any], x_bar: Any) -> np.ndarray[Any, Any] | None:
    if x.dtype.kind in "bSU":
        return None
    refuse_unlike_arrays(x)
    if x.dtype.kind not in "fciu":
        _refuse(f"array of {x.dtype}")
    if isinstance(x_bar, list | tuple):
        x_bar = stack_items(x, x_bar)
    if not isinstance(x_bar, np.ndarray | np.generic | int | float | complex) or np.shape(x_bar) not in ((), x.shape):
        raise CotangentShapeError(f"the cotangent of an array of shape {x.shape} is {_describe(x_bar)}")
    gradient = np.empty(x.shape, cotangent_dtype(x.dtype))
    gradient[...] = real_like(x_bar, x)
    return gradient


def _project_sequence(x: Any, x_bar: Any) -> Any:
    if isinstance(x_bar, np.ndarray) and x_bar.ndim > 0:
        x_bar = list(x_bar)
    if not isinstance(x_bar, list | tuple) or len(x_bar) != len(x):
        raise CotangentShapeError(f"the cotangent of a {type(x).__name__} of {len(x)} items is {_describe(x_bar)}")
    bars = [None if bar is Untouched.zero else bar for bar in x_bar]
    if type(x) is list and are_floats(x_bar) and are_floats(x):
        return bars
    return _rebuild_sequence(x, list(map(project, x, bars)))


def _rebuild_sequence(x: Any, items: list[Any]) -> Any:
    if not isinstance(x, tuple):
        return items
    # A namedtuple is rebuilt as what it is; of other tuple types only the items are known.
    return named_like(x, items) if hasattr(x, "_fields") else tuple(items)


def _project_dict(x: dict[Any, Any], x_bar: Any) -> dict[Any, Any]:
    if not isinstance(x_bar, Mapping) or not x_bar.keys() <= x.keys():
        raise CotangentShapeError(f"the cotangent of a dict with the keys {list(x)} is {_describe(x_bar)}")
    bars = {key: None if bar is Untouched.zero else bar for key, bar in x_bar.items()}
    return {key: project(value, bars.get(key)) for key, value in x.items()}


def _project_fields(x: Any, x_bar: Any) -> Tangent:
    if not isinstance(x_bar, Tangent):
        raise CotangentShapeError(f"the cotangent of a {type(x).__name__} is {_describe(x_bar)}")
    fields = fields_of(x)
    for name in x_bar.keys() - fields.keys():
        _check_class_attribute(x, name)
    return Tangent(type(x), {name: project(value, x_bar.get(name)) for name, value in fields.items()})


def _check_class_attribute(x: Any, name: str) -> None:
    """A field that a cotangent names and the object does not have may be read from its class: a constant."""
    found = inspect.getattr_static(type(x), name, None)
    if found is None or isinstance(found, property | functools.cached_property):
        raise DifferentiationError(
            f"the attribute {name!r} of a {type(x).__qualname__} is not one of its fields",
            None,
            "It is computed when it is read: give it a rule with @attribute_rule.",
        )


def fields_of(x: Any) -> dict[str, Any]:
    """The fields of a value and what they hold: captured variables of a function, the object a method is bound to, the
    parts of a `functools.partial`, instance attributes and slots of any other object."""
    if isinstance(x, types.FunctionType):
        cells = zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)
        return {name: cell.cell_contents for name, cell in cells if cell != types.CellType()}  # without empty cells
    if isinstance(x, types.MethodType | types.BuiltinMethodType | types.MethodWrapperType):
        return {} if isinstance(x.__self__, types.ModuleType | type(None)) else {"__self__": x.__self__}
    if isinstance(x, functools.partial):
        return {"func": x.func, "args": x.args, "keywords": x.keywords}
    fields: dict[str, Any] = {}
    for base in reversed(type(x).__mro__):
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            mangled = "_" + base.__name__.lstrip("_") + name if name.startswith("__") and name[-2:] != "__" else name
            if mangled not in ("__dict__", "__weakref__") and hasattr(x, mangled):
                fields[mangled] = getattr(x, mangled)
    fields.update(dict_of(x))
    return fields


def zeros_for(x: Any) -> Any:
    """The zero gradient of an argument `x`: zeros in its structure, and None for leaves that cannot have one. An object
    that contains itself gets None where it is met again."""
    return _zeros_for(x, ())


def _zeros_for(x: Any, inside: tuple[int, ...]) -> Any:
    if isinstance(x, (*_WITHOUT_DERIVATIVE, *_REFUSED)) or id(x) in inside:
        return None
    if isinstance(x, np.ndarray):
        return np.zeros(x.shape, cotangent_dtype(x.dtype)) if x.dtype.kind in "fciu" or has_real_objects(x) else None
    if isinstance(x, int | float | complex | np.number):
        return _project_number(x, 0.0)
    inside = (*inside, id(x))
    if isinstance(x, tuple | list | deque):
        return _rebuild_sequence(x, [_zeros_for(item, inside) for item in x])
    if isinstance(x, dict):
        return {key: _zeros_for(value, inside) for key, value in x.items()}
    fields = fields_of(x)
    return Tangent(type(x), {name: _zeros_for(value, inside) for name, value in fields.items()}) if fields else None


def fill_zeros(x: Any, found: Any) -> Any:
    """The gradient of a container with zeros in the place of its untouched leaves."""
    if found is None:
        return zeros_for(x)
    if type(x) in (list, deque):
        if are_floats(found):
            return found
        if type(x) is list and are_floats(x) and {float, type(None)}.issuperset(map(type, found)):
            return [0.0 if bar is None else bar for bar in found]
        return [fill_zeros(a, b) for a, b in zip(x, found, strict=True)]
    if type(x) is dict:
        return {key: fill_zeros(value, found.get(key)) for key, value in x.items()}
    if isinstance(x, tuple):
        items = [fill_zeros(a, b) for a, b in zip(x, found, strict=True)]
        return named_like(x, items) if hasattr(x, "_fields") else tuple(items)
    return found


def fill_tangent(x: Any, found: Any, inside: tuple[int, ...] = ()) -> Any:
    """The tangent of a container as `fill_zeros` fills it, with a zero for a truth value too: NumPy takes a list of numbers and
    truth values, or of ranges, as an array of numbers, and the tangent has to be one of that length."""
    if isinstance(x, bool | np.bool) and inside:
        return 0.0
    if isinstance(x, range) and inside:
        return np.zeros(len(x))
    if id(x) in inside:
        return None
    if type(x) is list and type(found) is list and are_floats(found):
        return found
    if not (type(x) in (list, dict) or isinstance(x, tuple)):
        return fill_zeros(x, found)
    inside = (*inside, id(x))
    if isinstance(x, dict):
        return {key: fill_tangent(value, (found or {}).get(key), inside) for key, value in x.items()}
    dots = (None,) * len(x) if found is None else found
    return _rebuild_sequence(x, [fill_tangent(a, b, inside) for a, b in zip(x, dots, strict=True)])


def check_seed(y: Any, dy: Any) -> Any:
    """The seed `dy` as a cotangent of `y`: cast to `y`'s dtype, in `y`'s structure, with None for zero anywhere. Raises
    CotangentShapeError naming both where structure or shape differ."""
    if type(dy) is float and type(y) is float:
        return dy
    return _check_seed(y, computed(dy), "the value")


def _check_seed(y: Any, dy: Any, place: str) -> Any:
    if is_structural_zero(dy):
        return None
    if isinstance(y, _WITHOUT_DERIVATIVE) or (isinstance(y, np.ndarray) and y.dtype.kind in "bSU"):
        _mismatch(place, f"{_describe(y)}, which has no derivative", dy, "Put None there.")
    if isinstance(y, np.ndarray | np.number | int | float | complex):
        return _check_number_seed(y, dy, place)
    if isinstance(y, tuple | list | deque):
        wanted = tuple if isinstance(y, tuple) else list
        if type(y) is list and type(dy) is list and len(dy) == len(y) and are_floats(y) and are_floats(dy):
            return dy.copy()
        if not isinstance(dy, wanted) or len(dy) != len(y):
            _mismatch(place, _describe(y), dy)
        return wanted(
            _check_seed(item, seed, f"{place}[{k}]") for k, (item, seed) in enumerate(zip(y, dy, strict=True))
        )
    if isinstance(y, dict):
        return _check_keys(y, dy, place, lambda key: f"{place}[{key!r}]")
    if isinstance(y, _REFUSED):
        _refuse(type(y).__name__)
    if not isinstance(dy, Tangent):
        _mismatch(place, _describe(y), dy, f"Give a Tangent({type(y).__name__}, field=...).")
    return Tangent(type(y), _check_keys(fields_of(y), dy, place, lambda name: f"{place}.{name}"))


def _check_keys(values: Mapping[Any, Any], seeds: Any, place: str, name_of: Callable[[Any], str]) -> dict[Any, Any]:
    if not isinstance(seeds, Mapping):
        _mismatch(place, _describe(values), seeds)
    for key in seeds:
        if key not in values:
            _mismatch(place, _describe(values), seeds)
    return {key: _check_seed(values[key], seed, name_of(key)) for key, seed in seeds.items()}


def _check_number_seed(y: Any, dy: Any, place: str) -> Any:
    refuse_unlike_arrays(y)
    refuse_unlike_arrays(dy)
    if isinstance(y, np.ndarray) and y.dtype.kind not in "fciu":
        _refuse(f"array of {y.dtype}")
    if isinstance(dy, str | bytes | Mapping) or not _is_numeric_array(seed := _as_array(dy)):
        _mismatch(place, _describe(y), dy)
    if seed.shape != np.shape(y):
        _mismatch(place, _describe(y), dy)
    if np.iscomplexobj(seed) and not np.iscomplexobj(y):
        _mismatch(place, f"{_describe(y)}, which is real", dy, "Give a real seed.")
    if isinstance(y, np.ndarray):
        return seed.astype(cotangent_dtype(y.dtype), copy=False)
    return _project_number(y, seed)


def _as_array(dy: Any) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(dy)
    except ValueError:  # nested sequences of different lengths
        return np.array(None, object)


def _is_numeric_array(seed: np.ndarray[Any, Any]) -> bool:
    return seed.dtype.kind in "fciub"


def _mismatch(place: str, expected: str, given: Any, remedy: str = "") -> Never:
    raise CotangentShapeError(
        f"the seed of {place} is {_describe(given)}, but {place} is {expected}",
        None,
        remedy or "A seed has the structure and shape of the value; it may hold None for zero.",
    )


def _describe(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, dict):
        return f"a dict with the keys {list(value)}"
    if isinstance(value, Tangent):
        return f"a Tangent with the fields {list(value)}"
    if isinstance(value, list | tuple | deque):
        return f"a {type(value).__name__} of {len(value)} items"
    if isinstance(value, bool | int | float | complex | np.number):
        return f"a number ({type(value).__name__})"
    return f"of type {type(value).__name__}"
