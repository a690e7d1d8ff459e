"""The end of the road: the two halves of a unit as texts, loaded, and bound to the halves of the units that they call.

    return helper_primal(x)     in the text; `helper_primal` is `Awaited` until that is run for the first time

Texts are made of a unit when somebody reaches it: most of what a formula may call lies on branches that a call does not take.
Who calls the unit needs what is proven of it, and that does not wait.
"""

from __future__ import annotations

import itertools
import os
import sys
import types
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, ClassVar, Protocol, final

from microgradpy.ad.calls import Apart
from microgradpy.ad.calls import Unit as CallUnit
from microgradpy.ad.primal import Primal
from microgradpy.ad.reverse import Reverse
from microgradpy.ad.saved_values import Pair
from microgradpy.boundary import GENERATED, Generated
from microgradpy.cache import Adjoint, Unit, lock, reached_units
from microgradpy.codegen.emit import Emitted, emit
from microgradpy.codegen.loading import DUMP_VARIABLE, load, load_in_place_of
from microgradpy.dataclasses import dataclass, replace
from microgradpy.errors import CompilerBug, DifferentiationError, UnsupportedSyntaxError
from microgradpy.frontend.source import place_of_code
from microgradpy.ir.kinds import Array
from microgradpy.ir.nodes import Const, Function, Location, Op, Opcode, Statement
from microgradpy.ir.rewrite import rename
from microgradpy.ir.traversal import walk
from microgradpy.originals import builtins_in_place
from microgradpy.passes.fresh_arrays import fresh_results, write_in_place
from microgradpy.pipeline import pair_of
from microgradpy.runtime.collector import resting
from microgradpy.runtime.room import with_room


@final
@dataclass(frozen=True, slots=True)
class Half:
    """Stands for a unit's primal or adjoint in the IR until there is a function to bind."""

    unit: Unit
    is_adjoint: bool
    stands_for_unit: ClassVar[bool] = True
    gives_selected: ClassVar[tuple[bool, ...]] = ()

    @property
    def function(self) -> Callable[..., Any] | None:
        if not self.is_adjoint:
            return self.unit.primal
        return None if self.unit.made is None else self.unit.made.run

    def make(self) -> Callable[..., Any]:
        finish(self.unit)
        made = self.unit.adjoint if self.is_adjoint else self.unit.primal
        assert made is not None
        return made

    def kept(self) -> object:
        return None if self.unit.waiting is None else self.unit.waiting.code()


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


@final
@dataclass(frozen=True, slots=True)
class Source:
    """What the adjoints of a unit are made from: the primal, and the adjoint with the names of the primal's text, with nothing
    written in place yet. The function is not kept alive; `namespace` are its module's variables if the adjoint reads any."""

    primal: Function
    adjoint: Function
    name: str
    code: weakref.ref[types.CodeType]
    namespace: dict[str, Any]


@contextmanager
def making(source: Source) -> Iterator[None]:
    """Around what makes an adjoint."""
    code = source.code()
    with resting(), builtins_in_place(), nullcontext() if code is None else errors_of_compiler(code, source.namespace):
        yield


@contextmanager
def errors_of_compiler(code: types.CodeType, namespace: dict[str, Any]) -> Iterator[None]:
    """What goes wrong inside is no error of the user's, as nothing of theirs runs here."""
    try:
        yield
    except (DifferentiationError, CompilerBug, RecursionError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, SyntaxError) and "too many" in str(error):
            found = f"the text generated for {code.co_qualname} has deeper blocks than Python allows"
            raise UnsupportedSyntaxError(found, place_of_code(code, namespace), "Split it into several functions.") from error
        place = f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"
        raise CompilerBug(f"{place} could not be compiled: {type(error).__name__}: {error}") from error


def emit_primal(function: types.FunctionType, pair: Pair, unit: Unit) -> tuple[Emitted, Source]:
    """The text of a primal, and what the adjoint is made from."""
    code = function.__code__
    forward = emit(pair.primal, name=f"{unit.name}_primal", stands_for=(code.co_filename, code.co_firstlineno))
    # What is saved has the same name on both sides.
    adjoint = replace(pair.adjoint, body=rename(pair.adjoint.body, forward.names))
    names_module = any(map(_names_module, itertools.chain(walk(adjoint.body), walk(pair.primal.body))))
    namespace = function.__globals__ if names_module else {}
    return forward, Source(pair.primal, adjoint, function.__name__, weakref.ref(code), namespace)


def _names_module(statement: Statement) -> bool:
    return isinstance(statement, Op) and statement.callee in (Opcode.GLOBAL, Opcode.CLOSURE)


@final
@dataclass(frozen=True, slots=True)
class Waiting:
    """What the texts of a unit are to be made of. The code is watched as in the cache; who may reach the unit has it."""

    code: weakref.ref[types.CodeType]
    module: dict[str, Any]
    name: str
    primal: Primal
    reverse: Reverse

    def origin(self) -> types.FunctionType:
        """The function of the user's, as far as its text depends on it."""
        code = self.code()
        assert code is not None
        cells = tuple(types.CellType() for _ in code.co_freevars)
        return types.FunctionType(code, self.module, self.name, None, cells)


def finish_later(unit: Unit, function: types.FunctionType, primal: Primal, reverse: Reverse) -> None:
    """Let a unit have its texts when somebody reaches it."""
    unit.waiting = Waiting(weakref.ref(function.__code__), function.__globals__, function.__name__, primal, reverse)
    unit.make_adjoint = _adjoint_of


@with_room
def finish(unit: Unit) -> None:
    """Give a unit its primal, and what its adjoint is made from when it is wanted, unless somebody has done so."""
    with lock:
        waiting: Waiting | None = unit.waiting
        if waiting is not None:
            function = waiting.origin()
            with resting(), builtins_in_place(), errors_of_compiler(function.__code__, function.__globals__):
                _generate(function, pair_of(waiting.primal, waiting.reverse), unit)
            unit.waiting = None


def finish_reached(unit: Unit) -> None:
    """Make the texts of a unit and of all those that it may call, for who wants to see them, or steps through them."""
    if not unit.is_complete:
        bind_awaited(unit.primal, unit.adjoint)
        unit.is_complete = True


def is_looked_at() -> bool:
    """Whether somebody looks on: a debugger, which steps from one text into the other, or who wants them as files."""
    return sys.gettrace() is not None or bool(os.environ.get(DUMP_VARIABLE))


def waiting_units(unit: Unit) -> int:
    """How many of the units that a unit may call nobody has reached."""
    return sum(each.waiting is not None for each in reached_units(unit))


def bind_awaited(*functions: Any) -> None:
    """Make all that generated functions may call. What is refused is so when it is called."""
    waiting, met = list(functions), set[int]()
    while waiting:
        namespace = waiting.pop().__globals__
        if id(namespace) not in met:
            met.add(id(namespace))
            for value in list(namespace.values()):
                with suppress(DifferentiationError):
                    called = value.bind() if isinstance(value, Awaited) else value
                    if isinstance(called, types.FunctionType) and GENERATED in called.__globals__:
                        waiting.append(called)


def _generate(function: types.FunctionType, pair: Pair, unit: Unit) -> None:
    forward, source = emit_primal(function, pair, unit)
    names = bindings_of(forward, source.name, function.__globals__)
    assert forward.tree is not None
    primal, shown = load_in_place_of(function, forward.tree, forward.text, names)
    unit.shows(shown)
    # The text of a function may call another unit's by its own name, so this comes after the definition.
    link(primal, names, Half(unit, is_adjoint=False))
    unit.primal_text, unit.source, unit.primal = (forward.text, forward.line_map), source, primal


@with_room
def _adjoint_of(unit: Unit) -> Adjoint:
    """The adjoint of a unit, made now unless somebody has made it meanwhile."""
    with lock:
        finish(unit)
        if unit.made is None:
            source: Source = unit.source
            with making(source):
                adjoint = write_in_place(source.adjoint)
                made, bindings = load_adjoint(unit, source, adjoint, f"{unit.name}_adjoint")
                link(made.run, bindings, Half(unit, is_adjoint=True))
                unit.made = made
            is_for_many = isinstance(unit.pattern, Apart)  # a pushforward, whose adjoint may be wanted in many directions
            if unit.tracks or not (is_for_many or any(isinstance(kind, Array) for kind in unit.kinds)):
                unit.source = None  # the seed 1 makes no difference
        return unit.made


def load_adjoint(unit: Unit, source: Source, adjoint: Function, name: str) -> tuple[Adjoint, dict[str, Any]]:
    """An adjoint of a unit as a function, and what its global names mean."""
    emitted = emit(adjoint, name=name, comments=True)
    bindings = bindings_of(emitted, source.name, source.namespace, emitted.line_map)
    namespace = load(emitted.text, name, bindings, emitted.line_map)
    unit.shows(namespace["__file__"])
    fresh = (False,) * len(unit.absent) if unit.tracks else fresh_results(adjoint)
    return Adjoint(namespace[name], fresh, emitted.text, emitted.line_map), bindings


def bindings_of(
    half: Emitted, name: str, namespace: dict[str, Any], lines: Mapping[int, Location] | None = None
) -> dict[str, Any]:
    """What the global names of a text mean that was generated for the function of this name in a module; `lines` are those of
    an adjoint that come from the user's."""
    bindings = {**half.bindings, GENERATED: Generated(name, lines)}
    return bindings | {"module_globals": namespace} if half.needs_globals else bindings


class Wanted(Protocol):
    """Stands for a generated function in the IR."""

    @property
    def function(self) -> Callable[..., Any] | None:
        """The function, if it was made."""

    def make(self) -> Callable[..., Any]:
        """Make it."""

    def kept(self) -> object:
        """What has to stay for that."""


def link(made: Any, bindings: Mapping[str, Any], itself: Half | None = None) -> None:
    """Bind the names by which a generated function calls others. The function may be the half of a unit itself."""
    namespace = made.__globals__
    for name, value in bindings.items():
        if getattr(type(value), "stands_for_unit", False):
            namespace[name] = made if value == itself else value.function or Awaited(value, namespace, name)


@final
class Awaited:
    """Is called in the place of a function that is made then. `__call__` is a property, so that the call is one of the function
    itself: there is no frame between it and its caller."""

    __slots__ = ("_kept", "_name", "_namespace", "_wanted")

    def __init__(self, wanted: Wanted, namespace: dict[str, Any], name: str) -> None:
        self._wanted, self._namespace, self._name, self._kept = wanted, namespace, name, wanted.kept()

    @property
    def __call__(self) -> Callable[..., Any]:
        return self.bind()

    def bind(self) -> Callable[..., Any]:
        """The function, which the name means from now on."""
        function = self._wanted.function or self._wanted.make()
        self._namespace[self._name] = function
        return function
