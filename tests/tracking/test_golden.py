"""The traces of a few programs, beside their IR and the text that was run. `python -m tests.tracking.test_golden` writes
them."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgradpy import code_ir
from microgradpy.tracking import code_tracked, format_levels, track
from tests.tracking import traced

FOLDER = Path(__file__).parent / "golden"
FUNCTIONS = [function for function, _ in traced.TRACED]


def golden(index: int) -> str:
    function, args = traced.TRACED[index]
    traced.rand = iter(traced.DRAWS).__next__
    shown = format_levels(track(function, *args))
    parts = {"IR": str(code_ir(function)), "run": code_tracked(function).rstrip(), "trace": shown}
    return "\n".join(f"# {title}\n\n{text}\n" for title, text in parts.items())


@pytest.mark.parametrize("index", range(len(FUNCTIONS)), ids=[function.__name__ for function in FUNCTIONS])
def test_the_trace_is_as_written(index: int) -> None:
    assert golden(index) == (FOLDER / f"{FUNCTIONS[index].__name__}.txt").read_text()


if __name__ == "__main__":
    for number, each in enumerate(FUNCTIONS):
        (FOLDER / f"{each.__name__}.txt").write_text(golden(number))
