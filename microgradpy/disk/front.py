"""`grad`, `gradient`, `value_and_grad` and `value_and_gradient` where there is a cache on disk.

A call asks the cache first. On a hit the text of the entry is run, and nothing of the compiler is imported; in every other
case, and where anything at all is unusual, the call is made as if there were no cache, and what it has compiled is kept. What
is run from the cache can be given up at any time before it has returned: it has no effects.
"""

from __future__ import annotations

import _thread
import functools
import importlib
import operator
import os
import re
import sys
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any, Literal, final

import numpy as np

from microgradpy.disk.guards import Broken, hash_of, held_by, is_users
from microgradpy.disk.handlers import is_from_outside
from microgradpy.disk.key import NotPlain, signature, version_text
from microgradpy.disk.store import Store
from microgradpy.exporting import parts
from microgradpy.originals import BUILTINS, original
from microgradpy.projecting import is_projected

_PACKAGE = __name__.partition(".")[0]
_MOST_CALLS = 1000
"""After so many calls from the cache a function is compiled: by then it has cost about as much as that takes."""
_MOST_SIGNATURES = 64
Wanted = tuple[bool, ...] | None
_CAN_BE_IGNORED = frozenset(("ignore", "warn", "raise"))
_ANY_MORE = 0x04 | 0x08
"""The flags of code that takes `*args` or `**kwargs`."""


@final
class _Boundary:
    """As that of the compiler, which is imported when there is anything to explain."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if error is not None:
            importlib.import_module(f"{_PACKAGE}.boundary").BOUNDARY.__exit__(kind, error, traceback)


_BOUNDARY = _Boundary()


# What users call


def gradient(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """As `microgradpy.api.gradient`."""
    with _BOUNDARY:
        state = _LIVE if kwargs else _CACHE.state(f)
        if not state.is_live and (found := _CACHE.call(state, f, args, _wanted(f, args))) is not None:
            return _gradients(args, found)
        result: tuple[Any, ...] = _api().gradient(f, *args, **kwargs)
        _CACHE.keep(state, f, args, _wanted(f, args))
        return result


def value_and_gradient(
    f: Callable[..., Any], /, *args: Any, has_aux: bool = False, **kwargs: Any
) -> tuple[Any, tuple[Any, ...]]:
    """As `microgradpy.api.value_and_gradient`."""
    with _BOUNDARY:
        state = _LIVE if kwargs or has_aux is not False else _CACHE.state(f)
        if not state.is_live and (found := _CACHE.call(state, f, args, _wanted(f, args))) is not None:
            return found.y, _gradients(args, found)
        result: tuple[Any, tuple[Any, ...]] = _api().value_and_gradient(f, *args, has_aux=has_aux, **kwargs)
        _CACHE.keep(state, f, args, _wanted(f, args))
        return result


def _wanted(f: Any, args: tuple[Any, ...]) -> Wanted:
    """As `microgradpy.api` asks for gradients of arguments."""
    return (True,) * len(args) if type(f) is types.FunctionType and f.__closure__ is not None else None


def grad(
    f: Callable[..., Any],
    argnums: Any = 0,
    has_aux: bool = False,
    *,
    checkpoint: Literal["sqrt", "log"] | int | None = None,
    target: Literal["source", "numba"] = "source",
) -> Callable[..., Any]:
    """As `microgradpy.api.grad`."""
    return _held(f, "grad", argnums, has_aux, checkpoint, target)


def value_and_grad(
    f: Callable[..., Any],
    argnums: Any = 0,
    has_aux: bool = False,
    *,
    checkpoint: Literal["sqrt", "log"] | int | None = None,
    target: Literal["source", "numba"] = "source",
) -> Callable[..., tuple[Any, Any]]:
    """As `microgradpy.api.value_and_grad`."""
    return _held(f, "value_and_grad", argnums, has_aux, checkpoint, target)


def _held(
    f: Callable[..., Any], name: str, argnums: Any, has_aux: bool, checkpoint: Any, target: str
) -> Callable[..., Any]:
    is_usual = has_aux is False and checkpoint is None and target == "source" and not _has_names(argnums)
    if type(f) is not types.FunctionType or not is_usual or not _CACHE.is_usable():
        made: Callable[..., Any] = getattr(_api(), name)(f, argnums, has_aux, checkpoint=checkpoint, target=target)
        return made
    held = _Held(f, name, argnums)

    @functools.wraps(f, updated=())
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        with _BOUNDARY:
            return held.call(args, kwargs)

    vars(differentiated)["__live__"] = held.compiled
    _note(differentiated)
    return differentiated


def _has_names(argnums: Any) -> bool:
    """Whether parameters are named, of which `microgradpy.argnums` knows the positions."""
    return any(isinstance(each, str) for each in (argnums if isinstance(argnums, tuple | list) else (argnums,)))


@final
class _Held:
    """What a gradient function refers to."""

    def __init__(self, f: types.FunctionType, name: str, argnums: Any) -> None:
        self.f, self.name, self.argnums = f, name, argnums
        self.is_single = not isinstance(argnums, tuple | list)
        self.numbers = tuple(map(operator.index, (argnums,) if self.is_single else argnums))
        self.live: Callable[..., Any] | None = None
        self.state = _CACHE.state(f)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Held, (self.f, self.name, self.argnums)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not self.state.is_live and not kwargs:
            return self._call(args)
        return self._compiled(args, kwargs)

    def compiled(self) -> Callable[..., Any]:
        """What the compiler makes in its place."""
        if self.live is None:
            self.live = getattr(_api(), self.name)(self.f, self.argnums)
        assert self.live is not None
        return self.live

    def _compiled(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.compiled()(*args, **kwargs)

    def _call(self, args: tuple[Any, ...]) -> Any:
        count = len(args)
        if not all(-count <= number < count for number in self.numbers):
            return self._compiled(args, {})
        chosen = {number % count for number in self.numbers}
        wanted = tuple(index in chosen for index in range(count))
        found = _CACHE.call(self.state, self.f, args, wanted)
        if found is None:
            result = self._compiled(args, {})
            _CACHE.keep(self.state, self.f, args, wanted)
            return result
        filled = [_filled(args[number], *found.bar(number % count)) for number in self.numbers]
        result = filled[0] if self.is_single else tuple(filled)
        return (found.y, result) if self.name == "value_and_grad" else result


# The compiler


def _api() -> Any:
    """The module of the functions that these stand for."""
    api = sys.modules.get(f"{_PACKAGE}.api")
    if api is None or not _is_joined:
        sys.modules[_PACKAGE].load_public()
        api = sys.modules[f"{_PACKAGE}.api"]
    return api


_made: weakref.WeakSet[Any] = weakref.WeakSet()
_is_joined: list[Any] = []


def _note(function: Any) -> None:
    _made.add(function)
    if _is_joined:
        _is_joined[0].NESTED_DIFFERENTIATION.add(function)


def join() -> None:
    """Let the compiler know that these functions differentiate, now that it is imported."""
    if not _is_joined:
        _is_joined.append(importlib.import_module(f"{_PACKAGE}.runtime.markers"))
        _is_joined[0].NESTED_DIFFERENTIATION.update((*_made, grad, gradient, value_and_grad, value_and_gradient))


def _is_usual() -> bool:
    """Whether nothing is going on that the text of an entry knows nothing of: a debugger, other threads, a mode of the
    compiler, a call inside of a differentiated one, rules of the user's."""
    if sys.gettrace() is not None or _thread._count() or _is_monitored() or os.environ.get("MICROGRADPY_DUMP"):
        return False
    if any(mode not in _CAN_BE_IGNORED for mode in np.geterr().values()):
        return False
    modes, registry = sys.modules.get(f"{_PACKAGE}.runtime.modes"), sys.modules.get(f"{_PACKAGE}.rules.registry")
    if modes is not None and (modes.RUN.mode != modes.Mode() or modes.RUN.is_inside or modes.SPECIAL.blocks):
        return False
    return registry is None or not registry.rrule.declared


def _is_monitored() -> bool:
    monitoring = getattr(sys, "monitoring", None)
    return monitoring is not None and any(monitoring.get_tool(tool) for tool in range(6))


# The cache


@final
class _Found:
    """What the text of an entry has given: the value, and for each argument its cotangent and whether that is nobody else's."""

    __slots__ = ("_bars", "_fresh", "_places", "y")

    def __init__(self, y: Any, bars: Any, entry: _Loaded) -> None:
        self.y, self._bars, self._places, self._fresh = y, bars, entry.places, entry.fresh

    def bar(self, position: int) -> tuple[Any, bool]:
        place = self._places[position]
        return (None, False) if place is None else (self._bars[place], self._fresh[position])


@final
class _Loaded:
    """An entry that was read. `calls` are those that it has answered."""

    def __init__(self, entry: dict[str, Any]) -> None:
        self.guards, self.data = entry["guards"], entry["data"]
        self.places, self.fresh = entry["places"], entry["fresh"]
        self.single, self.selects = entry["single"], entry["selects"]
        self.calls = 0
        self.names: dict[str, Any] = {"__builtins__": BUILTINS, "__name__": f"{_PACKAGE}.disk.entry"}
        self.names.update({name: original(importlib.import_module(module)) for name, module in entry["modules"].items()})
        exec(compile(entry["text"], f"<{_PACKAGE} cache>", "exec", dont_inherit=True), self.names)
        self.primal, self.adjoint = (self.names[name] for name in entry["halves"])

    def run(self, f: types.FunctionType, inputs: list[Any]) -> _Found | None:
        """What the text gives; None where it is better not to take it."""
        data = held_by(self.guards, f)
        self.names.update({name: data[tuple(place)] for name, place in self.data.items()})
        try:
            return self._run(inputs)
        finally:
            for name in self.data:
                del self.names[name]

    def _run(self, inputs: list[Any]) -> _Found | None:
        y, saved = self.primal(*inputs)
        if type(y) is float:
            seed: Any = 1.0
        elif type(y) is np.float64:
            seed = _ONE
        else:
            return None
        if self.selects:
            with np.errstate(invalid="ignore"):
                bars = self.adjoint(saved, seed)
        else:
            bars = self.adjoint(saved, seed)
        bars = (bars,) if self.single else bars
        return None if any(map(_has_nan, bars)) else _Found(y, bars, self)


_ONE = np.float64(1.0)


@final
class _State:
    """What is known of the calls of a function: by what they are found by, the entry that was read, the key under which there
    is to be one, or None if they are compiled. Once such a call comes again, the cache is no longer asked (`is_live`)."""

    __slots__ = ("is_live", "known")

    def __init__(self) -> None:
        self.known: dict[Where, _Loaded | str | None] = {}
        self.is_live = False


Where = tuple[Wanted, str, str]
"""What is differentiated, the hash of a function, and what is known of its inputs."""


@final
class Cache:
    """The entries that were read, or looked for. `hits` are the calls that were answered."""

    def __init__(self) -> None:
        self.hits = 0
        self.store = Store.of_environment()
        self._states: weakref.WeakKeyDictionary[types.FunctionType, _State] = weakref.WeakKeyDictionary()
        self._version = ""

    def is_usable(self) -> bool:
        return self.store.folder is not None

    def state(self, f: Any) -> _State:
        """What is known of the calls of a function."""
        state = self._states.get(f) if type(f) is types.FunctionType else _LIVE
        if state is None:
            state = self._states.setdefault(f, _State()) if self.is_usable() and is_users(f) else _LIVE
        return state

    def call(self, state: _State, f: Any, args: tuple[Any, ...], wanted: Wanted) -> _Found | None:
        """What the cache gives for a call; None if it is to be compiled."""
        if state.is_live or not _is_usual():
            return None
        try:
            inputs = _inputs(f, args)
            where = _where(f, inputs, wanted)
        except (NotPlain, ValueError) as error:
            if is_from_outside(error):
                raise
            state.is_live = True
            return None
        known = state.known
        if where not in known:
            known[where] = self._look_up(where)
        loaded = known[where]
        if not isinstance(loaded, _Loaded):
            state.is_live = loaded is None or len(known) > _MOST_SIGNATURES
            return None
        try:
            found = _given_by(loaded, f, inputs)
        except Broken:
            known[where] = None if loaded.calls else self._key(where)
            return None
        loaded.calls += found is not None
        self.hits += found is not None
        if found is None or loaded.calls >= _MOST_CALLS:
            known[where] = None
        return found

    def _look_up(self, where: Where) -> _Loaded | str:
        """The entry for a call, or the key under which there will be one."""
        key = self._key(where)
        entry = self.store.read(key)
        if entry is None:
            return key
        try:
            return _Loaded(entry)
        except Exception as error:  # whatever it was written by
            if is_from_outside(error):
                raise
            return key

    def _key(self, where: Where) -> str:
        self._version = self._version or version_text(sys.modules[_PACKAGE].__version__)
        return f"{self._version}\n{where!r}"

    def keep(self, state: _State, f: Any, args: tuple[Any, ...], wanted: Wanted) -> None:
        """Write the entry of a call that was compiled, if it was looked for."""
        if state.is_live or not _is_usual():
            return
        try:
            where = _where(f, _inputs(f, args), wanted)
        except (NotPlain, ValueError) as error:
            if is_from_outside(error):
                raise
            return
        key = state.known.get(where)
        if type(key) is str:
            state.known[where] = None
            entry = importlib.import_module(f"{_PACKAGE}.disk.making").entry_of(f, args, wanted)
            if entry is not None:
                self.store.write(key, entry)


_LIVE = _State()
_LIVE.is_live = True


def _where(f: types.FunctionType, inputs: list[Any], wanted: Wanted) -> Where:
    return wanted, hash_of(f), ", ".join(map(signature, inputs))


def _inputs(f: types.FunctionType, args: tuple[Any, ...]) -> list[Any]:
    """The inputs of a unit: what a function captured, the arguments, the defaults of the others. Raises NotPlain."""
    code, defaults = f.__code__, f.__defaults__ or ()
    missing = code.co_argcount - len(args)
    if code.co_kwonlyargcount or code.co_flags & _ANY_MORE or not 0 <= missing <= len(defaults):
        raise NotPlain("other arguments")
    captured = [cell.cell_contents for cell in f.__closure__ or ()]
    return [*captured, *args, *defaults[len(defaults) - missing :]]


def _given_by(loaded: _Loaded, f: types.FunctionType, inputs: list[Any]) -> _Found | None:
    """What an entry gives, unless anything is raised or warned of: that is for the user's own lines to do. Raises `Broken` if
    it is not for things as they are."""
    module: Any = warnings
    filters = module.filters
    module.filters = [("error", None, Warning, _FROM_TEXTS, 0), *filters]
    try:
        return loaded.run(f, inputs)
    except BaseException as error:
        if isinstance(error, Broken) or is_from_outside(error):
            raise
        return None
    finally:
        module.filters = filters


_FROM_TEXTS = re.compile(rf"({_PACKAGE}|numpy)\b")
"""The modules that warnings of a text are from; a handler of a signal may warn of what it likes."""


def _has_nan(bar: Any) -> bool:
    if bar is None:
        return False
    if isinstance(bar, tuple | list):
        return any(map(_has_nan, bar))
    if isinstance(bar, dict):
        return any(map(_has_nan, bar.values()))
    return bool(np.isnan(bar).any())


def _gradients(args: tuple[Any, ...], found: _Found) -> tuple[Any, ...]:
    return tuple([_projected(x, *found.bar(position)) for position, x in enumerate(args)])


def _projected(x: Any, bar: Any, is_fresh: bool) -> Any:
    return bar if is_projected(x, bar, is_fresh) else parts.argument_gradient(x, bar)


def _filled(x: Any, bar: Any, is_fresh: bool) -> Any:
    if is_projected(x, bar, is_fresh):
        return bar
    return parts.with_zeros(x, parts.argument_gradient(x, bar))


_CACHE = Cache()
