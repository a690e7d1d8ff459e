"""What belongs to one run of the user's program that tracks writes, from its first call to its end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final

from microgradpy.errors import CompilerBug, DifferentiationError


@final
class Whole:
    """One run. `lost` is what was done in it that nobody can undo; `caches` has, by the identity of a function with an
    `lru_cache`, the function, its cache in this run, and the keys in the order of their use; `copies` the results that were
    copied to be told apart from arguments, with the copies and what made them; `apart` what it tells apart of what it finds at
    several places, if there is such a thing (`microgradpy.state.apart`); `units` has what functions run by, by
    what that depends on, with their code; `made` the exceptions that code which is followed has made, and `caught` those that
    were used as a value, with the places; `generators` those with code of their own that runs once nobody has them any more."""

    __slots__ = ("apart", "caches", "caught", "copies", "generators", "lost", "made", "units")

    def __init__(self, apart: Any = None) -> None:
        self.lost = ""
        self.apart = apart
        self.made: dict[int, BaseException] = {}
        self.units: dict[Any, tuple[Any, Any]] = {}
        self.caught: list[tuple[BaseException, str]] = []
        self.copies: list[tuple[Any, Any, str]] = []
        self.generators: list[Any] = []
        self.caches: dict[int, tuple[Any, dict[Any, Any], list[Any]]] = {}


@final
class _Here(threading.local):
    # Not a context variable: NumPy looks one up in every operation, which takes longer once others are set.
    whole: Whole | None = None


_here = _Here()


def whole_run() -> Whole | None:
    """The run that is going on in this thread."""
    return _here.whole


def apart_now() -> Any:
    """What the run that is going on tells apart (`microgradpy.state.apart`), if there is such a thing."""
    whole = _here.whole
    return None if whole is None else whole.apart


@contextmanager
def inside_run(apart: Any = None) -> Iterator[Whole]:
    """One run: generators made in it are advanced in it only."""
    before, whole = _here.whole, Whole(apart)
    _here.whole = whole
    try:
        yield whole
    finally:
        _here.whole = before


def lose(name: str, error: BaseException) -> None:
    """Note that an exception left code that may have written, for a caller that did not reckon with going on after it. If the
    run comes to its end all the same, somebody has caught it."""
    whole = _here.whole
    if whole is not None and not isinstance(error, DifferentiationError | CompilerBug):
        whole.lost = f"{name} raised a {type(error).__name__}, which is caught, after it may have written"
