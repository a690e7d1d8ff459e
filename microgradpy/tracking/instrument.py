"""`code_tracked`: the function with every statement recorded, as text and as a callable.

    while i < n:                        trace.jump ...
        r += x ** i                     while decide(trace, '§2:&1', '§2:&2', call(trace, '§2:%6', lt, i, n)):
                                            power = call(trace, '§3:%7', pow, x, i)

A transformation of the same IR that is differentiated, emitted by the same generator of code: the program runs as itself,
and nothing is interpreted. Each statement is named by its place in the basic blocks that `code_ir` prints.
"""

from __future__ import annotations

import dis
import inspect
import types
import weakref
from collections.abc import Callable
from typing import Any

from microgradpy.ad.unassigned import check_unassigned_captures
from microgradpy.cache import CACHE_SIZE, checks_of
from microgradpy.codegen.emit import emit
from microgradpy.codegen.loading import load_in_place_of
from microgradpy.dataclasses import replace
from microgradpy.errors import DifferentiationError
from microgradpy.frontend.exceptions import check_fixed, check_not_interrupted, check_pairs, check_steady, steady
from microgradpy.frontend.lower import lower_function
from microgradpy.frontend.resolve import builtins_of
from microgradpy.frontend.source import captured_values
from microgradpy.introspect import IR, plain_function
from microgradpy.ir.kinds import UNKNOWN
from microgradpy.ir.locations import Locations
from microgradpy.ir.nodes import (
    NOWHERE,
    UNASSIGNED,
    Const,
    Each,
    For,
    Function,
    If,
    Location,
    Op,
    Opcode,
    Parameter,
    Raise,
    Region,
    Return,
    Statement,
    Try,
    Value,
    Var,
    While,
    Yield,
    fresh,
    function_constant,
)
from microgradpy.ir.traversal import definitions, item_sources, item_variables, walk
from microgradpy.linking import bindings_of, unit_name
from microgradpy.pipeline import shared_by
from microgradpy.runtime import opaque
from microgradpy.runtime.activity import UNASSIGNED_KIND
from microgradpy.runtime.keys import constant_key
from microgradpy.tracking import iteration, recording
from microgradpy.tracking.sites import CallSite, LoopSite, MarkSite, Sites, TracedCode
from microgradpy.tracking.values import Constant, as_key

_CHECKS = (check_not_interrupted, check_steady, check_fixed, check_pairs)
_KEYS = (constant_key,)
_AS_KEY = function_constant(as_key)
_REFUSALS = (opaque.refuse_syntax, opaque.refuse_mutation)


class NotTracked(Exception):
    """The function has something in it that has no form in the IR: it is called as it is."""


_GENERATOR = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_known: dict[tuple[Any, ...], tuple[weakref.ref[types.CodeType], TracedCode | None]] = {}


def code_tracked(f: Callable[..., Any]) -> str:
    """The text of the function that `track` runs in place of `f`: `f` with a call around every statement that records it."""
    return _made(plain_function(f)).text


def traced_code(function: types.FunctionType) -> TracedCode | None:
    """The recording form of a function; None if it has none, as generators and what has no source text."""
    if function.__code__.co_flags & _GENERATOR:
        return None
    key = (id(function.__code__), id(function.__globals__), *shared_by(function), _empty(function))
    known = _known.get(key)
    if known is not None and known[0]() is function.__code__ and (known[1] is None or known[1].is_valid()):
        return known[1]
    try:
        made = _made(function)
    except (DifferentiationError, NotTracked):
        made = None
    if len(_known) > CACHE_SIZE:
        _known.clear()
    _known[key] = weakref.ref(function.__code__), made
    return made


def _made(function: types.FunctionType) -> TracedCode:
    lowered = lower_function(function)
    if _has_call_of(lowered.function, (steady, check_steady)):
        # What raises between two items of a loop does so in its body, which has to be said there.
        lowered = lower_function(function, marks_effects=True)
    captured = [UNASSIGNED_KIND if name in _empty(function) else UNKNOWN for name in function.__code__.co_freevars]
    ir = check_unassigned_captures(lowered.function, captured)
    if _has_call_of(ir, _REFUSALS):
        raise NotTracked(function.__qualname__)
    sites = Sites(Locations(ir))
    recorded = _Recording(ir, sites).function()
    code = function.__code__
    emitted = emit(recorded, name=f"{unit_name(function)}_tracked", stands_for=(code.co_filename, code.co_firstlineno))
    assert emitted.tree is not None
    bindings = bindings_of(emitted, function.__name__, function.__globals__)
    run, _ = load_in_place_of(function, emitted.tree, emitted.text, bindings)
    builtins = builtins_of(function)
    checks = tuple(check for guard in lowered.constants for check in checks_of(guard, function.__globals__, builtins))
    return TracedCode(IR("lowered", ir, function), sites, emitted.text, run, checks, _assigned(code))


def _empty(function: types.FunctionType) -> frozenset[str]:
    """The variables that a function captured which have no value yet, and are given to it as values."""
    values = zip(function.__code__.co_freevars, captured_values(function), strict=True)
    return frozenset(name for name, value in values if value is UNASSIGNED)


def _assigned(code: types.CodeType) -> str:
    """A module variable that a function assigns or deletes, if there is one."""
    return next((str(found.argval) for found in dis.get_instructions(code) if found.opname in _ASSIGNING), "")


_ASSIGNING = ("STORE_GLOBAL", "DELETE_GLOBAL")


def _has_call_of(ir: Function, functions: tuple[Callable[..., Any], ...]) -> bool:
    return any(isinstance(found, Op) and _calls(found, functions) for found in walk(ir.body))


def _calls(op: Op, functions: tuple[Callable[..., Any], ...]) -> bool:
    return isinstance(op.callee, Const) and any(op.callee.value is function for function in functions)


class _Recording:
    """Puts the recording of every statement beside it."""

    def __init__(self, ir: Function, sites: Sites) -> None:
        self.ir, self.sites, self.origins = ir, sites, sites.locations.origins
        taken = {var.hint for statement in walk(ir.body) for var in definitions(statement)}
        taken |= {var.hint for var in ir.inputs}
        self.trace = fresh(next(name for name in ("trace", "trace_", "trace__", "microgradpy_trace") if name not in taken))

    def function(self) -> Function:
        inputs = (self.trace, *self.ir.inputs)
        parameters = tuple(Parameter(var, var.hint) for var in inputs)
        names = {parameter.var: parameter.name for parameter in self.ir.parameters}
        parameters = tuple(replace(parameter, name=names.get(parameter.var, parameter.name)) for parameter in parameters)
        return replace(self.ir, parameters=parameters, captured=(), body=self.region(self.ir.body))

    def record(
        self,
        recorder: Callable[..., Any],
        names: tuple[str, ...],
        *values: Value,
        where: Location = NOWHERE,
        result: Var | None = None,
    ) -> Op:
        """The call of a recording function."""
        arguments = (self.trace, *map(Const, names), *values)
        return Op(function_constant(recorder), arguments, (result or fresh(),), where=where)

    # Control flow

    def jump(self, place: tuple[int, int] | None, where: Location = NOWHERE) -> tuple[Op, ...]:
        """Records a branch, if there is one."""
        if place is None:
            return ()
        return (self.record(recording.jump, (self.sites.add(self.sites.branch(place)),), where=where),)

    def region(self, region: Region, before: tuple[Statement, ...] = ()) -> Region:
        statements = [*before]
        for statement in region.statements:
            statements += self.statement(statement)
        place = self.origins.leaving.get(id(region))
        terminator = region.terminator
        match terminator:
            case Return(value=value, where=where) if place is not None:
                name, given = self.sites.add(self.sites.leaving(place)), fresh()
                statements.append(self.record(recording.give, (name,), value, where=where, result=given))
                terminator = replace(terminator, value=given)
            case Raise(exception=exception, where=where) if place is not None:
                name = self.sites.add(self.sites.leaving(place))
                given_exception = () if exception is None else (exception,)
                statements.append(self.record(recording.fail, (name,), *given_exception, where=where))
            case _:
                statements += self.jump(place)
        return Region(tuple(statements), terminator)

    def statement(self, statement: Statement) -> tuple[Statement, ...]:
        match statement:
            case Op():
                return self.operation(statement)
            case If(then=then, orelse=orelse, where=where):
                arms = [self.region(arm, self.jump(self.origins.entering.get(id(arm)), where)) for arm in (then, orelse)]
                return (replace(statement, then=arms[0], orelse=arms[1]),)
            case While(where=where):
                return (*self.jump(self.origins.entering.get(id(statement)), where), self.while_loop(statement))
            case For():
                return self.for_loop(statement)
            case Try(body=body, where=where):
                handlers = tuple(
                    replace(handler, body=self.region(handler.body, self.caught(self.origins.entering.get(id(handler)), where)))
                    for handler in statement.handlers
                )
                entering = self.jump(self.origins.entering.get(id(body)), where)
                return (*entering, replace(statement, body=self.region(body), handlers=handlers))

    def caught(self, place: tuple[int, int] | None, where: Location) -> tuple[Op, ...]:
        if place is None:
            return ()
        return (self.record(recording.caught, (self.sites.add(self.sites.branch(place)),), where=where),)

    def while_loop(self, statement: While) -> While:
        condition, where = statement.condition, statement.where
        exhausted = self.origins.exhausted.get(id(statement))
        inner = [new for old in condition.statements for new in self.statement(old)]
        terminator = condition.terminator
        if exhausted is not None:
            assert isinstance(terminator, Yield)
            entering = self.origins.entering.get(id(statement.body))
            names = (self.sites.add(self.sites.branch(exhausted)), self.branch_name(entering))
            decided = fresh()
            inner.append(self.record(recording.decide, names, *terminator.values, where=where, result=decided))
            terminator = Yield((decided,))
        return replace(statement, condition=Region(tuple(inner), terminator), body=self.region(statement.body))

    def branch_name(self, place: tuple[int, int] | None) -> str:
        return "" if place is None else self.sites.add(self.sites.branch(place))

    def for_loop(self, statement: For) -> tuple[Statement, ...]:
        where, items = statement.where, statement.items
        made = self.origins.iterators.get(id(statement))
        if made is None:
            return (statement,)
        origins, sites = self.origins, self.sites
        step, exhausted = origins.instructions[id(statement)], origins.exhausted[id(statement)]
        enter = self.branch_name(origins.entering.get(id(statement.body)))
        iterator = sites.instruction(made)
        name = str(iterator.location)
        sites.by_name[name] = LoopSite(iterator, sites.instruction(step), items, enter, self.branch_name(exhausted))
        steps = fresh("items")
        asked = self.record(iteration.iterate, (name,), *item_sources(items), where=where, result=steps)
        variables = item_variables(items)
        item, unpacked = variables[0], tuple[Statement, ...]()
        if len(variables) != 1:
            item = fresh("item")
            unpacked = (Op(Opcode.UNPACK, (item,), variables, where=where),)
        body = self.region(statement.body, unpacked)
        loop = replace(statement, items=Each(steps, item), body=body)
        return (asked, *self.jump(origins.entering.get(id(statement)), where), loop)

    # Operations

    def operation(self, op: Op) -> tuple[Op, ...]:
        place = self.origins.instructions.get(id(op))
        if _calls(op, _CHECKS):
            return ()
        if place is None:
            return (op,)
        if op.callee is Opcode.MARK:
            return (op, *self.mark(op, place))
        site = self.sites.instruction(place)
        name = self.sites.add(site)
        match op.callee:
            case Opcode.INFIX | Opcode.GETATTR | Opcode.GETITEM:
                return (self.called(op, name, _as_function(site), tuple(op.arguments) + _attribute(op)),)
            case Opcode.APPLY:
                return (self.record(recording.apply, (name,), *op.arguments, where=op.where, result=op.result),)
            case Opcode.APPEND:
                return (op, self.record(recording.append, (name,), op.result, op.arguments[1], where=op.where))
            case Opcode.UNPACK:
                return (op, self.record(recording.special, (name,), *op.results, where=op.where))
            case Opcode():
                made = fresh(op.result.hint)
                recorded = self.record(recording.special, (name,), made, where=op.where, result=op.result)
                return (replace(op, results=(made,)), recorded)
        callee = _AS_KEY if _calls(op, _KEYS) else op.callee
        return (self.called(op, name, callee, op.arguments),)

    def called(self, op: Op, name: str, callee: Value, arguments: tuple[Value, ...]) -> Op:
        recorded = self.record(recording.call, (name,), callee, *arguments, where=op.where, result=op.result)
        return replace(recorded, keywords=op.keywords)

    def mark(self, op: Op, place: tuple[int, int]) -> tuple[Op, ...]:
        if not op.arguments:
            return ()
        block, index = place
        instruction = self.sites.locations.blocks[block - 1].instructions[index]
        assert isinstance(instruction, Op)
        name = f"§{block}:mark {index + 1}"
        self.sites.by_name[name] = MarkSite(op.payload.id, self.sites.operands(instruction.arguments))
        return (self.record(recording.mark, (name,), where=op.where),)


def _as_function(site: CallSite) -> Const:
    assert isinstance(site.function, Constant)
    function = site.function.value
    name = getattr(function, "__name__", "")
    return Const(function, name, function) if function is getattr else function_constant(function)


def _attribute(op: Op) -> tuple[Value, ...]:
    return (Const(op.payload),) if op.callee is Opcode.GETATTR else ()
