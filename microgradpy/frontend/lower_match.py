"""`match`: a case is a list of steps, which compute parts of the subject and test them; each test nests what follows.

    match p:                            found = attributes_of(p, Point, 0, 'x', 'y')
        case Point(x=0.0, y=b):         if found is not None:
            A                               x, b = found
        case _:                             if x == 0.0: matched = True; A
            B                           if not matched: B

Where a case has one test only, the next cases are its `else` and no flag is needed. As in Python, names are bound when
the whole pattern has matched, before the guard is evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import final

from microgradpy.dataclasses import dataclass, field
from microgradpy.frontend.lower_core import MISSING, STATEMENTS, Lowering, lowers
from microgradpy.frontend.lower_statements import nothing
from microgradpy.frontend.lower_targets import assign_name, unpack
from microgradpy.frontend.places import LoopFrame, Step
from microgradpy.frontend.resolve import MATCHING_THEMSELVES, builtin
from microgradpy.ir.nodes import UNDEFINED, Const, DictItems, Opcode, Value, function_constant
from microgradpy.runtime.matching import attributes_of, is_mapping, is_sequence, values_of

Get = Callable[[], Value]


@final
@dataclass(frozen=True, slots=True)
class Test:
    """A condition for the pattern to match."""

    holds: Get


PatternStep = Test | Step


@dataclass(slots=True)
class _Steps:
    """The steps of a pattern in the order in which Python takes them, and the parts that its names stand for. What one
    step computes, the later ones find in `parts`."""

    low: Lowering
    steps: list[PatternStep] = field(default_factory=list)
    captures: dict[str, Get] = field(default_factory=dict)
    parts: dict[int, Value] = field(default_factory=dict)

    def compute(self, make: Get) -> Get:
        """Add a step that computes a value for the later ones."""
        number = len(self.parts) + len(self.steps)

        def step() -> None:
            self.parts[number] = make()

        self.steps.append(step)
        return lambda: self.parts[number]

    def test(self, holds: Get) -> None:
        self.steps.append(Test(holds))

    def add(self, pattern: ast.pattern, subject: Get) -> None:
        """Add the steps of a pattern for a subject."""
        match pattern:
            case ast.MatchValue(value=expression):
                self.test(lambda: self.infix("==", subject(), self.low.expression(expression), pattern))
            case ast.MatchSingleton(value=constant):
                self.test(lambda: self.infix("is", subject(), Const(constant), pattern))
            case ast.MatchAs(pattern=ast.pattern() as inner):
                self.add(inner, subject)
            case ast.MatchAs() | ast.MatchStar():
                pass
            case ast.MatchSequence():
                self.add_sequence(pattern, subject)
            case ast.MatchMapping():
                self.add_mapping(pattern, subject)
            case ast.MatchClass():
                self.add_class(pattern, subject)
            case ast.MatchOr():
                self.add_alternatives(pattern, subject)
        if _name_of(pattern):
            self.captures[_name_of(pattern)] = subject

    def infix(self, sign: str, left: Value, right: Value, node: ast.AST) -> Value:
        return self.low.emit(Opcode.INFIX, left, right, node=node, payload=sign)

    def call(self, function: Callable[..., object], *arguments: Value, node: ast.AST) -> Value:
        return self.low.emit(function_constant(function), *arguments, node=node)

    # Sequences

    def add_sequence(self, pattern: ast.MatchSequence, subject: Get) -> None:
        """`[a, b]` is unpacked; of `[a, *_, b]` only the items that have a pattern are read."""
        items = pattern.patterns
        star = next((index for index, item in enumerate(items) if isinstance(item, ast.MatchStar)), None)
        least = len(items) - (star is not None)
        more = () if star is None else (Const(True),)
        self.test(lambda: self.call(is_sequence, subject(), Const(least), *more, node=pattern))
        if all(map(_is_wildcard, items)):
            return
        if star is not None and _is_wildcard(items[star]):
            for index, item in enumerate(items):
                if not _is_wildcard(item):
                    position = Const(index if index < star else index - len(items))
                    self.add(item, self.item(subject, position, item))
        elif star is None:
            self.add_unpacked(pattern, items, subject)
        else:
            whole = self.compute(lambda: self.low.emit(builtin(list), subject(), node=pattern))
            found = []
            for index, item in enumerate(items):
                stop = index + 1 - len(items)
                key: Get = _constant(index if index < star else index - len(items))
                if index == star:
                    key = self.slice(star, stop or None, item)
                found.append(self.item_of(whole, key, item))
            for item, part in zip(items, found, strict=True):
                self.add(item, part)

    def slice(self, start: int, stop: int | None, node: ast.AST) -> Get:
        bounds = (Const(start), Const(stop), Const(None))
        return lambda: self.low.emit(builtin(slice), *bounds, node=node)

    def item(self, subject: Get, position: Value, node: ast.pattern) -> Get:
        return self.item_of(subject, lambda: position, node)

    def item_of(self, subject: Get, key: Get, node: ast.pattern) -> Get:
        return self.compute(lambda: self.low.emit(Opcode.GETITEM, subject(), key(), node=node, name=_name_of(node)))

    def add_unpacked(self, node: ast.pattern, patterns: Sequence[ast.pattern], whole: Get) -> None:
        variables = tuple(self.low.variable(_name_of(item)) for item in patterns)
        self.steps.append(lambda: unpack(self.low, whole(), variables, node))
        for item, variable in zip(patterns, variables, strict=True):
            self.add(item, _constant(variable))

    # Mappings and classes: one operation finds all parts, before any of them is matched

    def add_mapping(self, pattern: ast.MatchMapping, subject: Get) -> None:
        are_literal = all(isinstance(key, ast.Constant | ast.UnaryOp | ast.BinOp) for key in pattern.keys)
        if not pattern.keys or not are_literal:
            # The keys are not even looked up if the subject is no mapping.
            count = Const(len(pattern.keys))
            self.test(lambda: self.call(is_mapping, subject(), count, node=pattern))
        keys = [self.compute(partial(self.low.expression, key)) for key in pattern.keys]
        if keys:
            find = partial(self.low.emit, function_constant(values_of), node=pattern)
            self.add_parts(pattern, pattern.patterns, lambda: find(subject(), *(key() for key in keys)))
        if pattern.rest is not None:
            self.captures[pattern.rest] = self.compute(lambda: self.rest_of(subject(), [key() for key in keys], pattern))

    def add_class(self, pattern: ast.MatchClass, subject: Get) -> None:
        inner = (*pattern.patterns, *pattern.kwd_patterns)
        known = self.low.constant(pattern.cls)
        is_class = known is not None and isinstance(known.value, type)
        is_whole = known is not None and known.value in MATCHING_THEMSELVES and len(inner) == len(pattern.patterns) == 1
        if is_class and (not inner or is_whole):
            cls = partial(self.low.expression, pattern.cls)
            self.test(lambda: self.low.emit(builtin(isinstance), subject(), cls(), node=pattern))
            for whole in inner:
                self.add(whole, subject)
            return
        arguments = (Const(len(pattern.patterns)), *map(Const, pattern.kwd_attrs))

        def find() -> Value:
            value, cls = subject(), self.low.expression(pattern.cls)
            return self.call(attributes_of, value, cls, *arguments, node=pattern)

        self.add_parts(pattern, inner, find)

    def add_parts(self, node: ast.pattern, patterns: Sequence[ast.pattern], find: Get) -> None:
        """Add the steps for parts that are found together: `find` gives a tuple of them, or None."""
        found = self.compute(find)
        self.test(lambda: self.infix("is not", found(), Const(None), node))
        if not all(map(_is_wildcard, patterns)):
            self.add_unpacked(node, patterns, found)

    def rest_of(self, subject: Value, keys: Sequence[Value], node: ast.MatchMapping) -> Value:
        """`{k: v for k, v in dict(subject).items() if k not in keys}`"""
        low = self.low
        whole = low.emit(builtin(dict), subject, node=node, name="" if keys else node.rest or "")
        if not keys:
            return whole
        taken = low.emit(Opcode.TUPLE, *keys, node=node)
        name = low.hidden_name(node.rest or "rest")
        low.env[name] = low.emit(Opcode.LIST, node=node, name=name)
        key, value = low.variable("key"), low.variable("value")

        def keep() -> None:
            pair = low.emit(Opcode.TUPLE, key, value, node=node)
            low.env[name] = low.emit(Opcode.APPEND, low.env[name], pair, node=node, name=name)

        def body() -> None:
            low.branch(self.infix("not in", key, taken, node), keep, nothing, node)

        low.for_loop(DictItems(whole, key, value), LoopFrame((name,)), body, node)
        return low.emit(builtin(dict), low.env.pop(name), node=node, name=node.rest or "")

    # Alternatives

    def add_alternatives(self, pattern: ast.MatchOr, subject: Get) -> None:
        """`A | B` is one test; names that the alternatives bind get their values in whichever matches."""
        alternatives = [_Steps(self.low) for _ in pattern.patterns]
        for steps, alternative in zip(alternatives, pattern.patterns, strict=True):
            steps.add(alternative, subject)
        keys = {name: self.low.hidden_name(name) for name in alternatives[0].captures}

        def keep(steps: _Steps) -> Step:
            def step() -> None:
                self.low.env.update((key, steps.captures[name]()) for name, key in keys.items())

            return step

        def one_of(index: int) -> Value:
            steps = alternatives[index]
            holds = _holds(self.low, [*steps.steps, *([keep(steps)] if keys else [])], pattern.patterns[index])
            if index + 1 == len(alternatives):
                return holds
            return self.low.select(holds, lambda: holds, lambda: one_of(index + 1), pattern)

        def any_of() -> Value:
            # A value for the alternatives that do not match, so that the names always have one.
            self.low.env.update(dict.fromkeys(keys.values(), Const(None)))
            holds = one_of(0)
            for name, key in keys.items():
                found[name] = self.low.env.pop(key)
            return holds

        found: dict[str, Value] = {}
        self.test(any_of)
        for name in keys:
            self.captures[name] = _found(found, name)


def _found(values: dict[str, Value], name: str) -> Get:
    return lambda: values[name]


def _constant(value: Value | int) -> Get:
    return lambda: Const(value) if isinstance(value, int) else value


def _is_wildcard(pattern: ast.pattern) -> bool:
    match pattern:
        case ast.MatchAs(pattern=None, name=None) | ast.MatchStar(name=None):
            return True
    return False


def _name_of(pattern: ast.pattern) -> str:
    """The name that a pattern gives to what it matches."""
    match pattern:
        case ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name):
            return name
    return ""


def _holds(low: Lowering, steps: Sequence[PatternStep], node: ast.AST) -> Value:
    """Whether all tests hold, as one value."""
    for index, step in enumerate(steps):
        if not isinstance(step, Test):
            step()
            continue
        value = step.holds()
        rest = steps[index + 1 :]
        return low.select(value, partial(_holds, low, rest, node), lambda: Const(False), node) if rest else value
    return Const(True)


@lowers(STATEMENTS, ast.Match)
def lower_match(low: Lowering, node: ast.Match, rest: Step) -> bool | None:
    subject = low.expression(node.subject)
    return _lower_cases(low, node.cases, subject, rest)


def _lower_cases(low: Lowering, cases: Sequence[ast.match_case], subject: Value, rest: Step | None) -> bool | None:
    if not cases:
        return None
    case, *others = cases
    low.statement = case.pattern
    steps = _Steps(low)
    steps.add(case.pattern, _constant(subject))
    steps.steps.append(lambda: _bind(low, steps, case.pattern))
    if case.guard is not None:
        guard = case.guard
        steps.test(lambda: low.expression(guard))
    tests = sum(isinstance(step, Test) for step in steps.steps)

    def body() -> None:
        low.statements(case.body, None)

    def next_cases() -> None:
        _lower_cases(low, others, subject, None)

    if tests <= 1:
        return _take(low, steps.steps, body, next_cases, case.pattern, rest)
    flag = low.hidden_name("matched")
    low.env[flag] = Const(False)
    for name in steps.captures:
        # In the text, the part of the subject may have the name already before the whole pattern has matched.
        if low.env.get(name, UNDEFINED) is UNDEFINED and low.is_state(name):
            low.env[name] = MISSING

    def matched_body() -> None:
        low.env[flag] = Const(True)
        body()

    _take(low, steps.steps, matched_body, nothing, case.pattern, None)
    matched = low.env.pop(flag)
    if matched == Const(False):  # the body always leaves
        return _lower_cases(low, others, subject, rest)
    return low.branch(matched, nothing, next_cases, case.pattern, rest) if others else None


def _bind(low: Lowering, steps: _Steps, node: ast.pattern) -> None:
    for name, value in steps.captures.items():
        assign_name(low, name, value(), node)


def _take(
    low: Lowering, steps: Sequence[PatternStep], then: Step, otherwise: Step, node: ast.AST, rest: Step | None
) -> bool | None:
    """Take the steps, and then `then`; `otherwise` where a test fails. True if `rest` was lowered in one of the arms."""
    for index, step in enumerate(steps):
        if isinstance(step, Test):
            after = steps[index + 1 :]
            return low.branch(step.holds(), partial(_continue, low, after, then, otherwise, node), otherwise, node, rest)
        step()
    then()
    return None


def _continue(low: Lowering, steps: Sequence[PatternStep], then: Step, otherwise: Step, node: ast.AST) -> None:
    _take(low, steps, then, otherwise, node, None)
