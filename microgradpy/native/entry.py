"""Calls of gradient functions with `target="numba"`.

The first call with arguments of some types makes native code, and a head for it (`microgradpy.heads`): the code of the
gradient function tests the types, the shapes and all that the code relies on, and calls the compiled function. If that says
that something would raise or warn, the call goes the general road, as if there were no native code, which shows the user what
Python does. It has written nothing by then but its own memory.
"""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any, final

import numpy as np

from microgradpy.binding import Binding, active_inputs, bind
from microgradpy.cache import Unit, is_valid
from microgradpy.errors import DifferentiationError
from microgradpy.heads import Constants, Form, Head, inputs_of, is_simple, is_usual, made_head, tests_of_code
from microgradpy.ir.input_kinds import kinds_of
from microgradpy.native.code import Native, native_code, unit_for, warning_of
from microgradpy.native.helpers import EXACT
from microgradpy.native.types import ArrayOf, Number, Type, Unsupported
from microgradpy.runtime.activity import value_kind
from microgradpy.runtime.bars import Wanted
from microgradpy.runtime.dispatch import has_source_only

_MOST_HEADS = 64
_USUAL_ERRORS = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
"""How NumPy treats floating-point errors unless it is told otherwise: what underflows is not looked at."""


@final
class NativeHeads:
    """The heads of one gradient function, by the types and shapes of the inputs; None where there is none."""

    def __init__(self) -> None:
        self.heads: dict[Any, tuple[Head, Unit] | None] = {}
        self.has_warned = False

    def head_for(
        self,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        wanted: Wanted,
        form: Form,
        has_aux: bool,
        place: str,
        has_run: bool,
    ) -> Head | None:
        """The head to begin with for such a call; None if there is none, or the one at this place has given up. Whether a
        function is differentiated through its source is known when it `has_run`."""
        if not is_usual() or sys.gettrace() is not None:
            return None
        if type(f) is not types.FunctionType or not has_source_only(f) or not is_simple(f.__code__):
            if has_run:
                self._warn(f, Unsupported("callables other than plain functions with named parameters"))
            return None
        if has_aux:
            self._warn(f, Unsupported("has_aux"))
            return None
        bound = bind(f, args, {})
        key = (id(f.__code__), wanted, *map(_signature, bound.values))
        known = self.heads.get(key, ())
        if known is None:
            return None
        if known and is_valid(known[1]):
            return known[0] if known[0].place != place else None
        if len(self.heads) >= _MOST_HEADS:
            self.heads.clear()
        made = self._made(f, args, bound, wanted, form)
        self.heads[key] = made
        return None if made is None else made[0]

    def _made(
        self, f: types.FunctionType, args: tuple[Any, ...], bound: Binding, wanted: Wanted, form: Form
    ) -> tuple[Head, Unit] | None:
        try:
            unit = unit_for(f, kinds_of(bound.values, value_kind), active_inputs(bound, wanted, False))
            return _head(f, args, bound, unit, native_code(unit, bound.values), form), unit
        except Unsupported as found:
            self._warn(f, found)
        except DifferentiationError:
            pass  # which the general road raises
        except Exception as error:  # whatever goes wrong here, there is another target
            bug = f"{type(error).__name__}: {error}"
            self._warn(f, Unsupported(f"a form for it ({bug}; this is a bug in microgradpy, please report it)"))
        return None

    def _warn(self, f: Any, found: Unsupported) -> None:
        if self.has_warned:
            return
        self.has_warned = True
        if not isinstance(f, types.FunctionType):
            f = getattr(f, "__func__", None) or getattr(type(f), "__call__", None)  # noqa: B004 - its code is wanted
        if isinstance(f, types.FunctionType):
            code = f.__code__
            warnings.warn_explicit(warning_of(f, found), None, code.co_filename, code.co_firstlineno)


def _signature(value: Any) -> Any:
    if type(value) is np.ndarray:
        return value.dtype, value.shape, value.flags.carray
    return type(value)


def _head(f: types.FunctionType, args: tuple[Any, ...], bound: Binding, unit: Unit, native: Native, form: Form) -> Head:
    k = Constants()
    inputs, reads = inputs_of(f, bound, len(args), k)
    for number, (namespace, name, _) in enumerate(native.variables):
        reads.append(f"m{number} = {k(namespace)}[{name!r}]")
    read = [f"m{number}" for number in range(len(native.variables))]
    tests = ["not rest and not kwargs", *tests_of_code(f, unit.guards, k)]
    for name, value, kind in zip(inputs, bound.values, native.inputs, strict=True):
        tests += _tests_of(name, kind, k, getattr(value, "shape", None))
    for name, (_, _, kind) in zip(read, native.variables, strict=True):
        tests += _tests_of(name, kind, k, None)
    if len(inputs) > bound.captured + len(args):
        tests.append(f"{k(f)}.__defaults__ is {k(f.__defaults__)}")
    if native.uses_numpy:
        tests.append(f"{k(np.geterr)}() == {k(_USUAL_ERRORS)}")
    body = [*_call(inputs + read, native, k), "if holds:", f"    return {_result(args, bound, unit, native, form, k)}"]
    return made_head([f"x{at}" for at in range(len(args))], reads, tests, body, k, unit.version)


def _tests_of(name: str, kind: Type, k: Constants, shape: tuple[int, ...] | None) -> Iterator[str]:
    match kind:
        case Number() if kind.is_whole:
            yield f"type({name}) is int and -{EXACT} <= {name} <= {EXACT}"
        case Number():
            yield f"type({name}) is {'np.float64' if kind.may_be_numpy else 'float'}".replace("np.float64", k(np.float64))
        case ArrayOf(ndim=ndim):
            yield f"type({name}) is {k(np.ndarray)} and {name}.dtype is {k(_DOUBLE)} and {name}.flags.carray"
            yield f"{name}.ndim == {ndim}" if shape is None else f"{name}.shape == {shape}"


_DOUBLE = np.dtype(np.float64)


def _call(inputs: list[str], native: Native, k: Constants) -> list[str]:
    """The lines that call the compiled function. What it raises itself, such as for shapes that do not fit, is not shown."""
    bars = "".join(f", b{number}" for number, absent in enumerate(native.is_absent) if not absent)
    return [
        "try:",
        f"    holds, y{bars} = {k(native.entry)}({', '.join(inputs)})",
        f"except {k(Exception)}:",
        "    holds = False",
    ]


def _result(args: tuple[Any, ...], bound: Binding, unit: Unit, native: Native, form: Form, k: Constants) -> str:
    found = []
    for number in form.numbers:
        position = number % len(args)
        place = unit.places[bound.captured + position]
        if place is None or native.is_absent[place]:
            found.append("0.0" if type(args[position]) in (float, int) else f"held.fill(x{position}, None, False)")
        else:
            found.append(f"{k(np.float64)}(b{place})" if type(args[position]) is np.float64 else f"b{place}")
    text = form.text(found)
    return f"{k(np.float64)}({text[0]}){text[1:]}" if form.has_value and native.value.may_be_numpy else text
