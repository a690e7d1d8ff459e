"""docs/coverage.md says what the rules do."""

from __future__ import annotations

import numpy as np
import pytest

from microgradpy.rules.classified import WITHOUT_RULE
from tests.generated_text import assert_is_as_generated
from tests.rules.coverage import COMMAND, HEADER, PAGE, attribute, page, row_of_group, table, versions
from tests.rules.coverage_lists import GROUPS, Group
from tests.rules.coverage_programs import PROGRAMS, Program
from tests.ways import ALL_WAYS, SHARE


def test_the_lists_have_each_function_once() -> None:
    has = [name.removesuffix("°") for group in GROUPS for name in group.has]
    lacks = [name for group in GROUPS for name in group.lacks]
    assert (len(has), len(lacks)) == (130, 125)
    assert len({*has, *lacks}) == 255
    assert all(callable(attribute(np, name)) for name in (*has, *lacks))


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_programs_have_the_gradient_of_finite_differences(program: Program) -> None:
    assert program.is_right_backwards()


def test_a_wrong_gradient_does_not_count() -> None:
    assert not Program(lambda x: np.sum(np.floor(x)), np.array([0.5, 1.5])).is_right_backwards()


@pytest.mark.parametrize("group", GROUPS if ALL_WAYS else GROUPS[1 + SHARE :: 4], ids=lambda group: group.title)
def test_a_row_of_the_page(group: Group) -> None:
    """With any version of Python and NumPy."""
    row = row_of_group(group)
    assert table(HEADER, [(row.title, *row.counts())])[-1] in PAGE.read_text().splitlines()


if ALL_WAYS:

    def test_the_page_is_up_to_date() -> None:
        """It takes two minutes."""
        if versions() in PAGE.read_text():
            assert_is_as_generated(PAGE, page(), COMMAND)


def test_what_the_page_says_is_missing_has_a_reason() -> None:
    missing = [line for line in PAGE.read_text().splitlines() if line.startswith("- `np.")]
    names = [line.split("`")[1].removeprefix("np.") for line in missing]
    assert set(names) <= set(WITHOUT_RULE)
