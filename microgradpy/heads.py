"""The heads of held gradient functions: what `grad(f)` is once it has been called some times with arguments of the same types.

    def differentiated(x0=NotGiven, /, *rest, **kwargs):
        try:
            try:
                k0, k1, k2, k3, k4, k5, k6, k7, k8, k9 = held.heads.head_1
                holds = (not rest and not kwargs and type(x0) is k0 and not k1.blocks
                         and k2.__code__ is k3 and k4.math is k5 and k5.sin is k6)
            except held.unusual:
                holds = False
            if holds:
                y, saved = k7(x0)
                if type(y) is k0:
                    b0 = k8(saved, 1.0)
                    ...
            return held.call(held.given(x0) + rest, kwargs)
        except held.explained():
            raise

All that the compiled code relies on is looked at, and then that is called: nothing is looked up, nothing is noted for others,
as only code that is isolated (`microgradpy.isolation`) gets a head. What does not hold is left to the general road, which
meets it as if there were no head: a mode, a debugger, other types, a replaced function, a value that is no number, NaN.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import keyword
import sys
import types
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any, final

import numpy as np

from microgradpy.binding import Binding, bind
from microgradpy.cache import UNDEFINED, Check, FunctionGuard, Guards, KindGuard
from microgradpy.dataclasses import dataclass, field
from microgradpy.isolation import is_isolated
from microgradpy.linking import bind_awaited, waiting_units
from microgradpy.patterns import Match
from microgradpy.plans import UNIT_SEEDS, Plan, known_parts, known_plan
from microgradpy.runtime.dispatch import Wanted, has_source_only
from microgradpy.runtime.modes import RUN, SPECIAL, Mode
from microgradpy.runtime.real_powers import ComplexPower
from microgradpy.tangents.strong_zeros import has_nan, is_nan_in_any

_INPUTS = frozenset((float, int, complex, bool, np.float64, np.float32, np.int64, str, type(None)))
"""The types of which no more is to be known than the type; besides, arrays of numbers."""
_OWN_GRADIENT = {float: float, int: float, complex: complex, np.float64: np.float64}
"""The types of numbers, and of their gradients: a cotangent of that type is one as it stands."""
_FEW = 3
"""Up to how many names of a module are looked at one by one."""


@final
@dataclass(frozen=True, slots=True)
class Form:
    """What a gradient function returns: the gradients of these arguments, the only one bare, and before them the value."""

    numbers: tuple[int, ...]
    is_single: bool
    has_value: bool

    def text(self, gradients: list[str]) -> str:
        found = gradients[0] if self.is_single else f"({', '.join(gradients)},)"
        return f"y, {found}" if self.has_value else found


@final
class NotGiven:
    """The default of an argument of a head."""


@final
@dataclass(frozen=True, slots=True)
class Head:
    """The text of a head, which reads its constants from the attribute `place` of `held.heads`."""

    text: str
    place: str
    constants: tuple[Any, ...]
    count: int
    """Of positional arguments, all of which have a default, `NotGiven`."""
    version: int
    """Of the rules that the code was compiled with."""

    def code(self, code: types.CodeType) -> types.CodeType:
        """The code for a function with `code`, as the last line of which everything in it counts."""
        line = max(line for *_, line in code.co_lines() if line is not None)
        made = _compiled(self.text, code.co_filename, line)
        return made.replace(co_name=code.co_name, co_qualname=code.co_qualname)


@final
@dataclass(frozen=True, slots=True)
class Constants:
    """What the names mean that a text has instead of objects."""

    values: dict[int, Any] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)

    def __call__(self, value: Any) -> str:
        """The name of an object, or what it is written as."""
        if value is None or value is UNIT_SEEDS[float]:
            return repr(value)
        if id(value) not in self.names:
            self.values[id(value)], self.names[id(value)] = value, f"k{len(self.names)}"
        return self.names[id(value)]


_CALLEES = 16
"""So many callees that were not reached are made for a head; many more would take longer than it saves."""


def head_of(f: Any, args: tuple[Any, ...], y: Any, wanted: Wanted, form: Form) -> Head | None:
    """The head for calls like this one, which gave `y`; None if such calls cannot have one."""
    if type(f) is not types.FunctionType or not has_source_only(f) or type(y) not in UNIT_SEEDS or not is_usual():
        return None
    bound = bind(f, args, {})
    if not is_simple(f.__code__):
        return None
    read: Match | None = None
    if all(map(is_input, bound.values)):
        plan = known_plan(f, bound, wanted)
    else:
        plan, read = known_parts(f, bound, wanted) or (None, None)
        if read is None or not all(map(is_input, read.leaves)) or read.pattern.is_changed(plan.unit.active if plan else ()):
            return None
    taken = None if plan is None else plan.adjoint_of_gradient()
    if plan is None or plan.watches or taken is None or waiting_units(plan.unit) > _CALLEES:
        return None
    bind_awaited(plan.unit.primal, taken[0])  # what was not reached yet may be by the next call
    if not is_isolated(plan.unit, plan.unit.primal, taken[0]):
        return None
    return _made(f, args, y, form, bound, plan, taken, read)


def _made(
    f: types.FunctionType,
    args: tuple[Any, ...],
    y: Any,
    form: Form,
    bound: Binding,
    plan: Plan,
    taken: tuple[Any, tuple[bool, ...], bool],
    read: Match | None,
) -> Head:
    """The head for a plan and the adjoint that is taken; for parts of arguments if these are `read`."""
    adjoint, fresh, is_special = taken
    k = Constants()
    inputs, reads = inputs_of(f, bound, len(args), k)
    tests = [f"{k(f)}.__defaults__ is {k(f.__defaults__)}"] if len(inputs) > bound.captured + len(args) else []
    names = [f"x{index}" for index in range(len(args))]
    rest = f"held.finish({k(f)}, {k(plan)}, ({', '.join(names)},), y, saved)"
    if read is None:
        found = _gradients(form, plan, bound, args, fresh, k)
    else:
        parts = [f"p{index}" for index in range(len(read.values))]
        reads.append(f"({', '.join(parts)},), h = {k(read.pattern.read)}({', '.join(inputs)}) or {k(_UNLIKE)}")
        match = f"{k(Match)}({k(read.pattern)}, ({', '.join(parts)},), h)"
        found = _gradients_of_parts(form, plan, bound, len(args), fresh, match, k)
        rest = f"held.finish_parts({k(f)}, {k(plan)}, ({', '.join(names)},), {match}, y, saved)"
        inputs, bound = parts, Binding(read.values, 0, len(parts))
    looked_at = bound.values if read is None else read.leaves
    tests = [*tests_of_inputs(inputs[: len(looked_at)], looked_at, k), *tests_of_code(f, plan.unit.guards, k), *tests]
    tests = ["not rest and not kwargs", *tests]
    if is_special:  # a debugger is shown the general one
        tests.append(f"{k(sys.gettrace)}() is None")
    body = [f"y, saved = {k(plan.unit.primal)}({', '.join(inputs)})"]
    if plan.unit.assumes_real:  # the general road runs it once more
        call = f"return held.call(held.given({', '.join(names)}) + rest, kwargs)"
        body = ["try:", f"    {body[0]}", f"except {k(ComplexPower)}:", f"    {call}"]
    body.append(f"if type(y) is {k(type(y))}:")
    run = f"{k(adjoint)}(saved, {k(UNIT_SEEDS[type(y)])})"
    body += [f"    {line}" for line in _run_back(plan, inputs, bound, run, found, k)]
    body.append(f"return {rest}")
    return made_head(names, reads, tests, body, k, plan.unit.version)


_UNLIKE = ((), ())
"""What is read of arguments that are not as they were: it has too few parts."""


def _gradients_of_parts(
    form: Form, plan: Plan, bound: Binding, count: int, fresh: tuple[bool, ...], match: str, k: Constants
) -> list[str]:
    """The lines that return the gradients of arguments from the cotangents of their parts."""
    bars = ", ".join("None" if place is None else f"b{place}" for place in plan.unit.places)
    lines = [f"m = {match}", f"bars, whole = m.pattern.gathered([{bars}], {k(fresh)}, m)"]
    places = [(number % count, bound.captured + number % count) for number in form.numbers]
    return [*lines, f"return {form.text([f'held.fill(x{position}, bars[{at}], whole[{at}])' for position, at in places])}"]


def is_usual() -> bool:
    return RUN.mode == Mode() and RUN.zeros is None and not SPECIAL.blocks


def is_input(value: Any) -> bool:
    return type(value) in _INPUTS or (type(value) is np.ndarray and value.dtype.kind in "fciub")


def is_simple(code: types.CodeType) -> bool:
    return not code.co_kwonlyargcount and not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)


def made_head(names: list[str], reads: list[str], tests: list[str], body: list[str], k: Constants, version: int) -> Head:
    text = _TEXT.format(
        parameters=", ".join(f"{name}=None" for name in names),
        names=", ".join(names),
        constants=", ".join(k.names.values()),
        reads="".join(f"\n                {line}" for line in reads),
        tests=" and ".join(tests),
        body="\n                ".join(body),
    )
    place = _place(text)
    return Head(text.replace("PLACE", place), place, tuple(k.values.values()), len(names), version)


_TEXT = """
def made(held):
    def differentiated({parameters}, /, *rest, **kwargs):
        try:
            try:
                {constants}, = held.heads.PLACE{reads}
                holds = {tests}
            except held.unusual:
                holds = False
            if holds:
                {body}
            return held.call(held.given({names}) + rest, kwargs)
        except held.explained():
            raise
"""
_numbers = itertools.count(1)


@functools.lru_cache(maxsize=1024)
def _place(text: str) -> str:
    """A place of its own for the constants of each text: threads that are in two of them do not mix them up."""
    return f"head_{next(_numbers)}"


@functools.lru_cache(maxsize=256)
def _compiled(text: str, filename: str, line: int) -> types.CodeType:
    """The function in a text, all of which counts as one line of a file."""
    code = compile(text, filename, "exec", dont_inherit=True)
    for _ in range(2):
        code = next(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    units = len(code.co_code) // 2
    # For eight units at a time: that they have no columns, how many they are, and that they are no line further on.
    lines = [(_NO_COLUMNS | min(8, units - at) - 1, 0) for at in range(0, units, 8)]
    return code.replace(co_firstlineno=line, co_linetable=bytes(itertools.chain.from_iterable(lines)))


_NO_COLUMNS = 0x80 | 13 << 3
"""The code of such an entry in a table of lines (`Objects/locations.md` in the sources of Python)."""


# What is looked at


def inputs_of(f: types.FunctionType, bound: Binding, count: int, k: Constants) -> tuple[list[str], list[str]]:
    """The names of the inputs of the primal, and the lines that read those of them which the function captured."""
    captured = [f"c{index}" for index in range(bound.captured)]
    reads = [f"{name} = {k(cell)}.cell_contents" for name, cell in zip(captured, f.__closure__ or (), strict=True)]
    defaults = bound.values[bound.captured + count :]
    return [*captured, *(f"x{index}" for index in range(count)), *map(k, defaults)], reads


def tests_of_inputs(inputs: list[str], values: list[Any], k: Constants) -> Iterator[str]:
    for name, value in zip(inputs, values, strict=True):
        if type(value) is np.ndarray:
            yield test_of_array(name, value, k)
        elif name[0] != "k":  # what a default is does not change
            yield f"type({name}) is {k(type(value))}"


def test_of_array(name: str, x: np.ndarray[Any, Any], k: Constants) -> str:
    """Whether something is an array of the dtype and shape of `x`."""
    return f"type({name}) is {k(np.ndarray)} and {name}.dtype is {k(x.dtype)} and {name}.shape == {x.shape}"


def tests_of_code(f: types.FunctionType, guards: Guards, k: Constants) -> Iterator[str]:
    yield f"not {k(SPECIAL)}.blocks"
    yield f"{k(f)}.__code__ is {k(f.__code__)}"
    for _, checks in itertools.groupby(sorted(guards.checks, key=_namespace), _namespace):
        yield from _tests_of_names(list(checks), k)
    for kind in guards.kinds:
        yield _test_of_kind(kind, k)
    for function in guards.functions:
        yield _test_of_function(function, k)


def _namespace(check: Check) -> int:
    return id(check[0])


def _tests_of_names(checks: list[Check], k: Constants) -> Iterator[str]:
    """Those of one namespace: many of them by one comparison of tuples, unless it is that of a module."""
    namespace = checks[0][0]
    yield from (f"{name!r} not in {k(namespace)}" for _, name, value in checks if value is UNDEFINED)
    meant = {name: value for _, name, value in checks if value is not UNDEFINED}
    if len(meant) > _FEW and _module(namespace) is None:
        yield f"{k(itemgetter(*meant))}({k(namespace)}) == {k(tuple(meant.values()))}"
    else:
        yield from (f"{_read(namespace, name, k)} is {k(value)}" for name, value in meant.items())


def _module(namespace: Mapping[str, Any]) -> types.ModuleType | None:
    """The module that a namespace is of, if reading its attributes is reading that: it takes a third of the time."""
    found = sys.modules.get(str(namespace.get("__name__")))
    is_plain = type(found) is types.ModuleType and vars(found) is namespace and "__getattr__" not in namespace
    return found if is_plain else None


def _read(namespace: Mapping[str, Any], name: str, k: Constants) -> str:
    """A name of a namespace, which raises one of the errors of `GradientFunction.unusual` if there is none."""
    module = _module(namespace)
    if module is None or keyword.iskeyword(name) or not name.isidentifier():
        return f"{k(namespace)}[{name!r}]"
    return f"{k(module)}.{name}"


def _test_of_kind(guard: KindGuard, k: Constants) -> str:
    if guard.kind is None:
        return f"{guard.name!r} not in {k(guard.namespace)}"
    value, read = guard.namespace.get(guard.name, UNDEFINED), _read(guard.namespace, guard.name, k)
    if type(value) in _INPUTS:
        return f"type({read}) is {k(type(value))}"
    if type(value) is np.ndarray and value.base is None:
        dtype = k(value.dtype)
        return f"type(w := {read}) is {k(np.ndarray)} and w.ndim == {value.ndim} and w.dtype is {dtype} and w.base is None"
    return f"{k(guard)}.holds()"


def _test_of_function(guard: FunctionGuard, k: Constants) -> str:
    if guard.keyword_defaults is not None:
        return f"{k(guard)}.holds()"
    function = k(guard.function)
    tests = [f"{function}.__code__ is {k(guard.code)}", f"{function}.__defaults__ is {k(guard.defaults)}"]
    return " and ".join([*tests, f"{function}.__kwdefaults__ is None"])


# What comes out


def _run_back(plan: Plan, inputs: list[str], bound: Binding, run: str, found: list[str], k: Constants) -> Iterator[str]:
    """The lines that run the adjoint and return the gradients, unless there is NaN in a cotangent that may have zeros of a
    selection."""
    bars = [f"b{place}" for place in plan.unit.places if place is not None]
    call = f"{bars[0]} = {run}" if plan.unit.is_single else f"{', '.join(bars)}, = {run}"
    if not plan.unit.selects:
        yield from (call, *found)
        return
    yield f"with {k(np.errstate)}(invalid='ignore'):"
    yield f"    {call}"
    active = [value for value, place in zip(bound.values, plan.unit.places, strict=True) if place is not None]
    pairs = zip(bars, active, strict=True)
    numbers = [bar for bar, x in pairs if type(x) in _OWN_GRADIENT]
    others = ", ".join(bar for bar in bars if bar not in numbers)
    tests = [f"({bar} == {bar} if type({bar}) is {k(float)} else not {k(has_nan)}({bar}))" for bar in numbers]
    tests += [f"not {k(is_nan_in_any)}({others})"] * bool(others)
    yield f"if {' and '.join(tests)}:"
    yield from (f"    {line}" for line in found)


def _gradients(
    form: Form, plan: Plan, bound: Binding, args: tuple[Any, ...], fresh: tuple[bool, ...], k: Constants
) -> list[str]:
    """The lines that return the gradients: as they stand if all have the types that they should."""
    tests, ready, filled = [], [], []
    for number in form.numbers:
        position = number % len(args)
        at = bound.captured + position
        bar = _bar(plan, at)
        filled.append(f"held.fill(x{position}, {bar}, {fresh[at]})")
        test, found = _gradient(bar, args[position], fresh[at], k)
        ready.append(found or filled[-1])
        tests += [test] * bool(test)
    if not tests:
        return [f"return {form.text(ready)}"]
    return [f"if {' and '.join(tests)}:", f"    return {form.text(ready)}", f"return {form.text(filled)}"]


def _bar(plan: Plan, at: int) -> str | None:
    """The name of the cotangent of an input, if there is one."""
    place = plan.unit.places[at]
    return None if place is None or plan.unit.absent[place] else f"b{place}"


def _gradient(bar: str | None, x: Any, is_fresh: bool, k: Constants) -> tuple[str, str]:
    """Whether a cotangent is a gradient of `x` as it stands, but for who holds it, and that gradient; nothing if it takes more
    to say so."""
    if bar is None:
        return "", "0.0" if type(x) in (float, int) else ""
    if type(x) is np.ndarray and x.dtype.kind in "fc":
        return test_of_array(bar, x, k), bar if is_fresh else f"{bar}.copy()"
    cls = _OWN_GRADIENT.get(type(x))
    return ("", "") if cls is None else (f"type({bar}) is {k(cls)}", bar)
