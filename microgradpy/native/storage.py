"""Files for numba's cache on disk, in the folder of the package's own (`MICROGRADPY_CACHE`).

numba keeps machine code beside the file that a function is from, and finds it by the instructions of the function. So each text
gets a file whose name is a hash of all that the machine code depends on. What is read back is numba's: it is unpickled, and
executed. Nobody but the user can reach the folder, whose mode is 0700.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from microgradpy.disk.key import digest
from microgradpy.disk.store import Store, is_on
from microgradpy.native import helpers

_FOLDER = "native"
_MOST_TEXTS = 200


def file_for(text: str, bindings: Mapping[str, Any], options: str) -> str | None:
    """A file of the user's with this text, for functions that nothing else decides on; None if there is to be no cache."""
    if not is_on() or not all(map(_is_fixed, bindings.values())):
        return None
    folder = Store.of_environment().subfolder(_FOLDER)
    if folder is None:
        return None
    own = Path(helpers.__file__).read_text(encoding="utf-8")
    names = sorted((name, getattr(value, "__name__", "")) for name, value in bindings.items())
    key = digest(repr((text, names, options, own, sys.version, np.__version__)))
    path = os.path.join(folder, f"text_{key[:32]}.py")
    try:
        if not os.path.exists(path):
            _make_room(folder)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with open(handle, "w", encoding="utf-8") as file:
                file.write(text)
    except FileExistsError:
        pass  # another process was quicker
    except OSError:
        return None
    return path


def _is_fixed(value: Any) -> bool:
    """Whether a global name of a text always means the same: NumPy, `math`, helpers."""
    return value is np or value is math or getattr(helpers, getattr(value, "__name__", ""), None) is value


def _make_room(folder: str) -> None:
    """Remove the oldest texts, and what numba keeps beside them, if there are too many."""
    texts = sorted(Path(folder).glob("text_*.py"), key=lambda path: path.stat().st_mtime_ns)
    for text in texts[: max(0, len(texts) - _MOST_TEXTS + 1)]:
        for path in (text, *Path(folder, "__pycache__").glob(f"{text.stem}.*")):
            with contextlib.suppress(OSError):
                path.unlink()
