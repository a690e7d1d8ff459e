"""Exceptions that are not of what was being done: those of handlers of signals, which go through."""

from __future__ import annotations

import sys

_PACKAGE = __name__.partition(".")[0]


def is_from_outside(error: BaseException) -> bool:
    """Whether it was not this package, a text of its or a library that raised an exception, but a handler of a signal."""
    entry = error.__traceback__
    while entry is not None:
        name = str(entry.tb_frame.f_globals.get("__name__"))
        top = name.partition(".")[0]
        if top == "__main__" or (top not in (_PACKAGE, "numpy") and top not in sys.stdlib_module_names):
            return True
        entry = entry.tb_next
    return isinstance(error, KeyboardInterrupt)
