"""Both versions of every benchmark compute the same gradient, and it is right; time is not tested."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.cases import CASES
from benchmarks.run import measure
from tests import finite_differences as fd


@pytest.mark.parametrize("case", CASES, ids=str)
def test_generated_and_hand_written_gradients_agree(case):
    generated, by_hand = case.generated(*case.args), case.by_hand(*case.args)
    assert len(generated) == len(by_hand)
    for ours, theirs in zip(generated, by_hand, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("case", [case for case in CASES if isinstance(case.args[0], float)], ids=str)
def test_hand_written_gradient_agrees_with_differences(case):
    np.testing.assert_allclose(
        case.by_hand(*case.args), fd.differences(case.program, case.args, step=1e-4), rtol=1e-6, atol=1e-6
    )


def test_a_row_of_the_table_can_be_measured():
    assert measure(CASES[0], rounds=1).startswith(CASES[0].id)
