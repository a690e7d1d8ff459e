"""The emitted text does what the IR does, for thousands of random functions."""

from __future__ import annotations

import pytest

from microgradpy.codegen.emit import emit
from microgradpy.codegen.loading import load, unload
from tests.codegen.interpreter import run
from tests.codegen.random_functions import random_function
from tests.program_numbers import COUNT, batches

POINTS = [(0.3, 1.2, -0.7), (-1.1, 0.4, 2.0)]


@pytest.mark.parametrize("batch", batches(50, 5 * COUNT), ids=str)  # they are small
def test_emitted_text_computes_what_the_ir_computes(batch: range) -> None:
    for seed in batch:
        function = random_function(seed)
        emitted = emit(function)
        assert emit(function) == emitted, "the same text twice"
        namespace = load(emitted.text, f"random_{seed}", emitted.bindings)
        for z, x, y in POINTS:
            wanted_trace: list[float] = []
            trace: list[float] = []
            wanted = run(function, z, x, y, wanted_trace)
            found = namespace["f"](z, x, y, trace)
            assert repr((wanted, wanted_trace)) == repr((found, trace)), f"seed {seed}\n{emitted.text}"
        unload(namespace["__file__"])
