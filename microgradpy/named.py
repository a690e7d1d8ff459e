"""Things in libraries by their names: nobody has them who has not imported the library.

    SHUFFLES = Named(("random", "Random.shuffle"), ("numpy.random", "Generator.shuffle RandomState.shuffle"))
    function in SHUFFLES

Neither imports what nobody has imported.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, final

from microgradpy.originals import is_being_imported, original

Row = tuple[str, str]
"""A module, and what is meant in it: names with spaces between them."""
_NOTHING = object()


@final
class Named:
    """The set of what is named in these rows, as far as the modules have been imported."""

    def __init__(self, *rows: Row) -> None:
        self._waiting = list(rows)
        self._found: set[Any] = set()

    def __contains__(self, value: Any) -> bool:
        return value in self._present()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._present())

    def _present(self) -> set[Any]:
        for row in self._waiting.copy():
            if is_there(row[0]):
                self._found.update(meant(*row))
                with suppress(ValueError):  # another thread was first
                    self._waiting.remove(row)
        return self._found


def is_there(library: str) -> bool:
    """Whether a module has been imported, and is complete."""
    module = sys.modules.get(library)
    return module is not None and not is_being_imported(module)


def meant(library: str, names: str) -> Iterator[Any]:
    """What names mean in a module that has been imported, but for those that its version does not have."""
    module: types.ModuleType = original(sys.modules[library])
    for name in names.split():
        found: Any = module
        for part in name.split("."):
            found = getattr(found, part, _NOTHING)
        if found is not _NOTHING:
            yield found
