"""Rules as macros: the text of a rule, lowered once, spliced into the primal and into the adjoint.

    @rrule.register(operator.mul)                         z = x * y            in the primal
    def mul_rrule(x, y):
        def mul_pullback(z_bar):                          x_bar = z_bar * y    in the adjoint
            return NoTangent(), unbroadcast(z_bar * y, x), unbroadcast(z_bar * x, y)
        return x * y, mul_pullback

The values the pullback closes over are the candidates to be saved. A rule that still branches on data after its
constants are folded, that loops, or that calls something of unknown effect is `NotInlinable` and is dispatched at run
time instead.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, final

from microgradpy.ad.binding import bind_arguments, is_literal, literal_defaults
from microgradpy.ad.instrument import instrument_function
from microgradpy.errors import DifferentiationError
from microgradpy.frontend.closures import ClosureBody
from microgradpy.frontend.lower import lower_function
from microgradpy.ir.nodes import (
    Const,
    Function,
    If,
    Op,
    Opcode,
    ParameterKind,
    Region,
    Return,
    Undefined,
    Value,
    Var,
    Yield,
)
from microgradpy.passes.typed_builder import TypedBuilder
from microgradpy.tangents.thunks import InplaceableThunk, Thunk, thunk, unthunk


class NotInlinable(Exception):
    """The rule has to be dispatched at run time."""


@final
@dataclass(frozen=True, slots=True)
class StaticTuple:
    """A tuple taken apart by the compiler."""

    items: tuple[Static, ...]


@final
@dataclass(frozen=True, slots=True)
class StaticClosure:
    """A nested function of a rule, with the values it closes over."""

    function: Function
    captured: tuple[Static, ...]
    globals: Mapping[str, Any]


Static = Value | StaticTuple | StaticClosure

_templates: dict[Any, Function | None] = {}


def rule_template(rule: types.FunctionType) -> Function | None:
    """The lowered and instrumented text of a rule, or None if it cannot be had. Kept per code object."""
    if rule.__closure__:
        return None
    key = rule.__code__
    if key not in _templates:
        if len(_templates) > 4096:
            _templates.clear()
        try:
            _templates[key] = instrument_function(lower_function(rule).function)
        except DifferentiationError:
            _templates[key] = None
    return _templates[key]


def splice_rule(
    rule: Callable[..., Any], arguments: tuple[Value, ...], keywords: Mapping[str, Value], builder: TypedBuilder
) -> tuple[Var, StaticClosure, tuple[Value, ...]]:
    """Append the forward part of a rule. Returns the value, the pullback, and the arguments in the order of the rule's
    positional parameters. Raises NotInlinable, with nothing appended."""
    template = rule_template(rule) if isinstance(rule, types.FunctionType) else None
    if template is None:
        raise NotInlinable
    assert isinstance(rule, types.FunctionType)
    bound, positional = _bind(template, rule, arguments, keywords, builder)
    with builder.region() as statements:
        outcome = _Splice(builder, rule.__globals__, bound).run(template.body)
        match outcome:
            case StaticTuple(items=(Var() as value, StaticClosure() as pullback)):
                pass
            case _:
                raise NotInlinable
        if value in bound.values() or value not in builder.producers:
            raise NotInlinable
    with builder.region():  # a trial: what cannot be inlined must be known before the primal is fixed
        items = splice_pullback(pullback, builder.variable(builder.kind(value)), builder)
        if not items or any(item != Const(None) for item in items[1 + rule.__code__.co_argcount :]):
            raise NotInlinable  # it is refused where it is called
    defaulted = _defaulted(template, arguments, keywords)
    for statement in statements:
        if isinstance(statement, Op) and statement.results == (value,):
            # The user's call, without the defaults that the rule spells out.
            given = tuple(pair for pair in statement.keywords if pair[0] not in defaulted)
            statement = replace(statement, keywords=given, from_user=True)
        builder.add(statement)
    return value, pullback, positional


def splice_pullback(pullback: StaticClosure, cotangent: Value, builder: TypedBuilder) -> tuple[Static, ...]:
    """Append the body of a pullback; returns the cotangents, that of the function itself first."""
    function = pullback.function
    (parameter,) = function.parameters
    bound: dict[Var, Static] = dict(zip(function.captured, pullback.captured, strict=True))
    bound[parameter.var] = cotangent
    outcome = _Splice(builder, pullback.globals, bound).run(function.body)
    if not isinstance(outcome, StaticTuple):
        raise NotInlinable
    return outcome.items


def _bind(
    template: Function,
    rule: types.FunctionType,
    arguments: tuple[Value, ...],
    keywords: Mapping[str, Value],
    builder: TypedBuilder,
) -> tuple[dict[Var, Static], tuple[Value, ...]]:
    """The values of the parameters of a rule, and those of the positional ones in their order."""
    values = bind_arguments(rule, arguments, keywords, literal_defaults(rule))
    if values is None:
        raise NotInlinable
    named_only = [p.name for p in template.parameters if p.kind is not ParameterKind.POSITIONAL]
    if any(builder.is_active(keywords[name]) for name in named_only if name in keywords):
        raise NotInlinable  # a pullback has no cotangent for it; the dispatcher says so
    bound: dict[Var, Static] = {parameter.var: values[parameter.name] for parameter in template.parameters}
    return bound, tuple(values[p.name] for p in template.parameters if p.kind is ParameterKind.POSITIONAL)


def _defaulted(template: Function, arguments: tuple[Value, ...], keywords: Mapping[str, Value]) -> set[str]:
    """The parameters of a rule that the call leaves at their defaults."""
    return {p.name for p in template.parameters[len(arguments) :] if p.name not in keywords}


_TRUSTED = ("numpy", "math", "cmath", "operator", "builtins", "_operator", "microgradpy", "scipy")


def _is_trusted(function: object) -> bool:
    """Whether a rule's call of `function` can be emitted without asking what else it does."""
    module = str(getattr(function, "__module__", None) or type(function).__module__)
    return module.partition(".")[0] in _TRUSTED and function is not print


class _Splice:
    """Evaluates a rule's region: what is static is computed here, the rest is appended to the builder."""

    def __init__(self, builder: TypedBuilder, namespace: Mapping[str, Any], values: dict[Var, Static]) -> None:
        self.builder = builder
        self.namespace = namespace
        self.values = dict(values)

    def run(self, region: Region) -> Static:
        """The value the region returns."""
        returned = self.enter(region)
        if returned is None:
            raise NotInlinable
        return returned

    def enter(self, region: Region) -> Static | None:
        """Run a region; its returned value, or None if it yields (the yielded values are in `self.yielded`)."""
        for statement in region.statements:
            match statement:
                case Op():
                    self.operation(statement)
                case If():
                    returned = self.branch(statement)
                    if returned is not None:
                        return returned
                case _:
                    raise NotInlinable
        match region.terminator:
            case Return(value=value):
                return self.of(value)
            case Yield(values=values):
                self.yielded = tuple(map(self.of, values))
                return None
        raise NotInlinable

    def branch(self, statement: If) -> Static | None:
        condition = self.of(statement.condition)
        if not isinstance(condition, Const):
            raise NotInlinable
        returned = self.enter(statement.then if condition.value else statement.orelse)
        if returned is None:
            self.values.update(zip(statement.results, self.yielded, strict=True))
        return returned

    def of(self, value: Value) -> Static:
        return self.values[value] if isinstance(value, Var) else value

    def plain(self, value: Value) -> Value:
        """The value of an argument of an emitted call."""
        static = self.of(value)
        match static:
            case StaticTuple(items=items):
                if not all(isinstance(item, Var | Const) for item in items):
                    raise NotInlinable
                values = tuple(item for item in items if isinstance(item, Var | Const))
                return self.builder.operation(Opcode.TUPLE, values)[0]
            case StaticClosure() | Undefined():
                raise NotInlinable
        return static

    def operation(self, op: Op) -> None:
        match op:
            case Op(callee=Opcode.TUPLE):
                self.values[op.result] = StaticTuple(tuple(map(self.of, op.arguments)))
            case Op(callee=Opcode.CLOSURE, payload=ClosureBody(function=function)):
                count = len(function.captured)
                captured = tuple(map(self.of, op.arguments[:count]))
                nested = instrument_function(function)
                self.values[op.result] = StaticClosure(nested, captured, self.namespace)
            case Op(callee=Opcode.UNPACK):
                source = self.of(op.arguments[0])
                if not isinstance(source, StaticTuple) or len(source.items) != len(op.results):
                    raise NotInlinable
                self.values.update(zip(op.results, source.items, strict=True))
            case Op(callee=Opcode.GLOBAL, payload=name):
                constant = self.namespace.get(name)
                if not is_literal(constant):
                    raise NotInlinable
                self.values[op.result] = Const(constant)
            case Op(callee=Opcode()):
                raise NotInlinable
            case _:
                self.values[op.result] = self.call(op)

    def call(self, op: Op) -> Static:
        assert not isinstance(op.callee, Opcode)
        callee = self.of(op.callee)
        if isinstance(callee, Const):
            if callee.value in _THUNKS:
                return self.computed(self.of(op.arguments[-1]))
            if callee.value is unthunk:
                return self.of(op.arguments[0])
            if callee.value is operator.getitem:
                container, index = self.of(op.arguments[0]), self.of(op.arguments[1])
                if isinstance(container, StaticTuple) and isinstance(index, Const):
                    item: Static = container.items[index.value]
                    return item
            if not _is_trusted(callee.value):
                raise NotInlinable
        elif not isinstance(callee, Var) or self.builder.producers.get(callee) is None:
            raise NotInlinable
        arguments = tuple(map(self.plain, op.arguments))
        keywords = tuple((name, self.plain(value)) for name, value in op.keywords)
        return self.builder.call(callee, arguments, keywords, hint=op.result.hint)

    def computed(self, compute: Static) -> Static:
        """What a function without parameters returns."""
        if not isinstance(compute, StaticClosure) or compute.function.parameters:
            raise NotInlinable
        captured = dict(zip(compute.function.captured, compute.captured, strict=True))
        return _Splice(self.builder, compute.globals, captured).run(compute.function.body)


_THUNKS = (thunk, Thunk, InplaceableThunk)
"""Here a thunk is what it computes: if nobody reads that, it is dead code."""
