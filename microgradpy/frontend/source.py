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
import os
import sys
import types
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, final

from microgradpy.dataclasses import dataclass
from microgradpy.errors import SourceNotFoundError
from microgradpy.frontend import fence
from microgradpy.frontend.codes import comes_from, first_line, is_asynchronous, is_named, is_same_code, span
from microgradpy.frontend.generators import function_of_expression
from microgradpy.frontend.kept_texts import kept_texts
from microgradpy.frontend.scope import FunctionNode, start_of
from microgradpy.frontend.sharing import (
    known_shared,
    note_globals,
    note_shared,
    rebound_captures,
    rebound_globals,
    shared_in,
)
from microgradpy.frontend.trees import children
from microgradpy.ir.nodes import Location
from microgradpy.quiet import without_warnings
from microgradpy.runtime.room import with_room
from microgradpy.runtime.variables import value_in

# The flags of code objects that `from __future__ import ...` sets.
_FUTURES = functools.reduce(int.__or__, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names))


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
    """The text of a Python function. Raises `SourceNotFoundError` if there is none, or if it is not the code that runs,
    and `UnsupportedSyntaxError` for coroutines."""
    return find_source_of_code(function.__code__, function.__globals__)


def find_source_of_code(code: types.CodeType, namespace: Mapping[str, Any]) -> FoundSource:
    """The text of a code object whose module variables are `namespace`."""
    lines = _lines_of(code, namespace)
    if is_asynchronous(code):
        refusal = fence.ASYNC_FUNCTION
        raise refusal.error(fence.sentence(refusal), _place(code, lines), refusal.remedy)
    place = _place(code, [])
    if not lines:
        raise SourceNotFoundError(f"There is no source text of `{code.co_qualname}`", place, _way_to_text(code))
    parsed = _parse(code.co_filename, "".join(lines), code.co_flags & _FUTURES)
    found = _find(parsed, code) if parsed is not None else None
    if (parsed is None or found is None) and code.co_filename == "<string>":  # Python 3.13 keeps that of its option -c
        raise SourceNotFoundError(f"There is no source text of `{code.co_qualname}`", place, _way_to_text(code))
    if parsed is None or found is None:
        raise SourceNotFoundError(f"The source text of `{code.co_qualname}` is not the code that runs", place, _RELOAD)
    assert isinstance(found.tree, ast.FunctionDef | ast.Lambda)
    return FoundSource(found.tree, code.co_filename, code.co_name, parsed.lines, found.class_name)


def shared_names(code: types.CodeType, namespace: Mapping[str, Any]) -> frozenset[str]:
    """Those of the variables a function captured that live in cells which are rebound while they are shared: by the function,
    or by any other that was made beside it, as its file tells."""
    if not code.co_freevars:
        return frozenset()
    known = known_shared(code)
    if known is None:
        parsed = _parsed_of(code, namespace)
        here = parsed.codes.get(code.co_firstlineno, ()) if parsed is not None else ()
        known = rebound_captures(code)
        for compiled in here:
            if parsed is not None and _is_unchanged(compiled, code):
                known |= parsed.shared.get(id(compiled), frozenset())
        note_shared(code, known)
    return known


def captured_values(function: types.FunctionType) -> list[Any]:
    """What a unit is given for the variables that a function captured: their values, or the cells of those that are shared."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    shared = shared_names(function.__code__, function.__globals__)
    return [cell if name in shared else value_in(cell) for name, cell in cells]


def rebound_variables(function: types.FunctionType) -> frozenset[str]:
    """The module variables that functions of the same module assign."""
    parsed = _parsed_of(function.__code__, function.__globals__)
    codes = () if parsed is None else (code for codes in parsed.codes.values() for code in codes)
    note_globals(function.__globals__, (function.__code__, *codes))
    return rebound_globals(function.__globals__)


def _parsed_of(code: types.CodeType, namespace: Mapping[str, Any]) -> _ParsedFile | None:
    lines = _lines_of(code, namespace)
    return _parse(code.co_filename, "".join(lines), code.co_flags & _FUTURES) if lines else None


_RELOAD = (
    "If the file was edited after it was imported, import it again (importlib.reload, or a new process). If something rewrites "
    "the code that runs, as tools for tracing and mocking do, differentiate without it, or register a rule (`rrule.register`)."
)
_FROZEN = "<frozen "
_OTHERWISE = "or register a rule for it (`rrule.register`)."


def _way_to_text(code: types.CodeType) -> str:
    """What to do about code without a text, by where it says that it comes from."""
    file = code.co_filename
    if file == "<stdin>":
        return f"What is typed at this prompt is not kept: put it into a file, use IPython or Python 3.13, {_OTHERWISE}"
    if file.startswith("<"):
        return f"It was made from a string by `exec`, `eval` or a tool that generates code: put it into a file, {_OTHERWISE}"
    return f"The file is not there, or cannot be read: run from where the sources are installed, {_OTHERWISE}"


def place_of(function: types.FunctionType) -> Location:
    """Where a function starts."""
    return place_of_code(function.__code__, function.__globals__)


def place_of_code(code: types.CodeType, namespace: Mapping[str, Any]) -> Location:
    """Where the code of a function starts; `namespace` are the variables of its module."""
    return _place(code, _lines_of(code, namespace))


def _place(code: types.CodeType, lines: Sequence[str]) -> Location:
    """Where code starts, with that line if it is known."""
    number = code.co_firstlineno
    source = lines[number - 1] if 0 < number <= len(lines) else ""
    start = len(source) - len(source.lstrip())
    return Location(code.co_filename, number, start, function=code.co_name, source=source)


def _lines_of(code: types.CodeType, namespace: Mapping[str, Any]) -> list[str]:
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, dict(namespace) if type(namespace) is not dict else namespace)
    if lines:
        return lines
    if code.co_filename.startswith(_FROZEN):
        # The interpreter has this module built in, but comes with its file.
        module = sys.modules.get(code.co_filename.removeprefix(_FROZEN).rstrip(">"))
        return linecache.getlines(getattr(module, "__file__", None) or "")
    try:
        # Python 3.13 keeps what is typed at the prompt and given to `-c`; inspect knows where.
        return inspect.findsource(code)[0]
    except (OSError, TypeError, IndexError):
        return _lines_in_no_file(code)


def _lines_in_no_file(code: types.CodeType) -> list[str]:
    """The text, kept elsewhere, that makes this very code."""
    known = _kept.get(code)
    if known is None:
        known = []
        for text in kept_texts(code.co_filename):
            parsed = _parse(code.co_filename, text, code.co_flags & _FUTURES)
            if parsed is not None and _find(parsed, code) is not None:
                known = list(parsed.lines)
                break
        if known or not code.co_filename.startswith("<"):
            _kept[code] = known
    return known


_kept: weakref.WeakKeyDictionary[types.CodeType, list[str]] = weakref.WeakKeyDictionary()


@final
@dataclass(frozen=True, slots=True)
class _Defined:
    """A function in a file, and the class around it."""

    tree: FunctionNode
    class_name: str


@final
@dataclass(frozen=True, slots=True)
class _ParsedFile:
    """The functions of a file by the line their code objects start in, as syntax and as compiled from that syntax; and by the
    identity of the latter, which of the variables they capture are assigned by functions."""

    lines: tuple[str, ...]
    trees: Mapping[int, list[_Defined]]
    codes: Mapping[int, list[types.CodeType]]
    shared: Mapping[int, frozenset[str]]


@with_room
@functools.lru_cache(maxsize=64)
def _parse(file: str, text: str, flags: int) -> _ParsedFile | None:
    """A parsed file; None if the text is no program, so certainly not the one that runs."""
    try:
        with without_warnings():  # the file's own were given when it was imported
            tree = ast.parse(text, file)
            compiled = [_compile(tree, file, flags)]
            if not os.path.isfile(file):
                # A notebook compiles the statements of a cell one by one, and then an imported name is none of the same text.
                compiled += [_compile(ast.Module([statement], []), file, flags) for statement in tree.body]
                if file == _TIMEIT and tree.body:
                    compiled.append(_compile(_as_function(tree), file, flags))
    except (SyntaxError, ValueError):
        return None
    trees: dict[int, list[_Defined]] = {}
    for defined in _functions(tree, ""):
        trees.setdefault(first_line(defined.tree), []).append(defined)
    codes: dict[int, list[types.CodeType]] = {}
    for inner in (inner for code in compiled for inner in _codes(code)):
        codes.setdefault(inner.co_firstlineno, []).append(inner)
    shared = {id(inner): names for code in compiled for inner, names in shared_in(code, frozenset())}
    return _ParsedFile(tuple(text.splitlines(keepends=True)), trees, codes, shared)


_TIMEIT = "<magic-timeit>"


def _as_function(tree: ast.Module) -> ast.Module:
    """A cell as the body of a function, whose variables are captured by the functions in it: so `%%timeit` compiles it."""
    (made,) = ast.parse("def inner():\n    pass").body
    assert isinstance(made, ast.FunctionDef)
    made.body = tree.body
    return ast.Module([made], [])


def _compile(tree: ast.Module, file: str, flags: int) -> types.CodeType:
    code: types.CodeType = compile(tree, file, "exec", flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    return code


def _functions(node: ast.AST, class_name: str) -> Iterator[_Defined]:
    for child in children(node):
        if isinstance(child, FunctionNode):
            yield _Defined(child, class_name)
        elif isinstance(child, ast.GeneratorExp):
            yield _Defined(function_of_expression(child), class_name)
        yield from _functions(child, child.name if isinstance(child, ast.ClassDef) else class_name)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def _find(parsed: _ParsedFile, code: types.CodeType) -> _Defined | None:
    """The function of the file that the code object comes from, if the file still says what the code does."""
    if not any(_is_unchanged(compiled, code) for compiled in parsed.codes.get(code.co_firstlineno, ())):
        return None
    here = parsed.trees.get(code.co_firstlineno, ())
    found = [defined for defined in here if is_named(defined.tree, code) and comes_from(code, defined.tree)]
    # The instructions of a lambda lie in the lambdas around it as well: the innermost one starts last.
    return max(found, key=lambda defined: start_of(defined.tree), default=None)


def _is_unchanged(compiled: types.CodeType, running: types.CodeType) -> bool:
    # Lambdas that share a line may have changed places; functions are told apart by their names and lines.
    is_in_place = running.co_name != "<lambda>" or span(compiled) == span(running)
    return is_in_place and is_same_code(compiled, running)
