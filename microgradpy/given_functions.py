"""Functions that a function is given, or has captured: by their code, and what they have captured themselves.

    def twice(f, x): return f(f(x))             inputs  f, x
    twice(lambda t: a * t, 3.0)                 inputs  a, x            f = (lambda t: a * t)

So a call of `f` is one of a function that is known. What `grad` has made is known by what it is of.
"""

from __future__ import annotations

import functools
import types
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, final

from microgradpy.ad.binding import Packed, bind_inputs, literal_defaults
from microgradpy.ad.calls import Apart
from microgradpy.ad.nested_calls import Held, with_nested_calls
from microgradpy.cache import UNDEFINED, Check
from microgradpy.dataclasses import dataclass, replace
from microgradpy.frontend.closures import ClosureBody
from microgradpy.frontend.source import shared_names
from microgradpy.gradient_functions import held_by
from microgradpy.ir.input_kinds import kinds_of
from microgradpy.ir.kinds import Kind
from microgradpy.ir.nodes import (
    SELF,
    Const,
    Function,
    Op,
    Opcode,
    Parameter,
    Region,
    Return,
    Statement,
    Value,
    Var,
    fresh,
    function_constant,
)
from microgradpy.ir.rewrite import map_regions, map_statements, substitute
from microgradpy.ir.traversal import walk
from microgradpy.pipeline import checks_of_members, instrumented, writing_nothing
from microgradpy.promotion.driver import promote
from microgradpy.rules.nested import held_again
from microgradpy.rules.registry import rrule
from microgradpy.runtime.dispatch import value_kind
from microgradpy.runtime.markers import differentiates
from microgradpy.runtime.suspension import is_generator
from microgradpy.runtime.variables import value_in
from microgradpy.tangents.types import Tangent, is_structural_zero


@final
@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """What an input is given: a function with the `parts` that it has captured, or a value that is no such function. `made_of`
    is how a function that differentiates was made of its one part."""

    value: Any
    parts: tuple[Given, ...] = ()
    is_function: bool = False
    made_of: tuple[Any, ...] | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        if not self.is_function:
            return ("",)
        if self.made_of is not None:
            return ("held", *self.made_of, self.parts[0].key)
        if type(self.value) is functools.partial:
            names = tuple(self.value.keywords)
            return ("partial", len(self.value.args), names, *(part.key for part in self.parts))
        known_by: Any = self.value if _is_of_module(self.value) else self.value.__code__
        return (id(known_by), *(part.key for part in self.parts))

    def leaves(self) -> Iterator[Any]:
        """The values that are inputs in the place of this one."""
        if not self.is_function:
            yield self.value
        for part in self.parts:
            yield from part.leaves()

    def functions(self) -> Iterator[types.FunctionType]:
        if isinstance(self.value, types.FunctionType) and self.is_function:
            yield self.value
        for part in self.parts:
            yield from part.functions()

    def bar(self, bars: Iterator[Any]) -> Any:
        """The cotangent, from those of the leaves."""
        if not self.is_function:
            return next(bars)
        if type(self.value) is functools.partial:
            func, *held = (part.bar(bars) for part in self.parts)
            count = len(self.value.args)
            named = dict(zip(self.value.keywords, held[count:], strict=True))
            parts = {"func": func, "args": tuple(held[:count]), "keywords": named}
            return Tangent(functools.partial, parts)
        found = {name: part.bar(bars) for name, part in zip(self.names, self.parts, strict=True)}
        found = {name: bar for name, bar in found.items() if not is_structural_zero(bar)}
        return Tangent(type(self.value), found) if found else None

    def dots(self, dot: Any) -> Iterator[Any]:
        """The tangents of the leaves."""
        if not self.is_function:
            yield dot
            return
        if type(self.value) is functools.partial:
            own = {} if is_structural_zero(dot) else dict(dot)
            named = own.get("keywords") or {}
            held = (*(own.get("args") or (None,) * len(self.value.args)), *map(named.get, self.value.keywords))
            for part, part_dot in zip(self.parts, (own.get("func"), *held), strict=True):
                yield from part.dots(part_dot)
            return
        own = {} if is_structural_zero(dot) else dict(dot)
        for name, part in zip(self.names, self.parts, strict=True):
            yield from part.dots(own.get(name))

    @property
    def names(self) -> tuple[str, ...]:
        return ("__wrapped__",) if self.made_of is not None else self.value.__code__.co_freevars


def given(value: Any, namespace: dict[str, Any], inside: tuple[int, ...] = ()) -> Given:
    """What is known of a value for code of this module."""
    if type(value) is functools.partial and id(value) not in inside:
        every = (value.func, *value.args, *value.keywords.values())
        parts = tuple(given(each, namespace, (*inside, id(value))) for each in every)
        return Given(value, parts, True) if parts[0].is_function else Given(value)
    if not isinstance(value, types.FunctionType) or id(value) in inside:
        return Given(value)
    held = held_by(value)
    if held is not None and held[0] == "grad":
        _, f, *options = held
        part = given(f, namespace, (*inside, id(value)))
        return Given(value, (part,), part.is_function, tuple(options)) if part.is_function else Given(value)
    if differentiates(value):
        return Given(value)
    if _is_of_module(value):
        return Given(value, is_function=True)
    if rrule.has(value):
        return Given(value)  # which its text does not tell
    is_own = value.__globals__ is namespace and not (value.__defaults__ or value.__kwdefaults__)
    if not is_own or shared_names(value.__code__, namespace):
        return Given(value)
    cells = value.__closure__ or ()
    if any(value_in(cell) is value for cell in cells):
        return Given(value)  # it calls itself, by a unit of its own
    parts = tuple(given(value_in(cell), namespace, (*inside, id(value))) for cell in cells)
    return Given(value, parts, is_function=True)


def _is_of_module(function: types.FunctionType) -> bool:
    """Whether a function is called as one that its module has under its name."""
    return function.__closure__ is None and function.__globals__.get(function.__name__) is function


@final
@dataclass(frozen=True, slots=True)
class Known:
    """The IR of a function that is given functions, for what these have captured in their place."""

    apart: Apart
    functions: tuple[types.FunctionType, ...]
    """They keep the code alive that the IR is known by."""


def known(function: types.FunctionType, inputs: tuple[Given, ...], kinds: tuple[Kind, ...]) -> Apart:
    """The IR of a function for such inputs, whose kinds these are without the functions taken apart."""
    ir, checks = instrumented(function, kinds)
    return _kept(function, ir, ir.inputs, inputs, checks)


def known_held(function: types.FunctionType, of: Given, inputs: tuple[Given, ...]) -> Apart:
    """The same of a function that `grad` has made: of one that is called with these inputs."""
    differentiates, result = fresh("differentiated"), fresh("")
    args = tuple(fresh(f"x_{number}") for number in range(len(inputs)))
    call = Op(differentiates, args, (result,))
    ir = Function(of.value.__name__, _parameters(args), (differentiates,), Region((call,), Return(result)))
    return _kept(function, ir, (differentiates, *args), (of, *inputs), ())


_KEPT: OrderedDict[tuple[Any, ...], Known] = OrderedDict()
_MOST = 256


def _kept(
    function: types.FunctionType, ir: Function, variables: tuple[Var, ...], inputs: tuple[Given, ...], checks: Any
) -> Apart:
    kinds = kinds_of([leaf for each in inputs for leaf in each.leaves()], value_kind)
    key = (id(function.__code__), id(function.__globals__), kinds, tuple(each.key for each in inputs))
    found = _KEPT.get(key)
    if found is None or any(space.get(name, UNDEFINED) is not value for space, name, value in found.apart.checks):
        functions = tuple(each for one in inputs for each in one.functions() if held_by(each) is None)
        own = dict.fromkeys((function, *functions))
        found = _KEPT[key] = Known(_made(function, ir, variables, inputs, kinds, checks, tuple(own)), functions)
        if len(_KEPT) > _MOST:
            _KEPT.popitem(last=False)
    return found.apart


def _made(
    function: types.FunctionType,
    ir: Function,
    variables: tuple[Var, ...],
    inputs: tuple[Given, ...],
    kinds: tuple[Kind, ...],
    checks: tuple[Check, ...],
    functions: tuple[types.FunctionType, ...],
) -> Apart:
    builder = _Builder([], [], {}, [*checks])
    values = {var: builder.value(each, var) for var, each in zip(variables, inputs, strict=True)}
    body = substitute(ir.body, {var: value for var, value in values.items() if value != var})
    made = with_nested_calls(replace(ir, captured=(), parameters=_parameters(builder.inputs), body=body), builder.held)
    body = Region((*builder.made, *made.body.statements), made.body.terminator)
    made = _handing_on(replace(made, body=body), function.__globals__)
    codes = frozenset().union(*(writing_nothing(each, instrumented(each)[0]) for each in functions))
    found = promote(function, made, instrumented, kinds).made
    if found is None:
        return Apart(function, made, tuple(builder.checks), functions, codes)
    checks = (*builder.checks, *found.checks, *checks_of_members(found))
    return Apart(function, found.function, checks, (*functions, *found.functions), codes | found.followed)


# Functions that are handed on to others


def _handing_on(function: Function, namespace: dict[str, Any], inside: tuple[types.FunctionType, ...] = ()) -> Function:
    """The same function with calls of other functions of its module, which are given functions that are made in it, by the IR
    that these have for that."""
    made = {op.result: op for op in walk(function.body) if isinstance(op, Op) and _makes_function(op)}
    if not made:
        return function

    def rewritten(statement: Statement) -> tuple[Statement, ...]:
        statement = map_regions(statement, lambda inner: map_statements(inner, rewritten))
        callee = statement.callee.value if isinstance(statement, Op) and isinstance(statement.callee, Const) else None
        if not isinstance(callee, types.FunctionType) or callee in inside or not isinstance(statement, Op):
            return (statement,)
        is_known = callee.__globals__ is namespace and not (callee.__closure__ or rrule.has(callee) or differentiates(callee))
        if not is_known or made.keys().isdisjoint(statement.arguments) or is_generator(callee.__code__):
            return (statement,)
        bound = bind_inputs(callee, statement.arguments, dict(statement.keywords), literal_defaults(callee))
        if bound is None or any(isinstance(value, Packed) for value in bound):
            return (statement,)
        builder = _Handed(made, [], [], [], {})
        ir, checks = instrumented(callee)
        for var, value in zip(ir.inputs, bound, strict=True):
            builder.give(var, value)  # type: ignore[arg-type]
        own = with_nested_calls(replace(ir, captured=(), parameters=_parameters(builder.inputs)), builder.held)
        own = replace(own, body=Region((*builder.made, *own.body.statements), own.body.terminator))
        apart = Apart(callee, _handing_on(own, namespace, (*inside, callee)), checks, (callee,), writing_nothing(callee, ir))
        return (replace(statement, callee=Const(apart, callee.__name__, apart), arguments=tuple(builder.leaves), keywords=()),)

    return replace(function, body=map_statements(function.body, rewritten))


def _makes_function(op: Op) -> bool:
    """Whether an operation makes a function of which all is known."""
    if op.callee is Opcode.CLOSURE:
        body: ClosureBody = op.payload
        whole = not (body.shared or body.defaults or body.keyword_defaults)
        return whole and not any(isinstance(value, Const) and value.value is SELF for value in op.arguments)
    return isinstance(op.callee, Const) and op.callee.value is held_again


@dataclass
class _Handed:
    """What a function is given by who calls it: the `leaves`, for its `inputs`, of which it makes the functions that are
    `known` there."""

    known: Mapping[Var, Op]
    made: list[Op]
    inputs: list[Var]
    leaves: list[Value]
    held: dict[Var, Held]

    def give(self, var: Var, value: Value) -> None:
        op = self.known.get(value) if isinstance(value, Var) else None
        if op is None:
            self.inputs.append(var)
            self.leaves.append(value)
            return
        parts = tuple(fresh("") if isinstance(part, Var) else part for part in op.arguments)
        for part, own in zip(op.arguments, parts, strict=True):
            if isinstance(own, Var):
                self.give(own, part)
        if op.callee is Opcode.CLOSURE:
            self.made.append(replace(op, arguments=parts, results=(var,)))
        else:
            self.held[var] = Held(parts[0], *parts[1].value)  # type: ignore[union-attr]


def _parameters(variables: Iterable[Var]) -> tuple[Parameter, ...]:
    taken, found = set[str](), []
    for var in variables:
        name, number = var.hint, 0
        while name in taken:  # two functions may have captured variables of one name
            number += 1
            name = f"{var.hint}_{number}"
        taken.add(name)
        found.append(Parameter(var, name))
    return tuple(found)


@dataclass
class _Builder:
    """`made` are the operations that make functions, of the `inputs`; `held` are those that `grad` has made."""

    made: list[Op]
    inputs: list[Var]
    held: dict[Var, Held]
    checks: list[Check]

    def value(self, each: Given, var: Var) -> Value:
        if not each.is_function:
            self.inputs.append(var)
            return var
        function = each.value
        if each.made_of is not None:
            made_of = self.value(each.parts[0], fresh("f"))
            self.held[var] = Held(made_of, *each.made_of)
            return var
        if isinstance(function, functools.partial):
            func, *held = (self.value(part, fresh("held")) for part in each.parts)
            count = len(function.args)
            named = tuple(zip(function.keywords, held[count:], strict=True))
            self.made.append(Op(Const(functools.partial), (func, *held[:count]), (var,), named))
            return var
        if _is_of_module(function):
            return function_constant(function)
        inner, checks = instrumented(function)
        self.checks += checks
        names = function.__code__.co_freevars
        parts = tuple(self.value(part, fresh(name)) for name, part in zip(names, each.parts, strict=True))
        self.made.append(Op(Opcode.CLOSURE, parts, (var,), payload=ClosureBody(inner, function.__code__)))
        return var
