"""Cells of a notebook, whose statements are compiled one by one under a name that is no file."""

from __future__ import annotations

import ast
import linecache
from typing import Any

import pytest

from microgradpy import SourceNotFoundError, gradient, jvp

CELL = """
import math
import numpy as np
from numpy import linalg as la, sum as total

def f(x):
    return np.sum(np.sin(x)) * math.exp(total(x)) + la.norm(x)

g = lambda x: np.sum(np.tanh(x)) * la.norm(x)

class Model:
    scale = np.float64(2.0)

    def loss(self, x):
        count = 0
        def counted(y):
            nonlocal count
            count += 1
            return np.dot(y, y)
        return self.scale * counted(x) * count
"""


def run(text: str, name: str, namespace: dict[str, Any]) -> None:
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    for statement in ast.parse(text, name).body:
        exec(compile(ast.Module([statement], []), name, "exec"), namespace)


def test_a_function_in_the_cell_of_its_imports() -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    run(CELL, "<cell-1>", namespace)
    np = namespace["np"]
    x = np.array([0.5, 1.5])
    for f in (namespace["f"], namespace["g"], namespace["Model"]().loss):
        (found,) = gradient(f, x)
        for place in range(2):
            step = np.zeros(2)
            step[place] = 1e-6
            slope = (f(x + step) - f(x - step)) / 2e-6
            assert found[place] == pytest.approx(slope, rel=1e-6)
            assert jvp(f, (x,), (step * 1e6,))[1] == pytest.approx(slope, rel=1e-6)


def test_a_cell_that_was_changed_is_refused() -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    run(CELL, "<cell-2>", namespace)
    changed = CELL.replace("np.sin", "np.cos")
    linecache.cache["<cell-2>"] = (len(changed), None, changed.splitlines(keepends=True), "<cell-2>")
    with pytest.raises(SourceNotFoundError):
        gradient(namespace["f"], namespace["np"].ones(2))
