"""The documents with programs. A ```python block is run; a ```text block right after it is what it prints. One whose first line
is a comment with the name of a file is that file. In a ```console block, what stands after `$` is run as if it was typed in the
folder of these files: `python -m microgradpy ...`, or `cat`; with `; echo $?` the exit status is shown too.

`python -m tests.documents` writes the printed blocks anew.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from microgradpy import rrule
from microgradpy.cli.main import main as main_of_the_command_line

ROOT = Path(__file__).parent.parent
COMMAND = "python -m tests.documents"
NAMES = ("tutorial", "rules", "errors", "debugging", "tracking", "export", "command_line", "performance")
DOCUMENTS = [ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in NAMES)]
PROGRAM = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<printed>.*?)^```\n)?", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(?P<lines>.*?)^```\n", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"# (\w+\.py)\n")


def with_fresh_output(document: str, folder: Path) -> str:
    """The document with every printed block as it should be. The blocks of a document share their names; each is a file
    in `folder`, because the source of its functions is looked up there."""
    namespace = {"__name__": "__document__"}
    count = 0

    def run(block: re.Match[str]) -> str:
        nonlocal count
        count += 1
        named = NAMED.match(block["code"])
        file = folder / (named[1] if named else f"block_{count}.py")
        file.write_text(block["code"])
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(block["code"], str(file), "exec"), namespace)
        output = "".join(line.rstrip() + "\n" for line in printed.getvalue().rstrip().splitlines())
        output = output.replace(f"{folder}{os.sep}", "")
        return f"```python\n{block['code']}```\n" + (f"\n```text\n{output}```\n" if output else "")

    # What a program writes is written into the folder, and can be imported by the next one.
    with contextlib.chdir(folder):
        sys.path.insert(0, str(folder))
        try:
            return CONSOLE.sub(_typed, PROGRAM.sub(run, document))
        finally:
            sys.path.remove(str(folder))


def _typed(block: re.Match[str]) -> str:
    """A block of commands, with what they print below each."""
    commands = [line for line in block["lines"].splitlines() if line.startswith("$ ")]
    return "\n".join(["```console", *(f"{command}\n{_output_of(command[2:])}".rstrip() for command in commands), "```", ""])


def _output_of(command: str) -> str:
    words = shlex.split(command.removesuffix("; echo $?"))
    path, modules = list(sys.path), set(sys.modules)
    with io.StringIO() as printed, contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        if words[0] == "cat":
            print(Path(words[1]).read_text(), end="")
        else:
            assert words[:3] == ["python", "-m", "microgradpy"], command
            status = main_of_the_command_line(words[3:])
            if command.endswith("; echo $?"):
                print(status)
        text = printed.getvalue()
    sys.path[:] = path
    imported = {file.stem for file in Path().glob("*.py")} & (set(sys.modules) - modules)
    for f in rrule.registered():
        if getattr(f, "__module__", "") in imported:
            rrule.opt_out(f)
    for name in imported:
        del sys.modules[name]
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def drawn(folder: Path) -> dict[Path, str]:
    """The pictures in the documents that commands of theirs have drawn in `folder`."""
    pictures = {path: folder / path.name for path in sorted((ROOT / "docs" / "images").glob("*.svg"))}
    return {path: made.read_text() for path, made in pictures.items() if made.exists()}


def main() -> None:
    for path in DOCUMENTS:
        with TemporaryDirectory() as folder:
            path.write_text(with_fresh_output(path.read_text(), Path(folder)))
            for picture, text in drawn(Path(folder)).items():
                picture.write_text(text)


if __name__ == "__main__":
    main()
