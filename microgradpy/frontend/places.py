"""The places of a function being lowered: its regions, loops, `try`s, and what does not change.

`Lowering` (in `lower_core`) keeps these as stacks.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from microgradpy.dataclasses import dataclass, field
from microgradpy.frontend.resolve import Resolver
from microgradpy.frontend.scope import Binding, Position
from microgradpy.ir.nodes import Region, Statement, Terminator, Value, Var

Step = Callable[[], None]
Group = tuple[ast.FunctionDef, ...]


class Left(Exception):
    """The region being lowered has ended: what follows in it is never reached."""


@dataclass(slots=True)
class Block:
    """A region under construction. `raises` says that it is left by exceptions only."""

    statements: list[Statement] = field(default_factory=list)
    terminator: Terminator | None = None
    raises: bool = False

    def seal(self, otherwise: Terminator) -> Region:
        return Region(tuple(self.statements), self.terminator or otherwise)


@dataclass(slots=True)
class Arm:
    """A block with the environment at its end."""

    block: Block
    env: dict[str, Value]

    @property
    def is_open(self) -> bool:
        return self.block.terminator is None


@dataclass(slots=True)
class LoopFrame:
    """The loop being lowered: the names its state consists of, and the flag that `break` sets for its `else`."""

    state: tuple[str, ...]
    flag: str = ""
    is_broken: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """The body of a `Try` being lowered, and the names that its handlers see; the comprehension variables in scope; whether
    the user has written it, and a handler of it catches what ends a generator that nobody has any more."""

    var: Var
    names: tuple[str, ...]
    inner_names: frozenset[str] = frozenset()
    is_users: bool = True
    catches_exit: bool = True


@dataclass(slots=True)
class Protection:
    """What has to run before control leaves: a `finally`, or the end of a `with`. A `return`, `break` or `continue` inside,
    `depth` loops deep, is put off: `leave` says which of `kinds` it was, `value` what is returned."""

    leave: str
    value: str
    depth: int
    kinds: set[int] = field(default_factory=set)


RETURN, BREAK, CONTINUE = 1, 2, 3


@dataclass(slots=True)
class Effects:
    """Whether a mark follows whatever may change something. Who asks lowers in another way if so, which is noted: most
    functions have no handlers, and are lowered alike."""

    are_marked: bool = False
    matter: bool = False

    def marked(self) -> bool:
        self.matter = True
        return self.are_marked


@dataclass(frozen=True, slots=True)
class Unit:
    """What does not change while one function is lowered."""

    file: str
    lines: tuple[str, ...]
    name: str
    code: Any
    resolver: Resolver
    locals: frozenset[str]
    bindings: tuple[Binding, ...]
    fragile: frozenset[str]  # the names of which reads are checked
    groups: Mapping[ast.stmt, Group]  # the nested functions that use each other, by each of them
    packed: frozenset[Var]  # the parameters `*args` and `**kwargs`
    shared: frozenset[str]  # the variables that live in cells, captured ones and those of comprehensions among them
    guarded: frozenset[Position] = frozenset()  # the loops of which a handler sees what they had done so far
    effects: Effects = field(default_factory=Effects)
    catches: bool = False  # the function returns what it would raise
    notes: Var | None = None  # what the variables are noted in where the function returns
