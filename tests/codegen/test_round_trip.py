"""Functions lowered to IR and emitted again compute what the originals compute."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import pytest

from microgradpy.ad.instrument import instrument_function
from microgradpy.codegen.emit import emit
from microgradpy.codegen.loading import load, unload
from microgradpy.frontend.lower import lower_function
from microgradpy.ir.nodes import Function
from tests.program_numbers import batches
from tests.programs import PROGRAMS, Program
from tests.random_programs import random_program
from tests.ways import some

PLAIN = [row for row in PROGRAMS if isinstance(row.function, types.FunctionType)]
# Lowered to an error, which is not what it computes.
REFUSED = {"recursive_inner_function"}


def outcome(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """What a call returns or raises."""
    try:
        return repr(function(*args, **kwargs))
    except Exception as error:
        return repr(error)


def emitted_again(original: types.FunctionType, function: Function) -> Callable[..., Any]:
    """The text of a function's IR as a function that is called like the original."""
    emitted = emit(function, name="again")
    bindings = dict(emitted.bindings)
    if emitted.needs_globals:
        bindings["module_globals"] = original.__globals__
    namespace = load(emitted.text, "again", bindings)
    unload(namespace["__file__"])
    again = namespace["again"]
    again.__defaults__, again.__kwdefaults__ = original.__defaults__, original.__kwdefaults__
    cells = [cell.cell_contents for cell in original.__closure__ or ()]
    return lambda *args, **kwargs: again(*cells, *args, **kwargs)


@pytest.mark.parametrize("row", some((row for row in PLAIN if row.id not in REFUSED), "round trip"), ids=str)
@pytest.mark.parametrize("stage", [lambda function: function, instrument_function], ids=["lowered", "instrumented"])
def test_a_program_of_the_table_computes_the_same(row: Program, stage: Callable[[Function], Function]) -> None:
    assert isinstance(row.function, types.FunctionType)
    again = emitted_again(row.function, stage(lower_function(row.function).function))
    assert outcome(again, *row.args) == outcome(row.function, *row.args)


@pytest.mark.parametrize("batch", batches(30), ids=str)
def test_a_random_program_computes_the_same(batch: range) -> None:
    for number in batch:
        program = random_program(number)
        original = program.load()
        assert isinstance(original, types.FunctionType)
        again = emitted_again(original, lower_function(original).function)
        for point in program.points:
            assert outcome(again, *point) == outcome(original, *point), program.source
