"""What the emitted text looks like, on small functions built by hand."""

from __future__ import annotations

import operator
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from microgradpy.codegen.emit import Emitted, emit
from microgradpy.codegen.loading import load, unload
from microgradpy.ir.kinds import FLOAT, Kind
from microgradpy.ir.nodes import (
    UNDEFINED,
    Break,
    Const,
    Continue,
    For,
    Function,
    If,
    Location,
    Op,
    Opcode,
    Parameter,
    Range,
    Records,
    Region,
    Return,
    Statement,
    Unreachable,
    Value,
    Var,
    While,
    Yield,
    fresh,
)
from microgradpy.originals import original

X, Y, N = fresh("x"), fresh("y"), fresh("n")
SIN = Const(np.sin, "np.sin", np)


def operation(name: str, *values: Value, to: Var, from_user: bool = True, where: int = 0) -> Op:
    callee = Const(getattr(operator, name), f"operator.{name}", operator)
    return Op(callee, values, (to,), from_user=from_user, where=Location("file.py", where, text=f"line {where}"))


def call(function: Const, *values: Value, to: Var, from_user: bool = True) -> Op:
    return Op(function, values, (to,), from_user=from_user)


def function(
    *statements: Statement,
    returns: Value | None = None,
    parameters: tuple[Var, ...] = (X, Y, N),
    floats: tuple[Var, ...] = (),
) -> Function:
    end = Unreachable() if returns is None else Return(returns)
    kinds: dict[Var, Kind] = dict.fromkeys(floats, FLOAT)
    names = tuple(Parameter(var, var.hint) for var in parameters)
    return Function("f", names, (), Region(statements, end), kinds=MappingProxyType(kinds))


def body(emitted: Emitted) -> str:
    """The text without its first line, and one level further out."""
    return "\n".join(line[4:] for line in emitted.text.splitlines()[1:])


def run(emitted: Emitted, *args: Any) -> Any:
    namespace = load(emitted.text, "f", emitted.bindings)
    unload(namespace["__file__"])
    return namespace["f"](*args)


def test_values_used_once_are_nested() -> None:
    a, b, c = fresh(), fresh(), fresh()
    emitted = emit(function(operation("mul", X, X, to=a), call(SIN, a, to=b), operation("sub", b, Y, to=c), returns=c))
    assert body(emitted) == "return np.sin(x * x) - y"
    assert emitted.bindings == {"np": original(np)}


def test_what_the_user_names_keeps_its_line() -> None:
    a = fresh("a", user_named=True)
    assert body(emit(function(operation("mul", X, X, to=a), returns=a))) == "a = x * x\nreturn a"


def test_the_order_of_the_users_calls_does_not_change() -> None:
    a, b, c = fresh(), fresh(), fresh()
    emitted = emit(function(call(SIN, X, to=a), call(SIN, Y, to=b), operation("sub", b, a, to=c), returns=c))
    assert body(emitted) == "sin_x = np.sin(x)\nreturn np.sin(y) - sin_x"


def test_loop_state_is_swapped_at_once() -> None:
    a, b, i = fresh("a"), fresh("b"), fresh("i", user_named=True)
    total, last, other = fresh("b", user_named=True), fresh("a"), fresh("b")
    loop = For(
        Range((N,), i),
        Region((operation("add", a, b, to=total),), Continue((b, total))),
        (a, b),
        (Const(0), Const(1)),
        (last, other),
    )
    emitted = emit(function(loop, returns=last, parameters=(N,)))
    assert body(emitted) == "a = 0\nb = 1\nfor i in range(n):\n    a, b = b, a + b\nreturn a"
    assert run(emitted, 10) == 55


def test_a_newton_loop_reads_as_it_was_written() -> None:
    y, k, y_end, k_end = fresh("y"), fresh("k"), fresh("y"), fresh("k")
    more, square, small, double, step = (fresh() for _ in range(5))
    r, y_next, k_next = (fresh(name, user_named=True) for name in "ryk")
    rest = Region(
        (
            operation("mul", Const(2.0), y, to=double),
            operation("truediv", r, double, to=step),
            operation("sub", y, step, to=y_next),
            operation("add", k, Const(1), to=k_next),
        ),
        Continue((y_next, k_next)),
    )
    turn = Region(
        (
            operation("mul", y, y, to=square),
            operation("sub", square, X, to=r),
            operation("lt", r, Y, to=small),
            If(small, Region((), Break((y, k))), rest, ()),
        ),
        Unreachable(),
    )
    condition = Region((operation("lt", k, Const(50), to=more),), Yield((more,)))
    loop = While(condition, turn, (y, k), (X, Const(0)), (y_end, k_end))
    emitted = emit(function(loop, returns=y_end, parameters=(X, Y)), name="root")
    assert (
        emitted.text
        == """\
def root(x, y):
    y_1 = x
    k = 0
    while k < 50:
        r = y_1 * y_1 - x
        if r < y:
            break
        y_1 = y_1 - r / (2.0 * y_1)
        k = k + 1
    return y_1
"""
    )


def test_a_condition_with_statements_leaves_by_break() -> None:
    k, end, less = fresh("k"), fresh("k"), fresh("less", user_named=True)
    condition = Region((operation("lt", k, N, to=less),), Yield((less,)))
    twice = fresh("k", user_named=True)
    loop = While(condition, Region((operation("add", k, k, to=twice),), Continue((twice,))), (k,), (X,), (end,))
    emitted = emit(function(loop, returns=end))
    assert body(emitted) == (
        "k = x\nwhile True:\n    less = k < n\n    if not less:\n        break\n    k = k + k\nreturn k"
    )
    assert run(emitted, 1, None, 20) == 32


def choice(condition: Op, then: Region, orelse: Region) -> str:
    result = fresh()
    return body(emit(function(condition, If(condition.result, then, orelse, (result,)), returns=result)))


def test_conditional_and_boolean_expressions() -> None:
    less, other = fresh(), fresh()
    condition = operation("lt", X, Y, to=less)
    second = Region((operation("lt", Y, N, to=other),), Yield((other,)))
    itself = Region((), Yield((less,)))
    assert choice(condition, Region((), Yield((X,))), second) == "return x if x < y else y < n"
    assert choice(condition, second, itself) == "return x < y < n"
    assert choice(condition, itself, second) == "return x < y or y < n"


def test_numbers_are_accumulated_in_place() -> None:
    a, b, c, d = (fresh("x_bar") for _ in range(4))
    minus, product = fresh(), fresh()
    statements = [
        operation("mul", X, Y, to=a, from_user=False),
        operation("add", a, N, to=b, from_user=False),
        operation("add", X, b, to=c, from_user=False),
        operation("neg", X, to=minus, from_user=False),
        operation("mul", minus, Y, to=product, from_user=False),
        operation("add", c, product, to=d, from_user=False),
    ]
    numbers = (X, Y, N, a, b, c, d, minus, product)
    # Each sum is used twice, so that it is not nested in the next.
    pair = Op(Opcode.TUPLE, (a, b, c, d, minus), (fresh(),), from_user=False)
    alive = emit(function(*statements, pair, returns=pair.result, floats=numbers))
    assert "+=" not in alive.text
    named = [Op(s.callee, s.arguments, s.results, from_user=False) for s in statements]
    tape = fresh("tape", user_named=True)
    records = [Op(Opcode.RECORD, (tape, value), (), from_user=False) for value in (a, b, c)]
    ordered = [
        Op(Opcode.TAPE, (), (tape,)),
        named[0],
        records[0],
        named[1],
        records[1],
        named[2],
        records[2],
        *named[3:],
    ]
    text = body(emit(function(*ordered, returns=d, floats=numbers)))
    assert "x_bar += n\n" in text
    assert "x_bar += x\n" in text
    assert "return x_bar - x * y" in text


def test_arrays_are_not_accumulated_in_place() -> None:
    a, b = fresh("x_bar"), fresh("x_bar")
    tape = fresh("tape")
    statements = [
        Op(Opcode.TAPE, (), (tape,)),
        operation("mul", X, Y, to=a, from_user=False),
        Op(Opcode.RECORD, (tape, a), (), from_user=False),
        operation("add", a, N, to=b, from_user=False),
        Op(Opcode.RECORD, (tape, b), (), from_user=False),
    ]
    assert "x_bar = x_bar + n" in body(emit(function(*statements, returns=b)))


def test_brackets() -> None:
    part, pair, item, shape, length = (fresh() for _ in range(5))
    statements = [
        call(Const(slice, "slice", slice), Const(None), Const(-1), to=part),
        Op(Opcode.TUPLE, (Const(0), part, Const(...)), (pair,)),
        operation("getitem", X, pair, to=item),
        call(Const(getattr, "getattr", getattr), item, Const("shape"), to=shape),
        call(Const(len, "len", len), shape, to=length),
    ]
    assert body(emit(function(*statements, returns=length))) == "return len(x[0, :-1, ...].shape)"


def test_a_call_with_stars() -> None:
    args, kwargs, star = fresh(), fresh(), fresh()
    statements = [
        Op(Opcode.TUPLE, (X, Const(1)), (args,)),
        Op(Opcode.DICT, (Const("key"), Y), (kwargs,)),
        Op(Opcode.APPLY, (N, args, kwargs), (star,)),
    ]
    assert body(emit(function(*statements, returns=star))) == "return n(x, 1, key=y)"
    assert body(emit(function(Op(Opcode.APPLY, (N, X, Y), (star,)), returns=star))) == "return n(*x, **y)"


def test_names_never_hide_what_is_bound() -> None:
    np_value, sine = fresh("np"), fresh("sine", user_named=True)
    len_x = fresh("len")
    statements = [
        operation("mul", X, X, to=np_value),
        call(SIN, np_value, to=sine),
        operation("add", np_value, sine, to=len_x),
        call(Const(len, "len", len), len_x, to=(size := fresh())),
        operation("mul", size, len_x, to=(result := fresh())),
    ]
    emitted = emit(function(*statements, returns=result))
    assert "np_1 = x * x" in emitted.text
    assert "np.sin(np_1)" in emitted.text
    assert "len_1 = " in emitted.text
    parameter = fresh("np")
    emitted = emit(function(call(SIN, parameter, to=(s := fresh())), returns=s, parameters=(parameter,)))
    assert emitted.text == "def f(np):\n    return np_1.sin(np)\n"
    assert emitted.bindings == {"np_1": original(np)}


def test_two_objects_that_want_one_name() -> None:
    first, second = object(), object()
    pair = Op(Opcode.TUPLE, (Const(first), Const(second), Const(first)), (fresh(),))
    emitted = emit(function(pair, returns=pair.result))
    assert body(emitted) == "return object, object_1, object"
    assert run(emitted, 1, 2, 3) == (first, second, first)


def test_module_variables_are_read_when_executed() -> None:
    weight, product = fresh(), fresh()
    emitted = emit(
        function(
            Op(Opcode.GLOBAL, (), (weight,), payload="W"), operation("mul", weight, X, to=product), returns=product
        )
    )
    assert body(emitted) == 'return module_globals["W"] * x'
    assert emitted.needs_globals


def test_records_are_read_backwards() -> None:
    tape, y, i, square, end = fresh("tape_i"), fresh("y"), fresh("i", True), fresh("y", True), fresh("y")
    forwards = For(
        Range((N,), i),
        Region(
            (operation("mul", y, X, to=square), Op(Opcode.RECORD, (tape, y, i), (), from_user=False)),
            Continue((square,)),
        ),
        (y,),
        (Const(1.0),),
        (end,),
    )
    old, unused, bar, more = fresh("y"), fresh("i"), fresh("x_bar"), fresh("x_bar")
    result = fresh("x_bar")
    backwards = For(
        Records(tape, (old, unused)),
        Region((operation("add", bar, old, to=more, from_user=False),), Continue((more,))),
        (bar,),
        (Const(0.0),),
        (result,),
    )
    emitted = emit(
        function(Op(Opcode.TAPE, (), (tape,)), forwards, backwards, returns=result, floats=(bar, old, more, result))
    )
    assert body(emitted).splitlines()[-3:] == [
        "for y, _ in reversed(tape_i):",
        "    x_bar += y",
        "return x_bar",
    ]
    assert run(emitted, 2.0, None, 3) == 7.0


def test_comments_name_the_users_line_once() -> None:
    a, b, c = (fresh(name, user_named=True) for name in "abc")
    statements = [
        operation("mul", X, X, to=a, where=7),
        operation("mul", a, X, to=b, where=7),
        operation("mul", b, X, to=c, where=9),
    ]
    emitted = emit(function(*statements, returns=c), comments=True)
    assert body(emitted) == "# line 7\na = x * x\nb = a * x\n# line 9\nc = b * x\nreturn c"
    assert {line: place.line for line, place in emitted.line_map.items()} == {3: 7, 4: 7, 6: 9}
    assert "#" not in emit(function(*statements, returns=c)).text


@pytest.mark.parametrize(
    ("saved", "text"),
    [
        ((), "def f(saved, y):\n    return y\n"),
        ((X,), "def f(x, y):\n    return y\n"),
        ((X, N), "def f(saved, y):\n    x, n = saved\n    return y\n"),
    ],
)
def test_what_is_saved_is_taken_apart(saved: tuple[Var, ...], text: str) -> None:
    assert emit(function(returns=Y, parameters=(Y,)), unpack_first=("saved", saved)).text == text


def test_what_only_the_compiler_reads_is_bound() -> None:
    """A variable that is assigned in one arm and recorded anyway."""
    tape, less, square, z = fresh("tape"), fresh(), fresh("z", user_named=True), fresh("z")
    branch = If(
        less,
        Region((operation("mul", X, X, to=square),), Yield((square,))),
        Region((), Yield((UNDEFINED,))),
        (z,),
    )
    statements: list[Statement] = [
        Op(Opcode.TAPE, (), (tape,)),
        operation("lt", X, Y, to=less),
        branch,
        Op(Opcode.RECORD, (tape, z), (), from_user=False),
    ]
    emitted = emit(function(*statements, returns=tape))
    assert run(emitted, 1, 2, None) == [1]
    assert run(emitted, 3, 2, None) == [None]


def test_what_the_user_reads_unbound_raises() -> None:
    less, square, z = fresh(), fresh("z", user_named=True), fresh("z")
    branch = If(
        less, Region((operation("mul", X, X, to=square),), Yield((square,))), Region((), Yield((UNDEFINED,))), (z,)
    )
    emitted = emit(function(operation("lt", X, Y, to=less), branch, returns=z))
    assert body(emitted) == "if x < y:\n    z = x * x\nreturn z"
    with pytest.raises(UnboundLocalError):
        run(emitted, 3, 2, None)
