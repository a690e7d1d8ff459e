"""Calls of functions that differentiate, inside of differentiated code.

    g = gradient(f, x)            result = bars_of_call(0, asked, (f, None, (x,), None)); g = result[2]
    df = grad(f); g = df(x)       the same, but with zeros for None, and g = result[2][0]
    h = hessian(f, x)             h = hessian_of_call(f, x)           which is differentiated through its own source

What is known of a function that is differentiated inside says of which kinds these are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, MappingProxyType
from typing import Any, NamedTuple

from microgradpy.ad.binding import Packed, bind_inputs, written_defaults
from microgradpy.ad.primal_builder import PrimalBuilder
from microgradpy.dataclasses import replace
from microgradpy.errors import DifferentiationError
from microgradpy.frontend.closures import ClosureBody
from microgradpy.ir.kinds import Kind, is_numeric
from microgradpy.ir.nodes import (
    Const,
    Function,
    Op,
    Opcode,
    Region,
    Statement,
    Value,
    Var,
    fresh,
    function_constant,
    operator_constant,
)
from microgradpy.ir.reasons import MayWrite
from microgradpy.ir.rewrite import map_regions
from microgradpy.ir.traversal import terminator_values, terminators, uses, walk
from microgradpy.rules.nested import Asked, Known, bars_of_call, definition, held_again, held_gradient, values_of_call
from microgradpy.runtime.markers import differentiates

_BARS, _VALUES, _GETITEM = function_constant(bars_of_call), function_constant(values_of_call), operator_constant("getitem")
_NONE, _HELD_AGAIN = Const(None), function_constant(held_again)


# Before the primal


class Held(NamedTuple):
    """What a function differentiates that `grad` or `value_and_grad` has made: `f`, and what it returns of that."""

    f: Value
    asked: Asked
    is_single: bool
    has_value: bool


def with_nested_calls(function: Function, held: Mapping[Var, Held] = MappingProxyType({})) -> Function:
    """The same function with calls that differentiate as those of which there are rules. What `held` says of some of its
    variables is known."""
    if not held and not any(_callee(statement) is not None for statement in walk(function.body)):
        return function
    read = Counter(value for statement in walk(function.body) for value in uses(statement) if isinstance(value, Var))
    read.update(value for end in terminators(function.body) for value in terminator_values(end) if isinstance(value, Var))
    called = Counter(op.callee for op in walk(function.body) if isinstance(op, Op) and isinstance(op.callee, Var))
    made = {op.result: _held_by(op) for op in walk(function.body) if isinstance(op, Op) and _callee(op) is not None}
    own = {var: each for var, each in made.items() if each is not None and 0 < read[var] == called[var]}
    body = _rewritten(function.body, {**held, **own})
    again = tuple(_made_again(var, each) for var, each in held.items())
    return replace(function, body=Region((*again, *body.statements), body.terminator))


def _made_again(var: Var, held: Held) -> Op:
    """What makes a function that differentiates, where it is a value."""
    return Op(_HELD_AGAIN, (held.f, Const((held.asked, held.is_single, held.has_value))), (var,), from_user=False)


def _callee(statement: Statement) -> Any:
    """The function that differentiates which an operation calls; None if it calls another one."""
    callee = statement.callee.value if isinstance(statement, Op) and isinstance(statement.callee, Const) else None
    return callee if isinstance(callee, FunctionType) and differentiates(callee) else None


def _rewritten(region: Region, held: Mapping[Var, Held]) -> Region:
    statements = [map_regions(statement, lambda inner: _rewritten(inner, held)) for statement in region.statements]
    return Region(tuple(new for statement in statements for new in _expanded(statement, held)), region.terminator)


def _expanded(statement: Statement, held: Mapping[Var, Held]) -> Iterator[Statement]:
    if isinstance(statement, Op) and statement.callee in held:
        yield from _of_held(statement, *held[statement.callee])  # type: ignore[index]
    elif isinstance(statement, Op) and len(statement.results) == 1 and statement.result in held:
        return
    elif isinstance(statement, Op) and _callee(statement) is not None:
        made = _held_by(statement)
        if made is None:
            yield from _of_known(statement)
        else:
            yield replace(_made_again(statement.result, made), where=statement.where)
    else:
        yield statement


def _of_known(op: Op) -> Iterator[Statement]:
    found = definition(_callee(op))
    expand = None if found is None else _EXPANSIONS.get(found[0].__name__)
    if found is None or expand is None or not (op.arguments or found[1]):
        yield op
    else:
        yield from expand(op, *map(Const, found[1]))


def _of_gradient(op: Op) -> Iterator[Statement]:
    f, *args = op.arguments
    yield from _bars(op, Asked(), f, tuple(args), Const(2))


def _of_value_and_gradient(op: Op) -> Iterator[Statement]:
    f, *args = op.arguments
    named = dict(op.keywords)
    has_aux = named.pop("has_aux", Const(False))
    if not isinstance(has_aux, Const):
        yield op
        return
    yield from _pair(replace(op, keywords=tuple(named.items())), Asked(has_aux=bool(has_aux.value)), f, tuple(args))


def _of_jvp(op: Op) -> Iterator[Statement]:
    if len(op.arguments) != 3 or op.keywords:
        yield op
        return
    f, primals, tangents = op.arguments
    inputs, dots, pair = fresh(""), fresh(""), fresh("")
    yield _make(op, (f, _NONE, primals, _NONE), inputs)
    yield _make(op, (_NONE, _NONE, tangents, _NONE), dots)
    yield _make(op, (inputs, dots), pair)
    yield replace(op, callee=_VALUES, arguments=(Const(1), _NONE, pair))


def _of_hvp(op: Op) -> Iterator[Statement]:
    if len(op.arguments) < 3:
        yield op
        return
    f, x, v, *rest = op.arguments
    args, inputs, named, moved, dots, pair, found, bars = (fresh("") for _ in range(8))
    yield _make(op, (x, *rest), args)
    yield from _named(op, named)
    yield _make(op, (f, _NONE, args, named if op.keywords else _NONE), inputs)
    yield _make(op, (v,), moved)
    yield _make(op, (_NONE, _NONE, moved, _NONE), dots)
    yield _make(op, (inputs, dots), pair)
    asked = Const(Asked((0,), is_filled=True))
    yield replace(op, callee=_BARS, arguments=(Const(1), asked, pair), keywords=(), results=(found,))
    yield replace(op, callee=_GETITEM, arguments=(found, Const(2)), keywords=(), results=(bars,))
    yield replace(op, callee=_GETITEM, arguments=(bars, Const(0)), keywords=())


def _of_held(op: Op, f: Value, asked: Asked, is_single: bool, has_value: bool) -> Iterator[Statement]:
    """A call of what `grad` made of `f`."""
    if has_value or asked.has_aux or not is_single or (asked.names and op.keywords):
        of = f, Const(asked), Const(is_single), Const(has_value)
        yield replace(op, callee=function_constant(held_gradient()), arguments=(*of, *op.arguments))
        return
    numbers: Any = asked.numbers
    bars = fresh("")
    yield from _bars(replace(op, results=(bars,)), asked, f, op.arguments, Const(2))
    yield replace(op, callee=_GETITEM, arguments=(bars, Const(numbers[0])), keywords=())


def _of_held_constant(op: Op, f: Value, asked: Const, is_single: Const, has_value: Const) -> Iterator[Statement]:
    yield from _of_held(op, f, asked.value, is_single.value, has_value.value)


def _bars(op: Op, asked: Asked, f: Value, args: tuple[Value, ...], part: Const) -> Iterator[Statement]:
    found = fresh("")
    yield from _call(op, asked, f, args, found)
    yield replace(op, callee=_GETITEM, arguments=(found, part), keywords=())


def _pair(op: Op, asked: Asked, f: Value, args: tuple[Value, ...]) -> Iterator[Statement]:
    found, y, bars = fresh(""), fresh(""), fresh("")
    yield from _call(op, asked, f, args, found)
    for place, part in ((0, y), (2, bars)):
        yield replace(op, callee=_GETITEM, arguments=(found, Const(place)), keywords=(), results=(part,))
    yield _make(op, (y, bars), op.result)


def _call(op: Op, asked: Asked, f: Value, args: tuple[Value, ...], found: Var) -> Iterator[Statement]:
    packed, inputs, named = fresh(""), fresh(""), fresh("")
    yield _make(op, args, packed)
    yield from _named(op, named)
    yield _make(op, (f, _NONE, packed, named if op.keywords else _NONE), inputs)
    yield replace(op, callee=_BARS, arguments=(Const(0), Const(asked), inputs), keywords=(), results=(found,))


def _named(op: Op, named: Var) -> Iterator[Statement]:
    """The arguments by name."""
    if op.keywords:
        keys = tuple(part for name, value in op.keywords for part in (Const(name), value))
        yield replace(op, callee=Opcode.DICT, arguments=keys, keywords=(), results=(named,), from_user=False)


def _make(op: Op, parts: tuple[Value, ...], result: Var) -> Op:
    return replace(op, callee=Opcode.TUPLE, arguments=parts, keywords=(), results=(result,), from_user=False)


_EXPANSIONS: dict[str, Callable[..., Iterator[Statement]]] = {
    "gradient_of_call": _of_gradient,
    "value_and_gradient_of_call": _of_value_and_gradient,
    "jvp_of_call": _of_jvp,
    "hvp_of_call": _of_hvp,
    "held_gradient_of_call": _of_held_constant,
}
"""By the name of what stands for a function, in which more may be known of its arguments when it runs."""


def _held_by(op: Op) -> Held | None:
    """What is known of what `grad` or `value_and_grad` makes; None for any other call, and for options that are computed."""
    name = _callee(op).__name__
    given = dict(zip(("argnums", "has_aux"), op.arguments[1:], strict=False)) | dict(op.keywords)
    if name not in ("grad", "value_and_grad") or not op.arguments or len(op.arguments) > 3:
        return None
    if not all(isinstance(value, Const) for value in given.values()) or not given.keys() <= {"argnums", "has_aux"}:
        return None
    argnums, has_aux = (given.get(name, Const(0)).value for name in ("argnums", "has_aux"))  # type: ignore[union-attr]
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    if not numbers or any(type(number) is not int for number in numbers):
        return None
    asked = Asked(numbers, is_filled=True, has_aux=bool(has_aux))
    return Held(op.arguments[0], asked, not isinstance(argnums, tuple), name == "value_and_grad")


# In the primal


def defined(primal: PrimalBuilder, op: Op, callee: Value) -> tuple[Op, Value]:
    """A call by what stands for a function that differentiates, if it is one and something differentiated is given to it."""
    if callee in (_BARS, _VALUES):
        return _with_kinds(primal, op, callee), callee
    if not isinstance(callee, Const) or not differentiates(callee.value) or not primal.any_active(*primal.inputs(op)):
        return op, callee
    found = definition(callee.value)
    if found is None:
        return op, callee
    function, leading = function_constant(found[0]), tuple(map(Const, found[1]))
    return replace(op, callee=function, arguments=(*leading, *op.arguments)), function


def _with_kinds(primal: PrimalBuilder, op: Op, callee: Value) -> Op:
    """A call with what is known of its outcome, if the function is."""
    level, option, inputs = primal.inputs(op)[0]
    if not (isinstance(option, Const) and isinstance(level, Const)) or primal.services.tracks:
        return op
    if callee == _BARS and level.value == 0:
        asked = option.value._replace(known=_known(primal, option.value, inputs), still=_still(primal, inputs))
        option = option if asked == option.value else Const(asked)
    elif callee == _VALUES and level.value == 1:
        pair = _made(primal, inputs)
        if pair is not None:
            below, dots = pair.arguments
            found = _known(primal, Asked(()), below)
            kind = None if found is None else found[0]
            known = Known(kind, _still(primal, below), _still(primal, dots))
            option = option if known == option.value else Const(known)
    return replace(op, arguments=(level, option, op.arguments[2]))


def _known(primal: PrimalBuilder, asked: Asked, inputs: Value) -> tuple[Kind, tuple[bool, ...]] | None:
    """The kind of the value, and which arguments have a gradient for certain."""
    made = _made(primal, inputs)
    if made is None or made.arguments[3] != _NONE or not primal.services.inlines:
        return None
    args = _made(primal, made.arguments[2])
    found = None if args is None else _inputs_of(primal, made.arguments[0], args.arguments)
    if args is None or found is None:
        return None
    function, captured, bound = found
    values = (*captured, *bound)
    numbers = range(len(args.arguments)) if asked.numbers is None else asked.numbers
    wanted = {args.arguments[number] for number in numbers if -len(args.arguments) <= number < len(args.arguments)}
    active = tuple(place >= len(captured) and value in wanted for place, value in enumerate(values))
    kinds = tuple(map(primal.kind, values))
    try:
        unit = primal.services.unit(function, kinds, active)
    except DifferentiationError:
        return None
    if unit is None or isinstance(unit, MayWrite) or unit.in_progress:  # type: ignore[attr-defined]
        return None
    absent = dict(zip((value for value, flag in zip(values, unit.active, strict=True) if flag), unit.absent, strict=True))
    present = tuple(absent.get(value, True) is False and is_numeric(primal.kind(value)) for value in args.arguments)
    return unit.result_kind, present


def _still(primal: PrimalBuilder, inputs: Value) -> tuple[int, ...]:
    """The positional arguments that are not differentiated."""
    made = _made(primal, inputs)
    args = None if made is None else _made(primal, made.arguments[2])
    return () if args is None else tuple(n for n, value in enumerate(args.arguments) if not primal.is_active(value))


def _made(primal: PrimalBuilder, value: Value) -> Op | None:
    """What makes a tuple."""
    made = primal.producers.get(value) if isinstance(value, Var) else None
    return made if made is not None and made.callee is Opcode.TUPLE else None


def _inputs_of(
    primal: PrimalBuilder, f: Value, args: tuple[Value, ...]
) -> tuple[FunctionType, tuple[Value, ...], tuple[Value, ...]] | None:
    """A function that is known, with what it has captured and what its parameters get."""
    made = primal.producers.get(f) if isinstance(f, Var) else None
    captured: tuple[Value, ...] = ()
    if isinstance(f, Const) and isinstance(f.value, FunctionType) and not f.value.__closure__:
        function, defaults = f.value, written_defaults(f.value)
    elif made is not None and isinstance(made.payload, ClosureBody) and not made.payload.shared:
        body = made.payload
        captured = made.arguments[: len(body.code.co_freevars)]
        function, defaults = primal.services.nested(body.code, "inner"), {}
    else:
        return None
    bound = bind_inputs(function, args, {}, defaults)
    if bound is None or any(isinstance(value, Packed) for value in bound):
        return None
    return function, captured, tuple(value for value in bound if not isinstance(value, Packed))

