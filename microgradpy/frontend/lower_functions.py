"""A function's parameters and body, and the functions defined inside it."""

from __future__ import annotations

import ast
import types

from microgradpy.frontend import fence
from microgradpy.frontend.closures import ClosureBody, PendingClosure, nested_code, rebindings, reject_outdated
from microgradpy.frontend.codes import is_suspended
from microgradpy.frontend.lower_core import EXPRESSIONS, STATEMENTS, Lowering, lowers
from microgradpy.frontend.marks import loops_with_marks, tidy_marks
from microgradpy.frontend.places import Step, Unit
from microgradpy.frontend.prune import prune
from microgradpy.frontend.resolve import Resolver
from microgradpy.frontend.scope import (
    Binding,
    FunctionNode,
    Position,
    bindings,
    body_of,
    declared_elsewhere,
    end_of,
    parameter_names,
    start_of,
)
from microgradpy.ir.nodes import (
    SELF,
    Const,
    Function,
    Opcode,
    Parameter,
    ParameterKind,
    Undefined,
    Unreachable,
    Value,
    Var,
    fresh,
)


def lower_code(
    tree: FunctionNode,
    code: types.CodeType,
    file: str,
    lines: tuple[str, ...],
    resolver: Resolver,
    guarded: frozenset[Position] = frozenset(),
) -> Function:
    """The IR of a function, given the syntax tree and the code object of the same text. The loops in `guarded` hand over
    what they have done to the handlers around them; which those are is known when the function has been lowered once."""
    parameters = lower_parameters(tree.args)
    captured = tuple(fresh(name, user_named=True) for name in code.co_freevars)
    env: dict[str, Value] = dict(zip(code.co_freevars, captured, strict=True))
    env.update((parameter.name, parameter.var) for parameter in parameters)
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
        packed=frozenset(parameter.var for parameter in parameters if parameter.kind in packed),
        guarded=guarded,
    )
    low = Lowering(unit, env, tree)
    region = low.arm(lambda: _lower_body(low, tree)).block.seal(Unreachable())
    region = tidy_marks(prune(region))
    more = loops_with_marks(region) - guarded
    if more:
        return lower_code(tree, code, file, lines, resolver, guarded | more)
    region = prune(reject_outdated(region, low.closures))
    name = "lambda_" if isinstance(tree, ast.Lambda) else code.co_name
    low.statement = tree
    return Function(name, parameters, captured, region, where=low.location(tree))


def _lower_body(low: Lowering, tree: FunctionNode) -> None:
    if is_suspended(low.unit.code):
        low.refuse(fence.suspended(low.unit.code), tree)
    if isinstance(tree, ast.Lambda):
        low.statement = tree.body
        low.return_value(low.expression(tree.body), tree.body)
    low.statements(tree.body, lambda: low.return_value(Const(None), low.statement))


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
    decorators = [low.expression(decorator) for decorator in node.decorator_list]
    value: Value = make_closure(low, node, "" if decorators else node.name)
    for decorator in reversed(decorators):
        value = low.emit(decorator, value, node=node, name=node.name)
    low.env[node.name] = value


@lowers(EXPRESSIONS, ast.Lambda)
def lower_lambda(low: Lowering, node: ast.Lambda, name: str) -> Value:
    return make_closure(low, node, name)


def make_closure(low: Lowering, node: FunctionNode, name: str) -> Var:
    code = nested_code(low.unit.code, node)
    if code is None:
        low.refuse(fence.UNKNOWN_SYNTAX, node)
    defaults = [low.expression(default) for default in node.args.defaults]
    named = [(a.arg, low.expression(d)) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d]
    captured = [_captured(low, name, node) for name in code.co_freevars]
    outdating = _rebindings(low, code, node)
    refused = [fence.rebound_capture(binding.name, node.lineno, binding.position[0]) for binding in outdating[:1]]
    if refused and low.in_condition:
        low.refuse(refused[0], node)
    function = lower_code(node, code, low.unit.file, low.unit.lines, low.unit.resolver)
    payload = ClosureBody(function, code, len(defaults), tuple(name for name, _ in named))
    arguments = (*captured, *defaults, *(value for _, value in named))
    result = low.emit(Opcode.CLOSURE, *arguments, node=node, name=name, payload=payload)
    if refused:
        low.closures.append(PendingClosure(result, outdating, *low.refusal(refused[0], node)))
    return result


def _captured(low: Lowering, name: str, node: ast.AST) -> Value:
    if isinstance(node, ast.FunctionDef) and name == node.name and not node.decorator_list:
        # Whatever the name means so far, it means this function before that can be called.
        return Const(SELF, "SELF", SELF)
    value = low.env.get(name)
    if value is None or isinstance(value, Undefined):
        later = [b.position[0] for b in _bindings_of(low, name)]
        low.refuse(fence.self_reference(name, max(later, default=start_of(node)[0])), node)
    return value


def _bindings_of(low: Lowering, name: str) -> list[Binding]:
    """Where a variable gets its values; a comprehension's own variable hides the function's."""
    inner = [binding for binding in low.inner_bindings if binding.name == name and name in low.inner_names]
    return inner or [binding for binding in low.unit.bindings if binding.name == name and name in low.unit.locals]


def _rebindings(low: Lowering, code: types.CodeType, node: ast.AST) -> tuple[Binding, ...]:
    bound = [binding for name in code.co_freevars for binding in _bindings_of(low, name)]
    return rebindings(bound, end_of(node), low.loops)
