"""Golden texts: for each program of `programs`, a file with its source, its IR, its primal and its adjoint.

They are there to be read, and to show what a change of the compiler does to the text that users see.
`python -m tests.golden` writes them anew.
"""

from __future__ import annotations

import inspect
import types
from pathlib import Path
from typing import Any

import numpy as np

from microgradpy import code_adjoint, code_ir, code_primal
from tests.golden.programs import PROGRAMS, Program

FOLDER = Path(__file__).parent
COMMAND = "python -m tests.golden"


def golden_text(program: Program) -> str:
    """The golden text of a program, as the compiler of today writes it."""
    function, args, argnums = program.function, program.args, program.argnums
    names = list(inspect.signature(function).parameters)
    call = ", ".join(f"{name} = {described(value)}" for name, value in zip(names, args, strict=True))
    parts = [
        f"{program.name}: {program.shows}",
        f"{call}\ndifferentiated: {', '.join(names[number] for number in argnums)}",
        section("source", inspect.getsource(function)),
        section("IR", str(code_ir(function))),
        section("primal", code_primal(function, *args, argnums=argnums)),
        section("adjoint", code_adjoint(function, *args, argnums=argnums)),
    ]
    return "\n\n".join(parts) + "\n"


def section(title: str, text: str) -> str:
    return f"== {title} {'=' * (76 - len(title))}\n\n{text.strip()}"


def described(value: Any) -> str:
    """An example argument in a few words."""
    if isinstance(value, np.ndarray):
        return f"array{value.shape}"
    return value.__name__ if isinstance(value, types.FunctionType | types.BuiltinFunctionType) else repr(value)


def golden_files(folder: Path = FOLDER) -> dict[Path, str]:
    """Every golden file and the text it should have."""
    return {folder / f"{program.name}.txt": golden_text(program) for program in PROGRAMS}
