"""microgradpy: the derivative of plain Python, as plain Python."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from microgradpy.exporting.export import export as export
    from microgradpy.public import *  # noqa: F403
    from microgradpy.testing import central_fdm as central_fdm
    from microgradpy.testing import check_gradient as check_gradient
    from microgradpy.testing import test_frule as test_frule
    from microgradpy.testing import test_rrule as test_rrule
    from microgradpy.tracking import track as track

__version__ = "0.1.0"
__all__ = [
    "AnomalyError",
    "CompilerBug",
    "CotangentShapeError",
    "DifferentiationError",
    "InplaceableThunk",
    "MissingRuleError",
    "MutationError",
    "NoTangent",
    "NonScalarOutputError",
    "NotImplementedTangent",
    "ProjectTo",
    "SourceNotFoundError",
    "Stop",
    "Tangent",
    "Thunk",
    "UnsupportedSyntaxError",
    "ZeroTangent",
    "accumulate",
    "cache_clear",
    "cache_info",
    "code_adjoint",
    "code_ir",
    "code_primal",
    "code_pushforward",
    "detect_anomaly",
    "export",
    "extern",
    "forward_differentiate",
    "frule",
    "frule_via_ad",
    "grad",
    "gradient",
    "hook",
    "ignore_derivatives",
    "infiltrate",
    "infiltrate_rrule",
    "infiltrating",
    "instrument",
    "is_differentiating",
    "jvp",
    "non_differentiable",
    "not_implemented",
    "opt_out",
    "primal",
    "pullback",
    "pushforward",
    "reverse_differentiate",
    "rrule",
    "rrule_via_ad",
    "scalar_rule",
    "showgrad",
    "stop_gradient",
    "thunk",
    "track",
    "unthunk",
    "value_and_grad",
    "value_and_gradient",
]

_LATER = dict.fromkeys(("central_fdm", "check_gradient", "test_frule", "test_rrule"), "microgradpy.testing")
_LATER |= {"export": "microgradpy.exporting.export", "track": "microgradpy.tracking"}
"""The names whose modules are imported when one of them is used."""


def __getattr__(name: str) -> Any:
    """The public names, which are imported when the first of them is used: then all at once, but for those that are for later,
    so that generated code finds them here. (`python -m microgradpy --help` uses none.)"""
    if name == "tracking":
        return importlib.import_module("microgradpy.tracking")
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    if not name.startswith("__"):
        public = vars(importlib.import_module("microgradpy.public"))
        globals().update({each: public[each] for each in __all__ if each in public})
        if name in globals():
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_LATER})
