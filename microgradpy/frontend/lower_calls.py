"""Calls: plain ones, and those with stars.

f(x, key=y)         an operation whose callee is f
f(*xs, a, **kw)     apply(f, tuple(xs) + (a,), kw)
"""

from __future__ import annotations

import ast
import sys

from microgradpy.frontend import fence
from microgradpy.frontend.lower_comprehensions import CONSUMERS, collect, lower_first, lower_quantifier
from microgradpy.frontend.lower_core import EXPRESSIONS, MISSING, Lowering, lowers
from microgradpy.frontend.lower_expressions import lower_display
from microgradpy.frontend.lower_variables import read_shared
from microgradpy.frontend.places import LoopFrame
from microgradpy.frontend.resolve import builtin
from microgradpy.ir.nodes import Const, Each, Opcode, Value, fresh
from microgradpy.runtime.suspension import is_generator

# Builtins that read the local or module variables of their caller, which is generated code while differentiating.
_ALWAYS_LOOK_AROUND = (locals, globals, eval, exec, sys.exc_info, sys.exception)
_LOOK_AROUND_BY_DEFAULT = (vars, dir)


@lowers(EXPRESSIONS, ast.Call)
def lower_call(low: Lowering, node: ast.Call, name: str) -> Value:
    callee = low.expression(node.func)
    if _is(callee, super) and not node.args and not node.keywords:
        return _lower_bare_super(low, callee, node, name)
    for function in _ALWAYS_LOOK_AROUND + (() if node.args else _LOOK_AROUND_BY_DEFAULT):
        if _is(callee, function):
            low.refuse(fence.frame_access(function.__name__), node)
    match node.args:
        case [ast.GeneratorExp() as generator] if _is_quantifier(callee):
            return lower_quantifier(low, generator, _is(callee, any), name)
        case [ast.GeneratorExp() as generator, *others] if _is(callee, next) and _is_first(low, node, generator):
            return lower_first(low, generator, low.expression(others[0]) if others else None, name)
        case [ast.GeneratorExp() as generator, *others] if _consumes(callee, node.func):
            arguments = (collect(low, generator), *map(low.expression, others))
            return low.emit(callee, *arguments, node=node, name=name, keywords=_keywords(low, node))
    if any(isinstance(item, ast.Starred) for item in node.args) or any(item.arg is None for item in node.keywords):
        positional = _lower_positional(low, node)
        return low.emit(Opcode.APPLY, callee, positional, lower_keywords(low, node), node=node, name=name)
    arguments = tuple(map(low.expression, node.args))
    return low.emit(callee, *arguments, node=node, name=name, keywords=_keywords(low, node))


def _lower_bare_super(low: Lowering, callee: Value, node: ast.Call, name: str) -> Value:
    """`super()` finds the class in the cell `__class__` and the object in the first parameter."""
    code = low.unit.code
    if low.inner_names and sys.version_info < (3, 12):
        low.refuse(fence.BARE_SUPER, node)  # a comprehension is a function of its own there, with another first parameter
    if not code.co_argcount:
        low.raise_builtin(RuntimeError, Const("super(): no arguments"), node=node)
    if "__class__" not in code.co_freevars:
        low.raise_builtin(RuntimeError, Const("super(): __class__ cell not found"), node=node)
    name_of_first = code.co_varnames[0]
    is_shared = low.is_shared(name_of_first)
    first = read_shared(low, name_of_first, node) if is_shared else low.env.get(name_of_first, MISSING)
    if first == MISSING:
        low.raise_builtin(RuntimeError, Const("super(): arg[0] deleted"), node=node)
    return low.emit(callee, low.env["__class__"], first, node=node, name=name)


def _is(value: Value, function: object) -> bool:
    return isinstance(value, Const) and value.value is function


def _is_quantifier(callee: Value) -> bool:
    return _is(callee, any) or _is(callee, all)


def _is_first(low: Lowering, node: ast.Call, generator: ast.GeneratorExp) -> bool:
    """Whether `next` ends with a default that may be read first, or else as the function does in which it is called."""
    match node.args[1:]:
        case [] if not node.keywords:
            return not is_generator(low.unit.code)
        case [ast.Constant()]:
            return not node.keywords
        case [ast.Name()]:
            return not node.keywords and isinstance(generator.generators[0].iter, ast.Name)
    return False


def _consumes(callee: Value, node: ast.expr) -> bool:
    """Whether the callee takes all items of its first argument before it does anything else: a builtin, `str.join`."""
    if isinstance(callee, Const):
        return any(_is(callee, consumer) for consumer in CONSUMERS)
    return isinstance(node, ast.Attribute) and node.attr == "join"


def _keywords(low: Lowering, node: ast.Call) -> list[tuple[str, Value]]:
    return [(keyword.arg, low.expression(keyword.value)) for keyword in node.keywords if keyword.arg is not None]


def _lower_positional(low: Lowering, node: ast.Call) -> Value:
    """The tuple of positional arguments; `f(*args)` with the function's own `*args` passes them on as they are."""
    match node.args:
        case [ast.Starred(value=ast.Name(id=name))] if low.env.get(name) in low.unit.packed:
            return low.env[name]
    return lower_display(low, Opcode.TUPLE, node.args, node)


def lower_keywords(low: Lowering, node: ast.Call | ast.ClassDef) -> Value:
    """The mapping of keyword arguments. One given twice is an error, as it is in Python."""
    pieces: list[Value] = []
    plain: list[Value] = []
    for keyword in node.keywords:
        value = low.expression(keyword.value)
        if keyword.arg is not None:
            plain += (Const(keyword.arg), value)
            continue
        if plain:
            pieces.append(low.emit(Opcode.DICT, *plain, node=node))
            plain = []
        pieces.append(value)
    if plain or not pieces:
        pieces.append(low.emit(Opcode.DICT, *plain, node=node))
    if len(pieces) == 1:
        return pieces[0]
    total: Value = low.emit(builtin(dict), pieces[0], node=node)
    for piece in pieces[1:]:
        added = low.emit(builtin(dict), piece, node=node)
        _refuse_repeated(low, total, added, node)
        total = low.emit(Opcode.INFIX, total, added, node=node, payload="|")
    return total


def _refuse_repeated(low: Lowering, known: Value, added: Value, node: ast.AST) -> None:
    """for key in added: if key in known: raise TypeError(...)"""
    key = fresh("key")

    def fail() -> None:
        message = low.emit(Opcode.JOIN, Const("got multiple values for keyword argument '"), key, Const("'"), node=node)
        low.raise_builtin(TypeError, message, node=node)

    def body() -> None:
        repeated = low.emit(Opcode.INFIX, key, known, node=node, payload="in")
        low.branch(repeated, fail, lambda: None, node)

    low.for_loop(Each(added, key), LoopFrame(()), body, node)
