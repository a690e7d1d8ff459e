"""The IR as text. Both forms and their grammar are described in docs/ir.md.

`print_blocks` is the form of IRTools: numbered basic blocks with block arguments, and branches.

    1: (%1, %2, %3)
      br 2 (%2)
    2: (%4)
      %5 = %4 < %3
      br 4 unless %5
      br 3
    3:
      %6 = %4 * %4
      br 2 (%6)
    4:
      return %4

`print_structured` shows the regions as they are in memory, for debugging and for reports of compiler bugs.

`%1` is the function itself; the other variables are numbered anew for each text, in the order of their definitions, so
that equal functions have equal texts. The two texts of one function do not have the same numbers. How a single value,
operation or terminator is written is in `notation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar, assert_never, final

from microgradpy.dataclasses import dataclass
from microgradpy.ir.block_nodes import Advance, Block, Branch, Exit, Instruction, Iterate, bound_variables, used_variables
from microgradpy.ir.blocks import blocks
from microgradpy.ir.closures import nested_function
from microgradpy.ir.nodes import (
    NOWHERE,
    Break,
    Continue,
    For,
    Function,
    If,
    Location,
    Op,
    Raise,
    Region,
    Return,
    Statement,
    Terminator,
    Try,
    Unreachable,
    Var,
    While,
    Yield,
)
from microgradpy.ir.notation import ITSELF, Writer, number
from microgradpy.ir.traversal import item_variables, regions, walk

INDENT = "  "
_Shown = TypeVar("_Shown")


def print_blocks(function: Function, *, names: bool = False) -> str:
    """The function as basic blocks, without a final newline; closures follow, each under its name. With `names`,
    definitions show the name that the variable has in the program: `%3/y`."""
    return "\n\n".join("\n".join(line.text for line in lines) for lines in block_lines(function, names=names))


@final
@dataclass(frozen=True, slots=True)
class BlockLine:
    """A line of the form as basic blocks: its text, the number of its block, what it defines and reads, the block that it
    may go to (0 for none), and where it is from. Of a heading, `block` is that block, and it defines the parameters."""

    text: str
    block: int
    defines: tuple[Var, ...] = ()
    reads: tuple[Var, ...] = ()
    target: int = 0
    where: Location = NOWHERE


def block_lines(function: Function, *, names: bool = False) -> list[list[BlockLine]]:
    """What `print_blocks` prints, line by line: of the function, and of each closure."""
    return _with_closures(function, lambda each, labels: list(_block_lines(each, names, labels)))


def print_structured(function: Function, *, names: bool = False) -> str:
    """The function as nested regions, without a final newline. Takes functions that are not well-formed, too."""
    return "\n\n".join(_with_closures(function, lambda each, labels: _print_structured(each, names, labels)))


def numbering(function: Function) -> dict[Var, int]:
    """The numbers that `print_structured` gives to the variables."""
    return number(_structured_order(function))


# Orders of definition


def _structured_order(function: Function) -> Iterator[Var]:
    yield from (parameter.var for parameter in function.parameters)
    yield from function.captured
    yield from _region_order(function.body)


def _region_order(region: Region) -> Iterator[Var]:
    for statement in region.statements:
        if isinstance(statement, While | For):
            yield from statement.parameters
        if isinstance(statement, For):
            yield from item_variables(statement.items)
        if isinstance(statement, Try):
            yield statement.scope
            yield from statement.parameters
            yield from (handler.exception for handler in statement.handlers if handler.exception is not None)
        for inner in regions(statement):
            yield from _region_order(inner)
        yield from statement.results


def _block_order(view: tuple[Block, ...]) -> Iterator[Var]:
    for block in view:
        yield from block.parameters
        for instruction in block.instructions:
            yield from bound_variables(instruction)


# Basic blocks


def _block_lines(function: Function, names: bool, labels: dict[int, str]) -> Iterator[BlockLine]:
    view = blocks(function)
    texts = _block_texts(function, view, numbers_of_blocks(view), names, labels)
    if id(function) in labels:
        yield BlockLine(f"{labels[id(function)]}:", 0)
    for block, (heading, instructions, branches) in zip(view, texts, strict=True):
        where = function.where if block.number == 1 else NOWHERE
        yield BlockLine(heading, block.number, block.parameters, where=where)
        for text, instruction in zip(instructions, block.instructions, strict=True):
            defines, reads = bound_variables(instruction), tuple(used_variables(instruction))
            yield BlockLine(INDENT + text, block.number, defines, reads, where=instruction.where)
        for text, branch in zip(branches, block.branches, strict=True):
            target, where = (branch.target, branch.where) if isinstance(branch, Branch) else (0, _where_left(branch))
            yield BlockLine(INDENT + text, block.number, (), tuple(used_variables(branch)), target, where)


def _where_left(terminator: Return | Raise | Unreachable) -> Location:
    return NOWHERE if isinstance(terminator, Unreachable) else terminator.where


def numbers_of_blocks(view: tuple[Block, ...]) -> dict[Var, int]:
    """The numbers that `print_blocks` gives to the variables."""
    return number(_block_order(view))


BlockText = tuple[str, tuple[str, ...], tuple[str, ...]]


def block_texts(function: Function, view: tuple[Block, ...]) -> list[BlockText]:
    """What `print_blocks` shows of each block: its heading, its instructions and its branches."""
    return list(_block_texts(function, view, numbers_of_blocks(view), False, _labels(function)))


def _block_texts(
    function: Function, view: tuple[Block, ...], numbers: dict[Var, int], names: bool, labels: dict[int, str]
) -> Iterator[BlockText]:
    writer = Writer(numbers, names, labels)
    for block in view:
        parameters = f"({writer.definitions(block.parameters)})" if block.parameters else ""
        heading = writer.signature(function) if block.number == 1 else parameters
        instructions = tuple(_instruction(writer, instruction) for instruction in block.instructions)
        branches = tuple(_exit(writer, branch) for branch in block.branches)
        yield f"{block.number}: {heading}".rstrip(), instructions, branches


def _instruction(writer: Writer, instruction: Instruction) -> str:
    match instruction:
        case Op():
            return writer.operation(instruction)
        case Iterate(items=items, result=result):
            return f"{writer.define(result)} = iter({writer.iterable(items)})"
        case Advance(iterator=iterator, more=more, items=items):
            return f"{writer.define(more)}, {writer.target(items)} = next({writer.use(iterator)})"
    assert_never(instruction)


def _exit(writer: Writer, branch: Exit) -> str:
    if not isinstance(branch, Branch):
        return writer.leaving(branch)
    arguments = f" ({writer.uses(branch.arguments)})" if branch.arguments else ""
    if branch.catches is not None:
        scope, types = branch.catches
        what = f" {writer.uses(types)}" if types else ""
        return f"br {branch.target} on{what} in {writer.use(scope)}"
    unless = "" if branch.unless is None else f" unless {writer.use(branch.unless)}"
    return f"br {branch.target}{arguments}{unless}"


# Regions


def _print_structured(function: Function, names: bool, labels: dict[int, str]) -> str:
    writer = Writer(numbering(function), names, labels)
    lines = [f"{labels.get(id(function), function.name)}: {writer.signature(function)}"]
    lines += [f"{INDENT}{writer.define(var)} = {writer.use(ITSELF)}.{var.hint}" for var in function.captured]
    lines += _region(writer, function.body, INDENT)
    return "\n".join(lines)


def _region(writer: Writer, region: Region, margin: str) -> Iterator[str]:
    for statement in region.statements:
        yield from _statement(writer, statement, margin)
    yield margin + _terminator(writer, region.terminator)


def _statement(writer: Writer, statement: Statement, margin: str) -> Iterator[str]:
    deeper = margin + INDENT
    match statement:
        case Op():
            yield margin + writer.operation(statement)
            return
        case If(condition=condition, then=then, orelse=orelse):
            yield f"{margin}if {writer.use(condition)}:"
            yield from _region(writer, then, deeper)
            yield f"{margin}else:"
            yield from _region(writer, orelse, deeper)
        case While(condition=tested, body=body):
            yield f"{margin}while{_state(writer, statement)}:"
            yield from _region(writer, tested, deeper)
            yield f"{margin}do:"
            yield from _region(writer, body, deeper)
        case For(items=items, body=body):
            state = _state(writer, statement)
            yield f"{margin}for {writer.target(items)} in {writer.iterable(items)}{state}:"
            yield from _region(writer, body, deeper)
        case Try(body=body, handlers=handlers):
            seen = f" with {writer.definitions(statement.parameters)}" if statement.parameters else ""
            yield f"{margin}try {writer.use(statement.scope)}{seen}:"
            yield from _region(writer, body, deeper)
            for handler in handlers:
                yield f"{margin}{writer.caught(handler)}:"
                yield from _region(writer, handler.body, deeper)
        case _:
            assert_never(statement)
    yield f"{margin}end {writer.definitions(statement.results)}".rstrip()


def _state(writer: Writer, loop: While | For) -> str:
    # Broken loops have lists of different lengths: what is missing shows as `?`.
    count = max(len(loop.parameters), len(loop.initial))
    variables = [*map(writer.define, loop.parameters)] + ["?"] * (count - len(loop.parameters))
    values = [*map(writer.use, loop.initial)] + ["?"] * (count - len(loop.initial))
    pairs = ", ".join(f"{variable} = {value}" for variable, value in zip(variables, values, strict=True))
    return f" with {pairs}" if pairs else ""


def _terminator(writer: Writer, terminator: Terminator) -> str:
    match terminator:
        case Yield(values=values):
            return f"yield {writer.uses(values)}".rstrip()
        case Continue(values=values):
            return f"continue {writer.uses(values)}".rstrip()
        case Break(values=values):
            return f"break {writer.uses(values)}".rstrip()
        case _:
            return writer.leaving(terminator)


# Closures


def _with_closures(function: Function, show: Callable[[Function, dict[int, str]], _Shown]) -> list[_Shown]:
    labels = _labels(function)
    return [show(each, labels) for each in (function, *_closures(function))]


def _labels(function: Function) -> dict[int, str]:
    labels: dict[int, str] = {}
    taken: dict[str, int] = {}
    for inner in _closures(function):
        taken[inner.name] = count = taken.get(inner.name, 0) + 1
        labels[id(inner)] = inner.name if count == 1 else f"{inner.name}#{count}"
    return labels


def _closures(function: Function) -> Iterator[Function]:
    """The functions that closures are made of, each once, outer before inner."""
    waiting = [function]
    seen: set[int] = set()
    while waiting:
        for statement in walk(waiting.pop(0).body):
            inner = nested_function(statement) if isinstance(statement, Op) else None
            if inner is not None and id(inner) not in seen:
                seen.add(id(inner))
                waiting.append(inner)
                yield inner
