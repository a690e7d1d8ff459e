"""Programs that are nested about as deep as Python allows: right, or refused in so many words."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from microgradpy import UnsupportedSyntaxError, gradient, jvp
from microgradpy.compiler import always_track

SUM = "def f(x):\n    return " + " + ".join(["x"] * 700) + "\n\ndef g(x):\n    return x * x\n"
BRANCHES = "    elif x > {0}.0:\n        y = x * {0}.0\n"
CHAIN = "def f(x):\n    if x > 1000.0:\n        y = x\n{}    else:\n        y = x * x\n    return y\n"


def loaded(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    path = folder / f"deep_{abs(hash(text))}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    spec.loader.exec_module(module)
    return module


def test_a_sum_of_700_terms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = loaded(SUM, tmp_path, monkeypatch)
    limit = sys.getrecursionlimit()
    assert gradient(module.f, 1.5) == (700.0,)
    assert jvp(module.f, (1.5,), (1.0,)) == (1050.0, 700.0)
    assert gradient(module.g, 1.5) == (3.0,)
    with always_track():
        assert gradient(module.f, 1.5) == (700.0,)
    assert sys.getrecursionlimit() == limit


def test_a_chain_of_branches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = CHAIN.format("".join(BRANCHES.format(900 - k) for k in range(40)))
    f = loaded(text, tmp_path, monkeypatch).f
    assert gradient(f, 1.5) == (3.0,)
    assert gradient(f, 870.5) == (870.0,)


def test_a_chain_of_too_many_branches_is_refused_where_it_gets_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = CHAIN.format("".join(BRANCHES.format(900 - k) for k in range(300)))
    f = loaded(text, tmp_path, monkeypatch).f
    assert gradient(f, 870.5) == (870.0,)
    with pytest.raises(UnsupportedSyntaxError, match="ninety branches"):
        gradient(f, 1.5)
