"""What is kept of objects that may be written into later: their contents, and their structure.

`frozen(x)` is a copy of the contents of `x`, for a pullback that reads them. `structure_of(x)` remembers which objects `x` is
made of, without their contents, so that cotangents find these objects when the structure is another one by then.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.errors import MissingRuleError
from microgradpy.ir.objects import base_of
from microgradpy.runtime.markers import PARTS_OF
from microgradpy.runtime.streams import Stream
from microgradpy.state.array_memory import owner_of
from microgradpy.state.shadows import CONTENTS, ListShadow, Shadows, held_by, is_filled, is_value
from microgradpy.tangents.arithmetic import stack_items
from microgradpy.tangents.fields import named_like
from microgradpy.tangents.memory_order import copied
from microgradpy.tangents.projection import fields_of, project, zeros_for
from microgradpy.tangents.types import Tangent, accumulate, is_structural_zero


def frozen(x: Any) -> Any:
    """A value with the contents that `x` has now, which nobody writes into: `x` itself if that is immutable."""
    return copied(x, "K") if isinstance(x, np.ndarray) else _frozen(x, {})


def _frozen(x: Any, met: dict[int, Any]) -> Any:
    """`met` has the copies of the arrays and containers that were met, one of which may hold itself: what is one object in
    two places is one there."""
    if id(x) in met:
        return met[id(x)]
    if isinstance(x, np.ndarray):
        copy = met[id(x)] = copied(x, "K")
        return copy
    if isinstance(x, np.flatiter):
        return x.copy()
    cls = type(x)
    if not isinstance(x, tuple) and cls not in (list, deque, dict):
        return x
    twin: Any
    if isinstance(x, tuple):
        if all(map(_is_plain, x)):
            return x
        items = [_frozen(item, met) for item in x]
        twin = met[id(x)] = named_like(x, items) if hasattr(x, "_fields") else tuple(items)
    elif cls is dict:
        twin = met[id(x)] = {}
        twin |= {key: _frozen(value, met) for key, value in x.items()}
    else:
        twin = met[id(x)] = []
        twin += [_frozen(item, met) for item in x]
    return twin


def _is_plain(x: Any) -> bool:
    return is_value(x) and not isinstance(x, tuple)


# Structure


@final
@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """An object and what it was made of: pairs of an index, key or field name and the structure there. Where something that
    can be written into stands for a second time, it has no parts, and `first` is its structure where it was met first: there
    its cotangents are read. A tuple has a cotangent of its own at each of its places."""

    x: Any
    parts: tuple[tuple[Any, Structure], ...] = ()
    first: Structure | None = None

    def settle(self, shadows: Shadows, d: Any) -> Any:
        """Add a cotangent to the shadows of the objects of this structure; returns what travels by value."""
        if is_structural_zero(d):
            return None
        if self.first is not None:
            return self.first.settle(shadows, d)
        x = self.x
        if self.parts and isinstance(d, Tangent) and is_value(x):
            return self._settle_held(shadows, d)
        if isinstance(x, np.ndarray | np.flatiter | Stream) or (is_value(x) and not isinstance(x, tuple)):
            return shadows.settle(x, d)
        if isinstance(x, tuple):
            bars = [part.settle(shadows, bar) for (_, part), bar in zip(self.parts, d, strict=True)]
            return None if all(bar is None for bar in bars) else tuple(bars)
        self._settle_parts(shadows, d)
        return None

    def _settle_held(self, shadows: Shadows, d: Tangent) -> Any:
        """The same of a function or a method, for what it held then."""
        known, bars = dict(self.parts), dict(d)
        for name, bar in d.items():
            part = known.get(name)
            if part is None:
                continue  # nothing that can be written into
            if type(part.x) is dict and not is_structural_zero(bar):  # keywords: nobody else has this dict
                named = {key: each.settle(shadows, bar.get(key)) for key, each in part.parts}
                bars[name] = {key: each for key, each in named.items() if each is not None} or None
            else:
                bars[name] = part.settle(shadows, bar)
        bars = {name: bar for name, bar in bars.items() if bar is not None}
        return Tangent(d.primal_type, bars) if bars else None

    def _settle_parts(self, shadows: Shadows, d: Any) -> None:
        x, shadow = self.x, shadows.of(self.x)
        if isinstance(x, types.CellType):
            for key, part in self.parts:
                shadow.add(key, part.settle(shadows, d))
        elif isinstance(shadow, ListShadow):
            for (index, part), bar in zip(self.parts, d, strict=True):
                shadow.add(index, part.settle(shadows, bar))
        elif not isinstance(d, dict | Tangent):
            raise _used_as_number(x)
        else:
            for key, part in self.parts:
                shadow.add(key, part.settle(shadows, d.get(key)))

    def divided(self, shadows: Shadows, d: Any) -> Any:
        """The cotangent of an argument as a call returns it: that of an array or number itself, for whoever has it; of
        containers and objects the part that travels by value, after the rest was settled."""
        return d if isinstance(self.x, np.ndarray) and not is_structural_zero(d) else self.settle(shadows, d)

    def read(self, shadows: Shadows, d: Any, met: set[int]) -> Any:
        """The cotangent of an argument: what travelled by value, and what the shadows hold. An object that is at two
        places, in the arguments that `met` has seen, has it at the first. Arrays are always whole."""
        return shadows.read(self.x, d) if isinstance(self.x, np.ndarray) else self._read(shadows, d, met)

    def _read(self, shadows: Shadows, d: Any, met: set[int]) -> Any:
        x = self.x
        if isinstance(x, np.ndarray):
            return shadows.read(x, d) if x.dtype.kind in "fciu" and shadows.knows(x) else d
        if isinstance(x, tuple):
            items = [part._read(shadows, None if is_structural_zero(d) else d[index], met) for index, part in self.parts]
            return None if all(item is None for item in items) else tuple(items)
        if is_value(x):
            return self._read_held(shadows, d, met)
        if isinstance(x, np.flatiter) and np.any(shadows.of(x)):
            raise MissingRuleError("x.flat is an argument", None, "Pass the array, and take x.flat inside.")
        if id(x) in met:
            return None
        met.add(id(x))
        shadow = shadows.of(x)
        bars = {key: part._read(shadows, shadow.get(key), met) for key, part in self.parts}
        if not is_structural_zero(d):
            if isinstance(x, types.CellType):
                d = {CONTENTS: d}
            else:
                d = dict(enumerate(d)) if isinstance(shadow, ListShadow) else dict(d)
            bars = {key: accumulate(bar, d.get(key)) for key, bar in bars.items()}
        return self._made_of(bars)

    def _read_held(self, shadows: Shadows, d: Any, met: set[int]) -> Any:
        """A function: its own cotangent, and what the shadows hold for what it captured."""
        if not self.parts:
            return d
        own = {} if is_structural_zero(d) else dict(d)
        bars = {name: part._read(shadows, own.get(name), met) for name, part in self.parts}
        bars = {name: bar for name, bar in bars.items() if bar is not None}
        return Tangent(type(self.x), bars) if bars else None

    def _made_of(self, bars: dict[Any, Any]) -> Any:
        if all(map(is_structural_zero, bars.values())):
            return None
        if isinstance(self.x, types.CellType):
            return bars[CONTENTS]
        if isinstance(self.x, list | deque):
            return list(bars.values())
        found = {key: bar for key, bar in bars.items() if bar is not None}
        return found if isinstance(self.x, dict) else Tangent(type(self.x), found)


def gradient(structure: Structure, bar: Any) -> Any:
    """A cotangent in the structure of its argument, for the user: as `project` does it for arguments that do not change."""
    x = structure.x
    if isinstance(x, types.CellType) and structure.parts:
        return gradient(structure.parts[0][1], bar)
    if is_structural_zero(bar) or not structure.parts:
        return None if is_structural_zero(bar) else project(x, bar)
    if isinstance(x, list | tuple | deque):
        items = [gradient(part, bar[index]) for index, part in structure.parts]
        return _like_tuple(x, items) if isinstance(x, tuple) else items
    found = {key: gradient(part, bar.get(key)) for key, part in structure.parts}
    return found if isinstance(x, dict) else Tangent(type(x), found)


def filled(structure: Structure, found: Any) -> Any:
    """A gradient with zeros in the place of leaves that were not used."""
    x = structure.x
    if isinstance(x, types.CellType) and structure.parts:
        return filled(structure.parts[0][1], found)
    if not structure.parts:
        return zeros_for(x) if found is None and (is_value(x) or isinstance(x, np.ndarray)) else found
    if isinstance(x, list | tuple | deque):
        items = [filled(part, None if found is None else found[index]) for index, part in structure.parts]
        return _like_tuple(x, items) if isinstance(x, tuple) else items
    parts = {key: filled(part, None if found is None else found.get(key)) for key, part in structure.parts}
    return parts if isinstance(x, dict) else Tangent(type(x), parts)


def _like_tuple(x: tuple[Any, ...], items: list[Any]) -> Any:
    return named_like(x, items) if hasattr(x, "_fields") else tuple(items)


def structure_of(x: Any) -> Structure:
    """The structure of an object as it is now. What contains itself ends where it is met again."""
    return _structure_of(x, {})


def _structure_of(x: Any, met: dict[int, Structure | None]) -> Structure:
    """`met` has None for what is being looked at."""
    if isinstance(x, np.ndarray | np.ufunc):
        return Structure(x)
    if is_value(x) and not isinstance(x, tuple):
        held = held_by(x) if isinstance(x, types.FunctionType | types.MethodType) or hasattr(x, "keywords") else {}
        if not held or id(x) in met:
            return Structure(x, (), met.get(id(x)))
        met[id(x)] = None
        parts = tuple((name, _structure_of(value, met)) for name, value in held.items())
        kept = [(name, part) for name, part in parts if part.parts or part.first or not is_value(part.x) or _counts(part.x)]
        found = met[id(x)] = Structure(x, tuple(kept))
        return found
    if id(x) in met:
        known = met[id(x)]
        return known if known is not None and isinstance(x, tuple) else Structure(x, (), known)
    met[id(x)] = None
    found = met[id(x)] = Structure(x, tuple((key, _structure_of(part, met)) for key, part in parts_of(x)))
    return found


def _counts(x: Any) -> bool:
    return isinstance(x, int | float | complex | np.generic) and not isinstance(x, bool)


def parts_of(x: Any) -> Iterator[tuple[Any, Any]]:
    """What an object holds, by index, key or field name."""
    if isinstance(x, list | tuple | deque | dict):
        items = base_of(x)
        yield from items.items(x) if isinstance(x, dict) else enumerate(items.__iter__(x))
    elif isinstance(x, types.CellType):
        if is_filled(x):
            yield CONTENTS, x.cell_contents
    elif type(x) in PARTS_OF:
        yield from ((name, getattr(x, name)) for name in PARTS_OF[type(x)])
    elif not isinstance(x, set | Stream):
        yield from fields_of(x).items()


def _used_as_number(x: Any) -> MissingRuleError:
    name = type(x).__name__
    return MissingRuleError(
        f"a function of NumPy's or Python's made a number or an array of a {name}",
        None,
        f"Convert the {name} where the function is called, with float(x) or np.asarray(x).",
    )


def arrays_of(structures: Iterable[Structure]) -> Iterator[np.ndarray[Any, Any]]:
    """The arrays in some structures."""
    for structure in structures:
        if isinstance(structure.x, np.ndarray):
            yield structure.x
        yield from arrays_of(part for _, part in structure.parts)


# Results


@final
class Known:
    """What the arguments of a call are made of: a result that is part of it was not made by the call."""

    def __init__(self, args: Iterable[Any]) -> None:
        self.structures = tuple(map(structure_of, args))
        self.objects: set[int] = set()
        self.owners: set[int] = set()
        self.functions: set[int] = set()
        self._note(self.structures, set())

    def _note(self, structures: Iterable[Structure], met: set[int]) -> None:
        for structure in structures:
            if id(structure) in met:
                continue
            met.add(id(structure))
            x = structure.x
            if isinstance(x, np.ndarray):
                self.owners.add(id(owner_of(x)))
            elif isinstance(x, np.flatiter):
                raise MissingRuleError("the entries of `x.flat` are read all at once", None, "Use x.ravel(), or x.flat.copy().")
            elif isinstance(x, types.FunctionType):
                self.functions.add(id(x))
            elif not is_value(x):
                self.objects.add(id(x))
            self._note((part for _, part in structure.parts), met)
            if isinstance(x, dict | set | frozenset):  # keys and items that are objects were not made by the call either
                self._note((structure_of(key) for key in base_of(x).__iter__(x) if not _is_plain(key)), met)

    def is_view(self, x: np.ndarray[Any, Any]) -> bool:
        return id(owner_of(x)) in self.owners

    def born(self, shadows: Shadows, made: Structure, y_bar: Any) -> Any:
        """The cotangent of a result at its making. What it shares with the arguments has it in their shadows."""
        return self._born(shadows, made, y_bar, set())

    def _born(self, shadows: Shadows, made: Structure, y_bar: Any, met: set[int]) -> Any:
        """`met` are the structures whose parts have given what the shadows hold of them."""
        y = made.x
        if is_structural_zero(y_bar) and id(made) in met:
            return None
        met.add(id(made))
        if isinstance(y, np.ndarray):
            return None if self.is_view(y) or y.dtype.kind not in "fciu" else shadows.born(y, y_bar)
        if isinstance(y, tuple):
            bars = [self._born(shadows, part, None if is_structural_zero(y_bar) else y_bar[k], met) for k, part in made.parts]
            return None if all(map(is_structural_zero, bars)) else tuple(bars)
        if is_value(y):
            return y_bar
        if id(y) in self.objects or not made.parts:
            return None
        shadow = shadows.take(y)
        parts = {key: self._born(shadows, part, None if shadow is None else shadow.get(key), met) for key, part in made.parts}
        if not is_structural_zero(y_bar):
            given = dict(enumerate(y_bar)) if isinstance(y, list | deque) else y_bar
            parts = {key: accumulate(bar, given.get(key)) for key, bar in parts.items()}
        if all(map(is_structural_zero, parts.values())):
            return None
        if isinstance(y, list | deque):
            return list(parts.values())
        found = {key: bar for key, bar in parts.items() if bar is not None}
        return parts if isinstance(y, dict) else Tangent(type(y), found)


def seal(pullback: Callable[..., Any], known: Known, y: Any) -> None:
    """Let a pullback close over copies of the contents that it reads, since its function's arguments and value may be
    written into later. What it compares by identity is one object still."""
    _Sealing(known, y).seal(pullback)


def seal_arrays(pullback: Callable[..., Any], args: tuple[Any, ...], y: Any) -> None:
    """The same for a function of arrays and numbers."""
    owners = {id(owner_of(x)) for x in args if type(x) is np.ndarray}
    for cell in filter(is_filled, pullback.__closure__ or ()):
        held = cell.cell_contents
        if isinstance(held, np.ndarray):
            if held is y or id(owner_of(held)) in owners:
                cell.cell_contents = frozen(held)
        elif type(held) is not float and (isinstance(held, _WITH_PARTS) or not is_value(held)):
            seal(pullback, Known(args), y)
            return


_WITH_PARTS = (types.FunctionType, tuple)
_TRACKED_RUNS = "microgradpy.tracked_entry"
"""The pullback of a run that tracks writes, which a rule may have begun, keeps copies where it needs them, and finds shadows by
the identity of what else it keeps."""


@final
class _Sealing:
    """`copies` are those that were made, by the identities of the `originals`, which live as long."""

    def __init__(self, known: Known, y: Any) -> None:
        self.known, self.y = known, y
        self.met: set[int] = set()
        self.copies: dict[int, Any] = {}
        self.originals: list[Any] = []

    def seal(self, function: Any) -> None:
        if not isinstance(function, types.FunctionType) or id(function) in self.met:
            return
        if function.__module__ == _TRACKED_RUNS:
            return
        self.met.add(id(function))
        for cell in filter(is_filled, function.__closure__ or ()):
            held = cell.cell_contents
            if isinstance(held, types.FunctionType):
                if id(held) not in self.known.functions:  # what an argument closes over is the user's
                    self.seal(held)
            elif held is self.y or _is_known(held, self.known):
                self.originals.append(held)
                cell.cell_contents = _frozen(held, self.copies)


def _is_known(x: Any, known: Known) -> bool:
    if isinstance(x, np.ndarray):
        return known.is_view(x)
    return not is_value(x) or isinstance(x, tuple)


def settle_items(given: Structure | None, bars: list[Any], shadows: Shadows) -> Any:
    """Give the items that were put into a list their cotangents; a missing tail is zero."""
    if given is None or all(bar is None for bar in bars):
        return None
    count = len(given.x) if isinstance(given.x, np.ndarray) else len(given.parts)
    bars = [*bars, *[None] * (count - len(bars))]
    if isinstance(given.x, np.ndarray):
        # Its rows, if it has any, are views, whose cotangents are in the shadow of the array.
        return None if given.x.ndim > 1 else stack_items(given.x, bars)
    return given.settle(shadows, bars if not isinstance(given.x, tuple) else tuple(bars))
