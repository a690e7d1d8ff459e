"""`for` and `while` with their `else`, and what a `for` runs over.

    for i, (a, b) in enumerate(zip(xs, ys)):     ->  for Enumerate(Zip(Each(xs, a), Each(ys, b)), 0, i)
    for pair in enumerate(xs):                   ->  for Enumerate(Each(xs, item), 0, index): pair = (index, item)

The `else` of a loop that has a `break` is an `if` over a flag that the `break` sets. A condition that binds names is
evaluated inside the loop:

    while (x := f(x)) > 1.0: ...                 ->  while True: x = f(x); if x > 1.0: ... else: break
"""

from __future__ import annotations

import ast
import types

from microgradpy.frontend.generators import suspends
from microgradpy.frontend.guarded_loops import guarded_for, guarded_while, is_guarded
from microgradpy.frontend.lower_core import STATEMENTS, Lowering, lowers
from microgradpy.frontend.lower_statements import nothing
from microgradpy.frontend.lower_targets import assign, is_pattern, name_of
from microgradpy.frontend.places import LoopFrame, Step
from microgradpy.frontend.scope import bound_in_expression, bound_in_target, bound_names, statements_in
from microgradpy.frontend.trees import children
from microgradpy.ir.nodes import (
    Const,
    DictItems,
    Each,
    Enumerate,
    Items,
    Opcode,
    Range,
    Reversed,
    Value,
    Var,
    Zip,
)

# What one iteration provides: a variable, or a tuple that is taken apart before it is ever made.
Provided = Var | tuple["Provided", ...]


@lowers(STATEMENTS, ast.For)
def lower_for(low: Lowering, node: ast.For, rest: Step) -> bool | None:
    frame = _frame(low, node)
    items, provided = lower_items(low, node.iter, node.target)

    def body() -> None:
        bind(low, node.target, provided)
        low.statements(node.body, low.go_on)

    if is_guarded(low, node):
        guarded_for(low, node, node.iter, items, frame, body)
        return _lower_else(low, node, frame, rest)
    low.for_loop(items, frame, body, node)
    return _lower_else(low, node, frame, rest)


@lowers(STATEMENTS, ast.While)
def lower_while(low: Lowering, node: ast.While, rest: Step) -> bool | None:
    frame = _frame(low, node)
    if is_guarded(low, node):
        guarded_while(low, node, frame)
        return _lower_else(low, node, frame, rest)
    is_bound = bound_in_expression(node.test) or suspends(node.test)
    if not is_bound and (_compares_numbers(node.test) or not low.unit.effects.marked()):
        low.while_loop(lambda: low.expression(node.test), frame, lambda: low.statements(node.body, low.go_on), node)
        return _lower_else(low, node, frame, rest)

    def body() -> None:
        low.statement = node
        condition = low.expression(node.test)
        # The test is no `break`, so it leaves the flag of the `else` as it is.
        low.branch(condition, lambda: low.statements(node.body, low.go_on), low.break_loop, node)

    low.while_loop(lambda: Const(True), frame, body, node)
    return _lower_else(low, node, frame, rest)


def _compares_numbers(test: ast.expr) -> bool:
    """Whether a test only compares numbers, as far as its text shows. What else it may do belongs into the body, where it is
    undone."""
    match test:
        case ast.Compare(left=left, ops=signs, comparators=others):
            return not any(isinstance(sign, ast.In | ast.NotIn) for sign in signs) and all(map(_is_operand, (left, *others)))
        case ast.BoolOp(values=parts):
            return all(map(_compares_numbers, parts))
        case ast.UnaryOp(op=ast.Not(), operand=part):
            return _compares_numbers(part)
    return isinstance(test, ast.Constant)


def _is_operand(value: ast.expr) -> bool:
    match value:
        case ast.BinOp(left=left, right=right):
            return _is_operand(left) and _is_operand(right)
        case ast.UnaryOp(operand=operand):
            return _is_operand(operand)
    return isinstance(value, ast.Name | ast.Constant)


def _frame(low: Lowering, node: ast.For | ast.While) -> LoopFrame:
    head = bound_in_target(node.target) if isinstance(node, ast.For) else bound_in_expression(node.test)
    bound = [*head, *bound_names(node.body)]
    state = tuple(filter(low.is_state, dict.fromkeys(bound)))
    returns = any(isinstance(inner, ast.Return) for inner in statements_in(node.body))
    protections = low.protections if returns else ()
    state += tuple(name for protection in protections for name in (protection.leave, protection.value))
    if not (node.orelse and (_has_break(node.body) or protections or is_guarded(low, node))):
        return LoopFrame(state)
    flag = low.hidden_name("broke")
    low.env[flag] = Const(False)
    return LoopFrame((*state, flag), flag)


def _has_break(body: list[ast.stmt]) -> bool:
    """Whether a `break` in these statements leaves the loop whose body they are."""
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, ast.For | ast.While | ast.AsyncFor):
            pending.extend(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            pending.extend(children(node))
    return False


def _lower_else(low: Lowering, node: ast.For | ast.While, frame: LoopFrame, rest: Step) -> bool | None:
    if not frame.flag:
        low.statements(node.orelse, None)
        return None
    broken = low.env.pop(frame.flag)
    return low.branch(broken, nothing, lambda: low.statements(node.orelse, None), node, rest)


def lower_items(low: Lowering, node: ast.expr, target: ast.expr | None) -> tuple[Items, Provided]:
    """What an iterable provides; variables are named after the parts of the target that they will be bound to."""
    match node:
        case ast.Call(func=ast.Name(id="range"), args=arguments) if _is_plain(low, node, range, 1, 3):
            item = low.variable(name_of(target))
            return Range(tuple(map(low.expression, arguments)), item), item
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *start]) if _is_plain(low, node, enumerate, 1, 2):
            index_target, inner_target = _parts(target, 2)
            inner_items, provided = lower_items(low, inner, inner_target)
            start += [keyword.value for keyword in node.keywords]
            first = low.expression(start[0]) if start else Const(0)
            index = low.variable(name_of(index_target))
            return Enumerate(inner_items, first, index), (index, provided)
        case ast.Call(func=ast.Name(id="zip"), args=arguments) if _is_plain(low, node, zip, 1, None):
            pairs = zip(arguments, _parts(target, len(arguments)), strict=True)
            lowered = [lower_items(low, argument, part) for argument, part in pairs]
            strict = bool(node.keywords) and node.keywords[0].value.value is True  # type: ignore[attr-defined]
            return Zip(tuple(items for items, _ in lowered), strict), tuple(provided for _, provided in lowered)
        case ast.Call(func=ast.Name(id="reversed"), args=[inner]) if _is_plain(low, node, reversed, 1, 1):
            return _lower_reversed(low, inner, target)
        case ast.Call(func=ast.Attribute(value=owner, attr="items"), args=[], keywords=[]):
            return _lower_dict_items(low, node, owner, target)
        case ast.List(elts=[*items]) if all(isinstance(item, ast.Constant) for item in items) and low.unit.effects.marked():
            # As Python does: nobody can write into a tuple, so its items stay the constants that they are.
            return _lower_each(low, low.expression(ast.copy_location(ast.Tuple(items, ast.Load()), node)), target)
    return _lower_each(low, low.expression(node), target)


def _lower_each(low: Lowering, source: Value, target: ast.expr | None) -> tuple[Each, Var]:
    item = low.variable(name_of(target))
    return Each(source, item), item


def _lower_reversed(low: Lowering, node: ast.expr, target: ast.expr | None) -> tuple[Items, Provided]:
    match node:
        case ast.Call(func=ast.Name(id="range")) if _is_plain(low, node, range, 1, 3):
            items, provided = lower_items(low, node, target)
        case _:
            items, provided = _lower_each(low, low.expression(node), target)
    assert isinstance(items, Each | Range)
    return Reversed(items), provided


def _lower_dict_items(low: Lowering, node: ast.Call, owner: ast.expr, target: ast.expr | None) -> tuple[Items, Provided]:
    value = low.expression(owner)
    if isinstance(value, Const) and isinstance(value.value, types.ModuleType):
        return _lower_each(low, low.expression(node), target)  # a module's function that is called `items`
    key, item = (low.variable(name_of(part)) for part in _parts(target, 2))
    return DictItems(value, key, item), (key, item)


def _is_plain(low: Lowering, node: ast.Call, function: object, least: int, most: int | None) -> bool:
    """Whether a call is one of the builtin itself, with so many positional arguments and nothing else."""
    name = node.func.id  # type: ignore[attr-defined]
    named = [keyword.arg for keyword in node.keywords]
    if name in low.env or low.is_local(name) or (named and not _is_known_keyword(node, function)):
        return False
    constant = low.unit.resolver.name(name)
    given = len(node.args) + (len(named) if function is enumerate else 0)
    fits = least <= given <= (given if most is None else most)
    return constant is not None and constant.value is function and fits and not _has_star(node.args)


def _is_known_keyword(node: ast.Call, function: object) -> bool:
    """`start=` of enumerate, and `strict=` of zip if it is written out."""
    (keyword, *rest) = node.keywords
    if rest:
        return False
    if function is enumerate:
        return keyword.arg == "start"
    literal = isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, bool)
    return function is zip and keyword.arg == "strict" and literal


def _has_star(arguments: list[ast.expr]) -> bool:
    return any(isinstance(argument, ast.Starred) for argument in arguments)


def _parts(target: ast.expr | None, count: int) -> list[ast.expr | None]:
    if is_pattern(target) and len(target.elts) == count:  # type: ignore[union-attr]
        return list(target.elts)  # type: ignore[union-attr]
    return [None] * count


def bind(low: Lowering, target: ast.expr, provided: Provided) -> None:
    """Bind a target to what the iteration provides, making tuples only where the target does not take them apart."""
    if isinstance(provided, Var):
        assign(low, target, provided)
    elif None in _parts(target, len(provided)):
        assign(low, target, _make(low, provided, target, name_of(target)))
    else:
        for part, value in zip(_parts(target, len(provided)), provided, strict=True):
            assert part is not None
            bind(low, part, value)


def _make(low: Lowering, provided: Provided, node: ast.expr, name: str = "") -> Var:
    if isinstance(provided, Var):
        return provided
    return low.emit(Opcode.TUPLE, *(_make(low, part, node) for part in provided), node=node, name=name)
