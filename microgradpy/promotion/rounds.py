"""Loops that are written out, iteration by iteration: those over namedtuples in sight, and over what arguments hold."""

from __future__ import annotations

from typing import Any

from microgradpy.ir.nodes import For, Region, Statement, Var, Yield
from microgradpy.ir.traversal import item_sources
from microgradpy.promotion import classes
from microgradpy.promotion.families import Families
from microgradpy.promotion.findings import Escapes, Origin
from microgradpy.promotion.fusing import as_step
from microgradpy.promotion.given import MOST_ROUNDS, rounds_of
from microgradpy.promotion.places import Frame, Known, Object, first_origin, is_thing


class Rounds(Families):
    """What is done with such loops."""

    def statement(self, statement: Statement, frame: Frame) -> None:
        rounds = None
        if isinstance(statement, For) and self.is_written_out(statement, frame):
            rounds = rounds_of(self, statement.items, statement.body, frame)
        if rounds is None:
            super().statement(statement, frame)
            return
        assert isinstance(statement, For)
        region = as_step(statement.body)
        if region is None or len(rounds) > MOST_ROUNDS:
            raise Escapes(self.origin_of_items(statement, frame))
        self.write_out(statement, region, rounds, frame)

    def is_written_out(self, statement: For, frame: Frame) -> bool:
        """Whether a loop may be written out, iteration by iteration: over the items of namedtuples in sight."""
        return any(_is_record(self.known(value, frame)) for value in item_sources(statement.items))

    def origin_of_items(self, statement: For, frame: Frame) -> Origin:
        known = tuple(self.known(value, frame) for value in item_sources(statement.items))
        return first_origin(known) if any(map(is_thing, known)) else self.first_root()

    def first_root(self) -> Origin:
        """The first of what is in sight without being made in the function."""
        return ()

    def items(self, known: Known) -> tuple[Known, ...] | None:
        """The items of something in sight, if these are known."""
        return self.items_of_record(known) if isinstance(known, Object) and _is_record(known) else None

    def pairs(self, known: Known) -> list[tuple[Any, Known]] | None:
        """The same of a dict."""
        return None

    def write_out(self, statement: For, region: Region, rounds: list[dict[Var, Known]], frame: Frame) -> None:
        """The iterations of a loop, one after the other."""
        origin = self.origin_of_items(statement, frame)
        carried = [self.known(value, frame) for value in statement.initial]
        copies, frame.copies = frame.copies, True
        for items in rounds:
            for var, known in (*zip(statement.parameters, carried, strict=True), *items.items()):
                self.bind(var, known, frame)
            for inner in region.statements:
                self.statement(inner, frame)
            if not isinstance(region.terminator, Yield):
                raise Escapes(origin)  # it always raises
            carried = [self.known(value, frame) for value in region.terminator.values]
        frame.copies = copies
        for result, known in zip(statement.results, carried, strict=True):
            self.bind(result, known, frame)


def _is_record(known: Known) -> bool:
    return isinstance(known, Object) and classes.is_record(known.cls)
