"""Rules and gradients against finite differences: for those who write rules, and for those who use gradients."""

from __future__ import annotations

from microgradpy.testing.forward_rules import test_frule as test_frule
from microgradpy.testing.gradients import GradientReport as GradientReport
from microgradpy.testing.gradients import GradientRow as GradientRow
from microgradpy.testing.gradients import check_gradient as check_gradient
from microgradpy.testing.reverse_rules import test_rrule as test_rrule
from microgradpy.testing.stencils import FiniteDifference as FiniteDifference
from microgradpy.testing.stencils import backward_fdm as backward_fdm
from microgradpy.testing.stencils import central_fdm as central_fdm
from microgradpy.testing.stencils import forward_fdm as forward_fdm
