"""Many tangents or cotangents of one value in one: in its structure, each leaf with a leading axis for the many."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from microgradpy.errors import CotangentShapeError, DifferentiationError
from microgradpy.projecting import Untouched
from microgradpy.tangents.fields import named_like
from microgradpy.tangents.projection import fields_of
from microgradpy.tangents.types import Tangent, is_structural_zero


def length_of_stack(stack: Any, like: Any, name: str) -> int:
    """How many tangents of a value there are in a stack. CotangentShapeError if its leaves do not agree, or there are none."""
    found = sorted(set(_lengths(stack, like, name)))
    if len(found) != 1:
        what = f"the leading axes of {name} have the lengths {', '.join(map(str, found))}" if found else f"{name} has no arrays"
        raise CotangentShapeError(what, None, "Each array in it has a leading axis, and all have the same length.")
    return found[0]


def _lengths(stack: Any, like: Any, name: str) -> Iterator[int]:
    if is_structural_zero(stack):
        return
    parts = _parts(stack, like)
    for part, part_like in parts or ():
        yield from _lengths(part, part_like, name)
    if parts is None:
        if not np.ndim(stack):
            raise CotangentShapeError(f"a number in {name} has no leading axis", None, "Give an array of such numbers.")
        yield len(stack)


def _parts(stack: Any, like: Any) -> list[tuple[Any, Any]] | None:
    """The parts of a stack, each with that of the value; None of a leaf. What does not fit the value is found out later."""
    if isinstance(stack, Tangent):
        fields = fields_of(like)
        return [(part, fields.get(name)) for name, part in stack.items()]
    if isinstance(like, Mapping) and isinstance(stack, Mapping):
        return [(part, like.get(key)) for key, part in stack.items()]
    if isinstance(like, tuple | list | deque) and isinstance(stack, tuple | list | deque):
        return list(zip(stack, [*like, *(None for _ in stack)], strict=False))
    return None


def taken(stack: Any, place: int | slice, like: Any) -> Any:
    """The tangent of a value that has this number in a stack; of a slice some of the tangents, as a stack."""
    if is_structural_zero(stack) or stack is Untouched.zero:
        return None
    parts = _parts(stack, like)
    if parts is None:
        return np.asarray(stack)[place]
    items = [taken(part, place, part_like) for part, part_like in parts]
    if isinstance(stack, Tangent):
        return Tangent(stack.primal_type, dict(zip(stack, items, strict=True)))
    if isinstance(stack, Mapping):
        return dict(zip(stack, items, strict=True))
    return tuple(items) if isinstance(like, tuple) else items


def joined(stacks: list[Any]) -> Any:
    """Stacks of one structure, one behind the other."""
    first = stacks[0]
    if first is None:
        return None
    if isinstance(first, Mapping):
        parts = {key: joined([each[key] for each in stacks]) for key in first}
        return Tangent(first.primal_type, parts) if isinstance(first, Tangent) else parts
    if isinstance(first, tuple | list):
        items = [joined([each[place] for each in stacks]) for place in range(len(first))]
        return items if isinstance(first, list) else named_like(first, items) if hasattr(first, "_fields") else tuple(items)
    return np.concatenate(stacks)


def stacked(tangents: list[Any], count: int) -> Any:
    """The first `count` of some tangents of one value, of which there is at least one, as a stack. What is None in all of them
    is None."""
    first = next((tangent for tangent in tangents if tangent is not None), None)
    if first is None:
        return None
    if isinstance(first, Mapping):
        parts = {key: stacked([None if each is None else each[key] for each in tangents], count) for key in first}
        return Tangent(first.primal_type, parts) if isinstance(first, Tangent) else parts
    if isinstance(first, tuple | list):
        items = [stacked([None if each is None else each[place] for each in tangents], count) for place in range(len(first))]
        if isinstance(first, tuple):
            return named_like(first, items) if hasattr(first, "_fields") else tuple(items)
        return items
    if not isinstance(first, np.ndarray | np.number | int | float | complex):
        found = f"many tangents in one are arrays, and the tangent here is a {type(first).__name__}"
        raise DifferentiationError(found, None, "Ask for one at a time.")
    return np.stack([np.zeros_like(first) if each is None else np.asarray(each) for each in tangents])[:count]
