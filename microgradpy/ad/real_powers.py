"""Powers of real numbers of unknown sign: real, or complex where a negative number has a power that is no whole one.

    y = k ** alpha                y = k ** alpha
                      becomes     if type(y) is complex:
                                      raise ComplexPower
                                  ... what follows is arithmetic of real numbers

That is assumed in runs of which nobody sees that they were given up and made once more (`microgradpy.ad.repeatable`).
"""

from __future__ import annotations

import operator
from typing import Any

from microgradpy.ad.differentiated_calls import inline_rule
from microgradpy.ad.found_rules import find_rule
from microgradpy.ad.primal_builder import PrimalBuilder
from microgradpy.ir.kinds import FLOAT, NUMERIC, REAL, Inert, is_real_scalar
from microgradpy.ir.nodes import (
    Const,
    If,
    Op,
    Raise,
    Region,
    Statement,
    Value,
    Var,
    Yield,
    fresh,
    function_constant,
    operator_constant,
)
from microgradpy.ir.rewrite import map_regions
from microgradpy.passes.typed_builder import Keywords
from microgradpy.rules.real_powers import real_power_rrule
from microgradpy.rules.results import is_users_rule
from microgradpy.runtime.real_powers import ComplexPower, check_real

_CHECK = function_constant(check_real)
_POWERS: tuple[Any, ...] = (operator.pow, pow)


def is_real_power(primal: PrimalBuilder, op: Op, callee: Const, arguments: tuple[Value, ...], keywords: Keywords) -> bool:
    """Whether a call was written as one of a power that is assumed to be real."""
    kinds = tuple(map(primal.kind, arguments))
    if callee.value not in _POWERS or keywords or len(kinds) != 2 or not all(map(is_real_scalar, kinds)):
        return False
    if primal.kind_of_call(callee, arguments, keywords) != NUMERIC or not primal.services.assumes_real_power():
        return False
    if primal.any_active(arguments):
        rule = find_rule(callee.value, (FLOAT, FLOAT))
        name = callee.path or callee.value.__name__
        if rule is None or is_users_rule(rule):
            return False
        if not inline_rule(primal, op, real_power_rrule, name, arguments, {}, function=callee.value):
            return False
    else:
        primal.plain(op, kind=NUMERIC, callee=callee)
    power = primal.of(op.result)
    assert isinstance(power, Var)
    primal.know(power, FLOAT if FLOAT in kinds else REAL)
    primal.emit(_CHECK, (power,), (primal.variable(Inert("NoneType")),))
    return True


def with_tests_written_out(body: Region) -> Region:
    """A primal with the tests of its powers as branches, which takes less time than calls."""
    return Region(tuple(new for statement in body.statements for new in _written_out(statement)), body.terminator)


def _written_out(statement: Statement) -> tuple[Statement, ...]:
    if not isinstance(statement, Op) or statement.callee != _CHECK:
        return (map_regions(statement, with_tests_written_out),)
    cls, is_complex = fresh(), fresh("is_complex")
    where = statement.where
    return (
        Op(Const(type), statement.arguments, (cls,), where=where),
        Op(operator_constant("is_"), (cls, function_constant(complex)), (is_complex,), where=where),
        If(is_complex, Region((), Raise(_COMPLEX_POWER, where=where)), Region((), Yield(())), (), where),
    )


_COMPLEX_POWER = Const(ComplexPower, "ComplexPower", ComplexPower)
