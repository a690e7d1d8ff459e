"""What the package keeps to itself: warnings about texts that it reads and prints.

`warnings.catch_warnings` makes Python forget which warnings were shown, so that the user's would be shown once more.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def without_warnings() -> Iterator[None]:
    """Inside the block nothing is warned of, and what was shown once before is not shown again after it."""
    module: Any = warnings
    filters = module.filters
    module.filters = [("ignore", None, Warning, None, 0)]
    try:
        yield
    finally:
        module.filters = filters
