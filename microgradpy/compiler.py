"""The whole road, from a Python function to a pair of callables, and the cache of what was compiled.

    text -> frontend.lower -> ad.instrument -> ad.primal -> ad.reverse -> passes -> ad.saved_values -> codegen -> load

A unit is one function compiled for the kinds of its inputs and the choice of which are differentiated. Units call each
other's halves directly; what is known only at run time goes through `runtime.dispatch`.
"""

from __future__ import annotations

import inspect
import os
import threading
import types
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np

from microgradpy.ad import primal as primal_pass
from microgradpy.ad import reverse as reverse_pass
from microgradpy.ad.calls import Unit as CallUnit
from microgradpy.ad.instrument import instrument_function
from microgradpy.ad.primal import Primal
from microgradpy.ad.reverse import Reverse
from microgradpy.ad.saved_values import Pair, save
from microgradpy.ad.unassigned import bind_unassigned
from microgradpy.codegen.emit import Emitted, emit
from microgradpy.codegen.loading import load, unload
from microgradpy.errors import CompilerBug, DifferentiationError
from microgradpy.frontend.lower import lower_function
from microgradpy.frontend.resolve import Guard, builtins_of
from microgradpy.ir.kinds import FLOAT, UNKNOWN, Kind, carries_nothing, kinds_of, shapeless
from microgradpy.ir.nodes import Const, Function, Location
from microgradpy.ir.rewrite import rename
from microgradpy.ir.verifier import verify
from microgradpy.passes.dead_code import eliminate_dead_code, eliminate_dead_statements
from microgradpy.rules.registry import rrule
from microgradpy.runtime import dispatch
from microgradpy.runtime.cotangents import or_zero
from microgradpy.runtime.dispatch import Back, Bars, Wanted, may_be_active, pullback_of, pullback_of_packed, value_kind
from microgradpy.tangents.types import Tangent, accumulate, is_structural_zero

CACHE_SIZE = 1024
_lock = threading.RLock()


@final
@dataclass(eq=False)
class Unit:
    """A compiled function. While it is being compiled its result is assumed, so that it can call itself."""

    name: str
    active: tuple[bool, ...]
    result_kind: Kind
    result_active: bool = True
    absent: tuple[bool, ...] = ()
    primal: Callable[..., Any] | None = None
    adjoint: Callable[..., Any] | None = None
    texts: tuple[Emitted, Emitted] | None = None
    checks: tuple[Check, ...] = ()
    kind_guards: tuple[KindGuard, ...] = ()
    callees: list[Unit] = field(default_factory=list)
    files: tuple[str, ...] = ()
    in_progress: bool = True
    was_assumed: bool = False
    version: int = 0


Check = tuple[Mapping[str, Any], str, Any]
"""A namespace, a name in it, and the object that the name has to mean (`_UNDEFINED`: the name must not exist)."""

# What these modules contain does not change.
_FIXED_MODULES = ("numpy", "math", "cmath", "operator", "builtins", "functools", "itertools")


def checks_of(guard: Guard, namespace: Mapping[str, Any], builtins: Mapping[str, Any]) -> list[Check]:
    """What to look at before code in which a name was folded is used again."""
    if guard.name in namespace:
        checks: list[Check] = [(namespace, guard.name, namespace[guard.name])]
    else:
        checks = [(namespace, guard.name, _UNDEFINED), (builtins, guard.name, builtins[guard.name])]
    found = checks[-1][2]
    for attribute in guard.path:
        inside = vars(found)
        if found.__name__.partition(".")[0] not in _FIXED_MODULES:
            checks.append((inside, attribute, inside[attribute]))
        found = inside[attribute]
    return checks


@final
@dataclass(frozen=True, slots=True, eq=False)
class KindGuard:
    """A module variable whose kind was used; None if there was no such variable."""

    namespace: dict[str, Any]
    name: str
    kind: Kind | None

    def holds(self) -> bool:
        value = self.namespace.get(self.name, _UNDEFINED)
        return (None if value is _UNDEFINED else value_kind(value)) == self.kind


_UNDEFINED = object()


@final
@dataclass(frozen=True, slots=True)
class Half:
    """Stands for a unit's primal or adjoint in the IR until there is a function to bind."""

    unit: Unit
    is_adjoint: bool

    @property
    def function(self) -> Callable[..., Any] | None:
        return self.unit.adjoint if self.is_adjoint else self.unit.primal


def is_valid(unit: Unit) -> bool:
    """Whether what was assumed about module variables and rules when a unit was compiled still holds."""
    if unit.version != rrule.version:
        return False
    for namespace, name, value in unit.checks:
        if namespace.get(name, _UNDEFINED) is not value:
            return False
    return all(guard.holds() for guard in unit.kind_guards)


class CacheInfo(NamedTuple):
    """What `cache_info()` returns: how many units are kept, calls that found one, calls that compiled, the bound."""

    size: int
    hits: int
    misses: int
    maximum: int


class _Cache:
    """The units, oldest first. Keyed by the identity of the code object and of the module, which are watched: a unit goes
    when its code goes."""

    def __init__(self) -> None:
        self.units: OrderedDict[tuple[Any, ...], Unit] = OrderedDict()
        self.watched: dict[int, weakref.ref[types.CodeType]] = {}
        self.quick: dict[tuple[Any, ...], Unit] = {}
        self.hits = 0
        self.misses = 0

    def find(self, key: tuple[Any, ...]) -> Unit | None:
        unit = self.units.get(key)
        if unit is None:
            return None
        if not is_valid(unit):
            self.drop(key)
            return None
        return unit

    def keep(self, key: tuple[Any, ...], unit: Unit, code: types.CodeType) -> None:
        identity = id(code)
        if identity not in self.watched:
            self.watched[identity] = weakref.ref(code, lambda _: self.forget(identity))
        self.units[key] = unit
        while len(self.units) > CACHE_SIZE:
            self.drop(next(iter(self.units)))

    def forget(self, identity: int) -> None:
        self.watched.pop(identity, None)
        for key in [key for key in list(self.units) if key[0] == identity]:
            self.drop(key)

    def drop(self, key: tuple[Any, ...]) -> None:
        self.quick.clear()
        unit = self.units.pop(key, None)
        if unit is not None:
            for file in unit.files:
                unload(file)

    def clear(self) -> None:
        for key in list(self.units):
            self.drop(key)
        self.watched.clear()
        self.hits = self.misses = 0


_cache = _Cache()
_lowered: dict[tuple[int, int], tuple[weakref.ref[types.CodeType], Function, tuple[Check, ...]]] = {}
_always_dispatch: list[bool] = [False]


def cache_info() -> CacheInfo:
    """The number of compiled functions kept, hits, misses and the bound of the cache."""
    return CacheInfo(len(_cache.units), _cache.hits, _cache.misses, CACHE_SIZE)


def cache_clear() -> None:
    """Forget everything that was compiled."""
    with _lock:
        _cache.clear()
        _lowered.clear()


@contextmanager
def always_dispatch() -> Iterator[None]:
    """Inside the block no rule and no callee is compiled in: every call is resolved at run time. For tests, which hold
    the two paths against each other."""
    _always_dispatch.append(True)
    try:
        yield
    finally:
        _always_dispatch.pop()


def instrumented(function: types.FunctionType) -> tuple[Function, tuple[Check, ...]]:
    """The instrumented IR of a function and the module-level names it depends on."""
    key = (id(function.__code__), id(function.__globals__))
    known = _lowered.get(key)
    if known is not None and known[0]() is function.__code__:
        if all(namespace.get(name, _UNDEFINED) is value for namespace, name, value in known[2]):
            return known[1], known[2]
    lowered = lower_function(function)
    builtins = builtins_of(function)
    checks = [check for guard in lowered.constants for check in checks_of(guard, function.__globals__, builtins)]
    ir = instrument_function(lowered.function)
    if len(_lowered) > CACHE_SIZE:
        _lowered.clear()
    _lowered[key] = (weakref.ref(function.__code__), ir, tuple(checks))
    return ir, tuple(checks)


class Session:
    """One run of the compiler: the services that the passes ask for, for one function."""

    def __init__(self, function: types.FunctionType, unit: Unit, pending: list[Unit]) -> None:
        self.function = function
        self.own = unit
        self.pending = pending
        self.inlines = not _always_dispatch[-1]
        self.kind_guards: dict[str, KindGuard] = {}

    def unit(self, function: types.FunctionType, kinds: tuple[Kind, ...], active: tuple[bool, ...]) -> Unit | None:
        unit = compile_unit(function, kinds, active, self.pending)
        if unit not in self.own.callees:
            self.own.callees.append(unit)
        if unit.in_progress:
            unit.was_assumed = True
        return unit

    def half(self, unit: CallUnit) -> Const:
        return _half_constant(unit, is_adjoint=False)

    def adjoint_half(self, unit: CallUnit) -> Const:
        return _half_constant(unit, is_adjoint=True)

    def dispatcher(self, packed: bool) -> Const:
        entry = pullback_of_packed if packed else pullback_of
        return Const(entry, entry.__name__, entry)

    def global_kind(self, name: str) -> Kind | None:
        value = self.function.__globals__.get(name, _UNDEFINED)
        kind = None if value is _UNDEFINED else value_kind(value)
        if kind != UNKNOWN:
            self.kind_guards[name] = KindGuard(self.function.__globals__, name, kind)
        return kind


def _half_constant(unit: CallUnit, *, is_adjoint: bool) -> Const:
    assert isinstance(unit, Unit)
    half = Half(unit, is_adjoint)
    path = f"{unit.name}_{'adjoint' if is_adjoint else 'primal'}"
    return Const(half, path, half)


def unit_name(function: types.FunctionType) -> str:
    """What a function is called in generated names."""
    name = function.__name__
    return "function" if name == "<lambda>" else name


def compile_unit(
    function: types.FunctionType, kinds: tuple[Kind, ...], active: tuple[bool, ...], pending: list[Unit] | None = None
) -> Unit:
    """The unit of a function for inputs (captured variables, then parameters) of these kinds."""
    active = tuple(flag and not carries_nothing(kind) for flag, kind in zip(active, kinds, strict=True))
    key = (id(function.__code__), id(function.__globals__), kinds, active, _always_dispatch[-1])
    with _lock:
        unit = _cache.find(key)
        if unit is not None:
            _cache.hits += 1
            return unit
        _cache.misses += 1
        return _compile(function, key, kinds, active, pending if pending is not None else [])


def _compile(
    function: types.FunctionType,
    key: tuple[Any, ...],
    kinds: tuple[Kind, ...],
    active: tuple[bool, ...],
    pending: list[Unit],
) -> Unit:
    ir, checks = instrumented(function)
    assumed: Kind = FLOAT
    absent = (False,) * sum(active)
    for attempt in range(6):
        unit = Unit(unit_name(function), active, assumed, absent=absent, version=rrule.version)
        before = set(_cache.units)
        _cache.keep(key, unit, function.__code__)
        try:
            session = Session(function, unit, pending)
            primal = primal_pass.transform(ir, kinds, active, session)
            proven = _without_shapes(primal.result_kind)
            if unit.was_assumed and proven != assumed:
                _drop_all_but(before)
                assumed = proven if attempt == 0 else UNKNOWN
                continue
            unit.result_kind, unit.result_active = proven, primal.result_active or unit.was_assumed
            reverse, pair = derive(ir, primal, unit.active, session)
            if unit.was_assumed and reverse.absent != absent:
                _drop_all_but(before)
                absent = reverse.absent
                continue
            unit.absent = reverse.absent
            _generate(function, pair, unit)
        except BaseException:
            _cache.drop(key)
            raise
        _set_guards(unit, checks, tuple(session.kind_guards.values()))
        unit.in_progress = False
        return unit
    raise CompilerBug(f"the kinds of the recursive function {function.__qualname__} do not settle")


def _drop_all_but(kept: set[tuple[Any, ...]]) -> None:
    """Forget what was compiled on a wrong assumption about a recursive call."""
    for key in [key for key in _cache.units if key not in kept]:
        _cache.drop(key)


def _without_shapes(kind: Kind) -> Kind:
    return shapeless(kind)


def _set_guards(unit: Unit, checks: tuple[Check, ...], kind_guards: tuple[KindGuard, ...]) -> None:
    """A unit is as valid as the units it calls."""
    distinct = {(id(namespace), name): (namespace, name, value) for namespace, name, value in checks}
    guards = dict.fromkeys(kind_guards)
    for callee in unit.callees:
        distinct |= {(id(namespace), name): (namespace, name, value) for namespace, name, value in callee.checks}
        guards |= dict.fromkeys(callee.kind_guards)
    unit.checks = tuple(distinct.values())
    unit.kind_guards = tuple(guards)


def derive(ir: Function, primal: Primal, active: tuple[bool, ...], services: reverse_pass.Halves) -> tuple[Reverse, Pair]:
    """The adjoint of a primal, and the pair of functions with what is saved between them."""
    inputs = (*ir.captured, *(parameter.var for parameter in ir.parameters))
    differentiated = tuple(var for var, flag in zip(inputs, active, strict=True) if flag)
    reverse = reverse_pass.transform(primal, differentiated, services)
    reverse = replace(reverse, region=eliminate_dead_statements(reverse.region))
    pair = save(primal, reverse)
    pair = Pair(bind_unassigned(eliminate_dead_code(pair.primal)), eliminate_dead_code(pair.adjoint))
    if _VERIFY:
        verify(pair.primal)
        verify(pair.adjoint)
    return reverse, pair


_VERIFY = bool(os.environ.get("MICROGRADPY_VERIFY"))


def _generate(function: types.FunctionType, pair: Pair, unit: Unit) -> None:
    forward = emit(pair.primal, name=f"{unit.name}_primal")
    # What is saved has the same name on both sides.
    adjoint = replace(pair.adjoint, body=rename(pair.adjoint.body, forward.names))
    emitted = (forward, emit(adjoint, name=f"{unit.name}_adjoint", comments=True))
    unit.texts = emitted
    functions = []
    files = []
    unlinked: list[tuple[dict[str, Any], str, Half]] = []
    for half in emitted:
        bindings = dict(half.bindings)
        if half.needs_globals:
            bindings["module_globals"] = function.__globals__
        halves = {name: value for name, value in bindings.items() if isinstance(value, Half)}
        name = f"{unit.name}_{'primal' if half is emitted[0] else 'adjoint'}"
        namespace = load(half.text, name, bindings)
        unlinked += [(namespace, bound, value) for bound, value in halves.items()]
        functions.append(namespace[name])
        files.append(namespace["__file__"])
        _line_maps[namespace["__file__"]] = half.line_map
    unit.primal, unit.adjoint = functions
    unit.files = tuple(files)
    _links.extend(unlinked)
    _link()


_links: list[tuple[dict[str, Any], str, Half]] = []
_line_maps: dict[str, dict[int, Location]] = {}


def _link() -> None:
    """Bind the halves that are compiled by now; recursion leaves some for later."""
    waiting = []
    for namespace, name, half in _links:
        if half.function is None:
            waiting.append((namespace, name, half))
        else:
            namespace[name] = half.function
    _links[:] = waiting


def location_of(error: BaseException) -> Location | None:
    """The place in the user's source where a generated function raised, from the innermost generated frame."""
    found = None
    traceback = error.__traceback__
    while traceback is not None:
        lines = _line_maps.get(traceback.tb_frame.f_code.co_filename)
        if lines is not None:
            found = lines.get(traceback.tb_lineno, found)
        traceback = traceback.tb_next
    return found


# Calling ------------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class _Binding:
    """The inputs of a call in the order of a unit, and where the cotangents of the call's own arguments are in it.
    `positions` and `names` map positional and keyword arguments to inputs; `variadic` and `keywords` are the inputs that
    collect the rest."""

    values: list[Any]
    captured: int
    positions: int
    names: dict[str, int]
    variadic: int | None
    keywords: int | None
    defaults: dict[int | str, int] = field(default_factory=dict)


def _bind(function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Binding:
    """Python's binding of a call. A call that Python would refuse is made, so that its own error comes out."""
    code = function.__code__
    captured = [_cell(cell) for cell in function.__closure__ or ()]
    count, flags = code.co_argcount, code.co_flags
    if not kwargs and len(args) == count and not flags & 0x0C and not code.co_kwonlyargcount:
        return _Binding([*captured, *args], len(captured), count, {}, None, None)
    names = code.co_varnames
    values = dict(zip(names[:count], args, strict=False))
    extra = args[count:]
    rest: dict[str, Any] = {}
    keyword_names = names[: count + code.co_kwonlyargcount]
    for name, value in kwargs.items():
        if name in keyword_names[code.co_posonlyargcount :] and name not in values:
            values[name] = value
        else:
            rest[name] = value
    defaults = dict(zip(names[:count][::-1], (function.__defaults__ or ())[::-1], strict=False))
    defaults |= function.__kwdefaults__ or {}
    missing = [name for name in keyword_names if name not in values and name not in defaults]
    if missing or (extra and not flags & 0x04) or (rest and not flags & 0x08):
        function(*args, **kwargs)
        raise CompilerBug(f"{function.__qualname__} accepted arguments that could not be bound")
    ordered = [values[name] if name in values else defaults[name] for name in names[:count]]
    at = len(captured) + count
    variadic = keywords = None
    if flags & 0x04:
        ordered.append(extra)
        variadic, at = at, at + 1
    ordered += [values[name] if name in values else defaults[name] for name in names[count : count + code.co_kwonlyargcount]]
    index = {name: len(captured) + position for position, name in enumerate(names[:count])}
    index |= {name: at + position for position, name in enumerate(keyword_names[count:])}
    at += code.co_kwonlyargcount
    if flags & 0x08:
        ordered.append(rest)
        keywords = at
    own = {name: index[name] for name in kwargs if name in index and name not in rest}
    by_default: dict[int | str, int] = {}
    if code.co_flags & inspect.CO_NESTED:
        first = count - len(function.__defaults__ or ())
        by_default = {position - first: index[name] for position, name in enumerate(names[:count]) if name not in values}
        by_default |= {name: index[name] for name in keyword_names[count:] if name not in values}
    return _Binding([*captured, *ordered], len(captured), min(len(args), count), own, variadic, keywords, by_default)


_EMPTY_CELL = object()


def _cell(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY_CELL


def differentiate(
    function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
) -> tuple[Any, Back]:
    """Run a function's primal; the pullback runs its adjoint. The dispatcher's entry."""
    bound = _bind(function, args, kwargs)
    unit = _unit_for(function, bound, wanted, keywords_wanted)
    assert unit.primal is not None and unit.adjoint is not None
    y, saved = unit.primal(*bound.values)
    flags = unit.active
    exotic = not _EXOTIC.isdisjoint(map(type, bound.values))

    def back(y_bar: Any) -> Bars:
        assert unit.adjoint is not None
        if exotic:
            _refuse_exotic(bound.values, unit)
        bars = unit.adjoint(saved, or_zero(y_bar, y))
        if sum(flags) == 1:
            bars = (bars,)
        found = iter(bars)
        inputs = [next(found) if flag else None for flag in flags]
        return _bars_of(function, bound, len(args), inputs)

    return y, back


_CONTAINERS = frozenset((list, tuple, dict, set, types.FunctionType, type, types.ModuleType, types.BuiltinFunctionType))


def _unit_for(function: types.FunctionType, bound: _Binding, wanted: Wanted, keywords_wanted: bool) -> Unit:
    """The unit for a call. Arguments whose type alone decides (numbers, arrays, objects) are looked up by a signature that
    is cheap to make; others by their kinds."""
    signature: list[Any] = [id(function.__code__), id(function.__globals__), wanted, keywords_wanted, _always_dispatch[-1]]
    lengths: dict[int, int] = {}
    for value in bound.values:
        cls = type(value)
        if cls is np.ndarray:
            axes = tuple([1 if n == 1 else -lengths.setdefault(n, len(lengths)) for n in value.shape])
            signature.append((value.dtype.char, axes))
        elif cls in _CONTAINERS:
            break
        else:
            signature.append(cls)
    else:
        key = (*signature, tuple(bound.names), bound.positions)
        unit = _cache.quick.get(key)
        if unit is not None and is_valid(unit):
            _cache.hits += 1
            return unit
        unit = _compiled_for(function, bound, wanted, keywords_wanted)
        _cache.quick[key] = unit
        return unit
    return _compiled_for(function, bound, wanted, keywords_wanted)


def _compiled_for(function: types.FunctionType, bound: _Binding, wanted: Wanted, keywords_wanted: bool) -> Unit:
    kinds = kinds_of(bound.values, value_kind)
    return compile_unit(function, kinds, _active_inputs(bound, wanted, keywords_wanted))


_EXOTIC = frozenset((Decimal, Fraction))


def _refuse_exotic(values: list[Any], unit: Unit) -> None:
    """Numbers that have no cotangent of their own kind are refused if the result may depend on them."""
    differentiated = [value for value, flag in zip(values, unit.active, strict=True) if flag]
    for value, missing in zip(differentiated, unit.absent, strict=True):
        if not missing and type(value) in _EXOTIC:
            raise DifferentiationError(
                f"a {type(value).__name__} cannot be differentiated", None, "Convert it to float before the call."
            )


def _active_inputs(bound: _Binding, wanted: Wanted, keywords_wanted: bool) -> tuple[bool, ...]:
    active = [wanted is None] * bound.captured + [False] * (len(bound.values) - bound.captured)
    for position in range(bound.positions):
        active[bound.captured + position] = wanted is None or wanted[position]
    if bound.variadic is not None:
        active[bound.variadic] = wanted is None or any(wanted[bound.positions :])
    if wanted is None:
        for index in bound.defaults.values():
            active[index] = True
    if keywords_wanted:
        for index in bound.names.values():
            active[index] = True
        if bound.keywords is not None:
            active[bound.keywords] = True
    return tuple(flag and may_be_active(value) for flag, value in zip(active, bound.values, strict=True))


def _bars_of(function: types.FunctionType, bound: _Binding, count: int, inputs: list[Any]) -> Bars:
    captured = {
        name: bar
        for name, bar in zip(function.__code__.co_freevars, inputs[: bound.captured], strict=True)
        if not is_structural_zero(bar)
    }
    captured |= _default_bars(function, bound, inputs)
    # A function that refers to itself holds itself: what flows to that cell is a cotangent of the same function.
    itself = [captured.pop(name) for name in _self_cells(function) if name in captured]
    own = Tangent(type(function), captured) if captured else None
    for bar in itself:
        own = accumulate(own, bar)
    arguments = inputs[bound.captured : bound.captured + bound.positions]
    if bound.variadic is not None:
        rest = inputs[bound.variadic]
        missing = count - bound.positions
        arguments = [*arguments, *((None,) * missing if is_structural_zero(rest) else rest)]
    keywords = {name: inputs[index] for name, index in bound.names.items()}
    if bound.keywords is not None and not is_structural_zero(inputs[bound.keywords]):
        keywords |= dict(inputs[bound.keywords])
    return Bars(own, tuple(arguments), keywords)


def _self_cells(function: types.FunctionType) -> list[str]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return [name for name, cell in cells if _cell(cell) is function]


def _default_bars(function: types.FunctionType, bound: _Binding, inputs: list[Any]) -> dict[str, Any]:
    """The cotangents of the defaults that a nested function was made with."""
    found = {key: inputs[index] for key, index in bound.defaults.items() if not is_structural_zero(inputs[index])}
    bars: dict[str, Any] = {}
    if any(isinstance(key, int) for key in found):
        bars["__defaults__"] = tuple(found.get(index) for index in range(len(function.__defaults__ or ())))
    named = {key: bar for key, bar in found.items() if isinstance(key, str)}
    return bars | ({"__kwdefaults__": named} if named else {})


dispatch.install(differentiate)

