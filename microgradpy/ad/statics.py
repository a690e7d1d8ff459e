"""What the parts of a rule are while it is spliced in: values, and what the compiler takes apart itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

from microgradpy.dataclasses import dataclass
from microgradpy.ir.nodes import Function, Value


@final
@dataclass(frozen=True, slots=True)
class StaticTuple:
    """A tuple taken apart by the compiler."""

    items: tuple[Static, ...]


@final
@dataclass(frozen=True, slots=True)
class StaticClosure:
    """A nested function of a rule, with the values it closes over."""

    function: Function
    captured: tuple[Static, ...]
    globals: Mapping[str, Any]


Static = Value | StaticTuple | StaticClosure
