"""What the body of a class reads of the variables around it: at once, as Python runs the body, or when a method is called.

    class Line:
        origin = x * 2              at once: assigned once more, as an attribute, if that shows nobody that it is computed twice
        table = f(x)                at once: the class has it as a constant
        def at(self, t):
            return y + t * self.k   in a cell, which has a cotangent
"""

from __future__ import annotations

import ast
import dataclasses
import dis
import functools
import inspect
import types
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from microgradpy.frontend.sharing import is_inline

_READS = ("LOAD_CLASSDEREF", "LOAD_DEREF", "LOAD_FROM_DICT_OR_DEREF")
_CALLS = (ast.Call, ast.With)
DECORATORS: dict[str, Any] = {
    **{cls.__name__: cls for cls in (property, staticmethod, classmethod)},
    "cached_property": functools.cached_property,
    "total_ordering": functools.total_ordering,
    "dataclass": dataclasses.dataclass,
}
"""What does not call what it decorates, by name."""


def read_in_cells(tree: ast.AST, code: types.CodeType) -> frozenset[str]:
    """The variables of a function that methods of classes inside it read, at any depth."""
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    found = (read_by_methods(node, inner) for node in classes for inner in _all_codes(code) if is_code_of(inner, node))
    return frozenset[str]().union(*found) & frozenset(code.co_cellvars)


def read_by_methods(node: ast.ClassDef, code: types.CodeType) -> frozenset[str]:
    """The variables around a class that are read by its methods, and by nothing else but values that are assigned once more. If
    what makes the class may call a method, none are."""
    if _may_call(node):
        return frozenset()
    return frozenset(code.co_freevars) - (_read_at_once(code) - read_for_values(node, code))


def values_in(node: ast.ClassDef, code: types.CodeType) -> dict[str, ast.expr]:
    """The attributes that the body of a class computes by arithmetic from variables of the function around it, and of which
    nothing else in the body makes use: they may be computed once more. None, if anything but Python makes the class."""
    if node.decorator_list or node.keywords:
        return {}
    bound = Counter(name for statement in node.body for name in _bound_in(statement))
    found: dict[str, ast.expr] = {}
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AnnAssign(
                target=ast.Name(id=name), value=ast.expr() as value
            ):
                read = _read_in(value)
                if bound[name] == 1 and _is_arithmetic(value) and read & set(code.co_freevars) and not read & bound.keys():
                    found[name] = value
    used = _used_by_others(node, found)
    return {name: value for name, value in found.items() if name not in used and not name.startswith("__")}


def read_for_values(node: ast.ClassDef, code: types.CodeType) -> frozenset[str]:
    """The variables around a class that the body reads for such attributes only."""
    values = values_in(node, code)
    return frozenset[str]().union(*map(_read_in, values.values())) - _used_by_others(node, values)


def computed_with(values: Iterable[ast.expr]) -> frozenset[str]:
    """The variables that operators in these expressions are given."""
    operations = (node for value in values for node in ast.walk(value) if isinstance(node, ast.BinOp | ast.UnaryOp))
    return frozenset[str]().union(*map(_read_in, operations))


def read_by_functions(code: types.CodeType) -> frozenset[str]:
    """The variables around a class that functions in its body captured."""
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return frozenset(code.co_freevars) & frozenset(name for constant in inner for name in constant.co_freevars)


def _used_by_others(node: ast.ClassDef, values: Mapping[str, ast.expr]) -> frozenset[str]:
    """The names that are read at once by what is in a body beside these values."""
    own, found = set(map(id, values.values())), set[str]()
    for statement in node.body:
        match statement:
            case ast.Assign(value=value) if id(value) in own:
                pass
            case ast.AnnAssign(value=value, annotation=annotation) if id(value) in own:
                found |= _read_in(annotation)
            case ast.FunctionDef(decorator_list=decorators, args=arguments, returns=returns):
                parts = (*decorators, arguments, *([] if returns is None else [returns]))
                found |= set[str]().union(*map(_read_in, parts))
            case _:
                found |= _read_in(statement)
    return frozenset(found)


def _read_in(node: ast.AST) -> frozenset[str]:
    return frozenset(each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load))


def _bound_in(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement of a body binds, and some more."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


_ARITHMETIC = (
    ast.BinOp, ast.UnaryOp, ast.Name, ast.Constant, ast.Tuple, ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip


def _is_arithmetic(value: ast.expr) -> bool:
    return all(isinstance(node, _ARITHMETIC) for node in ast.walk(value))


def is_code_of(code: types.CodeType, node: ast.ClassDef) -> bool:
    """Whether code is that of a class's body: the one of that name that starts in the line of its first decorator."""
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return code.co_firstlineno == first and node.name.endswith(code.co_name)


def _all_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _all_codes(constant)


@functools.lru_cache(maxsize=1024)
def _read_at_once(code: types.CodeType) -> frozenset[str]:
    """The captured variables that code of a class reads, with that of the comprehensions and classes in it."""
    own = {step.argval for step in dis.get_instructions(code) if step.opname in _READS}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            if is_inline(constant):
                own.update(constant.co_freevars)
            elif not constant.co_flags & inspect.CO_NEWLOCALS:
                own |= _read_at_once(constant)
    return frozenset(own & set(code.co_freevars))


def _may_call(node: ast.ClassDef) -> bool:
    """Whether making a class runs something that may be one of its methods: a call in its body, a decorator, a metaclass."""
    if node.keywords or not all(map(_is_known, node.decorator_list)):
        return True
    return any(map(_calls, node.body))


def _calls(node: ast.AST) -> bool:
    """Whether something in what a statement of the body evaluates at once may call a method."""
    match node:
        case ast.FunctionDef(decorator_list=decorators, args=arguments):
            return not all(map(_is_known, decorators)) or _calls(arguments)
        case ast.Lambda(args=arguments):
            return _calls(arguments)
        case ast.ClassDef():
            return _may_call(node)
    return isinstance(node, _CALLS) or any(map(_calls, ast.iter_child_nodes(node)))


def _is_known(decorator: ast.expr) -> bool:
    match decorator:
        case ast.Call(func=function, args=[], keywords=options):
            return _is_known(function) and all(isinstance(option.value, ast.Constant) for option in options)
        case ast.Name(id=name):
            return name in DECORATORS
        case ast.Attribute(value=ast.Name(id="functools" | "dataclasses"), attr=name):
            return name in DECORATORS
        case ast.Attribute(value=ast.Name(), attr="setter" | "deleter" | "getter"):
            return True
    return False
