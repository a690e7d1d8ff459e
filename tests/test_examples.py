"""Every example runs by itself from any folder, and says what it is there to say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
PRINTING = [path for path in EXAMPLES if path.stem not in ("05_moons", "07_long_trajectory")]


def run(example: Path, folder: Path, *options: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MPLCONFIGDIR": str(folder / "matplotlib")}
    command = [sys.executable, "-W", "error::DeprecationWarning:__main__", str(example), *options]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("example", PRINTING, ids=lambda path: path.stem)
def test_example_runs_and_prints(example, tmp_path):
    picture = tmp_path / "pictures" / "picture.png"
    draws = "--output" in example.read_text()
    assert run(example, tmp_path, *(("--output", str(picture)) if draws else ())).strip()
    assert not draws or picture.read_bytes().startswith(b"\x89PNG")


def test_moons_reaches_its_accuracy_and_draws(tmp_path):
    picture = tmp_path / "pictures" / "moons.png"
    printed = run(ROOT / "examples" / "05_moons.py", tmp_path, "--output", str(picture))
    (reached,) = re.findall(r"accuracy: ([\d.]+)%", printed)
    assert float(reached) >= 97.0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 10_000


def test_the_long_trajectory_comes_close_in_little_memory(tmp_path):
    picture = tmp_path / "pictures" / "trajectory.png"
    printed = run(ROOT / "examples" / "07_long_trajectory.py", tmp_path, "--rounds", "10", "--output", str(picture))
    kept, without = (float(number.replace(",", "")) for number in re.findall(r"([\d,]+)(?: KB| without)", printed))
    assert kept * 5.0 < without
    assert float(re.findall(r"round +10: ([\d.]+)", printed)[0]) < 0.5
    assert picture.read_bytes().startswith(b"\x89PNG")
