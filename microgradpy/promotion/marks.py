"""A `try` while its body is walked, and the points in it from which an exception may come."""

from __future__ import annotations

from typing import Any, final

from microgradpy.dataclasses import dataclass
from microgradpy.ir.nodes import Handler, Location, Op, Opcode, Var
from microgradpy.promotion.findings import Escapes
from microgradpy.promotion.places import Fields, Known, Object, Place


@final
@dataclass(eq=False, slots=True)
class Mark:
    """A point in the body of a `try` from which an exception may come: what was said there of the variables that the handlers
    see, and what the fields were. `op` stands there until it is known what else the handlers see."""

    op: Op
    said: tuple[Known, ...]
    fields: Fields


@final
class Attempt:
    """A `try` while its body is walked. `before` are the fields where it begins, `said` what its last mark says of the
    variables that the handlers see; None where that depends on the way. `depth` is the number of loops around."""

    def __init__(
        self, scope: Var, before: Fields, where: Location, depth: int = 0, handlers: tuple[Handler, ...] = ()
    ) -> None:
        self.handlers = handlers
        self.thrown: list[tuple[Op, int, Var, Object]] = []
        """What is raised in sight: at which mark, for which handler, and what it is."""
        self.scope, self.before, self.where = scope, before, where
        self.places = {place for place, _ in before}
        self.said: tuple[Known, ...] | None = ()
        self.marks: list[Mark] = []
        self.depth = depth
        self.loops: set[Any] = set()
        """The outermost loops in its body that have marks inside."""

    def mark(self, said: tuple[Known, ...], fields: Fields, where: Location) -> Op:
        """What the program says, at a point of the body."""
        self.said = said
        op = Op(Opcode.MARK, (), (), payload=self.scope, from_user=False, where=where)
        self.marks.append(Mark(op, said, dict(fields)))
        return op

    def changed(self, place: Place, name: Any, fields: Fields, loops: list[Any], where: Location) -> Op:
        """The same after a write."""
        is_new = (place, name) not in self.before and not isinstance(place, Object)
        if is_new or self.said is None:
            raise Escapes(place.origin, is_tried=True)
        self.loops.update(loops[self.depth : self.depth + 1])
        return self.mark(self.said, fields, where)

    def again(self, fields: Fields, loops: list[Any]) -> Op:
        """The same after a loop that has changed fields."""
        place, name = next(key for key, known in self.before.items() if fields.get(key) is not known)
        return self.changed(place, name, fields, loops, self.where)
