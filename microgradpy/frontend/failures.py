"""Functions that return what they raise, for a caller that goes on after the exception: their adjoints undo what they had
done by then. `microgradpy.runtime.failures` has the other side."""

from __future__ import annotations

import ast

from microgradpy.frontend.attempt import Catch, lower_attempt
from microgradpy.frontend.lower_core import Lowering
from microgradpy.frontend.places import Step
from microgradpy.frontend.resolve import builtin
from microgradpy.ir.nodes import Var, function_constant
from microgradpy.runtime.failures import Failure


def catch_all(low: Lowering, node: ast.AST, body: Step) -> None:
    """Lower the body of a function so that it returns what it raises."""

    def fail(exception: Var) -> None:
        low.return_value(low.emit(function_constant(Failure), exception, node=node), node)

    lower_attempt(low, node, (), body, [Catch((builtin(BaseException),), ".exception", fail)], is_users=False)
