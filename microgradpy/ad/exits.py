"""Where an activation of a frame (the function, or one iteration of a loop) can end, numbered.

The number of the exit that was taken is the *path*. It is a literal in the record written at that exit, so the primal
has no flag variables, and it is saved only if the adjoint asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

from microgradpy.ir.nodes import (
    Break,
    Const,
    Continue,
    For,
    If,
    Opcode,
    Region,
    Return,
    Statement,
    Terminator,
    Value,
    Var,
    While,
    fresh,
    operator_constant,
)
from microgradpy.ir.traversal import terminators
from microgradpy.passes.typed_builder import TypedBuilder


@final
@dataclass(eq=False)
class Frame:
    """One frame. `of_region` and `of_statement` give the numbers of the exits inside (keyed by identity: equal regions at
    two places are two regions); `terminators` the number of a region's own terminator."""

    loop: While | For | None
    tape: Var
    path: Var
    terminators: dict[int, int] = field(default_factory=dict)
    of_region: dict[int, frozenset[int]] = field(default_factory=dict)
    of_statement: dict[int, frozenset[int]] = field(default_factory=dict)
    exits: list[Terminator | Statement] = field(default_factory=list)
    skipped: frozenset[int] = frozenset()
    pinned: list[Region] = field(default_factory=list)

    @property
    def recorded(self) -> frozenset[int]:
        return frozenset(range(len(self.exits))) - self.skipped


def path_is_in(builder: TypedBuilder, frame: Frame, wanted: frozenset[int], paths: frozenset[int]) -> Value:
    """Whether the path of a frame is one of `wanted`, knowing that it is one of `paths`."""
    wanted &= paths
    others = paths - wanted
    if not wanted or not others:
        return Const(bool(wanted))
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


def frame_of(body: Region, loop: While | For | None, name: str) -> Frame:
    """Number the exits of a frame in program order."""
    suffix = f"_{name}" if name.strip("_") else ""
    frame = Frame(loop, fresh(f"tape{suffix}"), fresh(f"path{suffix}"))
    frame.pinned.append(body)
    _number(body, frame)
    return frame


def _number(region: Region, frame: Frame) -> frozenset[int]:
    found: frozenset[int] = frozenset()
    for statement in region.statements:
        inside: frozenset[int] = frozenset()
        match statement:
            case If(then=then, orelse=orelse):
                inside = _number(then, frame) | _number(orelse, frame)
            case While() | For() if returns_inside(statement):
                inside = frozenset([len(frame.exits)])
                frame.exits.append(statement)
        frame.of_statement[id(statement)] = inside
        found |= inside
    if isinstance(region.terminator, Continue | Break | Return):
        frame.terminators[id(region)] = len(frame.exits)
        found |= {len(frame.exits)}
        frame.exits.append(region.terminator)
    frame.of_region[id(region)] = found
    return found


def returns_inside(loop: While | For) -> bool:
    """Whether the function can return from inside a loop."""
    return any(isinstance(terminator, Return) for terminator in terminators(loop.body))
