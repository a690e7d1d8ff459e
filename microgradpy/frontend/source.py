"""The text of the code that runs.

The whole file is parsed, never a fragment: a lambda that continues a list on its second line is no program by itself.
The function is then looked up by the position that its code object carries, and the file's text is compiled again and
compared with the code that runs, because a file may have been edited since it was imported.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import linecache
import types
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

from microgradpy.errors import SourceNotFoundError
from microgradpy.frontend.closures import first_line, span
from microgradpy.frontend.scope import FunctionNode, end_of, start_of

_FUTURES = functools.reduce(int.__or__, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names))
_REWRITTEN = ("@py_assert", "@pytest_ar")  # names that pytest's assertion rewriting adds


@final
@dataclass(frozen=True, slots=True)
class FoundSource:
    """A function's syntax tree, and the file it is in. `class_name` is the class whose body it is written in, whose
    private names (`__x`) it means."""

    tree: ast.FunctionDef | ast.Lambda
    file: str
    name: str
    lines: tuple[str, ...]
    class_name: str


def find_source(function: types.FunctionType) -> FoundSource:
    """The text of a Python function; `SourceNotFoundError` if there is none, or if it is not the code that runs."""
    return find_source_of_code(function.__code__, function.__globals__)


def find_source_of_code(code: types.CodeType, namespace: Mapping[str, Any]) -> FoundSource:
    """The text of a code object whose module variables are `namespace`."""
    lines = _lines_of(code, namespace)
    place = f"{code.co_filename}:{code.co_firstlineno}, in {code.co_name}"
    if not lines:
        remedy = "Define it in a file, or register a rule for it (`rrule.register`)."
        raise SourceNotFoundError(f"There is no source text of `{code.co_qualname}`", place, remedy)
    parsed = _parse(code.co_filename, "".join(lines), code.co_flags & _FUTURES)
    if parsed is None or not (candidates := _candidates(parsed, code)):
        remedy = "If the file was edited after it was imported, import it again."
        raise SourceNotFoundError(f"The source text of `{code.co_qualname}` is not the code that runs", place, remedy)
    if len({ast.dump(candidate.tree) for candidate in candidates}) > 1:
        remedy = "Write them on lines of their own."
        raise SourceNotFoundError("Several functions in this line may be the one that runs", place, remedy)
    found = candidates[0]
    assert isinstance(found.tree, ast.FunctionDef | ast.Lambda)
    return FoundSource(found.tree, code.co_filename, code.co_name, parsed.lines, found.class_name)


def _lines_of(code: types.CodeType, namespace: Mapping[str, Any]) -> list[str]:
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, dict(namespace) if type(namespace) is not dict else namespace)
    if lines:
        return lines
    try:
        # Python 3.13 keeps what is typed at the prompt and given to `-c`; inspect knows where.
        return inspect.findsource(code)[0]
    except (OSError, TypeError, IndexError):
        return []


@final
@dataclass(frozen=True, slots=True)
class _Defined:
    """A function in a file, and the class around it."""

    tree: FunctionNode
    class_name: str


@final
@dataclass(frozen=True, slots=True)
class _ParsedFile:
    """The functions of a file by the line their code objects start in, as syntax and as compiled from that syntax."""

    lines: tuple[str, ...]
    trees: Mapping[int, list[_Defined]]
    codes: Mapping[int, list[types.CodeType]]


@functools.lru_cache(maxsize=64)
def _parse(file: str, text: str, flags: int) -> _ParsedFile | None:
    """A parsed file; None if the text is no program, so certainly not the one that runs."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the file's own warnings were given when it was imported
            tree = ast.parse(text, file)
            code = compile(tree, file, "exec", flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    trees: dict[int, list[_Defined]] = {}
    for defined in _functions(tree, ""):
        trees.setdefault(first_line(defined.tree), []).append(defined)
    codes: dict[int, list[types.CodeType]] = {}
    for inner in _codes(code):
        codes.setdefault(inner.co_firstlineno, []).append(inner)
    return _ParsedFile(tuple(text.splitlines(keepends=True)), trees, codes)


def _functions(node: ast.AST, class_name: str) -> Iterator[_Defined]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FunctionNode):
            yield _Defined(child, class_name)
        yield from _functions(child, child.name if isinstance(child, ast.ClassDef) else class_name)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def _candidates(parsed: _ParsedFile, code: types.CodeType) -> list[_Defined]:
    """The functions of the file that the code object may come from: one, unless columns were not recorded."""
    if not any(is_same_code(compiled, code) for compiled in parsed.codes.get(code.co_firstlineno, ())):
        return []
    found = [defined for defined in parsed.trees.get(code.co_firstlineno, ()) if _is_called(defined.tree, code)]
    if len(found) > 1:
        found = [defined for defined in found if _contains(defined.tree, code)] or found
    return found


def _is_called(tree: FunctionNode, code: types.CodeType) -> bool:
    return code.co_name == ("<lambda>" if isinstance(tree, ast.Lambda) else tree.name)


def _contains(tree: FunctionNode, code: types.CodeType) -> bool:
    """Whether the instructions come from this function's body: for a lambda they cover it exactly."""
    start, end = span(code)
    if isinstance(tree, ast.Lambda):
        return (start, end) == (start_of(tree.body), end_of(tree.body))
    return start_of(tree) <= start and end <= end_of(tree)


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
