"""How the parts of one function are written: variables and constants, operations, parameters, what a loop runs over, and what
leaves a function. Both forms of the IR as text are made of these (`printer`); docs/ir.md has the grammar.

    %3    np.sin    %4 * %4    %2.shape    range(1, %5)    (%7, %8)    return %4
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never, final

from microgradpy.ir.closures import nested_function
from microgradpy.ir.nodes import (
    Const,
    DictItems,
    Each,
    Enumerate,
    Function,
    Handler,
    Items,
    Op,
    Opcode,
    Parameter,
    ParameterKind,
    Raise,
    Range,
    Records,
    Return,
    Reversed,
    Undefined,
    Unreachable,
    Value,
    Var,
    Zip,
)

ITSELF = Var(0)
"""The function itself, which is `%1` in print."""


def number(variables: Iterable[Var]) -> dict[Var, int]:
    """The numbers of variables in the order of their definitions: 1 is the function itself."""
    numbers = {ITSELF: 1}
    for variable in variables:
        numbers.setdefault(variable, len(numbers) + 1)
    return numbers


def describe_constant(constant: Const) -> str:
    """A constant as it is written: its path, its literal, or where an object that has neither comes from. Never an
    address, which would differ from run to run."""
    value = constant.value
    if constant.path:
        return constant.path
    if value is None or value is Ellipsis or isinstance(value, bool | int | float | complex | str | bytes):
        return repr(value)
    if isinstance(value, tuple | list | dict | set | frozenset | slice | range):
        return repr(value)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(name, str):
        return f"<{type(value).__qualname__}>"
    module = getattr(value, "__module__", None)
    if not isinstance(module, str) or module == "builtins":
        return name
    # Functions of the operator module say that they come from `_operator`, the one written in C.
    return f"{module.lstrip('_')}.{name}"


@final
class Writer:
    """Turns the parts of one function into text. Variables that nobody defines are numbered as they are met."""

    def __init__(self, numbers: dict[Var, int], names: bool, labels: dict[int, str]) -> None:
        self.numbers = numbers
        self.names = names
        self.labels = labels

    def define(self, var: Var) -> str:
        return f"{self.use(var)}/{var.hint}" if self.names and var.hint else self.use(var)

    def definitions(self, variables: Iterable[Var]) -> str:
        return ", ".join(map(self.define, variables))

    def use(self, value: Value) -> str:
        match value:
            case Var():
                return f"%{self.numbers.setdefault(value, len(self.numbers) + 1)}"
            case Const():
                return describe_constant(value)
            case Undefined():
                return "undefined"
        assert_never(value)

    def uses(self, values: Iterable[Value]) -> str:
        return ", ".join(map(self.use, values))

    def parameter(self, parameter: Parameter) -> str:
        text = self.define(parameter.var)
        match parameter.kind:
            case ParameterKind.POSITIONAL:
                return text
            case ParameterKind.KEYWORD:
                return f"{parameter.name}={text}"
            case ParameterKind.VARIADIC | ParameterKind.KEYWORDS:
                return f"{parameter.kind.value}{text}"
        assert_never(parameter.kind)

    def signature(self, function: Function) -> str:
        itself = self.define(Var(ITSELF.id, function.name))
        return f"({', '.join([itself, *map(self.parameter, function.parameters)])})"

    def operation(self, op: Op) -> str:
        text = self.opcode(op.callee, op) if isinstance(op.callee, Opcode) else self.call(self.use(op.callee), op)
        return f"{self.definitions(op.results)} = {text}" if op.results else text

    def call(self, callee: str, op: Op) -> str:
        keywords = [f"{name}={self.use(value)}" for name, value in op.keywords]
        return f"{callee}({', '.join([*map(self.use, op.arguments), *keywords])})"

    def opcode(self, opcode: Opcode, op: Op) -> str:
        # A broken operation, which only a report of a compiler bug shows, falls through to the form of a call.
        match opcode, op.arguments:
            case Opcode.INFIX, (left, right):
                return f"{self.use(left)} {op.payload} {self.use(right)}"
            case Opcode.INFIX, (operand,):
                sign = "not " if op.payload == "not" else str(op.payload).removesuffix("x")
                return f"{sign}{self.receiver(operand)}"
            case Opcode.GETATTR, (owner,):
                return f"{self.receiver(owner)}.{op.payload}"
            case Opcode.GETITEM, (container, index):
                return f"{self.use(container)}[{self.use(index)}]"
            case Opcode.APPLY, (callee, positional, keywords):
                return f"{self.use(callee)}(*{self.use(positional)}, **{self.use(keywords)})"
            case Opcode.DICT, _ if len(op.arguments) % 2 == 0:
                pairs = zip(op.arguments[::2], op.arguments[1::2], strict=True)
                return f"dict({', '.join(f'{self.use(key)}: {self.use(value)}' for key, value in pairs)})"
            case Opcode.MARK, _:
                return f"mark {self.use(op.payload)}({self.uses(op.arguments)})"
            case Opcode.GLOBAL, () | (_,):
                return f"global {'.'.join((*map(self.use, op.arguments), str(op.payload)))}"
            case Opcode.CLOSURE, _:
                label = self.labels.get(id(nested_function(op)), "?")
                return f"closure {label}({self.uses(op.arguments)})"
        return self.call(opcode.value, op)

    def caught(self, handler: Handler) -> str:
        types = "" if handler.types is None else f" ({self.uses(handler.types)})"
        name = "" if handler.exception is None else f" as {self.define(handler.exception)}"
        return f"except{types}{name}"

    def receiver(self, value: Value) -> str:
        number = isinstance(value, Const) and not value.path and isinstance(value.value, int | float | complex)
        return f"({self.use(value)})" if number else self.use(value)

    def iterable(self, items: Items) -> str:
        match items:
            case Each(source=source):
                return self.use(source)
            case Range(arguments=arguments):
                return f"range({self.uses(arguments)})"
            case Enumerate(inner=inner, start=start):
                counted = "" if start == Const(0) else f", {self.use(start)}"
                return f"enumerate({self.iterable(inner)}{counted})"
            case Zip(inners=inners, strict=strict):
                return f"zip({', '.join([*map(self.iterable, inners), *(['strict=True'] if strict else [])])})"
            case Reversed(inner=inner):
                return f"reversed({self.iterable(inner)})"
            case DictItems(source=source):
                return f"{self.use(source)}.items()"
            case Records(tape=tape):
                return f"reversed({self.use(tape)})"
        assert_never(items)

    def target(self, items: Items) -> str:
        match items:
            case Each(item=item) | Range(item=item):
                return self.define(item)
            case Enumerate(inner=inner, index=index):
                return f"({self.define(index)}, {self.target(inner)})"
            case Zip(inners=inners):
                return _pattern(map(self.target, inners))
            case Reversed(inner=inner):
                return self.target(inner)
            case DictItems(key=key, value=value):
                return _pattern(map(self.define, (key, value)))
            case Records(fields=(single,)):
                return self.define(single)
            case Records(fields=fields):
                return _pattern(map(self.define, fields))
        assert_never(items)

    def leaving(self, terminator: Return | Raise | Unreachable) -> str:
        match terminator:
            case Return(value=value):
                return f"return {self.use(value)}"
            case Raise(exception=exception, cause=cause):
                what = "" if exception is None else f" {self.use(exception)}"
                return f"raise{what}" if cause is None else f"raise{what} from {self.use(cause)}"
            case Unreachable():
                return "unreachable"
        assert_never(terminator)


def _pattern(parts: Iterable[str]) -> str:
    parts = list(parts)
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
