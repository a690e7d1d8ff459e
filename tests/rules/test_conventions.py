"""Every row of the table in docs/conventions.md, run."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from microgradpy import gradient

DOCUMENT = Path(__file__).parents[2] / "docs" / "conventions.md"
ROWS = re.findall(r"^\| `(.+)` \| `(.+)` \| `(.+)` \|$", DOCUMENT.read_text(), re.MULTILINE)
IMPORTS = "import math\nimport statistics\nimport numpy as np\nimport microgradpy.nn\n\n\n"


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """A module with the function of each row."""
    path = tmp_path_factory.mktemp("conventions") / "rows_of_conventions.py"
    path.write_text(IMPORTS + "\n\n".join(f"def row_{k}(x):\n    return {row[0]}\n" for k, row in enumerate(ROWS)))
    spec = importlib.util.spec_from_file_location("rows_of_conventions", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_was_found() -> None:
    assert len(ROWS) == DOCUMENT.read_text().count("\n| `") > 40


@pytest.mark.parametrize("number", range(len(ROWS)), ids=[f"{text} at {x}" for text, x, _ in ROWS])
def test_row(number: int, functions: ModuleType) -> None:
    x, expected = (eval(part, {"np": np}) for part in ROWS[number][1:])
    with np.errstate(all="ignore"):
        (found,) = gradient(getattr(functions, f"row_{number}"), x)
    if expected is None or found is None:
        assert found is expected
    else:
        np.testing.assert_array_equal(found, expected)
