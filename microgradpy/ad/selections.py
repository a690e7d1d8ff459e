"""What an adjoint knows of its cotangents: which it may write into (`Buffers`), and which have the zeros of a selection: strong
ones, that stay zero through an infinite slope.

    y = x[i]              x_bar is zero but for one entry, whatever the slopes are that it is multiplied with
    z = x if c else y     so is the cotangent of what was not chosen
"""

from __future__ import annotations

from collections.abc import Sequence as Values

from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.kinds import BOOL, Array, Sequence
from microgradpy.ir.nodes import Const, Value, Var, operator_constant
from microgradpy.passes.typed_builder import TypedBuilder

Known = bool | Var
"""What is known now, or a variable that will be true or false."""


@dataclass
class Buffers(TypedBuilder):
    """An adjoint knows of the cotangents that it writes into: whose memory nobody else names.

        a_bar[i] += d         `a_bar` is owned, and is written
        r_bar = a_bar         after a branch it has another name: who writes into `r_bar` writes into `a_bar`

    What a loop carries counts as owned in its body; if it turns out to be written, it is made so before the loop.

    `owned` are the buffers that nothing else names, which may be written into in place; `written` those that were, under all
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


@dataclass
class Selections(Buffers):
    """An adjoint that keeps the zeros of selections (see `zeros`) knows by `selected` of which cotangents every zero is strong;
    `passes` says so of those that the call gives which is being undone. `selects`: any cotangent may have such zeros."""

    keeps_zeros: bool = field(default=False, kw_only=True)
    selected: dict[Var, Known] = field(default_factory=dict, kw_only=True)
    passes: Known = field(default=False, kw_only=True)
    selects: bool = field(default=False, kw_only=True)

    def is_selected(self, cotangent: Value) -> Known:
        """Whether the zeros of a cotangent are those of a selection; a variable where that is found out when it runs."""
        return self.selected.get(cotangent, self.passes) if isinstance(cotangent, Var) else True

    def is_surely_selected(self, cotangent: Value) -> bool:
        """The same where it has to be known now: NaN does no harm where a zero would be wrong."""
        return self.is_selected(cotangent) is True

    def select(self, cotangent: Value, is_selected: Known) -> None:
        if isinstance(cotangent, Var):
            self.selected[cotangent] = is_selected

    def both(self, left: Known, right: Known) -> Known:
        """Whether two things hold, of which it may be found out when it runs."""
        if isinstance(left, bool) or isinstance(right, bool):
            return (right if left else False) if isinstance(left, bool) else (left if right else False)
        if left == right:
            return left
        return self.operation(operator_constant("and_"), (left, right), kinds=(BOOL,))[0]


def as_value(is_known: Known) -> Value:
    """What is known as an operand."""
    return Const(is_known) if isinstance(is_known, bool) else is_known
