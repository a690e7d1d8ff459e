"""Code objects against syntax trees: which function's code is this, and do two code objects do the same?"""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import itertools
import types

from microgradpy.frontend.scope import FunctionNode, Position, end_of, start_of
from microgradpy.runtime.suspension import is_generator

GENERATOR_EXPRESSION = "<genexpr>"
_REWRITTEN = ("@py_assert", "@pytest_ar")  # names that pytest's assertion rewriting adds


@functools.lru_cache(maxsize=1024)
def has_handlers(code: types.CodeType) -> bool:
    """Whether a function has a `try` or a `with`."""
    return any(instruction.opname == "PUSH_EXC_INFO" for instruction in dis.get_instructions(code))


@functools.lru_cache(maxsize=1024)
def takes_exceptions(code: types.CodeType) -> bool:
    """Whether a generator does something with what is thrown to it: it has handlers, or another generator behind it."""
    names = (instruction.opname for instruction in dis.get_instructions(code))
    return any(name in ("PUSH_EXC_INFO", "GET_YIELD_FROM_ITER") for name in names)


@functools.lru_cache(maxsize=1024)
def receives(code: types.CodeType) -> bool:
    """Whether a generator uses what is sent into it, or hands it on."""
    if not is_generator(code):
        return False
    names = [instruction.opname for instruction in dis.get_instructions(code) if instruction.opname != "RESUME"]
    following = [after for name, after in itertools.pairwise(names) if name == "YIELD_VALUE"]
    return "SEND" in names or any(after != "POP_TOP" for after in following)


def is_asynchronous(code: types.CodeType) -> bool:
    """Whether calling the function only makes a coroutine, or a generator that is awaited."""
    return bool(code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE))


def first_line(tree: FunctionNode) -> int:
    """The line a code object says it starts in: a function starts with its decorators."""
    decorators = [] if isinstance(tree, ast.Lambda) else tree.decorator_list
    return min([tree.lineno, *(decorator.lineno for decorator in decorators)])


def is_named(tree: FunctionNode, code: types.CodeType) -> bool:
    """Whether the names agree. A tree with mangled private names has `_Class__f` where the code object has `__f`."""
    if isinstance(tree, ast.Lambda):
        return code.co_name == "<lambda>"
    return code.co_name == tree.name or (code.co_name.startswith("__") and tree.name.endswith(code.co_name))


def comes_from(code: types.CodeType, tree: FunctionNode) -> bool:
    """Whether the code is that of this function, given that line and name agree: several lambdas may share a line."""
    if not isinstance(tree, ast.Lambda) and tree.name != GENERATOR_EXPRESSION:
        return True
    start, end = span(code)
    if not isinstance(tree, ast.Lambda):
        return start_of(tree) <= start and end <= end_of(tree)
    if end > (0, 0):
        return start_of(tree.body) <= start and end <= end_of(tree.body)
    # A lambda that returns a constant need not have positions, and `-X no_debug_ranges` leaves them out everywhere.
    return is_same_code(_compiled_alone(tree, code.co_freevars), code)


def span(code: types.CodeType) -> tuple[Position, Position]:
    """Where the text starts and ends that the instructions come from; ((0, 0), (0, 0)) if that was not recorded."""
    starts: list[Position] = []
    ends: list[Position] = []
    for line, end_line, column, end_column in code.co_positions():
        # The first instruction of every function has the empty range at column 0 of its first line.
        if line and end_line and column is not None and end_column:
            starts.append((line, column))
            ends.append((end_line, end_column))
    return (min(starts), max(ends)) if starts else ((0, 0), (0, 0))


def _compiled_alone(tree: ast.Lambda, captured: tuple[str, ...]) -> types.CodeType:
    arguments = ast.arguments([], [ast.arg(name) for name in captured], None, [], [], None, [])
    around = ast.FunctionDef("around", arguments, [ast.Return(tree)], [], None, None)
    around.type_params = []  # type: ignore[attr-defined,unused-ignore]  # required from 3.12 on
    module = compile(ast.fix_missing_locations(ast.Module([around], [])), "<alone>", "exec", dont_inherit=True)
    (outer,) = (constant for constant in module.co_consts if isinstance(constant, types.CodeType))
    # Lambdas in the defaults come before the one that has them.
    *_, code = (constant for constant in outer.co_consts if isinstance(constant, types.CodeType))
    return code


def is_same_code(a: types.CodeType, b: types.CodeType) -> bool:
    """Whether two code objects do the same: equal instructions, names and constants. Asserts that pytest rewrote are
    allowed to differ, so only the signature of such a function is compared."""
    if (a.co_name, a.co_varnames[: _argument_count(a)]) != (b.co_name, b.co_varnames[: _argument_count(b)]):
        return False
    if _is_rewritten(a) or _is_rewritten(b):
        return True
    return (
        a.co_code == b.co_code
        and (a.co_names, a.co_varnames) == (b.co_names, b.co_varnames)
        and (a.co_freevars, a.co_cellvars) == (b.co_freevars, b.co_cellvars)
        and _is_same_constant(a.co_consts, b.co_consts)
    )


def _argument_count(code: types.CodeType) -> int:
    variadic = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_argcount + code.co_kwonlyargcount + variadic


def _is_rewritten(code: types.CodeType) -> bool:
    return any(name.startswith(_REWRITTEN) for name in (*code.co_names, *code.co_varnames))


def _is_same_constant(a: object, b: object) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
        return is_same_code(a, b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_is_same_constant, a, b))
    # The text of a number says more than `==`, for which 0.0 is -0.0 and nan is not nan; a frozenset's has no order.
    return a == b if isinstance(a, frozenset) else repr(a) == repr(b)
