"""Runs that may write: the pullback of such a call makes shadows, runs the adjoint, and reads the gradients out of them.

The structure of the arguments and of the value is noted when the call begins and ends, so that it does not matter what the
function, or its caller afterwards, makes of them. Nothing of the user's is changed by a pullback.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Sequence
from functools import partial
from typing import Any, final

import numpy as np

from microgradpy.binding import Binding, active_inputs, bars_of, bind, input_names
from microgradpy.boundary import place_of_call
from microgradpy.cache import Unit, is_valid
from microgradpy.compiler import compile_tracked
from microgradpy.dataclasses import dataclass
from microgradpy.errors import MutationError, UnsupportedSyntaxError
from microgradpy.frontend.codes import has_handlers, takes_exceptions
from microgradpy.frontend.sharing import CHANGES, known_cells, rebound_globals
from microgradpy.frontend.source import captured_values, place_of
from microgradpy.ir.input_kinds import kind_without_items, kinds_of
from microgradpy.ir.kinds import Unknown, unknown_from
from microgradpy.runtime.bars import Resolved
from microgradpy.runtime.cotangents import seed_or_zero
from microgradpy.runtime.dispatch import Back, Bars, Wanted, may_be_active, value_kind
from microgradpy.runtime.failures import Failure, raise_failure
from microgradpy.runtime.frames import is_own
from microgradpy.runtime.lookup_cache import NUMBERS
from microgradpy.runtime.modes import KEEPING, RUN, changed_mode
from microgradpy.runtime.opaque import check_assumed
from microgradpy.runtime.suspension import is_generator
from microgradpy.runtime.writes import REMEDY
from microgradpy.state import dispatch, known_access
from microgradpy.state.apart import Apart, told_apart
from microgradpy.state.coroutines import check_finished, generator, run_of
from microgradpy.state.detached import check_copies
from microgradpy.state.exceptions import check_made
from microgradpy.state.known_access import is_ordinary
from microgradpy.state.overlaps import Input, meet_undifferentiated
from microgradpy.state.persistent import is_kept_in_default, reads_state
from microgradpy.state.reachable_writes import any_may_write
from microgradpy.state.shadows import CONTENTS, Shadows
from microgradpy.state.snapshots import Structure, filled, gradient, structure_of
from microgradpy.state.undo_log import Step, current, writing
from microgradpy.state.whole import Whole, apart_now, features_now, inside_run, lose, whole_run
from microgradpy.state.write_handlers import Made
from microgradpy.tangents.types import Projected
from microgradpy.zeros_compiler import adjoint_keeping_zeros


def tracked_unit(
    function: types.FunctionType,
    bound: Binding,
    wanted: Wanted,
    keywords_wanted: bool,
    *,
    is_root: bool,
    catches: bool = False,
    of_all: bool = False,
) -> Unit:
    """The unit for a call, with writes tracked."""
    kinds = kinds_of(bound.values, _kind_of_input)
    active = tuple(map(may_be_active, bound.values)) if of_all else active_inputs(bound, wanted, keywords_wanted)
    # Something active may come out of an argument that holds none itself: a function that reads a module variable.
    readers = [
        (not flag or isinstance(value, tuple)) and (reads_state(value) or is_kept_in_default(function, value))
        for flag, value in zip(active, bound.values, strict=True)
    ]
    if any(readers):
        kinds = tuple(unknown_from((kind,)) if reads else kind for kind, reads in zip(kinds, readers, strict=True))
        active = tuple(flag or reads for flag, reads in zip(active, readers, strict=True))
    return compile_tracked(function, kinds, active, is_root=is_root, catches=catches)


def _kind_of_input(value: Any) -> Any:
    return kind_without_items(value, value_kind)


def differentiate_inner(
    function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
) -> Resolved:
    """A call inside of a run that tracks. If a caller goes on after an exception, what was done by then is noted."""
    bound = read_inputs(apart_now(), function, bind(function, args, kwargs), len(args), kwargs)
    undo_log, suspends = current(), is_generator(function.__code__)
    # What a generator raises, or what is thrown to it, may arrive later where it is caught.
    catches = undo_log is not None or (suspends and (takes_exceptions(function.__code__) or _are_there_handlers()))
    unit = tracked_unit(function, bound, wanted, keywords_wanted, is_root=False, catches=catches)
    RUN.texts |= unit.guards.makes_text
    if suspends:
        return _generator(function, bound, _Suspendable(function, unit, bound.values, catches), len(args))
    if undo_log is None:
        y, saved = _run_inner(function, unit, bound.values)
    else:
        assert unit.primal is not None
        with writing(None):
            y, saved = unit.primal(*bound.values)

    def back(y_bar: Any, shadows: Shadows) -> Bars:
        return _arguments(function, bound, len(args), _bars(function, unit, saved, y, y_bar, shadows), shadows)

    if undo_log is not None and type(y) is Failure:
        undo_log.append(Step(function, args, kwargs, back))
        raise_failure(y)
    return y, back


def _run_inner(function: types.FunctionType, unit: Unit, values: Sequence[Any]) -> tuple[Any, Any]:
    """The value of a call inside of a run, and what its adjoint needs."""
    assert unit.primal is not None
    try:
        found: tuple[Any, Any] = unit.primal(*values)
    except BaseException as error:
        if unit.writes and any_may_write([function, *values]):
            lose(function.__qualname__, error)
        raise
    return found


def run_by_known_unit(function: types.FunctionType, args: tuple[Any, ...]) -> Made | None:
    """A call inside of a run, where nobody goes on after an exception, by the unit that was found for arguments of these types;
    None where the types do not tell, or the arguments are not the inputs one for one."""
    whole = whole_run()
    if whole is None or sys.gettrace() is not None:
        return None
    unit = _unit_of_call(whole, function, args)
    if unit is not None:
        RUN.texts |= unit.guards.makes_text
        y, saved = _run_inner(function, unit, args)

        def back_of_all(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
            run = unit.adjoint
            if KEEPING.blocks or run is None:
                return None, *_bars(function, unit, saved, y, y_bar, shadows)
            seed = _seed(unit, y, y_bar, shadows)
            bars = run(saved, seed, shadows) if unit.tracks else run(saved, seed)
            return (None, *bars) if unit.gives_all else (None, *unit.divided(bars))

        return y, back_of_all
    return _run_by_signature(whole, function, args)


def _unit_of_call(whole: Whole, function: types.FunctionType, args: tuple[Any, ...]) -> Unit | None:
    """The unit that was found for a call of numbers, texts and objects: of a function that captured nothing, with all of its
    parameters given. What units depend on is noted with these."""
    known = whole.calls.get((id(function.__code__), id(function.__globals__), *map(type, args)))
    if known is None or known[1] is not RUN.mode or known[2] != CHANGES[0] or not is_valid(known[0]):
        return None
    for place, features in known[3]:
        now = features_now(whole, args[place])
        if now is not features and now != features:
            return None
    unit: Unit = known[0]
    return unit


def _note_call(whole: Whole, function: types.FunctionType, args: tuple[Any, ...], unit: Unit) -> None:
    objects = [place for place, x in enumerate(args) if type(x) not in _TOLD_BY_TYPE]
    if function.__code__.co_freevars or not all(is_ordinary(type(args[place])) for place in objects):
        return
    features = tuple((place, features_now(whole, args[place])) for place in objects)
    key = (id(function.__code__), id(function.__globals__), *map(type, args))
    whole.calls[key] = unit, RUN.mode, CHANGES[0], features, function


def _run_by_signature(whole: Whole, function: types.FunctionType, args: tuple[Any, ...]) -> Made | None:
    inputs = _with_defaults(function, args)
    key = None if inputs is None else _signature(whole, function, args, inputs)
    if inputs is None or key is None:
        return None
    known = whole.units.get(key)
    if known is None or not is_valid(known[1]):
        bound = bind(function, args, {})
        known = whole.units[key] = function.__code__, tracked_unit(function, bound, None, False, is_root=False)
    unit: Unit = known[1]
    if inputs is args:
        _note_call(whole, function, args, unit)
    RUN.texts |= unit.guards.makes_text
    y, saved = _run_inner(function, unit, inputs)
    captured = len(function.__code__.co_freevars)

    def back(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        found = _bars(function, unit, saved, y, y_bar, shadows)
        if all(bar is None for bar in found[:captured]):
            return (None, *found[captured : captured + len(args)])
        bars = bars_of(function, bind(function, args, {}), len(args), found)
        return (bars.function, *bars.arguments)

    return y, back


_UNUSUAL = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR | inspect.CO_COROUTINE
_UNUSUAL |= inspect.CO_ASYNC_GENERATOR
_TOLD_BY_TYPE = NUMBERS | {str}
_MOST_ITEMS = 512


def _with_defaults(function: types.FunctionType, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The inputs of a call, if they are what the function captured, its arguments, and numbers and texts that are defaults."""
    code, defaults = function.__code__, function.__defaults__ or ()
    if code.co_kwonlyargcount or code.co_flags & _UNUSUAL:
        return None
    missing = code.co_argcount - len(args)
    if not missing:
        return args if not code.co_freevars else (*captured_values(function), *args)
    if not 0 < missing <= len(defaults) or code.co_flags & inspect.CO_NESTED:
        return None
    taken = defaults[-missing:]
    return args + taken if _TOLD_BY_TYPE.issuperset(map(type, taken)) else None


def _signature(
    whole: Whole, function: types.FunctionType, args: tuple[Any, ...], inputs: tuple[Any, ...]
) -> tuple[Any, ...] | None:
    """What the unit of a call depends on, within one run; None if it depends on more than is looked at here."""
    code, variables = function.__code__, function.__globals__
    key: list[Any] = [id(code), id(variables), len(args), RUN.mode, known_cells(code), rebound_globals(variables)]
    for x in inputs:
        cls = type(x)
        if cls in _TOLD_BY_TYPE:
            key.append(cls)
            continue
        part = _part_of_signature(whole, function, cls, x)
        if part is None:
            return None
        key += (cls, part or ())
    return tuple(key)


def _part_of_signature(whole: Whole, function: types.FunctionType, cls: type, x: Any) -> Any:
    """The same for one input; a default that is kept from call to call counts as another kind of input."""
    if is_ordinary(cls):
        return features_now(whole, x)
    if cls is types.CellType:  # something may be stored in it at any time
        return ()
    if cls is types.FunctionType and x.__closure__ is not None:
        return features_now(whole, x)
    if function.__defaults__ is not None:
        return None
    if cls is np.ndarray:
        return (x.dtype.char, x.shape) if x.base is None else None
    if (cls is list or cls is dict) and len(x) <= _MOST_ITEMS:
        classes = frozenset(map(type, x if cls is list else x.values()))
        if classes <= _TOLD_BY_TYPE:
            return classes
        if all(each is float or is_ordinary(each) for each in classes):
            return classes, features_now(whole, x)
    return None


def _are_there_handlers() -> bool:
    """Whether a function that runs now, as a part of the run, has a `try` or a `with`."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not differentiate_tracked.__code__:
        if not is_own(frame) and has_handlers(frame.f_code):
            return True
        frame = frame.f_back
    return False


def _arguments(function: types.FunctionType, bound: Binding, count: int, inputs: list[Any], shadows: Shadows) -> Bars:
    if bound.keywords is not None:
        # The dict of further keywords was made for this call.
        taken = shadows.take(bound.values[bound.keywords])
        inputs[bound.keywords] = None if taken is None else taken.fields
    return bars_of(function, bound, count, inputs)


@final
@dataclass(frozen=True, slots=True)
class _Suspendable:
    """A unit of a generator function, with the inputs of one call."""

    function: types.FunctionType
    unit: Unit
    values: list[Any]
    catches: bool

    def start(self) -> Any:
        assert self.unit.primal is not None
        return self.unit.primal(*self.values)

    def rewind(self, saved: Any, value: Any, value_bar: Any, shadows: Shadows) -> Any:
        run = self.unit.adjoint if RUN.zeros is None else adjoint_keeping_zeros(self.function, self.unit, RUN.zeros).function
        assert run is not None
        return run(saved, _seed(self.unit, value, value_bar, shadows), shadows)


def _generator(function: types.FunctionType, bound: Binding, suspendable: _Suspendable, count: int) -> Resolved:
    """A call of a generator function makes a generator; undone, that has been run backwards to its start."""
    made = generator(suspendable, function.__name__, function.__qualname__)
    run, whole = run_of(made), whole_run()
    assert run is not None
    if whole is not None and has_handlers(function.__code__):
        whole.generators.append((run, place_of_call()))

    def back(y_bar: Any, shadows: Shadows) -> Bars:
        found = shadows.of(run).undo_making()
        inputs = [None] * len(bound.values) if found is None else suspendable.unit.divided(found)
        return _arguments(function, bound, count, inputs, shadows)

    return made, back


def _bars(function: types.FunctionType, unit: Unit, saved: Any, y: Any, y_bar: Any, shadows: Shadows) -> list[Any]:
    """Run an adjoint: the cotangent of each input as far as it travels by value."""
    run = unit.adjoint if RUN.zeros is None else adjoint_keeping_zeros(function, unit, RUN.zeros).function
    assert run is not None
    return unit.divided(run(saved, _seed(unit, y, y_bar, shadows), *((shadows,) if unit.tracks else ())))


def _seed(unit: Unit, y: Any, y_bar: Any, shadows: Shadows) -> Any:
    """The cotangent of a function's value as its adjoint takes it."""
    if type(y_bar) is float and type(y) is float:
        return y_bar
    return seed_or_zero(shadows.born(y, y_bar), y) if unit.takes_value else shadows.settle(y, y_bar)


def root_unit(
    function: types.FunctionType, bound: Binding, wanted: Wanted, keywords_wanted: bool, *, of_all: bool = False
) -> Unit:
    """The unit of the function that a run begins with; `of_all`: each input may have something active stored into it."""
    if is_generator(function.__code__):
        raise UnsupportedSyntaxError(
            "A generator function cannot be differentiated by itself",
            place_of(function),
            "Differentiate a function that uses the generator up, or return a list instead of yielding its items.",
        )
    return tracked_unit(function, bound, wanted, keywords_wanted, is_root=True, of_all=of_all)


def differentiate_tracked(
    function: types.FunctionType, bound: Binding, count: int, known: Unit | None, wanted: Wanted, keywords_wanted: bool
) -> tuple[Any, Back]:
    """A whole run that tracks what is written, with `count` positional arguments; by the unit that is `known` for it, unless
    places are told apart."""
    structures = tuple(map(structure_of, bound.values))
    differentiated = active_inputs(bound, wanted, keywords_wanted)
    own = _own_inputs(function, bound)
    given = _inputs(function, bound, structures, differentiated, wanted, own)
    apart = told_apart(function, given)
    if apart is not None:
        bound = bound._replace(values=apart.values(bound.values, bound.variadic, bound.keywords))
        structures = tuple(map(structure_of, bound.values))
        with changed_mode(dispatches=True, tells_apart=True):
            unit = root_unit(function, bound, wanted, keywords_wanted, of_all=True)
            y, saved, whole, made = _run(unit, bound.values, apart)
        result = apart.value(y)
    else:
        meets = meet_undifferentiated(given)
        unit = (None if meets else known) or root_unit(function, bound, wanted, keywords_wanted, of_all=meets)
        y, saved, whole, made = _run(unit, bound.values, None)
        result = y

    def back(y_bar: Any, outer: Any = None) -> Bars:
        if whole.lost:
            raise MutationError(whole.lost, None, REMEDY)
        shadows = Shadows() if apart is None else Shadows(apart.swapped)
        if unit.takes_value and not isinstance(y, tuple):
            seed = y_bar
        else:
            seed = made.settle(shadows, y_bar)
        with np.errstate(invalid="ignore"):  # a zero times an infinity, where the value was not chosen
            inputs = _bars(function, unit, saved, y, seed, shadows)
        shadows.check_taken()
        if apart is not None:
            apart.check_used(shadows)
        now = structures if apart is None else tuple(map(apart.structure, structures))
        met = set[int]()
        read = _read(now, inputs, unit, differentiated, shadows, own, met)
        check_made(shadows, met, whole)
        return bars_of(function, bound, count, projected(bound, structures, read))

    return result, back


def _inputs(
    function: types.FunctionType,
    bound: Binding,
    structures: Sequence[Structure],
    differentiated: Sequence[bool],
    wanted: Wanted,
    own: int,
) -> list[Input]:
    """The arguments of a call, and what its function captured, one by one. The first `own` inputs are the function's."""
    cells = (*(function.__closure__ or ()), *(None,) * len(structures))
    found: list[Input] = []
    names = input_names(function)
    for number, (name, structure, flag, cell) in enumerate(zip(names, structures, differentiated, cells, strict=False)):
        if number == bound.variadic:
            flags = (flag,) * len(structure.x) if wanted is None else wanted[bound.positions :]
            given = zip(structure.x, flags, strict=False)
            found += [Input(f"{name}[{k}]", structure_of(x), False, each) for k, (x, each) in enumerate(given)]
        elif number == bound.keywords:
            found += [Input(key, structure_of(x), False, flag) for key, x in structure.x.items()]
        else:
            found.append(Input(name, structure, number < own, flag, cell))
    return found


def read_inputs(
    apart: Apart | None, function: types.FunctionType, bound: Binding, count: int, kwargs: dict[str, Any]
) -> Binding:
    """The inputs of a call inside of a run that tells places apart: captured variables and defaults are read at theirs."""
    if apart is None:
        return bound
    code, values = function.__code__, list(bound.values)
    for number, cell in enumerate(function.__closure__ or ()):
        values[number] = apart.read((cell,), CONTENTS, values[number])
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    defaults, named = function.__defaults__ or (), function.__kwdefaults__ or {}
    first = code.co_argcount - len(defaults)
    for position in range(max(first, count), code.co_argcount):
        if names[position] not in kwargs:
            number = bound.captured + position
            values[number] = apart.read((defaults,), position - first, values[number])
    for position in range(code.co_argcount, len(names)):
        if names[position] not in kwargs:
            number = bound.captured + position + (bound.variadic is not None)
            values[number] = apart.read((named,), names[position], values[number])
    return bound._replace(values=values)


def _run(unit: Unit, values: list[Any], apart: Apart | None) -> tuple[Any, Any, Whole, Structure]:
    """The value of a run, what its adjoint needs, what was noted in it, and what the value is made of."""
    assert unit.primal is not None
    assumed, RUN.assumed = RUN.assumed, (unit.guards, RUN.assumed)
    RUN.texts = unit.guards.makes_text
    with inside_run(apart) as whole:
        given = (kind.features.operators for kind in unit.kinds if isinstance(kind, Unknown))
        whole.has_operators = unit.meets_writers or any(given)
        try:
            y, saved = unit.primal(*values)
            check_assumed()
            check_finished(whole)
            whole.lost = whole.lost or check_copies(whole.copies)
            made = structure_of(y)
        finally:
            RUN.assumed = assumed
            if apart is not None:
                apart.restore()
    return y, saved, whole, made


def _own_inputs(function: types.FunctionType, bound: Binding) -> int:
    """How many of the inputs are of the function that is differentiated: what it captured, and the object that it is, or that
    it is a method of."""
    f = RUN.callee
    while isinstance(f, functools.partial):
        f = f.func
    if f is function or len(bound.values) == bound.captured or not bound.positions:
        return bound.captured
    return bound.captured + (bound.values[bound.captured] is getattr(f, "__self__", f))


def _read(
    structures: Sequence[Structure],
    inputs: list[Any],
    unit: Unit,
    differentiated: Sequence[bool],
    shadows: Shadows,
    own: int,
    met: set[int],
) -> list[Any]:
    """The cotangents of the inputs that are differentiated. What stands at two places has it at the first, of which those in
    arguments come before those in the function itself, of which there are `own`; `met` gets the identities of all."""
    absent = iter(unit.absent)
    present = [flag and not next(absent) for flag in unit.active]
    read: list[Any] = [None] * len(inputs)
    for number in (*range(own, len(inputs)), *range(own)):
        if present[number] and differentiated[number]:
            read[number] = structures[number].read(shadows, inputs[number], met)
    return read


def projected(bound: Binding, structures: tuple[Structure, ...], read: list[Any]) -> list[Any]:
    """The gradients in the structure that the arguments had when the call began."""
    found: list[Any] = []
    for number, (structure, bar) in enumerate(zip(structures, read, strict=True)):
        if number == bound.variadic and bar is not None:
            found.append(tuple(_final(part, bar[index]) for index, part in structure.parts))
        elif number < bound.captured or number in (bound.variadic, bound.keywords):
            found.append(None if bar is None else _final(structure, bar))
        else:
            found.append(_final(structure, bar))
    return found


def _final(structure: Structure, bar: Any) -> Projected:
    found = gradient(structure, bar)
    return Projected(found, partial(filled, structure, found))


dispatch.install(differentiate_inner)
known_access.install(run_by_known_unit)
