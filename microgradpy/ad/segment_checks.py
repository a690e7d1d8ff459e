"""Which loops can be run again piece by piece, and what their bodies read from around."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

from microgradpy.ad.calls import Apart
from microgradpy.errors import UnsupportedSyntaxError
from microgradpy.ir.flows import connected, flows_in
from microgradpy.ir.nodes import (
    CHANGING,
    Break,
    Const,
    Continue,
    For,
    Function,
    If,
    Location,
    Op,
    Opcode,
    Region,
    Return,
    Try,
    Value,
    Var,
    While,
    Yield,
    operator_constant,
)
from microgradpy.ir.traversal import (
    definitions,
    item_sources,
    item_variables,
    regions,
    terminator_values,
    uses,
    walk,
)

_REMEDY = (
    "Leave this loop as it is, or let it carry numbers, arrays and tuples only, read what nobody changes, and be left by break."
)


def own_ends(region: Region) -> Iterator[Any]:
    """The terminators in a loop's body that are not those of loops inside of it."""
    for statement in region.statements:
        if isinstance(statement, If | Try):
            for inner in regions(statement):
                yield from own_ends(inner)
    yield region.terminator


def breaks(body: Region) -> bool:
    return any(isinstance(end, Break) for end in own_ends(body))


def returns(body: Region) -> bool:
    return any(isinstance(end, Return) for end in own_ends(body))


def changed_in(function: Function) -> set[Var]:
    """The variables whose lists, dicts or arrays the function changes after they have these values, and what holds them."""
    changed = set[Var]()
    flows: list[tuple[Var, Value]] = flows_in(function.body)
    for statement in walk(function.body):
        match statement:
            case Op(callee=Const(value=Apart(passed=passed)), arguments=arguments):
                changed |= {value for place in passed if isinstance(value := arguments[place], Var)}
            case Op(callee=callee, arguments=(container, *_), results=results) if callee in CHANGING:
                changed |= {container} if isinstance(container, Var) else set()
                flows += [(result, value) for result in results for value in statement.arguments]
            case Op(callee=callee, arguments=arguments, results=results) if callee in _HOLDING or callee == _GETITEM:
                flows += [(result, value) for result in results for value in arguments]
            case For(items=items):
                flows += [(item, source) for item in item_variables(items) for source in item_sources(items)]
    return connected(changed, flows, forward=False)


_HOLDING = (Opcode.TUPLE, Opcode.LIST, Opcode.DICT, Opcode.UNPACK)
_GETITEM = operator_constant("getitem")


def check_loop(loop: While | For, scopes: frozenset[Var], changed_later: Set[Var]) -> None:
    """Refuse a loop that cannot be run again piece by piece. `changed_later` is what the function changes some time."""
    inside = set(defined_in(loop.body)) | set(loop.parameters)
    for statement in (*loop.body.statements, *walk(loop.body)):
        where = statement.where if statement.where.line else loop.where
        match statement:
            case Op(callee=Opcode.SUSPEND):
                raise refusal("a generator", where)
            case Op(callee=Opcode.MARK, payload=scope) if scope in scopes:
                raise refusal("a loop in a `try` whose handlers read what it changes", where)
            case Op(callee=Const(value=Apart(passed=passed))) if passed:
                raise refusal("a loop that hands on what it changes", where)
            case Op(callee=callee, arguments=(Var() as changed, *_)) if callee in CHANGING:
                if changed not in inside or _flows_from(changed, loop):
                    raise refusal("a loop that changes a list or dict", where)
            case While(body=body) | For(body=body) if returns(body):
                raise refusal("a return from a loop inside of a loop", where)
    read = {*free_in(loop.body, set(loop.parameters)), *loop.initial}
    read |= set(item_sources(loop.items)) if isinstance(loop, For) else set()
    if not changed_later.isdisjoint(read):
        raise refusal("a loop that reads a list, dict or array which the function changes in place", loop.where)


def _flows_from(changed: Var, loop: While | For) -> bool:
    """Whether a list that is changed in a loop may be one that the loop carries: it is, unless it was made in the same turn."""
    made = {each.result for each in walk(loop.body) if isinstance(each, Op) and each.callee in (Opcode.LIST, Opcode.DICT)}
    return not _made_here(changed, loop, made, set())


def _made_here(var: Var, loop: While | For, made: set[Var], met: set[Var]) -> bool:
    if var in made or var in met:
        return True
    met.add(var)
    sources = list(_sources(var, loop.body))
    return bool(sources) and all(isinstance(each, Var) and _made_here(each, loop, made, met) for each in sources)


def _sources(var: Var, body: Region) -> Iterator[Value]:
    """What a variable of a loop's body may be, one step back; nothing for what is not known."""
    for statement in walk(body):
        match statement:
            case Op(callee=callee, arguments=(source, *_), results=(result,)) if callee in CHANGING and result == var:
                yield source
            case If(then=then, orelse=orelse, results=results) if var in results:
                for arm in (then, orelse):
                    if isinstance(arm.terminator, Yield):
                        yield arm.terminator.values[results.index(var)]
            case While(body=inner, parameters=own) | For(body=inner, parameters=own):
                for place, (parameter, result) in enumerate(zip(own, statement.results, strict=True)):
                    if var in (parameter, result):
                        yield statement.initial[place]
                        ends = (end for end in own_ends(inner) if isinstance(end, Continue | Break))
                        yield from (end.values[place] for end in ends)


def defined_in(region: Region) -> Iterator[Var]:
    for statement in walk(region):
        yield from definitions(statement)
        match statement:
            case While(parameters=parameters):
                yield from parameters
            case For(parameters=parameters, items=items):
                yield from (*parameters, *item_variables(items))
            case Try(parameters=parameters, handlers=handlers):
                yield from (*parameters, *(handler.exception for handler in handlers if handler.exception is not None))


def free_in(region: Region, bound: set[Var]) -> tuple[Var, ...]:
    """The variables from around that a region reads, in the order in which it does."""
    bound = bound.union(defined_in(region))
    read: list[Value] = []
    for statement in walk(region):
        read += uses(statement)
        read += item_sources(statement.items) if isinstance(statement, For) else ()
        for inner in regions(statement):
            read += terminator_values(inner.terminator)
    read += terminator_values(region.terminator)
    return tuple(dict.fromkeys(value for value in read if isinstance(value, Var) and value not in bound))


def refusal(what: str, where: Location) -> UnsupportedSyntaxError:
    return UnsupportedSyntaxError(f"{what} cannot be run in checkpointed segments", where, _REMEDY)
