"""The heads of calls such as `jvp(f, args, tangents)`: what they go through once `f` has been given arguments of the same types
some times.

    def called(f, args, dots):
        try:
            x0, = args
            t0, = dots
            holds = not k0.blocks and f.__code__ is k1 and k2.sin is k3 and type(x0) is k4 and type(t0) is k4 and t0
        except unusual:
            return None
        if holds:
            y, dy = k5(x0, t0)
            if type(dy) is type(y) is k4:
                return y, dy
            return finish(f, args, y, dy)

As those of gradient functions that somebody holds (`microgradpy.heads`): all that the compiled code relies on is looked at, and
what does not hold is left to the general road. A head is kept for as long as the function that it is for, and holds neither it
nor what it captured.
"""

from __future__ import annotations

import sys
import types
import weakref
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, final

from microgradpy.binding import Binding
from microgradpy.cache import CACHE, CACHE_SIZE, Unit
from microgradpy.dataclasses import dataclass
from microgradpy.gradient_functions import MOST_PATIENCE, PATIENCE
from microgradpy.heads import Constants, is_input, is_simple, is_usual, tests_of_code, tests_of_inputs
from microgradpy.isolation import is_isolated
from microgradpy.linking import bind_awaited
from microgradpy.rules.registry import rrule
from microgradpy.runtime.modes import RUN

UNUSUAL = (AttributeError, LookupError, TypeError, ValueError)
"""What the tests of a head raise: another number of arguments, a name was deleted, a cell is empty."""
Head = Callable[..., Any]
"""Returns None for what it does not take."""


@final
@dataclass(slots=True, eq=False)
class _Calls:
    """How many calls of a function have gone the general road, and after how many there is a head."""

    function: weakref.ref[types.FunctionType]
    count: int = 0
    patience: int = PATIENCE


@final
class CallHeads:
    """The heads of the calls of one of the public functions, by the identity of the function that it is given."""

    def __init__(self) -> None:
        self.heads: dict[int, Head] = {}
        self._calls: dict[int, _Calls] = {}

    def went(self, make: Callable[..., Head | None], f: Any, *call: Any) -> None:
        """Note a call that has gone the general road; `make(f, *call)` makes the head for such calls, if they can have one."""
        if type(f) is not types.FunctionType:
            return
        known = self._calls.get(id(f))
        if known is None or known.function() is not f:
            if len(self._calls) >= CACHE_SIZE:
                self.forget()
            known = _Calls(weakref.ref(f, partial(self._gone, id(f), sys.is_finalizing)))
            self._calls[id(f)] = known
        known.count += 1
        if known.count >= known.patience:
            known.count, known.patience = 0, min(2 * known.patience, MOST_PATIENCE)
            head = make(f, *call) if is_usual() and not RUN.is_inside else None
            if head is not None:
                CACHE.hold(self)
                self.heads[id(f)] = head

    def forget(self) -> None:
        """Have no heads any more, as if there had been no calls."""
        self.heads.clear()
        self._calls.clear()

    def _gone(self, identity: int, is_finalizing: Callable[[], bool], gone: object) -> None:
        known = None if is_finalizing() else self._calls.get(identity)
        if known is not None and known.function is gone:
            self.heads.pop(identity, None)
            self._calls.pop(identity, None)


@final
@dataclass(frozen=True, slots=True)
class Straight:
    """What a head is made of: the names of the `inputs` of the compiled code, lines that read them and tests, for the call of a
    function with arguments that are called x0, x1, ..."""

    inputs: list[str]
    reads: list[str]
    tests: list[str]
    k: Constants

    def head(self, parameters: str, body: Iterable[str]) -> Head:
        """The head with these parameters, which does this if the tests hold."""
        lines = [*self.reads, f"holds = {' and '.join(self.tests)}"]
        text = _TEXT.format(parameters=parameters, looks="\n        ".join(lines), body="\n        ".join(body))
        names = {name: self.k.values[identity] for identity, name in self.k.names.items() if identity in self.k.values}
        space: dict[str, Any] = {**names, "unusual": UNUSUAL, "__name__": __name__}
        exec(compile(text, __file__, "exec", dont_inherit=True), space)
        called: Head = space["called"]
        return called


_TEXT = """
def called({parameters}):
    try:
        {looks}
    except unusual:
        return None
    if holds:
        {body}
    return None
"""


def straight(f: types.FunctionType, bound: Binding, count: int, unit: Unit, *halves: Any, first: Unit) -> Straight | None:
    """What the head begins with of a call with `count` arguments, bound like this, that runs these halves of a unit which was
    made of the `first` one; None if there can be none."""
    if not is_simple(f.__code__) or unit.assumes_real or not all(map(is_input, bound.values)):
        return None
    bind_awaited(*halves)  # what was not reached yet may be by the next call
    if not is_isolated(unit, *halves):
        return None
    k = Constants(names={id(f): "f"})
    captured = [f"c{index}" for index in range(bound.captured)]
    given = [f"x{index}" for index in range(count)]
    defaults = [f"d{index}" for index in range(len(bound.values) - bound.captured - count)]
    reads = [f"{name} = f.__closure__[{index}].cell_contents" for index, name in enumerate(captured)]
    reads += [f"{name} = f.__defaults__[{index - len(defaults)}]" for index, name in enumerate(defaults)]
    inputs = [*captured, *given, *defaults]
    # A debugger is shown the general road, and the text of the general adjoint.
    tests = [*tests_of_inputs(inputs, bound.values, k), f"{k(rrule)}.version == {unit.version} and {k(sys.gettrace)}() is None"]
    return Straight(inputs, reads, [*tests, *tests_of_code(f, unit.guards.together_with([first.guards]), k)], k)


def unpacked(names: list[str]) -> str:
    """What a tuple is assigned to that has exactly these items."""
    return f"({', '.join(names)}{',' * (len(names) == 1)})"
