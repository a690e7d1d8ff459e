"""Rules for SciPy, one module per module of SciPy; each is imported when its module of SciPy has been."""

from __future__ import annotations

import importlib
import importlib.util

from microgradpy.rules.loading import load_optional, when_imported

MODULES = (
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "sparse.linalg",
    "spatial.distance",
    "special",
    "stats",
)
"""The modules of SciPy that have a module of rules here, of the same name (a dot is written as an underscore)."""

for _module in MODULES:
    when_imported(f"scipy.{_module}", f"{__name__}.{_module.replace('.', '_')}")


when_imported("scipy._lib._array_api", f"{__name__}.array_api")


def load_all() -> bool:
    """Import every module of SciPy that has rules here, and these; whether SciPy is installed."""
    if importlib.util.find_spec("scipy") is None:
        return False
    for module in MODULES:
        importlib.import_module(f"scipy.{module}")
    load_optional()
    return True
