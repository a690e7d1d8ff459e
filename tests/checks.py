"""Several checks of one case in one test: they share what is compiled for it, and each that fails is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def check_all(checks: Iterable[tuple[str, Callable[[], Any]]]) -> None:
    """Make all checks, given with their names; then raise what they raised."""
    failures: list[Exception] = []
    for name, check in checks:
        try:
            check()
        except Exception as failure:
            failure.add_note(f"in the check: {name}")
            failures.append(failure)
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise ExceptionGroup(f"{len(failures)} checks failed", failures)
