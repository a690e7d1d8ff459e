"""Reads of a list whose items are all the same: each gives that one.

    items_bar = for_each(items, y_bar)
    for k, v, n in reversed(tape):                        for k, v, n in reversed(tape):
        v_bar = items_bar[n] * v          becomes             v_bar = y_bar * v

That holds if nobody does anything else with the list, by whatever name: writes into it or hands it on.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from microgradpy.ir.kinds import INT, Kind
from microgradpy.ir.nodes import Break, Const, Continue, For, If, Op, Region, Statement, Value, Var, While, Yield
from microgradpy.ir.rewrite import substitute
from microgradpy.ir.traversal import flows, terminator_values, terminators, uses, walk
from microgradpy.passes.dead_code import eliminate_dead_statements

_GETITEM = Const(operator.getitem)


def read_uniform_lists(body: Region, kinds: Mapping[Var, Kind], makes: Callable[..., Any]) -> Region:
    """The region with such reads decided; `makes(like, item)` is what makes such a list."""
    statements = list(walk(body))
    made = [s for s in statements if isinstance(s, Op) and isinstance(s.callee, Const) and s.callee.value is makes]
    if not made:
        return body
    edges = list(flows(statements))
    found: dict[Var, Value] = {}
    for op in made:
        names = _names(op.result, edges)
        if names is not None and _is_only_read(names, body, statements, kinds):
            reads = (s for s in statements if _reads_one_of(s, names, kinds))
            found |= {result: op.arguments[1] for read in reads for result in read.results}
    return eliminate_dead_statements(substitute(body, found)) if found else body


def _names(made: Var, edges: list[tuple[Value, Var]]) -> set[Var] | None:
    """The variables that are a list; None if one of them may be something else."""
    names, size = {made}, 0
    while size < len(names):
        size = len(names)
        names |= {after for before, after in edges if before in names}
    return None if any(after in names and before not in names for before, after in edges) else names


def _is_only_read(names: set[Var], body: Region, statements: list[Statement], kinds: Mapping[Var, Kind]) -> bool:
    """Whether an item at a place is all that anybody asks of a list, which no `Try` and no `return` hands on."""
    for statement in statements:
        match statement:
            case Op():
                if not names.isdisjoint(uses(statement)) and not _reads_one_of(statement, names, kinds):
                    return False
            case If() | While() | For():
                initial = statement.initial if isinstance(statement, While | For) else ()
                if not names.isdisjoint(uses(statement)[: len(uses(statement)) - len(initial)]):
                    return False
            case _:
                return False
    ends = (end for end in terminators(body) if not isinstance(end, Yield | Continue | Break))
    return all(names.isdisjoint(terminator_values(end)) for end in ends)


def _reads_one_of(statement: Statement, names: set[Var], kinds: Mapping[Var, Kind]) -> bool:
    if not isinstance(statement, Op) or statement.callee != _GETITEM:
        return False
    container, index = statement.arguments
    is_place = kinds.get(index) == INT if isinstance(index, Var) else isinstance(index, Const) and type(index.value) is int
    return container in names and is_place
