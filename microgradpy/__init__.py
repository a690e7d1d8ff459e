"""microgradpy: the derivative of plain Python, as plain Python."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from microgradpy.api import grad as grad
from microgradpy.api import gradient as gradient
from microgradpy.api import ignore_derivatives as ignore_derivatives
from microgradpy.api import pullback as pullback
from microgradpy.api import rrule_via_ad as rrule_via_ad
from microgradpy.api import stop_gradient as stop_gradient
from microgradpy.api import value_and_grad as value_and_grad
from microgradpy.api import value_and_gradient as value_and_gradient
from microgradpy.cache import cache_clear as cache_clear
from microgradpy.cache import cache_info as cache_info
from microgradpy.errors import CompilerBug as CompilerBug
from microgradpy.errors import CotangentShapeError as CotangentShapeError
from microgradpy.errors import DifferentiationError as DifferentiationError
from microgradpy.errors import MissingRuleError as MissingRuleError
from microgradpy.errors import MutationError as MutationError
from microgradpy.errors import NonScalarOutputError as NonScalarOutputError
from microgradpy.errors import SourceNotFoundError as SourceNotFoundError
from microgradpy.errors import UnsupportedSyntaxError as UnsupportedSyntaxError
from microgradpy.forward import frule_via_ad as frule_via_ad
from microgradpy.forward import jvp as jvp
from microgradpy.forward import pushforward as pushforward
from microgradpy.introspect import code_adjoint as code_adjoint
from microgradpy.introspect import code_ir as code_ir
from microgradpy.introspect import code_primal as code_primal
from microgradpy.introspect import code_pushforward as code_pushforward
from microgradpy.introspect import forward_differentiate as forward_differentiate
from microgradpy.introspect import instrument as instrument
from microgradpy.introspect import primal as primal
from microgradpy.introspect import reverse_differentiate as reverse_differentiate
from microgradpy.rules.registry import frule as frule
from microgradpy.rules.registry import non_differentiable as non_differentiable
from microgradpy.rules.registry import opt_out as opt_out
from microgradpy.rules.registry import rrule as rrule
from microgradpy.scalar_rules import scalar_rule as scalar_rule
from microgradpy.tangents.project_to import ProjectTo as ProjectTo
from microgradpy.tangents.thunks import InplaceableThunk as InplaceableThunk
from microgradpy.tangents.thunks import Thunk as Thunk
from microgradpy.tangents.thunks import accumulate as accumulate
from microgradpy.tangents.thunks import extern as extern
from microgradpy.tangents.thunks import not_implemented as not_implemented
from microgradpy.tangents.thunks import thunk as thunk
from microgradpy.tangents.thunks import unthunk as unthunk
from microgradpy.tangents.types import NoTangent as NoTangent
from microgradpy.tangents.types import NotImplementedTangent as NotImplementedTangent
from microgradpy.tangents.types import Tangent as Tangent
from microgradpy.tangents.types import ZeroTangent as ZeroTangent

if TYPE_CHECKING:
    from microgradpy.testing import central_fdm as central_fdm
    from microgradpy.testing import check_gradient as check_gradient
    from microgradpy.testing import test_frule as test_frule
    from microgradpy.testing import test_rrule as test_rrule

__version__ = "0.1.0"
__all__ = [
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
    "extern",
    "forward_differentiate",
    "frule",
    "frule_via_ad",
    "grad",
    "gradient",
    "ignore_derivatives",
    "instrument",
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
    "stop_gradient",
    "thunk",
    "unthunk",
    "value_and_grad",
    "value_and_gradient",
]

_OF_TESTING = ("central_fdm", "check_gradient", "test_frule", "test_rrule")


def __getattr__(name: str) -> Any:
    """The names of `microgradpy.testing`, which is imported when one of them is used."""
    if name in _OF_TESTING:
        return getattr(importlib.import_module("microgradpy.testing"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
