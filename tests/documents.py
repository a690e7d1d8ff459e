"""The documents with programs. A ```python block is run; a ```text block right after it is what it prints.

`python -m tests.documents` writes the printed blocks anew.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
COMMAND = "python -m tests.documents"
DOCUMENTS = [ROOT / "README.md", *(ROOT / "docs" / name for name in ("tutorial.md", "rules.md", "errors.md"))]
PROGRAM = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<printed>.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def with_fresh_output(document: str, folder: Path) -> str:
    """The document with every printed block as it should be. The blocks of a document share their names; each is a file
    in `folder`, because the source of its functions is looked up there."""
    namespace = {"__name__": "__document__"}
    count = 0

    def run(block: re.Match[str]) -> str:
        nonlocal count
        count += 1
        file = folder / f"block_{count}.py"
        file.write_text(block["code"])
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(block["code"], str(file), "exec"), namespace)
        output = "".join(line.rstrip() + "\n" for line in printed.getvalue().rstrip().splitlines())
        output = output.replace(f"{folder}{os.sep}", "")
        return f"```python\n{block['code']}```\n" + (f"\n```text\n{output}```\n" if output else "")

    return PROGRAM.sub(run, document)


def main() -> None:
    for path in DOCUMENTS:
        with TemporaryDirectory() as folder:
            path.write_text(with_fresh_output(path.read_text(), Path(folder)))


if __name__ == "__main__":
    main()
