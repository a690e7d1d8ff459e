"""Which cotangents have the zeros of a selection: strong ones, that stay zero through an infinite slope.

    y = x[i]              x_bar is zero but for one entry, whatever the slopes are that it is multiplied with
    z = x if c else y     so is the cotangent of what was not chosen
"""

from __future__ import annotations

from microgradpy.ad.buffers import Buffers
from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.kinds import BOOL
from microgradpy.ir.nodes import Const, Value, Var, operator_constant

Known = bool | Var
"""What is known now, or a variable that will be true or false."""


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
