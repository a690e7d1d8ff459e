"""What becomes of an exception that leaves the package: it says where in the user's program it happened, and no more.

- a refusal without a place gets that of the innermost of the user's lines that is not in a library, or of the call from
  outside;
- an exception of the reverse pass gets a note for each adjoint that it came through, the innermost first;
- the package's own frames go from the traceback, so that it is that of the plain call. With the environment variable
  `MICROGRADPY_FULL_TRACEBACK` set they stay.

An exception of the user's program has nothing added to it.
"""

from __future__ import annotations

import itertools
import linecache
import os
import site
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, final

from microgradpy.dataclasses import dataclass
from microgradpy.errors import CompilerBug, DifferentiationError
from microgradpy.ir.nodes import Location
from microgradpy.runtime.frames import is_own

FULL_TRACEBACK_VARIABLE = "MICROGRADPY_FULL_TRACEBACK"
GENERATED = "__microgradpy_generated__"
"""The global name by which generated functions are known; its value is a `Generated`."""


@final
@dataclass(frozen=True, slots=True)
class Generated:
    """What a generated function stands for. Those of an adjoint's lines that come from the user's are in `lines`; a primal
    has the user's own lines, and None here."""

    function: str
    lines: Mapping[int, Location] | None = None


@final
class Boundary:
    """Around everything that a public function does."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: types.TracebackType | None) -> None:
        if error is not None and not isinstance(error, CompilerBug):
            _explain(error, list(_entries(traceback)))

    @staticmethod
    def explained() -> tuple[()]:
        """The same for the exception that is being handled, as `except BOUNDARY.explained():` says it, which catches nothing:
        code that is to take no time for the boundary has it there. Raising it again by hand would show the line that does."""
        error = sys.exception()
        if error is not None and not isinstance(error, CompilerBug):
            _explain(error, list(_entries(error.__traceback__)))
        return ()


BOUNDARY = Boundary()


def _explain(error: BaseException, entries: list[types.TracebackType]) -> None:
    adjoints = list(_adjoint_places(entries))
    if isinstance(error, DifferentiationError):
        _place_refusal(error, entries)
        adjoints = [adjoint for adjoint in adjoints if adjoint[1] != error.where]
    _add_notes(error, adjoints)
    if not os.environ.get(FULL_TRACEBACK_VARIABLE):
        error.__traceback__ = _chained(entry for entry in entries if not is_own(entry.tb_frame))


def _place_refusal(error: DifferentiationError, entries: list[types.TracebackType]) -> None:
    places = [place for entry in reversed(entries) if (place := _place_in(entry)) is not None]
    # In a library, the user can do nothing about it.
    here = next((place for place in places if not is_library(place.file)), places[0] if places else None)
    if error.where and here is not None and error.where not in places:
        _add_note(error, f"reached in {_line(here)}")  # what is refused is a whole function
    if not error.where:
        where = here or _caller(entries)
        if where is not None:
            error.locate(where)
        if here is not None and here is not places[0]:
            _add_note(error, f"found in {_line(places[0])}")


def _entries(traceback: types.TracebackType | None) -> Iterator[types.TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _chained(entries: Iterable[types.TracebackType]) -> types.TracebackType | None:
    chain: types.TracebackType | None = None
    for entry in reversed(list(entries)):
        chain = types.TracebackType(chain, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return chain


# Places


def _place_in(entry: types.TracebackType) -> Location | None:
    """The user's line that a generated frame stands for."""
    return _place_at(entry.tb_frame, entry.tb_lasti, entry.tb_lineno)


def _place_at(frame: types.FrameType, instruction: int, line: int) -> Location | None:
    generated: Generated | None = frame.f_globals.get(GENERATED)
    if generated is None:
        return None
    return place_of(frame, instruction) if generated.lines is None else generated.lines.get(line)


def place_of_call() -> Location | None:
    """The user's line that is running, in the innermost generated frame that has one."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        place = _place_at(frame, frame.f_lasti, frame.f_lineno)
        if place is not None:
            return place
        frame = frame.f_back
    return None


def _caller(entries: list[types.TracebackType]) -> Location | None:
    """Where the package was called."""
    caller = entries[0].tb_frame.f_back if entries else None
    while caller is not None and is_own(caller):
        caller = caller.f_back
    return None if caller is None else place_of(caller, caller.f_lasti)


_INSTALLED = (folder for folder in site.getsitepackages() if folder.endswith("-packages"))
_OWN = os.path.dirname(__file__)
_LIBRARIES = tuple({folder + os.sep for folder in (os.path.dirname(os.__file__), _OWN, *_INSTALLED)})


def is_library(file: str) -> bool:
    """Whether a file is Python's own, was installed, or is one of this package."""
    return file.startswith(_LIBRARIES)


def _generated(entry: types.TracebackType) -> Generated | None:
    found: Generated | None = entry.tb_frame.f_globals.get(GENERATED)
    return found


def place_of(frame: types.FrameType, instruction: int) -> Location | None:
    """The place that an instruction of a frame comes from."""
    code: Any = frame.f_code
    line, end_line, column, end_column = next(itertools.islice(code.co_positions(), instruction // 2, None), (None,) * 4)
    if line is None:
        return None
    source = linecache.getline(code.co_filename, line, frame.f_globals)
    if column is None or end_column is None:  # as with `-X no_debug_ranges`: the whole line
        end_line, column, end_column = line, len(source) - len(source.lstrip()), len(source.rstrip().encode())
    return Location(code.co_filename, line, column, end_line or line, end_column, code.co_name, source.strip(), source)


# Notes


def _adjoint_places(entries: list[types.TracebackType]) -> Iterator[tuple[str, Location | None]]:
    """The adjoints among some frames, the innermost first: the names of the functions, and the places."""
    for entry in reversed(entries):
        generated = _generated(entry)
        if generated is not None and generated.lines is not None:
            yield generated.function, generated.lines.get(entry.tb_lineno)


def _add_notes(error: BaseException, adjoints: list[tuple[str, Location | None]]) -> None:
    """Add one note for each adjoint. Of a recursion, those that are alike are one."""
    notes = []
    for note, group in itertools.groupby(itertools.starmap(_note, adjoints)):
        count = len(list(group))
        notes.append(note if count == 1 else f"{note} ({count} times)")
    for note in notes:
        _add_note(error, note)


def _add_note(error: BaseException, note: str) -> None:
    if note not in getattr(error, "__notes__", ()):  # known from a boundary further in
        error.add_note(note)


def _note(function: str, where: Location | None) -> str:
    return f"in the adjoint of {function}" + (f", {_line(where)}" if where is not None else "")


def _line(where: Location) -> str:
    """A place on one line: file, line and text."""
    return f"{where.file} line {where.line}" + (f": {where.text}" if where.text else "")
