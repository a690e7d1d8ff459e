"""Where the text of a region ends: whether control falls off it, and where it goes."""

from __future__ import annotations

from typing import final

from microgradpy.dataclasses import dataclass, replace
from microgradpy.ir.nodes import Continue, If, Region, Try, Unreachable, Var, Yield
from microgradpy.ir.traversal import regions, terminator_values, terminators, uses, walk


@final
@dataclass(frozen=True, slots=True)
class Flow:
    """Where the end of a region leads. `tail`: falling off the end is the same as `continue`."""

    results: tuple[Var, ...] = ()
    parameters: tuple[Var, ...] = ()
    loop_results: tuple[Var, ...] = ()
    tail: bool = False


def is_read(var: Var, region: Region) -> bool:
    ends = (terminator_values(terminator) for terminator in terminators(region))
    reads = (uses(statement) for statement in walk(region))
    return any(var in values for values in (*ends, *reads))


def completes(region: Region, flow: Flow) -> bool:
    """Whether control can fall off the end of the text of a region."""
    match region.terminator:
        case Yield():
            return True
        case Continue():
            return flow.tail
        case Unreachable():
            last = region.statements[-1] if region.statements else None
            match last:
                case If(then=then, orelse=orelse):
                    return completes(then, flow) or completes(orelse, flow)
                case Try():
                    return any(completes(inner, replace(flow, tail=False)) for inner in regions(last))
            return False
    return False


def is_shortcut(statement: If, flow: Flow) -> bool:
    """`if c: continue` before much else, which is what the user wrote; without it, all the rest would be indented."""
    then, orelse = statement.then, statement.orelse
    if not (flow.tail and isinstance(then.terminator, Continue) and not then.statements):
        return False
    return len(orelse.statements) > 3
