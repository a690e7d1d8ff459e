"""Whether arrays and containers still hold what they held, for values that the reverse pass reads later.

Code that no derivative flows through is called as it stands. Should it write into an array that was saved before, the
adjoint would be wrong without a word; so what it can reach is compared before and after. `may_write` looks at the
bytecode first: most functions write nothing, and need no watching.
"""

from __future__ import annotations

import gc
import inspect
import operator
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.errors import MutationError
from microgradpy.ir.random_sources import is_source
from microgradpy.runtime.bytecode import names_in, writes
from microgradpy.runtime.markers import checkpointed_by
from microgradpy.tangents.memory_order import copied
from microgradpy.tangents.projection import fields_of

_PACKAGE = f"{__name__.partition('.')[0]}."
"""What the names of its modules begin with, whose functions keep nothing of what they are given."""
_ITEMS = (list, tuple, set, deque)
_CONTAINERS = (list, dict, set, deque)
_HOLDERS = frozenset(("builtins", "collections", "functools", "types", "typing"))
"""Modules of the standard library with classes that hold what they are given."""
_HEAP_TYPE = 1 << 9  # the flag of classes that were made by a `class` statement


@final
@dataclass(frozen=True, slots=True)
class Snapshot:
    """Arrays, containers, cells and objects, each with a copy of what it holds."""

    pairs: tuple[tuple[Any, Any], ...]

    @classmethod
    def of(cls, values: Iterable[Any]) -> Snapshot:
        return cls(tuple((value, _copy(value)) for value in {id(value): value for value in values}.values()))

    def unchanged(self) -> Snapshot:
        """That of those which hold what they held."""
        return Snapshot(tuple(pair for pair in self.pairs if _is_same(*pair)))

    def __add__(self, other: Snapshot) -> Snapshot:
        return Snapshot((*self.pairs, *other.pairs))

    def changed(self) -> Any:
        """The first of them that has changed, or None."""
        return next((value for value, copy in self.pairs if not _is_same(value, copy)), None)


def _copy(value: Any) -> Any:
    """What a value holds: a copy of an array, or a list or dict. No method of a class of the user's is asked for it."""
    if isinstance(value, types.CellType):
        return _contents(value)
    if isinstance(value, np.ndarray):
        return copied(value)
    items = _items(value)
    if items is not None:
        return items
    return dict.copy(value) if isinstance(value, dict) else _held(value)


def _held(x: Any) -> list[Any]:
    """What an object holds. An ordinary one is asked as the garbage collector asks it, which is ten times as fast as to look
    for the names of its fields; if it has a `__dict__` by now, that is among it."""
    if not type(x).__flags__ & _HEAP_TYPE:
        return [*fields_of(x).values()]
    found: list[Any] = []
    for each in gc.get_referents(x):
        if type(each) is dict:
            found += each.values()
        else:
            found.append(each)
    return found


def _items(value: Any) -> list[Any] | None:
    """The items of a list, tuple, set or deque, in whose place a class of the user's may give others; None of anything else."""
    builtin: Any = next((cls for cls in _ITEMS if isinstance(value, cls)), None)
    return None if builtin is None else [*builtin.__iter__(value)]


def _contents(cell: types.CellType) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


def _is_same(value: Any, copy: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.shape == copy.shape and np.ndarray.tobytes(value) == np.ndarray.tobytes(copy)  # not by a class of arrays
    now = _copy(value)
    if len(now) != len(copy):
        return False
    if isinstance(now, dict):
        now, copy = [*now.keys(), *now.values()], [*copy.keys(), *copy.values()]
    return all(map(operator.is_, now, copy))


def keep(value: Any) -> Any:
    """A copy of an array; anything else as it is."""
    return copied(value) if isinstance(value, np.ndarray) else value


def unchanged(value: Any, kept: Any) -> Any:
    """The copy that `keep` made of a value; MutationError if the value has been written into since, because then what was
    computed from it saw one content or the other."""
    if isinstance(value, np.ndarray) and not _is_same(value, kept):
        raise MutationError(
            "an array that an object gave was written into while it was still used",
            None,
            "Let the object give a new array, or copy what it gives: x.copy().",
        )
    return kept


def arrays_in(values: Iterable[Any]) -> list[np.ndarray[Any, Any]]:
    """The arrays among some values and in what they hold."""
    return [value for value in _walk(values) if isinstance(value, np.ndarray)]


def containers_in(values: Iterable[Any]) -> list[Any]:
    """The containers that can change among some values and in what they hold."""
    return [value for value in reached(values, _keeps_accounts) if isinstance(value, _CONTAINERS)]


def _keeps_accounts(x: Any) -> bool:
    """Whether an object is one of the standard library's that has dicts of its own, which change when it is used: a logger, a
    lock. Its containers, and what holds a user's values, are none of these."""
    module = type(x).__module__.partition(".")[0]
    return (module not in _HOLDERS and module in sys.stdlib_module_names) or is_source(x)


def read_by(f: Any, given: Iterable[Any]) -> Snapshot:
    """The arrays that a callee sees without being given them, and the containers that it sees or is given."""
    seen = _seen_by(f)
    return Snapshot.of([*arrays_in(seen), *containers_in([*seen, *given])])


def made_since(before: Snapshot, y: Any) -> Snapshot:
    """The containers in a value that were not there before."""
    known = {id(value) for value, _ in before.pairs}
    return Snapshot.of(value for value in containers_in((y,)) if id(value) not in known)


def arrays_seen_by(f: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays that a callee can reach without being given them."""
    return arrays_in(_seen_by(f))


def all_seen_by(f: Any, given: Iterable[Any]) -> list[Any]:
    """Everything that can change and that a callee can reach, if it is given some values: arrays, containers, objects, and
    the cells of its variables."""
    cells = [cell for function in functions_called_by(f) for cell in function.__closure__ or ()]
    return [*cells, *_walk([*_seen_by(f), *given])]


def watched(f: Any, given: Iterable[Any]) -> Snapshot:
    """What a function is given that can change, and the arrays that it sees, as they are now."""
    return Snapshot.of([*_walk(given), *arrays_seen_by(f)])


def functions_called_by(f: Any) -> list[types.FunctionType]:
    """The function of a callee, and those of the user's that it calls by name or as a method of its own object."""
    owner, function = _function_of(f)
    return [] if function is None else list(_called_by(function, type(owner), set()))


def _seen_by(f: Any) -> list[Any]:
    """What a callee reaches through its cells, its defaults, the object that it is or belongs to, and the module variables
    it names."""
    owner, function = _function_of(f)
    roots = [owner, f]
    if function is not None:
        for called in _called_by(function, type(owner), set()):
            roots += called.__defaults__ or ()
            roots += (called.__kwdefaults__ or {}).values()
            roots += [called.__globals__[name] for name in names_in(called.__code__) if name in called.__globals__]
    return roots


def _function_of(f: Any) -> tuple[Any, types.FunctionType | None]:
    """The object that a callee is or belongs to, and the function with its code, if it has any."""
    if isinstance(f, types.FunctionType):
        return None, _of_user(f)
    if isinstance(f, types.MethodType):
        return f.__self__, f.__func__ if isinstance(f.__func__, types.FunctionType) else None
    call = getattr(type(f), "__call__", None)  # noqa: B004 - the function itself is wanted
    return f, call if isinstance(call, types.FunctionType) else None


def _of_user(function: types.FunctionType) -> types.FunctionType:
    """The function that `checkpointed` has wrapped, or the function itself."""
    inner = checkpointed_by(function)
    return inner if isinstance(inner, types.FunctionType) else function


def _walk(values: Iterable[Any]) -> Iterator[Any]:
    """Some values and what they hold, each once, without generators of random numbers, which change when they are used."""
    return (value for value in reached(values) if not is_source(value))


def reached(values: Iterable[Any], leaves: Callable[[Any], bool] = is_source) -> Iterator[Any]:
    """Some values and what they hold, each once; not what is held by those that are `leaves`."""
    waiting, seen = list(values), set[int]()
    while waiting:
        value = waiting.pop()
        if type(value) in _NUMBERS or id(value) in seen or isinstance(value, _UNCHANGING):
            continue
        seen.add(id(value))
        yield value
        match value:
            case np.ndarray() | np.ufunc():
                continue
            case _ if leaves(value):
                continue
            case types.FunctionType(__closure__=None):
                continue
            case list() | tuple() | set() | deque():
                waiting += _items(value) or ()
            case dict():
                waiting += dict.values(value)
            case _:
                waiting += _held(value)


_NUMBERS = frozenset((float, int, np.float64))
_UNCHANGING = (type, types.ModuleType, int, float, complex, np.generic, str, bytes, types.NoneType)


def may_write(f: Any) -> bool:
    """Whether the code of a callee, or of a function that it calls by name, has anything in it that writes into arrays or
    objects. What it calls in another way is not known here; of an object without code, nothing is."""
    owner, function = _function_of(f)
    if function is None:
        return owner is not None and not isinstance(f, types.BuiltinFunctionType | type)
    return any(writes(called.__code__) for called in _called_by(function, type(owner), set()))


def _called_by(function: types.FunctionType, owner: type, seen: set[types.CodeType]) -> Iterator[types.FunctionType]:
    """The function and those that it calls by name or as a method of its own object."""
    if function.__code__ in seen:
        return
    seen.add(function.__code__)
    yield function
    for name in names_in(function.__code__):
        of_owner = None if owner is types.NoneType else inspect.getattr_static(owner, name, None)
        for found in (function.__globals__.get(name), of_owner):
            if isinstance(found, types.FunctionType) and not str(found.__module__).startswith(_PACKAGE):
                yield from _called_by(_of_user(found), owner, seen)
