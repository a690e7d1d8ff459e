"""The forward rule that a reverse rule implies.

A pullback is a linear map from the cotangent of the value to those of the arguments, x_bar = J^T y_bar. The adjoint of its
text, with y_bar as the differentiated input, is J: it takes tangents of the arguments to that of the value.

    z = np.sin(x)      x_bar = z_bar * np.cos(x)             gives      z_dot = x_dot * np.cos(x)
    z = a @ b          a_bar = z_bar @ b.T                   gives      z_dot = a_dot @ b + a @ b_dot
                       b_bar = a.T @ z_bar
    y = np.sum(x)      x_bar = broadcast(y_bar, x.shape)     gives      y_dot = np.sum(x_dot)

So one declaration serves both modes. What the adjoint reads of the pullback's own values does not depend on y_bar, but for
shapes and dtypes; where it asks for those, the value of the call stands in for y_bar.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any, final

from microgradpy.ad.adjoint_builder import AdjointBuilder
from microgradpy.ad.adjoint_calls import undo_call
from microgradpy.ad.calls import Apart, Inlined, Static, StaticClosure, StaticTuple
from microgradpy.ad.inline import NotInlinable, splice_pullback
from microgradpy.ad.primal import walked
from microgradpy.ad.primal_builder import NeedsTracking, PrimalBuilder, Services
from microgradpy.dataclasses import dataclass, replace
from microgradpy.errors import DifferentiationError
from microgradpy.ir.axes import Axes
from microgradpy.ir.kinds import Array, Inert, Kind, Scalar, Sequence, TupleOf, Unknown, cotangent_kind, is_numeric
from microgradpy.ir.nodes import Const, Op, Region, Return, Statement, Value, Var
from microgradpy.ir.reasons import MayWrite
from microgradpy.ir.rewrite import substitute
from microgradpy.ir.traversal import is_none, uses
from microgradpy.runtime import cotangents as run_time
from microgradpy.runtime.tangents import check_implemented
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.filled import dense_tangent
from microgradpy.tangents.linear import expand_reduced


class NotTransposable(Exception):
    """The pullback has to be transposed at run time."""


class _Closed:
    """The compiler's services for a pullback, all of which has to be known now: what is left to run time may write."""

    trusts = True

    def __init__(self, services: Any) -> None:
        self._services = services

    def __getattr__(self, name: str) -> Any:
        return getattr(self._services, name)

    def unit(self, function: FunctionType | Apart, kinds: tuple[Kind, ...], active: tuple[bool, ...]) -> Any:
        unit = self._services.unit(function, kinds, active)
        if unit is None or isinstance(unit, MayWrite) or unit.calls_unknown:
            raise NotTransposable
        return unit

    def dispatcher(self, packed: bool, catches: bool, settles: bool) -> Const:
        raise NotTransposable

    def calls_unknown(self) -> None:
        raise NotTransposable


class _Same(dict[Var, Value]):
    """What is defined around a pullback is in it what it is outside."""

    def __missing__(self, var: Var) -> Value:
        return var


@final
@dataclass
class TangentBuilder(AdjointBuilder):
    """The adjoint of a pullback, in which the cotangents are tangents by name."""

    def bar_name(self, value: Value) -> str:
        return super().bar_name(value).replace("_bar", "_dot")

    def dense(self, cotangent: Value, var: Var, may_be_object: bool = False) -> Value:
        kind = self.kind(cotangent)
        if not isinstance(kind, Inert | Unknown):
            return cotangent
        return self.helper(dense_tangent, cotangent, var, hint=self.bar_name(var), kind=cotangent_kind(self.kind(var)))

    def sum(self, left: Value, right: Value, hint: str) -> Value:
        """NumPy's sum repeats a smaller tangent along the axes of a larger one by itself."""
        return super().sum(self._unspread(left, right), self._unspread(right, left), hint)

    def _unspread(self, part: Value, other: Value) -> Value:
        """What a tangent repeats, if the sum with the other one does that as well."""
        made = self.producers.get(part) if isinstance(part, Var) else None
        spread, kind = self._repeated(made) if made is not None else None, self.kind(other)
        if spread is None or not isinstance(kind, Array) or kind != self.kind(part) or other == part:
            return part
        of = self.kind(spread)
        return spread if isinstance(of, Scalar) or (isinstance(of, Array) and _broadcasts(of.shape, kind.shape)) else part

    def _repeated(self, made: Op) -> Value | None:
        """What an operation repeats along new axes in front, or along axes of length one."""
        if not isinstance(made.callee, Const) or made.from_user:
            return None
        if made.callee.value is unbroadcast:
            return made.arguments[0]
        if made.callee.value is expand_reduced and (made.arguments[2:] == _IN_FRONT or made.arguments[3] == Const(True)):
            return made.arguments[0]
        return None


_IN_FRONT = (Const(0), Const(False))


def _broadcasts(short: Axes, long: Axes) -> bool:
    """Whether axes are repeated to these, and to no other length."""
    pairs = zip(short, long[-len(short) :], strict=False)
    return 0 < len(short) <= len(long) and all(axis in (1, other) for axis, other in pairs)


def transpose(
    call: Inlined, dots: Mapping[Value, Value], builder: TangentBuilder, services: Any
) -> tuple[list[Statement], Value | None]:
    """The statements that compute the tangent of a call's value from those of its arguments, and that tangent (None if it is
    zero). `dots` has the tangents that are not zero. Raises NotTransposable."""
    seed = builder.variable(cotangent_kind(builder.kind(call.result)))
    try:
        with builder.region() as spliced:
            _, *contributions = splice_pullback(call.pullback, seed, builder)
        asked = [bar for argument, bar in zip(call.arguments, contributions, strict=False) if argument in dots]
        linear = _linear_part(_read_by(spliced, asked), seed, builder, services)
    except (NotInlinable, NeedsTracking, DifferentiationError) as error:
        raise NotTransposable from error
    adjoint = TangentBuilder(
        kinds=builder.kinds,
        active=linear.active,
        adjoint_half=services.adjoint_half,
        made=builder.made,
        producers=builder.producers,
        where=call.where,
    )
    with adjoint.region() as transposed:
        for argument, contribution in zip(call.arguments, contributions, strict=False):
            if argument in dots:
                _push(adjoint, linear, contribution, dots[argument])
        for recorded in reversed(linear.calls.values()):
            undo_call(adjoint, recorded)
        y_dot = adjoint.cotangents.get(seed)
    if len(contributions) < len(call.arguments) and any(a in dots for a in call.arguments[len(contributions) :]):
        raise NotTransposable  # the dispatcher says that the rule has no cotangent for it
    of = builder.kind(call.result)
    statements = [_with_shape_of(seed, of, _of_the_compiler(each), builder) for each in (*linear.open_regions[0], *transposed)]
    region = substitute(Region(tuple(statements), Return(Const(None) if y_dot is None else y_dot)), {seed: call.result})
    assert isinstance(region.terminator, Return)
    return list(region.statements), None if y_dot is None else region.terminator.value


def _linear_part(spliced: list[Statement], seed: Var, builder: TangentBuilder, services: Services) -> PrimalBuilder:
    """The primal of a pullback's text with respect to its seed, as a builder that has it in its outermost region."""
    linear = PrimalBuilder(
        kinds=builder.kinds,
        producers=builder.producers,
        services=_Closed(services),
        values=_Same(),
        active={seed},
        where=builder.where,
    )
    walked(linear, spliced)
    return linear


def _with_shape_of(seed: Var, kind: Kind, op: Op, builder: TangentBuilder) -> Op:
    """An operation that reads the shape of its second argument, of the seed if that has it too: nothing is computed for it."""
    if not isinstance(op.callee, Const) or op.callee.value not in (unbroadcast, expand_reduced):
        return op
    d, x, *rest = op.arguments
    is_known = isinstance(kind, Array) and kind.ndim == len(kind.shape) and None not in kind.shape
    return replace(op, arguments=(d, seed, *rest)) if is_known and builder.kind(x) == kind else op


def _read_by(spliced: list[Statement], asked: list[Static]) -> list[Statement]:
    """The statements that some of the cotangents are computed by. Nobody asks for the others, some of which no compiler may
    understand."""
    read, kept = set[Value](), list[Statement]()
    waiting = list(asked)
    while waiting:
        bar = waiting.pop()
        if isinstance(bar, StaticTuple):
            waiting += bar.items
        elif isinstance(bar, Var):
            read.add(bar)
    for statement in reversed(spliced):
        if not isinstance(statement, Op) or not read.isdisjoint(statement.results):
            read.update(uses(statement))
            kept.append(statement)
    return kept[::-1]


def _of_the_compiler(statement: Statement) -> Op:
    if not isinstance(statement, Op):
        raise NotTransposable
    return replace(statement, from_user=False)


def _push(adjoint: TangentBuilder, linear: PrimalBuilder, contribution: Static, dot: Value) -> None:
    """Let the cotangent that a pullback gives for an argument have the argument's tangent as its own cotangent."""
    match contribution:
        case StaticTuple(items=items):
            for place, item in enumerate(items):
                _push(adjoint, linear, item, adjoint.helper(run_time.cotangent_item, dot, Const(place)))
        case StaticClosure():
            raise NotTransposable
        case Var() | Const():
            value = linear.of(contribution)
            if is_none(value):
                return
            if not adjoint.is_active(value):
                if not is_numeric(adjoint.kind(value)):
                    adjoint.helper(check_implemented, value, dot)
                return
            if is_numeric(adjoint.kind(value)) and isinstance(value, Var):
                dot = adjoint.dense(dot, value)
            elif isinstance(value, Var) and isinstance(adjoint.kind(dot), TupleOf | Sequence) and _is_computed(value, adjoint):
                raise NotTransposable  # a list of tangents for what is an array of cotangents
            adjoint.accumulate(value, dot)


def _is_computed(value: Var, adjoint: TangentBuilder) -> bool:
    """Whether a cotangent is what an operator gives: a number or an array."""
    made = adjoint.producers.get(value)
    return made is not None and isinstance(made.callee, Const) and getattr(made.callee.value, "__module__", "") == "_operator"
