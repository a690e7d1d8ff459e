"""What a rule of this package comes to, kept: the operations for one `x * y` of two floats are those for the next.

    mul_pullback(y_bar: float; x: float, y: float)      x_bar = y_bar * y;  y_bar = y_bar * x

A rule that is spliced in looks at the kinds of its arguments, at constants, and at how some arrays were made. Where there is
nothing but the first two to look at, what was appended once is appended again with other variables. Lengths of axes are known
by symbols, of which only matters which are equal. Rules of users may read variables of their modules, and are spliced in each
time.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, final

import numpy as np

from microgradpy.ad.calls import Static, StaticClosure, StaticTuple
from microgradpy.dataclasses import dataclass
from microgradpy.ir.axes import is_term, term
from microgradpy.ir.builder import Builder
from microgradpy.ir.kinds import INT, Array, Kind, Scalar, Sequence, TupleOf, map_axes
from microgradpy.ir.nodes import Const, Op, Statement, Value, Var, fresh
from microgradpy.passes.lengths import length_of

_MOST = 4096
_LITERALS = (bool, int, float, complex, str, type(None))
_LOOKED_INTO = (operator.mul, np.full)
"""What these made is looked into (`passes.expansion`)."""
_OWN = __name__.partition(".")[0] + "."


@final
@dataclass(frozen=True, slots=True)
class Recording:
    """What was appended for `inputs`, what is proven of the results, and what came out. In the kinds, the symbol of an axis is
    one that the inputs have, by its number, or a result's own: `("input", 0)`, `("result", 2, 1)`."""

    inputs: tuple[Var, ...]
    statements: tuple[Op, ...]
    kinds: tuple[Kind, ...]
    outcome: Static
    owners: tuple[object, ...]

    def replay(self, call: Call, builder: Builder) -> Static:
        """Append the same for other variables; what comes out for them."""
        new: dict[Value, Value] = dict(zip(self.inputs, call.numbers, strict=True))
        made: list[Var] = []
        symbols = list(call.symbols)

        def axis_of(axis: Any) -> Any:
            match axis:
                case ("input", number):
                    return symbols[number]
                case ("result", result, number):
                    return (made[result].id, number)
                case (name, *parts) if is_term(axis):
                    return term(name, *(part if isinstance(part, str) else axis_of(part) for part in parts))
            return axis

        for op in self.statements:
            results = tuple([fresh(old.hint, old.user_named) for old in op.results])
            for old, result in zip(op.results, results, strict=True):
                new[old] = result
                kind = self.kinds[len(made)]
                made.append(result)
                builder.know(result, kind if isinstance(kind, Scalar) else map_axes(kind, axis_of))
            callee = new[op.callee] if isinstance(op.callee, Var) else op.callee
            arguments = tuple([new[value] if isinstance(value, Var) else value for value in op.arguments])
            keywords = tuple([(name, new[value] if isinstance(value, Var) else value) for name, value in op.keywords])
            builder.add(Op(callee, arguments, results, keywords, op.payload, op.from_user, builder.where))
        return _renamed(self.outcome, new)


def _renamed(static: Static, new: Mapping[Value, Value]) -> Static:
    match static:
        case Var():
            return new[static]
        case StaticTuple(items=items):
            return StaticTuple(tuple([_renamed(item, new) for item in items]))
        case StaticClosure(function=function, captured=captured, globals=namespace):
            return StaticClosure(function, tuple([_renamed(value, new) for value in captured]), namespace)
    return static


_kept: dict[Hashable, Recording] = {}


@final
@dataclass(slots=True)
class Call:
    """A call of a rule, or of a pullback of one: what a recording of it is kept under, the variables and the symbols of axes
    that it is for, and what is known by its identity in the key, which has to stay as long as the key."""

    parts: list[Hashable]
    numbers: dict[Var, int]
    symbols: dict[Any, int]
    owners: list[object]

    @property
    def key(self) -> tuple[Hashable, ...]:
        return tuple(self.parts)

    def of(self, owner: object) -> None:
        self.parts.append(id(owner))
        self.owners.append(owner)

    def describe(self, static: Static, builder: Builder) -> bool:
        """Add a value that is given; whether nothing but its kind, or the constant that it is, can matter."""
        match static:
            case Var():
                kind = builder.kind(static)
                if isinstance(kind, Array) and kind.ndim is not None:
                    kind = map_axes(kind, self.number_of)
                elif kind == INT:
                    # An array may be made as long as it.
                    self.parts.append(self.number_of(length_of(static, builder)))
                elif not isinstance(kind, Scalar):
                    return False
                self.parts += (self.numbers.setdefault(static, len(self.numbers)), kind)
                return isinstance(kind, Scalar) or not _is_looked_into(builder.producers.get(static))
            case Const(value=value, path=path):
                self.parts.append(static)
                return not path and type(value) in _LITERALS
            case StaticTuple(items=items):
                self.parts += (StaticTuple, len(items))
                return all([self.describe(item, builder) for item in items])
            case StaticClosure(function=function, captured=captured):
                self.of(function)
                return all([self.describe(value, builder) for value in captured])
        return False

    def number_of(self, axis: Any) -> Any:
        return 1 if axis == 1 else ("input", self.symbols.setdefault(axis, len(self.symbols)))


def _is_looked_into(made: Op | None) -> bool:
    if made is None or made.from_user or not isinstance(made.callee, Const):
        return False
    return any(made.callee.value is function for function in _LOOKED_INTO)


def call_of(
    owner: object, given: Iterable[Static], namespace: Mapping[str, Any], builder: Builder, *, besides: Hashable = None
) -> Call | None:
    """A call of `owner`, which is from the module with this namespace; None if more than kinds and constants may matter."""
    if not str(namespace.get("__name__")).startswith(_OWN):
        return None
    call = Call([besides], {}, {}, [])
    call.of(owner)
    return call if all(call.describe(static, builder) for static in given) else None


def recorded(call: Call) -> Recording | None:
    return _kept.get(call.key)


def keep(call: Call, statements: Iterable[Statement], outcome: Static, builder: Builder) -> None:
    """Keep what was appended for a call, if all that is proven of the results can be said of those of another call."""
    made = tuple(statement for statement in statements if isinstance(statement, Op))
    results = [result for op in made for result in op.results]
    symbols: dict[Any, Any] = {None: None, 1: 1} | {axis: ("input", number) for axis, number in call.symbols.items()}
    ours = {var.id: number for number, var in enumerate(results)}
    unknown = False

    def axis_of(axis: Any) -> Any:
        nonlocal unknown
        if axis in symbols:
            return symbols[axis]
        if is_term(axis):
            return (axis[0], *(part if isinstance(part, str) else axis_of(part) for part in axis[1:]))
        result = ours.get(axis[0])
        unknown = unknown or result is None
        return None if result is None else ("result", result, axis[1])

    kinds = tuple([map_axes(builder.kind(result), axis_of) for result in results])
    if not unknown and not any(_has_unknown_rank(builder.kind(result)) for result in results):
        if len(_kept) >= _MOST:
            _kept.clear()
        _kept[call.key] = Recording(tuple(call.numbers), made, kinds, outcome, tuple(call.owners))


def _has_unknown_rank(kind: Kind) -> bool:
    """Whether there is an array whose one symbol stands for all axes."""
    match kind:
        case Array(ndim=ndim):
            return ndim is None
        case TupleOf(items=items):
            return any(map(_has_unknown_rank, items))
        case Sequence(entries=entries):
            return any(_has_unknown_rank(item) for _, item in entries)
    return False
