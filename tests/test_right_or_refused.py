"""Programs that need not be supported yet: their gradients are right, or they are refused; never wrong."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from microgradpy import DifferentiationError, gradient, pullback
from microgradpy.compiler import always_dispatch
from tests import finite_differences as fd
from tests.rejected import REJECTED, Rejected
from tests.right_or_refused import CASES


def check(function: Any, args: tuple[Any, ...]) -> None:
    """Differentiate; unless refused, the gradient is that of central differences."""
    try:
        y, back = pullback(function, *copy.deepcopy(args))
        cotangents = back(1.0)[1:]
    except DifferentiationError:
        return
    assert repr(y) == repr(function(*copy.deepcopy(args)))
    expected = fd.differences(lambda *changed: function(*copy.deepcopy(changed)), args)
    np.testing.assert_allclose(fd.flatten_cotangent(args, cotangents), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("dispatched", [False, True], ids=["inlined", "dispatched"])
@pytest.mark.parametrize(("function", "args"), CASES, ids=[function.__name__ for function, _ in CASES])
def test_right_or_refused(function: Any, args: tuple[Any, ...], dispatched: bool) -> None:
    if dispatched:
        with always_dispatch():
            check(function, args)
    else:
        check(function, args)


@pytest.mark.filterwarnings("ignore:Setting the shape on a NumPy array:DeprecationWarning")
@pytest.mark.parametrize("rejected", REJECTED, ids=str)
def test_refused_programs_leave_their_arguments_as_a_plain_call_or_untouched(rejected: Rejected) -> None:
    """A refusal may come after effects of the user's code, but makes none of its own."""
    args, plain, before = (copy.deepcopy(rejected.args) for _ in range(3))
    rejected.function(*plain)
    with pytest.raises(DifferentiationError):
        gradient(rejected.function, *args)
    shown = repr([vars(x) if hasattr(x, "__dict__") else x for x in args])
    assert shown in [repr([vars(x) if hasattr(x, "__dict__") else x for x in some]) for some in (plain, before)]
