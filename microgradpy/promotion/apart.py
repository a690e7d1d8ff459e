"""Functions of parts of arguments: the one that is differentiated, and those of other modules that it calls.

    return loss(model(x), y)                return loss(call(layers_0_w, layers_0_b, x), y)

What is of the same module is written where it is called; what is not keeps a place and a namespace of its own, and gets the
parts that it reads.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from microgradpy.ad.calls import Apart
from microgradpy.dataclasses import replace
from microgradpy.frontend.prune import prune
from microgradpy.ir.nodes import Const, Function, Op, Opcode, Parameter, Statement, Var
from microgradpy.ir.rewrite import map_statements
from microgradpy.promotion.calls import Calls
from microgradpy.promotion.functions import Named
from microgradpy.promotion.names import Names, used_in
from microgradpy.promotion.places import Display, Escapes, Frame, Known, Origin, Part, is_thing, origin_of
from microgradpy.runtime.foreign import is_foreign
from microgradpy.runtime.libraries import is_of_large_library


def flattened(function: Function, roots: Mapping[int, Part], variables: Iterable[Part] = ()) -> Function:
    """The function with the leaves of arguments for what these are in, and last those of variables of modules."""
    captured: list[Var] = []
    parameters: list[Parameter] = []
    names = Names(parameter.name for parameter in function.parameters)
    for number, var in enumerate(function.inputs):
        own = function.parameters[number - len(function.captured)] if number >= len(function.captured) else None
        leaves = [leaf.known for leaf in roots[number].leaves() if isinstance(leaf.known, Var)] if number in roots else None
        if own is None:
            captured += [var] if leaves is None else leaves
        else:
            parameters += [own] if leaves is None else [Parameter(leaf, names.new(leaf.hint)) for leaf in leaves]
    function = without_unread(function)
    others = [leaf for part in variables for leaf in part.leaves()]
    parameters += [Parameter(leaf.known, names.new(leaf.hint)) for leaf in others if isinstance(leaf.known, Var)]
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
    made = Calls.whole(inner, ir, own)
    if inner.returned is not None:
        if made.body.statements:
            raise Escapes(origin)
        return inner.returned  # type: ignore[no-any-return]
    made = without_unread(replace(made, body=prune(made.body)))
    leaves = [var for var in dict.fromkeys(used_in(made.body)) if var in walker.leaves]
    names = Names(parameter.name for parameter, _ in given)
    parameters = (*(Parameter(leaf, names.new(leaf.hint)) for leaf in leaves), *(parameter for parameter, _ in given))
    apart = Apart(function, replace(made, captured=(), parameters=parameters))
    result = walker.define(op.results[0], frame)
    callee = Const(apart, function.__name__, apart)
    walker.add(Op(callee, (*leaves, *(known for _, known in given)), (result,), where=op.where))  # type: ignore[arg-type]
    return result  # type: ignore[no-any-return]
