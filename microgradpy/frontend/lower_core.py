"""Structured SSA under construction: regions, the environment of local names, and the joins between them.

    if c:                      If(c, then: %1 = x * 2.0; yield %1
        y = x * 2.0                  orelse: yield 0.0)     -> %2/y
    else:
        y = 0.0

A name's value is looked up in `env`. An arm of an `if` starts from a copy of it; where the arms meet again, each name
whose value differs becomes a result. In a loop every name that its body binds becomes loop state; what turns out not to
be needed is removed afterwards (`prune`). If one arm of an `if` leaves and the other goes on, the rest of the block is
lowered inside the arm that goes on, so nothing follows the `if`.

Handlers for each kind of syntax are registered in `EXPRESSIONS` and `STATEMENTS` by the modules beside this one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NoReturn, TypeVar

from microgradpy.dataclasses import dataclass, field
from microgradpy.frontend import exceptions, fence
from microgradpy.frontend.closures import PendingClosure
from microgradpy.frontend.fence import Refusal
from microgradpy.frontend.notes import note_of
from microgradpy.frontend.places import BREAK, CONTINUE, RETURN, Arm, Block, Left, LoopFrame, Protection, Scope, Step, Unit
from microgradpy.frontend.resolve import builtin
from microgradpy.frontend.scope import Binding, Position, start_of
from microgradpy.ir.nodes import (
    UNASSIGNED,
    UNDEFINED,
    Break,
    Const,
    Continue,
    For,
    If,
    Items,
    Location,
    Op,
    Opcode,
    Raise,
    Region,
    Return,
    Terminator,
    Undefined,
    Unreachable,
    Value,
    Var,
    While,
    Yield,
    fresh,
    function_constant,
)
from microgradpy.ir.traversal import is_always_true

_DEEPEST = 90  # Python allows blocks to be indented a hundred times


def cell_key(name: str) -> str:
    """The name that the cell of a variable has in the environment."""
    return f".cell.{name}"


MISSING = Const(UNASSIGNED, "UNASSIGNED", UNASSIGNED)
"""The value of a name that had one and lost it. Unlike `UNDEFINED`, it is written down where it may be read later: the name
in the generated text might still hold what was lost."""


def may_have_effect(callee: Opcode | Value, payload: Any) -> bool:
    """Whether an operation may change something, for all that is known before kinds are."""
    if callee is Opcode.INFIX:
        return payload not in ("is", "is not")
    return not isinstance(callee, Opcode) or callee in (Opcode.GETATTR, Opcode.GETITEM, Opcode.APPLY)


@dataclass(slots=True)
class Lowering:
    """The state while one function is lowered."""

    unit: Unit
    env: dict[str, Value]
    statement: ast.AST
    block: Block = field(default_factory=Block)
    frames: list[LoopFrame] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)  # the bodies of `Try`s around the place being lowered
    protections: list[Protection] = field(default_factory=list)
    handling: dict[str, Value] = field(default_factory=dict)  # the exceptions of the handlers around, by name
    loops: list[Position] = field(default_factory=list)  # the loops around the place being lowered
    inner_bindings: list[Binding] = field(default_factory=list)  # of comprehension variables in scope
    inner_names: frozenset[str] = frozenset()  # the comprehension variables in scope
    in_condition: int = 0  # inside the condition of a `while`
    closures: list[PendingClosure] = field(default_factory=list)
    captures: list[tuple[str, Value]] = field(default_factory=list)  # by functions and classes made here
    perhaps_unassigned: set[Value] = field(default_factory=set)  # results of branches and loops that may have no value
    hidden: int = 0
    depth: int = 0  # the branches around the place being lowered

    # Places and operations

    def location(self, node: ast.AST) -> Location:
        """The place of an expression, with the first line of the statement it is in."""
        line, column = start_of(node)
        lines = self.unit.lines
        first = self.statement.lineno  # type: ignore[attr-defined]
        text, source = (lines[number - 1] if 0 < number <= len(lines) else "" for number in (first, line))
        end_line, end_column = getattr(node, "end_lineno", line), getattr(node, "end_col_offset", column)
        return Location(self.unit.file, line, column, end_line, end_column, self.unit.name, text.strip(), source)

    def emit(
        self,
        callee: Opcode | Value,
        *arguments: Value,
        node: ast.AST,
        name: str = "",
        keywords: Iterable[tuple[str, Value]] = (),
        payload: Any = None,
    ) -> Var:
        """Add an operation with one result; `name` is the user's name for it, if it has one."""
        result = self.variable(name)
        where = self.location(node)
        self.block.statements.append(Op(callee, arguments, (result,), tuple(keywords), payload, where=where))
        if self.scopes and may_have_effect(callee, payload) and self.unit.effects.marked():
            self.mark()
        return result

    def variable(self, name: str) -> Var:
        """A fresh variable for a name: the user's, a hidden one (`.broke.1`), or none."""
        if name.startswith("."):
            return fresh(name.split(".")[1])
        return fresh(name, user_named=bool(name))

    def hidden_name(self, hint: str = "") -> str:
        """A name for a value of the compiler's own that takes part in joins as the user's variables do."""
        self.hidden += 1
        return f".{hint}.{self.hidden}"

    def constant(self, node: ast.expr) -> Const | None:
        """What a dotted name stands for, if that is known now."""
        match node:
            case ast.Name(id=name) if name in self.env or self.is_local(name):
                value = self.env.get(name)
                return value if isinstance(value, Const) else None
            case ast.Name(id=name):
                return self.unit.resolver.name(name)
            case ast.Attribute(value=inner, attr=attribute):
                owner = self.constant(inner)
                return None if owner is None else self.unit.resolver.attribute(owner, attribute)
        return None

    def is_local(self, name: str) -> bool:
        return name in self.unit.locals or name in self.inner_names or self.is_shared(name)

    def is_shared(self, name: str) -> bool:
        """Whether a variable lives in a cell."""
        return name in self.unit.shared and cell_key(name) in self.env

    def is_state(self, name: str) -> bool:
        """Whether loops hand the value of a variable on."""
        return name in self.unit.locals and name not in self.unit.shared

    # Leaving

    def leave(self, terminator: Terminator, raises: bool = False) -> NoReturn:
        self.block.terminator = terminator
        self.block.raises = raises
        raise Left

    def go_on(self) -> NoReturn:
        """Leave for the next iteration of the innermost loop."""
        if self.is_protected():
            self.put_off(CONTINUE)
        self.leave(Continue(self.state()))

    def break_out(self) -> NoReturn:
        """Do what `break` does: the loop's `else` is left out."""
        if self.is_protected():
            self.put_off(BREAK)
        flag = self.frames[-1].flag
        if flag:
            self.env[flag] = Const(True)
        self.break_loop()

    def break_loop(self) -> NoReturn:
        """Leave the innermost loop as if it had come to its end."""
        self.frames[-1].is_broken = True
        self.leave(Break(self.state()))

    def return_value(self, value: Value, node: ast.AST) -> NoReturn:
        if self.protections:
            self.put_off(RETURN, value)
        if self.unit.notes is not None:
            cells = {cell_key(name): name for name in self.unit.shared}
            note = note_of(self.unit.notes, self.env, cells, MISSING, value, self.location(node))
            self.block.statements.append(note)
        self.leave(Return(value, where=self.location(node)))

    def is_protected(self) -> bool:
        """Whether leaving the innermost loop would leave a protection too."""
        return bool(self.protections) and len(self.frames) == self.protections[-1].depth

    def put_off(self, kind: int, value: Value | None = None) -> NoReturn:
        """Go to the end of the innermost protection, which has to run first."""
        protection = self.protections[-1]
        protection.kinds.add(kind)
        self.env[protection.leave] = Const(kind)
        if value is not None:
            self.env[protection.value] = value
        if not self.is_protected():
            self.break_out()
        raise Left

    def is_diverted(self, node: ast.AST, rest: Step) -> bool:
        """Whether `rest` was lowered into an `If`, because what stands before it may have put off leaving."""
        if not self.protections or self.env[self.protections[-1].leave] == Const(0):
            return False
        leaving = self.env[self.protections[-1].leave]
        inside_loop = not self.is_protected()
        if isinstance(leaving, Const):
            if inside_loop:
                self.break_out()
            raise Left
        self.branch(leaving, self.break_out if inside_loop else lambda: None, rest, node)
        return True

    def mark(self) -> None:
        """Say what the handlers around see from now on. Most of it is known already: `tidy_marks` sees to that."""
        for scope in self.scopes:
            if scope.inner_names != self.inner_names and not self.unit.effects.marked():
                continue  # inside a comprehension nothing is bound that the handlers outside see
            where = self.location(self.statement)
            hidden = self.inner_names - scope.inner_names
            seen = zip(scope.names, self.visible(scope.names), strict=True)
            values = tuple(UNDEFINED if name in hidden else value for name, value in seen)
            mark = Op(Opcode.MARK, values, (), payload=scope.var, from_user=False, where=where)
            self.block.statements.append(mark)

    def state(self) -> tuple[Value, ...]:
        return self.visible(self.frames[-1].state)

    def visible(self, names: Iterable[str]) -> tuple[Value, ...]:
        """The values of names where a handler ends: the name of its exception is unbound there."""
        values = {name: self.env.get(name, UNDEFINED) for name in names}
        return tuple(UNDEFINED if value is self.handling.get(name, self) else value for name, value in values.items())

    def refuse(self, refusal: Refusal, node: ast.AST) -> NoReturn:
        """Here the program raises instead of doing what cannot be differentiated."""
        operation, terminator = self.refusal(refusal, node)
        self.block.statements.append(operation)
        self.leave(terminator, raises=True)

    def refusal(self, refusal: Refusal, node: ast.AST) -> tuple[Op, Raise]:
        """The operation that makes the error, and its raising."""
        error = Const(refusal.error, path=refusal.error.__name__, root=refusal.error)
        where = self.location(node)
        arguments = (Const(fence.sentence(refusal)), Const(None), Const(refusal.remedy))
        operation = Op(error, arguments, (fresh("error"),), where=where)
        return operation, Raise(operation.result, where=where)

    def raise_builtin(self, error: type[Exception], *message: Value, node: ast.AST) -> NoReturn:
        """What Python itself would raise here."""
        exception = self.emit(builtin(error), *message, node=node, name=".error")
        self.leave(Raise(exception, where=self.location(node)), raises=True)

    # Syntax

    def expression(self, node: ast.expr, name: str = "") -> Value:
        """The value of an expression; `name` is what the user calls it."""
        handler = EXPRESSIONS.get(type(node))
        if handler is None:
            self.refuse(fence.REFUSED.get(type(node), fence.UNKNOWN_SYNTAX), node)
        return handler(self, node, name)

    def statements(self, body: Sequence[ast.stmt], end: Step | None) -> None:
        """Lower a block; `end` leaves the region where the block falls through (None: the region goes on)."""
        for index, node in enumerate(body):
            self.statement = node
            handler = STATEMENTS.get(type(node))
            if handler is None:
                self.refuse(fence.REFUSED.get(type(node), fence.UNKNOWN_SYNTAX), node)
            rest = partial(self.statements, body[index + 1 :], end)
            if handler(self, node, rest):
                return
            self.mark()
            if self.is_diverted(node, rest):
                return
        if end is not None:
            end()

    # Regions and joins

    def arm(self, body: Step, env: dict[str, Value] | None = None) -> Arm:
        """Lower a nested region."""
        return self.resume(Arm(Block(), dict(self.env if env is None else env)), body)

    def resume(self, arm: Arm, body: Step) -> Arm:
        """Lower more into the end of an arm."""
        outer, statement = Arm(self.block, self.env), self.statement
        self.block, self.env = arm.block, arm.env
        try:
            body()
        except Left:
            pass
        finally:
            arm.env = self.env
            self.block, self.env, self.statement = outer.block, outer.env, statement
        return arm

    def branch(self, condition: Value, then: Step, orelse: Step, node: ast.AST, rest: Step | None = None) -> bool:
        """Lower an `If`. True if `rest`, what follows it in its block, was lowered inside it."""
        if self.scopes and isinstance(condition, Var) and self.unit.effects.marked():
            condition = self.emit(function_constant(exceptions.asked), condition, node=node, name=".holds")
        arms = (self.arm(self.inside(then, node)), self.arm(self.inside(orelse, node)))
        leaving = [arm for arm in arms if not arm.is_open]
        takes_rest = False
        if len(leaving) == 1 and rest is not None and not leaving[0].block.raises:
            (going_on,) = (arm for arm in arms if arm.is_open)
            self.resume(going_on, self.inside(rest, node))
            takes_rest = True
        results, yields = self.join(arms)
        then_region, else_region = (arm.block.seal(Yield(values)) for arm, values in zip(arms, yields, strict=True))
        self.block.statements.append(If(condition, then_region, else_region, results, where=self.location(node)))
        if not any(arm.is_open for arm in arms):
            self.leave(Unreachable(), raises=all(arm.block.raises for arm in arms))
        return takes_rest

    def inside(self, step: Step, node: ast.AST) -> Step:
        """A step that is refused if it is inside of too many branches: what follows here takes time by their square."""

        def one_deeper() -> Any:
            self.depth += 1
            try:
                if self.depth > _DEEPEST:
                    self.refuse(fence.DEEP_BRANCHES, node)
                return step()
            finally:
                self.depth -= 1

        return one_deeper

    def join(self, arms: Sequence[Arm], bound: Iterable[Var] = ()) -> tuple[tuple[Var, ...], list[tuple[Value, ...]]]:
        """Give every name its value after the arms; the results needed for that, and what each arm yields. `bound` are
        variables that, like those defined in the arms, are not visible after them."""
        going_on = [arm for arm in arms if arm.is_open]
        inside = {result for arm in going_on for made in arm.block.statements for result in made.results}
        inside.update(bound)
        env: dict[str, Value] = {}
        results: list[Var] = []
        yields: list[list[Value]] = [[] for _ in arms]
        for name in dict.fromkeys(name for arm in going_on for name in arm.env):
            values = [arm.env.get(name, UNDEFINED) for arm in arms]
            first, *others = [arm.env.get(name, UNDEFINED) for arm in going_on]
            if first not in inside and all(_same(first, other) for other in others):
                env[name] = first
                continue
            env[name] = result = self.variable(name)
            results.append(result)
            if not {UNDEFINED, MISSING}.isdisjoint(values) or not self.perhaps_unassigned.isdisjoint(values):
                self.perhaps_unassigned.add(result)
            for column, value in zip(yields, values, strict=True):
                column.append(value)
        if going_on:
            self.env = env
        return tuple(results), [tuple(column) for column in yields]

    def select(
        self,
        condition: Value,
        then: Callable[[], Value],
        orelse: Callable[[], Value],
        node: ast.AST,
        name: str = "",
    ) -> Value:
        """The value of one of two computations, as `then() if condition else orelse()`."""
        key = self.hidden_name(name)

        def keep(compute: Callable[[], Value]) -> Step:
            def step() -> None:
                value = compute()
                self.env[key] = value

            return step

        self.branch(condition, keep(then), keep(orelse), node)
        return self.env.pop(key)

    # Loops

    def for_loop(self, items: Items, frame: LoopFrame, body: Step, node: ast.AST) -> None:
        """Lower a `For` whose body is lowered by `body`; where that falls through, the next iteration follows."""
        parameters = tuple(self.variable(name) for name in frame.state)
        initial = tuple(self.env.get(name, UNDEFINED) for name in frame.state)
        region = self._loop_body(parameters, frame, body, node)
        results = tuple(self.variable(name) for name in frame.state)
        self.perhaps_unassigned.update(results)
        self.block.statements.append(For(items, region, parameters, initial, results, where=self.location(node)))
        self.env.update(zip(frame.state, results, strict=True))

    def while_loop(self, test: Callable[[], Value], frame: LoopFrame, body: Step, node: ast.AST) -> None:
        parameters = tuple(self.variable(name) for name in frame.state)
        initial = tuple(self.env.get(name, UNDEFINED) for name in frame.state)
        condition, value = self._condition(test, parameters, frame, node)
        if condition.terminator is not None:
            # It raises whenever it is evaluated, so the loop never runs: only the raising is left.
            self._evaluate_condition(test, node)
        region = self._loop_body(parameters, frame, body, node)
        results = tuple(self.variable(name) for name in frame.state)
        self.perhaps_unassigned.update(results)
        loop = While(condition.seal(Yield((value,))), region, parameters, initial, results, where=self.location(node))
        self.block.statements.append(loop)
        if is_always_true(value) and not frame.is_broken:
            self.leave(Unreachable())
        self.env.update(zip(frame.state, results, strict=True))

    def _condition(
        self, test: Callable[[], Value], parameters: tuple[Var, ...], frame: LoopFrame, node: ast.AST
    ) -> tuple[Block, Value]:
        value: list[Value] = []
        env = self.env | dict(zip(frame.state, parameters, strict=True))
        arm = self.arm(lambda: value.append(self._evaluate_condition(test, node)), env)
        return arm.block, value[0] if value else UNDEFINED

    def _evaluate_condition(self, test: Callable[[], Value], node: ast.AST) -> Value:
        self.loops.append(start_of(node))
        self.in_condition += 1
        try:
            return test()
        finally:
            self.in_condition -= 1
            self.loops.pop()

    def _loop_body(self, parameters: tuple[Var, ...], frame: LoopFrame, body: Step, node: ast.AST) -> Region:
        def step() -> None:
            body()
            self.go_on()

        self.frames.append(frame)
        self.loops.append(start_of(node))
        self.perhaps_unassigned.update(parameters)
        env = self.env | dict(zip(frame.state, parameters, strict=True))
        region = self.arm(step, env).block.seal(Unreachable())
        self.loops.pop()
        self.frames.pop()
        return region


def _same(a: Value, b: Value) -> bool:
    return a is b or (not isinstance(a, Undefined) and a == b)


EXPRESSIONS: dict[type[ast.AST], Callable[[Lowering, Any, str], Value]] = {}
STATEMENTS: dict[type[ast.AST], Callable[[Lowering, Any, Step], bool | None]] = {}


Handler = TypeVar("Handler", bound=Callable[..., Any])


def lowers(table: dict[type[ast.AST], Any], *kinds: type[ast.AST]) -> Callable[[Handler], Handler]:
    """Register the lowering of some kinds of syntax."""

    def register(handler: Handler) -> Handler:
        table.update(dict.fromkeys(kinds, handler))
        return handler

    return register
