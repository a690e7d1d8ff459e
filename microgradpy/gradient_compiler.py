"""The road to the adjoint for the seed 1, which a gradient takes instead of the general one:

    adjoint that is not written in place yet -> passes.unit_seed -> passes.fresh_arrays -> codegen -> load
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import compress
from typing import Any, final

import numpy as np

from microgradpy.cache import Adjoint, Unit, lock
from microgradpy.codegen.loading import DUMP_VARIABLE
from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.verifier import verify
from microgradpy.linking import Source, link, load_adjoint, making
from microgradpy.passes.fresh_arrays import write_in_place
from microgradpy.passes.unit_seed import doubles, with_unit_seed
from microgradpy.pipeline import VERIFY
from microgradpy.runtime.room import with_room

EXOTIC = frozenset((Decimal, Fraction))
"""The types of numbers that have no cotangent of their own kind."""


def unit_seed_adjoint(unit: Unit, are_double: tuple[bool, ...]) -> Adjoint | None:
    """The adjoint of a unit for the seed 1 and inputs some of which are of double precision; None if there is nothing to be
    gained, or if somebody looks on: at the generated files, at each result, or at where the pullback stops."""
    if not any(are_double) or unit.tracks or unit.mode.checks or unit.mode.stops or os.environ.get(DUMP_VARIABLE):
        return None
    return _made(unit, are_double)


@with_room
def _made(unit: Unit, are_double: tuple[bool, ...]) -> Adjoint | None:
    with lock:
        source: Source | None = unit.source
        if source is not None and are_double not in unit.at_one:
            with making(source):
                unit.at_one[are_double] = _folded(unit, source, are_double)
        return unit.at_one.get(are_double)


def _folded(unit: Unit, source: Source, are_double: tuple[bool, ...]) -> Adjoint | None:
    primal, general = source.primal, source.adjoint
    known = doubles(primal, compress(primal.inputs, are_double))
    folded = with_unit_seed(general, general.parameters[-1].var, doubles(general, known))
    if folded is None:
        return None
    adjoint = write_in_place(folded)
    if VERIFY:
        verify(adjoint)
    made, bindings = load_adjoint(unit, source, adjoint, f"{unit.name}_gradient")
    link(made.run, bindings)
    return made


@final
class _Adjoints:
    """The adjoints of the calls of one signature, of which a gradient takes the one for the seed 1 if there is one:
    `run(saved, seed)`. Made when they are wanted."""

    __slots__ = ("at_one", "fresh", "fresh_at_one", "is_asked", "run")

    def __init__(self) -> None:
        self.is_asked = False
        self.at_one: Callable[..., Any] | None = None
        self.fresh_at_one: tuple[bool, ...] = ()
        self.run: Callable[..., Any] | None = None
        self.fresh: tuple[bool, ...] = ()

    def is_ready(self, plan: Plan, values: list[Any]) -> bool:
        """Whether there is an adjoint for the seed 1. A debugger is shown the general one."""
        if self.is_asked:
            return self.at_one is not None and sys.gettrace() is None
        if sys.gettrace() is not None:
            return False
        are_double = tuple(type(value) in _WIDE and value.dtype.char == "d" for value in values)
        made = unit_seed_adjoint(plan.unit, are_double)
        if made is not None:
            self.at_one, self.fresh_at_one = made.run, plan.by_input(made.fresh)
        self.is_asked = True
        return self.at_one is not None

    def make(self, plan: Plan) -> Callable[..., Any]:
        """The adjoint for any seed."""
        made = plan.unit.reverse
        assert made is not None
        self.run, self.fresh = made.run, plan.by_input(made.fresh)
        return made.run


_WIDE = (np.ndarray, np.float64)


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """How calls of one signature run. `places` has, per input, the position of its cotangent in what the adjoint returns;
    `single`: the adjoint returns one cotangent bare.
    `leading`: the differentiated inputs are the first ones, and several. `shared`: the variables that the function shares with
    others, if its unit tracks writes, which depends on them."""

    unit: Unit
    places: tuple[int | None, ...]
    single: bool
    exotic: bool
    leading: bool
    shared: tuple[frozenset[str], ...] = ()
    watches: bool = False
    """Whether code may run in it that is not compiled, so that it is looked whether the arguments are still the same."""
    adjoints: _Adjoints = field(default_factory=_Adjoints)

    @classmethod
    def of(cls, unit: Unit, values: list[Any], shared: tuple[frozenset[str], ...] = ()) -> Plan:
        active = [index for index, flag in enumerate(unit.active) if flag]
        places = tuple(active.index(index) if flag else None for index, flag in enumerate(unit.active))
        leading = len(active) > 1 and active == list(range(len(active)))
        watches = not unit.tracks and unit.is_to_be_watched
        return cls(unit, places, len(active) == 1, not EXOTIC.isdisjoint(map(type, values)), leading, shared, watches)

    def by_input(self, fresh: tuple[bool, ...]) -> tuple[bool, ...]:
        """What is said of each cotangent of an adjoint, for each input."""
        return tuple(place is not None and fresh[place] for place in self.places)

    def adjoint_of_gradient(self) -> tuple[Callable[..., Any], tuple[bool, ...], bool] | None:
        """The adjoint that a gradient takes, of which inputs it makes a cotangent that is nobody else's, and whether it is for
        the seed 1 only; None until that is decided, and where nothing is differentiated."""
        adjoints = self.adjoints
        if not adjoints.is_asked or not any(self.unit.active):
            return None
        if adjoints.at_one is not None:
            return adjoints.at_one, adjoints.fresh_at_one, True
        run = adjoints.run or adjoints.make(self)
        return run, adjoints.fresh, False
