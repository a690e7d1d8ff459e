"""`with`, as the language defines it: a `try` whose end is a call of `__exit__`.

    with manager as value:          leave = find_exit(manager)
        body                        value = enter_context(manager)
                                    try:
                                        body
                                        completed = True
                                    except BaseException as exception:
                                        if not suppresses(leave, manager, exception):
                                            raise
                                        completed = False
                                    if completed:
                                        leave_context(leave, manager)
"""

from __future__ import annotations

import ast
import contextlib
import warnings

import numpy as np

from microgradpy.frontend import exceptions
from microgradpy.frontend.attempt import Catch
from microgradpy.frontend.lower_core import STATEMENTS, Lowering, lowers
from microgradpy.frontend.lower_statements import nothing
from microgradpy.frontend.lower_targets import assign, name_of
from microgradpy.frontend.lower_try import local_names, protect
from microgradpy.frontend.places import Step
from microgradpy.frontend.resolve import builtin
from microgradpy.frontend.scope import bound_in_target
from microgradpy.ir.nodes import Const, Op, Raise, Value, Var, function_constant

_LET_PASS = (np.errstate, np.printoptions, contextlib.nullcontext, contextlib.redirect_stdout, warnings.catch_warnings, open)


@lowers(STATEMENTS, ast.With)
def lower_with(low: Lowering, node: ast.With, rest: Step) -> None:
    _lower_item(low, node, 0)


def _lower_item(low: Lowering, node: ast.With, index: int) -> None:
    """Enter one of the managers; the others and the body are inside of it."""
    item = node.items[index]
    manager = low.expression(item.context_expr, "")
    made = _called_for(low, manager)
    never = made is not None and any(made.value is known for known in _LET_PASS)
    leave = low.emit(function_constant(exceptions.find_exit), manager, node=item.context_expr, name=".leave")
    bound = name_of(item.optional_vars)
    value = low.emit(function_constant(exceptions.enter_context), manager, node=item.context_expr, name=bound)
    key = low.hidden_name("completed")
    low.env[key] = Const(False)

    def body() -> None:
        low.env[key] = Const(True)
        if item.optional_vars is not None:
            assign(low, item.optional_vars, value)
        if index + 1 < len(node.items):
            _lower_item(low, node, index + 1)
        else:
            low.statements(node.body, None)

    def caught(exception: Var) -> None:
        is_python = made is not None and exceptions.is_of_libraries(made.value)
        how = function_constant(exceptions.suppressed_by_library if is_python else exceptions.suppresses)
        suppressed = low.emit(how, leave, manager, exception, node=item.context_expr)
        if never:
            low.leave(Raise(None), raises=True)
        low.branch(suppressed, nothing, lambda: low.leave(Raise(None), raises=True), node)

    def end() -> None:
        low.emit(function_constant(exceptions.leave_context), leave, manager, node=item.context_expr)

    def final(last: Step) -> None:
        completed = low.env.pop(key)
        if not isinstance(completed, Const):
            low.branch(completed, end, nothing, node)
        elif completed.value:
            end()
        last()

    targets = [name for other in node.items for name in _targets(other) if low.is_state(name)]
    names = tuple(dict.fromkeys([*targets, *local_names(low, node.body)]))
    catch = Catch((builtin(BaseException),), ".exception", caught, catches_refusals=True)
    protect(low, node, names, body, [catch], final)


def _called_for(low: Lowering, manager: Value) -> Const | None:
    """What was called to make a context, right here or in one of the statements before, where it got a name."""
    made = (op.callee for op in reversed(low.block.statements) if isinstance(op, Op) and manager in op.results)
    callee = next(made, None)
    return callee if isinstance(callee, Const) else None


def _targets(item: ast.withitem) -> list[str]:
    return [] if item.optional_vars is None else bound_in_target(item.optional_vars)
