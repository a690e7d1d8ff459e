"""What belongs to one run of the user's program that tracks writes, from its first call to its end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final

from microgradpy.errors import CompilerBug, DifferentiationError
from microgradpy.ir.objects import Features, features_in, features_of_leaves, outline_of
from microgradpy.runtime.modes import UNDOABLE


@final
class Whole:
    """One run. `lost` is what was done in it that nobody can undo; `caches` has, by the identity of a function with an
    `lru_cache`, the function, its cache in this run, and the keys in the order of their use; `copies` the results that were
    copied to be told apart from arguments, with the copies and what made them; `apart` what it tells apart of what it finds at
    several places, if there is such a thing (`microgradpy.state.apart`); `units` has what functions run by, by
    what that depends on, with their code, and `calls` the same for calls with numbers, texts and objects, by less; `looks` what
    was seen of objects, by their outline (`microgradpy.ir.objects`), as long as none `has_operators`; `made` the exceptions
    that code which is followed has made, and `caught` those that were used as a value, with the places; `generators` those with
    code of their own that runs once nobody has them any more."""

    __slots__ = (
        "apart",
        "caches",
        "calls",
        "caught",
        "copies",
        "generators",
        "has_operators",
        "looks",
        "lost",
        "made",
        "units",
    )

    def __init__(self, apart: Any = None) -> None:
        self.lost = ""
        self.apart = apart
        self.made: dict[int, BaseException] = {}
        self.units: dict[Any, tuple[Any, Any]] = {}
        self.calls: dict[tuple[Any, ...], Any] = {}
        self.looks: dict[tuple[int, ...], Features] = {}
        self.has_operators = False
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


def features_now(whole: Whole, x: Any) -> Features:
    """What is seen of an object and what it holds, by a look at it or at another one like it. That one is missed that has
    operators of its own matters if these write: so each object is looked at once any was seen to have some, and if the code
    names a class with such that write."""
    found = features_of_leaves(x)
    outline = None if whole.has_operators or found is not None else outline_of(x)
    if outline is not None:
        found = whole.looks.get(outline)
    if found is None:
        found = features_in((x,))
        whole.has_operators |= bool(found.operators)
        if outline is not None:
            whole.looks[outline] = found
    return found


@contextmanager
def inside_run(apart: Any = None) -> Iterator[Whole]:
    """One run: generators made in it are advanced in it only."""
    before, whole = _here.whole, Whole(apart)
    _here.whole = whole
    blocks = int(apart is not None)
    UNDOABLE.add(blocks)
    try:
        yield whole
    finally:
        UNDOABLE.add(-blocks)
        _here.whole = before


def lose(name: str, error: BaseException) -> None:
    """Note that an exception left code that may have written, for a caller that did not reckon with going on after it. If the
    run comes to its end all the same, somebody has caught it."""
    whole = _here.whole
    if whole is not None and not isinstance(error, DifferentiationError | CompilerBug):
        whole.lost = f"{name} raised a {type(error).__name__}, which is caught, after it may have written"
