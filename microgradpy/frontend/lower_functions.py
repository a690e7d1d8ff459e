"""A function's parameters and body, and the functions defined inside it."""

from __future__ import annotations
import __future__

import ast
import itertools
import types
import typing
from collections.abc import Iterator
from typing import Any

from microgradpy.frontend import fence
from microgradpy.frontend.attempt import Catch, lower_attempt
from microgradpy.frontend.class_bodies import read_in_cells
from microgradpy.frontend.closures import ClosureBody, PendingClosure, Shared, nested_code, outdated_names, rebindings
from microgradpy.frontend.codes import GENERATOR_EXPRESSION, is_asynchronous
from microgradpy.frontend.generators import FIRST_ITERABLE, function_of_expression, iterator_of
from microgradpy.frontend.lower_core import EXPRESSIONS, MISSING, STATEMENTS, Lowering, cell_key, lowers
from microgradpy.frontend.lower_targets import assign_name
from microgradpy.frontend.lower_variables import open_cells
from microgradpy.frontend.marks import loops_with_marks, scopes_that_go_on, tidy_marks
from microgradpy.frontend.notes import with_notes
from microgradpy.frontend.places import Effects, Group, Step, Unit
from microgradpy.frontend.prune import prune
from microgradpy.frontend.resolve import Resolver, builtin
from microgradpy.frontend.scope import (
    Binding,
    FunctionNode,
    Position,
    bindings,
    body_of,
    declared_elsewhere,
    end_of,
    fragile_names,
    parameter_names,
)
from microgradpy.frontend.sharing import known_cells, note_cells, note_shared, rebound_inside, shared_by_inner, shared_in
from microgradpy.frontend.source import shared_names
from microgradpy.frontend.trees import walk, walk_statements
from microgradpy.ir.flows import Flow, connected, flows_in, maybe_undefined
from microgradpy.ir.nodes import (
    SELF,
    Const,
    Function,
    Op,
    Opcode,
    Parameter,
    ParameterKind,
    Undefined,
    Unreachable,
    Value,
    Var,
    fresh,
    function_constant,
)
from microgradpy.runtime.failures import Failure
from microgradpy.runtime.making import LATER, annotated, tie
from microgradpy.runtime.suspension import is_generator

_LATER = Const(LATER, "LATER", LATER)
_READERS = frozenset({"register", "signature", "get_type_hints", "get_annotations", "__annotations__"})
"""By these, code reads the annotations of a function that it is given."""


def lower_code(
    tree: FunctionNode,
    code: types.CodeType,
    file: str,
    lines: tuple[str, ...],
    resolver: Resolver,
    *,
    effects: Effects | None = None,
    catches: bool = False,
    notes: bool = False,
) -> Function:
    """The IR of a function, given the syntax tree and the code object of the same text. For functions that write, marks say
    after which of the `effects` an exception came, and one that `catches` returns a `Failure` instead of raising. With `notes`
    it notes what its variables are when it returns."""
    effects = Effects() if effects is None else effects
    rebound = rebound_inside(code) | shared_by_inner(code)
    shared = shared_names(code, resolver.module_globals()) | rebound | known_cells(code)
    read = read_in_cells(tree, code) if code.co_cellvars else frozenset()
    if read and effects.marked():
        note_cells(code, read)
        shared |= known_cells(code)
    while True:
        for inner, names in shared_in(code, shared):
            note_shared(inner, names)
        try:
            return _lower_with(tree, code, file, lines, resolver, shared, effects, catches=catches, notes=notes)
        except Shared as found:
            shared |= found.names
            note_cells(code, found.names)


def _lower_with(
    tree: FunctionNode,
    code: types.CodeType,
    file: str,
    lines: tuple[str, ...],
    resolver: Resolver,
    shared: frozenset[str],
    effects: Effects,
    guarded: frozenset[Position] = frozenset(),
    *,
    catches: bool = False,
    notes: bool = False,
) -> Function:
    """The IR of a function of which these variables live in cells; raises `Shared` if it has to be more of them. The loops in
    `guarded` hand over what they have done to the handlers around them; which those are is known when the function has been
    lowered once."""
    parameters = lower_parameters(tree.args)
    captured = tuple(fresh(f"{name}_cell") if name in shared else fresh(name, user_named=True) for name in code.co_freevars)
    keys = (cell_key(name) if name in shared else name for name in code.co_freevars)
    env: dict[str, Value] = dict(zip(keys, captured, strict=True))
    env.update((parameter.name, parameter.var) for parameter in parameters)
    if code.co_name == GENERATOR_EXPRESSION:
        # What it runs over has no name that could be written.
        name = "source_" if "source" in code.co_freevars else "source"
        parameters = (Parameter(fresh(name, user_named=True), name, parameters[0].kind),)
        env[FIRST_ITERABLE] = parameters[0].var
    body = body_of(tree)
    bound = bindings(body)
    local = {*parameter_names(tree.args), *(binding.name for binding in bound)} - declared_elsewhere(body)
    packed = (ParameterKind.VARIADIC, ParameterKind.KEYWORDS)
    unit = Unit(
        file=file,
        lines=lines,
        name=code.co_name,
        code=code,
        resolver=resolver,
        locals=frozenset(local),
        bindings=tuple(bound),
        fragile=fragile_names(body),
        groups=find_groups(tree, code),
        packed=frozenset(parameter.var for parameter in parameters if parameter.kind in packed),
        guarded=guarded,
        shared=shared,
        effects=effects,
        catches=catches,
        notes=fresh("notes") if notes else None,
    )
    low = Lowering(unit, env, tree)
    region = low.arm(lambda: _lower_body(low, tree)).block.seal(Unreachable())
    unassigned = _perhaps_unassigned(flows_in(region)) if low.captures else ()
    missing = frozenset(name for name, value in low.captures if value in unassigned)
    if missing:
        raise Shared(missing)
    if unit.notes is not None:
        region = with_notes(region, unit.notes, parameters, effects.marked())
    region = prune(region)
    handled = scopes_that_go_on(region)
    region = tidy_marks(region, spared=handled if handled and effects.marked() else frozenset())
    more = loops_with_marks(region) - guarded
    if more:
        more |= guarded
        return _lower_with(tree, code, file, lines, resolver, shared, effects, more, catches=catches, notes=notes)
    outdated = outdated_names(region, low.closures)
    if outdated:
        raise Shared(outdated)
    region = prune(region)
    name = {"<lambda>": "lambda_", GENERATOR_EXPRESSION: "generator"}.get(code.co_name, code.co_name)
    low.statement = tree
    return Function(name, parameters, captured, region, where=low.location(tree))


def _perhaps_unassigned(flows: list[Flow]) -> set[Var]:
    """The variables that have no value on some path, or none any more, after `del`."""
    return maybe_undefined(flows) | connected({target for target, value in flows if value == MISSING}, flows, forward=True)


def _lower_body(low: Lowering, tree: FunctionNode) -> None:
    if is_asynchronous(low.unit.code):
        low.refuse(fence.ASYNC_FUNCTION, tree)
    open_cells(low, low.unit.shared & low.unit.locals, tree)

    def body() -> None:
        if isinstance(tree, ast.Lambda):
            low.statement = tree.body
            low.return_value(low.expression(tree.body), tree.body)
        low.statements(tree.body, lambda: low.return_value(Const(None), low.statement))

    if low.unit.catches:
        catch_all(low, tree, body)
    else:
        body()


def lower_parameters(arguments: ast.arguments) -> tuple[Parameter, ...]:
    found: list[Parameter] = []

    def add(argument: ast.arg | None, kind: ParameterKind) -> None:
        if argument is not None:
            found.append(Parameter(fresh(argument.arg, user_named=True), argument.arg, kind))

    for argument in [*arguments.posonlyargs, *arguments.args]:
        add(argument, ParameterKind.POSITIONAL)
    add(arguments.vararg, ParameterKind.VARIADIC)
    for argument in arguments.kwonlyargs:
        add(argument, ParameterKind.KEYWORD)
    add(arguments.kwarg, ParameterKind.KEYWORDS)
    return tuple(found)


@lowers(STATEMENTS, ast.FunctionDef, ast.AsyncFunctionDef)
def lower_nested_function(low: Lowering, node: ast.FunctionDef | ast.AsyncFunctionDef, rest: Step) -> None:
    """Decorators are evaluated before the function is made, and applied from the last to the first."""
    group = low.unit.groups.get(node, ())
    if group and not any(low.is_shared(other.name) for other in group):
        if node is group[0]:
            _lower_group(low, group)
        return
    decorators = [low.expression(decorator) for decorator in node.decorator_list]
    value: Value = make_closure(low, node, "" if decorators else node.name)
    if decorators or not _READERS.isdisjoint(low.unit.code.co_names):
        value = _annotated(low, node, value)
    for decorator in reversed(decorators):
        value = low.emit(decorator, value, node=node, name=node.name)
    assign_name(low, node.name, value, node)


def _annotated(low: Lowering, node: ast.FunctionDef | ast.AsyncFunctionDef, function: Value) -> Value:
    """A function with its annotations, where a decorator or something else may read them."""
    given = node.args
    parameters = (*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg)
    found = [(parameter.arg, parameter.annotation) for parameter in parameters if parameter is not None]
    written = {name: value for name, value in (*found, ("return", node.returns)) if value is not None}
    if not written:
        return function
    if low.unit.code.co_flags & __future__.annotations.compiler_flag:
        values: list[Value] = [Const(ast.unparse(value)) for value in written.values()]
    else:
        values = [low.expression(value) for value in written.values()]
    return low.emit(function_constant(annotated), function, Const(tuple(written)), *values, node=node)


def _lower_group(low: Lowering, group: Group) -> None:
    """Functions of which an early one uses a later one: each is made, and then they get each other.

    def even(n): ... odd(n - 1)         %1 = closure even (LATER); %2 = closure odd (%1)
    def odd(n): ... even(n - 1)         %3/even, %4/odd = tie(('even', 'odd'), %1, %2)
    """
    names = tuple(node.name for node in group)
    for name in names:
        low.env[name] = _LATER
    for node in group:
        low.statement = node
        low.env[node.name] = make_closure(low, node, node.name, made=end_of(group[-1]))
    arguments = (Const(names), *(low.env[name] for name in names))
    tied = low.emit(function_constant(tie), *arguments, node=group[0])
    variables = tuple(low.variable(name) for name in names)
    low.block.statements.append(Op(Opcode.UNPACK, (tied,), variables, where=low.location(group[0])))
    low.env.update(zip(names, variables, strict=True))


def find_groups(tree: FunctionNode, code: types.CodeType) -> dict[ast.stmt, Group]:
    """The functions defined one right after the other of which an early one uses a later one, by each of them."""
    found: dict[ast.stmt, Group] = {}
    for body in _bodies(tree):
        for _, run in itertools.groupby(body, key=_is_plain_function):
            for group in _groups_of(list(run), code):
                found |= dict.fromkeys(group, group)
    return found


def _bodies(tree: ast.AST) -> Iterator[list[Any]]:
    """The sequences of statements in a tree that may define functions."""
    for node in walk_statements([tree]):
        bodies = (getattr(node, "body", None), getattr(node, "orelse", None))
        yield from (body for body in bodies if isinstance(body, list))


def _is_plain_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and not node.decorator_list


def _groups_of(run: list[ast.FunctionDef], code: types.CodeType) -> Iterator[Group]:
    if len(run) < 2 or not _is_plain_function(run[0]):
        return
    names = [node.name for node in run]
    start = 0
    while start < len(run):
        # The last function that one of those up to here uses.
        end = start
        index = start
        while index <= end:
            inner = nested_code(code, run[index])
            used = inner.co_freevars if inner is not None else ()
            end = max([end, *(later for later in range(index + 1, len(run)) if names[later] in used)])
            index += 1
        group = tuple(run[start : end + 1])
        if len(group) > 1 and len(set(names[start : end + 1])) == len(group):
            yield group
        start = end + 1


@lowers(EXPRESSIONS, ast.GeneratorExp)
def lower_generator_expression(low: Lowering, node: ast.GeneratorExp, name: str) -> Value:
    """A generator expression that is kept is a function that yields, called with what it runs over first."""
    if any(isinstance(inner, ast.NamedExpr) for inner in walk(node)):
        low.refuse(fence.BINDING_GENERATOR, node)
    source = low.expression(node.generators[0].iter)
    function = make_closure(low, function_of_expression(node), "")
    items = low.emit(function_constant(iterator_of), source, function, node=node)
    return low.emit(function, items, node=node, name=name)


@lowers(EXPRESSIONS, ast.Lambda)
def lower_lambda(low: Lowering, node: ast.Lambda, name: str) -> Value:
    return make_closure(low, node, name)


def make_closure(low: Lowering, node: FunctionNode, name: str, made: Position | None = None) -> Var:
    """The operation that makes a function, which is finished where its text ends, or at `made`."""
    code = nested_code(low.unit.code, node)
    if code is None:
        low.refuse(fence.UNKNOWN_SYNTAX, node)
    defaults = [low.expression(default) for default in node.args.defaults]
    named = [(a.arg, low.expression(d)) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d]
    captured = [captured_value(low, name, node) for name in code.co_freevars]
    made = made or end_of(node)
    outdating = _rebindings(low, code, made)
    # A generator goes on running after it was called.
    if outdating and (low.in_condition or is_generator(code)):
        raise Shared(frozenset(binding.name for binding in outdating))
    function = lower_code(node, code, low.unit.file, low.unit.lines, low.unit.resolver)
    shared = tuple(filter(low.is_shared, code.co_freevars))
    payload = ClosureBody(function, code, len(defaults), tuple(name for name, _ in named), shared)
    arguments = (*captured, *defaults, *(value for _, value in named))
    result = low.emit(Opcode.CLOSURE, *arguments, node=node, name=name, payload=payload)
    if outdating:
        low.closures.append(PendingClosure(result, outdating, made))
    return result


def captured_value(low: Lowering, name: str, node: ast.AST) -> Value:
    """What a function or class made here gets for a variable of this function."""
    if low.is_shared(name):
        return low.env[cell_key(name)]
    if isinstance(node, ast.FunctionDef) and name == node.name and not node.decorator_list:
        # Whatever the name means so far, it means this function before that can be called.
        return Const(SELF, "SELF", SELF)
    for parameter in getattr(node, "type_params", ()):
        if type(parameter).__name__ == "TypeVar" and parameter.name == name and parameter.bound is None:
            return low.emit(Const(typing.TypeVar, "TypeVar", typing.TypeVar), Const(name), node=node, name=name)
    value = low.env.get(name)
    if value is None or isinstance(value, Undefined) or value == MISSING:
        raise Shared(frozenset((name,)))
    low.captures.append((name, value))
    return value


def bindings_of(low: Lowering, name: str) -> list[Binding]:
    """Where a variable gets its values; a comprehension's own variable hides the function's."""
    inner = [binding for binding in low.inner_bindings if binding.name == name and name in low.inner_names]
    return inner or [binding for binding in low.unit.bindings if binding.name == name and name in low.unit.locals]


def _rebindings(low: Lowering, code: types.CodeType, made: Position) -> tuple[Binding, ...]:
    names = (name for name in code.co_freevars if not low.is_shared(name))
    bound = [binding for name in names for binding in bindings_of(low, name)]
    return rebindings(bound, made, low.loops)


def catch_all(low: Lowering, node: ast.AST, body: Step) -> None:
    """Lower the body of a function so that it returns what it raises, for a caller that goes on after the exception: its
    adjoint undoes what it had done by then. `microgradpy.runtime.failures` has the other side."""

    def fail(exception: Var) -> None:
        low.return_value(low.emit(function_constant(Failure), exception, node=node), node)

    lower_attempt(low, node, (), body, [Catch((builtin(BaseException),), ".exception", fail)], is_users=False)
