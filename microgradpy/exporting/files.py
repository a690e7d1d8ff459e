"""Writing a file so that it is there as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a text to a file, which keeps its permissions, or to what a link leads to. Until it is complete the file is as it
    was before."""
    try:
        _write_and_rename(Path(os.path.realpath(path)), text)
    except OSError as error:
        if error.filename is not None:  # that of the temporary file says nothing to the user
            raise type(error)(error.errno, error.strerror, str(path)) from None
        raise


def _write_and_rename(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem[:100]}-", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(name, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
