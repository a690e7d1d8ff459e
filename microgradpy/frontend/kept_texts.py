"""Texts of code that is in no file: what was given to `python -c`, and the cells of a notebook that were given to a magic, such
as `%%time`, which compiles them under a name that says nothing of the cell.

They are candidates: whoever asks compiles each and compares it with the code that runs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any


def kept_texts(file: str) -> Iterator[str]:
    """The texts that code with this name of a file may be from, the latest first."""
    if file == "<string>":
        yield from _of_option()
    if file.startswith("<"):
        yield from _of_magics()


def _of_option() -> Iterator[str]:
    """The text of `python -c text`, whatever options are in front of it."""
    options = iter(sys.orig_argv[1:])
    for option in options:
        if not option.startswith("-") or option in ("-", "--", "-m"):
            return
        if option in _WITH_VALUE:
            next(options, None)
        elif not option.startswith("--") and "c" in option and option[1] not in "XW":
            yield option.partition("c")[2] or next(options, "")
            return


_WITH_VALUE = ("-X", "-W", "--check-hash-based-pycs")


def _of_magics() -> Iterator[str]:
    """What was given to magics of IPython, as it compiles that."""
    ipython = sys.modules.get("IPython")
    shell: Any = None if ipython is None else ipython.get_ipython()
    if shell is None:
        return
    for cell in reversed(list(shell.history_manager.input_hist_raw)):
        for text in _given_to_magics(cell):
            try:
                yield shell.transform_cell(text)
            except SyntaxError:
                continue


def _given_to_magics(cell: str) -> Iterator[str]:
    if cell.lstrip().startswith("%%"):
        yield cell.lstrip().partition("\n")[2]
    for line in cell.splitlines():
        given = _LINE_MAGIC.match(line)
        if given is not None:
            yield given[1]


_LINE_MAGIC = re.compile(r"\s*(?:\w+\s*=\s*)?%(?:time|timeit|prun)\s+(?:-\w+(?:\s*\d+)?\s+)*(.+)")
