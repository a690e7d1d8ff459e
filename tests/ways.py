"""The ways in which a program can be computed, and those that each test is run in.

Every program is tested as the compiler computes it by itself, in reverse and in forward mode. Besides, the tests force other
ways on it, which have to give the same. By default every other test is run in one of the forced ways that it has parameters
for; which one depends on its name alone, so that it is the same one in every run. Of long tables of cases that are much alike,
one in three is tried. With `MICROGRADPY_ALL_WAYS=1` tests are run in all ways, and with all cases; with `MICROGRADPY_SHARE=1` or
`2` in other ways, and with other cases, than by default: after all three every case of three has been tried, and every test in
some forced way.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from microgradpy.compiler import always_dispatch, always_track

T = TypeVar("T")
ALL_WAYS = os.environ.get("MICROGRADPY_ALL_WAYS", "0") not in ("", "0")
SHARE = int(os.environ.get("MICROGRADPY_SHARE", "0"))


@contextlib.contextmanager
def dispatched_and_tracked() -> Iterator[None]:
    with always_dispatch(), always_track():
        yield


INLINED = "inlined"
WAYS: dict[str, Callable[[], contextlib.AbstractContextManager[Any]]] = {
    INLINED: contextlib.nullcontext,
    "dispatched": always_dispatch,
    "tracked": always_track,
}
"""The way of the compiler itself, and two that are forced: all calls are left to run time, or all cotangents of mutable objects
are in shadows."""
COMBINED = "dispatched and tracked"
FOR_ANY = "for any arguments"
ALL = {**WAYS, COMBINED: dispatched_and_tracked}
FORCED = frozenset([*ALL, *ALL.values(), FOR_ANY]) - {INLINED, contextlib.nullcontext}
"""The values of parameters of tests that stand for forced ways."""


def some(cases: Iterable[T], what: str = "", name_of: Callable[[T], str] = str, one_in: int = 3) -> list[T]:
    """The cases of a table that are tried: one in so many of them, the same ones in every run, and others for what is tried
    of them otherwise."""
    return [case for case in cases if ALL_WAYS or turn(f"{what} {name_of(case)}", one_in) == 0]


def turn(name: str, count: int) -> int:
    """A number below `count` for a name, another one in each share."""
    return (zlib.crc32(name.encode()) + SHARE) % count


def chosen(name: str, ways: Sequence[T]) -> tuple[T, ...]:
    """The ways in which the test of this name is run."""
    return tuple(ways) if ALL_WAYS else (ways[turn(name, len(ways))],)


def forced(name: str, ways: Sequence[T]) -> tuple[T, ...]:
    """The forced ways in which the test of this name is run: one, of every other test."""
    is_left_out = turn(f"forced {name}", 2) and len(ways) > 1 and not ALL_WAYS
    return () if is_left_out else chosen(name, ways)
