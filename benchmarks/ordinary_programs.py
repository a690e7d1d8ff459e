"""What a row of the benchmark of ordinary programs is. The programs are in `ordinary_programs_*.py`, by subject, each written
as its users write it, without a thought of derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Program:
    """A function of `arguments(size)`, differentiated in those that `argnums` names. `size` is for timings, `small` for tests,
    and `of` says what it counts. `asked` takes the arguments and returns the tuple of gradients, where they are asked for in
    another way than by `grad(function, argnums)`."""

    id: str
    function: Callable[..., Any]
    arguments: Callable[[int], tuple[Any, ...]]
    size: int
    small: int
    of: str
    argnums: tuple[int, ...] = (0,)
    asked: Callable[..., tuple[Any, ...]] | None = None

    def __str__(self) -> str:
        return self.id
