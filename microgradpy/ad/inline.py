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
from typing import Any, TypeVar

from microgradpy.ad.binding import bind_arguments, is_literal, literal_defaults
from microgradpy.ad.calls import Static, StaticClosure, StaticTuple
from microgradpy.ad.instrument import instrument_function
from microgradpy.ad.recordings import Call, call_of, keep, recorded
from microgradpy.dataclasses import replace
from microgradpy.errors import DifferentiationError
from microgradpy.frontend.closures import ClosureBody
from microgradpy.frontend.lower import lower_function
from microgradpy.ir.kinds import TupleOf
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
    function_constant,
)
from microgradpy.ir.traversal import regions, terminator_values, terminators, uses, walk
from microgradpy.passes.typed_builder import TypedBuilder
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.strong_zeros import kept
from microgradpy.tangents.thunks import InplaceableThunk, Thunk, thunk, unthunk


class NotInlinable(Exception):
    """The rule has to be dispatched at run time."""


Part = TypeVar("Part")
Made = TypeVar("Made")
_templates: dict[Any, Function | None] = {}
_used: dict[int, tuple[Region, frozenset[Value]]] = {}
_nested: dict[int, tuple[Function, Function]] = {}


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
    defaulted = _defaulted(template, arguments, keywords)
    call = call_of(rule, bound.values(), rule.__globals__, builder, besides=tuple(sorted(defaulted)))
    recording = None if call is None else recorded(call)
    if call is not None and recording is not None:
        outcome = recording.replay(call, builder)
    else:
        outcome = _splice_rule(rule, template, bound, defaulted, builder, call)
    match outcome:
        case StaticTuple(items=(Var() as value, StaticClosure() as pullback)):
            return value, pullback, positional
    raise NotInlinable


def _splice_rule(
    rule: types.FunctionType,
    template: Function,
    bound: Mapping[Var, Static],
    defaulted: set[str],
    builder: TypedBuilder,
    call: Call | None,
) -> Static:
    with builder.region() as statements:
        outcome = _Splice(builder, rule.__globals__, bound, own=_values_in(template)).run(template.body)
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
    for index, statement in enumerate(statements):
        if isinstance(statement, Op) and statement.results == (value,):
            # The user's call, without the defaults that the rule spells out.
            given = tuple(pair for pair in statement.keywords if pair[0] not in defaulted)
            statements[index] = statement = replace(statement, keywords=given, from_user=True)
        builder.add(statements[index])
    if call is not None:
        keep(call, statements, outcome, builder)
    return outcome


def _values_in(template: Function) -> frozenset[Value]:
    """What a rule returns as the value of its function."""
    returned = {end.value for end in terminators(template.body) if isinstance(end, Return)}
    pairs = (statement for statement in walk(template.body) if isinstance(statement, Op) and statement.callee is Opcode.TUPLE)
    return frozenset(pair.arguments[0] for pair in pairs if pair.arguments and not returned.isdisjoint(pair.results))


def splice_pullback(
    pullback: StaticClosure, cotangent: Value, builder: TypedBuilder, kept: Value | None = None
) -> tuple[Static, ...]:
    """Append the body of a pullback; returns the cotangents, that of the function itself first. What it sums over repeated axes
    has the strong zeros of `kept`."""
    call = None
    if kept is None:
        call = call_of(pullback.function, (*pullback.captured, cotangent), pullback.globals, builder)
    recording = None if call is None else recorded(call)
    if call is not None and recording is not None:
        outcome = recording.replay(call, builder)
    else:
        outcome = _splice_pullback(pullback, cotangent, builder, kept, call)
    if not isinstance(outcome, StaticTuple):
        raise NotInlinable
    return outcome.items


def _splice_pullback(
    pullback: StaticClosure, cotangent: Value, builder: TypedBuilder, kept: Value | None, call: Call | None
) -> Static:
    function = pullback.function
    (parameter,) = function.parameters
    bound: dict[Var, Static] = dict(zip(function.captured, pullback.captured, strict=True))
    bound[parameter.var] = cotangent
    with builder.region() as statements:
        outcome = _Splice(builder, pullback.globals, bound, kept).run(function.body)
    for statement in statements:
        builder.add(statement)
    if call is not None:
        keep(call, statements, outcome, builder)
    return outcome


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


def _used_in(region: Region) -> frozenset[Value]:
    """What is read in a region of a template and those inside of it."""
    return _made_once(_used, region, _reads)


def _instrumented(function: Function) -> Function:
    """A function inside of a template with its operators as calls: the same each time, so that it can be looked up."""
    return _made_once(_nested, function, instrument_function)


def _made_once(made: dict[int, tuple[Part, Made]], part: Part, make: Callable[[Part], Made]) -> Made:
    """What is made of a part of a template, which is kept with it, so that its address stays its own."""
    known = made.get(id(part))
    if known is None:
        if len(made) > 4096:
            made.clear()
        known = made[id(part)] = part, make(part)
    return known[1]


def _reads(region: Region) -> frozenset[Value]:
    statements = list(walk(region))
    inside = [region, *(inner for statement in statements for inner in regions(statement))]
    ends = (value for part in inside for value in terminator_values(part.terminator))
    return frozenset((*(value for statement in statements for value in uses(statement)), *ends))


class _Splice:
    """Evaluates a rule's region: what is static is computed here, the rest is appended to the builder."""

    def __init__(
        self,
        builder: TypedBuilder,
        namespace: Mapping[str, Any],
        values: Mapping[Var, Static],
        kept: Value | None = None,
        own: frozenset[Value] = frozenset(),
    ) -> None:
        self.builder = builder
        self.kept = kept
        self.own = own
        self.namespace = namespace
        self.values = dict(values)
        self.used: frozenset[Value] = frozenset()

    def run(self, region: Region) -> Static:
        """The value the region returns."""
        self.used = _used_in(region)
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
                kind = TupleOf(tuple(map(self.builder.kind, values)))
                return self.builder.operation(Opcode.TUPLE, values, kinds=(kind,))[0]
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
                self.values[op.result] = StaticClosure(_instrumented(function), captured, self.namespace)
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
        if op.result not in self.used:
            raise NotInlinable  # it is there for what it refuses, and would be dead code
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
        if self.kept is not None and callee == _UNBROADCAST:
            given, *rest = arguments
            arguments = (self.builder.call(_KEPT, (self.kept, given), kind=self.builder.kind(given)), *rest)
        keywords = tuple((name, self.plain(value)) for name, value in op.keywords)
        # `x * 1.0` is not the object `x`, and may be of another class.
        is_users = op.result in self.own and isinstance(callee, Const) and callee.value in (operator.mul, operator.pow)
        return self.builder.call(callee, arguments, keywords, hint=op.result.hint, from_user=is_users)

    def computed(self, compute: Static) -> Static:
        """What a function without parameters returns."""
        if not isinstance(compute, StaticClosure) or compute.function.parameters:
            raise NotInlinable
        captured = dict(zip(compute.function.captured, compute.captured, strict=True))
        return _Splice(self.builder, compute.globals, captured, self.kept).run(compute.function.body)


_UNBROADCAST, _KEPT = map(function_constant, (unbroadcast, kept))
_THUNKS = (thunk, Thunk, InplaceableThunk)
"""Here a thunk is what it computes: if nobody reads that, it is dead code."""
