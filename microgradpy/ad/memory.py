"""Which values of a primal may be the same memory, and what happens to that memory: for functions that write.

Variables that may name, hold or be part of the same objects are in one *region* (`memory_regions`), whatever the order. What is
known of a region decides how the cotangents of its members are kept:

    written, held or returned by nobody      by value, as where nothing is written
    anything else                            in the shadows of the objects

A region into which something active is stored is active as a whole.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import Any, final

from microgradpy.ad.calls import Unit
from microgradpy.ad.given_code import any_unknown, asks_class, may_run_generator, runs_given_code
from microgradpy.ad.known_functions import is_fresh, is_view, joins_containers
from microgradpy.ad.memory_regions import MemoryRegion, Partition
from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.ir.kinds import (
    UNKNOWN,
    Array,
    Kind,
    Numeric,
    Scalar,
    Sequence,
    TupleOf,
    is_numeric,
    python_type,
)
from microgradpy.ir.nodes import (
    Break,
    Const,
    Continue,
    For,
    Function,
    If,
    Op,
    Opcode,
    Region,
    Return,
    Statement,
    Try,
    Value,
    Var,
    While,
    Yield,
)
from microgradpy.ir.traversal import given_values, is_mark, item_sources, item_variables, regions, terminators, uses, walk
from microgradpy.runtime.making import Maker
from microgradpy.runtime.variables import CELL_READS, OF_MODULES, new_cell
from microgradpy.runtime.writes import written_argument
from microgradpy.state.dispatch import (
    attempted_pullback_of,
    attempted_pullback_of_packed,
    tracked_pullback_of,
    tracked_pullback_of_arrays,
    tracked_pullback_of_packed,
)
from microgradpy.state.snapshots import frozen
from microgradpy.state.write_handlers import has_write_handler

_DISPLAYS = (Opcode.TUPLE, Opcode.LIST, Opcode.DICT, Opcode.SET, Opcode.CLOSURE, Opcode.APPEND)
_BY_ARGUMENT = (tracked_pullback_of, tracked_pullback_of_arrays, attempted_pullback_of)
_DISPATCHERS = (*_BY_ARGUMENT, tracked_pullback_of_packed, attempted_pullback_of_packed)


@final
@dataclass(frozen=True, slots=True)
class Memory:
    """What was found of one function. `by_value` are the arrays whose cotangents travel by value; `own` those among them that
    nobody outside ever sees; `activated` the user's variables into whose memory something active is stored; `writes` says
    whether anything is written, or called that may write."""

    by_value: frozenset[Var]
    own: frozenset[Var]
    activated: frozenset[Var]
    writes: bool
    region_of: Mapping[Var, Var]
    """One variable for each region."""
    items: Mapping[Var, Kind]
    """What is proven of the items of the lists that the user's variables name, of lists all of whose writes are in sight."""


def analyse(function: Function, active: frozenset[Var], origin: Mapping[Var, Var], is_root: bool, is_first: bool) -> Memory:
    """Look at a primal whose active variables are these; `origin` gives the user's variable that each of them is. The root
    of a run is the function that the user differentiates: before its call ends, only code of this run writes into its
    arguments and its value. The first look at the items of lists is a guess, which the next has to confirm."""
    analysis = _Analysis(function.kinds, is_first, active=active)
    # While a generator is suspended, others may write into what it was given.
    is_shared = any(isinstance(op, Op) and op.callee is Opcode.SUSPEND for op in walk(function.body))
    for var in function.inputs:
        region = analysis.region_of(var)
        region.is_input = True
        if is_shared:
            region.is_held = region.is_open = region.contents_change = True
    analysis.region(function.body)
    by_value: set[Var] = set()
    own: set[Var] = set()
    activated: set[Var] = set()
    items: dict[Var, Kind] = {}
    # Memory that others know may be known to them, and to this function, under several names.
    outside = [region for region in analysis.all_regions() if region.is_input or region.is_open or region.is_given]
    is_exposed = any(r.is_written and (r.is_open or r.is_given or not is_root) for r in outside)
    regions_of = {var: region.members[0] for region in analysis.all_regions() for var in region.members}
    for region in analysis.all_regions():
        numeric = all(isinstance(analysis.kind(var), Array | Numeric | Scalar) for var in region.members)
        is_known = region.is_input or region.is_given
        is_lost = region.is_held or region.is_written or (region.is_returned and region.is_input) or (is_known and is_exposed)
        if numeric and not is_lost:
            by_value.update(region.members)
        is_quiet = not analysis.reaches_out and not (is_known and is_exposed)
        is_seen = region.is_input or region.is_returned
        is_own = is_quiet and (is_root or not is_seen) if is_seen or region.is_given else True
        if not region.contents_change and not region.is_open and is_own:
            own.update(region.members)
        if not region.is_open and not region.is_input:
            items |= {origin[var]: region.items for var in region.members if var in origin and analysis.is_list(var)}
        if region.stores_active:
            activated.update(origin[var] for var in region.members if var in origin and var not in active)
    return Memory(frozenset(by_value), frozenset(own), frozenset(activated), analysis.writes, regions_of, items)


@dataclass(slots=True)
class _Analysis(Partition):
    """The walk over a function: which variables each statement puts into one region, and what it does to the region."""

    active: frozenset[Var] = frozenset()
    writes: bool = False
    globals: dict[str, Var] = field(default_factory=dict)
    reaches_out: bool = False
    """Whether code is called that may write into objects that it is not given."""

    # Statements

    def region(self, region: Region) -> None:
        for statement in region.statements:
            self.statement(statement)
        if isinstance(region.terminator, Return):
            self.returned(region.terminator.value)

    def returned(self, value: Value) -> None:
        for var in self.mutable([value]):
            self.region_of(var).is_returned = True

    def statement(self, statement: Statement) -> None:
        # What is inside comes first: which values are methods has to be known when these are joined.
        for inner in regions(statement):
            self.region(inner)
        match statement:
            case Op():
                self.operation(statement)
            case If(results=results):
                self.joined(results, regions(statement))
            case Try(scope=scope, parameters=parameters, results=results):
                self.joined(results, regions(statement))
                for mark in walk(statement.body):
                    if isinstance(mark, Op) and is_mark(mark) and mark.payload == scope:
                        for parameter, value in zip(parameters, mark.arguments, strict=True):
                            self.unite((parameter, value))
            case While() | For():
                self.loop(statement)

    def joined(self, results: tuple[Var, ...], arms: Iterable[Region]) -> None:
        for arm in arms:
            if isinstance(arm.terminator, Yield):
                for result, value in zip(results, arm.terminator.values, strict=True):
                    self.unite((result, value))

    def loop(self, loop: While | For) -> None:
        for parameter, initial, result in zip(loop.parameters, loop.initial, loop.results, strict=True):
            self.unite((parameter, initial, result))
        for terminator in terminators(loop.body, of_inner_loops=False):
            if isinstance(terminator, Continue | Break):
                # A result is what `break` carries even if the parameter is proven to be something else, such as None.
                for parameter, value, result in zip(loop.parameters, terminator.values, loop.results, strict=True):
                    self.unite((parameter, value, result))
        if isinstance(loop, For):
            region = self.unite((*item_variables(loop.items), *item_sources(loop.items)))
            sources = self.mutable(item_sources(loop.items))
            if region is not None and any(not isinstance(self.kind(source), Array) for source in sources):
                region.is_held = True
            if region is not None and any_unknown(map(self.kind, sources)):
                region.is_written = self.writes = True

    def operation(self, op: Op) -> None:
        match op.callee:
            case Opcode.UNPACK if any_unknown(map(self.kind, op.arguments)):
                self.unknown(op)
            case Opcode.UNPACK | Opcode.GETATTR | Opcode.GETITEM:
                self.unite((*op.arguments, *op.results))
            case Opcode.GLOBAL:
                self.hold((*op.results, self.globals.setdefault(op.payload, op.result)))
                for result in self.mutable(op.results):
                    self.region_of(result).is_open = True
            case Opcode.APPLY | Opcode.SUSPEND:
                self.unknown(op)
            case Opcode():
                self.display(op)
            case Const(value=function):
                self.call(op, function)
            case Var() as callee if callee in self.methods:
                target, function = self.methods[callee]
                self.call(replace(op, arguments=(target, *op.arguments)), function)
            case _:
                self.unknown(op)

    def display(self, op: Op) -> None:
        """A container that is written down with what it holds, or text."""
        if op.callee in _DISPLAYS:
            self.hold((*op.arguments, *op.results))
            if op.callee in (Opcode.LIST, Opcode.APPEND):
                items = op.arguments if op.callee is Opcode.LIST else op.arguments[1:]
                self.store_items(self.region_of(op.results[0]), items)
        else:
            self.made(op)

    def made(self, op: Op) -> None:
        """The results are memory that nothing else refers to."""
        for result in self.mutable(op.results):
            self.region_of(result)

    def hold(self, values: Iterable[Value]) -> None:
        region = self.unite(values)
        if region is not None:
            region.is_held = True

    def call(self, op: Op, function: Any, reads_active: bool = False) -> None:
        if not (function is frozen or self.call_of_own(op, function)):
            self.call_of_user(op, function, reads_active)

    def call_of_own(self, op: Op, function: Any) -> bool:
        """A call of what the compiler itself puts into programs; False if it is another."""
        method = self.method_read(op) if function is getattr else None
        if method is not None:
            self.methods[op.results[0]] = method
        elif function in _DISPATCHERS:
            self.dispatched(op)
        elif isinstance(function, FunctionType) and function in OF_MODULES:
            self.module_variable(op)
        elif isinstance(function, Maker):
            # A class holds what its methods captured, and its bases; its decorators have been called by now.
            self.hold((*op.arguments[:1], *op.arguments[2:3], *op.arguments[4:], *op.results))
        elif function is new_cell:
            self.hold((*op.arguments, *op.results))
        elif getattr(type(function), "stands_for_unit", False):
            self.call_unit(op, function.unit)
        else:
            return False
        return True

    def uses_active(self, op: Op) -> bool:
        return any(isinstance(value, Var) and value in self.active for value in uses(op))

    def call_of_user(self, op: Op, function: Any, reads_active: bool) -> None:
        if function is getattr:
            self.attribute(op)
        elif self.runs_active(op, function) or (function is operator.getitem and self.joins(op)):
            self.unknown(op, reads_active)
        elif any(function is part for part in (operator.getitem, *CELL_READS)):
            self.unite((op.arguments[0], *op.results))
        elif self.is_write(op, function):
            self.write(op, function)
        elif runs_given_code(function, op.arguments, op.keywords, self.kinds_of(op)):
            self.unknown(op)
        elif not is_fresh(function):
            self.unknown(op, reads_active)
        elif self.may_hold_items(op, function):
            self.unite((*given_values(op.arguments, op.keywords), *op.results))
        else:
            if is_view(function):
                self.unite((*given_values(op.arguments, op.keywords), *op.results))
            self.made(op)
            for result in filter(self.is_list, op.results):
                self.region_of(result).items = UNKNOWN  # what `np.split` puts into a list is not stored in sight

    def attribute(self, op: Op) -> None:
        """An attribute is a part of its object; that of a class, function or module may be known by other names too."""
        target, _, *default = op.arguments
        region = self.unite((target, *default, *op.results))
        if region is not None and isinstance(target, Const):
            region.is_held = region.is_open = True

    def runs_active(self, op: Op, function: Any) -> bool:
        """Whether a call may run code of the user's that is given something active."""
        if not self.uses_active(op):
            return False
        kinds = self.kinds_of(op)
        return asks_class(function, kinds) or may_run_generator(function, kinds)

    def joins(self, op: Op) -> bool:
        """Whether reading an item may make it of what is in the index, as `np.r_` does."""
        container, index = op.arguments
        is_plain = isinstance(self.kind(container), Array | Sequence | TupleOf)
        return isinstance(index, Var) and index in self.active and not is_plain

    def may_hold_items(self, op: Op, function: Any) -> bool:
        """Whether an operator may make a container of what its operands hold: `rows + rows`, `[row] * 2`, `d | e`."""
        kinds = [self.item_kind(value) for value in op.arguments]
        return joins_containers(function, kinds) and not is_numeric(self.kind(op.result))

    def method_read(self, op: Op) -> tuple[Value, Any] | None:
        """The object and the function of its class, if an attribute that is read is a method of an array or container."""
        target, name = op.arguments[:2]
        cls = python_type(self.kind(target))
        found = getattr(cls, name.value, None) if cls is not None and isinstance(name, Const) else None
        return (target, found) if callable(found) else None

    def dispatched(self, op: Op) -> None:
        """`y, pullback = tracked_pullback_of(f, ...)`"""
        callee, *arguments = op.arguments
        direct = replace(op, callee=callee, arguments=tuple(arguments))
        if isinstance(callee, Const) and op.callee.value in _BY_ARGUMENT:  # type: ignore[union-attr]
            self.call(direct, callee.value, reads_active=True)
        else:
            self.unknown(direct, reads_active=True)

    def module_variable(self, op: Op) -> None:
        """A module variable is read, assigned or deleted: it may hold something active already."""
        name = op.arguments[1]
        assert isinstance(name, Const)
        region = self.unite((*op.arguments, *op.results, self.globals.setdefault(name.value, op.result)))
        if region is not None:
            region.is_held = region.is_written = region.stores_active = True
        self.writes = True

    def is_write(self, op: Op, function: Any) -> bool:
        if has_write_handler(function) and function is not operator.getitem:
            return True
        keywords = {name: value.value if isinstance(value, Const) else value for name, value in op.keywords}
        arguments = tuple(value.value if isinstance(value, Const) else value for value in op.arguments)
        return written_argument(function, arguments, keywords) is not None

    def write(self, op: Op, function: Any) -> None:
        """A known write: of the first argument for most, of any for `out=`."""
        self.writes = True
        if not op.arguments:  # a bound method
            self.unknown(op, reads_active=True)
            return
        first, *others = op.arguments
        given = [*others, *(value for _, value in op.keywords)]
        copies = has_write_handler(function) and isinstance(self.kind(first), Array)
        targets = [first, *op.results] if copies else [*op.arguments, *given, *op.results]
        region = self.unite(targets)
        if region is not None:
            region.is_written = True
            if self.is_list(first) and function is list.append:
                self.store_items(region, others)
            else:
                region.contents_change = True
                region.is_open |= not copies
            region.is_held |= not copies
            region.stores_active |= any(isinstance(value, Var) and value in self.active for value in (first, *given))

    def call_unit(self, op: Op, unit: Unit) -> None:
        region = self.unite((*op.arguments, *op.results))
        for result in self.mutable(op.results):
            self.region_of(result).is_given = True
        if unit.writes and region is not None:
            # It was given something active, or reads some itself.
            self.affect(region, op, reads_active=True)
        if region is not None and any(map(self.is_list, op.results)):
            region.is_open = True  # whose items nothing is known of
        self.writes |= unit.writes

    def unknown(self, op: Op, reads_active: bool = False) -> None:
        """A call of which nothing is known: it may write into all that it reaches, and keep it."""
        self.writes = self.reaches_out = True
        region = self.unite((*uses(op), *op.results))
        if region is not None:
            self.affect(region, op, reads_active)

    def affect(self, region: MemoryRegion, op: Op, reads_active: bool = False) -> None:
        region.is_held = region.is_written = region.is_open = region.contents_change = True
        self.reaches_out = True
        region.stores_active |= reads_active or any(isinstance(v, Var) and v in self.active for v in uses(op))
