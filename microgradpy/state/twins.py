"""Objects, lists and dicts at several places, each with a *twin* that stands in for it at a place: a copy with the same fields
or items, of which those that can be written into have twins as well, and arrays stand in for arrays
(`microgradpy.state.apart`).

An input of a run has one twin of what it reaches. It is made if the text of what may run does not show a write into it, and if
who holds it could not tell it from the other; all other objects are one object. A twin cannot be written into.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, final

import numpy as np

from microgradpy.errors import MutationError
from microgradpy.ir.objects import static_member
from microgradpy.state.object_graph import is_users_class
from microgradpy.state.overlaps import Array, Input, Shared, overlap
from microgradpy.state.places import cells_of, holder_of, is_key, is_plain_tuple, with_items
from microgradpy.state.shadows import CONTENTS, is_value
from microgradpy.state.snapshots import Structure, parts_of, structure_of
from microgradpy.state.written_in_text import Writes

_OWN_WAYS = (
    "__del__", "__getattribute__", "__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__",
    "__slots__", "__get__",
)  # fmt: skip
"""Of a class with one of these, what a copy of its fields would be is not known."""
_ELSEWHERE = -1
"""The input whose twin is what module variables give."""


@final
class Twins:
    """The twins of one run. `objects` have them; `at` says for a place of a holder which input it is of (None: of several);
    `twins` has them by input and object, `originals` each with what it is the twin of, `contents` what it held first, and
    `arrays` are those that others stand in for."""

    __slots__ = ("arrays", "at", "contents", "new_array", "objects", "originals", "twins")

    def __init__(self, inputs: Sequence[Input], objects: Mapping[int, Shared], new_array: Callable[[Array], Array]) -> None:
        self.objects, self.new_array = objects, new_array
        self.at: dict[tuple[int, Any], int | None] = {}
        self.twins: dict[tuple[int, int], Any] = {}
        self.originals: dict[int, tuple[Any, Any]] = {}
        self.contents: dict[int, dict[Any, Any]] = {}
        self.arrays: list[tuple[str, Array]] = []
        for number, given in enumerate(inputs):
            if id(given.structure.x) not in objects:
                self._note(given.structure, number)
            elif given.cell is not None:
                self._place(given.cell, CONTENTS, number)

    def _place(self, holder: Any, key: Any, number: int) -> None:
        address = id(holder), key
        self.at[address] = number if self.at.get(address, number) == number else None

    def _note(self, structure: Structure, number: int) -> None:
        x = structure.x
        cells = cells_of(x)
        for key, part in structure.parts:
            if id(part.x) not in self.objects:
                self._note(part, number)
            elif is_key(key):
                self._place(cells.get(key, holder_of(x)), CONTENTS if key in cells else key, number)

    # Twins

    def given(self, value: Any, number: int) -> Any:
        """An input of the run, with twins."""
        if id(value) in self.objects:
            return self.twin(value, number)
        return with_items(value, [self.given(item, number) for item in value]) if is_plain_tuple(value) else value

    def read(self, holder: Any, key: Any, x: Any) -> Any:
        """What was read at a place of a holder: if it has twins, that of the input which the place is of."""
        number = self.at.get((id(holder), key))
        return x if number is None else self.twin(x, number)

    def of_variable(self, x: Any) -> Any:
        """What a module variable gives."""
        return self.twin(x, _ELSEWHERE)

    def twin(self, x: Any, number: int) -> Any:
        known = self.twins.get((number, id(x)))
        if known is not None:
            return known
        y: Any = type(x)() if type(x) in (list, dict) else object.__new__(type(x))
        self.twins[number, id(x)] = y
        self.originals[id(y)] = y, x
        parts = {key: self._part(part, number) for key, part in parts_of(x)}
        if isinstance(x, list):
            y += parts.values()
        else:
            holder_of(y).update(parts)
        self.contents[id(y)] = parts
        return y

    def _part(self, x: Any, number: int) -> Any:
        if isinstance(x, np.ndarray):
            if not x.size:
                return x
            self.arrays.append((type(x).__name__, x))
            return self.new_array(x)
        if isinstance(x, tuple):
            return with_items(x, [self._part(item, number) for item in x])
        return x if is_value(x) else self.twin(x, number)

    def original(self, x: Any) -> Any:
        """What something is the twin of; anything else is itself."""
        return self.originals.get(id(x), (x, x))[1]

    def at_place(self, holder: Any, key: Any, x: Any) -> Any:
        """The twin of something that was read where a holder has it; None if it was not."""
        cells = cells_of(holder)
        if not is_key(key):
            return None
        number = self.at.get((id(cells[key]), CONTENTS) if key in cells else (id(holder_of(holder)), key))
        return None if number is None else self.twins.get((number, id(x)))

    # Who is who

    def check_comparison(self, operands: Sequence[Any]) -> None:
        """Refuse to compare or look up by identity what has twins."""
        waiting, met = list(operands), set[int]()
        while waiting:
            x = waiting.pop()
            if self._is_told_by_identity(x):
                found = f"a {type(x).__name__} that stands at several places is compared, or looked up, by its identity"
                raise MutationError(found, None, "Compare with `is`, or pass a copy to one of them: copy.deepcopy(x).")
            if id(x) not in met and not isinstance(x, np.ndarray) and (isinstance(x, tuple) or not is_value(x)):
                met.add(id(x))
                waiting += [part for _, part in parts_of(x)]

    def _is_told_by_identity(self, x: Any) -> bool:
        known = id(x) in self.originals or id(x) in self.objects
        return known and _is_compared_by_identity(type(x))

    # Writes

    def check_write(self, target: Any) -> None:
        """Refuse, before it is made, a write into what has twins, or into an array in it."""
        if isinstance(target, np.ndarray):
            written = next((x for _, x in self.arrays if overlap(target, x)), None)
        else:
            known = [*self.originals.values(), *((shared.x, shared.x) for shared in self.objects.values())]
            written = next((x for y, x in known if target is y or target is holder_of(y)), None)
        if written is not None:
            found = f"a {type(written).__name__} that several arguments reach is written into"
            raise MutationError(found, None, "Pass a copy to one of them: copy.deepcopy(x).")

    def check_unwritten(self) -> None:
        """Refuse if twins were written into by a way on which nobody saw it."""
        for y, x in self.originals.values():
            now, before = dict(parts_of(y)), self.contents[id(y)]
            if now.keys() != before.keys() or any(now[key] is not before[key] for key in now):
                found = f"a {type(x).__name__} that several arguments reach was written into"
                raise MutationError(found, None, "Pass a copy to one of them: copy.deepcopy(x).")


# What may have twins


def with_twins(objects: Mapping[int, Shared], writes: Writes) -> dict[int, Shared]:
    """Those of some objects at several places that can have twins: what they hold can have them as well."""
    found = {key: shared for key, shared in objects.items() if _is_copied(shared.x, writes)}
    while True:
        can = {
            key: shared
            for key, shared in found.items()
            if all(_can_be_part(part, found, writes) for _, part in parts_of(shared.x))
        }
        if len(can) == len(found):
            return can
        found = can


def _can_be_part(part: Any, objects: Mapping[int, Shared], writes: Writes) -> bool:
    if isinstance(part, np.ndarray):
        return type(part) is np.ndarray and not part.dtype.hasobject and not writes.items
    if isinstance(part, tuple):
        return is_plain_tuple(part) and all(_can_be_part(item, objects, writes) for item in part)
    return not structure_of(part).parts if is_value(part) else id(part) in objects


def _is_copied(x: Any, writes: Writes) -> bool:
    """Whether a copy of its fields or items is as good as an object, list or dict."""
    if id(x) in writes.variables or writes.unseen:
        return False
    cls = type(x)
    if cls is list:
        return not writes.items
    if cls is dict:
        return not writes.items and all(isinstance(key, str | int) for key in x)
    return _is_plain_object(x, cls, writes) and writes.fields.isdisjoint(key for key, _ in parts_of(x))


def _is_plain_object(x: Any, cls: type, writes: Writes) -> bool:
    bases = cls.__mro__[:-1]
    if type(cls) is not type or isinstance(x, Enum) or not all(is_users_class(base) for base in bases):
        return False
    if cls.__basicsize__ != _Plain.__basicsize__ or type(getattr(x, "__dict__", None)) is not dict:
        return False
    if writes.by_identity and _is_compared_by_identity(cls):
        return False
    own = {name for base in bases for name in vars(base)} - {"__weakref__", "__dict__"}
    hashes = getattr(static_member(cls, "__hash__", None), "__code__", None)
    if hashes is not None and not hashes.co_filename.startswith("<"):  # a dataclass hashes what it holds
        return False
    return own.isdisjoint(_OWN_WAYS) and not weakref.getweakrefcount(x)


def _is_compared_by_identity(cls: type) -> bool:
    return static_member(cls, "__eq__") is static_member(object, "__eq__")


class _Plain:
    pass

