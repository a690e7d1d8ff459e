"""What promotion puts into programs where they write into their arguments: a variable has what is written as well, with its
cotangent, and nobody reads it here. In primals these are the statements that they are named after."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

IS_MEANT = "is_meant"
"""The name of an argument that says of a value that is kept that it is the very object that the user's program keeps."""


def assign(x: Any, name: str, value: Any) -> None:
    """`x.name = value`"""
    setattr(x, name, value)


def put(x: Any, key: Any, value: Any) -> None:
    """`x[key] = value`"""
    x[key] = value


def append(x: list[Any], item: Any) -> None:
    """`x.append(item)`"""
    x.append(item)


def list_of(x: Iterable[Any]) -> list[Any]:
    """`list(x)`, a list for the user of what the program goes on to compute with."""
    return list(x)


def dict_of(x: Any) -> dict[Any, Any]:
    """`dict(x)`, the same of a dict."""
    return dict(x)
