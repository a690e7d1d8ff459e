"""What `zip(*rows)` is in a program where it is used up on the spot."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def columns_of(rows: Iterable[Any]) -> Any:
    """`zip(*rows)`"""
    return zip(*rows, strict=False)


def list_of_columns(rows: Iterable[Any]) -> list[Any]:
    """`list(zip(*rows))`"""
    return list(zip(*rows, strict=False))
