"""Executes the IR of a function directly, so that lowering can be tested without anything behind it.

Environments are chains of dictionaries of variables; a region is left by returning its terminator with its values.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from microgradpy.errors import DifferentiationError
from microgradpy.frontend.lower import lower_function
from microgradpy.frontend.source import shared_names
from microgradpy.ir.nodes import (
    SELF,
    Break,
    Const,
    Continue,
    DictItems,
    Each,
    Enumerate,
    For,
    Function,
    If,
    Items,
    Op,
    Opcode,
    ParameterKind,
    Raise,
    Range,
    Region,
    Return,
    Reversed,
    Statement,
    Terminator,
    Try,
    Undefined,
    Unreachable,
    Value,
    Var,
    While,
    Yield,
    Zip,
)
from microgradpy.ir.traversal import item_variables
from microgradpy.runtime.making import LATER, tie

INFIX: dict[tuple[str, int], Callable[..., Any]] = {
    ("+", 2): operator.add,
    ("-", 2): operator.sub,
    ("*", 2): operator.mul,
    ("/", 2): operator.truediv,
    ("//", 2): operator.floordiv,
    ("%", 2): operator.mod,
    ("**", 2): operator.pow,
    ("@", 2): operator.matmul,
    ("<<", 2): operator.lshift,
    (">>", 2): operator.rshift,
    ("&", 2): operator.and_,
    ("|", 2): operator.or_,
    ("^", 2): operator.xor,
    ("+=", 2): operator.iadd,
    ("-=", 2): operator.isub,
    ("*=", 2): operator.imul,
    ("/=", 2): operator.itruediv,
    ("//=", 2): operator.ifloordiv,
    ("%=", 2): operator.imod,
    ("**=", 2): operator.ipow,
    ("@=", 2): operator.imatmul,
    ("<<=", 2): operator.ilshift,
    (">>=", 2): operator.irshift,
    ("&=", 2): operator.iand,
    ("|=", 2): operator.ior,
    ("^=", 2): operator.ixor,
    ("<", 2): operator.lt,
    ("<=", 2): operator.le,
    (">", 2): operator.gt,
    (">=", 2): operator.ge,
    ("==", 2): operator.eq,
    ("!=", 2): operator.ne,
    ("is", 2): operator.is_,
    ("is not", 2): operator.is_not,
    ("in", 2): lambda x, y: x in y,
    ("not in", 2): lambda x, y: x not in y,
    ("not", 1): operator.not_,
    ("-", 1): operator.neg,
    ("+", 1): operator.pos,
    ("~", 1): operator.invert,
}

# How a region was left, and with which values.
Exit = tuple[Terminator, tuple[Any, ...]]


class ReadUndefined(Exception):
    """An operation got a value that does not exist."""


def interpreted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that does what `function` does by executing its IR."""
    if isinstance(function, types.MethodType):
        return types.MethodType(interpreted(function.__func__), function.__self__)
    assert isinstance(function, types.FunctionType)
    body = lower_function(function).function
    shared = shared_names(function.__code__, function.__globals__)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    captured = tuple(cell if name in shared else cell.cell_contents for name, cell in cells)
    return make_function(body, captured, function.__globals__, function.__defaults__, function.__kwdefaults__)


def make_function(
    function: Function,
    captured: tuple[Any, ...],
    namespace: dict[str, Any],
    defaults: tuple[Any, ...] | None,
    keyword_defaults: dict[str, Any] | None,
) -> Callable[..., Any]:
    """A callable with the function's signature that runs its IR."""
    machine = Machine(namespace)

    def held(name: str, value: Any) -> Any:
        if value is LATER:
            return made.tied[name]  # type: ignore[attr-defined]
        return made if value is SELF else value

    def run(**values: Any) -> Any:
        env = {var: held(var.hint, value) for var, value in zip(function.captured, captured, strict=True)}
        env.update((parameter.var, values[parameter.name]) for parameter in function.parameters)
        terminator, result = machine.region(function.body, env)
        assert isinstance(terminator, Return)
        return result[0]

    made = _with_signature(function, run)
    made.__defaults__ = defaults
    made.__kwdefaults__ = keyword_defaults
    return made


def _with_signature(function: Function, run: Callable[..., Any]) -> types.FunctionType:
    marks = {ParameterKind.VARIADIC: "*", ParameterKind.KEYWORDS: "**"}
    parts: list[str] = []
    for parameter in function.parameters:
        if parameter.kind is ParameterKind.KEYWORD and not any(part.startswith("*") for part in parts):
            parts.append("*")
        parts.append(marks.get(parameter.kind, "") + parameter.name)
    names = ", ".join(f"{parameter.name}={parameter.name}" for parameter in function.parameters)
    namespace: dict[str, Any] = {"run__": run}
    exec(f"def {function.name.strip('<>')}({', '.join(parts)}): return run__({names})", namespace)
    made: types.FunctionType = namespace[function.name.strip("<>")]
    return made


@dataclass
class Machine:
    """Executes regions; `namespace` holds the module variables."""

    namespace: dict[str, Any]
    marked: dict[Var, Any] = field(default_factory=dict)

    def read(self, value: Value, env: dict[Var, Any]) -> Any:
        """A value that may be passed on, even if it is undefined."""
        if isinstance(value, Const):
            return value.value
        return value if isinstance(value, Undefined) else env[value]

    def need(self, value: Value, env: dict[Var, Any]) -> Any:
        """A value that is used."""
        found = self.read(value, env)
        if isinstance(value, Undefined):
            raise ReadUndefined("an operand is undefined in the IR itself")
        if isinstance(found, Undefined):
            raise UnboundLocalError("local variable is not associated with a value")
        return found

    def region(self, region: Region, outer: dict[Var, Any]) -> Exit:
        env = dict(outer)
        for statement in region.statements:
            left = self.statement(statement, env)
            if left is not None:
                return left
        match region.terminator:
            case Yield(values=values) | Continue(values=values) | Break(values=values):
                return region.terminator, tuple(self.read(value, env) for value in values)
            case Return(value=value):
                return region.terminator, (self.need(value, env),)
            case Raise(exception=None):
                raise
            case Raise(exception=exception, cause=cause, where=where):
                raised = self.need(exception, env)
                if isinstance(raised, DifferentiationError):
                    raised.locate(where)  # as the boundary does for generated code
                if cause is None:
                    raise raised
                raise self.need(exception, env) from self.need(cause, env)
            case Unreachable():
                raise AssertionError("reached Unreachable")

    def statement(self, statement: Statement, env: dict[Var, Any]) -> Exit | None:
        """Execute a statement; returns how the surrounding region is left, if it is."""
        match statement:
            case Op():
                self.operation(statement, env)
                return None
            case If(condition=condition, then=then, orelse=orelse, results=results):
                terminator, values = self.region(then if self.need(condition, env) else orelse, env)
                if not isinstance(terminator, Yield):
                    return terminator, values
                env.update(zip(results, values, strict=True))
                return None
            case While() | For():
                return self.loop(statement, env)
            case Try():
                return self.attempt(statement, env)

    def attempt(self, statement: Try, env: dict[Var, Any]) -> Exit | None:
        self.marked.pop(statement.scope, None)
        try:
            terminator, values = self.region(statement.body, env)
        except BaseException as caught:
            seen = dict(zip(statement.parameters, self.marked[statement.scope], strict=True))
            for handler in statement.handlers:
                types = None if handler.types is None else tuple(self.need(value, env) for value in handler.types)
                if types is None or isinstance(caught, types):
                    bound = {} if handler.exception is None else {handler.exception: caught}
                    terminator, values = self.region(handler.body, env | seen | bound)
                    break
            else:
                raise
        if not isinstance(terminator, Yield):
            return terminator, values
        env.update(zip(statement.results, values, strict=True))
        return None

    def mark(self, mark: Op, env: dict[Var, Any]) -> None:
        before = self.marked.get(mark.payload, mark.arguments)
        values = (self.read(value, env) for value in mark.arguments)
        pairs = zip(values, before, strict=True)
        self.marked[mark.payload] = [old if isinstance(new, Undefined) else new for new, old in pairs]

    def loop(self, loop: While | For, env: dict[Var, Any]) -> Exit | None:
        state = tuple(self.read(value, env) for value in loop.initial)
        inner: Iterator[dict[Var, Any]]
        if isinstance(loop, For):
            variables = item_variables(loop.items)
            inner = (dict(zip(variables, flat, strict=True)) for flat in self.items(loop.items, env))
        else:
            inner = iter(dict, None)
        for bound in inner:
            here = env | bound | dict(zip(loop.parameters, state, strict=True))
            if isinstance(loop, While):
                terminator, (condition,) = self.region(loop.condition, here)
                assert isinstance(terminator, Yield)
                if not condition:
                    break
            terminator, values = self.region(loop.body, here)
            if isinstance(terminator, Return):
                return terminator, values
            state = values
            if isinstance(terminator, Break):
                break
            assert isinstance(terminator, Continue)
        env.update(zip(loop.results, state, strict=True))
        return None

    def items(self, items: Items, env: dict[Var, Any]) -> Iterator[tuple[Any, ...]]:
        """The values of `item_variables(items)`, iteration by iteration."""
        match items:
            case Each(source=source):
                return ((item,) for item in self.need(source, env))
            case Range(arguments=arguments):
                return ((item,) for item in range(*(self.need(value, env) for value in arguments)))
            case Enumerate(inner=inner, start=start):
                pairs = enumerate(self.items(inner, env), self.need(start, env))
                return ((index, *flat) for index, flat in pairs)
            case Zip(inners=inners):
                return (sum(flats, ()) for flats in zip(*(self.items(inner, env) for inner in inners), strict=False))
            case Reversed(inner=Each(source=source)):
                return ((item,) for item in reversed(self.need(source, env)))
            case Reversed(inner=Range(arguments=arguments)):
                return ((item,) for item in reversed(range(*(self.need(value, env) for value in arguments))))
            case DictItems(source=source):
                return ((key, value) for key, value in self.need(source, env).items())
        raise AssertionError(items)

    def operation(self, operation: Op, env: dict[Var, Any]) -> None:
        if operation.callee is Opcode.MARK:
            return self.mark(operation, env)
        arguments = [self.need(value, env) for value in operation.arguments]
        keywords = {name: self.need(value, env) for name, value in operation.keywords}
        if operation.callee is Opcode.UNPACK:
            values, count = tuple(arguments[0]), len(operation.results)
            if len(values) > count:
                raise ValueError(f"too many values to unpack (expected {count})")
            if len(values) < count:
                raise ValueError(f"not enough values to unpack (expected {count}, got {len(values)})")
            env.update(zip(operation.results, values, strict=True))
        elif isinstance(operation.callee, Opcode):
            env[operation.result] = self.builtin(operation, arguments)
        elif operation.callee == Const(tie):
            names, *functions = arguments
            for function in functions:
                function.tied = dict(zip(names, functions, strict=True))
            env[operation.result] = tuple(functions)
        else:
            env[operation.result] = self.need(operation.callee, env)(*arguments, **keywords)

    def builtin(self, operation: Op, arguments: list[Any]) -> Any:
        match operation.callee:
            case Opcode.TUPLE:
                return tuple(arguments)
            case Opcode.LIST:
                return list(arguments)
            case Opcode.SET:
                return set(arguments)
            case Opcode.DICT:
                return dict(zip(arguments[::2], arguments[1::2], strict=True))
            case Opcode.JOIN:
                return "".join(arguments)
            case Opcode.APPEND:
                arguments[0].append(arguments[1])
                return arguments[0]
            case Opcode.APPLY:
                return arguments[0](*arguments[1], **arguments[2])
            case Opcode.GLOBAL:
                builtins = self.namespace["__builtins__"]
                names = vars(builtins) if isinstance(builtins, types.ModuleType) else builtins
                if operation.payload not in self.namespace and operation.payload not in names:
                    raise NameError(f"name {operation.payload!r} is not defined")
                return self.namespace.get(operation.payload, names.get(operation.payload))
            case Opcode.INFIX:
                return INFIX[operation.payload, len(arguments)](*arguments)
            case Opcode.GETATTR:
                return getattr(arguments[0], operation.payload)
            case Opcode.GETITEM:
                return arguments[0][arguments[1]]
            case Opcode.CLOSURE:
                return self.closure(operation, arguments)
        raise AssertionError(operation)

    def closure(self, operation: Op, arguments: list[Any]) -> Callable[..., Any]:
        body = operation.payload
        count = len(body.function.captured)
        captured, rest = tuple(arguments[:count]), arguments[count:]
        defaults, named = tuple(rest[: body.defaults]), rest[body.defaults :]
        keyword_defaults = dict(zip(body.keyword_defaults, named, strict=True))
        return make_function(body.function, captured, self.namespace, defaults, keyword_defaults)
