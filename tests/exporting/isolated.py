"""Runs exported modules where microgradpy cannot be imported: `python -I isolated.py FOLDER`, with a file `calls.pickle` in the
folder: name, arguments and seeds of each. Writes what they return to `results.pickle`."""

from __future__ import annotations

import contextlib
import copy
import importlib.abc
import importlib.util
import io
import pickle
import sys
from pathlib import Path


class Blocked(importlib.abc.MetaPathFinder):
    """Nobody may import the package."""

    def find_spec(self, fullname, path, target=None):
        if fullname.partition(".")[0] == "microgradpy":
            raise ImportError(f"{fullname} is imported where it is not there")
        return None


def results_of(file: Path, args: tuple, seeds: tuple) -> tuple:
    """Value and cotangents for each seed, and what `value_and_gradient` returns or raises; and what was printed."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        y, back = module.pullback(*copy.deepcopy(args))
    cotangents = [back(seed) for seed in seeds]
    both = None
    if hasattr(module, "value_and_gradient"):
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                both = module.value_and_gradient(*copy.deepcopy(args))
            except TypeError as error:
                if "no real number" not in str(error):
                    raise
    return y, cotangents, both, printed.getvalue()


def main(folder: Path) -> None:
    sys.meta_path.insert(0, Blocked())
    results = {}
    for name, args, seeds in pickle.loads((folder / "calls.pickle").read_bytes()):
        try:
            results[name] = pickle.dumps(results_of(folder / f"{name}.py", args, seeds))
        except Exception as error:
            results[name] = f"{type(error).__name__}: {error}"
    assert not any(name.partition(".")[0] == "microgradpy" for name in sys.modules)
    (folder / "results.pickle").write_bytes(pickle.dumps(results))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
