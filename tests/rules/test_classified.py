"""Every public callable of NumPy and of scipy.special is classified: it has a rule, or its results carry no derivative, or it
is known to write or to give items one by one, or the table says why it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.special

import microgradpy.compiler  # noqa: F401 - with it comes what writes, and whatever else is declared outside of the rules
from microgradpy.rules import classified
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.rules.scipy import classified as scipy_classified
from microgradpy.runtime.array_calls import stands_for_text
from microgradpy.runtime.iterators import STREAMS
from microgradpy.state.write_handlers import has_write_handler

NAMESPACES = {"": np, "linalg.": np.linalg, "fft.": np.fft, "ndarray.": np.ndarray, "generic.": np.generic}


SCIPY = {"special.": scipy.special}
TABLES: Any = pytest.mark.parametrize(
    ("namespaces", "without_rule"),
    [(NAMESPACES, classified.WITHOUT_RULE), (SCIPY, scipy_classified.WITHOUT_RULE)],
    ids=["numpy", "scipy"],
)


def public_callables(namespaces: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for prefix, namespace in namespaces.items():
        for name in dir(namespace):
            value = getattr(namespace, name)
            if callable(value) and not name.startswith("_"):
                yield prefix + name, value


def is_known(function: Any) -> bool:
    is_text = function in (np.vectorize, np.frompyfunc) or stands_for_text(function)
    writes = has_write_handler(function)
    return is_text or rrule.has(function) or is_non_differentiable(function) or writes or function in STREAMS


@TABLES
def test_every_public_callable_is_classified(namespaces: dict[str, Any], without_rule: dict[str, str]) -> None:
    unknown = [name for name, value in public_callables(namespaces) if not is_known(value) and name not in without_rule]
    assert not unknown, f"declare a rule, or say in the module `classified` of the rules why there is none: {unknown}"


@TABLES
def test_what_is_known_is_not_in_the_table(namespaces: dict[str, Any], without_rule: dict[str, str]) -> None:
    known = [name for name, value in public_callables(namespaces) if is_known(value) and name in without_rule]
    assert not known, f"these need no reason: {known}"
