"""`export(f, path, *args)`: the derivative of a function as a module that needs NumPy and the standard library only."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from microgradpy.argnums import Argnums
from microgradpy.boundary import BOUNDARY
from microgradpy.exporting.files import write_whole
from microgradpy.exporting.head import MARK
from microgradpy.exporting.module import module_text
from microgradpy.exporting.target import target_of


def export(
    f: Callable[..., Any],
    path: str | os.PathLike[str],
    *args: Any,
    argnums: Argnums | None = None,
    overwrite: bool = False,
) -> Path:
    """Write a Python module with the value and the gradient of `f`, which needs NumPy and the standard library only.

    The module has `value_and_gradient(*args)` and `pullback(*args)`, which give what those of this package give, to the last
    bit, for arguments of the kinds of the example `args`; it refuses others. Without examples it takes all kinds, and its
    gradients are equal to rounding. `argnums` is as for `value_and_grad`: what is differentiated, and whether the gradient is
    one or a tuple. Functions that write into arrays are exported if all that they do is known beforehand. What needs this
    package at run time is refused with a DifferentiationError that names it. A file that `export` did not write is replaced
    only with `overwrite=True`. Returns the path of the file."""
    target = Path(path)
    with BOUNDARY:
        text = export_text(f, *args, argnums=argnums)
    if target.exists() and not overwrite and not _is_exported(target):
        raise FileExistsError(f"{target} exists and was not written by export: give another path, or overwrite=True")
    write_whole(target, text)
    return target


def export_text(f: Callable[..., Any], /, *args: Any, argnums: Argnums | None = None) -> str:
    """The text of the module that `export` writes."""
    version = vars(sys.modules[__name__.partition(".")[0]])["__version__"]
    return module_text(target_of(f, args, argnums), version)


def _is_exported(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        return f"\n{MARK} " in file.read(2000)

