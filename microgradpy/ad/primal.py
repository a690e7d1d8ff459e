"""`primal`: the forward pass, which computes what the function does and keeps what the reverse pass needs of each call.

    z = x * sin(y)      becomes     t = np.sin(y)         recorded: Inlined(np.sin), closes over y
                                    z = x * t             recorded: Inlined(operator.mul), closes over x and t
    z = helper(x)       becomes     z, saved = helper_primal(x)
    z = callback(x)     becomes     z, callback_pullback = pullback_of(callback, x)

The same walk proves kinds and activity. A loop is walked until what is assumed of its state is what comes out; since
assumptions only widen, this ends. Unknown is active.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import FunctionType, MappingProxyType
from typing import Any, Protocol, assert_never, final

import numpy as np

from microgradpy.ad.calls import (
    DEFAULTS,
    KEYWORD_DEFAULTS,
    Append,
    Attribute,
    Build,
    Call,
    Capture,
    Dispatched,
    Inlined,
    Item,
    Iterated,
    Unit,
    UnitCall,
    Unpack,
)
from microgradpy.ad.inline import NotInlinable, splice_rule
from microgradpy.errors import DifferentiationError
from microgradpy.frontend.closures import ClosureBody
from microgradpy.ir.kinds import (
    INT,
    UNASSIGNED,
    UNKNOWN,
    Array,
    Inert,
    Kind,
    Scalar,
    Sequence,
    TupleOf,
    canonical,
    carries_nothing,
    join,
)
from microgradpy.ir.nodes import (
    Break,
    Const,
    Continue,
    DictItems,
    Each,
    Enumerate,
    For,
    Function,
    If,
    Items,
    Location,
    Op,
    Opcode,
    Raise,
    Range,
    Records,
    Region,
    Return,
    Reversed,
    Statement,
    Terminator,
    Unreachable,
    Value,
    Var,
    While,
    Yield,
    Zip,
)
from microgradpy.ir.rewrite import is_none, map_items
from microgradpy.passes.result_kinds import result_kind
from microgradpy.passes.typed_builder import Keywords, TypedBuilder, is_getattr
from microgradpy.rules.containers import MUTATING_METHODS
from microgradpy.rules.registry import (
    find_attribute_rule,
    is_inert_attribute,
    is_non_differentiable,
    rrule,
)
from microgradpy.runtime import opaque
from microgradpy.runtime.markers import NESTED_DIFFERENTIATION


class Services(Protocol):
    """What the transform asks of the compiler."""

    inlines: bool

    def unit(self, function: FunctionType, kinds: tuple[Kind, ...], active: tuple[bool, ...]) -> Unit | None:
        """The compiled callee, or None if it has to be called through the dispatcher."""

    def half(self, unit: Unit) -> Const:
        """The constant that stands for the unit's primal."""

    def dispatcher(self, packed: bool) -> Const:
        """The run-time entry `pullback_of`."""

    def global_kind(self, name: str) -> Kind | None:
        """What is proven, under a guard, of a module variable; None if there is none."""


@final
@dataclass(frozen=True, slots=True)
class Primal:
    """The forward pass before it is decided what it saves. `calls` are in program order, by result."""

    function: Function
    calls: Mapping[Var, Call]
    active: frozenset[Var]
    result_kind: Kind
    result_active: bool


def transform(
    function: Function, kinds: tuple[Kind, ...], active: tuple[bool, ...], services: Services
) -> Primal:
    """The primal of an instrumented function whose captured variables and parameters have these kinds, and of which those
    marked `active` are differentiated."""
    walker = _Walker(TypedBuilder(), services)
    inputs = (*function.captured, *(parameter.var for parameter in function.parameters))
    for var, kind, is_active in zip(inputs, kinds, active, strict=True):
        walker.builder.know(var, kind)
        walker.values[var] = var
        if is_active and not carries_nothing(kind):
            walker.builder.active.add(var)
    body = walker.region(function.body)
    return Primal(
        replace(function, body=body, kinds=MappingProxyType(dict(walker.builder.kinds))),
        MappingProxyType(dict(walker.calls)),
        frozenset(walker.builder.active),
        walker.returned_kind(),
        walker.returned_active,
    )


_IN_PLACE = {
    getattr(operator, f"i{name}"): Const(getattr(operator, full), f"operator.{full}", operator)
    for name, full in (
        ("add", "add"),
        ("sub", "sub"),
        ("mul", "mul"),
        ("truediv", "truediv"),
        ("floordiv", "floordiv"),
        ("mod", "mod"),
        ("pow", "pow"),
        ("matmul", "matmul"),
        ("lshift", "lshift"),
        ("rshift", "rshift"),
        ("and", "and_"),
        ("or", "or_"),
        ("xor", "xor"),
    )
}
_USE_THE_VALUE = "Use the value that the call returns."
_SEES_THE_FRAME = (eval, exec, locals, vars, dir)
_PYTHON_TYPES: dict[str, type] = {"list": list, "dict": dict, "set": set, "tuple": tuple, "str": str, "range": range}


@dataclass
class _Walker:
    builder: TypedBuilder
    services: Services
    values: dict[Var, Value] = field(default_factory=dict)
    calls: dict[Var, Call] = field(default_factory=dict)
    methods: dict[Var, tuple[Value, str, Op]] = field(default_factory=dict)
    assumptions: dict[Var, tuple[Kind, bool]] = field(default_factory=dict)
    returned: list[Kind] = field(default_factory=list)
    returned_active: bool = False

    # Regions ----------------------------------------------------------------------------------------------------

    def region(self, region: Region) -> Region:
        with self.builder.region() as statements:
            for statement in region.statements:
                self.statement(statement)
            terminator = self.terminator(region.terminator)
        return self.builder.seal(statements, terminator)

    def terminator(self, terminator: Terminator) -> Terminator:
        match terminator:
            case Yield(values=values):
                return Yield(tuple(map(self.of, values)))
            case Continue(values=values):
                return Continue(tuple(map(self.of, values)))
            case Break(values=values):
                return Break(tuple(map(self.of, values)))
            case Return(value=value, where=where):
                returned = self.of(value)
                self.returned.append(self.builder.kind(returned))
                self.returned_active |= self.builder.is_active(returned)
                return Return(returned, where)
            case Raise(exception=exception, cause=cause, where=where):
                return Raise(
                    None if exception is None else self.of(exception), None if cause is None else self.of(cause), where
                )
            case Unreachable():
                return terminator
        assert_never(terminator)

    def returned_kind(self) -> Kind:
        kinds = self.returned or [Inert("NoneType")]
        result = kinds[0]
        for kind in kinds[1:]:
            result = join(result, kind)
        return result

    def of(self, value: Value) -> Value:
        if not isinstance(value, Var):
            return value
        if value in self.methods and value not in self.values:
            self.values[value] = self.read_method(value)
        return self.values[value]

    def statement(self, statement: Statement) -> None:
        self.builder.where = statement.where
        match statement:
            case Op():
                self.operation(statement)
            case If():
                self.branch(statement)
            case While() | For():
                self.loop(statement)
            case _:
                assert_never(statement)

    def like(self, var: Var, kind: Kind, active: bool) -> Var:
        """A new variable named like the user's."""
        new = self.builder.variable(kind, var.hint, var.user_named)
        if active and not carries_nothing(kind):
            self.builder.active.add(new)
        return new

    def branch(self, statement: If) -> None:
        condition = self.of(statement.condition)
        then, orelse = self.region(statement.then), self.region(statement.orelse)
        yields = [arm.terminator.values for arm in (then, orelse) if isinstance(arm.terminator, Yield)]
        results = []
        for index, result in enumerate(statement.results):
            kind, active = self.merged([values[index] for values in yields])
            new = self.like(result, kind, active)
            self.values[result] = new
            results.append(new)
        self.builder.add(If(condition, then, orelse, tuple(results), statement.where))

    def merged(self, values: list[Value]) -> tuple[Kind, bool]:
        """What is proven of a variable that is one of these values (a value that is not assigned proves nothing false)."""
        kind: Kind = UNASSIGNED
        for value in values:
            kind = join(kind, self.builder.kind(value))
        return kind, any(map(self.builder.is_active, values))

    # Loops ------------------------------------------------------------------------------------------------------

    def loop(self, statement: While | For) -> None:
        initial = tuple(map(self.of, statement.initial))
        items = map_items(statement.items, self.of) if isinstance(statement, For) else None
        for parameter, value in zip(statement.parameters, initial, strict=True):
            before = self.assumptions.get(parameter)
            kind, active = self.merged([value])
            # What has a shape before the loop may have another one in it.
            now = (shapeless(kind), active)
            self.assumptions[parameter] = now if before is None else (join(before[0], now[0]), before[1] or now[1])
        returned, returned_active = len(self.returned), self.returned_active
        while True:
            parameters = []
            for parameter in statement.parameters:
                new = self.like(parameter, *self.assumptions[parameter])
                self.values[parameter] = new
                parameters.append(new)
            made = self.loop_body(statement, items)
            body, carried, broken = made.body, list(made.carried), list(made.broken)
            if not self.widen(statement.parameters, carried):
                break
            del self.returned[returned:]
            self.returned_active = returned_active
        results = []
        for index, result in enumerate(statement.results):
            kind, active = self.merged([parameters[index], *(values[index] for values in broken)])
            new = self.like(result, kind, active)
            self.values[result] = new
            results.append(new)
        rest = (tuple(parameters), initial, tuple(results), statement.where)
        if made.condition is not None:
            self.builder.add(While(made.condition, body, *rest))
        else:
            assert made.items is not None
            self.builder.add(For(made.items, body, *rest))

    def loop_body(self, statement: While | For, items: Items | None) -> _Body:
        if isinstance(statement, While):
            condition = self.region(statement.condition)
            body = self.region(statement.body)
            return _Body(body, *_edges(body), condition=condition)
        assert items is not None
        items = self.bind_items(items, statement.where)
        body = self.region(statement.body)
        return _Body(body, *_edges(body), items=items)

    def widen(self, parameters: tuple[Var, ...], carried: list[tuple[Value, ...]]) -> bool:
        """Join what the next iterations get into the assumptions; whether that changed them."""
        changed = False
        for index, parameter in enumerate(parameters):
            before = self.assumptions[parameter]
            kind, active = self.merged([values[index] for values in carried])
            after = (join(before[0], shapeless(kind)), before[1] or active)
            if after != before:
                self.assumptions[parameter] = after
                changed = True
        return changed

    def bind_items(self, items: Items, where: Location) -> Items:
        """The items with new variables of the kinds and activity that their sources give."""
        iterated: list[tuple[Var, Value, bool]] = []
        bound = self._bind(items, iterated, where)
        if not iterated:
            return bound
        if isinstance(bound, Enumerate) and bound.start == Const(0):
            position = bound.index
        else:
            position = self.builder.variable(INT, "k")
            bound = Enumerate(bound, Const(0), position)
        for var, source, backwards in iterated:
            self.calls[var] = Iterated(var, source, position, backwards, False, where)
        return bound

    def _bind(self, items: Items, iterated: list[tuple[Var, Value, bool]], where: Location) -> Items:
        match items:
            case Each(source=source, item=item):
                return Each(source, self.item(item, source, iterated, False))
            case Reversed(inner=Each(source=source, item=item)):
                return Reversed(Each(source, self.item(item, source, iterated, True)))
            case Reversed(inner=Range(arguments=arguments, item=item)):
                return Reversed(Range(arguments, self.assign(item, self.like(item, INT, False))))
            case Range(arguments=arguments, item=item):
                return Range(arguments, self.assign(item, self.like(item, INT, False)))
            case Enumerate(inner=inner, start=start, index=index):
                new = self.assign(index, self.like(index, INT, False))
                return Enumerate(self._bind(inner, iterated, where), start, new)
            case Zip(inners=inners, strict=strict):
                return Zip(tuple(self._bind(inner, iterated, where) for inner in inners), strict)
            case DictItems(source=source, key=key, value=value):
                new_key = self.assign(key, self.like(key, UNKNOWN, False))
                new_value = self.assign(value, self.like(value, UNKNOWN, self.builder.is_active(source)))
                if new_value in self.builder.active:
                    self.calls[new_value] = Iterated(new_value, source, new_key, False, True, where)
                return DictItems(source, new_key, new_value)
            case Records() | Reversed():
                raise AssertionError("only adjoints read tapes")
        assert_never(items)

    def item(self, item: Var, source: Value, iterated: list[tuple[Var, Value, bool]], backwards: bool) -> Var:
        new = self.assign(item, self.like(item, _item_kind(self.builder.kind(source)), self.builder.is_active(source)))
        if new in self.builder.active:
            iterated.append((new, source, backwards))
        return new

    def assign(self, old: Var, new: Var) -> Var:
        self.values[old] = new
        return new

    # Operations -------------------------------------------------------------------------------------------------

    def operation(self, op: Op) -> None:
        match op.callee:
            case Opcode.TUPLE | Opcode.LIST | Opcode.DICT | Opcode.SET:
                self.build(op)
            case Opcode.UNPACK:
                self.unpack(op)
            case Opcode.APPEND:
                self.append(op)
            case Opcode.CLOSURE:
                self.closure(op)
            case Opcode.GLOBAL:
                self.read_global(op)
            case Opcode.JOIN:
                self.plain(op, kind=Inert("str"))
            case Opcode.APPLY:
                self.apply(op)
            case Opcode():
                raise AssertionError(f"{op.callee} in an instrumented function")
            case _:
                self.call(op)

    def plain(self, op: Op, *, kind: Kind, active: bool = False, callee: Value | None = None) -> Var:
        """The user's operation as it stands."""
        arguments = tuple(map(self.of, op.arguments))
        keywords = tuple((name, self.of(value)) for name, value in op.keywords)
        head = op.callee if isinstance(op.callee, Opcode) else self.of(op.callee) if callee is None else callee
        result = self.like(op.result, kind, active)
        self.builder.add(Op(head, arguments, (result,), keywords, op.payload, True, op.where))
        self.values[op.result] = result
        return result

    def read_global(self, op: Op) -> None:
        kind = self.services.global_kind(op.payload)
        if kind is not None:
            self.plain(op, kind=kind)
            return
        raising = Const(opaque.undefined_name, "undefined_name", opaque.undefined_name)
        self.plain(replace(op, callee=raising, arguments=(Const(op.payload),), payload=None), kind=UNKNOWN)

    def build(self, op: Op) -> None:
        arguments = tuple(map(self.of, op.arguments))
        active = any(map(self.builder.is_active, arguments))
        kinds: dict[Opcode, Kind] = {
            Opcode.TUPLE: TupleOf(tuple(map(self.builder.kind, arguments))),
            Opcode.LIST: Sequence("list"),
            Opcode.DICT: Sequence("dict"),
            Opcode.SET: Sequence("set"),
        }
        assert isinstance(op.callee, Opcode)
        if op.callee is Opcode.SET and active:
            self.refuse(op, opaque.refuse_syntax, "a set of differentiated values", "Use a list or a tuple.")
            return
        result = self.plain(op, kind=kinds[op.callee], active=active)
        if result in self.builder.active:
            keys = tuple(map(Const, range(len(arguments)))) if op.callee is not Opcode.DICT else arguments[::2]
            items = arguments if op.callee is not Opcode.DICT else arguments[1::2]
            self.calls[result] = Build(result, keys, items, op.where)

    def unpack(self, op: Op) -> None:
        source = self.of(op.arguments[0])
        kind, active = self.builder.kind(source), self.builder.is_active(source)
        results = []
        for index, old in enumerate(op.results):
            item_kind = _item_kind(kind)
            if isinstance(kind, TupleOf) and len(kind.items) == len(op.results):
                item_kind = kind.items[index]
            results.append(self.assign(old, self.like(old, item_kind, active)))
        self.builder.add(Op(Opcode.UNPACK, (source,), tuple(results), (), None, True, op.where))
        if any(result in self.builder.active for result in results):
            self.calls[results[0]] = Unpack(results[0], tuple(results), source, op.where)

    def append(self, op: Op) -> None:
        items, item = map(self.of, op.arguments)
        active = self.builder.is_active(items) or self.builder.is_active(item)
        length = self.builder.call(Const(len, "len", len), (items,), hint="n") if active else Const(0)
        result = self.plain(op, kind=Sequence("list"), active=active)
        if active:
            self.calls[result] = Append(result, items, item, length, op.where)

    def closure(self, op: Op) -> None:
        body = op.payload
        assert isinstance(body, ClosureBody)
        captured = tuple(map(self.of, op.arguments))
        result = self.plain(op, kind=UNKNOWN, active=any(map(self.builder.is_active, captured)))
        if result in self.builder.active:
            names = tuple(var.hint for var in body.function.captured)
            split = len(names) + body.defaults
            fields: list[str | tuple[str, int | str]] = list(names)
            fields += [(DEFAULTS, index) for index in range(body.defaults)]
            fields += [(KEYWORD_DEFAULTS, name) for name in body.keyword_defaults]
            assert len(captured) == split + len(body.keyword_defaults)
            self.calls[result] = Capture(result, tuple(fields), captured, op.where)

    def apply(self, op: Op) -> None:
        arguments = tuple(map(self.of, op.arguments))
        if any(map(self.builder.is_active, arguments)):
            callee, *packed = arguments
            self.dispatch(op, callee, tuple(packed), (), packed=True)
        else:
            self.plain(op, kind=UNKNOWN)

    # Calls ------------------------------------------------------------------------------------------------------

    def call(self, op: Op) -> None:
        assert not isinstance(op.callee, Opcode)
        if isinstance(op.callee, Var) and op.callee in self.methods:
            self.call_array_method(op)
            return
        callee = self.of(op.callee)
        if isinstance(callee, Const):
            self.call_known(op, callee)
        else:
            self.call_unknown(op, callee)

    def inputs(self, op: Op) -> tuple[tuple[Value, ...], Keywords, bool]:
        arguments = tuple(map(self.of, op.arguments))
        keywords = tuple((name, self.of(value)) for name, value in op.keywords)
        return arguments, keywords, any(map(self.builder.is_active, (*arguments, *(value for _, value in keywords))))

    def call_known(self, op: Op, callee: Const) -> None:
        function = callee.value
        if _hashable(function) and function in _IN_PLACE:
            self.augmented(op, _IN_PLACE[function])
            return
        if function is getattr and len(op.arguments) == 2 and isinstance(op.arguments[1], Const):
            self.attribute(op)
            return
        arguments, keywords, active = self.inputs(op)
        kinds = tuple(map(self.builder.kind, arguments))
        kind = result_kind(function, kinds, arguments, dict(keywords))
        if self.refuse_known(op, callee, arguments, keywords, active):
            return
        if not active:
            self.call_inactive(op, callee, kind, (*kinds, *(self.builder.kind(value) for _, value in keywords)))
        elif is_non_differentiable(function) and not self.may_be_typed(function, kinds):
            self.plain(op, kind=kind)
        elif carries_nothing(kind):
            self.plain(op, kind=kind)
        elif function is operator.getitem:
            self.read_item(op, arguments, kind)
        elif rrule.has(function):
            self.call_rule(op, callee, arguments, keywords)
        else:
            self.call_function(op, callee, arguments, keywords)

    def refuse_known(
        self, op: Op, callee: Const, arguments: tuple[Value, ...], keywords: Keywords, active: bool
    ) -> bool:
        """Refuse, when reached, the calls that cannot be differentiated by what they are; whether this is one."""
        function = callee.value
        if not _hashable(function):
            return False
        out = dict(keywords).get("out")
        if active and function in NESTED_DIFFERENTIATION:
            found = "differentiation inside differentiated code"
            remedy = "Differentiate the outer function only, or pass what the inner gradient needs through stop_gradient."
        elif function in _SEES_THE_FRAME and not arguments[function in (eval, exec) :]:
            found = f"{function.__name__}() reads the variables of the frame it is called in"
            remedy = "Write the expression out, or name the variables."
        elif out is not None and not is_none(out):
            self.refuse(op, opaque.refuse_mutation, f"{_name_of(callee)} with out= writes in place", _USE_THE_VALUE)
            return True
        else:
            return False
        self.refuse(op, opaque.refuse_syntax, found, remedy)
        return True

    @staticmethod
    def may_be_typed(function: object, kinds: tuple[Kind, ...]) -> bool:
        """Whether arguments of these kinds may have a rule though others have none (`|` merges dicts)."""
        return rrule.is_typed(function) and not all(isinstance(kind, Scalar | Array | Inert) for kind in kinds)

    def call_inactive(self, op: Op, callee: Value, kind: Kind, kinds: tuple[Kind, ...]) -> None:
        """A call that no derivative flows through is made as it stands; one that might write into an array that was saved
        is watched."""
        function = callee.value if isinstance(callee, Const) else None
        known = isinstance(callee, Const) and (
            is_non_differentiable(function) or rrule.has(function) or isinstance(function, type)
        )
        if known or all(map(_is_immutable, kinds)):
            self.plain(op, kind=kind, callee=callee)
        else:
            self.watched(op, callee)

    def watched(self, op: Op, callee: Value) -> None:
        arguments, keywords, _ = self.inputs(op)
        watch = Const(opaque.call_unchanged, "call_unchanged", opaque.call_unchanged)
        result = self.like(op.result, UNKNOWN, False)
        place = Const(str(op.where))
        self.builder.add(Op(watch, (place, callee, *arguments), (result,), keywords, None, True, op.where))
        self.values[op.result] = result

    def call_unknown(self, op: Op, callee: Value) -> None:
        arguments, keywords, active = self.inputs(op)
        if active or self.builder.is_active(callee):
            self.dispatch(op, callee, arguments, keywords)
        else:
            kinds = tuple(map(self.builder.kind, (*arguments, *(value for _, value in keywords))))
            bound_to = self.builder.producers.get(callee) if isinstance(callee, Var) else None
            owner = bound_to.arguments[0] if bound_to is not None and is_getattr(bound_to.callee) else None
            if owner is not None and isinstance(self.builder.kind(owner), Inert | Scalar):
                self.plain(op, kind=UNKNOWN, callee=callee)
            else:
                self.call_inactive(op, callee, UNKNOWN, (UNKNOWN, *kinds))

    def call_array_method(self, op: Op) -> None:
        assert isinstance(op.callee, Var)
        target, name, _read = self.methods[op.callee]
        kind = self.builder.kind(target)
        cls: type = np.ndarray if isinstance(kind, Array) else _PYTHON_TYPES[kind.name]  # type: ignore[union-attr]
        if name in MUTATING_METHODS.get(cls, ()):
            self.refuse(
                op, opaque.refuse_mutation, f"{cls.__name__}.{name} writes in place",
                "Build a new value instead of writing into this one.",
            )
            return
        unbound = getattr(cls, name)
        callee = Const(unbound, f"{cls.__name__}.{name}", cls)
        arguments, keywords, active = self.inputs(op)
        active = active or self.builder.is_active(target)
        kinds = tuple(map(self.builder.kind, (target, *arguments)))
        kind = result_kind(unbound, kinds, (target, *arguments), dict(keywords))
        if not active or is_non_differentiable(unbound) or carries_nothing(kind):
            self.plain(op, kind=kind)
        elif rrule.has(unbound):
            self.call_rule(op, callee, (target, *arguments), keywords)
        else:
            self.dispatch(op, self.of(op.callee), arguments, keywords)

    def read_method(self, old: Var) -> Var:
        """Read a method as a value: it is passed on, or called through the dispatcher."""
        target, name, op = self.methods[old]
        result = self.like(old, UNKNOWN, self.builder.is_active(target))
        self.builder.add(replace(op, arguments=(target, Const(name)), results=(result,)))
        if result in self.builder.active:
            self.calls[result] = Attribute(result, target, name, op.where)
        return result

    def augmented(self, op: Op, binary: Const) -> None:
        """`x += y` on a name: on immutable values it is `x = x + y`; on others it writes in place."""
        target = self.of(op.arguments[0])
        kind = self.builder.kind(target)
        if isinstance(kind, Array | Sequence):
            self.refuse(
                op, opaque.refuse_mutation, f"`{op.where.text}` writes into an array or container in place",
                "Write it as `x = x + y`, which makes a new value.",
            )
            return
        if not _is_immutable(kind):
            check = Const(opaque.check_immutable, "check_immutable", opaque.check_immutable)
            result = self.builder.variable(Inert("NoneType"))
            place = Const(str(op.where))
            self.builder.add(Op(check, (target, place), (result,), (), None, True, op.where))
        self.call_known(replace(op, callee=binary), binary)

    def attribute(self, op: Op) -> None:
        target, name = self.of(op.arguments[0]), op.arguments[1]
        assert isinstance(name, Const)
        kind, active = self.builder.kind(target), self.builder.is_active(target)
        cls = _type_of(kind)
        if cls is not None and callable(getattr(cls, name.value, None)):
            self.methods[op.result] = (target, name.value, op)
            return
        proven = result_kind(getattr, (kind, Inert("str")), (target, name), {})
        if not active or (cls is not None and is_inert_attribute(cls, name.value)):
            self.plain(op, kind=proven)
            return
        if cls is np.ndarray and self.services.inlines:
            rule = find_attribute_rule(cls, name.value)
            if rule is not None and self.inline(op, rule, name.value, (target,), {}):
                return
        result = self.plain(op, kind=proven, active=True)
        if result in self.builder.active:
            self.calls[result] = Attribute(result, target, name.value, op.where)

    def read_item(self, op: Op, arguments: tuple[Value, ...], kind: Kind) -> None:
        container, index = arguments
        if not self.builder.is_active(container):
            self.plain(op, kind=kind)
            return
        result = self.plain(op, kind=kind, active=True)
        if result in self.builder.active:
            self.calls[result] = Item(result, container, index, op.where)

    def call_rule(self, op: Op, callee: Const, arguments: tuple[Value, ...], keywords: Keywords) -> None:
        function = callee.value
        if self.services.inlines:
            types = tuple(_type_of(self.builder.kind(argument)) for argument in arguments)
            # A rule for sequences gets cotangents that may be None; the dispatcher deals with those. So it does where
            # the choice among the rules depends on a type that is not known, but for + and *, whose rule for numbers
            # refuses sequences.
            kinds = tuple(map(self.builder.kind, arguments))
            sequences = any(isinstance(kind, Sequence | TupleOf) for kind in kinds) and _is_operator(function)
            open_choice = UNKNOWN in kinds and rrule.is_typed(function) and function not in (operator.add, operator.mul)
            rule = None if sequences or open_choice else rrule.find(function, types)
            if rule is not None and self.inline(op, rule, callee.path or function.__name__, arguments, dict(keywords)):
                return
        self.dispatch(op, callee, arguments, keywords)

    def inline(
        self, op: Op, rule: Callable[..., Any], name: str, arguments: tuple[Value, ...], keywords: Mapping[str, Value]
    ) -> bool:
        """Splice a rule in; whether that was possible."""
        try:
            value, pullback, positional = splice_rule(rule, arguments, keywords, self.builder)
        except NotInlinable:
            return False
        assert isinstance(value, Var)
        result = self.rename(value, op.result)
        self.values[op.result] = result
        if not carries_nothing(self.builder.kind(result)):
            self.builder.active.add(result)
            pullback = _renamed(pullback, value, result)
            self.calls[result] = Inlined(result, name, pullback, positional, op.where)
        return True

    def rename(self, value: Var, old: Var) -> Var:
        """Give the value of a spliced rule the user's name for it."""
        named = Var(value.id, old.hint, old.user_named)
        statements = self.builder.open_regions[-1]
        for index in range(len(statements) - 1, -1, -1):
            statement = statements[index]
            if isinstance(statement, Op) and value in statement.results:
                renamed = replace(statement, results=tuple(named if r == value else r for r in statement.results))
                statements[index] = renamed
                self.builder.producers[named] = renamed
                break
        return named

    def call_function(self, op: Op, callee: Const, arguments: tuple[Value, ...], keywords: Keywords) -> None:
        """Call a function through its own source where it has one and its parameters can be bound here."""
        function = callee.value
        if self.services.inlines and isinstance(function, FunctionType) and not function.__closure__:
            bound = _bind_arguments(function, arguments, keywords)
            if bound is not None and self.call_unit(op, callee, bound):
                return
        self.dispatch(op, callee, arguments, keywords)

    def call_unit(self, op: Op, callee: Const, arguments: tuple[Value, ...]) -> bool:
        kinds = canonical(tuple(map(self.builder.kind, arguments)))
        active = tuple(map(self.builder.is_active, arguments))
        try:
            unit = self.services.unit(callee.value, kinds, active)
        except DifferentiationError:
            return False  # the dispatcher refuses it when it is reached
        if unit is None:
            return False
        hint = op.result.hint or callee.value.__name__.strip("<>")
        (pair,) = self.builder.operation(self.services.half(unit), arguments, from_user=True)
        result = self.like(op.result, unit.result_kind, unit.result_active)
        saved = self.builder.variable(UNKNOWN, f"{hint}_saved")
        self.builder.add(Op(Opcode.UNPACK, (pair,), (result, saved), (), None, True, op.where))
        self.values[op.result] = result
        if result in self.builder.active:
            self.calls[result] = UnitCall(result, saved, unit, arguments, op.where)
        return True

    def dispatch(
        self, op: Op, callee: Value, arguments: tuple[Value, ...], keywords: Keywords, packed: bool = False
    ) -> None:
        """Leave the choice of the derivative to run time."""
        if any(self.builder.is_active(value) for _, value in keywords) and not packed:
            flat = tuple(part for name, value in keywords for part in (Const(name), value))
            positional = self.pack(Opcode.TUPLE, arguments, arguments, op)
            named = self.pack(Opcode.DICT, flat, tuple(value for _, value in keywords), op)
            arguments, keywords, packed = (positional, named), (), True
        entry = self.services.dispatcher(packed)
        pair = self.builder.variable(UNKNOWN)
        self.builder.add(Op(entry, (callee, *arguments), (pair,), keywords, None, True, op.where))
        result = self.like(op.result, UNKNOWN, True)
        name = op.result.hint or _name_of(callee)
        pullback = self.builder.variable(UNKNOWN, f"{name}_pullback")
        self.builder.add(Op(Opcode.UNPACK, (pair,), (result, pullback), (), None, True, op.where))
        self.values[op.result] = result
        self.calls[result] = Dispatched(result, pullback, callee, arguments, packed, op.where)

    def pack(self, opcode: Opcode, arguments: tuple[Value, ...], items: tuple[Value, ...], op: Op) -> Var:
        kind = TupleOf(tuple(map(self.builder.kind, items))) if opcode is Opcode.TUPLE else Sequence("dict")
        result = self.builder.variable(kind)
        self.builder.add(Op(opcode, arguments, (result,), (), None, True, op.where))
        if any(map(self.builder.is_active, items)):
            self.builder.active.add(result)
            keys = tuple(map(Const, range(len(items)))) if opcode is Opcode.TUPLE else arguments[::2]
            self.calls[result] = Build(result, keys, items, op.where)
        return result

    def refuse(self, op: Op, refusal: Callable[..., Any], found: str, remedy: str) -> None:
        """Refuse when this place is reached."""
        callee = Const(refusal, refusal.__name__, refusal)
        arguments = (Const(found), Const(str(op.where)), Const(remedy))
        result = self.like(op.result, UNKNOWN, False)
        self.builder.add(Op(callee, arguments, (result,), (), None, True, op.where))
        self.values[op.result] = result


@final
@dataclass(frozen=True, slots=True)
class _Body:
    body: Region
    carried: tuple[tuple[Value, ...], ...]
    broken: tuple[tuple[Value, ...], ...]
    condition: Region | None = None
    items: Items | None = None


def _edges(body: Region) -> tuple[tuple[tuple[Value, ...], ...], tuple[tuple[Value, ...], ...]]:
    """The values that each `Continue`, and each `Break`, of a loop carries."""
    carried, broken = [], []
    for terminator in loop_terminators(body):
        if isinstance(terminator, Continue):
            carried.append(terminator.values)
        elif isinstance(terminator, Break):
            broken.append(terminator.values)
    return tuple(carried), tuple(broken)


def loop_terminators(body: Region) -> Iterator[Terminator]:
    """The terminators of a region and of the arms in it, not those of inner loops."""
    for statement in body.statements:
        if isinstance(statement, If):
            yield from loop_terminators(statement.then)
            yield from loop_terminators(statement.orelse)
    yield body.terminator


def _renamed(pullback: Any, old: Var, new: Var) -> Any:
    """The closure with the value under its final name (names take no part in equality, but emission reads them)."""
    captured = tuple(new if value == old else value for value in pullback.captured)
    return replace(pullback, captured=captured)


def shapeless(kind: Kind) -> Kind:
    """A kind without the symbol of its shape, which means something only inside one function."""
    match kind:
        case Array(ndim=ndim, dtype=dtype):
            return Array(ndim, dtype)
        case TupleOf(items=items):
            return TupleOf(tuple(map(shapeless, items)))
    return kind


def _item_kind(kind: Kind) -> Kind:
    """What is proven of the items that an iteration gives."""
    match kind:
        case Array(ndim=int(rank), dtype=dtype) if rank > 0:
            return Array(rank - 1, dtype) if rank > 1 else Scalar(dtype) if dtype else UNKNOWN
        case TupleOf(items=(first, *rest)):
            for item in rest:
                first = join(first, item)
            return first
        case Sequence(name="range"):
            return INT
        case Inert(name="str"):
            return kind
    return UNKNOWN


def _type_of(kind: Kind) -> type | None:
    """The Python type a kind proves, as rules are looked up."""
    match kind:
        case Array():
            return np.ndarray
        case Sequence(name=name):
            return _PYTHON_TYPES.get(name)
        case TupleOf():
            return tuple
        case Scalar(name="float"):
            return None
        case Scalar(name="bool"):
            return bool
        case Inert(name="str"):
            return str
    return None


def _is_immutable(kind: Kind) -> bool:
    match kind:
        case Scalar() | Inert():
            return True
        case TupleOf(items=items):
            return all(map(_is_immutable, items))
        case Sequence(name="range"):
            return True
    return False


def _is_operator(function: object) -> bool:
    return getattr(function, "__module__", "") in ("_operator", "operator")


def _hashable(function: object) -> bool:
    try:
        hash(function)
    except TypeError:
        return False
    return True


def _name_of(callee: Value) -> str:
    match callee:
        case Const(value=value):
            return getattr(value, "__name__", type(value).__name__).strip("<>")
        case Var(hint=hint):
            return hint or "call"
    return "call"


def _bind_arguments(function: FunctionType, arguments: tuple[Value, ...], keywords: Keywords) -> tuple[Value, ...] | None:
    """The arguments in the order of the function's parameters, or None if only Python can bind them (variadic
    parameters, or a call that fails)."""
    code = function.__code__
    if code.co_flags & 0x0C:
        return None
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if len(arguments) > code.co_argcount:
        return None
    bound: dict[str, Value] = dict(zip(names, arguments, strict=False))
    for name, value in keywords:
        if name in bound or name not in names[code.co_posonlyargcount :]:
            return None
        bound[name] = value
    defaults = dict(zip(names[: code.co_argcount][::-1], (function.__defaults__ or ())[::-1], strict=False))
    defaults |= function.__kwdefaults__ or {}
    for name in names:
        if name not in bound:
            default = defaults.get(name, _MISSING)
            if default is not None and not isinstance(default, bool | int | float | str):
                return None
            bound[name] = Const(default)
    return tuple(bound[name] for name in names)


_MISSING = object()
