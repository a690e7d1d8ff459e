"""What `inspect` writes, in a run that tracks writes: the defaults of a call's arguments."""

from __future__ import annotations

from inspect import BoundArguments
from typing import Any

from microgradpy.state.shadows import Shadows
from microgradpy.state.write_handlers import Made, write_handler


@write_handler(BoundArguments.apply_defaults)
def apply_defaults(bound: BoundArguments, /) -> Made:
    """The object gets a new dict, with the arguments among the defaults, which are constants."""
    before = bound.arguments
    names = list(before)
    bound.apply_defaults()
    after = bound.arguments

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        taken = shadows.take(after)
        for name in names if taken is not None else ():
            shadows.of(before).add(name, taken.take(name))
        return (None,)

    return None, undo
