"""Powers of real numbers that were assumed to be real when code was made: Python makes those of negative numbers complex."""

from __future__ import annotations

import weakref
from types import CodeType
from typing import Any

from microgradpy.rules.registry import non_differentiable


class ComplexPower(Exception):
    """Ends a run in which a power is complex that was assumed to be real. It is made once more, without that assumption: such
    code has no effects that anybody could see twice."""


def check_real(power: Any) -> None:
    """End the run if a power of real numbers is complex."""
    if isinstance(power, complex):
        raise ComplexPower


non_differentiable(check_real)
COMPLEX: weakref.WeakSet[CodeType] = weakref.WeakSet()
"""The code of functions that were found to have complex powers."""
