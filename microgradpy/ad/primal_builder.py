"""The primal under construction: what each of the user's values has become, and how the active ones were computed."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import _lru_cache_wrapper
from types import CodeType, FunctionType, ModuleType
from typing import Any, Protocol, final

import numpy as np

from microgradpy.ad.accumulators import Sums
from microgradpy.ad.calls import Apart, Attribute, Call, Dispatched, Inlined, Unit
from microgradpy.ad.shared_iterators import Iterators
from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.ir.kinds import (
    INT,
    UNKNOWN,
    Kind,
    Sequence,
    TupleOf,
    Unknown,
    carries_nothing,
    features_of_kind,
    is_immutable,
    object_with,
    python_type,
    without_items,
)
from microgradpy.ir.nodes import Const, Op, Opcode, Value, Var, function_constant, operator_constant
from microgradpy.ir.objects import ANY_NAME, Features
from microgradpy.ir.reasons import MayWrite
from microgradpy.ir.traversal import given_values
from microgradpy.passes.result_kinds import result_kind
from microgradpy.passes.typed_builder import Keywords, TypedBuilder, is_getattr
from microgradpy.runtime.asking import TEXTS, told_by
from microgradpy.runtime.notes import note_return
from microgradpy.runtime.special_methods import METHODS_ASKED
from microgradpy.runtime.write_detection import keep
from microgradpy.state.object_graph import is_users_class
from microgradpy.state.snapshots import frozen

_GETITEM = operator_constant("getitem")
_CODE = (FunctionType, type, _lru_cache_wrapper, ModuleType)


_ASKING = frozenset({Opcode.UNPACK, Opcode.APPLY, Opcode.SET, Opcode.DICT})
"""What asks its arguments for items or for their hash, or calls them."""
_ASK_NOTHING: Any = (operator.is_, operator.is_not, isinstance, issubclass, type, id, callable, note_return)
"""What asks its arguments for nothing, but for classes that have a metaclass."""


def _is_operator_of_numbers(function: Any) -> bool:
    """Whether it asks for no text, as all operators but `%` do."""
    return function in METHODS_ASKED and told_by(function).isdisjoint(TEXTS)


class NeedsTracking(Exception):
    """Ends the walk over a function that writes. Who asks for its primal gets what was `found` as a value."""

    def __init__(self, found: MayWrite) -> None:
        super().__init__(found.what)
        self.found = found


class Services(Protocol):
    """What the primal asks of the compiler. `tracks`: cotangents of mutable objects are in shadows, so that anything may be
    written into; otherwise, one that may write has no primal. `explains`: that is asked for its reasons.
    `is_root`: the function is the one that the user differentiates; `is_users`: it is written in no library of Python's.
    `trusts`: it is the text of a rule, all that it calls changes nothing that it is given. `repeats`: the adjoint runs what is
    checkpointed again. `is_differentiated`: the pushforward that is made of the primal is going to be differentiated."""

    inlines: bool
    tracks: bool
    explains: bool
    tells_apart: bool
    is_root: bool
    is_users: bool
    trusts: bool
    repeats: bool
    is_differentiated: bool

    def unit(self, function: FunctionType | Apart, kinds: tuple[Kind, ...], active: tuple[bool, ...]) -> Unit | MayWrite | None:
        """The compiled callee, or None if it has to be called through the dispatcher. One that writes has none, unless that is
        tracked."""

    def is_being_made(self, function: FunctionType) -> bool:
        """Whether a function is being compiled, which calls itself then."""

    def kind_returned(self, function: FunctionType, kinds: tuple[Kind, ...]) -> Kind:
        """What is proven of what a function returns that is given nothing differentiated, and called as it stands."""

    def nested(self, code: CodeType, name: str) -> FunctionType:
        """A function of this code, with empty cells, to be compiled."""

    def is_repeatable(self, unit: Unit) -> bool:
        """Whether nothing but its inputs decides on what a unit gives, and nobody sees that it runs."""

    def half(self, unit: Unit) -> Const:
        """The constant that stands for the unit's primal."""

    def dispatcher(self, packed: bool, catches: bool, settles: bool) -> Const:
        """The run-time entry `pullback_of`; one that `catches` returns what the call raises, and one that `settles` leaves no
        cotangent of what has a shadow to its caller."""

    def is_state(self, name: str) -> bool:
        """Whether a module variable is an object that the run may write into."""

    def holds_state(self, owner: Any, name: str) -> bool:
        """The same of an attribute of a class, function or module; of a module also whether functions assign it."""

    def is_rebound(self, name: str) -> bool:
        """Whether a module variable is assigned by functions."""

    def variables(self) -> Const:
        """The constant that stands for the variables of the module."""

    @property
    def met(self) -> Features: ...

    def reads_state(self, function: Any) -> bool:
        """Whether a function, or a method of a class, reads objects that it is not given."""

    def calls_unknown(self) -> None:
        """Note that something is called that is known only at run time."""

    def keeps_containers(self) -> None:
        """Note that an argument is given something to keep that may be, or hold, a list or dict."""

    def assumes_real_power(self) -> bool:
        """Note that there is a power of real numbers that may be complex; whether it is assumed to be real."""

    def looks(self, is_searched: bool) -> None:
        """Note that an operation that stays as it stands may run code of the user's, which `is_searched` for writes."""

    def global_kind(self, name: str, module: ModuleType | None = None) -> Kind | None:
        """What is proven, under a guard, of a variable of the module or of another one; None if there is none."""


@final
@dataclass(frozen=True, slots=True)
class Method:
    """`target.name`, where `target` is proven to be a `cls`. It is emitted only if it is not called right away."""

    target: Value
    cls: type
    name: str
    read: Op


@dataclass
class PrimalBuilder(TypedBuilder):
    """`values` has what the user's variables are in the primal; `methods` those of them that are methods of arrays and
    containers; `calls` is what was recorded, by result. `lent` are constants that an object of the user's gave and may
    write into when it is asked again, as data loaders and generators do with one buffer: they are copied to be kept.
    `marks` has what each mark of a `Try` carries, by scope.

    Where writes are tracked, `frozen` has the copies of contents that pullbacks read, with what they are copies of; `forced`
    are those of the user's variables that hold something active because it is stored there, maybe later; and `origin` says
    which of the user's variables a variable of the primal is. `attempts` counts the `Try`s around whose handlers go on. Where
    the marks of these follow, a call `catches` what it raises; its value is `unchecked` until they have. `steady` is what is
    known to raise nothing between two items; `iterators` says which of the user's variables may be iterators that are read at
    several places; `sums` are the `+=` of which nobody sees whether they write in place."""

    services: Services = field(kw_only=True)
    values: dict[Var, Value] = field(default_factory=dict)
    methods: dict[Var, Method] = field(default_factory=dict)
    calls: dict[Var, Call] = field(default_factory=dict)
    lent: set[Var] = field(default_factory=set)
    frozen: dict[Var, Var] = field(default_factory=dict)
    forced: frozenset[Var] = frozenset()
    origin: dict[Var, Var] = field(default_factory=dict)
    items: Mapping[Var, Kind] = field(default_factory=dict)
    marks: dict[Var, list[tuple[Value, ...]]] = field(default_factory=dict)
    attempts: int = 0
    catches: bool = False
    unchecked: list[Var] = field(default_factory=list)
    steady: set[Value] = field(default_factory=set)
    iterators: Iterators = field(default_factory=Iterators)
    sums: Sums = field(default_factory=Sums)

    # What the user's values have become

    def of(self, value: Value) -> Value:
        """The value in the primal."""
        if not isinstance(value, Var):
            return value
        return self.read_method(value, self.methods[value]) if value in self.methods else self.values[value]

    def may_be_read_elsewhere(self, value: Value) -> bool:
        """Whether one of the user's variables may be an iterator that is not read at this place only."""
        if not isinstance(value, Var) or value in self.iterators.own or value in self.methods:
            return False
        kind = self.kind(self.of(value))
        return isinstance(kind, Unknown) and (kind.is_iterator or value in self.iterators.shared)

    def inputs(self, op: Op) -> tuple[tuple[Value, ...], Keywords]:
        """The arguments and keywords of an operation."""
        return tuple(map(self.of, op.arguments)), tuple((name, self.of(value)) for name, value in op.keywords)

    def define(self, old: Var, kind: Kind, active: bool) -> Var:
        """The variable that takes the place of one of the user's, under the same name."""
        if self.services.tracks:
            kind = without_items(kind)
            if isinstance(kind, Sequence) and kind.name == "list" and old in self.items:
                kind = Sequence("list", self.items[old])
            if isinstance(kind, Unknown):
                kind = object_with(kind.features | self.services.met)
        new = self.variable(kind, old.hint, old.user_named)
        self.activate(new, active or old in self.forced)
        self.bind(old, new)
        return new

    def bind(self, old: Var, new: Var | Method) -> None:
        """Let a value, or a method that has not been read, stand for one of the user's variables. The body of a loop is
        walked several times, and what a variable is may be another thing each time."""
        self.values.pop(old, None)
        self.methods.pop(old, None)
        if isinstance(new, Method):
            self.methods[old] = new
        else:
            self.values[old] = new
            self.origin[new] = old

    def stand_for(self, old: Var, new: Value) -> None:
        """The same for a value that stays the variable of the user's that it was."""
        self.methods.pop(old, None)
        self.values[old] = new

    def bind_method(self, op: Op, target: Value, name: str) -> bool:
        """Let the result of an attribute's read stand for a method of an array, container or `ufunc`; whether it is one."""
        is_ufunc = isinstance(target, Const) and isinstance(target.value, np.ufunc)
        cls = np.ufunc if is_ufunc else python_type(self.kind(target))
        if cls is None or not callable(getattr(cls, name, None)):
            return False
        self.bind(op.result, Method(target, cls, name, op))
        return True

    def activate(self, var: Var, active: bool = True) -> None:
        """Let a variable depend on what is differentiated, unless it can have no derivative."""
        if active and not carries_nothing(self.kind(var)):
            self.active.add(var)

    def is_active(self, value: Value) -> bool:
        if isinstance(value, Const):
            return self.services.tracks and isinstance(value.value, _CODE) and self.services.reads_state(value.value)
        return super().is_active(value)

    def kind(self, value: Value) -> Kind:
        if isinstance(value, Var):  # most of them
            return self.kinds.get(value, UNKNOWN)
        return UNKNOWN if isinstance(value, Const) and self.is_active(value) else super().kind(value)

    def any_active(self, values: tuple[Value, ...], keywords: Keywords = ()) -> bool:
        return any(map(self.is_active, given_values(values, keywords)))

    def lend(self, var: Var, source: Value) -> None:
        """Note that a variable was read from `source`, if that may be such an object."""
        if self.services.tracks:
            return
        if isinstance(self.kind(source), Unknown) and not self.is_active(source) and not is_immutable(self.kind(var)):
            self.lent.add(var)

    def lend_with(self, var: Var, sources: Iterable[Value]) -> None:
        """Note that a variable may be, or be a part of, one of these values: it is lent if one of them is."""
        if not self.lent.isdisjoint(sources) and not is_immutable(self.kind(var)):
            self.lent.add(var)

    def to_be_kept(self, value: Value) -> Value:
        """A value as something that nobody is going to write into."""
        if value not in self.lent:
            return value
        return self.call(function_constant(keep), (value,))

    def frozen_copy(self, value: Value) -> Value:
        """The contents that a value has now, for code that runs later."""
        if not self.services.tracks or not isinstance(value, Var) or is_immutable(self.kind(value)):
            return value
        copy = self.variable(self.kind(value), value.hint)
        self.add(Op(function_constant(frozen), (value,), (copy,), from_user=False, where=self.where))
        self.frozen[copy] = value
        return copy

    def record(self, call: Call) -> None:
        self.calls[call.result] = call

    def kind_of_items(self, value: Value) -> Kind:
        """What is proven of a value that is taken apart; of a tuple of a class of its own it is the kind of a plain one."""
        kind = self.kind(value)
        if not isinstance(kind, Unknown) or not isinstance(value, Var) or self.services.tracks:
            return kind
        match self.calls.get(value) or self.producers.get(value):
            case Inlined(function=function, arguments=arguments, keywords=keywords):
                items = self.kinds_of_items(function, arguments, keywords)
            case Dispatched(callee=Const(value=function), arguments=arguments, packed=False, named=()):
                items = self.kinds_of_items(function, arguments, ())
            case Op(callee=Const(value=function), arguments=arguments, keywords=keywords):
                items = self.kinds_of_items(function, arguments, keywords)
            case _:
                return kind
        return items if isinstance(items, TupleOf) else kind

    def kind_of_call(self, callee: Value, arguments: tuple[Value, ...], keywords: Keywords) -> Kind:
        kind = super().kind_of_call(callee, arguments, keywords)
        if isinstance(kind, Unknown) and callee == _GETITEM and isinstance(arguments[1], Const):
            items = self.kind_of_items(arguments[0])
            return result_kind(operator.getitem, (items, INT), arguments, {}) if isinstance(items, TupleOf) else kind
        return kind

    def kind_of_result(self, function: object, arguments: tuple[Value, ...], keywords: Keywords) -> Kind:
        """Where writes are tracked, an array is only known to be one if it has each entry in a place of its own."""
        if self.services.tracks and function is np.broadcast_to:
            return UNKNOWN
        return super().kind_of_result(function, arguments, keywords)

    # Operations of the user

    def emit(
        self,
        callee: Opcode | Value,
        arguments: tuple[Value, ...],
        results: tuple[Var, ...],
        keywords: Keywords = (),
        payload: object = None,
    ) -> None:
        """An operation that counts as the user's own: it may raise or have effects, and is not removed."""
        self.add(Op(callee, arguments, results, keywords, payload, True, self.where))

    def plain(self, op: Op, *, kind: Kind, active: bool = False, callee: Value | None = None) -> Var:
        """The operation as it stands."""
        arguments, keywords = self.inputs(op)
        head = op.callee if isinstance(op.callee, Opcode) else self.of(op.callee) if callee is None else callee
        if not self.services.tracks:
            self._note_unseen(head, given_values(arguments, keywords))
        result = self.define(op.result, kind, active)
        self.emit(head, arguments, (result,), keywords, op.payload)
        self.lend_with(result, given_values(arguments, keywords))
        return result

    def _note_unseen(self, head: Opcode | Value, values: tuple[Value, ...]) -> None:
        """Note that an operation as it stands may run code of the user's that is not compiled: that of the callee, of a
        property or of an operator. What a constant has of which nothing is proven is not known; of others, features tell."""
        if isinstance(head, Opcode) and head not in _ASKING:
            return
        if isinstance(head, Const) and isinstance(head.value, _CODE) and is_users_class(head.value):
            # A class that gets constants stores them in what it makes; most do nothing else.
            self.services.looks(is_searched=not isinstance(head.value, type))
        if isinstance(head, Const) and head.value in _ASK_NOTHING:
            values = tuple(value for value in values if isinstance(value, Const))
        name = values[1].value if is_getattr(head) and len(values) == 2 and isinstance(values[1], Const) else None
        is_shown = not isinstance(head, Const) or not _is_operator_of_numbers(head.value)
        if any(self._may_answer(value, name, is_shown) for value in values):
            self.services.looks(is_searched=True)

    def _may_answer(self, value: Value, attribute: object, is_shown: bool) -> bool:
        """Whether a value may run code of the user's if it is asked for something, for its text too if it `is_shown`, or for
        one of its attributes."""
        if isinstance(value, Const):
            return isinstance(value.value, type) and is_users_class(type(value.value))
        kind = self.kind(value)
        features = features_of_kind(kind)
        if not features:
            return isinstance(kind, Unknown) and not self.is_active(value)
        if attribute is not None:
            return isinstance(kind, Unknown) and not features.computed.isdisjoint((attribute, ANY_NAME))
        return is_shown or bool(features.computed or features.operators.difference(TEXTS))

    def refuse(self, op: Op, refusal: Callable[..., Any], found: str, remedy: str) -> None:
        """Refuse when this place is reached."""
        result = self.define(op.result, UNKNOWN, False)
        self.emit(function_constant(refusal), (Const(found), Const(remedy)), (result,))

    def read_method(self, old: Var, method: Method) -> Var:
        """Read a method as a value: it is passed on, or called through the dispatcher. It is read where it is used, since
        one arm of a branch knows nothing of another."""
        result = self.variable(UNKNOWN, old.hint, old.user_named)
        self.activate(result, self.is_active(method.target))
        self.add(replace(method.read, arguments=(method.target, Const(method.name)), results=(result,)))
        if result in self.active:
            self.record(Attribute(result, method.target, method.name, method.read.where))
        return result
