"""A gradient that is in the structure of its argument already, as that was when the call began."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from microgradpy.dataclasses import dataclass


@final
@dataclass(frozen=True, slots=True, eq=False)
class Projected:
    """The gradient of an argument that the call may have changed; `filled` makes the one with zeros for unused leaves."""

    gradient: Any
    filled: Callable[[], Any]
