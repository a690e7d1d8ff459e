"""The stage and the source text of forward mode, for who looks at them."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from microgradpy.argnums import Argnums
from microgradpy.batch_compiler import pushforward_batch
from microgradpy.cache import Unit
from microgradpy.compiler import analysed
from microgradpy.dataclasses import replace
from microgradpy.errors import DifferentiationError, MutationError
from microgradpy.forward_compiler import add_pushforward, forward_function
from microgradpy.frontend.lower import lower_function
from microgradpy.frontend.source import place_of
from microgradpy.introspect import IR, Source, looked_at, signature_of, unit_of_parts
from microgradpy.ir.kinds import UNKNOWN
from microgradpy.ir.reasons import MayWrite
from microgradpy.linking import unit_name


def forward_differentiate(ir: IR) -> IR:
    """The pushforward: a function of the inputs and their tangents, every one of unknown kind. Raises MutationError for a
    function that may write."""
    if ir.stage == "pushforward":
        return ir
    function = ir.source
    count = len(lower_function(function).function.inputs)
    unit = Unit(unit_name(function), (True,) * count, UNKNOWN)
    made = forward_function(function, unit, (UNKNOWN,) * count)
    if isinstance(made, MayWrite):
        raise MutationError(f"{function.__qualname__} may write, so that it has no pushforward")
    return replace(ir, stage="pushforward", function=made)


def code_pushforward(
    f: Callable[..., Any], *args: Any, argnums: Argnums | None = None, batched: bool = False
) -> Source:
    """The source text of the generated pushforward of `f`: from its inputs and the tangents of the differentiated ones to
    the value and its tangent. Arguments as for `code_primal`. A function that may write has none: MutationError.

    With `batched`, the text for many directions at once: tangents have a leading axis for them. Raises DifferentiationError,
    with the reason, for a function whose directions go one by one."""
    f, args = looked_at(f, args)
    function, kinds, active = signature_of(f, args, argnums)
    unit = unit_of_parts(function, f, args, kinds, active, analysed)[0] or analysed(function, kinds, active)
    if isinstance(unit, MayWrite):
        raise MutationError(
            f"{function.__qualname__} may write, so that it has no pushforward of its own",
            place_of(function),
            "jvp and pushforward go by its pullback.",
        )
    if batched:
        return Source(_batched_text(function, unit))
    if unit.pushforward is None:
        add_pushforward(function, unit, unit.kinds)
    return Source(unit.pushforward_text)


def _batched_text(function: types.FunctionType, unit: Unit) -> str:
    batch = pushforward_batch(function, unit, unit.kinds, (False,) * len(unit.kinds) + (True,) * sum(unit.active))
    if batch.refused is not None:
        raise DifferentiationError(
            f"many directions of {function.__qualname__} go one by one, because of {batch.refused.what}",
            batch.refused.where,
            "At once go those of functions of numbers and arrays, whose kinds and numbers of axes are known.",
        )
    batch.finished()
    return batch.text
