"""Write the golden texts anew: `python -m tests.golden`. With a folder, write them there instead."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.golden import FOLDER, golden_files


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    files = golden_files(folder)
    for outdated in set(folder.glob("*.txt")) - set(files):
        outdated.unlink()
    for path, text in files.items():
        path.write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
