"""`forward_differentiate`: tangents beside the values, statement by statement, as IR.

    z = x * sin(y)      becomes     t = np.sin(y)
                                    t_dot = y_dot * np.cos(y)
                                    z = x * t
                                    z_dot = x_dot * t + x * t_dot

The primal says which variables are active and how each was computed. The tangent of a call is the transpose of its pullback
(`transposition`), a callee's own pushforward, or is left to run time (`runtime.pushforwards`); branches and loops carry the
tangent of each active variable with it. A tangent that may be None (of an object, or of something of unknown kind) is zero
then.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import assert_never

from microgradpy.ad.calls import (
    Append,
    Call,
    Dispatched,
    Inlined,
    Item,
    Iterated,
    Replaced,
    UnitCall,
)
from microgradpy.ad.primal import Primal
from microgradpy.ad.tangent_builder import ITEM_OF_GROWING, NONE, ForwardServices
from microgradpy.ad.tangent_calls import Tangents
from microgradpy.ad.tangent_kinds import dot_kind, dot_kind_of_result, written_in_place
from microgradpy.ad.transposition import TangentBuilder
from microgradpy.ad.zeros import may_insert
from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.ir.kinds import UNKNOWN, Kind, Scalar, TupleOf, present_inside
from microgradpy.ir.nodes import (
    Break,
    Continue,
    For,
    Function,
    If,
    Op,
    Opcode,
    Parameter,
    Region,
    Return,
    Statement,
    Terminator,
    Try,
    Value,
    Var,
    While,
    Yield,
)
from microgradpy.ir.traversal import is_mark, item_variables, regions, uses, walk


def transform(primal: Primal, differentiated: tuple[Var, ...], services: ForwardServices) -> Function:
    """The function that takes the inputs of a primal, then the tangents of the differentiated ones, and returns the value
    and its tangent."""
    function = primal.function
    made = {op.results[0]: op for op in walk(function.body) if isinstance(op, Op) and len(op.results) == 1}
    # Nothing has a tangent where it is None: what is computed with it is computed where it is not.
    kinds = {var: present_inside(kind) for var, kind in function.kinds.items()}
    builder = TangentBuilder(kinds=kinds, active=set(primal.active), adjoint_half=services.adjoint_half, made=made)
    builder.producers.update(made)
    of_result = primal.result_kind if primal.result_active else UNKNOWN
    written = written_in_place(function, primal.calls.values())
    pushing = _Walk(builder, services, _pairs(primal), written, primal.calls, of_result)
    parameters = [Parameter(parameter.var, parameter.name) for parameter in function.parameters]
    taken = {parameter.name for parameter in parameters} | {var.hint for var in function.captured}
    for var in differentiated:
        name = f"{var.hint}_dot"
        while name in taken:
            name += "_"
        taken.add(name)
        dot = builder.variable(dot_kind(builder.kind(var)), name)
        pushing.dots[var] = dot
        if not isinstance(builder.kind(var), Scalar):
            pushing.selected.add(var)  # a unit vector has zeros
        parameters.append(Parameter(dot, name))
    body = pushing.region(function.body)
    name = f"{function.name}_pushforward"
    return replace(function, name=name, parameters=tuple(parameters), body=body, kinds=builder.kinds)


def _pairs(primal: Primal) -> dict[Var, Call]:
    """The pairs of a value and what its pullback needs, which calls left in the primal, with the calls."""
    found: dict[Var, Call] = {}
    for op in walk(primal.function.body):
        if isinstance(op, Op) and op.callee is Opcode.UNPACK and op.results and op.results[0] in primal.calls:
            call = primal.calls[op.results[0]]
            if isinstance(call, Dispatched | UnitCall):
                (pair,) = op.arguments
                assert isinstance(pair, Var)
                found[pair] = call
    return found


Places = tuple[tuple[int, Var], ...]
"""The places, among the results of a statement or in the state of a loop, that have a tangent, with the variables there."""


@dataclass
class _Walk(Tangents):
    """`of_result` is the kind of the result, whose tangent callers take for a filled one. `yielded` are the places of the
    innermost `If` or `Try`, `carried` and `left` those of the state and of the results of the innermost loop, `seen` those of
    what the handlers of a `Try` see, by its scope. `zeros_here` are variables for which zeros were made in the region, or in
    one around it: elsewhere there are none."""

    calls: Mapping[Var, Call]
    of_result: Kind
    yielded: Places = ()
    carried: Places = ()
    left: Places = ()
    seen: dict[Var, Places] = field(default_factory=dict)
    zeros_here: list[Var] = field(default_factory=list)

    def places(self, *groups: tuple[Var, ...]) -> Places:
        """The places at which one of some variables is active, with that of the last group, whose kind the tangent has."""
        rows = enumerate(zip(*groups, strict=True))
        return tuple((place, row[-1]) for place, row in rows if any(var in self.builder.active for var in row))

    def with_dots(self, values: tuple[Value, ...], places: Places) -> tuple[Value, ...]:
        return (*values, *(self.dot_like(values[place], var) for place, var in places))

    def new_dots(self, variables: tuple[Var, ...], places: Places) -> tuple[Var, ...]:
        """Variables for the tangents of those at these places."""
        made = []
        for place, shaped in places:
            var = variables[place]
            dot = self.builder.variable(dot_kind(self.builder.kind(shaped)), self.builder.bar_name(var), var.user_named)
            self.dots[var] = dot
            made.append(dot)
        return tuple(made)

    # Regions

    def region(self, region: Region) -> Region:
        outer, self.pending = self.pending, []
        count = len(self.zeros_here)
        with self.builder.region() as statements:
            for statement, following in itertools.zip_longest(region.statements, region.statements[1:]):
                self.statement(statement, following)
            self.flush()
            terminator = self.terminator(region.terminator)
        self.pending = outer
        while len(self.zeros_here) > count:
            del self.dots[self.zeros_here.pop()]
        return self.builder.seal(statements, terminator)

    def terminator(self, terminator: Terminator) -> Terminator:
        match terminator:
            case Yield(values=values):
                return Yield(self.with_dots(values, self.yielded))
            case Continue(values=values):
                return Continue(self.with_dots(values, self.carried))
            case Break(values=values):
                return Break(self.with_dots(values, self.left))
            case Return(value=value, where=where):
                (pair,) = self.builder.operation(Opcode.TUPLE, (value, self.returned(value)))
                return Return(pair, where)
        return terminator

    def returned(self, value: Value) -> Value:
        """The tangent of what is returned: of a tuple with lists that were given, of the parts that callers know as active."""
        made, kind = self.builder.made.get(value) if isinstance(value, Var) else None, self.of_result
        parts = self.services.active_parts
        if parts is None or made is None or made.callee is not Opcode.TUPLE or not isinstance(kind, TupleOf):
            return self.filled(value, kind)
        known = zip(made.arguments, kind.items, parts, strict=True)
        dots = tuple(self.filled(item, of) if is_active else NONE for item, of, is_active in known)
        return self.builder.operation(Opcode.TUPLE, dots, kinds=(dot_kind_of_result(kind, parts),))[0]

    def statement(self, statement: Statement, following: Statement | None) -> None:
        self.builder.where = statement.where
        match statement:
            case Op():
                self.operation(statement)
                # What follows may be of the same rule, and read by its pullback.
                is_last = not isinstance(following, Op) or following.from_user
                if is_last and any(result.user_named for result in statement.results):
                    self.flush()
                return
        self.flush()
        match statement:
            case If():
                self.branch(statement)
            case While() | For():
                self.loop(statement)
            case Try():
                self.attempt(statement)
            case _:
                assert_never(statement)

    @contextmanager
    def inside(self, *, yielded: Places = (), loop: tuple[Places, Places] | None = None) -> Iterator[None]:
        outer = self.yielded, self.carried, self.left
        self.yielded = yielded
        self.carried, self.left = (self.carried, self.left) if loop is None else loop
        yield
        self.yielded, self.carried, self.left = outer

    def branch(self, statement: If) -> None:
        places = self.places(statement.results)
        with self.inside(yielded=places):
            then, orelse = self.region(statement.then), self.region(statement.orelse)
        self.note_branch(places, statement.results, (statement.then, statement.orelse))
        results = (*statement.results, *self.new_dots(statement.results, places))
        self.builder.add(replace(statement, then=then, orelse=orelse, results=results))

    def note_branch(self, places: Places, results: tuple[Var, ...], arms: Iterable[Region]) -> None:
        """A constant in an arm has a zero that the other arms' values have not."""
        ends = [arm.terminator.values for arm in arms if isinstance(arm.terminator, Yield)]
        for place, _ in places:
            values = [values[place] for values in ends]
            self.note_zeros(results[place], (), any(value in self.selected or self.dot(value) is NONE for value in values))

    def attempt(self, statement: Try) -> None:
        places = self.places(statement.results)
        self.seen[statement.scope] = seen = self.places(statement.parameters)
        self.fill_before(statement, seen)
        with self.inside(yielded=places):
            body = self.region(statement.body)
            parameters = (*statement.parameters, *self.new_dots(statement.parameters, seen))
            handlers = tuple(replace(handler, body=self.region(handler.body)) for handler in statement.handlers)
        self.note_branch(places, statement.results, (statement.body, *(handler.body for handler in statement.handlers)))
        results = (*statement.results, *self.new_dots(statement.results, places))
        self.builder.add(replace(statement, body=body, handlers=handlers, parameters=parameters, results=results))

    def fill_before(self, statement: Try, seen: Places) -> None:
        """Make the zeros that handlers see of what is there before: the body begins with the mark that hands these to them."""
        values = uses(statement.body.statements[0])
        for place, var in seen:
            value = values[place]
            if isinstance(value, Var) and self.dot(value) == NONE:
                dot = self.dot_like(value, var)
                if isinstance(dot, Var):
                    self.dots[value] = dot
                    self.zeros_here.append(value)

    def loop(self, statement: While | For) -> None:
        places = self.places(statement.results, statement.parameters)
        # What `break` carries may be of another kind than the state of the loop ever is.
        left = tuple((place, statement.results[place]) for place, _ in places)
        initial = self.with_dots(statement.initial, places)
        inserts = any(may_insert(region, self.calls) for region in regions(statement))
        inside = (inner for region in regions(statement) for inner in walk(region))
        inserts = inserts or any(value in self.selected for inner in inside for value in uses(inner))
        for place, _ in places:
            is_selected = inserts or statement.initial[place] in self.selected
            self.note_zeros(statement.parameters[place], (), is_selected)
            self.note_zeros(statement.results[place], (), is_selected)
        parameters = (*statement.parameters, *self.new_dots(statement.parameters, places))
        made: While | For
        if isinstance(statement, While):
            with self.inside(yielded=()):
                condition = self.region(statement.condition)
            with self.inside(loop=(places, left)):
                made = replace(statement, condition=condition, body=self.region(statement.body))
        else:
            with self.inside(loop=(places, left)):
                made = replace(statement, body=self.loop_body(statement))
        results = (*statement.results, *self.new_dots(statement.results, left))
        self.builder.add(replace(made, parameters=parameters, initial=initial, results=results))

    def loop_body(self, statement: For) -> Region:
        with self.builder.region() as statements:
            for item in item_variables(statement.items):
                if isinstance(call := self.calls.get(item), Iterated):
                    self.builder.where = replace(call.where, text="")
                    self.know_dot(item, self.iterated(call))
            body = self.region(statement.body)
        return Region((*statements, *body.statements), body.terminator)

    def operation(self, op: Op) -> None:
        if is_mark(op):
            self.flush()
            self.builder.add(replace(op, arguments=self.with_dots(op.arguments, self.seen[op.payload])))
            return
        if op.results and op.results[0] in self.pairs:
            self.flush()
            self.paired(op, self.pairs[op.results[0]])
            return
        call = self.calls.get(op.results[0]) if op.results else None
        if isinstance(call, Inlined):
            self.inlined(op, call)
            return
        if isinstance(call, Dispatched | UnitCall):
            self.unpack_pair(op, call)
            return
        if isinstance(call, Append | Replaced):
            self.write(op, call)
            return
        if isinstance(call, Item) and self.is_growing(call.container):
            op = replace(op, callee=ITEM_OF_GROWING)
        self.builder.add(op)
        if call is not None:
            with self.builder.region(self.pending):
                self.structure(call)
