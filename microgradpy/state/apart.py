"""What a run finds at several places, told apart.

Cotangents are found by memory, and an argument's gradient is that of its own places. So where several show the same memory,
each has an array of its own that *stands in*: the same entries in the same memory, but an owner of its own, hence a shadow.

    f(x, x)                     what `a` is stands in for x, and so does what `b` is
    f(W), and the text names W  what the argument is stands in; W itself is a constant
    f(p), p.a is p.b            what is read from a field stands in for what is there

As long as nobody writes into that memory this changes nothing but who is who: `is_same` says whom an array stands in for, and
what is left of them when the run is over is put back. A write is refused before it is made, and so is a run in which such an
array was used that came by a way on which nobody could tell its place. An object, list or dict at several places is one object,
if it is written into; if it is not, copies stand in for it (`microgradpy.state.twins`).
"""

from __future__ import annotations

import itertools
import types
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, final

import numpy as np

from microgradpy.errors import MutationError
from microgradpy.state.array_memory import address, extent, owner_of
from microgradpy.state.overlaps import Input, Shared, may_share, objects_of_several, overlap, pairs_of, places_of, stand_in
from microgradpy.state.places import Place, holder_of, is_key, is_plain_tuple, places_elsewhere, with_items
from microgradpy.state.shadows import Shadows, is_value
from microgradpy.state.snapshots import Structure, parts_of, structure_of
from microgradpy.state.twins import Twins, with_twins
from microgradpy.state.written_in_text import writes_in

Array = np.ndarray[Any, Any]


@final
class Apart:
    """What one run tells apart. `pairs` are places with memory in common, `objects` what several inputs reach, with these;
    `contested` are the arrays in holders which may be another's too, so that it matters where they are read, `at` their places,
    `lost` the holders whose items may be at other places than they were. `originals` has what stands in, with what for; `stood`
    what stands in at a place of a holder; `swapped` what something has held in the run that holds an original now."""

    __slots__ = (
        "at", "contested", "inputs", "keeps", "lost", "objects", "originals", "pairs", "stood", "swapped", "twins",
        "variables", "written",
    )  # fmt: skip

    def __init__(
        self,
        inputs: Sequence[Input],
        pairs: Sequence[tuple[Place, Place]],
        objects: Mapping[int, Shared],
        with_twins: Mapping[int, Shared],
    ) -> None:
        self.inputs, self.pairs, self.objects = inputs, pairs, objects
        held = [place for pair in pairs for place in pair if not any(each.is_direct for each in pair)]
        self.contested = {id(place.array): place.array for place in held}
        self.at = {place.address: place for place in held if is_key(place.key)}
        self.originals: dict[int, tuple[Array, Array]] = {}
        self.stood: dict[tuple[int, Any], Array] = {}
        self.keeps: dict[int, Any] = {}
        self.lost: set[int] = set()
        self.variables: list[tuple[dict[str, Any], str]] = []
        self.written: set[int] = set()
        self.swapped: dict[tuple[int, Any], Any] = {}
        self.twins = Twins(inputs, with_twins, self._new)

    # What stands in

    def values(self, values: Iterable[Any], variadic: int | None, keywords: int | None) -> list[Any]:
        """The inputs of the run, of which one has what is in `*args` and one what is in `**kwargs`, with what stands in."""
        shared = {id(place.array) for pair in self.pairs for place in pair if place.is_direct}
        numbers = itertools.count()
        found: list[Any] = []
        for index, value in enumerate(values):
            if index == variadic:
                found.append(with_items(value, [self.twins.given(item, next(numbers)) for item in value]))
            elif index == keywords:
                found.append({key: self.twins.given(item, next(numbers)) for key, item in value.items()})
            else:
                found.append(self.twins.given(value, next(numbers)))
        return [self._standing_in(value, shared) for value in found]

    def _standing_in(self, value: Any, shared: set[int]) -> Any:
        if isinstance(value, np.ndarray):
            return self._new(value) if id(value) in shared else value
        return with_items(value, [self._standing_in(item, shared) for item in value]) if is_plain_tuple(value) else value

    def _new(self, x: Array) -> Array:
        y = stand_in(x)
        self.originals[id(y)] = (y, x)
        return y

    def read(self, holders: Iterable[Any], key: Any, y: Any) -> Any:
        """What was read at a place of one of these holders, as what stands in for it there."""
        if id(y) in self.twins.objects and is_key(key):
            seen = [holder for holder in holders if id(holder) not in self.lost]
            return next((found for holder in seen if (found := self.twins.read(holder, key, y)) is not y), y)
        if type(y) is np.ndarray and id(y) in self.contested and is_key(key):
            for holder in holders:
                place = None if id(holder) in self.lost else self.at.get((id(holder), key))
                if place is not None and place.array is y:
                    if place.address not in self.stood:
                        self.stood[place.address] = self._new(y)
                    return self.stood[place.address]
        return y

    def original(self, x: Any) -> Any:
        """What something stands in for; anything else is itself."""
        return self.originals[id(x)][1] if id(x) in self.originals else self.twins.original(x)

    @property
    def is_told(self) -> bool:
        """Whether it matters where something is read."""
        return bool(self.contested or self.twins.objects)

    def may_stand(self, x: Any) -> bool:
        """Whether something may be read as what stands in for it."""
        return type(x) is np.ndarray or id(x) in self.twins.objects

    # Writes

    def note_variable(self, namespace: dict[str, Any], name: str) -> None:
        """A variable of a module is assigned."""
        self.variables.append((namespace, name))

    def is_contested(self, x: Any) -> bool:
        """Whether something is, or directly holds, what was read where its place was not seen."""
        if isinstance(x, np.ndarray) or id(x) in self.twins.objects:
            return id(x) in self.contested or id(x) in self.twins.objects
        parts = x.values() if isinstance(x, dict) else x if isinstance(x, list | tuple | deque) else ()
        return any(id(part) in self.contested or id(part) in self.twins.objects for part in parts)

    def lose(self, holder: Any) -> None:
        """What a holder has may be at other places than it was when the run began."""
        self.lost |= {id(holder), id(holder_of(holder))}

    def check_write(self, target: Any) -> None:
        """Refuse, before it is made, a write into memory of several places, or into an object that an argument reaches which is
        not differentiated."""
        self.twins.check_write(target)
        if isinstance(target, np.ndarray):
            for first, second in self.pairs:
                if overlap(target, first.array) and overlap(target, second.array):
                    found = f"{self._named(first)} and {self._named(second)} share memory, which is written into"
                    raise MutationError(found, None, f"Pass a copy: {first.name}.copy().")
        elif not is_value(target):
            self.keeps[id(target)] = target
            self.written |= {id(target), id(holder_of(target))}
            self._check_object(target)

    def _check_object(self, target: Any) -> None:
        shared = self.objects.get(id(target))
        given = [] if shared is None else [each for each in shared.inputs if not each.is_captured]
        constant = next((each for each in given if not each.is_differentiated), None)
        if constant is not None:
            other = next(each for each in given if each.is_differentiated)
            found = f"the arguments {other.name!r} and {constant.name!r} reach one {type(target).__name__}"
            found = f"{found}, which is written into, and {constant.name!r} is not differentiated"
            remedy = "Differentiate by both, or pass a copy to one of them: copy.deepcopy(x)."
            raise MutationError(found, None, remedy)

    def _named(self, place: Place) -> str:
        is_argument = place.number is not None and not self.inputs[place.number].is_captured
        return f"the {'argument' if is_argument else 'variable'} {place.name!r}"

    # When the run is over

    def value(self, y: Any) -> Any:
        """What the run returns, with what others stood in for."""
        self.twins.check_unwritten()
        return self._restored(y, set())

    def restore(self) -> None:
        """Put back what the run has stored where it may be found later."""
        met: set[int] = set()
        for holder in list(self.keeps.values()):
            self._restored(holder, met)
        for namespace, name in self.variables:
            if name in namespace:
                namespace[name] = self._restored(namespace[name], met)

    def _restored(self, y: Any, met: set[int]) -> Any:
        if isinstance(y, np.ndarray):
            return self._shown(y)
        if self.twins.original(y) is not y:
            return self.twins.original(y)
        if isinstance(y, types.MethodType) and (found := self._restored(y.__self__, met)) is not y.__self__:
            return types.MethodType(y.__func__, found)
        if isinstance(y, types.FunctionType) and id(y) not in met:
            met.add(id(y))
            for cell in y.__closure__ or ():
                self._restored(cell, met)
        if is_plain_tuple(y):
            return with_items(y, [self._restored(item, met) for item in y])
        if is_value(y) or id(y) in met:
            return y
        met.add(id(y))
        for key, part in list(parts_of(y)):
            found = self._restored(part, met)
            if found is not part:
                self.keeps[id(y)] = y
                self.swapped[id(y), key] = part
                _store(y, key, found)
        return y

    def _shown(self, y: Array) -> Array:
        """An array, or a view, as it would be if nothing stood in."""
        if id(y) in self.originals:
            return self.originals[id(y)][1]
        owner = owner_of(y)
        x = next((x for stands, x in self.originals.values() if stands.base is owner), None)
        if x is None:
            return y
        own = owner_of(x)
        found: Array = np.ndarray(y.shape, y.dtype, own, address(y) - extent(own)[0], y.strides)
        found.flags.writeable = y.flags.writeable
        return found

    # Gradients

    def structure(self, structure: Structure) -> Structure:
        """The structure of an input, with what stood in at its places."""
        holder = holder_of(structure.x)
        parts = []
        for key, part in structure.parts:
            if isinstance(part.x, np.ndarray):
                stood: Any = self.stood.get((id(holder), key)) if is_key(key) else None
            else:
                stood = self.twins.at_place(structure.x, key, part.x)
            parts.append((key, self.structure(part) if stood is None else structure_of(stood)))
        return Structure(structure.x, tuple(parts)) if parts else structure

    def check_used(self, shadows: Shadows) -> None:
        """Refuse, before the cotangents of the arguments are read, if there are some of which nobody can tell the place."""
        for first, second in self.pairs:
            if not first.is_direct and not second.is_direct and (shadows.knows(first.array) or shadows.knows(second.array)):
                raise _untold(f"{self._named(first)} and {self._named(second)} share memory", f"{first.name}.copy()")
        for shared in self.objects.values():
            if id(shared.x) not in self.written and self._is_used(shadows, shared.x):
                first_name, second_name = shared.names
                found = f"{first_name!r} and {second_name!r} reach one {type(shared.x).__name__}"
                raise _untold(found, "copy.deepcopy(x)")

    def _is_used(self, shadows: Shadows, x: Any) -> bool:
        """Whether anything was added to the cotangent of what an object itself holds."""
        holder = holder_of(x)
        entry = shadows.entries.get(id(x)) or shadows.entries.get(id(holder))
        own = None if entry is None else getattr(entry[1], "fields", None) or getattr(entry[1], "slots", None)
        return bool(own) or any(
            shadows.knows(self.stood.get((id(holder), key), part) if is_key(key) else part)
            if isinstance(part, np.ndarray)
            else isinstance(part, tuple) and self._is_used(shadows, part)
            for key, part in parts_of(x)
        )


def _untold(found: str, copy: str) -> MutationError:
    found = f"{found}, and where something else is written, the derivatives by the one and the other cannot be told apart"
    return MutationError(found, None, f"Pass a copy to one of them: {copy}.")


def _store(x: Any, key: Any, value: Any) -> None:
    if isinstance(x, list | deque | dict):
        x[key] = value
    elif isinstance(x, types.CellType):
        x.cell_contents = value
    else:
        object.__setattr__(x, key, value)


def told_apart(function: types.FunctionType, inputs: Sequence[Input]) -> Apart | None:
    """What a run with these inputs has to tell apart; None if it is nothing."""
    places, named, functions = places_of(inputs), dict[int, str](), list[types.FunctionType]()
    if any(given.is_asked and may_share(given.structure) for given in inputs):
        elsewhere, named, functions = places_elsewhere(function, [given.structure for given in inputs])
        places += elsewhere
    pairs, objects = pairs_of(places, inputs), objects_of_several(inputs, named)
    if not pairs and not objects:
        return None
    return Apart(inputs, pairs, objects, with_twins(objects, writes_in(function, functions)) if objects else {})
