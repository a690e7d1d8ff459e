"""What is printed: results on the standard output, refusals on the standard error, colours on a terminal only."""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from microgradpy.errors import DifferentiationError
from microgradpy.runtime.frames import is_own

_ANSI = {"keyword": "34", "string": "32", "number": "36", "comment": "2", "name": "1"}


class UsageError(Exception):
    """What was typed does not make sense; the message says why, and what to type."""


def has_colour(stream: TextIO | None) -> bool:
    """Whether to colour what is written: on a terminal, unless NO_COLOR (https://no-color.org) or TERM say otherwise."""
    return stream is not None and stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def coloured(kind: str, text: str) -> str:
    """A piece of a program with the colour of its kind."""
    return f"\x1b[{_ANSI[kind]}m{text}\x1b[0m" if kind in _ANSI else text


def show(text: str) -> None:
    """Print a text, also where the terminal lacks some of its letters."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def show_json(values: dict[str, Any]) -> None:
    """Print one JSON object."""
    show(json.dumps(values, indent=2, ensure_ascii=True, allow_nan=False))


def plain(value: Any) -> Any:
    """A value in the types that JSON has: arrays as lists, what JSON lacks (NaN, complex numbers, objects) as its text."""
    match value:
        case None | bool() | str():
            return value
        case int() | float():
            return value if isinstance(value, int) or math.isfinite(value) else repr(value)
        case dict():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy's
        return plain(value.tolist())
    return repr(value)


def short_path(file: str) -> str:
    """A file as seen from the current folder, if it is below that."""
    try:
        return str(Path(file).resolve().relative_to(Path.cwd()))
    except ValueError:
        return file


def refusal_text(error: DifferentiationError) -> str:
    """A refusal: the place, what was found, the line with carets, and what to do."""
    where: Any = error.where
    file, line = getattr(where, "file", None), getattr(where, "line", 0)
    head = f"{short_path(file)}:{line}: " if file else ""
    marked = str(where).splitlines()[1:] if file else []
    remedy = [f"  {text}" for text in error.remedy.splitlines()]
    notes = [f"  {note}" for note in getattr(error, "__notes__", ())]
    return "\n".join([f"{head}refused: {error.found}", *marked, *remedy, *notes])


def refusal_values(error: DifferentiationError) -> dict[str, Any]:
    """A refusal for other programs."""
    where: Any = error.where
    file, line = getattr(where, "file", ""), getattr(where, "line", 0)
    place = {"file": short_path(file) if file else "", "line": line}
    return {"refused": type(error).__name__, "found": error.found, **place, "remedy": error.remedy}


def user_traceback(error: BaseException) -> str:
    """The traceback of an exception of the user's program, without the frames of this package."""
    shown = traceback.TracebackException.from_exception(error)
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    kept = [entry for entry, frame in zip(shown.stack, frames, strict=True) if not _is_between(entry, frame)]
    shown.stack = traceback.StackSummary.from_list(kept)
    return "".join(shown.format()).rstrip()


def _is_between(entry: traceback.FrameSummary, frame: FrameType) -> bool:
    """Whether a frame is between the shell and the user's program."""
    is_import = entry.filename.startswith("<frozen importlib") or entry.filename.endswith(f"importlib{os.sep}__init__.py")
    return is_import or is_own(frame) or str(frame.f_globals.get("__name__")).startswith("microgradpy.testing.")
