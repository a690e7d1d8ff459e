"""What an arm of an `If` saves, as one value where it is much.

    if mode == 1:                      if mode == 1:
        y = f(x)                           y = f(x)
        ...                                ...
        ... = None                         branch = (y, ...)
    else:                                  branch_1 = None
        z = g(x)                       else:
        ...                                z = g(x)
        y = None                           ...
        ... = None                         branch_1 = (z, ...)
                                           branch = None

Otherwise each of many branches (`elif mode == 3`) sets to None whatever all others save, and the text grows with the square of
their number. The adjoint takes such a value apart where it undoes the arm; what it reads elsewhere too is saved by itself.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Collection
from collections.abc import Set as AbstractSet
from typing import final

from microgradpy.ad.saved_attempts import Available, Tape, Wanted
from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.nodes import Const, For, If, Op, Opcode, Records, Region, Statement, Var, While, fresh
from microgradpy.ir.traversal import regions, terminator_values, uses

_MANY = 12
"""From so many values on that an arm saves: a few are easier to read with names of their own."""

Place = tuple[tuple[Statement, int], ...]
"""Where a region is: the statements around it, from the outermost, each with the number of its region."""


@final
@dataclass(frozen=True, slots=True)
class Arm:
    """One arm of an `If` of the primal, and the numbers (`start` to before `end`) of what it computes, in the frame `home`."""

    statement: If
    side: int
    home: Tape | None
    start: int
    end: int


@final
@dataclass(slots=True)
class SavedArms:
    """The `whole` of each arm that is saved as one value, with its members; which variables are `members` of any; and what
    the arms of the adjoint take apart, each by the identity of its `If` and its number."""

    whole: dict[tuple[int, int], tuple[Var, tuple[Var, ...]]] = field(default_factory=dict)
    members: set[Var] = field(default_factory=set)
    taken_apart: dict[tuple[int, int], list[Statement]] = field(default_factory=dict)

    def opened(self, statement: If, side: int, arm: Region) -> Region:
        """An arm of the adjoint, with what it takes apart first."""
        first = self.taken_apart.get((id(statement), side), ())
        return Region((*first, *arm.statements), arm.terminator) if first else arm

    def closed(self, statement: If, side: int, arm: Region, found: Available) -> tuple[Region, Available]:
        """An arm of the primal, and what is saved of it."""
        if (id(statement), side) not in self.whole:
            return arm, found
        whole, members = self.whole[id(statement), side]
        values = tuple(found.get(var, Const(None)) for var in members)
        made = Op(Opcode.TUPLE, values, (whole,), from_user=False)
        own = set(members)
        rest = {var: value for var, value in found.items() if var not in own}
        return Region((*arm.statements, made), arm.terminator), rest | {whole: whole}


def save_arms_as_one(
    arms: list[Arm],
    wanted: Wanted,
    order: dict[Var, int],
    adjoint: Region,
    alone: AbstractSet[object],
    counted: Collection[Tape],
    called: Callable[[Var], Var],
) -> SavedArms:
    """Decide which arms (the inner ones first) are saved as one value, which `wanted` has then besides their members. `order`
    numbers the variables of the primal, `alone` are to stay by themselves, loops whose tape is `counted` have no records, and
    `called` gives variables their names in the adjoint."""
    saved = SavedArms()
    fields = {home: sorted((order[var], var) for var in found - alone if var in order) for home, found in wanted.items()}
    conditions = Counter(arm.statement.condition for arm in arms if arm.side == 0)
    places: dict[Var, Place] | None = None
    for arm in arms:
        known = fields.get(arm.home, [])
        inside = known[bisect_left(known, (arm.start,)) : bisect_left(known, (arm.end,))]
        if len(inside) < _MANY or conditions[arm.statement.condition] > 1 or arm.home in counted:
            continue
        if places is None:
            places = _places_of_reads(adjoint)
        undone = [(number, var, place) for number, var in inside if (place := _where_undone(arm, places.get(var, ()), counted))]
        if not undone:
            continue
        ((most, _),) = Counter(id(place[-1][0]) for *_, place in undone).most_common(1)
        chosen = [each for each in undone if id(each[2][-1][0]) == most]
        if len(chosen) < _MANY:
            continue
        place, whole = chosen[0][2], fresh("branch")
        members = tuple(var for _, var, _ in chosen)
        saved.whole[id(arm.statement), arm.side] = whole, members
        saved.members.update(members)
        opened, side = place[-1]
        apart = Op(Opcode.UNPACK, (whole,), tuple(map(called, members)), from_user=False)
        saved.taken_apart.setdefault((id(opened), side), []).insert(0, apart)
        places[whole] = place
        wanted[arm.home].add(whole)
        fields[arm.home] = [each for each in known if each[1] not in saved.members]
        order[whole] = chosen[0][0]
        insort(fields[arm.home], (order[whole], whole))
    return saved


def _where_undone(arm: Arm, place: Place, counted: Collection[Tape]) -> Place:
    """The innermost part of a place in the adjoint that is there only where the arm was taken, in the loop over the records of
    its frame; nothing if there is none."""
    for end in range(len(place), 0, -1):
        statement, side = place[end - 1]
        if isinstance(statement, For | While):
            return ()
        if isinstance(statement, If) and side == arm.side and statement.condition == arm.statement.condition:
            loops = [each for each, _ in place[:end] if isinstance(each, For | While)]
            tapes = [each.items.tape if isinstance(each, For) and isinstance(each.items, Records) else None for each in loops]
            is_recorded = None not in tapes and all(tape not in counted for tape in tapes)
            return place[:end] if is_recorded and (tapes or [None])[-1] == arm.home else ()
    return ()


def _places_of_reads(adjoint: Region) -> dict[Var, Place]:
    """The innermost region of the adjoint in which all reads of a variable are."""
    places: dict[Var, Place] = {}

    def visit(region: Region, place: Place) -> None:
        for statement in region.statements:
            note(uses(statement), place)
            for side, inner in enumerate(regions(statement)):
                visit(inner, (*place, (statement, side)))
        note(terminator_values(region.terminator), place)

    def note(values: tuple[object, ...], place: Place) -> None:
        for value in values:
            if isinstance(value, Var):
                places[value] = _common(places[value], place) if value in places else place

    visit(adjoint, ())
    return places


def _common(first: Place, second: Place) -> Place:
    if first is second:
        return first
    count = 0
    for (one, side), (other, other_side) in zip(first, second, strict=False):
        if one is not other or side != other_side:
            break
        count += 1
    return first[:count]
