"""What is proven of common expressions holds of their values, and how much is proven."""

from __future__ import annotations

import pytest

from tests.passes.expressions import EXPRESSIONS, Expression, doubtful, lost
from tests.ways import some


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_the_table_says_what_is_not_proven(expression: Expression) -> None:
    assert lost(expression) == expression.lost


@pytest.mark.parametrize("expression", some(EXPRESSIONS, "holds"), ids=str)
def test_what_is_proven_of_an_expression_holds(expression: Expression) -> None:
    assert not list(doubtful(expression))
