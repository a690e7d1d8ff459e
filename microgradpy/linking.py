"""The end of the road: the two halves of a unit as texts, loaded, and bound to the halves of the units that they call.

    return helper_primal(x)     in the text; `helper_primal` is bound when the unit of `helper` is compiled
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

from microgradpy.ad.calls import Unit as CallUnit
from microgradpy.ad.saved_values import Pair
from microgradpy.boundary import GENERATED, Generated
from microgradpy.cache import Unit
from microgradpy.codegen.emit import Emitted, emit
from microgradpy.codegen.loading import load, load_in_place_of
from microgradpy.ir.nodes import Const, Function, Location
from microgradpy.ir.rewrite import rename
from microgradpy.passes.fresh_arrays import fresh_results, write_in_place


@final
@dataclass(frozen=True, slots=True)
class Half:
    """Stands for a unit's primal or adjoint in the IR until there is a function to bind."""

    unit: Unit
    is_adjoint: bool
    stands_for_unit: ClassVar[bool] = True

    @property
    def function(self) -> Callable[..., Any] | None:
        return self.unit.adjoint if self.is_adjoint else self.unit.primal


def half_constant(unit: CallUnit, *, is_adjoint: bool) -> Const:
    """One constant per half, so that all calls of a unit in one text have the same name."""
    assert isinstance(unit, Unit)
    if is_adjoint not in unit.halves:
        half = Half(unit, is_adjoint)
        unit.halves[is_adjoint] = Const(half, f"{unit.name}_{'adjoint' if is_adjoint else 'primal'}", half)
    constant: Const = unit.halves[is_adjoint]
    return constant


def unit_name(function: types.FunctionType) -> str:
    """What a function is called in generated names."""
    name = function.__name__
    return name if name.isidentifier() else "function"


def emitted_pair(function: types.FunctionType, pair: Pair, unit: Unit) -> tuple[Emitted, Emitted, Function, Function]:
    """The texts of a pair, and the adjoint with the names of the text: before anything in it is written in place, and after."""
    code = function.__code__
    forward = emit(pair.primal, name=f"{unit.name}_primal", stands_for=(code.co_filename, code.co_firstlineno))
    # What is saved has the same name on both sides.
    adjoint = replace(pair.adjoint, body=rename(pair.adjoint.body, forward.names))
    in_place = write_in_place(adjoint)
    return forward, emit(in_place, name=f"{unit.name}_adjoint", comments=True), adjoint, in_place


def generate(function: types.FunctionType, pair: Pair, unit: Unit) -> None:
    """Give a unit its two callables, and the texts they are made of."""
    forward, reverse, _, adjoint = emitted_pair(function, pair, unit)
    unit.fresh = (False,) * len(unit.absent) if unit.tracks else fresh_results(adjoint)
    unit.texts, unit.line_maps = (forward.text, reverse.text), (forward.line_map, reverse.line_map)
    assert forward.tree is not None
    forward_names = bindings_of(forward, function)
    unit.primal, shown = load_in_place_of(function, forward.tree, forward.text, forward_names)
    reverse_names = bindings_of(reverse, function, reverse.line_map)
    namespace = load(reverse.text, f"{unit.name}_adjoint", reverse_names, reverse.line_map)
    unit.adjoint = namespace[f"{unit.name}_adjoint"]
    unit.files = (shown, namespace["__file__"])
    # The text of a function may call another unit's by its own name, so this comes after the definition.
    for names, bindings in ((unit.primal.__globals__, forward_names), (namespace, reverse_names)):
        _links.extend((names, name, value) for name, value in bindings.items() if isinstance(value, Half))
    _link()


def bindings_of(
    half: Emitted, function: types.FunctionType, lines: Mapping[int, Location] | None = None
) -> dict[str, Any]:
    """What the global names of a generated text mean; `lines` are those of an adjoint that come from the user's."""
    bindings = {**half.bindings, GENERATED: Generated(function.__name__, lines)}
    return bindings | {"module_globals": function.__globals__} if half.needs_globals else bindings


_links: list[tuple[dict[str, Any], str, Half]] = []


def _link() -> None:
    """Bind the halves that are compiled by now; recursion leaves some for later."""
    waiting = []
    for namespace, name, half in _links:
        if half.function is not None:
            namespace[name] = half.function
        elif half.unit.in_progress:  # others were given up
            waiting.append((namespace, name, half))
    _links[:] = waiting
