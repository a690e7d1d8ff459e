"""`yield` and `yield from`.

    w = yield v                 w = suspend v
                                if w is LEFT: return None

A generator may stay suspended for ever. Its adjoint starts from there, so what is recorded until then has to be complete:
whoever differentiates resumes it once more, with `LEFT`, and it returns as from any other place. Inside of `with`, and of a
`try` with a `finally` or a handler for `GeneratorExit`, where other code of the user's would run then, it has to have come to
its end while the program ran. In a `try`, what is thrown to it arrives there as a `Failure`:

                                w = suspend v
                                if w is LEFT: return UNFINISHED
                                raise_failure(w)

    z = yield from source       steps = delegate_to(source)
                                while True:
                                    done, z = advance(steps, sent)
                                    if done: break
                                    sent = suspend z

What is thrown to the generator there is sent to `advance`, which throws it to the generator behind it.
"""

from __future__ import annotations

import ast

from microgradpy.frontend.guarded_loops import guarded_loop
from microgradpy.frontend.lower_core import EXPRESSIONS, Lowering, lowers
from microgradpy.frontend.lower_statements import nothing
from microgradpy.frontend.places import LoopFrame
from microgradpy.ir.nodes import UNDEFINED, Const, Op, Opcode, Return, Value, Var, function_constant
from microgradpy.runtime.failures import raise_failure
from microgradpy.runtime.suspension import LEFT, UNFINISHED, advance, delegate_to

_LEFT = Const(LEFT, "LEFT", LEFT)
_UNFINISHED = Const(UNFINISHED, "UNFINISHED", UNFINISHED)


@lowers(EXPRESSIONS, ast.Yield)
def lower_yield(low: Lowering, node: ast.Yield, name: str) -> Value:
    return _suspend(low, Const(None) if node.value is None else low.expression(node.value), node, name)


@lowers(EXPRESSIONS, ast.YieldFrom)
def lower_yield_from(low: Lowering, node: ast.YieldFrom, name: str) -> Value:
    source = low.expression(node.value)
    steps = low.emit(function_constant(delegate_to), source, node=node.value, name=".steps")
    sent, result = low.hidden_name("sent"), low.hidden_name(name or "item")
    low.env |= {sent: Const(None), result: UNDEFINED}

    def body() -> None:
        step = low.emit(function_constant(advance), steps, low.env[sent], node=node)
        done, item = low.variable(".done"), low.variable(result)
        low.block.statements.append(Op(Opcode.UNPACK, (step,), (done, item), where=low.location(node)))
        low.mark()
        low.env[result] = item
        low.branch(done, low.break_out, nothing, node)
        # What is thrown at this place goes to `advance`, which throws it on.
        low.env[sent] = _suspend(low, item, node, sent, raises=False)

    if low.scopes:
        guarded_loop(low, node, LoopFrame((sent, result)), body)
    else:
        low.while_loop(lambda: Const(True), LoopFrame((sent, result)), body, node)
    del low.env[sent]
    return low.env.pop(result)


def _suspend(low: Lowering, value: Value, node: ast.expr, name: str, *, raises: bool = True) -> Var:
    is_inside = bool(low.protections or low.handling or any(scope.is_users for scope in low.scopes))
    runs_code = bool(low.protections or low.handling or any(scope.is_users and scope.catches_exit for scope in low.scopes))
    sent = low.emit(Opcode.SUSPEND, value, node=node, name=name, payload=runs_code or None)
    low.mark()
    left = _UNFINISHED if runs_code else Const(None)
    is_left = low.emit(Opcode.INFIX, sent, _LEFT, node=node, payload="is")
    low.branch(is_left, lambda: low.leave(Return(left, where=low.location(node))), nothing, node)
    if raises and (is_inside or low.scopes):
        low.emit(function_constant(raise_failure), sent, node=node)
    return sent
