"""A check of the emitter by itself: an operation that is written inside of its user reads what it would have read in
its own place. Between the two, no statement on the way may assign a name that it reads (a wrong gradient otherwise)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from microgradpy.codegen.nesting import Nesting
from microgradpy.dataclasses import dataclass, field
from microgradpy.errors import CompilerBug
from microgradpy.ir.nodes import Break, Continue, Terminator, Value, Var, Yield
from microgradpy.ir.traversal import uses


@dataclass(slots=True)
class OrderCheck:
    """Follows the emitter through the text."""

    nesting: Nesting
    names: Mapping[Var, str]
    _clock: int = 0
    # When each name was last assigned on the way here, when each nested operation would have run, and what was assigned
    # on the ways to the ends of the iterations of each enclosing loop.
    _assigned: dict[str, int] = field(default_factory=dict)
    _due: dict[Var, int] = field(default_factory=dict)
    _left: list[dict[str, int]] = field(default_factory=list)

    def assign(self, variables: Iterable[Var]) -> None:
        self._clock += 1
        self._assigned.update({self.names[var]: self._clock for var in variables})

    def postpone(self, result: Var) -> None:
        """An operation that is nested would have run here."""
        self._due[result] = self._clock

    def read(self, value: Value) -> None:
        """Something reads a value here, and runs what is nested in it."""
        nested = self.nesting.nested
        if not isinstance(value, Var) or value not in nested or value not in self._due:
            return
        for operand in uses(nested[value]):
            self.read(operand)
            if isinstance(operand, Var) and operand not in nested:
                name = self.names[operand]
                if self._assigned.get(name, 0) > self._due[value]:
                    raise CompilerBug(f"{name!r} is assigned between a nested operation and its user")

    def start_region(self) -> dict[str, int]:
        return dict(self._assigned)

    def end_region(self, start: dict[str, int], terminator: Terminator) -> None:
        """What a region assigns is assigned after it only if it is left by falling off its end."""
        if isinstance(terminator, Continue | Break):
            self._merge(self._left[-1], self._assigned)
        if not isinstance(terminator, Yield):
            self._assigned = start

    def start_loop(self) -> None:
        self._left.append({})

    def end_loop(self) -> None:
        self._merge(self._assigned, self._left.pop())

    def _merge(self, times: dict[str, int], others: Mapping[str, int]) -> None:
        for name, time in others.items():
            times[name] = max(time, times.get(name, 0))
