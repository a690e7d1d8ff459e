"""`checkpointed` in the program: of a function that is known, the call is one of that function, which the adjoint makes again.

    checkpointed(lambda y: y * w)(x)        call_saved = run_again(lambda_primal, w, x)
                                            w_bar, x_bar = lambda_adjoint(call_saved, y_bar)
"""

from __future__ import annotations

from types import FunctionType

from microgradpy.ad.calls import Capture
from microgradpy.ad.primal_builder import PrimalBuilder
from microgradpy.frontend.closures import ClosureBody
from microgradpy.ir.kinds import UNKNOWN, Array, Sequence, TupleOf
from microgradpy.ir.nodes import Const, Op, Value, Var, function_constant
from microgradpy.runtime.checkpoints import HELD, checkpointed

CHECKPOINT = function_constant(checkpointed)


def lower_checkpointed(primal: PrimalBuilder, op: Op) -> bool:
    """Append what becomes of `checkpointed(f)`, if `f` is a function that is known, or something to run over; whether it is."""
    (given, *others), keywords = primal.inputs(op)
    if primal.services.tracks or others or keywords or not primal.services.inlines:
        return False
    if isinstance(primal.kind(given), Array | Sequence | TupleOf):
        primal.stand_for(op.result, given)
        return True
    if not _is_function(primal, given):
        return False
    active = primal.is_active(given)
    result = primal.define(op.result, UNKNOWN, active)
    # Nobody sees whether it is made.
    primal.add(Op(CHECKPOINT, (given,), (result,), from_user=False, where=op.where))
    if active:
        primal.record(Capture(result, (HELD,), (given,), op.where))
    return True


def function_in(primal: PrimalBuilder, callee: Value) -> Value:
    """The function in what was made by `checkpointed` in sight of its call; any other callee itself."""
    made = primal.producers.get(callee) if isinstance(callee, Var) else None
    return made.arguments[0] if made is not None and made.callee == CHECKPOINT else callee


def _is_function(primal: PrimalBuilder, value: Value) -> bool:
    made = primal.producers.get(value) if isinstance(value, Var) else None
    if made is not None:
        return isinstance(made.payload, ClosureBody)
    return isinstance(value, Const) and isinstance(value.value, FunctionType)
