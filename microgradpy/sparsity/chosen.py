"""What a user says of where a matrix has entries, and the matrix by that: as few products as it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.errors import DifferentiationError
from microgradpy.sparsity.colouring import colours_of_columns, count_of, most_in_a_row
from microgradpy.sparsity.detection import detected
from microgradpy.sparsity.maps import LinearMap, any_direction, are_zero, is_of, products
from microgradpy.sparsity.patterns import Array, Pattern, joined, scipy_sparse, transposed

DETECT = "detect"
_MOST_PLANS = 8


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """How a matrix is found: one product for each colour of its columns, or of its rows. `places` says where in these products,
    one below the other, the entries are, and `others` where there are none; `ends` is where the columns end, and `probe` what
    tests the matrix."""

    pattern: Pattern
    by_rows: bool
    colours: Array
    places: Array
    others: Array
    ends: Array
    probe: Array


@final
class Sparsity:
    """What was given as `sparsity=`. What follows from it is kept for the next call; what was detected as well, until a
    product does not agree with it."""

    __slots__ = ("_given", "_plans")

    def __init__(self, given: Any) -> None:
        scipy_sparse()  # that it is missing is said before the function is run
        if isinstance(given, str) and given != DETECT:
            raise ValueError(f"sparsity is a sparse matrix, an array of truth values or 'detect', and not {given!r}")
        self._given = given
        self._plans: dict[tuple[int, tuple[int, ...]], Plan] = {}

    @property
    def is_detected(self) -> bool:
        return isinstance(self._given, str)

    def matrix(self, linear: LinearMap, parts: tuple[int, ...], read: Callable[[Any], Pattern], name: str) -> Any:
        """The matrix of `linear` as a SciPy array. `read` makes a pattern of what was given, which is side by side those of
        `parts` with so many columns each; `name` is what the matrix is called in messages. DifferentiationError if the pattern
        is too small."""
        key = linear.shape[0], parts
        plan, is_new = self._plans.get(key), False
        if plan is None:
            plan, is_new = _planned(linear, detected(linear) if self.is_detected else read(self._given)), True
            self._keep(key, plan)
        matrix = _matrix(linear, plan)
        if matrix is None and self.is_detected and not is_new:  # the program may have taken another branch
            plan = _planned(linear, joined(plan.pattern, detected(linear)))
            self._keep(key, plan)
            matrix = _matrix(linear, plan)
        if matrix is None:
            raise DifferentiationError(
                f"{name} has entries where its sparsity pattern has none, or its products do not agree",
                None,
                "Ask for it without sparsity=."
                if self.is_detected
                else "The pattern is too small: give one with all places that may have entries, or sparsity='detect'.",
            )
        return matrix

    def _keep(self, key: tuple[int, tuple[int, ...]], plan: Plan) -> None:
        """Keep what was made for matrices of one shape, and forget what was made long ago for others."""
        self._plans[key] = plan
        for old in list(self._plans)[:-_MOST_PLANS]:
            self._plans.pop(old, None)


def _planned(linear: LinearMap, pattern: Pattern) -> Plan:
    """By columns, if there are fewer colours of them, and the function may be run for each."""
    rows = colours_of_columns(transposed(pattern))
    if most_in_a_row(pattern) < count_of(rows) and linear.pushed() is not None:
        columns = colours_of_columns(pattern)
        if count_of(columns) < count_of(rows):
            return _plan(linear, pattern, columns, False)
    return _plan(linear, pattern, rows, True)


def _plan(linear: LinearMap, pattern: Pattern, colours: Array, by_rows: bool) -> Plan:
    here, there = (pattern.rows, pattern.columns) if by_rows else (pattern.columns, pattern.rows)
    places = colours[here] * pattern.shape[by_rows] + there
    ends = np.concatenate([[0], np.cumsum(np.bincount(pattern.columns, minlength=pattern.shape[1]))])
    others = np.ones((count_of(colours), pattern.shape[by_rows]), bool)
    others.flat[places] = False
    return Plan(pattern, by_rows, colours, places, others, ends, any_direction(pattern.shape[0], linear.dtype))


def _matrix(linear: LinearMap, plan: Plan) -> Any:
    """The matrix with the entries at the places of a pattern, as a SciPy array; None if that is not the matrix of `linear`."""
    push = None if plan.by_rows else linear.pushed()
    if not plan.by_rows and push is None:  # as the function now is, it must not be run again
        plan = _plan(linear, plan.pattern, colours_of_columns(transposed(plan.pattern)), True)
    sums = (plan.colours == np.arange(count_of(plan.colours))[:, None]).astype(float)
    if push is None:  # what tests the matrix is one more of the products
        found = products(linear.pull, linear.pull_all, np.concatenate([sums, plan.probe[None]]), plan.others.shape[1])
        found, probed = found[:-1], found[-1]
    else:
        found = products(push, linear.push_all, sums, plan.others.shape[1])
        probed = None
    if not are_zero(found, plan.others, linear.dtype):
        return None
    parts = found.ravel()[plan.places], plan.pattern.rows.copy(), plan.ends.copy()
    matrix = scipy_sparse().csc_array(parts, shape=plan.pattern.shape)
    return matrix if is_of(linear, matrix, plan.probe, linear.pull(plan.probe) if probed is None else probed) else None
