"""The cotangents of mutable objects during one reverse sweep: one *shadow* per object, found by identity.

    x immutable (a number, text, tuple, function ...)    its cotangent is a value, held by whoever computes with it
    x mutable (a list, dict, array, object)              its cotangent is `shadows.of(x)`, updated in place

At any moment of the sweep a shadow has the structure that its object had at that moment of the primal: what the primal did to
the structure is undone in the shadow, in reverse. A slot or field that holds something mutable has no cotangent of its own.
The shadow of a view of an array is the same view of the owner's shadow, so that writing through one name is seen through all.
"""

from __future__ import annotations

import functools
import gc
import itertools
import operator
import types
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, final

import numpy as np

from microgradpy.errors import MissingRuleError, MutationError
from microgradpy.frontend.source import shared_names
from microgradpy.rules.results import check_unstructured
from microgradpy.runtime.streams import Stream, StreamShadow
from microgradpy.state.array_memory import add_to_array
from microgradpy.state.array_shadows import ArrayShadows
from microgradpy.state.coroutines import Rewind, Run, run_of
from microgradpy.tangents.fields import made_dict
from microgradpy.tangents.types import Tangent, accumulate, is_structural_zero

_VALUES: tuple[type, ...] = (
    float, int, complex, str, bytes, tuple, types.NoneType, np.generic, frozenset, range, slice, type, type(Ellipsis),
    type(NotImplemented), types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, np.ufunc, np.dtype,
    functools.partial, operator.attrgetter, operator.itemgetter, operator.methodcaller, types.MethodDescriptorType,
    types.MethodWrapperType, types.WrapperDescriptorType, type({}.values()), type({}.items()), type({}.keys()), property,
    classmethod, staticmethod, types.CodeType, type(np.sum), super,
)  # fmt: skip
_VALUE_TYPES: dict[type, bool] = {}


def is_value(x: object) -> bool:
    """Whether the cotangent of `x` travels by value: `x` cannot change, or (a function) counts as what it was made of."""
    cls = type(x)
    known = _VALUE_TYPES.get(cls)
    if known is None:
        if len(_VALUE_TYPES) > 4096:
            _VALUE_TYPES.clear()
        known = _VALUE_TYPES[cls] = issubclass(cls, _VALUES)
    return known


def gives_constants(x: object) -> bool:
    """Whether this is an iterator that was made of numbers which are not differentiated, and gives nothing else: of others a
    `Stream` is made."""
    if not isinstance(x, itertools.repeat):
        return isinstance(x, itertools.count)
    held = [item for item in gc.get_referents(x) if item is not type(x)]
    return all(isinstance(item, int | float | complex | np.generic) for item in held)


_FLOAT = frozenset({float})


@final
class ListShadow:
    """The cotangents of the items of a list that are values; None is zero, and so is what is missing at the end."""

    __slots__ = ("slots",)

    def __init__(self) -> None:
        self.slots: list[Any] = []

    def add(self, index: int, d: Any) -> None:
        if d is None or is_structural_zero(d):
            return
        slots = self.slots
        missing = index + 1 - len(slots)
        if missing > 0:
            slots.extend([None] * missing)
        before = slots[index]
        slots[index] = d if before is None else accumulate(before, d)

    def add_each(self, bars: list[Any]) -> None:
        """Add a cotangent to each of the first items."""
        if not self.slots and _FLOAT.issuperset(map(type, bars)):
            self.slots = bars
            return
        for index, bar in enumerate(bars):
            self.add(index, bar)

    def get(self, index: int) -> Any:
        return self.slots[index] if index < len(self.slots) else None

    def take(self, index: int) -> Any:
        """The cotangent at an index, which is zero afterwards."""
        if index >= len(self.slots):
            return None
        d, self.slots[index] = self.slots[index], None
        return d

    def undo_append(self, length: int) -> Any:
        """Take the item away again that made the list longer than `length`."""
        slots = self.slots
        if len(slots) == length + 1:
            return slots.pop()
        tail = self.cut(length)
        return tail[0] if tail else None

    def undo_insert(self, index: int) -> Any:
        return self.slots.pop(index) if index < len(self.slots) else None

    def undo_pop(self, index: int, d: Any) -> None:
        """Put an item back where it was taken out, with the cotangent that it got since."""
        if index < len(self.slots):
            self.slots.insert(index, None)
        self.add(index, d)

    def cut(self, length: int) -> list[Any]:
        """Take away the items from `length` on."""
        tail = self.slots[length:]
        del self.slots[length:]
        return tail

    def reorder(self, places: Iterable[int | None], length: int) -> None:
        """Undo a change after which item `j` was what item `places[j]` had been (None: something new) of `length`."""
        before: list[Any] = [None] * length
        for position, place in enumerate(places):
            if place is not None and position < len(self.slots):
                before[place] = accumulate(before[place], self.slots[position])
        self.slots = before


@final
class FieldShadow:
    """The cotangents of the values under the keys of a dict, or of the fields of an object."""

    __slots__ = ("fields",)

    def __init__(self) -> None:
        self.fields: dict[Any, Any] = {}

    def add(self, key: Any, d: Any) -> None:
        if d is not None and not is_structural_zero(d):
            before = self.fields.get(key)
            self.fields[key] = d if before is None else accumulate(before, d)

    def get(self, key: Any) -> Any:
        return self.fields.get(key)

    def take(self, key: Any) -> Any:
        return self.fields.pop(key, None)


NOTHING_SWAPPED: Mapping[tuple[int, Any], Any] = types.MappingProxyType({})


@final
class Shadows(ArrayShadows):
    """The shadows of one reverse sweep. An entry holds its object, so that no other object can get the same identity."""

    __slots__ = ("factories", "swapped")

    def __init__(self, swapped: Mapping[tuple[int, Any], Any] = NOTHING_SWAPPED) -> None:
        """`swapped` has what containers and objects held in the run, where another thing was put there when it was over."""
        super().__init__()
        self.factories: dict[int, tuple[Any, Any]] = {}
        self.swapped = swapped

    def of(self, x: Any) -> Any:
        """The shadow of a mutable object."""
        entry = self.entries.get(id(x))
        return entry[1] if entry is not None else self._enter(x)

    def _enter(self, x: Any) -> Any:
        if type(x) is dict:
            shadow: Any = FieldShadow()
        elif isinstance(x, np.ndarray):
            shadow = self.made_for(x)
        elif isinstance(x, np.flatiter):
            shadow = self.of(x.base)
        elif _is_list(x):
            shadow = ListShadow()
        elif isinstance(x, Stream):
            shadow = StreamShadow(x, self)
        elif isinstance(x, Run):
            shadow = Rewind(x, self)
        else:
            # An object and its `__dict__` are written through either.
            own = made_dict(x)
            shadow = self.of(own) if own is not None and type(x) is not dict else FieldShadow()
        self.entries[id(x)] = (x, shadow)
        return shadow

    def of_generator(self, x: Any) -> Rewind | None:
        """The shadow of a generator that was made in this run; None for any other."""
        run = run_of(x)
        return None if run is None else self.of(run)

    def add_to(self, x: Any, d: Any) -> None:
        """x_bar += d for a mutable `x`, where `d` is no structural zero."""
        if isinstance(x, np.ndarray):
            super().add_to(x, d)
        elif isinstance(x, np.flatiter):
            add_to_array(self.of(x), np.reshape(d, x.base.shape))
        else:
            self._add_structure(x, d)

    def settle(self, x: Any, d: Any) -> Any:
        """Add a cotangent to what `x` holds of it: what belongs to mutable objects goes to their shadows, and what travels
        by value is returned."""
        if d is None or (type(d) is float and type(x) is float):
            return d
        if type(x) is np.ndarray:
            self.add(x, d)
            return None
        if is_structural_zero(d):
            return None
        if not is_value(x):
            self.add(x, d)
            return None
        if isinstance(x, tuple):
            if len(d) != len(x):
                raise MutationError("a cotangent of a tuple has another length", None, "Report this program, please.")
            pairs = zip(x, d, strict=True)
            parts = tuple([None if is_structural_zero(part) else self.settle(item, part) for item, part in pairs])
            return None if all(part is None for part in parts) else parts
        if type(d) is Tangent:
            return self._settle_fields(x, d)
        return d

    def _settle_fields(self, x: Any, d: Tangent) -> Any:
        """The part of a function's cotangent that is made of values: what it captured that is mutable is settled."""
        held = held_by(x)
        parts = {name: self._settle_field(held.get(name), part) for name, part in d.items()}
        parts = {name: part for name, part in parts.items() if part is not None}
        return Tangent(d.primal_type, parts) if parts else None

    def _settle_field(self, held: Any, part: Any) -> Any:
        if type(held) is dict:  # keyword defaults, the keywords of a partial: nobody else has this dict
            parts = {key: self.settle(held.get(key), bar) for key, bar in dict(part or {}).items()}
            return {key: bar for key, bar in parts.items() if bar is not None} or None
        return self.settle(held, part)

    def _add_structure(self, x: Any, d: Any) -> None:
        if gives_constants(x):
            return
        shadow = self.of(x)
        if isinstance(shadow, StreamShadow):
            shadow.add(d)
        elif isinstance(shadow, ListShadow):
            for index, part in enumerate(d):
                shadow.add(index, self.settle(self._held(x, index, _item), part))
        elif isinstance(x, dict):
            for key, part in d.items():
                shadow.add(key, self.settle(self._held(x, key, dict.get), part))
        elif isinstance(x, types.CellType):
            # The cotangent of a cell is that of what it holds.
            shadow.add(CONTENTS, self.settle(self._held(x, CONTENTS, _field), d))
        elif isinstance(d, list):
            found = f"the items of a {type(x).__name__} of differentiated values are read"
            raise MissingRuleError(found, None, "Make a list of it first.")
        else:
            for name, part in d.items():
                shadow.add(name, self.settle(self._held(x, name, _field), part))

    def _held(self, x: Any, key: Any, read: Callable[[Any, Any], Any]) -> Any:
        """What something held in the run."""
        return read(x, key) if (id(x), key) not in self.swapped else self.swapped[id(x), key]

    def take(self, x: Any) -> Any:
        """The cotangent of a mutable object at its making, before which it had none; None if it is zero."""
        if isinstance(x, np.ndarray):
            return super().take(x)
        entry = self.entries.pop(id(x), None)
        if entry is not None and (own := made_dict(x)) is not None:
            self.entries.pop(id(own), None)
        return None if entry is None else entry[1]

    def add_to_factory(self, mapping: Any, d: Any) -> None:
        """Note the cotangent of what a `defaultdict` makes its items by, which is not among these."""
        if not is_structural_zero(d):
            _, before = self.factories.get(id(mapping), (mapping, None))
            self.factories[id(mapping)] = (mapping, accumulate(before, d))

    def take_factory(self, mapping: Any) -> Any:
        return self.factories.pop(id(mapping), (mapping, None))[1]

    def check_taken(self) -> None:
        """Refuse, at the end, if there are cotangents that nobody took: of what makes the items of a `defaultdict` that was not
        made in the run, or of parts of arrays."""
        if self.factories:
            found = "what makes the items of a defaultdict that is an argument or a variable holds differentiated values"
            raise MissingRuleError(found, None, "Store the item yourself: `if key not in d: d[key] = ...`.")
        super().check_taken()

    def born(self, x: Any, x_bar: Any) -> Any:
        """The cotangent of what an operation has just made: of something mutable what its shadow holds, of a value `x_bar`."""
        if is_value(x):
            return x_bar
        check_unstructured(x)
        taken = self.take(x)
        return taken if x_bar is None else accumulate(taken, x_bar)

    def content(self, x: Any, x_bar: Any) -> Any:
        """The same, as a list, a dict of fields or items, or an array."""
        if is_value(x):
            return x_bar
        self.add(x, x_bar)
        taken = self.take(x)
        if isinstance(taken, ListShadow):
            return taken.slots
        return taken.fields if isinstance(taken, FieldShadow) else taken


# Structure


CONTENTS = "cell_contents"


def contents_of(cell: types.CellType) -> Any:
    """What a cell holds, None if it is empty."""
    return cell.cell_contents if is_filled(cell) else None


def _is_list(x: Any) -> bool:
    return isinstance(x, _LISTS)


_LISTS: tuple[type, ...] = (list, deque)


def _item(x: Any, index: int) -> Any:
    return x[index] if index < len(x) else None


def _field(x: Any, name: str) -> Any:
    try:
        return object.__getattribute__(x, name)
    except AttributeError:
        return None


def held_by(x: Any) -> dict[str, Any]:
    """What a function or method holds, by the names that its cotangent has."""
    match x:
        case types.FunctionType():
            cells = zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)
            shared = shared_names(x.__code__, x.__globals__)
            held = {name: cell if name in shared else cell.cell_contents for name, cell in cells if is_filled(cell)}
            return {**held, "__defaults__": x.__defaults__ or (), "__kwdefaults__": x.__kwdefaults__ or {}}
        case types.MethodType() | types.BuiltinFunctionType():
            return {"__self__": x.__self__}
        case functools.partial():
            return {"func": x.func, "args": x.args, "keywords": x.keywords}
    return {}


def is_filled(cell: types.CellType) -> bool:
    """Whether a cell holds anything."""
    try:
        cell.cell_contents  # noqa: B018 - an empty cell raises
    except ValueError:
        return False
    return True


Undo = Callable[[Any, Shadows], tuple[Any, ...]]
"""What undoes a call: from the cotangent of its result (None unless that travels by value) to those of its positional
arguments (None for what has none, or is in the shadows)."""
