"""What `primal` records: for each value that a derivative may flow through, how it was computed.

`reverse_differentiate` turns each of these into adjoint code; the primal holds the operations themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import CodeType, FunctionType
from typing import Any, Protocol, final

from microgradpy.dataclasses import dataclass, nodeclass
from microgradpy.ir.kinds import Kind
from microgradpy.ir.nodes import Const, Function, Location, Value, Var


class Unit(Protocol):
    """A function compiled for given kinds and differentiated arguments, as its callers need it."""

    name: str
    active: tuple[bool, ...]
    result_kind: Kind
    result_active: bool
    absent: tuple[bool, ...]
    takes_value: bool
    """Whether the adjoint of a function that may write gets the cotangent of an array it made as a value."""
    selects: bool
    """Whether its cotangents may have zeros of a selection that it makes."""
    inserts: bool
    """Whether the tangent of its value may have zeros of a selection that it makes."""
    writes: bool
    """Whether the function may write into anything that it did not make."""
    tracks: bool
    """Whether it keeps cotangents in shadows, which its adjoint is given then."""
    active_parts: tuple[bool, ...] | None
    """Which parts of the tuple that it returns depend on what is differentiated, where it is known."""


@final
@dataclass(slots=True, eq=False)
class Apart:
    """A constant that stands for a function which is called with parts of its arguments: `function` is its IR for these. One
    that calls itself has itself in its IR, so that this is put in afterwards.

    The inputs `passed` are lists that it writes into, and the last parts of its result are these lists again; so are their
    cotangents, which the adjoint writes into, and returns. `kinds` is what its inputs are at least, in whatever call, and
    `result` what is assumed of its result first. Calls of it are made `again` in the adjoint; `plain` is the same function
    for who wants its value only.
    If it `carries` so many of its first inputs, these are likely to come back, of the same kinds, with what is `besides`."""

    callee: FunctionType
    function: Function
    checks: tuple[Any, ...] = ()
    functions: tuple[FunctionType, ...] = ()
    followed: frozenset[CodeType] = frozenset()
    passed: tuple[int, ...] = ()
    kinds: tuple[Kind, ...] = ()
    result: Kind | None = None
    again: bool = False
    plain: Apart | None = None
    carries: int | None = None
    besides: tuple[Kind, ...] = ()


@final
@nodeclass(frozen=True, slots=True)
class Inlined:
    """A rule whose text was spliced in; `pullback` has the values it closes over. `arguments` are those of the rule's
    positional parameters, `keywords` the others that were given; `function` is what was called, None for an attribute."""

    result: Var
    callee: str
    pullback: StaticClosure
    arguments: tuple[Value, ...]
    where: Location
    is_view: bool
    function: Any
    rule: Const
    keywords: tuple[tuple[str, Value], ...]


@final
@nodeclass(frozen=True, slots=True)
class Dispatched:
    """A call resolved at run time: `result, pullback = pullback_of(callee, *arguments)`. With `packed`, the arguments are
    one tuple and one dict; `named` are the names of the others that are given by name. If it is `settled`, the cotangents that
    the pullback returns are of values: what has a shadow has them there."""

    result: Var
    pullback: Var
    callee: Value
    arguments: tuple[Value, ...]
    packed: bool
    where: Location
    named: tuple[str, ...] = ()
    settled: bool = False


@final
@nodeclass(frozen=True, slots=True)
class UnitCall:
    """A call of a function differentiated through its own source: `result, saved = f_primal(*arguments)`. The arguments
    `passed` are lists that come back as the last parts of the result. If it is made `again` in the adjoint, that is the
    call there which gives what is saved."""

    result: Var
    saved: Var
    unit: Unit
    arguments: tuple[Value, ...]
    where: Location
    passed: tuple[int, ...] = ()
    again: tuple[Value, ...] | None = None
    """The callee and its arguments."""


@final
@nodeclass(frozen=True, slots=True)
class Build:
    """A tuple, list or dict display; `keys` are the constant positions or the dict's keys."""

    result: Var
    keys: tuple[Value, ...]
    items: tuple[Value, ...]
    where: Location


@final
@nodeclass(frozen=True, slots=True)
class Unpack:
    """`a, b = source`. The last results, `passed` in number, are lists that the call which made the source has written into."""

    result: Var
    results: tuple[Var, ...]
    source: Value
    where: Location
    passed: int = 0


@final
@nodeclass(frozen=True, slots=True)
class Append:
    """`items.append(item)` by a comprehension, when the list had `length` items."""

    result: Var
    items: Value
    item: Value
    length: Value
    where: Location


@final
@nodeclass(frozen=True, slots=True)
class Replaced:
    """`items[index] = item` on a list of which every version has a variable: `result` is the list afterwards. With several
    indices it is an item of an item."""

    result: Var
    items: Value
    indices: tuple[Value, ...]
    item: Value
    where: Location


@final
@nodeclass(frozen=True, slots=True)
class Attribute:
    """`result = target.name`"""

    result: Var
    target: Value
    name: str
    where: Location


@final
@nodeclass(frozen=True, slots=True)
class Item:
    """`result = container[index]`"""

    result: Var
    container: Value
    index: Value
    where: Location


DEFAULTS, KEYWORD_DEFAULTS = "__defaults__", "__kwdefaults__"
Field = str | tuple[str, int | str]
"""The name of a captured variable, or `DEFAULTS` or `KEYWORD_DEFAULTS` with a place in them."""


@final
@nodeclass(frozen=True, slots=True)
class Capture:
    """A nested function was made over `values`, which are its fields."""

    result: Var
    fields: tuple[Field, ...]
    values: tuple[Value, ...]
    where: Location


@final
@nodeclass(frozen=True, slots=True)
class Iterated:
    """`result` is the item of `source` at `position` of an iteration, from the end if `backwards`; or, with a `key`, the
    value of a dict at that key."""

    result: Var
    source: Value
    position: Value
    backwards: bool
    is_key: bool
    where: Location
    length: Value | None = None


@final
@nodeclass(frozen=True, slots=True)
class Suspend:
    """`result = yield value`"""

    result: Var
    value: Value
    where: Location


@final
@nodeclass(frozen=True, slots=True)
class AddInPlace:
    """`target += value` (or `-=`) on an array, which `result` is another name of."""

    result: Var
    target: Value
    value: Value
    subtracts: bool
    where: Location


@final
@nodeclass(frozen=True, slots=True)
class StoreItem:
    """`container[index] = value` on an array, at a place that the index names once."""

    result: Var
    container: Value
    index: Value
    value: Value
    where: Location


Call = (
    AddInPlace
    | StoreItem
    | Inlined
    | Dispatched
    | UnitCall
    | Build
    | Unpack
    | Append
    | Replaced
    | Attribute
    | Item
    | Capture
    | Iterated
    | Suspend
)


@final
@nodeclass(frozen=True, slots=True)
class StaticTuple:
    """A tuple taken apart by the compiler."""

    items: tuple[Static, ...]


@final
@nodeclass(frozen=True, slots=True)
class StaticClosure:
    """A nested function of a rule, with the values it closes over."""

    function: Function
    captured: tuple[Static, ...]
    globals: Mapping[str, Any]


Static = Value | StaticTuple | StaticClosure
