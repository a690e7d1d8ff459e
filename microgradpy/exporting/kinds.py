"""Kinds as an exported module writes them down: "float", "float array[n, m]", tuples, lists and dicts of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, final

from microgradpy.exporting.parts import is_plain
from microgradpy.ir.kinds import UNASSIGNED, Array, Inert, Kind, Scalar, Sequence, TupleOf

Spec = str | tuple[Any, ...] | list[Any] | dict[str, Any]
_LETTERS = ("n", "m", "k", "l", "p", "q", "r", "s", "t")


@final
@dataclass
class Axes:
    """Names for the symbols of axes; those in `fixed` are of arrays that belong to the module, and are written as lengths."""

    fixed: Mapping[Any, int]
    names: dict[Any, str] = field(default_factory=dict)

    def name(self, symbol: Any) -> str:
        if symbol == 1 or symbol in self.fixed:
            return str(1 if symbol == 1 else self.fixed[symbol])
        count = len(self.names)
        return self.names.setdefault(symbol, _LETTERS[count] if count < len(_LETTERS) else f"n{count}")


def spec(kind: Kind, axes: Axes) -> Spec:
    """What an argument has to be for the code that was made for this kind."""
    match kind:
        case Scalar(name=name):
            return name
        case Array(ndim=int() as ndim, dtype=dtype, shape=shape) if dtype:
            return f"{dtype} array[{', '.join(map(axes.name, shape) if len(shape) == ndim else ['any'] * ndim)}]"
        case TupleOf(items=items):
            return tuple(spec(item, axes) for item in items)
        case Sequence(name="list", item=item):
            return "empty list" if item == UNASSIGNED else [spec(item, axes)]
        case Sequence(name="dict", entries=(_, *_) as entries):
            return {key: spec(item, axes) for key, item in entries}
        case Sequence(name=name) | Inert(name=name):
            return name
    return "data"


def is_data(value: Any) -> bool:
    """Whether a value is made of numbers, arrays and texts by lists, tuples and dicts."""
    if type(value) in (list, tuple):
        return all(map(is_data, value))
    if type(value) is dict:
        return all(map(is_data, value.values()))
    return is_plain(value)


def is_array(of: Spec) -> bool:
    """Whether a spec is that of an array."""
    return isinstance(of, str) and " array[" in of


def hint(of: Spec) -> str:
    """The annotation of an argument."""
    match of:
        case "float" | "int" | "bool" | "complex" | "str":
            return str(of)
        case "NoneType":
            return "None"
        case str() if " array[" in of:
            return "np.ndarray"
        case tuple():
            return f"tuple[{', '.join(map(hint, of))}]" if of else "tuple[()]"
        case list():
            return f"list[{hint(of[0])}]"
        case dict():
            values = {hint(item) for item in of.values()}
            return f"dict[str, {values.pop() if len(values) == 1 else 'Any'}]"
    return "Any"


def gradient_hint(of: Spec, has_none: bool) -> str:
    """The annotation of the gradient of an argument."""
    if has_none:
        return "None"
    if is_array(of):
        return hint(of)
    return {"float": "float", "int": "float", "complex": "complex"}.get(str(of), "Any")


def shown(of: Spec) -> str:
    """A spec in the text of a docstring."""
    match of:
        case str():
            return of
        case tuple():
            return f"({', '.join(map(shown, of))}{',' if len(of) == 1 else ''})"
        case list():
            return f"list of {shown(of[0])}"
    return "{" + ", ".join(f"{key!r}: {shown(item)}" for key, item in of.items()) + "}"


def leaves(of: Spec) -> Iterator[str]:
    """The specs of what is no container."""
    if isinstance(of, str):
        yield of
    else:
        for item in of.values() if isinstance(of, dict) else of:
            yield from leaves(item)


def has_number(of: Spec) -> bool:
    """Whether there certainly is a number in an argument. A list may be empty."""
    match of:
        case tuple():
            return any(map(has_number, of))
        case dict():
            return any(map(has_number, of.values()))
        case str():
            return of in ("float", "int", "complex", "real") or (" array[" in of and not of.startswith("bool"))
    return False
