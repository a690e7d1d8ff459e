"""In notebooks: how results show themselves, and functions of all kinds of cells."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import Any

import pytest

from microgradpy import code_adjoint, code_ir, code_primal, code_pushforward, explain, primal


def square(x: float) -> float:
    return x * x if x < 3.0 else -x


SHOWN = [
    code_adjoint(square, 2.0),
    code_primal(square, 2.0),
    code_pushforward(square, 2.0),
    code_ir(square),
    primal(code_ir(square)),
]


@pytest.mark.parametrize("result", SHOWN, ids=lambda result: type(result).__name__)
def test_results_show_their_text_in_colours(result: Any) -> None:
    shown = result._repr_html_()
    assert html.unescape(re.sub("<[^>]*>", "", shown)) == str(result).rstrip("\n")
    assert '<span style="color:' in shown
    printed: list[str] = []
    result._repr_pretty_(type("Printer", (), {"text": staticmethod(printed.append)}), False)
    assert printed == [str(result)]


def test_texts_stay_texts() -> None:
    assert isinstance(SHOWN[0], str)
    assert type(str(SHOWN[0])) is str
    assert SHOWN[0] == str(SHOWN[0])


def test_the_page_is_shown_in_place(tmp_path: Path) -> None:
    page = explain(square, 2.0)
    (inside,) = re.findall(r'<iframe srcdoc="([^"]*)"', page._repr_html_())
    assert html.unescape(inside) == page
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page


CELLS = {
    "from microgradpy import code_adjoint, code_ir, explain, grad, gradient": [],
    "%%time\ndef timed(x):\n    return x * x\nprint(gradient(timed, 3.0))": ["(6.0,)"],
    "gradient(timed, 3.0)": ["(6.0,)"],
    "%%timeit -n1 -r1\nrate = 2.0\ndef scaled(x):\n    return rate * x\nassert gradient(scaled, 3.0) == (2.0,)": [],
    "%time print(gradient(lambda x: x * x, 3.0))": ["(6.0,)"],
    "%timeit -n1 -r1 assert gradient(lambda x: x * x, 1.0) == (2.0,)": [],
    "%%capture out\ndef captured(x):\n    return 2.0 * x\nprint(gradient(captured, 3.0))": [],
    "def again(x):\n    return x * x\ng = grad(again)\nprint(g(3.0))": ["6.0"],
    "old = again\ndef again(x):\n    return x * x * x\nprint(gradient(again, 3.0), gradient(old, 3.0), g(3.0))": [
        "(27.0,) (6.0,) 6.0"
    ],
    "code_adjoint(timed, 2.0)": ["def timed_adjoint(x, y_bar):", "<span style="],
    "code_ir(timed)": ["return %3", "<span style="],
    "explain(timed, 2.0)": ["<iframe srcdoc="],
}


def test_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    root, path = str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", f"{root}{os.pathsep}{path}")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(notebook, kernel_name="python3", timeout=60).execute()
    for cell, words in zip(notebook.cells, CELLS.values(), strict=True):
        shown = "".join(output.get("text", "") + str(output.get("data", "")) for output in cell.outputs)
        for word in words:
            assert word in shown, f"{cell.source}\n{shown}"
