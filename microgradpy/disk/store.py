"""The files of the cache: one for each entry, which is a line with the hash of what follows, and a Python literal.

A file is put in place by one rename, so that processes that write at once do not see halves of it. Whatever is not as it should
be is as if it were not there. Nothing is read that another user could have written.
"""

from __future__ import annotations

import _thread
import ast
import contextlib
import os
import stat
import sys
import warnings
from typing import Any

from microgradpy.disk.handlers import is_from_outside
from microgradpy.disk.key import digest

VARIABLE = "MICROGRADPY_CACHE"
_OFF, _USERS_OWN = ("", "0"), "1"
_HEAD = "microgradpy cache, format 1"
_LARGEST = 1 << 20
"""So many bytes an entry has at most."""
_MOST_FILES, _MOST_BYTES = 1000, 64 << 20
_ENDING, _UNFINISHED = ".entry", ".tmp"


def is_on() -> bool:
    """Whether the environment asks for a cache on disk."""
    return os.environ.get(VARIABLE, "") not in _OFF


class Store:
    """A folder of entries. `folder` is None once it has shown that it cannot be used."""

    def __init__(self, folder: str | None) -> None:
        self.folder = folder
        self._is_checked = False
        self._has_warned = False

    @classmethod
    def of_environment(cls) -> Store:
        """The folder that the environment names; none if there is to be no cache."""
        if not is_on():
            return cls(None)
        named = os.environ[VARIABLE]
        return cls(_folder_of_user() if named == _USERS_OWN else os.path.abspath(os.path.expanduser(named)))

    def read(self, key: str) -> dict[str, Any] | None:
        """The entry that was written with this key, which is a text of any length; None if there is no valid one."""
        if not self._is_usable(makes=False):
            return None
        try:
            text = _read(self._path(key))
        except (OSError, UnicodeError) as error:
            if is_from_outside(error):
                raise
            return None
        head, _, body = text.partition("\n")
        if head != _head_of(body):
            return None
        try:
            entry = ast.literal_eval(body)
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            if is_from_outside(error):
                raise
            return None
        return entry if isinstance(entry, dict) and entry.get("key") == digest(key) else None

    def write(self, key: str, entry: dict[str, Any]) -> None:
        """Keep an entry, if that can be done."""
        body = repr({**entry, "key": digest(key)})
        if len(body) > _LARGEST // 4 or not self._is_usable(makes=True):
            return
        path = self._path(key)
        temporary = f"{path}.{os.getpid()}.{_thread.get_ident()}{_UNFINISHED}"
        try:
            try:
                _write(temporary, f"{_head_of(body)}\n{body}")
                os.replace(temporary, path)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary)
            self._make_room()
        except (OSError, UnicodeError) as error:
            if is_from_outside(error):
                raise
            self._give_up(f"cannot be written to: {error}")

    def subfolder(self, name: str) -> str | None:
        """A folder in that of the cache, of this user's only; None if it cannot be used."""
        if not self._is_usable(makes=True):
            return None
        assert self.folder is not None
        path = os.path.join(self.folder, name)
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(path, 0o700)
            found = os.lstat(path)
        except OSError as error:
            if is_from_outside(error):
                raise
            return None
        return path if stat.S_ISDIR(found.st_mode) and _is_own(found) else None

    def _path(self, key: str) -> str:
        assert self.folder is not None
        return os.path.join(self.folder, digest(key) + _ENDING)

    def _is_usable(self, *, makes: bool) -> bool:
        """Whether the folder is there and nobody else can write into it; `makes` it if there is none."""
        if self.folder is None or self._is_checked:
            return self.folder is not None
        if not hasattr(os, "geteuid"):
            return self._give_up(f"is not used: {sys.platform} does not say whose files are")
        try:
            if makes:
                os.makedirs(os.path.dirname(self.folder), exist_ok=True)
                with contextlib.suppress(FileExistsError):
                    os.mkdir(self.folder, 0o700)
            found = os.lstat(self.folder)
        except FileNotFoundError:
            return False
        except OSError as error:
            if is_from_outside(error):
                raise
            return self._give_up(f"cannot be used: {error}")
        if not stat.S_ISDIR(found.st_mode):
            return self._give_up("is no folder")
        if not _is_own(found):
            return self._give_up("is not used: it belongs to another user, or others may write into it")
        self._is_checked = True
        return True

    def _give_up(self, reason: str) -> bool:
        folder, self.folder = self.folder, None
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(f"{VARIABLE}: the folder {folder} {reason}", RuntimeWarning, stacklevel=2)
        return False

    def _make_room(self) -> None:
        """Remove the oldest entries if there are too many."""
        assert self.folder is not None
        with os.scandir(self.folder) as entries:
            named = [entry for entry in entries if entry.name.endswith((_ENDING, _UNFINISHED))]
            found = [(entry.stat(follow_symlinks=False), entry.path) for entry in named]
        excess, size = len(found) - _MOST_FILES, sum(each.st_size for each, _ in found)
        for each, path in sorted(found, key=lambda pair: pair[0].st_mtime_ns):
            if excess <= 0 and size <= _MOST_BYTES:
                break
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            excess, size = excess - 1, size - each.st_size


def _folder_of_user() -> str:
    if sys.platform == "darwin":
        above = os.path.expanduser("~/Library/Caches")
    else:
        above = os.environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(above):  # as its specification has it
            above = os.path.expanduser("~/.cache")
    return os.path.join(above, "microgradpy")


def _is_own(found: os.stat_result) -> bool:
    """Whether a file or folder is this user's, and no other's to write."""
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _read(path: str) -> str:
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or not _is_own(found) or found.st_size > _LARGEST:
            raise OSError("no entry of this user's")
        return file.read().decode("utf-8")


def _write(path: str, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(handle, "wb") as file:
        file.write(text.encode("utf-8"))


def _head_of(body: str) -> str:
    return f"{_HEAD}, {digest(body)}"
