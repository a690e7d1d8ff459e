"""How deep a tracked program may call itself."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

# A call that is looked into takes this many frames of Python's for one of the program's.
_FRAMES_PER_CALL = 7


@contextlib.contextmanager
def deep_recursion() -> Iterator[None]:
    """Inside the block a program may call itself as deep as outside of it, although each of its calls takes several frames."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit * _FRAMES_PER_CALL)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
