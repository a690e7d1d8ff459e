"""Checks where text that may be made of differentiated numbers may become a number again.

    t = f"{x}"                 t = f"{x}"
    y = float(t)       ->      y = float(t)
                               check_read(y)

Text has no cotangent. So this looks in one function for what was made of active values and is not active itself, and for what
was made of that; the check after a call that gets such a value refuses if it made a number of it. A function cannot know what
texts its caller gives it: the checks of what it reads hold only in runs that have made some (`runtime/texts.py`).
"""

from __future__ import annotations

import ast
import decimal
import fractions
import operator
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from microgradpy.ad.calls import Dispatched
from microgradpy.ad.primal import Primal
from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import COMPLEX, FLOAT, REAL, UNKNOWN, Array, Inert, Kind, Scalar, Sequence, TupleOf, Unknown
from microgradpy.ir.nodes import (
    Break,
    Const,
    Continue,
    For,
    Function,
    If,
    Op,
    Opcode,
    Statement,
    Try,
    Undefined,
    Value,
    Var,
    While,
    Yield,
    fresh,
    function_constant,
)
from microgradpy.ir.rewrite import map_statements
from microgradpy.ir.traversal import (
    given_values,
    is_mark,
    item_sources,
    item_variables,
    regions,
    terminator_values,
    terminators,
    uses,
    walk,
)
from microgradpy.named import Named
from microgradpy.passes.typed_builder import is_getattr
from microgradpy.rules.entries import hashes_itself
from microgradpy.runtime.opaque import call_unchanged
from microgradpy.runtime.texts import LOOKS, check_made, check_read

_OF_NUMBERS: frozenset[Any] = frozenset({float, complex, int, np.float64, np.float32, np.int64, np.array, np.asarray})
"""What makes numbers of text, and of other things."""
_OF_TEXTS: frozenset[Any] = frozenset(
    {ast.literal_eval, decimal.Decimal, fractions.Fraction, np.fromstring, np.loadtxt, np.genfromtxt}
)
_OF_JSON = Named(("json", "load loads"))
_OPERATORS = "add sub mul truediv floordiv pow matmul neg pos abs invert and_ or_ xor lshift rshift lt le gt ge eq ne not_"
_MAKE_NO_TEXT = frozenset(getattr(operator, name) for name in _OPERATORS.split())
"""Operators, which give text only where they are given text (`%` may). Those of the user's classes are calls of their own."""
_CHECKS: frozenset[Any] = frozenset({check_made, check_read})
_STORES: frozenset[Any] = frozenset({operator.setitem, setattr})


def check_texts(primal: Primal) -> Primal:
    """The primal with checks of what is read from text, which knows whether it makes text of active values."""
    function = primal.function
    statements = list(walk(function.body))
    operations = [statement for statement in statements if isinstance(statement, Op)]
    methods = {op.result for op in operations if is_getattr(op.callee)}
    # What a method of a text gives is made of that text and its arguments.
    of_texts = {op.result for op in operations if is_getattr(op.callee) and _is_known_text(function, op.arguments[0])}
    made = {var for op in operations for var in _texts_of(primal, op, methods)}
    made |= {call.result for call in primal.calls.values() if isinstance(call, Dispatched) and _makes_exception(call.callee)}
    given = {var for var in function.inputs if _is_text(_kind(function, var)) and var not in primal.active}
    # What a function returns that is compiled by itself and gets something active is taken out of a pair.
    returned = (var for op in operations if op.callee is Opcode.UNPACK for var in op.results[:1] if var not in primal.active)
    given |= {var for var in returned if _may_hold_text(_kind(function, var))}
    # What is caught may be made of what the code that raised it had.
    given |= {handler.exception for s in statements if isinstance(s, Try) for handler in s.handlers if handler.exception}
    if not made and not given and not any(_reads(_callee(op)) for op in operations):
        return primal
    tainted = _spread(function, statements, made | given)
    # Where nothing is written, what comes from outside of the function, or out of a call, is all that may hold other texts.
    others = {var for var in function.inputs if _may_hold_text(_kind(function, var))}
    called = (op for op in operations if isinstance(op.callee, Var) and op.callee not in of_texts)
    others |= {var for op in (*called, *(op for op in operations if _is_own(_callee(op)))) for var in op.results}
    doubtful = None if primal.memory is not None else _spread(function, statements, tainted | others)

    # A text of forward mode has those of the function that it is of.
    own = [op for op in operations if _callee(op) in _CHECKS]
    looked_at = {var for op in own for var in (op.result, op.arguments[0])}

    def rewrite(statement: Statement) -> tuple[Statement, ...]:
        check = _check_for(primal, statement, tainted, doubtful) if isinstance(statement, Op) else None
        if check is None or not isinstance(statement, Op) or statement.result in looked_at:
            return (statement,)
        given = (statement.callee, *_given(statement)) if isinstance(statement.callee, Var) else _given(statement)
        values = (statement.result, *(value for value in given if isinstance(value, Var)))
        return statement, Op(function_constant(check), values, (fresh("checked"),), where=statement.where)

    checked = replace(function, body=map_statements(function.body, rewrite))
    return replace(primal, function=checked, makes_text=bool(made))


def _is_own(callee: Any) -> bool:
    """Whether the package itself has put a call there."""
    return hasattr(callee, "stands_for_unit") or str(getattr(callee, "__module__", "")).partition(".")[0] == "microgradpy"


def _texts_of(primal: Primal, op: Op, methods: set[Var]) -> Iterator[Var]:
    """The results of an operation that may be, or hold, text which it made of something active."""
    if not op.from_user or not any(value in primal.active for value in uses(op)):
        return
    callee = _callee(op)
    is_other = isinstance(op.callee, Const) and not (_is_own(callee) or callee in LOOKS or callee in _MAKE_NO_TEXT)
    is_other = is_other or op.callee in methods
    for var in op.results:
        kind = _kind(primal.function, var)
        is_text = _is_text(kind) or (isinstance(kind, Unknown) and is_other)
        if is_text and var not in primal.calls:
            yield var
    if callee is print:
        yield from (value for name, value in op.keywords if name == "file" and isinstance(value, Var))


def _makes_exception(callee: Value) -> bool:
    """Whether a call makes an exception, which may be shown as text wherever it is caught."""
    return isinstance(callee, Const) and isinstance(callee.value, type) and issubclass(callee.value, BaseException)


def _spread(function: Function, statements: list[Statement], made: set[Var]) -> set[Var]:
    """What may be, or hold, one of these values, or a text made of it."""
    tainted, flows = set(made), [flow for statement in statements for flow in _flows(statement)]
    before = -1
    while before < len(tainted):
        before = len(tainted)
        for targets, sources in flows:
            if any(source in tainted for source in sources):
                tainted.update(var for var in targets if isinstance(var, Var) and _may_hold_text(_kind(function, var)))
    return tainted


def _flows(statement: Statement) -> Iterator[tuple[Iterable[Value], Iterable[Value]]]:
    """(variables, values that may get into them)"""
    match statement:
        case Op():
            given = uses(statement)
            yield statement.results, given
            if _callee(statement) in _STORES:
                yield given[1:2], given[2:]
            elif isinstance(statement.callee, Var):
                yield (statement.callee,), given[1:]  # a method may keep what it gets
            if is_getattr(statement.callee):
                yield given[1:2], statement.results
        case If(results=results) | Try(results=results):
            arms = [inner.terminator.values for inner in regions(statement) if isinstance(inner.terminator, Yield)]
            yield from zip(((result,) for result in results), zip(*arms, strict=True), strict=False)
        case While() | For():
            yield from _flows_of_loop(statement)
    if isinstance(statement, Try):
        yield from ((statement.parameters, uses(inner)) for inner in walk(statement.body) if is_mark(inner))


def _flows_of_loop(loop: While | For) -> Iterator[tuple[Iterable[Value], Iterable[Value]]]:
    exits = [terminator_values(t) for t in terminators(loop.body, of_inner_loops=False) if isinstance(t, Break | Continue)]
    for state in zip(loop.parameters, loop.results, loop.initial, *exits, strict=True):
        yield state[:2], state[2:]
    if isinstance(loop, For):
        yield item_variables(loop.items), item_sources(loop.items)


def _check_for(primal: Primal, op: Op, tainted: set[Var], doubtful: set[Var] | None) -> Any:
    """What looks at the value of a call that may make a number of text, if it is one. What is `doubtful` may be text, too, for
    all that is known (None: everything)."""
    if isinstance(op.callee, Opcode) or len(op.results) != 1 or not op.from_user or op.result in primal.active:
        return None
    callee, given = _callee(op), _given(op)
    if callee in (np.array, np.asarray):
        return check_read if any(value in tainted for value in given) else None
    if _reads(callee):
        may_be = (value for value in given if _may_hold_text(_kind(primal.function, value)))
        return check_read if any(doubtful is None or value in doubtful for value in may_be) else None
    if callee in LOOKS or callee in _STORES or hasattr(callee, "stands_for_unit"):
        return None
    if _is_own(callee) and callee is not call_unchanged and any(value in primal.active for value in given[1:]):
        return None
    is_given_text = any(value in tainted for value in uses(op))
    return check_made if is_given_text and _may_hold_numbers(_kind(primal.function, op.result)) else None


def _given(op: Op) -> tuple[Value, ...]:
    return given_values(op.arguments, op.keywords)


def _callee(op: Op) -> Any:
    """What is called, if it is known; None for what cannot be looked up."""
    value = op.callee.value if isinstance(op.callee, Const) else None
    return None if value is None or hashes_itself(value) or type(value).__hash__ is None else value


def _reads(callee: Any) -> bool:
    """Whether what is called may make numbers of text."""
    return callee in _OF_NUMBERS or callee in _OF_TEXTS or callee in _OF_JSON


def _kind(function: Function, value: Value) -> Kind:
    if isinstance(value, Const):
        return Inert("constant")
    return Inert("undefined") if isinstance(value, Undefined) else function.kinds.get(value, UNKNOWN)


def _is_text(kind: Kind) -> bool:
    return isinstance(kind, Inert) and kind.name in ("str", "bytes")


def _is_known_text(function: Function, value: Value) -> bool:
    return isinstance(value.value, str) if isinstance(value, Const) else _is_text(_kind(function, value))


def _may_hold_text(kind: Kind) -> bool:
    if isinstance(kind, TupleOf):
        return any(map(_may_hold_text, kind.items))
    if isinstance(kind, Sequence):
        return not isinstance(kind.item, Scalar)
    return _is_text(kind) or isinstance(kind, Unknown) or (isinstance(kind, Array) and not kind.dtype)


def _may_hold_numbers(kind: Kind) -> bool:
    return not isinstance(kind, Inert | Scalar) or kind in (FLOAT, COMPLEX, REAL)
