"""Where an activation of a frame (the function, or one iteration of a loop) can end, numbered.

The number of the exit that was taken is the *path*. It is a literal in the record written at that exit, so the primal
has no flag variables, and it is saved only if the adjoint asks for it.

The body of a `Try` is a frame too. It ends at a mark, if an exception comes after it, at its own end, or, with the frame
around, at an exit that leaves both: there, all these are one exit, as the returns from inside a loop are, and one more
for each `Try` around whose handlers they lead to. Its path
is kept in a variable, `step`, which each mark sets; `handled` says which handler ran, 0 if none did. The `outcomes` are the
handlers after which the frame around goes on; those that only raise again leave nothing to undo.
"""

from __future__ import annotations

from typing import final

from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.nodes import (
    Break,
    Const,
    Continue,
    For,
    If,
    Op,
    Opcode,
    Region,
    Return,
    Statement,
    Terminator,
    Try,
    Value,
    Var,
    While,
    Yield,
    fresh,
    operator_constant,
)
from microgradpy.ir.traversal import is_mark, terminators
from microgradpy.passes.typed_builder import TypedBuilder


@final
@dataclass(eq=False)
class Frame:
    """One frame. `of_region` and `of_statement` give the numbers of the exits inside (keyed by identity: equal regions at
    two places are two regions); `terminators` the number of a region's own terminator."""

    loop: While | For | Try | None
    tape: Var
    path: Var
    terminators: dict[int, int] = field(default_factory=dict)
    of_region: dict[int, frozenset[int]] = field(default_factory=dict)
    of_statement: dict[int, frozenset[int]] = field(default_factory=dict)
    exits: list[Terminator | Statement] = field(default_factory=list)
    leads: list[Var | None] = field(default_factory=list)
    skipped: frozenset[int] = frozenset()
    pinned: list[Region] = field(default_factory=list)
    parent: Frame | None = None
    handled: Var = field(default_factory=lambda: fresh("handled"))
    tries: dict[int, Frame] = field(default_factory=dict)
    escapes: frozenset[int] = frozenset()
    outcomes: tuple[int, ...] = ()

    @property
    def marks(self) -> frozenset[int]:
        """The exits of the body of a `Try` that lead to its handlers."""
        assert isinstance(self.loop, Try)
        return frozenset(number for number, lead in enumerate(self.leads) if lead == self.loop.scope)

    def leave(self, site: Terminator | Statement, lead: Var | None = None) -> int:
        """Number one more exit. `lead` is the scope of the `Try` to whose handlers it leads."""
        self.exits.append(site)
        self.leads.append(lead)
        return len(self.exits) - 1

    def exit_through(self, inside: Statement, lead: Var | None = None) -> int | None:
        """The exit of this frame that is taken where control leaves it from inside a loop or the body of a `Try`."""
        ways = zip(self.exits, self.leads, strict=True)
        return next((n for n, (site, leading) in enumerate(ways) if site is inside and leading == lead), None)

    def mark_number(self, mark: Op) -> int:
        (number,) = self.of_statement[id(mark)]
        return number

    @property
    def recorded(self) -> frozenset[int]:
        return frozenset(range(len(self.exits))) - self.skipped


def path_is_in(builder: TypedBuilder, frame: Frame, wanted: frozenset[int], paths: frozenset[int]) -> Value:
    """Whether the path of a frame is one of `wanted`, knowing that it is one of `paths`."""
    wanted &= paths
    others = paths - wanted
    if not wanted or not others:
        return Const(bool(wanted))
    if len(frame.outcomes) > 1 and len(frame.exits) == 2 and len(frame.marks) == 1 and not frame.escapes:
        return builder.call(operator_constant("eq" if 1 in wanted else "ne"), (frame.handled, Const(0)))
    if len(wanted) == 1:
        name, number = "eq", min(wanted)
    elif len(others) == 1:
        name, number = "ne", min(others)
    elif min(wanted) > max(others):
        name, number = "ge", min(wanted)
    elif max(wanted) < min(others):
        name, number = "le", max(wanted)
    else:
        (options,) = builder.operation(Opcode.TUPLE, tuple(map(Const, sorted(wanted))))
        return builder.call(operator_constant("contains"), (options, frame.path))
    return builder.call(operator_constant(name), (frame.path, Const(number)))


def was_handled_by(builder: TypedBuilder, frame: Frame, number: int) -> Value:
    """Whether the handler with this number, from 1, ran. Where only one goes on, an exception says so."""
    if len(frame.outcomes) == 1:
        return path_is_in(builder, frame, frame.marks, frame.recorded)
    return builder.call(operator_constant("eq"), (frame.handled, Const(number)))


def frame_of(body: Region, loop: While | For | None, name: str) -> Frame:
    """Number the exits of a frame in program order."""
    suffix = f"_{name}" if name.strip("_") else ""
    frame = Frame(loop, fresh(f"tape{suffix}"), fresh(f"path{suffix}"))
    frame.pinned.append(body)
    _number(body, frame)
    return frame


def attempt_frame(statement: Try, parent: Frame) -> Frame:
    """Number the exits of the body of a `Try`."""
    frame = Frame(statement, fresh(), fresh("step"), parent=parent)
    frame.pinned.append(statement.body)
    _number(statement.body, frame)
    # Where the body falls off its end it is complete; this is an exit of its own.
    if isinstance(statement.body.terminator, Yield):
        number = frame.terminators[id(statement.body)] = frame.leave(statement.body.terminator)
        frame.of_region[id(statement.body)] |= {number}
        own = frame.marks | {number}
    else:
        own = frame.marks
    frame.escapes = frozenset(range(len(frame.exits))) - own
    return frame


def _number(region: Region, frame: Frame) -> frozenset[int]:
    found: frozenset[int] = frozenset()
    for statement in region.statements:
        inside: frozenset[int] = frozenset()
        match statement:
            case If(then=then, orelse=orelse):
                inside = _number(then, frame) | _number(orelse, frame)
            case Try(handlers=handlers):
                inner = frame.tries[id(statement)] = attempt_frame(statement, frame)
                leads = dict.fromkeys(inner.leads[number] for number in sorted(inner.escapes))
                inside = frozenset([frame.leave(statement, lead) for lead in leads])
                for number, handler in enumerate(handlers, 1):
                    leaving = _number(handler.body, frame)
                    inside |= leaving
                    if leaving or isinstance(handler.body.terminator, Yield):
                        inner.outcomes += (number,)
            case Op(payload=scope) if is_mark(statement):
                inside = frozenset([frame.leave(statement, scope)])
            case While() | For() if returns_inside(statement):
                inside = frozenset([frame.leave(statement)])
        frame.of_statement[id(statement)] = inside
        found |= inside
    if isinstance(region.terminator, Continue | Break | Return):
        number = frame.terminators[id(region)] = frame.leave(region.terminator)
        found |= {number}
    frame.of_region[id(region)] = found
    return found


def returns_inside(loop: While | For) -> bool:
    """Whether the function can return from inside a loop."""
    return any(isinstance(terminator, Return) for terminator in terminators(loop.body))
