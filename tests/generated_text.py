"""Text in the repository that a command writes: documents and golden texts."""

from __future__ import annotations

import difflib
from pathlib import Path


def assert_is_as_generated(path: Path, generated: str, command: str) -> None:
    """The file has the generated text; otherwise the difference, and the command that writes it anew."""
    text = path.read_text() if path.exists() else ""
    if text != generated:
        names = f"{path.name} in the repository", f"{path.name} as generated"
        difference = difflib.unified_diff(text.splitlines(), generated.splitlines(), *names, lineterm="")
        explanation = f"If the new text is right, `{command}` writes it."
        raise AssertionError("\n".join([f"{path.name} has changed. {explanation}", *difference]))
