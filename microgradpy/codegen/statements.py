"""Regions -> lists of Python statements, of the IR as it stands: what the user's constructs become there is up to `frontend`.

A region ends in copies to the variables that its terminator gives values to, and in `continue`, `break` or `return`
where control does not fall through to the right place anyway.
"""

from __future__ import annotations

import ast
import heapq
from collections import Counter
from collections.abc import Sequence, Set
from typing import assert_never, final

from microgradpy.codegen.expressions import Expressions, negation
from microgradpy.codegen.iteration import iterable, target_of
from microgradpy.codegen.liveness import Liveness
from microgradpy.codegen.notation import Binary, InPlace, notation, store
from microgradpy.codegen.order_check import OrderCheck
from microgradpy.dataclasses import dataclass, field, nodeclass, replace
from microgradpy.ir.nodes import (
    CHANGING,
    NOWHERE,
    Break,
    Const,
    Continue,
    For,
    Handler,
    If,
    Location,
    Op,
    Opcode,
    Raise,
    Region,
    Return,
    Statement,
    Terminator,
    Try,
    Undefined,
    Unreachable,
    Value,
    Var,
    While,
    Yield,
)
from microgradpy.ir.traversal import is_mark, item_variables, regions, terminator_values, terminators, uses, walk


@final
@nodeclass(frozen=True, slots=True)
class Flow:
    """Where the end of a region leads. `tail`: falling off the end is the same as `continue`."""

    results: tuple[Var, ...] = ()
    parameters: tuple[Var, ...] = ()
    loop_results: tuple[Var, ...] = ()
    tail: bool = False


@dataclass(slots=True)
class Statements:
    """Makes statements; `places` says where in the user's source each is from; `filled` are the variables that are None where
    they are not assigned."""

    expressions: Expressions
    liveness: Liveness
    filled: frozenset[Var]
    check: OrderCheck
    places: dict[ast.stmt, Location] = field(default_factory=dict)
    seen: dict[Var, tuple[Var, ...]] = field(default_factory=dict)  # the parameters of the `Try`s around, by scope

    def function_body(self, body: Region) -> list[ast.stmt]:
        block = self._block(body, Flow())
        match block:
            case [_, *_, ast.Return(value=ast.Constant(value=None))] if not self._has_return(block[:-1]):
                return block[:-1]
        return block

    def _has_return(self, block: Sequence[ast.stmt]) -> bool:
        """Whether there is a `return` already, so that the function's last line should say what it returns too."""
        return any(isinstance(node, ast.Return) for statement in block for node in ast.walk(statement))

    # Regions

    def _block(self, region: Region, flow: Flow) -> list[ast.stmt]:
        block: list[ast.stmt] = []
        start = self.check.start_region()
        last = region.statements[-1] if region.statements else None
        for statement in region.statements:
            if isinstance(statement, Op | If) and self.expressions.nesting.is_nested(statement):
                self.check.postpone(statement.results[0])
                continue
            tail = flow.tail and statement is last and isinstance(region.terminator, Unreachable)
            block += self._statement(statement, replace(flow, tail=tail))
        block += self._end(region.terminator, flow)
        self.check.end_region(start, region.terminator)
        return block

    def _end(self, terminator: Terminator, flow: Flow) -> list[ast.stmt]:
        match terminator:
            case Yield(values=values):
                return self._copy(flow.results, values)
            case Continue(values=values):
                return self._copy(flow.parameters, values) + ([] if flow.tail else [ast.Continue()])
            case Break(values=values):
                return [*self._copy(flow.loop_results, values), ast.Break()]
            case Return(value=value, where=where):
                return [self._placed(ast.Return(self._read(value)), where)]
            case Raise(exception=exception, cause=cause, where=where):
                parts = [None if part is None else self._read(part) for part in (exception, cause)]
                return [self._placed(ast.Raise(*parts), where)]
            case Unreachable():
                return []
        assert_never(terminator)

    def _statement(self, statement: Statement, flow: Flow) -> list[ast.stmt]:
        match statement:
            case Op() if is_mark(statement):
                return self._mark(statement)
            case Op():
                return self._operation(statement)
            case Try():
                return self._try(statement, flow)
            case If() if self.expressions.nesting.is_choice(statement):
                self.check.read(statement.condition)
                return [self._assign(statement.results[0], self.expressions.choice(statement), statement.where)]
            case If():
                return self._if(statement, flow)
            case While():
                return self._while(statement)
            case For():
                return self._for(statement)
        assert_never(statement)

    # Operations

    def _operation(self, op: Op) -> list[ast.stmt]:
        for value in uses(op):
            self.check.read(value)
        if op.callee in CHANGING:
            return self._changed(op)
        if op.callee is Opcode.RECORD:
            return [self._placed(self._append_call(op.arguments[0], self._record(op.arguments[1:])), op.where)]
        if op.callee is Opcode.UNPACK:
            return [self._unpack(op)]
        (result,) = op.results
        if result not in self.liveness.live and not result.user_named:
            written = self._store(op)
            if written is not None:
                return [written]
            return [self._placed(ast.Expr(self.expressions.operation(op)), op.where)]
        return [self._in_place(op, result) or self._assign(result, self.expressions.operation(op), op.where)]

    def _store(self, op: Op) -> ast.stmt | None:
        """`x[i] = y`, `x.a = y` and their deletions."""
        sign = store(op)
        if sign is None:
            return None
        context = ast.Store() if sign.value is not None else ast.Del()
        # Python evaluates the value first; operands that are expressions have been nested in that order.
        value = None if sign.value is None else self._read(sign.value)
        if isinstance(sign.place, str):
            target: ast.Attribute | ast.Subscript = ast.Attribute(self._read(sign.operand), sign.place, context)
        else:
            operand = self._read(sign.operand)
            for index in sign.outer:
                operand = ast.Subscript(operand, self.expressions.index(index), ast.Load())
            target = ast.Subscript(operand, self.expressions.index(sign.place), context)
        if value is None:
            statement: ast.stmt = ast.Delete([target])
        elif sign.sign is not None:
            statement = ast.AugAssign(target, sign.sign(), value)
        else:
            statement = ast.Assign([target], value)
        return self._placed(statement, op.where)

    def _changed(self, op: Op) -> list[ast.stmt]:
        """A list that gets one item more, or another one."""
        target = op.arguments[0]
        stored = self._store(op)
        placed = stored or self._placed(self._append_call(target, self._read(op.arguments[1])), op.where)
        (result,) = op.results
        if result not in self.liveness.live or self._same_name(result, target):
            return [placed]
        return [placed, self._assign(result, self._read(target), op.where)]


    def _append_call(self, target: Value, item: ast.expr) -> ast.stmt:
        return ast.Expr(ast.Call(ast.Attribute(self._read(target), "append", ast.Load()), [item], []))

    def _record(self, fields: Sequence[Value]) -> ast.expr:
        for part in fields:
            self.check.read(part)
        values = [self.expressions.stored(part) for part in fields]
        match values:
            case []:
                return ast.Constant(None)
            case [value]:
                return value
        return ast.Tuple(values, ast.Load())

    def _unpack(self, op: Op) -> ast.stmt:
        value = self._read(op.arguments[0])
        if not op.from_user and not any(result in self.liveness.live for result in op.results):
            return self._placed(ast.Expr(value), op.where)
        self.check.assign(op.results)
        names: list[ast.expr] = [self._target(result) for result in op.results]
        # `[a] = b`: in `a, = b` the comma is easily overlooked.
        targets = ast.Tuple(names, ast.Store()) if len(names) != 1 else ast.List(names, ast.Store())
        return self._placed(ast.Assign([targets], value), op.where)

    def _in_place(self, op: Op, target: Var) -> ast.stmt | None:
        """`x += y`, if the target has the name of the first operand and that is what the operation means."""
        match notation(op):
            case InPlace(sign=sign, target=written, right=right) if self._same_name(target, written):
                return self._augment(op, target, sign, right)
            case Binary(sign=sign, left=left, right=right) if not op.from_user:
                scalar = self.expressions.is_real_scalar
                if self._same_name(target, left) and scalar(left):
                    return self._augment(op, target, sign, right)
                if sign in (ast.Add, ast.Mult) and self._same_name(target, right) and scalar(left) and scalar(right):
                    return self._augment(op, target, sign, left)
        return None

    def _augment(self, op: Op, target: Var, sign: type[ast.operator], value: Value) -> ast.stmt:
        operand = self._read(value)
        if sign is ast.Add:
            sign, operand = self.expressions.added(op, value, operand)
        self.check.assign([target])
        return self._placed(ast.AugAssign(self._target(target), sign(), operand), op.where)

    # Branches

    def _if(self, statement: If, flow: Flow) -> list[ast.stmt]:
        test = self._read(statement.condition)
        inner = replace(flow, results=statement.results)
        then_ends, orelse_ends = (not _completes(arm, inner) for arm in (statement.then, statement.orelse))
        shortcut = not then_ends and _is_shortcut(statement, inner)
        flat = then_ends or shortcut or orelse_ends
        then = self._block(statement.then, inner if not shortcut else replace(inner, tail=False))
        orelse = self._block(statement.orelse, inner)
        if flat and (then_ends or shortcut):
            return [self._branch(test, then or [ast.Pass()], [], statement.where), *orelse]
        if flat:
            return [self._branch(self._negated(statement.condition, test), orelse or [ast.Pass()], [], statement.where), *then]
        if then:
            return [self._branch(test, then, orelse, statement.where)]
        if orelse:
            return [self._branch(self._negated(statement.condition, test), orelse, [], statement.where)]
        return [] if isinstance(test, ast.Name | ast.Constant) else [self._placed(ast.Expr(test), statement.where)]

    def _negated(self, condition: Value, test: ast.expr) -> ast.expr:
        op = self.expressions.nesting.nested.get(condition) if isinstance(condition, Var) else None
        return negation(test, of_numbers=isinstance(op, Op) and not op.from_user)

    def _branch(self, test: ast.expr, then: list[ast.stmt], orelse: list[ast.stmt], where: Location) -> ast.stmt:
        return self._placed(ast.If(test, then, orelse), where)

    # Try

    def _try(self, statement: Try, flow: Flow) -> list[ast.stmt]:
        self.seen[statement.scope] = statement.parameters
        first, *others = statement.body.statements
        assert isinstance(first, Op)
        # What the first mark says holds before the body begins.
        start = self._mark(first)
        inner = replace(flow, results=statement.results, tail=False)
        body = self._block(Region(tuple(others), statement.body.terminator), inner)
        handlers = [self._handler(handler, inner) for handler in statement.handlers]
        return [*start, self._placed(ast.Try(body or [ast.Pass()], handlers, [], []), statement.where)]

    def _handler(self, handler: Handler, flow: Flow) -> ast.ExceptHandler:
        types = [self._read(caught) for caught in handler.types or ()]
        caught: ast.expr | None = types[0] if len(types) == 1 else ast.Tuple(types, ast.Load()) if types else None
        exception = handler.exception
        name = self._name(exception) if exception is not None and _is_read(exception, handler.body) else None
        if exception is not None:
            self.check.assign([exception])
        if name is not None and caught is None:
            caught = self.expressions.bindings.builtin("BaseException")
        return ast.ExceptHandler(caught, name, self._block(handler.body, flow) or [ast.Pass()])

    def _mark(self, mark: Op) -> list[ast.stmt]:
        wanted = self.liveness.marked.get(id(mark), frozenset())
        pairs = [pair for pair in zip(self.seen[mark.payload], mark.arguments, strict=True) if pair[0] in wanted]
        return self._copy([target for target, _ in pairs], [value for _, value in pairs])

    # Loops

    def _while(self, loop: While) -> list[ast.stmt]:
        start = self._copy(loop.parameters, loop.initial)
        flow = Flow((), loop.parameters, loop.results, tail=True)
        # Nothing is left of the condition's statements if all of them are nested in its value.
        before = self._block(replace(loop.condition, terminator=Yield(())), Flow())
        (condition,) = terminator_values(loop.condition.terminator)
        test = self._read(condition)
        body = self._loop_body(loop.body, flow)
        if before:
            leave = ast.If(self._negated(condition, test), [ast.Break()], [])
            test, body = ast.Constant(True), [*before, leave, *body]
        return [*start, self._placed(ast.While(test, body or [ast.Pass()], []), loop.where)]

    def _for(self, loop: For) -> list[ast.stmt]:
        start = self._copy(loop.parameters, loop.initial)
        source = iterable(loop.items, self._read, self.expressions.bindings.builtin)
        self.check.assign(item_variables(loop.items))
        target = target_of(loop.items, self._target, self._unused_name)
        flow = Flow((), loop.parameters, loop.results, tail=True)
        body = self._loop_body(loop.body, flow) or [ast.Pass()]
        return [*start, self._placed(ast.For(target, source, body, [], None), loop.where)]

    def _loop_body(self, body: Region, flow: Flow) -> list[ast.stmt]:
        self.check.start_loop()
        block = self._block(body, flow)
        self.check.end_loop()
        return block

    # Copies

    def _copy(self, targets: Sequence[Var], values: Sequence[Value]) -> list[ast.stmt]:
        """Give values to variables, all at once: one after the other if no value is lost by that, else as a tuple."""
        wanted = [
            (target, self._filled(target, value))
            for target, value in zip(targets, values, strict=True)
            if target in self.liveness.live and not self._same_name(target, value)
        ]
        wanted = [(target, value) for target, value in wanted if not isinstance(value, Undefined)]
        for _, value in wanted:
            self.check.read(value)
        ordered = self._sequence(wanted)
        if ordered is not None:
            return [self._give(target, value) for target, value in ordered]
        expressions = [self._read(value) for _, value in wanted]
        self.check.assign([target for target, _ in wanted])
        names: list[ast.expr] = [self._target(target) for target, _ in wanted]
        return [ast.Assign([ast.Tuple(names, ast.Store())], ast.Tuple(expressions, ast.Load()))]

    def _give(self, target: Var, value: Value) -> ast.stmt:
        nested = self.expressions.nesting.nested.get(value) if isinstance(value, Var) else None
        augmented = self._in_place(nested, target) if isinstance(nested, Op) else None
        return augmented or self._assign(target, self._read(value), NOWHERE)

    def _filled(self, target: Var, value: Value) -> Value:
        return Const(None) if isinstance(value, Undefined) and target in self.filled else value

    def _sequence(self, wanted: Sequence[tuple[Var, Value]]) -> list[tuple[Var, Value]] | None:
        """The copies in an order in which no name is written before it is read; None if there is none. Nested
        operations keep their order."""
        if len(wanted) < 2:
            return list(wanted)
        leaves = self.expressions.nesting.leaves
        names = [self._name(target) for target, _ in wanted]
        order = _order(names, [{self._name(leaf) for leaf in leaves(value)} for _, value in wanted])
        nested = [place for place in order if wanted[place][1] in self.expressions.nesting.nested]
        return [wanted[place] for place in order] if len(order) == len(wanted) and nested == sorted(nested) else None

    # Names

    def _read(self, value: Value) -> ast.expr:
        self.check.read(value)
        return self.expressions.value(value)

    def _name(self, var: Var) -> str:
        return self.expressions.names[var]

    def _same_name(self, var: Var, value: Value) -> bool:
        if not isinstance(value, Var) or value in self.expressions.nesting.nested:
            return False
        return self._name(var) == self._name(value)

    def _unused_name(self) -> str:
        read = {self._name(var) for var in self.liveness.live if var in self.expressions.names}
        return "_" if "_" not in read else "_unused"

    def _target(self, var: Var) -> ast.Name:
        return ast.Name(self._name(var), ast.Store())

    def _assign(self, var: Var, value: ast.expr, where: Location) -> ast.stmt:
        self.check.assign([var])
        return self._placed(ast.Assign([self._target(var)], value), where)

    def _placed(self, statement: ast.stmt, where: Location) -> ast.stmt:
        self.places[statement] = where
        return statement


def _order(names: Sequence[str], reads: Sequence[Set[str]]) -> list[int]:
    """The places of assignments to these names in an order in which none is written that a later one reads, each as early as it
    can be; those that read one another are left out."""
    readers = Counter(name for each in reads for name in each)
    blocked = [readers[name] - (name in each) for name, each in zip(names, reads, strict=True)]
    waiting: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        waiting.setdefault(name, []).append(place)
    free, order = [place for place, count in enumerate(blocked) if not count], list[int]()
    while free:
        made = heapq.heappop(free)
        order.append(made)
        for place in (place for name in reads[made] for place in waiting.get(name, ()) if place != made):
            blocked[place] -= 1
            if not blocked[place]:
                heapq.heappush(free, place)
    return order


# Where the text of a region ends


def _is_read(var: Var, region: Region) -> bool:
    """Whether something in a region reads a variable."""
    ends = (terminator_values(terminator) for terminator in terminators(region))
    reads = (uses(statement) for statement in walk(region))
    return any(var in values for values in (*ends, *reads))


def _completes(region: Region, flow: Flow) -> bool:
    """Whether control can fall off the end of the text of a region."""
    match region.terminator:
        case Yield():
            return True
        case Continue():
            return flow.tail
        case Unreachable():
            last = region.statements[-1] if region.statements else None
            match last:
                case If(then=then, orelse=orelse):
                    return _completes(then, flow) or _completes(orelse, flow)
                case Try():
                    return any(_completes(inner, replace(flow, tail=False)) for inner in regions(last))
            return False
    return False


def _is_shortcut(statement: If, flow: Flow) -> bool:
    """`if c: continue` before much else, which is what the user wrote; without it, all the rest would be indented."""
    then, orelse = statement.then, statement.orelse
    if not (flow.tail and isinstance(then.terminator, Continue) and not then.statements):
        return False
    return len(orelse.statements) > 3
