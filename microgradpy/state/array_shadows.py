"""The cotangents of arrays that are written into: one shadow for each memory, of which that of a view is the same view.

Exported modules of functions that write have a copy of this class; the shadows of lists, dicts and objects are in
`microgradpy.state.shadows`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError, MutationError
from microgradpy.state.array_memory import add_to_array, extent, memory_dtype, other_view, owner_of, same_view, told_apart
from microgradpy.tangents.arithmetic import cotangent_dtype
from microgradpy.tangents.overlap import overlaps_itself
from microgradpy.tangents.types import accumulate, is_structural_zero


class ArrayShadows:
    """The shadows of one reverse sweep. An entry holds its array, so that no other can get the same identity. The cotangents of
    numbers travel by value."""

    __slots__ = ("entries", "memories", "taken_in_part")

    def __init__(self) -> None:
        self.entries: dict[int, tuple[Any, Any]] = {}
        self.memories: dict[int, tuple[Any, np.ndarray[Any, Any], list[int]]] = {}
        self.taken_in_part: list[np.ndarray[Any, Any]] = []

    def of(self, x: Any) -> Any:
        """The shadow of an array."""
        entry = self.entries.get(id(x))
        if entry is None:
            entry = self.entries[id(x)] = (x, self.made_for(x))
        return entry[1]

    def knows(self, x: np.ndarray[Any, Any]) -> bool:
        """Whether the memory of an array has a shadow."""
        return id(x) in self.entries or id(owner_of(x)) in self.memories

    def add(self, x: Any, d: Any) -> None:
        """x_bar += d for an array x."""
        entry = self.entries.get(id(x))
        if type(d) is np.ndarray:
            shadow = None if entry is None else entry[1]
            if shadow is None and self._begins_with(x, d):
                return
            if type(shadow) is np.ndarray and shadow.base is None and d.dtype == shadow.dtype and d.shape == shadow.shape:
                shadow += d
                return
        if d is not None and not is_structural_zero(d):
            self.add_to(x, d)

    def add_to(self, x: Any, d: Any) -> None:
        """The same where `d` is no structural zero."""
        if not isinstance(x, np.ndarray) or x.dtype.kind != "b":  # truth values carry nothing
            add_to_array(self.of(x), d)

    def _begins_with(self, x: Any, d: np.ndarray[Any, Any], is_given: bool = False) -> bool:
        """Make the shadow of an array of floats that has none from its first cotangent, which is given away or copied; whether
        that can be done."""
        if type(x) is not np.ndarray or x.base is not None or id(x) in self.entries or id(x) in self.memories:
            return False
        if type(d) is not np.ndarray:  # of an array without axes: arithmetic gives a number, into which nobody can write
            return False
        if d.dtype.char != "d" or x.dtype != d.dtype or d.shape != x.shape or not x.flags.c_contiguous:
            return False
        if not (is_given and d.flags.c_contiguous):
            d = d.copy()
        self.entries[id(x)] = (x, d)
        self.memories[id(x)] = (x, d, [])
        return True

    def give(self, x: Any, d: Any) -> None:
        """x_bar += d, where nobody else has the array `d`."""
        if not self._begins_with(x, d, is_given=True):
            self.add(x, d)

    def settle(self, x: Any, d: Any) -> Any:
        """Add a cotangent to what `x` holds of it: those of arrays go to their shadows, that of a number is returned."""
        if is_structural_zero(d):
            return None
        if isinstance(x, np.ndarray):
            self.add(x, d)
            return None
        if isinstance(x, tuple):
            parts = tuple([self.settle(item, part) for item, part in zip(x, d, strict=True)])
            return None if all(part is None for part in parts) else parts
        return d

    def take(self, x: Any) -> Any:
        """The cotangent of an array at its making, before which it had none; None if it is zero. Lists of arrays have none."""
        if not isinstance(x, np.ndarray):
            return None
        memory = self.memories.pop(id(x), None)
        if memory is not None:
            entry = self.entries.pop(id(x), None)
            for key in memory[2]:
                self.entries.pop(key, None)
            return told_apart(entry[1] if entry is not None else same_view(x, x, memory[1].reshape(-1)))
        if not self.knows(x):
            return None
        # It was made as a view of what nobody else knows: other views of that may have been used.
        shadow = self.of(x)
        taken = told_apart(shadow).copy()
        shadow[...] = 0.0
        self.taken_in_part.append(self.memories[id(owner_of(x))][1])
        return taken

    def born(self, x: Any, x_bar: Any) -> Any:
        """The cotangent of what an operation has just made: of an array what its shadow holds, of a number `x_bar`."""
        return accumulate(self.take(x), x_bar) if isinstance(x, np.ndarray) else x_bar

    def read(self, x: Any, d: Any) -> Any:
        """The cotangent of an argument: of an array, which has it as a whole, in memory of its own."""
        if not isinstance(x, np.ndarray) or x.dtype.kind not in "fciu":
            return d
        if type(d) is np.ndarray and d.shape == x.shape and not self.knows(x):
            return d.copy()  # which the adjoint may have given to others too
        shadow = self.of(x)
        if shadow.base is not None and overlaps_itself(shadow) and np.any(shadow):
            found = "entries of an argument are one place in memory, and something is written"
            raise MutationError(found, None, "Pass x.copy().")
        x_bar = shadow.copy()
        shadow[...] = 0.0
        return x_bar if is_structural_zero(d) else accumulate(x_bar, d)

    def check_taken(self) -> None:
        """Refuse, at the end, if there are cotangents that nobody took: of an array of which only views were handed on by who
        made it."""
        if any(memory.any() for memory in self.taken_in_part):
            found = "a function returned a view of an array that it made, and more of the array was used by way of the view"
            raise MutationError(found, None, "Return the array itself, or a copy of the view.")

    def made_for(self, x: Any) -> Any:
        """A shadow for an array that has none."""
        if not isinstance(x, np.ndarray):
            raise MissingRuleError(f"a {type(x).__name__} is written into", None, "Write into arrays.")
        if x.dtype.kind not in "fciu":
            made = " np.vectorize(f, otypes=[float]) makes one, np.frompyfunc does not." if x.dtype.kind == "O" else ""
            found, remedy = f"an array of {x.dtype}", f"Convert it to an array of floats.{made}"
            raise MissingRuleError(f"{found} takes part in a differentiated computation", None, remedy)
        owner = owner_of(x)
        known = self.memories.get(id(owner))
        if known is None:
            if owner is x and x.flags.c_contiguous:
                shadow = np.zeros(x.shape, cotangent_dtype(x.dtype))
                self.memories[id(x)] = (x, shadow, [])
                return shadow
            dtype = memory_dtype(owner, x)
            if dtype.kind not in "fciu":
                raise other_view(x, dtype)
            memory = np.zeros(extent(owner)[1] // dtype.itemsize, cotangent_dtype(dtype))
            known = self.memories[id(owner)] = (owner, memory, [])
        known[2].append(id(x))
        return same_view(x, owner, known[1].reshape(-1))
