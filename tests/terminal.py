"""A Python program under a pseudo-terminal, with somebody who types."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROMPT = b"(Pdb) "
_PATIENCE = 60.0


def typed_at(script: Path, commands: Iterable[str], environment: Mapping[str, str] | None = None) -> list[str]:
    """What a program prints before the first prompt of the debugger, and after each of the commands."""
    master, terminal = pty.openpty()
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb", **(environment or {})}
    variables.pop("PYTHONBREAKPOINT", None)
    process = subprocess.Popen([sys.executable, str(script)], stdin=terminal, stdout=terminal, stderr=terminal, env=variables)
    os.close(terminal)
    try:
        return list(_answers(process, master, list(commands)))
    finally:
        os.close(master)
        process.kill()
        process.wait()


def _answers(process: subprocess.Popen[bytes], master: int, commands: list[str]) -> Iterable[str]:
    for command in commands:
        yield _answer(master, PROMPT)
        os.write(master, f"{command}\n".encode())
    yield _answer(master, None)


def _answer(master: int, until: bytes | None) -> str:
    """What comes until the prompt, without the echo of what was typed; everything that is left if there is none to come."""
    found, deadline = b"", time.monotonic() + _PATIENCE
    while until is None or not found.endswith(until):
        ready, _, _ = select.select([master], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise AssertionError(f"no prompt after {found.decode()!r}")
        try:
            part = os.read(master, 65536)
        except OSError:  # the program has come to its end
            part = b""
        if not part:
            break
        found += part
    return found.decode().replace("\r\n", "\n").removesuffix(PROMPT.decode())
