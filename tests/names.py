"""Names of cases that are the same in every process, as processes that share the tests compare what they have collected; and
the version of NumPy, for cases that it decides on."""

from __future__ import annotations

import re

import numpy as np

NUMPY = tuple(map(int, np.__version__.split(".")[:2]))


def name_of(value: object) -> str:
    """The value's `repr` without addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value) if not isinstance(value, str) else value)
