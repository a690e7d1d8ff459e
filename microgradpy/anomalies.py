"""Finding the operation that makes the first NaN or infinity, in the values of a program or in its derivative."""

from __future__ import annotations

from contextlib import AbstractContextManager

from microgradpy.runtime.markers import FOR_WHOLE_RUNS
from microgradpy.runtime.modes import NAN, NAN_OR_INFINITY, changed_mode


def detect_anomaly(nan_only: bool = False) -> AbstractContextManager[None]:
    """Inside of `with detect_anomaly():`, each operation of a differentiated function is looked at, in the forward and in the
    backward pass. The first one that makes a NaN or an infinity of finite numbers raises an AnomalyError, which says which it
    was, where, and what it was given; with `nan_only`, infinities pass. The checks belong to the runs that are made inside, so
    that a pullback made there checks wherever it is called. Only this thread looks; functions are compiled anew for it."""
    return changed_mode(checks=NAN if nan_only else NAN_OR_INFINITY)


FOR_WHOLE_RUNS.add(detect_anomaly)
