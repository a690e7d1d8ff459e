"""What is refused, as a table: syntax -> the error, what to call it, and the way out.

A refusal fires when it is reached, not when the function is read: it is lowered to a `raise`. What the signature shows
(`async def`) is refused at once.
"""

from __future__ import annotations

import ast
from typing import final

from microgradpy.dataclasses import dataclass
from microgradpy.errors import DifferentiationError, UnsupportedSyntaxError

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


_ASYNC = _syntax("asynchronous code", "Await outside the differentiated function and pass the result in.")

# Syntax that has no lowering at all.
REFUSED: dict[type[ast.AST], Refusal] = {
    ast.AsyncFor: _ASYNC,
    ast.AsyncWith: _ASYNC,
    ast.Await: _ASYNC,
    ast.TryStar: _syntax("`except*`", "Catch the exceptions one by one with `except`."),
}

SHARED_EXCEPTION = _syntax(
    "a handler whose exception has the name of a variable that other functions assign", "Give the exception another name."
)
GENERIC_CLASS = _syntax("a generic class defined inside a function", "Define the class at the top of the module.")
DEEP_BRANCHES = _syntax(
    "more than ninety branches inside of each other (`elif`, `and`, `or`, conditional expressions, `if` with `return`)",
    "Use a table, a loop or several functions.",
)
BARE_SUPER = _syntax("`super()` in a comprehension", "Call `super()` before it, or name the class: `Base.method(self, ...)`.")
EXCEPTION_TYPES = _syntax(
    "an `except` that does not name its classes", "Write the classes after `except`: `except (ValueError, KeyError):`."
)
STRICT_ZIP = _syntax(
    "`zip(..., strict=True)` in a `try` whose handler uses what the loop has computed so far", "Compare the lengths before it."
)
UNKNOWN_SYNTAX = _syntax("this syntax")
BINDING_GENERATOR = _syntax("a generator expression that binds a name with `:=`", "Write a list: `[... for ...]`.")
ASYNC_FUNCTION = _syntax("an `async` function", "Await outside the differentiated function and pass the result in.")


def sentence(refusal: Refusal) -> str:
    """What the error says was found."""
    return f"{refusal.what[0].upper()}{refusal.what[1:]} cannot be differentiated"


OF_FRAMES = frozenset({"f_globals", "f_locals"})


def frame_access(name: str) -> Refusal:
    """A builtin that reads the variables of its caller, or an attribute of a frame that has them."""
    if name in ("eval", "exec"):
        what = f"`{name}`, which runs a text that is not part of the function,"
        return _syntax(what, "Write out what the text says, or run it outside and pass the result in.")
    shown = name if name in OF_FRAMES else f"{name}()"
    return _syntax(f"`{shown}`, which reads the variables of the running frame,", "Name the variables instead.")


def rebound_capture(name: str, made: int, rebound: int) -> Refusal:
    """A closure over a variable that may change while the closure lives."""
    return _syntax(
        f"a closure over `{name}`, made in line {made}, while line {rebound} gives `{name}` a new value",
        f"Bind it when the closure is made, with a default value: `{name}={name}`.",
    )
