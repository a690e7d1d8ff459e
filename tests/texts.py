"""The texts that are generated for a program. `python -m tests.texts` answers questions for them (`tests/other_process.py`)."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import sys
import traceback

import numpy as np

from microgradpy import cache_clear, code_adjoint, code_ir, code_primal, pullback
from microgradpy.runtime.real_powers import COMPLEX
from tests.exporting.corpus import export
from tests.other_process import name_of
from tests.programs import PROGRAMS, Program
from tests.programs.mutation import MUTATION


def run(program: Program) -> None:
    """What a program imports is there from then on, and which of its variables live in cells is known."""
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        program.function(*copy.deepcopy(program.args))
        pullback(program.function, *copy.deepcopy(program.args))


def texts_of(program: Program) -> list[str]:
    """The texts for the program's arguments, once it has run and has been differentiated."""
    if program.function.__code__ in COMPLEX:
        cache_clear()  # as if it had not run with other arguments
    run(program)
    f, args = program.function, copy.deepcopy(program.args)
    return [code_adjoint(f, *args), code_primal(f, *args), str(code_ir(f))]


def general_texts_of(program: Program) -> list[str]:
    """The text for arguments of which nothing is known, likewise."""
    run(program)
    return [code_adjoint(program.function)]


def module_of(program: Program) -> list[str]:
    """The exported module."""
    return [export(program).text]


QUESTIONS = {"texts": texts_of, "general texts": general_texts_of, "module": module_of}


def main() -> None:
    """Answer the questions on the standard input, one a line: a key of `QUESTIONS` and the name of a program."""
    programs = {name_of(program): program for program in (*PROGRAMS, *MUTATION)}
    for line in sys.stdin:
        question, name = json.loads(line)
        try:
            answer = QUESTIONS[question](programs[name])
        except Exception:
            answer = [traceback.format_exc()]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
