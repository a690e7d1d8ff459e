"""Statements that make an object and bind it: `import`, `class` and `type`.

    import numpy as xp            ->  xp is the module, under the guard that `sys.modules` still has it
    from config import RATE       ->  %1/RATE = import_from('config', 'RATE')       (data, or not imported so far)
    class Point(Base): ...        ->  %1/Point = make_Point((), (), (Base,), {})    from the code of the class's body
"""

from __future__ import annotations

import ast
import importlib.util
import types
from collections.abc import Mapping
from typing import Any

from microgradpy.frontend import fence
from microgradpy.frontend.class_bodies import (
    DECORATORS,
    computed_with,
    is_code_of,
    read_by_functions,
    read_by_methods,
    read_for_values,
    values_in,
)
from microgradpy.frontend.closures import Shared, rebindings
from microgradpy.frontend.lower_calls import lower_keywords
from microgradpy.frontend.lower_core import STATEMENTS, Lowering, lowers
from microgradpy.frontend.lower_expressions import lower_display
from microgradpy.frontend.lower_functions import bindings_of, captured_value
from microgradpy.frontend.lower_targets import assign_name
from microgradpy.frontend.places import Step
from microgradpy.frontend.scope import Binding, end_of
from microgradpy.frontend.sharing import note_class_variable
from microgradpy.frontend.trees import walk
from microgradpy.ir.nodes import Const, Opcode, Value, function_constant
from microgradpy.runtime.making import Maker, assign_again, class_maker, given_to_body, import_from, import_module


@lowers(STATEMENTS, ast.Import)
def lower_import(low: Lowering, node: ast.Import, rest: Step) -> None:
    """A module that is there already is a constant: running the statement again would only find it."""
    for alias in node.names:
        bound = alias.asname or alias.name.partition(".")[0]
        value: Value | None = low.unit.resolver.module(alias.name, bound, whole=alias.asname is not None)
        if value is None:
            arguments = (Const(alias.name), *([Const(True)] if alias.asname and "." in alias.name else []))
            value = low.emit(function_constant(import_module), *arguments, node=node, name=bound)
        assign_name(low, bound, value, node)


@lowers(STATEMENTS, ast.ImportFrom)
def lower_import_from(low: Lowering, node: ast.ImportFrom, rest: Step) -> None:
    name = _absolute_name(low, node)
    for alias in node.names:
        bound = alias.asname or alias.name
        value: Value | None = low.unit.resolver.member(name, alias.name, bound)
        if value is None:
            arguments = (Const(name), Const(alias.name))
            value = low.emit(function_constant(import_from), *arguments, node=node, name=bound)
        assign_name(low, bound, value, node)


def _absolute_name(low: Lowering, node: ast.ImportFrom) -> str:
    """The name of the module without leading dots, by the package that the function's module is in."""
    if not node.level:
        assert node.module is not None
        return node.module
    namespace = low.unit.resolver.namespace
    name = str(namespace.get("__name__", ""))
    package = namespace.get("__package__")
    if package is None:
        package = name if "__path__" in namespace else name.rpartition(".")[0]
    if not package:
        message = Const("attempted relative import with no known parent package")
        low.raise_builtin(ImportError, message, node=node)
    try:
        return importlib.util.resolve_name("." * node.level + (node.module or ""), package)
    except ImportError as error:
        low.raise_builtin(ImportError, Const(str(error)), node=node)


@lowers(STATEMENTS, ast.ClassDef)
def lower_class(low: Lowering, node: ast.ClassDef, rest: Step) -> None:
    """The class is made by Python from the code of its body. It is refused later if what that reads is differentiated; what its
    methods read is in cells where writes are tracked."""
    codes = (inner for inner in low.unit.code.co_consts if isinstance(inner, types.CodeType))
    code = next((inner for inner in codes if is_code_of(inner, node)), None)
    if code is None or getattr(node, "type_params", []):
        low.refuse(fence.GENERIC_CLASS, node)
    decorators = lower_display(low, Opcode.TUPLE, node.decorator_list, node)
    own_name = "" if low.is_shared(node.name) else node.name
    names = [name for name in code.co_freevars if name != own_name]
    outdating = _rebound(low, names, node)
    if outdating:
        raise Shared(frozenset(binding.name for binding in outdating))
    shared = tuple(filter(low.is_shared, names))
    values, for_values = values_in(node, code), read_for_values(node, code)
    computing = computed_with(values.values()) & for_values
    for name in sorted(computing.intersection(shared)):
        variable = low.expression(ast.copy_location(ast.Name(name, ast.Load()), node))
        low.emit(function_constant(given_to_body), variable, Const(True), node=node)
    plain = {name: name in computing for name in for_values - read_by_functions(code)}
    captured = _captured(low, [name for name in names if name not in shared], plain, node)
    bases = lower_display(low, Opcode.TUPLE, node.bases, node)
    keywords = lower_keywords(low, node)
    maker = class_maker(code, low.unit.resolver.module_globals(), own_name, shared)
    cells: tuple[Value, ...] = ()
    if shared:
        by_methods = read_by_methods(node, code) if _decorators_are_known(low, node) else ()
        found = {name: captured_value(low, name, node) for name in shared}
        read = [cell for name, cell in found.items() if name not in by_methods]
        cells = tuple(low.emit(Opcode.TUPLE, *values, node=node) for values in (found.values(), read))
    arguments = (captured, decorators, bases, keywords, *cells)
    value = low.emit(_constant(maker, node.name), *arguments, node=node, name=node.name)
    assign_name(low, node.name, value, node)
    for name, expression in values.items():
        note_class_variable(low.unit.resolver.module_globals(), node.name, name)
        low.emit(function_constant(assign_again), value, Const(name), low.expression(expression), node=expression)


def _captured(low: Lowering, names: list[str], plain: Mapping[str, bool], node: ast.ClassDef) -> Value:
    """What the body of a class is given of the variables around it. What it makes of those that are `plain` is assigned once
    more, where it has a cotangent."""
    found: list[Value] = []
    for name in names:
        value = captured_value(low, name, node)
        if name in plain:
            value = low.emit(function_constant(given_to_body), value, Const(plain[name]), node=node)
        found.append(value)
    return low.emit(Opcode.TUPLE, *found, node=node)


def _decorators_are_known(low: Lowering, node: ast.ClassDef) -> bool:
    """Whether the names of decorators mean what `class_bodies` takes them for."""
    inside = (inner for inner in ast.walk(node) if isinstance(inner, ast.ClassDef | ast.FunctionDef))
    for decorator in (decorator for inner in inside for decorator in inner.decorator_list):
        expression = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = ast.unparse(expression).rpartition(".")[2]
        known = low.constant(expression)
        if name in DECORATORS and (known is None or known.value is not DECORATORS[name]):
            return False
    return True


def _rebound(low: Lowering, names: list[str], node: ast.stmt) -> tuple[Binding, ...]:
    """Methods read a captured variable when they are called; the class is given its value when it is made, unless the
    variable lives in a cell."""
    bound = [binding for name in names if not low.is_shared(name) for binding in bindings_of(low, name)]
    return rebindings(bound, end_of(node), low.loops)


def _constant(maker: Maker, name: str) -> Const:
    return Const(maker, f"make_{name}", maker)


def lower_type_alias(low: Lowering, node: Any, rest: Step) -> None:
    """`type X = ...`: what it stands for is evaluated when somebody asks, so the statement itself is run, in a function
    that has the local variables it names as parameters."""
    name = node.name.id
    used = dict.fromkeys(inner.id for inner in walk(node.value) if isinstance(inner, ast.Name))
    names = [used_name for used_name in used if used_name != name and used_name in low.env]
    bound = [binding for used_name in names for binding in bindings_of(low, used_name)]
    for binding in rebindings(bound, end_of(node), low.loops)[:1]:
        low.refuse(fence.rebound_capture(binding.name, node.lineno, binding.position[0]), node)
    around = ast.FunctionDef(
        name=low.unit.name if low.unit.name.isidentifier() else "make",
        args=ast.arguments([], [ast.arg(parameter) for parameter in names], None, [], [], None, []),
        body=[node, ast.Return(ast.Name(name, ast.Load()))],
        decorator_list=[],
        returns=None,
        type_comment=None,
    )
    around.type_params = []  # type: ignore[attr-defined,unused-ignore]
    module = compile(ast.fix_missing_locations(ast.Module([around], [])), low.unit.file, "exec", dont_inherit=True)
    (code,) = (constant for constant in module.co_consts if isinstance(constant, types.CodeType))
    maker = Maker(types.FunctionType(code, low.unit.resolver.module_globals()))
    values = [captured_value(low, used_name, node) for used_name in names]
    assign_name(low, name, low.emit(_constant(maker, name), *values, node=node, name=name), node)


if hasattr(ast, "TypeAlias"):
    lowers(STATEMENTS, ast.TypeAlias)(lower_type_alias)
