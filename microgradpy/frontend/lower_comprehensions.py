"""Comprehensions, and generator expressions that a builtin consumes on the spot.

    ys = [f(x) for x in xs if x > 0]    ->    ys = []
                                              for x in xs:
                                                  if x > 0:
                                                      ys.append(f(x))

`any`, `all` and `next` become loops that stop where Python stops.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from microgradpy.frontend import fence
from microgradpy.frontend.guarded_loops import guarded_for
from microgradpy.frontend.lower_core import EXPRESSIONS, Lowering, cell_key, lowers
from microgradpy.frontend.lower_loops import bind, lower_items
from microgradpy.frontend.lower_statements import nothing
from microgradpy.frontend.lower_variables import open_cells
from microgradpy.frontend.places import LoopFrame, Step
from microgradpy.frontend.resolve import builtin
from microgradpy.frontend.scope import Binding, Comprehension, bound_in_expression, bound_in_target, end_of, start_of
from microgradpy.ir.nodes import KEYS_CHECKED, UNDEFINED, Const, Items, Opcode, Value, function_constant
from microgradpy.runtime.keys import constant_key

# These take all items of their argument at once, so a list does as well.
CONSUMERS = (sum, list, tuple, min, max, sorted, dict, set, frozenset)


@lowers(EXPRESSIONS, ast.ListComp)
def lower_list_comprehension(low: Lowering, node: ast.ListComp, name: str) -> Value:
    return collect(low, node, name)


@lowers(EXPRESSIONS, ast.SetComp)
def lower_set_comprehension(low: Lowering, node: ast.SetComp, name: str) -> Value:
    return low.emit(builtin(set), collect(low, node), node=node, name=name)


@lowers(EXPRESSIONS, ast.DictComp)
def lower_dict_comprehension(low: Lowering, node: ast.DictComp, name: str) -> Value:
    return low.emit(builtin(dict), collect(low, node), node=node, name=name, payload=KEYS_CHECKED)


def collect(low: Lowering, node: Comprehension, name: str = "") -> Value:
    """A list of what a comprehension yields (pairs for a dict)."""
    key = low.hidden_name(name or "items")
    low.env[key] = low.emit(Opcode.LIST, node=node, name=key)

    def add() -> None:
        if isinstance(node, ast.DictComp):
            item: Value = low.emit(Opcode.TUPLE, _key(low, node.key), low.expression(node.value), node=node)
        else:
            item = low.expression(node.elt)
        low.env[key] = low.emit(Opcode.APPEND, low.env[key], item, node=node, name=key)

    _lower_generators(low, node, (key,), add)
    return low.env.pop(key)


def _key(low: Lowering, node: ast.expr) -> Value:
    """The key of a dict, which has no derivative: the primal drops the mark, or refuses."""
    key = low.expression(node)
    return key if isinstance(key, Const) else low.emit(function_constant(constant_key), key, node=node)


def lower_quantifier(low: Lowering, node: ast.GeneratorExp, stops_at: bool, name: str) -> Value:
    """`any(...)` (which stops at the first true item) or `all(...)` (at the first false one)."""
    key = low.hidden_name(name or ("found" if stops_at else "holds"))
    low.env[key] = Const(not stops_at)

    def stop() -> None:
        low.env[key] = Const(stops_at)
        low.break_out()

    def test() -> None:
        value = low.expression(node.elt)
        arms = (stop, nothing) if stops_at else (nothing, stop)
        low.branch(value, *arms, node)

    def leave_too() -> None:
        arms = (low.break_out, nothing) if stops_at else (nothing, low.break_out)
        low.branch(low.env[key], *arms, node)

    _lower_generators(low, node, (key,), test, leave_too)
    return low.env.pop(key)


def lower_first(low: Lowering, node: ast.GeneratorExp, default: Value | None, name: str) -> Value:
    """`next(...)`, which stops at the first item, or `next(..., default)`."""
    key, found = low.hidden_name(name or "item"), low.hidden_name("found")
    low.env |= {key: UNDEFINED if default is None else default, found: Const(False)}

    def stop() -> None:
        low.env[key] = low.expression(node.elt)
        low.env[found] = Const(True)
        low.break_out()

    def leave_too() -> None:
        low.branch(low.env[found], low.break_out, nothing, node)

    _lower_generators(low, node, (key, found), stop, leave_too)
    if default is None:
        low.branch(low.env[found], nothing, lambda: low.raise_builtin(StopIteration, node=node), node)
    del low.env[found]
    return low.env.pop(key)


def _lower_generators(
    low: Lowering, node: Comprehension, state: tuple[str, ...], innermost: Step, after_inner: Step = nothing
) -> None:
    """Lower the loops and conditions of a comprehension around `innermost`. Its variables are visible inside only."""
    generators = node.generators
    if any(generator.is_async for generator in generators):
        low.refuse(fence.REFUSED[ast.AsyncFor], node)
    # What `:=` binds belongs to the function around, so every loop hands it on.
    state = (*state, *filter(low.is_state, bound_in_expression(node)))
    names = frozenset(name for generator in generators for name in bound_in_target(generator.target))
    shared = names & low.unit.shared
    inner_names, known_bindings = low.inner_names, len(low.inner_bindings)
    hidden = _hidden_cells(low, shared)

    def level(depth: int) -> None:
        if depth == len(generators):
            innermost()
            return
        generator = generators[depth]
        items, provided = lower_items(low, generator.iter, generator.target)
        if depth == 0:
            # The first iterable belongs to the function around; from here on the names are the comprehension's own.
            low.inner_names = inner_names | names
            open_cells(low, shared, node)

        def body() -> None:
            if depth == 0:
                low.env.update(dict.fromkeys(names - shared, UNDEFINED))
            bind(low, generator.target, provided)
            _lower_conditions(low, generator.ifs, lambda: level(depth + 1))

        _loop(low, generator, items, state, body, nothing if depth else leave_names)
        if depth:
            after_inner()

    def leave_names() -> None:
        low.inner_names = inner_names

    low.inner_bindings += _bindings(low, generators)
    try:
        level(0)
    finally:
        leave_names()
        for key in map(cell_key, shared):
            low.env.pop(key, None)
        low.env.update(hidden)
        del low.inner_bindings[known_bindings:]


def _loop(
    low: Lowering, generator: ast.comprehension, items: Items, state: tuple[str, ...], body: Step, outside: Step
) -> None:
    if low.scopes and low.unit.effects.marked():
        guarded_for(low, generator.target, generator.iter, items, LoopFrame(state), body, outside)
    else:
        low.for_loop(items, LoopFrame(state), body, generator.target)


def _hidden_cells(low: Lowering, names: frozenset[str]) -> dict[str, Value]:
    """The cells of variables of the same name, which a comprehension hides."""
    return {key: low.env[key] for key in map(cell_key, names) if key in low.env}


def _lower_conditions(low: Lowering, conditions: Sequence[ast.expr], then: Step) -> None:
    if not conditions:
        then()
        return
    first, *others = conditions
    low.branch(low.expression(first), lambda: _lower_conditions(low, others, then), nothing, first)


def _bindings(low: Lowering, generators: Sequence[ast.comprehension]) -> list[Binding]:
    """Each variable of a comprehension is bound anew in every iteration."""
    found: list[Binding] = []
    loops = tuple(low.loops)
    for generator in generators:
        loops = (*loops, start_of(generator.target))
        found += [Binding(name, end_of(generator.iter), loops) for name in bound_in_target(generator.target)]
    return found
