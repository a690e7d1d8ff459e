"""The one mutable helper: collects statements into regions, and keeps what is proven of each variable."""

from __future__ import annotations

from typing import final

from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.ir.input_kinds import kind_of, slice_kind_of
from microgradpy.ir.kinds import UNASSIGNED, UNKNOWN, Array, Kind
from microgradpy.ir.nodes import (
    NOWHERE,
    UNDEFINED,
    Const,
    Location,
    Op,
    Opcode,
    Region,
    Statement,
    Terminator,
    Value,
    Var,
    fresh,
)


@final
class OpenRegion:
    """The block in which a region is open."""

    __slots__ = ("_around", "_statements")

    def __init__(self, around: list[list[Statement]], statements: list[Statement]) -> None:
        self._around, self._statements = around, statements

    def __enter__(self) -> list[Statement]:
        self._around.append(self._statements)
        return self._statements

    def __exit__(self, *_: object) -> None:
        self._around.pop()


@dataclass
class Builder:
    """Statements go to the innermost open region. `where` is the location given to new operations."""

    kinds: dict[Var, Kind] = field(default_factory=dict)
    producers: dict[Var, Op] = field(default_factory=dict)
    where: Location = NOWHERE
    open_regions: list[list[Statement]] = field(default_factory=lambda: [[]])

    def kind(self, value: Value) -> Kind:
        if isinstance(value, Var):
            return self.kinds.get(value, UNKNOWN)
        match value:
            case Const(value=slice() as constant):
                return slice_kind_of(constant.start, constant.stop, constant.step)
            case Const(value=constant):
                return kind_of(constant)
        assert value is UNDEFINED
        return UNASSIGNED

    def variable(self, kind: Kind = UNKNOWN, hint: str = "", user_named: bool = False) -> Var:
        var = fresh(hint, user_named)
        self.know(var, kind)
        return var

    def know(self, var: Var, kind: Kind) -> None:
        """Record what is proven of a variable; axes that have no symbol yet get one of their own."""
        if isinstance(kind, Array):
            axes = kind.shape or (None,) * (1 if kind.ndim is None else kind.ndim)
            symbols = tuple((var.id, number) if axis is None else axis for number, axis in enumerate(axes))
            kind = Array(kind.ndim, kind.dtype, symbols)
        self.kinds[var] = kind

    def add(self, statement: Statement) -> None:
        self.open_regions[-1].append(statement)
        if isinstance(statement, Op):
            for result in statement.results:
                self.producers[result] = statement

    def operation(
        self,
        callee: Opcode | Value,
        arguments: tuple[Value, ...],
        keywords: tuple[tuple[str, Value], ...] = (),
        *,
        kinds: tuple[Kind, ...] = (UNKNOWN,),
        hints: tuple[Var | str, ...] = (),
        payload: object = None,
        from_user: bool = False,
    ) -> tuple[Var, ...]:
        """Append an operation with one new variable per kind; a hint is a name, or a variable to be named like."""
        results = []
        for index, kind in enumerate(kinds):
            hint = hints[index] if index < len(hints) else ""
            if isinstance(hint, Var):
                results.append(self.variable(kind, hint.hint, hint.user_named))
            else:
                results.append(self.variable(kind, hint))
        self.add(Op(callee, arguments, tuple(results), keywords, payload, from_user, self.where))
        return tuple(results)

    def rename(self, var: Var, hint: str, user_named: bool) -> Var:
        """Give a variable another name if an operation of the innermost open region defines it; if not, it keeps its
        own."""
        if var not in self.producers:
            return var
        statements = self.open_regions[-1]
        for index in reversed(range(len(statements))):
            statement = statements[index]
            if isinstance(statement, Op) and var in statement.results:
                named = Var(var.id, hint, user_named)
                results = tuple(named if result == var else result for result in statement.results)
                statements[index] = renamed = replace(statement, results=results)
                self.producers.update(dict.fromkeys(results, renamed))
                return named
        return var

    def region(self, statements: list[Statement] | None = None) -> OpenRegion:
        """Open a nested region, or go on with one; its statements are in the list after the block."""
        return OpenRegion(self.open_regions, [] if statements is None else statements)

    @staticmethod
    def seal(statements: list[Statement], terminator: Terminator) -> Region:
        return Region(tuple(statements), terminator)
