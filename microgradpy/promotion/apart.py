"""Functions of parts of arguments: the one that is differentiated, and those of other modules that it calls.

    return loss(model(x), y)                return loss(call(layers_0_w, layers_0_b, x), y)

What is of the same module is written where it is called; what is not keeps a place and a namespace of its own, and gets the
parts that it reads.
"""

from __future__ import annotations

import types
from collections.abc import Container, Iterable, Mapping
from functools import partial
from typing import Any

from microgradpy.ad.calls import Apart
from microgradpy.dataclasses import replace
from microgradpy.frontend.prune import prune
from microgradpy.ir.nodes import Const, Function, Op, Opcode, Parameter, Region, Return, Statement, Var, Yield, fresh
from microgradpy.ir.rewrite import map_statements
from microgradpy.promotion.base import field_hint
from microgradpy.promotion.calls import Calls
from microgradpy.promotion.conditions import asked_only
from microgradpy.promotion.findings import Escapes, Origin
from microgradpy.promotion.functions import Named, as_expression
from microgradpy.promotion.names import Names, gathered_by_dict, used_in
from microgradpy.promotion.places import Display, Frame, Known, Part, is_thing, origin_of
from microgradpy.runtime.foreign import is_foreign
from microgradpy.runtime.libraries import is_of_large_library


def flattened(function: Function, roots: Mapping[int, Part], variables: Iterable[Part] = ()) -> Function:
    """The function with the leaves of arguments for what these are in, and last those of variables of modules."""
    captured: list[Var] = []
    parameters: list[Parameter] = []
    count = len(function.captured)
    kept = [var.hint for number, var in enumerate(function.captured) if number not in roots]
    kept += [parameter.name for number, parameter in enumerate(function.parameters, count) if number not in roots]
    names = Names(kept)
    for number, var in enumerate(function.inputs):
        own = function.parameters[number - count] if number >= count else None
        leaves = [leaf.known for leaf in roots[number].leaves() if isinstance(leaf.known, Var)] if number in roots else None
        if own is None:
            captured += [var] if leaves is None else [replace(leaf, hint=names.new(leaf.hint)) for leaf in leaves]
        else:
            parameters += [own] if leaves is None else [Parameter(leaf, names.new(leaf.hint)) for leaf in leaves]
    function = without_unread(function)
    parts = [*(roots[number] for number in sorted(roots)), *variables]
    others = [leaf for part in parts[len(roots) :] for leaf in part.leaves()]
    parameters += [Parameter(leaf.known, names.new(leaf.hint)) for leaf in others if isinstance(leaf.known, Var)]
    for part in parts:
        parameters += [Parameter(each.itself, names.new(each.hint)) for each in part.objects() if each.itself]
    return replace(function, captured=tuple(captured), parameters=tuple(parameters))


def without_unread(function: Function) -> Function:
    """The function without empty lists that nobody reads, as the default in `table.get("a", [])` if the key is there."""
    read = set(used_in(function.body))

    def dropped(statement: Statement) -> tuple[Statement, ...]:
        is_empty = isinstance(statement, Op) and statement.callee is Opcode.LIST and not statement.arguments
        return () if is_empty and read.isdisjoint(statement.results) else (statement,)

    return replace(function, body=map_statements(function.body, dropped))


def call_apart(
    walker: Any,
    op: Op,
    function: types.FunctionType,
    arguments: tuple[Known, ...],
    keywords: Named,
    frame: Frame,
    origin: Origin,
) -> Known:
    """A call of a function of another module with parts of arguments."""
    if is_foreign(function) or is_of_large_library(function):
        raise Escapes(origin)
    inner = walker.within(function)
    ir, values = inner.bound(function, arguments, keywords, origin)
    own = Frame(())
    given: list[tuple[Parameter, Known]] = []
    for parameter in ir.parameters:
        known = values.pop(parameter.var)
        if isinstance(known, Part | Display | Const):
            own.values[parameter.var] = known
        elif is_thing(known):
            raise Escapes(origin_of(known))
        else:
            given.append((parameter, known))
            inner.kinds.set(parameter.var, partial(walker.kinds.of, known))
    own.values |= values
    if walker.facts.assigned or walker.facts.changed:
        return _call_that_writes(walker, inner, op, ir, own, given, frame, origin)
    made = Calls.whole(inner, ir, own)
    if inner.returned is not None:
        if made.body.statements:
            raise Escapes(origin)
        return inner.returned  # type: ignore[no-any-return]
    made = without_unread(replace(made, body=prune(made.body)))
    return _called(walker, op, function, made, given, walker.leaves, walker.define(op.results[0], frame))


def _called(
    walker: Any,
    op: Op,
    function: types.FunctionType,
    made: Function,
    given: list[tuple[Parameter, Known]],
    outside: Container[Var],
    result: Var,
) -> Var:
    """The call of what was made of a function, which is given the variables from `outside` that it reads."""
    leaves = [var for var in dict.fromkeys(used_in(made.body)) if var in outside]
    names = Names(parameter.name for parameter, _ in given)
    fields = {known: field_hint(*key) for key, known in walker.fields.items()}
    hints = [leaf.hint or fields.get(leaf) or "value" for leaf in leaves]
    passed = (Parameter(leaf, names.new(hint)) for leaf, hint in zip(leaves, hints, strict=True))
    parameters = (*passed, *(parameter for parameter, _ in given))
    apart = Apart(function, replace(made, captured=(), parameters=parameters))
    callee = Const(apart, function.__name__, apart)
    walker.add(Op(callee, (*leaves, *(known for _, known in given)), (result,), where=op.where))  # type: ignore[arg-type]
    return result


def _call_that_writes(
    walker: Any,
    inner: Any,
    op: Op,
    ir: Function,
    own: Frame,
    given: list[tuple[Parameter, Known]],
    frame: Frame,
    origin: Origin,
) -> Known:
    """The same where arguments are written into: the function gets the fields as they are now, and returns those that it has
    changed behind its value."""
    region = as_expression(ir.body)
    before = {key: known for key, known in walker.fields.items() if isinstance(key[0], Part)}
    inner.fields = dict(before)
    if walker.trying or region is None or not isinstance(region.terminator, Yield):
        raise Escapes(origin)
    inner.asked_only |= asked_only(region)
    inner.gathered_by_dict |= gathered_by_dict(region)
    for statement in region.statements:
        inner.statement(statement, own)
    value = inner.known(region.terminator.values[0], own)
    is_part = isinstance(value, Part | Display)
    changed = {key: known for key, known in inner.fields.items() if isinstance(key[0], Part) and known is not before.get(key)}
    values = [] if is_part else [inner.plain(value)]
    values += [inner.plain(known) for known in changed.values() if not isinstance(known, Part)]
    end = values[0] if len(values) == 1 and not is_part else fresh("")
    statements = tuple(inner.out) if end in values else (*inner.out, Op(Opcode.TUPLE, tuple(values), (end,), from_user=False))
    made = replace(ir, body=prune(Region(statements, Return(end))))
    outside = {known for known in before.values() if isinstance(known, Var)} | walker.leaves
    parts = [*walker.roots.values(), *(variable.part for variable in walker.variables.values())]
    outside |= {each.itself for part in parts for each in part.objects()}
    results = [fresh(known.hint if isinstance(known, Var) else "") for known in values]
    if not is_part:
        results[0] = walker.define(op.results[0], frame)
    if end in values:
        _called(walker, op, inner.function, made, given, outside, results[0])
    else:
        packed = _called(walker, op, inner.function, made, given, outside, fresh(f"{op.results[0].hint or 'fields'}"))
        walker.add(Op(Opcode.UNPACK, (packed,), tuple(results), from_user=False, where=op.where))
    for result, known in zip(results, values, strict=True):
        walker.kinds.set(result, partial(inner.kinds.of, known))
    news = iter(results[0 if is_part else 1 :])
    for (part, name), known in changed.items():
        walker.write(part, name, known if isinstance(known, Part) else next(news))
    return value if is_part else results[0]
