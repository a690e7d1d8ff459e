"""Reading or writing the n entries of an array one by one takes time in proportion to n: counted, not timed.

All contributions to the cotangent of an array are added into one buffer, and what is taken out of it is one entry.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.indexing import PROGRAMS, gathered, rows, scattered, updated
from microgradpy import code_adjoint, value_and_grad
from microgradpy.compiler import always_dispatch, always_track
from microgradpy.state import undo
from microgradpy.tangents import arithmetic


@pytest.mark.parametrize("size", [10, 40])
def test_all_reads_add_to_one_buffer(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    buffers: list[Any] = []
    add_to_array = arithmetic._add_to_array

    def noting(x_bar: Any, x: Any, index: Any, d: Any) -> Any:
        buffers.append(x_bar)
        total = add_to_array(x_bar, x, index, d)
        assert total is x_bar
        assert np.size(d) == 1
        return total

    monkeypatch.setattr(arithmetic, "_add_to_array", noting)
    x = np.linspace(0.5, 1.5, size)
    with always_dispatch():
        np.testing.assert_allclose(value_and_grad(gathered)(x)[1], 2.0 * x)
    assert len(buffers) == 2 * size
    assert len(set(map(id, buffers))) == 1


@pytest.mark.parametrize("size", [10, 40])
@pytest.mark.parametrize(("program", "slope"), [(scattered, 0.5 * np.arange(40.0)), (updated, None)])
def test_all_writes_take_from_one_buffer(program: Any, slope: Any, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    buffers: list[Any] = []
    taken: list[int] = []
    taken_item = undo.taken_item

    def noting(shadow: Any, index: Any) -> Any:
        buffers.append(shadow)
        item = taken_item(shadow, index)
        taken.append(np.asarray(item).nbytes)
        return item

    monkeypatch.setattr(undo, "taken_item", noting)
    x = np.linspace(0.5, 1.5, size)
    with always_track():
        found = value_and_grad(program)(x)[1]
    np.testing.assert_allclose(found, 6.0 * x if slope is None else slope[:size])
    assert len(buffers) == size
    assert len(set(map(id, buffers))) == 1
    assert sum(taken) == size * x.itemsize


def test_the_generated_loops_add_in_place() -> None:
    x = np.ones(3)
    assert "x_bar[i] += " in code_adjoint(gathered, x).partition("for ")[2]
    loop = code_adjoint(updated, x).partition("for ")[2]
    assert "y_bar[i] = 0.0" in loop and "y_bar[i] += " in loop
    assert "zeros" not in loop and "copy" not in loop


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_table_has_a_row_per_size(program: Any) -> None:
    assert [size for size, _, _ in rows(program, (4, 8), rounds=1)] == [4, 8]
