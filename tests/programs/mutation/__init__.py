"""Programs that write, one module per family of writes; the table is `MUTATION`.

What a program needs beyond the write itself is among its features: "try", "generator", "cells", "global", "closure".
"""

from __future__ import annotations

from tests.programs.mutation import (
    array_items,
    array_writers,
    asked,
    attempts,
    calls,
    cells,
    control,
    first,
    found,
    generators,
    in_place,
    lists,
    mappings,
    objects,
    partial,
    peers,
    raising,
    remembered,
    structures,
    thrown,
    unnamed,
    views,
)
from tests.programs.mutation.table import MUTATION

__all__ = [
    "MUTATION",
    "array_items",
    "array_writers",
    "asked",
    "attempts",
    "calls",
    "cells",
    "control",
    "first",
    "found",
    "generators",
    "in_place",
    "lists",
    "mappings",
    "objects",
    "partial",
    "peers",
    "raising",
    "remembered",
    "structures",
    "thrown",
    "unnamed",
    "views",
]
