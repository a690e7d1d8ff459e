"""The names that generated text uses for objects: modules, functions, and constants that have no literal."""

from __future__ import annotations

import ast
import math
import types
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

from microgradpy.codegen.notation import InPlace, in_place_function, is_plain_name, notation, store
from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.nodes import SELF, UNASSIGNED, Const, Function, Op, Opcode, Region, Value
from microgradpy.ir.traversal import is_mark, regions, terminator_values, uses, walk
from microgradpy.originals import BUILTINS, root_of

_MISSING = object()
# Builtins that the emitter itself writes.
_WRITTEN_BUILTINS = frozenset({"BaseException", "complex", "enumerate", "float", "range", "reversed", "set", "slice", "zip"})
# CPython refuses to read back integers with many more digits than this.
_LONGEST_INTEGER_BITS = 4096


@dataclass(slots=True)
class Bindings:
    """The global names of a text. `taken` are names that mean something else in it, `names` all names that stand for an
    object, `used` those that the text really mentions; `builtin_names` are the builtins it may mention."""

    taken: Set[str]
    names: dict[str, Any] = field(default_factory=dict)
    used: dict[str, Any] = field(default_factory=dict)
    builtin_names: set[str] = field(default_factory=set)
    _by_object: dict[tuple[str, int], str] = field(default_factory=dict)

    def add(self, constant: Const) -> None:
        """Give a constant a name, unless it has a literal."""
        if is_literal(constant):
            return
        if self._is_builtin(constant):
            self.builtin_names.add(constant.path)
            return
        stem, bound, _ = _written_as(constant)
        key = (stem, id(bound))
        if key not in self._by_object:
            name = _first_free(stem, self.taken | self.names.keys() | self.builtin_names)
            self._by_object[key] = name
            self.names[name] = bound

    def text(self, constant: Const) -> str:
        """The dotted text of a constant that is not a literal."""
        if self._is_builtin(constant):
            return constant.path
        stem, bound, rest = _written_as(constant)
        name = self._by_object[(stem, id(bound))]
        self.used[name] = bound
        return f"{name}.{rest}" if rest else name

    def builtin(self, name: str) -> ast.expr:
        """A builtin that the emitter writes by itself."""
        return ast.Name(self.text(Const(BUILTINS[name], name)), ast.Load())

    def _is_builtin(self, constant: Const) -> bool:
        path = constant.path
        return bool(path) and path not in self.taken and BUILTINS.get(path, _MISSING) is constant.value


def bind(function: Function, taken: Set[str]) -> Bindings:
    """Names for every constant of a function, in program order. `taken` are the names of the user's variables."""
    bindings = Bindings(taken)
    for name in sorted(_WRITTEN_BUILTINS):
        bindings.add(Const(BUILTINS[name], name))
    for value in _written(function.body):
        if isinstance(value, Const):
            bindings.add(value)
    return bindings


def _written(region: Region) -> Iterator[Value]:
    """The values whose text is written out: a function that is written as a sign is not."""
    for statement in walk(region):
        if is_mark(statement):
            yield from (value for value in uses(statement) if isinstance(value, Const))
        elif isinstance(statement, Op):
            sign = notation(statement)
            if sign is None and store(statement) is None:
                yield from uses(statement)
            elif isinstance(sign, InPlace):
                yield in_place_function(sign.sign)
            yield from statement.arguments
            yield from closure_constants(statement)
        else:
            yield from uses(statement)
        for inner in regions(statement):
            yield from terminator_values(inner.terminator)
    yield from terminator_values(region.terminator)


def closure_constants(op: Op) -> Iterator[Const]:
    """What a function defined in the user's function is made by, and its code."""
    if op.callee is Opcode.CLOSURE:
        names = (op.payload.code.co_name, *(result.hint for result in op.results), "function")
        name = next(name for name in names if is_plain_name(name))
        yield Const(make_function, "make_function")
        yield Const(op.payload.code, f"{name}_code")


def _written_as(constant: Const) -> tuple[str, Any, str]:
    """The name a constant would like its first part to have, the object bound to it, and the path from there. What is in a
    library is read from the copy of which nobody can replace a part; what is not there has a name of its own."""
    head, _, rest = constant.path.partition(".")
    if is_plain_name(head) and rest and isinstance(constant.root, types.ModuleType):
        root = constant.root if isinstance(constant.value, types.ModuleType) else root_of(constant.root, rest, constant.value)
        return (rest.rpartition(".")[2], constant.value, "") if root is None else (head, root, rest)
    if is_plain_name(head):
        return head, constant.root if rest else constant.value, rest
    name = getattr(constant.value, "__name__", "") or type(constant.value).__name__.lower()
    return (name if isinstance(name, str) and is_plain_name(name) else "function"), constant.value, ""


def _first_free(stem: str, taken: Set[str]) -> str:
    if stem not in taken:
        return stem
    number = 1
    while f"{stem}_{number}" in taken:
        number += 1
    return f"{stem}_{number}"


def is_literal(constant: Const) -> bool:
    """Whether a constant is written out as a literal."""
    if constant.path:
        return False
    value = constant.value
    if value is None or value is Ellipsis or type(value) in (bool, float, complex, str, bytes):
        return True
    if type(value) is int:
        return value.bit_length() <= _LONGEST_INTEGER_BITS
    if type(value) is tuple:
        return all(is_literal(Const(item)) for item in value)
    return type(value) is slice and is_literal(Const((value.start, value.stop, value.step)))


def literal(value: Any, builtin: Callable[[str], ast.expr]) -> ast.expr:
    """The syntax tree of a literal. Negative numbers are a sign before a positive constant, infinities and NaN calls of
    `float`: nothing else reads back as the value it was."""
    match value:
        case float():
            return _real(value, builtin)
        case complex():
            return _complex(value, builtin)
        case int() if not isinstance(value, bool) and value < 0:
            return ast.UnaryOp(ast.USub(), ast.Constant(-value))
        case tuple():
            return ast.Tuple([literal(item, builtin) for item in value], ast.Load())
        case slice():
            parts = [literal(part, builtin) for part in (value.start, value.stop, value.step)]
            return ast.Call(builtin("slice"), parts, [])
    return ast.Constant(value)


def _real(value: float, builtin: Callable[[str], ast.expr]) -> ast.expr:
    if math.isnan(value):
        return ast.Call(builtin("float"), [ast.Constant("nan")], [])
    positive = ast.Call(builtin("float"), [ast.Constant("inf")], []) if math.isinf(value) else ast.Constant(abs(value))
    return ast.UnaryOp(ast.USub(), positive) if math.copysign(1.0, value) < 0 else positive


def _complex(value: complex, builtin: Callable[[str], ast.expr]) -> ast.expr:
    is_positive = all(math.copysign(1.0, part) > 0 for part in (value.real, value.imag))
    if value.real == 0.0 and math.isfinite(value.imag) and is_positive:
        return ast.Constant(value)
    return ast.Call(builtin("complex"), [_real(value.real, builtin), _real(value.imag, builtin)], [])


def make_function(
    code: types.CodeType,
    module_globals: dict[str, Any],
    captured: Sequence[Any] = (),
    defaults: Sequence[Any] = (),
    keyword_defaults: Mapping[str, Any] | None = None,
    shared: Sequence[str] = (),
) -> types.FunctionType:
    """What generated text calls: the function that a nested `def` or a lambda makes, with a cell for each of the captured
    values; those of the variables in `shared` are cells already."""
    named = zip(code.co_freevars, captured, strict=True)
    cells = tuple([value if name in shared else _cell(value) for name, value in named])
    function = types.FunctionType(code, module_globals, code.co_name, tuple(defaults) or None, cells)
    for name, cell in zip(code.co_freevars, cells, strict=True):
        if name not in shared and cell != types.CellType() and cell.cell_contents is SELF:
            cell.cell_contents = function
    if keyword_defaults:
        function.__kwdefaults__ = dict(keyword_defaults)
    return function


def _cell(value: Any) -> types.CellType:
    return types.CellType() if value is UNASSIGNED else types.CellType(value)
