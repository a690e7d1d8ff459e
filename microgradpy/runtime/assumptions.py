"""What the functions that run now were compiled on the assumption of: that no name means another function until they return.

    with mock.patch("math.sin", spy):       inside a differentiated function: `math.sin` was folded before
        return math.sin(x)
"""

from __future__ import annotations

from microgradpy.errors import MutationError
from microgradpy.rules.registry import non_differentiable
from microgradpy.runtime.modes import RUN

REPLACE_OUTSIDE = "Replace it outside, around the call that differentiates."


def check_assumed() -> None:
    """Refuse if code that ran just now has replaced a function, class or module that is named by a function which runs."""
    assumed = RUN.assumed
    while assumed:
        guards, assumed = assumed
        name = guards.replaced()
        if name is not None:
            raise MutationError(f"{name} is replaced inside differentiated code", None, REPLACE_OUTSIDE)


non_differentiable(check_assumed)
