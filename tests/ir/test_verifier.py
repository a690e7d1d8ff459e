"""Every class of defect that the verifier finds, each on the smallest function that has it."""

from __future__ import annotations

import operator
from dataclasses import dataclass

import pytest

from microgradpy.errors import CompilerBug
from microgradpy.ir.nodes import (
    UNDEFINED,
    Break,
    Const,
    Continue,
    Each,
    For,
    Function,
    Handler,
    If,
    Location,
    Op,
    Opcode,
    Parameter,
    Raise,
    Records,
    Region,
    Return,
    Statement,
    Terminator,
    Try,
    Unreachable,
    Value,
    Var,
    While,
    Yield,
    fresh,
)
from microgradpy.ir.verifier import defects, verify

X, Y, Z, A, B, T, S = (fresh(name) for name in ("x", "y", "z", "a", "b", "tape", "s"))
ONE, NONE = Const(1), Const(None)
ADD = Const(operator.add, "operator.add", operator)


def region(*statements: Statement, end: Terminator) -> Region:
    return Region(statements, end)


def function(*statements: Statement, end: Terminator = Return(NONE), captured: tuple[Var, ...] = ()) -> Function:  # noqa: B008
    """f(x, y), whose variables are %2 and %3."""
    return Function("f", (Parameter(X, "x"), Parameter(Y, "y")), captured, Region(statements, end))


def op(callee: Opcode | Value, *arguments: Value, to: tuple[Var, ...] = (), payload: object = None) -> Op:
    return Op(callee, arguments, to, payload=payload)


def add(result: Var, left: Value = X, right: Value = Y) -> Op:
    return op(ADD, left, right, to=(result,))


YIELD = region(end=Yield(()))


def either(then: Region, orelse: Region = YIELD, results: tuple[Var, ...] = ()) -> If:
    return If(X, then, orelse, results)


def loop(body: Region, *, condition: Region | None = None) -> While:
    """A loop with the state a, from x, that results in b."""
    return While(condition or region(end=Yield((A,))), body, (A,), (X,), (B,))


def mark(value: Value) -> Op:
    return op(Opcode.MARK, value, payload=T)


def attempt(body: Region, handler: Region, results: tuple[Var, ...] = ()) -> Try:
    """A try with the scope t whose handler sees s and the exception z."""
    return Try(body, (Handler((Const(ValueError),), Z, handler),), T, (S,), results)


AGAIN = region(end=Continue((A,)))
FOREVER = region(end=Yield((Const(True),)))

WELL_FORMED = {
    "nothing": function(),
    "return of a parameter": function(end=Return(X)),
    "bare raise": function(end=Raise(None)),
    "captured": function(add(Z, X, A), end=Return(Z), captured=(A,)),
    "outer variable in an arm": function(add(Z), either(region(add(A, Z), end=Return(A))), end=Return(Z)),
    "result of an if": function(either(region(end=Yield((X,))), region(end=Yield((UNDEFINED,))), (Z,)), end=Return(Z)),
    "both arms leave": function(either(region(end=Return(X)), region(end=Raise(Y))), end=Unreachable()),
    "loop": function(loop(AGAIN), end=Return(B)),
    "break in an arm": function(loop(region(either(region(end=Break((X,)))), end=Continue((A,)))), end=Return(B)),
    "return in a loop": function(loop(region(end=Return(A)))),
    "endless loop": function(loop(AGAIN, condition=FOREVER), end=Unreachable()),
    "break in the inner of two loops": function(
        While(FOREVER, region(loop(region(end=Break((A,)))), end=Continue(())), (), (), ()), end=Unreachable()
    ),
    "undefined loop state": function(While(region(end=Yield((X,))), AGAIN, (A,), (UNDEFINED,), (B,)), end=Return(B)),
    "item": function(For(Each(X, Z), region(add(T, A, Z), end=Continue((T,))), (A,), (Y,), (B,)), end=Return(B)),
    "tape": function(
        op(Opcode.TAPE, to=(T,)),
        op(Opcode.RECORD, T, X, Y),
        For(Records(T, (A, B)), region(add(Z, A, B), end=Continue(())), (), (), ()),
    ),
    "unpack": function(op(Opcode.UNPACK, X, to=(A, B, Z))),
    "operators": function(
        op(Opcode.INFIX, X, Y, to=(A,), payload="not in"), op(Opcode.INFIX, X, to=(B,), payload="not")
    ),
    "try": function(
        attempt(region(mark(X), add(A), mark(UNDEFINED), end=Yield((A,))), region(end=Yield((S,))), (B,)), end=Return(B)
    ),
    "try that never falls through": function(
        attempt(region(mark(X), end=Return(X)), region(end=Raise(None))), end=Unreachable()
    ),
    "closure": function(
        op(Opcode.CLOSURE, X, to=(Z,), payload=Function("g", (), (A,), region(end=Return(A)))), end=Return(Z)
    ),
}


@pytest.mark.parametrize("name", WELL_FORMED)
def test_well_formed_functions_pass(name: str) -> None:
    assert verify(WELL_FORMED[name]) is WELL_FORMED[name]


INNER = Function("g", (), (), region(end=Return(X)))


@dataclass(frozen=True)
class Payload:
    """A nested function with default values, as the front end makes it."""

    function: Function
    defaults: int = 1
    keyword_defaults: tuple[str, ...] = ("scale",)


def test_default_values_are_arguments_of_a_closure() -> None:
    payload = Payload(Function("g", (), (A,), region(end=Return(A))))
    verify(function(op(Opcode.CLOSURE, X, Y, ONE, to=(Z,), payload=payload), end=Return(Z)))
    assert defects(function(op(Opcode.CLOSURE, X, to=(Z,), payload=payload))) == [
        ("f: body[0]", "1 captured or default value, where 3 are due")
    ]
    broken = Payload(INNER, 0, ())
    assert [place for place, _ in defects(function(op(Opcode.CLOSURE, to=(Z,), payload=broken)))] == ["f/g: body.end"]


BROKEN = {
    # variables
    "defined twice": (function(add(Z), add(Z)), "body[1]", "%4/z is defined a second time"),
    "parameter defined again": (function(add(X)), "body[0]", "%2/x is defined a second time"),
    "captured twice": (function(captured=(A, A)), "captured", "%4/a is defined a second time"),
    "nameless captured": (function(captured=(Var(-1),)), "captured", "%4 has no name"),
    "loop state defined again": (
        function(While(region(end=Yield((X,))), region(end=Continue((X,))), (X,), (Y,), (B,))),
        "body[0]",
        "%2/x is defined a second time",
    ),
    "item defined again": (
        function(For(Each(X, Y), region(end=Continue(())), (), (), ())),
        "body[0]",
        "%3/y is defined a second time",
    ),
    "never defined": (function(add(Z, A)), "body[0]", "a variable/a is used, but never defined"),
    "used before its definition": (function(add(Z, A), add(A)), "body[0]", "%5/a is used where it is not visible"),
    "used in its own definition": (function(add(Z, Z)), "body[0]", "%4/z is used where it is not visible"),
    "used after its arm": (
        function(either(region(add(Z), end=Yield(()))), end=Return(Z)),
        "body.end",
        "%4/z is used where it is not visible",
    ),
    "used in the other arm": (
        function(either(region(add(Z), end=Yield(())), region(end=Return(Z)))),
        "body[0].else.end",
        "%4/z is used where it is not visible",
    ),
    "loop state after the loop": (
        function(loop(AGAIN), end=Return(A)),
        "body.end",
        "%4/a is used where it is not visible",
    ),
    "initial state sees the state": (
        function(While(region(end=Yield((X,))), AGAIN, (A,), (A,), (B,))),
        "body[0]",
        "%4/a is used where it is not visible",
    ),
    "condition's variable in the body": (
        function(loop(region(end=Continue((Z,))), condition=region(add(Z), end=Yield((Z,))))),
        "body[0].do.end",
        "%5/z is used where it is not visible",
    ),
    "iterable sees the item": (
        function(For(Each(Z, Z), region(end=Continue(())), (), (), ())),
        "body[0]",
        "%4/z is used where it is not visible",
    ),
    "undefined operand": (function(add(Z, UNDEFINED)), "body[0]", "undefined is read"),
    "undefined returned": (function(end=Return(UNDEFINED)), "body.end", "undefined is read"),
    "undefined condition": (
        function(loop(AGAIN, condition=region(end=Yield((UNDEFINED,))))),
        "body[0].while.end",
        "undefined is read",
    ),
    # regions
    "yield from a function": (function(end=Yield(())), "body.end", "the body of a function ends in yield"),
    "continue in a function": (function(end=Continue(())), "body.end", "continue outside of a loop"),
    "break in an arm": (function(either(region(end=Break(())))), "body[0].then.end", "break outside of a loop"),
    "too few yielded": (
        function(either(YIELD, region(end=Yield((X,))), (Z,))),
        "body[0].then.end",
        "0 yielded values, where 1 are due",
    ),
    "too many yielded": (
        function(either(region(end=Yield((X,))))),
        "body[0].then.end",
        "1 yielded value, where 0 are due",
    ),
    "yield from a loop": (
        function(loop(region(end=Yield((A,))))),
        "body[0].do.end",
        "the body of a loop ends in yield",
    ),
    "continue without the state": (
        function(loop(region(end=Continue(())))),
        "body[0].do.end",
        "0 values of continue, where 1 are due",
    ),
    "break with too much": (
        function(loop(region(end=Break((A, A))))),
        "body[0].do.end",
        "2 values of break, where 1 are due",
    ),
    "condition of two values": (
        function(loop(AGAIN, condition=region(end=Yield((A, A))))),
        "body[0].while.end",
        "2 yielded values, where 1 are due",
    ),
    "condition that returns": (
        function(loop(AGAIN, condition=region(end=Return(A)))),
        "body[0].while.end",
        "the condition of a while ends in return",
    ),
    "break within a condition": (
        function(loop(AGAIN, condition=region(either(region(end=Break((A,)))), end=Yield((A,))))),
        "body[0].while[0].then.end",
        "break outside of a loop",
    ),
    "too few initial values": (
        function(While(region(end=Yield((X,))), AGAIN, (A,), (), (B,))),
        "body[0]",
        "0 initial values, where 1 are due",
    ),
    "too few results": (
        function(For(Each(X, Z), AGAIN, (A,), (X,), ())),
        "body[0]",
        "0 results, where 1 are due",
    ),
    "unreachable after nothing": (
        function(end=Unreachable()),
        "body.end",
        "unreachable, but what stands before it can fall through",
    ),
    "unreachable after an arm that yields": (
        function(either(region(end=Return(X))), end=Unreachable()),
        "body.end",
        "unreachable, but what stands before it can fall through",
    ),
    "unreachable after a loop with a break": (
        function(
            loop(region(either(region(end=Break((A,)))), end=Continue((A,))), condition=FOREVER), end=Unreachable()
        ),
        "body.end",
        "unreachable, but what stands before it can fall through",
    ),
    "unreachable after a for": (
        function(For(Each(X, Z), region(end=Return(Z)), (), (), ()), end=Unreachable()),
        "body.end",
        "unreachable, but what stands before it can fall through",
    ),
    "cause without exception": (function(end=Raise(None, X)), "body.end", "a raise with a cause has no exception"),
    # operations
    "call without a result": (function(op(ADD, X, Y)), "body[0]", "0 results of a call, where 1 are due"),
    "call with two results": (function(op(X, to=(A, B))), "body[0]", "2 results of a call, where 1 are due"),
    "keyword twice": (
        function(Op(ADD, (), (Z,), (("axis", X), ("axis", Y)))),
        "body[0]",
        "the keyword axis is given more than once",
    ),
    "keyword of an opcode": (function(Op(Opcode.TUPLE, (), (Z,), (("axis", X),))), "body[0]", "tuple has keywords"),
    "item of nothing": (function(op(Opcode.GETITEM, X, to=(Z,))), "body[0]", "getitem has 1 argument"),
    "unpack of two": (function(op(Opcode.UNPACK, X, Y, to=(Z,))), "body[0]", "unpack has 2 arguments"),
    "tuple without a result": (function(op(Opcode.TUPLE)), "body[0]", "0 results of tuple, where 1 are due"),
    "half a pair": (function(op(Opcode.DICT, X, to=(Z,))), "body[0]", "dict has a key without a value"),
    "unknown operator": (
        function(op(Opcode.INFIX, X, Y, to=(Z,), payload="and")),
        "body[0]",
        "infix has the operator 'and' with 2 operands",
    ),
    "not of two": (
        function(op(Opcode.INFIX, X, Y, to=(Z,), payload="not")),
        "body[0]",
        "infix has the operator 'not' with 2 operands",
    ),
    "attribute without a name": (function(op(Opcode.GETATTR, X, to=(Z,))), "body[0]", "getattr has no name"),
    "global without a name": (function(op(Opcode.GLOBAL, to=(Z,))), "body[0]", "global has no name"),
    "tape of something": (function(op(Opcode.TAPE, X, to=(T,))), "body[0]", "tape has 1 argument"),
    "record with a result": (
        function(op(Opcode.TAPE, to=(T,)), op(Opcode.RECORD, T, X, to=(Z,))),
        "body[1]",
        "1 result of record, where 0 are due",
    ),
    "record on nothing": (function(op(Opcode.RECORD)), "body[0]", "record has 0 arguments"),
    "record on a constant": (function(op(Opcode.RECORD, NONE, X)), "body[0]", "record has no tape"),
    "records of two widths": (
        function(op(Opcode.TAPE, to=(T,)), op(Opcode.RECORD, T, X), op(Opcode.RECORD, T, X, Y)),
        "body[2]",
        "2 fields of %4/tape, where 1 are due",
    ),
    "records read with another width": (
        function(
            op(Opcode.TAPE, to=(T,)),
            op(Opcode.RECORD, T, X),
            For(Records(T, (A, B)), region(end=Continue(())), (), (), ()),
        ),
        "body[2]",
        "2 fields of %4/tape, where 1 are due",
    ),
    "mark outside of its try": (function(mark(X)), "body[0]", "a mark stands outside of its try, or in a loop inside of it"),
    "mark in a loop": (
        function(attempt(region(mark(X), loop(region(mark(X), end=Continue((A,)))), end=Yield(())), region(end=Yield(())))),
        "body[0].try[1].do[0]",
        "a mark stands outside of its try, or in a loop inside of it",
    ),
    "mark of too much": (
        function(attempt(region(mark(X), op(Opcode.MARK, X, Y, payload=T), end=Yield(())), region(end=Yield(())))),
        "body[0].try[1]",
        "2 marked values, where 1 are due",
    ),
    "try without its mark": (
        function(attempt(region(end=Yield(())), region(end=Yield(())))),
        "body[0]",
        "the body of a try does not start with its mark",
    ),
    "variable of the body in a handler": (
        function(attempt(region(mark(X), add(A), end=Yield(())), region(add(B, A), end=Yield(())))),
        "body[0].except[0][0]",
        "%7/a is used where it is not visible",
    ),
    "try without a handler": (
        function(Try(region(mark(X), end=Yield(())), (), T, (S,), ())),
        "body[0]",
        "a try has no handler",
    ),
    "closure of nothing": (function(op(Opcode.CLOSURE, to=(Z,))), "body[0]", "closure has no function"),
    "closure without its captured": (
        function(op(Opcode.CLOSURE, to=(Z,), payload=Function("g", (), (A,), region(end=Return(A))))),
        "body[0]",
        "0 captured or default values, where 1 are due",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_every_defect_is_found_where_it_is(name: str) -> None:
    broken, place, sentence = BROKEN[name]
    assert defects(broken) == [(f"f: {place}", sentence)]


def test_defects_of_closures_are_reported_under_their_name() -> None:
    found = defects(function(op(Opcode.CLOSURE, to=(Z,), payload=INNER)))
    assert found == [("f/g: body.end", "a variable/x is used, but never defined")]


def test_free_variables_are_visible_everywhere() -> None:
    inner_use = function(either(region(add(Z, A), end=Return(Z))))
    assert defects(inner_use)
    assert verify(inner_use, free={A}) is inner_use


def test_the_report_has_every_sentence_the_line_and_the_text() -> None:
    where = Location("model.py", 12, text="z = a + y")
    broken = function(Op(ADD, (A, B), (Z,), where=where), end=Return(Z))
    with pytest.raises(CompilerBug) as caught:
        verify(broken)
    report = str(caught.value)
    assert report.startswith(
        "the IR of f is broken:\n- f: body[0] (model.py:12): a variable/a is used, but never defined\n"
    )
    assert "- f: body[0] (model.py:12): a variable/b is used" in report
    assert "\nf: (%1/f, %2/x, %3/y)\n  %4/z = operator.add(%5, %6)\n  return %4\n" in report
    assert report.endswith("Please report it, with the function that caused it.")


def test_even_badly_broken_functions_are_reported() -> None:
    """Printing for the report must not fail on what is wrong with the function."""
    worst = function(
        op(Opcode.GETATTR),
        op(Opcode.INFIX, to=(Z,)),
        op(Opcode.DICT, X, to=(A,)),
        op(Opcode.CLOSURE, to=(B,)),
        op(Opcode.APPLY, X),
        While(region(end=Unreachable()), region(end=Yield(())), (T,), (), ()),
        end=Break((UNDEFINED,)),
    )
    with pytest.raises(CompilerBug, match="is broken"):
        verify(worst)
