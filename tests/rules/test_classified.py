"""Every public callable of NumPy is classified: it has a rule, or its results carry no derivative, or it is known to write or
to give items one by one, or the table says why it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from microgradpy.rules.classified import WITHOUT_RULE
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.runtime.array_calls import stands_for_text
from microgradpy.runtime.iterators import STREAMS
from microgradpy.state.events import has_event

NAMESPACES = {"": np, "linalg.": np.linalg, "fft.": np.fft, "ndarray.": np.ndarray, "generic.": np.generic}


def public_callables() -> Iterator[tuple[str, Any]]:
    for prefix, namespace in NAMESPACES.items():
        for name in dir(namespace):
            value = getattr(namespace, name)
            if callable(value) and not name.startswith("_"):
                yield prefix + name, value


def is_known(function: Any) -> bool:
    is_text = function is np.vectorize or stands_for_text(function)
    return is_text or rrule.has(function) or is_non_differentiable(function) or has_event(function) or function in STREAMS


def test_every_public_callable_of_numpy_is_classified() -> None:
    unknown = [name for name, value in public_callables() if not is_known(value) and name not in WITHOUT_RULE]
    assert not unknown, f"declare a rule, or say in microgradpy/rules/classified.py why there is none: {unknown}"


def test_what_is_known_is_not_in_the_table() -> None:
    known = [name for name, value in public_callables() if is_known(value) and name in WITHOUT_RULE]
    assert not known, f"these need no reason: {known}"
