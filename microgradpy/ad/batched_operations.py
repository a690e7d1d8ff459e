"""An operation whose operands have a leading axis for the directions: which values have it, of how many axes they are, and how
what is made of others, read and written goes on.

    t = x_dot * y       t = x_dot[:, None] * y       if x is a number and y is a vector
    v = x_dot[i]        v = x_dot[:, i]
    x_dot[i] = v        x_dot[:, i] = v

What becomes of calls is in `ad.batched_calls`.
"""

from __future__ import annotations

import itertools
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.ir.builder import Builder
from microgradpy.ir.kinds import INT, UNKNOWN, Array, Inert, Kind, Scalar, Sequence, TupleOf, is_numeric
from microgradpy.ir.nodes import (
    NOWHERE,
    Augmented,
    Const,
    Location,
    Op,
    Opcode,
    Value,
    Var,
    operator_constant,
)
from microgradpy.ir.traversal import given_values, uses
from microgradpy.rules.numpy.manipulation.shape import reshape_bar
from microgradpy.rules.transposes.arithmetic import power_exponent_dot
from microgradpy.runtime.cotangents import number_bars
from microgradpy.runtime.keys import from_front
from microgradpy.tangents.arithmetic import add_item, conj, divide, item_cotangent, unbroadcast, zero_cotangent
from microgradpy.tangents.choices import share
from microgradpy.tangents.linear import expand_reduced, mean_count
from microgradpy.tangents.powers import power_base_bar

Mark = bool | tuple[Any, ...]
"""Whether a value carries the axis: True if all numbers and arrays in it do; of a tuple also what is said of each item, and of
a tape what is said of each field of its records."""


class NotBatched(Exception):
    """A function is not one for many directions, because of this operation."""

    def __init__(self, what: str, where: Location = NOWHERE) -> None:
        super().__init__(what)
        self.what, self.where = what, where


# Marks


def merged(a: Mark, b: Mark) -> Mark:
    """What carries the axis of a value that is one or the other."""
    if a is True or b is True:
        return True
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple(map(merged, a, b)) if len(a) == len(b) else True
    return a or b


def item_mark(mark: Mark) -> Mark:
    """The same of any item of a value."""
    if isinstance(mark, tuple):
        if any(item != mark[0] for item in mark):
            raise NotBatched("an item of a tuple of which some items depend on the direction")
        return mark[0] if mark else False
    return mark


_SHAPES = ("shape", "ndim", "size", "dtype")
_PLAIN = frozenset({operator.is_, operator.is_not, len, np.shape, np.ndim, np.size, mean_count, zero_cotangent, from_front})
"""What does not depend on the direction, though it is asked of what does."""
_OF_VALUE: dict[Any, int] = {unbroadcast: 0, expand_reduced: 0, reshape_bar: 0, item_cotangent: 2, number_bars: 0}
"""What depends on the direction if this argument does; of the others it is the shapes that matter."""
_TESTS = (operator.is_, operator.is_not)


def callee_of(op: Op) -> Any:
    """What an operation calls, None if that is not known."""
    return op.callee.value if isinstance(op.callee, Const) else None


def is_in(callee: Any, table: Any) -> bool:
    try:
        return callee in table
    except TypeError:  # unhashable
        return False


def result_marks(op: Op, marks: Any) -> tuple[Mark, ...]:
    """What carries the axis of the results of an operation."""
    given = tuple(map(marks.of, op.arguments))
    if all(marks.of(value) is False for value in uses(op)):
        return (False,) * len(op.results)
    match op.callee:
        case Opcode.TUPLE:
            return (given,)
        case Opcode.UNPACK:
            (mark,) = given
            return mark if isinstance(mark, tuple) and len(mark) == len(op.results) else (item_mark(mark),) * len(op.results)
        case Const(value=callee):
            return (_mark_of_call(callee, op, given, marks),) * len(op.results)
    return (True,) * len(op.results)


def _mark_of_call(callee: Any, op: Op, given: tuple[Mark, ...], marks: Any) -> Mark:
    if callee is operator.getitem and isinstance(given[0], tuple):
        index = op.arguments[1]
        if isinstance(index, Const) and type(index.value) is int and -len(given[0]) <= index.value < len(given[0]):
            found: Mark = given[0][index.value]
            return found
        return item_mark(given[0])
    if callee is getattr:
        name = op.arguments[1]
        return not (isinstance(name, Const) and name.value in _SHAPES)
    if getattr(callee, "stands_for_unit", False):
        called: Mark = marks.services.batched_call(op.callee, given)[1]
        return called
    if callee is add_item:
        return merged(given[0], given[3])
    if is_in(callee, _OF_VALUE) and len(given) > _OF_VALUE[callee]:
        return given[_OF_VALUE[callee]]
    return not is_in(callee, _PLAIN)


# Kinds


def rank_of(kind: Kind) -> int | None:
    """The number of axes of a number or an array, in one direction; None if it is not known, or may be complex."""
    match kind:
        case Scalar(name=name) if name != "complex":
            return 0
        case Array(ndim=ndim, dtype=dtype) if dtype not in ("complex", ""):
            return ndim
    return None


NEW_AXIS, WHOLE = Const(None), Const(slice(None))
GETITEM = operator_constant("getitem")
Rule = Callable[["Rules", Op], Op]


@dataclass
class Rules(ABC):
    """`of_one` is what is proven of the variables in one direction."""

    of_one: Any
    marks: Any
    services: Any
    directions: Var
    builder: Builder
    table: Mapping[Any, Rule]
    otherwise: Rule
    of_methods: Mapping[str, Any]
    """What becomes of calls of these functions, of others, and which functions the methods of arrays are."""
    methods: dict[Var, tuple[Var, str]] = field(default_factory=dict, kw_only=True)
    """The methods of what carries the axis: of what, and their names."""

    @property
    def writes_arrays(self) -> bool:
        """Whether something that carries the axis is written into an array."""
        return bool(self.marks.writes_arrays)

    @abstractmethod
    def mark(self, value: Value) -> Mark:
        """What of a value carries the axis."""

    @abstractmethod
    def as_marked(self, value: Value, mark: Mark) -> Value:
        """A value with the axis where the mark says so, repeated along it if it had none."""

    def kind(self, value: Value) -> Kind:
        """What is proven of a value in one direction."""
        found = self.of_one.get(value) if isinstance(value, Var) else None
        return self.builder.kind(value) if found is None else found

    def rank(self, value: Value) -> int:
        found = rank_of(self.kind(value))
        if found is None:
            raise NotBatched("a value of unknown axes")
        return found

    def is_array(self, value: Value) -> bool:
        return isinstance(self.kind(value), Array)

    def carries(self, value: Value) -> bool:
        return self.mark(value) is not False

    # Parts of the new text

    def call(self, callee: Value, *arguments: Value, keywords: Any = (), kind: Kind = UNKNOWN) -> Var:
        return self.builder.operation(callee, arguments, keywords, kinds=(kind,))[0]

    def tuple_of(self, *items: Value) -> Value:
        if all(isinstance(item, Const) and not item.path for item in items):
            return Const(tuple(item.value for item in items))  # type: ignore[union-attr]
        return self.builder.operation(Opcode.TUPLE, items, kinds=(TupleOf(tuple(map(self.builder.kind, items))),))[0]

    def aligned(self, value: Value, rank: int) -> Value:
        """An operand of what works entry by entry on values of `rank` axes."""
        if not self.carries(value):
            self.rank(value)
            return value
        missing = rank - self.rank(value)
        if missing <= 0:
            return value
        index = self.tuple_of(WHOLE, *(NEW_AXIS,) * missing)
        return self.call(GETITEM, value, index, kind=Array(rank + 1, "float"))

    def by_items(self, value: Value) -> Value:
        """An array with the axis behind that of its items, over which one can iterate."""
        if self.writes_arrays and self.rank(value) < 2:
            raise NotBatched("numbers of an array, where arrays are written into")
        kind = self.builder.kind(value)
        return self.call(np_constant("moveaxis"), value, Const(1), Const(0), kind=kind)

    def one(self, value: Value) -> Value:
        """A value as it is in the first direction, for its shape."""
        return self.call(GETITEM, value, Const(0), kind=self.kind(value)) if self.carries(value) else value

    def fold(self, op: Op, callee: Value, *arguments: Value, keywords: Any = ()) -> Op:
        return replace(op, callee=callee, arguments=arguments, keywords=keywords, payload=None)

    # Operations

    def rewritten(self, op: Op) -> Op | None:
        natural = result_marks(op, self.marks)
        is_plain = natural == (False,) and self.mark(op.results[0]) is True  # what is written into it is not
        if not is_plain and any(merged(found, self.mark(var)) != found for found, var in zip(natural, op.results, strict=True)):
            raise NotBatched("what is written into", op.where)
        try:
            return self.structure(op) if isinstance(op.callee, Opcode) else self.called(op)
        except NotBatched as reason:
            raise NotBatched(reason.what, op.where) from None

    def structure(self, op: Op) -> Op:
        values = op.arguments
        match op.callee:
            case Opcode.TUPLE:
                return op
            case Opcode.LIST:
                return replace(op, arguments=tuple(self.as_marked(value, True) for value in values))
            case Opcode.DICT if not any(map(self.carries, values[::2])):
                pairs = zip(values[::2], values[1::2], strict=True)
                parts = ((key, self.as_marked(value, True)) for key, value in pairs)
                return replace(op, arguments=tuple(itertools.chain.from_iterable(parts)))
            case Opcode.UNPACK:
                return replace(op, arguments=(self.by_items(values[0]),)) if self.is_array(values[0]) else op
            case Opcode.APPEND:
                return replace(op, arguments=(values[0], self.as_marked(values[1], True)))
            case Opcode.STORE:
                return self.store(op)
            case Opcode.RECORD:
                tape = self.mark(values[0])
                fields = values[1:]
                return replace(op, arguments=(values[0], *map(self.as_marked, fields, tape))) if isinstance(tape, tuple) else op
        raise NotBatched(f"the operation {op.callee}")

    def store(self, op: Op) -> Op:
        """`items[i] = item`, of lists of lists too."""
        container, *indices, item = op.arguments
        if any(map(self.carries, indices)):
            raise NotBatched("a place that depends on the direction")
        kind = self.kind(container)
        if isinstance(kind, Array) and len(indices) == 1:
            index, rank = self.behind(indices[0], self.rank(container))
            if self.carries(item):
                if rank is None:
                    raise NotBatched("a write of unknown axes")
                item = self.aligned(item, rank)
            else:
                self.rank(item)
            return replace(op, arguments=(container, index, item))
        for _ in indices:
            if not isinstance(kind, Sequence) or kind.name not in ("list", "dict"):
                raise NotBatched("a write into what is not known")
            kind = kind.item
        if any(isinstance(self.kind(index), Inert) for index in indices):
            raise NotBatched("a write of a part of a list")
        if isinstance(op.payload, Augmented):  # numbers are added, not written into
            raise NotBatched("an item of a list that is added to")
        return replace(op, arguments=(container, *indices, self.as_marked(item, True)))

    def called(self, op: Op) -> Op | None:
        callee = callee_of(op)
        if callee is getattr:
            return self.attribute(op)
        if callee is None:
            return self.method(op)
        if any(map(self.carries, [value for _, value in op.keywords])):
            raise NotBatched("an argument by name")
        if getattr(callee, "stands_for_unit", False):
            made, _ = self.services.batched_call(op.callee, tuple(map(self.mark, op.arguments)))
            return replace(op, callee=made, arguments=(*op.arguments, self.directions))
        return self.by_rule(callee, op)

    def by_rule(self, callee: Any, op: Op) -> Op:
        if is_in(callee, _TESTS):
            return op
        if is_elementwise(op):
            return self.elementwise(op)
        rule = self.table.get(callee, self.otherwise) if is_in(callee, self.table) else self.otherwise
        return rule(self, op)

    def elementwise(self, op: Op) -> Op:
        rank = max(map(self.rank, op.arguments))
        return replace(op, arguments=tuple(self.aligned(value, rank) for value in op.arguments))

    def attribute(self, op: Op) -> Op | None:
        value, name = op.arguments[:2]
        if not isinstance(value, Var) or not isinstance(name, Const) or len(op.arguments) != 2:
            raise NotBatched("an attribute")
        if name.value in _SHAPES and is_numeric(self.kind(value)):
            return replace(op, arguments=(self.one(value), name))
        if name.value == "T" and self.is_array(value):
            return self.fold(op, np_constant("transpose"), value, self.axes_of(range(self.rank(value))[::-1]))
        if name.value in self.of_methods and is_numeric(self.kind(value)):
            self.methods[op.results[0]] = value, name.value
            return None
        raise NotBatched(f"the attribute {name.value}")

    def method(self, op: Op) -> Op:
        found = self.methods.get(op.callee) if isinstance(op.callee, Var) else None
        if found is None or any(map(self.carries, given_values(op.arguments, op.keywords))):
            raise NotBatched("a call of a method")
        value, name = found
        if not self.is_array(value) and not isinstance(self.kind(value), Scalar):
            raise NotBatched("a method of something of unknown kind")
        function = self.of_methods[name]
        constant = Const(function, f"np.{function.__name__}", np)
        arguments = op.arguments
        if name in ("reshape", "transpose") and (len(arguments) != 1 or self.kind(arguments[0]) == INT):
            arguments = (self.tuple_of(*arguments),) if arguments else ()
        return self.by_rule(function, replace(op, callee=constant, arguments=(value, *arguments)))

    # Axes and indices

    def axes_of(self, axes: Any) -> Value:
        """All axes: the first stays, the others are these."""
        return self.tuple_of(Const(0), *(Const(axis + 1) for axis in axes))

    def items_of(self, value: Value) -> tuple[Value, ...] | None:
        """The items of a tuple, where they are known."""
        made = None
        if isinstance(value, Var):
            made = self.marks.made.get(value) or self.builder.producers.get(value)
        if made is not None and made.callee is Opcode.TUPLE:
            return tuple(made.arguments)
        if isinstance(value, Const) and isinstance(value.value, tuple):
            return tuple(map(Const, value.value))
        return None

    def axis(self, value: Value) -> Value:
        """An axis, or some, of what has one more in front."""
        items = self.items_of(value)
        if items is not None:
            return self.tuple_of(*map(self.axis, items))
        if isinstance(value, Const) and type(value.value) is int:
            return Const(value.value + 1) if value.value >= 0 else value
        raise NotBatched("an axis that is not known")

    def behind(self, index: Value, rank: int) -> tuple[Value, int | None]:
        """An index of what has `rank` axes as one behind the first; and the number of axes of what it means."""
        items = self.items_of(index)
        kind = self.kind(index)
        if items is None and isinstance(kind, TupleOf):
            items = self.builder.operation(Opcode.UNPACK, (index,), kinds=kind.items)
            kinds = kind.items
        else:
            items = (index,) if items is None else items
            kinds = tuple(map(self.kind, items))
        if any(map(self.carries, items)):
            raise NotBatched("an index that depends on the direction")
        return self.tuple_of(WHOLE, *items), self.axes_left(kinds, rank)

    def axes_left(self, kinds: tuple[Kind, ...], rank: int) -> int | None:
        """How many axes an item has; None if that is not known. Raises NotBatched where arrays in an index are apart, so that
        their axes come first."""
        arrays = [place for place, kind in enumerate(kinds) if isinstance(kind, Array)]
        numbers = [place for place, kind in enumerate(kinds) if kind == INT]
        for kind in kinds:
            is_part = kind == INT or (isinstance(kind, Inert) and kind.name in ("slice", "NoneType", "ellipsis"))
            is_array = isinstance(kind, Array) and kind.dtype in ("int", "bool") and kind.ndim is not None
            if not is_part and not is_array:
                raise NotBatched("an index of unknown kind")
        if arrays:
            advanced = sorted((*arrays, *numbers))
            if advanced != list(range(advanced[0], advanced[-1] + 1)):
                raise NotBatched("an index with arrays that are apart")
            return None
        new = sum(isinstance(kind, Inert) and kind.name == "NoneType" for kind in kinds)
        return rank - len(numbers) + new


ELEMENTWISE = frozenset(
    {
        operator.add,
        operator.sub,
        operator.mul,
        operator.truediv,
        operator.neg,
        operator.pos,
        operator.pow,
        np.conjugate,
        divide,
        conj,
        share,
        power_base_bar,
        power_exponent_dot,
    }
)


def is_elementwise(op: Op) -> bool:
    """Whether an operation works entry by entry."""
    callee = callee_of(op)
    is_ufunc = (
        isinstance(callee, np.ufunc) and callee.signature is None and callee.nout == 1 and len(op.arguments) == callee.nin
    )
    return (is_ufunc or is_in(callee, ELEMENTWISE)) and not op.keywords


def np_constant(name: str) -> Const:
    return Const(getattr(np, name), f"np.{name}", np)


def only(op: Op, *names: str, at_most: int) -> dict[str, Value]:
    """The keywords of a call that has none but these, and at most so many arguments by position."""
    found = dict(op.keywords)
    if set(found) - set(names) or len(op.arguments) > at_most:
        raise NotBatched("a call with options")
    return found


def first(op: Op, rules: Rules) -> Value:
    """The argument that carries the axis, if it is the first, and no other does."""
    value, *rest = op.arguments
    if not rules.carries(value) or any(map(rules.carries, rest)):
        raise NotBatched("an argument that depends on the direction")
    return value
