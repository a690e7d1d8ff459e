"""Cotangents that the adjoint writes into: whose memory nobody else names.

    a_bar[i] += d         `a_bar` is owned, and is written
    r_bar = a_bar         after a branch it has another name: who writes into `r_bar` writes into `a_bar`

What a loop carries counts as owned in its body; if it turns out to be written, it is made so before the loop.
"""

from __future__ import annotations

from collections.abc import Sequence as Values

from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.kinds import Array, Sequence
from microgradpy.ir.nodes import Value, Var
from microgradpy.passes.typed_builder import TypedBuilder


@dataclass
class Buffers(TypedBuilder):
    """`owned` are the buffers that nothing else names, which may be written into in place; `written` those that were, under all
    their names: `handed` has the earlier ones of a name."""

    owned: set[Var] = field(default_factory=set, kw_only=True)
    written: set[Var] = field(default_factory=set, kw_only=True)
    handed: dict[Var, frozenset[Var]] = field(default_factory=dict, kw_only=True)

    def write(self, buffer: Var) -> None:
        """Note that a buffer is written into."""
        self.written |= {buffer, *self.handed.get(buffer, ())}

    def hand_on(self, buffers: tuple[Value, ...], name: Var) -> None:
        """Another name for a buffer, which is one of these, that nobody else names any more."""
        self.owned.add(name)
        earlier = {buffer for buffer in buffers if isinstance(buffer, Var) and buffer != name}
        if earlier:
            self.handed[name] = frozenset(earlier.union(*(self.handed.get(buffer, ()) for buffer in earlier)))

    def is_alone(self, buffer: Value, others: Values[Value]) -> bool:
        """Whether a value is a buffer that has an owner, who hands it on among these values under this name only."""
        return buffer in self.owned and self.is_handed_on(buffer) and others.count(buffer) == 1

    def is_handed_on(self, cotangent: Value) -> bool:
        """Whether this is a buffer that its owner hands on with the cotangent."""
        return isinstance(self.kind(cotangent), Sequence | Array)
