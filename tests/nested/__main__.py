"""`python -m tests.nested`: see `command.py`."""

from __future__ import annotations

from tests.nested.command import main

# The work is in a module of its own, because the processes that are started import it by its name.
if __name__ == "__main__":
    main()
