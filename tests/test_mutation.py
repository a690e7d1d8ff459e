"""Programs that write: right, with the value and the effects of a plain call; or, while they are `PENDING`, refused.

`python -m tests.pending` writes the list of the pending ones anew.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from microgradpy import DifferentiationError, MutationError, NoTangent, gradient, jvp, rrule
from tests import finite_differences as fd
from tests.mutation_checks import examine, expected_cotangents, plain_call, scalar, sharing
from tests.pending import reasons
from tests.programs import Program
from tests.programs.mutation import MUTATION, aliases, carried, caught, caught_calls, classes, joined, named
from tests.ways import WAYS

REASONS = reasons()
PROGRAMS = {program.id: program for program in MUTATION}
OF_MANY_NAMES = [
    program
    for program in MUTATION
    if program.function.__module__ in {m.__name__ for m in (aliases, carried, caught, caught_calls, classes, joined, named)}
]

# What a reader of the program computes by hand, or what was published of it: the derivative by the first argument.
KNOWN = {
    "heat_loop": -0.844179,
    "repeated_slice_write": 2330.691,
    "view_multiplied": 22.5,
    "alias_written": 105.4,
    "scatter_of_a_number": 3.0,
    "swapped_buffers": 68.0,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", MUTATION, ids=str)
def test_right_or_pending(program: Program, way: str) -> None:
    verdict = examine(program, way)
    assert not verdict.defects, "\n".join(verdict.defects)
    if verdict.refusal is not None and program.id not in REASONS:
        raise verdict.refusal


@pytest.mark.parametrize("program", OF_MANY_NAMES, ids=str)
def test_forward_mode_agrees_with_differences(program: Program) -> None:
    args = copy.deepcopy(program.args)
    direction = np.linspace(0.5, 1.5, fd.flatten(args).size)
    y, y_dot = jvp(program.function, args, fd.rebuild(program.args, direction))
    expected = expected_cotangents(program)[0] @ direction
    np.testing.assert_allclose(fd.dot(fd.random_seed(y, 0), y_dot), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", REASONS)
def test_pending_programs_are_refused(name: str) -> None:
    """Once one is right in all ways it has to leave the list."""
    assert name in PROGRAMS, "no such program"
    assert not all(examine(PROGRAMS[name], way).right for way in WAYS), "works: remove it from tests/pending.txt"


@pytest.mark.parametrize("name", KNOWN)
def test_known_derivatives(name: str) -> None:
    program = PROGRAMS[name]
    differences = fd.differences(scalar(program.function, 1.0), program.args)
    np.testing.assert_allclose(differences[0], KNOWN[name], rtol=6e-7)


def test_every_program_is_differentiable_where_it_is_tried() -> None:
    """Two step sizes agree, and the derivative is not zero: the table straddles no branch, has no kink, and tests
    something."""
    for program in MUTATION:
        first, _ = expected_cotangents(program)
        assert np.any(first), program.id
        if "float32" not in program.features:
            y = plain_call(program.function, program.args).value
            narrow = fd.differences(scalar(program.function, fd.random_seed(y)), program.args, 3e-4)
            np.testing.assert_allclose(first, narrow, rtol=1e-6, atol=1e-8, err_msg=program.id)


def test_programs_have_names_of_their_own() -> None:
    assert len(PROGRAMS) == len(MUTATION)


def doubled(x):
    return 2.0 * x


def marked(x):
    x[0] = 0.0


def copied(x):
    return x + 0.0


# The mistakes of these rules are deliberate.


@rrule.register(doubled)
def doubled_rrule(x):
    def doubled_pullback(y_bar):
        return NoTangent(), 3.0 * y_bar

    return 2.0 * x, doubled_pullback


@rrule.register(marked)
def marked_rrule(x):
    def marked_pullback(y_bar):
        return NoTangent(), NoTangent()

    return None, marked_pullback


@rrule.register(copied)
def copied_rrule(x):
    def copied_pullback(y_bar):
        return NoTangent(), y_bar

    return x, copied_pullback


def wrong_gradient(x):
    return np.sum(doubled(x))


def other_effect(x):
    y = np.sum(np.sin(x[1:]))
    marked(x)
    return y


def other_object(x):
    return copied(x)


@pytest.mark.parametrize(
    ("function", "words"),
    [(wrong_gradient, "by differences"), (other_effect, "arguments afterwards"), (other_object, "share other objects")],
    ids=["wrong gradient", "other effect", "other object"],
)
def test_the_checks_can_fail(function: Callable[..., object], words: str) -> None:
    program = Program(function.__name__, function, (np.array([0.5, 0.7]),), ())
    assert words in " ".join(examine(program).defects)


def test_sharing_is_seen() -> None:
    """The check of effects tells an array from its view, from another name of it and from a copy."""
    x = np.arange(4.0)
    patterns = [sharing([x, y], [y]) for y in (x, x[1:], x.copy())]
    assert patterns[0] != patterns[1] != patterns[2] != patterns[0]
    row: list[object] = [1.0]
    row.append(row)
    assert sharing(row, [row]) != sharing(row, [[1.0]])


def stores_its_own_part(x, step):
    w = x * 2.0
    w[::step] = w[: len(w[::step])]
    return np.sum(w * np.arange(6.0))


def stores_a_copy_of_its_part(x, step):
    w = x * 2.0
    w[::step] = w[: len(w[::step])].copy()
    return np.sum(w * np.arange(6.0))


def test_a_vector_that_changes_while_it_is_read_is_refused() -> None:
    """NumPy copies entry by entry there: of 0 1 2 3 4 5 it makes 0 1 1 3 1 5."""
    x = np.arange(6.0)
    with pytest.raises(MutationError, match="from a part of it with another step"):
        gradient(stores_its_own_part, x, 2)
    np.testing.assert_array_equal(gradient(stores_its_own_part, x, 1)[0], 2.0 * np.arange(6.0))
    np.testing.assert_array_equal(gradient(stores_a_copy_of_its_part, x, 2)[0], 2.0 * np.array([0.0, 3.0, 4.0, 3.0, 0.0, 5.0]))


def grows_and_fails(x, log):
    log.append(x)
    return log[10] * x


def notes_what_was_assigned(x, log):
    y = 2.0 * x
    try:
        y = grows_and_fails(y, log)
    except KeyError:
        y = y + 1.0
    finally:
        log.append(y * x)
    return y


@pytest.mark.parametrize("way", WAYS)
def test_a_finally_sees_what_was_assigned_when_the_exception_leaves(way: str) -> None:
    """Not what the call that raised would have assigned."""
    logs: tuple[list[float], list[float]] = ([], [])
    for function, log in zip((notes_what_was_assigned, partial(gradient, notes_what_was_assigned)), logs, strict=True):
        with WAYS[way](), pytest.raises(IndexError):
            function(0.7, log)
    assert logs[0] == logs[1] and len(logs[0]) == 2


def test_what_is_no_number_is_not_put_into_an_array_of_numbers() -> None:
    """Of an object that NumPy would ask for a number nobody knows the derivative."""

    class Number:
        def __init__(self, x: float) -> None:
            self.x = x

        def __float__(self) -> float:
            return self.x

    def put(x: float, function: Any) -> Any:
        y = np.zeros(2)
        y[0] = function(x)
        return np.sum(y)

    with pytest.raises(DifferentiationError):
        gradient(put, 2.0, Number)
    assert gradient(put, 2.0, abs)[0] == 1.0
