"""The road to what goes through all directions at once, made when somebody asks for many:

    the IR of a pushforward, or of a half -> ad.batching -> passes.dead_code -> codegen -> load
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, ClassVar, final

from microgradpy.ad.batch_dependence import dependence, in_every_part, writes_inputs
from microgradpy.ad.batched_operations import ROWS, Mark, NotBatched
from microgradpy.ad.batching import batched
from microgradpy.ad.tangent_calls import NotPushable
from microgradpy.cache import Unit, lock, reached_units
from microgradpy.codegen.emit import emit
from microgradpy.codegen.loading import load, load_in_place_of
from microgradpy.dataclasses import dataclass
from microgradpy.forward_compiler import PushforwardOf, forward_function
from microgradpy.ir.kinds import Kind
from microgradpy.ir.nodes import NOWHERE, Const, Function, function_constant
from microgradpy.ir.reasons import MayWrite
from microgradpy.ir.verifier import verify
from microgradpy.linking import Half, Source, bindings_of, finish, link
from microgradpy.originals import builtins_in_place
from microgradpy.passes.dead_code import eliminate_dead_code
from microgradpy.pipeline import VERIFY
from microgradpy.runtime.collector import resting
from microgradpy.runtime.room import with_room
from microgradpy.tangents.batched_rows import adjoint_by_rows, primal_by_rows, pushed_by_rows


@final
@dataclass(slots=True, eq=False)
class Batch:
    """A generated function of a unit for many directions, its pushforward or a half, of inputs with certain marks: `mark` is
    that of what it returns. One that cannot be made is `refused`, for a reason. It runs in the place of `function`, or by
    itself in the module with the variables `namespace`."""

    unit: Unit
    name: str
    function: types.FunctionType | None
    namespace: dict[str, Any]
    made: Function | None = None
    mark: Mark = False
    refused: NotBatched | None = None
    run: Callable[..., Any] | None = None
    text: str = ""
    constant: Const | None = None
    least: int = 2
    """How many directions there have to be that it takes less time than one after the other."""
    size: int | None = None
    """How many numbers the value had when somebody asked."""

    def finished(self) -> Callable[..., Any]:
        """The function; raises NotBatched."""
        if self.refused is not None:
            raise NotBatched(self.refused.what, self.refused.where)
        if self.run is None:
            _generate(self)
        assert self.run is not None
        return self.run


@final
@dataclass(frozen=True, slots=True, eq=False)
class BatchOf:
    """Stands for a batch in the IR until there is a function to bind."""

    batch: Batch
    stands_for_unit: ClassVar[bool] = True

    @property
    def function(self) -> Callable[..., Any] | None:
        return self.batch.run

    def make(self) -> Callable[..., Any]:
        return self.batch.finished()

    def kept(self) -> object:
        return None  # the batch has all


class _Services:
    def batched_call(self, callee: Const, marks: tuple[Mark, ...]) -> tuple[Const, Mark]:
        wanted = callee.value
        if isinstance(wanted, Half):
            found = half_batch(wanted.unit, wanted.is_adjoint, marks)
        elif isinstance(wanted, PushforwardOf):
            found = pushforward_batch(wanted.callee.function, wanted.callee.unit, wanted.callee.kinds, marks)
        else:
            raise NotBatched("a call")
        if found.refused is not None:
            raise NotBatched(f"a call of {found.unit.name}: {found.refused.what}", found.refused.where)
        if found.made is None and found.run is None:
            raise NotBatched(f"a call of {found.unit.name}, which calls itself")
        assert found.constant is not None
        return found.constant, found.mark

    def call_by_rows(self, callee: Const, marks: tuple[Mark, ...], reason: NotBatched) -> tuple[Const, Mark]:
        unit, which = _called(callee)
        key = "rows", which, marks
        if key not in unit.batches:
            unit.batches[key] = _by_rows(callee, marks)
        found: tuple[Const, Mark] | None = unit.batches[key]
        if found is None:
            raise reason
        return found


def _called(callee: Const) -> tuple[Unit, str]:
    """The unit that a constant stands for, and for what of it."""
    wanted = callee.value
    if isinstance(wanted, Half):
        return wanted.unit, "adjoint" if wanted.is_adjoint else "primal"
    assert isinstance(wanted, PushforwardOf)
    return wanted.callee.unit, "pushforward"


def _by_rows(callee: Const, marks: tuple[Mark, ...]) -> tuple[Const, Mark] | None:
    """What calls a function for one direction after the other, and the mark of its result; None if that is not the same, as it
    writes into what it is given, or is not known."""
    unit, which = _called(callee)
    texts = _Texts()
    function = texts.function(texts.key(callee))
    if any(each.tracks or each.passed for each in reached_units(unit)) or (function is not None and writes_inputs(function)):
        return None
    if which == "adjoint":
        return function_constant(adjoint_by_rows), True
    if function is None:
        return None
    found = dependence(callee, tuple(map(in_every_part, marks)), texts)
    of_value, of_other = found if isinstance(found, tuple) and len(found) == 2 else (True, True)
    if which == "primal":
        return function_constant(primal_by_rows), (of_value, ROWS)
    return function_constant(pushed_by_rows), (of_value, of_other)


class _Texts:
    """The functions that are called by one."""

    def __init__(self) -> None:
        self.met: dict[Any, Const] = {}
        self.known: dict[Any, Function | None] = {}

    def key(self, callee: Const) -> tuple[int, str]:
        unit, which = _called(callee)
        self.met.setdefault((id(unit), which), callee)
        return id(unit), which

    def function(self, key: Any) -> Function | None:
        if key not in self.known:
            self.known[key] = _text_of(self.met[key])
        return self.known[key]


def _text_of(callee: Const) -> Function | None:
    unit, which = _called(callee)
    if which != "pushforward":
        finish(unit)
        source: Source | None = unit.source
        return None if source is None else source.adjoint if which == "adjoint" else source.primal
    wanted = callee.value
    assert isinstance(wanted, PushforwardOf)
    try:
        made = forward_function(wanted.callee.function, unit, wanted.callee.kinds)
    except NotPushable:
        return None
    return None if isinstance(made, MayWrite) else made


def pushforward_batch(function: types.FunctionType, unit: Unit, kinds: tuple[Kind, ...], marks: tuple[Mark, ...]) -> Batch:
    """The pushforward of a unit for inputs with these marks; the tangents come after the values."""

    def one() -> Function:
        made = forward_function(function, unit, kinds)
        if isinstance(made, MayWrite):
            raise NotBatched(f"a write: {made.what}")
        return made

    known: Batch | None = unit.batches.get(("pushforward", marks))
    if known is None:
        batch = Batch(unit, f"{unit.name}_pushforward", function, function.__globals__)
        known = _made("pushforward", batch, one, marks)
    return known


def half_batch(unit: Unit, is_adjoint: bool, marks: tuple[Mark, ...]) -> Batch:
    """The primal or the adjoint of a unit for inputs with these marks: of the adjoint these are what was saved and the seed."""

    finish(unit)
    source: Source | None = unit.source

    def one() -> Function:
        if source is None:
            raise NotBatched(f"a call of {unit.name}")
        return source.adjoint if is_adjoint else source.primal

    known: Batch | None = unit.batches.get((is_adjoint, marks))
    if known is None:
        name = f"{unit.name}_{'adjoint' if is_adjoint else 'primal'}"
        known = _made(is_adjoint, Batch(unit, name, None, {} if source is None else source.namespace), one, marks)
    return known


@with_room
def _made(which: str | bool, batch: Batch, one: Callable[[], Function], marks: tuple[Mark, ...]) -> Batch:
    """A batch of the function `one`. What that calls are batches, too; one that calls itself is refused."""
    with lock:
        unit = batch.unit
        unit.batches[which, marks] = batch
        batch.constant = Const(BatchOf(batch), batch.name, BatchOf(batch))
        try:
            with resting(), builtins_in_place():
                found = batched(one(), marks, _Services())
                made = eliminate_dead_code(found.function)
        except (NotBatched, NotPushable) as reason:
            # Another exception, as this one has frames that hold the function.
            what, where = (reason.what, reason.where) if isinstance(reason, NotBatched) else (str(reason), NOWHERE)
            batch.refused, batch.function = NotBatched(what, where), None
            return batch
        except BaseException:
            del unit.batches[which, marks]
            raise
        if VERIFY:
            verify(made)
        batch.made, batch.mark = made, found.mark
        batch.least = _LEAST_OF_NUMBERS if found.is_of_numbers else 2
        return batch


_LEAST_OF_NUMBERS = 8  # arithmetic on a short array takes as long as that on eight or ten numbers


def _generate(batch: Batch) -> None:
    made, function, unit = batch.made, batch.function, batch.unit
    assert made is not None
    with lock, resting(), builtins_in_place():
        if function is None:
            emitted = emit(made, name=batch.name, comments=True)
            bindings = bindings_of(emitted, unit.name, batch.namespace, emitted.line_map)
            namespace = load(emitted.text, batch.name, bindings, emitted.line_map)
            run, shown = namespace[batch.name], namespace["__file__"]
        else:
            code = function.__code__
            emitted = emit(made, name=batch.name, stands_for=(code.co_filename, code.co_firstlineno))
            assert emitted.tree is not None
            bindings = bindings_of(emitted, function.__name__, function.__globals__)
            run, shown = load_in_place_of(function, emitted.tree, emitted.text, bindings)
        batch.text = emitted.text
        unit.shows(shown)
        link(run, bindings)
        batch.run, batch.made, batch.function, batch.namespace = run, None, None, {}  # the function is not kept alive
