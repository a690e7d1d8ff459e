"""The adjoint under construction: the cotangent of each variable of the primal, as far as it has been found.

A variable without an entry has cotangent zero, so zeros exist only where branches merge or loops begin. A cotangent that
may be None (of an object, or of something of unknown kind) is added to by a function that knows about None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

from microgradpy.ad.selections import Selections, as_value
from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.kinds import (
    BOOL,
    INT,
    NUMBERS,
    UNKNOWN,
    Array,
    Inert,
    Kind,
    Sequence,
    TupleOf,
    Unknown,
    carries_nothing,
    cotangent_kind,
    cotangents_of,
    has_open_tuples,
    holds_arrays,
    holds_numbers,
    is_basic_index,
    is_list,
    is_numeric,
    is_real,
    is_real_scalar,
    is_tuple_of_numbers,
    is_tuple_with_numbers,
    join,
)
from microgradpy.ir.nodes import (
    Augmented,
    Const,
    If,
    Op,
    Opcode,
    Region,
    Statement,
    Value,
    Var,
    Yield,
    function_constant,
    operator_constant,
)
from microgradpy.ir.traversal import is_none
from microgradpy.ir.words import subject
from microgradpy.runtime import cotangents as run_time
from microgradpy.tangents import arithmetic
from microgradpy.tangents.helpers import COTANGENTS_LIKE, COTANGENTS_OF_ITEMS, RETURNS

Cotangents = dict[Var, Value]
_ADDED = Augmented("+")
_NOTHING = (Const(0.0), Const(None))
_PRODUCTS = tuple(map(operator_constant, ("mul", "truediv", "neg")))


@final
@dataclass(frozen=True, slots=True)
class _Arm:
    """An arm of a branch of the adjoint, with what is known at its end."""

    statements: list[Statement]
    cotangents: Cotangents
    owned: set[Var]


def _has_gaps(found: Kind, wanted: Kind) -> bool:
    """Whether a tuple inside of a cotangent may be missing, or an item of it."""
    if not isinstance(found, TupleOf) or not isinstance(wanted, TupleOf) or len(found.items) != len(wanted.items):
        return False
    pairs = zip(found.items, wanted.items, strict=True)
    return any(isinstance(of, TupleOf) and (isinstance(kind, Inert | Unknown) or _has_gaps(kind, of)) for kind, of in pairs)


@dataclass
class AdjointBuilder(Selections):
    """`cotangents` is by primal variable. `adjoint_half` gives the constant that stands for a unit's adjoint, and `made` is the
    operation of the primal that makes a variable.

    `rows` are the lists that are items of lists, with these and their places there: their cotangents are in the same places of
    the cotangents of those. `slices` are the lists of numbers that begin somewhere in others."""

    adjoint_half: Callable[..., Const] = field(kw_only=True)
    made: Mapping[Var, Op] = field(kw_only=True)
    cotangents: Cotangents = field(default_factory=dict)
    rows: Mapping[Var, tuple[Var, Value]] = field(default_factory=dict, kw_only=True)
    slices: Mapping[Var, tuple[Var, int]] = field(default_factory=dict, kw_only=True)
    numbered: frozenset[Var] = field(default=frozenset(), kw_only=True)
    """Tuples of numbers that loops run over, and that are only read: their cotangents are lists."""
    items_run_over: frozenset[Var] = field(default=frozenset(), kw_only=True)
    """The items that loops take of lists of numbers, or of tuples with numbers."""
    passed: Mapping[Var, int] = field(default_factory=dict, kw_only=True)
    """What is returned, with how many of its last parts are lists that the function was given and has written into: the
    caller hands their cotangents over, to be written into."""

    def helper(self, function: Callable[..., object], *arguments: Value, hint: str = "", kind: Kind | None = None) -> Value:
        """The value of a call of a function of this package."""
        return self.call(function_constant(function), arguments, hint=hint, kind=kind)

    def bar_name(self, value: Value) -> str:
        """What the cotangent of a value is called: after its name, or after the operation that makes it."""
        if not isinstance(value, Var):
            return ""
        name = value.hint or (subject(self.made[value]) if value in self.made else "")
        return f"{name}_bar" if name else ""

    def bar_kind(self, value: Value) -> Kind:
        """What is proven of a cotangent of a value. Only those of numbers, arrays and lists of numbers are never None."""
        kind = self.kind(value)
        if value in self.numbered:
            return NUMBERS
        if self.has_numbers(value):
            return cotangents_of(kind)
        return cotangent_kind(kind) if is_numeric(kind) else UNKNOWN

    # One cotangent

    def take(self, var: Var) -> Value | None:
        """The cotangent of a variable whose definition has been reached."""
        value = self.cotangents.pop(var, None)
        if isinstance(value, Var):
            self.owned.discard(value)
        return value

    def accumulate(self, target: Value, contribution: Value) -> None:
        """target_bar += contribution"""
        if not self.is_active(target) or is_none(contribution) or carries_nothing(self.kind(target)):
            return
        assert isinstance(target, Var)
        if target in self.rows:
            self.add_to_list(target, (), contribution)
            return
        current = self.cotangents.get(target)
        is_new = False
        if self.has_numbers(target):
            contribution = self.as_list(contribution, target)
            is_new = contribution in self.owned or current is not None
        if isinstance(contribution, Var):
            self.owned.discard(contribution)
        total = contribution if current is None else self.sum(current, contribution, self.bar_name(target))
        # That the value is used elsewhere counts: a sum has strong zeros if all of its terms have.
        is_selected = self.both(self.is_selected(contribution), current is None or self.is_selected(current))
        self.cotangents[target] = named = self.named(total, target)
        self.owned |= {named} if is_new and isinstance(named, Var) else set()
        self.select(named, is_selected)

    def is_absent(self, var: Var) -> bool:
        """Whether the result is proven not to depend on an input."""
        return var not in self.cotangents

    def pass_on(self, target: Value, cotangent: Value) -> None:
        """target_bar += cotangent, where the value of the target has another name from here on. Nobody else names the cotangent
        of a list or array that nobody else named."""
        is_owned = cotangent in self.owned and self.is_handed_on(cotangent) and target not in self.cotangents
        self.accumulate(target, cotangent)
        passed = self.cotangents.get(target) if is_owned and isinstance(target, Var) else None
        if isinstance(passed, Var):
            self.hand_on((cotangent,), passed)

    def returned(self, value: Value, seed: Value) -> Value:
        """The cotangent of a value that is returned."""
        return seed

    def sum(self, left: Value, right: Value, hint: str) -> Value:
        left_kind, right_kind = self.kind(left), self.kind(right)
        if left_kind == right_kind and holds_numbers(left_kind):
            return self.helper(run_time.sum_of_lists, left, right, hint=hint, kind=left_kind)
        if is_tuple_of_numbers(left_kind) and left_kind == right_kind:
            return self._sum_of_tuples(left_kind, left, right, hint)
        if not (is_numeric(left_kind) and is_numeric(right_kind)):
            return self.helper(arithmetic.accumulate, left, right, hint=hint)
        if self.are_same(left, right):
            half = self.rename(left, "", False) if isinstance(left, Var) else left
            return self.call(operator_constant("mul"), (Const(2.0), half), hint=hint, kind=left_kind)
        kind = left_kind if left_kind == right_kind else None
        return self.call(operator_constant("add"), (left, right), hint=hint, kind=kind)

    def _sum_of_tuples(self, kind: Kind, left: Value, right: Value, hint: str) -> Value:
        """The sum of two cotangents of a tuple of numbers, part by part."""
        assert isinstance(kind, TupleOf)
        sums = tuple(
            a if b in _NOTHING else b if a in _NOTHING else self.sum(a, b, "")
            for a, b in zip(self._parts(left, kind), self._parts(right, kind), strict=True)
        )
        return self.operation(Opcode.TUPLE, sums, kinds=(kind,), hints=(hint,))[0]

    def _are_bars_of_tuple(self, part: Value) -> bool:
        """Whether these are the cotangents of a tuple of numbers, or with texts beside them, of which it is None."""
        made = self.producers.get(part) if isinstance(part, Var) else None
        if made is None or made.callee is not Opcode.TUPLE:
            return is_tuple_of_numbers(self.kind(part))
        return all(is_none(item) or is_real_scalar(self.kind(item)) for item in made.arguments)

    def _parts(self, whole: Value, kind: TupleOf) -> tuple[Value, ...]:
        made = self.producers.get(whole) if isinstance(whole, Var) else None
        if made is not None and made.callee is Opcode.TUPLE:
            return made.arguments
        get = operator_constant("getitem")
        return tuple(self.call(get, (whole, Const(place)), kind=item) for place, item in enumerate(kind.items))

    def are_same(self, left: Value, right: Value) -> bool:
        """Whether two values are one, or the outcome of the same arithmetic on the same values."""
        if not isinstance(left, Var) or not isinstance(right, Var):
            return False
        a, b = self.producers.get(left), self.producers.get(right)
        if a is None or b is None:
            return left == right
        return left == right or (a.callee in _PRODUCTS and a.callee == b.callee and a.arguments == b.arguments)

    def named(self, value: Value, target: Var) -> Value:
        """Call a cotangent after the variable it belongs to, unless it has a name already."""
        name = self.bar_name(target)
        if not isinstance(value, Var) or not name or value.user_named:
            return value
        if value.hint not in ("", name) and not target.user_named:
            return value
        return self.rename(value, name, target.user_named)

    def zero(self, var: Var) -> Value:
        """A cotangent that says zero, where one is needed."""
        kind = self.kind(var)
        if is_real_scalar(kind):
            return Const(0.0)
        if isinstance(kind, TupleOf) and var not in self.numbered:
            return Const(None)
        function, *counts = self._zeros_of(var, kind)
        value = self.helper(function, var, *counts, hint=self.bar_name(var), kind=self.bar_kind(var))
        if isinstance(value, Var):
            self.owned.add(value)
            self.selected[value] = True  # nothing was chosen from it
        return value

    def _zeros_of(self, var: Var, kind: Kind) -> tuple[Any, ...]:
        """What makes such a cotangent of a container or of an array, and what it is given besides."""
        if var in self.numbered:
            return (run_time.zeros_by_item,)
        if has_open_tuples(kind):
            return (run_time.zeros_in_lists,)
        if not self.has_numbers(var):
            return (arithmetic.zero_cotangent,)
        match kind:
            case Sequence(name="list", item=TupleOf(items=items)) if is_tuple_of_numbers(kind.item):
                return run_time.zeros_for_tuples, Const(len(items))
        return (run_time.zeros_for,)

    def dense(self, cotangent: Value, var: Var, may_be_object: bool = False) -> Value:
        """The cotangent with None replaced by zeros, for code that computes with it: a number, unless it `may_be_object`."""
        kind, wanted = self.kind(cotangent), cotangent_kind(self.kind(var))
        if not (isinstance(kind, Inert | Unknown) or _has_gaps(kind, wanted)):
            return cotangent
        function = run_time.any_or_zero if may_be_object else run_time.or_zero
        return self.helper(function, cotangent, var, hint=self.bar_name(var), kind=wanted)

    def own(self, value: Value) -> Value:
        """The value if nothing else names it, or a copy."""
        if not isinstance(value, Var) or value in self.owned:
            return value
        function = run_time.copy_of_lists if holds_numbers(self.kind(value)) else arithmetic.own
        copy = self.helper(function, value, kind=self.kind(value))
        if isinstance(copy, Var):
            self.owned.add(copy)
            self.select(copy, self.is_selected(value))
        return copy

    def accumulate_item(self, function: Callable[..., object], container: Value, index: Value, part: Value) -> None:
        """container_bar[index] += part by `function`, in place where nothing else names the buffer."""
        if not self.is_active(container):
            return
        assert isinstance(container, Var)
        kind = self.kind(container)
        if self.has_numbers(container) or container in self.numbered:
            self.add_to_list(container, (index,), part)
            return
        current = self.cotangents.get(container)
        if self._is_added_to_item(container, current, function, index, part):
            self.cotangents[container] = self._added_to_item(container, current, index, part)
            return
        place = index.value if isinstance(index, Const) else None
        if type(place) is int and self._is_tuple_made_here(container) and is_real(self.kind(part)):
            self.accumulate(container, self._alone(kind, place, part))
            return
        proven = cotangent_kind(kind) if isinstance(kind, Array) else UNKNOWN
        if current is not None and self._is_added_in_place(kind, self.kind(current), index, part):
            self.cotangents[container] = self.stored(self.buffer(current), (index,), part, _ADDED)
            self.select(self.cotangents[container], self.both(self.passes, self.is_selected(current)))
            return
        if current is None and function is arithmetic.add_item:
            if isinstance(self.kind(part), Inert | Unknown):
                proven = UNKNOWN  # of a part that is zero there is none
            total = self.helper(arithmetic.item_cotangent, container, index, part, hint=self.bar_name(container), kind=proven)
        else:
            buffer = self.buffer(current)
            if function is arithmetic.add_item and isinstance(self.kind(current), Sequence):  # type: ignore[arg-type]
                proven = self.kind(buffer)  # what is added to a list stays one
            total = self.helper(function, buffer, container, index, part, hint=self.bar_name(container), kind=proven)
        assert isinstance(total, Var)
        self.owned.add(total)
        self.select(total, self.both(self.passes, current is None or self.is_selected(current)))
        self.cotangents[container] = total

    def _is_added_to_item(
        self, container: Var, current: Value | None, function: Callable[..., object], index: Value, part: Value
    ) -> bool:
        """Whether one item of a list or dict of arrays gets a cotangent that is never None."""
        kind = self.kind(container)
        if not holds_arrays(kind) or not is_numeric(self.kind(part)):
            return False
        is_place = self.kind(index) == INT if is_list(kind) else function is arithmetic.add_item
        return is_place and (current is None or self.kind(current) == cotangents_of(kind))

    def _added_to_item(self, container: Var, current: Value | None, index: Value, part: Value) -> Value:
        bars = self.buffer(self.no_items(container) if current is None else current)
        is_selected = self.both(self.passes, current is None or self.is_selected(current))
        before = self.call(operator_constant("getitem"), (bars, index), kind=UNKNOWN)
        after = self.stored(bars, (index,), self.helper(run_time.added, part, before, kind=self.kind(part)), None)
        self.select(after, is_selected)
        return after

    def no_items(self, container: Var) -> Value:
        """The cotangent of a list or dict of arrays of which nothing was read yet, which may be written into."""
        return self.as_list(Const(None), container)

    def _is_tuple_made_here(self, container: Var) -> bool:
        """Whether this is a tuple of numbers of which nobody asks what was not read: it was made here, or is an item of a list
        of such tuples, to whose cotangent only what was read is added."""
        made = self.made.get(container)
        if container in self.items_run_over:
            return is_tuple_with_numbers(self.kind(container))
        if made is None or not is_tuple_with_numbers(self.kind(container)):
            return False
        if made.callee != operator_constant("getitem"):
            return made.callee is Opcode.TUPLE
        items, *places = made.arguments
        return self.has_numbers(items) and self._are_places(self.kind(items), tuple(places))

    def _alone(self, kind: Kind, place: int, part: Value) -> Value:
        """The cotangent of a tuple of numbers of which one was read."""
        assert isinstance(kind, TupleOf)
        items: list[Value] = [Const(0.0)] * len(kind.items)
        items[place] = part
        (whole,) = self.operation(Opcode.TUPLE, tuple(items), kinds=(TupleOf(tuple(map(self.kind, items))),))
        return whole

    def _is_added_in_place(self, array: Kind, bars: Kind, index: Value, part: Value) -> bool:
        """Whether `x_bar[index] += part` adds to each entry that the index means: none is meant twice, and nothing has to be
        converted."""
        is_floating = isinstance(array, Array) and array.dtype == "float" and array.ndim is not None
        return is_basic_index(self.kind(index)) and is_floating and bars == array and is_real(self.kind(part))

    def buffer(self, current: Value | None) -> Value:
        """A cotangent as something that may be written into; None where there is none yet."""
        if current is None:
            return Const(None)
        if current not in self.owned:
            function = run_time.copy_of_lists if holds_numbers(self.kind(current)) else arithmetic.own
            return self.helper(function, current, kind=self.kind(current))
        if isinstance(current, Var):
            self.write(current)
        return current

    # The cotangents of lists

    def has_numbers(self, value: Value) -> bool:
        """Whether a value is a list or dict whose cotangent is one of numbers."""
        return holds_numbers(self.kind(value))

    def as_list(self, cotangent: Value, items: Var) -> Value:
        """The cotangent of a list as a list that may be written into: of numbers for numbers, and with None for what nobody
        reads of anything else."""
        if is_none(cotangent) and self.has_numbers(items):
            return self.zero(items)
        wanted = cotangents_of(self.kind(items))
        if self.kind(cotangent) == wanted or (holds_arrays(given := self.kind(cotangent)) and given.name == wanted.name):  # type: ignore[union-attr]
            self.owned |= {cotangent} if self._is_new(cotangent) else set()  # type: ignore[arg-type]
            return cotangent
        function = run_time.number_bars if holds_numbers(wanted) else run_time.item_bars
        if has_open_tuples(self.kind(items)):
            function = run_time.bars_in_lists
        made = self.helper(function, cotangent, items, hint=self.bar_name(items), kind=wanted)
        assert isinstance(made, Var)
        self.owned.add(made)
        self.selects = True
        self.select(made, True)  # as of an array that was read at an index
        return made

    def _is_new(self, cotangent: Value) -> bool:
        """Whether a cotangent is a list or dict of numbers that has just been made."""
        made = self.producers.get(cotangent) if isinstance(cotangent, Var) else None
        function: Any = made.callee.value if made is not None and isinstance(made.callee, Const) else None
        return RETURNS.get(function) is list or function in COTANGENTS_OF_ITEMS or function in COTANGENTS_LIKE

    def add_to_list(self, items: Var, indices: tuple[Value, ...], part: Value) -> None:
        """items_bar[index] += part, of a list of numbers."""
        while items in self.rows:
            items, place = self.rows[items]
            indices = (place, *indices)
        if not self.is_active(items):
            return
        current = self.cotangents.get(items)
        is_selected = self.both(self.passes, current is None or self.is_selected(current))
        bars = self.buffer(self.zero(items) if current is None else current)
        are_places = self._are_places(NUMBERS if items in self.numbered else self.kind(items), indices)
        if is_numeric(self.kind(part)) and are_places:
            self.cotangents[items] = self.stored(bars, indices, part, _ADDED)
        elif self._are_bars_of_tuple(part) and are_places:
            before, kind = bars, self.kind(bars)
            for index in indices:
                kind = kind.item  # type: ignore[union-attr]
                before = self.call(operator_constant("getitem"), (before, index), kind=kind)
            total = self._sum_of_tuples(kind, before, part, "")
            self.cotangents[items] = self.stored(bars, indices, total, None)
        else:
            kind = self.bar_kind(items)
            total = self.helper(run_time.added_to_part, bars, part, *indices, hint=self.bar_name(items), kind=kind)
            self.cotangents[items] = total
            self.owned |= {total} if isinstance(total, Var) else set()
        self.select(self.cotangents[items], is_selected)

    def _are_places(self, kind: Kind, indices: tuple[Value, ...]) -> bool:
        """Whether indices mean one item, and no slice."""
        for index in indices:
            if not isinstance(kind, Sequence):
                return False
            if kind.name != "dict" and self.kind(index) not in (INT, BOOL):
                return False
            kind = kind.item
        return True

    def stored(self, bars: Value, indices: tuple[Value, ...], part: Value, payload: Augmented | None) -> Var:
        """A list of cotangents after one of them has been written."""
        hint = bars if isinstance(bars, Var) else ""
        given = (bars, *indices, part)
        (after,) = self.operation(Opcode.STORE, given, kinds=(self.kind(bars),), hints=(hint,), payload=payload)
        if isinstance(bars, Var):
            self.owned.discard(bars)
        self.owned.add(after)
        self.select(after, self.is_selected(bars))
        return after

    # The cotangents after a branch

    def branch(self, condition: Value, then: Callable[[], None], orelse: Callable[[], None]) -> None:
        """Append both arms, each from the cotangents known here; what differs after them becomes a result."""
        if isinstance(condition, Const):
            (then if condition.value else orelse)()
            return
        where, cotangents, owned = self.where, self.cotangents, self.owned
        left, right = (self.arm(append, cotangents, owned) for append in (then, orelse))
        differing = [
            var
            for var in dict.fromkeys((*left.cotangents, *right.cotangents))
            if left.cotangents.get(var) != right.cotangents.get(var)
        ]
        left_values, right_values = (self.fill(arm, differing) for arm in (left, right))
        left_flags, right_flags = (tuple(map(self.is_selected, values)) for values in (left_values, right_values))
        self.where, self.owned = where, left.owned & right.owned
        self.cotangents = {var: value for var, value in left.cotangents.items() if right.cotangents.get(var) == value}
        results = []
        for var, a, b in zip(differing, left_values, right_values, strict=True):
            result = self.variable(join(self.kind(a), self.kind(b)), self.bar_name(var), var.user_named)
            results.append(result)
            self.cotangents[var] = result
            if a in left.owned and b in right.owned:
                self.hand_on((a, b), result)
        if self.keeps_zeros:
            for result, one, other in zip(tuple(results), left_flags, right_flags, strict=True):
                if one == other and isinstance(one, bool):
                    self.selected[result] = one
                    continue
                # Where an arm has nothing to do with a value its zero is strong, and where it has it is not.
                self.selected[result] = flag = self.variable(BOOL, "is_selected")
                results.append(flag)
                left_values, right_values = (*left_values, as_value(one)), (*right_values, as_value(other))
        if left.statements or right.statements or differing:
            arms = (Region(tuple(left.statements), Yield(left_values)), Region(tuple(right.statements), Yield(right_values)))
            self.add(If(condition, *arms, tuple(results), where))

    def arm(self, append: Callable[[], None], cotangents: Cotangents, owned: set[Var]) -> _Arm:
        self.cotangents, self.owned = dict(cotangents), set(owned)
        with self.region() as statements:
            append()
        return _Arm(statements, self.cotangents, self.owned)

    def fill(self, arm: _Arm, variables: list[Var]) -> tuple[Value, ...]:
        """The cotangents of the variables at the end of an arm, zeros included."""
        self.owned = arm.owned
        with self.region(arm.statements):
            self.selects |= any(var not in arm.cotangents for var in variables)
            return tuple(arm.cotangents[var] if var in arm.cotangents else self.zero(var) for var in variables)
