"""A `Try` under construction: its body with marks, its handlers, and where they meet again.

    try:                      try with (%5/a):              the handlers see `a` as the last mark said
        a = f(x)                  mark(%1)
        b = g(a)                  %2/a = f(x)
    except ValueError:            mark(%2)
        b = a                     %3/b = g(%2)
                                  yield %3
                              except ValueError:
                                  yield %5
                              end %6/b
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import final

from microgradpy.dataclasses import dataclass
from microgradpy.errors import AnomalyError, CompilerBug, DifferentiationError
from microgradpy.frontend.lower_core import Lowering
from microgradpy.frontend.places import Arm, Scope, Step
from microgradpy.ir.nodes import Const, Handler, Raise, Region, Try, Unreachable, Value, Var, Yield, fresh
from microgradpy.ir.traversal import terminator_values, terminators, uses, walk

_OURS = tuple(Const(error, error.__name__, error) for error in (DifferentiationError, CompilerBug))
# A refusal is not the program's own exception: it passes every handler that would catch it.
LET_REFUSALS_PASS = Handler(_OURS, None, Region((), Raise(None)))


@final
@dataclass(frozen=True, slots=True)
class Catch:
    """`except types as name`, lowered by `run`, which is given the exception; everything is caught without `types`."""

    types: tuple[Const, ...] | None
    name: str
    run: Callable[[Var], None]
    finish: Callable[[Region, Var], Region] = lambda region, _: region
    catches_refusals: bool = False


def lower_attempt(
    low: Lowering, node: ast.AST, names: tuple[str, ...], body: Step, catches: Sequence[Catch], *, is_users: bool = True
) -> None:
    """Append a `Try`. `names` are those that the body may bind."""
    scope = Scope(fresh("scope"), names, low.inner_names, is_users, any(map(_would_catch_exit, catches)))
    before = dict(low.env)
    outer = low.scopes

    def protected() -> None:
        low.scopes = [scope]
        low.mark()
        low.scopes = [*outer, scope]
        body()

    arms = [low.arm(protected)]
    low.scopes = outer
    parameters = tuple(low.variable(name) for name in names)
    exceptions = [low.variable(catch.name) for catch in catches]
    for catch, exception in zip(catches, exceptions, strict=True):
        arms.append(_handler_arm(low, catch, exception, before | dict(zip(names, parameters, strict=True))))
    results, yields = low.join(arms, (*parameters, *exceptions))
    sealed = [arm.block.seal(Yield(values)) for arm, values in zip(arms, yields, strict=True)]
    handlers = [
        Handler(catch.types, exception if _is_read(exception, region) else None, catch.finish(region, exception))
        for catch, exception, region in zip(catches, exceptions, sealed[1:], strict=True)
    ]
    place = next((k for k, catch in enumerate(catches) if _would_catch_refusals(catch)), len(handlers))
    if place < len(handlers):
        handlers.insert(place, LET_REFUSALS_PASS)
    where = low.location(node)
    low.block.statements.append(Try(sealed[0], tuple(handlers), scope.var, parameters, results, where))
    if not any(arm.is_open for arm in arms):
        low.leave(Unreachable(), raises=all(arm.block.raises for arm in arms))


def _handler_arm(low: Lowering, catch: Catch, exception: Var, env: dict[str, Value]) -> Arm:
    return low.arm(lambda: catch.run(exception), env)


def _is_read(var: Var, region: Region) -> bool:
    ends = (terminator_values(terminator) for terminator in terminators(region))
    return any(var in values for values in (*ends, *map(uses, walk(region))))


def _would_catch_exit(catch: Catch) -> bool:
    return catch.types is None or any(issubclass(GeneratorExit, known.value) for known in catch.types)


def _would_catch_refusals(catch: Catch) -> bool:
    if catch.catches_refusals:
        return False
    # An `AnomalyError` is a `FloatingPointError` as well, and a kind of refusal.
    return catch.types is None or any(issubclass(AnomalyError, known.value) for known in catch.types)
