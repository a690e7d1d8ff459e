"""Arguments in sight, from call to call: which parts of them a function reads, and how its gradients are put together again.

    def read(v0, v1):                                       def gather(b, h):
        try:                                                    t1 = fields(k9, h[1], {"w": b[0], "b": b[1]})
            if not (type(v0) is k0): return None                t0 = fields(k8, h[0], {"layers": t1})
            v2 = v0.layers                                      return [t0, b[2]]
            ...
            return [v5, v6, v1], (v0, v4)
        except (AttributeError, KeyError): return None

A function that takes objects is compiled for what it read of them when it was first called (`microgradpy.promotion.arguments`).
`read` gives these parts of the arguments of another call, if all that was relied on is so there; nothing else of them matters.
"""

from __future__ import annotations

import gc
import keyword
import operator
import types
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, final

import numpy as np

from microgradpy.cache import CACHE, Check, FunctionGuard, Guards, Unit, followed_by, lock
from microgradpy.compiler import compile_unit
from microgradpy.dataclasses import dataclass, field
from microgradpy.errors import DifferentiationError, MutationError
from microgradpy.ir.input_kinds import kinds_of
from microgradpy.ir.nodes import Const, Function
from microgradpy.ir.reasons import MayWrite, Reason
from microgradpy.linking import errors_of_compiler
from microgradpy.originals import BUILTINS
from microgradpy.pipeline import instrumented
from microgradpy.projecting import WHOLE, is_projected
from microgradpy.promotion import classes
from microgradpy.promotion.arguments import Variable
from microgradpy.promotion.driver import Promoted, Promotion, promote
from microgradpy.promotion.given import IDENTICAL, LITERALS, holds_layers, holds_objects, objects_named
from microgradpy.promotion.places import Part
from microgradpy.rules.registry import rrule
from microgradpy.runtime.collector import resting
from microgradpy.runtime.dispatch import value_kind
from microgradpy.runtime.room import with_room
from microgradpy.runtime.suspension import is_generator
from microgradpy.state.reach import may_write
from microgradpy.state.stops import stopping_in
from microgradpy.tangents.fields import named_like
from microgradpy.tangents.projection import fields_of, project
from microgradpy.tangents.types import Tangent

_SIMPLE = frozenset((np.ndarray, float, int, complex, bool, str, type(None), np.float64, np.float32, np.int64))
_FUNCTIONS = (types.FunctionType, *IDENTICAL)
_MOST_PATTERNS, _COST, _MOST_CREDIT = 4, 8, 96
"""How many are kept for a function; and that one has to have been of use in so many calls before another one is made, twelve in
advance, or else the arguments of the function differ too much."""


class Match(NamedTuple):
    """The inputs that a call has by a pattern, and the holders among the parts of its arguments."""

    pattern: Pattern
    values: list[Any]
    held: tuple[Any, ...]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """What a function reads of its arguments. `function` is its IR for the parts, `counts` how many inputs it has for each of
    its own (None: that one, as it stands), `leaves` which of them are parts."""

    function: Function
    checks: tuple[Check, ...]
    functions: tuple[types.FunctionType, ...]
    guards: Guards
    followed: frozenset[types.CodeType]
    counts: tuple[int | None, ...]
    leaves: tuple[int, ...]
    whole: tuple[bool, ...]
    """Which gradients are in the form that users get."""
    read: Callable[..., tuple[list[Any], tuple[Any, ...]] | None]
    gather: Callable[[list[Any], tuple[Any, ...]], list[Any]]
    of_modules: int
    """How many inputs, the last ones, are read of variables of modules."""
    version: int
    """Of the rules: a function that has one is not written where it is called."""
    flags: dict[tuple[bool, ...], tuple[Any, ...]] = field(default_factory=dict)
    """Which gradients of inputs are nobody else's, by which cotangents of parts are."""

    def spread(self, flags: tuple[bool, ...]) -> tuple[bool, ...]:
        """Which parts are differentiated if these inputs of the function are: nothing that is read of a module is."""
        pairs = zip(flags, self.counts, strict=True)
        own = (flag for flag, count in pairs for _ in range(1 if count is None else count))
        return (*own, *(False,) * self.of_modules)

    def gathered(self, bars: list[Any], fresh: tuple[bool, ...], matched: Match) -> tuple[list[Any], tuple[Any, ...]]:
        """The cotangents of the inputs of the function from those of the parts, and what is `fresh` of them."""
        fresh = fresh or (False,) * len(bars)
        for number in self.leaves:
            bar, x = bars[number], matched.values[number]
            if bar is not None and not is_projected(x, bar, fresh[number]):
                bars[number] = project(x, bar)
        flags = self.flags.get(fresh)
        if flags is None:
            own = iter(fresh)
            of_inputs = [[next(own) for _ in range(1 if count is None else count)] for count in self.counts]
            pairs = zip(self.counts, self.whole, of_inputs, strict=True)
            flags = tuple(parts[0] if count is None else WHOLE if is_whole else False for count, is_whole, parts in pairs)
            self.flags[fresh] = flags
        return self.gather(bars, matched.held), flags


@final
@dataclass(slots=True)
class Patterns:
    """Those of one function, the last one first; `declined` are the types of arguments of which nothing can be in sight."""

    code: weakref.ref[types.CodeType]
    of_modules: bool
    """Whether the function names objects of its module."""
    found: list[Pattern] = field(default_factory=list)
    declined: set[tuple[type, ...]] = field(default_factory=set)
    credit: int = _MOST_CREDIT

    def forget(self, pattern: Pattern) -> None:
        self.found = [other for other in self.found if other is not pattern]

    def decline(self, pattern: Pattern, values: list[Any]) -> None:
        """Forget a pattern by which the function cannot be compiled."""
        self.forget(pattern)
        self.declined.add(tuple(map(type, values)))

    def matched(self, function: types.FunctionType, values: list[Any]) -> Match | None:
        for number, pattern in enumerate(self.found):
            read = pattern.read(*values)
            if read is not None:
                if self.credit < _MOST_CREDIT:
                    self.credit += 1
                if number:
                    self.found = [pattern, *(other for other in self.found if other is not pattern)]
                return Match(pattern, *read)
        if self.credit < _COST or tuple(map(type, values)) in self.declined:
            return None
        made = _made(function, values)
        read = None if made is None else made.read(*values)
        if made is None or read is None:
            self.declined.add(tuple(map(type, values)))
            return None
        self.credit -= _COST
        self.found = [made, *self.found[: _MOST_PATTERNS - 1]]
        return Match(made, *read)


def patterns_of(function: types.FunctionType) -> Patterns:
    key = id(function.__code__), id(function.__globals__)
    known: Patterns | None = CACHE.patterns.get(key)
    if known is None or known.code() is not function.__code__:
        if len(CACHE.patterns) > 1024:
            CACHE.patterns.clear()
        sees = objects_named(function.__code__, function.__globals__)
        known = CACHE.patterns[key] = Patterns(weakref.ref(function.__code__), sees)
    return known


def matched(function: types.FunctionType, values: list[Any]) -> Match | None:
    """What a call with these inputs looks like if its arguments, or variables of its module, are in sight; None if none of them
    is."""
    patterns = patterns_of(function)
    if not patterns.of_modules and _SIMPLE.issuperset(map(type, values)):
        return None
    return patterns.matched(function, values)


def renewed(function: types.FunctionType, read: Match, values: list[Any]) -> Match | None:
    """The same match, or that by another pattern if its own was made when names or rules meant something else."""
    if read.pattern.version == rrule.version and read.pattern.guards.hold():
        return read
    patterns_of(function).forget(read.pattern)
    return matched(function, values)


def unit_by_pattern(function: types.FunctionType, read: Match, values: list[Any], active: tuple[bool, ...]) -> Unit | None:
    """The unit of a function for the parts of its arguments that a pattern has given; None if it cannot be called by them: it
    writes, or calls what is not known before."""
    patterns = patterns_of(function)
    unit = _unit_of_parts(function, read, active)
    if unit is None:
        patterns.decline(read.pattern, values)
        return None
    writes = unit.runs_unseen and may_write(function, values, followed_by(unit))
    if writes or unit.calls_unknown or any(stopping_in(each.__code__) is not None for each in read.pattern.functions):
        patterns.decline(read.pattern, values)
        return None
    return unit


def _unit_of_parts(function: types.FunctionType, read: Match, active: tuple[bool, ...]) -> Unit | None:
    try:
        unit = compile_unit(function, kinds_of(read.values, value_kind), active, pattern=read.pattern)
    except DifferentiationError:
        return None
    return None if isinstance(unit, MayWrite) else unit


def check_unchanged_parts(function: types.FunctionType, read: Match, values: list[Any]) -> None:
    """Refuse a value of which parts of arguments have become others while it was computed: a property or an operator of an
    object that the program only looks at may write into what it is not given."""
    again = read.pattern.read(*values)
    if again is None or any(map(operator.is_not, again[0], read.values)):
        raise changed_while_it_ran(function)


def changed_while_it_ran(function: types.FunctionType) -> MutationError:
    return MutationError(
        f"what {function.__qualname__} uses was changed while it ran, by code in which nobody could foresee it",
        None,
        "Let a function write into it that is called by name, and no property or operator of an object of the module.",
    )


def why_not_in_sight(function: types.FunctionType, values: list[Any]) -> tuple[Reason, ...]:
    """Why arguments are not taken apart, found out once more for who asks."""
    read = _promotion(function, values)
    return () if read is None else read[0].kept


@with_room
def _made(function: types.FunctionType, values: list[Any]) -> Pattern | None:
    found = _promotion(function, values)
    made = None if found is None else found[0].made
    if found is None or made is None:
        return None
    _, checks, objects = found
    if not made.variables and not any(number in objects for number in made.parts):
        return None
    return _pattern(len(values), made, (*checks, *made.checks))


def _promotion(
    function: types.FunctionType, values: list[Any]
) -> tuple[Promotion, tuple[Check, ...], dict[int, Any]] | None:
    """What comes of a function with the arguments in sight that hold objects, and what its IR relies on; with these."""
    objects = {number: value for number, value in enumerate(values) if holds_objects(value) or holds_layers(value)}
    is_cell = any(isinstance(value, types.CellType) for value in values)
    if is_cell or is_generator(function.__code__) or stopping_in(function.__code__) is not None:
        return None
    if not objects and not objects_named(function.__code__, function.__globals__):
        return None
    functions = {number: value for number, value in enumerate(values) if isinstance(value, _FUNCTIONS)}
    kinds = kinds_of(values, value_kind)
    try:
        with lock, resting(), errors_of_compiler(function.__code__, function.__globals__):
            ir, checks = instrumented(function, kinds)
            return promote(function, ir, instrumented, kinds, objects | functions), checks, objects
    except DifferentiationError:
        return None


def _pattern(count: int, found: Promoted, checks: tuple[Check, ...]) -> Pattern:
    parts = found.parts
    counts = tuple(len(list(parts[number].leaves())) if number in parts else None for number in range(count))
    leaves: list[int] = []
    at = 0
    for own in counts:
        leaves += range(at, at + (own or 0))
        at += 1 if own is None else own
    whole = tuple(number in parts and _has_fields(parts[number]) for number in range(count))
    guards = Guards(checks, (), tuple(map(FunctionGuard.of, found.functions)))
    texts = _Texts()
    read, gather = texts.functions(count, parts, found.variables, found.members)
    of_modules = sum(len(list(variable.part.leaves())) for variable in found.variables)
    return Pattern(
        found.function,
        checks,
        found.functions,
        guards,
        found.followed,
        counts,
        tuple(leaves),
        whole,
        read,
        gather,
        of_modules,
        rrule.version,
    )


def _has_fields(part: Part) -> bool:
    return not part.is_leaf and not part.is_container and not classes.is_record(part.cls)


# Gradients


@final
@dataclass(frozen=True, slots=True)
class Form:
    """The names of the fields of objects of a class, with which `count` things are found in an object."""

    cls: type
    names: dict[str, None]
    count: int

    @classmethod
    def of(cls, x: Any) -> Form:
        return cls(type(x), dict.fromkeys(fields_of(x)), _count(x))


def _count(x: Any) -> int:
    """How many things an object refers to, which changes with the number of its fields; `__dict__` is not asked for, which
    would make the object slower, and counts where somebody has done that."""
    found = gc.get_referents(x)
    count = len(found)
    for each in found:
        if type(each) is dict:
            count += 1000 * len(each)
    return count


def fields(form: Form, x: Any, found: dict[str, Any]) -> Tangent:
    """The gradient of an object, with None for what was not used."""
    return Tangent(form.cls, form.names if _count(x) == form.count else dict.fromkeys(fields_of(x)), **found)


def items(x: Any, found: dict[int, Any]) -> Any:
    """The same of a list or tuple."""
    bars = [found.get(number) for number in range(len(x))]
    if type(x) is list:
        return bars
    return tuple(bars) if type(x) is tuple else named_like(x, bars)


def entries(x: Any, found: dict[Any, Any]) -> dict[Any, Any]:
    """The same of a dict."""
    return {**dict.fromkeys(x), **found}


# The two functions


class _Texts:
    """The lines of `read` and `gather`, and the objects that they name."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"fields": fields, "items": items, "entries": entries}
        self.tests: list[str] = []
        self.values: list[str] = []
        self.held: list[str] = []
        self.bars: list[str] = []
        self.count = 0

    def constant(self, value: Any) -> str:
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def functions(
        self, count: int, parts: Mapping[int, Part], variables: tuple[Variable, ...], members: tuple[Any, ...]
    ) -> tuple[Any, Any]:
        self.count = count
        self.tests += _tests_of_members(members, self.constant)
        gathered: list[str] = []
        for number in range(count):
            if number in parts:
                gathered.append(self.part(parts[number], f"v{number}"))
            else:
                gathered.append(f"b[{len(self.values)}]")
                self.values.append(f"v{number}")
        for variable in variables:
            name = f"v{self.count}"
            self.count += 1
            self.tests.append(f"{name} = {self.constant(variable.namespace)}[{variable.name!r}]")
            self.part(variable.part, name)
        inputs = ", ".join(f"v{number}" for number in range(count))
        lines = [f"def read({inputs}):", "    try:"]
        lines += [f"        {test}" for test in self.tests]
        lines += [f"        return [{', '.join(self.values)}], ({''.join(f'{name}, ' for name in self.held)})"]
        lines += ["    except (AttributeError, KeyError, IndexError):", "        return None", "", "def gather(b, h):"]
        lines += [f"    {line}" for line in self.bars]
        lines += [f"    return [{', '.join(gathered)}]", ""]
        names = {**self.names, "__builtins__": BUILTINS}
        exec(compile("\n".join(lines), "<arguments in sight>", "exec", dont_inherit=True), names)
        return names["read"], names["gather"]

    def holds(self, test: str) -> None:
        self.tests.append(f"if not ({test}): return None")

    def part(self, part: Part, name: str) -> str:
        """Look at a part that has this name; what its gradient is written as."""
        if isinstance(part.known, Const):
            self.static(part.value, name)
            return "None"
        self.holds(f"type({name}) is {self.constant(part.cls)}")
        if part.is_leaf:
            self.values.append(name)
            return f"b[{len(self.values) - 1}]"
        place = len(self.held)
        self.held.append(name)
        self.members(part, name)
        found: dict[Any, str] = {}
        for (how, key), child in part.children.items():
            if how == "keys":
                continue
            inner = f"v{self.count}"
            self.count += 1
            reads = {".": f"getattr({name}, {key!r})", "[]": f"{name}[{key!r}]"}
            is_plain = how == "." and key.isidentifier() and not keyword.iskeyword(key)
            self.tests.append(f"{inner} = {f'{name}.{key}' if is_plain else reads[how]}")
            bar = self.part(child, inner)
            if bar != "None":
                found[key] = bar
        if not found:
            return "None"
        result = f"t{place}"
        given = f"h[{place}], {{{', '.join(f'{key!r}: {bar}' for key, bar in found.items())}}}"
        unused = f"None if {' is '.join(found.values())} is None else "
        if _has_fields(part):
            self.bars.append(f"{result} = {unused}fields({self.constant(Form.of(part.value))}, {given})")
        else:
            self.bars.append(f"{result} = {unused}{'entries' if part.cls is dict else 'items'}({given})")
        return result

    def members(self, part: Part, name: str) -> None:
        """What is relied on of a part but for what it is made of."""
        if part.cls in (list, tuple):
            self.holds(f"len({name}) == {len(part.value)}")
        if ("keys", None) in part.children:
            self.holds(f"(*{name},) == {self.constant(tuple(part.value))}")
        for method, function in part.methods.items():
            self.tests.append(f"m = getattr({name}, {method!r})")
            self.holds(f"m.__func__ is {self.constant(function)} and m.__self__ is {name}")
        for missing in part.missing:
            if part.cls is dict:
                self.holds(f"{missing!r} not in {name}")
                continue
            of_class = classes.member(part.cls, missing)
            default = self.constant(of_class)
            self.holds(f"getattr({name}, {missing!r}, {default}) is {default}")

    def static(self, value: Any, name: str) -> None:
        known = self.constant(value)
        if type(value) in LITERALS and value is not None and type(value) is not bool:
            self.holds(f"type({name}) is {self.constant(type(value))} and {name} == {known}")
        else:
            self.holds(f"{name} is {known}")


def _tests_of_members(members: tuple[Any, ...], constant: Callable[[Any], str]) -> Iterator[str]:
    """That classes have what they had under names, and had not."""
    absent: dict[type, dict[str, None]] = {}
    present: dict[tuple[type, str], Any] = {}
    seen_classes: dict[type, None] = {}
    for names, name, _ in members:
        seen_classes[names.cls] = None
        for base in names.cls.__mro__[:-1]:
            if name in vars(base):
                present[base, name] = vars(base)[name]
                break
            if name != "__mro__":
                absent.setdefault(base, {})[name] = None
    for cls in seen_classes:
        yield f"if {constant(cls)}.__mro__ is not {constant(cls.__mro__)}: return None"
    for base, missing in absent.items():
        yield f"if not {constant(vars(base).keys())}.isdisjoint({constant(frozenset(missing))}): return None"
    for (base, name), value in present.items():
        yield f"if {constant(vars(base))}[{name!r}] is not {constant(value)}: return None"
