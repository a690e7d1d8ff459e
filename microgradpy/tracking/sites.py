"""What is known of a function before it runs: of each place, which values its statements read, and where they are.

The generated text names a place by its location in the basic blocks (`'§2:%7'`); a site has the rest."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

from microgradpy.cache import UNDEFINED, Check
from microgradpy.introspect import IR
from microgradpy.ir.block_nodes import Advance, Branch, Instruction, Iterate, bound_variables
from microgradpy.ir.locations import BlockLocation, Locations
from microgradpy.ir.nodes import Const, Items, Op, Opcode, Raise, Return, Undefined, Value, Var
from microgradpy.ir.traversal import item_sources
from microgradpy.tracking.values import BINARY, UNARY, Constant, describe

Operand = int | Constant | None
"""The number of a variable; a constant; None for a variable that has no value on this path."""


@final
@dataclass(frozen=True, slots=True)
class CallSite:
    """An operation. `special` is what it is called if it calls nothing; `results` are the variables it defines."""

    location: BlockLocation
    function: Operand
    arguments: tuple[Operand, ...]
    keywords: tuple[tuple[str, Operand], ...]
    results: tuple[int, ...]
    special: str = ""


@final
@dataclass(frozen=True, slots=True)
class JumpSite:
    """A branch to another block; `parameters` are the variables of that block, which the arguments are for. `condition` is
    what is false when the branch is taken; `classes` are the exceptions that go there."""

    location: BlockLocation
    target: int
    arguments: tuple[Operand, ...]
    parameters: tuple[tuple[BlockLocation, int], ...]
    condition: Operand = None
    classes: tuple[Operand, ...] | None = None
    scope: int = 0  # of the `try`, for exceptions


@final
@dataclass(frozen=True, slots=True)
class LoopSite:
    """A `for`: what makes the iterator and what asks it; the branches into its body and past its end. `parts` says how many
    variables an item is for, `sources` how many values the iterable is made of."""

    iterator: CallSite
    step: CallSite
    items: Items
    enter: str
    exhausted: str


@final
@dataclass(frozen=True, slots=True)
class MarkSite:
    """What the handlers of a `try` see from here on."""

    scope: int
    values: tuple[Operand, ...]


Site = CallSite | JumpSite | LoopSite | MarkSite


@dataclass(slots=True)
class Sites:
    """Those of one function, by what the text calls them."""

    locations: Locations
    by_name: dict[str, Site] = field(default_factory=dict)

    def operand(self, value: Value) -> Operand:
        match value:
            case Var():
                return self.locations.numbers[value]
            case Const():
                return Constant(value.value, describe(value.value, value.path))
            case Undefined():
                return None

    def operands(self, values: tuple[Value, ...]) -> tuple[Operand, ...]:
        return tuple(map(self.operand, values))

    def add(self, site: CallSite | JumpSite) -> str:
        name = str(site.location)
        self.by_name[name] = site
        return name

    def instruction(self, place: tuple[int, int]) -> CallSite:
        """The site of an instruction of a block."""
        block, index = place
        instruction = self.locations.blocks[block - 1].instructions[index]
        results = tuple(self.locations.numbers[var] for var in bound_variables(instruction))
        return self.of_instruction(instruction, self.locations.of_instruction(block, index), results)

    def of_instruction(self, instruction: Instruction, location: BlockLocation, results: tuple[int, ...]) -> CallSite:
        match instruction:
            case Iterate(items=items):
                name = iterable_name(items)
                sources = self.operands(item_sources(items))
                return CallSite(location, Constant(iter, f"iter({name})" if name else "iter"), sources, (), results)
            case Advance(iterator=iterator):
                return CallSite(location, Constant(next, "next"), (self.operand(iterator),), (), results)
            case Op(callee=Opcode() as opcode):
                return self.of_opcode(instruction, opcode, location, results)
            case Op(callee=callee, arguments=arguments, keywords=keywords):
                assert not isinstance(callee, Opcode)
                named = tuple((name, self.operand(value)) for name, value in keywords)
                return CallSite(location, self.operand(callee), self.operands(arguments), named, results)

    def of_opcode(self, op: Op, opcode: Opcode, location: BlockLocation, results: tuple[int, ...]) -> CallSite:
        arguments = self.operands(op.arguments)
        match opcode:
            case Opcode.INFIX:
                function = (UNARY if len(arguments) == 1 else BINARY)[op.payload]
                return CallSite(location, Constant(function, describe(function)), arguments, (), results)
            case Opcode.GETATTR:
                name = Constant(op.payload, repr(op.payload))
                return CallSite(location, Constant(getattr, "getattr"), (*arguments, name), (), results)
            case Opcode.GETITEM:
                return CallSite(location, _GETITEM, arguments, (), results)
            case Opcode.APPLY:
                return CallSite(location, arguments[0], arguments[1:], (("*", None),), results)
            case Opcode.GLOBAL:
                return CallSite(location, None, (Constant(op.payload, op.payload),), (), results, special="global")
        return CallSite(location, None, arguments, (), results, special=opcode.value)

    def branch(self, place: tuple[int, int]) -> JumpSite:
        """The site of a branch of a block."""
        block, index = place
        taken = self.locations.blocks[block - 1].branches[index]
        location = BlockLocation(block, branch=index + 1)
        assert isinstance(taken, Branch)
        target = self.locations.blocks[taken.target - 1]
        parameters = tuple(self.parameter(taken.target, var) for var in target.parameters)
        condition = None if taken.unless is None else self.operand(taken.unless)
        classes = None if taken.catches is None else self.operands(taken.catches[1])
        scope = 0 if taken.catches is None else taken.catches[0].id
        return JumpSite(location, taken.target, self.operands(taken.arguments), parameters, condition, classes, scope)

    def parameter(self, block: int, var: Var) -> tuple[BlockLocation, int]:
        number = self.locations.numbers[var]
        return BlockLocation(block, number), number

    def leaving(self, place: tuple[int, int]) -> CallSite:
        """The site of a `return` or `raise`."""
        block, index = place
        taken = self.locations.blocks[block - 1].branches[index]
        location = BlockLocation(block, branch=index + 1)
        match taken:
            case Return(value=value):
                return CallSite(location, None, (self.operand(value),), (), (), special="return")
            case Raise(exception=exception):
                given = () if exception is None else (self.operand(exception),)
                return CallSite(location, None, given, (), (), special="raise")
        raise AssertionError(f"{taken} does not leave the function")


@final
@dataclass(frozen=True, slots=True)
class TracedCode:
    """A function that records: it takes a frame, then what the original captured, then its parameters."""

    ir: IR
    sites: Sites
    text: str
    run: Callable[..., Any]
    checks: tuple[Check, ...]
    assigns: str = ""  # a module variable that it assigns

    def is_valid(self) -> bool:
        return all(namespace.get(name, UNDEFINED) is value for namespace, name, value in self.checks)


def iterable_name(items: Items) -> str:
    """What the values of a loop are put into before they are iterated over: `enumerate`, `zip`; empty for nothing."""
    name = type(items).__name__.lower()
    return "" if name == "each" else "items" if name == "dictitems" else name


_GETITEM = Constant(operator.getitem, "getitem")
