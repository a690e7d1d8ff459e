"""Lists whose items are the same when the adjoint runs: nobody changes them any more, and nobody else has them.

What a loop over such a list has read of it need not be in the loop's records: the adjoint reads the list again.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping

from microgradpy.ir.kinds import Kind, Scalar, Sequence, is_tuple_of_numbers
from microgradpy.ir.nodes import CHANGING, Const, For, Function, Op, Opcode, Raise, Return, Statement, Try, Value, Var
from microgradpy.ir.traversal import flows, item_variables, regions, terminator_values, terminators, uses, walk

_MAKE = frozenset(map(Const, (operator.add, operator.mul, operator.getitem, list, sorted)))
"""What makes a list of another one: an item of a list of numbers is none."""
_READ = _MAKE | frozenset(map(Const, (len, sum, min, max, operator.eq, operator.ne, operator.contains)))
Edges = list[tuple[Value, Value]]


def is_list_of_numbers(kind: Kind | None) -> bool:
    """Whether this is a list that holds nothing that can be changed."""
    if not isinstance(kind, Sequence) or kind.name != "list":
        return False
    return isinstance(kind.item, Scalar) or is_tuple_of_numbers(kind.item)


def steady_lists(function: Function) -> frozenset[Var]:
    """The lists of numbers of a function that are steady."""
    statements = list(walk(function.body))
    edges: Edges = list(flows(statements))
    versions = [(s.arguments[0], s.result) for s in statements if isinstance(s, Op) and s.callee in CHANGING]
    onwards: Edges = [*edges, *versions]
    back: Edges = [(after, before) for before, after in onwards]
    shared = _reached(_shared(function, statements), [*onwards, *back])
    found = {var for var, kind in function.kinds.items() if is_list_of_numbers(kind) and var not in shared}
    changed = {before for before, _ in versions}
    earlier = _reached(changed, [(after, before) for before, after in edges])
    # All that changes such a list has done so before, and leads to what it is now.
    return frozenset(
        var for var in found - earlier if _reached({var}, [*onwards, *back]) & changed <= _reached({var}, back)
    )


def _reached(start: Iterable[Value], edges: Edges) -> set[Value]:
    """All that is reached along edges."""
    after: dict[Value, list[Value]] = {}
    for source, target in edges:
        after.setdefault(source, []).append(target)
    found, waiting = set(start), list(start)
    while waiting:
        new = [value for value in after.get(waiting.pop(), ()) if value not in found]
        found.update(new)
        waiting += new
    return found


def _shared(function: Function, statements: list[Statement]) -> set[Value]:
    """What comes from elsewhere, and what others may have."""
    found: set[Value] = set(function.inputs)
    for statement in statements:
        match statement:
            case Op():
                found.update(_handed_on(statement))
                if not _makes_list(statement, function.kinds):
                    found.update(statement.results)
            case For(items=items):
                found.update(item_variables(items))
            case Try():
                for region in regions(statement):
                    found.update(terminator_values(region.terminator))
                found.update((*statement.parameters, *statement.results))
            case _:
                pass
    for end in terminators(function.body):
        if isinstance(end, Return | Raise):
            found.update(terminator_values(end))
    return {value for value in found if isinstance(value, Var)}


def _handed_on(op: Op) -> tuple[Value, ...]:
    """What others may have after an operation."""
    if op.callee in CHANGING:
        return op.arguments[1:]
    return () if op.callee in _READ and not op.keywords else uses(op)


def _makes_list(op: Op, kinds: Mapping[Var, Kind]) -> bool:
    """Whether the list that an operation gives is a new one, or the next version of one."""
    if op.callee == Const(operator.getitem):
        container = op.arguments[0]
        return isinstance(container, Var) and is_list_of_numbers(kinds.get(container))
    return op.callee in (Opcode.LIST, *CHANGING) or op.callee in _MAKE
