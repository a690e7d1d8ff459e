"""Where a statement is in the basic blocks of a function, and which statement is where.

    §2:%7    the instruction of block 2 that defines %7; in the heading of the block, its parameter
    §2:&1    the first branch of block 2
"""

from __future__ import annotations

from typing import final

from microgradpy.dataclasses import dataclass
from microgradpy.ir.block_nodes import Block, Exit, Instruction, bound_variables
from microgradpy.ir.blocks import blocks_and_origins
from microgradpy.ir.nodes import Function, Var
from microgradpy.ir.printer import block_texts, numbers_of_blocks


@final
@dataclass(frozen=True, slots=True)
class BlockLocation:
    """A place in the basic blocks that `code_ir` prints: a variable, or a branch, counted from 1. An instruction that defines
    nothing has its index among those of the block, negative and counted from 1."""

    block: int
    variable: int | None = None
    branch: int | None = None

    def __str__(self) -> str:
        return f"§{self.block}:&{self.branch}" if self.variable is None else f"§{self.block}:%{self.variable}"


@final
@dataclass(frozen=True, slots=True)
class IRStatement:
    """A statement of the block form: an instruction, a branch, or the heading of a block for one of its parameters."""

    text: str
    node: Instruction | Exit | Block

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


@final
class Locations:
    """The places of all statements of a function; `numbers` are those of its variables."""

    def __init__(self, function: Function) -> None:
        self.function = function  # `origins` has identities of its nodes
        self.blocks, self.origins = blocks_and_origins(function)
        self.numbers: dict[Var, int] = numbers_of_blocks(self.blocks)
        self.statements: dict[BlockLocation, IRStatement] = {}
        for block, (heading, instructions, branches) in zip(self.blocks, block_texts(function, self.blocks), strict=True):
            for parameter in block.parameters:
                self.statements[BlockLocation(block.number, self.numbers[parameter])] = IRStatement(heading, block)
            for index, (instruction, text) in enumerate(zip(block.instructions, instructions, strict=True)):
                self.statements[self.of_instruction(block.number, index)] = IRStatement(text, instruction)
            for index, (branch, text) in enumerate(zip(block.branches, branches, strict=True)):
                self.statements[BlockLocation(block.number, branch=index + 1)] = IRStatement(text, branch)

    def of_instruction(self, block: int, index: int) -> BlockLocation:
        """The place of an instruction, which is that of the first variable it defines."""
        variables = bound_variables(self.blocks[block - 1].instructions[index])
        return BlockLocation(block, self.numbers[variables[0]] if variables else -1 - index)
