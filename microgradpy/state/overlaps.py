"""Which arrays of a run have memory in common, and which of its objects are reached by several inputs."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, final

import numpy as np

from microgradpy.runtime.libraries import library_of
from microgradpy.state.array_memory import address, extent
from microgradpy.state.places import Place, objects_in, places_in
from microgradpy.state.snapshots import Structure

Array = np.ndarray[Any, Any]


@final
class Input(NamedTuple):
    """One of the arguments of a run, those in `*args` and `**kwargs` one by one, or a variable that its function captured."""

    name: str
    structure: Structure
    is_captured: bool
    is_differentiated: bool
    cell: Any = None

    @property
    def is_asked(self) -> bool:
        """Whether it is an argument that is differentiated."""
        return self.is_differentiated and not self.is_captured


def may_share(structure: Structure) -> bool:
    """Whether there is anything in an input that others may reach too."""
    return bool(structure.parts) or isinstance(structure.x, np.ndarray)


def overlap(x: Array, y: Array) -> bool:
    """Whether two arrays have a byte in common."""
    if not np.may_share_memory(x, y):
        return False
    try:
        return np.shares_memory(x, y, max_work=10_000)  # type: ignore[arg-type]  # any number is fine
    except np.exceptions.TooHardError:
        return True


def stand_in(x: Array) -> Array:
    """The same entries in the same memory, as an array of another owner."""
    low, size = extent(x)
    owner: Any = (ctypes.c_char * size).from_address(low)
    owner.memory_of = x  # which is to live as long
    y: Array = np.ndarray(x.shape, x.dtype, owner, address(x) - low, x.strides)
    y.flags.writeable = x.flags.writeable
    return y


def places_of(inputs: Sequence[Input]) -> list[Place]:
    """The places of arrays in the inputs."""
    return [
        place
        for number, given in enumerate(inputs)
        for place in places_in(given.structure, given.name, number, given.cell)
        if place.array.size
    ]


def pairs_of(places: Sequence[Place], inputs: Sequence[Input]) -> list[tuple[Place, Place]]:
    """The places with memory in common, if one of them is in an argument that is differentiated, or both are in captured
    variables that are, or in two inputs neither of which is."""
    return [pair for pair in _overlapping(places) if _matters(inputs, *pair) and not pair[0].is_same(pair[1])]


def meet_undifferentiated(inputs: Sequence[Input]) -> bool:
    """Whether two inputs that are not differentiated reach one list, dict or object of a class of the user's: what is written
    into it by one of them is read by the other."""
    seen = set[int]()
    for given in inputs:
        if not given.is_differentiated and given.structure.parts:
            own = {id(x) for x in objects_in(given.structure) if library_of(type(x)) is None}
            if not seen.isdisjoint(own):
                return True
            seen |= own
    return False


def _overlapping(places: Sequence[Place]) -> list[tuple[Place, Place]]:
    """The pairs of places with memory in common."""
    bounds = [(*np.lib.array_utils.byte_bounds(place.array), number) for number, place in enumerate(places)]
    found: list[tuple[Place, Place]] = []
    near: list[tuple[int, int]] = []
    for low, high, number in sorted(bounds):
        near = [(end, other) for end, other in near if end > low]
        for _, other in near:
            pair = places[min(number, other)], places[max(number, other)]
            if overlap(pair[0].array, pair[1].array):
                found.append(pair)
        near.append((high, number))
    return found


def _matters(inputs: Sequence[Input], *places: Place) -> bool:
    given = [inputs[place.number] for place in places if place.number is not None]
    if any(each.is_asked for each in given):
        return True
    flags = {each.is_differentiated for each in given}
    is_given = places[0].number != places[1].number and all(place.holder is None for place in places)
    return len(given) == 2 and len(flags) == 1 and (True in flags or is_given)


@final
class Shared(NamedTuple):
    """An object, list or dict, and the inputs that reach it; its name, if it is a module variable."""

    x: Any
    inputs: list[Input]
    variable: str | None

    @property
    def names(self) -> tuple[str, str]:
        """Two ways to it."""
        first, *rest = [given.name for given in self.inputs]
        return first, rest[0] if rest else str(self.variable)


def objects_of_several(inputs: Sequence[Input], named: Mapping[int, str]) -> dict[int, Shared]:
    """The objects, lists and dicts that several inputs reach, or an input and a variable of these names, by their identity, if
    one of the inputs is an argument that is differentiated."""
    found: dict[int, Shared] = {}
    for given in inputs:
        for key, x in {id(x): x for x in objects_in(given.structure)}.items():
            found.setdefault(key, Shared(x, [], named.get(key))).inputs.append(given)
    return {
        key: shared
        for key, shared in found.items()
        if (len(shared.inputs) > 1 or shared.variable is not None) and any(given.is_asked for given in shared.inputs)
    }
