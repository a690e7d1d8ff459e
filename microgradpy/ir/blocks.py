"""The IR as basic blocks with block arguments: a view derived from the structured form, for printing and for people.

Before (structured, see printer.py)       After
    while with %4 = %2:                       br 2 (%2)
      %5 = %4 > 1.0                       2: (%4)
      yield %5                              %5 = %4 > 1.0
    do:                                     br 4 unless %5
      %6 = %4 / 2.0                         br 3
      continue %6                         3:
    end %7                                  %6 = %4 / 2.0
    return %7                               br 2 (%6)
                                          4:
                                            return %4

- Block 1 is the entry; its parameters are the function itself and the function's parameters, and its first instructions
  read the captured variables from the function, as fields.
- A loop has a header block whose parameters are the loop state. The header of a `for` asks an iterator for an item.
- A join point has a parameter for a result only if the branches to it bring different values; otherwise the value
  stands for the result. (A `while` without `break` is left by one branch, so what follows uses the loop state itself.)
- A region without statements has no block of its own: its branch stands where the block would have been entered.
- The body of a `try` is entered by a block that says which blocks its exceptions go to; a `mark` gives these blocks
  their arguments.
- Blocks are numbered, and stand, in program order; what can never be reached has no block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never, final

from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.ir.block_nodes import Advance, Block, Branch, Exit, Instruction, Iterate
from microgradpy.ir.nodes import (
    NOWHERE,
    Break,
    Continue,
    For,
    Function,
    If,
    Location,
    Op,
    Opcode,
    Raise,
    Region,
    Return,
    Statement,
    Terminator,
    Try,
    Unreachable,
    Value,
    Var,
    While,
    Yield,
)
from microgradpy.ir.rewrite import map_items, map_terminator, map_uses
from microgradpy.ir.traversal import is_always_true, terminator_values


def blocks(function: Function) -> tuple[Block, ...]:
    """The basic blocks of a well-formed function, in program order. Nested functions (closures) keep their payload.

    Variables are those of the function. Those that exist in this view only (the function itself, iterators) have ids
    below 1, counted per function, so that equal functions have equal views."""
    return _Builder(function).finish()


@final
@dataclass(frozen=True, slots=True)
class Origins:
    """Where the parts of a structured function are in its blocks, as (number of the block, index): of the instructions of a
    block or of its branches. The keys are the identities of nodes, for which the function has to live.

    `instructions` has operations, and loops for what asks their iterator for an item (`iterators` for what makes it).
    `leaving` has regions for the branch that their terminator is; `entering` has regions for the branch to their first
    block, loops for the branch to their header, and handlers for the branch of the exceptions; `exhausted` has loops for the
    branch that leaves them at their end. What is not there is no branch: the next instruction simply follows."""

    instructions: dict[int, tuple[int, int]]
    iterators: dict[int, tuple[int, int]]
    leaving: dict[int, tuple[int, int]]
    entering: dict[int, tuple[int, int]]
    exhausted: dict[int, tuple[int, int]]


def blocks_and_origins(function: Function) -> tuple[tuple[Block, ...], Origins]:
    """The basic blocks of a function, and where its parts are in them."""
    builder = _Builder(function)
    return builder.finish(), builder.origins()


@dataclass(eq=False, slots=True)
class _Edge:
    target: _Draft
    arguments: tuple[Value, ...]
    unless: Value | None
    catches: tuple[Var, tuple[Value, ...]] | None = None
    where: Location = NOWHERE


@dataclass(eq=False, slots=True)
class _Draft:
    """A block under construction; it has a number once it stands among the others."""

    number: int = 0
    parameters: tuple[Var, ...] = ()
    instructions: list[Instruction] = field(default_factory=list)
    exits: list[_Exit] = field(default_factory=list)
    incoming: list[_Edge] = field(default_factory=list)


_Exit = _Edge | Return | Raise | Unreachable


@dataclass(frozen=True, slots=True)
class _Targets:
    """Where `Yield`, `Continue` and `Break` go. Outside an arm or a loop nothing goes to the blocks made by default."""

    join: _Draft = field(default_factory=_Draft)
    header: _Draft = field(default_factory=_Draft)
    leave: _Draft = field(default_factory=_Draft)


class _Builder:
    """`current` is the block that the next instruction goes to, None after a statement that never falls through.
    `stands_for` maps the results that need no block argument to their values."""

    def __init__(self, function: Function) -> None:
        self.drafts: list[_Draft] = []
        self.current: _Draft | None = None
        self.stands_for: dict[Var, Value] = {}
        self.made = 0
        self.placed: dict[str, dict[int, tuple[_Draft, int]]] = {"instructions": {}, "iterators": {}}
        self.made_for: dict[str, dict[int, _Exit]] = {"leaving": {}, "entering": {}, "exhausted": {}}
        itself = Var(0, function.name)
        entry = _Draft(parameters=(itself, *(parameter.var for parameter in function.parameters)))
        entry.instructions += [Op(Opcode.GETATTR, (itself,), (var,), payload=var.hint) for var in function.captured]
        self.place(entry)
        self.region(function.body, _Targets())

    def finish(self) -> tuple[Block, ...]:
        return tuple(
            Block(draft.number, draft.parameters, tuple(draft.instructions), tuple(map(_finished, draft.exits)))
            for draft in self.drafts
        )

    def origins(self) -> Origins:
        position = {
            id(exit_): (draft.number, index) for draft in self.drafts for index, exit_ in enumerate(draft.exits)
        }
        placed = {
            role: {key: (draft.number, index) for key, (draft, index) in found.items()} for role, found in self.placed.items()
        }
        branches = {
            role: {key: position[id(exit_)] for key, exit_ in found.items() if id(exit_) in position}
            for role, found in self.made_for.items()
        }
        return Origins(**placed, **branches)

    def place(self, draft: _Draft) -> None:
        self.drafts.append(draft)
        draft.number = len(self.drafts)
        self.current = draft

    def invent(self, hint: str) -> Var:
        self.made += 1
        return Var(-self.made, hint)

    def value(self, value: Value) -> Value:
        return self.stands_for.get(value, value) if isinstance(value, Var) else value

    def values(self, values: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(map(self.value, values))

    def edge(
        self, target: _Draft, values: Sequence[Value] = (), unless: Value | None = None, where: Location = NOWHERE
    ) -> _Edge:
        edge = _Edge(target, self.values(values), unless, None, where)
        target.incoming.append(edge)
        return edge

    def emit(self, instruction: Instruction, role: str = "", origin: object = None) -> None:
        assert self.current is not None
        if role:
            self.placed[role][id(origin)] = self.current, len(self.current.instructions)
        self.current.instructions.append(instruction)

    def leave(self, exit_: _Exit, role: str, origin: object) -> None:
        assert self.current is not None
        self.made_for[role][id(origin)] = exit_
        self.current.exits.append(exit_)

    def region(self, region: Region, targets: _Targets) -> None:
        self.statements(region.statements, targets)
        if self.current is not None:
            self.leave(self.exit(region.terminator, targets), "leaving", region)

    def statements(self, statements: Sequence[Statement], targets: _Targets) -> None:
        for statement in statements:
            if self.current is None:
                return
            self.statement(statement, targets)

    def exit(self, terminator: Terminator, targets: _Targets) -> _Exit:
        match terminator:
            case Yield(values=values):
                return self.edge(targets.join, values)
            case Continue(values=values):
                return self.edge(targets.header, values)
            case Break(values=values):
                return self.edge(targets.leave, values)
            case _:
                leaving = map_terminator(terminator, self.value)
                assert isinstance(leaving, Return | Raise | Unreachable)
                return leaving

    def statement(self, statement: Statement, targets: _Targets) -> None:
        match statement:
            case Op():
                operation = map_uses(statement, self.value)
                assert isinstance(operation, Op)
                self.emit(operation, "instructions", statement)
            case If():
                self.conditional(statement, targets)
            case While():
                self.while_loop(statement)
            case For():
                self.for_loop(statement)
            case Try():
                self.attempt(statement, targets)
            case _:
                assert_never(statement)

    def enter(self, region: Region, targets: _Targets) -> None:
        """Go on with a region: in a block of its own, or with its branch if it has nothing else."""
        if region.statements:
            block = _Draft()
            self.leave(self.edge(block), "entering", region)
            self.place(block)
        self.region(region, targets)

    def conditional(self, statement: If, outer: _Targets) -> None:
        targets = replace(outer, join=_Draft())
        condition = self.value(statement.condition)
        orelse = statement.orelse
        other: _Draft | None = None
        # There is no `return ... unless`: only an arm that merely goes somewhere else needs no block.
        if not orelse.statements and isinstance(orelse.terminator, Yield | Continue | Break):
            edge = self.exit(orelse.terminator, targets)
            assert isinstance(edge, _Edge)
            edge.unless = condition
            self.leave(edge, "leaving", orelse)
        else:
            other = _Draft()
            edge = self.edge(other, unless=condition)
            self.leave(edge, "entering", orelse)
        edge.where = statement.where
        self.enter(statement.then, targets)
        if other is not None:
            self.place(other)
            self.region(orelse, targets)
        self.join(targets.join, statement.results)

    def attempt(self, statement: Try, outer: _Targets) -> None:
        """The exceptions of the body go to the handlers with the values of its marks."""
        targets = replace(outer, join=_Draft())
        caught = []
        for handler in statement.handlers:
            bound = () if handler.exception is None else (handler.exception,)
            caught.append(_Draft(parameters=(*statement.parameters, *bound)))
            types = (statement.scope, self.values(handler.types or ()))
            self.leave(_Edge(caught[-1], (), None, types, statement.where), "entering", handler)
        self.enter(statement.body, targets)
        for handler, block in zip(statement.handlers, caught, strict=True):
            self.place(block)
            self.region(handler.body, targets)
        self.join(targets.join, statement.results)

    def while_loop(self, statement: While) -> None:
        targets = self.header(statement)
        self.statements(statement.condition.statements, targets)
        (condition,) = self.values(terminator_values(statement.condition.terminator))
        if self.current is None or is_always_true(condition):
            self.region(statement.body, targets)
        else:
            leaving = self.edge(targets.leave, statement.parameters, condition, statement.where)
            self.leave(leaving, "exhausted", statement)
            self.enter(statement.body, targets)
        self.join(targets.leave, statement.results)

    def for_loop(self, statement: For) -> None:
        iterator, more = self.invent("iterator"), self.invent("more")
        self.emit(Iterate(map_items(statement.items, self.value), iterator, statement.where), "iterators", statement)
        targets = self.header(statement)
        self.emit(Advance(iterator, more, statement.items, statement.where), "instructions", statement)
        self.leave(self.edge(targets.leave, statement.parameters, more, statement.where), "exhausted", statement)
        self.enter(statement.body, targets)
        self.join(targets.leave, statement.results)

    def header(self, statement: While | For) -> _Targets:
        targets = _Targets(header=_Draft(parameters=statement.parameters))
        self.leave(self.edge(targets.header, statement.initial), "entering", statement)
        self.place(targets.header)
        return targets

    def join(self, draft: _Draft, results: tuple[Var, ...]) -> None:
        """Go on where the edges to `draft` meet."""
        if not draft.incoming:
            self.current = None
            return
        kept = []
        for position, result in enumerate(results):
            first, *others = (edge.arguments[position] for edge in draft.incoming)
            if all(other == first for other in others):
                self.stands_for[result] = first
            else:
                kept.append(position)
        for edge in draft.incoming:
            edge.arguments = tuple(edge.arguments[position] for position in kept)
        draft.parameters = tuple(results[position] for position in kept)
        last = self.drafts[-1]
        if len(draft.incoming) == 1 and last.exits == draft.incoming:
            # Only the block just written comes here, and only to here: it goes on itself.
            last.exits.clear()
            self.current = last
        else:
            self.place(draft)


def _finished(exit_: _Exit) -> Exit:
    if not isinstance(exit_, _Edge):
        return exit_
    return Branch(exit_.target.number, exit_.arguments, exit_.unless, exit_.catches, exit_.where)
