"""Choosing the derivative of a call at run time, in a run that may write into objects.

`resolve(f, args, kwargs)` makes the call and returns its value with what undoes it. The cotangents of mutable arguments are
in the shadows; `Bars` has those that travel by value, and those of arrays that a callee found to be written by nobody.
"""

from __future__ import annotations

import dataclasses
import io
import operator
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, final

import numpy as np

from microgradpy.errors import MutationError
from microgradpy.ir.objects import static_member
from microgradpy.rules.entries import Rule, hashes_itself
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.rules.results import check_no_object
from microgradpy.runtime.array_calls import unbound_method
from microgradpy.runtime.bars import Back, Bars, Entry, Resolve, Resolved, Wanted, nothing, with_bars
from microgradpy.runtime.dispatch import Dispatcher, bound_back, refuse_active
from microgradpy.runtime.making import import_from
from microgradpy.runtime.matching import attributes_of
from microgradpy.runtime.modes import UNDOABLE
from microgradpy.runtime.named_operators import is_special
from microgradpy.runtime.protocols import by_protocol
from microgradpy.runtime.python_ufuncs import is_of_python
from microgradpy.runtime.rule_calls import name_of
from microgradpy.runtime.special_methods import OF_UFUNCS, refuse_override
from microgradpy.runtime.suspension import delegate_to
from microgradpy.runtime.texts import noted, read_from
from microgradpy.runtime.writes import REMEDY, output_of, written_argument

# These modules register their write handlers.
from microgradpy.state import (  # noqa: F401
    arrays,
    deques,
    exceptions,
    flat,
    generators,
    lists,
    mappings,
    objects,
    outputs,
    permutations,
    scatter,
    variables,
)
from microgradpy.state.apart_access import (
    as_read,
    check_comparison,
    check_read_up,
    check_write,
    given_to_reader,
    given_to_rule,
    item_at,
    items_at,
    keywords_at,
    read_at_places,
)
from microgradpy.state.asking import by_asking
from microgradpy.state.attributes import get_attribute, parts_of_subject, set_attribute
from microgradpy.state.constructors import construct
from microgradpy.state.detached import detached, may_return_arguments
from microgradpy.state.iteration import by_items
from microgradpy.state.known_calls import RULES, by_what_is_known, note_callee, settled, settled_by_what_is_known
from microgradpy.state.known_rules import by_rule, by_write_handler, from_undo
from microgradpy.state.mappings import made_item, makes_item, of_sets
from microgradpy.state.partial_calls import attempted, attempted_if_caught, undone_by
from microgradpy.state.reachable_writes import any_may_write
from microgradpy.state.remembered import by_cache
from microgradpy.state.shadows import Shadows, Undo, is_value
from microgradpy.state.undo_log import Step, current, expected, noticing
from microgradpy.state.whole import apart_now
from microgradpy.state.write_handlers import find_write_handler, has_write_handler, looked_up, write_handler

_OF_CONTEXTS = ("__enter__", "__exit__")
"""What contexts that are not written in Python do has nothing to do with the values in them: locks, files."""
_WINDOWS: Any = (types.MappingProxyType, memoryview, *weakref.ProxyTypes)
"""What has no shadow of its own, nor shows which one it is of."""
_SET_PAST_CLASS = (object.__setattr__, type.__setattr__)
_DELETE_PAST_CLASS = (object.__delattr__, type.__delattr__)
_PAST_CLASS = _SET_PAST_CLASS + _DELETE_PAST_CLASS
"""What `super().__setattr__` comes to, of an object and of a class."""


@final
class TrackingDispatcher(Dispatcher):
    """The dispatcher of runs in which what is written is tracked."""

    tracks = True
    rules = RULES

    def __call__(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted = None, keywords_wanted: bool = True
    ) -> Resolved:
        undo_log, apart = current(), apart_now()
        if apart is not None:
            check_comparison(apart, f, args)
            own, args = args, given_to_reader(f, args)
        if undo_log is None:
            made = self._made(f, args, kwargs, wanted, keywords_wanted)
            self.rules.note_in_place(f, args)
        else:
            before = len(undo_log)
            made = self._made(f, args, kwargs, wanted, keywords_wanted)
            undo_log[before:] = [Step(f, args, kwargs, made[1], made[0])]
        if apart is None:
            return made
        check_read_up(own, args)
        return as_read(apart, f, args, made[0]), made[1]

    def _made(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool) -> Resolved:
        if f is item_at or f is items_at:
            return from_undo(*read_at_places(f, args))
        made = by_cache(self, f, args, kwargs)
        if made is not None:
            return made
        if isinstance(f, types.MethodWrapperType) and isinstance(f.__self__, type) and unbound_method(f) in _PAST_CLASS:
            return self._by_builtin_method(f, args, kwargs, wanted, keywords_wanted)
        if isinstance(f, types.BuiltinMethodType | types.MethodWrapperType) and not isinstance(
            f.__self__, types.ModuleType | type | None
        ):
            return self._by_builtin_method(f, args, kwargs, wanted, keywords_wanted)
        if hashes_itself(f):  # no table knows it
            return self.by_rule_or_kind(f, args, kwargs, wanted, keywords_wanted)
        for step in _STEPS:
            made = step(self, f, args, kwargs)
            if made is not None:
                return made
        if not (isinstance(f, type) and (dataclasses.is_dataclass(f) or issubclass(f, BaseException))):
            made = by_protocol(f, args, kwargs, self)
            if made is not None:
                return made
        return self.by_rule_or_kind(f, args, kwargs, wanted, keywords_wanted)

    def may_write(self, callables: list[Any]) -> bool:
        return any_may_write(callables)

    def attempt(self, f: Any, args: tuple[Any, ...]) -> Resolved:
        return attempted_if_caught(self, f, args)

    def expect(self, f: Callable[[Any], Any], x: Any) -> Any:
        return expected(f, x)

    def undone_by(self, back: Back, f: Any, *args: Any) -> AbstractContextManager[None]:
        return undone_by(back, f, *args)

    def by_rule_or_kind(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
    ) -> Resolved:
        if any(isinstance(x, _WINDOWS) for x in args):
            name = next(type(x).__name__ for x in args if isinstance(x, _WINDOWS))
            raise MutationError(f"{name_of(f)} reads a {name}, which shows what others write", None, "Use what it shows.")
        return super().by_rule_or_kind(f, args, kwargs, wanted, keywords_wanted)

    def by_rule(
        self, f: Any, rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
    ) -> Resolved:
        return by_rule(f, rule, given_to_rule(args), kwargs, keywords_wanted)

    def without_derivative(self, version: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved:
        y = detached(f, *args, **kwargs) if may_return_arguments(f) else f(*args, **kwargs)
        check_no_object(f, y)
        if not may_return_arguments(f):
            self.rules.note(version, f, args, kwargs, None)
        return noted(y, (*args, *kwargs.values())), nothing(len(args))

    def note(self, version: int, f: Any) -> None:
        if not rrule.has(f):  # nor for arguments of other types
            note_callee(version, f)

    def by_kind(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
    ) -> Resolved:
        if isinstance(f, type):
            return construct(self, f, args, kwargs) or self.opaque(f, args, kwargs)
        return super().by_kind(f, args, kwargs, wanted, keywords_wanted)

    def by_cached(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
    ) -> Resolved:
        return self.opaque(f, args, kwargs)  # no derivative flows through it

    def by_builtin_method(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], keywords_wanted: bool) -> Resolved:
        return self.opaque(f, args, kwargs)  # of a class

    def _by_builtin_method(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
    ) -> Resolved:
        owner = f.__self__
        asks = isinstance(f, types.MethodWrapperType) or is_special(f.__name__)
        plain = by_protocol(f, args, kwargs, self) if asks else None
        if plain is not None:
            return plain
        if isinstance(owner, np.ndarray):
            refuse_override(owner, f, OF_UFUNCS)
        unbound = unbound_method(f)
        combined = of_sets(unbound, (owner, *args))
        if combined is not None:
            return combined[0], nothing(len(args))
        if unbound is None:
            return self.opaque(f, args, kwargs)
        if is_non_differentiable(f):
            return noted(f(*args, **kwargs), args, f), nothing(len(args))
        is_known = unbound in _PAST_CLASS or find_write_handler(unbound, (owner, *args)) is not None
        if not is_known and not rrule.has(unbound) and not is_non_differentiable(unbound):
            if written_argument(unbound, (owner, *args), kwargs) is None:
                return self.opaque(f, args, kwargs)
        y, back = self(unbound, (owner, *args), kwargs, None, keywords_wanted)
        return y, bound_back(f, back)

    def opaque(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved:
        if isinstance(f, types.BuiltinMethodType | types.MethodDescriptorType) and f.__name__ in _OF_CONTEXTS:
            return f(*args, **kwargs), nothing(len(args))
        # Files hold text and bytes: what is read from them as a number is looked at there.
        refuse_active(f, args, kwargs, types.ModuleType | io.IOBase)
        if isinstance(getattr(f, "__self__", None), io.IOBase):
            return noted(f(*args, **kwargs), args, f), nothing(len(args))
        if isinstance(f, np.ufunc) and is_of_python(f):
            found = "a function made by np.frompyfunc is called, which may write"
            raise MutationError(found, None, "Call the function itself.")
        return read_from(args, f(*args, **kwargs)), nothing(len(args))

    def keywords(self, kwargs: Any) -> dict[str, Any]:
        return keywords_at(kwargs) if isinstance(kwargs, dict) else dict(kwargs)


resolve = TrackingDispatcher()
write_handler(delegate_to)(partial(generators.delegated, resolve))


def install(entry: Entry) -> None:
    """Called once by the compiler."""
    resolve.entry = entry


def tracked_pullback_of(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Undo]:
    """`(y, pullback)`; `pullback(y_bar, shadows)` returns the cotangents of `f` and of each positional argument as far as they
    travel by value: None for those that are in the shadows or zero."""
    made: tuple[Any, Undo] | None = None
    if not kwargs and (not UNDOABLE.blocks or (current() is None and apart_now() is None)):
        quick = _QUICK.get(id(f))
        if quick is not None and quick[0] == len(args):
            made = quick[1](*args)
            if made is not None:
                return made
        made = settled_by_what_is_known(f, args)
    return made or settled(with_bars(resolve(f, args, kwargs, None, False), len(args)), f, args)


_QUICK = RULES.quick


def tracked_pullback_of_arrays(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Undo]:
    """The same where the cotangents of arguments that are arrays travel by value."""
    is_plain = not kwargs and current() is None and apart_now() is None
    made = by_what_is_known(f, args) if is_plain else None
    return made or with_bars(resolve(f, args, kwargs, None, False), len(args))


def attempted_pullback_of(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Undo]:
    """As `tracked_pullback_of_arrays`, in the body of a `try` whose handlers go on: what the call raises is caught first, and
    its value is a `Failure`, with what undoes what it had done by then."""
    return with_bars(attempted(resolve, f, args, kwargs, None, False), len(args))


def attempted_pullback_of_packed(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Undo]:
    """As `tracked_pullback_of_packed`; the value is a `Failure` if the call raises."""
    return resolve.packed(partial(attempted, resolve), f, tuple(args), kwargs)


def tracked_pullback_of_packed(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Undo]:
    """The same for `f(*args, **kwargs)`: cotangents of `f`, of `args` and of `kwargs`."""
    return resolve.packed(resolve, f, tuple(items_at(args)), kwargs)


def _by_access(resolve: Resolve, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved | None:
    """Reading, assigning and deleting attributes."""
    if f is getattr and len(args) in (2, 3):
        return get_attribute(resolve, args)
    if f is import_from:
        import_from(*args)  # which may import the module
        return get_attribute(resolve, (sys.modules[args[0]], args[1]))
    if f is attributes_of:
        return parts_of_subject(resolve, *args)
    if f is setattr and len(args) == 3:
        return set_attribute(resolve, *args)
    if f in _SET_PAST_CLASS and len(args) == 3:
        return from_undo(*objects.store_past_class(*args))
    if f in _DELETE_PAST_CLASS and len(args) == 2:
        return from_undo(*objects.delete(*args, past_class=True))
    if f is vars and len(args) == 1 and not isinstance(args[0], type | types.ModuleType):
        # Its shadow is that of the object.
        return vars(args[0]), nothing(1)
    if f is not delattr or len(args) != 2:
        return None
    deleter = objects.deleter_of(*args)
    if deleter is None:
        return from_undo(*objects.delete(*args))
    _, back = resolve(deleter.func, deleter.args, {})
    return None, lambda y_bar, shadows: (back(None, shadows), Bars(None, (None, None), {}))[1]


def _by_generator(resolve: Resolve, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved | None:
    """A function that uses a generator up, or makes a context manager of one."""
    if any(type(x) is types.GeneratorType for x in args):
        return generators.collected(resolve, f, args, kwargs)
    return generators.made_manager(resolve, f, args, kwargs)


def _by_special_method(resolve: Resolve, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved | None:
    """An operator that writes in place, by the method of the user's class."""
    special = _special_method(f, args)
    return None if special is None else resolve(special, args, kwargs)


def _by_binary(resolve: Resolve, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved | None:
    """An operator that would write in place, of what has none."""
    binary = looked_up(_AUGMENTED, f)
    return None if binary is None or not args else resolve(binary, args, kwargs)


_AUGMENTED = {
    getattr(operator, f"i{name.rstrip('_')}"): getattr(operator, name)
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift", "and_", "or_", "xor")
}
"""What `x += y` is where `x` has no operator in place."""
_METHODS = {getattr(np.ndarray, f"__{f.__name__}__"): f for f in _AUGMENTED}
_SPECIAL = {
    operator.setitem: "__setitem__",
    operator.delitem: "__delitem__",
    **{f: f"__{f.__name__}__" for f in _AUGMENTED},
}


_STORES = (operator.setitem, operator.delitem)


def _special_method(f: Any, args: tuple[Any, ...]) -> Any:
    """The method of the user's class that writing with an operator calls."""
    name = looked_up(_SPECIAL, f)
    if name is None or not args:
        return None
    found = static_member(type(args[0]), name)
    return found if isinstance(found, types.FunctionType) else None


# Writes


def _by_write(resolve: Resolve, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved | None:
    """A call of a known function that writes into one of its arguments."""
    f = _METHODS.get(f, f) if isinstance(f, types.WrapperDescriptorType) else f
    if f in _STORES and args and not hasattr(type(args[0]), _SPECIAL[f]):
        f(*args)  # raises Python's error
    combined = of_sets(f, args)
    if combined is not None:
        return combined
    if makes_item(f, args):
        return made_item(resolve, *args)
    if isinstance(f, types.MethodType) and has_write_handler(f.__func__):
        return resolve(f.__func__, (f.__self__, *args), kwargs)
    if args and type(args[0]) is dict and "__builtins__" in args[0] and written_argument(f, args, kwargs) is not None:
        raise MutationError(
            "the variables of a module are written as a dict", None, "Assign them by their names (`global`), or use an object."
        )
    found = find_write_handler(f, args)
    if found is not None:
        if found is not arrays.set_array_item and args and isinstance(args[0], np.ndarray):
            arrays.check_writable(args[0])
        check_write(f, args, kwargs)
        with noticing(name_of(f), f, args, kwargs):
            return by_write_handler(found, args, kwargs)
    if args and is_value(args[0]) and looked_up(_AUGMENTED, f) is not None:
        return None
    return _into_output(f, args, kwargs)


def _into_output(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved | None:
    """A call with `out=`, or of a function that is known to write and not how that is undone."""
    how = written_argument(f, args, kwargs)
    if how is None:
        return None
    given = output_of(f, args, kwargs)
    if given is None or not isinstance(given[0], np.ndarray | tuple):
        if _is_users(args):
            return None
        raise MutationError(f"{name_of(f)} {how}", None, REMEDY)
    out, inputs, named = given
    check_write(f, args, kwargs)
    with noticing(name_of(f), f, args, kwargs):
        y, back = outputs.call_into(f, inputs, named, out)

    def back_of_all(y_bar: Any, shadows: Shadows) -> Bars:
        bars = back(y_bar, shadows)
        return bars._replace(arguments=bars.arguments + (None,) * (len(args) - len(bars.arguments)))

    return y, back_of_all


def _is_users(args: tuple[Any, ...]) -> bool:
    """Whether the object written into is of a class of the user's, whose methods say what happens."""
    return bool(args) and not isinstance(args[0], list | dict | set | deque | bytearray | np.ndarray)


_STEPS: tuple[Callable[..., Resolved | None], ...] = (
    by_asking, _by_generator, _by_access, by_items, _by_special_method, _by_write, _by_binary,
)  # fmt: skip
"""What a call may be, in the order in which that is asked."""
