"""The stages of the compiler, one by one, as values that print; and the generated source as text."""

from __future__ import annotations

import importlib
import inspect
import types
import warnings
from collections.abc import Callable
from typing import Any, Literal, final

from microgradpy.ad.calls import Call
from microgradpy.ad.instrument import instrument_function
from microgradpy.ad.primal import Primal
from microgradpy.argnums import Argnums, numbered
from microgradpy.cache import Unit, followed_by, reached_units
from microgradpy.compiler import Session, compile_outermost, compile_tracked, why_tracked
from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.errors import CompilerBug, SourceNotFoundError
from microgradpy.frontend.lower import lower_function
from microgradpy.frontend.source import captured_values, place_of
from microgradpy.gradient_functions import held_by
from microgradpy.ir.input_kinds import kinds_of
from microgradpy.ir.kinds import UNKNOWN, Kind
from microgradpy.ir.locations import BlockLocation, IRStatement, Locations
from microgradpy.ir.nodes import Function
from microgradpy.ir.printer import print_blocks
from microgradpy.ir.reasons import TRACKED, MayWrite, Reason, advice, commented, in_order
from microgradpy.linking import unit_name
from microgradpy.originals import is_library
from microgradpy.passes.fresh_arrays import write_in_place
from microgradpy.patterns import matched, renewed, unit_by_pattern, why_not_in_sight
from microgradpy.pipeline import Program, pair_of, primal_of, reverse_of
from microgradpy.rules.nested import unit_of_held
from microgradpy.rules.registry import rrule
from microgradpy.runtime.dispatch import may_be_active, value_kind
from microgradpy.runtime.markers import PARTS_OF, checkpointed_by
from microgradpy.runtime.modes import RUN, Mode
from microgradpy.state.reachable_writes import may_write


@final
class Source(str):
    """A text of Python, which a notebook shows in colours."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        found: str = _highlight().shown_in_notebook(_highlight().python_pieces(self))
        return found

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def _highlight() -> Any:
    return importlib.import_module("microgradpy.explaining.highlight")


@final
@dataclass(frozen=True, slots=True)
class IR:
    """The IR of a function at one stage of the compiler: "lowered", "instrumented", "primal", "adjoint" or "pushforward".
    Prints as basic blocks in SSA form (the grammar is in docs/ir.md); `function` is the structured form. `calls` are the
    calls that the primal recorded, in program order."""

    stage: str
    function: Function
    source: types.FunctionType = field(repr=False)
    calls: tuple[Call, ...] = field(default=(), repr=False)
    locations: Locations | None = field(default=None, init=False, repr=False, compare=False)

    def __str__(self) -> str:
        return print_blocks(self.function)

    def __getitem__(self, location: BlockLocation) -> IRStatement:
        """The statement at a place in the basic blocks, such as `BlockLocation(1, variable=4)`, printed `§1:%4`."""
        if self.locations is None:
            object.__setattr__(self, "locations", Locations(self.function))
        assert self.locations is not None
        return self.locations.statements[location]

    @property
    def name(self) -> str:
        """The name of the function at this stage."""
        return self.function.name

    def _repr_html_(self) -> str:
        found: str = _highlight().shown_in_notebook(map(_highlight().ir_pieces, str(self).splitlines()))
        return found

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.stage, self.source)  # it holds modules, and is made again from the text


def _again(stage: str, source: types.FunctionType) -> IR:
    """The IR of a function at a stage."""
    ir = code_ir(source)
    match stage:
        case "instrumented":
            return instrument(ir)
        case "primal":
            return primal(ir)
        case "adjoint":
            return reverse_differentiate(ir)
        case "pushforward":
            pushed: IR = importlib.import_module("microgradpy.forward_introspect").forward_differentiate(ir)
            return pushed
    return ir


def plain_function(f: Any) -> types.FunctionType:
    """The Python function behind a callable: of a bound method or callable object, the function of its class."""
    match f:
        case types.FunctionType():
            inner = checkpointed_by(f)
            return f if inner is None else plain_function(inner)
        case types.MethodType():
            return plain_function(f.__func__)
    call = getattr(type(f), "__call__", None)  # noqa: B004 - the function itself is wanted
    if isinstance(call, types.FunctionType):
        return call
    raise SourceNotFoundError(
        f"{getattr(f, '__name__', f)!r} has no Python source", None, "Only functions written in Python have an IR."
    )


def looked_at(f: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """What is to be shown of a callable: of a pullback or pushforward, the function that it is of, for its arguments.
    TypeError for what `grad` and the like have made of a function, without arguments."""
    f = getattr(f, "pullback", f) if isinstance(f, types.FunctionType) else f
    if PARTS_OF.get(type(f)) == ("_args", "_f"):
        return f._f, f._args
    made = held_by(f)
    if made is not None and not args:
        name = getattr(made[1], "__name__", type(made[1]).__name__)
        raise TypeError(
            f"{made[0]}({name}) has a text for the kinds of its arguments only: give some, as"
            f" code_adjoint({made[0]}({name}), x); code_adjoint({name}) is the adjoint of {name} itself"
        )
    return f, args


def code_ir(f: Callable[..., Any]) -> IR:
    """The SSA IR of `f`, before anything is done to it. `%1` is `f` itself."""
    function = plain_function(looked_at(f, (None,))[0])
    return IR("lowered", lower_function(function).function, function)


def instrument(ir: IR) -> IR:
    """Operators, attribute and item access as calls, which rules can catch."""
    if ir.stage != "lowered":
        return ir
    return replace(ir, stage="instrumented", function=instrument_function(ir.function))


def primal(ir: IR) -> IR:
    """The forward pass, every parameter of unknown kind and differentiated; `.calls` are the recorded calls."""
    if ir.stage in ("primal", "adjoint"):
        return ir
    ready = instrument(ir)
    found, _ = _transform(ready)
    return replace(ready, stage="primal", function=found.function, calls=tuple(found.calls.values()))


def reverse_differentiate(ir: IR) -> IR:
    """The adjoint: a function of what the primal saved and of the cotangent of its result."""
    if ir.stage == "adjoint":
        return ir
    ready = IR("instrumented", instrument_function(lower_function(ir.source).function), ir.source)
    found, session = _transform(ready)
    pair = pair_of(*reverse_of(ready.function, found, session.own.active, session))
    return replace(ready, stage="adjoint", function=write_in_place(pair.adjoint), calls=tuple(found.calls.values()))


def _transform(ir: IR) -> tuple[Primal, Session]:
    count = len(ir.function.captured) + len(ir.function.parameters)
    for tracks in (False, True):
        unit = Unit(unit_name(ir.source), (True,) * count, UNKNOWN, tracks=tracks)
        session = Session(ir.source, unit)
        found = primal_of(Program(ir.function), (UNKNOWN,) * count, unit.active, session)
        if isinstance(found, Primal):
            return found, session
    raise CompilerBug(f"{ir.source.__qualname__} cannot be tracked")


def code_primal(f: Callable[..., Any], *args: Any, argnums: Argnums | None = None) -> Source:
    """The source text of the generated primal of `f`: it returns `f`'s result and what the adjoint needs. Specialised to
    the kinds of the example `args` where given, parameters after those being at their defaults; `argnums` are the
    differentiated ones (all that are given unless said otherwise)."""
    return _text(f, args, argnums, is_adjoint=False)


def code_adjoint(
    f: Callable[..., Any],
    *args: Any,
    argnums: Argnums | None = None,
    target: Literal["source", "numba"] = "source",
) -> Source:
    """The source text of the generated adjoint of `f`: from what the primal saved and the cotangent of the result to the
    cotangents of the differentiated inputs, in order. Arguments as for `code_primal`. Of a pullback it is what runs when
    that is called: `code_adjoint(back)`, or `back.source`.

    With `target="numba"`, which needs all example arguments, the text of which `grad(f, target="numba")` makes native code:
    from the inputs to whether all went as in Python, the value, and the cotangents that are not zero. It need not be installed.
    If `f` has no native form, a `PerformanceWarning` says why, and the text is that of the other target."""
    if target == "numba":
        found = _native_text(f, args, argnums)
        if found is not None:
            return Source(found)
    elif target != "source":
        raise ValueError(f'target={target!r}: "source" or "numba"')
    return _text(f, args, argnums, is_adjoint=True)


def _native_text(f: Any, args: tuple[Any, ...], argnums: Argnums | None) -> str | None:
    """The text for native code; None, with a warning, if there is none."""
    native = importlib.import_module("microgradpy.native.code")
    function, kinds, active = signature_of(f, args, argnums)
    defaults = _defaults(function)
    rest = [defaults[name] for name in _input_names(function)[len(args) :] if name in defaults]
    values = [*captured_values(function), *args, *rest]
    try:
        if not isinstance(f, types.FunctionType) or len(values) != len(kinds):
            raise native.Unsupported("other functions than plain ones, with all arguments given")
        text: str = native.native_text(native.unit_for(function, kinds, active), values)
    except native.Unsupported as found:
        warnings.warn(native.warning_of(function, found), stacklevel=3)
        return None
    return text


def _text(f: Any, args: tuple[Any, ...], argnums: Argnums | None, is_adjoint: bool) -> Source:
    f, args = looked_at(f, args)
    unit, reasons = unit_of(f, args, argnums)
    assert unit.texts is not None
    return Source(commented(unit.texts[is_adjoint], reasons, plain_function(f).__name__))


def reasons_of(f: Any, args: tuple[Any, ...], argnums: Argnums | None = None) -> tuple[str, ...]:
    """One sentence for each line because of which a call with these arguments costs more than it might: what is written is
    tracked, or a call is left to run time, also in functions that are compiled together with `f`."""
    function = plain_function(f)
    if rrule.has(function) or is_library(function.__module__ or ""):
        return ()  # it is not differentiated through its text, or nobody is going to write it otherwise
    unit, reasons = unit_of(f, args, argnums)
    if not unit.tracks:
        called = (reason for each in reached_units(unit) if each is not unit for reason in each.reasons)
        reasons = in_order((*reasons, *called))
    return tuple(advice(reason, function.__name__) for reason in reasons)


def unit_of(f: Any, args: tuple[Any, ...], argnums: Argnums | None) -> tuple[Unit, tuple[Reason, ...]]:
    """What a call with these arguments runs, and why it costs more than it might; signature as for `signature_of`. Of what
    `grad` has made it is the pushforward of the function, whose adjoint is that of the gradient, for a tangent in the place of
    the seed."""
    if args and (held_by(f) or ("",))[0] == "grad":
        return unit_of_held(f, args), ()
    function, kinds, active = signature_of(f, args, argnums)
    of_parts, values = unit_of_parts(function, f, args, kinds, active)
    if of_parts is not None:
        return of_parts, in_order(of_parts.reasons)
    unit = compile_outermost(function, kinds, active)
    if isinstance(unit, MayWrite):
        reasons = why_tracked(function, kinds, active).reasons
        return compile_tracked(function, kinds, active, is_root=True), in_order(reasons)
    if len(values) == len(kinds) and unit.runs_unseen and may_write(function, values, followed_by(unit)):
        reasons = (_reason_of_unknown(function, unit), *why_not_in_sight(function, values))
        return compile_tracked(function, kinds, active, is_root=True), in_order(reasons)
    whole = why_not_in_sight(function, values) if unit.reasons and len(values) == len(kinds) else ()
    return unit, in_order((*whole, *unit.reasons))


def unit_of_parts(
    function: types.FunctionType,
    f: Any,
    args: tuple[Any, ...],
    kinds: tuple[Kind, ...],
    active: tuple[bool, ...],
    compiled: Callable[..., Any] | None = None,
) -> tuple[Unit | None, list[Any]]:
    """The unit by parts of the arguments, if they are in sight; with the inputs of the function."""
    owner = () if isinstance(f, types.FunctionType) or not args else (f.__self__ if isinstance(f, types.MethodType) else f,)
    values = [*captured_values(function), *owner, *args]
    read = matched(function, values) if len(values) == len(kinds) and RUN.mode == Mode() else None
    read = None if read is None else renewed(function, read, values)
    if read is None:
        return None, values
    return unit_by_pattern(function, read, values, active, compiled=compiled), values


def _reason_of_unknown(function: types.FunctionType, unit: Unit) -> Reason:
    """Why a function is tracked that writes nothing itself."""
    why = "what it calls is known at run time only, and code that may be reached then writes"
    unknown = in_order(reason for each in reached_units(unit) for reason in each.reasons)
    if not unknown:
        return Reason(TRACKED, place_of(function), function.__name__, why)
    return replace(unknown[0], effect=TRACKED, why=why, remedy="")


def signature_of(
    f: Any, args: tuple[Any, ...], argnums: Argnums | None
) -> tuple[types.FunctionType, tuple[Kind, ...], tuple[bool, ...]]:
    """The function behind a callable, the kinds of its inputs, and which of them are differentiated."""
    function = plain_function(f)
    captured = captured_values(function)
    has_owner = not isinstance(f, types.FunctionType)
    if has_owner:
        owner = f.__self__ if isinstance(f, types.MethodType) else f
        args = (owner, *args) if args else args
    names = _input_names(function)
    given = args[: len(names)]
    # With example arguments, the other parameters are at their defaults: constants, or fields of a nested function.
    is_nested = bool(function.__code__.co_flags & inspect.CO_NESTED)
    defaults = _defaults(function) if given else {}
    rest = [defaults.get(name, _MISSING) for name in names[len(given) :]]
    known = kinds_of((*captured, *given, *(value for value in rest if value is not _MISSING)), value_kind)
    of_defaults = iter(known[len(captured) + len(given) :])
    kinds = (*known[: len(captured) + len(given)], *(UNKNOWN if value is _MISSING else next(of_defaults) for value in rest))
    if argnums is None:
        active = (True,) * (len(captured) + len(given)) + tuple(
            value is _MISSING or (is_nested and may_be_active(value)) for value in rest
        )
    else:
        shift, numbers = len(captured) + has_owner, numbered(f, argnums)
        chosen = {number + shift for number in (numbers if isinstance(numbers, tuple) else (numbers,))}
        active = tuple(index in chosen for index in range(len(kinds)))
    return function, kinds, active


_MISSING = object()


def _input_names(function: types.FunctionType) -> list[str]:
    """The names of the parameters, in the order of a unit's inputs."""
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    collected = list(code.co_varnames[count:])
    names = list(code.co_varnames[: code.co_argcount])
    if code.co_flags & inspect.CO_VARARGS:
        names.append(collected.pop(0))
    names += code.co_varnames[code.co_argcount : count]
    return names + collected[:1] if code.co_flags & inspect.CO_VARKEYWORDS else names


def _defaults(function: types.FunctionType) -> dict[str, Any]:
    positional = function.__code__.co_varnames[: function.__code__.co_argcount]
    values = dict(zip(reversed(positional), reversed(function.__defaults__ or ()), strict=False))
    return values | (function.__kwdefaults__ or {})
