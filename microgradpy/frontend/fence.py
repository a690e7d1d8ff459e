"""What is refused, as a table: syntax -> the error, what to call it, and the way out.

A refusal fires when it is reached, not when the function is read: it is lowered to a `raise`. What the signature shows
(a generator, `async def`) is refused at once.
"""

from __future__ import annotations

import ast
import inspect
import types
from dataclasses import dataclass
from typing import final

from microgradpy.errors import DifferentiationError, MutationError, UnsupportedSyntaxError

_WRITES = "Build a new value instead (for arrays `np.where`, `np.concatenate` or `np.stack`; for lists a comprehension)."
_KEEP_OUT = "Do it outside the differentiated function, or in a function with a rule of its own (`rrule.register`)."


@final
@dataclass(frozen=True, slots=True)
class Refusal:
    """`what` completes the sentence "... cannot be differentiated"."""

    error: type[DifferentiationError]
    what: str
    remedy: str


def _syntax(what: str, remedy: str = _KEEP_OUT) -> Refusal:
    return Refusal(UnsupportedSyntaxError, what, remedy)


_GENERATOR = _syntax("`yield`", "Return a list instead of yielding its items.")
_ASYNC = _syntax("asynchronous code", "Await outside the differentiated function and pass the result in.")
_IMPORT = _syntax("an import inside a function", "Import at the top of the module.")
_OUTER_NAME = "Return the new value and assign it in the caller."

# Syntax that has no lowering at all. The names of 3.12 are looked up, to be readable by 3.11.
REFUSED: dict[type[ast.AST], Refusal] = {
    ast.AsyncFor: _ASYNC,
    ast.AsyncWith: _ASYNC,
    ast.Await: _ASYNC,
    ast.ClassDef: _syntax("a class defined inside a function", "Define the class at the top of the module."),
    ast.GeneratorExp: _syntax(
        "a generator expression that is not consumed on the spot",
        "Write a list: `[... for ...]` instead of `(... for ...)`.",
    ),
    ast.Import: _IMPORT,
    ast.ImportFrom: _IMPORT,
    ast.Match: _syntax("`match`", "Write it as `if`/`elif`."),
    ast.NamedExpr: _syntax("`:=`", "Assign on a line of its own."),
    ast.TryStar: _syntax("`except*`", "Catch the exceptions one by one with `except`."),
    ast.Yield: _GENERATOR,
    ast.YieldFrom: _GENERATOR,
    **({ast.TypeAlias: _syntax("a `type` statement")} if hasattr(ast, "TypeAlias") else {}),
}

NAME_DELETION = _syntax("`del`", "Leave the `del` out: memory is freed when the function returns.")
ATTRIBUTE_DELETION = Refusal(MutationError, "a deletion of an attribute", "Return a new value instead of changing this one.")
ITEM_DELETION = Refusal(MutationError, "a deletion of an item", _WRITES)
ATTRIBUTE_WRITE = Refusal(MutationError, "an assignment to an attribute", "Return the new value instead of storing it.")
ITEM_WRITE = Refusal(MutationError, "an assignment to an item", _WRITES)
GLOBAL_WRITE = Refusal(MutationError, "an assignment to a `global` name", _OUTER_NAME)
NONLOCAL_WRITE = Refusal(MutationError, "an assignment to a `nonlocal` name", _OUTER_NAME)
BARE_SUPER = _syntax("`super()` without arguments", "Name the class: `Base.method(self, ...)`.")
FRAME_ACCESS = _syntax("a builtin that looks at the running frame", "Name the variables instead.")
EXCEPTION_TYPES = _syntax(
    "an `except` that does not name its classes", "Write the classes after `except`: `except (ValueError, KeyError):`."
)
STRICT_ZIP = _syntax(
    "`zip(..., strict=True)` in a `try` whose handler uses what the loop has computed so far", "Compare the lengths before it."
)
UNKNOWN_SYNTAX = _syntax("this syntax")
GENERATOR_FUNCTION = _syntax("a generator function", "Return a list instead of yielding its items.")
ASYNC_FUNCTION = _syntax("an `async` function", "Await outside the differentiated function and pass the result in.")


def suspended(code: types.CodeType) -> Refusal:
    """A function of which a call only makes a generator or a coroutine."""
    return GENERATOR_FUNCTION if code.co_flags & inspect.CO_GENERATOR else ASYNC_FUNCTION


def sentence(refusal: Refusal) -> str:
    """What the error says was found."""
    return f"{refusal.what[0].upper()}{refusal.what[1:]} cannot be differentiated"


def rebound_capture(name: str, made: int, rebound: int) -> Refusal:
    """A closure over a variable that may change while the closure lives."""
    return _syntax(
        f"a closure over `{name}`, made in line {made}, while line {rebound} gives `{name}` a new value",
        f"Bind it when the closure is made, with a default value: `{name}={name}`.",
    )


def self_reference(name: str, line: int) -> Refusal:
    """A nested function that needs itself, or one that is defined only later."""
    return _syntax(
        f"a nested function that uses `{name}` before it is defined (line {line})",
        f"Move the functions to the top of the module, or pass `{name}` as an argument.",
    )


def pointer(lines: tuple[str, ...], node: ast.AST, file: str, function: str) -> str:
    """The place of a construct as a traceback shows it: file and line, the line's text, and carets under the construct.

    model.py:7, in loss
        with timer() as t:
        ^^^^^^^^^^^^^^^^^^
    """
    line: int = node.lineno  # type: ignore[attr-defined]
    head = f"{file}:{line}, in {function}"
    if not 0 < line <= len(lines):
        return head
    encoded = lines[line - 1].rstrip("\n").encode()
    # Columns count UTF-8 bytes; a construct of several lines is underlined to the end of its first.
    several = node.end_lineno != line  # type: ignore[attr-defined]
    end = len(encoded) if several else node.end_col_offset  # type: ignore[attr-defined]
    before, marked = (encoded[a:b].decode() for a, b in ((0, node.col_offset), (node.col_offset, end)))  # type: ignore[attr-defined]
    text = encoded.decode()
    indent = len(text) - len(text.lstrip())
    return f"{head}\n    {text.strip()}\n    {' ' * (len(before) - indent)}{'^' * max(1, len(marked.rstrip()))}"
