"""microgradpy: the derivative of plain Python, as plain Python."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

from microgradpy.originals import in_place
from microgradpy.runtime.collector import resting

if TYPE_CHECKING:
    from microgradpy.anomalies import detect_anomaly as detect_anomaly
    from microgradpy.explaining import explain as explain
    from microgradpy.exporting.export import export as export
    from microgradpy.forward import frule_via_ad as frule_via_ad
    from microgradpy.forward import jvp as jvp
    from microgradpy.forward import pushforward as pushforward
    from microgradpy.forward_introspect import code_pushforward as code_pushforward
    from microgradpy.forward_introspect import forward_differentiate as forward_differentiate
    from microgradpy.hessians import diaghessian as diaghessian
    from microgradpy.hessians import hess as hess
    from microgradpy.hessians import hessian as hessian
    from microgradpy.hessians import hessp as hessp
    from microgradpy.hessians import hvp as hvp
    from microgradpy.jacobians import jac as jac
    from microgradpy.jacobians import jacobian as jacobian
    from microgradpy.jacobians import value_and_jacobian as value_and_jacobian
    from microgradpy.public import *  # noqa: F403
    from microgradpy.testing import central_fdm as central_fdm
    from microgradpy.testing import check_gradient as check_gradient
    from microgradpy.testing import test_frule as test_frule
    from microgradpy.testing import test_rrule as test_rrule
    from microgradpy.tracking import track as track
    from microgradpy.trees import ravel as ravel
    from microgradpy.trees import tree_map as tree_map

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
    "PerformanceWarning",
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
    "checkpointed",
    "code_adjoint",
    "code_ir",
    "code_primal",
    "code_pushforward",
    "detect_anomaly",
    "diaghessian",
    "elementwise_grad",
    "explain",
    "export",
    "extern",
    "forward_differentiate",
    "frule",
    "frule_via_ad",
    "grad",
    "gradient",
    "hess",
    "hessian",
    "hessp",
    "hook",
    "hvp",
    "ignore_derivatives",
    "infiltrate",
    "infiltrate_rrule",
    "infiltrating",
    "instrument",
    "is_differentiating",
    "jac",
    "jacobian",
    "jvp",
    "non_differentiable",
    "not_implemented",
    "opt_out",
    "primal",
    "pullback",
    "pushforward",
    "ravel",
    "reverse_differentiate",
    "rrule",
    "rrule_via_ad",
    "scalar_rule",
    "showgrad",
    "stop_gradient",
    "thunk",
    "track",
    "tree_map",
    "unthunk",
    "value_and_grad",
    "value_and_gradient",
    "value_and_jacobian",
    "vjp",
]

_LATER = dict.fromkeys(("central_fdm", "check_gradient", "test_frule", "test_rrule"), "microgradpy.testing")
_LATER |= dict.fromkeys(("frule_via_ad", "jvp", "pushforward"), "microgradpy.forward")
_LATER |= dict.fromkeys(("code_pushforward", "forward_differentiate"), "microgradpy.forward_introspect")
_LATER |= dict.fromkeys(("jac", "jacobian", "value_and_jacobian"), "microgradpy.jacobians")
_LATER |= dict.fromkeys(("diaghessian", "hess", "hessian", "hessp", "hvp"), "microgradpy.hessians")
_LATER |= dict.fromkeys(("ravel", "tree_map"), "microgradpy.trees")
_LATER |= {"explain": "microgradpy.explaining"}
_LATER |= {"detect_anomaly": "microgradpy.anomalies", "export": "microgradpy.exporting.export", "track": "microgradpy.tracking"}
"""The names whose modules are imported when one of them is used."""
_CACHED = ("grad", "gradient", "value_and_grad", "value_and_gradient")
"""Those that need not import the compiler if there is a cache on disk."""


def __getattr__(name: str) -> Any:
    """The public names, which are imported when the first of them is used: then all at once, but for those that are for later,
    so that generated code finds them here. (`python -m microgradpy --help` uses none.)"""
    if name == "tracking":
        return importlib.import_module("microgradpy.tracking")
    if name in _LATER:
        if "rrule" not in globals():  # what these use at run time, the others install
            load_public()
        return getattr(importlib.import_module(_LATER[name]), name)
    if not name.startswith("__"):
        if name not in _CACHED or not _has_disk_cache():
            load_public()
        if name in globals():
            return globals()[name]
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    usage = importlib.import_module("microgradpy.usage")
    raise AttributeError(usage.attribute_message(__name__, name, (*__all__, *_LATER)))


def load_public() -> None:
    """Import all public names, and the compiler with them."""
    with in_place(), resting():
        public = vars(importlib.import_module("microgradpy.public"))
    has_cache = _has_disk_cache()
    globals().update({each: public[each] for each in __all__ if each in public and not (has_cache and each in _CACHED)})
    if has_cache:
        importlib.import_module("microgradpy.disk.front").join()


def _has_disk_cache() -> bool:
    """Whether there is a cache on disk, which answers first; then what asks it is imported."""
    if _CACHED[0] not in globals() and os.environ.get("MICROGRADPY_CACHE", "") not in ("", "0"):
        front = vars(importlib.import_module("microgradpy.disk.front"))
        globals().update({each: front[each] for each in _CACHED})
    return "microgradpy.disk.front" in sys.modules


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_LATER})
